// Coordinates of joints: derivatives against differences, full turns, and bounds of steps against
// the values along them.
#include "support.h"

#include "fem/loads/joint_couplings.h"
#include "math/eigen.h"

enum { NODES = 8, N = 3 * NODES };

// One coordinate of eight nodes.
typedef struct Fixture {
  NoliCoordinate item;
  int32_t node[NODES];
  NoliCoordinateStep step;
  NoliCoordinatePart part;
  unsigned hessian;
} Fixture;

static NoliCoordinates all_of(Fixture* one) {
  return (NoliCoordinates){.n = 1, .item = &one->item, .node = one->node};
}

// Random weights; those of directions have the sum 0.
static Fixture random_fixture(TestRandom* random, int round, double x[N]) {
  Fixture one = {.hessian = NOLI_EVAL_HESSIAN};
  NoliCoordinate* item = &one.item;
  item->kind = round % 2 == 0 ? NOLI_COORDINATE_TURN : NOLI_COORDINATE_TRAVEL;
  item->in_world = round % 4 >= 2;
  for (int i = 0; i < N; i++) {
    x[i] = test_random(random, -1.0, 1.0);
  }
  for (int i = 0; i < NODES; i++) {
    one.node[i] = item->in_world && i >= 4 ? NOLI_NULL_INDEX : i;
  }
  for (int i = 0; i < 4; i++) {
    double sum = 0.0;
    bool point = item->kind == NOLI_COORDINATE_TRAVEL && i != 3;
    for (int a = 0; a < 4; a++) {
      item->weight[i][a] = test_random(random, -1.0, 1.0);
      sum += item->weight[i][a];
    }
    item->weight[i][3] += (point ? 1.0 : 0.0) - sum;
  }
  item->fixed[0] = noli_vec3(0.3, -0.8, 0.4);
  item->fixed[1] = noli_vec3(-0.5, 0.2, 0.9);
  NoliCoordinates all = all_of(&one);
  double q = noli_coordinate_value(&all, 0, x, 0.0);
  one.step = (NoliCoordinateStep){.near = q,
                                  .begin = q - 0.2,
                                  .slip = 0.1,
                                  .hat = q - 0.1,
                                  .tilde = q + 0.4,
                                  .rate = 0.8,
                                  .target = 0.3};
  item->stiffness = 1.7;
  item->rest = 0.3;
  item->damping = 0.6;
  item->friction = 0.4;
  item->armature = 0.8;
  item->lower = q - 0.3;
  item->upper = q + 0.7;
  item->range = 0.5;
  item->limit_stiffness = 2.0;
  item->slip_length = round % 3 == 0 ? 1e-3 : 10.0;
  item->motor = (NoliMotorKind)(1 + round % 3);
  item->gain = 1.1;
  item->motor_damping = 0.2;
  item->max_effort = round % 5 == 0 ? 0.05 : (double)INFINITY;
  return one;
}

static double energy_of(void* user, const double* x, double* gradient, double* hessian) {
  Fixture* one = user;
  NoliCoordinates all = all_of(one);
  NoliCoordinateEnergy data = {
      .all = &all, .step = &one->step, .part = one->part, .scale = 0.7, .h_v = 0.1, .moves = true};
  NoliEnergyTerm term = noli_coordinates_term(&data);
  double energy, blocks[9 * 36];
  NoliLocal out = {&energy, gradient, hessian != NULL ? blocks : NULL};
  unsigned what = NOLI_EVAL_ENERGY | (gradient != NULL ? NOLI_EVAL_GRADIENT : 0U) |
                  (hessian != NULL ? one->hessian : 0U);
  term.evaluate(term.data, x, 0, 1, what, &out);
  for (int a = 0; hessian != NULL && a < NODES; a++) {
    for (int b = a; b < NODES; b++) {
      const double* block = blocks + 9 * noli_stencil_block(NODES, a, b);
      for (int k = 0; k < 9; k++) {
        hessian[N * (3 * a + k / 3) + 3 * b + k % 3] = block[k];
        hessian[N * (3 * b + k % 3) + 3 * a + k / 3] = block[k];
      }
    }
  }
  return energy;
}

static void derivatives_match_differences(void** state) {
  (void)state;
  TestRandom random = {7};
  for (int round = 0; round < 120; round++) {
    double x[N];
    Fixture one = random_fixture(&random, round, x);
    for (int part = 0; part < NOLI_COORDINATE_PARTS; part++) {
      one.part = (NoliCoordinatePart)part;
      test_derivatives(energy_of, &one, N, x, 0.1, 1e-7, 1e-5);
    }
  }
}

// Two coordinates of 16 nodes, of which four may be shared, and their coupling.
typedef struct Coupled {
  NoliCoordinate item[2];
  NoliCoordinateStep step[2];
  NoliCoupling coupling;
  int32_t of_coordinate[2 * NODES], node[2 * NODES];
  int n; // numbers of the nodes
} Coupled;

static double coupled_energy(void* user, const double* x, double* gradient, double* hessian) {
  Coupled* one = user;
  NoliCoordinates all = {.n = 2, .item = one->item, .node = one->of_coordinate};
  NoliCouplings couplings = {.n = 1, .item = &one->coupling, .node = one->node};
  NoliCouplingEnergy data = {&couplings, &all, one->step, 0.7};
  NoliEnergyTerm term = noli_couplings_term(&data);
  double energy, g[6 * NODES], blocks[9 * NODES * (2 * NODES + 1)];
  NoliLocal out = {&energy, g, blocks};
  term.evaluate(term.data, x, 0, 1, NOLI_EVAL_ENERGY | NOLI_EVAL_GRADIENT | NOLI_EVAL_HESSIAN,
                &out);
  for (int i = 0; i < one->n; i++) {
    gradient[3 * one->node[i / 3] + i % 3] = g[i];
    for (int j = 0; hessian != NULL && j < one->n; j++) {
      int a = i / 3, b = j / 3;
      const double* block =
          blocks + 9 * noli_stencil_block(2 * NODES, a < b ? a : b, a < b ? b : a);
      int entry = a <= b ? 3 * (i % 3) + j % 3 : 3 * (j % 3) + i % 3;
      hessian[one->n * (3 * one->node[a] + i % 3) + 3 * one->node[b] + j % 3] = block[entry];
    }
  }
  return energy;
}

// Of two joints of one body with two others, and of one joint.
static void derivatives_of_couplings(void** state) {
  (void)state;
  TestRandom random = {9};
  for (int round = 0; round < 40; round++) {
    double x[36], own[2][N];
    Coupled one = {.coupling = {.of = {0, 1}, .ratio = test_random(&random, -3.0, 3.0)}};
    for (int i = 0; i < 2; i++) {
      Fixture fixture = random_fixture(&random, round / 2 + i, own[i]);
      one.item[i] = fixture.item;
      for (int a = 0; a < NODES; a++) {
        int32_t node = fixture.node[a];
        bool second = round % 2 == 0 && i == 1 && a < 4;
        one.of_coordinate[NODES * i + a] = node == NOLI_NULL_INDEX || !second ? node : 8 + a;
      }
    }
    for (int i = 0; i < 36; i++) {
      x[i] = test_random(&random, -1.0, 1.0);
    }
    NoliCoordinates all = {.n = 2, .item = one.item, .node = one.of_coordinate};
    NoliCouplings couplings = {.n = 1, .item = &one.coupling, .node = one.node};
    for (int i = 0; i < 2; i++) {
      one.step[i].near = noli_coordinate_value(&all, i, x, 0.0);
    }
    one.coupling.stiffness = 1.3;
    noli_coupling_set_nodes(&couplings, &all, 0);
    while (one.n / 3 < 2 * NODES && one.node[one.n / 3] != NOLI_NULL_INDEX) {
      one.n += 3;
    }
    assert_in_range(one.n, 12, 36);
    bool dense = true;
    for (int i = 0; i < one.n / 3; i++) {
      dense = dense && one.node[i] < one.n / 3;
    }
    if (dense) {
      test_derivatives(coupled_energy, &one, one.n, x, 0.1, 1e-7, 1e-5);
    }
  }
}

// Where bodies are nearly flat across the axis, the angle turns fast.
static void derivatives_of_flat_bodies(void** state) {
  (void)state;
  TestRandom random = {3};
  for (int round = 0; round < 20; round += 2) {
    double x[N], small = 1e-3;
    Fixture one = random_fixture(&random, round, x);
    for (int i = 0; i < 4; i++) {
      for (int a = 0; a < 4; a++) {
        one.item.weight[i][a] *= i < 2 ? small : 1.0;
      }
    }
    NoliCoordinates all = all_of(&one);
    one.step.near = noli_coordinate_value(&all, 0, x, 0.0);
    one.part = NOLI_COORDINATE_SPRING;
    test_derivatives(energy_of, &one, N, x, 0.1, 1e-7, 1e-5);
  }
}

static void projections_are_semi_definite(void** state) {
  (void)state;
  TestRandom random = {5};
  for (int round = 0; round < 30; round++) {
    double x[N], gradient[N], hessian[N * N], value[N], rows[N * N], scratch[3 * N];
    Fixture one = random_fixture(&random, round, x);
    one.hessian = NOLI_EVAL_PROJECTED;
    for (int part = 0; part < NOLI_COORDINATE_PARTS; part++) {
      one.part = (NoliCoordinatePart)part;
      (void)energy_of(&one, x, gradient, hessian);
      noli_eigen_symmetric_large(N, hessian, value, rows, scratch);
      double least = 0.0, largest = 0.0;
      for (int i = 0; i < N; i++) {
        least = noli_smaller(least, value[i]);
        largest = noli_larger(largest, value[i]);
      }
      ASSERT_AT_MOST(-least, 1e-12 * largest);
    }
  }
}

// A frame at the origin, turned by an angle about z, in the first or the last four nodes.
static void turn_frame(double angle, double* x) {
  const double c = cos(angle), s = sin(angle);
  const double corner[12] = {0, 0, 0, c, s, 0, -s, c, 0, 0, 0, 1};
  memcpy(x, corner, sizeof corner);
}

// Two frames whose coordinate is their turn about z.
static Fixture turning(bool in_world) {
  Fixture one = {.item = {.kind = NOLI_COORDINATE_TURN,
                          .in_world = in_world,
                          .weight = {{-1, 1, 0, 0}, {-1, 0, 1, 0}, {-1, 1, 0, 0}, {-1, 0, 1, 0}},
                          .fixed = {{1, 0, 0}, {0, 1, 0}},
                          .lower = -(double)INFINITY,
                          .upper = (double)INFINITY}};
  for (int i = 0; i < NODES; i++) {
    one.node[i] = in_world && i >= 4 ? NOLI_NULL_INDEX : i;
  }
  return one;
}

static void full_turns_count(void** state) {
  (void)state;
  Fixture one = turning(false);
  NoliCoordinates all = all_of(&one);
  double x[N], near = 0.0, speed[N] = {0};
  for (int i = 0; i <= 1000; i++) {
    turn_frame(0.02 * i, x);
    turn_frame(-0.03 * i, x + 12);
    near = noli_coordinate_value(&all, 0, x, near);
    ASSERT_NEAR(near, 0.05 * i, 1e-13 * (1.0 + 0.05 * i));
  }
  // the velocity of a spin of 2 rad/s
  for (int a = 0; a < 4; a++) {
    speed[3 * a] = -2.0 * x[3 * a + 1];
    speed[3 * a + 1] = 2.0 * x[3 * a];
  }
  ASSERT_NEAR(noli_coordinate_speed(&all, 0, x, speed), 2.0, 1e-12);
}

// Along steps of all lengths, limits are met where the bound says, and not before.
static void bounds_meet_limits(void** state) {
  (void)state;
  TestRandom random = {19};
  int met = 0;
  for (int round = 0; round < 4000; round++) {
    double x[N], p[N], y[N];
    Fixture one =
        round % 2 == 0 ? turning(round % 4 == 0) : random_fixture(&random, 1 + 2 * (round / 2), x);
    bool turns = one.item.kind == NOLI_COORDINATE_TURN;
    if (turns) {
      turn_frame(test_random(&random, -4.0, 4.0), x);
      turn_frame(test_random(&random, -4.0, 4.0), x + 12);
    }
    double size = pow(10.0, test_random(&random, -6.0, 0.5));
    for (int i = 0; i < N; i++) {
      p[i] = size * test_random(&random, -1.0, 1.0);
    }
    NoliCoordinates all = all_of(&one);
    double turn = turns ? 2.0 * 3.14159265358979 * (double)(round % 5 - 2) : 0.0;
    double q = noli_coordinate_value(&all, 0, x, turn);
    one.step.near = q;
    double gap = size * pow(10.0, test_random(&random, -3.0, 0.0));
    one.item.lower = q - gap;
    one.item.upper = q + 2.0 * gap;
    double bound = noli_coordinates_bound(&all, &one.step, x, p, 1.0);
    assert_true(bound > 0.0 && bound <= 1.0);
    double near = q, last = q;
    for (int i = 1; i <= 64; i++) {
      double alpha = bound * (i / 64.0) * (1.0 - 1e-9);
      for (int k = 0; k < N; k++) {
        y[k] = x[k] + alpha * p[k];
      }
      near = noli_coordinate_value(&all, 0, y, near);
      ASSERT_AT_MOST(fabs(near - last), turns ? 1.6 : (double)INFINITY);
      ASSERT_AT_MOST(one.item.lower - near, 1e-14 * (1.0 + fabs(q)));
      ASSERT_AT_MOST(near - one.item.upper, 1e-14 * (1.0 + fabs(q)));
      last = near;
    }
    bool at_limit = fabs(near - one.item.lower) < 1e-5 * gap + 1e-12 ||
                    fabs(near - one.item.upper) < 1e-5 * gap + 1e-12;
    bool quarter = turns && fabs(near - q) > 1.5;
    assert_true(bound >= 1.0 || at_limit || quarter);
    met += at_limit ? 1 : 0;
  }
  print_message("%d limits met\n", met);
  assert_true(met > 1000);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(derivatives_match_differences),
                                     cmocka_unit_test(derivatives_of_couplings),
                                     cmocka_unit_test(derivatives_of_flat_bodies),
                                     cmocka_unit_test(projections_are_semi_definite),
                                     cmocka_unit_test(full_turns_count),
                                     cmocka_unit_test(bounds_meet_limits)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
