// Fast collisions: a path of wide barriers.
//
// Bodies that would move far beyond the contact distance within a step meet barriers that act so
// late that collision detection cuts every Newton step to a percent of its length. Where the first
// steps of a solve are that short, the potential is first minimized roughly with a contact distance
// eight times as large, then four, then two times, at the same forces for the same share of the
// distance. The solve goes on from there, unless the potential is higher than before.
#pragma once

#include "solve/stage.h"

// Of a solve with a wide barrier: its tolerance, relative to that of the solve, and its most
// iterations.
#define NOLI_APPROACH_TOLERANCE 30.0
enum { NOLI_APPROACH_ITERATIONS = 100 };

typedef struct NoliApproach {
  double widening;
  double kappa;  // at the beginning, of the barrier as it is
  double energy; // of all terms there
  double* start; // (n_vert x 3) x there
} NoliApproach;

// Whether a solve had better go on by an approach. After `iterations` of it, `beta` is the share of
// the way that collision detection has left.
bool noli_approach_is_slow(const NoliStage* stage, int32_t iterations, double beta);

// The beginning; the next widening, while there is one; and a barrier with it.
NOLI_WARN_UNUSED NoliStatus noli_approach_begin(NoliStage* stage, NoliApproach* approach);
bool noli_approach_narrow(NoliApproach* approach);
NOLI_WARN_UNUSED NoliStatus noli_approach_set(NoliStage* stage, const NoliApproach* approach);

// The barrier as it was; back to the start if that is better. `status` is that of the approach;
// where its solves have failed, the usual one goes on.
NOLI_WARN_UNUSED NoliStatus noli_approach_end(NoliStage* stage, NoliApproach* approach,
                                              NoliStatus status);
