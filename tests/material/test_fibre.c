// Fibres at one deformation: against differences, and against their energy written plainly.
#include "support.h"

#include "material/fibre.h"
#include "math/eigen.h"

static double fibre_function(void* user, const double* x, double* gradient, double* hessian) {
  NoliMat3 F = noli_load33(x);
  NoliFibreResponse response = noli_fibre_respond(user, &F);
  // a linear term keeps the gradient away from zero
  NoliMat3 P = noli_fibre_stress(&response);
  P.m[0][1] += 0.01;
  noli_store33(gradient, &P);
  if (hessian != NULL) {
    NoliMat3 S = noli_fibre_tangent(&response);
    double a[3];
    noli_store3(a, response.rest);
    for (int r = 0; r < 9; r++) {
      for (int c = 0; c < 9; c++) {
        hessian[9 * r + c] = S.m[r / 3][c / 3] * a[r % 3] * a[c % 3];
      }
    }
  }
  return response.energy + 0.01 * x[1];
}

static void random_fibre(TestRandom* random, double k2, double fibre[NOLI_FIBRE_VALUES]) {
  NoliVec3 a = noli_vec3(test_random(random, -1.0, 1.0), test_random(random, -1.0, 1.0),
                         test_random(random, 0.1, 1.0));
  noli_store3(fibre, noli_normalize3(a));
  fibre[3] = 1.7;
  fibre[4] = k2;
}

// A deformation at random whose fibre has this value of e.
static NoliMat3 stretched(TestRandom* random, const double* fibre, double e) {
  NoliMat3 F = noli_identity3();
  for (int i = 0; i < 9; i++) {
    F.m[i / 3][i % 3] += test_random(random, -0.3, 0.3);
  }
  NoliVec3 u = noli_mul33_vec(&F, noli_load3(fibre));
  return noli_scale33(sqrt(1.0 + e) / noli_norm3(u), F);
}

static const double growths[] = {0.0, 0.5, 20.0};

// Stretched, compressed, within the toe and at its ends, where the second derivatives are
// continuous.
static void derivatives_match_differences(void** state) {
  (void)state;
  TestRandom random = {61};
  const double w = NOLI_FIBRE_TOE;
  const double strains[] = {-0.9, -0.3, -0.1 * w, 0.1 * w, 0.5 * w, 0.9 * w, 2.0 * w, 0.1, 0.6};
  for (size_t g = 0; g < sizeof growths / sizeof *growths; g++) {
    for (size_t s = 0; s < sizeof strains / sizeof *strains; s++) {
      for (int k = 0; k < 20; k++) {
        double fibre[NOLI_FIBRE_VALUES], x[9];
        random_fibre(&random, growths[g], fibre);
        NoliMat3 F = stretched(&random, fibre, strains[s]);
        noli_store33(x, &F);
        test_derivatives(fibre_function, fibre, 9, x, 0.05 * w, 1e-6, 1e-6);
      }
    }
  }
}

// Energy, stress and tangent from either side of the ends of the toe.
static void the_toe_is_smooth(void** state) {
  (void)state;
  const double ends[] = {0.0, NOLI_FIBRE_TOE}, step = 1e-9;
  for (size_t g = 0; g < sizeof growths / sizeof *growths; g++) {
    const double fibre[NOLI_FIBRE_VALUES] = {1.0, 0.0, 0.0, 1.7, growths[g]};
    for (int k = 0; k < 2; k++) {
      NoliFibreResponse side[2];
      for (int s = 0; s < 2; s++) {
        NoliMat3 F = noli_identity3();
        F.m[0][0] = sqrt(1.0 + ends[k] + (s == 0 ? -step : step));
        side[s] = noli_fibre_respond(fibre, &F);
      }
      ASSERT_NEAR(side[0].energy, side[1].energy, 1e-8 * step + 10.0 * step * NOLI_FIBRE_TOE);
      ASSERT_NEAR(side[0].first, side[1].first, 20.0 * step);
      ASSERT_NEAR(side[0].second, side[1].second, 1e-4);
    }
  }
}

// The published energy beyond the toe, up to the factor and the constant of the header.
static void energy_is_the_published_one(void** state) {
  (void)state;
  TestRandom random = {62};
  const double w = NOLI_FIBRE_TOE;
  for (size_t g = 0; g < sizeof growths / sizeof *growths; g++) {
    for (int k = 0; k < 100; k++) {
      double fibre[NOLI_FIBRE_VALUES], e = test_random(&random, 1.001 * w, 0.5);
      random_fibre(&random, growths[g], fibre);
      NoliMat3 F = stretched(&random, fibre, e);
      NoliFibreResponse response = noli_fibre_respond(fibre, &F);
      double k1 = fibre[3], k2 = fibre[4], h = e * e - w * w / 6.0;
      double want = k2 > 0.0 ? k1 / (2.0 * k2) * (exp(k2 * h) - 1.0) : 0.5 * k1 * h;
      ASSERT_NEAR(response.energy, want, 1e-11 * (want + k1));
      ASSERT_NEAR(response.first, 2.0 * k1 * e * exp(k2 * h), 1e-11 * response.first);
    }
  }
}

// Nothing at rest, under compression and without fibres; no negative curvature anywhere.
static void fibres_bear_tension_only(void** state) {
  (void)state;
  TestRandom random = {63};
  for (int k = 0; k < 300; k++) {
    double fibre[NOLI_FIBRE_VALUES], value[3], vector[9], matrix[9];
    random_fibre(&random, growths[k % 3], fibre);
    double e = test_random(&random, -0.99, k % 2 == 0 ? 0.0 : 0.9);
    NoliMat3 F = stretched(&random, fibre, e);
    NoliFibreResponse response = noli_fibre_respond(fibre, &F);
    assert_true(e > 1e-12 ? response.energy > 0.0 && response.first > 0.0 : true);
    assert_true(e < -1e-12 ? response.energy == 0.0 && response.first == 0.0 : true);
    NoliMat3 S = noli_fibre_tangent(&response);
    noli_store33(matrix, &S);
    noli_eigen_symmetric(3, matrix, value, vector);
    ASSERT_AT_LEAST(value[0], -1e-12 * (1.0 + value[2]));
    fibre[3] = 0.0;
    response = noli_fibre_respond(fibre, &F);
    assert_true(response.energy == 0.0 && response.first == 0.0 && response.second == 0.0);
  }
  NoliMat3 rest = noli_identity3();
  const double fibre[NOLI_FIBRE_VALUES] = {0.6, 0.8, 0.0, 1.0, 2.0};
  NoliFibreResponse response = noli_fibre_respond(fibre, &rest);
  assert_true(response.energy == 0.0 && response.first == 0.0 && response.second == 0.0);
  response = noli_fibre_respond(NULL, &rest);
  assert_true(response.energy == 0.0 && response.first == 0.0 && response.second == 0.0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(derivatives_match_differences),
      cmocka_unit_test(the_toe_is_smooth),
      cmocka_unit_test(energy_is_the_published_one),
      cmocka_unit_test(fibres_bear_tension_only),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
