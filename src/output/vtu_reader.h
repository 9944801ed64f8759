// Reads the frames that vtu.c writes, and nothing else: what is different is damage, or somebody
// else's, and an error that says what and where. Every block passes the checksum of zlib.
#pragma once

#include "output/frame_arrays.h"

// Fails with NOLI_ERROR_IO, NOLI_ERROR_FORMAT (the message has path and array) or
// NOLI_ERROR_MEMORY; the frame is empty then.
NOLI_WARN_UNUSED NoliStatus noli_vtu_read(NoliContext* context, const char* path,
                                          NoliReadFrame* frame);
