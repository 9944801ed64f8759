// Adaptation of the stiffness of the geometric contact potential to its pairs.
#include "contact/gcp_shapes.h"

#include "contact/gcp/gcp_curves.h"
#include "contact/gcp/gcp_stiffness.h"

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

// kappa = 1 after an iteration of which the part `alpha` was taken, while pair i alone was crushed
// and its distance grew by the factor `opened`.
static double after_opening(GcpScene* scene, const double* x, int64_t i, double alpha,
                            double opened) {
  const NoliStiffness stiffness = {.min = 1e-3, .max = 1.0, .limit = 1e9, .close_d_sqr = 1e-30};
  double d = 1e-3 * noli_gcp_pair_support(&scene->model, scene->set.pair.data[i]);
  double usual = scene->set.d.data[i];
  size_t size = sizeof *scene->set.d.data * (size_t)scene->set.d.count;
  NoliGcpSet before = scene->set; // other distances of the same pairs
  before.d.data = malloc(size);
  memcpy(before.d.data, scene->set.d.data, size);
  before.d.data[i] = d / opened;
  scene->set.d.data[i] = d;
  double next =
      noli_gcp_stiffness_update(&stiffness, 1.0, &scene->model, &before, &scene->set, x, alpha);
  scene->set.d.data[i] = usual;
  free(before.d.data);
  return next;
}

static double after_crushing(GcpScene* scene, const double* x, int64_t i) {
  return after_opening(scene, x, i, 0.4, 1.0);
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
  ASSERT_NEAR(after_crushing(scene, x, acts), 1000.0, 1e-6);
  ASSERT_NEAR(after_crushing(scene, x, border), 1.0, 0.0);

  // only in steps that are cut, and unless a whole step would open the pair
  ASSERT_NEAR(after_opening(scene, x, acts, 1.0, 1.0), 1.0, 0.0);
  ASSERT_NEAR(after_opening(scene, x, acts, 0.4, 1.03), 1000.0, 1e-6);
  ASSERT_NEAR(after_opening(scene, x, acts, 0.4, 1.05), 1.0, 0.0);
  ASSERT_NEAR(after_opening(scene, x, acts, 0.05, 1.03), 1.0, 0.0);
  ASSERT_NEAR(after_opening(scene, x, acts, 0.05, 1.003), 1000.0, 1e-6);
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
