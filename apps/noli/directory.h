// Directories of results.
#pragma once

#include "noli/noli.h"

// Creates a directory and those above it. Fails with NOLI_ERROR_IO.
NOLI_WARN_UNUSED NoliStatus make_directory(NoliContext* context, const char* directory);

// Creates the directory of a file, if its path names one. Fails with NOLI_ERROR_IO.
NOLI_WARN_UNUSED NoliStatus make_directory_of(NoliContext* context, const char* path);

// Where the results of a scene go unless the user says otherwise: "out/NAME", where NAME cannot
// leave the directory: no slashes, control characters or leading dot.
void result_directory(const NoliScene* scene, char* directory, size_t size);
