#include "solve/friction_end.h"

#include "base/profile.h"
#include "contact/friction/friction_residual.h"
#include "math/vec3.h"
#include "solve/rounding.h"

#include <string.h>

// Allowed imbalance of a solve that another friction iteration will follow, relative to the error
// of friction by its lagged normal forces. With a larger imbalance the new normal forces would be
// no better.
#define DRAFT 1.0

// Error of friction by its lagged normal forces from which a rough solve suffices for better ones.
#define FAR_OFF (2.0 * NOLI_FRICTION_ERROR_ALLOWED)

// Relative to eps_v: a Newton step this short, divided by h, changes friction linearly.
#define RESOLVED 1e-3

// Relative to the tolerance: shorter steps may be due to rounding.
#define TINY 1e-2

// "until convergence": allowed change by another friction iteration, relative to the friction of a
// body.
#define CONVERGED 1e-3

// Maximum number of friction iterations, as convergence is not guaranteed ([Li2020] section 5.4),
// and of consecutive ones that do not reduce the remaining error ("automatic") or change ("until
// convergence") by GOOD_PART of its minimum so far: between stiff bodies the active contacts can
// alternate indefinitely.
enum { MAX_AUTOMATIC = 10, MAX_IDLE_AUTOMATIC = 2, MAX_FRICTION_ITERATIONS = 100, MAX_IDLE = 10 };
#define GOOD_PART 0.1

// Friction with its lagged normal forces compared with friction with the normal forces at x.
typedef struct Lag {
  bool known; // measured at this x
  bool again; // another solve follows, with the normal forces at x
  bool rough; // this one ends with a longer step than others
  NoliFrictionError off;
  double left; // to be reduced by friction iterations: the error or, until convergence, the change
} Lag;

struct NoliFrictionEnd {
  NoliContext* context;
  int32_t n_body;
  NoliFrictionSet set;    // with the normal forces at x
  Lag lag;                // at x
  double least;           // minimum of lag.left at the ends of the solves of this stage
  int32_t idle;           // consecutive solves without reducing it
  NoliFrictionSums* sums; // (n_body) scratch
  double* mass;           // (n_body) kg, of vertices with inertia
};

NoliStatus noli_friction_end_create(NoliContext* context, const NoliProblem* problem,
                                    NoliFrictionEnd** out) {
  NoliStatus status = NOLI_OK;
  NoliFrictionEnd* end = NULL;
  NOLI_NEW_ZERO(context, end, 1);
  end->context = context;
  end->n_body = problem->surface->n_body;
  noli_friction_set_init(&end->set);
  NOLI_NEW_ZERO(context, end->sums, end->n_body);
  NOLI_NEW_ZERO(context, end->mass, end->n_body);
  for (int32_t i = 0; i < problem->inertia.n_vert; i++) {
    int32_t node = problem->inertia.vert[i];
    end->mass[problem->surface->body[node]] += problem->inertia.weight[node];
  }
done:
  if (status != NOLI_OK) {
    noli_friction_end_destroy(&end);
  }
  *out = end;
  return status;
}

void noli_friction_end_destroy(NoliFrictionEnd** owner) {
  NoliFrictionEnd* end = *owner;
  if (end == NULL) {
    return;
  }
  noli_friction_set_free(end->context, &end->set);
  noli_free(end->context, end->sums);
  noli_free(end->context, end->mass);
  noli_free(end->context, end);
  *owner = NULL;
}

bool noli_friction_is_draft(const NoliStage* stage) {
  return stage->work.friction_end->lag.known && stage->work.friction_end->lag.again;
}

void noli_friction_end_reset(NoliFrictionEnd* end) {
  end->lag.known = false;
}

// Sums of all bodies, cleared.
static NoliFrictionSums* clear_sums(NoliStage* stage) {
  NoliFrictionEnd* end = stage->work.friction_end;
  memset(end->sums, 0, (size_t)end->n_body * sizeof *end->sums);
  return end->sums;
}

// Adds what contacts on other ranks have added to their sums.
static NoliStatus gather_sums(NoliStage* stage) {
  NoliFrictionEnd* end = stage->work.friction_end;
  const int64_t numbers = sizeof *end->sums / sizeof(double);
  return noli_stage_gather(stage, &end->sums->force, numbers * end->n_body);
}

static bool is_implicit(const NoliStage* stage) {
  return stage->problem->friction.implicit && !stage->friction.lags_all;
}

// Friction with the normal forces at x.
static NoliStatus find_friction_at_end(NoliStage* stage, NoliFriction* friction) {
  NoliFrictionSet* set = &stage->work.friction_end->set;
  NoliStatus status = noli_stage_find_friction(stage, set);
  *friction = stage->friction.law;
  friction->set = set;
  return status;
}

static double norm_at(const double* field, int32_t i) {
  return noli_norm3(noli_load3(field + 3 * (int64_t)i));
}

NoliStatus noli_friction_residual(NoliStage* stage, const double* residual, const double* rounding,
                                  double* scratch, NoliFrictionResidual* imbalance) {
  NoliStatus status = NOLI_OK;
  const NoliProblem* problem = stage->problem;
  int32_t n_body = problem->surface->n_body;
  NoliFriction friction = stage->friction.law;
  *imbalance = (NoliFrictionResidual){0.0, 0.0};

  // maximum friction by the law
  if (is_implicit(stage) && problem->friction.acts) {
    NOLI_TRY(find_friction_at_end(stage, &friction));
  }
  if (friction.set->n_all == 0) {
    return NOLI_OK;
  }
  NoliFrictionSums* sums = clear_sums(stage);
  noli_friction_add_bounds(&friction, stage->here->x, n_body, sums);
  NOLI_TRY(gather_sums(stage));

  // the imbalance of the nodes on which friction acts, and of bodies
  memset(scratch, 0, 3 * sizeof *scratch * (size_t)problem->n_vert);
  NOLI_TRY(noli_stage_friction_forces(stage, scratch));
  for (int32_t i = 0; i < problem->n_vert; i++) {
    NoliFrictionSums* body = &sums[problem->surface->body[i]];
    if (noli_system_is_unknown(&stage->system, i)) {
      body->net = noli_add3(body->net, noli_load3(residual + 3 * (int64_t)i));
    }
    if (noli_system_is_unknown(&stage->system, i) && norm_at(scratch, i) > 0.0) {
      double known = rounding != NULL ? norm_at(rounding, i) : 0.0;
      body->force += fmax(norm_at(residual, i) - known, 0.0);
    }
  }
  for (int32_t b = 0; b < n_body; b++) {
    if (sums[b].force > 0.0) {
      imbalance->local = fmax(imbalance->local, sums[b].force / sums[b].most);
      imbalance->net = fmax(imbalance->net, noli_norm3(sums[b].net) / sums[b].most);
    }
  }
done:
  return status;
}

// Largest relative change of the friction of a body if its normal forces are replaced by those at
// x.
static NoliStatus friction_end_change_of(NoliStage* stage, const NoliFriction* end,
                                         double* change) {
  NoliStatus status = NOLI_OK;
  const NoliProblem* problem = stage->problem;
  double *now = stage->search.gradient, *then = stage->search.trial_gradient;
  size_t bytes = 3 * sizeof *now * (size_t)problem->n_vert;
  memset(now, 0, bytes);
  memset(then, 0, bytes);
  noli_friction_forces(&stage->friction.law, stage->here->x, 1.0, now);
  noli_friction_forces(end, stage->here->x, 1.0, then);
  NOLI_TRY(noli_stage_gather(stage, now, 3 * (int64_t)problem->n_vert));
  NOLI_TRY(noli_stage_gather(stage, then, 3 * (int64_t)problem->n_vert));
  NoliFrictionSums* sums = clear_sums(stage);
  for (int32_t i = 0; i < problem->n_vert; i++) {
    NoliVec3 a = noli_load3(now + 3 * (int64_t)i), b = noli_load3(then + 3 * (int64_t)i);
    NoliFrictionSums* body = &sums[problem->surface->body[i]];
    body->force += noli_norm3(noli_sub3(a, b));
    body->most += fmax(noli_norm3(a), noli_norm3(b));
  }

  *change = 0.0;
  for (int32_t b = 0; b < problem->surface->n_body; b++) {
    *change = fmax(*change, noli_friction_ratio(&sums[b]));
  }
done:
  return status;
}

static NoliStatus measure_error(NoliStage* stage, const NoliFriction* end,
                                NoliFrictionError* worst) {
  NoliStatus status = NOLI_OK;
  const NoliProblem* problem = stage->problem;
  int32_t n_body = problem->surface->n_body;
  // changes of a body's speed below eps_v do not count
  double length = problem->friction.speed_scale * stage->step.h;
  NoliFrictionSums* sums = clear_sums(stage);
  noli_friction_add_force(&stage->friction.law, stage->here->x, n_body, sums);
  noli_friction_add_bounds(end, stage->here->x, n_body, sums);
  NOLI_TRY(gather_sums(stage));

  *worst = (NoliFrictionError){.body = NOLI_NULL_INDEX};
  for (int32_t b = 0; b < n_body; b++) {
    double mass = stage->work.friction_end->mass[b];
    double error = mass > 0.0 ? noli_friction_error(&sums[b], length * mass) : 0.0;
    if (error > worst->error) {
      worst->error = error;
      worst->excess = sums[b].force > sums[b].most;
      worst->body = b;
    }
    if (error > 0.0 || (mass > 0.0 && sums[b].force <= sums[b].most)) {
      worst->ratio = fmax(worst->ratio, noli_friction_ratio(&sums[b]));
    }
  }
done:
  return status;
}

// Whether the last solve, with updated friction, moved anything; always true of the first solve of
// a stage.
static bool has_moved(const NoliStage* stage) {
  int64_t first = stage->record.newton.count;
  while (first > 0 &&
         stage->record.newton.data[first - 1].friction_iteration == stage->friction.iteration &&
         stage->record.newton.data[first - 1].stage == stage->step.index) {
    first--;
  }
  return stage->friction.iteration == 0 || first == stage->record.newton.count ||
         stage->record.newton.data[first].step_speed >= stage->step.tolerance;
}

// Whether another friction iteration is needed.
static bool is_needed(const NoliStage* stage, const Lag* lag) {
  int32_t limit = stage->problem->friction.iterations;
  int32_t idle = stage->friction.iteration > 0 ? stage->work.friction_end->idle : 0;
  if (limit == NOLI_FRICTION_AUTOMATIC) {
    return lag->off.error > NOLI_FRICTION_ERROR_ALLOWED &&
           stage->friction.iteration + 1 < MAX_AUTOMATIC && idle < MAX_IDLE_AUTOMATIC;
  }
  if (limit == NOLI_FRICTION_UNTIL_CONVERGENCE) {
    return stage->friction.iteration + 1 < MAX_FRICTION_ITERATIONS && idle < MAX_IDLE &&
           (has_moved(stage) || lag->left > CONVERGED);
  }
  bool has_friction = stage->friction.set.n_all > 0 || stage->work.friction_end->set.n_all > 0;
  return has_friction && stage->friction.iteration + 1 < limit;
}

// Measures the error of friction and decides whether another solve follows, with the normal forces
// at x; once for each x.
static NoliStatus find_lag(NoliStage* stage) {
  NoliStatus status = NOLI_OK;
  NoliFriction end;
  Lag* lag = &stage->work.friction_end->lag;
  if (lag->known) {
    return NOLI_OK;
  }
  NoliWork before = noli_work(NOLI_WORK_FRICTION);
  *lag = (Lag){.off = {.body = NOLI_NULL_INDEX}};
  if (stage->problem->friction.acts && !is_implicit(stage)) {
    NOLI_TRY(find_friction_at_end(stage, &end));
    NOLI_TRY(measure_error(stage, &end, &lag->off));
    lag->left = lag->off.error;
    if (stage->problem->friction.iterations == NOLI_FRICTION_UNTIL_CONVERGENCE) {
      NOLI_TRY(friction_end_change_of(stage, &end, &lag->left));
    }
    lag->again = is_needed(stage, lag);
  }
  lag->known = true;
done:
  noli_work(before);
  return status;
}

NoliStatus noli_friction_suits_draft(NoliStage* stage, bool* suits) {
  NoliStatus status = NOLI_OK;
  Lag* lag = &stage->work.friction_end->lag;
  *suits = false;
  if (stage->problem->friction.iterations == NOLI_FRICTION_AUTOMATIC) {
    NOLI_TRY(find_lag(stage));
    lag->rough = lag->again && lag->off.error > FAR_OFF;
    *suits = lag->rough;
  }
done:
  return status;
}

// Largest relative change of the friction of a body by the last Newton step at full length.
static NoliStatus change_by_step(NoliStage* stage, double alpha, double* change) {
  NoliStatus status = NOLI_OK;
  int32_t n_body = stage->problem->surface->n_body;
  NoliFrictionSums* sums = clear_sums(stage);
  noli_friction_add_bounds(&stage->friction.law, stage->here->x, n_body, sums);
  noli_friction_add_change(&stage->friction.law, stage->here->x, stage->search.step, alpha, n_body,
                           sums);
  NOLI_TRY(gather_sums(stage));
  *change = 0.0;
  for (int32_t b = 0; b < n_body; b++) {
    *change = fmax(*change, noli_friction_ratio(&sums[b]));
  }
done:
  return status;
}

NoliStatus noli_friction_solved(NoliStage* stage, double tolerance, const NoliNewtonStat* stat,
                                bool* solved) {
  NoliStatus status = NOLI_OK;
  double limit = NOLI_FRICTION_RESIDUAL_MAX;
  const double* rounding = NULL;
  bool again = false;
  NoliFrictionResidual imbalance;

  // whether these normal forces are accurate enough
  if (stage->problem->friction.iterations == NOLI_FRICTION_AUTOMATIC) {
    NOLI_TRY(find_lag(stage));
    const Lag* lag = &stage->work.friction_end->lag;
    again = lag->again;
    limit = again ? fmax(limit, DRAFT * lag->off.error) : limit;
  }
  *solved = !again && (stage->friction.set.n_all == 0 ||
                       stat->step_speed < RESOLVED * stage->problem->friction.speed_scale);
  if (*solved) {
    goto done;
  }

  // the balance; steps far below the tolerance may consist of rounding errors
  NOLI_TRY(noli_stage_linearize_as(stage, 0));
  if (stat->step_speed < TINY * tolerance) {
    NOLI_TRY(noli_stage_rounding(stage));
    rounding = stage->search.rounding;
  }
  NOLI_TRY(noli_friction_residual(stage, stage->search.gradient, rounding,
                                  stage->search.trial_gradient, &imbalance));

  // alternatively, friction alone
  double unsolved = imbalance.local;
  if (unsolved > limit) {
    double change;
    NOLI_TRY(change_by_step(stage, stat->alpha, &change));
    unsolved = fmin(unsolved, fmax(imbalance.net, change));
  }
  *solved = unsolved <= limit;
  stage->record.unbalanced = *solved ? 0.0 : unsolved;
done:
  return status;
}

NoliStatus noli_friction_lag_again(NoliStage* stage, bool* again) {
  NoliStatus status = NOLI_OK;
  NOLI_TRY(find_lag(stage));
  NoliFrictionEnd* end = stage->work.friction_end;
  const NoliFrictionError* off = &end->lag.off;
  *again = end->lag.again;
  if (stage->friction.iteration == 0 || end->lag.left <= (1.0 - GOOD_PART) * end->least) {
    end->least = end->lag.left;
    end->idle = 0;
  } else if (!end->lag.rough) {
    end->idle++;
  }
  stage->friction.iteration++;
  if (*again) {
    NOLI_TRY(noli_stage_lag_friction(stage));
    stage->friction.late = true;
    goto done;
  }

  // record the remaining error
  bool converges = stage->problem->friction.iterations == NOLI_FRICTION_UNTIL_CONVERGENCE;
  if (converges && end->lag.left > CONVERGED && end->idle >= MAX_IDLE) {
    noli_log(stage->context, NOLI_LOG_INFO,
             "friction has not converged in %d solves: another one would change that of a body by "
             "%.3g %%",
             stage->friction.iteration, 100.0 * end->lag.left);
  }
  NoliFrictionError* worst = &stage->record.friction;
  double ratio = fmax(worst->ratio, off->ratio);
  if (off->error > worst->error) {
    *worst = *off;
  }
  worst->ratio = ratio;
done:
  return status;
}
