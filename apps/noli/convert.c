#include "commands.h"
#include "console.h"

static int convert(const Arguments* arguments) {
  Console console = {0};
  NoliMesh* mesh = NULL;
  int exit_status = EXIT_DONE;
  NoliContext* context = console_context(&console, 0);
  if (context == NULL) {
    return EXIT_SYSTEM;
  }
  NoliStatus status = noli_mesh_read(context, arguments->argument[0], &mesh);
  if (status == NOLI_OK) {
    status = noli_mesh_write(context, arguments->argument[1], mesh);
  }
  if (status != NOLI_OK) {
    exit_status = console_fail(&console, context, status);
  } else {
    printf("%s: %d vertices, %d tetrahedra, %d triangles, %d segments, %d points\n",
           arguments->argument[1], (int)mesh->n_vert, (int)mesh->n_tet, (int)mesh->n_tri,
           (int)mesh->n_edge, (int)mesh->n_point);
  }
  noli_mesh_destroy(context, &mesh);
  noli_context_destroy(&context);
  return exit_status;
}

const Command command_convert = {
    .name = "convert",
    .usage = "IN OUT",
    .summary = "Convert a mesh to another format.",
    .details =
        "The suffixes decide. Read: .msh .vtk .obj .ply .stl .seg .pt; written: .msh .vtk .obj\n"
        ".ply .stl.",
    .n_arguments = 2,
    .options = NULL,
    .n_options = 0,
    .run = convert,
};
