// One call of a method of NLopt, or its absence.
#pragma once

#include "base/context.h"

// Objective and constraints g <= 0 at y: value (1 + m), gradient (1 + m x n) by rows. False: the
// method must end at once.
typedef bool NoliMethodFn(void* user, const double* y, const double** value,
                          const double** gradient);

typedef struct NoliMethodDef {
  NoliContext* context;
  int32_t n, m;
  int32_t method;      // NoliSearchMethod
  const double* lower; // (n)
  const double* upper;
  double scale; // the method sees this times the objective
  double tolerance;
  NoliMethodFn* evaluate;
  void* user;
} NoliMethodDef;

// Runs a method from y (n) until it finds no better point; `finished`: it says that y is the
// minimum. Fails with NOLI_ERROR_BACKEND where
// there is none, NOLI_ERROR_MEMORY.
NOLI_WARN_UNUSED NoliStatus noli_method_run(const NoliMethodDef* def, double* y, bool* finished);
