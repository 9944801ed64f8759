// Children of a process that has used several threads: they run, with the bits of their parent.
#define _POSIX_C_SOURCE 200809L // fork
#include "step/world.h"

#include "base/parallel.h"
#include "base/process_lock.h"
#include "noli/threads.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

// Ends a child that waits forever.
enum { PATIENCE = 300 };

static World make_world(int32_t n_threads) {
  World world = world_new(n_threads);
  world_add(&world, make_box(&world, 0.2, 0.1, 0.2, 9), (double[]){0.0, 0.0502, 0.0});
  world_add_plane(&world, (double[]){0, 0, 0}, (double[]){0, 1, 0});
  world.def.friction = 0.3;
  world.def.audit = "off";
  world_start(&world);
  return world;
}

static uint64_t hash_of(int32_t n_threads) {
  World world = make_world(n_threads);
  world_step(&world);
  world_step(&world);
  uint64_t hash = noli_sim_state_hash(world.sim);
  world_done(&world);
  return hash;
}

// Ends the child: 0 if it has found what was expected.
static void leave(bool good) {
  _exit(good ? 0 : 1);
}

static pid_t fork_patiently(void) {
  pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    alarm(PATIENCE);
  }
  return child;
}

static void assert_child_is_good(pid_t child) {
  int end = -1;
  assert_int_equal(waitpid(child, &end, 0), child);
  if (WIFSIGNALED(end)) {
    print_error("the child was ended by signal %d\n", WTERMSIG(end));
  }
  assert_true(WIFEXITED(end));
  assert_int_equal(WEXITSTATUS(end), 0);
}

static void children_run(void** state) {
  (void)state;
  uint64_t expected = hash_of(2);
  for (int32_t n_threads = 1; n_threads <= 4; n_threads++) {
    pid_t child = fork_patiently();
    if (child == 0) {
      leave(hash_of(n_threads) == expected);
    }
    assert_child_is_good(child);
  }
  assert_true(hash_of(2) == expected);
}

static void simulations_go_on_in_children(void** state) {
  (void)state;
  uint64_t expected = hash_of(2);
  World world = make_world(2);
  world_step(&world);
  pid_t child = fork_patiently();
  world_step(&world);
  bool good = noli_sim_state_hash(world.sim) == expected;
  if (child == 0) {
    leave(good);
  }
  world_done(&world);
  assert_true(good);
  assert_child_is_good(child);
}

// A child of a child has neither the threads of its parent nor those of the first process.
static void children_have_children(void** state) {
  (void)state;
  uint64_t expected = hash_of(2);
  pid_t child = fork_patiently();
  if (child == 0) {
    bool good = hash_of(2) == expected;
    pid_t grandchild = fork_patiently();
    if (grandchild == 0) {
      leave(hash_of(2) == expected);
    }
    assert_child_is_good(grandchild);
    leave(good);
  }
  assert_child_is_good(child);
}

// ---- threads ------------------------------------------------------------------------------------

// A thread that forks, and in the child returns from its first function: the child then ends with
// its last thread. (With a team of OpenMP in the parent, libgomp itself would wait for the team.)
static void* fork_and_return(void* user) {
  pid_t* child = user;
  *child = fork_patiently();
  if (*child == 0) {
    hash_of(2);
  }
  return NULL;
}

static void children_of_threads_end(void** state) {
  (void)state;
#ifdef __clang__
  // the OpenMP of LLVM keeps the threads of a team, and so the child, until the process exits
  skip();
#endif
  pthread_t thread;
  pid_t child = -1;
  assert_int_equal(pthread_create(&thread, NULL, fork_and_return, &child), 0);
  pthread_join(thread, NULL);
  assert_child_is_good(child);
}

static void run_never(void* user, int32_t n, NoliPartFn* part, void* part_user) {
  (void)user;
  (void)n;
  (void)part;
  (void)part_user;
  leave(false);
}

// The pool that a host has lent has no threads in the child.
static void lent_threads_stay_behind(void** state) {
  (void)state;
  uint64_t expected = hash_of(2);
  NoliHostThreads host = {.run = run_never, .n_threads = 2};
  ASSERT_OK(noli_lend_threads(&host));
  pid_t child = fork_patiently();
  if (child == 0) {
    leave(hash_of(2) == expected);
  }
  ASSERT_OK(noli_lend_threads(NULL));
  assert_child_is_good(child);
}

static void count_part(void* user, int64_t begin, int64_t end, int32_t worker) {
  (void)worker;
  atomic_fetch_add((atomic_llong*)user, end - begin);
}

static void meet(void* user, NoliTeam* team, int32_t rank, int32_t size) {
  (void)size;
  noli_team_for(team, rank, 100, count_part, user);
}

static void every_kind_of_loop_runs(void** state) {
  (void)state;
  atomic_llong before = 0;
  noli_parallel_team(3, meet, &before);
  noli_parallel_for(3, 1000, 10, count_part, &before);
  assert_int_equal(before, 1100);
  pid_t child = fork_patiently();
  if (child == 0) {
    atomic_llong sum = 0;
    noli_parallel_for(3, 1000, 10, count_part, &sum);
    noli_parallel_tasks(3, 10, count_part, &sum);
    noli_parallel_team(3, meet, &sum);
    leave(sum == 1110);
  }
  assert_child_is_good(child);
}

// ---- locks --------------------------------------------------------------------------------------

static atomic_bool ended;

// Holds a lock of the process as often as it can.
static void* hold(void* user) {
  while (!atomic_load(&ended)) {
    noli_lock(*(NoliProcessLock*)user);
    noli_unlock(*(NoliProcessLock*)user);
  }
  return NULL;
}

static void children_find_locks_free(void** state) {
  (void)state;
  for (NoliProcessLock which = 0; which < NOLI_PROCESS_LOCKS; which++) {
    pthread_t thread;
    atomic_store(&ended, false);
    assert_int_equal(pthread_create(&thread, NULL, hold, &which), 0);
    for (int k = 0; k < 50; k++) {
      pid_t child = fork_patiently();
      if (child == 0) {
        noli_lock(which);
        noli_unlock(which);
        leave(true);
      }
      assert_child_is_good(child);
    }
    atomic_store(&ended, true);
    pthread_join(thread, NULL);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(children_run),
      cmocka_unit_test(simulations_go_on_in_children),
      cmocka_unit_test(children_have_children),
      cmocka_unit_test(children_of_threads_end),
      cmocka_unit_test(lent_threads_stay_behind),
      cmocka_unit_test(every_kind_of_loop_runs),
      cmocka_unit_test(children_find_locks_free),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
