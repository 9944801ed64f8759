// The kind of a body determines which cells of its mesh are its elements, and how they deform.
//
// Blocks of elements, surfaces, selections, frames, checks and scenes ask this table. A new kind is
// a NoliBodyKind and a line in NOLI_BODY_KINDS, its keys in the scene format and, unless it has the
// elements of others, a block of elements (fem/block.h).
#pragma once

#include "base/array.h"
#include "noli/definition.h"

// The cells of a mesh that are elements.
typedef struct NoliBodyCells {
  int32_t n;
  int32_t size;          // vertices of a cell
  const int32_t* vertex; // (n x size) borrowed from the mesh
  const int32_t* tag;    // (n) tags of the cells, borrowed from the mesh; NULL: none
} NoliBodyCells;

typedef NOLI_ARRAY(void*) NoliMadeMemory;

typedef struct NoliBodyKind {
  const char* key;  // of a body in scenes; NULL: the kind of those without such a key
  const char* what; // a body of this kind is ..., in messages
  const char* cell; // one of its elements, and all of them
  const char* cells_name;
  const char* part; // of a mesh without such cells that gives it some (noli/mesh.h); NULL: none
  bool fills;       // elements fill a body: their materials may have histories and fibres
  bool encloses;    // its surface can have an inside
  bool planar;      // its outline in a plane collides
  bool carried;     // vertices of the host are those that `expand` makes the elements carry
  bool own_tri;     // its own triangles, segments or points collide
  bool own_edge;
  bool own_point;
  bool (*is)(const NoliBodyDef* body);
  NoliBodyCells (*cells)(const NoliMesh* mesh);
  // Replaces the mesh that the host gives by one of elements, which carry the given one as proxy.
  // `made` owns what is allocated for it. Once that is done it does nothing. NULL: the mesh stays.
  NoliStatus (*expand)(NoliContext* context, NoliBodyDef* body, NoliMadeMemory* made);
} NoliBodyKind;

// All kinds; the first that a body is counts. X(name) is noli_body_NAME.
#define NOLI_BODY_KINDS(X)                                                                         \
  X(plane_strain) /* triangles in a plane */                                                       \
  X(shell)        /* triangles in space */                                                         \
  X(rod)          /* segments */                                                                   \
  X(points)       /* free particles */                                                             \
  X(rigid)        /* four nodes that carry a surface */                                            \
  X(solid)        /* tetrahedra, all other bodies */

#define NOLI_BODY_KIND(name) extern const NoliBodyKind noli_body_##name;
NOLI_BODY_KINDS(NOLI_BODY_KIND)
#undef NOLI_BODY_KIND

// All kinds, by index from 0; NULL behind the last one.
const NoliBodyKind* noli_body_kind_at(int32_t index);

// The kind of a deformable body. An obstacle in plane strain is noli_body_plane_strain, because it
// collides with its outline. All other obstacles are noli_body_solid.
const NoliBodyKind* noli_body_kind(const NoliBodyDef* body);

// The mesh whose vertices the host numbers: that of a body, or what `expand` has made it carry.
const NoliMesh* noli_body_given_mesh(const NoliBodyDef* body);

// The cells of its mesh that are the elements of a body.
NoliBodyCells noli_body_elements(const NoliBodyDef* body);

// The mean of the vertices of a cell at rest.
void noli_body_cell_centre(const NoliBodyCells* cells, const NoliMesh* mesh, int32_t cell,
                           double centre[3]);
