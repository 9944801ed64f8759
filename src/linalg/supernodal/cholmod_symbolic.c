#define _POSIX_C_SOURCE 200809L // struct sigaction
#include "linalg/supernodal/cholmod_symbolic.h"

#include "base/array.h"
#include "linalg/solvers/cholmod_api.h"
#include "linalg/supernodal/metis_guard.h"

#include <string.h>

_Static_assert(sizeof(SuiteSparse_long) == sizeof(int64_t), "CHOLMOD's long integers have 64 bits");

struct NoliOrderer {
  NoliContext* context;
  int64_t narrow;        // most entries with 32-bit indices
  cholmod_common common; // of functions with 32-bit indices
  cholmod_common wide_common;
  bool started, wide_started;

  // the pattern
  const NoliBlockMatrix* matrix;
  bool wide; // has 64-bit indices
  cholmod_sparse graph;
  NOLI_ARRAY(int32_t) row; // (n + 1) starts of rows
  NOLI_ARRAY(int64_t) wide_row;
  NOLI_ARRAY(int64_t) wide_col;   // (nnz)
  NOLI_ARRAY(int64_t) wide_order; // (n) scratch
};

// Silent, with the ordering that we hand over, then a postorder, and supernodes always.
static void configure(cholmod_common* common) {
  common->print = 0;
  common->error_handler = NULL;
  common->try_catch = 1;
  common->nmethods = 1;
  common->method[0].ordering = CHOLMOD_GIVEN;
  common->postorder = 1;
  common->supernodal = CHOLMOD_SUPERNODAL;
  // widths below which supernodes are merged generously, in block columns: half of CHOLMOD's
  // numbers of scalar ones; as fast as the numbers themselves, with a tenth less memory
  common->nrelax[0] = 2;
  common->nrelax[1] = 8;
  common->nrelax[2] = 24;
}

NoliStatus noli_orderer_create(NoliContext* context, int64_t narrow, NoliOrderer** orderer) {
  NoliStatus status = NOLI_OK;
  NoliOrderer* made = NULL;
  *orderer = NULL;
  NOLI_NEW_ZERO(context, made, 1);
  made->context = context;
  made->narrow = narrow;
  made->started = cholmod_start(&made->common) != 0;
  made->wide_started = cholmod_l_start(&made->wide_common) != 0;
  NOLI_CHECK(context, made->started && made->wide_started, NOLI_ERROR_BACKEND,
             "CHOLMOD does not start");
  configure(&made->common);
  configure(&made->wide_common);
  *orderer = made;
  made = NULL;
done:
  noli_orderer_destroy(&made);
  return status;
}

void noli_orderer_destroy(NoliOrderer** orderer) {
  NoliOrderer* gone = *orderer;
  if (gone == NULL) {
    return;
  }
  if (gone->started) {
    cholmod_finish(&gone->common);
  }
  if (gone->wide_started) {
    cholmod_l_finish(&gone->wide_common);
  }
  noli_array_free(gone->context, &gone->row);
  noli_array_free(gone->context, &gone->wide_row);
  noli_array_free(gone->context, &gone->wide_col);
  noli_array_free(gone->context, &gone->wide_order);
  noli_free(gone->context, gone);
  *orderer = NULL;
}

// ---- patterns -----------------------------------------------------------------------------------

// The upper triangle by rows is the lower one by columns.
static cholmod_sparse make_graph(const NoliBlockMatrix* matrix, void* row, void* col, int itype) {
  return (cholmod_sparse){.nrow = (size_t)matrix->n,
                          .ncol = (size_t)matrix->n,
                          .nzmax = (size_t)matrix->nnz,
                          .p = row,
                          .i = col,
                          .stype = -1,
                          .itype = itype,
                          .xtype = CHOLMOD_PATTERN,
                          .dtype = CHOLMOD_DOUBLE,
                          .sorted = 1,
                          .packed = 1};
}

static NoliStatus take_narrow(NoliOrderer* orderer) {
  NoliStatus status = NOLI_OK;
  const NoliBlockMatrix* matrix = orderer->matrix;
  NOLI_TRY(noli_array_reserve(orderer->context, &orderer->row, (int64_t)matrix->n + 1));
  for (int32_t i = 0; i <= matrix->n; i++) {
    orderer->row.data[i] = (int32_t)matrix->row[i];
  }
  orderer->graph = make_graph(matrix, orderer->row.data, matrix->col, CHOLMOD_INT);
  orderer->wide = false;
done:
  return status;
}

static NoliStatus take_wide(NoliOrderer* orderer) {
  NoliStatus status = NOLI_OK;
  NoliContext* context = orderer->context;
  const NoliBlockMatrix* matrix = orderer->matrix;
  NOLI_TRY(noli_array_reserve(context, &orderer->wide_row, (int64_t)matrix->n + 1));
  NOLI_TRY(noli_array_reserve(context, &orderer->wide_col, matrix->nnz));
  NOLI_TRY(noli_array_reserve(context, &orderer->wide_order, matrix->n));
  for (int32_t i = 0; i <= matrix->n; i++) {
    orderer->wide_row.data[i] = matrix->row[i];
  }
  for (int64_t k = 0; k < matrix->nnz; k++) {
    orderer->wide_col.data[k] = matrix->col[k];
  }
  orderer->graph = make_graph(matrix, orderer->wide_row.data, orderer->wide_col.data, CHOLMOD_LONG);
  orderer->wide = true;
done:
  return status;
}

NoliStatus noli_orderer_begin(NoliOrderer* orderer, const NoliBlockMatrix* matrix) {
  orderer->matrix = matrix;
  return matrix->nnz > orderer->narrow ? take_wide(orderer) : take_narrow(orderer);
}

// ---- orderings ----------------------------------------------------------------------------------

bool noli_orderer_has_metis(const NoliOrderer* orderer) {
  // METIS sees every block on both sides of the diagonal
  return orderer->matrix->nnz <= INT32_MAX / 2;
}

NoliStatus noli_orderer_order(NoliOrderer* orderer, NoliOrdering method, int32_t* order,
                              double* operations) {
  NoliStatus status = NOLI_OK;
  cholmod_common* common = orderer->wide ? &orderer->wide_common : &orderer->common;
  cholmod_sparse* graph = &orderer->graph;
  int64_t* wide_order = orderer->wide_order.data;

  *operations = 0.0;
  if (method == NOLI_ORDER_AMD) {
    (void)(orderer->wide ? cholmod_l_amd(graph, NULL, 0, wide_order, common)
                         : cholmod_amd(graph, NULL, 0, order, common));
    // three scalar rows for each block row
    *operations = 27.0 * common->fl;
  } else {
    NoliMetisGuard guard;
    noli_metis_begin(&guard);
    (void)(orderer->wide ? cholmod_l_metis(graph, NULL, 0, 1, wide_order, common)
                         : cholmod_metis(graph, NULL, 0, 1, order, common));
    noli_metis_end(&guard);
  }

  NOLI_TRY(noli_cholmod_check(orderer->context, common, "in the ordering"));
  for (int32_t k = 0; orderer->wide && k < orderer->matrix->n; k++) {
    order[k] = (int32_t)wide_order[k];
  }
done:
  return status;
}

// ---- symbolic factors ---------------------------------------------------------------------------

// Reads CHOLMOD's factor: the one place that depends on its layout. False where that is unknown.
static bool read_factor(const cholmod_factor* factor, NoliSymbolic* symbolic) {
#if NOLI_CHOLMOD_KNOWN
  symbolic->order = factor->Perm;
  symbolic->first = factor->super;
  symbolic->start = factor->pi;
  symbolic->row = factor->s;
  symbolic->n = (int64_t)factor->n;
  symbolic->n_super = (int64_t)factor->nsuper;
  symbolic->n_row = (int64_t)factor->ssize;
  symbolic->n_value = (int64_t)factor->xsize;
  symbolic->n_update = (int64_t)factor->maxcsize;
  symbolic->n_below = (int64_t)factor->maxesize;
  return factor->is_super != 0;
#else
  (void)factor;
  (void)symbolic;
  return false;
#endif
}

// Analyzes with the present width of indices.
static NoliStatus cholmod_symbolic_analyze(NoliOrderer* orderer, const int32_t* order,
                                           NoliSymbolic* symbolic) {
  NoliStatus status = NOLI_OK;
  cholmod_common* common = orderer->wide ? &orderer->wide_common : &orderer->common;
  symbolic->wide = orderer->wide;
  for (int32_t k = 0; orderer->wide && k < orderer->matrix->n; k++) {
    orderer->wide_order.data[k] = order[k];
  }
  cholmod_factor* factor =
      orderer->wide
          ? cholmod_l_analyze_p(&orderer->graph, orderer->wide_order.data, NULL, 0, common)
          : cholmod_analyze_p(&orderer->graph, (int32_t*)(uintptr_t)order, NULL, 0, common);
  symbolic->factor = factor;
  NOLI_TRY(noli_cholmod_check(orderer->context, common, "in the symbolic factorization"));
  NOLI_CHECK(orderer->context, factor != NULL && read_factor(factor, symbolic), NOLI_ERROR_BACKEND,
             "CHOLMOD found no supernodes");
  symbolic->operations = 27.0 * common->fl;
done:
  return status;
}

NoliStatus noli_symbolic_make(NoliOrderer* orderer, const int32_t* order, NoliSymbolic* symbolic) {
  NoliStatus status = cholmod_symbolic_analyze(orderer, order, symbolic);
  bool too_large =
      status == NOLI_ERROR_TOO_LARGE || (status == NOLI_OK && symbolic->n_value > orderer->narrow);
  if (too_large && !orderer->wide) {
    noli_symbolic_free(orderer, symbolic);
    NOLI_TRY(take_wide(orderer));
    status = cholmod_symbolic_analyze(orderer, order, symbolic);
  }
done:
  if (status != NOLI_OK) {
    noli_symbolic_free(orderer, symbolic);
  }
  return status;
}

void noli_symbolic_free(NoliOrderer* orderer, NoliSymbolic* symbolic) {
  cholmod_factor* factor = symbolic->factor;
  if (symbolic->wide) {
    cholmod_l_free_factor(&factor, &orderer->wide_common);
  } else {
    cholmod_free_factor(&factor, &orderer->common);
  }
  *symbolic = (NoliSymbolic){0};
}

static void copy(bool wide, const void* from, int64_t n, int32_t* to) {
  if (!wide) {
    memcpy(to, from, (size_t)n * sizeof *to);
    return;
  }
  for (int64_t k = 0; k < n; k++) {
    to[k] = (int32_t)((const int64_t*)from)[k];
  }
}

void noli_symbolic_order(const NoliSymbolic* symbolic, int32_t* order) {
  copy(symbolic->wide, symbolic->order, symbolic->n, order);
}

void noli_symbolic_structure(const NoliSymbolic* symbolic, int32_t* first, int64_t* start,
                             int32_t* row) {
  copy(symbolic->wide, symbolic->first, symbolic->n_super + 1, first);
  copy(symbolic->wide, symbolic->row, symbolic->n_row, row);
  for (int64_t s = 0; s <= symbolic->n_super; s++) {
    start[s] = symbolic->wide ? ((const int64_t*)symbolic->start)[s]
                              : ((const int32_t*)symbolic->start)[s];
  }
}
