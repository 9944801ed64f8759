// CPU time of this process, s. The file that includes this defines _POSIX_C_SOURCE first.
#pragma once

#include <time.h>

static inline double cpu_seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}
