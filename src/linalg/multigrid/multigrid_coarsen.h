// From one level of a multigrid hierarchy to the next: strong couplings, aggregates, prolongation,
// coarse matrix. Each step uses the ones before.
#pragma once

#include "linalg/multigrid/multigrid_level.h"

// The scratch memory of one thread.
typedef struct NoliCoarseningScratch {
  NOLI_ARRAY(int32_t) mark_fine;   // (n) place of a node in `product`
  NOLI_ARRAY(int32_t) mark_coarse; // (n_coarse) row that last met a node
  NOLI_ARRAY(int64_t) place;       // (n_coarse) where that row stores it
  NOLI_ARRAY(int32_t) met;         // nodes in the order of `product`
  NOLI_ARRAY(double) product;      // (x 9)
} NoliCoarseningScratch;

enum { NOLI_COARSENING_THREADS = 64 };

typedef struct NoliCoarsening {
  NoliContext* context;
  NoliGridLevel* level;
  NoliGridLevel* next;
  int32_t depth; // of `level`, 0 for the finest
  int32_t n_coarse;
  int32_t n_threads;
  NOLI_ARRAY(uint8_t) strong;  // of each block of the matrix
  NOLI_ARRAY(double) size;     // (n) norm of each diagonal block
  NOLI_ARRAY(double) transfer; // (blocks of the prolongation x 9), row-major
  NOLI_ARRAY(int64_t) source;  // of each block of the restriction, where it is in `transfer`
  NoliCoarseningScratch scratch[NOLI_COARSENING_THREADS];
} NoliCoarsening;

// As noli_grid_level_coarsen; `coarsening` has context, level, next and depth, everything else
// zero.
NOLI_WARN_UNUSED NoliStatus noli_coarsen(NoliCoarsening* coarsening);
void noli_coarsening_free(NoliCoarsening* coarsening);
