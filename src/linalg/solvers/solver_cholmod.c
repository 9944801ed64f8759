// Sparse Cholesky factorization on 3x3 blocks: ordering and symbolic factorization by CHOLMOD,
// numeric factorization by linalg/supernodal/supernodal.h. Only
// linalg/supernodal/cholmod_symbolic.c knows CHOLMOD.
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
// A new ordering therefore costs far more than a new symbolic factorization: when contacts change
// the pattern, the old ordering is kept until it has become bad, and METIS is tried if a
// factorization is expensive enough for it to pay.
//
// The numeric factorization is Noli's: CHOLMOD's starts parallel regions to clear and copy
// every supernode, with a thread count fixed when it was built, and its large calls of BLAS start
// threads whose number belongs to the process.
#include "linalg/solvers/solver_cholmod.h"

#include "linalg/solvers/cholmod_api.h"
#include "linalg/supernodal/supernodal.h"

#include <math.h>
#include <string.h>

// A new ordering is computed when the old one needs this many times the operations that it needed
// for the pattern it was made for.
#define WORST_GROWTH 1.5

// METIS is tried where AMD promises more operations per block row: its 6 microseconds per row are
// then less than it may save in some ten factorizations.
#define METIS_OPERATIONS_PER_ROW 1e5

// Factors of fewer operations for each of their numbers, as of thin rods, take double precision
// where single precision is allowed: what that saves is less than its refinement costs. A
// factorization in double precision takes six tenths again as long as one in single precision;
// three iterations of the latter, which read the factor, take 1.1 times as long as a factorization
// and a solution at 21 operations, 0.87 times at 26, and 0.7 times at 120.
#define SINGLE_DENSITY 24.0

typedef NoliIndexArray IntArray;

// How matrices of the current size are ordered: both are tried, then the better one is kept.
typedef enum OrderChoice { ORDER_UNKNOWN, ORDER_AMD, ORDER_METIS } OrderChoice;

typedef struct Cholmod {
  NoliContext* context;
  NoliOrderer* orderer;
  int32_t n; // block rows

  // ordering of the block rows
  bool ordered;
  OrderChoice choice;
  double operations; // with this ordering, for the pattern it was made for
  IntArray order;    // (n) block row at each place
  IntArray place;    // (n) its inverse

  // lower triangle of the permuted matrix
  NoliOffsetArray column; // (n + 1) first block of each block column
  NoliOffsetArray source; // (nnz) 2 * stored block, + 1 if its columns become columns
  IntArray row;           // (nnz) block row

  NoliSupernodal factor;
  NoliRealArray permuted; // (n x 3) of a solution; in single precision half of them

  // in single precision: S A S is factored, with a diagonal of ones
  bool may_be_single;
  bool single;         // the present pattern is
  double density;      // operations of its factorization for each number of the factor
  NoliRealArray scale; // (n x 3) S, permuted
} Cholmod;

// Makes room without keeping the content.
#define RESERVE(context, array, need)                                                              \
  do {                                                                                             \
    if ((need) > (array)->capacity) {                                                              \
      noli_array_free((context), (array));                                                         \
      NOLI_TRY(noli_array_reserve((context), (array), (need)));                                    \
    }                                                                                              \
  } while (0)

void noli_cholmod_destroy(NoliContext* context, void* state) {
  Cholmod* cholmod = state;
  IntArray* ints[] = {&cholmod->order, &cholmod->place, &cholmod->row};
  for (size_t k = 0; k < sizeof ints / sizeof ints[0]; k++) {
    noli_array_free(context, ints[k]);
  }
  noli_array_free(context, &cholmod->column);
  noli_array_free(context, &cholmod->source);
  noli_supernodal_free(context, &cholmod->factor);
  noli_array_free(context, &cholmod->permuted);
  noli_array_free(context, &cholmod->scale);
  noli_orderer_destroy(&cholmod->orderer);
  noli_free(context, cholmod);
}

NoliStatus noli_cholmod_create(NoliContext* context, int64_t narrow, bool single, void** state) {
  NoliStatus status = NOLI_OK;
  Cholmod* cholmod = NULL;
  NOLI_NEW_ZERO(context, cholmod, 1);
  cholmod->context = context;
  cholmod->may_be_single = single;
  NOLI_TRY(noli_orderer_create(context, narrow, &cholmod->orderer));
  *state = cholmod;
  cholmod = NULL;
done:
  noli_free(context, cholmod);
  return status;
}

// Orders with one method and analyzes.
static NoliStatus order_with(Cholmod* cholmod, OrderChoice method, NoliSymbolic* symbolic) {
  NoliStatus status = NOLI_OK;
  double operations;
  int32_t* order = cholmod->order.data;
  NOLI_TRY(noli_orderer_order(cholmod->orderer,
                              method == ORDER_AMD ? NOLI_ORDER_AMD : NOLI_ORDER_METIS, order,
                              &operations));
  NOLI_TRY(noli_symbolic_make(cholmod->orderer, order, symbolic));
done:
  return status;
}

// Finds an ordering: AMD, or METIS where it is worth trying and better.
static NoliStatus find_order(Cholmod* cholmod, int32_t n, NoliSymbolic* symbolic) {
  NoliStatus status = NOLI_OK;
  NoliSymbolic other = {0};
  bool has_metis = noli_orderer_has_metis(cholmod->orderer);
  OrderChoice first = cholmod->choice == ORDER_METIS && has_metis ? ORDER_METIS : ORDER_AMD;
  NOLI_TRY(order_with(cholmod, first, symbolic));
  if (cholmod->choice == ORDER_UNKNOWN && has_metis &&
      symbolic->operations > METIS_OPERATIONS_PER_ROW * (double)n) {
    NOLI_TRY(order_with(cholmod, ORDER_METIS, &other));
    cholmod->choice = other.operations < symbolic->operations ? ORDER_METIS : ORDER_AMD;
    if (cholmod->choice == ORDER_METIS) {
      NoliSymbolic worse = *symbolic;
      *symbolic = other;
      other = worse;
    }
  }
  cholmod->operations = symbolic->operations;
done:
  noli_symbolic_free(cholmod->orderer, &other);
  return status;
}

// Analyzes the pattern with the ordering of the last one, or with a new one.
static NoliStatus order_and_analyze(Cholmod* cholmod, int32_t n, NoliSymbolic* symbolic) {
  NoliStatus status = NOLI_OK;
  bool keep = cholmod->ordered && cholmod->n == n;
  cholmod->choice = cholmod->n == n ? cholmod->choice : ORDER_UNKNOWN;
  cholmod->ordered = false;
  RESERVE(cholmod->context, &cholmod->order, n);
  RESERVE(cholmod->context, &cholmod->place, n);
  if (keep) {
    NOLI_TRY(noli_symbolic_make(cholmod->orderer, cholmod->order.data, symbolic));
  }
  if (!keep || symbolic->operations > WORST_GROWTH * cholmod->operations) {
    noli_symbolic_free(cholmod->orderer, symbolic);
    NOLI_TRY(find_order(cholmod, n, symbolic));
  }

  // the postorder is part of the ordering
  noli_symbolic_order(symbolic, cholmod->order.data);
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
  int64_t* column = cholmod->column.data;
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
      int64_t at = column[a < b ? a : b]++;
      cholmod->source.data[at] = 2 * k + (a > b ? 1 : 0);
      cholmod->row.data[at] = a < b ? b : a;
    }
  }
  for (int32_t c = matrix->n; c > 0; c--) {
    column[c] = column[c - 1];
  }
  column[0] = 0;
}

NoliStatus noli_cholmod_analyze(void* state, const NoliLinView* view) {
  NoliStatus status = NOLI_OK;
  const NoliBlockMatrix* matrix = view->symmetric;
  Cholmod* cholmod = state;
  NoliSymbolic symbolic = {0};
  if (matrix->n == 0) {
    cholmod->n = 0;
    cholmod->ordered = cholmod->single = false;
    goto done;
  }

  NOLI_CHECK(cholmod->context, matrix->n <= INT32_MAX / 3, NOLI_ERROR_TOO_LARGE,
             "the matrix has %lld block rows, too many for BLAS", (long long)matrix->n);
  NOLI_TRY(noli_orderer_begin(cholmod->orderer, matrix));
  NOLI_TRY(order_and_analyze(cholmod, matrix->n, &symbolic));
  cholmod->density = symbolic.operations / (9.0 * (double)symbolic.n_value);
  cholmod->single = cholmod->may_be_single && cholmod->density > SINGLE_DENSITY;
  NOLI_TRY(noli_supernodal_begin(cholmod->context, &cholmod->factor, &symbolic, cholmod->single));
  RESERVE(cholmod->context, &cholmod->column, (int64_t)matrix->n + 1);
  RESERVE(cholmod->context, &cholmod->source, matrix->nnz);
  RESERVE(cholmod->context, &cholmod->row, matrix->nnz);
  RESERVE(cholmod->context, &cholmod->permuted, 3 * (int64_t)matrix->n);
  if (cholmod->single) {
    RESERVE(cholmod->context, &cholmod->scale, 3 * (int64_t)matrix->n);
  }
  sort_blocks(cholmod, matrix);
done:
  noli_symbolic_free(cholmod->orderer, &symbolic);
  return status;
}

// Discards the ordering and which method found it.
void noli_cholmod_reset(void* state) {
  Cholmod* cholmod = state;
  cholmod->ordered = false;
  cholmod->choice = ORDER_UNKNOWN;
}

// The inverse roots of the diagonal. Where that is not positive, so are the pivots.
static void find_scale(Cholmod* cholmod, const NoliBlockMatrix* matrix) {
  double* scale = cholmod->scale.data;
  for (int32_t k = 0; k < cholmod->n; k++) {
    const double* block = matrix->value + 9 * matrix->row[cholmod->order.data[k]];
    for (int64_t c = 0; c < 3; c++) {
      scale[3 * (int64_t)k + c] = 1.0 / sqrt(block[4 * c]);
    }
  }
}

NoliStatus noli_cholmod_factor(void* state, const NoliLinView* view, NoliLinSolverStats* stats) {
  NoliStatus status = NOLI_OK;
  Cholmod* cholmod = state;
  NoliPermutedBlocks permuted = {cholmod->column.data, cholmod->row.data, cholmod->source.data,
                                 view->symmetric->value, NULL};
  bool positive = true;
  stats->factor_bytes = 0;
  if (cholmod->n == 0) {
    goto done;
  }
  stats->factor_bytes = noli_supernodal_bytes(&cholmod->factor);
  stats->operations = cholmod->operations;
  if (cholmod->single) {
    find_scale(cholmod, view->symmetric);
    permuted.scale = cholmod->scale.data;
    positive = noli_supernodal_factor_single(&cholmod->factor, &permuted);
  } else {
    positive = noli_supernodal_factor(&cholmod->factor, &permuted);
  }
  NOLI_CHECK(cholmod->context, positive, NOLI_NOT_POSITIVE_DEFINITE,
             "the matrix is not positive definite%s",
             cholmod->single ? " in single precision" : "");
done:
  return status;
}

bool noli_cholmod_is_single(const void* state, double* density) {
  const Cholmod* cholmod = state;
  *density = cholmod->density;
  return cholmod->single;
}

void noli_cholmod_solve_single(void* state, double length, const double* b, double* x) {
  Cholmod* cholmod = state;
  const double* scale = cholmod->scale.data;
  float* permuted = (float*)cholmod->permuted.data;
  for (int32_t k = 0; k < cholmod->n; k++) {
    const double* from = b + 3 * (int64_t)cholmod->order.data[k];
    for (int64_t c = 0, i = 3 * (int64_t)k; c < 3; c++, i++) {
      permuted[i] = (float)(scale[i] * from[c] / length);
    }
  }
  if (cholmod->n > 0) {
    noli_supernodal_solve_single(&cholmod->factor, permuted);
  }
  for (int32_t k = 0; k < cholmod->n; k++) {
    double* to = x + 3 * (int64_t)cholmod->order.data[k];
    for (int64_t c = 0, i = 3 * (int64_t)k; c < 3; c++, i++) {
      to[c] = length * scale[i] * (double)permuted[i];
    }
  }
}

NoliStatus noli_cholmod_solve(void* state, const NoliLinView* view, const double* b, double* x,
                              NoliLinSolverStats* stats) {
  (void)view;
  (void)stats;
  Cholmod* cholmod = state;
  double* permuted = cholmod->permuted.data;
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

#define BACKEND(maker)                                                                             \
  {                                                                                                \
    .info = {.name = "cholmod",                                                                    \
             .description = "supernodal sparse Cholesky of SuiteSparse",                           \
             .built = true,                                                                        \
             .deterministic = true,                                                                \
             .direct = true},                                                                      \
    .create = maker, .destroy = noli_cholmod_destroy, .reset = noli_cholmod_reset,                 \
    .analyze = noli_cholmod_analyze, .factor = noli_cholmod_factor, .solve = noli_cholmod_solve,   \
  }

static NoliStatus wide_create(NoliContext* context, void** state) {
  return noli_cholmod_create(context, 0, false, state);
}

const NoliLinBackend noli_lin_backend_cholmod_wide = BACKEND(wide_create);

#if NOLI_CHOLMOD_KNOWN
static NoliStatus cholmod_back_create(NoliContext* context, void** state) {
  return noli_cholmod_create(context, NOLI_ORDERER_NARROW, false, state);
}

const NoliLinBackend noli_lin_backend_cholmod = BACKEND(cholmod_back_create);
#else
const NoliLinBackend noli_lin_backend_cholmod = NOLI_LIN_CHOLMOD_PLAIN;
#endif
