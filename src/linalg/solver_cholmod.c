// Supernodal CHOLMOD on 3x3 blocks.
//
// Ordering and symbolic factorization see the graph of block rows, nine times smaller than the
// matrix; the supernodes they find are then written out for scalar rows. Figures below are for
// 8000 nodes (24000 scalar rows), a cube of 41000 tetrahedra (C) and a mat of 24000 (M), one core:
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
// CHOLMOD starts parallel regions to clear and copy every supernode, with a thread count fixed when
// it was built; on few cores they take longer than the arithmetic (M: 160 ms instead of 39 ms), so
// they are made serial. The threads of the BLAS are left as the process has set them up.
#include "linalg/solver_backend.h"

#include "base/array.h"
#include "base/parallel.h"
#include "linalg/cholmod_graph.h"

#include <math.h>
#include <string.h>

// A new ordering is computed when the old one needs so many times the operations that it needed
// for the pattern it was made for.
#define WORST_GROWTH 1.5

// METIS is tried where AMD promises more operations per block row: its 6 microseconds per row are
// then less than it may save in some ten factorizations.
#define METIS_OPERATIONS_PER_ROW 1e5
// Operations of a factorization from which BLAS may use all threads.
#define BLAS_THREADS_OPERATIONS 2e10

// Room for fill in the factor beyond the present need, as contacts come one by one.
#define SPARE_ROOM 1.125

typedef NOLI_ARRAY(int32_t) IntArray;
typedef NOLI_ARRAY(double) RealArray;

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

  // lower triangle of the permuted matrix, in scalar columns
  cholmod_sparse matrix;
  IntArray column; // (n + 1) first block of each block column
  IntArray source; // (nnz) 2 * stored block, + 1 if its columns become scalar columns
  IntArray scalar_column;
  IntArray scalar_row;
  RealArray scalar_value;

  // its factor
  cholmod_factor factor;
  IntArray super, row_start, value_start, row, permutation, count;
  RealArray value;

  // of the solution, owned by CHOLMOD
  cholmod_dense* work[2];
} Cholmod;

// Makes room without keeping the content.
static NoliStatus reserve_ints(NoliContext* context, IntArray* array, int64_t need) {
  if (need > array->capacity) {
    noli_array_free(context, array);
  }
  return noli_array_reserve(context, array, need);
}

static NoliStatus reserve_reals(NoliContext* context, RealArray* array, int64_t need) {
  if (need <= array->capacity) {
    return NOLI_OK;
  }
  noli_array_free(context, array);
  return noli_array_reserve(context, array, (int64_t)(SPARE_ROOM * (double)need));
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
  IntArray* ints[] = {&cholmod->order,       &cholmod->place,  &cholmod->graph_row,
                      &cholmod->column,      &cholmod->source, &cholmod->scalar_column,
                      &cholmod->scalar_row,  &cholmod->super,  &cholmod->row_start,
                      &cholmod->value_start, &cholmod->row,    &cholmod->permutation,
                      &cholmod->count};
  for (size_t k = 0; k < sizeof ints / sizeof ints[0]; k++) {
    noli_array_free(context, ints[k]);
  }
  noli_array_free(context, &cholmod->scalar_value);
  noli_array_free(context, &cholmod->value);
  cholmod_free_dense(&cholmod->work[0], &cholmod->common);
  cholmod_free_dense(&cholmod->work[1], &cholmod->common);
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
    cholmod_metis(graph, NULL, 0, 1, order, &cholmod->common);
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

// Makes room for the factor with three scalar rows for each block row.
static NoliStatus reserve_factor(Cholmod* cholmod, const cholmod_factor* symbolic) {
  NoliStatus status = NOLI_OK;
  NoliContext* context = cholmod->context;
  int64_t n_super = (int64_t)symbolic->nsuper, n = (int64_t)symbolic->n;
  NOLI_CHECK(context, 9 * symbolic->xsize <= INT32_MAX && 3 * symbolic->ssize <= INT32_MAX,
             NOLI_ERROR_TOO_LARGE, "the factor has %.3g entries, too many for 32-bit indices",
             9.0 * (double)symbolic->xsize);
  NOLI_TRY(reserve_ints(context, &cholmod->super, n_super + 1));
  NOLI_TRY(reserve_ints(context, &cholmod->row_start, n_super + 1));
  NOLI_TRY(reserve_ints(context, &cholmod->value_start, n_super + 1));
  NOLI_TRY(reserve_ints(context, &cholmod->row, 3 * (int64_t)symbolic->ssize));
  NOLI_TRY(reserve_ints(context, &cholmod->permutation, 3 * n));
  NOLI_TRY(reserve_ints(context, &cholmod->count, 3 * n));
  NOLI_TRY(reserve_reals(context, &cholmod->value, 9 * (int64_t)symbolic->xsize));
done:
  return status;
}

// Writes the supernodes of block rows out for scalar rows.
static NoliStatus expand_factor(Cholmod* cholmod, const cholmod_factor* symbolic) {
  NoliStatus status = NOLI_OK;
  NOLI_TRY(reserve_factor(cholmod, symbolic));
  const int32_t* super = symbolic->super;
  const int32_t* row_start = symbolic->pi;
  const int32_t* value_start = symbolic->px;
  const int32_t* row = symbolic->s;
  const int32_t* count = symbolic->ColCount;
  for (size_t s = 0; s <= symbolic->nsuper; s++) {
    cholmod->super.data[s] = 3 * super[s];
    cholmod->row_start.data[s] = 3 * row_start[s];
    cholmod->value_start.data[s] = 9 * value_start[s];
  }
  for (int32_t k = 0; k < 3 * (int32_t)symbolic->ssize; k++) {
    cholmod->row.data[k] = 3 * row[k / 3] + k % 3;
  }
  for (int32_t k = 0; k < 3 * cholmod->n; k++) {
    cholmod->permutation.data[k] = 3 * cholmod->order.data[k / 3] + k % 3;
    cholmod->count.data[k] = 3 * count[k / 3] - k % 3;
  }
  cholmod->factor = (cholmod_factor){
      .n = 3 * symbolic->n,
      .minor = 3 * symbolic->n,
      .Perm = cholmod->permutation.data,
      .ColCount = cholmod->count.data,
      .x = cholmod->value.data,
      .nsuper = symbolic->nsuper,
      .ssize = 3 * symbolic->ssize,
      .xsize = 9 * symbolic->xsize,
      .maxcsize = 9 * symbolic->maxcsize,
      .maxesize = 3 * symbolic->maxesize,
      .super = cholmod->super.data,
      .pi = cholmod->row_start.data,
      .px = cholmod->value_start.data,
      .s = cholmod->row.data,
      .ordering = CHOLMOD_GIVEN,
      .is_ll = 1,
      .is_super = 1,
      .itype = CHOLMOD_INT,
      .xtype = CHOLMOD_REAL,
      .dtype = CHOLMOD_DOUBLE,
  };
done:
  return status;
}

// Sorts the stored blocks by their columns in the permuted lower triangle. Block (i, j) is stored
// by rows. If i comes before j, the lower block is its transpose and the rows of the stored block
// are scalar columns; otherwise its columns are.
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
      // the block row stays here until the scalar rows are written
      cholmod->scalar_row.data[at] = a < b ? b : a;
    }
  }
  for (int32_t c = matrix->n; c > 0; c--) {
    column[c] = column[c - 1];
  }
  column[0] = 0;
}

// Writes scalar rows and column starts. Backwards, as the block rows lie at the front.
static void expand_matrix(Cholmod* cholmod, int32_t n) {
  const int32_t* column = cholmod->column.data;
  int32_t* row = cholmod->scalar_row.data;
  for (int32_t c = n - 1; c >= 0; c--) {
    int32_t first = column[c], length = column[c + 1] - first;
    // the first scalar column may cover block rows that were not read yet: go down
    for (int32_t k = length - 1; k >= 0; k--) {
      int32_t block_row = row[first + k];
      for (int32_t s = 2; s >= 0; s--) {
        int32_t at = 9 * first + 3 * (s * length + k);
        row[at + 2] = 3 * block_row + 2;
        row[at + 1] = 3 * block_row + 1;
        row[at] = 3 * block_row;
      }
    }
    for (int32_t s = 0; s < 3; s++) {
      cholmod->scalar_column.data[3 * c + s] = 9 * first + 3 * s * length;
    }
  }
  cholmod->scalar_column.data[3 * n] = 9 * column[n];
}

static NoliStatus lay_out_matrix(Cholmod* cholmod, const NoliBlockMatrix* matrix) {
  NoliStatus status = NOLI_OK;
  NoliContext* context = cholmod->context;
  int64_t n = matrix->n, nnz = matrix->nnz;
  NOLI_TRY(reserve_ints(context, &cholmod->column, n + 1));
  NOLI_TRY(reserve_ints(context, &cholmod->source, nnz));
  NOLI_TRY(reserve_ints(context, &cholmod->scalar_column, 3 * n + 1));
  NOLI_TRY(reserve_ints(context, &cholmod->scalar_row, 9 * nnz));
  NOLI_TRY(reserve_reals(context, &cholmod->scalar_value, 9 * nnz));
  sort_blocks(cholmod, matrix);
  expand_matrix(cholmod, matrix->n);
  // diagonal blocks are whole: CHOLMOD ignores what lies above the diagonal
  cholmod->matrix = (cholmod_sparse){
      .nrow = 3 * (size_t)n,
      .ncol = 3 * (size_t)n,
      .nzmax = 9 * (size_t)nnz,
      .p = cholmod->scalar_column.data,
      .i = cholmod->scalar_row.data,
      .x = cholmod->scalar_value.data,
      .stype = -1,
      .itype = CHOLMOD_INT,
      .xtype = CHOLMOD_REAL,
      .dtype = CHOLMOD_DOUBLE,
      .packed = 1,
  };
done:
  return status;
}

static NoliStatus cholmod_back_analyze(void* state, const NoliBlockMatrix* matrix) {
  NoliStatus status = NOLI_OK;
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
  NOLI_TRY(expand_factor(cholmod, symbolic));
  NOLI_TRY(lay_out_matrix(cholmod, matrix));
done:
  cholmod_free_factor(&symbolic, &cholmod->common);
  return status;
}

typedef struct FillJob {
  const Cholmod* cholmod;
  const double* value; // of the block matrix
} FillJob;

// Values of block columns begin..end.
static void fill_columns(void* user, int64_t begin, int64_t end, int32_t worker) {
  (void)worker;
  const FillJob* job = user;
  const int32_t* column = job->cholmod->column.data;
  for (int64_t c = begin; c < end; c++) {
    int64_t first = column[c], length = column[c + 1] - first;
    double* to = job->cholmod->scalar_value.data + 9 * first;
    for (int64_t k = 0; k < length; k++) {
      int32_t source = job->cholmod->source.data[first + k];
      const double* block = job->value + 9 * (int64_t)(source / 2);
      // distance of neighbours in a scalar column, and of scalar columns, in the stored block
      int32_t along = source % 2 == 0 ? 1 : 3, across = 4 - along;
      for (int64_t s = 0; s < 3; s++) {
        for (int64_t r = 0; r < 3; r++) {
          to[3 * (s * length + k) + r] = block[s * across + r * along];
        }
      }
    }
  }
}

// Ordering and its method are chosen anew.
static void cholmod_back_forget(void* state) {
  Cholmod* cholmod = state;
  cholmod->ordered = false;
  cholmod->choice = ORDER_UNKNOWN;
}

// Threads inside BLAS help only with the large fronts of large problems: at 1e10 operations two
// threads gain 7 to 20 %; below that they lose, and on a busy machine a factor of ten.
static int32_t blas_threads(const Cholmod* cholmod) {
  return cholmod->operations > BLAS_THREADS_OPERATIONS ? noli_context_threads(cholmod->context) : 1;
}

static NoliStatus cholmod_back_factor(void* state, const NoliBlockMatrix* matrix,
                                      NoliLinSolverStats* stats) {
  NoliStatus status = NOLI_OK;
  Cholmod* cholmod = state;
  if (cholmod->n == 0) {
    stats->factor_bytes = 0;
    goto done;
  }
  FillJob job = {cholmod, matrix->value};
  noli_parallel_for(noli_context_threads(cholmod->context), cholmod->n, 512, fill_columns, &job);
  stats->factor_bytes =
      (int64_t)(cholmod->factor.xsize * sizeof(double) + cholmod->factor.ssize * sizeof(int32_t));
  double shift[2] = {0.0, 0.0};
  cholmod->factor.minor = cholmod->factor.n;
  NoliParallelMute before = noli_parallel_mute(blas_threads(cholmod));
  cholmod_super_numeric(&cholmod->matrix, NULL, shift, &cholmod->factor, &cholmod->common);
  noli_parallel_unmute(before);
  NOLI_TRY(check_common(cholmod, "in the factorization"));
  NOLI_CHECK(cholmod->context, cholmod->factor.minor == cholmod->factor.n,
             NOLI_NOT_POSITIVE_DEFINITE, "the matrix is not positive definite");
done:
  return status;
}

static cholmod_dense dense_vector(size_t n, double* x) {
  return (cholmod_dense){.nrow = n,
                         .ncol = 1,
                         .nzmax = n,
                         .d = n,
                         .x = x,
                         .xtype = CHOLMOD_REAL,
                         .dtype = CHOLMOD_DOUBLE};
}

static NoliStatus cholmod_back_solve(void* state, const NoliBlockMatrix* matrix, const double* b,
                                     double* x, NoliLinSolverStats* stats) {
  NoliStatus status = NOLI_OK;
  (void)matrix;
  (void)stats;
  Cholmod* cholmod = state;
  if (cholmod->n == 0) {
    goto done;
  }
  // CHOLMOD only reads the right side and, as the size fits, writes the solution in place
  cholmod_dense right = dense_vector(cholmod->factor.n, (double*)(uintptr_t)b);
  cholmod_dense left = dense_vector(cholmod->factor.n, x);
  cholmod_dense* solution = &left;
  NoliParallelMute before = noli_parallel_mute(blas_threads(cholmod));
  cholmod_solve2(CHOLMOD_A, &cholmod->factor, &right, NULL, &solution, NULL, &cholmod->work[0],
                 &cholmod->work[1], &cholmod->common);
  noli_parallel_unmute(before);
  NOLI_TRY(check_common(cholmod, "in the solution"));
  NOLI_CHECK(cholmod->context, solution == &left, NOLI_ERROR_BACKEND,
             "CHOLMOD did not solve in place");
done:
  return status;
}

const NoliLinBackend noli_lin_backend_cholmod = {
    .info = {.name = "cholmod",
             .description = "supernodal sparse Cholesky of SuiteSparse",
             .built = true,
             .deterministic = false},
    .create = cholmod_back_create,
    .destroy = cholmod_back_destroy,
    .forget = cholmod_back_forget,
    .analyze = cholmod_back_analyze,
    .factor = cholmod_back_factor,
    .solve = cholmod_back_solve,
};
