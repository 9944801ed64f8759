// High-order tetrahedra as cells of VTK: VTK_LAGRANGE_TETRAHEDRON, whose nodes stand in an order of
// its own.
#pragma once

#include "fem/space.h"

// permutation[k] is the node of math/lagrange.h that stands at place k of the cell.
void noli_lagrange_cell_order(int32_t order, int32_t permutation[NOLI_TET_NODES_MAX]);

// Cells of a space for NoliFrame: connectivity (n_tet x n_local) with `first_node` added, offsets
// (n_tet) behind `first_offset` indices of other cells, types (n_tet). Points are the nodes of the
// space: a shape of higher order than the space is drawn with the order of the space.
void noli_lagrange_cells(const NoliSpace* space, int32_t first_node, int64_t first_offset,
                         int32_t* connectivity, int64_t* offsets, uint8_t* types);
