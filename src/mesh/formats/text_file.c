#define _POSIX_C_SOURCE 200809L
#include "mesh/formats/text_file.h"

#include <errno.h>
#include <locale.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

NoliStatus noli_text_file_open(NoliContext* context, const char* path, NoliTextFile* file) {
  NoliStatus status = NOLI_OK;
  *file = (NoliTextFile){.context = context, .path = path};
  struct stat about;
  // renaming would replace a device or a pipe by a file
  NOLI_CHECK(context, stat(path, &about) != 0 || S_ISREG(about.st_mode), NOLI_ERROR_IO,
             "%s: cannot be written: it exists and is not a regular file", path);
  size_t size = strlen(path) + 40;
  NOLI_NEW(context, file->temporary, (int64_t)size);
  snprintf(file->temporary, size, "%s.%ld.partial", path, (long)getpid());
  if (noli_disk_allows(context, "create", path)) {
    file->stream = fopen(file->temporary, "wb");
  }
  NOLI_CHECK(context, file->stream != NULL, NOLI_ERROR_IO, "%s: cannot be written: %s", path,
             strerror(errno));
  setvbuf(file->stream, NULL, _IOFBF, (size_t)1 << 18);
done:
  if (status != NOLI_OK) {
    noli_text_file_discard(file);
  }
  return status;
}

NoliStatus noli_text_file_commit(NoliTextFile* file) {
  NoliStatus status = NOLI_OK;
  errno = 0;
  bool good = fflush(file->stream) == 0 && !ferror(file->stream);
  good = fclose(file->stream) == 0 && good;
  good = noli_disk_allows(file->context, "write", file->path) && good;
  file->stream = NULL;
  NOLI_CHECK(file->context, good, NOLI_ERROR_IO, "%s: could not be written completely: %s",
             file->path, errno != 0 ? strerror(errno) : "write error");
  NOLI_CHECK(file->context,
             noli_disk_allows(file->context, "rename", file->path) &&
                 rename(file->temporary, file->path) == 0,
             NOLI_ERROR_IO, "%s: cannot be replaced: %s", file->path, strerror(errno));
  noli_free(file->context, file->temporary);
  file->temporary = NULL;
done:
  noli_text_file_discard(file);
  return status;
}

void noli_text_file_discard(NoliTextFile* file) {
  if (file->stream != NULL) {
    fclose(file->stream);
    file->stream = NULL;
    remove(file->temporary);
  } else if (file->temporary != NULL) {
    remove(file->temporary);
  }
  noli_free(file->context, file->temporary);
  file->temporary = NULL;
}

void noli_put_text(NoliTextFile* file, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vfprintf(file->stream, format, arguments);
  va_end(arguments);
}

void noli_put_numbers(NoliTextFile* file, const double* values, int n) {
  const char* point = localeconv()->decimal_point;
  for (int i = 0; i < n; i++) {
    char text[40];
    int length = snprintf(text, sizeof text, i > 0 ? " %.17g" : "%.17g", values[i]);
    // the locale of the process may have another decimal point
    char* found = strcmp(point, ".") != 0 ? strstr(text, point) : NULL;
    if (found != NULL) {
      size_t n_point = strlen(point);
      *found = '.';
      memmove(found + 1, found + n_point, strlen(found + n_point) + 1);
      length -= (int)n_point - 1;
    }
    fwrite(text, 1, (size_t)length, file->stream);
  }
}

void noli_put_indices(NoliTextFile* file, const int32_t* index, int n, int32_t base) {
  for (int i = 0; i < n; i++) {
    // digits from the last to the first; an index is not negative
    char text[16];
    int at = (int)sizeof text;
    int64_t rest = (int64_t)index[i] + base;
    do {
      text[--at] = (char)('0' + rest % 10);
      rest /= 10;
    } while (rest > 0);
    text[--at] = ' ';
    fwrite(text + at, 1, sizeof text - (size_t)at, file->stream);
  }
}

void noli_put_positions(NoliTextFile* file, const char* head, int64_t n, const double* x) {
  for (int64_t i = 0; i < n; i++) {
    noli_put_text(file, "%s", head);
    noli_put_numbers(file, x + 3 * i, 3);
    noli_put_text(file, "\n");
  }
}

void noli_put_cells(NoliTextFile* file, const char* head, int64_t n, const int32_t* cell, int width,
                    int32_t base) {
  for (int64_t i = 0; i < n; i++) {
    noli_put_text(file, "%s", head);
    noli_put_indices(file, cell + i * width, width, base);
    noli_put_text(file, "\n");
  }
}
