#include "support.h"

#include "base/array.h"
#include "collide/audit.h"
#include "collide/nested.h"
#include "collide/pair_tables.h"

// ---- bodies made of boxes, points and curves ----

enum { MOST_BODIES = 24 };

typedef NOLI_ARRAY(int32_t) List;

// A surface under construction; the last body is open.
typedef struct Shapes {
  NoliContext* context;
  NOLI_ARRAY(double) x;
  List tri[MOST_BODIES];
  List edge[MOST_BODIES];
  List point[MOST_BODIES];
  bool planar[MOST_BODIES];
  int32_t vert_first[MOST_BODIES + 1];
  int32_t n_body;
} Shapes;

static void shapes_begin(Shapes* shapes) {
  *shapes = (Shapes){.context = test_context(1)};
}

static int32_t begin_body(Shapes* shapes) {
  assert_true(shapes->n_body < MOST_BODIES);
  shapes->vert_first[shapes->n_body + 1] = shapes->vert_first[shapes->n_body];
  return shapes->n_body++;
}

static void push(NoliContext* context, List* list, int32_t value) {
  NoliStatus status = NOLI_OK;
  NOLI_PUSH(context, list, value);
done:
  assert_int_equal(status, NOLI_OK);
}

// Returns the number of the vertex within the last body.
static int32_t add_vertex(Shapes* shapes, double x, double y, double z) {
  NoliStatus status = NOLI_OK;
  NOLI_PUSH(shapes->context, &shapes->x, x);
  NOLI_PUSH(shapes->context, &shapes->x, y);
  NOLI_PUSH(shapes->context, &shapes->x, z);
done:
  assert_int_equal(status, NOLI_OK);
  return shapes->vert_first[shapes->n_body]++ - shapes->vert_first[shapes->n_body - 1];
}

static void add_point(Shapes* shapes, double x, double y, double z) {
  push(shapes->context, &shapes->point[shapes->n_body - 1], add_vertex(shapes, x, y, z));
}

static void add_triangle(Shapes* shapes, int32_t a, int32_t b, int32_t c) {
  List* list = &shapes->tri[shapes->n_body - 1];
  push(shapes->context, list, a);
  push(shapes->context, list, b);
  push(shapes->context, list, c);
}

// The surface of a box; `inward`: of a hole.
static void add_box(Shapes* shapes, const double lo[3], const double hi[3], bool inward) {
  static const int quad[6][4] = {{0, 2, 3, 1}, {4, 5, 7, 6}, {0, 1, 5, 4},
                                 {2, 6, 7, 3}, {0, 4, 6, 2}, {1, 3, 7, 5}};
  int32_t v[8];
  for (int i = 0; i < 8; i++) {
    v[i] = add_vertex(shapes, i & 1 ? hi[0] : lo[0], i & 2 ? hi[1] : lo[1], i & 4 ? hi[2] : lo[2]);
  }
  for (int q = 0; q < 6; q++) {
    int32_t a = v[quad[q][0]], b = v[quad[q][1]], c = v[quad[q][2]], d = v[quad[q][3]];
    add_triangle(shapes, a, inward ? c : b, inward ? b : c);
    add_triangle(shapes, a, inward ? d : c, inward ? c : d);
  }
}

static void add_cube(Shapes* shapes, double half, bool inward) {
  add_box(shapes, (double[]){-half, -half, -half}, (double[]){half, half, half}, inward);
}

static NoliSurface* make_surface(Shapes* shapes) {
  NoliSurfaceParts parts[MOST_BODIES];
  for (int32_t b = 0; b < shapes->n_body; b++) {
    parts[b] = (NoliSurfaceParts){.n_tri = (int32_t)shapes->tri[b].count / 3,
                                  .tri = shapes->tri[b].data,
                                  .n_edge = (int32_t)shapes->edge[b].count / 2,
                                  .edge = shapes->edge[b].data,
                                  .n_point = (int32_t)shapes->point[b].count,
                                  .point = shapes->point[b].data,
                                  .planar = shapes->planar[b]};
  }
  NoliSurface* surface = NULL;
  ASSERT_OK(
      noli_surface_create(shapes->context, shapes->n_body, shapes->vert_first, parts, &surface));
  return surface;
}

static void shapes_end(Shapes* shapes) {
  for (int32_t b = 0; b < MOST_BODIES; b++) {
    noli_array_free(shapes->context, &shapes->tri[b]);
    noli_array_free(shapes->context, &shapes->edge[b]);
    noli_array_free(shapes->context, &shapes->point[b]);
  }
  noli_array_free(shapes->context, &shapes->x);
  test_context_done(&shapes->context);
}

// Finds nested bodies; `want` (n x 2) are the inner and outer body of each pair, in order.
static void expect_nested(Shapes* shapes, const NoliBodyPairs* pairs, const int32_t (*want)[2],
                          int64_t n) {
  NoliSurface* surface = make_surface(shapes);
  NoliNested* nested = NULL;
  int64_t n_nested = 0;
  ASSERT_OK(noli_audit_nested(shapes->context, surface, shapes->x.data, pairs, &nested, &n_nested));
  assert_int_equal(n_nested, n);
  for (int64_t i = 0; i < n; i++) {
    assert_int_equal(surface->body[nested[i].vertex], want[i][0]);
    assert_int_equal(nested[i].container, want[i][1]);
  }
  assert_true(n > 0 || nested == NULL);
  noli_free(shapes->context, nested);
  noli_surface_destroy(shapes->context, &surface);
}

#define EXPECT_NESTED(shapes, ...)                                                                 \
  do {                                                                                             \
    const int32_t want_[][2] = {__VA_ARGS__};                                                      \
    expect_nested(&(shapes), NULL, want_, sizeof want_ / sizeof *want_);                           \
  } while (0)

// ---- which body is inside which ----

static void body_in_body_is_found(void** state) {
  (void)state;
  Shapes shapes;
  shapes_begin(&shapes);
  begin_body(&shapes);
  add_cube(&shapes, 1.0, false);
  begin_body(&shapes);
  add_cube(&shapes, 4.0, false);
  begin_body(&shapes);
  add_box(&shapes, (double[]){8, 0, 0}, (double[]){9, 1, 1}, false);
  EXPECT_NESTED(shapes, {0, 1});
  // pairs that pass through each other may
  const uint8_t allowed[9] = {1, 0, 1, 0, 1, 1, 1, 1, 1};
  NoliBodyPairs pairs = pairs_of_tables(shapes.context, 3, allowed, 0, NULL);
  expect_nested(&shapes, &pairs, NULL, 0);
  pairs_done(shapes.context, &pairs);
  // each of three is in all that are larger
  begin_body(&shapes);
  add_cube(&shapes, 2.0, false);
  EXPECT_NESTED(shapes, {0, 1}, {0, 3}, {3, 1});
  shapes_end(&shapes);
}

// Rays cross many bodies that begin behind, around and beside their first vertices. A box is in all
// boxes that contain its lowest corner.
static void boxes_in_rows_agree_with_all_pairs(void** state) {
  (void)state;
  TestRandom random = {17};
  int64_t n_found = 0;
  for (int trial = 0; trial < 60; trial++) {
    Shapes shapes;
    shapes_begin(&shapes);
    double low[MOST_BODIES][3], high[MOST_BODIES][3];
    int32_t want[MOST_BODIES * MOST_BODIES][2];
    int64_t n = 0;
    double size = test_random(&random, 0.1, 1.5);
    for (int32_t b = 0; b < MOST_BODIES; b++) {
      for (int k = 0; k < 3; k++) {
        // boxes stand in rows along x
        low[b][k] = test_random(&random, 0.0, k == 0 ? 4.0 : 0.3);
        high[b][k] = low[b][k] + size * test_random(&random, 0.2, 1.0);
      }
      begin_body(&shapes);
      add_box(&shapes, low[b], high[b], false);
    }
    for (int32_t a = 0; a < MOST_BODIES; a++) {
      for (int32_t b = 0; b < MOST_BODIES; b++) {
        bool inside = a != b;
        for (int k = 0; k < 3; k++) {
          inside = inside && low[a][k] > low[b][k] && low[a][k] < high[b][k];
        }
        want[n][0] = a;
        want[n][1] = b;
        n += inside;
      }
    }
    expect_nested(&shapes, NULL, (const int32_t(*)[2])want, n);
    n_found += n;
    shapes_end(&shapes);
  }
  assert_true(n_found > 500);
}

static void cavities_are_outside(void** state) {
  (void)state;
  Shapes shapes;
  shapes_begin(&shapes);
  // a hollow cube with a hollow one in its hole, and a solid one in the hole of that
  begin_body(&shapes);
  add_cube(&shapes, 5.0, false);
  add_cube(&shapes, 4.0, true);
  begin_body(&shapes);
  add_cube(&shapes, 3.0, false);
  add_cube(&shapes, 2.0, true);
  begin_body(&shapes);
  add_cube(&shapes, 1.0, false);
  expect_nested(&shapes, NULL, NULL, 0);
  // inside the walls: of the outer one, of the inner one
  begin_body(&shapes);
  add_box(&shapes, (double[]){4.25, 0, 0}, (double[]){4.75, 1, 1}, false);
  add_box(&shapes, (double[]){0, 0, 2.25}, (double[]){1, 1, 2.75}, false);
  EXPECT_NESTED(shapes, {3, 0}, {3, 1});
  shapes_end(&shapes);
}

static void walls_around_cavities_are_found(void** state) {
  (void)state;
  Shapes shapes;
  shapes_begin(&shapes);
  // the second one's material surrounds the hole of the first one, inside the material of the first
  begin_body(&shapes);
  add_cube(&shapes, 4.0, false);
  add_cube(&shapes, 1.0, true);
  begin_body(&shapes);
  add_cube(&shapes, 2.0, false);
  EXPECT_NESTED(shapes, {0, 1}, {1, 0});
  shapes_end(&shapes);
}

static void parts_of_one_body_are_told_apart(void** state) {
  (void)state;
  Shapes shapes;
  // shell in the hole of a shell, with a solid in the innermost hole: valid
  shapes_begin(&shapes);
  begin_body(&shapes);
  const double half[] = {6.0, 5.0, 4.0, 3.0, 2.0};
  for (int i = 0; i < 5; i++) {
    add_cube(&shapes, half[i], i % 2 == 1);
  }
  expect_nested(&shapes, NULL, NULL, 0);
  // one more solid in a wall, and a hole in it
  add_box(&shapes, (double[]){5.125, 0, 0}, (double[]){5.875, 1, 1}, false);
  EXPECT_NESTED(shapes, {0, 0});
  add_box(&shapes, (double[]){5.25, 0.25, 0.25}, (double[]){5.75, 0.75, 0.75}, true);
  EXPECT_NESTED(shapes, {0, 0}, {0, 0});
  // without self-contact of the body there is no check
  expect_nested(&shapes, &(NoliBodyPairs){.n_body = 1}, NULL, 0);
  shapes_end(&shapes);

  // all inverted, as the triangles of a proxy may be
  shapes_begin(&shapes);
  begin_body(&shapes);
  for (int i = 0; i < 3; i++) {
    add_cube(&shapes, half[i], i % 2 == 0);
  }
  expect_nested(&shapes, NULL, NULL, 0);
  begin_body(&shapes);
  add_box(&shapes, (double[]){5.125, 0, 0}, (double[]){5.875, 1, 1}, false);
  EXPECT_NESTED(shapes, {1, 0});
  shapes_end(&shapes);
}

static void points_and_segments_are_found(void** state) {
  (void)state;
  Shapes shapes;
  shapes_begin(&shapes);
  begin_body(&shapes);
  add_cube(&shapes, 1.0, false);
  begin_body(&shapes);
  add_point(&shapes, -3, 0, 0);
  add_point(&shapes, 0, 0, 0);
  add_point(&shapes, 0.5, 1, -1); // on an edge: touches
  add_point(&shapes, 1, 1, 1);
  int32_t a = add_vertex(&shapes, 0.5, 0.5, 0.5), b = add_vertex(&shapes, 0.25, 0.5, 0.5);
  push(shapes.context, &shapes.edge[1], a);
  push(shapes.context, &shapes.edge[1], b);
  EXPECT_NESTED(shapes, {1, 0}, {1, 0});
  shapes_end(&shapes);
}

static void open_surfaces_enclose_nothing(void** state) {
  (void)state;
  Shapes shapes;
  shapes_begin(&shapes);
  begin_body(&shapes);
  add_cube(&shapes, 1.0, false);
  shapes.tri[0].count -= 3;
  begin_body(&shapes);
  add_point(&shapes, 0, 0, 0);
  expect_nested(&shapes, NULL, NULL, 0);
  shapes_end(&shapes);
}

static void touching_boxes_are_not_nested(void** state) {
  (void)state;
  // side by side, edge to edge, corner to corner, and inside with a common side
  const double lo[][3] = {{1, -1, -1}, {1, 1, -1}, {1, 1, 1}, {-1, -2, -1}, {-3, -1, -1}};
  for (size_t i = 0; i < sizeof lo / sizeof *lo; i++) {
    Shapes shapes;
    shapes_begin(&shapes);
    begin_body(&shapes);
    add_cube(&shapes, 1.0, false);
    begin_body(&shapes);
    add_box(&shapes, lo[i], (double[]){lo[i][0] + 2, lo[i][1] + 1, lo[i][2] + 2}, false);
    expect_nested(&shapes, NULL, NULL, 0);
    shapes_end(&shapes);
  }
}

// ---- rays that meet edges and vertices ----

enum { CELLS = 6, CORNERS = CELLS + 1 };

typedef struct Voxels {
  bool full[CELLS][CELLS][CELLS];
  int32_t vertex[CORNERS][CORNERS][CORNERS];
} Voxels;

static bool is_full(const Voxels* voxels, const int cell[3]) {
  for (int k = 0; k < 3; k++) {
    if (cell[k] < 0 || cell[k] >= CELLS) {
      return false;
    }
  }
  return voxels->full[cell[0]][cell[1]][cell[2]];
}

// Both triangles of the square between a full cell and an empty one beyond `axis`.
static void add_square(Shapes* shapes, Voxels* voxels, const int cell[3], int axis, bool upper) {
  int32_t v[4];
  for (int i = 0; i < 4; i++) {
    int at[3] = {cell[0], cell[1], cell[2]};
    at[axis] += upper;
    at[(axis + 1) % 3] += i == 1 || i == 2;
    at[(axis + 2) % 3] += i >= 2;
    int32_t* vertex = &voxels->vertex[at[0]][at[1]][at[2]];
    *vertex = *vertex >= 0 ? *vertex : add_vertex(shapes, at[0], at[1], at[2]);
    v[i] = *vertex;
  }
  add_triangle(shapes, v[0], v[upper ? 1 : 2], v[upper ? 2 : 1]);
  add_triangle(shapes, v[0], v[upper ? 2 : 3], v[upper ? 3 : 2]);
}

static void add_voxels(Shapes* shapes, Voxels* voxels) {
  memset(voxels->vertex, 0xff, sizeof voxels->vertex);
  for (int i = 0; i < CELLS * CELLS * CELLS; i++) {
    int cell[3] = {i % CELLS, i / CELLS % CELLS, i / CELLS / CELLS};
    for (int side = 0; is_full(voxels, cell) && side < 6; side++) {
      int beyond[3] = {cell[0], cell[1], cell[2]};
      beyond[side / 2] += side % 2 == 1 ? 1 : -1;
      if (!is_full(voxels, beyond)) {
        add_square(shapes, voxels, cell, side / 2, side % 2 == 1);
      }
    }
  }
}

// Number of full cells among the eight around a corner.
static int full_around(const Voxels* voxels, const int at[3]) {
  int n = 0;
  for (int i = 0; i < 8; i++) {
    int cell[3] = {at[0] - (i & 1), at[1] - (i >> 1 & 1), at[2] - (i >> 2)};
    n += is_full(voxels, cell);
  }
  return n;
}

// Points at the corners of cells, whose rays run along edges and in triangles, and in the middle of
// cells, whose rays meet the edge between two triangles of a square.
static void rays_along_edges_are_right(void** state) {
  (void)state;
  TestRandom random = {7};
  int64_t n_inside = 0, n_outside = 0;
  for (int trial = 0; trial < 200; trial++) {
    Shapes shapes;

    // random solid cells
    static Voxels voxels;
    shapes_begin(&shapes);
    for (int i = 0; i < CELLS * CELLS * CELLS; i++) {
      voxels.full[i % CELLS][i / CELLS % CELLS][i / CELLS / CELLS] =
          test_random(&random, 0.0, 1.0) < (trial % 2 == 0 ? 0.9 : 0.4);
    }
    begin_body(&shapes);
    add_voxels(&shapes, &voxels);

    // points at inner and outer corners, and in the middle of cells
    int32_t points = begin_body(&shapes);
    static bool inside[2 * CORNERS * CORNERS * CORNERS];
    int64_t n = 0, want = 0;
    for (int i = 0; i < CORNERS * CORNERS * CORNERS; i++) {
      int at[3] = {i % CORNERS, i / CORNERS % CORNERS, i / CORNERS / CORNERS};
      int around = full_around(&voxels, at);
      if (around == 0 || around == 8) {
        add_point(&shapes, at[0], at[1], at[2]);
        inside[n++] = around == 8;
      }
      add_point(&shapes, at[0] + 0.5, at[1] + 0.5, at[2] + 0.5);
      inside[n++] = is_full(&voxels, at);
    }

    // compare
    NoliSurface* surface = make_surface(&shapes);
    NoliNested* nested = NULL;
    int64_t n_nested = 0, found = 0;
    const NoliBodyPairs others = {.n_body = 2, .others = {.n = 2, .most = 1}};
    ASSERT_OK(
        noli_audit_nested(shapes.context, surface, shapes.x.data, &others, &nested, &n_nested));
    for (int64_t p = 0; p < n; p++) {
      want += inside[p];
      bool is_found = found < n_nested && nested[found].vertex == shapes.vert_first[points] + p;
      found += is_found;
      assert_int_equal(is_found, inside[p]);
    }
    assert_int_equal(n_nested, want);
    n_inside += want;
    n_outside += n - want;
    noli_free(shapes.context, nested);
    noli_surface_destroy(shapes.context, &surface);
    shapes_end(&shapes);
  }
  assert_true(n_inside > 10000 && n_outside > 10000);
}

// ---- random surfaces, against the sum of solid angles ----

// [van Oosterom, Strackee 1983].
static double solid_angle(const double* p, const double* a, const double* b, const double* c) {
  NoliVec3 at = noli_load3(p);
  NoliVec3 r0 = noli_sub3(noli_load3(a), at), r1 = noli_sub3(noli_load3(b), at);
  NoliVec3 r2 = noli_sub3(noli_load3(c), at);
  double d0 = noli_norm3(r0), d1 = noli_norm3(r1), d2 = noli_norm3(r2);
  return 2.0 * atan2(noli_dot3(r0, noli_cross3(r1, r2)), d0 * d1 * d2 + noli_dot3(r0, r1) * d2 +
                                                             noli_dot3(r1, r2) * d0 +
                                                             noli_dot3(r2, r0) * d1);
}

// A torus with a bumpy, tilted tube.
static void add_torus(Shapes* shapes, TestRandom* random, int n, int m) {
  double tilt = test_random(random, -1.0, 1.0), bump = test_random(random, 0.0, 0.3);
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < m; j++) {
      double u = 2.0 * 3.14159265358979 * i / n, v = 2.0 * 3.14159265358979 * j / m;
      double r = 0.4 * (1.0 + bump * test_random(random, -1.0, 1.0));
      double x = (1.0 + r * cos(v)) * cos(u), y = (1.0 + r * cos(v)) * sin(u), z = r * sin(v);
      add_vertex(shapes, x + tilt * z, y - tilt * x, z + tilt * y);
    }
  }
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < m; j++) {
      int32_t a = i * m + j, b = (i + 1) % n * m + j;
      int32_t c = (i + 1) % n * m + (j + 1) % m, d = i * m + (j + 1) % m;
      add_triangle(shapes, a, b, c);
      add_triangle(shapes, a, c, d);
    }
  }
}

static double slow_winding(const NoliSurface* surface, const double* x, int32_t body,
                           const double* p) {
  double sum = 0.0;
  for (int32_t t = surface->tri_first[body]; t < surface->tri_first[body + 1]; t++) {
    const int32_t* tri = &surface->tri[3 * (int64_t)t];
    sum +=
        solid_angle(p, &x[3 * (int64_t)tri[0]], &x[3 * (int64_t)tri[1]], &x[3 * (int64_t)tri[2]]);
  }
  return sum / (4.0 * 3.14159265358979);
}

static void random_points_agree_with_solid_angles(void** state) {
  (void)state;
  TestRandom random = {11};
  int64_t n_inside = 0, n_doubtful = 0;
  for (int trial = 0; trial < 60; trial++) {
    Shapes shapes;
    shapes_begin(&shapes);
    begin_body(&shapes);
    add_torus(&shapes, &random, 5 + trial % 17, 4 + trial % 7);
    int32_t points = begin_body(&shapes);
    int32_t n_vert = shapes.vert_first[1];

    // random points
    for (int i = 0; i < 200; i++) {
      // half of them at the height of some vertex, so that rays meet it
      int64_t v = 3 * (int64_t)(test_random_bits(&random) % (uint64_t)n_vert);
      double y = i % 2 ? shapes.x.data[v + 1] : test_random(&random, -1.0, 1.0);
      double z = i % 2 ? shapes.x.data[v + 2] : test_random(&random, -0.7, 0.7);
      add_point(&shapes, test_random(&random, -1.5, 1.5), y, z);
    }

    // compare with winding numbers
    NoliSurface* surface = make_surface(&shapes);
    NoliNested* nested = NULL;
    int64_t n_nested = 0, found = 0;
    ASSERT_OK(noli_audit_nested(shapes.context, surface, shapes.x.data, NULL, &nested, &n_nested));
    for (int32_t v = shapes.vert_first[points]; v < shapes.vert_first[points + 1]; v++) {
      double winding = slow_winding(surface, shapes.x.data, 0, &shapes.x.data[3 * (int64_t)v]);
      bool is_found = found < n_nested && nested[found].vertex == v;
      found += is_found;
      if (fabs(winding - round(winding)) > 1e-6) {
        n_doubtful++;
        continue;
      }
      assert_int_equal(is_found, fabs(winding) > 0.5);
      n_inside += is_found;
    }
    assert_int_equal(found, n_nested);
    noli_free(shapes.context, nested);
    noli_surface_destroy(shapes.context, &surface);
    shapes_end(&shapes);
  }
  assert_true(n_inside > 1000);
  assert_true(n_doubtful < 20);
}

// A point is inside a tetrahedron if it is behind all four faces, to the last bit.
static void one_ulp_decides(void** state) {
  (void)state;
  TestRandom random = {13};
  int n_inside = 0, n_outside = 0;
  static const int32_t face[4][3] = {{1, 2, 3}, {0, 3, 2}, {0, 1, 3}, {0, 2, 1}};
  for (int trial = 0; trial < 3000; trial++) {
    Shapes shapes;
    shapes_begin(&shapes);
    begin_body(&shapes);

    // a random tetrahedron
    double x[12];
    for (int i = 0; i < 12; i++) {
      x[i] = test_random(&random, -1.0, 1.0);
    }
    for (int i = 0; i < 4; i++) {
      add_vertex(&shapes, x[3 * i], x[3 * i + 1], x[3 * i + 2]);
    }
    for (int f = 0; f < 4; f++) {
      add_triangle(&shapes, face[f][0], face[f][1], face[f][2]);
    }

    // on a face up to rounding
    const int32_t* on = face[trial % 4];
    double p[3];
    for (int k = 0; k < 3; k++) {
      p[k] = 0.3 * x[3 * on[0] + k] + 0.2 * x[3 * on[1] + k] + 0.5 * x[3 * on[2] + k];
    }

    // sides of all faces
    int outward = noli_exact_orient3d(x, x + 3, x + 6, x + 9);
    bool inside = true, touches = false;
    for (int f = 0; f < 4; f++) {
      int side = noli_exact_orient3d(&x[3 * face[f][0]], &x[3 * face[f][1]], &x[3 * face[f][2]], p);
      inside = inside && side * outward < 0;
      touches = touches || side == 0;
    }

    // the audit
    begin_body(&shapes);
    add_point(&shapes, p[0], p[1], p[2]);
    const int32_t want[1][2] = {{1, 0}};
    expect_nested(&shapes, NULL, want, inside ? 1 : 0);
    n_inside += inside;
    n_outside += !inside && !touches;
    shapes_end(&shapes);
  }
  assert_true(n_inside > 500 && n_outside > 500);
}

// ---- in a plane ----

// A closed outline through n points around the middle, at integer coordinates.
static void add_outline(Shapes* shapes, TestRandom* random, int n, double radius, bool hole) {
  int32_t first = NOLI_NULL_INDEX, body = shapes->n_body - 1;
  for (int i = 0; i < n; i++) {
    double angle = 2.0 * 3.14159265358979 * (hole ? n - i : i) / n;
    double r = radius * test_random(random, 0.8, 1.0);
    int32_t v = add_vertex(shapes, round(r * cos(angle)), round(r * sin(angle)), 0.0);
    first = i == 0 ? v : first;
    push(shapes->context, &shapes->edge[body], v);
    push(shapes->context, &shapes->edge[body], i + 1 < n ? v + 1 : first);
  }
}

// Winding number of the outlines around p; NAN on one.
static double slow_turns(const Shapes* shapes, int32_t body, const double* p) {
  double sum = 0.0;
  for (int64_t e = 0; e < shapes->edge[body].count; e += 2) {
    const int32_t* edge = &shapes->edge[body].data[e];
    const double* a = &shapes->x.data[3 * (int64_t)(shapes->vert_first[body] + edge[0])];
    const double* b = &shapes->x.data[3 * (int64_t)(shapes->vert_first[body] + edge[1])];
    double ax = a[0] - p[0], ay = a[1] - p[1], bx = b[0] - p[0], by = b[1] - p[1];
    bool on = ax * by == ay * bx && ax * bx + ay * by <= 0.0;
    sum += on ? (double)NAN : atan2(ax * by - ay * bx, ax * bx + ay * by);
  }
  return sum / (2.0 * 3.14159265358979);
}

static void outlines_in_a_plane(void** state) {
  (void)state;
  TestRandom random = {17};
  int n_inside = 0, n_outside = 0;
  for (int trial = 0; trial < 400; trial++) {
    Shapes shapes;
    shapes_begin(&shapes);
    shapes.planar[begin_body(&shapes)] = true;
    add_outline(&shapes, &random, 7 + trial % 20, 40.0, false);
    add_outline(&shapes, &random, 5 + trial % 9, 18.0, true);
    // short segments of an obstacle at the heights of vertices
    begin_body(&shapes);
    double p[3] = {round(test_random(&random, -45.0, 45.0)) + 0.25,
                   round(test_random(&random, -30.0, 30.0)), 0.0};
    int32_t a = add_vertex(&shapes, p[0], p[1], 0.0);
    int32_t b = add_vertex(&shapes, p[0] + 0.01, p[1], 0.0);
    push(shapes.context, &shapes.edge[1], a);
    push(shapes.context, &shapes.edge[1], b);
    double turns = slow_turns(&shapes, 0, p);
    const int32_t want[1][2] = {{1, 0}};
    expect_nested(&shapes, NULL, want, turns > 0.5 ? 1 : 0);
    n_inside += turns > 0.5;
    n_outside += turns < 0.5;
    shapes_end(&shapes);
  }
  assert_true(n_inside > 50 && n_outside > 50);
}

// ---- the sign of the enclosed volume ----

static void enclosed_signs_are_exact(void** state) {
  (void)state;
  // boxes one unit in the last place wide, far away
  for (int axis = 0; axis < 3; axis++) {
    for (int inward = 0; inward < 2; inward++) {
      Shapes shapes;
      shapes_begin(&shapes);
      begin_body(&shapes);
      double lo[3] = {1e6 + 1.0 / 3, -2e6 + 1.0 / 7, 3e6 - 1.0 / 9}, hi[3];
      for (int k = 0; k < 3; k++) {
        hi[k] = k == axis ? nextafter(lo[k], INFINITY) : lo[k] + 1.0;
      }
      add_box(&shapes, lo, hi, inward == 1);
      assert_int_equal(noli_exact_enclosed_sign(shapes.x.data, shapes.tri[0].data, 12, 3),
                       inward == 1 ? -1 : 1);
      shapes_end(&shapes);
    }
  }
  const double flat[] = {0, 0, 0, 1e300, 0, 0, 1e300, 1e-300, 0};
  assert_int_equal(noli_exact_enclosed_sign(flat, (const int32_t[]){0, 1, 1, 2, 2, 0}, 3, 2), 1);
  assert_int_equal(noli_exact_enclosed_sign(flat, (const int32_t[]){1, 0, 2, 1, 0, 2}, 3, 2), -1);
  // there and back again
  assert_int_equal(noli_exact_enclosed_sign(flat, (const int32_t[]){1, 2, 2, 1}, 2, 2), 0);
}

static void not_finite_is_an_error(void** state) {
  (void)state;
  Shapes shapes;
  shapes_begin(&shapes);
  begin_body(&shapes);
  add_cube(&shapes, 1.0, false);
  shapes.x.data[4] = NAN;
  NoliSurface* surface = make_surface(&shapes);
  NoliNested* nested = NULL;
  int64_t n = 0;
  ASSERT_STATUS(noli_audit_nested(shapes.context, surface, shapes.x.data, NULL, &nested, &n),
                NOLI_NOT_FINITE);
  noli_surface_destroy(shapes.context, &surface);
  shapes_end(&shapes);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(body_in_body_is_found),
      cmocka_unit_test(boxes_in_rows_agree_with_all_pairs),
      cmocka_unit_test(cavities_are_outside),
      cmocka_unit_test(walls_around_cavities_are_found),
      cmocka_unit_test(parts_of_one_body_are_told_apart),
      cmocka_unit_test(points_and_segments_are_found),
      cmocka_unit_test(open_surfaces_enclose_nothing),
      cmocka_unit_test(touching_boxes_are_not_nested),
      cmocka_unit_test(rays_along_edges_are_right),
      cmocka_unit_test(random_points_agree_with_solid_angles),
      cmocka_unit_test(one_ulp_decides),
      cmocka_unit_test(outlines_in_a_plane),
      cmocka_unit_test(enclosed_signs_are_exact),
      cmocka_unit_test(not_finite_is_an_error),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
