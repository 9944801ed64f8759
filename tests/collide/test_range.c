// Pairs of any size: multiplied by a power of two, they have the same times of impact, the same
// closest features, and distances and derivatives multiplied by its powers, all to the last bit.
#include "support.h"

#include "collide/ccd.h"
#include "collide/closest.h"
#include "noli/ccd.h"
#include "noli/distance.h"

enum { N_PAIRS = 200, MOST = 1000 };

// Coordinates are multiples of 2^-20 in [-1, 1], so that 2^-1000 times them is exact.
static NoliVec3 random_point(TestRandom* random) {
  double c[3];
  for (int i = 0; i < 3; i++) {
    c[i] = round(test_random(random, -1.0, 1.0) * 0x1p20) * 0x1p-20;
  }
  return noli_load3(c);
}

static NoliVec3 times_power(NoliVec3 a, int k) {
  return noli_vec3(ldexp(a.x, k), ldexp(a.y, k), ldexp(a.z, k));
}

typedef struct Pair {
  NoliVec3 x_t0[4], x_t1[4];
} Pair;

// Every third pair has edges that are nearly parallel, or a triangle that is nearly a line.
static Pair random_pair(TestRandom* random, int i) {
  Pair pair;
  for (int v = 0; v < 4; v++) {
    pair.x_t0[v] = random_point(random);
    pair.x_t1[v] = random_point(random);
  }
  if (i % 3 == 0) {
    NoliVec3 u = noli_sub3(pair.x_t0[1], pair.x_t0[0]);
    pair.x_t0[3] = noli_add3(pair.x_t0[2], u);
    pair.x_t0[3].x += 0x1p-20;
  }
  return pair;
}

static Pair scaled_pair(const Pair* pair, int k) {
  Pair scaled;
  for (int v = 0; v < 4; v++) {
    scaled.x_t0[v] = times_power(pair->x_t0[v], k);
    scaled.x_t1[v] = times_power(pair->x_t1[v], k);
  }
  return scaled;
}

typedef bool CcdFn(const NoliVec3*, const NoliVec3*, const NoliCcdOptions*, double, double*);
static CcdFn* const queries[] = {noli_ccd_point_triangle, noli_ccd_edge_edge, noli_ccd_point_edge,
                                 noli_ccd_point_point};

static NoliCcdOptions options_of(const char* method, int k) {
  NoliCcdOptions options = noli_default_ccd_options();
  options.method = method;
  options.max_boxes = 300;
  options.min_separation = ldexp(0x1p-8, k);
  options.gap_cap = ldexp(0x1p-6, k);
  options.small_gap = ldexp(0x1p-12, k);
  return options;
}

// Steps of 10, and all powers around those where products of two and four lengths vanish.
static int next_power(int k) {
  bool close = abs(abs(k) - 256) < 20 || abs(abs(k) - 512) < 20 || abs(abs(k) - 200) < 3;
  return close || MOST - abs(k) < 3 ? k + 1 : k + 10;
}

static void times_of_impact_do_not_depend_on_size(void** state) {
  (void)state;
  TestRandom random = {3};
  int64_t n_hits = 0, n_queries = 0;
  for (int i = 0; i < N_PAIRS; i++) {
    Pair pair = random_pair(&random, i);
    for (size_t q = 0; q < 8; q++) {
      NoliCcdOptions plain = options_of(q < 4 ? "additive" : "inclusion", 0);
      double want = -1.0;
      bool want_hit = queries[q % 4](pair.x_t0, pair.x_t1, &plain, 1.0, &want);
      n_hits += want_hit && want > 0.0;
      n_queries++;
      // inclusion-based detection is slow: fewer powers
      for (int k = -MOST; k <= MOST; k = q < 4 ? next_power(k) : k + 100) {
        Pair scaled = scaled_pair(&pair, k);
        NoliCcdOptions options = options_of(plain.method, k);
        double toi = -1.0;
        bool hit = queries[q % 4](scaled.x_t0, scaled.x_t1, &options, 1.0, &toi);
        if (hit != want_hit || toi != want) {
          print_error("pair %d, query %d, 2^%d: %d at %.17g, want %d at %.17g\n", i, (int)q, k, hit,
                      toi, want_hit, want);
          fail();
        }
      }
    }
  }
  print_message("%d of %d queries hit after their start\n", (int)n_hits, (int)n_queries);
  assert_true(n_hits > n_queries / 20);
}

static void half_spaces_do_not_depend_on_size(void** state) {
  (void)state;
  TestRandom random = {4};
  const NoliVec3 normal = {0.6, 0.0, 0.8};
  int n_between = 0;
  for (int i = 0; i < N_PAIRS; i++) {
    Pair pair = random_pair(&random, i);
    NoliCcdOptions plain = options_of("additive", 0);
    double want =
        noli_ccd_half_space(pair.x_t0[0], pair.x_t1[0], pair.x_t0[1], normal, &plain, 1.0);
    n_between += want > 0.0 && want < 1.0;
    for (int k = -MOST; k <= MOST; k = next_power(k)) {
      Pair scaled = scaled_pair(&pair, k);
      NoliCcdOptions options = options_of("additive", k);
      assert_true(noli_ccd_half_space(scaled.x_t0[0], scaled.x_t1[0], scaled.x_t0[1], normal,
                                      &options, 1.0) == want);
    }
  }
  assert_true(n_between > 10);
}

// Powers of two are exact where results are normal numbers; smaller ones are rounded.
static void assert_scaled(double got, double base, int power) {
  double want = ldexp(base, power);
  double tolerance = fabs(want) < 0x1p-1021 ? 0x1p-1073 : 0.0;
  if (!(got == want || fabs(got - want) <= tolerance)) {
    print_error("2^%d: got %.17g, want %.17g\n", power, got, want);
    fail();
  }
}

static void distances_scale_with_size(void** state) {
  (void)state;
  TestRandom random = {5};
  for (int i = 0; i < N_PAIRS; i++) {
    Pair pair = random_pair(&random, i);
    const NoliVec3* x = pair.x_t0;
    NoliFeature features[2] = {noli_feature_point_triangle(x), noli_feature_edge_edge(x)};
    NoliVec3 vectors[3] = {noli_closest_vector_point_triangle(x), noli_closest_vector_edge_edge(x),
                           noli_closest_vector_point_edge(x)};
    assert_true(noli_norm_sqr3(vectors[0]) > 0.0 && noli_norm_sqr3(vectors[1]) > 0.0);
    for (int k = -MOST; k <= MOST; k = next_power(k)) {
      Pair scaled = scaled_pair(&pair, k);
      const NoliVec3* y = scaled.x_t0;
      NoliFeature again[2] = {noli_feature_point_triangle(y), noli_feature_edge_edge(y)};
      assert_memory_equal(again, features, sizeof features);
      NoliVec3 got[3] = {noli_closest_vector_point_triangle(y), noli_closest_vector_edge_edge(y),
                         noli_closest_vector_point_edge(y)};
      for (int v = 0; v < 3; v++) {
        assert_scaled(got[v].x, vectors[v].x, k);
        assert_scaled(got[v].y, vectors[v].y, k);
        assert_scaled(got[v].z, vectors[v].z, k);
      }
      assert_scaled(noli_distance_sqr_point_triangle(y), noli_norm_sqr3(vectors[0]), 2 * k);
      assert_scaled(noli_distance_sqr_edge_edge(y), noli_norm_sqr3(vectors[1]), 2 * k);
    }
  }
}

static void derivatives_scale_with_size(void** state) {
  (void)state;
  TestRandom random = {6};
  for (int i = 0; i < N_PAIRS; i++) {
    Pair pair = random_pair(&random, i);
    double gradient[12], hessian[144];

    // at the original size
    const NoliVec3* x = pair.x_t0;
    NoliFeature feature = noli_feature_edge_edge(x);
    NoliVec3 at[4] = {{0, 0, 0}, {0, 0, 0}, {0, 0, 0}, {0, 0, 0}};
    int32_t size = noli_pair_size[feature.kind];
    for (int32_t v = 0; v < size; v++) {
      at[v] = x[feature.vertex[v]];
    }
    noli_distance_sqr_derivatives(feature.kind, at, gradient, hessian);
    NoliClosest closest = noli_closest(feature.kind, at);

    // at every other size
    for (int k = -MOST; k <= MOST; k = next_power(k)) {
      NoliVec3 scaled[4];
      double scaled_gradient[12], scaled_hessian[144];
      for (int32_t v = 0; v < size; v++) {
        scaled[v] = times_power(at[v], k);
      }
      noli_distance_sqr_derivatives(feature.kind, scaled, scaled_gradient, scaled_hessian);
      for (int32_t n = 0; n < 3 * size; n++) {
        assert_scaled(scaled_gradient[n], gradient[n], k);
      }
      for (int32_t n = 0; n < 9 * size * size; n++) {
        assert_scaled(scaled_hessian[n], hessian[n], 0);
      }
      NoliClosest again = noli_closest(feature.kind, scaled);
      assert_memory_equal(again.weight, closest.weight, sizeof closest.weight);
      for (int32_t n = 0; n < 8; n++) {
        assert_scaled(again.dir[n / 4][n % 4], closest.dir[n / 4][n % 4], -k);
      }
    }
  }
}

// The largest numbers: their differences are not finite.
static void extremes_are_safe(void** state) {
  (void)state;
  const double top = 0x1.fffffffffffffp1023, tiny = 0x1p-1074;
  double toi = -1.0;
  // p falls from the top to the bottom, through a triangle in between
  const double p_t0[3] = {0, top, 0}, p_t1[3] = {0, -top, 0};
  const double t0[3] = {-top, 0, -top}, t1[3] = {top, 0, -top}, t2[3] = {0, 0, top};
  assert_true(noli_point_triangle_ccd(p_t0, t0, t1, t2, p_t1, t0, t1, t2, NULL, 1.0, &toi));
  ASSERT_NEAR(toi, 0.45, 0.01);
  assert_false(noli_point_triangle_ccd(p_t0, t0, t1, t2, p_t0, t0, t1, t2, NULL, 1.0, &toi));

  // the smallest numbers: two points a few units apart pass through each other
  const double q_t0[3] = {0, 64 * tiny, 0}, q_t1[3] = {0, -64 * tiny, 0}, o[3] = {0, 0, 0};
  assert_true(noli_point_point_ccd(q_t0, o, q_t1, o, NULL, 1.0, &toi));
  ASSERT_NEAR(toi, 0.45, 0.01);
  assert_true(noli_point_triangle_distance_sqr(q_t0, o, o, o) == 0.0);

  // values that are not finite are rejected as before
  const double bad[3] = {0, (double)INFINITY, 0};
  assert_true(noli_point_point_ccd(bad, o, q_t1, o, NULL, 1.0, &toi));
  assert_true(toi == 0.0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(times_of_impact_do_not_depend_on_size),
      cmocka_unit_test(half_spaces_do_not_depend_on_size),
      cmocka_unit_test(distances_scale_with_size),
      cmocka_unit_test(derivatives_scale_with_size),
      cmocka_unit_test(extremes_are_safe),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
