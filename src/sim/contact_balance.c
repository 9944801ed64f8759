#include "sim/contact_balance.h"

#include "math/vec3.h"

#include <string.h>

// Of the contact forces on a body: what may be missing to the balance of all forces on it.
#define IMBALANCE_ALLOWED 0.05

// Sums up contact forces and imbalances of the nodes that they act on, kg m, body by body.
static NoliStatus sum_forces(NoliSim* sim, NoliFrictionSums* sums) {
  NoliStatus status = NOLI_OK;
  NoliStage* stage = sim->stage;
  const NoliSurface* surface = sim->model->problem.surface;
  double *contact = stage->trial_gradient, scale = stage->time.h_e * stage->time.h_e;
  NOLI_TRY(noli_stage_linearize_as(stage, 0));
  memset(contact, 0, noli_sim_vector_bytes(sim));
  NOLI_TRY(noli_stage_contact_forces(stage, contact));
  memset(sums, 0, (size_t)surface->n_body * sizeof *sums);
  for (int32_t i = 0; i < sim->model->problem.n_vert; i++) {
    NoliFrictionSums* body = &sums[surface->body[i]];
    double force = noli_norm3(noli_load3(contact + 3 * (int64_t)i));
    if (stage->dof[i] != NOLI_NULL_INDEX && force > 0.0) {
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
  bool barrier = problem->contact->adapt_stiffness != NULL;
  if (sim->contact_warned || !barrier || !(problem->fixed_stiffness > 0.0)) {
    return NOLI_OK;
  }
  NOLI_TRY(sum_forces(sim, stage->friction_sums));
  for (int32_t b = 0; b < problem->surface->n_body && !sim->contact_warned; b++) {
    const NoliFrictionSums* body = &stage->friction_sums[b];
    // what changes the speed of a body by less than the tolerance is what a solve leaves open
    double open = stage->time.inertia ? stage->body_mass[b] * problem->tolerance * stage->h : 0.0;
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
  return status;
}
