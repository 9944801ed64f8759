// The adaptive support of [Huang2025] section 5.3.4: how far each vertex reaches, so that nothing
// acts in the rest configuration however large eps_target is.
#pragma once

#include "collide/broad_phase.h"
#include "contact/gcp_set.h"

// What finding the supports cost and gave.
typedef struct NoliGcpSetup {
  int64_t n_candidates; // pairs that were looked at
  int64_t n_active;     // pairs that would act at rest with eps_target
  int64_t n_reduced;    // vertices whose support is smaller than eps_target
  double min_eps;       // smallest support of a vertex, m
  double seconds;
  int32_t touching; // a vertex where surfaces touch, or NOLI_NULL_INDEX
} NoliGcpSetup;

// Sets the supports of `model` (whose supports are eps_target everywhere): of each vertex, half the
// distance of the nearest pair that acts at X (n_vert x 3) and whose elements contain it; of edges
// and faces the least of their vertices. Where surfaces touch at X it is 0, and nothing would keep
// them apart: the caller refuses a setup with a vertex that is touching. Fails as
// noli_broad_phase_find, and with NOLI_ERROR_MEMORY.
NOLI_WARN_UNUSED NoliStatus noli_gcp_adapt_support(NoliContext* context, NoliGcpModel* model,
                                                   NoliBroadPhase* broad_phase,
                                                   const NoliBodyPairs* pairs, const double* X,
                                                   NoliGcpSetup* setup);
