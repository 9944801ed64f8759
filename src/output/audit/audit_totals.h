// The bookkeeping of a run: what its histories, its frames and its scene say about mass, momentum,
// energy and forces must agree as far as rounding, and in free flight the tolerance of the solver,
// allow.
#pragma once

#include "output/audit/auditor.h"

// Masses against densities and rest volumes.
NOLI_WARN_UNUSED NoliStatus noli_auditor_check_masses(NoliAuditor* auditor);

// Momentum of free steps against the impulse of gravity.
NOLI_WARN_UNUSED NoliStatus noli_auditor_check_free_steps(NoliAuditor* auditor);

// Motion at the end of a step against its row. `x`, `v` (n_vert x 3); `precision` is the relative
// rounding of v. Without rates of angles, which PLY frames lack, v tells momentum alone.
NOLI_WARN_UNUSED NoliStatus noli_auditor_check_motion(NoliAuditor* auditor, const char* file,
                                                      int64_t step, const double* x,
                                                      const double* v, bool has_rates,
                                                      double precision);

// Forces of a frame: those on the vertices of each body add up to its rows in forces.csv, in which
// what acts on one body of a pair acts on the other in the opposite direction.
NOLI_WARN_UNUSED NoliStatus noli_auditor_check_forces(NoliAuditor* auditor, const char* file,
                                                      int64_t step, const NoliReadFrame* frame);
