// Live stepping (noli/live.h): a simulation whose parameters are changed between steps continues
// like one that was made with them, bit by bit; control reaches its targets; bodies come and go.
#include "pushed.h"

// ---- control ------------------------------------------------------------------------------------

static void controlled_vertices_reach_their_targets(void** state) {
  (void)state;
  Pushed pushed;
  for (int k = 0; k < COUNT(integrators); k++) {
    pushed_start(&pushed, NULL, integrators[k]);
    NoliSim* sim = pushed.world.sim;
    assert_int_equal(noli_sim_motion_count(sim), 1);
    assert_int_equal(noli_sim_find_motion(sim, "foot"), NOLI_NULL_INDEX);
    assert_int_equal(noli_sim_find_entity(sim, "ground"), GROUND);
    assert_string_equal(noli_sim_force_name(sim, 0), "force 0");
    int32_t n_node, first, count;
    double* target = noli_sim_motion_targets(sim, 0, &n_node);
    noli_sim_body_range(sim, PLATE, &first, &count);
    assert_int_equal(n_node, count);

    // initial targets are initial positions; a turn by 90 degrees about y, half of it in each step
    const double* X = noli_sim_rest_positions(sim) + 3 * first;
    const double* x = noli_sim_positions(sim) + 3 * first;
    assert_memory_equal(target, x, 3 * sizeof(double) * (size_t)n_node);
    const double turn = 0.01 * (k + 1);
    const NoliPose pose = {.position = {-0.05, 0.01, 0.02},
                           .quaternion = {2.0 * cos(turn), 0.0, 2.0 * sin(turn), 0.0}};
    ASSERT_OK(noli_sim_set_pose(sim, 0, &pose));
    take_steps(sim, 1);
    for (int32_t i = 0; i < n_node; i++) {
      double c = cos(2.0 * turn), s = sin(2.0 * turn);
      ASSERT_NEAR(x[3 * i], c * X[3 * i] + s * X[3 * i + 2] - 0.05, 1e-15);
      ASSERT_NEAR(x[3 * i + 1], X[3 * i + 1] + 0.01, 1e-15);
      ASSERT_NEAR(x[3 * i + 2], -s * X[3 * i] + c * X[3 * i + 2] + 0.02, 1e-15);
    }
    world_done(&pushed.world);
  }
}

static void a_target_behind_a_block_is_approached(void** state) {
  (void)state;
  Pushed pushed;
  pushed_start(&pushed, NULL, "backward_euler");
  NoliSim* sim = pushed.world.sim;
  move_hand(sim, 0.05);
  for (int i = 0; i < 12; i++) {
    world_step(&pushed.world);
  }
  // the block has been pushed away by the full path of the hand, except for the gap at the start
  ASSERT_NEAR(pushed.world.report.motion_error, 0.0, 1e-12);
  int32_t first, count;
  double face = (double)INFINITY;
  noli_sim_body_range(sim, BLOCK, &first, &count);
  for (int32_t i = first; i < first + count; i++) {
    face = noli_smaller(face, noli_sim_positions(sim)[3 * i]);
  }
  ASSERT_AT_LEAST(face, -0.126 + 0.025 + 0.05);
  world_done(&pushed.world);
}

static void controlled_forces_accelerate(void** state) {
  (void)state;
  World world = world_new(1);
  NoliForceDef force = noli_default_force_def();
  force.kind = "total";
  force.controlled = true;
  world_add(&world, make_box(&world, 0.1, 0.2, 0.3, 1), (double[]){0, 0, 0});
  world.def.forces = &force;
  world.def.n_forces = 1;
  memset(world.def.gravity, 0, sizeof world.def.gravity);
  world_start(&world);
  const int32_t* node = NULL;
  int32_t n_node = 0;
  double* value = noli_sim_force_values(world.sim, 0, &node, &n_node);
  assert_int_equal(n_node, noli_sim_node_count(world.sim));
  assert_int_equal(node[n_node - 1], n_node - 1);

  // momentum is the sum of impulses, each of its own step
  double impulse = 0.0;
  for (int step = 0; step < 5; step++) {
    double f = 3.0 * step - 4.0;
    for (int32_t i = 0; i < n_node; i++) {
      value[3 * i + 1] = f;
    }
    world_step(&world);
    impulse += f * world.def.time_step;
    ASSERT_NEAR(world.report.momentum[1], impulse, 1e-12);
  }
  assert_null(noli_sim_force_values(world.sim, 1, NULL, &n_node));
  world_done(&world);
}

static void misuse_is_refused(void** state) {
  (void)state;
  Pushed pushed;
  pushed_start(&pushed, NULL, "backward_euler");
  NoliSim* sim = pushed.world.sim;
  uint64_t hash = noli_sim_state_hash(sim);
  const double nan[3] = {0, (double)NAN, 0};
  NoliPose pose = {.quaternion = {0, 0, 0, 0}};
  ASSERT_STATUS(noli_sim_set_pose(sim, 0, &pose), NOLI_ERROR_ARGUMENT);
  pose.quaternion[0] = 1.0;
  ASSERT_STATUS(noli_sim_set_pose(sim, 1, &pose), NOLI_ERROR_ARGUMENT);
  ASSERT_STATUS(noli_sim_set_gravity(sim, nan), NOLI_ERROR_ARGUMENT);
  ASSERT_STATUS(noli_sim_set_time_step(sim, 0.0), NOLI_ERROR_ARGUMENT);
  ASSERT_STATUS(noli_sim_set_time(sim, (double)INFINITY), NOLI_ERROR_ARGUMENT);
  NoliPairDef pair = noli_default_pair_def();
  pair.b = 7;
  ASSERT_STATUS(noli_sim_set_pair(sim, &pair), NOLI_ERROR_ARGUMENT);
  pair.b = GROUND;
  pair.friction = -1.0;
  ASSERT_STATUS(noli_sim_set_pair(sim, &pair), NOLI_ERROR_ARGUMENT);
  NoliMaterialDef material = noli_default_material_def();
  ASSERT_STATUS(noli_sim_set_material(sim, PLATE, NOLI_NULL_INDEX, &material), NOLI_ERROR_ARGUMENT);
  ASSERT_STATUS(noli_sim_set_material(sim, BLOCK, 0, &material), NOLI_ERROR_ARGUMENT);
  material.young = -1.0;
  ASSERT_STATUS(noli_sim_set_material(sim, BLOCK, NOLI_NULL_INDEX, &material), NOLI_ERROR_ARGUMENT);
  ASSERT_STATUS(noli_sim_remove_body(sim, BLOCK), NOLI_ERROR_ARGUMENT);
  ASSERT_STATUS(noli_sim_remove_body(sim, 2), NOLI_ERROR_ARGUMENT);
  assert_true(noli_sim_state_hash(sim) == hash);
  take_steps(sim, 1);

  // a controlled motion has no function, and a force has either
  pushed.world.motion[0].target = move_down;
  NoliSim* none = NULL;
  ASSERT_STATUS(noli_sim_create(pushed.world.context, &pushed.world.def, &none),
                NOLI_ERROR_ARGUMENT);
  pushed.world.motion[0].target = NULL;
  pushed.force.controlled = false;
  ASSERT_STATUS(noli_sim_create(pushed.world.context, &pushed.world.def, &none),
                NOLI_ERROR_ARGUMENT);
  world_done(&pushed.world);
}

// ---- parameters ---------------------------------------------------------------------------------

static void change_definition(World* world, Change change, NoliPairDef* pair) {
  const double gravity[3] = {1.0, -5.0, 0.5};
  *pair = noli_default_pair_def();
  pair->a = change == FRICTION ? GROUND : BLOCK;
  pair->b = change == FRICTION ? BLOCK : PLATE;
  pair->friction = change == FRICTION ? 0.05 : 0.0;
  pair->contact = change != NO_CONTACT;
  if (change == GRAVITY) {
    memcpy(world->def.gravity, gravity, sizeof gravity);
  } else if (change == MATERIAL) {
    world->body[BLOCK].material.young = 3e5;
    world->body[BLOCK].material.law = "stvk";
    world->body[BLOCK].material.density = 500.0;
  } else {
    world->def.pairs = pair;
    world->def.n_pairs = 1;
  }
}

// The same steps by a simulation that was made with the parameters, from the state in which they
// were changed.
static void changes_act_as_if_made_so(void** state) {
  (void)state;
  const char* const solvers[] = {"projected_newton", "augmented_lagrangian", "implicit_newton"};
  for (int s = 0; s < COUNT(solvers); s++) {
    for (int c = 0; c < N_CHANGES; c++) {
      Pushed pushed;
      NoliPairDef pair;
      NoliSim *live = NULL, *fresh = NULL;
      pushed_start(&pushed, solvers[s], "backward_euler");
      live = pushed.world.sim;
      move_hand(live, 0.03);
      take_steps(live, 4);
      uint64_t before = noli_sim_state_hash(live);
      change_live(live, (Change)c);
      assert_true(noli_sim_state_hash(live) == before);

      change_definition(&pushed.world, (Change)c, &pair);
      ASSERT_OK(noli_sim_create(pushed.world.context, &pushed.world.def, &fresh));
      ASSERT_OK(noli_sim_copy_state(fresh, live));
      move_hand(fresh, 0.06);
      move_hand(live, 0.06);
      take_steps(live, 4);
      take_steps(fresh, 4);
      assert_same(live, fresh);

      // and the change had an effect
      assert_true(noli_sim_state_hash(live) != before);
      noli_sim_destroy(&fresh);
      world_done(&pushed.world);
    }
  }
}

// Bytes of the meshes of all bodies.
static int64_t mesh_bytes(const NoliSimDef* def) {
  int64_t bytes = 0;
  for (int32_t b = 0; b < def->n_bodies; b++) {
    const NoliMesh* mesh = def->bodies[b].mesh;
    bytes += 24 * (int64_t)mesh->n_vert + 16 * (int64_t)mesh->n_tet + 12 * (int64_t)mesh->n_tri;
  }
  return bytes;
}

// A simulation without meshes of its own has the same bits, and changes of it, which make another
// model, own theirs.
static void meshes_are_borrowed(void** state) {
  (void)state;
  Pushed pushed;
  pushed_start(&pushed, NULL, "backward_euler");
  World* world = &pushed.world;
  NoliSim *copies = world->sim, *borrows = NULL;
  int64_t before = noli_context_bytes(world->context);
  world->def.borrow_meshes = true;
  ASSERT_OK(noli_sim_create(world->context, &world->def, &borrows));
  int64_t after = noli_context_bytes(world->context);
  noli_sim_destroy(&borrows);
  world->def.borrow_meshes = false;
  ASSERT_OK(noli_sim_create(world->context, &world->def, &borrows));
  ASSERT_AT_LEAST((double)(noli_context_bytes(world->context) - after),
                  (double)mesh_bytes(&world->def));
  noli_sim_destroy(&borrows);
  assert_int_equal(noli_context_bytes(world->context), before);

  // the same steps, before and after a change
  world->def.borrow_meshes = true;
  ASSERT_OK(noli_sim_create(world->context, &world->def, &borrows));
  for (int i = 0; i < 2; i++) {
    move_hand(copies, 0.03 * (i + 1));
    move_hand(borrows, 0.03 * (i + 1));
    take_steps(copies, 3);
    take_steps(borrows, 3);
    assert_same(copies, borrows);
    for (int c = 0; i == 0 && c < N_CHANGES; c++) {
      change_live(copies, (Change)c);
      change_live(borrows, (Change)c);
    }
  }
  noli_sim_destroy(&borrows);
  world_done(world);
}

static void contact_is_not_switched_on_between_bodies_that_overlap(void** state) {
  (void)state;
  Pushed pushed;
  NoliPairDef pair = noli_default_pair_def();
  pushed_start(&pushed, NULL, "backward_euler");
  NoliSim* sim = pushed.world.sim;
  pair.b = PLATE;
  pair.contact = false;
  ASSERT_OK(noli_sim_set_pair(sim, &pair));
  move_hand(sim, 0.05);
  take_steps(sim, 1);
  uint64_t hash = noli_sim_state_hash(sim);
  pair.contact = true;
  ASSERT_STATUS(noli_sim_set_pair(sim, &pair), NOLI_ERROR_INTERSECTION);
  assert_non_null(strstr(noli_context_message(pushed.world.context), "body1"));
  assert_true(noli_sim_state_hash(sim) == hash);
  take_steps(sim, 1);
  move_hand(sim, -0.1);
  take_steps(sim, 1);
  ASSERT_OK(noli_sim_set_pair(sim, &pair));
  take_steps(sim, 1);
  world_done(&pushed.world);
}

// Free fall with backward Euler in steps of changing length: v = g sum h, x = sum h v.
static void steps_of_any_length_fall(void** state) {
  (void)state;
  World world = world_new(1);
  world_add(&world, make_box(&world, 0.1, 0.2, 0.3, 1), (double[]){0, 5, 0});
  world_start(&world);
  const double h[] = {0.01, 0.01, 0.003, 0.003, 0.02, 0.01};
  double t = 0.0, v = 0.0, y = 5.0, centre[3];
  for (int i = 0; i < COUNT(h); i++) {
    ASSERT_OK(noli_sim_set_time_step(world.sim, h[i]));
    world_step(&world);
    t += h[i];
    v -= 9.80665 * h[i];
    y += h[i] * v;
    world_centre(&world, 0, centre);
    ASSERT_NEAR(centre[1], y, 1e-10);
    ASSERT_NEAR(noli_sim_time(world.sim), t, 1e-15);
    ASSERT_NEAR(world.report.time, t, 1e-15);
  }
  assert_int_equal(noli_sim_step_count(world.sim), COUNT(h));
  ASSERT_OK(noli_sim_set_time(world.sim, 10.0));
  world_step(&world);
  ASSERT_NEAR(noli_sim_time(world.sim), 10.01, 1e-15);
  world_done(&world);
}

// A block at rest stays on the ground when the step becomes shorter or longer. The barrier's
// stiffness follows the mass over h^2, so the gap changes, within the contact distance; the force
// does not.
static void rest_survives_another_step(void** state) {
  (void)state;
  const char* const solvers[] = {"projected_newton", "augmented_lagrangian"};
  for (int s = 0; s < COUNT(solvers); s++) {
    Pushed pushed;
    pushed_start(&pushed, solvers[s], "backward_euler");
    World* world = &pushed.world;
    take_steps(world->sim, 60);
    double before[3], after[3];
    const double h[] = {0.001, 0.04, 0.01};
    world_centre(world, BLOCK, before);
    for (int i = 0; i < COUNT(h); i++) {
      ASSERT_OK(noli_sim_set_time_step(world->sim, h[i]));
      take_steps(world->sim, 150);
      world_centre(world, BLOCK, after);
      ASSERT_NEAR(after[1], before[1], noli_sim_contact_distance(world->sim));
      NoliWrench wrench;
      NoliBodyState body;
      ASSERT_OK(noli_sim_body_state(world->sim, BLOCK, &body));
      ASSERT_OK(noli_sim_wrench(world->sim, BLOCK, NULL, &wrench));
      ASSERT_NEAR(wrench.normal[1] / (body.mass * 9.80665), 1.0, 0.05);
    }
    world_done(world);
  }
}

// ---- bodies -------------------------------------------------------------------------------------

static void bodies_come_and_go(void** state) {
  (void)state;
  Pushed pushed;
  pushed_start(&pushed, NULL, "backward_euler");
  World* world = &pushed.world;
  NoliSim* sim = world->sim;
  NoliPairDef pair = noli_default_pair_def();
  pair.a = BLOCK;
  pair.b = GROUND;
  ASSERT_OK(noli_sim_set_pair(sim, &pair)); // no friction
  take_steps(sim, 3);
  double distance = noli_sim_contact_distance(sim);

  // a body that would intersect is refused by name
  NoliMesh* mesh = make_sphere(world, 0.03, 2);
  const double unit[3] = {1, 1, 1}, zero[3] = {0, 0, 0};
  NoliBodyDef ball = noli_default_body_def();
  ball.name = "ball";
  ball.mesh = mesh;
  uint64_t hash = noli_sim_state_hash(sim);
  int32_t index = -5;
  noli_mesh_transform(mesh, unit, zero, (double[]){0.1, 0.05, 0.0});
  ASSERT_STATUS(noli_sim_add_body(sim, &ball, &index), NOLI_ERROR_INTERSECTION);
  assert_non_null(strstr(noli_context_message(world->context), "ball"));
  assert_true(noli_sim_state_hash(sim) == hash);
  assert_int_equal(index, -5);

  // beside it
  noli_mesh_transform(mesh, unit, zero, (double[]){0.1, 3.0, 0.0});
  ASSERT_OK(noli_sim_add_body(sim, &ball, &index));
  noli_mesh_destroy(world->context, &mesh);
  assert_int_equal(index, 2);
  assert_int_equal(noli_sim_body_count(sim), 3);
  assert_string_equal(noli_sim_entity_name(sim, 2), "ball");
  assert_int_equal(noli_sim_find_entity(sim, "ground"), 3);
  ASSERT_NEAR(noli_sim_contact_distance(sim), distance, 0.0);
  ASSERT_NEAR(noli_sim_time(sim), 0.03, 1e-15);
  double speed[2];
  NoliBodyState body;
  for (int i = 0; i < 2; i++) {
    ASSERT_OK(noli_sim_body_state(sim, BLOCK, &body));
    speed[i] = body.velocity[0];
    take_steps(sim, 10);
  }
  ASSERT_NEAR(speed[1], speed[0], 1e-3); // the ground is still without friction
  ASSERT_OK(noli_sim_body_state(sim, 2, &body));
  ASSERT_NEAR(body.velocity[1], -0.2 * 9.80665, 1e-9);

  // without the hand: its motion was removed with it
  ASSERT_OK(noli_sim_remove_body(sim, PLATE));
  assert_int_equal(noli_sim_body_count(sim), 2);
  assert_int_equal(noli_sim_motion_count(sim), 0);
  assert_int_equal(noli_sim_force_count(sim), 1);
  assert_int_equal(noli_sim_find_entity(sim, "ball"), 1);
  take_steps(sim, 1);
  ASSERT_OK(noli_sim_body_state(sim, 1, &body));
  ASSERT_NEAR(body.velocity[1], -0.21 * 9.80665, 1e-9);
  ASSERT_OK(noli_sim_reset(sim));
  ASSERT_OK(noli_sim_body_state(sim, 1, &body));
  ASSERT_NEAR(body.centre[1], 3.05, 1e-6); // where it was added
  world_done(world);
}

// ---- progress -----------------------------------------------------------------------------------

typedef struct Watch {
  int calls;
  int last; // the call that cancels; 0: none
} Watch;

static bool watch(void* user, const NoliSim* sim, const NoliNewtonStat* iteration) {
  Watch* own = user;
  assert_true(noli_sim_body_count(sim) == N_BODIES && isfinite(iteration->residual));
  return ++own->calls != own->last;
}

static void cancelled_steps_leave_no_trace(void** state) {
  (void)state;
  const char* const solvers[] = {"projected_newton", "augmented_lagrangian", "implicit_newton"};
  for (int s = 0; s < COUNT(solvers); s++) {
    Pushed pushed;
    Watch own = {0};
    NoliStepReport report;
    pushed_start(&pushed, solvers[s], "backward_euler");
    NoliSim* sim = pushed.world.sim;
    noli_sim_set_progress(sim, watch, &own);
    move_hand(sim, 0.05);
    ASSERT_OK(noli_sim_step(sim, &report));
    assert_int_equal(own.calls, report.newton_iterations);
    uint64_t hash = noli_sim_state_hash(sim);
    for (int last = 1; last <= 2; last++) {
      own = (Watch){.last = last};
      ASSERT_STATUS(noli_sim_step(sim, &report), NOLI_CANCELLED);
      assert_int_equal(own.calls, last);
      assert_true(noli_sim_state_hash(sim) == hash);
    }
    own = (Watch){0};
    take_steps(sim, 2);
    hash = noli_sim_state_hash(sim);
    ASSERT_OK(noli_sim_reset(sim));
    noli_sim_set_progress(sim, NULL, NULL);
    move_hand(sim, 0.05);
    take_steps(sim, 3);
    assert_true(noli_sim_state_hash(sim) == hash);
    world_done(&pushed.world);
  }
}

// ---- lack of memory -----------------------------------------------------------------------------

// Any failed allocation leaves the simulation unchanged and leaks nothing.
static void lack_of_memory_changes_nothing(void** state) {
  (void)state;
  TestMemory memory;
  NoliContext* context = test_context_on(&memory, 1);
  NoliMesh *mesh = NULL, *other = NULL;
  ASSERT_OK(noli_mesh_make_box(context, (double[]){1, 1, 1}, (int32_t[]){1, 1, 1}, false, &mesh));
  ASSERT_OK(noli_mesh_make_box(context, (double[]){1, 1, 1}, (int32_t[]){1, 1, 1}, false, &other));
  const double unit[3] = {1, 1, 1}, zero[3] = {0, 0, 0};
  noli_mesh_transform(other, unit, zero, (double[]){3, 0, 0});
  NoliBodyDef body = noli_default_body_def(), added = noli_default_body_def();
  body.mesh = mesh;
  added.mesh = other;
  NoliSimDef def = noli_default_sim_def();
  def.bodies = &body;
  def.n_bodies = 1;
  NoliSim *sim = NULL, *clone = NULL;
  ASSERT_OK(noli_sim_create(context, &def, &sim));
  uint64_t hash = noli_sim_state_hash(sim);
  NoliMaterialDef material = noli_default_material_def();
  bool done[4] = {false};
  int n_refused = 0;
  for (int64_t k = 1; !(done[0] && done[1] && done[2] && done[3]); k += k < 40 ? 1 : 7) {
    for (int call = 0; call < 4; call++) {
      if (done[call]) {
        continue;
      }
      test_refuse(&memory, k);
      NoliStatus status = call == 0   ? noli_sim_clone(sim, context, &clone)
                          : call == 1 ? noli_sim_set_material(sim, 0, NOLI_NULL_INDEX, &material)
                          : call == 2 ? noli_sim_reset(sim)
                                      : noli_sim_add_body(sim, &added, NULL);
      done[call] = status == NOLI_OK;
      n_refused += status == NOLI_ERROR_MEMORY;
      assert_true(status == NOLI_OK || status == NOLI_ERROR_MEMORY);
      assert_true(call == 3 && done[call] ? noli_sim_body_count(sim) == 2
                                          : noli_sim_state_hash(sim) == hash || done[3]);
      noli_sim_destroy(&clone);
    }
  }
  test_refuse(&memory, 0);
  assert_true(n_refused > 40);
  take_steps(sim, 1);
  noli_sim_destroy(&sim);
  noli_mesh_destroy(context, &mesh);
  noli_mesh_destroy(context, &other);
  test_context_done(&context);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(controlled_vertices_reach_their_targets),
      cmocka_unit_test(a_target_behind_a_block_is_approached),
      cmocka_unit_test(controlled_forces_accelerate),
      cmocka_unit_test(misuse_is_refused),
      cmocka_unit_test(changes_act_as_if_made_so),
      cmocka_unit_test(meshes_are_borrowed),
      cmocka_unit_test(contact_is_not_switched_on_between_bodies_that_overlap),
      cmocka_unit_test(steps_of_any_length_fall),
      cmocka_unit_test(rest_survives_another_step),
      cmocka_unit_test(bodies_come_and_go),
      cmocka_unit_test(cancelled_steps_leave_no_trace),
      cmocka_unit_test(lack_of_memory_changes_nothing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
