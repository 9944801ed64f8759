#include "linalg/assembly/assembler.h"

#include "base/profile.h"
#include "base/ranks.h"
#include "base/sort.h"
#include "linalg/expansion.h"

#include <string.h>

// Unused blocks may stay in the pattern while it has at most UNUSED_SHARE times the blocks that
// are needed, and some more in small problems: contacts that come and go then need no new symbolic
// factorization, but blocks of an impact that is over do not stay in the factor.
#define UNUSED_SHARE 1.3
enum { UNUSED_ALWAYS = 64 };

// Makes room for stencils of up to `largest` blocks.
static NoliStatus reserve_scratch(NoliAssembler* assembler, int64_t largest) {
  NoliStatus status = NOLI_OK;
  NoliContext* context = assembler->context;
  int64_t n_workers = noli_context_threads(context);
  int64_t batch_room = largest > NOLI_PLAN_BATCH_BLOCKS ? largest : NOLI_PLAN_BATCH_BLOCKS;
  int64_t evaluate_room = largest > EVALUATE_BLOCKS ? largest : EVALUATE_BLOCKS;

  // words for finding targets
  if (batch_room > assembler->batch_room) {
    noli_free(context, assembler->word);
    assembler->word = NULL;
    assembler->batch_room = 0;
    NOLI_NEW(context, assembler->word, 2 * n_workers * batch_room);
    assembler->batch_room = batch_room;
  }

  // local results
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

  // the old positions are invalid from here on, even if a call below fails
  assembler->fixed_known = false;
  assembler->n_terms = 0;
  assembler->n_held = 0;
  NOLI_TRY(noli_grow(context, (void**)&assembler->dof, &assembler->dof_capacity, n_node,
                     sizeof *assembler->dof));
  if (n_node > 0) {
    memcpy(assembler->dof, dof, sizeof *dof * (size_t)n_node);
  }
  assembler->unknowns = (NoliUnknowns){n_node, assembler->dof};
  noli_assembler_own_rows(assembler, 0, noli_rank(context) == 0 ? n_dof : 0);
  NOLI_TRY(noli_pattern_reset(&assembler->pattern, n_dof));
done:
  return status;
}

void noli_assembler_own_rows(NoliAssembler* assembler, int64_t begin, int64_t end) {
  assembler->own_begin = begin;
  assembler->own_end = end;
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

  // make room
  NOLI_TRY(noli_grow(context, (void**)&assembler->held_node, &assembler->held_node_capacity, n,
                     sizeof *assembler->held_node));
  NOLI_TRY(noli_grow(context, (void**)&assembler->held_axes, &assembler->held_axes_capacity, n,
                     sizeof *assembler->held_axes));
  NOLI_TRY(noli_grow(context, (void**)&assembler->held_row, &assembler->held_row_capacity, n_rows,
                     sizeof *assembler->held_row));
  memset(assembler->held_row, 0, (size_t)n_rows);

  // list the components that are unknown otherwise, and mark their rows
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

  // stencils of one size
  NOLI_CHECK(context, term->n_stencil >= 0, NOLI_ERROR_ARGUMENT, "term \"%s\" has %lld stencils",
             term->name, (long long)term->n_stencil);
  if (term->first == NULL) {
    NOLI_CHECK(context, term->size >= 1 && term->size <= NOLI_PLAN_STENCIL_MAX, NOLI_ERROR_ARGUMENT,
               "term \"%s\" has stencils of %d nodes", term->name, term->size);
    goto done;
  }

  // stencils of several sizes
  NOLI_CHECK(context, term->first_block != NULL && term->first[0] == 0 && term->first_block[0] == 0,
             NOLI_ERROR_ARGUMENT, "the stencils of term \"%s\" do not begin at 0", term->name);
  for (int64_t s = 0; s < term->n_stencil; s++) {
    int64_t size = term->first[s + 1] - term->first[s];
    // none, where all vertices follow the world
    NOLI_CHECK(context, size >= 0 && size <= NOLI_PLAN_STENCIL_MAX, NOLI_ERROR_ARGUMENT,
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
                 "the fixed term \"%s\" follows a changing one", terms[t].name);
      (*n_fixed)++;
    }
  }
done:
  return status;
}

// Adds the missing blocks of a plan to the pattern and locates its entries again.
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

  // merge, then find the new places
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
static NoliStatus assembly_lay_out(NoliAssembler* assembler, NoliPlan* plan,
                                   const NoliEnergyTerm* terms, int32_t first, int32_t n_terms,
                                   int64_t* n_missing) {
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
  NOLI_TRY(assembly_lay_out(assembler, &assembler->fixed, terms, 0, n_fixed, &n_missing));
  if (n_missing > 0) {
    NOLI_TRY(add_missing(assembler, &assembler->fixed, terms, n_missing, NOLI_BLOCK_FIXED));
  }
  // the keys of all blocks take as much memory as the matrix; those of changing terms are few
  noli_free(assembler->context, assembler->key);
  assembler->key = NULL;
  assembler->key_capacity = 0;
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
  NoliWork before = noli_work(NOLI_WORK_PATTERN);
  NoliContext* context = assembler->context;
  int32_t n_fixed = 0;
  int64_t n_missing = 0;
  assembler->n_terms = 0;

  // fixed terms, once; a failed attempt may have left blocks behind
  NOLI_TRY(check_terms(context, terms, n_terms, &n_fixed));
  if (!assembler->fixed_known) {
    NOLI_TRY(noli_pattern_reset(&assembler->pattern, assembler->pattern.matrix.n));
    NOLI_TRY(prepare_fixed(assembler, terms, n_fixed));
  }
  NOLI_CHECK(context, n_fixed == assembler->n_fixed, NOLI_ERROR_ARGUMENT,
             "%d fixed terms, but %d when the unknowns were set", n_fixed, assembler->n_fixed);

  // changing terms, and the blocks that they add to the pattern
  NoliPlan* plan = &assembler->changing;
  NOLI_TRY(assembly_lay_out(assembler, plan, terms, n_fixed, n_terms, &n_missing));
  bool few_unused = mark_used(assembler);
  if (n_missing > 0 || !few_unused) {
    NOLI_TRY(add_missing(assembler, plan, terms, n_missing, NOLI_BLOCK_USED));
  }
  NOLI_TRY(reserve_slots(assembler));
  assembler->n_terms = n_terms;
done:
  noli_work(before);
  return status;
}

NoliStatus noli_assembler_reset(NoliAssembler* assembler) {
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

void noli_assembler_blend(NoliAssembler* assembler, double share, const double* value) {
  const NoliBlockMatrix* matrix = &assembler->pattern.matrix;
  for (int64_t k = 0; k < 9 * matrix->nnz; k++) {
    matrix->value[k] = (1.0 - share) * matrix->value[k] + share * value[k];
  }
}

const NoliBlockMatrix* noli_assembler_matrix(const NoliAssembler* assembler) {
  return &assembler->pattern.matrix;
}
