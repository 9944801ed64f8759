// Reads the histories that csv.c writes back: rows of fields under a header of names.
#pragma once

#include "base/array.h"

typedef struct NoliHistory {
  char* text;
  char** name; // (n_columns)
  int32_t n_columns;
  int64_t n_rows;
  char** field; // (n_rows x n_columns), quotation marks taken off
  bool torn;    // the last line has no end; it is not among the rows
} NoliHistory;

// Fails with NOLI_ERROR_IO, NOLI_ERROR_FORMAT (path and line) or NOLI_ERROR_MEMORY.
NOLI_WARN_UNUSED NoliStatus noli_history_read(NoliContext* context, const char* path,
                                              NoliHistory* history);
void noli_history_free(NoliContext* context, NoliHistory* history);

// The column of this name, or NOLI_NULL_INDEX.
int32_t noli_history_column(const NoliHistory* history, const char* name);

const char* noli_history_text(const NoliHistory* history, int64_t row, int32_t column);

// False when the field is no number.
bool noli_history_number(const NoliHistory* history, int64_t row, int32_t column, double* value);
