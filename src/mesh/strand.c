// Meshes of segments: a straight line, a ring, a helix.
#include "noli/mesh.h"

#include "base/context.h"
#include "mesh/grid.h"

#include <math.h>

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
