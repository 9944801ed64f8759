// The attempt to solve a time step: which part of it is solved, by which rule, with which remedies,
// and what has come of it. step/step.c tries and varies it; what takes part in a step reads it.
#pragma once

#include "integrate/integrator.h"

typedef struct NoliAttempt {
  // the part that is solved
  int32_t part;
  int32_t n_parts;  // of the step; of increments those that are known so far
  double increment; // s, length of this part where parts are adaptive; else 0
  double done;      // s, of the step before it
  double shortest;  // s, of all parts of the step

  // how it is solved
  const NoliIntegrator* rule; // the model's integrator, its starter, or the one that takes over
  bool past_known;            // the state's history is valid for this part
  bool damped;                // backward Euler has taken over this part
  bool fallen_back;           // the barrier has taken over the rest of the step
  bool holds_motion;          // prescribed nodes are held where the step, or its rest, begins
  bool repeated;              // an increment that has failed is tried again

  // what has come of it
  bool gains;                  // the part would end with more energy than it may
  int32_t n_retries;           // of the step
  int32_t friction_iterations; // of the step
  char failure[512];           // message of the first failure of the step
  char chosen_failure[512]; // of the chosen solver in this part, if another has taken over; or ""
} NoliAttempt;
