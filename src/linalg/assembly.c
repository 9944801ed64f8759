#include "linalg/assembly.h"

#include "base/parallel.h"
#include "linalg/assembly_plan.h"

#include <string.h>

// Stencils that one worker evaluates at a time.
enum { EVALUATE_BLOCK = 64 };

// Unused blocks may stay in the pattern while it has at most UNUSED_SHARE times the blocks that
// are needed, and some more in small problems: contacts that come and go then need no new symbolic
// factorization, yet a spent impact does not fill the factor for ever.
#define UNUSED_SHARE 1.3
enum { UNUSED_ALWAYS = 64 };

struct NoliAssembler {
  NoliContext* context;
  NoliUnknowns unknowns;
  int32_t* dof;
  int64_t dof_capacity;
  NoliPattern pattern;

  // fixed terms come first
  bool fixed_known;
  int32_t n_fixed;
  int32_t n_terms;
  NoliPlan fixed;
  NoliPlan changing;

  // scratch: entries of each worker, keys of new blocks, local results of a batch
  uint64_t* entry;
  int64_t entry_capacity;
  uint64_t* key;
  int64_t key_capacity;
  double* local_gradient;
  double* local_hessian;
};

NoliStatus noli_assembler_create(NoliContext* context, NoliAssembler** assembler) {
  NoliStatus status = NOLI_OK;
  NoliAssembler* made = NULL;
  *assembler = NULL;
  NOLI_NEW_ZERO(context, made, 1);
  made->context = context;
  made->pattern.context = context;
  NOLI_NEW(context, made->local_gradient, (int64_t)NOLI_PLAN_BATCH * NOLI_STENCIL_MAX * 3);
  NOLI_NEW(context, made->local_hessian, (int64_t)NOLI_PLAN_BATCH * NOLI_PLAN_BLOCKS_MAX * 9);
  NOLI_TRY(noli_grow(context, (void**)&made->entry, &made->entry_capacity,
                     (int64_t)noli_context_threads(context) * NOLI_PLAN_SCRATCH,
                     sizeof *made->entry));
  NOLI_TRY(noli_pattern_reset(&made->pattern, 0));
  *assembler = made;
  made = NULL;
done:
  noli_assembler_destroy(&made);
  return status;
}

void noli_assembler_destroy(NoliAssembler** assembler) {
  if (assembler == NULL || *assembler == NULL) {
    return;
  }
  NoliAssembler* gone = *assembler;
  NoliContext* context = gone->context;
  noli_pattern_free(&gone->pattern);
  noli_plan_free(context, &gone->fixed);
  noli_plan_free(context, &gone->changing);
  noli_free(context, gone->dof);
  noli_free(context, gone->entry);
  noli_free(context, gone->key);
  noli_free(context, gone->local_gradient);
  noli_free(context, gone->local_hessian);
  noli_free(context, gone);
  *assembler = NULL;
}

NoliStatus noli_assembler_set_unknowns(NoliAssembler* assembler, int32_t n_node, const int32_t* dof,
                                       int32_t n_dof) {
  NoliStatus status = NOLI_OK;
  NoliContext* context = assembler->context;
  NOLI_CHECK(context, n_node >= 0 && n_dof >= 0, NOLI_ERROR_ARGUMENT,
             "%d nodes and %d unknown ones: both must be at least 0", n_node, n_dof);
  for (int32_t i = 0; i < n_node; i++) {
    NOLI_CHECK(context, dof[i] >= NOLI_NULL_INDEX && dof[i] < n_dof, NOLI_ERROR_ARGUMENT,
               "node %d has row %d of a matrix of %d rows", i, dof[i], n_dof);
  }
  // the old positions are void whatever happens below
  assembler->fixed_known = false;
  assembler->n_terms = 0;
  NOLI_TRY(noli_grow(context, (void**)&assembler->dof, &assembler->dof_capacity, n_node,
                     sizeof *assembler->dof));
  if (n_node > 0) {
    memcpy(assembler->dof, dof, sizeof *dof * (size_t)n_node);
  }
  assembler->unknowns = (NoliUnknowns){n_node, assembler->dof};
  NOLI_TRY(noli_pattern_reset(&assembler->pattern, n_dof));
done:
  return status;
}

// Checks the terms and counts the fixed ones, which come first.
static NoliStatus check_terms(NoliContext* context, const NoliEnergyTerm* terms, int32_t n_terms,
                              int32_t* n_fixed) {
  NoliStatus status = NOLI_OK;
  *n_fixed = 0;
  for (int32_t t = 0; t < n_terms; t++) {
    NOLI_CHECK(context,
               terms[t].size >= 1 && terms[t].size <= NOLI_STENCIL_MAX && terms[t].n_stencil >= 0,
               NOLI_ERROR_ARGUMENT, "term \"%s\" has %lld stencils of %d nodes", terms[t].name,
               (long long)terms[t].n_stencil, terms[t].size);
    if (terms[t].fixed) {
      NOLI_CHECK(context, *n_fixed == t, NOLI_ERROR_ARGUMENT,
                 "the fixed term \"%s\" stands behind a changing one", terms[t].name);
      (*n_fixed)++;
    }
  }
done:
  return status;
}

// Adds the missing blocks of a plan to the pattern and locates its entries anew.
static NoliStatus add_missing(NoliAssembler* assembler, NoliPlan* plan, const NoliEnergyTerm* terms,
                              int64_t n_missing, uint8_t flags) {
  NoliStatus status = NOLI_OK;
  NoliContext* context = assembler->context;
  NoliPattern* pattern = &assembler->pattern;
  // sort the keys of the missing blocks; the second half of the array is scratch
  NOLI_TRY(noli_grow(context, (void**)&assembler->key, &assembler->key_capacity, 2 * n_missing,
                     sizeof *assembler->key));
  noli_plan_collect_missing(plan, assembler->key);
  int64_t n_new = noli_pattern_sort_keys(assembler->key, assembler->key + n_missing, n_missing,
                                         2 * noli_pattern_key_bits(pattern->matrix.n));
  // keep unused blocks while there are few of them
  int64_t n_needed = n_new;
  for (int64_t k = 0; k < pattern->matrix.nnz; k++) {
    n_needed += pattern->flags[k] != 0 ? 1 : 0;
  }
  bool keep =
      (double)(pattern->matrix.nnz + n_new) <= UNUSED_SHARE * (double)n_needed + UNUSED_ALWAYS;
  NOLI_TRY(noli_pattern_merge(pattern, assembler->key, n_new, flags, keep));
  if (plan != &assembler->fixed) {
    noli_plan_move(&assembler->fixed, noli_context_threads(context), pattern->moved);
  }
  NOLI_TRY(noli_plan_locate(context, plan, terms, &assembler->unknowns, &pattern->matrix,
                            assembler->entry, &n_missing));
  NOLI_CHECK(context, n_missing == 0, NOLI_ERROR_INTERNAL, "a merged pattern lacks %lld blocks",
             (long long)n_missing);
done:
  return status;
}

// Positions of the fixed terms, once after the unknowns were set.
static NoliStatus prepare_fixed(NoliAssembler* assembler, const NoliEnergyTerm* terms,
                                int32_t n_fixed) {
  NoliStatus status = NOLI_OK;
  int64_t n_missing = 0;
  NOLI_TRY(noli_plan_layout(assembler->context, &assembler->fixed, terms, 0, n_fixed));
  NOLI_TRY(noli_plan_locate(assembler->context, &assembler->fixed, terms, &assembler->unknowns,
                            &assembler->pattern.matrix, assembler->entry, &n_missing));
  if (n_missing > 0) {
    NOLI_TRY(add_missing(assembler, &assembler->fixed, terms, n_missing, NOLI_BLOCK_FIXED));
  }
  assembler->fixed_known = true;
  assembler->n_fixed = n_fixed;
done:
  return status;
}

// Which blocks the changing terms use now; false where too many others are kept.
static bool mark_used(NoliAssembler* assembler) {
  NoliPattern* pattern = &assembler->pattern;
  int64_t nnz = pattern->matrix.nnz, n_needed = 0;
  for (int64_t k = 0; k < nnz; k++) {
    pattern->flags[k] &= NOLI_BLOCK_FIXED;
  }
  noli_plan_mark_used(&assembler->changing, noli_context_threads(assembler->context),
                      pattern->flags);
  for (int64_t k = 0; k < nnz; k++) {
    n_needed += pattern->flags[k] != 0 ? 1 : 0;
  }
  return (double)nnz <= UNUSED_SHARE * (double)n_needed + UNUSED_ALWAYS;
}

NoliStatus noli_assembler_prepare(NoliAssembler* assembler, const NoliEnergyTerm* terms,
                                  int32_t n_terms) {
  NoliStatus status = NOLI_OK;
  NoliContext* context = assembler->context;
  int32_t n_fixed = 0;
  int64_t n_missing = 0;
  assembler->n_terms = 0;
  NOLI_TRY(check_terms(context, terms, n_terms, &n_fixed));
  if (!assembler->fixed_known) {
    // a failed attempt may have left blocks behind
    NOLI_TRY(noli_pattern_reset(&assembler->pattern, assembler->pattern.matrix.n));
    NOLI_TRY(prepare_fixed(assembler, terms, n_fixed));
  }
  NOLI_CHECK(context, n_fixed == assembler->n_fixed, NOLI_ERROR_ARGUMENT,
             "%d fixed terms, but %d when the unknowns were set", n_fixed, assembler->n_fixed);

  NoliPlan* plan = &assembler->changing;
  NOLI_TRY(noli_plan_layout(context, plan, terms, n_fixed, n_terms));
  NOLI_TRY(noli_plan_locate(context, plan, terms, &assembler->unknowns, &assembler->pattern.matrix,
                            assembler->entry, &n_missing));
  bool few_unused = mark_used(assembler);
  if (n_missing > 0 || !few_unused) {
    NOLI_TRY(add_missing(assembler, plan, terms, n_missing, NOLI_BLOCK_USED));
  }
  assembler->n_terms = n_terms;
done:
  return status;
}

// One batch on its way through evaluation and summation.
typedef struct BatchJob {
  const NoliEnergyTerm* term;
  const NoliPlan* plan;
  const NoliPlanBatch* batch;
  const double* x;
  unsigned what;
  double* local_gradient; // of the batch, NULL where not wanted
  double* local_hessian;
  double* gradient;
  double* value;
} BatchJob;

// A term writes stencil s at entry s of its outputs, and the local results of a batch begin at
// stencil `first`: the address that entry 0 would have (integers, as it may lie outside).
static double* address_of_entry_0(double* local, int64_t first, int32_t doubles) {
  if (local == NULL) {
    return NULL;
  }
  uintptr_t bytes = (uintptr_t)first * (uintptr_t)doubles * sizeof(double);
  return (double*)((uintptr_t)local - bytes);
}

static void evaluate_stencils(void* user, int64_t begin, int64_t end, int32_t worker) {
  (void)worker;
  const BatchJob* job = user;
  const NoliEnergyTerm* term = job->term;
  int64_t first = job->batch->begin;
  NoliLocal out = {
      .gradient = address_of_entry_0(job->local_gradient, first, 3 * term->size),
      .hessian = address_of_entry_0(job->local_hessian, first, 9 * noli_stencil_blocks(term->size)),
  };
  term->evaluate(term->data, job->x, first + begin, first + end, job->what, &out);
}

static void add_block(double* to, const double* block, uint32_t how) {
  if (how != NOLI_ENTRY_TRANSPOSED) {
    for (int32_t c = 0; c < 9; c++) {
      to[c] += block[c];
    }
  }
  if (how != NOLI_ENTRY_PLAIN) {
    for (int32_t r = 0; r < 3; r++) {
      for (int32_t c = 0; c < 3; c++) {
        to[3 * r + c] += block[3 * c + r];
      }
    }
  }
}

// Adds the entries of buckets begin..end to gradient and matrix.
static void sum_buckets(void* user, int64_t begin, int64_t end, int32_t worker) {
  (void)worker;
  const BatchJob* job = user;
  const NoliPlanBatch* batch = job->batch;
  if (job->local_gradient != NULL) {
    const uint64_t* entry = job->plan->node + batch->first_node;
    for (int32_t e = batch->node_start[begin]; e < batch->node_start[end]; e++) {
      double* to = job->gradient + 3 * (int64_t)noli_entry_target(entry[e]);
      const double* from = job->local_gradient + 3 * (int64_t)noli_entry_source(entry[e]);
      to[0] += from[0];
      to[1] += from[1];
      to[2] += from[2];
    }
  }
  if (job->local_hessian != NULL) {
    const uint64_t* entry = job->plan->block + batch->first_block;
    for (int32_t e = batch->block_start[begin]; e < batch->block_start[end]; e++) {
      add_block(job->value + 9 * (int64_t)noli_entry_target(entry[e]),
                job->local_hessian + 9 * (int64_t)noli_entry_source(entry[e]),
                noli_entry_how(entry[e]));
    }
  }
}

static void add_plan(NoliAssembler* assembler, const NoliPlan* plan, const NoliEnergyTerm* terms,
                     BatchJob* job) {
  int32_t n_threads = noli_context_threads(assembler->context);
  for (int64_t k = 0; k < plan->n_batch; k++) {
    job->plan = plan;
    job->batch = &plan->batch[k];
    job->term = &terms[job->batch->term];
    int64_t count = job->batch->end - job->batch->begin;
    noli_parallel_for(n_threads, count, EVALUATE_BLOCK, evaluate_stencils, job);
    // small batches are not worth waking threads
    int64_t buckets = count <= EVALUATE_BLOCK ? NOLI_PLAN_BUCKETS : 1;
    noli_parallel_for(n_threads, NOLI_PLAN_BUCKETS, buckets, sum_buckets, job);
  }
}

static void set_zero(void* user, int64_t begin, int64_t end, int32_t worker) {
  (void)worker;
  double* values = user;
  memset(values + begin, 0, sizeof *values * (size_t)(end - begin));
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
      NOLI_CHECK(assembler->context, batch->end <= terms[batch->term].n_stencil,
                 NOLI_ERROR_ARGUMENT, "term \"%s\" lost stencils since it was prepared",
                 terms[batch->term].name);
    }
  }
done:
  return status;
}

NoliStatus noli_assembler_linearize(NoliAssembler* assembler, const NoliEnergyTerm* terms,
                                    int32_t n_terms, const double* x, unsigned what,
                                    double* gradient) {
  NoliStatus status = NOLI_OK;
  int32_t n_threads = noli_context_threads(assembler->context);
  NoliBlockMatrix* matrix = &assembler->pattern.matrix;
  NOLI_TRY(check_prepared(assembler, terms, n_terms));
  BatchJob job = {.x = x, .gradient = gradient, .value = matrix->value};
  job.what = what & (NOLI_EVAL_HESSIAN | NOLI_EVAL_PROJECTED);
  if (job.what != 0) {
    job.local_hessian = assembler->local_hessian;
    noli_parallel_for(n_threads, 9 * matrix->nnz, 1 << 15, set_zero, matrix->value);
  }
  if (gradient != NULL) {
    job.what |= NOLI_EVAL_GRADIENT;
    job.local_gradient = assembler->local_gradient;
    noli_parallel_for(n_threads, 3 * (int64_t)assembler->unknowns.n_node, 1 << 15, set_zero,
                      gradient);
  }
  if (job.what != 0) {
    add_plan(assembler, &assembler->fixed, terms, &job);
    add_plan(assembler, &assembler->changing, terms, &job);
  }
done:
  return status;
}

const NoliBlockMatrix* noli_assembler_matrix(const NoliAssembler* assembler) {
  return &assembler->pattern.matrix;
}
