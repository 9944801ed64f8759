// Labels of nodes and elements in Abaqus and CalculiX files, sets of them, and the tags that follow
// from sets of elements.
//
// A block of the file gives a set a piece, because several blocks may have the same name. An entry
// of a piece is a range of labels or another set, with the pieces that it has at that place of the
// file: no set contains itself. Ranges stay ranges until all elements are known.
#pragma once

#include "base/array.h"
#include "text/cursor.h"

// A node or element as the file numbers it.
typedef struct NoliInpLabel {
  int64_t label;
  const char* place;
  int32_t index;
} NoliInpLabel;

typedef NOLI_ARRAY(NoliInpLabel) NoliInpLabels; // in file order, then sorted

NOLI_WARN_UNUSED NoliStatus noli_inp_add_label(const NoliCursor* cursor, NoliInpLabels* labels,
                                               int64_t label, const char* place);

// Sorts labels; fails if one occurs twice. `what` names it in the message.
NOLI_WARN_UNUSED NoliStatus noli_inp_sort_labels(const NoliCursor* cursor, const char* what,
                                                 NoliInpLabels* labels);

// The index of a node or element, in the order of the file; -1 where there is none. Needs sorted
// labels.
int32_t noli_inp_find_label(const NoliInpLabels* labels, int64_t label);

// Names of different kinds or scopes are different sets.
typedef enum NoliInpScope {
  NOLI_INP_NODES,
  NOLI_INP_NODES_OF_ASSEMBLY,
  NOLI_INP_ELEMENTS,
  NOLI_INP_ELEMENTS_OF_ASSEMBLY,
} NoliInpScope;

typedef struct NoliInpSet {
  NoliSpan name;
  NoliInpScope scope;
  bool is_internal; // made by a program for its own use: no tag
  int32_t next;     // in its bucket; or -1
  int32_t last_piece;
  int32_t tag;   // 0 if it has none
  int32_t walk;  // the last walk that came here, and
  int32_t taken; // the number below which it took the pieces
} NoliInpSet;

typedef struct NoliInpPiece {
  int32_t previous; // of the same set; or -1
  int64_t first_entry, end_entry;
} NoliInpPiece;

// Labels first, first + step, ... up to last; or, if step is 0, the set `first`.
typedef struct NoliInpEntry {
  int64_t first, last, step;
  const char* place;
} NoliInpEntry;

enum { NOLI_INP_BUCKETS = 4096 };

typedef struct NoliInpSets {
  NOLI_ARRAY(NoliInpSet) set; // in the order in which the file first names them
  NOLI_ARRAY(NoliInpPiece) piece;
  NOLI_ARRAY(NoliInpEntry) entry;
  int32_t bucket[NOLI_INP_BUCKETS]; // the last set of each; or -1
} NoliInpSets;

void noli_inp_init_sets(NoliInpSets* sets);
void noli_inp_free_sets(NoliContext* context, NoliInpSets* sets);

// The set with the name, or -1.
int32_t noli_inp_find_set(const NoliInpSets* sets, NoliInpScope scope, NoliSpan name);

// Begins a piece of the set with the name, which may be new.
NOLI_WARN_UNUSED NoliStatus noli_inp_begin_piece(const NoliCursor* cursor, NoliInpSets* sets,
                                                 NoliInpScope scope, NoliSpan name,
                                                 bool is_internal);

// Adds an entry to the last piece.
NOLI_WARN_UNUSED NoliStatus noli_inp_add_entry(NoliContext* context, NoliInpSets* sets,
                                               NoliInpEntry entry);

// Numbers the sets of elements from 1 on and gives each element the tag of its smallest set; of
// sets of the same size, the first; 0 without a set. `dimension` and `tag` have a value for each
// element. Logs the tags of tetrahedra and triangles. Fails if a set names a single element that
// does not exist; ranges may have gaps.
NOLI_WARN_UNUSED NoliStatus noli_inp_find_tags(const NoliCursor* cursor, NoliInpSets* sets,
                                               const NoliInpLabels* elements,
                                               const int32_t* dimension, int32_t* tag);

// Lists the labels of a set, nodes or elements, as indices, in no order; the caller frees `member`.
// Labels of nodes that do not exist are left out.
NOLI_WARN_UNUSED NoliStatus noli_inp_list_set(const NoliCursor* cursor, NoliInpSets* sets,
                                              const NoliInpLabels* labels, int32_t set,
                                              int32_t** member, int32_t* n_member);
