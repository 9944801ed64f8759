#include "sim/parameters.h"

#include "contact/gcp_shape.h"
#include "fem/element_slopes.h"
#include "math/vec3.h"
#include "mesh/curve.h"
#include "sim/body_kind.h"
#include "sim/choices.h"
#include "sim/definition.h"
#include "sim/motion_slopes.h"
#include "sim/rebuild.h"
#include "sim/rest_map.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

const NoliNamed noli_parameter_kinds[NOLI_PARAMETER_KINDS] = {
    [NOLI_PARAMETER_YOUNG] = {"young", "Pa, Young's modulus of a body or of its elements."},
    [NOLI_PARAMETER_POISSON] = {"poisson", "Poisson's ratio, likewise."},
    [NOLI_PARAMETER_DENSITY] = {"density", "kg/m^3, likewise."},
    [NOLI_PARAMETER_FRICTION] = {"friction", "Coefficient of a pair of entities."},
    [NOLI_PARAMETER_GRAVITY] = {"gravity", "m/s^2, three components."},
    [NOLI_PARAMETER_INITIAL_POSITION] = {"initial_position",
                                         "m, added to the positions at the start."},
    [NOLI_PARAMETER_INITIAL_VELOCITY] = {"initial_velocity",
                                         "m/s, added to the velocities at the start."},
    [NOLI_PARAMETER_REST_POSITION] = {"rest_position", "m, added to the rest shape."},
    [NOLI_PARAMETER_THICKNESS] = {"thickness", "m, of a shell."},
    [NOLI_PARAMETER_RADIUS] = {"radius", "m, of a rod."},
    [NOLI_PARAMETER_MOTION] = {"motion", "Factor of the displacements of a motion."},
    [NOLI_PARAMETER_MOTION_VELOCITY] = {"motion_velocity", "m/s, added to a motion."},
    [NOLI_PARAMETER_FORCE] = {"force", "Factor of a force."},
    [NOLI_PARAMETER_SPRING_STIFFNESS] = {"spring_stiffness", "N/m, of a spring."},
    [NOLI_PARAMETER_SPRING_LENGTH] = {"spring_length", "m, at which a spring has no force."},
    [NOLI_PARAMETER_SPRING_DAMPING] = {"spring_damping", "N s/m, of a spring."},
    [NOLI_PARAMETER_VOLUME_PRESSURE] = {"volume_pressure",
                                        "Pa, of the closed volume of a body, at rest."},
    [NOLI_PARAMETER_VOLUME_COMPRESSION] = {"volume_compression", "1/Pa, likewise."},
    [NOLI_PARAMETER_CONTACT_DISTANCE] = {"contact_distance",
                                         "m, below which the barrier of contact acts."},
    [NOLI_PARAMETER_CONTACT_STIFFNESS] = {"contact_stiffness", "Pa/m, of the barrier."},
    [NOLI_PARAMETER_CONTACT_OFFSET] = {"contact_offset", "m, of a body or half-space."},
};

const NoliNamed noli_parameter_scopes[NOLI_SCOPES] = {
    [NOLI_SCOPE_BODY] = {"body", "One value for all of the body."},
    [NOLI_SCOPE_ELEMENTS] = {"elements", "A value for each element."},
    [NOLI_SCOPE_VERTICES] = {"vertices", "Values for each vertex."},
};

// An input that follows from a value.
typedef struct Entry {
  NoliInput input;
  int64_t index;
  double factor;
} Entry;

typedef struct Definition {
  NoliParameterKind kind;
  NoliParameterScope scope;
  int32_t of;     // body, force or entity
  int32_t with;   // the other entity of a pair; NOLI_NULL_INDEX: pairs without one of their own
  int32_t* point; // (n_point) elements or vertices within the body; NULL: all of it at once
  int32_t n_point;
  int32_t n_component;
  NoliRestMap map; // of positions of vertices
  int32_t class_of_pairs;
  int64_t first; // of its values
} Definition;

struct NoliParameters {
  NoliContext* context;
  NoliOwnedDefinition source;
  Definition* def;
  int32_t n_def;
  int32_t n_class;
  int64_t n;
  double* value;        // (n)
  double* velocity;     // (n_vert x 3) m/s, at the start
  double* volume_slope; // (regions with a volume law x n_vert x 3) m^2, of their volumes at rest
  int64_t* first_entry; // (n + 1)
  NOLI_ARRAY(Entry) entry;
  NoliGcpShape shape; // of the contact model "gcp"; else empty
  int64_t n_weighted; // vertices that the mean weight is of, likewise
  unsigned wanted;
};

NoliParameterDef noli_default_parameter_def(void) {
  return (NoliParameterDef){0};
}

static int32_t count_points(const Definition* def) {
  return def->scope == NOLI_SCOPE_BODY ? 1 : def->n_point;
}

static bool is_material(NoliParameterKind kind) {
  return kind == NOLI_PARAMETER_YOUNG || kind == NOLI_PARAMETER_POISSON ||
         kind == NOLI_PARAMETER_DENSITY;
}

static bool is_of_section(NoliParameterKind kind) {
  return kind == NOLI_PARAMETER_THICKNESS || kind == NOLI_PARAMETER_RADIUS;
}

static bool is_of_motion(NoliParameterKind kind) {
  return kind == NOLI_PARAMETER_MOTION || kind == NOLI_PARAMETER_MOTION_VELOCITY;
}

static bool is_of_spring(NoliParameterKind kind) {
  return kind >= NOLI_PARAMETER_SPRING_STIFFNESS && kind <= NOLI_PARAMETER_SPRING_DAMPING;
}

static bool is_of_volume(NoliParameterKind kind) {
  return kind == NOLI_PARAMETER_VOLUME_PRESSURE || kind == NOLI_PARAMETER_VOLUME_COMPRESSION;
}

static bool is_of_contact(NoliParameterKind kind) {
  return kind == NOLI_PARAMETER_CONTACT_DISTANCE || kind == NOLI_PARAMETER_CONTACT_STIFFNESS ||
         kind == NOLI_PARAMETER_CONTACT_OFFSET;
}

static bool is_of_body(NoliParameterKind kind) {
  return kind != NOLI_PARAMETER_FRICTION && kind != NOLI_PARAMETER_GRAVITY &&
         kind != NOLI_PARAMETER_FORCE && !is_of_spring(kind) && !is_of_motion(kind) &&
         !is_of_contact(kind);
}

// Whether the values move vertices of the mesh.
static bool is_of_shape(NoliParameterKind kind) {
  return kind == NOLI_PARAMETER_REST_POSITION || kind == NOLI_PARAMETER_INITIAL_POSITION;
}

int32_t noli_parameter_components(NoliParameterKind kind) {
  bool vector = is_of_shape(kind) || kind == NOLI_PARAMETER_INITIAL_VELOCITY;
  return vector || kind == NOLI_PARAMETER_GRAVITY || kind == NOLI_PARAMETER_MOTION_VELOCITY ? 3 : 1;
}

// ---- checks -------------------------------------------------------------------------------------

// Which words a definition has for its kind.
static NoliStatus take_words(NoliContext* context, const NoliParameterDef* def, int32_t index,
                             Definition* made) {
  NoliStatus status = NOLI_OK;
  char where[64];
  snprintf(where, sizeof where, "parameter %d: ", (int)index);
  NOLI_CHECK(context, def->kind != NULL, NOLI_ERROR_ARGUMENT, "%sno kind is given", where);
  NOLI_TRY(noli_choice_require(context, where, NOLI_CHOICE_PARAMETER, def->kind));
  NOLI_TRY(noli_choice_require(context, where, NOLI_CHOICE_PARAMETER_SCOPE, def->scope));
  made->kind = (NoliParameterKind)noli_choice_find(NOLI_CHOICE_PARAMETER, def->kind);
  made->scope = def->scope == NULL
                    ? NOLI_SCOPE_BODY
                    : (NoliParameterScope)noli_choice_find(NOLI_CHOICE_PARAMETER_SCOPE, def->scope);
  bool vector = is_of_shape(made->kind) || made->kind == NOLI_PARAMETER_INITIAL_VELOCITY;
  made->n_component = noli_parameter_components(made->kind);
  NOLI_CHECK(context,
             made->scope == NOLI_SCOPE_BODY ||
                 (made->scope == NOLI_SCOPE_ELEMENTS && is_material(made->kind)) ||
                 (made->scope == NOLI_SCOPE_VERTICES && vector),
             NOLI_ERROR_ARGUMENT, "%s\"%s\" has no scope \"%s\"", where, def->kind, def->scope);
done:
  return status;
}

static NoliStatus find_entity(const NoliSim* sim, const char* what, const char* name, int32_t index,
                              int32_t limit, int32_t* found) {
  NoliStatus status = NOLI_OK;
  NOLI_CHECK(sim->context, name != NULL, NOLI_ERROR_ARGUMENT, "parameter %d: no %s is given",
             (int)index, what);
  *found = noli_sim_find_entity(sim, name);
  NOLI_CHECK(sim->context, *found != NOLI_NULL_INDEX && *found < limit, NOLI_ERROR_ARGUMENT,
             "parameter %d: there is no %s \"%s\"", (int)index, what, name);
done:
  return status;
}

static NoliStatus take_place(const NoliSim* sim, const NoliParameterDef* def, int32_t index,
                             Definition* made) {
  NoliStatus status = NOLI_OK;
  const NoliModel* model = sim->model;
  made->with = NOLI_NULL_INDEX;
  if (is_of_body(made->kind)) {
    NOLI_TRY(find_entity(sim, "body", def->of, index, model->n_body, &made->of));
  } else if (made->kind == NOLI_PARAMETER_CONTACT_OFFSET) {
    NOLI_TRY(find_entity(sim, "entity", def->of, index, model->n_entity, &made->of));
  } else if (made->kind == NOLI_PARAMETER_FRICTION && (def->of != NULL || def->with != NULL)) {
    NOLI_TRY(find_entity(sim, "entity", def->of, index, model->n_entity, &made->of));
    NOLI_TRY(find_entity(sim, "other entity", def->with, index, model->n_entity, &made->with));
  } else if (made->kind == NOLI_PARAMETER_FORCE) {
    made->of = def->of != NULL ? noli_sim_find_force(sim, def->of) : NOLI_NULL_INDEX;
    NOLI_CHECK(sim->context, made->of != NOLI_NULL_INDEX, NOLI_ERROR_ARGUMENT,
               "parameter %d: there is no force \"%s\"", (int)index,
               def->of != NULL ? def->of : "");
  } else if (is_of_motion(made->kind)) {
    made->of = def->of != NULL ? noli_sim_find_motion(sim, def->of) : NOLI_NULL_INDEX;
    NOLI_CHECK(sim->context, made->of != NOLI_NULL_INDEX, NOLI_ERROR_ARGUMENT,
               "parameter %d: there is no motion \"%s\"", (int)index,
               def->of != NULL ? def->of : "");
  } else if (is_of_spring(made->kind)) {
    made->of = def->of != NULL ? noli_sim_find_spring(sim, def->of) : NOLI_NULL_INDEX;
    NOLI_CHECK(sim->context, made->of != NOLI_NULL_INDEX, NOLI_ERROR_ARGUMENT,
               "parameter %d: there is no spring \"%s\"", (int)index,
               def->of != NULL ? def->of : "");
  }
done:
  return status;
}

static NoliStatus take_points(const NoliSim* sim, const NoliParameterDef* def, int32_t index,
                              Definition* made) {
  NoliStatus status = NOLI_OK;
  const NoliModel* model = sim->model;
  if (made->scope == NOLI_SCOPE_BODY) {
    return NOLI_OK;
  }
  NoliBlockRange range = model->problem.range[made->of];
  int32_t n_all = made->scope == NOLI_SCOPE_ELEMENTS ? range.end - range.begin
                  : is_of_shape(made->kind)
                      ? sim->definition.def->bodies[made->of].mesh->n_vert
                      : model->vert_first[made->of + 1] - model->vert_first[made->of];
  made->n_point = def->index != NULL ? def->n_index : n_all;
  NOLI_NEW(sim->context, made->point, made->n_point);
  for (int32_t i = 0; i < made->n_point; i++) {
    made->point[i] = def->index != NULL ? def->index[i] : i;
    NOLI_CHECK(sim->context, made->point[i] >= 0 && made->point[i] < n_all, NOLI_ERROR_ARGUMENT,
               "parameter %d: body \"%s\" has no %s %d", (int)index, model->name[made->of],
               made->scope == NOLI_SCOPE_ELEMENTS ? "element" : "vertex", (int)made->point[i]);
  }
done:
  return status;
}

// Whether some force is shared in proportion to the masses of a body.
static bool has_load_by_mass(const NoliModel* model, int32_t body) {
  bool has = false;
  for (int32_t f = 0; f < model->n_force; f++) {
    bool by_mass =
        model->force[f].kind == NOLI_FORCE_ACCELERATION || model->force[f].kind == NOLI_FORCE_TOTAL;
    has = has || (model->force[f].def.body == body && by_mass);
  }
  return has;
}

// Whether a traction acts on faces of a body, whose areas would change.
static bool has_traction(const NoliModel* model, int32_t body) {
  bool has = false;
  for (int32_t f = 0; f < model->n_force; f++) {
    bool traction = model->force[f].kind == NOLI_FORCE_TRACTION;
    has = has || (model->force[f].def.body == body && traction);
  }
  return has;
}

// Whether the values of some force on a body depend on its rest positions: tried with another place
// of each node.
static bool has_load_by_place(const NoliModel* model, int32_t body) {
  const double shift[3] = {0.037, -0.051, 0.083};
  bool has = false;
  for (int32_t f = 0; f < model->n_force; f++) {
    const NoliForce* force = &model->force[f];
    for (int32_t i = 0; i < force->n_node && force->def.body == body && force->def.value != NULL;
         i++) {
      double X[3], value[2][3] = {{0.0}}, t = fmax(force->def.t_begin, 0.0) + 0.5 * model->h;
      memcpy(X, model->problem.X + 3 * (int64_t)force->node[i], sizeof X);
      force->def.value(force->def.user, t, X, value[0]);
      for (int k = 0; k < 3; k++) {
        X[k] += model->problem.diagonal * shift[k];
      }
      force->def.value(force->def.user, t, X, value[1]);
      has = has || memcmp(value[0], value[1], sizeof value[0]) != 0;
    }
  }
  return has;
}

// The motions of a body whose positions vary must be functions of them.
static NoliStatus require_affine_motions(const NoliModel* model, const Definition* def) {
  NoliStatus status = NOLI_OK;
  for (int32_t m = 0; m < model->n_motion; m++) {
    NoliMotionSlope slope;
    double t0 = fmax(model->motion[m].def.t_begin, 0.0);
    if (model->motion[m].def.body == def->of) {
      NOLI_TRY(noli_motion_slope(model, m, t0, t0 + model->h, model->x0, &slope));
    }
  }
done:
  return status;
}

// The number of the only closed volume of a body; NOLI_NULL_INDEX where there are none or several.
static int32_t volume_of(const NoliSim* sim, int32_t body) {
  const NoliSimDef* def = sim->definition.def;
  int32_t found = NOLI_NULL_INDEX, n = 0;
  for (int32_t i = 0; i < def->n_volumes; i++) {
    found = def->volumes[i].body == body ? i : found;
    n += def->volumes[i].body == body ? 1 : 0;
  }
  return n == 1 ? found : NOLI_NULL_INDEX;
}

// Of shells, rods and points.
static const char* thin_defect(const NoliBodyDef* body, const NoliBlock* block,
                               const Definition* def, bool barrier) {
  bool follows = body->contact_offset == NOLI_OFFSET_THICKNESS && !barrier;
  if (def->kind == NOLI_PARAMETER_THICKNESS && !(body->shell.thickness > 0.0)) {
    return "is no shell";
  }
  if (def->kind == NOLI_PARAMETER_RADIUS && !(body->rod.radius > 0.0)) {
    return "is no rod";
  }
  if (is_of_section(def->kind) && follows) {
    return "has a contact offset that follows its thickness: use the contact model \"ipc\", or "
           "give "
           "contact_offset a number";
  }
  if (def->kind == NOLI_PARAMETER_POISSON) {
    return "is thin: shells and rods are differentiated by \"young\", not by Poisson's ratio";
  }
  if (def->kind == NOLI_PARAMETER_YOUNG && def->scope == NOLI_SCOPE_ELEMENTS) {
    return "is thin: Young's modulus is differentiated for all of it, not for each element";
  }
  if (def->kind == NOLI_PARAMETER_YOUNG &&
      (block->type->elasticity == NULL || body->shell.shear > 0.0)) {
    return block->type->elasticity == NULL ? "has no elasticity"
                                           : "has a shear stiffness apart from Young's modulus";
  }
  return NULL;
}

// Whether the geometric contact potential acts, whose range has the name eps_target.
static bool has_potential(const NoliModel* model) {
  return model->problem.contact == &noli_contact_gcp;
}

static bool has_smooth_surfaces(const NoliModel* model) {
  return model->problem.contact == &noli_contact_implicit_surface;
}

static const char* body_defect(const NoliSim* sim, const Definition* def) {
  const NoliModel* model = sim->model;
  const NoliBodyDef* body = &sim->definition.def->bodies[def->of];
  const NoliBlock* block = noli_problem_block(&model->problem, def->of);
  bool masses = def->kind == NOLI_PARAMETER_DENSITY || def->kind == NOLI_PARAMETER_REST_POSITION;
  if (is_material(def->kind) && block == NULL) {
    return "is an obstacle, which has no material";
  }
  if (is_of_volume(def->kind)) {
    return volume_of(sim, def->of) == NOLI_NULL_INDEX ? "does not have exactly one closed volume"
                                                      : NULL;
  }
  if (is_of_section(def->kind) || (block != NULL && !block->type->solid)) {
    bool barrier = model->problem.contact == &noli_contact_barrier;
    const char* defect = thin_defect(body, block, def, barrier);
    if (defect != NULL || is_of_section(def->kind)) {
      return defect;
    }
  }
  bool moduli = def->kind == NOLI_PARAMETER_YOUNG || def->kind == NOLI_PARAMETER_POISSON;
  for (int32_t e = model->problem.range[def->of].begin;
       moduli && e < model->problem.range[def->of].end; e++) {
    if (block->law[e]->n_parameter > 0) {
      return "has a law with parameters of its own: \"neo_hookean\" and the laws without are "
             "differentiated by moduli";
    }
  }
  if (is_material(def->kind) && (body->n_parts > 0 || body->fields.young != NULL ||
                                 body->fields.poisson != NULL || body->fields.density != NULL)) {
    return def->scope == NOLI_SCOPE_BODY ? "has several materials: choose the scope \"elements\""
           : body->n_parts > 0           ? "has parts, whose elements cannot be changed one by one"
                                         : NULL;
  }
  if (masses && block != NULL && has_load_by_mass(model, def->of)) {
    return "has a force in proportion to its masses, which is not differentiated by them: use "
           "gravity, or a force with \"nodal\" values";
  }
  if (def->kind == NOLI_PARAMETER_INITIAL_POSITION && has_potential(model) &&
      model->problem.followers.n > 0 && model->problem.gcp.model.limit.count > 0) {
    return "is in a scene with ties or proxies, whose positions at the start limit the range of "
           "\"gcp\": use contact.act_at_rest, or a smaller contact.eps_target";
  }
  if (is_of_shape(def->kind) && block == NULL && has_smooth_surfaces(model)) {
    return "is an obstacle, whose positions are not differentiated with the contact model "
           "\"implicit_surface\"";
  }
  if (def->kind == NOLI_PARAMETER_REST_POSITION && has_smooth_surfaces(model) &&
      !(model->problem.surface_radius > 0.0)) {
    return "has a smooth surface whose radius follows rest edges: set contact.surface_radius";
  }
  if (def->kind == NOLI_PARAMETER_REST_POSITION) {
    return block != NULL && has_traction(model, def->of)
               ? "has a traction on faces, whose areas would change with the shape"
           : block != NULL && has_load_by_place(model, def->of)
               ? "has a force whose values depend on rest positions, by which they have no "
                 "derivatives"
           : model->problem.followers.n_tied > 0
               ? "is in a scene with ties, which depend on rest shapes"
           : noli_proxy_kind(&body->proxy) == NOLI_PROXY_MESH ||
                   noli_proxy_kind(&body->proxy) == NOLI_PROXY_EDGE_LENGTH
               ? "has a proxy that depends on its shape: use proxy.subdivision"
           : noli_mesh_order(body->mesh) > 1
               ? "has a curved mesh, whose nodes between vertices would not follow"
           : body->proxy.balance ? "has densities that are fitted to its shape"
                                 : NULL;
  }
  return def->kind == NOLI_PARAMETER_DENSITY && def->scope == NOLI_SCOPE_ELEMENTS &&
                 block->type != &noli_block_tets && block->n_consistent == 0
             ? "has densities of elements that are differentiated for solids only"
             : NULL;
}

static const char* spring_defect(const NoliSim* sim, const Definition* def) {
  const NoliSpringDef* spring = &sim->definition.def->springs[def->of];
  if (def->kind == NOLI_PARAMETER_SPRING_LENGTH && !(spring->length > 0.0)) {
    return "has no length of its own: give it one";
  }
  return def->kind == NOLI_PARAMETER_SPRING_DAMPING && !(spring->damping > 0.0)
             ? "has no damper: give it a damping"
             : NULL;
}

static const char* contact_defect(const NoliSim* sim, const Definition* def) {
  const NoliProblem* problem = &sim->model->problem;
  bool barrier = problem->contact == &noli_contact_barrier;
  if (def->kind == NOLI_PARAMETER_CONTACT_STIFFNESS) {
    return problem->fixed_stiffness > 0.0 ? NULL
                                          : "the stiffness adapts: set contact.stiffness to a "
                                            "number";
  }
  if (def->kind == NOLI_PARAMETER_CONTACT_DISTANCE) {
    return has_smooth_surfaces(sim->model) && !(problem->surface_radius > 0.0)
               ? "the radius of smooth surfaces follows it: set contact.surface_radius"
               : NULL;
  }
  return barrier ? NULL : "offsets are differentiated with the contact model \"ipc\" only";
}

static NoliStatus take(NoliParameters* self, const NoliSim* sim, const NoliParameterDef* def,
                       int32_t index) {
  NoliStatus status = NOLI_OK;
  Definition* made = &self->def[index];
  NOLI_TRY(take_words(sim->context, def, index, made));
  NOLI_TRY(take_place(sim, def, index, made));
  NOLI_TRY(take_points(sim, def, index, made));
  if (is_of_body(made->kind)) {
    const char* defect = body_defect(sim, made);
    NOLI_CHECK(sim->context, defect == NULL, NOLI_ERROR_ARGUMENT,
               "parameter %d, \"%s\": body \"%s\" %s", (int)index, def->kind, def->of, defect);
    if (is_of_shape(made->kind)) {
      NOLI_TRY(require_affine_motions(sim->model, made));
      NOLI_TRY(noli_rest_map_create(
          sim->model, made->of, sim->definition.def->bodies[made->of].mesh->n_vert, &made->map));
    }
  }
  if (is_of_spring(made->kind)) {
    const char* defect = spring_defect(sim, made);
    NOLI_CHECK(sim->context, defect == NULL, NOLI_ERROR_ARGUMENT,
               "parameter %d, \"%s\": spring \"%s\" %s", (int)index, def->kind, def->of, defect);
  }
  if (is_of_contact(made->kind)) {
    const char* defect = contact_defect(sim, made);
    NOLI_CHECK(sim->context, defect == NULL, NOLI_ERROR_ARGUMENT, "parameter %d, \"%s\": %s",
               (int)index, def->kind, defect);
  }
  made->class_of_pairs = made->kind == NOLI_PARAMETER_FRICTION ? self->n_class++ : NOLI_NULL_INDEX;
  made->first = self->n;
  self->n += (int64_t)made->n_component * count_points(made);
done:
  return status;
}

// ---- values -------------------------------------------------------------------------------------

// The number of a material that a kind varies.
static double* material_number(NoliParameterKind kind, NoliMaterialDef* material) {
  return kind == NOLI_PARAMETER_YOUNG     ? &material->young
         : kind == NOLI_PARAMETER_POISSON ? &material->poisson
                                          : &material->density;
}

static double material_value(NoliParameterKind kind, double mu, double lambda, double density) {
  return kind == NOLI_PARAMETER_YOUNG     ? mu * (3.0 * lambda + 2.0 * mu) / (lambda + mu)
         : kind == NOLI_PARAMETER_POISSON ? 0.5 * lambda / (lambda + mu)
                                          : density;
}

// The number of a spring or of a closed volume that a kind varies.
static double* spring_number(NoliParameterKind kind, NoliSpringDef* spring) {
  return kind == NOLI_PARAMETER_SPRING_STIFFNESS ? &spring->stiffness
         : kind == NOLI_PARAMETER_SPRING_LENGTH  ? &spring->length
                                                 : &spring->damping;
}

static double* volume_number(NoliParameterKind kind, NoliVolumeDef* volume) {
  return kind == NOLI_PARAMETER_VOLUME_PRESSURE ? &volume->pressure : &volume->compression;
}

static double contact_value(const NoliSim* sim, const Definition* def) {
  const NoliModel* model = sim->model;
  if (def->kind == NOLI_PARAMETER_CONTACT_DISTANCE) {
    return has_potential(model) ? model->problem.gcp.model.parameters.eps_target
                                : model->problem.dhat;
  }
  if (def->kind == NOLI_PARAMETER_CONTACT_STIFFNESS) {
    return model->problem.fixed_stiffness;
  }
  return def->of < model->n_body
             ? noli_surface_offset_of(model->problem.surface, def->of)
             : sim->definition.def->half_spaces[def->of - model->n_body].contact_offset;
}

static void set_values(NoliParameters* self, const NoliSim* sim, const Definition* def) {
  const NoliModel* model = sim->model;
  const NoliSimDef* source = sim->definition.def;
  double* value = self->value + def->first;
  if (is_material(def->kind)) {
    const NoliBlock* block = noli_problem_block(&model->problem, def->of);
    for (int32_t i = 0; i < count_points(def); i++) {
      int32_t e = model->problem.range[def->of].begin + (def->point != NULL ? def->point[i] : 0);
      value[i] =
          material_value(def->kind, block->lame_mu[e], block->lame_lambda[e], block->density[e]);
    }
    if (def->scope == NOLI_SCOPE_BODY) {
      NoliMaterialDef material = source->bodies[def->of].material;
      value[0] = *material_number(def->kind, &material);
    }
  } else if (def->kind == NOLI_PARAMETER_GRAVITY) {
    memcpy(value, model->gravity, sizeof model->gravity);
  } else if (def->kind == NOLI_PARAMETER_MOTION) {
    *value = 1.0 + source->motions[def->of].change;
  } else if (def->kind == NOLI_PARAMETER_MOTION_VELOCITY) {
    memcpy(value, source->motions[def->of].velocity, 3 * sizeof *value);
  } else if (is_of_section(def->kind)) {
    const NoliBodyDef* body = &source->bodies[def->of];
    *value = def->kind == NOLI_PARAMETER_THICKNESS ? body->shell.thickness : body->rod.radius;
  } else if (is_of_spring(def->kind)) {
    NoliSpringDef spring = source->springs[def->of];
    *value = *spring_number(def->kind, &spring);
  } else if (is_of_volume(def->kind)) {
    const NoliVolumeLaw* law = &model->problem.volumes.region[volume_of(sim, def->of)].law;
    *value = def->kind == NOLI_PARAMETER_VOLUME_PRESSURE ? law->pressure : law->compression;
  } else if (def->kind == NOLI_PARAMETER_FORCE) {
    *value = 1.0 + source->forces[def->of].change;
  } else if (def->kind == NOLI_PARAMETER_FRICTION) {
    *value = def->with != NOLI_NULL_INDEX
                 ? noli_definition_pair(source, def->of, def->with).friction
                 : source->friction;
  } else if (is_of_contact(def->kind)) {
    *value = contact_value(sim, def);
  }
}

// ---- how inputs follow --------------------------------------------------------------------------

static NoliStatus add_entry(NoliParameters* self, NoliInput input, int64_t index, double factor) {
  NoliStatus status = NOLI_OK;
  Entry entry = {input, index, factor};
  NOLI_PUSH(self->context, &self->entry, entry);
  self->wanted |= 1u << input;
done:
  return status;
}

// A mass and its weight.
static NoliStatus add_mass(NoliParameters* self, const NoliModel* model, int64_t vertex,
                           double factor) {
  NoliStatus status = NOLI_OK;
  NOLI_TRY(add_entry(self, NOLI_INPUT_MASS, vertex, factor));
  for (int32_t k = 0; k < 3; k++) {
    NOLI_TRY(add_entry(self, NOLI_INPUT_LOAD, 3 * vertex + k, factor * model->gravity[k]));
  }
done:
  return status;
}

// mu = E / (2 (1 + nu)), lambda = E nu / ((1 + nu) (1 - 2 nu))
static NoliStatus map_moduli(NoliParameters* self, const NoliModel* model, const Definition* def,
                             int32_t element) {
  NoliStatus status = NOLI_OK;
  NoliBlockRange range = model->problem.range[def->of];
  const NoliBlock* block = &model->problem.block[range.block];
  int64_t at = noli_input_elements(&model->problem, range.block) + element;
  double mu = block->lame_mu[element], lambda = block->lame_lambda[element];
  double young = material_value(NOLI_PARAMETER_YOUNG, mu, lambda, 0.0);
  double nu = material_value(NOLI_PARAMETER_POISSON, mu, lambda, 0.0);
  double by_mu = mu / young, by_lambda = lambda / young;
  if (def->kind == NOLI_PARAMETER_POISSON) {
    double a = 1.0 + nu, b = 1.0 - 2.0 * nu;
    by_mu = -0.5 * young / (a * a);
    by_lambda = young * (1.0 + 2.0 * nu * nu) / (a * a * b * b);
  }
  NOLI_TRY(add_entry(self, NOLI_INPUT_MU, at, by_mu));
  NOLI_TRY(add_entry(self, NOLI_INPUT_LAMBDA, at, by_lambda));
done:
  return status;
}

static int32_t count_nodes(const NoliBlock* block, int32_t element) {
  int32_t n = 0;
  while (n < block->n_local && block->node[(int64_t)block->n_local * element + n] >= 0) {
    n++;
  }
  return n;
}

// The lumped mass of an element.
static NoliStatus map_element_density(NoliParameters* self, const NoliModel* model,
                                      const NoliBlock* block, int32_t element) {
  NoliStatus status = NOLI_OK;
  int32_t n = count_nodes(block, element);
  double share = block->type->point_volume(block, element, 0) / n;
  for (int32_t k = 0; k < n; k++) {
    NOLI_TRY(add_mass(self, model, block->node[(int64_t)block->n_local * element + k], share));
  }
done:
  return status;
}

// Factors of the energies of a thin body, and of its masses.
static NoliStatus map_thin(NoliParameters* self, const NoliSim* sim, const Definition* def) {
  NoliStatus status = NOLI_OK;
  const NoliModel* model = sim->model;
  // powers of a stretched and a bent shell, a stretched and a bent rod, and of masses
  static const double powers[][NOLI_BLOCK_PARTS + 1] = {
      [NOLI_PARAMETER_YOUNG] = {1.0, 1.0, 0.0},
      [NOLI_PARAMETER_THICKNESS] = {1.0, 3.0, 1.0},
      [NOLI_PARAMETER_RADIUS] = {2.0, 4.0, 2.0}};
  const double* power = powers[def->kind];
  double value = self->value[def->first];
  for (int32_t part = 0; part < NOLI_BLOCK_PARTS; part++) {
    NOLI_TRY(add_entry(self, NOLI_INPUT_PART, NOLI_BLOCK_PARTS * (int64_t)def->of + part,
                       power[part] / value));
  }
  for (int64_t i = model->vert_first[def->of];
       power[NOLI_BLOCK_PARTS] > 0.0 && i < model->vert_first[def->of + 1]; i++) {
    NOLI_TRY(add_mass(self, model, i, power[NOLI_BLOCK_PARTS] * model->problem.mass[i] / value));
  }
  bool follows = sim->definition.def->bodies[def->of].contact_offset == NOLI_OFFSET_THICKNESS;
  if (follows && def->kind != NOLI_PARAMETER_YOUNG) {
    double share = def->kind == NOLI_PARAMETER_THICKNESS ? 0.5 : 1.0;
    NOLI_TRY(add_entry(self, NOLI_INPUT_OFFSET, def->of, share));
  }
done:
  return status;
}

static NoliStatus map_material(NoliParameters* self, const NoliSim* sim, const Definition* def,
                               int32_t point) {
  NoliStatus status = NOLI_OK;
  const NoliModel* model = sim->model;
  NoliBlockRange range = model->problem.range[def->of];
  const NoliBlock* block = &model->problem.block[range.block];
  if (!block->type->solid && def->kind == NOLI_PARAMETER_YOUNG) {
    return map_thin(self, sim, def);
  }
  bool all = def->scope == NOLI_SCOPE_BODY;
  int32_t begin = all ? range.begin : range.begin + def->point[point];
  int32_t end = all ? range.end : begin + 1;
  if (def->kind == NOLI_PARAMETER_DENSITY && block->n_consistent > 0) {
    int64_t first = noli_input_elements(&model->problem, range.block);
    for (int32_t e = begin; e < end; e++) {
      double factor = all ? block->density[e] / self->value[def->first] : 1.0;
      NOLI_TRY(add_entry(self, NOLI_INPUT_DENSITY, first + e, factor));
    }
    goto done;
  }
  if (all && def->kind == NOLI_PARAMETER_DENSITY) {
    for (int64_t i = model->vert_first[def->of]; i < model->vert_first[def->of + 1]; i++) {
      NOLI_TRY(add_mass(self, model, i, model->problem.mass[i] / self->value[def->first]));
    }
    goto done;
  }
  for (int32_t e = begin; e < end; e++) {
    if (def->kind == NOLI_PARAMETER_DENSITY) {
      NOLI_TRY(map_element_density(self, model, block, e));
    } else {
      NOLI_TRY(map_moduli(self, model, def, e));
    }
  }
done:
  return status;
}

// Masses of the elements that have a vertex, by one component of its rest position.
static NoliStatus map_shape_masses(NoliParameters* self, const NoliModel* model,
                                   const NoliBlock* block, NoliBlockRange range, int32_t vertex,
                                   int32_t component) {
  NoliStatus status = NOLI_OK;
  for (int32_t e = range.begin; e < range.end; e++) {
    const int32_t* node = block->node + block->n_local * (int64_t)e;
    int32_t n = count_nodes(block, e);
    for (int32_t k = 0; k < n; k++) {
      if (node[k] != vertex) {
        continue;
      }
      NoliVec3 gradient[4];
      double volume, slope[3];
      noli_element_rest_gradients(block, e, model->problem.X, gradient, &volume);
      noli_store3(slope, gradient[k]);
      for (int32_t a = 0; a < n; a++) {
        NOLI_TRY(add_mass(self, model, node[a], block->density[e] * volume / n * slope[component]));
      }
    }
  }
done:
  return status;
}

// The vertices of deformable bodies with a weight.
static int64_t count_weighted(const NoliModel* model) {
  const NoliGcpModel* gcp = &model->problem.gcp.model;
  int64_t n = 0;
  for (int32_t v = 0; v < gcp->surface->n_vert; v++) {
    n += !model->obstacle[gcp->surface->body[v]] && gcp->vert_weight[v] > 0.0;
  }
  return n;
}

// The barrier with open obstacles is as stiff as the potential between elements of the mean weight
// (solve/contact_gcp.c): in proportion to w^2 eps^(1 - n) in a space of dimension n.
static NoliStatus add_open_weight(NoliParameters* self, const NoliModel* model,
                                  const NoliGcpShapeSlope* slope, double by) {
  NoliStatus status = NOLI_OK;
  const NoliGcpProblem* gcp = &model->problem.gcp;
  const NoliSurface* surface = model->problem.surface;
  if (gcp->has_open && slope->input == NOLI_INPUT_WEIGHT && slope->index < surface->n_vert &&
      !model->obstacle[surface->body[slope->index]]) {
    NOLI_TRY(add_entry(self, NOLI_INPUT_CONTACT, NOLI_CONTACT_OPEN,
                       2.0 / (gcp->weight * (double)self->n_weighted) * by));
  }
done:
  return status;
}

static NoliStatus map_rest_volumes(NoliParameters* self, const NoliModel* model, int64_t at,
                                   double weight) {
  NoliStatus status = NOLI_OK;
  int64_t n = 3 * (int64_t)model->problem.n_vert;
  for (int64_t r = 0; r < model->problem.volumes.n_region; r++) {
    double slope = self->volume_slope[n * r + at];
    if (slope != 0.0) {
      NOLI_TRY(add_entry(self, NOLI_INPUT_REGION, NOLI_REGION_NUMBERS * r + NOLI_REGION_REST,
                         weight * slope));
    }
  }
done:
  return status;
}

// The geometric contact potential, where a vertex moves at rest or at the start.
static NoliStatus map_potential(NoliParameters* self, const NoliModel* model, int32_t vertex,
                                int32_t component, bool rest, bool start, double weight) {
  NoliStatus status = NOLI_OK;
  const NoliGcpShape* shape = &self->shape;
  for (int64_t i = shape->first != NULL ? shape->first[vertex] : 0;
       shape->first != NULL && i < shape->first[vertex + 1]; i++) {
    const NoliGcpShapeSlope* slope = &shape->slope[i];
    if (slope->at_start ? start : rest) {
      NOLI_TRY(add_entry(self, slope->input, slope->index, weight * slope->slope[component]));
      NOLI_TRY(add_open_weight(self, model, slope, weight * slope->slope[component]));
    }
  }
done:
  return status;
}

// One component of the position of a vertex of the mesh, with all that moves with it.
static NoliStatus map_vertex(NoliParameters* self, const NoliSim* sim, const Definition* def,
                             int32_t vertex, int32_t component) {
  NoliStatus status = NOLI_OK;
  const NoliModel* model = sim->model;
  const NoliBlock* block = noli_problem_block(&model->problem, def->of);
  const NoliRestMap* map = &def->map;
  bool rest = def->kind == NOLI_PARAMETER_REST_POSITION;
  bool starts = !rest || sim->definition.def->bodies[def->of].x0 == NULL;
  for (int64_t k = map->first[vertex]; k < map->first[vertex + 1]; k++) {
    int64_t at = 3 * (int64_t)map->point[k] + component;
    if (starts && map->point[k] < model->problem.n_node) {
      NOLI_TRY(add_entry(self, NOLI_INPUT_START, at, map->weight[k]));
    }
    if (rest) {
      NOLI_TRY(add_entry(self, NOLI_INPUT_REST, at, map->weight[k]));
      NOLI_TRY(map_rest_volumes(self, model, at, map->weight[k]));
    }
    NOLI_TRY(map_potential(self, model, map->point[k], component, rest, starts, map->weight[k]));
  }
  if (rest && block != NULL && block->n_consistent == 0 && def->scope == NOLI_SCOPE_VERTICES) {
    NOLI_TRY(map_shape_masses(self, model, block, model->problem.range[def->of],
                              model->vert_first[def->of] + vertex, component));
  }
done:
  return status;
}

static NoliStatus map_vertices(NoliParameters* self, const NoliSim* sim, const Definition* def,
                               int32_t point, int32_t component) {
  NoliStatus status = NOLI_OK;
  bool all = def->scope == NOLI_SCOPE_BODY, shape = is_of_shape(def->kind);
  int32_t first = sim->model->vert_first[def->of];
  int32_t n = shape ? def->map.n_vert : sim->model->vert_first[def->of + 1] - first;
  for (int32_t i = all ? 0 : def->point[point]; i < (all ? n : def->point[point] + 1); i++) {
    NOLI_TRY(shape
                 ? map_vertex(self, sim, def, i, component)
                 : add_entry(self, NOLI_INPUT_VELOCITY, 3 * (int64_t)(first + i) + component, 1.0));
  }
done:
  return status;
}

// All springs of a definition, which share stiffness and damping.
static NoliStatus map_spring(NoliParameters* self, const NoliModel* model, const Definition* def) {
  NoliStatus status = NOLI_OK;
  static const NoliSpringNumber numbers[] = {NOLI_SPRING_STIFFNESS, NOLI_SPRING_LENGTH,
                                             NOLI_SPRING_DAMPING};
  int which = (int)def->kind - NOLI_PARAMETER_SPRING_STIFFNESS;
  int64_t first = model->spring_first[def->of], end = model->spring_first[def->of + 1];
  double share = numbers[which] == NOLI_SPRING_LENGTH ? 1.0 : 1.0 / (double)(end - first);
  for (int64_t s = first; s < end; s++) {
    NOLI_TRY(add_entry(self, NOLI_INPUT_SPRING, NOLI_SPRING_NUMBERS * s + numbers[which], share));
  }
done:
  return status;
}

// The compression of a gas follows its pressure where it is not given.
static NoliStatus map_volume(NoliParameters* self, const NoliSim* sim, const Definition* def) {
  NoliStatus status = NOLI_OK;
  int32_t volume = volume_of(sim, def->of);
  int64_t first = NOLI_REGION_NUMBERS * (int64_t)volume;
  double compression = sim->model->problem.volumes.region[volume].law.compression;
  bool pressure = def->kind == NOLI_PARAMETER_VOLUME_PRESSURE;
  if (pressure) {
    NOLI_TRY(add_entry(self, NOLI_INPUT_REGION, first + NOLI_REGION_PRESSURE, 1.0));
  }
  if (!pressure || !(sim->definition.def->volumes[volume].compression > 0.0)) {
    double factor = pressure ? -compression * compression : 1.0;
    NOLI_TRY(add_entry(self, NOLI_INPUT_REGION, first + NOLI_REGION_COMPRESSION, factor));
  }
done:
  return status;
}

// dhat, or the supports that are eps_target.
static NoliStatus map_distance(NoliParameters* self, const NoliModel* model) {
  NoliStatus status = NOLI_OK;
  const NoliGcpModel* gcp = &model->problem.gcp.model;
  if (!has_potential(model)) {
    return add_entry(self, NOLI_INPUT_CONTACT, NOLI_CONTACT_DISTANCE, 1.0);
  }
  for (int32_t v = 0; v < gcp->surface->n_vert; v++) {
    if (gcp->vert_limit[v] == NOLI_NULL_INDEX) {
      NOLI_TRY(add_entry(self, NOLI_INPUT_SUPPORT, v, 1.0));
    }
  }
  if (model->problem.gcp.has_open) {
    NOLI_TRY(add_entry(self, NOLI_INPUT_CONTACT, NOLI_CONTACT_OPEN,
                       (1 - gcp->space) / gcp->parameters.eps_target));
  }
done:
  return status;
}

static NoliStatus map_value(NoliParameters* self, const NoliSim* sim, const Definition* def,
                            int32_t point, int32_t component) {
  NoliStatus status = NOLI_OK;
  const NoliModel* model = sim->model;
  switch (def->kind) {
  case NOLI_PARAMETER_GRAVITY:
    for (int64_t i = 0; i < model->problem.n_vert; i++) {
      NOLI_TRY(add_entry(self, NOLI_INPUT_LOAD, 3 * i + component, model->problem.weight[i]));
    }
    break;
  case NOLI_PARAMETER_FORCE:
    NOLI_TRY(add_entry(self, NOLI_INPUT_FORCE, def->of, 1.0 / self->value[def->first]));
    break;
  case NOLI_PARAMETER_MOTION:
    NOLI_TRY(add_entry(self, NOLI_INPUT_MOTION, NOLI_MOTION_NUMBERS * (int64_t)def->of, 1.0));
    break;
  case NOLI_PARAMETER_MOTION_VELOCITY:
    NOLI_TRY(add_entry(self, NOLI_INPUT_MOTION,
                       NOLI_MOTION_NUMBERS * (int64_t)def->of + NOLI_MOTION_VELOCITY + component,
                       1.0));
    break;
  case NOLI_PARAMETER_THICKNESS:
  case NOLI_PARAMETER_RADIUS:
    NOLI_TRY(map_thin(self, sim, def));
    break;
  case NOLI_PARAMETER_SPRING_STIFFNESS:
  case NOLI_PARAMETER_SPRING_LENGTH:
  case NOLI_PARAMETER_SPRING_DAMPING:
    NOLI_TRY(map_spring(self, model, def));
    break;
  case NOLI_PARAMETER_VOLUME_PRESSURE:
  case NOLI_PARAMETER_VOLUME_COMPRESSION:
    NOLI_TRY(map_volume(self, sim, def));
    break;
  case NOLI_PARAMETER_FRICTION:
    NOLI_TRY(add_entry(self, NOLI_INPUT_FRICTION, def->class_of_pairs, 1.0));
    break;
  case NOLI_PARAMETER_CONTACT_DISTANCE:
    NOLI_TRY(map_distance(self, model));
    break;
  case NOLI_PARAMETER_CONTACT_STIFFNESS:
    NOLI_TRY(
        add_entry(self, NOLI_INPUT_CONTACT, NOLI_CONTACT_STIFFNESS, 1.0 / self->value[def->first]));
    break;
  case NOLI_PARAMETER_CONTACT_OFFSET:
    NOLI_TRY(add_entry(self, NOLI_INPUT_OFFSET, def->of, 1.0));
    break;
  default:
    NOLI_TRY(is_material(def->kind) ? map_material(self, sim, def, point)
                                    : map_vertices(self, sim, def, point, component));
  }
done:
  return status;
}

static NoliStatus map_all(NoliParameters* self, const NoliSim* sim) {
  NoliStatus status = NOLI_OK;
  for (int32_t d = 0; d < self->n_def; d++) {
    const Definition* def = &self->def[d];
    for (int32_t i = 0; i < count_points(def); i++) {
      for (int32_t k = 0; k < def->n_component; k++) {
        self->first_entry[def->first + (int64_t)def->n_component * i + k] = self->entry.count;
        NOLI_TRY(map_value(self, sim, def, i, k));
      }
    }
  }
  self->first_entry[self->n] = self->entry.count;
done:
  return status;
}

void noli_parameters_push(const NoliParameters* self, int64_t index, NoliInputs* change) {
  for (int64_t e = self->first_entry[index]; e < self->first_entry[index + 1]; e++) {
    const Entry* entry = &self->entry.data[e];
    change->value[entry->input][entry->index] += entry->factor;
  }
}

void noli_parameters_pull(const NoliParameters* self, const NoliInputs* from, double* d_p) {
  for (int64_t j = 0; j < self->n; j++) {
    for (int64_t e = self->first_entry[j]; e < self->first_entry[j + 1]; e++) {
      const Entry* entry = &self->entry.data[e];
      const double* value = from->value[entry->input];
      d_p[j] += value != NULL ? entry->factor * value[entry->index] : 0.0;
    }
  }
}

unsigned noli_parameters_wanted(const NoliParameters* self) {
  return self->wanted;
}

// ---- pairs --------------------------------------------------------------------------------------

static int32_t find_class(const void* user, int32_t a, int32_t b) {
  const NoliParameters* self = user;
  int32_t general = NOLI_NULL_INDEX;
  for (int32_t d = 0; d < self->n_def; d++) {
    const Definition* def = &self->def[d];
    if (def->kind != NOLI_PARAMETER_FRICTION) {
      continue;
    }
    if (def->with == NOLI_NULL_INDEX) {
      general = def->class_of_pairs;
    } else if ((def->of == a && def->with == b) || (def->of == b && def->with == a)) {
      return def->class_of_pairs;
    }
  }
  return noli_definition_find_pair(self->source.def, a, b) == NULL ? general : NOLI_NULL_INDEX;
}

NoliPairClasses noli_parameters_classes(const NoliParameters* self) {
  return (NoliPairClasses){find_class, self};
}

int32_t noli_parameters_class_count(const NoliParameters* self) {
  return self->n_class;
}

// ---- making -------------------------------------------------------------------------------------

NoliStatus noli_parameters_create(NoliSim* sim, const NoliParameterDef* defs, int32_t n_defs,
                                  NoliParameters** out) {
  NOLI_REQUIRE(sim != NULL ? sim->context : NULL,
               sim != NULL && out != NULL && n_defs > 0 && defs != NULL);
  NoliStatus status = NOLI_OK;
  NoliParameters* self = NULL;
  *out = NULL;
  NOLI_NEW_ZERO(sim->context, self, 1);
  self->context = sim->context;
  self->n_def = n_defs;
  NOLI_NEW_ZERO(sim->context, self->def, n_defs);
  for (int32_t i = 0; i < n_defs; i++) {
    NOLI_TRY(take(self, sim, &defs[i], i));
  }
  NOLI_TRY(noli_owned_definition_copy(sim->context, sim->definition.def, &self->source));
  noli_sim_fix_lengths(sim, self->source.def);
  NOLI_NEW_ZERO(sim->context, self->value, self->n);
  NOLI_NEW_ZERO(sim->context, self->first_entry, self->n + 1);
  const NoliProblem* problem = &sim->model->problem;
  int64_t n_x = 3 * (int64_t)problem->n_vert;
  NOLI_NEW_ZERO(sim->context, self->volume_slope, problem->volumes.n_region * n_x);
  for (int32_t r = 0; r < problem->volumes.n_region; r++) {
    noli_volume_add_gradient(&problem->volumes, r, problem->X, self->volume_slope + n_x * r);
  }
  NOLI_NEW(sim->context, self->velocity, n_x);
  memcpy(self->velocity, sim->model->v0, noli_sim_vector_bytes(sim));
  for (int32_t i = 0; i < n_defs; i++) {
    set_values(self, sim, &self->def[i]);
  }
  if (has_potential(sim->model)) {
    NOLI_TRY(noli_gcp_shape_create(sim->context, &sim->model->problem.gcp.model,
                                   sim->model->problem.X, &self->shape));
    self->n_weighted = count_weighted(sim->model);
  }
  NOLI_TRY(map_all(self, sim));
done:
  if (status != NOLI_OK) {
    noli_parameters_destroy(&self);
  }
  *out = self;
  return status;
}

void noli_parameters_destroy(NoliParameters** owner) {
  NoliParameters* self = owner != NULL ? *owner : NULL;
  if (self == NULL) {
    return;
  }
  for (int32_t i = 0; self->def != NULL && i < self->n_def; i++) {
    noli_free(self->context, self->def[i].point);
    noli_rest_map_free(self->context, &self->def[i].map);
  }
  noli_owned_definition_free(self->context, &self->source);
  noli_array_free(self->context, &self->entry);
  noli_gcp_shape_free(self->context, &self->shape);
  noli_free(self->context, self->def);
  noli_free(self->context, self->value);
  noli_free(self->context, self->velocity);
  noli_free(self->context, self->volume_slope);
  noli_free(self->context, self->first_entry);
  noli_free(self->context, self);
  *owner = NULL;
}

int64_t noli_parameters_count(const NoliParameters* self) {
  return self != NULL ? self->n : 0;
}

int64_t noli_parameters_first(const NoliParameters* self, int32_t index) {
  bool within = self != NULL && index >= 0 && index < self->n_def;
  return within ? self->def[index].first : noli_parameters_count(self);
}

void noli_parameters_values(const NoliParameters* self, double* values) {
  memcpy(values, self->value, (size_t)self->n * sizeof *values);
}

// ---- other values -------------------------------------------------------------------------------

static NoliStatus apply_elements(NoliContext* context, const Definition* def, const double* value,
                                 NoliOwnedDefinition* definition, int32_t n_element) {
  NoliStatus status = NOLI_OK;
  NoliBodyDef* body = (NoliBodyDef*)(uintptr_t)&definition->def->bodies[def->of];
  const double** field = def->kind == NOLI_PARAMETER_YOUNG     ? &body->fields.young
                         : def->kind == NOLI_PARAMETER_POISSON ? &body->fields.poisson
                                                               : &body->fields.density;
  double uniform = *material_number(def->kind, &body->material);
  NOLI_TRY(noli_array_reserve(context, &definition->memory, definition->memory.count + 1));
  double* made = noli_alloc(context, n_element, sizeof *made);
  NOLI_CHECK(context, made != NULL, NOLI_ERROR_MEMORY, "out of memory");
  definition->memory.data[definition->memory.count++] = made;
  for (int32_t e = 0; e < n_element; e++) {
    made[e] = *field != NULL ? (*field)[e] : uniform;
  }
  for (int32_t i = 0; i < def->n_point; i++) {
    made[def->point[i]] = value[i];
  }
  *field = made;
done:
  return status;
}

// Adds displacements to an array (n_vert x 3) of a body.
static void displace(const Definition* def, const double* value, int32_t n_vert, double* x) {
  bool all = def->scope == NOLI_SCOPE_BODY;
  for (int64_t i = 0; i < (all ? n_vert : def->n_point); i++) {
    for (int32_t k = 0; k < 3; k++) {
      x[3 * (all ? i : def->point[i]) + k] += value[all ? k : 3 * i + k];
    }
  }
}

static NoliStatus apply_positions(NoliContext* context, const Definition* def, const double* value,
                                  NoliOwnedDefinition* definition) {
  NoliStatus status = NOLI_OK;
  NoliBodyDef* body = (NoliBodyDef*)(uintptr_t)&definition->def->bodies[def->of];
  NoliMesh* mesh = (NoliMesh*)(uintptr_t)body->mesh;
  if (def->kind == NOLI_PARAMETER_REST_POSITION) {
    displace(def, value, mesh->n_vert, mesh->x);
    goto done;
  }
  NOLI_TRY(noli_array_reserve(context, &definition->memory, definition->memory.count + 1));
  double* x0 = noli_alloc(context, 3 * (int64_t)mesh->n_vert, sizeof *x0);
  NOLI_CHECK(context, x0 != NULL, NOLI_ERROR_MEMORY, "out of memory");
  definition->memory.data[definition->memory.count++] = x0;
  memcpy(x0, body->x0 != NULL ? body->x0 : mesh->x, 3 * sizeof *x0 * (size_t)mesh->n_vert);
  displace(def, value, mesh->n_vert, x0);
  body->x0 = x0;
done:
  return status;
}

static NoliStatus apply_friction(NoliContext* context, const Definition* def, double value,
                                 NoliOwnedDefinition* definition) {
  NoliSimDef* source = definition->def;
  if (def->with == NOLI_NULL_INDEX) {
    noli_definition_set_friction(value, &source->friction, &source->static_friction);
    return NOLI_OK;
  }
  NoliPairDef pair = noli_definition_pair(source, def->of, def->with);
  noli_definition_set_friction(value, &pair.friction, &pair.static_friction);
  return noli_owned_definition_set_pair(context, definition, &pair);
}

static void apply_volume(const Definition* def, double value, NoliSimDef* source) {
  for (int32_t i = 0; i < source->n_volumes; i++) {
    NoliVolumeDef* volume = (NoliVolumeDef*)(uintptr_t)&source->volumes[i];
    if (volume->body == def->of) {
      *volume_number(def->kind, volume) = value;
    }
  }
}

static void apply_distance(double value, NoliSimDef* source) {
  bool potential = noli_contact_model_find(source->contact_model) == &noli_contact_gcp;
  *(potential ? &source->gcp.eps_target : &source->contact_distance) = (NoliScaled){value, false};
}

static void apply_offset(const Definition* def, double value, NoliSimDef* source) {
  if (def->of < source->n_bodies) {
    ((NoliBodyDef*)(uintptr_t)source->bodies)[def->of].contact_offset = value;
  } else {
    int32_t plane = def->of - source->n_bodies;
    ((NoliHalfSpaceDef*)(uintptr_t)source->half_spaces)[plane].contact_offset = value;
  }
}

static NoliStatus apply(NoliContext* context, const Definition* def, const double* value,
                        NoliOwnedDefinition* definition) {
  NoliSimDef* source = definition->def;
  NoliBodyDef* body = (NoliBodyDef*)(uintptr_t)&source->bodies[is_of_body(def->kind) ? def->of : 0];
  if (def->scope == NOLI_SCOPE_ELEMENTS) {
    int32_t n_element = noli_body_cells(noli_body_kind(body), body->mesh).n;
    return apply_elements(context, def, value, definition, n_element);
  }
  switch (def->kind) {
  case NOLI_PARAMETER_YOUNG:
  case NOLI_PARAMETER_POISSON:
  case NOLI_PARAMETER_DENSITY:
    *material_number(def->kind, &body->material) = *value;
    return NOLI_OK;
  case NOLI_PARAMETER_FRICTION:
    return apply_friction(context, def, *value, definition);
  case NOLI_PARAMETER_GRAVITY:
    memcpy(source->gravity, value, sizeof source->gravity);
    return NOLI_OK;
  case NOLI_PARAMETER_MOTION:
    ((NoliMotionDef*)(uintptr_t)source->motions)[def->of].change = *value - 1.0;
    return NOLI_OK;
  case NOLI_PARAMETER_MOTION_VELOCITY:
    memcpy(((NoliMotionDef*)(uintptr_t)source->motions)[def->of].velocity, value,
           sizeof source->motions->velocity);
    return NOLI_OK;
  case NOLI_PARAMETER_THICKNESS:
    body->shell.thickness = *value;
    return NOLI_OK;
  case NOLI_PARAMETER_RADIUS:
    body->rod.radius = *value;
    return NOLI_OK;
  case NOLI_PARAMETER_SPRING_STIFFNESS:
  case NOLI_PARAMETER_SPRING_LENGTH:
  case NOLI_PARAMETER_SPRING_DAMPING:
    *spring_number(def->kind, (NoliSpringDef*)(uintptr_t)&source->springs[def->of]) = *value;
    return NOLI_OK;
  case NOLI_PARAMETER_VOLUME_PRESSURE:
  case NOLI_PARAMETER_VOLUME_COMPRESSION:
    apply_volume(def, *value, source);
    return NOLI_OK;
  case NOLI_PARAMETER_FORCE:
    ((NoliForceDef*)(uintptr_t)source->forces)[def->of].change = *value - 1.0;
    return NOLI_OK;
  case NOLI_PARAMETER_CONTACT_DISTANCE:
    apply_distance(*value, source);
    return NOLI_OK;
  case NOLI_PARAMETER_CONTACT_STIFFNESS:
    source->barrier_stiffness = *value;
    return NOLI_OK;
  case NOLI_PARAMETER_CONTACT_OFFSET:
    apply_offset(def, *value, source);
    return NOLI_OK;
  case NOLI_PARAMETER_INITIAL_POSITION:
  case NOLI_PARAMETER_REST_POSITION:
    return apply_positions(context, def, value, definition);
  default:
    return NOLI_OK; // velocities are set in the simulation
  }
}

NoliStatus noli_parameters_check(const NoliParameters* self, int32_t index, const double* values) {
  NoliStatus status = NOLI_OK;
  NoliOwnedDefinition definition = {0};
  const Definition* def = &self->def[index];
  if (is_of_body(def->kind) && !is_material(def->kind)) {
    return NOLI_OK;
  }
  NOLI_TRY(noli_owned_definition_copy(self->context, self->source.def, &definition));
  NOLI_TRY(apply(self->context, def, values, &definition));
  NOLI_TRY(noli_definition_check(self->context, definition.def));
done:
  noli_owned_definition_free(self->context, &definition);
  return status;
}

NoliStatus noli_parameters_apply(const NoliParameters* self, const double* values,
                                 NoliContext* context, NoliSim** out) {
  NOLI_REQUIRE(context, self != NULL && values != NULL && context != NULL && out != NULL);
  NoliStatus status = NOLI_OK;
  NoliOwnedDefinition definition = {0};
  NoliSim* sim = NULL;
  *out = NULL;
  for (int64_t i = 0; i < self->n; i++) {
    NOLI_CHECK(context, isfinite(values[i]), NOLI_ERROR_ARGUMENT, "parameter value %lld is %g",
               (long long)i, values[i]);
  }
  NOLI_TRY(noli_owned_definition_copy(context, self->source.def, &definition));
  for (int32_t d = 0; d < self->n_def; d++) {
    NOLI_TRY(apply(context, &self->def[d], values + self->def[d].first, &definition));
  }
  NOLI_TRY(noli_sim_create(context, definition.def, &sim));

  // velocities stay, whatever the shape
  memcpy(sim->model->v0, self->velocity, noli_sim_vector_bytes(sim));
  for (int32_t d = 0; d < self->n_def; d++) {
    const Definition* def = &self->def[d];
    if (def->kind == NOLI_PARAMETER_INITIAL_VELOCITY) {
      int32_t first = sim->model->vert_first[def->of];
      int32_t n = sim->model->vert_first[def->of + 1] - first;
      displace(def, values + def->first, n, sim->model->v0 + 3 * (int64_t)first);
    }
  }
  memcpy(sim->state.v, sim->model->v0, noli_sim_vector_bytes(sim));
  noli_sim_follow(sim);
done:
  noli_owned_definition_free(context, &definition);
  *out = sim;
  return status;
}
