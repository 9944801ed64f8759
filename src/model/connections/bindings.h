// What connections bind: nodes that follow combinations of vertices, exactly and without unknowns,
// and the primitives that touch there permanently.
//
// Every type of connection adds its nodes (`bind` in define/connection.h); then all are resolved
// together, so that a node may follow vertices that another connection binds. A node that is bound
// twice, or would follow itself through a chain of connections, is an error that names one of them.
#pragma once

#include "base/array.h"
#include "model/model.h"

typedef struct NoliBindings {
  NoliModel* model;
  const NoliSimDef* def;
  double touching;           // m, counts as zero distance
  double reach;              // m, primitives that are closer at the start touch permanently
  int32_t* of_node;          // (n_node) the binding of a node, or NOLI_NULL_INDEX
  NOLI_ARRAY(NoliBound) row; // in the order of `add`
  NOLI_ARRAY(int64_t) first; // (n + 1) of the vertices of a row
  NOLI_ARRAY(int32_t) vertex;
  NOLI_ARRAY(double) weight;
  NOLI_ARRAY(double) offset;    // (rows x 3) m
  bool grounded;                // a row has an offset, or weights that do not sum to one
  NOLI_ARRAY(int32_t) attached; // pairs
} NoliBindings;

// The bindings must be freed even after a failure.
NOLI_WARN_UNUSED NoliStatus noli_bindings_begin(NoliModel* model, const NoliSimDef* def,
                                                NoliBindings* bindings);
void noli_bindings_free(NoliBindings* bindings);

// A node that follows n vertices, some of which may have no weight: they touch it all the same.
// Weights sum to one, unless there is an `offset` (3), m, for the world's part; NULL: none. Fails
// with NOLI_ERROR_ARGUMENT where the node is bound already.
NOLI_WARN_UNUSED NoliStatus noli_bindings_add(NoliBindings* bindings, NoliBound bound, int32_t n,
                                              const int32_t* vertex, const double* weight,
                                              const double* offset);

// Weights of the corners of a tetrahedron, in positions x (n_vert x 3), in p; the smallest of them.
double noli_tet_weights(const double* x, const int32_t* tet, NoliVec3 p, double weight[4]);

// A bound node in messages: the place of its connection, the vertex and its body.
typedef struct NoliBoundName {
  char text[400];
} NoliBoundName;
NoliBoundName noli_bound_name(const NoliModel* model, const NoliSimDef* def,
                              const NoliBound* bound);

// Makes all these nodes followers, which are in their places from the start on, and attaches what
// touches there.
NOLI_WARN_UNUSED NoliStatus noli_bindings_finish(NoliBindings* bindings);
