// The data of the block of tetrahedra of any order (block_order_n.c).
#pragma once

#include "fem/block.h"
#include "fem/elements.h"
#include "fem/mass.h"

typedef struct NoliOrderN {
  NoliSpace space;
  NoliElements elements;
  NoliMass mass;
  NoliElementMass element_mass;
  double total_mass; // kg
  double* volume;    // (n_tet) m^3 at rest, by an exact rule
  double total_volume;
  double* volume_derivative; // (n_tet x 12) m^2, how volumes change with their vertices
  double* row_sum;           // (n_node) kg
  double* measure;           // (n_node) kg, > 0: the diagonal of the mass, times `stretch`
  double stretch;
  double* scratch; // (5 x n_node x 3) of the solves with the mass
} NoliOrderN;

static inline const NoliOrderN* noli_order_n_of(const NoliBlock* block) {
  return block->self;
}

// Offset of the block in the vectors of the scene.
static inline int64_t noli_order_n_first(const NoliBlock* block) {
  return 3 * (int64_t)block->first_node;
}
