// The curved shapes of a mesh: nodes of order up to 4, arranged as in math/lagrange.h, the four
// vertices first.
#pragma once

#include "base/context.h"
#include "noli/mesh.h"

// The order of the shape of a mesh, 1 if it is straight.
static inline int32_t noli_mesh_order(const NoliMesh* mesh) {
  return mesh->order > 1 ? mesh->order : 1;
}

// Positions of all nodes of the shape of a tetrahedron, (noli_tet_nodes(order) x 3). Indices must
// be valid.
void noli_mesh_shape_nodes(const NoliMesh* mesh, int64_t tet, double* X);

// Moves the nodes between vertices where the vertices are displaced: in each tetrahedron by the
// linear interpolation of `displacement` (n_vert x 3). Nothing happens to vertices, or in a
// straight mesh. Fails with NOLI_ERROR_MEMORY.
NOLI_WARN_UNUSED NoliStatus noli_curve_follow(NoliContext* context, NoliMesh* mesh,
                                              const double* displacement);

// Reorders the curve of a tetrahedron whose last two vertices were exchanged.
void noli_curve_swap(NoliMesh* mesh, int64_t tet);

// Whether the indices of a tetrahedron's curve are valid.
bool noli_curve_is_good(const NoliMesh* mesh, int64_t tet);

// Fails with NOLI_ERROR_ARGUMENT and names the first tetrahedron with a bad curve.
NOLI_WARN_UNUSED NoliStatus noli_curve_validate(NoliContext* context, const NoliMesh* mesh);
