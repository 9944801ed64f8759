// The linear systems of derivatives of one solve, and products with its Jacobians.
#include "derive/solves/sensitivity_solve.h"

#include "math/larger.h"

#include <math.h>
#include <string.h>

// Corrections of a solution by what the matrix leaves out.
enum { MAX_REFINEMENTS = 30 };

bool noli_sensitivity_wants(const NoliSensitivity* self, NoliInput input) {
  return (self->wanted >> input & 1u) != 0;
}

bool noli_sensitivity_is_general(const NoliSensitivity* self) {
  return self->sim->model->problem.friction.implicit;
}

// The mirror image of the matrix: entry (i, j) is the transpose of entry (j, i). The pattern is
// symmetric, and rows are visited in the order of the columns.
static NoliStatus transpose(NoliSensitivity* self) {
  NoliStatus status = NOLI_OK;
  const NoliGeneralMatrix* matrix = &self->matrix;
  int64_t* next = NULL;
  NOLI_NEW(self->context, next, matrix->n);
  noli_free(self->context, self->mirror.value);
  self->mirror = *matrix;
  self->mirror.value = NULL;
  NOLI_NEW(self->context, self->mirror.value, 9 * matrix->nnz);
  for (int32_t i = 0; i < matrix->n; i++) {
    next[i] = matrix->row[i];
  }
  for (int32_t i = 0; i < matrix->n; i++) {
    for (int64_t k = matrix->row[i]; k < matrix->row[i + 1]; k++) {
      NoliMat3 block = noli_transpose33(noli_load33(matrix->value + 9 * k));
      noli_store33(self->mirror.value + 9 * next[matrix->col[k]]++, &block);
    }
  }
done:
  noli_free(self->context, next);
  return status;
}

static NoliStatus give_matrix(void* user, const NoliGeneralMatrix** matrix) {
  NoliSensitivity* self = user;
  *matrix = self->transposed ? &self->mirror : &self->matrix;
  return NOLI_OK;
}

static NoliStatus factor_general(NoliSensitivity* self, bool transposed) {
  NoliStatus status = NOLI_OK;
  self->solver = self->general;
  self->transposed = transposed;
  if (transposed) {
    NOLI_TRY(transpose(self));
  }
  NoliLinSystem system = {.n = self->matrix.n,
                          .assemble = give_matrix,
                          .user = self,
                          .low_rank = &self->sim->stage->system.low_rank,
                          .rank_row = self->sim->stage->system.rank_row};
  NOLI_TRY(noli_lin_solver_factor_system(self->general, system));
done:
  return status;
}

NoliStatus noli_sensitivity_factor(NoliSensitivity* self) {
  NoliStatus status = NOLI_OK;
  NoliStage* stage = self->sim->stage;
  NOLI_TRY(noli_stage_linearize_as(stage, NOLI_EVAL_HESSIAN));
  if (noli_sensitivity_is_general(self)) {
    NOLI_TRY(noli_general_matrix_assemble(&self->matrix, self->context, stage->system.assembler,
                                          stage->system.term, stage->system.n_term,
                                          stage->here->x));
    NOLI_TRY(factor_general(self, false));
    goto done;
  }
  const NoliBlockMatrix* matrix = noli_system_matrix(&stage->system);
  NoliLinSystem system = {.n = matrix->n,
                          .symmetric = matrix,
                          .low_rank = &stage->system.low_rank,
                          .rank_row = stage->system.rank_row};
  self->solver = self->definite;
  status = noli_lin_solver_factor_system(self->definite, system);
  if (status > NOLI_OK) {
    self->solver = self->general;
    status = noli_lin_solver_factor_system(self->general, system);
  }
done:
  return status;
}

// The Jacobian of implicit friction that sticks leaves out how slips turn, which is in the list of
// derivatives: adds the product with that part.
static void multiply_turning(const NoliSensitivity* self, bool transposed, const double* w,
                             double* y) {
  for (int64_t i = 0; i < self->mixed.blocks.count; i++) {
    const NoliMixedBlocks* blocks = &self->mixed.blocks.data[i];
    if (blocks->kind == NOLI_INPUT_END && transposed) {
      noli_mixed_multiply_transposed(blocks, 1.0, w, y);
    } else if (blocks->kind == NOLI_INPUT_END) {
      noli_mixed_multiply(blocks, w, y);
    }
  }
}

// With the matrix alone.
static NoliStatus solve_matrix(NoliSensitivity* self, bool transposed, const double* b, double* x) {
  NoliStatus status = NOLI_OK;
  NoliStage* stage = self->sim->stage;
  NoliSystem* system = &stage->system;
  int64_t n = 3 * (int64_t)stage->problem->n_vert;
  memcpy(self->scaled, b, (size_t)n * sizeof *b);
  noli_system_mask(system, self->scaled);
  noli_system_to_rows(system, 1.0, self->scaled, system->rhs);
  if (noli_sensitivity_is_general(self) && transposed != self->transposed) {
    NOLI_TRY(factor_general(self, transposed));
  }
  if (system->n_dof > 0) {
    NOLI_TRY(noli_lin_solver_solve(self->solver, system->rhs, system->solution));
  }
  noli_system_to_nodes(system, system->solution, x);
  noli_system_mask(system, x);
  noli_stage_follow_vectors(stage, x);
done:
  return status;
}

NoliStatus noli_sensitivity_solve(NoliSensitivity* self, bool transposed, const double* b,
                                  double* x) {
  NoliStatus status = NOLI_OK;
  NoliStage* stage = self->sim->stage;
  int64_t n = 3 * (int64_t)stage->problem->n_vert;
  double *rest = NULL, *correction = NULL, largest = 0.0, last = INFINITY;
  NOLI_TRY(solve_matrix(self, transposed, b, x));
  bool turns = false;
  for (int64_t i = 0; i < self->mixed.blocks.count; i++) {
    turns = turns || self->mixed.blocks.data[i].kind == NOLI_INPUT_END;
  }
  if (!turns) {
    return NOLI_OK;
  }

  // x = K^-1 (b - E x), where E is about the stick length over the length of an edge
  NOLI_NEW(self->context, rest, n);
  NOLI_NEW(self->context, correction, n);
  for (int32_t k = 0; k < MAX_REFINEMENTS; k++) {
    memset(rest, 0, (size_t)n * sizeof *rest);
    multiply_turning(self, transposed, x, rest);
    noli_stage_act_on_nodes(stage, rest);
    for (int64_t i = 0; i < n; i++) {
      rest[i] = b[i] - rest[i];
    }
    NOLI_TRY(solve_matrix(self, transposed, rest, correction));
    double change = 0.0;
    largest = 0.0;
    for (int64_t i = 0; i < n; i++) {
      change = noli_larger(change, fabs(correction[i] - x[i]));
      largest = noli_larger(largest, fabs(correction[i]));
      x[i] = correction[i];
    }
    if (change <= 1e-14 * largest || !(change < last)) {
      break;
    }
    last = change;
  }
done:
  noli_free(self->context, rest);
  noli_free(self->context, correction);
  return status;
}

// y_i += factor block w_j and, below the diagonal, y_j += mirrored block^T w_i.
static void sensitivity_system_add_block(const double* value, double factor, double mirrored,
                                         int32_t i, int32_t j, const double* w, double* y) {
  NoliMat3 block = noli_load33(value);
  double *y_i = y + 3 * (int64_t)i, *y_j = y + 3 * (int64_t)j;
  NoliVec3 w_i = noli_load3(w + 3 * (int64_t)i), w_j = noli_load3(w + 3 * (int64_t)j);
  noli_store3(y_i, noli_mul_add3(noli_load3(y_i), factor, noli_mul33_vec(&block, w_j)));
  if (i != j) {
    noli_store3(y_j,
                noli_mul_add3(noli_load3(y_j), mirrored, noli_transpose_mul33_vec(&block, w_i)));
  }
}

// The product of a Jacobian at x with w, added to y; `blocks` has room for those of a stencil.
typedef struct Product {
  const double *x, *w;
  double *blocks, *y;
} Product;

// Adds the product of stencil s with the part of its Jacobian that `what` says, as add_block.
static void sensitivity_system_add_stencil(const Product* product, const NoliEnergyTerm* term,
                                           int64_t s, unsigned what, double factor,
                                           double mirrored) {
  int32_t size = noli_term_size(term, s);
  const int32_t* node = term->node + noli_term_first(term, s);
  double* blocks = product->blocks;
  memset(blocks, 0, 9 * sizeof *blocks * (size_t)noli_stencil_blocks(size));
  NoliLocal out = {.hessian = blocks};
  term->evaluate(term->data, product->x, s, s + 1, what, &out);
  for (int32_t a = 0; a < size; a++) {
    for (int32_t b = a; b < size; b++) {
      if (node[a] != NOLI_NULL_INDEX && node[b] != NOLI_NULL_INDEX) {
        sensitivity_system_add_block(blocks + 9 * noli_stencil_block(size, a, b), factor, mirrored,
                                     node[a], node[b], product->w, product->y);
      }
    }
  }
}

// Adds the parts of rank one of a term, which its stencils lack.
static NoliStatus multiply_rank_one(NoliSensitivity* self, const NoliTerm* term, const double* w,
                                    double* y) {
  NoliStatus status = NOLI_OK;
  const NoliStage* stage = self->sim->stage;
  int64_t n = 3 * (int64_t)stage->problem->n_vert;
  double* vector = NULL;
  int32_t n_rank = term->type->rank != NULL ? term->type->rank(term->self) : 0;
  NOLI_NEW(self->context, vector, n_rank > 0 ? n : 0);
  for (int32_t r = 0; r < n_rank; r++) {
    memset(vector, 0, (size_t)n * sizeof *vector);
    double sum = 0.0, scale = term->type->add_rank_one(term->self, r, stage->here->x, vector);
    for (int64_t i = 0; i < n; i++) {
      sum += vector[i] * w[i];
    }
    for (int64_t i = 0; i < n; i++) {
      y[i] += scale * sum * vector[i];
    }
  }
done:
  noli_free(self->context, vector);
  return status;
}

NoliStatus noli_sensitivity_multiply(NoliSensitivity* self, bool transposed, unsigned roles,
                                     const double* w, double* y) {
  NoliStatus status = NOLI_OK;
  NoliStage* stage = self->sim->stage;
  const double* x = stage->here->x;
  double *blocks = NULL, sign = transposed ? -1.0 : 1.0;

  if ((roles & NOLI_ROLE_IMPLICIT_FRICTION) != 0) {
    multiply_turning(self, transposed, w, y);
  }
  for (int32_t t = 0; t < stage->terms.n; t++) {
    const NoliEnergyTerm* term = &stage->here->term[t];
    if (!noli_stage_has(stage, t, roles) || term->n_stencil == 0) {
      continue;
    }
    noli_free(self->context, blocks);
    blocks = NULL;
    NOLI_NEW(self->context, blocks, 9 * (int64_t)noli_stencil_blocks(noli_term_largest(term)));
    noli_term_prepare(term, x, stage->n_threads);
    NOLI_TRY(multiply_rank_one(self, &stage->terms.term[t], w, y));
    const Product product = {.x = x, .w = w, .blocks = blocks, .y = y};
    for (int64_t s = 0; s < term->n_stencil; s++) {
      sensitivity_system_add_stencil(&product, term, s, NOLI_EVAL_HESSIAN, 1.0, 1.0);
      if (term->skew) {
        sensitivity_system_add_stencil(&product, term, s, NOLI_EVAL_SKEW, sign, -sign);
      }
    }
  }
done:
  noli_free(self->context, blocks);
  return status;
}

NoliStatus noli_sensitivity_find_gradient(NoliSensitivity* self, double* gradient) {
  NoliStatus status = NOLI_OK;
  NoliStage* stage = self->sim->stage;
  double* local = NULL;
  memset(gradient, 0, noli_sim_vector_bytes(self->sim));

  for (int32_t t = 0; t < stage->terms.n; t++) {
    const NoliEnergyTerm* term = &stage->here->term[t];
    noli_free(self->context, local);
    local = NULL;
    NOLI_NEW(self->context, local, 3 * (int64_t)noli_term_largest(term));
    noli_term_prepare(term, stage->here->x, stage->n_threads);
    for (int64_t s = 0; s < term->n_stencil; s++) {
      int64_t first = noli_term_first(term, s);
      NoliLocal out = {.gradient = local};
      term->evaluate(term->data, stage->here->x, s, s + 1, NOLI_EVAL_GRADIENT, &out);
      for (int32_t a = 0; a < noli_term_size(term, s); a++) {
        double* to = gradient + 3 * (int64_t)term->node[first + a];
        if (term->node[first + a] != NOLI_NULL_INDEX) {
          noli_store3(to, noli_add3(noli_load3(to), noli_load3(local + 3 * (int64_t)a)));
        }
      }
    }
  }
done:
  noli_free(self->context, local);
  return status;
}
