// A block on a slope, with default tolerances: its speed follows from the impulses of gravity and
// of friction, for any stiffness and time step.
#include "world.h"

#define G_ALONG 3.354072 // m/s^2: g = 9.80665 on a slope of 20 degrees
#define G_ACROSS 9.215239
#define TANGENT (G_ALONG / G_ACROSS)

enum { MESSAGE_SIZE = 512 };

typedef struct Warnings {
  int count;
  char first[MESSAGE_SIZE];
  char last[MESSAGE_SIZE];
} Warnings;

static void keep_warning(void* user, NoliLogLevel level, const char* message) {
  Warnings* warnings = user;
  if (level == NOLI_LOG_WARNING) {
    char* kept = warnings->count++ == 0 ? warnings->first : warnings->last;
    snprintf(kept, MESSAGE_SIZE, "%s", message);
  }
}

// It starts above the floor, 1/30 of its height, with the tilted gravity that pulls it down.
static World block_on_slope(double young, double h, double mu, double gap, Warnings* warnings) {
  World world = world_new(1);
  NoliMesh* mesh = NULL;
  NoliContextDef def = noli_default_context_def();
  def.log = warnings != NULL ? keep_warning : NULL;
  def.log_user = warnings;
  def.n_threads = 1;
  test_context_done(&world.context);
  ASSERT_OK(noli_context_create(&def, &world.context));
  ASSERT_OK(noli_mesh_make_box(world.context, (double[]){0.1, 0.05, 0.1}, (int32_t[]){4, 2, 4},
                               false, &mesh));
  world_add(&world, mesh, (double[]){0.0, 0.025 + gap, 0.0});
  world_add_plane(&world, (double[]){0, 0, 0}, (double[]){0, 1, 0});
  world.body[0].material.young = young;
  world.body[0].material.poisson = 0.3;
  world.def.time_step = h;
  world.def.gravity[0] = G_ALONG;
  world.def.gravity[1] = -G_ACROSS;
  world.def.friction = mu;
  return world;
}

// Steps to the time and returns the mean speed along the slope.
static double speed_at(World* world, double time) {
  double mass = 0.1 * 0.05 * 0.1 * world->body[0].material.density;
  while (noli_sim_time(world->sim) < time * (1.0 - 1e-9)) {
    world_step(world);
  }
  return world->report.momentum[0] / mass;
}

static void check_speed(double young, double h, double ratio, const char* method) {
  double time = 0.4, mu = ratio * TANGENT;
  double want = fmax(0.0, G_ALONG - mu * G_ACROSS) * time;
  World world = block_on_slope(young, h, mu, 2e-4, NULL);
  world.def.solver = "projected_newton";
  world_use_friction(&world, method);
  world_start(&world);
  double speed = speed_at(&world, time);
  // eps_v, the speed of creep, and 2 %
  double bound = 1.5e-4 + 0.02 * want;
  if (!(fabs(speed - want) <= bound)) {
    print_error("E %g, h %g, mu %.3g of the tangent, %s: %g m/s, not %g +- %g\n", young, h, ratio,
                method, speed, want, bound);
    fail();
  }
  world_done(&world);
}

// A short Newton step does not imply that the end of the time step was found: while contacts stick,
// their friction is so stiff that Newton steps are tiny.
static void what_should_slide_slides(void** state) {
  (void)state;
  static const double youngs[] = {1e7, 1e9}, steps[] = {2e-3, 5e-3, 0.04};
  for (int e = 0; e < 2; e++) {
    for (int k = 0; k < 3; k++) {
      check_speed(youngs[e], steps[k], 0.95, "lagged");
      check_speed(youngs[e], steps[k], 0.95, "implicit");
    }
  }
}

static void what_should_stick_sticks(void** state) {
  (void)state;
  static const double youngs[] = {1e7, 1e9}, steps[] = {2e-3, 0.04};
  for (int e = 0; e < 2; e++) {
    for (int k = 0; k < 2; k++) {
      check_speed(youngs[e], steps[k], 1.05, "lagged");
      check_speed(youngs[e], steps[k], 1.05, "implicit");
    }
  }
}

// With one friction iteration, the step in which contact begins has no friction: its impulse, mu g
// h, is never recovered. "automatic" recovers at least 95 % of it, and there is no warning.
static void friction_acts_from_the_first_contact_on(void** state) {
  (void)state;
  const double h = 0.01, mu = 0.95 * TANGENT, time = 0.2, want = (G_ALONG - mu * G_ACROSS) * time;
  for (int32_t iterations = NOLI_FRICTION_AUTOMATIC; iterations <= 1; iterations++) {
    Warnings warnings = {0};
    World world = block_on_slope(1e8, h, mu, 2e-4, &warnings);
    world.def.friction_iterations = iterations;
    world_start(&world);
    world_step(&world);
    double error = world.report.friction_error, speed = speed_at(&world, time);
    if (iterations == 1) {
      ASSERT_NEAR(error, 1.0, 1e-12);
      ASSERT_NEAR(speed - want, mu * G_ACROSS * h, 0.1 * mu * G_ACROSS * h);
      assert_int_equal(warnings.count, 1);
      assert_non_null(
          strstr(warnings.first, "step 1: 100 % of the friction of \"body0\" is missing"));
      assert_non_null(strstr(
          warnings.first, "; friction.iterations \"automatic\" or a smaller time.step may help"));
    } else {
      ASSERT_NEAR(error, 0.0, 0.05);
      ASSERT_NEAR(speed - want, 0.0, 0.05 * mu * G_ACROSS * h);
      assert_int_equal(warnings.count, 0);
    }
    world_done(&world);
  }
}

// A block that is thrown up: when it leaves the floor, friction from the former normal force acts
// without any normal force. The report names this.
static void friction_without_normal_force_is_reported(void** state) {
  (void)state;
  World world = block_on_slope(1e7, 0.005, 0.3, 1e-4, NULL);
  world.def.friction_iterations = 1;
  world_start(&world);
  world_step(&world);
  world_step(&world);
  const double up[3] = {0.0, 2.0, 0.0};
  for (int32_t i = 0; i < world.sim->model->problem.n_vert; i++) {
    memcpy(world.sim->state.v + 3 * (int64_t)i, up, sizeof up);
  }
  world_step(&world);
  assert_true(isinf(world.report.friction_ratio));
  ASSERT_NEAR(world.report.friction_error, 1.0, 1e-12);
  world_step(&world);
  ASSERT_NEAR(world.report.friction_ratio, 0.0, 0.0);
  world_done(&world);
}

// More friction iterations than convergence requires change nothing.
static void convergence_is_what_many_friction_iterations_give(void** state) {
  (void)state;
  static const int32_t iterations[] = {NOLI_FRICTION_UNTIL_CONVERGENCE, 30};
  double speed[2];
  for (int k = 0; k < 2; k++) {
    World world = block_on_slope(1e7, 0.02, 0.98 * TANGENT, 1e-4, NULL);
    world.def.friction_iterations = iterations[k];
    world_start(&world);
    speed[k] = speed_at(&world, 0.2);
    world_done(&world);
  }
  // of the impulse of friction
  ASSERT_NEAR(speed[0], speed[1], 1e-4 * TANGENT * G_ACROSS * 0.2);
}

// A hard body that turns in the air and on the floor, 5 to 30 degrees a step: a straight path
// cannot follow that, so that stresses of every iteration are far larger than friction. The Newton
// steps stay far below the tolerance for a thousand iterations before they exceed it; friction
// converges much earlier.
static void stresses_do_not_hide_friction(void** state) {
  (void)state;
  World world = world_new(1);
  NoliMesh* mesh = NULL;
  ASSERT_OK(noli_mesh_make_box(world.context, (double[]){0.02, 0.02, 0.02}, (int32_t[]){2, 2, 2},
                               false, &mesh));
  noli_mesh_transform(mesh, (double[]){1, 1, 1}, (double[]){20, 30, 10}, (double[]){0, 0, 0});
  world_add(&world, mesh, (double[]){0.0, 0.03, 0.0});
  world_add_plane(&world, (double[]){0, 0, 0}, (double[]){0, 1, 0});
  world.body[0].material.young = 5e10;
  world.body[0].material.density = 300.0;
  memcpy(world.body[0].velocity, (double[]){0.3, 0.0, 0.0}, sizeof world.body[0].velocity);
  memcpy(world.body[0].angular_velocity, (double[]){3.0, 5.0, 2.0},
         sizeof world.body[0].angular_velocity);
  world.def.time_step = 0.1;
  world.def.friction = 0.5;
  // impacts at some gaps take 800 iterations, with distances of 0.9e-3 to 1.05e-3 d one in six does
  world.def.contact_distance = (NoliScaled){1e-3, NOLI_OF_BOX};
  world_start(&world);
  for (int n = 0; n < 6; n++) {
    world_step(&world);
    assert_int_equal(world.report.substeps, 1);
    assert_in_range(world.report.newton_iterations, 1, 100);
    // in the step in which it comes down, friction stops the body
    ASSERT_NEAR(world.report.friction_error, 0.0, 0.05);
  }
  world_done(&world);
}

// The report names the kind of error of the body with the largest one: here friction is missing
// when a body lands, while another one that is thrown up has friction without a normal force.
static void a_warning_is_about_one_body(void** state) {
  (void)state;
  Warnings warnings = {0};
  World world = block_on_slope(1e8, 0.01, 0.3, 2e-4, &warnings);
  NoliMesh* mesh = NULL;
  ASSERT_OK(noli_mesh_make_box(world.context, (double[]){0.1, 0.05, 0.1}, (int32_t[]){4, 2, 4},
                               false, &mesh));
  world.def.contact_distance = (NoliScaled){1.5e-4, false};
  int32_t up = world_add(&world, mesh, (double[]){0.0, 0.0251, 0.2});
  world.body[up].velocity[0] = 0.1;
  world.body[up].velocity[1] = 2.0;
  world.def.friction_iterations = 1;
  world_start(&world);
  world_step(&world);
  ASSERT_NEAR(world.report.friction_error, 1.0, 1e-12);
  assert_true(world.report.friction_ratio > 1.0);
  // the first one reports that a body starts in contact
  assert_int_equal(warnings.count, 2);
  assert_non_null(strstr(warnings.last, "friction of \"body0\" is missing"));
  world_done(&world);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_should_slide_slides),
      cmocka_unit_test(what_should_stick_sticks),
      cmocka_unit_test(friction_acts_from_the_first_contact_on),
      cmocka_unit_test(friction_without_normal_force_is_reported),
      cmocka_unit_test(stresses_do_not_hide_friction),
      cmocka_unit_test(a_warning_is_about_one_body),
      cmocka_unit_test(convergence_is_what_many_friction_iterations_give),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
