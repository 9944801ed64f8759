// A point of a stage: positions, and what is known there. There are two, the present point and a
// trial point, which change places where a step is accepted.
#pragma once

#include "collide/broad_phase.h"
#include "linalg/energy_term.h"

// Energies of a term, one of each stencil.
typedef struct NoliTermEnergy {
  double* value;
  int64_t capacity;
  double sum;
} NoliTermEnergy;

typedef struct NoliPoint {
  double* x;                 // (n_vert x 3) m
  NoliCandidates candidates; // every pair closer than the reach of contact at x; at the trial point
                             // between the present point and x
  void* contact;             // what the contact model remembers here
  NoliEnergyTerm* term;      // every term of the stage, as it is here
  NoliTermEnergy* energy;    // of every term
} NoliPoint;
