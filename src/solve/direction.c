#include "solve/direction.h"

#include "base/ranks.h"
#include "base/sort.h"
#include "base/timer.h"
#include "linalg/shifted_matrix.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// Loosest forcing term of early iterations, relative to linear_tolerance. Constraints that push
// depend on the direction, so that a poor one changes their set.
#define LOOSEST 100.0
#define LOOSEST_WITH_CONSTRAINTS 10.0

// Tolerance relative to linear_tolerance while springs pull prescribed nodes: their forces are much
// larger than all others, which the residual would otherwise not resolve.
#define PULLED 1e-4

// Relative to the tolerance of a solve: the largest error of a direction that may end it, and the
// error requested if it is larger.
#define WRONG 0.5
#define EXACT 0.1

// Longest acceptable Newton step, relative to the size of the scene.
#define ASTRAY 100.0

// Minimum diagonal entry of a node of a nearly flat element, relative to the median of its body.
#define CRUSHED 1e3

// Fraction of the projected Hessian in a blend: the first positive value, the minimum, and the
// factors by which it grows and falls.
#define FIRST_SHARE 0.0625
#define LEAST_SHARE 1e-3
#define MORE 4.0
#define LESS 0.5

// The motion of least resistance: the share that the diagonal grows by, and inverse iterations.
#define WEAK_SHARE 1e-9
enum { WEAK_ITERATIONS = 3 };

struct NoliDirections {
  NoliContext* context;
  NoliLinSolver* solver;
  double residual_before;       // of the last direction in this time step; 0 at first
  uint8_t* regular;             // (n_dof) scratch: rows whose diagonal is regularized
  double* sorted;               // (n_node) scratch
  double* left;                 // (n_vert x 3) scratch: residual of a linear system
  NoliShiftedMatrix shifted;    // with a regularized diagonal
  NOLI_ARRAY(double) projected; // values of a projected matrix
  double projected_share;       // its fraction in the next blend
};

NoliStatus noli_directions_create(NoliContext* context, const NoliProblem* problem,
                                  NoliDirections** out) {
  NoliStatus status = NOLI_OK;
  NoliDirections* directions = NULL;
  NOLI_NEW_ZERO(context, directions, 1);
  directions->context = context;
  NOLI_NEW_ZERO(context, directions->regular, problem->n_vert);
  NOLI_NEW(context, directions->sorted, problem->n_node);
  NOLI_NEW(context, directions->left, 3 * (int64_t)problem->n_vert);
  NOLI_TRY(noli_lin_solver_create(context, problem->linear.solver, &directions->solver));
  NOLI_TRY(noli_lin_solver_set_options(directions->solver, problem->linear.petsc_options));
  noli_lin_solver_set_tolerance(directions->solver, problem->linear.tolerance);
done:
  if (status != NOLI_OK) {
    noli_directions_destroy(&directions);
  }
  *out = directions;
  return status;
}

void noli_directions_destroy(NoliDirections** owner) {
  NoliDirections* directions = *owner;
  if (directions == NULL) {
    return;
  }
  NoliContext* context = directions->context;
  noli_lin_solver_destroy(&directions->solver);
  noli_shifted_matrix_free(context, &directions->shifted);
  noli_array_free(context, &directions->projected);
  noli_free(context, directions->regular);
  noli_free(context, directions->sorted);
  noli_free(context, directions->left);
  noli_free(context, directions);
  *owner = NULL;
}

void noli_directions_reset(NoliDirections* directions, NoliLinRecord record) {
  noli_lin_solver_reset(directions->solver);
  noli_lin_solver_set_record(directions->solver, record);
}

NoliLinRecord noli_directions_record(const NoliDirections* directions) {
  return noli_lin_solver_record(directions->solver);
}

void noli_directions_begin(NoliDirections* directions) {
  directions->residual_before = 0.0;
  directions->projected_share = 0.0;
}

// Largest magnitude; NaN if there is one.
static double direction_largest_entry(const double* values, int64_t n) {
  double largest = 0.0;
  for (int64_t i = 0; i < n; i++) {
    double magnitude = fabs(values[i]);
    if (isnan(magnitude)) {
      return magnitude;
    }
    largest = magnitude > largest ? magnitude : largest;
  }
  return largest;
}

// Adds the iteration to the message of the linear solver.
static NoliStatus locate_failure(NoliStage* stage, const NoliNewtonStat* stat, NoliStatus status) {
  char message[512];
  snprintf(message, sizeof message, "%s", noli_context_message(stage->context));
  return noli_fail(stage->context, status, "Newton iteration %lld: %s (%lld contacts)",
                   (long long)stage->record.newton.count + 1, message, (long long)stat->contacts);
}

static NoliStatus check_direction(NoliStage* stage, const NoliNewtonStat* stat) {
  if (!isfinite(stat->residual) || !isfinite(stat->step_speed)) {
    return noli_fail(stage->context, NOLI_NOT_FINITE,
                     "Newton: %s is not finite in iteration %lld (%lld contacts)",
                     isfinite(stat->residual) ? "the step" : "the gradient",
                     (long long)stage->record.newton.count + 1, (long long)stat->contacts);
  }
  return NOLI_OK;
}

// Forcing term of an iterative linear solver: the square of the factor by which the residual fell
// in the last iteration, which allows quadratic convergence ([Eisenstat1996] choice 2).
static double forcing(const NoliStage* stage, double residual) {
  double least = stage->problem->linear.tolerance;
  double gained = residual / stage->work.directions->residual_before;
  double asked = stage->work.directions->residual_before > 0.0 ? gained * gained : 1.0;
  double loosest = noli_stage_constraints(stage) != NULL ? LOOSEST_WITH_CONSTRAINTS : LOOSEST;
  return fmax(least, fmin(asked, fmin(loosest * least, 0.1)));
}

// Relative residual required of an iterative linear solver.
static double choose_tolerance(const NoliStage* stage, bool accurate, double residual) {
  double least = stage->problem->linear.tolerance;
  if (stage->prescribed.springs.hold) {
    return PULLED * least;
  }
  // rank-one terms combine several solutions: each must be accurate
  return accurate || stage->system.low_rank.n_rank > 0 ? least : forcing(stage, residual);
}

// Without inertia nothing bounds the error of an iterative solution (see speed_left), which could
// end a solve far from equilibrium.
static void choose_solver(NoliStage* stage) {
  if (!stage->time.inertia) {
    noli_lin_solver_factor_all(stage->work.directions->solver);
  }
}

// Solves the system of a matrix and the rank-one terms.
static NoliStatus direction_solve(NoliStage* stage, const NoliBlockMatrix* matrix) {
  NoliStatus status = NOLI_OK;
  NoliLinSolver* solver = stage->work.directions->solver;
  NoliLinSystem system = {.n = matrix->n,
                          .symmetric = matrix,
                          .low_rank = &stage->system.low_rank,
                          .rank_row = stage->system.rank_row};
  NOLI_TRY(noli_lin_solver_factor_system(solver, system));
  NOLI_TRY(noli_lin_solver_solve(solver, stage->system.rhs, stage->system.solution));
done:
  return status;
}

// Whether the solution lies far outside the scene and far from the inertial prediction: rounding
// has cancelled the stiffness that should limit it.
static bool leads_astray(const NoliStage* stage) {
  const NoliProblem* problem = stage->problem;
  double reach = problem->size.d;
  for (int64_t k = 0; stage->time.inertia && k < 3 * (int64_t)problem->n_node; k++) {
    reach = fmax(reach, fabs(stage->time.x_tilde[k] - stage->here->x[k]));
  }
  return direction_largest_entry(stage->system.solution, 3 * (int64_t)stage->system.n_dof) >
         ASTRAY * reach;
}

// Whether rounding may be the reason why a system has no solution or a useless one.
static bool may_be_rounding(const NoliStage* stage, NoliStatus status) {
  return status == NOLI_NOT_POSITIVE_DEFINITE || (status == NOLI_OK && leads_astray(stage));
}

// The largest diagonal entry of a block row.
static double largest_diagonal(const NoliSystem* system, int32_t row) {
  const double* block = noli_system_diagonal(system, row);
  return fmax(block[0], fmax(block[4], block[8]));
}

// Marks the block rows on which contact acts; returns whether there are any.
static bool mark_contact(NoliStage* stage) {
  bool any = false;
  memset(stage->work.directions->regular, 0, (size_t)stage->system.n_dof);
  for (int32_t k = 0; k < stage->terms.n; k++) {
    const NoliEnergyTerm* term = &stage->system.term[k];
    int64_t n =
        noli_stage_has(stage, k, NOLI_ROLE_CONTACT) ? noli_term_first(term, term->n_stencil) : 0;
    for (int64_t i = 0; i < n; i++) {
      int32_t node = term->node[i];
      int32_t row = node != NOLI_NULL_INDEX ? stage->system.dof[node] : NOLI_NULL_INDEX;
      if (row != NOLI_NULL_INDEX) {
        stage->work.directions->regular[row] = 1;
        any = true;
      }
    }
  }
  return any;
}

static int direction_compare(const void* a, const void* b) {
  double difference = *(const double*)a - *(const double*)b;
  return difference < 0.0 ? -1 : difference > 0.0 ? 1 : 0;
}

// The largest diagonal entries of the rows of nodes [begin, end), in ascending order; returns how
// many there are.
static int32_t sort_diagonals(const NoliStage* stage, int32_t begin, int32_t end, double* sorted) {
  int32_t n = 0;
  for (int32_t i = begin; i < end; i++) {
    int32_t row = stage->system.dof[i];
    if (row != NOLI_NULL_INDEX) {
      sorted[n++] = largest_diagonal(&stage->system, row);
    }
  }
  noli_sort(sorted, n, sizeof *sorted, direction_compare);
  return n;
}

// Marks the block rows of nodes that are far stiffer than the one at a quantile of their body:
// nodes of elements that are nearly flat, or nearly at their limit of stretch. Returns whether
// there are any.
static bool mark_stiffer(NoliStage* stage, double quantile) {
  const NoliSurface* surface = stage->problem->surface;
  const int32_t* dof = stage->system.dof;
  double* sorted = stage->work.directions->sorted;
  bool any = false;
  for (int32_t begin = 0, end; begin < stage->problem->n_node; begin = end) {
    for (end = begin; end < stage->problem->n_node && surface->body[end] == surface->body[begin];) {
      end++;
    }
    int32_t n = sort_diagonals(stage, begin, end, sorted);
    double most = n > 0 ? CRUSHED * sorted[(int32_t)(quantile * n)] : 0.0;
    for (int32_t i = begin; n > 0 && i < end; i++) {
      if (dof[i] != NOLI_NULL_INDEX && largest_diagonal(&stage->system, dof[i]) > most) {
        stage->work.directions->regular[dof[i]] = 1;
        any = true;
      }
    }
  }
  return any;
}

// The matrix with an enlarged diagonal where rows are marked; of the shares of several ranks the
// first one is enlarged.
static NoliStatus shift_diagonal(NoliStage* stage, NoliShiftScale scale, double share) {
  NoliDirections* directions = stage->work.directions;
  bool shared = noli_rank_count(stage->context) > 1;
  return noli_shifted_matrix_make(&directions->shifted, stage->context,
                                  noli_system_matrix(&stage->system),
                                  shared ? stage->system.diagonal.data : NULL, directions->regular,
                                  scale, noli_rank(stage->context) == 0 ? share : 0.0);
}

// Solves with the diagonal of the marked rows shifted, by more and more while rounding may be the
// reason of `status`.
static NoliStatus solve_shifted(NoliStage* stage, NoliStatus status) {
  static const struct {
    NoliShiftScale scale;
    double share;
  } shift[] = {{NOLI_SHIFT_ENTRY, 1e-15}, {NOLI_SHIFT_ENTRY, 1e-14}, {NOLI_SHIFT_BLOCK, 1e-15},
               {NOLI_SHIFT_BLOCK, 1e-14}, {NOLI_SHIFT_BLOCK, 1e-13}, {NOLI_SHIFT_BLOCK, 1e-12},
               {NOLI_SHIFT_BLOCK, 1e-11}, {NOLI_SHIFT_BLOCK, 1e-10}};
  for (size_t i = 0; i < sizeof shift / sizeof *shift && may_be_rounding(stage, status); i++) {
    status = shift_diagonal(stage, shift[i].scale, shift[i].share);
    status = status == NOLI_OK ? direction_solve(stage, &stage->work.directions->shifted.matrix)
                               : status;
  }
  return status;
}

// A sum of projected terms and masses is positive definite only up to rounding: pairs that nearly
// touch and nearly flat elements are up to 1e20 times as stiff as others, which leaves no digits
// for the common motion of their nodes. The diagonal of such rows is then regularized by its own
// rounding error, and by more if that does not suffice. Other rows keep theirs: there rounding has
// lost the inertia of stiff elements, or a free rigid-body mode exists, which is reported. A matrix
// that is not `projected` need not be positive definite.
static NoliStatus solve_regular(NoliStage* stage, bool projected) {
  const NoliBlockMatrix* matrix = noli_system_matrix(&stage->system);
  NoliStatus status = direction_solve(stage, matrix);
  if (!projected || !may_be_rounding(stage, status)) {
    return status;
  }
  NoliStatus solved = status; // which counts unless the diagonal can be regularized
  NOLI_TRY(noli_system_find_diagonal(&stage->system));
  status = solved;

  // nodes stiffer than most of their body; where most are stiff, than its softest one
  bool in_contact = mark_contact(stage), any = mark_stiffer(stage, 0.5) || in_contact;
  if (any) {
    status = solve_shifted(stage, status);
  }
  if (status == NOLI_NOT_POSITIVE_DEFINITE && mark_stiffer(stage, 0.0)) {
    any = true;
    status = solve_shifted(stage, status);
  }
  stage->record.linear_fallbacks += any ? 1 : 0;
  if (any && status == NOLI_NOT_POSITIVE_DEFINITE) {
    return noli_fail(stage->context, status,
                     "the matrix is not positive definite, even with a regularized diagonal where "
                     "bodies are in contact or crushed");
  }
done:
  return status;
}

// Approximate error of a solution, m/s: root mean square over all masses. The matrix A of a
// potential is at least that of the masses M, so that a residual r bounds the error e: e^T M e <=
// r^T M^-1 r. The residual of a rigid motion can be so far below that of stiff elements that an
// iterative solver does not resolve it.
static NoliStatus speed_left(const NoliStage* stage, double* speed) {
  NoliStatus status = NOLI_OK;
  const NoliProblem* problem = stage->problem;
  const NoliSystem* system = &stage->system;
  double *left = stage->work.directions->left, sum = 0.0, mass = 0.0;
  noli_block_matrix_multiply(noli_system_matrix(system), stage->n_threads, system->solution, left);
  NOLI_TRY(noli_ranks_sum(stage->context, left, 3 * (int64_t)system->n_dof));
  noli_low_rank_multiply_add(&system->low_rank, system->solution, left);
  for (int32_t i = 0; i < problem->inertia.n_vert; i++) {
    int32_t node = problem->inertia.vert[i], row = system->dof[node];
    if (row == NOLI_NULL_INDEX) {
      continue;
    }
    mass += problem->inertia.mass[node];
    for (int64_t k = 3 * (int64_t)row; k < 3 * (int64_t)row + 3; k++) {
      double r = system->rhs[k] - left[k];
      sum += r * r / problem->inertia.mass[node];
    }
  }
  *speed = mass > 0.0 ? sqrt(sum / mass) / stage->step.h : 0.0;
done:
  return status;
}

static void take_solution(NoliStage* stage, NoliNewtonStat* stat) {
  noli_system_to_nodes(&stage->system, stage->system.solution, stage->search.step);
  stat->step_speed = noli_stage_step_speed(stage);
}

// A step that is short enough to end the solve must be that accurate: an iterative solution whose
// error may hide a longer step is refined.
static NoliStatus confirm_short_step(NoliStage* stage, double asked, bool projected,
                                     NoliNewtonStat* stat) {
  NoliStatus status = NOLI_OK;
  double most = stage->step.tolerance;
  if (!stage->time.inertia || stat->step_speed >= most) {
    return NOLI_OK;
  }
  double left = 0.0;
  NOLI_TRY(speed_left(stage, &left));
  if (left > WRONG * most) {
    noli_lin_solver_set_tolerance(stage->work.directions->solver, asked * EXACT * most / left);
    NOLI_TRY(solve_regular(stage, projected));
    take_solution(stage, stat);
  }
done:
  return status;
}

static NoliStatus solve_direction(NoliStage* stage, bool accurate, bool projected,
                                  NoliNewtonStat* stat) {
  NoliStatus status = NOLI_OK;
  NoliLinSolver* solver = stage->work.directions->solver;
  double start = noli_seconds();
  choose_solver(stage);
  stat->residual = noli_system_largest(&stage->system, stage->search.gradient);
  double asked = choose_tolerance(stage, accurate, stat->residual);
  noli_lin_solver_set_tolerance(solver, asked);
  stage->work.directions->residual_before = stat->residual;
  NoliLinSolverStats before = noli_lin_solver_stats(solver);
  noli_system_to_rows(&stage->system, -1.0, stage->search.gradient, stage->system.rhs);
  NOLI_TRY(solve_regular(stage, projected));
  take_solution(stage, stat);
  NoliLinSolverStats solved = noli_lin_solver_stats(solver);
  if (solved.iterations > before.iterations || solved.refinements > before.refinements) {
    NOLI_TRY(confirm_short_step(stage, asked, projected, stat));
  }

  // record the cost
  NoliLinSolverStats after = noli_lin_solver_stats(solver);
  stat->linear_iterations = (int32_t)(after.iterations - before.iterations);
  stage->record.linear_fallbacks += after.fallbacks - before.fallbacks;
  stat->condition = after.condition;
done:
  stage->record.timing.linear += noli_seconds() - start;
  if (status != NOLI_OK) {
    return status > NOLI_OK ? locate_failure(stage, stat, status) : status;
  }
  return check_direction(stage, stat);
}

NoliStatus noli_solve_direction(NoliStage* stage, bool accurate, NoliNewtonStat* stat) {
  return solve_direction(stage, accurate, true, stat);
}

// Copies the values of the projected matrix.
static NoliStatus keep_projected(NoliStage* stage) {
  NoliStatus status = NOLI_OK;
  const NoliBlockMatrix* matrix = noli_system_matrix(&stage->system);
  NOLI_TRY(noli_array_reserve(stage->context, &stage->work.directions->projected, 9 * matrix->nnz));
  memcpy(stage->work.directions->projected.data, matrix->value,
         9 * sizeof *matrix->value * (size_t)matrix->nnz);
done:
  return status;
}

// Tries the blend and sets the fraction for the next one; `*found`: the blend was positive
// definite.
static NoliStatus try_blend(NoliStage* stage, NoliNewtonStat* stat, bool* found) {
  NoliStatus status = NOLI_OK;
  double share = stage->work.directions->projected_share;
  NOLI_TRY(keep_projected(stage));
  NOLI_TRY(noli_stage_linearize_as(stage, NOLI_EVAL_HESSIAN));
  noli_assembler_blend(stage->system.assembler, share, stage->work.directions->projected.data);
  NoliStatus solved = solve_direction(stage, true, false, stat);
  if (solved < NOLI_OK) {
    status = solved;
    goto done;
  }
  *found = solved == NOLI_OK;
  if (*found) {
    stage->work.directions->projected_share = share < LEAST_SHARE ? 0.0 : LESS * share;
  } else {
    stage->work.directions->projected_share = fmin(fmax(FIRST_SHARE, MORE * share), 1.0);
    noli_assembler_blend(stage->system.assembler, 1.0, stage->work.directions->projected.data);
  }
done:
  return status;
}

bool noli_directions_are_projected(const NoliDirections* directions) {
  return directions->projected_share > 0.0;
}

NoliStatus noli_find_direction(NoliStage* stage, bool plain, NoliNewtonStat* stat) {
  NoliStatus status = NOLI_OK;
  bool found = false;
  NOLI_TRY(noli_stage_linearize(stage));
  choose_solver(stage);
  if (plain) {
    NOLI_TRY(noli_lin_solver_factors(stage->work.directions->solver,
                                     noli_system_matrix(&stage->system), &plain));
  }
  if (plain) {
    NOLI_TRY(try_blend(stage, stat, &found));
  }
  if (!found) {
    NOLI_TRY(noli_solve_direction(stage, true, stat));
  }
done:
  return status;
}

NoliStatus noli_find_weakest_motion(NoliStage* stage) {
  NoliStatus status = NOLI_OK;
  NoliSystem* system = &stage->system;
  int64_t n = 3 * (int64_t)system->n_dof;
  memset(stage->work.directions->regular, 1, (size_t)system->n_dof);
  NOLI_TRY(noli_system_find_diagonal(system));
  NOLI_TRY(shift_diagonal(stage, NOLI_SHIFT_BLOCK, WEAK_SHARE));

  // a start with parts of all motions
  for (int64_t i = 0; i < n; i++) {
    system->rhs[i] = 1.0 + 0.5 * (double)(i * 2654435761 % 1024) / 1024.0;
  }
  for (int32_t k = 0; k < WEAK_ITERATIONS; k++) {
    NOLI_TRY(direction_solve(stage, &stage->work.directions->shifted.matrix));
    double largest = direction_largest_entry(system->solution, n);
    for (int64_t i = 0; i < n; i++) {
      system->rhs[i] = system->solution[i] / largest;
    }
  }
  noli_system_to_nodes(system, system->rhs, stage->search.step);
done:
  return status;
}
