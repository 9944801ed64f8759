// The mesh formats, one file each: a reader fills parts from a cursor, a writer prints a mesh.
#pragma once

#include "mesh/formats/text_file.h"
#include "mesh/parts.h"

typedef NoliStatus NoliReadFn(NoliCursor* cursor, NoliMeshParts* parts);
// A writer fails only if an allocation does: the file records write failures.
typedef NoliStatus NoliWriteFn(NoliTextFile* file, const NoliMesh* mesh);

// Reads a mesh; the sets and looks that `parts` wants stay in them, also on failure.
NOLI_WARN_UNUSED NoliStatus noli_mesh_read_parts(NoliContext* context, const char* path,
                                                 NoliMeshParts* parts, NoliMesh** mesh);

NoliReadFn noli_msh_read;
NoliReadFn noli_vtk_read;
NoliReadFn noli_medit_read;
NoliReadFn noli_inp_read;
NoliReadFn noli_obj_read;
NoliReadFn noli_ply_read;
NoliReadFn noli_stl_read;
NoliReadFn noli_seg_read;
NoliReadFn noli_pt_read;

NoliWriteFn noli_msh_write;
NoliWriteFn noli_vtk_write;
NoliWriteFn noli_obj_write;
NoliWriteFn noli_ply_write;
NoliWriteFn noli_stl_write;
