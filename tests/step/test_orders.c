// Measured orders of convergence in h of all integrators: smooth nonlinear problems of real bodies,
// and, as a table, the orders that remain with contact and friction. docs/background/integrators.md
// quotes the output.
#include "world.h"

enum { MAX_VERT = 64, N_STEPS = 4 };

static const char* const names[] = {"backward_euler", "bdf2", "trapezoidal", "sdirk2", "tr_bdf2"};
// Steps of backward Euler are shorter by this factor: its errors are larger by it.
enum { FIRST_ORDER = 8 };
enum { N_NAMES = sizeof names / sizeof *names };

// A measurement: a world for an integrator and a step, and the state at the end.
typedef struct Problem {
  const char* name;
  double duration;
  int32_t first_steps; // coarsest run; each next one has twice as many
  World (*make)(const char* integrator, double h);
} Problem;

typedef struct Result {
  int32_t n;
  double x[3 * MAX_VERT], v[3 * MAX_VERT];
} Result;

static void run(const Problem* problem, const char* integrator, int32_t n_steps, Result* result) {
  World world = problem->make(integrator, problem->duration / n_steps);
  for (int32_t i = 0; i < n_steps; i++) {
    world_step(&world);
  }
  result->n = 3 * noli_sim_vertex_count(world.sim);
  assert_in_range(result->n, 1, 3 * MAX_VERT);
  memcpy(result->x, noli_sim_positions(world.sim), (size_t)result->n * sizeof(double));
  memcpy(result->v, noli_sim_velocities(world.sim), (size_t)result->n * sizeof(double));
  world_done(&world);
}

static double distance(const double* a, const double* b, int32_t n) {
  double sum = 0.0;
  for (int32_t i = 0; i < n; i++) {
    sum += (a[i] - b[i]) * (a[i] - b[i]);
  }
  return sqrt(sum / n);
}

// Orders in x and v between the two finest steps; prints a row of the table.
static void measure(const Problem* problem, const char* integrator, const Result* reference,
                    double order[2]) {
  double error[N_STEPS][2];
  int32_t factor = strcmp(integrator, "backward_euler") == 0 ? FIRST_ORDER : 1;
  char text[512];
  int length = snprintf(text, sizeof text, "| %s | %s |", problem->name, integrator);
  for (int s = 0; s < N_STEPS; s++) {
    Result result;
    run(problem, integrator, factor * problem->first_steps << s, &result);
    error[s][0] = distance(result.x, reference->x, result.n);
    error[s][1] = distance(result.v, reference->v, result.n);
    length += snprintf(text + length, sizeof text - (size_t)length, " %.2e |", error[s][0]);
  }
  for (int k = 0; k < 2; k++) {
    order[k] = log2(error[N_STEPS - 2][k] / error[N_STEPS - 1][k]);
  }
  print_message("%s %.2f | %.2f |\n", text, order[0], order[1]);
}

static void table(const Problem* problem, int32_t finer, const double least[N_NAMES],
                  const double most[N_NAMES]) {
  Result reference;
  run(problem, "sdirk2", problem->first_steps << (N_STEPS - 1 + finer), &reference);
  for (int k = 0; k < N_NAMES; k++) {
    double order[2];
    measure(problem, names[k], &reference, order);
    for (int i = 0; i < 2; i++) {
      ASSERT_AT_LEAST(order[i], least[k]);
      ASSERT_AT_MOST(order[i], most[k]);
    }
  }
}

// ---- smooth problems ----------------------------------------------------------------------------

static double x0[3 * MAX_VERT];

// A strongly deformed block at the start, without contact.
static World block(const char* integrator, double h) {
  World world = world_new(1);
  NoliMesh* mesh = NULL;
  ASSERT_OK(noli_mesh_make_box(world.context, (double[]){0.6, 0.3, 0.3}, (int32_t[]){2, 1, 1},
                               false, &mesh));
  int32_t body = world_add(&world, mesh, (double[]){0, 0, 0});
  for (int32_t i = 0; i < mesh->n_vert; i++) {
    const double* X = &mesh->x[3 * i];
    x0[3 * i] = 1.2 * X[0] + 0.3 * X[1] * X[2];
    x0[3 * i + 1] = 0.9 * X[1] + 0.15 * X[0];
    x0[3 * i + 2] = X[2] - 0.3 * X[0] * X[0];
  }
  world.body[body].x0 = x0;
  world.body[body].velocity[0] = 1.0;
  world.def.gravity[1] = -9.81;
  world.def.contact = false;
  world.def.audit = "off";
  world.def.integrator = integrator;
  world.def.time_step = h;
  world.def.tolerance = (NoliScaled){1e-9, true};
  return world;
}

static World make_flight(const char* integrator, double h) {
  World world = block(integrator, h);
  world_start(&world);
  return world;
}

// Rayleigh damping with a damping ratio of some tenths.
static World make_damped(const char* integrator, double h) {
  World world = block(integrator, h);
  world.body[0].material.damping = 5e-3;
  world.body[0].material.mass_damping = 2.0;
  world_start(&world);
  return world;
}

// One end is shaken and turned, the rest is pulled by a force that changes in time. The block
// starts at rest, so that the motion begins smoothly.
static void shake(void* user, double t0, double t1, int32_t n, const int32_t* node, const double* X,
                  const double* x_t0, double* x_t1) {
  (void)user;
  (void)t0;
  (void)node;
  (void)x_t0;
  double angle = 0.5 * sin(6.0 * t1);
  for (int32_t i = 0; i < n; i++) {
    x_t1[3 * i] = X[3 * i] + 0.1 * sin(8.0 * t1);
    x_t1[3 * i + 1] = X[3 * i + 1] * cos(angle) - X[3 * i + 2] * sin(angle);
    x_t1[3 * i + 2] = X[3 * i + 1] * sin(angle) + X[3 * i + 2] * cos(angle);
  }
}

static void gust(void* user, double t, const double X[3], double value[3]) {
  (void)user;
  (void)X;
  value[0] = 0.0;
  value[1] = 20.0 * sin(9.0 * t);
  value[2] = 10.0 * cos(7.0 * t);
}

static World make_shaken(const char* integrator, double h) {
  static const int32_t end[4] = {0, 1, 2, 3};
  static const NoliForceDef force = {.size = sizeof(NoliForceDef),
                                     .kind = "acceleration",
                                     .t_begin = 0.0,
                                     .t_end = (double)INFINITY,
                                     .value = gust};
  World world = block(integrator, h);
  for (int i = 0; i < 4; i++) {
    ASSERT_NEAR(world.mesh[0]->x[3 * end[i]], -0.3, 1e-12);
  }
  world.body[0].x0 = NULL;
  world.body[0].velocity[0] = 0.0;
  world.body[0].material.damping = 3e-3;
  NoliMotionDef* motion = world_add_motion(&world, 0, shake, NULL);
  motion->node = end;
  motion->n_node = 4;
  world.def.forces = &force;
  world.def.n_forces = 1;
  world_start(&world);
  return world;
}

static const double first_least[N_NAMES] = {0.85, 1.85, 1.85, 1.85, 1.85};
static const double first_most[N_NAMES] = {1.15, 2.15, 2.15, 2.15, 2.15};

static void smooth_motion_converges_with_the_order_of_the_method(void** state) {
  (void)state;
  const Problem problem = {"flight", 0.2, 40, make_flight};
  table(&problem, 3, first_least, first_most);
}

static void damped_motion_converges_with_the_order_of_the_method(void** state) {
  (void)state;
  const Problem problem = {"damped", 0.2, 40, make_damped};
  table(&problem, 3, first_least, first_most);
}

static void prescribed_motion_converges_with_the_order_of_the_method(void** state) {
  (void)state;
  const Problem problem = {"shaken", 0.2, 40, make_shaken};
  table(&problem, 3, first_least, first_most);
}

// ---- contact ------------------------------------------------------------------------------------

// The block bounces off the ground in steps that resolve the barrier.
static World bounce(const char* integrator, double h, double friction,
                    int32_t friction_iterations) {
  World world = block(integrator, h);
  world.body[0].x0 = NULL;
  world.body[0].velocity[1] = -1.0;
  world_add_plane(&world, (double[]){0, -0.25, 0}, (double[]){0, 1, 0});
  world.def.contact = true;
  world.def.contact_distance = (NoliScaled){0.05, false};
  world.def.barrier_stiffness = 2e7;
  world.def.friction = friction;
  world.def.friction_law = "velocity"; // a function of time that does not depend on the step
  world.def.friction_speed = (NoliScaled){0.3, false};
  world.def.friction_iterations = friction_iterations;
  world_start(&world);
  return world;
}

static World make_bounce(const char* integrator, double h) {
  return bounce(integrator, h, 0.0, 1);
}

static World make_rub(const char* integrator, double h) {
  return bounce(integrator, h, 0.5, 1);
}

static World make_converged_rub(const char* integrator, double h) {
  return bounce(integrator, h, 0.5, NOLI_FRICTION_UNTIL_CONVERGENCE);
}

// Velocities have kinks where contact begins and ends, so bounds are wide.
static void contact_that_steps_resolve_keeps_the_order(void** state) {
  (void)state;
  const Problem problem = {"bounce", 0.12, 60, make_bounce};
  table(&problem, 3, (double[]){0.8, 1.3, 1.3, 1.3, 1.3}, (double[]){1.2, 2.8, 2.8, 2.8, 2.8});
}

// Friction forces are lagged by a stage; updated until nothing changes, they are those of its end.
static void lagged_friction_is_of_first_order(void** state) {
  (void)state;
  const Problem lagged = {"bounce, friction lagged", 0.12, 60, make_rub};
  table(&lagged, 3, (double[]){0.8, 0.8, 0.8, 0.8, 0.8}, (double[]){1.2, 1.4, 1.4, 1.4, 1.4});
  const Problem converged = {"bounce, friction until convergence", 0.12, 60, make_converged_rub};
  table(&converged, 3, (double[]){0.8, 1.3, 1.3, 1.3, 1.3}, (double[]){1.2, 2.8, 2.8, 2.8, 2.8});
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(smooth_motion_converges_with_the_order_of_the_method),
      cmocka_unit_test(damped_motion_converges_with_the_order_of_the_method),
      cmocka_unit_test(prescribed_motion_converges_with_the_order_of_the_method),
      cmocka_unit_test(contact_that_steps_resolve_keeps_the_order),
      cmocka_unit_test(lagged_friction_is_of_first_order),
  };
  print_message(
      "| problem | integrator | error in x at h | h/2 | h/4 | h/8 | order of x | of v |\n");
  return cmocka_run_group_tests(tests, NULL, NULL);
}
