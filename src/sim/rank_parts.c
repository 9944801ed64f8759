#include "sim/rank_parts.h"

#include "base/ranks.h"
#include "mpi/partition.h"
#include "sim/body_kind.h"

#include <string.h>

// ---- elements -----------------------------------------------------------------------------------

// The cells of the bodies of a block, one body after the other.
static NoliStatus list_cells(const NoliModel* model, const NoliSimDef* def, int32_t block,
                             int32_t* first, int32_t* vertex, NoliCells* cells) {
  NoliStatus status = NOLI_OK;
  int64_t n_vert = 0, n_corner = 0;
  *cells = (NoliCells){.first = first, .vertex = vertex};
  first[0] = 0;
  for (int32_t b = 0; b < model->n_body; b++) {
    if (model->problem.range[b].block != block) {
      continue;
    }
    const NoliMesh* mesh = def->bodies[b].mesh;
    NoliBodyCells own = noli_body_cells(noli_body_kind(&def->bodies[b]), mesh);
    NOLI_CHECK(model->context,
               n_corner + (int64_t)own.size * own.n <= INT32_MAX &&
                   n_vert + mesh->n_vert <= INT32_MAX,
               NOLI_ERROR_TOO_LARGE, "the elements of all bodies are too many to be divided");
    for (int64_t i = 0; i < (int64_t)own.size * own.n; i++) {
      vertex[n_corner + i] = (int32_t)n_vert + own.vertex[i];
    }
    for (int32_t e = 0; e < own.n; e++) {
      n_corner += own.size;
      first[++cells->n] = (int32_t)n_corner;
    }
    n_vert += mesh->n_vert;
  }
  cells->n_vert = (int32_t)n_vert;
done:
  return status;
}

// On the first rank, for all.
static NoliStatus partition(const NoliModel* model, const NoliSimDef* def, int32_t block, int32_t n,
                            int32_t* part) {
  NoliStatus status = NOLI_OK;
  NoliContext* context = model->context;
  NoliCells cells;
  int32_t *first = NULL, *vertex = NULL;
  NOLI_NEW(context, first, (int64_t)n + 1);
  NOLI_NEW(context, vertex, 4 * (int64_t)n);
  NOLI_TRY(list_cells(model, def, block, first, vertex, &cells));
  NOLI_TRY(noli_partition_cells(context, &cells, noli_rank_count(context), part));
done:
  noli_free(context, first);
  noli_free(context, vertex);
  return status;
}

NoliStatus noli_rank_parts_divide(NoliModel* model, const NoliSimDef* def, int32_t block,
                                  int32_t* rank) {
  NoliStatus status = NOLI_OK;
  NoliContext* context = model->context;
  int32_t *part = NULL, n = model->problem.block[block].n_element;
  NOLI_NEW(context, part, n);
  if (noli_rank(context) == 0) {
    NOLI_TRY(partition(model, def, block, n, part));
  }
  NOLI_TRY(noli_ranks_broadcast(context, 0, sizeof *part, part, n));
  for (int32_t b = 0; b < model->n_body; b++) {
    NoliBlockRange range = model->problem.range[b];
    if (range.block == block && range.begin < range.end) {
      memcpy(rank + model->tet_first[b], part + range.begin,
             (size_t)(range.end - range.begin) * sizeof *rank);
    }
  }
done:
  noli_free(context, part);
  return status;
}

// ---- nodes --------------------------------------------------------------------------------------

// The ranks of the elements around each node: first[i + 1] .. first[i + 2] while they are listed,
// first[i] .. first[i + 1] afterwards.
typedef struct Around {
  int64_t* first; // (n_node + 2)
  int32_t* rank;  // NULL while they are counted
} Around;

static void add(Around* around, int32_t rank, const int32_t* node, int32_t n) {
  for (int32_t k = 0; k < n; k++) {
    if (node[k] == NOLI_NULL_INDEX) {
      continue;
    }
    if (around->rank == NULL) {
      around->first[node[k] + 2]++;
    } else {
      around->rank[around->first[node[k] + 1]++] = rank;
    }
  }
}

// Elements of a block that is not divided, and angles, have ranks with equal numbers of them.
static int32_t rank_in_order(const NoliModel* model, int64_t i, int64_t n) {
  return (int32_t)(i * noli_rank_count(model->context) / n);
}

static void add_elements(const NoliModel* model, const int32_t* rank, Around* around) {
  const NoliProblem* problem = &model->problem;
  for (int32_t b = 0; b < model->n_body; b++) {
    const NoliBlock* block = noli_problem_block(problem, b);
    for (int32_t t = model->tet_first[b]; t < model->tet_first[b + 1] && block->divided; t++) {
      add(around, rank[t], model->tet + 4 * (int64_t)t, 4);
    }
  }
  for (int32_t i = 0; i < problem->n_block; i++) {
    const NoliBlock* block = &problem->block[i];
    for (int32_t e = 0; e < block->n_element && !block->divided; e++) {
      add(around, rank_in_order(model, e, block->n_element),
          block->node + (int64_t)block->n_local * e, block->n_local);
    }
    for (int32_t s = 0; s < block->n_angle; s++) {
      const int32_t angle = block->first_angle + s;
      add(around, rank_in_order(model, s, block->n_angle), &angle, 1);
    }
  }
}

// The most frequent of n ranks; where there are several, the one with the fewest nodes. `count`
// (ranks) is zero before and after.
static int32_t most_frequent(const int32_t* rank, int64_t n, const int64_t* n_owned,
                             int32_t* count) {
  int32_t best = n > 0 ? rank[0] : 0;
  for (int64_t k = 0; k < n; k++) {
    count[rank[k]]++;
  }
  for (int64_t k = 0; k < n; k++) {
    int32_t r = rank[k], more = count[r] - count[best];
    best = more > 0 || (more == 0 && n_owned[r] < n_owned[best]) ? r : best;
  }
  for (int64_t k = 0; k < n; k++) {
    count[rank[k]] = 0;
  }
  return best;
}

NoliStatus noli_rank_parts_own_nodes(NoliModel* model, const int32_t* rank) {
  NoliStatus status = NOLI_OK;
  NoliContext* context = model->context;
  NoliProblem* problem = &model->problem;
  int32_t n_node = problem->n_node, n_rank = noli_rank_count(context), *count = NULL;
  int64_t* n_owned = NULL;
  Around around = {0};
  if (n_rank == 1) {
    goto done;
  }
  NOLI_NEW(context, problem->owner, n_node);
  NOLI_NEW_ZERO(context, n_owned, n_rank);
  NOLI_NEW_ZERO(context, count, n_rank);
  NOLI_NEW_ZERO(context, around.first, (int64_t)n_node + 2);
  add_elements(model, rank, &around);
  for (int32_t i = 0; i < n_node; i++) {
    around.first[i + 2] += around.first[i + 1];
  }
  NOLI_NEW(context, around.rank, around.first[n_node + 1]);
  add_elements(model, rank, &around);
  for (int32_t i = 0; i < n_node; i++) {
    const int32_t* own = around.rank + around.first[i];
    problem->owner[i] = most_frequent(own, around.first[i + 1] - around.first[i], n_owned, count);
    n_owned[problem->owner[i]]++;
  }
done:
  noli_free(context, around.first);
  noli_free(context, around.rank);
  noli_free(context, n_owned);
  noli_free(context, count);
  return status;
}
