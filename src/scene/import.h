// Scenes of other programs. Their text becomes the tree of a native scene, as a person would have
// written it, which then goes the way of every scene: so a converted scene runs to the same bits.
//
// What cannot be expressed fails with the place in the text that says it. What has no meaning here
// (views, numerical knobs without counterpart) is accepted and named in the log.
#pragma once

#include "scene/node.h"

// Reads the text of the source in whichever format it is: native scenes are parsed, others are
// converted, which sets source->imported. `*root` is a new reference.
NOLI_WARN_UNUSED NoliStatus noli_scene_read_tree(NoliSceneSource* source, json_t** root);

// Text scenes of the IPC program of [Li2020].
NOLI_WARN_UNUSED NoliStatus noli_scene_import_ipc(const NoliSceneSource* source, json_t** root);

// JSON scenes of PolyFEM; `parsed` is the tree of the source's text.
NOLI_WARN_UNUSED NoliStatus noli_scene_import_polyfem(const NoliSceneSource* source, json_t* parsed,
                                                      json_t** root);
