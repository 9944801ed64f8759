// The result directory of a run: who writes which file when.
//
//   scene.json      the scene as run, defaults filled in; written once
//   frame_N.vtu     the state after step N (six digits or more), every `frame_interval` steps
//   frames.pvd      the list of frames with their times, rewritten after each frame
//   steps.csv       one row per step, in the file before the step counts as recorded
//   forces.csv      one row per step and pair of entities in contact
//   volumes.csv     one row per step and region whose volume counts; only where there are any
//   summary.json    totals; rewritten with every checkpoint, "finished": false until the end
//   checkpoint.h5   the state; the one before is kept as checkpoint_previous.h5
//   log.txt         messages; locked while a run writes into the directory
//
// Order matters where a crash may fall between two writes: the checkpoint comes last. All else may
// be ahead of it, and reopening cuts it back to the step of the checkpoint.
#pragma once

#include "noli/output.h"
#include "noli/scene.h"

#include "output/summary.h"

typedef struct NoliRunDef {
  const char* directory; // created if it is not there
  const char* scene_name;
  const char* scene_json;     // as run, all defaults filled in
  const NoliSimDef* sim_def;  // for cell tags; may be NULL; must outlive the run
  int32_t frame_interval;     // steps between frames, > 0
  double checkpoint_seconds;  // wall time between checkpoints, < 0: only when asked for
  int32_t checkpoint_steps;   // steps between checkpoints besides; 0: only by wall time
  const NoliSceneFile* files; // (n_files) that the scene refers to; only while the run is opened
  int32_t n_files;
  bool replace_unfinished; // noli_run_open replaces a run that has not ended
} NoliRunDef;

typedef struct NoliRun NoliRun;

// Opens the directory for a new run. Files of an earlier run are removed if it has finished or has
// done no step; else, and if a file that Noli would write is there and the directory is not a
// result of Noli, fails with NOLI_ERROR_IO.
// Writes scene.json, the first frame and the first checkpoint.
NOLI_WARN_UNUSED NoliStatus noli_run_open(NoliContext* context, const NoliRunDef* def, NoliSim* sim,
                                          NoliRun** run);

// Opens the directory of an earlier run to go on with it: restores `sim` from checkpoint.h5 (from
// checkpoint_previous.h5 if that is damaged) and cuts histories and frames back to its step.
// Fails with NOLI_ERROR_ARGUMENT, and touches nothing, if a file of the scene has changed.
NOLI_WARN_UNUSED NoliStatus noli_run_reopen(NoliContext* context, const NoliRunDef* def,
                                            NoliSim* sim, NoliRun** run);

// Records an accepted step: rows, and the frame and checkpoint when they are due.
NOLI_WARN_UNUSED NoliStatus noli_run_step(NoliRun* run, NoliSim* sim, const NoliStepReport* report);

// Writes the present state now: frame, summary and checkpoint. Also what to call when a step failed
// or the user interrupts. `finished` and `failure` (why the run ends early, or NULL) go to the
// summary.
NOLI_WARN_UNUSED NoliStatus noli_run_save(NoliRun* run, NoliSim* sim, bool finished,
                                          const char* failure);

// Appends a line to log.txt. Failures are ignored: a log must not stop a run.
void noli_run_log(NoliRun* run, NoliLogLevel level, const char* message);

// Whether the directory is still that of the run and has a checkpoint.
bool noli_run_can_be_resumed(NoliRun* run);

// The number of steps of a finished run in a directory; -1 where there is none, or one that has
// not finished or cannot be read.
int64_t noli_run_finished_steps(NoliContext* context, const char* directory);

const char* noli_run_directory(const NoliRun* run);

// Totals so far.
const NoliSummary* noli_run_summary(const NoliRun* run);

// Closes all files and releases the run; writes nothing. NULL is allowed.
void noli_run_close(NoliRun** run);
