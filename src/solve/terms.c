// The types of terms: what each reads of the stage.
#include "fem/element_damping.h"
#include "fem/point_terms.h"
#include "math/vec3.h"
#include "solve/stage.h"

static double energy_scale(const NoliStage* stage) {
  return stage->time.h_e * stage->time.h_e;
}

// Of what is proportional to velocities v = (x - x_hat) / h_v.
static double velocity_scale(const NoliStage* stage) {
  return stage->time.h_e * stage->time.h_e / stage->time.h_v;
}

static NoliEnergyTerm if_inertia(const NoliStage* stage, NoliEnergyTerm term) {
  term.n_stencil = stage->time.inertia ? term.n_stencil : 0;
  return term;
}

// ---- linear tetrahedra --------------------------------------------------------------------------

static NoliEnergyTerm list_inertia(const NoliStage* stage, void* self, const NoliPoint* at) {
  (void)at;
  const NoliProblem* problem = stage->problem;
  NoliInertia* data = self;
  *data = (NoliInertia){.n = problem->n_lumped,
                        .node = problem->lumped,
                        .mass = problem->mass,
                        .x_tilde = stage->time.x_tilde,
                        .scale = 1.0};
  return if_inertia(stage, noli_inertia_term(data));
}

static NoliEnergyTerm list_elasticity(const NoliStage* stage, void* self, const NoliPoint* at) {
  (void)at;
  NoliElasticity* data = self;
  *data = stage->problem->elasticity;
  data->scale = energy_scale(stage);
  return noli_elasticity_term(data);
}

static NoliEnergyTerm list_drag(const NoliStage* stage, void* self, const NoliPoint* at) {
  (void)at;
  const NoliProblem* problem = stage->problem;
  NoliInertia* data = self;
  *data = (NoliInertia){.n = problem->n_drag,
                        .node = problem->drag_node,
                        .mass = problem->drag,
                        .x_tilde = stage->time.x_hat,
                        .scale = velocity_scale(stage)};
  return if_inertia(stage, noli_inertia_term(data));
}

static double drag_loss(const void* self, const double* x0, const double* x1, int32_t n_threads) {
  (void)n_threads;
  const NoliInertia* data = self;
  double loss = 0.0;
  for (int32_t i = 0; i < data->n; i++) {
    int64_t node = data->node[i];
    NoliVec3 dx = noli_sub3(noli_load3(x1 + 3 * node), noli_load3(x0 + 3 * node));
    loss += data->mass[node] * noli_norm_sqr3(dx);
  }
  return loss;
}

typedef struct Damping {
  NoliDamping data;
  double* stiffness; // of the step
} Damping;

static NoliStatus create_damping(NoliStage* stage, void* self, int32_t index) {
  (void)index;
  NoliStatus status = NOLI_OK;
  Damping* damping = self;
  const NoliDampedTets* damped = stage->problem->damped;
  damping->data.damped = damped;
  NOLI_NEW_ZERO(stage->context, damping->stiffness, 90 * (int64_t)noli_damping_count(damped));
done:
  return status;
}

static void destroy_damping(NoliContext* context, void* self) {
  noli_free(context, ((Damping*)self)->stiffness);
}

static NoliEnergyTerm list_damping(const NoliStage* stage, void* self, const NoliPoint* at) {
  (void)at;
  Damping* damping = self;
  damping->data = (NoliDamping){.damped = stage->problem->damped,
                                .stiffness = damping->stiffness,
                                .x_hat = stage->time.x_hat,
                                .scale = velocity_scale(stage)};
  return if_inertia(stage, noli_damping_term(&damping->data));
}

static void set_damping_stiffness(void* self, const double* x, int32_t n_threads) {
  Damping* damping = self;
  noli_damping_stiffness(damping->data.damped, x, n_threads, damping->stiffness);
}

static void add_damping_force(const void* self, const double* v, double* force) {
  const Damping* damping = self;
  noli_damping_add_force(damping->data.damped, damping->stiffness, v, force);
}

static double damping_loss(const void* self, const double* x0, const double* x1,
                           int32_t n_threads) {
  const Damping* damping = self;
  return noli_damping_loss(damping->data.damped, damping->stiffness, x0, x1, n_threads);
}

// ---- bodies of elements of any order ------------------------------------------------------------

// Of one body: the inertia or the elasticity.
typedef struct ElementTerm {
  const NoliElementBody* body;
  union {
    NoliElementInertia inertia;
    NoliElementElasticity elasticity;
  } data;
} ElementTerm;

static NoliStatus create_element_term(NoliStage* stage, void* self, int32_t index) {
  ((ElementTerm*)self)->body = &stage->problem->element_body[index];
  return NOLI_OK;
}

static NoliEnergyTerm list_element_inertia(const NoliStage* stage, void* self,
                                           const NoliPoint* at) {
  (void)at;
  ElementTerm* term = self;
  term->data.inertia = noli_element_body_inertia(term->body, stage->time.x_tilde, 1.0);
  return if_inertia(stage, noli_element_inertia_term(&term->data.inertia));
}

static NoliEnergyTerm list_element_elasticity(const NoliStage* stage, void* self,
                                              const NoliPoint* at) {
  (void)at;
  ElementTerm* term = self;
  term->data.elasticity = noli_element_body_elasticity(term->body, energy_scale(stage));
  return noli_element_elasticity_term(&term->data.elasticity);
}

typedef struct ElementDrag {
  const NoliElementBody* body;
  NoliElementInertia data;
  double* dx; // (n_vert x 3) scratch; NULL where there is no damping
} ElementDrag;

static NoliStatus create_element_drag(NoliStage* stage, void* self, int32_t index) {
  NoliStatus status = NOLI_OK;
  ElementDrag* drag = self;
  drag->body = &stage->problem->element_body[index];
  if (drag->body->mass_damping > 0.0) {
    NOLI_NEW_ZERO(stage->context, drag->dx, 3 * (int64_t)stage->problem->n_vert);
  }
done:
  return status;
}

static void destroy_element_drag(NoliContext* context, void* self) {
  noli_free(context, ((ElementDrag*)self)->dx);
}

static NoliEnergyTerm list_element_drag(const NoliStage* stage, void* self, const NoliPoint* at) {
  (void)at;
  ElementDrag* drag = self;
  double damping = drag->body->mass_damping;
  drag->data =
      noli_element_body_inertia(drag->body, stage->time.x_hat, damping * velocity_scale(stage));
  NoliEnergyTerm term = if_inertia(stage, noli_element_inertia_term(&drag->data));
  term.n_stencil = damping > 0.0 ? term.n_stencil : 0;
  return term;
}

static double element_drag_loss(const void* self, const double* x0, const double* x1,
                                int32_t n_threads) {
  const ElementDrag* drag = self;
  const NoliElementBody* body = drag->body;
  if (drag->dx == NULL) {
    return 0.0;
  }
  int64_t begin = 3 * (int64_t)body->first_node, end = begin + 3 * (int64_t)body->space.n_node;
  for (int64_t j = begin; j < end; j++) {
    drag->dx[j] = x1[j] - x0[j];
  }
  return body->mass_damping * noli_element_body_mass_product(body, drag->dx, drag->dx, n_threads);
}

typedef struct ElementDamping {
  NoliElementDamping data;
  double* stiffness; // of the step
} ElementDamping;

static NoliStatus create_element_damping(NoliStage* stage, void* self, int32_t index) {
  NoliStatus status = NOLI_OK;
  ElementDamping* damping = self;
  damping->data.body = &stage->problem->element_body[index];
  NOLI_NEW_ZERO(stage->context, damping->stiffness, noli_element_damping_size(damping->data.body));
done:
  return status;
}

static void destroy_element_damping(NoliContext* context, void* self) {
  noli_free(context, ((ElementDamping*)self)->stiffness);
}

static NoliEnergyTerm list_element_damping(const NoliStage* stage, void* self,
                                           const NoliPoint* at) {
  (void)at;
  ElementDamping* damping = self;
  damping->data.stiffness = damping->stiffness;
  damping->data.x_hat = stage->time.x_hat;
  damping->data.scale = velocity_scale(stage);
  return if_inertia(stage, noli_element_damping_term(&damping->data));
}

static void set_element_stiffness(void* self, const double* x, int32_t n_threads) {
  ElementDamping* damping = self;
  noli_element_damping_stiffness(damping->data.body, x, n_threads, damping->stiffness);
}

static void add_element_force(const void* self, const double* v, double* force) {
  const ElementDamping* damping = self;
  noli_element_damping_add_force(damping->data.body, damping->stiffness, v, force);
}

static double element_loss(const void* self, const double* x0, const double* x1,
                           int32_t n_threads) {
  const ElementDamping* damping = self;
  return noli_element_damping_loss(damping->data.body, damping->stiffness, x0, x1, n_threads);
}

// ---- regions, loads, prescribed nodes, friction -------------------------------------------------

static NoliStatus create_volume(NoliStage* stage, void* self, int32_t index) {
  (void)index;
  NoliStatus status = NOLI_OK;
  NoliVolume* data = self;
  NOLI_NEW_ZERO(stage->context, data->state, stage->problem->volumes.n_region);
done:
  return status;
}

static void destroy_volume(NoliContext* context, void* self) {
  noli_free(context, ((NoliVolume*)self)->state);
}

static NoliEnergyTerm list_volume(const NoliStage* stage, void* self, const NoliPoint* at) {
  (void)at;
  NoliVolume* data = self;
  *data = (NoliVolume){
      .regions = &stage->problem->volumes, .scale = energy_scale(stage), .state = data->state};
  return noli_volume_term(data);
}

static double volume_magnitude(const void* self) {
  return noli_volume_magnitude(self);
}

static int32_t volume_rank(const void* self) {
  return ((const NoliVolume*)self)->regions->n_region;
}

static double add_volume_rank_one(const void* self, int32_t region, const double* x,
                                  double* vector) {
  const NoliVolume* data = self;
  noli_volume_add_gradient(data->regions, region, x, vector);
  return data->scale * data->state[region].stiffness;
}

static NoliEnergyTerm list_load(const NoliStage* stage, void* self, const NoliPoint* at) {
  (void)at;
  NoliLoad* data = self;
  *data = (NoliLoad){.n = stage->problem->n_inertial,
                     .node = stage->problem->inertial,
                     .force = stage->load,
                     .reference = stage->time.x_hat,
                     .scale = energy_scale(stage)};
  return noli_load_term(data);
}

static NoliEnergyTerm list_springs(const NoliStage* stage, void* self, const NoliPoint* at) {
  (void)at;
  const NoliPrescribed* prescribed = &stage->prescribed;
  NoliSprings* data = self;
  *data = (NoliSprings){.n = prescribed->free ? prescribed->n : 0,
                        .node = prescribed->node,
                        .mass = stage->problem->mass,
                        .stiffness = prescribed->stiffness,
                        .axes = prescribed->axes,
                        .lambda = prescribed->multiplier,
                        .target = prescribed->target};
  return noli_springs_term(data);
}

static NoliEnergyTerm list_friction(const NoliStage* stage, void* self, const NoliPoint* at) {
  (void)self, (void)at;
  return noli_friction_term(&stage->friction);
}

// ---- table --------------------------------------------------------------------------------------

static const NoliTermType inertia = {.name = "inertia",
                                     .role = NOLI_ROLE_INERTIA,
                                     .size = sizeof(NoliInertia),
                                     .list = list_inertia};
static const NoliTermType element_inertia = {.name = "inertia of elements",
                                             .role = NOLI_ROLE_INERTIA,
                                             .size = sizeof(ElementTerm),
                                             .create = create_element_term,
                                             .list = list_element_inertia};
static const NoliTermType elasticity = {.name = "elasticity",
                                        .role = NOLI_ROLE_ELASTIC,
                                        .size = sizeof(NoliElasticity),
                                        .list = list_elasticity};
static const NoliTermType element_elasticity = {.name = "elasticity of elements",
                                                .role = NOLI_ROLE_ELASTIC,
                                                .size = sizeof(ElementTerm),
                                                .create = create_element_term,
                                                .list = list_element_elasticity};
static const NoliTermType damping = {.name = "damping",
                                     .role = NOLI_ROLE_DAMPING,
                                     .size = sizeof(Damping),
                                     .create = create_damping,
                                     .destroy = destroy_damping,
                                     .list = list_damping,
                                     .set_stiffness = set_damping_stiffness,
                                     .add_force = add_damping_force,
                                     .loss = damping_loss};
static const NoliTermType element_damping = {.name = "damping of elements",
                                             .role = NOLI_ROLE_DAMPING,
                                             .size = sizeof(ElementDamping),
                                             .create = create_element_damping,
                                             .destroy = destroy_element_damping,
                                             .list = list_element_damping,
                                             .set_stiffness = set_element_stiffness,
                                             .add_force = add_element_force,
                                             .loss = element_loss};
static const NoliTermType volume = {.name = "volume",
                                    .role = NOLI_ROLE_VOLUME,
                                    .on_vertices = true,
                                    .size = sizeof(NoliVolume),
                                    .create = create_volume,
                                    .destroy = destroy_volume,
                                    .list = list_volume,
                                    .magnitude = volume_magnitude,
                                    .rank = volume_rank,
                                    .add_rank_one = add_volume_rank_one};
static const NoliTermType drag = {.name = "mass damping",
                                  .role = NOLI_ROLE_DRAG,
                                  .size = sizeof(NoliInertia),
                                  .list = list_drag,
                                  .loss = drag_loss};
static const NoliTermType element_drag = {.name = "mass damping of elements",
                                          .role = NOLI_ROLE_DRAG,
                                          .size = sizeof(ElementDrag),
                                          .create = create_element_drag,
                                          .destroy = destroy_element_drag,
                                          .list = list_element_drag,
                                          .loss = element_drag_loss};
static const NoliTermType load = {
    .name = "load", .role = NOLI_ROLE_LOAD, .size = sizeof(NoliLoad), .list = list_load};
static const NoliTermType springs = {.name = "springs",
                                     .role = NOLI_ROLE_SPRINGS,
                                     .size = sizeof(NoliSprings),
                                     .list = list_springs};
static const NoliTermType friction = {
    .name = "friction", .role = NOLI_ROLE_FRICTION, .on_vertices = true, .list = list_friction};
static const NoliTermType contact = {
    .name = "contact", .role = NOLI_ROLE_CONTACT, .on_vertices = true};
static const NoliTermType implicit_friction = {
    .name = "implicit friction", .role = NOLI_ROLE_IMPLICIT_FRICTION, .on_vertices = true};

void noli_term_types(const NoliStage* stage, NoliTermCount types[NOLI_TERM_TYPES]) {
  int32_t n = stage->problem->n_element_body;
  const NoliTermCount all[NOLI_TERM_TYPES] = {{&inertia, 1},
                                              {&element_inertia, n},
                                              {&elasticity, 1},
                                              {&element_elasticity, n},
                                              {&damping, 1},
                                              {&element_damping, n},
                                              {&volume, 1},
                                              {&drag, 1},
                                              {&element_drag, n},
                                              {&load, 1},
                                              {&springs, 1},
                                              {&friction, 1},
                                              {&contact, NOLI_CONTACT_TERMS},
                                              {&implicit_friction, NOLI_CONTACT_TERMS}};
  for (int32_t i = 0; i < NOLI_TERM_TYPES; i++) {
    types[i] = all[i];
  }
}
