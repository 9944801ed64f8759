#include "math/eigen.h"
#include "support.h"

enum { MAX = NOLI_EIGEN_MAX, SQUARE = NOLI_EIGEN_MAX * NOLI_EIGEN_MAX };

static void random_symmetric(TestRandom* random, int32_t n, double* a) {
  for (int32_t i = 0; i < n; i++) {
    for (int32_t j = 0; j <= i; j++) {
      a[i * n + j] = a[j * n + i] = test_random(random, -1.0, 1.0);
    }
  }
}

// Sum of `rank` outer products with signs: rank-deficient and, with n_negative, indefinite.
static void low_rank(TestRandom* random, int32_t n, int32_t rank, int32_t n_negative, double* a) {
  memset(a, 0, sizeof(double) * (size_t)(n * n));
  for (int32_t r = 0; r < rank; r++) {
    double v[MAX];
    for (int32_t i = 0; i < n; i++) {
      v[i] = test_random(random, -1.0, 1.0);
    }
    for (int32_t i = 0; i < n; i++) {
      for (int32_t j = 0; j < n; j++) {
        a[i * n + j] += (r < n_negative ? -1.0 : 1.0) * v[i] * v[j];
      }
    }
  }
}

static double largest(int32_t n, const double* a) {
  double result = 0.0;
  for (int32_t i = 0; i < n * n; i++) {
    result = noli_larger(result, fabs(a[i]));
  }
  return result;
}

// V diag(values) V^T, negative values left out on request.
static void rebuild(int32_t n, const double* values, const double* vectors, bool positive_only,
                    double* a) {
  for (int32_t i = 0; i < n; i++) {
    for (int32_t j = 0; j < n; j++) {
      double sum = 0.0;
      for (int32_t k = 0; k < n; k++) {
        double value = positive_only ? fmax(values[k], 0.0) : values[k];
        sum += vectors[i * n + k] * value * vectors[j * n + k];
      }
      a[i * n + j] = sum;
    }
  }
}

static void assert_eigen(int32_t n, const double* a) {
  double copy[SQUARE], values[MAX], vectors[SQUARE], again[SQUARE];
  memcpy(copy, a, sizeof(double) * (size_t)(n * n));
  noli_eigen_symmetric(n, copy, values, vectors);
  double size = fmax(largest(n, a), 1e-300);
  rebuild(n, values, vectors, false, again);
  for (int32_t i = 0; i < n; i++) {
    assert_true(i == 0 || values[i - 1] <= values[i]);
    for (int32_t j = 0; j < n; j++) {
      ASSERT_NEAR(again[i * n + j], a[i * n + j], 2e-14 * size);
      double dot = 0.0;
      for (int32_t k = 0; k < n; k++) {
        dot += vectors[k * n + i] * vectors[k * n + j];
      }
      ASSERT_NEAR(dot, i == j ? 1.0 : 0.0, 1e-14);
    }
  }
}

// The projection equals the clamped eigen-decomposition, is symmetric and semi-definite.
static void assert_projection(int32_t n, const double* a) {
  double copy[SQUARE], values[MAX], vectors[SQUARE], want[SQUARE], got[SQUARE];
  memcpy(copy, a, sizeof(double) * (size_t)(n * n));
  noli_eigen_symmetric(n, copy, values, vectors);
  rebuild(n, values, vectors, true, want);
  memcpy(got, a, sizeof(double) * (size_t)(n * n));
  noli_project_psd(n, got);
  double size = fmax(largest(n, a), 1e-300);
  for (int32_t i = 0; i < n; i++) {
    for (int32_t j = 0; j < n; j++) {
      ASSERT_NEAR(got[i * n + j], want[i * n + j], 2e-14 * size);
      assert_true(got[i * n + j] == got[j * n + i]);
    }
  }
  noli_eigen_symmetric(n, got, values, vectors);
  ASSERT_AT_LEAST(values[0], -2e-14 * size);
}

static void random_matrices_are_rebuilt(void** state) {
  (void)state;
  TestRandom random = {21};
  for (int32_t n = 1; n <= MAX; n++) {
    for (int k = 0; k < 300; k++) {
      double a[SQUARE];
      random_symmetric(&random, n, a);
      assert_eigen(n, a);
      assert_projection(n, a);
    }
  }
}

static void low_rank_matrices_are_rebuilt(void** state) {
  (void)state;
  TestRandom random = {22};
  for (int32_t n = 2; n <= MAX; n++) {
    for (int k = 0; k < 300; k++) {
      double a[SQUARE];
      int32_t rank = (int32_t)(test_random_bits(&random) % (uint64_t)(n + 1));
      int32_t n_negative = (int32_t)(test_random_bits(&random) % 4);
      low_rank(&random, n, rank, n_negative, a);
      assert_eigen(n, a);
      assert_projection(n, a);
    }
  }
}

static void special_matrices_are_rebuilt(void** state) {
  (void)state;
  TestRandom random = {23};
  double nasty[] = {0.0, 0.0, 1.0, -1.0, 1e-9, 1e-17, 1e-160, -1e-300};
  for (int32_t n = 1; n <= MAX; n++) {
    for (int k = 0; k < 1000; k++) {
      double a[SQUARE];
      for (int32_t i = 0; i < n; i++) {
        for (int32_t j = 0; j <= i; j++) {
          a[i * n + j] = a[j * n + i] = nasty[test_random_bits(&random) % 8];
        }
      }
      assert_eigen(n, a);
      assert_projection(n, a);
    }
  }
}

static void scale_does_not_matter(void** state) {
  (void)state;
  TestRandom random = {24};
  double scales[] = {1e-250, 1e-150, 1e150, 1e250};
  for (int32_t n = 2; n <= MAX; n++) {
    for (int k = 0; k < 20; k++) {
      double a[SQUARE];
      random_symmetric(&random, n, a);
      for (int32_t i = 0; i < n * n; i++) {
        a[i] *= scales[k % 4];
      }
      assert_eigen(n, a);
      assert_projection(n, a);
    }
  }
}

static void semi_definite_matrices_stay(void** state) {
  (void)state;
  TestRandom random = {25};
  for (int32_t n = 1; n <= MAX; n++) {
    for (int k = 0; k < 50; k++) {
      double a[SQUARE], projected[SQUARE];
      low_rank(&random, n, n + 3, 0, a);
      for (int32_t i = 0; i < n; i++) {
        a[i * n + i] += 0.1;
      }
      memcpy(projected, a, sizeof a);
      noli_project_psd(n, projected);
      assert_memory_equal(projected, a, sizeof(double) * (size_t)(n * n));
      // and their negatives vanish
      for (int32_t i = 0; i < n * n; i++) {
        projected[i] = -a[i];
      }
      noli_project_psd(n, projected);
      ASSERT_AT_MOST(largest(n, projected), 0.0);
    }
  }
}

// Matrices of any size: A+ is semi-definite, so is A+ - A, and A+ (A+ - A) = 0.
static void large_matrices_are_projected(void** state) {
  (void)state;
  enum { LARGE = 45 };
  static double a[LARGE * LARGE], p[LARGE * LARGE], scratch[2 * LARGE * LARGE + 4 * LARGE];
  TestRandom random = {27};
  for (int32_t n = 1; n <= LARGE; n += 4) {
    assert_true(noli_project_psd_scratch(n) <= (int64_t)(sizeof scratch / sizeof *scratch));

    // project a random matrix
    random_symmetric(&random, n, a);
    memcpy(p, a, sizeof(double) * (size_t)(n * n));
    noli_project_psd_large(n, p, scratch);

    // A+ (A+ - A) = 0
    for (int32_t i = 0; i < n; i++) {
      for (int32_t j = 0; j < n; j++) {
        double product = 0.0;
        for (int32_t k = 0; k < n; k++) {
          product += p[i * n + k] * (p[k * n + j] - a[k * n + j]);
        }
        ASSERT_NEAR(product, 0.0, 1e-12 * n);
        assert_true(p[i * n + j] == p[j * n + i]);
      }
    }

    // both are semi-definite
    for (int k = 0; k < 20; k++) {
      double form[2] = {0.0, 0.0}, v[LARGE];
      for (int32_t i = 0; i < n; i++) {
        v[i] = test_random(&random, -1.0, 1.0);
      }
      for (int32_t i = 0; i < n * n; i++) {
        form[0] += v[i / n] * p[i] * v[i % n];
        form[1] += v[i / n] * (p[i] - a[i]) * v[i % n];
      }
      ASSERT_AT_LEAST(form[0], -1e-12 * n);
      ASSERT_AT_LEAST(form[1], -1e-12 * n);
    }
  }
}

static void nan_is_not_hidden(void** state) {
  (void)state;
  TestRandom random = {26};
  for (int32_t n = 1; n <= MAX; n++) {
    for (int k = 0; k < 20; k++) {
      double a[SQUARE], values[MAX], vectors[SQUARE], copy[SQUARE];
      random_symmetric(&random, n, a);
      int32_t i = (int32_t)(test_random_bits(&random) % (uint64_t)n);
      int32_t j = (int32_t)(test_random_bits(&random) % (uint64_t)n);
      a[i * n + j] = a[j * n + i] = NAN;
      memcpy(copy, a, sizeof copy);
      noli_eigen_symmetric(n, copy, values, vectors);
      for (int32_t m = 0; m < n; m++) {
        assert_true(isnan(values[m]));
      }
      noli_project_psd(n, a);
      assert_true(isnan(a[i * n + j]));
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(random_matrices_are_rebuilt),
      cmocka_unit_test(low_rank_matrices_are_rebuilt),
      cmocka_unit_test(special_matrices_are_rebuilt),
      cmocka_unit_test(scale_does_not_matter),
      cmocka_unit_test(semi_definite_matrices_stay),
      cmocka_unit_test(large_matrices_are_projected),
      cmocka_unit_test(nan_is_not_hidden),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
