#include "design/search/method.h"
#include "design/search/search.h"

#include <math.h>
#include <nlopt.h>
#include <string.h>

typedef struct Call {
  const NoliMethodDef* def;
  nlopt_opt optimizer;
} Call;

// NaN where the method must end; it asks no more then.
static double objective(unsigned n, const double* y, double* gradient, void* user) {
  Call* call = user;
  const double *value = NULL, *derivative = NULL;
  if (!call->def->evaluate(call->def->user, y, &value, &derivative)) {
    nlopt_force_stop(call->optimizer);
    return NAN;
  }
  if (gradient != NULL) {
    for (unsigned i = 0; i < n; i++) {
      gradient[i] = call->def->scale * derivative[i];
    }
  }
  return call->def->scale * value[0];
}

static void constraints(unsigned m, double* result, unsigned n, const double* y, double* gradient,
                        void* user) {
  Call* call = user;
  const double *value = NULL, *derivative = NULL;
  if (!call->def->evaluate(call->def->user, y, &value, &derivative)) {
    nlopt_force_stop(call->optimizer);
    memset(result, 0, sizeof(double) * m);
    return;
  }
  memcpy(result, value + 1, sizeof(double) * m);
  if (gradient != NULL) {
    memcpy(gradient, derivative + n, sizeof(double) * m * n);
  }
}

static nlopt_result set_up(Call* call) {
  static const nlopt_algorithm algorithms[NOLI_SEARCH_METHODS] = {
      [NOLI_SEARCH_L_BFGS] = NLOPT_LD_LBFGS,
      [NOLI_SEARCH_MMA] = NLOPT_LD_MMA,
      [NOLI_SEARCH_CCSA] = NLOPT_LD_CCSAQ,
      [NOLI_SEARCH_SLSQP] = NLOPT_LD_SLSQP,
  };
  const NoliMethodDef* def = call->def;
  call->optimizer = nlopt_create(algorithms[def->method], (unsigned)def->n);
  if (call->optimizer == NULL) {
    return NLOPT_OUT_OF_MEMORY;
  }
  nlopt_result result = nlopt_set_min_objective(call->optimizer, objective, call);
  result = result < 0 ? result : nlopt_set_lower_bounds(call->optimizer, def->lower);
  result = result < 0 ? result : nlopt_set_upper_bounds(call->optimizer, def->upper);
  result = result < 0 ? result : nlopt_set_xtol_abs1(call->optimizer, def->tolerance);
  result = result < 0 ? result : nlopt_set_ftol_rel(call->optimizer, def->tolerance);
  if (def->m > 0 && result >= 0) {
    result = nlopt_add_inequality_mconstraint(call->optimizer, (unsigned)def->m, constraints, call,
                                              NULL);
  }
  return result;
}

NoliStatus noli_method_run(const NoliMethodDef* def, double* y, bool* finished) {
  NoliStatus status = NOLI_OK;
  Call call = {.def = def};
  double smallest = 0.0;
  nlopt_result result = set_up(&call);
  if (result >= 0) {
    result = nlopt_optimize(call.optimizer, y, &smallest);
  }
  NOLI_CHECK(def->context, result != NLOPT_OUT_OF_MEMORY, NOLI_ERROR_MEMORY,
             "NLopt: out of memory");
  NOLI_CHECK(def->context, result != NLOPT_INVALID_ARGS, NOLI_ERROR_INTERNAL, "NLopt: %s",
             nlopt_get_errmsg(call.optimizer) != NULL ? nlopt_get_errmsg(call.optimizer)
                                                      : "invalid arguments");
  *finished = result > 0;
done:
  if (call.optimizer != NULL) {
    nlopt_destroy(call.optimizer);
  }
  return status;
}
