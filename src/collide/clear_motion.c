#include "collide/clear_motion.h"

#include "collide/closest.h"
#include "collide/separation.h"

// Relative to the distance at the start: what must remain beyond the distance at which CCD reports
// a hit. Its steps are then no shorter than this over the relative speed.
#define MARGIN 0.05

// Relative to the largest coordinate: rounding of CCD and of the tests below is less than a
// thousandth of MARGIN for vectors longer than this.
#define BLUR 1e-8

// Shorter vectors have squares that lose digits.
#define SHORTEST 1e-100

// The largest displacement, by the sum of its components.
static double largest_motion(const NoliSurface* surface, const double* x_t0, const double* x_t1) {
  double largest = 0.0;
  for (int32_t p = 0; p < surface->n_point; p++) {
    int64_t i = 3 * (int64_t)surface->point[p];
    double sum = 0.0;
    for (int64_t k = i; k < i + 3; k++) {
      sum += fabs(x_t1[k] - x_t0[k]);
    }
    largest = sum > largest ? sum : largest;
  }
  return largest;
}

static double larger(double a, double b) {
  return a > b ? a : b;
}

NoliClearMotion noli_clear_motion(const NoliSurface* surface, const double* x_t0,
                                  const double* x_t1, const NoliCcdOptions* options, double t_max) {
  double size = noli_surface_largest_coordinate(surface, x_t0) +
                noli_surface_largest_coordinate(surface, x_t1);
  // steps advance by MARGIN least / (2 motion) or more, except one that reaches the end of the
  // path: half of the iterations must be enough
  double far = 4.0 / MARGIN * t_max * largest_motion(surface, x_t0, x_t1) / options->max_iterations;
  return (NoliClearMotion){
      .usable = noli_ccd_advances(options) && options->max_iterations >= 4 && isfinite(size + far),
      .least = larger(larger(BLUR * larger(t_max, 1.0) * size, far), SHORTEST)};
}

// Whether the vector n shows it. It is no shorter than the distance at the start.
static inline bool shows(const NoliClearMotion* clear, NoliVec3 n, int32_t n_a,
                         const NoliVec3 x_t0[4], const NoliVec3 x_t1[4],
                         const NoliCcdOptions* options, double t_max) {
  double length = noli_norm3(n), low = noli_ccd_least_distance(options, length);
  double hit = low + noli_ccd_hit_margin(options, length - low);
  double need = length * (hit + MARGIN * length);
  double at[4], to[4];
  for (int i = 0; i < 4; i++) {
    at[i] = noli_dot3(n, x_t0[i]);
    to[i] = at[i] + t_max * (noli_dot3(n, x_t1[i]) - at[i]);
  }
  return length > clear->least && noli_room_between(n_a, at) > need &&
         noli_room_between(n_a, to) > need;
}

bool noli_is_clear_point_triangle(const NoliClearMotion* clear, const NoliVec3 x_t0[4],
                                  const NoliVec3 x_t1[4], const NoliCcdOptions* options,
                                  double t_max) {
  return clear->usable &&
         (shows(clear, noli_between_centers(1, x_t0), 1, x_t0, x_t1, options, t_max) ||
          shows(clear, noli_closest_vector_point_triangle(x_t0), 1, x_t0, x_t1, options, t_max));
}

bool noli_is_clear_edge_edge(const NoliClearMotion* clear, const NoliVec3 x_t0[4],
                             const NoliVec3 x_t1[4], const NoliCcdOptions* options, double t_max) {
  return clear->usable &&
         (shows(clear, noli_between_centers(2, x_t0), 2, x_t0, x_t1, options, t_max) ||
          shows(clear, noli_closest_vector_edge_edge(x_t0), 2, x_t0, x_t1, options, t_max));
}
