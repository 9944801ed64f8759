// Bounds of steps before the determinant of an element reaches a limit: the cubic of one
// determinant, and the search for the element with the smallest bound.
#pragma once

#include "base/parallel.h"
#include "math/mat3.h"

#include <float.h>
#include <stdint.h>

// Maximum number of threads of a search; each keeps its own minimum.
enum { NOLI_SEARCH_WORKERS_MAX = 128 };

typedef struct NoliStepSearch {
  int64_t block; // elements per chunk of work
  double alpha;  // fraction of the step at which inverted elements are searched
  struct {
    double alpha;
    int32_t tet; // NOLI_NULL_INDEX: no bound
  } best[NOLI_SEARCH_WORKERS_MAX];
} NoliStepSearch;

// The smaller bound wins, and of equal bounds the lower tet: independent of the distribution of
// work.
static inline void noli_search_offer(NoliStepSearch* search, int32_t worker, double alpha,
                                     int32_t tet) {
  double best = search->best[worker].alpha;
  int32_t best_tet = search->best[worker].tet;
  if (tet >= 0 && (alpha < best || (alpha == best && (best_tet < 0 || tet < best_tet)))) {
    search->best[worker].alpha = alpha;
    search->best[worker].tet = tet;
  }
}

// The lowest element with the smallest bound that `range` offers, or NOLI_NULL_INDEX.
int32_t noli_search_run(NoliStepSearch* search, int64_t n_tet, int32_t n_threads,
                        NoliRangeFn* range, void* user);

// The largest alpha in [0, 1] that all elements allow: the smallest that `bound` offers, reduced
// until `inverted`, which offers elements that are inverted at search->alpha, finds none.
// `blocking` receives the element with the smallest bound; may be NULL.
double noli_search_inversion_bound(NoliStepSearch* search, int64_t n_tet, int32_t n_threads,
                                   NoliRangeFn* bound, NoliRangeFn* inverted, void* user,
                                   int32_t* blocking);

// The cubic c0 + c1 s + c2 s^2 + c3 s^3 = det(A + s B).
static inline void noli_det_along(const NoliMat3* a, const NoliMat3* b, double c[4]) {
  NoliMat3 cof_a = noli_cofactor33(a), cof_b = noli_cofactor33(b);
  c[0] = noli_dot3(noli_row33(a, 0), noli_row33(&cof_a, 0));
  c[1] = c[2] = 0.0;
  for (int i = 0; i < 3; i++) {
    c[1] += noli_dot3(noli_row33(b, i), noli_row33(&cof_a, i));
    c[2] += noli_dot3(noli_row33(a, i), noli_row33(&cof_b, i));
  }
  c[3] = noli_dot3(noli_row33(b, 0), noli_row33(&cof_b, 0));
}

// Whether the Bernstein coefficients of the cubic on [s, s + w], and so the cubic, are above
// `floor`. False for NaN.
static inline bool noli_cubic_stays_above(const double c[4], double floor, double s, double w) {
  // Taylor coefficients in (t - s) / w
  double t0 = c[0] + s * (c[1] + s * (c[2] + s * c[3]));
  double t1 = w * (c[1] + s * (2.0 * c[2] + s * 3.0 * c[3]));
  double t2 = w * w * (c[2] + 3.0 * s * c[3]);
  double t3 = w * w * w * c[3];
  return t0 > floor && t0 + t1 / 3.0 > floor && t0 + (2.0 * t1 + t2) / 3.0 > floor &&
         t0 + t1 + t2 + t3 > floor;
}

// Marches from 0 over intervals on which the cubic is proven to stay above `floor`, halving them
// near the first root and doubling them again after a success, so the result is never beyond the
// root.
static inline double noli_cubic_march(const double c[4], double floor) {
  double s = 0.0, w = 0.5;
  bool advanced = false;
  while (s < 1.0 && w > 1e-6 * s && w > DBL_MIN) {
    double width = w < 1.0 - s ? w : 1.0 - s;
    if (noli_cubic_stays_above(c, floor, s, width)) {
      s = width < w ? 1.0 : s + width;
      w = advanced ? 2.0 * w : w;
      advanced = true;
    } else {
      w = 0.5 * width;
      advanced = false;
    }
  }
  return s < 1.0 ? s : 1.0;
}

// The largest step that the cubic of a determinant allows: 1 without a root, 0 if it is not
// positive at 0. `keep` and `valid_end` as in noli_tets_inversion_bound.
static inline double noli_det_bound(const double c[4], double keep, bool valid_end) {
  double floor = keep * c[0], end_det = c[0] + c[1] + c[2] + c[3];
  if (valid_end && end_det > 0.0 && end_det < c[0]) {
    floor = keep * end_det;
  }
  if (!(c[0] > 0.0)) {
    return 0.0;
  }
  return noli_cubic_stays_above(c, floor, 0.0, 1.0) ? 1.0 : noli_cubic_march(c, floor);
}
