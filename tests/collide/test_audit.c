#include "support.h"

#include "collide/audit.h"
#include "collide/pair_tables.h"
#include "collide/closest_reference.h"
#include "noli/intersection.h"

static int sign_of(double value) {
  return value > 0.0 ? 1 : value < 0.0 ? -1 : 0;
}

// Exact for small integers.
static double plain_orient3d(const double* a, const double* b, const double* c, const double* d) {
  NoliVec3 p = noli_load3(a);
  NoliVec3 u = noli_sub3(noli_load3(b), p), v = noli_sub3(noli_load3(c), p);
  return noli_dot3(u, noli_cross3(v, noli_sub3(noli_load3(d), p)));
}

static double plain_orient2d(const double* a, const double* b, const double* c, int axis) {
  int u = (axis + 1) % 3, v = (axis + 2) % 3;
  return (b[u] - a[u]) * (c[v] - a[v]) - (b[v] - a[v]) * (c[u] - a[u]);
}

static void random_integers(TestRandom* random, double* x, int n, double range) {
  for (int i = 0; i < n; i++) {
    x[i] = floor(test_random(random, -range, range + 1.0));
  }
}

// --- signs of determinants ---

static void signs_agree_with_integer_arithmetic_at_any_scale(void** state) {
  (void)state;
  TestRandom random = {1};
  const int exponents[] = {0, -3, 200, -200, 300, -360, 900, -1000, 1010, -1060};
  int n_zero = 0;
  for (int trial = 0; trial < 20000; trial++) {
    double x[12], y[12];
    random_integers(&random, x, 12, trial % 3 == 0 ? 2.0 : 50.0);
    if (trial % 5 == 0) {
      // a fourth point in the plane of the others
      for (int k = 0; k < 3; k++) {
        x[9 + k] = x[3 + k] + x[6 + k] - x[k];
      }
    }
    int want = sign_of(plain_orient3d(x, x + 3, x + 6, x + 9));
    n_zero += want == 0;
    for (size_t s = 0; s < sizeof exponents / sizeof *exponents; s++) {
      for (int i = 0; i < 12; i++) {
        y[i] = ldexp(x[i], exponents[s]);
      }
      assert_int_equal(noli_exact_orient3d(y, y + 3, y + 6, y + 9), want);
      for (int axis = 0; axis < 3; axis++) {
        assert_int_equal(noli_exact_orient2d(y, y + 3, y + 6, axis),
                         sign_of(plain_orient2d(x, x + 3, x + 6, axis)));
      }
    }
  }
  assert_true(n_zero > 1000);
}

static void signs_agree_with_doubles_when_well_separated(void** state) {
  (void)state;
  TestRandom random = {2};
  for (int trial = 0; trial < 100000; trial++) {
    double x[12];
    for (int i = 0; i < 12; i++) {
      x[i] = test_random(&random, -1.0, 1.0);
    }
    double value = plain_orient3d(x, x + 3, x + 6, x + 9);
    if (fabs(value) > 1e-12) {
      assert_int_equal(noli_exact_orient3d(x, x + 3, x + 6, x + 9), sign_of(value));
    }
  }
}

static void one_ulp_off_a_plane_is_seen(void** state) {
  (void)state;

  // the plane x + y + z = 1, and the diagonal plane through coordinates that doubles cannot hold
  const double t[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
  double p[3] = {0.5, 0.25, 0.25};
  int outside = noli_exact_orient3d(t, t + 3, t + 6, (const double[3]){1, 1, 1});
  assert_int_equal(outside, 1);
  assert_int_equal(noli_exact_orient3d(t, t + 3, t + 6, p), 0);
  for (int k = 0; k < 3; k++) {
    double q[3] = {p[0], p[1], p[2]};
    q[k] = nextafter(p[k], 2.0);
    assert_int_equal(noli_exact_orient3d(t, t + 3, t + 6, q), 1);
    q[k] = nextafter(p[k], -2.0);
    assert_int_equal(noli_exact_orient3d(t, t + 3, t + 6, q), -1);
  }

  // points of a plane, and the neighbours of one of them
  TestRandom random = {3};
  for (int trial = 0; trial < 2000; trial++) {
    // all points have y == x
    double x[12];
    for (int i = 0; i < 4; i++) {
      x[3 * i] = x[3 * i + 1] = test_random(&random, -1.0, 1.0);
      x[3 * i + 2] = test_random(&random, -1.0, 1.0);
    }
    assert_int_equal(noli_exact_orient3d(x, x + 3, x + 6, x + 9), 0);
    x[10] = nextafter(x[10], 2.0);
    int above = noli_exact_orient3d(x, x + 3, x + 6, x + 9);
    x[10] = nextafter(nextafter(x[10], -2.0), -2.0);
    assert_int_not_equal(above, 0);
    assert_int_equal(noli_exact_orient3d(x, x + 3, x + 6, x + 9), -above);
  }
}

// --- an edge against a triangle ---

// For small integers: the distance is zero or well above rounding, and plain signs are exact.
static bool slow_edge_triangle(const double* x) {
  NoliVec3 e[2] = {noli_load3(x), noli_load3(x + 3)};
  NoliVec3 t[3] = {noli_load3(x + 6), noli_load3(x + 9), noli_load3(x + 12)};
  double d = INFINITY;
  for (int end = 0; end < 2; end++) {
    const NoliVec3 pair[4] = {e[end], t[0], t[1], t[2]};
    d = noli_smaller(d, reference_distance(reference_point_triangle, pair));
  }
  int inner[3];
  for (int k = 0; k < 3; k++) {
    const NoliVec3 pair[4] = {e[0], e[1], t[k], t[(k + 1) % 3]};
    d = noli_smaller(d, reference_distance(reference_edge_edge, pair));
    inner[k] = sign_of(plain_orient3d(x, x + 3, x + 6 + 3 * k, x + 6 + 3 * ((k + 1) % 3)));
  }
  int side0 = sign_of(plain_orient3d(x + 6, x + 9, x + 12, x));
  int side1 = sign_of(plain_orient3d(x + 6, x + 9, x + 12, x + 3));
  bool pierced = side0 * side1 < 0 && inner[0] == inner[1] && inner[1] == inner[2];
  return d < 1e-9 || pierced;
}

static bool exact_edge_triangle(const double* x) {
  return noli_exact_edge_triangle(x, x + 3, x + 6, x + 9, x + 12);
}

static void degenerate_edges_and_triangles_agree_with_distances(void** state) {
  (void)state;
  TestRandom random = {4};
  int n_meet = 0, n_coplanar = 0, n_flat = 0;
  for (int trial = 0; trial < 200000; trial++) {
    double x[15];
    random_integers(&random, x, 15, trial % 2 == 0 ? 1.0 : 3.0);

    // many in one plane, on one line, or coincident
    for (int i = 0; i < 5; i++) {
      x[3 * i + 2] = trial % 3 == 0 ? x[3 * i] - 2.0 * x[3 * i + 1] : x[3 * i + 2];
      x[3 * i + 1] = trial % 15 == 0 ? 1.0 : x[3 * i + 1];
      x[3 * i + 2] = trial % 30 == 0 ? 2.0 : x[3 * i + 2];
    }

    // compare with the slow test
    bool want = slow_edge_triangle(x);
    n_meet += want;
    n_coplanar += trial % 3 == 0 && want;
    n_flat += trial % 15 == 0 && want;
    if (exact_edge_triangle(x) != want) {
      for (int i = 0; i < 5; i++) {
        print_error("(%g, %g, %g)\n", x[3 * i], x[3 * i + 1], x[3 * i + 2]);
      }
      fail_msg("got %d, want %d", !want, want);
    }

    // a scale at which products underflow or lose all digits
    for (int i = 0; i < 15; i++) {
      x[i] = ldexp(x[i], trial % 7 == 0 ? -400 : 17);
    }
    assert_int_equal(exact_edge_triangle(x), want);
  }
  assert_true(n_meet > 1000 && n_coplanar > 1000 && n_flat > 1000);
}

static void touching_and_just_apart_differ_by_one_ulp(void** state) {
  (void)state;
  // an edge that ends on the sloping triangle
  double x[15] = {0.5, 0.25, 0.25, 2, 2, 2, 1, 0, 0, 0, 1, 0, 0, 0, 1};
  assert_true(exact_edge_triangle(x));
  x[0] = nextafter(0.5, 1.0);
  assert_false(exact_edge_triangle(x));
  x[0] = nextafter(0.5, 0.0);
  assert_true(exact_edge_triangle(x));
  // an edge that passes a corner
  double corner[15] = {1, 0, -1, 1, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0};
  assert_true(exact_edge_triangle(corner));
  corner[0] = corner[3] = nextafter(1.0, 2.0);
  assert_false(exact_edge_triangle(corner));
  // an edge in the plane that ends on a side, and one that stops before it
  double side[15] = {0.5, 0.5, 0, 2, 2, 0, 0, 0, 0, 1, 0, 0, 0, 1, 0};
  assert_true(exact_edge_triangle(side));
  side[0] = nextafter(0.5, 1.0);
  assert_false(exact_edge_triangle(side));
  // inside the plane and inside the triangle; above it by the smallest number
  double within[15] = {0.25, 0.25, 0, 0.3, 0.3, 0, 0, 0, 0, 1, 0, 0, 0, 1, 0};
  assert_true(exact_edge_triangle(within));
  within[2] = within[5] = 4.9e-324;
  assert_false(exact_edge_triangle(within));
  within[5] = -4.9e-324;
  assert_true(exact_edge_triangle(within));
}

// --- complete surfaces ---

typedef struct Scene {
  NoliContext* context;
  NoliSurface* surface;
  double* x;
} Scene;

// Three soups of triangles, segments and points at random places of the unit cube; on a grid many
// touch exactly.
static Scene random_scene(TestRandom* random, double size, double grid) {
  enum { N_TRI = 40, N_EDGE = 12, N_POINT = 8, N_VERT = 3 * N_TRI + 2 * N_EDGE + N_POINT };
  Scene scene = {.context = test_context(1)};
  int32_t cells[N_VERT];
  for (int32_t i = 0; i < N_VERT; i++) {
    cells[i] = i;
  }
  const int32_t first[4] = {0, N_VERT, 2 * N_VERT, 3 * N_VERT};
  const NoliSurfaceParts part = {.n_tri = N_TRI,
                                 .n_edge = N_EDGE,
                                 .n_point = N_POINT,
                                 .tri = cells,
                                 .edge = cells + 3 * N_TRI,
                                 .point = cells + 3 * N_TRI + 2 * N_EDGE};
  const NoliSurfaceParts parts[3] = {part, part, part};
  ASSERT_OK(noli_surface_create(scene.context, 3, first, parts, &scene.surface));
  scene.x = malloc(sizeof(double) * 9 * N_VERT);
  double centre[3] = {0.0, 0.0, 0.0};
  for (int i = 0; i < 3 * N_VERT; i++) {
    for (int k = 0; k < 3; k++) {
      int local = i % N_VERT;
      bool starts = local % 3 == 0 || local >= 3 * N_TRI + 2 * N_EDGE;
      centre[k] = starts ? test_random(random, 0.0, 1.0) : centre[k];
      double x = centre[k] + test_random(random, -size, size);
      scene.x[3 * i + k] = grid > 0.0 ? grid * floor(x / grid) : x;
    }
  }
  return scene;
}

static void release_scene(Scene* scene) {
  noli_surface_destroy(scene->context, &scene->surface);
  free(scene->x);
  test_context_done(&scene->context);
}

// Whether edge or point `i` of all belongs to a triangle, or to an edge; `e`: its vertices.
static bool is_thin(const NoliSurface* surface, int32_t i, int32_t e[2]) {
  bool is_edge = i < surface->n_edge;
  e[0] = is_edge ? surface->edge[2 * i] : surface->point[i - surface->n_edge];
  e[1] = is_edge ? surface->edge[2 * i + 1] : e[0];
  for (int32_t k = 0; k < 3 * surface->n_tri; k++) {
    int32_t p = surface->tri[k], q = surface->tri[k - k % 3 + (k + 1) % 3];
    if ((p == e[0] && q == e[1]) || (p == e[1] && q == e[0]) || (!is_edge && p == e[0])) {
      return false;
    }
  }
  for (int32_t k = 0; !is_edge && k < 2 * surface->n_edge; k++) {
    if (surface->edge[k] == e[0]) {
      return false;
    }
  }
  return true;
}

// All pairs of edges and points without triangles.
static int64_t count_thin_pairs(const Scene* scene, const uint8_t* allowed) {
  const NoliSurface* surface = scene->surface;
  const double* x = scene->x;
  enum { MOST = 100 };
  int64_t n = 0;
  int32_t n_thin = 0, thin[MOST][2];
  for (int32_t i = 0; i < surface->n_edge + surface->n_point; i++) {
    assert_true(n_thin < MOST);
    n_thin += is_thin(surface, i, thin[n_thin]);
  }
  for (int32_t i = 0; i < n_thin; i++) {
    for (int32_t j = 0; j < n_thin; j++) {
      const int32_t *e = thin[i], *f = thin[j];
      bool once = e[0] < f[0] && e[1] != f[0] && e[1] != f[1];
      bool wanted = allowed == NULL || allowed[3 * surface->body[e[0]] + surface->body[f[0]]];
      n += once && wanted &&
           noli_exact_edge_triangle(x + 3 * e[0], x + 3 * e[1], x + 3 * f[0], x + 3 * f[1],
                                    x + 3 * f[1]);
    }
  }
  return n;
}

// All edges and lone points against all triangles. Counts the crossings and ticks off those listed
// in `crossings`.
static int64_t check_all_pairs(const Scene* scene, const uint8_t* allowed,
                               const NoliCrossing* crossings) {
  const NoliSurface* surface = scene->surface;
  int64_t n = 0, next = 0;
  for (int32_t i = 0; i < surface->n_edge + surface->n_point; i++) {
    int32_t e[2];
    if (i < surface->n_edge) {
      e[0] = surface->edge[2 * i];
      e[1] = surface->edge[2 * i + 1];
    } else {
      e[0] = e[1] = surface->point[i - surface->n_edge];
      bool lone = true;
      for (int32_t k = 0; k < 2 * surface->n_edge; k++) {
        lone = lone && surface->edge[k] != e[0];
      }
      if (!lone) {
        continue;
      }
    }
    for (int32_t j = 0; j < surface->n_tri; j++) {
      const int32_t* t = &surface->tri[3 * j];
      bool shared = false;
      for (int k = 0; k < 3; k++) {
        shared = shared || t[k] == e[0] || t[k] == e[1];
      }
      bool wanted = allowed == NULL || allowed[3 * surface->body[e[0]] + surface->body[t[0]]];
      const double* x = scene->x;
      if (!shared && wanted &&
          noli_exact_edge_triangle(x + 3 * e[0], x + 3 * e[1], x + 3 * t[0], x + 3 * t[1],
                                   x + 3 * t[2])) {
        n++;
      }
    }
  }
  n += count_thin_pairs(scene, allowed);
  for (next = 0; next < n; next++) {
    const NoliCrossing* c = &crossings[next];
    const double* x = scene->x;
    assert_true(noli_exact_edge_triangle(x + 3 * c->edge[0], x + 3 * c->edge[1], x + 3 * c->tri[0],
                                         x + 3 * c->tri[1], x + 3 * c->tri[2]));
    assert_true(c->triangle == NOLI_NULL_INDEX ||
                memcmp(c->tri, &surface->tri[3 * c->triangle], sizeof c->tri) == 0);
    // each once, in order
    if (next > 0) {
      const NoliCrossing* before = c - 1;
      int64_t key = (int64_t)c->edge[0] * 100000 + c->edge[1];
      int64_t key_before = (int64_t)before->edge[0] * 100000 + before->edge[1];
      // crossings without a triangle come last
      uint32_t at = (uint32_t)c->triangle, at_before = (uint32_t)before->triangle;
      assert_true(key_before < key || (key_before == key && at_before < at) ||
                  (key_before == key && at_before == at && before->tri[0] <= c->tri[0]));
    }
    Long3 p = long_vec(noli_load3(x + 3 * c->edge[0]));
    Long3 q = long_vec(noli_load3(x + 3 * c->edge[1]));
    ASSERT_AT_MOST((double)reference_point_edge(long_vec(c->position), p, q), 1e-12);
  }
  return n;
}

static void audits_agree_with_all_pairs(void** state) {
  (void)state;
  TestRandom random = {5};
  const uint8_t allowed[9] = {1, 0, 1, 0, 0, 1, 1, 1, 0};
  int64_t most = 0;
  for (int trial = 0; trial < 30; trial++) {
    const double grids[3] = {0.0, 0.05, 0.2};
    double size = test_random(&random, 0.02, 0.3);
    Scene scene = random_scene(&random, size, grids[trial % 3]);
    for (int filter = 0; filter < 2; filter++) {
      const uint8_t* used = filter == 0 ? NULL : allowed;
      NoliBodyPairs pairs = pairs_of_tables(scene.context, 3, allowed, 0, NULL);
      NoliCrossing* crossings = NULL;
      int64_t n = 0;
      ASSERT_OK(noli_audit_intersections(scene.context, scene.surface, scene.x,
                                         filter == 0 ? NULL : &pairs, &crossings, &n));
      pairs_done(scene.context, &pairs);
      assert_int_equal(n, check_all_pairs(&scene, used, crossings));
      most = n > most ? n : most;
      noli_free(scene.context, crossings);
    }
    release_scene(&scene);
  }
  assert_true(most > 100);
}

static void lone_points_on_triangles_are_found(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  const int32_t tri[3] = {0, 1, 2}, point[1] = {0}, first[3] = {0, 3, 4};
  const NoliSurfaceParts parts[2] = {{.n_tri = 1, .tri = tri}, {.n_point = 1, .point = point}};
  NoliSurface* surface = NULL;
  ASSERT_OK(noli_surface_create(context, 2, first, parts, &surface));
  double x[12] = {1, 0, 0, 0, 1, 0, 0, 0, 1, 0.5, 0.25, 0.25};
  NoliCrossing* crossings = NULL;
  int64_t n = 0;
  ASSERT_OK(noli_audit_intersections(context, surface, x, NULL, &crossings, &n));
  assert_int_equal(n, 1);
  assert_int_equal(crossings[0].edge[0], 3);
  assert_int_equal(crossings[0].edge[1], 3);
  ASSERT_NEAR(crossings[0].position.x, 0.5, 0.0);
  noli_free(context, crossings);
  x[9] = nextafter(0.5, 1.0);
  ASSERT_OK(noli_audit_intersections(context, surface, x, NULL, &crossings, &n));
  assert_int_equal(n, 0);
  assert_null(crossings);
  x[9] = NAN;
  ASSERT_STATUS(noli_audit_intersections(context, surface, x, NULL, &crossings, &n),
                NOLI_NOT_FINITE);
  noli_surface_destroy(context, &surface);
  ASSERT_OK(noli_surface_create(context, 0, first, parts, &surface));
  ASSERT_OK(noli_audit_intersections(context, surface, x, NULL, &crossings, &n));
  assert_int_equal(n, 0);
  noli_surface_destroy(context, &surface);
  test_context_done(&context);
}

// Segments and points without triangles: crossing, touching, on one line, just apart; each pair
// once.
static void segments_and_points_meet_each_other(void** state) {
  (void)state;
  NoliContext* context = test_context(1);

  // a fixed segment, one that moves, and a point
  const int32_t edge[2] = {0, 1}, point[1] = {0}, first[4] = {0, 2, 4, 5};
  const NoliSurfaceParts parts[3] = {
      {.n_edge = 1, .edge = edge}, {.n_edge = 1, .edge = edge}, {.n_point = 1, .point = point}};
  NoliSurface* surface = NULL;
  ASSERT_OK(noli_surface_create(context, 3, first, parts, &surface));
  double x[15] = {0, 0, 0, 4, 0, 0, 1, -1, 0, 1, 3, 0, 9, 9, 9};

  // exact contact, and the adjacent floating-point number
  const struct {
    double from[3], to[3], point[3];
    int64_t want;
    double at[3];
  } cases[] = {
      {{1, -1, 0}, {1, 3, 0}, {9, 9, 9}, 1, {1, 0, 0}},
      {{1, -1, 0}, {1, 0, 0}, {9, 9, 9}, 1, {1, 0, 0}},
      {{1, -1, 0}, {1, -5e-324, 0}, {9, 9, 9}, 0, {0}},
      {{1, -1, 5e-324}, {1, 3, 5e-324}, {9, 9, 9}, 0, {0}},
      {{3, 0, 0}, {7, 0, 0}, {9, 9, 9}, 1, {3.5, 0, 0}},
      {{5, 0, 0}, {7, 0, 0}, {9, 9, 9}, 0, {0}},
      {{5, 0, 0}, {7, 0, 0}, {2, 0, 0}, 1, {2, 0, 0}},
      {{5, 0, 0}, {7, 0, 0}, {2, 0, 5e-324}, 0, {0}},
      {{2, 0, 0}, {7, 5, 0}, {2, 0, 0}, 3, {2, 0, 0}},
  };

  // compare
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    NoliCrossing* crossings = NULL;
    int64_t n = 0;
    memcpy(x + 6, cases[i].from, sizeof cases[i].from);
    memcpy(x + 9, cases[i].to, sizeof cases[i].to);
    memcpy(x + 12, cases[i].point, sizeof cases[i].point);
    ASSERT_OK(noli_audit_intersections(context, surface, x, NULL, &crossings, &n));
    assert_int_equal(n, cases[i].want);
    for (int64_t k = 0; k < n; k++) {
      assert_int_equal(crossings[k].triangle, NOLI_NULL_INDEX);
      assert_true(crossings[k].edge[0] < crossings[k].tri[0]);
      assert_int_equal(noli_crossing_size(&crossings[k]), crossings[k].tri[0] == 4 ? 1 : 2);
      ASSERT_NEAR(crossings[k].position.x, cases[i].at[0], 1e-15);
      ASSERT_NEAR(crossings[k].position.y, cases[i].at[1], 1e-15);
    }
    noli_free(context, crossings);
  }
  noli_surface_destroy(context, &surface);
  test_context_done(&context);
}

// Against integers, and one ulp to either side of oblique planes.
static void sides_of_planes_are_exact(void** state) {
  (void)state;
  TestRandom random = {11};
  int n_on = 0;
  for (int trial = 0; trial < 20000; trial++) {
    double c[9], y[9];
    random_integers(&random, c, 9, trial % 2 == 0 ? 3.0 : 1000.0);
    double value = (c[0] - c[3]) * c[6] + (c[1] - c[4]) * c[7] + (c[2] - c[5]) * c[8];
    n_on += value == 0.0;
    const int exponents[] = {0, -300, 300, -500};
    for (size_t s = 0; s < sizeof exponents / sizeof *exponents; s++) {
      for (int i = 0; i < 9; i++) {
        y[i] = ldexp(c[i], exponents[s]);
      }
      assert_int_equal(noli_exact_plane_side(y, y + 3, y + 6), sign_of(value));
    }
  }
  assert_true(n_on > 100);
  const double origin[3] = {0.1, 0.2, 0.3}, normal[3] = {0.6, 0.0, 0.8};
  double x[3] = {0.1 + 0.8, 7.0, 0.3 - 0.6};
  int side = noli_exact_plane_side(x, origin, normal), n_changes = 0;
  for (int i = 0; i < 40; i++) {
    x[2] = nextafter(x[2], side > 0 ? -1.0 : 1.0);
    n_changes += noli_exact_plane_side(x, origin, normal) != side;
  }
  assert_true(n_changes > 0 && n_changes < 41);
}

static void vertices_below_planes_are_listed(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  const int32_t point[3] = {0, 1, 2}, first[2] = {0, 3};
  const NoliSurfaceParts parts = {.n_point = 3, .point = point};
  NoliSurface* surface = NULL;
  ASSERT_OK(noli_surface_create(context, 1, first, &parts, &surface));
  const NoliHalfSpace half_spaces[2] = {{{0, 0, 0}, {0, 1, 0}}, {{0, 5, 0}, {0, -1, 0}}};
  double x[9] = {0, 5e-324, 0, 0, 0, 0, 0, NAN, 0};
  assert_int_equal(noli_audit_below_plane(surface, x, half_spaces, NULL, 0, 0), 1);
  assert_int_equal(noli_audit_below_plane(surface, x, half_spaces, NULL, 0, 2), 2);
  assert_int_equal(noli_audit_below_plane(surface, x, half_spaces, NULL, 1, 0), 2);
  x[7] = 4.0;
  assert_int_equal(noli_audit_below_plane(surface, x, half_spaces, NULL, 1, 0), 3);
  const uint8_t none[2] = {0, 1};
  NoliBodyPairs pairs = pairs_of_tables(context, 1, NULL, 2, none);
  assert_int_equal(noli_audit_below_plane(surface, x, half_spaces, &pairs, 0, 0), 3);
  pairs_done(context, &pairs);
  noli_surface_destroy(context, &surface);
  test_context_done(&context);
}

static void inverted_and_flat_elements_are_counted(void** state) {
  (void)state;
  double x[15] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0.5, 0.25, 0.25};
  const int32_t tet[12] = {0, 1, 2, 3, 0, 2, 1, 3, 1, 2, 3, 4};
  int32_t first = 7;
  assert_int_equal(noli_audit_inverted(x, tet, 1, &first), 0);
  assert_int_equal(first, NOLI_NULL_INDEX);
  assert_int_equal(noli_audit_inverted(x, tet, 3, &first), 2);
  assert_int_equal(first, 1);
  x[12] = nextafter(0.5, 1.0);
  assert_int_equal(noli_audit_inverted(x, tet, 3, NULL), 1);
  x[12] = NAN;
  assert_int_equal(noli_audit_inverted(x, tet, 3, NULL), 2);
}

static void toolkit_lists_intersections_of_one_mesh(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  // a triangle whose edge (3, 4) passes through the first one
  const double x[18] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0.25, 0.25, -1, 0.25, 0.25, 3, 9, 9, 1};
  const int32_t tri[6] = {0, 1, 2, 3, 4, 5};
  NoliMeshIntersection* list = NULL;
  int64_t n = 0;
  ASSERT_OK(noli_mesh_intersections(context, 6, x, 2, tri, &list, &n));
  assert_int_equal(n, 2);
  // the second triangle cuts the first along a line from (1/4, 1/4) to its long side
  assert_int_equal(list[0].edge[0], 1);
  assert_int_equal(list[0].edge[1], 2);
  assert_int_equal(list[0].tri, 1);
  ASSERT_NEAR(list[0].position[0], 0.5, 1e-15);
  assert_int_equal(list[1].edge[0], 3);
  assert_int_equal(list[1].tri, 0);
  ASSERT_NEAR(list[1].position[0], 0.25, 1e-15);
  ASSERT_NEAR(list[1].position[2], 0.0, 1e-15);
  noli_mesh_intersections_free(context, &list);
  ASSERT_OK(noli_mesh_intersections(context, 3, x, 1, tri, &list, &n));
  assert_int_equal(n, 0);
  assert_null(list);
  ASSERT_STATUS(noli_mesh_intersections(context, 5, x, 2, tri, &list, &n), NOLI_ERROR_ARGUMENT);
  test_context_done(&context);
}

// ---- offsets ----------------------------------------------------------------------------------

// The gap of two primitives of the list or of all pairs, by the slow distances.
static double gap_of(const Scene* scene, bool edges, const int32_t* a, const int32_t* b) {
  NoliVec3 y[4];
  for (int k = 0; k < 4; k++) {
    int first = edges ? 2 : 1;
    y[k] = noli_load3(scene->x + 3 * (k < first ? a[k] : b[k - first]));
  }
  const int32_t* body = scene->surface->body;
  return reference_distance(edges ? reference_edge_edge : reference_point_triangle, y) -
         scene->surface->offset[body[a[0]]] - scene->surface->offset[body[b[0]]];
}

static bool shares(const int32_t* a, int n_a, const int32_t* b, int n_b) {
  bool shared = false;
  for (int i = 0; i < n_a * n_b; i++) {
    shared = shared || a[i / n_b] == b[i % n_b];
  }
  return shared;
}

// Number of overlapping pairs: points on triangles and edges on edges, isolated points as edges.
static int64_t count_overlaps(const Scene* scene, const uint8_t* allowed) {
  const NoliSurface* s = scene->surface;
  int64_t n = 0;
  for (int32_t p = 0; p < s->n_point; p++) {
    for (int32_t t = 0; t < s->n_tri; t++) {
      const int32_t *a = &s->point[p], *b = &s->tri[3 * t];
      n += (allowed == NULL || allowed[3 * s->body[*a] + s->body[*b]]) && !shares(a, 1, b, 3) &&
           gap_of(scene, false, a, b) <= 0.0;
    }
  }
  int32_t(*item)[2] = malloc(sizeof *item * (size_t)(s->n_edge + s->n_point));
  int32_t n_item = 0;
  for (int32_t e = 0; e < s->n_edge; e++, n_item++) {
    memcpy(item[n_item], &s->edge[2 * e], sizeof item[0]);
  }
  for (int32_t p = 0; p < s->n_point; p++) {
    if (!shares(&s->point[p], 1, s->edge, 2 * s->n_edge)) {
      item[n_item][0] = item[n_item][1] = s->point[p];
      n_item++;
    }
  }
  for (int32_t i = 0; i < n_item; i++) {
    for (int32_t j = i + 1; j < n_item; j++) {
      n += (allowed == NULL || allowed[3 * s->body[item[i][0]] + s->body[item[j][0]]]) &&
           !shares(item[i], 2, item[j], 2) && gap_of(scene, true, item[i], item[j]) <= 0.0;
    }
  }
  free(item);
  return n;
}

static void overlaps_agree_with_all_pairs(void** state) {
  (void)state;
  TestRandom random = {51};
  const uint8_t allowed[9] = {1, 0, 1, 0, 0, 1, 1, 1, 0};
  int64_t most = 0, least = INT64_MAX;
  for (int trial = 0; trial < 10; trial++) {
    Scene scene = random_scene(&random, test_random(&random, 0.01, 0.1), 0.0);
    const double offset[3] = {trial % 2 * 0.02, 0.03, test_random(&random, 0.0, 0.05)};
    ASSERT_OK(noli_surface_set_offsets(scene.context, scene.surface, offset));
    for (int filter = 0; filter < 2; filter++) {
      NoliBodyPairs pairs = pairs_of_tables(scene.context, 3, allowed, 0, NULL);
      NoliOverlap* overlaps = NULL;
      int64_t n = 0;
      ASSERT_OK(noli_audit_overlaps(scene.context, scene.surface, scene.x,
                                    filter == 0 ? NULL : &pairs, &overlaps, &n));
      pairs_done(scene.context, &pairs);
      assert_int_equal(n, count_overlaps(&scene, filter == 0 ? NULL : allowed));
      for (int64_t i = 0; i < n; i++) {
        const NoliOverlap* o = &overlaps[i];
        bool edges = o->b[1] == o->b[2];
        double want = gap_of(&scene, edges, o->a, o->b);
        ASSERT_NEAR(o->gap, want, 1e-15);
        assert_true(o->gap <= 0.0);
        assert_true(i == 0 || memcmp(&o[-1], o, sizeof *o) != 0);
      }
      most = n > most ? n : most;
      least = n < least ? n : least;
      noli_free(scene.context, overlaps);
    }
    release_scene(&scene);
  }
  print_message("%lld to %lld overlaps\n", (long long)least, (long long)most);
  assert_true(least > 10);
}

// One ulp decides: two points and a point above a plane at the sum of their offsets, and beyond.
static void overlaps_and_gaps_differ_by_one_ulp(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  NoliSurface* surface = NULL;
  const int32_t first[3] = {0, 1, 2}, point[1] = {0};
  const NoliSurfaceParts part = {.n_point = 1, .point = point}, parts[2] = {part, part};
  ASSERT_OK(noli_surface_create(context, 2, first, parts, &surface));
  ASSERT_OK(noli_surface_set_offsets(context, surface, (double[]){0.25, 0.5}));
  const NoliHalfSpace plane = {{0, 0, 0}, {0, 1, 0}};
  for (int k = 0; k < 2; k++) {
    double y = k == 0 ? 0.75 : nextafter(0.75, 1.0), h = k == 0 ? 0.25 : nextafter(0.25, 1.0);
    const double x[6] = {0.0, h, 0.0, 0.0, h + 1.0, 0.0};
    NoliOverlap* overlaps = NULL;
    int64_t n = 0;
    ASSERT_OK(
        noli_audit_overlaps(context, surface, (double[]){0, 0, 0, 0, y, 0}, NULL, &overlaps, &n));
    assert_int_equal(n, 1 - k);
    noli_free(context, overlaps);
    int32_t below = noli_audit_below_plane(surface, x, &plane, NULL, 0, 0);
    assert_int_equal(below, k == 0 ? 0 : surface->n_point);
  }
  noli_surface_destroy(context, &surface);
  test_context_done(&context);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(signs_agree_with_integer_arithmetic_at_any_scale),
      cmocka_unit_test(signs_agree_with_doubles_when_well_separated),
      cmocka_unit_test(one_ulp_off_a_plane_is_seen),
      cmocka_unit_test(degenerate_edges_and_triangles_agree_with_distances),
      cmocka_unit_test(touching_and_just_apart_differ_by_one_ulp),
      cmocka_unit_test(audits_agree_with_all_pairs),
      cmocka_unit_test(lone_points_on_triangles_are_found),
      cmocka_unit_test(segments_and_points_meet_each_other),
      cmocka_unit_test(sides_of_planes_are_exact),
      cmocka_unit_test(vertices_below_planes_are_listed),
      cmocka_unit_test(inverted_and_flat_elements_are_counted),
      cmocka_unit_test(toolkit_lists_intersections_of_one_mesh),
      cmocka_unit_test(overlaps_agree_with_all_pairs),
      cmocka_unit_test(overlaps_and_gaps_differ_by_one_ulp),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
