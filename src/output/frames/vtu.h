// VTK XML unstructured grids: arrays in, one file out. Arrays are stored inline as base64 of
// zlib-compressed blocks, which every reader of the format and every XML tool accepts.
#pragma once

// Bytes of a block of compressed data, before compression.
#define NOLI_VTU_BLOCK_SIZE ((int64_t)1 << 18)

#include "output/frames/frame_arrays.h"

// Compressed arrays that grids have in common: the cells, and what is constant. Zero: none yet.
typedef struct NoliVtuCache {
  NOLI_ARRAY(struct NoliVtuPacked) packed;
} NoliVtuCache;

void noli_vtu_cache_free(NoliContext* context, NoliVtuCache* cache);

// The name that VTK gives a type: "Float64".
const char* noli_vtu_type_name(NoliFrameType type);

NOLI_WARN_UNUSED NoliStatus noli_vtu_write(NoliContext* context, const char* path,
                                           const NoliFrame* grid);
