// Ordering and symbolic factorization of block patterns by CHOLMOD. Its source is the only file
// that knows how CHOLMOD stores a graph and a factor. Patterns and factors with more entries than
// 32 bits can count take CHOLMOD's functions with 64-bit indices; the result is the same.
#pragma once

#include "linalg/block_matrix.h"

typedef struct NoliOrderer NoliOrderer;

typedef enum NoliOrdering { NOLI_ORDER_AMD, NOLI_ORDER_METIS } NoliOrdering;

// Patterns and factors of at most `narrow` entries have 32-bit indices. NOLI_ORDERER_NARROW, or
// less in tests of the others.
#define NOLI_ORDERER_NARROW INT32_MAX
NOLI_WARN_UNUSED NoliStatus noli_orderer_create(NoliContext* context, int64_t narrow,
                                                NoliOrderer** orderer);
// NULL is harmless.
void noli_orderer_destroy(NoliOrderer** orderer);

// Takes the pattern of block rows, which must stay unchanged while it is ordered and analyzed.
NOLI_WARN_UNUSED NoliStatus noli_orderer_begin(NoliOrderer* orderer, const NoliBlockMatrix* matrix);

// Whether METIS, which has 32-bit indices, can order the pattern.
bool noli_orderer_has_metis(const NoliOrderer* orderer);

// The block row `order` (n) at each place. `operations` of a factorization, in scalar ones, are
// known for AMD only; otherwise 0.
NOLI_WARN_UNUSED NoliStatus noli_orderer_order(NoliOrderer* orderer, NoliOrdering method,
                                               int32_t* order, double* operations);

// A symbolic factor with supernodes of block columns. Zero is empty.
typedef struct NoliSymbolic {
  void* factor; // CHOLMOD's
  bool wide;    // with 64-bit indices, as are the arrays
  const void *order, *first, *start, *row;
  int64_t n; // block rows
  int64_t n_super;
  int64_t n_row;     // block rows of all supernodes together
  int64_t n_value;   // blocks of their panels
  int64_t n_update;  // most blocks of an update
  int64_t n_below;   // most block rows below a supernode
  double operations; // of a factorization, in scalar ones
} NoliSymbolic;

// Analyzes the pattern in the order given, up to a postorder.
NOLI_WARN_UNUSED NoliStatus noli_symbolic_make(NoliOrderer* orderer, const int32_t* order,
                                               NoliSymbolic* symbolic);
void noli_symbolic_free(NoliOrderer* orderer, NoliSymbolic* symbolic);

// The order with the postorder, (n).
void noli_symbolic_order(const NoliSymbolic* symbolic, int32_t* order);

// The structure: `first` (n_super + 1) block column of each supernode, `start` (n_super + 1) of its
// rows in `row` (n_row), which ascend; those of its own block columns come first.
void noli_symbolic_structure(const NoliSymbolic* symbolic, int32_t* first, int64_t* start,
                             int32_t* row);
