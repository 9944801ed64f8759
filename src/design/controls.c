#include "design/controls.h"

#include "base/numbers.h"
#include "derive/parameters/parameters.h"
#include "step/simulation.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

const NoliNamed noli_control_kinds[NOLI_CONTROL_KINDS] = {
    [NOLI_CONTROL_EACH] = {"each", "A variable for each value."},
    [NOLI_CONTROL_UNIFORM] = {"uniform", "The same in all elements or vertices."},
    [NOLI_CONTROL_CAGE] = {"cage", "Control points of a box around the vertices."},
    [NOLI_CONTROL_POINTS] = {"points", "Points of the body, and a smooth field between them."},
};
const NoliNames noli_control_names = {"control of variables", NULL, noli_control_kinds,
                                      NOLI_CONTROL_KINDS};

// ---- weights ------------------------------------------------------------------------------------

// Bernstein polynomial i of degree n - 1 at t in [0, 1].
static double bernstein(int n, int i, double t) {
  double value = 1.0;
  for (int k = 0; k < i; k++) {
    value *= (double)(n - 1 - k) / (double)(k + 1) * t;
  }
  for (int k = 0; k < n - 1 - i; k++) {
    value *= 1.0 - t;
  }
  return value;
}

// Vertices of a definition, and their bounding box.
typedef struct Points {
  double* x; // (n x 3)
  int32_t n;
  double low[3], high[3];
} Points;

// Coordinate in the box; 0.5 where it is flat.
static double fraction(const Points* points, int axis, double x) {
  double size = points->high[axis] - points->low[axis];
  return size > 0.0 ? (x - points->low[axis]) / size : 0.5;
}

static void cage_weights(const Points* points, const int32_t cells[3], double* weight) {
  int32_t n = cells[0] * cells[1] * cells[2];
  for (int64_t p = 0; p < points->n; p++) {
    for (int32_t c = 0; c < n; c++) {
      int32_t at[3] = {c / (cells[1] * cells[2]), c / cells[2] % cells[1], c % cells[2]};
      double product = 1.0;
      for (int k = 0; k < 3; k++) {
        product *= bernstein(cells[k], at[k], fraction(points, k, points->x[3 * p + k]));
      }
      weight[p * n + c] = product;
    }
  }
}

// Place of a control point in fractions of the box.
static void cage_place(const int32_t cells[3], int32_t c, double at[3]) {
  int32_t index[3] = {c / (cells[1] * cells[2]), c / cells[2] % cells[1], c % cells[2]};
  for (int k = 0; k < 3; k++) {
    at[k] = cells[k] > 1 ? (double)index[k] / (cells[k] - 1) : 0.5;
  }
}

static double distance(const double* a, const double* b) {
  return hypot(hypot(a[0] - b[0], a[1] - b[1]), a[2] - b[2]);
}

// Solves A X = B in place, A (n x n), B (n x m), by elimination with row exchanges; false:
// singular.
static bool solve_dense(int32_t n, int32_t m, double* A, double* B) {
  for (int64_t k = 0; k < n; k++) {
    int64_t pivot = k;
    for (int64_t i = k + 1; i < n; i++) {
      pivot = fabs(A[i * n + k]) > fabs(A[pivot * n + k]) ? i : pivot;
    }
    for (int64_t j = 0; j < n + m && pivot != k; j++) {
      double* one = j < n ? &A[k * n + j] : &B[k * m + j - n];
      double* other = j < n ? &A[pivot * n + j] : &B[pivot * m + j - n];
      double kept = *one;
      *one = *other;
      *other = kept;
    }
    if (!(fabs(A[k * n + k]) > 1e-14 * fabs(A[0]))) {
      return false;
    }
    for (int64_t i = 0; i < n; i++) {
      double factor = i == k ? 0.0 : A[i * n + k] / A[k * n + k];
      for (int64_t j = 0; j < n && factor != 0.0; j++) {
        A[i * n + j] -= factor * A[k * n + j];
      }
      for (int64_t j = 0; j < m && factor != 0.0; j++) {
        B[i * m + j] -= factor * B[k * m + j];
      }
    }
  }

  for (int64_t k = 0; k < n; k++) {
    for (int64_t j = 0; j < m; j++) {
      B[k * m + j] /= A[k * n + k];
    }
  }
  return true;
}

// Mean distance of a point to the nearest other one.
static double spacing(const double* c, int32_t n) {
  double sum = 0.0;
  for (int64_t i = 0; i < n; i++) {
    double nearest = INFINITY;
    for (int64_t j = 0; j < n; j++) {
      nearest = i != j ? fmin(nearest, distance(c + 3 * i, c + 3 * j)) : nearest;
    }
    sum += isfinite(nearest) ? nearest : 1.0;
  }
  return sum / n;
}

// Interpolation by multiquadrics sqrt(r^2 + s^2) and a constant, which moves all points alike where
// all controls are moved alike. Row k of `basis` (n + 1 x n) has the coefficients of kernel k.
static NoliStatus point_weights(NoliContext* context, const Points* points, const double* c,
                                int32_t n, double* weight) {
  NoliStatus status = NOLI_OK;
  double s = spacing(c, n), *A = NULL, *basis = NULL;
  NOLI_NEW_ZERO(context, A, (n + 1) * (int64_t)(n + 1));
  NOLI_NEW_ZERO(context, basis, (n + 1) * (int64_t)n);
  for (int64_t i = 0; i < n; i++) {
    for (int64_t j = 0; j < n; j++) {
      A[i * (n + 1) + j] = hypot(distance(c + 3 * i, c + 3 * j), s) / s;
    }
    A[i * (n + 1) + n] = A[n * (int64_t)(n + 1) + i] = 1.0;
    basis[i * n + i] = 1.0;
  }

  NOLI_CHECK(context, solve_dense(n + 1, n, A, basis), NOLI_ERROR_ARGUMENT,
             "control points must be at different places");
  for (int64_t p = 0; p < points->n; p++) {
    for (int64_t j = 0; j < n; j++) {
      double sum = basis[n * (int64_t)n + j];
      for (int64_t i = 0; i < n; i++) {
        sum += hypot(distance(points->x + 3 * p, c + 3 * i), s) / s * basis[i * n + j];
      }
      weight[p * n + j] = sum;
    }
  }
done:
  noli_free(context, A);
  noli_free(context, basis);
  return status;
}

// ---- definitions --------------------------------------------------------------------------------

NoliVariableDef noli_default_variable_def(void) {
  return (NoliVariableDef){
      .parameter = noli_default_parameter_def(), .cage = {2, 2, 2}, .start = {NAN, NAN, NAN}};
}

static int32_t components_of(const char* kind) {
  int32_t found = noli_names_find(&noli_parameter_names, kind);
  return noli_parameter_components((NoliParameterKind)found);
}

// Rest positions of the `n` vertices of a definition: of shapes those of the mesh, which come
// before the other nodes of elements of higher order.
static NoliStatus find_points(const NoliSim* sim, const NoliParameterDef* def, int32_t n,
                              Points* points) {
  NoliStatus status = NOLI_OK;
  const NoliModel* model = sim->model;
  int32_t first = model->vert_first[noli_sim_find_entity(sim, def->of)];
  bool all = def->index == NULL;
  points->n = n;
  NOLI_NEW(sim->context, points->x, 3 * (int64_t)points->n);
  for (int k = 0; k < 3; k++) {
    points->low[k] = INFINITY;
    points->high[k] = -INFINITY;
  }
  for (int64_t i = 0; i < points->n; i++) {
    int64_t node = first + (all ? (int32_t)i : def->index[i]);
    for (int k = 0; k < 3; k++) {
      double x = model->problem.X[3 * node + k];
      points->x[3 * i + k] = x;
      points->low[k] = fmin(points->low[k], x);
      points->high[k] = fmax(points->high[k], x);
    }
  }
done:
  return status;
}

static NoliStatus weigh_points(const NoliSim* sim, const NoliVariableDef* def,
                               NoliControlSet* set) {
  NoliStatus status = NOLI_OK;
  NoliContext* context = sim->context;
  Points points = {0};
  const char* scope = def->parameter.scope;
  bool cage = set->kind == NOLI_CONTROL_CAGE;
  NOLI_CHECK(context, scope != NULL && strcmp(scope, "vertices") == 0 && set->n_component == 3,
             NOLI_ERROR_ARGUMENT, "%s: a \"%s\" moves vertices: it needs the scope \"vertices\"",
             set->name, noli_control_kinds[set->kind].name);
  NOLI_CHECK(context, cage || (def->point != NULL && def->n_point > 0), NOLI_ERROR_ARGUMENT,
             "%s: no control points are given", set->name);
  set->n_control = cage ? def->cage[0] * def->cage[1] * def->cage[2] : def->n_point;
  NOLI_NEW(context, set->weight, (int64_t)set->n_point * set->n_control);
  NOLI_TRY(find_points(sim, &def->parameter, set->n_point, &points));
  if (cage) {
    cage_weights(&points, def->cage, set->weight);
  } else {
    NOLI_TRY(point_weights(context, &points, def->point, def->n_point, set->weight));
  }
done:
  noli_free(context, points.x);
  return status;
}

static bool is_held(const NoliVariableDef* def, const NoliControlSet* set, int32_t control) {
  double at[3];
  if (set->kind != NOLI_CONTROL_CAGE || def->hold_min == NULL || def->hold_max == NULL) {
    return false;
  }
  cage_place(def->cage, control, at);
  bool inside = true;
  for (int k = 0; k < 3; k++) {
    inside = inside && at[k] >= def->hold_min[k] && at[k] <= def->hold_max[k];
  }
  return inside;
}

// The start of a number: as given, or the value of the definition (the mean where it is uniform).
static double controls_start_of(const NoliVariableDef* def, const NoliControlSet* set,
                                const double* value, int32_t control, int32_t component) {
  if (!isnan(def->start[component])) {
    return def->start[component];
  }
  if (set->kind == NOLI_CONTROL_EACH) {
    return value[(int64_t)control * set->n_component + component];
  }
  double sum = 0.0;
  for (int64_t i = 0; i < set->n_point && set->kind == NOLI_CONTROL_UNIFORM; i++) {
    sum += value[i * set->n_component + component];
  }
  return sum / set->n_point;
}

static NoliStatus controls_check_bounds(NoliContext* context, const NoliVariableDef* def,
                                        const NoliControlSet* set) {
  NoliStatus status = NOLI_OK;
  for (int k = 0; k < set->n_component; k++) {
    NOLI_CHECK(context, def->lower[k] <= def->upper[k], NOLI_ERROR_ARGUMENT,
               "%s: needs finite bounds, the lower one first: %g, %g", set->name, def->lower[k],
               def->upper[k]);
    NOLI_CHECK(context, !def->logarithmic || def->lower[k] > 0.0, NOLI_ERROR_ARGUMENT,
               "%s: a logarithmic variable needs bounds above 0", set->name);
  }
done:
  return status;
}

// Numbers the variables of a set and sets their starts and bounds, which the arrays have room for.
static NoliStatus number_variables(NoliVariables* variables, const NoliVariableDef* def,
                                   const double* value, NoliControlSet* set) {
  NoliStatus status = NOLI_OK;
  set->first_variable = variables->n;
  for (int32_t i = 0; i < set->n_control * set->n_component; i++) {
    int32_t control = i / set->n_component, k = i % set->n_component;
    double start = controls_start_of(def, set, value, control, k);
    bool held = is_held(def, set, control);
    set->variable[i] = NOLI_NULL_INDEX;
    set->number[i] = held ? 0.0 : def->lower[k];
    if (held || def->lower[k] == def->upper[k]) {
      continue;
    }
    NOLI_CHECK(variables->context, start >= def->lower[k] && start <= def->upper[k],
               NOLI_ERROR_ARGUMENT, "%s: its start, %g, is not between the bounds, %g and %g",
               set->name, start, def->lower[k], def->upper[k]);
    variables->start[variables->n] = start;
    variables->lower[variables->n] = def->lower[k];
    variables->upper[variables->n] = def->upper[k];
    set->variable[i] = variables->n++;
  }
  set->n_variable = variables->n - set->first_variable;
done:
  return status;
}

static NoliStatus name_set(NoliContext* context, const NoliParameterDef* def, NoliControlSet* set) {
  NoliStatus status = NOLI_OK;
  char part[24];
  snprintf(part, sizeof part, "part %d", (int)def->part - 1);
  const char* words[] = {def->kind, def->of, def->with, def->part > 0 ? part : NULL};
  size_t size = 1;
  for (int k = 0; k < 4; k++) {
    size += words[k] != NULL ? strlen(words[k]) + 1 : 0;
  }
  NOLI_NEW_ZERO(context, set->name, (int64_t)size);
  for (int k = 0; k < 4; k++) {
    if (words[k] != NULL) {
      strcat(set->name, k > 0 ? " " : "");
      strcat(set->name, words[k]);
    }
  }
done:
  return status;
}

static NoliStatus create_set(const NoliSim* sim, const NoliParameters* parameters, int32_t index,
                             const NoliVariableDef* def, NoliControlSet* set) {
  NoliStatus status = NOLI_OK;
  NoliContext* context = sim->context;
  NOLI_TRY(name_set(context, &def->parameter, set));
  char where[160];
  snprintf(where, sizeof where, "%.150s: ", set->name);
  NOLI_TRY(noli_numbers_check(context, where, NOLI_NUMBERS_VARIABLE, def));
  NOLI_TRY(noli_names_require(context, where, &noli_control_names, def->control));
  set->kind = (NoliControlKind)noli_names_index(&noli_control_names, def->control);
  set->n_component = components_of(def->parameter.kind);
  set->first_value = noli_parameters_first(parameters, index);
  set->n_point = (int32_t)((noli_parameters_first(parameters, index + 1) - set->first_value) /
                           set->n_component);
  set->n_control = set->kind == NOLI_CONTROL_UNIFORM ? 1 : set->n_point;
  set->logarithmic = def->logarithmic;
  NOLI_TRY(controls_check_bounds(context, def, set));
  if (set->kind == NOLI_CONTROL_UNIFORM) {
    NOLI_NEW(context, set->weight, set->n_point);
    for (int32_t i = 0; i < set->n_point; i++) {
      set->weight[i] = 1.0;
    }
  } else if (set->kind != NOLI_CONTROL_EACH) {
    NOLI_TRY(weigh_points(sim, def, set));
  }

  NOLI_NEW(context, set->number, (int64_t)set->n_control * set->n_component);
  NOLI_NEW(context, set->variable, (int64_t)set->n_control * set->n_component);
done:
  return status;
}

NoliStatus noli_variables_create(const NoliSim* sim, const NoliParameters* parameters,
                                 const NoliVariableDef* defs, int32_t n_defs,
                                 NoliVariables* variables) {
  NoliStatus status = NOLI_OK;
  NoliContext* context = sim->context;
  double* value = NULL;
  int64_t most = 0;
  *variables = (NoliVariables){.context = context};
  NOLI_NEW(context, value, noli_parameters_count(parameters));
  noli_parameters_values(parameters, value);
  NOLI_NEW_ZERO(context, variables->set, n_defs);
  for (int32_t i = 0; i < n_defs; i++) {
    variables->n_set = i + 1;
    NOLI_TRY(create_set(sim, parameters, i, &defs[i], &variables->set[i]));
    most += (int64_t)variables->set[i].n_control * variables->set[i].n_component;
  }

  NOLI_NEW(context, variables->start, most);
  NOLI_NEW(context, variables->lower, most);
  NOLI_NEW(context, variables->upper, most);
  for (int32_t i = 0; i < n_defs; i++) {
    NoliControlSet* set = &variables->set[i];
    NOLI_TRY(number_variables(variables, &defs[i], value + set->first_value, set));
  }
  NOLI_CHECK(context, variables->n > 0, NOLI_ERROR_ARGUMENT,
             "the design has no variables: all bounds are equal");
done:
  noli_free(context, value);
  return status;
}

void noli_variables_free(NoliVariables* variables) {
  NoliContext* context = variables->context;
  if (context == NULL) {
    return;
  }
  for (int32_t i = 0; i < variables->n_set; i++) {
    noli_free(context, variables->set[i].name);
    noli_free(context, variables->set[i].weight);
    noli_free(context, variables->set[i].number);
    noli_free(context, variables->set[i].variable);
  }
  noli_free(context, variables->set);
  noli_free(context, variables->start);
  noli_free(context, variables->lower);
  noli_free(context, variables->upper);
  *variables = (NoliVariables){0};
}

// ---- maps ---------------------------------------------------------------------------------------

static double controls_number_of(const NoliControlSet* set, const double* z, int64_t i) {
  return set->variable[i] != NOLI_NULL_INDEX ? z[set->variable[i]] : set->number[i];
}

void noli_variables_values(const NoliVariables* variables, const double* z, double* value) {
  for (int32_t s = 0; s < variables->n_set; s++) {
    const NoliControlSet* set = &variables->set[s];
    int32_t n = set->n_component;
    for (int64_t i = 0; i < (int64_t)set->n_point * n; i++) {
      double sum = set->weight == NULL ? controls_number_of(set, z, i) : 0.0;
      for (int64_t c = 0; set->weight != NULL && c < set->n_control; c++) {
        sum += set->weight[i / n * set->n_control + c] * controls_number_of(set, z, c * n + i % n);
      }
      value[set->first_value + i] = sum;
    }
  }
}

void noli_variables_adjoint(const NoliVariables* variables, const double* by_value, double* by_z) {
  for (int32_t s = 0; s < variables->n_set; s++) {
    const NoliControlSet* set = &variables->set[s];
    int32_t n = set->n_component;
    for (int64_t j = 0; j < (int64_t)set->n_control * n; j++) {
      int32_t variable = set->variable[j];
      const double* by = by_value + set->first_value;
      if (variable != NOLI_NULL_INDEX && set->weight == NULL) {
        by_z[variable] += by[j];
      }
      for (int64_t i = 0; variable != NOLI_NULL_INDEX && set->weight != NULL && i < set->n_point;
           i++) {
        by_z[variable] += set->weight[i * set->n_control + j / n] * by[i * n + j % n];
      }
    }
  }
}

static const NoliControlSet* set_of(const NoliVariables* variables, int32_t variable) {
  const NoliControlSet* set = variables->set;
  while (variable >= set->first_variable + set->n_variable) {
    set++;
  }
  return set;
}

void noli_variables_scale(const NoliVariables* variables, const double* y, double* z) {
  for (int32_t i = 0; i < variables->n; i++) {
    double a = variables->lower[i], b = variables->upper[i];
    double value = set_of(variables, i)->logarithmic ? a * pow(b / a, y[i]) : a + y[i] * (b - a);
    z[i] = fmin(fmax(value, a), b);
  }
}

void noli_variables_unscale(const NoliVariables* variables, const double* z, double* y) {
  for (int32_t i = 0; i < variables->n; i++) {
    double a = variables->lower[i], b = variables->upper[i];
    y[i] = set_of(variables, i)->logarithmic ? log(z[i] / a) / log(b / a) : (z[i] - a) / (b - a);
    y[i] = fmin(fmax(y[i], 0.0), 1.0);
  }
}

void noli_variables_scale_derivatives(const NoliVariables* variables, const double* z,
                                      double* derivative) {
  for (int32_t i = 0; i < variables->n; i++) {
    double a = variables->lower[i], b = variables->upper[i];
    derivative[i] *= set_of(variables, i)->logarithmic ? z[i] * log(b / a) : b - a;
  }
}

void noli_variables_name(const NoliVariables* variables, int32_t variable, char* buffer,
                         size_t size) {
  static const char* const axes[] = {"x", "y", "z"};
  const NoliControlSet* set = set_of(variables, variable);
  int32_t i = 0, n = set->n_component;
  while (set->variable[i] != variable) {
    i++;
  }
  int used = snprintf(buffer, size, "%s", set->name);
  if (set->n_control > 1 && used >= 0 && (size_t)used < size) {
    used += snprintf(buffer + used, size - (size_t)used, " %d", (int)(i / n));
  }
  if (n > 1 && used >= 0 && (size_t)used < size) {
    snprintf(buffer + used, size - (size_t)used, " %s", axes[i % n]);
  }
}
