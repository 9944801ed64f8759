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

// A block of 0.3 mm hits the floor at 316 m/s: the floor takes the normal speed, and friction mu
// times that of the tangential one. A tolerance of 1e-2 l per second alone, 4 um/s, would require
// eight digits of this speed.
static void a_small_fast_block_grazes_the_floor(void** state) {
  (void)state;
  const double mu = 0.2;
  World world = world_new(1);
  int32_t block = world_add(&world, make_box(&world, 1e-4, 3e-4, 2e-4, 1), (double[]){0, 6e-4, 0});
  world.body[block].material.young = 6e9;
  world.body[block].material.density = 157.0;
  memcpy(world.body[block].velocity, (double[]){300, -100, 0}, sizeof(double[3]));
  world_add_plane(&world, (double[]){0, 0, 0}, (double[]){0, 1, 0});
  world.def.time_step = 5e-3;
  world.def.friction = mu;
  world_start(&world);
  world_step(&world);
  NoliBodyState motion;
  ASSERT_OK(noli_sim_body_state(world.sim, block, &motion));
  double expected = 300.0 - mu * (100.0 + 9.81 * 5e-3);
  print_message("%d iterations, %.4f m/s, Coulomb %.4f\n", (int)world.report.newton_iterations,
                motion.velocity[0], expected);
  ASSERT_NEAR(motion.velocity[0], expected, 0.02);
  world_done(&world);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(balls_do_not_tunnel),
      cmocka_unit_test(a_small_fast_block_grazes_the_floor),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
