// Cells as tuples of vertices: sorting, matching, validating.
#pragma once

#include "base/context.h"
#include "base/named.h"
#include "noli/mesh.h"

// The parts of a mesh that noli_mesh_extract makes obstacles of.
enum { NOLI_MESH_SURFACE, NOLI_MESH_EDGES, NOLI_MESH_POINTS, NOLI_MESH_PARTS };
extern const NoliNamed noli_mesh_parts[NOLI_MESH_PARTS];

// The vertices of the face opposite to each vertex of a positive tetrahedron, oriented outward.
extern const int32_t noli_tet_face[4][3];

// The vertices of the edges of a tetrahedron.
extern const int32_t noli_tet_edge[6][2];

// Sorts n tuples of `width` nonnegative indices: `order` (n) receives their positions in ascending
// lexicographic order; equal tuples keep their order. Linear in n.
NOLI_WARN_UNUSED NoliStatus noli_sort_tuples(NoliContext* context, const int32_t* tuple,
                                             int32_t width, int32_t n, int32_t* order);

// -1, 0, 1 as tuple a is before, equal to, after tuple b.
int noli_compare_tuples(const int32_t* a, const int32_t* b, int32_t width);

// Copies n tuples with the vertices of each in ascending order.
void noli_ascending_tuples(const int32_t* cell, int32_t width, int64_t n, int32_t* tuple);

// Lists the edges of all tetrahedra (6 each), triangles (3 each) and segments of a mesh as
// ascending pairs: pair ((6 n_tet + 3 n_tri + n_edge) x 2).
void noli_list_sides(const NoliMesh* mesh, int32_t* pair);

// The cells of one kind of a mesh, for loops over kinds.
typedef struct NoliCells {
  const char* name;
  int32_t* vertex; // (n x width)
  int32_t n;
  int32_t width;
} NoliCells;

// Tetrahedra, triangles, segments, points.
enum { NOLI_N_CELL_KINDS = 4 };
void noli_mesh_cells(const NoliMesh* mesh, NoliCells cells[NOLI_N_CELL_KINDS]);

// Whether a triangle or segment (width 3 or 2) of finite vertices has no size, relative to its
// longest edge; false for other cells.
bool noli_has_no_size(const NoliMesh* mesh, const int32_t* vertex, int32_t width);

// Fails with NOLI_ERROR_ARGUMENT and names the first cell with a vertex that does not exist.
NOLI_WARN_UNUSED NoliStatus noli_mesh_validate(NoliContext* context, const NoliMesh* mesh);

// Marks the faces that belong to a single tetrahedron: boundary (n_tet x 4), by the corner opposite
// to the face. The four corners of tetrahedron t begin at tet[t * stride].
NOLI_WARN_UNUSED NoliStatus noli_tet_boundary(NoliContext* context, int32_t n_tet,
                                              const int32_t* tet, int32_t stride,
                                              uint8_t* boundary);

// Whether the normal of the triangle with vertices `t` (3) has a component along +z that is not
// negative.
bool noli_is_upward(const NoliMesh* mesh, const int32_t* t);

// The triangles of the surface: the boundary of the tetrahedra, then the triangles that are not
// faces of tetrahedra. `*tri_tag` is NULL if the mesh has no triangle tags. Both are owned by the
// caller. Indices must be valid.
NOLI_WARN_UNUSED NoliStatus noli_mesh_surface(NoliContext* context, const NoliMesh* mesh,
                                              int32_t** tri, int32_t** tri_tag, int32_t* n_tri);

// Validator of meshes that the library made (base/validate.h); noli_mesh_validate is for those that
// users bring.
const char* noli_mesh_defect(const NoliMesh* mesh);
