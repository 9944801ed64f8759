// Scenes of other programs. Their text becomes the tree of a native scene, as a person would have
// written it, which then goes the way of every scene: so a converted scene runs to the same bits.
//
// Unsupported content fails, with its place in the text. Content without meaning here (views,
// numerical settings without counterpart) is accepted and named in the log.
#pragma once

#include "text/node.h"

// Text scenes of the IPC program of [Li2020]. `*root` is a new reference.
NOLI_WARN_UNUSED NoliStatus noli_import_ipc(const NoliSceneSource* source, json_t** root);

// JSON scenes of PolyFEM; `parsed` is the tree of the source's text. `*root` is a new reference.
NOLI_WARN_UNUSED NoliStatus noli_import_polyfem(const NoliSceneSource* source, json_t* parsed,
                                                json_t** root);
