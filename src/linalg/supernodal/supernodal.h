// Numeric Cholesky factorization L L' = A over supernodes of 3x3 blocks, and solutions with it.
//
// Left-looking, as in [Chen2008], with two differences: the structure stays in
// block rows, a ninth of the indices, and every product is cut into tiles of a fixed size. OpenBLAS
// computes products of that size on the calling thread, so the bits depend neither on its thread
// count nor on the work of other threads, and no setting of the process is touched. Threads of the
// context factor subtrees of the elimination forest, then, as a team, the supernodes above these
// one after the other. Every supernode receives its updates in the same order as with one
// thread, and so does every row of a solution.
//
// The structure serves factors in double and in single precision; their numbers are computed by the
// same code (linalg/supernodal/supernodal_numbers.h), compiled for each.
#pragma once

#include "base/array.h"
#include "linalg/supernodal/cholmod_symbolic.h"
#include "linalg/supernodal/subtrees.h"

// The lower triangle of a permuted block matrix by block columns. Block k of a column is
// value[9 * (source / 2)], transposed if source is even.
typedef struct NoliPermutedBlocks {
  const int64_t* column; // (n + 1) first block of each block column
  const int32_t* row;    // (nnz) block row
  const int64_t* source; // (nnz)
  const double* value;
  const double* scale; // (n x 3) S if S A S is to be factored, in the permuted order; NULL: A is
} NoliPermutedBlocks;

typedef NOLI_ARRAY(int32_t) NoliIndexArray;
typedef NOLI_ARRAY(int64_t) NoliOffsetArray;
typedef NOLI_ARRAY(double) NoliRealArray;

// Scratch of a thread.
typedef struct NoliFactorScratch {
  NoliIndexArray map;   // (n) place of a block row among the rows of the present supernode
  NoliRealArray update; // the largest update, or the rows of a solution below a supernode
} NoliFactorScratch;

// Supernodes of a subtree that update the top, in the order in which they have become ready.
typedef struct NoliUpdateQueue {
  int32_t first, last; // NOLI_NULL_INDEX: none
} NoliUpdateQueue;

// A factor and what computing it needs. Zero is empty.
typedef struct NoliSupernodal {
  int32_t n;             // block rows
  int32_t n_super;       // supernodes
  NoliIndexArray first;  // (n_super + 1) first block column
  NoliOffsetArray start; // (n_super + 1) where its block rows start in `row`
  NoliIndexArray row;    // block rows, ascending; those of its own block columns come first
  NoliOffsetArray at;    // (n_super + 1) where its panel starts in `value`
  bool single;           // in single precision: arrays of doubles below hold twice as many floats
  NoliRealArray value;   // panels, column-major over scalar rows

  // for the factorization
  NoliIndexArray owner; // (n) supernode of a block column
  NoliIndexArray head;  // (n_super) first of the supernodes that update this one next
  NoliIndexArray next;  // (n_super) the one after it in its list
  NoliIndexArray from;  // (n_super) its first row whose supernode it has not updated yet
  NoliSubtrees subtrees;
  bool shares_top;                   // whether threads share the supernodes above subtrees
  NOLI_ARRAY(NoliUpdateQueue) queue; // of each subtree
  NoliIndexArray share; // (n_threads + 1) block rows of the top that a thread updates in a solution
  NOLI_ARRAY(NoliFactorScratch) scratch; // of each thread
} NoliSupernodal;

// Block columns of supernode s, and its block rows.
static inline int64_t noli_supernodal_width(const NoliSupernodal* factor, int32_t s) {
  return factor->first.data[s + 1] - factor->first.data[s];
}

static inline int64_t noli_supernodal_rows(const NoliSupernodal* factor, int32_t s) {
  return factor->start.data[s + 1] - factor->start.data[s];
}

// Takes the structure from a symbolic factorization of the graph of block rows, for the threads of
// the context and numbers in double or in single precision.
NOLI_WARN_UNUSED NoliStatus noli_supernodal_begin(NoliContext* context, NoliSupernodal* factor,
                                                  const NoliSymbolic* symbolic, bool single);
void noli_supernodal_free(NoliContext* context, NoliSupernodal* factor);

// The defect of the structure (base/validate.h).
const char* noli_supernodal_defect(const NoliSupernodal* factor);

// Computes the factor; false if the matrix is not positive definite. The same bits for any number
// of threads.
bool noli_supernodal_factor(NoliSupernodal* factor, const NoliPermutedBlocks* matrix);

// Solves L L' x = b in place, in the permuted order of rows.
void noli_supernodal_solve(NoliSupernodal* factor, double* x);

// The same in single precision.
bool noli_supernodal_factor_single(NoliSupernodal* factor, const NoliPermutedBlocks* matrix);
void noli_supernodal_solve_single(NoliSupernodal* factor, float* x);

// Bytes of the factor.
int64_t noli_supernodal_bytes(const NoliSupernodal* factor);
