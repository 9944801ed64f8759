#include "contact/contact_approach.h"

#include "base/ranks.h"

// The class of contacts with half-spaces.
enum { PLANE = NOLI_CONTACT_CLASSES };

// Index of the contact with a key among the sorted keys [begin, end), or NOLI_NULL_INDEX.
static int64_t find_key(const NoliContactSet* set, int64_t begin, int64_t end, NoliContactKey key) {
  int64_t stop = end;
  while (begin < end) {
    int64_t middle = begin + (end - begin) / 2;
    if (noli_contact_key_less(set->key.data[middle], key)) {
      begin = middle + 1;
    } else {
      end = middle;
    }
  }
  bool found = begin < stop && noli_contact_key_equal(set->key.data[begin], key);
  return found ? begin : NOLI_NULL_INDEX;
}

// A close pair of the set before, for ranks on which it may be now.
typedef struct ClosePair {
  NoliContactKey key;
  int32_t class; // PLANE: key.high is the vertex, key.low the half-space
  double gap_sqr;
} ClosePair;

typedef struct ClosePairs {
  NOLI_ARRAY(ClosePair) pair;
} ClosePairs;

// Lists the pairs closer than the limit.
static NoliStatus list_close(const NoliContactSet* set, NoliContext* context, double gap_sqr_limit,
                             ClosePairs* out) {
  NoliStatus status = NOLI_OK;
  for (int k = 0; k < NOLI_CONTACT_CLASSES; k++) {
    for (int64_t i = set->class_first[k]; i < set->class_first[k + 1]; i++) {
      double gap_sqr = set->contact.data[i].gap_sqr, range = set->contact.data[i].range;
      if (gap_sqr < gap_sqr_limit * (range * range)) {
        ClosePair close = {set->key.data[i], k, gap_sqr};
        NOLI_PUSH(context, &out->pair, close);
      }
    }
  }
  for (int64_t i = 0; i < set->plane.count; i++) {
    const NoliHalfSpaceContact* contact = &set->plane.data[i];
    double gap_sqr = contact->gap * contact->gap;
    if (gap_sqr < gap_sqr_limit * (contact->range * contact->range)) {
      NoliContactKey key = {.high = (uint64_t)contact->node, .low = (uint32_t)contact->plane};
      ClosePair close = {key, PLANE, gap_sqr};
      NOLI_PUSH(context, &out->pair, close);
    }
  }
done:
  return status;
}

static bool plane_approached(const NoliContactSet* after, const ClosePair* pair, double share_sqr) {
  for (int64_t i = 0; i < after->plane.count; i++) {
    const NoliHalfSpaceContact* now = &after->plane.data[i];
    if ((uint64_t)now->node == pair->key.high && (uint32_t)now->plane == pair->key.low) {
      return now->gap * now->gap < share_sqr * pair->gap_sqr;
    }
  }
  return false;
}

static bool pair_approached(const NoliContactSet* after, const ClosePair* pair, double share_sqr) {
  if (pair->class == PLANE) {
    return plane_approached(after, pair, share_sqr);
  }
  int64_t now = find_key(after, after->class_first[pair->class],
                         after->class_first[pair->class + 1], pair->key);
  return now != NOLI_NULL_INDEX && after->contact.data[now].gap_sqr < share_sqr * pair->gap_sqr;
}

NoliStatus noli_contact_set_approached(const NoliContactSet* before, const NoliContactSet* after,
                                       NoliContext* context, double gap_sqr_limit, double share_sqr,
                                       bool* approached) {
  NoliStatus status = NOLI_OK;
  ClosePairs own = {0}, all = {0};
  *approached = false;
  if (!(before->min_ranged_sqr < gap_sqr_limit)) {
    return NOLI_OK;
  }
  NOLI_TRY(list_close(before, context, gap_sqr_limit, &own));
  const ClosePairs* close = &own;
  if (before->divided) { // pairs may be on other ranks now
    NOLI_TRY(noli_ranks_gather(context, sizeof *own.pair.data, own.pair.data, own.pair.count,
                               (void**)&all.pair.data, &all.pair.capacity, &all.pair.count));
    close = &all;
  }

  int64_t far = 1;
  for (int64_t i = 0; i < close->pair.count && far == 1; i++) {
    far = pair_approached(after, &close->pair.data[i], share_sqr) ? 0 : 1;
  }
  if (before->divided) {
    NOLI_TRY(noli_ranks_smallest(context, &far, 1));
  }
  *approached = far == 0;
done:
  noli_array_free(context, &own.pair);
  noli_array_free(context, &all.pair);
  return status;
}
