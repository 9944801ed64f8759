// Constraints of joints: derivatives against differences, and what projected Hessians keep.
#include "support.h"

#include "fem/loads/joint_constraints.h"

enum { NODES = NOLI_JOINT_NODES, N = 3 * NODES, MOST = 3 };

typedef struct OneJoint {
  NoliJointConstraint product[MOST];
  int32_t node[NODES], first[2];
  double mass[NODES], stiffness, size;
  unsigned hessian; // NOLI_EVAL_HESSIAN or NOLI_EVAL_PROJECTED
} OneJoint;

static NoliJointConstraints list_of(OneJoint* one) {
  return (NoliJointConstraints){.n = 1,
                                .node = one->node,
                                .mass = one->mass,
                                .first = one->first,
                                .product = one->product,
                                .size = &one->size,
                                .stiffness = &one->stiffness};
}

static double energy_of(void* user, const double* x, double* gradient, double* hessian) {
  OneJoint* one = user;
  NoliJointConstraints joints = list_of(one);
  NoliConnectionEnergy energy = {&joints, 0.3};
  NoliEnergyTerm term = noli_joint_constraint_forces.term(&energy);
  double value, block[9 * NODES * (NODES + 1) / 2];
  NoliLocal out = {.energy = &value, .gradient = gradient, .hessian = block};
  term.evaluate(term.data, x, 0, 1, NOLI_EVAL_ENERGY | NOLI_EVAL_GRADIENT | one->hessian, &out);
  for (int a = 0; a < NODES && hessian != NULL; a++) {
    for (int b = a; b < NODES; b++) {
      for (int i = 0; i < 9; i++) {
        double entry = block[9 * noli_stencil_block(NODES, a, b) + i];
        hessian[(3 * a + i / 3) * N + 3 * b + i % 3] = entry;
        hessian[(3 * b + i % 3) * N + 3 * a + i / 3] = entry;
      }
    }
  }
  return value;
}

static void fill(TestRandom* random, int n, double* values) {
  for (int i = 0; i < n; i++) {
    values[i] = test_random(random, -1.0, 1.0);
  }
}

// Vectors of some weights, of none (a direction of the world), and twice the same (a distance), on
// two bodies or one.
static OneJoint random_joint(TestRandom* random, int round, double x[N]) {
  OneJoint one = {.first = {0, 1 + round % MOST}, .size = 1.0, .hessian = NOLI_EVAL_HESSIAN};
  fill(random, N, x);
  one.stiffness = test_random(random, 1.0, 2.0);
  for (int k = 0; k < NODES; k++) {
    one.node[k] = round % 4 == 3 && k >= 4 ? NOLI_NULL_INDEX : k;
    one.mass[k] = one.node[k] == NOLI_NULL_INDEX ? 0.0 : 1.0;
  }
  for (int c = 0; c < one.first[1]; c++) {
    NoliJointConstraint* product = &one.product[c];
    double constant[6];
    fill(random, NODES, product->u.weight);
    fill(random, NODES, product->v.weight);
    fill(random, 6, constant);
    product->u.constant = noli_load3(constant);
    product->v.constant = noli_load3(constant + 3);
    product->target = test_random(random, -1.0, 1.0);
    for (int k = 0; k < NODES; k++) {
      bool none = one.node[k] == NOLI_NULL_INDEX;
      product->u.weight[k] *= none ? 0.0 : 1.0;
      product->v.weight[k] *= none ? 0.0 : 1.0;
    }
    if (round % 3 == 1) {
      memset(product->v.weight, 0, sizeof product->v.weight);
    } else if (round % 3 == 2) {
      product->v = product->u;
    }
  }
  return one;
}

static void derivatives_match_differences(void** state) {
  (void)state;
  TestRandom random = {21};
  for (int round = 0; round < 48; round++) {
    double x[N];
    OneJoint one = random_joint(&random, round, x);
    test_derivatives(energy_of, &one, N, x, 1.0, 1e-6, 1e-6);
  }
}

// Whether no eigenvalue is below -1e-9: Cholesky's factorization of H + 1e-9 has positive pivots.
static bool is_semidefinite(double* H) {
  for (int k = 0; k < N; k++) {
    double pivot = H[k * N + k] + 1e-9;
    if (pivot <= 0.0) {
      return false;
    }
    for (int i = k + 1; i < N; i++) {
      for (int j = k + 1; j < N; j++) {
        H[i * N + j] -= H[i * N + k] * H[k * N + j] / pivot;
      }
    }
  }
  return true;
}

// The projected Hessian of one constraint is the plain one without its negative part: of a
// constraint whose vectors do not both move, all of it.
static void projected_hessians_are_semidefinite(void** state) {
  (void)state;
  TestRandom random = {22};
  for (int round = 0; round < 48; round++) {
    double x[N], g[N], plain[N * N] = {0}, projected[N * N] = {0};
    OneJoint one = random_joint(&random, round, x);
    energy_of(&one, x, g, plain);
    one.hessian = NOLI_EVAL_PROJECTED;
    energy_of(&one, x, g, projected);
    double rest[N * N];
    for (int i = 0; i < N * N; i++) {
      rest[i] = projected[i] - plain[i];
      assert_true(round % 3 != 1 || fabs(rest[i]) < 1e-14);
    }
    assert_true(is_semidefinite(projected));
    assert_true(is_semidefinite(rest));
  }
}

// A turn of both bodies as one, along straight lines, opens a joint by the second order of its
// angle, and a translation not at all.
static void turns_open_joints(void** state) {
  (void)state;
  OneJoint one = {.node = {0, 1, 2, 3, 4, 5, 6, 7}, .first = {0, 1}, .size = 1.0};
  one.stiffness = 8.0;
  one.product[0].u.weight[0] = -1.0;
  one.product[0].u.weight[1] = 1.0;
  one.product[0].v.weight[4] = -1.0;
  one.product[0].v.weight[5] = 1.0;
  double p[N] = {0};
  for (int k = 0; k < NODES; k++) {
    one.mass[k] = 1.0;
  }
  NoliJointConstraints joints = list_of(&one);
  p[3] = p[15] = 0.1; // both vectors change by 0.1 in x
  double motion = 2.0 * 0.01 - 8.0 * 0.025 * 0.025;
  ASSERT_NEAR(noli_joint_excess(&joints, p), 8.0 * 1e-4 / motion, 1e-12);
  for (int i = 0; i < N; i++) {
    p[i] = 1.0;
  }
  ASSERT_AT_MOST(noli_joint_excess(&joints, p), 0.0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(derivatives_match_differences),
      cmocka_unit_test(projected_hessians_are_semidefinite),
      cmocka_unit_test(turns_open_joints),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
