#include "sim/traction.h"

#include "math/vec3.h"

#include <stdlib.h>
#include <string.h>

// A face of a tetrahedron. Its corners in ascending order identify its twin.
typedef struct Face {
  int32_t key[3];
  int32_t cell; // of the body
  int32_t side; // opposite to this corner
} Face;

static int compare_faces(const void* a, const void* b) {
  return memcmp(((const Face*)a)->key, ((const Face*)b)->key, sizeof((const Face*)a)->key);
}

static int compare_numbers(const void* a, const void* b) {
  int32_t p = *(const int32_t*)a, q = *(const int32_t*)b;
  return (p > q) - (p < q);
}

static Face make_face(const int32_t* corner, int32_t cell, int32_t side) {
  Face face = {.cell = cell, .side = side};
  int32_t count = 0;
  for (int32_t k = 0; k < 4; k++) {
    if (k != side) {
      face.key[count++] = corner[k];
    }
  }
  qsort(face.key, 3, sizeof *face.key, compare_numbers);
  return face;
}

// Writes the faces that belong to only one tetrahedron to `face`, which has space for all faces;
// returns their number.
static int64_t find_boundary(const NoliModel* model, int32_t body, Face* face) {
  int64_t n = 0, n_kept = 0;
  for (int32_t t = model->tet_first[body]; t < model->tet_first[body + 1]; t++) {
    for (int32_t side = 0; side < 4; side++) {
      face[n++] = make_face(model->tet + 4 * (int64_t)t, t - model->tet_first[body], side);
    }
  }
  qsort(face, (size_t)n, sizeof *face, compare_faces);
  for (int64_t i = 0; i < n;) {
    int64_t end = i + 1;
    while (end < n && compare_faces(&face[i], &face[end]) == 0) {
      end++;
    }
    if (end == i + 1) {
      face[n_kept++] = face[i];
    }
    i = end;
  }
  return n_kept;
}

// Weight of a node of a triangle of order p: the closed Newton-Cotes rules, which integrate
// polynomials of this order. `lattice`: its barycentric coordinates times p.
static double node_weight(int32_t order, const int32_t lattice[3]) {
  int32_t largest = 0, least = order;
  for (int k = 0; k < 3; k++) {
    largest = lattice[k] > largest ? lattice[k] : largest;
    least = lattice[k] < least ? lattice[k] : least;
  }
  switch (order) {
  case 1:
    return 1.0 / 3.0;
  case 2:
    return largest == 2 ? 0.0 : 1.0 / 3.0;
  case 3:
    return largest == 3 ? 1.0 / 30.0 : largest == 2 ? 3.0 / 40.0 : 9.0 / 20.0;
  default:
    return largest == 4 ? 0.0 : largest == 3 ? 4.0 / 45.0 : least == 0 ? -1.0 / 45.0 : 8.0 / 45.0;
  }
}

typedef struct FaceNode {
  int32_t node; // of the scene
  double area;  // m^2
} FaceNode;

// Nodes of a face of a tetrahedron of order p, with their areas on the curved face.
static int32_t curved_nodes(const NoliBlock* block, int32_t element, int32_t side,
                            FaceNode node[NOLI_TRI_NODES_MAX]) {
  static const double corner[4][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  const NoliSpace* space = block->space;
  int32_t lattice[NOLI_TET_NODES_MAX][4], n = 0, at = 0, on[3];
  for (int32_t k = 0; k < 4; k++) {
    if (k != side) {
      on[at++] = k;
    }
  }
  noli_tet_lattice(space->order, lattice);
  for (int32_t i = 0; i < space->n_local; i++) {
    if (lattice[i][side] != 0) {
      continue;
    }
    int32_t own[3] = {lattice[i][on[0]], lattice[i][on[1]], lattice[i][on[2]]};
    double xi[3];
    for (int k = 0; k < 3; k++) {
      xi[k] = (double)lattice[i][k + 1] / space->order;
    }
    NoliMat3 dX = noli_space_dxdxi(space, element, xi);
    NoliVec3 from = noli_load3(corner[on[0]]);
    NoliVec3 u = noli_mul33_vec(&dX, noli_sub3(noli_load3(corner[on[1]]), from));
    NoliVec3 v = noli_mul33_vec(&dX, noli_sub3(noli_load3(corner[on[2]]), from));
    node[n].node = block->first_node + space->node[space->n_local * (int64_t)element + i];
    node[n++].area = 0.5 * noli_norm3(noli_cross3(u, v)) * node_weight(space->order, own);
  }
  return n;
}

// Adds a face all of whose nodes are selected; returns its area.
static double add_face(int32_t n, const FaceNode* node, const bool* selected, double* share) {
  double area = 0.0;
  for (int32_t k = 0; k < n; k++) {
    if (!selected[node[k].node]) {
      return 0.0;
    }
  }
  for (int32_t k = 0; k < n; k++) {
    share[node[k].node] += node[k].area;
    area += node[k].area;
  }
  return area;
}

NoliStatus noli_traction_shares(NoliModel* model, int32_t index) {
  NoliStatus status = NOLI_OK;
  NoliContext* context = model->context;
  NoliForce* force = &model->force[index];
  const char* where = force->def.where;
  int32_t body = force->def.body, n_cell = model->tet_first[body + 1] - model->tet_first[body];
  const NoliBlock* block = noli_problem_block(&model->problem, body);
  Face* face = NULL;
  bool* selected = NULL;
  double *share = NULL, total = 0.0;

  // the faces
  NOLI_NEW_ZERO(context, selected, model->problem.n_vert);
  NOLI_NEW_ZERO(context, share, model->problem.n_vert);
  NOLI_NEW(context, face, 4 * (int64_t)n_cell);
  for (int32_t i = 0; i < force->n_node; i++) {
    selected[force->node[i]] = true;
  }
  int64_t n_face = find_boundary(model, body, face);
  for (int64_t i = 0; i < n_face; i++) {
    FaceNode node[NOLI_TRI_NODES_MAX];
    int32_t n = curved_nodes(block, face[i].cell, face[i].side, node);
    total += add_face(n, node, selected, share);
  }
  NOLI_CHECK(
      context, total > 0.0, NOLI_ERROR_ARGUMENT,
      "%s%sforce %d, a traction: body \"%s\" has no face with all its nodes among those given",
      where != NULL ? where : "", where != NULL ? ": " : "", (int)index, model->name[body]);

  // their nodes
  NOLI_NEW(context, force->share, force->n_node);
  for (int32_t i = 0; i < force->n_node; i++) {
    force->share[i] = share[force->node[i]];
  }
done:
  noli_free(context, face);
  noli_free(context, selected);
  noli_free(context, share);
  return status;
}
