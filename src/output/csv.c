#define _POSIX_C_SOURCE 200809L

#include "output/csv.h"

#include "base/ranks.h"
#include "output/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static NoliStatus open_to_append(NoliContext* context, const char* path, int64_t size,
                                 NoliCsv* csv) {
  NoliStatus status = NOLI_OK;
  *csv = (NoliCsv){.context = context, .descriptor = -1, .size = size};
  csv->path = noli_strdup(context, path);
  if (csv->path == NULL) {
    return NOLI_ERROR_MEMORY;
  }
  if (!noli_rank_writes(context)) {
    return NOLI_OK;
  }
  if (noli_disk_allows(context, "open", path)) {
    csv->descriptor = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
  }
  if (csv->descriptor < 0) {
    status = noli_file_fail(context, path, "cannot open", errno);
    noli_csv_close(csv);
  }
  return status;
}

NoliStatus noli_csv_create(NoliContext* context, const char* path, const char* header,
                           NoliCsv* csv) {
  NoliStatus status = NOLI_OK;
  *csv = (NoliCsv){.context = context, .descriptor = -1};
  NOLI_TRY(noli_file_replace(context, path, header, strlen(header), false));
  NOLI_TRY(open_to_append(context, path, (int64_t)strlen(header), csv));
done:
  return status;
}

// Bytes up to the first row of a later step; a last line without its end does not count.
static size_t rows_to_keep(const char* text, size_t begin, int64_t last_step) {
  size_t kept = begin;
  for (;;) {
    const char* row = text + kept;
    const char* end = strchr(row, '\n');
    char* after = NULL;
    long long step = strtoll(row, &after, 10);
    if (end == NULL || after == row || *after != ',' || step > last_step) {
      return kept;
    }
    kept = (size_t)(end - text) + 1;
  }
}

// Removes the rows of later steps from a file of `size` bytes that begins with a header of
// `n_header`; `*kept` bytes stay.
static NoliStatus cut_rows(NoliContext* context, const char* path, const char* text, size_t size,
                           size_t n_header, int64_t last_step, size_t* kept) {
  *kept = rows_to_keep(text, n_header, last_step);
  return *kept < size ? noli_file_replace(context, path, text, *kept, true) : NOLI_OK;
}

NoliStatus noli_csv_cut(NoliContext* context, const char* path, int64_t last_step) {
  NoliStatus status = NOLI_OK;
  char* text = NULL;
  size_t size = 0, kept;
  NOLI_TRY(noli_file_read(context, path, &text, &size));
  const char* end = strchr(text, '\n');
  if (end != NULL) {
    NOLI_TRY(cut_rows(context, path, text, size, (size_t)(end - text) + 1, last_step, &kept));
  }
done:
  noli_free(context, text);
  return status;
}

NoliStatus noli_csv_reopen(NoliContext* context, const char* path, const char* header,
                           int64_t last_step, NoliCsv* csv) {
  NoliStatus status = NOLI_OK;
  char* text = NULL;
  size_t size = 0, kept, n_header = strlen(header);
  *csv = (NoliCsv){.context = context, .descriptor = -1};
  NOLI_TRY(noli_file_read(context, path, &text, &size));
  NOLI_CHECK(context, size >= n_header && memcmp(text, header, n_header) == 0, NOLI_ERROR_FORMAT,
             "%s:1: this is not the header that this run writes: the scene or the version of Noli "
             "has changed",
             path);
  NOLI_TRY(cut_rows(context, path, text, size, n_header, last_step, &kept));
  NOLI_TRY(open_to_append(context, path, (int64_t)kept, csv));
done:
  noli_free(context, text);
  return status;
}

NoliStatus noli_csv_append(NoliCsv* csv, const char* row, size_t length) {
  if (!noli_file_write_all(csv->context, csv->path, csv->descriptor, row, length)) {
    int error = errno;
    // half a row would spoil the file for its readers
    if (!noli_disk_allows(csv->context, "truncate", csv->path) ||
        ftruncate(csv->descriptor, (off_t)csv->size) != 0) {
      return noli_file_fail(csv->context, csv->path, "cannot write, and the last row is torn",
                            error);
    }
    return noli_file_fail(csv->context, csv->path, "cannot write", error);
  }
  csv->size += (int64_t)length;
  return NOLI_OK;
}

NoliStatus noli_csv_sync(NoliCsv* csv) {
  return csv->path != NULL ? noli_file_sync(csv->context, csv->path, csv->descriptor) : NOLI_OK;
}

void noli_csv_close(NoliCsv* csv) {
  if (csv->path == NULL) {
    return;
  }
  if (csv->descriptor >= 0) {
    close(csv->descriptor);
  }
  noli_free(csv->context, csv->path);
  *csv = (NoliCsv){.context = csv->context, .descriptor = -1};
}
