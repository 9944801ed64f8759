// A picture of a search: the objective of each run.
#pragma once

#include "noli/noli.h"

typedef struct SearchPoint {
  double objective; // NaN: the run failed
  bool best;        // so far
  bool feasible;    // all constraints are satisfied
} SearchPoint;

// Draws points (n) as SVG into the file at `path`. Fails with NOLI_ERROR_IO.
NOLI_WARN_UNUSED NoliStatus draw_search(NoliContext* context, const char* path, const char* title,
                                        const SearchPoint* points, int32_t n);
