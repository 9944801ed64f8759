// Parallel loops over fixed blocks. Blocks do not depend on the number of workers, and sums are
// combined in block order, so results are the same bits for any thread count.
#pragma once

#include "base/context.h"

// Handles items [begin, end). `worker` is below the thread count of the loop: an index for scratch.
typedef void NoliRangeFn(void* user, int64_t begin, int64_t end, int32_t worker);

// As NoliRangeFn, and returns the sum over the range.
typedef double NoliRangeSumFn(void* user, int64_t begin, int64_t end, int32_t worker);

// Calls `fn` for consecutive blocks of at most `block` items, on `n_threads` threads, in any order.
void noli_parallel_for(int32_t n_threads, int64_t n_items, int64_t block, NoliRangeFn* fn,
                       void* user);

// Sums `fn` over all blocks, added in block order.
double noli_parallel_sum(int32_t n_threads, int64_t n_items, int64_t block, NoliRangeSumFn* fn,
                         void* user);

// Makes parallel regions that libraries start on the calling thread run serially, and gives BLAS
// (where it is OpenBLAS, whose count belongs to the process) `blas_threads` threads, until
// noli_parallel_unmute. For libraries with tiny regions, where waking threads costs more than the
// work, and more still on a machine that is busy.
typedef struct NoliParallelMute {
  int32_t openmp; // levels of nesting before
  int32_t blas;   // threads before; 0: not OpenBLAS
} NoliParallelMute;
NoliParallelMute noli_parallel_mute(int32_t blas_threads);
void noli_parallel_unmute(NoliParallelMute before);

// Cores this process may use.
int32_t noli_hardware_threads(void);
