#include "model/rank_parts.h"

#include "base/ranks.h"
#include "define/body_kind.h"
#include "model/bodies.h"
#include "mpi/partition.h"

// ---- elements -----------------------------------------------------------------------------------

// The cells of all bodies that are simulated, one body after the other, in `first` and `vertex`.
static NoliStatus rank_parts_list_cells(const NoliModel* model, const NoliSimDef* def,
                                        int32_t* first, int32_t* vertex, NoliCells* cells) {
  NoliStatus status = NOLI_OK;
  int64_t n_vert = 0, n_corner = 0;
  *cells = (NoliCells){.first = first, .vertex = vertex};
  first[0] = 0;
  for (int32_t b = 0; b < model->n_body; b++) {
    if (model->obstacle[b]) {
      continue;
    }
    const NoliMesh* mesh = def->bodies[b].mesh;
    NoliBodyCells own = noli_body_elements(&def->bodies[b]);
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

// The work for each of these cells, which depends on how many others there are at its vertices.
static NoliStatus weigh_cells(const NoliModel* model, const NoliSimDef* def, const NoliCells* cells,
                              int32_t* weight) {
  NoliStatus status = NOLI_OK;
  int32_t* around = NULL;
  NOLI_NEW_ZERO(model->context, around, cells->n_vert);
  for (int64_t i = 0; i < cells->first[cells->n]; i++) {
    around[cells->vertex[i]]++;
  }
  for (int32_t b = 0; b < model->n_body; b++) {
    NoliBlockBody body = noli_bodies_describe(model, def, b);
    for (int32_t e = model->cell_first[b]; e < model->cell_first[b + 1]; e++) {
      int32_t others = 0;
      for (int32_t i = cells->first[e]; i < cells->first[e + 1]; i++) {
        others += around[cells->vertex[i]] - 1;
      }
      weight[e] = noli_problem_block(&model->problem, b)->type->work(&body, others);
    }
  }
done:
  noli_free(model->context, around);
  return status;
}

// On the first rank, for all.
static NoliStatus partition(const NoliModel* model, const NoliSimDef* def, int32_t n,
                            int32_t* rank) {
  NoliStatus status = NOLI_OK;
  NoliContext* context = model->context;
  NoliCells cells;
  int32_t *first = NULL, *vertex = NULL, *weight = NULL;
  NOLI_NEW(context, first, (int64_t)n + 1);
  NOLI_NEW(context, vertex, 4 * (int64_t)n);
  NOLI_NEW(context, weight, n);
  NOLI_TRY(rank_parts_list_cells(model, def, first, vertex, &cells));
  NOLI_TRY(weigh_cells(model, def, &cells, weight));
  cells.weight = weight;
  NOLI_TRY(noli_partition_cells(context, &cells, noli_rank_count(context), rank));
done:
  noli_free(context, first);
  noli_free(context, vertex);
  noli_free(context, weight);
  return status;
}

NoliStatus noli_rank_parts_divide(NoliModel* model, const NoliSimDef* def, int32_t* rank) {
  NoliStatus status = NOLI_OK;
  int32_t n = model->cell_first[model->n_body];
  if (noli_rank(model->context) == 0) {
    NOLI_TRY(partition(model, def, n, rank));
  }
  NOLI_TRY(noli_ranks_broadcast(model->context, 0, sizeof *rank, rank, n));
done:
  return status;
}

void noli_rank_parts_in_order(const NoliModel* model, int32_t* rank) {
  const NoliProblem* problem = &model->problem;
  for (int32_t b = 0; b < model->n_body; b++) {
    NoliBlockRange range = problem->range[b];
    for (int64_t e = range.begin; e < range.end; e++) {
      rank[model->cell_first[b] + e - range.begin] =
          (int32_t)(e * noli_rank_count(model->context) / problem->block[range.block].n_element);
    }
  }
}

// ---- nodes --------------------------------------------------------------------------------------

// The ranks of the elements around each node: first[i + 1] .. first[i + 2] while they are listed,
// first[i] .. first[i + 1] afterwards.
typedef struct Around {
  int64_t* first; // (n_node + 2)
  int32_t* rank;  // NULL while they are counted
} Around;

static void rank_parts_add(Around* around, int32_t rank, const int32_t* node, int32_t n) {
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

static void add_elements(const NoliModel* model, const int32_t* rank, Around* around) {
  const NoliProblem* problem = &model->problem;
  for (int32_t b = 0; b < model->n_body; b++) {
    const NoliBlock* block = noli_problem_block(problem, b);
    int32_t first = model->cell_first[b], n = model->cell_first[b + 1] - first;
    for (int32_t i = 0; i < n && block->divided; i++) {
      rank_parts_add(around, rank[first + i], model->cell + 4 * (int64_t)(first + i), 4);
    }
    for (int32_t i = 0; i < n && !block->divided; i++) {
      int32_t e = problem->range[b].begin + i, angle = block->first_angle + i;
      rank_parts_add(around, rank[first + i], block->node + (int64_t)block->n_local * e,
                     block->n_local);
      rank_parts_add(around, rank[first + i], &angle, block->n_angle > 0 ? 1 : 0);
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
  NOLI_NEW(context, problem->ranks.owner, n_node);
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
    problem->ranks.owner[i] =
        most_frequent(own, around.first[i + 1] - around.first[i], n_owned, count);
    n_owned[problem->ranks.owner[i]]++;
  }
done:
  noli_free(context, around.first);
  noli_free(context, around.rank);
  noli_free(context, n_owned);
  noli_free(context, count);
  return status;
}

NoliStatus noli_rank_parts_divide_contacts(NoliModel* model) {
  NoliStatus status = NOLI_OK;
  NoliProblem* problem = &model->problem;
  const NoliFollowers* followers = &problem->followers;
  if (noli_rank_count(model->context) == 1) {
    return NOLI_OK;
  }
  problem->ranks.divides_contacts = problem->ranks.in_parts;
  for (int32_t b = 0; b < problem->surface->n_body; b++) {
    problem->ranks.divides_contacts =
        problem->ranks.divides_contacts && !problem->surface->planar[b];
  }
  NOLI_NEW(model->context, problem->ranks.home, problem->n_vert);
  for (int32_t i = 0; i < problem->n_vert; i++) {
    bool moves = i < problem->n_node && !model->obstacle[problem->surface->body[i]];
    problem->ranks.home[i] = moves ? problem->ranks.owner[i] : NOLI_NULL_INDEX;
  }
  for (int32_t f = followers->n_tied; f < followers->n; f++) {
    // a body that is welded to the world follows no node
    int64_t first = followers->row[f];
    int32_t leader = first < followers->row[f + 1] ? followers->node[first] : 0;
    problem->ranks.home[noli_followers_vertex(followers, f)] = problem->ranks.home[leader];
  }
done:
  return status;
}
