// A point of a stage: positions and the data evaluated there. There are two, the current point and
// a trial point; accepting a step swaps them.
#pragma once

#include "collide/broad_phase.h"
#include "linalg/energy_term.h"

// Energies of a term, one per stencil.
typedef struct NoliTermEnergy {
  double* value;
  int64_t capacity;
  double sum;
} NoliTermEnergy;

typedef struct NoliPoint {
  double* x;                 // (n_vert x 3) m
  NoliCandidates candidates; // every pair closer than the reach of contact at x; at the trial point
                             // between the current point and x
  void* contact;             // data of the contact model at this point
  NoliEnergyTerm* term;      // every term of the stage at this point
  NoliTermEnergy* energy;    // of every term
} NoliPoint;
