// How surfaces look, beside their shape: texture coordinates of the triangles of a Wavefront OBJ or
// PLY file, and the names of materials and groups of an OBJ file. Meshes do not have them, and no
// simulation needs them; results for other programs do.
#pragma once

#include "base/array.h"
#include "noli/mesh.h"

typedef NOLI_ARRAY(char*) NoliLookNames;

typedef struct NoliMeshLooks {
  int32_t n_tri;
  int32_t* vertex;       // (n_tri x 3) of the file
  double* x;             // (n_tri x 9) positions of the corners
  NOLI_ARRAY(double) uv; // 2 for each texture coordinate
  int32_t* corner_uv;    // (n_tri x 3) which of them; NOLI_NULL_INDEX: none
  int32_t* material;     // (n_tri) which name; NOLI_NULL_INDEX: none
  int32_t* group;        // (n_tri) which name; NOLI_NULL_INDEX: none
  NoliLookNames materials, groups;
  NoliLookNames libraries; // names of the files of materials, as the file has them
} NoliMeshLooks;

// Reads them of an .obj or .ply file; all zeros where it has neither texture coordinates nor names.
// Fails as noli_mesh_read.
NOLI_WARN_UNUSED NoliStatus noli_mesh_read_looks(NoliContext* context, const char* path,
                                                 NoliMeshLooks* looks);
void noli_mesh_free_looks(NoliContext* context, NoliMeshLooks* looks);

// Splits every triangle as noli_mesh_refine does once.
NOLI_WARN_UNUSED NoliStatus noli_mesh_refine_looks(NoliContext* context, NoliMeshLooks* looks);
