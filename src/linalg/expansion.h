// Energy terms over vertices, taken to the nodes that the vertices follow (linalg/followers.h).
//
// A term knows vertices only. Its expansion lists, for every stencil, the nodes behind its vertices
// and the weight of each vertex in each node; the assembler evaluates the stencil at the vertices
// and takes the result g, H to the nodes, W^T g and W^T H W. Stencils may have any size.
#pragma once

#include "base/array.h"
#include "linalg/energy_term.h"
#include "linalg/followers.h"

typedef struct NoliExpansion {
  NoliEnergyTerm inner;            // over vertices
  int64_t largest;                 // most nodes or blocks of a stencil of `inner`
  NOLI_ARRAY(int32_t) node;        // of all stencils
  NOLI_ARRAY(int64_t) first;       // (n_stencil + 1), as in NoliEnergyTerm
  NOLI_ARRAY(int64_t) first_block; // (n_stencil + 1), as in NoliEnergyTerm
  NOLI_ARRAY(int64_t) row;         // first weight of each vertex of each stencil, and their number
  NOLI_ARRAY(int32_t) place;       // of a weight: which node of the stencil
  NOLI_ARRAY(double) weight;
  NOLI_ARRAY(int32_t) place_of_node; // scratch (n_node): of the present stencil
  NOLI_ARRAY(int64_t) stencil_of_node;
} NoliExpansion;

void noli_expansion_free(NoliContext* context, NoliExpansion* expansion);

// `*expanded` is the term over nodes; it borrows the expansion, and as `term` what that borrows.
// Only the assembler can evaluate it. Fails with NOLI_ERROR_MEMORY.
NOLI_WARN_UNUSED NoliStatus noli_expansion_build(NoliExpansion* expansion, NoliContext* context,
                                                 const NoliFollowers* followers,
                                                 const NoliEnergyTerm* term,
                                                 NoliEnergyTerm* expanded);

// The same for a term whose stencils name the same vertices as when the expansion was built.
void noli_expansion_renew(NoliExpansion* expansion, const NoliEnergyTerm* term,
                          NoliEnergyTerm* expanded);

// Validator (base/validate.h); nodes are 0 .. n_node - 1.
const char* noli_expansion_defect(const NoliExpansion* expansion, int32_t n_node);

// Evaluates stencils [begin, end) of the expanded term: gradient or Hessian or both, or the skew
// part. `gradient` (3 x largest) and `hessian` (9 x largest) are scratch.
void noli_expansion_evaluate(const NoliExpansion* expansion, const double* x, int64_t begin,
                             int64_t end, unsigned what, const NoliLocal* out, double* gradient,
                             double* hessian);
