#include "output/checkpoint.h"

#include "base/ranks.h"
#include "base/timer.h"
#include "output/file.h"
#include "output/run_files.h"
#include "output/run_writer.h"
#include "output/summary.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// Where the files of checkpoints are.
typedef struct CheckpointPaths {
  char* path;
  char* new_path;
  char* previous;
} CheckpointPaths;

static NoliStatus find_checkpoints(NoliRun* run, CheckpointPaths* paths) {
  NoliStatus status = NOLI_OK;
  *paths = (CheckpointPaths){NULL, NULL, NULL};
  NOLI_TRY(noli_run_path(run, "checkpoint.h5", &paths->path));
  NOLI_TRY(noli_run_path(run, "checkpoint_new.h5", &paths->new_path));
  NOLI_TRY(noli_run_path(run, "checkpoint_previous.h5", &paths->previous));
done:
  return status;
}

static void free_paths(NoliRun* run, CheckpointPaths* paths) {
  noli_free(run->context, paths->path);
  noli_free(run->context, paths->new_path);
  noli_free(run->context, paths->previous);
}

// The checkpoint before becomes the previous one only when the new one is on the disk.
static NoliStatus promote_checkpoint(NoliRun* run, const CheckpointPaths* paths) {
  NoliStatus status = NOLI_OK;
  if (noli_file_exists(paths->path)) {
    NOLI_TRY(noli_file_keep(run->context, paths->path, paths->previous));
  }
  NOLI_TRY(noli_file_rename(run->context, paths->new_path, paths->path));
  noli_file_sync_directory_of(run->context, paths->path);
done:
  return status;
}

// The data that the checkpoint relies on is on the disk before it.
static NoliStatus write_checkpoint(NoliRun* run, NoliSim* sim, const char* summary_json) {
  NoliStatus status = NOLI_OK;
  CheckpointPaths paths;
  NOLI_TRY(find_checkpoints(run, &paths));
  for (int32_t i = 0; i < NOLI_N_HISTORIES; i++) {
    NOLI_TRY(noli_csv_sync(&run->history[i]));
  }
  NOLI_TRY(noli_run_sync_frames(run));
  NOLI_TRY(noli_checkpoint_write(run->context, sim, run->scene_json, summary_json, run->files,
                                 paths.new_path));
  NOLI_TRY(promote_checkpoint(run, &paths));
  run->checkpoint_step = noli_sim_step_count(sim);
  run->checkpoint_at = noli_seconds();
done:
  free_paths(run, &paths);
  return status;
}

NoliStatus noli_run_write_summary(NoliRun* run, char** text) {
  NoliStatus status = NOLI_OK;
  run->summary.wall = run->wall_before + (noli_seconds() - run->opened_at);
  run->summary.peak_rss_mb = fmax(run->summary.peak_rss_mb, noli_summary_peak_rss_mb());
  NOLI_TRY(noli_summary_text(run->context, &run->summary, text));
  NOLI_TRY(noli_run_write_text(run, "summary.json", *text));
done:
  return status;
}

NoliStatus noli_run_write_summary_and_checkpoint(NoliRun* run, NoliSim* sim) {
  NoliStatus status = NOLI_OK;
  char* text = NULL;
  NOLI_TRY(noli_run_require_directory(run));
  NOLI_TRY(noli_run_write_summary(run, &text));
  if (run->checkpoint_step != noli_sim_step_count(sim)) {
    NOLI_TRY(write_checkpoint(run, sim, text));
  }
done:
  noli_free(run->context, text);
  return status;
}

bool noli_run_has_checkpoint(const NoliRun* run) {
  static const char* const names[] = {"checkpoint.h5", "checkpoint_new.h5",
                                      "checkpoint_previous.h5"};
  bool there = false;
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    char* path = NULL;
    there = there || (noli_file_join(run->context, run->directory, names[i], &path) == NOLI_OK &&
                      noli_file_exists(path));
    noli_free(run->context, path);
  }
  return there;
}

// Refuses to resume with other meshes than those the run started with.
static NoliStatus check_files(NoliRun* run, const NoliRunDef* def, const char* path) {
  NoliStatus status = NOLI_OK;
  char *files = NULL, *scene = NULL, *scene_path = NULL;
  NOLI_TRY(noli_run_path(run, "scene.json", &scene_path));
  NOLI_TRY(noli_checkpoint_read_text(run->context, path, "files", &files));
  NOLI_TRY(noli_checkpoint_read_text(run->context, path, "scene", &scene));
  // runs of older versions have absolute paths
  bool same = scene != NULL && strcmp(scene, def->scene_json) == 0;
  if (scene != NULL && !same) {
    NOLI_TRY(noli_scene_is_same(run->context, scene, run->scene_json, &same));
  }
  NOLI_TRY(noli_run_files_check(run->context, run->directory, files, def->files, def->n_files, same,
                                scene_path));
  run->has_other_scene = scene != NULL && !same;
done:
  noli_free(run->context, files);
  noli_free(run->context, scene);
  noli_free(run->context, scene_path);
  return status;
}

// Loads a checkpoint and the totals it holds.
static NoliStatus restore_from(NoliRun* run, const NoliRunDef* def, NoliSim* sim,
                               const char* path) {
  NoliStatus status = NOLI_OK;
  char* text = NULL;
  NOLI_TRY(check_files(run, def, path));
  NOLI_TRY(noli_checkpoint_load(run->context, sim, path));
  run->summary = noli_summary_begin(run->context, sim, run->scene_name);
  NOLI_TRY(noli_checkpoint_read_text(run->context, path, "summary", &text));
  if (text != NULL) {
    NOLI_TRY(noli_summary_restore(run->context, text, &run->summary));
  }
  run->wall_before = run->summary.wall;
done:
  noli_free(run->context, text);
  return status;
}

// A run that was killed between writing a checkpoint and giving it its name left a complete one.
static NoliStatus finish_promotion(NoliRun* run, const CheckpointPaths* paths) {
  NoliStatus status = NOLI_OK;
  NoliCheckpointInfo info = {0};
  if (!noli_file_exists(paths->new_path)) {
    return NOLI_OK;
  }
  status = noli_checkpoint_info(run->context, paths->new_path, &info);
  noli_checkpoint_info_free(run->context, &info);
  return status == NOLI_OK             ? promote_checkpoint(run, paths)
         : status == NOLI_ERROR_FORMAT ? NOLI_OK // the one before it counts
                                       : status;
}

// Loads the last checkpoint, or the one before it where a rank cannot read the last one.
static NoliStatus restore_from_either(NoliRun* run, const NoliRunDef* def, NoliSim* sim,
                                      const CheckpointPaths* paths) {
  NoliContext* context = run->context;
  char message[sizeof context->message];
  NoliStatus status = restore_from(run, def, sim, paths->path), first = status;
  int64_t unreadable = first == NOLI_ERROR_FORMAT || first == NOLI_ERROR_IO;
  if (first != NOLI_OK && !(unreadable && noli_file_exists(paths->previous))) {
    goto done;
  }
  snprintf(message, sizeof message, "%s",
           unreadable ? context->message : "another rank cannot read the last checkpoint");
  NOLI_TRY(noli_ranks_largest(context, &unreadable));
  if (!unreadable) {
    goto done;
  }
  status = restore_from(run, def, sim, paths->previous);
  if (status == NOLI_OK) {
    noli_log(context, NOLI_LOG_WARNING, "%s; resuming from %s", message, paths->previous);
  } else if (first != NOLI_OK) {
    status = noli_fail(context, first, "%s", message);
  }
done:
  return status;
}

NoliStatus noli_run_restore(NoliRun* run, const NoliRunDef* def, NoliSim* sim) {
  NoliStatus status = NOLI_OK;
  NoliContext* context = run->context;
  CheckpointPaths paths;
  NOLI_TRY(find_checkpoints(run, &paths));
  NOLI_TRY(noli_ranks_join(context,
                           noli_rank_writes(context) ? finish_promotion(run, &paths) : NOLI_OK));
  status = restore_from_either(run, def, sim, &paths);
  run->checkpoint_step = status == NOLI_OK ? noli_sim_step_count(sim) : -1;
done:
  free_paths(run, &paths);
  return status;
}
