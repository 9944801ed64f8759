// The search for a minimum: NLopt (design/search/method.h) in a box that moves with the best point.
//
// Methods for smooth functions know no points without a value: a trial shape that inverts, a run
// that does not end. A number put in place of the value would spoil their models of the function,
// and they would go on with them. So a method works within a box around the best point, inside the
// bounds, in which every point it has seen has a value. Where a trial fails, the method is ended,
// the box shrinks to half the distance to that point, and the method starts again from the best
// point; where it ends at a side of the box, the box grows. Both are what the move limits of MMA
// and trust regions do.
//
// Variables are scaled: every one is between 0 and 1.
#pragma once

#include "base/context.h"
#include "base/named.h"

// The objective and the constraints g <= 0 at `y` (n): value (1 + m), gradient (1 + m x n).
// `valid` false: there is no value there. Fails where the search must end.
typedef NoliStatus NoliSearchFn(void* user, const double* y, double* value, double* gradient,
                                bool* valid);
// Called after each evaluation; `best`: it is the best so far. False ends the search.
typedef bool NoliSearchWatchFn(void* user, bool best);

typedef struct NoliSearchDef {
  NoliContext* context;
  int32_t n; // variables
  int32_t m; // constraints
  int32_t method;
  int32_t max_evaluations;
  double tolerance; // of variables, and of the objective relative to its value
  double feasible;  // a constraint below this counts as satisfied
  double enough;
  double move;
  NoliSearchFn* evaluate;
  NoliSearchWatchFn* watch; // NULL: none
  void* user;
} NoliSearchDef;

// In the order of `noli_search_ends`.
typedef enum NoliSearchEnd {
  NOLI_SEARCH_CONVERGED,
  NOLI_SEARCH_ENOUGH,
  NOLI_SEARCH_EVALUATIONS,
  NOLI_SEARCH_STUCK, // between failures
  NOLI_SEARCH_CANCELLED,
  NOLI_SEARCH_INFEASIBLE, // the method has converged where constraints are not satisfied
  NOLI_SEARCH_ENDS
} NoliSearchEnd;
extern const char* const noli_search_ends[NOLI_SEARCH_ENDS];

typedef struct NoliSearchReport {
  NoliSearchEnd end;
  double objective;
  double violation; // largest constraint, or 0
  int32_t evaluations;
  int32_t failures;
  int32_t best; // number of the evaluation
} NoliSearchReport;

// The methods, in the order of their names.
typedef enum NoliSearchMethod {
  NOLI_SEARCH_L_BFGS,
  NOLI_SEARCH_MMA,
  NOLI_SEARCH_CCSA,
  NOLI_SEARCH_SLSQP,
  NOLI_SEARCH_METHODS
} NoliSearchMethod;
extern const NoliNamed noli_search_methods[NOLI_SEARCH_METHODS];
extern const NoliNames noli_search_method_names;

// From `y` (n), which receives the best point. The first evaluation must be valid.
NOLI_WARN_UNUSED NoliStatus noli_search(const NoliSearchDef* def, double* y,
                                        NoliSearchReport* report);
