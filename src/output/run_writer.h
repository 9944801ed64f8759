// A result directory while a run writes it: what its parts share. Directory and log are in
// run_directory.c, frames in run_frames.c, checkpoints and the summary in run_checkpoint.c;
// opening, steps and closing in run_writer.c.
#pragma once

#include "noli/run.h"

#include "output/csv.h"
#include "output/frames/frame.h"
#include "output/frames/frame_list.h"
#include "output/histories.h"

struct NoliRun {
  NoliContext* context;
  const NoliSim* sim;     // whose steps it records
  int64_t n_body_changes; // of it when the run was opened
  int64_t step;           // the last one recorded, or whose record failed
  char* directory;
  char* scene_name;
  char* scene_json;
  bool has_other_scene; // than that of the checkpoint from which it was resumed
  char* files;          // what the scene read, run_files.h
  char* failure;
  int32_t frame_interval;
  double checkpoint_seconds;
  int32_t checkpoint_steps;
  int log;
  NoliFrameLayout layout;
  NoliFrameList frames;
  NoliProbes probes;
  NoliCsv history[NOLI_N_HISTORIES];
  NoliSummary summary;
  double wall_before; // s, of earlier sessions
  double opened_at;   // s, on the clock of noli_seconds
  double checkpoint_at;
  int64_t checkpoint_step; // of the last checkpoint; -1: none yet
  int64_t failed_step;     // the last one whose diagnosis was written
};

// ---- run_directory.c ----

// "directory/name", owned by the caller.
NOLI_WARN_UNUSED NoliStatus noli_run_path(NoliRun* run, const char* name, char** path);

NOLI_WARN_UNUSED NoliStatus noli_run_write_text(NoliRun* run, const char* name, const char* text);
NOLI_WARN_UNUSED NoliStatus noli_run_remove_file(NoliRun* run, const char* name);

// Removes all files that an earlier run left.
NOLI_WARN_UNUSED NoliStatus noli_run_remove_files(NoliRun* run);

// Fails with NOLI_ERROR_IO if the directory holds files with names that a run writes.
NOLI_WARN_UNUSED NoliStatus noli_run_refuse_files(NoliRun* run);

// Whether the directory holds the log of a run.
NOLI_WARN_UNUSED NoliStatus noli_run_has_log(NoliRun* run, bool* ours);

// Opens the log and locks it: two runs in one directory would spoil each other's files.
NOLI_WARN_UNUSED NoliStatus noli_run_open_log(NoliRun* run);

// Writes the first line of a session, to an empty log or behind what is there.
NOLI_WARN_UNUSED NoliStatus noli_run_begin_log(NoliRun* run, bool empty);

// A directory that was removed takes the locked log with it, and another run may be where it was:
// fails with NOLI_ERROR_IO then.
NOLI_WARN_UNUSED NoliStatus noli_run_require_directory(NoliRun* run);

// ---- run_frames.c ----

bool noli_run_has_frame(const NoliRun* run, int64_t step);
NOLI_WARN_UNUSED NoliStatus noli_run_write_frame(NoliRun* run, NoliSim* sim);

// Frames since the last checkpoint, and their list, reach the disk.
NOLI_WARN_UNUSED NoliStatus noli_run_sync_frames(NoliRun* run);

// Takes frames after `step` out of the lists and off the disk; reads the list to be continued.
NOLI_WARN_UNUSED NoliStatus noli_run_drop_later_frames(NoliRun* run, int64_t step);

// ---- run_checkpoint.c ----

NOLI_WARN_UNUSED NoliStatus noli_run_write_summary_and_checkpoint(NoliRun* run, NoliSim* sim);

// `*text` is what was written, owned by the caller.
NOLI_WARN_UNUSED NoliStatus noli_run_write_summary(NoliRun* run, char** text);

bool noli_run_has_checkpoint(const NoliRun* run);

// Restores state and totals from the newest checkpoint, else from the one before it; the message of
// a failure is that of the newest.
NOLI_WARN_UNUSED NoliStatus noli_run_restore(NoliRun* run, const NoliRunDef* def, NoliSim* sim);
