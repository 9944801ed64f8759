// Steps of making a proxy, shared by the two ways to make one.
#pragma once

#include "collide/proxy.h"

// Room for that many vertices and triangles; the caller fills X and tri, then all rows in order.
NOLI_WARN_UNUSED NoliStatus noli_proxy_begin(NoliContext* context, const NoliSpace* space,
                                             int32_t n_vert, int32_t n_tri, NoliProxy* proxy);

// The row of vertex v, which lies at xi in a tetrahedron.
void noli_proxy_set_row(const NoliSpace* space, int64_t tet, const double xi[3], int32_t v,
                        NoliProxy* proxy);
