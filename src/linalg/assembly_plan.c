#include "linalg/assembly_plan.h"

#include "base/parallel.h"

#include <string.h>

void noli_plan_free(NoliContext* context, NoliPlan* plan) {
  noli_free(context, plan->batch);
  noli_free(context, plan->block);
  noli_free(context, plan->node);
  *plan = (NoliPlan){0};
}

NoliStatus noli_plan_layout(NoliContext* context, NoliPlan* plan, const NoliEnergyTerm* terms,
                            int32_t first, int32_t n_terms) {
  NoliStatus status = NOLI_OK;
  int64_t n_batch = 0;
  for (int32_t t = first; t < n_terms; t++) {
    n_batch += (terms[t].n_stencil + NOLI_PLAN_BATCH - 1) / NOLI_PLAN_BATCH;
  }
  NOLI_TRY(noli_grow(context, (void**)&plan->batch, &plan->batch_capacity, n_batch,
                     sizeof *plan->batch));
  int64_t n_block = 0, n_node = 0;
  plan->n_batch = 0;
  for (int32_t t = first; t < n_terms; t++) {
    int32_t size = terms[t].size;
    for (int64_t begin = 0; begin < terms[t].n_stencil; begin += NOLI_PLAN_BATCH) {
      int64_t left = terms[t].n_stencil - begin;
      int64_t count = left < NOLI_PLAN_BATCH ? left : NOLI_PLAN_BATCH;
      plan->batch[plan->n_batch++] = (NoliPlanBatch){
          .term = t,
          .begin = begin,
          .end = begin + count,
          .first_block = n_block,
          .first_node = n_node,
      };
      n_block += count * noli_stencil_blocks(size);
      n_node += count * size;
    }
  }
  NOLI_TRY(noli_grow(context, (void**)&plan->block, &plan->block_capacity, n_block,
                     sizeof *plan->block));
  NOLI_TRY(
      noli_grow(context, (void**)&plan->node, &plan->node_capacity, n_node, sizeof *plan->node));
done:
  return status;
}

// Distributes entries to buckets and keeps their order inside; returns how many.
static int32_t sort_into_buckets(const uint64_t* entry, int32_t count, int32_t* start,
                                 uint64_t* sorted) {
  int32_t next[NOLI_PLAN_BUCKETS] = {0};
  for (int32_t k = 0; k < count; k++) {
    next[noli_entry_bucket(entry[k])]++;
  }
  int32_t sum = 0;
  for (int32_t b = 0; b < NOLI_PLAN_BUCKETS; b++) {
    int32_t items = next[b];
    start[b] = sum;
    next[b] = sum;
    sum += items;
  }
  start[NOLI_PLAN_BUCKETS] = sum;
  for (int32_t k = 0; k < count; k++) {
    sorted[next[noli_entry_bucket(entry[k])]++] = entry[k];
  }
  return count;
}

typedef struct LocateJob {
  NoliPlan* plan;
  const NoliEnergyTerm* terms;
  const NoliUnknowns* unknowns;
  const NoliBlockMatrix* pattern;
  uint64_t* scratch;
} LocateJob;

// Gradient entries of a batch: every node that is not padding. Remembers stencils that are wrong.
static void locate_nodes(const LocateJob* job, NoliPlanBatch* batch, uint64_t* scratch) {
  const NoliEnergyTerm* term = &job->terms[batch->term];
  const int32_t* node = term->node + batch->begin * term->size;
  int32_t n_local = (int32_t)(batch->end - batch->begin) * term->size;
  int32_t count = 0;
  batch->bad_stencil = NOLI_NULL_INDEX;
  for (int32_t k = 0; k < n_local; k++) {
    if (node[k] == NOLI_NULL_INDEX) {
      continue;
    }
    if (node[k] < 0 || node[k] >= job->unknowns->n_node) {
      batch->bad_stencil = batch->begin + k / term->size;
      return;
    }
    scratch[count++] = noli_entry((uint32_t)node[k], (uint32_t)k, NOLI_ENTRY_PLAIN);
  }
  sort_into_buckets(scratch, count, batch->node_start, job->plan->node + batch->first_node);
}

// Block rows of the nodes of a stencil, NOLI_NULL_INDEX for padding and prescribed nodes.
static void stencil_rows(const NoliUnknowns* unknowns, const int32_t* node, int32_t size,
                         int32_t* row) {
  for (int32_t a = 0; a < size; a++) {
    row[a] = node[a] == NOLI_NULL_INDEX ? NOLI_NULL_INDEX : unknowns->dof[node[a]];
  }
}

// Matrix entries of a batch: found blocks in buckets, keys of missing ones behind them.
static void locate_blocks(const LocateJob* job, NoliPlanBatch* batch, uint64_t* scratch) {
  const NoliEnergyTerm* term = &job->terms[batch->term];
  int32_t size = term->size, n_blocks = noli_stencil_blocks(size);
  int32_t bits = noli_pattern_key_bits(job->pattern->n);
  int32_t capacity = (int32_t)(batch->end - batch->begin) * n_blocks;
  int32_t n_found = 0, n_missing = 0;
  for (int64_t s = batch->begin; s < batch->end; s++) {
    int32_t row[NOLI_STENCIL_MAX];
    stencil_rows(job->unknowns, term->node + s * size, size, row);
    int32_t source = (int32_t)(s - batch->begin) * n_blocks - 1;
    for (int32_t a = 0; a < size; a++) {
      for (int32_t b = a; b < size; b++) {
        source++;
        if (row[a] == NOLI_NULL_INDEX || row[b] == NOLI_NULL_INDEX) {
          continue;
        }
        bool below = row[a] > row[b];
        int32_t i = below ? row[b] : row[a], j = below ? row[a] : row[b];
        int64_t target = noli_pattern_find(job->pattern, i, j);
        if (target == NOLI_NULL_INDEX) {
          scratch[capacity - 1 - n_missing++] = noli_pattern_key(bits, i, j);
          continue;
        }
        uint32_t how = below              ? NOLI_ENTRY_TRANSPOSED
                       : i == j && a != b ? NOLI_ENTRY_BOTH
                                          : NOLI_ENTRY_PLAIN;
        scratch[n_found++] = noli_entry((uint32_t)target, (uint32_t)source, how);
      }
    }
  }
  uint64_t* block = job->plan->block + batch->first_block;
  sort_into_buckets(scratch, n_found, batch->block_start, block);
  batch->n_missing = n_missing;
  if (n_missing > 0) {
    memcpy(block + n_found, scratch + capacity - n_missing, sizeof *block * (size_t)n_missing);
  }
}

static void locate_batches(void* user, int64_t begin, int64_t end, int32_t worker) {
  const LocateJob* job = user;
  uint64_t* scratch = job->scratch + (int64_t)worker * NOLI_PLAN_SCRATCH;
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
                            uint64_t* scratch, int64_t* n_missing) {
  NoliStatus status = NOLI_OK;
  LocateJob job = {plan, terms, unknowns, pattern, scratch};
  noli_parallel_for(noli_context_threads(context), plan->n_batch, 1, locate_batches, &job);
  *n_missing = 0;
  for (int64_t k = 0; k < plan->n_batch; k++) {
    const NoliPlanBatch* batch = &plan->batch[k];
    NOLI_CHECK(context, batch->bad_stencil == NOLI_NULL_INDEX, NOLI_ERROR_ARGUMENT,
               "stencil %lld of term \"%s\" names a node outside 0 .. %d",
               (long long)batch->bad_stencil, terms[batch->term].name, unknowns->n_node - 1);
    *n_missing += batch->n_missing;
  }
done:
  return status;
}

void noli_plan_collect_missing(const NoliPlan* plan, uint64_t* key) {
  for (int64_t k = 0; k < plan->n_batch; k++) {
    const NoliPlanBatch* batch = &plan->batch[k];
    const uint64_t* from = plan->block + batch->first_block + batch->block_start[NOLI_PLAN_BUCKETS];
    for (int32_t m = 0; m < batch->n_missing; m++) {
      *key++ = from[m];
    }
  }
}

typedef struct MarkJob {
  const NoliPlan* plan;
  uint8_t* flags;
} MarkJob;

static void mark_buckets(void* user, int64_t begin, int64_t end, int32_t worker) {
  (void)worker;
  const MarkJob* job = user;
  for (int64_t k = 0; k < job->plan->n_batch; k++) {
    const NoliPlanBatch* batch = &job->plan->batch[k];
    const uint64_t* entry = job->plan->block + batch->first_block;
    for (int32_t e = batch->block_start[begin]; e < batch->block_start[end]; e++) {
      job->flags[noli_entry_target(entry[e])] |= NOLI_BLOCK_USED;
    }
  }
}

void noli_plan_mark_used(const NoliPlan* plan, int32_t n_threads, uint8_t* flags) {
  MarkJob job = {plan, flags};
  noli_parallel_for(n_threads, NOLI_PLAN_BUCKETS, 1, mark_buckets, &job);
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
    uint64_t* entry = job->plan->block + batch->first_block;
    for (int32_t e = 0; e < batch->block_start[NOLI_PLAN_BUCKETS]; e++) {
      uint32_t target = (uint32_t)job->moved[noli_entry_target(entry[e])];
      entry[e] = (uint64_t)target << 32 | (uint32_t)entry[e];
    }
  }
}

void noli_plan_move(NoliPlan* plan, int32_t n_threads, const int32_t* moved) {
  MoveJob job = {plan, moved};
  noli_parallel_for(n_threads, plan->n_batch, 1, move_batches, &job);
}
