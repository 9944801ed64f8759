// Shapes of triangles for shells: tubes, balls, rings, disks of rings, a Moebius strip; and chain
// mail, of segments or tetrahedra.
#include "math/vec3.h"
#include "mesh/grid.h"

#include <math.h>

#define PI NOLI_GRID_PI

// Room for n_vert vertices and n_tri triangles, if an index can count them.
static NoliStatus thin_shapes_make_room(NoliContext* context, const char* shape, double n_vert,
                                        double n_tri, NoliMesh** mesh) {
  NoliStatus status = NOLI_OK;
  NOLI_CHECK(context, 3.0 * n_vert <= INT32_MAX && 3.0 * n_tri <= INT32_MAX, NOLI_ERROR_TOO_LARGE,
             "%s: %.0f triangles exceed the index range", shape, n_tri);
  NOLI_TRY(noli_mesh_create(context, (int32_t)n_vert, 0, (int32_t)n_tri, 0, 0, false, mesh));
done:
  return status;
}

static int32_t* thin_shapes_put(int32_t* tri, int32_t a, int32_t b, int32_t c) {
  tri[0] = a;
  tri[1] = b;
  tri[2] = c;
  return tri + 3;
}

static void thin_shapes_place(NoliMesh* mesh, int32_t v, double x, double y, double z) {
  noli_store3(mesh->x + 3 * (int64_t)v, noli_vec3(x, y, z));
}

// ---- tubes and rings ----------------------------------------------------------------------------

NoliStatus noli_mesh_make_tube(NoliContext* context, double radius, double height,
                               int32_t cells_around, int32_t cells_along, NoliMesh** mesh) {
  NOLI_REQUIRE(context, context != NULL && mesh != NULL);
  NoliStatus status = NOLI_OK;
  *mesh = NULL;
  NOLI_TRY(noli_grid_check_length(context, "tube", "radius", radius));
  NOLI_TRY(noli_grid_check_length(context, "tube", "height", height));
  NOLI_CHECK(context, cells_around >= 3 && cells_along >= 1, NOLI_ERROR_ARGUMENT,
             "tube: needs at least 3 cells around and 1 along, got %d and %d", cells_around,
             cells_along);
  int32_t n = cells_around;
  NOLI_TRY(thin_shapes_make_room(context, "tube", (double)n * (cells_along + 1.0),
                                 2.0 * n * cells_along, mesh));

  // rows of triangles that are shifted by half a cell from one to the next
  int32_t* tri = (*mesh)->tri;
  for (int32_t j = 0; j <= cells_along; j++) {
    for (int32_t i = 0; i < n; i++) {
      double angle = 2.0 * PI * (i + 0.5 * (j % 2)) / n;
      thin_shapes_place(*mesh, j * n + i, radius * cos(angle),
                        height * ((double)j / cells_along - 0.5), radius * sin(angle));
    }
  }
  for (int32_t j = 0; j < cells_along; j++) {
    for (int32_t i = 0; i < n; i++) {
      int32_t k = (i + 1) % n, low = j * n, high = low + n;
      if (j % 2 == 0) {
        tri = thin_shapes_put(tri, low + i, high + i, low + k);
        tri = thin_shapes_put(tri, high + i, high + k, low + k);
      } else {
        tri = thin_shapes_put(tri, low + i, high + i, high + k);
        tri = thin_shapes_put(tri, low + i, high + k, low + k);
      }
    }
  }
done:
  return status;
}

NoliStatus noli_mesh_make_torus_shell(NoliContext* context, double ring_radius, double tube_radius,
                                      int32_t cells_around, int32_t cells_across, NoliMesh** mesh) {
  NOLI_REQUIRE(context, context != NULL && mesh != NULL);
  NoliStatus status = NOLI_OK;
  *mesh = NULL;
  NOLI_TRY(noli_grid_check_length(context, "torus_shell", "tube_radius", tube_radius));
  NOLI_TRY(noli_grid_check_length(context, "torus_shell", "ring_radius", ring_radius));
  NOLI_CHECK(context, tube_radius < ring_radius, NOLI_ERROR_ARGUMENT,
             "torus_shell: tube_radius must be smaller than ring_radius, got %g and %g",
             tube_radius, ring_radius);
  NOLI_CHECK(context, cells_around >= 3 && cells_across >= 3, NOLI_ERROR_ARGUMENT,
             "torus_shell: needs at least 3 cells around and across, got %d and %d", cells_around,
             cells_across);
  int32_t n = cells_around, m = cells_across;
  NOLI_TRY(thin_shapes_make_room(context, "torus_shell", (double)n * m, 2.0 * n * m, mesh));

  // diagonals alternate where they can
  int32_t* tri = (*mesh)->tri;
  bool alternate = n % 2 == 0 && m % 2 == 0;
  for (int32_t i = 0; i < n; i++) {
    for (int32_t j = 0; j < m; j++) {
      double around = 2.0 * PI * i / n, across = 2.0 * PI * j / m;
      double from_axis = ring_radius + tube_radius * cos(across);
      thin_shapes_place(*mesh, i * m + j, from_axis * cos(around), tube_radius * sin(across),
                        from_axis * sin(around));
      int32_t next_i = (i + 1) % n, next_j = (j + 1) % m;
      int32_t a = i * m + j, b = next_i * m + j, c = next_i * m + next_j, d = i * m + next_j;
      if (alternate && (i + j) % 2 == 1) {
        tri = thin_shapes_put(tri, a, d, b);
        tri = thin_shapes_put(tri, b, d, c);
      } else {
        tri = thin_shapes_put(tri, a, c, b);
        tri = thin_shapes_put(tri, a, d, c);
      }
    }
  }
done:
  return status;
}

NoliStatus noli_mesh_make_moebius(NoliContext* context, double radius, double width,
                                  int32_t cells_around, int32_t cells_across, NoliMesh** mesh) {
  NOLI_REQUIRE(context, context != NULL && mesh != NULL);
  NoliStatus status = NOLI_OK;
  *mesh = NULL;
  NOLI_TRY(noli_grid_check_length(context, "moebius", "radius", radius));
  NOLI_TRY(noli_grid_check_length(context, "moebius", "width", width));
  NOLI_CHECK(context, width < 2.0 * radius, NOLI_ERROR_ARGUMENT,
             "moebius: the width must be smaller than the diameter, got %g and %g", width,
             2.0 * radius);
  NOLI_CHECK(context, cells_around >= 6 && cells_across >= 1, NOLI_ERROR_ARGUMENT,
             "moebius: needs at least 6 cells around and 1 across, got %d and %d", cells_around,
             cells_across);
  int32_t n = cells_around, m = cells_across;
  NOLI_TRY(thin_shapes_make_room(context, "moebius", (double)n * (m + 1.0), 2.0 * n * m, mesh));

  // after one turn the strip is upside down
  int32_t* tri = (*mesh)->tri;
  for (int32_t i = 0; i < n; i++) {
    double turn = 2.0 * PI * i / n;
    for (int32_t j = 0; j <= m; j++) {
      double s = width * ((double)j / m - 0.5), from_axis = radius + s * cos(0.5 * turn);
      thin_shapes_place(*mesh, i * (m + 1) + j, from_axis * cos(turn), s * sin(0.5 * turn),
                        from_axis * sin(turn));
    }
    for (int32_t j = 0; j < m; j++) {
      bool last = i == n - 1;
      int32_t a = i * (m + 1) + j, d = a + 1;
      int32_t b = last ? m - j : a + m + 1, c = last ? m - j - 1 : a + m + 2;
      bool along_ac = (i + j) % 2 == 0;
      tri = along_ac ? thin_shapes_put(tri, a, c, b) : thin_shapes_put(tri, a, d, b);
      tri = along_ac ? thin_shapes_put(tri, a, d, c) : thin_shapes_put(tri, b, d, c);
    }
  }
done:
  return status;
}

NoliStatus noli_mesh_make_ring_disk(NoliContext* context, double radius, int32_t rings,
                                    NoliMesh** mesh) {
  NOLI_REQUIRE(context, context != NULL && mesh != NULL);
  NoliStatus status = NOLI_OK;
  *mesh = NULL;
  NOLI_TRY(noli_grid_check_length(context, "disk", "radius", radius));
  NOLI_CHECK(context, rings >= 1, NOLI_ERROR_ARGUMENT, "disk: needs at least 1 ring, got %d",
             rings);
  NOLI_TRY(thin_shapes_make_room(context, "disk", 1.0 + 3.0 * rings * (rings + 1.0),
                                 6.0 * rings * rings, mesh));
  int32_t* tri = (*mesh)->tri;
  thin_shapes_place(*mesh, 0, 0.0, 0.0, 0.0);
  for (int32_t k = 1; k <= rings; k++) {
    int32_t first = 1 + 3 * k * (k - 1), inner = k > 1 ? 1 + 3 * (k - 1) * (k - 2) : 0;
    for (int32_t i = 0; i < 6 * k; i++) {
      double angle = 2.0 * PI * i / (6 * k), r = radius * k / rings;
      thin_shapes_place(*mesh, first + i, r * cos(angle), r * sin(angle), 0.0);
    }

    // six sectors: k triangles that look out, k - 1 that look in
    for (int32_t s = 0; s < 6; s++) {
      for (int32_t i = 0; i < k; i++) {
        int32_t out = first + s * k + i, next = first + (s * k + i + 1) % (6 * k);
        int32_t in = k > 1 ? inner + (s * (k - 1) + i) % (6 * (k - 1)) : 0;
        tri = thin_shapes_put(tri, in, out, next);
        if (i < k - 1) {
          tri = thin_shapes_put(tri, in, next, inner + (s * (k - 1) + i + 1) % (6 * (k - 1)));
        }
      }
    }
  }
done:
  return status;
}

// ---- the ball of an icosahedron -----------------------------------------------------------------

enum { N_CORNER = 12, N_FACE = 20, N_EDGE = 30 };

// Corners are the cyclic permutations of (0, +-1, +-golden ratio).
static const int8_t corner_sign[N_CORNER][3] = {{-1, 1, 0}, {1, 1, 0}, {-1, -1, 0}, {1, -1, 0},
                                                {0, -1, 1}, {0, 1, 1}, {0, -1, -1}, {0, 1, -1},
                                                {1, 0, -1}, {1, 0, 1}, {-1, 0, -1}, {-1, 0, 1}};
static const int32_t ico_face[N_FACE][3] = {
    {0, 11, 5},  {0, 5, 1},  {0, 1, 7},  {0, 7, 10}, {0, 10, 11}, {1, 5, 9}, {5, 11, 4},
    {11, 10, 2}, {10, 7, 6}, {7, 1, 8},  {3, 9, 4},  {3, 4, 2},   {3, 2, 6}, {3, 6, 8},
    {3, 8, 9},   {4, 9, 5},  {2, 4, 11}, {6, 2, 10}, {8, 6, 7},   {9, 8, 1}};

static NoliVec3 ico_corner(int32_t c) {
  const double golden = 0.5 * (1.0 + sqrt(5.0));
  double p[3];
  for (int32_t k = 0; k < 3; k++) {
    // of the three coordinates, the one after the zero is 1, the one before it the golden ratio
    bool after_zero = corner_sign[c][(k + 1) % 3] == 0;
    p[k] = corner_sign[c][k] * (after_zero ? golden : 1.0);
  }
  return noli_vec3(p[0], p[1], p[2]);
}

// Number of the edge between two corners, in the order in which faces name them first.
static int32_t ico_edge(int32_t edge[N_EDGE][2], int32_t* n, int32_t a, int32_t b) {
  int32_t low = a < b ? a : b, high = a < b ? b : a, e = 0;
  while (e < *n && (edge[e][0] != low || edge[e][1] != high)) {
    e++;
  }
  if (e == *n) {
    edge[e][0] = low;
    edge[e][1] = high;
    (*n)++;
  }
  return e;
}

// The vertex at i steps towards corner 1 and j towards corner 2 of a face cut into n pieces.
typedef struct Lattice {
  int32_t n;
  int32_t face;
  const int32_t* corner; // (3)
  int32_t edge[3];       // between corners k and k + 1
} Lattice;

// The k-th vertex on the way from corner a to b, on an edge numbered from its lower corner.
static int32_t on_edge(const Lattice* lattice, int32_t edge, int32_t a, int32_t b, int32_t k) {
  int32_t step = a < b ? k : lattice->n - k;
  return N_CORNER + edge * (lattice->n - 1) + step - 1;
}

static int32_t lattice_vertex(const Lattice* lattice, int32_t i, int32_t j) {
  int32_t n = lattice->n, h = n - i - j;
  const int32_t* corner = lattice->corner;
  if (h == n || i == n || j == n) {
    return corner[h == n ? 0 : i == n ? 1 : 2];
  }
  if (j == 0) {
    return on_edge(lattice, lattice->edge[0], corner[0], corner[1], i);
  }
  if (h == 0) {
    return on_edge(lattice, lattice->edge[1], corner[1], corner[2], j);
  }
  if (i == 0) {
    return on_edge(lattice, lattice->edge[2], corner[2], corner[0], h);
  }
  // rows of n - 2, n - 3, ... inner vertices
  int32_t row = (j - 1) * (n - 1) - (j - 1) * j / 2;
  return N_CORNER + N_EDGE * (n - 1) + lattice->face * ((n - 1) * (n - 2) / 2) + row + i - 1;
}

static int32_t* fill_face(const Lattice* lattice, double radius, NoliMesh* mesh, int32_t* tri) {
  int32_t n = lattice->n;
  NoliVec3 a = ico_corner(lattice->corner[0]), b = ico_corner(lattice->corner[1]);
  NoliVec3 c = ico_corner(lattice->corner[2]);
  for (int32_t j = 0; j <= n; j++) {
    for (int32_t i = 0; i + j <= n; i++) {
      NoliVec3 p = noli_scale3((double)(n - i - j), a);
      p = noli_mul_add3(noli_mul_add3(p, (double)i, b), (double)j, c);
      int32_t v = lattice_vertex(lattice, i, j);
      noli_store3(mesh->x + 3 * (int64_t)v, noli_scale3(radius / noli_norm3(p), p));
      if (i + j < n) {
        tri = thin_shapes_put(tri, v, lattice_vertex(lattice, i + 1, j),
                              lattice_vertex(lattice, i, j + 1));
      }
      if (i + j < n - 1) {
        tri = thin_shapes_put(tri, lattice_vertex(lattice, i + 1, j),
                              lattice_vertex(lattice, i + 1, j + 1),
                              lattice_vertex(lattice, i, j + 1));
      }
    }
  }
  return tri;
}

NoliStatus noli_mesh_make_icosphere(NoliContext* context, double radius, int32_t subdivision,
                                    NoliMesh** mesh) {
  NOLI_REQUIRE(context, context != NULL && mesh != NULL);
  NoliStatus status = NOLI_OK;
  int32_t edge[N_EDGE][2], n_edge = 0;
  double n = subdivision;
  *mesh = NULL;
  NOLI_TRY(noli_grid_check_length(context, "icosphere", "radius", radius));
  NOLI_CHECK(context, subdivision >= 1, NOLI_ERROR_ARGUMENT,
             "icosphere: edges are cut into at least 1 piece, got %d", subdivision);
  NOLI_TRY(thin_shapes_make_room(context, "icosphere", 10.0 * n * n + 2.0, 20.0 * n * n, mesh));
  int32_t* tri = (*mesh)->tri;
  for (int32_t f = 0; f < N_FACE; f++) {
    Lattice lattice = {.n = subdivision, .face = f, .corner = ico_face[f]};
    for (int32_t k = 0; k < 3; k++) {
      lattice.edge[k] = ico_edge(edge, &n_edge, ico_face[f][k], ico_face[f][(k + 1) % 3]);
    }
    tri = fill_face(&lattice, radius, *mesh, tri);
  }
done:
  return status;
}

// ---- chain mail ---------------------------------------------------------------------------------

// European four in one: rows of rings that lean alternately to and fro, by 45 degrees about the
// row, each row shifted by half a ring. Each ring goes through two rings of either neighbouring
// row. Distances over the radius of rings: along a row neighbours stay apart, and where two rings
// are linked each crosses the disk of the other 0.6 radii from its centre.
#define ALONG_ROW 2.4
#define BETWEEN_ROWS 0.70710678118654752440
#define LEAN 0.25

// Centre of a ring, and the direction in its plane across the row.
static void place_ring(int32_t row, int32_t column, const int32_t rings[2], double radius,
                       NoliVec3* centre, NoliVec3* across) {
  double lean = row % 2 == 0 ? PI * LEAN : -PI * LEAN;
  double x = column + 0.5 * (row % 2) - 0.5 * (rings[0] - 1) - (rings[1] > 1 ? 0.25 : 0.0);
  *centre =
      noli_vec3(ALONG_ROW * radius * x, 0.0, BETWEEN_ROWS * radius * (row - 0.5 * (rings[1] - 1)));
  *across = noli_vec3(0.0, sin(lean), cos(lean));
}

static NoliStatus check_rings(NoliContext* context, const int32_t rings[2], double radius,
                              int32_t cells_around) {
  NoliStatus status = NOLI_OK;
  NOLI_TRY(noli_grid_check_length(context, "chain_mail", "radius", radius));
  NOLI_CHECK(
      context, rings[0] >= 1 && rings[1] >= 1 && cells_around >= 6, NOLI_ERROR_ARGUMENT,
      "chain_mail: needs at least 1 ring along each axis and 6 cells around, got %d x %d and "
      "%d",
      rings[0], rings[1], cells_around);
done:
  return status;
}

NoliStatus noli_mesh_make_chain_mail(NoliContext* context, const int32_t rings[2], double radius,
                                     int32_t cells_around, NoliMesh** mesh) {
  NOLI_REQUIRE(context, context != NULL && rings != NULL && mesh != NULL);
  NoliStatus status = NOLI_OK;
  *mesh = NULL;
  NOLI_TRY(check_rings(context, rings, radius, cells_around));
  double total = (double)rings[0] * rings[1] * cells_around;
  NOLI_CHECK(context, 3.0 * total <= INT32_MAX, NOLI_ERROR_TOO_LARGE,
             "chain_mail: %.0f segments exceed the index range", total);
  int32_t n = (int32_t)total;
  NOLI_TRY(noli_mesh_create(context, n, 0, 0, n, 0, false, mesh));
  for (int32_t v = 0; v < n; v++) {
    int32_t ring = v / cells_around, i = v % cells_around;
    NoliVec3 centre, across;
    place_ring(ring / rings[0], ring % rings[0], rings, radius, &centre, &across);
    double angle = 2.0 * PI * i / cells_around;
    NoliVec3 p = noli_add3(centre, noli_vec3(radius * cos(angle), 0.0, 0.0));
    noli_store3((*mesh)->x + 3 * (int64_t)v, noli_mul_add3(p, radius * sin(angle), across));
    (*mesh)->edge[2 * (int64_t)v] = v;
    (*mesh)->edge[2 * (int64_t)v + 1] = v - i + (i + 1) % cells_around;
  }
done:
  return status;
}

NoliStatus noli_mesh_make_solid_chain_mail(NoliContext* context, const int32_t rings[2],
                                           double radius, double tube_radius, int32_t cells_around,
                                           int32_t cells_across, NoliMesh** mesh) {
  NOLI_REQUIRE(context, context != NULL && rings != NULL && mesh != NULL);
  NoliStatus status = NOLI_OK;
  NoliMesh* one = NULL;
  *mesh = NULL;
  NOLI_TRY(check_rings(context, rings, radius, cells_around));
  NOLI_CHECK(context, tube_radius <= 0.15 * radius, NOLI_ERROR_ARGUMENT,
             "chain_mail: rings touch unless tube_radius is at most 0.15 of the radius, got %g and "
             "%g",
             tube_radius, radius);
  NOLI_TRY(
      noli_mesh_make_torus(context, radius, tube_radius, cells_around, cells_across, false, &one));
  double n_ring = (double)rings[0] * rings[1];
  NOLI_CHECK(context, 4.0 * n_ring * one->n_tet <= INT32_MAX, NOLI_ERROR_TOO_LARGE,
             "chain_mail: %.0f tetrahedra exceed the index range", n_ring * one->n_tet);
  NOLI_TRY(noli_mesh_create(context, (int32_t)n_ring * one->n_vert, (int32_t)n_ring * one->n_tet, 0,
                            0, 0, false, mesh));
  for (int32_t r = 0; r < (int32_t)n_ring; r++) {
    NoliVec3 centre, across;
    place_ring(r / rings[0], r % rings[0], rings, radius, &centre, &across);

    // (x, across) become the plane of the ring, whose axis is y
    NoliVec3 axis = noli_cross3(across, noli_vec3(1.0, 0.0, 0.0));
    for (int32_t v = 0; v < one->n_vert; v++) {
      const double* p = one->x + 3 * (int64_t)v;
      NoliVec3 to = noli_add3(centre, noli_vec3(p[0], 0.0, 0.0));
      to = noli_mul_add3(noli_mul_add3(to, p[1], axis), p[2], across);
      noli_store3((*mesh)->x + 3 * ((int64_t)r * one->n_vert + v), to);
    }
    for (int64_t i = 0; i < 4 * (int64_t)one->n_tet; i++) {
      (*mesh)->tet[4 * (int64_t)r * one->n_tet + i] = r * one->n_vert + one->tet[i];
    }
  }
done:
  noli_mesh_destroy(context, &one);
  return status;
}
