// Runs one scene in a process of its own and measures it.
//
// The process makes the peak memory that of the scene alone, and lets a scene crash or hang without
// taking the others along. It reports after every step, so what was done before is never lost.
#pragma once

#include "result.h"
#include "suites.h"

// Most that the user replaces in every scene.
enum { USER_OVERRIDES = 64 };

typedef struct MeasureOptions {
  const NoliSceneOverride* overrides;
  int32_t n_overrides;
  int32_t steps;     // 0: what the suite says
  double seconds;    // for stepping; INFINITY: no limit
  int32_t n_threads; // 0: one per core
  bool full;         // all steps of the scene
} MeasureOptions;

// Runs a scene, with a generated mesh if the one that it names is missing and can be generated.
// Fails only if no process can be made; everything else is in `result->state`.
bool measure_scene(const Scene* scene, const MeasureOptions* options, Result* result);
