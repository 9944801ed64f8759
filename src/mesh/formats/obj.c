// Wavefront OBJ: v, f, l, p; where looks are wanted vt, usemtl, mtllib, g and o. Everything else is
// ignored.
#include "mesh/formats/io.h"

typedef NOLI_ARRAY(int32_t) IndexArray;

// The references of a line.
typedef struct References {
  IndexArray vertex;
  IndexArray uv; // texture coordinates, NOLI_NULL_INDEX where there is none; where wanted
} References;

// Reads an index from 1 on, or a negative one, which counts back from the last of n so far, as one
// from 0 on; beyond both ends where there is no such entry. Returns where its digits end.
static const char* obj_read_index(const char* p, int64_t n_so_far, int64_t* index) {
  bool negative = *p == '-';
  int64_t value = 0;
  for (p += negative; noli_is_digit(*p); p++) {
    value = value <= INT32_MAX ? 10 * value + (*p - '0') : value;
  }
  *index = !negative ? value - 1 : value > 0 ? n_so_far - value : -1;
  return p;
}

// Reads `i`, `i/t`, `i//n` or `i/t/n`. Whether a vertex that comes later exists is known: n_vert.
static NoliStatus read_reference(const NoliCursor* cursor, NoliSpan word, int64_t n_so_far,
                                 int64_t n_vert, int32_t* vertex, const char** rest) {
  bool negative = *word.at == '-';
  int64_t index;
  const char* p = obj_read_index(word.at, n_so_far, &index);
  if (p == word.at + negative || !(*p == '/' || p == word.at + word.n)) {
    return noli_cursor_fail(cursor, word.at, "expected a vertex of the cell, got %s",
                            noli_show(word).text);
  }
  if (index < 0 || index >= n_vert) {
    return noli_cursor_fail(cursor, word.at, "vertex %s does not exist: there are %lld",
                            noli_show((NoliSpan){word.at, p - word.at}).text,
                            (long long)(negative ? n_so_far : n_vert));
  }
  *vertex = (int32_t)index;
  *rest = p;
  return NOLI_OK;
}

// The texture coordinate of `i/t` at the slash, of n so far.
static int32_t read_texture(const char* slash, int64_t n_so_far) {
  int64_t index;
  (void)obj_read_index(slash + 1, n_so_far, &index);
  return index >= 0 && index < INT32_MAX ? (int32_t)index : NOLI_NULL_INDEX;
}

// Reads the references up to the end of the line; a backslash continues it on the next line.
static NoliStatus read_references(NoliCursor* cursor, const NoliMeshParts* parts, int64_t n_vert,
                                  References* list) {
  NoliStatus status = NOLI_OK;
  int64_t n_so_far = noli_parts_n_vert(parts), n_uv = parts->looks.uv.count / 2;
  list->vertex.count = list->uv.count = 0;

  for (;;) {
    NoliSpan word = noli_next_word(cursor);
    if (word.n == 0 || word.at[0] == '#') {
      break;
    }
    if (noli_span_is(word, "\\")) {
      noli_skip_line(cursor);
      continue;
    }
    int32_t vertex = 0;
    const char *rest = NULL, *end = word.at + word.n;
    NOLI_TRY(read_reference(cursor, word, n_so_far, n_vert, &vertex, &rest));
    NOLI_PUSH(cursor->context, &list->vertex, vertex);
    if (parts->looks.wanted) {
      int32_t uv = rest < end ? read_texture(rest, n_uv) : NOLI_NULL_INDEX;
      NOLI_PUSH(cursor->context, &list->uv, uv);
    }
  }
done:
  return status;
}

// Adds a face, polyline or set of points.
static NoliStatus obj_add_cells(NoliCursor* cursor, const char* place, char kind,
                                const References* references, NoliMeshParts* parts) {
  NoliStatus status = NOLI_OK;
  const IndexArray* list = &references->vertex;
  int64_t least = kind == 'f' ? 3 : kind == 'l' ? 2 : 1, first = parts->tri.count / 3;

  if (list->count < least) {
    status = noli_cursor_fail(cursor, place, "%c needs at least %lld vertices, got %lld", kind,
                              (long long)least, (long long)list->count);
    goto done;
  }

  if (kind == 'f') {
    NOLI_TRY(noli_parts_add_polygon(cursor->context, parts, list->count, list->data, 0));
    if (parts->looks.wanted) {
      NOLI_TRY(noli_looks_add_face(cursor->context, &parts->looks, first,
                                   parts->tri.count / 3 - first, list->count, list->data,
                                   references->uv.data));
    }
  } else {
    int32_t width = (int32_t)least;
    for (int64_t i = 0; i + width <= list->count; i++) {
      NOLI_TRY(noli_parts_add_cell(cursor->context, parts, width, list->data + i, 0));
    }
  }
done:
  return status;
}

// Whether the next vertex has only two coordinates.
static bool lacks_z(const NoliCursor* cursor) {
  NoliCursor ahead = *cursor;
  (void)noli_next_word(&ahead);
  NoliSpan y = noli_next_word(&ahead);
  NoliSpan z = noli_next_word(&ahead);
  return y.n > 0 && y.at[0] != '#' && (z.n == 0 || z.at[0] == '#');
}

// Reads x, y, z, or x, y of a file in the plane z = 0.
static NoliStatus obj_read_vertex(NoliCursor* cursor, bool flat, double x[3]) {
  NoliStatus status = NOLI_OK;
  if (!flat) {
    return noli_read_position_here(cursor, x);
  }
  x[2] = 0.0;
  for (int i = 0; i < 2 && status == NOLI_OK; i++) {
    status = noli_read_number_here(cursor, "a coordinate", &x[i]);
  }
  if (status == NOLI_OK) {
    NoliCursor ahead = *cursor;
    NoliSpan more = noli_next_word(&ahead);
    if (more.n > 0 && more.at[0] != '#') {
      status = noli_cursor_fail(cursor, more.at,
                                "expected two coordinates as in the previous lines, got also %s",
                                noli_show(more).text);
    }
  }
  return status;
}

// Reads the line of a texture coordinate or a name.
static NoliStatus read_looks(NoliCursor* cursor, NoliSpan word, NoliPartsLooks* looks) {
  NoliStatus status = NOLI_OK;
  int32_t library;
  if (noli_span_is(word, "vt")) {
    double uv[2] = {0.0, 0.0};
    for (int k = 0; k < 2; k++) {
      // what is no number is 0
      if (noli_read_number_here(cursor, "a texture coordinate", &uv[k]) != NOLI_OK) {
        uv[k] = 0.0;
      }
    }
    NOLI_TRY(noli_looks_add_uv(cursor->context, looks, uv[0], uv[1]));
  } else if (noli_span_is(word, "usemtl")) {
    NOLI_TRY(noli_looks_take_name(cursor, &looks->materials, &looks->material));
  } else if (noli_span_is(word, "g") || noli_span_is(word, "o")) {
    NOLI_TRY(noli_looks_take_name(cursor, &looks->groups, &looks->group));
  } else if (noli_span_is(word, "mtllib")) {
    NOLI_TRY(noli_looks_take_name(cursor, &looks->libraries, &library));
  }
done:
  return status;
}

NoliStatus noli_obj_read(NoliCursor* cursor, NoliMeshParts* parts) {
  NoliStatus status = NOLI_OK;
  References list = {0};
  bool flat = false;

  // count the vertices first: faces may name later ones
  int64_t n_vert = noli_count_statements(cursor, 'v');
  if (n_vert > INT32_MAX) {
    status = noli_fail(cursor->context, NOLI_ERROR_TOO_LARGE, "%s: %lld vertices", cursor->path,
                       (long long)n_vert);
    goto done;
  }
  double* x = NULL;
  NOLI_TRY(noli_array_reserve(cursor->context, &parts->x, 3 * n_vert));

  // vertices and cells; the first vertex decides on the number of coordinates
  for (; cursor->at < cursor->end; noli_skip_line(cursor)) {
    NoliSpan word = noli_next_word(cursor);
    if (parts->looks.wanted) {
      NOLI_TRY(read_looks(cursor, word, &parts->looks));
    }
    if (word.n != 1) {
      continue;
    }
    char kind = word.at[0];
    if (kind == 'v') {
      flat = noli_parts_n_vert(parts) == 0 ? lacks_z(cursor) : flat;
      NOLI_TRY(noli_parts_add_vertices(cursor->context, parts, 1, &x));
      NOLI_TRY(obj_read_vertex(cursor, flat, x));
    } else if (kind == 'f' || kind == 'l' || kind == 'p') {
      NOLI_TRY(read_references(cursor, parts, n_vert, &list));
      NOLI_TRY(obj_add_cells(cursor, word.at, kind, &list, parts));
    }
  }
done:
  noli_array_free(cursor->context, &list.vertex);
  noli_array_free(cursor->context, &list.uv);
  return status;
}

NoliStatus noli_obj_write(NoliTextFile* file, const NoliMesh* mesh) {
  noli_put_positions(file, "v ", mesh->n_vert, mesh->x);
  noli_put_cells(file, "f", mesh->n_tri, mesh->tri, 3, 1);
  noli_put_cells(file, "l", mesh->n_edge, mesh->edge, 2, 1);
  noli_put_cells(file, "p", mesh->n_point, mesh->point, 1, 1);
  return NOLI_OK;
}
