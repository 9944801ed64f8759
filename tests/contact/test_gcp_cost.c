// Prints the cost of a pair of the geometric contact potential, and checks that the cheaper paths
// give the same results.
#include "contact/gcp_shapes.h"

#include "base/timer.h"

enum { MOST_PAIRS = 1500 };

// Microseconds of one of n pairs, the best of a few rounds.
static double cost(GcpScene* scene, const double* x, int64_t n, unsigned what,
                   const NoliLocal* out) {
  const NoliGcp gcp = {.model = &scene->model, .set = &scene->set, .scale = 1.0};
  double best = (double)INFINITY;
  for (int round = 0; round < 3; round++) {
    double start = noli_seconds();
    noli_gcp_evaluate(&gcp, x, 0, n, what, out);
    best = fmin(best, noli_seconds() - start);
  }
  return 1e6 * best / (double)n;
}

// Gradients computed without second derivatives have the same bits as those computed with them.
static void print_costs(GcpScene* scene, const double* x) {
  const NoliGcpSet* set = &scene->set;
  int64_t n = set->pair.count < MOST_PAIRS ? set->pair.count : MOST_PAIRS;
  size_t n_bytes = sizeof(double) * 3 * (size_t)set->first.data[n];
  assert_true(n > 100);
  NoliLocal out = {.energy = malloc(sizeof(double) * (size_t)n),
                   .gradient = malloc(n_bytes),
                   .hessian = malloc(sizeof(double) * 9 * (size_t)set->first_block.data[n])};
  double energy = cost(scene, x, n, NOLI_EVAL_ENERGY, &out);
  double gradient = cost(scene, x, n, NOLI_EVAL_GRADIENT, &out), *alone = malloc(n_bytes);
  memcpy(alone, out.gradient, n_bytes);
  double hessian = cost(scene, x, n, NOLI_EVAL_GRADIENT | NOLI_EVAL_HESSIAN, &out);
  assert_memory_equal(alone, out.gradient, n_bytes);
  double projected = cost(scene, x, n, NOLI_EVAL_GRADIENT | NOLI_EVAL_PROJECTED, &out);
  assert_memory_equal(alone, out.gradient, n_bytes);
  print_message("%lld pairs, %.1f nodes each; energy %.2f, gradient %.2f, Hessian %.2f, projected "
                "%.2f microseconds\n",
                (long long)n, (double)set->first.data[n] / (double)n, energy, gradient, hessian,
                projected);
  free(alone);
  free(out.energy);
  free(out.gradient);
  free(out.hessian);
}

static void costs_are_printed_and_gradients_agree(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  static const double eps[3] = {0.002, 0.008, 0.008}, alpha[3] = {0.5, 0.5, 1.0};
  double* x = NULL;
  NoliMesh* mesh = gcp_rolled_mat(context, &x);
  for (int k = 0; k < 3; k++) {
    NoliGcpParameters parameters = gcp_parameters(eps[k], alpha[k]);
    GcpScene* scene = gcp_scene(context, mesh, mesh->n_vert, &parameters, NULL, 0);
    NoliGcpSetup setup;
    ASSERT_OK(
        noli_gcp_adapt_support(context, &scene->model, scene->broad_phase, NULL, mesh->x, &setup));
    gcp_build(scene, x, NULL);
    print_message("eps %.3f, alpha %.1f: ", eps[k], alpha[k]);
    print_costs(scene, x);
    scene->mesh = NULL; // all share it
    gcp_scene_done(&scene);
  }
  noli_mesh_destroy(context, &mesh);
  free(x);
  test_context_done(&context);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(costs_are_printed_and_gradients_agree),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
