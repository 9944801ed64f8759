#include "mesh/formats/io.h"

#include "mesh/topology.h"

typedef struct Format {
  const char* suffix;
  NoliReadFn* read;
  NoliWriteFn* write;
  bool holds[NOLI_N_CELL_KINDS]; // tetrahedra, triangles, segments, points
} Format;

// clang-format off
static const Format formats[] = {
  {".msh", noli_msh_read, noli_msh_write, {true,  true,  true,  true}},
  {".vtk", noli_vtk_read, noli_vtk_write, {true,  true,  true,  true}},
  {".mesh", noli_medit_read, NULL,        {true,  true,  true,  true}},
  {".inp", noli_inp_read, NULL,           {true,  true,  true,  false}},
  {".obj", noli_obj_read, noli_obj_write, {false, true,  true,  true}},
  {".ply", noli_ply_read, noli_ply_write, {false, true,  true,  false}},
  {".stl", noli_stl_read, noli_stl_write, {false, true,  false, false}},
  {".seg", noli_seg_read, NULL,           {false, false, true,  false}},
  {".pt",  noli_pt_read,  NULL,           {false, false, false, true}},
};
// clang-format on

static const Format* find_format(const char* path) {
  size_t n = strlen(path);
  for (size_t f = 0; f < sizeof formats / sizeof formats[0]; f++) {
    size_t n_suffix = strlen(formats[f].suffix);
    if (n >= n_suffix) {
      NoliSpan tail = {path + n - n_suffix, (int64_t)n_suffix};
      if (noli_span_is_any_case(tail, formats[f].suffix)) {
        return &formats[f];
      }
    }
  }
  return NULL;
}

NoliStatus noli_mesh_read_parts(NoliContext* context, const char* path, NoliMeshParts* parts,
                                NoliMesh** mesh) {
  NoliStatus status = NOLI_OK;
  NoliCursor cursor = {0};
  *mesh = NULL;
  const Format* format = find_format(path);
  NOLI_CHECK(
      context, format != NULL, NOLI_ERROR_ARGUMENT,
      "%s: meshes are read from .msh, .vtk, .mesh, .inp, .obj, .ply, .stl, .seg and .pt files",
      path);
  NOLI_TRY(noli_cursor_open(context, path, &cursor));
  NOLI_TRY(format->read(&cursor, parts));
  noli_parts_log_unused(context, path, parts);
  NOLI_TRY(noli_parts_to_mesh(context, path, parts, mesh));
done:
  noli_free(context, cursor.text);
  return status;
}

// Reads a mesh; its sets and their faces where these are not NULL.
static NoliStatus read_mesh(NoliContext* context, const char* path, NoliMesh** mesh,
                            NoliMeshSets* sets, NoliMeshSides* sides) {
  NoliStatus status = NOLI_OK;
  NoliMeshParts parts = {.sets.wanted = sets != NULL};
  NOLI_TRY(noli_mesh_read_parts(context, path, &parts, mesh));
  if (sides != NULL) {
    NOLI_TRY(noli_parts_to_sides(context, &parts, sides));
  }
  if (sets != NULL) {
    NOLI_TRY(noli_parts_to_sets(context, &parts, sets));
  }
done:
  if (status != NOLI_OK) {
    noli_mesh_sides_free(context, sides);
    noli_mesh_destroy(context, mesh);
  }
  noli_parts_free(context, &parts);
  return status;
}

NoliStatus noli_mesh_read(NoliContext* context, const char* path, NoliMesh** mesh) {
  NOLI_REQUIRE(context, context != NULL && path != NULL && mesh != NULL);
  return read_mesh(context, path, mesh, NULL, NULL);
}

NoliStatus noli_mesh_read_sets(NoliContext* context, const char* path, NoliMesh** mesh,
                               NoliMeshSets* sets) {
  NOLI_REQUIRE(context, context != NULL && path != NULL && mesh != NULL && sets != NULL);
  *sets = (NoliMeshSets){0};
  return read_mesh(context, path, mesh, sets, NULL);
}

NoliStatus noli_mesh_read_sides(NoliContext* context, const char* path, NoliMesh** mesh,
                                NoliMeshSets* sets, NoliMeshSides* sides) {
  NOLI_REQUIRE(context,
               context != NULL && path != NULL && mesh != NULL && sets != NULL && sides != NULL);
  *sets = (NoliMeshSets){0};
  *sides = (NoliMeshSides){0};
  return read_mesh(context, path, mesh, sets, sides);
}

NoliStatus noli_mesh_write(NoliContext* context, const char* path, const NoliMesh* mesh) {
  NOLI_REQUIRE(context, context != NULL && path != NULL && mesh != NULL);
  NoliStatus status = NOLI_OK;
  NoliTextFile file = {.context = context};
  const Format* format = find_format(path);
  NOLI_CHECK(context, format != NULL && format->write != NULL, NOLI_ERROR_ARGUMENT,
             "%s: meshes are written to .msh, .vtk, .obj, .ply and .stl files", path);
  NoliCells cells[NOLI_N_CELL_KINDS];
  noli_mesh_cells(mesh, cells);
  for (int kind = 0; kind < NOLI_N_CELL_KINDS; kind++) {
    NOLI_CHECK(
        context, cells[kind].n == 0 || format->holds[kind], NOLI_ERROR_ARGUMENT,
        "%s: a %s file cannot hold the %d %s cells of the mesh; use .msh or .vtk, or extract "
        "the surface first",
        path, format->suffix, cells[kind].n, cells[kind].name);
  }

  NOLI_CHECK(context, mesh->order <= 1 || format->write == noli_msh_write, NOLI_ERROR_ARGUMENT,
             "%s: a %s file cannot hold curved tetrahedra; use .msh, or set the order to 1", path,
             format->suffix);
  NOLI_TRY(noli_mesh_validate(context, mesh));
  NOLI_TRY(noli_text_file_open(context, path, &file));
  NOLI_TRY(format->write(&file, mesh));
  NOLI_TRY(noli_text_file_commit(&file));
done:
  noli_text_file_discard(&file);
  return status;
}
