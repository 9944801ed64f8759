#define _POSIX_C_SOURCE 200809L

#include "output/pvd.h"

#include "output/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void noli_pvd_frame_name(int64_t step, char name[NOLI_PVD_NAME_SIZE]) {
  snprintf(name, NOLI_PVD_NAME_SIZE, "frame_%06lld.vtu", (long long)step);
}

static NoliStatus add_frame(NoliContext* context, NoliPvd* pvd, int64_t step, double time) {
  NoliStatus status = NOLI_OK;
  NOLI_PUSH(context, &pvd->frames, ((NoliRunFrame){.step = step, .time = time}));
done:
  return status;
}

// ---- the text -----------------------------------------------------------------------------------

static const char list_begin[] = "<?xml version=\"1.0\"?>\n"
                                 "<VTKFile type=\"Collection\" version=\"0.1\">\n<Collection>\n";
static const char list_end[] = "</Collection>\n</VTKFile>\n";

enum { LINE_SIZE = 160 };

static NoliStatus add_text(NoliContext* context, NoliPvd* pvd, const char* text, int64_t size) {
  NoliStatus status = NOLI_OK;
  NOLI_TRY(noli_array_reserve(context, &pvd->text, pvd->text.count + size));
  memcpy(pvd->text.data + pvd->text.count, text, (size_t)size);
  pvd->text.count += size;
done:
  return status;
}

static int print_line(NoliRunFrame frame, char line[LINE_SIZE]) {
  char name[NOLI_PVD_NAME_SIZE];
  noli_pvd_frame_name(frame.step, name);
  return snprintf(line, LINE_SIZE,
                  "<DataSet timestep=\"%.17g\" group=\"\" part=\"0\" file=\"%s\"/>\n", frame.time,
                  name);
}

static NoliStatus make_text(NoliContext* context, NoliPvd* pvd) {
  NoliStatus status = NOLI_OK;
  pvd->text.count = 0;
  NOLI_TRY(add_text(context, pvd, list_begin, sizeof list_begin - 1));
  for (int64_t i = 0; i < pvd->frames.count; i++) {
    char line[LINE_SIZE];
    NOLI_TRY(add_text(context, pvd, line, print_line(pvd->frames.data[i], line)));
  }
done:
  return status;
}

// ---- the file -----------------------------------------------------------------------------------

static NoliStatus replace_file(NoliContext* context, const NoliPvd* pvd, const char* path) {
  NoliStatus status = NOLI_OK;
  NoliFile file;
  NOLI_TRY(noli_file_create(context, path, &file));
  NOLI_TRY(noli_file_write(&file, pvd->text.data, (size_t)pvd->text.count));
  NOLI_TRY(noli_file_write(&file, list_end, sizeof list_end - 1));
  NOLI_TRY(noli_file_commit(&file, false));
done:
  noli_file_abandon(&file);
  return status;
}

NoliStatus noli_pvd_write(NoliContext* context, NoliPvd* pvd, const char* path) {
  NoliStatus status = NOLI_OK;
  NOLI_TRY(make_text(context, pvd));
  NOLI_TRY(replace_file(context, pvd, path));
done:
  return status;
}

// Writes `text` over the end of the list, which begins at `at`. The end of the list is put back
// where that fails.
static NoliStatus overwrite_end(NoliContext* context, const char* path, int descriptor, int64_t at,
                                const char* text, size_t size) {
  if (lseek(descriptor, (off_t)at, SEEK_SET) == (off_t)at &&
      noli_file_write_all(context, path, descriptor, text, size)) {
    return NOLI_OK;
  }
  int error = errno;
  bool restored = pwrite(descriptor, list_end, sizeof list_end - 1, (off_t)at) > 0 &&
                  ftruncate(descriptor, (off_t)(at + (int64_t)sizeof list_end - 1)) == 0;
  return noli_file_fail(context, path,
                        restored ? "cannot write" : "cannot write, and the list is torn", error);
}

// Grows the file in place if it is the one that was written before; `*done` says whether it was.
static NoliStatus grow_file(NoliContext* context, const char* path, int64_t at, const char* text,
                            size_t size, bool* done) {
  NoliStatus status = NOLI_OK;
  struct stat about;
  *done = false;
  int descriptor = noli_disk_allows(context, "open", path) ? open(path, O_WRONLY | O_CLOEXEC) : -1;
  if (descriptor < 0) {
    return errno == ENOENT ? NOLI_OK : noli_file_fail(context, path, "cannot open", errno);
  }
  *done = fstat(descriptor, &about) == 0 && S_ISREG(about.st_mode) &&
          (int64_t)about.st_size == at + (int64_t)sizeof list_end - 1;
  if (*done) {
    status = overwrite_end(context, path, descriptor, at, text, size);
  }
  close(descriptor);
  return status;
}

// One write within one page of the file is done or not done, also when the process is killed; so
// the file is replaced only when the list grows into the next page.
NoliStatus noli_pvd_append(NoliContext* context, NoliPvd* pvd, int64_t step, double time,
                           const char* path) {
  enum { PAGE = 4096 };
  NoliStatus status = NOLI_OK;
  char text[LINE_SIZE + sizeof list_end];
  bool done = false;
  NOLI_TRY(add_frame(context, pvd, step, time));
  if (pvd->text.count == 0) {
    NOLI_TRY(noli_pvd_write(context, pvd, path));
    goto done;
  }

  int64_t at = pvd->text.count;
  int64_t length = print_line((NoliRunFrame){.step = step, .time = time}, text);
  NOLI_TRY(add_text(context, pvd, text, length));
  memcpy(text + length, list_end, sizeof list_end);
  int64_t size = length + (int64_t)sizeof list_end - 1;
  if (at / PAGE == (at + size - 1) / PAGE) {
    NOLI_TRY(grow_file(context, path, at, text, (size_t)size, &done));
  }
  if (!done) {
    NOLI_TRY(replace_file(context, pvd, path));
  }
done:
  return status;
}

NoliStatus noli_pvd_read(NoliContext* context, const char* path, NoliPvd* pvd) {
  NoliStatus status = NOLI_OK;
  char* text = NULL;
  size_t size;
  *pvd = (NoliPvd){0};
  NOLI_TRY(noli_file_read(context, path, &text, &size));
  NOLI_CHECK(context, strstr(text, "</Collection>") != NULL, NOLI_ERROR_FORMAT,
             "%s: damaged: it is no list of frames; without it a run goes on with a new one", path);
  for (const char* line = text; line != NULL; line = strchr(line, '\n')) {
    line += *line == '\n';
    double time;
    long long step;
    if (sscanf(line, "<DataSet timestep=\"%lf\" group=\"\" part=\"0\" file=\"frame_%lld.vtu\"/>",
               &time, &step) == 2) {
      NOLI_TRY(add_frame(context, pvd, step, time));
    }
  }
done:
  noli_free(context, text);
  return status;
}

void noli_pvd_free(NoliContext* context, NoliPvd* pvd) {
  noli_array_free(context, &pvd->frames);
  noli_array_free(context, &pvd->text);
}

NoliStatus noli_run_read_frames(NoliContext* context, const char* path, NoliRunFrame** frames,
                                int64_t* n_frames) {
  NOLI_REQUIRE(context, context != NULL && path != NULL && frames != NULL && n_frames != NULL);
  NoliPvd pvd;
  *frames = NULL;
  *n_frames = 0;
  NoliStatus status = noli_pvd_read(context, path, &pvd);
  if (status == NOLI_OK) {
    *frames = pvd.frames.data;
    *n_frames = pvd.frames.count;
    pvd.frames.data = NULL;
  }
  noli_pvd_free(context, &pvd);
  return status;
}

void noli_run_free_frames(NoliContext* context, NoliRunFrame** frames) {
  if (frames != NULL) {
    noli_free(context, *frames);
    *frames = NULL;
  }
}
