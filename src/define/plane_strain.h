// Bodies in plane strain: meshes of triangles in the plane of x and y.
#pragma once

#include "noli/sim.h"

// Fails with NOLI_ERROR_ARGUMENT if a body in plane strain is not a mesh of triangles in a plane z
// = const, would leave it, or uses a feature that is not supported in plane strain; the message
// names the body.
NOLI_WARN_UNUSED NoliStatus noli_plane_strain_check(NoliContext* context, const NoliSimDef* def);

// Elements of a body whose vertices start at number `first`, in the form of fem/tets.h: (n_tri x
// 4), facing upward.
void noli_plane_strain_elements(const NoliMesh* mesh, int32_t first, int32_t* tet);
