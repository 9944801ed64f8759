#define _POSIX_C_SOURCE 200809L // pthread_mutex_t
#include "base/process_lock.h"

#include <pthread.h>

static pthread_mutex_t locks[] = {
    [NOLI_LOCK_METIS] = PTHREAD_MUTEX_INITIALIZER,
    [NOLI_LOCK_HDF5] = PTHREAD_MUTEX_INITIALIZER,
    [NOLI_LOCK_EXPRESSIONS] = PTHREAD_MUTEX_INITIALIZER,
};

_Static_assert(sizeof locks / sizeof locks[0] == NOLI_PROCESS_LOCKS, "one for each");

void noli_lock(NoliProcessLock which) {
  pthread_mutex_lock(&locks[which]);
}

void noli_unlock(NoliProcessLock which) {
  pthread_mutex_unlock(&locks[which]);
}

static void lock_all(void) {
  for (int k = 0; k < NOLI_PROCESS_LOCKS; k++) {
    pthread_mutex_lock(&locks[k]);
  }
}

static void unlock_all(void) {
  for (int k = NOLI_PROCESS_LOCKS - 1; k >= 0; k--) {
    pthread_mutex_unlock(&locks[k]);
  }
}

__attribute__((constructor)) static void hold_at_forks(void) {
  pthread_atfork(lock_all, unlock_all, unlock_all);
}
