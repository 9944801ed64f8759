#include "contact/pair_forces.h"

#include <string.h>

void noli_pair_forces_free(NoliContext* context, NoliPairForces* forces) {
  noli_array_free(context, &forces->pair);
}

// First entry not below (a, b).
static int64_t lower_bound(const NoliPairForces* forces, int32_t a, int32_t b) {
  int64_t begin = 0, end = forces->pair.count;
  while (begin < end) {
    int64_t middle = begin + (end - begin) / 2;
    const NoliPairForce* pair = &forces->pair.data[middle];
    if (pair->a < a || (pair->a == a && pair->b < b)) {
      begin = middle + 1;
    } else {
      end = middle;
    }
  }
  return begin;
}

NoliStatus noli_pair_forces_find(NoliPairForces* forces, NoliContext* context, int32_t a, int32_t b,
                                 NoliPairForce** pair) {
  NoliStatus status = NOLI_OK;
  int32_t low = a < b ? a : b, high = a < b ? b : a;
  int64_t at = lower_bound(forces, low, high), count = forces->pair.count;
  bool found = at < count && forces->pair.data[at].a == low && forces->pair.data[at].b == high;
  if (!found) {
    NOLI_TRY(noli_array_reserve(context, &forces->pair, count + 1));
    memmove(&forces->pair.data[at + 1], &forces->pair.data[at],
            (size_t)(count - at) * sizeof *forces->pair.data);
    forces->pair.data[at] = (NoliPairForce){.a = low, .b = high, .min_distance = (double)INFINITY};
    forces->pair.count++;
  }
  *pair = &forces->pair.data[at];
done:
  return status;
}

void noli_pair_forces_add(const NoliPairForce* pair, int32_t on, NoliVec3 force, double sum[3]) {
  if (pair->a == pair->b) {
    return;
  }
  double sign = on == pair->a ? 1.0 : -1.0;
  sum[0] += sign * force.x;
  sum[1] += sign * force.y;
  sum[2] += sign * force.z;
}
