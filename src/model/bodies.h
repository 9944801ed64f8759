// Nodes, elements, proxies and surface of all bodies.
#pragma once

#include "model/model.h"

// Fills the mesh data of the model: nodes, cells, blocks of elements with their materials (not yet
// finished, fem/block.h), followers, rest and initial positions, the surface. With `divide`, each
// of several ranks evaluates the elements of its part, and blocks that can be divided hold these
// only. Needs names. Fails with NOLI_ERROR_ARGUMENT, NOLI_INVERTED_ELEMENT, NOLI_ERROR_TOO_LARGE,
// NOLI_ERROR_MEMORY.
NOLI_WARN_UNUSED NoliStatus noli_bodies_build(NoliModel* model, const NoliSimDef* def, bool divide);

// The materials of all elements of a body, as a block of which the caller reads nothing else and
// which it must destroy even after a failure (NOLI_ERROR_MEMORY).
NOLI_WARN_UNUSED NoliStatus noli_bodies_materials(NoliContext* context, const NoliBodyDef* body,
                                                  int32_t n_element, NoliBlock* block);

// The data of a body for its block; before nodes are numbered without them.
NoliBlockBody noli_bodies_describe(const NoliModel* model, const NoliSimDef* def, int32_t b);

// Warns of rubbers that are unstable at moderate stretches.
void noli_bodies_report(const NoliModel* model, const NoliSimDef* def);
