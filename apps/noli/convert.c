#include "commands.h"
#include "console.h"
#include "describe.h"
#include "overrides.h"

#include "noli/import.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { CONVERT_SET, CONVERT_MERGE, N_CONVERT_OPTIONS };

static const Option convert_options[] = {
    [CONVERT_SET] = OVERRIDES_OPTION,
    [CONVERT_MERGE] = {"merge", 0, OPTION_TEXT, "LENGTH",
                       "mend a mesh: merge vertices this near, drop bad cells", 0, 0},
};

// The options of a command line.
typedef struct Request {
  const char* in;
  const char* out;
  Overrides overrides;
  bool merges;
  double tolerance;
} Request;

static bool has_suffix(const char* path, const char* suffix) {
  size_t n = strlen(path), k = strlen(suffix);
  return n >= k && strcmp(path + n - k, suffix) == 0;
}

static NoliStatus convert_mesh(NoliContext* context, const Request* request) {
  NoliStatus status = NOLI_OK;
  NoliMesh* mesh = NULL;
  NoliMeshCleaned cleaned = {0};
  NOLI_TRY(noli_mesh_read(context, request->in, &mesh));
  if (request->merges) {
    NOLI_TRY(noli_mesh_clean(context, mesh, request->tolerance, &cleaned));
    describe_cleaned(request->in, &cleaned);
  }
  NOLI_TRY(noli_mesh_write(context, request->out, mesh));
  print("%s: ", request->out);
  describe_cells(mesh);
  print("\n");
done:
  noli_mesh_cleaned_free(context, &cleaned);
  noli_mesh_destroy(context, &mesh);
  return status;
}

// Writes only scenes that can run, and only complete files.
static NoliStatus convert_scene(NoliContext* context, const char* in, const char* out,
                                const Overrides* overrides) {
  NoliStatus status = NOLI_OK;
  NoliScene* scene = NULL;
  char *json = NULL, directory[4096];
  NOLI_CHECK(context, has_suffix(out, ".json"), NOLI_ERROR_ARGUMENT,
             "%s: a scene is written as .json", out);
  NOLI_TRY(noli_import_load(context, in, overrides->list, overrides->n, &scene));
  const char* slash = strrchr(out, '/');
  snprintf(directory, sizeof directory, "%.*s", slash != NULL ? (int)(slash - out) + 1 : 1,
           slash != NULL ? out : ".");
  NOLI_TRY(noli_scene_json_in(scene, directory, &json));
  NOLI_TRY(noli_output_write_text(context, out, json));
  const NoliSimDef* def = noli_scene_sim_def(scene);
  print("%s: scene \"%s\", %" PRId64 " steps, %d bodies and obstacles, %d half-spaces\n", out,
        noli_scene_name(scene), noli_scene_step_count(scene), (int)def->n_bodies,
        (int)def->n_half_spaces);
done:
  noli_scene_free_text(context, &json);
  noli_scene_destroy(&scene);
  return status;
}

static NoliStatus convert_result(NoliContext* context, const char* in, const char* out) {
  int64_t n_frames = 0;
  NoliStatus status = noli_run_export(context, in, out, &n_frames);
  if (status == NOLI_OK) {
    print("%s: %" PRId64 " frames\n", out, n_frames);
  }
  return status;
}

static bool is_directory(const char* path) {
  struct stat about;
  return stat(path, &about) == 0 && S_ISDIR(about.st_mode);
}

static int convert_file(Console* console, const Request* request) {
  int exit_status = EXIT_DONE;
  const char* in = request->in;
  bool is_result = is_directory(in);
  bool is_scene =
      !is_result && (has_suffix(in, ".json") || has_suffix(in, ".txt") || has_suffix(in, ".ipc"));
  if (!is_scene && request->overrides.n > 0) {
    console_say(console, NOLI_LOG_ERROR, "--set replaces values of scenes; %s is a %s", in,
                is_result ? "result" : "mesh");
    return EXIT_USAGE;
  }

  if ((is_result || is_scene) && request->merges) {
    console_say(console, NOLI_LOG_ERROR, "--merge mends meshes; %s is a %s", in,
                is_result ? "result" : "scene, whose bodies and obstacles have the key \"merge\"");
    return EXIT_USAGE;
  }

  NoliContext* context = console_context(console, 0);
  if (context == NULL) {
    return EXIT_SYSTEM;
  }
  NoliStatus status = is_result  ? convert_result(context, in, request->out)
                      : is_scene ? convert_scene(context, in, request->out, &request->overrides)
                                 : convert_mesh(context, request);
  if (status != NOLI_OK) {
    exit_status = console_fail(console, context, status);
  }
  noli_context_destroy(&context);
  return exit_status;
}

// Reads a distance >= 0.
static bool read_tolerance(const OptionValue* option, Request* request) {
  char* end = NULL;
  request->merges = option->given;
  if (!option->given) {
    return true;
  }
  request->tolerance = strtod(option->text, &end);
  return end != option->text && *end == '\0' && isfinite(request->tolerance) &&
         request->tolerance >= 0.0;
}

static int convert(const Arguments* arguments) {
  Console console = {0};
  Request request = {.in = arguments->argument[0], .out = arguments->argument[1]};
  if (!read_tolerance(&arguments->option[CONVERT_MERGE], &request)) {
    console_say(&console, NOLI_LOG_ERROR,
                "--merge needs a distance >= 0 in the unit of the mesh, got \"%s\"",
                arguments->option[CONVERT_MERGE].text);
    return EXIT_USAGE;
  }
  int exit_status = overrides_read(&console, &arguments->option[CONVERT_SET], &request.overrides);
  if (exit_status == EXIT_DONE) {
    exit_status = convert_file(&console, &request);
  }
  overrides_free(&request.overrides);
  return exit_status;
}

const Command command_convert = {
    .name = "convert",
    .usage = "IN OUT",
    .summary = "Convert a result, mesh or scene to another format.",
    .details =
        "The suffixes decide. Meshes read: .msh .vtk .mesh .inp .obj .ply .stl .seg .pt; written:\n"
        ".msh .vtk .obj .ply .stl. Scenes read: .json (Noli, PolyFEM), .txt .ipc (IPC); written:\n"
        ".json, with all defaults filled in and all paths absolute.\n"
        "--merge makes vertices within a distance (0: equal ones) one, drops cells that have no\n"
        "size or occur twice, and lists what it did.\n"
        "A result directory becomes an animation of its surfaces: .obj or .ply, a file for each\n"
        "frame (OUT has a place for its number, such as out_%04d.obj); .pc2, point caches for\n"
        "Blender, OUT_BODY.pc2 and OUT_BODY.obj for each body; .glb (glTF 2.0); .usda (USD);\n"
        ".vtkhdf, all cells and fields of all frames, for ParaView. Axes and units:\n"
        "docs/howto/exchange.md.",
    .n_arguments = 2,
    .options = convert_options,
    .n_options = N_CONVERT_OPTIONS,
    .run = convert,
};
