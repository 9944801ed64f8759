// Half-spaces as obstacles.
#pragma once

#include "math/vec3.h"

// The side that `normal` points to is free.
typedef struct NoliHalfSpace {
  NoliVec3 origin;
  NoliVec3 normal; // unit length
} NoliHalfSpace;

// Negative on the forbidden side.
static inline double noli_half_space_distance(const NoliHalfSpace* plane, const double x[3]) {
  return noli_dot3(plane->normal, noli_sub3(noli_load3(x), plane->origin));
}
