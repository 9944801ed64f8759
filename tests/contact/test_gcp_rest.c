// The potential exerts no force at rest for any support, unlike the barrier of [Li2020].
#include "contact/gcp_shapes.h"

#include "noli/gcp.h"

static double largest(const double* a, int64_t n) {
  double most = 0.0;
  for (int64_t i = 0; i < n; i++) {
    most = !(fabs(a[i]) <= most) ? fabs(a[i]) : most;
  }
  return most;
}

// The pairs and the largest force of the barrier of [Li2020], with the stiffness that makes its
// second derivative at half its range that of the potential here: 1 / range^2.
static void ipc_at_rest(NoliContext* context, const NoliMesh* mesh, double eps, int64_t* pairs,
                        double* force) {
  NoliBarrierPotential* ipc = NULL;
  double* gradient = malloc(sizeof *gradient * 3 * (size_t)mesh->n_vert);
  ASSERT_OK(noli_barrier_potential_create(context, mesh->x, mesh->n_vert, mesh->tri, mesh->n_tri,
                                          eps, &ipc));
  ASSERT_OK(noli_barrier_potential_update(ipc, mesh->x));
  noli_barrier_potential_gradient(ipc, gradient);
  *pairs = noli_barrier_potential_pairs(ipc);
  *force = largest(gradient, 3 * (int64_t)mesh->n_vert) / (eps * eps * eps);
  noli_barrier_potential_destroy(&ipc);
  free(gradient);
}

static void expect_nothing(NoliGcpPotential* potential, const double* x, int32_t n_vert) {
  double* gradient = malloc(sizeof *gradient * 3 * (size_t)n_vert);
  int64_t n = -1;
  ASSERT_OK(noli_gcp_potential_update(potential, x));
  noli_gcp_potential_pairs(potential, &n);
  assert_int_equal(n, 0);
  assert_true(noli_gcp_potential_value(potential) == 0.0);
  ASSERT_OK(noli_gcp_potential_gradient(potential, gradient));
  assert_true(largest(gradient, 3 * (int64_t)n_vert) == 0.0);
  assert_true(noli_gcp_potential_min_distance(potential) == (double)INFINITY);
  free(gradient);
}

// At several eps_target and alpha, at rest and turned. Takes the mesh over.
static void nothing_acts(const char* name, NoliContext* context, NoliMesh* mesh) {
  static const double share[4] = {0.1, 0.5, 1.0, 2.0}, alpha[4] = {0.1, 0.5, 0.8, 1.0};
  double edge = gcp_mean_edge(mesh);
  int64_t ipc_pairs[4];
  double ipc_force[4];
  double* x = malloc(sizeof *x * 3 * (size_t)mesh->n_vert);
  TestRandom random = {12};

  // each support and alpha
  for (int k = 0; k < 4; k++) {
    NoliGcpDef def = noli_default_gcp_def();
    NoliGcpPotential* potential = NULL;
    def.eps_target = share[k] * edge;
    def.alpha = alpha[(k + 2) % 4];
    ASSERT_OK(noli_gcp_potential_create(context, &def, mesh->x, mesh->n_vert, mesh->tri,
                                        mesh->n_tri, &potential));
    expect_nothing(potential, mesh->x, mesh->n_vert);
    memcpy(x, mesh->x, sizeof *x * 3 * (size_t)mesh->n_vert);
    gcp_rotate(&random, mesh->n_vert, x);
    expect_nothing(potential, x, mesh->n_vert);

    // the barrier would act
    ipc_at_rest(context, mesh, def.eps_target, &ipc_pairs[k], &ipc_force[k]);
    NoliGcpSupport s = noli_gcp_potential_support(potential);
    print_message("%-10s eps %.4f (%.1f edges) alpha %.1f: 0 pairs, smallest eps %.2e, %lld of %d "
                  "vertices reduced, %lld candidates, %.3f s | ipc %lld pairs, force %.2e\n",
                  name, def.eps_target, share[k], def.alpha, s.min_eps, (long long)s.n_reduced,
                  mesh->n_vert, (long long)s.n_candidates, s.seconds, (long long)ipc_pairs[k],
                  ipc_force[k]);
    noli_gcp_potential_destroy(&potential);
  }

  // the comparison is not trivial
  assert_true(ipc_pairs[3] > 0 && ipc_force[3] > 0.0);
  free(x);
  noli_mesh_destroy(context, &mesh);
}

static void generated_shapes_are_at_rest(void** state) {
  (void)state;
  NoliContext* context = test_context(2);
  NoliMesh* sphere = NULL;
  ASSERT_OK(noli_mesh_make_sphere(context, 1.0, 12, true, &sphere));
  nothing_acts("sphere", context, sphere);
  nothing_acts("slit block", context, gcp_slit_block(context));
  nothing_acts("two cubes", context, gcp_two_cubes(context));
  nothing_acts("squircle", context, gcp_squircle(context));
  test_context_done(&context);
}

static void public_shape_is_at_rest(const char* name, const char* file) {
  NoliContext* context = test_context(2);
  NoliMesh* mesh = gcp_public(context, file);
  if (mesh != NULL) {
    nothing_acts(name, context, mesh);
  }
  test_context_done(&context);
  if (mesh == NULL) {
    skip();
  }
}

static void the_bunny_is_at_rest(void** state) {
  (void)state;
  public_shape_is_at_rest("bunny", "ipc/input/tetMeshes/bunny.msh");
}

static void the_armadillo_is_at_rest(void** state) {
  (void)state;
  public_shape_is_at_rest("armadillo", "ipc/input/tetMeshes/Armadillo13K.msh");
}

// The supports of the slit are half its width, others are eps_target.
static void supports_adapt_where_needed(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  NoliMesh* mesh = gcp_slit_block(context);
  NoliGcpPotential* potential = NULL;
  NoliGcpDef def = noli_default_gcp_def();
  def.eps_target = 0.0125;
  ASSERT_OK(noli_gcp_potential_create(context, &def, mesh->x, mesh->n_vert, mesh->tri, mesh->n_tri,
                                      &potential));
  const double* eps = noli_gcp_potential_eps(potential);
  for (int32_t v = 0; v < mesh->n_vert; v++) {
    const double* x = mesh->x + 3 * v;
    bool in_slit = fabs(x[0]) < 0.01 && x[1] > 0.5;
    ASSERT_NEAR(eps[v], in_slit ? 0.005 : fabs(x[0]) < 0.01 && x[1] > 0.2 ? eps[v] : 0.0125, 1e-12);
  }
  NoliGcpSupport support = noli_gcp_potential_support(potential);
  assert_true(support.n_active > 0 && support.n_candidates > 0 && support.seconds > 0.0);
  ASSERT_NEAR(support.min_eps, 0.005, 1e-12);
  noli_gcp_potential_destroy(&potential);
  noli_mesh_destroy(context, &mesh);
  test_context_done(&context);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(generated_shapes_are_at_rest),
      cmocka_unit_test(supports_adapt_where_needed),
      cmocka_unit_test(the_bunny_is_at_rest),
      cmocka_unit_test(the_armadillo_is_at_rest),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
