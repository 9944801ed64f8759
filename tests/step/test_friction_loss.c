// Energy that friction dissipates when a block slides down a slope of tangent 0.5.
#include "world.h"

#define TANGENT 0.5

static const double gravity = 9.81;

// Gravity tilts from vertical to the slope's angle within a second.
static void tilt(void* user, double t, const double X[3], double value[3]) {
  (void)user;
  (void)X;
  double angle = atan(TANGENT) * fmin(t, 1.0);
  value[0] = gravity * sin(angle);
  value[1] = -gravity * cos(angle);
  value[2] = 0.0;
}

static World block_on_slope(double mu, const char* friction_method) {
  World world = world_new(1);
  // a stiff block just above the plane
  int32_t block = world_add(&world, make_box(&world, 1.0, 0.5, 1.0, 2), (double[]){0, 0.2505, 0});
  world.body[block].material.young = 1e9;
  world_add_plane(&world, (double[]){0, 0, 0}, (double[]){0, 1, 0});
  world.def.gravity[1] = 0.0;
  static const NoliForceDef slope = {.size = sizeof(NoliForceDef),
                                     .kind = "acceleration",
                                     .t_begin = 0.0,
                                     .t_end = (double)INFINITY,
                                     .value = tilt};
  world.def.forces = &slope;
  world.def.n_forces = 1;
  world.def.friction = mu;
  world.def.friction_method = friction_method;
  world.def.friction_speed = (NoliScaled){1e-5, false};
  world.def.friction_iterations = strcmp(friction_method, "lagged") == 0 ? 0 : 1;
  world.def.tolerance = (NoliScaled){1e-7, false};
  world.def.time_step = 0.02;
  world_start(&world);
  return world;
}

// Position along the slope after `steps` steps.
static double slide(World* world, int steps) {
  double centre[3];
  for (int i = 0; i < steps; i++) {
    world_step(world);
  }
  world_centre(world, 0, centre);
  return centre[0];
}

// Friction takes mu m g cos(slope) times the distance covered from a sliding block, with or without
// an energy.
static void friction_takes_force_times_way(void** state) {
  (void)state;
  static const char* const methods[] = {"lagged", "implicit"};
  for (int m = 0; m < 2; m++) {
    World world = block_on_slope(0.2, methods[m]);
    double start = slide(&world, 60), lost = 0.0, mass = 0.0;
    for (int i = 0; i < 20; i++) {
      world_step(&world);
      lost += world.report.friction_loss;
    }
    double way = slide(&world, 0) - start;
    for (int32_t i = 0; i < noli_sim_vertex_count(world.sim); i++) {
      mass += noli_sim_masses(world.sim)[i];
    }
    double want = 0.2 * mass * gravity / sqrt(1.0 + TANGENT * TANGENT) * way;
    print_message(
        "%s friction: dissipated %.6g J, mu m g cos times distance %.6g J, energy %.3g J\n",
        methods[m], lost, want, world.report.friction_energy);
    ASSERT_NEAR(lost, want, 1e-3 * want);
    world_done(&world);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(friction_takes_force_times_way),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
