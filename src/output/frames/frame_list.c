#define _POSIX_C_SOURCE 200809L

#include "output/frames/frame_list.h"

#include "base/validate.h"
#include "base/ranks.h"
#include "output/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static NoliStatus frame_list_add_frame(NoliContext* context, NoliFrameList* list, int64_t step,
                                       double time) {
  NoliStatus status = NOLI_OK;
  NOLI_PUSH(context, &list->frames, ((NoliRunFrame){.step = step, .time = time}));
done:
  return status;
}

// ---- the text ----

// Room for an entry and the end of a list.
enum { TEXT_SIZE = NOLI_FRAME_ENTRY_SIZE + 64 };

static NoliStatus add_text(NoliContext* context, NoliFrameList* list, const char* text,
                           int64_t size) {
  NoliStatus status = NOLI_OK;
  NOLI_TRY(noli_array_reserve(context, &list->text, list->text.count + size));
  memcpy(list->text.data + list->text.count, text, (size_t)size);
  list->text.count += size;
done:
  return status;
}

// The entry of a frame, with what separates it from those before it.
static int print_entry(const NoliFrameFormat* format, bool first, NoliRunFrame frame,
                       char text[TEXT_SIZE]) {
  char name[NOLI_FRAME_NAME_SIZE], entry[NOLI_FRAME_ENTRY_SIZE];
  noli_frame_name(format, frame.step, name);
  format->list.print(frame, name, entry);
  return snprintf(text, TEXT_SIZE, "%s%s", first ? "" : format->list.separator, entry);
}

static NoliStatus make_text(NoliContext* context, NoliFrameList* list) {
  NoliStatus status = NOLI_OK;
  const char* begin = list->format->list.begin;
  list->text.count = 0;
  NOLI_TRY(add_text(context, list, begin, (int64_t)strlen(begin)));
  for (int64_t i = 0; i < list->frames.count; i++) {
    char text[TEXT_SIZE];
    NOLI_TRY(add_text(context, list, text,
                      print_entry(list->format, i == 0, list->frames.data[i], text)));
  }
done:
  return status;
}

// ---- the file ----

static NoliStatus replace_file(NoliContext* context, const NoliFrameList* list, const char* path) {
  NoliStatus status = NOLI_OK;
  NoliFile file;
  const char* end = list->format->list.end;
  NOLI_TRY(noli_file_create(context, path, &file));
  NOLI_TRY(noli_file_write(&file, list->text.data, (size_t)list->text.count));
  NOLI_TRY(noli_file_write(&file, end, strlen(end)));
  NOLI_TRY(noli_file_commit(&file, false));
done:
  noli_file_abandon(&file);
  return status;
}

NoliStatus noli_frame_list_write(NoliContext* context, NoliFrameList* list, const char* path) {
  NoliStatus status = NOLI_OK;
  NOLI_TRY(make_text(context, list));
  NOLI_TRY(replace_file(context, list, path));
done:
  return status;
}

// Writes `text`, which ends with the end of the list, over that end, which begins at `at`. The end
// of the list is restored where that fails.
static NoliStatus overwrite_end(NoliContext* context, const char* path, int descriptor, int64_t at,
                                const char* text, const char* end) {
  size_t n_end = strlen(end);
  if (lseek(descriptor, (off_t)at, SEEK_SET) == (off_t)at &&
      noli_file_write_all(context, path, descriptor, text, strlen(text))) {
    return NOLI_OK;
  }
  int error = errno;
  bool restored = pwrite(descriptor, end, n_end, (off_t)at) > 0 &&
                  ftruncate(descriptor, (off_t)at + (off_t)n_end) == 0;
  return noli_file_fail(context, path,
                        restored ? "cannot write" : "cannot write, and the list is torn", error);
}

// Grows the file in place if it is the one that was written before; `*done` says whether it was.
static NoliStatus grow_file(NoliContext* context, const char* path, int64_t at, const char* text,
                            const char* end, bool* done) {
  NoliStatus status = NOLI_OK;
  struct stat about;
  *done = !noli_rank_writes(context);
  if (*done) {
    return NOLI_OK;
  }
  int descriptor = noli_disk_allows(context, "open", path) ? open(path, O_WRONLY | O_CLOEXEC) : -1;
  if (descriptor < 0) {
    return errno == ENOENT ? NOLI_OK : noli_file_fail(context, path, "cannot open", errno);
  }
  *done = fstat(descriptor, &about) == 0 && S_ISREG(about.st_mode) &&
          (int64_t)about.st_size == at + (int64_t)strlen(end);
  if (*done) {
    status = overwrite_end(context, path, descriptor, at, text, end);
  }
  close(descriptor);
  return status;
}

// One write within one page of the file is done or not done, also when the process is killed; so
// the file is replaced only when the list grows into the next page.
NoliStatus noli_frame_list_append(NoliContext* context, NoliFrameList* list, int64_t step,
                                  double time, const char* path) {
  enum { PAGE = 4096 };
  NoliStatus status = NOLI_OK;
  char text[2 * TEXT_SIZE];
  const char* end = list->format->list.end;
  bool done = false;
  NOLI_TRY(frame_list_add_frame(context, list, step, time));
  if (list->text.count == 0) {
    NOLI_TRY(noli_frame_list_write(context, list, path));
    goto done;
  }

  int64_t at = list->text.count;
  int length = print_entry(list->format, list->frames.count == 1,
                           (NoliRunFrame){.step = step, .time = time}, text);
  NOLI_TRY(add_text(context, list, text, length));
  length += snprintf(text + length, TEXT_SIZE, "%s", end);
  if (at / PAGE == (at + length - 1) / PAGE) {
    NOLI_TRY(grow_file(context, path, at, text, end, &done));
  }
  if (!done) {
    NOLI_TRY(replace_file(context, list, path));
  }
done:
  return status;
}

NoliStatus noli_frame_list_read(NoliContext* context, const NoliFrameFormat* format,
                                const char* path, NoliFrameList* list) {
  NoliStatus status = NOLI_OK;
  char* text = NULL;
  size_t size;
  *list = (NoliFrameList){.format = format};
  NOLI_TRY(noli_file_read(context, path, &text, &size));
  NOLI_CHECK(context, strstr(text, format->list.end) != NULL, NOLI_ERROR_FORMAT,
             "%s: damaged: not a list of frames; without it a run is resumed with a new list",
             path);
  for (const char* line = text; line != NULL; line = strchr(line, '\n')) {
    line += *line == '\n';
    NoliRunFrame frame;
    if (format->list.scan(line, &frame)) {
      NOLI_TRY(frame_list_add_frame(context, list, frame.step, frame.time));
    }
  }
done:
  noli_free(context, text);
  return status;
}

void noli_frame_list_free(NoliContext* context, NoliFrameList* list) {
  noli_array_free(context, &list->frames);
  noli_array_free(context, &list->text);
}

// The format whose lists have the name of this file; the default for other names.
static const NoliFrameFormat* format_of_list(const char* path) {
  const NoliFrameFormat* format;
  for (int32_t i = 0; (format = noli_frame_format_at(i)) != NULL; i++) {
    size_t n = strlen(format->list.name), length = strlen(path);
    if (length >= n && strcmp(path + length - n, format->list.name) == 0) {
      return format;
    }
  }
  return noli_frame_format_at(0);
}

NoliStatus noli_run_read_frames(NoliContext* context, const char* path, NoliRunFrame** frames,
                                int64_t* n_frames) {
  NOLI_REQUIRE(context, context != NULL && path != NULL && frames != NULL && n_frames != NULL);
  NoliFrameList list;
  *frames = NULL;
  *n_frames = 0;
  NoliStatus status = noli_frame_list_read(context, format_of_list(path), path, &list);
  if (status == NOLI_OK) {
    *frames = list.frames.data;
    *n_frames = list.frames.count;
    list.frames.data = NULL;
  }
  noli_frame_list_free(context, &list);
  return status;
}

void noli_run_free_frames(NoliContext* context, NoliRunFrame** frames) {
  if (frames != NULL) {
    noli_free(context, *frames);
    *frames = NULL;
  }
}

const char* noli_frame_list_defect(const NoliFrameList* list) {
  for (int64_t i = 1; i < list->frames.count; i++) {
    NOLI_RULE(list->frames.data[i - 1].step < list->frames.data[i].step,
              "list of frames: steps do not ascend");
  }
  return NULL;
}
