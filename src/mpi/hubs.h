// Nodes with very many neighbours, such as a corner of an obstacle whose large triangles press on
// thousands of nodes, while springs pull it. Their rows are as good as dense: multigrid aggregates
// all that they couple, its coarse matrices fill up, and PETSc's graph has room for rows of 4096
// blocks only. A preconditioner may leave their couplings out and keep their diagonal blocks: of a
// positive definite matrix it is that of two principal submatrices, and the couplings of n hubs are
// a change of rank 6 n, so that conjugate gradients take that many iterations more at most in
// exact arithmetic.
#pragma once

#include "base/context.h"

// Zero-initialized: none.
typedef struct NoliHubs {
  int64_t n;
  int32_t* node; // (n) block rows of the whole matrix, ascending
  int64_t capacity;
} NoliHubs;

void noli_hubs_free(NoliContext* context, NoliHubs* hubs);

// Finds the nodes with more than `most` blocks in their rows. This rank has those of the nodes
// begin .. begin + n - 1, row[i] .. row[i + 1]; all ranks get the same list.
NOLI_WARN_UNUSED NoliStatus noli_hubs_find(NoliHubs* hubs, NoliContext* context, int32_t begin,
                                           int32_t n, const int64_t* row, int64_t most);

// Whether the block of two nodes couples a hub with another node.
bool noli_hubs_couple(const NoliHubs* hubs, int32_t node, int32_t other);
