// Every pair that would come too close along straight paths, with its time of impact. Active sets
// are built from this list. (If only the earliest impact counts, step_bound.h is faster.)
#pragma once

#include "collide/candidates.h"
#include "collide/ccd.h"
#include "collide/colliders.h"
#include "collide/point_edge.h"

typedef enum NoliPrimitives {
  NOLI_PRIMITIVES_POINT_TRIANGLE, // vertex a, triangle b
  NOLI_PRIMITIVES_EDGE_EDGE,      // edges a < b
  NOLI_PRIMITIVES_HALF_SPACE,     // vertex a, half-space b
  NOLI_PRIMITIVES_POINT_EDGE,     // vertex a, segment b, where bodies meet in a plane: two parallel
                                  // segments touch at two places
} NoliPrimitives;

typedef struct NoliImpact {
  NoliPrimitives kind;
  int32_t a, b;
  double toi; // in [0, 1): a safe time
} NoliImpact;

// Sorted by (kind, a, b).
typedef struct NoliImpacts {
  NOLI_ARRAY(NoliImpact) impact;
  NOLI_ARRAY(double) toi;     // scratch: of every pair examined
  NoliPointEdges point_edges; // scratch
} NoliImpacts;

void noli_impacts_free(NoliContext* context, NoliImpacts* impacts);

// Global vertices of a pair, unused ones NOLI_NULL_INDEX. Returns how many there are: 4, 3 for a
// vertex and a segment, 1 for half-spaces.
int32_t noli_primitives_vertices(const NoliSurface* surface, NoliPrimitives kind, int32_t a,
                                 int32_t b, int32_t vertex[4]);

// The number of candidates, and the vertices of the i-th of them, vertices and triangles before
// pairs of edges. Returns whether it is a pair of edges.
int64_t noli_candidates_count(const NoliCandidates* candidates);
bool noli_candidates_vertices(const NoliCandidates* candidates, const NoliSurface* surface,
                              int64_t i, int32_t vertex[4]);

// Replaces `impacts` by those of all candidates and of all surface vertices with half-spaces, along
// x_t0 + s (x_t1 - x_t0), s in [0, 1]; a pair keeps the offsets of its bodies apart. The result
// does not depend on the number of threads.
NOLI_WARN_UNUSED NoliStatus noli_impacts_find(NoliImpacts* impacts, NoliContext* context,
                                              const NoliColliders* colliders,
                                              const NoliCandidates* candidates, const double* x_t0,
                                              const double* x_t1, const NoliCcdOptions* options,
                                              int32_t n_threads);

// The earliest impact, the first of equals; NULL if there is none.
const NoliImpact* noli_impacts_earliest(const NoliImpacts* impacts);
