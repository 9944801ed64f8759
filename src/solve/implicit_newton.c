// Newton's method on the equations of motion ([Larionov2024] Algorithms 1 and 2): the residual r is
// the gradient of all energies minus the forces without energy, the Jacobian is exact and not
// symmetric, and steps, bounded by CCD and inversion, are cut until |r| decreases.
//
// A solve ends when a full Newton step is slower than the tolerance, as in projected Newton, and
// the momentum error of every node is at most its mass times that speed. No other end is accepted.
//
// Where stiff bodies rotate, |r| is a poor measure of the distance from the solution: the first
// steps are leaps, taken in full while they get shorter. If they do not, the solver returns to the
// start and cuts steps.
//
// |r| may have local minima, where no direction reduces it. Then the solver tries, in this order,
//   1. the Jacobian with projected Hessians; forces keep theirs,
//   2. the exact Jacobian shifted by increasing fractions of its diagonal,
//   3. a better start: a solve with friction lagged from here, which has an energy and cannot get
//      stuck, a few times in a step, with plain Hessians as far as they are positive definite;
// and fails with NOLI_LINE_SEARCH_FAILED or NOLI_NOT_CONVERGED and a message with the value of |r|.
// The driver then splits the step (step/step.c).
#include "base/timer.h"
#include "solve/arcs.h"
#include "solve/balance.h"
#include "solve/direction.h"
#include "solve/easing.h"
#include "solve/friction_end.h"
#include "solve/method.h"
#include "solve/newton_system.h"
#include "solve/prescribed.h"
#include "solve/projected_newton.h"
#include "solve/rounding.h"

#include <math.h>
#include <string.h>

// Fraction of a gap that one step may consume.
#define CCD_SAFETY 0.9
#define LEAST_ALPHA 1e-14

// Constants of [Larionov2024] Algorithm 2.
#define DECREASE 1e-4                   // c_1
#define FORCING 0.01                    // sigma
#define CUT 0.5                         // rho
#define GOLDEN_RATIO 1.6180339887498949 // phi

// Newton's method continues although |r| grows if the new step is at most SHORTER times the last
// but one, or shorter than the last one by SHORTER times its alpha. CCD must not cut it below
// LEAST_LEAP.
#define SHORTER 0.5
#define LEAST_LEAP 0.1

// Cuts of a step before the next direction is tried.
enum { MAX_CUTS = 12 };

// Iterations in which |r| has to halve, or the solve is stuck; and the same limit once no better
// start is left.
enum { PATIENCE = 12, LAST_PATIENCE = 100 };

// Better starts in one solve, friction iterations of each, and the required decrease of |r| for
// another one.
enum { MAX_STARTS = 4, MAX_FRICTION_ITERATIONS = 30 };
#define FRICTION_DECREASE 0.8
// Tolerance of better starts relative to the step: from a start that is only as accurate as the
// solution must be, Newton's method may diverge.
#define START_TOLERANCE 1e-3

// Directions, in the order of trial.
static const NoliNewtonMatrix directions[] = {{false, 0.0}, {true, 0.0},   {false, 0.1},
                                              {false, 1.0}, {false, 10.0}, {false, 100.0}};
enum { N_DIRECTIONS = sizeof directions / sizeof *directions };

typedef enum Fallback { EXACT, PROJECTED, SHIFTED, LAGGED } Fallback;

// Kept between solves.
typedef struct Work {
  double* start; // (n_vert x 3) where a solve begins
} Work;

typedef struct Search {
  NoliStage* stage;
  Work* work;
  double norm;        // |r| at x
  double norm_before; // in the previous iteration; 0: none
  double norm_mark;   // n_since iterations ago
  int32_t n_since;
  const double* rounding; // of r at x; NULL if not needed for the balance of momentum
  double speed;           // of the last exact step, m/s; INFINITY: none
  double speed_before;    // of the exact step before it, m/s; INFINITY: none
  double alpha;           // fraction of the last one that was taken
  double kappa;           // at the start of the solve, work->start
  double norm_start;      // |r| there
  int32_t n_updates;      // of prescribed nodes there
  bool by_springs;        // whether springs held them there
  bool leaps;             // full steps although |r| grows, while they get shorter
  bool went_astray;       // leaps did not get shorter
  bool keeps_contacts;    // the potential jumped: contacts keep their triangles
  int32_t n_starts;
  int32_t n_iterations;       // of the search itself
  int32_t n_start_iterations; // of better starts
} Search;

// Largest momentum error of a node divided by its mass, m/s; 0 without inertia. Errors up to
// `rounding`, which may be NULL, do not count.
static double momentum_error(const NoliStage* stage, const double* residual,
                             const double* rounding) {
  double largest = 0.0;
  if (!stage->time.inertia) {
    return 0.0;
  }
  for (int64_t i = 0; i < stage->problem->n_vert; i++) {
    for (int64_t k = 3 * i; noli_system_is_unknown(&stage->system, i) && k < 3 * i + 3; k++) {
      double excess = fabs(residual[k]) - (rounding != NULL ? rounding[k] : 0.0);
      double error = excess / (stage->problem->inertia.mass[i] * stage->step.h);
      largest = !(error <= largest) ? error : largest;
    }
  }
  return largest;
}

// Computes the rounding error of r if only the momentum error exceeds the tolerance: the exact step
// is short enough.
static NoliStatus find_rounding(Search* search, double speed) {
  NoliStatus status = NOLI_OK;
  NoliStage* stage = search->stage;
  double tolerance = stage->step.tolerance;
  search->rounding = NULL;
  if (speed < tolerance && momentum_error(stage, stage->search.gradient, NULL) > tolerance) {
    NOLI_TRY(noli_stage_rounding(stage));
    search->rounding = stage->search.rounding;
  }
done:
  return status;
}

// Whether the exact step is short and momentum balances up to rounding.
static bool is_solution(const Search* search, const NoliNewtonStat* stat, const double* residual) {
  double tolerance = search->stage->step.tolerance;
  return stat->step_speed < tolerance &&
         momentum_error(search->stage, residual, search->rounding) <= tolerance;
}

// Cuts a step of length alpha; where rigid bodies turn along arcs, to another chord.
static NoliStatus cut(NoliStage* stage, double* alpha) {
  NoliStatus status = NOLI_OK;
  NoliStepFilter filter;
  if (!stage->search.bends) {
    *alpha *= CUT;
    return NOLI_OK;
  }
  noli_arcs_scale(stage, CUT * *alpha);
  NOLI_TRY(noli_stage_filter_step_to(stage, 1.0, CCD_SAFETY, &filter));
  *alpha = fmin(filter.ccd, 1.0);
done:
  return status;
}

// Cuts alpha from `alpha_max` until |r| decreases sufficiently. A leap takes the full step.
static NoliStatus backtrack(const Search* search, double alpha_max, double forcing, double* alpha,
                            bool* found) {
  NoliStatus status = NOLI_OK;
  NoliStage* stage = search->stage;
  *alpha = alpha_max;
  *found = false;
  for (int32_t cuts = 0; cuts <= MAX_CUTS; cuts++) {
    noli_stage_set_trial(stage, *alpha);
    NOLI_TRY(noli_stage_trial_contacts(stage));
    double start = noli_seconds();
    NOLI_TRY(noli_stage_trial_gradient(stage));
    double norm = noli_system_norm(&stage->system, stage->search.trial_gradient);
    stage->record.timing.line_search += noli_seconds() - start;
    double taken = *alpha * stage->search.arc;
    *found = search->leaps ? isfinite(norm)
                           : norm <= (1.0 - DECREASE * taken * (1.0 - forcing)) * search->norm;
    if (*found) {
      *alpha = taken;
      break;
    }
    NOLI_TRY(cut(stage, alpha));
  }
done:
  return status;
}

// Relative residual of the linear system: sigma_k of Algorithm 2, which preserves quadratic
// convergence [Eisenstat1996].
static double forcing_term(const Search* search) {
  if (search->norm_before == 0.0) {
    return FORCING;
  }
  return fmin(pow(search->norm / search->norm_before, GOLDEN_RATIO), FORCING);
}

// Whether Newton's method continues with full steps regardless of |r|, given the speed of the new
// step. Where stiff bodies rotate, the path to the solution is so narrow that the first step
// stretches them and |r| grows a millionfold, then falls below its initial value within a few
// steps. Such steps get shorter on average, but not in every iteration.
static void judge_leap(Search* search, double speed) {
  double last = (1.0 - SHORTER * search->alpha) * search->speed;
  bool shorter = speed <= fmax(last, SHORTER * search->speed_before);
  search->went_astray = search->leaps && !shorter && search->norm > search->norm_start;
  search->leaps = search->leaps && shorter;
  search->speed_before = search->speed;
  search->speed = speed;
}

// Tries one direction. `*found`: |r| decreases along it, or it is a leap; the trial point is there.
static NoliStatus try_direction(Search* search, int32_t index, NoliNewtonStat* stat, bool* found) {
  NoliStatus status = NOLI_OK;
  NoliStage* stage = search->stage;
  bool exact;
  int64_t linear;
  double forcing = forcing_term(search);
  *found = false;

  // solve for the direction
  stat->fallback = EXACT;
  if (index > 0) {
    stat->fallback = directions[index].projected ? PROJECTED : SHIFTED;
    // the last line search prepared the assembler for its trial points
    NOLI_TRY(noli_stage_linearize_as(stage, 0));
  }
  status = noli_newton_system_solve(stage, directions[index], forcing, &exact, &linear);
  stat->linear_iterations += (int32_t)linear;
  if (status > NOLI_OK) {
    // singular, or the iterative solver has not converged: try another matrix
    return NOLI_OK;
  }
  NOLI_TRY(status);

  // check it
  stat->step_speed = noli_stage_step_speed(stage);
  if (!isfinite(stat->step_speed)) {
    goto done;
  }
  if (index == 0) {
    judge_leap(search, stat->step_speed);
    NOLI_TRY(find_rounding(search, stat->step_speed));
    if (search->went_astray) {
      goto done;
    }
  }

  // bound and cut the step
  NoliStepFilter filter;
  noli_arcs_begin(stage);
  NOLI_TRY(noli_stage_filter_step_to(stage, 1.0, CCD_SAFETY, &filter));
  stat->alpha_inversion = filter.inversion;
  stat->alpha_ccd = filter.ccd;
  stage->record.blocker = filter.blocker;
  search->leaps = search->leaps && filter.ccd >= LEAST_LEAP && stat->contacts == 0;
  if (filter.ccd > LEAST_ALPHA) {
    NOLI_TRY(backtrack(search, filter.ccd, exact ? 0.0 : forcing, &stat->alpha, found));
  }
done:
  return status;
}

// Marks x as the start of the solve.
static void mark_start(Search* search) {
  const NoliStage* stage = search->stage;
  memcpy(search->work->start, stage->here->x,
         3 * sizeof *stage->here->x * (size_t)stage->problem->n_vert);
  search->kappa = stage->contact.kappa;
  search->n_updates = stage->prescribed.springs.n_updates;
  search->by_springs = stage->prescribed.springs.hold;
  search->norm_start = search->speed = search->speed_before = (double)INFINITY;
  search->leaps = true;
}

// Returns to the start, from where |r| must decrease; not if prescribed nodes have been pulled or
// fixed since.
static NoliStatus go_back(Search* search) {
  NoliStatus status = NOLI_OK;
  NoliStage* stage = search->stage;
  if (search->n_updates == stage->prescribed.springs.n_updates &&
      search->by_springs == stage->prescribed.springs.hold) {
    memcpy(stage->here->x, search->work->start,
           3 * sizeof *stage->here->x * (size_t)stage->problem->n_vert);
    noli_stage_set_kappa(stage, search->kappa);
    NOLI_TRY(noli_stage_find_contacts(stage));
  }
  search->norm_before = search->norm_mark = 0.0;
  search->leaps = search->went_astray = false;
done:
  return status;
}

// |r| at x, with friction lagged at x itself: its forces are then those of implicit friction.
static NoliStatus implicit_newton_measure(Search* search, double* norm) {
  NoliStatus status = NOLI_OK;
  NOLI_TRY(noli_stage_linearize_as(search->stage, 0));
  *norm = noli_system_norm(&search->stage->system, search->stage->search.gradient);
done:
  return status;
}

// Solves with lagged friction from here, repeatedly while that reduces |r|: these problems have an
// energy, so each solve can descend. A solve that fails helps too: a start need not be a solution.
// If friction is lagged anyway, it keeps its normal forces: others would change the problem.
static NoliStatus start_better(Search* search) {
  NoliStatus status = NOLI_OK;
  NoliStage* stage = search->stage;
  bool implicit = stage->problem->friction.implicit;
  int32_t most = implicit ? MAX_FRICTION_ITERATIONS : 1;
  int64_t first = stage->record.newton.count;
  double before = (double)INFINITY, norm = (double)INFINITY;
  noli_directions_begin(stage->work.directions);
  search->leaps = false;
  if (implicit) {
    NOLI_TRY(noli_stage_lag_all_friction(stage, true));
  }

  // solve, each time with the normal forces at the last point
  for (int32_t k = 0; k < most && (k < 2 || norm <= FRICTION_DECREASE * before); k++) {
    int32_t iterations = 0;
    before = norm;
    NoliStatus solved =
        noli_projected_newton_to(stage, START_TOLERANCE * stage->step.tolerance, true, &iterations);
    if (solved < NOLI_OK) {
      status = solved;
      goto done;
    }
    search->n_start_iterations += iterations;
    if (!implicit || solved > NOLI_OK) {
      break;
    }
    NOLI_TRY(noli_stage_lag_friction(stage));
    NOLI_TRY(implicit_newton_measure(search, &norm));
  }
done:
  for (int64_t i = first; i < stage->record.newton.count; i++) {
    stage->record.newton.data[i].fallback = LAGGED;
  }
  search->n_starts++;
  search->norm_before = 0.0;
  search->norm_mark = 0.0;
  NoliStatus back = implicit ? noli_stage_lag_all_friction(stage, false) : NOLI_OK;
  return status != NOLI_OK ? status : back;
}

static NoliStatus fail_stuck(const Search* search, const NoliNewtonStat* stat) {
  const NoliStage* stage = search->stage;
  return noli_fail(stage->context, NOLI_LINE_SEARCH_FAILED,
                   "implicit Newton: |residual| does not decrease below %.3g kg m along any "
                   "direction in iteration %d (momentum error %.3g m/s, step speed %.3g m/s, "
                   "tolerance %.3g m/s, %lld contacts)",
                   search->norm, search->n_iterations + 1,
                   momentum_error(stage, stage->search.gradient, NULL), stat->step_speed,
                   stage->step.tolerance, (long long)stat->contacts);
}

// Whether |r| has not halved for many iterations.
static bool is_stuck(Search* search) {
  if (search->norm_mark == 0.0 || search->norm <= 0.5 * search->norm_mark) {
    search->norm_mark = search->norm;
    search->n_since = 0;
  }
  return ++search->n_since > (search->n_starts < MAX_STARTS ? PATIENCE : LAST_PATIENCE);
}

// Finds a step to the trial point, or detects that x is already the solution.
static NoliStatus find_step(Search* search, NoliNewtonStat* stat, bool* found, bool* converged) {
  NoliStatus status = NOLI_OK;
  for (int32_t k = 0; !*found && k < N_DIRECTIONS && !search->went_astray; k++) {
    NOLI_TRY(try_direction(search, k, stat, found));
    if (!*found && k == 0 && is_solution(search, stat, search->stage->search.gradient)) {
      // rounding prevents further progress: x is the solution, if forces balance
      NOLI_TRY(noli_forces_balance(search->stage, stat->step_speed, converged));
      if (*converged) {
        stat->alpha = 0.0;
        break;
      }
    }
  }
done:
  return status;
}

// Moves to the trial point and adapts the barrier. `*converged`: it is the solution.
static NoliStatus implicit_newton_take_step(Search* search, const NoliNewtonStat* stat,
                                            bool* converged) {
  NoliStatus status = NOLI_OK;
  NoliStage* stage = search->stage;

  // a partial step suffices if its start is a solution too
  *converged = stat->fallback == EXACT && is_solution(search, stat, stage->search.trial_gradient) &&
               (stat->alpha == 1.0 || is_solution(search, stat, stage->search.gradient));
  NOLI_TRY(noli_stage_accept(stage));
  search->alpha = stat->fallback == EXACT ? stat->alpha : 0.0;
  search->norm_before = search->norm;
  double kappa = stage->contact.kappa;
  NOLI_TRY(noli_stage_adapt_kappa(stage, stat));
  bool joined;
  NOLI_TRY(noli_stage_keep_contacts(stage, stat->alpha / stat->alpha_ccd, &joined));
  *converged = *converged && stage->contact.kappa == kappa && !joined;
  if (*converged) {
    NoliFrictionResidual imbalance;
    NOLI_TRY(noli_friction_residual(stage, stage->search.trial_gradient, search->rounding,
                                    stage->search.gradient, &imbalance));
    *converged = imbalance.local <= NOLI_FRICTION_RESIDUAL_MAX;
  }

  if (*converged) {
    NOLI_TRY(noli_forces_balance(stage, stat->step_speed, converged));
  }
done:
  return status;
}

// If the contact potential can jump, a jump may block every direction: the rest of the time step is
// solved without jumps.
static NoliStatus keep_contacts(Search* search) {
  bool joined;
  search->keeps_contacts = true;
  search->norm_mark = 0.0;
  search->norm_start = (double)INFINITY;
  return noli_stage_keep_contacts(search->stage, 0.0, &joined);
}

// Finds another start after no direction was found.
static NoliStatus start_again(Search* search, const NoliNewtonStat* stat) {
  if (search->went_astray) {
    return go_back(search);
  }
  if (search->stage->problem->contact.model->smooth != NULL && !search->keeps_contacts) {
    return keep_contacts(search);
  }
  return search->n_starts < MAX_STARTS ? start_better(search) : fail_stuck(search, stat);
}

// Chooses the stiffness of rigid bodies for the next iteration; |r| of another one is no measure of
// progress.
static NoliStatus ease(Search* search, bool* converged) {
  NoliStatus status = NOLI_OK;
  bool eased;
  double share = search->stage->search.share;
  NOLI_TRY(noli_easing_update(search->stage, *converged, &eased));
  *converged = *converged && !eased;
  if (share != search->stage->search.share) {
    search->norm_before = search->norm_mark = 0.0;
    search->norm_start = (double)INFINITY;
  }
done:
  return status;
}

// One iteration; `*converged` if it ends at the solution.
static NoliStatus implicit_newton_iterate(Search* search, bool* converged) {
  NoliStatus status = NOLI_OK;
  NoliStage* stage = search->stage;
  NoliNewtonStat stat = {.friction_iteration = stage->friction.iteration,
                         .stage = stage->step.index,
                         .contacts = noli_stage_contact_count(stage)};
  bool found = false, changed;
  *converged = false;
  stage->balance_missed = false;

  // 1. residual
  NOLI_TRY(noli_stage_linearize_as(stage, 0));
  search->norm = noli_system_norm(&stage->system, stage->search.gradient);
  search->norm_start = fmin(search->norm_start, search->norm);
  stat.merit = search->norm;
  stat.residual = noli_system_largest(&stage->system, stage->search.gradient);
  NOLI_CHECK(stage->context, isfinite(search->norm), NOLI_NOT_FINITE,
             "implicit Newton: the residual is not finite in iteration %d (%lld contacts)",
             search->n_iterations + 1, (long long)stat.contacts);

  // 2. direction, 3. bound and cut the step, or start again
  if (!is_stuck(search)) {
    NOLI_TRY(find_step(search, &stat, &found, converged));
  }
  if (!found && !*converged) {
    NOLI_TRY(start_again(search, &stat));
    goto done;
  }

  // 4. take it, 5. adapt the barrier, 6. release or pull prescribed nodes
  if (found) {
    NOLI_TRY(implicit_newton_take_step(search, &stat, converged));
  }
  NOLI_TRY(ease(search, converged));
  NOLI_TRY(noli_prescribed_update(stage, *converged, &changed));
  *converged = *converged && !changed;
  NOLI_TRY(noli_stage_record(stage, &stat));
  search->n_iterations++;
  if (stat.contacts > stage->record.contacts_max) {
    stage->record.contacts_max = stat.contacts;
  }
done:
  stage->record.attempt = stat;
  return status;
}

static NoliStatus implicit_newton(NoliStage* stage, int32_t* iterations) {
  NoliStatus status = NOLI_OK;
  Search search = {.stage = stage, .work = stage->work.method};
  mark_start(&search);
  noli_balance_begin(stage);
  NOLI_TRY(noli_easing_begin(stage));
  for (bool converged = false; !converged;) {
    NOLI_CHECK(stage->context, search.n_iterations < stage->problem->solver.max_iterations,
               NOLI_NOT_CONVERGED,
               "implicit Newton: no convergence in %d iterations (|residual| %.3g kg m, "
               "tolerance %.3g m/s)",
               search.n_iterations, search.norm, stage->step.tolerance);
    NOLI_TRY(implicit_newton_iterate(&search, &converged));
    bool stiffer = false;
    if (converged) {
      NOLI_TRY(noli_stage_stiffen(stage, &stiffer));
    }
    if (stiffer) {
      // the same step with other forces
      mark_start(&search);
      search.norm_before = search.norm_mark = 0.0;
      converged = false;
    }
  }

  // for reports
  NOLI_TRY(noli_stage_energy(stage));
done:
  noli_easing_end(stage);
  *iterations = search.n_iterations + search.n_start_iterations;
  return status;
}

static NoliStatus implicit_newton_create(NoliStage* stage) {
  NoliStatus status = NOLI_OK;
  Work* work = stage->work.method;
  NOLI_NEW_ZERO(stage->context, work->start, 3 * (int64_t)stage->problem->n_vert);
done:
  return status;
}

static void implicit_newton_destroy(NoliContext* context, void* work) {
  noli_free(context, ((Work*)work)->start);
}

const NoliSolverMethod noli_method_implicit_newton = {
    .name = "implicit_newton",
    .description = "Exact Newton on the equations of motion, also for implicit friction; contact "
                   "by a barrier.",
    .forces = true,
    .knows_energy = true,
    .solve = implicit_newton,
    .size = sizeof(Work),
    .create = implicit_newton_create,
    .destroy = implicit_newton_destroy};
