// Parts of a surface that lie inside a solid. If no surface crosses another one, a connected part
// is inside with all its vertices or with none, so that one vertex decides: by the winding number
// of the solid's boundary, counted along a ray. The result is exact in every case: rays that meet
// edges and vertices are shifted by an infinitesimal amount. This belongs to the exact audit
// (collide/audit.h) and shares no code with contact and collision detection.
#pragma once

#include "collide/body_pairs.h"
#include "collide/surface.h"

// A connected part of the surface that begins with `vertex` lies inside body `container`.
typedef struct NoliNested {
  int32_t vertex;    // global, the lowest of the part that no tie holds
  int32_t container; // body; the body of the vertex if one of its parts is inside another
} NoliNested;

// Finds every connected part (triangles, segments, points) inside another body, or inside the
// material of its own body. Only bodies that meet by `pairs` (NULL: all do) are tested. The list is
// sorted by body, vertex and container. Only closed, consistently oriented parts enclose anything,
// in planes closed outlines; a cavity is outside. Obstacles count as solids here: the caller knows
// that they are surfaces. noli_audit_intersections finds parts that touch or cross. The caller
// releases `*nested` with noli_free; it is NULL when there are none.
// Fails with NOLI_NOT_FINITE when a surface vertex is not finite.
NOLI_WARN_UNUSED NoliStatus noli_audit_nested(NoliContext* context, const NoliSurface* surface,
                                              const double* x, const NoliBodyPairs* pairs,
                                              NoliNested** nested, int64_t* n_nested);
