#include "base/sort.h"
#include "math/vec3.h"
#include "mesh/topology.h"

bool noli_is_upward(const NoliMesh* mesh, const int32_t* t) {
  NoliVec3 x0 = noli_load3(mesh->x + 3 * (int64_t)t[0]);
  NoliVec3 e1 = noli_sub3(noli_load3(mesh->x + 3 * (int64_t)t[1]), x0);
  NoliVec3 e2 = noli_sub3(noli_load3(mesh->x + 3 * (int64_t)t[2]), x0);
  return e1.x * e2.y - e1.y * e2.x >= 0.0;
}

// The boundary consists of the edges that occur once in the sorted list of all edges of triangles,
// as pairs of their lower and their higher vertex.
NoliStatus noli_mesh_outline(NoliContext* context, const NoliMesh* mesh, int32_t** edge,
                             int32_t* n_edge) {
  NOLI_REQUIRE(context, context != NULL && mesh != NULL && edge != NULL && n_edge != NULL);
  NoliStatus status = NOLI_OK;
  int64_t n = 3 * (int64_t)mesh->n_tri;
  uint64_t* key = NULL;
  *edge = NULL;
  *n_edge = 0;
  NOLI_TRY(noli_mesh_validate(context, mesh));
  NOLI_NEW(context, key, 2 * n);
  NOLI_NEW(context, *edge, 2 * n);

  // sort
  for (int64_t i = 0; i < n; i++) {
    uint64_t a = (uint64_t)mesh->tri[i], b = (uint64_t)mesh->tri[i / 3 * 3 + (i + 1) % 3];
    key[i] = a < b ? a << 32 | b : b << 32 | a;
  }
  noli_sort_keys(key, key + n, n, 32 + noli_bits_of(mesh->n_vert));

  // find each edge in the list
  for (int64_t i = 0; i < n; i++) {
    int32_t a = mesh->tri[i], b = mesh->tri[i / 3 * 3 + (i + 1) % 3];
    uint64_t own = a < b ? (uint64_t)a << 32 | (uint64_t)b : (uint64_t)b << 32 | (uint64_t)a;
    int64_t low = 0, high = n - 1;
    while (low < high) {
      int64_t middle = low + (high - low) / 2;
      if (key[middle] < own) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    if (low + 1 < n && key[low + 1] == own) {
      continue;
    }

    // with the material to the left
    bool up = noli_is_upward(mesh, mesh->tri + i / 3 * 3);
    (*edge)[2 * (int64_t)*n_edge] = up ? a : b;
    (*edge)[2 * (int64_t)*n_edge + 1] = up ? b : a;
    (*n_edge)++;
  }
done:
  noli_free(context, key);
  return status;
}
