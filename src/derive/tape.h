// A tape: what the steps of a run have solved, so that every solve can be set up again in reverse.
//
// A step is a chain of parts, a part of stages, a stage of solves, which differ in the point at
// which friction was lagged: the end of the solve before, or the start of the part for the first
// one. While a tape is attached, every solve ends with Newton steps that leave a residual of
// rounding: otherwise its solution would not be a differentiable function of its inputs.
#pragma once

#include "base/array.h"
#include "step/simulation.h"

typedef struct NoliTapeStage {
  NoliStageTime time;        // its arrays are owned by the tape
  double t;                  // s, of its end
  uint8_t* axes;             // (n_vert) prescribed components
  NOLI_ARRAY(double*) solve; // (n_vert x 3) m, ends of the solves
} NoliTapeStage;

typedef struct NoliTapePart {
  const NoliIntegrator* rule;
  double h;             // s
  double t1;            // s, at its end
  bool past_known;      // the part has used the part before
  double damping_ahead; // s, after its start: where its damping takes the stiffness
  double* force;    // (n_vert x 3) N, at its start, of integrators that start from it; else NULL
  double* velocity; // (n_vert x 3) m/s, at its start; of prescribed nodes that of their motion
  bool held;        // prescribed nodes stay where they are at its start
  NoliState start;
  int32_t n_stages;
  NoliTapeStage stage[NOLI_MAX_STAGES];
} NoliTapePart;

typedef struct NoliTape {
  NoliContext* context;
  NOLI_ARRAY(NoliTapePart) part;
  bool open;                           // the last part is not complete yet
  double tolerance;                    // of residuals, relative to the forces
  struct NoliSensitivity* sensitivity; // what ends solves
} NoliTape;

// Whether component j of all (n_vert x 3) is prescribed.
static inline bool noli_tape_prescribes(const NoliTapeStage* stage, int64_t j) {
  return (stage->axes[j / 3] >> (j % 3) & 1) != 0;
}

// Where the friction of a solve was lagged: at the end of the one before.
static inline const double* noli_tape_lagged(const NoliTapePart* part, int32_t stage,
                                             int64_t solve) {
  if (solve > 0) {
    return part->stage[stage].solve.data[solve - 1];
  }
  const NoliTapeStage* before = stage > 0 ? &part->stage[stage - 1] : NULL;
  return before != NULL ? before->solve.data[before->solve.count - 1] : part->start.x;
}

void noli_tape_init(NoliTape* tape, NoliContext* context, double tolerance);
// Removes all parts.
void noli_tape_clear(NoliTape* tape);

// Bytes of a part with `n_solves` solves.
int64_t noli_tape_part_bytes(const NoliSim* sim, int32_t n_solves);

// Records what the steps of the simulation solve, until it is detached; one tape at a time. A step
// fails with NOLI_ERROR_ARGUMENT where it is not a differentiable function of what it starts from.
void noli_tape_attach(NoliTape* tape, NoliSim* sim);
void noli_tape_detach(NoliSim* sim);
