#include "mesh/formats/vtk_data.h"

#include <math.h>

// ---- types

// clang-format off
static const struct {
  const char* name;
  NoliVtkType type;
} types[] = {
  {"char", {NOLI_VTK_NUMBERS, NOLI_SCALAR_I8}}, {"signed_char", {NOLI_VTK_NUMBERS, NOLI_SCALAR_I8}},
  {"unsigned_char", {NOLI_VTK_NUMBERS, NOLI_SCALAR_U8}},
  {"short", {NOLI_VTK_NUMBERS, NOLI_SCALAR_I16}},
  {"unsigned_short", {NOLI_VTK_NUMBERS, NOLI_SCALAR_U16}},
  {"int", {NOLI_VTK_NUMBERS, NOLI_SCALAR_I32}},
  {"unsigned_int", {NOLI_VTK_NUMBERS, NOLI_SCALAR_U32}},
  {"long", {NOLI_VTK_NUMBERS, NOLI_SCALAR_I64}},
  {"unsigned_long", {NOLI_VTK_NUMBERS, NOLI_SCALAR_U64}},
  {"long_long", {NOLI_VTK_NUMBERS, NOLI_SCALAR_I64}},
  {"unsigned_long_long", {NOLI_VTK_NUMBERS, NOLI_SCALAR_U64}},
  {"vtktypeint8", {NOLI_VTK_NUMBERS, NOLI_SCALAR_I8}},
  {"vtktypeuint8", {NOLI_VTK_NUMBERS, NOLI_SCALAR_U8}},
  {"vtktypeint16", {NOLI_VTK_NUMBERS, NOLI_SCALAR_I16}},
  {"vtktypeuint16", {NOLI_VTK_NUMBERS, NOLI_SCALAR_U16}},
  {"vtktypeint32", {NOLI_VTK_NUMBERS, NOLI_SCALAR_I32}},
  {"vtktypeuint32", {NOLI_VTK_NUMBERS, NOLI_SCALAR_U32}},
  {"vtktypeint64", {NOLI_VTK_NUMBERS, NOLI_SCALAR_I64}},
  {"vtktypeuint64", {NOLI_VTK_NUMBERS, NOLI_SCALAR_U64}},
  {"vtktypefloat32", {NOLI_VTK_NUMBERS, NOLI_SCALAR_F32}},
  {"vtktypefloat64", {NOLI_VTK_NUMBERS, NOLI_SCALAR_F64}},
  // identifiers are written with 32 bits, whatever their size in memory
  {"vtkidtype", {NOLI_VTK_NUMBERS, NOLI_SCALAR_I32}},
  {"float", {NOLI_VTK_NUMBERS, NOLI_SCALAR_F32}}, {"double", {NOLI_VTK_NUMBERS, NOLI_SCALAR_F64}},
  {"bit", {NOLI_VTK_BITS, NOLI_SCALAR_NONE}}, {"string", {NOLI_VTK_STRINGS, NOLI_SCALAR_NONE}},
  {"utf8_string", {NOLI_VTK_STRINGS, NOLI_SCALAR_NONE}},
  {"unicode_string", {NOLI_VTK_STRINGS, NOLI_SCALAR_NONE}},
  {"variant", {NOLI_VTK_LINES, NOLI_SCALAR_NONE}},
};
// clang-format on

static NoliVtkType vtk_data_find_type(NoliSpan word) {
  for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
    if (noli_span_is_any_case(word, types[i].name)) {
      return types[i].type;
    }
  }
  return (NoliVtkType){NOLI_VTK_UNKNOWN, NOLI_SCALAR_NONE};
}

NoliStatus noli_vtk_read_type(NoliCursor* cursor, NoliScalar* type) {
  NoliSpan word = noli_next_word(cursor);
  *type = vtk_data_find_type(word).scalar;
  if (*type == NOLI_SCALAR_NONE) {
    return noli_cursor_fail(cursor, word.at, "expected a type such as double, got %s",
                            noli_show(word).text);
  }
  return NOLI_OK;
}

void noli_vtk_end_header(NoliCursor* cursor, bool binary) {
  if (binary) {
    noli_skip_line(cursor);
  }
}

void noli_vtk_skip_metadata(NoliCursor* cursor) {
  noli_skip_line(cursor);
  while (cursor->at < cursor->end && noli_next_word(cursor).n > 0) {
    noli_skip_line(cursor);
  }
}

// ---- values that are not used

// A binary string: its length in 6, 14, 30 or 62 bits, after two bits that tell which, and bytes.
static NoliStatus skip_string(NoliCursor* cursor) {
  static const int64_t size_of_length[] = {8, 4, 2, 1};
  NoliStatus status = NOLI_OK;
  const char* bytes = NULL;
  NOLI_TRY(noli_expect_items(cursor, "strings", 1, 1, true));
  unsigned first = (unsigned char)*cursor->at;
  int64_t size = size_of_length[first >> 6], length = (int64_t)(first & 0x3f);
  NOLI_TRY(noli_take_bytes(cursor, "the length of a string", size, &bytes));
  for (int64_t i = 1; i < size; i++) {
    length = length << 8 | (int64_t)(unsigned char)bytes[i];
  }
  NOLI_TRY(noli_take_bytes(cursor, "a string", length, &bytes));
done:
  return status;
}

// Moves past n values.
static NoliStatus skip_values(const NoliVtkData* data, NoliVtkType type, int64_t n) {
  NoliStatus status = NOLI_OK;
  NoliCursor* cursor = data->cursor;
  const char* bytes = NULL;
  bool lines = type.form == NOLI_VTK_LINES || (type.form == NOLI_VTK_STRINGS && !data->binary);

  if (lines || type.form == NOLI_VTK_STRINGS) {
    NOLI_TRY(noli_expect_items(cursor, "values", n, 1, data->binary));
    // in text the rest of the header's line is not a value
    for (int64_t i = data->binary ? 1 : 0; lines && i <= n; i++) {
      noli_skip_line(cursor);
    }
    for (int64_t i = 0; !lines && i < n; i++) {
      NOLI_TRY(skip_string(cursor));
    }
  } else if (data->binary) {
    int64_t size = type.form == NOLI_VTK_BITS ? (n + 7) / 8 : n * noli_scalar_size(type.scalar);
    NOLI_TRY(noli_take_bytes(cursor, "the values of an array", size, &bytes));
  } else {
    NOLI_TRY(noli_expect_items(cursor, "values", n, 2, false));
    for (int64_t i = 0; i < n; i++) {
      NOLI_TRY(noli_skip_value(cursor, false, type.scalar, "a value"));
    }
  }
done:
  return status;
}

// ---- tags

// Names of arrays of tags as programs write them, without case, blanks and punctuation: first those
// that say what they are.
static const char* const tag_names[] = {
    "tag",
    "tags",
    "celltag",
    "celltags",
    "material",
    "materials",
    "materialid",
    "materialids",
    "materialtag",
    "materialnumber",
    "mat",
    "mats",
    "matid",
    "matids",
    "imat",
    "gmshphysical",
    "physical",
    "physicalid",
    "physicalids",
    "physicaltag",
    "physicalgroup",
    "physicalgroups",
    "meditref",
    "ref",
    "refs",
    "reference",
    "references",
    "attribute",
    "attributes",
    "region",
    "regions",
    "regionid",
    "regionids",
    "subdomain",
    "subdomains",
    "subdomainid",
    "subdomainids",
    "domain",
    "domains",
    "domainid",
    "domainids",
    "label",
    "labels",
    "marker",
    "markers",
    "cellmarker",
    "cellmarkers",
    "cellentityid",
    "cellentityids",
    "entityid",
    "entityids",
    "elementtag",
    "elementtags",
    "group",
    "groups",
    "groupid",
    "groupids",
    "part",
    "parts",
    "partid",
    "partids",
    "pid",
    "zone",
    "zones",
    "zoneid",
    "blockid",
    "blockids",
    "elementblockid",
    "elementblockids",
    "objectid",
    "gmshgeometrical",
    "geometrical",
};

enum { N_TAG_NAME = sizeof tag_names / sizeof *tag_names };

// The rank of a name among those of tags, or N_TAG_NAME.
static int rank_of(NoliSpan name) {
  char plain[40];
  size_t n = 0;
  for (int64_t i = 0; i < name.n && n + 1 < sizeof plain; i++) {
    char c = name.at[i];
    c = c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
    // names are written with their special characters as %20
    if (c == '%' && i + 2 < name.n) {
      i += 2;
    } else if ((c >= 'a' && c <= 'z') || noli_is_digit(c)) {
      plain[n++] = c;
    }
  }
  plain[n] = '\0';
  int rank = 0;
  while (rank < N_TAG_NAME && strcmp(plain, tag_names[rank]) != 0) {
    rank++;
  }
  return rank;
}

// Reads a value of an array that may hold tags; `*is_tag` is false where it is not an integer.
static NoliStatus read_tag(const NoliVtkData* data, NoliScalar type, int32_t* tag, bool* is_tag) {
  NoliStatus status = NOLI_OK;
  int64_t integer = 0;
  double value = 0.0;
  if (noli_scalar_is_integer(type)) {
    NOLI_TRY(noli_next_integer(data->cursor, data->binary, type, "a tag", INT32_MIN, INT32_MAX,
                               &integer));
    *tag = (int32_t)integer;
    goto done;
  }
  NOLI_TRY(noli_next_number(data->cursor, data->binary, type, "a tag", &value));
  *is_tag = *is_tag && value == rint(value) && fabs(value) <= (double)INT32_MAX;
  *tag = *is_tag ? (int32_t)value : 0;
done:
  return status;
}

// Reads an array with a name of tags. It replaces an array whose name says less.
static NoliStatus read_tags(NoliVtkData* data, NoliSpan name, NoliVtkType type) {
  NoliStatus status = NOLI_OK;
  bool is_tag = true;
  data->candidate.count = 0;
  for (int64_t i = 0; i < data->n_item; i++) {
    int32_t tag = 0;
    NOLI_TRY(read_tag(data, type.scalar, &tag, &is_tag));
    NOLI_PUSH(data->cursor->context, &data->candidate, tag);
  }

  if (!is_tag) {
    noli_log(data->cursor->context, NOLI_LOG_WARNING,
             "%s: the array %s of cells has values that are not integers: they are no tags",
             data->cursor->path, noli_show(name).text);
  }

  int rank = rank_of(name);
  if (is_tag && (data->tag.count == 0 || rank < data->tag_rank)) {
    if (data->tag.count > 0) {
      noli_parts_note_unused(data->parts, "cell array", data->tag_name);
    }
    NOLI_TRY(noli_array_reserve(data->cursor->context, &data->tag, data->candidate.count));
    data->tag.count = data->candidate.count;
    memcpy(data->tag.data, data->candidate.data,
           (size_t)data->candidate.count * sizeof *data->tag.data);
    data->tag_name = name;
    data->tag_rank = rank;
  } else {
    noli_parts_note_unused(data->parts, "cell array", name);
  }
done:
  return status;
}

// ---- arrays and attributes

static NoliStatus vtk_data_read_array(NoliVtkData* data, NoliSpan name, NoliVtkType type,
                                      int64_t n_item, int64_t n_component) {
  static const char* const kinds[] = {"field", "cell array", "point array"};
  NoliStatus status = NOLI_OK;
  bool fits = n_component == 0 || n_item <= INT64_MAX / 16 / n_component;
  int64_t n = fits ? n_item * n_component : INT64_MAX / 16;
  bool may_be_tag = data->place == NOLI_VTK_CELLS && n_component == 1 && n_item == data->n_cell &&
                    n_item == data->n_item && n_item > 0 && type.form == NOLI_VTK_NUMBERS &&
                    rank_of(name) < N_TAG_NAME;
  if (may_be_tag) {
    NOLI_TRY(noli_expect_items(data->cursor, "values", n,
                               data->binary ? noli_scalar_size(type.scalar) : 2, data->binary));
    NOLI_TRY(read_tags(data, name, type));
  } else {
    noli_parts_note_unused(data->parts, kinds[data->place], name);
    NOLI_TRY(skip_values(data, type, n));
  }
done:
  return status;
}

NoliStatus noli_vtk_read_field(NoliVtkData* data, bool* understood) {
  NoliStatus status = NOLI_OK;
  NoliCursor* cursor = data->cursor;
  int64_t n_array = 0;
  noli_next_word(cursor);
  NOLI_TRY(noli_read_integer_here(cursor, "the number of arrays", 0, INT32_MAX, &n_array));

  for (int64_t a = 0; a < n_array; a++) {
    int64_t n_component = 0, n_item = 0;
    NoliSpan name = noli_next_word_anywhere(cursor);
    while (noli_span_is_any_case(name, "METADATA")) {
      noli_vtk_skip_metadata(cursor);
      name = noli_next_word_anywhere(cursor);
    }
    // an array without values may have no size
    if (noli_span_is_any_case(name, "NULL_ARRAY")) {
      continue;
    }
    NOLI_TRY(
        noli_read_integer_here(cursor, "the number of components", 0, INT32_MAX, &n_component));
    NOLI_TRY(noli_read_integer_here(cursor, "the number of items", 0, INT32_MAX, &n_item));
    NoliVtkType type = vtk_data_find_type(noli_next_word(cursor));
    *understood = type.form != NOLI_VTK_UNKNOWN;
    if (!*understood) {
      goto done;
    }
    noli_vtk_end_header(cursor, data->binary);
    NOLI_TRY(vtk_data_read_array(data, name, type, n_item, n_component));
  }
done:
  return status;
}

// SCALARS name type [n], LOOKUP_TABLE name, values.
static NoliStatus read_scalars(NoliVtkData* data, NoliSpan name) {
  NoliStatus status = NOLI_OK;
  NoliCursor* cursor = data->cursor;
  int64_t n_component = 1;
  NoliSpan word = noli_next_word(cursor);
  NoliVtkType type = vtk_data_find_type(word);
  if (type.form != NOLI_VTK_NUMBERS && type.form != NOLI_VTK_BITS) {
    status = noli_cursor_fail(cursor, word.at, "expected a type such as double, got %s",
                              noli_show(word).text);
    goto done;
  }

  noli_skip_blank(cursor);
  if (noli_is_digit(*cursor->at)) {
    NOLI_TRY(
        noli_read_integer_here(cursor, "the number of components", 1, INT32_MAX, &n_component));
  }
  noli_vtk_end_header(cursor, data->binary);
  NoliCursor ahead = *cursor;
  if (noli_span_is_any_case(noli_next_word_anywhere(&ahead), "LOOKUP_TABLE")) {
    *cursor = ahead;
    noli_next_word(cursor);
    noli_vtk_end_header(cursor, data->binary);
  }

  NOLI_TRY(vtk_data_read_array(data, name, type, data->n_item, n_component));
done:
  return status;
}

// Attributes that are colours, bytes where binary: COLOR_SCALARS name n for each item, and
// LOOKUP_TABLE name n with four for each entry.
static NoliStatus read_colours(NoliVtkData* data, NoliSpan name, bool is_table) {
  NoliStatus status = NOLI_OK;
  NoliCursor* cursor = data->cursor;
  NoliVtkType type = {NOLI_VTK_NUMBERS, NOLI_SCALAR_U8};
  int64_t n = 0;
  NOLI_TRY(noli_read_integer_here(cursor, "the number of values", 0, INT32_MAX, &n));
  noli_vtk_end_header(cursor, data->binary);
  if (is_table) {
    noli_parts_note_unused(data->parts, "lookup table", name);
    NOLI_TRY(skip_values(data, type, 4 * n));
  } else {
    NOLI_TRY(vtk_data_read_array(data, name, type, data->n_item, n));
  }
done:
  return status;
}

// Attributes of a fixed number of components, or of one that follows the name.
static NoliStatus read_components(NoliVtkData* data, NoliSpan name, int64_t n_component) {
  NoliStatus status = NOLI_OK;
  NoliCursor* cursor = data->cursor;
  if (n_component == 0) {
    NOLI_TRY(
        noli_read_integer_here(cursor, "the number of components", 0, INT32_MAX, &n_component));
  }
  NoliSpan word = noli_next_word(cursor);
  NoliVtkType type = vtk_data_find_type(word);
  if (type.form == NOLI_VTK_UNKNOWN) {
    status = noli_cursor_fail(cursor, word.at, "expected a type such as double, got %s",
                              noli_show(word).text);
    goto done;
  }
  noli_vtk_end_header(cursor, data->binary);
  NOLI_TRY(vtk_data_read_array(data, name, type, data->n_item, n_component));
done:
  return status;
}

NoliStatus noli_vtk_read_attribute(NoliVtkData* data, NoliSpan word, bool* understood) {
  static const struct {
    const char* name;
    int64_t n_component;
  } arrays[] = {{"VECTORS", 3},    {"NORMALS", 3},     {"TENSORS", 9},
                {"TENSORS6", 6},   {"GLOBAL_IDS", 1},  {"PEDIGREE_IDS", 1},
                {"EDGE_FLAGS", 1}, {"PROCESS_IDS", 1}, {"TEXTURE_COORDINATES", 0}};
  *understood = true;
  if (noli_span_is_any_case(word, "FIELD")) {
    return noli_vtk_read_field(data, understood);
  }
  NoliCursor ahead = *data->cursor;
  NoliSpan name = noli_next_word(&ahead);
  bool is_table = noli_span_is_any_case(word, "LOOKUP_TABLE");
  if (noli_span_is_any_case(word, "SCALARS")) {
    *data->cursor = ahead;
    return read_scalars(data, name);
  }
  if (is_table || noli_span_is_any_case(word, "COLOR_SCALARS")) {
    *data->cursor = ahead;
    return read_colours(data, name, is_table);
  }
  for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++) {
    if (noli_span_is_any_case(word, arrays[i].name)) {
      *data->cursor = ahead;
      return read_components(data, name, arrays[i].n_component);
    }
  }

  *understood = false;
  return NOLI_OK;
}
