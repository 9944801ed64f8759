// Data of the geometric contact potential from a definition: rings, weights, supports.
#pragma once

#include "model/model.h"

// Fills model->problem.contact.gcp. Needs surface, pairs, half-spaces, names, x0 and sizes. Fails
// with NOLI_ERROR_ARGUMENT if the surface of a deformable body is not closed or not oriented, or if
// the triangles of an obstacle are oriented inconsistently: the message names the body and the
// edge; NOLI_ERROR_INTERSECTION if surfaces touch; NOLI_ERROR_MEMORY.
NOLI_WARN_UNUSED NoliStatus noli_gcp_model_build(NoliModel* model, const NoliSimDef* def);
void noli_gcp_model_release(NoliModel* model);
