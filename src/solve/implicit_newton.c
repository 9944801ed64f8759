// Newton's method on the equations of motion themselves ([Larionov2024] Algorithms 1 and 2): the
// residual r is the gradient of all energies and minus the forces that have none, the Jacobian is
// exact and not symmetric, and steps, bounded by CCD and inversion as always, are cut until |r|
// decreases.
//
// A solve ends when a whole Newton step is slower than the tolerance, as with projected Newton, and
// no node's balance of momentum is off by more than its mass times that speed. What does not end
// like that is never accepted.
//
// |r| says little about the distance from the solution where stiff bodies turn: the first steps are
// leaps, which are taken whole as long as they get shorter. If they do not, the solver goes back
// and cuts steps.
//
// |r| may have local minima, where every direction fails. Then the solver tries, in this order,
//   1. the Jacobian with projected Hessians, forces as they are,
//   2. the exact Jacobian shifted by growing shares of its diagonal,
//   3. a better start: a solve with friction lagged from here, which has an energy and cannot get
//      stuck, a few times in a step, with plain Hessians as far as they are positive definite;
// and fails with NOLI_LINE_SEARCH_FAILED or NOLI_NOT_CONVERGED and a message that says where |r|
// stands. The driver then divides the step (sim/division.h).
#include "base/timer.h"
#include "solve/direction.h"
#include "solve/friction_end.h"
#include "solve/method.h"
#include "solve/newton_system.h"
#include "solve/prescribed.h"
#include "solve/projected_newton.h"
#include "solve/rounding.h"

#include <math.h>
#include <string.h>

// Share of a gap that one step may consume.
#define CCD_SAFETY 0.9
#define LEAST_ALPHA 1e-14
// A step that CCD cuts below this share is blocked by contact.
#define BLOCKED 0.5

// Of [Larionov2024] Algorithm 2.
#define DECREASE 1e-4                   // c_1
#define FORCING 0.01                    // sigma
#define CUT 0.5                         // rho
#define GOLDEN_RATIO 1.6180339887498949 // phi

// For Newton's method to go on although |r| grows: what a step has to be of the last but one, or
// shorter than the last one by, over the share taken of it; and the least of these shares.
#define SHORTER 0.5
#define LEAST_LEAP 0.1

// Cuts of a step before another direction is tried.
enum { MAX_CUTS = 12 };

// Iterations in which |r| has to halve; else it is stuck. And where no better start is left.
enum { PATIENCE = 12, LAST_PATIENCE = 100 };

// Better starts in one solve, laggings of each, and what each of them has to achieve.
enum { MAX_STARTS = 4, MAX_LAGGINGS = 30 };
#define LAGGING_DECREASE 0.8
// Their tolerance over that of the step: from a start that is only as good as the solution has to
// be, Newton's method may go astray.
#define START_TOLERANCE 1e-3

// Directions, in the order in which they are tried.
static const NoliNewtonMatrix directions[] = {{false, 0.0}, {true, 0.0},   {false, 0.1},
                                              {false, 1.0}, {false, 10.0}, {false, 100.0}};
enum { N_DIRECTIONS = sizeof directions / sizeof *directions };

typedef enum Fallback { EXACT, PROJECTED, SHIFTED, LAGGED } Fallback;

// From solve to solve.
typedef struct Work {
  double* start; // (n_vert x 3) where a solve begins
} Work;

typedef struct Search {
  NoliStage* stage;
  Work* work;
  double norm;        // |r| at x
  double norm_before; // in the iteration before; 0: none
  double norm_mark;   // n_since iterations ago
  int32_t n_since;
  const double* rounding; // of r at x; NULL where balance does not hang on it
  double speed;           // of the last exact step, m/s; INFINITY: none
  double speed_before;    // of the one before it, likewise
  double alpha;           // what was taken of the last one
  double kappa;           // where the solve began: work->start
  double norm_start;      // |r| there
  int32_t n_updates;      // of prescribed nodes there
  bool by_springs;        // whether springs held them there
  bool leaps;             // whole steps, although |r| grows, as long as they get shorter
  bool went_astray;       // they have not
  bool keeps_contacts;    // the potential jumped: contacts are what they were where it did
  int32_t n_starts;
  int32_t n_iterations;       // its own
  int32_t n_start_iterations; // of better starts
} Search;

// Largest error of the balance of momentum of a node over its mass, m/s; 0 where nothing has
// inertia. Errors up to `rounding` do not count; it may be NULL.
static double momentum_error(const NoliStage* stage, const double* residual,
                             const double* rounding) {
  double largest = 0.0;
  if (!stage->time.inertia) {
    return 0.0;
  }
  for (int64_t i = 0; i < stage->problem->n_vert; i++) {
    for (int64_t k = 3 * i; noli_system_is_unknown(&stage->system, i) && k < 3 * i + 3; k++) {
      double excess = fabs(residual[k]) - (rounding != NULL ? rounding[k] : 0.0);
      double error = excess / (stage->problem->mass[i] * stage->h);
      largest = !(error <= largest) ? error : largest;
    }
  }
  return largest;
}

// Finds the rounding error of r where that alone may keep momentum from its balance: the exact step
// is short enough.
static NoliStatus find_rounding(Search* search, double speed) {
  NoliStatus status = NOLI_OK;
  NoliStage* stage = search->stage;
  double tolerance = stage->problem->tolerance;
  search->rounding = NULL;
  if (speed < tolerance && momentum_error(stage, stage->gradient, NULL) > tolerance) {
    NOLI_TRY(noli_stage_rounding(stage));
    search->rounding = stage->rounding;
  }
done:
  return status;
}

// Whether the exact step is short and momentum balances, up to rounding.
static bool is_solution(const Search* search, const NoliNewtonStat* stat, const double* residual) {
  double tolerance = search->stage->problem->tolerance;
  return stat->step_speed < tolerance &&
         momentum_error(search->stage, residual, search->rounding) <= tolerance;
}

static double step_speed(const NoliStage* stage) {
  double largest = 0.0;
  for (int64_t k = 0; k < 3 * (int64_t)stage->problem->n_vert; k++) {
    double entry = fabs(stage->step[k]);
    largest = !(entry <= largest) ? entry : largest;
  }
  return largest / stage->h;
}

// Cuts alpha from `alpha_max` until |r| decreases enough. A leap takes all of the step.
static NoliStatus backtrack(const Search* search, double alpha_max, double forcing, double* alpha,
                            bool* found) {
  NoliStatus status = NOLI_OK;
  NoliStage* stage = search->stage;
  *alpha = alpha_max;
  *found = false;
  for (int32_t cuts = 0; cuts <= MAX_CUTS; cuts++, *alpha *= CUT) {
    noli_stage_set_trial(stage, *alpha);
    NOLI_TRY(noli_stage_trial_contacts(stage));
    double start = noli_seconds();
    NOLI_TRY(noli_stage_trial_gradient(stage));
    double norm = noli_system_norm(&stage->system, stage->trial_gradient);
    stage->record.timing.line_search += noli_seconds() - start;
    *found = search->leaps ? isfinite(norm)
                           : norm <= (1.0 - DECREASE * *alpha * (1.0 - forcing)) * search->norm;
    if (*found) {
      break;
    }
  }
done:
  return status;
}

// The relative residual that the linear system may keep: sigma_k of Algorithm 2, with which
// convergence is still quadratic [Eisenstat1996].
static double forcing_term(const Search* search) {
  if (search->norm_before == 0.0) {
    return FORCING;
  }
  return fmin(pow(search->norm / search->norm_before, GOLDEN_RATIO), FORCING);
}

// Whether Newton's method goes on with whole steps whatever they do to |r|, given how long the new
// one is. Where stiff bodies turn, the way to the solution is so narrow that |r| grows a
// millionfold with the first step, which stretches them, and falls below its start with the next
// ones. Such steps get shorter from the first one on, if not every single one.
static void judge_leap(Search* search, double speed) {
  double last = (1.0 - SHORTER * search->alpha) * search->speed;
  bool shorter = speed <= fmax(last, SHORTER * search->speed_before);
  search->went_astray = search->leaps && !shorter && search->norm > search->norm_start;
  search->leaps = search->leaps && shorter;
  search->speed_before = search->speed;
  search->speed = speed;
}

// Tries one direction. `*found`: |r| decreases along it, or it is a leap, and the trial point is
// there.
static NoliStatus try_direction(Search* search, int32_t index, NoliNewtonStat* stat, bool* found) {
  NoliStatus status = NOLI_OK;
  NoliStage* stage = search->stage;
  bool exact;
  int64_t linear;
  double forcing = forcing_term(search);
  *found = false;

  // solve for the direction
  if (index > 0) {
    // the last search prepared the assembler for its trial points
    NOLI_TRY(noli_stage_linearize_as(stage, 0));
  }
  stat->fallback = index == 0 ? EXACT : directions[index].projected ? PROJECTED : SHIFTED;
  status = noli_newton_system_solve(stage, directions[index], forcing, &exact, &linear);
  stat->linear_iterations += (int32_t)linear;
  if (status > NOLI_OK) {
    // singular, or the iterative solver does not end: another matrix may do
    return NOLI_OK;
  }
  NOLI_TRY(status);

  // judge it
  stat->step_speed = step_speed(stage);
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
  NOLI_TRY(noli_stage_filter_step(stage, CCD_SAFETY, &filter));
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

// The solve begins here.
static void mark_start(Search* search) {
  const NoliStage* stage = search->stage;
  memcpy(search->work->start, stage->here->x,
         3 * sizeof *stage->here->x * (size_t)stage->problem->n_vert);
  search->kappa = stage->kappa;
  search->n_updates = stage->prescribed.n_updates;
  search->by_springs = stage->prescribed.by_springs;
  search->norm_start = search->speed = search->speed_before = (double)INFINITY;
  search->leaps = true;
}

// Back to the start, from where |r| has to fall; not where prescribed nodes have been pulled or
// fixed since.
static NoliStatus go_back(Search* search) {
  NoliStatus status = NOLI_OK;
  NoliStage* stage = search->stage;
  if (search->n_updates == stage->prescribed.n_updates &&
      search->by_springs == stage->prescribed.by_springs) {
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

// |r| at x while friction is lagged from x itself: then the forces are those of implicit friction.
static NoliStatus measure(Search* search, double* norm) {
  NoliStatus status = NOLI_OK;
  NOLI_TRY(noli_stage_linearize_as(search->stage, 0));
  *norm = noli_system_norm(&search->stage->system, search->stage->gradient);
done:
  return status;
}

// Solves with lagged friction from here, again and again while that brings |r| down: they have an
// energy, so each of them goes where it falls. One that fails has come nearer, too: no start has to
// be a solution. Friction that is lagged in any case keeps its normal forces: those of another
// point would make another problem.
static NoliStatus start_better(Search* search) {
  NoliStatus status = NOLI_OK;
  NoliStage* stage = search->stage;
  bool implicit = stage->problem->implicit_friction;
  int32_t most = implicit ? MAX_LAGGINGS : 1;
  int64_t first = stage->record.newton.count;
  double before = (double)INFINITY, norm = (double)INFINITY;
  noli_directions_begin(stage->directions);
  search->leaps = false;
  if (implicit) {
    NOLI_TRY(noli_stage_lag_all_friction(stage, true));
  }

  // solve, with normal forces of the place reached each time
  for (int32_t k = 0; k < most && (k < 2 || norm <= LAGGING_DECREASE * before); k++) {
    int32_t iterations = 0;
    before = norm;
    NoliStatus solved = noli_projected_newton_to(stage, START_TOLERANCE * stage->problem->tolerance,
                                                 true, &iterations);
    if (solved < NOLI_OK) {
      status = solved;
      goto done;
    }
    search->n_start_iterations += iterations;
    if (!implicit || solved > NOLI_OK) {
      break;
    }
    NOLI_TRY(noli_stage_lag_friction(stage));
    NOLI_TRY(measure(search, &norm));
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
                   momentum_error(stage, stage->gradient, NULL), stat->step_speed,
                   stage->problem->tolerance, (long long)stat->contacts);
}

// Whether |r| has not halved for long.
static bool is_stuck(Search* search) {
  if (search->norm_mark == 0.0 || search->norm <= 0.5 * search->norm_mark) {
    search->norm_mark = search->norm;
    search->n_since = 0;
  }
  return ++search->n_since > (search->n_starts < MAX_STARTS ? PATIENCE : LAST_PATIENCE);
}

// Finds a step to the trial point, or that x is the solution already.
static NoliStatus find_step(Search* search, NoliNewtonStat* stat, bool* found, bool* converged) {
  NoliStatus status = NOLI_OK;
  for (int32_t k = 0; !*found && k < N_DIRECTIONS && !search->went_astray; k++) {
    NOLI_TRY(try_direction(search, k, stat, found));
    if (!*found && k == 0 && is_solution(search, stat, search->stage->gradient)) {
      // rounding leaves nothing to gain: x is the solution
      *converged = true;
      stat->alpha = 0.0;
      break;
    }
  }
done:
  return status;
}

// Goes to the trial point and adapts the barrier. `*converged`: that is the solution.
static NoliStatus take_step(Search* search, const NoliNewtonStat* stat, bool* converged) {
  NoliStatus status = NOLI_OK;
  NoliStage* stage = search->stage;
  // a part of the step will do where the place it leads away from would
  *converged = stat->fallback == EXACT && is_solution(search, stat, stage->trial_gradient) &&
               (stat->alpha == 1.0 || is_solution(search, stat, stage->gradient));
  NOLI_TRY(noli_stage_accept(stage));
  search->alpha = stat->fallback == EXACT ? stat->alpha : 0.0;
  search->norm_before = search->norm;
  double kappa = stage->kappa;
  noli_stage_adapt_kappa(stage, stat->alpha_ccd < BLOCKED * stat->alpha_inversion);
  bool joined;
  NOLI_TRY(noli_stage_keep_contacts(stage, stat->alpha / stat->alpha_ccd, &joined));
  *converged = *converged && stage->kappa == kappa && !joined;
  if (*converged) {
    NoliFrictionResidual imbalance;
    NOLI_TRY(noli_friction_residual(stage, stage->trial_gradient, search->rounding, stage->gradient,
                                    &imbalance));
    *converged = imbalance.local <= NOLI_FRICTION_RESIDUAL_MAX;
  }
done:
  return status;
}

// Where the potential of contact may jump, it may be that which no direction gets past: the rest of
// the time step is solved without jumps.
static NoliStatus keep_contacts(Search* search) {
  bool joined;
  search->keeps_contacts = true;
  search->norm_mark = 0.0;
  search->norm_start = (double)INFINITY;
  return noli_stage_keep_contacts(search->stage, 0.0, &joined);
}

// Another start, where no step was found.
static NoliStatus start_again(Search* search, const NoliNewtonStat* stat) {
  if (search->went_astray) {
    return go_back(search);
  }
  if (search->stage->problem->contact->smooth != NULL && !search->keeps_contacts) {
    return keep_contacts(search);
  }
  return search->n_starts < MAX_STARTS ? start_better(search) : fail_stuck(search, stat);
}

// One iteration: `*converged` when its end is the solution.
static NoliStatus iterate(Search* search, bool* converged) {
  NoliStatus status = NOLI_OK;
  NoliStage* stage = search->stage;
  NoliNewtonStat stat = {.lagging = stage->lagging,
                         .stage = stage->index,
                         .contacts = noli_stage_contact_count(stage)};
  bool found = false, changed;
  *converged = false;

  // 1. residual
  NOLI_TRY(noli_stage_linearize_as(stage, 0));
  search->norm = noli_system_norm(&stage->system, stage->gradient);
  search->norm_start = fmin(search->norm_start, search->norm);
  stat.merit = search->norm;
  stat.residual = noli_system_largest(&stage->system, stage->gradient);
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
    NOLI_TRY(take_step(search, &stat, converged));
  }
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
  Search search = {.stage = stage, .work = stage->work};
  mark_start(&search);
  for (bool converged = false; !converged;) {
    NOLI_CHECK(stage->context, search.n_iterations < stage->problem->max_iterations,
               NOLI_NOT_CONVERGED,
               "implicit Newton: no convergence in %d iterations (|residual| %.3g kg m, "
               "tolerance %.3g m/s)",
               search.n_iterations, search.norm, stage->problem->tolerance);
    NOLI_TRY(iterate(&search, &converged));
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
  // for the report
  NOLI_TRY(noli_stage_energy(stage));
done:
  *iterations = search.n_iterations + search.n_start_iterations;
  return status;
}

static NoliStatus create(NoliStage* stage) {
  NoliStatus status = NOLI_OK;
  Work* work = stage->work;
  NOLI_NEW_ZERO(stage->context, work->start, 3 * (int64_t)stage->problem->n_vert);
done:
  return status;
}

static void destroy(NoliContext* context, void* work) {
  noli_free(context, ((Work*)work)->start);
}

const NoliSolverMethod noli_method_implicit_newton = {
    .name = "implicit_newton",
    .description = "Exact Newton on the equations of motion, also for implicit friction; contact "
                   "by a barrier.",
    .forces = true,
    .solve = implicit_newton,
    .size = sizeof(Work),
    .create = create,
    .destroy = destroy};
