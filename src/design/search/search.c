#include "design/search/search.h"

#include "design/search/method.h"

#include <math.h>
#include <string.h>

// Failures in a row without a gain of the objective, after which a search ends: their distances
// shrink to a millionth.
enum { MOST_SLOW = 20 };
// A box that failures have made smaller than this, relative to its first size, confines a search.
#define CONFINED 1e-2

const char* const noli_search_ends[NOLI_SEARCH_ENDS] = {
    [NOLI_SEARCH_CONVERGED] = "converged",     [NOLI_SEARCH_ENOUGH] = "enough",
    [NOLI_SEARCH_EVALUATIONS] = "evaluations", [NOLI_SEARCH_STUCK] = "stuck",
    [NOLI_SEARCH_CANCELLED] = "cancelled",     [NOLI_SEARCH_INFEASIBLE] = "infeasible",
};

const NoliNamed noli_search_methods[NOLI_SEARCH_METHODS] = {
    [NOLI_SEARCH_L_BFGS] = {"l_bfgs", "Quasi-Newton with limited memory; no constraints."},
    [NOLI_SEARCH_MMA] = {"mma", "Moving asymptotes; constraints, many variables."},
    [NOLI_SEARCH_CCSA] = {"ccsa", "The same with quadratic approximations."},
    [NOLI_SEARCH_SLSQP] = {"slsqp", "Sequential quadratic programs; constraints, few variables."},
};
const NoliNames noli_search_method_names = {"method of designs", NULL, noli_search_methods,
                                            NOLI_SEARCH_METHODS};

// A point with its values.
typedef struct Sample {
  double* y;        // (n)
  double* value;    // (1 + m)
  double* gradient; // (1 + m x n)
  bool known;
  double violation;
} Sample;

typedef struct Search {
  const NoliSearchDef* def;
  Sample last, best;
  double scale;  // of the objective: its largest derivative at the start becomes 1
  double* lower; // (n) of the box
  double* upper;
  double radius;  // half its sides
  bool failed;    // the last trial has no value; it is at the y of the last sample
  int32_t n_slow; // failures in a row without a gain
  bool improved;  // in this call of the method
  bool ended;     // for the reason in the report
  NoliStatus status;
  NoliSearchReport report;
} Search;

static NoliStatus create_sample(const NoliSearchDef* def, Sample* sample) {
  NoliStatus status = NOLI_OK;
  NOLI_NEW_ZERO(def->context, sample->y, def->n);
  NOLI_NEW_ZERO(def->context, sample->value, 1 + def->m);
  NOLI_NEW_ZERO(def->context, sample->gradient, (1 + def->m) * (int64_t)def->n);
done:
  return status;
}

static void free_sample(NoliContext* context, Sample* sample) {
  noli_free(context, sample->y);
  noli_free(context, sample->value);
  noli_free(context, sample->gradient);
}

static void copy_sample(const NoliSearchDef* def, const Sample* from, Sample* to) {
  size_t n = (size_t)def->n, rows = 1 + (size_t)def->m;
  memcpy(to->y, from->y, sizeof(double) * n);
  memcpy(to->value, from->value, sizeof(double) * rows);
  memcpy(to->gradient, from->gradient, sizeof(double) * rows * n);
  to->known = from->known;
  to->violation = from->violation;
}

// Less violation comes first, then a smaller objective.
static bool is_better(const NoliSearchDef* def, const Sample* a, const Sample* b) {
  if (!b->known) {
    return true;
  }
  bool both = a->violation <= def->feasible && b->violation <= def->feasible;
  return both ? a->value[0] < b->value[0] : a->violation < b->violation;
}

static bool is_at(const NoliSearchDef* def, const Sample* sample, const double* y) {
  return sample->known && memcmp(sample->y, y, sizeof *y * (size_t)def->n) == 0;
}

static void search_end(Search* search, NoliSearchEnd reason) {
  search->ended = true;
  search->report.end = reason;
}

// Counts the last sample. A first value sets the scale of the objective.
static void search_take(Search* search) {
  const NoliSearchDef* def = search->def;
  Sample* last = &search->last;
  double derivative = 0.0;
  for (int32_t i = 0; i < def->n && !search->best.known; i++) {
    derivative = fmax(derivative, fabs(last->gradient[i]));
  }
  if (!search->best.known) {
    search->scale = derivative > 0.0 && isfinite(derivative) ? 1.0 / derivative : 1.0;
  }
  last->violation = 0.0;
  for (int32_t k = 1; k <= def->m; k++) {
    last->violation = fmax(last->violation, last->value[k]);
  }
  bool better = is_better(def, last, &search->best);
  if (better) {
    copy_sample(def, last, &search->best);
    search->improved = true;
    search->report.best = search->report.evaluations;
  }

  search->report.evaluations++;
  if (def->watch != NULL && !def->watch(def->user, better)) {
    search_end(search, NOLI_SEARCH_CANCELLED);
  } else if (last->violation <= def->feasible && last->value[0] <= def->enough) {
    search_end(search, NOLI_SEARCH_ENOUGH);
  }
}

static void miss(Search* search) {
  search->failed = true;
  search->report.failures++;
  search->report.evaluations++;
  if (search->def->watch != NULL && !search->def->watch(search->def->user, false)) {
    search_end(search, NOLI_SEARCH_CANCELLED);
  }
}

// Evaluates at y, where that is not done yet; false: there is no value, or the search ends.
static bool sample_at(Search* search, const double* y) {
  const NoliSearchDef* def = search->def;
  Sample* last = &search->last;
  if (search->ended || search->failed || search->status != NOLI_OK) {
    return false;
  }
  if (is_at(def, last, y)) {
    return true;
  }
  if (is_at(def, &search->best, y)) {
    copy_sample(def, &search->best, last);
    return true;
  }
  if (search->report.evaluations >= def->max_evaluations) {
    search_end(search, NOLI_SEARCH_EVALUATIONS);
    return false;
  }

  bool valid = false;
  last->known = false;
  memcpy(last->y, y, sizeof *y * (size_t)def->n);
  search->status = def->evaluate(def->user, y, last->value, last->gradient, &valid);
  if (search->status != NOLI_OK) {
    return false;
  }
  for (int32_t k = 0; k <= def->m; k++) {
    valid = valid && isfinite(last->value[k]);
  }
  if (!valid) {
    miss(search);
    return false;
  }

  last->known = true;
  search_take(search);
  return !search->ended;
}

static bool search_evaluate(void* user, const double* y, const double** value,
                            const double** gradient) {
  Search* search = user;
  *value = search->last.value;
  *gradient = search->last.gradient;
  return sample_at(search, y);
}

// ---- the box ------------------------------------------------------------------------------------

static void place_box(Search* search) {
  for (int32_t i = 0; i < search->def->n; i++) {
    search->lower[i] = fmax(search->best.y[i] - search->radius, 0.0);
    search->upper[i] = fmin(search->best.y[i] + search->radius, 1.0);
  }
}

// Half the way to the point without a value is inside.
static void shrink(Search* search) {
  double way = 0.0;
  for (int32_t i = 0; i < search->def->n; i++) {
    way = fmax(way, fabs(search->last.y[i] - search->best.y[i]));
  }
  search->radius = fmin(search->radius, 0.5 * way);
}

// Whether the best point is at a side of the box that is no bound.
static bool is_at_side(const Search* search) {
  for (int32_t i = 0; i < search->def->n; i++) {
    double y = search->best.y[i], margin = 1e-9 * search->radius;
    if ((search->lower[i] > 0.0 && y <= search->lower[i] + margin) ||
        (search->upper[i] < 1.0 && y >= search->upper[i] - margin)) {
      return true;
    }
  }
  return false;
}

// After a call of the method: changes the box, or ends the search. `gain`: of the objective in it,
// and `nearer`: how much the violation has decreased.
static void go_on(Search* search, bool finished, double gain, double nearer) {
  bool at_side = search->improved && is_at_side(search);
  bool feasible = search->best.violation <= search->def->feasible;
  if (search->failed) {
    bool slow = !(gain + nearer > search->def->tolerance * fabs(search->best.value[0]));
    search->n_slow = slow ? search->n_slow + 1 : 0;
    shrink(search);
    if (search->n_slow == MOST_SLOW) {
      search_end(search, NOLI_SEARCH_STUCK);
    }
  } else if (at_side) {
    search->radius = fmin(2.0 * search->radius, search->def->move);
  } else if (!feasible && nearer > search->def->tolerance) {
    // a method ends where the objective does not change, although constraints are not satisfied
    return;
  } else if (finished || !search->improved) {
    // in a small box every method finds what it takes for a minimum
    bool confined = search->radius < CONFINED * search->def->move;
    search_end(search, confined    ? NOLI_SEARCH_STUCK
                       : !feasible ? NOLI_SEARCH_INFEASIBLE
                                   : NOLI_SEARCH_CONVERGED);
  }
}

static NoliStatus run_method(Search* search, double* y) {
  NoliStatus status = NOLI_OK;
  const NoliSearchDef* def = search->def;
  bool finished = false;
  NoliMethodDef method = {.context = def->context,
                          .n = def->n,
                          .m = def->m,
                          .method = def->method,
                          .lower = search->lower,
                          .upper = search->upper,
                          .scale = search->scale,
                          .tolerance = def->tolerance,
                          .evaluate = search_evaluate,
                          .user = search};
  double value = search->best.value[0], violation = search->best.violation;

  place_box(search);
  search->failed = search->improved = false;
  memcpy(y, search->best.y, sizeof *y * (size_t)def->n);
  NOLI_TRY(noli_method_run(&method, y, &finished));
  NOLI_TRY(search->status);
  if (!search->ended) {
    go_on(search, finished, value - search->best.value[0], violation - search->best.violation);
  }
done:
  return status;
}

NoliStatus noli_search(const NoliSearchDef* def, double* y, NoliSearchReport* report) {
  NoliStatus status = NOLI_OK;
  Search search = {.def = def, .scale = 1.0, .radius = def->move};
  NOLI_TRY(create_sample(def, &search.last));
  NOLI_TRY(create_sample(def, &search.best));
  NOLI_NEW(def->context, search.lower, def->n);
  NOLI_NEW(def->context, search.upper, def->n);
  (void)sample_at(&search, y);
  NOLI_TRY(search.status);
  NOLI_CHECK(def->context, search.best.known, NOLI_ERROR_ARGUMENT,
             "the start of the variables has no value");
  while (!search.ended) {
    NOLI_TRY(run_method(&search, y));
  }
  memcpy(y, search.best.y, sizeof *y * (size_t)def->n);
  search.report.objective = search.best.value[0];
  search.report.violation = search.best.violation;
  *report = search.report;
done:
  free_sample(def->context, &search.last);
  free_sample(def->context, &search.best);
  noli_free(def->context, search.lower);
  noli_free(def->context, search.upper);
  return status;
}
