#define _XOPEN_SOURCE 700 // initstate, sigaction
#include "linalg/supernodal/metis_guard.h"

#include "base/process_lock.h"

#include <stdlib.h>

void noli_metis_begin(NoliMetisGuard* guard) {
  noli_lock(NOLI_LOCK_METIS);
  guard->random_before = initstate(1, guard->random, sizeof guard->random);
  sigaction(SIGABRT, NULL, &guard->abort_before);
  sigaction(SIGTERM, NULL, &guard->terminate_before);
}

void noli_metis_end(NoliMetisGuard* guard) {
  sigaction(SIGABRT, &guard->abort_before, NULL);
  sigaction(SIGTERM, &guard->terminate_before, NULL);
  setstate(guard->random_before);
  noli_unlock(NOLI_LOCK_METIS);
}
