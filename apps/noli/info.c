#include "commands.h"
#include "console.h"
#include "describe.h"
#include "load.h"

#include "noli/import.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

#include <jansson.h>

static bool has_suffix(const char* path, const char* suffix) {
  size_t n = strlen(path), k = strlen(suffix);
  return n >= k && strcmp(path + n - k, suffix) == 0;
}

// ---- results ----

static void print_value(const char* indent, const char* key, const json_t* value) {
  switch (json_typeof(value)) {
  case JSON_STRING:
    print("%s%s: %s\n", indent, key, json_string_value(value));
    break;
  case JSON_INTEGER:
    print("%s%s: %" JSON_INTEGER_FORMAT "\n", indent, key, json_integer_value(value));
    break;
  case JSON_REAL:
    print("%s%s: %g\n", indent, key, json_real_value(value));
    break;
  case JSON_TRUE:
  case JSON_FALSE:
    print("%s%s: %s\n", indent, key, json_is_true(value) ? "yes" : "no");
    break;
  case JSON_NULL:
    print("%s%s: -\n", indent, key);
    break;
  case JSON_OBJECT:
  case JSON_ARRAY:
    print("%s%s: %zu entries\n", indent, key,
          json_is_object(value) ? json_object_size(value) : json_array_size(value));
    break;
  }
}

static void print_object(const char* indent, json_t* object) {
  const char* key;
  json_t* value;
  json_object_foreach(object, key, value) {
    if (json_is_object(value)) {
      print("%s%s:\n", indent, key);
      print_object("  ", value);
    } else {
      print_value(indent, key, value);
    }
  }
}

// Prints a summary; `*is_summary` is false, and nothing printed, for other JSON.
static NoliStatus info_summary(NoliContext* context, const char* path, bool* is_summary) {
  NoliStatus status = NOLI_OK;
  char* text = NULL;
  size_t size;
  json_error_t error;
  json_t* root = NULL;
  *is_summary = false;
  FILE* file = fopen(path, "rb");
  NOLI_CHECK(context, file != NULL, NOLI_ERROR_IO, "%s: cannot read: %s", path, strerror(errno));
  NOLI_TRY(load_text(context, file, path, &text, &size));
  root = json_loadb(text, size, 0, &error);
  *is_summary = json_object_get(root, "noli") != NULL && json_object_get(root, "finished") != NULL;
  if (*is_summary) {
    print_object("", root);
  }
done:
  if (file != NULL) {
    fclose(file);
  }
  json_decref(root);
  noli_free(context, text);
  return status;
}

static NoliStatus info_frames(NoliContext* context, const char* path) {
  NoliRunFrame* frames = NULL;
  int64_t n = 0;
  NoliStatus status = noli_run_read_frames(context, path, &frames, &n);
  if (status == NOLI_OK) {
    print("%" PRId64 " frames", n);
    if (n > 0) {
      print(", from t = %g s (step %" PRId64 ") to t = %g s (step %" PRId64 ")", frames[0].time,
            frames[0].step, frames[n - 1].time, frames[n - 1].step);
    }
    print("\n");
  }
  noli_run_free_frames(context, &frames);
  return status;
}

static NoliStatus info_checkpoint(NoliContext* context, const char* path) {
  NoliCheckpointInfo info;
  NoliStatus status = noli_checkpoint_info(context, path, &info);
  if (status == NOLI_OK) {
    print("checkpoint of noli %s: step %" PRId64 ", t = %g s, state %016" PRIx64 "%s\n",
          info.version, info.step, info.time, info.hash,
          info.scene_json != NULL ? ", with its scene" : "");
  }
  noli_checkpoint_info_free(context, &info);
  return status;
}

// The lists of frames of a run; that of the default format if there is none.
static NoliStatus info_lists(NoliContext* context, const char* directory) {
  NoliStatus status = NOLI_OK;
  struct stat about;
  char name[4096];
  bool any = false;
  for (int32_t i = 0; noli_run_frame_list(i) != NULL; i++) {
    snprintf(name, sizeof name, "%s/%s", directory, noli_run_frame_list(i));
    if (stat(name, &about) == 0) {
      NOLI_TRY(info_frames(context, name));
      any = true;
    }
  }
  if (!any) {
    snprintf(name, sizeof name, "%s/%s", directory, noli_run_frame_list(0));
    NOLI_TRY(info_frames(context, name));
  }
done:
  return status;
}

static NoliStatus info_directory(NoliContext* context, const char* path) {
  NoliStatus status = NOLI_OK;
  struct stat about;
  char name[4096];
  bool is_summary = false;
  snprintf(name, sizeof name, "%s/summary.json", path);
  NOLI_CHECK(context, stat(name, &about) == 0, NOLI_ERROR_FORMAT,
             "%s: not a result of Noli: it has no summary.json", path);
  NOLI_TRY(info_summary(context, name, &is_summary));
  NOLI_CHECK(context, is_summary, NOLI_ERROR_FORMAT, "%s: not a summary of Noli", name);
  NOLI_TRY(info_lists(context, path));
  snprintf(name, sizeof name, "%s/checkpoint.h5", path);
  NOLI_TRY(info_checkpoint(context, name));
done:
  return status;
}

// ---- scenes and meshes ----

static NoliStatus info_scene(NoliContext* context, const char* path) {
  NoliStatus status = NOLI_OK;
  NoliScene* scene = NULL;
  NOLI_TRY(noli_import_load(context, path, NULL, 0, &scene));
  const NoliSimDef* def = noli_scene_sim_def(scene);
  print("scene \"%s\": %" PRId64 " steps, %g s\n", noli_scene_name(scene),
        noli_scene_step_count(scene), noli_scene_duration(scene));
  describe_definition(def);
  print("%d motions, %d forces, %d pairs with individual settings\n", (int)def->n_motions,
        (int)def->n_forces, (int)def->n_pairs);
done:
  noli_scene_destroy(&scene);
  return status;
}

static NoliStatus info_mesh(NoliContext* context, const char* path) {
  NoliStatus status = NOLI_OK;
  NoliMesh* mesh = NULL;
  NoliMeshCheck found;
  NoliMeshSets sets = {0};
  NOLI_TRY(noli_mesh_read_sets(context, path, &mesh, &sets));
  NOLI_TRY(noli_mesh_check(context, mesh, &found));
  for (int32_t s = 0; s < sets.n; s++) {
    print("set \"%s\": %lld vertices\n", sets.name[s],
          (long long)(sets.first[s + 1] - sets.first[s]));
  }
  print("%s\n", describe_mesh(mesh, &found) == 0 ? "fit for simulation" : "NOT fit for simulation");
done:
  noli_mesh_destroy(context, &mesh);
  noli_mesh_sets_free(context, &sets);
  return status;
}

static NoliStatus info_file(NoliContext* context, const char* path) {
  struct stat about;
  bool is_summary = false;
  if (stat(path, &about) == 0 && S_ISDIR(about.st_mode)) {
    return info_directory(context, path);
  }
  if (has_suffix(path, ".json")) {
    NoliStatus status = info_summary(context, path, &is_summary);
    return status != NOLI_OK || is_summary ? status : info_scene(context, path);
  }
  bool is_log = has_suffix(path, "log.txt");
  if ((has_suffix(path, ".txt") && !is_log) || has_suffix(path, ".ipc")) {
    return info_scene(context, path);
  }
  for (int32_t i = 0; noli_run_frame_list(i) != NULL; i++) {
    if (has_suffix(path, ".pvd") || has_suffix(path, noli_run_frame_list(i))) {
      return info_frames(context, path);
    }
  }

  if (has_suffix(path, ".h5")) {
    return info_checkpoint(context, path);
  }
  if (has_suffix(path, ".vtu") || has_suffix(path, ".csv") || is_log) {
    return noli_fail(context, NOLI_ERROR_FORMAT,
                     "%s: `noli info` describes a result directory and its summary.json, list of "
                     "frames and checkpoint.h5, not this file",
                     path);
  }
  return info_mesh(context, path);
}

static int info(const Arguments* arguments) {
  Console console = {0};
  int exit_status = EXIT_DONE;
  NoliContext* context = console_context(&console, 0);
  if (context == NULL) {
    return EXIT_SYSTEM;
  }
  NoliStatus status = info_file(context, arguments->argument[0]);
  if (status != NOLI_OK) {
    fflush(stdout);
    exit_status = console_fail(&console, context, status);
  }
  noli_context_destroy(&context);
  return exit_status;
}

const Command command_info = {
    .name = "info",
    .usage = "FILE",
    .summary = "Print a summary of a mesh, scene or result.",
    .details =
        "FILE is a mesh (.msh .vtk .mesh .inp .obj .ply .stl .seg .pt), a scene (.json .txt\n"
        ".ipc), a result directory, or a file of one (summary.json, frames.pvd, checkpoint.h5).",
    .n_arguments = 1,
    .options = NULL,
    .n_options = 0,
    .run = info,
};
