#define _POSIX_C_SOURCE 200809L // pthread_sigmask
#include "base/after_fork.h"

#include <pthread.h>
#include <signal.h>
#include <stddef.h>

// The second thread of a thread that was forked. It sleeps between calls.
typedef struct Second {
  bool needed; // the owner was forked
  bool exists;
  bool ends;
  pthread_t thread;
  pthread_mutex_t mutex;
  pthread_cond_t changed;
  NoliCallFn* fn; // NULL: no call
  void* user;
} Second;

static _Thread_local Second second;

// Its value is that of `second` where the second thread exists: a thread ends its second one.
static pthread_key_t owner_key;

static void* serve(void* user) {
  Second* own = user;
  pthread_mutex_lock(&own->mutex);
  while (!own->ends) {
    if (own->fn != NULL) {
      pthread_mutex_unlock(&own->mutex);
      own->fn(own->user);
      pthread_mutex_lock(&own->mutex);
      own->fn = NULL;
      pthread_cond_broadcast(&own->changed);
    } else {
      pthread_cond_wait(&own->changed, &own->mutex);
    }
  }
  pthread_mutex_unlock(&own->mutex);
  return NULL;
}

// Signals go to threads of the host.
static bool start(Second* own) {
  sigset_t all, before;
  pthread_mutex_init(&own->mutex, NULL);
  pthread_cond_init(&own->changed, NULL);
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  own->exists = pthread_create(&own->thread, NULL, serve, own) == 0;
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  if (own->exists) {
    pthread_setspecific(owner_key, own);
  }
  return own->exists;
}

static void after_fork_end(void* user) {
  Second* own = user;
  if (!own->exists) {
    return;
  }
  pthread_mutex_lock(&own->mutex);
  own->ends = true;
  pthread_cond_broadcast(&own->changed);
  pthread_mutex_unlock(&own->mutex);
  pthread_join(own->thread, NULL);
  pthread_cond_destroy(&own->changed);
  pthread_mutex_destroy(&own->mutex);
  *own = (Second){.needed = true};
}

bool noli_call_after_fork(NoliCallFn* fn, void* user) {
  Second* own = &second;
  if (!own->needed) {
    fn(user);
    return true;
  }
  if (!own->exists && !start(own)) {
    return false;
  }
  pthread_mutex_lock(&own->mutex);
  own->fn = fn;
  own->user = user;
  pthread_cond_broadcast(&own->changed);
  while (own->fn != NULL) {
    pthread_cond_wait(&own->changed, &own->mutex);
  }
  pthread_mutex_unlock(&own->mutex);
  return true;
}

// ---- forks --------------------------------------------------------------------------------------

static int forks;
static bool watches;

int noli_fork_count(void) {
  return forks;
}

// In the child, on its only thread. A second thread that it had before is gone.
static void note_fork(void) {
  forks++;
  second = (Second){.needed = true};
  pthread_setspecific(owner_key, NULL);
}

// When the library is loaded, so that no fork goes unnoticed, whoever used OpenMP before. Without
// memory for it, a child waits forever as it would have done otherwise.
__attribute__((constructor)) static void watch_forks(void) {
  watches = pthread_key_create(&owner_key, after_fork_end) == 0;
  if (watches) {
    pthread_atfork(NULL, NULL, note_fork);
  }
}

// When it is unloaded, or when the process ends.
__attribute__((destructor)) static void stop_watching(void) {
  if (watches) {
    after_fork_end(&second);
    pthread_key_delete(owner_key);
  }
}
