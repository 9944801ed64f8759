#include "mesh/looks.h"

#include "text/cursor.h"

#include <math.h>
#include <string.h>

void noli_mesh_free_looks(NoliContext* context, NoliMeshLooks* looks) {
  NoliLookNames* names[] = {&looks->materials, &looks->groups, &looks->libraries};
  for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
    for (int64_t i = 0; i < names[k]->count; i++) {
      noli_free(context, names[k]->data[i]);
    }
    noli_array_free(context, names[k]);
  }
  noli_free(context, looks->vertex);
  noli_free(context, looks->x);
  noli_array_free(context, &looks->uv);
  noli_free(context, looks->corner_uv);
  noli_free(context, looks->material);
  noli_free(context, looks->group);
  *looks = (NoliMeshLooks){0};
}

// ---- reading ------------------------------------------------------------------------------------

typedef struct Corner {
  int32_t vertex;
  int32_t uv;
} Corner;

typedef struct Reader {
  NoliCursor* cursor;
  const NoliMesh* mesh;
  NoliMeshLooks* looks;
  NOLI_ARRAY(Corner) corner; // of the present face
  int64_t n_vert;            // so far
  int32_t n_tri;             // so far
  int32_t material, group;   // present
} Reader;

// The rest of the line without blanks around it, as a copy; empty: NULL.
static NoliStatus rest_of_line(NoliCursor* cursor, char** text) {
  NoliStatus status = NOLI_OK;
  noli_skip_blank(cursor);
  const char *begin = cursor->at, *end = begin;
  while (end < cursor->end && *end != '\n' && *end != '\0') {
    end++;
  }
  while (end > begin && noli_is_blank(end[-1])) {
    end--;
  }
  *text = NULL;
  if (end > begin) {
    NOLI_NEW(cursor->context, *text, end - begin + 1);
    memcpy(*text, begin, (size_t)(end - begin));
    (*text)[end - begin] = '\0';
  }
done:
  return status;
}

// The number of the name on the rest of the line.
static NoliStatus take_name(NoliCursor* cursor, NoliLookNames* names, int32_t* number) {
  NoliStatus status = NOLI_OK;
  char* name = NULL;
  NOLI_TRY(rest_of_line(cursor, &name));
  *number = NOLI_NULL_INDEX;
  for (int64_t i = 0; name != NULL && i < names->count; i++) {
    if (strcmp(names->data[i], name) == 0) {
      *number = (int32_t)i;
      goto done;
    }
  }
  if (name != NULL) {
    NOLI_PUSH(cursor->context, names, name);
    *number = (int32_t)names->count - 1;
    name = NULL;
  }
done:
  noli_free(cursor->context, name);
  return status;
}

// A texture coordinate; what is no number is 0.
static NoliStatus read_uv(Reader* reader) {
  NoliStatus status = NOLI_OK;
  for (int k = 0; k < 2; k++) {
    double value = 0.0;
    if (noli_read_number_here(reader->cursor, "a texture coordinate", &value) != NOLI_OK ||
        !isfinite(value)) {
      value = 0.0;
    }
    NOLI_PUSH(reader->cursor->context, &reader->looks->uv, value);
  }
done:
  return status;
}

// An index of a reference, up to a slash or the end of the word; 0 where there is none.
static int64_t read_index(const char** at, const char* end) {
  bool negative = *at < end && **at == '-';
  int64_t index = 0;
  for (*at += negative ? 1 : 0; *at < end && noli_is_digit(**at); ++*at) {
    index = index <= INT32_MAX ? 10 * index + (**at - '0') : index;
  }
  return negative ? -index : index;
}

// From 1 on, or back from the last of n; NOLI_NULL_INDEX where there is no such one.
static int32_t resolve(int64_t index, int64_t n) {
  int64_t found = index < 0 ? n + index : index - 1;
  return index != 0 && found >= 0 && found < INT32_MAX ? (int32_t)found : NOLI_NULL_INDEX;
}

// The corners of a face; as polygons are read, one that follows itself counts once.
static NoliStatus read_corners(Reader* reader, int64_t* n_given) {
  NoliStatus status = NOLI_OK;
  NoliCursor* cursor = reader->cursor;
  reader->corner.count = 0;
  *n_given = 0;
  for (;;) {
    NoliSpan word = noli_next_word(cursor);
    if (word.n == 0 || word.at[0] == '#') {
      break;
    }
    if (noli_span_is(word, "\\")) {
      noli_skip_line(cursor);
      continue;
    }
    const char *at = word.at, *end = word.at + word.n;
    Corner corner = {resolve(read_index(&at, end), reader->n_vert), NOLI_NULL_INDEX};
    if (at < end && *at == '/') {
      at++;
      corner.uv = resolve(read_index(&at, end), reader->looks->uv.count / 2);
    }
    NOLI_PUSH(cursor->context, &reader->corner, corner);
    ++*n_given;
  }
done:
  return status;
}

static int32_t uv_at(const Reader* reader, int32_t vertex) {
  for (int64_t i = 0; i < reader->corner.count; i++) {
    if (reader->corner.data[i].vertex == vertex) {
      return reader->corner.data[i].uv;
    }
  }
  return NOLI_NULL_INDEX;
}

// The triangles that the mesh has of the face.
static int32_t count_triangles(const Reader* reader, int64_t n_given) {
  int64_t n = 0;
  const Corner* corner = reader->corner.data;
  for (int64_t i = 0; i < n_given; i++) {
    n += corner[i].vertex != corner[i > 0 ? i - 1 : n_given - 1].vertex ? 1 : 0;
  }
  return n_given > 3 && n >= 3 ? (int32_t)n - 2 : n_given >= 3 ? 1 : 0;
}

static NoliStatus read_face(Reader* reader) {
  NoliStatus status = NOLI_OK;
  NoliMeshLooks* looks = reader->looks;
  int64_t n_given;
  NOLI_TRY(read_corners(reader, &n_given));
  int32_t end = reader->n_tri + count_triangles(reader, n_given);
  for (; reader->n_tri < end && reader->n_tri < looks->n_tri; reader->n_tri++) {
    int64_t t = reader->n_tri;
    for (int64_t k = 3 * t; k < 3 * t + 3; k++) {
      looks->corner_uv[k] = uv_at(reader, reader->mesh->tri[k]);
    }
    looks->material[t] = reader->material;
    looks->group[t] = reader->group;
  }
done:
  return status;
}

static NoliStatus read_lines(Reader* reader) {
  NoliStatus status = NOLI_OK;
  NoliCursor* cursor = reader->cursor;
  NoliMeshLooks* looks = reader->looks;
  int32_t number;
  for (; cursor->at < cursor->end; noli_skip_line(cursor)) {
    NoliSpan word = noli_next_word(cursor);
    if (noli_span_is(word, "v")) {
      reader->n_vert++;
    } else if (noli_span_is(word, "vt")) {
      NOLI_TRY(read_uv(reader));
    } else if (noli_span_is(word, "f")) {
      NOLI_TRY(read_face(reader));
    } else if (noli_span_is(word, "usemtl")) {
      NOLI_TRY(take_name(cursor, &looks->materials, &reader->material));
    } else if (noli_span_is(word, "g") || noli_span_is(word, "o")) {
      NOLI_TRY(take_name(cursor, &looks->groups, &reader->group));
    } else if (noli_span_is(word, "mtllib")) {
      NOLI_TRY(take_name(cursor, &looks->libraries, &number));
    }
  }
done:
  return status;
}

static NoliStatus allocate(NoliContext* context, const NoliMesh* mesh, NoliMeshLooks* looks) {
  NoliStatus status = NOLI_OK;
  int64_t n = mesh->n_tri;
  looks->n_tri = mesh->n_tri;
  NOLI_NEW(context, looks->vertex, 3 * n);
  NOLI_NEW(context, looks->x, 9 * n);
  NOLI_NEW(context, looks->corner_uv, 3 * n);
  NOLI_NEW(context, looks->material, n);
  NOLI_NEW(context, looks->group, n);
  for (int64_t i = 0; i < 3 * n; i++) {
    looks->vertex[i] = mesh->tri[i];
    looks->corner_uv[i] = NOLI_NULL_INDEX;
    memcpy(looks->x + 3 * i, mesh->x + 3 * (int64_t)mesh->tri[i], 3 * sizeof *looks->x);
  }
done:
  return status;
}

// References to texture coordinates that the file does not have.
static void drop_unknown(NoliMeshLooks* looks) {
  for (int64_t i = 0; i < 3 * (int64_t)looks->n_tri; i++) {
    if (looks->corner_uv[i] >= looks->uv.count / 2) {
      looks->corner_uv[i] = NOLI_NULL_INDEX;
    }
  }
}

NoliStatus noli_mesh_read_looks(NoliContext* context, const char* path, NoliMeshLooks* looks) {
  NoliStatus status = NOLI_OK;
  NoliCursor cursor = {0};
  NoliMesh* mesh = NULL;
  Reader reader = {
      .cursor = &cursor, .looks = looks, .material = NOLI_NULL_INDEX, .group = NOLI_NULL_INDEX};
  *looks = (NoliMeshLooks){0};
  NOLI_TRY(noli_mesh_read(context, path, &mesh));
  NOLI_TRY(noli_cursor_open(context, path, &cursor));
  NOLI_TRY(allocate(context, mesh, looks));
  reader.mesh = mesh;
  NOLI_TRY(read_lines(&reader));
  drop_unknown(looks);
  // triangles that are counted otherwise than the mesh has them would get what is not theirs
  bool has_any = looks->uv.count + looks->materials.count + looks->groups.count > 0;
  if (!has_any || reader.n_tri != mesh->n_tri) {
    noli_mesh_free_looks(context, looks);
  }
done:
  if (status != NOLI_OK) {
    noli_mesh_free_looks(context, looks);
  }
  noli_array_free(context, &reader.corner);
  noli_free(context, (void*)(uintptr_t)cursor.begin);
  noli_mesh_destroy(context, &mesh);
  return status;
}

// ---- refinement ---------------------------------------------------------------------------------

// The texture coordinate in the middle of two; NOLI_NULL_INDEX where one of them is missing.
static NoliStatus middle_uv(NoliContext* context, NoliMeshLooks* looks, int32_t a, int32_t b,
                            int32_t* middle) {
  NoliStatus status = NOLI_OK;
  *middle = NOLI_NULL_INDEX;
  if (a == NOLI_NULL_INDEX || b == NOLI_NULL_INDEX) {
    return NOLI_OK;
  }
  for (int k = 0; k < 2; k++) {
    double value =
        0.5 * looks->uv.data[2 * (int64_t)a + k] + 0.5 * looks->uv.data[2 * (int64_t)b + k];
    NOLI_PUSH(context, &looks->uv, value);
  }
  *middle = (int32_t)(looks->uv.count / 2 - 1);
done:
  return status;
}

// Corners of the children, as numbers of corners (0 to 2) and of midpoints behind them, as
// cut_cells in mesh/refine.c has them.
static const int children[12] = {0, 3, 5, 3, 1, 4, 5, 4, 2, 3, 4, 5};

// Positions of corners and midpoints, with the bits of the refined mesh: sums of two commute.
static void place(const double* corner, double x[18]) {
  memcpy(x, corner, 9 * sizeof *x);
  for (int m = 0; m < 3; m++) {
    for (int k = 0; k < 3; k++) {
      x[9 + 3 * m + k] = 0.5 * x[3 * m + k] + 0.5 * x[3 * ((m + 1) % 3) + k];
    }
  }
}

NoliStatus noli_mesh_refine_looks(NoliContext* context, NoliMeshLooks* looks) {
  NoliStatus status = NOLI_OK;
  NoliMeshLooks fine = {.n_tri = 4 * looks->n_tri};
  int64_t n = fine.n_tri;
  NOLI_NEW(context, fine.vertex, 3 * n);
  NOLI_NEW(context, fine.x, 9 * n);
  NOLI_NEW(context, fine.corner_uv, 3 * n);
  NOLI_NEW(context, fine.material, n);
  NOLI_NEW(context, fine.group, n);
  for (int64_t t = 0; t < looks->n_tri; t++) {
    double x[18];
    int32_t uv[6];
    place(looks->x + 9 * t, x);
    memcpy(uv, looks->corner_uv + 3 * t, 3 * sizeof *uv);
    for (int m = 0; m < 3; m++) {
      NOLI_TRY(middle_uv(context, looks, uv[m], uv[(m + 1) % 3], &uv[3 + m]));
    }
    for (int64_t i = 0; i < 12; i++) {
      memcpy(fine.x + 36 * t + 3 * i, x + 3 * children[i], 3 * sizeof *x);
      fine.corner_uv[12 * t + i] = uv[children[i]];
      fine.vertex[12 * t + i] =
          children[i] < 3 ? looks->vertex[3 * t + children[i]] : NOLI_NULL_INDEX;
    }
    for (int64_t c = 4 * t; c < 4 * t + 4; c++) {
      fine.material[c] = looks->material[t];
      fine.group[c] = looks->group[t];
    }
  }
  // the names stay
  int32_t** lists[][2] = {{&looks->vertex, &fine.vertex},
                          {&looks->corner_uv, &fine.corner_uv},
                          {&looks->material, &fine.material},
                          {&looks->group, &fine.group}};
  for (size_t k = 0; k < sizeof lists / sizeof *lists; k++) {
    int32_t* old = *lists[k][0];
    *lists[k][0] = *lists[k][1];
    *lists[k][1] = old;
  }
  double* old = looks->x;
  looks->x = fine.x;
  fine.x = old;
  looks->n_tri = fine.n_tri;
done:
  noli_mesh_free_looks(context, &fine);
  return status;
}
