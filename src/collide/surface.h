// The collision surface of the whole scene: primitives by body, with global vertex indices.
#pragma once

#include "base/context.h"

// Volumes contribute their boundary triangles, their edges and vertices; obstacles theirs, with
// segments and points that stand alone. Point-triangle and edge-edge pairs cover every contact,
// because at least one side of a pair is a closed surface. Owned by the model.
typedef struct NoliSurface {
  int32_t n_body;
  int32_t n_vert;             // all vertices of the scene, inner ones included
  int32_t n_tri;
  int32_t n_edge;
  int32_t n_point;
  const int32_t* tri;         // (n_tri x 3)
  const int32_t* edge;        // (n_edge x 2) edges of triangles and lone segments, each once
  const int32_t* point;       // (n_point) every vertex on the surface
  const int32_t* tri_first;   // (n_body + 1) triangles of body b: [tri_first[b], tri_first[b+1])
  const int32_t* edge_first;  // (n_body + 1)
  const int32_t* point_first; // (n_body + 1)
  const int32_t* body;        // (n_vert) body of each vertex
} NoliSurface;
