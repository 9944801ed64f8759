#include "solve/problem.h"

#include "math/vec3.h"

double noli_problem_inversion_bound(const NoliProblem* problem, const double* x, const double* p,
                                    double keep, bool valid_end, int32_t n_threads,
                                    NoliBlockingElement* blocking) {
  NoliBlockingElement stopper = {NOLI_NULL_INDEX, NOLI_NULL_INDEX};
  double alpha = 1.0;
  for (int32_t i = 0; i < problem->n_block; i++) {
    const NoliBlock* block = &problem->block[i];
    if (block->type->inversion_bound == NULL) {
      continue;
    }
    int32_t element;
    double bound = block->type->inversion_bound(block, x, p, keep, valid_end, n_threads, &element);
    if (bound < alpha) {
      alpha = bound;
      stopper = (NoliBlockingElement){i, element};
    }
  }
  if (blocking != NULL) {
    *blocking = stopper;
  }
  return alpha;
}

bool noli_problem_has_consistent_mass(const NoliProblem* problem) {
  bool any = false;
  for (int32_t i = 0; i < problem->n_block; i++) {
    any = any || problem->block[i].n_consistent > 0;
  }
  return any;
}

double noli_problem_turn(const NoliProblem* problem, const double* p) {
  double most = 0.0;
  for (int32_t i = 0; i < problem->n_block; i++) {
    const NoliBlock* block = &problem->block[i];
    most = fmax(most, block->type->turn != NULL ? block->type->turn(block, p) : 0.0);
  }
  return most;
}

bool noli_problem_has_thin(const NoliProblem* problem) {
  bool any = false;
  for (int32_t i = 0; i < problem->n_block; i++) {
    any = any || problem->block[i].type->turn != NULL;
  }
  return any;
}

bool noli_problem_is_damped(const NoliProblem* problem) {
  bool any = noli_springs_are_damped(&problem->springs);
  for (int32_t i = 0; i < problem->n_block; i++) {
    const NoliBlock* block = &problem->block[i];
    for (int32_t part = 0; part < NOLI_BLOCK_PARTS; part++) {
      any = any || (noli_block_stencils(block, (NoliBlockPart)part).n > 0 &&
                    block->type->damping->size(block, (NoliBlockPart)part) > 0);
    }
  }
  return any;
}

bool noli_problem_has_histories(const NoliProblem* problem) {
  bool any = false;
  for (int32_t i = 0; i < problem->n_block; i++) {
    any = any || noli_block_histories(&problem->block[i]) != NULL;
  }
  return any;
}

void noli_problem_divide_by_mass(const NoliProblem* problem, const double* y, int32_t n_threads,
                                 double* x) {
  for (int32_t i = 0; i < problem->n_block; i++) {
    const NoliBlock* block = &problem->block[i];
    if (block->n_consistent > 0) {
      block->type->divide_by_mass(block, y, n_threads, x);
    }
  }
}

void noli_problem_multiply_mass(const NoliProblem* problem, const double* y, int32_t n_threads,
                                double* x) {
  for (int32_t i = 0; i < problem->n_block; i++) {
    const NoliBlock* block = &problem->block[i];
    if (block->n_consistent > 0) {
      block->type->multiply_mass(block, y, n_threads, x);
    }
  }
}

double noli_problem_kinetic_energy(const NoliProblem* problem, const double* v, int32_t n_threads) {
  double energy = 0.0;
  for (int32_t i = 0; i < problem->n_block; i++) {
    const NoliBlock* block = &problem->block[i];
    if (block->n_consistent > 0) {
      energy += 0.5 * block->type->mass_norm_sqr(block, v, NULL, n_threads);
    }
  }
  for (int32_t i = 0; i < problem->n_lumped; i++) {
    int64_t node = problem->lumped[i];
    energy += 0.5 * problem->mass[node] * noli_norm_sqr3(noli_load3(v + 3 * node));
  }
  return energy;
}
