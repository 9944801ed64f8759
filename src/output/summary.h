// summary.json: the totals of a run (NoliSummary).
#pragma once

#include "base/context.h"
#include "noli/run.h"

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
