// In place of build_design.c in builds without derivatives: scenes with a design block are refused.
#include "scene/build.h"

NoliStatus noli_scene_admit_design(const NoliSceneSource* source, const NoliSceneNode* root) {
  NoliStatus status = NOLI_OK;
  NoliSceneNode node = noli_scene_member(root, "design");
  NOLI_SCENE_CHECK(source, &node, node.value == NULL,
                   "cannot be searched: this build has no derivatives (NOLI_DERIVATIVES=OFF)");
done:
  return status;
}

NoliStatus noli_scene_build_design(const NoliSceneSource* source, NoliScene* scene,
                                   const NoliSceneNode* root) {
  (void)source, (void)scene, (void)root;
  return NOLI_OK;
}
