#include "contact/pair_forces.h"

#include "base/ranks.h"
#include "base/sort.h"

#include <math.h>
#include <string.h>

NoliContactPlace noli_contact_place(const int32_t entity[2], int32_t n_first, int32_t size,
                                    const int32_t* vertex, const double* weight, const double* x) {
  NoliContactPlace place = {.entity = {entity[0], entity[1]}, .n_first = n_first};
  double sum[2] = {0.0, 0.0};
  for (int32_t k = 0; k < 4; k++) {
    place.vertex[k] = k < size ? vertex[k] : NOLI_NULL_INDEX;
    if (place.vertex[k] != NOLI_NULL_INDEX) {
      int side = k < n_first ? 0 : 1;
      NoliVec3 at = noli_load3(x + 3 * (int64_t)vertex[k]);
      place.point[side] = noli_mul_add3(place.point[side], weight[k], at);
      sum[side] += weight[k];
    }
  }
  for (int side = 0; side < 2; side++) {
    place.point[side] = noli_scale3(sum[side] != 0.0 ? 1.0 / sum[side] : 0.0, place.point[side]);
  }
  if (sum[1] == 0.0) {
    place.point[1] = place.point[0];
  }
  return place;
}

NoliContactPlace noli_contact_place_of_vertex(const int32_t entity[2], int32_t vertex,
                                              const double* x, NoliVec3 point) {
  return (NoliContactPlace){.entity = {entity[0], entity[1]},
                            .vertex = {vertex, NOLI_NULL_INDEX, NOLI_NULL_INDEX, NOLI_NULL_INDEX},
                            .n_first = 1,
                            .point = {noli_load3(x + 3 * (int64_t)vertex), point}};
}

void noli_pair_forces_free(NoliContext* context, NoliPairForces* forces) {
  noli_array_free(context, &forces->pair);
  noli_array_free(context, &forces->contact);
}

void noli_pair_forces_clear(NoliPairForces* forces) {
  forces->pair.count = 0;
  forces->contact.count = 0;
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
static void pair_forces_add_force(const NoliPairForce* pair, int32_t on, NoliVec3 force,
                                  double sum[3]) {
  if (pair->a != pair->b) {
    double sign = on == pair->a ? 1.0 : -1.0;
    noli_store3(sum, noli_mul_add3(noli_load3(sum), sign, force));
  }
}

// Appends a contact without forces, if contacts are listed; otherwise `*info` is NULL.
static NoliStatus list_contact(NoliPairForces* forces, NoliContext* context,
                               const NoliContactPlace* place, NoliContactInfo** info) {
  NoliStatus status = NOLI_OK;
  *info = NULL;
  if (!forces->lists) {
    return NOLI_OK;
  }
  NoliContactInfo made = {.entity = {place->entity[0], place->entity[1]},
                          .n_first = place->n_first,
                          .gap = (double)INFINITY};
  memcpy(made.vertex, place->vertex, sizeof made.vertex);
  noli_store3(made.position[0], place->point[0]);
  noli_store3(made.position[1], place->point[1]);
  NOLI_PUSH(context, &forces->contact, made);
  *info = &forces->contact.data[forces->contact.count - 1];
done:
  return status;
}

NoliStatus noli_pair_forces_add_contact(NoliPairForces* forces, NoliContext* context,
                                        const NoliContactPlace* place, double gap, NoliVec3 force) {
  NoliStatus status = NOLI_OK;
  NoliPairForce* pair;
  NoliContactInfo* info;
  NOLI_TRY(list_contact(forces, context, place, &info));
  NOLI_TRY(find_pair(forces, context, place->entity[0], place->entity[1], &pair));
  pair_forces_add_force(pair, place->entity[0], force, pair->normal);
  pair->min_distance = fmin(pair->min_distance, gap);
  pair->contacts++;
  if (info != NULL) {
    info->gap = gap;
    noli_store3(info->normal_force, force);
  }
done:
  return status;
}

NoliStatus noli_pair_forces_add_friction(NoliPairForces* forces, NoliContext* context,
                                         const NoliContactPlace* place, NoliVec3 force) {
  NoliStatus status = NOLI_OK;
  NoliPairForce* pair;
  NoliContactInfo* info;
  NOLI_TRY(list_contact(forces, context, place, &info));
  NOLI_TRY(find_pair(forces, context, place->entity[0], place->entity[1], &pair));
  pair_forces_add_force(pair, place->entity[0], force, pair->friction);
  if (info != NULL) {
    noli_store3(info->friction_force, force);
  }
done:
  return status;
}

// Adds the resultants of another rank.
static NoliStatus add_pair(NoliPairForces* forces, NoliContext* context,
                           const NoliPairForce* more) {
  NoliStatus status = NOLI_OK;
  NoliPairForce* pair;
  NOLI_TRY(find_pair(forces, context, more->a, more->b, &pair));
  for (int k = 0; k < 3; k++) {
    pair->normal[k] += more->normal[k];
    pair->friction[k] += more->friction[k];
  }
  pair->min_distance = fmin(pair->min_distance, more->min_distance);
  pair->contacts += more->contacts;
done:
  return status;
}

NoliStatus noli_pair_forces_gather(NoliPairForces* forces, NoliContext* context) {
  NoliStatus status = NOLI_OK;
  NoliPairForces own = *forces, all = {0};
  *forces = (NoliPairForces){.lists = own.lists};
  NOLI_TRY(noli_ranks_gather(context, sizeof *own.contact.data, own.contact.data, own.contact.count,
                             (void**)&forces->contact.data, &forces->contact.capacity,
                             &forces->contact.count));
  NOLI_TRY(noli_ranks_gather(context, sizeof *own.pair.data, own.pair.data, own.pair.count,
                             (void**)&all.pair.data, &all.pair.capacity, &all.pair.count));
  for (int64_t i = 0; i < all.pair.count; i++) {
    NOLI_TRY(add_pair(forces, context, &all.pair.data[i]));
  }
done:
  noli_pair_forces_free(context, &own);
  noli_pair_forces_free(context, &all);
  return status;
}

static int pair_forces_compare_places(const NoliContactInfo* a, const NoliContactInfo* b) {
  for (int k = 0; k < 2; k++) {
    if (a->entity[k] != b->entity[k]) {
      return a->entity[k] < b->entity[k] ? -1 : 1;
    }
  }
  for (int k = 0; k < 4; k++) {
    if (a->vertex[k] != b->vertex[k]) {
      return a->vertex[k] < b->vertex[k] ? -1 : 1;
    }
  }
  return 0;
}

// By place; at the same place, contacts with a gap first: the current normal contact.
static int pair_forces_compare(const void* one, const void* other) {
  const NoliContactInfo *a = one, *b = other;
  int order = pair_forces_compare_places(a, b);
  if (order != 0) {
    return order;
  }
  return (a->gap > b->gap) - (a->gap < b->gap);
}

// The direction from entity[1] to entity[0]: that of the normal force, or of the closest points.
static void set_normal(NoliContactInfo* info) {
  NoliVec3 normal = noli_load3(info->normal_force);
  if (noli_norm3(normal) == 0.0) {
    normal = noli_sub3(noli_load3(info->position[0]), noli_load3(info->position[1]));
  }
  double length = noli_norm3(normal);
  noli_store3(info->normal, noli_scale3(length > 0.0 ? 1.0 / length : 0.0, normal));
}

void noli_pair_forces_share(NoliPairForces* forces) {
  NoliContactInfo* list = forces->contact.data;
  int64_t n = 0;
  if (forces->contact.count == 0) {
    return;
  }
  noli_sort(list, forces->contact.count, sizeof *list, pair_forces_compare);
  for (int64_t i = 0; i < forces->contact.count; i++) {
    if (n > 0 && pair_forces_compare_places(&list[n - 1], &list[i]) == 0) {
      for (int k = 0; k < 3; k++) {
        list[n - 1].normal_force[k] += list[i].normal_force[k];
        list[n - 1].friction_force[k] += list[i].friction_force[k];
      }
    } else {
      list[n++] = list[i];
    }
  }
  forces->contact.count = n;
  for (int64_t i = 0; i < n; i++) {
    set_normal(&list[i]);
  }
}
