#include "linalg/supernodal/weigh.h"

#include <math.h>

// Nanoseconds, fitted within a factor of 2 to what noli_bench_linear measures
// (docs/evidence/benchmarks.md). A factorization, on one thread, takes some for each block row, and
// for its operations by AMD: the exponent stands for the better use of the processor by large
// fronts, and for METIS, which CHOLMOD takes for them. An iteration, on two threads, takes some for
// each stored block.
#define ROW_NS 2300.0
#define OPERATIONS_NS 1.05
#define OPERATIONS_EXPONENT 0.84
#define BLOCK_NS 4.7

void noli_lin_weight_free(NoliContext* context, NoliLinWeight* weight) {
  noli_orderer_destroy(&weight->orderer);
  noli_array_free(context, &weight->order);
}

NoliStatus noli_lin_weigh(NoliLinWeight* weight, NoliContext* context,
                          const NoliBlockMatrix* matrix) {
  NoliStatus status = NOLI_OK;
  weight->operations = 0.0;
  if (matrix->n == 0) {
    goto done;
  }
  if (weight->orderer == NULL) {
    NOLI_TRY(noli_orderer_create(context, NOLI_ORDERER_NARROW, &weight->orderer));
  }
  NOLI_TRY(noli_array_reserve(context, &weight->order, matrix->n));
  NOLI_TRY(noli_orderer_begin(weight->orderer, matrix));
  NOLI_TRY(
      noli_orderer_order(weight->orderer, NOLI_ORDER_AMD, weight->order.data, &weight->operations));
done:
  return status;
}

double noli_lin_factor_time(const NoliLinWeight* weight, const NoliBlockMatrix* matrix) {
  double work = OPERATIONS_NS * pow(weight->operations, OPERATIONS_EXPONENT);
  return 1e-9 * (ROW_NS * (double)matrix->n + work);
}

double noli_lin_break_even(const NoliLinWeight* weight, const NoliBlockMatrix* matrix) {
  double iteration = 1e-9 * BLOCK_NS * (double)matrix->nnz;
  return iteration > 0.0 ? noli_lin_factor_time(weight, matrix) / iteration : 0.0;
}
