// Medit .mesh, text: Vertices, Edges, Triangles and Tetrahedra, whose references are tags. What
// describes them (corners, ridges, normals, ...) is skipped; other cells are refused.
#include "mesh/io.h"

typedef struct Section {
  const char* name;
  const char* items; // in messages
  int32_t n_vertex;  // of a cell; 0: no cells
  int32_t n_skipped; // numbers of an item that is skipped
} Section;

static const Section sections[] = {
    {"Edges", "edges", 2, 0},
    {"Triangles", "triangles", 3, 0},
    {"Tetrahedra", "tetrahedra", 4, 0},
    {"Corners", "corners", 0, 1},
    {"RequiredVertices", "required vertices", 0, 1},
    {"Ridges", "ridges", 0, 1},
    {"RequiredEdges", "required edges", 0, 1},
    {"RequiredTriangles", "required triangles", 0, 1},
    {"Normals", "normals", 0, 3},
    {"NormalAtVertices", "normals", 0, 2},
    {"Tangents", "tangents", 0, 3},
    {"TangentAtVertices", "tangents", 0, 2},
};

// Skips white space and comments, from # to the end of the line.
static void skip_comments(NoliCursor* cursor) {
  noli_skip_space(cursor);
  while (*cursor->at == '#') {
    noli_skip_line(cursor);
    noli_skip_space(cursor);
  }
}

// Moves past a value that is not used.
static NoliStatus skip_value(NoliCursor* cursor, const char* what) {
  skip_comments(cursor);
  return noli_skip_value(cursor, false, NOLI_SCALAR_F64, what);
}

static NoliStatus next_integer(NoliCursor* cursor, const char* what, int64_t low, int64_t high,
                               int64_t* value) {
  skip_comments(cursor);
  return noli_read_integer(cursor, what, low, high, value);
}

// The number of items of a section, of at least `n_number` numbers each.
static NoliStatus read_count(NoliCursor* cursor, const char* items, int32_t n_number,
                             int64_t* count) {
  NoliStatus status = NOLI_OK;
  NOLI_TRY(next_integer(cursor, "the number of items", 0, INT32_MAX, count));
  NOLI_TRY(noli_expect_items(cursor, items, *count, 2 * n_number, false));
done:
  return status;
}

static NoliStatus read_vertices(NoliCursor* cursor, int64_t dimension, NoliMeshParts* parts) {
  NoliStatus status = NOLI_OK;
  int64_t count;
  double* x = NULL;
  NOLI_TRY(read_count(cursor, "vertices", (int32_t)dimension + 1, &count));
  NOLI_TRY(noli_parts_add_vertices(cursor->context, parts, count, &x));
  for (int64_t i = 0; i < count; i++) {
    x[3 * i + 2] = 0.0;
    for (int64_t k = 0; k < dimension; k++) {
      skip_comments(cursor);
      NOLI_TRY(noli_read_number(cursor, "a coordinate", &x[3 * i + k]));
    }
    NOLI_TRY(skip_value(cursor, "the reference of the vertex"));
  }
done:
  return status;
}

static NoliStatus read_cells(NoliCursor* cursor, const Section* section, NoliMeshParts* parts) {
  NoliStatus status = NOLI_OK;
  int64_t count, value, n_vert = noli_parts_n_vert(parts);
  NOLI_TRY(read_count(cursor, section->items, section->n_vertex + 1, &count));
  for (int64_t i = 0; i < count; i++) {
    int32_t vertex[4];
    for (int32_t k = 0; k < section->n_vertex; k++) {
      NOLI_TRY(next_integer(cursor, "a vertex of the cell", 1, n_vert, &value));
      vertex[k] = (int32_t)(value - 1);
    }
    NOLI_TRY(next_integer(cursor, "the reference of the cell", INT32_MIN, INT32_MAX, &value));
    NOLI_TRY(
        noli_parts_add_cell(cursor->context, parts, section->n_vertex, vertex, (int32_t)value));
  }
done:
  return status;
}

static NoliStatus skip_items(NoliCursor* cursor, const Section* section) {
  NoliStatus status = NOLI_OK;
  int64_t count;
  NOLI_TRY(read_count(cursor, section->items, section->n_skipped, &count));
  for (int64_t i = 0; i < count * section->n_skipped; i++) {
    NOLI_TRY(skip_value(cursor, "a number"));
  }
done:
  return status;
}

static NoliStatus read_section(NoliCursor* cursor, NoliSpan word, NoliMeshParts* parts) {
  const Section* section = NULL;
  for (size_t i = 0; i < sizeof sections / sizeof *sections; i++) {
    section = noli_span_is(word, sections[i].name) ? &sections[i] : section;
  }
  if (section == NULL) {
    return noli_cursor_fail(cursor, word.at,
                            "%s is not supported: only Vertices, Edges, Triangles and Tetrahedra "
                            "are read",
                            noli_show(word).text);
  }
  if (section->n_vertex > 0 && noli_parts_n_vert(parts) == 0) {
    return noli_cursor_fail(cursor, word.at, "%s before Vertices", noli_show(word).text);
  }
  return section->n_vertex > 0 ? read_cells(cursor, section, parts) : skip_items(cursor, section);
}

NoliStatus noli_medit_read(NoliCursor* cursor, NoliMeshParts* parts) {
  NoliStatus status = NOLI_OK;
  int64_t dimension = 0, version;
  skip_comments(cursor);
  NoliSpan word = noli_next_word_anywhere(cursor);
  if (!noli_span_is(word, "MeshVersionFormatted")) {
    status = noli_cursor_fail(cursor, word.at, "expected MeshVersionFormatted, got %s",
                              noli_show(word).text);
    goto done;
  }
  NOLI_TRY(next_integer(cursor, "the version", 1, 4, &version));

  // sections, up to End or the end of the file
  for (;;) {
    skip_comments(cursor);
    word = noli_next_word_anywhere(cursor);
    if (word.n == 0 || noli_span_is(word, "End")) {
      break;
    }
    if (noli_span_is(word, "Dimension")) {
      NOLI_TRY(next_integer(cursor, "the dimension", 2, 3, &dimension));
    } else if (noli_span_is(word, "Vertices")) {
      if (dimension == 0 || noli_parts_n_vert(parts) > 0) {
        status = noli_cursor_fail(cursor, word.at, "%s",
                                  dimension == 0 ? "Vertices before Dimension"
                                                 : "there are Vertices before");
        goto done;
      }
      NOLI_TRY(read_vertices(cursor, dimension, parts));
    } else {
      NOLI_TRY(read_section(cursor, word, parts));
    }
  }
done:
  return status;
}
