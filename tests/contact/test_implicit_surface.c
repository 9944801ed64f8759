#include "support.h"

#include "contact/implicit_surface/implicit_surface.h"
#include "linalg/energy_term.h"

// Two triangles with a common edge, and a vertex above: 15 numbers.
static const int32_t pair_tri[6] = {1, 2, 3, 3, 2, 4};
static const int32_t pair_triangle[2] = {0, 1};

enum { NODES = 5, BLOCKS = 15 };

static NoliPatch pair_patch(const double* x, double radius) {
  // nodes of the patch are the vertices
  return (NoliPatch){.x = x,
                     .point = 0,
                     .radius = radius,
                     .n_triangle = 2,
                     .triangle = pair_triangle,
                     .tri = pair_tri,
                     .corner = pair_tri};
}

static void random_pair(TestRandom* random, double x[15]) {
  static const double flat[15] = {0.4, 0.3, 0.3, 0, 0, 0, 1, 0, 0, 0, 1, 0, 1, 1, 0};
  for (int i = 0; i < 15; i++) {
    x[i] = flat[i] + test_random(random, -0.25, 0.25);
  }
}

static void blocks_to_dense(const double* blocks, double* dense) {
  for (int32_t a = 0; a < NODES; a++) {
    for (int32_t b = a; b < NODES; b++) {
      const double* block = blocks + 9 * noli_stencil_block(NODES, a, b);
      for (int32_t r = 0; r < 3; r++) {
        for (int32_t c = 0; c < 3; c++) {
          dense[(3 * a + r) * 3 * NODES + 3 * b + c] = block[3 * r + c];
          dense[(3 * b + c) * 3 * NODES + 3 * a + r] = block[3 * r + c];
        }
      }
    }
  }
}

// user[0]: radius, user[1]: delta of the penalty, 0: d itself.
static double pair_function(void* user, const double* x, double* gradient, double* hessian) {
  const double* parameter = user;
  NoliPatch patch = pair_patch(x, parameter[0]);
  NoliPatchValue value = noli_patch_value(&patch);
  NoliPenalty b = {value.d, 1.0, 0.0};
  if (parameter[1] > 0.0) {
    b = noli_penalty(value.d, parameter[1], 3.0);
  }
  noli_patch_gradient(&patch, &value, b.first, NODES, gradient);
  if (hessian != NULL) {
    double blocks[9 * BLOCKS];
    noli_patch_hessian(&patch, &value, b.first, b.second, false, NODES, blocks);
    blocks_to_dense(blocks, hessian);
  }
  return b.value;
}

static void derivatives_agree_with_differences(void** state) {
  (void)state;
  TestRandom random = {31};
  for (int i = 0; i < 200; i++) {
    double x[15], parameter[2] = {test_random(&random, 1.2, 3.0), i % 2 == 0 ? 0.0 : 0.8};
    random_pair(&random, x);
    test_derivatives(pair_function, parameter, 15, x, 1.0, 1e-7, 1e-6);
  }
}

static void derivatives_by_the_point_are_those_of_all_nodes(void** state) {
  (void)state;
  TestRandom random = {32};
  for (int i = 0; i < 100; i++) {
    double x[15], gradient[15], blocks[9 * BLOCKS];
    random_pair(&random, x);
    NoliPatch patch = pair_patch(x, 1.5);
    NoliPatchValue value = noli_patch_value(&patch);
    noli_patch_gradient(&patch, &value, 1.0, NODES, gradient);
    ASSERT_NEAR(gradient[0], value.gradient.x, 1e-14);
    ASSERT_NEAR(gradient[1], value.gradient.y, 1e-14);
    ASSERT_NEAR(gradient[2], value.gradient.z, 1e-14);
    NoliMat3 by_point = noli_patch_hessian_point(&patch, &value);
    noli_patch_hessian(&patch, &value, 1.0, 0.0, false, NODES, blocks);
    for (int k = 0; k < 9; k++) {
      ASSERT_NEAR(blocks[k], by_point.m[k / 3][k % 3], 1e-12);
    }
  }
}

// Forces and moments of the gradient cancel; weights sum to zero.
static void momentum_is_conserved(void** state) {
  (void)state;
  TestRandom random = {33};
  for (int i = 0; i < 100; i++) {
    double x[15], gradient[15], weight[NODES], sum = 0.0;
    random_pair(&random, x);
    NoliPatch patch = pair_patch(x, 1.5);
    NoliPatchValue value = noli_patch_value(&patch);
    noli_patch_gradient(&patch, &value, 1.0, NODES, gradient);
    noli_patch_weights(&patch, &value, NODES, weight);
    NoliVec3 force = {0.0, 0.0, 0.0}, moment = {0.0, 0.0, 0.0};
    for (int a = 0; a < NODES; a++) {
      NoliVec3 g = noli_load3(gradient + 3 * a);
      force = noli_add3(force, g);
      moment = noli_add3(moment, noli_cross3(noli_load3(x + 3 * a), g));
      sum += weight[a];
    }
    ASSERT_AT_MOST(noli_norm3(force), 1e-14);
    ASSERT_AT_MOST(noli_norm3(moment), 1e-13);
    ASSERT_NEAR(sum, 0.0, 1e-15);
  }
}

static void projection_is_semidefinite_and_keeps_the_point(void** state) {
  (void)state;
  TestRandom random = {34};
  for (int i = 0; i < 100; i++) {
    double x[15], blocks[9 * BLOCKS], exact[9 * BLOCKS], dense[225];
    random_pair(&random, x);
    NoliPatch patch = pair_patch(x, 1.5);
    NoliPatchValue value = noli_patch_value(&patch);
    noli_patch_hessian(&patch, &value, -0.7, 0.4, true, NODES, blocks);
    blocks_to_dense(blocks, dense);
    for (int trial = 0; trial < 50; trial++) {
      double y[15], form = 0.0;
      for (int k = 0; k < 15; k++) {
        y[k] = test_random(&random, -1.0, 1.0);
      }
      for (int r = 0; r < 15; r++) {
        for (int c = 0; c < 15; c++) {
          form += y[r] * dense[15 * r + c] * y[c];
        }
      }
      ASSERT_AT_LEAST(form, -1e-12);
    }
    // where p's own curvature is not negative, its block is the exact one
    noli_patch_hessian(&patch, &value, 0.0, 0.4, true, NODES, blocks);
    noli_patch_hessian(&patch, &value, 0.0, 0.4, false, NODES, exact);
    for (int k = 0; k < 9 * BLOCKS; k++) {
      ASSERT_NEAR(blocks[k], exact[k], 1e-13);
    }
  }
}

// A flat sheet of n x n squares, each cut in two: d is exact for any p.
static void a_plane_is_exact(void** state) {
  (void)state;
  enum { N = 5, VERTICES = (N + 1) * (N + 1), TRIANGLES = 2 * N * N };
  TestRandom random = {35};
  double x[3 * (VERTICES + 1)];
  int32_t tri[3 * TRIANGLES], triangle[TRIANGLES];

  // a tilted sheet
  NoliVec3 normal = noli_normalize3(noli_vec3(0.3, 0.8, -0.5)), t[2];
  t[0] = noli_normalize3(noli_cross3(normal, noli_vec3(1.0, 0.0, 0.0)));
  t[1] = noli_cross3(normal, t[0]);
  for (int i = 0; i < VERTICES; i++) {
    double a = i % (N + 1) + test_random(&random, -0.3, 0.3);
    double b = (double)(i / (N + 1)) + test_random(&random, -0.3, 0.3);
    NoliVec3 at = noli_add3(noli_scale3(a, t[0]), noli_scale3(b, t[1]));
    noli_store3(x + 3 * (i + 1), noli_mul_add3(at, 7.0, normal));
  }

  // two triangles for each square
  for (int q = 0; q < N * N; q++) {
    int32_t corner = 1 + q % N + (N + 1) * (q / N);
    const int32_t square[6] = {corner,     corner + 1,     corner + N + 1,
                               corner + 1, corner + N + 2, corner + N + 1};
    memcpy(tri + 6 * q, square, sizeof square);
    triangle[2 * q] = 2 * q;
    triangle[2 * q + 1] = 2 * q + 1;
  }

  // a random point
  for (int i = 0; i < 100; i++) {
    double height = test_random(&random, -0.9, 0.9), a = test_random(&random, 1.0, N - 1.0),
           b = test_random(&random, 1.0, N - 1.0);
    NoliVec3 at = noli_add3(noli_scale3(a, t[0]), noli_scale3(b, t[1]));
    noli_store3(x, noli_mul_add3(at, 7.0 + height, normal));
    NoliPatch patch = {
        .x = x, .radius = 2.0, .n_triangle = TRIANGLES, .triangle = triangle, .tri = tri};
    NoliPatchValue value = noli_patch_value(&patch);
    ASSERT_NEAR(value.d, height, 1e-13);
    ASSERT_NEAR(noli_norm3(noli_sub3(value.gradient, normal)), 0.0, 1e-12);
    NoliMat3 curvature = noli_patch_hessian_point(&patch, &value);
    ASSERT_AT_MOST(sqrt(noli_norm_sqr33(&curvature)), 1e-11);
  }
}

// A sphere of radius 1 by longitude and latitude halves: the octahedron's faces cut n times a side.
static int32_t make_sphere(int32_t n, double* x, int32_t* tri) {
  int32_t n_tri = 0, n_vert = 1;
  for (int32_t face = 0; face < 8; face++) {
    double sign[3] = {face & 1 ? -1.0 : 1.0, face & 2 ? -1.0 : 1.0, face & 4 ? -1.0 : 1.0};
    bool flip = sign[0] * sign[1] * sign[2] < 0.0;
    int32_t base = n_vert;

    // vertices of this face only: those on its rim occur twice, which d allows
    for (int32_t i = 0; i <= n; i++) {
      for (int32_t j = 0; j <= n - i; j++) {
        NoliVec3 at = noli_normalize3(noli_vec3(sign[0] * i, sign[1] * j, sign[2] * (n - i - j)));
        noli_store3(x + 3 * n_vert++, at);
      }
    }

    // triangles, oriented outward
    for (int32_t i = 0; i < n; i++) {
      int32_t row = base + i * (n + 1) - i * (i - 1) / 2, next = row + n + 1 - i;
      for (int32_t j = 0; j < n - i; j++) {
        const int32_t first[3] = {row + j, next + j, row + j + 1};
        const int32_t second[3] = {next + j, next + j + 1, row + j + 1};
        for (int32_t k = 0; k < 3; k++) {
          tri[3 * n_tri + k] = first[flip ? 2 - k : k];
        }
        n_tri++;
        for (int32_t k = 0; j < n - i - 1 && k < 3; k++) {
          tri[3 * n_tri + k] = second[flip ? 2 - k : k];
        }
        n_tri += j < n - i - 1 ? 1 : 0;
      }
    }
  }
  return n_tri;
}

// Largest |d - (|p| - 1)| and largest angle of the gradient over random p close to the sphere.
static void sphere_errors(int32_t n, double* error, double* tilt) {
  enum { ROOM = 8 * 33 * 34 };
  double* x = malloc(sizeof *x * 3 * ROOM);
  int32_t* tri = malloc(sizeof *tri * 3 * ROOM);
  int32_t* triangle = malloc(sizeof *triangle * ROOM);
  int32_t n_tri = make_sphere(n, x, tri);
  for (int32_t i = 0; i < n_tri; i++) {
    triangle[i] = i;
  }
  TestRandom random = {36};
  *error = *tilt = 0.0;
  for (int i = 0; i < 40; i++) {
    NoliVec3 way =
        noli_normalize3(noli_vec3(test_random(&random, -1.0, 1.0), test_random(&random, -1.0, 1.0),
                                  test_random(&random, -1.0, 1.0)));
    double height = test_random(&random, -0.3, 0.3) / n;
    noli_store3(x, noli_scale3(1.0 + height, way));
    NoliPatch patch = {
        .x = x, .radius = 3.0 / n, .n_triangle = n_tri, .triangle = triangle, .tri = tri};
    NoliPatchValue value = noli_patch_value(&patch);
    *error = noli_larger(*error, fabs(value.d - height));
    NoliVec3 normal = noli_normalize3(value.gradient);
    *tilt = noli_larger(*tilt, noli_norm3(noli_cross3(normal, way)));
  }
  free(x);
  free(tri);
  free(triangle);
}

static void a_sphere_converges_with_second_order(void** state) {
  (void)state;
  double error[3], tilt[3];
  for (int k = 0; k < 3; k++) {
    sphere_errors(8 << k, &error[k], &tilt[k]);
    print_message("n %2d: largest error of d %.3e r, of the normal %.3e rad\n", 8 << k, error[k],
                  tilt[k]);
  }
  for (int k = 0; k < 2; k++) {
    double order = log2(error[k] / error[k + 1]);
    print_message("order of d %.2f, of the normal %.2f\n", order, log2(tilt[k] / tilt[k + 1]));
    ASSERT_AT_LEAST(order, 1.8);
    ASSERT_AT_LEAST(log2(tilt[k] / tilt[k + 1]), 0.8);
  }
}

static void degenerate_triangles_do_not_count(void** state) {
  (void)state;
  // a third triangle without area: on a line, then in a point
  double x[24] = {0.4, 0.3, 0.2, 0,   0,   0,   1,   0,   0,   0,  1,
                  0,   1,   1,   0.2, 0.2, 0.2, 0.1, 0.4, 0.4, 0.1};
  int32_t tri[9] = {1, 2, 3, 3, 2, 4, 5, 6, 7}, triangle[3] = {0, 1, 2};
  NoliPatch two = pair_patch(x, 1.5);
  NoliPatch three = two;
  three.tri = tri;
  three.corner = tri;
  three.triangle = triangle;
  three.n_triangle = 3;

  // values and derivatives
  for (int k = 0; k < 2; k++) {
    for (int i = 0; i < 3; i++) {
      x[21 + i] = k == 0 ? 0.5 * (x[15 + i] + x[18 + i]) : x[15 + i];
      x[18 + i] = k == 0 ? x[18 + i] : x[15 + i];
    }
    NoliPatchValue a = noli_patch_value(&two), b = noli_patch_value(&three);
    assert_true(a.d == b.d && a.sum == b.sum);
    double gradient[24], blocks[9 * 36];
    noli_patch_gradient(&three, &b, 1.0, 8, gradient);
    noli_patch_hessian(&three, &b, -1.0, 1.0, false, 8, blocks);
    for (int i = 0; i < 24; i++) {
      assert_true(isfinite(gradient[i]));
      assert_true(i < 15 || gradient[i] == 0.0);
    }
    for (int i = 0; i < 9 * 36; i++) {
      assert_true(isfinite(blocks[i]));
    }
  }

  // p on a vertex and on a centroid: nothing special
  memcpy(x, x + 3, 3 * sizeof *x);
  NoliPatchValue value = noli_patch_value(&two);
  assert_true(isfinite(value.d) && noli_is_finite3(value.gradient));
  for (int i = 0; i < 3; i++) {
    x[i] = (x[3 + i] + x[6 + i] + x[9 + i]) / 3.0;
  }
  value = noli_patch_value(&two);
  assert_true(isfinite(value.d) && noli_is_finite3(value.gradient));

  // nothing in range
  x[2] += 10.0;
  value = noli_patch_value(&two);
  assert_true(value.sum == 0.0);

  // alone without area
  two.triangle = &triangle[2];
  two.tri = tri;
  two.n_triangle = 1;
  memcpy(x, x + 15, 3 * sizeof *x);
  value = noli_patch_value(&two);
  assert_true(value.sum == 0.0);
}

static double penalty_function(void* user, const double* x, double* gradient, double* hessian) {
  const double* delta = user;
  NoliPenalty b = noli_penalty(x[0], *delta, 5.0);
  gradient[0] = b.first;
  if (hessian != NULL) {
    hessian[0] = b.second;
  }
  return b.value;
}

static void penalty_is_the_cubic_of_the_paper(void** state) {
  (void)state;
  double delta = 0.2;
  for (double d = -0.5; d < 0.19; d += 0.03) {
    test_derivatives(penalty_function, &delta, 1, &d, 0.1, 1e-8, 1e-7);
    ASSERT_NEAR(noli_penalty(d, delta, 5.0).value, -5.0 / delta * pow(d - delta, 3.0), 1e-12);
  }
  NoliPenalty beyond = noli_penalty(0.2, delta, 5.0);
  assert_true(beyond.value == 0.0 && beyond.first == 0.0 && beyond.second == 0.0);
  assert_true(isnan(noli_penalty((double)NAN, delta, 5.0).value));
  // section IV-D: b'(deepest) / b'(delta / 2)
  double ratio = noli_penalty(-0.1, delta, 1.0).first / noli_penalty(0.1, delta, 1.0).first;
  ASSERT_NEAR(ratio, 9.0, 1e-12);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(derivatives_agree_with_differences),
      cmocka_unit_test(derivatives_by_the_point_are_those_of_all_nodes),
      cmocka_unit_test(momentum_is_conserved),
      cmocka_unit_test(projection_is_semidefinite_and_keeps_the_point),
      cmocka_unit_test(a_plane_is_exact),
      cmocka_unit_test(a_sphere_converges_with_second_order),
      cmocka_unit_test(degenerate_triangles_do_not_count),
      cmocka_unit_test(penalty_is_the_cubic_of_the_paper),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
