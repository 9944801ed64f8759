// Declarations shared by the files of derivatives of one solve: sensitivity.c sets solves up and
// multiplies by their derivatives, sensitivity_defect.c refuses, sensitivity_system.c solves,
// sensitivity_derivatives.c lists what the equations depend on, sensitivity_places.c what forces by
// place depend on, and sensitivity_polish.c ends solves accurately.
#pragma once

#include "contact/derivatives/stick_derivatives.h"
#include "derive/solves/sensitivity.h"
#include "linalg/solver.h"

struct NoliSensitivity {
  NoliContext* context;
  NoliSim* sim;
  unsigned wanted;
  NoliPairClasses classes;
  NoliTieDerivatives ties;
  NoliMixedList mixed;      // of the current solve
  NoliMixedList part_list;  // of a part of its terms; scratch
  NoliSlipLinks slips;      // of the last solve of a part, of contacts that stick
  NoliStickList ends;       // the slips there
  const NoliTapePart* part; // it is one of this part; NULL: nothing is set up
  int32_t stage;
  int64_t solve;
  double** force;           // (n_force) (n_vert x 3) N, its loads in the current solve; NULL: none
  NoliLinSolver* solver;    // of the current matrix
  bool transposed;          // which is transposed
  NoliGeneralMatrix matrix; // with implicit friction, and its transpose
  NoliGeneralMatrix mirror;
  NoliLinSolver* definite;
  NoliLinSolver* general;
  double* lambda;      // (n_vert x 3)
  double* product;     // (n_vert x 3)
  double* scaled;      // (n_vert x 3)
  double* damped;      // (n_vert x 3) m, where the stiffness of damping is taken
  double* zero;        // (n_vert x 3) 0
  double* begin;       // (n_vert x 3) m, at the start of the part
  double* gradient;    // (n_vert x 3) of the potential, on tied nodes, too, where ties vary
  double t, t1;        // s, of the loads, and of the end of the part
  int32_t* pressing;   // (faces with a pressure) their forces
  NoliMat3** by_place; // (n_force) (n_node) of the values of a force by rest positions of its
                       // vertices; NULL: those do not vary
  NoliMat3* place;     // (n_vert) the same of one force; scratch
  double place_time;   // s, of by_place; NaN: none
};

// Whether derivatives by an input are needed.
bool noli_sensitivity_wants(const NoliSensitivity* self, NoliInput input);

// ---- linear systems, of the stage that is set up ----

// Implicit friction is no potential: its Jacobian is not symmetric.
bool noli_sensitivity_is_general(const NoliSensitivity* self);

// Factors the Jacobian at x, by Cholesky's method where it is symmetric and positive definite.
NOLI_WARN_UNUSED NoliStatus noli_sensitivity_factor(NoliSensitivity* self);

// K x = b over the free components, or with the transpose; x is 0 at the others.
NOLI_WARN_UNUSED NoliStatus noli_sensitivity_solve(NoliSensitivity* self, bool transposed,
                                                   const double* b, double* x);

// Adds H w to y (both n_vert x 3, with followers) for the Jacobians of terms with one of `roles`,
// or their transposes.
NOLI_WARN_UNUSED NoliStatus noli_sensitivity_multiply(NoliSensitivity* self, bool transposed,
                                                      unsigned roles, const double* w, double* y);

// The gradient of all terms at x (n_vert x 3), by followers, too.
NOLI_WARN_UNUSED NoliStatus noli_sensitivity_find_gradient(NoliSensitivity* self, double* gradient);

// ---- inputs ----

// Lists the derivatives of the equations by all inputs but predictions and lagged friction.
NOLI_WARN_UNUSED NoliStatus noli_sensitivity_list_derivatives(NoliSensitivity* self);

// Lists the derivatives of forces whose values follow rest positions that vary. Fails with
// NOLI_ERROR_ARGUMENT where values jump.
NOLI_WARN_UNUSED NoliStatus noli_sensitivity_list_places(NoliSensitivity* self);
void noli_sensitivity_free_places(NoliSensitivity* self);

// Lists the derivatives of damping in proportion to stiffness and of dampers alone; and of M z,
// z (n_vert x 3), of consistent masses.
NOLI_WARN_UNUSED NoliStatus noli_sensitivity_list_damping(NoliSensitivity* self,
                                                          NoliMixedList* list);
NOLI_WARN_UNUSED NoliStatus noli_sensitivity_list_masses(NoliSensitivity* self, const double* z,
                                                         NoliMixedList* list);
