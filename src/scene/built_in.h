// Shapes that need no file: "box", "sphere", .., one function each.
#pragma once

#include "noli/mesh.h"
#include "text/node.h"

// The shape that a checked "mesh" object names, a new mesh owned by the caller. Fails with
// NOLI_ERROR_FORMAT, located, where its numbers make no shape or too large a one.
NOLI_WARN_UNUSED NoliStatus noli_scene_make_shape(const NoliSceneSource* source,
                                                  const NoliSceneNode* node, NoliMesh** mesh);
