// Prescribed motion: exact if it is possible, stopped without tunnelling otherwise.
#include "world.h"

static const double origin[3] = {0, 0, 0};

// A plate presses a soft block that rests on the ground.
static World press(double speed, const char* integrator) {
  World world = world_new(1);
  int32_t block = world_add(&world, make_box(&world, 0.4, 0.4, 0.4, 3), (double[]){0, 0.2005, 0});
  world.body[block].material.young = 1e4;
  NoliMesh* plate = NULL;
  ASSERT_OK(noli_mesh_make_plane(world.context, 1.0, 1.0, 2, 2, &plate));
  int32_t press = world_add_obstacle(&world, plate, (double[]){0, 0.41, 0});
  world_add_plane(&world, origin, (double[]){0, 1, 0});
  static double speeds[8];
  static int n_speeds;
  speeds[n_speeds % 8] = speed;
  world_add_motion(&world, press, move_down, &speeds[n_speeds++ % 8]);
  world.def.integrator = integrator;
  world.def.time_step = 0.02;
  world_start(&world);
  return world;
}

static double plate_height(const World* world) {
  int32_t first, count;
  noli_sim_body_range(world->sim, 1, &first, &count);
  return noli_sim_positions(world->sim)[3 * first + 1];
}

static void feasible_motion_is_done(void** state) {
  (void)state;
  static const char* const integrators[] = {"backward_euler", "trapezoidal"};
  for (int k = 0; k < 2; k++) {
    World world = press(0.2, integrators[k]);
    for (int i = 0; i < 40; i++) {
      world_step(&world);
      ASSERT_AT_LEAST(world.report.motion_done, 0.999);
      assert_string_equal(world.report.blocked_by, "");
    }
    ASSERT_NEAR(plate_height(&world), 0.41 - 0.2 * 40 * 0.02, 0.01 * 0.2 * 40 * 0.02);
    assert_true(world.report.contacts > 0);
    world_done(&world);
  }
}

static void infeasible_motion_stops_and_says_so(void** state) {
  (void)state;
  // the plate would pass through the ground, and the block cannot vanish
  World world = press(1.0, "backward_euler");
  bool blocked = false;
  for (int i = 0; i < 40; i++) {
    world_step(&world);
    blocked = blocked || world.report.blocked_by[0] != '\0';
    if (world.report.blocked_by[0] != '\0') {
      assert_true(world.report.motion_done < 0.999);
    }
  }
  print_message("plate stops at %.4f m: %s\n", plate_height(&world), world.report.blocked_by);
  assert_true(blocked);
  ASSERT_AT_LEAST(plate_height(&world), 0.0);
  world_done(&world);
}

// Rotates about the x axis through the origin.
static void twist(void* user, double t0, double t1, int32_t n, const int32_t* node, const double* X,
                  const double* x_t0, double* x_t1) {
  (void)node;
  (void)X;
  double angle = *(const double*)user * (t1 - t0);
  for (int32_t i = 0; i < n; i++) {
    x_t1[3 * i] = x_t0[3 * i];
    x_t1[3 * i + 1] = cos(angle) * x_t0[3 * i + 1] - sin(angle) * x_t0[3 * i + 2];
    x_t1[3 * i + 2] = sin(angle) * x_t0[3 * i + 1] + cos(angle) * x_t0[3 * i + 2];
  }
}

static void twisted_rod_keeps_its_ends(void** state) {
  (void)state;

  // a rod whose ends turn
  World world = world_new(1);
  NoliMesh* rod = NULL;
  ASSERT_OK(noli_mesh_make_rod(world.context, 1.0, 0.1, 20, 2, false, &rod));
  static int32_t left[64], right[64];
  int32_t n_left = 0, n_right = 0;
  for (int32_t i = 0; i < rod->n_vert; i++) {
    if (rod->x[3 * i] < -0.499) {
      left[n_left++] = i;
    } else if (rod->x[3 * i] > 0.499) {
      right[n_right++] = i;
    }
  }
  world_add(&world, rod, origin);
  static double speed[2] = {1.2566, -1.2566};
  NoliMotionDef* motion = world_add_motion(&world, 0, twist, &speed[0]);
  motion->node = left;
  motion->n_node = n_left;
  motion = world_add_motion(&world, 0, twist, &speed[1]);
  motion->node = right;
  motion->n_node = n_right;
  world.def.gravity[1] = 0.0;
  world.def.time_step = 0.025;

  // turn
  world_start(&world);
  for (int i = 0; i < 80; i++) {
    world_step(&world);
    ASSERT_AT_LEAST(world.report.motion_done, 0.999);
  }

  // the ends have turned by 2.5 rad each
  const double *x = noli_sim_positions(world.sim), *X = noli_sim_rest_positions(world.sim);
  double angle = speed[0] * 80 * 0.025;
  for (int32_t i = 0; i < n_left; i++) {
    int32_t v = left[i];
    ASSERT_NEAR(x[3 * v + 1], cos(angle) * X[3 * v + 1] - sin(angle) * X[3 * v + 2], 1e-3);
    ASSERT_NEAR(x[3 * v], X[3 * v], 1e-12);
  }
  world_done(&world);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(feasible_motion_is_done),
      cmocka_unit_test(infeasible_motion_stops_and_says_so),
      cmocka_unit_test(twisted_rod_keeps_its_ends),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
