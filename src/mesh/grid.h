// Volumes as mapped grids: cells over the cube [-1, 1]^3, each cut into tetrahedra, and a map of
// positions that gives them their shape.
//
// A cell is cut into the six tetrahedra of Kuhn: one for each order of the axes, all around one
// diagonal of the cell. The diagonal points away from the middle of the grid along every axis. The
// mesh is then symmetric about its middle planes. It is conforming, because the direction along an
// axis depends only on the position along that axis. No tetrahedron of a grid of two or more cells
// has two faces on the outside: it would become flat where a map rounds off an edge of the cube.
// In a periodic grid, the diagonal points away from the middle of the first cells of every period.
#pragma once

#include "mesh/topology.h"

#define NOLI_GRID_PI 3.14159265358979323846

// Maps one position of the cube to the shape; `size` is passed on by noli_grid_make.
typedef void NoliGridMapFn(const double* size, double p[3]);

typedef struct NoliGrid {
  int32_t cells[3];
  bool around;        // the last layer of vertices along y is the first one
  int32_t period;     // cells per period along every axis; 0: the grid is not periodic
  int32_t first;      // the first cells of a period
  const bool* filled; // (cells, z fastest); NULL: all cells; at least one
  int32_t layers[3];  // of vertices along each axis; filled in
} NoliGrid;

// Makes a grid of the given order, mapped by `map` as far as its elements stay valid, or only its
// surface. `shape` is its name in
// messages. Fails as the shapes of noli/mesh.h do.
NOLI_WARN_UNUSED NoliStatus noli_grid_make(NoliContext* context, const char* shape, NoliGrid grid,
                                           NoliGridMapFn* map, const double* size, bool surface,
                                           int32_t order, NoliMesh** mesh);

// Fails unless the length is positive and finite.
NOLI_WARN_UNUSED NoliStatus noli_grid_check_length(NoliContext* context, const char* shape,
                                                   const char* what, double length);

// Maps the square (n = 2) or cube (n = 3) onto the disc or ball of radius 1.
//
// With m = |p|_inf, the shell m = constant of the cube maps to the sphere of radius m; equal angles
// seen from the middle (tan) make its triangles similar in size. Towards the middle the map is
// blended with a smaller cube, which avoids the kinks of the shells. Its size of 0.85 maximises the
// quality of the worst tetrahedron over 3 to 24 cells across (mean ratio 0.68 and dihedral angles
// of 33 to 118 degrees in the ball).
void noli_grid_round_off(int n, double p[3]);
