// Contact by the barrier of [Li2020].
#include "solve/stage.h"

static NoliStatus create(NoliStage* stage) {
  const NoliProblem* problem = stage->problem;
  noli_contact_set_init(&stage->contacts);
  noli_contact_set_init(&stage->trial_contacts);
  stage->stiffness = noli_stiffness(problem->mean_mass, problem->diagonal, problem->dhat);
  return NOLI_OK;
}

static void destroy(NoliStage* stage) {
  noli_contact_set_free(stage->context, &stage->contacts);
  noli_contact_set_free(stage->context, &stage->trial_contacts);
}

static NoliStatus build(NoliStage* stage, const NoliCandidates* candidates, const double* x,
                        NoliContactSet* set) {
  const NoliProblem* problem = stage->problem;
  return noli_contact_set_build(set, stage->context, problem->surface, problem->X, candidates,
                                problem->planes, problem->n_planes, &problem->pairs, x,
                                problem->dhat, stage->n_threads);
}

static NoliStatus find(NoliStage* stage) {
  NoliStatus status = NOLI_OK;
  NOLI_TRY(noli_broad_phase_find(stage->broad_phase, stage->x, stage->x, stage->problem->dhat,
                                 stage->problem->body_pairs, &stage->candidates));
  NOLI_TRY(build(stage, &stage->candidates, stage->x, &stage->contacts));
done:
  return status;
}

static NoliStatus find_trial(NoliStage* stage) {
  return build(stage, &stage->swept, stage->x_trial, &stage->trial_contacts);
}

static void accept(NoliStage* stage) {
  NoliContactSet contacts = stage->contacts;
  stage->contacts = stage->trial_contacts;
  stage->trial_contacts = contacts;
}

static void set_data(NoliStage* stage) {
  double dhat_sqr = stage->problem->dhat * stage->problem->dhat;
  stage->barrier = (NoliBarrier){.set = &stage->contacts,
                                 .planes = stage->problem->planes,
                                 .dhat_sqr = dhat_sqr,
                                 .kappa = stage->kappa};
  stage->trial_barrier = stage->barrier;
  stage->trial_barrier.set = &stage->trial_contacts;
  stage->implicit_friction =
      (NoliImplicitFriction){.barrier = &stage->barrier,
                             .pairs = &stage->problem->pairs,
                             .x_hat = stage->time.x_hat,
                             .eps_v = stage->problem->friction_speed,
                             .h_v = stage->time.h_v,
                             .basis_derivatives = stage->problem->friction_basis_derivatives};
  stage->trial_implicit_friction = stage->implicit_friction;
  stage->trial_implicit_friction.barrier = &stage->trial_barrier;
}

static void list_terms(const NoliStage* stage, bool trial,
                       NoliEnergyTerm terms[NOLI_CONTACT_TERMS]) {
  const NoliBarrier* barrier = trial ? &stage->trial_barrier : &stage->barrier;
  terms[0] = noli_barrier_term(barrier);
  terms[1] = noli_plane_barrier_term(barrier);
}

static int64_t count(const NoliStage* stage) {
  return stage->contacts.contact.count + stage->contacts.plane.count;
}

static double min_distance(const NoliStage* stage) {
  return noli_contact_set_min_distance(&stage->contacts);
}

static NoliStatus forces(const NoliStage* stage, double scale, double* force) {
  noli_contact_forces(&stage->barrier, stage->x, scale, force);
  return NOLI_OK;
}

static NoliStatus pair_forces(const NoliStage* stage, double scale, NoliPairForces* pairs) {
  return noli_contact_pair_forces(&stage->barrier, stage->context, stage->x, scale, pairs);
}

static NoliStatus lag_friction(const NoliStage* stage, NoliFrictionSet* set) {
  const NoliProblem* problem = stage->problem;
  return noli_friction_set_build(set, stage->context, &stage->contacts, problem->planes,
                                 &problem->pairs, stage->x, stage->kappa, problem->dhat);
}

static void list_friction(NoliStage* stage, bool trial, NoliEnergyTerm terms[NOLI_CONTACT_TERMS]) {
  const NoliImplicitFriction* friction =
      trial ? &stage->trial_implicit_friction : &stage->implicit_friction;
  NoliForceTerm* forces = trial ? stage->trial_forces : stage->forces;
  forces[0] = noli_implicit_friction_term(friction);
  forces[1] = noli_implicit_plane_friction_term(friction);
  terms[0] = noli_force_as_term(&forces[0]);
  terms[1] = noli_force_as_term(&forces[1]);
}

static void friction_forces(const NoliStage* stage, double scale, double* force) {
  noli_implicit_friction_forces(&stage->implicit_friction, stage->x, scale, force);
}

static NoliStatus friction_pair_forces(const NoliStage* stage, double scale,
                                       NoliPairForces* pairs) {
  return noli_implicit_friction_pair_forces(&stage->implicit_friction, stage->context, stage->x,
                                            scale, pairs);
}

static double reach(const NoliStage* stage) {
  return stage->problem->dhat;
}

static double adapt_stiffness(const NoliStage* stage, bool blocked) {
  // after an accepted step the trial set holds the contacts before it
  return noli_stiffness_update(&stage->stiffness, stage->kappa, &stage->trial_contacts,
                               &stage->contacts, blocked);
}

const NoliContactModel noli_contact_barrier = {.name = "ipc",
                                               .advice = "a larger contact.distance",
                                               .keeps_apart = true,
                                               .create = create,
                                               .destroy = destroy,
                                               .find = find,
                                               .find_trial = find_trial,
                                               .accept = accept,
                                               .set_data = set_data,
                                               .list_terms = list_terms,
                                               .count = count,
                                               .count_near = count,
                                               .min_distance = min_distance,
                                               .forces = forces,
                                               .pair_forces = pair_forces,
                                               .lag_friction = lag_friction,
                                               .list_friction = list_friction,
                                               .friction_forces = friction_forces,
                                               .friction_pair_forces = friction_pair_forces,
                                               .reach = reach,
                                               .begin_stiffness = noli_stage_balance_kappa,
                                               .adapt_stiffness = adapt_stiffness};
