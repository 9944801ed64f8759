// VTK XML unstructured grids: arrays in, one file out. Arrays are stored inline as base64 of
// zlib-compressed blocks, which every reader of the format and every XML tool accepts.
#pragma once

// Bytes of a block of compressed data, before compression.
#define NOLI_VTU_BLOCK_SIZE ((int64_t)1 << 18)

#include "base/array.h"

typedef enum NoliVtuType {
  NOLI_VTU_FLOAT64,
  NOLI_VTU_FLOAT32,
  NOLI_VTU_INT64,
  NOLI_VTU_INT32,
  NOLI_VTU_UINT8,
} NoliVtuType;

// Cell types of the format.
enum {
  NOLI_VTU_VERTEX = 1,
  NOLI_VTU_LINE = 3,
  NOLI_VTU_TRIANGLE = 5,
  NOLI_VTU_TETRAHEDRON = 10,
  NOLI_VTU_LAGRANGE_TETRAHEDRON = 71, // of any order, by its number of nodes
};

typedef struct NoliVtuArray {
  const char* name;
  NoliVtuType type;
  int32_t n_components;
  const void* data; // (number of vertices or cells x n_components)
  bool constant;    // the same data, at the same place, in all grids with one cache
} NoliVtuArray;

// Compressed arrays that grids have in common: the cells, and what is constant. Zero: none yet.
typedef struct NoliVtuCache {
  NOLI_ARRAY(struct NoliVtuPacked) packed;
} NoliVtuCache;

void noli_vtu_cache_free(NoliContext* context, NoliVtuCache* cache);

typedef struct NoliVtuGrid {
  double time;
  int64_t n_vert;
  const double* x; // (n_vert x 3)
  int64_t n_cells;
  const int32_t* connectivity; // (offsets[n_cells - 1])
  const int64_t* offsets;      // (n_cells) end of each cell in the connectivity
  const uint8_t* types;        // (n_cells)
  const NoliVtuArray* point_data;
  int32_t n_point_data;
  const NoliVtuArray* cell_data;
  int32_t n_cell_data;
  NoliVtuCache* cache; // NULL: compress everything
} NoliVtuGrid;

NOLI_WARN_UNUSED NoliStatus noli_vtu_write(NoliContext* context, const char* path,
                                           const NoliVtuGrid* grid);
