// Loads scenes and other texts for commands.
#pragma once

#include "console.h"
#include "overrides.h"

// All bytes of the stream followed by a zero byte, released with noli_free; `name` stands for
// the stream in messages. Fails with NOLI_ERROR_IO, NOLI_ERROR_TOO_LARGE (a pipe may never end),
// NOLI_ERROR_MEMORY.
NOLI_WARN_UNUSED NoliStatus load_text(NoliContext* context, FILE* file, const char* name,
                                      char** text, size_t* size);

// The scene in a file, or on standard input if the path is "-"; paths in it are then relative to
// the current directory.
NOLI_WARN_UNUSED NoliStatus load_scene(NoliContext* context, const char* path,
                                       const Overrides* overrides, NoliScene** scene);
