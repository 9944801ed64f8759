// A relaxation makes G S of G, where S = (det C)^(-q / 6) C^(q / 2) with E = F G, C = E^T E and q =
// factor - 1. In the frame V of C = V diag(sigma^2) V^T, S has the entries s_i = exp(q e_i), with
// the deviator e of ln sigma. A change dC, with h = V^T dC V, changes S by
//   V (w o h) V^T - q / 6 tr(C^-1 dC) S,
//   w_ij = sqrt(s_i s_j) / (sigma_i sigma_j) sinh(q t / 2) / sinh(t),  t = e_i - e_j,
// the formula of Daleckii and Krein, whose quotient is q / 2 where stretches meet. In reverse, the
// first part is the same map, and S and C^-1 change places in the second one.
//
// In flow, q depends on the length r of e, on the internal variable and on the numbers of the
// material. It changes S by dq V diag(e_i s_i) V^T, and r dr is T : dC, T = V diag(e_i / (2
// sigma_i^2)) V^T.
#include "material/law_history_derivatives.h"

#include "material/fibre.h"
#include "material/hencky.h"
#include "material/tangent.h"
#include "math/svd3.h"

#include <math.h>
#include <string.h>

// ---- relaxation ---------------------------------------------------------------------------------

typedef struct Relaxed {
  NoliMat3 F, G, E, V, S;
  NoliMat3 inverse; // of C
  NoliMat3 weight;  // w
  NoliMat3 by_q;    // dS/dq
  NoliMat3 length;  // T
  double q;
} Relaxed;

static double divided(double q, double t) {
  return t == 0.0 ? 0.5 * q : sinh(0.5 * q * t) / sinh(t);
}

// V diag(d) V^T
static NoliMat3 in_frame(const NoliMat3* V, const double d[3]) {
  return noli_mul_transpose33(noli_mul33(*V, noli_diagonal33(d)), *V);
}

static Relaxed relaxed_at(const NoliMat3* F, const double* G, double factor) {
  Relaxed r = {.F = *F, .G = noli_load33(G), .q = factor - 1.0};
  NoliMat3 U;
  double sigma[3], e[3], s[3], inverse[3], by_q[3], length[3];
  r.E = noli_mul33(r.F, r.G);
  noli_svd3(&r.E, &U, sigma, &r.V);
  (void)noli_log_stretches(sigma, e);
  for (int i = 0; i < 3; i++) {
    s[i] = exp(r.q * e[i]);
    inverse[i] = 1.0 / (sigma[i] * sigma[i]);
    by_q[i] = e[i] * s[i];
    length[i] = 0.5 * e[i] * inverse[i];
    for (int j = 0; j < 3; j++) {
      r.weight.m[i][j] =
          exp(0.5 * r.q * (e[i] + e[j])) / (sigma[i] * sigma[j]) * divided(r.q, e[i] - e[j]);
    }
  }
  r.S = in_frame(&r.V, s);
  r.inverse = in_frame(&r.V, inverse);
  r.by_q = in_frame(&r.V, by_q);
  r.length = in_frame(&r.V, length);
  return r;
}

// V (w o (V^T M V)) V^T of a symmetric M.
static NoliMat3 weighted(const Relaxed* r, const NoliMat3* M) {
  NoliMat3 h = noli_transpose_mul33(r->V, noli_mul33(*M, r->V));
  for (int i = 0; i < 9; i++) {
    h.m[i / 3][i % 3] *= r->weight.m[i / 3][i % 3];
  }
  return noli_mul_transpose33(noli_mul33(r->V, h), r->V);
}

static NoliMat3 change_of_stretch(const Relaxed* r, const NoliMat3* dF, const NoliMat3* dG) {
  NoliMat3 dE = noli_add33(noli_mul33(*dF, r->G), noli_mul33(r->F, *dG));
  NoliMat3 half = noli_transpose_mul33(r->E, dE);
  return noli_add33(half, noli_transpose33(half));
}

static NoliMat3 law_history_derivatives_push(const Relaxed* r, const NoliMat3* dC, double dq,
                                             const NoliMat3* dG) {
  NoliMat3 dS = weighted(r, dC);
  dS = noli_sub33(dS, noli_scale33(r->q / 6.0 * noli_inner33(&r->inverse, dC), r->S));
  dS = noli_add33(dS, noli_scale33(dq, r->by_q));
  return noli_add33(noli_mul33(*dG, r->S), noli_mul33(r->G, dS));
}

static NoliMat3 by_relaxation(const Relaxed* r, const NoliMat3* by_after) {
  NoliMat3 half = noli_transpose_mul33(r->G, *by_after);
  return noli_scale33(0.5, noli_add33(half, noli_transpose33(half)));
}

static NoliMat3 by_stretch(const Relaxed* r, const NoliMat3* by_S) {
  NoliMat3 by_C = weighted(r, by_S);
  return noli_sub33(by_C, noli_scale33(r->q / 6.0 * noli_inner33(&r->S, by_S), r->inverse));
}

// Adds to by_F and by_G (9).
static void pull(const Relaxed* r, const NoliMat3* by_after, const NoliMat3* by_C, NoliMat3* by_F,
                 double* by_G) {
  NoliMat3 by_E = noli_scale33(2.0, noli_mul33(r->E, *by_C));
  NoliMat3 own = noli_add33(noli_mul33(*by_after, r->S), noli_transpose_mul33(r->F, by_E));
  *by_F = noli_add33(*by_F, noli_mul_transpose33(by_E, r->G));
  own = noli_add33(own, noli_load33(by_G));
  noli_store33(by_G, &own);
}

static int32_t law_history_derivatives_term_count(const NoliMaterialPoint* point) {
  return point->prony != NULL ? point->prony->n : 0;
}

// ---- flow ---------------------------------------------------------------------------------------

// The number of a material that is a number of its flow: mu, or a parameter.
static int history_derivatives_number_of(int flow_number) {
  return flow_number == NOLI_FLOW_MU ? NOLI_NUMBER_MU
                                     : NOLI_NUMBER_PARAMETERS + flow_number - NOLI_FLOW_PARAMETERS;
}

static NoliFlowDerivatives flow_at(const NoliMaterialPoint* point, const NoliMat3* F,
                                   const double* history) {
  NoliFlowDerivatives derivatives;
  NoliMat3 FG = noli_mul33(*F, noli_load33(history)), U, V;
  NoliLame lame = point->lame;
  double sigma[3];
  lame.internal = history + NOLI_BRANCH_VALUES;
  noli_svd3(&FG, &U, sigma, &V);
  point->law->flow_derivatives(lame, sigma, &derivatives);
  return derivatives;
}

double noli_history_switch(const NoliMaterialPoint* point, const NoliMat3* F) {
  return noli_flow_size(point) > 0 ? fabs(flow_at(point, F, point->history).excess)
                                   : (double)INFINITY;
}

static void flow_tangent(const NoliMaterialPoint* point, const NoliRelaxation* at,
                         const NoliMat3* dF, const double* d_before, const double* d_numbers,
                         double* d_after) {
  NoliFlowDerivatives flow = flow_at(point, &at->F, at->before);
  Relaxed r = relaxed_at(&at->F, at->before, flow.factor);
  NoliMat3 dG = noli_load33(d_before), dC = change_of_stretch(&r, dF, &dG);
  double along = noli_inner33(&r.length, &dC), dq = flow.factor_by_strain * along;
  double growth = flow.growth_by_strain * along;
  for (int k = 0; k < NOLI_FLOW_NUMBERS; k++) {
    double change = k == NOLI_FLOW_INTERNAL ? d_before[NOLI_BRANCH_VALUES]
                                            : d_numbers[history_derivatives_number_of(k)];
    dq += flow.factor_by[k] * change;
    growth += flow.growth_by[k] * change;
  }
  NoliMat3 d = law_history_derivatives_push(&r, &dC, dq, &dG);
  d_after[NOLI_BRANCH_VALUES] = d_before[NOLI_BRANCH_VALUES] + growth;
  noli_store33(d_after, &d);
}

static void flow_adjoint(const NoliMaterialPoint* point, const NoliRelaxation* at,
                         const double* by_after, NoliMat3* by_F, double* by_before,
                         double* by_numbers) {
  NoliFlowDerivatives flow = flow_at(point, &at->F, at->before);
  Relaxed r = relaxed_at(&at->F, at->before, flow.factor);
  NoliMat3 by = noli_load33(by_after), by_S = by_relaxation(&r, &by), by_C = by_stretch(&r, &by_S);
  double by_q = noli_inner33(&r.by_q, &by_S), by_growth = by_after[NOLI_BRANCH_VALUES];
  double along = by_q * flow.factor_by_strain + by_growth * flow.growth_by_strain;
  by_C = noli_add33(by_C, noli_scale33(along, r.length));
  by_before[NOLI_BRANCH_VALUES] += by_growth;
  for (int k = 0; k < NOLI_FLOW_NUMBERS; k++) {
    double* to = k == NOLI_FLOW_INTERNAL ? &by_before[NOLI_BRANCH_VALUES]
                                         : &by_numbers[history_derivatives_number_of(k)];
    *to += by_q * flow.factor_by[k] + by_growth * flow.growth_by[k];
  }
  pull(&r, &by, &by_C, by_F, by_before);
}

// ---- histories ----------------------------------------------------------------------------------

void noli_history_change_tangent(const NoliMaterialPoint* point, const NoliRelaxation* at,
                                 const NoliMat3* dF, const double* d_before,
                                 const double d_numbers[NOLI_MATERIAL_NUMBERS], double* d_after) {
  int32_t n_flow = noli_flow_size(point);
  if (n_flow > 0 && at->ends) {
    flow_tangent(point, at, dF, d_before, d_numbers, d_after);
  } else {
    memcpy(d_after, d_before, (size_t)n_flow * sizeof *d_after);
  }
  for (int32_t k = 0; k < law_history_derivatives_term_count(point); k++) {
    int32_t place = noli_history_place(point, k);
    Relaxed r = relaxed_at(&at->F, at->before + place, noli_history_factor(point, k, at->ends));
    NoliMat3 dG = noli_load33(d_before + place), dC = change_of_stretch(&r, dF, &dG);
    double dq =
        noli_history_factor_derivative(point, k, at->ends) * d_numbers[NOLI_NUMBER_TIMES + k];
    NoliMat3 d = law_history_derivatives_push(&r, &dC, dq, &dG);
    noli_store33(d_after + place, &d);
  }
}

void noli_history_change_adjoint(const NoliMaterialPoint* point, const NoliRelaxation* at,
                                 const double* by_after, NoliMat3* by_F, double* by_before,
                                 double by_numbers[NOLI_MATERIAL_NUMBERS]) {
  int32_t n_flow = noli_flow_size(point);
  *by_F = (NoliMat3){0};
  memset(by_numbers, 0, NOLI_MATERIAL_NUMBERS * sizeof *by_numbers);
  if (n_flow > 0 && at->ends) {
    flow_adjoint(point, at, by_after, by_F, by_before, by_numbers);
  }
  for (int32_t i = 0; i < n_flow && !at->ends; i++) {
    by_before[i] += by_after[i];
  }
  for (int32_t k = 0; k < law_history_derivatives_term_count(point); k++) {
    int32_t place = noli_history_place(point, k);
    Relaxed r = relaxed_at(&at->F, at->before + place, noli_history_factor(point, k, at->ends));
    NoliMat3 by = noli_load33(by_after + place), by_S = by_relaxation(&r, &by);
    NoliMat3 by_C = by_stretch(&r, &by_S);
    by_numbers[NOLI_NUMBER_TIMES + k] +=
        noli_history_factor_derivative(point, k, at->ends) * noli_inner33(&r.by_q, &by_S);
    pull(&r, &by, &by_C, by_F, by_before + place);
  }
}

// ---- stress -------------------------------------------------------------------------------------

// P of the law of a branch and A at F G.
static void branch_tangent(const NoliBranch* branch, const NoliMat3* F, NoliMat3* P, double A[81]) {
  NoliMat3 E = noli_branch_times(branch, F);
  noli_material_tangent(branch->law, branch->lame, &E, P, A);
}

// A : M
static NoliMat3 contract(const double A[81], const NoliMat3* M) {
  NoliMat3 to = {0};
  for (int k = 0; k < 81; k++) {
    to.m[k / 27][k / 9 % 3] += A[k] * M->m[k % 9 / 3][k % 3];
  }
  return to;
}

// The unit matrix of one entry.
static NoliMat3 unit(int k) {
  NoliMat3 one = {0};
  one.m[k / 3][k % 3] = 1.0;
  return one;
}

static void set_column(double* derivative, int c, const NoliMat3* column) {
  for (int r = 0; r < 9; r++) {
    derivative[9 * r + c] += column->m[r / 3][r % 3];
  }
}

void noli_history_tangent(const NoliMaterialPoint* point, const NoliMat3* F, NoliMat3* P,
                          double A[81]) {
  *P = (NoliMat3){0};
  memset(A, 0, 81 * sizeof *A);
  for (int32_t k = 0; k < noli_branch_count(point); k++) {
    NoliBranch branch = noli_branch_at(point, k);
    NoliMat3 own;
    double derivative[81];
    branch_tangent(&branch, F, &own, derivative);
    *P = noli_add33(*P, noli_branch_adjoint(&branch, &own));
    for (int c = 0; c < 9; c++) {
      NoliMat3 dF = unit(c), dE = noli_branch_times(&branch, &dF), dP = contract(derivative, &dE);
      dP = noli_branch_adjoint(&branch, &dP);
      set_column(A, c, &dP);
    }
  }
}

// The stress is P G^T with P at F G.
void noli_history_stress_derivative(const NoliMaterialPoint* point, int32_t k, const NoliMat3* F,
                                    double derivative[81]) {
  NoliBranch branch = noli_branch_at(point, k);
  NoliMat3 P;
  double A[81];
  branch_tangent(&branch, F, &P, A);
  memset(derivative, 0, 81 * sizeof *derivative);
  for (int c = 0; c < 9; c++) {
    NoliMat3 dG = unit(c), dE = noli_mul33(*F, dG), dP = contract(A, &dE);
    dP = noli_add33(noli_branch_adjoint(&branch, &dP), noli_mul_transpose33(P, dG));
    set_column(derivative, c, &dP);
  }
}

// P of a branch with principal values `first` of its law.
static NoliMat3 in_frames(const NoliBranch* branch, const NoliMat3* U, const double first[3],
                          const NoliMat3* V) {
  NoliMat3 P = noli_mul_transpose33(noli_mul33(*U, noli_diagonal33(first)), *V);
  return noli_branch_adjoint(branch, &P);
}

// The law of a branch at F, in its frames.
typedef struct Principal {
  NoliMat3 U, V;
  double sigma[3];
} Principal;

static Principal principal_of(const NoliBranch* branch, const NoliMat3* F) {
  Principal p;
  NoliMat3 E = noli_branch_times(branch, F);
  noli_svd3(&E, &p.U, p.sigma, &p.V);
  return p;
}

// The deviatoric stress of a law that flows is 2 mu f e.
static NoliMat3 stress_by_factor(const NoliBranch* branch, const Principal* p) {
  double e[3];
  (void)noli_log_stretches(p->sigma, e);
  for (int i = 0; i < 3; i++) {
    e[i] *= 2.0 * branch->lame.mu / p->sigma[i];
  }
  return in_frames(branch, &p->U, e, &p->V);
}

NoliMat3 noli_history_stress_by_internal(const NoliMaterialPoint* point, const NoliMat3* F) {
  NoliBranch branch = noli_branch_at(point, 0);
  Principal p = principal_of(&branch, F);
  NoliFlowDerivatives flow;
  branch.law->flow_derivatives(branch.lame, p.sigma, &flow);
  return noli_scale33(flow.factor_by[NOLI_FLOW_INTERNAL], stress_by_factor(&branch, &p));
}

// At constant f: tau is 2 mu f e + K ln J.
static void flowing_by_numbers(const NoliBranch* branch, const Principal* p,
                               NoliMat3 by[NOLI_MATERIAL_NUMBERS]) {
  NoliFlowDerivatives flow;
  double by_mu[3], by_lambda[3], e[3], log_J = noli_log_stretches(p->sigma, e);
  NoliMat3 by_factor = stress_by_factor(branch, p);
  branch->law->flow_derivatives(branch->lame, p->sigma, &flow);
  for (int i = 0; i < 3; i++) {
    by_mu[i] = (2.0 * flow.factor * e[i] + 2.0 / 3.0 * log_J) / p->sigma[i];
    by_lambda[i] = log_J / p->sigma[i];
  }
  by[NOLI_NUMBER_MU] = in_frames(branch, &p->U, by_mu, &p->V);
  by[NOLI_NUMBER_LAMBDA] = in_frames(branch, &p->U, by_lambda, &p->V);
  for (int k = NOLI_FLOW_MU; k < NOLI_FLOW_NUMBERS; k++) {
    NoliMat3* to = &by[history_derivatives_number_of(k)];
    *to = noli_add33(*to, noli_scale33(flow.factor_by[k], by_factor));
  }
}

// Laws that do not flow are affine in mu and lambda.
static void affine_by_numbers(const NoliBranch* branch, const Principal* p,
                              NoliMat3 by[NOLI_MATERIAL_NUMBERS]) {
  const double* parameter = branch->lame.parameter;
  NoliLame units[2] = {{.mu = 1.0, .parameter = parameter},
                       {.lambda = 1.0, .parameter = parameter}};
  NoliStretchDerivatives none = {0}, one;
  if (branch->law->n_parameter > 0) {
    branch->law->stretch_derivatives((NoliLame){.parameter = parameter}, p->sigma, &none);
  }
  for (int k = 0; k < 2; k++) {
    branch->law->stretch_derivatives(units[k], p->sigma, &one);
    for (int i = 0; i < 3; i++) {
      one.first[i] -= none.first[i];
    }
    by[k] = in_frames(branch, &p->U, one.first, &p->V);
  }
  for (int k = 0; branch->law->stretch_by_parameter != NULL && parameter != NULL &&
                  k < branch->law->n_parameter;
       k++) {
    branch->law->stretch_by_parameter(branch->lame, p->sigma, k, &one);
    by[NOLI_NUMBER_PARAMETERS + k] = in_frames(branch, &p->U, one.first, &p->V);
  }
}

// How the modulus of term i of a Prony series changes with share j, relative to it.
static double modulus_by_share(const NoliProny* prony, int32_t i, int32_t j) {
  return (i == j ? 1.0 / prony->share[i] : 0.0) + noli_prony_ratio(prony);
}

// The derivative of the modulus of a term, as a stage sees it, by a number of the material,
// relative to it.
static double modulus_by_number(const NoliMaterialPoint* point, int32_t term, int number) {
  int of_series = number - NOLI_NUMBER_SHARES;
  if (number == NOLI_NUMBER_MU) {
    return 1.0 / point->lame.mu;
  }
  if (of_series >= 0 && of_series < point->prony->n) {
    return modulus_by_share(point->prony, term, of_series);
  }
  return number == NOLI_NUMBER_TIMES + term ? noli_history_factor_derivative(point, term, true) /
                                                  noli_history_factor(point, term, true)
                                            : 0.0;
}

static void fibres_by_numbers(const NoliMaterialPoint* point, const NoliMat3* F,
                              NoliMat3 by[NOLI_MATERIAL_NUMBERS]) {
  for (int k = 0; noli_fibre_is_there(point->lame.fibre) && k < 2; k++) {
    NoliFibreResponse derivative = noli_fibre_respond_derivative(point->lame.fibre, F, k);
    by[NOLI_NUMBER_FIBRE + k] = noli_fibre_stress(&derivative);
  }
}

void noli_history_stress_by_numbers(const NoliMaterialPoint* point, const NoliMat3* F,
                                    NoliMat3 by[NOLI_MATERIAL_NUMBERS]) {
  NoliBranch branch = noli_branch_at(point, 0);
  Principal p = principal_of(&branch, F);
  memset(by, 0, NOLI_MATERIAL_NUMBERS * sizeof *by);
  if (noli_flow_size(point) > 0) {
    flowing_by_numbers(&branch, &p, by);
  } else {
    affine_by_numbers(&branch, &p, by);
  }
  for (int32_t k = 1; k < noli_branch_count(point); k++) {
    NoliBranch term = noli_branch_at(point, k);
    NoliStretchDerivatives derivatives;
    p = principal_of(&term, F);
    term.law->stretch_derivatives(term.lame, p.sigma, &derivatives);
    NoliMat3 P = in_frames(&term, &p.U, derivatives.first, &p.V);
    for (int number = 0; number < NOLI_MATERIAL_NUMBERS; number++) {
      by[number] = noli_add33(by[number], noli_scale33(modulus_by_number(point, k - 1, number), P));
    }
  }
  fibres_by_numbers(point, F, by);
}

// ---- energy -------------------------------------------------------------------------------------

static double law_history_derivatives_energy_of(const NoliBranch* branch, const NoliMat3* F) {
  NoliMat3 E = noli_branch_times(branch, F);
  if (branch->law->energy != NULL) {
    return branch->law->energy(branch->lame, &E);
  }
  Principal p = principal_of(branch, F);
  return branch->law->stretch_energy(branch->lame, p.sigma);
}

double noli_history_energy(const NoliMaterialPoint* point, const NoliMat3* F) {
  double energy = noli_fibre_respond(point->lame.fibre, F).energy;
  for (int32_t k = 0; k < noli_branch_count(point); k++) {
    NoliBranch branch = noli_branch_at(point, k);
    energy += law_history_derivatives_energy_of(&branch, F);
  }
  return energy;
}

// Affine in the moduli, also of a branch that has flowed: what is stored is elastic.
static void energy_by_law(const NoliBranch* branch, bool flows, const NoliMat3* F,
                          double by[NOLI_MATERIAL_NUMBERS]) {
  NoliBranch one = *branch;
  double step = branch->lame.mu;
  one.lame.parameter = flows ? NULL : branch->lame.parameter;
  double energy = law_history_derivatives_energy_of(&one, F);
  one.lame.mu += step;
  by[NOLI_NUMBER_MU] = (law_history_derivatives_energy_of(&one, F) - energy) / step;
  one.lame.mu = branch->lame.mu;
  one.lame.lambda += step;
  by[NOLI_NUMBER_LAMBDA] = (law_history_derivatives_energy_of(&one, F) - energy) / step;
  for (int k = 0; branch->law->energy_by_parameter != NULL && one.lame.parameter != NULL &&
                  k < branch->law->n_parameter;
       k++) {
    Principal p = principal_of(branch, F);
    by[NOLI_NUMBER_PARAMETERS + k] = branch->law->energy_by_parameter(branch->lame, p.sigma, k);
  }
}

// Psi of F G, by G.
static NoliMat3 energy_by_inverse(const NoliBranch* branch, const NoliMat3* F) {
  Principal p = principal_of(branch, F);
  NoliStretchDerivatives derivatives;
  branch->law->stretch_derivatives(branch->lame, p.sigma, &derivatives);
  NoliMat3 P = noli_mul33(p.U, noli_diagonal33(derivatives.first));
  return noli_transpose_mul33(*F, noli_mul_transpose33(P, p.V));
}

void noli_history_energy_derivatives(const NoliMaterialPoint* point, const NoliMat3* F,
                                     double* by_history, double by_numbers[NOLI_MATERIAL_NUMBERS]) {
  int32_t n_flow = noli_flow_size(point);
  memset(by_numbers, 0, NOLI_MATERIAL_NUMBERS * sizeof *by_numbers);
  if (n_flow > 0) {
    by_history[NOLI_BRANCH_VALUES] = 0.0;
  }
  for (int32_t k = 0; k < noli_branch_count(point); k++) {
    NoliBranch branch = noli_branch_at(point, k);
    if (k == 0) {
      energy_by_law(&branch, n_flow > 0, F, by_numbers);
    }
    for (int number = 0; k > 0 && number < NOLI_MATERIAL_NUMBERS; number++) {
      by_numbers[number] +=
          modulus_by_number(point, k - 1, number) * law_history_derivatives_energy_of(&branch, F);
    }
    if (branch.inverse != NULL) {
      NoliMat3 by = energy_by_inverse(&branch, F);
      noli_store33(by_history + (k > 0 ? noli_history_place(point, k - 1) : 0), &by);
    }
  }
  for (int k = 0; noli_fibre_is_there(point->lame.fibre) && k < 2; k++) {
    by_numbers[NOLI_NUMBER_FIBRE + k] =
        noli_fibre_respond_derivative(point->lame.fibre, F, k).energy;
  }
}
