#include "contact/gcp/gcp_mollifier.h"
#include "contact/gcp_cases.h"
#include "math/eigen.h"

enum { MOST_NODES = 64 };

// Gradient and Hessian of one pair over its stencil.
typedef struct Derivatives {
  int32_t n;
  double gradient[3 * MOST_NODES];
  double hessian[9 * MOST_NODES * MOST_NODES];
} Derivatives;

static NoliGcpStencil stencil_of(const GcpScene* scene, int64_t i) {
  const NoliGcpSet* set = &scene->set;
  return (NoliGcpStencil){.n_node = (int32_t)(set->first.data[i + 1] - set->first.data[i]),
                          .n_slot =
                              (int32_t)(set->first_slot.data[i + 1] - set->first_slot.data[i]),
                          .node = set->node.data + set->first.data[i],
                          .slot = set->slot.data + set->first_slot.data[i]};
}

static void derive(const GcpScene* scene, int64_t i, const double* x, bool with_hessian,
                   bool projected, Derivatives* out) {
  NoliGcpStencil stencil = stencil_of(scene, i);
  out->n = 3 * stencil.n_node;
  assert_in_range(stencil.n_node, 1, MOST_NODES);
  static double blocks[9 * MOST_NODES * (MOST_NODES + 1) / 2];
  double* memory =
      malloc((size_t)noli_gcp_scratch_size(stencil.n_node, stencil.n_slot) * sizeof *memory);
  const NoliGcpResult result = {
      .gradient = out->gradient, .hessian = with_hessian ? blocks : NULL, .projected = projected};
  noli_gcp_pair_derivatives(&scene->model, scene->set.pair.data[i], &stencil, x, memory, &result);
  free(memory);
  for (int32_t a = 0; a < stencil.n_node && with_hessian; a++) {
    for (int32_t b = a; b < stencil.n_node; b++) {
      const double* block = blocks + 9 * noli_stencil_block(stencil.n_node, a, b);
      for (int e = 0; e < 9; e++) {
        int32_t row = 3 * a + e / 3, column = 3 * b + e % 3;
        out->hessian[row * out->n + column] = out->hessian[column * out->n + row] = block[e];
      }
    }
  }
}

static double largest(const double* a, int32_t n) {
  double most = 0.0;
  for (int32_t i = 0; i < n; i++) {
    most = noli_larger(most, fabs(a[i]));
  }
  return most;
}

// Errors against central differences, relative to the largest entries; the best of two steps.
static void check_pair(const GcpScene* scene, int64_t i, double* x, double step,
                       double tol_gradient, double tol_hessian) {
  static Derivatives exact, plus, minus;
  NoliGcpPair pair = scene->set.pair.data[i];
  NoliGcpStencil stencil = stencil_of(scene, i);
  derive(scene, i, x, true, false, &exact);
  double scale_gradient = largest(exact.gradient, exact.n);
  double scale_hessian = largest(exact.hessian, exact.n * exact.n);
  assert_true(scale_gradient > 0.0);
  double best[2] = {(double)INFINITY, (double)INFINITY};
  for (int k = 0; k < 3; k++, step *= 0.1) {
    double error[2] = {0.0, 0.0}, d;
    for (int32_t j = 0; j < exact.n; j++) {
      double* at = &x[3 * stencil.node[j / 3] + j % 3];
      double before = *at;
      *at = before + step;
      double above = noli_gcp_pair_value(&scene->model, pair, x, &d);
      derive(scene, i, x, false, false, &plus);
      *at = before - step;
      double below = noli_gcp_pair_value(&scene->model, pair, x, &d);
      derive(scene, i, x, false, false, &minus);
      *at = before;
      error[0] = noli_larger(error[0], fabs((above - below) / (2.0 * step) - exact.gradient[j]));
      for (int32_t r = 0; r < exact.n; r++) {
        double want = (plus.gradient[r] - minus.gradient[r]) / (2.0 * step);
        error[1] = noli_larger(error[1], fabs(want - exact.hessian[r * exact.n + j]));
      }
    }
    best[0] = noli_smaller(best[0], error[0]);
    best[1] = noli_smaller(best[1], error[1]);
  }
  ASSERT_AT_MOST(best[0], tol_gradient * scale_gradient);
  ASSERT_AT_MOST(best[1], tol_hessian * scale_hessian);
}

// Forces and torques of a pair cancel; planes do not move, so they are left out.
static void check_balance(const GcpScene* scene, int64_t i, const double* x) {
  static Derivatives exact;
  NoliGcpStencil stencil = stencil_of(scene, i);
  derive(scene, i, x, false, false, &exact);
  NoliVec3 force = {0.0, 0.0, 0.0}, torque = {0.0, 0.0, 0.0};
  double scale = 0.0;
  for (int32_t k = 0; k < stencil.n_node; k++) {
    NoliVec3 g = noli_load3(exact.gradient + 3 * k), p = noli_load3(x + 3 * stencil.node[k]);
    force = noli_add3(force, g);
    torque = noli_add3(torque, noli_cross3(p, g));
    scale += noli_norm3(g);
  }
  ASSERT_AT_MOST(noli_norm3(force), 1e-9 * scale);
  ASSERT_AT_MOST(noli_norm3(torque), 1e-8 * scale);
}

// H+ equals the full H with clamped eigenvalues; and v' H+ v >= max(0, v' H v) for random v.
static void check_projection(const GcpScene* scene, int64_t i, const double* x,
                             TestRandom* random) {
  static Derivatives plain, projected;
  derive(scene, i, x, true, false, &plain);
  derive(scene, i, x, true, true, &projected);
  double scale =
      largest(projected.hessian, plain.n * plain.n) + largest(plain.hessian, plain.n * plain.n);
  static double twin[9 * MOST_NODES * MOST_NODES];
  double* scratch = malloc((size_t)noli_project_psd_scratch(plain.n) * sizeof *scratch);
  memcpy(twin, plain.hessian, (size_t)(plain.n * plain.n) * sizeof *twin);
  noli_project_psd_large(plain.n, twin, scratch);
  free(scratch);
  for (int32_t r = 0; r < plain.n * plain.n; r++) {
    ASSERT_NEAR(projected.hessian[r], twin[r], 1e-13 * scale);
  }
  for (int k = 0; k < 3; k++) {
    double form[2] = {0.0, 0.0}, v[3 * MOST_NODES];
    for (int32_t j = 0; j < plain.n; j++) {
      v[j] = test_random(random, -1.0, 1.0);
    }
    for (int32_t r = 0; r < plain.n * plain.n; r++) {
      form[0] += v[r / plain.n] * plain.hessian[r] * v[r % plain.n];
      form[1] += v[r / plain.n] * projected.hessian[r] * v[r % plain.n];
    }
    ASSERT_AT_LEAST(form[1], fmax(0.0, form[0]) - 1e-11 * scale);
  }
}

// Two rough balls separated by a gap, and a plane below: pairs of all kinds.
static GcpScene* rough_scene(NoliContext* context, TestRandom* random, double alpha,
                             const NoliHalfSpace* plane) {
  NoliMesh* mesh =
      gcp_append(context, NULL, gcp_rough_ball(context, random, 1.0, 4, 0.08), 0, 0, 0);
  gcp_rotate(random, mesh->n_vert, mesh->x);
  double gap = test_random(random, 0.1, 0.35);
  mesh = gcp_append(context, mesh, gcp_rough_ball(context, random, 1.0, 4, 0.08), 0.1, 0.05,
                    2.0 + gap);
  NoliGcpParameters parameters = gcp_parameters(0.8, alpha);
  return gcp_scene(context, mesh, mesh->n_vert, &parameters, plane, 1);
}

static const double alphas[4] = {0.3, 0.5, 0.8, 1.0};

// Every active pair of many random scenes, of every kind, at each alpha.
static void derivatives_of_every_kind_agree(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  TestRandom random = {2025};
  int64_t count[NOLI_GCP_KINDS] = {0};
  const NoliHalfSpace plane = {{0.0, -1.4, 0.0}, {0.0, 1.0, 0.0}};
  for (int k = 0; k < 12; k++) {
    GcpScene* scene = rough_scene(context, &random, alphas[k % 4], &plane);
    double* x = scene->mesh->x;
    gcp_build(scene, x, NULL);

    // pairs that act
    for (int64_t i = 0; i < scene->set.pair.count; i++) {
      NoliGcpPair pair = scene->set.pair.data[i];
      double d, value = noli_gcp_pair_value(&scene->model, pair, x, &d);
      // tails of splines: differences are zero there
      if (value < 1e-9 || count[pair.kind] >= 40) {
        continue;
      }
      count[pair.kind]++;
      check_pair(scene, i, x, 1e-4, 2e-5, 2e-4);
      if (pair.kind != NOLI_GCP_VERTEX_PLANE) {
        check_balance(scene, i, x);
      }
      check_projection(scene, i, x, &random);
    }
    gcp_scene_done(&scene);
  }

  // enough of every kind
  for (int k = 0; k < NOLI_GCP_KINDS; k++) {
    print_message("kind %d: %lld pairs checked\n", k, (long long)count[k]);
    assert_true(count[k] >= 10);
  }
  test_context_done(&context);
}

// Gradient of all pairs at x.
static void total_gradient(GcpScene* scene, const double* x, double* gradient) {
  gcp_build(scene, x, NULL);
  const NoliGcp gcp = {.model = &scene->model, .set = &scene->set, .scale = 1.0};
  double* local = malloc(sizeof *local * 3 * (size_t)(scene->set.node.count + 1));
  noli_gcp_evaluate(&gcp, x, 0, scene->set.pair.count, NOLI_EVAL_GRADIENT,
                    &(NoliLocal){.gradient = local});
  memset(gradient, 0, sizeof *gradient * 3 * (size_t)scene->mesh->n_vert);
  for (int64_t i = 0; i < 3 * scene->set.node.count; i++) {
    gradient[3 * scene->set.node.data[i / 3] + i % 3] += local[i];
  }
  free(local);
}

// The largest change of the gradient between two of n steps along a straight path of one body over
// the other, relative to the largest entry.
static double largest_jump(GcpScene* scene, const double* from, int32_t n_first, NoliVec3 way,
                           int n) {
  int32_t n_value = 3 * scene->mesh->n_vert;
  double* x = malloc(sizeof *x * (size_t)n_value);
  double* gradient[2] = {malloc(sizeof *x * (size_t)n_value), malloc(sizeof *x * (size_t)n_value)};
  double jump = 0.0, scale = 0.0;
  memcpy(x, from, sizeof *x * (size_t)n_value);
  for (int k = 0; k <= n; k++) {
    for (int32_t v = n_first; v < scene->mesh->n_vert; v++) {
      noli_store3(x + 3 * v, noli_mul_add3(noli_load3(from + 3 * v), (double)k / n, way));
    }
    total_gradient(scene, x, gradient[k % 2]);
    scale = noli_larger(scale, largest(gradient[k % 2], n_value));
    for (int32_t i = 0; i < n_value && k > 0; i++) {
      jump = noli_larger(jump, fabs(gradient[0][i] - gradient[1][i]));
    }
  }
  free(x);
  free(gradient[0]);
  free(gradient[1]);
  return jump / scale;
}

// [Huang2025] requirement 5: as a ball slides over the faces, edges and vertices of another one and
// pairs take over from each other, the gradient has no jumps. Steps that are ten times shorter
// change it nearly ten times less; a jump would stay.
static void the_gradient_is_continuous(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  TestRandom random = {404};
  for (int k = 0; k < 2; k++) {
    NoliMesh* mesh =
        gcp_append(context, NULL, gcp_rough_ball(context, &random, 1.0, 3, 0.05), 0, 0, 0);
    int32_t n_first = mesh->n_vert;
    mesh =
        gcp_append(context, mesh, gcp_rough_ball(context, &random, 1.0, 3, 0.05), -0.15, -0.1, 2.2);
    NoliGcpParameters parameters = gcp_parameters(0.5, alphas[k + 1]);
    GcpScene* scene = gcp_scene(context, mesh, mesh->n_vert, &parameters, NULL, 0);
    NoliVec3 way = {0.3, 0.2, 0.02};
    double coarse = largest_jump(scene, mesh->x, n_first, way, 100);
    double fine = largest_jump(scene, mesh->x, n_first, way, 1000);
    print_message("alpha %.1f: largest change of the gradient %.2e in 100 steps, %.2e in 1000\n",
                  parameters.sharpness.alpha, coarse, fine);
    ASSERT_AT_MOST(fine, 0.2 * coarse);
    gcp_scene_done(&scene);
  }
  test_context_done(&context);
}

// Pairs whose closest points are just inside their elements, where M is small and steep: rough
// balls slid until such pairs appear.
static void derivatives_agree_where_pairs_hand_over(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  TestRandom random = {77};
  int64_t count[NOLI_GCP_KINDS] = {0};
  const NoliHalfSpace plane = {{0.0, -9.0, 0.0}, {0.0, 1.0, 0.0}};
  for (int k = 0; k < 8; k++) {
    GcpScene* scene = rough_scene(context, &random, alphas[k % 4], &plane);
    double* x = scene->mesh->x;
    gcp_build(scene, x, NULL);

    // pairs in the range of the mollifier
    for (int64_t i = 0; i < scene->set.pair.count; i++) {
      NoliGcpPair pair = scene->set.pair.data[i];
      static const NoliPairKind kinds[NOLI_GCP_KINDS] = {
          NOLI_PAIR_POINT_POINT, NOLI_PAIR_POINT_EDGE, NOLI_PAIR_POINT_TRIANGLE,
          NOLI_PAIR_EDGE_EDGE, NOLI_PAIR_POINT_POINT};
      int32_t vertex[4];
      NoliVec3 y[4];
      double d, value = noli_gcp_pair_value(&scene->model, pair, x, &d);
      for (int32_t j = 0, n = noli_gcp_pair_vertices(&scene->model, pair, vertex); j < n; j++) {
        y[j] = noli_load3(x + 3 * vertex[j]);
      }
      double m = noli_gcp_mollifier(kinds[pair.kind], y, d * d, 0.01);
      if (m < 1.0 && m > 1e-3 && value > 1e-9 && count[pair.kind] < 12) {
        count[pair.kind]++;
        check_pair(scene, i, x, 1e-5, 1e-4, 1e-3);
        check_balance(scene, i, x);
      }
    }
    gcp_scene_done(&scene);
  }

  // enough of every kind
  print_message("%lld vertex-edge, %lld vertex-face, %lld edge-edge pairs\n", (long long)count[1],
                (long long)count[2], (long long)count[3]);
  assert_true(count[1] > 0 && count[2] > 0 && count[3] > 0);
  test_context_done(&context);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(derivatives_of_every_kind_agree),
      cmocka_unit_test(derivatives_agree_where_pairs_hand_over),
      cmocka_unit_test(the_gradient_is_continuous),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
