// The design block: examples converge from a wrong start to what is known, gradients agree with
// differences of whole runs, a search repeats what it remembers, errors are located.
#include "scene_run.h"
#include "scene_support.h"

#include "direction.h"
#include "noli/noli.h"

#include <math.h>
#include <string.h>

enum { MOST = 32 };

typedef struct Problem {
  Run run;
  NoliDesign* design;
  int32_t n, m;
  double z[MOST]; // variables
  int32_t n_seen;
} Problem;

// `change` (n_change) are pairs of path and value.
static Problem changed_problem(const char* path, int32_t n_change, const char* const (*change)[2]) {
  Problem p = {.run = start(path, n_change, change)};
  ASSERT_OK(noli_design_create(p.run.sim, noli_scene_design(p.run.scene), &p.design));
  p.n = noli_design_count(p.design);
  p.m = noli_design_function_count(p.design);
  assert_in_range(p.n, 1, MOST);
  noli_design_range(p.design, p.z, NULL, NULL);
  return p;
}

static Problem problem_of(const char* path) {
  return changed_problem(path, 0, NULL);
}

static void drop(Problem* p) {
  noli_design_destroy(&p->design);
  finish(&p->run);
}

static bool count_runs(void* user, const NoliDesignRun* run) {
  Problem* p = user;
  assert_int_equal(run->evaluation, p->n_seen);
  p->n_seen++;
  return true;
}

static NoliDesignResult search(Problem* p) {
  NoliDesignResult result = {0};
  p->n_seen = 0;
  NoliStatus status = noli_design_search(p->design, count_runs, p, p->z, &result);
  if (status != NOLI_OK) {
    print_error("%s\n", noli_context_message(p->run.context));
  }
  assert_int_equal(status, NOLI_OK);
  assert_int_equal(result.evaluations, p->n_seen);
  print_message("%s after %d runs, objective %.3g\n", result.reason, (int)result.evaluations,
                result.objective);
  return result;
}

// The slow check: central differences of whole runs along a direction of the variables.
static void check_along(Problem* p, const double* direction, double tolerance) {
  double value[DIRECTION_FUNCTIONS], derivative[DIRECTION_FUNCTIONS],
      difference[DIRECTION_FUNCTIONS];
  ASSERT_OK(direction_derivatives(p->design, p->z, direction, value, derivative));
  ASSERT_OK(direction_differences(p->design, p->z, direction, derivative, difference));
  for (int32_t k = 0; k < p->m; k++) {
    double error = fabs(difference[k] / derivative[k] - 1.0);
    print_message("function %d: derivative %.9g, error %.1e\n", (int)k, derivative[k], error);
    ASSERT_AT_MOST(error, tolerance);
  }
}

// The derivative along all variables at once.
static void check_derivative(Problem* p, double tolerance) {
  double start[DIRECTION_VARIABLES], direction[DIRECTION_VARIABLES];
  assert_true(direction_of(p->design, start, direction));
  check_along(p, direction, tolerance);
}

// The derivative along each variable alone.
static void check_gradient(Problem* p, double tolerance) {
  double start[DIRECTION_VARIABLES], direction[DIRECTION_VARIABLES];
  assert_true(direction_of(p->design, start, direction));
  for (int32_t i = 0; i < p->n; i++) {
    double one[DIRECTION_VARIABLES] = {0};
    one[i] = direction[i];
    check_along(p, one, tolerance);
  }
}

static void test_friction(void** state) {
  (void)state;
  Problem p = problem_of("examples/design/friction.json");
  ASSERT_NEAR(p.z[0], 0.1, 0.0);
  check_gradient(&p, 1e-5);
  NoliDesignResult result = search(&p);
  assert_string_equal(result.reason, "converged");
  ASSERT_NEAR(p.z[0], 0.3, 1e-5);
  ASSERT_AT_MOST(result.evaluations, 12);
  drop(&p);
}

static void test_young(void** state) {
  (void)state;
  Problem p = problem_of("examples/design/young.json");
  ASSERT_NEAR(p.z[0], 5e5, 0.0);
  check_gradient(&p, 1e-5);
  NoliDesignResult result = search(&p);
  assert_string_equal(result.reason, "converged");
  ASSERT_NEAR(p.z[0], 5e4, 5.0);
  ASSERT_AT_MOST(result.evaluations, 12);
  drop(&p);
}

// Where the ball is at the end of a run, and the highest place of its centre above the wall.
static void fly(Problem* p, const char* path, double end[3], double* over_wall) {
  NoliScene* scene = NULL;
  NoliSim* sim = NULL;
  NoliBodyState ball = {0};
  *over_wall = 0.0;
  ASSERT_OK(noli_scene_load(p->run.context, path, NULL, 0, &scene));
  assert_null(noli_scene_design(scene));
  ASSERT_OK(noli_sim_create(p->run.context, noli_scene_sim_def(scene), &sim));
  for (int64_t i = 0; i < noli_scene_step_count(scene); i++) {
    ASSERT_OK(noli_sim_step(sim, NULL));
    ASSERT_OK(noli_sim_body_state(sim, 0, &ball));
    if (fabs(ball.centre[0] - 0.7) < 0.07) {
      *over_wall = noli_larger(*over_wall, ball.centre[1]);
    }
  }
  memcpy(end, ball.centre, sizeof ball.centre);
  noli_sim_destroy(&sim);
  noli_scene_destroy(&scene);
}

// The first throw hits the wall; the best scene, read back, ends in the cup.
static void test_throw(void** state) {
  (void)state;
  Problem p = problem_of("examples/design/throw.json");
  double end[3], over_wall;
  ASSERT_OK(noli_output_write_design(p.run.context, p.run.scene, p.design, p.z, "throw_0.json"));
  fly(&p, "throw_0.json", end, &over_wall);
  assert_true(end[0] < 0.7);
  NoliDesignResult result = search(&p);
  assert_string_equal(result.reason, "converged");
  ASSERT_AT_MOST(result.violation, 1e-6);
  ASSERT_AT_MOST(result.objective, 1e-3);
  ASSERT_OK(noli_output_write_design(p.run.context, p.run.scene, p.design, p.z, "throw_1.json"));
  fly(&p, "throw_1.json", end, &over_wall);
  // the wall ends at 0.94, the cup has a radius of 0.12 to 0.15 about x = 1.6 and a rim at 0.25
  assert_true(over_wall > 0.99);
  ASSERT_NEAR(end[0], 1.6, 0.12);
  assert_true(end[1] > 0.0 && end[1] < 0.2);
  drop(&p);
}

// ---- shapes -------------------------------------------------------------------------------------

// The smallest and largest force on the plate, N, in steps that end after t = 0.35 s.
static void plateau(Problem* p, const char* path, double* low, double* high) {
  NoliScene* scene = NULL;
  NoliSim* sim = NULL;
  NoliWrench leg;
  *low = INFINITY;
  *high = 0.0;
  ASSERT_OK(noli_scene_load(p->run.context, path, NULL, 0, &scene));
  ASSERT_OK(noli_sim_create(p->run.context, noli_scene_sim_def(scene), &sim));
  for (int64_t i = 0; i < noli_scene_step_count(scene); i++) {
    ASSERT_OK(noli_sim_step(sim, NULL));
    ASSERT_OK(noli_sim_wrench(sim, 0, NULL, &leg));
    if (noli_sim_time(sim) > 0.35) {
      *low = noli_smaller(*low, -leg.normal[1]);
      *high = noli_larger(*high, -leg.normal[1]);
    }
  }
  noli_sim_destroy(&sim);
  noli_scene_destroy(&scene);
}

// The force of the first shape grows from 7 N to 13 N; that of the last one, read back, stays.
static void test_absorber(void** state) {
  (void)state;
  Problem p = problem_of("examples/design/absorber.json");
  double low, high;
  ASSERT_OK(noli_output_write_design(p.run.context, p.run.scene, p.design, p.z, "absorber_0.json"));
  plateau(&p, "absorber_0.json", &low, &high);
  print_message("first shape: %.3g N to %.3g N\n", low, high);
  assert_true(high > 12.0 && high / low > 1.7);
  check_gradient(&p, 1e-5);
  NoliDesignResult result = search(&p);
  assert_string_equal(result.reason, "enough");
  ASSERT_OK(noli_output_write_design(p.run.context, p.run.scene, p.design, p.z, "absorber_1.json"));
  plateau(&p, "absorber_1.json", &low, &high);
  print_message("last shape: %.3g N to %.3g N\n", low, high);
  ASSERT_NEAR(low, 7.0, 0.7);
  ASSERT_NEAR(high, 7.0, 0.7);
  drop(&p);
}

// How far a body has moved up in `steps` steps, m.
static double hold(Problem* p, const char* path, int32_t body, const char* steps) {
  NoliScene* scene = NULL;
  NoliSim* sim = NULL;
  NoliBodyState start, end;
  NoliSceneOverride longer[] = {{"time.steps", steps}};
  ASSERT_OK(noli_scene_load(p->run.context, path, longer, 1, &scene));
  ASSERT_OK(noli_sim_create(p->run.context, noli_scene_sim_def(scene), &sim));
  ASSERT_OK(noli_sim_body_state(sim, body, &start));
  for (int64_t i = 0; i < noli_scene_step_count(scene); i++) {
    ASSERT_OK(noli_sim_step(sim, NULL));
  }
  ASSERT_OK(noli_sim_body_state(sim, body, &end));
  noli_sim_destroy(&sim);
  noli_scene_destroy(&scene);
  return end.centre[1] - start.centre[1];
}

// The first finger lets the ball slip; the last one, of no more material, holds it, also for longer
// than the search has looked.
static void test_finger(void** state) {
  (void)state;
  Problem p = problem_of("examples/design/finger.json");
  double value[MOST];
  check_derivative(&p, 1e-6);
  ASSERT_OK(noli_design_evaluate(p.design, p.z, value, NULL));
  ASSERT_NEAR(value[1], 0.006 * 0.11 * 0.05, 1e-12); // m^3, not its square
  ASSERT_OK(noli_output_write_design(p.run.context, p.run.scene, p.design, p.z, "finger_0.json"));
  double slipped = hold(&p, "finger_0.json", 0, "100");
  NoliDesignResult result = search(&p);
  assert_string_equal(result.reason, "enough");
  ASSERT_AT_MOST(result.violation, 1e-6);
  ASSERT_OK(noli_output_write_design(p.run.context, p.run.scene, p.design, p.z, "finger_1.json"));
  double held = hold(&p, "finger_1.json", 0, "300");
  print_message("ball: %.2f mm with the first finger, %.2f mm with the last one\n", 1e3 * slipped,
                1e3 * held);
  assert_true(slipped < -15e-3);
  ASSERT_NEAR(held, 0.0, 1e-3);
  drop(&p);
}

// [Huang2025] fig. 32: a potential that ends before the gap has no derivative to begin with; one
// that reaches beyond it has, and the force grows. Let go under gravity, the torus falls from the
// first plier to the bridge between its halves, and an improved one holds it, also for longer.
static void test_plier(void** state) {
  (void)state;
  static const char* const barrier[][2] = {{"contact", "{\"distance\": 1e-3, \"stiffness\": 1e9}"},
                                           {"time.steps", "1"},
                                           {"time.step", "1"}};
  static const char* const few[][2] = {{"design.evaluations", "8"}};
  double value[MOST], gradient[MOST * MOST];
  Problem near = changed_problem("examples/design/plier.json", 3, barrier);
  ASSERT_OK(noli_design_evaluate(near.design, near.z, value, gradient));
  ASSERT_NEAR(value[0], 0.0, 1e-15);
  for (int32_t i = 0; i < near.n; i++) {
    // of the smoothness alone, at its minimum
    ASSERT_NEAR(gradient[i], 0.0, 1e-6);
  }
  drop(&near);
  Problem p = changed_problem("examples/design/plier.json", 1, few);
  assert_int_equal(p.n, 30);
  check_derivative(&p, 1e-6);
  ASSERT_OK(noli_output_write_design(p.run.context, p.run.scene, p.design, p.z, "plier_0.json"));
  double fallen = hold(&p, "plier_0.json", 1, "50");
  NoliDesignResult result = search(&p);
  ASSERT_AT_MOST(result.objective, -5.0);
  ASSERT_OK(noli_output_write_design(p.run.context, p.run.scene, p.design, p.z, "plier_1.json"));
  double held = hold(&p, "plier_1.json", 1, "200");
  print_message("torus: %.2f mm with the first plier, %.2f mm with a later one\n", 1e3 * fallen,
                1e3 * held);
  assert_true(fallen < -80e-3);
  ASSERT_NEAR(held, 0.0, 10e-3);
  drop(&p);
}

// An expression of goals: the value that they have, and its derivative.
static void test_expression(void** state) {
  (void)state;
  static const char* const formula[][2] = {
      {"design.objective",
       "[{\"name\": \"x\", \"quantity\": \"centre\", \"body\": \"block\", \"component\": \"x\", "
       "\"at\": 0.2}, {\"name\": \"v\", \"quantity\": \"velocity\", \"body\": \"block\", "
       "\"component\": \"x\", \"at\": 0.1}]"},
      {"design.expression", "-x * exp(v / 5) + v ^ 2"}};
  static const char* const sums[][2] = {
      {"design.objective", "[{\"quantity\": \"centre\", \"body\": \"block\", \"component\": "
                           "\"x\", \"form\": \"value\", \"at\": 0.2}]"},
      {"design.constraints", "[{\"goals\": [{\"quantity\": \"velocity\", \"body\": \"block\", "
                             "\"component\": \"x\", \"at\": 0.1}], \"at_most\": 1}]"}};
  Problem one = changed_problem("examples/design/friction.json", 2, formula);
  Problem two = changed_problem("examples/design/friction.json", 2, sums);
  double value[MOST], part[MOST];
  ASSERT_OK(noli_design_evaluate(one.design, one.z, value, NULL));
  ASSERT_OK(noli_design_evaluate(two.design, two.z, part, NULL));
  ASSERT_NEAR(value[0], -part[0] * exp(part[1] / 5.0) + part[1] * part[1], 1e-9);
  check_derivative(&one, 1e-7);
  drop(&one);
  drop(&two);
}

// The shape of elements of order 2: its variables move the vertices of the mesh, other nodes
// follow.
static void test_order_two(void** state) {
  (void)state;
  static const char* const curved[][2] = {
      {"bodies[0].order", "2"},
      {"design.smoothness", "0.1"},
      {"design.variables",
       "[{\"parameter\": \"rest_position\", \"of\": \"cube\", \"control\": \"cage\", "
       "\"cage\": [2, 2, 1], \"lower\": -0.01, \"upper\": 0.01, \"start\": 0.003}]"}};
  Problem p = changed_problem("validation/scenes/derivatives/land.json", 3, curved);
  assert_int_equal(p.n, 12);
  check_derivative(&p, 1e-6);
  drop(&p);
}

// ---- memory of runs -----------------------------------------------------------------------------

typedef struct Recording {
  NoliDesign* to;
  int32_t most; // runs before the search is cancelled; 0: all
  int32_t n, n_remembered;
  double last;
} Recording;

static bool record(void* user, const NoliDesignRun* run) {
  Recording* recording = user;
  recording->n++;
  recording->n_remembered += run->remembered ? 1 : 0;
  recording->last = run->variable[0];
  if (recording->to != NULL) {
    ASSERT_OK(noli_design_remember(recording->to, run));
  }
  return recording->most == 0 || recording->n < recording->most;
}

static void test_remember(void** state) {
  (void)state;
  Problem whole = problem_of("examples/design/friction.json");
  Problem first = problem_of("examples/design/friction.json");
  Problem second = problem_of("examples/design/friction.json");
  Recording all = {0}, begun = {.to = second.design, .most = 3}, rest = {0};
  NoliDesignResult result = {0};
  ASSERT_OK(noli_design_search(whole.design, record, &all, whole.z, &result));
  ASSERT_OK(noli_design_search(first.design, record, &begun, first.z, &result));
  assert_string_equal(result.reason, "cancelled");
  ASSERT_OK(noli_design_search(second.design, record, &rest, second.z, &result));
  assert_int_equal(rest.n, all.n);
  assert_int_equal(rest.n_remembered, 3);
  assert_true(rest.last == all.last && second.z[0] == whole.z[0]);
  drop(&whole);
  drop(&first);
  drop(&second);
}

// ---- written scenes -----------------------------------------------------------------------------

// Friction of the block and the floor.
static NoliPairDef rubbing(const NoliSim* sim) {
  NoliPairDef pair = noli_default_pair_def();
  ASSERT_OK(noli_sim_pair(sim, 0, 1, &pair));
  return pair;
}

// m/s; the length of the scene is the diagonal of the block, 0.3 m.
static double speed_of(const NoliPairDef* pair) {
  return pair->stribeck_speed.value * (pair->stribeck_speed.relative ? 0.3 : 1.0);
}

// A written scene rubs as the simulation of the design does, whatever else friction has.
static void test_written_friction(void** state) {
  (void)state;
  enum { CHANGES = 4, CASES = 6 };
  static const char* const of_pair = "{\"parameter\": \"friction\", \"of\": \"block\", \"with\": "
                                     "\"floor\", \"lower\": 0.05, \"upper\": 0.3}";
  static const char* const of_all =
      "{\"parameter\": \"friction\", \"lower\": 0.05, \"upper\": 0.3}";
  const char* const changes[CASES][CHANGES][2] = {
      {{"pairs[0].static_friction", "0.4"},
       {"pairs[0].viscosity", "0.05"},
       {"pairs[0].stribeck_speed", "\"0.2 l\""},
       {"design.variables[0]", of_pair}},
      {{"pairs[0].static_friction", "0.4"},
       {"pairs[0].viscosity", "0.05"},
       {"pairs[0].distance", "2e-4"},
       {"design.variables[0]", of_pair}},
      {{"pairs[0].stribeck_speed", "0.03"},
       {"pairs[0].a", "\"floor\""},
       {"pairs[0].b", "\"block\""},
       {"design.variables[0]", of_pair}},
      {{"pairs", "[]"},
       {"friction.coefficient", "0.1"},
       {"friction.static_coefficient", "0.4"},
       {"design.variables[0]", of_pair}},
      {{"pairs", "[]"},
       {"friction.coefficient", "0.1"},
       {"friction.static_coefficient", "0.4"},
       {"design.variables[0]", of_all}},
      {{"pairs", "[]"},
       {"friction.coefficient", "0.1"},
       {"friction.static_coefficient", "0.1"},
       {"design.variables[0]", of_all}},
  };
  static const double risen[CASES] = {0.4, 0.4, 0.2, 0.4, 0.4, 0.2};
  for (int32_t k = 0; k < CASES; k++) {
    Problem p = changed_problem("examples/design/friction.json", CHANGES, changes[k]);
    const NoliParameters* parameters = noli_design_parameters(p.design);
    double value[MOST];
    NoliSim *want = NULL, *got = NULL;
    NoliScene* scene = NULL;
    p.z[0] = 0.2;
    noli_design_values(p.design, p.z, value);
    ASSERT_OK(noli_parameters_apply(parameters, value, p.run.context, &want));
    ASSERT_OK(
        noli_output_write_design(p.run.context, p.run.scene, p.design, p.z, "friction_0.json"));
    ASSERT_OK(noli_scene_load(p.run.context, "friction_0.json", NULL, 0, &scene));
    ASSERT_OK(noli_sim_create(p.run.context, noli_scene_sim_def(scene), &got));
    NoliPairDef a = rubbing(want), b = rubbing(got);
    ASSERT_NEAR(a.friction, 0.2, 0.0);
    ASSERT_NEAR(b.friction, a.friction, 0.0);
    ASSERT_NEAR(fmax(a.static_friction, a.friction), risen[k], 0.0);
    ASSERT_NEAR(fmax(b.static_friction, b.friction), risen[k], 0.0);
    ASSERT_NEAR(b.viscosity, a.viscosity, 0.0);
    ASSERT_NEAR(b.distance.value, a.distance.value, 0.0);
    assert_true(k != 1 || b.distance.value == 2e-4);
    ASSERT_NEAR(speed_of(&b), speed_of(&a), 1e-15);
    assert_int_equal(b.contact, a.contact);
    noli_sim_destroy(&want);
    noli_sim_destroy(&got);
    noli_scene_destroy(&scene);
    drop(&p);
  }
}

// ---- derivatives of expressions -----------------------------------------------------------------

typedef struct Formula {
  const char* text;
  double a, b;
  double by_a, by_b;
} Formula;

// Against closed forms, of numbers of all magnitudes.
static void formulas_have_derivatives(void** state) {
  (void)state;
  static const Formula formulas[] = {
      {"a * b", 3.0, -2000000.0, -2000000.0, 3.0},
      {"-a / sqrt(b)", 7.3, 2.6e-09, -19611.613513818404, 27531688202091.22},
      {"sin(a) * exp(-b)", 1.2, 0.7, 0.17994153558797196, -0.46283691265050275},
      {"a^3 + 1e4 * b", 0.005, 1.0, 7.5e-05, 10000.0},
      {"ln(a) - b / a", 40.0, 1000.0, 0.65, -0.025},
      {"max(a, 2 * b)", 1.0, 3.0, 0.0, 2.0},
      {"abs(a) + sqrt(b - 1)", -0.5, 1.001, -1.0, 15.811388300842768},
      {"a^2 + b", 0.0, 1.0, 0.0, 1.0},
      {"exp(60 * a) * b", 1.0, 2e-20, 137040886.7778821, 1.1420073898156842e+26},
  };
  NoliContext* context = test_context(1);
  for (size_t k = 0; k < sizeof formulas / sizeof *formulas; k++) {
    const Formula* formula = &formulas[k];
    char text[SCENE_TEXT];
    NoliScene* scene = NULL;
    snprintf(text, sizeof text,
             "{'time': {'step': 0.01, 'duration': 0.1}, 'bodies': [{'name': 'cube', 'mesh': "
             "{'box': {'cells': [1, 1, 1]}}}], 'design': {'variables': [{'parameter': 'gravity', "
             "'lower': -1, 'upper': 1}], 'objective': [{'name': 'a', 'quantity': 'volume', 'body': "
             "'cube'}, {'name': 'b', 'quantity': 'volume', 'body': 'cube'}], 'expression': '%s'}}",
             formula->text);
    ASSERT_OK(parse_quoted(context, text, &scene));
    const NoliDesignDef* def = noli_scene_design(scene);
    double number[2] = {formula->a, formula->b}, value, derivative[2];
    assert_true(def->objective.formula(def->objective.formula_user, number, &value, derivative));
    // but for rounding, where the rest of the value is far larger
    const double by[2] = {formula->by_a, formula->by_b};
    for (int i = 0; i < 2; i++) {
      double rounding = 1e-12 * fabs(value) / (number[i] != 0.0 ? fabs(number[i]) : 1.0);
      ASSERT_NEAR(derivative[i], by[i], 1e-9 * fabs(by[i]) + rounding);
    }
    noli_scene_destroy(&scene);
  }
  test_context_done(&context);
}

// ---- what a scene says of its parameters --------------------------------------------------------

static const char* const driven =
    "{'time': {'step': 0.01, 'duration': 0.06}, 'contact': {'stiffness': 1e8}, 'friction': "
    "{'coefficient': 0.3, 'speed': '1e-2 l', 'law': 'stick', 'stick_length': '1e-4 l'}, 'pairs': "
    "[{'a': 'cube', 'b': 'floor', 'friction': "
    "0.3, 'distance': '2e-3 l'}], 'bodies': [{'name': 'cube', 'mesh': {'box': {'size': [1, 1, 1], "
    "'cells': [2, 2, 2]}}, 'translate': [0, 0.503, 0], 'velocity': [0.5, -0.5, 0], 'material': "
    "{'law': 'hencky', 'young': 1e5, 'yield': 500, 'hardening': 2e3, 'saturation': 300, "
    "'saturation_rate': 20}, 'parts': [{'select': {'elements': [3, 17]}, 'material': {'young': "
    "2e5}}], 'contact_offset': 0.002, 'volume': {'region': 'outside', 'pressure': "
    "100, 'compression': 1e-5}}], 'half_spaces': [{'name': 'floor'}], 'prescribed': [{'body': "
    "'cube', 'select': {'side': '+y'}, 'motion': [{'name': 'drive', 'pivot': [0, 1, 0], "
    "'displacement': ['0.1*t', '-0.2*sin(9*t)', 0]}]}], 'design': {'variables': [%s], "
    "'objective': [{'quantity': 'centre', 'body': 'cube', 'component': 'x'}]}}";

// Runs both to the end; the largest distance of their nodes.
static double apart_after(NoliSim* a, NoliSim* b, int32_t n_steps) {
  double apart = 0.0;
  for (int32_t step = 0; step < n_steps; step++) {
    ASSERT_OK(noli_sim_step(a, NULL));
    ASSERT_OK(noli_sim_step(b, NULL));
  }
  for (int32_t i = 0; i < 3 * noli_sim_node_count(a); i++) {
    apart = noli_larger(apart, fabs(noli_sim_positions(a)[i] - noli_sim_positions(b)[i]));
  }
  return apart;
}

// The scene that is written runs as the search did, and not as the one that was read.
static void expect_written_run(const char* name, const char* text) {
  NoliContext* context = test_context(1);
  char path[32];
  NoliScene *scene = NULL, *written = NULL;
  NoliSim *sim = NULL, *want = NULL, *got = NULL;
  NoliDesign* design = NULL;
  double z[MOST], value[256];
  snprintf(path, sizeof path, "written_%s.json", name);
  NoliStatus status = parse_quoted(context, text, &scene);
  if (status == NOLI_OK) {
    ASSERT_OK(noli_sim_create(context, noli_scene_sim_def(scene), &sim));
    status = noli_design_create(sim, noli_scene_design(scene), &design);
  }
  if (status != NOLI_OK) {
    print_error("%s: %s\n", name, noli_context_message(context));
  }
  ASSERT_OK(status);
  noli_design_range(design, z, NULL, NULL);
  noli_design_values(design, z, value);
  ASSERT_OK(noli_parameters_apply(noli_design_parameters(design), value, context, &want));
  status = noli_output_write_design(context, scene, design, z, path);
  if (status == NOLI_OK) {
    status = noli_scene_load(context, path, NULL, 0, &written);
  }
  if (status != NOLI_OK) {
    print_error("%s: %s\n", name, noli_context_message(context));
  }
  ASSERT_OK(status);
  ASSERT_OK(noli_sim_create(context, noli_scene_sim_def(written), &got));
  ASSERT_AT_MOST(apart_after(want, got, 6), 1e-12);
  for (int32_t step = 0; step < 6; step++) {
    ASSERT_OK(noli_sim_step(sim, NULL));
  }
  double moved = 0.0;
  for (int32_t i = 0; i < 3 * noli_sim_node_count(sim); i++) {
    moved = noli_larger(moved, fabs(noli_sim_positions(sim)[i] - noli_sim_positions(got)[i]));
  }
  print_message("%s: another run by %.1e m\n", name, moved);
  assert_true(moved > 1e-9);
  noli_design_destroy(&design);
  noli_sim_destroy(&sim);
  noli_sim_destroy(&want);
  noli_sim_destroy(&got);
  noli_scene_destroy(&scene);
  noli_scene_destroy(&written);
  test_context_done(&context);
}

static void written_scenes_run_as_searched(void** state) {
  (void)state;
  static const char* const variables[] = {
      "{'parameter': 'motion', 'of': 'drive', 'lower': 0.5, 'upper': 2, 'start': 1.3}",
      "{'parameter': 'motion_velocity', 'of': 'drive', 'lower': -1, 'upper': 1, 'start': 0.2}",
      "{'parameter': 'motion_spin', 'of': 'drive', 'lower': -3, 'upper': 3, 'start': 1}",
      "{'parameter': 'volume_pressure', 'of': 'cube', 'lower': 0, 'upper': 1e3, 'start': 300}",
      "{'parameter': 'volume_compression', 'of': 'cube', 'lower': 1e-6, 'upper': 1e-4, 'start': "
      "2e-5}",
      "{'parameter': 'contact_distance', 'lower': 1e-4, 'upper': 1e-2, 'start': 3e-3}",
      "{'parameter': 'contact_stiffness', 'lower': 1e7, 'upper': 1e9, 'start': 2e8}",
      "{'parameter': 'stick_length', 'lower': 1e-6, 'upper': 1e-2, 'start': 1e-3}",
      "{'parameter': 'contact_offset', 'of': 'cube', 'lower': 0, 'upper': 0.0025, 'start': 1e-3}",
      "{'parameter': 'contact_offset', 'of': 'floor', 'lower': 0, 'upper': 1e-3, 'start': 5e-4}",
      "{'parameter': 'yield', 'of': 'cube', 'lower': 100, 'upper': 1e3, 'start': 250}",
      "{'parameter': 'hardening', 'of': 'cube', 'lower': 0, 'upper': 1e4, 'start': 5e3}",
      "{'parameter': 'saturation', 'of': 'cube', 'lower': 1, 'upper': 1e3, 'start': 600}",
      "{'parameter': 'saturation_rate', 'of': 'cube', 'lower': 1, 'upper': 100, 'start': 60}",
      "{'parameter': 'young', 'of': 'cube', 'lower': 1e4, 'upper': 1e6, 'start': 2e5}",
      "{'parameter': 'poisson', 'of': 'cube', 'part': 0, 'lower': 0.1, 'upper': 0.45, 'start': "
      "0.2}",
      "{'parameter': 'density', 'of': 'cube', 'scope': 'elements', 'control': 'uniform', 'select': "
      "{'box': {'min': [-0.5, 0, -0.5], 'max': [0.5, 0.6, 0.5]}}, 'lower': 100, 'upper': 5000, "
      "'start': 3000}",
      "{'parameter': 'young', 'of': 'cube', 'scope': 'elements', 'control': 'uniform', 'lower': "
      "1e4, "
      "'upper': 1e6, 'start': 3e5}",
      // two regions of one body, one of them with a part
      "{'parameter': 'density', 'of': 'cube', 'scope': 'elements', 'control': 'uniform', 'select': "
      "{'box': {'min': [-0.5, 0, -0.5], 'max': [0, 1.01, 0.5]}}, 'lower': 100, 'upper': 5000, "
      "'start': 3000}, {'parameter': 'density', 'of': 'cube', 'scope': 'elements', 'control': "
      "'uniform', 'select': {'box': {'min': [0.01, 0, -0.5], 'max': [0.5, 1.01, 0.5]}}, 'lower': "
      "100, 'upper': 5000, 'start': 500}",
      // relative lengths keep their values where the scene grows
      "{'parameter': 'rest_position', 'of': 'cube', 'control': 'cage', 'cage': [2, 1, 1], 'lower': "
      "[-0.2, 0, 0], 'upper': [0.2, 0, 0], 'start': [0.15, 0, 0]}",
  };
  for (size_t k = 0; k < sizeof variables / sizeof *variables; k++) {
    char text[SCENE_TEXT], name[16];
    snprintf(text, sizeof text, driven, variables[k]);
    snprintf(name, sizeof name, "%d", (int)k);
    expect_written_run(name, text);
  }
}

static const char* const landing =
    "{'time': {'step': 0.01, 'duration': 0.06}, 'contact': {'stiffness': 1e8}, 'friction': "
    "{'coefficient': 0.3}, 'bodies': [{'name': 'cube', 'mesh': {'box': {'size': [1, 1, 1], "
    "'cells': [2, 1, 1]}}, 'translate': [0, 0.55, 0], 'order': %d, 'velocity': [0.5, -1, 0], "
    "'proxy': {%s}, 'material': {'young': 1e5}}], 'half_spaces': [{'name': 'floor'}], 'design': "
    "{'variables': [{'parameter': 'rest_position', 'of': 'cube', 'control': 'uniform', 'select': "
    "{'vertices': [8, 9, 10, 11]}, 'lower': [-0.9, 0, 0], 'upper': [0.9, 0.1, 0], 'start': [0.8, "
    "0.05, 0]}], "
    "'objective': [{'quantity': 'displacement', 'body': 'cube', 'component': 'x'}]}}";

// Shapes so much longer that a proxy for them alone would have other weights.
static void written_proxies_keep_their_weights(void** state) {
  (void)state;
  static const struct {
    const char *name, *proxy;
    int order;
  } proxies[] = {{"carried", "'mesh': 'hull.vtk'", 1},
                 {"carried_2", "'mesh': 'hull.vtk'", 2},
                 {"sized", "'edge_length': 0.5", 1},
                 {"sized_2", "'edge_length': 0.5", 2}};
  NoliContext* context = test_context(1);
  NoliMesh* hull = NULL;
  ASSERT_OK(noli_mesh_make_box(context, (double[]){1.04, 1.04, 1.04}, (int32_t[]){3, 3, 3}, false,
                               &hull));
  ASSERT_OK(noli_mesh_write(context, "hull.vtk", hull));
  noli_mesh_destroy(context, &hull);
  test_context_done(&context);
  for (size_t k = 0; k < sizeof proxies / sizeof *proxies; k++) {
    char text[SCENE_TEXT];
    snprintf(text, sizeof text, landing, proxies[k].order, proxies[k].proxy);
    expect_written_run(proxies[k].name, text);
  }
}

// ---- sets of elements ---------------------------------------------------------------------------

// The left half of a box of 2 x 1 x 1 m.
static void goals_are_of_elements(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  NoliScene* scene = NULL;
  NoliSim* sim = NULL;
  NoliDesign* design = NULL;
  double z[3], value = 0.0;
  ASSERT_OK(parse_quoted(
      context,
      "{'time': {'step': 0.01, 'duration': 0.01}, 'bodies': [{'name': 'bar', 'mesh': {'box': "
      "{'size': [2, 1, 1], 'cells': [4, 1, 1]}}}], 'design': {'variables': [{'parameter': "
      "'initial_velocity', 'of': 'bar', 'lower': -1, 'upper': 1}], 'objective': [{'quantity': "
      "'volume', 'body': 'bar', 'form': 'value', 'elements': {'half_space': {'origin': [0, 0, 0], "
      "'normal': [-1, 0, 0]}}}]}}",
      &scene));
  ASSERT_OK(noli_sim_create(context, noli_scene_sim_def(scene), &sim));
  ASSERT_OK(noli_design_create(sim, noli_scene_design(scene), &design));
  noli_design_range(design, z, NULL, NULL);
  ASSERT_OK(noli_design_evaluate(design, z, &value, NULL));
  ASSERT_NEAR(value, 1.0, 1e-6);
  noli_design_destroy(&design);
  noli_sim_destroy(&sim);
  noli_scene_destroy(&scene);
  test_context_done(&context);
}

// ---- errors -------------------------------------------------------------------------------------

static const char* const head =
    "{'time': {'step': 0.01, 'duration': 0.1}, 'bodies': [{'name': 'cube', 'mesh': {'box': "
    "{'cells': [1, 1, 1]}}}, {'name': 'row', 'mesh': {'box': {'cells': [1, 1, 1]}}, 'translate': "
    "[3, 0, 0], 'copies': {'count': 2, 'translate': [3, 0, 0]}}], 'design': {";

static void expect_error(NoliContext* context, const char* block, const char* message) {
  char text[SCENE_TEXT];
  NoliScene* scene = NULL;
  NoliSim* sim = NULL;
  NoliDesign* design = NULL;
  snprintf(text, sizeof text, "%s%s}}", head, block);
  NoliStatus status = parse_quoted(context, text, &scene);
  if (status == NOLI_OK) {
    ASSERT_OK(noli_sim_create(context, noli_scene_sim_def(scene), &sim));
    status = noli_design_create(sim, noli_scene_design(scene), &design);
  }
  assert_true(status < 0);
  if (strstr(noli_context_message(context), message) == NULL) {
    print_error("got: %s\nwant: %s\n", noli_context_message(context), message);
    fail();
  }
  assert_null(design);
  noli_sim_destroy(&sim);
  noli_scene_destroy(&scene);
}

static void errors_of_goals(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
#define VELOCITY                                                                                   \
  "'variables': [{'parameter': 'initial_velocity', 'of': 'cube', 'lower': -1, 'upper': 1}], "
#define GOAL "'quantity': 'centre', 'body': 'cube'"
  expect_error(context, "'objective': []", "design: \"variables\" is missing");
  expect_error(context, VELOCITY "'objective': [{'quantity': 'centre', 'body': 'cub'}]",
               "design.objective[0].body: there is no \"cub\"; did you mean \"cube\"?");
  expect_error(context, VELOCITY "'objective': [{'quantity': 'centre', 'body': 'row'}]",
               "design.objective[0].body: means 2 bodies; name one of them, such as \"row[0]\"");
  expect_error(context, VELOCITY "'objective': [{" GOAL ", 'at': 0.2}]",
               "design.objective[0].at: is not in the run, which ends at 0.1 s");
  expect_error(context, VELOCITY "'objective': [{" GOAL ", 'over': [0.3, 0.5]}]",
               "design.objective[0].over: is no interval of the run");
  expect_error(context,
               VELOCITY "'objective': [{'quantity': 'von_mises', 'body': 'cube', 'select': "
                        "{'side': '+x'}, 'form': 'value'}]",
               "design.objective[0]: \"von_mises\" is of elements, not of vertices");
  expect_error(context, VELOCITY "'objective': [{" GOAL ", 'elements': {'elements': [0]}}]",
               "design.objective[0]: \"centre\" is of vertices, not of elements");
  expect_error(context,
               VELOCITY "'objective': [{'quantity': 'volume', 'body': 'cube', 'elements': "
                        "{'elements': [7]}}]",
               "design.objective[0].elements.elements");
  expect_error(context, VELOCITY "'objective': [{" GOAL ", 'form': 'above'}]",
               "design.objective[0]: the form \"above\" needs one \"component\" of \"centre\"");
  expect_error(context,
               VELOCITY "'objective': [{" GOAL ", 'component': 'x', 'name': 'a'}, {" GOAL
                        ", 'name': 'b', 'form': "
                        "'above'}], 'expression': 'a + b'",
               "design.objective[1]: the form \"above\" needs one \"component\" of \"centre\"");
  test_context_done(&context);
}

static void errors_of_problems(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  expect_error(context,
               "'variables': [{'parameter': 'friction', 'lower': 0, 'upper': 1}, {'parameter': "
               "'yield', 'of': 'cube', 'lower': 1, 'upper': 2}], 'objective': [{" GOAL "}]",
               "design.variables[1]: \"yield\": body \"cube\" does not yield");
  expect_error(context,
               VELOCITY "'objective': [{" GOAL "}], 'constraints': [{'goals': [{" GOAL "}]}]",
               "design.constraints[0]: needs a bound, \"at_most\" or \"at_least\"");
  expect_error(context,
               VELOCITY "'objective': [{" GOAL "}], 'method': 'l_bfgs', 'constraints': "
                        "[{'goals': [{" GOAL ", 'component': 'y'}], 'at_most': 1}]",
               "the method \"l_bfgs\" has no constraints");
  expect_error(context, VELOCITY "'objective': [{" GOAL "}], 'expression': 'a'",
               "design.objective[0]: needs a \"name\"");
  expect_error(context,
               VELOCITY "'objective': [{" GOAL ", 'name': 'a'}, {" GOAL ", 'name': 'a'}], "
                        "'expression': 'a'",
               "design.objective[1].name: \"a\" is the name of another goal");
  expect_error(context, VELOCITY "'objective': [{" GOAL ", 'name': 'a b'}], 'expression': '1'",
               "\"a b\" cannot be a variable");
  expect_error(context, VELOCITY "'objective': [{" GOAL ", 'name': 'a'}], 'expression': 'a + t'",
               "variables are the names of its goals");
  expect_error(context, VELOCITY "'expression': '1'", "has no goals to combine");
  // a constraint bounds values, the objective squares
  expect_error(context,
               VELOCITY "'objective': [{" GOAL "}], 'constraints': "
                        "[{'goals': [{" GOAL "}], 'at_most': 1}]",
               "design.constraints[0].goals[0]: the form \"value\" needs one \"component\" of "
               "\"centre\"");
  expect_error(context, VELOCITY "'constraints': []",
               "objective: has neither goals nor a function");
  expect_error(context,
               "'variables': [{'parameter': 'initial_velocity', 'of': 'cube', 'lower': 1, 'upper': "
               "2}], 'objective': [{" GOAL "}]",
               "initial_velocity cube: its start, 0, is not between the bounds, 1 and 2");
  expect_error(context,
               "'variables': [{'parameter': 'initial_velocity', 'of': 'cube', 'lower': 0, 'upper': "
               "0}], 'objective': [{" GOAL "}]",
               "the design has no variables: all bounds are equal");
  expect_error(context,
               "'variables': [{'parameter': 'rest_position', 'of': 'cube', 'cage': [2, 2, 2], "
               "'lower': 0, 'upper': 1}], 'objective': [{" GOAL "}]",
               "design.variables[0].cage: needs the control \"cage\", this one is \"each\"");
  test_context_done(&context);
}

// Bounds that no simulation can have are refused before the first run.
static void expect_bound(int32_t n_change, const char* const (*change)[2], const char* words) {
  Run run = start("examples/design/friction.json", n_change, change);
  NoliDesign* design = NULL;
  NoliStatus status = noli_design_create(run.sim, noli_scene_design(run.scene), &design);
  const char* message = noli_context_message(run.context);
  if (strstr(message, words) == NULL) {
    print_message("%d: %s\n", (int)status, message);
  }
  ASSERT_STATUS(status, NOLI_ERROR_ARGUMENT);
  assert_non_null(strstr(message, words));
  assert_null(design);
  finish(&run);
}

static void test_bounds(void** state) {
  (void)state;
  static const char* const sticks[][2] = {{"pairs[0].static_friction", "0.5"},
                                          {"pairs[0].stribeck_speed", "0.1"}};
  static const char* const negative[][2] = {{"design.variables[0].lower", "-0.1"}};
  static const char* const allowed[][2] = {{"pairs[0].static_friction", "0.5"},
                                           {"pairs[0].stribeck_speed", "0.1"},
                                           {"design.variables[0].upper", "0.5"}};
  expect_bound(2, sticks, "friction block floor: its upper bound, 1, is not possible: ");
  expect_bound(2, sticks, "static");
  expect_bound(1, negative, "friction block floor: its lower bound, -0.1, is not possible: ");
  Problem p = changed_problem("examples/design/friction.json", 3, allowed);
  drop(&p);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(written_scenes_run_as_searched),
      cmocka_unit_test(written_proxies_keep_their_weights),
      cmocka_unit_test(formulas_have_derivatives),
      cmocka_unit_test(test_friction),
      cmocka_unit_test(test_young),
      cmocka_unit_test(test_throw),
      cmocka_unit_test(test_absorber),
      cmocka_unit_test(test_finger),
      cmocka_unit_test(test_expression),
      cmocka_unit_test(test_order_two),
      cmocka_unit_test(test_plier),
      cmocka_unit_test(test_remember),
      cmocka_unit_test(test_written_friction),
      cmocka_unit_test(goals_are_of_elements),
      cmocka_unit_test(errors_of_goals),
      cmocka_unit_test(errors_of_problems),
      cmocka_unit_test(test_bounds),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
