// Where the local blocks of stencils go.
//
// Stencils are evaluated in batches whose local results stay in the cache. A contribution of a
// batch is one entry: its target (a block of the matrix, or a node of the gradient) and its source
// in the batch. The entries of a batch are divided into buckets by target, in stencil order inside
// each. Buckets can be summed at the same time, as no two share a target, and every target
// receives its contributions in stencil order, so the sums have the same bits for any number of
// threads.
#pragma once

#include "linalg/energy_term.h"
#include "linalg/pattern.h"

enum {
  NOLI_PLAN_BATCH = 2048, // stencils; 1.7 MB of local results for stencils of four nodes
  NOLI_PLAN_BUCKETS = 16,
  NOLI_PLAN_BLOCKS_MAX = NOLI_STENCIL_MAX * (NOLI_STENCIL_MAX + 1) / 2,
};

// How a local block enters the matrix.
enum {
  NOLI_ENTRY_PLAIN = 0,
  NOLI_ENTRY_TRANSPOSED = 1, // the block belongs below the diagonal
  NOLI_ENTRY_BOTH = 2,       // two nodes of a stencil share a row: the block and its transpose
};

// target (32 bits), source (30 bits), how (2 bits)
static inline uint64_t noli_entry(uint32_t target, uint32_t source, uint32_t how) {
  return (uint64_t)target << 32 | source << 2 | how;
}
static inline uint32_t noli_entry_target(uint64_t entry) {
  return (uint32_t)(entry >> 32);
}
static inline uint32_t noli_entry_source(uint64_t entry) {
  return (uint32_t)entry >> 2;
}
static inline uint32_t noli_entry_how(uint64_t entry) {
  return (uint32_t)entry & 3;
}

// Runs of 32 targets share a bucket, so that buckets rarely share cache lines.
static inline uint32_t noli_entry_bucket(uint64_t entry) {
  return (uint32_t)(entry >> 37) % NOLI_PLAN_BUCKETS;
}

typedef struct NoliPlanBatch {
  int32_t term;      // index among the terms of the call
  int32_t n_missing; // keys of blocks that the pattern lacks, behind the last bucket
  int64_t begin;     // stencils of the term
  int64_t end;
  int64_t first_block; // in NoliPlan.block
  int64_t first_node;  // in NoliPlan.node
  int32_t block_start[NOLI_PLAN_BUCKETS + 1];
  int32_t node_start[NOLI_PLAN_BUCKETS + 1];
  int64_t bad_stencil; // the first one that names a node that does not exist
} NoliPlanBatch;

typedef struct NoliPlan {
  NoliPlanBatch* batch;
  int64_t n_batch;
  uint64_t* block; // matrix entries
  uint64_t* node;  // gradient entries
  int64_t batch_capacity;
  int64_t block_capacity;
  int64_t node_capacity;
} NoliPlan;

void noli_plan_free(NoliContext* context, NoliPlan* plan);

// Divides terms [first, n_terms) into batches and makes room for their entries.
NOLI_WARN_UNUSED NoliStatus noli_plan_layout(NoliContext* context, NoliPlan* plan,
                                             const NoliEnergyTerm* terms, int32_t first,
                                             int32_t n_terms);

// Number of words of scratch that one worker needs in noli_plan_locate.
enum { NOLI_PLAN_SCRATCH = NOLI_PLAN_BATCH * NOLI_PLAN_BLOCKS_MAX };

typedef struct NoliUnknowns {
  int32_t n_node;
  const int32_t* dof; // (n_node)
} NoliUnknowns;

// Fills the entries. Blocks that the pattern lacks are counted in `n_missing` and their keys kept
// in the batches. `scratch` (n_threads x NOLI_PLAN_SCRATCH).
NOLI_WARN_UNUSED NoliStatus noli_plan_locate(NoliContext* context, NoliPlan* plan,
                                             const NoliEnergyTerm* terms,
                                             const NoliUnknowns* unknowns,
                                             const NoliBlockMatrix* pattern, uint64_t* scratch,
                                             int64_t* n_missing);

// Copies the keys of missing blocks, with repetitions.
void noli_plan_collect_missing(const NoliPlan* plan, uint64_t* key);

// Sets NOLI_BLOCK_USED in the flags of all blocks that have entries.
void noli_plan_mark_used(const NoliPlan* plan, int32_t n_threads, uint8_t* flags);

// Replaces every target block by moved[target].
void noli_plan_move(NoliPlan* plan, int32_t n_threads, const int32_t* moved);
