// Solves that cannot go on: contact that stops Newton's method ends them soon, is felt where it
// can be, and does not end the run where a prescribed motion asks for what there is no room for.
#include "world.h"

static void expect_in(const char* text, const char* part) {
  if (strstr(text, part) == NULL) {
    print_error("\"%s\" does not say \"%s\"\n", text, part);
    fail();
  }
}

// A barrier so soft that nothing holds a box on ground at a height where rounding leaves gaps of
// 1e-16 m: collision detection alone stops it there, alike in every iteration.
static void same_blocker_ends_the_solve(void** state) {
  (void)state;
  for (int integrator = 0; integrator < 2; integrator++) {
    World world = world_new(1);
    world_add(&world, make_box(&world, 0.2, 0.2, 0.2, 1), (double[]){0, 1.101, 0});
    world_add_plane(&world, (double[]){0, 1, 0}, (double[]){0, 1, 0});
    world.def.time_step = 0.02;
    world.def.integrator = integrator == 0 ? "backward_euler" : "trapezoidal";
    world.def.barrier_stiffness = 1e-60;
    world.def.max_substeps = 1;
    world_start(&world);
    NoliStatus status = NOLI_OK;
    for (int step = 0; step < 10 && status == NOLI_OK; step++) {
      status = noli_sim_step(world.sim, &world.report);
    }
    ASSERT_STATUS(status, NOLI_STEP_BLOCKED);
    print_message("%d iterations: %s; %s\n", world.report.newton_iterations,
                  noli_context_message(world.context), world.report.blocked_by);
    // from 1 mm down to rounding, a digit an iteration, and then ten alike
    ASSERT_AT_MOST(world.report.newton_iterations, 40);
    expect_in(noli_context_message(world.context), "in a row");
    expect_in(world.report.blocked_by, "contact of \"body0\" with \"ground\"");
    world_done(&world);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(same_blocker_ends_the_solve),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
