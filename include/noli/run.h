/// @file run.h
/// Result directories, which `noli run` writes and `noli resume` continues exactly.
///
///     scene.json      the scene as run, defaults filled in; written once
///     frame_N.vtu     the state after step N (six digits or more), every `frame_interval` steps
///     frames.pvd      the list of frames with their times, rewritten after each frame; with the
///                     format `ply` both are frame_N.ply and frames.ply.series
///     steps.csv       one row per step, in the file before the step counts as recorded
///     forces.csv      one row per step and pair of entities in contact
///     reactions.csv   one row per step and motion; only where there are any
///     springs.csv     one row per step and spring; only where there are any
///     joints.csv      one row per step and joint; only where there are any
///     volumes.csv     one row per step and region whose volume counts; only where there are any
///     probes.csv      one row per step, columns of the probes; only where there are any
///     summary.json    totals; rewritten with every checkpoint, "finished": false until the end
///     checkpoint.h5   the state; the one before is kept as checkpoint_previous.h5
///     log.txt         messages; locked while a run writes into the directory
///
/// The checkpoint is written last: after a crash all other files may be ahead of it, and reopening
/// cuts them back to the step of the checkpoint.
#pragma once

#include "noli/scene.h"
#include "noli/sim.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Content and place of a result directory. All pointers are borrowed until the run is opened.
typedef struct NoliRunDef {
  uint32_t size;              ///< set by noli_default_run_def
  const char* directory;      ///< created if it does not exist
  const char* scene_name;     ///< for the summary
  const char* scene_json;     ///< the scene as run: noli_scene_json
  const NoliSimDef* sim_def;  ///< definition of the simulation, for the tags of its cells; NULL
                              ///< (default): tags 0
  int32_t frame_interval;     ///< steps between frames, > 0; default 1
  const char* frame_format;   ///< one of noli_run_frame_format; NULL (default): `vtu`
  const char* const* fields;  ///< (n_fields) further fields of frames, of noli_run_frame_field
  int32_t n_fields;           ///< default 0
  double checkpoint_seconds;  ///< s, wall time between checkpoints; default 300; < 0: at the end
  int32_t checkpoint_steps;   ///< steps between further checkpoints; 0 (default): only by wall time
  const NoliSceneFile* files; ///< (n_files) that the scene refers to: noli_scene_files
  int32_t n_files;
  bool replace_unfinished;    ///< noli_run_open replaces a run that has not ended; default false
  const NoliProbeDef* probes; ///< (n_probes) columns of probes.csv; default: none
  int32_t n_probes;
} NoliRunDef;

/// Writes the defaults of a definition of `size` bytes; called by noli_default_run_def.
NOLI_API void noli_run_def_init(NoliRunDef* def, size_t size);

/// The defaults named above. No other way makes a valid definition.
static inline NoliRunDef noli_default_run_def(void) {
  NoliRunDef def;
  noli_run_def_init(&def, sizeof def);
  return def;
}

/// The name of the `index`-th format of frames, NULL past the last: `vtu` (VTK XML unstructured
/// grids, for ParaView: all cells and fields), `ply` (binary surfaces, for Blender).
NOLI_API const char* noli_run_frame_format(int32_t index);

/// The name of the `index`-th field that frames may have beyond those which all have, such as
/// `stress`; NULL past the last. They are an error with formats without cells.
/// docs/reference/results.md
NOLI_API const char* noli_run_frame_field(int32_t index);

/// The name of the list of frames that the `index`-th format writes, such as frames.pvd; NULL past
/// the last.
NOLI_API const char* noli_run_frame_list(int32_t index);

/// A result directory that is open for writing. It belongs to the context that opened it.
typedef struct NoliRun NoliRun;

/// Opens the directory for a new run of `sim`. Files of an earlier run are removed if it has
/// finished or has done no step. Writes scene.json, the first frame and the first checkpoint.
/// `*run` is released with noli_run_close. Fails with NOLI_ERROR_IO when a file cannot be written,
/// when the directory holds a run that has not finished (unless `replace_unfinished`), or foreign
/// files with the names of results; NOLI_ERROR_ARGUMENT when the definition is
/// not valid, NOLI_ERROR_BACKEND when HDF5 fails, NOLI_ERROR_MEMORY.
NOLI_API NOLI_WARN_UNUSED NoliStatus noli_run_open(NoliContext* context, const NoliRunDef* def,
                                                   NoliSim* sim, NoliRun** run);

/// Opens the directory of an earlier run to resume it: restores `sim` from checkpoint.h5 (from
/// checkpoint_previous.h5 if that is damaged) and cuts histories and frames back to its step.
/// Fails as noli_run_open, with NOLI_ERROR_FORMAT when no checkpoint can be read, and with
/// NOLI_ERROR_ARGUMENT, touching nothing, if a file of the scene has changed.
NOLI_API NOLI_WARN_UNUSED NoliStatus noli_run_reopen(NoliContext* context, const NoliRunDef* def,
                                                     NoliSim* sim, NoliRun** run);

/// Records the step that noli_sim_step has just done: rows, and the frame and checkpoint when they
/// are due. Fails with NOLI_ERROR_IO, NOLI_ERROR_BACKEND, NOLI_ERROR_MEMORY, which leave the last
/// checkpoint untouched, and with NOLI_ERROR_ARGUMENT, writing nothing, when there was no such
/// step, when the step does not follow the last one that was recorded or failed to be (each is
/// recorded once, in order), and for another simulation or other bodies than those of
/// noli_run_open.
NOLI_API NOLI_WARN_UNUSED NoliStatus noli_run_step(NoliRun* run, NoliSim* sim);

/// Writes the present state: frame, summary and checkpoint; at the end, or when a step failed or
/// the user interrupts. `finished` and `failure` (why the run ends early, or NULL) go to the
/// summary. Fails as noli_run_step, also when a step was not recorded.
NOLI_API NOLI_WARN_UNUSED NoliStatus noli_run_save(NoliRun* run, NoliSim* sim, bool finished,
                                                   const char* failure);

/// Appends a line to log.txt. Failures are ignored: a log must not stop a run.
NOLI_API void noli_run_log(NoliRun* run, NoliLogLevel level, const char* message);

/// Whether the directory still belongs to the run and has a checkpoint.
NOLI_API bool noli_run_can_be_resumed(NoliRun* run);

/// The number of steps of the finished run in a directory; -1 if there is none, or if it has not
/// finished or cannot be read.
NOLI_API int64_t noli_run_finished_steps(NoliContext* context, const char* directory);

/// The directory of the run, as in its definition; valid until the run is closed.
NOLI_API const char* noli_run_directory(const NoliRun* run);

/// Whether a run that was resumed has another scene than its checkpoint, for example a longer
/// duration: the result then differs from that of an uninterrupted run. Where its files are makes
/// no difference.
NOLI_API bool noli_run_has_other_scene(const NoliRun* run);

/// The name of the list of frames in the directory of the run, such as frames.pvd.
NOLI_API const char* noli_run_list_name(const NoliRun* run);

/// Totals of a run.
typedef struct NoliSummary {
  const char* scene; ///< its name; borrowed
  int32_t nodes;
  int32_t tets;
  int32_t surface_triangles;
  int32_t threads;
  int64_t steps;
  double time; ///< s, simulated
  bool finished;
  double wall;  ///< s, sum over sessions
  double solve; ///< s, sum of the wall times of the steps
  int64_t newton_total;
  int32_t newton_max; ///< most in one step
  int64_t contacts_max;
  double min_distance; ///< m, minimum over all steps; INFINITY: never any contact
  double peak_rss_mb;  ///< largest over sessions, 1e6 bytes
  NoliStepTiming timing;
  int64_t n_frames;
  int64_t retries;          ///< steps repeated in more parts
  int64_t divided_steps;    ///< steps done in more than one part
  double friction_ratio;    ///< largest of all steps, as in NoliStepReport
  double friction_error;    ///< largest of all steps, as in NoliStepReport
  int64_t linear_fallbacks; ///< systems that the selected linear solver did not solve
  int64_t solver_fallbacks; ///< steps that the selected solver did not solve
  const char* failure;      ///< borrowed; why the run ended early, NULL if it did not
  double imbalance;         ///< largest of all steps, as in NoliStepReport
  int64_t blocked_steps;    ///< steps in which a prescribed motion did not reach its targets
  double motion_error; ///< m, largest distance of a prescribed vertex from its target, last step
  double motion_error_max; ///< m, largest of all steps
  char blocked_by[512];    ///< what stopped a prescribed motion in the last step, or ""
} NoliSummary;

/// Totals so far, valid until the run is closed; they change with every step that is recorded.
NOLI_API const NoliSummary* noli_run_summary(const NoliRun* run);

/// Closes all files, releases the run and sets the pointer to NULL; writes nothing. NULL is
/// allowed.
NOLI_API void noli_run_close(NoliRun** run);

/// A frame of a list. Never changes its size.
typedef struct NoliRunFrame {
  int64_t step;
  double time; ///< s
  void* reserved[2];
} NoliRunFrame;

/// Reads a list of frames (frames.pvd, frames.ply.series) that a run wrote, ignoring other lines.
/// `*frames` (n_frames), in the order of the file, is released with noli_run_free_frames.
/// Fails with NOLI_ERROR_IO, NOLI_ERROR_FORMAT when the file is damaged, NOLI_ERROR_MEMORY.
NOLI_API NOLI_WARN_UNUSED NoliStatus noli_run_read_frames(NoliContext* context, const char* path,
                                                          NoliRunFrame** frames, int64_t* n_frames);
/// Releases the list of noli_run_read_frames and sets the pointer to NULL.
NOLI_API void noli_run_free_frames(NoliContext* context, NoliRunFrame** frames);

/// The suffix of the `index`-th format to which results are converted, such as `.glb`; NULL past
/// the last.
NOLI_API const char* noli_run_export_suffix(int32_t index);

/// A description of the `index`-th of these formats; NULL past the last.
NOLI_API const char* noli_run_export_description(int32_t index);

/// Converts the frames of a result directory to the format that the suffix of `path` names:
/// docs/howto/exchange.md. Formats with a file for each frame need one place for its number in
/// `path`, such as `%04d`; `.pc2` writes two files for each body beside `path`. Lengths are in
/// metres, and coordinates those of the scene unless the format has a fixed axis upwards.
/// `*n_frames` (may be NULL) receives the number of frames. Every file appears completely or not at
/// all. Fails with NOLI_ERROR_ARGUMENT (no such format, no place for a number), NOLI_ERROR_FORMAT
/// (not a result, a frame is damaged), NOLI_ERROR_IO, NOLI_ERROR_TOO_LARGE (more than the format
/// can hold), NOLI_ERROR_BACKEND when HDF5 fails, NOLI_ERROR_MEMORY.
NOLI_API NOLI_WARN_UNUSED NoliStatus noli_run_export(NoliContext* context, const char* directory,
                                                     const char* path, int64_t* n_frames);

#ifdef __cplusplus
}
#endif
