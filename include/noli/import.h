/// @file import.h
/// Scenes of other programs: the text scenes of the IPC program of [Li2020] and the JSON scenes of
/// PolyFEM (docs/reference/import.md). A foreign scene becomes a native one first, with all of its
/// checks.
///
/// These functions are in a library of their own: link with noli_import (pkg-config noli_import,
/// CMake noli::noli_import), which is built on the public headers of Noli alone.
#pragma once

#include "noli/scene.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Reads a scene file of any known format: `.txt` and `.ipc` are text scenes of the IPC program;
/// JSON is a PolyFEM scene if it has "geometry" or "common" and no "bodies", else a native scene.
/// Otherwise as noli_scene_load, also for the overrides (n_overrides), which change the native
/// scene. Failures in a foreign scene name the file and line, those that only the native scene
/// shows the file and the path there: `scene.txt: converted bodies[2].material.poisson: ...`. What
/// has no meaning in Noli is logged. Fails with NOLI_ERROR_IO (a file cannot be read),
/// NOLI_ERROR_FORMAT (the scene or a mesh is not valid, or asks for what Noli does not have),
/// NOLI_ERROR_ARGUMENT (an override does not fit), NOLI_ERROR_TOO_LARGE (more than 256 MiB of
/// text), NOLI_ERROR_MEMORY.
NOLI_API NOLI_WARN_UNUSED NoliStatus noli_import_load(NoliContext* context, const char* path,
                                                      const NoliSceneOverride* overrides,
                                                      int32_t n_overrides, NoliScene** scene);

/// As noli_import_load, from `size` bytes of text. `name` stands for the file in messages, and its
/// suffix decides about text scenes; `directory` is where relative paths start (NULL: the current
/// directory).
NOLI_API NOLI_WARN_UNUSED NoliStatus noli_import_parse(NoliContext* context, const char* text,
                                                       size_t size, const char* name,
                                                       const char* directory,
                                                       const NoliSceneOverride* overrides,
                                                       int32_t n_overrides, NoliScene** scene);

#ifdef __cplusplus
}
#endif
