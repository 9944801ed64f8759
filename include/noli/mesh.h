/// @file mesh.h
/// Meshes of tetrahedra, triangles, segments and points: reading, writing, generating, checking.
#pragma once

#include "noli/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/// A mesh owns its arrays; it is made by the functions below only. Any of the four kinds of cells
/// may be absent (count 0, array NULL). Vertices of tetrahedra are ordered so that the volume is
/// positive: (x1-x0, x2-x0, x3-x0) is a right-handed triple. Triangles that bound tetrahedra look
/// outward.
typedef struct NoliMesh {
  int32_t n_vert;
  int32_t n_tet;
  int32_t n_tri;
  int32_t n_edge;
  int32_t n_point;
  double* x;        ///< (n_vert x 3) positions in metres
  int32_t* tet;     ///< (n_tet x 4)
  int32_t* tri;     ///< (n_tri x 3)
  int32_t* edge;    ///< (n_edge x 2) segments that stand alone, not the edges of triangles
  int32_t* point;   ///< (n_point) vertices that stand alone
  int32_t* tet_tag; ///< (n_tet) tag of each tetrahedron, 0 where untagged; NULL without tags
  int32_t* tri_tag; ///< (n_tri) tag of each triangle, 0 where untagged; NULL without tags
  int32_t order;    ///< of the shape of the tetrahedra: 0 or 1 straight, 2 to 4 curved
  int32_t n_curve;  ///< nodes of curved tetrahedra besides their vertices; 0 where straight
  double* curve_x;  ///< (n_curve x 3) their positions in metres; NULL where straight
  int32_t* curve;   ///< (n_tet x k) k = 6, 16, 31 for orders 2, 3, 4: the nodes of each tetrahedron
                    ///< that follow its vertices in Gmsh's order, as rows of curve_x; or NULL
} NoliMesh;

/// Highest order of a curved mesh.
#define NOLI_MESH_ORDER_MAX 4

/// An empty mesh with uninitialized arrays of the given sizes, with tags if `with_tags`.
NOLI_API NOLI_WARN_UNUSED NoliStatus noli_mesh_create(NoliContext* context, int32_t n_vert,
                                                      int32_t n_tet, int32_t n_tri, int32_t n_edge,
                                                      int32_t n_point, bool with_tags,
                                                      NoliMesh** mesh);

/// Releases the mesh and sets the pointer to NULL. NULL is allowed.
NOLI_API void noli_mesh_destroy(NoliContext* context, NoliMesh** mesh);

/// Reads a mesh; the suffix decides the format: .msh (Gmsh 2.2 and 4.1, ASCII and binary; physical
/// groups become tags), .vtk (legacy, ASCII and binary), .mesh (Medit, text), .inp (Abaqus and
/// CalculiX, one part; element sets become tags), .obj, .ply and .stl (ASCII and binary), .seg
/// (segments: `v x y z`, `s i j`), .pt (points: `v x y z`, every vertex is a point).
///
/// Cells keep the order and the orientation of the file. Polygons become triangles, a fan of the
/// first vertex where that is one without flat triangles, as of convex polygons; the others are cut
/// in their best-fit plane, and those that are not planar or cross themselves are logged.
/// Segments that are edges of a triangle or tetrahedron of the file, and points that are vertices
/// of another cell, do not stand alone and are left out. Vertices of no cell are kept. The vertices
/// of an STL file are merged where their positions are equal. Tags come from .msh, .mesh
/// (references), .vtk (a cell array of integers, also as floats, named tag,
/// material, CellEntityIds, medit:ref, region or similar; others are logged) and .inp (the
/// smallest element set with the cell; sets are numbered from 1 on in the order in which the file
/// first names them, and logged), and are NULL when every cell is untagged. Tetrahedra of 10, 20
/// and 35 nodes (.msh; .inp: 10) make a curved mesh; all must have the same order then. Their
/// nodes that are no vertices of any cell become nodes of curves; curved triangles and segments
/// must bound such tetrahedra and keep their vertices only. An OBJ file of two coordinates a vertex
/// lies in the plane z = 0. Coordinates that read `nan` or `inf` are accepted here and found by
/// noli_mesh_check.
///
/// Fails with NOLI_ERROR_IO, NOLI_ERROR_FORMAT, NOLI_ERROR_TOO_LARGE, NOLI_ERROR_MEMORY, or
/// NOLI_ERROR_ARGUMENT for an unknown suffix; the message names the file and the line or byte.
NOLI_API NOLI_WARN_UNUSED NoliStatus noli_mesh_read(NoliContext* context, const char* path,
                                                    NoliMesh** mesh);

/// Named sets of the vertices of a mesh. Never changes its size.
typedef struct NoliMeshSets {
  int32_t n;
  char** name;     ///< (n) as in the file
  int64_t* first;  ///< (n + 1)
  int32_t* vertex; ///< of set s, ascending: vertex[first[s]] .. vertex[first[s + 1] - 1]
} NoliMeshSets;

/// noli_mesh_read, also of the sets that the file names: node sets of .inp files, in the order of
/// the file, then element sets of other names, with the vertices of their elements, and surfaces of
/// other names, with the vertices of their faces; physical groups
/// with names of .msh files, with the vertices of their cells. Nodes that are no vertices (of
/// curves) are left out, and so are sets for internal use and labels of node sets that do not
/// exist. Files of other formats have no sets. Release `sets` with noli_mesh_sets_free.
NOLI_API NOLI_WARN_UNUSED NoliStatus noli_mesh_read_sets(NoliContext* context, const char* path,
                                                         NoliMesh** mesh, NoliMeshSets* sets);
/// Faces of named sets: those of sets of faces, as surfaces of .inp files and groups of triangles
/// of .msh files. Never changes its size.
typedef struct NoliMeshSides {
  int32_t n;      ///< as many as sets
  int64_t* first; ///< (n + 1)
  int32_t* tri;   ///< vertices of the faces of set s: tri[3 first[s]] .. tri[3 first[s + 1] - 1];
                  ///< none of a set that is not one of faces
} NoliMeshSides;

/// noli_mesh_read_sets, also of the faces of the sets. Release them with noli_mesh_sides_free.
NOLI_API NOLI_WARN_UNUSED NoliStatus noli_mesh_read_sides(NoliContext* context, const char* path,
                                                          NoliMesh** mesh, NoliMeshSets* sets,
                                                          NoliMeshSides* sides);
/// Releases what the faces own; of zeros is allowed.
NOLI_API void noli_mesh_sides_free(NoliContext* context, NoliMeshSides* sides);

/// Releases what the sets own; sets of zeros are allowed.
NOLI_API void noli_mesh_sets_free(NoliContext* context, NoliMeshSets* sets);

/// Writes a mesh; the suffix decides the format: .msh (4.1 ASCII), .vtk, .obj, .ply, .stl.
/// All are text with enough digits to read the same bits back. Tags are kept by .msh and .vtk.
/// Curved tetrahedra are written to .msh files, their triangles with vertices only.
/// An existing file is replaced only when the new one is complete.
/// Fails with NOLI_ERROR_IO (nothing is left behind) or NOLI_ERROR_ARGUMENT for a suffix that is
/// not known or cannot hold the cells of the mesh.
NOLI_API NOLI_WARN_UNUSED NoliStatus noli_mesh_write(NoliContext* context, const char* path,
                                                     const NoliMesh* mesh);

/// The boundary triangles of the tetrahedra (faces of exactly one of them), outward if the
/// tetrahedra are positive, in the order of the tetrahedra.
/// `*tri` (n_tri x 3) is owned by the caller and released with noli_mesh_free_array.
/// Fails with NOLI_ERROR_ARGUMENT if a tetrahedron names a vertex that does not exist.
NOLI_API NOLI_WARN_UNUSED NoliStatus noli_mesh_boundary(NoliContext* context, const NoliMesh* mesh,
                                                        int32_t** tri, int32_t* n_tri);

/// The edges that belong to one triangle of the mesh only, in the order of the triangles, directed
/// so that seen from +z the triangle lies on their left: the outline of a mesh in a plane.
/// `*edge` (n_edge x 2) is owned by the caller and released with noli_mesh_free_array.
/// Fails with NOLI_ERROR_ARGUMENT if a cell names a vertex that does not exist, NOLI_ERROR_MEMORY.
NOLI_API NOLI_WARN_UNUSED NoliStatus noli_mesh_outline(NoliContext* context, const NoliMesh* mesh,
                                                       int32_t** edge, int32_t* n_edge);

/// Every edge of the given triangles once, (lower, higher) vertex, sorted.
NOLI_API NOLI_WARN_UNUSED NoliStatus noli_mesh_edges(NoliContext* context, const int32_t* tri,
                                                     int32_t n_tri, int32_t** edge,
                                                     int32_t* n_edge);

/// Releases an array of noli_mesh_boundary, noli_mesh_outline or noli_mesh_edges and sets the
/// pointer to NULL.
NOLI_API void noli_mesh_free_array(NoliContext* context, int32_t** array);

/// The smallest box around points, with corners `low` and `high`; without any point, infinity and
/// -infinity. `x` (n x 3).
NOLI_API void noli_mesh_bounds(int32_t n, const double* x, double low[3], double high[3]);

/// Makes the volume of every tetrahedron, of curved ones that of their shape, positive by
/// exchanging two vertices. Returns how many were changed. Indices must be valid. Tetrahedra of
/// zero volume stay as they are.
NOLI_API int32_t noli_mesh_orient(NoliMesh* mesh);

/// Removes the vertices of no cell and renumbers the others in the same order.
/// Fails with NOLI_ERROR_ARGUMENT if a cell names a vertex that does not exist, NOLI_ERROR_MEMORY.
NOLI_API NOLI_WARN_UNUSED NoliStatus noli_mesh_remove_unused(NoliContext* context, NoliMesh* mesh);

/// Cuts every tetrahedron into 8, every triangle into 4 and every segment into 2, `times` times, at
/// the midpoints of edges. Volume and surface stay the same, cells keep orientation and tag, those
/// of one cell follow each other. Vertices keep their numbers; new ones follow, for each time in
/// the order of the edges (lower, higher vertex) that they halve, so that meshes with the same
/// cells are numbered alike. The octahedra inside tetrahedra are cut around their shortest
/// diagonal. Fails with NOLI_ERROR_ARGUMENT for a curved mesh, times < 0 or a cell with vertices
/// that do not exist, NOLI_ERROR_TOO_LARGE, NOLI_ERROR_MEMORY; the mesh is as it was then.
NOLI_API NOLI_WARN_UNUSED NoliStatus noli_mesh_refine(NoliContext* context, NoliMesh* mesh,
                                                      int32_t times);

/// Gives the tetrahedra the shape of that order, 1 to NOLI_MESH_ORDER_MAX: new nodes lie where the
/// present shape has them, so that raising the order changes nothing and lowering it interpolates.
/// Neighbours share the nodes of their edges and faces.
/// Fails with NOLI_ERROR_ARGUMENT for another order or a cell with vertices that do not exist,
/// NOLI_ERROR_TOO_LARGE, NOLI_ERROR_MEMORY; the mesh is as it was then.
NOLI_API NOLI_WARN_UNUSED NoliStatus noli_mesh_set_order(NoliContext* context, NoliMesh* mesh,
                                                         int32_t order);

/// Moves the nodes of a curved mesh that belong to a round part of its boundary onto that sphere or
/// cylinder: the nodes of boundary edges and faces all of whose vertices lie on it, within
/// `tolerance` times the radius. With `axis` NULL it is the sphere around `centre`, else the
/// cylinder around the line through `centre` along `axis`. `*n_moved` counts the nodes and may be
/// NULL. Inner nodes stay where they are: coarse elements may end up with a Jacobian that is not
/// positive, which simulations check. Fails with NOLI_ERROR_ARGUMENT for a straight mesh, a radius
/// or an axis that is not positive and finite, NOLI_ERROR_MEMORY.
NOLI_API NOLI_WARN_UNUSED NoliStatus noli_mesh_curve_onto(NoliContext* context, NoliMesh* mesh,
                                                          const double centre[3],
                                                          const double* axis, double radius,
                                                          double tolerance, int32_t* n_moved);

/// Makes an obstacle of a part of any mesh. "surface" (NULL: the default): boundary triangles of
/// tetrahedra, separate triangles, segments and points; "edges": the edges of that surface and its
/// separate segments, all as segments, and points; "points": the vertices of that surface, all as
/// points. The result is a new mesh without tetrahedra, whose vertices are those in use, in the
/// same order; curved tetrahedra count as straight. A triangle of `mesh` that is a face of a
/// tetrahedron is not repeated, but hands its tag to the boundary triangle. The vertices of a mesh
/// without any cells count as points. Fails with NOLI_ERROR_ARGUMENT for an unknown part or a cell
/// that names a vertex that does not exist, NOLI_ERROR_MEMORY.
NOLI_API NOLI_WARN_UNUSED NoliStatus noli_mesh_extract(NoliContext* context, const NoliMesh* mesh,
                                                       const char* part, NoliMesh** out);

/// Defects of a mesh. Cells are numbered consecutively: tetrahedra first, then triangles,
/// segments, points. Each `first_` is NOLI_NULL_INDEX if there is none.
typedef struct NoliMeshCheck {
  int32_t n_bad_coordinates;    ///< vertices, then nodes of curves, that are not finite
  int32_t n_bad_indices;        ///< cells that name a vertex that does not exist, or one twice
  int32_t n_inverted;           ///< tetrahedra of negative volume; curved ones whose determinant
                                ///< is not positive everywhere
  int32_t n_flat;               ///< tetrahedra of zero volume (relative to their longest edge)
  int32_t n_degenerate;         ///< triangles or segments of zero size
  int32_t n_duplicate_cells;    ///< cells that occur again, in any order of their vertices
  int32_t n_non_manifold_edges; ///< surface edges of more than two triangles; harmless for contact
  int32_t n_unused_vertices;    ///< vertices of no cell
  int32_t first_bad_vertex;     ///< vertex that is not finite
  int32_t first_inverted;       ///< tetrahedron
  int32_t first_flat;           ///< tetrahedron
  int32_t first_bad_cell;       ///< cell with bad indices
  int32_t first_degenerate;     ///< cell
  int32_t first_duplicate;      ///< cell that occurred before
  int32_t first_unused_vertex;
  int32_t first_non_manifold_edge[2]; ///< its two vertices
} NoliMeshCheck;

/// noli_mesh_check for a struct of `size` bytes.
NOLI_API NOLI_WARN_UNUSED NoliStatus noli_mesh_check_sized(NoliContext* context,
                                                           const NoliMesh* mesh,
                                                           NoliMeshCheck* check, size_t size);

/// Inspects any mesh, also a defective one: cells with bad indices are counted and then ignored,
/// and shapes are tested only where the coordinates are finite, curved ones everywhere in them
/// (docs/background/high-order.md). Zero size means below rounding:
/// 64 DBL_EPSILON times the power of the longest edge. Fails only with NOLI_ERROR_MEMORY or
/// NOLI_ERROR_TOO_LARGE; defects are reported in `*check`.
static inline NOLI_WARN_UNUSED NoliStatus noli_mesh_check(NoliContext* context,
                                                          const NoliMesh* mesh,
                                                          NoliMeshCheck* check) {
  return noli_mesh_check_sized(context, mesh, check, sizeof *check);
}

/// Changes that noli_mesh_clean made. Cells are numbered as in NoliMeshCheck, before. Never changes
/// its size.
typedef struct NoliMeshCleaned {
  int32_t n_vert;       ///< vertices before
  int32_t n_merged;     ///< of them became another one
  int32_t n_degenerate; ///< cells dropped that name a vertex twice or have no size
  int32_t n_duplicate;  ///< cells dropped that occurred before, in any order of their vertices
  double largest_move;  ///< m, greatest distance of a vertex from the one that it became
  int32_t* new_index;   ///< (n_vert) the number that each vertex has now
  int32_t* degenerate;  ///< (n_degenerate) ascending
  int32_t* duplicate;   ///< (n_duplicate) ascending
  double reserved[4];
} NoliMeshCleaned;

/// Mends a mesh, as of a scan: vertices within `tolerance` >= 0 (m) of an earlier one that is kept
/// become that one, 0 merges equal positions only; then cells that name a vertex twice, triangles
/// and segments without size (as noli_mesh_check finds them) and cells that occurred before are
/// dropped. Kept vertices stay where they are and keep their order, also those of no cell; so do
/// cells and their tags. Tetrahedra without volume stay unless they name a vertex twice. `*cleaned`
/// lists what was done; release it with noli_mesh_cleaned_free. Fails with NOLI_ERROR_ARGUMENT for
/// a curved mesh, another tolerance or a cell with vertices that do not exist,
/// NOLI_ERROR_TOO_LARGE, NOLI_ERROR_MEMORY; the mesh is as it was then.
NOLI_API NOLI_WARN_UNUSED NoliStatus noli_mesh_clean(NoliContext* context, NoliMesh* mesh,
                                                     double tolerance, NoliMeshCleaned* cleaned);
/// Releases what it owns; one of zeros is allowed.
NOLI_API void noli_mesh_cleaned_free(NoliContext* context, NoliMeshCleaned* cleaned);

/// How well tetrahedra are shaped. The scaled Jacobian of a tetrahedron is the smallest value, over
/// its corners and the nodes of its shape, of det J sqrt(2) / (product of the lengths of the three
/// edge vectors there): 1 for a regular one, 0 for a flat one, negative where it is inverted; of
/// curved tetrahedra with the tangents in place of edges. Never changes its size.
typedef struct NoliMeshQuality {
  double least;
  double mean;
  int32_t worst;          ///< tetrahedron with the least; NOLI_NULL_INDEX without any
  double worst_centre[3]; ///< m, mean of its corners
  int32_t n_below_tenth;  ///< tetrahedra below 0.1
  double reserved[4];
} NoliMeshQuality;

/// Measures the tetrahedra of a mesh with valid indices and finite coordinates. Without any all
/// values are 0.
NOLI_API NoliMeshQuality noli_mesh_quality(const NoliMesh* mesh);

/// x <- R (scale * x) + translation, R = Rx Ry Rz with angles in degrees. Multiples of 90 degrees
/// are exact. A scale that mirrors (negative product) also exchanges two vertices of every triangle
/// and tetrahedron, so that volumes stay positive and surfaces look outward.
NOLI_API void noli_mesh_transform(NoliMesh* mesh, const double scale[3],
                                  const double rotation_deg[3], const double translation[3]);

/// Built-in shapes, centred at the origin. Volume meshes are filled with tetrahedra, six for each
/// cell, cut so that no tetrahedron has two faces on a rounded boundary; with `surface` only their
/// boundary triangles remain, with the vertices in use. Lengths in metres, resolutions in cells.
/// All fail with NOLI_ERROR_ARGUMENT for a length that is not positive and finite or a resolution
/// that is too small, NOLI_ERROR_TOO_LARGE beyond the index range, NOLI_ERROR_MEMORY.
NOLI_API NOLI_WARN_UNUSED NoliStatus noli_mesh_make_box(NoliContext* context, const double size[3],
                                                        const int32_t cells[3], bool surface,
                                                        NoliMesh** mesh);
/// A ball of `cells` cells across; its boundary vertices lie on the sphere.
NOLI_API NOLI_WARN_UNUSED NoliStatus noli_mesh_make_sphere(NoliContext* context, double radius,
                                                           int32_t cells, bool surface,
                                                           NoliMesh** mesh);
/// A ball with a concentric cavity of radius `inner_radius`, below `radius`: as many triangles on
/// both sides as the surface of a ball of `cells` cells has, and `layers` layers of cells between.
NOLI_API NOLI_WARN_UNUSED NoliStatus noli_mesh_make_hollow_sphere(NoliContext* context,
                                                                  double radius,
                                                                  double inner_radius,
                                                                  int32_t cells, int32_t layers,
                                                                  bool surface, NoliMesh** mesh);
/// Axis along y.
NOLI_API NOLI_WARN_UNUSED NoliStatus noli_mesh_make_cylinder(NoliContext* context, double radius,
                                                             double height, int32_t cells_across,
                                                             int32_t cells_along, bool surface,
                                                             NoliMesh** mesh);
/// The ball of noli_mesh_make_sphere with tetrahedra of order `order`, 1 to NOLI_MESH_ORDER_MAX,
/// all of whose nodes follow the map that rounds the shape off: boundary nodes lie on the sphere.
NOLI_API NOLI_WARN_UNUSED NoliStatus noli_mesh_make_curved_sphere(NoliContext* context,
                                                                  double radius, int32_t cells,
                                                                  int32_t order, NoliMesh** mesh);
/// The cylinder of noli_mesh_make_cylinder with tetrahedra of order `order`; boundary nodes lie on
/// the cylinder.
NOLI_API NOLI_WARN_UNUSED NoliStatus noli_mesh_make_curved_cylinder(NoliContext* context,
                                                                    double radius, double height,
                                                                    int32_t cells_across,
                                                                    int32_t cells_along,
                                                                    int32_t order, NoliMesh** mesh);
/// A long box along x with a square section.
NOLI_API NOLI_WARN_UNUSED NoliStatus noli_mesh_make_rod(NoliContext* context, double length,
                                                        double width, int32_t cells_along,
                                                        int32_t cells_across, bool surface,
                                                        NoliMesh** mesh);
/// A thin plate in the xz plane with one layer of cells: 2 (n+1)(m+1) vertices, 6 n m tetrahedra.
NOLI_API NOLI_WARN_UNUSED NoliStatus noli_mesh_make_mat(NoliContext* context, double length_x,
                                                        double length_z, double thickness,
                                                        int32_t cells_x, int32_t cells_z,
                                                        bool surface, NoliMesh** mesh);
/// Axis along y; `ring_radius` to the middle of the tube, greater than `tube_radius`; at least
/// three cells around.
NOLI_API NOLI_WARN_UNUSED NoliStatus noli_mesh_make_torus(NoliContext* context, double ring_radius,
                                                          double tube_radius, int32_t cells_around,
                                                          int32_t cells_across, bool surface,
                                                          NoliMesh** mesh);
/// A bowl upside down: the part of a hollow ball of outer radius `radius`, centred at the origin,
/// within `angle_deg` in (0, 170] of the y axis; `thickness` below the radius. `cells` across, two
/// at least, and `cells_through` the wall.
NOLI_API NOLI_WARN_UNUSED NoliStatus noli_mesh_make_bowl(NoliContext* context, double radius,
                                                         double thickness, double angle_deg,
                                                         int32_t cells, int32_t cells_through,
                                                         bool surface, NoliMesh** mesh);
/// A rod along y with a screw thread: its radius is `radius` + depth / 2 cos(2 pi y / pitch -
/// angle), with the angle around y from x towards z. `depth` from 0, no thread, to below `radius`.
/// For a smooth thread six cells along for each pitch at least.
NOLI_API NOLI_WARN_UNUSED NoliStatus noli_mesh_make_bolt(NoliContext* context, double radius,
                                                         double length, double pitch, double depth,
                                                         int32_t cells_across, int32_t cells_along,
                                                         bool surface, NoliMesh** mesh);
/// The nut of that bolt if `inner_radius` is the radius of the bolt and some clearance, and both
/// are centred at the same place, or some pitches apart: six sides with corners at `outer_radius`,
/// one of them on the x axis. `cells_around` is a multiple of 6.
NOLI_API NOLI_WARN_UNUSED NoliStatus noli_mesh_make_nut(NoliContext* context, double inner_radius,
                                                        double outer_radius, double height,
                                                        double pitch, double depth,
                                                        int32_t cells_around, int32_t cells_through,
                                                        int32_t cells_along, bool surface,
                                                        NoliMesh** mesh);
/// A truss: balls of `joint_radius` on a cubic lattice, `spacing` apart, more than two radii,
/// joined by round struts, which are of `strut_radius` in their middle and widen towards the
/// joints. `cells_across` balls and struts, even, `cells_along` a strut. With tetrahedra of order
/// `order` nodes follow the round shape as far as elements stay valid.
NOLI_API NOLI_WARN_UNUSED NoliStatus noli_mesh_make_truss(NoliContext* context,
                                                          const int32_t joints[3], double spacing,
                                                          double joint_radius, double strut_radius,
                                                          int32_t cells_across, int32_t cells_along,
                                                          int32_t order, bool surface,
                                                          NoliMesh** mesh);
/// A flat sheet of triangles in the plane y = 0, looking up (+y), for obstacles and shells.
NOLI_API NOLI_WARN_UNUSED NoliStatus noli_mesh_make_plane(NoliContext* context, double size_x,
                                                          double size_z, int32_t cells_x,
                                                          int32_t cells_z, NoliMesh** mesh);

/// Segments in a row, for rods and obstacles: a straight line along x, centred at the origin. Fails
/// with NOLI_ERROR_ARGUMENT for a length that is not > 0 or a number of segments < 1,
/// NOLI_ERROR_MEMORY.
NOLI_API NOLI_WARN_UNUSED NoliStatus noli_mesh_make_line(NoliContext* context, double length,
                                                         int32_t n_segment, NoliMesh** mesh);
/// Segments along a helix around the y axis, centred at the origin, whose vertices lie on a
/// cylinder and rise by `pitch` in a turn. Without pitch, a closed ring of one turn. Needs at least
/// three segments a turn.
NOLI_API NOLI_WARN_UNUSED NoliStatus noli_mesh_make_helix(NoliContext* context, double radius,
                                                          double pitch, double turns,
                                                          int32_t n_segment, NoliMesh** mesh);
/// Segments along a curve, given as the polyline through `point` (n_point x 3), n_point >= 2.
/// Vertices lie on it at equal distances along it. The curve is closed if its last point is the
/// first one, up to 1e-9 of its length, and then has at least three segments. Fails with
/// NOLI_ERROR_ARGUMENT if it has no length or not a finite one.
NOLI_API NOLI_WARN_UNUSED NoliStatus noli_mesh_make_curve(NoliContext* context, const double* point,
                                                          int32_t n_point, int32_t n_segment,
                                                          NoliMesh** mesh);

/// Triangles in the plane z = 0, looking at +z, for bodies in plane strain: a rectangle.
NOLI_API NOLI_WARN_UNUSED NoliStatus noli_mesh_make_rectangle(NoliContext* context, double size_x,
                                                              double size_y, int32_t cells_x,
                                                              int32_t cells_y, NoliMesh** mesh);
/// Triangles of a disk in the plane z = 0, looking at +z, of `cells` >= 2 cells across, whose
/// boundary vertices lie on the circle.
NOLI_API NOLI_WARN_UNUSED NoliStatus noli_mesh_make_disk(NoliContext* context, double radius,
                                                         int32_t cells, NoliMesh** mesh);
/// Triangles of a polygon without holes in the plane z = 0, looking at +z, whose corners `point`
/// (n_point x 2) run around it counterclockwise; its triangles are cut into `cells` pieces along
/// each side. Sides of the polygon that cross are an error; corners in which two sides touch are
/// not all found.
NOLI_API NOLI_WARN_UNUSED NoliStatus noli_mesh_make_polygon(NoliContext* context,
                                                            const double* point, int32_t n_point,
                                                            int32_t cells, NoliMesh** mesh);

/// Any shape made of equal boxes: those cells of a grid over a box of `size` for which `filled`
/// (cells[0] x cells[1] x cells[2], z fastest) is true. Cells that meet in a face, an edge or a
/// corner only hang together there. Fails also if no cell is filled.
NOLI_API NOLI_WARN_UNUSED NoliStatus noli_mesh_make_voxels(NoliContext* context,
                                                           const double size[3],
                                                           const int32_t cells[3],
                                                           const bool* filled, bool surface,
                                                           NoliMesh** mesh);
/// A surface of revolution around y, for obstacles: bowls, funnels, plates with a hole, pins.
/// `profile` (n_point x 2) has distances from the axis and heights, joined by straight lines, of
/// which each becomes one ring of `cells_around` >= 3 plane pieces; vertices lie at those
/// distances. Distances are positive, but may be 0 at the two ends, which are points then. A
/// profile that ends where it began is closed. Triangles look to the right of one who walks along
/// the profile with the axis to the left of its heights: outward if it goes up, or around
/// counterclockwise.
NOLI_API NOLI_WARN_UNUSED NoliStatus noli_mesh_make_revolution(NoliContext* context,
                                                               const double* profile,
                                                               int32_t n_point,
                                                               int32_t cells_around,
                                                               NoliMesh** mesh);

/// A rectangle in the plane z = 0, looking at +z, in a pattern: "symmetric" (NULL), as
/// noli_mesh_make_rectangle, "diagonal", "alternating", "equilateral" (odd rows are shifted by half
/// a cell and have halves of triangles at both ends; cells_y / cells_x of 2 / sqrt(3) size_y /
/// size_x makes the others equilateral), or "unstructured": well-shaped triangles around irregular
/// vertices, the same in every run. NOLI_CHOICE_SHEET_PATTERN lists the names.
NOLI_API NOLI_WARN_UNUSED NoliStatus noli_mesh_make_sheet(NoliContext* context, double size_x,
                                                          double size_y, int32_t cells_x,
                                                          int32_t cells_y, const char* pattern,
                                                          NoliMesh** mesh);
/// A disk in the plane z = 0, looking at +z: a centre and `rings` >= 1 rings of 6, 12, ...
/// vertices, whose triangles are nearly equilateral.
NOLI_API NOLI_WARN_UNUSED NoliStatus noli_mesh_make_ring_disk(NoliContext* context, double radius,
                                                              int32_t rings, NoliMesh** mesh);
/// An open cylinder around y, looking outward: `cells_around` >= 3, in rows that are shifted by
/// half a cell.
NOLI_API NOLI_WARN_UNUSED NoliStatus noli_mesh_make_tube(NoliContext* context, double radius,
                                                         double height, int32_t cells_around,
                                                         int32_t cells_along, NoliMesh** mesh);
/// A sphere, looking outward: an icosahedron whose edges are cut into `subdivision` >= 1 pieces,
/// with 20 subdivision^2 triangles.
NOLI_API NOLI_WARN_UNUSED NoliStatus noli_mesh_make_icosphere(NoliContext* context, double radius,
                                                              int32_t subdivision, NoliMesh** mesh);
/// The surface of a ring around y, looking outward, of triangles between regular vertices: at least
/// three cells around the ring and across the tube.
NOLI_API NOLI_WARN_UNUSED NoliStatus
noli_mesh_make_torus_shell(NoliContext* context, double ring_radius, double tube_radius,
                           int32_t cells_around, int32_t cells_across, NoliMesh** mesh);
/// A Moebius strip around y of mean radius `radius`, `width` below the diameter: at least six cells
/// around. Its triangles cannot all be oriented alike.
NOLI_API NOLI_WARN_UNUSED NoliStatus noli_mesh_make_moebius(NoliContext* context, double radius,
                                                            double width, int32_t cells_around,
                                                            int32_t cells_across, NoliMesh** mesh);
/// Chain mail in the xz plane: rings[0] rings along x in each of rings[1] rows, each linked to two
/// rings of either neighbouring row ("European four in one"). Rings are closed lines of
/// `cells_around` >= 6 segments.
NOLI_API NOLI_WARN_UNUSED NoliStatus noli_mesh_make_chain_mail(NoliContext* context,
                                                               const int32_t rings[2],
                                                               double radius, int32_t cells_around,
                                                               NoliMesh** mesh);
/// Chain mail whose rings consist of tetrahedra, as those of noli_mesh_make_torus; `tube_radius` is
/// at most 0.15 of the radius.
NOLI_API NOLI_WARN_UNUSED NoliStatus noli_mesh_make_solid_chain_mail(
    NoliContext* context, const int32_t rings[2], double radius, double tube_radius,
    int32_t cells_around, int32_t cells_across, NoliMesh** mesh);

#ifdef __cplusplus
}
#endif
