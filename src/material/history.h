// Materials with history. Their stress is a sum of branches; branch k is an isotropic law of F G_k
// (material/material.h), where G_k is the inverse of its inelastic deformation. The history of a
// point is the list of these G_k.
//
// Branch 0 is the law of the material, with G = I unless it flows: plasticity
// (material/plasticity.c) has a G, and internal variables behind it. Each term of a Prony series,
// share g and time T, is a further branch, a spring and a dashpot in series, as finite-strain
// viscoelasticity has it [Reese1998], with the energy
//   Psi = mu_g |dev eps|^2,  eps = ln of the stretches of F G,  mu_g = mu g / (1 - sum of all g).
// At constant F the deviator of eps decays as exp(-t / T). In a time step of length h, with x = h /
// T, eps grows by D; at a constant rate of it
//   eps_1 = a eps_0 + b D,  a = exp(-x), b = (1 - exp(-x)) / x,
// which is exact for relaxation and for constant rates of strain without rotation, of second order
// otherwise, elastic for x -> 0 and Newton's fluid of viscosity mu_g T for x -> infinity. It is
// written as eps_1 = b (a/b eps_0 + D): the start of a stage relaxes the history by a/b at the F of
// the start of the step; in the stage, the stress is that of the potential
//   b mu_g |dev eps|^2  in F,
// and the end of the step relaxes by b. So each stage minimizes a potential, and since a^2 <= b and
// b <= 1 neither relaxation adds energy, whatever the length of the step.
//
// dP/dF of a sum of branches is projected as a whole, by its eigenvalues: with the lateral pressure
// of a stretched branch and the tension of the law that balances it projected one by one, Newton's
// method would converge linearly.
//
// G is multiplied from the right by symmetric matrices only: rotations of the body do not change
// it.
#pragma once

#include "linalg/energy_term.h"
#include "material/material.h"

// Doubles of an inelastic deformation in a history.
enum { NOLI_BRANCH_VALUES = 9 };

// The material of a point.
typedef struct NoliMaterialPoint {
  const NoliMaterial* law;
  NoliLame lame;
  const NoliProny* prony; // NULL: none
  const double* history;  // (noli_history_size) as the stage sees it; NULL if there is none
  double elapsed;         // s, from the start of the step to the end of the stage
} NoliMaterialPoint;

// One branch of it.
typedef struct NoliBranch {
  const NoliMaterial* law;
  NoliLame lame;
  const double* inverse; // G, row by row; NULL: I
} NoliBranch;

// The materials with history of the elements of a block. Everything is borrowed.
typedef struct NoliHistories {
  const int64_t* first; // (n_element + 1) place of the history of an element; NULL: there are none
  const NoliProny* const* prony; // (n_element) NULL: none, also of an element
  const double* value;           // as the stage sees it
  double elapsed;                // s
} NoliHistories;

// Doubles that a point needs.
int32_t noli_history_size(const NoliMaterialPoint* point);

// Sets the history of the rest shape.
void noli_history_start(const NoliMaterialPoint* point, double* history);

// The history seen by a stage that ends `elapsed` after the start of the step, at which the point
// has the deformation F and the history `before`.
void noli_history_begin(const NoliMaterialPoint* point, const NoliMat3* F, const double* before,
                        double* history);

// The history at the end of a step with the deformation F; point->history is what its last stage
// saw.
void noli_history_end(const NoliMaterialPoint* point, const NoliMat3* F, double* after);

// The G of term k of the series in a history of the point, and the factor by which its elastic
// strain relaxes at the start of a stage, or at the end of the step.
int32_t noli_history_place(const NoliMaterialPoint* point, int32_t k);
double noli_history_factor(const NoliMaterialPoint* point, int32_t k, bool ends);
// Its derivative by the time of the term, 1/s.
double noli_history_factor_derivative(const NoliMaterialPoint* point, int32_t k, bool ends);

// Branches, at least one.
static inline int32_t noli_branch_count(const NoliMaterialPoint* point) {
  return 1 + (point->prony != NULL ? point->prony->n : 0);
}
NoliBranch noli_branch_at(const NoliMaterialPoint* point, int32_t k);

// The quantities to evaluate of each branch for `what` of their sum: its plain Hessian where the
// projection is that of the sum.
static inline unsigned noli_branch_what(const NoliMaterialPoint* point, unsigned what) {
  bool of_sum = (what & NOLI_EVAL_PROJECTED) != 0 && noli_branch_count(point) > 1;
  return of_sum ? (what & ~(unsigned)NOLI_EVAL_PROJECTED) | NOLI_EVAL_HESSIAN : what;
}

// Doubles of the history of a law itself.
static inline int32_t noli_flow_size(const NoliMaterialPoint* point) {
  return point->law->history_size != NULL ? point->law->history_size(point->lame.parameter) : 0;
}

// Projects K = (I x M) A (I x M)^T, where A is dP/dF of a sum, row 3 i + k that of P_ik, by the
// eigenvalues of A: those of K would mix turns with stretches. In plane strain, the last row of M
// is zero.
void noli_branches_project(const NoliMat3* M, double K[81]);

// F G of a branch, and a matrix times G.
static inline NoliMat3 noli_branch_times(const NoliBranch* branch, const NoliMat3* a) {
  return branch->inverse != NULL ? noli_mul33(*a, noli_load33(branch->inverse)) : *a;
}

// P of a branch from that of its law at F G: P G^T.
static inline NoliMat3 noli_branch_adjoint(const NoliBranch* branch, const NoliMat3* P) {
  return branch->inverse != NULL ? noli_mul_transpose33(*P, noli_load33(branch->inverse)) : *P;
}

// Point q of element t; `histories` NULL: none.
static inline NoliMaterialPoint noli_material_point(const NoliMaterial* law, NoliLame lame,
                                                    const NoliHistories* histories, int64_t t,
                                                    int32_t q) {
  NoliMaterialPoint point = {.law = law, .lame = lame};
  if (histories != NULL && histories->first[t + 1] > histories->first[t]) {
    point.prony = histories->prony != NULL ? histories->prony[t] : NULL;
    point.history = histories->value + histories->first[t] + q * noli_history_size(&point);
    point.elapsed = histories->elapsed;
  }
  return point;
}

// Ratio of the instantaneous to the long-term shear modulus.
double noli_prony_ratio(const NoliProny* prony);
