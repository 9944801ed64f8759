// Calls that may not happen now. While the library calls a function of its host (a target, a value,
// a progress function, an objective, a log function), that function may call the library in turn;
// what would change or destroy the simulation under the call is refused.
#pragma once

#include "base/context.h"
#include "noli/sim.h"

// NOLI_ERROR_ARGUMENT with a message that names the function, while a function of the host runs
// that the simulation, or the log of its context, calls; `reads`: objectives may call it.
NOLI_WARN_UNUSED NoliStatus noli_sim_require_idle(const NoliSim* sim, const char* function,
                                                  bool reads);

#define NOLI_REQUIRE_UNCALLED_(sim, reads, ...)                                                    \
  NOLI_REQUIRE((sim) != NULL ? (sim)->context : NULL, __VA_ARGS__);                                \
  do {                                                                                             \
    NoliStatus idle_ = noli_sim_require_idle((sim), __func__, (reads));                            \
    if (idle_ != NOLI_OK) {                                                                        \
      return idle_;                                                                                \
    }                                                                                              \
  } while (0)

// Begin functions that change a simulation, and those that read more of it than names and counts.
#define NOLI_REQUIRE_IDLE(sim, ...) NOLI_REQUIRE_UNCALLED_(sim, false, __VA_ARGS__)
#define NOLI_REQUIRE_READABLE(sim, ...) NOLI_REQUIRE_UNCALLED_(sim, true, __VA_ARGS__)

// NOLI_ERROR_ARGUMENT where the simulation is a copy of a batch, whose copies have the same bodies.
NOLI_WARN_UNUSED NoliStatus noli_sim_require_own_bodies(const NoliSim* sim, const char* function);
