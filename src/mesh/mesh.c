#include "noli/mesh.h"

#include "base/context.h"
#include "mesh/curve.h"
#include "mesh/jacobian.h"
#include "math/vec3.h"

#include <math.h>

NoliStatus noli_mesh_create(NoliContext* context, int32_t n_vert, int32_t n_tet, int32_t n_tri,
                            int32_t n_edge, int32_t n_point, bool with_tags, NoliMesh** mesh) {
  NOLI_REQUIRE(context, context != NULL && mesh != NULL);
  NoliStatus status = NOLI_OK;
  NoliMesh* made = NULL;
  *mesh = NULL;
  NOLI_CHECK(context, n_vert >= 0 && n_tet >= 0 && n_tri >= 0 && n_edge >= 0 && n_point >= 0,
             NOLI_ERROR_ARGUMENT,
             "mesh: sizes must not be negative, got %d vertices, %d tetrahedra, %d triangles, %d "
             "segments, %d points",
             n_vert, n_tet, n_tri, n_edge, n_point);
  NOLI_NEW_ZERO(context, made, 1);
  made->n_vert = n_vert;
  made->n_tet = n_tet;
  made->n_tri = n_tri;
  made->n_edge = n_edge;
  made->n_point = n_point;

  // absent kinds of cells keep a NULL array
  NOLI_NEW(context, made->x, (int64_t)n_vert * 3);
  if (n_tet > 0) {
    NOLI_NEW(context, made->tet, (int64_t)n_tet * 4);
  }
  if (n_tri > 0) {
    NOLI_NEW(context, made->tri, (int64_t)n_tri * 3);
  }
  if (n_edge > 0) {
    NOLI_NEW(context, made->edge, (int64_t)n_edge * 2);
  }
  if (n_point > 0) {
    NOLI_NEW(context, made->point, n_point);
  }
  if (with_tags && n_tet > 0) {
    NOLI_NEW(context, made->tet_tag, n_tet);
  }
  if (with_tags && n_tri > 0) {
    NOLI_NEW(context, made->tri_tag, n_tri);
  }
  *mesh = made;
  made = NULL;
done:
  noli_mesh_destroy(context, &made);
  return status;
}

void noli_mesh_destroy(NoliContext* context, NoliMesh** mesh) {
  if (mesh == NULL || *mesh == NULL) {
    return;
  }
  NoliMesh* gone = *mesh;
  noli_free(context, gone->x);
  noli_free(context, gone->tet);
  noli_free(context, gone->tri);
  noli_free(context, gone->edge);
  noli_free(context, gone->point);
  noli_free(context, gone->tet_tag);
  noli_free(context, gone->tri_tag);
  noli_free(context, gone->curve_x);
  noli_free(context, gone->curve);
  noli_free(context, gone);
  *mesh = NULL;
}

void noli_mesh_free_array(NoliContext* context, int32_t** array) {
  if (array != NULL) {
    noli_free(context, *array);
    *array = NULL;
  }
}

void noli_mesh_bounds(int32_t n, const double* x, double low[3], double high[3]) {
  if (low == NULL || high == NULL) {
    return;
  }
  for (int i = 0; i < 3; i++) {
    low[i] = HUGE_VAL;
    high[i] = -HUGE_VAL;
  }
  for (int64_t v = 0; x != NULL && v < n; v++) {
    for (int i = 0; i < 3; i++) {
      low[i] = fmin(low[i], x[3 * v + i]);
      high[i] = fmax(high[i], x[3 * v + i]);
    }
  }
}

// Whether the volume of a tetrahedron is negative, which `basis` measures where it is curved.
static bool mesh_is_inverted(const NoliMesh* mesh, int64_t tet, const NoliShapeBasis* basis) {
  if (mesh->order > 1) {
    double X[3 * NOLI_TET_NODES_MAX];
    noli_mesh_shape_nodes(mesh, tet, X);
    return noli_shape_test(basis, X).volume < 0.0;
  }
  const int32_t* vertex = mesh->tet + 4 * tet;
  NoliVec3 x0 = noli_load3(mesh->x + 3 * (int64_t)vertex[0]);
  NoliVec3 e1 = noli_sub3(noli_load3(mesh->x + 3 * (int64_t)vertex[1]), x0);
  NoliVec3 e2 = noli_sub3(noli_load3(mesh->x + 3 * (int64_t)vertex[2]), x0);
  NoliVec3 e3 = noli_sub3(noli_load3(mesh->x + 3 * (int64_t)vertex[3]), x0);
  return noli_dot3(noli_cross3(e1, e2), e3) < 0.0;
}

int32_t noli_mesh_orient(NoliMesh* mesh) {
  if (mesh == NULL) {
    return 0;
  }
  NoliShapeBasis basis = {0};
  if (mesh->order > 1) {
    noli_shape_basis(mesh->order, &basis);
  }
  int32_t n_changed = 0;
  for (int64_t t = 0; t < mesh->n_tet; t++) {
    int32_t* tet = mesh->tet + 4 * t;
    if (mesh_is_inverted(mesh, t, &basis)) {
      int32_t kept = tet[2];
      tet[2] = tet[3];
      tet[3] = kept;
      noli_curve_swap(mesh, t);
      n_changed++;
    }
  }
  return n_changed;
}
