#include "fem/tets.h"
#include "support.h"

enum { N_TET = 1500, N_VERT = 4 * N_TET };

// Separate random tetrahedra of good shape and a random step.
typedef struct Soup {
  int32_t tet[4 * N_TET];
  double X[3 * N_VERT];
  double p[3 * N_VERT];
} Soup;

static double tet_det(const int32_t* node, const double* x, const double* p, double s) {
  NoliVec3 v[4];
  for (int a = 0; a < 4; a++) {
    v[a] = noli_mul_add3(noli_load3(x + 3 * node[a]), s, noli_load3(p + 3 * node[a]));
  }
  return noli_dot3(noli_sub3(v[1], v[0]),
                   noli_cross3(noli_sub3(v[2], v[0]), noli_sub3(v[3], v[0])));
}

static Soup* soup(uint64_t seed, double step) {
  Soup* made = calloc(1, sizeof *made);
  TestRandom random = {seed};
  for (int t = 0; t < N_TET; t++) {
    for (int a = 0; a < 4; a++) {
      made->tet[4 * t + a] = 4 * t + a;
    }
    do {
      for (int i = 0; i < 12; i++) {
        made->X[12 * t + i] = test_random(&random, -1.0, 1.0);
      }
    } while (!(tet_det(made->tet + 4 * t, made->X, made->p, 0.0) > 0.05));
  }
  for (int i = 0; i < 3 * N_VERT; i++) {
    made->p[i] = test_random(&random, -step, step);
  }
  return made;
}

static NoliTets one_tet(const Soup* s, int32_t t, NoliTets* all) {
  return (NoliTets){.n_tet = 1,
                    .tet = s->tet + 4 * t,
                    .rest_inverse = all->rest_inverse + 9 * t,
                    .volume = all->volume + t};
}

static void rest_data_is_right(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  Soup* s = soup(41, 1.0);
  NoliTets tets;
  ASSERT_OK(noli_tets_create(context, N_TET, s->tet, s->X, &tets));
  for (int t = 0; t < N_TET; t++) {
    ASSERT_NEAR(6.0 * tets.volume[t], tet_det(s->tet + 4 * t, s->X, s->p, 0.0), 1e-15);
    NoliMat3 F = noli_tets_deformation(&tets, t, s->X);
    NoliMat3 defect = noli_sub33(F, noli_identity3());
    ASSERT_AT_MOST(sqrt(noli_norm_sqr33(&defect)), 1e-12);
  }
  assert_int_equal(noli_tets_first_inverted(&tets, s->X, 2), NOLI_NULL_INDEX);
  noli_tets_destroy(context, &tets);
  assert_null(tets.volume);
  free(s);
  test_context_done(&context);
}

static void flat_rest_shapes_are_refused(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  double X[] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 1, 0};
  int32_t inverted[] = {0, 1, 2, 3, 0, 2, 1, 3};
  int32_t flat[] = {0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 4, 2};
  NoliTets tets;
  ASSERT_STATUS(noli_tets_create(context, 2, inverted, X, &tets), NOLI_INVERTED_ELEMENT);
  assert_non_null(strstr(noli_context_message(context), "tetrahedron 1 (nodes 0 2 1 3)"));
  assert_null(tets.rest_inverse);
  ASSERT_STATUS(noli_tets_create(context, 3, flat, X, &tets), NOLI_INVERTED_ELEMENT);
  assert_non_null(strstr(noli_context_message(context), "tetrahedron 2 "));
  X[0] = NAN;
  ASSERT_STATUS(noli_tets_create(context, 1, flat, X, &tets), NOLI_INVERTED_ELEMENT);
  ASSERT_OK(noli_tets_create(context, 0, NULL, NULL, &tets));
  noli_tets_destroy(context, &tets);
  test_context_done(&context);
}

static void lumped_mass_adds_up(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  // two tets that share a face, and a lone vertex
  double X[] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 1, 1, 5, 5, 5};
  int32_t tet[] = {0, 1, 2, 3, 1, 2, 3, 4};
  double density[] = {6.0, 12.0}, mass[6] = {0.0};
  NoliTets tets;
  ASSERT_OK(noli_tets_create(context, 2, tet, X, &tets));
  noli_tets_add_lumped_mass(&tets, density, mass);
  double total = 0.0;
  for (int v = 0; v < 6; v++) {
    total += mass[v];
  }
  ASSERT_NEAR(total, 6.0 * tets.volume[0] + 12.0 * tets.volume[1], 1e-15);
  ASSERT_NEAR(mass[0], 0.25, 1e-15);
  ASSERT_NEAR(mass[5], 0.0, 0.0);
  noli_tets_destroy(context, &tets);
  test_context_done(&context);
}

// det stays above the limit on samples of [0, alpha], and a little further on it does not.
static void assert_bound(const int32_t* node, const double* x, const double* p, double keep,
                         double alpha) {
  enum { SAMPLES = 500 };
  double start = tet_det(node, x, p, 0.0);
  double limit = keep * start;
  for (int k = 0; k <= SAMPLES; k++) {
    double s = k == SAMPLES ? alpha : alpha * k / SAMPLES;
    ASSERT_AT_LEAST(tet_det(node, x, p, s), limit - 1e-13 * start);
  }
  assert_true(tet_det(node, x, p, alpha) > 0.0);
  if (alpha < 1.0) {
    ASSERT_AT_MOST(tet_det(node, x, p, alpha * (1.0 + 3e-6)), limit);
  }
}

static void bound_matches_sampling(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  double steps[] = {0.02, 0.3, 3.0, 100.0, 1e8};
  int n_blocked = 0, n_free = 0;
  for (int k = 0; k < 5; k++) {

    // a random step
    Soup* s = soup(42 + (uint64_t)k, steps[k]);
    double keep = k % 2 == 0 ? 0.1 : 0.0;
    NoliTets tets;
    ASSERT_OK(noli_tets_create(context, N_TET, s->tet, s->X, &tets));

    // one by one
    double least = 1.0;
    int32_t least_tet = NOLI_NULL_INDEX;
    for (int32_t t = 0; t < N_TET; t++) {
      NoliTets one = one_tet(s, t, &tets);
      int32_t blocking;
      double alpha = noli_tets_inversion_bound(&one, s->X, s->p, keep, false, 1, &blocking);
      assert_bound(s->tet + 4 * t, s->X, s->p, keep, alpha);
      assert_int_equal(blocking, alpha < 1.0 ? 0 : NOLI_NULL_INDEX);
      n_blocked += alpha < 1.0;
      n_free += alpha == 1.0;
      if (alpha < least) {
        least = alpha;
        least_tet = t;
      }
    }

    // all in one range, on any number of threads
    for (int32_t threads = 1; threads <= 3; threads++) {
      int32_t blocking;
      double alpha = noli_tets_inversion_bound(&tets, s->X, s->p, keep, false, threads, &blocking);
      assert_true(alpha == least);
      assert_int_equal(blocking, least_tet);
    }
    noli_tets_destroy(context, &tets);
    free(s);
  }
  assert_true(n_blocked > 1000 && n_free > 1000);
  test_context_done(&context);
}

static void exact_flattening_is_stopped(void** state) {
  (void)state;
  NoliContext* context = test_context(1);

  // one tetrahedron
  double X[] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0.25, 0.25, 1};
  int32_t tet[] = {0, 1, 2, 3}, blocking;
  NoliTets tets;
  ASSERT_OK(noli_tets_create(context, 1, tet, X, &tets));
  double keeps[] = {0.0, 0.1, 0.5, 0.99};
  for (int k = 0; k < 4; k++) {

    // the tip moves to the plane of the base at s = 1, at s = 1/2, and never
    for (double height = -1.0; height >= -2.0; height -= 1.0) {
      double p[12] = {0};
      p[11] = height;
      double alpha = noli_tets_inversion_bound(&tets, X, p, keeps[k], false, 1, &blocking);
      double want = (1.0 - keeps[k]) / -height;
      ASSERT_AT_MOST(alpha, want);
      ASSERT_AT_LEAST(alpha, want * (1.0 - 2e-6));
      assert_int_equal(blocking, 0);
      assert_true(X[11] + alpha * p[11] > 0.0);
    }
  }

  // no step
  double still[12] = {0};
  assert_true(noli_tets_inversion_bound(&tets, X, still, 0.1, false, 1, &blocking) == 1.0);
  assert_int_equal(blocking, NOLI_NULL_INDEX);

  // shrinks to a point at s = 1 and inverts behind it
  double shrink[12];
  for (int i = 0; i < 12; i++) {
    shrink[i] = -2.0 * X[i];
  }
  double alpha = noli_tets_inversion_bound(&tets, X, shrink, 0.1, false, 1, NULL);
  ASSERT_NEAR(alpha, 0.5 * (1.0 - cbrt(0.1)), 1e-6);

  // a half turn in a straight line passes through flat
  double turn[12];
  for (int a = 0; a < 4; a++) {
    turn[3 * a] = -2.0 * X[3 * a];
    turn[3 * a + 1] = -2.0 * X[3 * a + 1];
    turn[3 * a + 2] = 0.0;
  }
  alpha = noli_tets_inversion_bound(&tets, X, turn, 0.1, false, 1, NULL);
  ASSERT_NEAR(alpha, 0.5 * (1.0 - sqrt(0.1)), 1e-6);
  noli_tets_destroy(context, &tets);
  test_context_done(&context);
}

// The volume vanishes on the way and comes back: the step stops before.
static void touching_zero_is_stopped(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  double X[] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1};
  int32_t tet[] = {0, 1, 2, 3};
  NoliTets tets;
  ASSERT_OK(noli_tets_create(context, 1, tet, X, &tets));
  // det = (1 - 2s)^2
  double p[] = {0, 0, 0, -2, 0, 0, 0, -2, 0, 0, 0, 0};
  int32_t blocking;
  double alpha = noli_tets_inversion_bound(&tets, X, p, 0.0, false, 1, &blocking);
  ASSERT_NEAR(alpha, 0.5, 1e-6);
  assert_true(tet_det(tet, X, p, alpha) > 0.0);
  noli_tets_destroy(context, &tets);
  test_context_done(&context);
}

static void bad_places_block(void** state) {
  (void)state;
  NoliContext* context = test_context(1);

  // two tetrahedra with a common face
  double X[] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, -2};
  int32_t tet[] = {0, 1, 2, 3, 0, 2, 1, 4}, blocking;
  NoliTets tets;
  ASSERT_OK(noli_tets_create(context, 2, tet, X, &tets));
  double p[15] = {0};
  p[2] = 4.0;
  ASSERT_NEAR(noli_tets_inversion_bound(&tets, X, p, 0.0, false, 2, &blocking), 0.25, 1e-6);
  assert_int_equal(blocking, 0);

  // 1.9 of the first tet's height 2 are lost: too much, unless the limit allows it
  p[2] = 0.0;
  p[14] = 1.9;
  ASSERT_NEAR(noli_tets_inversion_bound(&tets, X, p, 0.1, false, 2, &blocking), 1.8 / 1.9, 1e-6);
  assert_int_equal(blocking, 1);
  assert_true(noli_tets_inversion_bound(&tets, X, p, 0.1, true, 2, &blocking) == 1.0);
  p[14] = 4.0;
  ASSERT_NEAR(noli_tets_inversion_bound(&tets, X, p, 0.1, true, 2, &blocking), 0.45, 1e-6);
  assert_int_equal(blocking, 1);
  p[14] = 0.0;

  // invalid numbers and starts block
  p[2] = NAN;
  assert_true(noli_tets_inversion_bound(&tets, X, p, 0.1, false, 1, &blocking) == 0.0);
  assert_int_equal(blocking, 0);
  p[2] = 0.0;
  double x[15];
  memcpy(x, X, sizeof x);
  x[14] = 0.0;
  assert_true(noli_tets_inversion_bound(&tets, x, p, 0.1, false, 1, &blocking) == 0.0);
  assert_int_equal(blocking, 1);
  assert_int_equal(noli_tets_first_inverted(&tets, x, 1), 1);
  x[14] = NAN;
  assert_int_equal(noli_tets_first_inverted(&tets, x, 1), 1);
  noli_tets_destroy(context, &tets);
  test_context_done(&context);
}

static void first_inverted_is_first(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  Soup* s = soup(50, 1.0);
  NoliTets tets;
  ASSERT_OK(noli_tets_create(context, N_TET, s->tet, s->X, &tets));
  for (int32_t t = N_TET - 1; t > 0; t -= 97) {
    // mirror it
    for (int a = 0; a < 4; a++) {
      s->X[12 * t + 3 * a] *= -1.0;
    }
    for (int32_t threads = 1; threads <= 3; threads++) {
      assert_int_equal(noli_tets_first_inverted(&tets, s->X, threads), t);
    }
  }
  noli_tets_destroy(context, &tets);
  free(s);
  test_context_done(&context);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(rest_data_is_right),
      cmocka_unit_test(flat_rest_shapes_are_refused),
      cmocka_unit_test(lumped_mass_adds_up),
      cmocka_unit_test(bound_matches_sampling),
      cmocka_unit_test(exact_flattening_is_stopped),
      cmocka_unit_test(touching_zero_is_stopped),
      cmocka_unit_test(bad_places_block),
      cmocka_unit_test(first_inverted_is_first),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
