// Derivatives of runs: both modes against each other and against central differences of runs.
#include "gradient_runs.h"

typedef struct Case {
  const char* name;
  const char* integrator;
  double h;
  int64_t n_steps;
  double friction;
  double height; // of the box above the floor
  double speed[3];
  bool second;  // a second body, above the first one, which it hits
  double aside; // m, of the second one
  bool plane;   // plane strain
  bool held;    // the left side
  bool forced;
  bool implicit;
  bool no_basis; // derivatives in the Jacobian of implicit friction
  bool sticks;   // the static coefficient is higher
  NoliParameterDef parameter;
  double step;  // of the differences
  double error; // allowed, relative
} Case;

static NoliMesh* make_shape(World* world, bool plane) {
  NoliMesh* mesh = NULL;
  if (plane) {
    ASSERT_OK(noli_mesh_make_rectangle(world->context, 0.2, 0.1, 3, 2, &mesh));

  } else {
    ASSERT_OK(noli_mesh_make_box(world->context, (double[]){0.2, 0.1, 0.12}, (int32_t[]){2, 1, 1},
                                 false, &mesh));
  }
  return mesh;
}

static void push(void* user, double t, const double X[3], double value[3]) {
  (void)user;
  value[0] = 0.1 + t;
  value[1] = 0.2 * X[0];
  value[2] = 0.0;
}

static World world_of(const Case* c) {
  static NoliForceDef force;
  World world = world_new(1);
  world.def.integrator = c->integrator;
  world.def.time_step = c->h;
  world.def.contact_distance = (NoliScaled){2e-3, false};
  world.def.barrier_stiffness = 2e6;
  world.def.friction = c->friction;
  world.def.static_friction = c->sticks ? 2.0 * c->friction : 0.0;
  world.def.stribeck_speed = (NoliScaled){c->sticks ? 2.0 : 0.0, false};
  world.def.audit = "off";
  world_use_friction(&world, c->implicit ? "implicit" : "lagged");
  world.def.friction_basis_derivatives = !c->no_basis;
  world_add_plane(&world, (double[]){0, 0, 0}, (double[]){0, 1, 0});
  int32_t n = c->second ? 2 : 1;
  for (int32_t b = 0; b < n; b++) {
    double at[3] = {(0.03 + c->aside) * b, 0.05 + c->height + 0.1025 * b, 0.01 * b * !c->plane};
    int32_t body = world_add(&world, make_shape(&world, c->plane), at);
    world.body[body].material.young = b == 0 ? 2e4 : 5e4;
    world.body[body].material.poisson = 0.3;
    world.body[body].material.density = 900;
    world.body[body].plane_strain = c->plane ? 0.1 : 0.0;
    memcpy(world.body[body].velocity, c->speed, sizeof c->speed);
    world.body[body].velocity[1] *= b == 0 ? 1.0 : 2.0;
    world.body[body].angular_velocity[2] = c->held ? 0.0 : 0.3;
    world.body[body].angular_velocity[1] = c->aside > 0.0 ? 0.5 * b : 0.0;
  }
  if (c->held) {
    hold_left(&world, 0, c->plane ? 2 : 4);
  }
  if (c->forced) {
    force = noli_default_force_def();
    force.kind = "nodal";
    force.value = push;
    world.def.forces = &force;
    world.def.n_forces = 1;
  }
  return world;
}

static void compare(const Case* c) {
  World world = world_of(c);
  const GradientRun run = {.name = c->name,
                           .n_steps = c->n_steps,
                           .parameter = c->parameter,
                           .step = c->step,
                           .error = c->error};
  compare_run(&world, &run);
}

static void gradients_are_those_of_runs(void** state) {
  (void)state;
  static const Case cases[] = {
      {"free fall, gravity",
       "backward_euler",
       0.01,
       6,
       0,
       1,
       {1, 0, 0},
       .parameter = {.kind = "gravity"},
       .step = 1e-3,
       .error = 1e-7},
      {"free fall, velocity",
       "backward_euler",
       0.01,
       6,
       0,
       1,
       {1, 0, 0},
       .parameter = OF("initial_velocity", "body0"),
       .step = 1e-3,
       .error = 1e-7},
      {"held beam, young", "backward_euler", 0.01, 10, 0, 1, .held = true,
       .parameter = OF("young", "body0"), .step = 5, .error = 1e-6},
      {"held beam, poisson", "backward_euler", 0.01, 10, 0, 1, .held = true,
       .parameter = OF("poisson", "body0"), .step = 1e-4, .error = 1e-6},
      {"held beam, density", "backward_euler", 0.01, 10, 0, 1, .held = true,
       .parameter = OF("density", "body0"), .step = 0.1, .error = 1e-6},
      {"held beam, shape", "backward_euler", 0.01, 6, 0, 1, .held = true,
       .parameter = VERTICES("rest_position", "body0"), .step = 1e-6, .error = 1e-6},
      {"held beam, positions", "backward_euler", 0.01, 6, 0, 1, .held = true,
       .parameter = VERTICES("initial_position", "body0"), .step = 1e-6, .error = 1e-6},
      {"held beam, force", "backward_euler", 0.01, 6, 0, 1, .held = true, .forced = true,
       .parameter = OF("force", "force 0"), .step = 1e-3, .error = 1e-7},
      {"static beam, young", "quasi_static", 0.01, 2, 0, 1, .held = true,
       .parameter = OF("young", "body0"), .step = 5, .error = 1e-6},
      {"beam bdf2, density", "bdf2", 0.01, 8, 0, 1, .held = true,
       .parameter = OF("density", "body0"), .step = 0.1, .error = 1e-6},
      {"beam sdirk2, velocity", "sdirk2", 0.01, 8, 0, 1, .held = true,
       .parameter = VERTICES("initial_velocity", "body0"), .step = 1e-4, .error = 1e-6},
      {"landing, young",
       "backward_euler",
       0.005,
       12,
       0,
       3e-3,
       {0, -1, 0},
       .parameter = OF("young", "body0"),
       .step = 2,
       .error = 1e-5},
      {"landing, velocity",
       "backward_euler",
       0.005,
       12,
       0,
       3e-3,
       {0, -1, 0},
       .parameter = OF("initial_velocity", "body0"),
       .step = 1e-5,
       .error = 1e-5},
      {"sliding, friction",
       "backward_euler",
       0.005,
       12,
       0.3,
       1.5e-3,
       {1, -0.1, 0},
       .parameter = {.kind = "friction"},
       .step = 1e-5,
       .error = 1e-5},
      {"sliding with Stribeck's law, friction",
       "backward_euler",
       0.005,
       12,
       0.3,
       1.5e-3,
       {1, -0.1, 0},
       .sticks = true,
       .parameter = {.kind = "friction"},
       .step = 1e-5,
       .error = 1e-5},
      {"sliding, young",
       "backward_euler",
       0.005,
       12,
       0.3,
       1.5e-3,
       {1, -0.1, 0},
       .parameter = OF("young", "body0"),
       .step = 2,
       .error = 1e-5},
      {"sticking, gravity",
       "backward_euler",
       0.005,
       12,
       0.8,
       1.5e-3,
       {0.05, -0.1, 0},
       .parameter = {.kind = "gravity"},
       .step = 1e-4,
       .error = 1e-5},
      {"stack, density",
       "backward_euler",
       0.005,
       10,
       0.3,
       1.5e-3,
       {0.5, -0.2, 0},
       .second = true,
       .parameter = OF("density", "body1"),
       .step = 1e-2,
       .error = 1e-5},
      {"stack, positions",
       "backward_euler",
       0.005,
       8,
       0.3,
       1.5e-3,
       {0.5, -0.2, 0},
       .second = true,
       .parameter = OF("initial_position", "body1"),
       .step = 1e-7,
       .error = 1e-5},
      {"landing, shape",
       "backward_euler",
       0.005,
       8,
       0.3,
       1.5e-3,
       {0.5, -0.2, 0},
       .parameter = VERTICES("rest_position", "body0"),
       .step = 1e-7,
       .error = 1e-6},
      {"stack, shape",
       "sdirk2",
       0.005,
       8,
       0.3,
       1.5e-3,
       {0.5, -0.2, 0},
       .second = true,
       .parameter = VERTICES("rest_position", "body1"),
       .step = 1e-7,
       .error = 1e-6},
      {"parallel edges, shape",
       "backward_euler",
       0.005,
       9,
       0,
       1.5e-3,
       {0, -0.05, 0},
       .second = true,
       .aside = 0.1703,
       .parameter = VERTICES("rest_position", "body0"),
       .step = 1e-7,
       .error = 1e-6},
      {"rubbing parallel edges, shape",
       "backward_euler",
       0.005,
       9,
       0.4,
       1.5e-3,
       {0, -0.05, 0.1},
       .second = true,
       .aside = 0.1703,
       .parameter = VERTICES("rest_position", "body0"),
       .step = 1e-7,
       .error = 1e-6},
      {"plane, shape",
       "backward_euler",
       0.005,
       8,
       0.3,
       1.5e-3,
       {0.5, -0.2, 0},
       .second = true,
       .plane = true,
       .parameter = VERTICES("rest_position", "body0"),
       .step = 1e-7,
       .error = 1e-5},
      {"plane bdf2, friction",
       "bdf2",
       0.005,
       10,
       0.3,
       1.5e-3,
       {0.5, -0.2, 0},
       .second = true,
       .plane = true,
       .parameter = {.kind = "friction", .of = "body0", .with = "body1"},
       .step = 1e-5,
       .error = 1e-5},
      {"beam trapezoidal, young", "trapezoidal", 0.01, 6, 0, 1, .held = true,
       .parameter = OF("young", "body0"), .step = 5, .error = 1e-6},
      {"beam trapezoidal, density", "trapezoidal", 0.01, 6, 0, 1, .held = true,
       .parameter = OF("density", "body0"), .step = 0.1, .error = 1e-6},
      {"beam tr_bdf2, shape", "tr_bdf2", 0.01, 6, 0, 1, .held = true,
       .parameter = VERTICES("rest_position", "body0"), .step = 1e-6, .error = 1e-6},
      {"stack tr_bdf2, shape",
       "tr_bdf2",
       0.005,
       8,
       0.3,
       1.5e-3,
       {0.5, -0.2, 0},
       .second = true,
       .parameter = VERTICES("rest_position", "body0"),
       .step = 3e-8,
       .error = 1e-6},
      {"sliding tr_bdf2, friction",
       "tr_bdf2",
       0.005,
       12,
       0.3,
       1.5e-3,
       {1, -0.1, 0},
       .parameter = {.kind = "friction"},
       .step = 1e-5,
       .error = 1e-5},
      {"sliding trapezoidal, velocity",
       "trapezoidal",
       0.005,
       6,
       0.3,
       1.5e-3,
       {1, -0.1, 0},
       .parameter = OF("initial_velocity", "body0"),
       .step = 1e-5,
       .error = 1e-5},
      {"implicit sliding, friction",
       "backward_euler",
       0.005,
       8,
       0.3,
       1.5e-3,
       {1, -0.1, 0},
       .implicit = true,
       .parameter = {.kind = "friction"},
       .step = 1e-5,
       .error = 1e-5},
      {"implicit stack, shape",
       "bdf2",
       0.005,
       8,
       0.3,
       1.5e-3,
       {0.5, -0.2, 0},
       .second = true,
       .implicit = true,
       .no_basis = true,
       .parameter = VERTICES("rest_position", "body0"),
       .step = 1e-7,
       .error = 1e-5},
      {"implicit stack, velocity",
       "tr_bdf2",
       0.005,
       6,
       0.3,
       1.5e-3,
       {0.5, -0.2, 0},
       .second = true,
       .held = true,
       .implicit = true,
       .parameter = OF("initial_velocity", "body1"),
       .step = 1e-6,
       .error = 1e-5},
      {"implicit tr_bdf2, friction",
       "tr_bdf2",
       0.005,
       6,
       0.3,
       1.5e-3,
       {1, -0.1, 0},
       .implicit = true,
       .parameter = {.kind = "friction"},
       .step = 1e-5,
       .error = 1e-5},
      {"implicit tr_bdf2, positions",
       "tr_bdf2",
       0.005,
       6,
       0.3,
       1.5e-3,
       {1, -0.1, 0},
       .implicit = true,
       .parameter = VERTICES("initial_position", "body0"),
       .step = 1e-7,
       .error = 1e-5},
      {"elements, young", "backward_euler", 0.01, 6, 0, 1, .held = true,
       .parameter = {.kind = "young", .of = "body0", .scope = "elements"}, .step = 5,
       .error = 1e-6},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    compare(&cases[i]);
  }
}

// ---- refusals -----------------------------------------------------------------------------------

static void what_has_no_derivative_is_refused(void** state) {
  (void)state;
  const Case landing = {"landing", "backward_euler", 0.005,          12, 0,
                        3e-3,      {0, -1, 0},       .second = false};
  const NoliParameterDef young = OF("young", "body0"), gravity = {.kind = "gravity"};

  // unknown words and names
  World world = world_of(&landing);
  expect_refusal(&world, 12, &(NoliParameterDef){.kind = "yuong", .of = "body0"},
                 "did you mean \"young\"");
  world = world_of(&landing);
  expect_refusal(&world, 12, &(NoliParameterDef)OF("young", "body7"), "there is no body \"body7\"");
  world = world_of(&landing);
  expect_refusal(&world, 12, &(NoliParameterDef)VERTICES("young", "body0"), "has no scope");

  // what is no differentiable function
  world = world_of(&landing);
  world.def.barrier_stiffness = 0.0;
  expect_refusal(&world, 12, &young, "set contact.stiffness, for example to");
  world = world_of(&landing);
  world.def.solver = "augmented_lagrangian";
  expect_refusal(&world, 12, &young, "choose solver.method \"projected_newton\"");
  world = world_of(&landing);
  world.def.integrator = "trapezoidal_decoupled";
  expect_refusal(&world, 12, &gravity, "choose \"trapezoidal\"");
  world = world_of(&landing);
  world.body[0].material.law = "mooney_rivlin";
  world.body[0].material.parameter[0] = 1e4;
  expect_refusal(&world, 12, &young, "replace Young's modulus");
  world = world_of(&landing);
  expect_refusal(&world, 12, &(NoliParameterDef)OF("yield", "body0"), "does not yield");
  const Case held = {"held", "backward_euler", 0.01, 6, 0, 1, .held = true};
  world = world_of(&held);
  expect_refusal(&world, 6, &(NoliParameterDef)OF("motion", "motion 0"),
                 "motion \"motion 0\" holds its vertices, which no factor moves");
}

// Kept states: the same bits of the gradient, with steps computed again: of 20 steps none with 20
// states; of 2 segments, of 10 steps or of 12 and 8, the first one with 10 and 12 states; of 5
// segments of 4 steps all but the last one with 4 states; of 10 segments of 2 steps those 0 to 8 at
// least, some of them up to three times, with 2 states.
static void states_are_kept_as_asked(void** state) {
  (void)state;
  const Case c = {"kept", "bdf2", 0.005,        20,
                  0.3,    1.5e-3, {1, -0.1, 0}, .parameter = OF("initial_velocity", "body0")};
  enum { KEPT = 8 };
  static const int32_t checkpoints[KEPT] = {0, 1, 2, 4, 10, 12, 20, 100};
  static const int64_t recomputed[KEPT] = {0, 190, 40, 16, 10, 12, 0, 0};
  double gradient[KEPT][3];
  for (int k = 0; k < KEPT; k++) {
    World world = world_of(&c);
    world_start(&world);
    NoliParameters* parameters = NULL;
    ASSERT_OK(noli_parameters_create(world.sim, &c.parameter, 1, &parameters));
    NoliObjective objective = {spread, NULL};
    NoliGradientDef def = noli_default_gradient_def();
    NoliGradientReport report;
    double value;
    def.n_steps = 20;
    def.checkpoints = checkpoints[k];
    ASSERT_OK(noli_sim_gradient(world.sim, parameters, &objective, 1, &def, &value, gradient[k],
                                &report));
    print_message("%d states: %d steps again, %d bytes\n", (int)checkpoints[k],
                  (int)report.recomputed, (int)report.bytes);
    assert_int_equal(report.recomputed, recomputed[k]);
    assert_true(report.residual_error < 1e-8);
    assert_int_equal(noli_sim_step_count(world.sim), 20);
    assert_memory_equal(gradient[k], gradient[0], sizeof gradient[0]);
    noli_parameters_destroy(&parameters);
    world_done(&world);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(gradients_are_those_of_runs),
                                     cmocka_unit_test(what_has_no_derivative_is_refused),
                                     cmocka_unit_test(states_are_kept_as_asked)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
