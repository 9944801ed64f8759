// A simulation of a scene of the repository, for the tests of examples.
#pragma once

#include "scene_support.h"

#include "math/vec3.h"
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

static inline void run_until(Run* run, double time) {
  while (noli_sim_time(run->sim) < time - 1e-9) {
    step(run);
  }
}

static inline void finish(Run* run) {
  noli_sim_destroy(&run->sim);
  noli_scene_destroy(&run->scene);
  test_context_done(&run->context);
}

// Where the nodes of a body are.
typedef struct Extent {
  NoliVec3 low, high;
  NoliVec3 mean;
  NoliVec3 velocity; // mean
} Extent;

static inline Extent extent_of(const Run* run, int32_t body) {
  const double *x = noli_sim_positions(run->sim), *v = noli_sim_velocities(run->sim);
  int32_t first, n;
  noli_sim_body_range(run->sim, body, &first, &n);
  Extent extent = {.low = {INFINITY, INFINITY, INFINITY},
                   .high = {-INFINITY, -INFINITY, -INFINITY}};
  for (int64_t i = first; i < first + n; i++) {
    NoliVec3 at = noli_load3(x + 3 * i);
    extent.low = (NoliVec3){noli_smaller(extent.low.x, at.x), noli_smaller(extent.low.y, at.y),
                            noli_smaller(extent.low.z, at.z)};
    extent.high = (NoliVec3){noli_larger(extent.high.x, at.x), noli_larger(extent.high.y, at.y),
                             noli_larger(extent.high.z, at.z)};
    extent.mean = noli_mul_add3(extent.mean, 1.0 / n, at);
    extent.velocity = noli_mul_add3(extent.velocity, 1.0 / n, noli_load3(v + 3 * i));
  }
  return extent;
}
