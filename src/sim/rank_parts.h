// Which rank has which elements and nodes: parts of the bodies that few nodes have in common, so
// that ranks send each other few blocks of the matrix.
#pragma once

#include "sim/model.h"

// The ranks of all elements of a block that is to be divided, the same on all ranks, which all call
// this: `rank` (n_tet), of which it writes those of the bodies of the block. Needs the ranges of
// whole bodies in the block. Fails with NOLI_ERROR_MEMORY.
NOLI_WARN_UNUSED NoliStatus noli_rank_parts_divide(NoliModel* model, const NoliSimDef* def,
                                                   int32_t block, int32_t* rank);

// Gives each node to the rank with most of its elements, problem->owner; of blocks that are not
// divided ranks evaluate consecutive elements. On one rank nothing. Needs the nodes of all blocks;
// `rank` as above.
NOLI_WARN_UNUSED NoliStatus noli_rank_parts_own_nodes(NoliModel* model, const int32_t* rank);
