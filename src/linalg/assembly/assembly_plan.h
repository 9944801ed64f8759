// Where the local results of stencils go: the words of assembly, in one picture.
//
//   term     stencil stencil stencil stencil stencil stencil ...    local blocks of each
//            \_______________________/ \_______________________/
//   batch             batch 0                   batch 1             one thread evaluates a batch
//                 |   |   |                 |   |   |
//   slot         [0] [1] [2]               [0] [1] [2]              sums within a batch
//                 |   |   \______   _________/  |   |
//   target      block 3  block 7   block 8      |   block 12        sums over batches, in order
//
// - A plan is this picture for some terms: it lists the batches, and for each of them where local
//   results go. It is made once for fixed terms and after each change of contacts for the others.
// - A batch is a run of stencils of one term. One thread evaluates it, a few stencils at a time,
//   and adds their blocks to the slots of the batch while they are in its cache. The blocks of a
//   batch are bounded; stencils may have any size.
// - A slot is one sum of a batch: the batch has a slot for each block of the matrix, and for each
//   node of the gradient, that it contributes to.
// - A target is the block of the matrix, or the node of the gradient, that a slot is added to. All
//   slots are added in ranges of targets, batch after batch.
// - A group is a run of batches whose slots are in memory at the same time: they are evaluated and
//   added to the targets before the next group begins.
//
// Neighbouring stencils share most of their targets, so slots are several times fewer than local
// blocks, and little memory passes from one core to another. Batches, groups and the order of all
// sums do not depend on the threads, so neither do the bits.
#pragma once

#include "linalg/assembly/pattern.h"
#include "linalg/energy_term.h"

enum {
  NOLI_PLAN_BATCH = 1024,                        // most stencils of a batch,
  NOLI_PLAN_BATCH_BLOCKS = 10 * NOLI_PLAN_BATCH, // and most blocks, unless it is one stencil
  NOLI_PLAN_STENCIL_MAX = 1 << 14,               // nodes: a block's number must fit in 30 bits
};

// Where a local block or node goes: 4 * slot + how, or NOLI_PLAN_DROPPED.
#define NOLI_PLAN_DROPPED UINT32_MAX
enum {
  NOLI_PLAN_PLAIN = 0,
  NOLI_PLAN_TRANSPOSED = 1, // the block belongs below the diagonal
  NOLI_PLAN_BOTH = 2,       // two nodes of a stencil share a row: the block and its transpose
};

typedef struct NoliPlanBatch {
  int32_t term;      // index among the terms of the call
  int32_t n_missing; // blocks that the pattern lacks
  int64_t begin;     // stencils of the term
  int64_t end;
  int64_t first_block; // in the block arrays of the plan
  int64_t first_node;  // in the node arrays of the plan
  int32_t n_block;     // local blocks
  int32_t n_node;      // local nodes
  int32_t n_block_slot;
  int32_t n_node_slot;
  int64_t block_offset; // of the sums of its slots among those of its group of batches
  int64_t node_offset;
  int64_t bad_stencil; // the first one that names a node that does not exist
} NoliPlanBatch;

typedef struct NoliPlan {
  NoliPlanBatch* batch;
  int64_t n_batch;
  int64_t n_block;        // of all batches
  int32_t largest;        // most blocks of a stencil
  uint32_t* block;        // slot of each local block
  uint32_t* block_target; // target of each slot, a block of the matrix; ascending in a batch
  uint32_t* node;         // slot of each local node
  uint32_t* node_target;  // target of each slot, a node; ascending in a batch
  int64_t capacity[5];
} NoliPlan;

void noli_plan_free(NoliContext* context, NoliPlan* plan);

// Divides the stencils of terms [first, n_terms) that are the share of this rank into batches, and
// makes room for them.
NOLI_WARN_UNUSED NoliStatus noli_plan_layout(NoliContext* context, NoliPlan* plan,
                                             const NoliEnergyTerm* terms, int32_t first,
                                             int32_t n_terms);

typedef struct NoliUnknowns {
  int32_t n_node;
  const int32_t* dof; // (n_node)
} NoliUnknowns;

// Finds all targets. Blocks that the pattern lacks are counted in `n_missing` and remembered: the
// plan then serves noli_plan_collect_missing and noli_plan_mark_used only.
// `scratch` (n_threads x 2 x room); room: NOLI_PLAN_BATCH_BLOCKS and plan->largest at least.
NOLI_WARN_UNUSED NoliStatus noli_plan_locate(NoliContext* context, NoliPlan* plan,
                                             const NoliEnergyTerm* terms,
                                             const NoliUnknowns* unknowns,
                                             const NoliBlockMatrix* pattern, uint64_t* scratch,
                                             int64_t room, int64_t* n_missing);

// Validator of a plan without missing blocks (base/validate.h).
const char* noli_plan_defect(const NoliPlan* plan, const NoliEnergyTerm* terms, int32_t n_node,
                             const NoliBlockMatrix* pattern);

// End of the longest run of stencils from `begin`, up to `end`, that has at most `n_stencil`
// stencils and `n_block` blocks, but at least one stencil. begin < end.
int64_t noli_plan_some(const NoliEnergyTerm* term, int64_t begin, int64_t end, int64_t n_stencil,
                       int64_t n_block);

// Divides the batches into groups of bounded size. Sets the offsets of all batches, which are 0 at
// the start of a group, and returns the largest numbers of slots in a group.
void noli_plan_group(NoliPlan* plan, int64_t* n_block_slot, int64_t* n_node_slot);

// One past the last batch of the group that begins with batch `first`.
int64_t noli_plan_group_end(const NoliPlan* plan, int64_t first);

// Writes the keys of missing blocks, with repetitions.
void noli_plan_collect_missing(const NoliPlan* plan, int32_t key_bits, uint64_t* key);

// Sets NOLI_BLOCK_USED in the flags of all blocks that are targets.
void noli_plan_mark_used(const NoliPlan* plan, uint8_t* flags);

// Replaces every target block by moved[target], which must keep their order.
void noli_plan_move(NoliPlan* plan, int32_t n_threads, const int32_t* moved);

// The first of `n` ascending targets that is not below `bound`.
static inline int32_t noli_plan_lower_bound(const uint32_t* target, int32_t n, int64_t bound) {
  int32_t low = 0, high = n;
  while (low < high) {
    int32_t middle = low + (high - low) / 2;
    if ((int64_t)target[middle] < bound) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}
