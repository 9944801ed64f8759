#include "output/file.h"

#include "base/validate.h"
#include "output/run_writer.h"

#include <string.h>

bool noli_run_has_frame(const NoliRun* run, int64_t step) {
  int64_t n = run->frames.frames.count;
  return n > 0 && run->frames.frames.data[n - 1].step == step;
}

// The frame first: the list never names a file that is not there.
NoliStatus noli_run_write_frame(NoliRun* run, NoliSim* sim) {
  NoliStatus status = NOLI_OK;
  char* path = NULL;
  char* list = NULL;
  char name[NOLI_FRAME_NAME_SIZE];
  int64_t step = noli_sim_step_count(sim);
  noli_frame_name(run->frames.format, step, name);
  NOLI_TRY(noli_run_require_directory(run));
  NOLI_TRY(noli_run_path(run, name, &path));
  NOLI_TRY(noli_run_path(run, run->frames.format->list.name, &list));
  NOLI_TRY(noli_frame_write(run->context, sim, &run->layout, run->frames.format, path));
  NOLI_TRY(noli_frame_list_append(run->context, &run->frames, step, noli_sim_time(sim), list));
  NOLI_VALIDATE(run->context, noli_frame_list_defect(&run->frames));
  run->summary.n_frames = run->frames.frames.count;
done:
  noli_free(run->context, path);
  noli_free(run->context, list);
  return status;
}

// Calls `visit` for the file of a frame and those of its parts.
static NoliStatus visit_files(NoliRun* run, const NoliFrameFormat* format, int64_t step,
                              NoliStatus (*visit)(NoliContext* context, const char* path)) {
  NoliStatus status = NOLI_OK;
  char* path = NULL;
  char frame[NOLI_FRAME_NAME_SIZE], name[NOLI_FRAME_NAME_SIZE];
  noli_frame_name(format, step, frame);
  memcpy(name, frame, sizeof name);
  bool more = true;
  for (int32_t part = 0; more; part++) {
    NOLI_TRY(noli_run_path(run, name, &path));
    more = part == 0 || noli_file_exists(path);
    if (more) {
      NOLI_TRY(visit(run->context, path));
    }
    noli_free(run->context, path);
    path = NULL;
    more = more && format->part_name != NULL;
    if (more) {
      format->part_name(frame, part, name);
    }
  }
done:
  noli_free(run->context, path);
  return status;
}

// Frames from `first` of the list on, and the list itself.
static NoliStatus sync_each_frame(NoliRun* run, int64_t first) {
  NoliStatus status = NOLI_OK;
  char* path = NULL;
  for (int64_t i = first; i < run->frames.frames.count; i++) {
    NOLI_TRY(
        visit_files(run, run->frames.format, run->frames.frames.data[i].step, noli_file_sync_path));
  }
  NOLI_TRY(noli_run_path(run, run->frames.format->list.name, &path));
  NOLI_TRY(noli_file_sync_path(run->context, path));
done:
  noli_free(run->context, path);
  return status;
}

// Frames since the last checkpoint, and their list, reach the disk: a run that is resumed from the
// next checkpoint does not write them again. A disk takes 1 to 4 ms for each file, but writes
// hundreds of files in a tenth of a second if they are requested together; other programs that
// write at that time delay the request.
NoliStatus noli_run_sync_frames(NoliRun* run) {
  enum { FEW = 32 };
  NoliStatus status = NOLI_OK;
  bool done = false;
  int64_t first = run->frames.frames.count;
  while (first > 0 && run->frames.frames.data[first - 1].step > run->checkpoint_step) {
    first--;
  }
  if (run->frames.frames.count - first > FEW) {
    NOLI_TRY(noli_file_sync_system_of(run->context, run->directory, &done));
  }
  if (!done) {
    NOLI_TRY(sync_each_frame(run, first));
  }
done:
  return status;
}

// Takes the frames of one format after `step` out of its list and off the disk.
static NoliStatus drop_later(NoliRun* run, int64_t step, NoliFrameList* list) {
  NoliStatus status = NOLI_OK;
  char* path = NULL;
  const NoliFrameFormat* format = list->format;
  int64_t kept = 0;
  NOLI_TRY(noli_run_path(run, format->list.name, &path));
  if (noli_file_exists(path)) {
    NOLI_TRY(noli_frame_list_read(run->context, format, path, list));
  }
  int64_t n_frames = list->frames.count;
  while (kept < n_frames && list->frames.data[kept].step <= step) {
    kept++;
  }
  list->frames.count = kept;
  if (kept == n_frames) {
    goto done;
  }

  // the list first: it never names a file that is not there
  NOLI_TRY(noli_frame_list_write(run->context, list, path));
  for (int64_t i = kept; i < n_frames; i++) {
    NOLI_TRY(visit_files(run, format, list->frames.data[i].step, noli_file_remove));
  }
done:
  noli_free(run->context, path);
  return status;
}

NoliStatus noli_run_drop_later_frames(NoliRun* run, int64_t step) {
  NoliStatus status = NOLI_OK;
  NoliFrameList other = {0};
  // the scene may have asked for another format before it was changed
  for (int32_t i = 0; (other.format = noli_frame_format_at(i)) != NULL; i++) {
    if (other.format != run->frames.format) {
      NOLI_TRY(drop_later(run, step, &other));
      noli_frame_list_free(run->context, &other);
    }
  }
  NOLI_TRY(drop_later(run, step, &run->frames));
  run->summary.n_frames = run->frames.frames.count;
done:
  noli_frame_list_free(run->context, &other);
  return status;
}
