// Steps that cannot be solved in one piece: they are divided, reported and counted; and the
// diagnosis of a step that stalls.
#include "world.h"

#define H 0.01
// The plate moves down between these times, and is at rest otherwise.
#define T_BEGIN 0.03
#define T_END 0.05
enum { N_STEPS = 14 };

static double plate_sunk(double speed, double t) {
  return speed * (fmin(fmax(t, T_BEGIN), T_END) - T_BEGIN);
}

static void sink(void* user, double t0, double t1, int32_t n, const int32_t* node, const double* X,
                 const double* x_t0, double* x_t1) {
  const double* speed = user;
  (void)t0, (void)node;
  for (int32_t i = 0; i < n; i++) {
    x_t1[3 * i] = x_t0[3 * i];
    x_t1[3 * i + 1] = X[3 * i + 1] - plate_sunk(*speed, t1);
    x_t1[3 * i + 2] = x_t0[3 * i + 2];
  }
}

typedef struct Method {
  const char* solver;
  const char* friction;
  const char* integrator;
  int32_t limit; // Newton iterations, too few for the hardest step; 0: one less than it needs
  int32_t steps; // 0: all
  double speed;  // m/s, of the plate: with less, parts of a step need as many iterations as all
} Method;

// A plate squeezes a box on the ground: slow steps before, hard ones, slow ones after. It is not
// symmetric: otherwise rounding would decide to which side the box gives way, and thus the number
// of iterations of a step.
static World squeezed_box(const Method* method, int32_t max_iterations) {
  World world = world_new(1);
  world_add(&world, make_box(&world, 0.2, 0.2, 0.21, 2), (double[]){0.003, 0.101, 0.007});
  world_add_obstacle(&world, make_box(&world, 0.4, 0.1, 0.4, 1), (double[]){0, 0.253, 0});
  world_add_plane(&world, (double[]){0, 0, 0}, (double[]){0, 1, 0});
  world_add_motion(&world, 1, sink, (void*)(uintptr_t)&method->speed);
  world.def.time_step = H;
  world.def.friction = 0.3;
  world.def.contact_distance = (NoliScaled){2e-3, false};
  world.def.solver = method->solver;
  world.def.friction_method = method->friction;
  world.def.friction_iterations = 1;
  world.def.integrator = method->integrator;
  world.def.max_iterations = max_iterations;
  world.def.max_substeps = 256;
  return world;
}

static const Method methods[] = {
    {"projected_newton", "lagged", "backward_euler", 0, 0, 4.0},
    {"projected_newton", "lagged", "bdf2", 0, 0, 4.0},
    {"projected_newton", "lagged", "trapezoidal", 0, 0, 4.0},
    {"projected_newton", "lagged", "sdirk2", 0, 0, 4.0},
    {"projected_newton", "lagged", "tr_bdf2", 0, 0, 4.0},
    {"projected_newton", "lagged", "quasi_static", 0, 0, 4.0},
    {"augmented_lagrangian", "lagged", "backward_euler", 7, 0, 3.0},
    {"augmented_lagrangian", "lagged", "bdf2", 10, 0, 3.4},
    {"augmented_lagrangian", "lagged", "sdirk2", 8, 6, 3.0},
    {"implicit_newton", "implicit", "bdf2", 24, 0, 3.0},
    {"implicit_newton", "implicit", "sdirk2", 24, 0, 3.0},
};
enum { N_METHODS = sizeof methods / sizeof *methods };

static int32_t step_count(int method) {
  return methods[method].steps > 0 ? methods[method].steps : N_STEPS;
}

// Iterations of the longest solve of a step.
static int32_t longest_solve(const NoliStepReport* report) {
  int32_t longest = 0, length = 0;
  for (int32_t i = 0; i < report->newton_iterations; i++) {
    bool begins =
        i > 0 && (report->newton[i].stage != report->newton[i - 1].stage ||
                  report->newton[i].friction_iteration != report->newton[i - 1].friction_iteration);
    length = begins ? 1 : length + 1;
    longest = length > longest ? length : longest;
  }
  return longest;
}

// One iteration less than the hardest undivided step needs.
static int32_t too_few_iterations(int method) {
  static int32_t limit[N_METHODS];
  if (limit[method] == 0) {
    limit[method] = methods[method].limit;
  }
  if (limit[method] > 0) {
    return limit[method];
  }
  World world = squeezed_box(&methods[method], 1000);
  int32_t longest = 0;
  world_start(&world);
  for (int step = 0; step < N_STEPS; step++) {
    world_step(&world);
    assert_int_equal(world.report.substeps, 1);
    int32_t length = longest_solve(&world.report);
    longest = length > longest ? length : longest;
  }
  world_done(&world);
  limit[method] = longest - 1;
  return limit[method];
}

// The plate is at its prescribed position, for any division of the step.
static void expect_plate(const World* world, double speed) {
  int32_t first, count;
  noli_sim_body_range(world->sim, 1, &first, &count);
  for (int32_t i = first; i < first + count; i++) {
    double want =
        noli_sim_rest_positions(world->sim)[3 * i + 1] - plate_sunk(speed, world->report.time);
    ASSERT_NEAR(noli_sim_positions(world->sim)[3 * i + 1], want, 1e-6);
  }
}

static void hard_steps_are_divided_and_grow_back(void** state) {
  (void)state;
  for (int m = 0; m < N_METHODS; m++) {
    int32_t limit = too_few_iterations(m);
    World world = squeezed_box(&methods[m], limit);
    int32_t retries = 0, before = 1;
    bool grew_back = false;
    world_start(&world);
    print_message("%s, %s, at most %d iterations, parts:", methods[m].solver, methods[m].integrator,
                  limit);
    for (int step = 1; step <= step_count(m); step++) {
      world_step(&world);
      const NoliStepReport* report = &world.report;
      assert_int_equal(report->step, step);
      ASSERT_NEAR(report->time, step * H, 1e-15);
      expect_plate(&world, methods[m].speed);
      print_message(" %d", report->substeps);
      // it begins with half of the parts of the previous step, and every retry doubles them
      assert_int_equal(report->substeps, (before > 1 ? before / 2 : 1) << report->retries);
      retries += report->retries;
      grew_back = grew_back || (before > 1 && report->substeps == 1);
      before = report->substeps;
    }
    print_message("\n");
    assert_true(retries > 0);
    assert_true(grew_back);
    world_done(&world);
  }
}

// If a run is interrupted at any step, also between divided ones, the remaining steps have the same
// bits: a simulation that starts from the state alone repeats the step of the one that ran without
// interruption.
static void a_copied_state_goes_on_alike(void** state) {
  (void)state;
  for (int m = 0; m < N_METHODS; m++) {
    int32_t limit = too_few_iterations(m);
    int n_divided = 0;
    World whole = squeezed_box(&methods[m], limit);
    world_start(&whole);
    for (int step = 0; step < step_count(m); step++) {
      World fresh = squeezed_box(&methods[m], limit);
      world_start(&fresh);
      ASSERT_OK(noli_sim_copy_state(fresh.sim, whole.sim));
      assert_null(noli_sim_state_difference(fresh.sim, whole.sim));
      world_step(&whole);
      assert_non_null(noli_sim_state_difference(fresh.sim, whole.sim));
      world_step(&fresh);
      assert_null(noli_sim_state_difference(fresh.sim, whole.sim));
      assert_true(noli_sim_state_hash(fresh.sim) == noli_sim_state_hash(whole.sim));
      n_divided += whole.report.substeps > 1 ? 1 : 0;
      world_done(&fresh);
    }
    assert_true(n_divided > 0);
    world_done(&whole);
  }
}

// Load steps with a large coefficient: the box bulges between plate and ground, and contacts of
// what turns there begin their steps beyond their limit (stick.h), although they hold. However few
// its iterations may be, a step ends; short ones need few.
static void contacts_beyond_their_limit_hold_again(void** state) {
  (void)state;
  static const Method method = {"projected_newton", "lagged", "quasi_static", 0, 0, 4.0};
  static const int32_t limit[] = {7, 1000};
  for (int k = 0; k < 2; k++) {
    World world = squeezed_box(&method, limit[k]);
    int32_t n = k == 0 ? N_STEPS : 16 * (int32_t)(T_END / H + 0.5), most = 0;
    world.def.friction = 5.0;
    world.def.time_step = k == 0 ? H : H / 16.0;
    world_start(&world);
    for (int32_t step = 0; step < n; step++) {
      world_step(&world);
      int32_t length = longest_solve(&world.report);
      most = length > most ? length : most;
    }
    print_message("steps of %g s: at most %d iterations\n", world.def.time_step, most);
    assert_true(k == 0 || most <= 8);
    world_done(&world);
  }
}

// Without recovery the step is tried once, fails and leaves the state unchanged. Implicit friction
// could still be found as the limit of lagged friction.
static void recovery_can_be_switched_off(void** state) {
  (void)state;
  for (int m = 0; m < N_METHODS && strcmp(methods[m].friction, "implicit") != 0; m++) {
    World world = squeezed_box(&methods[m], too_few_iterations(m));
    world.def.max_substeps = 1;
    world_start(&world);
    NoliStatus status = NOLI_OK;
    uint64_t before = 0;
    while (status == NOLI_OK && noli_sim_step_count(world.sim) < step_count(m)) {
      before = noli_sim_state_hash(world.sim);
      status = noli_sim_step(world.sim, &world.report);
      assert_int_equal(world.report.substeps, 1);
    }
    assert_int_equal(status, NOLI_NOT_CONVERGED);
    assert_int_equal(world.report.retries, 0);
    print_message("%s, %s: blocked by %s\n", methods[m].solver, methods[m].integrator,
                  world.report.blocked_by);
    assert_non_null(strstr(world.report.blocked_by, "alpha"));
    assert_true(noli_sim_state_hash(world.sim) == before);
    world_done(&world);
  }
}

// If constraints or equations fail within a few iterations, minimizing the energy succeeds, from
// the state alone, also if no step may be divided. The next steps begin with the chosen solver
// again.
static void projected_newton_takes_over(void** state) {
  (void)state;
  static const Method constrained[] = {
      {"augmented_lagrangian", "lagged", "backward_euler", 15, 0, 3.0},
      {"augmented_lagrangian", "lagged", "sdirk2", 24, 0, 3.0},
      {"implicit_newton", "lagged", "bdf2", 20, 0, 3.0},
      {"implicit_newton", "implicit", "sdirk2", 24, 0, 3.0},
  };
  int32_t returns = 0;
  for (int m = 0; m < 4; m++) {
    World whole = squeezed_box(&constrained[m], constrained[m].limit);
    whole.def.max_substeps = 1;
    world_start(&whole);
    int32_t fallbacks = 0, before = 0;
    for (int step = 0; step < N_STEPS; step++) {
      World fresh = squeezed_box(&constrained[m], constrained[m].limit);
      fresh.def.max_substeps = 1;
      world_start(&fresh);
      ASSERT_OK(noli_sim_copy_state(fresh.sim, whole.sim));
      world_step(&whole);
      world_step(&fresh);
      assert_true(noli_sim_state_hash(fresh.sim) == noli_sim_state_hash(whole.sim));
      expect_plate(&whole, constrained[m].speed);

      // reports the iterations of both solvers; no constraints remain
      int32_t now = whole.report.solver_fallbacks;
      ASSERT_AT_LEAST(whole.report.newton_iterations, now > 0 ? constrained[m].limit + 1 : 1);
      assert_true(now == 0 || noli_sim_constraint_count(whole.sim) == 0);
      assert_true((whole.report.kappa > 0.0) == (now > 0 || m >= 2));
      fallbacks += now;
      returns += before > 0 && now == 0;
      before = now;
      world_done(&fresh);
    }
    print_message("%s, %s: %d of %d steps by projected_newton\n", constrained[m].solver,
                  constrained[m].integrator, (int)fallbacks, (int)N_STEPS);
    assert_true(fallbacks > 0);
    world_done(&whole);
  }
  assert_true(returns > 0);
}

// ---- a step that stalls names the cause ---------------------------------------------------------

static void expect_in(const char* text, const char* part) {
  if (strstr(text, part) == NULL) {
    print_error("\"%s\" does not contain \"%s\"\n", text, part);
    fail();
  }
}

// Every part of the step filter names the pair at which it stopped, the allowed fraction of the
// step, and a possible remedy; bodies count their own vertices.
static void stalls_name_pair_and_filter(void** state) {
  (void)state;

  // a scene that does not converge
  World world = squeezed_box(&methods[0], 1000);
  char text[512];
  world_start(&world);
  const NoliSurface* surface = world.sim->model->problem.surface;
  NoliStage* stage = world.sim->stage;
  int32_t plate, count, last_tri = surface->n_tri - 1;
  noli_sim_body_range(world.sim, 1, &plate, &count);
  char want[256];

  // a vertex and a triangle
  NoliNewtonStat stat = {.alpha_inversion = 1.0, .alpha_ccd = 1e-9, .alpha = 1e-9};
  stage->record.blocker = (NoliStepBound){1e-9, 3, last_tri, false, NOLI_NULL_INDEX};
  noli_sim_describe_stall(world.sim, &stat, text);
  const int32_t* tri = surface->tri + 3 * (int64_t)last_tri;
  snprintf(want, sizeof want,
           "contact of \"body0\" with \"body1\" (vertex 3, triangle %d %d %d): collision "
           "detection leaves alpha 1e-09; ",
           tri[0] - plate, tri[1] - plate, tri[2] - plate);
  expect_in(text, want);
  expect_in(text, "contact.distance");

  // two edges
  stage->record.blocker = (NoliStepBound){1e-9, 0, surface->n_edge - 1, true, NOLI_NULL_INDEX};
  noli_sim_describe_stall(world.sim, &stat, text);
  const int32_t *a = surface->edge, *b = surface->edge + 2 * ((int64_t)surface->n_edge - 1);
  snprintf(want, sizeof want, "(edge %d %d, edge %d %d)", a[0], a[1], b[0] - plate, b[1] - plate);
  expect_in(text, want);

  // a half-space
  stage->record.blocker = (NoliStepBound){1e-9, 5, NOLI_NULL_INDEX, false, 0};
  noli_sim_describe_stall(world.sim, &stat, text);
  expect_in(text, "contact of \"body0\" with \"ground\" (vertex 5)");

  // an element
  stat = (NoliNewtonStat){.alpha_inversion = 1e-5, .alpha_ccd = 1e-5, .alpha = 1e-5};
  stage->record.blocker =
      (NoliStepBound){1e-5, NOLI_NULL_INDEX, NOLI_NULL_INDEX, false, NOLI_NULL_INDEX};
  stage->record.blocking = (NoliBlockingElement){.block = 0, .element = 7};
  noli_sim_describe_stall(world.sim, &stat, text);
  const int32_t* tet = world.sim->model->problem.block[0].node + 28;
  snprintf(want, sizeof want,
           "an element of \"body0\" that would invert (tetrahedron 7, vertices %d %d %d %d): the "
           "bound on inversion leaves alpha 1e-05; ",
           tet[0], tet[1], tet[2], tet[3]);
  expect_in(text, want);

  // the line search
  stat = (NoliNewtonStat){.alpha_inversion = 1.0, .alpha_ccd = 1.0, .alpha = 1e-15};
  stage->record.blocker.alpha = 1.0;
  noli_sim_describe_stall(world.sim, &stat, text);
  expect_in(text, "the line search: it took alpha 1e-15 of 1; ");
  expect_in(text, "solver.tolerance");

  // slow convergence
  stat.alpha = 1.0;
  noli_sim_describe_stall(world.sim, &stat, text);
  expect_in(text, "slow convergence");
  expect_in(text, "solver.max_iterations");
  world_done(&world);
}

typedef struct Notices {
  int n;
  char last[1024];
} Notices;

static void keep_notice(void* user, NoliLogLevel level, const char* message) {
  Notices* notices = user;
  if (level >= NOLI_LOG_INFO && strstr(message, "Newton iterations") != NULL) {
    notices->n++;
    snprintf(notices->last, sizeof notices->last, "%s", message);
  }
}

// A very long step is reported after 100, 200 and 400 iterations; the failure names the cause.
static void long_steps_say_how_they_go(void** state) {
  (void)state;
  Notices notices = {0};
  World world = squeezed_box(&methods[0], 450);
  NoliContextDef def = noli_default_context_def();
  NoliContext* plain = world.context;
  def.log = keep_notice;
  def.log_user = &notices;
  def.n_threads = 1;
  ASSERT_OK(noli_context_create(&def, &world.context));
  world.def.tolerance = (NoliScaled){1e-30, false};
  world.def.max_substeps = 1;
  world_start(&world);
  ASSERT_STATUS(noli_sim_step(world.sim, &world.report), NOLI_NOT_CONVERGED);
  assert_int_equal(notices.n, 3);
  expect_in(notices.last, "step 1, t = 0 s: 400 Newton iterations");
  expect_in(world.report.blocked_by, "alpha");
  noli_sim_destroy(&world.sim);
  test_context_done(&world.context);
  world.context = plain;
  world_done(&world);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(hard_steps_are_divided_and_grow_back),
      cmocka_unit_test(a_copied_state_goes_on_alike),
      cmocka_unit_test(contacts_beyond_their_limit_hold_again),
      cmocka_unit_test(recovery_can_be_switched_off),
      cmocka_unit_test(projected_newton_takes_over),
      cmocka_unit_test(stalls_name_pair_and_filter),
      cmocka_unit_test(long_steps_say_how_they_go),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
