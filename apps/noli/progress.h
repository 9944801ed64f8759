// Progress of a run, and of a page of it: one line, updated on a terminal, otherwise printed at
// intervals.
#pragma once

#include "console.h"

typedef struct Progress {
  Console* console;
  int64_t first_step; // first step of this session
  int64_t n_steps;    // last step
  double duration;    // s, simulated, at the end
  bool terminal;
  double started_at; // s, wall
  double shown_at;
  double seconds_per_step; // recent steps count most
} Progress;

Progress progress_begin(Console* console, int64_t first_step, int64_t n_steps, double duration);

// Call after every step.
void progress_step(Progress* progress, const NoliStepReport* report);

// Call after every frame of a page, with a progress that began without steps.
void progress_frame(Progress* progress, int64_t done, int64_t n_frames);

// "1:02:03" or "2:03".
void progress_format_seconds(double seconds, char text[32]);
