// How the nodes of a body, and the vertices that follow them, move with the vertices of its mesh:
// nodes between vertices of elements of higher order, straight or curved, and proxies, by fixed
// weights.
#pragma once

#include "model/model.h"

// Points that move with each vertex of the mesh, by rows; the vertex itself is one of them.
typedef struct NoliRestMap {
  int32_t n_vert;
  int64_t* first; // (n_vert + 1)
  int32_t* point; // (first[n_vert]) vertices in the scene
  double* weight; // (first[n_vert]) how much each of them moves, relative to the vertex
} NoliRestMap;

// The rest map of a body whose mesh has n_vert vertices. On failure nothing is allocated.
NOLI_WARN_UNUSED NoliStatus noli_rest_map_create(const NoliModel* model, int32_t body,
                                                 int32_t n_vert, NoliRestMap* map);
void noli_rest_map_free(NoliContext* context, NoliRestMap* map);
