// Reads the frames that vtu.c writes and no other files: a difference is damage, reported with file
// and array. Every block passes the checksum of zlib.
#pragma once

#include "output/frames/frame_arrays.h"

// Arrays that are not `wanted` (noli_frame_wants) are left out, and their data not verified. Fails
// with NOLI_ERROR_IO, NOLI_ERROR_FORMAT (the message has path and array) or NOLI_ERROR_MEMORY; the
// frame is empty then.
NOLI_WARN_UNUSED NoliStatus noli_vtu_read(NoliContext* context, const char* path,
                                          const char* const* wanted, NoliReadFrame* frame);
