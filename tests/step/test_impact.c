// Impacts: no tunnelling at any speed, energy that never grows. (Momentum:
// validation/invariants.c.)
#include "structures.h"

static void fire_at_board(double speed) {
  World world = world_new(1);
  int32_t ball = add_ball_and_board(&world, speed);
  world_start(&world);
  double energy = INFINITY, centre[3];
  int64_t contacts = 0;
  for (int i = 0; i < 25; i++) {
    world_step(&world);
    double now = world_total_energy(&world);
    ASSERT_AT_MOST(now, energy * (1.0 + 1e-9) + 1e-9);
    energy = now;
    contacts = world.report.contacts_max > contacts ? world.report.contacts_max : contacts;
  }
  world_centre(&world, ball, centre);
  print_message("%.0f m/s: ball ends at z = %.4f m, up to %lld contacts, energy %.3g J\n", speed,
                centre[2], (long long)contacts, energy);
  assert_true(contacts > 0);
  // the audit has shown that no surfaces have crossed; the ball is on the correct side of the board
  ASSERT_AT_LEAST(centre[2], 0.0);
  world_done(&world);
}

static void balls_do_not_tunnel(void** state) {
  (void)state;
  fire_at_board(10.0);
  fire_at_board(100.0);
  fire_at_board(1000.0);
}

// A block of 0.3 mm hits the floor at `speed`, and at 300 m/s along it: the floor takes the normal
// speed, and friction mu times that of the tangential one. A tolerance of 1e-2 l per second alone,
// 4 um/s, would require eight digits of this speed. Returns the share of the friction that is in
// excess or missing.
static double graze(double speed, int32_t iterations, NoliStepReport* report) {
  const double mu = 0.2, along = 300.0;
  World world = world_new(1);
  int32_t block = world_add(&world, make_box(&world, 1e-4, 3e-4, 2e-4, 1), (double[]){0, 6e-4, 0});
  world.body[block].material.young = 6e9;
  world.body[block].material.density = 157.0;
  memcpy(world.body[block].velocity, (double[]){along, -speed, 0}, sizeof(double[3]));
  world_add_plane(&world, (double[]){0, 0, 0}, (double[]){0, 1, 0});
  world.def.time_step = 5e-3;
  world.def.friction = mu;
  world.def.friction_iterations = iterations;
  world_start(&world);
  world_step(&world);
  NoliBodyState motion;
  ASSERT_OK(noli_sim_body_state(world.sim, block, &motion));
  double friction = mu * (speed + 9.80665 * 5e-3 + motion.velocity[1]);
  double ratio = (along - motion.velocity[0]) / friction;
  double error = 1.0 - fmin(ratio, 1.0 / ratio);
  *report = world.report;
  print_message("%.0f m/s: %d iterations, %d solves, friction off by %.3f %%, reported %.3f %%\n",
                speed, (int)report->newton_iterations, (int)report->friction_iterations,
                100.0 * error, 100.0 * report->friction_error);
  world_done(&world);
  return error;
}

// By default a step may end while friction has the normal forces of the solve before, with the
// error that it reports; repeated until convergence, friction follows its law. A solve ends when
// friction balances to 0.1 %.
static void a_small_fast_block_grazes_the_floor(void** state) {
  (void)state;
  static const double speed[] = {20.0, 50.0, 80.0, 90.0, 100.0, 200.0};
  for (size_t k = 0; k < sizeof speed / sizeof *speed; k++) {
    NoliStepReport report;
    double error = graze(speed[k], NOLI_FRICTION_AUTOMATIC, &report);
    ASSERT_AT_MOST(report.friction_error, 0.05);
    ASSERT_NEAR(error, report.friction_error, 1e-3);
    error = graze(speed[k], NOLI_FRICTION_UNTIL_CONVERGENCE, &report);
    ASSERT_NEAR(error, 0.0, 1e-3);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(balls_do_not_tunnel),
      cmocka_unit_test(a_small_fast_block_grazes_the_floor),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
