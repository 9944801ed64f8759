// Friction that sticks: contacts keep an elastic slip, and hold.
#include "world.h"

#include "noli/live.h"

#define G_ALONG 3.354072 // m/s^2: g = 9.80665 on a slope of 20 degrees
#define G_ACROSS 9.215239
#define TANGENT (G_ALONG / G_ACROSS)
#define STICK_LENGTH 1e-6
#define STILL 1e-9 // m/s

// How a run is solved.
typedef struct Way {
  const char* solver;
  const char* method;
  const char* model;
  const char* integrator;
  int32_t iterations;
} Way;

#define PLAIN                                                                                      \
  { NULL, "lagged", "ipc", "backward_euler", NOLI_FRICTION_AUTOMATIC }

static void use_way(World* world, Way way) {
  world->def.friction_law = "stick";
  world->def.stick_length = (NoliScaled){STICK_LENGTH, NOLI_ABSOLUTE};
  world->def.solver = way.solver;
  world->def.contact_model = way.model;
  world->def.integrator = way.integrator;
  world->def.friction_iterations = way.iterations;
  world->def.audit = strcmp(way.model, "implicit_surface") == 0 ? "off" : "every_step";
  world_use_friction(world, way.method);
}

// A block on a floor with the gravity of a slope; the floor is a half-space or a board.
static World block_on_slope(Way way, double mu, bool board) {
  World world = world_new(1);
  NoliMesh* mesh = NULL;
  ASSERT_OK(noli_mesh_make_box(world.context, (double[]){0.1, 0.05, 0.1}, (int32_t[]){4, 2, 4},
                               false, &mesh));
  world_add(&world, mesh, (double[]){0.0, 0.02507, 0.0});
  if (board) {
    ASSERT_OK(noli_mesh_make_box(world.context, (double[]){0.4, 0.02, 0.4}, (int32_t[]){5, 1, 5},
                                 false, &mesh));
    world_add_obstacle(&world, mesh, (double[]){0.01, -0.01, 0.013});
  } else {
    world_add_plane(&world, (double[]){0, 0, 0}, (double[]){0, 1, 0});
  }
  world.body[0].material.young = 1e7;
  world.body[0].material.poisson = 0.3;
  world.def.gravity[0] = G_ALONG;
  world.def.gravity[1] = -G_ACROSS;
  world.def.friction = mu;
  use_way(&world, way);
  return world;
}

static void steps(World* world, int n) {
  for (int i = 0; i < n; i++) {
    world_step(world);
  }
}

static double speed_along(const World* world) {
  return world->report.momentum[0] / (0.1 * 0.05 * 0.1 * world->body[0].material.density);
}

// Below its limit a block stands, with every solver, method, model and integrator.
static void a_block_on_a_slope_stands(void** state) {
  (void)state;
  static const Way ways[] = {
      PLAIN,
      {NULL, "lagged", "ipc", "backward_euler", 1},
      {NULL, "lagged", "ipc", "backward_euler", NOLI_FRICTION_UNTIL_CONVERGENCE},
      {NULL, "implicit", "ipc", "backward_euler", NOLI_FRICTION_AUTOMATIC},
      {"implicit_newton", "lagged", "ipc", "backward_euler", NOLI_FRICTION_AUTOMATIC},
      {"augmented_lagrangian", "lagged", "ipc", "backward_euler", NOLI_FRICTION_AUTOMATIC},
      {NULL, "lagged", "gcp", "backward_euler", NOLI_FRICTION_AUTOMATIC},
      {NULL, "implicit", "gcp", "backward_euler", NOLI_FRICTION_AUTOMATIC},
      {NULL, "lagged", "implicit_surface", "backward_euler", NOLI_FRICTION_AUTOMATIC},
      {NULL, "implicit", "implicit_surface", "backward_euler", NOLI_FRICTION_AUTOMATIC},
      {NULL, "lagged", "ipc", "bdf2", NOLI_FRICTION_AUTOMATIC},
      {NULL, "lagged", "ipc", "sdirk2", NOLI_FRICTION_AUTOMATIC},
  };
  for (size_t w = 0; w < sizeof ways / sizeof *ways; w++) {
    for (int board = 0; board < 2; board++) {
      World world = block_on_slope(ways[w], 1.25 * TANGENT, board == 1);
      double then[3], now[3];
      world_start(&world);
      steps(&world, 60);
      world_centre(&world, 0, then);
      steps(&world, 60);
      world_centre(&world, 0, now);
      if (!(fabs(now[0] - then[0]) < 0.6 * STILL) || !(fabs(speed_along(&world)) < STILL)) {
        print_error("way %zu, board %d: moved by %.3g m, %.3g m/s\n", w, board, now[0] - then[0],
                    speed_along(&world));
      }
      ASSERT_NEAR(now[0], then[0], 0.6 * STILL);
      ASSERT_NEAR(speed_along(&world), 0.0, STILL);
      assert_true(world.report.contacts_held > 0);
      assert_true(world.report.contacts_sliding == 0);
      assert_true(world.report.friction_stored > 0.0);
      world_done(&world);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_block_on_a_slope_stands),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
