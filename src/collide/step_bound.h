// The largest step that all surfaces can take together: the minimum of CCD over pairs and
// half-spaces. The minimum separation of a pair is that of the options plus the offsets of the
// surface.
//
// Pairs are handled in fixed blocks. A block prunes with its own minimum and that of the batches
// before it, never with results of other threads; ties go to the lowest index. So the result,
// including the blocking pair, does not depend on the number of threads. Nothing is allocated.
#pragma once

#include "collide/candidates.h"
#include "collide/ccd.h"
#include "collide/colliders.h"

typedef struct NoliStepBound {
  double alpha;       // the largest safe step that was found, in [0, alpha_max]
  int32_t a, b;       // the pair that blocks, as in NoliPrimitivePair; a half-space: the vertex in
                      // `a`; NOLI_NULL_INDEX: nothing blocks
  bool edge_edge;     // the pair is one of edges
  int32_t half_space; // the plane that blocks or NOLI_NULL_INDEX
} NoliStepBound;

// Largest alpha in [0, alpha_max] such that all candidates stay apart along
// x_t0 + s (x_t1 - x_t0), s in [0, alpha]. `x_t0`, `x_t1`: (n_vert x 3).
void noli_step_bound_candidates(const NoliSurface* surface, const NoliCandidates* candidates,
                                const double* x_t0, const double* x_t1,
                                const NoliCcdOptions* options, int32_t n_threads, double alpha_max,
                                NoliStepBound* bound);

// The same for the surface's vertices and half-spaces, which hold back the bodies that they meet.
void noli_step_bound_half_spaces(const NoliColliders* colliders, const double* x_t0,
                                 const double* x_t1, double safety, int32_t n_threads,
                                 double alpha_max, NoliStepBound* bound);

// The stronger of two bounds; on a tie the first.
static inline NoliStepBound noli_step_bound_min(NoliStepBound first, NoliStepBound second) {
  return second.alpha < first.alpha ? second : first;
}
