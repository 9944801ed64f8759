// Scenes with the start that a repair found.
#include "noli/output.h"

#include "base/array.h"
#include "base/definition_lists.h"
#include "output/file.h"
#include "scene/movable.h"
#include "text/json.h"

#include <stdio.h>
#include <string.h>

typedef struct Writer {
  NoliContext* context;
  const NoliSimDef* def;
  const NoliRepair* repair;
  const char* path;
  char* directory; // of `path`
  json_t* root;
  NOLI_ARRAY(char*) written; // files with starts
} Writer;

// ---- what refers to places ----

static bool is_name(const json_t* item, const char* key, const char* name) {
  const char* given = json_string_value(json_object_get(item, key));
  return given != NULL && (strcmp(given, name) == 0 || strcmp(given, "*") == 0);
}

static bool names_body(const json_t* list, const char* name) {
  for (size_t i = 0; i < json_array_size(list); i++) {
    const json_t* item = json_array_get(list, i);
    if (is_name(item, "body", name) || is_name(item, "to", name)) {
      return true;
    }
  }
  return false;
}

// Whether another `translate` would change more than where the body is: selections and expressions
// refer to places at rest.
static bool refers_to_place(const Writer* writer, const json_t* entry, const char* name) {
#define NAME(list, type, item, ITEM) , #list
  static const char* const lists[] = {"forces", "prescribed" NOLI_CONNECTION_LISTS(NAME)};
#undef NAME
  static const char* const fields[] = {"young", "poisson", "density"};
  const json_t* material = json_object_get(entry, "material");
  bool refers = json_array_size(json_object_get(entry, "parts")) > 0 ||
                json_object_get(entry, "start") != NULL || json_object_get(entry, "copies") != NULL;
  for (size_t k = 0; k < sizeof lists / sizeof *lists; k++) {
    refers = refers || names_body(json_object_get(writer->root, lists[k]), name);
  }
  for (size_t k = 0; k < sizeof fields / sizeof *fields; k++) {
    refers = refers || json_is_string(json_object_get(material, fields[k]));
  }
  const json_t* output = json_object_get(writer->root, "output");
  return refers || names_body(json_object_get(output, "probes"), name);
}

// ---- starts ----

static NoliStatus repaired_scene_set(Writer* writer, json_t* entry, const char* key,
                                     json_t* value) {
  return json_object_set_new(entry, key, value) == 0
             ? NOLI_OK
             : noli_fail(writer->context, NOLI_ERROR_MEMORY, "out of memory");
}

static NoliStatus set_translation(Writer* writer, json_t* entry, const NoliRepairMove* move) {
  const json_t* old = json_object_get(entry, "translate");
  double to[3];
  for (size_t k = 0; k < 3; k++) {
    to[k] = json_number_value(json_array_get(old, k)) + move->translation[k];
  }
  return repaired_scene_set(writer, entry, "translate", json_pack("[fff]", to[0], to[1], to[2]));
}

// The numbers of the cells of copy c; the lists are NULL if there are none.
static void repaired_scene_copy_cells(int32_t* to, const int32_t* from, int32_t n, int32_t c,
                                      int32_t first_vert) {
  for (int32_t i = 0; i < n; i++) {
    to[(int64_t)c * n + i] = from[i] + first_vert;
  }
}

// All copies of a body where they start, one after another, straight.
static NoliStatus repaired_scene_merge(Writer* writer, int32_t first, int32_t n_copies,
                                       NoliMesh** out) {
  NoliStatus status = NOLI_OK;
  const NoliMesh* one = writer->def->bodies[first].mesh;
  NOLI_CHECK(writer->context,
             (int64_t)n_copies * (one->n_vert + 6 * (int64_t)one->n_tet) < INT32_MAX / 4,
             NOLI_ERROR_TOO_LARGE, "the copies of \"%.80s\" are too many for one file",
             writer->def->bodies[first].name);
  NOLI_TRY(noli_mesh_create(writer->context, n_copies * one->n_vert, n_copies * one->n_tet,
                            n_copies * one->n_tri, n_copies * one->n_edge, n_copies * one->n_point,
                            false, out));
  for (int32_t c = 0; c < n_copies; c++) {
    NoliMesh* to = *out;
    int32_t v = c * one->n_vert;
    memcpy(&to->x[3 * (int64_t)v], writer->repair->move[first + c].x0,
           3 * sizeof(double) * (size_t)one->n_vert);
    repaired_scene_copy_cells(to->tet, one->tet, 4 * one->n_tet, c, v);
    repaired_scene_copy_cells(to->tri, one->tri, 3 * one->n_tri, c, v);
    repaired_scene_copy_cells(to->edge, one->edge, 2 * one->n_edge, c, v);
    repaired_scene_copy_cells(to->point, one->point, one->n_point, c, v);
  }
done:
  return status;
}

// "NAME_BODY_start.vtk" beside the scene; other characters than letters, digits and ".-" in the
// name of the body become "_".
static NoliStatus write_start(Writer* writer, json_t* entry, const char* name, int32_t first,
                              int32_t n_copies) {
  NoliStatus status = NOLI_OK;
  NoliMesh* mesh = NULL;
  char* file = NULL;
  size_t stem = strlen(writer->path) - strlen(".json"), size = stem + strlen(name) + 32;
  NOLI_NEW(writer->context, file, (int64_t)size);
  snprintf(file, size, "%.*s_%s_%d_start.vtk", (int)stem, writer->path, name, (int)first);
  for (size_t i = stem; file[i] != '\0'; i++) {
    bool plain =
        strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-", file[i]) != NULL;
    file[i] = plain ? file[i] : '_';
  }
  NOLI_TRY(repaired_scene_merge(writer, first, n_copies, &mesh));
  NOLI_TRY(noli_mesh_write(writer->context, file, mesh));
  status = repaired_scene_set(writer, entry, "start", json_string(noli_file_name(file)));
  NOLI_PUSH(writer->context, &writer->written, file);
  file = NULL;
done:
  noli_mesh_destroy(writer->context, &mesh);
  noli_free(writer->context, file);
  return status;
}

static NoliStatus set_starts(Writer* writer) {
  NoliStatus status = NOLI_OK;
  const json_t* bodies = json_object_get(writer->root, "bodies");
  int32_t first = 0;

  for (size_t i = 0; i < json_array_size(bodies); i++) {
    json_t* entry = json_array_get(bodies, i);
    const json_t* copies = json_object_get(entry, "copies");
    char number[32];
    snprintf(number, sizeof number, "body_%zu", i);
    const char* given = json_string_value(json_object_get(entry, "name"));
    const char* name = given != NULL ? given : number;
    int32_t n = copies != NULL ? (int32_t)json_integer_value(json_object_get(copies, "count")) : 1;
    bool moved = false, deformed = false;
    for (int32_t c = 0; c < n; c++) {
      moved = moved || writer->repair->move[first + c].distance > 0.0;
      deformed = deformed || writer->repair->move[first + c].deformation > 0.0;
    }
    if (moved && !deformed && !refers_to_place(writer, entry, name)) {
      NOLI_TRY(set_translation(writer, entry, &writer->repair->move[first]));
    } else if (moved) {
      NOLI_TRY(write_start(writer, entry, name, first, n));
    }
    first += n;
  }
done:
  return status;
}

// ---- the scene ----

// Reads the text as a scene and searches it for defects.
static NoliStatus verify(Writer* writer, const char* text) {
  NoliStatus status = NOLI_OK;
  NoliScene* scene = NULL;
  NoliDefect* defects = NULL;
  int64_t n = 0;
  NOLI_TRY(
      noli_scene_parse(writer->context, text, writer->path, writer->directory, NULL, 0, &scene));
  NOLI_TRY(noli_sim_check(writer->context, noli_scene_sim_def(scene), &defects, &n));
  NOLI_CHECK(writer->context, n == 0 || defects[0].kind == NOLI_DEFECT_PENETRATION,
             NOLI_ERROR_INTERSECTION,
             "%s: not written: placed anew, the repaired scene has %lld defects", writer->path,
             (long long)n);
done:
  noli_sim_check_free(writer->context, &defects);
  noli_scene_destroy(&scene);
  return status;
}

static NoliStatus write_scene(Writer* writer, const NoliScene* scene) {
  NoliStatus status = NOLI_OK;
  NoliSceneText text = {0};
  NOLI_TRY(set_starts(writer));
  int32_t n_files;
  const NoliSceneFile* files = noli_scene_files(scene, &n_files);
  NOLI_TRY(
      noli_scene_make_movable(writer->context, writer->root, writer->directory, files, n_files));
  NOLI_TRY(noli_scene_append_json(writer->context, &text, writer->root, 0));
  NOLI_TRY(noli_scene_append(writer->context, &text, "\n"));
  NOLI_TRY(verify(writer, text.data));
  NOLI_TRY(noli_output_write_text(writer->context, writer->path, text.data));
done:
  noli_array_free(writer->context, &text);
  return status;
}

static NoliStatus read_scene(Writer* writer, const NoliScene* scene) {
  NoliStatus status = NOLI_OK;
  char* json = NULL;
  json_error_t error;
  const char* slash = strrchr(writer->path, '/');
  NOLI_TRY(noli_scene_json(scene, &json));
  NOLI_TRY(noli_scene_read_json(writer->context, json, strlen(json), 0, &writer->root, &error));
  NOLI_CHECK(writer->context, writer->root != NULL, NOLI_ERROR_INTERNAL, "scene: %s", error.text);
  writer->directory = noli_strdup(writer->context, slash != NULL ? writer->path : ".");
  NOLI_CHECK(writer->context, writer->directory != NULL, NOLI_ERROR_MEMORY, "out of memory");
  if (slash != NULL) {
    writer->directory[slash - writer->path + (slash == writer->path ? 1 : 0)] = '\0';
  }
done:
  noli_scene_free_text(writer->context, &json);
  return status;
}

NoliStatus noli_output_write_repaired(NoliContext* context, const NoliScene* scene,
                                      const NoliRepair* repair, const char* path) {
  NOLI_REQUIRE(context, context != NULL && scene != NULL && repair != NULL && path != NULL);
  NoliStatus status = NOLI_OK;
  Writer writer = {
      .context = context, .def = noli_scene_sim_def(scene), .repair = repair, .path = path};
  size_t n = strlen(path);

  NOLI_CHECK(context, n > 5 && strcmp(path + n - 5, ".json") == 0, NOLI_ERROR_ARGUMENT,
             "%s: a scene is written as .json", path);
  NOLI_CHECK(context, repair->n_bodies == writer.def->n_bodies, NOLI_ERROR_ARGUMENT,
             "the repair has %d bodies, the scene %d", (int)repair->n_bodies,
             (int)writer.def->n_bodies);
  NOLI_TRY(read_scene(&writer, scene));
  NOLI_TRY(write_scene(&writer, scene));
done:
  for (int64_t i = 0; i < writer.written.count; i++) {
    if (status != NOLI_OK) {
      (void)remove(writer.written.data[i]);
    }
    noli_free(context, writer.written.data[i]);
  }
  noli_array_free(context, &writer.written);
  noli_free(context, writer.directory);
  json_decref(writer.root);
  return status;
}
