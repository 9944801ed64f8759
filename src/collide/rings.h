// Neighbourhoods on a surface: the two triangles of every edge, the ring of every vertex; on curves
// in a plane, the two edges of every vertex.
//
// Potentials that look at directions need closed oriented surfaces: every edge belongs to exactly
// two triangles, which run along it in opposite directions. Other bodies have rings too, but
// incomplete ones; noli_rings_flaw says where they are open. Bodies in a plane need closed curves.
#pragma once

#include "collide/surface.h"

typedef enum NoliFlawKind {
  NOLI_FLAW_NONE,
  NOLI_FLAW_OPEN,        // an edge of one triangle
  NOLI_FLAW_ORIENTATION, // the two triangles of an edge look to opposite sides
  NOLI_FLAW_BRANCH,      // an edge of more than two triangles
  NOLI_FLAW_SEGMENT,     // a segment that stands alone
  NOLI_FLAW_POINT,       // a point that stands alone
  NOLI_FLAW_CURVE,       // in a plane, a place where not exactly one segment ends and one begins
} NoliFlawKind;

// Why a body is no closed oriented surface.
typedef struct NoliFlaw {
  NoliFlawKind kind; // of the first place
  int32_t vertex[2]; // of the edge there; a point has one
  int64_t n;         // how many edges and points are flawed
} NoliFlaw;

// The neighbours of vertex v are ring[ring_first[v]] .. ring[ring_first[v + 1] - 1], of any number.
// Each starts one triangle (v, neighbour j, neighbour ring_next[j]) that looks outward; ring_next
// counts from the start of the ring. On a closed surface these are all triangles of v.
typedef struct NoliRings {
  int32_t n_body;
  int32_t* edge_opposite; // (n_edge x 2) third vertex of the triangle that runs along the
                          // edge from its first vertex to its second, then of the other one
  int32_t* edge_tri;      // (n_edge) the first of these triangles
  int32_t* tri_edge;      // (n_tri x 3) edge k joins vertices k and k + 1
  int32_t* ring_first;    // (n_vert + 1)
  int32_t* ring;          // (3 n_tri)
  int32_t* ring_next;     // (3 n_tri)
  int32_t* vert_tri;      // (n_vert) one triangle of each vertex, or NOLI_NULL_INDEX
  int32_t* curve;         // (n_vert x 2) of vertices on curves in a plane: the one before and
                          // the one behind, with the body on the left; else NOLI_NULL_INDEX
  int32_t* curve_edge;    // (n_vert) the edge from such a vertex to the one behind
  NoliFlaw* flaw;         // (n_body)
} NoliRings;

// `surface` is read, not kept. Fails only with NOLI_ERROR_MEMORY.
NOLI_WARN_UNUSED NoliStatus noli_rings_create(NoliContext* context, const NoliSurface* surface,
                                              NoliRings** rings);
void noli_rings_destroy(NoliContext* context, NoliRings** rings);

enum { NOLI_FLAW_TEXT = 400 };
// Describes the first flaw, and how many more there are: "the edge of vertices 1 and 2,
// .. to .., has two triangles that look to opposite sides (and 3 more)". Positions are those of x
// (n_vert x 3), vertices are called by the two numbers `called`.
void noli_flaw_describe(const NoliFlaw* flaw, const int32_t called[2], const double* x,
                        char text[NOLI_FLAW_TEXT]);

// Fails with NOLI_ERROR_ARGUMENT when body `body` is no closed oriented surface; the message names
// the body and describes the flaw.
NOLI_WARN_UNUSED NoliStatus noli_rings_require_closed(NoliContext* context, const NoliRings* rings,
                                                      int32_t body, const double* x);
