// Abaqus and CalculiX .inp: *NODE, *ELEMENT, *NSET and *ELSET of one part; element sets become
// tags. Other keywords are skipped with their data, except those that would make or move a mesh.
//
// Blocks may come in any order, so that elements and sets keep labels until the file ends. Lines
// that begin with ** are comments, fields are separated by commas, and names have no case.
#include "mesh/io.h"

#include <stdlib.h>

enum { N_BUCKET = 4096, N_NODE_MAX = 10 };

// ---- data

typedef struct ElementType {
  const char* name;
  int32_t n_node;
  int32_t n_vertex;
  int32_t order;
} ElementType;

// clang-format off
static const ElementType element_types[] = {
  {"C3D4", 4, 4, 1}, {"C3D4H", 4, 4, 1}, {"C3D4T", 4, 4, 1},
  {"C3D10", 10, 4, 2}, {"C3D10H", 10, 4, 2}, {"C3D10HS", 10, 4, 2}, {"C3D10I", 10, 4, 2},
  {"C3D10M", 10, 4, 2}, {"C3D10MH", 10, 4, 2}, {"C3D10T", 10, 4, 2},
  {"S3", 3, 3, 1}, {"S3R", 3, 3, 1}, {"S3RS", 3, 3, 1}, {"STRI3", 3, 3, 1}, {"M3D3", 3, 3, 1},
  {"CPS3", 3, 3, 1}, {"CPE3", 3, 3, 1}, {"CPE3H", 3, 3, 1}, {"R3D3", 3, 3, 1},
  {"SFM3D3", 3, 3, 1},
  {"S6", 6, 3, 2}, {"STRI65", 6, 3, 2}, {"M3D6", 6, 3, 2}, {"CPS6", 6, 3, 2}, {"CPE6", 6, 3, 2},
  {"CPS6M", 6, 3, 2}, {"CPE6M", 6, 3, 2}, {"SFM3D6", 6, 3, 2},
  {"B31", 2, 2, 1}, {"B31R", 2, 2, 1}, {"B31H", 2, 2, 1}, {"B21", 2, 2, 1},
  {"T3D2", 2, 2, 1}, {"T3D2H", 2, 2, 1}, {"T2D2", 2, 2, 1},
  {"B32", 3, 2, 2}, {"B32R", 3, 2, 2}, {"B32H", 3, 2, 2}, {"B22", 3, 2, 2},
  {"T3D3", 3, 2, 2}, {"T2D3", 3, 2, 2},
};
// clang-format on

// A node or element as the file numbers it.
typedef struct Label {
  int64_t label;
  const char* place;
  int32_t index;
} Label;

typedef NOLI_ARRAY(Label) Labels; // in file order, then sorted

typedef struct Element {
  const ElementType* type;
  const char* place;
  int64_t first_node; // in Reader.node_of
} Element;

// An entry of a set: labels first, first + step, ... last, or, if step is 0, the set `first` as it
// was defined before.
typedef struct Item {
  int64_t first, last, step;
  const char* place;
} Item;

// The entries that one block gives to a set. A set has pieces, because blocks may extend it.
typedef struct Piece {
  int32_t previous; // of the same set; or -1
  int64_t first_item, end_item;
} Piece;

typedef enum SetKind { NODE_SET, ELEMENT_SET } SetKind;

typedef struct Set {
  NoliSpan name;
  SetKind kind;
  bool of_assembly; // its name is not one of the part
  bool internal;    // made by a program for its own use
  int32_t next;     // in its bucket; or -1
  int32_t last_piece;
  int32_t tag;
  int32_t walk, taken; // the walk that last met it, and the pieces below which it took them
} Set;

typedef struct Parameter {
  NoliSpan name;
  NoliSpan value; // empty if there is none
} Parameter;

typedef enum Level { IN_MODEL, IN_PART, IN_ASSEMBLY, IN_INSTANCE } Level;

typedef struct Reader {
  NoliCursor* cursor;
  NoliMeshParts* parts;
  NoliSpan keyword;
  NOLI_ARRAY(Parameter) parameter; // of the keyword
  Level level;
  bool has_part;
  bool has_instance;
  NoliSpan instance; // its name
  Labels node;
  Labels element;
  NOLI_ARRAY(Element) element_data;
  NOLI_ARRAY(int64_t) node_of; // labels of the nodes of the elements
  NOLI_ARRAY(Set) set;
  NOLI_ARRAY(Piece) piece;
  NOLI_ARRAY(Item) item;
  int32_t bucket[N_BUCKET]; // first set of each; or -1
} Reader;

// ---- lines and fields

static char upper(char c) {
  return c >= 'a' && c <= 'z' ? (char)(c - 'a' + 'A') : c;
}

static NoliSpan trim(NoliSpan span) {
  for (; span.n > 0 && noli_is_space(span.at[0]); span.n--) {
    span.at++;
  }
  while (span.n > 0 && noli_is_space(span.at[span.n - 1])) {
    span.n--;
  }
  return span;
}

static bool same_names(NoliSpan a, NoliSpan b) {
  bool same = a.n == b.n;
  for (int64_t i = 0; same && i < a.n; i++) {
    same = upper(a.at[i]) == upper(b.at[i]);
  }
  return same;
}

// Whether a keyword or parameter is `name` (in capitals), blanks ignored.
static bool is_word(NoliSpan word, const char* name) {
  for (int64_t i = 0; i < word.n; i++) {
    if (!noli_is_blank(word.at[i]) && upper(word.at[i]) != *name++) {
      return false;
    }
  }
  return *name == '\0';
}

// Takes the next line of data. False at a keyword and at the end of the file, where the cursor
// stays. Skips comments and empty lines.
static bool next_line(NoliCursor* cursor, NoliSpan* line) {
  for (;;) {
    noli_skip_space(cursor);
    bool is_comment = cursor->at[0] == '*' && cursor->at[1] == '*';
    if (cursor->at == cursor->end || (cursor->at[0] == '*' && !is_comment)) {
      return false;
    }
    line->at = cursor->at;
    noli_skip_line(cursor);
    if (!is_comment) {
      *line = trim((NoliSpan){line->at, cursor->at - line->at});
      return true;
    }
  }
}

// Takes the next field of a line, without blanks around it. False after the last one; a comma at
// the end of the line is not followed by a field, and sets `goes_on`.
static bool next_field(NoliSpan* line, NoliSpan* field, bool* goes_on) {
  NoliSpan rest = trim(*line);
  if (rest.n == 0) {
    return false;
  }
  const char* comma = memchr(rest.at, ',', (size_t)rest.n);
  *goes_on = comma != NULL;
  *field = trim((NoliSpan){rest.at, comma != NULL ? comma - rest.at : rest.n});
  const char* end = rest.at + rest.n;
  line->at = comma != NULL ? comma + 1 : end;
  line->n = end - line->at;
  return true;
}

// Fails because there is something else at `place`.
static NoliStatus fail_expected(const Reader* reader, const char* place, const char* what) {
  NoliCursor here = *reader->cursor;
  here.at = place;
  return noli_cursor_fail(reader->cursor, place, "expected %s, got %s", what,
                          noli_show_next(&here).text);
}

// A cursor that ends with the field.
static NoliCursor field_cursor(const Reader* reader, NoliSpan field) {
  NoliCursor cursor = *reader->cursor;
  cursor.at = field.at;
  cursor.end = field.at + field.n;
  return cursor;
}

static NoliStatus to_integer(const Reader* reader, NoliSpan field, const char* what, int64_t low,
                             int64_t* value) {
  NoliStatus status = NOLI_OK;
  NoliCursor cursor = field_cursor(reader, field);
  NOLI_TRY(field.n == 0 ? fail_expected(reader, field.at, what)
                        : noli_read_integer(&cursor, what, low, INT64_MAX - 1, value));
  if (cursor.at != cursor.end) {
    status = noli_cursor_fail(reader->cursor, field.at, "expected %s, got %s", what,
                              noli_show(field).text);
  }
done:
  return status;
}

// An empty field is 0.
static NoliStatus to_number(const Reader* reader, NoliSpan field, const char* what, double* value) {
  NoliStatus status = NOLI_OK;
  NoliCursor cursor = field_cursor(reader, field);
  *value = 0.0;
  if (field.n > 0) {
    NOLI_TRY(noli_read_number(&cursor, what, value));
  }
  if (cursor.at != cursor.end) {
    status = noli_cursor_fail(reader->cursor, field.at, "expected %s, got %s", what,
                              noli_show(field).text);
  }
done:
  return status;
}

static NoliStatus add_parameter(Reader* reader, NoliSpan field) {
  NoliStatus status = NOLI_OK;
  const char* equals = field.n > 0 ? memchr(field.at, '=', (size_t)field.n) : NULL;
  Parameter parameter = {.name = field};
  if (equals != NULL) {
    parameter.name = trim((NoliSpan){field.at, equals - field.at});
    parameter.value = trim((NoliSpan){equals + 1, field.at + field.n - equals - 1});
  }
  NoliSpan* value = &parameter.value;
  if (value->n >= 2 && value->at[0] == '"' && value->at[value->n - 1] == '"') {
    *value = (NoliSpan){value->at + 1, value->n - 2};
  }
  NOLI_PUSH(reader->cursor->context, &reader->parameter, parameter);
done:
  return status;
}

// Reads a keyword, with its asterisk, and its parameters, which go on in the next line after a
// comma.
static NoliStatus read_keyword(Reader* reader) {
  NoliStatus status = NOLI_OK;
  NoliCursor* cursor = reader->cursor;
  NoliSpan line = {cursor->at, 0}, field;
  bool goes_on = false;
  noli_skip_line(cursor);
  line.n = cursor->at - line.at;
  reader->parameter.count = 0;
  next_field(&line, &reader->keyword, &goes_on);
  do {
    while (next_field(&line, &field, &goes_on)) {
      NOLI_TRY(add_parameter(reader, field));
    }
  } while (goes_on && next_line(cursor, &line));
done:
  return status;
}

static const Parameter* find_parameter(const Reader* reader, const char* name) {
  for (int64_t i = 0; i < reader->parameter.count; i++) {
    if (is_word(reader->parameter.data[i].name, name)) {
      return &reader->parameter.data[i];
    }
  }
  return NULL;
}

// Fails for a parameter that is not among `known`, which ends with NULL.
static NoliStatus check_parameters(const Reader* reader, const char* const* known) {
  for (int64_t i = 0; i < reader->parameter.count; i++) {
    NoliSpan name = reader->parameter.data[i].name;
    const char* const* match = known;
    while (*match != NULL && !is_word(name, *match)) {
      match++;
    }
    if (*match == NULL) {
      return noli_cursor_fail(reader->cursor, name.at, "the parameter %s of %s is not supported",
                              noli_show(name).text, noli_show(reader->keyword).text);
    }
  }
  return NOLI_OK;
}

static void skip_data(Reader* reader) {
  NoliSpan line;
  while (next_line(reader->cursor, &line)) {
  }
}

// ---- labels

static NoliStatus add_label(Reader* reader, Labels* labels, int64_t label, const char* place) {
  NoliStatus status = NOLI_OK;
  NoliContext* context = reader->cursor->context;
  NOLI_CHECK(context, labels->count < INT32_MAX, NOLI_ERROR_TOO_LARGE,
             "%s: the mesh exceeds the index range", reader->cursor->path);
  Label added = {.label = label, .place = place, .index = (int32_t)labels->count};
  NOLI_PUSH(context, labels, added);
done:
  return status;
}

static int compare_labels(const void* a, const void* b) {
  const Label *left = a, *right = b;
  if (left->label != right->label) {
    return left->label < right->label ? -1 : 1;
  }
  return left->index < right->index ? -1 : left->index > right->index;
}

// Sorts labels, which are unique. `what` names one in messages.
static NoliStatus sort_labels(Reader* reader, Labels* labels, const char* what) {
  bool sorted = true;
  for (int64_t i = 1; i < labels->count; i++) {
    sorted = sorted && labels->data[i - 1].label < labels->data[i].label;
  }
  if (!sorted) {
    qsort(labels->data, (size_t)labels->count, sizeof *labels->data, compare_labels);
  }
  for (int64_t i = 1; i < labels->count; i++) {
    if (labels->data[i - 1].label == labels->data[i].label) {
      return noli_cursor_fail(reader->cursor, labels->data[i].place, "%s %lld occurs twice", what,
                              (long long)labels->data[i].label);
    }
  }
  return NOLI_OK;
}

// The position of the first label that is not below `label`.
static int64_t lower_bound(const Labels* labels, int64_t label) {
  int64_t low = 0, high = labels->count;
  // labels are usually consecutive
  if (high > 0 && label >= labels->data[0].label && label - labels->data[0].label < high &&
      labels->data[label - labels->data[0].label].label == label) {
    return label - labels->data[0].label;
  }
  while (low < high) {
    int64_t middle = low + (high - low) / 2;
    bool below = labels->data[middle].label < label;
    low = below ? middle + 1 : low;
    high = below ? high : middle;
  }
  return low;
}

// The number of a node or element, in the order of the file; -1 where there is none.
static int32_t find_label(const Labels* labels, int64_t label) {
  int64_t at = lower_bound(labels, label);
  return at < labels->count && labels->data[at].label == label ? labels->data[at].index : -1;
}

// ---- sets

// The position of a set, or -1.
static int32_t find_set(const Reader* reader, SetKind kind, bool of_assembly, NoliSpan name,
                        uint32_t* bucket) {
  uint32_t hash = UINT32_C(2166136261);
  for (int64_t i = 0; i < name.n; i++) {
    hash = (hash ^ (unsigned char)upper(name.at[i])) * UINT32_C(16777619);
  }
  *bucket = (hash ^ hash >> 16) % N_BUCKET;
  int32_t at = reader->bucket[*bucket];
  while (at >= 0) {
    const Set* set = &reader->set.data[at];
    if (set->kind == kind && set->of_assembly == of_assembly && same_names(set->name, name)) {
      break;
    }
    at = set->next;
  }
  return at;
}

// Begins a piece of the set with the given name, which may be new.
static NoliStatus begin_piece(Reader* reader, SetKind kind, const Parameter* named,
                              bool is_internal) {
  NoliStatus status = NOLI_OK;
  NoliContext* context = reader->cursor->context;
  uint32_t bucket;
  if (named->value.n == 0) {
    status = noli_cursor_fail(reader->cursor, named->name.at, "%s needs a name",
                              noli_show(named->name).text);
    goto done;
  }
  bool of_assembly = reader->level == IN_ASSEMBLY;
  int32_t at = find_set(reader, kind, of_assembly, named->value, &bucket);
  if (at < 0) {
    Set set = {.name = named->value,
               .kind = kind,
               .of_assembly = of_assembly,
               .internal = is_internal,
               .next = reader->bucket[bucket],
               .last_piece = -1,
               .walk = -1};
    NOLI_CHECK(context, reader->set.count < INT32_MAX && reader->piece.count < INT32_MAX,
               NOLI_ERROR_TOO_LARGE, "%s: too many sets", reader->cursor->path);
    at = (int32_t)reader->set.count;
    NOLI_PUSH(context, &reader->set, set);
    reader->bucket[bucket] = at;
  }
  Piece piece = {reader->set.data[at].last_piece, reader->item.count, reader->item.count};
  NOLI_PUSH(context, &reader->piece, piece);
  reader->set.data[at].last_piece = (int32_t)reader->piece.count - 1;
done:
  return status;
}

// Adds an entry to the last piece.
static NoliStatus add_item(Reader* reader, Item item) {
  NoliStatus status = NOLI_OK;
  NOLI_PUSH(reader->cursor->context, &reader->item, item);
  reader->piece.data[reader->piece.count - 1].end_item = reader->item.count;
done:
  return status;
}

// Removes the name of the instance and a point from the beginning of a name; false if there is
// none.
static bool without_instance(const Reader* reader, NoliSpan* name) {
  NoliSpan head = {name->at, reader->instance.n};
  if (!reader->has_instance || name->n <= head.n + 1 || name->at[head.n] != '.' ||
      !same_names(head, reader->instance)) {
    return false;
  }
  *name = (NoliSpan){name->at + head.n + 1, name->n - head.n - 1};
  return true;
}

// One entry of a list: a label or the name of a set that was defined before.
static NoliStatus read_entry(Reader* reader, SetKind kind, NoliSpan field) {
  NoliStatus status = NOLI_OK;
  Item item = {.step = 1, .place = field.at};
  uint32_t bucket;
  bool of_part = without_instance(reader, &field) || reader->level != IN_ASSEMBLY ||
                 find_parameter(reader, "INSTANCE") != NULL;
  if (field.n > 0 && (noli_is_digit(*field.at) || *field.at == '-' || *field.at == '+')) {
    NOLI_TRY(to_integer(reader, field, kind == NODE_SET ? "a node" : "an element", 1, &item.first));
    item.last = item.first;
    if (!of_part) {
      // nodes of the assembly are not read
      status = kind == NODE_SET
                   ? NOLI_OK
                   : noli_cursor_fail(reader->cursor, item.place,
                                      "the assembly has no element %lld", (long long)item.first);
      goto done;
    }
  } else if (field.n == 0) {
    NOLI_TRY(fail_expected(reader, item.place, kind == NODE_SET ? "a node" : "an element"));
  } else {
    item.step = 0;
    item.first = of_part ? -1 : find_set(reader, kind, true, field, &bucket);
    item.first = item.first < 0 ? find_set(reader, kind, false, field, &bucket) : item.first;
    if (item.first < 0) {
      status = noli_cursor_fail(reader->cursor, item.place, "there is no %s set %s before",
                                kind == NODE_SET ? "node" : "element", noli_show(field).text);
      goto done;
    }
  }
  NOLI_TRY(add_item(reader, item));
done:
  return status;
}

// A line of GENERATE: the first label, the last one, and the difference of neighbours.
static NoliStatus read_range(Reader* reader, SetKind kind, NoliSpan line) {
  NoliStatus status = NOLI_OK;
  const char* what = kind == NODE_SET ? "a node" : "an element";
  Item item = {.step = 1, .place = line.at};
  NoliSpan field = line;
  int64_t* value[] = {&item.first, &item.last, &item.step};
  int n = 0;
  for (bool goes_on; next_field(&line, &field, &goes_on); n++) {
    if (n == 3) {
      status = fail_expected(reader, field.at, "the end of the line");
      goto done;
    }
    NOLI_TRY(to_integer(reader, field, n == 2 ? "the increment" : what, 1, value[n]));
  }
  if (n < 2) {
    status = noli_cursor_fail(reader->cursor, item.place,
                              "GENERATE needs the first and the last label, got %d", n);
    goto done;
  }
  if (item.last < item.first) {
    status =
        noli_cursor_fail(reader->cursor, item.place, "the last label %lld is below the first, %lld",
                         (long long)item.last, (long long)item.first);
    goto done;
  }
  NOLI_TRY(add_item(reader, item));
done:
  return status;
}

static NoliStatus read_set(Reader* reader, SetKind kind) {
  static const char* const known[][6] = {
      {"NSET", "GENERATE", "INTERNAL", "UNSORTED", "INSTANCE", NULL},
      {"ELSET", "GENERATE", "INTERNAL", "UNSORTED", "INSTANCE", NULL}};
  NoliStatus status = NOLI_OK;
  NoliSpan line, field;
  const Parameter* named = find_parameter(reader, known[kind][0]);
  NOLI_TRY(check_parameters(reader, known[kind]));
  if (named == NULL) {
    status = noli_cursor_fail(reader->cursor, reader->keyword.at, "%s needs the parameter %s",
                              noli_show(reader->keyword).text, known[kind][0]);
    goto done;
  }
  NOLI_TRY(begin_piece(reader, kind, named, find_parameter(reader, "INTERNAL") != NULL));
  bool is_generated = find_parameter(reader, "GENERATE") != NULL;
  while (next_line(reader->cursor, &line)) {
    if (is_generated) {
      NOLI_TRY(read_range(reader, kind, line));
      continue;
    }
    for (bool goes_on; next_field(&line, &field, &goes_on);) {
      NOLI_TRY(read_entry(reader, kind, field));
    }
  }
done:
  return status;
}

static NoliStatus read_node_set(Reader* reader) {
  return read_set(reader, NODE_SET);
}

static NoliStatus read_element_set(Reader* reader) {
  return read_set(reader, ELEMENT_SET);
}

// ---- nodes and elements

// A label and up to three coordinates; others that follow are a normal.
static NoliStatus read_node(Reader* reader, NoliSpan line) {
  NoliStatus status = NOLI_OK;
  NoliSpan field = line;
  const char* place = line.at;
  double *x = NULL, unused;
  int64_t label = 0;
  bool goes_on = false;
  next_field(&line, &field, &goes_on);
  NOLI_TRY(to_integer(reader, field, "the label of a node", 1, &label));
  NOLI_TRY(add_label(reader, &reader->node, label, place));
  NOLI_TRY(noli_parts_add_vertices(reader->cursor->context, reader->parts, 1, &x));
  x[0] = x[1] = x[2] = 0.0;
  int n = 0;
  for (; next_field(&line, &field, &goes_on); n++) {
    if (n == 6) {
      status = fail_expected(reader, field.at, "the end of the line");
      goto done;
    }
    NOLI_TRY(to_number(reader, field, "a coordinate", n < 3 ? &x[n] : &unused));
  }
  if (n == 0) {
    status = fail_expected(reader, line.at, "a coordinate");
  }
done:
  return status;
}

static NoliStatus read_nodes(Reader* reader) {
  static const char* const known[] = {"NSET", "SYSTEM", NULL};
  NoliStatus status = NOLI_OK;
  NoliSpan line;

  // nodes of the assembly are reference points, which belong to no cell
  if (reader->level == IN_ASSEMBLY) {
    skip_data(reader);
    goto done;
  }
  NOLI_TRY(check_parameters(reader, known));
  const Parameter* system = find_parameter(reader, "SYSTEM");
  if (system != NULL && !is_word(system->value, "R")) {
    status = noli_cursor_fail(reader->cursor, system->name.at,
                              "coordinates other than rectangular ones are not supported");
    goto done;
  }
  const Parameter* named = find_parameter(reader, "NSET");
  if (named != NULL) {
    NOLI_TRY(begin_piece(reader, NODE_SET, named, false));
  }
  while (next_line(reader->cursor, &line)) {
    NOLI_TRY(read_node(reader, line));
  }
done:
  return status;
}

// A label and the nodes, which go on in the next line after a comma.
static NoliStatus read_element(Reader* reader, const ElementType* type, NoliSpan line,
                               int64_t* label) {
  NoliStatus status = NOLI_OK;
  NoliContext* context = reader->cursor->context;
  Element element = {.type = type, .place = line.at, .first_node = reader->node_of.count};
  NoliSpan field = line;
  bool goes_on = false;
  next_field(&line, &field, &goes_on);
  NOLI_TRY(to_integer(reader, field, "the label of an element", 1, label));
  NOLI_TRY(add_label(reader, &reader->element, *label, element.place));
  NOLI_PUSH(context, &reader->element_data, element);
  for (int32_t i = 0; i < type->n_node; i++) {
    int64_t node = 0;
    while (!next_field(&line, &field, &goes_on)) {
      // after the last field the place is the end of the line, or the keyword that came too early
      bool has_line = goes_on && next_line(reader->cursor, &line);
      const char* end = goes_on ? reader->cursor->at : line.at + line.n;
      if (!has_line) {
        status = fail_expected(reader, end, "a node of the element");
        goto done;
      }
    }
    NOLI_TRY(to_integer(reader, field, "a node of the element", 1, &node));
    NOLI_PUSH(context, &reader->node_of, node);
  }
  if (next_field(&line, &field, &goes_on)) {
    status = fail_expected(reader, field.at, "the end of the line");
  }
done:
  return status;
}

// The type that the keyword names.
static NoliStatus find_type(Reader* reader, const ElementType** type) {
  const Parameter* named = find_parameter(reader, "TYPE");
  NoliMeshParts* parts = reader->parts;
  *type = NULL;
  if (named == NULL) {
    return noli_cursor_fail(reader->cursor, reader->keyword.at, "%s needs the parameter TYPE",
                            noli_show(reader->keyword).text);
  }
  for (size_t t = 0; t < sizeof element_types / sizeof *element_types; t++) {
    *type = is_word(named->value, element_types[t].name) ? &element_types[t] : *type;
  }
  if (*type == NULL) {
    return noli_cursor_fail(reader->cursor, named->name.at,
                            "elements of type %s are not supported: only tetrahedra (C3D4, C3D10), "
                            "triangles (S3, STRI3, M3D3, CPS3, CPE3) and segments (B31, T3D2) are",
                            noli_show(named->value).text);
  }
  if ((*type)->n_vertex == 4) {
    if (parts->order > 0 && parts->order != (*type)->order) {
      return noli_cursor_fail(reader->cursor, named->name.at,
                              "%s: all tetrahedra must have the same order, previous ones have "
                              "order %d",
                              (*type)->name, parts->order);
    }
    parts->order = (*type)->order;
  }
  return NOLI_OK;
}

static NoliStatus read_elements(Reader* reader) {
  static const char* const known[] = {"TYPE", "ELSET", NULL};
  NoliStatus status = NOLI_OK;
  const ElementType* type;
  const Parameter* named = find_parameter(reader, "ELSET");
  NoliSpan line;
  Item run = {.step = 1};
  NOLI_TRY(check_parameters(reader, known));
  if (reader->level == IN_ASSEMBLY) {
    status = noli_cursor_fail(reader->cursor, reader->keyword.at,
                              "elements of the assembly itself are not supported");
    goto done;
  }
  NOLI_TRY(find_type(reader, &type));
  if (named != NULL) {
    NOLI_TRY(begin_piece(reader, ELEMENT_SET, named, false));
  }

  // runs of consecutive labels become one entry of the set
  while (next_line(reader->cursor, &line)) {
    int64_t label = 0;
    NOLI_TRY(read_element(reader, type, line, &label));
    if (named != NULL && run.place != NULL && label == run.last + 1) {
      reader->item.data[reader->item.count - 1].last = run.last = label;
    } else if (named != NULL) {
      run = (Item){.first = label, .last = label, .step = 1, .place = line.at};
      NOLI_TRY(add_item(reader, run));
    }
  }
done:
  return status;
}

// ---- parts and instances

static NoliStatus begin_part(Reader* reader) {
  if (reader->has_part) {
    return noli_cursor_fail(reader->cursor, reader->keyword.at,
                            "a second part: only files of one part are supported");
  }
  reader->has_part = true;
  reader->level = IN_PART;
  return NOLI_OK;
}

static NoliStatus begin_assembly(Reader* reader) {
  reader->level = IN_ASSEMBLY;
  return NOLI_OK;
}

// The data of an instance are a translation and a rotation.
static NoliStatus begin_instance(Reader* reader) {
  NoliStatus status = NOLI_OK;
  NoliSpan line, field;
  const Parameter* named = find_parameter(reader, "NAME");
  if (reader->has_instance) {
    status = noli_cursor_fail(reader->cursor, reader->keyword.at,
                              "a second instance: only files of one instance are supported");
    goto done;
  }
  reader->has_instance = true;
  reader->instance = named != NULL ? named->value : (NoliSpan){reader->keyword.at, 0};
  reader->level = IN_INSTANCE;
  while (next_line(reader->cursor, &line)) {
    const char* place = line.at;
    bool moves = false;
    for (bool goes_on; next_field(&line, &field, &goes_on);) {
      double value;
      NOLI_TRY(to_number(reader, field, "a component of the translation", &value));
      moves = moves || value != 0.0;
    }
    if (moves) {
      status =
          noli_cursor_fail(reader->cursor, place, "instances that are moved are not supported");
      goto done;
    }
  }
done:
  return status;
}

static NoliStatus end_part(Reader* reader) {
  reader->level = reader->level == IN_INSTANCE ? IN_ASSEMBLY : IN_MODEL;
  return NOLI_OK;
}

// ---- the file

// Keywords that make or move a mesh in ways that are not supported.
static NoliStatus refuse(Reader* reader) {
  return noli_cursor_fail(reader->cursor, reader->keyword.at,
                          "%s is not supported: the file must contain all nodes and elements in "
                          "rectangular coordinates",
                          noli_show(reader->keyword).text);
}

static NoliStatus read_block(Reader* reader) {
  static const struct {
    const char* name;
    NoliStatus (*read)(Reader* reader);
  } blocks[] = {
      {"*NODE", read_nodes},
      {"*ELEMENT", read_elements},
      {"*NSET", read_node_set},
      {"*ELSET", read_element_set},
      {"*PART", begin_part},
      {"*ENDPART", end_part},
      {"*ASSEMBLY", begin_assembly},
      {"*ENDASSEMBLY", end_part},
      {"*INSTANCE", begin_instance},
      {"*ENDINSTANCE", end_part},
      {"*INCLUDE", refuse},
      {"*SYSTEM", refuse},
      {"*NGEN", refuse},
      {"*NFILL", refuse},
      {"*NCOPY", refuse},
      {"*NMAP", refuse},
      {"*ELGEN", refuse},
      {"*ELCOPY", refuse},
      {"*IMPORT", refuse},
      {"*SYMMETRICMODELGENERATION", refuse},
  };
  NoliStatus status = NOLI_OK;
  NoliSpan line;
  size_t b = 0, n_block = sizeof blocks / sizeof *blocks;
  NOLI_TRY(read_keyword(reader));
  while (b < n_block && !is_word(reader->keyword, blocks[b].name)) {
    b++;
  }
  if (b == n_block) {
    skip_data(reader);
    goto done;
  }
  NOLI_TRY(blocks[b].read(reader));
  if (next_line(reader->cursor, &line)) {
    status = fail_expected(reader, line.at, "a keyword such as *NODE");
  }
done:
  return status;
}

// Fails if a set names a node or element that does not exist. Ranges of GENERATE may have gaps.
static NoliStatus check_sets(const Reader* reader) {
  for (int64_t s = 0; s < reader->set.count; s++) {
    const Set* set = &reader->set.data[s];
    const char* what = set->kind == NODE_SET ? "node" : "element";
    const Labels* labels = set->kind == NODE_SET ? &reader->node : &reader->element;
    for (int32_t p = set->last_piece; p >= 0; p = reader->piece.data[p].previous) {
      const Piece* piece = &reader->piece.data[p];
      for (int64_t i = piece->first_item; i < piece->end_item; i++) {
        const Item* item = &reader->item.data[i];
        if (item->step > 0 && item->first == item->last && find_label(labels, item->first) < 0) {
          return noli_cursor_fail(reader->cursor, item->place,
                                  "the set %s names %s %lld, which does not exist",
                                  noli_show(set->name).text, what, (long long)item->first);
        }
      }
    }
  }
  return NOLI_OK;
}

// A visit to a set: its pieces with numbers below `limit` are wanted.
typedef struct Visit {
  int32_t set;
  int32_t limit;
} Visit;

typedef struct Walk {
  NOLI_ARRAY(Visit) visit;    // still to make
  NOLI_ARRAY(int32_t) member; // elements found
  int32_t* seen;              // the set that last found each element; or -1
} Walk;

// Adds the elements of an entry, or a visit to the set that it names.
static NoliStatus take_item(const Reader* reader, const Item* item, int32_t set, int32_t piece,
                            Walk* walk) {
  NoliStatus status = NOLI_OK;
  NoliContext* context = reader->cursor->context;
  const Labels* labels = &reader->element;
  if (item->step == 0) {
    Visit visit = {(int32_t)item->first, piece};
    NOLI_PUSH(context, &walk->visit, visit);
    goto done;
  }
  for (int64_t i = lower_bound(labels, item->first);
       i < labels->count && labels->data[i].label <= item->last; i++) {
    int32_t index = labels->data[i].index;
    if ((labels->data[i].label - item->first) % item->step == 0 && walk->seen[index] != set) {
      walk->seen[index] = set;
      NOLI_PUSH(context, &walk->member, index);
    }
  }
done:
  return status;
}

// Lists the elements of a set, with those of sets that it names, as they were at that place.
static NoliStatus list_members(Reader* reader, int32_t root, Walk* walk) {
  NoliStatus status = NOLI_OK;
  Visit first = {root, INT32_MAX};
  walk->visit.count = walk->member.count = 0;
  NOLI_PUSH(reader->cursor->context, &walk->visit, first);
  while (walk->visit.count > 0) {
    Visit visit = walk->visit.data[--walk->visit.count];
    Set* set = &reader->set.data[visit.set];
    int32_t taken = set->walk == root ? set->taken : 0;
    for (int32_t p = set->last_piece; p >= taken; p = reader->piece.data[p].previous) {
      const Piece* piece = &reader->piece.data[p];
      for (int64_t i = piece->first_item; p < visit.limit && i < piece->end_item; i++) {
        NOLI_TRY(take_item(reader, &reader->item.data[i], root, p, walk));
      }
    }
    set->walk = root;
    set->taken = visit.limit > taken ? visit.limit : taken;
  }
done:
  return status;
}

// Logs which tags are which sets.
static void log_tags(const Reader* reader, const int32_t* best, const int64_t* size) {
  enum { SHOWN = 12 };
  char text[1500];
  size_t length = 0;
  int32_t n_tag = 0;
  for (int64_t s = 0; s < reader->set.count; s++) {
    const Set* set = &reader->set.data[s];
    n_tag = set->tag > n_tag ? set->tag : n_tag;
    if (set->tag == 0 || set->tag > SHOWN) {
      continue;
    }
    int64_t n = 0;
    for (int64_t e = 0; e < reader->element.count; e++) {
      n += best[e] == s;
    }
    length += (size_t)snprintf(text + length, sizeof text - length, "%s%d %s (%lld of %lld)",
                               length > 0 ? ", " : "", (int)set->tag, noli_show(set->name).text,
                               (long long)n, (long long)size[s]);
  }
  if (n_tag > 0) {
    noli_log(reader->cursor->context, NOLI_LOG_INFO, "%s: tags of element sets: %s%s",
             reader->cursor->path, text, n_tag > SHOWN ? ", ..." : "");
  }
}

// Numbers the element sets from 1 on and gives each element the tag of its smallest set; of sets of
// the same size the first. `tag` has one value for each element.
static NoliStatus find_tags(Reader* reader, int32_t* tag) {
  NoliStatus status = NOLI_OK;
  NoliContext* context = reader->cursor->context;
  int64_t* size = NULL;
  int32_t *best = NULL, n_tag = 0;
  Walk walk = {.seen = NULL};
  NOLI_NEW(context, walk.seen, reader->element.count);
  NOLI_NEW(context, best, reader->element.count);
  NOLI_NEW_ZERO(context, size, reader->set.count);
  memset(walk.seen, 0xff, (size_t)reader->element.count * sizeof *walk.seen);
  memset(best, 0xff, (size_t)reader->element.count * sizeof *best);
  for (int32_t s = 0; s < reader->set.count; s++) {
    Set* set = &reader->set.data[s];
    if (set->kind == NODE_SET || set->internal) {
      continue;
    }
    set->tag = ++n_tag;
    NOLI_TRY(list_members(reader, s, &walk));
    size[s] = walk.member.count;
    for (int64_t i = 0; i < walk.member.count; i++) {
      int32_t* owner = &best[walk.member.data[i]];
      *owner = *owner < 0 || size[s] < size[*owner] ? s : *owner;
    }
  }
  for (int64_t e = 0; e < reader->element.count; e++) {
    tag[e] = best[e] >= 0 ? reader->set.data[best[e]].tag : 0;
  }
  log_tags(reader, best, size);
done:
  noli_array_free(context, &walk.visit);
  noli_array_free(context, &walk.member);
  noli_free(context, walk.seen);
  noli_free(context, best);
  noli_free(context, size);
  return status;
}

// Adds the cell of an element: its vertices come first, the other nodes define its curved shape.
static NoliStatus add_cell(Reader* reader, int64_t e, int32_t tag) {
  NoliStatus status = NOLI_OK;
  NoliContext* context = reader->cursor->context;
  // the nodes on edges 1-4, 2-4 and 3-4 come in this order, and those on 3-4 before 2-4 in a mesh
  static const int32_t from[N_NODE_MAX] = {0, 1, 2, 3, 4, 5, 6, 7, 9, 8};
  const Element* element = &reader->element_data.data[e];
  const ElementType* type = element->type;
  const int64_t* label = reader->node_of.data + element->first_node;
  int32_t node[N_NODE_MAX];
  for (int32_t i = 0; i < type->n_node; i++) {
    node[i] = find_label(&reader->node, label[from[i]]);
    if (node[i] < 0) {
      status = noli_cursor_fail(reader->cursor, element->place,
                                "the element names node %lld, which does not exist",
                                (long long)label[from[i]]);
      goto done;
    }
  }

  // programs disagree on which node of a curved segment is in its middle; it bounds other cells
  bool is_curved_segment = type->n_vertex == 2 && type->order > 1;
  if (!is_curved_segment) {
    NOLI_TRY(noli_parts_add_cell(context, reader->parts, type->n_vertex, node, tag));
  }
  for (int32_t i = is_curved_segment ? 0 : type->n_vertex; i < type->n_node; i++) {
    if (type->n_vertex == 4) {
      NOLI_PUSH(context, &reader->parts->curve, node[i]);
    } else {
      NOLI_PUSH(context, &reader->parts->bent, node[i]);
    }
  }
done:
  return status;
}

// Makes the cells when all blocks are read.
static NoliStatus add_cells(Reader* reader) {
  NoliStatus status = NOLI_OK;
  NoliContext* context = reader->cursor->context;
  int32_t* tag = NULL;
  Labels* element = &reader->element;
  if (element->count == 0) {
    status = noli_cursor_fail(reader->cursor, reader->cursor->at, "the file has no elements");
    goto done;
  }
  NOLI_TRY(sort_labels(reader, &reader->node, "node"));
  NOLI_NEW(context, tag, element->count);
  NOLI_TRY(sort_labels(reader, element, "element"));
  NOLI_TRY(check_sets(reader));
  NOLI_TRY(find_tags(reader, tag));

  // in the order of the file
  for (int64_t e = 0; e < element->count; e++) {
    NOLI_TRY(add_cell(reader, e, tag[e]));
  }
done:
  noli_free(context, tag);
  return status;
}

static void free_reader(Reader* reader) {
  NoliContext* context = reader->cursor->context;
  noli_array_free(context, &reader->parameter);
  noli_array_free(context, &reader->node);
  noli_array_free(context, &reader->element);
  noli_array_free(context, &reader->element_data);
  noli_array_free(context, &reader->node_of);
  noli_array_free(context, &reader->set);
  noli_array_free(context, &reader->piece);
  noli_array_free(context, &reader->item);
}

NoliStatus noli_inp_read(NoliCursor* cursor, NoliMeshParts* parts) {
  NoliStatus status = NOLI_OK;
  Reader reader = {.cursor = cursor, .parts = parts};
  NoliSpan line;
  memset(reader.bucket, 0xff, sizeof reader.bucket);
  if (next_line(cursor, &line)) {
    status = fail_expected(&reader, line.at, "a keyword such as *NODE");
    goto done;
  }
  while (cursor->at < cursor->end) {
    NOLI_TRY(read_block(&reader));
  }
  NOLI_TRY(add_cells(&reader));
done:
  free_reader(&reader);
  return status;
}
