// Derivatives of runs: both modes against each other and against central differences of runs.
#include "gradient_runs.h"

// How a run starts: a box above the floor, and more.
typedef struct Start {
  double h;
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
} Start;

static const Start falling = {0.01, 0, 1, .speed = {1, 0, 0}};
static const Start held_beam = {0.01, 0, 1, .held = true};
static const Start pushed_beam = {0.01, 0, 1, .held = true, .forced = true};
static const Start landing = {0.005, 0, 3e-3, .speed = {0, -1, 0}};
static const Start thrown = {0.005, 0.3, 1.5e-3, .speed = {0.5, -0.2, 0}};
static const Start sliding = {0.005, 0.3, 1.5e-3, .speed = {1, -0.1, 0}};
static const Start sliding_stribeck = {0.005, 0.3, 1.5e-3, .speed = {1, -0.1, 0}, .sticks = true};
static const Start sticking = {0.005, 0.8, 1.5e-3, .speed = {0.05, -0.1, 0}};
static const Start stack = {0.005, 0.3, 1.5e-3, .speed = {0.5, -0.2, 0}, .second = true};
static const Start flat_stack = {0.005,          0.3,          1.5e-3, .speed = {0.5, -0.2, 0},
                                 .second = true, .plane = true};
static const Start edges = {0.005,          0, 1.5e-3, .speed = {0, -0.05, 0}, .second = true,
                            .aside = 0.1703};
static const Start rubbing_edges = {
    0.005, 0.4, 1.5e-3, .speed = {0, -0.05, 0.1}, .second = true, .aside = 0.1703};
static const Start implicit_sliding = {0.005, 0.3, 1.5e-3, .speed = {1, -0.1, 0}, .implicit = true};
static const Start implicit_stack = {
    0.005,           0.3, 1.5e-3, .speed = {0.5, -0.2, 0}, .second = true, .implicit = true,
    .no_basis = true};
static const Start implicit_held_stack = {
    0.005, 0.3, 1.5e-3, .speed = {0.5, -0.2, 0}, .second = true, .implicit = true, .held = true};

typedef struct Case {
  const char* name;
  const Start* start;
  const char* integrator;
  int64_t n_steps;
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

static World world_of(const Start* start, const char* integrator) {
  static NoliForceDef force;
  World world = world_new(1);
  world.def.integrator = integrator;
  world.def.time_step = start->h;
  world.def.contact_distance = (NoliScaled){2e-3, false};
  world.def.barrier_stiffness = 2e6;
  world.def.friction = start->friction;
  world.def.static_friction = start->sticks ? 2.0 * start->friction : 0.0;
  world.def.stribeck_speed = (NoliScaled){start->sticks ? 2.0 : 0.0, false};
  world.def.audit = "off";
  world_use_friction(&world, start->implicit ? "implicit" : "lagged");
  world.def.friction_basis_derivatives = !start->no_basis;
  world_add_plane(&world, (double[]){0, 0, 0}, (double[]){0, 1, 0});
  int32_t n = start->second ? 2 : 1;
  for (int32_t b = 0; b < n; b++) {
    double at[3] = {(0.03 + start->aside) * b, 0.05 + start->height + 0.1025 * b,
                    0.01 * b * !start->plane};
    int32_t body = world_add(&world, make_shape(&world, start->plane), at);
    world.body[body].material.young = b == 0 ? 2e4 : 5e4;
    world.body[body].material.poisson = 0.3;
    world.body[body].material.density = 900;
    world.body[body].plane_strain = start->plane ? 0.1 : 0.0;
    memcpy(world.body[body].velocity, start->speed, sizeof start->speed);
    world.body[body].velocity[1] *= b == 0 ? 1.0 : 2.0;
    world.body[body].angular_velocity[2] = start->held ? 0.0 : 0.3;
    world.body[body].angular_velocity[1] = start->aside > 0.0 ? 0.5 * b : 0.0;
  }
  if (start->held) {
    hold_left(&world, 0, start->plane ? 2 : 4);
  }
  if (start->forced) {
    force = noli_default_force_def();
    force.kind = "nodal";
    force.value = push;
    world.def.forces = &force;
    world.def.n_forces = 1;
  }
  return world;
}

static void compare_all(const Case* cases, size_t n) {
  for (size_t i = 0; i < n; i++) {
    World world = world_of(cases[i].start, cases[i].integrator);
    const GradientRun run = {.name = cases[i].name,
                             .n_steps = cases[i].n_steps,
                             .parameter = cases[i].parameter,
                             .step = cases[i].step,
                             .error = cases[i].error};
    compare_run(&world, &run);
  }
}

#define COMPARE_ALL(cases_) compare_all(cases_, sizeof(cases_) / sizeof *(cases_))
#define KIND(kind_)                                                                                \
  { .kind = (kind_) }
#define BETWEEN(kind_, of_, with_)                                                                 \
  { .kind = (kind_), .of = (of_), .with = (with_) }

static void beams_and_flights(void** state) {
  (void)state;
  static const Case cases[] = {
      {"free fall, gravity", &falling, "backward_euler", 6, KIND("gravity"), 1e-3, 1e-7},
      {"free fall, velocity", &falling, "backward_euler", 6, OF("initial_velocity", "body0"), 1e-3,
       1e-7},
      {"held beam, young", &held_beam, "backward_euler", 10, OF("young", "body0"), 5, 1e-6},
      {"held beam, poisson", &held_beam, "backward_euler", 10, OF("poisson", "body0"), 1e-4, 1e-6},
      {"held beam, density", &held_beam, "backward_euler", 10, OF("density", "body0"), 0.1, 1e-6},
      {"held beam, shape", &held_beam, "backward_euler", 6, SHAPE("body0"), 1e-6, 1e-6},
      {"held beam, positions", &held_beam, "backward_euler", 6,
       VERTICES("initial_position", "body0"), 1e-6, 1e-6},
      {"held beam, force", &pushed_beam, "backward_euler", 6, OF("force", "force 0"), 1e-3, 1e-7},
      {"static beam, young", &held_beam, "quasi_static", 2, OF("young", "body0"), 5, 1e-6},
      {"beam bdf2, density", &held_beam, "bdf2", 8, OF("density", "body0"), 0.1, 1e-6},
      {"beam sdirk2, velocity", &held_beam, "sdirk2", 8, VERTICES("initial_velocity", "body0"),
       1e-4, 1e-6},
      {"beam trapezoidal, young", &held_beam, "trapezoidal", 6, OF("young", "body0"), 5, 1e-6},
      {"beam trapezoidal, density", &held_beam, "trapezoidal", 6, OF("density", "body0"), 0.1,
       1e-6},
      {"beam tr_bdf2, shape", &held_beam, "tr_bdf2", 6, SHAPE("body0"), 1e-6, 1e-6},
      {"elements, young", &held_beam, "backward_euler", 6, ELEMENTS("young", "body0"), 5, 1e-6},
  };
  COMPARE_ALL(cases);
}

static void landings_and_slides(void** state) {
  (void)state;
  static const Case cases[] = {
      {"landing, young", &landing, "backward_euler", 12, OF("young", "body0"), 2, 1e-5},
      {"landing, velocity", &landing, "backward_euler", 12, OF("initial_velocity", "body0"), 1e-5,
       1e-5},
      {"landing, shape", &thrown, "backward_euler", 8, SHAPE("body0"), 1e-7, 1e-6},
      {"sliding, friction", &sliding, "backward_euler", 12, KIND("friction"), 1e-5, 1e-5},
      {"sliding with Stribeck's law, friction", &sliding_stribeck, "backward_euler", 12,
       KIND("friction"), 1e-5, 1e-5},
      {"sliding, young", &sliding, "backward_euler", 12, OF("young", "body0"), 2, 1e-5},
      {"sticking, gravity", &sticking, "backward_euler", 12, KIND("gravity"), 1e-4, 1e-5},
      {"sliding tr_bdf2, friction", &sliding, "tr_bdf2", 12, KIND("friction"), 1e-5, 1e-5},
      {"sliding trapezoidal, velocity", &sliding, "trapezoidal", 6, OF("initial_velocity", "body0"),
       1e-5, 1e-5},
  };
  COMPARE_ALL(cases);
}

static void bodies_on_each_other(void** state) {
  (void)state;
  static const Case cases[] = {
      {"stack, density", &stack, "backward_euler", 10, OF("density", "body1"), 1e-2, 1e-5},
      {"stack, positions", &stack, "backward_euler", 8, OF("initial_position", "body1"), 1e-7,
       1e-5},
      {"stack, shape", &stack, "sdirk2", 8, SHAPE("body1"), 1e-7, 1e-6},
      {"stack tr_bdf2, shape", &stack, "tr_bdf2", 8, SHAPE("body0"), 3e-8, 1e-6},
      {"parallel edges, shape", &edges, "backward_euler", 9, SHAPE("body0"), 1e-7, 1e-6},
      {"rubbing parallel edges, shape", &rubbing_edges, "backward_euler", 9, SHAPE("body0"), 1e-7,
       1e-6},
      {"plane, shape", &flat_stack, "backward_euler", 8, SHAPE("body0"), 1e-7, 1e-5},
      {"plane bdf2, friction", &flat_stack, "bdf2", 10, BETWEEN("friction", "body0", "body1"), 1e-5,
       1e-5},
  };
  COMPARE_ALL(cases);
}

static void implicit_friction(void** state) {
  (void)state;
  static const Case cases[] = {
      {"implicit sliding, friction", &implicit_sliding, "backward_euler", 8, KIND("friction"), 1e-5,
       1e-5},
      {"implicit stack, shape", &implicit_stack, "bdf2", 8, SHAPE("body0"), 1e-7, 1e-5},
      {"implicit stack, velocity", &implicit_held_stack, "tr_bdf2", 6,
       OF("initial_velocity", "body1"), 1e-6, 1e-5},
      {"implicit tr_bdf2, friction", &implicit_sliding, "tr_bdf2", 6, KIND("friction"), 1e-5, 1e-5},
      {"implicit tr_bdf2, positions", &implicit_sliding, "tr_bdf2", 6,
       VERTICES("initial_position", "body0"), 1e-7, 1e-5},
  };
  COMPARE_ALL(cases);
}

// ---- refusals -----------------------------------------------------------------------------------

static void what_has_no_derivative_is_refused(void** state) {
  (void)state;
  const NoliParameterDef young = OF("young", "body0"), gravity = {.kind = "gravity"};

  // unknown words and names
  World world = world_of(&landing, "backward_euler");
  expect_refusal(&world, 12, &(NoliParameterDef){.kind = "yuong", .of = "body0"},
                 "did you mean \"young\"");
  world = world_of(&landing, "backward_euler");
  expect_refusal(&world, 12, &(NoliParameterDef)OF("young", "body7"), "there is no body \"body7\"");
  world = world_of(&landing, "backward_euler");
  expect_refusal(&world, 12, &(NoliParameterDef)VERTICES("young", "body0"), "has no scope");

  // what is no differentiable function
  world = world_of(&landing, "backward_euler");
  world.def.barrier_stiffness = 0.0;
  expect_refusal(&world, 12, &young, "set contact.stiffness, for example to");
  world = world_of(&landing, "backward_euler");
  world.def.solver = "augmented_lagrangian";
  expect_refusal(&world, 12, &young, "choose solver.method \"projected_newton\"");
  world = world_of(&landing, "backward_euler");
  world.def.integrator = "trapezoidal_decoupled";
  expect_refusal(&world, 12, &gravity, "choose \"trapezoidal\"");
  world = world_of(&landing, "backward_euler");
  world.body[0].material.law = "mooney_rivlin";
  world.body[0].material.parameter[0] = 1e4;
  expect_refusal(&world, 12, &young, "replace Young's modulus");
  world = world_of(&landing, "backward_euler");
  expect_refusal(&world, 12, &(NoliParameterDef)OF("yield", "body0"), "does not yield");
  world = world_of(&held_beam, "backward_euler");
  expect_refusal(&world, 6, &(NoliParameterDef)OF("motion", "motion 0"),
                 "motion \"motion 0\" holds its vertices, which no factor moves");
}

// Kept states: the same bits of the gradient, with steps computed again: of 20 steps none with 20
// states; of 2 segments, of 10 steps or of 12 and 8, the first one with 10 and 12 states; of 5
// segments of 4 steps all but the last one with 4 states; of 10 segments of 2 steps those 0 to 8 at
// least, some of them up to three times, with 2 states.
static void states_are_kept_as_asked(void** state) {
  (void)state;
  const NoliParameterDef velocity = OF("initial_velocity", "body0");
  enum { KEPT = 8 };
  static const int32_t checkpoints[KEPT] = {0, 1, 2, 4, 10, 12, 20, 100};
  static const int64_t recomputed[KEPT] = {0, 190, 40, 16, 10, 12, 0, 0};
  double gradient[KEPT][3];
  for (int k = 0; k < KEPT; k++) {
    World world = world_of(&sliding, "bdf2");
    world_start(&world);
    NoliParameters* parameters = NULL;
    ASSERT_OK(noli_parameters_create(world.sim, &velocity, 1, &parameters));
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
  const struct CMUnitTest tests[] = {cmocka_unit_test(beams_and_flights),
                                     cmocka_unit_test(landings_and_slides),
                                     cmocka_unit_test(bodies_on_each_other),
                                     cmocka_unit_test(implicit_friction),
                                     cmocka_unit_test(what_has_no_derivative_is_refused),
                                     cmocka_unit_test(states_are_kept_as_asked)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
