// Live stepping (noli/live.h): a simulation whose parameters are changed between steps continues
// like one that was made with them, bit by bit; control reaches its targets; results agree with
// closed forms and with the report of the step.
#include "world.h"

enum { BLOCK, PLATE, GROUND, N_BODIES = 2 };

static const char* const integrators[] = {"backward_euler", "bdf2", "trapezoidal", "sdirk2"};
#define COUNT(table) (int)(sizeof(table) / sizeof *(table))

// A block that slides on the ground, pushed by a plate and pulled by a force that the test
// controls.
typedef struct Pushed {
  World world;
  NoliForceDef force;
} Pushed;

static void pushed_start(Pushed* pushed, const char* solver, const char* integrator) {
  World* world = &pushed->world;
  *world = world_new(1);
  world_add(world, make_box(world, 0.2, 0.1, 0.2, 2), (double[]){0.0, 0.0502, 0.0});
  world_add_obstacle(world, make_box(world, 0.05, 0.08, 0.1, 1), (double[]){-0.126, 0.06, 0.01});
  world_add_plane(world, (double[]){0, 0, 0}, (double[]){0, 1, 0});
  world->body[BLOCK].velocity[0] = 0.4;
  NoliMotionDef* motion = world_add_motion(world, PLATE, NULL, NULL);
  motion->controlled = true;
  motion->name = "hand";
  pushed->force = noli_default_force_def();
  pushed->force.kind = "total";
  pushed->force.controlled = true;
  world->def.forces = &pushed->force;
  world->def.n_forces = 1;
  world->def.friction = 0.3;
  world->def.solver = solver;
  world->def.integrator = integrator;
  world_start(world);
}

static void move_hand(NoliSim* sim, double x) {
  const NoliPose pose = {.position = {x, 0.0, 0.0}, .quaternion = {1.0, 0.0, 0.0, 0.0}};
  NoliStatus status = noli_sim_set_pose(sim, noli_sim_find_motion(sim, "hand"), &pose);
  if (status != NOLI_OK) {
    print_error("%s\n", noli_context_message(sim->context));
  }
  assert_int_equal(status, NOLI_OK);
}

static void take_steps(NoliSim* sim, int n) {
  for (int i = 0; i < n; i++) {
    NoliStatus status = noli_sim_step(sim, NULL);
    if (status != NOLI_OK) {
      print_error("step: %s\n", noli_context_message(sim->context));
    }
    assert_int_equal(status, NOLI_OK);
  }
}

static void assert_same(const NoliSim* one, const NoliSim* other) {
  const char* difference = noli_sim_state_difference(one, other);
  if (difference != NULL) {
    print_error("\"%s\" differs\n", difference);
  }
  assert_null(difference);
}

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

typedef enum Change { GRAVITY, FRICTION, NO_CONTACT, MATERIAL, N_CHANGES } Change;

static void change_live(NoliSim* sim, Change change) {
  const double gravity[3] = {1.0, -5.0, 0.5};
  NoliPairDef pair = noli_default_pair_def();
  pair.a = change == FRICTION ? GROUND : BLOCK;
  pair.b = change == FRICTION ? BLOCK : PLATE;
  pair.friction = change == FRICTION ? 0.05 : 0.0;
  pair.contact = change != NO_CONTACT;
  NoliMaterialDef material = noli_default_material_def();
  material.young = 3e5;
  material.law = "stvk";
  material.density = 500.0;
  if (change == GRAVITY) {
    ASSERT_OK(noli_sim_set_gravity(sim, gravity));
  } else if (change == MATERIAL) {
    ASSERT_OK(noli_sim_set_material(sim, BLOCK, NOLI_NULL_INDEX, &material));
  } else {
    ASSERT_OK(noli_sim_set_pair(sim, &pair));
  }
}

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

// ---- states -------------------------------------------------------------------------------------

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

// ---- results ------------------------------------------------------------------------------------

// A spinning box of many small cells: moments of inertia a^2 + b^2 over 12.
static void inertia_is_that_of_a_box(void** state) {
  (void)state;
  World world = world_new(1);
  NoliMesh* mesh = NULL;
  ASSERT_OK(noli_mesh_make_box(world.context, (double[]){0.1, 0.2, 0.4}, (int32_t[]){8, 12, 16},
                               false, &mesh));
  world_add(&world, mesh, (double[]){1, 2, 3});
  world.body[0].velocity[2] = 0.5;
  world.body[0].angular_velocity[0] = 2.0;
  world.body[0].angular_velocity[1] = -3.0;
  world_start(&world);
  NoliBodyState body;
  ASSERT_OK(noli_sim_body_state(world.sim, 0, &body));
  double mass = 1000.0 * 0.1 * 0.2 * 0.4;
  const double size_sqr[] = {0.01, 0.04, 0.16}, omega[] = {2.0, -3.0, 0.0}, centre[] = {1, 2, 3};
  ASSERT_NEAR(body.mass, mass, 1e-12);
  ASSERT_NEAR(body.rest_volume, 0.008, 1e-14);
  for (int k = 0; k < 3; k++) {
    double moment = mass * (size_sqr[(k + 1) % 3] + size_sqr[(k + 2) % 3]) / 12.0;
    ASSERT_NEAR(body.inertia[4 * k] / moment, 1.0, 0.02); // lumped masses
    ASSERT_NEAR(body.centre[k], centre[k], 1e-12);
    ASSERT_NEAR(body.angular_velocity[k], omega[k], 1e-11);
    ASSERT_NEAR(body.angular_momentum[k],
                body.inertia[3 * k] * omega[0] + body.inertia[3 * k + 1] * omega[1], 1e-12);
  }
  ASSERT_NEAR(body.velocity[2], 0.5, 1e-12);
  ASSERT_STATUS(noli_sim_body_state(world.sim, 1, &body), NOLI_ERROR_ARGUMENT);
  world_done(&world);
}

static void energies_are_those_of_the_report(void** state) {
  (void)state;
  Pushed pushed;
  pushed_start(&pushed, NULL, "backward_euler");
  World* world = &pushed.world;
  move_hand(world->sim, 0.05);
  for (int i = 0; i < 3; i++) {
    world_step(world);
  }
  NoliEnergies energies;
  const NoliStepReport* report = &world->report;
  ASSERT_OK(noli_sim_energies(world->sim, &energies));
  assert_true(report->elastic > 0.0 && report->contact_energy > 0.0);
  ASSERT_NEAR(energies.kinetic, report->kinetic, 1e-12 * report->kinetic);
  ASSERT_NEAR(energies.elastic, report->elastic, 1e-9 * report->elastic);
  ASSERT_NEAR(energies.gravity, report->gravity, 1e-12 * report->gravity);
  ASSERT_NEAR(energies.contact, report->contact_energy, 0.0);

  // a state that was loaded has them without a step
  NoliSim* clone = NULL;
  ASSERT_OK(noli_sim_clone(world->sim, world->context, &clone));
  ASSERT_OK(noli_sim_energies(clone, &energies));
  ASSERT_NEAR(energies.elastic, report->elastic, 1e-9 * report->elastic);
  noli_sim_destroy(&clone);
  world_done(world);
}

// The hand pushes the block: the force on the hand is opposite to that on the block, and the ground
// bears the weight.
static void wrenches_balance(void** state) {
  (void)state;
  Pushed pushed;
  pushed_start(&pushed, NULL, "backward_euler");
  World* world = &pushed.world;
  const double origin[3] = {0.3, -0.2, 0.1};
  move_hand(world->sim, 0.01);
  for (int i = 0; i < 60; i++) {
    world_step(world);
  }
  // at rest: weight and ground are in balance, in force and moment about the centre of mass
  NoliWrench block, hand;
  NoliBodyState body;
  ASSERT_OK(noli_sim_body_state(world->sim, BLOCK, &body));
  double weight = body.mass * 9.80665;
  ASSERT_OK(noli_sim_wrench(world->sim, BLOCK, NULL, &block));
  ASSERT_NEAR((block.normal[1] + block.friction[1]) / weight, 1.0, 1e-2);
  for (int k = 0; k < 3; k++) {
    ASSERT_NEAR((block.normal_moment[k] + block.friction_moment[k]) / (weight * 0.1), 0.0, 2e-2);
  }

  // while the hand pushes: resultants of the pairs
  double sum[3], on_hand[3] = {0};
  for (int i = 0; i < 100 && on_hand[0] == 0.0; i++) {
    const NoliPairForce* pair = NULL;
    int32_t n = 0;
    move_hand(world->sim, 0.01 + 0.001 * i);
    world_step(world);
    ASSERT_OK(noli_sim_pair_forces(world->sim, &pair, &n));
    memset(sum, 0, sizeof sum);
    for (int32_t p = 0; p < n; p++) {
      for (int k = 0; k < 3; k++) {
        sum[k] += pair[p].a == BLOCK ? pair[p].normal[k] : 0.0;
        on_hand[k] -= pair[p].b == PLATE ? pair[p].normal[k] : 0.0;
      }
    }
  }
  ASSERT_OK(noli_sim_wrench(world->sim, PLATE, origin, &hand));
  ASSERT_OK(noli_sim_wrench(world->sim, BLOCK, origin, &block));
  double size = fabs(on_hand[0]);
  ASSERT_AT_LEAST(size, 1.0);
  for (int k = 0; k < 3; k++) {
    ASSERT_NEAR(block.normal[k], sum[k], 1e-9 * size);
    ASSERT_NEAR(hand.normal[k], on_hand[k], 1e-9 * size);
  }
  // moment about the origin: that of the normal force of every vertex of the hand
  double force[3 * 200], moment = 0.0;
  int32_t first, count;
  assert_in_range(noli_sim_vertex_count(world->sim), 1, 200);
  ASSERT_OK(noli_sim_contact_forces(world->sim, force));
  noli_sim_body_range(world->sim, PLATE, &first, &count);
  for (int32_t i = first; i < first + count; i++) {
    const double* x = noli_sim_positions(world->sim) + 3 * i;
    moment += (x[2] - origin[2]) * force[3 * i] - (x[0] - origin[0]) * force[3 * i + 2];
  }
  ASSERT_AT_LEAST(fabs(moment), 0.01 * size);
  ASSERT_NEAR(hand.normal_moment[1], moment, 1e-12 * size);
  world_done(world);
}

// A bar is held at one end: force and moment are those of its weight.
static void reactions_hold_a_bar(void** state) {
  (void)state;
  static const char* const all[] = {"quasi_static", "backward_euler", "bdf2"};
  for (int k = 0; k < COUNT(all); k++) {
    for (int32_t order = 1; order <= 2; order++) {
      World world = world_new(1);
      NoliMesh* mesh = NULL;
      ASSERT_OK(noli_mesh_make_box(world.context, (double[]){0.4, 0.1, 0.1}, (int32_t[]){4, 1, 1},
                                   false, &mesh));
      world_add(&world, mesh, (double[]){0.2, 0, 0});
      world.body[0].order = order;
      world.body[0].material.young = 1e7;
      world.body[0].material.mass_damping = k > 0 ? 60.0 : 0.0;
      world.def.integrator = all[k];
      world.def.tolerance = (NoliScaled){1e-7, false};
      int32_t held[8], n = 0;
      for (int32_t i = 0; i < mesh->n_vert; i++) {
        if (mesh->x[3 * i] < 1e-9) {
          held[n++] = i;
        }
      }
      NoliMotionDef* motion = world_add_motion(&world, 0, NULL, NULL);
      motion->node = held;
      motion->n_node = n;
      world_start(&world);
      NoliReaction reaction;
      ASSERT_OK(noli_sim_reaction(world.sim, 0, (double[]){0, 0, 0}, &reaction));
      ASSERT_NEAR(reaction.force[1], 0.0, 0.0); // before the first step
      take_steps(world.sim, k > 0 ? 80 : 1);
      ASSERT_OK(noli_sim_reaction(world.sim, 0, (double[]){0, 0, 0}, &reaction));

      double weight = 1000.0 * 0.004 * 9.80665;
      NoliBodyState body;
      ASSERT_OK(noli_sim_body_state(world.sim, 0, &body));
      ASSERT_NEAR(reaction.force[0] / weight, 0.0, 1e-3);
      ASSERT_NEAR(reaction.force[1] / weight, 1.0, 1e-3);
      ASSERT_NEAR(reaction.force[2] / weight, 0.0, 1e-3);
      ASSERT_NEAR(reaction.moment[2] / (weight * body.centre[0]), 1.0, 1e-3);
      world_done(&world);
    }
  }

  // an obstacle that presses needs the opposite of contact
  Pushed pushed;
  pushed_start(&pushed, NULL, "backward_euler");
  NoliSim* sim = pushed.world.sim;
  NoliReaction reaction;
  NoliWrench hand = {.normal = {0}};
  for (int i = 0; i < 100 && hand.normal[0] == 0.0; i++) {
    move_hand(sim, 0.001 * i);
    take_steps(sim, 1);
    ASSERT_OK(noli_sim_wrench(sim, PLATE, NULL, &hand));
  }
  assert_true(hand.normal[0] < 0.0);
  ASSERT_OK(noli_sim_reaction(sim, 0, NULL, &reaction));
  for (int k = 0; k < 3; k++) {
    double contact = hand.normal[k] + hand.friction[k];
    ASSERT_NEAR(reaction.force[k], -contact, 1e-9 * fabs(hand.normal[0]));
  }
  world_done(&pushed.world);
}

// The ground bears a ball of curved elements, whose proxy touches it.
static void curved_bodies_have_wrenches(void** state) {
  (void)state;
  World world = world_new(1);
  world_add(&world, make_sphere(&world, 0.1, 2), (double[]){0, 0.1001, 0});
  world.body[0].order = 2;
  world.body[0].material.mass_damping = 40.0;
  world_add_plane(&world, (double[]){0, 0, 0}, (double[]){0, 1, 0});
  world_start(&world);
  take_steps(world.sim, 80);
  NoliBodyState body;
  NoliWrench wrench;
  ASSERT_OK(noli_sim_body_state(world.sim, 0, &body));
  ASSERT_OK(noli_sim_wrench(world.sim, 0, NULL, &wrench));
  ASSERT_NEAR(wrench.normal[1] / (9.80665 * body.mass), 1.0, 1e-2);
  world_done(&world);
}

// A block that slides and is pushed: for every solver, contact model and friction method, contacts
// lie on both sides at their gap, and their forces add up to those of the pairs and vertices.
static void contacts_add_up(void** state) {
  (void)state;
  static const struct {
    const char *solver, *model, *friction;
  } of[] = {
      {"projected_newton", "ipc", "lagged"},  {"augmented_lagrangian", "ipc", "lagged"},
      {"implicit_newton", "ipc", "implicit"}, {"projected_newton", "gcp", "lagged"},
      {"implicit_newton", "gcp", "implicit"}, {"projected_newton", "implicit_surface", "lagged"}};
  for (int c = 0; c < COUNT(of); c++) {
    Pushed pushed;
    pushed_start(&pushed, of[c].solver, "backward_euler");
    World* world = &pushed.world;
    NoliSim* sim = NULL;
    world->def.contact_model = of[c].model;
    world->def.friction_method = of[c].friction;
    world->def.audit = strcmp(of[c].model, "implicit_surface") == 0 ? "off" : "every_step";
    ASSERT_OK(noli_sim_create(world->context, &world->def, &sim));
    const NoliContactInfo* contact = NULL;
    const NoliPairForce* pair = NULL;
    int64_t n = -1;
    int32_t n_pairs = 0;
    ASSERT_OK(noli_sim_contacts(sim, &contact, &n));
    assert_int_equal(n, 0);
    double pushes = 0.0;
    for (int step = 0; step < 60 && pushes == 0.0; step++) {
      move_hand(sim, 0.002 * step);
      take_steps(sim, 1);
      ASSERT_OK(noli_sim_pair_forces(sim, &pair, &n_pairs));
      for (int32_t p = 0; p < n_pairs; p++) {
        pushes += pair[p].b == PLATE ? fabs(pair[p].normal[0]) : 0.0;
      }
    }
    assert_true(pushes > 0.0);

    // resultants of pairs, kept before the list takes their place
    NoliPairForce kept[8];
    assert_in_range(n_pairs, 2, 8);
    memcpy(kept, pair, sizeof *kept * (size_t)n_pairs);
    double largest = 0.0;
    ASSERT_OK(noli_sim_contacts(sim, &contact, &n));
    assert_true(n >= 4);
    for (int64_t i = 0; i < n; i++) {
      const NoliContactInfo* at = &contact[i];
      double gap = 0.0, along = 0.0, size = 0.0, normal = 0.0;
      for (int k = 0; k < 3; k++) {
        double difference = at->position[0][k] - at->position[1][k];
        gap += difference * difference;
        along += at->normal[k] * at->normal_force[k];
        size += at->normal_force[k] * at->normal_force[k];
        normal += at->normal[k] * at->normal[k];
        largest = noli_larger(largest, fabs(at->normal_force[k]));
        for (int32_t p = 0; p < n_pairs; p++) {
          bool same = (kept[p].a == at->entity[0] && kept[p].b == at->entity[1]);
          bool turned = (kept[p].a == at->entity[1] && kept[p].b == at->entity[0]);
          double sign = same ? 1.0 : turned ? -1.0 : 0.0;
          kept[p].normal[k] -= sign * at->normal_force[k];
          kept[p].friction[k] -= sign * at->friction_force[k];
        }
      }
      ASSERT_NEAR(along, sqrt(size), 1e-9 * (1.0 + sqrt(size))); // surfaces push
      if (size > 0.0) {
        ASSERT_NEAR(normal, 1.0, 1e-12);
      }
      if (isfinite(at->gap) && at->gap > 0.0 && strcmp(of[c].model, "implicit_surface") != 0) {
        ASSERT_NEAR(sqrt(gap), at->gap, 1e-3 * noli_sim_contact_distance(sim));
      }
      assert_true(at->n_first >= 1 && at->vertex[0] != NOLI_NULL_INDEX);
    }
    for (int32_t p = 0; p < n_pairs; p++) {
      for (int k = 0; k < 3; k++) {
        ASSERT_NEAR(kept[p].normal[k], 0.0, 1e-9 * largest);
        ASSERT_NEAR(kept[p].friction[k], 0.0, 1e-9 * largest);
      }
    }
    noli_sim_destroy(&sim);
    world_done(world);
  }
}

// ---- queries ------------------------------------------------------------------------------------

// Distance along the ray to a triangle by solving three equations; INFINITY beside it.
static double meet(const double o[3], const double d[3], const double* a, const double* b,
                   const double* c) {
  double e[3], f[3], s[3], p[3], q[3];
  for (int k = 0; k < 3; k++) {
    e[k] = b[k] - a[k], f[k] = c[k] - a[k], s[k] = o[k] - a[k];
  }
  for (int k = 0; k < 3; k++) {
    int i = (k + 1) % 3, j = (k + 2) % 3;
    p[k] = d[i] * f[j] - d[j] * f[i];
    q[k] = s[i] * e[j] - s[j] * e[i];
  }
  double det = e[0] * p[0] + e[1] * p[1] + e[2] * p[2];
  double u = (s[0] * p[0] + s[1] * p[1] + s[2] * p[2]) / det;
  double v = (d[0] * q[0] + d[1] * q[1] + d[2] * q[2]) / det;
  double t = (f[0] * q[0] + f[1] * q[1] + f[2] * q[2]) / det;
  return u >= 0.0 && v >= 0.0 && u + v <= 1.0 && t >= 0.0 ? t : (double)INFINITY;
}

static void queries_find_the_nearest(void** state) {
  (void)state;
  TestRandom random = {7};
  Pushed pushed;
  pushed_start(&pushed, NULL, "backward_euler");
  World* world = &pushed.world;
  NoliSim* sim = world->sim;
  int n_hits = 0, n_planes = 0;
  for (int i = 0; i < 400; i++) {
    if (i % 100 == 50) {
      take_steps(sim, 1); // queries follow the state
    }
    double o[3], d[3], norm = 0.0;
    for (int k = 0; k < 3; k++) {
      o[k] = test_random(&random, -0.3, 0.3) + (k == 1 ? 0.31 : 0.0);
      d[k] = test_random(&random, -0.12, 0.12) + (k == 1 ? 0.06 : 0.0) - o[k];
      norm += d[k] * d[k];
    }
    for (int k = 0; k < 3; k++) {
      d[k] /= sqrt(norm);
    }
    const double* x = noli_sim_positions(sim);
    const int32_t* tri = noli_sim_surface_triangles(sim);
    double want = d[1] < 0.0 ? -o[1] / d[1] : (double)INFINITY;
    double nearest = fabs(o[1]);
    for (int64_t t = 0; t < noli_sim_surface_triangle_count(sim); t++) {
      const double *a = x + 3 * tri[3 * t], *b = x + 3 * tri[3 * t + 1],
                   *c = x + 3 * tri[3 * t + 2];
      want = noli_smaller(want, meet(o, d, a, b, c));
      nearest = noli_smaller(nearest, sqrt(noli_point_triangle_distance_sqr(o, a, b, c)));
    }
    NoliSurfacePoint hit, closest;
    ASSERT_OK(noli_sim_cast_ray(sim, o, d, (double)INFINITY, &hit));
    ASSERT_OK(noli_sim_closest_point(sim, o, (double)INFINITY, &closest));
    assert_true(isinf(want) == (hit.entity == NOLI_NULL_INDEX));
    ASSERT_NEAR(closest.distance, nearest, 1e-14);
    double gap = 0.0;
    for (int k = 0; k < 3; k++) {
      gap += pow(closest.position[k] - o[k], 2.0);
    }
    ASSERT_NEAR(sqrt(gap), nearest, 1e-14);
    if (!isinf(want)) {
      ASSERT_NEAR(hit.distance, want, 1e-12);
      for (int k = 0; k < 3; k++) {
        ASSERT_NEAR(hit.position[k], o[k] + want * d[k], 1e-12);
      }
      n_hits += hit.entity < N_BODIES;
      n_planes += hit.entity == GROUND;
      // a shorter ray does not reach it
      ASSERT_OK(noli_sim_cast_ray(sim, o, d, 0.99 * want, &hit));
      assert_int_equal(hit.entity, NOLI_NULL_INDEX);
    }
    ASSERT_OK(noli_sim_closest_point(sim, o, 0.99 * nearest, &closest));
    assert_int_equal(closest.entity, NOLI_NULL_INDEX);
  }
  assert_true(n_hits > 100 && n_planes > 50);

  // a ray through a vertex and one along an edge of the mesh meet it
  NoliSurfacePoint hit;
  const double* corner = noli_sim_positions(sim);
  const double above[3] = {corner[0], corner[1] + 1.0, corner[2]}, down[3] = {0, -2, 0};
  ASSERT_OK(noli_sim_cast_ray(sim, above, down, 2.0, &hit));
  assert_int_equal(hit.entity, BLOCK);
  ASSERT_STATUS(noli_sim_cast_ray(sim, above, (double[]){0, 0, 0}, 1.0, &hit), NOLI_ERROR_ARGUMENT);
  world_done(world);
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
      cmocka_unit_test(states_go_to_memory_and_back),
      cmocka_unit_test(states_of_other_models_are_refused),
      cmocka_unit_test(reset_begins_again),
      cmocka_unit_test(reset_returns_frames),
      cmocka_unit_test(parameters_are_read),
      cmocka_unit_test(clones_are_independent),
      cmocka_unit_test(bodies_come_and_go),
      cmocka_unit_test(cancelled_steps_leave_no_trace),
      cmocka_unit_test(inertia_is_that_of_a_box),
      cmocka_unit_test(energies_are_those_of_the_report),
      cmocka_unit_test(wrenches_balance),
      cmocka_unit_test(reactions_hold_a_bar),
      cmocka_unit_test(curved_bodies_have_wrenches),
      cmocka_unit_test(contacts_add_up),
      cmocka_unit_test(queries_find_the_nearest),
      cmocka_unit_test(lack_of_memory_changes_nothing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
