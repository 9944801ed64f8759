// A picture of initial defects: the primitives that offend, and nothing else.
#pragma once

#include "noli/noli.h"

// Writes a VTU file with both primitives of every offender and a vertex where they meet. Cell data:
// `offender` (number in the list), `kind`, `body` (-1 for the meeting point), `distance`.
NOLI_WARN_UNUSED NoliStatus offenders_write(NoliContext* context, const NoliSimDef* def,
                                            const NoliOffender* offenders, int64_t n_offenders,
                                            const char* path);
