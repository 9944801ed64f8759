// Published measurements for comparison, from other machines.
#pragma once

#include <stdint.h>

// [Li2020] fig. 23 and table 1: averages over the complete scene, on four or eight cores. Zero: not
// given.
typedef struct PaperFigures {
  const char* scene;
  int32_t steps;
  double seconds_per_step;
  double newton_per_step;
  double memory_mb;
  int32_t cores;
  double contacts_average; // per step
  double contacts_max;
  double seconds; // of all steps
  double newton;  // of all steps
} PaperFigures;

// The original program (ipc-sim/IPC at 573d2c7, CHOLMOD with OpenBLAS, 2 threads) over its first
// `steps` steps, measured once elsewhere, on a machine with two cores that was not idle all the
// time.
typedef struct ReferenceFigures {
  const char* scene;
  int32_t steps;
  double seconds_per_step;
  double newton_per_step;
  int32_t newton_max;
  double contacts_average; // per iteration
  int32_t contacts_max;
  double memory_mb;
} ReferenceFigures;

// NULL if there are none.
const PaperFigures* paper_figures(const char* scene);
const ReferenceFigures* reference_figures(const char* scene);
