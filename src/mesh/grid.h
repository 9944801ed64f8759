// Volumes as mapped grids: cells over the cube [-1, 1]^3, each cut into tetrahedra, moved into
// shape by a map of positions.
//
// A cell is cut into the six tetrahedra of Kuhn: one for each order of the axes, all around one
// diagonal of the cell. The diagonal runs away from the middle of the grid along every axis. That
// mirrors the mesh in its middle planes, conforms because the direction along an axis depends on
// the position along that axis only, and leaves no tetrahedron with two faces on the outside of a
// grid of two or more cells: those would become flat where a map rounds off an edge of the cube.
// Where a grid repeats itself, the diagonal runs away from the middle of the first cells of every
// period.
#pragma once

#include "mesh/topology.h"

#define NOLI_GRID_PI 3.14159265358979323846

// Moves one position from the cube into shape; `size` is what the maker of the grid hands over.
typedef void NoliGridMapFn(const double* size, double p[3]);

typedef struct NoliGrid {
  int32_t cells[3];
  bool around;        // the last layer of vertices along y is the first one
  int32_t period;     // cells after which the grid repeats itself along every axis; 0: it does not
  int32_t first;      // the first cells of a period
  const bool* filled; // (cells, z fastest); NULL: all cells; at least one
  int32_t layers[3];  // of vertices along each axis; filled in
} NoliGrid;

// A grid of the given order in the shape that `map` gives it, or only its surface. `shape` is what
// messages call it. Fails as the shapes of noli/mesh.h do.
NOLI_WARN_UNUSED NoliStatus noli_grid_make(NoliContext* context, const char* shape, NoliGrid grid,
                                           NoliGridMapFn* map, const double* size, bool surface,
                                           int32_t order, NoliMesh** mesh);

// Fails unless the length is positive and finite.
NOLI_WARN_UNUSED NoliStatus noli_grid_check_length(NoliContext* context, const char* shape,
                                                   const char* what, double length);

// Maps the square (n = 2) or cube (n = 3) onto the disc or ball of radius 1.
//
// With m = |p|_inf, the shell m = constant of the cube goes to the sphere of radius m; equal angles
// seen from the middle (tan) keep the triangles on it alike. Towards the middle that is blended
// with a shrunken cube, which avoids the kinks of the shells. 0.85 gave the best worst tetrahedron
// over 3 to 24 cells across (mean ratio 0.68 and dihedral angles of 33 to 118 degrees in the ball).
void noli_grid_round_off(int n, double p[3]);
