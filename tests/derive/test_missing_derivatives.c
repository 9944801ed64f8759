// Types of elements and connections may have no derivatives: they run, and derivatives of their
// runs are refused by name.
#include "gradient_runs.h"

static void elements_without_derivatives_are_refused_by_name(void** state) {
  (void)state;
  const NoliParameterDef young = OF("young", "body0");
  World world = world_new(1);
  add_plain_box(&world, 0.0);
  world_start(&world);
  NoliBlock* block = &world.sim->model->problem.block[0];
  NoliBlockType bare = *block->type;
  bare.name = "bare elements";
  bare.derivatives = NULL;
  block->type = &bare;
  world_step(&world);
  expect_run_refusal(&world, 2, &young, "elements of the type \"bare elements\" have none");
}

static void connections_without_derivatives_are_refused_by_name(void** state) {
  (void)state;
  const NoliParameterDef young = OF("young", "body0");
  NoliSpringDef spring = noli_default_spring_def();
  spring.stiffness = 10.0;
  World world = world_new(1);
  add_plain_box(&world, 0.0);
  world.def.springs = &spring;
  world.def.n_springs = 1;
  world_start(&world);
  NoliConnections* connections = &world.sim->own_model->problem.connection[NOLI_CONNECTION_SPRING];
  NoliConnectionForces bare = *connections->forces;
  bare.name = "bare springs";
  bare.derivatives = NULL;
  connections->forces = &bare;
  world_step(&world);
  expect_run_refusal(&world, 2, &young, "derivatives: bare springs have none");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(elements_without_derivatives_are_refused_by_name),
      cmocka_unit_test(connections_without_derivatives_are_refused_by_name)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
