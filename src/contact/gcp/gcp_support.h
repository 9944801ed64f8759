// The adaptive support of [Huang2025] section 5.3.4: the support of each vertex is so small that no
// pair acts in the rest configuration, for any eps_target.
#pragma once

#include "collide/broad_phase.h"
#include "contact/gcp/gcp_set.h"

// Cost and result of finding the supports.
typedef struct NoliGcpSetup {
  int64_t n_candidates; // pairs that were tested
  int64_t n_active;     // pairs that would act at rest with eps_target
  int64_t n_reduced;    // vertices whose support is smaller than eps_target
  double min_eps;       // smallest support of a vertex, m
  double seconds;
  int32_t touching; // a vertex where surfaces touch, or NOLI_NULL_INDEX
} NoliGcpSetup;

// Reduces the supports of `model`, which are eps_target at first: that of a vertex to half the
// distance of the nearest pair that acts at X (n_vert x 3) and whose elements contain it, those of
// edges and faces to the smallest one of their vertices. If surfaces touch at X, the support is 0
// and no force would keep them apart: the caller must reject a setup with a touching vertex. Fails
// like noli_broad_phase_find, and with NOLI_ERROR_MEMORY.
NOLI_WARN_UNUSED NoliStatus noli_gcp_adapt_support(NoliContext* context, NoliGcpModel* model,
                                                   NoliBroadPhase* broad_phase,
                                                   const NoliBodyPairs* pairs, const double* X,
                                                   NoliGcpSetup* setup);
