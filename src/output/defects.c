// A picture of initial defects: only the primitives that intersect, touch or are inverted.
#include "noli/output.h"

#include "define/definition.h"
#include "output/frames/vtu.h"

#include <string.h>

// Two primitives of up to four vertices and the meeting point.
enum { VERTICES = 9, CELLS = 3 };

typedef struct Picture {
  int64_t n_vert;
  int64_t n_cells;
  double* x;
  int32_t* connectivity;
  int64_t* offsets;
  uint8_t* types;
  int32_t* number;
  int32_t* kind;
  int32_t* body;
  double* distance;
} Picture;

static void add_cell(Picture* picture, const NoliDefect* defect, int64_t number, int32_t body,
                     int32_t n_new) {
  static const uint8_t types[] = {0, NOLI_CELL_VERTEX, NOLI_CELL_LINE, NOLI_CELL_TRIANGLE,
                                  NOLI_CELL_TETRAHEDRON};
  int64_t cell = picture->n_cells++;
  picture->offsets[cell] = picture->n_vert;
  picture->types[cell] = types[n_new];
  picture->number[cell] = (int32_t)number;
  picture->kind[cell] = (int32_t)defect->kind;
  picture->body[cell] = body;
  picture->distance[cell] = defect->distance;
}

static void defects_add_vertex(Picture* picture, const double x[3]) {
  memcpy(picture->x + 3 * picture->n_vert, x, 3 * sizeof *x);
  picture->connectivity[picture->n_vert] = (int32_t)picture->n_vert;
  picture->n_vert++;
}

// Nodes and vertices of proxies that the mesh does not have cannot be drawn.
static bool is_of_mesh(const NoliMesh* mesh, const int32_t* vertex, int32_t n) {
  bool all = true;
  for (int32_t k = 0; k < n; k++) {
    all = all && vertex[k] < mesh->n_vert;
  }
  return all;
}

static void add_defect(Picture* picture, const NoliSimDef* def, const NoliDefect* defect,
                       int64_t number) {
  for (int side = 0; side < 2; side++) {
    int32_t body = defect->entity[side], n = defect->n_vert[side];
    if (body < 0 || body >= def->n_bodies || n < 1 || n > 4) {
      continue;
    }
    const NoliBodyDef* owner = &def->bodies[body];
    const double* x = owner->x0 != NULL ? owner->x0 : owner->mesh->x;
    if (!is_of_mesh(owner->mesh, defect->vertex[side], n)) {
      continue;
    }
    for (int32_t k = 0; k < n; k++) {
      defects_add_vertex(picture, x + 3 * (int64_t)defect->vertex[side][k]);
    }
    add_cell(picture, defect, number, body, n);
  }
  defects_add_vertex(picture, defect->position);
  add_cell(picture, defect, number, -1, 1);
}

static NoliStatus write_picture(NoliContext* context, const Picture* picture, const char* path) {
  const NoliFrameArray cell_data[] = {
      {"defect", NOLI_FRAME_INT32, 1, picture->number, false},
      {"kind", NOLI_FRAME_INT32, 1, picture->kind, false},
      {"body", NOLI_FRAME_INT32, 1, picture->body, false},
      {"distance", NOLI_FRAME_FLOAT64, 1, picture->distance, false},
  };
  const NoliFrame grid = {
      .n_vert = picture->n_vert,
      .x = picture->x,
      .n_cells = picture->n_cells,
      .connectivity = picture->connectivity,
      .offsets = picture->offsets,
      .types = picture->types,
      .cell_data = cell_data,
      .n_cell_data = sizeof cell_data / sizeof *cell_data,
  };
  return noli_vtu_write(context, path, &grid);
}

NoliStatus noli_output_write_defects(NoliContext* context, const NoliSimDef* given,
                                     const NoliDefect* defects, int64_t n_defects,
                                     const char* path) {
  NOLI_REQUIRE(context, context != NULL && given != NULL && path != NULL && n_defects >= 0 &&
                            (defects != NULL || n_defects == 0));
  NoliStatus status = NOLI_OK;
  Picture picture = {0};
  NoliSimDef* def = NULL;

  NOLI_TRY(noli_definition_take(context, given, &def));
  NOLI_CHECK(context, n_defects <= INT32_MAX / VERTICES, NOLI_ERROR_TOO_LARGE,
             "%s: %lld defects are too many for one file", path, (long long)n_defects);

  NOLI_NEW(context, picture.x, 3 * VERTICES * n_defects);
  NOLI_NEW(context, picture.connectivity, VERTICES * n_defects);
  NOLI_NEW(context, picture.offsets, CELLS * n_defects);
  NOLI_NEW(context, picture.types, CELLS * n_defects);
  NOLI_NEW(context, picture.number, CELLS * n_defects);
  NOLI_NEW(context, picture.kind, CELLS * n_defects);
  NOLI_NEW(context, picture.body, CELLS * n_defects);
  NOLI_NEW(context, picture.distance, CELLS * n_defects);
  for (int64_t i = 0; i < n_defects; i++) {
    add_defect(&picture, def, &defects[i], i);
  }
  NOLI_TRY(write_picture(context, &picture, path));
done:
  noli_definition_free(context, &def);
  noli_free(context, picture.x);
  noli_free(context, picture.connectivity);
  noli_free(context, picture.offsets);
  noli_free(context, picture.types);
  noli_free(context, picture.number);
  noli_free(context, picture.kind);
  noli_free(context, picture.body);
  noli_free(context, picture.distance);
  return status;
}
