// Rods: derivatives of stretching and turning at random and degenerate states, projections, turns
// of chains, loops and joints, and errors.
#include "slivers.h"

#include "fem/thin/rod.h"
#include "math/eigen.h"
#include "math/vec3.h"

#define PI 3.14159265358979323846

static const int32_t chain[3] = {0, 1, 2};

// Two edges, the second turned by `angle`.
static void bend(double angle, double l0, double l1, double x[9]) {
  const double at[9] = {-l0, 0.0, 0.0, 0.0, 0.0, 0.0, l1 * cos(angle), l1 * sin(angle), 0.0};
  memcpy(x, at, sizeof at);
}

// From blocks to a full matrix.
static void full_matrix(int32_t size, const double* blocks, double* H) {
  for (int32_t a = 0; a < size; a++) {
    for (int32_t b = a; b < size; b++) {
      const double* block = blocks + 9 * noli_stencil_block(size, a, b);
      for (int32_t k = 0; k < 9; k++) {
        H[3 * size * (3 * a + k / 3) + 3 * b + k % 3] = block[k];
        H[3 * size * (3 * b + k % 3) + 3 * a + k / 3] = block[k];
      }
    }
  }
}

static double turn_energy(void* user, const double* x, double* gradient, double* hessian) {
  double energy, unused[9], blocks[54];
  NoliLocal out = {
      .energy = &energy, .gradient = gradient != NULL ? gradient : unused, .hessian = blocks};
  noli_turning_evaluate(user, x, 0, 1, NOLI_EVAL_ENERGY | NOLI_EVAL_GRADIENT | NOLI_EVAL_HESSIAN,
                        &out);
  if (hessian != NULL) {
    full_matrix(3, blocks, hessian);
  }
  return energy;
}

static void derivatives_of_turns(void** state) {
  (void)state;
  TestRandom random = {3};
  const double degrees[] = {0.0, 1e-5, 20.0, 90.0, 150.0, 179.0}, rests[] = {0.0, 0.7};
  for (int trial = 0; trial < 60; trial++) {
    double x[9], angle = degrees[trial % 6] * PI / 180.0, rest = rests[trial / 6 % 2], k = 1.7;
    if (rest > 0.0 && angle < 1e-3) {
      continue; // the turn of a bent rod that is straight has no direction
    }
    bend(angle, 1.0, trial % 4 == 0 ? 0.05 : 1.4, x);
    double noise = trial < 12 ? 0.0 : trial % 6 == 5 ? 0.002 : 0.02;
    for (int i = 0; i < 9; i++) {
      x[i] += noise * test_random(&random, -1.0, 1.0);
    }
    int32_t node[3] = {0, 1, 2};
    NoliTurns turns = {.n = 1, .node = node, .rest = &rest, .stiffness = &k};
    NoliTurning turning = {.turns = &turns, .scale = 1.3};
    test_derivatives(turn_energy, &turning, 9, x, trial % 6 == 5 ? 5e-5 : 2e-3, 1e-6, 1e-4);
  }
}

// A segment up to 1e5 times shorter than the one before, straight, bent, folded to 179 degrees.
static void derivatives_of_short_segments(void** state) {
  (void)state;
  TestRandom random = {13};
  const double degrees[] = {1e-5, 20.0, 90.0, 150.0, 179.0}, width[] = {1e-1, 1e-3, 1e-5};
  for (int trial = 0; trial < 60; trial++) {
    double w = width[trial % 3], angle = degrees[trial % 5] * PI / 180.0, y[9];
    double rest = trial % 2 == 0 || angle < 1e-3 ? 0.0 : 0.7, stiffness = 1.7;
    int32_t node[3] = {0, 1, 2};
    NoliTurns turns = {.n = 1, .node = node, .rest = &rest, .stiffness = &stiffness};
    NoliTurning turning = {.turns = &turns, .scale = 1.3};
    Sliver sliver = {.f = turn_energy,
                     .user = &turning,
                     .n_node = 3,
                     .node = {{{0}, {1, 1, 1}}, {{0}, {1, 1, 1}}, {{0.0, 1.0}, {w, w, w}}}};
    bend(angle, 1.0, 1.0, y);
    double scale = degrees[trial % 5] == 179.0 ? 0.005 : 0.1;
    for (int i = 0; i < 9; i++) {
      y[i] += 0.1 * scale * test_random(&random, -1.0, 1.0);
    }
    sliver_derivatives(&sliver, y, w, scale);
  }
}

static double segment_energy(void* user, const double* x, double* gradient, double* hessian) {
  double energy, unused[6], blocks[27];
  NoliLocal out = {
      .energy = &energy, .gradient = gradient != NULL ? gradient : unused, .hessian = blocks};
  noli_segments_evaluate(user, x, 0, 1, NOLI_EVAL_ENERGY | NOLI_EVAL_GRADIENT | NOLI_EVAL_HESSIAN,
                         &out);
  if (hessian != NULL) {
    full_matrix(2, blocks, hessian);
  }
  return energy;
}

static void derivatives_of_segments(void** state) {
  (void)state;
  TestRandom random = {5};
  for (int trial = 0; trial < 20; trial++) {
    double x[6], length = 0.8, k = 2.5;
    for (int i = 0; i < 6; i++) {
      x[i] = test_random(&random, -1.0, 1.0);
    }
    NoliSegments segments = {
        .n = 1, .node = chain, .length = &length, .stiffness = &k, .scale = 0.6};
    test_derivatives(segment_energy, &segments, 6, x, 1e-3, 1e-6, 1e-5);
  }
}

// No eigenvalue of a projected matrix is negative, and positive definite parts stay.
static void projections_are_semi_definite(void** state) {
  (void)state;
  TestRandom random = {8};
  int n_changed = 0, n_kept = 0;
  for (int trial = 0; trial < 200; trial++) {
    double x[9], k = 1.0, rest = trial % 3 == 0 ? 0.0 : 0.9, length = 0.7, scratch[81], values[9];
    for (int i = 0; i < 9; i++) {
      x[i] = test_random(&random, -1.0, 1.0);
    }
    int32_t node[3] = {0, 1, 2};
    NoliTurns turns = {.n = 1, .node = node, .rest = &rest, .stiffness = &k};
    NoliTurning turning = {.turns = &turns, .scale = 1.0};
    NoliSegments segments = {
        .n = 1, .node = node, .length = &length, .stiffness = &k, .scale = 1.0};
    for (int which = 0; which < 2; which++) {
      int32_t size = which == 0 ? 3 : 2, n = 3 * size;
      double plain[54], projected[54], H[81], largest = 0.0;
      NoliTermFn* evaluate = which == 0 ? noli_turning_evaluate : noli_segments_evaluate;
      const void* data = which == 0 ? (const void*)&turning : (const void*)&segments;
      evaluate(data, x, 0, 1, NOLI_EVAL_HESSIAN, &(NoliLocal){.hessian = plain});
      evaluate(data, x, 0, 1, NOLI_EVAL_PROJECTED, &(NoliLocal){.hessian = projected});
      full_matrix(size, projected, H);
      noli_eigen_symmetric(n, H, values, scratch);
      for (int i = 0; i < n; i++) {
        largest = noli_larger(largest, values[i]);
      }
      for (int i = 0; i < n; i++) {
        assert_true(values[i] >= -1e-12 * largest);
      }
      bool same = true;
      for (int i = 0; i < 9 * size * (size + 1) / 2; i++) {
        same = same && fabs(plain[i] - projected[i]) <= 1e-12 * largest;
      }
      n_changed += !same;
      n_kept += same;
    }
  }
  assert_true(n_changed > 50 && n_kept > 50);
}

// The Hessian of a turn by its two edges, 6 x 6, from that by its nodes.
static void by_edges(const double* blocks, double H[36]) {
  double full[81];
  full_matrix(3, blocks, full);
  for (int i = 0; i < 6; i++) {
    for (int j = 0; j < 6; j++) {
      // node 0 has -e0, node 2 has e1
      int row = i < 3 ? i : i + 3, column = j < 3 ? j : j + 3;
      H[6 * i + j] = ((i < 3) == (j < 3) ? 1.0 : -1.0) * full[9 * row + column];
    }
  }
}

// A turn is projected in its plane and across it: as the whole matrix by its edges is, straight,
// bent and folded, with edges of different lengths.
static void turns_are_projected_as_a_whole(void** state) {
  (void)state;
  TestRandom random = {21};
  const double degrees[] = {0.0, 1e-9, 1e-6, 1e-3, 1.0, 30.0, 90.0, 150.0, 179.0};
  for (int trial = 0; trial < 180; trial++) {
    double angle = degrees[trial % 9] * PI / 180.0, x[9], k = 1.0,
           rest = angle > 0.0 ? 0.4 * (trial % 4) : 0.0;
    double plain[54], projected[54], want[36], got[36], largest = 0.0;
    int32_t node[3] = {0, 1, 2};
    NoliTurns turns = {.n = 1, .node = node, .rest = &rest, .stiffness = &k};
    NoliTurning turning = {.turns = &turns, .scale = 1.0};
    bend(angle, test_random(&random, 0.2, 2.0), test_random(&random, 0.2, 2.0), x);
    noli_turning_evaluate(&turning, x, 0, 1, NOLI_EVAL_HESSIAN, &(NoliLocal){.hessian = plain});
    noli_turning_evaluate(&turning, x, 0, 1, NOLI_EVAL_PROJECTED,
                          &(NoliLocal){.hessian = projected});
    by_edges(plain, want);
    by_edges(projected, got);
    for (int i = 0; i < 36; i++) {
      largest = noli_larger(largest, fabs(want[i]));
    }
    noli_project_psd(6, want);
    for (int i = 0; i < 36; i++) {
      // the direction of a small angle is known to its rounding
      double known = angle > 0.0 ? 1e-14 / angle : 0.0;
      ASSERT_NEAR(got[i], want[i], (1e-12 + known) * largest);
    }
  }
}

// An arc of many segments has the energy E I / 2 / radius^2 per length, from a straight rest shape;
// and no energy with its own turns at rest.
static void arcs_have_the_energy_of_a_beam(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  enum { N = 100 };
  double X[3 * (N + 1)], x[3 * (N + 1)], length[N], bending[N], energy[N], sum = 0.0;
  int32_t node[2 * N];
  double radius = 0.7, h = 0.01, angle = 2.0 * asin(0.5 * h / radius);
  for (int i = 0; i <= N; i++) {
    noli_store3(X + 3 * i, (NoliVec3){h * i, 0.0, 0.0});
    noli_store3(x + 3 * i, (NoliVec3){radius * sin(angle * i), radius * cos(angle * i), 0.0});
  }
  for (int i = 0; i < N; i++) {
    node[2 * i + i % 2] = i; // directions do not matter
    node[2 * i + 1 - i % 2] = i + 1;
    length[i] = h;
    bending[i] = 3.0;
  }
  NoliTurns turns = {0}, own = {0};
  ASSERT_OK(noli_turns_add(context, 0, N, node, X, length, bending, &turns));
  ASSERT_OK(noli_turns_add(context, 0, N, node, x, length, bending, &own));
  assert_int_equal(turns.n, N - 1);
  NoliTurning turning = {.turns = &turns, .scale = 1.0};
  noli_turning_evaluate(&turning, x, 0, turns.n, NOLI_EVAL_ENERGY, &(NoliLocal){.energy = energy});
  for (int i = 0; i < turns.n; i++) {
    sum += energy[i];
  }
  ASSERT_NEAR(sum, 0.5 * 3.0 / (radius * radius) * (N - 1) * h, 1e-3 * sum);
  turning.turns = &own;
  noli_turning_evaluate(&turning, x, 0, own.n, NOLI_EVAL_ENERGY, &(NoliLocal){.energy = energy});
  for (int i = 0; i < own.n; i++) {
    ASSERT_NEAR(energy[i], 0.0, 1e-25);
  }
  noli_turns_destroy(context, &turns);
  noli_turns_destroy(context, &own);
  test_context_done(&context);
}

// A loop of n segments has n turns, a joint of n segments n (n - 1) / 2; folds are refused.
static void turns_of_loops_joints_and_folds(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  const double X[15] = {0, 0, 0, 1, 0, 0, 0, 1, 0, -1, 0, 0, 0, -1, 0};
  const double length[4] = {1, 1, 1, 1}, bending[4] = {1, 1, 1, 1};
  const int32_t loop[8] = {1, 2, 2, 3, 3, 4, 4, 1}, star[8] = {0, 1, 2, 0, 0, 3, 4, 0};
  const int32_t fold[4] = {0, 1, 1, 0};
  NoliTurns turns = {0}, joint = {0}, folded = {0};
  ASSERT_OK(noli_turns_add(context, 0, 4, loop, X, length, bending, &turns));
  assert_int_equal(turns.n, 4);
  ASSERT_NEAR(turns.rest[0], 2.0, 1e-14); // 2 tan(45 degrees)
  ASSERT_OK(noli_turns_add(context, 0, 4, star, X, length, bending, &joint));
  assert_int_equal(joint.n, 6);
  ASSERT_NEAR(joint.rest[1], 0.0, 1e-14); // straight through
  assert_int_equal(noli_turns_add(context, 0, 2, fold, X, length, bending, &folded),
                   NOLI_ERROR_ARGUMENT);
  assert_non_null(
      strstr(noli_context_message(context), "segments 0 and 1 at (0, 0, 0) are folded"));
  noli_turns_destroy(context, &turns);
  noli_turns_destroy(context, &joint);
  noli_turns_destroy(context, &folded);
  test_context_done(&context);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(derivatives_of_turns),
      cmocka_unit_test(derivatives_of_short_segments),
      cmocka_unit_test(derivatives_of_segments),
      cmocka_unit_test(projections_are_semi_definite),
      cmocka_unit_test(turns_are_projected_as_a_whole),
      cmocka_unit_test(arcs_have_the_energy_of_a_beam),
      cmocka_unit_test(turns_of_loops_joints_and_folds),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
