#define _POSIX_C_SOURCE 200809L
#include "base/timer.h"

#include <time.h>

static double seconds_of(clockid_t clock) {
  struct timespec now;
  clock_gettime(clock, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

double noli_seconds(void) {
  return seconds_of(CLOCK_MONOTONIC);
}

double noli_processor_seconds(void) {
  return seconds_of(CLOCK_PROCESS_CPUTIME_ID);
}
