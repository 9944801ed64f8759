// Which parts of a surface lie wholly inside a solid? Where no surface crosses another one, a
// connected part is inside with all its vertices or with none, and one of them decides: by the
// winding number of the solid's boundary, counted along a ray. Exact in every case: rays that meet
// edges and vertices are moved by an amount that is infinitely small. A part of the exact audit
// (collide/audit.h), and as that without anything of contact and collision detection.
#pragma once

#include "collide/body_pairs.h"
#include "collide/surface.h"

// A connected part of the surface that begins with `vertex` lies inside body `container`.
typedef struct NoliNested {
  int32_t vertex;    // global, the lowest of the part
  int32_t container; // body; that of the vertex itself where one part of a body is inside another
} NoliNested;

// Every connected part (triangles, segments, points) inside another body, or inside the material of
// its own body, of the bodies that meet by `pairs` (NULL: all), body by body and then by vertex and
// container. Only closed, consistently oriented parts enclose anything,
// in planes closed outlines; a cavity is outside. Every body may enclose others: that obstacles are
// surfaces without an inside, the caller has to know. What touches or crosses is found by
// noli_audit_intersections. `*nested` is released with noli_free, and NULL when there is none.
// Fails with NOLI_NOT_FINITE when a surface vertex is not finite.
NOLI_WARN_UNUSED NoliStatus noli_audit_nested(NoliContext* context, const NoliSurface* surface,
                                              const double* x, const NoliBodyPairs* pairs,
                                              NoliNested** nested, int64_t* n_nested);
