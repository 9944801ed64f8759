#include "contact/friction/friction_law.h"

#include "support.h"

#define EPS_V 1e-3
#define H_V 0.02
#define EPS (EPS_V * H_V)

enum { LAWS = 5 };

static NoliSlidingLaw law_at(int which) {
  static const NoliFrictionLaw laws[LAWS] = {
      {0.4, 0.4, 1e-2, 0.0},   // Coulomb
      {0.3, 0.7, 1e-2, 0.0},   // Stribeck, v_s = 10 eps_v
      {0.3, 0.7, 1.5e-3, 0.0}, // v_s next to eps_v
      {0.3, 0.7, 4e-4, 0.0},   // v_s below eps_v: not meaningful, but must not break
      {0.2, 0.5, 1e-1, 3.0},   // with viscosity
  };
  return noli_sliding_law(&laws[which], EPS_V, H_V);
}

// The pieces of Coulomb's law join smoothly.
static void curves_fit_together(void** state) {
  (void)state;
  double eps = 1e-3;
  ASSERT_NEAR(noli_friction_f0(eps, eps), eps, 1e-18);
  ASSERT_NEAR(noli_friction_f0(eps * (1.0 - 1e-9), eps), eps * (1.0 - 1e-9), 1e-18);
  ASSERT_NEAR(noli_friction_f1_over_y(0.0, eps), 2.0 / eps, 0.0);
  ASSERT_NEAR(noli_friction_f1_over_y(eps, eps) * eps, 1.0, 1e-15);
  ASSERT_NEAR(noli_friction_f1_derivative(0.0, eps), 2.0 / eps, 0.0);
  for (double y = 1e-5; y < 3e-3; y *= 1.3) {
    double h = 1e-4 * y;
    double derivative = (noli_friction_f0(y + h, eps) - noli_friction_f0(y - h, eps)) / (2.0 * h);
    ASSERT_NEAR(derivative, noli_friction_f1_over_y(y, eps) * y, 1e-6);
    assert_true(noli_friction_f1_over_y(y, eps) * y <= 1.0 + 1e-15);
  }
}

// Written out as [Larionov2024] eq. 8, with lambda in the viscous part.
static double equation_8(const NoliFrictionLaw* law, double v, double lambda) {
  double s = v < EPS_V ? 2.0 * v / EPS_V - v * v / (EPS_V * EPS_V) : 1.0;
  double x = v / law->v_s, g = x < 1.0 ? (2.0 * x + 1.0) * pow(x - 1.0, 2.0) : 0.0;
  return (law->mu_d + (law->mu_s - law->mu_d) * g) * s * lambda + law->mu_v * v * lambda;
}

static void magnitudes_are_those_of_the_equation(void** state) {
  (void)state;
  TestRandom random = {81};
  for (int i = 0; i < 500; i++) {
    NoliFrictionLaw law = {.mu_d = test_random(&random, 0.0, 1.0),
                           .v_s = EPS_V * test_random(&random, 1.1, 50.0),
                           .mu_v = test_random(&random, 0.0, 5.0)};
    law.mu_s = law.mu_d + test_random(&random, 0.0, 1.0);
    NoliSlidingLaw sliding = noli_sliding_law(&law, EPS_V, H_V);
    double v = EPS_V * pow(10.0, test_random(&random, -3.0, 3.0));
    double lambda = test_random(&random, 0.1, 100.0);
    double want = equation_8(&law, v, lambda), y = v * H_V;
    ASSERT_NEAR(noli_sliding_over_y(&sliding, y, lambda) * y, want, 1e-13 * want);
    ASSERT_NEAR(noli_sliding_over_y_by_lambda(&sliding, y) * y * lambda, want, 1e-13 * want);
  }
}

static void derivatives_agree_with_differences(void** state) {
  (void)state;
  for (int which = 0; which < LAWS; which++) {
    NoliSlidingLaw law = law_at(which);
    for (double y = 1e-3 * EPS; y < 300.0 * EPS; y *= 1.07) {
      double h = 1e-5 * y, lambda = 7.0;
      double c = noli_sliding_over_y(&law, y, lambda) * y;
      double difference = (noli_sliding_potential(&law, y + h, lambda) -
                           noli_sliding_potential(&law, y - h, lambda)) /
                          (2.0 * h);
      // the potential's constant is about lambda eps / 3: the second part is its rounding error
      ASSERT_NEAR(difference, c, 1e-7 * c + 1e-15 * lambda * (EPS + y) / h);
      double after = noli_sliding_over_y(&law, y + h, lambda) * (y + h);
      double before = noli_sliding_over_y(&law, y - h, lambda) * (y - h);
      double derivative = noli_sliding_derivative(&law, y, lambda);
      ASSERT_NEAR((after - before) / (2.0 * h), derivative, 1e-4 * fmax(fabs(derivative), c / y));
    }
    // at rest: finite, and the derivative is the limit of c / y
    ASSERT_NEAR(noli_sliding_over_y(&law, 0.0, 2.0), noli_sliding_derivative(&law, 0.0, 2.0),
                1e-13 * noli_sliding_derivative(&law, 0.0, 2.0));
    assert_true(noli_sliding_derivative(&law, 0.0, 2.0) > 0.0);
    ASSERT_NEAR(noli_sliding_potential(&law, 0.0, 3.0), law.mu_d * EPS, 1e-15 * EPS);
  }
}

// Equal coefficients: Coulomb's friction to the last bit, for any v_s.
static void equal_coefficients_are_coulomb(void** state) {
  (void)state;
  TestRandom random = {82};
  for (int i = 0; i < 1000; i++) {
    double mu = test_random(&random, 0.0, 1.0), lambda = test_random(&random, 0.0, 1e3);
    NoliFrictionLaw coulomb = {mu, mu, EPS_V * test_random(&random, 0.1, 20.0), 0.0};
    NoliSlidingLaw law = noli_sliding_law(&coulomb, EPS_V, H_V);
    double y = EPS * pow(10.0, test_random(&random, -3.0, 2.0)), mu_lambda = mu * lambda;
    ASSERT_NEAR(noli_sliding_over_y(&law, y, lambda),
                mu_lambda * noli_friction_f1_over_y(y, H_V * EPS_V), 0.0);
    ASSERT_NEAR(noli_sliding_derivative(&law, y, lambda),
                mu_lambda * noli_friction_f1_derivative(y, H_V * EPS_V), 0.0);
    ASSERT_NEAR(noli_sliding_potential(&law, y, lambda),
                mu_lambda * noli_friction_f0(y, H_V * EPS_V), 0.0);
  }
}

// Rises to a peak below mu_s, falls to mu_d at v_s, stays; v_s = 10 eps_v reaches 97 % of mu_s.
static void the_curve_has_the_shape_of_the_figure(void** state) {
  (void)state;
  NoliSlidingLaw law = law_at(1);
  double peak = 0.0, at = 0.0;
  for (double y = 1e-3 * EPS; y < 30.0 * EPS; y += 1e-3 * EPS) {
    double c = noli_sliding_over_y(&law, y, 1.0) * y;
    if (c > peak) {
      peak = c;
      at = y;
    }
  }
  ASSERT_AT_LEAST(peak, 0.97 * 0.7);
  ASSERT_AT_MOST(peak, 0.7);
  ASSERT_NEAR(at, 0.9 * EPS, 0.15 * EPS);
  for (double y = 1e-2 * EPS; y < 40.0 * EPS; y *= 1.01) {
    double derivative = noli_sliding_derivative(&law, y, 1.0);
    if (y < 0.99 * at) {
      ASSERT_AT_LEAST(derivative, 0.0);
    } else if (y > 1.01 * at && y < 9.99 * EPS) {
      ASSERT_AT_MOST(derivative, -1e-9);
    } else if (y > 10.0 * EPS) {
      ASSERT_NEAR(noli_sliding_over_y(&law, y, 1.0) * y, 0.3, 1e-15);
      ASSERT_NEAR(derivative, 0.0, 0.0);
    }
  }
}

// c / y never grows: it is concave in y^2, which quadratic upper bounds require.
static void potentials_are_concave_in_the_square(void** state) {
  (void)state;
  for (int which = 0; which < LAWS; which++) {
    NoliSlidingLaw law = law_at(which);
    double before = noli_sliding_over_y(&law, 0.0, 1.0);
    for (double y = 1e-3 * EPS; y < 300.0 * EPS; y *= 1.01) {
      double now = noli_sliding_over_y(&law, y, 1.0);
      ASSERT_AT_MOST(now, before * (1.0 + 1e-15));
      before = now;
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(curves_fit_together),
      cmocka_unit_test(magnitudes_are_those_of_the_equation),
      cmocka_unit_test(derivatives_agree_with_differences),
      cmocka_unit_test(equal_coefficients_are_coulomb),
      cmocka_unit_test(the_curve_has_the_shape_of_the_figure),
      cmocka_unit_test(potentials_are_concave_in_the_square),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
