// The kind of a body determines which cells of its mesh are its elements, and how they deform.
//
// Blocks of elements, surfaces, selections, frames and checks all use this definition.
#pragma once

#include "noli/sim.h"

typedef enum NoliBodyKind {
  NOLI_BODY_SOLID,        // tetrahedra
  NOLI_BODY_PLANE_STRAIN, // triangles in a plane
  NOLI_BODY_SHELL,        // triangles in space
  NOLI_BODY_ROD,          // segments
  NOLI_BODY_POINTS        // points
} NoliBodyKind;

// The cells of a mesh that are elements.
typedef struct NoliBodyCells {
  int32_t n;
  int32_t size;          // vertices of a cell
  const int32_t* vertex; // (n x size) borrowed from the mesh
  const int32_t* tag;    // (n) likewise; NULL: none
  const char* noun;      // of one of them, for messages
} NoliBodyCells;

// The kind of a deformable body. An obstacle in plane strain is also NOLI_BODY_PLANE_STRAIN,
// because it collides with its outline. All other obstacles are NOLI_BODY_SOLID.
NoliBodyKind noli_body_kind(const NoliBodyDef* body);

NoliBodyCells noli_body_cells(NoliBodyKind kind, const NoliMesh* mesh);

// The mean of the vertices of a cell at rest.
void noli_body_cell_centre(const NoliBodyCells* cells, const NoliMesh* mesh, int32_t cell,
                           double centre[3]);
