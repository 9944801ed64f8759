// A bolt and its nut.
//
// Along a screw the phase phi = 2 pi y / pitch - angle is constant. The thread is the wave
// depth / 2 cos(phi) of the radius; bolt and nut have the same phase at the same place, so that a
// nut with some clearance fits.
#include "mesh/grid.h"

#include <math.h>

enum { X = 0, Y = 1, Z = 2 };

typedef struct Thread {
  double pitch;
  double depth;
} Thread;

static double wave(double pitch, double depth, double y, double angle) {
  return 0.5 * depth * cos(2.0 * NOLI_GRID_PI * y / pitch - angle);
}

static NoliStatus check_thread(NoliContext* context, const char* shape, Thread thread,
                               double radius) {
  NoliStatus status = NOLI_OK;
  NOLI_TRY(noli_grid_check_length(context, shape, "pitch", thread.pitch));
  NOLI_CHECK(context, thread.depth >= 0.0 && thread.depth < radius, NOLI_ERROR_ARGUMENT,
             "%s: the depth of the thread must be in [0, %g), got %g", shape, radius, thread.depth);
done:
  return status;
}

// size: radius, half length, pitch, depth. The wave vanishes towards the axis.
static void map_bolt(const double* size, double p[3]) {
  double section[3] = {p[X], p[Z], 0.0};
  noli_grid_round_off(2, section);
  double y = size[1] * p[Y], share = hypot(section[0], section[1]);
  double height = wave(size[2], size[3], y, atan2(section[1], section[0]));
  p[X] = (size[0] + share * height) * section[0];
  p[Y] = y;
  p[Z] = (size[0] + share * height) * section[1];
}

NoliStatus noli_mesh_make_bolt(NoliContext* context, double radius, double length, double pitch,
                               double depth, int32_t cells_across, int32_t cells_along,
                               bool surface, NoliMesh** mesh) {
  NOLI_REQUIRE(context, context != NULL && mesh != NULL);
  NoliStatus status = NOLI_OK;
  double size[4] = {radius, 0.5 * length, pitch, depth};
  *mesh = NULL;
  NOLI_TRY(noli_grid_check_length(context, "bolt", "radius", radius));
  NOLI_TRY(noli_grid_check_length(context, "bolt", "length", length));
  NOLI_TRY(check_thread(context, "bolt", (Thread){pitch, depth}, radius));
  NoliGrid grid = {.cells = {cells_across, cells_along, cells_across}};
  NOLI_TRY(noli_grid_make(context, "bolt", grid, map_bolt, size, surface, 1, mesh));
done:
  return status;
}

// Distance of a hexagon from its middle, with corners at distance `radius`, one of them at angle 0.
static double hexagon(double radius, double angle) {
  const double sixth = NOLI_GRID_PI / 3.0;
  double from_corner = angle - sixth * floor(angle / sixth);
  return radius * cos(0.5 * sixth) / cos(from_corner - 0.5 * sixth);
}

// size: inner radius, outer radius, half height, pitch, depth. p[Y] goes around the axis, p[X] away
// from it and p[Z] along it, downwards, to make the axes right-handed.
static void map_nut(const double* size, double p[3]) {
  double angle = NOLI_GRID_PI * p[Y], y = -size[2] * p[Z], share = 0.5 * (1.0 + p[X]);
  double inner = size[0] + wave(size[3], size[4], y, angle);
  double distance = (1.0 - share) * inner + share * hexagon(size[1], angle);
  p[X] = distance * cos(angle);
  p[Y] = y;
  p[Z] = distance * sin(angle);
}

NoliStatus noli_mesh_make_nut(NoliContext* context, double inner_radius, double outer_radius,
                              double height, double pitch, double depth, int32_t cells_around,
                              int32_t cells_through, int32_t cells_along, bool surface,
                              NoliMesh** mesh) {
  NOLI_REQUIRE(context, context != NULL && mesh != NULL);
  NoliStatus status = NOLI_OK;
  double size[5] = {inner_radius, outer_radius, 0.5 * height, pitch, depth};
  *mesh = NULL;
  NOLI_TRY(noli_grid_check_length(context, "nut", "inner radius", inner_radius));
  NOLI_TRY(noli_grid_check_length(context, "nut", "outer radius", outer_radius));
  NOLI_TRY(noli_grid_check_length(context, "nut", "height", height));
  NOLI_TRY(check_thread(context, "nut", (Thread){pitch, depth}, inner_radius));
  NOLI_CHECK(context, inner_radius + 0.5 * depth < hexagon(outer_radius, NOLI_GRID_PI / 6.0),
             NOLI_ERROR_ARGUMENT, "nut: the thread reaches the outside, of radius %g",
             outer_radius);
  NOLI_CHECK(context, cells_around >= 6 && cells_around % 6 == 0, NOLI_ERROR_ARGUMENT,
             "nut: the cells around must be a multiple of 6, got %d", cells_around);
  NoliGrid grid = {.cells = {cells_through, cells_around, cells_along}, .around = true};
  NOLI_TRY(noli_grid_make(context, "nut", grid, map_nut, size, surface, 1, mesh));
done:
  return status;
}
