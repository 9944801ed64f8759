#include "math/svd3.h"
#include "support.h"

static NoliMat3 random_matrix(TestRandom* random) {
  NoliMat3 a;
  for (int i = 0; i < 9; i++) {
    a.m[i / 3][i % 3] = test_random(random, -1.0, 1.0);
  }
  return a;
}

static NoliMat3 random_rotation(TestRandom* random) {
  NoliVec3 a =
      noli_normalize3(noli_vec3(test_random(random, -1.0, 1.0), test_random(random, -1.0, 1.0),
                                test_random(random, -1.0, 1.0)));
  NoliVec3 b = noli_vec3(test_random(random, -1.0, 1.0), test_random(random, -1.0, 1.0), 0.3);
  b = noli_normalize3(noli_cross3(a, b));
  return noli_columns33(a, b, noli_cross3(a, b));
}

static double largest(const NoliMat3* a) {
  double result = 0.0;
  for (int i = 0; i < 9; i++) {
    double entry = fabs(a->m[i / 3][i % 3]);
    result = entry <= result ? result : entry;
  }
  return result;
}

static void assert_rotation(const NoliMat3* R) {
  NoliMat3 defect = noli_sub33(noli_transpose_mul33(*R, *R), noli_identity3());
  ASSERT_AT_MOST(sqrt(noli_norm_sqr33(&defect)), 1e-14);
  ASSERT_NEAR(noli_det33(R), 1.0, 1e-14);
}

static void assert_svd(const NoliMat3* F) {
  NoliMat3 U, V;
  double sigma[3];
  noli_svd3(F, &U, sigma, &V);
  assert_rotation(&U);
  assert_rotation(&V);
  assert_true(sigma[0] >= sigma[1] && sigma[1] >= fabs(sigma[2]));
  NoliMat3 S = noli_diagonal33(sigma);
  NoliMat3 defect = noli_sub33(noli_mul_transpose33(noli_mul33(U, S), V), *F);
  ASSERT_AT_MOST(largest(&defect), 1e-14 * largest(F));
}

// rotation * diag(s) * rotation
static NoliMat3 with_stretches(TestRandom* random, double s0, double s1, double s2) {
  NoliMat3 U = random_rotation(random), V = random_rotation(random);
  return noli_mul_transpose33(noli_mul33(U, noli_diagonal33((double[3]){s0, s1, s2})), V);
}

static void random_matrices_are_decomposed(void** state) {
  (void)state;
  TestRandom random = {11};
  for (int k = 0; k < 20000; k++) {
    NoliMat3 F = random_matrix(&random);
    NoliMat3 U, V;
    double sigma[3];
    assert_svd(&F);
    noli_svd3(&F, &U, sigma, &V);
    ASSERT_NEAR(sigma[0] * sigma[1] * sigma[2], noli_det33(&F), 1e-14);
  }
}

static void stretches_are_recovered(void** state) {
  (void)state;
  TestRandom random = {12};
  double cases[][3] = {
      {1.0, 1.0, 1.0},   {1.0, 1.0, -1.0},    {2.0, 1.0, 1.0},         {2.0, 2.0, 1.0},
      {1.0, 0.5, 0.0},   {1.0, 0.0, 0.0},     {1.0, 1.0, 0.0},         {0.0, 0.0, 0.0},
      {1.0, 0.5, -0.5},  {3.0, 1.0, -1e-9},   {1.0, 1e-8, 1e-8},       {1.0, 1e-8, -1e-8},
      {1e3, 1.0, 1e-12}, {1.0, 1e-15, 1e-16}, {1.0, 1.0 + 1e-15, 1.0}, {1e6, 1e-6, -1e-6},
  };
  for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
    for (int k = 0; k < 200; k++) {
      NoliMat3 F = with_stretches(&random, cases[c][0], cases[c][1], cases[c][2]);
      NoliMat3 U, V;
      double sigma[3];
      assert_svd(&F);
      noli_svd3(&F, &U, sigma, &V);
      double tolerance = 4e-15 * fmax(cases[c][0], 1.0);
      ASSERT_NEAR(sigma[0], fmax(cases[c][0], cases[c][1]), tolerance);
      ASSERT_NEAR(sigma[1], fmin(cases[c][0], cases[c][1]), tolerance);
      // the order of the last pair with equal sizes is free, its sign belongs to the last
      ASSERT_NEAR(sigma[2], cases[c][2], tolerance);
    }
  }
}

static void special_matrices_are_decomposed(void** state) {
  (void)state;
  double nasty[] = {0.0, 1.0, -1.0, 1e-8, 1e-16, 1e-160, -1e-300, 1e8};
  TestRandom random = {13};
  for (int k = 0; k < 50000; k++) {
    NoliMat3 F;
    for (int i = 0; i < 9; i++) {
      F.m[i / 3][i % 3] = nasty[test_random_bits(&random) % (sizeof nasty / sizeof nasty[0])];
    }
    assert_svd(&F);
  }
  NoliMat3 identity = noli_identity3(), U, V;
  double sigma[3];
  noli_svd3(&identity, &U, sigma, &V);
  assert_true(sigma[0] == 1.0 && sigma[1] == 1.0 && sigma[2] == 1.0);
}

static void scale_does_not_matter(void** state) {
  (void)state;
  TestRandom random = {14};
  double scales[] = {1e-300, 1e-200, 1e-100, 1e-71, 1e-30, 1e30, 1e71, 1e100, 1e200, 1e300};
  for (int k = 0; k < 2000; k++) {
    NoliMat3 F = noli_scale33(scales[k % 10], random_matrix(&random));
    assert_svd(&F);
  }
}

static void small_stretches_keep_relative_accuracy(void** state) {
  (void)state;
  TestRandom random = {15};
  // columns of very different norms
  for (int k = 0; k < 1000; k++) {
    NoliMat3 R = random_rotation(&random);
    NoliMat3 F = noli_mul33(R, noli_diagonal33((double[3]){1.0, 1e-10, 1e-20}));
    NoliMat3 U, V;
    double sigma[3];
    noli_svd3(&F, &U, sigma, &V);
    ASSERT_NEAR(sigma[1] / 1e-10, 1.0, 1e-14);
    ASSERT_NEAR(sigma[2] / 1e-20, 1.0, 1e-14);
  }
}

static void values_that_are_not_finite_give_nan(void** state) {
  (void)state;
  for (int k = 0; k < 18; k++) {
    NoliMat3 F = noli_identity3(), U, V;
    double sigma[3];
    F.m[(k % 9) / 3][k % 3] = k < 9 ? NAN : INFINITY;
    noli_svd3(&F, &U, sigma, &V);
    for (int i = 0; i < 9; i++) {
      assert_true(isnan(U.m[i / 3][i % 3]) && isnan(V.m[i / 3][i % 3]) && isnan(sigma[i % 3]));
    }
  }
}

// Every lane has the bits of the matrix alone, whatever the others are: matrices at random, at
// rest, with stretches that are equal, tiny or out of range, and not finite ones (NaN, of any
// bits).
static void lanes_have_the_bits_of_one(void** state) {
  (void)state;
  TestRandom random = {17};
  const double scales[] = {1.0, 1e-30, 1e30, 1.0};
  for (int k = 0; k < 4000; k++) {
    NoliLanes33 F, U, V;
    NoliLanes3 sigma;
    NoliMat3 alone[NOLI_LANES];
    for (int l = 0; l < NOLI_LANES; l++) {
      NoliMat3 a = random_matrix(&random);
      int kind = k < 1000 ? 0 : (int)(test_random(&random, 0.0, 8.0));
      a = kind == 1 ? noli_identity3() : a;
      a = kind == 2 ? with_stretches(&random, 1.0, 1.0, 0.5) : a;
      a = kind == 3 ? with_stretches(&random, 2.0, 1e-9, -1e-12) : a;
      a = kind == 4 && k % 16 == 0 ? noli_scale33(scales[l % 4], a) : a;
      a = kind == 5 && k % 16 == 0 ? noli_outer33(noli_vec3(1.0, 2.0, 0.5), noli_row33(&a, 0)) : a;
      a = kind == 6 && k % 16 == 0 ? noli_scale33(l % 2 ? 0.0 : (double)NAN, a) : a;
      alone[l] = a;
      noli_set_lane33(&F, l, a);
    }
    noli_svd3_lanes(&F, &U, &sigma, &V);
    for (int l = 0; l < NOLI_LANES; l++) {
      NoliMat3 u, v, u_lane = noli_lane33(&U, l), v_lane = noli_lane33(&V, l);
      double s[3], s_lane[3];
      noli_svd3(&alone[l], &u, s, &v);
      noli_store3(s_lane, noli_lane3(&sigma, l));
      if (isnan(s[0])) {
        assert_true(isnan(s_lane[0]) && isnan(u_lane.m[0][0]) && isnan(v_lane.m[2][2]));
        continue;
      }
      assert_memory_equal(&u_lane, &u, sizeof u);
      assert_memory_equal(&v_lane, &v, sizeof v);
      assert_memory_equal(s_lane, s, sizeof s);
    }
  }
}

static void matrix_algebra_holds(void** state) {
  (void)state;
  TestRandom random = {16};
  for (int k = 0; k < 100; k++) {
    NoliMat3 A = random_matrix(&random), B = random_matrix(&random);
    if (fabs(noli_det33(&A)) < 0.05) {
      continue;
    }
    NoliMat3 inverse = noli_inverse33(&A);
    NoliMat3 defect = noli_sub33(noli_mul33(A, inverse), noli_identity3());
    ASSERT_AT_MOST(largest(&defect), 1e-12);
    NoliMat3 AB = noli_mul33(A, B);
    ASSERT_NEAR(noli_det33(&AB), noli_det33(&A) * noli_det33(&B), 1e-13);
    defect = noli_sub33(noli_transpose33(AB), noli_mul33(noli_transpose33(B), noli_transpose33(A)));
    ASSERT_AT_MOST(largest(&defect), 0.0);
    defect = noli_sub33(noli_transpose_mul33(A, B), noli_mul33(noli_transpose33(A), B));
    ASSERT_AT_MOST(largest(&defect), 1e-15);
    NoliMat3 cofactor = noli_cofactor33(&A);
    defect = noli_sub33(noli_mul_transpose33(A, cofactor),
                        noli_scale33(noli_det33(&A), noli_identity3()));
    ASSERT_AT_MOST(largest(&defect), 1e-14);
    NoliVec3 v = noli_vec3(0.3, -0.2, 0.9);
    NoliVec3 w = noli_transpose_mul33_vec(&A, noli_mul33_vec(&B, v));
    NoliMat3 C = noli_transpose_mul33(A, B);
    ASSERT_AT_MOST(noli_norm3(noli_sub3(w, noli_mul33_vec(&C, v))), 1e-14);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(random_matrices_are_decomposed),
      cmocka_unit_test(stretches_are_recovered),
      cmocka_unit_test(special_matrices_are_decomposed),
      cmocka_unit_test(scale_does_not_matter),
      cmocka_unit_test(small_stretches_keep_relative_accuracy),
      cmocka_unit_test(values_that_are_not_finite_give_nan),
      cmocka_unit_test(lanes_have_the_bits_of_one),
      cmocka_unit_test(matrix_algebra_holds),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
