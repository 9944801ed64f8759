// Tangents at points, and how projected tangents change: against central differences.
#include "material/fibre.h"
#include "material/reference.h"
#include "material/tangent.h"
#include "math/svd3.h"
#include "support.h"

static NoliMat3 random_matrix(TestRandom* random, double size) {
  NoliMat3 a;
  for (int i = 0; i < 9; i++) {
    a.m[i / 3][i % 3] = test_random(random, -size, size);
  }
  return a;
}

static NoliMat3 with_stretches(TestRandom* random, const double s[3]) {
  NoliMat3 frame[2];
  for (int k = 0; k < 2; k++) {
    NoliMat3 a = random_matrix(random, 1.0), U, V;
    double sigma[3];
    noli_svd3(&a, &U, sigma, &V);
    frame[k] = noli_mul_transpose33(U, V);
  }
  return noli_mul_transpose33(noli_mul33(frame[0], noli_diagonal33(s)), frame[1]);
}

static const NoliLame usual = {1.3, 2.1, NULL, NULL, NULL};

static const double fibre[] = {0.6, 0.0, 0.8, 2.0, 1.5};
static const double rubber[] = {1.1, 1.7, -0.3, -2.4, 0.5, 4.0};
static const double mooney[] = {0.5, 0.2};

// A+ : W by the material's own projection.
static void product(const NoliMaterial* law, NoliLame lame, const NoliMat3* F, const NoliMat3* W,
                    double Q[9]) {
  double A[81];
  material_tangent(law, lame, F, true, A);
  NoliFibreResponse response = noli_fibre_respond(lame.fibre, F);
  NoliMat3 S = noli_fibre_tangent(&response);
  double a[3];
  noli_store3(a, response.rest);
  for (int r = 0; r < 81; r++) {
    A[r] += S.m[r / 27][r % 9 / 3] * a[r / 9 % 3] * a[r % 3];
  }
  for (int r = 0; r < 9; r++) {
    Q[r] = 0.0;
    for (int c = 0; c < 9; c++) {
      Q[r] += A[9 * r + c] * W->m[c / 3][c % 3];
    }
  }
}

static bool has_number(const NoliMaterial* law, NoliLame lame, int which) {
  return which < NOLI_NUMBER_PARAMETERS ? true
         : which < NOLI_NUMBER_FIBRE
             ? lame.parameter != NULL && which - NOLI_NUMBER_PARAMETERS < law->n_parameter
             : lame.fibre != NULL;
}

// The product with another value of a number.
static void with_number(const NoliMaterial* law, NoliLame lame, int which, double change,
                        const NoliMat3* F, const NoliMat3* W, double Q[9]) {
  double parameter[NOLI_LAW_PARAMETERS] = {0.0}, fibres[NOLI_FIBRE_VALUES] = {0.0};
  if (lame.parameter != NULL) {
    memcpy(parameter, lame.parameter, (size_t)law->n_parameter * sizeof *parameter);
    lame.parameter = parameter;
  }
  if (lame.fibre != NULL) {
    memcpy(fibres, lame.fibre, sizeof fibres);
    lame.fibre = fibres;
  }
  *(which == NOLI_NUMBER_MU       ? &lame.mu
    : which == NOLI_NUMBER_LAMBDA ? &lame.lambda
    : which < NOLI_NUMBER_FIBRE   ? &parameter[which - NOLI_NUMBER_PARAMETERS]
                                  : &fibres[3 + which - NOLI_NUMBER_FIBRE]) += change;
  product(law, lame, F, W, Q);
}

// The largest error of D relative to its largest entry.
static double error_of(const NoliMaterial* law, NoliLame lame, const NoliMat3* F, const NoliMat3* W,
                       double step) {
  NoliTangentProduct at;
  double own[9], stored[9], off = 0.0, most = 1.0;
  noli_material_tangent_product(law, lame, F, W, &at);
  product(law, lame, F, W, own);
  noli_store33(stored, &at.Q);
  for (int r = 0; r < 9; r++) {
    assert_true(fabs(own[r] - stored[r]) <= 1e-11 * (1.0 + fabs(own[r])));
  }
  for (int c = 0; c < 9; c++) {
    double side[2][9];
    for (int k = 0; k < 2; k++) {
      NoliMat3 moved = *F;
      moved.m[c / 3][c % 3] += k == 0 ? -step : step;
      product(law, lame, &moved, W, side[k]);
    }
    for (int r = 0; r < 9; r++) {
      double difference = (side[1][r] - side[0][r]) / (2.0 * step);
      off = noli_larger(off, fabs(difference - at.D[9 * r + c]));
      most = noli_larger(most, fabs(at.D[9 * r + c]));
    }
  }
  for (int which = 0; which < NOLI_ELASTIC_NUMBERS; which++) {
    double side[2][9], by[9];
    for (int k = 0; has_number(law, lame, which) && k < 2; k++) {
      with_number(law, lame, which, k == 0 ? -step : step, F, W, side[k]);
    }
    noli_store33(by, &at.by[which]);
    for (int r = 0; has_number(law, lame, which) && r < 9; r++) {
      off = noli_larger(off, fabs((side[1][r] - side[0][r]) / (2.0 * step) - by[r]));
    }
  }
  return off / most;
}

static const double stretches[][3] = {
    {1.0, 1.0, 1.0},  {1.2, 1.2, 1.2},           {1.5, 0.7, 0.7},    {1.5, 1.5, 0.7},
    {1.3, 1.1, 0.8},  {1.0, 1 - 1e-9, 1 - 2e-9}, {1.0 + 1e-6, 1, 1}, {1.6, 1.2, 0.2},
    {0.5, 0.45, 0.4}, {3.0, 0.9, 0.6},           {1.0, 0.9, 0.08},   {1.3, 1.3 - 3e-5, 0.9},
    {1.4, 0.6, 0.6},  {2.0, 2.0, 0.4},
};

// The law with these parameters and fibres.
static void check_products(const NoliMaterial* law, NoliLame lame, TestRandom* random) {
  double most = 0.0;
  for (size_t c = 0; c < sizeof stretches / sizeof *stretches; c++) {
    for (int k = 0; k < 10; k++) {
      NoliMat3 F = with_stretches(random, stretches[c]), W = random_matrix(random, 1.0);
      // near rest the eigenvalues of turns are close to 0, where their projection has a kink
      // between both sides of the difference: no turns; at rest the difference is the mean
      bool at_rest = fabs(stretches[c][0] - 1.0) + fabs(stretches[c][2] - 1.0) < 1e-4;
      if (at_rest && lame.fibre != NULL) {
        continue; // fibres have a kink of their own there
      }
      W = at_rest && c > 0 ? noli_mul33(F, noli_add33(W, noli_transpose33(W))) : W;
      double error = error_of(law, lame, &F, &W, (at_rest ? 1e-6 : 1e-5) * stretches[c][2]);
      if (error > 2e-6) {
        print_message("%s: stretches %zu: %.2e\n", law->name, c, error);
      }
      most = noli_larger(most, error);
    }
  }
  print_message("%-20s%-12s%-8s largest error %.1e\n", law->name,
                lame.parameter != NULL ? "parameters" : "", lame.fibre != NULL ? "fibres" : "",
                most);
  assert_true(most < 2e-6);
}

static void products_change_as_derived(void** state) {
  (void)state;
  TestRandom random = {7};
  for (int32_t i = 0; i < noli_material_count(); i++) {
    check_products(noli_material_at(i), usual, &random);
  }
  NoliLame lame = usual;
  lame.parameter = rubber;
  check_products(&noli_ogden, lame, &random);
  lame.parameter = mooney;
  check_products(&noli_mooney_rivlin, lame, &random);
  lame = usual;
  lame.fibre = fibre;
  check_products(&noli_neo_hookean, lame, &random);
}

// The plain tangent, with fibres.
static void tangents_are_derivatives(void** state) {
  (void)state;
  TestRandom random = {11};
  for (int32_t i = 0; i < noli_material_count(); i++) {
    const NoliMaterial* law = noli_material_at(i);
    NoliLame with = usual;
    with.fibre = fibre;
    for (int k = 0; k < 40; k++) {
      NoliMat3 F = noli_add33(noli_identity3(), random_matrix(&random, 0.25)), P, side[2];
      double A[81], unused[81];
      noli_material_tangent(law, with, &F, &P, A);
      for (int c = 0; c < 9; c++) {
        for (int s = 0; s < 2; s++) {
          NoliMat3 moved = F;
          moved.m[c / 3][c % 3] += s == 0 ? -1e-6 : 1e-6;
          noli_material_tangent(law, with, &moved, &side[s], unused);
        }
        for (int r = 0; r < 9; r++) {
          double difference = (side[1].m[r / 3][r % 3] - side[0].m[r / 3][r % 3]) / 2e-6;
          assert_true(fabs(difference - A[9 * r + c]) <= 1e-6 * (10.0 + fabs(difference)));
        }
      }
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(products_change_as_derived),
                                     cmocka_unit_test(tangents_are_derivatives)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
