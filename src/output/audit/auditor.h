// The audit of a run in the making: what it has read, and what it has found.
#pragma once

#include "noli/audit.h"
#include "output/run_reader.h"

// The columns of steps.csv that the audit reads.
#define NOLI_AUDIT_COLUMNS(X)                                                                      \
  X(step)                                                                                          \
  X(time)                                                                                          \
  X(kinetic)                                                                                       \
  X(gravity)                                                                                       \
  X(momentum_x)                                                                                    \
  X(momentum_y)                                                                                    \
  X(momentum_z)                                                                                    \
  X(max_speed)

typedef enum NoliAuditColumn {
#define NOLI_AUDIT_COLUMN(name) NOLI_AUDIT_##name,
  NOLI_AUDIT_COLUMNS(NOLI_AUDIT_COLUMN)
#undef NOLI_AUDIT_COLUMN
      NOLI_AUDIT_N_COLUMNS
} NoliAuditColumn;

// A row of forces.csv.
typedef struct NoliForceRow {
  int64_t step;
  int32_t a, b;       // entities
  double force[2][3]; // N, on a: normal, friction
} NoliForceRow;

typedef struct NoliAuditor {
  NoliContext* context;
  NoliRunAudit* audit;
  NoliRunReader run;               // the state of its simulation: the last checkpoint read
  int64_t n_rows;                  // of steps.csv that are good
  double* row;                     // (n_rows x NOLI_AUDIT_N_COLUMNS)
  int32_t* substeps;               // (n_rows) parts of each step
  NOLI_ARRAY(NoliForceRow) forces; // by step, those of good rows
  int64_t n_of_state;              // findings of the state that is verified now
  int64_t allocated;               // findings that fit
} NoliAuditor;

// Appends a finding; the message is formatted like noli_fail.
NOLI_WARN_UNUSED NoliStatus noli_auditor_find(NoliAuditor* auditor, NoliFindingKind kind,
                                              const char* file, int64_t step, const char* format,
                                              ...) NOLI_PRINTF(5, 6);

// Turns a failure to read a file into a finding with its message; passes other failures on.
NOLI_WARN_UNUSED NoliStatus noli_auditor_excuse(NoliAuditor* auditor, NoliStatus status,
                                                const char* file, int64_t step);

// Finds everything that must not be at positions x (n_vert x 3) of a step.
NOLI_WARN_UNUSED NoliStatus noli_auditor_check_positions(NoliAuditor* auditor, const char* file,
                                                         int64_t step, const double* x);
