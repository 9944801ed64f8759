// Repair of starts (noli/repair.h). The stages share the work below: each moves vertices of x and
// leaves verification to the driver (repair.c).
//
// Rigid stage (repair_rigid.c): units are moved as a whole, first bodies (tied ones together), then
// connected parts. Each pair of units that meet gives a half-space of allowed translations: the
// shortest way out that directions sampled with the exact audit as oracle find (repair_way.h). The
// translations with the least sum of squares within all half-spaces follow by Hildreth's method;
// new pairs are added until none meet.
//
// Deforming stage (repair_deform.c): surfaces that still cross descend on the length of their
// intersection contours, after [Volino2006]; displacements are smoothed over the elements, and a
// step counts only if it shortens the contours and inverts no element. Then close pairs are
// pushed apart.
//
// Sides (repair_sides.c): what neither crosses nor touches at the beginning of a move stays on its
// side, unless both are solids. A thin body has no inside that would tell afterwards that something
// went through it, so that every move is followed along its straight paths.
#pragma once

#include "collide/audit.h"
#include "collide/broad_phase.h"
#include "model/audit.h"
#include "model/model.h"

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
  bool* lone;         // (n_vert) points of no edge
  int64_t n_refused;  // ways that would have led through a surface
  int32_t through[2]; // bodies that the move of a stage still leads through each other, or
                      // NOLI_NULL_INDEX
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

// Two units, or bodies, that cross, touch or lie inside each other: a way may lead through both.
typedef struct NoliRepairPair {
  int32_t a, b; // a <= b
} NoliRepairPair;
typedef NOLI_ARRAY(NoliRepairPair) NoliRepairPairs;

// A gap that is wanted of pairs, for those of a range: at least what rounding needs.
static inline double noli_repair_wanted(const NoliRepairWork* work, double gap, double range) {
  return fmax(range * gap, fmin(gap, 4.0 * work->touching));
}

// Whether primitives are so close, without their offsets, that rounding hides on which side of each
// other they are.
static inline bool noli_repair_touches(const NoliRepairWork* work, const NoliRepairGap* gap) {
  const int32_t* body = work->surface->body;
  double offset = noli_surface_offset(work->surface, body[gap->vertex[0]], body[gap->vertex[3]]);
  return gap->gap + offset < 2.0 * work->touching;
}

// The gap of the primitives with vertices `vertex` (a point and a triangle, or two edges), were
// these at `at`.
NoliRepairGap noli_repair_gap_at(const NoliSurface* surface, const NoliBodyPairs* pairs,
                                 const int32_t vertex[4], const NoliVec3 at[4], bool is_edge);

// Replaces `gaps` by the pairs whose gap at x is below `limit`, as wanted of their range; both
// sides are in `pairs`, which have the ranges.
NOLI_WARN_UNUSED NoliStatus noli_repair_gaps(const NoliRepairWork* work, const NoliSurface* surface,
                                             NoliBroadPhase* broad_phase,
                                             const NoliBodyPairs* pairs, const double* x,
                                             double limit, NoliRepairGaps* gaps);

// Sorts the pairs and drops repeated ones; then noli_repair_has_pair may look for them.
void noli_repair_sort_pairs(NoliRepairPairs* pairs);
bool noli_repair_has_pair(const NoliRepairPairs* pairs, int32_t a, int32_t b);

// Replaces `passages` by the pairs of primitives that pass through each other, or nearly so, on
// straight paths from x to `to`, but for those of two solids, of units (`of` vertices) in `met`,
// and, unless `self`, of one unit. Their weights and directions are those of the time when they
// meet, their gaps those of the end along these: negative, if the pair has passed.
NOLI_WARN_UNUSED NoliStatus noli_repair_passages(const NoliRepairWork* work, const int32_t* of,
                                                 const NoliRepairPairs* met, bool self,
                                                 const double* x, const double* to,
                                                 NoliRepairGaps* passages);

// Moves units apart as far as it finds a way.
NOLI_WARN_UNUSED NoliStatus noli_repair_rigid(NoliRepairWork* work, const NoliRepairUnits* units);
// Deforms surfaces that still meet.
NOLI_WARN_UNUSED NoliStatus noli_repair_deform(NoliRepairWork* work);
