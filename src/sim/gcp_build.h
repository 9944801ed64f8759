// What the geometric contact potential keeps of a definition: rings, weights, supports.
#pragma once

#include "sim/model.h"

// Fills model->problem.gcp. Needs surface, pairs, half-spaces, names, x0 and sizes. Fails
// with NOLI_ERROR_ARGUMENT where the surface of a deformable body is not closed or not oriented,
// or where an obstacle has triangles that do not agree on an outside: the message names the body
// and the edge; NOLI_ERROR_INTERSECTION where surfaces touch; NOLI_ERROR_MEMORY.
NOLI_WARN_UNUSED NoliStatus noli_gcp_model_build(NoliModel* model, const NoliSimDef* def);
void noli_gcp_model_release(NoliModel* model);
