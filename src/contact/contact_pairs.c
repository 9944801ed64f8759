#include "contact/contact_pairs.h"

#include <string.h>

// ---- building the rows

// One of the two entries of an exception: b in row a.
typedef struct Entry {
  int32_t a, b;
  int32_t law;
} Entry;

// Stable counting sort by a or by b. `first` (n_entity + 1) is scratch.
static void sort_entries(int32_t n_entity, int64_t n, const Entry* from, bool by_a, int64_t* first,
                         Entry* to) {
  memset(first, 0, ((size_t)n_entity + 1) * sizeof *first);
  for (int64_t i = 0; i < n; i++) {
    first[(by_a ? from[i].a : from[i].b) + 1]++;
  }
  for (int32_t e = 0; e < n_entity; e++) {
    first[e + 1] += first[e];
  }
  for (int64_t i = 0; i < n; i++) {
    to[first[by_a ? from[i].a : from[i].b]++] = from[i];
  }
}

// Both entries of every exception, sorted by row and b; equal ones keep their order.
static NoliStatus sorted_entries(NoliContext* context, int32_t n_entity, int64_t n,
                                 const NoliPairLaw* exception, int64_t* first, Entry** sorted,
                                 int64_t* n_sorted) {
  NoliStatus status = NOLI_OK;
  Entry* entry = NULL;
  *sorted = NULL;
  int64_t count = 0;
  NOLI_NEW(context, entry, 2 * n);
  NOLI_NEW(context, *sorted, 2 * n);
  for (int64_t i = 0; i < n; i++) {
    const NoliPairLaw* pair = &exception[i];
    entry[count++] = (Entry){pair->a, pair->b, pair->law};
    if (pair->a != pair->b) {
      entry[count++] = (Entry){pair->b, pair->a, pair->law};
    }
  }
  sort_entries(n_entity, count, entry, false, first, *sorted);
  sort_entries(n_entity, count, *sorted, true, first, entry);
  memcpy(*sorted, entry, (size_t)count * sizeof *entry);
  *n_sorted = count;
done:
  noli_free(context, entry);
  return status;
}

NoliStatus noli_pair_laws_build(NoliContext* context, int32_t n_entity, int64_t n,
                                const NoliPairLaw* exception, NoliPairLaws* laws) {
  NoliStatus status = NOLI_OK;
  int64_t *first = NULL, n_sorted = 0, count = 0;
  int32_t *other = NULL, *number = NULL;
  Entry* sorted = NULL;
  *laws = (NoliPairLaws){.law = NULL};
  if (n == 0) {
    return NOLI_OK;
  }

  // sort; the lists belong to `laws` as soon as they exist
  NOLI_NEW(context, first, (int64_t)n_entity + 1);
  laws->first = first;
  NOLI_TRY(sorted_entries(context, n_entity, n, exception, first, &sorted, &n_sorted));
  NOLI_NEW(context, other, n_sorted);
  laws->other = other;
  NOLI_NEW(context, number, n_sorted);
  laws->number = number;

  // keep the last one of equal entries
  memset(first, 0, ((size_t)n_entity + 1) * sizeof *first);
  for (int64_t i = 0; i < n_sorted; i++) {
    const Entry* entry = &sorted[i];
    if (i == 0 || sorted[i - 1].a != entry->a || sorted[i - 1].b != entry->b) {
      first[entry->a + 1]++;
      count++;
    }
    other[count - 1] = entry->b;
    number[count - 1] = entry->law;
  }

  // lengths of rows become offsets
  for (int32_t e = 0; e < n_entity; e++) {
    first[e + 1] += first[e];
  }
done:
  noli_free(context, sorted);
  return status;
}

void noli_pair_laws_free(NoliContext* context, NoliPairLaws* laws) {
  noli_free(context, (void*)(uintptr_t)laws->first);
  noli_free(context, (void*)(uintptr_t)laws->other);
  noli_free(context, (void*)(uintptr_t)laws->number);
  *laws = (NoliPairLaws){0};
}

// ---- queries

bool noli_contact_pairs_touch(const NoliContactPairs* pairs, int32_t a, int32_t b) {
  if (pairs == NULL) {
    return true;
  }
  int64_t body = a < b ? a : b, other = a < b ? b : a, n_body = pairs->n_body;
  if (other < n_body) {
    return pairs->bodies == NULL || pairs->bodies[body * n_body + other] != 0;
  }
  int64_t n_planes = pairs->n_entity - n_body;
  return pairs->planes == NULL || pairs->planes[body * n_planes + other - n_body] != 0;
}

// Number of the law of a and b, by binary search in row a.
static int32_t law_number(const NoliPairLaws* laws, int32_t a, int32_t b) {
  if (laws->first == NULL) {
    return 0;
  }
  int64_t low = laws->first[a], high = laws->first[a + 1];
  while (low < high) {
    int64_t middle = low + (high - low) / 2;
    if (laws->other[middle] == b) {
      return laws->number[middle];
    }
    if (laws->other[middle] < b) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return 0;
}

const NoliFrictionLaw* noli_contact_pairs_law(const NoliContactPairs* pairs, int32_t a, int32_t b) {
  if (pairs == NULL || pairs->laws.law == NULL) {
    return NULL;
  }
  const NoliFrictionLaw* law = &pairs->laws.law[law_number(&pairs->laws, a, b)];
  return noli_friction_law_rubs(law) ? law : NULL;
}

bool noli_contact_pairs_rub(const NoliContactPairs* pairs) {
  const NoliPairLaws* laws = &pairs->laws;
  int64_t n_listed = laws->first != NULL ? laws->first[pairs->n_entity] : 0;
  // the default law counts only if some pair is not listed
  bool rub = laws->law != NULL && n_listed < (int64_t)pairs->n_entity * pairs->n_entity &&
             noli_friction_law_rubs(&laws->law[0]);
  for (int64_t i = 0; i < n_listed && !rub; i++) {
    rub = noli_friction_law_rubs(&laws->law[laws->number[i]]);
  }
  return rub;
}
