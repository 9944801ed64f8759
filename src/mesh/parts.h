// The data from which readers build a mesh.
#pragma once

#include "base/array.h"
#include "mesh/looks_parts.h"
#include "text/cursor.h"
#include "noli/mesh.h"

// A vertex in a named set.
typedef struct NoliSetMember {
  int32_t set; // index of its name
  int32_t vertex;
} NoliSetMember;

// A face in a named set: a triangle of the file, whose vertices are known once polygons are cut, or
// a side of a tetrahedron.
typedef struct NoliSetFace {
  int32_t set;
  int32_t tri; // NOLI_NULL_INDEX: a side
  int32_t vertex[3];
} NoliSetFace;

// The sets that a file names; readers fill them only where they are wanted.
typedef struct NoliPartsSets {
  bool wanted;
  NOLI_ARRAY(char*) name;
  NOLI_ARRAY(NoliSetMember) member; // in any order, also several times
  NOLI_ARRAY(NoliSetFace) face; // in any order, also several times; their vertices are members, too
} NoliPartsSets;

// A polygon of the file whose triangles are in place, but not yet cut out of it.
typedef struct NoliPartsPolygon {
  int64_t first_tri;
  int64_t first_corner;
  int32_t n;
} NoliPartsPolygon;

// Contents of a file that are not used, as text for the log; names that have no room are counted.
typedef struct NoliPartsUnused {
  char text[1000];
  int64_t n_more;
} NoliPartsUnused;

typedef struct NoliMeshParts {
  NOLI_ARRAY(double) x;        // 3 per vertex
  NOLI_ARRAY(int32_t) tet;     // 4 per tetrahedron
  NOLI_ARRAY(int32_t) tri;     // 3 per triangle
  NOLI_ARRAY(int32_t) edge;    // 2 per segment
  NOLI_ARRAY(int32_t) point;   // 1 per point
  NOLI_ARRAY(int32_t) tet_tag; // 1 per tetrahedron
  NOLI_ARRAY(int32_t) tri_tag; // 1 per triangle
  int32_t order;               // of the tetrahedra; 0 before the first
  NOLI_ARRAY(int32_t) curve;   // additional nodes of each curved tetrahedron
  NOLI_ARRAY(int32_t) bent;    // additional nodes of curved triangles and segments
  NoliPartsSets sets;
  NOLI_ARRAY(NoliPartsPolygon) polygon; // of more than three vertices
  NOLI_ARRAY(int32_t) corner;           // of the polygons
  NoliPartsUnused unused;
  NoliPartsLooks looks;
} NoliMeshParts;

void noli_parts_free(NoliContext* context, NoliMeshParts* parts);

static inline int64_t noli_parts_n_vert(const NoliMeshParts* parts) {
  return parts->x.count / 3;
}

// Appends `n` vertices; the caller writes the 3 n coordinates.
NOLI_WARN_UNUSED NoliStatus noli_parts_add_vertices(NoliContext* context, NoliMeshParts* parts,
                                                    int64_t n, double** x);

// Adds a cell of 1 (point), 2 (segment), 3 (triangle) or 4 (tetrahedron) vertices. Only triangles
// and tetrahedra have tags.
NOLI_WARN_UNUSED NoliStatus noli_parts_add_cell(NoliContext* context, NoliMeshParts* parts,
                                                int32_t n_vertex, const int32_t* vertex,
                                                int32_t tag);

// Adds a polygon of n vertices, which becomes n - 2 triangles; a vertex that follows itself counts
// once. Vertices may come later: noli_parts_to_mesh cuts it.
NOLI_WARN_UNUSED NoliStatus noli_parts_add_polygon(NoliContext* context, NoliMeshParts* parts,
                                                   int64_t n, const int32_t* vertex, int32_t tag);

// The number of triangles of a polygon, before or after it is cut.
int64_t noli_parts_polygon_triangles(int64_t n, const int32_t* vertex);

// Notes something that is not used, such as the "cell array" of that name, which may be empty.
void noli_parts_note_unused(NoliMeshParts* parts, const char* kind, NoliSpan name);

// Logs it.
void noli_parts_log_unused(NoliContext* context, const char* path, const NoliMeshParts* parts);

// Adds a set; its members are added by its index, name.count - 1. Adds a member.
NOLI_WARN_UNUSED NoliStatus noli_parts_add_set(NoliContext* context, NoliMeshParts* parts,
                                               NoliSpan name);
NOLI_WARN_UNUSED NoliStatus noli_parts_add_member(NoliContext* context, NoliMeshParts* parts,
                                                  int32_t set, int32_t vertex);

// Adds the triangles from `first` on, which may be those of a polygon, and their vertices as
// members.
NOLI_WARN_UNUSED NoliStatus noli_parts_add_triangles_to_set(NoliContext* context,
                                                            NoliMeshParts* parts, int32_t set,
                                                            int64_t first, int64_t n);

// Adds a side of a tetrahedron and its vertices as members.
NOLI_WARN_UNUSED NoliStatus noli_parts_add_face(NoliContext* context, NoliMeshParts* parts,
                                                int32_t set, const int32_t vertex[3]);

// The faces of the sets of parts, before their sets are taken.
NOLI_WARN_UNUSED NoliStatus noli_parts_to_sides(NoliContext* context, NoliMeshParts* parts,
                                                NoliMeshSides* sides);

// The sets of parts whose mesh has been made, which are empty then.
NOLI_WARN_UNUSED NoliStatus noli_parts_to_sets(NoliContext* context, NoliMeshParts* parts,
                                               NoliMeshSets* sets);

// Makes the mesh and leaves the parts empty, except for the sets and looks. Cuts polygons into
// triangles and logs those that are not planar or cross themselves. Separates nodes that only
// curves use from the vertices. Drops tags that are all zero, segments that are edges of other
// cells and points that are vertices of other cells. Fails without vertices, and if indices exceed
// 32 bits.
NOLI_WARN_UNUSED NoliStatus noli_parts_to_mesh(NoliContext* context, const char* path,
                                               NoliMeshParts* parts, NoliMesh** mesh);
