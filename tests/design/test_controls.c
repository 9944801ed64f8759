// Controls: fields between control points, held points, and the map back as a transpose.
#include "design/controls.h"
#include "noli/noli.h"
#include "support.h"

#include <math.h>
#include <string.h>

enum { MOST = 128 };

typedef struct Fixture {
  NoliContext* context;
  NoliMesh* mesh;
  NoliSim* sim;
  NoliParameters* parameters;
  NoliVariables variables;
  int64_t n; // values
} Fixture;

static NoliVariableDef rest_variable(const char* control) {
  NoliVariableDef def = noli_default_variable_def();
  def.parameter.kind = "rest_position";
  def.parameter.of = "box";
  def.parameter.scope = "vertices";
  def.control = control;
  for (int k = 0; k < 3; k++) {
    def.lower[k] = -1.0;
    def.upper[k] = 1.0;
  }
  return def;
}

static Fixture make(const NoliVariableDef* def) {
  Fixture f = {.context = test_context(1)};
  NoliBodyDef body = noli_default_body_def();
  NoliSimDef sim = noli_default_sim_def();
  ASSERT_OK(noli_mesh_make_box(f.context, (double[]){1.0, 2.0, 1.5}, (int32_t[]){2, 2, 1}, false,
                               &f.mesh));
  body.name = "box";
  body.mesh = f.mesh;
  sim.bodies = &body;
  sim.n_bodies = 1;
  ASSERT_OK(noli_sim_create(f.context, &sim, &f.sim));
  ASSERT_OK(noli_parameters_create(f.sim, &def->parameter, 1, &f.parameters));
  ASSERT_OK(noli_variables_create(f.sim, f.parameters, def, 1, &f.variables));
  f.n = noli_parameters_count(f.parameters);
  assert_in_range(f.n, 1, MOST);
  assert_in_range(f.variables.n, 1, MOST);
  return f;
}

static void drop(Fixture* f) {
  noli_variables_free(&f->variables);
  noli_parameters_destroy(&f->parameters);
  noli_sim_destroy(&f->sim);
  noli_mesh_destroy(f->context, &f->mesh);
  test_context_done(&f->context);
}

// y . values(z) = pull(y) . z for random y, z: the values are linear in the variables here.
static void check_transpose(const Fixture* f) {
  double z[MOST], y[MOST], value[MOST], pulled[MOST] = {0.0}, a = 0.0, b = 0.0;
  TestRandom random = {5};
  for (int i = 0; i < MOST; i++) {
    z[i] = test_random(&random, -1.0, 1.0);
    y[i] = test_random(&random, -1.0, 1.0);
  }
  noli_variables_values(&f->variables, z, value);
  noli_variables_adjoint(&f->variables, y, pulled);
  for (int64_t i = 0; i < f->n; i++) {
    a += y[i] * value[i];
  }
  for (int32_t i = 0; i < f->variables.n; i++) {
    b += pulled[i] * z[i];
  }
  assert_true(fabs(a) > 1e-3);
  ASSERT_NEAR(a, b, 1e-12);
}

// All control points moved alike move all vertices alike.
static void check_translation(const Fixture* f) {
  double z[MOST], value[MOST];
  for (int32_t i = 0; i < f->variables.n; i++) {
    z[i] = 0.1 * (i % 3 + 1);
  }
  noli_variables_values(&f->variables, z, value);
  for (int64_t i = 0; i < f->n; i++) {
    ASSERT_NEAR(value[i], 0.1 * (double)(i % 3 + 1), 1e-12);
  }
}

static void test_cage(void** state) {
  (void)state;
  NoliVariableDef def = rest_variable("cage");
  def.cage[0] = 3;
  def.cage[1] = 2;
  def.cage[2] = 1;
  Fixture f = make(&def);
  assert_int_equal(f.variables.n, 18);
  check_translation(&f);
  check_transpose(&f);
  // a corner of the box moves with the control point there alone
  double z[MOST] = {0.0}, value[MOST];
  z[0] = 0.5;
  noli_variables_values(&f.variables, z, value);
  for (int64_t i = 0; i < f.n / 3; i++) {
    const double* X = noli_sim_rest_positions(f.sim) + 3 * i;
    double s = X[0] + 0.5, t = (X[1] + 1.0) / 2.0;
    ASSERT_NEAR(value[3 * i], 0.5 * (1.0 - s) * (1.0 - s) * (1.0 - t), 1e-12);
  }
  drop(&f);
}

static void test_hold(void** state) {
  (void)state;
  NoliVariableDef def = rest_variable("cage");
  def.cage[2] = 1;
  def.hold_min = (double[]){0.0, 0.0, 0.0};
  def.hold_max = (double[]){1.0, 0.1, 1.0};
  def.lower[2] = def.upper[2] = 0.0;
  Fixture f = make(&def);
  // two of four control points, x and y
  assert_int_equal(f.variables.n, 4);
  double z[MOST], value[MOST];
  for (int i = 0; i < 4; i++) {
    z[i] = 0.3;
  }
  noli_variables_values(&f.variables, z, value);
  for (int64_t i = 0; i < f.n; i++) {
    double t = (noli_sim_rest_positions(f.sim)[i / 3 * 3 + 1] + 1.0) / 2.0;
    ASSERT_NEAR(value[i], i % 3 == 2 ? 0.0 : 0.3 * t, 1e-12);
  }
  drop(&f);
}

// The field takes the displacement of each point at the place of the point.
static void test_points(void** state) {
  (void)state;
  static const double points[15] = {-0.5,  -1,   -0.75, 0.5,  -1,  0.75, 0,    0,
                                    -0.75, -0.5, 1,     0.75, 0.5, 1,    -0.75};
  NoliVariableDef def = rest_variable("points");
  def.point = points;
  def.n_point = 5;
  Fixture f = make(&def);
  assert_int_equal(f.variables.n, 15);
  check_translation(&f);
  check_transpose(&f);
  double z[MOST] = {0.0}, value[MOST];
  int n_found = 0;
  z[3] = 1.0;
  noli_variables_values(&f.variables, z, value);
  for (int64_t i = 0; i < f.n / 3; i++) {
    const double* X = noli_sim_rest_positions(f.sim) + 3 * i;
    for (int k = 0; k < 5; k++) {
      if (hypot(hypot(X[0] - points[3 * k], X[1] - points[3 * k + 1]), X[2] - points[3 * k + 2]) <
          1e-12) {
        ASSERT_NEAR(value[3 * i], k == 1 ? 1.0 : 0.0, 1e-10);
        n_found++;
      }
    }
  }
  assert_int_equal(n_found, 5);
  drop(&f);
}

// Scaled variables and their derivatives.
static void test_scale(void** state) {
  (void)state;
  NoliVariableDef def = noli_default_variable_def();
  def.parameter.kind = "young";
  def.parameter.of = "box";
  def.lower[0] = 1e3;
  def.upper[0] = 1e7;
  def.logarithmic = true;
  Fixture f = make(&def);
  double y = 0.3, z, plus, minus, back, slope = 1.0, h = 1e-6;
  noli_variables_scale(&f.variables, &y, &z);
  ASSERT_NEAR(z, 1e3 * pow(1e4, 0.3), 1e-9 * z);
  noli_variables_unscale(&f.variables, &z, &back);
  ASSERT_NEAR(back, y, 1e-14);
  noli_variables_scale_derivatives(&f.variables, &z, &slope);
  noli_variables_scale(&f.variables, &(double){y + h}, &plus);
  noli_variables_scale(&f.variables, &(double){y - h}, &minus);
  ASSERT_NEAR((plus - minus) / (2.0 * h), slope, 1e-8 * slope);
  drop(&f);
}

// Every allocation of a design and of a run of it fails once: a status, and nothing leaks.
static void test_memory(void** state) {
  (void)state;
  TestMemory memory;
  NoliContext* context = test_context_on(&memory, 1);
  NoliMesh* mesh = NULL;
  NoliSim* sim = NULL;
  NoliBodyDef body = noli_default_body_def();
  NoliSimDef def = noli_default_sim_def();
  ASSERT_OK(
      noli_mesh_make_box(context, (double[]){1.0, 2.0, 1.5}, (int32_t[]){1, 1, 1}, false, &mesh));
  body.name = "box";
  body.mesh = mesh;
  def.bodies = &body;
  def.n_bodies = 1;
  ASSERT_OK(noli_sim_create(context, &def, &sim));

  NoliVariableDef variable = rest_variable("cage");
  variable.cage[1] = variable.cage[2] = 1;
  variable.lower[1] = variable.upper[1] = variable.lower[2] = variable.upper[2] = 0.0;
  NoliGoalDef goal = noli_default_goal_def();
  goal.quantity = "centre";
  goal.of = "box";
  goal.target = (double[]){0.1, 0.2, 0.3};
  goal.n_target = 3;
  NoliDesignDef design_def = noli_default_design_def();
  design_def.variables = &variable;
  design_def.n_variables = 1;
  design_def.objective.goals = &goal;
  design_def.objective.n_goals = 1;
  design_def.smoothness = 1.0;
  design_def.gradient.n_steps = 1;
  design_def.gradient.mode = "differences";
  design_def.max_evaluations = 1;
  NoliStatus status = NOLI_ERROR_MEMORY;
  int64_t k = 0, bytes = noli_context_bytes(context);
  for (k = 1; status == NOLI_ERROR_MEMORY; k++) {
    NoliDesign* design = NULL;
    double z[MOST];
    test_refuse(&memory, k < 5000 ? k : 0);
    status = noli_design_create(sim, &design_def, &design);
    if (status == NOLI_OK) {
      status = noli_design_search(design, NULL, NULL, z, NULL);
    }
    noli_design_destroy(&design);
    assert_int_equal(noli_context_bytes(context), bytes);
  }
  assert_int_equal(status, NOLI_OK);
  print_message("%d allocations\n", (int)k - 2);
  assert_true(k > 50);
  noli_sim_destroy(&sim);
  noli_mesh_destroy(context, &mesh);
  test_context_done(&context);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_cage),  cmocka_unit_test(test_hold),   cmocka_unit_test(test_points),
      cmocka_unit_test(test_scale), cmocka_unit_test(test_memory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
