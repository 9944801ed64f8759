// Solves that stall: contact that stops Newton's method ends them early, gets a force where
// possible, and does not end the run if a prescribed motion needs more room than there is.
#include "world.h"

static void expect_in(const char* text, const char* part) {
  if (strstr(text, part) == NULL) {
    print_error("\"%s\" does not contain \"%s\"\n", text, part);
    fail();
  }
}

// A barrier so soft that nothing holds a box on the ground at a height where rounding leaves gaps
// of 1e-16 m: only collision detection stops it there, in the same way in every iteration.
static void same_blocker_ends_the_solve(void** state) {
  (void)state;
  for (int integrator = 0; integrator < 2; integrator++) {
    World world = world_new(1);
    world_add(&world, make_box(&world, 0.2, 0.2, 0.2, 1), (double[]){0, 1.101, 0});
    world_add_plane(&world, (double[]){0, 1, 0}, (double[]){0, 1, 0});
    world.def.time_step = 0.02;
    world.def.integrator = integrator == 0 ? "backward_euler" : "trapezoidal";
    world.def.barrier_stiffness = 1e-60;
    world.def.max_substeps = 1;
    world_start(&world);
    NoliStatus status = NOLI_OK;
    for (int step = 0; step < 10 && status == NOLI_OK; step++) {
      status = noli_sim_step(world.sim, &world.report);
    }
    ASSERT_STATUS(status, NOLI_STEP_BLOCKED);
    print_message("%d iterations: %s; %s\n", world.report.newton_iterations,
                  noli_context_message(world.context), world.report.blocked_by);
    // from 1 mm down to rounding, a digit per iteration, and then ten equal ones
    ASSERT_AT_MOST(world.report.newton_iterations, 40);
    expect_in(noli_context_message(world.context), "consecutive");
    expect_in(world.report.blocked_by, "contact of \"body0\" with \"ground\"");
    world_done(&world);
  }
}

// ---- surfaces of high order that fold inwards ---------------------------------------------------

enum { SPIN_STEPS = 12 };

// A body of high order whose lowest vertices are held while the rest turns.
static World spun_body(bool ball, int32_t order, int32_t held[64]) {
  World world = world_new(1);
  NoliMesh* mesh = ball ? make_sphere(&world, 0.5, 2) : make_box(&world, 1.0, 1.0, 1.0, 1);
  int32_t n_vert = mesh->n_vert, n = 0;
  const double* X = mesh->x;
  double low = (double)INFINITY;
  for (int32_t i = 0; i < n_vert; i++) {
    low = noli_smaller(low, X[3 * i + 1]);
  }
  for (int32_t i = 0; i < n_vert; i++) {
    if (X[3 * i + 1] < low + 0.05 && n < 64) {
      held[n++] = i;
    }
  }
  world_add(&world, mesh, (double[]){0, 0, 0});
  world.body[0].order = order;
  world.body[0].material.law = "corotated_linear";
  world.body[0].material.young = 1e6;
  world.body[0].material.poisson = 0.3;
  world.body[0].angular_velocity[0] = 60.0;
  world.body[0].angular_velocity[2] = 30.0;
  NoliMotionDef* motion = world_add_motion(&world, 0, NULL, NULL);
  motion->node = held;
  motion->n_node = n;
  world.def.gravity[1] = 0.0;
  world.def.time_step = 2e-3;
  world_use(&world, (WorldContact){"gcp", 1.0, 1e-3});
  return world;
}

// Two triangles of a proxy on a sharp edge approach each other from inside, where the elements do
// not resist and the potential does not act: a force pushes apart pairs that collision detection
// stops.
static void surfaces_do_not_fold_inwards(void** state) {
  (void)state;
  for (int shape = 0; shape < 2; shape++) {
    int32_t held[64];
    World world = spun_body(shape == 0, shape == 0 ? 2 : 3, held);
    int32_t iterations = 0;
    int64_t most_contacts = 0;
    double least = (double)INFINITY;
    world_start(&world);
    double range = world.sim->model->problem.contact.gcp.inner;
    // nothing acts at rest
    assert_true(range > 0.0);
    assert_int_equal(noli_stage_contact_count(world.sim->stage), 0);
    for (int step = 0; step < SPIN_STEPS; step++) {
      world_step(&world);
      assert_int_equal(world.report.substeps, 1);
      iterations += world.report.newton_iterations;
      most_contacts = world.report.contacts > most_contacts ? world.report.contacts : most_contacts;
      least = noli_smaller(least, world.report.min_distance);
    }
    print_message("%d iterations, %lld contacts, minimum distance %.2e m, range %.2e m\n",
                  iterations, (long long)most_contacts, least, range);
    ASSERT_AT_MOST(iterations, 30 * SPIN_STEPS);
    // it came that close
    ASSERT_AT_MOST(least, range);
    assert_true(least > 1e-3 * range);
    world_done(&world);
  }
}

// The opposite sides of linear elements that are crushed flat come together from inside, where the
// potential does not act: they are pushed apart, but only at such small distances.
static void crushed_elements_are_pushed(void** state) {
  (void)state;

  // a cube with the geometric potential
  World world = world_new(1);
  world_add(&world, make_box(&world, 1.0, 1.0, 1.0, 1), (double[]){0, 0, 0});
  world_use(&world, (WorldContact){"gcp", 1.0, 1e-3});
  world_start(&world);
  NoliStage* stage = world.sim->stage;
  int32_t n = noli_sim_vertex_count(world.sim);

  // compress it further and further
  static const double height[4] = {1.0, 2e-5, 8e-6, 2e-6};
  double* force = calloc((size_t)(3 * n), sizeof *force);
  double most_before = 0.0;
  for (int k = 0; k < 4; k++) {
    memcpy(stage->here->x, noli_sim_positions(world.sim), (size_t)(3 * n) * sizeof *stage->here->x);
    for (int32_t i = 0; i < n; i++) {
      stage->here->x[3 * i + 1] *= height[k];
    }
    memset(force, 0, (size_t)(3 * n) * sizeof *force);
    noli_stage_set_kappa(stage, 1.0);
    ASSERT_OK(noli_stage_find_contacts(stage));
    ASSERT_OK(stage->problem->contact.model->forces(stage, 1.0, force));
    assert_int_equal(noli_stage_contact_count(stage) > 0, k >= 2);
    // upwards on the upper side, downwards on the lower one, more where it is flatter
    double most = 0.0;
    for (int32_t i = 0; i < n; i++) {
      double outwards = stage->here->x[3 * i + 1] > 0.0 ? force[3 * i + 1] : -force[3 * i + 1];
      assert_true(outwards >= 0.0);
      most = noli_larger(most, outwards);
    }
    assert_true(k < 2 ? most == 0.0 : most > most_before);
    most_before = most;
  }
  free(force);
  world_done(&world);
}

// ---- infeasible motions -------------------------------------------------------------------------

// A plate sinks through a box and the ground below it: the run continues with the plate at the
// position where contact stops it, and reports it.
static void plate_stops_at_what_it_squeezes(void** state) {
  (void)state;
  double speed = 1.0;
  World world = world_new(1);
  world_add(&world, make_box(&world, 0.1, 0.1, 0.1, 2), (double[]){0, 0.0505, 0});
  world_add_obstacle(&world, make_box(&world, 0.4, 0.02, 0.4, 1), (double[]){0, 0.112, 0});
  world_add_plane(&world, (double[]){0, 0, 0}, (double[]){0, 1, 0});
  world_add_motion(&world, 1, move_down, &speed);
  world.def.time_step = 0.01;
  world_start(&world);
  int32_t most = 0, n_stopped = 0, n_held = 0;
  for (int step = 0; step < 20; step++) {
    world_step(&world);
    const NoliStepReport* report = &world.report;
    most = report->newton_iterations > most ? report->newton_iterations : most;
    if (report->motion_done < 0.9) {
      expect_in(report->blocked_by, "prescribed motion stopped by contact of \"body0\"");
      ASSERT_AT_LEAST(report->motion_error, 0.99e-3); // a tenth of the way of a step
      n_stopped++;
      n_held += report->retries > 0 && report->motion_done == 0.0;
    }
  }
  print_message("%d steps stopped, %d of them held, at most %d iterations\n", n_stopped, n_held,
                most);
  assert_true(n_stopped >= 5);
  assert_true(n_held >= 1);
  // springs, the elements they compress, and the step with the plate held
  ASSERT_AT_MOST(most, 200 + 100 + 300);
  world_done(&world);
}

// Down through everything below until t = 0.25 s, then up.
static void move_down_and_up(void* user, double t0, double t1, int32_t n, const int32_t* node,
                             const double* X, const double* x_t0, double* x) {
  (void)user;
  (void)t0;
  (void)node;
  (void)x_t0;
  double depth = t1 < 0.25 ? t1 : 0.5 - t1;
  for (int32_t i = 0; i < n; i++) {
    x[3 * i] = X[3 * i];
    x[3 * i + 1] = X[3 * i + 1] - depth;
    x[3 * i + 2] = X[3 * i + 2];
  }
}

// A plate that stays stopped takes fewer and fewer iterations, and is held no longer than needed.
static void plate_that_is_held_costs_little(void** state) {
  (void)state;
  World world = world_new(1);
  world_add(&world, make_box(&world, 0.1, 0.1, 0.1, 2), (double[]){0, 0.0505, 0});
  world_add_obstacle(&world, make_box(&world, 0.4, 0.02, 0.4, 1), (double[]){0, 0.112, 0});
  world_add_plane(&world, (double[]){0, 0, 0}, (double[]){0, 1, 0});
  world_add_motion(&world, 1, move_down_and_up, NULL);
  world.def.friction = 0.3; // without it the box slips out
  world.def.time_step = 0.01;
  world_start(&world);
  int32_t n_held = 0, most = 0;
  for (int step = 1; step <= 46; step++) {
    world_step(&world);
    const NoliStepReport* report = &world.report;
    bool held = report->retries > 0 && report->motion_done == 0.0;
    n_held = held ? n_held + 1 : step < 40 ? 0 : n_held;
    if (n_held > 10 && held) {
      most = report->newton_iterations > most ? report->newton_iterations : most;
    }
    if (step > 42) {
      // the way up is free
      ASSERT_NEAR(report->motion_done, 1.0, 1e-3);
    }
  }
  print_message("%d steps held in a row, later ones with at most %d iterations\n", n_held, most);
  assert_true(n_held > 10);
  // 20 with springs, 10 to come to rest, and the step with the plate held
  ASSERT_AT_MOST(most, 20 + 10 + 20);
  world_done(&world);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(same_blocker_ends_the_solve),
      cmocka_unit_test(surfaces_do_not_fold_inwards),
      cmocka_unit_test(crushed_elements_are_pushed),
      cmocka_unit_test(plate_stops_at_what_it_squeezes),
      cmocka_unit_test(plate_that_is_held_costs_little),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
