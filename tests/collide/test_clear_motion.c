#include "support.h"

#include "collide/clear_motion.h"
#include "collide/closest.h"
#include "collide/separation.h"

// Four vertices that are a point and a triangle, or two edges.
typedef struct Pair {
  NoliVec3 x_t0[4];
  NoliVec3 x_t1[4];
} Pair;

static NoliVec3 random_vector(TestRandom* random, double size) {
  double x = test_random(random, -size, size), y = test_random(random, -size, size);
  return noli_vec3(x, y, test_random(random, -size, size));
}

// Primitives of about `size` a few sizes from each other and `far` from the origin.
static Pair random_pair(TestRandom* random, double size, double far) {
  double speed = size * pow(10.0, test_random(random, -6.0, 1.0));
  double apart = size * pow(10.0, test_random(random, -3.0, 0.5));
  NoliVec3 origin = random_vector(random, far), shift = random_vector(random, apart);
  int32_t n_a = 1 + (int32_t)(test_random_bits(random) >> 63);
  Pair pair;
  for (int i = 0; i < 4; i++) {
    NoliVec3 at = noli_add3(origin, random_vector(random, size));
    pair.x_t0[i] = i < n_a ? noli_add3(at, shift) : at;
    pair.x_t1[i] = noli_add3(pair.x_t0[i], random_vector(random, speed));
  }
  return pair;
}

static NoliClearMotion clear_motion_of(const Pair* pair, const NoliCcdOptions* options,
                                       double t_max) {
  int32_t point[4] = {0, 1, 2, 3};
  const NoliSurface surface = {.n_vert = 4, .n_point = 4, .point = point};
  double x_t0[12], x_t1[12];
  for (int i = 0; i < 4; i++) {
    noli_store3(&x_t0[3 * i], pair->x_t0[i]);
    noli_store3(&x_t1[3 * i], pair->x_t1[i]);
  }
  return noli_clear_motion(&surface, x_t0, x_t1, options, t_max);
}

static bool is_clear(const Pair* pair, bool edges, const NoliCcdOptions* options, double t_max) {
  NoliClearMotion clear = clear_motion_of(pair, options, t_max);
  return (edges ? noli_is_clear_edge_edge
                : noli_is_clear_point_triangle)(&clear, pair->x_t0, pair->x_t1, options, t_max);
}

static void ccd_finds_clear_pairs_free(void** state) {
  (void)state;
  enum { N = 200000 };
  TestRandom random = {5};
  int32_t n_clear = 0, n_free = 0;
  for (int32_t i = 0; i < N; i++) {
    bool edges = i % 2 == 0;
    double size = pow(10.0, test_random(&random, -6.0, 6.0));
    Pair pair = random_pair(&random, size, i % 3 == 0 ? 1e4 * size : size);
    NoliCcdOptions options = noli_default_ccd_options();
    options.safety = i % 5 == 0 ? 0.5 : 0.9;
    options.small_gap = i % 7 == 0 ? 0.1 * size : 0.0;
    options.gap_cap = i % 9 == 0 ? 0.01 * size : (double)INFINITY;
    options.min_separation = i % 4 == 0 ? 0.05 * size : 0.0;
    options.max_iterations = i % 11 == 0 ? 10 : 1000;
    double toi, t_max = i % 6 == 0 ? 2.0 : test_random(&random, 0.0, 1.0);
    bool hit = (edges ? noli_ccd_edge_edge : noli_ccd_point_triangle)(pair.x_t0, pair.x_t1,
                                                                      &options, t_max, &toi);
    bool clear = is_clear(&pair, edges, &options, t_max);
    assert_false(clear && hit);
    assert_true(!clear || toi == t_max);
    n_clear += clear;
    n_free += !hit;
  }
  // most of those that are free
  assert_true(n_free > N / 2);
  assert_true(2 * n_clear > n_free);
}

static void nothing_is_clear_where_ccd_cannot_tell(void** state) {
  (void)state;
  NoliCcdOptions options = noli_default_ccd_options();
  const Pair apart = {.x_t0 = {{0, 0, 9}, {1, 0, 0}, {0, 1, 0}, {0, 0, 0}},
                      .x_t1 = {{0, 0, 8}, {1, 0, 0}, {0, 1, 0}, {0, 0, 0}}};
  assert_true(is_clear(&apart, false, &options, 1.0));
  const double bad[] = {(double)NAN, (double)INFINITY};
  for (int i = 0; i < 8; i++) {
    Pair pair = apart;
    *(i < 4 ? &pair.x_t0[i % 4].y : &pair.x_t1[i % 4].y) = bad[i % 2];
    assert_false(is_clear(&pair, false, &options, 1.0));
    assert_false(is_clear(&pair, true, &options, 1.0));
  }
  // too few steps, another method, a share that leaves nothing
  options.max_iterations = 3;
  assert_false(is_clear(&apart, false, &options, 1.0));
  options = noli_default_ccd_options();
  options.method = noli_ccd_methods[NOLI_CCD_INCLUSION].name;
  assert_false(is_clear(&apart, false, &options, 1.0));
  options = noli_default_ccd_options();
  options.safety = 0.0;
  assert_false(is_clear(&apart, false, &options, 1.0));
}

static void far_centers_bound_the_distance(void** state) {
  (void)state;
  enum { N = 100000 };
  TestRandom random = {6};
  int32_t n_far = 0;
  for (int32_t i = 0; i < N; i++) {
    bool edges = i % 2 == 0;
    double size = pow(10.0, test_random(&random, -6.0, 6.0)), far = i % 3 == 0 ? 1e6 * size : size;
    Pair pair = random_pair(&random, size, far);
    double d = sqrt(edges ? noli_distance_sqr_edge_edge(pair.x_t0)
                          : noli_distance_sqr_point_triangle(pair.x_t0));
    // around the distance
    double reach = d * test_random(&random, 0.0, 1.1), largest = 10.0 * (far + size);
    bool found = noli_centers_are_far(edges ? 2 : 1, pair.x_t0, reach, largest);
    assert_false(found && reach >= d);
    assert_false(noli_centers_are_far(edges ? 2 : 1, pair.x_t0, reach, (double)NAN));
    n_far += found;
  }
  assert_true(n_far > N / 10);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(ccd_finds_clear_pairs_free),
      cmocka_unit_test(nothing_is_clear_where_ccd_cannot_tell),
      cmocka_unit_test(far_centers_bound_the_distance),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
