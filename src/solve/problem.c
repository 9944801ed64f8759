#include "solve/problem.h"

double noli_problem_inversion_bound(const NoliProblem* problem, const double* x, const double* p,
                                    double keep, bool valid_end, int32_t n_threads,
                                    NoliBlockingElement* blocking) {
  NoliBlockingElement stopper = {NOLI_NULL_INDEX, NOLI_NULL_INDEX};
  double alpha =
      noli_tets_inversion_bound(&problem->tets, x, p, keep, valid_end, n_threads, &stopper.tet);
  for (int32_t i = 0; i < problem->n_element_body; i++) {
    const NoliElementBody* body = &problem->element_body[i];
    int64_t first = 3 * (int64_t)body->first_node;
    int32_t tet;
    double bound = noli_elements_inversion_bound(&body->elements, x + first, p + first, keep,
                                                 valid_end, n_threads, &tet);
    if (bound < alpha) {
      alpha = bound;
      stopper = (NoliBlockingElement){i, tet};
    }
  }
  if (blocking != NULL) {
    *blocking = stopper;
  }
  return alpha;
}

void noli_problem_divide_by_mass(const NoliProblem* problem, const double* y, int32_t n_threads,
                                 double* x) {
  for (int32_t i = 0; i < problem->n_element_body; i++) {
    noli_element_body_divide_by_mass(&problem->element_body[i], y, n_threads, x);
  }
}

void noli_problem_multiply_mass(const NoliProblem* problem, const double* y, int32_t n_threads,
                                double* x) {
  for (int32_t i = 0; i < problem->n_element_body; i++) {
    noli_element_body_multiply_mass(&problem->element_body[i], y, n_threads, x);
  }
}
