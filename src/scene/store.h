// Values of a checked scene, put where the tables of the format say.
#pragma once

#include "scene/format.h"
#include "text/node.h"

// Stores all values of `node`, a checked object of this type, that go into a definition of `size`
// bytes; others go into another one, as those of a joint and of its coordinate do. Members whose
// key is absent keep what they hold; words in the place of numbers
// ("adaptive") count as 0.
void noli_scene_store(const NoliSceneNode* node, const NoliSceneType* type, void* definition,
                      size_t size);
