// Pairs of primitives that may come close: output of the broad phase, input of CCD and contact.
#pragma once

#include "base/array.h"

typedef struct NoliPrimitivePair {
  int32_t a; // point-triangle: global vertex index; edge-edge: edge index, a < b
  int32_t b; // point-triangle: triangle index; edge-edge: edge index
} NoliPrimitivePair;

// Each pair once, sorted by (a, b), so that all results derived from the list have a fixed order.
// Vertices `a` are in the order of the surface's points: by body, then by number.
typedef struct NoliCandidates {
  NOLI_ARRAY(NoliPrimitivePair) point_triangle;
  NOLI_ARRAY(NoliPrimitivePair) edge_edge;
  const int32_t* home; // not NULL: these are the pairs that this rank has found, and other ranks
                       // have others; see noli_broad_phase_find_own
} NoliCandidates;

static inline void noli_candidates_free(NoliContext* context, NoliCandidates* candidates) {
  noli_array_free(context, &candidates->point_triangle);
  noli_array_free(context, &candidates->edge_edge);
}

struct NoliSurface;

// Validator (base/validate.h).
const char* noli_candidates_defect(const NoliCandidates* candidates,
                                   const struct NoliSurface* surface);
