#include "fem/space.h"

#include "base/validate.h"
#include "mesh/curve.h"
#include "mesh/jacobian.h"
#include "mesh/shapes/lattice.h"
#include "mesh/topology.h"

#include <string.h>

// ---- the space

// Rest positions of the nodes on the shapes. Vertices are copied exactly.
static void place_nodes(const NoliMesh* mesh, const NoliSpace* space) {
  int32_t local[NOLI_TET_NODES_MAX][4];
  noli_tet_lattice(space->order, local);
  memcpy(space->X, mesh->x, 3 * (size_t)mesh->n_vert * sizeof *mesh->x);
  for (int64_t t = 0; t < space->n_tet; t++) {
    for (int32_t a = 4; a < space->n_local; a++) {
      double xi[3];
      for (int k = 0; k < 3; k++) {
        xi[k] = (double)local[a][k + 1] / space->order;
      }
      noli_store3(space->X + 3 * (int64_t)space->node[t * space->n_local + a],
                  noli_space_position(space, t, xi));
    }
  }
}

NoliStatus noli_space_create(NoliContext* context, const NoliMesh* mesh, int32_t order,
                             NoliSpace* space) {
  NoliStatus status = NOLI_OK;
  NoliLattice lattice = {0};
  *space = (NoliSpace){.order = order, .geometry_order = noli_mesh_order(mesh)};
  NOLI_TRY(noli_mesh_validate(context, mesh));
  NOLI_TRY(noli_lattice_create(context, mesh->n_vert, mesh->n_tet, mesh->tet, order, &lattice));
  space->n_tet = mesh->n_tet;
  space->n_vert = mesh->n_vert;
  space->n_node = lattice.n_node;
  space->n_local = lattice.n_local;
  space->n_shape = noli_tet_nodes(space->geometry_order);
  space->node = lattice.node;
  lattice.node = NULL;
  NOLI_NEW(context, space->X, 3 * (int64_t)space->n_node);
  NOLI_NEW(context, space->shape_X, 3 * (int64_t)space->n_tet * space->n_shape);
  for (int64_t t = 0; t < mesh->n_tet; t++) {
    noli_mesh_shape_nodes(mesh, t, space->shape_X + 3 * t * space->n_shape);
  }
  place_nodes(mesh, space);
  NOLI_VALIDATE(context, noli_space_defect(space));
done:
  noli_lattice_destroy(context, &lattice);
  if (status != NOLI_OK) {
    noli_space_destroy(context, space);
  }
  return status;
}

void noli_space_destroy(NoliContext* context, NoliSpace* space) {
  noli_free(context, space->node);
  noli_free(context, space->X);
  noli_free(context, space->shape_X);
  *space = (NoliSpace){0};
}

NoliVec3 noli_space_position(const NoliSpace* space, int64_t tet, const double xi[3]) {
  double value[NOLI_TET_NODES_MAX];
  const double* X = space->shape_X + 3 * tet * space->n_shape;
  NoliVec3 x = noli_vec3(0.0, 0.0, 0.0);
  noli_tet_shape(space->geometry_order, xi, value, NULL);
  for (int32_t b = 0; b < space->n_shape; b++) {
    x = noli_mul_add3(x, value[b], noli_load3(X + 3 * b));
  }
  return x;
}

// sum_a (x_a - x_0) (x) grad N_a: gradients add up to zero, so x_0 can be subtracted, which reduces
// rounding errors far from the origin.
static NoliMat3 derivative(int32_t n, const double* x, const double* gradient) {
  NoliMat3 sum = {0};
  for (int32_t a = 1; a < n; a++) {
    for (int i = 0; i < 3; i++) {
      double side = x[3 * a + i] - x[i];
      for (int k = 0; k < 3; k++) {
        sum.m[i][k] += side * gradient[3 * a + k];
      }
    }
  }
  return sum;
}

NoliMat3 noli_space_dxdxi(const NoliSpace* space, int64_t tet, const double xi[3]) {
  double value[NOLI_TET_NODES_MAX], gradient[3 * NOLI_TET_NODES_MAX];
  noli_tet_shape(space->geometry_order, xi, value, gradient);
  return derivative(space->n_shape, space->shape_X + 3 * tet * space->n_shape, gradient);
}

int32_t noli_space_elastic_degree(const NoliSpace* space) {
  int32_t degree = 2 * (space->order - 1) + space->geometry_order - 1;
  return degree > 1 ? degree : 1;
}

int32_t noli_space_mass_degree(const NoliSpace* space) {
  return 2 * space->order + 3 * (space->geometry_order - 1);
}

// ---- orientation

// Fails for the place xi, where the determinant is `det`.
static NoliStatus fail_inverted(NoliContext* context, const NoliSpace* space, int64_t tet,
                                const double* xi, double det) {
  const int32_t* node = space->node + tet * space->n_local;
  NoliVec3 x = noli_space_position(space, tet, xi);
  return noli_fail(context, NOLI_INVERTED_ELEMENT,
                   "tetrahedron %lld (nodes %d %d %d %d) of order %d is inverted at rest: its "
                   "determinant at (%g, %g, %g) is %g",
                   (long long)tet, node[0], node[1], node[2], node[3], space->geometry_order, x.x,
                   x.y, x.z, det);
}

NoliStatus noli_space_check(NoliContext* context, const NoliSpace* space) {
  NoliStatus status = NOLI_OK;
  NoliShapeBasis basis;
  noli_shape_basis(space->geometry_order, &basis);
  for (int64_t t = 0; t < space->n_tet; t++) {
    NoliShapeTest test = noli_shape_test(&basis, space->shape_X + 3 * t * space->n_shape);
    if (test.sign != NOLI_SHAPE_POSITIVE && test.volume < 0.0) {
      // the mean, for want of a place that says more
      const double middle[3] = {0.25, 0.25, 0.25};
      NOLI_TRY(fail_inverted(context, space, t, middle, 6.0 * test.volume));
    } else if (test.sign == NOLI_SHAPE_MIXED) {
      NOLI_TRY(fail_inverted(context, space, t, test.xi, test.det));
    }
  }
done:
  return status;
}

const char* noli_space_defect(const NoliSpace* space) {
  NOLI_RULE(space->n_node >= space->n_vert && space->n_local == noli_tet_nodes(space->order),
            "space: numbers of nodes contradict its order");
  for (int64_t t = 0; t < space->n_tet; t++) {
    const int32_t* node = space->node + t * space->n_local;
    for (int32_t a = 0; a < space->n_local; a++) {
      NOLI_RULE(node[a] >= 0 && node[a] < space->n_node, "space: a node is out of range");
      for (int32_t b = 0; b < a; b++) {
        NOLI_RULE(node[a] != node[b], "space: an element has the same node twice");
      }
    }
  }
  return NULL;
}
