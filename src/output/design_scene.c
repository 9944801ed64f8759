// Scenes with the parameters of a design.
#include "noli/output.h"

#include "base/array.h"
#include "output/file.h"
#include "scene/check.h"
#include "scene/movable.h"
#include "define/definition.h"
#include "model/model.h"
#include "derive/parameters/parameters.h"
#include "define/properties.h"
#include "derive/parameters/material_regions.h"
#include "text/json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Writer {
  NoliContext* context;
  const NoliScene* scene;
  const NoliSimDef* def;
  const NoliSimDef* made;       // with all values
  NoliParameterLengths lengths; // that the search keeps
  const char* path;
  json_t* root;
} Writer;

// A definition of parameters and its values.
typedef struct Change {
  const NoliParameterDef* parameter;
  const double* value; // (n)
  int64_t n;
} Change;

static NoliStatus out_of_memory(const Writer* writer) {
  return noli_fail(writer->context, NOLI_ERROR_MEMORY, "out of memory");
}

static NoliStatus design_scene_set(const Writer* writer, json_t* entry, const char* key,
                                   json_t* value) {
  return json_object_set_new(entry, key, value) == 0 ? NOLI_OK : out_of_memory(writer);
}

static NoliStatus design_scene_refuse(const Writer* writer, const Change* change, const char* why) {
  return noli_fail(writer->context, NOLI_ERROR_ARGUMENT, "%s: \"%s\" of \"%.80s\": %s",
                   writer->path, change->parameter->kind,
                   change->parameter->of != NULL ? change->parameter->of : "", why);
}

// ---- entries ------------------------------------------------------------------------------------

// The entry of `list` with this name.
static json_t* entry_named(const Writer* writer, const char* list, const char* name) {
  json_t* entries = json_object_get(writer->root, list);
  for (size_t i = 0; i < json_array_size(entries) && name != NULL; i++) {
    json_t* entry = json_array_get(entries, i);
    const char* own = json_string_value(json_object_get(entry, "name"));
    if (own != NULL && strcmp(own, name) == 0) {
      return entry;
    }
  }
  return NULL;
}

// The entry of the body of a change, which stands for it alone.
static NoliStatus find_body(const Writer* writer, const Change* change, json_t** entry) {
  *entry = entry_named(writer, "bodies", change->parameter->of);
  return *entry == NULL || json_object_get(*entry, "copies") != NULL
             ? design_scene_refuse(writer, change,
                                   "a scene cannot say this of one of several copies")
             : NOLI_OK;
}

static int32_t body_index(const Writer* writer, const char* name) {
  int32_t b = 0;
  while (b + 1 < writer->def->n_bodies && strcmp(writer->def->bodies[b].name, name) != 0) {
    b++;
  }
  return b;
}

// ---- numbers ------------------------------------------------------------------------------------

static const NoliProperty* property_named(const char* key) {
  int32_t k = 0;
  while (strcmp(noli_property_at(k)->key, key) != 0) {
    k++;
  }
  return noli_property_at(k);
}

static NoliStatus make_list(const Writer* writer, const double* values, int64_t n, json_t** list) {
  NoliStatus status = NOLI_OK;
  *list = json_array();
  for (int64_t i = 0; i < n && status == NOLI_OK; i++) {
    status =
        json_array_append_new(*list, json_real(values[i])) != 0 ? out_of_memory(writer) : NOLI_OK;
  }
  return status;
}

// The material of a body, or of one of its parts.
static json_t* material_of(json_t* entry, int32_t region) {
  json_t* parts = json_object_get(entry, "parts");
  return json_object_get(region > 0 ? json_array_get(parts, (size_t)region - 1) : entry,
                         "material");
}

static NoliStatus set_property(const Writer* writer, const char* key, json_t* value,
                               json_t* material) {
  NoliStatus status = NOLI_OK;
  NOLI_TRY(design_scene_set(writer, material, key, value));
  if (strcmp(key, "poisson") == 0) {
    (void)json_object_del(material, "bulk"); // which said it before
  }
done:
  return status;
}

// Whether a part has the value of its body: it does not say it, nor what replaces it.
static bool inherits(const json_t* part, const json_t* body, const char* key) {
  const char* law = json_string_value(json_object_get(part, "law"));
  const char* of_body = json_string_value(json_object_get(body, "law"));
  bool same = law == NULL || (of_body != NULL && strcmp(law, of_body) == 0);
  bool rubber = json_object_get(part, "ogden") != NULL || json_object_get(part, "c10") != NULL;
  bool replaced = strcmp(key, "young") == 0     ? rubber
                  : strcmp(key, "poisson") == 0 ? json_object_get(part, "bulk") != NULL
                  : strcmp(key, "density") == 0 ? false
                                                : !same;
  return json_object_get(part, key) == NULL && !replaced;
}

// The parts of a body keep its value: they do not follow the parameter.
static NoliStatus keep_in_parts(const Writer* writer, json_t* entry, const char* key) {
  NoliStatus status = NOLI_OK;
  json_t *body = material_of(entry, 0), *value = json_object_get(body, key);
  size_t n = json_array_size(json_object_get(entry, "parts"));
  for (size_t k = 0; k < n && value != NULL; k++) {
    json_t* part = material_of(entry, (int32_t)k + 1);
    if (inherits(part, body, key)) {
      NOLI_TRY(design_scene_set(writer, part, key, json_deep_copy(value)));
    }
  }
done:
  return status;
}

// A property that differs from element to element: a list of its values in each material of the
// body where they have changed.
static NoliStatus set_elements(const Writer* writer, const Change* change, json_t* entry) {
  NoliStatus status = NOLI_OK;
  const NoliProperty* property = property_named(change->parameter->kind);
  int32_t b = body_index(writer, change->parameter->of);
  const NoliBodyDef* body = &writer->def->bodies[b];
  json_t* list = NULL;
  for (int32_t region = 0; region <= body->n_parts; region++) {
    NoliMaterialFields before = *noli_region_fields(body, region);
    NoliMaterialFields after = *noli_region_fields(&writer->made->bodies[b], region);
    const double* from = *noli_property_values(property, &before);
    const double* to = *noli_property_values(property, &after);
    int32_t n = noli_region_size(body, region);
    if (to != NULL && (from == NULL || memcmp(from, to, sizeof *to * (size_t)n) != 0)) {
      NOLI_TRY(make_list(writer, to, n, &list));
      NOLI_TRY(set_property(writer, property->key, json_incref(list), material_of(entry, region)));
      json_decref(list);
      list = NULL;
    }
  }
done:
  json_decref(list);
  return status;
}

static NoliStatus set_material(const Writer* writer, const Change* change) {
  NoliStatus status = NOLI_OK;
  const NoliParameterDef* parameter = change->parameter;
  json_t* entry = NULL;
  NOLI_TRY(find_body(writer, change, &entry));
  if (parameter->scope != NULL && strcmp(parameter->scope, "elements") == 0) {
    return set_elements(writer, change, entry);
  }
  if (parameter->part == 0) {
    NOLI_TRY(keep_in_parts(writer, entry, parameter->kind));
  }
  NOLI_TRY(set_property(writer, parameter->kind, json_real(change->value[0]),
                        material_of(entry, parameter->part)));
done:
  return status;
}

// Friction of all pairs without their own.
static NoliStatus set_general_friction(const Writer* writer, double value) {
  NoliStatus status = NOLI_OK;
  json_t* entry = json_object_get(writer->root, "friction");
  double friction = writer->def->friction, static_friction = writer->def->static_friction;
  noli_definition_set_friction(value, &friction, &static_friction);
  NOLI_TRY(design_scene_set(writer, entry, "coefficient", json_real(friction)));
  (void)json_object_del(entry, "static_coefficient");
  if (static_friction > 0.0) {
    NOLI_TRY(design_scene_set(writer, entry, "static_coefficient", json_real(static_friction)));
  }
done:
  return status;
}

// An entry for a pair, after the others, so that it counts.
// Where it is given.
static NoliStatus set_scaled(const Writer* writer, json_t* entry, const char* key,
                             NoliScaled scaled) {
  return !(scaled.value > 0.0) ? NOLI_OK
         : scaled.relative == NOLI_ABSOLUTE
             ? design_scene_set(writer, entry, key, json_real(scaled.value))
             : design_scene_set(writer, entry, key,
                                json_sprintf("%.17g %c", scaled.value,
                                             scaled.relative == NOLI_OF_BOX ? 'l' : 'd'));
}

static NoliStatus set_friction(const Writer* writer, const Change* change) {
  NoliStatus status = NOLI_OK;
  const NoliParameterDef* parameter = change->parameter;
  if (parameter->of == NULL || parameter->with == NULL) {
    return set_general_friction(writer, change->value[0]);
  }
  NoliPairDef named = {.name_a = parameter->of, .name_b = parameter->with};
  NOLI_TRY(noli_definition_name_pair(writer->context, writer->def, &named));
  NoliPairDef pair = noli_definition_pair(writer->def, named.a, named.b);
  noli_definition_set_friction(change->value[0], &pair.friction, &pair.static_friction);
  json_t* entry = json_pack("{sssssbsfsf}", "a", parameter->of, "b", parameter->with, "contact",
                            pair.contact, "friction", pair.friction, "viscosity", pair.viscosity);
  NOLI_CHECK(writer->context,
             json_array_append_new(json_object_get(writer->root, "pairs"), entry) == 0,
             NOLI_ERROR_MEMORY, "out of memory");
  if (pair.static_friction > 0.0) {
    NOLI_TRY(design_scene_set(writer, entry, "static_friction", json_real(pair.static_friction)));
  }
  NOLI_TRY(set_scaled(writer, entry, "stribeck_speed", pair.stribeck_speed));
  NOLI_TRY(set_scaled(writer, entry, "distance", pair.distance));
done:
  return status;
}

static NoliStatus set_gravity(const Writer* writer, const Change* change) {
  const double* g = change->value;
  return design_scene_set(writer, writer->root, "gravity", json_pack("[fff]", g[0], g[1], g[2]));
}

static NoliStatus set_velocity(const Writer* writer, const Change* change) {
  NoliStatus status = NOLI_OK;
  json_t* entry = NULL;
  double v[3];
  NOLI_TRY(find_body(writer, change, &entry));
  if (change->n != 3) {
    return design_scene_refuse(writer, change, "a scene has one velocity for all vertices");
  }
  for (size_t k = 0; k < 3; k++) {
    v[k] =
        json_number_value(json_array_get(json_object_get(entry, "velocity"), k)) + change->value[k];
  }
  NOLI_TRY(design_scene_set(writer, entry, "velocity", json_pack("[fff]", v[0], v[1], v[2])));
done:
  return status;
}

// ---- expressions --------------------------------------------------------------------------------

// A number or an expression times a factor.
static json_t* times(const json_t* value, double factor) {
  if (json_is_number(value)) {
    return json_real(factor * json_number_value(value));
  }
  const char* text = json_string_value(value);
  return text == NULL || strcmp(text, "free") == 0 ? json_deep_copy(value)
                                                   : json_sprintf("%.17g * (%s)", factor, text);
}

static NoliStatus scale_key(const Writer* writer, json_t* entry, const char* key, double factor) {
  NoliStatus status = NOLI_OK;
  json_t *value = json_object_get(entry, key), *scaled = NULL;
  if (value == NULL || !json_is_array(value)) {
    return value == NULL ? NOLI_OK : design_scene_set(writer, entry, key, times(value, factor));
  }
  scaled = json_array();
  for (size_t i = 0; i < json_array_size(value); i++) {
    if (json_array_append_new(scaled, times(json_array_get(value, i), factor)) != 0) {
      status = out_of_memory(writer);
    }
  }
  if (status == NOLI_OK) {
    return design_scene_set(writer, entry, key, scaled);
  }
  json_decref(scaled);
  return status;
}

static NoliStatus scale_force(const Writer* writer, const Change* change) {
  NoliStatus status = NOLI_OK;
  static const char* const kinds[] = {"acceleration", "nodal", "total", "traction", "pressure"};
  json_t* entry = entry_named(writer, "forces", change->parameter->of);
  if (entry == NULL) {
    return design_scene_refuse(writer, change, "no entry of \"forces\" has this name");
  }
  for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
    NOLI_TRY(scale_key(writer, entry, kinds[k], change->value[0]));
  }
done:
  return status;
}

// ---- motions ------------------------------------------------------------------------------------

// Among one motion or a list of them.
static json_t* motion_named(json_t* motions, const char* name) {
  bool is_list = json_is_array(motions);
  size_t n_single = motions != NULL ? 1 : 0, n = is_list ? json_array_size(motions) : n_single;
  for (size_t i = 0; i < n; i++) {
    json_t* motion = is_list ? json_array_get(motions, i) : motions;
    const char* own = json_string_value(json_object_get(motion, "name"));
    if (own != NULL && strcmp(own, name) == 0) {
      return motion;
    }
  }
  return NULL;
}

static NoliStatus set_motion(const Writer* writer, const Change* change) {
  static const char* const lists[] = {"prescribed", "obstacles"};
  json_t* found = NULL;
  for (size_t k = 0; k < 2 && found == NULL; k++) {
    json_t* list = json_object_get(writer->root, lists[k]);
    for (size_t i = 0; i < json_array_size(list) && found == NULL; i++) {
      found =
          motion_named(json_object_get(json_array_get(list, i), "motion"), change->parameter->of);
    }
  }
  if (found == NULL) {
    return design_scene_refuse(writer, change,
                               "no motion of the scene has this name: give it a \"name\"");
  }
  const double* v = change->value;
  const char* key = strcmp(change->parameter->kind, "motion_spin") == 0 ? "spin" : "drift";
  return change->n == 1
             ? design_scene_set(writer, found, "factor", json_real(v[0]))
             : design_scene_set(writer, found, key, json_pack("[fff]", v[0], v[1], v[2]));
}

// ---- springs, shells, rods ----------------------------------------------------------------------

// A number of an entry that has the name of the parameter, or of an object in it.
static NoliStatus set_number(const Writer* writer, const Change* change, json_t* entry,
                             const char* key) {
  return entry == NULL ? design_scene_refuse(writer, change, "no entry of the scene has this name")
                       : design_scene_set(writer, entry, key, json_real(change->value[0]));
}

static NoliStatus set_spring(const Writer* writer, const Change* change) {
  const char* key = change->parameter->kind + strlen("spring_");
  return set_number(writer, change, entry_named(writer, "springs", change->parameter->of), key);
}

static NoliStatus set_section(const Writer* writer, const Change* change) {
  NoliStatus status = NOLI_OK;
  json_t* entry = NULL;
  const char* kind = change->parameter->kind;
  NOLI_TRY(find_body(writer, change, &entry));
  NOLI_TRY(set_number(writer, change,
                      json_object_get(entry, strcmp(kind, "radius") == 0 ? "rod" : "shell"), kind));
done:
  return status;
}

// ---- volumes and contact ------------------------------------------------------------------------

static NoliStatus set_volume(const Writer* writer, const Change* change) {
  NoliStatus status = NOLI_OK;
  json_t* entry = NULL;
  NOLI_TRY(find_body(writer, change, &entry));
  json_t* volume = json_object_get(entry, "volume");
  volume = json_is_array(volume) ? json_array_get(volume, 0) : volume;
  NOLI_TRY(set_number(writer, change, volume, change->parameter->kind + strlen("volume_")));
done:
  return status;
}

static NoliStatus set_contact(const Writer* writer, const Change* change) {
  bool potential = strcmp(writer->def->contact_model, "gcp") == 0;
  const char* key = strcmp(change->parameter->kind, "contact_stiffness") == 0 ? "stiffness"
                    : potential                                               ? "eps_target"
                                                                              : "distance";
  return set_number(writer, change, json_object_get(writer->root, "contact"), key);
}

static NoliStatus set_friction_number(const Writer* writer, const Change* change) {
  json_t* entry = json_object_get(writer->root, "friction");
  return set_number(writer, change, entry, change->parameter->kind);
}

static NoliStatus set_offset(const Writer* writer, const Change* change) {
  static const char* const lists[] = {"bodies", "obstacles", "half_spaces"};
  json_t* entry = NULL;
  for (size_t k = 0; k < 3 && entry == NULL; k++) {
    entry = entry_named(writer, lists[k], change->parameter->of);
  }
  return entry == NULL || json_object_get(entry, "copies") != NULL
             ? design_scene_refuse(writer, change,
                                   "a scene cannot say this of one of several copies")
             : set_number(writer, change, entry, "contact_offset");
}

// ---- positions ----------------------------------------------------------------------------------

// Adds changes of positions to "rest" or "start" of a body, in a list.
static NoliStatus move_vertices(const Writer* writer, const Change* change, const char* key) {
  NoliStatus status = NOLI_OK;
  const NoliParameterDef* parameter = change->parameter;
  json_t *entry = NULL, *list = NULL;
  double* x = NULL;
  NOLI_TRY(find_body(writer, change, &entry));
  const NoliBodyDef* body = &writer->def->bodies[body_index(writer, parameter->of)];
  int32_t n = body->mesh->n_vert;
  const double* from = strcmp(key, "start") == 0 && body->x0 != NULL ? body->x0 : body->mesh->x;
  NOLI_NEW(writer->context, x, 3 * (int64_t)n);
  memcpy(x, from, 3 * sizeof *x * (size_t)n);
  bool each = parameter->scope != NULL && strcmp(parameter->scope, "vertices") == 0;
  bool some = each && parameter->index != NULL;
  noli_parameter_displace(some ? parameter->index : NULL, some ? parameter->n_index : n, each,
                          change->value, x);
  list = json_array();
  for (int64_t i = 0; i < n; i++) {
    if (json_array_append_new(list, json_pack("[fff]", x[3 * i], x[3 * i + 1], x[3 * i + 2])) !=
        0) {
      status = out_of_memory(writer);
      goto done;
    }
  }

  NOLI_TRY(design_scene_set(writer, entry, key, json_incref(list)));
done:
  json_decref(list);
  noli_free(writer->context, x);
  return status;
}

// Lengths and speeds that are relative to the size of the scene, such as "1e-3 d", keep their
// values, as they do in the search.
static NoliStatus keep_length(const Writer* writer, json_t* entry, const char* key) {
  const char* given = json_string_value(json_object_get(entry, key));
  if (given == NULL) {
    return NOLI_OK;
  }
  NoliScaled scaled = {strtod(given, NULL), noli_scene_relative_to(given)};
  return design_scene_set(writer, entry, key,
                          json_real(noli_resolve(scaled, &writer->lengths.size)));
}

static NoliStatus keep_lengths(const Writer* writer) {
  NoliStatus status = NOLI_OK;
  static const struct {
    const char *entry, *key;
  } lengths[] = {
      {"contact", "eps_target"}, {"contact", "length"},        {"contact", "radius"},
      {"friction", "speed"},     {"friction", "stick_length"}, {"friction", "stribeck_speed"},
      {"pairs", "distance"},     {"pairs", "stribeck_speed"},  {"ties", "distance"}};
  NOLI_TRY(design_scene_set(writer, json_object_get(writer->root, "contact"), "distance",
                            json_real(writer->lengths.contact_distance)));
  for (size_t k = 0; k < sizeof lengths / sizeof *lengths; k++) {
    json_t* entry = json_object_get(writer->root, lengths[k].entry);
    size_t n = json_is_array(entry) ? json_array_size(entry) : 1;
    for (size_t i = 0; i < n; i++) {
      json_t* item = json_is_array(entry) ? json_array_get(entry, i) : entry;
      NOLI_TRY(keep_length(writer, item, lengths[k].key));
    }
  }
done:
  return status;
}

static NoliStatus move_rest(const Writer* writer, const Change* change) {
  NoliStatus status = NOLI_OK;
  NOLI_TRY(keep_lengths(writer));
  NOLI_TRY(move_vertices(writer, change, "rest"));
done:
  return status;
}

static NoliStatus move_start(const Writer* writer, const Change* change) {
  return move_vertices(writer, change, "start");
}

// ---- the scene ----------------------------------------------------------------------------------

static const struct {
  const char* kind;
  NoliStatus (*change)(const Writer* writer, const Change* change);
} changes[] = {
    {"young", set_material},
    {"poisson", set_material},
    {"density", set_material},
    {"friction", set_friction},
    {"gravity", set_gravity},
    {"initial_position", move_start},
    {"initial_velocity", set_velocity},
    {"rest_position", move_rest},
    {"force", scale_force},
    {"thickness", set_section},
    {"radius", set_section},
    {"spring_stiffness", set_spring},
    {"spring_length", set_spring},
    {"spring_damping", set_spring},
    {"motion", set_motion},
    {"motion_velocity", set_motion},
    {"motion_spin", set_motion},
    {"volume_pressure", set_volume},
    {"volume_compression", set_volume},
    {"contact_distance", set_contact},
    {"contact_stiffness", set_contact},
    {"contact_offset", set_offset},
    {"stick_length", set_friction_number},
    {"yield", set_material},
    {"hardening", set_material},
    {"saturation", set_material},
    {"saturation_rate", set_material},
};

static NoliStatus design_scene_apply(const Writer* writer, const Change* change) {
  for (size_t k = 0; k < sizeof changes / sizeof *changes; k++) {
    if (strcmp(changes[k].kind, change->parameter->kind) == 0) {
      return changes[k].change(writer, change);
    }
  }
  return design_scene_refuse(writer, change, "a scene cannot say this");
}

static NoliStatus apply_all(Writer* writer, const NoliDesign* design, const double* variables) {
  NoliStatus status = NOLI_OK;
  const NoliDesignDef* def = noli_scene_design(writer->scene);
  const NoliParameters* parameters = noli_design_parameters(design);
  NoliOwnedDefinition made = {0};
  double* value = NULL;
  NOLI_NEW(writer->context, value, noli_parameters_count(parameters));
  noli_design_values(design, variables, value);
  NOLI_TRY(noli_parameters_define(parameters, value, writer->context, &made));
  writer->made = made.def;
  for (int32_t i = 0; i < def->n_variables; i++) {
    int64_t first = noli_parameters_first(parameters, i);
    Change change = {.parameter = &def->variables[i].parameter,
                     .value = value + first,
                     .n = noli_parameters_first(parameters, i + 1) - first};
    NOLI_TRY(design_scene_apply(writer, &change));
  }
done:
  writer->made = NULL;
  noli_owned_definition_free(writer->context, &made);
  noli_free(writer->context, value);
  return status;
}

// For the folder of the scene that is written.
static NoliStatus name_files(Writer* writer) {
  NoliStatus status = NOLI_OK;
  char* directory = NULL;
  int32_t n_files;
  const NoliSceneFile* files = noli_scene_files(writer->scene, &n_files);
  NOLI_TRY(noli_scene_directory(writer->context, writer->path, &directory));
  NOLI_TRY(noli_scene_make_movable(writer->context, writer->root,
                                   directory[0] != '\0' ? directory : ".", files, n_files));
done:
  noli_free(writer->context, directory);
  return status;
}

NoliStatus noli_output_write_design(NoliContext* context, const NoliScene* scene,
                                    const NoliDesign* design, const double* variables,
                                    const char* path) {
  NOLI_REQUIRE(context, context != NULL && scene != NULL && design != NULL && variables != NULL &&
                            path != NULL && noli_scene_design(scene) != NULL);
  NoliStatus status = NOLI_OK;
  Writer writer = {.context = context,
                   .scene = scene,
                   .def = noli_scene_sim_def(scene),
                   .lengths = noli_parameters_lengths(noli_design_parameters(design)),
                   .path = path};
  NoliSceneText text = {0};
  char* json = NULL;
  json_error_t error;
  NOLI_TRY(noli_scene_json(scene, &json));
  NOLI_TRY(noli_scene_read_json(context, json, strlen(json), 0, &writer.root, &error));
  NOLI_CHECK(context, writer.root != NULL, NOLI_ERROR_INTERNAL, "scene: %s", error.text);
  NOLI_TRY(apply_all(&writer, design, variables));

  // the values are in the scene now; a search would start from them
  (void)json_object_del(writer.root, "design");
  NOLI_TRY(name_files(&writer));
  NOLI_TRY(noli_scene_append_json(context, &text, writer.root, 0));
  NOLI_TRY(noli_scene_append(context, &text, "\n"));
  NOLI_TRY(noli_output_write_text(context, path, text.data));
done:
  noli_scene_free_text(context, &json);
  noli_array_free(context, &text);
  json_decref(writer.root);
  return status;
}
