#include "mpi/hubs.h"

#include "base/ranks.h"
#include "base/sort.h"

void noli_hubs_free(NoliContext* context, NoliHubs* hubs) {
  noli_free(context, hubs->node);
  *hubs = (NoliHubs){0};
}

NoliStatus noli_hubs_find(NoliHubs* hubs, NoliContext* context, int32_t begin, int32_t n,
                          const int64_t* row, int64_t most) {
  NoliStatus status = NOLI_OK;
  int64_t n_own = 0;
  int32_t* own = NULL;
  for (int32_t i = 0; i < n; i++) {
    n_own += row[i + 1] - row[i] > most ? 1 : 0;
  }
  NOLI_NEW(context, own, n_own + 1);
  n_own = 0;
  for (int32_t i = 0; i < n; i++) {
    if (row[i + 1] - row[i] > most) {
      own[n_own++] = begin + i;
    }
  }
  // ranks have consecutive rows, one rank after the other
  NOLI_TRY(noli_grow(context, (void**)&hubs->node, &hubs->capacity, 1, sizeof *own));
  NOLI_TRY(noli_ranks_gather(context, sizeof *own, own, n_own, (void**)&hubs->node, &hubs->capacity,
                             &hubs->n));
done:
  noli_free(context, own);
  return status;
}

static bool is_hub(const NoliHubs* hubs, int32_t node) {
  return noli_find_sorted(&node, hubs->node, hubs->n, sizeof node, noli_compare_int32) != NULL;
}

bool noli_hubs_couple(const NoliHubs* hubs, int32_t node, int32_t other) {
  return hubs->n > 0 && node != other && (is_hub(hubs, node) || is_hub(hubs, other));
}
