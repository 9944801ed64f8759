#include "linalg/weigh.h"

#include "linalg/cholmod_graph.h"

#include <math.h>

// Nanoseconds, fitted within a factor of 2 to what noli_bench_linear measures (docs/benchmarks.md). A
// factorization, on one thread, takes some for each block row, and for its operations by AMD: the
// exponent stands for the better use of the processor by large fronts, and for METIS, which CHOLMOD
// takes for them. An iteration, on two threads, takes some for each stored block.
#define ROW_NS 2300.0
#define OPERATIONS_NS 1.05
#define OPERATIONS_EXPONENT 0.84
#define BLOCK_NS 4.7

void noli_lin_weight_free(NoliContext* context, NoliLinWeight* weight) {
  noli_array_free(context, &weight->row);
  noli_array_free(context, &weight->order);
}

// The pattern of block rows.
static NoliStatus make_graph(NoliLinWeight* weight, NoliContext* context,
                             const NoliBlockMatrix* matrix, cholmod_sparse* graph) {
  NoliStatus status = NOLI_OK;
  NOLI_CHECK(context, matrix->nnz <= INT32_MAX, NOLI_ERROR_TOO_LARGE,
             "the matrix has %lld blocks, too many for 32-bit indices", (long long)matrix->nnz);
  NOLI_TRY(noli_array_reserve(context, &weight->row, (int64_t)matrix->n + 1));
  NOLI_TRY(noli_array_reserve(context, &weight->order, matrix->n));
  *graph = noli_cholmod_graph(matrix, weight->row.data);
done:
  return status;
}

NoliStatus noli_lin_weigh(NoliLinWeight* weight, NoliContext* context,
                          const NoliBlockMatrix* matrix) {
  NoliStatus status = NOLI_OK;
  cholmod_common common;
  cholmod_sparse graph;
  bool started = false;
  weight->operations = 0.0;
  if (matrix->n == 0) {
    goto done;
  }
  NOLI_TRY(make_graph(weight, context, matrix, &graph));
  started = cholmod_start(&common) != 0;
  NOLI_CHECK(context, started, NOLI_ERROR_BACKEND, "CHOLMOD does not start");
  common.print = 0;
  bool ordered = cholmod_amd(&graph, NULL, 0, weight->order.data, &common) != 0;
  NOLI_CHECK(context, ordered,
             common.status == CHOLMOD_OUT_OF_MEMORY ? NOLI_ERROR_MEMORY : NOLI_ERROR_BACKEND,
             "CHOLMOD failed in the ordering: status %d", common.status);
  // three scalar rows for each block row
  weight->operations = 27.0 * common.fl;
done:
  if (started) {
    cholmod_finish(&common);
  }
  return status;
}

double noli_lin_break_even(const NoliLinWeight* weight, const NoliBlockMatrix* matrix) {
  double direct =
      ROW_NS * (double)matrix->n + OPERATIONS_NS * pow(weight->operations, OPERATIONS_EXPONENT);
  double iteration = BLOCK_NS * (double)matrix->nnz;
  return iteration > 0.0 ? direct / iteration : 0.0;
}
