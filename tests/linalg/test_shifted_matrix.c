// Matrices that are indefinite only because of rounding, and the regularization of their diagonal.
#include "support.h"

#include "linalg/shifted_matrix.h"
#include "linalg/solver.h"

#include <float.h>

enum { PAIRS = 4, ROWS = 3 * PAIRS };

// Pairs of block rows, joined along y by springs 1e20 times as stiff as those that hold them, and a
// soft block row beside each. The second rows of the springs have lost some bits and the stiffness
// that holds them entirely: the last pivots are -4 epsilon k in any elimination order.
#define STIFF 1e20
typedef struct System {
  NoliBlockMatrix matrix;
  int64_t row[ROWS + 1];
  int32_t col[2 * ROWS];
  double value[2 * ROWS * 9];
  uint8_t mark[ROWS]; // the ends of the springs
} System;

static void add_block(System* system, int32_t col, double x, double y, double z) {
  double* block = system->value + 9 * system->matrix.nnz;
  block[0] = x;
  block[4] = y;
  block[8] = z;
  system->col[system->matrix.nnz++] = col;
}

static void make_system(System* system) {
  memset(system, 0, sizeof *system);
  for (int32_t i = 0; i < ROWS; i++) {
    system->row[i] = system->matrix.nnz;
    if (i % 3 == 0) {
      add_block(system, i, 3.0, STIFF, 5.0);
      add_block(system, i + 1, -1.0, -STIFF, -1.0);
    } else {
      bool end = i % 3 == 1;
      add_block(system, i, 2.0, end ? STIFF * (1.0 - 4.0 * DBL_EPSILON) : 1.0, 4.0);
    }
    system->mark[i] = i % 3 != 2 ? 1 : 0;
  }
  system->row[ROWS] = system->matrix.nnz;
  system->matrix =
      (NoliBlockMatrix){ROWS, system->matrix.nnz, system->row, system->col, system->value, 1};
}

// Squeezes every spring and pulls at everything along x and z.
static void check_solution(NoliLinSolver* solver) {
  double b[3 * ROWS], x[3 * ROWS];
  for (int32_t i = 0; i < ROWS; i++) {
    b[3 * i] = i + 1.0;
    b[3 * i + 1] = i % 3 == 0 ? STIFF : i % 3 == 1 ? -STIFF : 7.0;
    b[3 * i + 2] = 2.0 - i;
  }
  ASSERT_OK(noli_lin_solver_solve(solver, b, x));
  for (int32_t i = 0; i < ROWS; i += 3) {
    // (3, -1; -1, 2) along x, (5, -1; -1, 4) along z; half of the squeeze for each end
    ASSERT_NEAR(x[3 * i], (2.0 * b[3 * i] + b[3 * i + 3]) / 5.0, 1e-9);
    ASSERT_NEAR(x[3 * i + 3], (b[3 * i] + 3.0 * b[3 * i + 3]) / 5.0, 1e-9);
    ASSERT_NEAR(x[3 * i + 2], (4.0 * b[3 * i + 2] + b[3 * i + 5]) / 19.0, 1e-9);
    ASSERT_NEAR(x[3 * i + 1] - x[3 * i + 4], 1.0, 1e-9);
    // the common motion of both ends is lost: it is a fraction of the compression, not 1e20 times
    // as large
    ASSERT_NEAR(x[3 * i + 1] + x[3 * i + 4], 0.0, 1.0);
    ASSERT_NEAR(x[3 * i + 7], 7.0, 1e-9);
  }
}

static void rounding_is_made_up_for(void** state) {
  (void)state;
  for (int32_t k = 0; k < noli_lin_solver_count(); k++) {
    if (noli_lin_solver_info(k).general || !noli_lin_solver_info(k).built) {
      continue; // does not notice
    }
    NoliContext* context = test_context(1);
    NoliLinSolver* solver = NULL;
    NoliShiftedMatrix shifted = {0};

    // a system that rounding makes indefinite
    System system;
    double value[2 * ROWS * 9];
    make_system(&system);
    memcpy(value, system.value, sizeof value);
    ASSERT_OK(noli_lin_solver_create(context, noli_lin_solver_info(k).name, &solver));
    noli_lin_solver_set_tolerance(solver, 1e-14);

    // in the lost direction, which conjugate gradients also encounter
    double b[3 * ROWS] = {0.0}, x[3 * ROWS];
    for (int32_t i = 0; i < ROWS; i++) {
      b[3 * i + 1] = system.mark[i];
    }
    NoliStatus status = noli_lin_solver_factor(solver, &system.matrix);
    status = status == NOLI_OK ? noli_lin_solver_solve(solver, b, x) : status;
    ASSERT_STATUS(status, NOLI_NOT_POSITIVE_DEFINITE);

    // shifted, it is solved
    ASSERT_OK(noli_shifted_matrix_make(&shifted, context, &system.matrix, NULL, system.mark,
                                       NOLI_SHIFT_ENTRY, 1e-14));
    ASSERT_OK(noli_lin_solver_factor(solver, &shifted.matrix));
    check_solution(solver);

    // both share the analysis, and the matrix is unchanged
    assert_int_equal(noli_lin_solver_stats(solver).analyses, 1);
    assert_memory_equal(value, system.value, sizeof value);
    noli_shifted_matrix_free(context, &shifted);
    noli_lin_solver_destroy(&solver);
    noli_context_destroy(&context);
  }
}

static void only_marked_rows_change(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  NoliShiftedMatrix shifted = {0};
  System system;
  make_system(&system);
  for (int round = 0; round < 2; round++) {
    double share = round == 0 ? 0.5 : 0.25;
    NoliShiftScale scale = round == 0 ? NOLI_SHIFT_ENTRY : NOLI_SHIFT_BLOCK;
    ASSERT_OK(noli_shifted_matrix_make(&shifted, context, &system.matrix, NULL, system.mark, scale,
                                       share));
    assert_int_equal(shifted.matrix.pattern_id, system.matrix.pattern_id);
    for (int32_t i = 0; i < ROWS; i++) {
      for (int64_t k = system.row[i]; k < system.row[i + 1]; k++) {
        for (int64_t e = 9 * k; e < 9 * k + 9; e++) {
          bool larger = k == system.row[i] && e % 9 % 4 == 0 && system.mark[i] != 0;
          double of = round == 0 ? system.value[e] : system.value[9 * k + 4];
          double want = system.value[e] + (larger ? share * of : 0.0);
          ASSERT_NEAR(shifted.matrix.value[e], want, 0.0);
        }
      }
    }
  }
  noli_shifted_matrix_free(context, &shifted);
  noli_context_destroy(&context);
}

// A stiff direction close to an axis leaves its rounding, 4 epsilon k here, in entries that are 1e8
// times smaller than k: shifts relative to the entries are too small.
static void blocks_share_their_rounding(void** state) {
  (void)state;

  // a stiff direction that is tilted
  double stiff = 1e20, tilt = 1e-4;
  double value[9] = {stiff * (tilt * tilt - 4.0 * DBL_EPSILON),
                     stiff * tilt,
                     0,
                     stiff * tilt,
                     stiff,
                     0,
                     0,
                     0,
                     7.0};
  NoliBlockMatrix matrix = {1, 1, (int64_t[]){0, 1}, (int32_t[]){0}, value, 1};
  uint8_t mark = 1;

  // shifts of entries are too small, those of blocks are not
  for (int32_t k = 0; k < noli_lin_solver_count(); k++) {
    if (noli_lin_solver_info(k).general || !noli_lin_solver_info(k).built) {
      continue; // does not notice
    }
    NoliContext* context = test_context(1);
    NoliLinSolver* solver = NULL;
    NoliShiftedMatrix shifted = {0};
    ASSERT_OK(noli_lin_solver_create(context, noli_lin_solver_info(k).name, &solver));
    ASSERT_STATUS(noli_lin_solver_factor(solver, &matrix), NOLI_NOT_POSITIVE_DEFINITE);
    ASSERT_OK(
        noli_shifted_matrix_make(&shifted, context, &matrix, NULL, &mark, NOLI_SHIFT_ENTRY, 1e-14));
    ASSERT_STATUS(noli_lin_solver_factor(solver, &shifted.matrix), NOLI_NOT_POSITIVE_DEFINITE);
    ASSERT_OK(
        noli_shifted_matrix_make(&shifted, context, &matrix, NULL, &mark, NOLI_SHIFT_BLOCK, 1e-14));
    ASSERT_OK(noli_lin_solver_factor(solver, &shifted.matrix));

    // along the stiff direction and across it
    double b[3] = {stiff * tilt, stiff, 14.0}, x[3];
    ASSERT_OK(noli_lin_solver_solve(solver, b, x));
    ASSERT_NEAR(tilt * x[0] + x[1], 1.0, 1e-6);
    ASSERT_NEAR(x[2], 2.0 * 7.0 / (7.0 + 1e-14 * stiff), 1e-12);
    noli_shifted_matrix_free(context, &shifted);
    noli_lin_solver_destroy(&solver);
    noli_context_destroy(&context);
  }
}

// A shift does not hide indefiniteness that has another cause.
static void true_indefiniteness_stays(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  NoliLinSolver* solver = NULL;
  NoliShiftedMatrix shifted = {0};
  System system;
  make_system(&system);
  system.value[9 * system.row[5]] = -2.0;
  ASSERT_OK(noli_lin_solver_create(context, "cholmod", &solver));
  for (double share = 1e-14; share < 1e-7; share *= 10.0) {
    memset(system.mark, 1, sizeof system.mark);
    ASSERT_OK(noli_shifted_matrix_make(&shifted, context, &system.matrix, NULL, system.mark,
                                       NOLI_SHIFT_BLOCK, share));
    ASSERT_STATUS(noli_lin_solver_factor(solver, &shifted.matrix), NOLI_NOT_POSITIVE_DEFINITE);
  }
  noli_shifted_matrix_free(context, &shifted);
  noli_lin_solver_destroy(&solver);
  noli_context_destroy(&context);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(rounding_is_made_up_for),
      cmocka_unit_test(blocks_share_their_rounding),
      cmocka_unit_test(only_marked_rows_change),
      cmocka_unit_test(true_indefiniteness_stays),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
