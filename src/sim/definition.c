#include "sim/definition.h"

#include "base/sized.h"
#include "fem/volume_law.h"
#include "integrate/integrator.h"
#include "linalg/solver.h"
#include "material/material.h"
#include "material/membrane.h"
#include "math/lagrange.h"
#include "math/vec3.h"
#include "mesh/curve.h"
#include "sim/body_kind.h"
#include "sim/choices.h"
#include "sim/plane_strain.h"
#include "sim/properties.h"
#include "solve/method.h"

#include <stdio.h>
#include <string.h>

// ---- defaults -----------------------------------------------------------------------------------

// Largest exponent of the Ogden law: larger ones overflow at moderate stretches.
#define MAX_EXPONENT 100.0

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
      .friction_speed = {1e-3, true},
      .friction_method = "lagged",
      .friction_basis_derivatives = true,
      .friction_iterations = NOLI_FRICTION_AUTOMATIC,
      .tolerance = {1e-2, true},
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

void noli_tie_def_init(NoliTieDef* def, size_t size) {
  NoliTieDef own = {.distance = {1e-4, true}};
  noli_sized_default(def, size, &own, sizeof own);
}

void noli_spring_def_init(NoliSpringDef* def, size_t size) {
  NoliSpringDef own = {.to = NOLI_NULL_INDEX, .length = NOLI_REST_DISTANCE};
  noli_sized_default(def, size, &own, sizeof own);
}

// ---- definitions of other sizes -----------------------------------------------------------------

// The lists of a definition: member, count, type of the items, default function, size.
#define LISTS(X)                                                                                   \
  X(bodies, NoliBodyDef, body)                                                                     \
  X(half_spaces, NoliHalfSpaceDef, half_space)                                                     \
  X(motions, NoliMotionDef, motion)                                                                \
  X(forces, NoliForceDef, force)                                                                   \
  X(pairs, NoliPairDef, pair)                                                                      \
  X(volumes, NoliVolumeDef, volume)                                                                \
  X(ties, NoliTieDef, tie)                                                                         \
  X(springs, NoliSpringDef, spring)

void noli_definition_free(NoliContext* context, NoliSimDef** owner) {
  NoliSimDef* def = *owner;
  if (def == NULL) {
    return;
  }
#define FREE_LIST(list, type, item) noli_free(context, (void*)(uintptr_t)def->list);
  LISTS(FREE_LIST)
#undef FREE_LIST
  noli_free(context, def);
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

// Replaces names that are NULL by their defaults.
static void fill_choices(NoliSimDef* def) {
  const NoliSimDef sim = noli_default_sim_def();
  use(&def->integrator, sim.integrator);
  use(&def->contact_model, sim.contact_model);
  use(&def->ccd, sim.ccd);
  use(&def->friction_method, sim.friction_method);
  use(&def->linear_solver, sim.linear_solver);
  use(&def->implicit_newton.linear, sim.implicit_newton.linear);
  use(&def->audit, sim.audit);
  for (int32_t b = 0; b < def->n_bodies; b++) {
    fill_body_choices((NoliBodyDef*)(uintptr_t)&def->bodies[b]);
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
  NoliSimDef* made = NULL;
  void* items = NULL;
  *own = NULL;
  NOLI_NEW_ZERO(context, made, 1);
  NoliSimDef def = noli_default_sim_def();
  NOLI_TRY(noli_sized_take(context, "the simulation definition", "noli_default_sim_def", given,
                           &def, sizeof def));
  *made = def;
#define CLEAR_LIST(list, type, item) made->list = NULL;
  LISTS(CLEAR_LIST)
#undef CLEAR_LIST
#define TAKE_LIST(list, type, item)                                                                \
  {                                                                                                \
    const type defaults = noli_default_##item##_def();                                             \
    NOLI_TRY(noli_sized_take_list(context, #list, "noli_default_" #item "_def", def.list,          \
                                  def.n_##list, &defaults, sizeof defaults, &items));              \
    made->list = items;                                                                            \
  }
  LISTS(TAKE_LIST)
#undef TAKE_LIST
  fill_choices(made);
  for (int32_t i = 0; i < made->n_pairs; i++) {
    NoliPairDef* pair = (NoliPairDef*)(uintptr_t)&made->pairs[i];
    NOLI_TRY(noli_definition_name_pair(context, made, pair));
  }
  *own = made;
  made = NULL;
done:
  noli_definition_free(context, &made);
  return status;
}

bool noli_definition_fits(const NoliDefSizes* sizes) {
  const NoliDefSizes own = noli_def_sizes();
  return sizes->size == own.size && memcmp(sizes, &own, sizeof own) == 0;
}

NoliStatus noli_definition_give(NoliContext* context, const NoliSimDef* own,
                                const NoliDefSizes* sizes, NoliSimDef** given) {
  NoliStatus status = NOLI_OK;
  NoliSimDef* made = NULL;
  NoliDefSizes used = noli_def_sizes();
  *given = NULL;
  memcpy(&used, sizes, sizes->size < sizeof used ? sizes->size : sizeof used);
  // allocate the larger size, so that it can be freed like a definition of this library
  size_t room = used.sim > sizeof *own ? used.sim : sizeof *own;
  NoliSimDef lists = *own;
#define CLEAR_LIST(list, type, item) lists.list = NULL;
  LISTS(CLEAR_LIST)
#undef CLEAR_LIST
  made = noli_calloc(context, 1, room);
  NOLI_CHECK(context, made != NULL, NOLI_ERROR_MEMORY, "out of memory");
#define GIVE_LIST(list, type, item)                                                                \
  {                                                                                                \
    const void* items = NULL;                                                                      \
    NOLI_TRY(noli_sized_give_list(context, own->list, own->n_##list, sizeof *own->list, used.item, \
                                  &items));                                                        \
    lists.list = made->list = items;                                                               \
  }
  LISTS(GIVE_LIST)
#undef GIVE_LIST
  noli_sized_default(made, used.sim, &lists, sizeof lists);
  *given = made;
  made = NULL;
done:
  noli_definition_free(context, &made);
  return status;
}

// ---- checks -------------------------------------------------------------------------------------

// Parameters of the law, which determine a positive shear modulus.
static NoliStatus check_parameters(NoliContext* context, const char* body,
                                   const NoliMaterialDef* material) {
  NoliStatus status = NOLI_OK;
  const NoliMaterial* law = noli_material_find(material->law);
  const double* parameter = material->parameter;
  bool powers = law == &noli_ogden;
  for (int32_t i = 0; i < NOLI_LAW_PARAMETERS; i++) {
    NOLI_CHECK(context, parameter[i] == 0.0 || i < law->n_parameter, NOLI_ERROR_ARGUMENT,
               "body \"%s\": the law \"%s\" has %d parameters, but a further one is %g", body,
               law->name, (int)law->n_parameter, parameter[i]);
    NOLI_CHECK(context, fabs(parameter[i]) <= NOLI_MATERIAL_MAX, NOLI_ERROR_ARGUMENT,
               "body \"%s\": a parameter of the law \"%s\" is %g", body, law->name, parameter[i]);
    NOLI_CHECK(context, !powers || i % 2 == 1 || parameter[i] == 0.0 || parameter[i + 1] != 0.0,
               NOLI_ERROR_ARGUMENT, "body \"%s\": exponent %d of the law \"ogden\" is 0", body,
               (int)(i / 2 + 1));
    NOLI_CHECK(context, !powers || i % 2 == 0 || fabs(parameter[i]) <= MAX_EXPONENT,
               NOLI_ERROR_ARGUMENT,
               "body \"%s\": exponent %d of the law \"ogden\" is %g, its magnitude exceeds %g",
               body, (int)(i / 2 + 1), parameter[i], MAX_EXPONENT);
  }
  if (noli_material_has_shear(material)) {
    double shear = noli_material_lame(material).mu;
    NOLI_CHECK(context, shear > 0.0, NOLI_ERROR_ARGUMENT,
               "body \"%s\": the shear modulus by the parameters of \"%s\" is %g Pa, not positive",
               body, law->name, shear);
  }
done:
  return status;
}

// A yield stress and its hardening.
static NoliStatus check_yield(NoliContext* context, const char* body,
                              const NoliMaterialDef* material) {
  NoliStatus status = NOLI_OK;
  const double* parameter = material->parameter;
  if (noli_material_find(material->law) != &noli_hencky) {
    return NOLI_OK;
  }
  for (int32_t i = 0; i < noli_hencky.n_parameter; i++) {
    NOLI_CHECK(context, parameter[i] >= 0.0, NOLI_ERROR_ARGUMENT,
               "body \"%s\": yield stress, hardening, saturation and its rate must be >= 0, got %g",
               body, parameter[i]);
    NOLI_CHECK(context, parameter[i] == 0.0 || parameter[0] > 0.0, NOLI_ERROR_ARGUMENT,
               "body \"%s\" hardens without a yield stress", body);
  }
  NOLI_CHECK(context, (parameter[2] > 0.0) == (parameter[3] > 0.0), NOLI_ERROR_ARGUMENT,
             "body \"%s\": saturation of the yield stress needs a rate, and a rate a saturation",
             body);
  NOLI_CHECK(context, parameter[0] == 0.0 || material->damping == 0.0, NOLI_ERROR_ARGUMENT,
             "body \"%s\" has both a yield stress and stiffness damping; leave out \"damping\"",
             body);
done:
  return status;
}

// A Prony series, whose branches are the damping of the material.
static NoliStatus check_prony(NoliContext* context, const char* body,
                              const NoliMaterialDef* material) {
  NoliStatus status = NOLI_OK;
  const NoliProny* prony = material->prony;
  double sum = 0.0;
  if (prony == NULL) {
    return NOLI_OK;
  }
  NOLI_CHECK(context, prony->n >= 0 && prony->n <= NOLI_PRONY_TERMS, NOLI_ERROR_ARGUMENT,
             "body \"%s\": a Prony series has up to %d terms, got %d", body, NOLI_PRONY_TERMS,
             (int)prony->n);
  for (int32_t k = 0; k < prony->n; k++) {
    double share = prony->share[k], time = prony->time[k];
    sum += share;
    NOLI_CHECK(context, share > 0.0 && share < 1.0, NOLI_ERROR_ARGUMENT,
               "body \"%s\": share %d of its Prony series must be in (0, 1), got %g", body, (int)k,
               share);
    NOLI_CHECK(context, time > 0.0 && isfinite(time), NOLI_ERROR_ARGUMENT,
               "body \"%s\": time %d of its Prony series must be > 0, got %g", body, (int)k, time);
  }
  NOLI_CHECK(context, sum <= NOLI_PRONY_SUM_MAX, NOLI_ERROR_ARGUMENT,
             "body \"%s\": the shares of its Prony series add up to %g; a solid keeps some of its "
             "stiffness, at most %g may relax",
             body, sum, NOLI_PRONY_SUM_MAX);
  NOLI_CHECK(
      context, prony->n == 0 || material->damping == 0.0, NOLI_ERROR_ARGUMENT,
      "body \"%s\" has both a Prony series and stiffness damping; leave out \"damping\", the "
      "series damps",
      body);
done:
  return status;
}

static NoliStatus check_material(NoliContext* context, const char* body,
                                 const NoliMaterialDef* material) {
  NoliStatus status = NOLI_OK;
  char where[160];
  snprintf(where, sizeof where, "body \"%.100s\": ", body);
  NOLI_TRY(noli_choice_require(context, where, NOLI_CHOICE_MATERIAL, material->law));
  NoliMaterialDef own = *material;
  for (int32_t k = 0; k < NOLI_PROPERTY_COUNT; k++) {
    const NoliProperty* property = noli_property_at(k);
    double number = *noli_property_number(property, &own);
    char range[40];
    noli_property_range(property, range, sizeof range);
    NOLI_CHECK(context, noli_property_allows(property, number), NOLI_ERROR_ARGUMENT,
               "body \"%s\": %s must be in %s, got %g", body, property->noun, range, number);
  }
  NOLI_CHECK(context, material->damping >= 0.0 && isfinite(material->damping), NOLI_ERROR_ARGUMENT,
             "body \"%s\": damping must be >= 0, got %g", body, material->damping);
  NOLI_CHECK(context, material->mass_damping >= 0.0 && isfinite(material->mass_damping),
             NOLI_ERROR_ARGUMENT, "body \"%s\": mass damping must be >= 0, got %g", body,
             material->mass_damping);
  NOLI_TRY(check_parameters(context, body, material));
  NOLI_TRY(check_yield(context, body, material));
  NOLI_TRY(check_prony(context, body, material));
done:
  return status;
}

static NoliStatus check_order(NoliContext* context, const char* name, const NoliBodyDef* body) {
  NoliStatus status = NOLI_OK;
  const NoliProxyDef* proxy = &body->proxy;
  char where[160];
  snprintf(where, sizeof where, "body \"%.100s\": ", name);
  NOLI_TRY(noli_choice_require(context, where, NOLI_CHOICE_PROXY, proxy->kind));
  NoliProxyKind kind = noli_proxy_kind(proxy);
  NOLI_CHECK(context, body->obstacle || (body->order >= 0 && body->order <= NOLI_ORDER_MAX),
             NOLI_ERROR_ARGUMENT, "body \"%s\": the order of elements is 1 to %d, got %d", name,
             NOLI_ORDER_MAX, body->order);
  NOLI_CHECK(context, !body->obstacle || kind == NOLI_PROXY_AUTOMATIC, NOLI_ERROR_ARGUMENT,
             "obstacle \"%s\" has a collision proxy; give it the mesh of the proxy instead", name);
  NOLI_CHECK(context, kind != NOLI_PROXY_SUBDIVISION || proxy->subdivision >= 1,
             NOLI_ERROR_ARGUMENT, "body \"%s\": the subdivision of a proxy is 1 or more, got %d",
             name, proxy->subdivision);
  NOLI_CHECK(context, kind != NOLI_PROXY_EDGE_LENGTH || proxy->edge_length > 0.0,
             NOLI_ERROR_ARGUMENT, "body \"%s\": the edge length of a proxy must be > 0, got %g",
             name, proxy->edge_length);
  NOLI_CHECK(context, kind != NOLI_PROXY_MESH || (proxy->mesh != NULL && proxy->mesh->n_tri > 0),
             NOLI_ERROR_ARGUMENT, "body \"%s\": its proxy has no triangles", name);
  NOLI_CHECK(context, (proxy->carrier != NULL) == (proxy->place != NULL), NOLI_ERROR_ARGUMENT,
             "body \"%s\": its proxy has carriers without places, or places without carriers",
             name);
  NOLI_CHECK(context, proxy->carrier == NULL || kind == NOLI_PROXY_MESH, NOLI_ERROR_ARGUMENT,
             "body \"%s\": its proxy has carriers, but no mesh", name);
  NOLI_CHECK(context, proxy->max_distance >= 0.0 && proxy->max_extrapolation >= 0.0,
             NOLI_ERROR_ARGUMENT,
             "body \"%s\": the limits of a proxy must be >= 0, got %g m and %g", name,
             proxy->max_distance, proxy->max_extrapolation);
  NOLI_CHECK(context, !proxy->balance || kind != NOLI_PROXY_AUTOMATIC, NOLI_ERROR_ARGUMENT,
             "body \"%s\": there is no proxy to balance it with", name);
done:
  return status;
}

static NoliStatus check_shell(NoliContext* context, const char* name, const NoliBodyDef* body) {
  NoliStatus status = NOLI_OK;
  const NoliShellDef* shell = &body->shell;
  NOLI_CHECK(context, shell->thickness >= 0.0 && isfinite(shell->thickness), NOLI_ERROR_ARGUMENT,
             "body \"%s\": the thickness of a shell must be > 0, got %g", name, shell->thickness);
  if (shell->thickness == 0.0) {
    return NOLI_OK;
  }

  // kind and mesh
  NOLI_CHECK(context, !body->obstacle && body->plane_strain == 0.0, NOLI_ERROR_ARGUMENT,
             "body \"%s\" is a shell; it cannot be %s as well", name,
             body->obstacle ? "an obstacle" : "in plane strain");
  NOLI_CHECK(context, body->mesh->n_tri > 0 && body->mesh->n_tet == 0, NOLI_ERROR_ARGUMENT,
             "body \"%s\" is a shell: it needs a mesh of triangles, without tetrahedra", name);
  NOLI_CHECK(context, body->order <= 1 && noli_proxy_kind(&body->proxy) == NOLI_PROXY_AUTOMATIC,
             NOLI_ERROR_ARGUMENT,
             "body \"%s\" is a shell: its elements are linear and it collides with its own "
             "triangles; leave out \"order\" and \"proxy\"",
             name);

  // parameters
  NOLI_CHECK(context,
             shell->woven ||
                 (body->material.law != NULL && noli_membrane_find(body->material.law) != NULL),
             NOLI_ERROR_ARGUMENT,
             "body \"%s\" is a shell: its material law is \"neo_hookean\" or \"stvk\", not "
             "\"%s\", unless it is woven",
             name, body->material.law != NULL ? body->material.law : "(none)");
  NOLI_CHECK(context, shell->bending >= 0.0 && isfinite(shell->bending), NOLI_ERROR_ARGUMENT,
             "body \"%s\": the bending of a shell must be >= 0, got %g", name, shell->bending);
  const char* law = shell->bending_law;
  NOLI_CHECK(context, law == NULL || strcmp(law, "plate") == 0 || strcmp(law, "hinges") == 0,
             NOLI_ERROR_ARGUMENT,
             "body \"%s\": the bending law of a shell is \"plate\" or \"hinges\", not \"%s\"", name,
             law);
  NOLI_CHECK(context, shell->limit == 0.0 || (shell->limit > 1.0 && isfinite(shell->limit)),
             NOLI_ERROR_ARGUMENT,
             "body \"%s\": the limit of stretch of a shell must be > 1, got %g", name,
             shell->limit);
  NOLI_CHECK(context, shell->weft > 0.0 && isfinite(shell->weft), NOLI_ERROR_ARGUMENT,
             "body \"%s\": the stiffness along weft over that along warp must be > 0, got %g", name,
             shell->weft);
  NOLI_CHECK(context, shell->shear >= 0.0 && isfinite(shell->shear), NOLI_ERROR_ARGUMENT,
             "body \"%s\": the stiffness of a shell in shear must be >= 0, got %g", name,
             shell->shear);
  NOLI_CHECK(context, noli_is_finite3(noli_load3(shell->warp)), NOLI_ERROR_ARGUMENT,
             "body \"%s\": the direction of warp is not finite", name);
done:
  return status;
}

static NoliStatus check_offset(NoliContext* context, const char* name, const NoliBodyDef* body) {
  NoliStatus status = NOLI_OK;
  double offset = body->contact_offset;
  NOLI_CHECK(
      context,
      offset != NOLI_OFFSET_THICKNESS || body->shell.thickness > 0.0 || body->rod.radius > 0.0 ||
          body->point.radius > 0.0,
      NOLI_ERROR_ARGUMENT,
      "body \"%s\": only shells, rods and points have a thickness or radius as contact offset; "
      "give it in m",
      name);
  NOLI_CHECK(context, offset == NOLI_OFFSET_THICKNESS || (offset >= 0.0 && offset < 1e15),
             NOLI_ERROR_ARGUMENT, "body \"%s\": the contact offset must be in [0, 1e15) m, got %g",
             name, offset);
done:
  return status;
}

// Twist and the section of a rod.
static NoliStatus check_section(NoliContext* context, const char* name, const NoliRodDef* def) {
  NoliStatus status = NOLI_OK;
  bool elliptic = def->second_radius != 0.0;
  double normal = noli_norm3(noli_load3(def->normal));
  NOLI_CHECK(context, def->twist >= 0.0 && isfinite(def->twist), NOLI_ERROR_ARGUMENT,
             "body \"%s\": the twist of a rod must be >= 0, got %g", name, def->twist);
  NOLI_CHECK(
      context,
      def->second_radius >= 0.0 && isfinite(def->second_radius) && isfinite(normal) &&
          (!elliptic || (normal > 0.0 && def->twist > 0.0)),
      NOLI_ERROR_ARGUMENT,
      "body \"%s\": the second radius of a rod must be > 0, with a normal and with twist > 0",
      name);
done:
  return status;
}

// Rods and points, whose meshes have only their own cells.
static NoliStatus check_thin(NoliContext* context, const char* name, const NoliBodyDef* body) {
  NoliStatus status = NOLI_OK;
  const NoliMesh* mesh = body->mesh;
  double radius = body->rod.radius != 0.0 ? body->rod.radius : body->point.radius;
  if (radius == 0.0) {
    return NOLI_OK;
  }
  bool rod = body->rod.radius != 0.0;
  const char* kind = rod ? "a rod" : "made of points";
  NOLI_CHECK(context, radius > 0.0 && isfinite(radius), NOLI_ERROR_ARGUMENT,
             "body \"%s\": the radius of rods and points must be > 0, got %g", name, radius);
  NOLI_CHECK(context, body->rod.bending >= 0.0 && isfinite(body->rod.bending), NOLI_ERROR_ARGUMENT,
             "body \"%s\": the bending of a rod must be >= 0, got %g", name, body->rod.bending);
  NOLI_TRY(check_section(context, name, &body->rod));

  // kind and mesh
  NOLI_CHECK(context,
             !body->obstacle && body->plane_strain == 0.0 && body->shell.thickness == 0.0 &&
                 (body->rod.radius == 0.0 || body->point.radius == 0.0),
             NOLI_ERROR_ARGUMENT,
             "body \"%s\" is %s; it cannot be an obstacle, in plane strain, a shell, %s as well",
             name, kind, rod ? "or points" : "or a rod");
  NOLI_CHECK(context,
             mesh->n_tet == 0 && mesh->n_tri == 0 && (rod ? mesh->n_edge > 0 : mesh->n_edge == 0) &&
                 (rod ? mesh->n_point == 0 : mesh->n_point > 0),
             NOLI_ERROR_ARGUMENT, "body \"%s\" is %s: it needs a mesh of %s, without other cells",
             name, kind, rod ? "segments" : "points");
  NOLI_CHECK(context, body->order <= 1 && noli_proxy_kind(&body->proxy) == NOLI_PROXY_AUTOMATIC,
             NOLI_ERROR_ARGUMENT,
             "body \"%s\" is %s: its elements are linear and it collides with its own cells; leave "
             "out \"order\" and \"proxy\"",
             name, kind);
done:
  return status;
}

static NoliStatus check_parts(NoliContext* context, const char* name, const NoliBodyDef* body) {
  NoliStatus status = NOLI_OK;
  bool shell = noli_body_kind(body) == NOLI_BODY_SHELL;
  int32_t n_element = noli_body_cells(noli_body_kind(body), body->mesh).n;
  NOLI_CHECK(context, body->n_parts >= 0 && (body->n_parts == 0 || body->parts != NULL),
             NOLI_ERROR_ARGUMENT, "body \"%s\": its parts are missing", name);
  NOLI_CHECK(context, body->n_parts == 0 || !body->obstacle, NOLI_ERROR_ARGUMENT,
             "obstacle \"%s\" has parts, but no material", name);
  NOLI_CHECK(context, body->n_parts == 0 || !body->proxy.balance, NOLI_ERROR_ARGUMENT,
             "body \"%s\": a body with parts cannot be balanced: its densities are given", name);
  for (int32_t k = 0; k < body->n_parts; k++) {
    const NoliPartDef* part = &body->parts[k];
    NOLI_TRY(check_material(context, name, &part->material));
    NOLI_CHECK(
        context, !shell || noli_membrane_find(part->material.law) != NULL, NOLI_ERROR_ARGUMENT,
        "body \"%s\" is a shell, part %d: its material law is \"neo_hookean\" or \"stvk\", not "
        "\"%s\"",
        name, (int)k, part->material.law);
    NOLI_CHECK(context, part->n_element >= 0 && (part->n_element == 0 || part->element != NULL),
               NOLI_ERROR_ARGUMENT, "body \"%s\", part %d: its elements are missing", name, (int)k);
    for (int32_t i = 0; i < part->n_element; i++) {
      NOLI_CHECK(context, part->element[i] >= 0 && part->element[i] < n_element,
                 NOLI_ERROR_ARGUMENT, "body \"%s\", part %d: there is no element %d; it has %d",
                 name, (int)k, (int)part->element[i], (int)n_element);
    }
    NOLI_TRY(noli_fields_check(context, name, body, part->element, part->n_element, &part->material,
                               &part->fields));
  }
done:
  return status;
}

static NoliStatus check_bodies(NoliContext* context, const NoliSimDef* def) {
  NoliStatus status = NOLI_OK;
  NOLI_CHECK(context, def->n_bodies > 0 && def->bodies != NULL, NOLI_ERROR_ARGUMENT,
             "a simulation needs at least one body");
  int64_t n_vert = 0;

  // each body
  for (int32_t b = 0; b < def->n_bodies; b++) {
    const NoliBodyDef* body = &def->bodies[b];
    const char* name = body->name != NULL ? body->name : "(no name)";
    NOLI_CHECK(context, body->mesh != NULL, NOLI_ERROR_ARGUMENT, "body \"%s\" has no mesh", name);
    NOLI_TRY(check_shell(context, name, body));
    NOLI_TRY(check_offset(context, name, body));
    NOLI_TRY(check_thin(context, name, body));
    NOLI_CHECK(context,
               body->obstacle || body->mesh->n_tet > 0 || body->plane_strain != 0.0 ||
                   noli_body_kind(body) != NOLI_BODY_SOLID,
               NOLI_ERROR_ARGUMENT,
               "body \"%s\" has no tetrahedra: make it an obstacle, give it a volume mesh, make it "
               "a shell or a rod, or give it a thickness in plane strain if it lies in a plane",
               name);
    NOLI_CHECK(context,
               noli_is_finite3(noli_load3(body->velocity)) &&
                   noli_is_finite3(noli_load3(body->angular_velocity)),
               NOLI_ERROR_ARGUMENT, "body \"%s\": the initial velocity is not finite", name);
    NOLI_TRY(check_order(context, name, body));
    for (int64_t i = 0; i < 3 * (int64_t)body->mesh->n_vert; i++) {
      NOLI_CHECK(context, isfinite(body->mesh->x[i]) && (body->x0 == NULL || isfinite(body->x0[i])),
                 NOLI_ERROR_ARGUMENT, "body \"%s\": vertex %lld is not finite", name,
                 (long long)(i / 3));
    }
    if (!body->obstacle) {
      NOLI_TRY(check_material(context, name, &body->material));
    }
    NOLI_TRY(noli_fields_check(context, name, body, NULL,
                               noli_body_cells(noli_body_kind(body), body->mesh).n, &body->material,
                               &body->fields));
    NOLI_TRY(check_parts(context, name, body));
    n_vert += body->mesh->n_vert;
  }

  // all bodies together
  NOLI_CHECK(context, n_vert < INT32_MAX / 3, NOLI_ERROR_TOO_LARGE,
             "%lld vertices exceed the index range", (long long)n_vert);
done:
  return status;
}

static NoliStatus check_nodes(NoliContext* context, const NoliSimDef* def, const char* what,
                              int32_t index, int32_t body, const int32_t* node, int32_t n_node) {
  NoliStatus status = NOLI_OK;
  NOLI_CHECK(context, body >= 0 && body < def->n_bodies, NOLI_ERROR_ARGUMENT,
             "%s %d: body %d does not exist", what, index, body);
  NOLI_CHECK(context, node == NULL || n_node > 0, NOLI_ERROR_ARGUMENT,
             "%s %d: no vertices of body \"%s\" are selected", what, index, def->bodies[body].name);
  for (int32_t i = 0; node != NULL && i < n_node; i++) {
    // the number of nodes of high-order elements is not known yet
    bool exists = node[i] < def->bodies[body].mesh->n_vert || def->bodies[body].order > 1 ||
                  noli_mesh_order(def->bodies[body].mesh) > 1;
    NOLI_CHECK(context, node[i] >= 0 && exists, NOLI_ERROR_ARGUMENT,
               "%s %d: body \"%s\" has no vertex %d", what, index, def->bodies[body].name, node[i]);
  }
done:
  return status;
}

static NoliStatus check_axes(NoliContext* context, const NoliSimDef* def, int32_t index) {
  NoliStatus status = NOLI_OK;
  const NoliMotionDef* motion = &def->motions[index];
  int32_t n_free = motion->free_axis[0] + motion->free_axis[1] + motion->free_axis[2];
  NOLI_CHECK(context, n_free < 3, NOLI_ERROR_ARGUMENT, "motion %d prescribes no component", index);
  NOLI_CHECK(context, n_free == 0 || !def->bodies[motion->body].obstacle, NOLI_ERROR_ARGUMENT,
             "motion %d: obstacle \"%s\" cannot have free components", index,
             def->bodies[motion->body].name);
done:
  return status;
}

static NoliStatus check_change(NoliContext* context, const NoliSimDef* def, int32_t index) {
  NoliStatus status = NOLI_OK;
  const NoliMotionDef* motion = &def->motions[index];
  NoliVec3 velocity = noli_load3(motion->velocity), spin = noli_load3(motion->spin);
  bool turns = noli_norm3(spin) != 0.0;
  bool changed = motion->change != 0.0 || noli_norm3(velocity) != 0.0 || turns;
  NOLI_CHECK(context,
             motion->change > -1.0 && isfinite(motion->change) && noli_is_finite3(velocity),
             NOLI_ERROR_ARGUMENT,
             "motion %d: change must be above -1, and velocity finite: got %g and (%g, %g, %g)",
             index, motion->change, velocity.x, velocity.y, velocity.z);
  NOLI_CHECK(context, noli_is_finite3(spin) && noli_is_finite3(noli_load3(motion->pivot)),
             NOLI_ERROR_ARGUMENT, "motion %d: spin and pivot must be finite: got spin (%g, %g, %g)",
             index, spin.x, spin.y, spin.z);
  NOLI_CHECK(context,
             !turns || def->bodies[motion->body].plane_strain == 0.0 ||
                 (spin.x == 0.0 && spin.y == 0.0),
             NOLI_ERROR_ARGUMENT,
             "motion %d: body \"%s\" is in plane strain and turns about z alone: got spin (%g, %g, "
             "%g)",
             index, def->bodies[motion->body].name, spin.x, spin.y, spin.z);
  NOLI_CHECK(context, !changed || !motion->controlled, NOLI_ERROR_ARGUMENT,
             "motion %d: change, velocity and spin are not for controlled motions", index);
  NOLI_CHECK(context, motion->change == 0.0 || motion->target != NULL, NOLI_ERROR_ARGUMENT,
             "motion %d: holds its vertices, and change has no effect; velocity moves them", index);
done:
  return status;
}

static NoliStatus check_end(NoliContext* context, int32_t index, const NoliMotionDef* motion) {
  NoliStatus status = NOLI_OK;
  NoliVec3 normal = noli_load3(motion->end_normal);
  NOLI_CHECK(context,
             !motion->ends_beyond || (noli_is_finite3(noli_load3(motion->end_origin)) &&
                                      noli_is_finite3(normal) && noli_norm3(normal) > 0.0),
             NOLI_ERROR_ARGUMENT,
             "motion %d: origin and normal of its end must be finite, the normal not zero", index);
done:
  return status;
}

// Checks that do not depend on the size of the scene. `where` starts the message.
static NoliStatus check_friction(NoliContext* context, const char* where, double friction,
                                 double static_friction, NoliScaled stribeck_speed,
                                 double viscosity) {
  NoliStatus status = NOLI_OK;
  NOLI_CHECK(context, friction >= 0.0 && isfinite(friction), NOLI_ERROR_ARGUMENT,
             "%sfriction must be >= 0, got %g", where, friction);
  NOLI_CHECK(context,
             static_friction == 0.0 || (static_friction >= friction && isfinite(static_friction)),
             NOLI_ERROR_ARGUMENT,
             "%sstatic friction must be 0 (as friction) or at least friction, %g, got %g", where,
             friction, static_friction);
  NOLI_CHECK(context, stribeck_speed.value >= 0.0 && isfinite(stribeck_speed.value),
             NOLI_ERROR_ARGUMENT, "%sthe Stribeck speed must be >= 0, got %g", where,
             stribeck_speed.value);
  NOLI_CHECK(context, viscosity >= 0.0 && isfinite(viscosity), NOLI_ERROR_ARGUMENT,
             "%sviscosity must be >= 0, got %g", where, viscosity);
done:
  return status;
}

static NoliStatus check_volume(NoliContext* context, const NoliSimDef* def, int32_t index) {
  NoliStatus status = NOLI_OK;
  const NoliVolumeDef* volume = &def->volumes[index];
  NOLI_CHECK(context, volume->body >= 0 && volume->body < def->n_bodies, NOLI_ERROR_ARGUMENT,
             "volume %d: body %d does not exist", index, volume->body);
  const char* name = def->bodies[volume->body].name;
  NOLI_CHECK(context, !def->bodies[volume->body].obstacle, NOLI_ERROR_ARGUMENT,
             "volume %d: obstacle \"%s\" does not deform", index, name != NULL ? name : "");
  char where[32];
  snprintf(where, sizeof where, "volume %d: ", index);
  NOLI_TRY(noli_choice_require(context, where, NOLI_CHOICE_VOLUME_REGION, volume->region));
  NOLI_TRY(noli_choice_require(context, where, NOLI_CHOICE_VOLUME_MODEL, volume->model));
  bool gas =
      noli_choice_index(NOLI_CHOICE_VOLUME_MODEL, volume->model) == (int32_t)NOLI_VOLUME_IDEAL_GAS;
  NOLI_CHECK(context,
             isfinite(volume->compression) &&
                 (volume->compression > 0.0 || (gas && volume->compression == 0.0)),
             NOLI_ERROR_ARGUMENT, "volume %d: compression must be > 0, got %g", index,
             volume->compression);
  NOLI_CHECK(context,
             isfinite(volume->pressure) &&
                 (!gas || volume->compression > 0.0 || volume->pressure > -NOLI_ATMOSPHERE),
             NOLI_ERROR_ARGUMENT,
             "volume %d: there is no gas at %g Pa above the atmosphere, 101325 Pa", index,
             volume->pressure);
done:
  return status;
}

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
  }
  pair.a = a;
  pair.b = b;
  return pair;
}

void noli_definition_set_friction(double value, double* friction, double* static_friction) {
  *static_friction = *static_friction > *friction ? *static_friction : 0.0;
  *friction = value;
}

static NoliStatus check_pair(NoliContext* context, const NoliSimDef* def, int32_t index) {
  NoliStatus status = NOLI_OK;
  const NoliPairDef* pair = &def->pairs[index];
  int32_t n_entity = def->n_bodies + def->n_half_spaces;
  NOLI_CHECK(context, pair->a >= 0 && pair->a < n_entity && pair->b >= 0 && pair->b < n_entity,
             NOLI_ERROR_ARGUMENT, "pair %d: entities %d and %d must be below %d", index, pair->a,
             pair->b, n_entity);
  char where[32];
  snprintf(where, sizeof where, "pair %d: ", index);
  NOLI_TRY(check_friction(context, where, pair->friction, pair->static_friction,
                          pair->stribeck_speed, pair->viscosity));
  NOLI_CHECK(context, pair->distance.value >= 0.0 && isfinite(pair->distance.value),
             NOLI_ERROR_ARGUMENT, "pair %d: the contact distance must be >= 0, got %g", index,
             pair->distance.value);
done:
  return status;
}

static NoliStatus check_tie(NoliContext* context, const NoliSimDef* def, int32_t index) {
  NoliStatus status = NOLI_OK;
  const NoliTieDef* tie = &def->ties[index];
  NOLI_TRY(check_nodes(context, def, "tie", index, tie->body, tie->node, tie->n_node));
  NOLI_CHECK(context, tie->to >= 0 && tie->to < def->n_bodies, NOLI_ERROR_ARGUMENT,
             "tie %d: body %d does not exist", index, tie->to);
  NOLI_CHECK(context, tie->node != NULL || tie->body != tie->to, NOLI_ERROR_ARGUMENT,
             "tie %d binds all of body \"%s\" to itself", index,
             def->bodies[tie->body].name != NULL ? def->bodies[tie->body].name : "(no name)");
  NOLI_CHECK(context, tie->distance.value >= 0.0 && isfinite(tie->distance.value),
             NOLI_ERROR_ARGUMENT, "tie %d: the distance must be >= 0, got %g", index,
             tie->distance.value);
done:
  return status;
}

// Which vertices springs join.
static NoliStatus check_spring_ends(NoliContext* context, const NoliSimDef* def, int32_t index) {
  NoliStatus status = NOLI_OK;
  const NoliSpringDef* spring = &def->springs[index];
  NOLI_TRY(check_nodes(context, def, "spring", index, spring->body, spring->node, spring->n_node));
  NOLI_CHECK(context, !def->bodies[spring->body].obstacle, NOLI_ERROR_ARGUMENT,
             "spring %d: \"%s\" is an obstacle; springs begin at a body that deforms", index,
             def->bodies[spring->body].name);
  bool grounded = spring->to == NOLI_NULL_INDEX;
  if (!grounded) {
    NOLI_TRY(
        check_nodes(context, def, "spring", index, spring->to, spring->to_node, spring->n_to_node));
  }
  NOLI_CHECK(context, grounded || !spring->at_point, NOLI_ERROR_ARGUMENT,
             "spring %d goes to body \"%s\" and to a point: only one is possible", index,
             def->bodies[grounded ? 0 : spring->to].name);
  NOLI_CHECK(context, !grounded || (spring->to_node == NULL && !spring->pairwise),
             NOLI_ERROR_ARGUMENT, "spring %d: the ground has no vertices", index);
  NOLI_CHECK(context,
             !spring->pairwise || (spring->node != NULL && spring->to_node != NULL &&
                                   spring->n_node == spring->n_to_node),
             NOLI_ERROR_ARGUMENT, "spring %d: pairs need as many vertices at both ends", index);
  NOLI_CHECK(context, noli_is_finite3(noli_load3(spring->point)), NOLI_ERROR_ARGUMENT,
             "spring %d: its point is not finite", index);
done:
  return status;
}

static NoliStatus check_spring(NoliContext* context, const NoliSimDef* def, int32_t index) {
  NoliStatus status = NOLI_OK;
  const NoliSpringDef* spring = &def->springs[index];
  NOLI_TRY(check_spring_ends(context, def, index));
  const struct {
    const char* what;
    double value;
  } numbers[] = {{"stiffness", spring->stiffness},
                 {"damping", spring->damping},
                 {"length", spring->length == NOLI_REST_DISTANCE ? 0.0 : spring->length}};
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
    NOLI_CHECK(context, numbers[i].value >= 0.0 && numbers[i].value <= NOLI_MATERIAL_MAX,
               NOLI_ERROR_ARGUMENT, "spring %d: the %s must be in [0, %g], got %g", index,
               numbers[i].what, NOLI_MATERIAL_MAX, numbers[i].value);
  }
  NOLI_CHECK(context, spring->stiffness > 0.0 || spring->damping > 0.0, NOLI_ERROR_ARGUMENT,
             "spring %d has neither stiffness nor damping", index);
done:
  return status;
}

static NoliStatus check_lists(NoliContext* context, const NoliSimDef* def) {
  NoliStatus status = NOLI_OK;

  // half-spaces
  for (int32_t i = 0; i < def->n_half_spaces; i++) {
    const NoliHalfSpaceDef* plane = &def->half_spaces[i];
    NOLI_CHECK(context,
               noli_is_finite3(noli_load3(plane->origin)) &&
                   noli_is_finite3(noli_load3(plane->normal)) &&
                   noli_norm3(noli_load3(plane->normal)) > 0.0,
               NOLI_ERROR_ARGUMENT,
               "half-space %d: origin and normal must be finite, the normal "
               "not zero",
               i);
    NOLI_CHECK(context, plane->contact_offset >= 0.0 && plane->contact_offset < 1e15,
               NOLI_ERROR_ARGUMENT,
               "half-space %d: the contact offset must be in [0, 1e15) m, got %g", i,
               plane->contact_offset);
  }

  // motions and forces
  for (int32_t i = 0; i < def->n_motions; i++) {
    const NoliMotionDef* motion = &def->motions[i];
    NOLI_TRY(check_nodes(context, def, "motion", i, motion->body, motion->node, motion->n_node));
    NOLI_CHECK(context, motion->t_begin < motion->t_end, NOLI_ERROR_ARGUMENT,
               "motion %d: t_begin %g is not before t_end %g", i, motion->t_begin, motion->t_end);
    NOLI_CHECK(context, !motion->controlled || motion->target == NULL, NOLI_ERROR_ARGUMENT,
               "motion %d: a controlled motion has no function for its targets", i);
    NOLI_TRY(check_change(context, def, i));
    NOLI_TRY(check_axes(context, def, i));
    NOLI_TRY(check_end(context, i, motion));
  }
  for (int32_t i = 0; i < def->n_forces; i++) {
    const NoliForceDef* force = &def->forces[i];
    NOLI_TRY(check_nodes(context, def, "force", i, force->body, force->node, force->n_node));
    NOLI_CHECK(context, (force->value == NULL) == force->controlled, NOLI_ERROR_ARGUMENT,
               "force %d %s", i,
               force->controlled ? "is controlled and also has a function" : "has no value");
    char where[32];
    snprintf(where, sizeof where, "force %d: ", i);
    NOLI_TRY(noli_choice_require(context, where, NOLI_CHOICE_FORCE, force->kind));
  }

  // volumes, pairs, ties and springs
  for (int32_t i = 0; i < def->n_volumes; i++) {
    NOLI_TRY(check_volume(context, def, i));
  }
  for (int32_t i = 0; i < def->n_pairs; i++) {
    NOLI_TRY(check_pair(context, def, i));
  }
  for (int32_t i = 0; i < def->n_ties; i++) {
    NOLI_TRY(check_tie(context, def, i));
  }
  for (int32_t i = 0; i < def->n_springs; i++) {
    NOLI_TRY(check_spring(context, def, i));
  }
done:
  return status;
}

static NoliStatus check_numbers(NoliContext* context, const NoliSimDef* def) {
  NoliStatus status = NOLI_OK;
  NOLI_CHECK(context, def->time_step > 0.0 && isfinite(def->time_step), NOLI_ERROR_ARGUMENT,
             "the time step must be > 0, got %g", def->time_step);
  NOLI_CHECK(context, def->linear_tolerance > 0.0 && def->linear_tolerance < 1.0,
             NOLI_ERROR_ARGUMENT, "linear_tolerance is %g, not between 0 and 1",
             def->linear_tolerance);
  NOLI_CHECK(context, noli_is_finite3(noli_load3(def->gravity)), NOLI_ERROR_ARGUMENT,
             "gravity is not finite");

  // contact and friction
  NOLI_CHECK(context, def->contact_distance.value >= 0.0 && isfinite(def->contact_distance.value),
             NOLI_ERROR_ARGUMENT, "the contact distance must be > 0, or 0 for the default, got %g",
             def->contact_distance.value);
  NOLI_CHECK(context, def->friction_speed.value > 0.0 && isfinite(def->friction_speed.value),
             NOLI_ERROR_ARGUMENT, "the friction speed must be > 0, got %g",
             def->friction_speed.value);
  NOLI_CHECK(context, def->tolerance.value > 0.0 && isfinite(def->tolerance.value),
             NOLI_ERROR_ARGUMENT, "the tolerance must be > 0, got %g", def->tolerance.value);
  NOLI_TRY(check_friction(context, "", def->friction, def->static_friction, def->stribeck_speed,
                          def->viscosity));
  NOLI_CHECK(context, def->barrier_stiffness >= 0.0 && isfinite(def->barrier_stiffness),
             NOLI_ERROR_ARGUMENT, "the barrier stiffness must be >= 0, got %g",
             def->barrier_stiffness);
  NOLI_CHECK(context, def->friction_iterations >= NOLI_FRICTION_UNTIL_CONVERGENCE,
             NOLI_ERROR_ARGUMENT,
             "friction_iterations must be positive or a NoliFrictionIterations, got %d",
             (int)def->friction_iterations);

  // the solver
  NOLI_CHECK(context, def->max_iterations > 0, NOLI_ERROR_ARGUMENT,
             "max_iterations must be positive, got %d", (int)def->max_iterations);
done:
  return status;
}

// Choices by name.
static NoliStatus check_increments(NoliContext* context, const NoliSimDef* def) {
  NoliStatus status = NOLI_OK;
  const NoliIncrementDef* rule = &def->increments;
  NOLI_CHECK(context, rule->initial >= 0.0 && rule->initial <= def->time_step, NOLI_ERROR_ARGUMENT,
             "the first increment must be at most a time step, %g s, got %g s", def->time_step,
             rule->initial);
  if (rule->initial == 0.0) {
    return NOLI_OK;
  }
  NOLI_CHECK(context, noli_integrator_find(def->integrator)->quasi_static, NOLI_ERROR_ARGUMENT,
             "increments of load steps need the integrator \"quasi_static\"; \"%s\" divides time "
             "steps where they fail",
             def->integrator);
  NOLI_CHECK(context, rule->smallest >= 0.0 && rule->smallest <= rule->initial, NOLI_ERROR_ARGUMENT,
             "the smallest increment must be at most the first one, %g s, got %g s", rule->initial,
             rule->smallest);
  NOLI_CHECK(context, rule->easy_iterations >= 1 && rule->hard_iterations > rule->easy_iterations,
             NOLI_ERROR_ARGUMENT,
             "an easy increment takes at least one iteration and fewer than a hard one, got %d and "
             "%d",
             (int)rule->easy_iterations, (int)rule->hard_iterations);
done:
  return status;
}

static NoliStatus check_choices(NoliContext* context, const NoliSimDef* def) {
  NoliStatus status = NOLI_OK;
  const struct {
    NoliChoice kind;
    const char* name;
  } choices[] = {
      {NOLI_CHOICE_INTEGRATOR, def->integrator},
      {NOLI_CHOICE_CONTACT_MODEL, def->contact_model},
      {NOLI_CHOICE_CCD, def->ccd},
      {NOLI_CHOICE_FRICTION_METHOD, def->friction_method},
      {NOLI_CHOICE_SOLVER, def->solver},
      {NOLI_CHOICE_TERMINATION, def->termination},
      {NOLI_CHOICE_LINEAR_SOLVER, def->linear_solver},
      {NOLI_CHOICE_GENERAL_SOLVER, def->implicit_newton.linear},
      {NOLI_CHOICE_AUDIT, def->audit},
  };
  for (size_t i = 0; i < sizeof choices / sizeof *choices; i++) {
    NOLI_TRY(noli_choice_require(context, "", choices[i].kind, choices[i].name));
  }
done:
  return status;
}

bool noli_definition_has_implicit_friction(const NoliSimDef* def) {
  return noli_choice_index(NOLI_CHOICE_FRICTION_METHOD, def->friction_method) ==
         NOLI_FRICTION_IMPLICIT;
}

static NoliStatus check_implicit(NoliContext* context, const NoliSimDef* def) {
  NoliStatus status = NOLI_OK;
  bool implicit = noli_definition_has_implicit_friction(def);
  const NoliSolverMethod* method = noli_solver_method_find(def->solver);
  // friction at the end of the step has no energy to minimize
  NOLI_CHECK(context, !implicit || method == NULL || method->forces, NOLI_ERROR_ARGUMENT,
             "implicit friction needs the solver \"implicit_newton\": it has no energy, and \"%s\" "
             "minimizes one%s; or use \"lagged\" friction",
             def->solver,
             method->contact != NULL ? " whose contact forces are multipliers, without derivatives"
                                     : "");
  bool solves_forces = implicit || (method != NULL && method->forces);
  NOLI_CHECK(context,
             !solves_forces || noli_choice_find(NOLI_CHOICE_TERMINATION, def->termination) !=
                                   NOLI_TERMINATION_TOI,
             NOLI_ERROR_ARGUMENT,
             "the solver \"implicit_newton\" ends by its residual; termination \"toi\" belongs to "
             "\"augmented_lagrangian\" and \"projected_newton\"");
done:
  return status;
}

static NoliStatus check_solver(NoliContext* context, const NoliSimDef* def) {
  NoliStatus status = NOLI_OK;
  NOLI_CHECK(context, def->max_substeps >= 1 && def->max_substeps <= 1 << 20, NOLI_ERROR_ARGUMENT,
             "max_substeps must be in 1 .. 2^20, got %d", def->max_substeps);
  NOLI_TRY(check_implicit(context, def));
  NOLI_CHECK(context, def->toi_tolerance > 0.0 && def->toi_tolerance < 1.0, NOLI_ERROR_ARGUMENT,
             "the tolerance of the time of impact must be in (0, 1), got %g", def->toi_tolerance);
  NOLI_CHECK(context, def->min_iterations >= 0, NOLI_ERROR_ARGUMENT,
             "min_iterations must not be negative, got %d", def->min_iterations);
  const NoliAugmentedLagrangianDef* knobs = &def->augmented_lagrangian;
  NOLI_CHECK(context, knobs->stiffness_ratio > 0.0 && isfinite(knobs->stiffness_ratio),
             NOLI_ERROR_ARGUMENT, "the stiffness ratio must be > 0, got %g",
             knobs->stiffness_ratio);
  NOLI_CHECK(context, knobs->decay >= 0.0 && knobs->decay <= 1.0, NOLI_ERROR_ARGUMENT,
             "the decay must be in [0, 1], got %g", knobs->decay);
done:
  return status;
}

// A setting that the integrator would ignore is an error.
static NoliStatus check_integrator(NoliContext* context, const NoliSimDef* def) {
  NoliStatus status = NOLI_OK;
  const NoliIntegrator* integrator = noli_integrator_find(def->integrator);
  for (int32_t b = 0; b < def->n_bodies; b++) {
    const NoliBodyDef* body = &def->bodies[b];
    bool moves = noli_norm3(noli_load3(body->velocity)) > 0.0 ||
                 noli_norm3(noli_load3(body->angular_velocity)) > 0.0;
    NOLI_CHECK(context, !integrator->quasi_static || !moves || body->obstacle, NOLI_ERROR_ARGUMENT,
               "body \"%s\": an initial velocity has no effect with the integrator \"%s\"",
               body->name != NULL ? body->name : "(no name)", integrator->name);
  }
  NOLI_CHECK(context,
             !integrator->decoupled || def->solver == NULL ||
                 noli_solver_method_find(def->solver)->contact == NULL,
             NOLI_ERROR_ARGUMENT,
             "the integrator \"%s\" exists to compare contact by the barrier; it does not support "
             "the solver \"%s\"",
             integrator->name, def->solver);
done:
  return status;
}

// The penalty pushes vertices out of surfaces: an obstacle needs triangles.
static NoliStatus check_obstacle_surfaces(NoliContext* context, const NoliSimDef* def) {
  NoliStatus status = NOLI_OK;
  for (int32_t b = 0; b < def->n_bodies; b++) {
    const NoliMesh* mesh = def->bodies[b].mesh;
    NOLI_CHECK(context,
               !def->bodies[b].obstacle ||
                   (mesh->n_edge == 0 && mesh->n_point == 0 && mesh->n_tri + mesh->n_tet > 0),
               NOLI_ERROR_ARGUMENT,
               "obstacle \"%s\" has segments or points, which have no inside: the contact model "
               "\"implicit_surface\" needs triangles, \"ipc\" does not",
               def->bodies[b].name);
  }
done:
  return status;
}

static NoliStatus check_geometric(NoliContext* context, const NoliSimDef* def) {
  NoliStatus status = NOLI_OK;
  const NoliGcpContactDef* gcp = &def->gcp;
  NOLI_CHECK(context, gcp->eps_target.value >= 0.0 && isfinite(gcp->eps_target.value),
             NOLI_ERROR_ARGUMENT, "eps_target of the contact model \"gcp\" must be >= 0, got %g",
             gcp->eps_target.value);
  NOLI_CHECK(context, gcp->alpha > 0.0 && gcp->alpha <= 1.0, NOLI_ERROR_ARGUMENT,
             "alpha of the contact model \"gcp\" must be in (0, 1], got %g", gcp->alpha);
  NOLI_CHECK(context, gcp->beta > 0.0 && gcp->beta <= 1.0, NOLI_ERROR_ARGUMENT,
             "beta of the contact model \"gcp\" must be in (0, 1], got %g", gcp->beta);
  NOLI_CHECK(context, gcp->length.value >= 0.0 && isfinite(gcp->length.value), NOLI_ERROR_ARGUMENT,
             "length of the contact model \"gcp\" must be >= 0, got %g", gcp->length.value);
  NOLI_CHECK(context, def->solver == NULL || noli_solver_method_find(def->solver)->contact == NULL,
             NOLI_ERROR_ARGUMENT,
             "the contact model \"gcp\" is a potential, but the solver \"%s\" treats "
             "contact by constraints; use \"projected_newton\" or \"implicit_newton\"",
             def->solver);
done:
  return status;
}

static NoliStatus check_contact_model(NoliContext* context, const NoliSimDef* def) {
  NoliStatus status = NOLI_OK;
  const NoliContactModel* found = noli_contact_model_find(def->contact_model);
  bool smooth = found == &noli_contact_implicit_surface;
  for (int32_t b = 0; found != &noli_contact_barrier && b < def->n_bodies; b++) {
    NOLI_CHECK(context, def->bodies[b].contact_offset == 0.0, NOLI_ERROR_ARGUMENT,
               "body \"%s\" has a contact offset: the contact model \"%s\" acts on the surfaces "
               "themselves, \"ipc\" supports offsets",
               def->bodies[b].name != NULL ? def->bodies[b].name : "(no name)", def->contact_model);
    NoliBodyKind kind = noli_body_kind(&def->bodies[b]);
    NOLI_CHECK(context, kind != NOLI_BODY_ROD && kind != NOLI_BODY_POINTS, NOLI_ERROR_ARGUMENT,
               "body \"%s\" is %s and has no inside: the contact model \"%s\" needs "
               "closed surfaces, \"ipc\" does not",
               def->bodies[b].name != NULL ? def->bodies[b].name : "(no name)",
               kind == NOLI_BODY_POINTS ? "made of points" : "a rod", def->contact_model);
  }

  // parameters
  if (found == &noli_contact_gcp) {
    NOLI_TRY(check_geometric(context, def));
  }
  double radius = def->surface_radius.value;
  NOLI_CHECK(context, radius >= 0.0 && isfinite(radius), NOLI_ERROR_ARGUMENT,
             "the radius of surfaces must be >= 0, got %g", radius);
  if (!smooth) {
    return NOLI_OK;
  }

  // features that implicit surfaces do not support
  const NoliSolverMethod* method = noli_solver_method_find(def->solver);
  NOLI_CHECK(context, method == NULL || method->contact == NULL, NOLI_ERROR_ARGUMENT,
             "the contact model \"implicit_surface\" needs the solver \"projected_newton\" or "
             "\"implicit_newton\"; \"%s\" has its own contact, constraints that keep surfaces "
             "apart",
             def->solver);
  NOLI_TRY(check_obstacle_surfaces(context, def));
done:
  return status;
}

// Reserved members must be zero: a newer program may set members that this library does not know.
static NoliStatus check_reserved(NoliContext* context, const NoliSimDef* def) {
  NoliStatus status = NOLI_OK;
#define REQUIRE_NULL(what, list)                                                                   \
  for (size_t i = 0; i < sizeof(list) / sizeof *(list); i++) {                                     \
    NOLI_CHECK(context, (list)[i] == NULL, NOLI_ERROR_ARGUMENT,                                    \
               "%s sets members that Noli %s does not have; start from noli_default_" what "_def", \
               what, NOLI_VERSION);                                                                \
  }
  REQUIRE_NULL("geometric", def->gcp.reserved)
  REQUIRE_NULL("augmented_lagrangian", def->augmented_lagrangian.reserved)
  REQUIRE_NULL("implicit_newton", def->implicit_newton.reserved)
  REQUIRE_NULL("increment", def->increments.reserved)
  for (int32_t b = 0; b < def->n_bodies; b++) {
    REQUIRE_NULL("material", def->bodies[b].material.reserved)
    REQUIRE_NULL("proxy", def->bodies[b].proxy.reserved)
  }
#undef REQUIRE_NULL
done:
  return status;
}

NoliStatus noli_definition_check(NoliContext* context, const NoliSimDef* def) {
  NoliStatus status = NOLI_OK;
  NOLI_TRY(check_choices(context, def));
  NOLI_TRY(check_numbers(context, def));
  NOLI_TRY(check_reserved(context, def));
  NOLI_TRY(check_solver(context, def));
  NOLI_TRY(check_bodies(context, def));
  NOLI_TRY(check_contact_model(context, def));
  NOLI_TRY(noli_plane_strain_check(context, def));
  NOLI_TRY(check_lists(context, def));
  NOLI_TRY(check_integrator(context, def));
  NOLI_TRY(check_increments(context, def));
done:
  return status;
}
