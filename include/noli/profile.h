/// @file profile.h
/// Where the time of simulations goes, kind of work by kind of work. docs/reference/library.md
#pragma once

#include "noli/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Kinds of work. All that belongs to none of the others is NOLI_WORK_OTHER.
typedef enum NoliWork {
  NOLI_WORK_OTHER,
  NOLI_WORK_GRADIENT,    ///< gradients without Hessians
  NOLI_WORK_HESSIAN,     ///< matrices, and gradients with them
  NOLI_WORK_PATTERN,     ///< patterns of matrices, and where stencils add to them
  NOLI_WORK_ANALYSIS,    ///< orderings and symbolic factorizations
  NOLI_WORK_FACTOR,      ///< numeric factorizations and preconditioners
  NOLI_WORK_SOLVE,       ///< triangular solutions, iterations of linear solvers
  NOLI_WORK_BROAD_PHASE, ///< primitives that may come close
  NOLI_WORK_CCD,         ///< bounds of steps: collisions on the way, inversion
  NOLI_WORK_CONTACTS,    ///< contact sets
  NOLI_WORK_FRICTION,    ///< lagged friction and its errors
  NOLI_WORK_ENERGY,      ///< energies, most of them in line searches
  NOLI_WORK_OUTPUT,      ///< files of run directories
  NOLI_WORKS             ///< their number
} NoliWork;

/// Cost of one kind of work, s. Never changes its size.
typedef struct NoliWorkCost {
  double wall;
  double cpu;      ///< of all threads of the process
  double parallel; ///< the part of it in loops that threads share
  double helpers;  ///< the part of it of threads other than the calling one
} NoliWorkCost;

/// Never changes its size.
typedef struct NoliProfile {
  NoliWorkCost work[16]; ///< by NoliWork, the first NOLI_WORKS are in use
} NoliProfile;

/// From now on, calls that the calling thread makes add their cost to *profile, until it passes
/// NULL. `profile` is borrowed. Time between calls counts as NOLI_WORK_OTHER. Other threads that
/// work in the same process meanwhile, and helpers that spin while they wait, count as helpers:
/// measure one simulation at a time, with OMP_WAIT_POLICY=passive and one thread for BLAS.
/// A change of the kind of work takes about a microsecond while a profile is made, else nothing.
NOLI_API void noli_profile(NoliProfile* profile);

/// Name of a kind of work, for example "broad phase"; NULL if there is no such kind.
NOLI_API const char* noli_work_name(int32_t work);

#ifdef __cplusplus
}
#endif
