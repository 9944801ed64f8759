// Rods that come to lie side by side, as those of a bundle do: nothing but their ends holds
// parallel ones apart. Without that, gaps fell until no step was possible, or thousands of
// iterations were.
#include "step/world.h"

#define RADIUS 5e-4
#define GAP 5e-4

static void make_rod(World* world, int32_t body) {
  world->body[body].rod.radius = RADIUS;
  world->body[body].contact_offset = NOLI_OFFSET_THICKNESS;
  world->body[body].material.young = 1e6;
  world->body[body].material.poisson = 0.4;
  world->body[body].material.density = 1000.0;
}

// The iterations of n steps, each of which must not take more than `most`.
static int run(World* world, int n, int most) {
  int all = 0;
  for (int i = 0; i < n; i++) {
    world_step(world);
    assert_true(world->report.newton_iterations <= most);
    all += world->report.newton_iterations;
  }
  return all;
}

// Straight rods fall between two bars, in line with them, with other vertices or the same ones, and
// stay above them.
static void rods_rest_on_bars_along_them(void** state) {
  (void)state;
  const int32_t n_segments[] = {7, 10};
  for (int k = 0; k < 2; k++) {
    World world = world_new(1);
    for (int i = 0; i < 3; i++) {
      NoliMesh* mesh = NULL;
      ASSERT_OK(noli_mesh_make_line(world.context, 0.2, 10, &mesh));
      make_rod(&world, world_add(&world, mesh, (double[]){0, 0.003 + 0.002 * i, 0}));
    }
    for (int i = 0; i < 2; i++) {
      NoliMesh* mesh = NULL;
      ASSERT_OK(noli_mesh_make_line(world.context, 0.3, n_segments[k], &mesh));
      int32_t bar = world_add_obstacle(&world, mesh, (double[]){0, 0, i == 0 ? 7e-4 : -7e-4});
      world.body[bar].contact_offset = RADIUS;
    }
    world.def.contact_distance = (NoliScaled){GAP, false};
    world.def.friction = 0.2;
    world.def.time_step = 0.01;
    world_start(&world);
    ASSERT_AT_MOST(run(&world, 30, 20), 120);
    for (int32_t b = 0; b < 3; b++) {
      ASSERT_AT_LEAST(world_lowest(&world, b), 7e-4);
    }
    world_done(&world);
  }
}

// Upright noodles, slightly wavy, fall into a bowl and lean on each other: with some time steps it
// took 120 to 350 iterations a step, with others 30 to 60.
static void noodles_fall_with_any_time_step(void** state) {
  (void)state;
  enum { ACROSS = 3, POINTS = 401, SEGMENTS = 20, STEPS = 16 };
  const double steps[] = {0.0125, 0.01625, 1.0 / 60.0, 0.0175};
  for (size_t k = 0; k < sizeof steps / sizeof *steps; k++) {
    World world = world_new(1);
    for (int r = 0; r < ACROSS * ACROSS; r++) {
      double at[3 * POINTS];
      int row = r / ACROSS, column = r % ACROSS;
      for (int i = 0; i < POINTS; i++) {
        double t = (double)i / (POINTS - 1), turn = 3.14159265358979323846 * t;
        at[3 * i] = 0.002 * sin(row + 6.0 * turn);
        at[3 * i + 1] = 0.4 * t;
        at[3 * i + 2] = 0.002 * cos(2 * row + 5.0 * turn);
      }
      NoliMesh* mesh = NULL;
      ASSERT_OK(noli_mesh_make_curve(world.context, at, POINTS, SEGMENTS, &mesh));
      int32_t body =
          world_add(&world, mesh, (double[]){0.008 * column - 0.008, 0.08, 0.008 * row - 0.008});
      make_rod(&world, body);
    }
    NoliMesh* bowl = NULL;
    ASSERT_OK(noli_mesh_make_bowl(world.context, 0.3, 0.02, 90.0, 24, 1, true, &bowl));
    noli_mesh_transform(bowl, (double[]){1, 1, 1}, (double[]){180, 0, 0}, (double[]){0, 0.3, 0});
    world_add_obstacle(&world, bowl, (double[]){0, 0, 0});
    world.def.contact_distance = (NoliScaled){GAP, false};
    world.def.friction = 0.2;
    world.def.time_step = steps[k];
    world_start(&world);
    int n = run(&world, STEPS, 300);
    print_message("h = %g s: %d iterations\n", steps[k], n);
    ASSERT_AT_MOST(n, STEPS * 70);
    world_done(&world);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(rods_rest_on_bars_along_them),
      cmocka_unit_test(noodles_fall_with_any_time_step),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
