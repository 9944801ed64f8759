// Scenes as the lists of the benchmarks name them: files of all formats, and generated ones.
#pragma once

#include "suites.h"

// Reads the scene at `path`, the file or recipe of `entry` or a copy of it, with the values of
// `override` (n) replaced. Errors as in noli_import_load.
NoliStatus load_scene(NoliContext* context, const Scene* entry, const char* path,
                      const NoliSceneOverride* override, int32_t n, NoliScene** scene);
