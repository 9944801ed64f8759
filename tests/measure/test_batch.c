// Batches (noli/batch.h): every copy has the same bits as a single simulation, for any number of
// threads.
#include "step/world.h"

#include "noli/batch.h"

enum { BALL, HAND, N_COPIES = 7, N_STEPS = 6 };

// A ball that a hand pushes over the ground.
static World pushed_ball(void) {
  World world = world_new(1);
  world_add(&world, make_sphere(&world, 0.05, 2), (double[]){0.0, 0.0503, 0.0});
  world_add_obstacle(&world, make_box(&world, 0.02, 0.06, 0.06, 1), (double[]){-0.07, 0.05, 0.0});
  world_add_plane(&world, (double[]){0, 0, 0}, (double[]){0, 1, 0});
  world_add_motion(&world, HAND, NULL, NULL)->controlled = true;
  world.def.friction = 0.5;
  world_start(&world);
  return world;
}

static NoliPose pose_of(int copy, int step) {
  return (NoliPose){.position = {0.001 * copy * (step + 1), 0.0, 0.0}, .quaternion = {1, 0, 0, 0}};
}

static void set_friction(NoliSim* sim, int copy) {
  NoliPairDef pair = noli_default_pair_def();
  pair.a = BALL;
  pair.b = 2;
  pair.friction = 0.1 * copy;
  ASSERT_OK(noli_sim_set_pair(sim, &pair));
}

static void copies_have_their_own_bits(void** state) {
  (void)state;
  World world = pushed_ball();
  uint64_t alone[N_COPIES];
  double start = noli_sim_positions(world.sim)[0];
  for (int c = 0; c < N_COPIES; c++) {
    NoliSim* sim = NULL;
    ASSERT_OK(noli_sim_clone(world.sim, world.context, &sim));
    set_friction(sim, c);
    for (int step = 0; step < N_STEPS; step++) {
      NoliPose pose = pose_of(c, step);
      ASSERT_OK(noli_sim_set_pose(sim, 0, &pose));
      ASSERT_OK(noli_sim_step(sim, NULL));
    }
    alone[c] = noli_sim_state_hash(sim);
    noli_sim_destroy(&sim);
  }
  for (int32_t threads = 1; threads <= 4; threads += 3) {
    NoliBatch* batch = NULL;
    NoliStatus status[N_COPIES];
    NoliStepReport report[N_COPIES];
    ASSERT_OK(noli_batch_create(world.context, world.sim, N_COPIES, threads, &batch));
    assert_int_equal(noli_batch_count(batch), N_COPIES);
    for (int c = 0; c < N_COPIES; c++) {
      set_friction(noli_batch_sim(batch, c), c);
    }
    for (int step = 0; step < N_STEPS; step++) {
      NoliPose pose[N_COPIES];
      for (int c = 0; c < N_COPIES; c++) {
        pose[c] = pose_of(c, step);
      }
      ASSERT_OK(noli_batch_set_poses(batch, 0, pose));
      ASSERT_OK(noli_batch_step(batch, NULL, status, report));
    }

    // hashes, and results in the order of the copies
    int64_t n = 3 * (int64_t)noli_sim_vertex_count(world.sim);
    double* x = calloc((size_t)(N_COPIES * n), sizeof *x);
    NoliBodyState body[N_COPIES];
    NoliWrench wrench[N_COPIES];
    assert_non_null(x);
    ASSERT_OK(noli_batch_positions(batch, x));
    ASSERT_OK(noli_batch_body_states(batch, BALL, body));
    ASSERT_OK(noli_batch_wrenches(batch, BALL, wrench));
    for (int c = 0; c < N_COPIES; c++) {
      NoliSim* sim = noli_batch_sim(batch, c);
      NoliBodyState own;
      assert_true(noli_sim_state_hash(sim) == alone[c]);
      assert_int_equal(status[c], NOLI_OK);
      assert_int_equal(report[c].step, N_STEPS);
      assert_memory_equal(x + c * n, noli_sim_positions(sim), sizeof *x * (size_t)n);
      ASSERT_OK(noli_sim_body_state(sim, BALL, &own));
      assert_memory_equal(&own, &body[c], sizeof own);
      ASSERT_AT_LEAST(wrench[c].normal[1], 0.0);
    }
    ASSERT_AT_LEAST(body[N_COPIES - 1].centre[0], body[0].centre[0] + 0.005);
    ASSERT_NEAR(noli_sim_positions(world.sim)[0], start, 0.0); // the original stays
    free(x);
    noli_batch_destroy(&batch);
  }
  world_done(&world);
}

static bool refuse(void* user, const NoliSim* sim, const NoliNewtonStat* iteration) {
  (void)user, (void)sim, (void)iteration;
  return false;
}

// One copy fails, one is not chosen, the others continue; a reset restores the chosen ones.
static void copies_fail_alone(void** state) {
  (void)state;
  World world = pushed_ball();
  NoliBatch* batch = NULL;
  NoliStatus status[3] = {NOLI_OK, NOLI_OK, (NoliStatus)77};
  const bool chosen[3] = {true, true, false};
  ASSERT_OK(noli_batch_create(world.context, world.sim, 3, 2, &batch));
  uint64_t start = noli_sim_state_hash(world.sim);
  noli_sim_set_progress(noli_batch_sim(batch, 1), refuse, NULL);
  ASSERT_STATUS(noli_batch_step(batch, chosen, status, NULL), NOLI_CANCELLED);
  assert_non_null(strstr(noli_context_message(world.context), "copy 1: step 1 was cancelled"));
  assert_int_equal(status[0], NOLI_OK);
  assert_int_equal(status[1], NOLI_CANCELLED);
  assert_int_equal(status[2], 77);
  assert_true(noli_sim_state_hash(noli_batch_sim(batch, 0)) != start);
  assert_true(noli_sim_state_hash(noli_batch_sim(batch, 1)) == start);
  assert_true(noli_sim_state_hash(noli_batch_sim(batch, 2)) == start);
  ASSERT_OK(noli_batch_reset(batch, chosen));
  assert_true(noli_sim_state_hash(noli_batch_sim(batch, 0)) == start);

  // misuse
  double value[3] = {0};
  ASSERT_STATUS(noli_batch_set_forces(batch, 0, value), NOLI_ERROR_ARGUMENT);
  ASSERT_STATUS(noli_batch_set_targets(batch, 1, value), NOLI_ERROR_ARGUMENT);
  assert_null(noli_batch_sim(batch, 3));
  noli_batch_destroy(&batch);
  ASSERT_STATUS(noli_batch_create(world.context, world.sim, 0, 1, &batch), NOLI_ERROR_ARGUMENT);
  world_done(&world);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(copies_have_their_own_bits),
      cmocka_unit_test(copies_fail_alone),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
