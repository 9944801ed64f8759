// A frame as arrays: written by the frame formats, and read back.
#pragma once

#include "base/array.h"

typedef enum NoliFrameType {
  NOLI_FRAME_FLOAT64,
  NOLI_FRAME_FLOAT32,
  NOLI_FRAME_INT64,
  NOLI_FRAME_INT32,
  NOLI_FRAME_UINT8,
} NoliFrameType;

// Types of cells, with the numbers of VTK.
enum {
  NOLI_CELL_VERTEX = 1,
  NOLI_CELL_POLY_VERTEX = 2, // the nodes of a body that moves as a whole
  NOLI_CELL_LINE = 3,
  NOLI_CELL_TRIANGLE = 5,
  NOLI_CELL_TETRAHEDRON = 10,
  NOLI_CELL_LAGRANGE_TETRAHEDRON = 71, // of any order, by its number of nodes
};

typedef struct NoliFrameArray {
  const char* name;
  NoliFrameType type;
  int32_t n_components;
  const void* data; // (number of vertices or cells x n_components)
  bool constant; // the same data in all frames with one cache: after the first, `data` may be NULL
} NoliFrameArray;

// A frame to write. The surface is that with which bodies collide: the triangles of all bodies, and
// the segments and points that bound none. It is empty where only cells are written.
typedef struct NoliFrame {
  double time; // s
  int64_t n_vert;
  const double* x; // (n_vert x 3)
  int64_t n_cells;
  const int32_t* connectivity; // (offsets[n_cells - 1])
  const int64_t* offsets;      // (n_cells) end of each cell in the connectivity
  const uint8_t* types;        // (n_cells)
  int32_t n_triangles;
  const int32_t* triangles; // (n_triangles x 3)
  int32_t n_segments;
  const int32_t* segments; // (n_segments x 2)
  int32_t n_points;
  const int32_t* points; // (n_points)
  const NoliFrameArray* point_data;
  int32_t n_point_data;
  const NoliFrameArray* cell_data;
  int32_t n_cell_data;
  struct NoliVtuCache* cache; // of VTU files; NULL: compress everything
} NoliFrame;

typedef struct NoliReadArray {
  char section[16]; // "PointData", "CellData", "Points", "Cells", "Surface"
  char name[48];
  NoliFrameType type;
  int32_t n_components;
  int64_t n_tuples;
  void* data; // (n_tuples x n_components)
} NoliReadArray;

// A frame that was read. Vertices have the numbers that they have in the simulation.
typedef struct NoliReadFrame {
  double time; // s
  int64_t n_vert;
  int64_t n_cells;
  NOLI_ARRAY(NoliReadArray) arrays;
} NoliReadFrame;

// Bytes of one component.
int64_t noli_frame_type_size(NoliFrameType type);

// Whether an array of this name is to be read: one of `wanted`, which ends with NULL. NULL: all
// are.
bool noli_frame_wants(const char* const* wanted, const char* name);

// Appends an array with uninitialized data for `n_tuples` tuples and returns it in `*array`, which
// the next call may move. Fails with NOLI_ERROR_MEMORY.
NOLI_WARN_UNUSED NoliStatus noli_read_frame_add(NoliContext* context, NoliReadFrame* frame,
                                                const char* section, const char* name,
                                                NoliFrameType type, int32_t n_components,
                                                int64_t n_tuples, NoliReadArray** array);

// The array of this name, type and shape; NULL when the frame has none. `n_tuples` < 0: any number.
const NoliReadArray* noli_read_frame_find(const NoliReadFrame* frame, const char* section,
                                          const char* name, NoliFrameType type,
                                          int32_t n_components, int64_t n_tuples);

void noli_read_frame_free(NoliContext* context, NoliReadFrame* frame);
