// The linear systems of implicit Newton, J p = -r with the Jacobian of all terms and forces of a
// stage, which is not symmetric: assembled or not, solved directly or iteratively.
#pragma once

#include "base/named.h"
#include "solve/stage.h"

// In the order of NoliGeneralMethod.
enum { NOLI_GENERAL_METHODS = 4 };
extern const NoliNamed noli_general_methods[NOLI_GENERAL_METHODS];

// False where there is none of that name.
bool noli_general_method_find(const char* name, NoliGeneralMethod* method);

// Which Jacobian: of plain or projected Hessians (forces are never projected), and what share of
// the diagonal is added to it.
typedef struct NoliNewtonMatrix {
  bool projected;
  double shift;
} NoliNewtonMatrix;

// Solves for the direction at stage->here->x, with stage->gradient as r, and spreads it over the
// nodes of stage->step. Iterative methods end when |r + J p| <= forcing |r|; where one that the
// scene asks for fails, the system is factored, and so are those after it until
// noli_newton_system_forget, which is logged once and counted in stage->linear_fallbacks. Needs the
// terms of the last noli_stage_linearize_as, which may have been without a matrix. `*exact`: the
// system was solved directly. `*iterations` counts those of iterative methods. A positive status
// means that there is no solution, with a message.
NOLI_WARN_UNUSED NoliStatus noli_newton_system_solve(NoliStage* stage, NoliNewtonMatrix which,
                                                     double forcing, bool* exact,
                                                     int64_t* iterations);

// What was learnt from former systems does not count any more; NULL is harmless.
void noli_newton_system_forget(NoliNewtonSystem* system);

// NULL is harmless.
void noli_newton_system_destroy(NoliNewtonSystem** system);
