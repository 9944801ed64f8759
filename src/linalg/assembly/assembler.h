// The data of an assembler: assembly.c prepares it, assembly_sum.c sums up. The words (plan, batch,
// slot, target, group) are explained in linalg/assembly/assembly_plan.h.
#pragma once

#include "linalg/assembly/assembly.h"
#include "linalg/assembly/assembly_plan.h"

// Most stencils, and most blocks of them together, that a worker evaluates before it adds them to
// slots (but at least one stencil). Their results, 52 KB, are still in its cache.
enum { EVALUATE_STENCILS = 64, EVALUATE_BLOCKS = 640 };

struct NoliAssembler {
  NoliContext* context;
  NoliUnknowns unknowns;
  int32_t* dof;
  int64_t dof_capacity;
  NoliPattern pattern;

  // own rows
  int64_t own_begin;
  int64_t own_end;

  // components of unknown nodes that are held
  int32_t n_held;
  int32_t* held_node;
  uint8_t* held_axes; // (n_held)
  uint8_t* held_row;  // (rows of the matrix) bits of their components; only where n_held > 0
  int64_t held_node_capacity;
  int64_t held_axes_capacity;
  int64_t held_row_capacity;

  // fixed terms come first
  bool fixed_known;
  int32_t n_fixed;
  int32_t n_terms;
  NoliPlan fixed;
  NoliPlan changing;

  // scratch of each worker: words for locating, local results
  uint64_t* word;          // (workers x 2 x batch_room)
  double* local_gradient;  // (workers x 3 x evaluate_room)
  double* local_hessian;   // (workers x 9 x evaluate_room)
  double* vertex_gradient; // (workers x 3 x vertex_room) of one stencil that is expanded
  double* vertex_hessian;  // (workers x 9 x vertex_room)
  int64_t batch_room;      // blocks, of which a stencil has at least as many as nodes
  int64_t evaluate_room;
  int64_t vertex_room;

  // keys of new blocks; sums of the slots of a group of batches
  uint64_t* key;
  double* slot_gradient;
  double* slot_hessian;
  int64_t key_capacity;
  int64_t slot_gradient_capacity;
  int64_t slot_hessian_capacity;
};
