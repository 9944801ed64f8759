// Contact by the geometric potential of [Huang2025] between closed surfaces and with half-spaces,
// and by the barrier of [Li2020] with obstacles that are not closed.
//
// What collision detection stops has to be pushed, or Newton's method stands still. The potential
// does not push what meets from inside of a body. The boundary of linear elements cannot do that
// before one of them is flat, which its law resists, but in a body that is crushed opposite sides
// come as close as collision detection lets them. A proxy can: the law is evaluated at points of
// the elements, and two triangles on a sharp edge may fold onto each other between them. So a
// barrier of [Li2020] acts between all pairs of one body, with a range so short that nothing acts
// at rest.
#include "contact/gcp_forces.h"
#include "contact/gcp_stiffness.h"
#include "solve/stage.h"

static NoliStatus create(NoliStage* stage) {
  const NoliProblem* problem = stage->problem;
  const NoliGeometricContact* geometric = &problem->geometric;
  noli_contact_set_init(&stage->contacts);
  noli_contact_set_init(&stage->trial_contacts);
  noli_gcp_set_init(&stage->geometric_contacts);
  noli_gcp_set_init(&stage->trial_geometric_contacts);
  stage->stiffness = noli_gcp_stiffness(problem->mean_mass, problem->diagonal,
                                        geometric->model.parameters.eps_target, geometric->weight,
                                        geometric->model.space);
  // both are equally stiff, each in its own units
  NoliStiffness barrier = noli_stiffness(problem->mean_mass, problem->diagonal, problem->dhat);
  stage->barrier_ratio = barrier.min / stage->stiffness.min;
  noli_contact_set_init(&stage->inner_contacts);
  noli_contact_set_init(&stage->trial_inner_contacts);
  if (geometric->inner > 0.0) {
    stage->inner_ratio =
        noli_stiffness(problem->mean_mass, problem->diagonal, geometric->inner).min /
        stage->stiffness.min;
  }
  return NOLI_OK;
}

static void destroy(NoliStage* stage) {
  NoliContext* context = stage->context;
  noli_gcp_set_free(context, &stage->geometric_contacts);
  noli_gcp_set_free(context, &stage->trial_geometric_contacts);
  noli_contact_set_free(context, &stage->contacts);
  noli_contact_set_free(context, &stage->trial_contacts);
  noli_contact_set_free(context, &stage->inner_contacts);
  noli_contact_set_free(context, &stage->trial_inner_contacts);
  noli_candidates_free(context, &stage->inside);
  noli_candidates_free(context, &stage->closed);
  noli_candidates_free(context, &stage->open);
}

static double reach(const NoliStage* stage) {
  const NoliGeometricContact* geometric = &stage->problem->geometric;
  double eps = fmax(geometric->model.max_eps, geometric->inner);
  return geometric->has_open || eps == 0.0 ? fmax(eps, stage->problem->dhat) : eps;
}

// The pairs of one body that has the inner barrier.
static NoliStatus build_inner(NoliStage* stage, const NoliCandidates* candidates, const double* x,
                              NoliContactSet* set) {
  NoliStatus status = NOLI_OK;
  const NoliProblem* problem = stage->problem;
  if (problem->geometric.inner > 0.0) {
    NOLI_TRY(noli_gcp_inner_candidates(stage->context, problem->surface, problem->geometric.inside,
                                       candidates, &stage->inside));
    NOLI_TRY(noli_contact_set_build(set, stage->context, problem->surface, problem->X,
                                    &stage->inside, NULL, 0, &problem->pairs, x,
                                    problem->geometric.inner, stage->n_threads));
  }
done:
  return status;
}

// Half-spaces meet deformable bodies, which are closed: the barrier has none.
static NoliStatus build(NoliStage* stage, const NoliCandidates* candidates, const double* x,
                        NoliGcpSet* closed_set, NoliContactSet* open_set,
                        NoliContactSet* inner_set) {
  NoliStatus status = NOLI_OK;
  const NoliProblem* problem = stage->problem;
  const NoliGeometricContact* geometric = &problem->geometric;
  NOLI_TRY(build_inner(stage, candidates, x, inner_set));
  if (geometric->has_open) {
    NOLI_TRY(noli_gcp_split_candidates(stage->context, problem->surface, geometric->rings,
                                       candidates, &stage->closed, &stage->open));
    NOLI_TRY(noli_contact_set_build(open_set, stage->context, problem->surface, problem->X,
                                    &stage->open, NULL, 0, &problem->pairs, x, problem->dhat,
                                    stage->n_threads));
    candidates = &stage->closed;
  }
  NOLI_TRY(noli_gcp_set_build(closed_set, stage->context, &geometric->model, candidates, x,
                              stage->n_threads));
done:
  return status;
}

static NoliStatus find(NoliStage* stage) {
  NoliStatus status = NOLI_OK;
  NOLI_TRY(noli_broad_phase_find(stage->broad_phase, stage->x, stage->x, reach(stage),
                                 stage->problem->body_pairs, &stage->candidates));
  NOLI_TRY(build(stage, &stage->candidates, stage->x, &stage->geometric_contacts, &stage->contacts,
                 &stage->inner_contacts));
done:
  return status;
}

static NoliStatus find_trial(NoliStage* stage) {
  return build(stage, &stage->swept, stage->x_trial, &stage->trial_geometric_contacts,
               &stage->trial_contacts, &stage->trial_inner_contacts);
}

static void accept(NoliStage* stage) {
  NoliGcpSet geometric = stage->geometric_contacts;
  stage->geometric_contacts = stage->trial_geometric_contacts;
  stage->trial_geometric_contacts = geometric;
  NoliContactSet contacts = stage->contacts;
  stage->contacts = stage->trial_contacts;
  stage->trial_contacts = contacts;
  contacts = stage->inner_contacts;
  stage->inner_contacts = stage->trial_inner_contacts;
  stage->trial_inner_contacts = contacts;
}

static void set_friction(NoliStage* stage) {
  const NoliProblem* problem = stage->problem;
  stage->implicit_friction =
      (NoliImplicitFriction){.barrier = &stage->barrier,
                             .pairs = &problem->pairs,
                             .x_hat = stage->time.x_hat,
                             .eps_v = problem->friction_speed,
                             .h_v = stage->time.h_v,
                             .basis_derivatives = problem->friction_basis_derivatives};
  stage->trial_implicit_friction = stage->implicit_friction;
  stage->trial_implicit_friction.barrier = &stage->trial_barrier;
  stage->geometric_friction =
      (NoliGcpFriction){.gcp = &stage->geometric,
                        .pairs = &problem->pairs,
                        .x_hat = stage->time.x_hat,
                        .eps_v = problem->friction_speed,
                        .h_v = stage->time.h_v,
                        .basis_derivatives = problem->friction_basis_derivatives};
  stage->trial_geometric_friction = stage->geometric_friction;
  stage->trial_geometric_friction.gcp = &stage->trial_geometric;
}

static void set_data(NoliStage* stage) {
  const NoliProblem* problem = stage->problem;
  stage->barrier = (NoliBarrier){.set = &stage->contacts,
                                 .dhat_sqr = problem->dhat * problem->dhat,
                                 .kappa = stage->kappa * stage->barrier_ratio};
  stage->trial_barrier = stage->barrier;
  stage->trial_barrier.set = &stage->trial_contacts;
  stage->geometric = (NoliGcp){
      .model = &problem->geometric.model, .set = &stage->geometric_contacts, .scale = stage->kappa};
  stage->trial_geometric = stage->geometric;
  stage->trial_geometric.set = &stage->trial_geometric_contacts;
  stage->inner = (NoliBarrier){.set = &stage->inner_contacts,
                               .dhat_sqr = problem->geometric.inner * problem->geometric.inner,
                               .kappa = stage->kappa * stage->inner_ratio};
  stage->trial_inner = stage->inner;
  stage->trial_inner.set = &stage->trial_inner_contacts;
  set_friction(stage);
}

static void list_terms(const NoliStage* stage, bool trial,
                       NoliEnergyTerm terms[NOLI_CONTACT_TERMS]) {
  terms[0] = noli_barrier_term(trial ? &stage->trial_barrier : &stage->barrier);
  terms[1] = noli_gcp_term(trial ? &stage->trial_geometric : &stage->geometric);
  terms[2] = noli_barrier_term(trial ? &stage->trial_inner : &stage->inner);
}

static int64_t count(const NoliStage* stage) {
  return stage->contacts.contact.count + stage->inner_contacts.contact.count +
         stage->geometric_contacts.pair.count;
}

static double min_distance(const NoliStage* stage) {
  return fmin(fmin(noli_contact_set_min_distance(&stage->contacts),
                   noli_contact_set_min_distance(&stage->inner_contacts)),
              stage->geometric_contacts.min_distance);
}

static NoliStatus forces(const NoliStage* stage, double scale, double* force) {
  noli_contact_forces(&stage->barrier, stage->x, scale, force);
  noli_contact_forces(&stage->inner, stage->x, scale, force);
  return noli_gcp_forces(&stage->geometric, stage->context, stage->x, scale, stage->n_threads,
                         force);
}

static NoliStatus pair_forces(const NoliStage* stage, double scale, NoliPairForces* pairs) {
  NoliStatus status = NOLI_OK;
  NOLI_TRY(noli_contact_pair_forces(&stage->barrier, stage->context, stage->x, scale, pairs));
  NOLI_TRY(noli_contact_pair_forces(&stage->inner, stage->context, stage->x, scale, pairs));
  NOLI_TRY(noli_gcp_pair_forces(&stage->geometric, stage->context, stage->problem->pairs.n_body,
                                stage->x, scale, stage->n_threads, pairs));
done:
  return status;
}

static NoliStatus lag_friction(const NoliStage* stage, NoliFrictionSet* set) {
  NoliStatus status = NOLI_OK;
  const NoliProblem* problem = stage->problem;
  NOLI_TRY(noli_friction_set_build(set, stage->context, &stage->contacts, NULL, &problem->pairs,
                                   stage->x, stage->barrier.kappa, problem->dhat));
  NOLI_TRY(noli_gcp_friction(&stage->geometric, stage->context, &problem->pairs, stage->x, set));
done:
  return status;
}

static void list_friction(NoliStage* stage, bool trial, NoliEnergyTerm terms[NOLI_CONTACT_TERMS]) {
  NoliForceTerm* force = trial ? &stage->trial_forces[0] : &stage->forces[0];
  *force = noli_implicit_friction_term(trial ? &stage->trial_implicit_friction
                                             : &stage->implicit_friction);
  terms[0] = noli_force_as_term(force);
  terms[1] =
      noli_gcp_friction_term(trial ? &stage->trial_geometric_friction : &stage->geometric_friction);
}

static void friction_forces(const NoliStage* stage, double scale, double* force) {
  noli_implicit_friction_forces(&stage->implicit_friction, stage->x, scale, force);
  noli_gcp_friction_forces(&stage->geometric_friction, stage->x, scale, force);
}

static NoliStatus friction_pair_forces(const NoliStage* stage, double scale,
                                       NoliPairForces* pairs) {
  NoliStatus status = NOLI_OK;
  NOLI_TRY(noli_implicit_friction_pair_forces(&stage->implicit_friction, stage->context, stage->x,
                                              scale, pairs));
  NOLI_TRY(noli_gcp_friction_pair_forces(&stage->geometric_friction, stage->context, stage->x,
                                         scale, pairs));
done:
  return status;
}

// What the barrier of one range asks for, as a kappa of the potential.
static double adapt_barrier(const NoliStage* stage, double dhat, double ratio,
                            const NoliContactSet* before, const NoliContactSet* after, double kappa,
                            bool blocked) {
  const NoliProblem* problem = stage->problem;
  NoliStiffness barrier = noli_stiffness(problem->mean_mass, problem->diagonal, dhat);
  double now = stage->kappa * ratio;
  double next = noli_stiffness_update(&barrier, now, before, after, blocked);
  return next > now ? fmax(kappa, next / ratio) : kappa;
}

static double adapt_stiffness(const NoliStage* stage, bool blocked) {
  const NoliGeometricContact* geometric = &stage->problem->geometric;
  // after an accepted step the trial sets hold the contacts before it
  double kappa = noli_gcp_stiffness_update(&stage->stiffness, stage->kappa, &geometric->model,
                                           &stage->trial_geometric_contacts,
                                           &stage->geometric_contacts, stage->x, blocked);
  if (geometric->has_open) {
    kappa = adapt_barrier(stage, stage->problem->dhat, stage->barrier_ratio, &stage->trial_contacts,
                          &stage->contacts, kappa, blocked);
  }
  if (geometric->inner > 0.0) {
    kappa = adapt_barrier(stage, geometric->inner, stage->inner_ratio, &stage->trial_inner_contacts,
                          &stage->inner_contacts, kappa, blocked);
  }
  return kappa;
}

const NoliContactModel noli_contact_geometric = {.name = "gcp",
                                                 .advice =
                                                     "a larger contact.alpha or contact.eps_target",
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
