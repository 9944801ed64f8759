// The files of a frame in parts (format_pvtu.c).
#pragma once

#include "output/frames/frame_arrays.h"

// Writes part `number` of `n_parts`, beside the frame at `path`.
NOLI_WARN_UNUSED NoliStatus noli_pvtu_write_part(NoliContext* context, const char* path,
                                                 const NoliFrame* frame, int32_t number,
                                                 int32_t n_parts);

// Writes the list of the parts, and removes parts of a frame that had more.
NOLI_WARN_UNUSED NoliStatus noli_pvtu_write_index(NoliContext* context, const char* path,
                                                  const NoliFrame* frame, int32_t n_parts);
