// The interface of the simulator: definitions that are refused, defects that are located, results
// that are consistent, the same bits for any thread count.
#include "world.h"

static const double origin[3] = {0, 0, 0}, up[3] = {0, 1, 0};

// Three boxes, the upper ones turning, tumble onto a plane.
static World heap(int32_t n_threads, const char* solver) {
  World world = world_new(n_threads);
  world_add(&world, make_box(&world, 0.3, 0.2, 0.2, 2), (double[]){0, 0.12, 0});
  world_add(&world, make_box(&world, 0.2, 0.2, 0.2, 2), (double[]){0.03, 0.36, 0.02});
  world_add(&world, make_box(&world, 0.2, 0.1, 0.3, 2), (double[]){-0.05, 0.56, 0.01});
  world_add_plane(&world, origin, up);
  world.body[2].angular_velocity[0] = 3.0;
  world.def.friction = 0.4;
  world.def.linear_solver = solver;
  world.def.time_step = 0.02;
  world_start(&world);
  return world;
}

static uint64_t hash_after(int32_t n_threads, const char* solver, int steps) {
  World world = heap(n_threads, solver);
  for (int i = 0; i < steps; i++) {
    world_step(&world);
  }
  assert_true(world.report.contacts > 0);
  uint64_t hash = noli_sim_state_hash(world.sim);
  world_done(&world);
  return hash;
}

static void same_bits_for_any_thread_count(void** state) {
  (void)state;
  uint64_t serial = hash_after(1, "dense", 12);
  for (int32_t threads = 2; threads <= 8; threads += threads == 3 ? 5 : 1) {
    assert_true(hash_after(threads, "dense", 12) == serial);
  }
  serial = hash_after(1, "pcg", 8);
  assert_true(hash_after(2, "pcg", 8) == serial);
}

static void a_new_simulation_with_the_same_state_goes_on_to_the_same_bits(void** state) {
  (void)state;
  World first = heap(1, "cholmod"), second = heap(1, "cholmod");
  for (int i = 0; i < 25; i++) {
    world_step(&first);
  }
  assert_true(first.report.contacts > 0);
  // the new one makes room for the slips of contacts, which its own state does not have yet
  ASSERT_OK(noli_sim_copy_state(second.sim, first.sim));
  assert_null(noli_sim_state_difference(second.sim, first.sim));
  for (int i = 0; i < 25; i++) {
    world_step(&first);
    world_step(&second);
    assert_true(noli_sim_state_hash(first.sim) == noli_sim_state_hash(second.sim));
  }
  world_done(&first);
  world_done(&second);
}

static void solvers_agree(void** state) {
  (void)state;
  static const char* const solvers[] = {"cholmod", "pcg"};
  World reference = heap(1, "dense");
  World other[2] = {heap(1, solvers[0]), heap(1, solvers[1])};
  for (int i = 0; i < 10; i++) {
    world_step(&reference);
    for (int k = 0; k < 2; k++) {
      world_step(&other[k]);
    }
  }
  for (int k = 0; k < 2; k++) {
    for (int32_t i = 0; i < 3 * noli_sim_vertex_count(reference.sim); i++) {
      ASSERT_NEAR(noli_sim_positions(other[k].sim)[i], noli_sim_positions(reference.sim)[i], 1e-5);
    }
    world_done(&other[k]);
  }
  world_done(&reference);
}

static void resting_forces_balance_weight(void** state) {
  (void)state;

  // a pile comes to rest
  World world = heap(2, "cholmod");
  for (int i = 0; i < 250; i++) {
    world_step(&world);
  }
  print_message("heap after 5 s: largest speed %.3g m/s\n", world.report.max_speed);
  ASSERT_AT_MOST(world.report.max_speed, 0.01);

  // weight
  int32_t n = noli_sim_vertex_count(world.sim);
  double* force = malloc(sizeof(double) * 3 * (size_t)n);
  double weight = 0.0, sum = 0.0;
  for (int32_t i = 0; i < n; i++) {
    weight += 9.80665 * noli_sim_masses(world.sim)[i];
  }

  // forces between bodies cancel: the remainder is the reaction of the plane
  ASSERT_OK(noli_sim_contact_forces(world.sim, force));
  for (int32_t i = 0; i < n; i++) {
    sum += force[3 * i + 1];
  }
  print_message("reaction of the plane %.4f N, weight %.4f N\n", sum, weight);
  ASSERT_NEAR(sum, weight, 0.01 * weight);

  // the same from the resultants of pairs with the plane
  const NoliPairForce* pairs;
  int32_t n_pairs;
  double plane = 0.0;
  ASSERT_OK(noli_sim_pair_forces(world.sim, &pairs, &n_pairs));
  assert_true(n_pairs > 0);
  for (int32_t i = 0; i < n_pairs; i++) {
    if (pairs[i].b == 3) {
      plane += pairs[i].normal[1];
    }
  }
  ASSERT_NEAR(plane, sum, 1e-9 * weight);
  free(force);
  world_done(&world);
}

static void uninitialised_definition_is_refused(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  NoliSimDef def = {0};
  NoliSim* sim = NULL;
  ASSERT_STATUS(noli_sim_create(context, &def, &sim), NOLI_ERROR_ARGUMENT);
  assert_null(sim);
  test_context_done(&context);
}

// Every field that can be wrong, and a word of its message.
static void refuse(void (*spoil)(World*), const char* word) {
  World world = world_new(1);
  world_add(&world, make_box(&world, 0.2, 0.2, 0.2, 1), (double[]){0, 0.2, 0});
  world_add_plane(&world, origin, up);
  spoil(&world);
  NoliStatus status = world_create(&world);
  const char* message = noli_context_message(world.context);
  if (status >= NOLI_OK || strstr(message, word) == NULL) {
    print_error("status %d, message \"%s\" without \"%s\"\n", (int)status, message, word);
    fail();
  }
  assert_null(world.sim);
  world_done(&world);
}

static void bad_step(World* w) {
  w->def.time_step = -1.0;
}
static void bad_gravity(World* w) {
  w->def.gravity[1] = (double)NAN;
}
static void bad_integrator(World* w) {
  w->def.integrator = "backward_eular";
}
static void bad_law(World* w) {
  w->body[0].material.law = "rubber";
}
static void bad_poisson(World* w) {
  w->body[0].material.poisson = 0.5;
}
static void bad_density(World* w) {
  w->body[0].material.density = 0.0;
}
static void bad_distance(World* w) {
  w->def.contact_distance.value = -1.0;
}
static void bad_solver(World* w) {
  w->def.linear_solver = "cholmad";
}
static void bad_vertex(World* w) {
  w->mesh[0]->x[4] = (double)NAN;
}
static void bad_normal(World* w) {
  w->plane[0].normal[1] = 0.0;
}
static void bad_motion(World* w) {
  static const int32_t node[] = {99};
  NoliMotionDef* motion = world_add_motion(w, 0, NULL, NULL);
  motion->node = node;
  motion->n_node = 1;
}
static void below_plane(World* w) {
  w->plane[0].origin[1] = 0.2;
}
static void no_volume(World* w) {
  w->mesh[0]->n_tet = 0;
}

static void bad_definitions_are_refused_with_a_message(void** state) {
  (void)state;
  refuse(bad_step, "time step");
  refuse(bad_gravity, "gravity");
  refuse(bad_integrator, "backward_euler");
  refuse(bad_law, "rubber");
  refuse(bad_poisson, "Poisson");
  refuse(bad_density, "density");
  refuse(bad_distance, "contact distance");
  refuse(bad_solver, "cholmod");
  refuse(bad_vertex, "vertex 1");
  refuse(bad_normal, "half-space");
  refuse(bad_motion, "no vertex 99");
  refuse(below_plane, "ground");
  refuse(no_volume, "obstacle");
}

static void defects_are_listed_and_located(void** state) {
  (void)state;

  // boxes that cross, touch and lie below the plane
  World world = world_new(1);
  world_add(&world, make_box(&world, 0.2, 0.2, 0.2, 1), (double[]){0, 0.2, 0});
  world_add(&world, make_box(&world, 0.2, 0.2, 0.2, 1), (double[]){0.1, 0.25, 0.03});
  world_add(&world, make_box(&world, 0.2, 0.2, 0.2, 1), (double[]){1.0, 0.1, 0.0});
  // exactly on top of the one before: faces touch
  world_add(&world, make_box(&world, 0.2, 0.2, 0.2, 1), (double[]){1.0, 0.3, 0.0});
  world_add_plane(&world, origin, up);
  assert_true(world_create(&world) == NOLI_ERROR_INTERSECTION);

  // the list of defects
  NoliDefect* defects = NULL;
  int64_t n = 0;
  ASSERT_OK(noli_sim_check(world.context, &world.def, &defects, &n));
  int crossing = 0, below = 0, touching = 0;
  for (int64_t i = 0; i < n; i++) {
    const NoliDefect* o = &defects[i];
    if (o->kind == NOLI_DEFECT_HALF_SPACE) {
      assert_int_equal(o->entity[0], 2);
      assert_int_equal(o->entity[1], 4);
      ASSERT_NEAR(o->position[1], 0.0, 1e-15);
      below++;
    } else if (o->entity[0] < 2) {
      assert_true(o->entity[1] < 2);
      ASSERT_NEAR(o->position[0], 0.05, 0.06);
      crossing++;
    } else {
      assert_true(o->entity[1] >= 2);
      touching++;
    }
  }

  // every kind
  assert_true(crossing > 0 && touching > 0);
  assert_int_equal(below, 4);
  noli_sim_check_free(world.context, &defects);
  world_done(&world);
}

static void newton_loops_do_not_allocate_after_warm_up(void** state) {
  (void)state;
  World world = heap(1, "pcg");
  for (int i = 0; i < 60; i++) {
    world_step(&world);
  }
  world.sim->own_model->audit = false;
  world_step(&world);
  int64_t before = world.context->n_allocations;
  int64_t iterations = 0;
  for (int i = 0; i < 5; i++) {
    world_step(&world);
    iterations += world.report.newton_iterations;
  }
  int64_t made = world.context->n_allocations - before;
  print_message("%lld allocations in %lld iterations\n", (long long)made, (long long)iterations);
  assert_int_equal(made, 0);
  world_done(&world);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(same_bits_for_any_thread_count),
      cmocka_unit_test(a_new_simulation_with_the_same_state_goes_on_to_the_same_bits),
      cmocka_unit_test(solvers_agree),
      cmocka_unit_test(resting_forces_balance_weight),
      cmocka_unit_test(uninitialised_definition_is_refused),
      cmocka_unit_test(bad_definitions_are_refused_with_a_message),
      cmocka_unit_test(defects_are_listed_and_located),
      cmocka_unit_test(newton_loops_do_not_allocate_after_warm_up),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
