// Medit .mesh, text: Vertices, Edges, Triangles, Quadrilaterals, which become triangles, and
// Tetrahedra, whose references are tags. Cells of other kinds are refused unless there are none;
// all other sections are skipped.
#include "mesh/formats/io.h"

typedef enum Handling { CELLS, POLYGONS, REFUSED_CELLS, COUNTED, UNCOUNTED } Handling;

typedef struct Section {
  const char* name;
  const char* items; // in messages
  Handling handling;
  int32_t n_value; // vertices of a cell, or numbers of an item that is skipped
} Section;

// clang-format off
static const Section sections[] = {
  {"Edges", "edges", CELLS, 2}, {"Triangles", "triangles", CELLS, 3},
  {"Tetrahedra", "tetrahedra", CELLS, 4},
  {"Quadrilaterals", "quadrilaterals", POLYGONS, 4}, {"Hexahedra", "hexahedra", REFUSED_CELLS, 8},
  {"Hexaedra", "hexahedra", REFUSED_CELLS, 8}, {"Prisms", "prisms", REFUSED_CELLS, 6},
  {"Pentahedra", "prisms", REFUSED_CELLS, 6}, {"Pyramids", "pyramids", REFUSED_CELLS, 5},
  {"EdgesP2", "curved edges", REFUSED_CELLS, 3}, {"TrianglesP2", "curved triangles", REFUSED_CELLS, 6},
  {"QuadrilateralsQ2", "curved quadrilaterals", REFUSED_CELLS, 9},
  {"TetrahedraP2", "curved tetrahedra", REFUSED_CELLS, 10},
  {"HexahedraQ2", "curved hexahedra", REFUSED_CELLS, 27},
  {"Corners", "corners", COUNTED, 1}, {"RequiredVertices", "required vertices", COUNTED, 1},
  {"Ridges", "ridges", COUNTED, 1}, {"RequiredEdges", "required edges", COUNTED, 1},
  {"RequiredTriangles", "required triangles", COUNTED, 1},
  {"RequiredQuadrilaterals", "required quadrilaterals", COUNTED, 1},
  {"RequiredTetrahedra", "required tetrahedra", COUNTED, 1},
  {"Normals", "normals", COUNTED, 3}, {"NormalAtVertices", "normals", COUNTED, 2},
  {"Tangents", "tangents", COUNTED, 3}, {"TangentAtVertices", "tangents", COUNTED, 2},
  {"NormalAtTriangleVertices", "normals", UNCOUNTED, 0},
  {"NormalAtQuadrilateralVertices", "normals", UNCOUNTED, 0},
  {"TangentAtEdgeVertices", "tangents", UNCOUNTED, 0}, {"TangentAtEdges", "tangents", UNCOUNTED, 0},
  {"SubDomainFromMesh", "regions", UNCOUNTED, 0}, {"SubDomainFromGeom", "regions", UNCOUNTED, 0},
  {"SubDomain", "regions", UNCOUNTED, 0}, {"VertexOnGeometricVertex", "vertices", UNCOUNTED, 0},
  {"VertexOnGeometricEdge", "vertices", UNCOUNTED, 0},
  {"VertexOnGeometricTriangle", "vertices", UNCOUNTED, 0},
  {"EdgeOnGeometricEdge", "edges", UNCOUNTED, 0}, {"Geometry", "a name", UNCOUNTED, 0},
  {"Identifier", "a name", UNCOUNTED, 0}, {"AngleOfCornerBound", "an angle", UNCOUNTED, 0},
  {"BoundingBox", "a box", UNCOUNTED, 0}, {"Iterations", "a number", UNCOUNTED, 0},
  {"Time", "a time", UNCOUNTED, 0},
};
// clang-format on

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

static NoliStatus read_cells(NoliCursor* cursor, NoliSpan word, const Section* section,
                             NoliMeshParts* parts) {
  NoliStatus status = NOLI_OK;
  int64_t count, value, n_vert = noli_parts_n_vert(parts);
  NOLI_TRY(next_integer(cursor, "the number of items", 0, INT32_MAX, &count));
  if (count > 0 && (section->handling == REFUSED_CELLS || n_vert == 0)) {
    status = section->handling == REFUSED_CELLS
                 ? noli_cursor_fail(cursor, word.at,
                                    "%s is not supported: only Vertices, Edges, Triangles, "
                                    "Quadrilaterals and Tetrahedra are read",
                                    noli_show(word).text)
                 : noli_cursor_fail(cursor, word.at, "%s before Vertices", noli_show(word).text);
    goto done;
  }

  NOLI_TRY(noli_expect_items(cursor, section->items, count, 2 * (section->n_value + 1), false));
  for (int64_t i = 0; i < count; i++) {
    int32_t vertex[4];
    for (int32_t k = 0; k < section->n_value; k++) {
      NOLI_TRY(next_integer(cursor, "a vertex of the cell", 1, n_vert, &value));
      vertex[k] = (int32_t)(value - 1);
    }
    NOLI_TRY(next_integer(cursor, "the reference of the cell", INT32_MIN, INT32_MAX, &value));
    NOLI_TRY(section->handling == POLYGONS
                 ? noli_parts_add_polygon(cursor->context, parts, section->n_value, vertex,
                                          (int32_t)value)
                 : noli_parts_add_cell(cursor->context, parts, section->n_value, vertex,
                                       (int32_t)value));
  }
done:
  return status;
}

static NoliStatus skip_items(NoliCursor* cursor, const Section* section) {
  NoliStatus status = NOLI_OK;
  int64_t count;
  NOLI_TRY(read_count(cursor, section->items, section->n_value, &count));
  for (int64_t i = 0; i < count * section->n_value; i++) {
    NOLI_TRY(skip_value(cursor, "a number"));
  }
done:
  return status;
}

static bool medit_is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

// Moves to the next keyword: a word that begins with a letter, except nan and inf.
static void skip_to_keyword(NoliCursor* cursor) {
  for (;;) {
    skip_comments(cursor);
    NoliCursor ahead = *cursor;
    NoliSpan word = noli_next_word(&ahead);
    NoliSpan head = {word.at, word.n < 3 ? word.n : 3};
    bool is_value = noli_span_is_any_case(head, "nan") || noli_span_is_any_case(head, "inf");
    if (word.n == 0 || (medit_is_letter(*word.at) && !is_value)) {
      return;
    }
    // a name in quotation marks may have blanks
    const char* close =
        *word.at == '"' ? memchr(word.at + 1, '"', (size_t)(cursor->end - word.at - 1)) : NULL;
    *cursor = ahead;
    cursor->at = close != NULL ? close + 1 : ahead.at;
  }
}

static NoliStatus medit_read_section(NoliCursor* cursor, NoliSpan word, NoliMeshParts* parts) {
  const Section* section = NULL;
  for (size_t i = 0; i < sizeof sections / sizeof *sections; i++) {
    section = noli_span_is(word, sections[i].name) ? &sections[i] : section;
  }
  if (section != NULL && section->handling <= REFUSED_CELLS) {
    return read_cells(cursor, word, section, parts);
  }
  if (section != NULL && section->handling == COUNTED) {
    return skip_items(cursor, section);
  }
  if (section == NULL && !medit_is_letter(*word.at)) {
    return noli_cursor_fail(cursor, word.at, "expected a section such as Vertices, got %s",
                            noli_show(word).text);
  }
  if (section == NULL) {
    noli_log(cursor->context, NOLI_LOG_WARNING, "%s: the section %s is not known and not used",
             cursor->path, noli_show(word).text);
  }
  skip_to_keyword(cursor);
  return NOLI_OK;
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
      NOLI_TRY(medit_read_section(cursor, word, parts));
    }
  }
done:
  return status;
}
