#include "import/polyfem/polyfem.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { NAME_SIZE = 100, MAX_ARRAY = 100000 };

// A row, a sheet or a block of meshes.
typedef struct Array {
  int32_t size[3];
  double offset[3];
} Array;

// ---- names --------------------------------------------------------------------------------------

static bool is_taken(const NoliPolyfem* import, const char* name) {
  static const char* const lists[] = {"bodies", "obstacles", "half_spaces"};
  for (size_t k = 0; k < sizeof lists / sizeof *lists; k++) {
    const json_t* list = json_object_get(import->scene, lists[k]);
    for (size_t i = 0; i < json_array_size(list); i++) {
      const char* other = json_string_value(json_object_get(json_array_get(list, i), "name"));
      if (other != NULL && strcmp(other, name) == 0) {
        return true;
      }
    }
  }
  return false;
}

// The file without folder and suffix; a number is added where that is taken.
static void make_name(const NoliPolyfem* import, const char* path, char name[NAME_SIZE]) {
  const char* slash = strrchr(path, '/');
  const char* start = slash != NULL ? slash + 1 : path;
  char stem[NAME_SIZE - 20];
  snprintf(stem, sizeof stem, "%s", start);
  char* dot = strrchr(stem, '.');
  if (dot != NULL && dot > stem) {
    *dot = '\0';
  }
  for (char* at = stem; *at != '\0'; at++) {
    *at = strchr("*[]", *at) != NULL ? '_' : *at;
  }
  snprintf(name, NAME_SIZE, "%s", stem);
  for (int i = 2; is_taken(import, name); i++) {
    snprintf(name, NAME_SIZE, "%s_%d", stem, i);
  }
}

// ---- entries of the native scene ----------------------------------------------------------------

static NoliStatus set_placement(const NoliPolyfem* import, json_t* native,
                                const NoliPolyfemPlacement* placement, const double shift[3]) {
  NoliStatus status = NOLI_OK;
  const double *s = placement->scale, *r = placement->rotate;
  double translate[3];
  for (int i = 0; i < 3; i++) {
    translate[i] = placement->translate[i] + shift[i];
  }
  if (s[0] != s[1] || s[1] != s[2]) {
    NOLI_TRY(noli_polyfem_set(import, native, "scale", noli_polyfem_json_vector(s)));
  } else if (s[0] != 1.0) {
    NOLI_TRY(noli_polyfem_set(import, native, "scale", noli_polyfem_json_number(s[0])));
  }
  if (r[0] != 0.0 || r[1] != 0.0 || r[2] != 0.0) {
    NOLI_TRY(noli_polyfem_set(import, native, "rotate", noli_polyfem_json_vector(r)));
  }
  if (translate[0] != 0.0 || translate[1] != 0.0 || translate[2] != 0.0) {
    NOLI_TRY(noli_polyfem_set(import, native, "translate", noli_polyfem_json_vector(translate)));
  }
done:
  return status;
}

// A new entry of a list of the native scene with name, mesh and place; `*native` is borrowed.
static NoliStatus geometry_add_entry(const NoliPolyfem* import, const char* list_key,
                                     const char* path, const NoliPolyfemPlacement* placement,
                                     const double shift[3], json_t** native) {
  NoliStatus status = NOLI_OK;
  char name[NAME_SIZE];
  make_name(import, path, name);
  json_t* list = noli_polyfem_list(import, list_key);
  *native = json_object();
  NOLI_TRY(noli_polyfem_push(import, list, *native));
  NOLI_TRY(noli_polyfem_set(import, *native, "name", json_string(name)));
  NOLI_TRY(noli_polyfem_set(import, *native, "mesh", json_string(path)));
  NOLI_TRY(set_placement(import, *native, placement, shift));
done:
  return status;
}

static NoliStatus set_copies(const NoliPolyfem* import, json_t* native, int32_t count, int axis,
                             double offset) {
  NoliStatus status = NOLI_OK;
  double translate[3] = {0};
  translate[axis] = offset;
  json_t* copies = json_object();
  NOLI_TRY(noli_polyfem_set(import, native, "copies", copies));
  NOLI_TRY(noli_polyfem_set(import, copies, "count", json_integer(count)));
  NOLI_TRY(noli_polyfem_set(import, copies, "translate", noli_polyfem_json_vector(translate)));
done:
  return status;
}

// One entry, or, for an array, an entry for each of its rows. `*names` are those of the entries,
// `last` is what else they all say.
static NoliStatus add_entries(const NoliPolyfem* import, const char* list_key, const char* path,
                              const NoliPolyfemPlacement* placement, const Array* array,
                              const json_t* last, json_t* names) {
  NoliStatus status = NOLI_OK;
  int along = 0;
  for (int i = 1; i < 3; i++) {
    along = array->size[i] > array->size[along] ? i : along;
  }
  int a = (along + 1) % 3, b = (along + 2) % 3;

  for (int32_t i = 0; i < array->size[a]; i++) {
    for (int32_t j = 0; j < array->size[b]; j++) {
      double shift[3] = {0};
      shift[a] = i * array->offset[a];
      shift[b] = j * array->offset[b];
      json_t* native = NULL;
      NOLI_TRY(geometry_add_entry(import, list_key, path, placement, shift, &native));
      if (array->size[along] > 1) {
        NOLI_TRY(set_copies(import, native, array->size[along], along, array->offset[along]));
      }
      json_t* rest = json_deep_copy(last);
      bool added = rest != NULL && json_object_update(native, rest) == 0;
      json_decref(rest);
      NOLI_CHECK(import->source.context, added, NOLI_ERROR_MEMORY, "out of memory");
      if (names != NULL) {
        NOLI_TRY(noli_polyfem_push(import, names, json_incref(json_object_get(native, "name"))));
      }
    }
  }
done:
  return status;
}

// ---- meshes -------------------------------------------------------------------------------------

// Reads the mesh of an entry; `*path` is borrowed.
static NoliStatus read_mesh(NoliPolyfem* import, const NoliSceneNode* entry, const char** path,
                            NoliMesh** mesh) {
  NoliStatus status = NOLI_OK;
  char* full = NULL;
  NoliSceneNode node = noli_scene_member(entry, "mesh");
  NOLI_TRY(noli_polyfem_text(import, &node, path));
  NOLI_POLYFEM_CHECK(import, entry, *path != NULL, "\"mesh\" is missing");
  NOLI_TRY(noli_scene_file_path(&import->source, *path, &full));
  NOLI_TRY(noli_scene_locate_failure(&import->source, &node,
                                     noli_mesh_read(import->source.context, full, mesh)));
  NoliMeshCheck found;
  NOLI_TRY(noli_mesh_check(import->source.context, *mesh, &found));
  NOLI_POLYFEM_CHECK(import, &node, (*mesh)->n_vert > 0, "\"%.140s\" is empty", *path);
  NOLI_POLYFEM_CHECK(import, &node, found.n_bad_indices == 0 && found.n_bad_coordinates == 0,
                     "\"%.140s\" has cells or vertices that are not valid", *path);
done:
  noli_free(import->source.context, full);
  return status;
}

static NoliStatus geometry_read_array(NoliPolyfem* import, const NoliSceneNode* entry,
                                      const NoliMesh* mesh, Array* array) {
  NoliStatus status = NOLI_OK;
  *array = (Array){.size = {1, 1, 1}};
  NoliSceneNode node = noli_scene_member(entry, "array");
  NoliSceneNode offset = noli_scene_member(&node, "offset");
  NoliSceneNode size = noli_scene_member(&node, "size");
  NoliSceneNode relative = noli_scene_member(&node, "relative");
  double step = 0.0, low[3], high[3];
  bool is_relative = false;
  NOLI_POLYFEM_CHECK(import, entry, offset.value != NULL && size.value != NULL,
                     "needs \"array\" with \"offset\" and \"size\"");
  size_t space = import->flat ? 2 : 3;
  NOLI_POLYFEM_CHECK(import, &size, noli_scene_size(&size) == space, "must be %d numbers",
                     (int)space);
  NOLI_TRY(noli_polyfem_number(import, &offset, NOLI_POLYFEM_LENGTH, &step));
  NOLI_TRY(noli_polyfem_bool(import, &relative, &is_relative));
  noli_mesh_bounds(mesh->n_vert, mesh->x, low, high);
  double total = 1.0;
  for (size_t i = 0; i < space; i++) {
    NoliSceneNode item = noli_scene_item(&size, i);
    NOLI_TRY(noli_polyfem_integer(import, &item, &array->size[i]));
    NOLI_POLYFEM_CHECK(import, &item, array->size[i] >= 1, "must be >= 1");
    array->offset[i] = is_relative ? step * (high[i] - low[i]) : step;
    total *= array->size[i];
  }

  NOLI_POLYFEM_CHECK(import, &size, total <= MAX_ARRAY, "%g meshes are more than %d", total,
                     (int)MAX_ARRAY);
done:
  return status;
}

static void shorten(NoliPolyfem* import, const NoliMesh* mesh, int32_t a, int32_t b) {
  const double *p = mesh->x + 3 * (int64_t)a, *q = mesh->x + 3 * (int64_t)b;
  double length = hypot(hypot(p[0] - q[0], p[1] - q[1]), p[2] - q[2]);
  import->shortest_edge = fmin(import->shortest_edge, length);
}

// The edges of triangles (`size` 3), or edges (2).
static void shorten_faces(NoliPolyfem* import, const NoliMesh* mesh, const int32_t* face,
                          int32_t n_face, int32_t size) {
  for (int64_t f = 0; f < n_face; f++) {
    for (int32_t k = 0; k < size; k++) {
      shorten(import, mesh, face[size * f + k], face[size * f + (k + 1) % size]);
    }
  }
}

// ---- bodies -------------------------------------------------------------------------------------

static NoliStatus find_boundary(NoliPolyfem* import, NoliPolyfemBody* body) {
  NoliStatus status = NOLI_OK;
  NoliContext* context = import->source.context;
  const NoliMesh* mesh = body->mesh;
  if (import->flat) {
    NOLI_TRY(noli_mesh_outline(context, mesh, &body->face, &body->n_face));
  } else {
    NOLI_TRY(noli_mesh_boundary(context, mesh, &body->face, &body->n_face));
  }
  body->face_size = import->flat ? 2 : 3;
  NOLI_NEW_ZERO(context, body->used, mesh->n_vert);
  NOLI_NEW_ZERO(context, body->boundary, mesh->n_vert);
  const int32_t* cell = import->flat ? mesh->tri : mesh->tet;
  int64_t n = import->flat ? 3 * (int64_t)mesh->n_tri : 4 * (int64_t)mesh->n_tet;
  for (int64_t k = 0; k < n; k++) {
    body->used[cell[k]] = true;
  }
  for (int64_t k = 0; k < body->face_size * (int64_t)body->n_face; k++) {
    body->boundary[body->face[k]] = true;
  }
  shorten_faces(import, mesh, body->face, body->n_face, body->face_size);
done:
  return status;
}

// The contents of native entries besides mesh and place.
static NoliStatus describe_body(NoliPolyfem* import, const NoliSceneNode* entry,
                                const NoliPolyfemBody* body, json_t* native) {
  NoliStatus status = NOLI_OK;
  json_t* material = NULL;
  double velocity[3] = {0};
  NOLI_TRY(noli_polyfem_read_material(import, entry, body->body_id, &material));
  NOLI_TRY(noli_polyfem_set(import, native, "material", material));
  if (import->flat) {
    NOLI_TRY(noli_polyfem_set(import, native, "plane_strain", json_integer(1)));
  }
  NOLI_TRY(noli_polyfem_read_elements(import, body->body_id, native));
  NOLI_TRY(noli_polyfem_read_velocity(import, body->body_id, velocity));
  if (velocity[0] != 0.0 || velocity[1] != 0.0 || velocity[2] != 0.0) {
    NOLI_TRY(noli_polyfem_set(import, native, "velocity", noli_polyfem_json_vector(velocity)));
  }
done:
  return status;
}

// Selections are made of the refined mesh, there as here.
static NoliStatus refine_body(NoliPolyfem* import, const NoliSceneNode* entry, NoliMesh* mesh,
                              json_t* native) {
  NoliStatus status = NOLI_OK;
  NoliSceneNode node = noli_scene_member(entry, "n_refs");
  int32_t times = 0;
  NOLI_TRY(noli_polyfem_integer(import, &node, &times));
  NOLI_POLYFEM_CHECK(import, &node, times >= 0 && times <= 10, "must be in [0, 10], got %d",
                     (int)times);
  if (times > 0) {
    NOLI_TRY(noli_scene_locate_failure(&import->source, &node,
                                       noli_mesh_refine(import->source.context, mesh, times)));
    NOLI_TRY(noli_polyfem_set(import, native, "refine", json_integer(times)));
  }
done:
  return status;
}

static NoliStatus geometry_read_body(NoliPolyfem* import, const NoliSceneNode* entry, bool is_array,
                                     NoliPolyfemBody* body) {
  NoliStatus status = NOLI_OK;
  const char* path = NULL;
  const char* extract = "volume";
  NoliPolyfemPlacement placement;
  Array array = {.size = {1, 1, 1}};
  json_t* native = json_object();
  NoliSceneNode extract_node = noli_scene_member(entry, "extract");
  NoliSceneNode mesh_node = noli_scene_member(entry, "mesh");

  // only meshes with cells that deform
  NOLI_TRY(noli_polyfem_text(import, &extract_node, &extract));
  NOLI_POLYFEM_CHECK(import, &extract_node, strcmp(extract, "volume") == 0,
                     "only volumes deform; surfaces, edges and points can be obstacles");
  NOLI_TRY(read_mesh(import, entry, &path, &body->mesh));
  NOLI_POLYFEM_CHECK(import, &mesh_node, import->flat || body->mesh->n_tet > 0,
                     "\"%.140s\" has no tetrahedra of order 1: other elements and other orders are "
                     "not supported; a scene in a plane has vectors of two components",
                     path);
  NOLI_POLYFEM_CHECK(import, &mesh_node, !import->flat || body->mesh->n_tri > 0,
                     "\"%.140s\" has no triangles of order 1, which a scene in a plane needs",
                     path);

  // place and refine the mesh, find its boundary and selections
  NOLI_TRY(noli_polyfem_read_placement(import, entry, body->mesh, &placement));
  noli_mesh_transform(body->mesh, placement.scale, placement.rotate, placement.translate);
  NOLI_TRY(refine_body(import, entry, body->mesh, native));
  NOLI_TRY(find_boundary(import, body));
  NOLI_TRY(noli_polyfem_select(import, body));
  if (is_array) {
    NOLI_TRY(geometry_read_array(import, entry, body->mesh, &array));
  }

  // write the native body
  NOLI_TRY(describe_body(import, entry, body, native));
  body->names = json_array();
  NOLI_TRY(add_entries(import, "bodies", path, &placement, &array, native, body->names));
done:
  json_decref(native);
  return status;
}

static void release_body(NoliContext* context, NoliPolyfemBody* body) {
  noli_mesh_destroy(context, &body->mesh);
  noli_mesh_free_array(context, &body->face);
  noli_free(context, body->used);
  noli_free(context, body->boundary);
  noli_free(context, body->face_id);
  noli_free(context, body->node_id);
  json_decref(body->names);
}

void noli_polyfem_release_bodies(NoliPolyfem* import) {
  for (int64_t i = 0; i < import->bodies.count; i++) {
    release_body(import->source.context, &import->bodies.data[i]);
  }
  noli_array_free(import->source.context, &import->bodies);
}

// ---- obstacles ----------------------------------------------------------------------------------

static NoliStatus read_extract(NoliPolyfem* import, const NoliSceneNode* entry, json_t* native) {
  NoliStatus status = NOLI_OK;
  NoliSceneNode node = noli_scene_member(entry, "extract");
  const char* extract = "surface";
  NOLI_TRY(noli_polyfem_text(import, &node, &extract));
  bool plain = strcmp(extract, "surface") == 0 || strcmp(extract, "volume") == 0;
  NOLI_POLYFEM_CHECK(import, &node,
                     plain || strcmp(extract, "edges") == 0 || strcmp(extract, "points") == 0,
                     "must be \"volume\", \"surface\", \"edges\" or \"points\"");
  if (!plain) {
    NOLI_TRY(noli_polyfem_set(import, native, "as", json_string(extract)));
  }
done:
  return status;
}

static NoliStatus set_motion(NoliPolyfem* import, const NoliSceneNode* entry, json_t* native) {
  NoliStatus status = NOLI_OK;
  NoliSceneNode surface = noli_scene_member(entry, "surface_selection");
  if (surface.value == NULL || json_is_null(surface.value)) {
    goto done;
  }
  int32_t id = 0;
  json_t* motion = NULL;
  NOLI_POLYFEM_CHECK(import, &surface, json_is_integer(surface.value),
                     "must be an integer: an obstacle has one number");
  NOLI_TRY(noli_polyfem_integer(import, &surface, &id));
  NOLI_TRY(noli_polyfem_obstacle_motion(import, id, &motion));
  if (motion != NULL) {
    NOLI_TRY(noli_polyfem_set(import, native, "motion", motion));
  }
done:
  return status;
}

// The edges of what takes part of an obstacle.
static NoliStatus shorten_obstacle(NoliPolyfem* import, const NoliMesh* mesh) {
  NoliStatus status = NOLI_OK;
  NoliMesh* surface = NULL;
  int32_t *edge = NULL, n_edge = 0;
  NOLI_TRY(noli_mesh_extract(import->source.context, mesh, "surface", &surface));
  if (import->flat) {
    NOLI_TRY(noli_mesh_outline(import->source.context, surface, &edge, &n_edge));
    shorten_faces(import, surface, edge, n_edge, 2);
  } else {
    shorten_faces(import, surface, surface->tri, surface->n_tri, 3);
  }
  shorten_faces(import, surface, surface->edge, surface->n_edge, 2);
done:
  noli_free(import->source.context, edge);
  noli_mesh_destroy(import->source.context, &surface);
  return status;
}

// Flat faces touch as before when they are cut; PolyFEM refuses it for triangles too.
static NoliStatus refuse_refinement(NoliPolyfem* import, const NoliSceneNode* entry) {
  NoliStatus status = NOLI_OK;
  NoliSceneNode node = noli_scene_member(entry, "n_refs");
  int32_t times = 0;
  NOLI_TRY(noli_polyfem_integer(import, &node, &times));
  NOLI_POLYFEM_CHECK(import, &node, times == 0, "obstacles are not refined: must be 0");
done:
  return status;
}

static NoliStatus read_obstacle(NoliPolyfem* import, const NoliSceneNode* entry, bool is_array) {
  NoliStatus status = NOLI_OK;
  const char* path = NULL;
  NoliPolyfemPlacement placement;
  Array array = {.size = {1, 1, 1}};
  NoliMesh* mesh = NULL;
  json_t* native = json_object();

  NOLI_TRY(refuse_refinement(import, entry));
  NOLI_TRY(read_mesh(import, entry, &path, &mesh));
  NOLI_TRY(noli_polyfem_read_placement(import, entry, mesh, &placement));
  noli_mesh_transform(mesh, placement.scale, placement.rotate, placement.translate);
  NOLI_TRY(shorten_obstacle(import, mesh));
  if (is_array) {
    NOLI_TRY(geometry_read_array(import, entry, mesh, &array));
  }
  NOLI_TRY(read_extract(import, entry, native));
  if (import->flat && mesh->n_tri > 0 && json_object_get(native, "as") == NULL) {
    NOLI_TRY(noli_polyfem_set(import, native, "plane_strain", json_integer(1)));
  }
  NOLI_TRY(set_motion(import, entry, native));
  NOLI_TRY(add_entries(import, "obstacles", path, &placement, &array, native, NULL));
done:
  noli_mesh_destroy(import->source.context, &mesh);
  json_decref(native);
  return status;
}

// Meshes that follow each other.
static NoliStatus read_sequence(NoliPolyfem* import, NoliSceneNode* entry) {
  NoliStatus status = NOLI_OK;
  NoliSceneNode files = noli_scene_member(entry, "mesh_sequence");
  NoliSceneNode fps = noli_scene_member(entry, "fps");
  NoliSceneNode transformation = noli_scene_member(entry, "transformation");
  NoliSceneNode dimensions = noli_scene_member(&transformation, "dimensions");
  NoliMesh* mesh = NULL;
  char* full = NULL;
  json_t *native = json_object(), *names = NULL;
  double rate = 0.0;

  // what sequences cannot do
  NOLI_POLYFEM_CHECK(import, &dimensions, dimensions.value == NULL,
                     "a sequence cannot be fitted frame by frame: use \"scale\"");
  NOLI_POLYFEM_CHECK(import, entry, import->t0 == 0.0, "a sequence needs time to start at 0");

  // files and rate
  NOLI_TRY(noli_polyfem_number(import, &fps, NOLI_POLYFEM_NONE, &rate));
  NOLI_TRY(noli_polyfem_sequence_files(import, &files, &names));
  const char* first = json_string_value(json_array_get(names, 0));
  NOLI_TRY(noli_scene_file_path(&import->source, first, &full));
  NOLI_TRY(noli_scene_locate_failure(&import->source, &files,
                                     noli_mesh_read(import->source.context, full, &mesh)));

  NoliPolyfemPlacement placement;
  NOLI_TRY(noli_polyfem_read_placement(import, entry, mesh, &placement));
  noli_mesh_transform(mesh, placement.scale, placement.rotate, placement.translate);
  NOLI_TRY(shorten_obstacle(import, mesh));
  NOLI_TRY(read_extract(import, entry, native));

  // the motion of the obstacle
  json_t *motion = json_object(), *sequence = json_object();
  NOLI_TRY(noli_polyfem_set(import, native, "motion", motion));
  NOLI_TRY(noli_polyfem_set(import, motion, "sequence", sequence));
  NOLI_TRY(noli_polyfem_set(import, sequence, "files", json_incref(names)));
  NOLI_TRY(noli_polyfem_set(import, sequence, "fps", noli_polyfem_json_number(rate)));
  NOLI_TRY(add_entries(import, "obstacles", first, &placement, &(Array){.size = {1, 1, 1}}, native,
                       NULL));
done:
  noli_mesh_destroy(import->source.context, &mesh);
  noli_free(import->source.context, full);
  json_decref(names);
  json_decref(native);
  return status;
}

static NoliStatus read_plane(NoliPolyfem* import, const NoliSceneNode* entry, bool is_ground) {
  NoliStatus status = NOLI_OK;
  NoliSceneNode point = noli_scene_member(entry, "point");
  NoliSceneNode normal = noli_scene_member(entry, "normal");
  NoliSceneNode height = noli_scene_member(entry, "height");
  double origin[3] = {0}, direction[3] = {0.0, 1.0, 0.0};
  char name[NAME_SIZE];
  int32_t n;
  if (is_ground) {
    NOLI_POLYFEM_CHECK(import, entry, height.value != NULL, "\"height\" is missing");
    NOLI_TRY(noli_polyfem_number(import, &height, NOLI_POLYFEM_LENGTH, &origin[1]));
  } else {
    NOLI_TRY(noli_polyfem_vector(import, &point, NOLI_POLYFEM_LENGTH, origin, &n));
    NOLI_POLYFEM_CHECK(import, entry, n == 3, "needs a \"point\" of 3 numbers");
    NOLI_TRY(noli_polyfem_vector(import, &normal, NOLI_POLYFEM_NONE, direction, &n));
    NOLI_POLYFEM_CHECK(import, entry, n == 3, "needs a \"normal\" of 3 numbers");
  }

  make_name(import, is_ground ? "ground" : "plane", name);
  json_t* native = json_object();
  NOLI_TRY(noli_polyfem_push(import, noli_polyfem_list(import, "half_spaces"), native));
  NOLI_TRY(noli_polyfem_set(import, native, "name", json_string(name)));
  NOLI_TRY(noli_polyfem_set(import, native, "origin", noli_polyfem_json_vector(origin)));
  NOLI_TRY(noli_polyfem_set(import, native, "normal", noli_polyfem_json_vector(direction)));
done:
  return status;
}

// ---- all of it ----------------------------------------------------------------------------------

static NoliStatus read_entry(NoliPolyfem* import, NoliSceneNode* entry, size_t index) {
  NoliStatus status = NOLI_OK;
  NoliSceneNode enabled = noli_scene_member(entry, "enabled");
  NoliSceneNode obstacle = noli_scene_member(entry, "is_obstacle");
  NoliSceneNode type_node = noli_scene_member(entry, "type");
  const char* type = "mesh";
  bool is_enabled = true, is_obstacle = false;

  // kind of the entry
  NOLI_POLYFEM_CHECK(import, entry, json_is_object(entry->value), "must be an object");
  NOLI_TRY(noli_polyfem_bool(import, &enabled, &is_enabled));
  NOLI_TRY(noli_polyfem_bool(import, &obstacle, &is_obstacle));
  NOLI_TRY(noli_polyfem_text(import, &type_node, &type));
  bool is_array = strcmp(type, "mesh_array") == 0;

  // disabled entries are ignored; others are bodies
  if (!is_enabled) {
    goto done;
  }
  if (!is_obstacle && (is_array || strcmp(type, "mesh") == 0)) {
    NoliPolyfemBody body = {.entry = index};
    NOLI_PUSH(import->source.context, &import->bodies, body);
    status =
        geometry_read_body(import, entry, is_array, &import->bodies.data[import->bodies.count - 1]);
    goto done;
  }

  // or obstacles
  NOLI_POLYFEM_CHECK(import, entry, is_obstacle, "type \"%.40s\" needs \"is_obstacle\": true",
                     type);
  if (is_array || strcmp(type, "mesh") == 0) {
    status = read_obstacle(import, entry, is_array);
  } else if (strcmp(type, "mesh_sequence") == 0) {
    status = read_sequence(import, entry);
  } else if (strcmp(type, "plane") == 0 || strcmp(type, "ground") == 0) {
    status = read_plane(import, entry, type[0] == 'g');
  } else {
    NOLI_POLYFEM_CHECK(import, &type_node, false,
                       "type \"%.40s\" is not known; known: mesh, mesh_array, mesh_sequence, "
                       "plane, ground",
                       type);
  }
done:
  return status;
}

NoliStatus noli_polyfem_read_geometry(NoliPolyfem* import) {
  NoliStatus status = NOLI_OK;
  import->shortest_edge = HUGE_VAL;
  NOLI_POLYFEM_CHECK(import, &import->root, noli_polyfem_count(&import->geometry) > 0,
                     "\"geometry\" is missing");
  for (size_t i = 0; i < noli_polyfem_count(&import->geometry); i++) {
    NoliSceneNode entry = noli_polyfem_entry(&import->geometry, i);
    NOLI_TRY(read_entry(import, &entry, i));
  }
  NOLI_POLYFEM_CHECK(import, &import->geometry, import->bodies.count > 0,
                     "nothing deforms: all entries are obstacles or not enabled");
done:
  return status;
}
