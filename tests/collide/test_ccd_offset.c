// Collision detection that keeps an offset, against a slow reference: the smallest distance along
// the path by dense samples and a search around the smallest one.
#include "support.h"

#include "collide/candidates.h"
#include "collide/ccd.h"
#include "collide/closest.h"
#include "collide/closest_reference.h"
#include "collide/impacts.h"
#include "collide/step_bound.h"
#include "noli/choice.h"

typedef bool CcdFunction(const NoliVec3* x_t0, const NoliVec3* x_t1, const NoliCcdOptions* options,
                         double t_max, double* toi);

typedef struct Kind {
  const char* name;
  CcdFunction* ccd;
  NoliVec3 (*vector)(const NoliVec3* x); // from the second primitive to the first
  ReferenceDistance* distance;
  int n, n_a; // vertices, and those of the first primitive
} Kind;

static long double reference_points(const Long3 x[4]) {
  return long_norm(long_sub(x[0], x[1]));
}

static long double reference_point_and_edge(const Long3 x[4]) {
  return reference_point_edge(x[0], x[1], x[2]);
}

static NoliVec3 vector_of_points(const NoliVec3* x) {
  return noli_sub3(x[0], x[1]);
}

static const Kind kinds[] = {
    {"point-point", noli_ccd_point_point, vector_of_points, reference_points, 2, 1},
    {"point-edge", noli_ccd_point_edge, noli_closest_vector_point_edge, reference_point_and_edge, 3,
     1},
    {"point-triangle", noli_ccd_point_triangle, noli_closest_vector_point_triangle,
     reference_point_triangle, 4, 1},
    {"edge-edge", noli_ccd_edge_edge, noli_closest_vector_edge_edge, reference_edge_edge, 4, 2},
};
enum { N_KINDS = 4 };

typedef struct Path {
  NoliVec3 x_t0[4];
  NoliVec3 x_t1[4];
} Path;

static double distance_at(const Kind* kind, const Path* path, double t) {
  return (double)reference_at(kind->distance, path->x_t0, path->x_t1, t);
}

// A pair at about distance d, of size 1 or a needle, with any motion of its vertices: rigid or not,
// of the size of the gap or far beyond, through the other one, past it or away.
static Path random_path(TestRandom* random, const Kind* kind, double d, double gap) {
  Path path = {0};
  double thin = test_random_bits(random) % 4 == 0 ? random_power(random, -6.0, 0.0) : 1.0;
  for (int i = 0; i < kind->n; i++) {
    path.x_t0[i] = random_vector(random, 1.0);
    path.x_t0[i].z *= thin;
  }
  // the first primitive is moved along the closest vector until it is d away
  NoliVec3 up = noli_normalize3(random_vector(random, 1.0));
  for (int i = 0; i < kind->n_a; i++) {
    path.x_t0[i] = noli_mul_add3(path.x_t0[i], 0.1, up);
  }
  for (int repeat = 0; repeat < 40; repeat++) {
    NoliVec3 r = kind->vector(path.x_t0);
    double now = noli_norm3(r);
    for (int i = 0; i < kind->n_a; i++) {
      path.x_t0[i] = noli_mul_add3(path.x_t0[i], (d - now) / now, r);
    }
  }
  up = noli_normalize3(kind->vector(path.x_t0));

  double speed = test_random_bits(random) % 2 == 0 ? gap * random_power(random, -1.0, 3.0)
                                                   : (1.0 + d) * random_power(random, -2.0, 1.0);
  NoliVec3 common = random_vector(random, test_random_bits(random) % 3 == 0 ? 10.0 : 0.0);
  NoliVec3 rigid = random_vector(random, speed);
  if (test_random_bits(random) % 3 != 0) {
    rigid = noli_mul_add3(noli_scale3(0.3, rigid), -speed, up);
  }
  double own = test_random_bits(random) % 3 == 0 ? 0.0 : speed;
  for (int i = 0; i < kind->n; i++) {
    NoliVec3 moved = noli_add3(common, random_vector(random, own));
    moved = i < kind->n_a ? noli_add3(moved, rigid) : moved;
    path.x_t1[i] = noli_add3(path.x_t0[i], moved);
  }
  return path;
}

// The smallest distance up to t.
static double smallest_until(const Kind* kind, const Path* path, double t) {
  enum { SAMPLES = 48 };
  double best = (double)INFINITY, at = 0.0;
  for (int k = 0; k <= SAMPLES; k++) {
    double d = distance_at(kind, path, t * k / SAMPLES);
    at = d < best ? (double)k / SAMPLES : at;
    best = fmin(best, d);
  }
  // golden section around the smallest sample
  double low = fmax(at - 1.0 / SAMPLES, 0.0), high = fmin(at + 1.0 / SAMPLES, 1.0);
  for (int i = 0; i < 30; i++) {
    double a = high - 0.618 * (high - low), b = low + 0.618 * (high - low);
    double d_a = distance_at(kind, path, t * a), d_b = distance_at(kind, path, t * b);
    best = fmin(best, fmin(d_a, d_b));
    *(d_a < d_b ? &high : &low) = d_a < d_b ? b : a;
  }
  return best;
}

static void random_paths_keep_the_offset(void** state) {
  (void)state;
  for (int m = 0; m < 2; m++) {
    const char* method = noli_choice_name(NOLI_CHOICE_CCD, m);
    for (int c = 0; c < N_KINDS; c++) {
      TestRandom random = {501};
      const Kind* kind = &kinds[c];
      int n = m == 0 ? 4000 : 1500, n_hits = 0, n_free = 0, n_meet = 0, n_early = 0, n_started = 0;
      for (int k = 0; k < n; k++) {
        // gaps from far above the offset to 1e-9 of it
        double offset = random_power(&random, -4.0, 0.5);
        double want = offset * random_power(&random, -9.0, 1.0), toi = -1.0;
        Path path = random_path(&random, kind, offset + want, want);
        double gap = distance_at(kind, &path, 0.0) - offset;
        if (!(gap > 0.0)) {
          continue;
        }
        n_started++;
        NoliCcdOptions options = noli_default_ccd_options();
        options.method = method;
        options.min_separation = offset;
        bool hit = kind->ccd(path.x_t0, path.x_t1, &options, 1.0, &toi);
        assert_true(toi >= 0.0 && (hit ? toi < 1.0 : toi == 1.0));

        // the slow reference: up to toi a tenth of the gap remains, and every contact is a hit
        double low = offset + 0.1 * gap * (1.0 - 1e-9);
        if (toi > 0.0) {
          ASSERT_AT_LEAST(smallest_until(kind, &path, toi), low);
        }
        bool meets = smallest_until(kind, &path, 1.0) <= offset;
        assert_true(!meets || hit);
        n_meet += meets;
        n_hits += hit;
        n_free += !hit;
        double rounding = 1e-13 * (20.0 + offset);
        n_early += hit && gap > 100.0 * rounding &&
                   distance_at(kind, &path, toi) > low + 0.06 * gap + rounding;
      }
      print_message("%-14s %-9s %d paths: %d hits, %d free, %d meet, %d stop early\n", kind->name,
                    method, n_started, n_hits, n_free, n_meet, n_early);
      assert_true(n_started > n / 2 && n_meet > n / 10 && n_free > n / 10);
      assert_true(n_early <= n / 50);
    }
  }
}

static void half_spaces_keep_the_offset(void** state) {
  (void)state;
  TestRandom random = {502};
  for (int k = 0; k < 4000; k++) {
    NoliVec3 origin = random_vector(&random, 3.0), n = noli_normalize3(random_vector(&random, 1.0));
    double offset = random_power(&random, -4.0, 1.0), gap = offset * random_power(&random, -9.0, 1);
    NoliVec3 along = noli_cross3(n, random_vector(&random, 1.0));
    NoliVec3 x_t0 = noli_mul_add3(noli_add3(origin, along), offset + gap, n);
    double climb = gap * test_random(&random, -3.0, 1.0);
    NoliVec3 x_t1 = noli_mul_add3(noli_add3(x_t0, random_vector(&random, 1e-9)), climb, n);
    NoliCcdOptions options = noli_default_ccd_options();
    options.min_separation = offset;
    double toi = noli_ccd_half_space(x_t0, x_t1, origin, n, &options, 1.0);

    // heights in long doubles at both ends: the path is a line
    Long3 up = long_vec(n);
    long double h0 = long_dot(up, long_sub(long_vec(x_t0), long_vec(origin)));
    long double h1 = long_dot(up, long_sub(long_vec(x_t1), long_vec(origin)));
    double least = (double)(fminl(h0, h0 + toi * (h1 - h0)) - offset),
           start = (double)(h0 - offset);
    double rounding = 1e-13 * (6.0 + offset);
    assert_true(toi == 0.0 || least > 0.0);
    if (start > 100.0 * rounding) {
      ASSERT_AT_LEAST(least, 0.1 * start * (1.0 - 1e-9));
      assert_true(toi < 1.0 || h1 - offset > 0.0);
      if (toi < 1.0) {
        ASSERT_NEAR(least, 0.1 * start, rounding);
      }
    }
  }
}

// ---- surfaces with offsets ----------------------------------------------------------------------

// Two triangles: the step bound and the list of impacts use the offsets of their bodies.
static void steps_and_impacts_use_the_offsets_of_bodies(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  NoliSurface* surface = NULL;
  static const int32_t vert_first[3] = {0, 3, 6}, tri[3] = {0, 1, 2};
  const NoliSurfaceParts parts[2] = {{.n_tri = 1, .tri = tri}, {.n_tri = 1, .tri = tri}};
  ASSERT_OK(noli_surface_create(context, 2, vert_first, parts, &surface));
  // one above the other at height 1; the upper one falls by 2
  const double x_t0[18] = {0, 0, 0, 0, 0, 1, 1, 0, 0, 0.1, 1, 0.1, 0.2, 1, 0.7, 0.7, 1, 0.2};
  double x_t1[18];
  for (int i = 0; i < 18; i++) {
    x_t1[i] = x_t0[i] - (i >= 9 && i % 3 == 1 ? 2.0 : 0.0);
  }
  NoliCandidates candidates = {0};
  for (int32_t p = 3; p < 6; p++) {
    ASSERT_OK(noli_array_reserve(context, &candidates.point_triangle, 3));
    candidates.point_triangle.data[candidates.point_triangle.count++] = (NoliPrimitivePair){p, 0};
  }
  const NoliHalfSpace floor = {{0, -1, 0}, {0, 1, 0}};
  for (int k = 0; k < 3; k++) {
    const double offset[2] = {0.1 * k, 0.15 * k};
    ASSERT_OK(noli_surface_set_offsets(context, surface, offset));
    double xi = offset[0] + offset[1], want = 0.9 * (1.0 - xi) / 2.0;
    NoliStepBound bound;
    noli_step_bound_candidates(surface, &candidates, x_t0, x_t1, NULL, 1, 1.0, &bound);
    ASSERT_NEAR(bound.alpha, want, 1e-12);
    const NoliColliders colliders = {.surface = surface, .half_spaces = &floor, .n_half_spaces = 1};
    double plane = 0.9 * (2.0 - offset[1]) / 2.0;
    noli_step_bound_half_spaces(&colliders, x_t0, x_t1, 0.9, 1, 1.0, &bound);
    ASSERT_NEAR(bound.alpha, plane, 1e-12);
    NoliImpacts impacts = {0};
    ASSERT_OK(noli_impacts_find(&impacts, context, &colliders, &candidates, x_t0, x_t1, NULL, 1));
    assert_true(impacts.impact.count == 6);
    for (int64_t i = 0; i < impacts.impact.count; i++) {
      const NoliImpact* impact = &impacts.impact.data[i];
      ASSERT_NEAR(impact->toi, impact->kind == NOLI_PRIMITIVES_HALF_SPACE ? plane : want, 1e-12);
    }
    noli_impacts_free(context, &impacts);
  }
  noli_array_free(context, &candidates.point_triangle);
  noli_surface_destroy(context, &surface);
  test_context_done(&context);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(random_paths_keep_the_offset),
      cmocka_unit_test(half_spaces_keep_the_offset),
      cmocka_unit_test(steps_and_impacts_use_the_offsets_of_bodies),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
