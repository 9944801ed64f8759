#include "mesh/polygon.h"

#include "math/vec3.h"

#include <math.h>
#include <string.h>

// Areas relative to the square of sides, and differences of shapes, that may be rounding: corners
// in line and ears of equal shape must not depend on the unit of length.
#define ROUNDING 1e-14
#define TIE 1e-9

static double area2(const double* a, const double* b, const double* c) {
  return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
}

static double perimeter(const double* a, const double* b, const double* c) {
  return hypot(b[0] - a[0], b[1] - a[1]) + hypot(c[0] - b[0], c[1] - b[1]) +
         hypot(a[0] - c[0], a[1] - c[1]);
}

static double shape_of(const double* a, const double* b, const double* c) {
  double sides = perimeter(a, b, c);
  return sides > 0.0 ? area2(a, b, c) / (sides * sides) : 0.0;
}

static bool is_at(const double* p, const double* q) {
  return p[0] == q[0] && p[1] == q[1];
}

// ---- ears

// State of a corner of the rest of the polygon.
enum { UNKNOWN = -1, IS_EAR = -2 }; // otherwise the corner that lies in its triangle

typedef struct Rest {
  const double* point;
  double margin;
  int32_t* corner; // those that remain
  int32_t* block;  // (n), by corner
  double* shape;   // (n), by corner
  uint8_t* gone;   // (n), by corner
  int32_t n;
} Rest;

// Whether the triangle of corner k contains another one, which is remembered. Corners at the same
// place, as those of a bridge to a hole, are the same.
static bool is_ear(Rest* rest, int32_t k) {
  int32_t b = rest->corner[k];
  const double* pa = rest->point + 2 * (int64_t)rest->corner[(k + rest->n - 1) % rest->n];
  const double* pb = rest->point + 2 * (int64_t)b;
  const double* pc = rest->point + 2 * (int64_t)rest->corner[(k + 1) % rest->n];
  double sides = perimeter(pa, pb, pc), slack = -rest->margin * sides * sides;
  for (int32_t i = 0; i < rest->n; i++) {
    const double* p = rest->point + 2 * (int64_t)rest->corner[i];
    if (!is_at(p, pa) && !is_at(p, pb) && !is_at(p, pc) && area2(pa, pb, p) >= slack &&
        area2(pb, pc, p) >= slack && area2(pc, pa, p) >= slack) {
      rest->block[b] = rest->corner[i];
      return false;
    }
  }
  rest->block[b] = IS_EAR;
  return true;
}

// Measures the triangle of corner k again.
static void polygon_measure(Rest* rest, int32_t k) {
  k = (k + rest->n) % rest->n;
  int32_t b = rest->corner[k];
  rest->block[b] = UNKNOWN;
  rest->shape[b] = shape_of(rest->point + 2 * (int64_t)rest->corner[(k + rest->n - 1) % rest->n],
                            rest->point + 2 * (int64_t)b,
                            rest->point + 2 * (int64_t)rest->corner[(k + 1) % rest->n]);
}

// The best-shaped ear, the first of equal ones, or NOLI_NULL_INDEX. A corner stays blocked until
// what blocks it has gone.
static int32_t find_ear(Rest* rest) {
  int32_t best = NOLI_NULL_INDEX;
  double best_shape = rest->margin;
  for (int32_t k = 0; k < rest->n; k++) {
    int32_t b = rest->corner[k];
    bool blocked = rest->block[b] >= 0 && !rest->gone[rest->block[b]];
    if (rest->shape[b] > (1.0 + TIE) * best_shape && !blocked &&
        (rest->block[b] == IS_EAR || is_ear(rest, k))) {
      best = k;
      best_shape = rest->shape[b];
    }
  }
  return best;
}

NoliStatus noli_polygon_cut(NoliContext* context, const double* point, int32_t n, double margin,
                            int32_t* tri, bool* complete) {
  NoliStatus status = NOLI_OK;
  Rest rest = {.point = point, .margin = fmax(margin, ROUNDING), .n = n};
  *complete = false;
  NOLI_NEW(context, rest.corner, n);
  NOLI_NEW(context, rest.block, n);
  NOLI_NEW(context, rest.shape, n);
  NOLI_NEW_ZERO(context, rest.gone, n);
  for (int32_t i = 0; i < n; i++) {
    rest.corner[i] = i;
  }
  for (int32_t k = 0; k < n; k++) {
    polygon_measure(&rest, k);
  }
  while (rest.n > 2) {
    int32_t best = find_ear(&rest);
    if (best == NOLI_NULL_INDEX) {
      goto done;
    }
    tri[0] = rest.corner[(best + rest.n - 1) % rest.n];
    tri[1] = rest.corner[best];
    tri[2] = rest.corner[(best + 1) % rest.n];
    tri += 3;
    rest.gone[rest.corner[best]] = 1;
    rest.n--;
    memmove(rest.corner + best, rest.corner + best + 1,
            (size_t)(rest.n - best) * sizeof *rest.corner);
    polygon_measure(&rest, best - 1);
    polygon_measure(&rest, best);
  }

  *complete = true;
done:
  noli_free(context, rest.corner);
  noli_free(context, rest.block);
  noli_free(context, rest.shape);
  noli_free(context, rest.gone);
  return status;
}

// ---- polygons in space

static NoliVec3 polygon_vertex(const double* x, int64_t i) {
  return noli_load3(x + 3 * i);
}

// Projects to the plane through the centre that is normal to the polygon's area vector, in which it
// runs counterclockwise. False if it has no area.
static bool flatten(const double* x, int32_t n, double* point, NoliPolygonShape* shape) {
  NoliVec3 centre = {0}, normal = {0};
  for (int32_t i = 0; i < n; i++) {
    centre = noli_add3(centre, noli_scale3(1.0 / n, polygon_vertex(x, i)));
  }
  for (int32_t i = 0; i < n; i++) {
    NoliVec3 a = noli_sub3(polygon_vertex(x, i), centre);
    NoliVec3 b = noli_sub3(polygon_vertex(x, i + 1 < n ? i + 1 : 0), centre);
    normal = noli_add3(normal, noli_cross3(a, b));
    shape->size = fmax(shape->size, noli_norm3(a));
  }
  double area = noli_norm3(normal);
  if (!isfinite(area) || !(area > 1e-14 * shape->size * shape->size)) {
    return false;
  }
  normal = noli_scale3(1.0 / area, normal);

  // axes of the plane, of which the first is normal to the coordinate axis that is most so
  double size[3] = {fabs(normal.x), fabs(normal.y), fabs(normal.z)};
  int least = size[0] <= size[1] && size[0] <= size[2] ? 0 : size[1] <= size[2] ? 1 : 2;
  NoliVec3 across = noli_cross3(normal, (NoliVec3){least == 0, least == 1, least == 2});
  across = noli_scale3(1.0 / noli_norm3(across), across);
  NoliVec3 along = noli_cross3(normal, across);
  for (int32_t i = 0; i < n; i++) {
    NoliVec3 a = noli_sub3(polygon_vertex(x, i), centre);
    point[2 * (int64_t)i] = noli_dot3(a, across);
    point[2 * (int64_t)i + 1] = noli_dot3(a, along);
    shape->off_plane = fmax(shape->off_plane, fabs(noli_dot3(a, normal)));
  }
  return true;
}

// Writes the fan of the first vertex; returns the least shape of its triangles.
static double make_fan(const double* point, int32_t n, int32_t* tri) {
  double least = HUGE_VAL;
  for (int32_t i = 2; i < n; i++, tri += 3) {
    tri[0] = 0;
    tri[1] = i - 1;
    tri[2] = i;
    least = fmin(least, shape_of(point, point + 2 * ((int64_t)i - 1), point + 2 * (int64_t)i));
  }
  return least;
}

NoliStatus noli_polygon_split(NoliContext* context, const double* x, int32_t n, int32_t* tri,
                              NoliPolygonShape* shape) {
  // files round coordinates: what they mean to be flat or in line is so to 1e-4, or to less
  static const double margins[] = {1e-4, 1e-6, 1e-9, 0.0};
  enum { N_MARGIN = sizeof margins / sizeof *margins };
  NoliStatus status = NOLI_OK;
  double* point = NULL;
  *shape = (NoliPolygonShape){.size = 0.0};
  NOLI_NEW_ZERO(context, point, 2 * (int64_t)n);
  bool has_area = flatten(x, n, point, shape);
  shape->is_simple = has_area && make_fan(point, n, tri) > margins[0];
  for (int i = 0; has_area && !shape->is_simple && i < N_MARGIN; i++) {
    NOLI_TRY(noli_polygon_cut(context, point, n, margins[i], tri, &shape->is_simple));
  }
  if (!shape->is_simple) {
    make_fan(point, n, tri);
  }
done:
  noli_free(context, point);
  return status;
}
