// A linear map y = A x of vectors (n x 3).
#pragma once

#include "base/context.h"

typedef struct NoliLinearMap {
  NoliStatus (*apply)(void* user, const double* x, double* y);
  void* user;
} NoliLinearMap;
