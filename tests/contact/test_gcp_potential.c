// The geometric contact potential as users of the toolkit see it.
#include "contact/gcp_shapes.h"

#include "contact/contact_set.h"
#include "noli/gcp.h"

// Two boxes that were apart, with the upper one turned and pressed close to the lower one.
static NoliMesh* close_boxes(NoliContext* context, double* X) {
  NoliMesh *lower = NULL, *upper = NULL;
  const double size[3] = {1.0, 0.6, 1.0};
  ASSERT_OK(noli_mesh_make_box(context, size, (int32_t[]){2, 1, 2}, true, &lower));
  ASSERT_OK(noli_mesh_make_box(context, size, (int32_t[]){1, 1, 2}, true, &upper));
  int32_t n_lower = lower->n_vert;
  noli_mesh_transform(upper, (double[]){1, 1, 1}, (double[]){8, 35, 4}, (double[]){0, 0, 0});
  NoliMesh* mesh = gcp_append(context, NULL, lower, 0, 0, 0);
  mesh = gcp_append(context, mesh, upper, 0.2, 0.78, 0.1);
  memcpy(X, mesh->x, sizeof *X * 3 * (size_t)mesh->n_vert);
  for (int32_t v = n_lower; v < mesh->n_vert; v++) {
    X[3 * v + 1] += 1.0;
  }
  return mesh;
}

enum { MOST = 200 };

typedef struct Case {
  NoliContext* context;
  NoliMesh* mesh;
  double X[3 * MOST];
  NoliGcpPotential* potential;
} Case;

static const double half_space[6] = {0.0, -0.36, 0.0, 0.0, 1.0, 0.0};

static void set_up(Case* c, int32_t n_threads, double alpha) {
  NoliGcpDef def = noli_default_gcp_def();
  def.eps_target = 0.25;
  def.alpha = alpha;
  def.half_spaces = half_space;
  def.n_half_spaces = 1;
  c->context = test_context(n_threads);
  c->mesh = close_boxes(c->context, c->X);
  // the half-space was farther away, too
  for (int32_t v = 0; v < c->mesh->n_vert; v++) {
    c->X[3 * v + 1] += 1.0;
  }
  ASSERT_OK(noli_gcp_potential_create(c->context, &def, c->X, c->mesh->n_vert, c->mesh->tri,
                                      c->mesh->n_tri, &c->potential));
  ASSERT_OK(noli_gcp_potential_update(c->potential, c->mesh->x));
}

static void tear_down(Case* c) {
  noli_gcp_potential_destroy(&c->potential);
  assert_null(c->potential);
  noli_mesh_destroy(c->context, &c->mesh);
  test_context_done(&c->context);
}

static void value_gradient_and_hessian_agree(void** state) {
  (void)state;
  static Case c;
  static double gradient[3 * MOST], plus[3 * MOST], minus[3 * MOST], hessian[9 * MOST * MOST];
  set_up(&c, 1, 0.8);

  // gradient and Hessian
  int32_t n = 3 * c.mesh->n_vert;
  int64_t n_pairs, n_triplets;
  noli_gcp_potential_pairs(c.potential, &n_pairs);
  assert_true(n_pairs > 10);
  ASSERT_OK(noli_gcp_potential_gradient(c.potential, gradient));
  const NoliTriplet* triplets;
  ASSERT_OK(noli_gcp_potential_hessian(c.potential, false, &triplets, &n_triplets));
  memset(hessian, 0, sizeof hessian);
  double largest = 0.0, largest_force = 0.0;
  for (int64_t i = 0; i < n_triplets; i++) {
    hessian[n * triplets[i].row + triplets[i].column] += triplets[i].value;
  }
  for (int32_t i = 0; i < n * n; i++) {
    largest = noli_larger(largest, fabs(hessian[i]));
  }
  for (int32_t i = 0; i < n; i++) {
    largest_force = noli_larger(largest_force, fabs(gradient[i]));
  }

  // differences
  for (int32_t j = 0; j < n; j++) {
    double h = 1e-6, before = c.mesh->x[j];
    c.mesh->x[j] = before + h;
    ASSERT_OK(noli_gcp_potential_update(c.potential, c.mesh->x));
    double above = noli_gcp_potential_value(c.potential);
    ASSERT_OK(noli_gcp_potential_gradient(c.potential, plus));
    c.mesh->x[j] = before - h;
    ASSERT_OK(noli_gcp_potential_update(c.potential, c.mesh->x));
    double below = noli_gcp_potential_value(c.potential);
    ASSERT_OK(noli_gcp_potential_gradient(c.potential, minus));
    c.mesh->x[j] = before;
    ASSERT_NEAR((above - below) / (2.0 * h), gradient[j], 1e-6 * largest_force);
    for (int32_t i = 0; i < n; i++) {
      ASSERT_NEAR((plus[i] - minus[i]) / (2.0 * h), hessian[n * i + j], 1e-5 * largest);
    }
  }
  tear_down(&c);
}

// A sum of semi-definite matrices: v' H v >= 0 for any v, and not less than the plain one.
static void projected_hessian_is_semi_definite(void** state) {
  (void)state;
  static Case c;
  set_up(&c, 1, 0.5);
  TestRandom random = {91};
  for (int k = 0; k < 20; k++) {
    double v[3 * MOST], form[2] = {0.0, 0.0};
    for (int32_t i = 0; i < 3 * c.mesh->n_vert; i++) {
      v[i] = test_random(&random, -1.0, 1.0);
    }
    for (int projected = 0; projected < 2; projected++) {
      const NoliTriplet* triplets;
      int64_t n;
      ASSERT_OK(noli_gcp_potential_hessian(c.potential, projected == 1, &triplets, &n));
      for (int64_t i = 0; i < n; i++) {
        form[projected] += triplets[i].value * v[triplets[i].row] * v[triplets[i].column];
      }
    }
    assert_true(form[1] > 0.0);
    ASSERT_AT_LEAST(form[1], form[0]);
  }
  tear_down(&c);
}

// The same bits for one thread and three, and for updates back and forth.
static void results_do_not_depend_on_threads(void** state) {
  (void)state;
  static Case one, three;
  static double gradient[2][3 * MOST];
  set_up(&one, 1, 0.8);
  set_up(&three, 3, 0.8);
  ASSERT_OK(noli_gcp_potential_update(three.potential, three.X));
  ASSERT_OK(noli_gcp_potential_update(three.potential, three.mesh->x));
  double value[2] = {noli_gcp_potential_value(one.potential),
                     noli_gcp_potential_value(three.potential)};
  assert_memory_equal(&value[0], &value[1], sizeof(double));
  ASSERT_OK(noli_gcp_potential_gradient(one.potential, gradient[0]));
  ASSERT_OK(noli_gcp_potential_gradient(three.potential, gradient[1]));
  assert_memory_equal(gradient[0], gradient[1], sizeof(double) * 3 * (size_t)one.mesh->n_vert);
  tear_down(&one);
  tear_down(&three);
}

// The potential is independent of the order of vertices and triangles.
static void numbering_does_not_matter(void** state) {
  (void)state;
  static Case c;
  set_up(&c, 1, 0.8);

  // the same mesh with reversed numbers
  int32_t n = c.mesh->n_vert, n_tri = c.mesh->n_tri;
  static double X[3 * MOST], x[3 * MOST], forward[3 * MOST], backward[3 * MOST];
  static int32_t tri[6 * MOST];
  assert_true(n_tri <= 2 * MOST);
  for (int32_t v = 0; v < n; v++) {
    memcpy(X + 3 * (n - 1 - v), c.X + 3 * v, 3 * sizeof *X);
    memcpy(x + 3 * (n - 1 - v), c.mesh->x + 3 * v, 3 * sizeof *x);
  }
  for (int32_t t = 0; t < n_tri; t++) {
    for (int k = 0; k < 3; k++) {
      tri[3 * (n_tri - 1 - t) + (k + 1) % 3] = n - 1 - c.mesh->tri[3 * t + k];
    }
  }

  // its potential
  NoliGcpDef def = noli_default_gcp_def();
  def.eps_target = 0.25;
  def.alpha = 0.8;
  def.half_spaces = half_space;
  def.n_half_spaces = 1;
  NoliGcpPotential* other = NULL;
  ASSERT_OK(noli_gcp_potential_create(c.context, &def, X, n, tri, n_tri, &other));
  ASSERT_OK(noli_gcp_potential_update(other, x));

  // compare
  double value = noli_gcp_potential_value(c.potential);
  ASSERT_NEAR(noli_gcp_potential_value(other), value, 1e-12 * value);
  ASSERT_OK(noli_gcp_potential_gradient(c.potential, forward));
  ASSERT_OK(noli_gcp_potential_gradient(other, backward));
  double largest = 0.0;
  for (int32_t i = 0; i < 3 * n; i++) {
    largest = noli_larger(largest, fabs(forward[i]));
  }
  for (int32_t i = 0; i < 3 * n; i++) {
    ASSERT_NEAR(backward[3 * (n - 1 - i / 3) + i % 3], forward[i], 1e-10 * largest);
  }
  noli_gcp_potential_destroy(&other);
  tear_down(&c);
}

static void pairs_are_described(void** state) {
  (void)state;
  static Case c;
  set_up(&c, 1, 0.8);
  static const int32_t size[5] = {2, 3, 4, 4, 1};
  int64_t n, count[5] = {0};
  double least = (double)INFINITY;
  const NoliGcpContact* pair = noli_gcp_potential_pairs(c.potential, &n);
  const double* eps = noli_gcp_potential_eps(c.potential);
  for (int64_t i = 0; i < n; i++) {
    count[pair[i].kind]++;
    least = noli_smaller(least, pair[i].distance);
    assert_true(pair[i].distance > 0.0 && pair[i].distance < 0.25);
    for (int k = 0; k < 4; k++) {
      assert_int_equal(pair[i].vertex[k] >= 0, k < size[pair[i].kind]);
      assert_true(k >= size[pair[i].kind] || pair[i].distance < eps[pair[i].vertex[k]]);
    }
    assert_int_equal(pair[i].half_space, pair[i].kind == NOLI_GCP_PAIR_HALF_SPACE ? 0 : -1);
  }
  assert_true(count[NOLI_GCP_PAIR_HALF_SPACE] == 9 && count[NOLI_GCP_PAIR_VERTEX_FACE] > 0);
  ASSERT_NEAR(noli_gcp_potential_min_distance(c.potential), least, 0.0);
  tear_down(&c);
}

static void bad_input_is_refused(void** state) {

  // values out of range
  (void)state;
  NoliContext* context = test_context(1);
  static double X[3 * MOST];
  NoliMesh* mesh = close_boxes(context, X);
  NoliGcpPotential* potential = NULL;
  struct {
    double eps, alpha, beta, length;
    const char* text;
  } bad[] = {{0.0, 0.5, 0.1, 0.0, "eps_target"},   {(double)NAN, 0.5, 0.1, 0.0, "eps_target"},
             {0.1, 0.0, 0.1, 0.0, "alpha"},        {0.1, 1.01, 0.1, 0.0, "alpha"},
             {0.1, 0.5, (double)NAN, 0.0, "beta"}, {0.1, 0.5, 0.1, -1.0, "length"}};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    NoliGcpDef def = noli_default_gcp_def();
    def.eps_target = bad[i].eps;
    def.alpha = bad[i].alpha;
    def.beta = bad[i].beta;
    def.length = bad[i].length;
    ASSERT_STATUS(noli_gcp_potential_create(context, &def, X, mesh->n_vert, mesh->tri, mesh->n_tri,
                                            &potential),
                  NOLI_ERROR_ARGUMENT);
    assert_non_null(strstr(noli_context_message(context), bad[i].text));
    assert_null(potential);
  }

  // no definition, an open surface, surfaces that touch at rest, positions that are not finite
  NoliGcpDef none = {.eps_target = 0.1};
  ASSERT_STATUS(noli_gcp_potential_create(context, &none, X, mesh->n_vert, mesh->tri, mesh->n_tri,
                                          &potential),
                NOLI_ERROR_ARGUMENT);
  NoliGcpDef def = noli_default_gcp_def();
  def.eps_target = 0.1;
  ASSERT_STATUS(noli_gcp_potential_create(context, &def, X, mesh->n_vert, mesh->tri,
                                          mesh->n_tri - 1, &potential),
                NOLI_ERROR_ARGUMENT);
  assert_non_null(strstr(noli_context_message(context), "open there"));
  const double on_vertex[6] = {X[0], X[1], X[2], 0.0, 1.0, 0.0};
  def.half_spaces = on_vertex;
  def.n_half_spaces = 1;
  ASSERT_STATUS(
      noli_gcp_potential_create(context, &def, X, mesh->n_vert, mesh->tri, mesh->n_tri, &potential),
      NOLI_ERROR_INTERSECTION);
  def.n_half_spaces = 0;
  ASSERT_OK(noli_gcp_potential_create(context, &def, X, mesh->n_vert, mesh->tri, mesh->n_tri,
                                      &potential));
  X[7] = (double)INFINITY;
  ASSERT_STATUS(noli_gcp_potential_update(potential, X), NOLI_ERROR_ARGUMENT);
  noli_gcp_potential_destroy(&potential);
  noli_mesh_destroy(context, &mesh);
  test_context_done(&context);
}

// Every allocation may fail, and none leaks.
static void memory_that_gives_out_is_reported(void** state) {
  (void)state;
  TestMemory memory;
  static double X[3 * MOST], gradient[3 * MOST];
  NoliContext* context = test_context_on(&memory, 1);
  NoliMesh* mesh = close_boxes(context, X);
  for (int64_t k = 1;; k++) {
    NoliGcpDef def = noli_default_gcp_def();
    def.eps_target = 0.25;
    NoliGcpPotential* potential = NULL;
    test_refuse(&memory, k);
    NoliStatus status = noli_gcp_potential_create(context, &def, X, mesh->n_vert, mesh->tri,
                                                  mesh->n_tri, &potential);
    status = status == NOLI_OK ? noli_gcp_potential_update(potential, mesh->x) : status;
    status = status == NOLI_OK ? noli_gcp_potential_gradient(potential, gradient) : status;
    noli_gcp_potential_destroy(&potential);
    if (status == NOLI_OK) {
      assert_true(k > 20);
      break;
    }
    assert_int_equal(status, NOLI_ERROR_MEMORY);
  }
  test_refuse(&memory, 0);
  noli_mesh_destroy(context, &mesh);
  test_context_done(&context);
}

// Stencils of the barrier of [Li2020] at x, those that several primitive pairs share counted once.
static int64_t count_ipc(NoliContext* context, const NoliMesh* mesh, const double* x, double dhat) {
  NoliSurface* surface = gcp_surface(context, mesh, mesh->n_vert);
  NoliBroadPhase* broad_phase = NULL;
  NoliCandidates candidates = {0};
  NoliContactSet set;
  noli_contact_set_init(&set);
  ASSERT_OK(noli_broad_phase_create(context, surface, &broad_phase));
  ASSERT_OK(noli_broad_phase_find(broad_phase, x, x, dhat, NULL, &candidates));
  ASSERT_OK(noli_contact_set_build(&set, context, &(NoliColliders){.surface = surface}, mesh->x,
                                   &candidates, x, dhat, 1));
  int64_t count = set.contact.count;
  noli_contact_set_free(context, &set);
  noli_candidates_free(context, &candidates);
  noli_broad_phase_destroy(&broad_phase);
  noli_surface_destroy(context, &surface);
  return count;
}

// [Huang2025] table 2: fewer pairs than the barrier of [Li2020], and fewer the smaller alpha is.
static void pairs_are_no_more_than_those_of_ipc(void** state) {
  (void)state;
  static const double eps[4] = {0.001, 0.002, 0.004, 0.008}, alpha[4] = {1.0, 0.8, 0.5, 0.1};
  NoliContext* context = test_context(2);
  double* x = NULL;
  NoliMesh* mesh = gcp_rolled_mat(context, &x);
  for (int e = 0; e < 4; e++) {
    int64_t count[4], n_ipc = count_ipc(context, mesh, x, eps[e]);
    for (int a = 0; a < 4; a++) {
      NoliGcpDef def = noli_default_gcp_def();
      NoliGcpPotential* potential = NULL;
      def.eps_target = eps[e];
      def.alpha = alpha[a];
      ASSERT_OK(noli_gcp_potential_create(context, &def, mesh->x, mesh->n_vert, mesh->tri,
                                          mesh->n_tri, &potential));
      ASSERT_OK(noli_gcp_potential_update(potential, x));
      noli_gcp_potential_pairs(potential, &count[a]);
      noli_gcp_potential_destroy(&potential);
    }
    print_message("eps %.3f: ipc %lld, alpha 1: %lld, 0.8: %lld, 0.5: %lld, 0.1: %lld\n", eps[e],
                  (long long)n_ipc, (long long)count[0], (long long)count[1], (long long)count[2],
                  (long long)count[3]);
    assert_true(count[3] > 0 && count[3] <= count[2] && count[2] <= count[1] &&
                count[1] <= count[0] && count[0] <= n_ipc);
  }
  free(x);
  noli_mesh_destroy(context, &mesh);
  test_context_done(&context);
}

// An open sheet under a ball: their pairs are left to the barrier of [Li2020], the ball's own are
// not.
static void open_bodies_are_left_to_ipc(void** state) {
  (void)state;

  // a ball above a sheet
  NoliContext* context = test_context(1);
  NoliMesh *ball = NULL, *sheet = NULL;
  ASSERT_OK(noli_mesh_make_sphere(context, 1.0, 6, true, &ball));
  ASSERT_OK(noli_mesh_make_plane(context, 2.0, 2.0, 4, 4, &sheet));
  int32_t n_ball = ball->n_vert;
  NoliMesh* mesh =
      gcp_append(context, gcp_append(context, NULL, ball, 0, 0, 0), sheet, 0, -1.05, 0);
  NoliGcpParameters parameters = gcp_parameters(0.3, 0.8);
  GcpScene* scene = gcp_scene(context, mesh, n_ball, &parameters, NULL, 0);
  ASSERT_OK(noli_rings_require_closed(context, scene->rings, 0, mesh->x));
  ASSERT_STATUS(noli_rings_require_closed(context, scene->rings, 1, mesh->x), NOLI_ERROR_ARGUMENT);

  // no pairs of the geometric potential
  gcp_build(scene, mesh->x, NULL);
  assert_int_equal(scene->set.pair.count, 0);
  NoliCandidates closed = {0}, open = {0};
  ASSERT_OK(noli_gcp_split_candidates(context, scene->surface, scene->rings, &scene->candidates,
                                      &closed, &open));
  assert_int_equal(closed.point_triangle.count + open.point_triangle.count,
                   scene->candidates.point_triangle.count);
  assert_int_equal(closed.edge_edge.count + open.edge_edge.count,
                   scene->candidates.edge_edge.count);

  // the barrier takes them
  NoliContactSet set;
  noli_contact_set_init(&set);
  ASSERT_OK(noli_contact_set_build(&set, context, &(NoliColliders){.surface = scene->surface},
                                   mesh->x, &open, mesh->x, 0.3, 1));
  assert_true(set.contact.count > 0);
  for (int64_t i = 0; i < set.contact.count; i++) {
    bool of_sheet = false;
    for (int k = 0; k < 4; k++) {
      of_sheet = of_sheet || set.contact.data[i].node[k] >= n_ball;
    }
    assert_true(of_sheet);
  }
  noli_contact_set_free(context, &set);
  noli_candidates_free(context, &closed);
  noli_candidates_free(context, &open);
  gcp_scene_done(&scene);
  test_context_done(&context);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(value_gradient_and_hessian_agree),
      cmocka_unit_test(projected_hessian_is_semi_definite),
      cmocka_unit_test(results_do_not_depend_on_threads),
      cmocka_unit_test(numbering_does_not_matter),
      cmocka_unit_test(pairs_are_described),
      cmocka_unit_test(bad_input_is_refused),
      cmocka_unit_test(memory_that_gives_out_is_reported),
      cmocka_unit_test(pairs_are_no_more_than_those_of_ipc),
      cmocka_unit_test(open_bodies_are_left_to_ipc),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
