#include "collide/ccd.h"

#include "base/numbers.h"
#include "base/sized.h"
#include "collide/apart.h"
#include "collide/closest.h"
#include "collide/inclusion_ccd.h"
#include "collide/range.h"

#include <float.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

const NoliNamed noli_ccd_methods[NOLI_CCD_METHODS] = {
    [NOLI_CCD_ADDITIVE] = {"additive", "Conservative advancement; fast."},
    [NOLI_CCD_INCLUSION] = {"inclusion", "Excludes boxes in time and space; slower, independent of "
                                         "closest points."},
};

static const NoliCcdOptions default_options = {.size = sizeof default_options,
                                               .safety = 0.9,
                                               .gap_cap = (double)INFINITY,
                                               .max_iterations = 1000,
                                               .method = "additive",
                                               .max_boxes = 10000};

void noli_ccd_options_init(NoliCcdOptions* options, size_t size) {
  noli_sized_default(options, size, &default_options, sizeof default_options);
}

// Options of a caller, `own` where they are of another size; NULL where they are not valid.
static const NoliCcdOptions* take_options(const NoliCcdOptions* options, NoliCcdOptions* own) {
  const NoliCcdOptions* taken = options != NULL ? options : &default_options;
  if (taken->size != sizeof *own) {
    *own = default_options;
    taken = noli_sized_take(NULL, "the options", "noli_default_ccd_options", options, own,
                            sizeof *own) == NOLI_OK
                ? own
                : NULL;
  }
  bool valid = taken != NULL && noli_numbers_check(NULL, "", NOLI_NUMBERS_CCD, taken) == NOLI_OK &&
               (taken->method == NULL ||
                noli_named_find(noli_ccd_methods, NOLI_CCD_METHODS, taken->method) >= 0);
  return valid ? taken : NULL;
}

static bool excludes_boxes(const NoliCcdOptions* options) {
  return options->method != NULL &&
         strcmp(options->method, noli_ccd_methods[NOLI_CCD_INCLUSION].name) == 0;
}

bool noli_ccd_advances(const NoliCcdOptions* options) {
  return !excludes_boxes(options);
}

// Steps along a direction that turns cost a closest point: they are tried where they would be this
// much longer than others.
#define LEAST_TURN 2.0

// Conservative advancement that takes more steps hardly gets on: polynomials tell how far the pair
// stays apart, and boxes are excluded where they do not.
enum { FEW_STEPS = 100 };

// How often polynomials are asked to move a pair on, and how often a step is halved until they can.
enum { MOST_MOVES = 80, MOST_HALVINGS = 40 };

// Near-parallel segments and needles may seem farther apart by this share of their size, see
// closest.c.
#define THIN_ERROR 1e-13

// The motion of w_ij = a_i - b_j. Pairs: p-t0 p-t1 p-t2; a0-b0 a0-b1 a1-b0 a1-b1; p-e0 p-e1; p-q.
typedef struct Motion {
  NoliPairKind kind; // of the primitives
  int32_t n;
  NoliVec3 w0[4];
  NoliVec3 p[4];
  double speed;     // max |p_ij|
  double largest_w; // max |w_ij|_1 at both ends
  double rounding;  // bound on every error of the bound along a direction
  double thin;      // further error of computed distances
} Motion;

static double absolute_sum(NoliVec3 a) {
  return fabs(a.x) + fabs(a.y) + fabs(a.z);
}

// Bound on rounding errors. Let u = DBL_EPSILON / 2 and W the largest |w_ij| at both ends. For
// t <= 1: w(t) from differences 5 u W, n . w and |n| 6 u W, products with the step and sums of
// times 7 u W: below 10 DBL_EPSILON W. The caller's x_t0 + t (x_t1 - x_t0) is off by 5 u M on
// either side, M the largest |x|: below 6 DBL_EPSILON M. Longer times scale both.
static double ccd_rounding_of(double largest_w, double largest_x, double t_max) {
  double factor = DBL_EPSILON * (t_max > 1.0 ? t_max : 1.0);
  return factor * (10.0 * largest_w + 6.0 * largest_x);
}

static inline double larger(double a, double b) {
  return a > b ? a : b;
}

// `n_a` vertices of A come first, then `n_b` of B. A sum is not finite if a coordinate is not; then
// the rounding is infinite and nothing is safe.
static inline void fill_motion(Motion* motion, NoliPairKind kind, int32_t n_a, int32_t n_b,
                               const NoliVec3* x_t0, const NoliVec3* x_t1, double t_max) {
  double largest_x = 0.0, largest_w = 0.0, speed_sqr = 0.0, sum = 0.0;
  for (int32_t i = 0; i < n_a + n_b; i++) {
    largest_x = larger(larger(largest_x, absolute_sum(x_t0[i])), absolute_sum(x_t1[i]));
  }
  motion->kind = kind;
  motion->n = n_a * n_b;
  for (int32_t i = 0; i < n_a; i++) {
    for (int32_t j = 0; j < n_b; j++) {
      int32_t k = i * n_b + j;
      NoliVec3 w_t1 = noli_sub3(x_t1[i], x_t1[n_a + j]);
      motion->w0[k] = noli_sub3(x_t0[i], x_t0[n_a + j]);
      motion->p[k] = noli_sub3(w_t1, motion->w0[k]);
      double size_t0 = absolute_sum(motion->w0[k]), size_t1 = absolute_sum(w_t1);
      largest_w = larger(largest_w, larger(size_t0, size_t1));
      speed_sqr = larger(speed_sqr, noli_norm_sqr3(motion->p[k]));
      sum += size_t0 + size_t1;
    }
  }
  motion->speed = sqrt(speed_sqr);
  motion->largest_w = largest_w;
  motion->thin = THIN_ERROR * largest_w;
  motion->rounding =
      isfinite(sum) ? ccd_rounding_of(largest_w, largest_x, t_max) : (double)INFINITY;
}

// The closest vector for differences w, seen from p or from eb0.
static inline NoliVec3 closest_vector(NoliPairKind kind, const NoliVec3 w[4]) {
  const NoliVec3 zero = {0.0, 0.0, 0.0};
  switch (kind) {
  case NOLI_PAIR_POINT_POINT:
    break;
  case NOLI_PAIR_POINT_EDGE: {
    NoliVec3 x[3] = {zero, noli_sub3(zero, w[0]), noli_sub3(zero, w[1])};
    return noli_closest_vector_point_edge(x);
  }
  case NOLI_PAIR_POINT_TRIANGLE: {
    NoliVec3 x[4] = {zero, noli_sub3(zero, w[0]), noli_sub3(zero, w[1]), noli_sub3(zero, w[2])};
    return noli_closest_vector_point_triangle(x);
  }
  case NOLI_PAIR_EDGE_EDGE: {
    NoliVec3 x[4] = {w[0], w[2], zero, noli_sub3(w[0], w[1])};
    return noli_closest_vector_edge_edge(x);
  }
  }
  return w[0];
}

// The longest step that keeps the bound along n = r / d above `low`, INFINITY if all may go on.
static inline double directional_step(const Motion* motion, const NoliVec3 w[4], NoliVec3 r,
                                      double d, double low) {
  NoliVec3 n = noli_scale3(1.0 / d, r);
  double step = (double)INFINITY;
  for (int32_t k = 0; k < motion->n; k++) {
    double room = noli_dot3(n, w[k]) - low, approach = -noli_dot3(n, motion->p[k]);
    double until = room > 0.0 ? (approach > 0.0 ? room / approach : (double)INFINITY) : 0.0;
    step = until < step ? until : step;
  }
  return step;
}

// Whether the bound along a direction that turns from n to a multiple of n_t1 stays above `low`
// while the differences go from w to w_t1: the Bernstein coefficients of the quadratics do. The
// middle ones, less those of the bound, are (a_k + s b_k) / 2 for the multiple s.
static inline bool turned_is_safe(const Motion* motion, const NoliVec3 w[4], NoliVec3 n,
                                  const NoliVec3 w_t1[4], NoliVec3 n_t1, double low) {
  double a[4], b[4], least = 0.0, most = (double)INFINITY;
  bool safe = true;
  for (int32_t k = 0; k < motion->n; k++) {
    a[k] = noli_dot3(n, w_t1[k]) - low;
    b[k] = noli_dot3(n_t1, w[k]) - low;
    safe = safe && noli_dot3(n, w[k]) >= low && noli_dot3(n_t1, w_t1[k]) >= low;
    least = b[k] > 0.0 && -a[k] > least * b[k] ? -a[k] / b[k] : least;
    most = b[k] < 0.0 && a[k] < most * -b[k] ? a[k] / -b[k] : most;
  }
  double s = 1.0;
  if (isfinite(most)) {
    s = least > 0.0 ? 0.5 * (least + most) : 0.5 * most;
  } else if (least > 0.0) {
    s = 2.0 * least;
  }
  for (int32_t k = 0; k < motion->n; k++) {
    safe = safe && a[k] + s * b[k] >= 0.0;
  }
  return safe && s > 0.0;
}

// The other method, for the same distance to keep; see inclusion_ccd.h.
static inline bool exclude(const Motion* motion, NoliVec3 axis, double low, double margin,
                           const NoliCcdOptions* options, double t_max, double* toi,
                           bool* ran_out) {
  NoliInclusionQuery query = {.kind = motion->kind,
                              .w0 = motion->w0,
                              .p = motion->p,
                              .axis = axis,
                              .largest_w = motion->largest_w,
                              .separated = options->min_separation > 0.0,
                              .low = low,
                              .margin = margin,
                              .t_max = t_max,
                              .max_boxes = options->max_boxes};
  return noli_inclusion_ccd(&query, toi, ran_out);
}

// A pair at time t.
typedef struct Instant {
  double t;
  NoliVec3 w[4];
  NoliVec3 r; // closest vector
  double d;   // its length
} Instant;

static inline void move_to(const Motion* motion, double t, Instant* at) {
  at->t = t;
  for (int32_t i = 0; i < motion->n; i++) {
    at->w[i] = noli_mul_add3(motion->w0[i], t, motion->p[i]);
  }
  at->r = closest_vector(motion->kind, at->w);
  at->d = noli_norm3(at->r);
}

// Moves the pair on to time t if the bound along a direction that turns shows it to be safe.
static inline bool turn_to(const Motion* motion, double t, double low, Instant* at) {
  Instant next;
  move_to(motion, t, &next);
  if (!(next.d > low)) {
    return false;
  }
  NoliVec3 n = noli_scale3(1.0 / at->d, at->r), n_t1 = noli_scale3(1.0 / next.d, next.r);
  if (!turned_is_safe(motion, at->w, n, next.w, n_t1, low)) {
    return false;
  }
  *at = next;
  return true;
}

// Moves the pair on by conservative advancement, until t_max, until its distance has nearly come
// down to `low`, or for n_steps; see ccd.h for the method and why it is safe.
static inline void advance_steps(const Motion* motion, double low, double end, double t_max,
                                 int32_t n_steps, Instant* at) {
  double reach = 1.0; // of the next step along a direction that turns; does not depend on t_max
  for (int32_t k = 0; k < n_steps && at->d > end && !(at->t >= t_max); k++) {
    double step = directional_step(motion, at->w, at->r, at->d, low);
    step = larger((at->d - motion->thin - low) / motion->speed, step);
    if (at->t + step >= t_max) {
      at->t = t_max;
      return;
    }
    if (!(at->t + step > at->t)) {
      return;
    }
    if (reach > LEAST_TURN * step && at->t < 1.0) {
      if (turn_to(motion, at->t + reach < 1.0 ? at->t + reach : 1.0, low, at)) {
        reach *= 2.0;
        continue;
      }
      reach *= 0.25;
    }
    move_to(motion, at->t + step, at);
  }
}

// Moves the pair on as far as polynomials show that it stays apart, see apart.h. Steps are halves
// of the time to 1, so that the answer does not depend on t_max up to that.
static void move_apart(const Motion* motion, double low, double end, double t_max, Instant* at) {
  double step = larger(t_max, 1.0) - at->t;
  int halvings = 0;
  while (halvings < MOST_HALVINGS && 0.5 * step >= t_max - at->t) {
    step *= 0.5;
    halvings++;
  }

  for (int k = halvings; k < MOST_MOVES && at->d > end; k++) {
    NoliVec3 p[4];
    for (int32_t i = 0; i < motion->n; i++) {
      p[i] = noli_scale3(step, motion->p[i]);
    }
    if (!noli_stay_apart(motion->kind, at->w, p, low)) {
      step *= 0.5;
      if (++halvings > MOST_HALVINGS) {
        return;
      }
    } else if (at->t + step >= t_max) {
      at->t = t_max;
      return;
    } else if (!(at->t + step > at->t)) {
      return;
    } else {
      move_to(motion, at->t + step, at);
    }
  }
}

// Moves the pair on by inclusion. Boxes may run out, where a gap is far smaller than the motion, or
// where they have to pave a cylinder as wide as the separation at an edge of a triangle: what they
// have excluded is safe. Returns whether they have not, so that at->t is the answer.
static bool exclude_boxes(const Motion* motion, NoliVec3 axis, double low, double end,
                          const NoliCcdOptions* use, double t_max, Instant* at) {
  double toi;
  bool ran_out = false, hit = exclude(motion, axis, low, end - low, use, t_max, &toi, &ran_out);
  bool answered = !hit || !ran_out;
  if (answered) {
    at->t = larger(toi, at->t);
  } else if (toi > at->t) {
    move_to(motion, toi, at);
  }
  return answered;
}

// Whether a pair has neither come nearly down to its bound nor reached the end; false for NaN.
static inline bool goes_on(const Instant* at, double end, double t_max) {
  return at->d > end && !(at->t >= t_max);
}

// Conservative advancement, unless inclusion is asked for; polynomials where that does not get on
// or boxes run out; inclusion where they do not, either; and advancement in the end.
static inline bool advance_motion(const Motion* motion, const NoliCcdOptions* use, double t_max,
                                  double* toi) {
  Instant at = {.r = closest_vector(motion->kind, motion->w0)};
  memcpy(at.w, motion->w0, sizeof at.w);
  at.d = noli_norm3(at.r);
  double low = noli_ccd_least_distance(use, at.d) + 2.0 * motion->rounding;
  double end = low + noli_ccd_hit_margin(use, at.d - low);
  NoliVec3 axis = at.r;
  int32_t few = excludes_boxes(use) ? 0 : FEW_STEPS;
  advance_steps(motion, low, end, t_max, few < use->max_iterations ? few : use->max_iterations,
                &at);
  // not for pairs that have come, or start, too close, and for NaN
  if (few > 0 && goes_on(&at, end, t_max)) {
    move_apart(motion, low, end, t_max, &at);
  }
  if (goes_on(&at, end, t_max) && !exclude_boxes(motion, axis, low, end, use, t_max, &at)) {
    move_apart(motion, low, end, t_max, &at);
    advance_steps(motion, low, end, t_max, use->max_iterations, &at);
  }
  bool passed = at.t >= t_max;
  *toi = passed ? t_max : at.t;
  return !passed;
}

// The options for a pair whose coordinates were multiplied by 2^-exponent.
static NoliCcdOptions scale_options(const NoliCcdOptions* options, int exponent) {
  NoliCcdOptions scaled = *options;
  scaled.min_separation = ldexp(options->min_separation, -exponent);
  scaled.gap_cap = ldexp(options->gap_cap, -exponent);
  scaled.small_gap = ldexp(options->small_gap, -exponent);
  return scaled;
}

// Pairs so small or large that products of lengths would vanish or overflow: solved at ordinary
// size, for times do not depend on it.
static bool advance_scaled(NoliPairKind kind, int32_t n_a, int32_t n_b, const NoliVec3* x_t0,
                           const NoliVec3* x_t1, const NoliCcdOptions* use, double t_max,
                           double* toi) {
  NoliVec3 x[8], y[8];
  int32_t n = n_a + n_b;
  memcpy(x, x_t0, sizeof *x * (size_t)n);
  memcpy(x + n, x_t1, sizeof *x * (size_t)n);
  int exponent = noli_scale_to_ordinary(2 * n, x, y);
  NoliCcdOptions options = scale_options(use, exponent);
  Motion motion;
  fill_motion(&motion, kind, n_a, n_b, y, y + n, t_max);
  return advance_motion(&motion, &options, t_max, toi);
}

// Vertices of A, then of B.
static inline bool ccd_advance(NoliPairKind kind, int32_t n_a, int32_t n_b, const NoliVec3* x_t0,
                               const NoliVec3* x_t1, const NoliCcdOptions* options, double t_max,
                               double* toi) {
  const NoliCcdOptions* use = options != NULL ? options : &default_options;
  Motion motion;
  fill_motion(&motion, kind, n_a, n_b, x_t0, x_t1, t_max);
  return noli_size_is_ordinary(motion.largest_w)
             ? advance_motion(&motion, use, t_max, toi)
             : advance_scaled(kind, n_a, n_b, x_t0, x_t1, use, t_max, toi);
}

bool noli_ccd_point_triangle(const NoliVec3 x_t0[4], const NoliVec3 x_t1[4],
                             const NoliCcdOptions* options, double t_max, double* toi) {
  return ccd_advance(NOLI_PAIR_POINT_TRIANGLE, 1, 3, x_t0, x_t1, options, t_max, toi);
}

bool noli_ccd_edge_edge(const NoliVec3 x_t0[4], const NoliVec3 x_t1[4],
                        const NoliCcdOptions* options, double t_max, double* toi) {
  return ccd_advance(NOLI_PAIR_EDGE_EDGE, 2, 2, x_t0, x_t1, options, t_max, toi);
}

bool noli_ccd_point_edge(const NoliVec3 x_t0[3], const NoliVec3 x_t1[3],
                         const NoliCcdOptions* options, double t_max, double* toi) {
  return ccd_advance(NOLI_PAIR_POINT_EDGE, 1, 2, x_t0, x_t1, options, t_max, toi);
}

bool noli_ccd_point_point(const NoliVec3 x_t0[2], const NoliVec3 x_t1[2],
                          const NoliCcdOptions* options, double t_max, double* toi) {
  return ccd_advance(NOLI_PAIR_POINT_POINT, 1, 1, x_t0, x_t1, options, t_max, toi);
}

// A pair of a point and a plane at ordinary size.
static double advance_to_plane(NoliVec3 x_t0, NoliVec3 x_t1, NoliVec3 origin, NoliVec3 normal,
                               const NoliCcdOptions* use, double t_max) {
  NoliVec3 w_t0 = noli_sub3(x_t0, origin), w_t1 = noli_sub3(x_t1, origin);
  double largest_w = larger(absolute_sum(w_t0), absolute_sum(w_t1));
  double largest_x = larger(absolute_sum(x_t0), absolute_sum(x_t1));
  double height = noli_dot3(normal, w_t0);
  double climb = noli_dot3(normal, noli_sub3(w_t1, w_t0));
  double low =
      noli_ccd_least_distance(use, height) + 2.0 * ccd_rounding_of(largest_w, largest_x, t_max);
  // false for NaN, which climb has if either end does
  if (!(height > low && isfinite(climb * t_max))) {
    return 0.0;
  }
  if (height + climb * t_max >= low) {
    return t_max;
  }
  return (height - low) / -climb;
}

double noli_ccd_half_space(NoliVec3 x_t0, NoliVec3 x_t1, NoliVec3 origin, NoliVec3 normal,
                           const NoliCcdOptions* options, double t_max) {
  const NoliCcdOptions* use = options != NULL ? options : &default_options;
  NoliVec3 x[3] = {origin, x_t0, x_t1}, y[3];
  if (noli_size_is_ordinary(noli_size_of(3, x))) {
    return advance_to_plane(x_t0, x_t1, origin, normal, use, t_max);
  }
  NoliCcdOptions scaled = scale_options(use, noli_scale_to_ordinary(3, x, y));
  return advance_to_plane(y[1], y[2], y[0], normal, &scaled, t_max);
}

// -- toolkit

// A search at ordinary arguments.
typedef bool SearchFn(const NoliVec3* x_t0, const NoliVec3* x_t1, const NoliCcdOptions* options,
                      double t_max, double* toi);

// Nothing is known where the options are not valid.
static bool answer(SearchFn* search, const NoliVec3* x_t0, const NoliVec3* x_t1,
                   const NoliCcdOptions* options, double t_max, double* toi) {
  double found = 0.0;
  NoliCcdOptions own;
  const NoliCcdOptions* taken = take_options(options, &own);
  bool hit = taken == NULL || search(x_t0, x_t1, taken, t_max, &found);
  if (toi != NULL) {
    *toi = found;
  }
  return hit;
}

bool noli_point_triangle_ccd(const double p_t0[3], const double t0_t0[3], const double t1_t0[3],
                             const double t2_t0[3], const double p_t1[3], const double t0_t1[3],
                             const double t1_t1[3], const double t2_t1[3],
                             const NoliCcdOptions* options, double t_max, double* toi) {
  NoliVec3 x_t0[4] = {noli_load3_or_nan(p_t0), noli_load3_or_nan(t0_t0), noli_load3_or_nan(t1_t0),
                      noli_load3_or_nan(t2_t0)};
  NoliVec3 x_t1[4] = {noli_load3_or_nan(p_t1), noli_load3_or_nan(t0_t1), noli_load3_or_nan(t1_t1),
                      noli_load3_or_nan(t2_t1)};
  return answer(noli_ccd_point_triangle, x_t0, x_t1, options, t_max, toi);
}

bool noli_edge_edge_ccd(const double ea0_t0[3], const double ea1_t0[3], const double eb0_t0[3],
                        const double eb1_t0[3], const double ea0_t1[3], const double ea1_t1[3],
                        const double eb0_t1[3], const double eb1_t1[3],
                        const NoliCcdOptions* options, double t_max, double* toi) {
  NoliVec3 x_t0[4] = {noli_load3_or_nan(ea0_t0), noli_load3_or_nan(ea1_t0),
                      noli_load3_or_nan(eb0_t0), noli_load3_or_nan(eb1_t0)};
  NoliVec3 x_t1[4] = {noli_load3_or_nan(ea0_t1), noli_load3_or_nan(ea1_t1),
                      noli_load3_or_nan(eb0_t1), noli_load3_or_nan(eb1_t1)};
  return answer(noli_ccd_edge_edge, x_t0, x_t1, options, t_max, toi);
}

bool noli_point_edge_ccd(const double p_t0[3], const double e0_t0[3], const double e1_t0[3],
                         const double p_t1[3], const double e0_t1[3], const double e1_t1[3],
                         const NoliCcdOptions* options, double t_max, double* toi) {
  NoliVec3 x_t0[3] = {noli_load3_or_nan(p_t0), noli_load3_or_nan(e0_t0), noli_load3_or_nan(e1_t0)};
  NoliVec3 x_t1[3] = {noli_load3_or_nan(p_t1), noli_load3_or_nan(e0_t1), noli_load3_or_nan(e1_t1)};
  return answer(noli_ccd_point_edge, x_t0, x_t1, options, t_max, toi);
}

bool noli_point_point_ccd(const double p_t0[3], const double q_t0[3], const double p_t1[3],
                          const double q_t1[3], const NoliCcdOptions* options, double t_max,
                          double* toi) {
  NoliVec3 x_t0[2] = {noli_load3_or_nan(p_t0), noli_load3_or_nan(q_t0)};
  NoliVec3 x_t1[2] = {noli_load3_or_nan(p_t1), noli_load3_or_nan(q_t1)};
  return answer(noli_ccd_point_point, x_t0, x_t1, options, t_max, toi);
}
