#include "solve/balance.h"

#include "base/profile.h"
#include "math/vec3.h"
#include "solve/rounding.h"
#include "solve/supports.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// Relative to the tolerance: the residual of shorter steps may be rounding.
#define TINY 1e-2

// Forces between elements, relative to their sum, that count as acting from outside where hardly
// anything else does. Their sum grows with the number of elements and with slenderness, so that a
// larger share would hide loads.
#define INTERNAL 1e-6

// Supports that carry less than this share of the force on a body count as carrying it.
#define LIGHT 1e-3

// A residual stalls if it does not fall by FALL in MOST_IDLE consecutive tests: rounding, or a
// constraint that pushes in every other iteration, keeps it up.
#define FALL 0.1
enum { MOST_IDLE = 10 };

// The forces on one body, N.
typedef struct Forces {
  double sum;     // of the magnitudes of residuals of its nodes
  double touched; // sum of the magnitudes at nodes that contact pushes
  NoliVec3 net;   // of the residuals
  double acting;  // half the sum of the magnitudes of forces from outside
  double least;   // a force that counts as acting in any case
} Forces;

struct NoliBalance {
  NoliContext* context;
  int32_t n_body;
  Forces* forces; // (n_body)
  NoliSupports supports;
  double least;   // smallest imbalance of this solve
  int32_t n_idle; // consecutive tests without a smaller one
};

NoliStatus noli_balance_create(NoliContext* context, const NoliProblem* problem,
                               NoliBalance** out) {
  NoliStatus status = NOLI_OK;
  NoliBalance* balance = NULL;
  NOLI_NEW_ZERO(context, balance, 1);
  balance->context = context;
  balance->n_body = problem->surface->n_body;
  NOLI_NEW_ZERO(context, balance->forces, balance->n_body);
done:
  if (status != NOLI_OK) {
    noli_balance_destroy(&balance);
  }
  *out = balance;
  return status;
}

void noli_balance_destroy(NoliBalance** owner) {
  NoliBalance* balance = *owner;
  if (balance != NULL) {
    noli_free(balance->context, balance->forces);
    noli_supports_free(balance->context, &balance->supports);
    noli_free(balance->context, balance);
  }
  *owner = NULL;
}

void noli_balance_begin(NoliStage* stage) {
  stage->work.balance->least = (double)INFINITY;
  stage->work.balance->n_idle = 0;
  noli_supports_clear(&stage->work.balance->supports);
  stage->imbalance = (NoliImbalance){.body = NOLI_NULL_INDEX};
  stage->balance_missed = false;
}

static double norm_at(const double* field, int64_t i) {
  return noli_norm3(noli_load3(field + 3 * i));
}

// Whether bodies interact with anything; otherwise a full Newton step leaves their momentum exact.
static bool has_interaction(const NoliStage* stage) {
  const NoliProblem* problem = stage->problem;
  return !stage->time.inertia || noli_stage_contact_count(stage) > 0 ||
         stage->friction.set.n_all > 0 || stage->adhesion.bonds.bond.count > 0 ||
         stage->prescribed.n > 0 || noli_problem_has_connections(problem) ||
         problem->followers.n_tied > 0;
}

// ---- residuals ----------------------------------------------------------------------------------

// The forces of contact (n_vert x 3), N, in stage->search.trial_gradient.
static NoliStatus find_contact(NoliStage* stage) {
  memset(stage->search.trial_gradient, 0, 3 * sizeof(double) * (size_t)stage->problem->n_vert);
  return noli_stage_contact_forces(stage, stage->search.trial_gradient);
}

// The gradient, whose contact forces are those that are reported: constraints report their
// multipliers.
static NoliStatus find_gradient(NoliStage* stage) {
  NoliStatus status = NOLI_OK;
  double scale = stage->time.h_e * stage->time.h_e;
  if (!stage->problem->contact.model->has_targets) {
    return noli_stage_linearize_as(stage, 0);
  }
  NOLI_TRY(noli_stage_gradient_without_contact(stage));
  for (int64_t j = 0; j < 3 * (int64_t)stage->problem->n_vert; j++) {
    stage->search.gradient[j] -= scale * stage->search.trial_gradient[j];
  }
  noli_system_mask(&stage->system, stage->search.gradient);
done:
  return status;
}

// Sums the residuals of each body, less `rounding` (n_vert x 3; may be NULL), and the forces of
// contact, loads and inertia on it.
static void sum_residuals(NoliStage* stage, const double* rounding) {
  const NoliProblem* problem = stage->problem;
  Forces* forces = stage->work.balance->forces;
  double scale = stage->time.h_e * stage->time.h_e;
  memset(forces, 0, (size_t)stage->work.balance->n_body * sizeof *forces);

  for (int64_t i = 0; i < problem->n_vert; i++) {
    Forces* body = &forces[problem->surface->body[i]];
    double touch = norm_at(stage->search.trial_gradient, i);
    body->acting += 0.5 * (touch + norm_at(stage->loads.force, i));
    if (!noli_system_is_unknown(&stage->system, i)) {
      continue;
    }
    NoliVec3 residual = noli_scale3(1.0 / scale, noli_load3(stage->search.gradient + 3 * i));
    double known = rounding != NULL ? norm_at(rounding, i) / scale : 0.0;
    double size = fmax(noli_norm3(residual) - known, 0.0);
    body->sum += size;
    body->touched += touch > 0.0 ? size : 0.0;
    body->net = noli_add3(body->net, size > 0.0 ? residual : (NoliVec3){0});
    if (stage->time.inertia) {
      body->least += problem->inertia.weight[i] * stage->step.tolerance / stage->step.h;
      NoliVec3 u =
          noli_sub3(noli_load3(stage->here->x + 3 * i), noli_load3(stage->time.x_tilde + 3 * i));
      body->acting += 0.5 * problem->inertia.mass[i] * noli_norm3(u) / scale;
    }
  }
}

// Adds the forces that hold or move prescribed nodes.
static NoliStatus add_reactions(NoliStage* stage) {
  NoliStatus status = NOLI_OK;
  const NoliProblem* problem = stage->problem;
  const NoliPrescribed* prescribed = &stage->prescribed;
  Forces* forces = stage->work.balance->forces;
  double* force = stage->search.trial_gradient;
  memset(force, 0, 3 * sizeof *force * (size_t)problem->n_vert);
  NOLI_TRY(noli_stage_add_all_forces(stage, force));
  for (int32_t i = 0; i < prescribed->n; i++) {
    int64_t node = prescribed->node[i];
    for (int32_t k = 0; k < 3; k++) {
      double held = noli_prescribes(prescribed, i, k) ? fabs(force[3 * node + k]) : 0.0;
      forces[problem->surface->body[node]].acting += 0.5 * held;
    }
  }
done:
  return status;
}

// Adds the pressures of loads and of volumes.
static NoliStatus add_pressures(NoliStage* stage) {
  NoliStatus status = NOLI_OK;
  const NoliProblem* problem = stage->problem;
  double* force = stage->search.trial_gradient;
  for (int64_t j = 0; j < 3 * (int64_t)problem->n_vert; j++) {
    force[j] = -stage->loads.force[j];
  }
  NOLI_TRY(
      noli_stage_add_forces(stage, NOLI_ROLE_LOAD | NOLI_ROLE_VOLUME | NOLI_ROLE_ADHESION, force));
  for (int64_t i = 0; i < problem->n_vert; i++) {
    stage->work.balance->forces[problem->surface->body[i]].acting += 0.5 * norm_at(force, i);
  }
done:
  return status;
}

// A share of the forces between elements stands in where nothing else acts.
static NoliStatus add_internal_forces(NoliStage* stage) {
  NoliStatus status = NOLI_OK;
  NoliBalance* balance = stage->work.balance;
  double* internal = NULL;
  NOLI_NEW_ZERO(balance->context, internal, balance->n_body);
  NOLI_TRY(noli_stage_internal_forces(stage, internal));
  for (int32_t b = 0; b < balance->n_body; b++) {
    balance->forces[b].least = fmax(balance->forces[b].least, INTERNAL * internal[b]);
  }
done:
  noli_free(balance->context, internal);
  return status;
}

static double residual_of(const NoliStage* stage, const Forces* body) {
  return stage->time.inertia ? fmax(body->touched, noli_norm3(body->net)) : body->sum;
}

// The worst body.
static NoliImbalance worst_of(const NoliStage* stage) {
  NoliImbalance worst = {.body = NOLI_NULL_INDEX};
  for (int32_t b = 0; b < stage->work.balance->n_body; b++) {
    const Forces* body = &stage->work.balance->forces[b];
    double residual = residual_of(stage, body);
    double share = residual > 0.0 ? residual / fmax(body->acting, body->least) : 0.0;
    if (!(share <= worst.share)) {
      worst = (NoliImbalance){.share = share, .body = b};
    }
  }
  return worst;
}

// The worst of a body and what supports it, once bodies are in balance.
static NoliStatus measure_supports(NoliStage* stage) {
  NoliStatus status = NOLI_OK;
  NoliSupports* supports = &stage->work.balance->supports;
  NOLI_TRY(noli_supports_find(stage, supports));
  for (int64_t i = 0; i < supports->now.count; i++) {
    const NoliSupport* support = &supports->now.data[i];
    const Forces* body = &stage->work.balance->forces[support->body];
    double acting = fmax(body->acting, body->least);
    double error = fmin(residual_of(stage, body), support->change);
    double share = error > 0.0 ? error / fmax(noli_norm3(support->force), LIGHT * acting) : 0.0;
    if (share > stage->imbalance.share) {
      stage->imbalance = (NoliImbalance){.share = share, .body = support->body};
    }
  }
done:
  return status;
}

// ---- the test -----------------------------------------------------------------------------------

// The allowed share. With inertia an error of force counts as long as it acts: a part of a divided
// step may have the error of the step for its share of the time.
static double allowed_share(const NoliStage* stage) {
  double allowed = stage->problem->solver.imbalance_allowed;
  return stage->time.inertia ? allowed / stage->step.part : allowed;
}

// Measures the imbalance, with as little work as shows whether it is small enough.
static NoliStatus balance_measure(NoliStage* stage, bool short_step) {
  NoliStatus status = NOLI_OK;
  double allowed = allowed_share(stage);
  NOLI_TRY(find_contact(stage));
  NOLI_TRY(find_gradient(stage));
  sum_residuals(stage, NULL);
  stage->imbalance = worst_of(stage);
  if (stage->imbalance.share > allowed && short_step) {
    NOLI_TRY(noli_stage_rounding(stage));
    NOLI_TRY(find_contact(stage));
    sum_residuals(stage, stage->search.rounding);
    stage->imbalance = worst_of(stage);
  }

  if (stage->imbalance.share > allowed && stage->prescribed.n > 0) {
    NOLI_TRY(add_reactions(stage));
    stage->imbalance = worst_of(stage);
  }
  bool pressed = stage->problem->pressed.flat.n > 0 || stage->problem->pressed.n_curved > 0 ||
                 stage->problem->volumes.n_region > 0;
  if (stage->imbalance.share > allowed && pressed) {
    NOLI_TRY(add_pressures(stage));
    stage->imbalance = worst_of(stage);
  }
  if (stage->imbalance.share > allowed && !stage->time.inertia) {
    NOLI_TRY(add_internal_forces(stage));
    stage->imbalance = worst_of(stage);
  }
  if (stage->imbalance.share <= allowed && !stage->time.inertia) {
    NOLI_TRY(measure_supports(stage));
  }
done:
  return status;
}

// Whether the residual no longer decreases.
static bool has_stalled(NoliBalance* balance, double share) {
  bool falls = share <= (1.0 - FALL) * balance->least;
  balance->n_idle = falls ? 0 : balance->n_idle + 1;
  balance->least = falls ? share : balance->least;
  return balance->n_idle >= MOST_IDLE;
}

NoliStatus noli_forces_balance(NoliStage* stage, double speed, bool* balanced) {
  NoliStatus status = NOLI_OK;
  NoliWork before = noli_work(NOLI_WORK_GRADIENT);
  *balanced = true;
  if (!has_interaction(stage)) {
    goto done;
  }
  bool short_step = speed < TINY * stage->step.tolerance;
  NOLI_TRY(balance_measure(stage, short_step));
  bool good = stage->imbalance.share <= allowed_share(stage);
  stage->imbalance.stalled = !good && has_stalled(stage->work.balance, stage->imbalance.share);
  *balanced = good || stage->imbalance.stalled;
  stage->balance_missed = !*balanced;
done:
  noli_work(before);
  return status;
}

void noli_balance_describe(const NoliStage* stage, char* text, size_t size) {
  text[0] = '\0';
  if (stage->balance_missed) {
    snprintf(text, size, ", forces on a body off by %.2g %% (allowed %g %%)",
             100.0 * stage->imbalance.share, 100.0 * stage->problem->solver.imbalance_allowed);
  }
}
