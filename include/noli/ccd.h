/// @file ccd.h
/// Continuous collision detection: how far points, segments and triangles may move along straight
/// paths before they come too close.
///
/// A query moves every vertex linearly, x(t) = x_t0 + t (x_t1 - x_t0). Answers are conservative:
/// a query may report a hit that does not happen, but it never misses one. This includes rounding,
/// also of x(t) when the caller evaluates it with t <= toi.
/// Results do not depend on scale: pairs of 1e-300 m or 1e300 m have the same times as pairs of
/// 1 m, to the last bit if the factor is a power of two. All functions are pure: no state, any
/// thread. Lengths are in metres, times in units of the path.
#pragma once

#include "noli/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Options of a query.
typedef struct NoliCcdOptions {
  uint32_t size;          ///< set by noli_default_ccd_options
  double safety;          ///< in (0, 1): share of the initial distance (less the minimum
                          ///< separation) that a safe step may consume; default 0.9
  double min_separation;  ///< m, >= 0: distance to keep; default 0
  double gap_cap;         ///< m, > 0: largest gap (beyond the minimum separation) that a step must
                          ///< keep, whatever `safety` is; default INFINITY
  double small_gap;       ///< m, >= 0: gaps below this may lose only a tenth, whatever `safety`
                          ///< is, so that repeated steps do not consume them; default 0
  int32_t max_iterations; ///< "additive": a query that needs more reports a hit at the safe time it
                          ///< has reached; default 1000
  /// "additive" (default): conservative advancement, extends [Li2021] section 5: fast; "inclusion":
  /// exclusion of boxes in time and space [Wang2021], which needs no closest points: an independent
  /// check of the other. Both are proven never to miss a contact. NULL: the default
  const char* method;
  int32_t max_boxes; ///< as max_iterations for "inclusion"; default 10000
} NoliCcdOptions;

/// Writes the defaults of options of `size` bytes; called by noli_default_ccd_options.
NOLI_API void noli_ccd_options_init(NoliCcdOptions* options, size_t size);

/// The defaults named above. No other way makes valid options.
static inline NoliCcdOptions noli_default_ccd_options(void) {
  NoliCcdOptions options;
  noli_ccd_options_init(&options, sizeof options);
  return options;
}

/// Moves the point p and the triangle t0 t1 t2. Returns false when the distance stays above
/// min_separation + (1 - safety) (d(0) - min_separation), the second part bounded by `gap_cap` and
/// `small_gap`, for all t in [0, t_max]; `*toi` is t_max.
/// Returns true when it may not; the distance then stays above that bound for t in [0, *toi], and
/// `*toi` < t_max. Pairs that start at or below the minimum separation (touching, intersecting up
/// to rounding), coordinates that are not finite, and options that are not valid give true with
/// `*toi` 0. `options` may be NULL for the defaults.
/// docs/background/ccd.md compares both methods; src/collide/ccd.h and src/collide/inclusion_ccd.h
/// prove them.
NOLI_API bool noli_point_triangle_ccd(const double p_t0[3], const double t0_t0[3],
                                      const double t1_t0[3], const double t2_t0[3],
                                      const double p_t1[3], const double t0_t1[3],
                                      const double t1_t1[3], const double t2_t1[3],
                                      const NoliCcdOptions* options, double t_max, double* toi);

/// As noli_point_triangle_ccd, for the segments ea0 ea1 and eb0 eb1.
NOLI_API bool noli_edge_edge_ccd(const double ea0_t0[3], const double ea1_t0[3],
                                 const double eb0_t0[3], const double eb1_t0[3],
                                 const double ea0_t1[3], const double ea1_t1[3],
                                 const double eb0_t1[3], const double eb1_t1[3],
                                 const NoliCcdOptions* options, double t_max, double* toi);

/// As noli_point_triangle_ccd, for the point p and the segment e0 e1.
NOLI_API bool noli_point_edge_ccd(const double p_t0[3], const double e0_t0[3],
                                  const double e1_t0[3], const double p_t1[3],
                                  const double e0_t1[3], const double e1_t1[3],
                                  const NoliCcdOptions* options, double t_max, double* toi);

/// As noli_point_triangle_ccd, for the points p and q.
NOLI_API bool noli_point_point_ccd(const double p_t0[3], const double q_t0[3], const double p_t1[3],
                                   const double q_t1[3], const NoliCcdOptions* options,
                                   double t_max, double* toi);

#ifdef __cplusplus
}
#endif
