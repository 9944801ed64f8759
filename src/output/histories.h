// The histories of a run, as one table: rows under a header, one file each. Runs write, resume and
// remove them through this table, and the audit finds them in it. A new one is a line here; how
// rows look as text is a matter of csv.c and history.c.
#pragma once

#include "noli/sim.h"
#include "output/csv.h"

typedef enum NoliHistoryKind {
  NOLI_HISTORY_STEPS,
  NOLI_HISTORY_FORCES,
  NOLI_HISTORY_REACTIONS,
  NOLI_HISTORY_VOLUMES,
  NOLI_N_HISTORIES
} NoliHistoryKind;

typedef struct NoliHistoryType {
  const char* file;
  const char* header;
  // Whether the runs of a simulation have it.
  NoliStatus (*is_wanted)(NoliSim* sim, bool* wanted);
  // Appends the rows of the last step, whose report this is; none if the history is not wanted.
  NoliStatus (*append)(NoliCsv* csv, NoliSim* sim, const NoliStepReport* report);
} NoliHistoryType;

extern const NoliHistoryType noli_histories[NOLI_N_HISTORIES];
