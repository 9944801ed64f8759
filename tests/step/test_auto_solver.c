// Simulations that choose the linear solver themselves: the same bits for any number of threads,
// and after a restart, with both methods.
#include "world.h"

// A solid box, large enough for conjugate gradients, lands on its corner.
static World landing_box(int32_t n_threads, const char* method, const char* linear) {
  World world = world_new(n_threads);
  world.def.solver = method;
  world.def.linear_solver = linear;
  world.def.contact_distance = (NoliScaled){1e-3, false};
  NoliMesh* box = make_box(&world, 0.3, 0.3, 0.3, 11);
  noli_mesh_transform(box, (double[]){1, 1, 1}, (double[]){20, 30, 40}, (double[]){0, 0, 0});
  double lowest = 0.0;
  for (int32_t v = 0; v < box->n_vert; v++) {
    lowest = noli_smaller(lowest, box->x[3 * v + 1]);
  }
  world_add(&world, box, (double[]){0, 0.002 - lowest, 0});
  world.body[0].velocity[1] = -1.0;
  world.body[0].material.young = 1e5;
  world_add_plane(&world, (double[]){0, 0, 0}, (double[]){0, 1, 0});
  return world;
}

static const char* const methods[2] = {"projected_newton", "augmented_lagrangian"};

static void bits_depend_on_neither_threads_nor_restarts(void** state) {
  (void)state;
  for (int m = 0; m < 2; m++) {
    World whole = landing_box(1, methods[m], "auto"), late = landing_box(2, methods[m], "auto");
    world_start(&whole);
    world_start(&late);
    int64_t iterations = 0;
    for (int i = 0; i < 5; i++) {
      if (i == 2) {
        ASSERT_OK(noli_sim_copy_state(late.sim, whole.sim));
      }
      world_step(&whole);
      iterations += whole.report.linear_iterations;
      if (i >= 2) {
        world_step(&late);
        assert_int_equal(late.report.linear_iterations, whole.report.linear_iterations);
        assert_true(noli_sim_state_hash(late.sim) == noli_sim_state_hash(whole.sim));
      }
    }
    assert_true(whole.report.contacts > 0 && iterations > 50);
    world_done(&whole);
    world_done(&late);
  }
}

// The same motion as with factorizations, within the tolerances.
static void it_agrees_with_factorizations(void** state) {
  (void)state;
  World automatic = landing_box(2, "projected_newton", "auto");
  World direct = landing_box(2, "projected_newton", "cholmod");
  world_start(&automatic);
  world_start(&direct);
  double conditions = 0.0;
  for (int i = 0; i < 3; i++) {
    world_step(&automatic);
    world_step(&direct);
    for (int32_t k = 0; k < automatic.report.newton_iterations; k++) {
      conditions += automatic.report.newton[k].condition;
    }
    assert_int_equal(direct.report.linear_iterations, 0);
    assert_true(direct.report.newton[0].condition == 0.0);
  }
  assert_true(conditions > 1.0);
  for (int64_t i = 0; i < 3 * (int64_t)noli_sim_vertex_count(direct.sim); i++) {
    ASSERT_NEAR(noli_sim_positions(automatic.sim)[i], noli_sim_positions(direct.sim)[i], 1e-4);
  }
  world_done(&automatic);
  world_done(&direct);
}

// Without inertia all systems are factored, as nothing bounds the error of iterations.
static void load_steps_are_factored(void** state) {
  (void)state;
  uint64_t hash[2];
  for (int k = 0; k < 2; k++) {
    World world = world_new(2);
    world.def.integrator = "quasi_static";
    world.def.linear_solver = k == 0 ? "auto" : "cholmod";
    NoliMesh* box = make_box(&world, 0.3, 0.3, 0.3, 11);
    int32_t top[200], n_top = 0;
    for (int32_t v = 0; v < box->n_vert; v++) {
      if (box->x[3 * v + 1] > 0.15 - 1e-9) {
        assert_true(n_top < 200);
        top[n_top++] = v;
      }
    }
    world_add(&world, box, (double[]){0, 0, 0});
    world.body[0].material.young = 1e5;
    NoliMotionDef* held = world_add_motion(&world, 0, NULL, NULL);
    held->node = top;
    held->n_node = n_top;
    world_start(&world);
    world_step(&world);
    assert_int_equal(world.report.linear_iterations, 0);
    hash[k] = noli_sim_state_hash(world.sim);
    world_done(&world);
  }
  assert_true(hash[0] == hash[1]);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(bits_depend_on_neither_threads_nor_restarts),
      cmocka_unit_test(it_agrees_with_factorizations),
      cmocka_unit_test(load_steps_are_factored),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
