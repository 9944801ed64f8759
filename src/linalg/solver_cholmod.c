// Sparse Cholesky factorization on 3x3 blocks: ordering and symbolic factorization by CHOLMOD,
// numeric factorization by linalg/supernodal.h.
//
// Ordering and symbolic factorization see the graph of block rows, nine times smaller than the
// matrix. Figures below are for 8000 nodes (24000 scalar rows), a cube of 41000 tetrahedra (C) and
// a mat of 24000 (M), one core:
//
//                                   C            M
//   ordering: AMD                   4 ms         2 ms
//   ordering: METIS                 48 ms        25 ms
//   symbolic on block rows          3 ms         2 ms
//   symbolic on scalar rows         11 ms        9 ms
//   factorization, AMD              500 ms       39 ms     (1.9e10 and 6.8e8 operations)
//   factorization, METIS            285 ms       40 ms     (9.5e9 and 7.7e8)
//   solution                        13 ms        5 ms
//
// So a new ordering costs more than a new symbolic factorization by far: when contacts change the
// pattern, the old ordering is kept until it has become bad, and METIS is tried where a
// factorization costs enough that it may pay.
//
// The numeric factorization is not CHOLMOD's: that one starts parallel regions to clear and copy
// every supernode, with a thread count fixed when it was built, and its large calls of BLAS start
// threads whose number belongs to the process.
#define _POSIX_C_SOURCE 200809L // struct sigaction
#include "linalg/solver_backend.h"

#include "linalg/cholmod_graph.h"
#include "linalg/metis_guard.h"
#include "linalg/supernodal.h"

#include <math.h>
#include <string.h>

// A new ordering is computed when the old one needs so many times the operations that it needed
// for the pattern it was made for.
#define WORST_GROWTH 1.5

// METIS is tried where AMD promises more operations per block row: its 6 microseconds per row are
// then less than it may save in some ten factorizations.
#define METIS_OPERATIONS_PER_ROW 1e5

typedef NoliIndexArray IntArray;

// What orders matrices of the present size: both are tried, then the better one is kept.
typedef enum OrderChoice { ORDER_UNKNOWN, ORDER_AMD, ORDER_METIS } OrderChoice;

typedef struct Cholmod {
  NoliContext* context;
  cholmod_common common;
  int32_t n; // block rows

  // ordering of the block rows
  bool ordered;
  OrderChoice choice;
  double operations;  // with this ordering, for the pattern it was made for
  IntArray order;     // (n) block row at each place
  IntArray place;     // (n) its inverse
  IntArray graph_row; // (n + 1) pattern of the block matrix for CHOLMOD

  // lower triangle of the permuted matrix
  IntArray column; // (n + 1) first block of each block column
  IntArray source; // (nnz) 2 * stored block, + 1 if its columns become columns
  IntArray row;    // (nnz) block row

  NoliSupernodal factor;
  double* permuted; // (3 n) of a solution
  int64_t permuted_capacity;
} Cholmod;

// Makes room without keeping the content.
static NoliStatus reserve_ints(NoliContext* context, IntArray* array, int64_t need) {
  if (need > array->capacity) {
    noli_array_free(context, array);
  }
  return noli_array_reserve(context, array, need);
}

// The status of the last call of CHOLMOD in our terms.
static NoliStatus check_common(Cholmod* cholmod, const char* doing) {
  switch (cholmod->common.status) {
  case CHOLMOD_OK:
  case CHOLMOD_DSMALL:
    return NOLI_OK;
  case CHOLMOD_NOT_POSDEF:
    return noli_fail(cholmod->context, NOLI_NOT_POSITIVE_DEFINITE,
                     "the matrix is not positive definite");
  case CHOLMOD_OUT_OF_MEMORY:
    return noli_fail(cholmod->context, NOLI_ERROR_MEMORY, "CHOLMOD ran out of memory %s", doing);
  case CHOLMOD_TOO_LARGE:
    return noli_fail(cholmod->context, NOLI_ERROR_TOO_LARGE,
                     "the factor is too large for 32-bit indices %s", doing);
  default:
    return noli_fail(cholmod->context, NOLI_ERROR_BACKEND, "CHOLMOD failed %s: status %d", doing,
                     cholmod->common.status);
  }
}

static NoliStatus cholmod_back_create(NoliContext* context, void** state) {
  NoliStatus status = NOLI_OK;
  Cholmod* cholmod = NULL;
  NOLI_NEW_ZERO(context, cholmod, 1);
  cholmod->context = context;
  cholmod_common* common = &cholmod->common;
  if (!cholmod_start(common)) {
    status = check_common(cholmod, "starting");
    noli_free(context, cholmod);
    goto done;
  }
  // silent; statuses tell what happened
  common->print = 0;
  common->error_handler = NULL;
  common->try_catch = 1;
  common->quick_return_if_not_posdef = 1;
  // analysis: the ordering that we hand over, then a postorder, always supernodal
  common->nmethods = 1;
  common->method[0].ordering = CHOLMOD_GIVEN;
  common->postorder = 1;
  common->supernodal = CHOLMOD_SUPERNODAL;
  // widths below which supernodes are merged generously, in block columns: half of CHOLMOD's
  // numbers of scalar ones; as fast as the numbers themselves, with a tenth less memory
  common->nrelax[0] = 2;
  common->nrelax[1] = 8;
  common->nrelax[2] = 24;
  *state = cholmod;
done:
  return status;
}

static void cholmod_back_destroy(NoliContext* context, void* state) {
  Cholmod* cholmod = state;
  IntArray* ints[] = {&cholmod->order,  &cholmod->place,  &cholmod->graph_row,
                      &cholmod->column, &cholmod->source, &cholmod->row};
  for (size_t k = 0; k < sizeof ints / sizeof ints[0]; k++) {
    noli_array_free(context, ints[k]);
  }
  noli_supernodal_free(context, &cholmod->factor);
  noli_free(context, cholmod->permuted);
  cholmod_finish(&cholmod->common);
  noli_free(context, cholmod);
}

// The pattern of block rows.
static NoliStatus make_graph(Cholmod* cholmod, const NoliBlockMatrix* matrix,
                             cholmod_sparse* graph) {
  NoliStatus status = NOLI_OK;
  NOLI_CHECK(cholmod->context, 9 * matrix->nnz <= INT32_MAX && matrix->n <= INT32_MAX / 3,
             NOLI_ERROR_TOO_LARGE, "the matrix has %lld blocks, too many for 32-bit indices",
             (long long)matrix->nnz);
  NOLI_TRY(reserve_ints(cholmod->context, &cholmod->graph_row, (int64_t)matrix->n + 1));
  *graph = noli_cholmod_graph(matrix, cholmod->graph_row.data);
done:
  return status;
}

// Symbolic factorization of the graph with the given ordering. `operations` counts scalar ones.
static NoliStatus analyze_graph(Cholmod* cholmod, cholmod_sparse* graph, int32_t* order,
                                cholmod_factor** symbolic, double* operations) {
  NoliStatus status = NOLI_OK;
  *symbolic = cholmod_analyze_p(graph, order, NULL, 0, &cholmod->common);
  NOLI_TRY(check_common(cholmod, "in the symbolic factorization"));
  NOLI_CHECK(cholmod->context, *symbolic != NULL && (*symbolic)->is_super, NOLI_ERROR_BACKEND,
             "CHOLMOD found no supernodes");
  *operations = 27.0 * cholmod->common.fl;
done:
  return status;
}

// Orders with one method and analyzes.
static NoliStatus order_with(Cholmod* cholmod, cholmod_sparse* graph, OrderChoice method,
                             cholmod_factor** symbolic, double* operations) {
  NoliStatus status = NOLI_OK;
  int32_t* order = cholmod->order.data;
  if (method == ORDER_AMD) {
    cholmod_amd(graph, NULL, 0, order, &cholmod->common);
  } else {
    NoliMetisGuard guard;
    noli_metis_begin(&guard);
    cholmod_metis(graph, NULL, 0, 1, order, &cholmod->common);
    noli_metis_end(&guard);
  }
  NOLI_TRY(check_common(cholmod, "in the ordering"));
  NOLI_TRY(analyze_graph(cholmod, graph, order, symbolic, operations));
done:
  return status;
}

// Finds an ordering: AMD, or METIS where it is worth trying and better.
static NoliStatus find_order(Cholmod* cholmod, cholmod_sparse* graph, cholmod_factor** symbolic,
                             double* operations) {
  NoliStatus status = NOLI_OK;
  cholmod_factor* other = NULL;
  double other_operations = 0.0;
  OrderChoice first = cholmod->choice == ORDER_METIS ? ORDER_METIS : ORDER_AMD;
  NOLI_TRY(order_with(cholmod, graph, first, symbolic, operations));
  if (cholmod->choice == ORDER_UNKNOWN &&
      *operations > METIS_OPERATIONS_PER_ROW * (double)graph->nrow) {
    NOLI_TRY(order_with(cholmod, graph, ORDER_METIS, &other, &other_operations));
    cholmod->choice = other_operations < *operations ? ORDER_METIS : ORDER_AMD;
    if (cholmod->choice == ORDER_METIS) {
      cholmod_factor* worse = *symbolic;
      *symbolic = other;
      *operations = other_operations;
      other = worse;
    }
  }
  cholmod->operations = *operations;
done:
  cholmod_free_factor(&other, &cholmod->common);
  return status;
}

// Analyzes the graph with the ordering of the last pattern, or with a new one.
static NoliStatus order_and_analyze(Cholmod* cholmod, cholmod_sparse* graph,
                                    cholmod_factor** symbolic) {
  NoliStatus status = NOLI_OK;
  int32_t n = (int32_t)graph->nrow;
  double operations = HUGE_VAL;
  bool keep = cholmod->ordered && cholmod->n == n;
  cholmod->choice = cholmod->n == n ? cholmod->choice : ORDER_UNKNOWN;
  cholmod->ordered = false;
  NOLI_TRY(reserve_ints(cholmod->context, &cholmod->order, n));
  NOLI_TRY(reserve_ints(cholmod->context, &cholmod->place, n));
  if (keep) {
    NOLI_TRY(analyze_graph(cholmod, graph, cholmod->order.data, symbolic, &operations));
  }
  if (!keep || operations > WORST_GROWTH * cholmod->operations) {
    cholmod_free_factor(symbolic, &cholmod->common);
    NOLI_TRY(find_order(cholmod, graph, symbolic, &operations));
  }
  // the postorder is part of the ordering
  memcpy(cholmod->order.data, (*symbolic)->Perm, sizeof(int32_t) * (size_t)n);
  for (int32_t k = 0; k < n; k++) {
    cholmod->place.data[cholmod->order.data[k]] = k;
  }
  cholmod->n = n;
  cholmod->ordered = true;
done:
  return status;
}

// Sorts the stored blocks by their columns in the permuted lower triangle. Block (i, j) is stored
// by rows. If i comes before j, the lower block is its transpose.
static void sort_blocks(Cholmod* cholmod, const NoliBlockMatrix* matrix) {
  const int32_t* place = cholmod->place.data;
  int32_t* column = cholmod->column.data;
  memset(column, 0, sizeof *column * ((size_t)matrix->n + 1));
  for (int32_t i = 0; i < matrix->n; i++) {
    for (int64_t k = matrix->row[i]; k < matrix->row[i + 1]; k++) {
      int32_t a = place[i], b = place[matrix->col[k]];
      column[(a < b ? a : b) + 1]++;
    }
  }
  for (int32_t c = 0; c < matrix->n; c++) {
    column[c + 1] += column[c];
  }
  // fill, with column[c] as the next free place; afterwards it is the end of column c
  for (int32_t i = 0; i < matrix->n; i++) {
    for (int64_t k = matrix->row[i]; k < matrix->row[i + 1]; k++) {
      int32_t a = place[i], b = place[matrix->col[k]];
      int32_t at = column[a < b ? a : b]++;
      cholmod->source.data[at] = 2 * (int32_t)k + (a > b ? 1 : 0);
      cholmod->row.data[at] = a < b ? b : a;
    }
  }
  for (int32_t c = matrix->n; c > 0; c--) {
    column[c] = column[c - 1];
  }
  column[0] = 0;
}

static NoliStatus cholmod_back_analyze(void* state, const NoliLinView* view) {
  NoliStatus status = NOLI_OK;
  const NoliBlockMatrix* matrix = view->symmetric;
  Cholmod* cholmod = state;
  cholmod_sparse graph;
  cholmod_factor* symbolic = NULL;
  if (matrix->n == 0) {
    cholmod->n = 0;
    cholmod->ordered = false;
    goto done;
  }
  NOLI_TRY(make_graph(cholmod, matrix, &graph));
  NOLI_TRY(order_and_analyze(cholmod, &graph, &symbolic));
  NOLI_TRY(noli_supernodal_begin(cholmod->context, &cholmod->factor, symbolic));
  NOLI_TRY(reserve_ints(cholmod->context, &cholmod->column, (int64_t)matrix->n + 1));
  NOLI_TRY(reserve_ints(cholmod->context, &cholmod->source, matrix->nnz));
  NOLI_TRY(reserve_ints(cholmod->context, &cholmod->row, matrix->nnz));
  NOLI_TRY(noli_grow(cholmod->context, (void**)&cholmod->permuted, &cholmod->permuted_capacity,
                     3 * (int64_t)matrix->n, sizeof(double)));
  sort_blocks(cholmod, matrix);
done:
  cholmod_free_factor(&symbolic, &cholmod->common);
  return status;
}

// Ordering and its method are chosen anew.
static void cholmod_back_forget(void* state) {
  Cholmod* cholmod = state;
  cholmod->ordered = false;
  cholmod->choice = ORDER_UNKNOWN;
}

static NoliStatus cholmod_back_factor(void* state, const NoliLinView* view,
                                      NoliLinSolverStats* stats) {
  NoliStatus status = NOLI_OK;
  Cholmod* cholmod = state;
  NoliPermutedBlocks permuted = {cholmod->column.data, cholmod->row.data, cholmod->source.data,
                                 view->symmetric->value};
  stats->factor_bytes = 0;
  if (cholmod->n == 0) {
    goto done;
  }
  stats->factor_bytes = noli_supernodal_bytes(&cholmod->factor);
  NOLI_CHECK(
      cholmod->context,
      noli_supernodal_factor(&cholmod->factor, noli_context_threads(cholmod->context), &permuted),
      NOLI_NOT_POSITIVE_DEFINITE, "the matrix is not positive definite");
done:
  return status;
}

static NoliStatus cholmod_back_solve(void* state, const NoliLinView* view, const double* b,
                                     double* x, NoliLinSolverStats* stats) {
  (void)view;
  (void)stats;
  Cholmod* cholmod = state;
  double* permuted = cholmod->permuted;
  for (int32_t k = 0; k < cholmod->n; k++) {
    memcpy(permuted + 3 * (int64_t)k, b + 3 * (int64_t)cholmod->order.data[k], 3 * sizeof *b);
  }
  if (cholmod->n > 0) {
    noli_supernodal_solve(&cholmod->factor, permuted);
  }
  for (int32_t k = 0; k < cholmod->n; k++) {
    memcpy(x + 3 * (int64_t)cholmod->order.data[k], permuted + 3 * (int64_t)k, 3 * sizeof *x);
  }
  return NOLI_OK;
}

const NoliLinBackend noli_lin_backend_cholmod = {
    .info = {.name = "cholmod",
             .description = "supernodal sparse Cholesky of SuiteSparse",
             .built = true,
             .deterministic = true,
             .direct = true},
    .create = cholmod_back_create,
    .destroy = cholmod_back_destroy,
    .forget = cholmod_back_forget,
    .analyze = cholmod_back_analyze,
    .factor = cholmod_back_factor,
    .solve = cholmod_back_solve,
};
