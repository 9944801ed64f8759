// Motions that end by position: for good, at the right step, also across a restart.
#include "world.h"

#define H 0.01

static void move_up(void* user, double t0, double t1, int32_t n, const int32_t* node,
                    const double* X, const double* x_t0, double* x_t1) {
  (void)node;
  (void)X;
  const double* speed = user;
  for (int32_t i = 0; i < 3 * n; i++) {
    x_t1[i] = x_t0[i] + (i % 3 == 1 ? *speed * (t1 - t0) : 0.0);
  }
}

static double speed_up = 1.0;

static void end_above(NoliMotionDef* motion, double height) {
  motion->ends_beyond = true;
  motion->end_origin[1] = height;
  motion->end_normal[1] = 2.0;
}

// A block and, beside it, a plate are lifted until they are above a height.
static World lift(double height) {
  World world = world_new(1);
  world_add(&world, make_box(&world, 0.2, 0.2, 0.2, 2), (double[]){0, 0.1, 0});
  NoliMesh* plate = NULL;
  ASSERT_OK(noli_mesh_make_plane(world.context, 0.2, 0.2, 2, 2, &plate));
  world_add_obstacle(&world, plate, (double[]){1, 0.05, 0});
  for (int32_t body = 0; body < 2; body++) {
    end_above(world_add_motion(&world, body, move_up, &speed_up), height);
  }
  world.def.time_step = H;
  world_start(&world);
  return world;
}

static void ends_for_good(void** state) {
  (void)state;
  // the plate starts 0.05 higher: the motion of each body ends separately, between two steps
  World world = lift(0.1 - 0.5 * H);
  double block = 0.0, speed = 1.0;
  for (int step = 1; step <= 30; step++) {
    world_step(&world);
    ASSERT_NEAR(world_lowest(&world, 1), fmin(0.05 + H * step, 0.1), 1e-12);
    if (step <= 10) {
      ASSERT_NEAR(world_lowest(&world, 0), H * step, 1e-12);
      block = world_lowest(&world, 0);
      continue;
    }
    // free flight of backward Euler, back through the plane
    speed -= 9.80665 * H;
    block += speed * H;
    ASSERT_NEAR(world_lowest(&world, 0), block, 1e-6);
  }
  ASSERT_AT_MOST(block, 0.1);
  world_done(&world);
}

// Conditions are not checked before t_begin; a body beyond its limit at the start does not move.
static void only_acting_motions_end(void** state) {
  (void)state;
  World world = world_new(1);
  NoliMesh* plate[2] = {NULL, NULL};
  for (int32_t k = 0; k < 2; k++) {
    ASSERT_OK(noli_mesh_make_plane(world.context, 0.2, 0.2, 1, 1, &plate[k]));
    world_add_obstacle(&world, plate[k], (double[]){k, 0, 0});
    world_add_motion(&world, k, move_up, &speed_up)->t_end = 5.5 * H;
    NoliMotionDef* motion = world_add_motion(&world, k, move_up, &speed_up);
    motion->t_begin = (k == 0 ? 7.5 : 5.5) * H;
    end_above(motion, -1.0);
  }
  // leaves the region in which the next motion would have ended immediately
  world.motion[2].user = &(double){-40.0};
  world.def.time_step = H;
  world_start(&world);
  for (int step = 0; step < 10; step++) {
    world_step(&world);
  }
  ASSERT_NEAR(world_lowest(&world, 0), 6 * H, 1e-12);
  ASSERT_NEAR(world_lowest(&world, 1), -40.0 * 6 * H + 4 * H, 1e-12);
  world_done(&world);
}

static void restart_across_the_end_gives_the_same_bits(void** state) {
  (void)state;
  for (int restart = 4; restart <= 24; restart += 4) {
    World first = lift(0.1 - 0.5 * H), second = lift(0.1 - 0.5 * H);
    for (int step = 0; step < 28; step++) {
      if (step == restart) {
        ASSERT_OK(noli_sim_copy_state(second.sim, first.sim));
      }
      world_step(&first);
      if (step >= restart) {
        world_step(&second);
        assert_true(noli_sim_state_hash(first.sim) == noli_sim_state_hash(second.sim));
      }
    }
    world_done(&first);
    world_done(&second);
  }
}

static void scenes_without_ends_have_the_fields_they_had(void** state) {
  (void)state;
  World world = world_new(1);
  world_add(&world, make_box(&world, 0.2, 0.2, 0.2, 1), (double[]){0, 0.1, 0});
  world_start(&world);
  NoliStateField field;
  static const char* const names[] = {"x",     "v",    "time",  "origin", "origin_step",
                                      "kappa", "step", "parts", "linear", "held"};
  const int32_t n = sizeof names / sizeof *names;
  for (int32_t i = 0; i < n; i++) {
    assert_true(noli_sim_state_field(world.sim, i, &field));
    assert_string_equal(field.name, names[i]);
  }
  assert_false(noli_sim_state_field(world.sim, n, &field));
  assert_false(noli_sim_state_field(world.sim, -1, &field));
  world_done(&world);
}

// A failed step does not end a motion.
static void move_nowhere(void* user, double t0, double t1, int32_t n, const int32_t* node,
                         const double* X, const double* x_t0, double* x_t1) {
  (void)t0;
  (void)t1;
  (void)node;
  (void)X;
  for (int32_t i = 0; i < 3 * n; i++) {
    x_t1[i] = *(const bool*)user ? (double)NAN : x_t0[i];
  }
}

static void failed_step_keeps_the_state(void** state) {
  (void)state;
  World world = world_new(1);
  bool broken = true;
  for (int32_t k = 0; k < 2; k++) {
    NoliMesh* plate = NULL;
    ASSERT_OK(noli_mesh_make_plane(world.context, 0.2, 0.2, 1, 1, &plate));
    world_add_obstacle(&world, plate, (double[]){k, 0, 0});
  }
  end_above(world_add_motion(&world, 0, move_up, &speed_up), -1.0);
  world_add_motion(&world, 1, move_nowhere, &broken);
  world_start(&world);
  uint64_t hash = noli_sim_state_hash(world.sim);
  ASSERT_STATUS(noli_sim_step(world.sim, NULL), NOLI_NOT_FINITE);
  assert_true(noli_sim_state_hash(world.sim) == hash);
  broken = false;
  world_step(&world);
  ASSERT_NEAR(world_lowest(&world, 0), 0.0, 0.0);
  world_done(&world);
}

static void bad_ends_are_refused(void** state) {
  (void)state;
  for (int k = 0; k < 3; k++) {
    World world = world_new(1);
    world_add(&world, make_box(&world, 0.2, 0.2, 0.2, 1), (double[]){0, 0.1, 0});
    NoliMotionDef* motion = world_add_motion(&world, 0, move_up, &speed_up);
    end_above(motion, k == 0 ? (double)NAN : 0.0);
    motion->end_normal[1] = k == 1 ? 0.0 : 1.0;
    motion->end_normal[2] = k == 2 ? (double)INFINITY : 0.0;
    ASSERT_STATUS(world_create(&world), NOLI_ERROR_ARGUMENT);
    const char* message[] = {"motion 0: the origin of its end must be finite",
                             "motion 0: the normal of its end is zero",
                             "motion 0: the normal of its end must be finite"};
    assert_non_null(strstr(noli_context_message(world.context), message[k]));
    world_done(&world);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(ends_for_good),
      cmocka_unit_test(only_acting_motions_end),
      cmocka_unit_test(restart_across_the_end_gives_the_same_bits),
      cmocka_unit_test(scenes_without_ends_have_the_fields_they_had),
      cmocka_unit_test(failed_step_keeps_the_state),
      cmocka_unit_test(bad_ends_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
