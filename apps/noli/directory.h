// Directories of results.
#pragma once

#include "noli/noli.h"

// Creates a directory and those above it. Fails with NOLI_ERROR_IO.
NOLI_WARN_UNUSED NoliStatus make_directory(NoliContext* context, const char* directory);
