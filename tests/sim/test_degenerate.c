// Contact without a unique normal: aligned cubes, points on points, parallel edges, and Erleben's
// fundamental cases, at frame-rate time steps.
#include "world.h"

static const double up[3] = {0, 1, 0}, origin[3] = {0, 0, 0};

static void run(World* world, int steps) {
  world->def.time_step = 0.025;
  world_start(world);
  int64_t contacts = 0;
  for (int i = 0; i < steps; i++) {
    world_step(world);
    contacts = world->report.contacts_max > contacts ? world->report.contacts_max : contacts;
  }
  assert_true(contacts > 0);
  ASSERT_AT_LEAST(world->report.min_distance, 0.0);
  world_done(world);
}

static void aligned_cubes_stack(void** state) {
  (void)state;
  World world = world_new(1);
  for (int i = 0; i < 5; i++) {
    int32_t cube =
        world_add(&world, make_box(&world, 0.2, 0.2, 0.2, 1), (double[]){0, 0.12 + 0.202 * i, 0});
    world.body[cube].material.law = "fixed_corotated";
  }
  world_add_plane(&world, origin, up);
  // without friction the slightly uneven cubes would slide off each other, slowly
  world.def.friction = 0.3;
  world.def.time_step = 0.025;
  world_start(&world);
  for (int i = 0; i < 120; i++) {
    world_step(&world);
  }
  // a stack at rest: in order, upright, compressed as a column by its own weight,
  // u(z) = -rho g / E (H z - z^2 / 2)
  double centre[3];
  for (int32_t i = 0; i < 5; i++) {
    world_centre(&world, i, centre);
    ASSERT_NEAR(centre[0], 0.0, 5e-3);
    ASSERT_NEAR(centre[2], 0.0, 5e-3);
    double z = 0.1 + 0.2 * i;
    ASSERT_NEAR(centre[1], z - 1000.0 * 9.80665 / 1e5 * (z - 0.5 * z * z), 0.01);
  }
  ASSERT_AT_MOST(world.report.max_speed, 0.02);
  world_done(&world);
}

// One tetrahedron with its tip at the origin, pointing down.
static NoliMesh* tip_down(World* world) {
  NoliMesh* mesh = NULL;
  ASSERT_OK(noli_mesh_create(world->context, 4, 1, 0, 0, 0, false, &mesh));
  double x[12] = {0, 0, 0, 0.5, 0.8, 0.5, -0.5, 0.8, 0.5, 0.0, 0.8, -0.6};
  int32_t tet[4] = {0, 1, 2, 3};
  memcpy(mesh->x, x, sizeof x);
  memcpy(mesh->tet, tet, sizeof tet);
  noli_mesh_orient(mesh);
  return mesh;
}

static void point_falls_on_point(void** state) {
  (void)state;
  World world = world_new(1);
  NoliMesh* lower = tip_down(&world);
  noli_mesh_transform(lower, (double[]){1, 1, 1}, (double[]){180, 0, 0}, origin);
  world_add_obstacle(&world, lower, origin);
  world_add(&world, tip_down(&world), (double[]){0, 0.05, 0});
  run(&world, 60);
}

static void exactly_parallel_edges_meet(void** state) {
  (void)state;
  // a wedge edge falls on a wedge edge, and again crossed, and shifted along itself
  for (int turn = 0; turn < 3; turn++) {
    World world = world_new(1);
    NoliMesh* lower = make_box(&world, 1.0, 0.3, 0.3, 1);
    noli_mesh_transform(lower, (double[]){1, 1, 1}, (double[]){45, 0, 0}, origin);
    world_add_obstacle(&world, lower, origin);
    NoliMesh* upper = make_box(&world, 1.0, 0.3, 0.3, 1);
    noli_mesh_transform(upper, (double[]){1, 1, 1}, (double[]){45, turn == 1 ? 90 : 0, 0}, origin);
    world_add(&world, upper, (double[]){turn == 2 ? 0.37 : 0.0, 0.45, 0});
    world_add_plane(&world, (double[]){0, -0.5, 0}, up);
    run(&world, 60);
  }
}

static void erleben_pairs(void** state) {
  (void)state;
  static const char* const body[] = {"erleben/spike.msh", "erleben/wedge.msh", "cube.msh"};
  static const char* const obstacle[] = {"spike", "wedge", "cliff",
                                         "crack", "hole",  "internal_edges"};
  char path[512], name[128];
  for (size_t b = 0; b < sizeof body / sizeof body[0]; b++) {
    for (size_t o = 0; o < sizeof obstacle / sizeof obstacle[0]; o++) {
      World world = world_new(1);
      NoliMesh *falling = NULL, *fixed = NULL;
      snprintf(name, sizeof name, "ipc/input/tetMeshes/%s", body[b]);
      if (test_data(name, path, sizeof path) == NULL) {
        test_context_done(&world.context);
        skip();
      }
      ASSERT_OK(noli_mesh_read(world.context, path, &falling));
      snprintf(name, sizeof name, "ipc/input/triMeshes/erleben/%s.obj", obstacle[o]);
      assert_non_null(test_data(name, path, sizeof path));
      ASSERT_OK(noli_mesh_read(world.context, path, &fixed));
      noli_mesh_orient(falling);
      // tip down, centred above the middle of the obstacle
      noli_mesh_transform(falling, (double[]){1, 1, 1}, (double[]){b < 2 ? 180 : 0, 0, 0}, origin);
      double low[3] = {INFINITY, INFINITY, INFINITY}, high = -INFINITY;
      double centre[2][2] = {{0, 0}, {0, 0}};
      for (int32_t i = 0; i < falling->n_vert; i++) {
        low[1] = fmin(low[1], falling->x[3 * i + 1]);
        centre[0][0] += falling->x[3 * i] / falling->n_vert;
        centre[0][1] += falling->x[3 * i + 2] / falling->n_vert;
      }
      for (int32_t i = 0; i < fixed->n_vert; i++) {
        high = fmax(high, fixed->x[3 * i + 1]);
        centre[1][0] += fixed->x[3 * i] / fixed->n_vert;
        centre[1][1] += fixed->x[3 * i + 2] / fixed->n_vert;
      }
      world_add_obstacle(&world, fixed, origin);
      int32_t index = world_add(&world, falling,
                                (double[]){centre[1][0] - centre[0][0], high - low[1] + 0.05,
                                           centre[1][1] - centre[0][1]});
      world.body[index].material.law = "fixed_corotated";
      world.def.friction = 1.0;
      run(&world, 60);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(aligned_cubes_stack),
      cmocka_unit_test(point_falls_on_point),
      cmocka_unit_test(exactly_parallel_edges_meet),
      cmocka_unit_test(erleben_pairs),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
