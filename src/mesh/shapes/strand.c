// Meshes of segments: a straight line, a ring, a helix, any curve.
#include "noli/mesh.h"

#include "base/context.h"
#include "mesh/grid.h"

#include <math.h>

#include <string.h>

// Ends of a curve that are closer than this share of its length are one.
#define CLOSED 1e-9

#define PI 3.14159265358979323846

NoliStatus noli_mesh_make_line(NoliContext* context, double length, int32_t n_segment,
                               NoliMesh** mesh) {
  NOLI_REQUIRE(context, context != NULL && mesh != NULL);
  NoliStatus status = NOLI_OK;
  *mesh = NULL;
  NOLI_TRY(noli_grid_check_length(context, "line", "every length", length));
  NOLI_CHECK(context, n_segment >= 1 && n_segment < INT32_MAX / 6, NOLI_ERROR_ARGUMENT,
             "line: needs at least 1 segment, and less than %d, got %d", INT32_MAX / 6, n_segment);
  NOLI_TRY(noli_mesh_create(context, n_segment + 1, 0, 0, n_segment, 0, false, mesh));
  for (int32_t i = 0; i <= n_segment; i++) {
    double* x = (*mesh)->x + 3 * (int64_t)i;
    x[0] = length * ((double)i / n_segment - 0.5);
    x[1] = x[2] = 0.0;
  }
  for (int32_t i = 0; i < n_segment; i++) {
    (*mesh)->edge[2 * (int64_t)i] = i;
    (*mesh)->edge[2 * (int64_t)i + 1] = i + 1;
  }
done:
  return status;
}

NoliStatus noli_mesh_make_helix(NoliContext* context, double radius, double pitch, double turns,
                                int32_t n_segment, NoliMesh** mesh) {
  NOLI_REQUIRE(context, context != NULL && mesh != NULL);
  NoliStatus status = NOLI_OK;
  *mesh = NULL;
  bool ring = pitch == 0.0;
  NOLI_TRY(noli_grid_check_length(context, "helix", "the radius", radius));
  NOLI_CHECK(context, isfinite(pitch) && turns > 0.0 && isfinite(turns), NOLI_ERROR_ARGUMENT,
             "helix: its pitch must be finite and its turns > 0, got %g and %g", pitch, turns);
  NOLI_CHECK(context, !ring || turns == 1.0, NOLI_ERROR_ARGUMENT,
             "helix: without pitch it is a ring of 1 turn, got %g", turns);
  NOLI_CHECK(context, n_segment >= 3.0 * turns && n_segment < INT32_MAX / 6, NOLI_ERROR_ARGUMENT,
             "helix: needs at least 3 segments for each of its %g turns, and less than %d, got %d",
             turns, INT32_MAX / 6, n_segment);

  // along y, centred at the origin; a ring closes with its first vertex
  int32_t n_vert = ring ? n_segment : n_segment + 1;
  NOLI_TRY(noli_mesh_create(context, n_vert, 0, 0, n_segment, 0, false, mesh));
  for (int32_t i = 0; i < n_vert; i++) {
    double* x = (*mesh)->x + 3 * (int64_t)i;
    double share = (double)i / n_segment, angle = 2.0 * PI * turns * share;
    x[0] = radius * cos(angle);
    x[1] = pitch * turns * (share - 0.5);
    x[2] = radius * sin(angle);
  }
  for (int32_t i = 0; i < n_segment; i++) {
    (*mesh)->edge[2 * (int64_t)i] = i;
    (*mesh)->edge[2 * (int64_t)i + 1] = (i + 1) % n_vert;
  }
done:
  return status;
}

// The point at a distance `along` from the first one of a polyline; `reach` (n_point) holds those
// of its corners, and `*corner`, at most the last but one, does not lie behind it.
static void point_along(const double* point, const double* reach, int32_t n_point, double along,
                        int32_t* corner, double x[3]) {
  while (*corner < n_point - 2 && reach[*corner + 1] < along) {
    (*corner)++;
  }
  const double *a = point + 3 * (int64_t)*corner, *b = a + 3;
  double length = reach[*corner + 1] - reach[*corner];
  double share = length > 0.0 ? fmin((along - reach[*corner]) / length, 1.0) : 0.0;
  for (int k = 0; k < 3; k++) {
    x[k] = (1.0 - share) * a[k] + share * b[k];
  }
}

NoliStatus noli_mesh_make_curve(NoliContext* context, const double* point, int32_t n_point,
                                int32_t n_segment, NoliMesh** mesh) {
  NOLI_REQUIRE(context, context != NULL && mesh != NULL && point != NULL);
  NoliStatus status = NOLI_OK;
  double* reach = NULL;
  *mesh = NULL;
  NOLI_CHECK(context, n_point >= 2, NOLI_ERROR_ARGUMENT, "curve: needs at least 2 points, got %d",
             (int)n_point);

  // distances along the polyline
  NOLI_NEW_ZERO(context, reach, n_point);
  for (int32_t i = 1; i < n_point; i++) {
    const double *a = point + 3 * (int64_t)(i - 1), *b = a + 3;
    reach[i] = reach[i - 1] + hypot(hypot(b[0] - a[0], b[1] - a[1]), b[2] - a[2]);
  }
  const double *first = point, *last = point + 3 * (int64_t)(n_point - 1);
  double length = reach[n_point - 1];
  double gap = hypot(hypot(last[0] - first[0], last[1] - first[1]), last[2] - first[2]);
  bool closed = gap <= CLOSED * length;
  NOLI_CHECK(context, length > 0.0 && isfinite(length), NOLI_ERROR_ARGUMENT,
             "curve: its length must be > 0 and finite, got %g m", length);
  NOLI_CHECK(context, n_segment >= (closed ? 3 : 1) && n_segment < INT32_MAX / 6,
             NOLI_ERROR_ARGUMENT, "curve: needs at least %d segments, and less than %d, got %d",
             closed ? 3 : 1, INT32_MAX / 6, (int)n_segment);

  // vertices at equal distances
  int32_t n_vert = closed ? n_segment : n_segment + 1, corner = 0;
  NOLI_TRY(noli_mesh_create(context, n_vert, 0, 0, n_segment, 0, false, mesh));
  for (int32_t i = 0; i < n_vert; i++) {
    point_along(point, reach, n_point, length * ((double)i / n_segment), &corner,
                (*mesh)->x + 3 * (int64_t)i);
  }
  if (!closed) {
    memcpy((*mesh)->x + 3 * (int64_t)n_segment, last, 3 * sizeof *last);
  }
  for (int32_t i = 0; i < n_segment; i++) {
    (*mesh)->edge[2 * (int64_t)i] = i;
    (*mesh)->edge[2 * (int64_t)i + 1] = (i + 1) % n_vert;
  }
done:
  noli_free(context, reach);
  return status;
}
