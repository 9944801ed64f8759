// Declarations shared by the parts of the reader of PolyFEM scenes (import.c is the driver).
//
// A PolyFEM scene is spread over files: each may name a `common` file that it changes, by merging
// and by a list of patches. All parts walk the one tree that results, in nodes whose messages name
// the file and the line where the value was written.
//
// Boundary conditions there act on faces by number; here on vertices. So meshes are loaded, faces
// numbered by their rules, and every vertex finds its condition (select, boundary).
#pragma once

#include "base/array.h"
#include "noli/mesh.h"
#include "text/node.h"
#include "text/json.h"

enum { NOLI_POLYFEM_MAX_FILES = 16 };

typedef struct NoliPolyfemFile {
  const char* name;
  char* owned_name; // NULL for the first file, whose text belongs to the caller
  char* owned_text;
  const char* text;
  size_t size;
  json_t* tree;
} NoliPolyfemFile;

// The first is the scene itself, each other one the `common` file of the one before.
typedef struct NoliPolyfemFiles {
  NoliPolyfemFile file[NOLI_POLYFEM_MAX_FILES];
  int32_t count;
} NoliPolyfemFiles;

// A deformable entry of `geometry`.
typedef struct NoliPolyfemBody {
  size_t entry;   // in `geometry`
  json_t* names;  // of the native bodies made from it
  NoliMesh* mesh; // placed
  bool* used;     // (n_vert) vertices of cells
  bool* boundary; // (n_vert) vertices of the boundary
  int32_t* face;  // (n_face x face_size) boundary: triangles, in a plane edges
  int32_t n_face;
  int32_t face_size;
  int32_t* face_id; // (n_face); NULL: no faces are selected
  int32_t* node_id; // (n_vert); NULL: no points are selected
  int32_t body_id;
} NoliPolyfemBody;

typedef struct NoliPolyfem {
  NoliSceneSource source; // its messages name the right file
  NoliPolyfemFiles files;
  json_t* tree; // merged
  NoliSceneNode root;
  NoliSceneNode geometry;
  json_t* scene; // native, as far as it was made
  bool flat;     // a scene in a plane, of two components: plane strain, 1 m thick
  double t0;
  double time_step;
  double shortest_edge; // of all surfaces at rest, m
  NOLI_ARRAY(NoliPolyfemBody) bodies;
} NoliPolyfem;

// ---- files (common.c) -------------------------------------------------------------------

// Reads the common files and puts the tree together. `parsed` is the tree of the first file.
NOLI_WARN_UNUSED NoliStatus noli_polyfem_read_files(NoliPolyfem* import, json_t* parsed);
void noli_polyfem_release_files(NoliPolyfem* import);

// ---- keys (keys.c) ----------------------------------------------------------------------

// Fails at keys that are not known and at those that would change the physics and have no
// counterpart; logs those that have no meaning here.
NOLI_WARN_UNUSED NoliStatus noli_polyfem_check_keys(NoliPolyfem* import);

// ---- values (value.c) -------------------------------------------------------------------

typedef enum NoliPolyfemUnit {
  NOLI_POLYFEM_NONE,
  NOLI_POLYFEM_LENGTH,
  NOLI_POLYFEM_TIME,
  NOLI_POLYFEM_VELOCITY,
  NOLI_POLYFEM_ACCELERATION,
  NOLI_POLYFEM_STRESS,
  NOLI_POLYFEM_DENSITY,
} NoliPolyfemUnit;

// The factor from a unit to the SI unit; fails at the node if it is not known.
NOLI_WARN_UNUSED NoliStatus noli_polyfem_unit(const NoliPolyfem* import, const NoliSceneNode* node,
                                              const char* name, NoliPolyfemUnit kind,
                                              double* factor);
// Reads a number, or {"value": number, "unit": text}; `*value` stays as it is when the node has
// none.
NOLI_WARN_UNUSED NoliStatus noli_polyfem_number(const NoliPolyfem* import,
                                                const NoliSceneNode* node, NoliPolyfemUnit kind,
                                                double* value);
// Reads an integer; `*value` stays as it is when the node has none.
NOLI_WARN_UNUSED NoliStatus noli_polyfem_integer(const NoliPolyfem* import,
                                                 const NoliSceneNode* node, int32_t* value);
NOLI_WARN_UNUSED NoliStatus noli_polyfem_bool(const NoliPolyfem* import, const NoliSceneNode* node,
                                              bool* value);
// `*text` is borrowed.
NOLI_WARN_UNUSED NoliStatus noli_polyfem_text(const NoliPolyfem* import, const NoliSceneNode* node,
                                              const char** text);
// A list of up to three numbers; those that lack are 0. `*n` is 0 when the node has no value, and 3
// for the two components of a scene in a plane.
NOLI_WARN_UNUSED NoliStatus noli_polyfem_vector(const NoliPolyfem* import,
                                                const NoliSceneNode* node, NoliPolyfemUnit kind,
                                                double value[3], int32_t* n);
// A number or an expression, times `factor` and, if not NULL, times the expression `shape` in t.
NOLI_WARN_UNUSED NoliStatus noli_polyfem_expression(const NoliPolyfem* import,
                                                    const NoliSceneNode* node, NoliPolyfemUnit kind,
                                                    double factor, const char* shape, json_t** out);

// Entries of a node that holds one entry or a list of them.
size_t noli_polyfem_count(const NoliSceneNode* node);
NoliSceneNode noli_polyfem_entry(const NoliSceneNode* node, size_t index);
// Whether an "id" (a number or a list of numbers) names `id`.
bool noli_polyfem_has_id(const NoliSceneNode* node, int32_t id);

// ---- the native tree (value.c) ----------------------------------------------------------

// Sets a member of an object to a new reference; fails when memory is exhausted.
NOLI_WARN_UNUSED NoliStatus noli_polyfem_set(const NoliPolyfem* import, json_t* object,
                                             const char* key, json_t* value);
NOLI_WARN_UNUSED NoliStatus noli_polyfem_push(const NoliPolyfem* import, json_t* list,
                                              json_t* value);
// Integers where the value is one: as a person writes.
json_t* noli_polyfem_json_number(double value);
json_t* noli_polyfem_json_vector(const double value[3]);
// The list `key` of the native scene, made when it is not there. Borrowed; NULL: no memory.
json_t* noli_polyfem_list(const NoliPolyfem* import, const char* key);

// ---- parts --------------------------------------------------------------------------------------

// geometry -> bodies, obstacles, half_spaces. (geometry.c)
NOLI_WARN_UNUSED NoliStatus noli_polyfem_read_geometry(NoliPolyfem* import);
void noli_polyfem_release_bodies(NoliPolyfem* import);

// The files of a "mesh_sequence": a list, the meshes in a folder, or those that match a pattern, in
// natural order of their names. `*names` is a new list of one at least. (sequence.c)
NOLI_WARN_UNUSED NoliStatus noli_polyfem_sequence_files(NoliPolyfem* import,
                                                        const NoliSceneNode* node, json_t** names);

// Where an entry goes, as the native keys say it. `bounds` are those of the mesh before.
// (transform.c)
typedef struct NoliPolyfemPlacement {
  double scale[3];
  double rotate[3]; // deg, Rx Ry Rz
  double translate[3];
} NoliPolyfemPlacement;

NOLI_WARN_UNUSED NoliStatus noli_polyfem_read_placement(NoliPolyfem* import,
                                                        const NoliSceneNode* entry,
                                                        const NoliMesh* mesh,
                                                        NoliPolyfemPlacement* placement);

// The native "material" and the initial velocity of what has this number; messages without a place
// of their own are located at `entry`. (material.c)
NOLI_WARN_UNUSED NoliStatus noli_polyfem_read_material(NoliPolyfem* import,
                                                       const NoliSceneNode* entry, int32_t id,
                                                       json_t** material);
NOLI_WARN_UNUSED NoliStatus noli_polyfem_read_velocity(NoliPolyfem* import, int32_t id,
                                                       double velocity[3]);
// Order of the elements of a body and its collision proxy, into the native body. (import.c)
NOLI_WARN_UNUSED NoliStatus noli_polyfem_read_elements(NoliPolyfem* import, int32_t body_id,
                                                       json_t* native);
// Fails where initial displacements or accelerations are not 0.
NOLI_WARN_UNUSED NoliStatus noli_polyfem_check_initial(NoliPolyfem* import);

// The numbers of the faces, the points and the body. (select.c)
NOLI_WARN_UNUSED NoliStatus noli_polyfem_select(NoliPolyfem* import, NoliPolyfemBody* body);

// boundary_conditions -> gravity, forces, prescribed, motion of obstacles. (boundary.c)
NOLI_WARN_UNUSED NoliStatus noli_polyfem_read_boundary(NoliPolyfem* import);
// Appends the factor in t of an interpolation; nothing for none. (interpolation.c)
NOLI_WARN_UNUSED NoliStatus noli_polyfem_append_interpolation(NoliPolyfem* import,
                                                              const NoliSceneNode* node,
                                                              NoliSceneText* text);
// The motion of an obstacle whose surface has this number; NULL: it stands still.
NOLI_WARN_UNUSED NoliStatus noli_polyfem_obstacle_motion(NoliPolyfem* import, int32_t id,
                                                         json_t** motion);

#define NOLI_POLYFEM_CHECK(import, node, condition, ...)                                           \
  NOLI_SCENE_CHECK(&(import)->source, (node), (condition), __VA_ARGS__)
