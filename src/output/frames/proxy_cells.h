// Which elements the triangles of collision proxies lie in: where frames take their stress from.
#pragma once

#include "model/model.h"

// For each corner of the triangles (n_tri x 3 vertices of the scene) of the proxy of a body, the
// element that carries it, of those of all bodies: element (n_tri x 3). A vertex lies in an element
// that has all the nodes it follows; where several have them, in one that has those of the whole
// triangle, else in the first. Fails with NOLI_ERROR_MEMORY.
NOLI_WARN_UNUSED NoliStatus noli_proxy_cells_find(NoliContext* context, const NoliModel* model,
                                                  int32_t body, int32_t n_tri, const int32_t* tri,
                                                  int32_t* element);
