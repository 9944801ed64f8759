// Forces between vertices that are no elements: springs, joints. One object has all of a type in a
// problem, as stencils of vertices.
#pragma once

#include "base/definition_lists.h"
#include "linalg/energy_term.h"
#include "linalg/input.h"

typedef struct NoliConnectionForces NoliConnectionForces;

typedef struct NoliConnections {
  const NoliConnectionForces* forces; // NULL: there are none
  void* data;                         // of the type
  int64_t n;                          // stencils
  int64_t* first;                     // (definitions + 1) those of a definition follow one another
} NoliConnections;

// The data of terms.
typedef struct NoliConnectionEnergy {
  const void* data;
  double scale; // h_e^2
} NoliConnectionEnergy;

typedef struct NoliConnectionDamping {
  const void* data;
  const double* lagged;    // at the start of the step
  const double* reference; // (n_vert x 3) x_hat
  double scale;            // h_e^2 / h_v
} NoliConnectionDamping;

// Dampers have a quadratic potential within a step; `lagged` are the numbers that it depends on.
typedef struct NoliConnectionDampers {
  int32_t n_lagged; // doubles of a stencil
  bool (*any)(const void* data);
  void (*lag)(const void* data, const double* x, double* lagged);
  // `damping` is borrowed.
  NoliEnergyTerm (*term)(const NoliConnectionDamping* damping);
  // Energy that they dissipate between x0 and x1 in a step of length h, times h.
  double (*loss)(const void* data, const double* lagged, const double* x0, const double* x1);
  // Adds the forces at velocities v, N, to `force` (n_vert x 3).
  void (*add_force)(const void* data, const double* lagged, const double* v, double* force);
} NoliConnectionDampers;

// Where forces are differentiated; all (n_vert x 3).
typedef struct NoliConnectionPoint {
  const double* X;
  const double* x;
  const double* x_hat;
  const double* lagged; // where what dampers depend on is taken
  double scale;         // h_e^2
  double damping_scale; // h_e^2 / h_v; 0: dampers do not act
} NoliConnectionPoint;

typedef struct NoliConnectionDerivatives {
  // By the numbers of connections and by rest positions, as `wanted` says, and by the point
  // `lagged` (NOLI_INPUT_DAMPED) where there are dampers.
  NoliStatus (*mixed)(NoliMixedList* list, const void* data, unsigned wanted,
                      const NoliConnectionPoint* at);
} NoliConnectionDerivatives;

struct NoliConnectionForces {
  const char* name;
  bool eases; // softer in iterations that turn rigid bodies (solve/easing.h)
  // `energy` is borrowed.
  NoliEnergyTerm (*term)(const NoliConnectionEnergy* energy);
  double (*energy)(const void* data, int64_t s, const double* x); // J, of a stencil
  void (*destroy)(NoliContext* context, void* data);
  const NoliConnectionDampers* dampers;         // NULL: nothing is damped
  bool in_joints;                               // joints exert them
  const NoliConnectionDerivatives* derivatives; // NULL: runs with these forces have none
};

static inline bool noli_connections_are_damped(const NoliConnections* connections) {
  return connections->forces != NULL && connections->forces->dampers != NULL &&
         connections->forces->dampers->any(connections->data);
}
