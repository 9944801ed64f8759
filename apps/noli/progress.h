// How far a run is: one line that is rewritten on a terminal, else a line now and then.
#pragma once

#include "console.h"

typedef struct Progress {
  Console* console;
  int64_t first_step; // where this session began
  int64_t n_steps;    // where it ends
  double duration;    // s, simulated, at the end
  bool terminal;
  double started_at; // s, wall
  double shown_at;
  double seconds_per_step; // recent steps count most
} Progress;

Progress progress_begin(Console* console, int64_t first_step, int64_t n_steps, double duration);

// Call after every step.
void progress_step(Progress* progress, const NoliStepReport* report);

// "1:02:03" or "2:03".
void progress_format_seconds(double seconds, char text[32]);
