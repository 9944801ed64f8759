// Vertices and segments that touch, out of candidate pairs of segments that belong to no triangle.
//
// Two segments that are nearly parallel touch along their length, and what their pair contributes
// fades to nothing as they become parallel (contact/mollifier.h). Their ends hold them apart then,
// as vertices and triangles do where a surface has triangles: its vertices have edges in other
// directions, too.
#pragma once

#include "collide/candidates.h"
#include "collide/surface.h"

typedef struct NoliPointEdges {
  NOLI_ARRAY(NoliPrimitivePair) pair; // (vertex, edge), sorted, each once
  NOLI_ARRAY(uint64_t) key;           // scratch
} NoliPointEdges;

// Which bodies' segments count.
typedef enum NoliPointEdgesOf {
  NOLI_POINT_EDGES_IN_PLANES, // those that meet in a plane, where their ends alone touch
  NOLI_POINT_EDGES_ALL,       // others, too
} NoliPointEdgesOf;

void noli_point_edges_free(NoliContext* context, NoliPointEdges* pairs);

// Replaces the pairs by every end of a segment with the other segment of the candidates. Segments
// that share the end bring the pair once, the first of them that is no neighbour of the other
// segment: of candidates that are divided among ranks every pair is on one rank. Allocates only
// when there is more than ever before.
NOLI_WARN_UNUSED NoliStatus noli_point_edges_find(NoliPointEdges* pairs, NoliContext* context,
                                                  const NoliSurface* surface, NoliPointEdgesOf of,
                                                  const NoliCandidates* candidates);
