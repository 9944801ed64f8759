// A text file under construction: it appears under its name only when it is complete.
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

// Moves the file to its place; fails, and removes it, if anything could not be written.
NOLI_WARN_UNUSED NoliStatus noli_text_file_commit(NoliTextFile* file);

// Removes whatever was not committed. Harmless at any time.
void noli_text_file_discard(NoliTextFile* file);

// Write failures are kept by the stream and reported by commit.
void noli_put_text(NoliTextFile* file, const char* format, ...) NOLI_PRINTF(2, 3);

// Numbers with enough digits to be read back to the same bits, separated by blanks; the decimal
// point is a point in any locale.
void noli_put_numbers(NoliTextFile* file, const double* values, int n);

// Indices plus `base`, each after a blank.
void noli_put_indices(NoliTextFile* file, const int32_t* index, int n, int32_t base);
