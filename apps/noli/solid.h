// Solids from surfaces: what `noli mesh` does.
#pragma once

#include "console.h"

#include "noli/mesh.h"

// A closed surface, and the solids it bounds.
typedef struct Surface {
  NoliMesh* mesh;     // triangles only
  int32_t* component; // (n_tri) connected part of each triangle
  int32_t n_components;
  int32_t* solid; // (n_components) solid that the part bounds
  bool* cavity;   // (n_components) from inside
  int32_t n_solids;
} Surface;

// The options of the mesh to make.
typedef struct SolidOptions {
  double size;   // m, of elements; 0: the triangles stay as they are
  int32_t order; // 1 to 4
} SolidOptions;

// Takes the triangles of a mesh file (of tetrahedra, their boundary) and finds out what they bound.
// Says what is wrong, with the places: EXIT_BAD_INPUT if they are not closed, cross themselves or
// have no size.
int surface_read(Console* console, NoliContext* context, const char* path, Surface* surface);
void surface_free(NoliContext* context, Surface* surface);

// Whether this build can fill surfaces (gmsh.c or without_gmsh.c).
bool solid_can_fill(void);

// Fills the surface with tetrahedra, whose tags are the numbers of the solids from 1 on. Fails with
// NOLI_ERROR_BACKEND and what Gmsh says. `scratch` is a path for a file that is removed.
NOLI_WARN_UNUSED NoliStatus solid_fill(NoliContext* context, const Surface* surface,
                                       const SolidOptions* options, const char* scratch,
                                       NoliMesh** solid);
