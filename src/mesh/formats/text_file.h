// A text file under construction, which gets its name only when it is complete.
#pragma once

#include "base/context.h"

#include <stdio.h>

typedef struct NoliTextFile {
  NoliContext* context;
  const char* path;
  char* temporary; // beside `path`, so that it can be renamed
  FILE* stream;
} NoliTextFile;

NOLI_WARN_UNUSED NoliStatus noli_text_file_open(NoliContext* context, const char* path,
                                                NoliTextFile* file);

// Renames the complete file; fails and removes it if anything could not be written.
NOLI_WARN_UNUSED NoliStatus noli_text_file_commit(NoliTextFile* file);

// Removes a file that was not committed. Has no effect afterwards.
void noli_text_file_discard(NoliTextFile* file);

// The stream records write failures, and commit reports them.
void noli_put_text(NoliTextFile* file, const char* format, ...) NOLI_PRINTF(2, 3);

// Writes numbers with enough digits to restore the same bits, separated by blanks; the decimal
// point does not depend on the locale.
void noli_put_numbers(NoliTextFile* file, const double* values, int n);

// Writes indices plus `base`, each after a blank.
void noli_put_indices(NoliTextFile* file, const int32_t* index, int n, int32_t base);

// Writes n positions (n x 3), or n cells (n x width) with `base`, one per line, each after `head`.
void noli_put_positions(NoliTextFile* file, const char* head, int64_t n, const double* x);
void noli_put_cells(NoliTextFile* file, const char* head, int64_t n, const int32_t* cell, int width,
                    int32_t base);
