// Goals: values against formulas, and derivatives by positions, velocities and inputs of the model
// against central differences.
#include "derive/goals/goals.h"
#include "noli/noli.h"
#include "support.h"

#include <math.h>
#include <string.h>

// A box of tetrahedra or a rectangle in plane strain, deformed and moving.
typedef struct Fixture {
  NoliContext* context;
  NoliMesh* mesh;
  NoliSim* sim;
  int32_t n; // vertices
  double* x;
  double* v;
} Fixture;

static Fixture make_of(bool plane, const NoliMaterialDef* material, int32_t order,
                       const double* fibre) {
  Fixture f = {.context = test_context(1)};
  NoliBodyDef body = noli_default_body_def();
  NoliSimDef def = noli_default_sim_def();
  if (plane) {
    ASSERT_OK(noli_mesh_make_rectangle(f.context, 1.0, 0.6, 3, 2, &f.mesh));
    body.plane_strain = 0.3;
  } else {
    ASSERT_OK(noli_mesh_make_box(f.context, (double[]){1.0, 0.8, 0.6}, (int32_t[]){2, 1, 1}, false,
                                 &f.mesh));
  }
  body.name = "body";
  body.material = *material;
  body.order = order;
  body.fields.fibre = fibre;
  body.mesh = f.mesh;
  def.bodies = &body;
  def.n_bodies = 1;
  ASSERT_OK(noli_sim_create(f.context, &def, &f.sim));
  f.n = noli_sim_node_count(f.sim);
  f.x = malloc(sizeof(double) * 3 * (size_t)f.n);
  f.v = malloc(sizeof(double) * 3 * (size_t)f.n);
  TestRandom random = {7};
  for (int32_t i = 0; i < 3 * f.n; i++) {
    bool out = plane && i % 3 == 2;
    f.x[i] = noli_sim_rest_positions(f.sim)[i] + (out ? 0.0 : test_random(&random, -0.06, 0.06));
    f.v[i] = out ? 0.0 : test_random(&random, -1.0, 1.0);
  }
  return f;
}

static Fixture make(bool plane, const char* law) {
  NoliMaterialDef material = noli_default_material_def();
  material.law = law;
  return make_of(plane, &material, 1, NULL);
}

static void drop(Fixture* f) {
  free(f->x);
  free(f->v);
  noli_sim_destroy(&f->sim);
  noli_mesh_destroy(f->context, &f->mesh);
  test_context_done(&f->context);
}

static double value_at(const Fixture* f, NoliGoals* goals, double* d_x, double* d_v) {
  NoliObjective objective = noli_goals_objective(goals);
  NoliObjectivePoint at = {
      .step = 1, .n_steps = 1, .time = 0.01, .x = f->x, .v = f->v, .d_x = d_x, .d_v = d_v};
  ASSERT_OK(objective.evaluate(objective.user, f->sim, &at));
  return at.value;
}

// The largest error of the derivative by the positions or velocities at `at`.
static void check_derivative(Fixture* f, NoliGoals* goals, double* at, const double* derivative,
                             double smallest, bool plane) {
  double error = 0.0, largest = 0.0;
  for (int32_t i = 0; i < 3 * f->n; i++) {
    double keep = at[i], h = 1e-5;
    if (plane && i % 3 == 2) {
      continue;
    }
    at[i] = keep + h;
    double plus = value_at(f, goals, NULL, NULL);
    at[i] = keep - h;
    double minus = value_at(f, goals, NULL, NULL);
    at[i] = keep;
    error = noli_larger(error, fabs((plus - minus) / (2.0 * h) - derivative[i]));
    largest = noli_larger(largest, fabs(derivative[i]));
  }
  assert_true(largest > smallest);
  ASSERT_AT_MOST(error, 2e-7 * largest + 1e-12);
}

typedef struct Case {
  const char *quantity, *component, *reduction, *form;
  double target;
  bool by_v;
} Case;

static const Case cases[] = {
    {"position", NULL, "mean", "square", 0.3, false},
    {"position", "y", "sum", "value", 0.1, false},
    {"position", NULL, "each", "square", 0.2, false},
    {"displacement", "magnitude", "mean", "above", 0.0, false},
    {"displacement", NULL, "norm", "value", 0.0, false},
    {"displacement", "x", "norm", "square", 0.01, false},
    {"velocity", NULL, "mean", "square", 0.5, true},
    {"velocity", "magnitude", "each", "below", 2.0, true},
    {"centre", NULL, NULL, "square", 0.2, false},
    {"volume", NULL, NULL, "square", 0.1, false},
    {"kinetic_energy", NULL, NULL, "value", 0.0, true},
    {"gravity_energy", NULL, NULL, "value", 0.0, false},
    {"elastic_energy", NULL, NULL, "value", 0.0, false},
    {"von_mises", NULL, "norm", "value", 0.0, false},
    {"von_mises", NULL, "mean", "above", 1000.0, false},
    {"von_mises", NULL, "each", "square", 1000.0, false},
};
enum { N_CASES = sizeof cases / sizeof *cases };

static NoliGoals* goals_of(const Fixture* f, const Case* test, const double target[3]) {
  NoliGoals* goals = NULL;
  NoliGoalDef def = noli_default_goal_def();
  const NoliGoalQuantity* quantity = noli_goal_quantity_find(test->quantity);
  bool vector = quantity->n_components == 3 && test->component == NULL &&
                (test->reduction == NULL || strcmp(test->reduction, "norm") != 0);
  def.quantity = test->quantity;
  def.of = "body";
  def.component = test->component;
  def.reduction = test->reduction;
  def.form = test->form;
  def.target = target;
  def.n_target = vector ? 3 : 1;
  def.weight = 1.7;
  ASSERT_OK(noli_goals_create(f->sim, NULL, &def, 1, &goals));
  return goals;
}

static void test_goal_derivatives(void** state) {
  (void)state;
  for (int plane = 0; plane < 2; plane++) {
    Fixture f = make(plane != 0, "neo_hookean");
    double* d_x = calloc(3 * (size_t)f.n, sizeof *d_x);
    double* d_v = calloc(3 * (size_t)f.n, sizeof *d_v);
    for (int i = 0; i < N_CASES; i++) {
      double target[3] = {cases[i].target, -cases[i].target, 0.0};
      NoliGoals* goals = goals_of(&f, &cases[i], target);
      memset(d_x, 0, sizeof *d_x * 3 * (size_t)f.n);
      memset(d_v, 0, sizeof *d_v * 3 * (size_t)f.n);
      (void)value_at(&f, goals, d_x, d_v);
      check_derivative(&f, goals, cases[i].by_v ? f.v : f.x, cases[i].by_v ? d_v : d_x, 1e-6,
                       plane != 0);
      noli_goals_destroy(&goals);
    }
    free(d_x);
    free(d_v);
    drop(&f);
  }
}

// ---- inputs -------------------------------------------------------------------------------------

// Sets an input of the model by one number, as a parameter would.
static void set_input(Fixture* f, NoliInput input, int64_t i, double value) {
  NoliProblem* problem = &f->sim->own_model->problem;
  NoliBlock* block = &problem->block[0];
  switch (input) {
  case NOLI_INPUT_MU:
    block->lame_mu[i] = value;
    break;
  case NOLI_INPUT_LAMBDA:
    block->lame_lambda[i] = value;
    break;
  case NOLI_INPUT_MASS:
    problem->inertia.mass[i] = problem->inertia.weight[i] = value;
    break;
  default:
    problem->X[i] = value;
    ASSERT_OK(block->type->set_rest(block, 0, block->n_element, 0, problem->X,
                                    f->sim->definition.def->bodies[0].plane_strain));
  }
}

static double get_input(const Fixture* f, NoliInput input, int64_t i) {
  const NoliProblem* problem = &f->sim->model->problem;
  return input == NOLI_INPUT_MU       ? problem->block[0].lame_mu[i]
         : input == NOLI_INPUT_LAMBDA ? problem->block[0].lame_lambda[i]
         : input == NOLI_INPUT_MASS   ? problem->inertia.mass[i]
                                      : problem->X[i];
}

// The sum of values times fixed weights, of items with their weights.
static double weighted(const Fixture* f, const NoliGoalQuantity* quantity, const double* by_value,
                       const double* by_weight) {
  int32_t vertex[64];
  NoliGoalPlace place = {.sim = f->sim,
                         .other = NOLI_NULL_INDEX,
                         .vertex = vertex,
                         .n_vertex = f->n,
                         .x = f->x,
                         .v = f->v};
  for (int32_t i = 0; i < f->n; i++) {
    vertex[i] = i;
  }
  double value[256], weight[256], sum = 0.0;
  ASSERT_OK(quantity->values(&place, value));
  noli_goal_item_weights(quantity, &place, weight);
  int32_t n = noli_goal_item_count(quantity, &place);
  for (int32_t i = 0; i < n * quantity->n_components; i++) {
    sum += by_value[i] * value[i];
  }
  for (int32_t i = 0; i < n; i++) {
    sum += by_weight[i] * weight[i];
  }
  return sum;
}

static void check_input(Fixture* f, const NoliGoalQuantity* quantity, NoliInput input, bool plane) {
  int32_t vertex[64];
  NoliGoalPlace place = {.sim = f->sim,
                         .other = NOLI_NULL_INDEX,
                         .vertex = vertex,
                         .n_vertex = f->n,
                         .x = f->x,
                         .v = f->v};
  double by_value[256], by_weight[256], error = 0.0, largest = 0.0;
  TestRandom random = {11};
  for (int32_t i = 0; i < f->n; i++) {
    vertex[i] = i;
  }
  for (int i = 0; i < 256; i++) {
    by_value[i] = test_random(&random, -1.0, 1.0);
    bool volumes = quantity->each && quantity->set == NOLI_GOAL_ELEMENTS;
    by_weight[i] = volumes ? test_random(&random, -1e4, 1e4) : 0.0;
  }
  int64_t n = noli_input_count(f->sim, input, 0);
  double* derivative = calloc((size_t)n, sizeof *derivative);
  NoliGoalDerivatives derivatives = {0};
  derivatives.inputs.value[input] = derivative;
  ASSERT_OK(quantity->derive(&place, by_value, &derivatives));
  noli_goal_derive_weights(quantity, &place, by_weight, &derivatives);
  for (int64_t i = 0; i < n; i++) {
    double keep = get_input(f, input, i), h = 1e-5 * fmax(fabs(keep), 0.1);
    if (plane && input == NOLI_INPUT_REST && i % 3 == 2) {
      continue;
    }
    set_input(f, input, i, keep + h);
    double plus = weighted(f, quantity, by_value, by_weight);
    set_input(f, input, i, keep - h);
    double minus = weighted(f, quantity, by_value, by_weight);
    set_input(f, input, i, keep);
    error = noli_larger(error, fabs((plus - minus) / (2.0 * h) - derivative[i]));
    largest = noli_larger(largest, fabs(derivative[i]));
  }
  free(derivative);
  assert_true(largest > 0.0);
  ASSERT_AT_MOST(error, 1e-6 * largest);
}

static void test_inputs(void** state) {
  (void)state;
  static const NoliInput inputs[] = {NOLI_INPUT_MU, NOLI_INPUT_LAMBDA, NOLI_INPUT_MASS,
                                     NOLI_INPUT_REST};
  for (int plane = 0; plane < 2; plane++) {
    Fixture f = make(plane != 0, "stvk");
    int n_checked = 0;
    const NoliGoalQuantity* quantity = NULL;
    for (int32_t q = 0; (quantity = noli_goal_quantity_at(q)) != NULL; q++) {
      for (int k = 0; k < 4; k++) {
        // forces of contact come from terms whose mixed derivatives have tests of their own
        bool contact = strncmp(quantity->name, "contact_", 8) == 0;
        // masses of linear elements are inputs; they change weights as loads, in runs
        // (test_gradient_goals.c)
        bool mass = (quantity->reads >> NOLI_INPUT_MASS & 1u) != 0 && inputs[k] == NOLI_INPUT_REST;
        if (!contact && !mass && strcmp(quantity->name, "gravity_energy") != 0 &&
            (quantity->reads >> inputs[k] & 1u) != 0) {
          check_input(&f, quantity, inputs[k], plane != 0);
          n_checked++;
        }
      }
    }
    assert_true(n_checked >= 9);
    drop(&f);
  }
}

// ---- stress and energy of all materials ---------------------------------------------------------

typedef struct Material {
  const char* law;
  double parameter[NOLI_LAW_PARAMETERS];
  int32_t order;
  bool relaxes, fibres, flows;
  bool split; // into a deviator and a pressure
} Material;

static void check_material(const Material* m, bool plane) {
  static const NoliProny prony = {.n = 2, .share = {0.4, 0.2}, .time = {0.01, 0.2}};
  static const NoliInput inputs[] = {NOLI_INPUT_MU, NOLI_INPUT_LAMBDA, NOLI_INPUT_REST};
  static double fibre[64 * NOLI_FIBRE_VALUES];
  NoliMaterialDef material = noli_default_material_def();
  material.law = m->law;
  material.prony = m->relaxes ? &prony : NULL;
  memcpy(material.parameter, m->parameter, sizeof m->parameter);
  for (int i = 0; i < 64; i++) {
    memcpy(fibre + NOLI_FIBRE_VALUES * i, (double[]){0.6, 0.8, 0.0, 4e4, 2.0},
           NOLI_FIBRE_VALUES * sizeof *fibre);
  }
  Fixture f = make_of(plane, &material, m->order, m->fibres ? fibre : NULL);
  double* d_x = calloc(3 * (size_t)f.n, sizeof *d_x);
  double* d_v = calloc(3 * (size_t)f.n, sizeof *d_v);
  static const Case stress[] = {{"elastic_energy", NULL, NULL, "value", 0.0, false},
                                {"von_mises", NULL, "norm", "value", 0.0, false}};
  for (int i = 0; i < 2; i++) {
    double target[3] = {0.0};
    NoliGoals* goals = goals_of(&f, &stress[i], target);
    memset(d_x, 0, sizeof *d_x * 3 * (size_t)f.n);
    (void)value_at(&f, goals, d_x, d_v);
    check_derivative(&f, goals, f.x, d_x, 1e-6, plane);
    noli_goals_destroy(&goals);
    // nodes between vertices follow these at rest; in states of runs nothing flows
    for (int k = 0; k < 3 && m->order == 1 && !(i == 0 && m->flows); k++) {
      // a bulk modulus does not change the deviator
      bool bulk = inputs[k] == NOLI_INPUT_LAMBDA ||
                  (inputs[k] == NOLI_INPUT_MU && m->parameter[0] > 0.0 && !m->flows && !m->relaxes);
      if (i == 1 && m->split && bulk) {
        continue;
      }
      check_input(&f, noli_goal_quantity_find(stress[i].quantity), inputs[k], plane);
    }
  }
  free(d_x);
  free(d_v);
  drop(&f);
}

static void test_materials(void** state) {
  (void)state;
  static const Material materials[] = {
      {.law = "ogden", .split = true, .order = 1},
      {.law = "ogden", .split = true, .parameter = {3e4, 1.7, -1e4, -2.4}, .order = 1},
      {.law = "mooney_rivlin", .split = true, .parameter = {2e4, 5e3}, .order = 1, .relaxes = true},
      {.law = "hencky", .split = true, .order = 1, .relaxes = true},
      {.law = "hencky",
       .split = true,
       .parameter = {100.0, 1e4, 2e3, 20.0},
       .order = 1,
       .flows = true},
      {.law = "neo_hookean", .split = true, .order = 1, .fibres = true, .relaxes = true},
      {.law = "stvk", .order = 2},
      {.law = "neo_hookean", .order = 2, .relaxes = true},
  };
  for (size_t i = 0; i < sizeof materials / sizeof *materials; i++) {
    for (int plane = 0; plane < 2; plane++) {
      if (!(plane && materials[i].order > 1)) {
        check_material(&materials[i], plane != 0);
      }
    }
  }
}

// ---- contact ------------------------------------------------------------------------------------

static NoliGoals* force_goal(const Fixture* f, const char* of, const char* with,
                             const char* component) {
  NoliGoals* goals = NULL;
  NoliGoalDef def = noli_default_goal_def();
  def.quantity = "contact_force";
  def.of = of;
  def.with = with;
  def.component = component;
  def.form = "value";
  ASSERT_OK(noli_goals_create(f->sim, NULL, &def, 1, &goals));
  return goals;
}

// The value where the contacts are those of the positions.
static double force_at(const Fixture* f, NoliGoals* goals) {
  NoliStage* stage = f->sim->stage;
  memcpy(stage->here->x, f->x, sizeof *f->x * 3 * (size_t)f->n);
  ASSERT_OK(noli_stage_find_contacts(stage));
  return value_at(f, goals, NULL, NULL);
}

// Contact potentials are stiff: the best of several steps counts.
static void check_force_derivative(Fixture* f, NoliGoals* goals, const double* derivative) {
  double best = INFINITY, largest = 0.0;
  for (double h = 1e-6; h > 1e-10; h *= 0.1) {
    double error = 0.0;
    for (int32_t i = 0; i < 3 * f->n; i++) {
      double keep = f->x[i];
      f->x[i] = keep + h;
      double plus = force_at(f, goals);
      f->x[i] = keep - h;
      double minus = force_at(f, goals);
      f->x[i] = keep;
      error = noli_larger(error, fabs((plus - minus) / (2.0 * h) - derivative[i]));
      largest = noli_larger(largest, fabs(derivative[i]));
    }
    best = fmin(best, error);
  }
  (void)force_at(f, goals);
  assert_true(largest > 1.0);
  ASSERT_AT_MOST(best, 1e-6 * largest);
}

// The pressures on both boxes against those of the results, and the derivative of a norm.
static void check_pressures(Fixture* f) {
  double* pressure = calloc((size_t)f->n, sizeof *pressure);
  double* gap = calloc((size_t)f->n, sizeof *gap);
  double* derivative = calloc(3 * (size_t)f->n, sizeof *derivative);
  double* none = calloc(3 * (size_t)f->n, sizeof *none);
  static const char* const bodies[] = {"low", "high"};
  ASSERT_OK(noli_sim_contact_pressures(f->sim, pressure, gap));
  for (int b = 0; b < 2; b++) {
    NoliGoals* goals = NULL;
    NoliGoalDef def = noli_default_goal_def();
    int32_t first, n;
    double sum = 0.0;
    def.quantity = "contact_pressure";
    def.of = bodies[b];
    def.form = "value";
    def.reduction = "sum";
    noli_sim_body_range(f->sim, b, &first, &n);
    for (int32_t i = first; i < first + n; i++) {
      sum += pressure[i];
    }
    ASSERT_OK(noli_goals_create(f->sim, NULL, &def, 1, &goals));
    assert_true(sum > 100.0);
    // the sides of the boxes, bulged, face the forces a little: results count that by its cosine
    ASSERT_NEAR(value_at(f, goals, NULL, NULL), sum, 1e-3 * sum);
    noli_goals_destroy(&goals);
    def.reduction = "norm";
    ASSERT_OK(noli_goals_create(f->sim, NULL, &def, 1, &goals));
    memset(derivative, 0, sizeof *derivative * 3 * (size_t)f->n);
    (void)value_at(f, goals, derivative, none);
    check_force_derivative(f, goals, derivative);
    noli_goals_destroy(&goals);
  }
  free(pressure);
  free(gap);
  free(derivative);
  free(none);
}

// Forces against those of the results, and their derivatives.
static void check_contact(Fixture* f) {
  NoliWrench low, high;
  ASSERT_OK(noli_sim_wrench(f->sim, 0, NULL, &low));
  ASSERT_OK(noli_sim_wrench(f->sim, 1, NULL, &high));
  double* derivative = calloc(3 * (size_t)f->n, sizeof *derivative);
  double* none = calloc(3 * (size_t)f->n, sizeof *none);
  static const char* const components[] = {"x", "y", "z"};
  for (int k = 0; k < 3; k++) {
    NoliGoals* all = force_goal(f, "low", NULL, components[k]);
    NoliGoals* pair = force_goal(f, "low", "high", components[k]);
    ASSERT_NEAR(value_at(f, all, NULL, NULL), low.normal[k], 1e-9 * fabs(low.normal[1]) + 1e-9);
    ASSERT_NEAR(value_at(f, pair, NULL, NULL), -high.normal[k], 1e-9 * fabs(high.normal[1]));
    noli_goals_destroy(&all);
    noli_goals_destroy(&pair);
  }
  assert_true(high.normal[1] > 100.0);
  NoliGoals* goals[2] = {force_goal(f, "low", NULL, "y"),
                         force_goal(f, "high", "low", "magnitude")};
  for (int g = 0; g < 2; g++) {
    memset(derivative, 0, sizeof *derivative * 3 * (size_t)f->n);
    (void)value_at(f, goals[g], derivative, none);
    check_force_derivative(f, goals[g], derivative);
    noli_goals_destroy(&goals[g]);
  }
  free(derivative);
  free(none);
}

// A box on a box on a floor, a few steps after they have met.
static void test_contact_force(void** state) {
  (void)state;
  static const char* const models[] = {"ipc", "gcp"};
  for (int m = 0; m < 2; m++) {
    Fixture f = {.context = test_context(1)};
    double gap = m == 0 ? 1e-4 : 4e-3;
    NoliMesh* mesh[2] = {NULL};
    NoliBodyDef body[2] = {noli_default_body_def(), noli_default_body_def()};
    NoliHalfSpaceDef floor = noli_default_half_space_def();
    NoliSimDef def = noli_default_sim_def();
    for (int b = 0; b < 2; b++) {
      double size = b == 0 ? 1.0 : 0.7;
      ASSERT_OK(noli_mesh_make_box(f.context, (double[]){size, 0.5, size}, (int32_t[]){2, 1, 2},
                                   false, &mesh[b]));
      double one[3] = {1.0, 1.0, 1.0}, turn[3] = {0.0, 5.0 * b, 0.0};
      noli_mesh_transform(mesh[b], one, turn,
                          (double[]){0.02 * b, 0.25 + gap + (0.5 + gap) * b, 0.0});
      body[b].mesh = mesh[b];
      body[b].name = b == 0 ? "low" : "high";
    }
    def.bodies = body;
    def.n_bodies = 2;
    def.half_spaces = &floor;
    def.n_half_spaces = 1;
    def.contact_model = models[m];
    def.contact_distance = (NoliScaled){0.004, false};
    def.barrier_stiffness = m == 0 ? 1e12 : 1e2;
    ASSERT_OK(noli_sim_create(f.context, &def, &f.sim));
    for (int i = 0; i < 12; i++) {
      ASSERT_OK(noli_sim_step(f.sim, NULL));
    }
    f.n = noli_sim_node_count(f.sim);
    size_t bytes = sizeof(double) * 3 * (size_t)f.n;
    f.x = malloc(bytes);
    f.v = calloc(1, bytes);
    memcpy(f.x, noli_sim_positions(f.sim), bytes);
    check_contact(&f);
    check_pressures(&f);
    free(f.x);
    free(f.v);
    noli_sim_destroy(&f.sim);
    noli_mesh_destroy(f.context, &mesh[0]);
    noli_mesh_destroy(f.context, &mesh[1]);
    test_context_done(&f.context);
  }
}

// ---- values and times ---------------------------------------------------------------------------

// A goal at one time, and the factor with which it counts.
static double at_time(const Fixture* f, const char* when, double begin, double end, int64_t step) {
  NoliGoals* goals = NULL;
  NoliGoalDef def = noli_default_goal_def();
  def.quantity = "volume";
  def.of = "body";
  def.form = "value";
  def.when = when;
  def.t_begin = begin;
  def.t_end = end;
  ASSERT_OK(noli_goals_create(f->sim, NULL, &def, 1, &goals));
  NoliObjective objective = noli_goals_objective(goals);
  NoliObjectivePoint at = {.step = step,
                           .n_steps = 10,
                           .time = 0.01 * (double)step,
                           .x = noli_sim_rest_positions(f->sim),
                           .v = f->v};
  ASSERT_OK(objective.evaluate(objective.user, f->sim, &at));
  noli_goals_destroy(&goals);
  return at.value / 0.48;
}

static void test_times(void** state) {
  (void)state;
  Fixture f = make(false, "neo_hookean");
  for (int64_t step = 0; step <= 10; step++) {
    ASSERT_NEAR(at_time(&f, NULL, 0.0, 1.0, step), step == 10 ? 1.0 : 0.0, 1e-12);
    ASSERT_NEAR(at_time(&f, "start", 0.0, 1.0, step), step == 0 ? 1.0 : 0.0, 1e-12);
    ASSERT_NEAR(at_time(&f, "at", 0.033, 1.0, step), step == 3 ? 1.0 : 0.0, 1e-12);
    ASSERT_NEAR(at_time(&f, "at", 0.035, 1.0, step), step == 4 ? 1.0 : 0.0, 1e-12);
    ASSERT_NEAR(at_time(&f, "over", 0.02, 0.05, step), step >= 3 && step <= 5 ? 0.01 : 0.0, 1e-12);
  }
  drop(&f);
}

static void test_errors(void** state) {
  (void)state;
  Fixture f = make(false, "neo_hookean");
  NoliGoals* goals = NULL;
  NoliGoalDef def = noli_default_goal_def();
  def.of = "body";
  def.quantity = "velocty";
  ASSERT_STATUS(noli_goals_create(f.sim, NULL, &def, 1, &goals), NOLI_ERROR_ARGUMENT);
  assert_non_null(strstr(noli_context_message(f.context), "did you mean \"velocity\"?"));
  def.quantity = "velocity";
  def.form = "value";
  ASSERT_STATUS(noli_goals_create(f.sim, NULL, &def, 1, &goals), NOLI_ERROR_ARGUMENT);
  assert_non_null(strstr(noli_context_message(f.context), "needs one \"component\""));
  def.component = "w";
  ASSERT_STATUS(noli_goals_create(f.sim, NULL, &def, 1, &goals), NOLI_ERROR_ARGUMENT);
  def.component = "x";
  def.target = (double[]){1.0, 2.0};
  def.n_target = 2;
  ASSERT_STATUS(noli_goals_create(f.sim, NULL, &def, 1, &goals), NOLI_ERROR_ARGUMENT);
  assert_non_null(strstr(noli_context_message(f.context), "needs 1 numbers, has 2"));
  def.of = "floor";
  ASSERT_STATUS(noli_goals_create(f.sim, NULL, &def, 1, &goals), NOLI_ERROR_ARGUMENT);
  assert_null(goals);
  drop(&f);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_goal_derivatives),
      cmocka_unit_test(test_inputs),
      cmocka_unit_test(test_materials),
      cmocka_unit_test(test_contact_force),
      cmocka_unit_test(test_times),
      cmocka_unit_test(test_errors),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
