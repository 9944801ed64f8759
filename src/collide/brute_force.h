// The slow twin of the broad phase: compares the swept boxes of all pairs in world coordinates.
#pragma once

#include "collide/body_pairs.h"
#include "collide/candidates.h"
#include "collide/surface.h"

// As noli_broad_phase_find, in quadratic time. The two agree on everything that does come closer
// than `inflation`; they may differ on pairs of which only the boxes do.
NOLI_WARN_UNUSED NoliStatus noli_brute_force_find(NoliContext* context, const NoliSurface* surface,
                                                  const double* x_t0, const double* x_t1,
                                                  double inflation, const NoliBodyPairs* pairs,
                                                  NoliCandidates* out);
