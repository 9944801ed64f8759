// Pairs that move but stay clearly apart: they need no CCD, and most candidates are such pairs.
//
// CCD (ccd.h) reports a hit where little more than a share of the distance at the start is left.
// If the primitives have more room than that along a fixed vector at both ends of their path, they
// have it all the way, and every step of conservative advancement is long: it must end free. The
// vectors tried are the one between the centers, whose length is no less than the distance, and the
// one between the closest points.
#pragma once

#include "collide/ccd.h"
#include "collide/surface.h"

// What is the same for all pairs of a surface.
typedef struct NoliClearMotion {
  double share; // of the distance at the start that must remain
  double least; // m, vectors that are not longer show nothing
} NoliClearMotion;

// For vertices of the surface that move from x_t0 to x_t1 (n_vert x 3), up to a time of at most
// t_max.
NoliClearMotion noli_clear_motion(const NoliSurface* surface, const double* x_t0,
                                  const double* x_t1, const NoliCcdOptions* options, double t_max);

// Whether CCD with these options, and a minimum separation that may be larger, certainly finds the
// pair free up to t_max. Vertices as in ccd.h.
bool noli_is_clear_point_triangle(const NoliClearMotion* clear, const NoliVec3 x_t0[4],
                                  const NoliVec3 x_t1[4], double min_separation, double t_max);
bool noli_is_clear_edge_edge(const NoliClearMotion* clear, const NoliVec3 x_t0[4],
                             const NoliVec3 x_t1[4], double min_separation, double t_max);
