// Nodes of order p on a mesh of tetrahedra: the lattice of math/lagrange.h in every tetrahedron,
// with common nodes on shared vertices, edges and faces. Shapes of curved meshes and finite-element
// spaces have the same numbering.
#pragma once

#include "base/context.h"
#include "noli/mesh.h"

// Nodes 0 .. n_vert - 1 are the vertices of the mesh, in use or not. Then come those of the edges,
// sorted by the vertices of the edge and from its lower vertex on, those of the faces, sorted by
// their vertices and from the lowest one on, and the inner ones, tetrahedron by tetrahedron.
typedef struct NoliLattice {
  int32_t order;
  int32_t n_tet;
  int32_t n_local; // nodes of a tetrahedron
  int32_t n_vert;
  int32_t n_node;
  int32_t* node; // (n_tet x n_local) in the order of math/lagrange.h
} NoliLattice;

// Fails with NOLI_ERROR_ARGUMENT if the order is not 1 to 4, NOLI_ERROR_TOO_LARGE and
// NOLI_ERROR_MEMORY; `*lattice` is then empty. Indices must be valid.
NOLI_WARN_UNUSED NoliStatus noli_lattice_create(NoliContext* context, int32_t n_vert, int32_t n_tet,
                                                const int32_t* tet, int32_t order,
                                                NoliLattice* lattice);
void noli_lattice_destroy(NoliContext* context, NoliLattice* lattice);
