// The audit during a simulation: a defective solver is stopped at its first invalid point.
#include "world.h"

// Simulates a solver defect: in a step, moves a vertex of the point that the solver works on.
typedef struct Saboteur {
  World* world;
  int64_t step;
  int32_t vertex;
  double to[3];
} Saboteur;

static void sabotage(void* user, double t, const double X[3], double force[3]) {
  Saboteur* saboteur = user;
  NoliSim* sim = saboteur->world->sim;
  (void)t, (void)X;
  force[0] = force[1] = force[2] = 0.0;
  if (noli_sim_step_count(sim) == saboteur->step) {
    memcpy(&sim->stage->here->x[3 * (int64_t)saboteur->vertex], saboteur->to, sizeof saboteur->to);
  }
}

// A box above a wide thin plate (body 1) on a half-space far below. The diagonal of the plate is
// far from the box: from an invalid start, edges would end at it.
static World box_over_plate(const char* solver, const char* audit) {
  World world = world_new(1);
  NoliMesh* plate = NULL;
  world_add(&world, make_box(&world, 0.2, 0.2, 0.2, 1), (double[]){0.01, 0.15, 0.02});
  ASSERT_OK(noli_mesh_make_plane(world.context, 2.0, 2.0, 1, 1, &plate));
  world_add_obstacle(&world, plate, (double[]){0.4, 0.0, 0.0});
  world_add_plane(&world, (double[]){0, -1, 0}, (double[]){0, 1, 0});
  world.def.solver = solver;
  world.def.audit = audit;
  return world;
}

static void run_until_found(const char* solver, const char* audit, const double to[3],
                            const char* what, const char* whom, const char* when) {
  World world = box_over_plate(solver, audit);
  Saboteur saboteur = {.world = &world, .step = 2, .vertex = 0, .to = {to[0], to[1], to[2]}};
  const NoliForceDef force = {
      .size = sizeof(NoliForceDef), .t_end = INFINITY, .value = sabotage, .user = &saboteur};
  world.def.forces = &force;
  world.def.n_forces = 1;
  world_start(&world);
  world_step(&world);
  world_step(&world);
  uint64_t before = noli_sim_state_hash(world.sim);
  NoliStatus status = noli_sim_step(world.sim, &world.report);
  const char* message = noli_context_message(world.context);
  print_message("  %s: %s\n", solver, message);
  assert_int_equal(status, NOLI_ERROR_AUDIT);
  assert_non_null(strstr(message, what));
  assert_non_null(strstr(message, whom));
  assert_true((strstr(message, "iteration") != NULL) == (when != NULL));
  // the last valid state is kept
  assert_true(noli_sim_state_hash(world.sim) == before);
  saboteur.step = -1;
  world_step(&world);
  world_done(&world);
}

static const double through_plate[3] = {-0.09, -0.004, -0.08};

static void iterations_that_go_astray_are_stopped(void** state) {
  (void)state;
  const char* const solvers[] = {"projected_newton", "augmented_lagrangian", "implicit_newton"};
  for (int i = 0; i < 3; i++) {
    run_until_found(solvers[i], "every_iteration", through_plate, "meets", "\"body1\"",
                    "iteration");
  }
}

static void steps_that_go_astray_are_stopped(void** state) {
  (void)state;
  run_until_found("projected_newton", "every_step", through_plate, "meets", "\"body1\"", NULL);
}

// The audit does not change the results.
static void audits_do_not_change_a_run(void** state) {
  (void)state;
  const char* audits[] = {"off", "every_step", "every_iteration"};
  const char* const solvers[] = {"projected_newton", "augmented_lagrangian"};
  for (int s = 0; s < 2; s++) {
    uint64_t hash[3];
    for (int i = 0; i < 3; i++) {
      World world = box_over_plate(solvers[s], audits[i]);
      world.body[0].velocity[1] = -4.0;
      world_start(&world);
      for (int step = 0; step < 4; step++) {
        world_step(&world);
      }
      assert_true(world.report.contacts > 0 || s == 1);
      hash[i] = noli_sim_state_hash(world.sim);
      world_done(&world);
    }
    assert_true(hash[0] == hash[1] && hash[1] == hash[2]);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(iterations_that_go_astray_are_stopped),
      cmocka_unit_test(steps_that_go_astray_are_stopped),
      cmocka_unit_test(audits_do_not_change_a_run),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
