// Audit of the histories of a run: steps.csv, forces.csv and diagnosis.csv.
#pragma once

#include "output/audit/auditor.h"

// Reads them, and checks that steps and times follow each other.
NOLI_WARN_UNUSED NoliStatus noli_auditor_read_histories(NoliAuditor* auditor);

// How steps.csv calls a column.
const char* noli_audit_column_name(NoliAuditColumn column);

// Value of a column in the row of a step, which must be in [1, n_rows].
double noli_auditor_value(const NoliAuditor* auditor, int64_t step, NoliAuditColumn column);

// The first row of forces that belongs to a step at or after this one.
int64_t noli_auditor_first_force(const NoliAuditor* auditor, int64_t step);
