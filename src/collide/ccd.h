// Continuous collision detection along straight paths: conservative advancement.
//
// A pair (A, B) of a point, segment or triangle each is reduced to the differences
//   w_ij(t) = a_i(t) - b_j(t) = w_ij(0) + t p_ij,
// so common motion has no effect. With D(t) the distance of A and B, three lower bounds hold:
//
// 1. Along a direction. For every unit vector n, D(t + s) >= min_ij n . w_ij(t + s), because every
//    a - b, a in A, b in B, is a convex combination of the w_ij. With n along the closest vector
//    of time t this is D(t) at s = 0, and it falls only as fast as the vertices approach along n.
// 2. In any direction. D(t + s) >= D(t) - s max_ij |p_ij|, since the relative velocity of any two
//    points is a convex combination of the p_ij.
// 3. Along a direction that turns. Let n(q) = (1 - q) n0 + q s n1 for unit vectors n0 and n1 and
//    any s > 0, so |n(q)| <= 1 - q + q s. D(t + q e) >= low for q in [0, 1] if no
//    n(q) . w_ij(t + q e) - low (1 - q + q s) is negative: quadratics in q with the Bernstein
//    coefficients
//      n0 . w_ij(t) - low,
//      (n0 . w_ij(t + e) - low + s (n1 . w_ij(t) - low)) / 2,
//      s (n1 . w_ij(t + e) - low).
//    With n0 and n1 along the closest vectors of t and t + e, surfaces that tilt together lose
//    nothing for the right s, where a fixed direction allows only gap / tilt: faces of 1 m in
//    contact at 1e-7 m that turn by 1e-3 would take hundreds of steps.
//
// Additive CCD [Li2021, section 5] uses the second with max |p_i| over A plus max |p_j| over B; the
// form above is never larger and needs no removal of the mean motion. The first bound is usually
// far better (sliding pairs are free at once), but a tilt of the computed n by e costs e |w|, which
// matters at gaps below 1e-8 of the size; then the second takes over. From time t we advance by the
// larger of the first two steps, or by a longer one of the third kind, that keep the bound above
//   low = min_separation + the gap to keep, (1 - safety) (D(0) - min_separation) between the bounds
//   that `gap_cap` and `small_gap` of the options set,
// and end with no hit when that reaches t_max, with a hit when D(t) has nearly come down to low.
// So D >= low on [0, toi]: each step extends a range on which this was shown. Where steps get
// short, signs of polynomials (apart.h) and boxes (inclusion_ccd.h) extend it.
//
// Rounding. The first and third bounds hold for any n, hence do not depend on the quality of the
// closest point computation. The rest is bounded by a multiple of the largest |w| (differences,
// w(t), dot products, the step and its sum) and one of the largest coordinate (the caller's x(t)),
// see rounding_of in ccd.c; twice this is added to low. The second bound also counts on the closest
// vector being right up to rounding, and subtracts what near-parallel segments may be off.
// Comparisons are written so that NaN ends in a hit at the last safe time. None of this holds where
// products of lengths vanish or overflow; such pairs are scaled by a power of two first (range.h).
#pragma once

#include "noli/ccd.h"

#include "base/named.h"
#include "math/vec3.h"

enum { NOLI_CCD_ADDITIVE, NOLI_CCD_INCLUSION, NOLI_CCD_METHODS };
extern const NoliNamed noli_ccd_methods[NOLI_CCD_METHODS];

// Vertices as in NoliPairKind: p t0 t1 t2 and ea0 ea1 eb0 eb1, p e0 e1, p q.
// True: a (possible) hit within [0, t_max], `*toi` < t_max is a safe time.
// False: free up to t_max, `*toi` = t_max. `options` may be NULL for the defaults.
bool noli_ccd_point_triangle(const NoliVec3 x_t0[4], const NoliVec3 x_t1[4],
                             const NoliCcdOptions* options, double t_max, double* toi);
bool noli_ccd_edge_edge(const NoliVec3 x_t0[4], const NoliVec3 x_t1[4],
                        const NoliCcdOptions* options, double t_max, double* toi);
bool noli_ccd_point_edge(const NoliVec3 x_t0[3], const NoliVec3 x_t1[3],
                         const NoliCcdOptions* options, double t_max, double* toi);
bool noli_ccd_point_point(const NoliVec3 x_t0[2], const NoliVec3 x_t1[2],
                          const NoliCcdOptions* options, double t_max, double* toi);

// Whether the options ask for conservative advancement.
bool noli_ccd_advances(const NoliCcdOptions* options);

// The distance to keep of a pair that starts at distance d.
static inline double noli_ccd_least_distance(const NoliCcdOptions* options, double d) {
  // share of a gap below options->small_gap that remains
  const double KEEP_SMALL_GAP = 0.9;
  double gap = d - options->min_separation, keep = (1.0 - options->safety) * gap;
  keep = keep > options->gap_cap ? options->gap_cap : keep;
  double most =
      KEEP_SMALL_GAP * gap < options->small_gap ? KEEP_SMALL_GAP * gap : options->small_gap;
  return options->min_separation + (keep < most ? most : keep);
}

// A pair that is this much above its bound counts as a hit: below it steps get short. `room` is its
// distance from the bound at the start. The margin does not exceed options->gap_cap.
static inline double noli_ccd_hit_margin(const NoliCcdOptions* options, double room) {
  const double HIT_SHARE = 0.05;
  double margin = HIT_SHARE * room;
  return margin > options->gap_cap ? options->gap_cap : margin;
}

// Largest t <= t_max up to which the height of a point above the plane through `origin` with unit
// `normal` stays above the same bound, with height(0) for D(0).
double noli_ccd_half_space(NoliVec3 x_t0, NoliVec3 x_t1, NoliVec3 origin, NoliVec3 normal,
                           const NoliCcdOptions* options, double t_max);
