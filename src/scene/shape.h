// The meshes of bodies and obstacles: read or made, checked, reduced to what takes part, placed.
#pragma once

#include "define/body_kind.h"
#include "noli/mesh.h"
#include "text/node.h"

// Where a mesh goes: x <- R (scale x), then for copy k: R(k copy_rotate) x + translate +
// k copy_translate.
typedef struct NoliScenePlacement {
  double scale[3]; // includes `fit`
  double rotate[3];
  double translate[3];
  int32_t n_copies;
  double copy_translate[3];
  double copy_rotate[3];
} NoliScenePlacement;

// The mesh of one entry of "bodies" or "obstacles", before it is placed.
typedef struct NoliSceneShape {
  NoliMesh* source;        // as in the file, refined, with all cells and tags
  NoliMeshCleaned cleaned; // what "merge" did to it; of zeros: nothing
  int32_t refine;          // how often
  char* path;              // of the file; NULL: none
  NoliMeshSets sets;       // of the file, when first needed
  NoliMeshSides sides;     // faces of the sets
  bool has_sets;           // they were read
  NoliMesh* mesh;          // what takes part, without unused vertices
  int32_t* new_index;      // (source n_vert) vertex of `mesh`; NOLI_NULL_INDEX: not used
  NoliMesh* proxy;         // triangles that bodies collide with, placed as they are; NULL: none
  double* start;           // (n_copies x n_vert of `mesh` x 3) positions at the start, which the
                           // caller takes; NULL: at rest
  double* rest; // such positions at rest, once selections have seen the mesh; NULL: those of `mesh`
  const NoliBodyKind* kind; // which cells are elements
  NoliScenePlacement placement;
} NoliSceneShape;

// Reads the shape of a checked entry. Problems that can be mended are logged.
NOLI_WARN_UNUSED NoliStatus noli_scene_read_shape(const NoliSceneSource* source,
                                                  const NoliSceneNode* entry, bool obstacle,
                                                  NoliSceneShape* shape);
// Reads the named sets of the file of a shape, once; none of built-in shapes. Failures are located
// at the node.
NOLI_WARN_UNUSED NoliStatus noli_scene_read_sets(const NoliSceneSource* source,
                                                 const NoliSceneNode* node, NoliSceneShape* shape);
void noli_scene_release_shape(NoliContext* context, NoliSceneShape* shape);

// A new mesh, placed as copy `index`, owned by the caller.
NOLI_WARN_UNUSED NoliStatus noli_scene_place_copy(const NoliSceneSource* source,
                                                  const NoliSceneNode* entry,
                                                  const NoliSceneShape* shape, int32_t index,
                                                  NoliMesh** mesh);
// A new mesh of the triangles of shape->proxy, which must have some, placed as copy `index`, owned
// by the caller.
NOLI_WARN_UNUSED NoliStatus noli_scene_place_proxy(const NoliSceneSource* source,
                                                   const NoliSceneShape* shape, int32_t index,
                                                   NoliMesh** mesh);
// Places the vertices of any mesh as copy `index`.
void noli_scene_place(const NoliScenePlacement* placement, int32_t index, NoliMesh* mesh);

// Takes away the vertices that "merge" took from the mesh of the shape: `mesh` comes from another
// file of the same vertices.
void noli_scene_follow_merging(const NoliSceneShape* shape, NoliMesh* mesh);

// Refines a mesh whose indices are valid; failures are located at the node.
NOLI_WARN_UNUSED NoliStatus noli_scene_refine(const NoliSceneSource* source,
                                              const NoliSceneNode* node, int32_t times,
                                              NoliMesh* mesh);
