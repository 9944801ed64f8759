#include "base/parallel.h"

#include "base/after_fork.h"
#include "base/profile.h"
#include "noli/threads.h"

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

// A region of OpenMP costs system calls even on one thread, so that loops which one thread runs
// have none. Threads pay off only if each has several blocks: waking them costs as much as a block
// or two, and far more on a busy machine.
static bool pays(int32_t n_threads, int64_t n_blocks) {
  return n_threads > 1 && n_blocks >= 2 * (int64_t)n_threads;
}

static int64_t range_end(int64_t begin, int64_t block, int64_t n_items) {
  return begin + block < n_items ? begin + block : n_items;
}

// ---- parts --------------------------------------------------------------------------------------

// Each thread keeps track of what it has lent, like the settings of OpenMP: loops have no context,
// and every call of the library ends with the state in which it began.
static _Thread_local const NoliHostThreads* last_lent; // by the calling thread; NULL: none
static _Thread_local int lent_at;                      // the number of forks then
static _Thread_local bool in_part;                     // the calling thread runs a part

// The threads of a host are not in the children of its process.
static const NoliHostThreads* lent(void) {
  return lent_at == noli_fork_count() ? last_lent : NULL;
}

NoliStatus noli_lend_threads(const NoliHostThreads* host) {
  if (in_part || (host != NULL && (host->run == NULL || host->n_threads < 1))) {
    return NOLI_ERROR_ARGUMENT;
  }
  last_lent = host;
  lent_at = noli_fork_count();
  return NOLI_OK;
}

typedef struct Parts {
  NoliPartFn* part;
  void* user;
  int32_t n;
} Parts;

// Loops within a part are not divided again.
static void run_part(void* user, int32_t index) {
  const Parts* parts = user;
  bool before = in_part;
  in_part = true;
  parts->part(parts->user, index);
  in_part = before;
}

// The parts that a loop of up to `n_threads` threads is divided into.
static int32_t part_count(int32_t n_threads) {
  if (in_part) {
    return 1;
  }
  const NoliHostThreads* host = lent();
  return host != NULL && host->n_threads < n_threads ? host->n_threads : n_threads;
}

#ifdef _OPENMP
static void run_region(void* user) {
  Parts* parts = user;
#pragma omp parallel num_threads(parts->n)
  run_part(parts, omp_get_thread_num());
}
#endif

// Runs parts 0 to n - 1 at the same time, on threads of OpenMP perhaps fewer of them; false: on
// none, because there are no threads.
static bool run_parts(int32_t n, NoliPartFn* part, void* user) {
  Parts parts = {part, user, n};
  const NoliHostThreads* host = lent();
  bool ran = true;
  noli_work_share();
  if (host != NULL) {
    host->run(host->user, n, run_part, &parts);
  } else {
#ifdef _OPENMP
    ran = noli_call_after_fork(run_region, &parts);
#else
    ran = false;
#endif
  }
  noli_work_join();
  return ran;
}

// ---- loops --------------------------------------------------------------------------------------

// A loop over blocks, which parts take one after the other.
typedef struct Blocks {
  NoliRangeFn* fn;
  NoliRangeSumFn* sum; // instead of fn
  double* sums;        // (n_blocks) then
  void* user;
  int64_t first; // item of block 0
  int64_t block;
  int64_t n_items;
  int64_t n_blocks;
  atomic_llong next;
} Blocks;

static void take_blocks(void* user, int32_t index) {
  Blocks* blocks = user;
  int64_t k;
  while ((k = atomic_fetch_add(&blocks->next, 1)) < blocks->n_blocks) {
    int64_t begin = blocks->first + k * blocks->block;
    int64_t end = range_end(begin, blocks->block, blocks->n_items);
    if (blocks->sum != NULL) {
      blocks->sums[k] = blocks->sum(blocks->user, begin, end, index);
    } else {
      blocks->fn(blocks->user, begin, end, index);
    }
  }
}

// `always`: two blocks are enough to divide the loop.
static void run_blocks(Blocks* blocks, int32_t n_threads, bool always) {
  int32_t n = part_count(n_threads);
  bool divides = n > 1 && (always ? blocks->n_blocks > 1 : pays(n, blocks->n_blocks));
  if (!divides || !run_parts(n, take_blocks, blocks)) {
    take_blocks(blocks, 0);
  }
}

void noli_parallel_for(int32_t n_threads, int64_t n_items, int64_t block, NoliRangeFn* fn,
                       void* user) {
  Blocks blocks = {.fn = fn,
                   .user = user,
                   .block = block,
                   .n_items = n_items,
                   .n_blocks = block_count(n_items, block)};
  run_blocks(&blocks, n_threads, false);
}

void noli_parallel_tasks(int32_t n_threads, int64_t n_items, NoliRangeFn* fn, void* user) {
  Blocks blocks = {.fn = fn, .user = user, .block = 1, .n_items = n_items, .n_blocks = n_items};
  run_blocks(&blocks, n_threads, true);
}

// ---- teams --------------------------------------------------------------------------------------

// How often a waiting thread looks before it sleeps: some 20 microseconds.
enum { SPINS = 1000 };

struct NoliTeam {
  int32_t size;
  atomic_int arrived;
  atomic_uint round; // of the waits
  atomic_llong next; // item of the present loop
  pthread_mutex_t mutex;
  pthread_cond_t all_arrived;
};

static void parallel_relax(void) {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#endif
}

void noli_team_wait(NoliTeam* team) {
  unsigned round = atomic_load(&team->round);
  if (atomic_fetch_add(&team->arrived, 1) + 1 == team->size) {
    atomic_store(&team->arrived, 0);
    atomic_store(&team->next, 0);
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
    parallel_relax();
  }
  pthread_mutex_lock(&team->mutex);
  while (atomic_load(&team->round) == round) {
    pthread_cond_wait(&team->all_arrived, &team->mutex);
  }
  pthread_mutex_unlock(&team->mutex);
}

void noli_team_for(NoliTeam* team, int32_t rank, int64_t n_items, NoliRangeFn* fn, void* user) {
  int64_t k;
  while ((k = atomic_fetch_add(&team->next, 1)) < n_items) {
    fn(user, k, k + 1, rank);
  }
  noli_team_wait(team);
}

typedef struct Members {
  NoliTeamFn* fn;
  void* user;
  NoliTeam* team;
} Members;

static void be_member(void* user, int32_t rank) {
  const Members* members = user;
  members->fn(members->user, members->team, rank, members->team->size);
}

#ifdef _OPENMP
static void run_team_region(void* user) {
  Members* members = user;
  Parts parts = {be_member, members, members->team->size};
#pragma omp parallel num_threads(parts.n)
  {
    // the region may have fewer threads than it asks for
#pragma omp single
    members->team->size = omp_get_num_threads();
    run_part(&parts, omp_get_thread_num());
  }
}
#endif

// run_parts for the members of a team.
static bool run_members(Members* members) {
  if (lent() != NULL) {
    return run_parts(members->team->size, be_member, members);
  }
  bool ran = false;
#ifdef _OPENMP
  noli_work_share();
  ran = noli_call_after_fork(run_team_region, members);
  noli_work_join();
#endif
  return ran;
}

void noli_parallel_team(int32_t n_threads, NoliTeamFn* fn, void* user) {
  NoliTeam team = {.size = part_count(n_threads),
                   .mutex = PTHREAD_MUTEX_INITIALIZER,
                   .all_arrived = PTHREAD_COND_INITIALIZER};
  Members members = {fn, user, &team};
  if (team.size <= 1 || !run_members(&members)) {
    team.size = 1;
    be_member(&members, 0);
  }
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
    Blocks blocks = {.sum = fn,
                     .sums = sums,
                     .user = user,
                     .first = first * block,
                     .block = block,
                     .n_items = n_items,
                     .n_blocks = n};
    run_blocks(&blocks, n_threads, false);
    for (int64_t k = 0; k < n; k++) {
      total += sums[k];
    }
  }
  return total;
}
