// Problems of design: variables, functions of them by simulation, and the search. noli/design.h
#include "noli/design.h"

#include "base/numbers.h"
#include "base/ranks.h"
#include "derive/objective.h"
#include "derive/parameters/parameters.h"
#include "design/controls.h"
#include "design/design_functions.h"
#include "design/design_path.h"
#include "design/distortion.h"
#include "design/search/search.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// Step of differences, of scaled variables.
#define DIFFERENCE 1e-4

// A constraint counts as satisfied within this of its bound, relative to the bound.
#define FEASIBLE 1e-6

// A row g <= 0 of the search.
typedef struct Row {
  int32_t function;
  double sign; // 1: at most, -1: at least
  double bound;
  double scale;
} Row;

// A rest shape with a smoothness.
typedef struct Shape {
  int32_t body;
  int64_t first_value;
  int32_t* vertex; // (n_vertex)
  int32_t n_vertex;
} Shape;

// A run that was made, or is remembered.
typedef struct Record {
  NoliStatus status;
  double residual_error;
  int64_t at_yield;
  double* variable; // (n), then value (functions) and gradient (functions x n) in one block
} Record;

struct NoliDesign {
  NoliContext* context;
  NoliSim* sim;
  NoliParameters* parameters;
  NoliVariables variables;
  NoliDesignFunctions functions;
  NOLI_ARRAY(Row) row;
  NOLI_ARRAY(Shape) shape;
  double smoothness;
  NoliGradientDef gradient;
  bool differences; // derivatives are those of values by the variables
  NoliSearchMethod method;
  int32_t max_evaluations;
  double tolerance, enough, move;
  NOLI_ARRAY(Record) record;
  NoliGradientReport report; // of the last evaluation
  bool shapes_vary;          // places of bodies before the run are among the variables
  double* from;     // (n_vert x 3) vertices of the best design of a search that goes on, else NULL
  int64_t n_values; // parameters
  double* value;    // (n_values)
  double* by_value; // (functions x n_values)
  double* term;     // (terms)
  double* by_term;  // (terms x n_values)
};

// ---- definitions --------------------------------------------------------------------------------

NoliDesignDef noli_default_design_def(void) {
  return (NoliDesignDef){.objective = noli_default_design_function_def(),
                         .gradient = noli_default_gradient_def(),
                         .max_evaluations = 100,
                         .tolerance = 1e-6,
                         .enough = -INFINITY,
                         .move = 0.25};
}

static NoliStatus add_row(NoliDesign* design, int32_t function, double sign, double bound) {
  NoliStatus status = NOLI_OK;
  if (isfinite(bound)) {
    Row row = {.function = function,
               .sign = sign,
               .bound = bound,
               .scale = bound != 0.0 ? 1.0 / fabs(bound) : 1.0};
    NOLI_PUSH(design->context, &design->row, row);
  }
done:
  return status;
}

static NoliStatus add_rows(NoliDesign* design) {
  NoliStatus status = NOLI_OK;
  for (int32_t i = 1; i < design->functions.n; i++) {
    NOLI_TRY(add_row(design, i, 1.0, design->functions.function[i].at_most));
    NOLI_TRY(add_row(design, i, -1.0, design->functions.function[i].at_least));
  }
done:
  return status;
}

// The rest shapes among the variables, for their smoothness.
static NoliStatus find_shapes(NoliDesign* design, const NoliDesignDef* def) {
  NoliStatus status = NOLI_OK;
  const NoliModel* model = design->sim->model;
  Shape shape = {0};

  for (int32_t i = 0; i < def->n_variables && def->smoothness > 0.0; i++) {
    const NoliParameterDef* parameter = &def->variables[i].parameter;
    bool vertices = parameter->scope != NULL && strcmp(parameter->scope, "vertices") == 0;
    if (strcmp(parameter->kind, "rest_position") != 0 || !vertices) {
      continue;
    }
    shape = (Shape){.body = noli_sim_find_entity(design->sim, parameter->of),
                    .first_value = noli_parameters_first(design->parameters, i)};
    int32_t first = model->vert_first[shape.body];
    bool all = parameter->index == NULL;
    shape.n_vertex =
        all ? design->sim->definition.def->bodies[shape.body].mesh->n_vert : parameter->n_index;
    NOLI_NEW(design->context, shape.vertex, shape.n_vertex);
    for (int32_t k = 0; k < shape.n_vertex; k++) {
      shape.vertex[k] = first + (all ? k : parameter->index[k]);
    }
    NOLI_PUSH(design->context, &design->shape, shape);
    shape.vertex = NULL;
  }
done:
  noli_free(design->context, shape.vertex);
  return status;
}

static NoliStatus read_search(NoliDesign* design, const NoliDesignDef* def) {
  NoliStatus status = NOLI_OK;
  NoliContext* context = design->context;
  NOLI_TRY(noli_names_require(context, "design: ", &noli_search_method_names, def->method));
  bool constrained = design->row.count > 0;
  design->method = def->method != NULL
                       ? (NoliSearchMethod)noli_names_index(&noli_search_method_names, def->method)
                   : constrained ? NOLI_SEARCH_MMA
                                 : NOLI_SEARCH_L_BFGS;
  NOLI_CHECK(
      context, !constrained || design->method != NOLI_SEARCH_L_BFGS, NOLI_ERROR_ARGUMENT,
      "design: the method \"l_bfgs\" has no constraints; use \"mma\", \"ccsa\" or \"slsqp\"");
  design->max_evaluations = def->max_evaluations;
  design->tolerance = def->tolerance;
  design->enough = def->enough;
  design->move = def->move;
  design->smoothness = def->smoothness;
done:
  return status;
}

// A search would end at a bound that no simulation can have.
static NoliStatus check_bound(const NoliDesign* design, int32_t index, bool upper, double* z,
                              double* value) {
  NoliStatus status = NOLI_OK;
  const NoliVariables* variables = &design->variables;
  const NoliControlSet* set = &variables->set[index];
  const double* bound = upper ? variables->upper : variables->lower;
  char why[256];
  size_t n = sizeof *z * (size_t)set->n_variable;
  if (set->n_variable == 0) {
    return NOLI_OK;
  }
  memcpy(z + set->first_variable, bound + set->first_variable, n);
  noli_variables_values(variables, z, value);
  memcpy(z + set->first_variable, variables->start + set->first_variable, n);
  status = noli_parameters_check(design->parameters, index, value + set->first_value);
  snprintf(why, sizeof why, "%s", noli_context_message(design->context));
  NOLI_CHECK(design->context, status != NOLI_ERROR_ARGUMENT, NOLI_ERROR_ARGUMENT,
             "%.80s: its %s bound, %g, is not possible: %.200s", set->name,
             upper ? "upper" : "lower", bound[set->first_variable], why);
done:
  return status;
}

static NoliStatus design_check_bounds(const NoliDesign* design) {
  NoliStatus status = NOLI_OK;
  double *z = NULL, *value = NULL;
  NOLI_NEW(design->context, z, design->variables.n);
  NOLI_NEW(design->context, value, design->n_values);
  memcpy(z, design->variables.start, sizeof *z * (size_t)design->variables.n);
  for (int32_t i = 0; i < 2 * design->variables.n_set; i++) {
    NOLI_TRY(check_bound(design, i / 2, i % 2 == 1, z, value));
  }
done:
  noli_free(design->context, z);
  noli_free(design->context, value);
  return status;
}

static NoliStatus create_parameters(NoliDesign* design, const NoliDesignDef* def) {
  NoliStatus status = NOLI_OK;
  NoliParameterDef* parameter = NULL;
  NOLI_NEW(design->context, parameter, def->n_variables);
  for (int32_t i = 0; i < def->n_variables; i++) {
    parameter[i] = def->variables[i].parameter;
  }
  NOLI_TRY(noli_parameters_create_in(design->sim, "design.variables", parameter, def->n_variables,
                                     &design->parameters));
  NOLI_TRY(noli_variables_create(design->sim, design->parameters, def->variables, def->n_variables,
                                 &design->variables));
  design->n_values = noli_parameters_count(design->parameters);
  for (int32_t i = 0; i < def->n_variables; i++) {
    const char* kind = parameter[i].kind;
    design->shapes_vary = design->shapes_vary || strcmp(kind, "rest_position") == 0 ||
                          strcmp(kind, "initial_position") == 0;
  }
  NOLI_TRY(design_check_bounds(design));
done:
  noli_free(design->context, parameter);
  return status;
}

NoliStatus noli_design_create(NoliSim* sim, const NoliDesignDef* def, NoliDesign** design) {
  NOLI_REQUIRE_READABLE(sim, sim != NULL && def != NULL && design != NULL);
  NoliStatus status = NOLI_OK;
  NoliContext* context = sim->context;
  NoliDesign* made = NULL;

  *design = NULL;
  NOLI_CHECK(context, !sim->model->problem.ranks.in_parts, NOLI_ERROR_ARGUMENT,
             "design on several ranks: set NoliSimDef.whole_elements");

  NOLI_TRY(noli_numbers_check(context, "design: ", NOLI_NUMBERS_DESIGN, def));
  NOLI_CHECK(context, def->n_variables > 0 && def->variables != NULL, NOLI_ERROR_ARGUMENT,
             "design: has no variables");
  NOLI_CHECK(context, def->n_constraints == 0 || def->constraints != NULL, NOLI_ERROR_ARGUMENT,
             "design: its constraints are missing");
  NOLI_CHECK(context, def->gradient.n_steps > 0, NOLI_ERROR_ARGUMENT,
             "design: needs at least one step");

  NOLI_NEW_ZERO(context, made, 1);
  made->context = context;
  made->sim = sim;
  made->gradient = def->gradient;
  made->differences = def->gradient.mode != NULL && strcmp(def->gradient.mode, "differences") == 0;
  NOLI_TRY(create_parameters(made, def));
  NOLI_TRY(noli_design_functions_create(sim, made->parameters, def, &made->functions));
  NOLI_TRY(add_rows(made));
  NOLI_TRY(read_search(made, def));
  NOLI_TRY(find_shapes(made, def));
  NOLI_NEW(context, made->value, made->n_values);
  NOLI_NEW(context, made->by_value, made->functions.n * made->n_values);
  NOLI_NEW(context, made->term, made->functions.n_term);
  NOLI_NEW(context, made->by_term, made->functions.n_term * made->n_values);
  *design = made;
  made = NULL;
done:
  noli_design_destroy(&made);
  return status;
}

void noli_design_destroy(NoliDesign** design) {
  if (design == NULL || *design == NULL) {
    return;
  }
  NoliDesign* d = *design;
  NoliContext* context = d->context;
  noli_design_functions_free(&d->functions);
  for (int64_t i = 0; i < d->shape.count; i++) {
    noli_free(context, d->shape.data[i].vertex);
  }
  for (int64_t i = 0; i < d->record.count; i++) {
    noli_free(context, d->record.data[i].variable);
  }
  noli_array_free(context, &d->row);
  noli_array_free(context, &d->shape);
  noli_array_free(context, &d->record);
  noli_free(context, d->value);
  noli_free(context, d->by_value);
  noli_free(context, d->term);
  noli_free(context, d->by_term);
  noli_variables_free(&d->variables);
  noli_parameters_destroy(&d->parameters);
  noli_free(context, d);
  *design = NULL;
}

int32_t noli_design_count(const NoliDesign* design) {
  return design != NULL ? design->variables.n : 0;
}

int32_t noli_design_function_count(const NoliDesign* design) {
  return design != NULL ? design->functions.n : 0;
}

const char* noli_design_function_name(const NoliDesign* design, int32_t function) {
  return design != NULL && function >= 0 && function < design->functions.n
             ? design->functions.function[function].name
             : NULL;
}

void noli_design_variable_name(const NoliDesign* design, int32_t variable, char* buffer,
                               size_t size) {
  if (design != NULL && buffer != NULL && variable >= 0 && variable < design->variables.n) {
    noli_variables_name(&design->variables, variable, buffer, size);
  }
}

void noli_design_range(const NoliDesign* design, double* start, double* lower, double* upper) {
  if (design == NULL) {
    return;
  }
  const NoliVariables* variables = &design->variables;
  const double* from[3] = {variables->start, variables->lower, variables->upper};
  double* to[3] = {start, lower, upper};
  for (int k = 0; k < 3; k++) {
    if (to[k] != NULL) {
      memcpy(to[k], from[k], sizeof(double) * (size_t)variables->n);
    }
  }
}

const NoliParameters* noli_design_parameters(const NoliDesign* design) {
  return design != NULL ? design->parameters : NULL;
}

void noli_design_values(const NoliDesign* design, const double* variables, double* values) {
  if (design != NULL && variables != NULL && values != NULL) {
    noli_variables_values(&design->variables, variables, values);
  }
}

// ---- evaluation ---------------------------------------------------------------------------------

// Adds the distortion of the shapes to the objective and its derivative by the parameters.
static NoliStatus add_smoothness(NoliDesign* design, double* value, double* by_value) {
  NoliStatus status = NOLI_OK;
  const NoliModel* model = design->sim->model;
  const double* X0 = model->problem.X;
  int64_t n = 3 * (int64_t)model->problem.n_vert;
  double *X = NULL, *derivative = NULL;
  NOLI_NEW(design->context, X, n);
  NOLI_NEW_ZERO(design->context, derivative, n);
  memcpy(X, X0, sizeof *X * (size_t)n);

  for (int64_t s = 0; s < design->shape.count; s++) {
    const Shape* shape = &design->shape.data[s];
    const double* moved = design->value + shape->first_value;
    const int32_t* cell = model->cell + 4 * (int64_t)model->cell_first[shape->body];
    int32_t n_cell = model->cell_first[shape->body + 1] - model->cell_first[shape->body];
    for (int64_t k = 0; k < 3 * (int64_t)shape->n_vertex; k++) {
      X[3 * (int64_t)shape->vertex[k / 3] + k % 3] += moved[k];
    }
    *value +=
        design->smoothness * noli_distortion(n_cell, cell, X0, X, design->smoothness, derivative);
    for (int64_t k = 0; k < 3 * (int64_t)shape->n_vertex && by_value != NULL; k++) {
      by_value[shape->first_value + k] += derivative[3 * (int64_t)shape->vertex[k / 3] + k % 3];
    }
  }
done:
  noli_free(design->context, X);
  noli_free(design->context, derivative);
  return status;
}

// Values of the terms alone, of scenes that need not have derivatives.
static NoliStatus run_forward(NoliDesign* design, NoliSim* sim, double* term) {
  NoliStatus status = NOLI_OK;
  const NoliDesignFunctions* functions = &design->functions;
  memset(term, 0, sizeof *term * (size_t)functions->n_term);
  for (int64_t step = 0; step <= design->gradient.n_steps; step++) {
    if (step > 0) {
      NOLI_TRY(noli_sim_step(sim, NULL));
    }
    for (int32_t i = 0; i < functions->n_term; i++) {
      const NoliObjective* objective = &functions->objective[i];
      NoliObjectivePoint at = {.step = step,
                               .n_steps = design->gradient.n_steps,
                               .time = noli_sim_time(sim),
                               .x = noli_sim_positions(sim),
                               .v = noli_sim_velocities(sim)};
      NOLI_TRY(noli_objective_call(objective, sim, &at));
      term[i] += at.value;
    }
  }
done:
  return status;
}

// Values for variables, and derivatives by the parameters where they are wanted.
static NoliStatus evaluate_once(NoliDesign* design, const double* variables, double* value,
                                double* by_value) {
  NoliStatus status = NOLI_OK;
  NoliSim* sim = NULL;
  noli_variables_values(&design->variables, variables, design->value);
  NOLI_TRY(noli_parameters_apply(design->parameters, design->value, design->context, &sim));
  if (design->from != NULL) {
    NOLI_TRY(noli_sim_check_path(design->from, sim));
  }
  double* by_term = by_value != NULL ? design->by_term : NULL;
  NOLI_TRY(design->differences
               ? run_forward(design, sim, design->term)
               : noli_sim_gradient(sim, design->parameters, design->functions.objective,
                                   design->functions.n_term, &design->gradient, design->term,
                                   by_term, by_term != NULL ? &design->report : NULL));
  NOLI_TRY(noli_design_functions_combine(&design->functions, design->n_values, design->term,
                                         by_term, value, by_value));
  NOLI_TRY(add_smoothness(design, &value[0], by_value));
done:
  noli_sim_release(&sim);
  return status;
}

// Central differences of the functions by the scaled variables, one-sided at bounds.
static NoliStatus design_differentiate(NoliDesign* design, const double* variables,
                                       double* gradient) {
  NoliStatus status = NOLI_OK;
  int32_t n = design->variables.n, m = design->functions.n;
  double *y = NULL, *z = NULL, *side[2] = {NULL, NULL};
  NOLI_NEW(design->context, y, n);
  NOLI_NEW(design->context, z, n);
  NOLI_NEW(design->context, side[0], m);
  NOLI_NEW(design->context, side[1], m);
  noli_variables_unscale(&design->variables, variables, y);

  for (int32_t i = 0; i < n; i++) {
    double keep = y[i], at[2];
    for (int s = 0; s < 2; s++) {
      y[i] = s == 0 ? fmin(keep + DIFFERENCE, 1.0) : fmax(keep - DIFFERENCE, 0.0);
      noli_variables_scale(&design->variables, y, z);
      at[s] = z[i];
      NOLI_TRY(evaluate_once(design, z, side[s], NULL));
    }
    y[i] = keep;
    for (int32_t k = 0; k < m; k++) {
      gradient[(int64_t)k * n + i] = (side[0][k] - side[1][k]) / (at[0] - at[1]);
    }
  }
done:
  noli_free(design->context, y);
  noli_free(design->context, z);
  noli_free(design->context, side[0]);
  noli_free(design->context, side[1]);
  return status;
}

static NoliStatus design_evaluate(NoliDesign* design, const double* variables, double* value,
                                  double* gradient) {
  NoliStatus status = NOLI_OK;
  bool exact = gradient != NULL && !design->differences;
  int32_t n = design->variables.n;
  design->report = (NoliGradientReport){0};
  NOLI_TRY(evaluate_once(design, variables, value, exact ? design->by_value : NULL));
  for (int32_t i = 0; i < design->functions.n && exact; i++) {
    double* row = gradient + (int64_t)i * n;
    memset(row, 0, sizeof *row * (size_t)n);
    noli_variables_adjoint(&design->variables, design->by_value + i * design->n_values, row);
  }
  if (gradient != NULL && design->differences) {
    NOLI_TRY(design_differentiate(design, variables, gradient));
  }
done:
  return status;
}

NoliStatus noli_design_evaluate(NoliDesign* design, const double* variables, double* value,
                                double* gradient) {
  NOLI_REQUIRE(design != NULL ? design->context : NULL,
               design != NULL && variables != NULL && value != NULL);
  noli_ranks_begin_outer(design->context);
  return noli_ranks_end_outer(design->context, design_evaluate(design, variables, value, gradient));
}

NoliGradientReport noli_design_report(const NoliDesign* design) {
  return design != NULL ? design->report : (NoliGradientReport){0};
}

// ---- search -------------------------------------------------------------------------------------

typedef struct Searching {
  NoliDesign* design;
  NoliDesignWatchFn* watch;
  void* user;
  double* z;        // (n)
  double* value;    // (functions)
  double* gradient; // (functions x n)
  double* scaled;   // (n) of the objective, by the scaled variables
  NoliDesignRun run;
  NoliStatus status; // of keeping the best design
} Searching;

NoliStatus noli_design_remember(NoliDesign* design, const NoliDesignRun* run) {
  NOLI_REQUIRE(design != NULL ? design->context : NULL, design != NULL && run != NULL);
  NoliStatus status = NOLI_OK;
  int64_t n = design->variables.n, m = design->functions.n;
  bool known = run->status == NOLI_OK && run->value != NULL && run->gradient != NULL;
  Record record = {
      .status = run->status, .residual_error = run->residual_error, .at_yield = run->at_yield};
  NOLI_CHECK(design->context, known || run->status != NOLI_OK, NOLI_ERROR_ARGUMENT,
             "a run to remember needs values and derivatives");
  NOLI_NEW_ZERO(design->context, record.variable, n + m + m * n);
  memcpy(record.variable, run->variable, sizeof(double) * (size_t)n);
  if (known) {
    memcpy(record.variable + n, run->value, sizeof(double) * (size_t)m);
    memcpy(record.variable + n + m, run->gradient, sizeof(double) * (size_t)(m * n));
  }
  NOLI_PUSH(design->context, &design->record, record);
  record.variable = NULL;
done:
  noli_free(design->context, record.variable);
  return status;
}

// Takes what is remembered of these variables; false: nothing.
static bool recall(Searching* searching) {
  const NoliDesign* design = searching->design;
  size_t n = (size_t)design->variables.n, m = (size_t)design->functions.n;
  for (int64_t i = 0; i < design->record.count; i++) {
    const Record* record = &design->record.data[i];
    if (memcmp(record->variable, searching->z, sizeof(double) * n) == 0) {
      memcpy(searching->value, record->variable + n, sizeof(double) * m);
      memcpy(searching->gradient, record->variable + n + m, sizeof(double) * m * n);
      searching->run.status = record->status;
      searching->run.residual_error = record->residual_error;
      searching->run.at_yield = record->at_yield;
      return true;
    }
  }
  return false;
}

// A run that another step of the search may avoid.
static bool is_failure_of_run(NoliStatus status) {
  return status > 0 || status == NOLI_ERROR_INTERSECTION;
}

// Rows of the search from values and gradients of the functions.
static void design_fill_rows(Searching* searching, double* value, double* gradient) {
  const NoliDesign* design = searching->design;
  int32_t n = design->variables.n;
  for (int64_t r = 0; r <= design->row.count; r++) {
    const Row* row = r > 0 ? &design->row.data[r - 1] : NULL;
    int64_t function = row != NULL ? row->function : 0;
    double factor = row != NULL ? row->sign * row->scale : 1.0;
    double* derivative = gradient + r * n;
    value[r] = factor * (searching->value[function] - (row != NULL ? row->bound : 0.0));
    memcpy(derivative, searching->gradient + function * n, sizeof *derivative * (size_t)n);
    noli_variables_scale_derivatives(&design->variables, searching->z, derivative);
    for (int32_t i = 0; i < n; i++) {
      derivative[i] *= factor;
    }
  }
  memcpy(searching->scaled, gradient, sizeof *gradient * (size_t)n);
}

static double violation_of(const NoliDesign* design, const double* value) {
  double most = 0.0;
  for (int64_t r = 0; r < design->row.count; r++) {
    const Row* row = &design->row.data[r];
    most = fmax(most, row->sign * row->scale * (value[row->function] - row->bound));
  }
  return most;
}

// The largest derivative by a variable that may move against it.
static double design_derivative_of(const Searching* searching) {
  const NoliVariables* variables = &searching->design->variables;
  double most = 0.0;
  for (int32_t i = 0; i < variables->n; i++) {
    double derivative = searching->scaled[i], z = searching->z[i];
    bool stopped = (z <= variables->lower[i] && derivative > 0.0) ||
                   (z >= variables->upper[i] && derivative < 0.0);
    most = stopped ? most : fmax(most, fabs(derivative));
  }
  return most;
}

// A failure that ends the search says in which run it was.
static NoliStatus fail_run(NoliContext* context, const NoliDesignRun* run) {
  char why[1024];
  snprintf(why, sizeof why, "%s", noli_context_message(context));
  return run->evaluation == 0
             ? noli_fail(context, run->status,
                         "the first run, with the variables at their start, must succeed: %s", why)
             : noli_fail(context, run->status, "evaluation %d: %s", (int)run->evaluation, why);
}

static NoliStatus try_variables(void* user, const double* y, double* value, double* gradient,
                                bool* valid) {
  Searching* searching = user;
  NoliDesign* design = searching->design;
  NoliDesignRun* run = &searching->run;
  noli_variables_scale(&design->variables, y, searching->z);
  run->remembered = recall(searching);
  if (!run->remembered) {
    run->status = noli_design_evaluate(design, searching->z, searching->value, searching->gradient);
    run->residual_error = design->report.residual_error;
    run->at_yield = design->report.at_yield;
  }

  if (run->status != NOLI_OK && (run->evaluation == 0 || !is_failure_of_run(run->status))) {
    return fail_run(design->context, run);
  }
  *valid = run->status == NOLI_OK;
  run->feasible = false;
  run->value = *valid ? searching->value : NULL;
  run->gradient = *valid ? searching->gradient : NULL;
  run->variable = searching->z;
  if (*valid) {
    design_fill_rows(searching, value, gradient);
    run->violation = violation_of(design, searching->value);
    run->slope = design_derivative_of(searching);
    run->feasible = run->violation <= FEASIBLE;
  } else {
    noli_log(design->context, NOLI_LOG_INFO, "evaluation %d failed, the next step is shorter: %s",
             (int)run->evaluation, noli_context_message(design->context));
  }
  return NOLI_OK;
}

// Trials start from the best design: their shapes must be reached from it.
static NoliStatus keep_best(Searching* searching) {
  NoliStatus status = NOLI_OK;
  NoliDesign* design = searching->design;
  NoliSim* sim = NULL;
  noli_variables_values(&design->variables, searching->z, design->value);
  NOLI_TRY(noli_parameters_apply(design->parameters, design->value, design->context, &sim));
  if (design->from == NULL) {
    NOLI_NEW(design->context, design->from, 3 * (int64_t)sim->model->problem.n_vert);
  }
  memcpy(design->from, sim->state.x, noli_sim_vector_bytes(sim));
done:
  noli_sim_release(&sim);
  return status;
}

static bool watch_run(void* user, bool best) {
  Searching* searching = user;
  searching->run.best = best;
  if (best && searching->design->shapes_vary) {
    searching->status = keep_best(searching);
  }
  bool more = searching->watch == NULL || searching->watch(searching->user, &searching->run);
  searching->run.evaluation++;
  return more && searching->status == NOLI_OK;
}

static NoliStatus create_searching(NoliDesign* design, Searching* searching) {
  NoliStatus status = NOLI_OK;
  int64_t n = design->variables.n;
  NOLI_NEW_ZERO(design->context, searching->z, n);
  NOLI_NEW_ZERO(design->context, searching->value, design->functions.n);
  NOLI_NEW_ZERO(design->context, searching->gradient, design->functions.n * n);
  NOLI_NEW_ZERO(design->context, searching->scaled, n);
done:
  return status;
}

NoliStatus noli_design_search(NoliDesign* design, NoliDesignWatchFn* watch, void* user,
                              double* variables, NoliDesignResult* result) {
  NOLI_REQUIRE(design != NULL ? design->context : NULL, design != NULL && variables != NULL);
  NoliStatus status = NOLI_OK;
  NoliContext* context = design->context;
  Searching searching = {.design = design, .watch = watch, .user = user};
  NoliSearchReport report = {0};
  NoliSearchDef search = {.context = context,
                          .n = design->variables.n,
                          .m = (int32_t)design->row.count,
                          .method = (int32_t)design->method,
                          .max_evaluations = design->max_evaluations,
                          .tolerance = design->tolerance,
                          .feasible = FEASIBLE,
                          .enough = design->enough,
                          .move = design->move,
                          .evaluate = try_variables,
                          .watch = watch_run,
                          .user = &searching};
  double* y = NULL;
  NOLI_TRY(create_searching(design, &searching));
  NOLI_NEW(context, y, design->variables.n);
  noli_variables_unscale(&design->variables, design->variables.start, y);
  NOLI_TRY(noli_search(&search, y, &report));
  NOLI_TRY(searching.status);
  noli_variables_scale(&design->variables, y, variables);

  if (result != NULL) {
    *result = (NoliDesignResult){.reason = noli_search_ends[report.end],
                                 .objective = report.objective,
                                 .violation = report.violation,
                                 .evaluations = report.evaluations,
                                 .failures = report.failures,
                                 .best = report.best};
  }
done:
  noli_free(context, design->from);
  design->from = NULL;
  noli_free(context, y);
  noli_free(context, searching.z);
  noli_free(context, searching.value);
  noli_free(context, searching.gradient);
  noli_free(context, searching.scaled);
  return status;
}
