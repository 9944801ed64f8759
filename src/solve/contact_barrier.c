// Contact by the barrier of [Li2020].
#include "contact/stiffness.h"
#include "solve/contact_barrier.h"
#include "solve/stage.h"

static void barrier_init_memory(void* memory) {
  noli_contact_set_init(&((NoliBarrierMemory*)memory)->contacts);
}

static void barrier_free_memory(NoliContext* context, void* memory) {
  noli_contact_set_free(context, &((NoliBarrierMemory*)memory)->contacts);
}

static NoliStatus barrier_update(NoliStage* stage, NoliPoint* at) {
  const NoliProblem* problem = stage->problem;
  const NoliSurface surface = noli_stage_surface(stage);
  NoliColliders colliders = noli_problem_colliders(problem);
  NoliBarrierMemory* memory = at->contact;
  colliders.surface = &surface;
  return noli_contact_set_build(&memory->contacts, stage->context, &colliders, problem->X,
                                &at->candidates, at->x, problem->contact.dhat, stage->n_threads);
}

static void barrier_list_terms(const NoliStage* stage, const NoliPoint* at,
                               NoliEnergyTerm terms[NOLI_CONTACT_TERMS]) {
  NoliBarrierMemory* memory = at->contact;
  memory->barrier =
      (NoliBarrier){.set = &memory->contacts,
                    .half_spaces = stage->problem->contact.half_spaces,
                    .dhat_sqr = stage->problem->contact.dhat * stage->problem->contact.dhat,
                    .kappa = stage->contact.kappa};
  terms[0] = noli_barrier_term(&memory->barrier);
  terms[1] = noli_half_space_barrier_term(&memory->barrier);
}

static int64_t barrier_count(const NoliStage* stage) {
  const NoliBarrierMemory* here = stage->here->contact;
  return here->contacts.n_all;
}

static double barrier_min_distance(const NoliStage* stage) {
  const NoliBarrierMemory* here = stage->here->contact;
  return noli_contact_set_min_distance(&here->contacts);
}

static NoliStatus barrier_forces(const NoliStage* stage, double scale, double* force) {
  const NoliBarrierMemory* here = stage->here->contact;
  noli_contact_forces(&here->barrier, stage->here->x, scale, force);
  return NOLI_OK;
}

static NoliStatus barrier_pair_forces(const NoliStage* stage, double scale, NoliPairForces* pairs) {
  const NoliBarrierMemory* here = stage->here->contact;
  return noli_contact_pair_forces(&here->barrier, stage->context, stage->here->x, scale, pairs);
}

static NoliStatus barrier_lag_friction(const NoliStage* stage, NoliFrictionSet* set) {
  const NoliProblem* problem = stage->problem;
  const NoliBarrierMemory* here = stage->here->contact;
  return noli_friction_set_build(set, stage->context, &here->contacts, problem->contact.half_spaces,
                                 &problem->contact.pairs, stage->here->x, stage->contact.kappa,
                                 problem->contact.dhat);
}

static void barrier_list_friction(const NoliStage* stage, const NoliPoint* at,
                                  NoliEnergyTerm terms[NOLI_CONTACT_TERMS]) {
  NoliBarrierMemory* memory = at->contact;
  memory->friction = noli_stage_implicit_friction(stage, &memory->barrier);
  memory->force[0] = noli_implicit_friction_term(&memory->friction);
  memory->force[1] = noli_implicit_plane_friction_term(&memory->friction);
  terms[0] = noli_force_as_term(&memory->force[0]);
  terms[1] = noli_force_as_term(&memory->force[1]);
}

static void barrier_friction_forces(const NoliStage* stage, double scale, double* force) {
  const NoliBarrierMemory* here = stage->here->contact;
  noli_implicit_friction_forces(&here->friction, stage->here->x, scale, force);
}

static NoliStatus barrier_friction_pair_forces(const NoliStage* stage, double scale,
                                               NoliPairForces* pairs) {
  const NoliBarrierMemory* here = stage->here->contact;
  return noli_implicit_friction_pair_forces(&here->friction, stage->context, stage->here->x, scale,
                                            pairs);
}

static double barrier_reach(const NoliStage* stage) {
  return stage->problem->contact.dhat *
         noli_body_pairs_largest_range(&stage->problem->contact.body_pairs);
}

// Bounds of kappa. The contact distance may differ between time steps (step/fallback.h).
static NoliStiffness bounds(const NoliStage* stage) {
  const NoliProblem* problem = stage->problem;
  const NoliConvergent* convergent = &problem->contact.convergent;
  double dhat = problem->contact.dhat;
  NoliStiffness stiffness =
      noli_stiffness(problem->inertia.mean_mass, problem->size.d, problem->contact.dhat);
  if (noli_problem_is_convergent(problem)) {
    noli_stiffness_scale(&stiffness, dhat * dhat * dhat / convergent->guard,
                         convergent->stiffness * stage->time.h_e * stage->time.h_e);
  }
  return stiffness;
}

// Convergent contact begins each stage with the same stiffness: a material has one.
static NoliStatus barrier_begin_stiffness(NoliStage* stage) {
  const NoliStiffness stiffness = bounds(stage);
  const NoliContactSettings* contact = &stage->problem->contact;
  if (noli_problem_is_convergent(stage->problem) && contact->convergent.stiffness > 0.0 &&
      contact->fixed_stiffness == 0.0) {
    noli_stage_set_kappa(stage, stiffness.min);
    return NOLI_OK;
  }
  return noli_stage_kappa_from_forces(stage, &stiffness);
}

static NoliStatus adapt_stiffness(const NoliStage* stage, double alpha, double* kappa) {
  // after an accepted step the trial point is the previous one
  const NoliStiffness stiffness = bounds(stage);
  const NoliBarrierMemory *before = stage->trial->contact, *here = stage->here->contact;
  return noli_stiffness_update(&stiffness, stage->context, stage->contact.kappa, &before->contacts,
                               &here->contacts, alpha, kappa);
}

const NoliContactModel noli_contact_barrier = {
    .name = "ipc",
    .description = "A barrier on distances; surfaces never cross.",
    .advice = "a larger contact.distance",
    .ranges = true,
    .keeps_apart = true,
    .divides = true,
    .searches = true,
    .memory_size = sizeof(NoliBarrierMemory),
    .init_memory = barrier_init_memory,
    .free_memory = barrier_free_memory,
    .update = barrier_update,
    .list_terms = barrier_list_terms,
    .count = barrier_count,
    .count_near = barrier_count,
    .min_distance = barrier_min_distance,
    .forces = barrier_forces,
    .pair_forces = barrier_pair_forces,
    .lag_friction = barrier_lag_friction,
    .list_friction = barrier_list_friction,
    .friction_forces = barrier_friction_forces,
    .friction_pair_forces = barrier_friction_pair_forces,
    .reach = barrier_reach,
    .begin_stiffness = barrier_begin_stiffness,
    .adapt_stiffness = adapt_stiffness,
    .derivatives = NOLI_DERIVATIVES_OF(noli_contact_barrier_derivatives)};
