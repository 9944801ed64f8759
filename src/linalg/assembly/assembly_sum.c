// Evaluation of stencils, and the sums of their gradients and matrices in a fixed order.
#include "base/parallel.h"
#include "base/profile.h"
#include "base/ranks.h"
#include "linalg/assembly/assembler.h"
#include "linalg/expansion.h"

#include <math.h>
#include <string.h>

// Ranges of targets into which the slots of a group of batches are added.
enum { N_RANGES = 64 };

// Local blocks of a group of batches from which threads pay.
enum { SHARED_BLOCKS = 4096 };

// Rows of the matrix that a worker masks at a time.
enum { MASK_BLOCK = 1024 };

// One group of batches on its way through evaluation and summation.
typedef struct GroupJob {
  const NoliAssembler* assembler;
  const NoliEnergyTerm* terms;
  const NoliPlan* plan;
  int64_t first; // batches first .. end - 1
  int64_t end;
  const double* x;
  unsigned what;
  double* gradient; // NULL where not wanted
  double* value;    // of the matrix, NULL where not wanted
  bool skew;        // the skew part alone, of the terms that have one
  // instead of the gradient, NULL where not wanted: the product of the matrix of `product_what`
  // with a vector (n_node x 3), or a column of its diagonal blocks
  const NoliProduct* product;
  bool clear; // targets start from zero
} GroupJob;

// Whether the batch contributes nothing.
static bool left_out(const GroupJob* job, const NoliPlanBatch* batch) {
  return job->skew && !job->terms[batch->term].skew;
}

static void add_3(double* to, const double* from) {
  to[0] += from[0];
  to[1] += from[1];
  to[2] += from[2];
}

static void add_9(double* to, const double* from) {
  for (int32_t c = 0; c < 9; c++) {
    to[c] += from[c];
  }
}

static void add_9_transposed(double* to, double sign, const double* from) {
  for (int32_t r = 0; r < 3; r++) {
    for (int32_t c = 0; c < 3; c++) {
      to[3 * r + c] += sign * from[3 * c + r];
    }
  }
}

// Adds `count` local gradients to slots.
static void add_gradients(const uint32_t* goes, int64_t count, const double* local, double* slot) {
  for (int64_t k = 0; k < count; k++) {
    if (goes[k] != NOLI_PLAN_DROPPED) {
      add_3(slot + 3 * (int64_t)(goes[k] >> 2), local + 3 * k);
    }
  }
}

// Adds `count` local blocks to slots; `sign` is that of a transposed block: -1 for skew parts.
static void add_blocks(const uint32_t* goes, int64_t count, double sign, const double* local,
                       double* slot) {
  for (int64_t k = 0; k < count; k++) {
    if (goes[k] == NOLI_PLAN_DROPPED) {
      continue;
    }
    double* to = slot + 9 * (int64_t)(goes[k] >> 2);
    if ((goes[k] & 3) != NOLI_PLAN_TRANSPOSED) {
      add_9(to, local + 9 * k);
    }
    if ((goes[k] & 3) != NOLI_PLAN_PLAIN) {
      add_9_transposed(to, sign, local + 9 * k);
    }
  }
}

// Entry (a r, b c) of a symmetric (sign 1) or skew (sign -1) matrix by its upper blocks.
static double entry_of(const double* upper, int32_t size, int32_t a, int32_t b, int32_t r,
                       int32_t c, double sign) {
  return a <= b ? upper[9 * noli_stencil_block(size, a, b) + 3 * r + c]
                : sign * upper[9 * noli_stencil_block(size, b, a) + 3 * c + r];
}

// y += A p of a stencil; for a column of the diagonal blocks only nodes with themselves count.
static void assembly_sum_add_product(const NoliProduct* product, const double* upper, double sign,
                                     int32_t size, const int32_t* node, double* y) {
  for (int32_t a = 0; a < size; a++) {
    for (int32_t b = 0; b < size; b++) {
      bool counts = node[a] != NOLI_NULL_INDEX && node[b] != NOLI_NULL_INDEX &&
                    (product->p != NULL || node[a] == node[b]);
      for (int32_t e = 0; counts && e < 9; e++) {
        int32_t r = e / 3, c = e % 3;
        double p = product->p != NULL ? product->p[3 * (int64_t)node[b] + c] : c == product->axis;
        double entry = entry_of(upper, size, a, b, r, c, sign);
        y[3 * a + r] += (product->magnitudes ? fabs(entry) : entry) * p;
      }
    }
  }
}

// Products of stencils [begin, end), of which `upper` holds the matrices, into their gradients.
static void add_products(const GroupJob* job, const NoliEnergyTerm* term, int64_t begin,
                         int64_t end, double sign, const double* upper, double* gradient) {
  for (int64_t s = begin; s < end; s++) {
    int64_t node = noli_term_first(term, s), block = noli_term_first_block(term, s);
    assembly_sum_add_product(job->product, upper + 9 * (block - noli_term_first_block(term, begin)),
                             sign, noli_term_size(term, s), term->node + node,
                             gradient + 3 * (node - noli_term_first(term, begin)));
  }
}

// Stencils [begin, end) of a term, at the vertices where it is expanded.
static void evaluate_term(const GroupJob* job, const NoliEnergyTerm* term, int64_t begin,
                          int64_t end, unsigned what, const NoliLocal* out, int32_t worker) {
  const NoliAssembler* assembler = job->assembler;
  if (term->expansion == NULL) {
    term->evaluate(term->data, job->x, begin, end, what, out);
  } else {
    noli_expansion_evaluate(term->expansion, job->x, begin, end, what, out,
                            assembler->vertex_gradient + 3 * assembler->vertex_room * worker,
                            assembler->vertex_hessian + 9 * assembler->vertex_room * worker);
  }
}

// Matrices of stencils [begin, end), then their products in place of gradients.
static void evaluate_products(const GroupJob* job, const NoliEnergyTerm* term, int64_t begin,
                              int64_t end, double* hessian, double* gradient, int32_t worker) {
  NoliLocal out = {.hessian = hessian};
  int64_t n_node = noli_term_first(term, end) - noli_term_first(term, begin);
  memset(gradient, 0, 3 * sizeof(double) * (size_t)n_node);
  evaluate_term(job, term, begin, end, job->product->what, &out, worker);
  add_products(job, term, begin, end, 1.0, hessian, gradient);
  if (term->skew) {
    evaluate_term(job, term, begin, end, NOLI_EVAL_SKEW, &out, worker);
    add_products(job, term, begin, end, -1.0, hessian, gradient);
  }
}

// Evaluates stencils [begin, end) of a batch and adds them to its slots.
static void add_stencils(const GroupJob* job, const NoliPlanBatch* batch, int64_t begin,
                         int64_t end, int32_t worker) {
  const NoliAssembler* assembler = job->assembler;
  const NoliEnergyTerm* term = &job->terms[batch->term];
  int64_t node = noli_term_first(term, begin), block = noli_term_first_block(term, begin);
  int64_t node_0 = noli_term_first(term, batch->begin);
  int64_t block_0 = noli_term_first_block(term, batch->begin);
  double* gradient = assembler->local_gradient + 3 * assembler->evaluate_room * worker;
  double* hessian = assembler->local_hessian + 9 * assembler->evaluate_room * worker;

  // evaluate into local results
  NoliLocal out = {.gradient = job->gradient != NULL ? gradient : NULL,
                   .hessian = job->value != NULL ? hessian : NULL};
  if (job->product != NULL) {
    evaluate_products(job, term, begin, end, hessian, gradient, worker);
  } else {
    evaluate_term(job, term, begin, end, job->what, &out, worker);
  }

  // add them to the slots
  if (job->gradient != NULL) {
    add_gradients(job->plan->node + batch->first_node + (node - node_0),
                  noli_term_first(term, end) - node, gradient,
                  assembler->slot_gradient + 3 * batch->node_offset);
  }
  if (job->value != NULL) {
    add_blocks(job->plan->block + batch->first_block + (block - block_0),
               noli_term_first_block(term, end) - block, job->skew ? -1.0 : 1.0, hessian,
               assembler->slot_hessian + 9 * batch->block_offset);
  }
}

// Sums the slots of batches begin..end of the group.
static void sum_batches(void* user, int64_t begin, int64_t end, int32_t worker) {
  const GroupJob* job = user;
  for (int64_t k = begin; k < end; k++) {
    const NoliPlanBatch* batch = &job->plan->batch[job->first + k];
    if (left_out(job, batch)) {
      continue;
    }
    if (job->gradient != NULL) {
      memset(job->assembler->slot_gradient + 3 * batch->node_offset, 0,
             3 * sizeof(double) * (size_t)batch->n_node_slot);
    }
    if (job->value != NULL) {
      memset(job->assembler->slot_hessian + 9 * batch->block_offset, 0,
             9 * sizeof(double) * (size_t)batch->n_block_slot);
    }
    for (int64_t s = batch->begin, next; s < batch->end; s = next) {
      next = noli_plan_some(&job->terms[batch->term], s, batch->end, EVALUATE_STENCILS,
                            EVALUATE_BLOCKS);
      add_stencils(job, batch, s, next, worker);
    }
  }
}

// Adds the slots of all batches to nodes low..high of the gradient.
static void add_to_gradient(const GroupJob* job, int64_t low, int64_t high) {
  if (job->clear) {
    memset(job->gradient + 3 * low, 0, 3 * sizeof(double) * (size_t)(high - low));
  }
  for (int64_t k = job->first; k < job->end; k++) {
    const NoliPlanBatch* batch = &job->plan->batch[k];
    const uint32_t* target = job->plan->node_target + batch->first_node;
    const double* slot = job->assembler->slot_gradient + 3 * batch->node_offset;
    for (int32_t s = noli_plan_lower_bound(target, batch->n_node_slot, low);
         s < batch->n_node_slot && (int64_t)target[s] < high; s++) {
      add_3(job->gradient + 3 * (int64_t)target[s], slot + 3 * (int64_t)s);
    }
  }
}

// Adds the slots of all batches to blocks low..high of the matrix.
static void add_to_matrix(const GroupJob* job, int64_t low, int64_t high) {
  if (job->clear) {
    memset(job->value + 9 * low, 0, 9 * sizeof(double) * (size_t)(high - low));
  }
  for (int64_t k = job->first; k < job->end; k++) {
    const NoliPlanBatch* batch = &job->plan->batch[k];
    if (left_out(job, batch)) {
      continue;
    }
    const uint32_t* target = job->plan->block_target + batch->first_block;
    const double* slot = job->assembler->slot_hessian + 9 * batch->block_offset;
    for (int32_t s = noli_plan_lower_bound(target, batch->n_block_slot, low);
         s < batch->n_block_slot && (int64_t)target[s] < high; s++) {
      add_9(job->value + 9 * (int64_t)target[s], slot + 9 * (int64_t)s);
    }
  }
}

// Ranges begin..end of all targets.
static void add_to_ranges(void* user, int64_t begin, int64_t end, int32_t worker) {
  (void)worker;
  const GroupJob* job = user;
  if (job->gradient != NULL) {
    int64_t n = job->assembler->unknowns.n_node;
    add_to_gradient(job, n * begin / N_RANGES, n * end / N_RANGES);
  }
  if (job->value != NULL) {
    int64_t n = job->assembler->pattern.matrix.nnz;
    add_to_matrix(job, n * begin / N_RANGES, n * end / N_RANGES);
  }
}

// Batches are long, so that threads share even two of them. Ranges are not worth their search where
// there is little to add.
static void add_group(GroupJob* job, int32_t n_threads) {
  int64_t n_block = 0, n_batch = job->end - job->first;
  for (int64_t k = job->first; k < job->end; k++) {
    n_block += job->plan->batch[k].n_block;
  }
  bool shared = n_block >= SHARED_BLOCKS;
  if (n_batch > 1 && shared) {
    noli_parallel_tasks(n_threads, n_batch, sum_batches, job);
  } else {
    sum_batches(job, 0, n_batch, 0);
  }
  if (shared) {
    noli_parallel_for(n_threads, N_RANGES, 1, add_to_ranges, job);
  } else {
    add_to_ranges(job, 0, N_RANGES, 0);
  }
}

static void add_plan(const NoliPlan* plan, GroupJob* job) {
  int32_t n_threads = noli_context_threads(job->assembler->context);
  noli_ranks_count_work(job->assembler->context, plan->n_block);
  job->plan = plan;
  for (job->first = 0; job->first < plan->n_batch; job->first = job->end) {
    job->end = noli_plan_group_end(plan, job->first);
    add_group(job, n_threads);
    job->clear = false;
  }
}

// Fails unless the terms have the stencils that the last prepare saw.
static NoliStatus check_prepared(const NoliAssembler* assembler, const NoliEnergyTerm* terms,
                                 int32_t n_terms) {
  NoliStatus status = NOLI_OK;
  const NoliPlan* plans[2] = {&assembler->fixed, &assembler->changing};
  NOLI_CHECK(assembler->context, n_terms == assembler->n_terms, NOLI_ERROR_ARGUMENT,
             "%d terms, but %d were prepared", n_terms, assembler->n_terms);
  for (int32_t p = 0; p < 2; p++) {
    for (int64_t k = 0; k < plans[p]->n_batch; k++) {
      const NoliPlanBatch* batch = &plans[p]->batch[k];
      const NoliEnergyTerm* term = &terms[batch->term];
      NOLI_CHECK(assembler->context, batch->end <= term->n_stencil, NOLI_ERROR_ARGUMENT,
                 "term \"%s\" lost stencils since it was prepared", term->name);
      NOLI_CHECK(assembler->context,
                 noli_term_first_block(term, batch->end) -
                         noli_term_first_block(term, batch->begin) ==
                     batch->n_block,
                 NOLI_ERROR_ARGUMENT, "the stencils of term \"%s\" have other sizes than prepared",
                 term->name);
    }
  }
done:
  return status;
}

void noli_assembler_mask_gradient(const NoliAssembler* assembler, double* gradient) {
  for (int32_t i = 0; i < assembler->n_held; i++) {
    for (int32_t k = 0; k < 3; k++) {
      if ((assembler->held_axes[i] >> k & 1) != 0) {
        gradient[3 * (int64_t)assembler->held_node[i] + k] = 0.0;
      }
    }
  }
}

typedef struct MaskJob {
  const NoliAssembler* assembler;
  double* value; // of the upper blocks
  bool regular;  // held components get a diagonal in own rows
} MaskJob;

// A diagonal entry for the components of a node of which `held` are held: as large as its others,
// so that neither conditioning nor sizes taken from the matrix depend on units.
static double held_diagonal(const double block[9], unsigned held) {
  double largest = 0.0;
  for (int32_t k = 0; k < 3; k++) {
    largest = fmax(largest, (held >> k & 1) == 0 ? fabs(block[4 * k]) : 0.0);
  }
  return largest > 0.0 ? largest : 1.0;
}

// Rows and columns of held components in block rows begin..end.
static void mask_rows(void* user, int64_t begin, int64_t end, int32_t worker) {
  (void)worker;
  const MaskJob* job = user;
  const NoliAssembler* assembler = job->assembler;
  const NoliBlockMatrix* matrix = &assembler->pattern.matrix;
  for (int64_t i = begin; i < end; i++) {
    unsigned here = assembler->held_row[i];
    bool own = i >= assembler->own_begin && i < assembler->own_end;
    for (int64_t k = matrix->row[i]; k < matrix->row[i + 1]; k++) {
      unsigned there = assembler->held_row[matrix->col[k]];
      if ((here | there) == 0) {
        continue;
      }
      bool diagonal = own && job->regular && matrix->col[k] == i;
      double held = diagonal ? held_diagonal(job->value + 9 * k, here) : 0.0;
      for (int32_t e = 0; e < 9; e++) {
        int32_t r = e / 3, c = e % 3;
        if ((here >> r & 1) != 0 || (there >> c & 1) != 0) {
          job->value[9 * k + e] = r == c ? held : 0.0;
        }
      }
    }
  }
}

static void mask_matrix(const NoliAssembler* assembler, double* value, bool regular) {
  MaskJob job = {assembler, value, regular};
  noli_parallel_for(noli_context_threads(assembler->context), assembler->pattern.matrix.n,
                    MASK_BLOCK, mask_rows, &job);
}

static void add_plans(GroupJob* job) {
  add_plan(&job->assembler->fixed, job);
  add_plan(&job->assembler->changing, job);
  if (job->clear) {
    // there were no stencils
    add_to_ranges(job, 0, N_RANGES, 0);
  }
}

NoliStatus noli_assembler_linearize(NoliAssembler* assembler, const NoliEnergyTerm* terms,
                                    int32_t n_terms, const double* x, unsigned what,
                                    double* gradient) {
  NoliStatus status = NOLI_OK;
  bool matrix = (what & (NOLI_EVAL_HESSIAN | NOLI_EVAL_PROJECTED)) != 0;
  NoliWork before = noli_work(matrix ? NOLI_WORK_HESSIAN : NOLI_WORK_GRADIENT);
  NOLI_TRY(check_prepared(assembler, terms, n_terms));

  // what to evaluate
  GroupJob job = {
      .assembler = assembler, .terms = terms, .x = x, .gradient = gradient, .clear = true};
  job.what = what & (NOLI_EVAL_HESSIAN | NOLI_EVAL_PROJECTED);
  if (job.what != 0) {
    job.value = assembler->pattern.matrix.value;
  }
  if (gradient != NULL) {
    job.what |= NOLI_EVAL_GRADIENT;
  }

  // sums of all stencils
  for (int32_t t = 0; job.what != 0 && t < n_terms; t++) {
    noli_term_prepare(&terms[t], x, noli_context_threads(assembler->context));
  }
  if (job.what != 0) {
    add_plans(&job);
  }

  // stencils of other ranks
  if (gradient != NULL) {
    NOLI_TRY(noli_ranks_sum(assembler->context, gradient, 3 * (int64_t)assembler->unknowns.n_node));
  }

  // held components
  if (assembler->n_held > 0 && gradient != NULL) {
    noli_assembler_mask_gradient(assembler, gradient);
  }
  if (assembler->n_held > 0 && job.value != NULL) {
    mask_matrix(assembler, job.value, true);
  }
done:
  noli_work(before);
  return status;
}

NoliStatus noli_assembler_multiply(NoliAssembler* assembler, const NoliEnergyTerm* terms,
                                   int32_t n_terms, const double* x, const NoliProduct* product,
                                   double* y) {
  NoliStatus status = NOLI_OK;
  NOLI_TRY(check_prepared(assembler, terms, n_terms));
  GroupJob job = {.assembler = assembler,
                  .terms = terms,
                  .x = x,
                  .gradient = y,
                  .product = product,
                  .clear = true};
  for (int32_t t = 0; t < n_terms; t++) {
    noli_term_prepare(&terms[t], x, noli_context_threads(assembler->context));
  }
  add_plans(&job);
  NOLI_TRY(noli_ranks_sum(assembler->context, y, 3 * (int64_t)assembler->unknowns.n_node));
  if (assembler->n_held > 0) {
    noli_assembler_mask_gradient(assembler, y);
  }
done:
  return status;
}

NoliStatus noli_assembler_linearize_skew(NoliAssembler* assembler, const NoliEnergyTerm* terms,
                                         int32_t n_terms, const double* x, double* value) {
  NoliStatus status = NOLI_OK;
  NOLI_TRY(check_prepared(assembler, terms, n_terms));
  GroupJob job = {.assembler = assembler,
                  .terms = terms,
                  .x = x,
                  .what = NOLI_EVAL_SKEW,
                  .value = value,
                  .skew = true,
                  .clear = true};
  add_plans(&job);
  if (assembler->n_held > 0) {
    mask_matrix(assembler, value, false);
  }
done:
  return status;
}
