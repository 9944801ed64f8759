// Prescribed motions in derivatives of runs: links of the chain. Where prescribed components go in
// a stage follows from the positions at the start of its part, rest positions and numbers of
// motions.
#pragma once

#include "sim/inputs.h"
#include "sim/motion_slopes.h"
#include "sim/tape.h"

// At the end of a stage, and halfway for integrators of order 2.
typedef enum NoliTarget { NOLI_TARGET_END, NOLI_TARGET_MIDDLE, NOLI_TARGETS } NoliTarget;

typedef struct NoliMotionLinks {
  int32_t* owner;                       // (n_vert x 3) the motion that prescribes a component, or
                                        // NOLI_NULL_INDEX: it stays
  double* goal[NOLI_TARGETS];           // (n_vert x 3) m
  NoliMotionSlope* slope[NOLI_TARGETS]; // (motions)
  double t0, t1[NOLI_TARGETS];          // s
} NoliMotionLinks;

// Fails with NOLI_ERROR_MEMORY; must be released then, too.
NOLI_WARN_UNUSED NoliStatus noli_motion_links_create(const NoliSim* sim, NoliMotionLinks* links);
void noli_motion_links_free(NoliContext* context, NoliMotionLinks* links);

// The targets of a stage, as functions of where the part starts. `vary`: the numbers of motions do.
// Fails with NOLI_ERROR_ARGUMENT where they have no derivatives.
NOLI_WARN_UNUSED NoliStatus noli_motion_links_set(NoliMotionLinks* targets, const NoliSim* sim,
                                                  const NoliTapePart* part,
                                                  const NoliTapeStage* stage, bool vary);

// From derivatives d by targets of prescribed components, 0 at others, adds those times a weight by
// the positions x at the start of the part, and by rest positions and motions to `to`.
void noli_motion_links_pull(const NoliMotionLinks* targets, const NoliSim* sim,
                            const NoliTapePart* part, NoliTarget which, double weight,
                            const double* d, const NoliInputs* to, double* x);

// Forward: adds the changes of targets, times a weight, to prescribed components of `to`, from
// changes x of the positions at the start of the part, and of inputs.
void noli_motion_links_push(const NoliMotionLinks* targets, const NoliSim* sim,
                            const NoliTapePart* part, NoliTarget which, const NoliTapeStage* stage,
                            double weight, const double* x, const NoliInputs* change, double* to);
