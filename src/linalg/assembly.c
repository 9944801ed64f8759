#include "linalg/assembly.h"

#include "base/parallel.h"
#include "base/sort.h"
#include "linalg/assembly_plan.h"
#include "linalg/expansion.h"

#include <string.h>

// Stencils that a worker evaluates before it adds them to slots: at most so many, of at most so
// many blocks together (or one). Their results, 52 KB, are still in its cache.
enum { EVALUATE_STENCILS = 64, EVALUATE_BLOCKS = 640 };

// Ranges of targets into which the slots of a group of batches are added.
enum { N_RANGES = 64 };

// Rows of the matrix that a worker masks at a time.
enum { MASK_BLOCK = 1024 };

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

  // components of unknown nodes that are held
  int32_t n_held;
  int32_t* held_node;
  uint8_t* held_axes; // (n_held)
  uint8_t* held_row;  // (rows of the matrix) bits of their components; only where n_held > 0
  int64_t held_node_capacity;
  int64_t held_axes_capacity;
  int64_t held_row_capacity;

  // fixed terms come first
  bool fixed_known;
  int32_t n_fixed;
  int32_t n_terms;
  NoliPlan fixed;
  NoliPlan changing;

  // scratch of each worker: words for locating, local results
  uint64_t* word;          // (workers x 2 x batch_room)
  double* local_gradient;  // (workers x 3 x evaluate_room)
  double* local_hessian;   // (workers x 9 x evaluate_room)
  double* vertex_gradient; // (workers x 3 x vertex_room) of one stencil that is expanded
  double* vertex_hessian;  // (workers x 9 x vertex_room)
  int64_t batch_room;      // blocks, of which a stencil has at least as many as nodes
  int64_t evaluate_room;
  int64_t vertex_room;

  // keys of new blocks; sums of the slots of a group of batches
  uint64_t* key;
  double* slot_gradient;
  double* slot_hessian;
  int64_t key_capacity;
  int64_t slot_gradient_capacity;
  int64_t slot_hessian_capacity;
};

// Makes room for stencils of up to so many blocks.
static NoliStatus reserve_scratch(NoliAssembler* assembler, int64_t largest) {
  NoliStatus status = NOLI_OK;
  NoliContext* context = assembler->context;
  int64_t n_workers = noli_context_threads(context);
  int64_t batch_room = largest > NOLI_PLAN_BATCH_BLOCKS ? largest : NOLI_PLAN_BATCH_BLOCKS;
  int64_t evaluate_room = largest > EVALUATE_BLOCKS ? largest : EVALUATE_BLOCKS;
  if (batch_room > assembler->batch_room) {
    noli_free(context, assembler->word);
    assembler->word = NULL;
    assembler->batch_room = 0;
    NOLI_NEW(context, assembler->word, 2 * n_workers * batch_room);
    assembler->batch_room = batch_room;
  }
  if (evaluate_room > assembler->evaluate_room) {
    noli_free(context, assembler->local_gradient);
    noli_free(context, assembler->local_hessian);
    assembler->local_gradient = NULL;
    assembler->local_hessian = NULL;
    assembler->evaluate_room = 0;
    NOLI_NEW(context, assembler->local_gradient, 3 * n_workers * evaluate_room);
    NOLI_NEW(context, assembler->local_hessian, 9 * n_workers * evaluate_room);
    assembler->evaluate_room = evaluate_room;
  }
done:
  return status;
}

// Makes room for the stencils over vertices of terms that are expanded.
static NoliStatus reserve_vertices(NoliAssembler* assembler, const NoliEnergyTerm* terms,
                                   int32_t n_terms) {
  NoliStatus status = NOLI_OK;
  NoliContext* context = assembler->context;
  int64_t n_workers = noli_context_threads(context), room = assembler->vertex_room;
  for (int32_t t = 0; t < n_terms; t++) {
    const NoliExpansion* expansion = terms[t].expansion;
    room = expansion != NULL && expansion->largest > room ? expansion->largest : room;
  }
  if (room > assembler->vertex_room) {
    noli_free(context, assembler->vertex_gradient);
    noli_free(context, assembler->vertex_hessian);
    assembler->vertex_gradient = NULL;
    assembler->vertex_hessian = NULL;
    assembler->vertex_room = 0;
    NOLI_NEW(context, assembler->vertex_gradient, 3 * n_workers * room);
    NOLI_NEW(context, assembler->vertex_hessian, 9 * n_workers * room);
    assembler->vertex_room = room;
  }
done:
  return status;
}

NoliStatus noli_assembler_create(NoliContext* context, NoliAssembler** assembler) {
  NoliStatus status = NOLI_OK;
  NoliAssembler* made = NULL;
  *assembler = NULL;
  NOLI_NEW_ZERO(context, made, 1);
  made->context = context;
  made->pattern.context = context;
  NOLI_TRY(reserve_scratch(made, 0));
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
  noli_free(context, gone->held_node);
  noli_free(context, gone->held_axes);
  noli_free(context, gone->held_row);
  noli_free(context, gone->word);
  noli_free(context, gone->local_gradient);
  noli_free(context, gone->local_hessian);
  noli_free(context, gone->vertex_gradient);
  noli_free(context, gone->vertex_hessian);
  noli_free(context, gone->key);
  noli_free(context, gone->slot_gradient);
  noli_free(context, gone->slot_hessian);
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
  assembler->n_held = 0;
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

NoliStatus noli_assembler_hold(NoliAssembler* assembler, int32_t n, const int32_t* node,
                               const uint8_t* axes) {
  NoliStatus status = NOLI_OK;
  NoliContext* context = assembler->context;
  int32_t n_rows = assembler->pattern.matrix.n;
  assembler->n_held = 0;
  if (n == 0) {
    goto done;
  }
  NOLI_TRY(noli_grow(context, (void**)&assembler->held_node, &assembler->held_node_capacity, n,
                     sizeof *assembler->held_node));
  NOLI_TRY(noli_grow(context, (void**)&assembler->held_axes, &assembler->held_axes_capacity, n,
                     sizeof *assembler->held_axes));
  NOLI_TRY(noli_grow(context, (void**)&assembler->held_row, &assembler->held_row_capacity, n_rows,
                     sizeof *assembler->held_row));
  memset(assembler->held_row, 0, (size_t)n_rows);
  for (int32_t i = 0; i < n; i++) {
    NOLI_CHECK(context, node[i] >= 0 && node[i] < assembler->unknowns.n_node, NOLI_ERROR_ARGUMENT,
               "component of node %d held; there are %d", node[i], assembler->unknowns.n_node);
    int32_t row = assembler->dof[node[i]];
    if (row != NOLI_NULL_INDEX && axes[i] != 0) {
      assembler->held_node[assembler->n_held] = node[i];
      assembler->held_axes[assembler->n_held++] = axes[i];
      assembler->held_row[row] |= axes[i];
    }
  }
done:
  if (status != NOLI_OK) {
    assembler->n_held = 0;
  }
  return status;
}

// Checks the stencils of a term.
static NoliStatus check_stencils(NoliContext* context, const NoliEnergyTerm* term) {
  NoliStatus status = NOLI_OK;
  NOLI_CHECK(context, term->n_stencil >= 0, NOLI_ERROR_ARGUMENT, "term \"%s\" has %lld stencils",
             term->name, (long long)term->n_stencil);
  if (term->first == NULL) {
    NOLI_CHECK(context, term->size >= 1 && term->size <= NOLI_PLAN_STENCIL_MAX, NOLI_ERROR_ARGUMENT,
               "term \"%s\" has stencils of %d nodes", term->name, term->size);
    goto done;
  }
  NOLI_CHECK(context, term->first_block != NULL && term->first[0] == 0 && term->first_block[0] == 0,
             NOLI_ERROR_ARGUMENT, "the stencils of term \"%s\" do not begin at 0", term->name);
  for (int64_t s = 0; s < term->n_stencil; s++) {
    int64_t size = term->first[s + 1] - term->first[s];
    NOLI_CHECK(context, size >= 1 && size <= NOLI_PLAN_STENCIL_MAX, NOLI_ERROR_ARGUMENT,
               "stencil %lld of term \"%s\" has %lld nodes", (long long)s, term->name,
               (long long)size);
    int64_t n_block = term->first_block[s + 1] - term->first_block[s];
    NOLI_CHECK(context, n_block == noli_stencil_blocks((int32_t)size), NOLI_ERROR_ARGUMENT,
               "stencil %lld of term \"%s\" has %lld nodes and %lld blocks", (long long)s,
               term->name, (long long)size, (long long)n_block);
  }
done:
  return status;
}

// Checks the terms and counts the fixed ones, which come first.
static NoliStatus check_terms(NoliContext* context, const NoliEnergyTerm* terms, int32_t n_terms,
                              int32_t* n_fixed) {
  NoliStatus status = NOLI_OK;
  *n_fixed = 0;
  for (int32_t t = 0; t < n_terms; t++) {
    NOLI_TRY(check_stencils(context, &terms[t]));
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
  noli_plan_collect_missing(plan, noli_bits_of(pattern->matrix.n), assembler->key);
  int64_t n_new = noli_pattern_sort_keys(assembler->key, assembler->key + n_missing, n_missing,
                                         2 * noli_bits_of(pattern->matrix.n));
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
                            assembler->word, assembler->batch_room, &n_missing));
  NOLI_CHECK(context, n_missing == 0, NOLI_ERROR_INTERNAL, "a merged pattern lacks %lld blocks",
             (long long)n_missing);
done:
  return status;
}

// Divides terms [first, n_terms) into batches and finds where they go.
static NoliStatus lay_out(NoliAssembler* assembler, NoliPlan* plan, const NoliEnergyTerm* terms,
                          int32_t first, int32_t n_terms, int64_t* n_missing) {
  NoliStatus status = NOLI_OK;
  NOLI_TRY(noli_plan_layout(assembler->context, plan, terms, first, n_terms));
  NOLI_TRY(reserve_scratch(assembler, plan->largest));
  NOLI_TRY(reserve_vertices(assembler, terms, n_terms));
  NOLI_TRY(noli_plan_locate(assembler->context, plan, terms, &assembler->unknowns,
                            &assembler->pattern.matrix, assembler->word, assembler->batch_room,
                            n_missing));
done:
  return status;
}

// Positions of the fixed terms, once after the unknowns were set.
static NoliStatus prepare_fixed(NoliAssembler* assembler, const NoliEnergyTerm* terms,
                                int32_t n_fixed) {
  NoliStatus status = NOLI_OK;
  int64_t n_missing = 0;
  NOLI_TRY(lay_out(assembler, &assembler->fixed, terms, 0, n_fixed, &n_missing));
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
  noli_plan_mark_used(&assembler->changing, pattern->flags);
  for (int64_t k = 0; k < nnz; k++) {
    n_needed += pattern->flags[k] != 0 ? 1 : 0;
  }
  return (double)nnz <= UNUSED_SHARE * (double)n_needed + UNUSED_ALWAYS;
}

// Groups the batches of both plans and makes room for their slots.
static NoliStatus reserve_slots(NoliAssembler* assembler) {
  NoliStatus status = NOLI_OK;
  NoliPlan* plans[2] = {&assembler->fixed, &assembler->changing};
  for (int32_t p = 0; p < 2; p++) {
    int64_t n_block_slot = 0, n_node_slot = 0;
    noli_plan_group(plans[p], &n_block_slot, &n_node_slot);
    NOLI_TRY(noli_grow(assembler->context, (void**)&assembler->slot_gradient,
                       &assembler->slot_gradient_capacity, 3 * n_node_slot, sizeof(double)));
    NOLI_TRY(noli_grow(assembler->context, (void**)&assembler->slot_hessian,
                       &assembler->slot_hessian_capacity, 9 * n_block_slot, sizeof(double)));
  }
done:
  return status;
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
  NOLI_TRY(lay_out(assembler, plan, terms, n_fixed, n_terms, &n_missing));
  bool few_unused = mark_used(assembler);
  if (n_missing > 0 || !few_unused) {
    NOLI_TRY(add_missing(assembler, plan, terms, n_missing, NOLI_BLOCK_USED));
  }
  NOLI_TRY(reserve_slots(assembler));
  assembler->n_terms = n_terms;
done:
  return status;
}

NoliStatus noli_assembler_forget(NoliAssembler* assembler) {
  NoliStatus status = NOLI_OK;
  NoliPattern* pattern = &assembler->pattern;
  assembler->n_terms = 0;
  if (!assembler->fixed_known) {
    goto done;
  }
  bool only_fixed = true;
  for (int64_t k = 0; k < pattern->matrix.nnz; k++) {
    pattern->flags[k] &= NOLI_BLOCK_FIXED;
    only_fixed = only_fixed && pattern->flags[k] != 0;
  }
  if (!only_fixed) {
    NOLI_TRY(noli_pattern_merge(pattern, assembler->key, 0, NOLI_BLOCK_USED, false));
    noli_plan_move(&assembler->fixed, noli_context_threads(assembler->context), pattern->moved);
  }
done:
  return status;
}

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

// Whether a batch has nothing to say.
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
static void add_product(const NoliProduct* product, const double* upper, double sign, int32_t size,
                        const int32_t* node, double* y) {
  for (int32_t a = 0; a < size; a++) {
    for (int32_t b = 0; b < size; b++) {
      bool counts = node[a] != NOLI_NULL_INDEX && node[b] != NOLI_NULL_INDEX &&
                    (product->p != NULL || node[a] == node[b]);
      for (int32_t e = 0; counts && e < 9; e++) {
        int32_t r = e / 3, c = e % 3;
        double p = product->p != NULL ? product->p[3 * (int64_t)node[b] + c] : c == product->axis;
        y[3 * a + r] += entry_of(upper, size, a, b, r, c, sign) * p;
      }
    }
  }
}

// Products of stencils [begin, end), of which `upper` holds the matrices, into their gradients.
static void add_products(const GroupJob* job, const NoliEnergyTerm* term, int64_t begin,
                         int64_t end, double sign, const double* upper, double* gradient) {
  for (int64_t s = begin; s < end; s++) {
    int64_t node = noli_term_first(term, s), block = noli_term_first_block(term, s);
    add_product(job->product, upper + 9 * (block - noli_term_first_block(term, begin)), sign,
                noli_term_size(term, s), term->node + node,
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
  NoliLocal out = {.hessian = noli_local_from(hessian, 9 * noli_term_first_block(term, begin))};
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
  NoliLocal out = {0};
  if (job->gradient != NULL) {
    out.gradient = noli_local_from(gradient, 3 * node);
  }
  if (job->value != NULL) {
    out.hessian = noli_local_from(hessian, 9 * block);
  }
  if (job->product != NULL) {
    evaluate_products(job, term, begin, end, hessian, gradient, worker);
  } else {
    evaluate_term(job, term, begin, end, job->what, &out, worker);
  }
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

static void add_plan(const NoliPlan* plan, GroupJob* job) {
  int32_t n_threads = noli_context_threads(job->assembler->context);
  job->plan = plan;
  for (job->first = 0; job->first < plan->n_batch; job->first = job->end) {
    job->end = noli_plan_group_end(plan, job->first);
    noli_parallel_for(n_threads, job->end - job->first, 1, sum_batches, job);
    // one batch is not worth waking threads, nor is what it adds
    bool alone = job->end - job->first == 1 && !job->clear;
    noli_parallel_for(n_threads, N_RANGES, alone ? N_RANGES : 1, add_to_ranges, job);
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
  double diagonal;
} MaskJob;

// Rows and columns of held components in block rows begin..end.
static void mask_rows(void* user, int64_t begin, int64_t end, int32_t worker) {
  (void)worker;
  const MaskJob* job = user;
  const NoliAssembler* assembler = job->assembler;
  const NoliBlockMatrix* matrix = &assembler->pattern.matrix;
  for (int64_t i = begin; i < end; i++) {
    unsigned here = assembler->held_row[i];
    for (int64_t k = matrix->row[i]; k < matrix->row[i + 1]; k++) {
      unsigned there = assembler->held_row[matrix->col[k]];
      if ((here | there) == 0) {
        continue;
      }
      for (int32_t e = 0; e < 9; e++) {
        int32_t r = e / 3, c = e % 3;
        if ((here >> r & 1) != 0 || (there >> c & 1) != 0) {
          job->value[9 * k + e] = matrix->col[k] == i && r == c ? job->diagonal : 0.0;
        }
      }
    }
  }
}

static void mask_matrix(const NoliAssembler* assembler, double* value, double diagonal) {
  MaskJob job = {assembler, value, diagonal};
  noli_parallel_for(noli_context_threads(assembler->context), assembler->pattern.matrix.n,
                    MASK_BLOCK, mask_rows, &job);
}

NoliStatus noli_assembler_linearize(NoliAssembler* assembler, const NoliEnergyTerm* terms,
                                    int32_t n_terms, const double* x, unsigned what,
                                    double* gradient) {
  NoliStatus status = NOLI_OK;
  NOLI_TRY(check_prepared(assembler, terms, n_terms));
  GroupJob job = {
      .assembler = assembler, .terms = terms, .x = x, .gradient = gradient, .clear = true};
  job.what = what & (NOLI_EVAL_HESSIAN | NOLI_EVAL_PROJECTED);
  if (job.what != 0) {
    job.value = assembler->pattern.matrix.value;
  }
  if (gradient != NULL) {
    job.what |= NOLI_EVAL_GRADIENT;
  }
  for (int32_t t = 0; job.what != 0 && t < n_terms; t++) {
    noli_term_prepare(&terms[t], x, noli_context_threads(assembler->context));
  }
  if (job.what != 0) {
    add_plan(&assembler->fixed, &job);
    add_plan(&assembler->changing, &job);
    if (job.clear) {
      // there were no stencils
      add_to_ranges(&job, 0, N_RANGES, 0);
    }
  }
  if (assembler->n_held > 0 && gradient != NULL) {
    noli_assembler_mask_gradient(assembler, gradient);
  }
  if (assembler->n_held > 0 && job.value != NULL) {
    mask_matrix(assembler, job.value, 1.0);
  }
done:
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
  add_plan(&assembler->fixed, &job);
  add_plan(&assembler->changing, &job);
  if (job.clear) {
    // there were no stencils
    add_to_ranges(&job, 0, N_RANGES, 0);
  }
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
  add_plan(&assembler->fixed, &job);
  add_plan(&assembler->changing, &job);
  if (job.clear) {
    // there were no stencils
    add_to_ranges(&job, 0, N_RANGES, 0);
  }
  if (assembler->n_held > 0) {
    mask_matrix(assembler, value, 0.0);
  }
done:
  return status;
}

void noli_assembler_enlarge_diagonal(NoliAssembler* assembler, double share) {
  const NoliBlockMatrix* matrix = &assembler->pattern.matrix;
  for (int32_t i = 0; i < matrix->n; i++) {
    double* block = matrix->value + 9 * matrix->row[i];
    for (int k = 0; k < 3; k++) {
      block[4 * k] += share * block[4 * k];
    }
  }
}

const NoliBlockMatrix* noli_assembler_matrix(const NoliAssembler* assembler) {
  return &assembler->pattern.matrix;
}
