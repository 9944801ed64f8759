// The energy term: the one interface through which physics enters the time-step problem.
//
// A term is a sum over small stencils of nodes. Inertia, elasticity, loads, barrier, lagged
// friction, springs of prescribed nodes: each is one `evaluate` function and a list of stencils.
// The driver never knows which terms there are; the assembler scatters what they return.
#pragma once

#include "base/ranks.h"

enum {
  NOLI_EVAL_ENERGY = 1,
  NOLI_EVAL_GRADIENT = 2,
  NOLI_EVAL_HESSIAN = 4,   // plain
  NOLI_EVAL_PROJECTED = 8, // Hessian projected to the positive semi-definite cone, instead of 4
  NOLI_EVAL_SKEW = 16,     // the skew part of the Jacobian in place of the Hessian, alone; only for
                           // terms that have one (linalg/force_term.h)
};

// Number of 3x3 blocks (a, b), a <= b, of a stencil of `size` nodes.
static inline int32_t noli_stencil_blocks(int32_t size) {
  return size * (size + 1) / 2;
}

// Where block (a, b), a <= b, of a stencil stands: row by row (0,0) (0,1) .. (1,1) ..
static inline int32_t noli_stencil_block(int32_t size, int32_t a, int32_t b) {
  return a * size - a * (a - 1) / 2 + (b - a);
}

// Results of stencils of a term, one stencil after the other; arrays that were not asked for are
// NULL.
typedef struct NoliLocal {
  double* energy;   // (n_stencil)
  double* gradient; // (n_stencil x size x 3)
  double* hessian;  // (n_stencil x blocks x 9), each block 3x3 row-major, rows belong to node a
} NoliLocal;

// The same from entry `s` on, of stencils of `size` nodes.
static inline NoliLocal noli_local_at(const NoliLocal* local, int32_t size, int64_t s) {
  int64_t n_gradient = 3 * (int64_t)size, n_hessian = 9 * (int64_t)noli_stencil_blocks(size);
  return (NoliLocal){.energy = local->energy != NULL ? local->energy + s : NULL,
                     .gradient = local->gradient != NULL ? local->gradient + n_gradient * s : NULL,
                     .hessian = local->hessian != NULL ? local->hessian + n_hessian * s : NULL};
}

// Evaluates stencils [begin, end) at x (n_node x 3) and writes their results into `out`, those of
// `begin` first. Where the stencils of a term vary in size, the gradient of stencil s begins at
// 3 * (first[s] - first[begin]) and its Hessian at 9 * (first_block[s] - first_block[begin]).
// Pure: no allocation, no shared state, any thread. An infeasible stencil (inverted element,
// distance <= 0) gives energy +INFINITY and NaN derivatives.
typedef void NoliTermFn(const void* data, const double* x, int64_t begin, int64_t end,
                        unsigned what, const NoliLocal* out);

// Computes what all stencils share at x (a volume, say) and keeps it where `data` points. Called
// on the calling thread before `evaluate` at that x.
typedef void NoliTermPrepareFn(const void* data, const double* x, int32_t n_threads);

typedef struct NoliEnergyTerm {
  const char* name;
  const void* data; // first argument of `evaluate`
  NoliTermFn* evaluate;
  NoliTermPrepareFn* prepare; // NULL: stencils share nothing
  int32_t size;               // nodes of each stencil; not read where they vary
  int64_t n_stencil;
  const int32_t* node; // (n_stencil x size); NOLI_NULL_INDEX pads stencils that need fewer
  bool fixed;          // the stencils do not change within a time step: positions in the matrix
                       // are computed once
  bool divided;        // the stencils are those of this rank, and other ranks have others; else all
                       // ranks list all of them
  bool skew;           // a force without energy: the Jacobian of the gradient is not symmetric

  // stencils that vary in size, both NULL where all have `size` nodes: stencil s has nodes
  // node[first[s]] .. node[first[s + 1] - 1] and its blocks are number first_block[s] ..
  // first_block[s + 1] - 1 of the term. Both start with 0
  const int64_t* first;       // (n_stencil + 1)
  const int64_t* first_block; // (n_stencil + 1)

  // not NULL: the lists above are those of nodes, `evaluate` and `data` know the vertices that
  // follow them, and only the assembler can evaluate the term (linalg/expansion.h)
  const struct NoliExpansion* expansion;
} NoliEnergyTerm;

// Number of the first node of stencil s among the nodes of all stencils; n_stencil gives the sum.
static inline int64_t noli_term_first(const NoliEnergyTerm* term, int64_t s) {
  return term->first != NULL ? term->first[s] : s * term->size;
}

// Number of the first block of stencil s among the blocks of all stencils.
static inline int64_t noli_term_first_block(const NoliEnergyTerm* term, int64_t s) {
  return term->first != NULL ? term->first_block[s] : s * noli_stencil_blocks(term->size);
}

// The stencils [begin, end) of the term that this rank evaluates, where it is number `index` of its
// list: consecutive ones, rank after rank, that have as many blocks of the Hessian as those of any
// other rank. `begin` is a multiple of `unit`, of which a rank may get none: which rank gets more
// than its share differs from index to index, so that many small terms are shared out, too.
void noli_term_share(const NoliContext* context, const NoliEnergyTerm* term, int32_t index,
                     int64_t unit, int64_t* begin, int64_t* end);

// Number of nodes of stencil s.
static inline int32_t noli_term_size(const NoliEnergyTerm* term, int64_t s) {
  return term->first != NULL ? (int32_t)(term->first[s + 1] - term->first[s]) : term->size;
}

// The most nodes of a stencil, of those whose nodes begin at first (n_stencil + 1); at least 1, so
// that scratch for it is never empty.
static inline int32_t noli_stencil_largest(int64_t n_stencil, const int64_t* first) {
  int64_t most = 1;
  for (int64_t s = 0; s < n_stencil; s++) {
    int64_t n = first[s + 1] - first[s];
    most = n > most ? n : most;
  }
  return (int32_t)most;
}

// The same of a term.
static inline int32_t noli_term_largest(const NoliEnergyTerm* term) {
  return term->first != NULL ? noli_stencil_largest(term->n_stencil, term->first) : term->size;
}

// Fills first_block (n_stencil + 1) for first (n_stencil + 1).
static inline void noli_stencil_offsets(int64_t n_stencil, const int64_t* first,
                                        int64_t* first_block) {
  first_block[0] = 0;
  for (int64_t s = 0; s < n_stencil; s++) {
    first_block[s + 1] = first_block[s] + noli_stencil_blocks((int32_t)(first[s + 1] - first[s]));
  }
}

// To be called before stencils of a term are evaluated at x.
static inline void noli_term_prepare(const NoliEnergyTerm* term, const double* x,
                                     int32_t n_threads) {
  if (term->prepare != NULL) {
    term->prepare(term->data, x, n_threads);
  }
}
