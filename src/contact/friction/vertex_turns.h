// Rotations of surface vertices between two positions: each is that of a triangle at the vertex; of
// an edge, the smallest one, where there is no triangle; none of lone points.
#pragma once

#include "collide/surface.h"
#include "math/mat3.h"

typedef struct NoliVertexTurns {
  int32_t n_vert;
  int32_t* other; // (n_vert x 2) two vertices of a triangle at each vertex, or one of an edge;
                  // NOLI_NULL_INDEX: none
} NoliVertexTurns;

NOLI_WARN_UNUSED NoliStatus noli_vertex_turns_create(NoliContext* context,
                                                     const NoliSurface* surface,
                                                     NoliVertexTurns* turns);
void noli_vertex_turns_free(NoliContext* context, NoliVertexTurns* turns);

// The rotation of vertex a from positions `from` to `to` (n_vert x 3); the identity, to the last
// bit, if it and its neighbours have not moved.
NoliMat3 noli_vertex_turn(const NoliVertexTurns* turns, int32_t a, const double* from,
                          const double* to);

// Whether the rotation of an edge by an angle with this cosine is one.
bool noli_vertex_edge_turns(double cosine);
