// How the faces of a file look, as readers of meshes find it: part of the data from which a mesh is
// made (mesh/parts.h), only where it is wanted.
#pragma once

#include "mesh/looks.h"
#include "text/cursor.h"

// A corner of a face; `uv`: its texture coordinate, or NOLI_NULL_INDEX.
typedef struct NoliLooksCorner {
  int32_t vertex;
  int32_t uv;
} NoliLooksCorner;

// The triangles of a face, with all of its corners.
typedef struct NoliLooksFace {
  int64_t first_tri, n_tri;
  int64_t first_corner, n_corner;
  int32_t material, group;
} NoliLooksFace;

typedef struct NoliPartsLooks {
  bool wanted;
  NOLI_ARRAY(double) uv; // 2 for each texture coordinate
  NOLI_ARRAY(NoliLooksFace) face;
  NOLI_ARRAY(NoliLooksCorner) corner;
  NoliLookNames materials, groups, libraries;
  int32_t material, group; // of the faces that follow, from 1 on; 0: none
} NoliPartsLooks;

void noli_looks_parts_free(NoliContext* context, NoliPartsLooks* looks);
void noli_look_names_free(NoliContext* context, NoliLookNames* names);

// Adds a texture coordinate; numbers that are not finite are 0.
NOLI_WARN_UNUSED NoliStatus noli_looks_add_uv(NoliContext* context, NoliPartsLooks* looks, double u,
                                              double v);

// The number, from 1 on, of the name on the rest of the line; 0 where there is none.
NOLI_WARN_UNUSED NoliStatus noli_looks_take_name(NoliCursor* cursor, NoliLookNames* names,
                                                 int32_t* number);

// Adds a face, whose triangles from `first_tri` on are in the mesh. Names of texture coordinates
// may precede these.
NOLI_WARN_UNUSED NoliStatus noli_looks_add_face(NoliContext* context, NoliPartsLooks* looks,
                                                int64_t first_tri, int64_t n_tri, int64_t n_corner,
                                                const int32_t* vertex, const int32_t* uv);
