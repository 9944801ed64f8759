// Declarations shared by the files that call CHOLMOD.
#pragma once

#include "base/context.h"

#include <cholmod.h>

// Versions whose factor (cholmod_factor: super, pi, s, ssize, xsize, maxcsize, maxesize) has the
// layout that linalg/supernodal/cholmod_symbolic.c reads. With any other version "cholmod" is
// linalg/solvers/solver_cholmod_plain.c, which calls CHOLMOD's own functions only.
#ifndef NOLI_CHOLMOD_KNOWN
#define NOLI_CHOLMOD_KNOWN                                                                         \
  (CHOLMOD_VERSION >= CHOLMOD_VER_CODE(3, 0) && CHOLMOD_VERSION < CHOLMOD_VER_CODE(6, 0))
#endif

// The status of the last call of CHOLMOD in our terms.
static inline NoliStatus noli_cholmod_check(NoliContext* context, const cholmod_common* common,
                                            const char* doing) {
  switch (common->status) {
  case CHOLMOD_OK:
  case CHOLMOD_DSMALL:
    return NOLI_OK;
  case CHOLMOD_NOT_POSDEF:
    return noli_fail(context, NOLI_NOT_POSITIVE_DEFINITE, "the matrix is not positive definite");
  case CHOLMOD_OUT_OF_MEMORY:
    return noli_fail(context, NOLI_ERROR_MEMORY, "CHOLMOD ran out of memory %s", doing);
  case CHOLMOD_TOO_LARGE:
    return noli_fail(context, NOLI_ERROR_TOO_LARGE, "the matrix is too large for CHOLMOD %s",
                     doing);
  default:
    return noli_fail(context, NOLI_ERROR_BACKEND, "CHOLMOD failed %s: status %d", doing,
                     common->status);
  }
}
