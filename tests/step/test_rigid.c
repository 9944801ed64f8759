// Rigid bodies.
#include "world.h"

#include "fem/blocks/block_rigid.h"

static double stretch(const World* world) {
  const NoliProblem* problem = &world->sim->model->problem;
  double largest = 0.0;
  for (int32_t i = 0; i < problem->n_block; i++) {
    const NoliBlock* block = &problem->block[i];
    for (int32_t e = 0; block->type == &noli_block_rigid && e < block->n_element; e++) {
      largest = noli_larger(largest, noli_rigid_stretch(block, e, noli_sim_positions(world->sim)));
    }
  }
  return largest;
}

static void spin(const char* integrator, double rate) {
  World world = world_new(1);
  int32_t box = world_add(&world, make_box(&world, 0.2, 0.3, 0.4, 1), (double[]){0.1, 2.0, -0.3});
  world.body[box].rigid.rigid = true;
  memcpy(world.body[box].angular_velocity, (double[]){0.2 * rate, rate, 0.1 * rate}, 24);
  world.def.integrator = integrator;
  world.def.time_step = 0.01;
  world_start(&world);
  double worst = 0.0;
  int iterations = 0;
  double e0 = 0;
  for (int n = 1; n <= 50; n++) {
    world_step(&world);
    iterations += world.report.newton_iterations;
    worst = noli_larger(worst, stretch(&world));
    e0 = n == 1 ? world.report.kinetic : e0;
  }
  print_message("%s %g: %d iterations, stretch %.2g %g %g\n", integrator, rate, iterations, worst,
                world.report.kinetic, world.report.elastic);
  world_done(&world);
}

static void bodies_spin(void** state) {
  (void)state;
  for (int k = 0; k < 3; k++) {
    double rate = (double[]){1, 10, 30}[k];
    spin("backward_euler", rate);
    spin("bdf2", rate);
    spin("trapezoidal", rate);
    spin("sdirk2", rate);
    spin("tr_bdf2", rate);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(bodies_spin)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
