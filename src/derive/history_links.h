// Histories of materials and frames of rods in derivatives of runs: two links of the chain. A stage
// sees histories that follow from those at the start of its part, and from the positions there; the
// end of a part has histories that follow from those that its last stage saw, and from the
// positions at its end.
#pragma once

#include "derive/tape.h"
#include "fem/derivatives/history_derivatives.h"

// Changes, or derivatives by them.
typedef struct NoliHistoryDerivatives {
  double* x;    // (n_vert x 3) positions at the start or the end of the part
  double* rest; // (n_vert x 3) rest positions; NULL, like those that follow: not wanted
  double* number[NOLI_NUMBER_INPUTS]; // (elements x n) of materials
  double* seen;                       // (noli_model_history_size) histories as the stage sees them
  double* state; // (noli_model_history_size) histories at the start or the end of the part
} NoliHistoryDerivatives;

// s, from the start of a part to the end of a stage.
double noli_history_links_elapsed(const NoliTapePart* part, int32_t stage);

// Points at the end of a part whose stress is that at which flow begins, but for rounding.
int64_t noli_history_links_switches(NoliSim* sim, const NoliTapePart* part);

// Materials see histories as a stage of the part that ends after `elapsed`, until
// noli_sim_end_histories.
void noli_history_links_begin(NoliSim* sim, const NoliTapePart* part, double elapsed);

// At the start of the run: sets the change of `state` by changes of positions there, and of rest
// positions. In reverse: adds to x and rest. Fail with NOLI_ERROR_MEMORY.
NOLI_WARN_UNUSED NoliStatus noli_history_links_start_tangent(NoliSim* sim,
                                                             const NoliHistoryDerivatives* change);
NOLI_WARN_UNUSED NoliStatus noli_history_links_start_adjoint(NoliSim* sim,
                                                             const NoliHistoryDerivatives* by);

// At the start of a part: sets the change of `seen`. In reverse: adds to x, rest and state. Both
// let materials see the histories of the stage.
void noli_history_links_begin_tangent(NoliSim* sim, const NoliTapePart* part, int32_t stage,
                                      const NoliHistoryDerivatives* change);
void noli_history_links_begin_adjoint(NoliSim* sim, const NoliTapePart* part, int32_t stage,
                                      const NoliHistoryDerivatives* by);

// At its end: sets the change of `state`. In reverse: adds to x, rest and seen. Both let materials
// see the histories of the last stage.
void noli_history_links_end_tangent(NoliSim* sim, const NoliTapePart* part,
                                    const NoliHistoryDerivatives* change);
void noli_history_links_end_adjoint(NoliSim* sim, const NoliTapePart* part,
                                    const NoliHistoryDerivatives* by);
