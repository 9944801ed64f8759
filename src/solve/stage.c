#include "solve/stage.h"

#include "base/profile.h"
#include "base/ranks.h"
#include "base/timer.h"
#include "solve/balance.h"
#include "solve/bonds.h"
#include "solve/direction.h"
#include "solve/friction_end.h"
#include "solve/method.h"
#include "solve/newton_system.h"

#include <math.h>
#include <string.h>

// Minimum number of iterations with termination "toi".
enum { LEAST = 2, LEAST_WITH_FRICTION = 6, LEAST_AGAIN = 1 };

// Relative to eps_v: after a Newton step this short, divided by h, the next one would change
// friction by the square of that.
#define FRICTION_RESOLVED 1e-2

// If the line search takes less than this fraction of the allowed step, a potential that can jump
// is assumed to have jumped.
#define JUMP_ALPHA 1e-3

// If CCD cuts a step below this fraction, contact blocks it.
#define BLOCKED 0.5

static int64_t curved_values(const NoliStage* stage, int32_t k) {
  const NoliCurvedFaces* faces = stage->problem->pressed.curved[k];
  return (int64_t)faces->n * faces->n_node;
}

static NoliStatus allocate_vectors(NoliStage* stage) {
  NoliStatus status = NOLI_OK;
  NoliContext* context = stage->context;
  int64_t n = 3 * (int64_t)stage->problem->n_vert;

  NOLI_NEW_ZERO(context, stage->time.x_tilde, n);
  NOLI_NEW_ZERO(context, stage->time.x_hat, n);
  NOLI_NEW_ZERO(context, stage->loads.force, n);
  NOLI_NEW_ZERO(context, stage->loads.pressure, stage->problem->pressed.flat.n);
  NOLI_NEW_ZERO(context, stage->loads.pressure_origin, 3 * (int64_t)stage->problem->pressed.flat.n);
  NOLI_NEW_ZERO(context, stage->loads.curved, stage->problem->pressed.n_curved);
  for (int32_t k = 0; k < stage->problem->pressed.n_curved; k++) {
    NOLI_NEW_ZERO(context, stage->loads.curved[k].value, curved_values(stage, k));
  }
  NOLI_NEW_ZERO(context, stage->search.last, n);
  stage->search.share = stage->search.arc = 1.0;
  NOLI_NEW_ZERO(context, stage->search.detour.start, n);
  NOLI_NEW_ZERO(context, stage->search.step, n);
  NOLI_NEW_ZERO(context, stage->search.direction, n);
  NOLI_NEW_ZERO(context, stage->search.gradient, n);
  NOLI_NEW_ZERO(context, stage->search.trial_gradient, n);
  NOLI_NEW_ZERO(context, stage->search.rounding, n);
  NOLI_NEW_ZERO(context, stage->search.unknown, stage->problem->n_vert);
  NOLI_NEW_ZERO(context, stage->prescribed.node, stage->problem->n_vert);
  NOLI_NEW_ZERO(context, stage->prescribed.axes, stage->problem->n_vert);
  NOLI_NEW_ZERO(context, stage->prescribed.set, stage->problem->n_vert);
  NOLI_NEW_ZERO(context, stage->prescribed.held, stage->problem->n_vert);
  NOLI_NEW_ZERO(context, stage->prescribed.start, n);
  NOLI_NEW_ZERO(context, stage->prescribed.target, n);
  NOLI_NEW_ZERO(context, stage->prescribed.springs.multiplier, n);
done:
  return status;
}

static void evaluate_nothing(const void* data, const double* x, int64_t begin, int64_t end,
                             unsigned what, const NoliLocal* out) {
  (void)data, (void)x, (void)begin, (void)end, (void)what, (void)out;
}

// Lists the terms of contact and implicit friction at a point.
static void list_contact(const NoliStage* stage, const NoliPoint* at) {
  const NoliProblem* problem = stage->problem;
  NoliEnergyTerm *terms = at->term + stage->terms.first_contact, resting[NOLI_CONTACT_TERMS];
  for (int32_t i = 0; i < 2 * NOLI_CONTACT_TERMS; i++) {
    terms[i] = (NoliEnergyTerm){.name = "no contact", .evaluate = evaluate_nothing, .size = 1};
  }
  problem->contact.model->list_terms(stage, at, terms);
  if (problem->friction.implicit) {
    problem->contact.model->list_friction(
        stage, at, stage->friction.lags_all ? resting : terms + NOLI_CONTACT_TERMS);
  }
}

void noli_stage_list_trial_terms(NoliStage* stage) {
  memcpy(stage->trial->term, stage->here->term,
         (size_t)stage->terms.first_contact * sizeof *stage->here->term);
  list_contact(stage, stage->trial);
}

void noli_stage_list_contact_terms(NoliStage* stage) {
  list_contact(stage, stage->here);
}

void noli_stage_list_terms(NoliStage* stage) {
  const NoliProblem* problem = stage->problem;
  stage->friction.law = (NoliFriction){.set = &stage->friction.set,
                                       .x_hat = stage->time.x_hat,
                                       .eps_v = problem->friction.speed,
                                       .h_v = stage->time.h_v,
                                       .stick = noli_stage_stick(stage)};
  for (int32_t i = 0; i < stage->terms.first_contact; i++) {
    const NoliTerm* term = &stage->terms.term[i];
    stage->here->term[i] = term->type->list(stage, term->self, stage->here);
  }
}

NoliImplicitFriction noli_stage_implicit_friction(const NoliStage* stage,
                                                  const NoliBarrier* barrier) {
  const NoliProblem* problem = stage->problem;
  return (NoliImplicitFriction){.barrier = barrier,
                                .pairs = &problem->contact.pairs,
                                .x_hat = stage->time.x_hat,
                                .eps_v = problem->friction.speed,
                                .h_v = stage->time.h_v,
                                .basis_derivatives = stage->friction.basis_derivatives,
                                .stick = noli_stage_stick(stage)};
}

// Zero-initialized; NULL if the size is 0.
static NoliStatus stage_allocate(NoliContext* context, size_t size, void** memory) {
  *memory = size > 0 ? noli_calloc(context, 1, size) : NULL;
  return size > 0 && *memory == NULL ? NOLI_ERROR_MEMORY : NOLI_OK;
}

static int32_t count_terms(const NoliStage* stage, const NoliTermType* type) {
  return type->count != NULL ? type->count(stage->problem) : 1;
}

// Creates the terms of the problem, of all types.
static NoliStatus create_terms(NoliStage* stage) {
  NoliStatus status = NOLI_OK;
  int32_t n_type, n = 0;
  const NoliTermType* const* types = noli_term_types(&n_type);
  for (int32_t k = 0; k < n_type; k++) {
    n += count_terms(stage, types[k]);
  }
  NOLI_NEW_ZERO(stage->context, stage->terms.term, n);
  NOLI_NEW_ZERO(stage->context, stage->terms.on_vertices, n);
  stage->terms.n = n;
  stage->terms.first_contact = n - 2 * NOLI_CONTACT_TERMS;
  n = 0;

  for (int32_t k = 0; k < n_type; k++) {
    int32_t n_of_type = count_terms(stage, types[k]);
    for (int32_t i = 0; i < n_of_type; i++) {
      NoliTerm* term = &stage->terms.term[n];
      term->type = types[k];
      stage->terms.on_vertices[n++] = term->type->on_vertices;
      NOLI_TRY(stage_allocate(stage->context, term->type->size, &term->self));
      if (term->type->create != NULL) {
        NOLI_TRY(term->type->create(stage, term->self, i));
      }
    }
  }
done:
  return status;
}

static void destroy_terms(NoliStage* stage) {
  NoliContext* context = stage->context;
  for (int32_t i = 0; i < stage->terms.n; i++) {
    NoliTerm* term = &stage->terms.term[i];
    if (term->type != NULL && term->type->destroy != NULL && term->self != NULL) {
      term->type->destroy(context, term->self);
    }
    noli_free(context, term->self);
  }
  noli_free(context, stage->terms.term);
  noli_free(context, stage->terms.on_vertices);
}

static NoliStatus create_point(NoliStage* stage, NoliPoint* point) {
  NoliStatus status = NOLI_OK;
  NoliContext* context = stage->context;
  const NoliContactModel* model = stage->problem->contact.model;
  NOLI_NEW_ZERO(context, point->x, 3 * (int64_t)stage->problem->n_vert);
  NOLI_NEW_ZERO(context, point->term, stage->terms.n);
  NOLI_NEW_ZERO(context, point->energy, stage->terms.n);
  NOLI_TRY(stage_allocate(context, model->memory_size, &point->contact));
  if (model->init_memory != NULL) {
    model->init_memory(point->contact);
  }
done:
  return status;
}

static void destroy_point(NoliStage* stage, NoliPoint* point) {
  NoliContext* context = stage->context;
  const NoliContactModel* model = stage->problem->contact.model;
  if (model->free_memory != NULL && point->contact != NULL) {
    model->free_memory(context, point->contact);
  }
  for (int32_t i = 0; point->energy != NULL && i < stage->terms.n; i++) {
    noli_free(context, point->energy[i].value);
  }
  noli_candidates_free(context, &point->candidates);
  noli_free(context, point->contact);
  noli_free(context, point->term);
  noli_free(context, point->energy);
  noli_free(context, point->x);
}

// The memory of the contact model or of the method.
static NoliStatus create_memory(NoliStage* stage, size_t size, NoliStatus (*create)(NoliStage*),
                                void** memory) {
  NoliStatus status = NOLI_OK;
  NOLI_TRY(stage_allocate(stage->context, size, memory));
  if (create != NULL) {
    NOLI_TRY(create(stage));
  }
done:
  return status;
}

static void destroy_memory(NoliContext* context, void (*destroy)(NoliContext*, void*),
                           void* memory) {
  if (destroy != NULL && memory != NULL) {
    destroy(context, memory);
  }
  noli_free(context, memory);
}

NoliStatus noli_stage_create(NoliContext* context, const NoliProblem* problem, NoliStage** out) {
  NoliStatus status = NOLI_OK;
  NoliStage* stage = NULL;
  NOLI_NEW_ZERO(context, stage, 1);
  stage->context = context;
  stage->problem = problem;
  stage->n_threads = noli_context_threads(context);
  noli_friction_set_init(&stage->friction.set);
  noli_friction_set_init(&stage->friction.end);
  NOLI_TRY(noli_vertex_turns_create(context, problem->surface, &stage->friction.turns));
  if (problem->friction.sticks) {
    NOLI_TRY(noli_stick_create(context, &stage->friction.turns, &stage->friction.stick));
    stage->friction.stick.length = problem->friction.stick_length;
  }
  stage->friction.basis_derivatives = problem->friction.basis_derivatives;
  NOLI_TRY(allocate_vectors(stage));
  NOLI_TRY(noli_broad_phase_create(context, problem->surface, &stage->contact.broad_phase));

  stage->here = &stage->point[0];
  stage->trial = &stage->point[1];
  NOLI_NEW_ZERO(context, stage->coordinates, problem->coordinates.n);
  NOLI_TRY(create_terms(stage));
  NOLI_TRY(noli_system_create(context, &problem->followers, problem->n_vert, stage->terms.n,
                              &stage->system));
  NOLI_TRY(create_point(stage, stage->here));
  NOLI_TRY(create_point(stage, stage->trial));
  NOLI_TRY(create_memory(stage, problem->contact.model->size, problem->contact.model->create,
                         &stage->contact.data));

  NOLI_TRY(noli_directions_create(context, problem, &stage->work.directions));
  NOLI_TRY(noli_friction_end_create(context, problem, &stage->work.friction_end));
  NOLI_TRY(noli_balance_create(context, problem, &stage->work.balance));
  NOLI_TRY(create_memory(stage, problem->solver.method->size, problem->solver.method->create,
                         &stage->work.method));
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

  // vectors
  double* vectors[] = {stage->time.x_tilde,
                       stage->time.x_hat,
                       stage->loads.force,
                       stage->loads.pressure,
                       stage->loads.pressure_origin,
                       stage->search.step,
                       stage->search.direction,
                       stage->search.gradient,
                       stage->search.trial_gradient,
                       stage->search.rounding,
                       stage->prescribed.start,
                       stage->prescribed.target,
                       stage->prescribed.springs.multiplier,
                       stage->search.last,
                       stage->search.detour.start};
  for (size_t i = 0; i < sizeof vectors / sizeof vectors[0]; i++) {
    noli_free(context, vectors[i]);
  }
  for (int32_t k = 0; stage->loads.curved != NULL && k < stage->problem->pressed.n_curved; k++) {
    noli_free(context, stage->loads.curved[k].value);
  }
  noli_free(context, stage->loads.curved);

  // points, terms, contact
  noli_free(context, stage->coordinates);
  noli_free(context, stage->search.unknown);
  noli_system_destroy(&stage->system);
  noli_free(context, stage->prescribed.node);
  noli_free(context, stage->prescribed.axes);
  noli_free(context, stage->prescribed.set);
  noli_free(context, stage->prescribed.held);
  destroy_point(stage, &stage->point[0]);
  destroy_point(stage, &stage->point[1]);
  destroy_terms(stage);
  destroy_memory(context, stage->problem->contact.model->destroy, stage->contact.data);
  noli_broad_phase_destroy(&stage->contact.broad_phase);
  noli_bond_set_free(context, &stage->adhesion.bonds);
  noli_candidates_free(context, &stage->adhesion.candidates);
  noli_friction_set_free(context, &stage->friction.set);
  noli_friction_set_free(context, &stage->friction.end);
  noli_stick_free(context, &stage->friction.stick);
  noli_vertex_turns_free(context, &stage->friction.turns);
  noli_array_free(context, &stage->friction.slips);

  // workspaces
  noli_directions_destroy(&stage->work.directions);
  noli_friction_end_destroy(&stage->work.friction_end);
  noli_balance_destroy(&stage->work.balance);
  destroy_memory(context, stage->problem->solver.method->destroy, stage->work.method);
  noli_newton_system_destroy(&stage->work.newton_system);
  noli_array_free(context, &stage->terms.own_sums);
  noli_array_free(context, &stage->terms.all_sums);
  noli_array_free(context, &stage->record.newton);
  noli_free(context, stage);
  *owner = NULL;
}

NoliStatus noli_stage_reset(NoliStage* stage, NoliLinRecord record) {
  noli_directions_reset(stage->work.directions, record);
  noli_newton_system_reset(stage->work.newton_system);
  return noli_system_reset(&stage->system);
}

// Holds the prescribed components of unknown nodes, unless springs hold them; always holds the
// out-of-plane components of planar bodies.
static NoliStatus hold_components(NoliStage* stage) {
  const NoliPrescribed* prescribed = &stage->prescribed;
  const NoliSurface* surface = stage->problem->surface;
  for (int32_t i = 0; i < prescribed->n; i++) {
    bool planar = surface->planar[surface->body[prescribed->node[i]]];
    uint8_t out_of_plane = planar ? 1 << 2 : 0;
    prescribed->held[i] = prescribed->springs.hold ? out_of_plane : prescribed->axes[i];
  }
  return noli_assembler_hold(stage->system.assembler, prescribed->partial ? prescribed->n : 0,
                             prescribed->node, prescribed->held);
}

NoliStatus noli_stage_number_unknowns(NoliStage* stage) {
  NoliStatus status = NOLI_OK;
  const NoliProblem* problem = stage->problem;
  const NoliPrescribed* prescribed = &stage->prescribed;
  memset(stage->search.unknown, 0, (size_t)problem->n_vert * sizeof *stage->search.unknown);
  for (int32_t i = 0; i < problem->inertia.n_vert; i++) {
    int32_t node = problem->inertia.vert[i];
    stage->search.unknown[node] = noli_followers_find(&problem->followers, node) == NOLI_NULL_INDEX;
  }
  for (int32_t i = 0; i < prescribed->n; i++) {
    stage->search.unknown[prescribed->node[i]] =
        prescribed->springs.hold || prescribed->axes[i] != NOLI_ALL_AXES;
  }

  // springs need not change the unknowns, but they always change the stencils
  noli_stage_list_terms(stage);
  noli_stage_list_contact_terms(stage);
  NOLI_TRY(noli_system_number(&stage->system, stage->search.unknown, problem->ranks.owner,
                              prescribed->springs.hold ? prescribed->n : 0));
  NOLI_TRY(hold_components(stage));
done:
  return status;
}

void noli_stage_set_damping(NoliStage* stage, const double* x) {
  for (int32_t i = 0; i < stage->terms.n; i++) {
    const NoliTerm* term = &stage->terms.term[i];
    if (term->type->set_stiffness != NULL) {
      term->type->set_stiffness(term->self, x, stage->n_threads);
    }
  }
}

static bool is_divided(const NoliTerm* term) {
  return term->type->divided != NULL && term->type->divided(term->self);
}

NoliStatus noli_stage_damping_loss(const NoliStage* stage, const double* x0, double* loss) {
  NoliStatus status = NOLI_OK;
  *loss = 0.0;
  for (int32_t i = 0; i < stage->terms.n; i++) {
    const NoliTerm* term = &stage->terms.term[i];
    if (term->type->loss == NULL) {
      continue;
    }
    double of_term = term->type->loss(term->self, x0, stage->here->x, stage->n_threads);
    if (is_divided(term)) {
      NOLI_TRY(noli_ranks_sum(stage->context, &of_term, 1));
    }
    *loss += of_term;
  }
done:
  return status;
}

// Between begin_forces and end_forces, ranks add their shares to forces (n_vert x 3) that all have,
// if these are divided.
static void begin_forces(const NoliStage* stage, bool divided, double* force) {
  if (divided) {
    noli_ranks_begin_sum(stage->context, force, 3 * (int64_t)stage->problem->n_vert);
  }
}

static NoliStatus end_forces(const NoliStage* stage, bool divided, double* force) {
  return divided ? noli_ranks_sum(stage->context, force, 3 * (int64_t)stage->problem->n_vert)
                 : NOLI_OK;
}

NoliStatus noli_stage_add_damping_force(const NoliStage* stage, const double* v, double* force) {
  NoliStatus status = NOLI_OK;
  for (int32_t i = 0; i < stage->terms.n; i++) {
    const NoliTerm* term = &stage->terms.term[i];
    if (term->type->add_force == NULL) {
      continue;
    }
    begin_forces(stage, is_divided(term), force);
    term->type->add_force(term->self, v, force);
    NOLI_TRY(end_forces(stage, is_divided(term), force));
  }
done:
  return status;
}

void noli_stage_follow(const NoliStage* stage, double* x) {
  noli_followers_move(&stage->problem->followers, stage->problem->X, stage->n_threads, x);
}

void noli_stage_follow_vectors(const NoliStage* stage, double* u) {
  noli_followers_move_vectors(&stage->problem->followers, stage->n_threads, u);
}

void noli_stage_act_on_nodes(const NoliStage* stage, double* force) {
  const NoliFollowers* followers = &stage->problem->followers;
  noli_followers_add_forces(followers, stage->n_threads, force);
  for (int32_t f = 0; f < followers->n; f++) {
    memset(force + 3 * (int64_t)noli_followers_vertex(followers, f), 0, 3 * sizeof *force);
  }
}

NoliStatus noli_stage_prepare_terms(NoliStage* stage, const NoliPoint* at, int32_t n_terms) {
  return noli_system_prepare(&stage->system, at->term, stage->terms.on_vertices, n_terms);
}

bool noli_stage_divides_contacts(const NoliStage* stage) {
  return stage->problem->ranks.divides_contacts && stage->problem->contact.model->divides;
}

NoliStatus noli_stage_gather(const NoliStage* stage, double* value, int64_t n) {
  return noli_stage_divides_contacts(stage) ? noli_ranks_sum(stage->context, value, n) : NOLI_OK;
}

NoliStatus noli_stage_find_pairs(NoliStage* stage, const double* x_end, double reach,
                                 NoliCandidates* candidates) {
  const NoliBodyPairs pairs = noli_problem_kept_apart(stage->problem);
  const double* x = stage->here->x;
  return noli_stage_divides_contacts(stage)
             ? noli_broad_phase_find_own(stage->contact.broad_phase, x, x_end, reach, &pairs,
                                         stage->problem->ranks.home, candidates)
             : noli_broad_phase_find(stage->contact.broad_phase, x, x_end, reach, &pairs,
                                     candidates);
}

NoliStatus noli_stage_find_contacts(NoliStage* stage) {
  NoliStatus status = NOLI_OK;
  NoliWork before = noli_work(NOLI_WORK_CONTACTS);
  double start = noli_seconds();
  const NoliProblem* problem = stage->problem;
  if (problem->contact.model->searches || problem->sheets.gap > 0.0) {
    NOLI_TRY(noli_stage_find_pairs(stage, stage->here->x, problem->contact.model->reach(stage),
                                   &stage->here->candidates));
  }
  NOLI_TRY(problem->contact.model->update(stage, stage->here));
  noli_stage_list_contact_terms(stage);
  stage->record.timing.contacts += noli_seconds() - start;
done:
  noli_work(before);
  return status;
}

NoliStatus noli_stage_trial_contacts(NoliStage* stage) {
  double start = noli_seconds();
  NoliWork before = noli_work(NOLI_WORK_CONTACTS);
  NoliStatus status = stage->problem->contact.model->update(stage, stage->trial);
  noli_work(before);
  stage->record.timing.contacts += noli_seconds() - start;
  return status;
}

NoliStatus noli_stage_audit(NoliStage* stage, const double* x) {
  NoliStatus status = stage->observer.audit != NULL
                          ? stage->observer.audit(stage->observer.audit_user, x)
                          : NOLI_OK;
  if (status == NOLI_ERROR_AUDIT) {
    char message[sizeof stage->context->message];
    memcpy(message, stage->context->message, sizeof message);
    status = noli_fail(stage->context, NOLI_ERROR_AUDIT, "iteration %lld of the step: %s",
                       (long long)stage->record.newton.count + 1, message);
  }
  return status;
}

NoliStatus noli_stage_accept(NoliStage* stage) {
  NoliPoint* before = stage->here;
  stage->here = stage->trial;
  stage->trial = before;
  noli_friction_end_reset(stage->work.friction_end);
  noli_stage_track_coordinates(stage);
  noli_stage_list_terms(stage);
  noli_stage_list_contact_terms(stage);
  return stage->problem->contact.model->has_targets ? NOLI_OK
                                                    : noli_stage_audit(stage, stage->here->x);
}

void noli_stage_keep_last(NoliStage* stage) {
  memcpy(stage->search.last, stage->trial->x, 3 * sizeof(double) * (size_t)stage->problem->n_vert);
  stage->search.knows_last = true;
  noli_stage_list_terms(stage);
}

void noli_stage_clear_last(NoliStage* stage) {
  stage->search.knows_last = false;
  noli_stage_list_terms(stage);
}

NoliStatus noli_stage_keep_contacts(NoliStage* stage, double alpha, bool* joined) {
  NoliStatus status = NOLI_OK;
  const NoliContactModel* contact = stage->problem->contact.model;
  *joined = false;
  if (contact->smooth == NULL) {
    return NOLI_OK;
  }
  NOLI_TRY(contact->smooth(stage, alpha < JUMP_ALPHA, joined));
  if (*joined) {
    noli_stage_list_contact_terms(stage);
    NOLI_TRY(noli_stage_energy(stage));
  }
done:
  return status;
}

int32_t noli_min_iterations(const NoliStage* stage, double speed) {
  const NoliProblem* problem = stage->problem;
  if (problem->solver.min_iterations > 0) {
    return problem->solver.min_iterations;
  }
  int64_t contacts = problem->contact.model->count_near(stage);
  bool has_friction = problem->friction.acts && (contacts > 0 || stage->friction.set.n_all > 0);
  if (has_friction && speed >= FRICTION_RESOLVED * problem->friction.speed_scale) {
    return LEAST_WITH_FRICTION;
  }
  // a repeated solve starts at the solution with other normal forces
  return has_friction && stage->friction.iteration > 0 ? LEAST_AGAIN : LEAST;
}

int64_t noli_stage_contact_count(const NoliStage* stage) {
  return stage->problem->contact.model->count(stage);
}

double noli_stage_min_distance(const NoliStage* stage) {
  return stage->problem->contact.model->min_distance(stage);
}

// Adds contact forces on vertices divided by `scale`, those of all ranks.
static NoliStatus add_contact_forces(const NoliStage* stage, double scale, double* force) {
  NoliStatus status = NOLI_OK;
  bool divided = noli_stage_divides_contacts(stage);
  begin_forces(stage, divided, force);
  NOLI_TRY(stage->problem->contact.model->forces(stage, scale, force));
  NOLI_TRY(end_forces(stage, divided, force));
done:
  return status;
}

NoliStatus noli_stage_add_contact_forces(const NoliStage* stage, double* force) {
  return add_contact_forces(stage, stage->time.h_e * stage->time.h_e, force);
}

NoliStatus noli_stage_contact_forces(const NoliStage* stage, double* force) {
  NoliStatus status = add_contact_forces(stage, stage->time.h_e * stage->time.h_e, force);
  noli_stage_act_on_nodes(stage, force);
  return status;
}

NoliStatus noli_stage_pair_forces(const NoliStage* stage, NoliPairForces* pairs) {
  NoliStatus status = NOLI_OK;
  double scale = stage->time.h_e * stage->time.h_e;
  const NoliContactModel* contact = stage->problem->contact.model;
  NoliAdhesion adhesion = noli_stage_adhesion(stage);
  const int32_t* home = noli_stage_divides_contacts(stage) ? stage->problem->ranks.home : NULL;
  NOLI_TRY(contact->pair_forces(stage, scale, pairs));
  NOLI_TRY(noli_adhesion_pair_forces(&adhesion, stage->context, stage->here->x, home, pairs));
  NOLI_TRY(noli_friction_pair_forces(&stage->friction.law, stage->context, stage->here->x, scale,
                                     pairs));
  if (stage->problem->friction.implicit) {
    NOLI_TRY(contact->friction_pair_forces(stage, scale, pairs));
  }
  if (noli_stage_divides_contacts(stage)) {
    NOLI_TRY(noli_pair_forces_gather(pairs, stage->context));
  }
done:
  return status;
}

void noli_stage_drop_pressure(NoliStage* stage) {
  if (stage->problem->pressed.flat.n > 0) {
    memset(stage->loads.pressure, 0,
           (size_t)stage->problem->pressed.flat.n * sizeof *stage->loads.pressure);
  }
  for (int32_t k = 0; k < stage->problem->pressed.n_curved; k++) {
    memset(stage->loads.curved[k].value, 0, (size_t)curved_values(stage, k) * sizeof(double));
  }
}

NoliCurvedPressure noli_stage_curved_pressure(const NoliStage* stage, int32_t k) {
  return (NoliCurvedPressure){.faces = stage->problem->pressed.curved[k],
                              .value = stage->loads.curved[k].value,
                              .origin = stage->loads.curved[k].origin,
                              .scale = 1.0};
}

void noli_stage_drop_forces(NoliStage* stage) {
  memset(stage->loads.force, 0, (size_t)stage->problem->n_vert * 3 * sizeof *stage->loads.force);
  noli_stage_drop_pressure(stage);
  noli_friction_set_clear(&stage->friction.set);
  noli_stage_list_terms(stage);
}

NoliStatus noli_stage_lag_friction(NoliStage* stage) {
  const NoliProblem* problem = stage->problem;
  noli_friction_end_reset(stage->work.friction_end);
  if (problem->friction.implicit && !stage->friction.lags_all) {
    noli_friction_set_clear(&stage->friction.set);
    noli_stage_list_terms(stage);
    return NOLI_OK;
  }
  NoliWork before = noli_work(NOLI_WORK_FRICTION);
  NoliStatus status = noli_stage_find_friction(stage, &stage->friction.set);
  noli_work(before);
  noli_stage_list_terms(stage);
  return status;
}

NoliStatus noli_stage_find_friction(NoliStage* stage, NoliFrictionSet* set) {
  NoliStatus status = NOLI_OK;
  const NoliProblem* problem = stage->problem;
  const NoliContactPairs* pairs = &problem->contact.pairs;
  const double* x = stage->here->x;
  NOLI_TRY(problem->contact.model->lag_friction(stage, set));
  if (stage->adhesion.bonds.bond.count > 0) {
    NoliAdhesion adhesion = noli_stage_adhesion(stage);
    NOLI_TRY(noli_adhesion_friction(&adhesion, stage->context, pairs, x, problem->ranks.home, set));
  }
  noli_friction_set_directions(set, pairs, &stage->friction.turns, problem->X, x);
  if (problem->friction.sticks) {
    noli_stick_attach(&stage->friction.stick, x, set);
  }
done:
  return status;
}

NoliStatus noli_stage_collect_slips(NoliStage* stage, const double* x, NoliStickList* slips) {
  NoliStatus status = NOLI_OK;
  NoliFriction friction = stage->friction.law;
  bool implicit = stage->problem->friction.implicit && !stage->friction.lags_all;
  double scale = stage->time.h_e * stage->time.h_e;
  slips->count = 0;
  if (!stage->problem->friction.sticks) {
    return NOLI_OK;
  }

  // implicit friction has no set
  if (implicit) {
    friction.set = &stage->friction.end;
    NOLI_TRY(noli_stage_find_friction(stage, &stage->friction.end));
  }
  NoliStatus own = noli_stick_collect(&stage->friction.stick, stage->context, &friction, x, scale,
                                      implicit || stage->friction.late, slips);
  if (friction.set->divided) {
    NOLI_TRY(noli_ranks_join(stage->context, own));
    NOLI_TRY(noli_stick_gather(stage->context, slips));
  } else {
    NOLI_TRY(own);
  }
  noli_stick_sort(slips);
done:
  return status;
}

NoliStatus noli_stage_find_slips(NoliStage* stage) {
  return noli_stage_collect_slips(stage, stage->here->x, &stage->friction.slips);
}

NoliStatus noli_stage_lag_all_friction(NoliStage* stage, bool lags_all) {
  stage->friction.lags_all = lags_all;
  noli_stage_list_contact_terms(stage);
  return noli_stage_lag_friction(stage);
}

NoliStatus noli_stage_friction_forces(const NoliStage* stage, double* force) {
  NoliStatus status = NOLI_OK;
  double scale = stage->time.h_e * stage->time.h_e;
  bool divided = noli_stage_divides_contacts(stage);
  begin_forces(stage, divided, force);
  noli_friction_forces(&stage->friction.law, stage->here->x, scale, force);
  if (stage->problem->friction.implicit) {
    stage->problem->contact.model->friction_forces(stage, scale, force);
  }
  NOLI_TRY(end_forces(stage, divided, force));
  noli_stage_act_on_nodes(stage, force);
done:
  return status;
}

NoliStatus noli_stage_adapt_kappa(NoliStage* stage, const NoliNewtonStat* stat) {
  NoliStatus status = NOLI_OK;
  const NoliProblem* problem = stage->problem;
  if (problem->contact.fixed_stiffness > 0.0 || problem->contact.model->adapt_stiffness == NULL) {
    return NOLI_OK;
  }
  bool blocked = stat->alpha_ccd < BLOCKED * stat->alpha_inversion;
  double kappa;
  NOLI_TRY(problem->contact.model->adapt_stiffness(stage, blocked ? stat->alpha : 1.0, &kappa));
  if (kappa != stage->contact.kappa) {
    noli_stage_set_kappa(stage, kappa);
  }
done:
  return status;
}

void noli_stage_set_kappa(NoliStage* stage, double kappa) {
  // contact energies are proportional to kappa
  double ratio = stage->contact.kappa > 0.0 ? kappa / stage->contact.kappa : 0.0;
  for (int32_t i = 0; i < stage->terms.n; i++) {
    if (noli_stage_has(stage, i, NOLI_ROLE_CONTACT)) {
      stage->here->energy[i].sum *= ratio;
    }
  }
  stage->contact.kappa = kappa;
  noli_stage_list_contact_terms(stage);
}

NoliStatus noli_stage_stiffen(NoliStage* stage, bool* stiffer) {
  const NoliContactModel* contact = stage->problem->contact.model;
  *stiffer = false;
  return contact->stiffen != NULL ? contact->stiffen(stage, stiffer) : NOLI_OK;
}

double noli_stage_step_speed(const NoliStage* stage) {
  double largest = 0.0;
  for (int64_t i = 0; i < stage->problem->n_vert; i++) {
    double sqr = noli_norm_sqr3(noli_load3(stage->search.step + 3 * i));
    largest = !(sqr <= largest) ? sqr : largest;
    if (isnan(sqr)) {
      break;
    }
  }
  return sqrt(largest) / stage->step.h;
}

double noli_stage_stiffness_over_mass(const NoliStage* stage) {
  // a power of two, so that bits do not depend on units
  int exponent;
  (void)frexp(stage->time.h_e / stage->problem->inertia.static_time, &exponent);
  return exponent > 1 ? ldexp(1.0, 2 * (exponent - 1)) : 1.0;
}

NoliStatus noli_stage_initial_kappa(NoliStage* stage) {
  const NoliContactModel* contact = stage->problem->contact.model;
  return contact->begin_stiffness != NULL ? contact->begin_stiffness(stage) : NOLI_OK;
}

NoliStatus noli_stage_kappa_from_forces(NoliStage* stage, const NoliStiffness* bounds) {
  NoliStatus status = NOLI_OK;
  const NoliProblem* problem = stage->problem;
  if (problem->contact.fixed_stiffness > 0.0) {
    noli_stage_set_kappa(stage,
                         problem->contact.fixed_stiffness * stage->time.h_e * stage->time.h_e);
    return NOLI_OK;
  }
  // implicit friction of contacts that stick balances a part of the barrier where normals differ
  double* friction = stage->search.rounding;
  bool sticks = problem->friction.sticks && problem->friction.implicit && !stage->friction.lags_all;
  if (sticks) {
    memset(friction, 0, (size_t)problem->n_vert * 3 * sizeof *friction);
    NOLI_TRY(noli_stage_friction_forces(stage, friction));
  }

  // gradients of the barrier with kappa = 1 and of all other terms
  double* barrier = stage->search.trial_gradient;
  memset(barrier, 0, (size_t)problem->n_vert * 3 * sizeof *barrier);
  noli_stage_set_kappa(stage, 1.0);
  NOLI_TRY(add_contact_forces(stage, -1.0, barrier));
  noli_stage_act_on_nodes(stage, barrier);
  noli_system_mask(&stage->system, barrier);
  NOLI_TRY(noli_stage_gradient_without_contact(stage));
  for (int64_t i = 0; sticks && i < 3 * (int64_t)problem->n_vert; i++) {
    stage->search.gradient[i] -= stage->time.h_e * stage->time.h_e * friction[i];
  }
  noli_stage_set_kappa(stage, noli_stiffness_initial(bounds, problem->n_vert, barrier,
                                                     stage->search.gradient, stage->system.dof));
done:
  return status;
}

void noli_stage_begin_step(NoliStage* stage) {
  NoliStageRecord* record = &stage->record;
  int64_t capacity = record->newton.capacity;
  NoliNewtonStat* newton = record->newton.data;
  *record =
      (NoliStageRecord){.blocker = {1.0, NOLI_NULL_INDEX, NOLI_NULL_INDEX, false, NOLI_NULL_INDEX},
                        .blocking = {NOLI_NULL_INDEX, NOLI_NULL_INDEX},
                        .imbalance = {.body = NOLI_NULL_INDEX}};
  record->newton.data = newton;
  record->newton.capacity = capacity;
  noli_directions_begin(stage->work.directions);
}

NoliStatus noli_stage_record(NoliStage* stage, const NoliNewtonStat* stat) {
  NoliStatus status = NOLI_OK;
  NOLI_PUSH(stage->context, &stage->record.newton, *stat);
  noli_step_limit_add(stage->record.limit, stat, stage->record.blocker, stage->record.blocking);
  if (stage->observer.watch != NULL) {
    NOLI_TRY(stage->observer.watch(stage->observer.watch_user, stage));
  }
done:
  return status;
}
