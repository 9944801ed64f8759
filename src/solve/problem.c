#include "solve/problem.h"

#include "base/ranks.h"
#include "math/vec3.h"

bool noli_problem_is_divided(const NoliProblem* problem) {
  bool any = false;
  for (int32_t i = 0; i < problem->n_block; i++) {
    any = any || problem->block[i].divided;
  }
  return any;
}

// A bound of steps, and the element that sets it.
typedef struct Bound {
  double alpha;
  NoliBlockingElement stopper;
} Bound;

// The smallest bound of the elements that this rank holds.
static Bound bound_own(const NoliProblem* problem, const double* x, const double* p, double keep,
                       bool valid_end, int32_t n_threads) {
  Bound own = {1.0, {NOLI_NULL_INDEX, NOLI_NULL_INDEX}};
  for (int32_t i = 0; i < problem->n_block; i++) {
    const NoliBlock* block = &problem->block[i];
    if (block->type->inversion_bound == NULL) {
      continue;
    }
    int32_t element;
    double bound = block->type->inversion_bound(block, x, p, keep, valid_end, n_threads, &element);
    if (bound < own.alpha) {
      own = (Bound){bound, {i, noli_block_number(block, element)}};
    }
  }
  return own;
}

// Blocks, and elements of a block, come in their order.
static bool comes_first(const Bound* a, const Bound* b) {
  if (a->alpha != b->alpha) {
    return a->alpha < b->alpha;
  }
  return a->stopper.block != b->stopper.block ? a->stopper.block < b->stopper.block
                                              : a->stopper.element < b->stopper.element;
}

NoliStatus noli_problem_inversion_bound(const NoliProblem* problem, NoliContext* context,
                                        const double* x, const double* p, double keep,
                                        bool valid_end, double* alpha,
                                        NoliBlockingElement* blocking) {
  NoliStatus status = NOLI_OK;
  Bound least = bound_own(problem, x, p, keep, valid_end, noli_context_threads(context));
  Bound* all = NULL;
  int64_t capacity = 0, n = 0;
  if (noli_problem_is_divided(problem)) {
    NOLI_TRY(noli_ranks_gather(context, sizeof least, &least, 1, (void**)&all, &capacity, &n));
    least = all[0];
    for (int64_t r = 1; r < n; r++) {
      least = comes_first(&all[r], &least) ? all[r] : least;
    }
  }
  *alpha = least.alpha;
  if (blocking != NULL) {
    *blocking = least.stopper;
  }
done:
  noli_free(context, all);
  return status;
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

bool noli_problem_has_connections(const NoliProblem* problem) {
  int64_t n = 0;
  for (int32_t kind = 0; kind < NOLI_CONNECTION_FORCES; kind++) {
    n += problem->connection[kind].n;
  }
  return n > 0;
}

bool noli_problem_is_damped(const NoliProblem* problem) {
  bool any = false;
  for (int32_t kind = 0; kind < NOLI_CONNECTION_FORCES; kind++) {
    any = any || noli_connections_are_damped(&problem->connection[kind]);
  }
  for (int32_t i = 0; i < problem->n_block; i++) {
    const NoliBlock* block = &problem->block[i];
    for (int32_t part = 0; part < NOLI_BLOCK_PARTS; part++) {
      any = any || block->damped_elsewhere ||
            (noli_block_stencils(block, (NoliBlockPart)part).n > 0 &&
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
  for (int32_t i = 0; i < problem->inertia.n_lumped; i++) {
    int64_t node = problem->inertia.lumped[i];
    energy += 0.5 * problem->inertia.mass[node] * noli_norm_sqr3(noli_load3(v + 3 * node));
  }
  return energy;
}
