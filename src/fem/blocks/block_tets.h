// The data of the block of linear tetrahedra (block_tets.c).
#pragma once

#include "fem/block.h"
#include "fem/damping.h"
#include "fem/elasticity.h"

typedef struct NoliTetsBlock {
  NoliTets tets;             // borrows the nodes of the block
  NoliElasticity elasticity; // of `tets`, scale 1
  NoliDampedTets* damped;    // NULL: none
} NoliTetsBlock;

static inline const NoliTetsBlock* noli_tets_block_of(const NoliBlock* block) {
  return block->self;
}
