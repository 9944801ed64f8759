// Membranes: every law against differences at random and degenerate states, its projection against
// the dense one, small strains against plane stress, and the bound of the strain limit.
#include "slivers.h"

#include "fem/thin/sheet.h"
#include "math/eigen.h"
#include "math/vec3.h"

static const int32_t one_tri[3] = {0, 1, 2};

typedef struct Sheet {
  NoliContext* context;
  NoliTriangles triangles;
  const NoliMembraneLaw* law;
  NoliMembraneParameters parameters;
  double thickness;
  NoliMembrane data;
} Sheet;

static NoliMembraneParameters some_parameters(void) {
  return (NoliMembraneParameters){.lame = noli_membrane_lame(3.0, 0.3),
                                  .warp = 3.0,
                                  .weft = 2.0,
                                  .shear = 0.7,
                                  .limit = (double)INFINITY,
                                  .limit_from = 1.0,
                                  .limit_stiffness = 1.5};
}

static void sheet_begin(Sheet* sheet, const NoliMembraneLaw* law, const double X[9],
                        const double* warp) {
  *sheet = (Sheet){.context = test_context(1), .law = law, .thickness = 0.1};
  sheet->parameters = some_parameters();
  static const double none[3];
  ASSERT_OK(noli_triangles_allocate(sheet->context, 1, one_tri, &sheet->triangles));
  ASSERT_OK(noli_triangles_set_rest(sheet->context, &sheet->triangles, 0, 1, X,
                                    warp != NULL ? warp : none));
  sheet->data = (NoliMembrane){.triangles = &sheet->triangles,
                               .law = &sheet->law,
                               .parameters = &sheet->parameters,
                               .thickness = &sheet->thickness,
                               .scale = 0.7};
}

static void sheet_end(Sheet* sheet) {
  noli_triangles_destroy(sheet->context, &sheet->triangles);
  test_context_done(&sheet->context);
}

static double evaluate(const Sheet* sheet, unsigned kind, const double* x, double* gradient,
                       double* hessian) {
  double energy, blocks[54];
  NoliLocal out = {&energy, gradient, blocks};
  noli_membrane_evaluate(&sheet->data, x, 0, 1, NOLI_EVAL_ENERGY | NOLI_EVAL_GRADIENT | kind, &out);
  for (int a = 0; a < 3 && hessian != NULL; a++) {
    for (int b = 0; b < 3; b++) {
      const double* block = blocks + 9 * noli_stencil_block(3, a < b ? a : b, a < b ? b : a);
      for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
          hessian[9 * (3 * a + i) + 3 * b + j] = a <= b ? block[3 * i + j] : block[3 * j + i];
        }
      }
    }
  }
  return energy;
}

static double energy_of(void* user, const double* x, double* gradient, double* hessian) {
  return evaluate(user, hessian != NULL ? NOLI_EVAL_HESSIAN : 0, x, gradient, hessian);
}

static void derivatives_of_every_law(void** state) {
  (void)state;
  static const double X[9] = {0.1, 0.2, 0.3, 1.2, 0.1, 0.5, 0.4, 1.1, -0.2};
  static const double warp[3] = {1.0, 0.3, 0.0};
  TestRandom random = {11};
  for (int32_t k = 0; noli_membrane_at(k) != NULL; k++) {
    Sheet sheet;
    sheet_begin(&sheet, noli_membrane_at(k), X, warp);
    for (int trial = -1; trial < 40; trial++) {
      // equally stretched, where principal stretches are equal; near rest, stretched,
      // crumpled
      double noise = trial < 0 ? 0.0 : trial % 4 == 0 ? 1e-3 : trial % 4 == 1 ? 0.1 : 0.6, x[9];
      for (int i = 0; i < 9; i++) {
        x[i] = (trial < 0 ? 1.3 : 1.0) * X[i] + test_random(&random, -noise, noise);
      }
      if (trial > 0 && trial % 4 == 3) {
        // a sliver: node 2 close to the opposite side
        for (int i = 0; i < 3; i++) {
          x[6 + i] = 0.3 * x[i] + 0.7 * x[3 + i] + 0.03 * (x[6 + i] - x[i]);
        }
      }
      double scale = trial > 0 && trial % 4 == 3 ? 1e-2 : 1.0;
      test_derivatives(energy_of, &sheet, 9, x, scale, 1e-6, 1e-6);
    }
    sheet_end(&sheet);
  }
}

// Triangles up to 1e5 times as long as high: at rest, flattened to that from a regular shape, or
// sheared along by several times their height; with all laws, some near the limit of stretch.
static void derivatives_of_slivers(void** state) {
  (void)state;
  TestRandom random = {17};
  const double width[] = {1e-1, 1e-3, 1e-5};
  for (int trial = 0; trial < 90; trial++) {
    double w = width[trial % 3], y[9], X[9];
    bool at_rest = trial % 2 == 0, sheared = trial / 6 % 3 == 2;
    Sliver sliver = {.f = energy_of,
                     .n_node = 3,
                     .node = {{{0}, {1, 1, 1}}, {{0}, {1, 1, 1}}, {{0.6, 0.4}, {w, w, w}}}};
    Sliver regular = sliver;
    regular.node[2] = (SliverNode){{0.5, 0.5}, {1, 1, 1}};
    for (int i = 0; i < 9; i++) {
      y[i] = test_random(&random, -1.0, 1.0);
    }
    y[3] += 3.0;
    sliver_positions(at_rest ? &sliver : &regular, y, X);
    for (int i = 0; i < 9; i++) {
      y[i] +=
          test_random(&random, -0.2, 0.2) + (sheared && i >= 6 ? 3.0 * (y[i - 3] - y[i - 6]) : 0.0);
    }
    Sheet sheet;
    sheet_begin(&sheet, noli_membrane_at(trial / 18 % 3), X, trial % 5 == 0 ? NULL : X);
    if (at_rest && !sheared && trial % 4 == 0) {
      sheet.parameters.limit = 2.0;
      sheet.parameters.limit_from = 1.01;
    }
    sliver.user = &sheet;
    sliver_derivatives(&sliver, y, w, 0.1);
    sheet_end(&sheet);
  }
}

static void derivatives_of_the_limit(void** state) {
  (void)state;
  static const double X[9] = {0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.2, 0.9, 0.0};
  TestRandom random = {5};
  Sheet sheet;
  sheet_begin(&sheet, &noli_membrane_stvk, X, NULL);
  sheet.parameters.limit = 1.1;
  sheet.parameters.limit_from = 1.02;
  int inside = 0;
  for (int trial = 0; trial < 200; trial++) {
    // both stretches beyond the start of the barrier, equal ones too
    double s = test_random(&random, 1.0, 1.09),
           t = trial % 3 == 0 ? s : test_random(&random, 1.0, 1.09);
    double x[9], angle = test_random(&random, 0.0, 6.0);
    for (int a = 0; a < 3; a++) {
      double u = s * (cos(angle) * X[3 * a] + sin(angle) * X[3 * a + 1]);
      double v = t * (cos(angle) * X[3 * a + 1] - sin(angle) * X[3 * a]);
      x[3 * a] = cos(angle) * u - sin(angle) * v;
      x[3 * a + 1] = 0.6 * (sin(angle) * u + cos(angle) * v);
      x[3 * a + 2] = 0.8 * (sin(angle) * u + cos(angle) * v);
    }
    inside += s > 1.02 && t > 1.02 ? 1 : 0;
    test_derivatives(energy_of, &sheet, 9, x, 0.01, 1e-6, 1e-5);
  }
  assert_true(inside > 50);
  // at the limit
  double x[9], gradient[9];
  for (int i = 0; i < 9; i++) {
    x[i] = 1.1000001 * X[i];
  }
  assert_true(isinf(evaluate(&sheet, 0, x, gradient, NULL)));
  sheet_end(&sheet);
}

// The 6 x 6 tangent of a response.
static void tangent_of(const NoliSheetResponse* response, double tangent[36]) {
  for (int p = 0; p < 2; p++) {
    for (int q = 0; q < 2; q++) {
      const NoliMat3* H = &response->H[p + q];
      for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
          tangent[6 * (3 * p + i) + 3 * q + j] = p <= q ? H->m[i][j] : H->m[j][i];
        }
      }
    }
  }
}

// The part of a law, or its sum of parts, that is one eigenproblem.
static void projections_are_nearest(void** state) {
  (void)state;
  TestRandom random = {3};
  int negative = 0;
  for (int trial = 0; trial < 300; trial++) {
    NoliMembraneParameters parameters = some_parameters();
    const NoliMembraneLaw* law = noli_membrane_at(trial % 3);
    if (law == &noli_membrane_cloth) {
      // one of its parts at a time
      parameters.warp = trial % 2 == 0 ? 3.0 : 0.0;
      parameters.weft = 0.0;
      parameters.shear = trial % 2 == 0 ? 0.0 : 0.7;
    }
    NoliSheet F;
    for (int p = 0; p < 2; p++) {
      F.f[p] = noli_vec3(test_random(&random, -0.3, 0.3) + (p == 0 ? 0.8 : 0.0),
                         test_random(&random, -0.3, 0.3) + (p == 1 ? 0.8 : 0.0),
                         test_random(&random, -0.3, 0.3));
    }
    NoliSheetResponse response;
    double plain[36], want[36], got[36];
    noli_membrane_respond(law, &parameters, &F, NOLI_EVAL_HESSIAN, &response);
    tangent_of(&response, plain);
    memcpy(want, plain, sizeof want);
    noli_project_psd(6, want);
    noli_membrane_respond(law, &parameters, &F, NOLI_EVAL_PROJECTED, &response);
    tangent_of(&response, got);
    for (int i = 0; i < 36; i++) {
      ASSERT_NEAR(got[i], want[i], 1e-11);
      negative += fabs(want[i] - plain[i]) > 1e-3 ? 1 : 0;
    }
  }
  assert_true(negative > 300);
}

// Energy per volume of a uniaxial strain with the lateral strain that minimizes it.
static double uniaxial(const NoliMembraneLaw* law, const NoliMembraneParameters* parameters,
                       double strain, double lateral) {
  NoliSheet F = {{{1.0 + strain, 0.0, 0.0},
                  {0.0, 0.6 * (1.0 - lateral * strain), 0.8 * (1.0 - lateral * strain)}}};
  NoliSheetResponse response;
  noli_membrane_respond(law, parameters, &F, NOLI_EVAL_ENERGY, &response);
  return response.energy;
}

static void small_strains_are_plane_stress(void** state) {
  (void)state;
  NoliMembraneParameters parameters = some_parameters();
  double strain = 1e-5, want = 0.5 * 3.0 * strain * strain;
  for (int32_t k = 0; k < 2; k++) {
    const NoliMembraneLaw* law = noli_membrane_at(k);
    ASSERT_NEAR(uniaxial(law, &parameters, strain, 0.3) / want, 1.0, 1e-4);
    assert_true(uniaxial(law, &parameters, strain, 0.25) > want);
    assert_true(uniaxial(law, &parameters, strain, 0.35) > want);
  }
  // cloth: no lateral contraction, other stiffness along weft, shear of its own
  ASSERT_NEAR(uniaxial(&noli_membrane_cloth, &parameters, strain, 0.0) / want, 1.0, 1e-9);
  NoliSheet F = {{{1.0, 0.0, 0.0}, {1e-4, 1.0, 0.0}}};
  NoliSheetResponse response;
  noli_membrane_respond(&noli_membrane_cloth, &parameters, &F, NOLI_EVAL_ENERGY, &response);
  ASSERT_NEAR(response.energy / (0.5 * 0.7 * 1e-8), 1.0, 1e-6);
}

// Rotated, moved, at rest on a curved shape: no energy, no force.
static void rest_shapes_are_at_rest(void** state) {
  (void)state;
  TestRandom random = {8};
  for (int32_t k = 0; noli_membrane_at(k) != NULL; k++) {
    double X[9], x[9], gradient[9];
    for (int i = 0; i < 9; i++) {
      X[i] = test_random(&random, -1.0, 1.0);
    }
    Sheet sheet;
    sheet_begin(&sheet, noli_membrane_at(k), X, k == 0 ? NULL : X);
    for (int a = 0; a < 3; a++) {
      x[3 * a] = 0.6 * X[3 * a] - 0.8 * X[3 * a + 1] + 3.0;
      x[3 * a + 1] = 0.8 * X[3 * a] + 0.6 * X[3 * a + 1];
      x[3 * a + 2] = X[3 * a + 2] - 1.0;
    }
    ASSERT_NEAR(evaluate(&sheet, 0, x, gradient, NULL), 0.0, 1e-28);
    for (int i = 0; i < 9; i++) {
      ASSERT_NEAR(gradient[i], 0.0, 1e-14);
    }
    sheet_end(&sheet);
  }
}

static double largest_stretch(const Sheet* sheet, const double* x) {
  NoliSheet F = noli_triangles_deformation(&sheet->triangles, 0, x);
  return noli_sheet_stretch(&F);
}

// The bound is safe on the full path, and the next point beyond it is not.
static void the_limit_bounds_steps(void** state) {
  (void)state;
  static const double X[9] = {0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.2, 0.9, 0.0};
  TestRandom random = {21};
  Sheet sheet;
  sheet_begin(&sheet, &noli_membrane_stvk, X, NULL);
  sheet.parameters.limit = 1.05;
  int bounded = 0;
  for (int trial = 0; trial < 500; trial++) {
    double p[9], y[9];
    for (int i = 0; i < 9; i++) {
      p[i] = test_random(&random, -1.0, 1.0);
    }
    int32_t blocking;
    double alpha = noli_membrane_limit_bound(&sheet.data, X, p, 0.1, 1, &blocking);
    double most = 1.05 - 0.1 * 0.05;
    assert_int_equal(blocking, alpha < 1.0 ? 0 : -1);
    for (int k = 0; k <= 64; k++) {
      for (int i = 0; i < 9; i++) {
        y[i] = X[i] + alpha * k / 64.0 * p[i];
      }
      ASSERT_AT_MOST(largest_stretch(&sheet, y), most + 1e-12);
    }
    if (alpha < 1.0) {
      bounded++;
      ASSERT_NEAR(largest_stretch(&sheet, y), most, 1e-7);
    }
  }
  assert_true(bounded > 100);
  // beyond it immediately
  double x[9], zero[9] = {0};
  for (int i = 0; i < 9; i++) {
    x[i] = 1.06 * X[i];
  }
  ASSERT_NEAR(noli_membrane_limit_bound(&sheet.data, x, zero, 0.1, 1, NULL), 0.0, 0.0);
  sheet_end(&sheet);
}

// A triangle that a straight step has turned is stretched, by 1/cos of the angle across its axis,
// but its predicted Hessian is that of the rest shape, turned. Without a turn, prediction changes
// nothing.
static void predictions_leave_out_the_stretch_of_turning(void** state) {
  (void)state;
  static const double X[9] = {0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.2, 0.9, 0.0};
  for (int32_t k = 0; noli_membrane_at(k) != NULL; k++) {
    double x[9], turned[9], predicted[81], at_rest[81], own[81], gradient[9], same[9], turn = 0.4;
    Sheet sheet;
    sheet_begin(&sheet, noli_membrane_at(k), X, NULL);
    for (int a = 0; a < 3; a++) {
      double y = X[3 * a + 1];
      x[3 * a] = turned[3 * a] = X[3 * a];
      x[3 * a + 1] = y;
      x[3 * a + 2] = turn * y;
      turned[3 * a + 1] = y / hypot(1.0, turn);
      turned[3 * a + 2] = turn * y / hypot(1.0, turn);
    }
    double stretched = evaluate(&sheet, NOLI_EVAL_PROJECTED, x, same, own);
    evaluate(&sheet, NOLI_EVAL_PROJECTED, turned, gradient, at_rest);
    sheet.data.last = X;
    ASSERT_NEAR(evaluate(&sheet, NOLI_EVAL_PROJECTED, x, gradient, predicted), stretched, 0.0);
    for (int i = 0; i < 81; i++) {
      ASSERT_NEAR(predicted[i], at_rest[i], 1e-14);
    }
    for (int i = 0; i < 9; i++) {
      ASSERT_NEAR(gradient[i], same[i], 0.0);
    }
    sheet.data.last = x;
    evaluate(&sheet, NOLI_EVAL_PROJECTED, x, gradient, predicted);
    for (int i = 0; i < 81; i++) {
      ASSERT_NEAR(predicted[i], own[i], 1e-14);
    }
    sheet_end(&sheet);
  }
}

// However far a step turns a triangle, the matrix stays finite and has no negative eigenvalue.
static void predictions_stay_positive(void** state) {
  (void)state;
  static const double X[9] = {0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.2, 0.9, 0.0};
  TestRandom random = {7};
  for (int32_t k = 0; noli_membrane_at(k) != NULL; k++) {
    Sheet sheet;
    sheet_begin(&sheet, noli_membrane_at(k), X, NULL);
    for (int trial = 0; trial < 200; trial++) {
      double x[9], last[9], gradient[9], hessian[81], values[9], vectors[81], noise = 3.0;
      for (int i = 0; i < 9; i++) {
        x[i] = X[i] + test_random(&random, -0.5, 0.5);
        last[i] = x[i] + test_random(&random, -noise, noise);
      }
      sheet.data.last = last;
      evaluate(&sheet, NOLI_EVAL_PROJECTED, x, gradient, hessian);
      noli_eigen_symmetric(9, hessian, values, vectors);
      assert_true(isfinite(values[8]) && values[0] >= -1e-12 * values[8]);
    }
    sheet_end(&sheet);
  }
}

static void triangles_without_area_are_named(void** state) {
  (void)state;
  static const double X[12] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 2, 0, 0};
  static const int32_t tri[6] = {0, 1, 2, 0, 1, 3};
  NoliContext* context = test_context(1);
  NoliTriangles triangles;
  static const double none[3];
  ASSERT_OK(noli_triangles_allocate(context, 2, tri, &triangles));
  ASSERT_STATUS(noli_triangles_set_rest(context, &triangles, 0, 2, X, none), NOLI_INVERTED_ELEMENT);
  assert_non_null(strstr(noli_context_message(context), "triangle 1 (nodes 0 1 3)"));
  noli_triangles_destroy(context, &triangles);
  test_context_done(&context);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(derivatives_of_every_law),
      cmocka_unit_test(derivatives_of_slivers),
      cmocka_unit_test(derivatives_of_the_limit),
      cmocka_unit_test(projections_are_nearest),
      cmocka_unit_test(small_strains_are_plane_stress),
      cmocka_unit_test(rest_shapes_are_at_rest),
      cmocka_unit_test(the_limit_bounds_steps),
      cmocka_unit_test(predictions_leave_out_the_stretch_of_turning),
      cmocka_unit_test(predictions_stay_positive),
      cmocka_unit_test(triangles_without_area_are_named),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
