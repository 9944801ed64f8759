// Nodes of order p on a mesh of tetrahedra: the lattice of math/lagrange.h in every tetrahedron,
// with the nodes on shared vertices, edges and faces in common. Shapes of curved meshes and
// finite-element spaces are numbered alike.
#pragma once

#include "base/context.h"
#include "noli/mesh.h"

// Nodes 0 .. n_vert - 1 are the vertices of the mesh, in use or not. Then come those of the edges,
// sorted by their vertices and each from its lower vertex on, those of the faces, likewise, and the
// inner ones, tetrahedron by tetrahedron.
typedef struct NoliLattice {
  int32_t order;
  int32_t n_tet;
  int32_t n_local; // nodes of a tetrahedron
  int32_t n_vert;
  int32_t n_node;
  int32_t* node; // (n_tet x n_local) in the order of math/lagrange.h
} NoliLattice;

// Fails with NOLI_ERROR_ARGUMENT for an order that is not 1 to 4, NOLI_ERROR_TOO_LARGE,
// NOLI_ERROR_MEMORY; `*lattice` is empty then. Indices must be valid.
NOLI_WARN_UNUSED NoliStatus noli_lattice_create(NoliContext* context, int32_t n_vert, int32_t n_tet,
                                                const int32_t* tet, int32_t order,
                                                NoliLattice* lattice);
void noli_lattice_destroy(NoliContext* context, NoliLattice* lattice);

// The order of the shape of a mesh, 1 where it is straight.
static inline int32_t noli_mesh_order(const NoliMesh* mesh) {
  return mesh->order > 1 ? mesh->order : 1;
}

// Positions of all nodes of the shape of a tetrahedron, (noli_tet_nodes(order) x 3). Indices must
// be valid.
void noli_mesh_shape_nodes(const NoliMesh* mesh, int64_t tet, double* X);

// Reorders the curve of a tetrahedron whose last two vertices were exchanged.
void noli_curve_swap(NoliMesh* mesh, int64_t tet);

// Whether the nodes of a tetrahedron's curve exist.
bool noli_curve_is_good(const NoliMesh* mesh, int64_t tet);

// Fails with NOLI_ERROR_ARGUMENT and names the first tetrahedron with a bad curve.
NOLI_WARN_UNUSED NoliStatus noli_curve_validate(NoliContext* context, const NoliMesh* mesh);
