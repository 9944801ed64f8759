// The energy of adhesion: its law, and the derivatives of bonds.
#include "contact_cases.h"

#include "contact/adhesion/adhesion.h"

#define WORK 0.3
#define RANGE 0.05

// sigma is the derivative of phi, its integral is W, its largest value 16 W / (9 R).
static void the_law_is_that_of_its_formula(void** state) {
  (void)state;
  enum { N = 2000 };
  double sum = 0.0, most = 0.0;
  for (int i = 0; i < N; i++) {
    double s = RANGE * (i + 0.5) / N, h = 1e-6 * RANGE;
    NoliTraction at = noli_adhesion_traction(s, WORK, RANGE);
    NoliTraction low = noli_adhesion_traction(s - h, WORK, RANGE);
    NoliTraction high = noli_adhesion_traction(s + h, WORK, RANGE);
    ASSERT_NEAR(at.value, (high.energy - low.energy) / (2.0 * h), 1e-7 * WORK / RANGE);
    ASSERT_NEAR(at.derivative, (high.value - low.value) / (2.0 * h), 1e-6 * WORK / (RANGE * RANGE));
    sum += at.value * RANGE / N;
    most = noli_larger(most, at.value);
  }
  ASSERT_NEAR(sum, WORK, 1e-6 * WORK);
  ASSERT_NEAR(most, 16.0 / 9.0 * WORK / RANGE, 1e-6 * WORK / RANGE);
  ASSERT_NEAR(noli_adhesion_traction(-1.0, WORK, RANGE).energy, -WORK, 0.0);
  ASSERT_NEAR(noli_adhesion_traction(-1.0, WORK, RANGE).value, 0.0, 0.0);
  ASSERT_NEAR(noli_adhesion_traction(RANGE, WORK, RANGE).energy, 0.0, 0.0);
  ASSERT_NEAR(noli_adhesion_traction(2.0 * RANGE, WORK, RANGE).value, 0.0, 0.0);
}

// Bonds with points, segments, triangles and half-spaces, at gaps within and beyond the range, also
// where the vertex is beside its feature.
static void derivatives_agree_with_differences(void** state) {
  (void)state;
  TestRandom random = {17};
  for (int i = 0; i < 200; i++) {
    int which = i % 4;
    NoliVec3 f[3];
    case_frame(&random, f);
    NoliHalfSpace plane = {.origin = {0.0, 0.0, 0.0}, .normal = f[2]};
    double x[12], gap = test_random(&random, 0.1, 0.9) * RANGE;
    double a = test_random(&random, -0.2, 1.2), b = test_random(&random, -0.2, 1.2);
    noli_store3(x, case_at(f, which == 0 ? 0.0 : a, which == 2 ? b : 0.0, 0.2 + gap));
    noli_store3(x + 3, case_at(f, 0.0, 0.0, 0.0));
    noli_store3(x + 6, case_at(f, 1.0, 0.0, 0.0));
    noli_store3(x + 9, case_at(f, 0.1, 1.1, 0.0));
    NoliBond bond = {.kind = (NoliPairKind)(which % 3),
                     .plane = which == 3 ? 0 : NOLI_NULL_INDEX,
                     .area = 0.7,
                     .start = 0.2,
                     .work = WORK,
                     .range = RANGE};
    int32_t node[4] = {0, 1, 2, 3};
    for (int k = which == 3 ? 1 : noli_pair_size[bond.kind]; k < 4; k++) {
      node[k] = NOLI_NULL_INDEX;
    }
    NoliBondSet set = {.bond = {&bond, 1, 1}, .node = {node, 4, 4}};
    NoliAdhesion adhesion = {&set, &plane, 1.5};
    NoliEnergyTerm term = noli_adhesion_term(&adhesion);
    test_derivatives(case_evaluate, &term, 12, x, 1e-4 * RANGE, 1e-4, 1e-3);

    // the projected Hessian is that plus what makes it positive
    double plain[144], projected[144];
    case_evaluate(&term, x, NULL, plain);
    case_projected(&term, x, projected);
    for (int t = 0; t < 20; t++) {
      double v[12], pv = 0.0, vv = 0.0;
      for (int k = 0; k < 12; k++) {
        v[k] = test_random(&random, -1.0, 1.0);
      }
      for (int k = 0; k < 144; k++) {
        pv += v[k / 12] * projected[k] * v[k % 12];
        vv += v[k / 12] * plain[k] * v[k % 12];
      }
      assert_true(pv >= -1e-9 * fabs(vv) && pv >= vv - 1e-9 * fabs(vv));
    }

    // forces are the gradient over the scale
    double gradient[12], force[12] = {0.0};
    case_evaluate(&term, x, gradient, NULL);
    noli_adhesion_forces(&adhesion, x, force);
    for (int k = 0; k < 12; k++) {
      ASSERT_NEAR(force[k], -gradient[k] / 1.5, 1e-12 * WORK / RANGE);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_law_is_that_of_its_formula),
      cmocka_unit_test(derivatives_agree_with_differences),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
