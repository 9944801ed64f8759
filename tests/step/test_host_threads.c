// Threads of a host in place of those of OpenMP: the same bits for any number of them, in steps
// with every parallel part of the library, in batches, and no thread that the host has not made.
#include "world.h"

#include "base/parallel.h"
#include "noli/batch.h"
#include "noli/threads.h"

#include <dirent.h>
#include <pthread.h>

enum { POOL_MAX = 4 };

// A pool of the host: workers that wait for parts.
typedef struct Pool {
  pthread_t thread[POOL_MAX];
  pthread_mutex_t mutex;
  pthread_cond_t changed;
  int32_t n_workers;
  int32_t next_worker;
  NoliPartFn* part;
  void* part_user;
  int32_t n_parts; // of the present run
  int32_t taken;   // by workers
  int32_t running;
  bool ends;
  int64_t n_runs, n_shared; // runs, and those of more than one part
} Pool;

static void* work(void* user) {
  Pool* pool = user;
  pthread_mutex_lock(&pool->mutex);
  while (!pool->ends) {
    if (pool->taken < pool->n_parts) {
      int32_t index = pool->taken++;
      pthread_mutex_unlock(&pool->mutex);
      pool->part(pool->part_user, index);
      pthread_mutex_lock(&pool->mutex);
      pool->running--;
      pthread_cond_broadcast(&pool->changed);
    } else {
      pthread_cond_wait(&pool->changed, &pool->mutex);
    }
  }
  pthread_mutex_unlock(&pool->mutex);
  return NULL;
}

// Part 0 runs on the calling thread.
static void run_parts(void* user, int32_t n, NoliPartFn* part, void* part_user) {
  Pool* pool = user;
  assert_in_range(n, 2, pool->n_workers + 1);
  pthread_mutex_lock(&pool->mutex);
  pool->n_runs++;
  pool->n_shared += n > 1 ? 1 : 0;
  pool->part = part;
  pool->part_user = part_user;
  pool->taken = 1;
  pool->running = n - 1;
  pool->n_parts = n;
  pthread_cond_broadcast(&pool->changed);
  pthread_mutex_unlock(&pool->mutex);
  part(part_user, 0);
  pthread_mutex_lock(&pool->mutex);
  while (pool->running > 0) {
    pthread_cond_wait(&pool->changed, &pool->mutex);
  }
  pool->n_parts = 0;
  pthread_mutex_unlock(&pool->mutex);
}

static void pool_start(Pool* pool, int32_t n_threads) {
  *pool = (Pool){.n_workers = n_threads - 1};
  pthread_mutex_init(&pool->mutex, NULL);
  pthread_cond_init(&pool->changed, NULL);
  for (int32_t i = 0; i < pool->n_workers; i++) {
    assert_int_equal(pthread_create(&pool->thread[i], NULL, work, pool), 0);
  }
}

static void pool_stop(Pool* pool) {
  pthread_mutex_lock(&pool->mutex);
  pool->ends = true;
  pthread_cond_broadcast(&pool->changed);
  pthread_mutex_unlock(&pool->mutex);
  for (int32_t i = 0; i < pool->n_workers; i++) {
    pthread_join(pool->thread[i], NULL);
  }
  pthread_cond_destroy(&pool->changed);
  pthread_mutex_destroy(&pool->mutex);
}

// Threads of this process.
static int count_threads(void) {
  DIR* folder = opendir("/proc/self/task");
  int n = 0;
  for (struct dirent* entry = NULL; folder != NULL && (entry = readdir(folder)) != NULL;) {
    n += entry->d_name[0] != '.' ? 1 : 0;
  }
  if (folder != NULL) {
    closedir(folder);
  }
  return n;
}

// A ball falls on a plane and a block on it, with friction; enough elements for several blocks.
static World make_world(int32_t n_threads, const char* linear) {
  World world = world_new(n_threads);
  world_add(&world, make_sphere(&world, 0.1, 12), (double[]){0.0, 0.1005, 0.0});
  world_add(&world, make_box(&world, 0.2, 0.1, 0.2, 9), (double[]){0.0, 0.252, 0.0});
  world_add_plane(&world, (double[]){0, 0, 0}, (double[]){0, 1, 0});
  world.def.friction = 0.3;
  world.def.linear_solver = linear;
  world.def.audit = "off";
  world_start(&world);
  return world;
}

static uint64_t hash_of(int32_t n_threads, const char* linear) {
  World world = make_world(n_threads, linear);
  for (int n = 0; n < 3; n++) {
    world_step(&world);
  }
  NoliStress* stress = malloc(sizeof *stress * (size_t)noli_sim_vertex_count(world.sim));
  assert_non_null(stress);
  ASSERT_OK(noli_sim_nodal_stresses(world.sim, stress));
  free(stress);
  uint64_t hash = noli_sim_state_hash(world.sim);
  world_done(&world);
  return hash;
}

// First without any thread of OpenMP, which would stay.
static void steps_have_the_same_bits(void** state) {
  (void)state;
  static const char* const solvers[] = {"cholmod", "pcg_incomplete", "multigrid"};
  uint64_t alone[3], lent[3][POOL_MAX + 1];
  for (int k = 0; k < 3; k++) {
    alone[k] = hash_of(1, solvers[k]);
    for (int32_t n = 1; n <= POOL_MAX; n++) {
      Pool pool;
      pool_start(&pool, n);
      int before = count_threads();
      const NoliHostThreads host = {.run = run_parts, .user = &pool, .n_threads = n};
      ASSERT_OK(noli_lend_threads(&host));
      lent[k][n] = hash_of(POOL_MAX, solvers[k]);
      ASSERT_OK(noli_lend_threads(NULL));
      print_message("%s, %d threads of the host: %lld runs\n", solvers[k], (int)n,
                    (long long)pool.n_runs);
      assert_true((pool.n_shared > 20) == (n > 1));
      assert_int_equal(count_threads(), before);
      pool_stop(&pool);
    }
  }
  for (int k = 0; k < 3; k++) {
    assert_true(hash_of(3, solvers[k]) == alone[k]);
    for (int32_t n = 1; n <= POOL_MAX; n++) {
      assert_true(lent[k][n] == alone[k]);
    }
  }
}

// The copies of a batch are the parts; loops within them are not divided.
static void batches_run_on_them(void** state) {
  (void)state;
  enum { COPIES = 5 };
  uint64_t hash[2][COPIES];
  for (int with = 0; with < 2; with++) {
    Pool pool;
    pool_start(&pool, 3);
    const NoliHostThreads host = {.run = run_parts, .user = &pool, .n_threads = 3};
    World world = make_world(3, "cholmod");
    NoliBatch* batch = NULL;
    NoliStatus status[COPIES];
    ASSERT_OK(noli_lend_threads(with ? &host : NULL));
    ASSERT_OK(noli_batch_create(world.context, world.sim, COPIES, 3, &batch));
    pool.n_runs = 0;
    ASSERT_OK(noli_batch_step(batch, NULL, status, NULL));
    assert_int_equal(pool.n_runs, with ? 1 : 0);
    for (int c = 0; c < COPIES; c++) {
      assert_int_equal(status[c], NOLI_OK);
      hash[with][c] = noli_sim_state_hash(noli_batch_sim(batch, c));
    }
    noli_batch_destroy(&batch);
    world_done(&world);
    ASSERT_OK(noli_lend_threads(NULL));
    pool_stop(&pool);
  }
  assert_memory_equal(hash[0], hash[1], sizeof hash[0]);
}

static void lend_within(void* user, int32_t n, NoliPartFn* part, void* part_user) {
  (void)user;
  for (int32_t i = 0; i < n; i++) {
    part(part_user, i);
  }
}

// Within a part nothing can be lent, and loops run on its thread.
static void within_part(void* user, int64_t begin, int64_t end, int32_t worker) {
  int* n_refused = user;
  const NoliHostThreads host = {.run = lend_within, .n_threads = 2};
  (void)end, (void)worker;
  n_refused[begin] = noli_lend_threads(&host) == NOLI_ERROR_ARGUMENT ? 1 : 0;
}

static void refusals(void** state) {
  (void)state;
  NoliHostThreads host = {.n_threads = 2};
  ASSERT_STATUS(noli_lend_threads(&host), NOLI_ERROR_ARGUMENT);
  host.run = lend_within;
  host.n_threads = 0;
  ASSERT_STATUS(noli_lend_threads(&host), NOLI_ERROR_ARGUMENT);
  int n_refused[3] = {0};
  host.n_threads = 2;
  ASSERT_OK(noli_lend_threads(&host));
  noli_parallel_tasks(2, 3, within_part, n_refused);
  assert_true(n_refused[0] == 1 && n_refused[1] == 1 && n_refused[2] == 1);
  ASSERT_OK(noli_lend_threads(NULL));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(steps_have_the_same_bits),
      cmocka_unit_test(batches_run_on_them),
      cmocka_unit_test(refusals),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
