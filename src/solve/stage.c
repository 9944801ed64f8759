#include "solve/stage.h"

#include "base/parallel.h"
#include "base/timer.h"
#include "solve/newton_system.h"

#include <string.h>

enum { TERM_BLOCK = 256 };

// Iterations of a step that ends by times of impact, at least.
enum { LEAST = 2, LEAST_WITH_FRICTION = 6 };

static NoliStatus allocate_vectors(NoliStage* stage) {
  NoliStatus status = NOLI_OK;
  NoliContext* context = stage->context;
  int64_t n = 3 * (int64_t)stage->problem->n_vert;
  NOLI_NEW_ZERO(context, stage->time.x_tilde, n);
  NOLI_NEW_ZERO(context, stage->time.x_hat, n);
  NOLI_NEW_ZERO(context, stage->load, n);
  NOLI_NEW_ZERO(context, stage->x, n);
  NOLI_NEW_ZERO(context, stage->x_trial, n);
  NOLI_NEW_ZERO(context, stage->safe, n);
  NOLI_NEW_ZERO(context, stage->step, n);
  NOLI_NEW_ZERO(context, stage->gradient, n);
  NOLI_NEW_ZERO(context, stage->trial_gradient, n);
  NOLI_NEW_ZERO(context, stage->rhs, n);
  NOLI_NEW_ZERO(context, stage->solution, n);
  NOLI_NEW_ZERO(context, stage->damping_stiffness,
                90 * (int64_t)noli_damping_count(stage->problem->damped));
  NOLI_NEW_ZERO(context, stage->volume_state, stage->problem->volumes.n_region);
  NOLI_NEW_ZERO(context, stage->dof, stage->problem->n_vert);
  NOLI_NEW_ZERO(context, stage->dof_next, stage->problem->n_vert);
  NOLI_NEW_ZERO(context, stage->prescribed.node, stage->problem->n_vert);
  NOLI_NEW_ZERO(context, stage->prescribed.axes, stage->problem->n_vert);
  NOLI_NEW_ZERO(context, stage->prescribed.start, n);
  NOLI_NEW_ZERO(context, stage->prescribed.target, n);
  NOLI_NEW_ZERO(context, stage->prescribed.multiplier, n);
done:
  return status;
}

// Terms hold pointers into the stage, so their lists are rebuilt whenever a list changes.
static void list_terms(NoliStage* stage) {
  const NoliProblem* problem = stage->problem;
  bool inertia = stage->time.inertia;
  stage->inertia = (NoliInertia){.n = inertia ? problem->n_inertial : 0,
                                 .node = problem->inertial,
                                 .mass = problem->mass,
                                 .x_tilde = stage->time.x_tilde,
                                 .scale = 1.0};
  stage->elasticity = problem->elasticity;
  stage->elasticity.scale = stage->time.h_e * stage->time.h_e;
  stage->mass_damping = (NoliInertia){.n = inertia ? problem->n_drag : 0,
                                      .node = problem->drag_node,
                                      .mass = problem->drag,
                                      .x_tilde = stage->time.x_hat,
                                      .scale = stage->time.h_e * stage->time.h_e / stage->time.h_v};
  stage->damping = (NoliDamping){.damped = inertia ? problem->damped : NULL,
                                 .stiffness = stage->damping_stiffness,
                                 .x_hat = stage->time.x_hat,
                                 .scale = stage->time.h_e * stage->time.h_e / stage->time.h_v};
  stage->volume = (NoliVolume){.regions = &problem->volumes,
                               .scale = stage->time.h_e * stage->time.h_e,
                               .state = stage->volume_state};
  stage->load_data = (NoliLoad){.n = problem->n_inertial,
                                .node = problem->inertial,
                                .force = stage->load,
                                .reference = stage->time.x_hat,
                                .scale = stage->time.h_e * stage->time.h_e};
  const NoliPrescribed* prescribed = &stage->prescribed;
  stage->springs = (NoliSprings){.n = prescribed->free ? prescribed->n : 0,
                                 .node = prescribed->node,
                                 .mass = problem->mass,
                                 .stiffness = prescribed->stiffness,
                                 .axes = prescribed->axes,
                                 .lambda = prescribed->multiplier,
                                 .target = prescribed->target};
  stage->friction = (NoliFriction){.set = &stage->friction_set,
                                   .x_hat = stage->time.x_hat,
                                   .eps_v = problem->friction_speed,
                                   .h_v = stage->time.h_v,
                                   .majorize = stage->friction.majorize};
  stage->terms[NOLI_TERM_INERTIA] = noli_inertia_term(&stage->inertia);
  stage->terms[NOLI_TERM_ELASTICITY] = noli_elasticity_term(&stage->elasticity);
  stage->terms[NOLI_TERM_DAMPING] = noli_damping_term(&stage->damping);
  stage->terms[NOLI_TERM_VOLUME] = noli_volume_term(&stage->volume);
  stage->terms[NOLI_TERM_MASS_DAMPING] = noli_inertia_term(&stage->mass_damping);
  stage->terms[NOLI_TERM_LOAD] = noli_load_term(&stage->load_data);
  stage->terms[NOLI_TERM_SPRINGS] = noli_springs_term(&stage->springs);
  stage->terms[NOLI_TERM_FRICTION] = noli_friction_term(&stage->friction);
}

// The forces of implicit friction, without stencils where it does not act.
static void list_forces(const NoliStage* stage, const NoliImplicitFriction* data,
                        NoliForceTerm forces[2]) {
  forces[0] = noli_implicit_friction_term(data);
  forces[1] = noli_implicit_plane_friction_term(data);
  if (!stage->problem->implicit_friction || stage->lags_all) {
    forces[0].n_stencil = forces[1].n_stencil = 0;
  }
}

static void list_implicit_friction(NoliStage* stage) {
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
  list_forces(stage, &stage->implicit_friction, stage->forces);
  list_forces(stage, &stage->trial_implicit_friction, stage->trial_forces);
  for (int32_t k = 0; k < 2; k++) {
    stage->terms[NOLI_TERM_IMPLICIT_FRICTION + k] = noli_force_as_term(&stage->forces[k]);
  }
}

static void list_contact_terms(NoliStage* stage) {
  double dhat_sqr = stage->problem->dhat * stage->problem->dhat;
  stage->barrier = (NoliBarrier){.set = &stage->contacts,
                                 .planes = stage->problem->planes,
                                 .dhat_sqr = dhat_sqr,
                                 .kappa = stage->kappa};
  stage->trial_barrier = stage->barrier;
  stage->trial_barrier.set = &stage->trial_contacts;
  stage->terms[NOLI_TERM_BARRIER] = noli_barrier_term(&stage->barrier);
  stage->terms[NOLI_TERM_PLANE_BARRIER] = noli_plane_barrier_term(&stage->barrier);
  stage->terms[NOLI_TERM_CONSTRAINTS] = noli_active_set_term(&stage->active_set);
  stage->surface_penalty = (NoliSurfacePenalty){.set = &stage->surface_contacts,
                                                .search = stage->surface_search,
                                                .delta = stage->problem->dhat,
                                                .kappa = stage->kappa};
  stage->trial_surface_penalty = stage->surface_penalty;
  stage->trial_surface_penalty.set = &stage->trial_surface_contacts;
  stage->terms[NOLI_TERM_SURFACE] = noli_surface_penalty_term(&stage->surface_penalty);
  list_implicit_friction(stage);
}

NoliStatus noli_stage_create(NoliContext* context, const NoliProblem* problem, NoliStage** out) {
  NoliStatus status = NOLI_OK;
  NoliStage* stage = NULL;
  NOLI_NEW_ZERO(context, stage, 1);
  stage->context = context;
  stage->problem = problem;
  stage->n_threads = noli_context_threads(context);
  stage->tolerance = problem->tolerance;
  noli_contact_set_init(&stage->contacts);
  noli_contact_set_init(&stage->trial_contacts);
  noli_friction_set_init(&stage->friction_set);
  stage->stiffness = noli_stiffness(problem->mean_mass, problem->diagonal, problem->dhat);
  NOLI_TRY(allocate_vectors(stage));
  NOLI_TRY(noli_broad_phase_create(context, problem->surface, &stage->broad_phase));
  if (problem->implicit_surface) {
    NOLI_TRY(noli_surface_search_create(
        context, problem->surface, problem->X, problem->still, problem->planes, problem->n_planes,
        &problem->pairs, problem->surface_radius, problem->dhat, &stage->surface_search));
  }
  NOLI_TRY(noli_assembler_create(context, &stage->assembler));
  NOLI_TRY(noli_lin_solver_create(context, problem->linear_solver, &stage->solver));
  noli_lin_solver_set_tolerance(stage->solver, problem->linear_tolerance);
done:
  if (status != NOLI_OK) {
    noli_stage_destroy(&stage);
  }
  *out = stage;
  return status;
}

void noli_stage_destroy(NoliStage** owner) {
  NoliStage* stage = *owner;
  if (stage == NULL) {
    return;
  }
  NoliContext* context = stage->context;
  double* vectors[] = {stage->time.x_tilde,
                       stage->time.x_hat,
                       stage->load,
                       stage->x,
                       stage->x_trial,
                       stage->safe,
                       stage->step,
                       stage->gradient,
                       stage->trial_gradient,
                       stage->rhs,
                       stage->solution,
                       stage->damping_stiffness,
                       stage->prescribed.start,
                       stage->prescribed.target,
                       stage->prescribed.multiplier};
  for (size_t i = 0; i < sizeof vectors / sizeof vectors[0]; i++) {
    noli_free(context, vectors[i]);
  }
  noli_free(context, stage->volume_state);
  noli_low_rank_free(context, &stage->low_rank);
  noli_free(context, stage->dof);
  noli_free(context, stage->dof_next);
  noli_free(context, stage->prescribed.node);
  noli_free(context, stage->prescribed.axes);
  for (int32_t i = 0; i < NOLI_TERM_COUNT; i++) {
    noli_free(context, stage->energies[i].here);
    noli_free(context, stage->energies[i].trial);
  }
  noli_surface_search_destroy(&stage->surface_search);
  noli_surface_contacts_free(context, &stage->surface_contacts);
  noli_surface_contacts_free(context, &stage->trial_surface_contacts);
  noli_broad_phase_destroy(&stage->broad_phase);
  noli_candidates_free(context, &stage->candidates);
  noli_candidates_free(context, &stage->swept);
  noli_contact_set_free(context, &stage->contacts);
  noli_contact_set_free(context, &stage->trial_contacts);
  noli_friction_set_free(context, &stage->friction_set);
  noli_active_set_free(context, &stage->active_set);
  noli_impacts_free(context, &stage->impacts);
  noli_assembler_destroy(&stage->assembler);
  noli_lin_solver_destroy(&stage->solver);
  noli_newton_system_destroy(&stage->system);
  noli_array_free(context, &stage->newton);
  noli_free(context, stage);
  *owner = NULL;
}

NoliStatus noli_stage_forget(NoliStage* stage) {
  noli_lin_solver_forget(stage->solver);
  return noli_assembler_forget(stage->assembler);
}

// Prescribed components of nodes that are unknown otherwise, unless springs hold them.
static NoliStatus hold_components(NoliStage* stage) {
  const NoliPrescribed* prescribed = &stage->prescribed;
  bool held = prescribed->partial && !prescribed->free;
  return noli_assembler_hold(stage->assembler, held ? prescribed->n : 0, prescribed->node,
                             prescribed->axes);
}

NoliStatus noli_stage_number_unknowns(NoliStage* stage) {
  NoliStatus status = NOLI_OK;
  const NoliProblem* problem = stage->problem;
  // mark: 0 unknown, NOLI_NULL_INDEX fixed
  for (int32_t i = 0; i < problem->n_vert; i++) {
    stage->dof_next[i] = NOLI_NULL_INDEX;
  }
  for (int32_t i = 0; i < problem->n_inertial; i++) {
    stage->dof_next[problem->inertial[i]] = 0;
  }
  for (int32_t i = 0; i < stage->prescribed.n; i++) {
    bool fixed = !stage->prescribed.free && stage->prescribed.axes[i] == NOLI_ALL_AXES;
    stage->dof_next[stage->prescribed.node[i]] = fixed ? NOLI_NULL_INDEX : 0;
  }
  // number in vertex order
  int32_t n_dof = 0;
  for (int32_t i = 0; i < problem->n_vert; i++) {
    if (stage->dof_next[i] == 0) {
      stage->dof_next[i] = n_dof++;
    }
  }
  list_terms(stage);
  list_contact_terms(stage);
  size_t bytes = (size_t)problem->n_vert * sizeof *stage->dof;
  // springs may come and go without new unknowns, but the assembler keeps the stencils of fixed
  // terms
  if (!stage->numbered || stage->n_springs != stage->springs.n ||
      memcmp(stage->dof, stage->dof_next, bytes) != 0) {
    memcpy(stage->dof, stage->dof_next, bytes);
    stage->n_dof = n_dof;
    stage->n_springs = stage->springs.n;
    stage->numbered = false;
    NOLI_TRY(
        noli_assembler_set_unknowns(stage->assembler, problem->n_vert, stage->dof, stage->n_dof));
    stage->numbered = true;
  }
  NOLI_TRY(hold_components(stage));
done:
  return status;
}

void noli_stage_set_damping(NoliStage* stage, const double* x) {
  noli_damping_stiffness(stage->problem->damped, x, stage->n_threads, stage->damping_stiffness);
}

static NoliStatus build_contacts(NoliStage* stage, const NoliCandidates* candidates,
                                 const double* x, NoliContactSet* set) {
  const NoliProblem* problem = stage->problem;
  return noli_contact_set_build(set, stage->context, problem->surface, problem->X, candidates,
                                problem->planes, problem->n_planes, &problem->pairs, x,
                                problem->dhat, stage->n_threads);
}

// Springs move obstacles too: then their vertices are in the stencils.
static NoliStatus build_surface_contacts(NoliStage* stage, const double* x,
                                         NoliSurfaceContactSet* set) {
  double start = noli_seconds();
  NoliStatus status =
      noli_surface_contacts_build(set, stage->context, stage->surface_search, x,
                                  stage->problem->dhat, stage->prescribed.free, stage->n_threads);
  list_contact_terms(stage);
  stage->timing.contacts += noli_seconds() - start;
  return status;
}

NoliStatus noli_stage_find_contacts(NoliStage* stage) {
  NoliStatus status = NOLI_OK;
  if (stage->problem->active_set) {
    return noli_stage_linearize_constraints(stage, stage->x);
  }
  if (stage->problem->implicit_surface) {
    return build_surface_contacts(stage, stage->x, &stage->surface_contacts);
  }
  double start = noli_seconds();
  NOLI_TRY(noli_broad_phase_find(stage->broad_phase, stage->x, stage->x, stage->problem->dhat,
                                 stage->problem->body_pairs, &stage->candidates));
  NOLI_TRY(build_contacts(stage, &stage->candidates, stage->x, &stage->contacts));
  list_contact_terms(stage);
  stage->timing.contacts += noli_seconds() - start;
done:
  return status;
}

NoliStatus noli_stage_linearize_constraints(NoliStage* stage, const double* x) {
  double start = noli_seconds();
  NoliStatus status =
      noli_active_set_linearize(&stage->active_set, stage->context, stage->problem->surface,
                                stage->problem->planes, x, stage->n_threads);
  list_contact_terms(stage);
  stage->timing.contacts += noli_seconds() - start;
  return status;
}

NoliStatus noli_stage_trial_contacts(NoliStage* stage) {
  if (stage->problem->active_set) {
    return NOLI_OK;
  }
  if (stage->problem->implicit_surface) {
    return build_surface_contacts(stage, stage->x_trial, &stage->trial_surface_contacts);
  }
  double start = noli_seconds();
  NoliStatus status = build_contacts(stage, &stage->swept, stage->x_trial, &stage->trial_contacts);
  list_forces(stage, &stage->trial_implicit_friction, stage->trial_forces);
  stage->timing.contacts += noli_seconds() - start;
  return status;
}

NoliStatus noli_stage_audit(NoliStage* stage, const double* x) {
  NoliStatus status = stage->audit != NULL ? stage->audit(stage->audit_user, x) : NOLI_OK;
  if (status == NOLI_ERROR_AUDIT) {
    char message[sizeof stage->context->message];
    memcpy(message, stage->context->message, sizeof message);
    status = noli_fail(stage->context, NOLI_ERROR_AUDIT, "iteration %lld of the step: %s",
                       (long long)stage->newton.count + 1, message);
  }
  return status;
}

NoliStatus noli_stage_accept(NoliStage* stage) {
  double* x = stage->x;
  stage->x = stage->x_trial;
  stage->x_trial = x;
  NoliCandidates candidates = stage->candidates;
  stage->candidates = stage->swept;
  stage->swept = candidates;
  NoliContactSet contacts = stage->contacts;
  stage->contacts = stage->trial_contacts;
  stage->trial_contacts = contacts;
  NoliSurfaceContactSet surface_contacts = stage->surface_contacts;
  stage->surface_contacts = stage->trial_surface_contacts;
  stage->trial_surface_contacts = surface_contacts;
  for (int32_t i = 0; i < NOLI_TERM_COUNT; i++) {
    NoliTermEnergy* energy = &stage->energies[i];
    NoliTermEnergy old = *energy;
    energy->here = old.trial;
    energy->capacity_here = old.capacity_trial;
    energy->sum_here = old.sum_trial;
    energy->trial = old.here;
    energy->capacity_trial = old.capacity_here;
  }
  list_contact_terms(stage);
  // a target state may penetrate
  return stage->problem->active_set ? NOLI_OK : noli_stage_audit(stage, stage->x);
}

int32_t noli_least_iterations(const NoliStage* stage) {
  const NoliProblem* problem = stage->problem;
  int64_t contacts =
      problem->active_set ? stage->active_set.constraint.count : noli_stage_contact_count(stage);
  bool rubs = problem->rubs && (contacts > 0 || stage->friction_set.contact.count > 0);
  int32_t least = rubs ? LEAST_WITH_FRICTION : LEAST;
  return problem->min_iterations > 0 ? problem->min_iterations : least;
}

int64_t noli_stage_contact_count(const NoliStage* stage) {
  if (stage->problem->implicit_surface) {
    return stage->surface_contacts.contact.count;
  }
  return stage->problem->active_set ? noli_active_set_count_active(&stage->active_set)
                                    : stage->contacts.contact.count + stage->contacts.plane.count;
}

double noli_stage_min_distance(const NoliStage* stage) {
  if (stage->problem->implicit_surface) {
    return stage->surface_contacts.contact.count > 0 ? stage->surface_contacts.min_d
                                                     : (double)INFINITY;
  }
  return stage->problem->active_set ? noli_active_set_min_distance(&stage->active_set)
                                    : noli_contact_set_min_distance(&stage->contacts);
}

NoliStatus noli_stage_contact_forces(const NoliStage* stage, double* force) {
  double scale = stage->time.h_e * stage->time.h_e;
  if (stage->problem->implicit_surface) {
    return noli_surface_forces(&stage->surface_penalty, stage->context, stage->x, scale, force);
  }
  if (stage->problem->active_set) {
    noli_active_set_forces(&stage->active_set, scale, force);
  } else {
    noli_contact_forces(&stage->barrier, stage->x, scale, force);
  }
  return NOLI_OK;
}

NoliStatus noli_stage_pair_forces(const NoliStage* stage, NoliPairForces* pairs) {
  const NoliProblem* problem = stage->problem;
  double scale = stage->time.h_e * stage->time.h_e;
  if (problem->implicit_surface) {
    return noli_surface_pair_forces(&stage->surface_penalty, stage->context, stage->x, scale,
                                    pairs);
  }
  return problem->active_set
             ? noli_active_set_pair_forces(&stage->active_set, stage->context, problem->surface,
                                           problem->pairs.n_body, scale, pairs)
             : noli_contact_pair_forces(&stage->barrier, stage->context, stage->x, scale, pairs);
}

typedef struct EnergyJob {
  const NoliEnergyTerm* term;
  const double* x;
  double* energy;
  const double* base; // NULL: plain sum
} EnergyJob;

static double sum_energies(void* user, int64_t begin, int64_t end, int32_t worker) {
  (void)worker;
  const EnergyJob* job = user;
  NoliLocal local = {.energy = job->energy};
  job->term->evaluate(job->term->data, job->x, begin, end, NOLI_EVAL_ENERGY, &local);
  double sum = 0.0;
  for (int64_t i = begin; i < end; i++) {
    sum += job->base != NULL ? job->energy[i] - job->base[i] : job->energy[i];
  }
  return sum;
}

static NoliStatus term_energy(NoliStage* stage, const NoliEnergyTerm* term, const double* x,
                              const double* base, double** energy, int64_t* capacity, double* sum) {
  NoliStatus status =
      noli_grow(stage->context, (void**)energy, capacity, term->n_stencil, sizeof **energy);
  if (status != NOLI_OK) {
    return status;
  }
  EnergyJob job = {term, x, *energy, base};
  noli_term_prepare(term, x, stage->n_threads);
  *sum = noli_parallel_sum(stage->n_threads, term->n_stencil, TERM_BLOCK, sum_energies, &job);
  return NOLI_OK;
}

NoliStatus noli_stage_term_energy(NoliStage* stage, NoliTermIndex index) {
  NoliTermEnergy* energy = &stage->energies[index];
  return term_energy(stage, &stage->terms[index], stage->x, NULL, &energy->here,
                     &energy->capacity_here, &energy->sum_here);
}

NoliStatus noli_stage_energy(NoliStage* stage) {
  NoliStatus status = NOLI_OK;
  for (int32_t i = 0; i < NOLI_TERM_COUNT; i++) {
    NOLI_TRY(noli_stage_term_energy(stage, (NoliTermIndex)i));
  }
done:
  return status;
}

// Whether the stencils of a term are those of the contacts at a point.
static bool of_contacts(int32_t index) {
  return index == NOLI_TERM_BARRIER || index == NOLI_TERM_PLANE_BARRIER ||
         index == NOLI_TERM_SURFACE || index == NOLI_TERM_IMPLICIT_FRICTION ||
         index == NOLI_TERM_IMPLICIT_PLANE_FRICTION;
}

// The term as it is at the trial point: contacts are others there.
static NoliEnergyTerm trial_term(const NoliStage* stage, int32_t index) {
  switch (index) {
  case NOLI_TERM_BARRIER:
    return noli_barrier_term(&stage->trial_barrier);
  case NOLI_TERM_PLANE_BARRIER:
    return noli_plane_barrier_term(&stage->trial_barrier);
  case NOLI_TERM_SURFACE:
    return noli_surface_penalty_term(&stage->trial_surface_penalty);
  case NOLI_TERM_IMPLICIT_FRICTION:
    return noli_force_as_term(&stage->trial_forces[0]);
  case NOLI_TERM_IMPLICIT_PLANE_FRICTION:
    return noli_force_as_term(&stage->trial_forces[1]);
  default:
    return stage->terms[index];
  }
}

NoliStatus noli_stage_energy_change(NoliStage* stage, double* change, double* magnitude) {
  NoliStatus status = NOLI_OK;
  *change = 0.0;
  *magnitude = 0.0;
  for (int32_t i = 0; i < NOLI_TERM_COUNT; i++) {
    NoliTermEnergy* energy = &stage->energies[i];
    NoliEnergyTerm term = trial_term(stage, i);
    // contacts differ between the two points: only the sums can be compared
    bool same_stencils = !of_contacts(i);
    double sum = 0.0;
    NOLI_TRY(term_energy(stage, &term, stage->x_trial, same_stencils ? energy->here : NULL,
                         &energy->trial, &energy->capacity_trial, &sum));
    double difference = same_stencils ? sum : sum - energy->sum_here;
    energy->sum_trial = energy->sum_here + difference;
    *change += difference;
    *magnitude += fabs(energy->sum_here);
  }
  *magnitude += noli_volume_magnitude(&stage->volume);
done:
  return status;
}

NoliStatus noli_stage_trial_gradient(NoliStage* stage) {
  NoliStatus status = NOLI_OK;
  NoliEnergyTerm terms[NOLI_TERM_COUNT];
  for (int32_t i = 0; i < NOLI_TERM_COUNT; i++) {
    terms[i] = trial_term(stage, i);
  }
  NOLI_TRY(noli_assembler_prepare(stage->assembler, terms, NOLI_TERM_COUNT));
  NOLI_TRY(noli_assembler_linearize(stage->assembler, terms, NOLI_TERM_COUNT, stage->x_trial, 0,
                                    stage->trial_gradient));
done:
  return status;
}

// The parts of rank one: W'' dV dV^T of each region, over the unknowns.
static NoliStatus linearize_volumes(NoliStage* stage) {
  NoliStatus status = NOLI_OK;
  const NoliVolumes* volumes = &stage->problem->volumes;
  NoliLowRank* low_rank = &stage->low_rank;
  int64_t n_vert = stage->problem->n_vert;
  double* gradient = stage->trial_gradient;
  NOLI_TRY(noli_low_rank_resize(low_rank, stage->context, volumes->n_region, stage->n_dof));
  for (int32_t r = 0; r < volumes->n_region; r++) {
    double* vector = low_rank->vector + 3 * (int64_t)r * stage->n_dof;
    memset(gradient, 0, 3 * sizeof *gradient * (size_t)n_vert);
    noli_volume_add_gradient(volumes, r, stage->x, gradient);
    noli_assembler_mask_gradient(stage->assembler, gradient);
    for (int64_t i = 0; i < n_vert; i++) {
      if (stage->dof[i] != NOLI_NULL_INDEX) {
        memcpy(vector + 3 * (int64_t)stage->dof[i], gradient + 3 * i, 3 * sizeof *gradient);
      }
    }
    low_rank->scale[r] = stage->volume.scale * stage->volume_state[r].stiffness;
  }
done:
  return status;
}

NoliStatus noli_stage_linearize(NoliStage* stage) {
  return noli_stage_linearize_as(stage, NOLI_EVAL_PROJECTED);
}

NoliStatus noli_stage_linearize_as(NoliStage* stage, unsigned what) {
  NoliStatus status = NOLI_OK;
  double start = noli_seconds();
  NOLI_TRY(noli_assembler_prepare(stage->assembler, stage->terms, NOLI_TERM_COUNT));
  NOLI_TRY(noli_assembler_linearize(stage->assembler, stage->terms, NOLI_TERM_COUNT, stage->x, what,
                                    stage->gradient));
  NOLI_TRY(linearize_volumes(stage));
  stage->timing.assemble += noli_seconds() - start;
done:
  return status;
}

NoliStatus noli_stage_term_gradient(NoliStage* stage, NoliTermIndex index, double* gradient) {
  // stencil by stencil in order: used a few times per step, clarity counts
  NoliStatus status = NOLI_OK;
  const NoliEnergyTerm* term = &stage->terms[index];
  double* local = NULL;
  memset(gradient, 0, (size_t)stage->problem->n_vert * 3 * sizeof(double));
  int64_t n_local = noli_term_first(term, term->n_stencil);
  NOLI_NEW(stage->context, local, 3 * n_local);
  NoliLocal out = {.gradient = local};
  noli_term_prepare(term, stage->x, stage->n_threads);
  term->evaluate(term->data, stage->x, 0, term->n_stencil, NOLI_EVAL_GRADIENT, &out);
  for (int64_t i = 0; i < n_local; i++) {
    int32_t node = term->node[i];
    if (node != NOLI_NULL_INDEX) {
      for (int32_t k = 0; k < 3; k++) {
        gradient[3 * (int64_t)node + k] += local[3 * i + k];
      }
    }
  }
done:
  noli_free(stage->context, local);
  return status;
}

NoliStatus noli_stage_lag_friction(NoliStage* stage) {
  const NoliProblem* problem = stage->problem;
  if (problem->implicit_friction && !stage->lags_all) {
    noli_friction_set_clear(&stage->friction_set);
    list_terms(stage);
    return NOLI_OK;
  }
  NoliStatus status =
      problem->implicit_surface
          ? noli_surface_friction(&stage->surface_penalty, stage->context, &problem->pairs,
                                  stage->x, &stage->friction_set)
      : problem->active_set
          ? noli_active_set_friction(&stage->active_set, stage->context, problem->surface,
                                     &problem->pairs, &stage->friction_set)
          : noli_friction_set_build(&stage->friction_set, stage->context, &stage->contacts,
                                    problem->planes, &problem->pairs, stage->x, stage->kappa,
                                    problem->dhat);
  list_terms(stage);
  return status;
}

NoliStatus noli_stage_lag_all_friction(NoliStage* stage, bool lags_all) {
  stage->lags_all = lags_all;
  list_contact_terms(stage);
  return noli_stage_lag_friction(stage);
}

void noli_stage_friction_forces(const NoliStage* stage, double* force) {
  double scale = stage->time.h_e * stage->time.h_e;
  noli_friction_forces(&stage->friction, stage->x, scale, force);
  if (stage->problem->implicit_friction) {
    noli_implicit_friction_forces(&stage->implicit_friction, stage->x, scale, force);
  }
}

NoliStatus noli_stage_friction_pair_forces(const NoliStage* stage, NoliPairForces* pairs) {
  NoliStatus status = NOLI_OK;
  double scale = stage->time.h_e * stage->time.h_e;
  NOLI_TRY(noli_friction_pair_forces(&stage->friction, stage->context, stage->x, scale, pairs));
  if (stage->problem->implicit_friction) {
    NOLI_TRY(noli_implicit_friction_pair_forces(&stage->implicit_friction, stage->context, stage->x,
                                                scale, pairs));
  }
done:
  return status;
}

void noli_stage_adapt_kappa(NoliStage* stage, bool blocked) {
  if (stage->problem->fixed_stiffness > 0.0 || stage->problem->implicit_surface) {
    return;
  }
  // after an accepted step the trial set holds the contacts before it
  double kappa = noli_stiffness_update(&stage->stiffness, stage->kappa, &stage->trial_contacts,
                                       &stage->contacts, blocked);
  if (kappa != stage->kappa) {
    noli_stage_set_kappa(stage, kappa);
  }
}

void noli_stage_set_kappa(NoliStage* stage, double kappa) {
  // barrier energies are proportional to kappa
  double ratio = stage->kappa > 0.0 ? kappa / stage->kappa : 0.0;
  stage->energies[NOLI_TERM_BARRIER].sum_here *= ratio;
  stage->energies[NOLI_TERM_PLANE_BARRIER].sum_here *= ratio;
  stage->energies[NOLI_TERM_SURFACE].sum_here *= ratio;
  stage->kappa = kappa;
  list_contact_terms(stage);
}

// The stiffness that contact with smooth surfaces starts from: what is asked for, or a curvature
// at delta / 2 of 3 mean masses. While there is contact it never falls.
static void initial_surface_kappa(NoliStage* stage) {
  const NoliProblem* problem = stage->problem;
  double least = problem->fixed_stiffness > 0.0
                     ? problem->fixed_stiffness * stage->time.h_e * stage->time.h_e
                     : problem->mean_mass;
  bool touches = stage->surface_contacts.contact.count > 0;
  noli_stage_set_kappa(stage, touches && stage->kappa > least ? stage->kappa : least);
}

NoliStatus noli_stage_stiffen(NoliStage* stage, bool* stiffer) {
  *stiffer = false;
  if (!stage->problem->implicit_surface) {
    return NOLI_OK;
  }
  double deepest = noli_surface_deepest(&stage->surface_contacts, stage->dof);
  if (!(deepest < 0.0) || stage->n_stiffened >= NOLI_MOST_STIFFENINGS) {
    return NOLI_OK;
  }
  *stiffer = true;
  stage->n_stiffened++;
  noli_stage_set_kappa(stage,
                       stage->kappa * noli_surface_stiffening(deepest, stage->problem->dhat));
  return noli_stage_energy(stage);
}

NoliStatus noli_stage_initial_kappa(NoliStage* stage) {
  NoliStatus status = NOLI_OK;
  const NoliProblem* problem = stage->problem;
  if (problem->implicit_surface) {
    initial_surface_kappa(stage);
    return NOLI_OK;
  }
  if (problem->fixed_stiffness > 0.0) {
    noli_stage_set_kappa(stage, problem->fixed_stiffness * stage->time.h_e * stage->time.h_e);
    return NOLI_OK;
  }
  // gradient of the barrier with kappa = 1, and of everything else
  double* barrier = stage->trial_gradient;
  memset(barrier, 0, (size_t)problem->n_vert * 3 * sizeof *barrier);
  noli_stage_set_kappa(stage, 1.0);
  noli_contact_forces(&stage->barrier, stage->x, -1.0, barrier);
  noli_assembler_mask_gradient(stage->assembler, barrier);
  NOLI_TRY(noli_assembler_prepare(stage->assembler, stage->terms, NOLI_TERM_BARRIER));
  NOLI_TRY(noli_assembler_linearize(stage->assembler, stage->terms, NOLI_TERM_BARRIER, stage->x, 0,
                                    stage->gradient));
  noli_stage_set_kappa(stage, noli_stiffness_initial(&stage->stiffness, problem->n_vert, barrier,
                                                     stage->gradient, stage->dof));
done:
  return status;
}

// Largest displacement of a vertex on the surface.
static double largest_step(const NoliStage* stage) {
  double largest = 0.0;
  for (int32_t i = 0; i < stage->problem->surface->n_point; i++) {
    const double* p = &stage->step[3 * (int64_t)stage->problem->surface->point[i]];
    double length_sqr = p[0] * p[0] + p[1] * p[1] + p[2] * p[2];
    largest = length_sqr > largest ? length_sqr : largest;
  }
  return sqrt(largest);
}

void noli_stage_set_trial(NoliStage* stage, double alpha) {
  for (int64_t i = 0; i < 3 * (int64_t)stage->problem->n_vert; i++) {
    stage->x_trial[i] = stage->x[i] + alpha * stage->step[i];
  }
}

NoliStatus noli_stage_filter_step(NoliStage* stage, double safety, NoliStepFilter* filter) {
  NoliStatus status = NOLI_OK;
  const NoliProblem* problem = stage->problem;
  double start = noli_seconds();
  NoliCcdOptions options = noli_default_ccd_options();
  options.safety = safety;
  options.method = problem->ccd;

  // elements keep their orientation, also where their law would allow inversion
  int32_t blocking_tet;
  double alpha = noli_tets_inversion_bound(&problem->tets, stage->x, stage->step, 0.1, false,
                                           stage->n_threads, &blocking_tet);
  filter->inversion = alpha;
  if (problem->implicit_surface) {
    // nothing keeps surfaces apart but their potential
    filter->ccd = alpha;
    filter->blocker =
        (NoliStepBound){alpha, NOLI_NULL_INDEX, NOLI_NULL_INDEX, false, NOLI_NULL_INDEX};
    goto done;
  }

  // half-spaces in closed form, then the pairs known to be close
  noli_stage_set_trial(stage, 1.0);
  const double* x_end = stage->x_trial;
  NoliStepBound bound, plane_bound;
  noli_step_bound_half_spaces(problem->surface, problem->planes, problem->n_planes,
                              problem->plane_pairs, stage->x, x_end, safety, stage->n_threads,
                              alpha, &plane_bound);
  alpha = plane_bound.alpha;
  noli_step_bound_candidates(problem->surface, &stage->candidates, stage->x, x_end, &options,
                             stage->n_threads, alpha, &bound);
  filter->blocker = bound.alpha < alpha ? bound : plane_bound;
  alpha = bound.alpha;

  // all other pairs are farther apart than dhat: a step this short needs no CCD for them.
  // It is taken when it costs at most half of the step ([Li2020] section 4.6)
  double largest = largest_step(stage);
  double cfl = largest > 0.0 ? 0.5 * problem->dhat / largest : (double)INFINITY;
  bool short_step = cfl >= 0.5 * alpha;
  if (short_step && cfl < alpha) {
    alpha = cfl;
  }

  // one broad phase for CCD and for every contact set of the line search
  noli_stage_set_trial(stage, alpha);
  NOLI_TRY(noli_broad_phase_find(stage->broad_phase, stage->x, x_end, problem->dhat,
                                 problem->body_pairs, &stage->swept));
  if (!short_step) {
    noli_step_bound_candidates(problem->surface, &stage->swept, stage->x, x_end, &options,
                               stage->n_threads, 1.0, &bound);
    if (bound.alpha < 1.0) {
      alpha *= bound.alpha;
      filter->blocker = bound;
    }
  }
  filter->ccd = alpha;
done:
  stage->timing.ccd += noli_seconds() - start;
  return status;
}
