// Reads the frames that vtu.c writes, and nothing else: what is different is damage, or somebody
// else's, and an error that says what and where. Every block passes the checksum of zlib.
#pragma once

#include "base/array.h"
#include "output/vtu.h"

typedef struct NoliVtuReadArray {
  char section[16]; // "PointData", "CellData", "Points", "Cells"
  char name[48];
  NoliVtuType type;
  int32_t n_components;
  int64_t n_tuples;
  void* data; // (n_tuples x n_components)
} NoliVtuReadArray;

typedef struct NoliVtuFrame {
  double time; // s
  int64_t n_vert;
  int64_t n_cells;
  NOLI_ARRAY(NoliVtuReadArray) arrays;
} NoliVtuFrame;

// Fails with NOLI_ERROR_IO, NOLI_ERROR_FORMAT (the message has path and array) or
// NOLI_ERROR_MEMORY; the frame is empty then.
NOLI_WARN_UNUSED NoliStatus noli_vtu_read(NoliContext* context, const char* path,
                                          NoliVtuFrame* frame);
void noli_vtu_frame_free(NoliContext* context, NoliVtuFrame* frame);

// The array of this name, type and shape; NULL when the frame has none. `n_tuples` < 0: any number.
const NoliVtuReadArray* noli_vtu_find(const NoliVtuFrame* frame, const char* section,
                                      const char* name, NoliVtuType type, int32_t n_components,
                                      int64_t n_tuples);
