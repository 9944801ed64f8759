// Implicit friction on smooth surfaces: derivatives, momentum, agreement with lagged friction.
#include "support.h"

#include "contact/implicit_surface/implicit_surface_friction.h"
#include "noli/mesh.h"

#define DELTA 0.02
#define EPS 1e-3
#define KAPPA 7.0

// Two balls that overlap a little, above a half-space. Every vertex has moved.
typedef struct Scene {
  NoliContext* context;
  int32_t n_vert;
  double *x, *x_hat;
  NoliSurface* surface;
  NoliImplicitSurfaceSearch* search;
  NoliImplicitSurfaceContactSet set;
  bool still[2];
  NoliFrictionLaw law;
  NoliContactPairs pairs;
  NoliImplicitSurfacePenalty penalty;
  NoliImplicitSurfaceFriction friction;
} Scene;

static const NoliHalfSpace ground = {{0.0, -0.5, 0.0}, {0.0, 1.0, 0.0}};

static NoliFrictionLaw stribeck(void) {
  return (NoliFrictionLaw){.mu_d = 0.3, .mu_s = 0.6, .v_s = 10.0 * EPS};
}

static void make_scene(Scene* scene, bool still, double wander) {
  *scene = (Scene){.context = test_context(1), .still = {false, still}, .law = stribeck()};
  NoliMesh* mesh[2];
  int32_t first[3] = {0};
  NoliSurfaceParts parts[2];
  for (int b = 0; b < 2; b++) {
    ASSERT_OK(noli_mesh_make_sphere(scene->context, 0.5, 4 + b, true, &mesh[b]));
    parts[b] = (NoliSurfaceParts){.n_tri = mesh[b]->n_tri, .tri = mesh[b]->tri};
    first[b + 1] = first[b] + mesh[b]->n_vert;
  }
  static const double unit[3] = {1, 1, 1}, zero[3] = {0, 0, 0};
  noli_mesh_transform(mesh[1], unit, zero, (double[]){0.1, 0.93, 0.05});
  ASSERT_OK(noli_surface_create(scene->context, 2, first, parts, &scene->surface));

  // positions
  scene->n_vert = first[2];
  scene->x = malloc(3 * sizeof(double) * (size_t)scene->n_vert);
  scene->x_hat = malloc(3 * sizeof(double) * (size_t)scene->n_vert);
  TestRandom random = {71};
  for (int b = 0; b < 2; b++) {
    memcpy(scene->x + 3 * first[b], mesh[b]->x, 3 * sizeof(double) * (size_t)mesh[b]->n_vert);
    noli_mesh_destroy(scene->context, &mesh[b]);
  }
  for (int32_t k = 0; k < 3 * scene->n_vert; k++) {
    scene->x_hat[k] = scene->x[k] + test_random(&random, -wander, wander);
  }

  // contacts
  const NoliColliders colliders = {
      .surface = scene->surface, .half_spaces = &ground, .n_half_spaces = 1};
  ASSERT_OK(noli_implicit_surface_search_create(scene->context, &colliders, scene->x, scene->still,
                                                NULL, 0.0, DELTA, &scene->search));
  ASSERT_OK(
      noli_implicit_surface_contacts_build(&scene->set, scene->search, scene->x, DELTA, false, 1));
  scene->pairs = (NoliContactPairs){.n_body = 2, .law = &scene->law};
  scene->penalty = (NoliImplicitSurfacePenalty){&scene->set, scene->search, DELTA, KAPPA};
  scene->friction = (NoliImplicitSurfaceFriction){.penalty = &scene->penalty,
                                                  .pairs = &scene->pairs,
                                                  .x_hat = scene->x_hat,
                                                  .eps_v = EPS,
                                                  .h_v = 1.0,
                                                  .basis_derivatives = true};
}

static void free_scene(Scene* scene) {
  noli_implicit_surface_contacts_free(scene->context, &scene->set);
  noli_implicit_surface_search_destroy(&scene->search);
  noli_surface_destroy(scene->context, &scene->surface);
  free(scene->x);
  free(scene->x_hat);
  test_context_done(&scene->context);
}

// Evaluates contact c into `residual` (3 n) and, unless NULL, `jacobian` (3 n x 3 n).
static void evaluate(const NoliEnergyTerm* term, const double* x, int64_t c, double* residual,
                     double* jacobian) {
  int32_t n = noli_term_size(term, c);
  NoliLocal out = {.gradient = residual};
  term->evaluate(term->data, x, c, c + 1, NOLI_EVAL_GRADIENT, &out);
  double* blocks = malloc(9 * sizeof(double) * (size_t)noli_stencil_blocks(n));
  for (int part = 0; jacobian != NULL && part < 2; part++) {
    out = (NoliLocal){.hessian = blocks};
    term->evaluate(term->data, x, c, c + 1, part == 0 ? NOLI_EVAL_HESSIAN : NOLI_EVAL_SKEW, &out);
    for (int32_t k = 0; k < 9 * n * n; k++) {
      int32_t a = k / 9 / n, b = k / 9 % n, r = k % 9 / 3, s = k % 3;
      bool upper = a <= b;
      const double* of = blocks + 9 * noli_stencil_block(n, upper ? a : b, upper ? b : a);
      double value = upper ? of[3 * r + s] : (part == 0 ? 1.0 : -1.0) * of[3 * s + r];
      double* to = &jacobian[(3 * a + r) * 3 * n + 3 * b + s];
      *to = part == 0 ? value : *to + value;
    }
  }
  free(blocks);
}

// Largest error of the Jacobian of contact c against differences, relative to its largest entry.
static double jacobian_error(Scene* scene, const NoliEnergyTerm* term, int64_t c) {
  int32_t n = noli_term_size(term, c);
  size_t bytes = 3 * sizeof(double) * (size_t)n;
  double *jacobian = malloc(3 * (size_t)n * bytes), *plus = malloc(bytes), *minus = malloc(bytes);
  double largest = 0.0, error = 0.0;
  evaluate(term, scene->x, c, plus, jacobian);
  for (int32_t k = 0; k < 9 * n * n; k++) {
    largest = noli_larger(largest, fabs(jacobian[k]));
  }
  for (int32_t j = 0; j < 3 * n; j++) {
    double *moving = &scene->x[3 * term->node[term->first[c] + j / 3] + j % 3], at = *moving;
    const double h = 1e-7;
    *moving = at + h;
    evaluate(term, scene->x, c, plus, NULL);
    *moving = at - h;
    evaluate(term, scene->x, c, minus, NULL);
    *moving = at;
    for (int32_t i = 0; i < 3 * n; i++) {
      double off = fabs((plus[i] - minus[i]) / (2.0 * h) - jacobian[i * 3 * n + j]);
      error = !(off <= error) ? off : error;
    }
  }
  free(jacobian);
  free(plus);
  free(minus);
  assert_true(largest > 0.0);
  return error / largest;
}

// Sticking and sliding, against bodies, obstacles and half-spaces.
static void jacobians_agree_with_differences(void** state) {
  (void)state;
  const double wander[] = {0.3 * EPS, 5.0 * EPS, 0.02};
  double worst = 0.0, without = 0.0;
  for (int k = 0; k < 6; k++) {
    Scene scene;
    make_scene(&scene, k % 2 == 1, wander[k / 2]);
    NoliEnergyTerm term = noli_implicit_surface_friction_term(&scene.friction);
    assert_true(term.skew && term.n_stencil > 2);
    for (int64_t c = 0; c < term.n_stencil; c += 2) {
      scene.friction.basis_derivatives = true;
      worst = noli_larger(worst, jacobian_error(&scene, &term, c));
      scene.friction.basis_derivatives = false;
      without = noli_larger(without, jacobian_error(&scene, &term, c));
    }
    free_scene(&scene);
  }
  print_message("largest relative error %.2g, %.2g without the basis term\n", worst, without);
  ASSERT_AT_MOST(worst, 1e-5);
  ASSERT_AT_LEAST(without, 1e-2);
}

// The forces are those of lagged friction with the normal forces at x; they sum to the forces of
// half-spaces.
static void forces_are_those_of_lagged_friction(void** state) {
  (void)state;
  Scene scene;
  make_scene(&scene, false, 5.0 * EPS);
  size_t n = 3 * (size_t)scene.n_vert;
  double *force = calloc(n, sizeof(double)), *lagged = calloc(n, sizeof(double)), largest = 0.0;
  noli_implicit_surface_friction_forces(&scene.friction, scene.x, 2.0, force);
  NoliFrictionSet set = {0};
  ASSERT_OK(
      noli_implicit_surface_friction(&scene.penalty, scene.context, &scene.pairs, scene.x, &set));
  NoliFriction friction = {.set = &set, .x_hat = scene.x_hat, .eps_v = EPS, .h_v = 1.0};
  noli_friction_forces(&friction, scene.x, 2.0, lagged);
  for (size_t k = 0; k < n; k++) {
    largest = noli_larger(largest, fabs(lagged[k]));
  }
  for (size_t k = 0; k < n; k++) {
    ASSERT_NEAR(force[k], lagged[k], 1e-12 * largest);
  }
  assert_true(largest > 0.0);

  // resultants
  NoliPairForces pairs = {0};
  NoliVec3 sum = {0.0, 0.0, 0.0};
  ASSERT_OK(noli_implicit_surface_friction_pair_forces(&scene.friction, scene.context, scene.x, 2.0,
                                                       &pairs));
  for (size_t i = 0; i < n / 3; i++) {
    sum = noli_add3(sum, noli_load3(force + 3 * i));
  }
  for (int64_t i = 0; i < pairs.pair.count; i++) {
    if (pairs.pair.data[i].b == 2) {
      sum = noli_sub3(sum, noli_load3(pairs.pair.data[i].friction));
    }
  }
  ASSERT_AT_MOST(noli_norm3(sum), 1e-11 * largest);
  noli_pair_forces_free(scene.context, &pairs);
  noli_friction_set_free(scene.context, &set);
  free(force);
  free(lagged);
  free_scene(&scene);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(jacobians_agree_with_differences),
      cmocka_unit_test(forces_are_those_of_lagged_friction),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
