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

// The entry of two entities, created at infinite distance if there is none; valid until the next
// call.
static NoliStatus find_pair(NoliPairForces* forces, NoliContext* context, int32_t a, int32_t b,
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

// Adds to `sum`, the resultant on pair->a, a force that acts on `on`.
static void add_force(const NoliPairForce* pair, int32_t on, NoliVec3 force, double sum[3]) {
  if (pair->a != pair->b) {
    double sign = on == pair->a ? 1.0 : -1.0;
    noli_store3(sum, noli_mul_add3(noli_load3(sum), sign, force));
  }
}

NoliStatus noli_pair_forces_add_contact(NoliPairForces* forces, NoliContext* context,
                                        const int32_t entity[2], double distance, NoliVec3 force) {
  NoliStatus status = NOLI_OK;
  NoliPairForce* pair;
  NOLI_TRY(find_pair(forces, context, entity[0], entity[1], &pair));
  add_force(pair, entity[0], force, pair->normal);
  pair->min_distance = fmin(pair->min_distance, distance);
  pair->contacts++;
done:
  return status;
}

NoliStatus noli_pair_forces_add_friction(NoliPairForces* forces, NoliContext* context,
                                         const int32_t entity[2], NoliVec3 force) {
  NoliStatus status = NOLI_OK;
  NoliPairForce* pair;
  NOLI_TRY(find_pair(forces, context, entity[0], entity[1], &pair));
  add_force(pair, entity[0], force, pair->friction);
done:
  return status;
}
