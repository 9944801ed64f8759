// Motions and forces that are not finite are found before a run: noli_sim_check_conditions.
#include "step/world.h"

enum { N_STEPS = 20 };

// 1 / (t - pole)
static double pole = -1.0;

static void to_pole(void* user, double t0, double t1, int32_t n_node, const int32_t* node,
                    const double* X, const double* x_t0, double* x_t1) {
  (void)user, (void)t0, (void)node, (void)x_t0;
  for (int32_t i = 0; i < 3 * n_node; i++) {
    x_t1[i] = X[i] + (i % 3 == 1 ? 1e-3 / (t1 - pole) : 0.0);
  }
}

static void load(void* user, double t, const double X[3], double value[3]) {
  (void)user;
  value[0] = X[0] > 0.0 ? 1.0 / (t - pole) : 0.0;
}

static void expect(World* world, const char* part) {
  for (int32_t b = 0; b < world->def.n_bodies; b++) {
    world->body[b].name = world->name[b];
  }
  world->def.bodies = world->body;
  world->def.motions = world->motion;
  NoliStatus status = noli_sim_check_conditions(world->context, &world->def, N_STEPS);
  if (part == NULL) {
    assert_string_equal(noli_context_message(world->context), "");
  }
  assert_int_equal(status, part != NULL ? NOLI_NOT_FINITE : NOLI_OK);
  if (part != NULL && strstr(noli_context_message(world->context), part) == NULL) {
    fail_msg("\"%s\" is not in: %s", part, noli_context_message(world->context));
  }
  world_done(world);
}

static World one_body(void) {
  World world = world_new(1);
  world_add(&world, make_box(&world, 0.1, 0.1, 0.1, 1), (double[]){0.0, 0.0, 0.0});
  return world;
}

static void motions_are_followed(void** state) {
  (void)state;
  pole = -1.0;
  World world = one_body();
  world_add_motion(&world, 0, to_pole, NULL);
  expect(&world, NULL);
  pole = (double)NAN;
  world = one_body();
  world_add_motion(&world, 0, to_pole, NULL)->name = "lift";
  expect(&world, "motion 0 (\"lift\") of body \"body0\": vertex 0 is not finite at t = 0.01 s");
  pole = 10 * 0.01;
  world = one_body();
  world_add_motion(&world, 0, to_pole, NULL);
  expect(&world, "at t = 0.1 s");

  // before it, after it, in another component, and after the motion has ended by position
  world = one_body();
  world_add_motion(&world, 0, to_pole, NULL)->t_end = 0.085;
  expect(&world, NULL);
  world = one_body();
  world_add_motion(&world, 0, to_pole, NULL)->t_begin = 0.105;
  expect(&world, NULL);
  world = one_body();
  world_add_motion(&world, 0, to_pole, NULL)->free_axis[1] = true;
  expect(&world, NULL);
  world = one_body();
  NoliMotionDef* motion = world_add_motion(&world, 0, to_pole, NULL);
  motion->ends_beyond = true;
  motion->end_normal[1] = 1.0;
  motion->end_origin[1] = 5.0;
  expect(&world, "at t = 0.1 s");
  world = one_body();
  motion = world_add_motion(&world, 0, to_pole, NULL);
  motion->ends_beyond = true;
  motion->end_normal[1] = -1.0;
  motion->end_origin[1] = 0.0;
  expect(&world, NULL);
}

static void forces_are_evaluated(void** state) {
  (void)state;
  NoliForceDef force = noli_default_force_def();
  force.value = load;
  for (int k = 0; k < 3; k++) {
    World world = one_body();
    pole = 5 * 0.01;
    force.t_end = k == 1 ? 0.045 : (double)INFINITY;
    force.t_begin = k == 2 ? 0.055 : 0.0;
    world.def.forces = &force;
    world.def.n_forces = 1;
    expect(&world,
           k == 0 ? "force 0 of body \"body0\": vertex 4 is not finite at t = 0.05 s" : NULL);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(motions_are_followed),
      cmocka_unit_test(forces_are_evaluated),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
