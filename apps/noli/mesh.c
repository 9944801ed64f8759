#include "commands.h"
#include "describe.h"
#include "solid.h"

#include "noli/extend.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MESH_OUTPUT, MESH_SIZE, MESH_ORDER, N_MESH_OPTIONS };

static const Option mesh_options[] = {
    [MESH_OUTPUT] = {"output", 'o', OPTION_TEXT, "FILE", "mesh to write, .msh (needed)", 0, 0},
    [MESH_SIZE] = {"size", 0, OPTION_TEXT, "LENGTH",
                   "mesh the surface anew with elements of this size, m; default: its triangles "
                   "stay",
                   0, 0},
    [MESH_ORDER] = {"order", 0, OPTION_INTEGER, "N", "order of the elements (default 1)", 1, 4},
};

static bool read_size(const char* text, double* size) {
  char* end = NULL;
  *size = strtod(text, &end);
  return end != text && *end == '\0' && isfinite(*size) && *size > 0.0;
}

static void say_quality(Console* console, const NoliMesh* mesh) {
  NoliMeshQuality quality = noli_mesh_quality(mesh);
  const double* x = quality.worst_centre;
  print("scaled Jacobian: least %.3g at (%.4g, %.4g, %.4g), mean %.3g; %d tetrahedra below 0.1\n",
        quality.least, x[0], x[1], x[2], quality.mean, (int)quality.n_below_tenth);
  if (quality.least <= 0.0) {
    console_say(console, NOLI_LOG_WARNING,
                "tetrahedron %d is inverted somewhere: a simulation will refuse it; use another "
                "--size or a lower --order",
                (int)quality.worst);
  }
}

static NoliStatus fill(Console* console, NoliContext* context, const Surface* surface,
                       const SolidOptions* options, const char* path) {
  NoliStatus status = NOLI_OK;
  NoliMesh* solid = NULL;
  char* scratch = NULL;
  size_t size = strlen(path) + 16;
  NOLI_NEW(context, scratch, (int64_t)size);
  snprintf(scratch, size, "%s.part.msh", path);
  NOLI_TRY(solid_fill(context, surface, options, scratch, &solid));
  NOLI_TRY(noli_mesh_write(context, path, solid));
  print("%s: ", path);
  describe_cells(solid);
  print(", %d %s, order %d\n", (int)surface->n_solids, surface->n_solids == 1 ? "solid" : "solids",
        solid->order > 1 ? (int)solid->order : 1);
  say_quality(console, solid);
done:
  noli_mesh_destroy(context, &solid);
  noli_free(context, scratch);
  return status;
}

static int mesh_file(Console* console, const char* in, const char* out,
                     const SolidOptions* options) {
  Surface surface = {0};
  NoliContext* context = console_context(console, 0);
  if (context == NULL) {
    return EXIT_SYSTEM;
  }
  int exit_status = surface_read(console, context, in, &surface);
  if (exit_status == EXIT_DONE) {
    NoliStatus status = fill(console, context, &surface, options, out);
    exit_status = status == NOLI_OK ? EXIT_DONE : console_fail(console, context, status);
  }
  surface_free(context, &surface);
  noli_context_destroy(&context);
  return exit_status;
}

static int mesh(const Arguments* arguments) {
  Console console = {0};
  const OptionValue* option = arguments->option;
  SolidOptions options = {.order = 1};
  const char* out = option[MESH_OUTPUT].text;
  size_t n = option[MESH_OUTPUT].given ? strlen(out) : 0;
  if (n < 5 || strcmp(out + n - 4, ".msh") != 0) {
    console_say(&console, NOLI_LOG_ERROR, "needs -o FILE.msh, the mesh to write");
    return EXIT_USAGE;
  }
  if (option[MESH_SIZE].given && !read_size(option[MESH_SIZE].text, &options.size)) {
    console_say(&console, NOLI_LOG_ERROR, "--size needs a length > 0 in m, got \"%s\"",
                option[MESH_SIZE].text);
    return EXIT_USAGE;
  }
  if (option[MESH_ORDER].given) {
    options.order = (int32_t)option[MESH_ORDER].integer;
  }
  return mesh_file(&console, arguments->argument[0], out, &options);
}

const Command command_mesh = {
    .name = "mesh",
    .usage = "SURFACE",
    .summary = "Fill a closed surface with tetrahedra.",
    .details =
        "Reads triangles (.obj, .ply, .stl, ...), refuses surfaces that are open or meet\n"
        "themselves, with the places, and fills the rest with Gmsh. Parts inside others are\n"
        "cavities; several solids get the tags 1, 2, ... Reports the quality of the mesh.\n"
        "Gmsh is an optional part of a build (docs/howto/solids.md).",
    .n_arguments = 1,
    .options = mesh_options,
    .n_options = N_MESH_OPTIONS,
    .run = mesh,
};
