// Derivatives of runs whose contacts stick: both modes against each other and against central
// differences of runs.
#include "gradient_runs.h"

#define STICK_LENGTH 1e-5

typedef struct StickCase {
  const char* name;
  void (*build)(World* world);
  const char* model;      // NULL: ipc
  const char* integrator; // NULL: backward_euler
  bool implicit;
  int32_t iterations; // of friction; 0: 1
  int64_t n_steps;
  NoliParameterDef parameter;
  double step;
  double error;
} StickCase;

#define YOUNG                                                                                      \
  { .kind = "young", .of = "body0" }
#define VELOCITY                                                                                   \
  { .kind = "initial_velocity", .of = "body0" }
#define FRICTION                                                                                   \
  { .kind = "friction" }
#define LENGTH                                                                                     \
  { .kind = "stick_length" }

// ---- worlds -------------------------------------------------------------------------------------

static int32_t add_block(World* world, const double size[3], const int32_t cells[3],
                         const double at[3]) {
  NoliMesh* mesh = NULL;
  ASSERT_OK(noli_mesh_make_box(world->context, size, cells, false, &mesh));
  int32_t body = world_add(world, mesh, at);
  world->body[body].material.young = 1e5;
  world->body[body].material.poisson = 0.3;
  return body;
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

static void hold(World* world) {
  put_on_slope(world, 3.0);
}

static void slide(World* world) {
  put_on_slope(world, 5.5);
  world->body[0].velocity[0] = 0.05;
}

// A tall block that leans forward: contacts at its back slide, and those below its front stick.
static void slide_in_part(World* world) {
  put_on_slope(world, 4.0);
  world->body[0].material.young = 2e4;
}

// Over a board whose triangles its vertices cross.
static void cross(World* world) {
  NoliMesh* mesh = NULL;
  put_on_slope(world, 5.5);
  world->def.n_half_spaces = 0;
  world->body[0].velocity[0] = 0.3;
  ASSERT_OK(noli_mesh_make_box(world->context, (double[]){0.4, 0.02, 0.4}, (int32_t[]){13, 1, 11},
                               false, &mesh));
  int32_t board = world_add(world, mesh, (double[]){0.01, -0.01, 0.013});
  world->body[board].obstacle = true;
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

static void press_and_push(World* world) {
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

static void compare_stick(const StickCase* c) {
  World world = world_new(1);
  world.def.integrator = c->integrator != NULL ? c->integrator : "backward_euler";
  world.def.contact_model = c->model != NULL ? c->model : "ipc";
  world.def.time_step = 0.005;
  world.def.contact_distance = (NoliScaled){1e-3, NOLI_ABSOLUTE};
  world.def.barrier_stiffness = c->model != NULL ? 0.02 : 2e6;
  world.def.friction_law = "stick";
  world.def.stick_length = (NoliScaled){STICK_LENGTH, NOLI_ABSOLUTE};
  world.def.friction_iterations = c->iterations != 0 ? c->iterations : 1;
  world.def.audit = "off";
  world_use_friction(&world, c->implicit ? "implicit" : "lagged");
  c->build(&world);
  const char* only = getenv("ONLY");
  if (only != NULL && strstr(c->name, only) == NULL) { world_done(&world); return; }
  const GradientRun run = {.name = c->name,
                           .n_steps = c->n_steps,
                           .parameter = c->parameter,
                           .step = c->step,
                           .error = c->error};
  compare_run(&world, &run);
}

static void compare_sticks(const StickCase* cases, size_t n) {
  for (size_t i = 0; i < n; i++) {
    compare_stick(&cases[i]);
  }
}

#define COMPARE_STICKS(cases_) compare_sticks(cases_, sizeof(cases_) / sizeof *(cases_))

static void blocks_on_slopes(void** state) {
  (void)state;
  static const StickCase cases[] = {
      {.name = "held, young", .build = hold, .n_steps = 20, .parameter = YOUNG, .step = 30, .error = 1e-5},
      {.name = "held, velocity", .build = hold, .n_steps = 20, .parameter = VELOCITY, .step = 1e-5, .error = 1e-5},
      {.name = "held, friction", .build = hold, .n_steps = 20, .parameter = FRICTION, .step = 1e-5, .error = 1e-5},
      {.name = "held, length", .build = hold, .n_steps = 20, .parameter = LENGTH, .step = 1e-9, .error = 1e-5},
      {.name = "sliding, young", .build = slide, .n_steps = 20, .parameter = YOUNG, .step = 30, .error = 1e-5},
      {.name = "sliding, friction", .build = slide, .n_steps = 20, .parameter = FRICTION, .step = 1e-5, .error = 1e-5},
      {.name = "sliding, length", .build = slide, .n_steps = 20, .parameter = LENGTH, .step = 1e-9, .error = 1e-5},
      {.name = "partial, velocity", .build = slide_in_part, .n_steps = 20, .parameter = VELOCITY, .step = 1e-5, .error = 1e-5},
      {.name = "partial, friction", .build = slide_in_part, .n_steps = 20, .parameter = FRICTION, .step = 1e-5, .error = 1e-5},
      {.name = "cross, friction", .build = cross, .n_steps = 20, .parameter = FRICTION, .step = 1e-5, .error = 1e-5},
      {.name = "cross, velocity", .build = cross, .n_steps = 20, .parameter = VELOCITY, .step = 1e-5, .error = 1e-5},
  };
  COMPARE_STICKS(cases);
}

// A grip that turns about its middle: two plates hold a soft bar.
static void turn_grip(World* world) {
  NoliMesh* mesh = NULL;
  add_block(world, (double[]){0.1, 0.04, 0.04}, (int32_t[]){3, 1, 1}, (double[]){0, 0, 0});
  world->def.gravity[0] = 0.4;
  world->def.gravity[1] = -2.0;
  world->def.gravity[2] = 0.2;
  world->def.friction = 0.6;
  for (int side = 0; side < 2; side++) {
    double z = side == 0 ? -0.0258 : 0.0258;
    ASSERT_OK(noli_mesh_make_box(world->context, (double[]){0.06, 0.07, 0.01},
                                 (int32_t[]){2, 3, 1}, false, &mesh));
    int32_t plate = world_add(world, mesh, (double[]){0.003, 0.002, z});
    NoliMotionDef* motion = world_add_motion(world, plate, NULL, NULL);
    motion->velocity[2] = side == 0 ? 0.02 : -0.02;
    motion->pivot[0] = 0.003;
    motion->spin[1] = 4.0;
    motion->spin[2] = 3.0;
  }
}

static void others(void** state) {
  (void)state;
  static const StickCase cases[] = {
      {.name = "grip, friction", .build = turn_grip, .n_steps = 12, .parameter = FRICTION, .step = 1e-4, .error = 1e-5},
      {.name = "grip, young", .build = turn_grip, .n_steps = 12, .parameter = YOUNG, .step = 30, .error = 1e-5},
      {.name = "grip, length", .build = turn_grip, .n_steps = 12, .parameter = LENGTH, .step = 1e-9, .error = 1e-5},
      {.name = "grip, position", .build = turn_grip, .n_steps = 12, .parameter = {.kind = "initial_position", .of = "body0"}, .step = 1e-6, .error = 1e-5},
      {.name = "grip, shape", .build = turn_grip, .n_steps = 12, .parameter = {.kind = "rest_position", .of = "body0", .scope = "vertices"}, .step = 1e-6, .error = 1e-5},
      {.name = "grip, distance", .build = turn_grip, .n_steps = 12, .parameter = {.kind = "contact_distance"}, .step = 1e-7, .error = 1e-5},
      {.name = "grip, automatic", .build = turn_grip, .iterations = NOLI_FRICTION_AUTOMATIC, .n_steps = 12, .parameter = FRICTION, .step = 1e-4, .error = 1e-5},
      {.name = "grip, converged", .build = turn_grip, .iterations = NOLI_FRICTION_UNTIL_CONVERGENCE, .n_steps = 12, .parameter = FRICTION, .step = 1e-4, .error = 1e-5},
      {.name = "grip, implicit", .build = turn_grip, .implicit = true, .n_steps = 12, .parameter = FRICTION, .step = 1e-4, .error = 1e-5},
      {.name = "grip, implicit, velocity", .build = turn_grip, .implicit = true, .n_steps = 12, .parameter = VELOCITY, .step = 1e-5, .error = 1e-5},
      {.name = "slope, implicit", .build = slide_in_part, .implicit = true, .n_steps = 20, .parameter = VELOCITY, .step = 1e-5, .error = 1e-5},
      {.name = "cross, implicit", .build = cross, .implicit = true, .n_steps = 20, .parameter = VELOCITY, .step = 1e-5, .error = 1e-5},
      {.name = "slope, gcp", .build = slide_in_part, .model = "gcp", .n_steps = 20, .parameter = VELOCITY, .step = 1e-5, .error = 1e-5},
      {.name = "cross, gcp", .build = cross, .model = "gcp", .n_steps = 20, .parameter = FRICTION, .step = 1e-5, .error = 1e-5},
      {.name = "grip, gcp", .build = turn_grip, .model = "gcp", .n_steps = 12, .parameter = FRICTION, .step = 1e-4, .error = 1e-5},
      {.name = "grip, gcp, implicit", .build = turn_grip, .model = "gcp", .implicit = true, .n_steps = 12, .parameter = VELOCITY, .step = 1e-5, .error = 1e-5},
      {.name = "grip, trapezoidal", .build = turn_grip, .integrator = "trapezoidal", .n_steps = 20, .parameter = VELOCITY, .step = 1e-5, .error = 1e-5},
      {.name = "grip, bdf2", .build = turn_grip, .integrator = "bdf2", .n_steps = 12, .parameter = FRICTION, .step = 1e-4, .error = 1e-5},
      {.name = "grip, sdirk2", .build = turn_grip, .integrator = "sdirk2", .n_steps = 12, .parameter = FRICTION, .step = 1e-4, .error = 1e-5},
      {.name = "grip, bdf2, implicit", .build = turn_grip, .integrator = "bdf2", .implicit = true, .n_steps = 12, .parameter = FRICTION, .step = 1e-4, .error = 1e-5},
      {.name = "press, quasi_static", .build = press_and_push, .integrator = "quasi_static", .n_steps = 12, .parameter = FRICTION, .step = 1e-4, .error = 1e-5},
      {.name = "press, quasi_static, length", .build = press_and_push, .integrator = "quasi_static", .n_steps = 12, .parameter = LENGTH, .step = 1e-9, .error = 1e-5},
      {.name = "press, quasi_static, young", .build = press_and_push, .integrator = "quasi_static", .n_steps = 12, .parameter = YOUNG, .step = 30, .error = 1e-5},
  };
  COMPARE_STICKS(cases);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(blocks_on_slopes),
      cmocka_unit_test(others),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
