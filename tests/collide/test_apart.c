// Signs of polynomials that show that pairs stay apart, against distances along the way in long
// doubles; and queries of rods that roll on each other, which had false hits without them.
#include "support.h"

#include "collide/apart.h"
#include "collide/ccd.h"
#include "collide/closest_reference.h"
#include "noli/choice.h"

// The squared distance of the origin from the segment between two differences.
static long double segment_sqr(Long3 from, Long3 to) {
  Long3 origin = {0.0L, 0.0L, 0.0L};
  long double d = reference_point_edge(origin, from, to);
  return d * d;
}

// The distance of the origin from the polygon of differences, by its sides and its plane.
static long double distance_of(NoliPairKind kind, const Long3 w[4]) {
  static const int n_corner[4] = {1, 2, 3, 4}, around[4] = {0, 1, 3, 2};
  Long3 corner[4];
  int n = n_corner[kind];
  for (int c = 0; c < n; c++) {
    corner[c] = w[n == 4 ? around[c] : c];
  }
  if (n == 1) {
    return long_norm(corner[0]);
  }
  long double best = segment_sqr(corner[0], corner[1]);
  for (int c = 1; c < n && n > 2; c++) {
    best = fminl(best, segment_sqr(corner[c], corner[(c + 1) % n]));
  }
  if (n > 2) {
    Long3 normal = long_cross(long_sub(corner[1], corner[0]), long_sub(corner[n - 1], corner[0]));
    bool inside = long_dot(normal, normal) > 0.0L;
    for (int c = 0; c < n; c++) {
      inside = inside && long_dot(normal, long_cross(corner[c], corner[(c + 1) % n])) > 0.0L;
    }
    if (inside) {
      long double height = long_dot(normal, corner[0]);
      best = fminl(best, height * height / long_dot(normal, normal));
    }
  }
  return sqrtl(best);
}

// The differences of a pair over a time, on a path from w to w + p.
typedef struct Way {
  NoliPairKind kind;
  int n; // differences
  NoliVec3 w[4], p[4];
} Way;

static long double distance_at(const Way* way, long double t) {
  Long3 at[4] = {{0.0L, 0.0L, 0.0L}};
  for (int i = 0; i < way->n; i++) {
    at[i] = long_mul_add(long_vec(way->w[i]), t, long_vec(way->p[i]));
  }
  return distance_of(way->kind, at);
}

// The smallest distance on the way, by samples and a search around the smallest one.
static long double smallest(const Way* way) {
  enum { SAMPLES = 64 };
  long double best = distance_at(way, 0.0L), at = 0.0L, step = 1.0L / SAMPLES;
  for (int k = 1; k <= SAMPLES; k++) {
    long double d = distance_at(way, k * step);
    at = d < best ? k * step : at;
    best = fminl(best, d);
  }
  long double low = fmaxl(at - step, 0.0L), high = fminl(at + step, 1.0L);
  for (int i = 0; i < 60; i++) {
    long double a = high - 0.618L * (high - low), b = low + 0.618L * (high - low);
    long double d_a = distance_at(way, a), d_b = distance_at(way, b);
    best = fminl(best, fminl(d_a, d_b));
    *(d_a < d_b ? &high : &low) = d_a < d_b ? b : a;
  }
  return best;
}

// Differences of vertices of A and B and of their motion.
static Way way_of(NoliPairKind kind, const NoliVec3* x, const NoliVec3* change) {
  static const int n_a[4] = {1, 1, 1, 2}, n_b[4] = {1, 2, 3, 2};
  Way way = {.kind = kind, .n = n_a[kind] * n_b[kind]};
  for (int i = 0; i < way.n; i++) {
    int a = i / n_b[kind], b = n_a[kind] + i % n_b[kind];
    way.w[i] = noli_sub3(x[a], x[b]);
    way.p[i] = noli_sub3(change[a], change[b]);
  }
  return way;
}

// Primitives of any shape, needles and parallel edges included, moving by any length.
static Way random_way(TestRandom* random, NoliPairKind kind) {
  NoliVec3 x[4], change[4];
  double thin = test_random_bits(random) % 2 == 0 ? random_power(random, -9.0, 0.0) : 1.0;
  double flat = test_random_bits(random) % 2 == 0 ? random_power(random, -9.0, 0.0) : 1.0;
  double speed = random_power(random, -6.0, 0.5);
  NoliVec3 above = noli_vec3(0.0, 0.0, random_power(random, -4.0, 0.0));
  for (int i = 0; i < 4; i++) {
    x[i] = random_vector(random, 1.0);
    x[i].y *= thin;
    x[i].z *= flat;
    x[i] = i == 0 || (kind == NOLI_PAIR_EDGE_EDGE && i == 1) ? noli_add3(x[i], above) : x[i];
    change[i] = random_vector(random, speed);
  }
  return way_of(kind, x, change);
}

static void what_is_shown_to_stay_apart_does(void** state) {
  (void)state;
  for (int kind = 0; kind < 4; kind++) {
    TestRandom random = {701};
    int n = 6000, n_shown = 0, n_missed = 0, n_close = 0;
    for (int k = 0; k < n; k++) {
      Way way = random_way(&random, (NoliPairKind)kind);
      long double least = smallest(&way);
      // from far below the smallest distance to a rounding error above it
      double share = random_power(&random, -15.0, 0.0);
      double low =
          (double)(least * (test_random_bits(&random) % 2 == 0 ? 1.0L - share : 1.0L + share));
      bool shown = noli_stay_apart(way.kind, way.w, way.p, low);
      n_shown += shown;
      n_close += shown && share < 1e-9;
      if (shown) {
        // the reference has errors, too
        ASSERT_AT_LEAST((double)(least - low), -2e-18);
      }
      n_missed += !shown && low < 0.5 * (double)least && low > 0.0;
    }
    print_message("kind %d: %d of %d shown, %d closely, %d missed\n", kind, n_shown, n, n_close,
                  n_missed);
    assert_true(n_shown > n / 5 && n_close > n / 100);
    assert_true(n_missed < n / 10);
  }
}

static void answers_do_not_depend_on_size(void** state) {
  (void)state;
  TestRandom random = {702};
  for (int k = 0; k < 2000; k++) {
    Way way = random_way(&random, (NoliPairKind)(k % 4)), far = way;
    double low = (double)smallest(&way) * test_random(&random, 0.8, 1.1);
    int exponent = (int)test_random(&random, -180.0, 180.0);
    for (int i = 0; i < way.n; i++) {
      far.w[i] = noli_scale3(ldexp(1.0, exponent), way.w[i]);
      far.p[i] = noli_scale3(ldexp(1.0, exponent), way.p[i]);
    }
    assert_true(noli_stay_apart(way.kind, way.w, way.p, low) ==
                noli_stay_apart(far.kind, far.w, far.p, ldexp(low, exponent)));
  }
}

// Whether it is shown over both halves of the way, of each of these, ...
static bool is_shown_in_parts(const Way* way, double low, int depth) {
  if (depth == 0 || noli_stay_apart(way->kind, way->w, way->p, low)) {
    return depth > 0;
  }
  Way first = *way, second = *way;
  for (int i = 0; i < way->n; i++) {
    first.p[i] = second.p[i] = noli_scale3(0.5, way->p[i]);
    second.w[i] = noli_add3(way->w[i], first.p[i]);
  }
  return is_shown_in_parts(&first, low, depth - 1) && is_shown_in_parts(&second, low, depth - 1);
}

// Distances that are exact in doubles, on and beside the limit.
static void exact_and_degenerate_places(void** state) {
  (void)state;
  enum { PARTS = 9 };
  const struct {
    NoliPairKind kind;
    NoliVec3 x[4], change[4];
    double least;
  } at[] = {
      // a point passes a point, an edge without length, an end of an edge, its inside
      {NOLI_PAIR_POINT_POINT, {{-4, 3, 0}}, {{8, 0, 0}}, 3},
      {NOLI_PAIR_POINT_EDGE, {{-4, 3, 0}}, {{8, 0, 0}}, 3},
      {NOLI_PAIR_POINT_EDGE, {{-8, 0, 0}, {0, 3, 4}, {0, 30, 40}}, {{16, 0, 0}}, 5},
      {NOLI_PAIR_POINT_EDGE, {{0, 9, 1}, {-8, 0, 0}, {8, 0, 0}}, {{0, -7, -1}}, 2},
      // a triangle: from above, beside it, without area
      {NOLI_PAIR_POINT_TRIANGLE, {{1, 9, 1}, {0, 0, 0}, {4, 0, 0}, {0, 0, 4}}, {{0, -7, 0}}, 2},
      {NOLI_PAIR_POINT_TRIANGLE, {{-3, -9, 1}, {0, 0, 0}, {4, 0, 0}, {0, 0, 4}}, {{0, 16, 0}}, 3},
      {NOLI_PAIR_POINT_TRIANGLE, {{1, 9, 0}, {0, 0, 0}, {4, 0, 0}, {8, 0, 0}}, {{0, -7, 0}}, 2},
      // edges: crossing, parallel and sliding, in line, one without length
      {NOLI_PAIR_EDGE_EDGE,
       {{-4, 9, 0}, {4, 9, 0}, {0, 0, -4}, {0, 0, 4}},
       {{0, -7, 0}, {0, -7, 0}},
       2},
      {NOLI_PAIR_EDGE_EDGE,
       {{0, 2, 0}, {8, 2, 0}, {0, 0, 0}, {8, 0, 0}},
       {{4, 0, 0}, {4, 0, 0}},
       2},
      {NOLI_PAIR_EDGE_EDGE,
       {{9, 0, 0}, {12, 0, 0}, {0, 0, 0}, {4, 0, 0}},
       {{-2, 0, 0}, {-2, 0, 0}},
       3},
      {NOLI_PAIR_EDGE_EDGE,
       {{1, 9, 0}, {1, 9, 0}, {-4, 0, 0}, {4, 0, 0}},
       {{0, -7, 0}, {0, -7, 0}},
       2},
  };
  for (size_t i = 0; i < sizeof at / sizeof *at; i++) {
    Way way = way_of(at[i].kind, at[i].x, at[i].change);
    ASSERT_NEAR((double)smallest(&way), at[i].least, 1e-9);
    assert_false(is_shown_in_parts(&way, at[i].least, PARTS));
    assert_false(is_shown_in_parts(&way, nextafter(at[i].least, 100.0), PARTS));
    assert_true(is_shown_in_parts(&way, at[i].least * (1.0 - 1e-12), PARTS));
    assert_true(is_shown_in_parts(&way, 0.0, PARTS));
    way.p[0].y = (double)NAN;
    assert_false(is_shown_in_parts(&way, 0.0, PARTS));
    way.p[0].y = (double)INFINITY;
    assert_false(is_shown_in_parts(&way, 0.0, PARTS));
  }
  // primitives that meet are not even 0 apart
  Way way = way_of(NOLI_PAIR_POINT_POINT, (const NoliVec3[]){{-1, 0, 0}, {0, 0, 0}},
                   (const NoliVec3[]){{2, 0, 0}, {0, 0, 0}});
  assert_false(is_shown_in_parts(&way, 0.0, PARTS));
}

// Ends of rods of 20 mm that lie side by side, 1 mm apart less 3e-10 to 1e-7 m, and slide or roll:
// a0 - b0, a0 - b1, a1 - b0 and their change. Both methods reported hits at `before`.
typedef struct Query {
  NoliVec3 w[3], p[3];
  double before;
} Query;

static const Query queries[] = {
    {{{-0.0033303259558110591, 0.00018401928789957278, 0.007278904816278773},
      {0.007196581417709764, -0.00016151367883561474, -0.0097290177519057663},
      {0.0071726077996088176, -0.0001600575673669502, -0.0096902019461496628}},
     {{7.2658317163538239e-05, -1.7948387451793141e-05, -5.6175158090780372e-05},
      {-2.8672483599187157e-05, -7.6781019154210928e-06, -4.4431448736417106e-05},
      {-0.00010550956477605941, -5.9358354513004696e-06, 7.9963446469403718e-05}},
     0.608},
    {{{-0.0035261989418861866, 0.00016602655830725774, 0.0075729310645713949},
      {0.0070621299980118081, -0.00015820496285356977, -0.0094777596835750322},
      {0.0070597532753630659, -0.000158132407072447, -0.0094739353433928742}},
     {{-2.8111328009847517e-05, 4.623808026165202e-05, 3.5069745403498026e-06},
      {1.4742834038019952e-05, 2.2918104628753821e-06, 3.1449276938429888e-05},
      {2.2430374036869552e-05, 2.0669772203829595e-06, 1.906075546882248e-05}},
     0.00435},
};

static void rods_that_roll_on_each_other_are_free(void** state) {
  (void)state;
  for (size_t i = 0; i < sizeof queries / sizeof *queries; i++) {
    const Query* q = &queries[i];
    NoliVec3 x_t0[4] = {q->w[0], q->w[2], {0, 0, 0}, noli_sub3(q->w[0], q->w[1])};
    NoliVec3 change[4] = {q->p[0], q->p[2], {0, 0, 0}, noli_sub3(q->p[0], q->p[1])}, x_t1[4];
    for (int k = 0; k < 4; k++) {
      x_t1[k] = noli_add3(x_t0[k], change[k]);
    }
    Way way = way_of(NOLI_PAIR_EDGE_EDGE, x_t0, change);
    double gap = (double)(distance_at(&way, 0.0L) - 1e-3L), toi = -1.0;
    ASSERT_AT_LEAST((double)(smallest(&way) - 1e-3L), 0.3 * gap);
    for (int m = 0; m < 2; m++) {
      NoliCcdOptions options = noli_default_ccd_options();
      options.method = noli_choice_name(NOLI_CHOICE_CCD, m);
      options.min_separation = 1e-3;
      assert_false(noli_ccd_edge_edge(x_t0, x_t1, &options, 1.0, &toi));
      ASSERT_NEAR(toi, 1.0, 0.0);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_is_shown_to_stay_apart_does),
      cmocka_unit_test(answers_do_not_depend_on_size),
      cmocka_unit_test(exact_and_degenerate_places),
      cmocka_unit_test(rods_that_roll_on_each_other_are_free),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
