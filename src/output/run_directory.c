#define _POSIX_C_SOURCE 200809L

#include "base/ranks.h"
#include "base/timer.h"
#include "output/file.h"
#include "output/run_writer.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// The log marks a directory as ours.
#define LOG "log.txt"
#define LOG_MARK "noli "

NoliStatus noli_run_path(NoliRun* run, const char* name, char** path) {
  return noli_file_join(run->context, run->directory, name, path);
}

NoliStatus noli_run_write_text(NoliRun* run, const char* name, const char* text) {
  NoliStatus status = NOLI_OK;
  char* path = NULL;
  NOLI_TRY(noli_run_path(run, name, &path));
  NOLI_TRY(noli_file_replace(run->context, path, text, strlen(text), false));
done:
  noli_free(run->context, path);
  return status;
}

NoliStatus noli_run_remove_file(NoliRun* run, const char* name) {
  NoliStatus status = NOLI_OK;
  char* path = NULL;
  NOLI_TRY(noli_run_path(run, name, &path));
  NOLI_TRY(noli_file_remove(run->context, path));
done:
  noli_free(run->context, path);
  return status;
}

// ---- names ----

// Whether a run writes files of this name, in any format.
static bool is_name_of_run(const char* name) {
  static const char* const others[] = {
      "scene.json",  "summary.json",  "defects.vtu",       "view.html",
      "report.html", "checkpoint.h5", "checkpoint_new.h5", "checkpoint_previous.h5"};
  const NoliFrameFormat* format;
  bool ours = false;
  for (int32_t i = 0; (format = noli_frame_format_at(i)) != NULL; i++) {
    ours = ours || strcmp(name, format->list.name) == 0 || noli_frame_step(format, name) >= 0 ||
           noli_frame_is_part(format, name);
  }
  for (int32_t i = 0; i < NOLI_N_HISTORIES; i++) {
    ours = ours || strcmp(name, noli_histories[i].file) == 0;
  }
  for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
    ours = ours || strcmp(name, others[i]) == 0;
  }
  return ours;
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
  return is_name_of_run(plain);
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
                   "%s/%s: exists and was not written by a run of Noli; choose another directory",
                   run->directory, name);
}

NoliStatus noli_run_remove_files(NoliRun* run) {
  return visit_our_files(run, noli_run_remove_file);
}

NoliStatus noli_run_refuse_files(NoliRun* run) {
  return visit_our_files(run, refuse_file);
}

// ---- the log ----

NoliStatus noli_run_has_log(NoliRun* run, bool* ours) {
  NoliStatus status = NOLI_OK;
  char* path = NULL;
  char begin[sizeof LOG_MARK] = "";
  *ours = false;
  NOLI_TRY(noli_run_path(run, LOG, &path));
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

NoliStatus noli_run_open_log(NoliRun* run) {
  NoliStatus status = NOLI_OK;
  char* path = NULL;
  if (!noli_rank_writes(run->context)) {
    return NOLI_OK;
  }
  NOLI_TRY(noli_run_path(run, LOG, &path));
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
    status = noli_fail(run->context, NOLI_ERROR_IO, "%s: another run is writing here (process %ld)",
                       run->directory, process);
  }
done:
  noli_free(run->context, path);
  return status;
}

NoliStatus noli_run_begin_log(NoliRun* run, bool empty) {
  char line[128], ranks[32] = "";
  int32_t n_ranks = noli_rank_count(run->context);
  if (!noli_rank_writes(run->context)) {
    return NOLI_OK;
  }
  if (n_ranks > 1) {
    snprintf(ranks, sizeof ranks, "%d ranks, ", (int)n_ranks);
  }
  if (empty && (!noli_disk_allows(run->context, "truncate", LOG) || ftruncate(run->log, 0) != 0)) {
    return noli_file_fail(run->context, run->directory, "cannot empty " LOG, errno);
  }
  int length = snprintf(line, sizeof line, LOG_MARK "%s, %s%d threads\n", noli_version(), ranks,
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
  bool known = level >= NOLI_LOG_DEBUG && level <= NOLI_LOG_ERROR;
  int length = snprintf(line, sizeof line, "%10.3f %s: %s\n", noli_seconds() - run->opened_at,
                        names[known ? level : NOLI_LOG_ERROR], message);
  noli_make_printable(line);
  if (length > 0) {
    size_t size = (size_t)length < sizeof line ? (size_t)length : sizeof line - 1;
    (void)noli_file_write_all(run->context, LOG, run->log, line, size);
  }
}

NoliStatus noli_run_require_directory(NoliRun* run) {
  NoliStatus status = NOLI_OK;
  char* path = NULL;
  struct stat ours, there;
  if (!noli_rank_writes(run->context)) {
    return NOLI_OK;
  }
  NOLI_TRY(noli_run_path(run, LOG, &path));
  NOLI_CHECK(run->context,
             fstat(run->log, &ours) == 0 && stat(path, &there) == 0 &&
                 ours.st_dev == there.st_dev && ours.st_ino == there.st_ino,
             NOLI_ERROR_IO, "%s: the directory was removed or replaced while the run was writing",
             run->directory);
done:
  noli_free(run->context, path);
  return status;
}
