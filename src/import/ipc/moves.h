// Motions and loads of the parts of a text scene, written as the native scene has them.
//
// Times are counted in steps: a motion acts in steps k0 to k1 - 1. In the native scene it lasts
// from (k0 - 1/2) h to (k1 - 1/2) h, a load, which goes by the end of the step, half a step around
// k0 h + h/2, so that rounding of times cannot matter.
#pragma once

#include "import/ipc/world.h"

#define NOLI_IPC_FOREVER INT64_MAX

// The motion of some vertices for some time; nothing but a time: they stand still.
typedef struct NoliIpcPhase {
  double velocity[3];     // m/s
  double axis[3];         // unit
  double speed;           // deg/s
  bool about_box;         // about the centre of the box around the vertices, else about `origin`
  double origin[3];       // m
  bool until;             // ends for good when all of the part has x > until_x
  double until_x;         // m
  const json_t* sequence; // list of files, one a step; borrowed. NULL: none
  int64_t k_begin, k_end;
} NoliIpcPhase;

// Vertices of the mesh file of a part; `node` NULL: all.
typedef struct NoliIpcNodes {
  const int32_t* node; // (n_node)
  int32_t n_node;
} NoliIpcNodes;

// Adds phases (n_phases) of the nodes of part number `part`.
NOLI_WARN_UNUSED NoliStatus noli_ipc_add_moves(NoliIpcWorld* world, int64_t part,
                                               NoliIpcNodes nodes, const NoliIpcPhase* phases,
                                               int32_t n_phases);

// Adds an acceleration, m/s^2.
NOLI_WARN_UNUSED NoliStatus noli_ipc_add_load(NoliIpcWorld* world, int64_t part, NoliIpcNodes nodes,
                                              const double acceleration[3], int64_t k_begin,
                                              int64_t k_end);

// The steps that start in [t_begin, t_end); k_begin >= k_end: none.
void noli_ipc_steps(const NoliIpcWorld* world, double t_begin, double t_end, int64_t* k_begin,
                    int64_t* k_end);

// Puts a new value into an object or at the end of a list; NULL values are missing memory.
NOLI_WARN_UNUSED NoliStatus noli_ipc_put(NoliContext* context, json_t* object, const char* key,
                                         json_t* value);
NOLI_WARN_UNUSED NoliStatus noli_ipc_push(NoliContext* context, json_t* list, json_t* value);

// A list of three numbers; whole ones without a point.
json_t* noli_ipc_vector(const double v[3]);
json_t* noli_ipc_number(double value);
