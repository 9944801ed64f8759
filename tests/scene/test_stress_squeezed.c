// The scenes of examples/stress in which bodies are squeezed: chopsticks, a hole, a funnel, a
// press; as in test_stress_scenes.c.
#include "stress_run.h"

// ---- fig. 5 -------------------------------------------------------------------------------------

static void chopsticks_hold_noodles_by_friction_and_let_go(void** state) {
  (void)state;
  Run run =
      START("noodles", {"bodies[0].mesh.rod.cells_along", "18"},
            {"bodies[1].mesh.rod.cells_along", "18"}, {"bodies[2].mesh.rod.cells_along", "18"},
            {"bodies[3].mesh.rod.cells_along", "18"}, {"bodies[4].mesh.rod.cells_along", "18"},
            {"bodies[5].mesh.rod.cells_along", "18"}, {"bodies[6].mesh.rod.cells_along", "18"},
            {"bodies[7].mesh.rod.cells_along", "18"}, {"bodies[8].mesh.rod.cells_along", "18"});
  step_until(&run, 1.5);
  int32_t lifted = 0;
  for (int32_t b = 0; b < body_count(&run); b++) {
    lifted += centre(&run, b).y > 0.1;
  }
  print_message("%d of %d noodles are lifted\n", lifted, body_count(&run));
  assert_true(lifted >= 1);
  step_until(&run, 2.4);
  // all are back in the bowl
  for (int32_t b = 0; b < body_count(&run); b++) {
    NoliVec3 c = centre(&run, b);
    ASSERT_AT_MOST(c.y, 0.1);
    ASSERT_AT_MOST(hypot(c.x, c.z), 0.23);
    ASSERT_AT_LEAST(extreme(&run, b, 1, false), 0.0);
  }
  ASSERT_AT_MOST(run.report.max_speed, 3.0);
  finish(&run, "noodles");
}

// ---- fig. 15, 16 --------------------------------------------------------------------------------

static void body_passes_a_hole_narrower_than_itself(void** state) {
  (void)state;
  Run run = START("tiny_hole", {"time.step", "0.02"});
  double stored = 0.0;
  // the rod stops after 100 steps
  while (run.steps < 120) {
    step_until(&run, noli_sim_time(run.sim) + run.def->time_step);
    stored = noli_larger(stored, run.report.elastic);
  }
  print_message("%.3g J stored in the hole, %.3g J behind it, shape within %.3g\n", stored,
                run.report.elastic, shape_error(&run, 0));
  ASSERT_AT_MOST(extreme(&run, 0, 1, true), -0.02);
  ASSERT_AT_MOST(shape_error(&run, 0), 0.01);
  // the energy gained does not exceed the work of the rod
  ASSERT_AT_MOST(energy(&run), stored);
  finish(&run, "tiny_hole");
}

static void body_is_dragged_through_a_funnel_and_recovers(void** state) {
  (void)state;
  Run run =
      START("funnel", {"bodies[0].mesh.voxels.cells", "[12, 6, 6]"},
            {"obstacles[0].mesh.revolution.profile", "[[0.5, -0.2], [0.17, 0.4], [0.17, 1.2]]"},
            {"time.step", "0.04"});
  double stored = 0.0;
  while (run.steps < 100) {
    step_until(&run, noli_sim_time(run.sim) + run.def->time_step);
    stored = noli_larger(stored, run.report.elastic);
    ASSERT_AT_MOST(run.report.max_speed, 15.0);
  }
  print_message("%.3g J stored, %.3g J at the end, tail at %.2f m, shape within %.3g\n", stored,
                run.report.elastic, extreme(&run, 0, 0, false), shape_error(&run, 0));
  ASSERT_AT_LEAST(extreme(&run, 0, 0, false), 1.2);
  ASSERT_AT_LEAST(stored, 1000.0);
  ASSERT_AT_MOST(shape_error(&run, 0), 0.02);
  finish(&run, "funnel");
}

// ---- fig. 1 -------------------------------------------------------------------------------------

// Three balls; NULL: the press of the example.
static Run start_balls(const char* press) {
  return press == NULL ? START("squishy_balls", {"bodies[0].copies.count", "1"},
                               {"bodies[1].copies.count", "1"}, {"time.step", "0.02"})
                       : START("squishy_balls", {"bodies[0].copies.count", "1"},
                               {"bodies[1].copies.count", "1"}, {"time.step", "0.02"},
                               {"obstacles[0].motion.displacement[1]", press});
}

// Their soft arms bend under the weight of the balls: they have recovered when their elastic energy
// and height equal those of balls that were never pressed. The release throws them up; they land
// 0.4 s later and swing for half a second (elastic energies from 0.040 to 0.061 J).
static void pressed_balls_with_arms_recover(void** state) {
  (void)state;
  Run run = start_balls(NULL);
  step_until(&run, 1.2);
  double pressed = highest(&run), stored = run.report.elastic;
  ASSERT_AT_LEAST(run.report.motion_done, 0.999);
  step_until(&run, 1.36);
  double last = energy(&run), released = last;
  while (noli_sim_time(run.sim) < 2.799) {
    step_until(&run, noli_sim_time(run.sim) + run.def->time_step);
    // the press has gone
    ASSERT_AT_MOST(energy(&run), last + 0.02 * released);
    last = energy(&run);
    assert_contained(&run, 0.25);
  }
  Run still = start_balls("0");
  step_until(&still, 1.2);
  print_message(
      "pressed to %.4f m, %.3g J stored, %.3g J at the end, %.3g J where nothing pressed; "
      "highest %.4f and %.4f m\n",
      pressed, stored, run.report.elastic, still.report.elastic, highest(&run), highest(&still));
  ASSERT_AT_MOST(pressed, 0.005);
  ASSERT_AT_LEAST(stored, 100.0 * still.report.elastic);
  ASSERT_NEAR(run.report.elastic, still.report.elastic, 0.1 * still.report.elastic);
  ASSERT_NEAR(highest(&run), highest(&still), 0.01);
  finish(&still, "squishy_balls, not pressed");
  finish(&run, "squishy_balls");
}

int main(int argc, char** argv) {
  cmocka_set_test_filter(argc > 1 ? argv[1] : NULL);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(chopsticks_hold_noodles_by_friction_and_let_go),
      cmocka_unit_test(body_passes_a_hole_narrower_than_itself),
      cmocka_unit_test(body_is_dragged_through_a_funnel_and_recovers),
      cmocka_unit_test(pressed_balls_with_arms_recover),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
