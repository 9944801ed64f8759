#define _POSIX_C_SOURCE 200809L

#include "noli/run.h"

#include "base/sized.h"
#include "base/timer.h"
#include "output/checkpoint.h"
#include "output/csv.h"
#include "output/file.h"
#include "output/frame.h"
#include "output/pvd.h"
#include "output/run_files.h"
#include "output/summary.h"
#include "sim/definition.h"
#include "sim/simulation.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// Every name a run may write besides frames. LOG stands apart: it marks a directory as ours.
#define LOG "log.txt"
#define LOG_MARK "noli "
static const char* const file_names[] = {
    "scene.json",    "frames.pvd",        "steps.csv",
    "forces.csv",    "summary.json",      "offenders.vtu",
    "checkpoint.h5", "checkpoint_new.h5", "checkpoint_previous.h5",
    "volumes.csv",
};
enum { N_FILE_NAMES = sizeof file_names / sizeof *file_names };

struct NoliRun {
  NoliContext* context;
  char* directory;
  char* scene_name;
  char* scene_json;
  char* files; // what the scene read, run_files.h
  char* failure;
  int32_t frame_interval;
  double checkpoint_seconds;
  int32_t checkpoint_steps;
  int log;
  NoliFrameLayout layout;
  NoliPvd pvd;
  NoliCsv steps;
  NoliCsv forces;
  NoliCsv volumes; // of scenes with regions only
  NoliSummary summary;
  double wall_before; // s, of earlier sessions
  double opened_at;   // s, on the clock of noli_seconds
  double checkpoint_at;
  int64_t checkpoint_step; // of the last checkpoint; -1: none yet
};

// ---- the directory ----

static NoliStatus path_in(NoliRun* run, const char* name, char** path) {
  return noli_file_join(run->context, run->directory, name, path);
}

// "frame_" followed by six or more digits and ".vtu".
static bool is_frame_name(const char* name) {
  const char* digits = name + 6;
  if (strncmp(name, "frame_", 6) != 0) {
    return false;
  }
  size_t n = 0;
  while (isdigit((unsigned char)digits[n])) {
    n++;
  }
  return n >= 6 && strcmp(digits + n, ".vtu") == 0;
}

// Whether a run writes files of this name, with or without the suffix of temporaries.
static bool is_our_name(const char* name) {
  char plain[64];
  size_t length = strlen(name);
  if (length >= sizeof plain) {
    return false;
  }
  memcpy(plain, name, length + 1);
  if (length > 4 && strcmp(plain + length - 4, ".tmp") == 0) {
    plain[length - 4] = '\0';
  }
  if (is_frame_name(plain)) {
    return true;
  }
  for (int32_t i = 0; i < N_FILE_NAMES; i++) {
    if (strcmp(plain, file_names[i]) == 0) {
      return true;
    }
  }
  return false;
}

// Calls `visit` for every entry of the directory whose name is one of ours.
typedef NoliStatus VisitFn(NoliRun* run, const char* name);

static NoliStatus visit_our_files(NoliRun* run, VisitFn* visit) {
  NoliStatus status = NOLI_OK;
  DIR* directory = opendir(run->directory);
  if (directory == NULL) {
    return noli_file_fail(run->context, run->directory, "cannot open the directory", errno);
  }
  for (const struct dirent* entry = readdir(directory); entry != NULL; entry = readdir(directory)) {
    if (is_our_name(entry->d_name)) {
      NOLI_TRY(visit(run, entry->d_name));
    }
  }
done:
  closedir(directory);
  return status;
}

static NoliStatus refuse_file(NoliRun* run, const char* name) {
  return noli_fail(run->context, NOLI_ERROR_IO,
                   "%s/%s: already there, and not from a run of Noli; choose another directory",
                   run->directory, name);
}

static NoliStatus remove_file(NoliRun* run, const char* name) {
  NoliStatus status = NOLI_OK;
  char* path = NULL;
  NOLI_TRY(path_in(run, name, &path));
  NOLI_TRY(noli_file_remove(run->context, path));
done:
  noli_free(run->context, path);
  return status;
}

// Whether the directory holds the log of a run.
static NoliStatus has_our_log(NoliRun* run, bool* ours) {
  NoliStatus status = NOLI_OK;
  char* path = NULL;
  char begin[sizeof LOG_MARK] = "";
  *ours = false;
  NOLI_TRY(path_in(run, LOG, &path));
  FILE* file = fopen(path, "rb");
  if (file != NULL) {
    size_t n = fread(begin, 1, sizeof LOG_MARK - 1, file);
    *ours = n == sizeof LOG_MARK - 1 && strcmp(begin, LOG_MARK) == 0;
    fclose(file);
    // a run that was killed before it had written anything leaves an empty one
    if (!*ours && n > 0) {
      status = refuse_file(run, LOG);
    }
  }
done:
  noli_free(run->context, path);
  return status;
}

// Opens the log and locks it: two runs in one directory would spoil each other's files.
static NoliStatus open_log(NoliRun* run) {
  NoliStatus status = NOLI_OK;
  char* path = NULL;
  NOLI_TRY(path_in(run, LOG, &path));
  if (noli_disk_allows(run->context, "open", path)) {
    run->log = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  }
  if (run->log < 0) {
    status = noli_file_fail(run->context, path, "cannot open", errno);
    goto done;
  }
  struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
  // file systems without locks are used without
  if (fcntl(run->log, F_SETLK, &lock) != 0 && (errno == EACCES || errno == EAGAIN)) {
    struct flock holder = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    long process = fcntl(run->log, F_GETLK, &holder) == 0 ? (long)holder.l_pid : 0;
    status = noli_fail(run->context, NOLI_ERROR_IO, "%s: another run writes here (process %ld)",
                       run->directory, process);
  }
done:
  noli_free(run->context, path);
  return status;
}

static NoliStatus begin_log(NoliRun* run, bool empty) {
  char line[128];
  if (empty && (!noli_disk_allows(run->context, "truncate", LOG) || ftruncate(run->log, 0) != 0)) {
    return noli_file_fail(run->context, run->directory, "cannot empty " LOG, errno);
  }
  int length = snprintf(line, sizeof line, LOG_MARK "%s, %d threads\n", noli_version(),
                        (int)noli_context_threads(run->context));
  if (!noli_file_write_all(run->context, LOG, run->log, line, (size_t)length)) {
    return noli_file_fail(run->context, run->directory, "cannot write " LOG, errno);
  }
  return NOLI_OK;
}

void noli_run_log(NoliRun* run, NoliLogLevel level, const char* message) {
  static const char* const names[] = {"debug", "info", "warning", "error"};
  char line[2200];
  if (run == NULL || message == NULL) {
    return;
  }
  int length = snprintf(line, sizeof line, "%10.3f %s: %s\n", noli_seconds() - run->opened_at,
                        names[level], message);
  if (length > 0) {
    size_t size = (size_t)length < sizeof line ? (size_t)length : sizeof line - 1;
    (void)noli_file_write_all(run->context, LOG, run->log, line, size);
  }
}

// ---- what is written ----

static NoliStatus write_text(NoliRun* run, const char* name, const char* text) {
  NoliStatus status = NOLI_OK;
  char* path = NULL;
  NOLI_TRY(path_in(run, name, &path));
  NOLI_TRY(noli_file_replace(run->context, path, text, strlen(text), false));
done:
  noli_free(run->context, path);
  return status;
}

static bool has_frame(const NoliRun* run, int64_t step) {
  int64_t n = run->pvd.frames.count;
  return n > 0 && run->pvd.frames.data[n - 1].step == step;
}

// A directory that was removed takes the locked log with it, and another run may be where it was.
static NoliStatus require_directory(NoliRun* run) {
  NoliStatus status = NOLI_OK;
  char* path = NULL;
  struct stat ours, there;
  NOLI_TRY(path_in(run, LOG, &path));
  NOLI_CHECK(run->context,
             fstat(run->log, &ours) == 0 && stat(path, &there) == 0 &&
                 ours.st_dev == there.st_dev && ours.st_ino == there.st_ino,
             NOLI_ERROR_IO, "%s: the directory was removed or replaced while the run was writing",
             run->directory);
done:
  noli_free(run->context, path);
  return status;
}

// The frame first: the list never names a file that is not there.
static NoliStatus write_frame(NoliRun* run, NoliSim* sim) {
  NoliStatus status = NOLI_OK;
  char* path = NULL;
  char* list = NULL;
  char name[NOLI_PVD_NAME_SIZE];
  int64_t step = noli_sim_step_count(sim);
  noli_pvd_frame_name(step, name);
  NOLI_TRY(require_directory(run));
  NOLI_TRY(path_in(run, name, &path));
  NOLI_TRY(path_in(run, "frames.pvd", &list));
  NOLI_TRY(noli_frame_write(run->context, sim, &run->layout, path));
  NOLI_TRY(noli_pvd_append(run->context, &run->pvd, step, noli_sim_time(sim), list));
  run->summary.n_frames = run->pvd.frames.count;
done:
  noli_free(run->context, path);
  noli_free(run->context, list);
  return status;
}

// Where the files of checkpoints are.
typedef struct CheckpointPaths {
  char* path;
  char* new_path;
  char* previous;
} CheckpointPaths;

static NoliStatus find_checkpoints(NoliRun* run, CheckpointPaths* paths) {
  NoliStatus status = NOLI_OK;
  *paths = (CheckpointPaths){NULL, NULL, NULL};
  NOLI_TRY(path_in(run, "checkpoint.h5", &paths->path));
  NOLI_TRY(path_in(run, "checkpoint_new.h5", &paths->new_path));
  NOLI_TRY(path_in(run, "checkpoint_previous.h5", &paths->previous));
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

// Frames from `first` of the list on, and the list itself.
static NoliStatus sync_each_frame(NoliRun* run, int64_t first) {
  NoliStatus status = NOLI_OK;
  char* path = NULL;
  for (int64_t i = first; i < run->pvd.frames.count; i++) {
    char name[NOLI_PVD_NAME_SIZE];
    noli_pvd_frame_name(run->pvd.frames.data[i].step, name);
    NOLI_TRY(path_in(run, name, &path));
    NOLI_TRY(noli_file_sync_path(run->context, path));
    noli_free(run->context, path);
    path = NULL;
  }
  NOLI_TRY(path_in(run, "frames.pvd", &path));
  NOLI_TRY(noli_file_sync_path(run->context, path));
done:
  noli_free(run->context, path);
  return status;
}

// Frames since the last checkpoint, and their list, reach the disk: one that goes on from the next
// checkpoint does not write them again. A disk takes 1 to 4 ms for each file, but hundreds of them
// in a tenth of a second if asked for all at once; others who write much at that time make us wait.
static NoliStatus sync_frames(NoliRun* run) {
  enum { FEW = 32 };
  NoliStatus status = NOLI_OK;
  bool done = false;
  int64_t first = run->pvd.frames.count;
  while (first > 0 && run->pvd.frames.data[first - 1].step > run->checkpoint_step) {
    first--;
  }
  if (run->pvd.frames.count - first > FEW) {
    NOLI_TRY(noli_file_sync_system_of(run->context, run->directory, &done));
  }
  if (!done) {
    NOLI_TRY(sync_each_frame(run, first));
  }
done:
  return status;
}

// What the checkpoint counts on is on the disk before it.
static NoliStatus write_checkpoint(NoliRun* run, NoliSim* sim, const char* summary_json) {
  NoliStatus status = NOLI_OK;
  CheckpointPaths paths;
  NOLI_TRY(find_checkpoints(run, &paths));
  NOLI_TRY(noli_csv_sync(&run->steps));
  NOLI_TRY(noli_csv_sync(&run->forces));
  NOLI_TRY(noli_csv_sync(&run->volumes));
  NOLI_TRY(sync_frames(run));
  NOLI_TRY(noli_checkpoint_write(run->context, sim, run->scene_json, summary_json, run->files,
                                 paths.new_path));
  NOLI_TRY(promote_checkpoint(run, &paths));
  run->checkpoint_step = noli_sim_step_count(sim);
  run->checkpoint_at = noli_seconds();
done:
  free_paths(run, &paths);
  return status;
}

// `*text` is what was written, owned by the caller.
static NoliStatus write_summary(NoliRun* run, char** text) {
  NoliStatus status = NOLI_OK;
  run->summary.wall = run->wall_before + (noli_seconds() - run->opened_at);
  run->summary.peak_rss_mb = fmax(run->summary.peak_rss_mb, noli_summary_peak_rss_mb());
  NOLI_TRY(noli_summary_text(run->context, &run->summary, text));
  NOLI_TRY(write_text(run, "summary.json", *text));
done:
  return status;
}

static NoliStatus write_summary_and_checkpoint(NoliRun* run, NoliSim* sim) {
  NoliStatus status = NOLI_OK;
  char* text = NULL;
  NOLI_TRY(require_directory(run));
  NOLI_TRY(write_summary(run, &text));
  if (run->checkpoint_step != noli_sim_step_count(sim)) {
    NOLI_TRY(write_checkpoint(run, sim, text));
  }
done:
  noli_free(run->context, text);
  return status;
}

static bool checkpoint_is_due(const NoliRun* run, int64_t step) {
  bool by_steps = run->checkpoint_steps > 0 && step % run->checkpoint_steps == 0;
  return by_steps || (run->checkpoint_seconds >= 0.0 &&
                      noli_seconds() - run->checkpoint_at >= run->checkpoint_seconds);
}

NoliStatus noli_run_step(NoliRun* run, NoliSim* sim) {
  NOLI_REQUIRE(run != NULL ? run->context : NULL, run != NULL && sim != NULL);
  NoliStatus status = NOLI_OK;
  // what the library reported: a program with older headers knows less
  const NoliStepReport* report = noli_sim_last_report(sim);
  NOLI_CHECK(run->context, report != NULL, NOLI_ERROR_ARGUMENT,
             "noli_run_step: the simulation has not just done a step");
  NOLI_TRY(noli_csv_append_step(&run->steps, report));
  NOLI_TRY(noli_csv_append_forces(&run->forces, sim));
  NOLI_TRY(noli_csv_append_volumes(&run->volumes, sim));
  noli_summary_add_step(&run->summary, report);
  if (report->step % run->frame_interval == 0) {
    NOLI_TRY(write_frame(run, sim));
  }
  if (checkpoint_is_due(run, report->step)) {
    NOLI_TRY(write_summary_and_checkpoint(run, sim));
  }
done:
  return status;
}

NoliStatus noli_run_save(NoliRun* run, NoliSim* sim, bool finished, const char* failure) {
  NOLI_REQUIRE(run != NULL ? run->context : NULL, run != NULL && sim != NULL);
  NoliStatus status = NOLI_OK;
  noli_free(run->context, run->failure);
  run->failure = failure != NULL ? noli_strdup(run->context, failure) : NULL;
  run->summary.failure = run->failure;
  run->summary.finished = finished;
  if (!has_frame(run, noli_sim_step_count(sim))) {
    NOLI_TRY(write_frame(run, sim));
  }
  NOLI_TRY(write_summary_and_checkpoint(run, sim));
done:
  return status;
}

// ---- opening ----

void noli_run_def_init(NoliRunDef* def, size_t size) {
  NoliRunDef own = {.frame_interval = 1, .checkpoint_seconds = 300.0};
  noli_sized_default(def, size, &own, sizeof own);
}

static NoliStatus take_def(NoliContext* context, const NoliRunDef* given, NoliRunDef* own) {
  return noli_sized_take(context, "the definition of the run", "noli_default_run_def", given, own,
                         sizeof *own);
}

static NoliStatus create_run(NoliContext* context, const NoliRunDef* def, NoliSim* sim,
                             NoliRun** run) {
  NoliStatus status = NOLI_OK;
  NoliRun* made = NULL;
  NoliSimDef* sim_def = NULL;
  NOLI_CHECK(context,
             def->directory != NULL && def->scene_name != NULL && def->scene_json != NULL &&
                 def->n_files >= 0 && (def->files != NULL || def->n_files == 0),
             NOLI_ERROR_ARGUMENT,
             "a run needs a directory, the name and the text of its scene, and "
             "the files that it counts");
  NOLI_CHECK(context, def->frame_interval > 0, NOLI_ERROR_ARGUMENT,
             "the interval of frames must be positive");
  NOLI_NEW_ZERO(context, made, 1);
  made->context = context;
  made->log = -1;
  made->checkpoint_step = -1;
  made->opened_at = noli_seconds();
  made->checkpoint_at = made->opened_at;
  made->frame_interval = def->frame_interval;
  made->checkpoint_seconds = def->checkpoint_seconds;
  made->checkpoint_steps = def->checkpoint_steps;
  made->directory = noli_strdup(context, def->directory);
  made->scene_name = noli_strdup(context, def->scene_name);
  made->scene_json = noli_strdup(context, def->scene_json);
  if (made->directory == NULL || made->scene_name == NULL || made->scene_json == NULL) {
    status = NOLI_ERROR_MEMORY;
    goto done;
  }
  NOLI_TRY(noli_run_files_text(context, def->files, def->n_files, &made->files));
  if (def->sim_def != NULL) {
    NOLI_TRY(noli_definition_take(context, def->sim_def, &sim_def));
  }
  NOLI_TRY(noli_frame_layout_create(context, sim, sim_def, &made->layout));
done:
  noli_definition_free(context, &sim_def);
  if (status != NOLI_OK) {
    noli_run_close(&made);
  }
  *run = made;
  return status;
}

// Opens the history of volumes, anew (last_step < 0) or to go on, where there are regions.
static NoliStatus open_volumes(NoliRun* run, NoliSim* sim, int64_t last_step) {
  NoliStatus status = NOLI_OK;
  char* path = NULL;
  const NoliRegionVolume* volumes = NULL;
  int32_t n_volumes = 0;
  NOLI_TRY(noli_sim_volumes(sim, &volumes, &n_volumes));
  if (n_volumes == 0) {
    goto done;
  }
  NOLI_TRY(path_in(run, "volumes.csv", &path));
  status =
      last_step < 0
          ? noli_csv_create(run->context, path, noli_csv_volumes_header, &run->volumes)
          : noli_csv_reopen(run->context, path, noli_csv_volumes_header, last_step, &run->volumes);
done:
  noli_free(run->context, path);
  return status;
}

static NoliStatus start_files(NoliRun* run, NoliSim* sim) {
  NoliStatus status = NOLI_OK;
  NoliContext* context = run->context;
  char *steps = NULL, *forces = NULL;
  NOLI_TRY(path_in(run, "steps.csv", &steps));
  NOLI_TRY(path_in(run, "forces.csv", &forces));
  NOLI_TRY(visit_our_files(run, remove_file));
  NOLI_TRY(begin_log(run, true));
  NOLI_TRY(write_text(run, "scene.json", run->scene_json));
  NOLI_TRY(noli_csv_create(context, steps, noli_csv_steps_header, &run->steps));
  NOLI_TRY(noli_csv_create(context, forces, noli_csv_forces_header, &run->forces));
  NOLI_TRY(open_volumes(run, sim, -1));
  run->summary = noli_summary_begin(context, sim, run->scene_name);
  NOLI_TRY(write_frame(run, sim));
  NOLI_TRY(write_summary_and_checkpoint(run, sim));
done:
  noli_free(context, steps);
  noli_free(context, forces);
  return status;
}

static bool has_checkpoint(const NoliRun* run) {
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

bool noli_run_can_be_resumed(NoliRun* run) {
  return run != NULL && require_directory(run) == NOLI_OK && has_checkpoint(run);
}

// The step of the checkpoint; -1 where it cannot be read. A failure leaves no message.
static int64_t checkpoint_step(NoliContext* context, const char* directory) {
  char* path = NULL;
  NoliCheckpointInfo info = {.step = -1};
  if (noli_file_join(context, directory, "checkpoint.h5", &path) != NOLI_OK ||
      noli_checkpoint_info(context, path, &info) != NOLI_OK) {
    info.step = -1;
  }
  noli_checkpoint_info_free(context, &info);
  noli_free(context, path);
  return info.step;
}

static bool is_finished(NoliContext* context, const char* directory) {
  char *path = NULL, *text = NULL;
  size_t size = 0;
  bool finished = noli_file_join(context, directory, "summary.json", &path) == NOLI_OK &&
                  noli_file_read(context, path, &text, &size) == NOLI_OK &&
                  noli_summary_is_finished(context, text);
  noli_free(context, path);
  noli_free(context, text);
  return finished;
}

int64_t noli_run_finished_steps(NoliContext* context, const char* directory) {
  // the summary is written before the checkpoint that ends a run
  return context != NULL && directory != NULL && is_finished(context, directory)
             ? checkpoint_step(context, directory)
             : -1;
}

// Whether the history has a row, or is lost.
static NoliStatus has_steps(NoliRun* run, bool* any) {
  NoliStatus status = NOLI_OK;
  char* path = NULL;
  NOLI_TRY(path_in(run, "steps.csv", &path));
  FILE* file = fopen(path, "rb");
  int c = '\n';
  if (file != NULL) {
    for (c = fgetc(file); c != '\n' && c != EOF; c = fgetc(file)) {
    }
    c = c == EOF ? EOF : fgetc(file);
    fclose(file);
  }
  *any = c != EOF;
done:
  noli_free(run->context, path);
  return status;
}

// What a run has computed is not thrown away because its folder is named once more.
static NoliStatus refuse_unfinished(NoliRun* run) {
  NoliStatus status = NOLI_OK;
  bool any = false;
  NOLI_TRY(has_steps(run, &any));
  if (!any || !has_checkpoint(run) || noli_run_finished_steps(run->context, run->directory) >= 0) {
    goto done;
  }
  status = noli_fail(run->context, NOLI_ERROR_IO,
                     "%s: holds a run that has not finished; to go on with it: noli resume %s; to "
                     "replace it: noli run --force",
                     run->directory, run->directory);
done:
  return status;
}

NoliStatus noli_run_open(NoliContext* context, const NoliRunDef* given, NoliSim* sim,
                         NoliRun** run) {
  NOLI_REQUIRE(context, context != NULL && given != NULL && sim != NULL && run != NULL);
  NoliStatus status = NOLI_OK;
  bool ours = false;
  NoliRunDef own = noli_default_run_def();
  const NoliRunDef* def = &own;
  *run = NULL;
  NOLI_TRY(take_def(context, given, &own));
  NOLI_TRY(create_run(context, def, sim, run));
  NOLI_TRY(noli_file_make_directory(context, (*run)->directory));
  NOLI_TRY(has_our_log(*run, &ours));
  if (!ours) {
    NOLI_TRY(visit_our_files(*run, refuse_file));
  }
  NOLI_TRY(open_log(*run));
  if (ours && !def->replace_unfinished) {
    NOLI_TRY(refuse_unfinished(*run));
  }
  NOLI_TRY(start_files(*run, sim));
done:
  if (status != NOLI_OK) {
    noli_run_close(run);
  }
  return status;
}

// Refuses to go on with other meshes than the run was begun with.
static NoliStatus check_files(NoliRun* run, const NoliRunDef* def, const char* path) {
  NoliStatus status = NOLI_OK;
  char *files = NULL, *scene = NULL, *scene_path = NULL;
  NOLI_TRY(path_in(run, "scene.json", &scene_path));
  NOLI_TRY(noli_checkpoint_read_text(run->context, path, "files", &files));
  NOLI_TRY(noli_checkpoint_read_text(run->context, path, "scene", &scene));
  NOLI_TRY(noli_run_files_check(run->context, files, def->files, def->n_files,
                                scene != NULL && strcmp(scene, run->scene_json) == 0, scene_path));
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

// A run that was killed between writing a checkpoint and giving it its name left a whole one.
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

// The newest checkpoint, else the one before it; the message of a failure is that of the newest.
static NoliStatus restore(NoliRun* run, const NoliRunDef* def, NoliSim* sim) {
  NoliStatus status = NOLI_OK;
  NoliContext* context = run->context;
  CheckpointPaths paths;
  char message[sizeof context->message];
  NOLI_TRY(find_checkpoints(run, &paths));
  NOLI_TRY(finish_promotion(run, &paths));
  status = restore_from(run, def, sim, paths.path);
  if ((status == NOLI_ERROR_FORMAT || status == NOLI_ERROR_IO) &&
      noli_file_exists(paths.previous)) {
    memcpy(message, context->message, sizeof message);
    NoliStatus first_status = status;
    status = restore_from(run, def, sim, paths.previous);
    if (status != NOLI_OK) {
      status = noli_fail(context, first_status, "%s", message);
      goto done;
    }
    noli_log(context, NOLI_LOG_WARNING, "%s; going on from %s", message, paths.previous);
  }
  run->checkpoint_step = status == NOLI_OK ? noli_sim_step_count(sim) : -1;
done:
  free_paths(run, &paths);
  return status;
}

// Takes frames after `step` out of the list and off the disk.
static NoliStatus drop_later_frames(NoliRun* run, int64_t step) {
  NoliStatus status = NOLI_OK;
  char* list = NULL;
  int64_t kept = 0;
  NOLI_TRY(path_in(run, "frames.pvd", &list));
  if (noli_file_exists(list)) {
    NOLI_TRY(noli_pvd_read(run->context, list, &run->pvd));
  }
  int64_t n_frames = run->pvd.frames.count;
  while (kept < n_frames && run->pvd.frames.data[kept].step <= step) {
    kept++;
  }
  run->pvd.frames.count = kept;
  run->summary.n_frames = kept;
  if (kept == n_frames) {
    goto done;
  }
  // the list first: it never names a file that is not there
  NOLI_TRY(noli_pvd_write(run->context, &run->pvd, list));
  for (int64_t i = kept; i < n_frames; i++) {
    char name[NOLI_PVD_NAME_SIZE];
    noli_pvd_frame_name(run->pvd.frames.data[i].step, name);
    NOLI_TRY(remove_file(run, name));
  }
done:
  noli_free(run->context, list);
  return status;
}

static NoliStatus continue_files(NoliRun* run, NoliSim* sim) {
  NoliStatus status = NOLI_OK;
  NoliContext* context = run->context;
  char *steps = NULL, *forces = NULL, *summary = NULL;
  int64_t step = noli_sim_step_count(sim);
  NOLI_TRY(path_in(run, "steps.csv", &steps));
  NOLI_TRY(path_in(run, "forces.csv", &forces));
  NOLI_TRY(begin_log(run, false));
  NOLI_TRY(drop_later_frames(run, step));
  NOLI_TRY(noli_csv_reopen(context, steps, noli_csv_steps_header, step, &run->steps));
  NOLI_TRY(noli_csv_reopen(context, forces, noli_csv_forces_header, step, &run->forces));
  NOLI_TRY(open_volumes(run, sim, step));
  // not finished any more, also if it is killed before its next checkpoint
  NOLI_TRY(write_summary(run, &summary));
done:
  noli_free(context, summary);
  noli_free(context, steps);
  noli_free(context, forces);
  return status;
}

NoliStatus noli_run_reopen(NoliContext* context, const NoliRunDef* given, NoliSim* sim,
                           NoliRun** run) {
  NOLI_REQUIRE(context, context != NULL && given != NULL && sim != NULL && run != NULL);
  NoliStatus status = NOLI_OK;
  bool ours = false;
  NoliRunDef own = noli_default_run_def();
  const NoliRunDef* def = &own;
  *run = NULL;
  NOLI_TRY(take_def(context, given, &own));
  NOLI_TRY(create_run(context, def, sim, run));
  NOLI_TRY(has_our_log(*run, &ours));
  NOLI_CHECK(context, ours, NOLI_ERROR_IO, "%s: there is no run of Noli to go on with",
             def->directory);
  NOLI_TRY(open_log(*run));
  NOLI_TRY(restore(*run, def, sim));
  NOLI_TRY(continue_files(*run, sim));
done:
  if (status != NOLI_OK) {
    noli_run_close(run);
  }
  return status;
}

const char* noli_run_directory(const NoliRun* run) {
  return run != NULL ? run->directory : "";
}

const NoliSummary* noli_run_summary(const NoliRun* run) {
  return run != NULL ? &run->summary : NULL;
}

void noli_run_close(NoliRun** run) {
  if (run == NULL || *run == NULL) {
    return;
  }
  NoliContext* context = (*run)->context;
  noli_csv_close(&(*run)->steps);
  noli_csv_close(&(*run)->forces);
  noli_csv_close(&(*run)->volumes);
  noli_pvd_free(context, &(*run)->pvd);
  noli_frame_layout_free(context, &(*run)->layout);
  if ((*run)->log >= 0) {
    close((*run)->log);
  }
  noli_free(context, (*run)->directory);
  noli_free(context, (*run)->scene_name);
  noli_free(context, (*run)->scene_json);
  noli_free(context, (*run)->files);
  noli_free(context, (*run)->failure);
  noli_free(context, *run);
  *run = NULL;
}
