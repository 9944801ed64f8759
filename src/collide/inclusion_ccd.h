// Continuous collision detection by inclusion [Wang2021]: root finding by exclusion.
//
// The difference of a point of A and a point of B is a function F of the time and of up to two
// parameters of the pair, in a box of three dimensions:
//   point and triangle  p - (1 - u - v) t0 - u t1 - v t2,   u, v >= 0, u + v <= 1
//   two segments        (1 - u) a0 + u a1 - (1 - v) b0 - v b1
// With straight paths F is affine in each variable, so over any box of (t, u, v) its values are in
// the convex hull of those at the corners. If the box around these is farther than `low` from the
// origin, no two points of that part come as close as that: it is excluded. Others are cut in two,
// earliest times first. The search ends when nothing is left (no contact), or when the earliest box
// left is so small that F changes by less than `margin` over it: then all earlier times are free.
//
// Differences from the paper. Boxes around values are aligned with the closest vector at t = 0, not
// with the coordinate axes, so that pairs that slide along flat surfaces are excluded at once. The
// distance of such a box is Euclidean, so a minimum separation is a ball and not a cube. A heap by
// time replaces the levels of the paper: no box is examined that begins after the answer.
//
// With a minimum separation far above the gap, what counts as contact is a ball much wider than the
// gap, and boxes of equal sides would have to pave its surface. Boxes are then cut where the
// distance changes most, not F: by its change along the vector from the origin to the box, and by
// the square of its change over twice the length of that vector.
//
// Work and memory are bounded: at most `max_boxes` boxes are examined, and at most 512 wait, on the
// stack. Beyond that the answer is the earliest time that was not excluded, which is safe but
// early. Triangles and pairs of segments that are nearly lines need many boxes, because F changes
// almost equally with u and v.
//
// The first box takes the time to 1, or to t_max if that is later, and boxes that begin after t_max
// are left out: up to 1 the answer does not depend on t_max.
//
// Rounding. u, v and times, in parts of that of the first box, are multiples of powers of two,
// hence exact. All other errors (differences, rotation, the ends of the path, F itself) sum up to
// less than 50 DBL_EPSILON W in each component, W the largest |w_ij|_1; see below for the count.
// Twice this is added to `low`.
#pragma once

#include "collide/closest.h"

#include <stdbool.h>

typedef struct NoliInclusionQuery {
  NoliPairKind kind;  // of the primitives
  const NoliVec3* w0; // w_ij = a_i - b_j at t = 0, in the order of ccd.h
  const NoliVec3* p;  // their change until t = 1
  NoliVec3 axis;      // boxes are aligned with it; any length but zero
  double largest_w;   // max |w_ij|_1 at t = 0 and t = 1
  bool separated;     // a minimum separation is kept
  double low;         // distances up to this count as contact
  double margin;      // > 0: boxes over which F changes by less are no longer cut
  double t_max;
  int32_t max_boxes;
} NoliInclusionQuery;

// Returns false when the distance stays above `low` for t in [0, t_max]; `*toi` is t_max.
// Returns true when that could not be shown; the distance stays above `low` for t in [0, *toi),
// `*toi` < t_max. Then `*ran_out` says that there were too few boxes, or that they could not be cut
// any more: the pair may go on for longer.
bool noli_inclusion_ccd(const NoliInclusionQuery* query, double* toi, bool* ran_out);
