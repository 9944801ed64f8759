// Rotations by a vector and their derivatives, from none to several turns.
#include "support.h"

#include "math/rotation.h"

static const double lengths[] = {0.0, 1e-9, 1e-7, 1e-3, 0.0999, 0.1001, 1.0, 3.1415926, 7.0, 40.0};
enum { N_LENGTHS = sizeof lengths / sizeof *lengths };

static NoliVec3 vector_of(int k) {
  static const NoliVec3 axes[3] = {{0.6, 0.0, -0.8}, {0.0, 1.0, 0.0}, {2.0 / 3, -1.0 / 3, 2.0 / 3}};
  return noli_scale3(lengths[k], axes[k % 3]);
}

static double distance(NoliMat3 a, NoliMat3 b) {
  NoliMat3 off = noli_sub33(a, b);
  return sqrt(noli_norm_sqr33(&off));
}

// Orthogonal, keeps its axis, and half of it twice is all of it.
static void rotations_turn(void** state) {
  (void)state;
  for (int k = 0; k < N_LENGTHS; k++) {
    NoliVec3 w = vector_of(k);
    NoliMat3 R = noli_rotation33(w), half = noli_rotation33(noli_scale3(0.5, w));
    ASSERT_NEAR(distance(noli_mul_transpose33(R, R), noli_identity3()), 0.0, 1e-14);
    ASSERT_NEAR(distance(noli_mul33(half, half), R), 0.0, 1e-14);
    ASSERT_NEAR(noli_norm3(noli_sub3(noli_mul33_vec(&R, w), w)), 0.0, 1e-13);
  }
  NoliMat3 quarter = noli_rotation33(noli_vec3(0.0, 0.0, 1.5707963267948966));
  ASSERT_NEAR(quarter.m[1][0], 1.0, 1e-15);
  ASSERT_NEAR(quarter.m[0][1], -1.0, 1e-15);
}

// [J dw]_x R beside central differences.
static void derivatives_are_those_of_differences(void** state) {
  (void)state;
  const double h = 1e-5;
  for (int k = 0; k < N_LENGTHS; k++) {
    NoliVec3 w = vector_of(k);
    NoliMat3 R = noli_rotation33(w), J = noli_rotation_derivative33(w);
    for (int i = 0; i < 3; i++) {
      NoliVec3 step = noli_vec3(i == 0 ? h : 0.0, i == 1 ? h : 0.0, i == 2 ? h : 0.0);
      NoliMat3 change =
          noli_sub33(noli_rotation33(noli_add3(w, step)), noli_rotation33(noli_sub3(w, step)));
      NoliMat3 want = noli_mul33(noli_cross33(noli_column33(&J, i)), R);
      ASSERT_NEAR(distance(noli_scale33(0.5 / h, change), want), 0.0, 1e-9);
    }
  }
}

// The series meets the formula.
static void derivatives_have_no_gap(void** state) {
  (void)state;
  double below = noli_rotation_odd(1e-2 * (1.0 - 1e-14)), above = noli_rotation_odd(1e-2);
  ASSERT_NEAR(below / above, 1.0, 1e-12);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(rotations_turn),
      cmocka_unit_test(derivatives_are_those_of_differences),
      cmocka_unit_test(derivatives_have_no_gap),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
