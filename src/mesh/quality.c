// Quality of tetrahedra: the scaled Jacobian.
#include "math/lagrange.h"
#include "math/vec3.h"
#include "mesh/curve.h"

// sqrt(2) det / (|u| |v| |w|), 0 for edges without length.
static double scaled(double det, NoliVec3 u, NoliVec3 v, NoliVec3 w) {
  double lengths = noli_norm3(u) * noli_norm3(v) * noli_norm3(w);
  return lengths > 0.0 ? sqrt(2.0) * det / lengths : 0.0;
}

// The smallest of the corners of the tetrahedron with the edges a, b, c at its first one.
static double smallest_corner(NoliVec3 a, NoliVec3 b, NoliVec3 c) {
  double det = noli_dot3(a, noli_cross3(b, c));
  NoliVec3 ab = noli_sub3(b, a), ac = noli_sub3(c, a), bc = noli_sub3(c, b);
  return fmin(fmin(scaled(det, a, b, c), scaled(det, a, ab, ac)),
              fmin(scaled(det, b, ab, bc), scaled(det, c, ac, bc)));
}

// At all nodes of the shape.
static double quality_of(const NoliMesh* mesh, int64_t tet) {
  double X[3 * NOLI_TET_NODES_MAX], value[NOLI_TET_NODES_MAX], gradient[3 * NOLI_TET_NODES_MAX];
  int32_t lattice[NOLI_TET_NODES_MAX][4], order = noli_mesh_order(mesh);
  int32_t n = noli_tet_nodes(order);
  double least = INFINITY;
  noli_mesh_shape_nodes(mesh, tet, X);
  noli_tet_lattice(order, lattice);
  for (int32_t a = 0; a < n; a++) {
    NoliVec3 tangent[3] = {{0}};
    double xi[3];
    for (int k = 0; k < 3; k++) {
      xi[k] = (double)lattice[a][k + 1] / order;
    }
    noli_tet_shape(order, xi, value, gradient);
    for (int32_t b = 0; b < n; b++) {
      for (int k = 0; k < 3; k++) {
        tangent[k] = noli_mul_add3(tangent[k], gradient[3 * b + k], noli_load3(&X[3 * b]));
      }
    }
    least = fmin(least, smallest_corner(tangent[0], tangent[1], tangent[2]));
  }
  return least;
}

NoliMeshQuality noli_mesh_quality(const NoliMesh* mesh) {
  NoliMeshQuality quality = {.worst = NOLI_NULL_INDEX};
  for (int32_t t = 0; mesh != NULL && t < mesh->n_tet; t++) {
    double q = quality_of(mesh, t);
    quality.mean += q / mesh->n_tet;
    quality.n_below_tenth += q < 0.1 ? 1 : 0;
    if (quality.worst == NOLI_NULL_INDEX || q < quality.least) {
      quality.least = q;
      quality.worst = t;
    }
  }
  for (int k = 0; k < 12 && quality.worst != NOLI_NULL_INDEX; k++) {
    int32_t corner = mesh->tet[4 * (int64_t)quality.worst + k / 3];
    quality.worst_centre[k % 3] += 0.25 * mesh->x[3 * (int64_t)corner + k % 3];
  }
  return quality;
}
