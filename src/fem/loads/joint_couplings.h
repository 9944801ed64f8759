// Couplings of two coordinates of joints, as stiff as rigid bodies are: gears, racks, screws.
//
// A coupling holds c = q1 - r q2 at 0 with the energy K c^2 / 2. Its Hessian is
//   K (grad c grad c^T + c Hess c),
// of which the projected one has the first part.
#pragma once

#include "fem/loads/joint_coordinates.h"

enum { NOLI_COUPLING_NODES = 2 * NOLI_COORDINATE_NODES };

typedef struct NoliCoupling {
  int32_t of[2];                     // the coordinates
  double ratio;                      // r, in the unit of q1 by that of q2
  int8_t place[NOLI_COUPLING_NODES]; // of the nodes of both among those of the coupling
  double stiffness;                  // K, N m or N/m
} NoliCoupling;

// Constant but for the stiffness.
typedef struct NoliCouplings {
  int32_t n;
  NoliCoupling* item; // (n)
  int32_t* node;      // (n x NOLI_COUPLING_NODES) each once, then NOLI_NULL_INDEX
} NoliCouplings;

// The data of a term.
typedef struct NoliCouplingEnergy {
  const NoliCouplings* couplings;
  const NoliCoordinates* coordinates;
  const NoliCoordinateStep* step; // of the coordinates
  double scale;
} NoliCouplingEnergy;

// Lists the nodes of coupling k, whose coordinates are known.
void noli_coupling_set_nodes(NoliCouplings* couplings, const NoliCoordinates* coordinates,
                             int32_t k);

// c of coupling k at x (n_vert x 3), rad or m.
double noli_coupling_gap(const NoliCouplingEnergy* energy, int32_t k, const double* x);

// `data` is borrowed.
NoliEnergyTerm noli_couplings_term(const NoliCouplingEnergy* data);

// Sets stiffnesses for steps of this time, s, under gravity, m/s^2: `stiff` times the inertia of
// both sides over the square of the time.
void noli_couplings_stiffen(NoliCouplings* couplings, const NoliCoordinates* coordinates,
                            double stiff, double time, double gravity);
