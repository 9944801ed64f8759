// Whole scenes with both collision detection methods: no body passes through another for any solver
// and speed, and the runs agree if no step is cut.
#include "world.h"

// A fast box against a thin plate, and a second box behind the first one.
static void shoot(const char* solver, const char* ccd, double speed, double centre[3]) {
  World world = world_new(1);
  NoliMesh* plate = NULL;
  world_add(&world, make_box(&world, 0.2, 0.2, 0.2, 2), (double[]){0.01, 0.3, 0.02});
  world_add(&world, make_box(&world, 0.1, 0.1, 0.1, 1), (double[]){0.02, 0.5, 0.0});
  ASSERT_OK(noli_mesh_make_plane(world.context, 2.0, 2.0, 2, 2, &plate));
  world_add_obstacle(&world, plate, (double[]){0.0, 0.0, 0.0});
  world.body[0].velocity[1] = world.body[1].velocity[1] = -speed;
  world.def.solver = solver;
  world.def.ccd = ccd;
  world.def.friction = 0.2;
  world.def.audit = "every_iteration";
  world.def.time_step = 0.005;
  world_start(&world);
  for (int step = 0; step < 12; step++) {
    world_step(&world);
  }
  world_centre(&world, 0, centre);
  print_message("  %s, %s, %g m/s: height %.6f m after %d iterations in the last step\n", solver,
                ccd, speed, centre[1], (int)world.report.newton_iterations);
  world_done(&world);
}

static void nothing_passes_with_either(void** state) {
  (void)state;
  const char* const solvers[] = {"projected_newton", "augmented_lagrangian", "implicit_newton"};
  for (int s = 0; s < 3; s++) {
    double centre[2][3];
    for (int m = 0; m < 2; m++) {
      shoot(solvers[s], noli_choice_name(NOLI_CHOICE_CCD, m), s == 2 ? 4.0 : 20.0, centre[m]);
      // in front of the plate all the time
      ASSERT_AT_LEAST(centre[m][1], 0.0);
    }
    // the same motion, up to where steps were cut and solvers stopped
    for (int k = 0; k < 3; k++) {
      ASSERT_NEAR(centre[0][k], centre[1][k], 0.02);
    }
  }
}

static void unknown_methods_are_refused(void** state) {
  (void)state;
  World world = world_new(1);
  world_add(&world, make_box(&world, 0.2, 0.2, 0.2, 1), (double[]){0.0, 0.0, 0.0});
  world.def.ccd = "exact";
  ASSERT_STATUS(world_create(&world), NOLI_ERROR_ARGUMENT);
  world_done(&world);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(nothing_passes_with_either),
      cmocka_unit_test(unknown_methods_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
