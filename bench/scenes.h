// The benchmark scenes and what the original program took for them.
#pragma once

#include "world.h"

// The original program (ipc-sim/IPC at 573d2c7, CHOLMOD with OpenBLAS, 2 threads) over its first
// `steps` steps, measured once elsewhere, on a machine with two cores. Facts to compare with, not a
// race on one machine.
typedef struct SceneReference {
  int32_t steps;
  double ms_per_step;
  double ms_per_newton;
  double newton_per_step;
  int32_t newton_max;
  double contacts_average;
  double memory_mb;
} SceneReference;

typedef struct Scene {
  const char* name;
  const char* what;
  void (*build)(World* world);
  double time_step;   // s
  int32_t steps_full; // the length of the original scene
  bool returns;       // whether it ends in its rest shape, so that a full run prints the error
  SceneReference reference;
} Scene;

int32_t scene_count(void);
const Scene* scene_at(int32_t index);
// NULL if there is none of that name.
const Scene* scene_find(const char* name);

// Fills the world: bodies, motions and the settings of the original, all lengths absolute.
void scene_build(const Scene* scene, World* world);
