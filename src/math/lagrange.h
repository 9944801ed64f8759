// Lagrange polynomials of order 1 to 4 on the reference tetrahedron and triangle.
//
// Reference tetrahedron: corners 0, e_0, e_1, e_2; xi in it has the barycentric coordinates
// lambda_0 = 1 - xi_0 - xi_1 - xi_2, lambda_{k+1} = xi_k. The nodes of order p are the points whose
// barycentric coordinates are multiples of 1/p, in the order of Gmsh:
//   corners 0 1 2 3;
//   the p - 1 inner nodes of the edges 01, 12, 20, 30, 32, 31, each from the first corner on;
//   the inner nodes of the faces 021, 013, 032, 312, each ordered as a triangle of order p - 3;
//   the inner nodes of the volume, as a tetrahedron of order p - 4.
// Triangles have corners 0 1 2, then edges 01, 12, 20, then inner nodes. With integers i = p lambda
// at node i, the shape functions are products of one factor for each barycentric coordinate,
//   N_i = prod_k R_{i_k}(lambda_k),   R_m(s) = prod_{j < m} (p s - j)/(m - j),
// so that no linear system has to be solved.
#pragma once

#include <stdint.h>

enum {
  NOLI_ORDER_MAX = 4,
  NOLI_TET_NODES_MAX = 35,
  NOLI_TRI_NODES_MAX = 15,
};

// Nodes of a tetrahedron, of a triangle.
static inline int32_t noli_tet_nodes(int32_t order) {
  return (order + 1) * (order + 2) * (order + 3) / 6;
}
static inline int32_t noli_tri_nodes(int32_t order) {
  return (order + 1) * (order + 2) / 2;
}

// Corners of edges and faces in the order of the nodes on them.
extern const int32_t noli_lagrange_edge[6][2];
extern const int32_t noli_lagrange_face[4][3];

// Barycentric coordinates of all nodes times the order: integers.
void noli_tet_lattice(int32_t order, int32_t lattice[][4]);
void noli_tri_lattice(int32_t order, int32_t lattice[][3]);

// Values (n) and derivatives with respect to xi (n x 3) of all shape functions at xi, which may lie
// outside; `gradient` may be NULL.
void noli_tet_shape(int32_t order, const double xi[3], double* value, double* gradient);
// The same on the reference triangle, whose corners are 0, e_0, e_1: derivatives (n x 2).
void noli_tri_shape(int32_t order, const double xi[2], double* value, double* gradient);
