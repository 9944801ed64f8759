// Folds: sheets of constant curvature have the energy of a plate and no forces inside, on any
// mesh; derivatives, invariance, zeros.
#include "slivers.h"

#include "fem/thin/fold.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CELLS = 12, SIDE = CELLS + 1, VERTICES = SIDE * SIDE, TRIANGLES = 2 * CELLS * CELLS };

typedef struct Sheet {
  double X[3 * VERTICES];
  int32_t tri[3 * TRIANGLES];
  double axis[3 * TRIANGLES];
  NoliPlate plate[TRIANGLES];
  bool interior[TRIANGLES]; // no edge of it or of a neighbour is free
  NoliHinges hinges;
  NoliFolds folds;
} Sheet;

// A sheet of length 1: cells with diagonals at random, vertices moved at random, every third
// triangle turned over, and frames in any direction.
static Sheet* sheet_new(NoliContext* context, NoliPlate plate, double noise, bool turned_frames,
                        double width) {
  Sheet* sheet = calloc(1, sizeof *sheet);
  TestRandom random = {11};
  for (int j = 0; j < SIDE; j++) {
    for (int i = 0; i < SIDE; i++) {
      double* X = sheet->X + 3 * (SIDE * j + i);
      bool inside = i > 0 && j > 0 && i < CELLS && j < CELLS;
      X[0] = (i + (inside ? noise * test_random(&random, -1.0, 1.0) : 0.0)) / CELLS;
      X[1] = width * (j + (inside ? noise * test_random(&random, -1.0, 1.0) : 0.0)) / CELLS;
    }
  }
  for (int t = 0; t < TRIANGLES; t++) {
    int i = t / 2 % CELLS, j = t / 2 / CELLS, v = SIDE * j + i;
    static bool diagonal;
    diagonal = t % 2 == 0 ? test_random(&random, 0.0, 1.0) < 0.5 : diagonal;
    const int32_t one[2][3] = {{v, v + 1, v + SIDE + 1}, {v, v + SIDE + 1, v + SIDE}};
    const int32_t two[2][3] = {{v, v + 1, v + SIDE}, {v + 1, v + SIDE + 1, v + SIDE}};
    const int32_t* tri = diagonal ? one[t % 2] : two[t % 2];
    for (int k = 0; k < 3; k++) {
      sheet->tri[3 * t + k] = tri[t % 3 == 0 ? (3 - k) % 3 : k];
    }
    double phi = turned_frames ? test_random(&random, -3.0, 3.0) : 0.0;
    sheet->axis[3 * t] = cos(phi);
    sheet->axis[3 * t + 1] = sin(phi);
    sheet->plate[t] = plate;
    sheet->interior[t] = i > 1 && j > 1 && i < CELLS - 2 && j < CELLS - 2;
  }
  ASSERT_OK(noli_hinges_add(context, 0, TRIANGLES, sheet->tri, sheet->X, &sheet->hinges));
  ASSERT_OK(noli_folds_add(context, 0, TRIANGLES, sheet->tri, sheet->X, sheet->axis, sheet->plate,
                           &sheet->hinges, 0, &sheet->folds));
  assert_int_equal(sheet->folds.n_fold, TRIANGLES);
  return sheet;
}

static void sheet_free(NoliContext* context, Sheet* sheet) {
  noli_hinges_destroy(context, &sheet->hinges);
  noli_folds_destroy(context, &sheet->folds);
  free(sheet);
}

static NoliPlate isotropic(double D, double poisson) {
  return (NoliPlate){D, D, poisson * D, 0.5 * (1.0 - poisson) * D};
}

static double area_of(const Sheet* sheet, int t) {
  const double *a = sheet->X + 3 * sheet->tri[3 * t], *b = sheet->X + 3 * sheet->tri[3 * t + 1],
               *c = sheet->X + 3 * sheet->tri[3 * t + 2];
  return 0.5 * fabs((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]));
}

// The height of vertices with curvature k = (k11, k22, k12), and some derivative.
static void curve(const Sheet* sheet, const double k[3], double size, double* x) {
  memcpy(x, sheet->X, sizeof sheet->X);
  for (int v = 0; v < VERTICES; v++) {
    double X = x[3 * v] - 0.3, Y = x[3 * v + 1] - 0.4;
    x[3 * v + 2] = size * (0.5 * (k[0] * X * X + k[1] * Y * Y) + k[2] * X * Y + 0.1 * X - 0.2 * Y);
  }
}

static void evaluate(const Sheet* sheet, const double* x, double* energy, double* force) {
  NoliFoldBending data = {&sheet->folds, 1.0};
  double* gradient = calloc((size_t)TRIANGLES * 36, sizeof *gradient);
  NoliLocal out = {.energy = energy, .gradient = gradient};
  noli_folds_evaluate(&data, x, 0, TRIANGLES, NOLI_EVAL_ENERGY | NOLI_EVAL_GRADIENT, &out);
  memset(force, 0, 3 * VERTICES * sizeof *force);
  for (int64_t i = 0; i < (int64_t)TRIANGLES * 12; i++) {
    for (int c = 0; c < 3 && sheet->folds.node[i] != NOLI_NULL_INDEX; c++) {
      force[3 * sheet->folds.node[i] + c] += gradient[3 * i + c];
    }
  }
  free(gradient);
}

static const double curvatures[6][3] = {{1, 0, 0},  {0, 1, 0},     {0.5, 0.5, 0.5},
                                        {1, -1, 0}, {1, 1, -0.25}, {0, 0, 1}};

// Cylinders in three directions, a saddle, almost a sphere, and pure twist. Forces of a constant
// curvature are 0 in the interior: without that, sheets may come out too soft on any mesh.
static void constant_curvatures_are_those_of_a_plate(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  double D = 3.0, poisson = 0.3, size = 1e-4, worst = 0.0, force_worst = 0.0;
  double x[3 * VERTICES], force[3 * VERTICES], energy[TRIANGLES];
  Sheet* sheet = sheet_new(context, isotropic(D, poisson), 0.25, true, 1.0);
  for (int c = 0; c < 6; c++) {
    const double* k = curvatures[c];
    curve(sheet, k, size, x);
    evaluate(sheet, x, energy, force);
    double density = 0.5 * D *
                     (k[0] * k[0] + k[1] * k[1] + 2.0 * poisson * k[0] * k[1] +
                      2.0 * (1.0 - poisson) * k[2] * k[2]);
    for (int t = 0; t < TRIANGLES; t++) {
      double got = energy[t] / (size * size * area_of(sheet, t));
      worst = noli_larger(worst, sheet->interior[t] ? fabs(got / density - 1.0) : 0.0);
    }
    for (int v = 0; v < VERTICES; v++) {
      int i = v % SIDE, j = v / SIDE;
      bool inside = i > 3 && j > 3 && i < CELLS - 3 && j < CELLS - 3;
      force_worst = noli_larger(force_worst, inside ? fabs(force[3 * v + 2]) / (D * size) : 0.0);
    }
  }
  print_message("energy off by %.2g, forces %.2g D kappa\n", worst, force_worst);
  assert_true(worst < 1e-5);
  assert_true(force_worst < 1e-5);
  sheet_free(context, sheet);
  test_context_done(&context);
}

// A cylinder of half a turn: large rotations, in any direction.
static void far_bent_cylinders_are_those_of_a_plate(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  double x[3 * VERTICES], force[3 * VERTICES], energy[TRIANGLES], kappa = 3.0, D = 2.0;
  Sheet* sheet = sheet_new(context, isotropic(D, 0.3), 0.2, true, 1.0);
  for (int k = 0; k < 4; k++) {
    double phi = 0.3 + 0.7 * k, c = cos(phi), s = sin(phi), sum = 0.0, area = 0.0;
    for (int v = 0; v < VERTICES; v++) {
      const double* X = sheet->X + 3 * v;
      double u = c * X[0] + s * X[1], w = c * X[1] - s * X[0];
      x[3 * v] = c * sin(kappa * u) / kappa - s * w;
      x[3 * v + 1] = s * sin(kappa * u) / kappa + c * w;
      x[3 * v + 2] = (1.0 - cos(kappa * u)) / kappa;
    }
    evaluate(sheet, x, energy, force);
    for (int t = 0; t < TRIANGLES; t++) {
      sum += sheet->interior[t] ? energy[t] : 0.0;
      area += sheet->interior[t] ? area_of(sheet, t) : 0.0;
    }
    print_message("direction %.1f: %.4f\n", phi, sum / (0.5 * D * kappa * kappa * area));
    ASSERT_NEAR(sum / (0.5 * D * kappa * kappa * area), 1.0, 0.02);
  }
  sheet_free(context, sheet);
  test_context_done(&context);
}

// Different along both axes: exactly so, on any mesh.
static void stiffness_has_directions(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  NoliPlate plate = {4.0, 1.0, 0.5, 0.7};
  const double want[6] = {2.0, 0.5, 0.5 * (1.25 + 0.25 + 0.7), 2.0, 0.0, 1.4};
  double x[3 * VERTICES], force[3 * VERTICES], energy[TRIANGLES], size = 1e-4;
  Sheet* sheet = sheet_new(context, plate, 0.25, false, 1.0);
  for (int c = 0; c < 6; c++) {
    if (want[c] == 0.0 || c == 3) {
      continue;
    }
    curve(sheet, curvatures[c], size, x);
    evaluate(sheet, x, energy, force);
    for (int t = 0; t < TRIANGLES; t++) {
      // frames of triangles that are turned over have the other second axis
      bool counts = sheet->interior[t] && (c != 2 || t % 3 != 0);
      double got = energy[t] / (size * size * area_of(sheet, t));
      ASSERT_NEAR(counts ? got : want[c], want[c], 1e-4);
    }
  }
  sheet_free(context, sheet);
  test_context_done(&context);
}

typedef struct One {
  const NoliFolds* folds;
  int64_t fold;
  unsigned kind;
} One;

static double energy_of(void* user, const double* x, double* gradient, double* hessian) {
  const One* one = user;
  const int32_t* node = one->folds->node + 12 * one->fold;
  double all[3 * VERTICES], energy, *blocks = calloc(702, sizeof *blocks);
  for (int a = 0; a < 12 && node[a] != NOLI_NULL_INDEX; a++) {
    memcpy(all + 3 * node[a], x + 3 * a, 3 * sizeof *x);
  }
  NoliFoldBending data = {one->folds, 0.7};
  NoliLocal out = {&energy, gradient, blocks};
  unsigned what = NOLI_EVAL_ENERGY | (gradient != NULL ? NOLI_EVAL_GRADIENT : 0) |
                  (hessian != NULL ? one->kind : 0);
  noli_folds_evaluate(&data, all, one->fold, one->fold + 1, what, &out);
  for (int i = 0; i < 36 * 36 && hessian != NULL; i++) {
    int a = i / 36 / 3, b = i % 36 / 3, row = i / 36 % 3, column = i % 36 % 3;
    const double* block = blocks + 9 * noli_stencil_block(12, a < b ? a : b, a < b ? b : a);
    hessian[i] = block[a <= b ? 3 * row + column : 3 * column + row];
  }
  free(blocks);
  return energy;
}

// The nodes of a fold in a sheet of width 1 whose one half is folded over the other by `angle`,
// moved at random.
static void fold_over(const Sheet* sheet, int64_t fold, double width, double angle, double noise,
                      TestRandom* random, double y[36]) {
  const int32_t* node = sheet->folds.node + 12 * fold;
  const double* a = sheet->X + 3 * node[0];
  for (int k = 0; k < 12; k++) {
    // padding: coordinates without a force
    const double* X = node[k] != NOLI_NULL_INDEX ? sheet->X + 3 * node[k] : a;
    double across = (X[1] - a[1]) / width, over = across > 0.0 ? angle : 0.0;
    y[3 * k] = X[0] - a[0];
    y[3 * k + 1] = across * cos(over);
    y[3 * k + 2] = across * sin(over);
    for (int c = 0; c < 3; c++) {
      y[3 * k + c] += noise * test_random(random, -1.0, 1.0);
    }
  }
}

// The projected Hessian has no negative direction.
static void expect_positive(One* one, const double* x, TestRandom* random) {
  double gradient[36], hessian[36 * 36];
  one->kind = NOLI_EVAL_PROJECTED;
  energy_of(one, x, gradient, hessian);
  for (int r = 0; r < 50; r++) {
    double p[36], form = 0.0, size = 0.0;
    for (int i = 0; i < 36; i++) {
      p[i] = test_random(random, -1.0, 1.0);
    }
    for (int i = 0; i < 36 * 36; i++) {
      form += p[i / 36] * hessian[i] * p[i % 36];
      size = noli_larger(size, fabs(hessian[i]));
    }
    assert_true(form >= -1e-9 * size);
  }
  one->kind = NOLI_EVAL_HESSIAN;
}

// Random states, flat ones, folds to 179 degrees; triangles up to 1e5 times as long as high. The
// rest shape is flat.
static void derivatives_match_differences(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  const double width[] = {1.0, 1e-1, 1e-3, 1e-5}, degrees[] = {0.0, 60.0, 179.0};
  TestRandom random = {5};
  for (int trial = 0; trial < 24; trial++) {
    double w = width[trial % 4], angle = degrees[trial % 3] * acos(-1.0) / 180.0, y[36], x[36];
    Sheet* sheet = sheet_new(context, isotropic(1.0, 0.3), 0.2, true, w);
    One one = {&sheet->folds, 5 * 2 * CELLS + 11, NOLI_EVAL_HESSIAN};
    Sliver sliver = {.f = energy_of, .user = &one, .n_node = 12};
    for (int k = 0; k < 12; k++) {
      sliver.node[k] = (SliverNode){{0}, {1.0, w, w}};
    }
    double scale = angle > 3.0 ? 1e-3 : 1e-2;
    fold_over(sheet, one.fold, w, angle, trial < 3 ? 0.0 : 0.1 * scale, &random, y);
    sliver_derivatives(&sliver, y, w, scale);
    sliver_positions(&sliver, y, x);
    expect_positive(&one, x, &random);
    sheet_free(context, sheet);
  }
  test_context_done(&context);
}

// A closed surface whose triangles share their neighbours, and three sheets on one line: at rest
// without forces; the hinges of the line stay hinges.
static void few_triangles(void** state) {
  (void)state;
  static const double X[15] = {0, 0, 0, 1, 0, 0, 0.5, 1, 0, 0.5, 0.4, 0.8, 0.5, -0.5, -0.8};
  static const int32_t ball[12] = {0, 1, 2, 0, 1, 3, 1, 2, 3, 2, 0, 3};
  static const int32_t seam[9] = {0, 1, 2, 1, 0, 3, 0, 1, 4};
  NoliContext* context = test_context(1);
  for (int k = 0; k < 2; k++) {
    NoliHinges hinges = {0};
    NoliFolds folds = {0};
    NoliPlate plate[4] = {
        {1, 1, 0.3, 0.35}, {1, 1, 0.3, 0.35}, {1, 1, 0.3, 0.35}, {1, 1, 0.3, 0.35}};
    double axis[12], moved[15], at_rest[8] = {0}, away[8] = {0};
    const int32_t* tri = k == 0 ? ball : seam;
    int32_t n = k == 0 ? 4 : 3;
    for (int t = 0; t < n; t++) {
      double size = 0.0;
      for (int c = 0; c < 3; c++) {
        axis[3 * t + c] = X[3 * tri[3 * t + 1] + c] - X[3 * tri[3 * t] + c];
        size += axis[3 * t + c] * axis[3 * t + c];
      }
      for (int c = 0; c < 3; c++) {
        axis[3 * t + c] /= sqrt(size);
      }
    }
    ASSERT_OK(noli_hinges_add(context, 0, n, tri, X, &hinges));
    for (int h = 0; h < hinges.n_hinge; h++) {
      hinges.stiffness[h] = 1.0;
    }
    ASSERT_OK(noli_folds_add(context, 0, n, tri, X, axis, plate, &hinges, 0, &folds));
    ASSERT_OK(noli_folds_add_hinges(context, &hinges, &folds));
    assert_int_equal(folds.n_fold, k == 0 ? 4 : 6);
    NoliFoldBending data = {&folds, 1.0};
    memcpy(moved, X, sizeof moved);
    moved[11] += 0.1;
    noli_folds_evaluate(&data, X, 0, folds.n_fold, NOLI_EVAL_ENERGY,
                        &(NoliLocal){.energy = at_rest});
    noli_folds_evaluate(&data, moved, 0, folds.n_fold, NOLI_EVAL_ENERGY,
                        &(NoliLocal){.energy = away});
    double sum = 0.0;
    for (int f = 0; f < folds.n_fold; f++) {
      ASSERT_NEAR(at_rest[f], 0.0, 1e-20);
      sum += away[f];
    }
    assert_true(sum > 1e-3);
    noli_hinges_destroy(context, &hinges);
    noli_folds_destroy(context, &folds);
  }
  test_context_done(&context);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(constant_curvatures_are_those_of_a_plate),
      cmocka_unit_test(far_bent_cylinders_are_those_of_a_plate),
      cmocka_unit_test(stiffness_has_directions),
      cmocka_unit_test(derivatives_match_differences),
      cmocka_unit_test(few_triangles),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
