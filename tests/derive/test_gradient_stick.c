// Derivatives of runs whose contacts stick: both modes against each other and against central
// differences of runs.
#include "gradient_bodies.h"

// How a run is solved; zeros: lagged friction with ipc and backward Euler.
typedef struct Way {
  const char* model;
  const char* integrator;
  double h; // s; 0: 5 ms
  bool implicit;
  int32_t iterations; // of friction; 0: 1
} Way;

typedef struct StickCase {
  const char* name;
  void (*build)(World* world);
  Way way;
  int64_t n_steps;
  NoliParameterDef parameter;
  double step; // of the differences, as in GradientRun
} StickCase;

#define LAGGED                                                                                     \
  { 0 }
#define WAY(...)                                                                                   \
  { __VA_ARGS__ }
#define ALLOWED 1e-5

// ---- worlds -------------------------------------------------------------------------------------

static void add_block(World* world, const double size[3], const int32_t cells[3],
                      const double at[3]) {
  NoliMesh* mesh = NULL;
  ASSERT_OK(noli_mesh_make_box(world->context, size, cells, false, &mesh));
  int32_t body = world_add(world, mesh, at);
  world->body[body].material.young = 1e5;
  world->body[body].material.poisson = 0.3;
}

// A soft block on a floor that the gravity of a slope pulls along.
static void put_on_slope(World* world, double along) {
  add_block(world, (double[]){0.1, 0.05, 0.08}, (int32_t[]){2, 1, 2}, (double[]){0, 0.0252, 0});
  world->def.gravity[0] = along;
  world->def.gravity[1] = -9.0;
  world->def.gravity[2] = 0.3;
  world->def.friction = 0.5;
  world_add_plane(world, (double[]){0, 0, 0}, (double[]){0, 1, 0});
}

static void held_block(World* world) {
  put_on_slope(world, 3.0);
}

static void sliding_block(World* world) {
  put_on_slope(world, 5.5);
  world->body[0].velocity[0] = 0.05;
}

// It is so soft that some of its contacts slide while others stick.
static void creased_block(World* world) {
  put_on_slope(world, 4.0);
  world->body[0].material.young = 2e4;
}

static void stribeck_block(World* world) {
  sliding_block(world);
  world->def.static_friction = 0.7;
  world->def.stribeck_speed = (NoliScaled){0.2, NOLI_ABSOLUTE};
}

static void add_board(World* world, const int32_t cells[3]) {
  NoliMesh* mesh = NULL;
  world->def.n_half_spaces = 0;
  ASSERT_OK(noli_mesh_make_box(world->context, (double[]){0.4, 0.02, 0.4}, cells, false, &mesh));
  int32_t board = world_add(world, mesh, (double[]){0.01, -0.01, 0.013});
  world->body[board].obstacle = true;
}

// Its vertices pass from triangle to triangle.
static void crossing_block(World* world) {
  sliding_block(world);
  world->body[0].velocity[0] = 0.3;
  add_board(world, (int32_t[]){13, 1, 11});
}

// A block on a soft bar.
static void stacked_block(World* world) {
  creased_block(world);
  add_block(world, (double[]){0.14, 0.03, 0.12}, (int32_t[]){3, 1, 2},
            (double[]){0.004, -0.015, 0.003});
  world->plane[0].origin[1] = -0.0302;
}

// Two plates hold a soft bar and turn with it.
static void turning_grip(World* world) {
  NoliMesh* mesh = NULL;
  add_block(world, (double[]){0.1, 0.04, 0.04}, (int32_t[]){3, 1, 1}, (double[]){0, 0, 0});
  world->def.gravity[0] = 0.4;
  world->def.gravity[1] = -2.0;
  world->def.gravity[2] = 0.2;
  world->def.friction = 0.6;
  for (int side = 0; side < 2; side++) {
    double z = side == 0 ? -0.0258 : 0.0258;
    ASSERT_OK(noli_mesh_make_box(world->context, (double[]){0.06, 0.07, 0.01}, (int32_t[]){2, 3, 1},
                                 false, &mesh));
    int32_t plate = world_add(world, mesh, (double[]){0.003, 0.002, z});
    NoliMotionDef* motion = world_add_motion(world, plate, NULL, NULL);
    motion->velocity[2] = side == 0 ? 0.02 : -0.02;
    motion->pivot[0] = 0.003;
    motion->spin[1] = 4.0;
    motion->spin[2] = 3.0;
  }
}

static void viscous_grip(World* world) {
  turning_grip(world);
  world->def.viscosity = 2.0;
}

// A rod along the floor, or across the edge of a board, which rolls and turns.
static void add_rod(World* world) {
  NoliMesh* mesh = NULL;
  enum { N = 5 };
  ASSERT_OK(noli_mesh_create(world->context, N, 0, 0, N - 1, 0, false, &mesh));
  for (int32_t i = 0; i < N; i++) {
    mesh->x[3 * i] = 0.03 * (i - 2);
    mesh->x[3 * i + 1] = 0.0008 + 0.0004 * (i % 2);
    mesh->x[3 * i + 2] = 0.004 * i;
    if (i + 1 < N) {
      mesh->edge[2 * i] = i;
      mesh->edge[2 * i + 1] = i + 1;
    }
  }
  int32_t body = world_add(world, mesh, (double[]){0, 0, 0});
  world->body[body].rod.radius = 2e-3;
  world->body[body].material.young = 1e6;
  world->body[body].material.density = 900;
  world->body[body].angular_velocity[1] = 3.0;
  world->def.gravity[0] = 3.0;
  world->def.gravity[1] = -9.0;
  world->def.friction = 0.5;
}

static void rod_on_floor(World* world) {
  add_rod(world);
  world_add_plane(world, (double[]){0, 0, 0}, (double[]){0, 1, 0});
}

static void rod_on_board(World* world) {
  add_rod(world);
  add_board(world, (int32_t[]){5, 1, 3});
}

static void quadratic_landing(World* world) {
  landing_of(world, 2);
}

// A block pressed on a floor by its top, which then moves along it.
static void press_top(void* user, double t0, double t1, int32_t n, const int32_t* node,
                      const double* X, const double* x_t0, double* x_t1) {
  double along = 4e-4 * fmax(t1 - 0.02, 0.0) / 0.04, down = 3e-4 * fmin(t1, 0.02) / 0.02;
  (void)user, (void)t0, (void)node, (void)x_t0;
  for (int32_t i = 0; i < n; i++) {
    x_t1[3 * i] = X[3 * i] + along;
    x_t1[3 * i + 1] = X[3 * i + 1] - down;
    x_t1[3 * i + 2] = X[3 * i + 2];
  }
}

static void pressed_block(World* world) {
  static int32_t top[32];
  add_block(world, (double[]){0.1, 0.05, 0.08}, (int32_t[]){2, 2, 2}, (double[]){0, 0.02505, 0});
  world->def.gravity[1] = 0.0;
  world->def.friction = 0.4;
  world_add_plane(world, (double[]){0, 0, 0}, (double[]){0, 1, 0});
  NoliMotionDef* motion = world_add_motion(world, 0, press_top, NULL);
  for (int32_t i = 0; i < world->mesh[0]->n_vert; i++) {
    if (world->mesh[0]->x[3 * i + 1] > 0.05) {
      top[motion->n_node++] = i;
    }
  }
  motion->node = top;
}

static World stick_world(void (*build)(World* world), const Way* way) {
  World world = world_new(1);
  world.def.integrator = way->integrator != NULL ? way->integrator : "backward_euler";
  world.def.contact_model = way->model != NULL ? way->model : "ipc";
  world.def.time_step = way->h > 0.0 ? way->h : 0.005;
  world.def.contact_distance = (NoliScaled){1e-3, NOLI_ABSOLUTE};
  world.def.barrier_stiffness = way->model != NULL ? 0.02 : 2e6;
  world.def.friction_law = "stick";
  world.def.stick_length = (NoliScaled){1e-5, NOLI_ABSOLUTE};
  world.def.friction_iterations = way->iterations != 0 ? way->iterations : 1;
  world.def.audit = "off";
  world_use_friction(&world, way->implicit ? "implicit" : "lagged");
  build(&world);
  return world;
}

static void compare_sticks(const StickCase* cases, size_t n) {
  for (size_t i = 0; i < n; i++) {
    const StickCase* c = &cases[i];
    World world = stick_world(c->build, &c->way);
    const GradientRun run = {.name = c->name,
                             .n_steps = c->n_steps,
                             .parameter = c->parameter,
                             .step = c->step,
                             .error = ALLOWED};
    compare_run(&world, &run);
  }
}

#define COMPARE_STICKS(cases_) compare_sticks(cases_, sizeof(cases_) / sizeof *(cases_))
#define YOUNG OF("young", "body0")
#define VELOCITY OF("initial_velocity", "body0")
#define POSITION OF("initial_position", "body0")
#define FRICTION                                                                                   \
  { .kind = "friction" }
#define LENGTH                                                                                     \
  { .kind = "stick_length" }
#define DISTANCE                                                                                   \
  { .kind = "contact_distance" }

// ---- tests --------------------------------------------------------------------------------------

static void blocks_that_hold_or_slide(void** state) {
  (void)state;
  static const StickCase cases[] = {
      {"held, young", held_block, LAGGED, 20, YOUNG, 30},
      {"held, velocity", held_block, LAGGED, 20, VELOCITY, 1e-5},
      {"held for 200 steps, friction", held_block, LAGGED, 200, FRICTION, 1e-5},
      {"held for 200 steps, stick length", held_block, LAGGED, 200, LENGTH, 1e-7},
      {"sliding, young", sliding_block, LAGGED, 20, YOUNG, 30},
      {"sliding, friction", sliding_block, LAGGED, 20, FRICTION, 1e-5},
      {"sliding, stick length", sliding_block, LAGGED, 20, LENGTH, 1e-7},
      {"partly sliding, velocity", creased_block, LAGGED, 20, VELOCITY, 1e-5},
      {"partly sliding, friction", creased_block, LAGGED, 20, FRICTION, 1e-5},
      {"partly sliding, stick length", creased_block, LAGGED, 20, LENGTH, 1e-7},
      {"Stribeck, friction", stribeck_block, LAGGED, 20, FRICTION, 1e-5},
      {"Stribeck, stick length", stribeck_block, LAGGED, 20, LENGTH, 1e-7},
      {"of order 2, velocity", quadratic_landing, LAGGED, 15, VELOCITY, 1e-5},
      {"in plane strain, friction", flat_landing, LAGGED, 15, FRICTION, 1e-5},
  };
  COMPARE_STICKS(cases);
}

static void contacts_that_pass_and_turn(void** state) {
  (void)state;
  static const StickCase cases[] = {
      {"passing triangles, friction", crossing_block, LAGGED, 20, FRICTION, 1e-5},
      {"passing triangles, velocity", crossing_block, LAGGED, 20, VELOCITY, 1e-5},
      {"passing triangles, distance", crossing_block, LAGGED, 20, DISTANCE, 1e-8},
      {"stack, velocity", stacked_block, LAGGED, 20, VELOCITY, 1e-5},
      {"stack, shape", stacked_block, LAGGED, 20, SHAPE("body1"), 1e-7},
      {"turning grip, friction", turning_grip, LAGGED, 12, FRICTION, 1e-4},
      {"turning grip, young", turning_grip, LAGGED, 12, YOUNG, 30},
      {"turning grip, stick length", turning_grip, LAGGED, 12, LENGTH, 1e-9},
      {"turning grip, position", turning_grip, LAGGED, 12, POSITION, 1e-6},
      {"turning grip, shape", turning_grip, LAGGED, 12, SHAPE("body0"), 1e-6},
      {"turning grip, distance", turning_grip, LAGGED, 12, DISTANCE, 1e-7},
      {"viscous grip, velocity", viscous_grip, LAGGED, 12, VELOCITY, 1e-5},
      {"viscous grip, stick length", viscous_grip, LAGGED, 12, LENGTH, 1e-9},
      {"rod on a floor, velocity", rod_on_floor, LAGGED, 15, VELOCITY, 1e-5},
      {"rod on a board, velocity", rod_on_board, LAGGED, 15, VELOCITY, 1e-5},
      {"rod on a board, friction", rod_on_board, LAGGED, 15, FRICTION, 1e-5},
  };
  COMPARE_STICKS(cases);
}

static void every_method_and_model(void** state) {
  (void)state;
#define AUTOMATIC WAY(.iterations = NOLI_FRICTION_AUTOMATIC)
#define CONVERGED WAY(.iterations = NOLI_FRICTION_UNTIL_CONVERGENCE)
#define IMPLICIT WAY(.implicit = true)
#define GCP WAY(.model = "gcp")
#define GCP_IMPLICIT WAY(.model = "gcp", .implicit = true)
  static const StickCase cases[] = {
      {"automatic, friction", crossing_block, AUTOMATIC, 12, FRICTION, 1e-5},
      {"until convergence, friction", turning_grip, CONVERGED, 12, FRICTION, 1e-4},
      {"implicit grip, friction", turning_grip, IMPLICIT, 12, FRICTION, 1e-4},
      {"implicit grip, velocity", turning_grip, IMPLICIT, 12, VELOCITY, 1e-5},
      {"implicit, partly sliding, velocity", creased_block, IMPLICIT, 20, VELOCITY, 1e-5},
      {"implicit, passing triangles, length", crossing_block, IMPLICIT, 20, LENGTH, 1e-7},
      {"implicit viscous grip, friction", viscous_grip, IMPLICIT, 12, FRICTION, 1e-4},
      {"gcp, partly sliding, velocity", creased_block, GCP, 20, VELOCITY, 1e-5},
      {"gcp, passing triangles, friction", crossing_block, GCP, 20, FRICTION, 1e-5},
      {"gcp, passing triangles, length", crossing_block, GCP, 20, LENGTH, 1e-7},
      {"gcp grip, friction", turning_grip, GCP, 12, FRICTION, 1e-4},
      // its fifth step is divided in two, and then in four
      {"gcp implicit grip, velocity", turning_grip, GCP_IMPLICIT, 12, VELOCITY, 1e-5},
  };
  COMPARE_STICKS(cases);
}

static void every_integrator(void** state) {
  (void)state;
#define RULE(name_) WAY(.integrator = (name_))
#define FINE(name_) WAY(.integrator = (name_), .h = 5e-4)
  static const StickCase cases[] = {
      {"bdf2 grip, friction", turning_grip, RULE("bdf2"), 12, FRICTION, 1e-4},
      {"bdf2 viscous grip, friction", viscous_grip, RULE("bdf2"), 12, FRICTION, 1e-4},
      {"bdf2 implicit grip, friction", turning_grip, WAY(.integrator = "bdf2", .implicit = true),
       12, FRICTION, 1e-4},
      {"sdirk2 grip, friction", turning_grip, RULE("sdirk2"), 12, FRICTION, 1e-4},
      {"trapezoidal grip, velocity", turning_grip, FINE("trapezoidal"), 10, VELOCITY, 1e-5},
      {"trapezoidal, held, velocity", held_block, FINE("trapezoidal"), 12, VELOCITY, 1e-5},
      {"trapezoidal, sliding, length", sliding_block, FINE("trapezoidal"), 12, LENGTH, 1e-7},
      {"tr_bdf2, sliding, velocity", sliding_block, FINE("tr_bdf2"), 12, VELOCITY, 1e-5},
      {"quasi_static, friction", pressed_block, RULE("quasi_static"), 12, FRICTION, 1e-4},
      {"quasi_static, stick length", pressed_block, RULE("quasi_static"), 12, LENGTH, 1e-7},
      {"quasi_static, young", pressed_block, RULE("quasi_static"), 12, YOUNG, 30},
  };
  COMPARE_STICKS(cases);
}

// The runs above are what they say.
static void runs_stick_and_slide(void** state) {
  (void)state;
  static const struct {
    void (*build)(World* world);
    bool sticks, slides;
  } cases[] = {{held_block, true, false},
               {sliding_block, false, true},
               {creased_block, true, true},
               {turning_grip, true, false}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    World world = stick_world(cases[i].build, &(Way)LAGGED);
    bool sticks = false, slides = false, both = false;
    world_start(&world);
    for (int k = 0; k < 20; k++) {
      world_step(&world);
      bool held = world.report.contacts_held > 0, slid = world.report.contacts_sliding > 0;
      sticks = sticks || held;
      slides = slides || slid;
      both = both || (held && slid);
    }
    assert_true(!cases[i].sticks || sticks);
    assert_true(!cases[i].slides || slides);
    assert_true(!(cases[i].sticks && cases[i].slides) || both);
    world_done(&world);
  }
}

// A gradient has the same bits when steps are computed again from states, which have slips.
static void repeated_steps_have_the_same_slips(void** state) {
  (void)state;
  const NoliParameterDef def[2] = {FRICTION, VELOCITY};
  World world = stick_world(crossing_block, &(Way)LAGGED);
  NoliObjective objective = {spread, NULL};
  NoliGradientReport report[2];
  double gradient[2][4], value;
  world_start(&world);
  for (int k = 0; k < 2; k++) {
    NoliSim* sim = NULL;
    NoliParameters* parameters = NULL;
    NoliGradientDef run = noli_default_gradient_def();
    run.n_steps = 20;
    run.checkpoints = k == 0 ? 0 : 2;
    ASSERT_OK(noli_sim_clone(world.sim, world.context, &sim));
    ASSERT_OK(noli_parameters_create(sim, def, 2, &parameters));
    assert_int_equal(noli_parameters_count(parameters), 4);
    ASSERT_OK(
        noli_sim_gradient(sim, parameters, &objective, 1, &run, &value, gradient[k], &report[k]));
    noli_parameters_destroy(&parameters);
    noli_sim_destroy(&sim);
  }
  assert_true(report[0].recomputed == 0 && report[1].recomputed > 0);
  assert_true(gradient[0][0] != 0.0);
  assert_memory_equal(gradient[0], gradient[1], sizeof gradient[0]);
  world_done(&world);
}

static void refusals(void** state) {
  (void)state;
  const NoliParameterDef friction = FRICTION, length = LENGTH;
  World world = stick_world(held_block, &(Way)WAY(.model = "implicit_surface"));
  world.def.surface_radius = (NoliScaled){0.1, NOLI_ABSOLUTE};
  expect_refusal(&world, 2, &friction, "choose \"ipc\" or \"gcp\"");
  world = stick_world(held_block, &(Way)LAGGED);
  world.def.friction_law = "velocity";
  world.def.stick_length = (NoliScaled){0.0, NOLI_ABSOLUTE};
  expect_refusal(&world, 2, &length, "friction.law \"stick\"");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(blocks_that_hold_or_slide),
      cmocka_unit_test(contacts_that_pass_and_turn),
      cmocka_unit_test(every_method_and_model),
      cmocka_unit_test(every_integrator),
      cmocka_unit_test(runs_stick_and_slide),
      cmocka_unit_test(repeated_steps_have_the_same_slips),
      cmocka_unit_test(refusals),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
