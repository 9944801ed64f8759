#include "linalg/assembly/assembly_plan.h"

#include "base/validate.h"
#include "base/parallel.h"
#include "base/sort.h"

void noli_plan_free(NoliContext* context, NoliPlan* plan) {
  noli_free(context, plan->batch);
  noli_free(context, plan->block);
  noli_free(context, plan->block_target);
  noli_free(context, plan->node);
  noli_free(context, plan->node_target);
  *plan = (NoliPlan){0};
}

int64_t noli_plan_some(const NoliEnergyTerm* term, int64_t begin, int64_t end, int64_t n_stencil,
                       int64_t n_block) {
  int64_t last = end - begin < n_stencil ? end : begin + n_stencil;
  int64_t first_block = noli_term_first_block(term, begin);
  if (noli_term_first_block(term, last) - first_block <= n_block) {
    return last;
  }
  // too many blocks: bisect the number of stencils
  int64_t low = begin + 1, high = last;
  while (high - low > 1) {
    int64_t middle = low + (high - low) / 2;
    if (noli_term_first_block(term, middle) - first_block <= n_block) {
      low = middle;
    } else {
      high = middle;
    }
  }
  return low;
}

// One past the last stencil of the batch that begins with stencil `begin`, before `end`.
static int64_t batch_end(const NoliEnergyTerm* term, int64_t begin, int64_t end) {
  return noli_plan_some(term, begin, end, NOLI_PLAN_BATCH, NOLI_PLAN_BATCH_BLOCKS);
}

// Most blocks of a stencil.
static int32_t largest_stencil(const NoliEnergyTerm* term) {
  if (term->first == NULL) {
    return noli_stencil_blocks(term->size);
  }
  int64_t largest = 0;
  for (int64_t s = 0; s < term->n_stencil; s++) {
    int64_t n_block = term->first_block[s + 1] - term->first_block[s];
    largest = n_block > largest ? n_block : largest;
  }
  return (int32_t)largest;
}

NoliStatus noli_plan_layout(NoliContext* context, NoliPlan* plan, const NoliEnergyTerm* terms,
                            int32_t first, int32_t n_terms) {
  NoliStatus status = NOLI_OK;
  int64_t* capacity = plan->capacity;
  int64_t n_batch = 0, n_block = 0, n_node = 0, first_stencil, last_stencil;
  plan->n_batch = 0;
  plan->n_block = 0;
  plan->largest = 0;

  // count batches, local blocks and local nodes
  for (int32_t t = first; t < n_terms; t++) {
    noli_term_share(context, &terms[t], t, 1, &first_stencil, &last_stencil);
    for (int64_t s = first_stencil; s < last_stencil; s = batch_end(&terms[t], s, last_stencil)) {
      n_batch++;
    }
    n_block += noli_term_first_block(&terms[t], last_stencil) -
               noli_term_first_block(&terms[t], first_stencil);
    n_node += noli_term_first(&terms[t], last_stencil) - noli_term_first(&terms[t], first_stencil);
  }

  // make room
  NOLI_TRY(noli_grow(context, (void**)&plan->batch, &capacity[0], n_batch, sizeof *plan->batch));
  NOLI_TRY(noli_grow(context, (void**)&plan->block, &capacity[1], n_block, sizeof(uint32_t)));
  NOLI_TRY(
      noli_grow(context, (void**)&plan->block_target, &capacity[2], n_block, sizeof(uint32_t)));
  NOLI_TRY(noli_grow(context, (void**)&plan->node, &capacity[3], n_node, sizeof(uint32_t)));
  NOLI_TRY(noli_grow(context, (void**)&plan->node_target, &capacity[4], n_node, sizeof(uint32_t)));

  // divide the terms into batches
  n_block = 0;
  n_node = 0;
  for (int32_t t = first; t < n_terms; t++) {
    const NoliEnergyTerm* term = &terms[t];
    noli_term_share(context, term, t, 1, &first_stencil, &last_stencil);
    for (int64_t begin = first_stencil, end; begin < last_stencil; begin = end) {
      end = batch_end(term, begin, last_stencil);
      NoliPlanBatch* batch = &plan->batch[plan->n_batch++];
      *batch = (NoliPlanBatch){
          .term = t,
          .begin = begin,
          .end = end,
          .first_block = n_block,
          .first_node = n_node,
          .n_block =
              (int32_t)(noli_term_first_block(term, end) - noli_term_first_block(term, begin)),
          .n_node = (int32_t)(noli_term_first(term, end) - noli_term_first(term, begin)),
      };
      n_block += batch->n_block;
      n_node += batch->n_node;
    }
    int32_t largest = largest_stencil(term);
    plan->largest = largest > plan->largest ? largest : plan->largest;
  }
  plan->n_block = n_block;
done:
  return status;
}

// A contribution before it has a slot: target (32 bits), local index (30 bits), how (2 bits).
static uint64_t contribution(int64_t target, int32_t local, uint32_t how) {
  return (uint64_t)target << 32 | (uint32_t)local << 2 | how;
}

// Gives every distinct target a slot, in ascending order; returns how many. `word` and `scratch`
// hold `count` contributions each, with targets below `n_targets`.
static int32_t assign_slots(uint64_t* word, uint64_t* scratch, int32_t count, int64_t n_targets,
                            uint32_t* goes, uint32_t* target) {
  int32_t bits = 32;
  while (bits < 63 && n_targets > INT64_C(1) << (bits - 32)) {
    bits++;
  }
  const uint64_t* sorted = noli_sort_words(word, scratch, count, 32, bits);
  int32_t n_slot = 0;
  for (int32_t k = 0; k < count; k++) {
    uint32_t here = (uint32_t)(sorted[k] >> 32), local = (uint32_t)sorted[k];
    if (n_slot == 0 || target[n_slot - 1] != here) {
      target[n_slot++] = here;
    }
    goes[local >> 2] = (uint32_t)(n_slot - 1) << 2 | (local & 3);
  }
  return n_slot;
}

typedef struct LocateJob {
  NoliPlan* plan;
  const NoliEnergyTerm* terms;
  const NoliUnknowns* unknowns;
  const NoliBlockMatrix* pattern;
  uint64_t* scratch;
  int64_t room;
} LocateJob;

// The stencil of a batch that has local node k.
static int64_t stencil_of(const NoliEnergyTerm* term, const NoliPlanBatch* batch, int32_t k) {
  int64_t s = batch->begin, number = noli_term_first(term, s) + k;
  while (noli_term_first(term, s + 1) <= number) {
    s++;
  }
  return s;
}

// Targets of the gradient: every node that is not padding. Remembers a stencil that is wrong.
static void locate_nodes(const LocateJob* job, NoliPlanBatch* batch, uint64_t* word) {
  const NoliEnergyTerm* term = &job->terms[batch->term];
  const int32_t* node = term->node + noli_term_first(term, batch->begin);
  int32_t n_local = batch->n_node;
  uint32_t* goes = job->plan->node + batch->first_node;
  int32_t count = 0;
  batch->bad_stencil = NOLI_NULL_INDEX;
  for (int32_t k = 0; k < n_local; k++) {
    goes[k] = NOLI_PLAN_DROPPED;
    if (node[k] == NOLI_NULL_INDEX) {
      continue;
    }
    if (node[k] < 0 || node[k] >= job->unknowns->n_node) {
      batch->bad_stencil = stencil_of(term, batch, k);
      return;
    }
    word[count++] = contribution(node[k], k, NOLI_PLAN_PLAIN);
  }
  batch->n_node_slot = assign_slots(word, word + job->room, count, job->unknowns->n_node, goes,
                                    job->plan->node_target + batch->first_node);
}

// Block rows of the nodes of a stencil, NOLI_NULL_INDEX for padding and prescribed nodes.
static void stencil_rows(const NoliUnknowns* unknowns, const int32_t* node, int32_t size,
                         int32_t* row) {
  for (int32_t a = 0; a < size; a++) {
    row[a] = node[a] == NOLI_NULL_INDEX ? NOLI_NULL_INDEX : unknowns->dof[node[a]];
  }
}

// Targets of the matrix. Missing blocks are kept as (column, row) at the ends of the two arrays:
// there is room, as they have no slots.
static void locate_blocks(const LocateJob* job, NoliPlanBatch* batch, uint64_t* word) {
  const NoliEnergyTerm* term = &job->terms[batch->term];
  int32_t count = 0, local = -1;
  // the second half of the scratch memory holds the rows of a stencil until slots are assigned
  uint64_t* other = word + job->room;
  int32_t* row = (int32_t*)(void*)other;
  uint32_t* goes = job->plan->block + batch->first_block;
  uint32_t* target = job->plan->block_target + batch->first_block;
  batch->n_missing = 0;

  // find every local block in the pattern
  for (int64_t s = batch->begin; s < batch->end; s++) {
    int32_t size = noli_term_size(term, s);
    stencil_rows(job->unknowns, term->node + noli_term_first(term, s), size, row);
    for (int32_t a = 0; a < size; a++) {
      for (int32_t b = a; b < size; b++) {
        goes[++local] = NOLI_PLAN_DROPPED;
        if (row[a] == NOLI_NULL_INDEX || row[b] == NOLI_NULL_INDEX) {
          continue;
        }
        bool below = row[a] > row[b];
        int32_t i = below ? row[b] : row[a], j = below ? row[a] : row[b];
        int64_t found = noli_pattern_find(job->pattern, i, j);
        if (found == NOLI_NULL_INDEX) {
          // the first entries of `goes` have been read: they serve as memory
          goes[batch->n_missing++] = (uint32_t)j;
          target[batch->n_block - batch->n_missing] = (uint32_t)i;
          continue;
        }
        uint32_t both = i == j && a != b ? NOLI_PLAN_BOTH : NOLI_PLAN_PLAIN;
        word[count++] = contribution(found, local, below ? NOLI_PLAN_TRANSPOSED : both);
      }
    }
  }

  // assign slots; with missing blocks only the targets matter, and memory for slots holds them
  if (batch->n_missing == 0) {
    batch->n_block_slot = assign_slots(word, other, count, job->pattern->nnz, goes, target);
  } else {
    batch->n_block_slot = 0;
    for (int32_t k = 0; k < count; k++) {
      target[batch->n_block_slot++] = (uint32_t)(word[k] >> 32);
    }
  }
}

static void locate_batches(void* user, int64_t begin, int64_t end, int32_t worker) {
  const LocateJob* job = user;
  uint64_t* scratch = job->scratch + 2 * job->room * worker;
  for (int64_t k = begin; k < end; k++) {
    NoliPlanBatch* batch = &job->plan->batch[k];
    locate_nodes(job, batch, scratch);
    if (batch->bad_stencil == NOLI_NULL_INDEX) {
      locate_blocks(job, batch, scratch);
    }
  }
}

NoliStatus noli_plan_locate(NoliContext* context, NoliPlan* plan, const NoliEnergyTerm* terms,
                            const NoliUnknowns* unknowns, const NoliBlockMatrix* pattern,
                            uint64_t* scratch, int64_t room, int64_t* n_missing) {
  NoliStatus status = NOLI_OK;
  LocateJob job = {plan, terms, unknowns, pattern, scratch, room};
  noli_parallel_for(noli_context_threads(context), plan->n_batch, 1, locate_batches, &job);
  *n_missing = 0;
  for (int64_t k = 0; k < plan->n_batch; k++) {
    const NoliPlanBatch* batch = &plan->batch[k];
    NOLI_CHECK(context, batch->bad_stencil == NOLI_NULL_INDEX, NOLI_ERROR_ARGUMENT,
               "stencil %lld of term \"%s\" names a node outside 0 .. %d",
               (long long)batch->bad_stencil, terms[batch->term].name, unknowns->n_node - 1);
    *n_missing += batch->n_missing;
  }
  if (*n_missing == 0) {
    NOLI_VALIDATE(context, noli_plan_defect(plan, terms, unknowns->n_node, pattern));
  }
done:
  return status;
}

// 19 MB of sums: more would not stay in the cache.
enum { GROUP_SLOTS = 1 << 18 };

void noli_plan_group(NoliPlan* plan, int64_t* n_block_slot, int64_t* n_node_slot) {
  int64_t n_block = 0, n_node = 0;
  *n_block_slot = 0;
  *n_node_slot = 0;
  for (int64_t k = 0; k < plan->n_batch; k++) {
    NoliPlanBatch* batch = &plan->batch[k];
    if (n_block + batch->n_block_slot > GROUP_SLOTS) {
      n_block = 0;
      n_node = 0;
    }
    batch->block_offset = n_block;
    batch->node_offset = n_node;
    n_block += batch->n_block_slot;
    n_node += batch->n_node_slot;
    *n_block_slot = n_block > *n_block_slot ? n_block : *n_block_slot;
    *n_node_slot = n_node > *n_node_slot ? n_node : *n_node_slot;
  }
}

int64_t noli_plan_group_end(const NoliPlan* plan, int64_t first) {
  int64_t end = first + 1;
  while (end < plan->n_batch &&
         (plan->batch[end].block_offset > 0 || plan->batch[end].node_offset > 0)) {
    end++;
  }
  return end;
}

void noli_plan_collect_missing(const NoliPlan* plan, int32_t key_bits, uint64_t* key) {
  for (int64_t k = 0; k < plan->n_batch; k++) {
    const NoliPlanBatch* batch = &plan->batch[k];
    const uint32_t* col = plan->block + batch->first_block;
    const uint32_t* row_end = plan->block_target + batch->first_block + batch->n_block;
    for (int32_t m = 0; m < batch->n_missing; m++) {
      *key++ = noli_pattern_key(key_bits, (int32_t)row_end[-1 - m], (int32_t)col[m]);
    }
  }
}

void noli_plan_mark_used(const NoliPlan* plan, uint8_t* flags) {
  for (int64_t k = 0; k < plan->n_batch; k++) {
    const NoliPlanBatch* batch = &plan->batch[k];
    const uint32_t* target = plan->block_target + batch->first_block;
    for (int32_t s = 0; s < batch->n_block_slot; s++) {
      flags[target[s]] |= NOLI_BLOCK_USED;
    }
  }
}

typedef struct MoveJob {
  NoliPlan* plan;
  const int32_t* moved;
} MoveJob;

static void move_batches(void* user, int64_t begin, int64_t end, int32_t worker) {
  (void)worker;
  const MoveJob* job = user;
  for (int64_t k = begin; k < end; k++) {
    const NoliPlanBatch* batch = &job->plan->batch[k];
    uint32_t* target = job->plan->block_target + batch->first_block;
    for (int32_t s = 0; s < batch->n_block_slot; s++) {
      target[s] = (uint32_t)job->moved[target[s]];
    }
  }
}

void noli_plan_move(NoliPlan* plan, int32_t n_threads, const int32_t* moved) {
  MoveJob job = {plan, moved};
  noli_parallel_for(n_threads, plan->n_batch, 1, move_batches, &job);
}

// Whether targets ascend below `n_targets`, and what goes somewhere goes to one of their slots.
static bool are_slots_good(const uint32_t* goes, int32_t n, const uint32_t* target, int32_t n_slot,
                           int64_t n_targets) {
  for (int32_t k = 0; k < n_slot; k++) {
    if ((k > 0 && target[k] <= target[k - 1]) || (int64_t)target[k] >= n_targets) {
      return false;
    }
  }
  for (int32_t k = 0; k < n; k++) {
    if (goes[k] != NOLI_PLAN_DROPPED && (int64_t)(goes[k] >> 2) >= n_slot) {
      return false;
    }
  }
  return true;
}

const char* noli_plan_defect(const NoliPlan* plan, const NoliEnergyTerm* terms, int32_t n_node,
                             const NoliBlockMatrix* pattern) {
  int64_t first_block = 0, first_node = 0;
  for (int64_t k = 0; k < plan->n_batch; k++) {
    const NoliPlanBatch* batch = &plan->batch[k];
    const NoliEnergyTerm* term = &terms[batch->term];
    bool continues = k > 0 && batch[-1].term == batch->term;
    NOLI_RULE((!continues || batch->begin == batch[-1].end) && batch->begin < batch->end &&
                  batch->end <= term->n_stencil,
              "plan: batches do not follow each other");
    NOLI_RULE(batch->first_block == first_block && batch->first_node == first_node,
              "plan: the memory of a batch does not follow that of the one before");
    NOLI_RULE(are_slots_good(plan->block + first_block, batch->n_block,
                             plan->block_target + first_block, batch->n_block_slot, pattern->nnz),
              "plan: blocks of a batch have no slots, or slots no targets that ascend");
    NOLI_RULE(are_slots_good(plan->node + first_node, batch->n_node, plan->node_target + first_node,
                             batch->n_node_slot, n_node),
              "plan: nodes of a batch have no slots, or slots no targets that ascend");
    first_block += batch->n_block;
    first_node += batch->n_node;
  }
  return NULL;
}
