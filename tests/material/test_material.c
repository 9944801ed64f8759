#include "material/reference.h"
#include "math/eigen.h"
#include "math/svd3.h"
#include "support.h"

#include "noli/choice.h"

static NoliLame lame = {1.3, 2.1, NULL, NULL, NULL}; // tests of parameters change it

static NoliMat3 random_matrix(TestRandom* random, double size) {
  NoliMat3 a;
  for (int i = 0; i < 9; i++) {
    a.m[i / 3][i % 3] = test_random(random, -size, size);
  }
  return a;
}

static NoliMat3 random_rotation(TestRandom* random) {
  NoliMat3 a = random_matrix(random, 1.0), U, V;
  double sigma[3];
  noli_svd3(&a, &U, sigma, &V);
  return noli_mul_transpose33(U, V);
}

static NoliMat3 with_stretches(TestRandom* random, const double s[3]) {
  NoliMat3 U = random_rotation(random), V = random_rotation(random);
  return noli_mul_transpose33(noli_mul33(U, noli_diagonal33(s)), V);
}

// The energy plus a linear term, which keeps the gradient away from zero at rest: tolerances are
// relative to it.
static double law_function(void* user, const double* x, double* gradient, double* hessian) {
  const NoliMaterial* law = user;
  NoliMat3 F = noli_load33(x);
  NoliMat3 P = material_stress(law, lame, &F);
  P.m[0][1] += 0.01;
  noli_store33(gradient, &P);
  if (hessian != NULL) {
    material_tangent(law, lame, &F, false, hessian);
  }
  return material_energy(law, lame, &F) + 0.01 * x[1];
}

static void check_derivatives(const NoliMaterial* law, const NoliMat3* F, double scale) {
  double x[9];
  noli_store33(x, F);
  test_derivatives(law_function, (void*)law, 9, x, scale, 1e-6, 1e-6);
}

// Stretches with repetitions, near rest, strongly compressed and stretched.
static const double upright[][3] = {
    {1.0, 1.0, 1.0},        {1.2, 1.2, 1.2},   {1.5, 0.7, 0.7},
    {1.5, 1.5, 0.7},        {1.3, 1.1, 0.8},   {1.0, 1.0 - 1e-9, 1.0 - 2e-9},
    {1.0, 0.9, 0.05},       {1.0, 0.05, 0.05}, {4.0, 1.0, 0.9},
    {1.0 + 1e-6, 1.0, 1.0},
};
// Flat or inverted.
static const double infeasible[][3] = {{1.0, 1.0, 0.0}, {1.0, 0.5, -0.1}, {1.0, 1.0, -1.0}};

static void derivatives_match_differences(void** state) {
  (void)state;
  TestRandom random = {31};
  for (int32_t i = 0; i < noli_material_count(); i++) {
    const NoliMaterial* law = noli_material_at(i);
    for (size_t c = 0; c < sizeof upright / sizeof upright[0]; c++) {
      for (int k = 0; k < 10; k++) {
        NoliMat3 F = with_stretches(&random, upright[c]);
        check_derivatives(law, &F, fmin(1.0, 3.0 * upright[c][2]));
      }
    }
    for (int k = 0; k < 200; k++) {
      NoliMat3 F = noli_add33(noli_identity3(), random_matrix(&random, 0.4));
      if (noli_det33(&F) > 0.1) {
        check_derivatives(law, &F, 0.3);
      }
    }
  }
}

// Both ways to compute the energy and the stress agree.
static void direct_forms_match_stretches(void** state) {
  (void)state;
  TestRandom random = {32};
  for (int32_t i = 0; i < noli_material_count(); i++) {
    const NoliMaterial* law = noli_material_at(i);
    for (int k = 0; k < 1000; k++) {
      double size = pow(10.0, test_random(&random, -8.0, -0.3));
      NoliMat3 F = noli_add33(noli_identity3(), random_matrix(&random, size)), U, V;
      if (!(noli_det33(&F) > 1e-3)) {
        continue;
      }
      double sigma[3];
      NoliStretchDerivatives d;
      noli_svd3(&F, &U, sigma, &V);
      law->stretch_derivatives(lame, sigma, &d);
      double energy = law->stretch_energy(lame, sigma);
      // sigma is known to 1e-15, so the energy to 1e-15 times the stress
      double stress = fabs(d.first[0]) + fabs(d.first[1]) + fabs(d.first[2]);
      ASSERT_NEAR(material_energy(law, lame, &F), energy, 1e-14 * (stress + energy));
      NoliMat3 P = material_stress(law, lame, &F);
      NoliMat3 Q = noli_mul_transpose33(noli_mul33(U, noli_diagonal33(d.first)), V);
      NoliMat3 defect = noli_sub33(P, Q);
      ASSERT_AT_MOST(sqrt(noli_norm_sqr33(&defect)), 1e-13 * (1.0 + stress));
    }
  }
}

// To second order every law is linear elasticity: mu |strain|^2 + lambda/2 tr(strain)^2.
static void small_strains_are_linear_elasticity(void** state) {
  (void)state;
  TestRandom random = {33};
  for (int32_t i = 0; i < noli_material_count(); i++) {
    const NoliMaterial* law = noli_material_at(i);
    for (int k = 0; k < 100; k++) {
      double size = 1e-7;
      NoliMat3 H = random_matrix(&random, size);
      NoliMat3 strain = noli_scale33(0.5, noli_add33(H, noli_transpose33(H)));
      double trace = noli_trace33(&strain);
      double want = lame.mu * noli_norm_sqr33(&strain) + 0.5 * lame.lambda * trace * trace;
      NoliMat3 F = noli_add33(noli_identity3(), H);
      ASSERT_NEAR(material_energy(law, lame, &F), want, 1e-6 * want);
    }
  }
}

static void rest_is_free_of_stress(void** state) {
  (void)state;
  TestRandom random = {34};
  for (int32_t i = 0; i < noli_material_count(); i++) {
    const NoliMaterial* law = noli_material_at(i);
    NoliMat3 F = noli_identity3();
    NoliMat3 P = material_stress(law, lame, &F);
    ASSERT_NEAR(material_energy(law, lame, &F), 0.0, 0.0);
    ASSERT_AT_MOST(noli_norm_sqr33(&P), 0.0);
    for (int k = 0; k < 50; k++) {
      F = random_rotation(&random);
      P = material_stress(law, lame, &F);
      ASSERT_NEAR(material_energy(law, lame, &F), 0.0, 1e-28);
      ASSERT_AT_MOST(sqrt(noli_norm_sqr33(&P)), 2e-14);
      ASSERT_AT_MOST(material_von_mises(law, lame, &F), 2e-14);
    }
  }
}

static void rotations_change_nothing(void** state) {
  (void)state;
  TestRandom random = {35};
  for (int32_t i = 0; i < noli_material_count(); i++) {
    const NoliMaterial* law = noli_material_at(i);
    for (int k = 0; k < 200; k++) {
      NoliMat3 F = noli_add33(noli_identity3(), random_matrix(&random, 0.4));
      if (!(noli_det33(&F) > 0.1)) {
        continue;
      }
      NoliMat3 R = random_rotation(&random), Q = random_rotation(&random);
      NoliMat3 turned = noli_mul33(noli_mul33(R, F), Q);
      double energy = material_energy(law, lame, &F);
      ASSERT_NEAR(material_energy(law, lame, &turned), energy, 1e-13 * (1.0 + energy));
      // P(R F Q) = R P(F) Q
      NoliMat3 P = noli_mul33(noli_mul33(R, material_stress(law, lame, &F)), Q);
      NoliMat3 defect = noli_sub33(material_stress(law, lame, &turned), P);
      ASSERT_AT_MOST(sqrt(noli_norm_sqr33(&defect)), 1e-12 * sqrt(1.0 + noli_norm_sqr33(&P)));
      double stress = material_von_mises(law, lame, &F);
      ASSERT_NEAR(material_von_mises(law, lame, &turned), stress, 1e-12 * (1.0 + stress));
    }
  }
}

// The analytic projection against Jacobi's view: eigenvalues of the plain 9x9 tangent, clamped.
static void assert_projection(const NoliMaterial* law, const NoliMat3* F) {
  double plain[81], projected[81], copy[81], values[9], vectors[81];
  material_tangent(law, lame, F, false, plain);
  material_tangent(law, lame, F, true, projected);
  double size = 0.0;
  for (int i = 0; i < 81; i++) {
    size = noli_larger(size, fabs(plain[i]));
    copy[i] = 0.5 * (plain[i] + plain[i % 9 * 9 + i / 9]);
  }
  noli_eigen_symmetric(9, copy, values, vectors);
  for (int i = 0; i < 9; i++) {
    for (int j = 0; j < 9; j++) {
      double want = 0.0;
      for (int k = 0; k < 9; k++) {
        want += vectors[9 * i + k] * fmax(values[k], 0.0) * vectors[9 * j + k];
      }
      ASSERT_NEAR(projected[9 * i + j], want, 1e-12 * size);
    }
  }
}

static void projection_clamps_eigenvalues(void** state) {
  (void)state;
  TestRandom random = {36};
  for (int32_t i = 0; i < noli_material_count(); i++) {
    const NoliMaterial* law = noli_material_at(i);

    // given stretches
    for (size_t c = 0; c < sizeof upright / sizeof upright[0]; c++) {
      NoliMat3 F = with_stretches(&random, upright[c]);
      assert_projection(law, &F);
    }

    // nearly degenerate ones
    for (int k = 0; k < 20; k++) {
      // nearly flat, and nearly equal stretches
      double thin = pow(10.0, test_random(&random, -6.0, -1.0)), same = 1.0 + 1e-3 * thin;
      NoliMat3 F = with_stretches(&random, (double[3]){1.2, 0.8, thin});
      assert_projection(law, &F);
      F = with_stretches(&random, (double[3]){1.5 * same, 1.5, thin});
      assert_projection(law, &F);
      F = with_stretches(&random, (double[3]){same, 1.0, 1.0 / same});
      assert_projection(law, &F);
    }

    // random deformations
    for (int k = 0; k < 300; k++) {
      NoliMat3 F = noli_add33(noli_identity3(), random_matrix(&random, 0.8));
      if (noli_det33(&F) > 0.02) {
        assert_projection(law, &F);
      }
      // far out, where the stretch block of the neo-Hookean solid is indefinite too
      F = with_stretches(&random,
                         (double[3]){test_random(&random, 3.0, 9.0), test_random(&random, 1.0, 3.0),
                                     test_random(&random, 0.5, 1.0)});
      assert_projection(law, &F);
    }
  }
}

static void uniform_stretch_has_known_stress(void** state) {
  (void)state;
  double s = 1.3, J = s * s * s;
  NoliMat3 F = noli_scale33(s, noli_identity3());
  NoliMat3 P = material_stress(&noli_neo_hookean, lame, &F);
  ASSERT_NEAR(P.m[0][0], lame.mu * (s - 1.0 / s) + lame.lambda * log(J) / s, 1e-14);
  ASSERT_NEAR(P.m[0][1], 0.0, 1e-15);
  P = material_stress(&noli_fixed_corotated, lame, &F);
  ASSERT_NEAR(P.m[1][1], 2.0 * lame.mu * (s - 1.0) + lame.lambda * (J - 1.0) * s * s, 1e-14);
  // along one axis: sigma = J^-1 P F^T
  F = noli_diagonal33((double[3]){s, 1.0, 1.0});
  double want = lame.mu * (s * s - 1.0) / s;
  ASSERT_NEAR(material_von_mises(&noli_neo_hookean, lame, &F), want, 1e-14);
}

// At rest dP_ij/dF_kl is mu (d_ik d_jl + d_il d_jk) + lambda d_ij d_kl.
static void stiffness_at_rest_is_that_of_lame(void** state) {
  (void)state;
  for (int32_t i = 0; i < noli_material_count(); i++) {
    NoliMat3 F = noli_identity3();
    double tangent[81];
    for (int projected = 0; projected < 2; projected++) {
      material_tangent(noli_material_at(i), lame, &F, projected, tangent);
      for (int n = 0; n < 81; n++) {
        int a = n / 27, b = n / 9 % 3, c = n / 3 % 3, d = n % 3;
        double want =
            lame.mu * ((a == c && b == d) + (a == d && b == c)) + lame.lambda * (a == b && c == d);
        ASSERT_NEAR(tangent[n], want, 1e-14);
      }
    }
  }
}

// Energy densities by their formulas, without precautions against rounding.
static double plain_energy(const NoliMaterial* law, const double s[3]) {
  double mu = lame.mu, lambda = lame.lambda;
  double J = s[0] * s[1] * s[2], I_C = 0.0, squares = 0.0, sum = 0.0, green = 0.0, green_sqr = 0.0;
  for (int i = 0; i < 3; i++) {
    double E = 0.5 * (s[i] * s[i] - 1.0);
    I_C += s[i] * s[i];
    squares += (s[i] - 1.0) * (s[i] - 1.0);
    sum += s[i] - 1.0;
    green += E;
    green_sqr += E * E;
  }
  if (law == &noli_neo_hookean) {
    return 0.5 * mu * (I_C - 3.0) - mu * log(J) + 0.5 * lambda * log(J) * log(J);
  }
  if (law == &noli_fixed_corotated) {
    return mu * squares + 0.5 * lambda * (J - 1.0) * (J - 1.0);
  }
  if (law == &noli_corotated_linear) {
    return mu * squares + 0.5 * lambda * sum * sum;
  }
  if (law == &noli_stvk) {
    return mu * green_sqr + 0.5 * lambda * green * green;
  }
  if (law == &noli_ogden || law == &noli_mooney_rivlin) {
    // without parameters
    double bulk = lambda + 2.0 / 3.0 * mu;
    return 0.5 * mu * (I_C / cbrt(J * J) - 3.0) + 0.25 * bulk * (J * J - 1.0 - 2.0 * log(J));
  }
  if (law == &noli_hencky) {
    double log_J = log(J), squares_of_logs = 0.0;
    for (int i = 0; i < 3; i++) {
      squares_of_logs += log(s[i]) * log(s[i]);
    }
    return mu * squares_of_logs + 0.5 * lambda * log_J * log_J;
  }
  assert_ptr_equal(law, &noli_stable_neo_hookean);
  // as published: m/2 (I_C - 3) + l/2 (J - a)^2 - m/2 ln(I_C + 1), less its value at rest
  double m = 4.0 / 3.0 * mu, l = lambda + 5.0 / 6.0 * mu, a = 1.0 + 0.75 * m / l;
  double at_rest = 0.5 * l * (1.0 - a) * (1.0 - a) - 0.5 * m * log(4.0);
  return 0.5 * m * (I_C - 3.0) + 0.5 * l * (J - a) * (J - a) - 0.5 * m * log(I_C + 1.0) - at_rest;
}

static void energies_match_closed_forms(void** state) {
  (void)state;
  TestRandom random = {37};
  for (int32_t i = 0; i < noli_material_count(); i++) {
    const NoliMaterial* law = noli_material_at(i);
    for (int k = 0; k < 100; k++) {
      // along one axis, dilation, anything
      double s = 0.5 + 0.03 * k;
      double stretches[3][3] = {{s, 1.0, 1.0}, {s, s, s}, {s, 1.2, 0.8}};
      for (int c = 0; c < 3; c++) {
        double want = plain_energy(law, stretches[c]);
        NoliMat3 F = with_stretches(&random, stretches[c]);
        ASSERT_NEAR(material_energy(law, lame, &F), want, 1e-12 * (1.0 + want));
        double sorted[3] = {stretches[c][0], stretches[c][1], stretches[c][2]};
        ASSERT_NEAR(law->stretch_energy(lame, sorted), want, 1e-12 * (1.0 + want));
      }
    }
  }
}

static void orientation_is_kept(void** state) {
  (void)state;
  for (int32_t n = 0; n < noli_material_count(); n++) {
    const NoliMaterial* law = noli_material_at(n);
    for (int c = 0; c < 3; c++) {
      NoliMat3 F = noli_diagonal33(infeasible[c]);
      assert_true(isinf(material_energy(law, lame, &F)));
      assert_true(isinf(law->stretch_energy(lame, infeasible[c])));
      NoliMat3 P = material_stress(law, lame, &F);
      NoliStretchDerivatives d;
      law->stretch_derivatives(lame, infeasible[c], &d);
      noli_stretch_project(&d);
      for (int i = 0; i < 3; i++) {
        assert_true(isnan(d.first[i]) && isnan(P.m[i][i]));
        assert_true(isnan(d.flip[i]) && isnan(d.twist[i]) && isnan(d.second[i][(i + 1) % 3]));
      }
      assert_true(isnan(material_von_mises(law, lame, &F)));
    }
    NoliMat3 nan = noli_scale33(NAN, noli_identity3());
    assert_true(isnan(material_energy(law, lame, &nan)));
    // on the way there the energy grows beyond any bound, from a tenth of the volume on
    double before = 0.0;
    for (double thin = 0.05; thin > 1e-12; thin *= 0.1) {
      double now = law->stretch_energy(lame, (double[3]){1.0, 1.0, thin});
      ASSERT_AT_LEAST(now, before);
      before = now;
    }
    ASSERT_AT_LEAST(before, 5.0 * lame.mu);
  }
}

// The second derivative of the law is continuous where the barrier of crushed elements begins.
static void crushing_is_smooth(void** state) {
  (void)state;
  NoliCrushing at = noli_crushing(lame, NOLI_CRUSHED * (1.0 - 1e-9));
  double k = (lame.lambda + 2.0 * lame.mu) / NOLI_CRUSHED;
  ASSERT_NEAR(at.energy, 0.0, 1e-20 * k);
  ASSERT_NEAR(at.first, 0.0, 1e-14 * k);
  ASSERT_NEAR(at.second, 0.0, 1e-7 * k);
  for (double J = 0.001; J < 0.1; J += 0.003) {
    double h = 1e-4 * J;
    NoliCrushing here = noli_crushing(lame, J), left = noli_crushing(lame, J - h),
                 right = noli_crushing(lame, J + h);
    ASSERT_NEAR((right.energy - left.energy) / (2.0 * h), here.first, 1e-5 * fabs(here.first));
    ASSERT_NEAR((right.first - left.first) / (2.0 * h), here.second, 1e-5 * here.second);
    ASSERT_AT_MOST(here.first, 0.0);
  }
}

static void strong_compression_is_exact(void** state) {
  (void)state;
  double s = 1e-40;
  double stretches[3] = {1.0, 1.0, s};
  double want =
      0.5 * lame.mu * (s * s - 1.0) - lame.mu * log(s) + 0.5 * lame.lambda * log(s) * log(s);
  NoliMat3 F = noli_diagonal33(stretches);
  ASSERT_NEAR(material_energy(&noli_neo_hookean, lame, &F), want, 1e-14 * want);
  ASSERT_NEAR(noli_neo_hookean.stretch_energy(lame, stretches), want, 1e-14 * want);
}

static void laws_are_found_by_name(void** state) {
  (void)state;
  assert_int_equal(noli_material_count(), 8);
  for (int32_t i = 0; i < noli_material_count(); i++) {
    assert_ptr_equal(noli_material_find(noli_choice_name(NOLI_CHOICE_MATERIAL, i)),
                     noli_material_at(i));
  }
  assert_null(noli_material_find("jelly"));
  assert_null(noli_material_find(NULL));
  assert_null(noli_choice_name(NOLI_CHOICE_MATERIAL, -1));
  assert_null(noli_choice_name(NOLI_CHOICE_MATERIAL, noli_material_count()));
  NoliMaterialDef def = {.young = 1e5, .poisson = 0.4};
  NoliLame got = noli_material_lame(&def);
  ASSERT_NEAR(got.mu, 1e5 / 2.8, 1e-9);
  ASSERT_NEAR(got.lambda, 4e4 / 0.28, 1e-9);
}

// ---- parameters ---------------------------------------------------------------------------------

// The energy by its definition, in any number of terms.
static double plain_ogden(const double parameter[6], double bulk, const double sigma[3]) {
  double J = sigma[0] * sigma[1] * sigma[2], energy = 0.25 * bulk * (J * J - 1.0 - 2.0 * log(J));
  for (int k = 0; k < 3; k++) {
    double mu = parameter[2 * k], a = parameter[2 * k + 1], sum = -3.0;
    for (int i = 0; i < 3; i++) {
      sum += pow(sigma[i] / cbrt(J), a);
    }
    energy += mu != 0.0 ? 2.0 * mu / (a * a) * sum : 0.0;
  }
  return energy;
}

static void rubbers_have_their_energy(void** state) {
  (void)state;
  static const double treloar[6] = {0.4095, 1.3, 0.003, 5.0, 0.01, -2.0};
  static const double rivlin[6] = {0.8, 0.2, 0, 0, 0, 0}, powers[6] = {1.6, 2.0, 0.4, -2.0, 0, 0};
  static const NoliMaterial* const tested[] = {&noli_ogden, &noli_mooney_rivlin};
  TestRandom random = {41};
  for (int k = 0; k < 2; k++) {
    NoliMaterialDef def = {.law = tested[k]->name, .young = 1.0, .poisson = 0.45};
    memcpy(def.parameter, k == 0 ? treloar : rivlin, sizeof def.parameter);
    lame = noli_material_lame(&def);
    ASSERT_NEAR(lame.mu, k == 0 ? 0.4225 : 2.0, 1e-15);
    double bulk = lame.lambda + 2.0 / 3.0 * lame.mu;
    for (int i = 0; i < 200; i++) {
      double sigma[3];
      for (int j = 0; j < 3; j++) {
        sigma[j] = exp(test_random(&random, -0.8, 0.8));
      }
      double want = plain_ogden(k == 0 ? treloar : powers, bulk, sigma);
      ASSERT_NEAR(tested[k]->stretch_energy(lame, sigma), want, 1e-13 * (1.0 + want));
    }

    // derivatives, also where stretches coincide or differ by rounding
    for (size_t c = 0; c < sizeof upright / sizeof upright[0]; c++) {
      NoliMat3 F = with_stretches(&random, upright[c]);
      check_derivatives(tested[k], &F, fmin(1.0, 3.0 * upright[c][2]));
    }
    double close[3] = {1.3, 1.3 * (1.0 + 1e-7), 0.9};
    NoliMat3 F = with_stretches(&random, close);
    check_derivatives(tested[k], &F, 1.0);
  }
  lame = (NoliLame){1.3, 2.1, NULL, NULL, NULL};
}

// With c01 < 0, tau : epsilon of equibiaxial tension, 4 (l^2 - l^-4)(c10 + c01 l^2), has a maximum:
// d/d(ln l) = 0 where c10 (2 l^2 + 4 l^-4) + c01 (4 l^4 + 2 l^-2) = 0.
static void unstable_rubber_is_found(void** state) {
  (void)state;
  NoliMaterialDef def = {.law = "mooney_rivlin", .young = 1.0, .poisson = 0.49};
  static const double stable[][2] = {{1.0, 0.0}, {0.8, 0.2}, {0.0, 1.0}};
  for (size_t i = 0; i < sizeof stable / sizeof *stable; i++) {
    memcpy(def.parameter, stable[i], sizeof stable[i]);
    assert_null(noli_material_stability(&noli_mooney_rivlin, noli_material_lame(&def)).way);
  }
  for (int i = 0; i < 4; i++) {
    double c01 = -0.02 * pow(2.0, i), l = 1.0;
    def.parameter[0] = 1.0;
    def.parameter[1] = c01;
    while (2.0 * l * l + 4.0 * pow(l, -4.0) + c01 * (4.0 * pow(l, 4.0) + 2.0 / (l * l)) > 0.0) {
      l += 1e-5;
    }
    NoliStability found = noli_material_stability(&noli_mooney_rivlin, noli_material_lame(&def));
    assert_non_null(found.way);
    assert_string_equal(found.way, "equibiaxial tension");
    ASSERT_NEAR(found.stretch / l, 1.005, 0.0051);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(derivatives_match_differences),
      cmocka_unit_test(direct_forms_match_stretches),
      cmocka_unit_test(small_strains_are_linear_elasticity),
      cmocka_unit_test(rest_is_free_of_stress),
      cmocka_unit_test(rotations_change_nothing),
      cmocka_unit_test(projection_clamps_eigenvalues),
      cmocka_unit_test(uniform_stretch_has_known_stress),
      cmocka_unit_test(stiffness_at_rest_is_that_of_lame),
      cmocka_unit_test(energies_match_closed_forms),
      cmocka_unit_test(orientation_is_kept),
      cmocka_unit_test(crushing_is_smooth),
      cmocka_unit_test(strong_compression_is_exact),
      cmocka_unit_test(laws_are_found_by_name),
      cmocka_unit_test(rubbers_have_their_energy),
      cmocka_unit_test(unstable_rubber_is_found),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
