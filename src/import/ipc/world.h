// The shapes of a text scene, read and placed: what the named motions and the native scene are made
// from. A shape, or each copy of a matrix of shapes, is one part.
#pragma once

#include "math/mat3.h"
#include "noli/mesh.h"
#include "import/ipc/script.h"

// A mesh file, read once however often it is used.
typedef struct NoliIpcFile {
  NoliSpan path;  // as in the scene
  char* name;     // as in the native scene: relative to its folder
  const char* as; // "edges" or "points" where triangles stand for them; else NULL
  NoliMesh* mesh;
  bool* surface; // (n_vert) vertices that boxes can select
} NoliIpcFile;

typedef struct NoliIpcPart {
  const NoliIpcShape* shape;
  int32_t file;
  int32_t copy;   // in its matrix
  bool solid;     // has tetrahedra
  bool kinematic; // all of it is prescribed: becomes an obstacle
  char* name;
  double scale[3], rotate[3], translate[3]; // of the native scene
  double* X;                                // (n_vert x 3) material positions
  double* x;                                // (n_vert x 3) where it starts
  json_t* moves;                            // list of {"select", "motion"}; NULL: none
  json_t* forces; // list of {"select", "acceleration", "from", "to"}; NULL: none
  double velocity[3], angular_velocity[3]; // m/s, rad/s about the centre of mass
} NoliIpcPart;

// A mesh that stands still, placed.
typedef struct NoliIpcPlaced {
  char* file; // as in the native scene
  double scale, translate[3];
  double right; // its largest x
} NoliIpcPlaced;

typedef struct NoliIpcWorld {
  const NoliSceneSource* source;
  const NoliIpcScript* script;
  NOLI_ARRAY(NoliIpcFile) files;
  NOLI_ARRAY(NoliIpcPart) parts;
  NOLI_ARRAY(NoliIpcPlaced) stills; // of the script, in its order
  double diagonal;                  // of the box around the material positions of all solids
  double time_step;
  int64_t n_steps;
} NoliIpcWorld;

// Reads all meshes and places the parts. The result must be released even after a failure.
NOLI_WARN_UNUSED NoliStatus noli_ipc_world_make(const NoliSceneSource* source,
                                                const NoliIpcScript* script, NoliIpcWorld* world);
void noli_ipc_world_release(NoliIpcWorld* world);

// Number of vertices of a part.
int32_t noli_ipc_n_vert(const NoliIpcWorld* world, const NoliIpcPart* part);

// Box around the present (`material` false) or the material positions of all parts.
void noli_ipc_world_box(const NoliIpcWorld* world, bool material, double low[3], double high[3]);
void noli_ipc_part_box(const NoliIpcWorld* world, const NoliIpcPart* part, double low[3],
                       double high[3]);

// The largest x of all meshes that stand still; -infinity if there are none.
double noli_ipc_right_end(const NoliIpcWorld* world);

// Moves all parts up.
void noli_ipc_world_lift(NoliIpcWorld* world, double height);

// The path as the native scene writes it, if a file or folder is there: relative to the folder of
// the scene, else to the nearest folder above it. `*name` is owned by the caller; NULL: not found.
NOLI_WARN_UNUSED NoliStatus noli_ipc_find_file(const NoliSceneSource* source, NoliSpan path,
                                               const char* suffix, char** name);

// The mesh of that file; `line` locates failures.
NOLI_WARN_UNUSED NoliStatus noli_ipc_read_mesh(const NoliSceneSource* source, int32_t line,
                                               const char* name, NoliMesh** mesh);

// R = Rx Ry Rz, degrees.
NoliMat3 noli_ipc_rotation(const double degrees[3]);
