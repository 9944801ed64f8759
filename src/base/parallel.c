#include "base/parallel.h"

#ifdef _OPENMP
#include <omp.h>
#endif

int32_t noli_hardware_threads(void) {
#ifdef _OPENMP
  return omp_get_num_procs();
#else
  return 1;
#endif
}

static int64_t block_count(int64_t n_items, int64_t block) {
  return (n_items + block - 1) / block;
}

// Threads pay off only if each has several blocks: waking them costs as much as a block or two, and
// far more on a busy machine.
static bool pays(int32_t n_threads, int64_t n_blocks) {
  return n_threads > 1 && n_blocks >= 2 * (int64_t)n_threads;
}

static int64_t range_end(int64_t begin, int64_t block, int64_t n_items) {
  return begin + block < n_items ? begin + block : n_items;
}

void noli_parallel_for(int32_t n_threads, int64_t n_items, int64_t block, NoliRangeFn* fn,
                       void* user) {
  int64_t n_blocks = block_count(n_items, block);
#ifdef _OPENMP
  if (pays(n_threads, n_blocks)) {
#pragma omp parallel for num_threads(n_threads) schedule(dynamic, 1)
    for (int64_t k = 0; k < n_blocks; k++) {
      fn(user, k * block, range_end(k * block, block, n_items), omp_get_thread_num());
    }
    return;
  }
#endif
  (void)n_threads;
  for (int64_t k = 0; k < n_blocks; k++) {
    fn(user, k * block, range_end(k * block, block, n_items), 0);
  }
}

void noli_parallel_tasks(int32_t n_threads, int64_t n_items, NoliRangeFn* fn, void* user) {
#ifdef _OPENMP
#pragma omp parallel for num_threads(n_threads) schedule(dynamic, 1) if (n_threads > 1)
  for (int64_t k = 0; k < n_items; k++) {
    fn(user, k, k + 1, omp_get_thread_num());
  }
#else
  (void)n_threads;
  for (int64_t k = 0; k < n_items; k++) {
    fn(user, k, k + 1, 0);
  }
#endif
}

// The block sums of one batch are on the stack, so that summing needs no allocation.
enum { SUM_BATCH = 256 };

double noli_parallel_sum(int32_t n_threads, int64_t n_items, int64_t block, NoliRangeSumFn* fn,
                         void* user) {
  int64_t n_blocks = block_count(n_items, block);
  double total = 0.0;
  for (int64_t first = 0; first < n_blocks; first += SUM_BATCH) {
    double sums[SUM_BATCH];
    int64_t n = n_blocks - first < SUM_BATCH ? n_blocks - first : SUM_BATCH;
#ifdef _OPENMP
#pragma omp parallel for num_threads(n_threads) schedule(dynamic, 1) if (pays(n_threads, n))
    for (int64_t k = 0; k < n; k++) {
      int64_t begin = (first + k) * block;
      sums[k] = fn(user, begin, range_end(begin, block, n_items), omp_get_thread_num());
    }
#else
    (void)n_threads;
    for (int64_t k = 0; k < n; k++) {
      int64_t begin = (first + k) * block;
      sums[k] = fn(user, begin, range_end(begin, block, n_items), 0);
    }
#endif
    for (int64_t k = 0; k < n; k++) {
      total += sums[k];
    }
  }
  return total;
}
