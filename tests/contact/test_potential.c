#include "support.h"

#include "noli/barrier.h"

#define DHAT 0.1

// A tetrahedron above a triangle, and a triangle beside an edge of it: 10 vertices.
static const double positions[30] = {0.0,  0.0,  0.0,  1.0,  0.05, 0.0, 0.1,  0.0, 1.0,  0.3,
                                     0.06, 0.3,  0.9,  0.5,  0.3,  0.2, 0.55, 0.9, 0.4,  1.0,
                                     0.5,  1.05, 0.07, 0.05, 0.4,  0.1, 1.1,  1.3, 0.05, 1.2};
static const int32_t triangles[18] = {0, 1, 2, 3, 5, 4, 3, 4, 6, 4, 5, 6, 5, 3, 6, 7, 8, 9};

static void value_gradient_and_hessian_agree(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  NoliBarrierPotential* potential = NULL;
  ASSERT_OK(noli_barrier_potential_create(context, positions, 10, triangles, 6, DHAT, &potential));
  ASSERT_OK(noli_barrier_potential_update(potential, positions));
  assert_true(noli_barrier_potential_pairs(potential) > 3);
  double d = noli_barrier_potential_min_distance(potential);
  assert_true(d > 0.0 && d < DHAT);

  // gradient and Hessian
  double gradient[30], plus[30], minus[30], hessian[900] = {0.0}, largest = 0.0;
  noli_barrier_potential_gradient(potential, gradient);
  const NoliTriplet* triplets;
  int64_t n;
  ASSERT_OK(noli_barrier_potential_hessian(potential, false, &triplets, &n));
  for (int64_t i = 0; i < n; i++) {
    hessian[30 * triplets[i].row + triplets[i].column] += triplets[i].value;
  }
  for (int i = 0; i < 900; i++) {
    largest = noli_larger(largest, fabs(hessian[i]));
  }

  // differences
  for (int j = 0; j < 30; j++) {
    double x[30], h = 1e-6;
    memcpy(x, positions, sizeof x);
    x[j] += h;
    ASSERT_OK(noli_barrier_potential_update(potential, x));
    double above = noli_barrier_potential_value(potential);
    noli_barrier_potential_gradient(potential, plus);
    x[j] -= 2.0 * h;
    ASSERT_OK(noli_barrier_potential_update(potential, x));
    double below = noli_barrier_potential_value(potential);
    noli_barrier_potential_gradient(potential, minus);
    ASSERT_NEAR((above - below) / (2.0 * h), gradient[j], 1e-6 * DHAT * largest);
    for (int i = 0; i < 30; i++) {
      ASSERT_NEAR((plus[i] - minus[i]) / (2.0 * h), hessian[30 * i + j], 1e-5 * largest);
    }
  }
  noli_barrier_potential_destroy(&potential);
  assert_null(potential);
  test_context_done(&context);
}

// A sum of semi-definite matrices: v' H v >= 0 for any v, and not less than the plain one.
static void projected_hessian_is_semi_definite(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  NoliBarrierPotential* potential = NULL;
  ASSERT_OK(noli_barrier_potential_create(context, positions, 10, triangles, 6, DHAT, &potential));
  ASSERT_OK(noli_barrier_potential_update(potential, positions));
  TestRandom random = {91};
  for (int k = 0; k < 50; k++) {
    double v[30], form[2] = {0.0, 0.0};
    for (int i = 0; i < 30; i++) {
      v[i] = test_random(&random, -1.0, 1.0);
    }
    for (int projected = 0; projected < 2; projected++) {
      const NoliTriplet* triplets;
      int64_t n;
      ASSERT_OK(noli_barrier_potential_hessian(potential, projected == 1, &triplets, &n));
      for (int64_t i = 0; i < n; i++) {
        form[projected] += triplets[i].value * v[triplets[i].row] * v[triplets[i].column];
      }
    }
    assert_true(form[1] > 0.0);
    ASSERT_AT_LEAST(form[1], form[0]);
  }
  noli_barrier_potential_destroy(&potential);
  test_context_done(&context);
}

static void bad_input_is_refused(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  NoliBarrierPotential* potential = NULL;
  const int32_t wild[3] = {0, 1, 10};
  ASSERT_STATUS(noli_barrier_potential_create(context, positions, 10, wild, 1, DHAT, &potential),
                NOLI_ERROR_ARGUMENT);
  assert_null(potential);
  ASSERT_STATUS(
      noli_barrier_potential_create(context, positions, 10, triangles, 6, (double)NAN, &potential),
      NOLI_ERROR_ARGUMENT);
  double x[30];
  memcpy(x, positions, sizeof x);
  x[17] = (double)INFINITY;
  ASSERT_STATUS(noli_barrier_potential_create(context, x, 10, triangles, 6, DHAT, &potential),
                NOLI_ERROR_ARGUMENT);
  ASSERT_OK(noli_barrier_potential_create(context, positions, 10, triangles, 6, DHAT, &potential));
  ASSERT_STATUS(noli_barrier_potential_update(potential, x), NOLI_ERROR_ARGUMENT);
  assert_non_null(strstr(noli_context_message(context), "vertex 5"));
  noli_barrier_potential_destroy(&potential);
  noli_barrier_potential_destroy(&potential);
  test_context_done(&context);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(value_gradient_and_hessian_agree),
      cmocka_unit_test(projected_hessian_is_semi_definite),
      cmocka_unit_test(bad_input_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
