// Load steps without inertia: closed forms, varying loads, bodies held by contact, and the error if
// nothing holds them.
#include "world.h"

static int32_t vertices_at(const NoliMesh* mesh, int axis, double value, int32_t* node) {
  int32_t n = 0;
  for (int32_t i = 0; i < mesh->n_vert; i++) {
    if (fabs(mesh->x[3 * i + axis] - value) < 1e-9) {
      node[n++] = i;
    }
  }
  return n;
}

static World static_world(const char* solver) {
  World world = world_new(1);
  world.def.integrator = "quasi_static";
  world.def.solver = solver;
  return world;
}

// A bar of length 1 m that hangs from one end gets longer by rho g / (2 E). The time of a load step
// has no meaning.
static void hanging_bar_gets_longer(void** state) {
  (void)state;
  static const double steps[] = {1e-3, 0.1, 10.0};
  for (int k = 0; k < 6; k++) {
    World world = static_world(k < 3 ? "projected_newton" : "augmented_lagrangian");
    NoliMesh* mesh = NULL;
    int32_t top[9];
    ASSERT_OK(noli_mesh_make_box(world.context, (double[]){0.1, 1, 0.1}, (int32_t[]){2, 12, 2},
                                 false, &mesh));
    int32_t bar = world_add(&world, mesh, (double[]){0, 0, 0});
    world.body[bar].material.poisson = 0.0;
    world.body[bar].material.young = 1e7;
    NoliMotionDef* held = world_add_motion(&world, bar, NULL, NULL);
    held->node = top;
    held->n_node = vertices_at(mesh, 1, 0.5, top);
    world.def.time_step = steps[k % 3];
    world_start(&world);
    world_step(&world);
    double longer = -0.5 - world_lowest(&world, bar), want = 1000.0 * 9.80665 / (2.0 * 1e7);
    print_message("h = %g s, %s: elongation %.5g m of %.5g m, %d iterations\n", steps[k % 3],
                  world.def.solver, longer, want, (int)world.report.newton_iterations);
    ASSERT_NEAR(longer, want, 0.01 * want);
    ASSERT_NEAR(world.report.kinetic, 0.0, 0.0);
    // a second step has no work left
    world_step(&world);
    ASSERT_NEAR(-0.5 - world_lowest(&world, bar), longer, 1e-4 * want);
    world_done(&world);
  }
}

// A block with nu = 0 between the ground and its moved top: neo-Hookean stress mu (s - 1 / s) of
// the stretch s, on its area.
static void compressed_block_pushes_back(void** state) {
  (void)state;

  // both solvers
  double speed = 0.3;
  for (int k = 0; k < 2; k++) {
    World world = static_world(k == 0 ? "projected_newton" : "augmented_lagrangian");
    NoliMesh* mesh = make_box(&world, 0.2, 0.2, 0.2, 3);
    int32_t top[16];
    int32_t block = world_add(&world, mesh, (double[]){0, 0.1005, 0});
    world.body[block].material.poisson = 0.0;
    NoliMotionDef* moved = world_add_motion(&world, block, move_down, &speed);
    moved->node = top;
    moved->n_node = vertices_at(mesh, 1, 0.2005, top);
    world_add_plane(&world, (double[]){0, 0, 0}, (double[]){0, 1, 0});
    world.def.gravity[1] = 0.0;
    world.def.contact_distance = (NoliScaled){1e-3, false};
    world.def.tolerance = (NoliScaled){1e-4, false};
    world.def.time_step = 0.05;
    world_start(&world);
    for (int i = 1; i <= 5; i++) {
      world_step(&world);
      const NoliPairForce* pair;
      int32_t n_pairs;
      ASSERT_OK(noli_sim_pair_forces(world.sim, &pair, &n_pairs));
      assert_int_equal(n_pairs, 1);
      double stretch = (0.2005 - 0.015 * i - world.report.min_distance) / 0.2;
      double want = 0.5 * 1e5 * (1.0 / stretch - stretch) * 0.04, got = fabs(pair[0].normal[1]);
      print_message("stretch %.4f: %.3f N of %.3f N\n", stretch, got, want);
      // neighbouring vertices differ in their distance by a little
      ASSERT_NEAR(got, want, 0.02 * want);
    }
    world_done(&world);
  }
}

// Contact and friction hold a block on the ground, which carries its weight.
static void contact_holds(void** state) {
  (void)state;
  World world = static_world("projected_newton");
  world_add(&world, make_box(&world, 0.2, 0.2, 0.2, 2), (double[]){0, 0.1005, 0});
  world_add_plane(&world, (double[]){0, 0, 0}, (double[]){0.1, 1, 0});
  world.plane[0].normal[0] = 0.0;
  world.def.gravity[0] = 2.0;
  world.def.friction = 0.5;
  world.def.contact_distance = (NoliScaled){1e-3, false};
  world.def.tolerance = (NoliScaled){1e-5, false};
  world.def.friction_iterations = NOLI_FRICTION_UNTIL_CONVERGENCE;
  world_start(&world);
  const NoliPairForce* pair;
  int32_t n_pairs;
  for (int i = 0; i < 3; i++) {
    world_step(&world);
  }
  ASSERT_OK(noli_sim_pair_forces(world.sim, &pair, &n_pairs));
  assert_int_equal(n_pairs, 1);
  ASSERT_NEAR(fabs(pair[0].normal[1]), 8.0 * 9.80665, 0.02 * 8.0 * 9.80665);
  ASSERT_NEAR(fabs(pair[0].friction[0]), 16.0, 0.05 * 16.0);
  world_done(&world);
}

// Two blocks that almost touch, not along an axis: contact is at least 1e16 times as stiff as they
// are, and the common motion of the vertices on both sides is lost in the matrix. The blocks still
// separate. (Closer ones would take their first steps below the tolerance.)
static void contact_stiffer_than_numbers_have_digits_for(void** state) {
  (void)state;

  // each gap
  static const double gap[] = {1e-10, 3e-11, 1e-11};
  int32_t fallbacks = 0;
  for (size_t k = 0; k < sizeof gap / sizeof *gap; k++) {
    World world = static_world("projected_newton");
    int32_t node[2][16];
    double n[3] = {0.36, 0.8, 0.48};
    for (int32_t b = 0; b < 2; b++) {
      NoliMesh* mesh = make_box(&world, 0.2, 0.2, 0.2, 2);
      int32_t n_node = vertices_at(mesh, 1, b == 0 ? -0.1 : 0.1, node[b]);
      for (int32_t v = 0; v < mesh->n_vert; v++) {
        double* X = mesh->x + 3 * (int64_t)v;
        // y becomes n, x and z any two directions across it
        double x = X[0], y = X[1] + (b == 0 ? 0.0 : 0.2 + gap[k]), z = X[2];
        double e = 1.0 / sqrt(n[0] * n[0] + n[1] * n[1]);
        X[0] = x * n[1] * e + y * n[0] - z * n[0] * n[2] * e;
        X[1] = -x * n[0] * e + y * n[1] - z * n[1] * n[2] * e;
        X[2] = y * n[2] + z / e;
      }
      world_add(&world, mesh, (double[]){0, 0, 0});
      NoliMotionDef* held = world_add_motion(&world, b, NULL, NULL);
      held->node = node[b];
      held->n_node = n_node;
    }
    world.def.gravity[1] = 0.0;
    world.def.contact_distance = (NoliScaled){1e-3, false};
    world.def.tolerance = (NoliScaled){1e-8, false};
    world.def.time_step = 0.05;
    world_start(&world);
    world_step(&world);
    print_message("gap %g m: %g m after %d iterations, %d systems with a larger diagonal\n", gap[k],
                  world.report.min_distance, (int)world.report.newton_iterations,
                  (int)world.report.linear_fallbacks);
    fallbacks += world.report.linear_fallbacks;
    assert_true(world.report.min_distance > 1e-4);
    world_done(&world);
  }
  assert_true(fallbacks > 0);
}

// A load that changes in time: each step is the equilibrium of its own load, regardless of the
// history.
static void pull(void* user, double t, const double X[3], double value[3]) {
  (void)user;
  (void)X;
  value[0] = t <= 0.25 ? 1000.0 * t : 0.0;
  value[1] = value[2] = 0.0;
}

static void each_load_has_its_equilibrium(void** state) {
  (void)state;

  // a bar that is held at one end and pulled
  World world = static_world("projected_newton");
  NoliMesh* mesh = make_box(&world, 0.4, 0.1, 0.1, 2);
  int32_t end[9];
  int32_t bar = world_add(&world, mesh, (double[]){0, 0, 0});
  NoliForceDef force = {.size = sizeof(NoliForceDef),
                        .kind = "acceleration",
                        .t_begin = 0.0,
                        .t_end = (double)INFINITY,
                        .value = pull};
  NoliMotionDef* held = world_add_motion(&world, bar, NULL, NULL);
  held->node = end;
  held->n_node = vertices_at(mesh, 0, -0.2, end);
  world.def.forces = &force;
  world.def.n_forces = 1;
  world.def.gravity[1] = 0.0;
  world.def.tolerance = (NoliScaled){1e-6, false};
  world.def.time_step = 0.05;
  world_start(&world);

  // the extension follows the load
  double longer[6];
  for (int i = 0; i < 6; i++) {
    world_step(&world);
    double last = 0.0;
    for (int32_t v = 0; v < mesh->n_vert; v++) {
      last = noli_larger(last, noli_sim_positions(world.sim)[3 * v]);
    }
    longer[i] = last - 0.2;
  }
  ASSERT_NEAR(longer[1] / longer[0], 2.0, 0.3);
  assert_true(longer[4] > longer[3] && longer[0] > 0.0);
  ASSERT_NEAR(longer[5], 0.0, 1e-9);
  world_done(&world);
}

// ---- unsupported bodies -------------------------------------------------------------------------

static void expect_free(World* world, const char* words) {
  world_start(world);
  uint64_t hash = noli_sim_state_hash(world->sim);
  ASSERT_STATUS(noli_sim_step(world->sim, NULL), NOLI_NOT_POSITIVE_DEFINITE);
  const char* message = noli_context_message(world->context);
  if (strstr(message, words) == NULL) {
    print_message("%s\n", message);
  }
  assert_non_null(strstr(message, words));
  assert_non_null(strstr(message, "prescribe some of its vertices"));
  assert_true(noli_sim_state_hash(world->sim) == hash);
  world_done(world);
}

static void free_bodies_are_named(void** state) {
  (void)state;
  // in the air, next to one that is held
  World world = static_world("projected_newton");
  world_add(&world, make_box(&world, 0.2, 0.2, 0.2, 1), (double[]){0, 1, 0});
  world_add(&world, make_sphere(&world, 0.1, 2), (double[]){0.5, 1, 0});
  world_add_motion(&world, 0, NULL, NULL);
  expect_free(&world, "quasi_static: body \"body1\" is free to ");

  // on the ground without friction
  world = static_world("projected_newton");
  world_add(&world, make_box(&world, 0.2, 0.2, 0.2, 2), (double[]){0, 0.1005, 0});
  world_add_plane(&world, (double[]){0, 0, 0}, (double[]){0, 1, 0});
  world.def.contact_distance = (NoliScaled){1e-3, false};
  expect_free(&world, "body \"body0\" is free to ");

  // at one vertex: free to turn; at two: about the line through them
  static const int32_t corners[2] = {0, 1};
  for (int n = 1; n <= 2; n++) {
    world = static_world("augmented_lagrangian");
    world_add(&world, make_box(&world, 0.2, 0.2, 0.2, 1), (double[]){0, 0, 0});
    NoliMotionDef* held = world_add_motion(&world, 0, NULL, NULL);
    held->node = corners;
    held->n_node = n;
    expect_free(&world, "is free to turn about");
  }

  // free components also need support
  world = static_world("projected_newton");
  world_add(&world, make_box(&world, 0.2, 0.2, 0.2, 2), (double[]){0, 0, 0});
  world_add_motion(&world, 0, NULL, NULL)->free_axis[2] = true;
  expect_free(&world, "body \"body0\" is free to move along (0, 0, 1)");

  // points: nothing joins them
  world = static_world("projected_newton");
  NoliMesh* mesh = NULL;
  ASSERT_OK(noli_mesh_create(world.context, 3, 0, 0, 0, 3, false, &mesh));
  for (int32_t i = 0; i < 3; i++) {
    mesh->x[3 * i] = 0.1 * i;
    mesh->point[i] = i;
  }
  world.body[world_add(&world, mesh, (double[]){0, 0, 0})].point.radius = 0.01;
  NoliMotionDef* held = world_add_motion(&world, 0, NULL, NULL);
  held->node = corners;
  held->n_node = 2;
  expect_free(&world, "a part of body \"body0\" is free to move along");
}

// Segments of a bent rod without twist turn freely around their neighbours, also between held
// vertices. That is no rigid motion.
static void mechanisms_are_named(void** state) {
  (void)state;
  static const int32_t held_ones[5] = {0, 1, 6, 11, 12};
  World world = static_world("projected_newton");
  NoliMesh* mesh = NULL;
  ASSERT_OK(noli_mesh_make_helix(world.context, 0.1, 0.3, 1.3, 12, &mesh));
  world.body[world_add(&world, mesh, (double[]){0, 0, 0})].rod.radius = 0.005;
  NoliMotionDef* held = world_add_motion(&world, 0, NULL, NULL);
  held->node = held_ones;
  held->n_node = 5;
  world_start(&world);
  ASSERT_STATUS(noli_sim_step(world.sim, &world.report), NOLI_NOT_POSITIVE_DEFINITE);
  assert_non_null(strstr(noli_context_message(world.context), "Newton iteration 1: the matrix"));
  assert_non_null(
      strstr(world.report.blocked_by, "a motion of \"body0\" that meets no resistance"));
  world_done(&world);

  // with twist it is stiff
  world = static_world("projected_newton");
  ASSERT_OK(noli_mesh_make_helix(world.context, 0.1, 0.3, 1.3, 12, &mesh));
  NoliRodDef* rod = &world.body[world_add(&world, mesh, (double[]){0, 0, 0})].rod;
  rod->radius = 0.005;
  rod->twist = 1.0;
  held = world_add_motion(&world, 0, NULL, NULL);
  held->node = held_ones;
  held->n_node = 5;
  world_start(&world);
  ASSERT_OK(noli_sim_step(world.sim, &world.report));
  world_done(&world);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(hanging_bar_gets_longer),
      cmocka_unit_test(compressed_block_pushes_back),
      cmocka_unit_test(contact_holds),
      cmocka_unit_test(each_load_has_its_equilibrium),
      cmocka_unit_test(contact_stiffer_than_numbers_have_digits_for),
      cmocka_unit_test(free_bodies_are_named),
      cmocka_unit_test(mechanisms_are_named),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
