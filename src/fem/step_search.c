#include "fem/step_search.h"

int32_t noli_search_run(NoliStepSearch* search, int64_t n_tet, int32_t n_threads,
                        NoliRangeFn* range, void* user) {
  for (int32_t w = 0; w < NOLI_SEARCH_WORKERS_MAX; w++) {
    search->best[w].alpha = 1.0;
    search->best[w].tet = NOLI_NULL_INDEX;
  }
  int32_t n_workers = n_threads < NOLI_SEARCH_WORKERS_MAX ? n_threads : NOLI_SEARCH_WORKERS_MAX;
  noli_parallel_for(n_workers, n_tet, search->block, range, user);
  // reduce the results of all workers to best[0]
  for (int32_t w = 1; w < NOLI_SEARCH_WORKERS_MAX; w++) {
    noli_search_offer(search, 0, search->best[w].alpha, search->best[w].tet);
  }
  return search->best[0].tet;
}

double noli_search_inversion_bound(NoliStepSearch* search, int64_t n_tet, int32_t n_threads,
                                   NoliRangeFn* bound, NoliRangeFn* inverted, void* user,
                                   int32_t* blocking) {
  int32_t stops = noli_search_run(search, n_tet, n_threads, bound, user);
  double alpha = search->best[0].alpha;
  // rounding of the positions may still invert a nearly flat element: test the positions
  double cut = 1e-6;
  while (alpha > 0.0) {
    search->alpha = alpha;
    int32_t first = noli_search_run(search, n_tet, n_threads, inverted, user);
    if (first == NOLI_NULL_INDEX) {
      break;
    }
    stops = first;
    alpha *= 1.0 - cut;
    cut = fmin(4.0 * cut, 0.9);
  }
  if (blocking != NULL) {
    *blocking = stops;
  }
  return alpha;
}
