// Properties of materials that are expressions of the place: evaluated at the centres of elements.
#pragma once

#include "scene/build.h"

// Reads the fields of the material in the entry of a body or part, with the elements `element`
// (n_element) of `body`; NULL: all. An expression without X, Y, Z is a number of `material`; others
// go into `fields`, owned by the scene.
NOLI_WARN_UNUSED NoliStatus noli_scene_read_fields(const NoliSceneSource* source, NoliScene* scene,
                                                   const NoliSceneNode* entry,
                                                   const NoliBodyDef* body, const int32_t* element,
                                                   int32_t n_element, NoliMaterialDef* material,
                                                   NoliMaterialFields* fields);
// Keys that are missing in the entry of a part have the values of the body.
NOLI_WARN_UNUSED NoliStatus noli_scene_inherit_fields(NoliScene* scene, const NoliSceneNode* entry,
                                                      const NoliBodyDef* body, NoliPartDef* part);
