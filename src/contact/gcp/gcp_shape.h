// How the geometric contact potential follows shapes: weights of elements change with rest
// positions, supports of vertices with those or with the positions at the start of the run, as
// gcp_support.h says.
#pragma once

#include "contact/gcp/gcp_model.h"
#include "linalg/input.h"

// An input that follows a vertex.
typedef struct NoliGcpShapeDerivative {
  NoliInput input; // NOLI_INPUT_WEIGHT or NOLI_INPUT_SUPPORT
  int64_t index;   // of the input
  int32_t vertex;
  bool at_start; // its position at the start, or at rest
  double derivative[3];
} NoliGcpShapeDerivative;

// Derivatives [first[v], first[v + 1]) are those by vertex v; all zero: none.
typedef struct NoliGcpShape {
  NoliGcpShapeDerivative* derivative;
  int64_t* first; // (n_vert + 1)
} NoliGcpShape;

// X are the rest positions. Fails with NOLI_ERROR_MEMORY, with nothing allocated.
NOLI_WARN_UNUSED NoliStatus noli_gcp_shape_create(NoliContext* context, const NoliGcpModel* model,
                                                  const double* X, NoliGcpShape* shape);
void noli_gcp_shape_free(NoliContext* context, NoliGcpShape* shape);
