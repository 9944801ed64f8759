#include "solve/friction_end.h"

#include "math/vec3.h"
#include "solve/rounding.h"

#include <string.h>

// Of the error of friction by its lagged normal forces: the imbalance of a solve that another one
// with other normal forces will follow. In a worse state they would be no better than the old ones.
#define DRAFT 0.1

// Of eps_v: a Newton step this short, over h, changes friction in a way that it is linear in.
#define RESOLVED 1e-3

// Of the tolerance: shorter steps may be due to rounding.
#define TINY 1e-2

// Of the friction of a body: the change by another lagging that may stay "until convergence".
#define CONVERGED 1e-3

// Laggings at most: it has no guarantee to converge ([Li2020] section 5.4). And in a row by which
// what is left, the error of "automatic" and the change "until convergence", does not fall by a
// good part of its least value so far: where stiff bodies meet, contacts that press alternate for
// ever.
enum { MAX_AUTOMATIC = 10, MAX_IDLE_AUTOMATIC = 2, MAX_LAGGINGS = 100, MAX_IDLE = 10 };
#define GOOD_PART 0.1

static void clear_sums(NoliStage* stage) {
  memset(stage->friction_sums, 0,
         (size_t)stage->problem->surface->n_body * sizeof *stage->friction_sums);
}

static bool is_implicit(const NoliStage* stage) {
  return stage->problem->implicit_friction && !stage->lags_all;
}

// Friction with the normal forces at x.
static NoliStatus find_friction_at_end(NoliStage* stage, NoliFriction* end) {
  NoliStatus status = stage->problem->contact->lag_friction(stage, &stage->friction_end);
  *end = stage->friction;
  end->set = &stage->friction_end;
  return status;
}

static double norm_at(const double* field, int32_t i) {
  return noli_norm3(noli_load3(field + 3 * (int64_t)i));
}

NoliStatus noli_friction_imbalance(NoliStage* stage, const double* residual, const double* rounding,
                                   double* scratch, NoliFrictionImbalance* imbalance) {
  NoliStatus status = NOLI_OK;
  const NoliProblem* problem = stage->problem;
  int32_t n_body = problem->surface->n_body;
  NoliFrictionSums* sums = stage->friction_sums;
  NoliFriction friction = stage->friction;
  *imbalance = (NoliFrictionImbalance){0.0, 0.0};

  // what the law allows
  if (is_implicit(stage) && problem->rubs) {
    NOLI_TRY(find_friction_at_end(stage, &friction));
  }
  if (friction.set->contact.count == 0) {
    return NOLI_OK;
  }
  clear_sums(stage);
  noli_friction_add_bounds(&friction, stage->here->x, n_body, sums);

  // the imbalance of the nodes on which friction acts, and of bodies
  memset(scratch, 0, 3 * sizeof *scratch * (size_t)problem->n_vert);
  noli_stage_friction_forces(stage, scratch);
  for (int32_t i = 0; i < problem->n_vert; i++) {
    NoliFrictionSums* body = &sums[problem->surface->body[i]];
    if (stage->dof[i] != NOLI_NULL_INDEX) {
      body->net = noli_add3(body->net, noli_load3(residual + 3 * (int64_t)i));
    }
    if (stage->dof[i] != NOLI_NULL_INDEX && norm_at(scratch, i) > 0.0) {
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

// Share of its friction that a body loses or gains where normal forces become those of x.
static double change_of(NoliStage* stage, const NoliFriction* end) {
  const NoliProblem* problem = stage->problem;
  NoliFrictionSums* sums = stage->friction_sums;
  double *now = stage->gradient, *then = stage->trial_gradient;
  size_t bytes = 3 * sizeof *now * (size_t)problem->n_vert;
  memset(now, 0, bytes);
  memset(then, 0, bytes);
  noli_friction_forces(&stage->friction, stage->here->x, 1.0, now);
  noli_friction_forces(end, stage->here->x, 1.0, then);
  clear_sums(stage);
  for (int32_t i = 0; i < problem->n_vert; i++) {
    NoliVec3 a = noli_load3(now + 3 * (int64_t)i), b = noli_load3(then + 3 * (int64_t)i);
    NoliFrictionSums* body = &sums[problem->surface->body[i]];
    body->force += noli_norm3(noli_sub3(a, b));
    body->most += fmax(noli_norm3(a), noli_norm3(b));
  }

  double change = 0.0;
  for (int32_t b = 0; b < problem->surface->n_body; b++) {
    change = fmax(change, noli_friction_ratio(&sums[b]));
  }
  return change;
}

static NoliFrictionLag measure_error(NoliStage* stage, const NoliFriction* end) {
  const NoliProblem* problem = stage->problem;
  int32_t n_body = problem->surface->n_body;
  // what changes the speed of a body by less than eps_v does not count
  double length = problem->friction_speed * stage->h;
  clear_sums(stage);
  noli_friction_add_force(&stage->friction, stage->here->x, n_body, stage->friction_sums);
  noli_friction_add_bounds(end, stage->here->x, n_body, stage->friction_sums);

  NoliFrictionLag worst = {.body = NOLI_NULL_INDEX};
  for (int32_t b = 0; b < n_body; b++) {
    const NoliFrictionSums* sums = &stage->friction_sums[b];
    double mass = stage->body_mass[b];
    double error = mass > 0.0 ? noli_friction_error(sums, length * mass) : 0.0;
    if (error > worst.error) {
      worst.error = error;
      worst.excess = sums->force > sums->most;
      worst.body = b;
    }
    if (error > 0.0 || (mass > 0.0 && sums->force <= sums->most)) {
      worst.ratio = fmax(worst.ratio, noli_friction_ratio(sums));
    }
  }
  return worst;
}

// Whether the last solve, with the friction that the one before it has led to, moved anything. The
// first one of a stage always does.
static bool has_moved(const NoliStage* stage) {
  int64_t first = stage->newton.count;
  while (first > 0 && stage->newton.data[first - 1].lagging == stage->lagging &&
         stage->newton.data[first - 1].stage == stage->index) {
    first--;
  }
  return stage->lagging == 0 || first == stage->newton.count ||
         stage->newton.data[first].step_speed >= stage->problem->tolerance;
}

// Whether friction is to be lagged again.
static bool is_needed(const NoliStage* stage, const NoliFrictionLag* lag) {
  int32_t limit = stage->problem->friction_iterations;
  int32_t idle = stage->lagging > 0 ? stage->friction_idle : 0;
  if (limit == NOLI_FRICTION_AUTOMATIC) {
    return lag->error > NOLI_FRICTION_ERROR_ALLOWED && stage->lagging + 1 < MAX_AUTOMATIC &&
           idle < MAX_IDLE_AUTOMATIC;
  }
  if (limit == NOLI_FRICTION_UNTIL_CONVERGENCE) {
    return stage->lagging + 1 < MAX_LAGGINGS && idle < MAX_IDLE &&
           (has_moved(stage) || lag->left > CONVERGED);
  }
  bool rubs = stage->friction_set.contact.count > 0 || stage->friction_end.contact.count > 0;
  return rubs && stage->lagging + 1 < limit;
}

// Whether another solve follows this one, with the normal forces at x, and how far friction is off:
// measured once at each x.
static NoliStatus find_lag(NoliStage* stage) {
  NoliStatus status = NOLI_OK;
  NoliFriction end;
  NoliFrictionLag* lag = &stage->friction_lag;
  if (lag->known) {
    return NOLI_OK;
  }
  *lag = (NoliFrictionLag){.body = NOLI_NULL_INDEX};
  if (stage->problem->rubs && !is_implicit(stage)) {
    NOLI_TRY(find_friction_at_end(stage, &end));
    *lag = measure_error(stage, &end);
    bool converges = stage->problem->friction_iterations == NOLI_FRICTION_UNTIL_CONVERGENCE;
    lag->left = converges ? change_of(stage, &end) : lag->error;
    lag->again = is_needed(stage, lag);
  }
  lag->known = true;
done:
  return status;
}

// The largest share of its friction that a body loses or gains by the last Newton step, had it been
// taken whole.
static double change_by_step(NoliStage* stage, double alpha) {
  int32_t n_body = stage->problem->surface->n_body;
  clear_sums(stage);
  noli_friction_add_bounds(&stage->friction, stage->here->x, n_body, stage->friction_sums);
  noli_friction_add_change(&stage->friction, stage->here->x, stage->step, alpha, n_body,
                           stage->friction_sums);
  double change = 0.0;
  for (int32_t b = 0; b < n_body; b++) {
    change = fmax(change, noli_friction_ratio(&stage->friction_sums[b]));
  }
  return change;
}

NoliStatus noli_friction_solved(NoliStage* stage, const NoliNewtonStat* stat, bool* solved) {
  NoliStatus status = NOLI_OK;
  double limit = NOLI_FRICTION_IMBALANCE;
  const double* rounding = NULL;
  bool again = false;
  NoliFrictionImbalance imbalance;

  // whether these normal forces will do
  if (stage->problem->friction_iterations == NOLI_FRICTION_AUTOMATIC) {
    NOLI_TRY(find_lag(stage));
    again = stage->friction_lag.again;
    limit = again ? fmax(limit, DRAFT * stage->friction_lag.error) : limit;
  }
  *solved = !again && (stage->friction_set.contact.count == 0 ||
                       stat->step_speed < RESOLVED * stage->problem->friction_speed);
  if (*solved) {
    goto done;
  }

  // the balance; steps far below the tolerance may be of rounding errors
  NOLI_TRY(noli_stage_linearize_as(stage, 0));
  if (stat->step_speed < TINY * stage->tolerance) {
    NOLI_TRY(noli_stage_rounding(stage));
    rounding = stage->rounding;
  }
  NOLI_TRY(
      noli_friction_imbalance(stage, stage->gradient, rounding, stage->trial_gradient, &imbalance));

  // or friction alone
  double unsolved = imbalance.local;
  if (unsolved > limit) {
    unsolved = fmin(unsolved, fmax(imbalance.net, change_by_step(stage, stat->alpha)));
  }
  *solved = unsolved <= limit;
  stage->friction_unsolved = *solved ? 0.0 : unsolved;
done:
  return status;
}

NoliStatus noli_friction_lag_again(NoliStage* stage, bool* again) {
  NoliStatus status = NOLI_OK;
  NOLI_TRY(find_lag(stage));
  const NoliFrictionLag* lag = &stage->friction_lag;
  *again = lag->again;
  if (stage->lagging == 0 || lag->left <= (1.0 - GOOD_PART) * stage->friction_least) {
    stage->friction_least = lag->left;
    stage->friction_idle = 0;
  } else {
    stage->friction_idle++;
  }
  stage->lagging++;
  if (*again) {
    NOLI_TRY(noli_stage_lag_friction(stage));
    goto done;
  }

  // what stays
  bool converges = stage->problem->friction_iterations == NOLI_FRICTION_UNTIL_CONVERGENCE;
  if (converges && lag->left > CONVERGED && stage->friction_idle >= MAX_IDLE) {
    noli_log(stage->context, NOLI_LOG_INFO,
             "friction has not converged in %d solves: normal forces change that of a body by "
             "%.3g %% from one to the next",
             stage->lagging, 100.0 * lag->left);
  }
  stage->friction_ratio = fmax(stage->friction_ratio, lag->ratio);
  if (lag->error > stage->friction_error) {
    stage->friction_error = lag->error;
    stage->friction_error_body = lag->body;
    stage->friction_error_excess = lag->excess;
  }
done:
  return status;
}
