// Scenes as commands take them.
#pragma once

#include "console.h"
#include "overrides.h"

// The scene in a file, or on standard input where the path is "-"; paths in it then start from the
// current directory.
NOLI_WARN_UNUSED NoliStatus load_scene(NoliContext* context, const char* path,
                                       const Overrides* overrides, NoliScene** scene);
