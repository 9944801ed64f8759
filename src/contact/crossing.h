// Pairs of edges that cross, without those that meet at an end (contact/convergent.h).
//
// Let S_r be the places (s, t) on both edges that are closer than r: a convex part of a square. The
// barrier of the pair without its sides,
//   X = b(a, e) - sum over ends of b(end, other edge) + sum over pairs of ends of b(end, end),
// is the integral of -b'(r) (chi(S_r) - chi(S_r on the sides)) dr: b(d) where S_r is inside, 0
// where the closest points are at an end and S_r meets one part of the sides. In between it changes
// as smoothly as distances do. It is negative, at least -b, where S_r is a strip between two sides:
// nearly parallel edges.
#pragma once

#include "collide/closest.h"

#include <stdbool.h>

enum { NOLI_CROSSING_FEATURES = 9 };

// A closest feature of two edges y[0] y[1] and y[2] y[3] or their parts, and how often it counts.
typedef struct NoliCrossingPart {
  NoliFeature feature;
  int32_t count;
} NoliCrossingPart;

// Those with counts other than 0: their number. Edges that do not cross have none.
int32_t noli_crossing_parts(const NoliVec3 y[4], NoliCrossingPart part[NOLI_CROSSING_FEATURES]);
