// Reference for the broad phase: compares the swept boxes of all pairs in world coordinates.
#pragma once

#include "collide/body_pairs.h"
#include "collide/candidates.h"
#include "collide/surface.h"

// As noli_broad_phase_find, in quadratic time. Both find all pairs that come closer than
// `inflation`; they may differ in pairs of which only the boxes do.
NOLI_WARN_UNUSED NoliStatus noli_brute_force_find(NoliContext* context, const NoliSurface* surface,
                                                  const double* x_t0, const double* x_t1,
                                                  double inflation, const NoliBodyPairs* pairs,
                                                  NoliCandidates* out);
