// Prescribed motions in derivatives of runs: links of the chain. Where prescribed components go in
// a stage follows from the positions at the start of its part, rest positions and numbers of
// motions.
#pragma once

#include "derive/inputs.h"
#include "derive/motion_derivatives.h"
#include "derive/tape.h"

// At the end of a stage, and halfway for integrators of order 2.
typedef enum NoliTarget { NOLI_TARGET_END, NOLI_TARGET_MIDDLE, NOLI_TARGETS } NoliTarget;

typedef struct NoliMotionLinks {
  const NoliSim* sim;         // borrowed
  int32_t* owner;             // (n_vert x 3) the motion that prescribes a component, or
                              // NOLI_NULL_INDEX: it stays
  int32_t* turner;            // (n_vert) the motion that turns the section of an angle;
                              // NOLI_NULL_INDEX: none
  double* goal[NOLI_TARGETS]; // (n_vert x 3) m
  NoliMotionDerivatives* derivatives[NOLI_TARGETS]; // (motions)
  double t0, t1[NOLI_TARGETS];                      // s
  int64_t step;                                     // of the part
  double begin;                                     // s, of the run
  bool varies;                                      // targets do from the start of the run
  int32_t n_motion;
  double* moved;      // (n_vert x 3) of targets, while these are linked
  double* rest_frame; // (histories of all blocks) of frames at rest, while these are linked
} NoliMotionLinks;

// The state that targets follow from besides inputs: positions and histories of all blocks at the
// start of the part, or derivatives by them.
typedef struct NoliMotionStart {
  double* x; // (n_vert x 3)
  double* history;
} NoliMotionStart;

// Links of a run that begins with the state of the simulation, by inputs `wanted` (1 << NoliInput
// each). Fails with NOLI_ERROR_MEMORY; must be released then, too.
NOLI_WARN_UNUSED NoliStatus noli_motion_links_create(const NoliSim* sim, unsigned wanted,
                                                     NoliMotionLinks* links);
void noli_motion_links_free(NoliContext* context, NoliMotionLinks* links);

// The targets of a stage, as functions of where the part starts. Fails with NOLI_ERROR_ARGUMENT
// where these have no derivatives but are needed: unless positions or motions vary, not of motions
// that have acted since the start of the run.
NOLI_WARN_UNUSED NoliStatus noli_motion_links_set(NoliMotionLinks* targets,
                                                  const NoliTapePart* part,
                                                  const NoliTapeStage* stage);

// From derivatives d by targets of prescribed components, 0 at others, adds those times a weight by
// the start of the part, and by rest positions, motions and radii of rods with twist to `to`.
void noli_motion_links_adjoint(const NoliMotionLinks* targets, const NoliTapePart* part,
                               NoliTarget which, double weight, const double* d,
                               const NoliInputs* to, const NoliMotionStart* start);

// Forward: adds the changes of targets, times a weight, to prescribed components of `to`, from
// changes of the start of the part, and of inputs.
void noli_motion_links_tangent(const NoliMotionLinks* targets, const NoliTapePart* part,
                               NoliTarget which, const NoliTapeStage* stage, double weight,
                               const NoliMotionStart* start, const NoliInputs* change, double* to);
