#include "mesh/formats/inp_sets.h"

#include "base/sort.h"
#include "mesh/formats/inp_text.h"

#include <stdio.h>

// ---- labels

NoliStatus noli_inp_add_label(const NoliCursor* cursor, NoliInpLabels* labels, int64_t label,
                              const char* place) {
  NoliStatus status = NOLI_OK;
  NOLI_CHECK(cursor->context, labels->count < INT32_MAX, NOLI_ERROR_TOO_LARGE,
             "%s: the mesh exceeds the index range", cursor->path);
  NoliInpLabel added = {.label = label, .place = place, .index = (int32_t)labels->count};
  NOLI_PUSH(cursor->context, labels, added);
done:
  return status;
}

static int compare_labels(const void* a, const void* b) {
  const NoliInpLabel *left = a, *right = b;
  int order = noli_order(left->label, right->label);
  return order != 0 ? order : noli_order(left->index, right->index);
}

NoliStatus noli_inp_sort_labels(const NoliCursor* cursor, const char* what, NoliInpLabels* labels) {
  bool sorted = true;
  for (int64_t i = 1; i < labels->count; i++) {
    sorted = sorted && labels->data[i - 1].label < labels->data[i].label;
  }
  if (!sorted) {
    noli_sort(labels->data, labels->count, sizeof *labels->data, compare_labels);
  }
  for (int64_t i = 1; i < labels->count; i++) {
    if (labels->data[i - 1].label == labels->data[i].label) {
      return noli_cursor_fail(cursor, labels->data[i].place, "%s %lld occurs twice", what,
                              (long long)labels->data[i].label);
    }
  }
  return NOLI_OK;
}

// The position of the first label that is not below `label`.
static int64_t lower_bound(const NoliInpLabels* labels, int64_t label) {
  const NoliInpLabel* data = labels->data;
  int64_t low = 0, high = labels->count;

  // labels are usually consecutive
  int64_t guess = high > 0 ? label - data[0].label : -1;
  if (guess >= 0 && guess < high && data[guess].label == label) {
    return guess;
  }
  while (low < high) {
    int64_t middle = low + (high - low) / 2;
    bool below = data[middle].label < label;
    low = below ? middle + 1 : low;
    high = below ? high : middle;
  }
  return low;
}

int32_t noli_inp_find_label(const NoliInpLabels* labels, int64_t label) {
  int64_t at = lower_bound(labels, label);
  return at < labels->count && labels->data[at].label == label ? labels->data[at].index : -1;
}

// ---- sets

void noli_inp_init_sets(NoliInpSets* sets) {
  *sets = (NoliInpSets){.set = {.data = NULL}};
  memset(sets->bucket, 0xff, sizeof sets->bucket);
}

void noli_inp_free_sets(NoliContext* context, NoliInpSets* sets) {
  noli_array_free(context, &sets->set);
  noli_array_free(context, &sets->piece);
  noli_array_free(context, &sets->entry);
}

int32_t noli_inp_find_set(const NoliInpSets* sets, NoliInpScope scope, NoliSpan name) {
  int32_t at = sets->bucket[noli_inp_hash(name) % NOLI_INP_BUCKETS];
  while (at >= 0 && (sets->set.data[at].scope != scope ||
                     !noli_inp_same_names(sets->set.data[at].name, name))) {
    at = sets->set.data[at].next;
  }
  return at;
}

NoliStatus noli_inp_begin_piece(const NoliCursor* cursor, NoliInpSets* sets, NoliInpScope scope,
                                NoliSpan name, bool is_internal) {
  NoliStatus status = NOLI_OK;
  int32_t at = noli_inp_find_set(sets, scope, name);
  NOLI_CHECK(cursor->context, sets->piece.count < INT32_MAX, NOLI_ERROR_TOO_LARGE,
             "%s: too many sets", cursor->path);
  if (at < 0) {
    int32_t* bucket = &sets->bucket[noli_inp_hash(name) % NOLI_INP_BUCKETS];
    NoliInpSet set = {.name = name,
                      .scope = scope,
                      .is_internal = is_internal,
                      .next = *bucket,
                      .last_piece = -1,
                      .walk = -1};
    at = (int32_t)sets->set.count;
    NOLI_PUSH(cursor->context, &sets->set, set);
    *bucket = at;
  }
  NoliInpPiece piece = {sets->set.data[at].last_piece, sets->entry.count, sets->entry.count};
  NOLI_PUSH(cursor->context, &sets->piece, piece);
  sets->set.data[at].last_piece = (int32_t)sets->piece.count - 1;
done:
  return status;
}

NoliStatus noli_inp_add_entry(NoliContext* context, NoliInpSets* sets, NoliInpEntry entry) {
  NoliStatus status = NOLI_OK;
  NOLI_PUSH(context, &sets->entry, entry);
  sets->piece.data[sets->piece.count - 1].end_entry = sets->entry.count;
done:
  return status;
}

// ---- members of a set

// A visit to a set, whose pieces with numbers below `limit` are wanted.
typedef struct Visit {
  int32_t set;
  int32_t limit;
} Visit;

typedef struct Walk {
  const NoliCursor* cursor;
  NoliInpSets* sets;
  const NoliInpLabels* labels; // of elements, or of nodes
  int32_t root;                // the set where it began
  NOLI_ARRAY(Visit) visit;     // still to make
  NOLI_ARRAY(int32_t) member;  // found
  int32_t* seen;               // the root that last found each; or -1
} Walk;

// Adds the labels of a range in `set`.
static NoliStatus take_range(Walk* walk, const NoliInpSet* set, const NoliInpEntry* entry) {
  NoliStatus status = NOLI_OK;
  const NoliInpLabels* labels = walk->labels;
  int64_t i = lower_bound(labels, entry->first);
  if (set->scope >= NOLI_INP_ELEMENTS && entry->first == entry->last &&
      (i == labels->count || labels->data[i].label != entry->first)) {
    status = noli_cursor_fail(walk->cursor, entry->place,
                              "the set %s names element %lld, which does not exist",
                              noli_show(set->name).text, (long long)entry->first);
    goto done;
  }
  for (; i < labels->count && labels->data[i].label <= entry->last; i++) {
    int32_t index = labels->data[i].index;
    if ((labels->data[i].label - entry->first) % entry->step == 0 &&
        walk->seen[index] != walk->root) {
      walk->seen[index] = walk->root;
      NOLI_PUSH(walk->cursor->context, &walk->member, index);
    }
  }
done:
  return status;
}

// Lists the labels of the root, with those of sets that it names, as they were at that place.
static NoliStatus list_members(Walk* walk) {
  NoliStatus status = NOLI_OK;
  NoliContext* context = walk->cursor->context;
  NoliInpSets* sets = walk->sets;
  Visit visit = {walk->root, INT32_MAX};
  walk->visit.count = walk->member.count = 0;
  NOLI_PUSH(context, &walk->visit, visit);

  while (walk->visit.count > 0) {
    visit = walk->visit.data[--walk->visit.count];
    NoliInpSet* set = &sets->set.data[visit.set];
    int32_t taken = set->walk == walk->root ? set->taken : 0;
    set->walk = walk->root;
    set->taken = visit.limit > taken ? visit.limit : taken;
    for (int32_t p = set->last_piece; p >= taken; p = sets->piece.data[p].previous) {
      const NoliInpPiece* piece = &sets->piece.data[p];
      for (int64_t i = piece->first_entry; p < visit.limit && i < piece->end_entry; i++) {
        const NoliInpEntry* entry = &sets->entry.data[i];
        if (entry->step > 0) {
          NOLI_TRY(take_range(walk, set, entry));
        } else {
          NOLI_PUSH(context, &walk->visit, ((Visit){(int32_t)entry->first, p}));
        }
      }
    }
  }
done:
  return status;
}

// ---- tags

enum { N_KIND = 2 };

// Numbers of elements of a set.
typedef struct Count {
  int64_t all;
  int64_t of_kind[N_KIND]; // tetrahedra, triangles
  int64_t tagged[N_KIND];  // those that have its tag
} Count;

// Logs the tags of one kind of cells, as many as fit in a message.
static void log_tags(const Walk* walk, int kind, const Count* count) {
  static const char* const names[N_KIND] = {"tetrahedra", "triangles"};
  enum { LENGTH_OF_ONE = 120 };
  char text[1600];
  size_t length = 0;
  int64_t n_more = 0;
  for (int64_t s = 0; s < walk->sets->set.count; s++) {
    const NoliInpSet* set = &walk->sets->set.data[s];
    if (set->tag == 0 || count[s].of_kind[kind] == 0) {
      continue;
    }
    if (length + LENGTH_OF_ONE > sizeof text) {
      n_more++;
      continue;
    }
    length += (size_t)snprintf(text + length, sizeof text - length, "%s%d %s (%lld of %lld)",
                               length > 0 ? ", " : "", (int)set->tag, noli_show(set->name).text,
                               (long long)count[s].tagged[kind], (long long)count[s].of_kind[kind]);
  }

  if (n_more > 0) {
    snprintf(text + length, sizeof text - length, " and %lld more", (long long)n_more);
  }
  if (length > 0) {
    noli_log(walk->cursor->context, NOLI_LOG_INFO, "%s: tags of %s: %s", walk->cursor->path,
             names[kind], text);
  }
}

// The number of a kind of cells, or -1.
static int kind_of(int32_t dimension) {
  return dimension == 3 ? 0 : dimension == 2 ? 1 : -1;
}

// Finds the smallest set of each element.
static NoliStatus find_owners(Walk* walk, const int32_t* dimension, Count* count, int32_t* owner) {
  NoliStatus status = NOLI_OK;
  int32_t n_tag = 0;
  for (int32_t s = 0; s < walk->sets->set.count; s++) {
    NoliInpSet* set = &walk->sets->set.data[s];
    if (set->scope < NOLI_INP_ELEMENTS) {
      continue;
    }
    walk->root = s;
    NOLI_TRY(list_members(walk));
    if (set->is_internal) {
      continue;
    }
    set->tag = ++n_tag;
    count[s].all = walk->member.count;
    for (int64_t i = 0; i < walk->member.count; i++) {
      int32_t element = walk->member.data[i];
      int kind = kind_of(dimension[element]);
      if (kind >= 0) {
        count[s].of_kind[kind]++;
      }
      if (owner[element] < 0 || count[s].all < count[owner[element]].all) {
        owner[element] = s;
      }
    }
  }
done:
  return status;
}

NoliStatus noli_inp_find_tags(const NoliCursor* cursor, NoliInpSets* sets,
                              const NoliInpLabels* elements, const int32_t* dimension,
                              int32_t* tag) {
  NoliStatus status = NOLI_OK;
  NoliContext* context = cursor->context;
  Walk walk = {.cursor = cursor, .sets = sets, .labels = elements};
  Count* count = NULL;
  int32_t* owner = NULL;
  NOLI_NEW(context, walk.seen, elements->count);
  NOLI_NEW(context, owner, elements->count);
  NOLI_NEW_ZERO(context, count, sets->set.count);
  memset(walk.seen, 0xff, (size_t)elements->count * sizeof *walk.seen);
  memset(owner, 0xff, (size_t)elements->count * sizeof *owner);
  NOLI_TRY(find_owners(&walk, dimension, count, owner));

  // tags of elements
  for (int64_t e = 0; e < elements->count; e++) {
    int kind = kind_of(dimension[e]);
    tag[e] = owner[e] >= 0 ? sets->set.data[owner[e]].tag : 0;
    if (owner[e] >= 0 && kind >= 0) {
      count[owner[e]].tagged[kind]++;
    }
  }
  for (int kind = 0; kind < N_KIND; kind++) {
    log_tags(&walk, kind, count);
  }
done:
  noli_array_free(context, &walk.visit);
  noli_array_free(context, &walk.member);
  noli_free(context, walk.seen);
  noli_free(context, owner);
  noli_free(context, count);
  return status;
}

NoliStatus noli_inp_list_set(const NoliCursor* cursor, NoliInpSets* sets,
                             const NoliInpLabels* labels, int32_t set, int32_t** member,
                             int32_t* n_member) {
  NoliStatus status = NOLI_OK;
  NoliContext* context = cursor->context;
  Walk walk = {.cursor = cursor, .sets = sets, .labels = labels, .root = set};
  *member = NULL;
  *n_member = 0;
  NOLI_NEW(context, walk.seen, labels->count);
  memset(walk.seen, 0xff, (size_t)labels->count * sizeof *walk.seen);
  for (int64_t s = 0; s < sets->set.count; s++) {
    sets->set.data[s].walk = -1;
  }
  NOLI_TRY(list_members(&walk));
  *member = walk.member.data;
  *n_member = (int32_t)walk.member.count;
  walk.member.data = NULL;
done:
  noli_free(context, walk.member.data);
  noli_array_free(context, &walk.visit);
  noli_free(context, walk.seen);
  return status;
}
