// The collision proxy of a body of a definition: how it is made, and how it moves with the rest
// shape.
#pragma once

#include "collide/proxy.h"
#include "noli/sim.h"

// The proxy of a body with this space; `name` is for the log. Fails as the functions of
// collide/proxy.h do.
NOLI_WARN_UNUSED NoliStatus noli_body_proxy_make(NoliContext* context, const char* name,
                                                 const NoliBodyDef* body, const NoliSpace* space,
                                                 NoliProxy* proxy);

// Where the vertices of a given mesh lie: `carrier` and `place` of NoliProxyDef.
typedef struct NoliProxyPlaces {
  int32_t* carrier;
  double* place;
} NoliProxyPlaces;

// Fixes what a proxy takes from the rest shape, so that its weights stay those of this shape when
// it changes: a length of edges becomes a subdivision, and the vertices of a given mesh get the
// places where they lie now. `made` has what was allocated; the caller frees it after the
// definition. Fails as noli_body_proxy_make does; `body` and `made` are unchanged and empty then.
NOLI_WARN_UNUSED NoliStatus noli_body_proxy_settle(NoliContext* context, NoliBodyDef* body,
                                                   NoliProxyPlaces* made);

// Moves the vertices of the given mesh of a settled proxy, if there is one, with the elements whose
// vertices are displaced: X(xi) moves by the linear function of `displacement` (n_vert x 3), as the
// nodes of curves do. The mesh must belong to the caller.
void noli_body_proxy_follow(const NoliBodyDef* body, const double* displacement);
