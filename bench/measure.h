// Runs one scene in a separate process and measures it.
//
// With a separate process the peak memory is that of the scene, and a crash or hang does not affect
// other scenes. It reports after every step, so that completed steps are never lost.
#pragma once

#include "result.h"
#include "suites.h"

// Maximum number of values that the user replaces in every scene.
enum { USER_OVERRIDES = 64 };

typedef struct MeasureOptions {
  const NoliSceneOverride* overrides;
  int32_t n_overrides;
  int32_t steps;     // 0: what the suite says
  double seconds;    // for stepping; INFINITY: no limit
  int32_t n_threads; // 0: one per core
  bool full;         // all steps of the scene
  bool profile;      // also the cost of each kind of work
} MeasureOptions;

// Runs a scene, with a generated mesh if the one that it names is missing and can be generated.
// Fails only if no process can be created; everything else is in `result->state`.
bool measure_scene(const Scene* scene, const MeasureOptions* options, Result* result);
