#include "mesh/curve.h"

#include "math/lagrange.h"

#include <string.h>

void noli_mesh_shape_nodes(const NoliMesh* mesh, int64_t tet, double* X) {
  int32_t n_curve = noli_tet_nodes(noli_mesh_order(mesh)) - 4;
  for (int a = 0; a < 4; a++) {
    memcpy(X + 3 * a, mesh->x + 3 * (int64_t)mesh->tet[4 * tet + a], 3 * sizeof *X);
  }
  for (int32_t a = 0; a < n_curve; a++) {
    const double* x = mesh->curve_x + 3 * (int64_t)mesh->curve[tet * n_curve + a];
    memcpy(X + 3 * (4 + (int64_t)a), x, 3 * sizeof *X);
  }
}

NoliStatus noli_curve_follow(NoliContext* context, NoliMesh* mesh, const double* displacement) {
  NoliStatus status = NOLI_OK;
  int32_t order = noli_mesh_order(mesh), n = noli_tet_nodes(order) - 4;
  int32_t lattice[NOLI_TET_NODES_MAX][4];
  uint8_t* moved = NULL;
  noli_tet_lattice(order, lattice);
  NOLI_NEW_ZERO(context, moved, mesh->n_curve);
  for (int64_t k = 0; order > 1 && k < (int64_t)n * mesh->n_tet; k++) {
    int64_t node = mesh->curve[k], tet = k / n;
    for (int c = 0; c < 4 && moved[node] == 0; c++) {
      const double* by = displacement + 3 * (int64_t)mesh->tet[4 * tet + c];
      double share = (double)lattice[4 + k % n][c] / order;
      for (int i = 0; i < 3; i++) {
        mesh->curve_x[3 * node + i] += share * by[i];
      }
    }
    moved[node] = 1;
  }
done:
  noli_free(context, moved);
  return status;
}

void noli_curve_swap(NoliMesh* mesh, int64_t tet) {
  int32_t order = noli_mesh_order(mesh), n = noli_tet_nodes(order);
  if (order == 1 || mesh->curve == NULL) {
    return;
  }
  int32_t local[NOLI_TET_NODES_MAX][4], before[NOLI_TET_NODES_MAX];
  int32_t* curve = mesh->curve + tet * (n - 4);
  noli_tet_lattice(order, local);
  memcpy(before + 4, curve, (size_t)(n - 4) * sizeof *curve);
  for (int32_t a = 4; a < n; a++) {
    const int32_t mirrored[4] = {local[a][0], local[a][1], local[a][3], local[a][2]};
    int32_t b = 4;
    while (memcmp(local[b], mirrored, sizeof mirrored) != 0) {
      b++;
    }
    curve[a - 4] = before[b];
  }
}

bool noli_curve_is_good(const NoliMesh* mesh, int64_t tet) {
  int32_t n = noli_tet_nodes(noli_mesh_order(mesh)) - 4;
  for (int32_t a = 0; a < n; a++) {
    int32_t node = mesh->curve[tet * n + a];
    if (node < 0 || node >= mesh->n_curve) {
      return false;
    }
  }
  return true;
}

NoliStatus noli_curve_validate(NoliContext* context, const NoliMesh* mesh) {
  NoliStatus status = NOLI_OK;
  NOLI_CHECK(context, mesh->order >= 0 && mesh->order <= NOLI_MESH_ORDER_MAX, NOLI_ERROR_ARGUMENT,
             "the order of a mesh must be 0 to %d, got %d", NOLI_MESH_ORDER_MAX, mesh->order);
  NOLI_CHECK(context,
             mesh->order <= 1 || mesh->n_tet == 0 || (mesh->curve != NULL && mesh->curve_x != NULL),
             NOLI_ERROR_ARGUMENT, "a mesh of order %d has no curve nodes", mesh->order);
  for (int64_t t = 0; t < mesh->n_tet; t++) {
    NOLI_CHECK(context, noli_curve_is_good(mesh, t), NOLI_ERROR_ARGUMENT,
               "tetrahedron %lld names a curve node that does not exist: the mesh has %d",
               (long long)t, mesh->n_curve);
  }
done:
  return status;
}
