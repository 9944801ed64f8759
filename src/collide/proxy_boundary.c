// The boundary of a body, cut into small flat triangles.
#include "collide/proxy_build.h"
#include "mesh/topology.h"

#include <string.h>

enum { SUBDIVISION_MAX = 1000 };

// A face of the boundary.
typedef struct Faces {
  int32_t n;
  int32_t* tet;    // (n)
  int32_t* corner; // (n) the corner opposite to it
  int32_t* vertex; // (n x 3) looking outward
} Faces;

static void faces_free(NoliContext* context, Faces* faces) {
  noli_free(context, faces->tet);
  noli_free(context, faces->corner);
  noli_free(context, faces->vertex);
}

static NoliStatus find_faces(NoliContext* context, const NoliSpace* space, Faces* faces) {
  NoliStatus status = NOLI_OK;
  uint8_t* boundary = NULL;
  *faces = (Faces){0};
  NOLI_NEW(context, boundary, 4 * (int64_t)space->n_tet);
  NOLI_TRY(noli_tet_boundary(context, space->n_tet, space->node, space->n_local, boundary));
  int64_t n = 0;
  for (int64_t k = 0; k < 4 * (int64_t)space->n_tet; k++) {
    n += boundary[k];
  }
  NOLI_NEW(context, faces->tet, n);
  NOLI_NEW(context, faces->corner, n);
  NOLI_NEW(context, faces->vertex, 3 * n);

  for (int64_t k = 0; k < 4 * (int64_t)space->n_tet; k++) {
    if (boundary[k]) {
      for (int i = 0; i < 3; i++) {
        faces->vertex[3 * (int64_t)faces->n + i] =
            space->node[k / 4 * space->n_local + noli_tet_face[k % 4][i]];
      }
      faces->tet[faces->n] = (int32_t)(k / 4);
      faces->corner[faces->n++] = (int32_t)(k % 4);
    }
  }
done:
  noli_free(context, boundary);
  return status;
}

NoliStatus noli_proxy_subdivision(NoliContext* context, const NoliSpace* space, double length,
                                  int32_t* subdivision) {
  NoliStatus status = NOLI_OK;
  Faces faces = {0};
  double longest = 0.0;
  NOLI_CHECK(context, length > 0.0 && isfinite(length), NOLI_ERROR_ARGUMENT,
             "the edge length of a proxy must be positive and finite, got %g", length);
  NOLI_TRY(find_faces(context, space, &faces));
  for (int64_t k = 0; k < 3 * (int64_t)faces.n; k++) {
    NoliVec3 a = noli_load3(space->X + 3 * (int64_t)faces.vertex[k]);
    NoliVec3 b = noli_load3(space->X + 3 * (int64_t)faces.vertex[k % 3 == 2 ? k - 2 : k + 1]);
    longest = fmax(longest, noli_norm3(noli_sub3(a, b)));
  }
  double n = ceil(longest / length * (1.0 - 1e-12));
  NOLI_CHECK(context, n <= SUBDIVISION_MAX, NOLI_ERROR_ARGUMENT,
             "edges of %g m cut a boundary with edges of %g m into more than %d pieces", length,
             longest, SUBDIVISION_MAX);
  *subdivision = n > 1.0 ? (int32_t)n : 1;
done:
  faces_free(context, &faces);
  return status;
}

// How the vertices of the proxy are numbered: corners, then inner points of edges, then of faces.
typedef struct Numbers {
  int32_t subdivision;
  int32_t* corner;  // (n_vert of the space) number of each vertex on the boundary
  int32_t* edge;    // (n_face x 3) number of edge i, from corner i to the next
  int64_t on_edges; // first numbers
  int64_t on_faces;
  int64_t n_vert;
} Numbers;

static NoliStatus number_edges(NoliContext* context, const Faces* faces, Numbers* numbers,
                               int64_t* n_edge) {
  NoliStatus status = NOLI_OK;
  int32_t *pair = NULL, *order = NULL;
  int64_t n = 3 * (int64_t)faces->n;
  NOLI_CHECK(context, n <= INT32_MAX, NOLI_ERROR_TOO_LARGE, "too many edges: %lld", (long long)n);
  NOLI_NEW(context, pair, 2 * n);
  NOLI_NEW(context, order, n);
  NOLI_NEW(context, numbers->edge, n);
  for (int64_t k = 0; k < n; k++) {
    const int32_t side[2] = {faces->vertex[k], faces->vertex[k % 3 == 2 ? k - 2 : k + 1]};
    noli_ascending_tuples(side, 2, 1, pair + 2 * k);
  }
  NOLI_TRY(noli_sort_tuples(context, pair, 2, (int32_t)n, order));
  int32_t count = 0;
  for (int64_t k = 0; k < n; k++) {
    if (k == 0 || noli_compare_tuples(pair + 2 * (int64_t)order[k - 1],
                                      pair + 2 * (int64_t)order[k], 2) != 0) {
      count++;
    }
    numbers->edge[order[k]] = count - 1;
  }

  *n_edge = count;
done:
  noli_free(context, pair);
  noli_free(context, order);
  return status;
}

static NoliStatus number_vertices(NoliContext* context, const NoliSpace* space, const Faces* faces,
                                  Numbers* numbers) {
  NoliStatus status = NOLI_OK;
  int64_t n_edge = 0, m = numbers->subdivision, n_corner = 0;
  NOLI_NEW(context, numbers->corner, space->n_vert);
  memset(numbers->corner, 0xff, (size_t)space->n_vert * sizeof *numbers->corner);
  for (int64_t k = 0; k < 3 * (int64_t)faces->n; k++) {
    numbers->corner[faces->vertex[k]] = 0;
  }
  for (int32_t v = 0; v < space->n_vert; v++) {
    numbers->corner[v] = numbers->corner[v] == 0 ? (int32_t)n_corner++ : NOLI_NULL_INDEX;
  }
  NOLI_TRY(number_edges(context, faces, numbers, &n_edge));
  numbers->on_edges = n_corner;
  numbers->on_faces = n_corner + n_edge * (m - 1);
  numbers->n_vert = numbers->on_faces + faces->n * ((m - 1) * (m - 2) / 2);
  NOLI_CHECK(context, numbers->n_vert <= INT32_MAX && faces->n * m * m <= INT32_MAX / 3,
             NOLI_ERROR_TOO_LARGE,
             "a boundary of %d faces cut into %d pieces a side exceeds the index range", faces->n,
             numbers->subdivision);
done:
  return status;
}

// The number of the point with the barycentric coordinates i / subdivision of a face.
static int32_t proxy_boundary_number_of(const Numbers* numbers, const Faces* faces, int64_t face,
                                        const int32_t i[3]) {
  int32_t m = numbers->subdivision;
  const int32_t* vertex = faces->vertex + 3 * face;
  for (int k = 0; k < 3; k++) {
    int next = (k + 1) % 3, after = (k + 2) % 3;
    if (i[k] == m) {
      return numbers->corner[vertex[k]];
    }
    if (i[after] == 0 && i[k] > 0 && i[next] > 0) {
      // counted from the lower vertex
      int32_t step = vertex[k] < vertex[next] ? i[next] : i[k];
      return (int32_t)(numbers->on_edges + (int64_t)numbers->edge[3 * face + k] * (m - 1) + step -
                       1);
    }
  }
  // rows of inner points with i[2] = 1, 2, ...: m - 2, m - 3, ... of them
  int64_t before = (int64_t)(i[2] - 1) * (m - 1) - (int64_t)i[2] * (i[2] - 1) / 2;
  return (int32_t)(numbers->on_faces + face * ((int64_t)(m - 1) * (m - 2) / 2) + before + i[1] - 1);
}

// Where the point lies in its tetrahedron.
static void proxy_boundary_place_of(const Faces* faces, int64_t face, const int32_t i[3], int32_t m,
                                    double xi[3]) {
  double lambda[4] = {0.0};
  for (int k = 0; k < 3; k++) {
    lambda[noli_tet_face[faces->corner[face]][k]] = (double)i[k] / m;
  }
  memcpy(xi, lambda + 1, 3 * sizeof *xi);
}

// Cuts a face: m (m + 1) / 2 triangles that point its way, and m (m - 1) / 2 between them.
static void cut_face(const Numbers* numbers, const Faces* faces, int64_t face, int32_t* tri) {
  int32_t m = numbers->subdivision;
  for (int32_t c = 0; c < m; c++) {
    for (int32_t b = 0; b < m - c; b++) {
      int32_t a = m - 1 - b - c;
      const int32_t up[3][3] = {{a + 1, b, c}, {a, b + 1, c}, {a, b, c + 1}};
      for (int k = 0; k < 3; k++) {
        *tri++ = proxy_boundary_number_of(numbers, faces, face, up[k]);
      }
      if (a > 0) {
        const int32_t down[3][3] = {{a, b + 1, c}, {a - 1, b + 1, c + 1}, {a, b, c + 1}};
        for (int k = 0; k < 3; k++) {
          *tri++ = proxy_boundary_number_of(numbers, faces, face, down[k]);
        }
      }
    }
  }
}

// Stores a face and a place for every vertex of the proxy.
typedef struct Owner {
  int32_t face;
  int32_t i[3];
} Owner;

static void find_owners(const Numbers* numbers, const Faces* faces, Owner* owner) {
  int32_t m = numbers->subdivision;
  for (int32_t face = faces->n - 1; face >= 0; face--) {
    for (int32_t c = 0; c <= m; c++) {
      for (int32_t b = 0; b <= m - c; b++) {
        const int32_t i[3] = {m - b - c, b, c};
        owner[proxy_boundary_number_of(numbers, faces, face, i)] =
            (Owner){face, {i[0], i[1], i[2]}};
      }
    }
  }
}

NoliStatus noli_proxy_from_boundary(NoliContext* context, const NoliSpace* space,
                                    int32_t subdivision, NoliProxy* proxy) {
  NoliStatus status = NOLI_OK;
  Faces faces = {0};
  Numbers numbers = {.subdivision = subdivision};
  Owner* owner = NULL;
  *proxy = (NoliProxy){0};
  NOLI_CHECK(context, subdivision >= 1 && subdivision <= SUBDIVISION_MAX, NOLI_ERROR_ARGUMENT,
             "faces can be cut into 1 to %d pieces a side, got %d", SUBDIVISION_MAX, subdivision);

  // faces of the boundary, and how vertices are numbered on them
  NOLI_TRY(find_faces(context, space, &faces));
  NOLI_TRY(number_vertices(context, space, &faces, &numbers));
  int32_t n_cut = subdivision * subdivision;
  NOLI_TRY(noli_proxy_begin(context, space, (int32_t)numbers.n_vert, faces.n * n_cut, proxy));
  NOLI_NEW(context, owner, numbers.n_vert);
  find_owners(&numbers, &faces, owner);

  // triangles
  for (int64_t face = 0; face < faces.n; face++) {
    cut_face(&numbers, &faces, face, proxy->tri + 3 * face * n_cut);
  }

  // vertices and their rows
  for (int32_t v = 0; v < proxy->n_vert; v++) {
    double xi[3];
    int64_t tet = faces.tet[owner[v].face];
    proxy_boundary_place_of(&faces, owner[v].face, owner[v].i, subdivision, xi);
    noli_store3(proxy->X + 3 * (int64_t)v, noli_space_position(space, tet, xi));
    noli_proxy_set_row(space, tet, xi, v, proxy);
    // on a node its own position, to the bit
    if (proxy->row[v + 1] - proxy->row[v] == 1) {
      int64_t node = proxy->node[proxy->row[v]];
      memcpy(proxy->X + 3 * (int64_t)v, space->X + 3 * node, 3 * sizeof *space->X);
    }
  }
done:
  faces_free(context, &faces);
  noli_free(context, numbers.corner);
  noli_free(context, numbers.edge);
  noli_free(context, owner);
  if (status != NOLI_OK) {
    noli_proxy_destroy(context, proxy);
  }
  return status;
}
