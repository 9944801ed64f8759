// Derivatives of runs of which goals are the objective, by what the goals themselves depend on,
// too.
#include "gradient_runs.h"

static void set_body(World* world, int32_t body, int32_t order) {
  world->body[body].material.young = 2e4;
  world->body[body].material.poisson = 0.3;
  world->body[body].material.density = 900;
  world->body[body].order = order;
  hold_left(world, body, 4);
}

static void linear_beam(World* world) {
  set_body(world, add_plain_box(world, 1.0), 1);
}

static void cubic_beam(World* world) {
  set_body(world, add_plain_box(world, 1.0), 3);
}

// A ball of curved tetrahedra of order 2, held at four vertices.
static void curved_ball(World* world) {
  NoliMesh* mesh = NULL;
  ASSERT_OK(noli_mesh_make_curved_sphere(world->context, 0.06, 1, 2, &mesh));
  set_body(world, world_add(world, mesh, (double[]){0.01, 1.0, 0.02}), 2);
}

typedef void BuildFn(World* world);
static BuildFn* const builders[] = {linear_beam, cubic_beam, curved_ball};
static const char* const names[] = {"order 1", "order 3", "curved"};

typedef struct GoalCase {
  const char *quantity, *component, *reduction;
  bool some; // of some vertices or elements only
} GoalCase;

static const int32_t some_vertices[] = {1, 4, 5, 7}, some_elements[] = {0, 3, 4};
static const int32_t beyond = 77, below = -1;

static void compare_goal(int b, const GoalCase* of, const char* parameter, NoliParameterDef def,
                         double step) {
  char name[96];
  snprintf(name, sizeof name, "%s, %s%s by %s", names[b], of->quantity, of->some ? " of some" : "",
           parameter);
  const GradientCase c = {name, builders[b], NULL, 0.01, 3, def, step, 1e-6};
  NoliGoalDef goal = noli_default_goal_def();
  goal.quantity = of->quantity;
  goal.of = "body0";
  goal.component = of->component;
  goal.reduction = of->reduction;
  goal.form = "value";
  bool elements = strcmp(of->quantity, "volume") == 0 ||
                  strcmp(of->quantity, "elastic_energy") == 0 ||
                  strcmp(of->quantity, "von_mises") == 0;
  if (of->some && elements) {
    goal.element = some_elements;
    goal.n_element = 3;
  } else if (of->some) {
    goal.node = some_vertices;
    goal.n_node = 4;
  }
  compare_case(&c, &goal);
}

static void goals_of_masses(void** state) {
  (void)state;
  static const GoalCase goals[] = {
      {"centre", "y", NULL, false},          {"centre", "y", NULL, true},
      {"kinetic_energy", NULL, NULL, false}, {"kinetic_energy", NULL, NULL, true},
      {"gravity_energy", NULL, NULL, false}, {"gravity_energy", NULL, NULL, true},
  };
  for (int b = 0; b < 3; b++) {
    for (size_t g = 0; g < sizeof goals / sizeof *goals; g++) {
      compare_goal(b, &goals[g], "densities", (NoliParameterDef)ELEMENTS("density", "body0"), 0.3);
      compare_goal(b, &goals[g], "shape", (NoliParameterDef)SHAPE("body0"), 1e-6);
      compare_goal(b, &goals[g], "gravity", (NoliParameterDef){.kind = "gravity"}, 1e-3);
    }
  }
}

static void goals_of_elements(void** state) {
  (void)state;
  static const GoalCase goals[] = {
      {"volume", NULL, NULL, false},         {"volume", NULL, NULL, true},
      {"elastic_energy", NULL, NULL, false}, {"elastic_energy", NULL, NULL, true},
      {"von_mises", NULL, "norm", false},    {"von_mises", NULL, "mean", true},
  };
  for (int b = 0; b < 3; b++) {
    for (size_t g = 0; g < sizeof goals / sizeof *goals; g++) {
      compare_goal(b, &goals[g], "moduli", (NoliParameterDef)ELEMENTS("young", "body0"), 5.0);
      compare_goal(b, &goals[g], "shape", (NoliParameterDef)SHAPE("body0"), 1e-6);
    }
  }
}

// ---- values -------------------------------------------------------------------------------------

static double value_of(World* world, const GoalCase* of, const int32_t* element, int32_t n) {
  NoliGoalDef goal = noli_default_goal_def();
  goal.quantity = of->quantity;
  goal.of = "body0";
  goal.component = of->component;
  goal.form = "value";
  goal.element = element;
  goal.n_element = n;
  return goal_value(world, &goal);
}

// A body of order `b` at rest, turned, blown up by a tenth and thrown.
static World thrown(int b, double size) {
  World world = world_new(1);
  builders[b](&world);
  world.def.n_motions = 0;
  world_start(&world);
  int32_t n = noli_sim_node_count(world.sim);
  double* x = malloc(sizeof *x * 3 * (size_t)n);
  double* v = malloc(sizeof *v * 3 * (size_t)n);
  const double* X = noli_sim_rest_positions(world.sim);
  for (int32_t i = 0; i < n; i++) {
    x[3 * i] = -size * X[3 * i + 1];
    x[3 * i + 1] = size * X[3 * i];
    x[3 * i + 2] = size * X[3 * i + 2];
    memcpy(v + 3 * i, (double[]){3.0, 0.0, 4.0}, 3 * sizeof *v);
  }
  ASSERT_OK(noli_sim_set_state(world.sim, x, v));
  free(x);
  free(v);
  return world;
}

// Volume, and energies of masses, of bodies of any order are those of their shape: mass times
// |v|^2 / 2 = 12.5, and a box of 0.2 x 0.1 x 0.12.
static void values_of_all_orders(void** state) {
  (void)state;
  static const GoalCase volume = {"volume", NULL, NULL, false},
                        kinetic = {"kinetic_energy", NULL, NULL, false},
                        weight = {"gravity_energy", NULL, NULL, false},
                        centre = {"centre", "y", NULL, false};
  for (int b = 0; b < 3; b++) {
    World world = thrown(b, 1.1);
    double rest, sum = 0.0;
    NoliBodyState state_of_body;
    ASSERT_OK(noli_sim_body_state(world.sim, 0, &state_of_body));
    rest = state_of_body.mass / 900.0;
    if (b < 2) {
      ASSERT_NEAR(rest, 0.2 * 0.1 * 0.12, 1e-15);
    }
    ASSERT_NEAR(value_of(&world, &volume, NULL, 0) / (1.331 * rest), 1.0, 1e-12);
    ASSERT_NEAR(value_of(&world, &kinetic, NULL, 0) / (12.5 * 900.0 * rest), 1.0, 1e-12);
    double y = value_of(&world, &centre, NULL, 0);
    ASSERT_NEAR(value_of(&world, &weight, NULL, 0) / (900.0 * rest * 9.80665 * y), 1.0, 1e-12);
    for (int32_t e = 0; e < noli_sim_tet_count(world.sim); e++) {
      double one = value_of(&world, &volume, &e, 1);
      assert_true(one > 0.0);
      sum += one;
    }
    ASSERT_NEAR(sum / (1.331 * rest), 1.0, 1e-12);
    world_done(&world);
  }
}

// ---- what does not fit --------------------------------------------------------------------------

static void sets_that_do_not_fit(void** state) {
  (void)state;
  World world = world_new(1);
  linear_beam(&world);
  world_start(&world);
  static const struct {
    const char *quantity, *words;
    const int32_t *node, *element;
    int32_t n;
  } cases[] = {
      {"von_mises", "is of elements, not of vertices", some_vertices, NULL, 4},
      {"position", "is of vertices, not of elements", NULL, some_elements, 3},
      {"volume", "has no element 77", NULL, &beyond, 1},
      {"volume", "has no element -1", NULL, &below, 1},
      {"volume", "no elements of body \"body0\" are selected", NULL, some_elements, 0},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    NoliGoals* goals = NULL;
    NoliGoalDef goal = noli_default_goal_def();
    goal.quantity = cases[i].quantity;
    goal.of = "body0";
    goal.node = cases[i].node;
    goal.n_node = cases[i].node != NULL ? cases[i].n : 0;
    goal.element = cases[i].element;
    goal.n_element = cases[i].element != NULL ? cases[i].n : 0;
    ASSERT_STATUS(noli_goals_create(world.sim, NULL, &goal, 1, &goals), NOLI_ERROR_ARGUMENT);
    assert_non_null(strstr(noli_context_message(world.context), cases[i].words));
  }
  world_done(&world);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(goals_of_masses),
      cmocka_unit_test(goals_of_elements),
      cmocka_unit_test(values_of_all_orders),
      cmocka_unit_test(sets_that_do_not_fit),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
