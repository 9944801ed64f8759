// A truss: balls on a cubic lattice, joined by round struts.
//
// In the grid, a joint is a cube of cells and a strut a block of the same width between two of
// them. A joint becomes a ball. A strut begins and ends on a sixth of the spheres of its joints,
// and is round in between. The two maps agree on common faces, so that shapes of any order have no
// gaps.
#include "mesh/grid.h"

#include <math.h>

// A place in the grid along one axis: the number of a joint and -1 .. 1 in it, or 0 .. 1 between it
// and the next joint.
typedef struct Place {
  int32_t joint;
  bool between;
  double at;
} Place;

enum { JOINTS = 0, CELLS = 3, CELLS_BETWEEN, SPACING, JOINT_RADIUS, STRUT_RADIUS, N_SIZES };

static Place generate_truss_find_place(const double* size, int axis, double p) {
  double n = size[JOINTS + axis], period = size[CELLS] + size[CELLS_BETWEEN];
  double cell = 0.5 * (p + 1.0) * (n * period - size[CELLS_BETWEEN]);
  // borders are integers; rounding must not move positions across them
  cell = fabs(cell - round(cell)) < 1e-9 ? round(cell) : cell;
  Place place = {.joint = (int32_t)fmin(floor(cell / period), n - 1.0)};
  double rest = cell - place.joint * period;
  place.between = rest > size[CELLS];
  place.at =
      place.between ? (rest - size[CELLS]) / size[CELLS_BETWEEN] : 2.0 * rest / size[CELLS] - 1.0;
  return place;
}

// Maps a point of a strut, relative to its first joint. section (2): across, -1 .. 1; x: along the
// strut, then across.
static void map_strut(const double* size, double share, const double section[2], double x[3]) {
  double end[3] = {1.0, section[0], section[1]}, middle[3] = {section[0], section[1], 0.0};
  noli_grid_round_off(3, end);
  noli_grid_round_off(2, middle);
  double side = 2.0 * share - 1.0, ends = side * side * side * side;
  double first = size[JOINT_RADIUS] * end[0];
  x[0] = (1.0 - share) * first + share * (size[SPACING] - first);
  for (int k = 1; k < 3; k++) {
    x[k] = ends * size[JOINT_RADIUS] * end[k] + (1.0 - ends) * size[STRUT_RADIUS] * middle[k - 1];
  }
}

static void map_truss(const double* size, double p[3]) {
  Place place[3];
  int along = -1;
  double local[3];
  for (int a = 0; a < 3; a++) {
    place[a] = generate_truss_find_place(size, a, p[a]);
    along = place[a].between ? a : along;
    local[a] = place[a].at;
  }

  if (along < 0) {
    noli_grid_round_off(3, local);
    for (int a = 0; a < 3; a++) {
      local[a] *= size[JOINT_RADIUS];
    }
  } else {
    int b = (along + 1) % 3, c = (along + 2) % 3;
    double section[2] = {local[b], local[c]}, x[3];
    map_strut(size, local[along], section, x);
    local[along] = x[0];
    local[b] = x[1];
    local[c] = x[2];
  }

  for (int a = 0; a < 3; a++) {
    p[a] = size[SPACING] * (place[a].joint - 0.5 * (size[JOINTS + a] - 1.0)) + local[a];
  }
}

// Fills joints, and the struts between two of them along one axis.
static void fill_truss(const NoliGrid* grid, bool* filled) {
  for (int32_t i = 0; i < grid->cells[0]; i++) {
    for (int32_t j = 0; j < grid->cells[1]; j++) {
      for (int32_t k = 0; k < grid->cells[2]; k++) {
        int n_between = (i % grid->period >= grid->first) + (j % grid->period >= grid->first) +
                        (k % grid->period >= grid->first);
        *filled++ = n_between <= 1;
      }
    }
  }
}

static NoliStatus check_truss(NoliContext* context, const int32_t joints[3], double spacing,
                              double joint_radius, double strut_radius, const int32_t cells[2]) {
  NoliStatus status = NOLI_OK;
  NOLI_TRY(noli_grid_check_length(context, "truss", "spacing", spacing));
  NOLI_TRY(noli_grid_check_length(context, "truss", "joint radius", joint_radius));
  NOLI_TRY(noli_grid_check_length(context, "truss", "strut radius", strut_radius));
  NOLI_CHECK(context, 2.0 * joint_radius < spacing, NOLI_ERROR_ARGUMENT,
             "truss: joints of radius %g meet at a spacing of %g", joint_radius, spacing);
  NOLI_CHECK(context, strut_radius <= joint_radius, NOLI_ERROR_ARGUMENT,
             "truss: the strut radius must not exceed the joint radius, %g, got %g", joint_radius,
             strut_radius);
  NOLI_CHECK(context, cells[0] >= 2 && cells[0] % 2 == 0, NOLI_ERROR_ARGUMENT,
             "truss: the cells across must be even, got %d", cells[0]);
  NOLI_CHECK(context, cells[1] >= 1, NOLI_ERROR_ARGUMENT,
             "truss: needs at least 1 cell along a strut, got %d", cells[1]);

  double n_cell = 1.0;
  for (int a = 0; a < 3; a++) {
    NOLI_CHECK(context, joints[a] >= 1, NOLI_ERROR_ARGUMENT,
               "truss: needs at least 1 joint along each axis, got %d", joints[a]);
    n_cell *= (double)joints[a] * ((double)cells[0] + cells[1]);
  }

  NOLI_CHECK(context, 6.0 * n_cell <= INT32_MAX, NOLI_ERROR_TOO_LARGE,
             "truss: %g cells exceed the index range", n_cell);
done:
  return status;
}

NoliStatus noli_mesh_make_truss(NoliContext* context, const int32_t joints[3], double spacing,
                                double joint_radius, double strut_radius, int32_t cells_across,
                                int32_t cells_along, int32_t order, bool surface, NoliMesh** mesh) {
  NOLI_REQUIRE(context, context != NULL && joints != NULL && mesh != NULL);
  NoliStatus status = NOLI_OK;
  bool* filled = NULL;
  *mesh = NULL;
  NOLI_TRY(check_truss(context, joints, spacing, joint_radius, strut_radius,
                       (int32_t[2]){cells_across, cells_along}));
  double size[N_SIZES] = {
      [CELLS] = cells_across,        [CELLS_BETWEEN] = cells_along, [SPACING] = spacing,
      [JOINT_RADIUS] = joint_radius, [STRUT_RADIUS] = strut_radius,
  };
  NoliGrid grid = {.period = cells_across + cells_along, .first = cells_across};
  int64_t n_cell = 1;
  for (int a = 0; a < 3; a++) {
    size[JOINTS + a] = joints[a];
    grid.cells[a] = joints[a] * grid.period - cells_along;
    n_cell *= grid.cells[a];
  }

  NOLI_NEW(context, filled, n_cell);
  fill_truss(&grid, filled);
  grid.filled = filled;
  NOLI_TRY(noli_grid_make(context, "truss", grid, map_truss, size, surface, order, mesh));
done:
  noli_free(context, filled);
  return status;
}
