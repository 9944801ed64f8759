#include "solve/stage.h"

#include "base/parallel.h"
#include "base/timer.h"
#include "solve/newton_system.h"

#include <string.h>

enum { TERM_BLOCK = 256 };

// Iterations of a step that ends by times of impact, at least.
enum { LEAST = 2, LEAST_WITH_FRICTION = 6 };

// ---- terms of bodies of high order
// ---------------------------------------------------------------

// What the terms of these bodies read now.
static void list_elements(NoliStage* stage) {
  double h_e_sqr = stage->time.h_e * stage->time.h_e;
  double per_speed = stage->time.h_v > 0.0 ? h_e_sqr / stage->time.h_v : 0.0;
  for (int32_t i = 0; i < stage->problem->n_element_body; i++) {
    const NoliElementBody* body = &stage->problem->element_body[i];
    NoliStageElements* elements = &stage->elements[i];
    elements->inertia = noli_element_body_inertia(body, stage->time.x_tilde, 1.0);
    elements->elasticity = noli_element_body_elasticity(body, h_e_sqr);
    elements->damping = (NoliElementDamping){.body = body,
                                             .stiffness = elements->damping_stiffness,
                                             .x_hat = stage->time.x_hat,
                                             .scale = per_speed};
    elements->mass_damping =
        noli_element_body_inertia(body, stage->time.x_hat, body->mass_damping * per_speed);
  }
}

static NoliEnergyTerm element_term(const NoliStage* stage, NoliElementTerm which, int32_t i) {
  const NoliStageElements* elements = &stage->elements[i];
  switch (which) {
  case NOLI_ELEMENT_INERTIA:
    return noli_element_inertia_term(&elements->inertia);
  case NOLI_ELEMENT_ELASTICITY:
    return noli_element_elasticity_term(&elements->elasticity);
  case NOLI_ELEMENT_DAMPING:
    return noli_element_damping_term(&elements->damping);
  case NOLI_ELEMENT_MASS_DAMPING:
  case NOLI_ELEMENT_TERMS:
    break;
  }
  NoliEnergyTerm term = noli_element_inertia_term(&elements->mass_damping);
  term.n_stencil = stage->problem->element_body[i].mass_damping > 0.0 ? term.n_stencil : 0;
  return term;
}

// Joins the terms of linear bodies, with all stencils that they may have, with those of the others.
static NoliStatus join_terms(NoliStage* stage) {
  NoliStatus status = NOLI_OK;
  NoliContext* context = stage->context;
  const NoliProblem* problem = stage->problem;
  int32_t n = problem->n_element_body;
  NoliEnergyTerm* part = NULL;
  const NoliInertia lumped = {.n = problem->n_lumped, .node = problem->lumped};
  const NoliInertia drag = {.n = problem->n_drag, .node = problem->drag_node};
  const NoliDamping damping = {.damped = problem->damped};
  if (n == 0) {
    return NOLI_OK;
  }
  NOLI_NEW_ZERO(context, stage->elements, n);
  NOLI_NEW(context, part, (int64_t)n + 1);
  list_elements(stage);
  for (int32_t k = 0; k < NOLI_ELEMENT_TERMS; k++) {
    part[0] = k == NOLI_ELEMENT_INERTIA      ? noli_inertia_term(&lumped)
              : k == NOLI_ELEMENT_ELASTICITY ? noli_elasticity_term(&problem->elasticity)
              : k == NOLI_ELEMENT_DAMPING    ? noli_damping_term(&damping)
                                             : noli_inertia_term(&drag);
    for (int32_t i = 0; i < n; i++) {
      part[i + 1] = element_term(stage, (NoliElementTerm)k, i);
    }
    NOLI_TRY(noli_joined_create(context, n + 1, part, &stage->joined[k]));
  }
  for (int32_t i = 0; i < n; i++) {
    NOLI_NEW_ZERO(context, stage->elements[i].damping_stiffness,
                  noli_element_damping_size(&problem->element_body[i]));
  }
done:
  noli_free(context, part);
  return status;
}

// The term of all bodies in place of that of linear ones.
static NoliEnergyTerm join(const NoliStage* stage, NoliElementTerm which, bool acts,
                           NoliEnergyTerm linear) {
  if (stage->problem->n_element_body == 0) {
    return linear;
  }
  const NoliJoinedTerm* joined = &stage->joined[which];
  joined->part[0] = linear;
  for (int32_t i = 0; i < stage->problem->n_element_body; i++) {
    joined->part[i + 1] = element_term(stage, which, i);
  }
  NoliEnergyTerm term = noli_joined_term(joined, linear.name);
  term.n_stencil = acts ? term.n_stencil : 0;
  return term;
}

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
  NOLI_NEW_ZERO(context, stage->prescribed.held, stage->problem->n_vert);
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
  stage->inertia = (NoliInertia){.n = inertia ? problem->n_lumped : 0,
                                 .node = problem->lumped,
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
  list_elements(stage);
  stage->terms[NOLI_TERM_INERTIA] =
      join(stage, NOLI_ELEMENT_INERTIA, inertia, noli_inertia_term(&stage->inertia));
  stage->terms[NOLI_TERM_ELASTICITY] =
      join(stage, NOLI_ELEMENT_ELASTICITY, true, noli_elasticity_term(&stage->elasticity));
  stage->terms[NOLI_TERM_DAMPING] =
      join(stage, NOLI_ELEMENT_DAMPING, inertia, noli_damping_term(&stage->damping));
  stage->terms[NOLI_TERM_VOLUME] = noli_volume_term(&stage->volume);
  stage->terms[NOLI_TERM_MASS_DAMPING] =
      join(stage, NOLI_ELEMENT_MASS_DAMPING, inertia, noli_inertia_term(&stage->mass_damping));
  stage->terms[NOLI_TERM_LOAD] = noli_load_term(&stage->load_data);
  stage->terms[NOLI_TERM_SPRINGS] = noli_springs_term(&stage->springs);
  stage->terms[NOLI_TERM_FRICTION] = noli_friction_term(&stage->friction);
}

static void evaluate_nothing(const void* data, const double* x, int64_t begin, int64_t end,
                             unsigned what, const NoliLocal* out) {
  (void)data, (void)x, (void)begin, (void)end, (void)what, (void)out;
}

// The terms of contact at x or at x_trial, and those of its implicit friction.
static void list_contact(NoliStage* stage, bool trial, NoliEnergyTerm terms[NOLI_TERM_COUNT]) {
  const NoliProblem* problem = stage->problem;
  for (int32_t i = NOLI_TERM_CONTACT; i < NOLI_TERM_COUNT; i++) {
    terms[i] = (NoliEnergyTerm){.name = "no contact", .evaluate = evaluate_nothing, .size = 1};
  }
  problem->contact->list_terms(stage, trial, &terms[NOLI_TERM_CONTACT]);
  if (problem->implicit_friction && !stage->lags_all) {
    problem->contact->list_friction(stage, trial, &terms[NOLI_TERM_FORCE]);
  }
}

void noli_stage_list_contact_terms(NoliStage* stage) {
  stage->problem->contact->set_data(stage);
  list_contact(stage, false, stage->terms);
}

NoliStatus noli_stage_create(NoliContext* context, const NoliProblem* problem, NoliStage** out) {
  NoliStatus status = NOLI_OK;
  NoliStage* stage = NULL;
  NOLI_NEW_ZERO(context, stage, 1);
  stage->context = context;
  stage->problem = problem;
  stage->n_threads = noli_context_threads(context);
  stage->tolerance = problem->tolerance;
  noli_friction_set_init(&stage->friction_set);
  NOLI_TRY(allocate_vectors(stage));
  NOLI_TRY(join_terms(stage));
  NOLI_TRY(noli_broad_phase_create(context, problem->surface, &stage->broad_phase));
  NOLI_TRY(problem->contact->create(stage));
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
  noli_free(context, stage->prescribed.held);
  for (int32_t i = 0; stage->elements != NULL && i < stage->problem->n_element_body; i++) {
    noli_free(context, stage->elements[i].damping_stiffness);
  }
  noli_free(context, stage->elements);
  for (int32_t k = 0; k < NOLI_ELEMENT_TERMS; k++) {
    noli_joined_destroy(context, &stage->joined[k]);
  }
  for (int32_t i = 0; i < NOLI_TERM_COUNT; i++) {
    noli_expansion_free(context, &stage->expansions[i]);
    noli_free(context, stage->energies[i].here);
    noli_free(context, stage->energies[i].trial);
  }
  stage->problem->contact->destroy(stage);
  noli_broad_phase_destroy(&stage->broad_phase);
  noli_candidates_free(context, &stage->candidates);
  noli_candidates_free(context, &stage->swept);
  noli_friction_set_free(context, &stage->friction_set);
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

// Prescribed components of nodes that are unknown otherwise, unless springs hold them; what would
// lead out of the plane of a body always.
static NoliStatus hold_components(NoliStage* stage) {
  const NoliPrescribed* prescribed = &stage->prescribed;
  const NoliSurface* surface = stage->problem->surface;
  for (int32_t i = 0; i < prescribed->n; i++) {
    bool planar = surface->planar[surface->body[prescribed->node[i]]];
    prescribed->held[i] = !prescribed->free ? prescribed->axes[i] : planar ? 1 << 2 : 0;
  }
  return noli_assembler_hold(stage->assembler, prescribed->partial ? prescribed->n : 0,
                             prescribed->node, prescribed->held);
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
  noli_stage_list_contact_terms(stage);
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
  const NoliProblem* problem = stage->problem;
  noli_damping_stiffness(problem->damped, x, stage->n_threads, stage->damping_stiffness);
  for (int32_t i = 0; i < problem->n_element_body; i++) {
    noli_element_damping_stiffness(&problem->element_body[i], x, stage->n_threads,
                                   stage->elements[i].damping_stiffness);
  }
}

void noli_stage_follow(const NoliStage* stage, double* x) {
  noli_followers_move(&stage->problem->followers, stage->problem->X, stage->n_threads, x);
}

void noli_stage_follow_vectors(const NoliStage* stage, double* u) {
  noli_followers_move_vectors(&stage->problem->followers, stage->n_threads, u);
}

// Takes what acts on followers to the nodes; nothing is left of it.
static void act_on_nodes(const NoliStage* stage, double* force) {
  const NoliFollowers* followers = &stage->problem->followers;
  noli_followers_add_forces(followers, stage->n_threads, force);
  memset(force + 3 * (int64_t)followers->n_node, 0, 3 * sizeof *force * (size_t)followers->n);
}

// Whether a term may name followers: those of nodes and elements do not.
static bool names_vertices(int32_t index) {
  return index == NOLI_TERM_VOLUME || index >= NOLI_TERM_FRICTION;
}

NoliStatus noli_stage_prepare_terms(NoliStage* stage, const NoliEnergyTerm* terms,
                                    int32_t n_terms) {
  NoliStatus status = NOLI_OK;
  const NoliFollowers* followers = &stage->problem->followers;
  for (int32_t i = 0; i < n_terms; i++) {
    stage->assembled[i] = terms[i];
    if (followers->n > 0 && names_vertices(i) && terms[i].n_stencil > 0) {
      NOLI_TRY(noli_expansion_build(&stage->expansions[i], stage->context, followers, &terms[i],
                                    &stage->assembled[i]));
    }
  }
  NOLI_TRY(noli_assembler_prepare(stage->assembler, stage->assembled, n_terms));
done:
  return status;
}

NoliStatus noli_stage_find_contacts(NoliStage* stage) {
  NoliStatus status = NOLI_OK;
  double start = noli_seconds();
  NOLI_TRY(stage->problem->contact->find(stage));
  noli_stage_list_contact_terms(stage);
  stage->timing.contacts += noli_seconds() - start;
done:
  return status;
}

NoliStatus noli_stage_trial_contacts(NoliStage* stage) {
  double start = noli_seconds();
  NoliStatus status = stage->problem->contact->find_trial(stage);
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
  stage->problem->contact->accept(stage);
  for (int32_t i = 0; i < NOLI_TERM_COUNT; i++) {
    NoliTermEnergy* energy = &stage->energies[i];
    NoliTermEnergy old = *energy;
    energy->here = old.trial;
    energy->capacity_here = old.capacity_trial;
    energy->sum_here = old.sum_trial;
    energy->trial = old.here;
    energy->capacity_trial = old.capacity_here;
  }
  noli_stage_list_contact_terms(stage);
  return stage->problem->contact->has_targets ? NOLI_OK : noli_stage_audit(stage, stage->x);
}

int32_t noli_least_iterations(const NoliStage* stage) {
  const NoliProblem* problem = stage->problem;
  int64_t contacts = problem->contact->count_near(stage);
  bool rubs = problem->rubs && (contacts > 0 || stage->friction_set.contact.count > 0);
  int32_t least = rubs ? LEAST_WITH_FRICTION : LEAST;
  return problem->min_iterations > 0 ? problem->min_iterations : least;
}

int64_t noli_stage_contact_count(const NoliStage* stage) {
  return stage->problem->contact->count(stage);
}

double noli_stage_min_distance(const NoliStage* stage) {
  return stage->problem->contact->min_distance(stage);
}

NoliStatus noli_stage_contact_forces(const NoliStage* stage, double* force) {
  NoliStatus status =
      stage->problem->contact->forces(stage, stage->time.h_e * stage->time.h_e, force);
  act_on_nodes(stage, force);
  return status;
}

NoliStatus noli_stage_pair_forces(const NoliStage* stage, NoliPairForces* pairs) {
  return stage->problem->contact->pair_forces(stage, stage->time.h_e * stage->time.h_e, pairs);
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

// The terms as they are at the trial point: contacts are others there.
static void list_trial_terms(NoliStage* stage, NoliEnergyTerm terms[NOLI_TERM_COUNT]) {
  memcpy(terms, stage->terms, sizeof stage->terms);
  list_contact(stage, true, terms);
}

NoliStatus noli_stage_energy_change(NoliStage* stage, double* change, double* magnitude) {
  NoliStatus status = NOLI_OK;
  NoliEnergyTerm terms[NOLI_TERM_COUNT];
  list_trial_terms(stage, terms);
  *change = 0.0;
  *magnitude = 0.0;
  for (int32_t i = 0; i < NOLI_TERM_COUNT; i++) {
    NoliTermEnergy* energy = &stage->energies[i];
    // contacts may differ between the two points: then only the sums can be compared
    bool same_stencils = i < NOLI_TERM_CONTACT || stage->problem->contact->same_at_trial;
    double sum = 0.0;
    NOLI_TRY(term_energy(stage, &terms[i], stage->x_trial, same_stencils ? energy->here : NULL,
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
  list_trial_terms(stage, terms);
  NOLI_TRY(noli_stage_prepare_terms(stage, terms, NOLI_TERM_COUNT));
  NOLI_TRY(noli_assembler_linearize(stage->assembler, stage->assembled, NOLI_TERM_COUNT,
                                    stage->x_trial, 0, stage->trial_gradient));
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
    act_on_nodes(stage, gradient);
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
  NOLI_TRY(noli_stage_prepare_terms(stage, stage->terms, NOLI_TERM_COUNT));
  NOLI_TRY(noli_assembler_linearize(stage->assembler, stage->assembled, NOLI_TERM_COUNT, stage->x,
                                    what, stage->gradient));
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
  act_on_nodes(stage, gradient);
done:
  noli_free(stage->context, local);
  return status;
}

void noli_stage_drop_forces(NoliStage* stage) {
  memset(stage->load, 0, (size_t)stage->problem->n_vert * 3 * sizeof *stage->load);
  noli_friction_set_clear(&stage->friction_set);
  list_terms(stage);
}

NoliStatus noli_stage_lag_friction(NoliStage* stage) {
  const NoliProblem* problem = stage->problem;
  if (problem->implicit_friction && !stage->lags_all) {
    noli_friction_set_clear(&stage->friction_set);
    list_terms(stage);
    return NOLI_OK;
  }
  NoliStatus status = problem->contact->lag_friction(stage, &stage->friction_set);
  list_terms(stage);
  return status;
}

NoliStatus noli_stage_lag_all_friction(NoliStage* stage, bool lags_all) {
  stage->lags_all = lags_all;
  noli_stage_list_contact_terms(stage);
  return noli_stage_lag_friction(stage);
}

void noli_stage_friction_forces(const NoliStage* stage, double* force) {
  double scale = stage->time.h_e * stage->time.h_e;
  noli_friction_forces(&stage->friction, stage->x, scale, force);
  if (stage->problem->implicit_friction) {
    stage->problem->contact->friction_forces(stage, scale, force);
  }
  act_on_nodes(stage, force);
}

NoliStatus noli_stage_friction_pair_forces(const NoliStage* stage, NoliPairForces* pairs) {
  NoliStatus status = NOLI_OK;
  double scale = stage->time.h_e * stage->time.h_e;
  NOLI_TRY(noli_friction_pair_forces(&stage->friction, stage->context, stage->x, scale, pairs));
  if (stage->problem->implicit_friction) {
    NOLI_TRY(stage->problem->contact->friction_pair_forces(stage, scale, pairs));
  }
done:
  return status;
}

void noli_stage_adapt_kappa(NoliStage* stage, bool blocked) {
  const NoliProblem* problem = stage->problem;
  if (problem->fixed_stiffness > 0.0 || problem->contact->adapt_stiffness == NULL) {
    return;
  }
  double kappa = problem->contact->adapt_stiffness(stage, blocked);
  if (kappa != stage->kappa) {
    noli_stage_set_kappa(stage, kappa);
  }
}

void noli_stage_set_kappa(NoliStage* stage, double kappa) {
  // contact energies are proportional to kappa
  double ratio = stage->kappa > 0.0 ? kappa / stage->kappa : 0.0;
  for (int32_t k = 0; k < NOLI_CONTACT_TERMS; k++) {
    stage->energies[NOLI_TERM_CONTACT + k].sum_here *= ratio;
  }
  stage->kappa = kappa;
  noli_stage_list_contact_terms(stage);
}

NoliStatus noli_stage_stiffen(NoliStage* stage, bool* stiffer) {
  const NoliContactModel* contact = stage->problem->contact;
  *stiffer = false;
  return contact->stiffen != NULL ? contact->stiffen(stage, stiffer) : NOLI_OK;
}

NoliStatus noli_stage_initial_kappa(NoliStage* stage) {
  const NoliContactModel* contact = stage->problem->contact;
  return contact->begin_stiffness != NULL ? contact->begin_stiffness(stage) : NOLI_OK;
}

NoliStatus noli_stage_balance_kappa(NoliStage* stage) {
  NoliStatus status = NOLI_OK;
  const NoliProblem* problem = stage->problem;
  if (problem->fixed_stiffness > 0.0) {
    noli_stage_set_kappa(stage, problem->fixed_stiffness * stage->time.h_e * stage->time.h_e);
    return NOLI_OK;
  }
  // gradient of the barrier with kappa = 1, and of everything else
  double* barrier = stage->trial_gradient;
  memset(barrier, 0, (size_t)problem->n_vert * 3 * sizeof *barrier);
  noli_stage_set_kappa(stage, 1.0);
  NOLI_TRY(problem->contact->forces(stage, -1.0, barrier));
  act_on_nodes(stage, barrier);
  noli_assembler_mask_gradient(stage->assembler, barrier);
  NOLI_TRY(noli_stage_prepare_terms(stage, stage->terms, NOLI_TERM_CONTACT));
  NOLI_TRY(noli_assembler_linearize(stage->assembler, stage->assembled, NOLI_TERM_CONTACT, stage->x,
                                    0, stage->gradient));
  noli_stage_set_kappa(stage, noli_stiffness_initial(&stage->stiffness, problem->n_vert, barrier,
                                                     stage->gradient, stage->dof));
done:
  return status;
}

NoliStatus noli_stage_record(NoliStage* stage, const NoliNewtonStat* stat) {
  NoliStatus status = NOLI_OK;
  NOLI_PUSH(stage->context, &stage->newton, *stat);
  if (stage->watch != NULL) {
    stage->watch(stage->watch_user, stage);
  }
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
  noli_stage_follow(stage, stage->x_trial);
}

NoliStatus noli_stage_filter_step(NoliStage* stage, double safety, NoliStepFilter* filter) {
  NoliStatus status = NOLI_OK;
  const NoliProblem* problem = stage->problem;
  double start = noli_seconds();
  NoliCcdOptions options = noli_default_ccd_options();
  options.safety = safety;
  options.method = problem->ccd;
  noli_stage_follow_vectors(stage, stage->step);

  // elements keep their orientation, also where their law would allow inversion
  double alpha = noli_problem_inversion_bound(problem, stage->x, stage->step, 0.1, false,
                                              stage->n_threads, &stage->blocking);
  filter->inversion = alpha;
  if (!problem->contact->keeps_apart) {
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

  // all other pairs are farther apart than the reach: a step this short needs no CCD for them.
  // It is taken when it costs at most half of the step ([Li2020] section 4.6)
  double largest = largest_step(stage), reach = problem->contact->reach(stage);
  double cfl = largest > 0.0 ? 0.5 * reach / largest : (double)INFINITY;
  bool short_step = cfl >= 0.5 * alpha;
  if (short_step && cfl < alpha) {
    alpha = cfl;
  }

  // one broad phase for CCD and for every contact set of the line search
  noli_stage_set_trial(stage, alpha);
  NOLI_TRY(noli_broad_phase_find(stage->broad_phase, stage->x, x_end, reach, problem->body_pairs,
                                 &stage->swept));
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
