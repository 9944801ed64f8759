// Vertices and segments in a plane, out of candidate pairs of segments.
#pragma once

#include "collide/candidates.h"
#include "collide/surface.h"

typedef struct NoliPointEdges {
  NOLI_ARRAY(NoliPrimitivePair) pair; // (vertex, edge), sorted, each once
  NOLI_ARRAY(uint64_t) key;           // scratch
} NoliPointEdges;

void noli_point_edges_free(NoliContext* context, NoliPointEdges* pairs);

// Replaces the pairs by every end of a segment with the other segment of the candidates whose
// bodies meet in a plane. Allocates only when there is more than ever before.
NOLI_WARN_UNUSED NoliStatus noli_point_edges_find(NoliPointEdges* pairs, NoliContext* context,
                                                  const NoliSurface* surface,
                                                  const NoliCandidates* candidates);
