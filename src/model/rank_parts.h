// Which rank has which elements and nodes: parts of the bodies that few nodes have in common, so
// that ranks send each other few blocks of the matrix.
#pragma once

#include "model/model.h"

// The ranks of the elements of all bodies, `rank` (n_tet), the same on all ranks, which all call
// this. Needs the ranges of whole bodies in their blocks. Fails with NOLI_ERROR_MEMORY.
NOLI_WARN_UNUSED NoliStatus noli_rank_parts_divide(NoliModel* model, const NoliSimDef* def,
                                                   int32_t* rank);

// The ranks of elements where ranks evaluate consecutive ones of each block.
void noli_rank_parts_in_order(const NoliModel* model, int32_t* rank);

// Gives each node to the rank with most of its elements, problem->ranks.owner. On one rank nothing.
// Needs the nodes of all blocks; `rank` as above.
NOLI_WARN_UNUSED NoliStatus noli_rank_parts_own_nodes(NoliModel* model, const int32_t* rank);

// Finds the homes of vertices, and whether contacts are divided: where ranks have parts. In a plane
// every rank keeps all contacts, few as they are: the pairs of edges that ranks find have vertices
// in common there. On one rank nothing. Needs owners, followers and the surface.
NOLI_WARN_UNUSED NoliStatus noli_rank_parts_divide_contacts(NoliModel* model);
