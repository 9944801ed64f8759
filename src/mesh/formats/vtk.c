// Legacy VTK: unstructured grids and polygonal data, text and binary (big-endian), file versions up
// to 5.1; text of version 3.0 is written.
//
// While cells are read, the tag arrays of the parts hold for each cell the number of the cell in
// the file that it came from. At the end the tags of those cells, if any, replace the numbers.
#include "mesh/formats/io.h"
#include "mesh/formats/vtk_data.h"

typedef NOLI_ARRAY(int64_t) LongArray;

typedef struct Reader {
  NoliCursor* cursor;
  NoliMeshParts* parts;
  bool binary;
  bool has_offsets; // version 5 and up: cells are given by offsets and vertices
  bool polygonal;   // POLYDATA
  bool has_points;
  bool has_data;    // CELL_DATA or POINT_DATA has begun
  LongArray offset; // of the first vertex of each cell, and the end
  LongArray vertex;
  LongArray type;
  NOLI_ARRAY(int32_t) corner; // of a polygon
  NoliVtkData data;           // with the number of cells of the file read so far
} Reader;

// How a cell of the file is converted.
typedef enum Making { REFUSED, POINTS, POLYLINE, STRIP, POLYGON, PIXEL, TETRAHEDRON } Making;

typedef struct CellType {
  const char* name;
  int32_t n_least;
  int32_t n_most; // 0: any number
  Making making;
} CellType;

// clang-format off
static const CellType cell_types[] = {
  [0] = {"empty cell", 0, 0, REFUSED}, [1] = {"vertex", 1, 1, POINTS},
  [2] = {"poly-vertex", 1, 0, POINTS}, [3] = {"line", 2, 2, POLYLINE},
  [4] = {"polyline", 2, 0, POLYLINE}, [5] = {"triangle", 3, 3, POLYGON},
  [6] = {"triangle strip", 3, 0, STRIP}, [7] = {"polygon", 3, 0, POLYGON},
  [8] = {"pixel", 4, 4, PIXEL}, [9] = {"quadrangle", 4, 4, POLYGON},
  [10] = {"tetrahedron", 4, 4, TETRAHEDRON}, [11] = {"voxel", 8, 8, REFUSED},
  [12] = {"hexahedron", 8, 8, REFUSED}, [13] = {"wedge", 6, 6, REFUSED},
  [14] = {"pyramid", 5, 5, REFUSED}, [21] = {"second-order line", 3, 3, REFUSED},
  [22] = {"second-order triangle", 6, 6, REFUSED}, [23] = {"second-order quadrangle", 8, 8, REFUSED},
  [24] = {"second-order tetrahedron", 10, 10, REFUSED},
  [25] = {"second-order hexahedron", 20, 20, REFUSED}, [42] = {"polyhedron", 4, 0, REFUSED},
  [68] = {"Lagrange curve", 2, 0, REFUSED}, [69] = {"Lagrange triangle", 3, 0, REFUSED},
  [71] = {"Lagrange tetrahedron", 4, 0, REFUSED}, [78] = {"Bezier tetrahedron", 4, 0, REFUSED},
};
// clang-format on

enum { N_CELL_TYPES = sizeof cell_types / sizeof cell_types[0] };

// Fails unless the file has room for `n` values of a type.
static NoliStatus expect_values(Reader* reader, const char* what, int64_t n, NoliScalar type) {
  return noli_expect_items(reader->cursor, what, n, reader->binary ? noli_scalar_size(type) : 2,
                           reader->binary);
}

static NoliStatus next_integer(Reader* reader, NoliScalar type, const char* what, int64_t low,
                               int64_t high, int64_t* value) {
  return noli_next_integer(reader->cursor, reader->binary, type, what, low, high, value);
}

// ---- geometry

static NoliStatus read_points(Reader* reader) {
  NoliStatus status = NOLI_OK;
  NoliCursor* cursor = reader->cursor;
  int64_t n = 0;
  NoliScalar type = NOLI_SCALAR_NONE;
  double* x = NULL;
  if (reader->has_points) {
    status = noli_cursor_fail(cursor, cursor->at, "a second section POINTS");
    goto done;
  }
  reader->has_points = true;
  NOLI_TRY(noli_read_integer_here(cursor, "the number of points", 0, INT32_MAX, &n));
  NOLI_TRY(noli_vtk_read_type(cursor, &type));
  noli_vtk_end_header(cursor, reader->binary);
  NOLI_TRY(expect_values(reader, "coordinates", 3 * n, type));
  NOLI_TRY(noli_parts_add_vertices(cursor->context, reader->parts, n, &x));
  for (int64_t i = 0; i < 3 * n; i++) {
    NOLI_TRY(noli_next_number(cursor, reader->binary, type, "a coordinate", &x[i]));
  }
done:
  return status;
}

static NoliStatus vtk_read_vertex(Reader* reader, NoliScalar type) {
  NoliStatus status = NOLI_OK;
  int64_t vertex = 0;
  NOLI_TRY(next_integer(reader, type, "a vertex of the cell", 0,
                        noli_parts_n_vert(reader->parts) - 1, &vertex));
  NOLI_PUSH(reader->cursor->context, &reader->vertex, vertex);
done:
  return status;
}

// The layout before version 5: for each cell the number of its vertices, then the vertices.
static NoliStatus read_lists(Reader* reader, int64_t n_list, int64_t n_value) {
  NoliStatus status = NOLI_OK;
  NoliContext* context = reader->cursor->context;
  NOLI_TRY(expect_values(reader, "values", n_value, NOLI_SCALAR_I32));
  int64_t left = n_value;
  NOLI_PUSH(context, &reader->offset, 0);
  for (int64_t c = 0; c < n_list; c++) {
    int64_t n = 0;
    NOLI_TRY(
        next_integer(reader, NOLI_SCALAR_I32, "the number of vertices of a cell", 0, left - 1, &n));
    left -= 1 + n;
    for (int64_t i = 0; i < n; i++) {
      NOLI_TRY(vtk_read_vertex(reader, NOLI_SCALAR_I32));
    }
    NOLI_PUSH(context, &reader->offset, reader->vertex.count);
  }
done:
  return status;
}

// Reads the name and the type of an array of version 5.
static NoliStatus read_array_head(Reader* reader, const char* name, int64_t n, NoliScalar* type) {
  NoliStatus status = NOLI_OK;
  NoliCursor* cursor = reader->cursor;
  NoliSpan word = noli_next_word_anywhere(cursor);
  if (!noli_span_is_any_case(word, name)) {
    status = noli_cursor_fail(cursor, word.at, "expected %s, got %s", name, noli_show(word).text);
    goto done;
  }
  NOLI_TRY(noli_vtk_read_type(cursor, type));
  if (!noli_scalar_is_integer(*type)) {
    status = noli_cursor_fail(cursor, word.at, "%s must be integers", name);
    goto done;
  }
  noli_vtk_end_header(cursor, reader->binary);
  NOLI_TRY(expect_values(reader, "values", n, *type));
done:
  return status;
}

// The layout of version 5: where each cell begins, then all vertices.
static NoliStatus read_offsets(Reader* reader, int64_t n_offset, int64_t n_vertex) {
  NoliStatus status = NOLI_OK;
  NoliScalar type = NOLI_SCALAR_NONE;
  int64_t offset = 0;
  NOLI_TRY(read_array_head(reader, "OFFSETS", n_offset, &type));
  for (int64_t i = 0; i < n_offset; i++) {
    // the first is 0 and the last is the number of vertices
    int64_t low = i == n_offset - 1 ? n_vertex : offset;
    NOLI_TRY(next_integer(reader, type, "an offset", low, i == 0 ? 0 : n_vertex, &offset));
    NOLI_PUSH(reader->cursor->context, &reader->offset, offset);
  }
  NOLI_TRY(read_array_head(reader, "CONNECTIVITY", n_vertex, &type));
  for (int64_t i = 0; i < n_vertex; i++) {
    NOLI_TRY(vtk_read_vertex(reader, type));
  }
done:
  return status;
}

// Reads the lists of vertices in either layout; the name of the section was read before.
static NoliStatus read_cells(Reader* reader) {
  NoliStatus status = NOLI_OK;
  NoliCursor* cursor = reader->cursor;
  int64_t n = 0, n_value = 0;
  reader->offset.count = reader->vertex.count = 0;
  NOLI_TRY(noli_read_integer_here(cursor, "the number of cells", 0, INT32_MAX, &n));
  NOLI_TRY(noli_read_integer_here(cursor, "the number of values", 0, INT64_MAX / 16, &n_value));
  noli_vtk_end_header(cursor, reader->binary);
  NOLI_TRY(reader->has_offsets ? read_offsets(reader, n, n_value) : read_lists(reader, n, n_value));
done:
  return status;
}

// Adds a polygon, or a pixel, whose last two vertices are in the other order.
static NoliStatus make_polygon(Reader* reader, Making making, int64_t n, const int64_t* vertex) {
  static const int pixel_order[4] = {0, 1, 3, 2};
  NoliStatus status = NOLI_OK;
  reader->corner.count = 0;
  for (int64_t i = 0; i < n; i++) {
    NOLI_PUSH(reader->cursor->context, &reader->corner,
              (int32_t)vertex[making == PIXEL ? pixel_order[i] : i]);
  }
  NOLI_TRY(noli_parts_add_polygon(reader->cursor->context, reader->parts, n, reader->corner.data,
                                  (int32_t)reader->data.n_cell));
done:
  return status;
}

// Vertices of the cells that a cell of the file is converted to, other than polygons.
static const int32_t widths[] = {[POINTS] = 1, [POLYLINE] = 2, [STRIP] = 3, [TETRAHEDRON] = 4};

// Adds the cells that one cell of the file, with n vertices, is converted to.
static NoliStatus make_cell(Reader* reader, Making making, int64_t n, const int64_t* vertex) {
  NoliStatus status = NOLI_OK;
  NoliContext* context = reader->cursor->context;
  int32_t source = (int32_t)reader->data.n_cell;
  int32_t width = widths[making];
  bool is_polygon = making == POLYGON || making == PIXEL;
  if (is_polygon) {
    NOLI_TRY(make_polygon(reader, making, n, vertex));
  }
  for (int64_t i = 0; !is_polygon && i + width <= n; i++) {
    int32_t cell[4] = {0};
    for (int32_t k = 0; k < width; k++) {
      cell[k] = (int32_t)vertex[i + k];
    }
    // every other triangle of a strip is reversed
    if (making == STRIP && i % 2 == 1) {
      int32_t kept = cell[1];
      cell[1] = cell[2];
      cell[2] = kept;
    }
    NOLI_TRY(noli_parts_add_cell(context, reader->parts, width, cell, source));
  }

  reader->data.n_cell++;
done:
  return status;
}

// Converts the cells of a section. `same_type` is the type of all, or negative: each has an entry
// in the list of types.
static NoliStatus make_cells(Reader* reader, const char* place, int64_t same_type) {
  NoliStatus status = NOLI_OK;
  for (int64_t c = 0; c + 1 < reader->offset.count; c++) {
    int64_t type = same_type >= 0 ? same_type : reader->type.data[c];
    const CellType* known = &cell_types[type];
    int64_t first = reader->offset.data[c];
    int64_t n = reader->offset.data[c + 1] - first;
    if (n < known->n_least || (known->n_most > 0 && n > known->n_most)) {
      status = noli_cursor_fail_at(reader->cursor, reader->binary, place,
                                   "cell %lld, a %s, has %lld vertices", (long long)c, known->name,
                                   (long long)n);
      goto done;
    }
    NOLI_TRY(make_cell(reader, known->making, n, reader->vertex.data + first));
  }
  if (reader->data.n_cell > INT32_MAX) {
    status = noli_fail(reader->cursor->context, NOLI_ERROR_TOO_LARGE, "%s: too many cells",
                       reader->cursor->path);
  }
done:
  return status;
}

// Reads the types of an unstructured grid and makes its cells.
static NoliStatus read_cell_types(Reader* reader) {
  NoliStatus status = NOLI_OK;
  NoliCursor* cursor = reader->cursor;
  const char* head = cursor->at;
  int64_t n = 0;

  // as many types as cells
  NOLI_TRY(noli_read_integer_here(cursor, "the number of cell types", 0, INT32_MAX, &n));
  int64_t n_list = reader->offset.count > 0 ? reader->offset.count - 1 : 0;
  if (n != n_list) {
    status = noli_cursor_fail(cursor, head, "%lld cell types for %lld cells", (long long)n,
                              (long long)n_list);
    goto done;
  }
  noli_vtk_end_header(cursor, reader->binary);
  NOLI_TRY(expect_values(reader, "cell types", n, NOLI_SCALAR_I32));

  // known and supported ones
  for (int64_t c = 0; c < n; c++) {
    if (!reader->binary) {
      noli_skip_space(cursor);
    }
    const char* place = cursor->at;
    int64_t type = 0;
    NOLI_TRY(next_integer(reader, NOLI_SCALAR_I32, "a cell type", 0, 255, &type));
    if (type >= N_CELL_TYPES || cell_types[type].making == REFUSED) {
      const char* name =
          type < N_CELL_TYPES && cell_types[type].name != NULL ? cell_types[type].name : "cell";
      status = noli_cursor_fail_at(cursor, reader->binary, place,
                                   "cell %lld is a %s (type %lld), which is not supported: only "
                                   "tetrahedra, polygons, lines and vertices are",
                                   (long long)c, name, (long long)type);
      goto done;
    }
    NOLI_PUSH(cursor->context, &reader->type, type);
  }
  NOLI_TRY(make_cells(reader, head, -1));
done:
  return status;
}

// ---- the file

// Reads the four lines at the beginning of every file.
static NoliStatus vtk_read_header(Reader* reader) {
  NoliStatus status = NOLI_OK;
  NoliCursor* cursor = reader->cursor;
  static const char magic[] = "# vtk DataFile Version ";
  int64_t n_magic = (int64_t)sizeof magic - 1;
  double version = 0.0;

  // version
  if (noli_cursor_left(cursor) < n_magic || memcmp(cursor->at, magic, (size_t)n_magic) != 0) {
    status = noli_cursor_fail(cursor, cursor->at, "expected '%s', got %s", magic,
                              noli_show_next(cursor).text);
    goto done;
  }
  cursor->at += n_magic;
  NOLI_TRY(noli_read_number_here(cursor, "the version of the format", &version));
  if (!(version >= 1.0 && version < 6.0)) {
    status =
        noli_cursor_fail(cursor, cursor->at, "version %g of the format is not supported", version);
    goto done;
  }
  reader->has_offsets = version >= 5.0;

  // text or binary, after the title line
  noli_skip_line(cursor);
  noli_skip_line(cursor);
  NoliSpan word = noli_next_word_anywhere(cursor);
  reader->binary = reader->data.binary = noli_span_is_any_case(word, "BINARY");
  cursor->swap = noli_is_little_endian();
  if (!reader->binary && !noli_span_is_any_case(word, "ASCII")) {
    status =
        noli_cursor_fail(cursor, word.at, "expected ASCII or BINARY, got %s", noli_show(word).text);
    goto done;
  }

  // kind of data
  NoliSpan dataset = noli_next_word_anywhere(cursor);
  word = noli_next_word(cursor);
  reader->polygonal = noli_span_is_any_case(word, "POLYDATA");
  if (!noli_span_is_any_case(dataset, "DATASET") ||
      (!reader->polygonal && !noli_span_is_any_case(word, "UNSTRUCTURED_GRID"))) {
    status = noli_cursor_fail(cursor, dataset.at,
                              "expected DATASET UNSTRUCTURED_GRID or POLYDATA, got %s",
                              noli_show(word).text);
  }
done:
  return status;
}

// Reads a section with cells of one type; `*found` tells whether `word` names such a section.
static NoliStatus read_polygonal(Reader* reader, NoliSpan word, bool* found) {
  static const struct {
    const char* name;
    int64_t type;
  } sections[] = {{"VERTICES", 2}, {"LINES", 4}, {"POLYGONS", 7}, {"TRIANGLE_STRIPS", 6}};
  NoliStatus status = NOLI_OK;
  *found = false;
  for (size_t i = 0; i < sizeof sections / sizeof sections[0]; i++) {
    if (noli_span_is_any_case(word, sections[i].name)) {
      *found = true;
      NOLI_TRY(read_cells(reader));
      NOLI_TRY(make_cells(reader, word.at, sections[i].type));
    }
  }
done:
  return status;
}

// Reads the section that `word` names; if it is not `*understood`, reading cannot continue after
// it.
static NoliStatus vtk_read_section(Reader* reader, NoliSpan word, bool* understood) {
  NoliStatus status = NOLI_OK;
  NoliCursor* cursor = reader->cursor;
  bool found = true;
  *understood = true;

  // once data begins, everything else is an attribute
  bool cell_data = noli_span_is_any_case(word, "CELL_DATA");
  if (cell_data || noli_span_is_any_case(word, "POINT_DATA")) {
    reader->has_data = true;
    reader->data.place = cell_data ? NOLI_VTK_CELLS : NOLI_VTK_POINTS;
    NOLI_TRY(
        noli_read_integer_here(cursor, "the number of items", 0, INT32_MAX, &reader->data.n_item));
  } else if (noli_span_is_any_case(word, "METADATA")) {
    noli_vtk_skip_metadata(cursor);
  } else if (reader->has_data) {
    NOLI_TRY(noli_vtk_read_attribute(&reader->data, word, understood));

    // geometry
  } else if (noli_span_is_any_case(word, "POINTS")) {
    NOLI_TRY(read_points(reader));
  } else if (noli_span_is_any_case(word, "FIELD")) {
    NOLI_TRY(noli_vtk_read_field(&reader->data, &found));
  } else if (reader->polygonal) {
    NOLI_TRY(read_polygonal(reader, word, &found));
  } else if (noli_span_is_any_case(word, "CELLS")) {
    NOLI_TRY(read_cells(reader));
  } else if (noli_span_is_any_case(word, "CELL_TYPES")) {
    NOLI_TRY(read_cell_types(reader));
  } else {
    found = false;
  }
  if (!found) {
    status = noli_cursor_fail_at(cursor, reader->binary, word.at, "the section %s is not known",
                                 noli_show(word).text);
  }
done:
  return status;
}

// Replaces numbers of cells of the file by their tags.
static void apply_tags(const Reader* reader) {
  NoliMeshParts* parts = reader->parts;
  for (int64_t t = 0; t < parts->tet_tag.count; t++) {
    int32_t* tag = &parts->tet_tag.data[t];
    *tag = reader->data.tag.count > 0 ? reader->data.tag.data[*tag] : 0;
  }
  for (int64_t t = 0; t < parts->tri_tag.count; t++) {
    int32_t* tag = &parts->tri_tag.data[t];
    *tag = reader->data.tag.count > 0 ? reader->data.tag.data[*tag] : 0;
  }
}

// Reading ends at an attribute that is not known, for its size is not either.
static void log_rest(const NoliCursor* cursor, NoliSpan word) {
  noli_log(cursor->context, NOLI_LOG_WARNING,
           "%s: reading ends at %s, which is not known or has values of a type that is not: tags "
           "that follow are lost",
           cursor->path, noli_show(word).text);
}

NoliStatus noli_vtk_read(NoliCursor* cursor, NoliMeshParts* parts) {
  NoliStatus status = NOLI_OK;
  Reader reader = {.cursor = cursor, .parts = parts, .data = {.cursor = cursor, .parts = parts}};
  NOLI_TRY(vtk_read_header(&reader));
  for (bool understood = true; understood;) {
    NoliSpan word = noli_next_word_anywhere(cursor);
    if (word.n == 0) {
      break;
    }
    NOLI_TRY(vtk_read_section(&reader, word, &understood));
    if (!understood) {
      log_rest(cursor, word);
    }
  }

  // a file may end before the types
  if (!reader.polygonal && reader.offset.count > 1 && reader.type.count == 0) {
    status = noli_cursor_fail(cursor, cursor->at, "the file has CELLS but no CELL_TYPES");
    goto done;
  }
  apply_tags(&reader);
done:
  noli_array_free(cursor->context, &reader.offset);
  noli_array_free(cursor->context, &reader.vertex);
  noli_array_free(cursor->context, &reader.type);
  noli_array_free(cursor->context, &reader.data.tag);
  noli_array_free(cursor->context, &reader.data.candidate);
  noli_array_free(cursor->context, &reader.corner);
  return status;
}

static void put_types(NoliTextFile* file, int32_t type, int32_t n) {
  for (int32_t c = 0; c < n; c++) {
    noli_put_text(file, "%d\n", type);
  }
}

static void put_tags(NoliTextFile* file, const int32_t* tag, int32_t n) {
  for (int32_t c = 0; c < n; c++) {
    noli_put_text(file, "%d\n", tag != NULL ? tag[c] : 0);
  }
}

NoliStatus noli_vtk_write(NoliTextFile* file, const NoliMesh* mesh) {
  int64_t n_cell = (int64_t)mesh->n_tet + mesh->n_tri + mesh->n_edge + mesh->n_point;
  int64_t n_value = n_cell + 4 * (int64_t)mesh->n_tet + 3 * (int64_t)mesh->n_tri +
                    2 * (int64_t)mesh->n_edge + mesh->n_point;

  // vertices
  noli_put_text(file,
                "# vtk DataFile Version 3.0\nnoli mesh\nASCII\nDATASET UNSTRUCTURED_GRID\n"
                "POINTS %d double\n",
                mesh->n_vert);
  noli_put_positions(file, "", mesh->n_vert, mesh->x);

  // cells and their types
  noli_put_text(file, "CELLS %lld %lld\n", (long long)n_cell, (long long)n_value);
  noli_put_cells(file, "4", mesh->n_tet, mesh->tet, 4, 0);
  noli_put_cells(file, "3", mesh->n_tri, mesh->tri, 3, 0);
  noli_put_cells(file, "2", mesh->n_edge, mesh->edge, 2, 0);
  noli_put_cells(file, "1", mesh->n_point, mesh->point, 1, 0);
  noli_put_text(file, "CELL_TYPES %lld\n", (long long)n_cell);
  put_types(file, 10, mesh->n_tet);
  put_types(file, 5, mesh->n_tri);
  put_types(file, 3, mesh->n_edge);
  put_types(file, 1, mesh->n_point);

  // tags
  if (mesh->tet_tag != NULL || mesh->tri_tag != NULL) {
    noli_put_text(file, "CELL_DATA %lld\nSCALARS tag int 1\nLOOKUP_TABLE default\n",
                  (long long)n_cell);
    put_tags(file, mesh->tet_tag, mesh->n_tet);
    put_tags(file, mesh->tri_tag, mesh->n_tri);
    put_tags(file, NULL, mesh->n_edge);
    put_tags(file, NULL, mesh->n_point);
  }
  return NOLI_OK;
}
