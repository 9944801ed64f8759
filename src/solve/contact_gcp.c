// Contact by the geometric potential of [Huang2025] between closed surfaces and with half-spaces,
// and by the barrier of [Li2020] with obstacles that are not closed.
//
// Every pair that collision detection stops needs a repulsive force, or Newton's method stalls. The
// potential does not repel surfaces that meet from inside a body. The boundary of linear elements
// can only meet there after an element is flat, which its material law resists, but in a crushed
// body opposite sides come as close as collision detection allows. A proxy can touch itself: its
// material law is evaluated at points of the elements, and between these points two triangles on a
// sharp edge may fold onto each other. Therefore a barrier of [Li2020] acts between all pairs of
// one body, with a range so short that it is inactive at rest.
#include "contact/gcp/gcp_forces.h"
#include "solve/contact_gcp.h"

static NoliStatus gcp_create(NoliStage* stage) {
  const NoliProblem* problem = stage->problem;
  const NoliGcpProblem* geometric = &problem->contact.gcp;
  NoliGcpStage* self = stage->contact.data;
  self->stiffness = noli_gcp_stiffness(problem->inertia.mean_mass, problem->size.d,
                                       geometric->model.parameters.eps_target, geometric->weight,
                                       geometric->model.space);
  // both are equally stiff, each in its own units
  NoliStiffness barrier =
      noli_stiffness(problem->inertia.mean_mass, problem->size.d, problem->contact.dhat);
  self->open_ratio = barrier.min / self->stiffness.min;
  if (geometric->inner > 0.0) {
    self->inner_ratio =
        noli_stiffness(problem->inertia.mean_mass, problem->size.d, geometric->inner).min /
        self->stiffness.min;
  }
  return NOLI_OK;
}

static void gcp_destroy(NoliContext* context, void* memory) {
  NoliGcpStage* self = memory;
  noli_candidates_free(context, &self->closed);
  noli_candidates_free(context, &self->open);
  noli_candidates_free(context, &self->inside);
}

static void gcp_init_memory(void* at) {
  NoliGcpMemory* memory = at;
  noli_gcp_set_init(&memory->closed);
  noli_contact_set_init(&memory->open);
  noli_contact_set_init(&memory->inside);
}

static void gcp_free_memory(NoliContext* context, void* at) {
  NoliGcpMemory* memory = at;
  noli_gcp_set_free(context, &memory->closed);
  noli_contact_set_free(context, &memory->open);
  noli_contact_set_free(context, &memory->inside);
}

static double gcp_reach(const NoliStage* stage) {
  const NoliGcpProblem* geometric = &stage->problem->contact.gcp;
  double eps = fmax(geometric->model.max_eps, geometric->inner);
  return geometric->has_open || eps == 0.0 ? fmax(eps, stage->problem->contact.dhat) : eps;
}

// The pairs of one body that has the inner barrier.
static NoliStatus update_inside(NoliStage* stage, const NoliPoint* at) {
  NoliStatus status = NOLI_OK;
  const NoliProblem* problem = stage->problem;
  NoliGcpStage* self = stage->contact.data;
  NoliGcpMemory* memory = at->contact;
  if (problem->contact.gcp.inner > 0.0) {
    NOLI_TRY(noli_gcp_inner_candidates(stage->context, problem->surface,
                                       problem->contact.gcp.inside, &at->candidates,
                                       &self->inside));
    const NoliColliders bodies = {.surface = problem->surface,
                                  .pairs = problem->contact.pairs.touch};
    NOLI_TRY(noli_contact_set_build(&memory->inside, stage->context, &bodies, problem->X,
                                    &self->inside, at->x, problem->contact.gcp.inner,
                                    stage->n_threads));
  }
done:
  return status;
}

// Half-spaces only meet deformable bodies, which are closed: the barrier has none.
static NoliStatus gcp_update(NoliStage* stage, NoliPoint* at) {
  NoliStatus status = NOLI_OK;
  const NoliProblem* problem = stage->problem;
  const NoliGcpProblem* geometric = &problem->contact.gcp;
  NoliGcpStage* self = stage->contact.data;
  NoliGcpMemory* memory = at->contact;
  const NoliCandidates* candidates = &at->candidates;
  NOLI_TRY(update_inside(stage, at));
  if (geometric->has_open) {
    const NoliSurface surface = noli_stage_surface(stage);
    const NoliColliders bodies = {.surface = &surface, .pairs = problem->contact.pairs.touch};
    NOLI_TRY(noli_gcp_split_candidates(stage->context, problem->surface, geometric->rings,
                                       candidates, &self->closed, &self->open));
    NOLI_TRY(noli_contact_set_build(&memory->open, stage->context, &bodies, problem->X, &self->open,
                                    at->x, problem->contact.dhat, stage->n_threads));
    candidates = &self->closed;
  }
  NOLI_TRY(noli_gcp_set_build(&memory->closed, stage->context, &geometric->model, candidates, at->x,
                              stage->n_threads));
done:
  return status;
}

static void gcp_list_terms(const NoliStage* stage, const NoliPoint* at,
                           NoliEnergyTerm terms[NOLI_CONTACT_TERMS]) {
  const NoliProblem* problem = stage->problem;
  const NoliGcpStage* self = stage->contact.data;
  NoliGcpMemory* memory = at->contact;
  memory->barrier = (NoliBarrier){.set = &memory->open,
                                  .dhat_sqr = problem->contact.dhat * problem->contact.dhat,
                                  .kappa = stage->contact.kappa * self->open_ratio};
  memory->potential = (NoliGcp){
      .model = &problem->contact.gcp.model, .set = &memory->closed, .scale = stage->contact.kappa};
  memory->inner = (NoliBarrier){.set = &memory->inside,
                                .dhat_sqr = problem->contact.gcp.inner * problem->contact.gcp.inner,
                                .kappa = stage->contact.kappa * self->inner_ratio};
  terms[0] = noli_barrier_term(&memory->barrier);
  terms[1] = noli_gcp_term(&memory->potential);
  terms[2] = noli_barrier_term(&memory->inner);
}

static int64_t gcp_count(const NoliStage* stage) {
  const NoliGcpMemory* here = stage->here->contact;
  return here->open.contact.count + here->inside.contact.count + here->closed.pair.count;
}

static double gcp_min_distance(const NoliStage* stage) {
  const NoliGcpMemory* here = stage->here->contact;
  return fmin(fmin(noli_contact_set_min_distance(&here->open),
                   noli_contact_set_min_distance(&here->inside)),
              here->closed.min_distance);
}

static NoliStatus contact_gcp_forces(const NoliStage* stage, double scale, double* force) {
  const NoliGcpMemory* here = stage->here->contact;
  const double* x = stage->here->x;
  noli_contact_forces(&here->barrier, x, scale, force);
  noli_contact_forces(&here->inner, x, scale, force);
  return noli_gcp_forces(&here->potential, stage->context, x, scale, stage->n_threads, force);
}

static NoliStatus gcp_pair_forces(const NoliStage* stage, double scale, NoliPairForces* pairs) {
  NoliStatus status = NOLI_OK;
  const NoliGcpMemory* here = stage->here->contact;
  const double* x = stage->here->x;
  NOLI_TRY(noli_contact_pair_forces(&here->barrier, stage->context, x, scale, pairs));
  NOLI_TRY(noli_contact_pair_forces(&here->inner, stage->context, x, scale, pairs));
  NOLI_TRY(noli_gcp_pair_forces(&here->potential, stage->context,
                                stage->problem->contact.pairs.n_body, x, scale, stage->n_threads,
                                pairs));
done:
  return status;
}

static NoliStatus gcp_lag_friction(const NoliStage* stage, NoliFrictionSet* set) {
  NoliStatus status = NOLI_OK;
  const NoliProblem* problem = stage->problem;
  const NoliGcpMemory* here = stage->here->contact;
  const double* x = stage->here->x;
  NOLI_TRY(noli_friction_set_build(set, stage->context, &here->open, NULL, &problem->contact.pairs,
                                   x, here->barrier.kappa, problem->contact.dhat));
  NOLI_TRY(noli_gcp_friction(&here->potential, stage->context, &problem->contact.pairs, x, set));
done:
  return status;
}

static void gcp_list_friction(const NoliStage* stage, const NoliPoint* at,
                              NoliEnergyTerm terms[NOLI_CONTACT_TERMS]) {
  NoliGcpMemory* memory = at->contact;
  memory->open_friction = noli_stage_implicit_friction(stage, &memory->barrier);
  memory->open_force = noli_implicit_friction_term(&memory->open_friction);
  memory->closed_friction = noli_gcp_closed_friction(stage, memory);
  terms[0] = noli_force_as_term(&memory->open_force);
  terms[1] = noli_gcp_friction_term(&memory->closed_friction);
}

static void gcp_friction_forces(const NoliStage* stage, double scale, double* force) {
  const NoliGcpMemory* here = stage->here->contact;
  noli_implicit_friction_forces(&here->open_friction, stage->here->x, scale, force);
  noli_gcp_friction_forces(&here->closed_friction, stage->here->x, scale, force);
}

static NoliStatus gcp_friction_pair_forces(const NoliStage* stage, double scale,
                                           NoliPairForces* pairs) {
  NoliStatus status = NOLI_OK;
  const NoliGcpMemory* here = stage->here->contact;
  const double* x = stage->here->x;
  NOLI_TRY(
      noli_implicit_friction_pair_forces(&here->open_friction, stage->context, x, scale, pairs));
  NOLI_TRY(noli_gcp_friction_pair_forces(&here->closed_friction, stage->context, x, scale, pairs));
done:
  return status;
}

static NoliStatus gcp_begin_stiffness(NoliStage* stage) {
  const NoliGcpStage* self = stage->contact.data;
  return noli_stage_kappa_from_forces(stage, &self->stiffness);
}

// Raises kappa to that which a barrier of one range needs, converted to the potential.
static NoliStatus adapt_barrier(const NoliStage* stage, double dhat, double ratio,
                                const NoliContactSet* before, const NoliContactSet* after,
                                double alpha, double* kappa) {
  NoliStatus status = NOLI_OK;
  const NoliProblem* problem = stage->problem;
  NoliStiffness barrier = noli_stiffness(problem->inertia.mean_mass, problem->size.d, dhat);
  double now = stage->contact.kappa * ratio, next;
  NOLI_TRY(noli_stiffness_update(&barrier, stage->context, now, before, after, alpha, &next));
  *kappa = next > now ? fmax(*kappa, next / ratio) : *kappa;
done:
  return status;
}

static NoliStatus adapt_stiffness(const NoliStage* stage, double alpha, double* kappa) {
  NoliStatus status = NOLI_OK;
  const NoliProblem* problem = stage->problem;
  const NoliGcpProblem* geometric = &problem->contact.gcp;
  const NoliGcpStage* self = stage->contact.data;
  // after an accepted step the trial point is the previous one
  const NoliGcpMemory *before = stage->trial->contact, *here = stage->here->contact;
  *kappa = noli_gcp_stiffness_update(&self->stiffness, stage->contact.kappa, &geometric->model,
                                     &before->closed, &here->closed, stage->here->x, alpha);
  if (geometric->has_open) {
    NOLI_TRY(adapt_barrier(stage, problem->contact.dhat, self->open_ratio, &before->open,
                           &here->open, alpha, kappa));
  }
  if (geometric->inner > 0.0) {
    NOLI_TRY(adapt_barrier(stage, geometric->inner, self->inner_ratio, &before->inside,
                           &here->inside, alpha, kappa));
  }
done:
  return status;
}

const NoliContactModel noli_contact_gcp = {
    .name = "gcp",
    .description =
        "The geometric contact potential: a barrier without forces at rest, for closed surfaces.",
    .advice = "a larger contact.alpha or contact.eps_target",
    .keeps_apart = true,
    .searches = true,
    .size = sizeof(NoliGcpStage),
    .memory_size = sizeof(NoliGcpMemory),
    .create = gcp_create,
    .destroy = gcp_destroy,
    .init_memory = gcp_init_memory,
    .free_memory = gcp_free_memory,
    .update = gcp_update,
    .list_terms = gcp_list_terms,
    .count = gcp_count,
    .count_near = gcp_count,
    .min_distance = gcp_min_distance,
    .forces = contact_gcp_forces,
    .pair_forces = gcp_pair_forces,
    .lag_friction = gcp_lag_friction,
    .list_friction = gcp_list_friction,
    .friction_forces = gcp_friction_forces,
    .friction_pair_forces = gcp_friction_pair_forces,
    .reach = gcp_reach,
    .begin_stiffness = gcp_begin_stiffness,
    .adapt_stiffness = adapt_stiffness,
    .derivatives = NOLI_DERIVATIVES_OF(noli_contact_gcp_derivatives)};
