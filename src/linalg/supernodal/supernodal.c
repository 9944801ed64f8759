#include "linalg/supernodal/supernodal.h"

#include "base/validate.h"

// Room for fill beyond the present need, as contacts come one by one.
#define SPARE_ROOM 1.125

// Operations from which threads factor subtrees, and those of a supernode from which they share it.
#define PARALLEL_OPERATIONS 2e6
#define SHARED_OPERATIONS 2e5

// Entries of updates that threads compute before they add them, beside the largest one.
enum { SHARED_ENTRIES = 1 << 17 };

// --- structure ---

// Makes room without keeping the content.
#define RESERVE(context, array, need)                                                              \
  do {                                                                                             \
    if ((need) > (array)->capacity) {                                                              \
      noli_array_free((context), (array));                                                         \
      NOLI_TRY(noli_array_reserve((context), (array), (int64_t)(SPARE_ROOM * (double)(need))));    \
    }                                                                                              \
  } while (0)

// Makes room for real numbers, without keeping the content.
static NoliStatus reserve_reals(NoliContext* context, const NoliSupernodal* factor,
                                NoliRealArray* array, int64_t n) {
  NoliStatus status = NOLI_OK;
  int64_t need = factor->single ? (n + 1) / 2 : n;
  RESERVE(context, array, need);
done:
  return status;
}

static NoliStatus supernodal_reserve(NoliContext* context, NoliSupernodal* factor,
                                     const NoliSymbolic* symbolic) {
  NoliStatus status = NOLI_OK;
  int64_t n = symbolic->n, n_super = symbolic->n_super;
  while (factor->scratch.count < noli_context_threads(context)) {
    NOLI_PUSH(context, &factor->scratch, (NoliFactorScratch){0});
  }
  RESERVE(context, &factor->first, n_super + 1);
  RESERVE(context, &factor->start, n_super + 1);
  RESERVE(context, &factor->row, symbolic->n_row);
  RESERVE(context, &factor->at, n_super + 1);
  NOLI_TRY(reserve_reals(context, factor, &factor->value, 9 * symbolic->n_value));
  RESERVE(context, &factor->owner, n);
  RESERVE(context, &factor->head, n_super);
  RESERVE(context, &factor->next, n_super);
  RESERVE(context, &factor->from, n_super);
  NoliFactorScratch* own = &factor->scratch.data[0];
  RESERVE(context, &own->map, n);
  int64_t more = factor->scratch.count > 1 ? SHARED_ENTRIES : 0;
  NOLI_TRY(reserve_reals(context, factor, &own->update,
                         9 * symbolic->n_update + 3 * symbolic->n_below + more));
done:
  return status;
}

// The supernode that the columns of s update first; NOLI_NULL_INDEX: none.
static int32_t parent_of(const NoliSupernodal* factor, int32_t s) {
  int64_t width = noli_supernodal_width(factor, s);
  return width == noli_supernodal_rows(factor, s)
             ? NOLI_NULL_INDEX
             : factor->owner.data[factor->row.data[factor->start.data[s] + width]];
}

// Entries of the largest update within a subtree, and of a solution below its supernodes.
static int64_t scratch_of(const NoliSupernodal* factor, const NoliSubtree* tree) {
  int64_t most = 0;
  for (int32_t d = tree->begin; d < tree->end; d++) {
    const int32_t* row = factor->row.data + factor->start.data[d];
    int64_t n = noli_supernodal_rows(factor, d), from = noli_supernodal_width(factor, d), until;
    most = 3 * (n - from) > most ? 3 * (n - from) : most;
    for (; from < n && factor->owner.data[row[from]] < tree->end; from = until) {
      int32_t s = factor->owner.data[row[from]];
      for (until = from; until < n && factor->owner.data[row[until]] == s;) {
        until++;
      }
      int64_t size = 9 * (until - from) * (n - from);
      most = size > most ? size : most;
    }
  }
  return most;
}

// Cuts the block rows into one range for each thread, with about as many products of subtrees with
// rows above them.
static NoliStatus find_shares(NoliContext* context, NoliSupernodal* factor) {
  NoliStatus status = NOLI_OK;
  int64_t n_threads = factor->scratch.count;
  double *weight = NULL, total = 0.0, sum = 0.0;
  NOLI_NEW_ZERO(context, weight, factor->n);
  for (int64_t t = 0; t < factor->subtrees.tree.count; t++) {
    NoliSubtree tree = factor->subtrees.tree.data[t];
    int32_t end = factor->first.data[tree.end];
    for (int32_t s = tree.begin; s < tree.end; s++) {
      const int32_t* row = factor->row.data + factor->start.data[s];
      for (int64_t k = noli_supernodal_rows(factor, s) - 1; k >= 0 && row[k] >= end; k--) {
        weight[row[k]] += (double)noli_supernodal_width(factor, s);
        total += (double)noli_supernodal_width(factor, s);
      }
    }
  }

  RESERVE(context, &factor->share, n_threads + 1);
  int32_t* share = factor->share.data;
  int64_t k = 0;
  share[0] = 0;
  for (int32_t i = 0; i < factor->n; i++) {
    sum += weight[i];
    while (k + 1 < n_threads && sum * (double)n_threads > total * (double)(k + 1)) {
      share[++k] = i;
    }
  }

  while (k < n_threads) {
    share[++k] = factor->n;
  }
done:
  noli_free(context, weight);
  return status;
}

// Chooses the subtrees of threads, and makes their scratch.
static NoliStatus find_subtrees(NoliContext* context, NoliSupernodal* factor, double operations) {
  NoliStatus status = NOLI_OK;
  int32_t n = factor->n_super, *parent = NULL;
  double* cost = NULL;
  factor->subtrees.tree.count = 0;
  factor->shares_top = false;
  if (factor->scratch.count < 2 || operations < PARALLEL_OPERATIONS) {
    goto done;
  }
  NOLI_NEW(context, parent, n);
  NOLI_NEW(context, cost, n);
  for (int32_t s = 0; s < n; s++) {
    double width = (double)noli_supernodal_width(factor, s),
           rows = (double)noli_supernodal_rows(factor, s);
    parent[s] = parent_of(factor, s);
    cost[s] = width * rows * rows;
  }
  NOLI_TRY(noli_subtrees_find(context, n, parent, cost, (int32_t)factor->scratch.count,
                              &factor->subtrees));
  // there are few supernodes above subtrees
  factor->shares_top =
      factor->subtrees.tree.count > 0 || operations > SHARED_OPERATIONS * (double)n;

  // scratch of any thread fits any subtree
  int64_t most = 0;
  for (int64_t t = 0; t < factor->subtrees.tree.count; t++) {
    int64_t need = scratch_of(factor, &factor->subtrees.tree.data[t]);
    most = need > most ? need : most;
  }
  for (int64_t k = 1; k < factor->scratch.count && factor->subtrees.tree.count > 0; k++) {
    RESERVE(context, &factor->scratch.data[k].map, factor->n);
    NOLI_TRY(reserve_reals(context, factor, &factor->scratch.data[k].update, most));
  }
  RESERVE(context, &factor->queue, factor->subtrees.tree.count);
  NOLI_TRY(find_shares(context, factor));
done:
  noli_free(context, parent);
  noli_free(context, cost);
  return status;
}

NoliStatus noli_supernodal_begin(NoliContext* context, NoliSupernodal* factor,
                                 const NoliSymbolic* symbolic, bool single) {
  NoliStatus status = NOLI_OK;
  factor->n = 0;
  factor->single = single;
  NOLI_TRY(supernodal_reserve(context, factor, symbolic));
  factor->n = (int32_t)symbolic->n;
  factor->n_super = (int32_t)symbolic->n_super;
  noli_symbolic_structure(symbolic, factor->first.data, factor->start.data, factor->row.data);
  factor->at.data[0] = 0;
  for (int32_t s = 0; s < factor->n_super; s++) {
    factor->at.data[s + 1] =
        factor->at.data[s] + 9 * noli_supernodal_width(factor, s) * noli_supernodal_rows(factor, s);
    for (int32_t c = factor->first.data[s]; c < factor->first.data[s + 1]; c++) {
      factor->owner.data[c] = s;
    }
  }
  NOLI_TRY(find_subtrees(context, factor, symbolic->operations));
  NOLI_VALIDATE(context, noli_supernodal_defect(factor));
done:
  return status;
}

void noli_supernodal_free(NoliContext* context, NoliSupernodal* factor) {
  NoliIndexArray* indices[] = {&factor->first, &factor->row,  &factor->owner, &factor->head,
                               &factor->next,  &factor->from, &factor->share};
  for (size_t k = 0; k < sizeof indices / sizeof indices[0]; k++) {
    noli_array_free(context, indices[k]);
  }
  noli_array_free(context, &factor->start);
  noli_array_free(context, &factor->at);
  noli_array_free(context, &factor->value);
  noli_subtrees_free(context, &factor->subtrees);
  noli_array_free(context, &factor->queue);
  for (int64_t k = 0; k < factor->scratch.count; k++) {
    noli_array_free(context, &factor->scratch.data[k].map);
    noli_array_free(context, &factor->scratch.data[k].update);
  }
  noli_array_free(context, &factor->scratch);
}

int64_t noli_supernodal_bytes(const NoliSupernodal* factor) {
  return factor->n == 0 ? 0
                        : factor->at.data[factor->n_super] *
                                  (int64_t)(factor->single ? sizeof(float) : sizeof(double)) +
                              factor->start.data[factor->n_super] * (int64_t)sizeof(int32_t);
}

// --- validation ---

// Whether the rows of d below its columns are rows of the supernode of the first one, which they
// update first. Those of other supernodes follow from that supernode's own rows.
static bool updates_fit(const NoliSupernodal* factor, int32_t d) {
  const int32_t* row = factor->row.data + factor->start.data[d];
  int64_t n = noli_supernodal_rows(factor, d), from = noli_supernodal_width(factor, d);
  if (from == n) {
    return true;
  }
  int32_t s = factor->owner.data[row[from]];
  const int32_t* other = factor->row.data + factor->start.data[s];
  int64_t j = 0, n_other = noli_supernodal_rows(factor, s);
  for (int64_t k = from; k < n; k++) {
    while (j < n_other && other[j] < row[k]) {
      j++;
    }
    if (j == n_other || other[j] != row[k]) {
      return false;
    }
  }
  return true;
}

static const char* supernode_defect(const NoliSupernodal* factor, int32_t s) {
  int32_t first = factor->first.data[s], end = factor->first.data[s + 1];
  int64_t width = noli_supernodal_width(factor, s), n = noli_supernodal_rows(factor, s);
  const int32_t* row = factor->row.data + factor->start.data[s];
  NOLI_RULE(n >= width, "supernodes: one has fewer rows than columns");
  NOLI_RULE(factor->at.data[s + 1] == factor->at.data[s] + 9 * width * n,
            "supernodes: panels do not follow each other");
  for (int64_t k = 0; k < n; k++) {
    NOLI_RULE(k >= width || row[k] == first + k,
              "supernodes: the rows do not begin with those of the columns");
    NOLI_RULE(k == 0 || row[k] > row[k - 1], "supernodes: rows do not ascend");
    NOLI_RULE(row[k] < factor->n, "supernodes: a row is out of range");
  }
  for (int32_t c = first; c < end; c++) {
    NOLI_RULE(factor->owner.data[c] == s, "supernodes: a column has another owner");
  }
  return NULL;
}

const char* noli_supernodal_defect(const NoliSupernodal* factor) {
  int32_t n_super = factor->n_super;
  NOLI_RULE(factor->first.data[0] == 0 && factor->first.data[n_super] == factor->n &&
                factor->start.data[0] == 0 && factor->at.data[0] == 0,
            "supernodes: they do not hold all columns");
  for (int32_t s = 0; s < n_super; s++) {
    NOLI_RULE(factor->first.data[s] < factor->first.data[s + 1], "supernodes: one has no columns");
    const char* defect = supernode_defect(factor, s);
    NOLI_RULE(defect == NULL, defect);
  }
  NOLI_RULE(factor->start.data[n_super] <= factor->row.capacity &&
                factor->at.data[n_super] <= (factor->single ? 2 : 1) * factor->value.capacity,
            "supernodes: the panels are larger than their memory");

  // every owner is known
  for (int32_t d = 0; d < n_super; d++) {
    NOLI_RULE(updates_fit(factor, d), "supernodes: an updated row does not exist");
  }
  return NULL;
}
