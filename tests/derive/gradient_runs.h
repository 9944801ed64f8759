// Shared parts of the tests of derivatives of runs: an objective that reads everything, comparisons
// of both modes with each other and with central differences of runs, and refusals.
#pragma once

#include "derive/goals/goals.h"
#include "math/larger.h"
#include "step/world.h"

#include <math.h>

#define OF(kind_, of_)                                                                             \
  { .kind = (kind_), .of = (of_) }
#define VERTICES(kind_, of_)                                                                       \
  { .kind = (kind_), .of = (of_), .scope = "vertices" }
#define ELEMENTS(kind_, of_)                                                                       \
  { .kind = (kind_), .of = (of_), .scope = "elements" }
#define SHAPE(of_) VERTICES("rest_position", of_)

// Goals: energy over the run, stress at its end.
#define ENERGY_GOAL                                                                                \
  {                                                                                                \
    .quantity = "elastic_energy", .of = "body0", .form = "value", .weight = 1.0, .exponent = 8.0,  \
    .when = "over", .t_end = 1.0                                                                   \
  }
#define STRESS_GOAL                                                                                \
  {                                                                                                \
    .quantity = "von_mises", .of = "body0", .reduction = "norm", .form = "value", .weight = 1.0,   \
    .exponent = 8.0, .when = "end", .t_end = 1.0                                                   \
  }

// sum over all steps of w_t (|x - c|^2 + tau^2 |v|^2) over the vertices.
static inline NoliStatus spread(void* user, NoliSim* sim, NoliObjectivePoint* at) {
  (void)user;
  const double c[3] = {0.1, -0.2, 0.3}, tau = 0.05;
  double w = at->step == at->n_steps ? 1.0 : 0.1;
  for (int32_t i = 0; i < 3 * noli_sim_node_count(sim); i++) {
    double d = at->x[i] - c[i % 3], u = tau * at->v[i], share = 1.0 + 0.01 * (i % 7);
    at->value += w * share * (d * d + u * u);
    if (at->d_x != NULL) {
      at->d_x[i] += 2.0 * w * share * d;
      at->d_v[i] += 2.0 * w * share * tau * u;
    }
  }
  return NOLI_OK;
}

// A run, and what its derivatives are compared by.
typedef struct GradientRun {
  const char* name;
  int64_t n_steps;
  NoliParameterDef parameter;
  double step;             // the largest of the differences; then a third and a tenth of it
  double error;            // allowed, relative, with the best of them
  const NoliGoalDef* goal; // the objective; NULL: spread
} GradientRun;

static inline void require_run(NoliStatus status, const GradientRun* run, NoliContext* context) {
  if (status != NOLI_OK) {
    print_message("%s: %s\n", run->name, noli_context_message(context));
  }
  ASSERT_OK(status);
}

// The objective and, without a mode, no derivative.
static inline double run_gradient(const GradientRun* run, NoliSim* sim,
                                  const NoliParameters* parameters, const char* mode,
                                  double* gradient) {
  NoliGoals* goals = NULL;
  NoliObjective objective = {spread, NULL};
  NoliGradientDef def = noli_default_gradient_def();
  double value = NAN;
  if (run->goal != NULL) {
    require_run(noli_goals_create(sim, parameters, run->goal, 1, &goals), run, sim->context);
    objective = noli_goals_objective(goals);
  }
  def.n_steps = run->n_steps;
  def.tolerance = 1e-13;
  def.mode = mode;
  require_run(noli_sim_gradient(sim, parameters, &objective, 1, &def, &value,
                                mode != NULL ? gradient : NULL, NULL),
              run, sim->context);
  noli_goals_destroy(&goals);
  return value;
}

static inline double run_at(const GradientRun* run, const NoliParameters* parameters,
                            NoliContext* context, const double* values) {
  NoliSim* sim = NULL;
  NoliParameters* own = NULL;
  require_run(noli_parameters_apply(parameters, values, context, &sim), run, context);
  require_run(noli_parameters_create(sim, &run->parameter, 1, &own), run, context);
  double value = run_gradient(run, sim, own, NULL, NULL);
  noli_parameters_destroy(&own);
  noli_sim_destroy(&sim);
  return value;
}

// How far the best difference by value j is from a derivative, of at most three steps.
static inline double difference_off(const GradientRun* run, const NoliParameters* parameters,
                                    NoliContext* context, double* values, int64_t j,
                                    double derivative, double size) {
  static const double shares[3] = {1.0, 0.3, 0.1};
  double at = values[j], best = INFINITY;
  for (int k = 0; k < 3 && best > 0.1 * run->error * size; k++) {
    double h = shares[k] * run->step, end[2];
    for (int side = 0; side < 2; side++) {
      values[j] = at + (side == 0 ? -h : h);
      end[side] = run_at(run, parameters, context, values);
    }
    best = fmin(best, fabs((end[1] - end[0]) / (2.0 * h) - derivative));
  }
  values[j] = at;
  return best;
}

static inline bool is_plane(const World* world) {
  bool plane = false;
  for (int32_t b = 0; b < world->def.n_bodies; b++) {
    plane = plane || world->body[b].plane_strain > 0.0;
  }
  return plane;
}

// Both modes differ by less than 1e-8 of the gradient, and differences of some values, of all
// components, by less than `run->error`. Vertices in plane strain stay in their plane. Ends the
// world.
static inline void compare_run(World* world, const GradientRun* run) {
  NoliParameters* parameters = NULL;
  double *gradient[2], value[2], size = 0.0, apart = 0.0, off = 0.0;
  world_start(world);
  NoliContext* context = world->context;
  require_run(noli_parameters_create(world->sim, &run->parameter, 1, &parameters), run, context);
  int64_t n = noli_parameters_count(parameters);
  double* values = calloc((size_t)n, sizeof(double));
  noli_parameters_values(parameters, values);
  for (int k = 0; k < 2; k++) {
    NoliSim* sim = NULL;
    gradient[k] = calloc((size_t)n, sizeof(double));
    ASSERT_OK(noli_sim_clone(world->sim, context, &sim));
    value[k] = run_gradient(run, sim, parameters, k == 0 ? "adjoint" : "tangent", gradient[k]);
    noli_sim_destroy(&sim);
  }
  for (int64_t j = 0; j < n; j++) {
    size = noli_larger(size, fabs(gradient[0][j]));
    apart = noli_larger(apart, fabs(gradient[0][j] - gradient[1][j]));
  }
  assert_true(size > 0.0);
  int64_t stride = n > 6 ? n / 5 + (n / 5 % 3 == 0 ? 1 : 0) : 1;
  for (int64_t j = 0; j < n; j += stride) {
    if (!(is_plane(world) && n > 3 && j % 3 == 2)) {
      off = noli_larger(off,
                        difference_off(run, parameters, context, values, j, gradient[0][j], size));
    }
  }
  print_message("%-40s value %.6g, gradient %.3g, modes differ by %.1e, differences by %.1e\n",
                run->name, value[0], size, apart / size, off / size);
  ASSERT_NEAR(value[0], value[1], 1e-13 * fabs(value[0]));
  ASSERT_AT_MOST(apart, 1e-8 * size);
  ASSERT_AT_MOST(off, run->error * size);
  free(values);
  free(gradient[0]);
  free(gradient[1]);
  noli_parameters_destroy(&parameters);
  world_done(world);
}

// The value of a goal at the state of a world.
static inline double goal_value(World* world, const NoliGoalDef* goal) {
  NoliGoals* goals = NULL;
  ASSERT_OK(noli_goals_create(world->sim, NULL, goal, 1, &goals));
  NoliObjective objective = noli_goals_objective(goals);
  NoliObjectivePoint at = {.step = 1,
                           .n_steps = 1,
                           .time = noli_sim_time_step(world->sim),
                           .x = noli_sim_positions(world->sim),
                           .v = noli_sim_velocities(world->sim)};
  ASSERT_OK(objective.evaluate(objective.user, world->sim, &at));
  noli_goals_destroy(&goals);
  return at.value;
}

// ---- bodies -------------------------------------------------------------------------------------

// The vertices of the left side of a box.
static const int32_t left[4] = {0, 1, 2, 3};

static inline int32_t add_plain_box(World* world, double height) {
  NoliMesh* mesh = NULL;
  ASSERT_OK(noli_mesh_make_box(world->context, (double[]){0.2, 0.1, 0.12}, (int32_t[]){2, 1, 1},
                               false, &mesh));
  return world_add(world, mesh, (double[]){0.01, 0.05 + height, 0.0});
}

static inline void hold_left(World* world, int32_t body, int32_t n) {
  NoliMotionDef* motion = world_add_motion(world, body, NULL, NULL);
  motion->node = left;
  motion->n_node = n;
}

// A flat body in plane strain hits the floor, and slides.
static inline int32_t add_flat_landing(World* world) {
  NoliMesh* mesh = NULL;
  ASSERT_OK(noli_mesh_make_rectangle(world->context, 0.2, 0.1, 3, 2, &mesh));
  world_add_plane(world, (double[]){0, 0, 0}, (double[]){0, 1, 0});
  world->def.friction = 0.3;
  int32_t body = world_add(world, mesh, (double[]){0, 0.0515, 0});
  world->body[body].plane_strain = 0.1;
  world->body[body].velocity[0] = 0.5;
  world->body[body].velocity[1] = -0.8;
  return body;
}

// ---- runs of worlds that are built --------------------------------------------------------------

typedef struct GradientCase {
  const char* name;
  void (*build)(World* world);
  const char* integrator; // NULL: backward Euler
  double h;
  int64_t n_steps;
  NoliParameterDef parameter;
  double step;  // of the differences, as in GradientRun
  double error; // allowed, relative
} GradientCase;

static inline World built_world(const GradientCase* c) {
  World world = world_new(1);
  world.def.integrator = c->integrator != NULL ? c->integrator : "backward_euler";
  world.def.time_step = c->h;
  world.def.contact_distance = (NoliScaled){2e-3, false};
  world.def.barrier_stiffness = 2e6;
  world.def.audit = "off";
  c->build(&world);
  return world;
}

static inline void compare_case(const GradientCase* c, const NoliGoalDef* goal) {
  World world = built_world(c);
  const GradientRun run = {.name = c->name,
                           .n_steps = c->n_steps,
                           .parameter = c->parameter,
                           .step = c->step,
                           .error = c->error,
                           .goal = goal};
  compare_run(&world, &run);
}

static inline void compare_cases(const GradientCase* cases, size_t n) {
  for (size_t i = 0; i < n; i++) {
    compare_case(&cases[i], NULL);
  }
}

#define COMPARE(cases_) compare_cases(cases_, sizeof(cases_) / sizeof *(cases_))

// The derivatives of a run by a parameter are refused, with these words in the message. Ends the
// world.
static inline void expect_run_refusal(World* world, int64_t n_steps, const NoliParameterDef* def,
                                      const char* words) {
  NoliParameters* parameters = NULL;
  NoliObjective objective = {spread, NULL};
  NoliGradientDef gradient = noli_default_gradient_def();
  double value, *derivative = NULL;
  gradient.n_steps = n_steps;
  NoliStatus status = noli_parameters_create(world->sim, def, 1, &parameters);
  if (status == NOLI_OK) {
    derivative = malloc((size_t)noli_parameters_count(parameters) * sizeof *derivative);
    status = noli_sim_gradient(world->sim, parameters, &objective, 1, &gradient, &value, derivative,
                               NULL);
  }
  const char* message = noli_context_message(world->context);
  if (strstr(message, words) == NULL) {
    print_message("%d: %s\n", (int)status, message);
  }
  ASSERT_STATUS(status, NOLI_ERROR_ARGUMENT);
  assert_non_null(strstr(message, words));
  free(derivative);
  noli_parameters_destroy(&parameters);
  world_done(world);
}

// Starts a new world and expects the refusal of expect_run_refusal.
static inline void expect_refusal(World* world, int64_t n_steps, const NoliParameterDef* def,
                                  const char* words) {
  world_start(world);
  expect_run_refusal(world, n_steps, def, words);
}
