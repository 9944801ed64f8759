#include "support.h"

#include "collide/closest.h"
#include "collide/closest_reference.h"
#include "noli/distance.h"

static void set_random(TestRandom* random, NoliVec3 x[4]) {
  for (int i = 0; i < 4; i++) {
    x[i] = random_vector(random, 1.0);
  }
}

// Awkward point-triangle pairs: needles, obtuse ones, flat ones, repeated vertices, small gaps,
// points above vertices and edges, all possibly far from the origin.
static void awkward_point_triangle(TestRandom* random, NoliVec3 x[4]) {
  set_random(random, x);
  uint64_t shape = test_random_bits(random) % 6;
  double along = test_random(random, -1.5, 1.5), thin = random_power(random, -17.0, 0.0);
  NoliVec3 e = noli_sub3(x[2], x[1]);
  if (shape == 1) {
    // the third vertex near the line of the first two
    x[3] = noli_add3(noli_mul_add3(x[1], along, e), random_vector(random, thin));
  } else if (shape == 2) {
    // a short edge
    x[3] = noli_add3(x[1], random_vector(random, thin));
  } else if (shape == 3) {
    x[3] = noli_mul_add3(x[1], along, e);
  } else if (shape == 4) {
    x[1 + test_random_bits(random) % 3] = x[1 + test_random_bits(random) % 3];
  }
  if (test_random_bits(random) % 2 == 0) {
    // the point near a random place of the triangle's plane, an edge or a vertex
    double a = test_random(random, -0.5, 1.5), b = test_random(random, -0.5, 1.5);
    a = test_random_bits(random) % 3 == 0 ? 0.0 : a;
    b = test_random_bits(random) % 3 == 0 ? 0.0 : b;
    x[0] = noli_mul_add3(noli_mul_add3(x[1], a, noli_sub3(x[2], x[1])), b, noli_sub3(x[3], x[1]));
    x[0] = noli_add3(x[0], random_vector(random, random_power(random, -16.0, 0.0)));
  }
}

static void awkward_edge_edge(TestRandom* random, NoliVec3 x[4]) {
  set_random(random, x);
  uint64_t shape = test_random_bits(random) % 5;
  double length = test_random(random, -2.0, 2.0);
  NoliVec3 u = noli_sub3(x[1], x[0]);
  if (shape == 1) {
    // nearly or exactly parallel
    double tilt = test_random_bits(random) % 4 == 0 ? 0.0 : random_power(random, -18.0, 0.0);
    x[3] = noli_add3(noli_mul_add3(x[2], length, u), random_vector(random, tilt));
  } else if (shape == 2) {
    x[1] = noli_add3(x[0], random_vector(random, random_power(random, -17.0, 0.0)));
  } else if (shape == 3) {
    x[1 + test_random_bits(random) % 3] = x[test_random_bits(random) % 4];
  }
  if (test_random_bits(random) % 2 == 0) {
    // edge b is moved so that it passes edge a closely
    NoliVec3 v = noli_sub3(x[3], x[2]);
    double s = test_random(random, -0.3, 1.3), t = test_random(random, -0.3, 1.3);
    NoliVec3 meet = noli_mul_add3(x[0], s, noli_sub3(x[1], x[0]));
    meet = noli_add3(meet, random_vector(random, random_power(random, -16.0, 0.0)));
    x[2] = noli_mul_add3(meet, -t, v);
    x[3] = noli_add3(x[2], v);
  }
}

typedef void MakePair(TestRandom* random, NoliVec3 x[4]);
typedef double SquaredDistance(const NoliVec3 x[4]);

static void compare_with_reference(MakePair* make, SquaredDistance* distance,
                                   ReferenceDistance* reference) {
  TestRandom random = {20};
  double worst = 0.0;
  for (int k = 0; k < 400000; k++) {
    NoliVec3 x[4];
    make(&random, x);
    Long3 y[4];
    double scale = test_random_bits(&random) % 2 == 0 ? 1.0 : random_power(&random, -6.0, 6.0);
    for (int i = 0; i < 4; i++) {
      x[i] = noli_scale3(scale, x[i]);
      y[i] = long_vec(x[i]);
    }
    double got = sqrt(distance(x)), want = (double)reference(y);
    // 1e-13 is the allowed deviation of parallel edges and flat triangles; the rest is rounding
    double error = fabs(got - want) / scale;
    if (!(error <= 4e-13)) {
      print_error("case %d: got %.17g, want %.17g\n", k, got / scale, want / scale);
      fail();
    }
    worst = noli_larger(worst, error);
  }
  print_message("largest error %.2g of the size\n", worst);
}

static void point_triangle_distance_is_the_least_of_all_cases(void** state) {
  (void)state;
  compare_with_reference(awkward_point_triangle, noli_distance_sqr_point_triangle,
                         reference_point_triangle);
}

static void edge_edge_distance_is_the_least_of_all_cases(void** state) {
  (void)state;
  compare_with_reference(awkward_edge_edge, noli_distance_sqr_edge_edge, reference_edge_edge);
}

// A gap of 1e-8 edge lengths has seven good digits, far from the origin as well (exact shifts).
static void small_gaps_are_accurate(void** state) {
  (void)state;
  TestRandom random = {21};
  double worst = 0.0;
  for (int k = 0; k < 100000; k++) {
    NoliVec3 x[4];
    set_random(&random, x);

    // a point above a triangle
    NoliVec3 n = noli_normalize3(noli_cross3(noli_sub3(x[2], x[1]), noli_sub3(x[3], x[1])));
    double a = test_random(&random, 0.0, 1.0), b = test_random(&random, 0.0, 1.0 - a);
    double gap = random_power(&random, -8.0, 0.0);
    x[0] = noli_mul_add3(noli_mul_add3(x[1], a, noli_sub3(x[2], x[1])), b, noli_sub3(x[3], x[1]));
    x[0] = noli_mul_add3(x[0], gap, n);

    // the four points as two edges: closest vector along u x v
    NoliVec3 z[4];
    set_random(&random, z);
    NoliVec3 u = noli_sub3(z[1], z[0]), v = noli_sub3(z[3], z[2]);
    NoliVec3 m = noli_normalize3(noli_cross3(u, v));
    z[2] = noli_mul_add3(noli_mul_add3(noli_mul_add3(z[0], a, u), -b, v), gap, m);
    z[3] = noli_add3(z[2], v);

    // away from the origin
    for (int i = 0; i < 4 && k % 2 == 0; i++) {
      x[i] = noli_add3(x[i], noli_vec3(1024.0, -1024.0, 1024.0));
      z[i] = noli_add3(z[i], noli_vec3(1024.0, -1024.0, 1024.0));
    }

    // compare with long double
    Long3 y[4] = {long_vec(x[0]), long_vec(x[1]), long_vec(x[2]), long_vec(x[3])};
    Long3 q[4] = {long_vec(z[0]), long_vec(z[1]), long_vec(z[2]), long_vec(z[3])};
    double want = (double)reference_point_triangle(y);
    worst = noli_larger(worst, fabs(sqrt(noli_distance_sqr_point_triangle(x)) / want - 1.0));
    want = (double)reference_edge_edge(q);
    worst = noli_larger(worst, fabs(sqrt(noli_distance_sqr_edge_edge(z)) / want - 1.0));
  }
  print_message("largest relative error %.2g\n", worst);
  ASSERT_AT_MOST(worst, 2e-7);
}

static bool same_feature(NoliFeature a, NoliFeature b) {
  return a.kind == b.kind && memcmp(a.vertex, b.vertex, sizeof a.vertex) == 0;
}

static void identities_hold(const NoliVec3 x[4], NoliFeature feature) {
  NoliVec3 y[4] = {{0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}};
  int32_t size = noli_pair_size[feature.kind];
  for (int32_t i = 0; i < 4; i++) {
    assert_int_equal(feature.vertex[i] == NOLI_NULL_INDEX, i >= size);
    if (i < size) {
      y[i] = x[feature.vertex[i]];
    }
  }
  NoliClosest closest = noli_closest(feature.kind, y);
  assert_int_equal(closest.n_dir, feature.kind < NOLI_PAIR_POINT_TRIANGLE ? (int)feature.kind : 2);
  NoliVec3 r = {0.0, 0.0, 0.0};
  double weight_sum = 0.0;
  for (int32_t i = 0; i < 4; i++) {
    weight_sum += closest.weight[i];
    r = noli_mul_add3(r, closest.weight[i], y[i]);
  }
  ASSERT_NEAR(weight_sum, 0.0, 1e-15);
  // points near a flat triangle have large errors in the weights, but not across
  ASSERT_NEAR(noli_norm3(noli_sub3(r, closest.r)), 0.0, 1e-12);
  ASSERT_NEAR(closest.d_sqr, noli_norm_sqr3(closest.r), 0.0);
  for (int32_t k = 0; k < closest.n_dir; k++) {
    NoliVec3 s = noli_closest_direction(&closest, k, size, y);
    ASSERT_NEAR(noli_norm3(s), 1.0, 1e-9);
    ASSERT_NEAR(noli_dot3(s, closest.r), 0.0, 1e-9);
    for (int32_t l = 0; l < k; l++) {
      ASSERT_NEAR(noli_dot3(s, noli_closest_direction(&closest, l, size, y)), 0.0, 1e-9);
    }
  }
}

static void closest_vectors_fulfil_their_definition(void** state) {
  (void)state;
  TestRandom random = {22};
  for (int k = 0; k < 20000; k++) {
    NoliVec3 x[4];
    set_random(&random, x);
    double thin = random_power(&random, -5.0, 0.0);
    if (k % 3 == 0) {
      x[3] =
          noli_add3(noli_mul_add3(x[2], 1.5, noli_sub3(x[1], x[0])), random_vector(&random, thin));
    } else if (k % 3 == 1) {
      x[3] =
          noli_add3(noli_mul_add3(x[1], 0.5, noli_sub3(x[2], x[1])), random_vector(&random, thin));
    }
    identities_hold(x, noli_feature_edge_edge(x));
    identities_hold(x, noli_feature_point_triangle(x));
    identities_hold(x, noli_feature_point_edge(x));
  }
}

// Ties and degenerate input have fixed answers.
static void ties_go_to_fewer_vertices(void** state) {
  (void)state;
  const NoliVec3 a = {0.0, 0.0, 0.0}, b = {1.0, 0.0, 0.0}, c = {0.0, 1.0, 0.0};
  // above a vertex, above an edge
  NoliVec3 above_vertex[4] = {{0.0, 0.0, 0.5}, a, b, c};
  assert_true(same_feature(noli_feature_point_triangle(above_vertex),
                           (NoliFeature){NOLI_PAIR_POINT_POINT, {0, 1, -1, -1}}));
  NoliVec3 above_edge[4] = {{0.5, 0.0, 0.5}, a, b, c};
  assert_true(same_feature(noli_feature_point_triangle(above_edge),
                           (NoliFeature){NOLI_PAIR_POINT_EDGE, {0, 1, 2, -1}}));
  // parallel edges that overlap, edges that cross at an end
  NoliVec3 parallel[4] = {a, b, {0.5, 1.0, 0.0}, {1.5, 1.0, 0.0}};
  assert_int_equal(noli_feature_edge_edge(parallel).kind, NOLI_PAIR_POINT_EDGE);
  NoliVec3 aligned[4] = {a, b, {0.0, 1.0, 0.0}, {1.0, 1.0, 0.0}};
  assert_int_equal(noli_feature_edge_edge(aligned).kind, NOLI_PAIR_POINT_POINT);
  NoliVec3 crossing[4] = {a, b, {0.0, 0.0, 1.0}, {0.0, 1.0, 1.0}};
  assert_true(same_feature(noli_feature_edge_edge(crossing),
                           (NoliFeature){NOLI_PAIR_POINT_POINT, {0, 2, -1, -1}}));
  // all vertices at one point
  NoliVec3 points[4] = {b, a, a, a};
  assert_int_equal(noli_feature_point_triangle(points).kind, NOLI_PAIR_POINT_POINT);
  ASSERT_NEAR(noli_distance_sqr_point_triangle(points), 1.0, 0.0);
  NoliVec3 point_edges[4] = {a, a, b, b};
  assert_int_equal(noli_feature_edge_edge(point_edges).kind, NOLI_PAIR_POINT_POINT);
  ASSERT_NEAR(noli_distance_sqr_edge_edge(point_edges), 1.0, 0.0);
}

// -- derivatives

typedef struct Toolkit {
  double (*value)(const double*, const double*, const double*, const double*);
  void (*gradient)(const double*, const double*, const double*, const double*, double*);
  void (*hessian)(const double*, const double*, const double*, const double*, double*);
} Toolkit;

static double toolkit_function(void* user, const double* x, double* gradient, double* hessian) {
  const Toolkit* toolkit = user;
  if (gradient != NULL) {
    toolkit->gradient(x, x + 3, x + 6, x + 9, gradient);
  }
  if (hessian != NULL) {
    toolkit->hessian(x, x + 3, x + 6, x + 9, hessian);
  }
  return toolkit->value(x, x + 3, x + 6, x + 9);
}

static Toolkit point_triangle = {noli_point_triangle_distance_sqr,
                                 noli_point_triangle_distance_sqr_gradient,
                                 noli_point_triangle_distance_sqr_hessian};
static Toolkit edge_edge = {noli_edge_edge_distance_sqr, noli_edge_edge_distance_sqr_gradient,
                            noli_edge_edge_distance_sqr_hessian};

static double point_edge_function(void* user, const double* x, double* gradient, double* hessian) {
  (void)user;
  if (gradient != NULL) {
    noli_point_edge_distance_sqr_gradient(x, x + 3, x + 6, gradient);
  }
  if (hessian != NULL) {
    noli_point_edge_distance_sqr_hessian(x, x + 3, x + 6, hessian);
  }
  return noli_point_edge_distance_sqr(x, x + 3, x + 6);
}

static double point_point_function(void* user, const double* x, double* gradient, double* hessian) {
  (void)user;
  if (gradient != NULL) {
    noli_point_point_distance_sqr_gradient(x, x + 3, gradient);
  }
  if (hessian != NULL) {
    noli_point_point_distance_sqr_hessian(x, x + 3, hessian);
  }
  return noli_point_point_distance_sqr(x, x + 3);
}

typedef NoliFeature ActiveCase(const NoliVec3 x[4]);

// The case stays the same when any vertex moves by `margin`.
static bool stable_case(ActiveCase* active, const NoliVec3 x[4], double margin) {
  NoliFeature feature = active(x);
  for (int k = 0; k < 24; k++) {
    double y[12];
    NoliVec3 z[4];
    memcpy(y, x, sizeof y);
    y[k / 2] += k % 2 == 0 ? margin : -margin;
    memcpy(z, y, sizeof y);
    if (!same_feature(active(z), feature)) {
      return false;
    }
  }
  return true;
}

// Random pairs; every one of the `n_cases` cases must be met often.
static void check_all_cases(ActiveCase* active, Toolkit* toolkit, int n_cases) {
  enum { PER_CASE = 20, MAX_CASES = 16 };
  TestRandom random = {23};
  NoliFeature seen[MAX_CASES];
  int count[MAX_CASES] = {0}, n_seen = 0, n_full = 0;
  for (int k = 0; k < 1000000 && n_full < n_cases; k++) {
    NoliVec3 x[4];
    set_random(&random, x);
    if (!stable_case(active, x, 0.01)) {
      continue;
    }
    NoliFeature feature = active(x);
    int at = 0;
    while (at < n_seen && !same_feature(seen[at], feature)) {
      at++;
    }
    if (at == n_seen) {
      assert_true(n_seen < n_cases);
      seen[n_seen++] = feature;
    }
    if (count[at] < PER_CASE) {
      double y[12];
      memcpy(y, x, sizeof y);
      test_derivatives(toolkit_function, toolkit, 12, y, 1.0, 1e-8, 1e-7);
      n_full += ++count[at] == PER_CASE;
    }
  }
  assert_int_equal(n_full, n_cases);
}

static void derivatives_of_all_point_triangle_cases(void** state) {
  (void)state;
  check_all_cases(noli_feature_point_triangle, &point_triangle, 7);
}

static void derivatives_of_all_edge_edge_cases(void** state) {
  (void)state;
  check_all_cases(noli_feature_edge_edge, &edge_edge, 9);
}

static void derivatives_of_points_and_edges(void** state) {
  (void)state;
  TestRandom random = {24};
  for (int k = 0; k < 60; k++) {
    NoliVec3 x[4];
    set_random(&random, x);
    double y[12];
    memcpy(y, x, sizeof y);
    test_derivatives(point_point_function, NULL, 6, y, 1.0, 1e-8, 1e-7);
    if (stable_case(noli_feature_point_edge, x, 0.01)) {
      test_derivatives(point_edge_function, NULL, 9, y, 1.0, 1e-8, 1e-7);
    }
  }
}

// Needles with points above their inside, edges that cross at small angles: scales of differences
// shrink with the thin direction.
static void derivatives_near_degenerate_cases(void** state) {
  (void)state;
  for (int exponent = 1; exponent <= 4; exponent++) {
    double thin = pow(10.0, -exponent), y[12];
    NoliVec3 needle[4] = {{0.45, 0.3 * thin, 0.3 * thin},
                          {0.0, 0.0, 0.0},
                          {1.0, 0.1 * thin, 0.02},
                          {0.5, thin, 0.01}};
    needle[0].z += 0.009;
    assert_int_equal(noli_feature_point_triangle(needle).kind, NOLI_PAIR_POINT_TRIANGLE);
    memcpy(y, needle, sizeof y);
    test_derivatives(toolkit_function, &point_triangle, 12, y, thin, 1e-7, 1e-6);
    NoliVec3 edges[4] = {{-1.0, 0.0, 0.0},
                         {1.1, 0.1, 0.0},
                         {-0.9, 0.1 / 21.0 - thin, 0.2 * thin},
                         {1.2, 0.1 * 22.0 / 21.0 + 1.1 * thin, 0.3 * thin}};
    assert_int_equal(noli_feature_edge_edge(edges).kind, NOLI_PAIR_EDGE_EDGE);
    memcpy(y, edges, sizeof y);
    test_derivatives(toolkit_function, &edge_edge, 12, y, thin, 1e-7, 1e-6);
  }
}

// -- invariances

static NoliVec3 rotate(const NoliVec3 axis[3], NoliVec3 a) {
  return noli_vec3(noli_dot3(axis[0], a), noli_dot3(axis[1], a), noli_dot3(axis[2], a));
}

// Gradient and distance rotate with the pair, are invariant under translation, and follow a change
// of order.
static void check_invariance(TestRandom* random, Toolkit* toolkit, const int order[4]) {
  NoliVec3 x[4], axis[3], turned[4], ordered[4];
  set_random(random, x);
  axis[0] = noli_normalize3(random_vector(random, 1.0));
  axis[1] = noli_normalize3(noli_cross3(axis[0], random_vector(random, 1.0)));
  axis[2] = noli_cross3(axis[0], axis[1]);
  NoliVec3 shift = random_vector(random, 10.0);
  for (int i = 0; i < 4; i++) {
    turned[i] = noli_add3(rotate(axis, x[i]), shift);
    ordered[i] = x[order[i]];
  }
  double y[12], g[12], g_turned[12], g_ordered[12];
  memcpy(y, x, sizeof y);
  double d_sqr = toolkit_function(toolkit, y, g, NULL);
  memcpy(y, turned, sizeof y);
  ASSERT_NEAR(toolkit_function(toolkit, y, g_turned, NULL), d_sqr, 1e-13);
  memcpy(y, ordered, sizeof y);
  ASSERT_NEAR(toolkit_function(toolkit, y, g_ordered, NULL), d_sqr, 1e-13);
  for (int i = 0; i < 4; i++) {
    NoliVec3 want = rotate(axis, noli_load3(&g[3 * i]));
    ASSERT_NEAR(noli_norm3(noli_sub3(want, noli_load3(&g_turned[3 * i]))), 0.0, 1e-10);
    want = noli_load3(&g[3 * order[i]]);
    ASSERT_NEAR(noli_norm3(noli_sub3(want, noli_load3(&g_ordered[3 * i]))), 0.0, 1e-10);
  }
}

static void distances_are_invariant(void** state) {
  (void)state;
  TestRandom random = {25};
  for (int k = 0; k < 2000; k++) {
    check_invariance(&random, &point_triangle, (const int[4]){0, 2, 3, 1});
    check_invariance(&random, &point_triangle, (const int[4]){0, 1, 3, 2});
    check_invariance(&random, &edge_edge, (const int[4]){2, 3, 0, 1});
    check_invariance(&random, &edge_edge, (const int[4]){1, 0, 2, 3});
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(point_triangle_distance_is_the_least_of_all_cases),
      cmocka_unit_test(edge_edge_distance_is_the_least_of_all_cases),
      cmocka_unit_test(small_gaps_are_accurate),
      cmocka_unit_test(closest_vectors_fulfil_their_definition),
      cmocka_unit_test(ties_go_to_fewer_vertices),
      cmocka_unit_test(derivatives_of_all_point_triangle_cases),
      cmocka_unit_test(derivatives_of_all_edge_edge_cases),
      cmocka_unit_test(derivatives_of_points_and_edges),
      cmocka_unit_test(derivatives_near_degenerate_cases),
      cmocka_unit_test(distances_are_invariant),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
