// Repair of starts (noli/repair.h). The stages share the work below: each moves vertices of x and
// leaves verification to the driver (repair.c).
//
// Rigid stage (repair_rigid.c): units are moved as a whole, first bodies (tied ones together), then
// connected parts. Each pair of units that meet gives a half-space of allowed translations: the
// shortest way out that directions sampled with the exact audit as oracle find. The translations
// with the least sum of squares within all half-spaces follow by Hildreth's method; new pairs are
// added until none meet.
//
// Deforming stage (repair_deform.c): surfaces that still cross descend on the length of their
// intersection contours, after [Volino2006]; displacements are smoothed over the elements, and a
// step counts only if it shortens the contours and inverts no element. Then close pairs are
// pushed apart.
#pragma once

#include "collide/audit.h"
#include "collide/broad_phase.h"
#include "sim/audit.h"
#include "sim/model.h"

#include "noli/repair.h"

#include <math.h>

typedef struct NoliRepairWork {
  NoliContext* context;
  const NoliModel* model;
  const NoliSurface* surface;
  NoliBroadPhase* broad_phase;
  NoliBodyPairs pairs; // bodies that must not intersect; half-spaces are those of the model
  bool settle;
  int32_t rounds;
  double touching;     // m: closer primitives are a defect
  double enough;       // m: gap that suffices between what moves, beyond the contact distance
  double target;       // m: gap to aim at, a little larger; both of pairs with a range of 1
  double* x;           // (n_vert x 3)
  double* before;      // (n_vert x 3) the start
  bool* held;          // (n_vert) vertices that stay in place, and angles
  int32_t* face_first; // (n_edge + 1) triangles at each edge of the surface
  int32_t* face;
  bool* lone; // (n_vert) points of no edge
} NoliRepairWork;

// Sets of vertices that move as one.
typedef struct NoliRepairUnits {
  int32_t n;
  int32_t* of; // (n_vert)
  bool* fixed; // (n)
} NoliRepairUnits;

// A closest pair of primitives: its vertices, and the weights with which they move it.
typedef struct NoliRepairGap {
  double gap;   // m, offsets deducted
  double range; // contact distance of the bodies over that of the scene
  int32_t vertex[4];
  double weight[4];
  NoliVec3 direction; // unit, from the second primitive to the first; 0 where they meet
} NoliRepairGap;
typedef NOLI_ARRAY(NoliRepairGap) NoliRepairGaps;

// A gap that is wanted of pairs, for those of a range: at least what rounding needs.
static inline double noli_repair_wanted(const NoliRepairWork* work, double gap, double range) {
  return fmax(range * gap, fmin(gap, 4.0 * work->touching));
}

// Replaces `gaps` by the pairs whose gap at x is below `limit`, as wanted of their range; both
// sides are in `pairs`, which have the ranges.
NOLI_WARN_UNUSED NoliStatus noli_repair_gaps(const NoliRepairWork* work, const NoliSurface* surface,
                                             NoliBroadPhase* broad_phase,
                                             const NoliBodyPairs* pairs, const double* x,
                                             double limit, NoliRepairGaps* gaps);

// Moves units apart as far as it finds a way.
NOLI_WARN_UNUSED NoliStatus noli_repair_rigid(NoliRepairWork* work, const NoliRepairUnits* units);
// Deforms surfaces that still meet.
NOLI_WARN_UNUSED NoliStatus noli_repair_deform(NoliRepairWork* work);
