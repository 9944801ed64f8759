// Broad phase: finds the primitives that may come close while every vertex moves straight from x_t0
// to x_t1.
//
// Frames. Most motion is common to all parts of a body and does not bring them closer together. The
// boxes of body b are therefore built in the frame that moves with the mean displacement m_b of its
// surface: they enclose x_t0 and x_t1 - m_b. Within a body boxes are compared as they are. Between
// bodies A and B, the boxes of A are swept along m_A - m_B, and the exact test of a moving box
// against a box decides. Bodies that fly together cost no more than bodies at rest.
//
// Bodies. A tree over the boxes of all bodies, swept along their motion, finds the pairs of bodies
// that may come close, so that the cost grows with these pairs and not with the square of the
// bodies.
//
// Facets. The tree of a body holds facets: triangles, lone segments and lone points. Each vertex
// and each edge is owned by one facet that contains it, so two facets whose boxes meet produce each
// pair of (owned vertex, triangle) and (owned edge, owned edge) exactly once.
//
// The result depends on the boxes of the primitives only, not on the trees and not on the number of
// threads. Boxes are floats relative to a common origin, rounded outwards and enlarged by the
// rounding errors of the coordinates, so that no close pair is missed.
#pragma once

#include "collide/body_pairs.h"
#include "collide/candidates.h"
#include "collide/surface.h"

typedef struct NoliBroadPhase NoliBroadPhase;

// `surface` is borrowed and must outlive the broad phase.
NOLI_WARN_UNUSED NoliStatus noli_broad_phase_create(NoliContext* context,
                                                    const NoliSurface* surface,
                                                    NoliBroadPhase** broad_phase);
void noli_broad_phase_destroy(NoliBroadPhase** broad_phase);

// Finds every point-triangle and edge-edge pair without a common vertex, and without vertices that
// a tie holds together (noli_surface_attach), whose gap, the distance less the offsets of the
// surface, falls below `inflation` (>= 0) at any time between x_t0 and x_t1 (n_vert x 3), and
// further pairs whose boxes do. `pairs` says which bodies meet themselves and each other; NULL: all
// do. Overwrites `out`, whose arrays the caller frees. Allocates only when there are more pairs
// than ever before. Fails with NOLI_NOT_FINITE when a surface vertex is not finite or beyond 1e15
// m.
NOLI_WARN_UNUSED NoliStatus noli_broad_phase_find(NoliBroadPhase* broad_phase, const double* x_t0,
                                                  const double* x_t1, double inflation,
                                                  const NoliBodyPairs* pairs, NoliCandidates* out);

// The same on several ranks, without telling the others: `out` has the pairs that this rank has
// found, and every pair is on one rank. `home` (n_vert), borrowed by `out`, says on which rank
// contacts of a vertex are best kept, or NOLI_NULL_INDEX where it does not matter; the same on all
// ranks (contact/contact_share.h).
NOLI_WARN_UNUSED NoliStatus noli_broad_phase_find_own(NoliBroadPhase* broad_phase,
                                                      const double* x_t0, const double* x_t1,
                                                      double inflation, const NoliBodyPairs* pairs,
                                                      const int32_t* home, NoliCandidates* out);

// How often the trees have been built, the first time included. Other searches only refit them.
int64_t noli_broad_phase_builds(const NoliBroadPhase* broad_phase);
