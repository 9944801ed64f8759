// Derivatives of forces by rest positions of hinges and turns, and of springs, volumes and
// pressures by their numbers and by where a step began: against central differences at random
// places, at rest and at extremes.
#include "fem/derivatives/load_derivatives.h"
#include "fem/thin/hinge.h"
#include "fem/thin/rod.h"
#include "support.h"

#include <string.h>

enum { COUNT = 4, SIZE = 3 * COUNT };

static void scatter(TestRandom* random, double size, double* x) {
  static const double place[SIZE] = {0, 0, 0, 1, 0.1, 0, 0.4, 0.9, 0.1, 0.5, -0.8, 0.2};
  for (int i = 0; i < SIZE; i++) {
    x[i] = place[i] + test_random(random, -size, size);
  }
}

// ---- hinges -------------------------------------------------------------------------------------

static void hinge_gradient(const double* X, const double* x, double gradient[SIZE]) {
  static const int32_t tri[6] = {0, 1, 2, 1, 0, 3};
  const double axis[6] = {1, 0, 0, 1, 0, 0}, plate[4] = {0.7, 0.7, 0.7, 0.7};
  NoliContext* context = test_context(1);
  NoliHinges hinges = {0};
  ASSERT_OK(noli_hinges_add(context, 0, 2, tri, X, &hinges));
  noli_hinges_set_stiffness(&hinges, 0, X, axis, plate);
  NoliBending bending = {&hinges, 0.3};
  double local[SIZE];
  NoliLocal out = {.gradient = local};
  noli_bending_evaluate(&bending, x, 0, 1, NOLI_EVAL_GRADIENT, &out);
  memset(gradient, 0, SIZE * sizeof *gradient);
  for (int i = 0; i < SIZE; i++) {
    gradient[3 * hinges.node[i / 3] + i % 3] = local[i];
  }
  noli_hinges_destroy(context, &hinges);
  test_context_done(&context);
}

static void hinges_follow_rest_shapes(void** state) {
  (void)state;
  static const int32_t tri[6] = {0, 1, 2, 1, 0, 3};
  const double axis[6] = {1, 0, 0, 1, 0, 0}, plate[4] = {0.7, 0.7, 0.7, 0.7};
  TestRandom random = {3};
  for (int trial = 0; trial < 40; trial++) {
    NoliContext* context = test_context(1);
    double X[SIZE], x[SIZE], derivative[SIZE * SIZE], most = 1.0, off = 0.0;
    scatter(&random, trial == 0 ? 0.0 : 0.15, X);
    scatter(&random, trial < 5 ? 0.0 : 0.3, x);
    if (trial == 1) {
      memcpy(x, X, sizeof x);
    }
    if (trial >= 30) { // almost folded onto each other
      x[9] = x[6] + 1e-2;
      x[10] = x[7];
      x[11] = x[8] + 0.05;
    }
    NoliHinges hinges = {0};
    ASSERT_OK(noli_hinges_add(context, 0, 2, tri, X, &hinges));
    noli_hinges_set_stiffness(&hinges, 0, X, axis, plate);
    NoliBending bending = {&hinges, 0.3};
    noli_bending_by_rest(&bending, 0, X, x, derivative);
    for (int c = 0; c < SIZE; c++) {
      double side[2][SIZE], moved[SIZE];
      for (int s = 0; s < 2; s++) {
        memcpy(moved, X, sizeof moved);
        moved[3 * hinges.node[c / 3] + c % 3] += s == 0 ? -1e-6 : 1e-6;
        hinge_gradient(moved, x, side[s]);
      }
      for (int r = 0; r < SIZE; r++) {
        int at = 3 * hinges.node[r / 3] + r % 3;
        off = noli_larger(off, fabs((side[1][at] - side[0][at]) / 2e-6 - derivative[SIZE * r + c]));
        most = noli_larger(most, fabs(derivative[SIZE * r + c]));
      }
    }
    assert_true(off <= 1e-7 * most);
    noli_hinges_destroy(context, &hinges);
    test_context_done(&context);
  }
}

// ---- turns --------------------------------------------------------------------------------------

static double length_of(const double* X, int a, int b) {
  return noli_norm3(noli_sub3(noli_load3(X + 3 * (int64_t)b), noli_load3(X + 3 * (int64_t)a)));
}

static const int32_t chain[4] = {0, 1, 1, 2};
static const double bending_of[2] = {0.7, 1.1};

static void make_turn(NoliContext* context, const double* X, NoliTurns* turns) {
  double length[2] = {length_of(X, 0, 1), length_of(X, 1, 2)};
  *turns = (NoliTurns){0};
  ASSERT_OK(noli_turns_add(context, 0, 2, chain, X, length, bending_of, turns));
}

static void turn_gradient(NoliContext* context, const double* X, const double* x,
                          double gradient[9]) {
  NoliTurns turns;
  make_turn(context, X, &turns);
  NoliTurning turning = {.turns = &turns, .scale = 0.3};
  NoliLocal out = {.gradient = gradient};
  noli_turning_evaluate(&turning, x, 0, 1, NOLI_EVAL_GRADIENT, &out);
  noli_turns_destroy(context, &turns);
}

static void turns_follow_rest_shapes(void** state) {
  (void)state;
  TestRandom random = {5};
  NoliContext* context = test_context(1);
  for (int trial = 0; trial < 40; trial++) {
    double X[9] = {0, 0, 0, 1, 0, 0, 2, 0.4, 0}, x[9], derivative[81], most = 1.0, off = 0.0;
    bool straight = trial == 0; // its rest turn has a kink, of which differences are the mean
    X[7] = straight ? 0.0 : X[7];
    for (int i = 0; i < 9; i++) {
      X[i] += straight ? 0.0 : test_random(&random, -0.2, 0.2);
      x[i] = X[i] + test_random(&random, -0.3, 0.3);
    }
    if (trial == 1) {
      memcpy(x, X, sizeof x);
    }
    if (trial >= 30) { // sharply bent
      x[6] = x[0];
      x[7] = x[1] + 0.3;
    }
    NoliTurns turns;
    make_turn(context, X, &turns);
    NoliTurning turning = {.turns = &turns, .scale = 0.3, .bending = bending_of};
    noli_turning_by_rest(&turning, 0, X, x, derivative);
    for (int c = 0; c < 9; c++) {
      double side[2][9], moved[9];
      for (int s = 0; s < 2; s++) {
        memcpy(moved, X, sizeof moved);
        moved[c] += s == 0 ? -1e-6 : 1e-6;
        turn_gradient(context, moved, x, side[s]);
      }
      for (int r = 0; r < 9; r++) {
        off = noli_larger(off, fabs((side[1][r] - side[0][r]) / 2e-6 - derivative[9 * r + c]));
        most = noli_larger(most, fabs(derivative[9 * r + c]));
      }
    }
    assert_true(off <= 1e-7 * most);
    noli_turns_destroy(context, &turns);
  }
  test_context_done(&context);
}

// ---- springs ------------------------------------------------------------------------------------

typedef struct OneSpring {
  int32_t node[2];
  double anchor[3], number[NOLI_SPRING_NUMBERS];
  bool fitted, at_rest;
} OneSpring;

static NoliSprings list_of(OneSpring* one) {
  return (NoliSprings){.n = 1,
                       .node = one->node,
                       .anchor = one->anchor,
                       .stiffness = &one->number[NOLI_SPRING_STIFFNESS],
                       .length = &one->number[NOLI_SPRING_LENGTH],
                       .damping = &one->number[NOLI_SPRING_DAMPING],
                       .fitted = &one->fitted,
                       .at_rest = &one->at_rest};
}

// The gradient at the two ends.
static void spring_gradient(OneSpring* one, const double* x, const double* x_hat,
                            const double* lagged, double gradient[6]) {
  NoliSprings springs = list_of(one);
  double axis[3], part[6];
  NoliSpringEnergy energy = {&springs, 0.3};
  NoliSpringDamping damping = {&springs, axis, x_hat, 0.7};
  noli_springs_axes(&springs, lagged, axis);
  NoliEnergyTerm term[2] = {noli_springs_term(&energy), noli_springs_damping_term(&damping)};
  memset(gradient, 0, 6 * sizeof *gradient);
  for (int t = 0; t < 2; t++) {
    NoliLocal out = {.gradient = part};
    term[t].evaluate(term[t].data, x, 0, 1, NOLI_EVAL_GRADIENT, &out);
    for (int i = 0; i < 6; i++) {
      gradient[i] += part[i];
    }
  }
}

static void springs_follow_numbers_and_axes(void** state) {
  (void)state;
  TestRandom random = {9};
  NoliContext* context = test_context(1);
  for (int trial = 0; trial < 40; trial++) {
    OneSpring one = {.node = {0, trial % 2 == 0 ? 1 : NOLI_NULL_INDEX},
                     .anchor = {1.1, 0.3, -0.2},
                     .number = {2.0, trial % 4 < 2 ? 0.8 : 0.0, 0.6}};
    NoliSprings springs = list_of(&one);
    double x[SIZE], x_hat[SIZE], lagged[SIZE];
    scatter(&random, 0.3, x);
    scatter(&random, 0.3, x_hat);
    scatter(&random, 0.3, lagged);
    NoliMixedList list = {.context = context};
    NoliSpringDerivatives at = {x, x, x_hat, lagged, 0.3, 0.7};
    ASSERT_OK(noli_spring_derivatives(&list, &springs, 1u << NOLI_INPUT_SPRING, &at));
    assert_int_equal(list.blocks.count, 2);
    for (int b = 0; b < 2; b++) {
      const NoliMixedBlocks* blocks = &list.blocks.data[b];
      for (int c = 0; c < blocks->n_input; c++) {
        int64_t input = blocks->input[c];
        bool numbers = blocks->kind == NOLI_INPUT_SPRING;
        if (input == NOLI_NULL_INDEX || (numbers && one.number[input] == 0.0)) {
          continue; // a length of 0 is another kind of spring
        }
        double* value = numbers ? &one.number[input] : &lagged[input];
        double kept = *value, side[2][6];
        for (int s = 0; s < 2; s++) {
          *value = kept + (s == 0 ? -1e-6 : 1e-6);
          spring_gradient(&one, x, x_hat, lagged, side[s]);
        }
        *value = kept;
        for (int r = 0; r < 6; r++) {
          double difference = (side[1][r] - side[0][r]) / 2e-6;
          assert_true(fabs(difference - blocks->value[blocks->n_input * r + c]) < 1e-8);
        }
      }
    }
    noli_mixed_list_clear(&list);
    noli_array_free(context, &list.blocks);
  }
  test_context_done(&context);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(hinges_follow_rest_shapes),
                                     cmocka_unit_test(turns_follow_rest_shapes),
                                     cmocka_unit_test(springs_follow_numbers_and_axes)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
