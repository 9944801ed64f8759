// Runs one scene in a process of its own and measures it.
//
// The process makes the peak memory that of the scene alone, and lets a scene crash or hang without
// taking the others along. It reports after every step, so what was done before is never lost.
#pragma once

#include "scenes.h"

typedef enum MeasureState {
  MEASURE_RUNNING,
  MEASURE_DONE,   // all steps
  MEASURE_BUDGET, // stopped after the step in which the seconds ran out
  MEASURE_ABSENT, // meshes are missing
  MEASURE_FAILED, // `message` says why
  MEASURE_KILLED, // one step took far longer than the seconds allowed, or the process crashed
} MeasureState;

typedef struct MeasureOptions {
  const char* data;
  int32_t steps;     // 0: as many as the reference figures cover
  double seconds;    // for stepping; INFINITY: no limit
  int32_t n_threads; // 0: one per core
  bool full;         // all steps of the original scene
} MeasureOptions;

typedef struct Measure {
  MeasureState state;
  int32_t n_vert, n_tet, n_tri;
  int32_t n_threads;
  int32_t steps, steps_wanted;
  double dhat;      // m
  double tolerance; // m/s
  double setup;     // s, reading and creating
  double wall;      // s, stepping only
  int64_t newton;
  int32_t newton_max; // in one step
  double contacts;    // summed over the Newton iterations
  int64_t contacts_max;
  NoliStepTiming timing; // sums, s
  double min_distance;   // m, smallest over the steps
  double memory_mb;      // peak resident set
  int32_t steps_blocked; // steps whose prescribed motion contact cut short
  int32_t step_released; // step after which the motion was released; -1: never
  double max_speed;      // m/s, after the last step
  double shape_error;    // largest relative change of a distance between two vertices of a
                         // body; NAN unless a full run asks for it
  char message[512];
} Measure;

// Runs a scene. Fails only if no process can be made; everything else is in `measure->state`.
bool measure_scene(const Scene* scene, const MeasureOptions* options, Measure* measure);
const char* measure_state_name(MeasureState state);
