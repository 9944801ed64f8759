#include "output/run_files.h"

#include "scene/movable.h"
#include "text/json.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

// Characters before the path.
enum { DIGEST = 17 };

#define ADVICE "restore the file, or start another run with noli run"

static NoliStatus append_line(NoliContext* context, NoliSceneText* text, uint64_t digest,
                              const char* path) {
  NoliStatus status = NOLI_OK;
  int64_t begin = text->count;
  NOLI_TRY(noli_scene_append(context, text, "%016" PRIx64 " %s", digest, path));
  // a line break would end the line
  for (int64_t i = begin; i < text->count; i++) {
    text->data[i] = text->data[i] == '\n' ? '?' : text->data[i];
  }
  NOLI_TRY(noli_scene_append(context, text, "\n"));
done:
  return status;
}

// Two lines: where it is, and as seen from the directory, which may move with its files.
static NoliStatus append_file(NoliContext* context, const char* directory, NoliSceneText* text,
                              const NoliSceneFile* file) {
  NoliStatus status = NOLI_OK;
  char* relative = NULL;
  NOLI_TRY(noli_scene_relative_path(context, directory, file->path, &relative));
  NOLI_TRY(append_line(context, text, file->digest, file->path));
  NOLI_TRY(append_line(context, text, file->digest, relative));
done:
  noli_free(context, relative);
  return status;
}

NoliStatus noli_run_files_text(NoliContext* context, const char* directory,
                               const NoliSceneFile* files, int32_t n_files, char** text) {
  NoliStatus status = NOLI_OK;
  NoliSceneText made = {0};
  NOLI_TRY(noli_scene_append(context, &made, "%s", ""));
  for (int32_t i = 0; i < n_files; i++) {
    NOLI_TRY(append_file(context, directory, &made, &files[i]));
  }
  *text = made.data;
  made.data = NULL;
done:
  noli_array_free(context, &made);
  return status;
}

static const char* next_line(const char* line) {
  return line + strcspn(line, "\n") + 1;
}

// The line of the same path, from `at` (where it is if nothing has changed) or from the beginning.
static const char* find_line(const char* text, const char* at, const char* line) {
  size_t length = strcspn(line + DIGEST, "\n") + 1;
  for (int turn = 0; turn < 2; turn++) {
    for (const char* other = turn == 0 ? at : text; *other != '\0'; other = next_line(other)) {
      if (strncmp(other + DIGEST, line + DIGEST, length) == 0) {
        return other;
      }
    }
  }
  return NULL;
}

// The line of a file with the same bytes, which may be elsewhere now.
static const char* find_content(const char* text, const char* line) {
  for (const char* other = text; *other != '\0'; other = next_line(other)) {
    if (strncmp(other, line, DIGEST) == 0) {
      return other;
    }
  }
  return NULL;
}

// A file of the run that the scene does not read now.
static NoliStatus check_gone(NoliContext* context, const char* text, const char* now,
                             const char* scene) {
  NoliStatus status = NOLI_OK;
  const char* at = now;
  for (const char* line = text; *line != '\0'; line = next_line(line)) {
    const char* found = find_line(now, at, line);
    found = found != NULL ? found : find_content(now, line);
    NOLI_CHECK(context, found != NULL, NOLI_ERROR_ARGUMENT,
               "%s: the run was started with \"%.*s\", which the scene no longer reads; " ADVICE,
               scene, (int)strcspn(line + DIGEST, "\n"), line + DIGEST);
    at = next_line(found);
  }
done:
  return status;
}

static bool has_digest(const char* found, const char* line) {
  return found != NULL && strncmp(found, line, DIGEST) == 0;
}

// Whether a file, by its two lines, is as it was: under either of its names or, where it has none
// of these, elsewhere. `*at` is where the search begins, and the line behind what it has found.
static bool is_as_before(const char* text, const char** at, const char* line, bool* is_known) {
  const char* absolute = find_line(text, *at, line);
  if (has_digest(absolute, line)) {
    *at = next_line(absolute);
    *is_known = true;
    return true;
  }
  const char* relative = find_line(text, *at, next_line(line));
  *is_known = relative != NULL || absolute != NULL;
  return *is_known ? has_digest(relative, line) : find_content(text, line) != NULL;
}

NoliStatus noli_run_files_check(NoliContext* context, const char* directory, const char* text,
                                const NoliSceneFile* files, int32_t n_files, bool same_scene,
                                const char* scene) {
  NoliStatus status = NOLI_OK;
  char* now = NULL;
  if (text == NULL) {
    return NOLI_OK;
  }
  NOLI_TRY(noli_run_files_text(context, directory, files, n_files, &now));
  const char *line = now, *at = text;
  for (int32_t i = 0; i < n_files; i++, line = next_line(next_line(line))) {
    bool is_known;
    if (is_as_before(text, &at, line, &is_known)) {
      continue;
    }
    NOLI_CHECK(context, is_known || !same_scene, NOLI_ERROR_ARGUMENT,
               "%s: \"%s\" did not exist when the run was started; remove it, or start another run "
               "with noli run",
               files[i].where, files[i].path);
    NOLI_CHECK(context, !is_known, NOLI_ERROR_ARGUMENT,
               "%s: \"%s\" has changed since the run was started; " ADVICE, files[i].where,
               files[i].path);
  }

  if (same_scene) {
    NOLI_TRY(check_gone(context, text, now, scene));
  }
done:
  noli_free(context, now);
  return status;
}
