// Shapes of triangles for shells, and chain mail: areas, angles, orientation, topology, links,
// errors.
#include "support.h"

#include "math/vec3.h"
#include "noli/choice.h"
#include "noli/mesh.h"
#include "noli/noli.h"

static const double pi = 3.14159265358979323846;

static NoliVec3 at(const NoliMesh* mesh, int32_t v) {
  return noli_load3(mesh->x + 3 * v);
}

typedef struct Measures {
  double area;
  double volume;         // enclosed, positive if it faces outward
  double upward[3];      // sum of normals times areas
  double smallest_angle; // degrees
  double largest_angle;
  int32_t n_edge;
  int32_t n_boundary; // edges of one triangle
  int32_t n_against;  // edges that two triangles run along in the same direction
  int32_t n_crowded;  // edges of more than two
} Measures;

static int compare(const void* a, const void* b) {
  uint64_t p = *(const uint64_t*)a, q = *(const uint64_t*)b;
  return p < q ? -1 : p > q;
}

static Measures measure(const NoliMesh* mesh) {
  Measures m = {.smallest_angle = 180.0};
  uint64_t* key = malloc(sizeof *key * 3 * (size_t)mesh->n_tri);
  assert_non_null(key);
  for (int32_t t = 0; t < mesh->n_tri; t++) {
    const int32_t* v = mesh->tri + 3 * t;
    NoliVec3 a = at(mesh, v[0]), b = at(mesh, v[1]), c = at(mesh, v[2]);
    NoliVec3 n = noli_scale3(0.5, noli_cross3(noli_sub3(b, a), noli_sub3(c, a)));
    m.area += noli_norm3(n);
    m.volume += noli_dot3(n, a) / 3.0;
    m.upward[0] += n.x, m.upward[1] += n.y, m.upward[2] += n.z;
    for (int k = 0; k < 3; k++) {
      NoliVec3 p = at(mesh, v[k]);
      NoliVec3 d = noli_sub3(at(mesh, v[(k + 1) % 3]), p);
      NoliVec3 e = noli_sub3(at(mesh, v[(k + 2) % 3]), p);
      double angle = 180.0 / pi * atan2(noli_norm3(noli_cross3(d, e)), noli_dot3(d, e));
      m.smallest_angle = noli_smaller(m.smallest_angle, angle);
      m.largest_angle = noli_larger(m.largest_angle, angle);
      uint64_t from = (uint64_t)v[k], to = (uint64_t)v[(k + 1) % 3];
      // the direction is the last bit
      key[3 * t + k] = from < to ? from << 32 | to << 1 : to << 32 | from << 1 | 1;
    }
  }
  qsort(key, 3 * (size_t)mesh->n_tri, sizeof *key, compare);
  for (int32_t i = 0, end; i < 3 * mesh->n_tri; i = end) {
    for (end = i; end < 3 * mesh->n_tri && key[end] >> 1 == key[i] >> 1; end++) {
    }
    m.n_edge++;
    m.n_boundary += end - i == 1;
    m.n_crowded += end - i > 2;
    m.n_against += end - i == 2 && key[i] == key[i + 1];
  }
  free(key);
  return m;
}

static int32_t euler(const NoliMesh* mesh, const Measures* m) {
  return mesh->n_vert - m->n_edge + mesh->n_tri;
}

// ---- sheets -------------------------------------------------------------------------------------

static void sheets_of_every_pattern(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  const double smallest[] = {45.0, 45.0, 45.0, 29.8, 26.0};
  assert_int_equal(noli_choice_count(NOLI_CHOICE_SHEET_PATTERN), 5);
  for (int32_t k = 0; k < 5; k++) {
    const char* pattern = noli_choice_name(NOLI_CHOICE_SHEET_PATTERN, k);
    NoliMesh *mesh = NULL, *again = NULL;
    bool rows = k >= 3;
    int32_t n_y = rows ? 23 : 20; // 20 * 2 / sqrt(3)
    ASSERT_OK(noli_mesh_make_sheet(context, 2.0, 2.0, 20, n_y, pattern, &mesh));
    ASSERT_OK(noli_mesh_make_sheet(context, 2.0, 2.0, 20, n_y, pattern, &again));
    assert_memory_equal(mesh->x, again->x, sizeof(double) * 3 * (size_t)mesh->n_vert);
    assert_memory_equal(mesh->tri, again->tri, sizeof(int32_t) * 3 * (size_t)mesh->n_tri);
    Measures m = measure(mesh);
    print_message("%s: angles %.1f to %.1f\n", pattern, m.smallest_angle, m.largest_angle);
    assert_int_equal(mesh->n_tri, rows ? 41 * n_y : 800);
    ASSERT_NEAR(m.area, 4.0, 1e-12);
    ASSERT_NEAR(m.upward[2], 4.0, 1e-12); // all face +z: none overlap
    assert_int_equal(euler(mesh, &m), 1);
    assert_int_equal(m.n_boundary, rows ? 20 + 21 + 2 * n_y : 80);
    assert_int_equal(m.n_against + m.n_crowded, 0);
    ASSERT_AT_LEAST(m.smallest_angle, smallest[k] - 1e-9);
    noli_mesh_destroy(context, &mesh);
    noli_mesh_destroy(context, &again);
  }
  test_context_done(&context);
}

// The unstructured sheet is Delaunay, and many of its vertices do not have six neighbours.
static void unstructured_sheets_are_delaunay(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  NoliMesh* mesh = NULL;
  ASSERT_OK(noli_mesh_make_sheet(context, 1.0, 2.0, 15, 30, "unstructured", &mesh));
  int32_t* degree = calloc((size_t)mesh->n_vert, sizeof *degree);
  assert_non_null(degree);
  int32_t n_inner = 0, n_irregular = 0;
  for (int32_t t = 0; t < mesh->n_tri; t++) {
    const int32_t* v = mesh->tri + 3 * t;
    NoliVec3 a = at(mesh, v[0]), b = noli_sub3(at(mesh, v[1]), a), c = noli_sub3(at(mesh, v[2]), a);
    double d = 2.0 * (b.x * c.y - b.y * c.x);
    double x = (c.y * noli_norm_sqr3(b) - b.y * noli_norm_sqr3(c)) / d;
    double y = (b.x * noli_norm_sqr3(c) - c.x * noli_norm_sqr3(b)) / d, radius = hypot(x, y);
    for (int32_t i = 0; i < mesh->n_vert; i++) {
      NoliVec3 p = noli_sub3(at(mesh, i), a);
      ASSERT_AT_LEAST(hypot(p.x - x, p.y - y), radius * (1.0 - 1e-6));
    }
    for (int k = 0; k < 3; k++) {
      degree[v[k]]++;
    }
  }
  for (int32_t i = 0; i < mesh->n_vert; i++) {
    NoliVec3 p = at(mesh, i);
    bool inner = fabs(p.x) < 0.5 && fabs(p.y) < 1.0;
    n_inner += inner;
    n_irregular += inner && degree[i] != 6;
  }
  print_message("%d of %d inner vertices are irregular\n", n_irregular, n_inner);
  assert_true(8 * n_irregular > n_inner);
  free(degree);
  noli_mesh_destroy(context, &mesh);

  // cells that are not square, and the smallest
  ASSERT_OK(noli_mesh_make_sheet(context, 1.0, 1.0, 5, 30, "unstructured", &mesh));
  Measures m = measure(mesh);
  ASSERT_NEAR(m.upward[2], 1.0, 1e-12);
  noli_mesh_destroy(context, &mesh);
  ASSERT_OK(noli_mesh_make_sheet(context, 1.0, 1.0, 1, 1, "unstructured", &mesh));
  assert_int_equal(mesh->n_tri, 3);
  noli_mesh_destroy(context, &mesh);
  test_context_done(&context);
}

// ---- round shapes -------------------------------------------------------------------------------

static void round_shapes(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  NoliMesh* mesh = NULL;

  // a disk of rings
  ASSERT_OK(noli_mesh_make_ring_disk(context, 2.0, 12, &mesh));
  Measures m = measure(mesh);
  assert_int_equal(mesh->n_vert, 1 + 3 * 12 * 13);
  assert_int_equal(mesh->n_tri, 6 * 144);
  ASSERT_NEAR(m.area, 4.0 * pi, 3e-3 * m.area);
  ASSERT_NEAR(m.upward[2], m.area, 1e-12);
  ASSERT_AT_LEAST(m.smallest_angle, 44.8);
  assert_int_equal(m.n_boundary, 72);
  assert_int_equal(euler(mesh, &m), 1);
  noli_mesh_destroy(context, &mesh);

  // a tube, with odd and even numbers of rows: open at both ends, and it faces outward
  for (int32_t along = 5; along <= 6; along++) {
    ASSERT_OK(noli_mesh_make_tube(context, 0.5, 1.0, 24, along, &mesh));
    m = measure(mesh);
    ASSERT_NEAR(m.area, pi, 1e-2 * m.area);
    ASSERT_NEAR(m.volume, 2.0 / 3.0 * pi * 0.25, 2e-2 * m.volume);
    assert_int_equal(m.n_boundary, 48);
    assert_int_equal(m.n_against + m.n_crowded + euler(mesh, &m), 0);
    noli_mesh_destroy(context, &mesh);
  }

  // a sphere: every vertex on it, all triangles similar
  for (int32_t n = 1; n <= 7; n++) {
    ASSERT_OK(noli_mesh_make_icosphere(context, 3.0, n, &mesh));
    m = measure(mesh);
    assert_int_equal(mesh->n_vert, 10 * n * n + 2);
    assert_int_equal(mesh->n_tri, 20 * n * n);
    for (int32_t v = 0; v < mesh->n_vert; v++) {
      ASSERT_NEAR(noli_norm3(at(mesh, v)), 3.0, 1e-14 * 3.0 * 4.0);
    }
    assert_int_equal(euler(mesh, &m), 2);
    assert_int_equal(m.n_boundary + m.n_against + m.n_crowded, 0);
    ASSERT_AT_LEAST(m.volume, (n == 1 ? 0.6 : 0.85) * 36.0 * pi);
    ASSERT_AT_LEAST(m.smallest_angle, 45.0);
    noli_mesh_destroy(context, &mesh);
  }

  // a torus, with diagonals that alternate and that do not
  for (int32_t around = 40; around <= 41; around++) {
    ASSERT_OK(noli_mesh_make_torus_shell(context, 2.0, 0.5, around, 16, &mesh));
    m = measure(mesh);
    ASSERT_NEAR(m.area, 4.0 * pi * pi, 2e-2 * m.area);
    ASSERT_NEAR(m.volume, pi * pi, 5e-2 * m.volume);
    assert_int_equal(m.n_boundary + m.n_against + m.n_crowded + euler(mesh, &m), 0);
    noli_mesh_destroy(context, &mesh);
  }
  test_context_done(&context);
}

// The vertex after v on the boundary, not the one before it.
static int32_t next_on_boundary(const NoliMesh* mesh, int32_t v, int32_t before) {
  for (int32_t e = 0; e < 3 * mesh->n_tri; e++) {
    int32_t p = mesh->tri[e], q = mesh->tri[e - e % 3 + (e + 1) % 3], n = 0;
    int32_t other = p == v ? q : q == v ? p : NOLI_NULL_INDEX;
    for (int32_t t = 0; other != NOLI_NULL_INDEX && t < mesh->n_tri; t++) {
      const int32_t* tri = mesh->tri + 3 * t;
      bool has_v = tri[0] == v || tri[1] == v || tri[2] == v;
      n += has_v && (tri[0] == other || tri[1] == other || tri[2] == other);
    }
    if (n == 1 && other != before) {
      return other;
    }
  }
  return NOLI_NULL_INDEX;
}

// One boundary, which goes around twice, and no orientation: the triangles on both sides of one
// line across the strip run along its edges in the same direction.
static void moebius_strips(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  NoliMesh* mesh = NULL;
  for (int32_t n = 40; n <= 41; n++) {
    ASSERT_OK(noli_mesh_make_moebius(context, 1.0, 0.4, n, 3, &mesh));
    Measures m = measure(mesh);
    assert_int_equal(euler(mesh, &m), 0);
    assert_int_equal(m.n_boundary, 2 * n);
    assert_int_equal(m.n_against, 3);
    assert_int_equal(m.n_crowded, 0);
    ASSERT_NEAR(m.area, 0.4 * 2.0 * pi, 0.03 * m.area);

    // the boundary from its first vertex on: one line of all its edges
    int32_t first = 0, v = first, before = NOLI_NULL_INDEX, length = 0;
    do {
      int32_t next = next_on_boundary(mesh, v, before);
      before = v;
      v = next;
      length++;
    } while (v != first && length <= 4 * n);
    assert_int_equal(length, 2 * n);
    noli_mesh_destroy(context, &mesh);
  }
  test_context_done(&context);
}

// ---- chain mail ---------------------------------------------------------------------------------

// Gauss' integral over two closed polygons, by the solid angles of pairs of segments.
static double linking(const NoliMesh* mesh, int32_t a, int32_t b, int32_t n) {
  double sum = 0.0;
  for (int32_t i = 0; i < n; i++) {
    for (int32_t k = 0; k < n; k++) {
      NoliVec3 p = at(mesh, a * n + i), q = at(mesh, a * n + (i + 1) % n);
      NoliVec3 r = at(mesh, b * n + k), s = at(mesh, b * n + (k + 1) % n);
      NoliVec3 w[4] = {noli_sub3(r, p), noli_sub3(r, q), noli_sub3(s, q), noli_sub3(s, p)};
      NoliVec3 c[4];
      double angle = 0.0;
      for (int m = 0; m < 4; m++) {
        c[m] = noli_normalize3(noli_cross3(w[m], w[(m + 1) % 4]));
      }
      for (int m = 0; m < 4; m++) {
        angle += asin(fmax(-1.0, fmin(1.0, noli_dot3(c[m], c[(m + 1) % 4]))));
      }
      NoliVec3 along = noli_cross3(noli_sub3(s, r), noli_sub3(q, p));
      sum += noli_dot3(along, w[0]) > 0.0 ? angle : -angle;
    }
  }
  return sum / (4.0 * pi);
}

static void rings_are_linked_to_four(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  NoliMesh* mesh = NULL;
  enum { COLUMNS = 4, ROWS = 5, AROUND = 14 };
  const int32_t rings[2] = {COLUMNS, ROWS};
  ASSERT_OK(noli_mesh_make_chain_mail(context, rings, 0.05, AROUND, &mesh));
  assert_int_equal(mesh->n_edge, COLUMNS * ROWS * AROUND);
  assert_int_equal(mesh->n_vert, mesh->n_edge);
  int32_t most = 0, total = 0;
  for (int32_t a = 0; a < COLUMNS * ROWS; a++) {
    int32_t n = 0;
    for (int32_t b = 0; b < COLUMNS * ROWS; b++) {
      double number = a != b ? linking(mesh, a, b, AROUND) : 0.0;
      ASSERT_NEAR(number, round(number), 1e-6);
      bool linked = fabs(number) > 0.5;
      if (linked) {
        ASSERT_NEAR(fabs(number), 1.0, 1e-6);
        assert_int_equal(abs(a / COLUMNS - b / COLUMNS), 1);
      }
      n += linked;
    }
    most = n > most ? n : most;
    total += n;
  }
  assert_int_equal(most, 4);
  // between two rows each ring has two neighbours, but one at an end of either row
  assert_int_equal(total, 2 * (ROWS - 1) * (2 * COLUMNS - 1));
  noli_mesh_destroy(context, &mesh);

  // solid: no parts meet, at the largest radius of the tube
  ASSERT_OK(noli_mesh_make_solid_chain_mail(context, (int32_t[]){3, 3}, 1.0, 0.15, 16, 2, &mesh));
  NoliMesh* skin = NULL;
  NoliMeshIntersection* meeting = NULL;
  int64_t n_meeting = 0;
  ASSERT_OK(noli_mesh_extract(context, mesh, "surface", &skin));
  ASSERT_OK(noli_mesh_intersections(context, skin->n_vert, skin->x, skin->n_tri, skin->tri,
                                    &meeting, &n_meeting));
  assert_int_equal(n_meeting, 0);
  Measures m = measure(skin);
  ASSERT_NEAR(m.volume, 9.0 * 2.0 * pi * pi * 0.15 * 0.15, 0.3 * m.volume);
  NoliMeshCheck check;
  ASSERT_OK(noli_mesh_check(context, mesh, &check));
  assert_int_equal(check.n_inverted, 0);
  noli_mesh_intersections_free(context, &meeting);
  noli_mesh_destroy(context, &skin);
  noli_mesh_destroy(context, &mesh);
  test_context_done(&context);
}

// ---- errors -------------------------------------------------------------------------------------

#define REFUSED(call, part)                                                                        \
  do {                                                                                             \
    ASSERT_STATUS(call, NOLI_ERROR_ARGUMENT);                                                      \
    assert_null(mesh);                                                                             \
    assert_non_null(strstr(noli_context_message(context), part));                                  \
  } while (0)

static void errors(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  NoliMesh* mesh = NULL;
  const int32_t rings[2] = {2, 2}, none[2] = {0, 2};
  REFUSED(noli_mesh_make_sheet(context, 1, 1, 0, 1, NULL, &mesh), "at least 1 cell");
  REFUSED(noli_mesh_make_sheet(context, -1, 1, 1, 1, NULL, &mesh), "sheet");
  REFUSED(noli_mesh_make_sheet(context, 1, 1, 1, 1, "wavy", &mesh), "no pattern \"wavy\"");
  REFUSED(noli_mesh_make_ring_disk(context, 1, 0, &mesh), "1 ring");
  REFUSED(noli_mesh_make_tube(context, 1, 1, 2, 1, &mesh), "3 cells around");
  REFUSED(noli_mesh_make_icosphere(context, 1, 0, &mesh), "1 piece");
  REFUSED(noli_mesh_make_torus_shell(context, 1, 1, 8, 8, &mesh), "smaller than ring_radius");
  REFUSED(noli_mesh_make_moebius(context, 1, 2, 8, 8, &mesh), "smaller than the diameter");
  REFUSED(noli_mesh_make_moebius(context, 1, 1, 5, 8, &mesh), "6 cells around");
  REFUSED(noli_mesh_make_chain_mail(context, none, 1, 8, &mesh), "1 ring along each axis");
  REFUSED(noli_mesh_make_solid_chain_mail(context, rings, 1, 0.2, 8, 2, &mesh),
          "0.15 of the radius");
  ASSERT_STATUS(noli_mesh_make_icosphere(context, 1, 40000, &mesh), NOLI_ERROR_TOO_LARGE);
  ASSERT_STATUS(noli_mesh_make_sheet(context, 1, 1, 100000, 100000, NULL, &mesh),
                NOLI_ERROR_TOO_LARGE);
  test_context_done(&context);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(sheets_of_every_pattern),
      cmocka_unit_test(unstructured_sheets_are_delaunay),
      cmocka_unit_test(round_shapes),
      cmocka_unit_test(moebius_strips),
      cmocka_unit_test(rings_are_linked_to_four),
      cmocka_unit_test(errors),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
