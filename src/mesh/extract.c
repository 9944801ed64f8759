// Obstacles from meshes: the surface, its edges or its vertices.
#include "mesh/topology.h"

#include <string.h>

const NoliNamed noli_mesh_parts[NOLI_MESH_PARTS] = {
    [NOLI_MESH_SURFACE] = {"surface", "Boundary triangles, separate triangles, segments, points."},
    [NOLI_MESH_EDGES] = {"edges", "The edges of the surface and separate segments, and points."},
    [NOLI_MESH_POINTS] = {"points", "The vertices of the surface."},
};

// The surface of a mesh with its lone segments and points, on the vertices of the mesh.
static NoliStatus extract_surface(NoliContext* context, const NoliMesh* mesh, NoliMesh** out) {
  NoliStatus status = NOLI_OK;
  int32_t *tri = NULL, *tri_tag = NULL;
  int32_t n_tri = 0;
  NOLI_TRY(noli_mesh_surface(context, mesh, &tri, &tri_tag, &n_tri));
  bool any_cell = mesh->n_tet > 0 || mesh->n_tri > 0 || mesh->n_edge > 0 || mesh->n_point > 0;
  int32_t n_point = any_cell ? mesh->n_point : mesh->n_vert;
  NOLI_TRY(noli_mesh_create(context, mesh->n_vert, 0, n_tri, mesh->n_edge, n_point, tri_tag != NULL,
                            out));
  NoliMesh* made = *out;
  memcpy(made->x, mesh->x, (size_t)mesh->n_vert * 3 * sizeof(double));
  if (n_tri > 0) {
    memcpy(made->tri, tri, (size_t)n_tri * 3 * sizeof(int32_t));
    if (tri_tag != NULL) {
      memcpy(made->tri_tag, tri_tag, (size_t)n_tri * sizeof(int32_t));
    }
  }

  if (mesh->n_edge > 0) {
    memcpy(made->edge, mesh->edge, (size_t)mesh->n_edge * 2 * sizeof(int32_t));
  }
  for (int32_t i = 0; i < n_point; i++) {
    made->point[i] = any_cell ? mesh->point[i] : i;
  }
done:
  noli_free(context, tri);
  noli_free(context, tri_tag);
  return status;
}

// Replaces the triangles of a surface by their edges, before its lone segments.
static NoliStatus triangles_to_segments(NoliContext* context, NoliMesh* mesh) {
  NoliStatus status = NOLI_OK;
  int32_t *side = NULL, *all = NULL;
  int32_t n_side = 0;

  NOLI_TRY(noli_mesh_edges(context, mesh->tri, mesh->n_tri, &side, &n_side));
  int64_t n_all = (int64_t)n_side + mesh->n_edge;
  NOLI_CHECK(context, n_all <= INT32_MAX, NOLI_ERROR_TOO_LARGE, "too many segments: %lld",
             (long long)n_all);
  NOLI_NEW(context, all, 2 * n_all);
  memcpy(all, side, (size_t)n_side * 2 * sizeof(int32_t));
  if (mesh->n_edge > 0) {
    memcpy(all + 2 * (int64_t)n_side, mesh->edge, (size_t)mesh->n_edge * 2 * sizeof(int32_t));
  }
  noli_free(context, mesh->edge);
  noli_free(context, mesh->tri);
  noli_free(context, mesh->tri_tag);
  mesh->edge = n_all > 0 ? all : NULL;
  mesh->n_edge = (int32_t)n_all;
  mesh->tri = mesh->tri_tag = NULL;
  mesh->n_tri = 0;
  all = n_all > 0 ? NULL : all;
done:
  noli_free(context, side);
  noli_free(context, all);
  return status;
}

// Replaces all cells of a surface by points; all of its vertices are in use.
static NoliStatus cells_to_points(NoliContext* context, const NoliMesh* surface, NoliMesh** out) {
  NoliStatus status = NOLI_OK;
  NOLI_TRY(noli_mesh_create(context, surface->n_vert, 0, 0, 0, surface->n_vert, false, out));
  memcpy((*out)->x, surface->x, (size_t)surface->n_vert * 3 * sizeof(double));
  for (int32_t v = 0; v < surface->n_vert; v++) {
    (*out)->point[v] = v;
  }
done:
  return status;
}

NoliStatus noli_mesh_extract(NoliContext* context, const NoliMesh* mesh, const char* name,
                             NoliMesh** out) {
  NOLI_REQUIRE(context, context != NULL && mesh != NULL && out != NULL);
  NoliStatus status = NOLI_OK;
  NoliMesh* made = NULL;

  *out = NULL;
  int32_t part =
      name != NULL ? noli_named_find(noli_mesh_parts, NOLI_MESH_PARTS, name) : NOLI_MESH_SURFACE;
  NOLI_CHECK(context, part >= 0, NOLI_ERROR_ARGUMENT,
             "a mesh has no part \"%s\"; known: \"%s\", \"%s\", \"%s\"", name,
             noli_mesh_parts[NOLI_MESH_SURFACE].name, noli_mesh_parts[NOLI_MESH_EDGES].name,
             noli_mesh_parts[NOLI_MESH_POINTS].name);

  NOLI_TRY(noli_mesh_validate(context, mesh));
  NOLI_TRY(extract_surface(context, mesh, &made));
  NOLI_TRY(noli_mesh_remove_unused(context, made));
  if (part == NOLI_MESH_EDGES) {
    NOLI_TRY(triangles_to_segments(context, made));
  }
  if (part == NOLI_MESH_POINTS) {
    NOLI_TRY(cells_to_points(context, made, out));
  } else {
    *out = made;
    made = NULL;
  }
done:
  noli_mesh_destroy(context, &made);
  return status;
}
