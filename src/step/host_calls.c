#include "step/host_calls.h"

#include "step/simulation.h"

#include <string.h>

// The name without the suffix of functions that inline ones call.
static int name_length(const char* function) {
  const char* suffix = strstr(function, "_sized");
  return (int)(suffix != NULL ? suffix - function : (ptrdiff_t)strlen(function));
}

NoliStatus noli_sim_require_idle(const NoliSim* sim, const char* function, bool reads) {
  const NoliHostCalls* calls = sim->host.calls;
  const char* by = sim->context->n_logging > 0         ? "a log function"
                   : calls->n > 0                      ? "a function that the simulation calls"
                   : !reads && calls->n_objectives > 0 ? "an objective that is evaluated"
                                                       : NULL;
  return by == NULL ? NOLI_OK
                    : noli_fail(sim->context, NOLI_ERROR_ARGUMENT,
                                "%.*s: was called by %s, which may not %s it; call it when the "
                                "step or other function of Noli has returned",
                                name_length(function), function, by, reads ? "read" : "change");
}

NoliStatus noli_sim_require_own_bodies(const NoliSim* sim, const char* function) {
  return !sim->host.in_batch
             ? NOLI_OK
             : noli_fail(sim->context, NOLI_ERROR_ARGUMENT,
                         "%s: the simulation is a copy of a batch, whose copies have "
                         "the same bodies; change the original and make another batch",
                         function);
}

void noli_sim_destroy(NoliSim** owner) {
  NoliSim* sim = owner != NULL ? *owner : NULL;
  if (sim == NULL) {
    return;
  }
  NoliStatus status = noli_sim_require_idle(sim, "noli_sim_destroy", false);
  if (status == NOLI_OK) {
    status = noli_sim_require_own_bodies(sim, "noli_sim_destroy");
  }
  if (status == NOLI_OK) {
    noli_sim_release(owner);
    return;
  }
  sim->host.misused = sim->host.calls->n + sim->host.calls->n_objectives > 0;
  if (sim->context->n_logging == 0) {
    noli_log(sim->context, NOLI_LOG_ERROR, "%s", sim->context->message);
  }
}

NoliStatus noli_sim_require_used_well(NoliSim* sim) {
  bool misused = sim->host.misused;
  sim->host.misused = false;
  return !misused ? NOLI_OK
                  : noli_fail(sim->context, NOLI_ERROR_ARGUMENT,
                              "noli_sim_destroy: was called by a function that the simulation "
                              "itself calls, and did nothing; destroy it after the step");
}
