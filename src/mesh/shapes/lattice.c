#include "mesh/shapes/lattice.h"

#include "math/lagrange.h"
#include "mesh/topology.h"

#include <string.h>

// Numbers the distinct ones of n tuples in ascending order: id (n) of each.
static NoliStatus number_tuples(NoliContext* context, const int32_t* tuple, int32_t width,
                                int64_t n, int32_t* id, int32_t* n_distinct) {
  NoliStatus status = NOLI_OK;
  int32_t* order = NULL;
  NOLI_CHECK(context, n <= INT32_MAX, NOLI_ERROR_TOO_LARGE,
             "the tetrahedra have too many edges or faces for a 32-bit index");
  NOLI_NEW(context, order, n);
  NOLI_TRY(noli_sort_tuples(context, tuple, width, (int32_t)n, order));
  int32_t count = 0;
  for (int64_t k = 0; k < n; k++) {
    if (k == 0 || noli_compare_tuples(tuple + (int64_t)order[k - 1] * width,
                                      tuple + (int64_t)order[k] * width, width) != 0) {
      count++;
    }
    id[order[k]] = count - 1;
  }
  *n_distinct = count;
done:
  noli_free(context, order);
  return status;
}

// Numbers the edges or faces of all tetrahedra: id (n_tet x n_side).
static NoliStatus number_sides(NoliContext* context, int32_t n_tet, const int32_t* tet,
                               const int32_t* corner, int32_t n_side, int32_t width, int32_t** id,
                               int32_t* n_distinct) {
  NoliStatus status = NOLI_OK;
  int32_t* tuple = NULL;
  int64_t n = (int64_t)n_tet * n_side;
  NOLI_NEW(context, tuple, n * width);
  NOLI_NEW(context, *id, n);
  for (int64_t k = 0; k < n; k++) {
    int32_t side[3];
    for (int32_t i = 0; i < width; i++) {
      side[i] = tet[4 * (k / n_side) + corner[(k % n_side) * width + i]];
    }
    noli_ascending_tuples(side, width, 1, tuple + k * width);
  }
  NOLI_TRY(number_tuples(context, tuple, width, n, *id, n_distinct));
done:
  noli_free(context, tuple);
  return status;
}

// The number of the inner node of a face with the given coordinates, if the vertices of the face
// are in ascending order.
static int32_t place_on_face(int32_t order, const int32_t vertex[3], const int32_t coordinate[3]) {
  int32_t inner[NOLI_TRI_NODES_MAX][3], ascending[3];
  for (int i = 0; i < 3; i++) {
    int rank = 0;
    for (int j = 0; j < 3; j++) {
      rank += vertex[j] < vertex[i];
    }
    ascending[rank] = coordinate[i] - 1;
  }
  noli_tri_lattice(order - 3, inner);
  int32_t place = 0;
  while (memcmp(inner[place], ascending, sizeof ascending) != 0) {
    place++;
  }
  return place;
}

// The first node of each kind, and the numbers of edges and faces.
typedef struct Numbering {
  const int32_t* edge; // (n_tet x 6)
  const int32_t* face; // (n_tet x 4)
  int64_t first_on_edge;
  int64_t first_on_face;
  int64_t first_inside;
} Numbering;

static void lattice_number_nodes(const NoliLattice* lattice, const int32_t* tet, int64_t t,
                                 const Numbering* numbering) {
  int32_t p = lattice->order, local[NOLI_TET_NODES_MAX][4];
  int32_t n_on_edge = p - 1, n_on_face = (p - 1) * (p - 2) / 2;
  int32_t n_inside = (p - 1) * (p - 2) * (p - 3) / 6;
  int32_t* node = lattice->node + t * lattice->n_local;
  const int32_t* vertex = tet + 4 * t;
  noli_tet_lattice(p, local);
  memcpy(node, vertex, 4 * sizeof *node);
  int32_t a = 4;

  // edges, in either direction
  for (int e = 0; e < 6 && n_on_edge > 0; e++) {
    bool forward = vertex[noli_lagrange_edge[e][0]] < vertex[noli_lagrange_edge[e][1]];
    int64_t first = numbering->first_on_edge + (int64_t)numbering->edge[6 * t + e] * n_on_edge;
    for (int32_t j = 0; j < n_on_edge; j++) {
      node[a++] = (int32_t)(first + (forward ? j : n_on_edge - 1 - j));
    }
  }

  // faces, in any orientation
  for (int f = 0; f < 4 && n_on_face > 0; f++) {
    int64_t first = numbering->first_on_face + (int64_t)numbering->face[4 * t + f] * n_on_face;
    for (int32_t j = 0; j < n_on_face; j++, a++) {
      int32_t corner[3], coordinate[3];
      for (int i = 0; i < 3; i++) {
        corner[i] = vertex[noli_lagrange_face[f][i]];
        coordinate[i] = local[a][noli_lagrange_face[f][i]];
      }
      node[a] = (int32_t)(first + place_on_face(p, corner, coordinate));
    }
  }

  // inner nodes
  for (int32_t j = 0; j < n_inside; j++) {
    node[a++] = (int32_t)(numbering->first_inside + t * n_inside + j);
  }
}

NoliStatus noli_lattice_create(NoliContext* context, int32_t n_vert, int32_t n_tet,
                               const int32_t* tet, int32_t order, NoliLattice* lattice) {
  NoliStatus status = NOLI_OK;
  int32_t *edge = NULL, *face = NULL, n_edge = 0, n_face = 0;
  *lattice = (NoliLattice){.order = order, .n_tet = n_tet, .n_vert = n_vert};
  NOLI_CHECK(context, order >= 1 && order <= NOLI_ORDER_MAX, NOLI_ERROR_ARGUMENT,
             "the order of elements must be 1 to %d, got %d", NOLI_ORDER_MAX, order);
  lattice->n_local = noli_tet_nodes(order);

  // edges and faces that carry nodes
  if (order > 1) {
    NOLI_TRY(number_sides(context, n_tet, tet, &noli_lagrange_edge[0][0], 6, 2, &edge, &n_edge));
  }
  if (order > 2) {
    NOLI_TRY(number_sides(context, n_tet, tet, &noli_lagrange_face[0][0], 4, 3, &face, &n_face));
  }

  // the first node of each kind
  Numbering numbering = {.edge = edge, .face = face, .first_on_edge = n_vert};
  int64_t p = order;
  numbering.first_on_face = numbering.first_on_edge + n_edge * (p - 1);
  numbering.first_inside = numbering.first_on_face + n_face * ((p - 1) * (p - 2) / 2);
  int64_t n_node = numbering.first_inside + n_tet * ((p - 1) * (p - 2) * (p - 3) / 6);
  NOLI_CHECK(context, n_node <= INT32_MAX, NOLI_ERROR_TOO_LARGE,
             "%lld nodes of order %d are too many for a 32-bit index", (long long)n_node, order);
  lattice->n_node = (int32_t)n_node;

  // the nodes of each tetrahedron
  NOLI_NEW(context, lattice->node, (int64_t)n_tet * lattice->n_local);
  for (int64_t t = 0; t < n_tet; t++) {
    lattice_number_nodes(lattice, tet, t, &numbering);
  }
done:
  noli_free(context, edge);
  noli_free(context, face);
  if (status != NOLI_OK) {
    noli_lattice_destroy(context, lattice);
  }
  return status;
}

void noli_lattice_destroy(NoliContext* context, NoliLattice* lattice) {
  noli_free(context, lattice->node);
  *lattice = (NoliLattice){0};
}
