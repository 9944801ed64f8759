// Reference for the broad phase: compares the swept boxes of all pairs in world coordinates.
#pragma once

#include "collide/body_pairs.h"
#include "collide/candidates.h"
#include "collide/surface.h"

#include <math.h>

// The interval that some vertices sweep on one axis.
typedef struct BruteInterval {
  double lo;
  double hi;
} BruteInterval;

typedef struct BruteMotion {
  const double* x_t0;
  const double* x_t1;
  double inflation;
} BruteMotion;

static inline BruteInterval brute_sweep(const BruteMotion* motion, const int32_t* vert, int n,
                                        int axis) {
  BruteInterval swept = {INFINITY, -INFINITY};
  for (int i = 0; i < n; i++) {
    double from = motion->x_t0[3 * (int64_t)vert[i] + axis];
    double to = motion->x_t1[3 * (int64_t)vert[i] + axis];
    swept.lo = noli_smaller(swept.lo, noli_smaller(from, to));
    swept.hi = noli_larger(swept.hi, noli_larger(from, to));
  }
  return swept;
}

// Two primitives with no vertex in common whose inflated boxes meet, offsets included.
static inline bool brute_wanted(const BruteMotion* motion, const NoliSurface* surface,
                                const int32_t* a, int n_a, const int32_t* b, int n_b) {
  double reach =
      motion->inflation + noli_surface_offset(surface, surface->body[a[0]], surface->body[b[0]]);
  for (int i = 0; i < n_a; i++) {
    for (int j = 0; j < n_b; j++) {
      if (a[i] == b[j]) {
        return false;
      }
    }
  }
  for (int axis = 0; axis < 3; axis++) {
    BruteInterval of_a = brute_sweep(motion, a, n_a, axis),
                  of_b = brute_sweep(motion, b, n_b, axis);
    if (of_a.lo - of_b.hi > reach || of_b.lo - of_a.hi > reach) {
      return false;
    }
  }
  return true;
}

// Whether an edge is one of a triangle.
static inline bool brute_is_of_triangle(const NoliSurface* surface, const int32_t edge[2]) {
  for (int32_t t = 0; t < surface->n_tri; t++) {
    int n = 0;
    for (int k = 0; k < 3; k++) {
      int32_t corner = surface->tri[3 * (int64_t)t + k];
      n += corner == edge[0] || corner == edge[1] ? 1 : 0;
    }
    if (n == (edge[0] == edge[1] ? 1 : 2)) {
      return true;
    }
  }
  return false;
}

// A lone point is an edge of zero length in scenes of thin bodies. With an edge of a triangle it is
// not a pair; it is one with the triangle.
static inline bool brute_is_shown_by_triangle(const NoliSurface* surface, const int32_t a[2],
                                              const int32_t b[2]) {
  bool a_point = a[0] == a[1], b_point = b[0] == b[1];
  return (a_point || b_point) &&
         (brute_is_of_triangle(surface, a) || brute_is_of_triangle(surface, b));
}

static inline bool brute_bodies_meet(const NoliSurface* surface, const NoliBodyPairs* pairs,
                                     int32_t vert_a, int32_t vert_b) {
  return noli_body_pairs_get(pairs, surface->body[vert_a], surface->body[vert_b]);
}

// As noli_broad_phase_find, in quadratic time. Both find all pairs that come closer than
// `inflation`; they may differ in pairs whose boxes alone come that close.
static inline NoliStatus brute_force_find(NoliContext* context, const NoliSurface* surface,
                                          const double* x_t0, const double* x_t1, double inflation,
                                          const NoliBodyPairs* pairs, NoliCandidates* out) {
  NoliStatus status = NOLI_OK;
  BruteMotion motion = {x_t0, x_t1, inflation};
  out->point_triangle.count = 0;
  out->edge_edge.count = 0;
  for (int32_t p = 0; p < surface->n_point; p++) {
    for (int32_t t = 0; t < surface->n_tri; t++) {
      const int32_t *point = &surface->point[p], *tri = &surface->tri[3 * (int64_t)t];
      if (brute_bodies_meet(surface, pairs, point[0], tri[0]) &&
          brute_wanted(&motion, surface, point, 1, tri, 3) &&
          !noli_surface_are_attached(surface, 1, point, 3, tri)) {
        NOLI_PUSH(context, &out->point_triangle, ((NoliPrimitivePair){point[0], t}));
      }
    }
  }
  for (int32_t i = 0; i < surface->n_edge; i++) {
    for (int32_t j = i + 1; j < surface->n_edge; j++) {
      const int32_t *a = &surface->edge[2 * (int64_t)i], *b = &surface->edge[2 * (int64_t)j];
      if (brute_bodies_meet(surface, pairs, a[0], b[0]) &&
          brute_wanted(&motion, surface, a, 2, b, 2) &&
          !noli_surface_are_attached(surface, 2, a, 2, b) &&
          !brute_is_shown_by_triangle(surface, a, b)) {
        NOLI_PUSH(context, &out->edge_edge, ((NoliPrimitivePair){i, j}));
      }
    }
  }
done:
  return status;
}
