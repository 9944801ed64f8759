// Curved meshes: changes of the order of the shape, projection of nodes onto spheres and cylinders.
#include "math/lagrange.h"
#include "math/vec3.h"
#include "mesh/curve.h"
#include "mesh/shapes/lattice.h"
#include "mesh/topology.h"

// Shape functions of the old order at the nodes of the new one: (n_new x n_old).
static void tabulate(int32_t old_order, int32_t new_order, double* table) {
  int32_t local[NOLI_TET_NODES_MAX][4], n_old = noli_tet_nodes(old_order);
  noli_tet_lattice(new_order, local);
  for (int32_t a = 0; a < noli_tet_nodes(new_order); a++) {
    double xi[3];
    for (int k = 0; k < 3; k++) {
      xi[k] = (double)local[a][k + 1] / new_order;
    }
    noli_tet_shape(old_order, xi, table + (int64_t)a * n_old, NULL);
  }
}

// Computes the positions of all nodes of the lattice that are not vertices. Those of a shared node
// agree to rounding between tetrahedra; the last one counts.
static void place_nodes(const NoliMesh* mesh, const NoliLattice* lattice, double* curve_x) {
  double table[NOLI_TET_NODES_MAX * NOLI_TET_NODES_MAX], X[3 * NOLI_TET_NODES_MAX];
  int32_t n_old = noli_tet_nodes(noli_mesh_order(mesh));
  tabulate(noli_mesh_order(mesh), lattice->order, table);
  for (int64_t t = 0; t < mesh->n_tet; t++) {
    noli_mesh_shape_nodes(mesh, t, X);
    for (int32_t a = 4; a < lattice->n_local; a++) {
      int64_t node = lattice->node[t * lattice->n_local + a] - mesh->n_vert;
      NoliVec3 x = noli_vec3(0.0, 0.0, 0.0);
      for (int32_t b = 0; b < n_old; b++) {
        x = noli_mul_add3(x, table[(int64_t)a * n_old + b], noli_load3(X + 3 * b));
      }
      noli_store3(curve_x + 3 * node, x);
    }
  }
}

NoliStatus noli_mesh_set_order(NoliContext* context, NoliMesh* mesh, int32_t order) {
  NOLI_REQUIRE(context, context != NULL && mesh != NULL);
  NoliStatus status = NOLI_OK;
  NoliLattice lattice = {0};
  double* curve_x = NULL;
  int32_t* curve = NULL;

  // nodes of the new order
  NOLI_TRY(noli_mesh_validate(context, mesh));
  NOLI_TRY(noli_lattice_create(context, mesh->n_vert, mesh->n_tet, mesh->tet, order, &lattice));
  int32_t n_curve = lattice.n_node - mesh->n_vert, width = lattice.n_local - 4;
  if (order > 1) {
    NOLI_NEW(context, curve_x, 3 * (int64_t)n_curve);
    NOLI_NEW(context, curve, (int64_t)mesh->n_tet * width);
    place_nodes(mesh, &lattice, curve_x);
    for (int64_t t = 0; t < mesh->n_tet; t++) {
      for (int32_t a = 0; a < width; a++) {
        curve[t * width + a] = lattice.node[t * lattice.n_local + 4 + a] - mesh->n_vert;
      }
    }
  }

  // replace the old ones
  noli_free(context, mesh->curve_x);
  noli_free(context, mesh->curve);
  mesh->order = order;
  mesh->n_curve = n_curve;
  mesh->curve_x = curve_x;
  mesh->curve = curve;
  curve_x = NULL;
  curve = NULL;
done:
  noli_free(context, curve_x);
  noli_free(context, curve);
  noli_lattice_destroy(context, &lattice);
  return status;
}

// A sphere (no axis) or a cylinder.
typedef struct Round {
  NoliVec3 centre;
  NoliVec3 axis; // of length 1, or 0
  double radius;
} Round;

// The vector from the centre or the axis to a point.
static NoliVec3 radial(const Round* round, const double* x) {
  NoliVec3 away = noli_sub3(noli_load3(x), round->centre);
  return noli_mul_add3(away, -noli_dot3(away, round->axis), round->axis);
}

static void move_onto(const Round* round, double* x) {
  NoliVec3 away = radial(round, x);
  double distance = noli_norm3(away);
  if (distance > 0.0) {
    noli_store3(x, noli_mul_add3(noli_load3(x), round->radius / distance - 1.0, away));
  }
}

// Moves the nodes of a boundary face of a tetrahedron onto the surface: a node belongs to the face
// opposite to `corner` if its barycentric coordinate there is 0, and moves if all corners with
// nonzero coordinates are on the surface.
static void move_face(NoliMesh* mesh, int64_t t, int corner, const bool on[4], const Round* round,
                      uint8_t* moved) {
  int32_t local[NOLI_TET_NODES_MAX][4], order = noli_mesh_order(mesh);
  int32_t width = noli_tet_nodes(order) - 4;
  noli_tet_lattice(order, local);
  for (int32_t a = 0; a < width; a++) {
    bool moves = local[a + 4][corner] == 0;
    for (int k = 0; k < 4; k++) {
      moves = moves && (local[a + 4][k] == 0 || on[k]);
    }
    int64_t node = mesh->curve[t * width + a];
    if (moves && !moved[node]) {
      move_onto(round, mesh->curve_x + 3 * node);
      moved[node] = 1;
    }
  }
}

NoliStatus noli_mesh_curve_onto(NoliContext* context, NoliMesh* mesh, const double centre[3],
                                const double* axis, double radius, double tolerance,
                                int32_t* n_moved) {
  NOLI_REQUIRE(context, context != NULL && mesh != NULL && centre != NULL);
  NoliStatus status = NOLI_OK;
  uint8_t *boundary = NULL, *moved = NULL;
  Round round = {.centre = noli_load3(centre), .radius = radius};

  // the surface
  NOLI_CHECK(context, mesh->order > 1, NOLI_ERROR_ARGUMENT,
             "a straight mesh has no nodes to move: raise its order first");
  NOLI_CHECK(context, radius > 0.0 && isfinite(radius), NOLI_ERROR_ARGUMENT,
             "the radius must be positive and finite, got %g", radius);
  if (axis != NULL) {
    double length = noli_norm3(noli_load3(axis));
    NOLI_CHECK(context, length > 0.0 && isfinite(length), NOLI_ERROR_ARGUMENT,
               "the axis must have a direction, got (%g, %g, %g)", axis[0], axis[1], axis[2]);
    round.axis = noli_scale3(1.0 / length, noli_load3(axis));
  }

  // boundary faces whose corners are on the surface
  NOLI_TRY(noli_mesh_validate(context, mesh));
  NOLI_NEW(context, boundary, 4 * (int64_t)mesh->n_tet);
  NOLI_NEW_ZERO(context, moved, mesh->n_curve);
  NOLI_TRY(noli_tet_boundary(context, mesh->n_tet, mesh->tet, 4, boundary));
  for (int64_t t = 0; t < mesh->n_tet; t++) {
    bool on[4];
    for (int k = 0; k < 4; k++) {
      const double* x = mesh->x + 3 * (int64_t)mesh->tet[4 * t + k];
      on[k] = fabs(noli_norm3(radial(&round, x)) - radius) <= tolerance * radius;
    }
    for (int k = 0; k < 4; k++) {
      bool round_face = on[(k + 1) % 4] && on[(k + 2) % 4] && on[(k + 3) % 4];
      if (boundary[4 * t + k] && round_face) {
        move_face(mesh, t, k, on, &round, moved);
      }
    }
  }

  // each node counts once
  if (n_moved != NULL) {
    *n_moved = 0;
    for (int32_t v = 0; v < mesh->n_curve; v++) {
      *n_moved += moved[v];
    }
  }
done:
  noli_free(context, boundary);
  noli_free(context, moved);
  return status;
}
