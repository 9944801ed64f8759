#include "derive/goals/goals.h"

#include "base/numbers.h"
#include "derive/parameters/parameters.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define TIME_ROUNDING 1e-9 // of a step

const NoliNamed noli_goal_reductions[NOLI_GOAL_REDUCTIONS] = {
    [NOLI_GOAL_MEAN] = {"mean", "Mean of vertices; of elements by volume at rest."},
    [NOLI_GOAL_SUM] = {"sum", "Sum; of elements times volume at rest."},
    [NOLI_GOAL_EACH] = {"each", "Mean of the form of each, instead of the form of the mean."},
    [NOLI_GOAL_NORM] = {"norm", "p-norm of magnitudes, close to the largest: mean^(1/p) of |q|^p."},
};
const NoliNames noli_goal_reduction_names = {"reduction of goals", NULL, noli_goal_reductions,
                                             NOLI_GOAL_REDUCTIONS};

const NoliNamed noli_goal_forms[NOLI_GOAL_FORMS] = {
    [NOLI_GOAL_SQUARE] = {"square", "|q - target|^2."},
    [NOLI_GOAL_VALUE] = {"value", "q - target, of one component."},
    [NOLI_GOAL_ABOVE] = {"above", "max(q - target, 0)^2, of one component."},
    [NOLI_GOAL_BELOW] = {"below", "max(target - q, 0)^2, of one component."},
};
const NoliNames noli_goal_form_names = {"form of goals", NULL, noli_goal_forms, NOLI_GOAL_FORMS};

const NoliNamed noli_goal_times[NOLI_GOAL_TIMES] = {
    [NOLI_GOAL_END] = {"end", "At the end of the run."},
    [NOLI_GOAL_START] = {"start", "At its start: of shapes."},
    [NOLI_GOAL_AT] = {"at", "At the end of the step nearest to a time."},
    [NOLI_GOAL_OVER] = {"over", "Times h, summed over the steps that end in an interval."},
};
const NoliNames noli_goal_time_names = {"time of goals", NULL, noli_goal_times, NOLI_GOAL_TIMES};

typedef struct Goal {
  const NoliGoalQuantity* quantity;
  int32_t body;
  int32_t other;   // of contact forces; NOLI_NULL_INDEX: all
  int32_t* vertex; // (n_vertex)
  int32_t n_vertex;
  int32_t* element; // (n_element) of the body; NULL: all
  int32_t n_element;
  int component; // NOLI_NULL_INDEX: all; MAGNITUDE
  NoliGoalReduction reduction;
  double exponent;
  NoliGoalForm form;
  double* target; // (n_target) or NULL
  int32_t n_target;
  double weight;
  NoliGoalTime when;
  double t_begin, t_end;
} Goal;

enum { MAGNITUDE = 3 };

struct NoliGoals {
  NoliContext* context;
  const NoliParameters* parameters;
  Goal* goal;
  int32_t n_goal;
};

// Numbers of one goal at one time.
typedef struct Work {
  int32_t n_item, n_component;
  double* q;          // (n_item x n_component)
  double* weight;     // (n_item)
  double* derivative; // (n_item x n_component) of the goal by q
  double* by_weight;  // (n_item)
} Work;

// ---- forms --------------------------------------------------------------------------------------

// Values of `n` components r = q - target, or one of them; writes the derivative by q.
static double form_value(const Goal* goal, int n, const double* q, const double* target,
                         double* derivative) {
  double value = 0.0;
  for (int k = 0; k < n; k++) {
    double r = q[k] - (target != NULL ? target[k] : 0.0), cut = 0.0;
    switch (goal->form) {
    case NOLI_GOAL_SQUARE:
      value += r * r;
      derivative[k] = 2.0 * r;
      break;
    case NOLI_GOAL_VALUE:
      value += r;
      derivative[k] = 1.0;
      break;
    case NOLI_GOAL_ABOVE:
      cut = fmax(r, 0.0);
      value += cut * cut;
      derivative[k] = 2.0 * cut;
      break;
    default:
      cut = fmax(-r, 0.0);
      value += cut * cut;
      derivative[k] = -2.0 * cut;
    }
  }
  return value;
}

// The form of one item or of a reduced value `q` (n components); adds its derivative times `factor`
// to derivative (n).
static double apply_form(const Goal* goal, int n, const double* q, const double* target,
                         double factor, double* derivative) {
  double own[3] = {0.0};
  if (goal->component == MAGNITUDE) {
    double length = hypot(hypot(q[0], n > 1 ? q[1] : 0.0), n > 2 ? q[2] : 0.0);
    double value = form_value(goal, 1, &length, target, own);
    for (int k = 0; k < n; k++) {
      derivative[k] += length > 0.0 ? factor * own[0] * q[k] / length : 0.0;
    }
    return value;
  }
  bool one = goal->component >= 0;
  int first = one ? goal->component : 0, count = one ? 1 : n;
  double value = form_value(goal, count, q + first, target, own);
  for (int k = 0; k < count; k++) {
    derivative[first + k] += factor * own[k];
  }
  return value;
}

// ---- reductions ---------------------------------------------------------------------------------

// Components of the quantity that a form has, and of its target.
static int form_size(const Goal* goal) {
  return goal->component == NOLI_NULL_INDEX ? goal->quantity->n_components : 1;
}

static double total_weight(const Work* work) {
  double sum = 0.0;
  for (int32_t i = 0; i < work->n_item; i++) {
    sum += work->weight[i];
  }
  return sum;
}

// Form of the mean or sum.
static double reduce_linear(const Goal* goal, Work* work) {
  double reduced[3] = {0.0}, derivative[3] = {0.0};
  double total = goal->reduction == NOLI_GOAL_MEAN ? total_weight(work) : 1.0;
  int n = work->n_component;
  for (int32_t i = 0; i < work->n_item; i++) {
    for (int k = 0; k < n; k++) {
      reduced[k] += work->weight[i] / total * work->q[(int64_t)i * n + k];
    }
  }
  double value = apply_form(goal, n, reduced, goal->target, 1.0, derivative);
  for (int32_t i = 0; i < work->n_item; i++) {
    for (int k = 0; k < n; k++) {
      double q = work->q[(int64_t)i * n + k];
      double less = goal->reduction == NOLI_GOAL_MEAN ? reduced[k] : 0.0;
      work->derivative[(int64_t)i * n + k] = derivative[k] * work->weight[i] / total;
      work->by_weight[i] += derivative[k] * (q - less) / total;
    }
  }
  return value;
}

// Mean of the forms.
static double reduce_each(const Goal* goal, Work* work) {
  double total = total_weight(work), sum = 0.0;
  int n = work->n_component, size = form_size(goal);
  for (int32_t i = 0; i < work->n_item; i++) {
    bool own = goal->n_target > size;
    const double* target = own ? goal->target + (int64_t)i * size : goal->target;
    double share = work->weight[i] / total;
    double value = apply_form(goal, n, work->q + (int64_t)i * n, target, share,
                              work->derivative + (int64_t)i * n);
    work->by_weight[i] = value;
    sum += share * value;
  }
  for (int32_t i = 0; i < work->n_item; i++) {
    work->by_weight[i] = (work->by_weight[i] - sum) / total;
  }
  return sum;
}

// Form of N = (sum of w |q|^p / sum of w)^(1/p), relative to the largest |q| against overflow.
static double reduce_norm(const Goal* goal, Work* work) {
  double total = total_weight(work), largest = 0.0, mean = 0.0, derivative[3] = {0.0};
  double p = goal->exponent;
  int n = work->n_component;
  bool one = goal->component >= 0 && goal->component < MAGNITUDE;
  for (int pass = 0; pass < 3; pass++) {
    double norm = largest > 0.0 ? largest * pow(mean, 1.0 / p) : 0.0;
    for (int32_t i = 0; i < work->n_item; i++) {
      const double* q = work->q + (int64_t)i * n;
      double size = one ? fabs(q[goal->component])
                        : hypot(hypot(q[0], n > 1 ? q[1] : 0.0), n > 2 ? q[2] : 0.0);
      if (pass == 0) {
        largest = fmax(largest, size);
      } else if (pass == 1 && largest > 0.0) {
        mean += work->weight[i] / total * pow(size / largest, p);
      } else if (pass == 2 && norm > 0.0) {
        // dN / d|q_i| = w_i / W (|q_i| / N)^(p - 1)
        double by = work->weight[i] / total * pow(size / norm, p - 1.0);
        for (int k = 0; k < n; k++) {
          bool counts = (!one || k == goal->component) && size > 0.0;
          work->derivative[(int64_t)i * n + k] = counts ? by * q[k] / size : 0.0;
        }
        work->by_weight[i] = norm / (p * total) * (pow(size / norm, p) - 1.0);
      }
    }
  }

  Goal plain = *goal;
  plain.component = NOLI_NULL_INDEX;
  double norm = largest > 0.0 ? largest * pow(mean, 1.0 / p) : 0.0;
  double value = apply_form(&plain, 1, &norm, goal->target, 1.0, derivative);
  for (int64_t i = 0; i < (int64_t)work->n_item * n; i++) {
    work->derivative[i] *= derivative[0];
  }
  for (int32_t i = 0; i < work->n_item; i++) {
    work->by_weight[i] *= derivative[0];
  }
  return value;
}

// ---- times --------------------------------------------------------------------------------------

// The factor of a goal at a time; 0: it does not count there.
static double time_factor(const Goal* goal, const NoliObjectivePoint* at, double h) {
  double slack = TIME_ROUNDING * h;
  switch (goal->when) {
  case NOLI_GOAL_END:
    return at->step == at->n_steps ? 1.0 : 0.0;
  case NOLI_GOAL_START:
    return at->step == 0 ? 1.0 : 0.0;
  case NOLI_GOAL_AT:
    return at->step > 0 && at->time > goal->t_begin - 0.5 * h + slack &&
                   at->time <= goal->t_begin + 0.5 * h + slack
               ? 1.0
               : 0.0;
  default:
    return at->step > 0 && at->time > goal->t_begin + slack && at->time <= goal->t_end + slack
               ? h
               : 0.0;
  }
}

bool noli_goal_has_time(const NoliGoalDef* def, double t0, double h, int64_t steps) {
  Goal goal = {.when = (NoliGoalTime)noli_names_index(&noli_goal_time_names, def->when),
               .t_begin = def->t_begin,
               .t_end = def->t_end};
  bool has = false;
  for (int64_t step = 0; step <= steps && !has; step++) {
    NoliObjectivePoint at = {.step = step, .n_steps = steps, .time = t0 + (double)step * h};
    has = time_factor(&goal, &at, h) > 0.0;
  }
  return has;
}

// ---- evaluation ---------------------------------------------------------------------------------

static NoliStatus create_work(NoliContext* context, const Goal* goal, const NoliGoalPlace* place,
                              Work* work) {
  NoliStatus status = NOLI_OK;
  work->n_item = noli_goal_item_count(goal->quantity, place);
  work->n_component = goal->quantity->n_components;
  int64_t n = (int64_t)work->n_item * work->n_component;
  NOLI_NEW_ZERO(context, work->q, n);
  NOLI_NEW_ZERO(context, work->derivative, n);
  NOLI_NEW_ZERO(context, work->weight, work->n_item);
  NOLI_NEW_ZERO(context, work->by_weight, work->n_item);
done:
  return status;
}

static void free_work(NoliContext* context, Work* work) {
  noli_free(context, work->q);
  noli_free(context, work->derivative);
  noli_free(context, work->weight);
  noli_free(context, work->by_weight);
}

static NoliStatus add_goal(const NoliGoals* goals, const Goal* goal, NoliSim* sim, double factor,
                           NoliObjectivePoint* at) {
  NoliStatus status = NOLI_OK;
  NoliGoalPlace place = {.sim = sim,
                         .body = goal->body,
                         .other = goal->other,
                         .vertex = goal->vertex,
                         .n_vertex = goal->n_vertex,
                         .element = goal->element,
                         .n_element = goal->n_element,
                         .x = at->x,
                         .v = at->v};
  Work work = {0};
  NoliGoalDerivatives derivatives = {0};
  NOLI_TRY(create_work(goals->context, goal, &place, &work));
  NOLI_TRY(goal->quantity->values(&place, work.q));
  noli_goal_item_weights(goal->quantity, &place, work.weight);
  double value = goal->reduction == NOLI_GOAL_EACH   ? reduce_each(goal, &work)
                 : goal->reduction == NOLI_GOAL_NORM ? reduce_norm(goal, &work)
                                                     : reduce_linear(goal, &work);
  at->value += factor * value;

  if (at->d_x != NULL) {
    for (int64_t i = 0; i < (int64_t)work.n_item * work.n_component; i++) {
      work.derivative[i] *= factor;
    }
    for (int32_t i = 0; i < work.n_item; i++) {
      work.by_weight[i] *= factor;
    }
    derivatives.x = at->d_x;
    derivatives.v = at->d_v;
    derivatives.history = at->d_history;
    unsigned wanted = at->d_p != NULL ? noli_parameters_wanted(goals->parameters) : 0;
    NOLI_TRY(noli_inputs_create(sim, goal->quantity->reads & wanted, 0, &derivatives.inputs));
    NOLI_TRY(goal->quantity->derive(&place, work.derivative, &derivatives));
    noli_goal_derive_weights(goal->quantity, &place, work.by_weight, &derivatives);
    if (at->d_p != NULL) {
      noli_parameters_adjoint(goals->parameters, &derivatives.inputs, at->d_p);
    }
  }
done:
  noli_inputs_free(sim->context, &derivatives.inputs);
  free_work(goals->context, &work);
  return status;
}

static NoliStatus goals_evaluate(void* user, NoliSim* sim, NoliObjectivePoint* at) {
  NoliStatus status = NOLI_OK;
  const NoliGoals* goals = user;
  for (int32_t i = 0; i < goals->n_goal; i++) {
    double factor = time_factor(&goals->goal[i], at, noli_sim_time_step(sim));
    if (factor > 0.0) {
      NOLI_TRY(add_goal(goals, &goals->goal[i], sim, factor * goals->goal[i].weight, at));
    }
  }
done:
  return status;
}

NoliObjective noli_goals_objective(NoliGoals* goals) {
  return (NoliObjective){.evaluate = goals_evaluate, .user = goals};
}

// ---- definitions --------------------------------------------------------------------------------

NoliGoalDef noli_default_goal_def(void) {
  return (NoliGoalDef){.weight = 1.0, .exponent = 8.0, .t_end = INFINITY};
}

static NoliStatus copy_elements(NoliContext* context, const NoliModel* model, const char* where,
                                const NoliGoalDef* def, Goal* goal) {
  NoliStatus status = NOLI_OK;
  bool of_elements = goal->quantity->set == NOLI_GOAL_ELEMENTS;
  NOLI_CHECK(context, of_elements ? def->node == NULL : def->element == NULL, NOLI_ERROR_ARGUMENT,
             "%s\"%s\" is of %s, not of %s", where, def->quantity,
             of_elements ? "elements" : "vertices", of_elements ? "vertices" : "elements");
  if (def->element == NULL) {
    return NOLI_OK;
  }
  NoliBlockRange range = model->problem.range[goal->body];
  NOLI_CHECK(context, def->n_element > 0, NOLI_ERROR_ARGUMENT,
             "%sno elements of body \"%s\" are selected", where, model->name[goal->body]);
  NOLI_NEW(context, goal->element, def->n_element);
  goal->n_element = def->n_element;
  for (int32_t i = 0; i < def->n_element; i++) {
    NOLI_CHECK(context, def->element[i] >= 0 && def->element[i] < range.end - range.begin,
               NOLI_ERROR_ARGUMENT, "%sbody \"%s\" has no element %d", where,
               model->name[goal->body], (int)def->element[i]);
    goal->element[i] = def->element[i];
  }
done:
  return status;
}

static NoliStatus read_component(NoliContext* context, const char* where, const NoliGoalDef* def,
                                 Goal* goal) {
  NoliStatus status = NOLI_OK;
  static const char* const names[] = {"x", "y", "z", "magnitude"};
  int n = goal->quantity->n_components;
  goal->component = NOLI_NULL_INDEX;
  for (int k = 0; k <= MAGNITUDE && def->component != NULL; k++) {
    goal->component = strcmp(def->component, names[k]) == 0 ? k : goal->component;
  }
  NOLI_CHECK(context, def->component == NULL || goal->component != NOLI_NULL_INDEX,
             NOLI_ERROR_ARGUMENT,
             "%sthere is no component \"%.40s\"; known: \"x\", \"y\", \"z\", \"magnitude\"", where,
             def->component);
  NOLI_CHECK(context, def->component == NULL || n == 3, NOLI_ERROR_ARGUMENT,
             "%s\"%s\" has no components", where, def->quantity);
  bool one = n == 1 || goal->component >= 0 || goal->reduction == NOLI_GOAL_NORM;
  NOLI_CHECK(context, one || goal->form == NOLI_GOAL_SQUARE, NOLI_ERROR_ARGUMENT,
             "%sthe form \"%s\" needs one \"component\" of \"%s\"", where,
             noli_goal_forms[goal->form].name, def->quantity);
done:
  return status;
}

static bool is_of_each_vertex(const NoliGoalQuantity* quantity) {
  return quantity->each && quantity->set == NOLI_GOAL_VERTICES;
}

static NoliStatus copy_target(NoliContext* context, const char* where, const NoliGoalDef* def,
                              Goal* goal) {
  NoliStatus status = NOLI_OK;
  int32_t size = goal->reduction == NOLI_GOAL_NORM ? 1 : form_size(goal);
  if (def->n_target == 0) {
    return NOLI_OK;
  }
  bool each = goal->reduction == NOLI_GOAL_EACH && is_of_each_vertex(goal->quantity) &&
              def->n_target == size * goal->n_vertex;
  NOLI_CHECK(context, def->target != NULL && (def->n_target == size || each), NOLI_ERROR_ARGUMENT,
             "%sthe target needs %d numbers, has %d", where, (int)size, (int)def->n_target);
  NOLI_NEW(context, goal->target, def->n_target);
  memcpy(goal->target, def->target, sizeof *goal->target * (size_t)def->n_target);
  goal->n_target = def->n_target;
done:
  return status;
}

static NoliStatus read_choices(NoliContext* context, const char* where, const NoliGoalDef* def,
                               Goal* goal) {
  NoliStatus status = NOLI_OK;
  NOLI_CHECK(context, def->quantity != NULL && def->of != NULL, NOLI_ERROR_ARGUMENT,
             "%sneeds a quantity and a body", where);
  NOLI_TRY(noli_names_require(context, where, &noli_goal_quantity_names, def->quantity));
  NOLI_TRY(noli_names_require(context, where, &noli_goal_reduction_names, def->reduction));
  NOLI_TRY(noli_names_require(context, where, &noli_goal_form_names, def->form));
  NOLI_TRY(noli_names_require(context, where, &noli_goal_time_names, def->when));
  NOLI_TRY(noli_numbers_check(context, where, NOLI_NUMBERS_GOAL, def));
  NOLI_CHECK(context, def->t_begin < def->t_end, NOLI_ERROR_ARGUMENT,
             "%st_begin %g is not before t_end %g", where, def->t_begin, def->t_end);
  *goal = (Goal){
      .quantity = noli_goal_quantity_find(def->quantity),
      .reduction = (NoliGoalReduction)noli_names_index(&noli_goal_reduction_names, def->reduction),
      .form = (NoliGoalForm)noli_names_index(&noli_goal_form_names, def->form),
      .when = (NoliGoalTime)noli_names_index(&noli_goal_time_names, def->when),
      .exponent = def->exponent,
      .weight = def->weight,
      .t_begin = def->t_begin,
      .t_end = def->t_end};
done:
  return status;
}

static NoliStatus copy_goal(NoliGoals* goals, NoliSim* sim, const char* where,
                            const NoliGoalDef* def, Goal* goal) {
  NoliStatus status = NOLI_OK;
  NoliContext* context = goals->context;
  NOLI_TRY(read_choices(context, where, def, goal));
  goal->body = noli_sim_find_entity(sim, def->of);
  NOLI_CHECK(context, goal->body != NOLI_NULL_INDEX && goal->body < sim->model->n_body,
             NOLI_ERROR_ARGUMENT, "%sthere is no body \"%.80s\"", where, def->of);

  goal->other = def->with != NULL ? noli_sim_find_entity(sim, def->with) : NOLI_NULL_INDEX;
  NOLI_CHECK(context,
             def->with == NULL ||
                 (goal->other != NOLI_NULL_INDEX && goal->other < sim->model->n_body),
             NOLI_ERROR_ARGUMENT, "%sthere is no body \"%.80s\"", where, def->with);
  NOLI_CHECK(context, def->with == NULL || strncmp(def->quantity, "contact_", 8) == 0,
             NOLI_ERROR_ARGUMENT,
             "%s\"with\" is the other body of a \"contact_force\" or \"contact_pressure\"", where);

  NOLI_TRY(noli_model_list_vertices(sim->model, where, goal->body, def->node, def->n_node,
                                    &goal->vertex, &goal->n_vertex));
  NOLI_TRY(copy_elements(context, sim->model, where, def, goal));
  NOLI_TRY(read_component(context, where, def, goal));
  NOLI_TRY(copy_target(context, where, def, goal));
  NoliGoalPlace place = {.sim = sim, .body = goal->body};
  const char* defect = goal->quantity->defect != NULL ? goal->quantity->defect(&place) : NULL;
  NOLI_CHECK(context, defect == NULL, NOLI_ERROR_ARGUMENT, "%s\"%s\" of \"%s\": %s", where,
             def->quantity, def->of, defect);
done:
  return status;
}

NoliStatus noli_goals_create(NoliSim* sim, const NoliParameters* parameters,
                             const NoliGoalDef* defs, int32_t n_defs, NoliGoals** goals) {
  return noli_goals_create_in(sim, parameters, "goals", 0, defs, n_defs, goals);
}

NoliStatus noli_goals_create_in(NoliSim* sim, const NoliParameters* parameters, const char* list,
                                int32_t first, const NoliGoalDef* defs, int32_t n_defs,
                                NoliGoals** goals) {
  NOLI_REQUIRE_READABLE(sim, sim != NULL && goals != NULL && (defs != NULL || n_defs == 0));
  NoliStatus status = NOLI_OK;
  NoliGoals* made = NULL;
  *goals = NULL;
  NOLI_NEW_ZERO(sim->context, made, 1);
  made->context = sim->context;
  made->parameters = parameters;
  NOLI_NEW_ZERO(sim->context, made->goal, n_defs);
  for (int32_t i = 0; i < n_defs; i++) {
    made->n_goal = i + 1;
    char where[64];
    snprintf(where, sizeof where, "%s[%d]: ", list, (int)(first + i));
    NOLI_TRY(copy_goal(made, sim, where, &defs[i], &made->goal[i]));
  }
  *goals = made;
  made = NULL;
done:
  noli_goals_destroy(&made);
  return status;
}

void noli_goals_destroy(NoliGoals** goals) {
  if (goals == NULL || *goals == NULL) {
    return;
  }
  NoliContext* context = (*goals)->context;
  for (int32_t i = 0; i < (*goals)->n_goal; i++) {
    noli_free(context, (*goals)->goal[i].vertex);
    noli_free(context, (*goals)->goal[i].element);
    noli_free(context, (*goals)->goal[i].target);
  }
  noli_free(context, (*goals)->goal);
  noli_free(context, *goals);
  *goals = NULL;
}
