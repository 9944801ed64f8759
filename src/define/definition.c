#include "define/definition.h"

#include "base/definition_lists.h"
#include "base/sized.h"
#include "define/body_kind.h"
#include "define/choices.h"
#include "define/definition_check.h"
#include "math/vec3.h"
#include "solve/method.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// ---- defaults -----------------------------------------------------------------------------------

NoliMaterialDef noli_default_material_def(void) {
  return (NoliMaterialDef){.law = "neo_hookean", .young = 1e5, .poisson = 0.4, .density = 1000.0};
}

NoliProxyDef noli_default_proxy_def(void) {
  return (NoliProxyDef){.kind = "automatic"};
}

NoliAugmentedLagrangianDef noli_default_augmented_lagrangian_def(void) {
  return (NoliAugmentedLagrangianDef){
      .stiffness_ratio = 10.0, .decay = 0.9, .filter = true, .multipliers = true};
}

NoliImplicitNewtonDef noli_default_implicit_newton_def(void) {
  return (NoliImplicitNewtonDef){.linear = "automatic"};
}

NoliIncrementDef noli_default_increment_def(void) {
  return (NoliIncrementDef){.easy_iterations = 10, .hard_iterations = 30};
}

NoliGcpContactDef noli_default_geometric_def(void) {
  return (NoliGcpContactDef){.alpha = 0.5, .beta = 0.1};
}

void noli_sim_def_init(NoliSimDef* def, size_t size) {
  NoliSimDef own = {
      .gravity = {0.0, -9.80665, 0.0},
      .time_step = 0.01,
      .integrator = "backward_euler",
      .contact = true,
      .contact_model = "ipc",
      .gcp = noli_default_geometric_def(),
      .ccd = "additive",
      .friction_speed = {1e-3, NOLI_OF_BALL},
      .friction_method = "lagged",
      .friction_law = "stick",
      .friction_basis_derivatives = true,
      .friction_iterations = NOLI_FRICTION_AUTOMATIC,
      .tolerance = {1e-2, NOLI_OF_BALL},
      .max_iterations = 1000,
      .max_substeps = 16,
      .linear_solver = "auto",
      .linear_tolerance = 1e-4,
      .toi_tolerance = 1e-3,
      .augmented_lagrangian = noli_default_augmented_lagrangian_def(),
      .implicit_newton = noli_default_implicit_newton_def(),
      .audit = "off",
      .increments = noli_default_increment_def(),
  };
  noli_sized_default(def, size, &own, sizeof own);
}

void noli_body_def_init(NoliBodyDef* def, size_t size) {
  NoliBodyDef own = {
      .name = "body",
      .proxy = noli_default_proxy_def(),
      .material = noli_default_material_def(),
      .shell = {.bending = 1.0, .weft = 1.0},
      .rod = {.bending = 1.0},
      .self_contact = true,
      .order = 1,
  };
  noli_sized_default(def, size, &own, sizeof own);
}

void noli_half_space_def_init(NoliHalfSpaceDef* def, size_t size) {
  NoliHalfSpaceDef own = {.normal = {0.0, 1.0, 0.0}};
  noli_sized_default(def, size, &own, sizeof own);
}

void noli_motion_def_init(NoliMotionDef* def, size_t size) {
  NoliMotionDef own = {.t_begin = 0.0, .t_end = (double)INFINITY};
  noli_sized_default(def, size, &own, sizeof own);
}

void noli_force_def_init(NoliForceDef* def, size_t size) {
  NoliForceDef own = {.kind = "acceleration", .t_begin = 0.0, .t_end = (double)INFINITY};
  noli_sized_default(def, size, &own, sizeof own);
}

void noli_pair_def_init(NoliPairDef* def, size_t size) {
  NoliPairDef own = {.contact = true};
  noli_sized_default(def, size, &own, sizeof own);
}

void noli_volume_def_init(NoliVolumeDef* def, size_t size) {
  NoliVolumeDef own = {.region = "cavity", .model = "ideal_gas"};
  noli_sized_default(def, size, &own, sizeof own);
}

// ---- definitions of other sizes -----------------------------------------------------------------

// A definition with the lists that it owns, which `def` only shows. A definition for a program with
// other headers may be longer: it ends the struct.
typedef struct Made {
#define OWN_LIST(list, type, item, ITEM) void* list;
  NOLI_DEFINITION_LISTS(OWN_LIST)
#undef OWN_LIST
  NoliMadeMemory memory; // of expanded bodies
  NoliSimDef def;
} Made;

static NoliStatus make(NoliContext* context, size_t size, Made** made) {
  *made = noli_calloc(context, 1, offsetof(Made, def) + size);
  return *made != NULL ? NOLI_OK : noli_fail(context, NOLI_ERROR_MEMORY, "out of memory");
}

static void discard(NoliContext* context, Made* made) {
  if (made == NULL) {
    return;
  }
#define FREE_LIST(list, type, item, ITEM) noli_free(context, made->list);
  NOLI_DEFINITION_LISTS(FREE_LIST)
#undef FREE_LIST
  for (int64_t i = 0; i < made->memory.count; i++) {
    noli_free(context, made->memory.data[i]);
  }
  noli_array_free(context, &made->memory);
  noli_free(context, made);
}

void noli_definition_free(NoliContext* context, NoliSimDef** owner) {
  char* def = (char*)*owner;
  discard(context, def != NULL ? (Made*)(void*)(def - offsetof(Made, def)) : NULL);
  *owner = NULL;
}

static void use(const char** choice, const char* fallback) {
  *choice = *choice != NULL ? *choice : fallback;
}

static void fill_body_choices(NoliBodyDef* body) {
  const NoliBodyDef defaults = noli_default_body_def();
  use(&body->material.law, defaults.material.law);
  use(&body->shell.bending_law, defaults.shell.bending_law);
  use(&body->proxy.kind, defaults.proxy.kind);
}

// Copies of the definition share names of the table.
static void fill_motor(NoliCoordinateDef* coordinate) {
  use(&coordinate->motor, noli_default_coordinate_def().motor);
  int32_t motor = noli_names_find(&noli_motor_names, coordinate->motor);
  coordinate->motor = motor >= 0 ? noli_names_at(&noli_motor_names, motor).name : coordinate->motor;
}

// Replaces names that are NULL by their defaults.
static void fill_choices(Made* made) {
  NoliSimDef* def = &made->def;
  NoliBodyDef* bodies = made->bodies;
  const NoliSimDef sim = noli_default_sim_def();
  use(&def->integrator, sim.integrator);
  use(&def->contact_model, sim.contact_model);
  use(&def->ccd, sim.ccd);
  use(&def->friction_method, sim.friction_method);
  use(&def->friction_law, sim.friction_law);
  use(&def->linear_solver, sim.linear_solver);
  use(&def->implicit_newton.linear, sim.implicit_newton.linear);
  use(&def->audit, sim.audit);
  for (int32_t b = 0; b < def->n_bodies; b++) {
    fill_body_choices(&bodies[b]);
  }
  // copies of the definition share names of the table
  NoliJointDef* joints = made->joints;
  for (int32_t i = 0; i < def->n_joints; i++) {
    use(&joints[i].type, noli_default_joint_def().type);
    int32_t type = noli_names_find(&noli_joint_names, joints[i].type);
    joints[i].type = type >= 0 ? noli_names_at(&noli_joint_names, type).name : joints[i].type;
    fill_motor(&joints[i].coordinate);
    fill_motor(&joints[i].travel);
  }
}

NoliStatus noli_definition_take_body(NoliContext* context, const NoliBodyDef* given,
                                     NoliBodyDef* own) {
  NoliStatus status = NOLI_OK;
  *own = noli_default_body_def();
  NOLI_TRY(noli_sized_take(context, "the body", "noli_default_body_def", given, own, sizeof *own));
  fill_body_choices(own);
done:
  return status;
}

NoliStatus noli_definition_take_pair(NoliContext* context, const NoliPairDef* given,
                                     NoliPairDef* own) {
  *own = noli_default_pair_def();
  return noli_sized_take(context, "the pair", "noli_default_pair_def", given, own, sizeof *own);
}

static NoliStatus expand_body(NoliContext* context, NoliBodyDef* body, NoliMadeMemory* memory) {
  NoliStatus status = NOLI_OK;
  const NoliBodyKind* kind = noli_body_kind(body);
  if (kind->expand != NULL) {
    NOLI_TRY(noli_definition_check_meshes(context, body));
    NOLI_TRY(kind->expand(context, body, memory));
  }
done:
  return noli_definition_locate_body(context, body, body->name != NULL ? body->name : "(no name)",
                                     status);
}

// Names of half-spaces that have none, as in own_name of owned_definition.c.
static const char* entity_name(const NoliSimDef* def, int32_t entity, char buffer[40]) {
  const char* name = entity < def->n_bodies ? def->bodies[entity].name
                                            : def->half_spaces[entity - def->n_bodies].name;
  if (name == NULL) {
    snprintf(buffer, 40, "half_space %d", (int)entity);
  }
  return name != NULL ? name : buffer;
}

// Replaces the name of an entity of a pair by its number.
static NoliStatus resolve_name(NoliContext* context, const NoliSimDef* def, const char** name,
                               int32_t* entity) {
  NoliStatus status = NOLI_OK;
  char buffer[40];
  int32_t n = def->n_bodies + def->n_half_spaces, found = 0;
  const char** names = NULL;
  if (*name == NULL) {
    return NOLI_OK;
  }
  while (found < n && strcmp(entity_name(def, found, buffer), *name) != 0) {
    found++;
  }
  if (found == n) {
    NOLI_NEW(context, names, n);
    for (int32_t i = 0; i < n; i++) {
      const char* own = entity_name(def, i, buffer);
      names[i] = own != buffer ? own : "";
    }
    const char* nearest = noli_nearest(*name, names, n);
    NOLI_CHECK(context, nearest == NULL, NOLI_ERROR_ARGUMENT,
               "a pair: there is no body or half-space \"%.80s\"; did you mean \"%.80s\"?", *name,
               nearest);
    NOLI_CHECK(context, false, NOLI_ERROR_ARGUMENT,
               "a pair: there is no body or half-space \"%.80s\"", *name);
  }

  *entity = found;
  *name = NULL;
done:
  noli_free(context, names);
  return status;
}

NoliStatus noli_definition_name_pair(NoliContext* context, const NoliSimDef* def,
                                     NoliPairDef* pair) {
  NoliStatus status = NOLI_OK;
  NOLI_TRY(resolve_name(context, def, &pair->name_a, &pair->a));
  NOLI_TRY(resolve_name(context, def, &pair->name_b, &pair->b));
done:
  return status;
}

NoliStatus noli_definition_take(NoliContext* context, const NoliSimDef* given, NoliSimDef** own) {
  NoliStatus status = NOLI_OK;
  Made* made = NULL;
  *own = NULL;
  NOLI_TRY(make(context, sizeof made->def, &made));
  NoliSimDef* def = &made->def;
  *def = noli_default_sim_def();
  NOLI_TRY(noli_sized_take(context, "the simulation definition", "noli_default_sim_def", given, def,
                           sizeof *def));
#define TAKE_LIST(list, type, item, ITEM)                                                          \
  {                                                                                                \
    const type defaults = noli_default_##item##_def();                                             \
    NOLI_TRY(noli_sized_take_list(context, #list, "noli_default_" #item "_def", def->list,         \
                                  def->n_##list, &defaults, sizeof defaults, &made->list));        \
    def->list = made->list;                                                                        \
  }
  NOLI_DEFINITION_LISTS(TAKE_LIST)
#undef TAKE_LIST
  fill_choices(made);
  for (int32_t b = 0; b < def->n_bodies; b++) {
    NOLI_TRY(expand_body(context, (NoliBodyDef*)made->bodies + b, &made->memory));
  }
  NoliPairDef* pairs = made->pairs;
  for (int32_t i = 0; i < def->n_pairs; i++) {
    NOLI_TRY(noli_definition_name_pair(context, def, &pairs[i]));
  }
  *own = def;
  made = NULL;
done:
  discard(context, made);
  return status;
}

bool noli_definition_fits(const NoliDefSizes* sizes) {
  const NoliDefSizes own = noli_def_sizes();
  return sizes->size == own.size && memcmp(sizes, &own, sizeof own) == 0;
}

NoliStatus noli_definition_give(NoliContext* context, const NoliSimDef* own,
                                const NoliDefSizes* sizes, NoliSimDef** given) {
  NoliStatus status = NOLI_OK;
  Made* made = NULL;
  NoliDefSizes used = noli_def_sizes();
  *given = NULL;
  memcpy(&used, sizes, sizes->size < sizeof used ? sizes->size : sizeof used);
  NoliSimDef lists = *own;
  NOLI_TRY(make(context, used.sim > sizeof *own ? used.sim : sizeof *own, &made));
#define GIVE_LIST(list, type, item, ITEM)                                                          \
  NOLI_TRY(noli_sized_give_list(context, own->list, own->n_##list, sizeof *own->list, used.item,   \
                                &made->list));                                                     \
  lists.list = made->list;
  NOLI_DEFINITION_LISTS(GIVE_LIST)
#undef GIVE_LIST
  noli_sized_default(&made->def, used.sim, &lists, sizeof lists);
  *given = &made->def;
  made = NULL;
done:
  discard(context, made);
  return status;
}

// ---- contact of pairs ---------------------------------------------------------------------------

const NoliPairDef* noli_definition_find_pair(const NoliSimDef* def, int32_t a, int32_t b) {
  for (int32_t i = def->n_pairs - 1; i >= 0; i--) {
    const NoliPairDef* item = &def->pairs[i];
    if ((item->a == a && item->b == b) || (item->a == b && item->b == a)) {
      return item;
    }
  }
  return NULL;
}

NoliPairDef noli_definition_pair(const NoliSimDef* def, int32_t a, int32_t b) {
  const NoliPairDef* found = noli_definition_find_pair(def, a, b);
  NoliPairDef pair = noli_default_pair_def();
  if (found != NULL) {
    pair = *found;
  } else {
    pair.friction = def->friction;
    pair.static_friction = def->static_friction;
    pair.stribeck_speed = def->stribeck_speed;
    pair.viscosity = def->viscosity;
    pair.adhesion = def->adhesion;
    pair.adhesion_range = def->adhesion_range;
  }
  // its direction belongs to the first one
  bool exchanged =
      found != NULL && found->a == b && noli_norm_sqr3(noli_load3(found->direction)) > 0.0;
  pair.a = exchanged ? b : a;
  pair.b = exchanged ? a : b;
  return pair;
}

void noli_definition_set_friction(double value, double* friction, double* static_friction) {
  *static_friction = *static_friction > *friction ? *static_friction : 0.0;
  *friction = value;
}

bool noli_definition_has_implicit_friction(const NoliSimDef* def) {
  return noli_names_index(&noli_friction_method_names, def->friction_method) ==
         NOLI_FRICTION_IMPLICIT;
}

bool noli_definition_sticks(const NoliSimDef* def) {
  const NoliContactModel* model = noli_contact_model_find(def->contact_model);
  if (model != NULL && model->no_implicit_slips && noli_definition_has_implicit_friction(def)) {
    return false;
  }
  return noli_names_index(&noli_friction_law_names, def->friction_law) == NOLI_FRICTION_STICKS;
}

NoliStatus noli_definition_locate_body(NoliContext* context, const NoliBodyDef* body,
                                       const char* name, NoliStatus status) {
  if (status == NOLI_OK || status == NOLI_ERROR_MEMORY) {
    return status;
  }
  char message[512];
  snprintf(message, sizeof message, "%s", noli_context_message(context));
  noli_fail(context, status, "body \"%s\": %s", name, message);
  return noli_fail_at(context, body->where, status);
}
