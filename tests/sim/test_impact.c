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
  // the audit has shown that nothing has crossed; the ball is on the correct side of the board
  ASSERT_AT_LEAST(centre[2], 0.0);
  world_done(&world);
}

static void balls_do_not_tunnel(void** state) {
  (void)state;
  fire_at_board(10.0);
  fire_at_board(100.0);
  fire_at_board(1000.0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(balls_do_not_tunnel),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
