// summary.json: the totals of a run.
#pragma once

#include "noli/sim.h"

#include "base/context.h"

typedef struct NoliSummary {
  const char* scene; // borrowed
  int32_t nodes;
  int32_t tets;
  int32_t surface_triangles;
  int32_t threads;
  int64_t steps;
  double time; // s, simulated
  bool finished;
  double wall;  // s, sum over sessions
  double solve; // s, sum of the wall times of the steps
  int64_t newton_total;
  int32_t newton_max; // most in one step
  int64_t contacts_max;
  double min_distance; // m, least over all steps; INFINITY: never any contact
  double peak_rss_mb;  // largest over sessions
  NoliStepTiming timing;
  int64_t n_frames;
  int64_t retries;          // times that a step was tried again in more parts
  int64_t divided_steps;    // steps done in more than one part
  double friction_ratio;    // largest of all steps, as in NoliStepReport
  double friction_error;    // likewise
  int64_t linear_fallbacks; // systems that the chosen linear solver did not solve
  const char* failure;      // borrowed; why the run ended early, NULL if it did not
} NoliSummary;

// Counts, names and zeros for a simulation that is about to start.
NoliSummary noli_summary_begin(const NoliContext* context, const NoliSim* sim, const char* scene);

void noli_summary_add_step(NoliSummary* summary, const NoliStepReport* report);

// JSON text, owned by the caller.
NOLI_WARN_UNUSED NoliStatus noli_summary_text(NoliContext* context, const NoliSummary* summary,
                                              char** text);

// Takes the totals (all that noli_summary_add_step counts, and wall time) from JSON text.
// Fails with NOLI_ERROR_FORMAT.
NOLI_WARN_UNUSED NoliStatus noli_summary_restore(NoliContext* context, const char* text,
                                                 NoliSummary* summary);

// Whether JSON text is the summary of a run that has finished.
bool noli_summary_is_finished(NoliContext* context, const char* text);

// Most memory this process has held, in units of 1e6 bytes.
double noli_summary_peak_rss_mb(void);
