#include "mesh/enclosed.h"

#include "base/sort.h"
#include "math/mat3.h"

#include <string.h>

// With the corners p of a triangle and their sum s, the tetrahedron up to the origin has the volume
// v = p0 . (p1 x p2) / 6, the first moment v s / 4, and the second moments
// v (s s^T + sum p p^T) / 20. A second pass has its origin in the centre.
NoliEnclosed noli_enclosed(const double* x, int32_t n_tri, const int32_t* tri) {
  NoliEnclosed enclosed = {0};
  NoliVec3 origin = n_tri > 0 ? noli_load3(x + 3 * (int64_t)tri[0]) : noli_vec3(0.0, 0.0, 0.0);
  for (int pass = 0; pass < 2; pass++) {
    NoliMat3 second = {0};
    NoliVec3 first = {0};
    double volume = 0.0;
    for (int64_t t = 0; t < n_tri; t++) {
      NoliVec3 p[3], sum = {0};
      NoliMat3 squares = {0};
      for (int k = 0; k < 3; k++) {
        p[k] = noli_sub3(noli_load3(x + 3 * (int64_t)tri[3 * t + k]), origin);
        sum = noli_add3(sum, p[k]);
        squares = noli_add33(squares, noli_outer33(p[k], p[k]));
      }
      double v = noli_dot3(p[0], noli_cross3(p[1], p[2])) / 6.0;
      volume += v;
      first = noli_mul_add3(first, 0.25 * v, sum);
      squares = noli_add33(squares, noli_outer33(sum, sum));
      second = noli_add33(second, noli_scale33(v / 20.0, squares));
    }
    enclosed.volume = volume;
    enclosed.centre = noli_mul_add3(origin, 1.0 / volume, first);
    noli_store33(enclosed.second, &second);
    origin = enclosed.centre;
  }
  return enclosed;
}

typedef struct Side {
  int32_t low, high;
  int32_t way; // 1: from low to high
} Side;

static int compare_sides(const void* a, const void* b) {
  const Side *one = a, *other = b;
  int by_low = noli_order(one->low, other->low);
  return by_low != 0 ? by_low : noli_order(one->high, other->high);
}

NoliStatus noli_find_open_edge(NoliContext* context, int32_t n_tri, const int32_t* tri,
                               int32_t edge[2]) {
  NoliStatus status = NOLI_OK;
  Side* side = NULL;
  int64_t n = 3 * (int64_t)n_tri;
  edge[0] = edge[1] = NOLI_NULL_INDEX;
  NOLI_NEW(context, side, n);
  for (int64_t i = 0; i < n; i++) {
    int32_t from = tri[i], to = tri[i % 3 == 2 ? i - 2 : i + 1];
    side[i] = from < to ? (Side){from, to, 1} : (Side){to, from, -1};
  }
  noli_sort(side, n, sizeof *side, compare_sides);

  // as many one way as the other
  for (int64_t i = 0, next = 0; i < n && edge[0] == NOLI_NULL_INDEX; i = next) {
    int32_t balance = 0;
    for (next = i; next < n && compare_sides(&side[i], &side[next]) == 0; next++) {
      balance += side[next].way;
    }
    if (balance != 0) {
      edge[0] = side[i].low;
      edge[1] = side[i].high;
    }
  }
done:
  noli_free(context, side);
  return status;
}
