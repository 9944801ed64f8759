// The interface for forces that have no energy, such as implicit friction: a residual and its plain
// Jacobian, which need not be symmetric, over small node stencils.
//
// To the assembler a force is an energy term without energy. The gradient of that term is the
// residual, its Hessian the symmetric part of the Jacobian, and NOLI_EVAL_SKEW gives the rest.
// So a force shares plans, patterns and held components with all other terms; solvers for symmetric
// matrices see the symmetric part, and linalg/general_matrix.h puts both together.
#pragma once

#include "linalg/energy_term.h"

// Most nodes of a stencil of a force.
enum { NOLI_FORCE_NODES = 4 };

// Evaluates one stencil at x (n_node x 3): `residual` (size x 3) is minus the force, as a gradient
// would be, and `jacobian` (size x size x 9) its derivative: block (a, b), row-major, is that of
// the residual of node a by the position of node b. Either may be NULL. Pure, as a NoliTermFn is.
typedef void NoliForceTermFn(const void* data, const double* x, int64_t stencil, double* residual,
                             double* jacobian);

typedef struct NoliForceTerm {
  const char* name;
  const void* data; // first argument of `evaluate`
  NoliForceTermFn* evaluate;
  int32_t size; // nodes of each stencil, at most NOLI_FORCE_NODES
  int64_t n_stencil;
  const int32_t* node; // (n_stencil x size); NOLI_NULL_INDEX pads stencils that need fewer
  bool divided;        // as in NoliEnergyTerm
} NoliForceTerm;

// The force as a term of the assembler; `force` is borrowed.
NoliEnergyTerm noli_force_as_term(const NoliForceTerm* force);
