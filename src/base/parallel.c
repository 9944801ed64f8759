#include "base/parallel.h"

#include <pthread.h>
#include <stdatomic.h>

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

// ---- teams --------------------------------------------------------------------------------------

// How often a waiting thread looks before it sleeps: some 20 microseconds.
enum { SPINS = 1000 };

struct NoliTeam {
  int32_t size;
  atomic_int arrived;
  atomic_uint round; // of the waits
  pthread_mutex_t mutex;
  pthread_cond_t all_arrived;
};

static void relax(void) {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#endif
}

void noli_team_wait(NoliTeam* team) {
  unsigned round = atomic_load(&team->round);
  if (atomic_fetch_add(&team->arrived, 1) + 1 == team->size) {
    atomic_store(&team->arrived, 0);
    pthread_mutex_lock(&team->mutex);
    atomic_store(&team->round, round + 1);
    pthread_cond_broadcast(&team->all_arrived);
    pthread_mutex_unlock(&team->mutex);
    return;
  }
  for (int32_t k = 0; k < SPINS; k++) {
    if (atomic_load_explicit(&team->round, memory_order_acquire) != round) {
      return;
    }
    relax();
  }
  pthread_mutex_lock(&team->mutex);
  while (atomic_load(&team->round) == round) {
    pthread_cond_wait(&team->all_arrived, &team->mutex);
  }
  pthread_mutex_unlock(&team->mutex);
}

void noli_parallel_team(int32_t n_threads, NoliTeamFn* fn, void* user) {
  NoliTeam team = {
      .size = 1, .mutex = PTHREAD_MUTEX_INITIALIZER, .all_arrived = PTHREAD_COND_INITIALIZER};
#ifdef _OPENMP
#pragma omp parallel num_threads(n_threads) if (n_threads > 1)
  {
    // the region may have fewer threads than it asks for
#pragma omp single
    team.size = omp_get_num_threads();
    fn(user, &team, omp_get_thread_num(), team.size);
  }
#else
  (void)n_threads;
  fn(user, &team, 0, 1);
#endif
  pthread_cond_destroy(&team.all_arrived);
  pthread_mutex_destroy(&team.mutex);
}

// ---- sums ---------------------------------------------------------------------------------------

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
