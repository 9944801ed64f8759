#include "sim/contact_balance.h"

#include "math/vec3.h"
#include "solve/friction_end.h"

#include <string.h>

// Allowed imbalance of all forces on a body, relative to the contact forces on it.
#define IMBALANCE_ALLOWED 0.05

// Sums over one body.
typedef struct Balance {
  double most;  // kg m, sum of the contact forces on its nodes
  NoliVec3 net; // kg m, imbalance of the nodes that they act on
} Balance;

static NoliStatus sum_forces(NoliSim* sim, Balance* balance) {
  NoliStatus status = NOLI_OK;
  NoliStage* stage = sim->stage;
  const NoliProblem* problem = &sim->model->problem;
  double *contact = stage->trial_gradient, scale = stage->time.h_e * stage->time.h_e;
  NOLI_TRY(noli_stage_linearize_as(stage, 0));
  memset(contact, 0, noli_sim_vector_bytes(sim));
  NOLI_TRY(noli_stage_contact_forces(stage, contact));
  for (int32_t i = 0; i < problem->n_vert; i++) {
    Balance* body = &balance[problem->surface->body[i]];
    double force = noli_norm3(noli_load3(contact + 3 * (int64_t)i));
    if (noli_system_is_unknown(&stage->system, i) && force > 0.0) {
      body->most += scale * force;
      body->net = noli_add3(body->net, noli_load3(stage->gradient + 3 * (int64_t)i));
    }
  }
done:
  return status;
}

NoliStatus noli_sim_watch_contact(NoliSim* sim) {
  NoliStatus status = NOLI_OK;
  NoliStage* stage = sim->stage;
  const NoliProblem* problem = &sim->model->problem;
  Balance* balance = NULL;
  bool barrier = problem->contact->adapt_stiffness != NULL;
  if (sim->contact_warned || !barrier || !(problem->fixed_stiffness > 0.0)) {
    return NOLI_OK;
  }
  NOLI_NEW_ZERO(sim->context, balance, problem->surface->n_body);
  NOLI_TRY(sum_forces(sim, balance));
  for (int32_t b = 0; b < problem->surface->n_body && !sim->contact_warned; b++) {
    // a solve does not resolve changes of speed below the tolerance
    const Balance* body = &balance[b];
    double mass = noli_friction_end_mass(stage->friction_end, b);
    double open = stage->time.inertia ? mass * stage->tolerance * stage->h : 0.0;
    double off = noli_norm3(body->net);
    sim->contact_warned = off > open && off > IMBALANCE_ALLOWED * body->most;
    if (sim->contact_warned) {
      noli_log(sim->context, NOLI_LOG_WARNING,
               "step %lld: contact forces on \"%s\" are off by %.0f %%, with a contact.stiffness "
               "of %.3g Pa/m; \"adaptive\" or a smaller solver.tolerance may help",
               (long long)*sim->state.step + 1, noli_sim_entity_name(sim, b),
               100.0 * off / body->most, problem->fixed_stiffness);
    }
  }
done:
  noli_free(sim->context, balance);
  return status;
}
