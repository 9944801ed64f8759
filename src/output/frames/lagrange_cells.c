#include "output/frames/lagrange_cells.h"

#include "output/frames/frame_arrays.h"

#include <string.h>

// Nodes in VTK's order by their barycentric coordinates: corners, edges 01 12 20 03 13 23, faces
// 013 231 032 021 as triangles in their turn, inner nodes.
static void cell_lattice(int32_t order, int32_t lattice[][4]) {
  static const int edge[6][2] = {{0, 1}, {1, 2}, {2, 0}, {0, 3}, {1, 3}, {2, 3}};
  static const int face[4][3] = {{0, 1, 3}, {2, 3, 1}, {0, 3, 2}, {0, 2, 1}};
  int32_t n = 0, inner[NOLI_TRI_NODES_MAX][3];
  memset(lattice, 0, (size_t)noli_tet_nodes(order) * sizeof lattice[0]);
  for (int corner = 0; corner < 4; corner++) {
    lattice[n++][corner] = order;
  }
  for (int e = 0; e < 6; e++) {
    for (int32_t j = 1; j < order; j++, n++) {
      lattice[n][edge[e][0]] = order - j;
      lattice[n][edge[e][1]] = j;
    }
  }

  if (order >= 3) {
    noli_tri_lattice(order - 3, inner);
    for (int f = 0; f < 4; f++) {
      for (int32_t j = 0; j < noli_tri_nodes(order - 3); j++, n++) {
        for (int k = 0; k < 3; k++) {
          lattice[n][face[f][k]] = inner[j][k] + 1;
        }
      }
    }
  }

  // order 4 has one inner node, and no order more
  for (int k = 0; k < 4 && order == 4; k++) {
    lattice[n][k] = 1;
  }
}

void noli_lagrange_cell_order(int32_t order, int32_t permutation[NOLI_TET_NODES_MAX]) {
  int32_t cell[NOLI_TET_NODES_MAX][4], own[NOLI_TET_NODES_MAX][4];
  cell_lattice(order, cell);
  noli_tet_lattice(order, own);
  for (int32_t k = 0; k < noli_tet_nodes(order); k++) {
    permutation[k] = 0;
    while (memcmp(own[permutation[k]], cell[k], sizeof cell[k]) != 0) {
      permutation[k]++;
    }
  }
}

void noli_lagrange_cells(const NoliSpace* space, int32_t first_node, int64_t first_offset,
                         int32_t* connectivity, int64_t* offsets, uint8_t* types) {
  int32_t permutation[NOLI_TET_NODES_MAX], n = space->n_local;
  noli_lagrange_cell_order(space->order, permutation);
  for (int64_t t = 0; t < space->n_tet; t++) {
    for (int32_t k = 0; k < n; k++) {
      connectivity[t * n + k] = first_node + space->node[t * n + permutation[k]];
    }
    offsets[t] = first_offset + (t + 1) * n;
    types[t] = NOLI_CELL_LAGRANGE_TETRAHEDRON;
  }
}
