// The types of terms and their data in the stage.
#include "fem/own_stencils.h"
#include "fem/point_terms.h"
#include "math/vec3.h"
#include "solve/bonds.h"
#include "solve/stage.h"

static double energy_scale(const NoliStage* stage) {
  return stage->time.h_e * stage->time.h_e;
}

// Scale of energies that depend on velocities v = (x - x_hat) / h_v.
static double velocity_scale(const NoliStage* stage) {
  return stage->time.h_e * stage->time.h_e / stage->time.h_v;
}

static NoliEnergyTerm if_inertia(const NoliStage* stage, NoliEnergyTerm term) {
  term.n_stencil = stage->time.inertia ? term.n_stencil : 0;
  return term;
}

// ---- lumped masses ------------------------------------------------------------------------------

static NoliEnergyTerm list_inertia(const NoliStage* stage, void* self, const NoliPoint* at) {
  (void)at;
  const NoliProblem* problem = stage->problem;
  NoliInertia* data = self;
  *data = (NoliInertia){.n = problem->inertia.n_own_lumped,
                        .node = problem->inertia.own_lumped,
                        .mass = problem->inertia.mass,
                        .x_tilde = stage->time.x_tilde,
                        .scale = 1.0,
                        .divided = problem->ranks.in_parts};
  return if_inertia(stage, noli_inertia_term(data));
}

static NoliEnergyTerm list_drag(const NoliStage* stage, void* self, const NoliPoint* at) {
  (void)at;
  const NoliProblem* problem = stage->problem;
  NoliInertia* data = self;
  *data = (NoliInertia){.n = problem->inertia.n_drag,
                        .node = problem->inertia.drag_vert,
                        .mass = problem->inertia.drag,
                        .x_tilde = stage->time.x_hat,
                        .scale = velocity_scale(stage),
                        .divided = problem->ranks.in_parts};
  return if_inertia(stage, noli_inertia_term(data));
}

static bool inertia_is_divided(const void* self) {
  return ((const NoliInertia*)self)->divided;
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

// ---- blocks of elements -------------------------------------------------------------------------

typedef struct BlockTerm {
  NoliBlockEnergy energy;
  double* stiffness; // of the step, for damped elements
} BlockTerm;

static bool is_divided(const void* self) {
  return ((const BlockTerm*)self)->energy.block->divided;
}

// Whether a block has terms of a part.
static bool has_part(const NoliBlock* block, NoliBlockPart part) {
  return part == NOLI_PART_ELEMENTS || block->type->bending != NULL;
}

static int32_t count_elements(const NoliProblem* problem) {
  return problem->n_block;
}

static int32_t count_bending(const NoliProblem* problem) {
  int32_t n = 0;
  for (int32_t i = 0; i < problem->n_block; i++) {
    n += has_part(&problem->block[i], NOLI_PART_BENDING) ? 1 : 0;
  }
  return n;
}

// Assigns the term to block `index` of those with the part.
static void set_block(const NoliStage* stage, NoliBlockPart part, int32_t index, BlockTerm* term) {
  const NoliBlock* block = stage->problem->block;
  for (int32_t left = index; left > 0 || !has_part(block, part); block++) {
    left -= has_part(block, part) ? 1 : 0;
  }
  term->energy.block = block;
  term->energy.part = part;
}

static NoliStatus create_block_term(NoliStage* stage, void* self, int32_t index) {
  set_block(stage, NOLI_PART_ELEMENTS, index, self);
  return NOLI_OK;
}

static NoliStatus create_bending(NoliStage* stage, void* self, int32_t index) {
  set_block(stage, NOLI_PART_BENDING, index, self);
  return NOLI_OK;
}

static NoliEnergyTerm list_block_inertia(const NoliStage* stage, void* self, const NoliPoint* at) {
  (void)at;
  NoliBlockEnergy* energy = &((BlockTerm*)self)->energy;
  energy->reference = stage->time.x_tilde;
  energy->scale = 1.0;
  return if_inertia(stage, noli_own_stencils_of(energy, noli_block_inertia_term(energy)));
}

static NoliEnergyTerm list_elasticity(const NoliStage* stage, void* self, const NoliPoint* at) {
  (void)at;
  NoliBlockEnergy* energy = &((BlockTerm*)self)->energy;
  energy->scale = energy_scale(stage);
  energy->share = &stage->search.share;
  energy->last = stage->search.knows_last ? stage->search.last : NULL;
  return noli_own_stencils_of(energy, noli_block_elasticity_term(energy));
}

static NoliEnergyTerm list_block_drag(const NoliStage* stage, void* self, const NoliPoint* at) {
  (void)at;
  NoliBlockEnergy* energy = &((BlockTerm*)self)->energy;
  energy->reference = stage->time.x_hat;
  energy->scale = energy->block->mass_damping * velocity_scale(stage);
  NoliEnergyTerm term =
      if_inertia(stage, noli_own_stencils_of(energy, noli_block_inertia_term(energy)));
  term.n_stencil = energy->block->mass_damping > 0.0 ? term.n_stencil : 0;
  return term;
}

static double block_drag_loss(const void* self, const double* x0, const double* x1,
                              int32_t n_threads) {
  const NoliBlock* block = ((const BlockTerm*)self)->energy.block;
  return block->mass_damping > 0.0
             ? block->mass_damping * block->type->mass_norm_sqr(block, x1, x0, n_threads)
             : 0.0;
}

static NoliStatus allocate_stiffness(NoliStage* stage, BlockTerm* term) {
  NoliStatus status = NOLI_OK;
  const NoliBlock* block = term->energy.block;
  NOLI_NEW_ZERO(stage->context, term->stiffness,
                block->type->damping->size(block, term->energy.part));
done:
  return status;
}

static NoliStatus create_damping(NoliStage* stage, void* self, int32_t index) {
  set_block(stage, NOLI_PART_ELEMENTS, index, self);
  return allocate_stiffness(stage, self);
}

static NoliStatus create_bending_damping(NoliStage* stage, void* self, int32_t index) {
  set_block(stage, NOLI_PART_BENDING, index, self);
  return allocate_stiffness(stage, self);
}

static void destroy_damping(NoliContext* context, void* self) {
  noli_free(context, ((BlockTerm*)self)->stiffness);
}

static NoliEnergyTerm list_damping(const NoliStage* stage, void* self, const NoliPoint* at) {
  (void)at;
  BlockTerm* term = self;
  term->energy.stiffness = term->stiffness;
  term->energy.reference = stage->time.x_hat;
  term->energy.scale = velocity_scale(stage);
  NoliBlockEnergy* energy = &term->energy;
  return if_inertia(
      stage, noli_own_stencils_of_damping(energy, energy->block->type->damping->term(energy)));
}

static void set_stiffness(void* self, const double* x, int32_t n_threads) {
  BlockTerm* term = self;
  const NoliBlock* block = term->energy.block;
  block->type->damping->set(block, term->energy.part, x, n_threads, term->stiffness);
}

static void add_damping_force(const void* self, const double* v, double* force) {
  const BlockTerm* term = self;
  const NoliBlock* block = term->energy.block;
  block->type->damping->add_force(block, term->energy.part, term->stiffness, v, force);
}

static double damping_loss(const void* self, const double* x0, const double* x1,
                           int32_t n_threads) {
  const BlockTerm* term = self;
  const NoliBlock* block = term->energy.block;
  return block->type->damping->loss(block, term->energy.part, term->stiffness, x0, x1, n_threads);
}

// ---- connections --------------------------------------------------------------------------------

// The index-th type of connections of a problem that has forces, or dampers; NULL: there are fewer.
static const NoliConnections* find_connections(const NoliProblem* problem, bool dampers,
                                               int32_t index) {
  for (int32_t kind = 0; kind < NOLI_CONNECTION_FORCES; kind++) {
    const NoliConnections* found = &problem->connection[kind];
    bool counts = found->forces != NULL && (!dampers || found->forces->dampers != NULL);
    if (counts && index-- == 0) {
      return found;
    }
  }
  return NULL;
}

static int32_t count_connections(const NoliProblem* problem) {
  int32_t n = 0;
  while (find_connections(problem, false, n) != NULL) {
    n++;
  }
  return n;
}

typedef struct ConnectionTerm {
  const NoliConnections* of;
  NoliConnectionEnergy energy;
} ConnectionTerm;

static NoliStatus create_connections(NoliStage* stage, void* self, int32_t index) {
  ((ConnectionTerm*)self)->of = find_connections(stage->problem, false, index);
  return NOLI_OK;
}

static NoliEnergyTerm list_connections(const NoliStage* stage, void* self, const NoliPoint* at) {
  (void)at;
  ConnectionTerm* term = self;
  double share = term->of->forces->eases ? stage->search.share : 1.0;
  term->energy =
      (NoliConnectionEnergy){.data = term->of->data, .scale = share * energy_scale(stage)};
  return term->of->forces->term(&term->energy);
}

static int32_t count_dampers(const NoliProblem* problem) {
  int32_t n = 0;
  while (find_connections(problem, true, n) != NULL) {
    n++;
  }
  return n;
}

typedef struct DamperTerm {
  const NoliConnections* of;
  const NoliConnectionDampers* dampers;
  NoliConnectionDamping damping;
  double* lagged; // of the step
} DamperTerm;

static NoliStatus create_dampers(NoliStage* stage, void* self, int32_t index) {
  NoliStatus status = NOLI_OK;
  DamperTerm* term = self;
  term->of = find_connections(stage->problem, true, index);
  term->dampers = term->of->forces->dampers;
  NOLI_NEW_ZERO(stage->context, term->lagged, term->dampers->n_lagged * term->of->n);
done:
  return status;
}

static void destroy_dampers(NoliContext* context, void* self) {
  noli_free(context, ((DamperTerm*)self)->lagged);
}

static NoliEnergyTerm list_dampers(const NoliStage* stage, void* self, const NoliPoint* at) {
  (void)at;
  DamperTerm* term = self;
  term->damping = (NoliConnectionDamping){.data = term->of->data,
                                          .lagged = term->lagged,
                                          .reference = stage->time.x_hat,
                                          .scale = velocity_scale(stage)};
  return if_inertia(stage, term->dampers->term(&term->damping));
}

static void lag_dampers(void* self, const double* x, int32_t n_threads) {
  (void)n_threads;
  const DamperTerm* term = self;
  term->dampers->lag(term->of->data, x, term->lagged);
}

static void add_damper_force(const void* self, const double* v, double* force) {
  const DamperTerm* term = self;
  term->dampers->add_force(term->of->data, term->lagged, v, force);
}

static double damper_loss(const void* self, const double* x0, const double* x1, int32_t n_threads) {
  (void)n_threads;
  const DamperTerm* term = self;
  return term->dampers->loss(term->of->data, term->lagged, x0, x1);
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
  *data = (NoliLoad){.n = stage->problem->inertia.n_vert,
                     .node = stage->problem->inertia.vert,
                     .force = stage->loads.force,
                     .reference = stage->time.x_hat,
                     .scale = energy_scale(stage)};
  return noli_load_term(data);
}

typedef struct PressureTerm {
  NoliPressure data;
  double magnitude;
} PressureTerm;

static NoliEnergyTerm list_pressure(const NoliStage* stage, void* self, const NoliPoint* at) {
  (void)at;
  PressureTerm* term = self;
  term->data = (NoliPressure){.faces = &stage->problem->pressed.flat,
                              .value = stage->loads.pressure,
                              .origin = stage->loads.pressure_origin,
                              .scale = energy_scale(stage),
                              .magnitude = &term->magnitude};
  return noli_pressure_term(&term->data);
}

typedef struct CurvedPressureTerm {
  NoliCurvedPressure data;
  double magnitude;
  int32_t index;
} CurvedPressureTerm;

static int32_t count_curved_pressures(const NoliProblem* problem) {
  return problem->pressed.n_curved;
}

static NoliStatus create_curved_pressure(NoliStage* stage, void* self, int32_t index) {
  (void)stage;
  ((CurvedPressureTerm*)self)->index = index;
  return NOLI_OK;
}

static NoliEnergyTerm list_curved_pressure(const NoliStage* stage, void* self,
                                           const NoliPoint* at) {
  (void)at;
  CurvedPressureTerm* term = self;
  term->data = noli_stage_curved_pressure(stage, term->index);
  term->data.scale = energy_scale(stage);
  term->data.magnitude = &term->magnitude;
  return noli_curved_pressure_term(&term->data);
}

static double curved_pressure_magnitude(const void* self) {
  return ((const CurvedPressureTerm*)self)->magnitude;
}

static double pressure_magnitude(const void* self) {
  return ((const PressureTerm*)self)->magnitude;
}

static NoliEnergyTerm list_target_springs(const NoliStage* stage, void* self, const NoliPoint* at) {
  (void)at;
  const NoliPrescribed* prescribed = &stage->prescribed;
  NoliTargetSprings* data = self;
  *data = (NoliTargetSprings){.n = prescribed->springs.hold ? prescribed->n : 0,
                              .node = prescribed->node,
                              .mass = stage->problem->inertia.mass,
                              .stiffness = prescribed->springs.stiffness,
                              .axes = prescribed->axes,
                              .lambda = prescribed->springs.multiplier,
                              .target = prescribed->target};
  return noli_target_springs_term(data);
}

static NoliEnergyTerm list_adhesion(const NoliStage* stage, void* self, const NoliPoint* at) {
  (void)at;
  NoliAdhesion* data = self;
  *data = noli_stage_adhesion(stage);
  return noli_adhesion_term(data);
}

static NoliEnergyTerm terms_list_friction(const NoliStage* stage, void* self, const NoliPoint* at) {
  (void)self, (void)at;
  return noli_friction_term(&stage->friction.law);
}

// Contact models list their own terms.
static int32_t count_contact(const NoliProblem* problem) {
  (void)problem;
  return NOLI_CONTACT_TERMS;
}

// ---- table --------------------------------------------------------------------------------------

const NoliTermType noli_term_inertia = {.name = "inertia",
                                        .role = NOLI_ROLE_INERTIA,
                                        .size = sizeof(NoliInertia),
                                        .list = list_inertia};
const NoliTermType noli_term_block_inertia = {.name = "inertia of elements",
                                              .role = NOLI_ROLE_INERTIA,
                                              .size = sizeof(BlockTerm),
                                              .count = count_elements,
                                              .create = create_block_term,
                                              .list = list_block_inertia};
const NoliTermType noli_term_elasticity = {.name = "elasticity",
                                           .role = NOLI_ROLE_ELASTIC,
                                           .size = sizeof(BlockTerm),
                                           .count = count_elements,
                                           .create = create_block_term,
                                           .list = list_elasticity};
const NoliTermType noli_term_damping = {.name = "damping",
                                        .role = NOLI_ROLE_DAMPING,
                                        .size = sizeof(BlockTerm),
                                        .count = count_elements,
                                        .create = create_damping,
                                        .destroy = destroy_damping,
                                        .list = list_damping,
                                        .divided = is_divided,
                                        .set_stiffness = set_stiffness,
                                        .add_force = add_damping_force,
                                        .loss = damping_loss};
const NoliTermType noli_term_bending = {.name = "bending",
                                        .role = NOLI_ROLE_ELASTIC,
                                        .size = sizeof(BlockTerm),
                                        .count = count_bending,
                                        .create = create_bending,
                                        .list = list_elasticity};
const NoliTermType noli_term_bending_damping = {.name = "damping of bending",
                                                .role = NOLI_ROLE_DAMPING,
                                                .size = sizeof(BlockTerm),
                                                .count = count_bending,
                                                .create = create_bending_damping,
                                                .destroy = destroy_damping,
                                                .list = list_damping,
                                                .set_stiffness = set_stiffness,
                                                .add_force = add_damping_force,
                                                .loss = damping_loss};
const NoliTermType noli_term_connections = {.name = "connections",
                                            .role = NOLI_ROLE_ELASTIC,
                                            .on_vertices = true,
                                            .size = sizeof(ConnectionTerm),
                                            .count = count_connections,
                                            .create = create_connections,
                                            .list = list_connections};
const NoliTermType noli_term_dampers = {.name = "dampers",
                                        .role = NOLI_ROLE_DAMPING,
                                        .on_vertices = true,
                                        .size = sizeof(DamperTerm),
                                        .count = count_dampers,
                                        .create = create_dampers,
                                        .destroy = destroy_dampers,
                                        .list = list_dampers,
                                        .set_stiffness = lag_dampers,
                                        .add_force = add_damper_force,
                                        .loss = damper_loss};
const NoliTermType noli_term_volume = {.name = "volume",
                                       .role = NOLI_ROLE_VOLUME,
                                       .on_vertices = true,
                                       .size = sizeof(NoliVolume),
                                       .create = create_volume,
                                       .destroy = destroy_volume,
                                       .list = list_volume,
                                       .magnitude = volume_magnitude,
                                       .rank = volume_rank,
                                       .add_rank_one = add_volume_rank_one};
const NoliTermType noli_term_drag = {.name = "mass damping",
                                     .role = NOLI_ROLE_DRAG,
                                     .size = sizeof(NoliInertia),
                                     .list = list_drag,
                                     .divided = inertia_is_divided,
                                     .loss = drag_loss};
const NoliTermType noli_term_block_drag = {.name = "mass damping of elements",
                                           .role = NOLI_ROLE_DRAG,
                                           .size = sizeof(BlockTerm),
                                           .count = count_elements,
                                           .create = create_block_term,
                                           .list = list_block_drag,
                                           .loss = block_drag_loss};
const NoliTermType noli_term_load = {
    .name = "load", .role = NOLI_ROLE_LOAD, .size = sizeof(NoliLoad), .list = list_load};
const NoliTermType noli_term_pressure = {.name = "pressure",
                                         .role = NOLI_ROLE_LOAD,
                                         .on_vertices = true,
                                         .size = sizeof(PressureTerm),
                                         .list = list_pressure,
                                         .magnitude = pressure_magnitude};
const NoliTermType noli_term_curved_pressure = {.name = "pressure on curved faces",
                                                .role = NOLI_ROLE_LOAD,
                                                .size = sizeof(CurvedPressureTerm),
                                                .count = count_curved_pressures,
                                                .create = create_curved_pressure,
                                                .list = list_curved_pressure,
                                                .magnitude = curved_pressure_magnitude};
const NoliTermType noli_term_target_springs = {.name = "target springs",
                                               .role = NOLI_ROLE_TARGET_SPRINGS,
                                               .size = sizeof(NoliTargetSprings),
                                               .list = list_target_springs};
const NoliTermType noli_term_adhesion = {.name = "adhesion",
                                         .role = NOLI_ROLE_ADHESION,
                                         .on_vertices = true,
                                         .size = sizeof(NoliAdhesion),
                                         .list = list_adhesion};
const NoliTermType noli_term_friction = {.name = "friction",
                                         .role = NOLI_ROLE_FRICTION,
                                         .on_vertices = true,
                                         .list = terms_list_friction};
const NoliTermType noli_term_contact = {
    .name = "contact", .role = NOLI_ROLE_CONTACT, .on_vertices = true, .count = count_contact};
const NoliTermType noli_term_implicit_friction = {.name = "implicit friction",
                                                  .role = NOLI_ROLE_IMPLICIT_FRICTION,
                                                  .on_vertices = true,
                                                  .count = count_contact};

bool noli_term_is_in_joints(const NoliTerm* term) {
  const ConnectionTerm* connections = term->self;
  return term->type->in_joints ||
         (term->type == &noli_term_connections && connections->of->forces->in_joints);
}

const NoliTermType* const* noli_term_types(int32_t* n) {
#define NOLI_TERM_ENTRY(name) &noli_term_##name,
  static const NoliTermType* const types[] = {NOLI_TERM_TYPES(NOLI_TERM_ENTRY)};
#undef NOLI_TERM_ENTRY
  *n = (int32_t)(sizeof types / sizeof types[0]);
  return types;
}
