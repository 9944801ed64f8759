// Impacts: no tunnelling at any speed, energy that never grows, momentum that is kept.
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
  // the audit has shown that nothing was crossed; the ball is on its own side of the board
  ASSERT_AT_LEAST(centre[2], 0.0);
  world_done(&world);
}

static void balls_do_not_tunnel(void** state) {
  (void)state;
  fire_at_board(10.0);
  fire_at_board(100.0);
  fire_at_board(1000.0);
}

static void momentum_is_kept(const char* integrator) {
  World world = world_new(1);
  int32_t a = world_add(&world, make_sphere(&world, 0.2, 3), (double[]){-0.35, 0.0, 0.0});
  int32_t b = world_add(&world, make_box(&world, 0.4, 0.4, 0.4, 2), (double[]){0.3, 0.1, 0.05});
  world.body[a].velocity[0] = 3.0;
  world.body[a].velocity[1] = 0.7;
  world.body[b].velocity[0] = -1.0;
  world.body[b].angular_velocity[2] = 2.0;
  world.body[b].material.density = 300.0;
  world.def.gravity[1] = 0.0;
  world.def.friction = 0.5;
  world.def.time_step = 0.01;
  world.def.integrator = integrator;
  world.def.tolerance = (NoliScaled){1e-8, false};
  world_start(&world);
  double start[3] = {0}, scale = 0.0;
  for (int32_t i = 0; i < noli_sim_vertex_count(world.sim); i++) {
    for (int k = 0; k < 3; k++) {
      double p = noli_sim_masses(world.sim)[i] * noli_sim_velocities(world.sim)[3 * i + k];
      start[k] += p;
      scale += fabs(p);
    }
  }
  int64_t contacts = 0;
  double worst = 0.0;
  for (int i = 0; i < 30; i++) {
    world_step(&world);
    contacts += world.report.contacts;
    for (int k = 0; k < 3; k++) {
      worst = fmax(worst, fabs(world.report.momentum[k] - start[k]) / scale);
    }
  }
  print_message("%s: largest relative change of momentum %.3g\n", integrator, worst);
  assert_true(contacts > 0);
  ASSERT_AT_MOST(worst, 1e-8);
  world_done(&world);
}

static void frictional_impact_keeps_momentum(void** state) {
  (void)state;
  momentum_is_kept("backward_euler");
  momentum_is_kept("trapezoidal");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(balls_do_not_tunnel),
      cmocka_unit_test(frictional_impact_keeps_momentum),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
