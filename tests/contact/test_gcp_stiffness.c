// Adaptation of the stiffness of the geometric contact potential to its pairs.
#include "contact/gcp_shapes.h"

#include "contact/gcp_curves.h"
#include "contact/gcp_stiffness.h"

// A pair of the set whose contact factors are large, or almost zero.
static int64_t find_pair(const GcpScene* scene, const double* x, double low, double high) {
  for (int64_t i = 0; i < scene->set.pair.count; i++) {
    double factor = noli_gcp_pair_factor(&scene->model, scene->set.pair.data[i], x);
    if (factor > low && factor < high) {
      return i;
    }
  }
  fail_msg("there is no pair with a factor between %g and %g", low, high);
  return 0;
}

// kappa after an iteration that was blocked while pair i alone was crushed.
static double after_crushing(GcpScene* scene, const double* x, int64_t i, double kappa) {
  const NoliStiffness stiffness = {
      .min = 1e-3 * kappa, .max = kappa, .limit = 1e9 * kappa, .close_d_sqr = 1e-30};
  double d = scene->set.d.data[i];
  scene->set.d.data[i] = 1e-3 * noli_gcp_pair_support(&scene->model, scene->set.pair.data[i]);
  double next = noli_gcp_stiffness_update(&stiffness, kappa, &scene->model, &scene->set,
                                          &scene->set, x, true);
  scene->set.d.data[i] = d;
  return next;
}

// The value of a pair is weight, factors and barrier.
static void factors_are_those_of_the_value(const GcpScene* scene, const double* x) {
  for (int64_t i = 0; i < scene->set.pair.count; i += 7) {
    NoliGcpPair pair = scene->set.pair.data[i];
    double d, value = noli_gcp_pair_value(&scene->model, pair, x, &d);
    double factor = noli_gcp_pair_factor(&scene->model, pair, x);
    double barrier = noli_gcp_barrier(d, noli_gcp_pair_support(&scene->model, pair), 3).value;
    assert_true(factor > 0.0 && factor <= 1.0);
    // the weight remains: positive, and at most the square of the largest element
    ASSERT_AT_LEAST(value / (factor * barrier), 1e-12);
    ASSERT_AT_MOST(value / (factor * barrier), 1e-3);
  }
}

// If a crushed pair pushes, kappa grows with the cube of the missing distance; if its factors
// vanish, more stiffness would have no effect.
static void pairs_on_the_border_ask_for_nothing(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  double* x = NULL;
  NoliMesh* mesh = gcp_rolled_mat(context, &x);
  NoliGcpParameters parameters = gcp_parameters(0.004, 0.5);
  GcpScene* scene = gcp_scene(context, mesh, mesh->n_vert, &parameters, NULL, 0);
  gcp_build(scene, x, NULL);
  factors_are_those_of_the_value(scene, x);
  int64_t acts = find_pair(scene, x, 0.9, 1.1), border = find_pair(scene, x, 0.0, 0.05);
  ASSERT_NEAR(after_crushing(scene, x, acts, 1.0), 1000.0, 1e-6);
  ASSERT_NEAR(after_crushing(scene, x, border, 1.0), 1.0, 0.0);
  gcp_scene_done(&scene);
  free(x);
  test_context_done(&context);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(pairs_on_the_border_ask_for_nothing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
