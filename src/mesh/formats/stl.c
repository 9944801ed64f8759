// STL: triangles without shared vertices; equal positions are merged into one vertex.
#include "mesh/formats/io.h"

enum { HEADER_SIZE = 84, TRIANGLE_SIZE = 50 };

static uint64_t hash_position(const double x[3]) {
  uint64_t bits[3];
  memcpy(bits, x, sizeof bits);
  uint64_t hash = 0;
  for (int i = 0; i < 3; i++) {
    hash = (hash ^ bits[i]) * UINT64_C(0x9e3779b97f4a7c15);
    hash ^= hash >> 32;
  }
  return hash;
}

// Merges equal positions, of which there are three per triangle, and makes the triangles.
static NoliStatus merge_vertices(NoliCursor* cursor, NoliMeshParts* parts) {
  NoliStatus status = NOLI_OK;
  NoliContext* context = cursor->context;
  int32_t* slot = NULL;
  int64_t n = noli_parts_n_vert(parts);
  NOLI_CHECK(context, n <= INT32_MAX, NOLI_ERROR_TOO_LARGE, "%s: %lld triangles", cursor->path,
             (long long)(n / 3));

  // a hash table with open addressing
  int64_t n_slot = 16;
  while (n_slot < 2 * n) {
    n_slot *= 2;
  }
  NOLI_NEW(context, slot, n_slot);
  memset(slot, 0xff, (size_t)n_slot * sizeof *slot);

  // keep the first vertex at each position
  double* x = parts->x.data;
  int32_t n_kept = 0, tri[3] = {0};
  for (int64_t v = 0; v < n; v++) {
    // minus zero becomes zero, so that equal positions have equal bits
    double p[3] = {x[3 * v] + 0.0, x[3 * v + 1] + 0.0, x[3 * v + 2] + 0.0};
    int64_t at = (int64_t)(hash_position(p) & (uint64_t)(n_slot - 1));
    while (slot[at] >= 0 && memcmp(x + 3 * (int64_t)slot[at], p, sizeof p) != 0) {
      at = (at + 1) & (n_slot - 1);
    }
    if (slot[at] < 0) {
      slot[at] = n_kept;
      memcpy(x + 3 * (int64_t)n_kept++, p, sizeof p);
    }
    tri[v % 3] = slot[at];
    if (v % 3 == 2) {
      NOLI_TRY(noli_parts_add_cell(context, parts, 3, tri, 0));
    }
  }
  parts->x.count = 3 * (int64_t)n_kept;
done:
  noli_free(context, slot);
  return status;
}

static NoliStatus read_binary(NoliCursor* cursor, NoliMeshParts* parts) {
  NoliStatus status = NOLI_OK;
  const char* bytes = NULL;
  bool swap = !noli_is_little_endian();
  NOLI_TRY(noli_take_bytes(cursor, "the header of a binary STL file", HEADER_SIZE, &bytes));
  int64_t n_tri = noli_load_u32(bytes + 80, swap);
  NOLI_TRY(noli_expect_items(cursor, "triangles", n_tri, TRIANGLE_SIZE, true));
  if (noli_cursor_left(cursor) > TRIANGLE_SIZE * n_tri) {
    noli_parts_note_unused(parts, "bytes after the last triangle", (NoliSpan){cursor->at, 0});
  }
  double* x = NULL;
  NOLI_TRY(noli_parts_add_vertices(cursor->context, parts, 3 * n_tri, &x));
  for (int64_t t = 0; t < n_tri; t++) {
    // the normal (12 bytes) is ignored
    const char* at = cursor->at + TRIANGLE_SIZE * t + 12;
    for (int i = 0; i < 9; i++) {
      *x++ = noli_load_number(at + 4 * i, NOLI_SCALAR_F32, swap);
    }
  }
done:
  return status;
}

static NoliStatus expect_word(NoliCursor* cursor, const char* text) {
  noli_skip_space(cursor);
  NoliCursor before = *cursor;
  NoliSpan word = noli_next_word(cursor);
  if (!noli_span_is_any_case(word, text)) {
    return noli_cursor_fail(cursor, before.at, "expected '%s', got %s", text,
                            noli_show_next(&before).text);
  }
  return NOLI_OK;
}

// Reads a facet whose first word was read before. The normal follows from the vertices: programs
// write anything for those of facets without area, also less than three words.
static NoliStatus read_facet(NoliCursor* cursor, NoliMeshParts* parts) {
  NoliStatus status = NOLI_OK;
  double* x = NULL;
  NOLI_TRY(expect_word(cursor, "normal"));
  for (int i = 0; i < 3; i++) {
    NoliCursor ahead = *cursor;
    if (!noli_span_is_any_case(noli_next_word_anywhere(&ahead), "outer")) {
      *cursor = ahead;
    }
  }
  NOLI_TRY(expect_word(cursor, "outer"));
  NOLI_TRY(expect_word(cursor, "loop"));
  NOLI_TRY(noli_parts_add_vertices(cursor->context, parts, 3, &x));
  for (int v = 0; v < 3; v++) {
    NOLI_TRY(expect_word(cursor, "vertex"));
    for (int i = 0; i < 3; i++) {
      NOLI_TRY(noli_read_number(cursor, "a coordinate", &x[3 * v + i]));
    }
  }
  NOLI_TRY(expect_word(cursor, "endloop"));
  NOLI_TRY(expect_word(cursor, "endfacet"));
done:
  return status;
}

// Reads solids one after the other. The first word of each is already known to be `solid`.
static NoliStatus stl_read_text(NoliCursor* cursor, NoliMeshParts* parts) {
  NoliStatus status = NOLI_OK;
  bool inside = false;
  for (;;) {
    noli_skip_space(cursor);
    NoliCursor before = *cursor;
    NoliSpan word = noli_next_word(cursor);
    if (inside && noli_span_is_any_case(word, "facet")) {
      NOLI_TRY(read_facet(cursor, parts));
    } else if (noli_span_is_any_case(word, inside ? "endsolid" : "solid")) {
      inside = !inside;
      noli_skip_line(cursor);
    } else if (!inside && word.n == 0) {
      break;
    } else {
      status = noli_cursor_fail(cursor, before.at, "expected %s, got %s",
                                inside ? "'facet' or 'endsolid'" : "'solid'",
                                noli_show_next(&before).text);
      goto done;
    }
  }
done:
  return status;
}

// Whether a file is binary. Some binary files begin with `solid`, too. The number of triangles
// after their header fits the size, to which some programs add bytes, while the text at its place
// in other files is a number beyond any size; and only binary files have zeros in their header.
static bool is_binary(const NoliCursor* cursor) {
  int64_t size = cursor->end - cursor->begin;
  NoliCursor ahead = *cursor;
  if (!noli_span_is_any_case(noli_next_word_anywhere(&ahead), "solid")) {
    return true;
  }
  if (size < HEADER_SIZE) {
    return false;
  }
  int64_t n_tri = noli_load_u32(cursor->begin + 80, !noli_is_little_endian());
  return size >= HEADER_SIZE + TRIANGLE_SIZE * n_tri ||
         memchr(cursor->begin, '\0', HEADER_SIZE) != NULL;
}

NoliStatus noli_stl_read(NoliCursor* cursor, NoliMeshParts* parts) {
  NoliStatus status = NOLI_OK;
  if (is_binary(cursor)) {
    // whatever is in the header
    cursor->at = cursor->begin;
    NOLI_TRY(read_binary(cursor, parts));
  } else {
    NOLI_TRY(stl_read_text(cursor, parts));
  }
  NOLI_TRY(merge_vertices(cursor, parts));
done:
  return status;
}

NoliStatus noli_stl_write(NoliTextFile* file, const NoliMesh* mesh) {
  noli_put_text(file, "solid noli\n");
  for (int64_t t = 0; t < mesh->n_tri; t++) {
    // readers compute the normal themselves, as the format allows
    noli_put_text(file, "facet normal 0 0 0\nouter loop\n");
    for (int i = 0; i < 3; i++) {
      noli_put_text(file, "vertex ");
      noli_put_numbers(file, mesh->x + 3 * (int64_t)mesh->tri[3 * t + i], 3);
      noli_put_text(file, "\n");
    }
    noli_put_text(file, "endloop\nendfacet\n");
  }
  noli_put_text(file, "endsolid noli\n");
  return NOLI_OK;
}
