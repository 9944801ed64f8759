#define _XOPEN_SOURCE 700 // initstate, sigaction
#include "linalg/metis_guard.h"

#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t metis_in_use = PTHREAD_MUTEX_INITIALIZER;

void noli_metis_begin(NoliMetisGuard* guard) {
  pthread_mutex_lock(&metis_in_use);
  guard->random_before = initstate(1, guard->random, sizeof guard->random);
  sigaction(SIGABRT, NULL, &guard->abort_before);
  sigaction(SIGTERM, NULL, &guard->terminate_before);
}

void noli_metis_end(NoliMetisGuard* guard) {
  sigaction(SIGABRT, &guard->abort_before, NULL);
  sigaction(SIGTERM, &guard->terminate_before, NULL);
  setstate(guard->random_before);
  pthread_mutex_unlock(&metis_in_use);
}
