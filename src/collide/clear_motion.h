// Pairs that move but stay clearly apart: they need no CCD, and most candidates are such pairs.
//
// CCD (ccd.h) reports a hit a little above the distance that it keeps, which depends on the
// distance at the start. If the primitives have more room than that along a fixed vector at both
// ends of their path, they have it all the way, and every step of conservative advancement is long:
// it must end free. The vectors tried are the one between the centers, whose length is no less than
// the distance, and the one between the closest points.
#pragma once

#include "collide/ccd.h"
#include "collide/surface.h"

// The quantities that are the same for all pairs of a surface.
typedef struct NoliClearMotion {
  bool usable;  // otherwise no pair is clear
  double least; // m, vectors that are not longer show nothing
} NoliClearMotion;

// For vertices of the surface that move from x_t0 to x_t1 (n_vert x 3), up to a time of at most
// t_max. Separations and gaps of `options` do not matter.
NoliClearMotion noli_clear_motion(const NoliSurface* surface, const double* x_t0,
                                  const double* x_t1, const NoliCcdOptions* options, double t_max);

// Whether CCD certainly finds the pair free up to t_max. Vertices as in ccd.h; the options of the
// pair may have other separations and gaps than those above.
bool noli_is_clear_point_triangle(const NoliClearMotion* clear, const NoliVec3 x_t0[4],
                                  const NoliVec3 x_t1[4], const NoliCcdOptions* options,
                                  double t_max);
bool noli_is_clear_edge_edge(const NoliClearMotion* clear, const NoliVec3 x_t0[4],
                             const NoliVec3 x_t1[4], const NoliCcdOptions* options, double t_max);
