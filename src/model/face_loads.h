// The faces of tractions and pressures: forces of the definition whose values are per area.
#pragma once

#include "model/model.h"

// Finds the faces of force number `index` of the model, whose nodes are known: triangles of the
// surface of its body (segments in a plane) all of whose corners are among its nodes, or, if its
// elements are curved or of high order, faces of them all of whose nodes are. Pressures are also
// added to model->problem.pressed. Fails with NOLI_ERROR_ARGUMENT if there are
// none, NOLI_ERROR_MEMORY.
NOLI_WARN_UNUSED NoliStatus noli_face_loads_build(NoliModel* model, const NoliSimDef* def,
                                                  int32_t index);
