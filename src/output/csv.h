// Files of comma-separated rows under a header, which histories.c fills. A row is in the file,
// whole, before the append returns; a row that does not fit on the disk leaves none of its bytes
// behind.
#pragma once

#include "base/context.h"

typedef struct NoliCsv {
  NoliContext* context;
  char* path;
  int descriptor;
  int64_t size; // bytes of whole rows
} NoliCsv;

// Replaces the file by its header.
NOLI_WARN_UNUSED NoliStatus noli_csv_create(NoliContext* context, const char* path,
                                            const char* header, NoliCsv* csv);

// Reopens a file: keeps the rows whose first column, the step, is at most `last_step`.
// Fails with NOLI_ERROR_FORMAT when the header is not the expected one.
NOLI_WARN_UNUSED NoliStatus noli_csv_reopen(NoliContext* context, const char* path,
                                            const char* header, int64_t last_step, NoliCsv* csv);

// Keeps these rows of a file that gets no more, whatever its header.
NOLI_WARN_UNUSED NoliStatus noli_csv_cut(NoliContext* context, const char* path, int64_t last_step);

NOLI_WARN_UNUSED NoliStatus noli_csv_append(NoliCsv* csv, const char* row, size_t length);

// All rows so far are on the disk. Harmless for one that is not open.
NOLI_WARN_UNUSED NoliStatus noli_csv_sync(NoliCsv* csv);

// Harmless for a zero-initialized or closed one.
void noli_csv_close(NoliCsv* csv);
