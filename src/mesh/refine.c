// Uniform refinement: every cell is cut at the midpoints of its edges.
//
// A tetrahedron is cut into a smaller copy at each corner and an octahedron in between, which is
// cut into four around its shortest diagonal. Faces are cut in the same way for any diagonal, so
// that neighbours match. The shortest one keeps tetrahedra from becoming thinner with every
// refinement.

#include "base/validate.h"
#include "math/vec3.h"
#include "mesh/topology.h"

#include <math.h>
#include <string.h>

// Edges of a tetrahedron, as numbered in noli_tet_edge: three diagonals between midpoints of
// opposite edges, and the other midpoints around each, so that (from, to, ring k, ring k + 1) is
// positive.
static const struct {
  int32_t from, to, ring[4];
} diagonals[3] = {{0, 5, {1, 2, 4, 3}}, {1, 4, {3, 5, 2, 0}}, {2, 3, {0, 1, 5, 4}}};

// The midpoint of every edge of every cell, as listed by noli_list_sides.
typedef struct Midpoints {
  int32_t* of; // (n) vertex of the refined mesh
  int32_t n;
  int32_t* ends; // (n_new x 2) the edge that each new vertex halves
  int32_t n_new;
} Midpoints;

static void release_midpoints(NoliContext* context, Midpoints* midpoints) {
  noli_free(context, midpoints->of);
  noli_free(context, midpoints->ends);
}

// Numbers the midpoints after the vertices, in the order of the edges that they halve.
static NoliStatus find_midpoints(NoliContext* context, const NoliMesh* mesh, Midpoints* midpoints) {
  NoliStatus status = NOLI_OK;
  int32_t *edge = NULL, *order = NULL;
  int32_t n = midpoints->n = 6 * mesh->n_tet + 3 * mesh->n_tri + mesh->n_edge;
  NOLI_NEW(context, edge, 2 * (int64_t)n);
  NOLI_NEW(context, order, n);
  NOLI_NEW(context, midpoints->of, n);
  NOLI_NEW(context, midpoints->ends, 2 * (int64_t)n);
  noli_list_sides(mesh, edge);
  NOLI_TRY(noli_sort_tuples(context, edge, 2, n, order));
  for (int32_t i = 0; i < n; i++) {
    const int32_t* ends = edge + 2 * (int64_t)order[i];
    if (i == 0 || noli_compare_tuples(ends, edge + 2 * (int64_t)order[i - 1], 2) != 0) {
      memcpy(midpoints->ends + 2 * (int64_t)midpoints->n_new++, ends, 2 * sizeof *ends);
    }
    midpoints->of[order[i]] = mesh->n_vert + midpoints->n_new - 1;
  }
done:
  noli_free(context, edge);
  noli_free(context, order);
  return status;
}

static void place_vertices(const NoliMesh* mesh, const Midpoints* midpoints, double* x) {
  if (mesh->n_vert > 0) {
    memcpy(x, mesh->x, 3 * (size_t)mesh->n_vert * sizeof *x);
  }
  for (int64_t i = 0; i < midpoints->n_new; i++) {
    const double* a = mesh->x + 3 * (int64_t)midpoints->ends[2 * i];
    const double* b = mesh->x + 3 * (int64_t)midpoints->ends[2 * i + 1];
    for (int k = 0; k < 3; k++) {
      x[3 * ((int64_t)mesh->n_vert + i) + k] = 0.5 * a[k] + 0.5 * b[k];
    }
  }
}

// The shortest diagonal; of equal ones the first.
static int shortest_diagonal(const double* x, const int32_t middle[6]) {
  int shortest = 0;
  double least = 0.0;
  for (int d = 0; d < 3; d++) {
    NoliVec3 from = noli_load3(x + 3 * (int64_t)middle[diagonals[d].from]);
    NoliVec3 to = noli_load3(x + 3 * (int64_t)middle[diagonals[d].to]);
    double length_sqr = noli_norm_sqr3(noli_sub3(to, from));
    if (d == 0 || length_sqr < least) {
      shortest = d;
      least = length_sqr;
    }
  }
  return shortest;
}

// Cuts a tetrahedron into eight of the same orientation.
static void cut_tet(const double* x, const int32_t tet[4], const int32_t middle[6],
                    int32_t out[32]) {
  // at each corner, with the midpoints of its edges
  for (int i = 0; i < 4; i++) {
    out[5 * i] = tet[i];
  }
  for (int k = 0; k < 6; k++) {
    int32_t a = noli_tet_edge[k][0], b = noli_tet_edge[k][1];
    out[4 * a + b] = out[4 * b + a] = middle[k];
  }
  // in the octahedron
  int d = shortest_diagonal(x, middle);
  for (int k = 0; k < 4; k++) {
    int32_t* child = out + 16 + 4 * k;
    child[0] = middle[diagonals[d].from];
    child[1] = middle[diagonals[d].to];
    child[2] = middle[diagonals[d].ring[k]];
    child[3] = middle[diagonals[d].ring[(k + 1) % 4]];
  }
}

static void cut_cells(const NoliMesh* mesh, const Midpoints* midpoints, NoliMesh* fine) {
  const int32_t* middle = midpoints->of;
  for (int64_t t = 0; t < mesh->n_tet; t++, middle += 6) {
    cut_tet(fine->x, mesh->tet + 4 * t, middle, fine->tet + 32 * t);
  }
  for (int64_t t = 0; t < mesh->n_tri; t++, middle += 3) {
    const int32_t* v = mesh->tri + 3 * t;
    const int32_t children[12] = {v[0],      middle[0], middle[2], middle[0], v[1],      middle[1],
                                  middle[2], middle[1], v[2],      middle[0], middle[1], middle[2]};
    memcpy(fine->tri + 12 * t, children, sizeof children);
  }
  for (int64_t t = 0; t < mesh->n_edge; t++, middle++) {
    const int32_t children[4] = {mesh->edge[2 * t], *middle, *middle, mesh->edge[2 * t + 1]};
    memcpy(fine->edge + 4 * t, children, sizeof children);
  }
  if (mesh->n_point > 0) {
    memcpy(fine->point, mesh->point, (size_t)mesh->n_point * sizeof *fine->point);
  }
}

// Children have the tags of their parents, 0 without tags.
static void repeat_tags(const int32_t* tag, int64_t n, int64_t n_children, int32_t* out) {
  for (int64_t i = 0; i < n * n_children; i++) {
    out[i] = tag != NULL ? tag[i / n_children] : 0;
  }
}

static NoliStatus refine_once(NoliContext* context, const NoliMesh* mesh, NoliMesh** fine) {
  NoliStatus status = NOLI_OK;
  Midpoints midpoints = {0};
  bool tags = mesh->tet_tag != NULL || mesh->tri_tag != NULL;
  NOLI_TRY(find_midpoints(context, mesh, &midpoints));
  NOLI_TRY(noli_mesh_create(context, mesh->n_vert + midpoints.n_new, 8 * mesh->n_tet,
                            4 * mesh->n_tri, 2 * mesh->n_edge, mesh->n_point, tags, fine));
  place_vertices(mesh, &midpoints, (*fine)->x);
  cut_cells(mesh, &midpoints, *fine);
  if (tags) {
    repeat_tags(mesh->tet_tag, mesh->n_tet, 8, (*fine)->tet_tag);
    repeat_tags(mesh->tri_tag, mesh->n_tri, 4, (*fine)->tri_tag);
  }
done:
  release_midpoints(context, &midpoints);
  return status;
}

NoliStatus noli_mesh_refine(NoliContext* context, NoliMesh* mesh, int32_t times) {
  NOLI_REQUIRE(context, context != NULL && mesh != NULL);
  NoliStatus status = NOLI_OK;
  NoliMesh *fine = NULL, *finer = NULL;
  NOLI_CHECK(context, times >= 0, NOLI_ERROR_ARGUMENT, "a mesh cannot be refined %d times",
             (int)times);
  NOLI_CHECK(context, times == 0 || mesh->order <= 1, NOLI_ERROR_ARGUMENT,
             "curved meshes cannot be refined: refine first, then raise the order");
  double n_cells = mesh->n_tet * pow(8.0, times) + mesh->n_tri * pow(4.0, times) +
                   mesh->n_edge * pow(2.0, times);

  // every cell has up to six edges
  NOLI_CHECK(context, times == 0 || n_cells < INT32_MAX / 8, NOLI_ERROR_TOO_LARGE,
             "refinement would make %.0f cells", n_cells);
  NOLI_TRY(noli_mesh_validate(context, mesh));
  for (int32_t i = 0; i < times; i++) {
    NOLI_TRY(refine_once(context, fine != NULL ? fine : mesh, &finer));
    noli_mesh_destroy(context, &fine);
    fine = finer;
    finer = NULL;
  }

  if (fine != NULL) {
    NOLI_VALIDATE(context, noli_mesh_defect(fine));
  }
  if (fine != NULL) {
    NoliMesh old = *mesh;
    *mesh = *fine;
    *fine = old;
  }
done:
  noli_mesh_destroy(context, &fine);
  noli_mesh_destroy(context, &finer);
  return status;
}
