// Derivatives of runs on as many ranks as mpirun starts (tests/scripted.cmake: three): those of a
// process alone, which other tests compare with differences, in both modes.
#include "derive/gradient_runs.h"
#include "mpi/on_ranks.h"

static NoliRanks* ranks;

// A box that slides on the floor and another one that falls on it; more elements than a rank holds
// of tetrahedra that are divided.
static World two_boxes(NoliRanks* with, bool implicit) {
  World world = world_new(1);
  world.context->def.ranks = with;
  world.def.time_step = 0.005;
  world.def.contact_distance = (NoliScaled){2e-3, false};
  world.def.barrier_stiffness = 2e6;
  world.def.friction = 0.3;
  world_use_friction(&world, implicit ? "implicit" : "lagged");
  world.def.audit = "off";
  world.def.whole_elements = true;
  world_add_plane(&world, (double[]){0, 0, 0}, (double[]){0, 1, 0});
  for (int32_t b = 0; b < 2; b++) {
    NoliMesh* mesh = NULL;
    ASSERT_OK(noli_mesh_make_box(world.context, (double[]){0.2, 0.1, 0.12}, (int32_t[]){4, 3, 3},
                                 false, &mesh));
    int32_t body = world_add(&world, mesh, (double[]){0.03 * b, 0.0515 + 0.104 * b, 0.01 * b});
    world.body[body].material.young = b == 0 ? 2e4 : 5e4;
    world.body[body].material.poisson = 0.3;
    world.body[body].material.density = 900;
    world.body[body].velocity[0] = 0.3 - 0.1 * b;
    world.body[body].velocity[1] = -0.5;
  }
  return world;
}

static double gradient_of(World* world, const GradientRun* run, const char* mode, double* gradient,
                          int64_t n) {
  NoliParameters* parameters = NULL;
  world_start(world);
  ASSERT_OK(noli_parameters_create(world->sim, &run->parameter, 1, &parameters));
  assert_int_equal(noli_parameters_count(parameters), n);
  double value = run_gradient(run, world->sim, parameters, mode, gradient);
  noli_parameters_destroy(&parameters);
  world_done(world);
  return value;
}

// On the first rank's numbers all decide: the same bits on all ranks.
static void require_same_bits(const double* gradient, int64_t n) {
  NoliContext* context = test_context(1);
  double sum = 0.0;
  context->def.ranks = ranks;
  double* first = malloc(sizeof(double) * (size_t)n);
  memcpy(first, gradient, sizeof(double) * (size_t)n);
  ASSERT_OK(noli_ranks_broadcast(context, 0, sizeof(double), first, n));
  for (int64_t j = 0; j < n; j++) {
    sum += first[j] * first[j];
  }
  assert_true(sum > 0.0);
  assert_memory_equal(first, gradient, sizeof(double) * (size_t)n);
  free(first);
  test_context_done(&context);
}

static void compare_with_one(const GradientRun* run, const char* mode, int64_t n, bool implicit) {
  double* gradient[2];
  double value[2], size = 0.0, off = 0.0;
  for (int k = 0; k < 2; k++) {
    World world = two_boxes(k == 0 ? ranks : NULL, implicit);
    gradient[k] = calloc((size_t)n, sizeof(double));
    value[k] = gradient_of(&world, run, k == 0 ? mode : "adjoint", gradient[k], n);
  }
  for (int64_t j = 0; j < n; j++) {
    size = noli_larger(size, fabs(gradient[1][j]));
    off = noli_larger(off, fabs(gradient[0][j] - gradient[1][j]));
  }
  print_message("%s: gradient %.3g, on ranks off by %.1e\n", run->name, size, off / size);
  ASSERT_NEAR(value[0], value[1], 1e-9 * fabs(value[1]));
  ASSERT_AT_MOST(off / size, 1e-7);
  require_same_bits(gradient[0], n);
  free(gradient[0]);
  free(gradient[1]);
}

enum { N_VERT = 5 * 4 * 4, N_TET = 6 * 4 * 3 * 3 };

static const GradientRun young = {
    .name = "young of elements", .n_steps = 3, .parameter = ELEMENTS("young", "body0")};
static const GradientRun shape = {.name = "shape", .n_steps = 3, .parameter = SHAPE("body0")};
static const GradientRun friction = {
    .name = "friction", .n_steps = 3, .parameter = {.kind = "friction"}};

static void gradients_are_those_of_one_rank(void** state) {
  (void)state;
  compare_with_one(&young, "adjoint", N_TET, false);
  compare_with_one(&friction, "tangent", 1, false);
}

// Transposes of matrices that are not symmetric.
static void implicit_friction_has_them_too(void** state) {
  (void)state;
  compare_with_one(&shape, "adjoint", 3 * N_VERT, true);
}

// Elements of other ranks have no derivatives here.
static void divided_elements_are_refused(void** state) {
  (void)state;
  World world = two_boxes(ranks, false);
  NoliParameters* parameters = NULL;
  NoliObjective objective = {spread, NULL};
  NoliGradientDef def = noli_default_gradient_def();
  double value, gradient;
  if (ranks == NULL) {
    world_done(&world);
    skip();
  }
  world.def.whole_elements = false;
  world_start(&world);
  ASSERT_OK(noli_parameters_create(world.sim, &friction.parameter, 1, &parameters));
  def.n_steps = 1;
  ASSERT_STATUS(
      noli_sim_gradient(world.sim, parameters, &objective, 1, &def, &value, &gradient, NULL),
      NOLI_ERROR_ARGUMENT);
  assert_non_null(strstr(noli_context_message(world.context), "whole_elements"));
  noli_parameters_destroy(&parameters);
  world_done(&world);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(gradients_are_those_of_one_rank),
      cmocka_unit_test(implicit_friction_has_them_too),
      cmocka_unit_test(divided_elements_are_refused),
  };
  return run_on_ranks(&ranks, tests, sizeof tests / sizeof *tests);
}
