// In place of method_nlopt.c where NLopt was not found.
#include "design/search/method.h"

NoliStatus noli_method_run(const NoliMethodDef* def, double* y, bool* finished) {
  (void)y;
  *finished = false;
  return noli_fail(
      def->context, NOLI_ERROR_BACKEND,
      "this build of Noli has no NLopt, which searches: install libnlopt-dev and build "
      "again; objectives and gradients work without it");
}
