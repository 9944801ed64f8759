// PLY: text and binary of either byte order. Polygons, strips of triangles and edges are read, and
// where looks are wanted texture coordinates of vertices or corners.
#include "mesh/formats/io.h"

// The meaning of a property.
typedef enum Role {
  IGNORED,
  TEXTURE_U,
  TEXTURE_V,
  TEXTURE_CORNERS,
  COORDINATE_X,
  COORDINATE_Y,
  COORDINATE_Z,
  VERTEX_1,
  VERTEX_2,
  CORNERS,
  STRIP
} Role;

typedef struct Property {
  Role role;
  NoliScalar type;
  NoliScalar count_type; // of lists, else NONE
} Property;

typedef enum ElementKind {
  OTHER_ELEMENT,
  VERTEX_ELEMENT,
  FACE_ELEMENT,
  EDGE_ELEMENT,
  STRIP_ELEMENT
} ElementKind;

typedef struct Element {
  ElementKind kind;
  int64_t count;
  int64_t first; // property
  int64_t n_property;
} Element;

typedef struct Reader {
  NoliCursor* cursor;
  NoliMeshParts* parts;
  bool binary;
  NOLI_ARRAY(Element) element;
  NOLI_ARRAY(Property) property;
  NOLI_ARRAY(int32_t) corners;
  NOLI_ARRAY(int32_t) corner_uv; // numbers of the texture coordinates of the corners
  NOLI_ARRAY(double) texture;    // two for each corner of the face that is read, or one vertex
  bool uv_of_vertices;           // a texture coordinate has the number of its vertex
  int64_t n_vert;
} Reader;

static NoliScalar scalar_type(NoliSpan word) {
  static const struct {
    const char* name;
    NoliScalar type;
  } types[] = {
      {"char", NOLI_SCALAR_I8},     {"int8", NOLI_SCALAR_I8},    {"uchar", NOLI_SCALAR_U8},
      {"uint8", NOLI_SCALAR_U8},    {"short", NOLI_SCALAR_I16},  {"int16", NOLI_SCALAR_I16},
      {"ushort", NOLI_SCALAR_U16},  {"uint16", NOLI_SCALAR_U16}, {"int", NOLI_SCALAR_I32},
      {"int32", NOLI_SCALAR_I32},   {"uint", NOLI_SCALAR_U32},   {"uint32", NOLI_SCALAR_U32},
      {"int64", NOLI_SCALAR_I64},   {"uint64", NOLI_SCALAR_U64}, {"float", NOLI_SCALAR_F32},
      {"float32", NOLI_SCALAR_F32}, {"double", NOLI_SCALAR_F64}, {"float64", NOLI_SCALAR_F64},
  };
  for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
    if (noli_span_is(word, types[i].name)) {
      return types[i].type;
    }
  }
  return NOLI_SCALAR_NONE;
}

static Role property_role(ElementKind kind, NoliSpan name, bool is_list) {
  static const struct {
    ElementKind kind;
    const char* name;
    bool is_list;
    Role role;
  } roles[] = {
      {VERTEX_ELEMENT, "x", false, COORDINATE_X},
      {VERTEX_ELEMENT, "y", false, COORDINATE_Y},
      {VERTEX_ELEMENT, "z", false, COORDINATE_Z},
      {VERTEX_ELEMENT, "s", false, TEXTURE_U},
      {VERTEX_ELEMENT, "t", false, TEXTURE_V},
      {VERTEX_ELEMENT, "u", false, TEXTURE_U},
      {VERTEX_ELEMENT, "v", false, TEXTURE_V},
      {VERTEX_ELEMENT, "texture_u", false, TEXTURE_U},
      {VERTEX_ELEMENT, "texture_v", false, TEXTURE_V},
      {VERTEX_ELEMENT, "texture_s", false, TEXTURE_U},
      {VERTEX_ELEMENT, "texture_t", false, TEXTURE_V},
      {FACE_ELEMENT, "texcoord", true, TEXTURE_CORNERS},
      {FACE_ELEMENT, "vertex_indices", true, CORNERS},
      {FACE_ELEMENT, "vertex_index", true, CORNERS},
      {STRIP_ELEMENT, "vertex_indices", true, STRIP},
      {STRIP_ELEMENT, "vertex_index", true, STRIP},
      {EDGE_ELEMENT, "vertex1", false, VERTEX_1},
      {EDGE_ELEMENT, "vertex2", false, VERTEX_2},
  };

  for (size_t i = 0; i < sizeof roles / sizeof roles[0]; i++) {
    if (roles[i].kind == kind && roles[i].is_list == is_list && noli_span_is(name, roles[i].name)) {
      return roles[i].role;
    }
  }
  return IGNORED;
}

static NoliStatus read_format(Reader* reader) {
  NoliCursor* cursor = reader->cursor;
  NoliSpan word = noli_next_word(cursor);
  if (noli_span_is(word, "ascii")) {
    return NOLI_OK;
  }
  reader->binary = true;
  bool little = noli_span_is(word, "binary_little_endian");
  if (!little && !noli_span_is(word, "binary_big_endian")) {
    return noli_cursor_fail(cursor, word.at,
                            "expected ascii, binary_little_endian or binary_big_endian, got %s",
                            noli_show(word).text);
  }
  cursor->swap = little != noli_is_little_endian();
  return NOLI_OK;
}

static NoliStatus read_element_line(Reader* reader) {
  NoliStatus status = NOLI_OK;
  Element element = {.first = reader->property.count};
  NoliSpan name = noli_next_word(reader->cursor);
  element.kind = noli_span_is(name, "vertex")      ? VERTEX_ELEMENT
                 : noli_span_is(name, "face")      ? FACE_ELEMENT
                 : noli_span_is(name, "edge")      ? EDGE_ELEMENT
                 : noli_span_is(name, "tristrips") ? STRIP_ELEMENT
                                                   : OTHER_ELEMENT;
  NOLI_TRY(noli_read_integer_here(reader->cursor, "the number of elements", 0, INT32_MAX,
                                  &element.count));
  if (element.kind == VERTEX_ELEMENT) {
    reader->n_vert = element.count;
  }
  if (element.kind == OTHER_ELEMENT && element.count > 0) {
    noli_parts_note_unused(reader->parts, "element", name);
  }
  NOLI_PUSH(reader->cursor->context, &reader->element, element);
done:
  return status;
}

static NoliStatus read_property_line(Reader* reader) {
  NoliStatus status = NOLI_OK;
  NoliCursor* cursor = reader->cursor;
  NoliSpan word = noli_next_word(cursor);
  if (reader->element.count == 0) {
    status = noli_cursor_fail(cursor, word.at, "a property comes before the first element");
    goto done;
  }

  // the type, or for a list the types of its length and items
  Element* element = &reader->element.data[reader->element.count - 1];
  Property property = {.count_type = NOLI_SCALAR_NONE};
  bool is_list = noli_span_is(word, "list");
  if (is_list) {
    word = noli_next_word(cursor);
    property.count_type = scalar_type(word);
    if (!noli_scalar_is_integer(property.count_type)) {
      status = noli_cursor_fail(cursor, word.at, "expected an integer type for the list, got %s",
                                noli_show(word).text);
      goto done;
    }
    word = noli_next_word(cursor);
  }
  property.type = scalar_type(word);
  if (property.type == NOLI_SCALAR_NONE) {
    status = noli_cursor_fail(cursor, word.at, "expected a type such as float, got %s",
                              noli_show(word).text);
    goto done;
  }

  // the name
  NoliSpan name = noli_next_word(cursor);
  property.role = property_role(element->kind, name, is_list);
  // sequences of meshes have them in every file
  if (property.role == IGNORED && element->kind != OTHER_ELEMENT && reader->parts->sets.wanted) {
    noli_parts_note_unused(reader->parts, "property", name);
  }
  if (property.role >= VERTEX_1 && !noli_scalar_is_integer(property.type)) {
    status =
        noli_cursor_fail(cursor, word.at, "vertices of cells must have an integer type, got %s",
                         noli_show(word).text);
    goto done;
  }
  NOLI_PUSH(cursor->context, &reader->property, property);
  element->n_property++;
done:
  return status;
}

static NoliStatus ply_read_header(Reader* reader) {
  NoliStatus status = NOLI_OK;
  NoliCursor* cursor = reader->cursor;
  NoliSpan word = noli_next_word(cursor);
  bool has_format = false;
  if (!noli_span_is(word, "ply")) {
    status =
        noli_cursor_fail(cursor, cursor->begin, "expected 'ply', got %s", noli_show(word).text);
    goto done;
  }

  // a statement on each line
  for (noli_skip_line(cursor);; noli_skip_line(cursor)) {
    word = noli_next_word(cursor);
    if (noli_span_is(word, "end_header")) {
      break;
    }
    if (noli_span_is(word, "format")) {
      NOLI_TRY(read_format(reader));
      has_format = true;
    } else if (noli_span_is(word, "element")) {
      NOLI_TRY(read_element_line(reader));
    } else if (noli_span_is(word, "property")) {
      NOLI_TRY(read_property_line(reader));
    } else if (cursor->at >= cursor->end ||
               (word.n > 0 && !noli_span_is(word, "comment") && !noli_span_is(word, "obj_info"))) {
      NoliCursor before = *cursor;
      before.at = word.at;
      status = noli_cursor_fail(cursor, word.at, "expected 'end_header', got %s",
                                noli_show_next(&before).text);
      goto done;
    }
  }

  // end_header
  if (!has_format) {
    status = noli_cursor_fail(cursor, word.at, "the header has no 'format' line");
    goto done;
  }
  noli_skip_line(cursor);
done:
  return status;
}

// Fails unless an element has the required properties.
static NoliStatus check_roles(const Reader* reader, const Element* element) {
  static const struct {
    ElementKind kind;
    Role first, last;
    const char* message;
  } needs[] = {
      {VERTEX_ELEMENT, COORDINATE_X, COORDINATE_Z, "the vertices need properties x, y and z"},
      {EDGE_ELEMENT, VERTEX_1, VERTEX_2, "the edges need properties vertex1 and vertex2"},
      {FACE_ELEMENT, CORNERS, CORNERS, "the faces need a list property vertex_indices"},
      {STRIP_ELEMENT, STRIP, STRIP, "the tristrips need a list property vertex_indices"},
  };
  for (size_t n = 0; n < sizeof needs / sizeof needs[0]; n++) {
    for (int role = (int)needs[n].first; role <= (int)needs[n].last; role++) {
      bool has = element->kind != needs[n].kind || element->count == 0;
      for (int64_t p = 0; p < element->n_property; p++) {
        has = has || (int)reader->property.data[element->first + p].role == role;
      }
      if (!has) {
        return noli_cursor_fail(reader->cursor, reader->cursor->begin, "%s", needs[n].message);
      }
    }
  }
  return NOLI_OK;
}

// Reads a texture coordinate; what is no number is 0.
static NoliStatus read_texture(Reader* reader, NoliScalar type, double* value) {
  NoliCursor before = *reader->cursor;
  if (noli_next_number(reader->cursor, reader->binary, type, "a texture coordinate", value) ==
      NOLI_OK) {
    return NOLI_OK;
  }
  *value = 0.0;
  *reader->cursor = before;
  return noli_skip_value(reader->cursor, reader->binary, type, "a value");
}

// Reads a list; keeps it if it has corners or texture coordinates.
static NoliStatus ply_read_list(Reader* reader, const Property* property) {
  NoliStatus status = NOLI_OK;
  NoliCursor* cursor = reader->cursor;
  int64_t n = 0, vertex = 0;
  NOLI_TRY(noli_next_integer(cursor, reader->binary, property->count_type, "the length of a list",
                             0, INT32_MAX, &n));
  int64_t size = reader->binary ? noli_scalar_size(property->type) : 2;
  NOLI_TRY(noli_expect_items(cursor, "list items", n, size, reader->binary));

  if (property->role == CORNERS || property->role == STRIP) {
    reader->corners.count = 0;
    // -1 ends a strip
    int64_t least = property->role == STRIP ? -1 : 0;
    for (int64_t i = 0; i < n; i++) {
      NOLI_TRY(noli_next_integer(cursor, reader->binary, property->type, "a vertex of the face",
                                 least, reader->n_vert - 1, &vertex));
      NOLI_PUSH(cursor->context, &reader->corners, (int32_t)vertex);
    }
  } else if (property->role == TEXTURE_CORNERS && reader->parts->looks.wanted) {
    reader->texture.count = 0;
    for (int64_t i = 0; i < n; i++) {
      double value = 0.0;
      NOLI_TRY(read_texture(reader, property->type, &value));
      NOLI_PUSH(cursor->context, &reader->texture, value);
    }
  } else {
    for (int64_t i = 0; i < n; i++) {
      NOLI_TRY(noli_skip_value(cursor, reader->binary, property->type, "a value"));
    }
  }
done:
  return status;
}

// Reads one element into a position with a texture coordinate, an edge, or the corners with theirs.
static NoliStatus read_one(Reader* reader, const Element* element, double x[3], double uv[2],
                           int32_t edge[2]) {
  NoliStatus status = NOLI_OK;
  NoliCursor* cursor = reader->cursor;
  bool textured = reader->parts->looks.wanted;
  reader->texture.count = 0;

  for (int64_t p = 0; p < element->n_property; p++) {
    const Property* property = &reader->property.data[element->first + p];
    int64_t vertex = 0;
    double value = 0.0;
    if (property->count_type != NOLI_SCALAR_NONE) {
      NOLI_TRY(ply_read_list(reader, property));
    } else if (property->role == VERTEX_1 || property->role == VERTEX_2) {
      NOLI_TRY(noli_next_integer(cursor, reader->binary, property->type, "a vertex of the edge", 0,
                                 reader->n_vert - 1, &vertex));
      edge[property->role == VERTEX_2] = (int32_t)vertex;
    } else if (textured && (property->role == TEXTURE_U || property->role == TEXTURE_V)) {
      NOLI_TRY(read_texture(reader, property->type, &uv[property->role == TEXTURE_V]));
    } else if (property->role < COORDINATE_X) {
      NOLI_TRY(noli_skip_value(cursor, reader->binary, property->type, "a value"));
    } else {
      NOLI_TRY(noli_next_number(cursor, reader->binary, property->type, "a coordinate", &value));
      x[property->role - COORDINATE_X] = value;
    }
  }
done:
  return status;
}

// The minimum size of an element in bytes.
static int64_t least_size(const Reader* reader, const Element* element) {
  int64_t size = 0;
  for (int64_t p = 0; p < element->n_property; p++) {
    const Property* property = &reader->property.data[element->first + p];
    NoliScalar type =
        property->count_type != NOLI_SCALAR_NONE ? property->count_type : property->type;
    size += reader->binary ? noli_scalar_size(type) : 2;
  }
  return size;
}

// Adds a face, with texture coordinates where they are wanted.
static NoliStatus add_face(Reader* reader, int64_t n, const int32_t* vertex) {
  NoliStatus status = NOLI_OK;
  NoliContext* context = reader->cursor->context;
  NoliMeshParts* parts = reader->parts;
  NoliPartsLooks* looks = &parts->looks;
  int64_t first = parts->tri.count / 3;
  bool of_corners = n > 0 && reader->texture.count == 2 * n;
  NOLI_TRY(noli_parts_add_polygon(context, parts, n, vertex, 0));
  if (!looks->wanted || (!of_corners && !reader->uv_of_vertices)) {
    goto done;
  }
  reader->corner_uv.count = 0;
  for (int64_t i = 0; i < n; i++) {
    int32_t uv = of_corners ? (int32_t)(looks->uv.count / 2) : vertex[i];
    NOLI_PUSH(context, &reader->corner_uv, uv);
    if (of_corners) {
      const double* at = reader->texture.data + 2 * i;
      NOLI_TRY(noli_looks_add_uv(context, looks, at[0], at[1]));
    }
  }
  NOLI_TRY(noli_looks_add_face(context, looks, first, parts->tri.count / 3 - first, n, vertex,
                               reader->corner_uv.data));
done:
  return status;
}

// Adds the triangles of strips, of which every other one is reversed. Those that name a vertex
// twice only lead to the next place.
static NoliStatus add_strips(Reader* reader) {
  NoliStatus status = NOLI_OK;
  const int32_t* corner = reader->corners.data;
  int64_t first = 0;
  for (int64_t i = 0; i < reader->corners.count; i++) {
    if (corner[i] < 0) {
      first = i + 1;
    } else if (i >= first + 2) {
      bool reversed = (i - first) % 2 == 1;
      const int32_t tri[3] = {corner[i - 2], corner[reversed ? i : i - 1],
                              corner[reversed ? i - 1 : i]};
      if (tri[0] != tri[1] && tri[1] != tri[2] && tri[2] != tri[0]) {
        NOLI_TRY(add_face(reader, 3, tri));
      }
    }
  }
done:
  return status;
}

static NoliStatus ply_read_elements(Reader* reader, const Element* element) {
  NoliStatus status = NOLI_OK;
  NoliContext* context = reader->cursor->context;
  double x[3] = {0.0}, uv[2] = {0.0}, *place = NULL;
  int32_t edge[2] = {0};
  NOLI_TRY(check_roles(reader, element));

  // elements without properties take no space in the file
  int64_t n = element->n_property > 0 ? element->count : 0;
  if (n > 0) {
    NOLI_TRY(noli_expect_items(reader->cursor, "elements", n, least_size(reader, element),
                               reader->binary));
  }

  // one by one
  for (int64_t i = 0; i < n; i++) {
    NOLI_TRY(read_one(reader, element, x, uv, edge));
    if (element->kind == VERTEX_ELEMENT) {
      NOLI_TRY(noli_parts_add_vertices(context, reader->parts, 1, &place));
      memcpy(place, x, sizeof x);
      if (reader->uv_of_vertices) {
        NOLI_TRY(noli_looks_add_uv(context, &reader->parts->looks, uv[0], uv[1]));
      }
    } else if (element->kind == FACE_ELEMENT) {
      NOLI_TRY(add_face(reader, reader->corners.count, reader->corners.data));
    } else if (element->kind == STRIP_ELEMENT) {
      NOLI_TRY(add_strips(reader));
    } else if (element->kind == EDGE_ELEMENT) {
      NOLI_TRY(noli_parts_add_cell(context, reader->parts, 2, edge, 0));
    }
  }
done:
  return status;
}

static bool has_role(const Reader* reader, Role role) {
  bool has = false;
  for (int64_t p = 0; p < reader->property.count; p++) {
    has = has || reader->property.data[p].role == role;
  }
  return has;
}

NoliStatus noli_ply_read(NoliCursor* cursor, NoliMeshParts* parts) {
  NoliStatus status = NOLI_OK;
  Reader reader = {.cursor = cursor, .parts = parts};
  NOLI_TRY(ply_read_header(&reader));
  reader.uv_of_vertices =
      parts->looks.wanted && has_role(&reader, TEXTURE_U) && !has_role(&reader, TEXTURE_CORNERS);
  for (int64_t e = 0; e < reader.element.count; e++) {
    NOLI_TRY(ply_read_elements(&reader, &reader.element.data[e]));
  }
  // with two vertex elements the indices would be ambiguous
  if (noli_parts_n_vert(parts) != reader.n_vert) {
    status = noli_cursor_fail(cursor, cursor->begin, "the header must name one vertex element");
  }
done:
  noli_array_free(cursor->context, &reader.element);
  noli_array_free(cursor->context, &reader.property);
  noli_array_free(cursor->context, &reader.corners);
  noli_array_free(cursor->context, &reader.corner_uv);
  noli_array_free(cursor->context, &reader.texture);
  return status;
}

NoliStatus noli_ply_write(NoliTextFile* file, const NoliMesh* mesh) {
  noli_put_text(file,
                "ply\nformat ascii 1.0\nelement vertex %d\n"
                "property double x\nproperty double y\nproperty double z\n",
                mesh->n_vert);
  if (mesh->n_tri > 0) {
    noli_put_text(file, "element face %d\nproperty list uchar int vertex_indices\n", mesh->n_tri);
  }
  if (mesh->n_edge > 0) {
    noli_put_text(file, "element edge %d\nproperty int vertex1\nproperty int vertex2\n",
                  mesh->n_edge);
  }
  noli_put_text(file, "end_header\n");
  noli_put_positions(file, "", mesh->n_vert, mesh->x);
  noli_put_cells(file, "3", mesh->n_tri, mesh->tri, 3, 0);
  noli_put_cells(file, "", mesh->n_edge, mesh->edge, 2, 0);
  return NOLI_OK;
}
