// METIS 5 draws random numbers from rand() after srand(), and installs its own handlers of SIGABRT
// and SIGTERM while it runs. All of that belongs to the process: one context at a time may use
// METIS, and starts with the same random numbers each time; the settings of the host are restored.
// Other threads of the host that draw from rand() meanwhile, or a SIGTERM that arrives meanwhile,
// cannot be protected.
#pragma once

#include <signal.h>

typedef struct NoliMetisGuard {
  char random[128];
  char* random_before;
  struct sigaction abort_before;
  struct sigaction terminate_before;
} NoliMetisGuard;

// Calls that may reach METIS are made between these two, in one thread.
void noli_metis_begin(NoliMetisGuard* guard);
void noli_metis_end(NoliMetisGuard* guard);
