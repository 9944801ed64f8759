// States of live simulations (noli/live.h): kept in memory, begun again, read and cloned.
#include "pushed.h"

static void states_go_to_memory_and_back(void** state) {
  (void)state;
  for (int k = 0; k < COUNT(integrators); k++) {
    Pushed pushed;
    NoliSim* clone = NULL;
    pushed_start(&pushed, k % 2 == 0 ? "augmented_lagrangian" : "projected_newton",
                 strcmp(integrators[k], "bdf2") == 0 || k == 0 ? integrators[k] : "sdirk2");
    NoliSim* sim = pushed.world.sim;
    move_hand(sim, 0.02);
    take_steps(sim, 4);
    ASSERT_OK(noli_sim_set_time_step(sim, 0.006));
    take_steps(sim, 2);
    size_t size = noli_sim_state_bytes(sim);
    char* bytes = malloc(size);
    assert_non_null(bytes);
    ASSERT_STATUS(noli_sim_save_state(sim, bytes, size - 1), NOLI_ERROR_ARGUMENT);
    ASSERT_OK(noli_sim_save_state(sim, bytes, size));
    ASSERT_OK(noli_sim_clone(sim, pushed.world.context, &clone));
    assert_same(sim, clone);
    take_steps(sim, 3);

    // damaged and foreign bytes change nothing
    uint64_t hash = noli_sim_state_hash(clone);
    bytes[size / 2] ^= 1;
    ASSERT_STATUS(noli_sim_load_state(clone, bytes, size), NOLI_ERROR_FORMAT);
    bytes[size / 2] ^= 1;
    ASSERT_STATUS(noli_sim_load_state(clone, bytes, size - 8), NOLI_ERROR_FORMAT);
    ASSERT_STATUS(noli_sim_load_state(clone, bytes, 5), NOLI_ERROR_FORMAT);
    bytes[0] ^= 1;
    ASSERT_STATUS(noli_sim_load_state(clone, bytes, size), NOLI_ERROR_FORMAT);
    bytes[0] ^= 1;
    assert_true(noli_sim_state_hash(clone) == hash);

    // the clone takes another path, and returns
    move_hand(clone, -0.1);
    take_steps(clone, 2);
    ASSERT_OK(noli_sim_load_state(clone, bytes, size));
    move_hand(clone, 0.02);
    take_steps(clone, 3);
    assert_same(sim, clone);
    free(bytes);
    noli_sim_destroy(&clone);
    world_done(&pushed.world);
  }
}

static void states_of_other_models_are_refused(void** state) {
  (void)state;
  Pushed pushed;
  World other = world_new(1);
  pushed_start(&pushed, NULL, "backward_euler");
  world_add(&other, make_box(&other, 0.2, 0.1, 0.2, 2), (double[]){0.0, 0.06, 0.0});
  world_start(&other);
  char bytes[1 << 14];
  ASSERT_AT_MOST((double)noli_sim_state_bytes(pushed.world.sim), (double)sizeof bytes);
  ASSERT_OK(noli_sim_save_state(pushed.world.sim, bytes, sizeof bytes));
  ASSERT_STATUS(noli_sim_load_state(other.sim, bytes, sizeof bytes), NOLI_ERROR_FORMAT);
  assert_non_null(strstr(noli_context_message(other.context), "another model"));
  world_done(&other);
  world_done(&pushed.world);
}

static void reset_begins_again(void** state) {
  (void)state;
  Pushed pushed;
  pushed_start(&pushed, NULL, "backward_euler");
  NoliSim* sim = pushed.world.sim;
  uint64_t start = noli_sim_state_hash(sim);
  take_steps(sim, 5);
  uint64_t end = noli_sim_state_hash(sim);
  ASSERT_OK(noli_sim_reset(sim));
  assert_true(noli_sim_state_hash(sim) == start);
  move_hand(sim, 0.05); // the next reset undoes it
  take_steps(sim, 5);
  assert_true(noli_sim_state_hash(sim) != end);
  const double* x = noli_sim_positions(sim);
  ASSERT_OK(noli_sim_reset(sim));
  assert_ptr_equal(noli_sim_positions(sim), x);
  take_steps(sim, 5);
  assert_true(noli_sim_state_hash(sim) == end);
  world_done(&pushed.world);
}

// The frames of twisted rods are in the state.
static void reset_returns_frames(void** state) {
  (void)state;
  World world = world_new(1);
  NoliMesh* mesh = NULL;
  ASSERT_OK(noli_mesh_make_helix(world.context, 0.1, 0.05, 1.0, 12, &mesh));
  int32_t body = world_add(&world, mesh, (double[]){0, 1, 0});
  world.body[body].rod.radius = 0.005;
  world.body[body].rod.twist = 1.0;
  world.body[body].angular_velocity[0] = 20.0;
  world_start(&world);
  NoliSim* sim = world.sim;
  uint64_t start = noli_sim_state_hash(sim);
  take_steps(sim, 5);
  uint64_t end = noli_sim_state_hash(sim);
  ASSERT_OK(noli_sim_reset(sim));
  assert_true(noli_sim_state_hash(sim) == start);
  take_steps(sim, 5);
  assert_true(noli_sim_state_hash(sim) == end);
  world_done(&world);
}

// Values that were set are read back; the others are those of the definition.
static void parameters_are_read(void** state) {
  (void)state;
  Pushed pushed;
  pushed_start(&pushed, NULL, "backward_euler");
  NoliSim* sim = pushed.world.sim;

  // gravity
  const double gravity[3] = {1, 2, 3};
  double got[3] = {0};
  noli_sim_gravity(sim, got);
  ASSERT_NEAR(got[1], pushed.world.def.gravity[1], 0.0);
  ASSERT_OK(noli_sim_set_gravity(sim, gravity));
  noli_sim_gravity(sim, got);
  assert_memory_equal(got, gravity, sizeof got);

  // pairs: entities in any order
  NoliPairDef pair = noli_default_pair_def();
  ASSERT_OK(noli_sim_pair(sim, BLOCK, GROUND, &pair));
  ASSERT_NEAR(pair.friction, 0.3, 0.0);
  assert_true(pair.contact && pair.a == BLOCK && pair.b == GROUND && pair.size == sizeof pair);
  pair.friction = 0.7;
  pair.contact = false;
  ASSERT_OK(noli_sim_set_pair(sim, &pair));
  ASSERT_OK(noli_sim_pair(sim, GROUND, BLOCK, &pair));
  ASSERT_NEAR(pair.friction, 0.7, 0.0);
  assert_true(!pair.contact && pair.a == GROUND && pair.b == BLOCK);

  // pairs by name, in definitions of any size
  NoliPairDef named = noli_default_pair_def();
  named.name_a = "ground";
  named.name_b = noli_sim_entity_name(sim, BLOCK);
  named.friction = 0.45;
  ASSERT_OK(noli_sim_set_pair(sim, &named));
  ASSERT_OK(noli_sim_pair(sim, BLOCK, GROUND, &pair));
  ASSERT_NEAR(pair.friction, 0.45, 0.0);
  assert_true(pair.contact && pair.name_a == NULL && pair.name_b == NULL);
  named.name_a = "gruond";
  ASSERT_STATUS(noli_sim_set_pair(sim, &named), NOLI_ERROR_ARGUMENT);
  assert_non_null(strstr(noli_context_message(pushed.world.context),
                         "no body or half-space \"gruond\"; did you mean \"ground\"?"));

  // materials
  NoliMaterialDef material;
  ASSERT_OK(noli_sim_material(sim, BLOCK, NOLI_NULL_INDEX, &material));
  ASSERT_NEAR(material.young, pushed.world.body[BLOCK].material.young, 0.0);
  material.young = 7e5;
  material.law = "stvk";
  ASSERT_OK(noli_sim_set_material(sim, BLOCK, NOLI_NULL_INDEX, &material));
  ASSERT_OK(noli_sim_material(sim, BLOCK, NOLI_NULL_INDEX, &material));
  ASSERT_NEAR(material.young, 7e5, 0.0);
  assert_string_equal(material.law, "stvk");

  // unknown entities, incomplete definitions
  NoliPairDef bare = {0};
  ASSERT_STATUS(noli_sim_pair(sim, BLOCK, 9, &pair), NOLI_ERROR_ARGUMENT);
  ASSERT_STATUS(noli_sim_pair(sim, BLOCK, GROUND, &bare), NOLI_ERROR_ARGUMENT);
  ASSERT_STATUS(noli_sim_material(sim, PLATE, NOLI_NULL_INDEX, &material), NOLI_ERROR_ARGUMENT);
  ASSERT_STATUS(noli_sim_material(sim, BLOCK, 0, &material), NOLI_ERROR_ARGUMENT);
  world_done(&pushed.world);
}

// A clone in a context of its own keeps changed parameters and targets.
static void clones_are_independent(void** state) {
  (void)state;
  Pushed pushed;
  NoliSim* clone = NULL;
  pushed_start(&pushed, "augmented_lagrangian", "backward_euler");
  NoliSim* sim = pushed.world.sim;
  change_live(sim, GRAVITY);
  change_live(sim, MATERIAL);
  change_live(sim, FRICTION);
  move_hand(sim, 0.03);
  take_steps(sim, 3);
  NoliContext* context = test_context(2);
  ASSERT_OK(noli_sim_clone(sim, context, &clone));
  take_steps(clone, 3);
  uint64_t end = noli_sim_state_hash(clone);
  noli_sim_destroy(&clone);
  test_context_done(&context);
  take_steps(sim, 3);
  assert_true(noli_sim_state_hash(sim) == end);
  world_done(&pushed.world);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(states_go_to_memory_and_back),
      cmocka_unit_test(states_of_other_models_are_refused),
      cmocka_unit_test(reset_begins_again),
      cmocka_unit_test(reset_returns_frames),
      cmocka_unit_test(parameters_are_read),
      cmocka_unit_test(clones_are_independent),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
