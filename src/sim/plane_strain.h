// Bodies in plane strain: meshes of triangles in the plane of x and y.
#pragma once

#include "noli/sim.h"

// Fails with NOLI_ERROR_ARGUMENT where a body that is in plane strain is no mesh of triangles in a
// plane z = const, would leave it, or meets what is not made for planes; the message names the
// body.
NOLI_WARN_UNUSED NoliStatus noli_plane_strain_check(NoliContext* context, const NoliSimDef* def);

// Elements of a body whose vertices begin with number `first`, as fem/tets.h wants them: (n_tri x
// 4), looking upward.
void noli_plane_strain_elements(const NoliMesh* mesh, int32_t first, int32_t* tet);
