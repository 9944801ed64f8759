// The histories of a run, as one table: rows under a header, one file each. Runs write, resume and
// remove them through this table, and the audit finds them in it. A new one is a line here; how
// rows look as text is a matter of csv.c and history.c.
#pragma once

#include "base/definition_lists.h"
#include "measure/probes.h"
#include "noli/sim.h"
#include "output/csv.h"

typedef enum NoliHistoryKind {
  NOLI_HISTORY_STEPS,
  NOLI_HISTORY_FORCES,
  NOLI_HISTORY_REACTIONS,
#define NOLI_HISTORY_OF_LIST(list, type, item, ITEM) NOLI_HISTORY_##ITEM,
  NOLI_CONNECTION_HISTORIES(NOLI_HISTORY_OF_LIST)
#undef NOLI_HISTORY_OF_LIST
      NOLI_HISTORY_VOLUMES,
  NOLI_HISTORY_PROBES,
  NOLI_HISTORY_DIAGNOSIS,
  NOLI_N_HISTORIES
} NoliHistoryKind;

// The sources of the rows of a run.
typedef struct NoliHistorySource {
  NoliSim* sim;
  const NoliProbes* probes;
} NoliHistorySource;

typedef struct NoliHistoryType {
  const char* file;
  // Output that the user asks for, perhaps only when the run is resumed, or that earlier versions
  // did not write: it may begin late.
  bool may_begin_late;
  // `*header`, owned by the caller, ends with a line break; NULL: the run has no such history.
  NoliStatus (*make_header)(NoliContext* context, const NoliHistorySource* source, char** header);
  // Appends the rows of the last step, whose report this is; none if the run has no such history.
  NoliStatus (*append)(NoliCsv* csv, const NoliHistorySource* source, const NoliStepReport* report);
} NoliHistoryType;

extern const NoliHistoryType noli_histories[NOLI_N_HISTORIES];
