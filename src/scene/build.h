// From a checked scene to a NoliSimDef.
#pragma once

#include "base/array.h"
#include "base/definition_lists.h"
#include "fem/space.h"
#include "noli/scene.h"
#include "scene/motion.h"
#include "scene/files.h"
#include "scene/select.h"

// A body, an obstacle or a half-space: a named thing of a scene. Numbered as in NoliSimDef.
typedef struct NoliSceneEntity {
  const char* name;  // "link[3]"
  const char* entry; // "link": the name in the scene, shared by all copies
  enum { NOLI_SCENE_BODY, NOLI_SCENE_OBSTACLE, NOLI_SCENE_HALF_SPACE } kind;
  int32_t shape; // index; NOLI_NULL_INDEX for half-spaces
  int32_t copy;
} NoliSceneEntity;

// The definition for programs with other headers, made when first asked for.
typedef struct NoliSceneView {
  NoliDefSizes sizes;
  NoliSimDef* def;
} NoliSceneView;
typedef NOLI_ARRAY(NoliSceneView) NoliSceneViews;

struct NoliScene {
  NoliContext* context;
  json_t* root; // checked, defaults filled in
  char* name;
  NoliSimDef def;
  int64_t n_steps;
  NoliSceneOutput output;
  NoliDesignDef design; // no variables: there is none
  NoliSceneVariables variables;
#define NOLI_SCENE_LIST(list, type, item, ITEM) NOLI_ARRAY(type) list;
  NOLI_DEFINITION_LISTS(NOLI_SCENE_LIST)
#undef NOLI_SCENE_LIST
  NOLI_ARRAY(NoliProbeDef) probes;
  NOLI_ARRAY(NoliMesh*) meshes;              // of bodies and obstacles, in their order
  NOLI_ARRAY(NoliMesh*) proxies;             // of bodies that have their own
  NOLI_ARRAY(NoliSceneMotion*) motions_read; // what callbacks refer to
  NOLI_ARRAY(NoliSceneForce*) forces_read;
  NOLI_ARRAY(NoliSceneFormula*) formulas;
  NoliSceneFiles files;
  char* changed_file; // since the scene was written (scene/origins.h); NULL: none
  NoliSceneViews* views;
  NOLI_ARRAY(void*) blocks; // names, node lists, frames, movers
  // needed while building only
  NOLI_ARRAY(NoliSceneEntity) entities;
  json_t* names; // of entities and entries, each with the index of its first entity
  NOLI_ARRAY(NoliSceneShape) shapes;
  NOLI_ARRAY(NoliSpace) spaces; // of bodies and obstacles, in their order; empty where linear
};

typedef NOLI_ARRAY(int32_t) NoliSceneIndices;

// Fills `scene` from scene->root. On failure it is released by noli_scene_destroy.
NOLI_WARN_UNUSED NoliStatus noli_scene_build(const NoliSceneSource* source, NoliScene* scene);

// Its parts. Each reads the keys of `root` that it is about, in this order.
NOLI_WARN_UNUSED NoliStatus noli_scene_check_contact(const NoliSceneSource* source,
                                                     const NoliSceneNode* root,
                                                     const NoliSimDef* def);
NOLI_WARN_UNUSED NoliStatus noli_scene_build_bodies(const NoliSceneSource* source, NoliScene* scene,
                                                    const NoliSceneNode* root);
NOLI_WARN_UNUSED NoliStatus noli_scene_build_motions(const NoliSceneSource* source,
                                                     NoliScene* scene, const NoliSceneNode* root);
NOLI_WARN_UNUSED NoliStatus noli_scene_build_forces(const NoliSceneSource* source, NoliScene* scene,
                                                    const NoliSceneNode* root);
// What acts in the coordinates of a joint, and whether its other point is given.
NOLI_WARN_UNUSED NoliStatus noli_scene_build_joint(const NoliSceneSource* source, NoliScene* scene,
                                                   const NoliSceneNode* entry, NoliJointDef* joint);
NOLI_WARN_UNUSED NoliStatus noli_scene_build_connections(const NoliSceneSource* source,
                                                         NoliScene* scene,
                                                         const NoliSceneNode* root);
NOLI_WARN_UNUSED NoliStatus noli_scene_build_pairs(const NoliSceneSource* source, NoliScene* scene,
                                                   const NoliSceneNode* root);
NOLI_WARN_UNUSED NoliStatus noli_scene_build_probes(const NoliSceneSource* source, NoliScene* scene,
                                                    const NoliSceneNode* root);
// Refuses a design block where this build has no derivatives, before its names are checked.
NOLI_WARN_UNUSED NoliStatus noli_scene_admit_design(const NoliSceneSource* source,
                                                    const NoliSceneNode* root);
NOLI_WARN_UNUSED NoliStatus noli_scene_build_design(const NoliSceneSource* source, NoliScene* scene,
                                                    const NoliSceneNode* root);

// Moves meshes to the rest positions that the scene gives; last, because selections and expressions
// see the meshes as they were.
NOLI_WARN_UNUSED NoliStatus noli_scene_move_to_rest(NoliScene* scene);

// Resolves "body" and "select" of an entry: targets[k], with n_node 0 where nothing of it is
// selected, belongs to entities[k]. The node lists belong to the scene.
NOLI_WARN_UNUSED NoliStatus noli_scene_find_targets(const NoliSceneSource* source, NoliScene* scene,
                                                    const NoliSceneNode* entry,
                                                    NoliSceneTargets* targets,
                                                    NoliSceneIndices* entities);
// The same for other keys; without a selection everything is selected.
NOLI_WARN_UNUSED NoliStatus noli_scene_find_selected(const NoliSceneSource* source,
                                                     NoliScene* scene, const NoliSceneNode* body,
                                                     const NoliSceneNode* select,
                                                     NoliSceneTargets* targets,
                                                     NoliSceneIndices* entities);
// The name that `node`, an entry with "name", gives to its part in one of n_entity bodies; NULL
// where it gives none.
NOLI_WARN_UNUSED NoliStatus noli_scene_name_for(NoliScene* scene, const NoliSceneNode* node,
                                                int64_t n_entity, const NoliSceneEntity* entity,
                                                const char** name);

// The name of an entry, checked against all before it; one that has none is called PREFIX_N.
NOLI_WARN_UNUSED NoliStatus noli_scene_name_entry(const NoliSceneSource* source, NoliScene* scene,
                                                  const NoliSceneNode* entry, const char* prefix,
                                                  const char** name);
// The name of one copy, owned by the scene.
NOLI_WARN_UNUSED NoliStatus noli_scene_name_copy(NoliScene* scene, const char* entry, int32_t copy,
                                                 const char** name);
// Appends an entity, which its name and that of its entry refer to from now on.
NOLI_WARN_UNUSED NoliStatus noli_scene_add_entity(NoliScene* scene, const NoliSceneEntity* entity);
// All entities that a name refers to, in order. `*` stands for all deforming bodies, with
// `half_spaces` (where pairs are meant) for everything.
NOLI_WARN_UNUSED NoliStatus noli_scene_find_entities(const NoliSceneSource* source,
                                                     const NoliScene* scene,
                                                     const NoliSceneNode* node, bool half_spaces,
                                                     NoliSceneIndices* found);

// The place of a node in the file as a prefix of later messages, owned by the scene.
NOLI_WARN_UNUSED NoliStatus noli_scene_keep_place(const NoliSceneSource* source, NoliScene* scene,
                                                  const NoliSceneNode* node, const char** where);

// Hands a block to the scene, also when that fails.
NOLI_WARN_UNUSED NoliStatus noli_scene_own(NoliScene* scene, void* block);
