// Every rule against every monomial it must integrate, in closed form.
#include "math/quadrature.h"
#include "support.h"

static double factorial(int n) {
  return n < 2 ? 1.0 : n * factorial(n - 1);
}

// Integral of xi^i over the reference tetrahedron: prod i_k! / (|i| + 3)!.
static double exact(const int* i) {
  double product = 1.0;
  int sum = 3;
  for (int k = 0; k < 3; k++) {
    product *= factorial(i[k]);
    sum += i[k];
  }
  return product / factorial(sum);
}

static double integrate(const NoliQuadrature* rule, const int* i) {
  double sum = 0.0;
  for (int32_t q = 0; q < rule->n; q++) {
    double value = 1.0;
    for (int k = 0; k < 3; k++) {
      for (int e = 0; e < i[k]; e++) {
        value *= rule->xi[3 * q + k];
      }
    }
    sum += rule->weight[q] * value;
  }
  return sum;
}

static void check_rule(const NoliQuadrature* rule) {
  for (int32_t q = 0; q < rule->n; q++) {
    double rest = 1.0;
    assert_true(rule->weight[q] > 0.0);
    for (int k = 0; k < 3; k++) {
      double xi = rule->xi[3 * q + k];
      assert_true(xi > 0.0);
      rest -= xi;
    }
    assert_true(rest > 0.0);
  }
  double worst_above = 0.0;
  int d = rule->degree;
  for (int a = 0; a <= d + 1; a++) {
    for (int b = 0; b <= d + 1 - a; b++) {
      for (int c = 0; c <= d + 1 - a - b; c++) {
        const int i[3] = {a, b, c};
        double want = exact(i), got = integrate(rule, i);
        if (a + b + c <= d) {
          // relative to the monomial's own integral, which may be tiny
          ASSERT_NEAR(got / want, 1.0, 4e-14);
        } else {
          worst_above = noli_larger(worst_above, fabs(got / want - 1.0));
        }
      }
    }
  }
  ASSERT_AT_LEAST(worst_above, 1e-9);
}

static void all_monomials(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  const int32_t n_tet[] = {1, 1, 4, 8, 14, 14, 24, 35, 46};
  for (int32_t degree = 0; degree <= 21; degree++) {
    NoliQuadrature rule;
    ASSERT_OK(noli_quadrature_tet(context, degree, &rule));
    assert_true(rule.degree >= degree);
    if (degree < (int32_t)(sizeof n_tet / sizeof n_tet[0])) {
      assert_int_equal(rule.n, n_tet[degree]);
    }
    check_rule(&rule);
    noli_quadrature_free(context, &rule);
  }
  test_context_done(&context);
}

// The largest rules: a function that is not a polynomial, exp(x + y + z).
static void largest_rules(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  NoliQuadrature rule;
  double sum = 0.0;
  ASSERT_OK(noli_quadrature_tet(context, NOLI_QUADRATURE_DEGREE_MAX, &rule));
  for (int32_t q = 0; q < rule.n; q++) {
    sum += rule.weight[q] * exp(rule.xi[3 * q] + rule.xi[3 * q + 1] + rule.xi[3 * q + 2]);
  }
  // the integral of e^s s^2/2 over [0, 1]
  ASSERT_NEAR(sum, 0.5 * exp(1.0) - 1.0, 1e-14);
  noli_quadrature_free(context, &rule);
  test_context_done(&context);
}

// The integral of xi^a eta^b over the triangle is a! b! / (a + b + 2)!.
static void triangles(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  for (int32_t degree = 0; degree <= 16; degree++) {
    NoliQuadrature rule;
    ASSERT_OK(noli_quadrature_tri(context, degree, &rule));
    assert_true(rule.degree >= degree);
    for (int a = 0; a <= rule.degree; a++) {
      for (int b = 0; b <= rule.degree - a; b++) {
        double sum = 0.0, want = factorial(a) * factorial(b) / factorial(a + b + 2);
        for (int32_t q = 0; q < rule.n; q++) {
          assert_true(rule.weight[q] > 0.0 && rule.xi[2 * q] + rule.xi[2 * q + 1] < 1.0);
          sum += rule.weight[q] * pow(rule.xi[2 * q], a) * pow(rule.xi[2 * q + 1], b);
        }
        ASSERT_NEAR(sum / want, 1.0, 4e-14);
      }
    }
    noli_quadrature_free(context, &rule);
  }
  test_context_done(&context);
}

static void refused(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  NoliQuadrature rule;
  ASSERT_STATUS(noli_quadrature_tet(context, -1, &rule), NOLI_ERROR_ARGUMENT);
  ASSERT_STATUS(noli_quadrature_tet(context, NOLI_QUADRATURE_DEGREE_MAX + 1, &rule),
                NOLI_ERROR_ARGUMENT);
  assert_non_null(strstr(noli_context_message(context), "41"));
  ASSERT_STATUS(noli_quadrature_tri(context, -1, &rule), NOLI_ERROR_ARGUMENT);
  test_context_done(&context);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(all_monomials),
      cmocka_unit_test(largest_rules),
      cmocka_unit_test(triangles),
      cmocka_unit_test(refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
