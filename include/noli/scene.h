/// @file scene.h
/// Scenes: a JSON file (docs/reference/scene.md, docs/scene.schema.json) becomes a NoliSimDef.
///
/// Every failure names file, line and path: `scene.json:12: bodies[2].material.poisson: must be in
/// (-1, 0.5), got 0.7`. Implausible but valid values are logged as warnings in the same form.
#pragma once

#include "noli/design.h"

#ifdef __cplusplus
extern "C" {
#endif

/// A scene: its meshes, expressions, and the definition made from them.
typedef struct NoliScene NoliScene;

/// Replaces one value of a scene before it is checked.
typedef struct NoliSceneOverride {
  const char* path;  ///< for example `time.step` or `bodies[0].material.young`
  const char* value; ///< JSON; text that is not JSON counts as a string
} NoliSceneOverride;

/// Reads a scene file. Paths in it are relative to its directory.
/// `overrides` (n_overrides) are applied in order; may be NULL if there are none. Items of lists
/// must exist, keys of objects are added.
/// Fails with NOLI_ERROR_IO (a file cannot be read), NOLI_ERROR_FORMAT (the scene or a mesh is not
/// valid), NOLI_ERROR_ARGUMENT (an override does not fit), NOLI_ERROR_MEMORY.
NOLI_API NOLI_WARN_UNUSED NoliStatus noli_scene_load(NoliContext* context, const char* path,
                                                     const NoliSceneOverride* overrides,
                                                     int32_t n_overrides, NoliScene** scene);

/// As noli_scene_load, from zero-terminated text. `name` stands for the file in messages; NULL: a
/// program made the text, and messages have neither name nor line, only the path.
/// `directory` is where relative paths start (NULL: the current directory).
NOLI_API NOLI_WARN_UNUSED NoliStatus noli_scene_parse(NoliContext* context, const char* text,
                                                      const char* name, const char* directory,
                                                      const NoliSceneOverride* overrides,
                                                      int32_t n_overrides, NoliScene** scene);

/// As noli_scene_parse, for text that was converted from the scene file `name` of another format.
/// Messages name the file and the path instead of lines of the converted text:
/// `scene.txt: converted bodies[2].material.poisson: must be in (-1, 0.5), got 0.7`.
/// Scenes of IPC and PolyFEM: noli_import_load (noli/import.h).
NOLI_API NOLI_WARN_UNUSED NoliStatus noli_scene_parse_converted(
    NoliContext* context, const char* text, const char* name, const char* directory,
    const NoliSceneOverride* overrides, int32_t n_overrides, NoliScene** scene);

/// Releases the scene and sets the pointer to NULL. NULL is allowed. Simulations made from the
/// scene must be destroyed first: their motions and forces belong to the scene.
NOLI_API void noli_scene_destroy(NoliScene** scene);

/// Frees the lists of tetrahedra, which a simulation made of the scene with `borrow_meshes` no
/// longer reads once its run is opened (noli_run_open, noli_run_reopen). No other simulation, and
/// no further body of this one, can be made of the scene afterwards. Curved meshes keep theirs.
/// NULL is allowed.
NOLI_API void noli_scene_free_elements(NoliScene* scene);

/// noli_scene_sim_def for definitions of the given sizes.
NOLI_API const NoliSimDef* noli_scene_sim_def_sized(const NoliScene* scene,
                                                    const NoliDefSizes* sizes);

/// The definition, owned by the scene together with everything it points to. A copy of it may be
/// changed and made a simulation of. Several threads may call its callbacks at once; where
/// an expression has no finite value, neither has the callback. NULL for a NULL scene, or when
/// memory is exhausted.
static inline const NoliSimDef* noli_scene_sim_def(const NoliScene* scene) {
  NoliDefSizes sizes = noli_def_sizes();
  return noli_scene_sim_def_sized(scene, &sizes);
}

/// "name" of the scene; without one, the name of the file without folder and suffix. Never empty.
NOLI_API const char* noli_scene_name(const NoliScene* scene);

/// Number of steps to run, > 0.
NOLI_API int64_t noli_scene_step_count(const NoliScene* scene);

/// Simulated time in seconds: the number of steps times the time step.
NOLI_API double noli_scene_duration(const NoliScene* scene);

/// Output of a run.
typedef struct NoliSceneOutput {
  int32_t frame_interval;    ///< steps between frames, > 0
  const char* frame_format;  ///< one of noli_run_frame_format; NULL: the default
  double checkpoint_seconds; ///< wall time between checkpoints, s; < 0: only at the end
  int32_t checkpoint_steps;  ///< steps between checkpoints besides; 0: only by wall time
  const char* const* fields; ///< (n_fields) as in NoliRunDef
  int32_t n_fields;
  const NoliProbeDef* probes; ///< (n_probes) as in NoliRunDef; owned by the scene
  int32_t n_probes;
} NoliSceneOutput;

/// noli_scene_output for a struct of `size` bytes.
NOLI_API void noli_scene_output_sized(const NoliScene* scene, NoliSceneOutput* output, size_t size);

/// The output that the scene asks for, with defaults filled in; zeros for NULL.
static inline NoliSceneOutput noli_scene_output(const NoliScene* scene) {
  NoliSceneOutput output;
  noli_scene_output_sized(scene, &output, sizeof output);
  return output;
}

/// The design problem of the scene, owned by it, for simulations made from its definition; NULL:
/// there is none.
NOLI_API const NoliDesignDef* noli_scene_design(const NoliScene* scene);

/// A file that a scene refers to, as it was when the scene was read: a mesh, a proxy, a frame of a
/// sequence. Never changes its size.
typedef struct NoliSceneFile {
  const char* path;  ///< absolute, as in noli_scene_json
  const char* where; ///< place that names it: `scene.json:7: bodies[0].mesh`
  uint64_t digest;   ///< of its bytes; files with equal digests count as identical
  void* reserved[2];
} NoliSceneFile;

/// All files that the scene refers to, in the order of reading, owned by the scene. A file that
/// several entries name is listed for each of them.
NOLI_API const NoliSceneFile* noli_scene_files(const NoliScene* scene, int32_t* n_files);

/// The scene as run: JSON with all defaults and overrides filled in and absolute paths of files, so
/// that it can be run from any folder. `*json` is released with noli_scene_free_text.
NOLI_API NOLI_WARN_UNUSED NoliStatus noli_scene_json(const NoliScene* scene, char** json);

/// The scene as run, like noli_scene_json, for a file in `directory`, which must exist: names of
/// files are relative to it, and the list "files" has where they are now and digests of their
/// bytes, so that the directory can be moved with its files, or alone. As runs write scene.json.
NOLI_API NOLI_WARN_UNUSED NoliStatus noli_scene_json_in(const NoliScene* scene,
                                                        const char* directory, char** json);

/// Sets `*same` if two texts of the functions above are the same scene with the same bytes in its
/// files, wherever these are. Fails with NOLI_ERROR_ARGUMENT where a text is no JSON,
/// NOLI_ERROR_MEMORY.
NOLI_API NOLI_WARN_UNUSED NoliStatus noli_scene_is_same(NoliContext* context, const char* a,
                                                        const char* b, bool* same);

/// The JSON Schema (draft 2020-12) of scenes, the content of docs/scene.schema.json.
/// `*schema` is released with noli_scene_free_text.
NOLI_API NOLI_WARN_UNUSED NoliStatus noli_scene_schema(NoliContext* context, char** schema);

/// Releases text returned by the functions above and sets the pointer to NULL.
NOLI_API void noli_scene_free_text(NoliContext* context, char** text);

#ifdef __cplusplus
}
#endif
