// A simulation of a scene of the repository, for the tests of examples.
#pragma once

#include "scene_support.h"

#include "noli/noli.h"

typedef struct Run {
  NoliContext* context;
  NoliScene* scene;
  NoliSim* sim;
  NoliStepReport report;
} Run;

// `change` (n_change) are pairs of path and value.
static inline Run start(const char* path, int32_t n_change, const char* const (*change)[2]) {
  Run run = {.context = test_context(1)};
  load_example(run.context, path, n_change, change, &run.scene, &run.sim);
  return run;
}

static inline void step(Run* run) {
  NoliStatus status = noli_sim_step(run->sim, &run->report);
  if (status != NOLI_OK) {
    print_error("%s\n", noli_context_message(run->context));
  }
  assert_int_equal(status, NOLI_OK);
}

static inline void finish(Run* run) {
  noli_sim_destroy(&run->sim);
  noli_scene_destroy(&run->scene);
  test_context_done(&run->context);
}
