// Frames in parts, one for each rank, which writes it: VTK XML unstructured grids
// "frame_000012_0000.vtu", .., and a file "frame_000012.pvtu" that lists them, which ParaView opens
// as one grid. A part has consecutive cells and their vertices, with the numbers of these in the
// frame (array "vertex"): read back, parts make the frame that the format "vtu" has, to the bit.
#include "base/byte_order.h"
#include "base/ranks.h"
#include "output/file.h"
#include "output/frames/pvtu.h"
#include "output/frames/vtk_collection.h"
#include "output/frames/vtu.h"
#include "output/frames/vtu_reader.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define SUFFIX ".pvtu"
#define VERTEX "vertex"

// ---- names --------------------------------------------------------------------------------------

static void part_name(const char* frame, int32_t part, char name[NOLI_FRAME_NAME_SIZE]) {
  int length = (int)(strlen(frame) - strlen(SUFFIX));
  snprintf(name, NOLI_FRAME_NAME_SIZE, "%.*s_%04d.vtu", length, frame, (int)part);
}

// The path of a part of the frame at `path`, owned by the caller.
static NoliStatus part_path(NoliContext* context, const char* path, int32_t part, char** made) {
  NoliStatus status = NOLI_OK;
  char name[NOLI_FRAME_NAME_SIZE];
  int64_t length = noli_file_name(path) - path;
  part_name(noli_file_name(path), part, name);
  NOLI_NEW(context, *made, length + NOLI_FRAME_NAME_SIZE);
  memcpy(*made, path, (size_t)length);
  memcpy(*made + length, name, sizeof name);
done:
  return status;
}

// Where the cells of a part begin.
static int64_t pvtu_share_of(int64_t n_cells, int32_t part, int32_t n_parts) {
  return n_cells * part / n_parts;
}

// ---- a part -------------------------------------------------------------------------------------

typedef struct Part {
  NoliFrame grid;
  int32_t* vertex;       // (grid.n_vert) numbers in the frame, ascending
  int32_t* local;        // (vertices of the frame) numbers in the part; -1: not in it
  int32_t* connectivity; // in numbers of the part
  int64_t* offsets;
  double* x;
  NoliFrameArray* point_data;
  NoliFrameArray* cell_data;
  unsigned char* values; // of all point data
} Part;

static void free_part(NoliContext* context, Part* part) {
  noli_free(context, part->vertex);
  noli_free(context, part->local);
  noli_free(context, part->connectivity);
  noli_free(context, part->offsets);
  noli_free(context, part->x);
  noli_free(context, part->point_data);
  noli_free(context, part->cell_data);
  noli_free(context, part->values);
}

static int64_t begin_of(const NoliFrame* frame, int64_t cell) {
  return cell > 0 ? frame->offsets[cell - 1] : 0;
}

// The vertices of the cells [begin, end); the first part also has those that are in no cell.
static NoliStatus choose_vertices(NoliContext* context, const NoliFrame* frame, int64_t begin,
                                  int64_t end, bool first, Part* part) {
  NoliStatus status = NOLI_OK;
  NOLI_NEW(context, part->local, frame->n_vert);
  for (int64_t i = 0; i < frame->n_vert; i++) {
    part->local[i] = first ? 0 : -1;
  }
  for (int64_t k = 0; k < begin_of(frame, frame->n_cells); k++) {
    part->local[frame->connectivity[k]] = -1;
  }
  for (int64_t k = begin_of(frame, begin); k < begin_of(frame, end); k++) {
    part->local[frame->connectivity[k]] = 0;
  }

  // numbered in the order of the frame
  int32_t n = 0;
  for (int64_t i = 0; i < frame->n_vert; i++) {
    part->local[i] = part->local[i] == 0 ? n++ : -1;
  }
  NOLI_NEW(context, part->vertex, n);
  for (int64_t i = 0; i < frame->n_vert; i++) {
    if (part->local[i] >= 0) {
      part->vertex[part->local[i]] = (int32_t)i;
    }
  }
  part->grid.n_vert = n;
done:
  return status;
}

static NoliStatus take_cells(NoliContext* context, const NoliFrame* frame, int64_t begin,
                             int64_t end, Part* part) {
  NoliStatus status = NOLI_OK;
  int64_t first = begin_of(frame, begin), n = begin_of(frame, end) - first;
  NOLI_NEW(context, part->connectivity, n);
  NOLI_NEW(context, part->offsets, end - begin);
  for (int64_t k = 0; k < n; k++) {
    part->connectivity[k] = part->local[frame->connectivity[first + k]];
  }
  for (int64_t c = begin; c < end; c++) {
    part->offsets[c - begin] = frame->offsets[c] - first;
  }
  part->grid.n_cells = end - begin;
  part->grid.connectivity = part->connectivity;
  part->grid.offsets = part->offsets;
  part->grid.types = frame->types + begin;
done:
  return status;
}

static int64_t tuple_of(const NoliFrameArray* array) {
  return array->n_components * noli_frame_type_size(array->type);
}

static void pick(const Part* part, const void* from, int64_t tuple, void* to) {
  for (int64_t i = 0; i < part->grid.n_vert; i++) {
    memcpy((char*)to + i * tuple, (const char*)from + part->vertex[i] * tuple, (size_t)tuple);
  }
}

static NoliStatus pvtu_take_points(NoliContext* context, const NoliFrame* frame, Part* part) {
  NoliStatus status = NOLI_OK;
  int64_t n = part->grid.n_vert, bytes = 0;
  for (int32_t i = 0; i < frame->n_point_data; i++) {
    bytes += n * tuple_of(&frame->point_data[i]);
  }
  NOLI_NEW(context, part->x, 3 * n);
  NOLI_NEW(context, part->values, bytes);
  NOLI_NEW(context, part->point_data, frame->n_point_data + 1);
  unsigned char* next = part->values;
  for (int32_t i = 0; i < frame->n_point_data; i++) {
    const NoliFrameArray* array = &frame->point_data[i];
    pick(part, array->data, tuple_of(array), next);
    part->point_data[i] = *array;
    part->point_data[i].data = next;
    next += n * tuple_of(array);
  }

  pick(part, frame->x, 3 * sizeof(double), part->x);
  part->point_data[frame->n_point_data] =
      (NoliFrameArray){VERTEX, NOLI_FRAME_INT32, 1, part->vertex, false};
  part->grid.x = part->x;
  part->grid.point_data = part->point_data;
  part->grid.n_point_data = frame->n_point_data + 1;
done:
  return status;
}

static NoliStatus take_cell_data(NoliContext* context, const NoliFrame* frame, int64_t begin,
                                 Part* part) {
  NoliStatus status = NOLI_OK;
  NOLI_NEW(context, part->cell_data, frame->n_cell_data);
  for (int32_t i = 0; i < frame->n_cell_data; i++) {
    const NoliFrameArray* array = &frame->cell_data[i];
    part->cell_data[i] = *array;
    part->cell_data[i].data = (const char*)array->data + begin * tuple_of(array);
  }
  part->grid.cell_data = part->cell_data;
  part->grid.n_cell_data = frame->n_cell_data;
done:
  return status;
}

NoliStatus noli_pvtu_write_part(NoliContext* context, const char* path, const NoliFrame* frame,
                                int32_t number, int32_t n_parts) {
  NoliStatus status = NOLI_OK;
  Part part = {.grid = {.time = frame->time}};
  char* own_path = NULL;
  int64_t begin = pvtu_share_of(frame->n_cells, number, n_parts);
  int64_t end = pvtu_share_of(frame->n_cells, number + 1, n_parts);
  NOLI_TRY(part_path(context, path, number, &own_path));
  NOLI_TRY(choose_vertices(context, frame, begin, end, number == 0, &part));
  NOLI_TRY(take_cells(context, frame, begin, end, &part));
  NOLI_TRY(pvtu_take_points(context, frame, &part));
  NOLI_TRY(take_cell_data(context, frame, begin, &part));
  NOLI_TRY(noli_vtu_write(context, own_path, &part.grid));
done:
  free_part(context, &part);
  noli_free(context, own_path);
  return status;
}

// ---- the file that lists them -------------------------------------------------------------------

typedef struct Declared {
  const char* name;
  NoliFrameType type;
  int32_t n_components;
} Declared;

// The arrays of a frame, as its list declares them, and the text of the list.
typedef struct Index {
  NoliContext* context;
  NOLI_ARRAY(Declared) point_data;
  NOLI_ARRAY(Declared) cell_data;
  NOLI_ARRAY(char) text;
} Index;

static void free_index(Index* index) {
  noli_array_free(index->context, &index->point_data);
  noli_array_free(index->context, &index->cell_data);
  noli_array_free(index->context, &index->text);
}

static NoliStatus say(Index* index, const char* format, ...) NOLI_PRINTF(2, 3);

static NoliStatus say(Index* index, const char* format, ...) {
  NoliStatus status = NOLI_OK;
  char line[256];
  va_list arguments;
  va_start(arguments, format);
  int64_t length = vsnprintf(line, sizeof line, format, arguments);
  va_end(arguments);
  length = length < (int64_t)sizeof line ? length : (int64_t)sizeof line - 1;
  NOLI_TRY(noli_array_reserve(index->context, &index->text, index->text.count + length));
  memcpy(index->text.data + index->text.count, line, (size_t)length);
  index->text.count += length;
done:
  return status;
}

static NoliStatus say_arrays(Index* index, const char* section, const Declared* array, int64_t n) {
  NoliStatus status = NOLI_OK;
  NOLI_TRY(say(index, "<%s>\n", section));
  for (int64_t i = 0; i < n; i++) {
    NOLI_TRY(say(index, "<PDataArray type=\"%s\" Name=\"%s\" NumberOfComponents=\"%d\"/>\n",
                 noli_vtu_type_name(array[i].type), array[i].name, (int)array[i].n_components));
  }
  NOLI_TRY(say(index, "</%s>\n", section));
done:
  return status;
}

static NoliStatus make_text(Index* index, const char* path, int32_t n_parts) {
  static const Declared points = {"Points", NOLI_FRAME_FLOAT64, 3};
  NoliStatus status = NOLI_OK;
  char name[NOLI_FRAME_NAME_SIZE];
  NOLI_TRY(
      say(index, "<?xml version=\"1.0\"?>\n<VTKFile type=\"PUnstructuredGrid\" version=\"1.0\" "));
  NOLI_TRY(say(index,
               "byte_order=\"%s\" header_type=\"UInt64\" compressor=\"vtkZLibDataCompressor\">\n"
               "<PUnstructuredGrid GhostLevel=\"0\">\n",
               noli_is_little_endian() ? "LittleEndian" : "BigEndian"));
  NOLI_TRY(say_arrays(index, "PPointData", index->point_data.data, index->point_data.count));
  NOLI_TRY(say_arrays(index, "PCellData", index->cell_data.data, index->cell_data.count));
  NOLI_TRY(say_arrays(index, "PPoints", &points, 1));
  for (int32_t k = 0; k < n_parts; k++) {
    part_name(noli_file_name(path), k, name);
    NOLI_TRY(say(index, "<Piece Source=\"%s\"/>\n", name));
  }
  NOLI_TRY(say(index, "</PUnstructuredGrid>\n</VTKFile>\n"));
done:
  return status;
}

// Parts of a frame of the same name that more ranks have written.
static NoliStatus remove_more_parts(NoliContext* context, const char* path, int32_t n_parts) {
  NoliStatus status = NOLI_OK;
  char* old = NULL;
  bool any = true;
  for (int32_t k = n_parts; any; k++) {
    NOLI_TRY(part_path(context, path, k, &old));
    any = noli_file_exists(old);
    if (any) {
      NOLI_TRY(noli_file_remove(context, old));
    }
    noli_free(context, old);
    old = NULL;
  }
done:
  noli_free(context, old);
  return status;
}

NoliStatus noli_pvtu_write_index(NoliContext* context, const char* path, const NoliFrame* frame,
                                 int32_t n_parts) {
  NoliStatus status = NOLI_OK;
  Index index = {.context = context};
  for (int32_t i = 0; i < frame->n_point_data; i++) {
    const NoliFrameArray* array = &frame->point_data[i];
    const Declared declared = {array->name, array->type, array->n_components};
    NOLI_PUSH(context, &index.point_data, declared);
  }
  const Declared vertex = {VERTEX, NOLI_FRAME_INT32, 1};
  NOLI_PUSH(context, &index.point_data, vertex);
  for (int32_t i = 0; i < frame->n_cell_data; i++) {
    const NoliFrameArray* array = &frame->cell_data[i];
    const Declared declared = {array->name, array->type, array->n_components};
    NOLI_PUSH(context, &index.cell_data, declared);
  }
  if (noli_rank_writes(context)) {
    NOLI_TRY(remove_more_parts(context, path, n_parts));
  }
  NOLI_TRY(make_text(&index, path, n_parts));
  NOLI_TRY(noli_file_replace(context, path, index.text.data, (size_t)index.text.count, false));
done:
  free_index(&index);
  return status;
}

// The part of this rank. Files are those of the first rank except where a context works alone.
static NoliStatus write_own_part(NoliContext* context, const char* path, const NoliFrame* frame) {
  NoliStatus status = NOLI_OK;
  NoliContext* alone = NULL;
  NoliContextDef def = context->def;
  if (noli_rank_count(context) == 1) {
    return noli_pvtu_write_part(context, path, frame, 0, 1);
  }
  def.ranks = NULL;
  NOLI_TRY(noli_context_create(&def, &alone));
  status = noli_pvtu_write_part(alone, path, frame, noli_rank(context), noli_rank_count(context));
  if (status != NOLI_OK) {
    noli_fail(context, status, "%s", noli_context_message(alone));
  }
done:
  noli_context_destroy(&alone);
  return status;
}

// The list is written when all parts are there.
static NoliStatus write_pvtu(NoliContext* context, const char* path, const NoliFrame* frame) {
  NoliStatus status = NOLI_OK;
  NOLI_TRY(noli_ranks_join(context, write_own_part(context, path, frame)));
  NOLI_TRY(noli_pvtu_write_index(context, path, frame, noli_rank_count(context)));
done:
  return status;
}

// ---- reading ------------------------------------------------------------------------------------

typedef struct Reader {
  NoliContext* context;
  const char* path;
  int32_t n_parts;
  NoliReadFrame* part;    // (n_parts)
  const int32_t** vertex; // of each
  NoliReadFrame* frame;
} Reader;

static NoliStatus damaged(const Reader* reader, const char* what) {
  return noli_fail(reader->context, NOLI_ERROR_FORMAT, "%s: %s", reader->path, what);
}

static NoliStatus read_parts(Reader* reader, const char* text) {
  NoliStatus status = NOLI_OK;
  NoliContext* context = reader->context;
  char* path = NULL;
  for (const char* c = strstr(text, "<Piece "); c != NULL; c = strstr(c + 1, "<Piece ")) {
    reader->n_parts++;
  }
  if (reader->n_parts == 0) {
    return damaged(reader, "not a frame of Noli in parts, or damaged");
  }
  NOLI_NEW_ZERO(context, reader->part, reader->n_parts);
  NOLI_NEW_ZERO(context, reader->vertex, reader->n_parts);

  for (int32_t k = 0; k < reader->n_parts; k++) {
    NoliReadFrame* part = &reader->part[k];
    NOLI_TRY(part_path(context, reader->path, k, &path));
    NOLI_TRY(noli_vtu_read(context, path, NULL, part));
    const NoliReadArray* vertex =
        noli_read_frame_find(part, "PointData", VERTEX, NOLI_FRAME_INT32, 1, part->n_vert);
    bool fits = vertex != NULL && part->time == reader->part[0].time &&
                part->arrays.count == reader->part[0].arrays.count;
    NOLI_CHECK(context, fits, NOLI_ERROR_FORMAT, "%s: not a part of the frame %s", path,
               reader->path);
    reader->vertex[k] = vertex->data;
    noli_free(context, path);
    path = NULL;
  }
done:
  noli_free(context, path);
  return status;
}

// The arrays of parts must be those that the list declares, which has been written from the same
// arrays.
static NoliStatus check_index(const Reader* reader, const char* text) {
  NoliStatus status = NOLI_OK;
  NoliContext* context = reader->context;
  Index index = {.context = context};
  const NoliReadFrame* part = &reader->part[0];
  for (int64_t i = 0; i < part->arrays.count; i++) {
    const NoliReadArray* array = &part->arrays.data[i];
    const Declared declared = {array->name, array->type, array->n_components};
    if (strcmp(array->section, "PointData") == 0) {
      NOLI_PUSH(context, &index.point_data, declared);
    } else if (strcmp(array->section, "CellData") == 0) {
      NOLI_PUSH(context, &index.cell_data, declared);
    }
  }
  NOLI_TRY(make_text(&index, reader->path, reader->n_parts));
  if ((int64_t)strlen(text) != index.text.count ||
      memcmp(text, index.text.data, strlen(text)) != 0) {
    status = damaged(reader, "damaged, or not the list of its parts");
  }
done:
  free_index(&index);
  return status;
}

// How many cells and vertices the frame has: parts have equal shares of the cells, and all numbers
// of vertices, some of them more than once.
static NoliStatus pvtu_count(Reader* reader) {
  NoliStatus status = NOLI_OK;
  NoliContext* context = reader->context;
  unsigned char* seen = NULL;
  int64_t n = 0, most = 0;
  for (int32_t k = 0; k < reader->n_parts; k++) {
    for (int64_t i = 0; i < reader->part[k].n_vert; i++) {
      int64_t vertex = reader->vertex[k][i];
      if (vertex < 0) {
        return damaged(reader, "a part has a vertex below 0");
      }
      n = vertex + 1 > n ? vertex + 1 : n;
    }
    most += reader->part[k].n_vert;
    reader->frame->n_cells += reader->part[k].n_cells;
  }

  NOLI_CHECK(context, n <= most, NOLI_ERROR_FORMAT, "%s: its parts lack vertices", reader->path);
  NOLI_NEW_ZERO(context, seen, n);
  int64_t n_seen = 0;
  for (int32_t k = 0; k < reader->n_parts; k++) {
    for (int64_t i = 0; i < reader->part[k].n_vert; i++) {
      n_seen += seen[reader->vertex[k][i]] == 0;
      seen[reader->vertex[k][i]] = 1;
    }
  }

  NOLI_CHECK(context, n_seen == n, NOLI_ERROR_FORMAT, "%s: its parts lack vertices", reader->path);
  int64_t n_cells = reader->frame->n_cells;
  for (int32_t k = 0; k < reader->n_parts; k++) {
    int64_t share =
        pvtu_share_of(n_cells, k + 1, reader->n_parts) - pvtu_share_of(n_cells, k, reader->n_parts);
    NOLI_CHECK(context, reader->part[k].n_cells == share, NOLI_ERROR_FORMAT,
               "%s: its parts lack cells", reader->path);
  }

  reader->frame->n_vert = n;
  reader->frame->time = reader->part[0].time;
done:
  noli_free(context, seen);
  return status;
}

// Where the part of an array goes, and what of the parts before it counts.
typedef struct Merge {
  const NoliReadArray* from;
  void* to;              // of the whole array
  const int32_t* vertex; // of the part
  int64_t n_vert;
  int64_t first; // entries of parts before
  int64_t end;   // of the last cell before, in the connectivity
} Merge;

static bool merge_points(Merge* merge) {
  int64_t tuple = merge->from->n_components * noli_frame_type_size(merge->from->type);
  for (int64_t i = 0; i < merge->from->n_tuples; i++) {
    memcpy((char*)merge->to + merge->vertex[i] * tuple, (const char*)merge->from->data + i * tuple,
           (size_t)tuple);
  }
  return true;
}

static bool merge_cells(Merge* merge) {
  int64_t tuple = merge->from->n_components * noli_frame_type_size(merge->from->type);
  if (merge->from->n_tuples > 0) {
    memcpy((char*)merge->to + merge->first * tuple, merge->from->data,
           (size_t)(merge->from->n_tuples * tuple));
  }
  return true;
}

static bool merge_connectivity(Merge* merge) {
  const int32_t* local = merge->from->data;
  bool good = true;
  for (int64_t i = 0; good && i < merge->from->n_tuples; i++) {
    good = local[i] >= 0 && local[i] < merge->n_vert;
    ((int32_t*)merge->to)[merge->first + i] = good ? merge->vertex[local[i]] : 0;
  }
  return good;
}

static bool merge_offsets(Merge* merge) {
  const int64_t* end = merge->from->data;
  int64_t n = merge->from->n_tuples;
  for (int64_t i = 0; i < n; i++) {
    ((int64_t*)merge->to)[merge->first + i] = merge->end + end[i];
  }
  merge->end += n > 0 ? end[n - 1] : 0;
  return true;
}

// How the array goes together; NULL: it is not one that the format has.
static bool (*way_of(const NoliReadArray* array))(Merge* merge) {
  bool cells = strcmp(array->section, "Cells") == 0;
  if (cells && strcmp(array->name, "connectivity") == 0) {
    return array->type == NOLI_FRAME_INT32 && array->n_components == 1 ? merge_connectivity : NULL;
  }
  if (cells && strcmp(array->name, "offsets") == 0) {
    return array->type == NOLI_FRAME_INT64 && array->n_components == 1 ? merge_offsets : NULL;
  }
  return cells || strcmp(array->section, "CellData") == 0 ? merge_cells : merge_points;
}

// Puts array `i` of all parts together.
static NoliStatus merge_array(Reader* reader, int64_t i) {
  NoliStatus status = NOLI_OK;
  const NoliReadArray* model = &reader->part[0].arrays.data[i];
  NoliReadArray* all = NULL;
  bool (*way)(Merge * merge) = way_of(model);
  int64_t n = 0;
  bool same = way != NULL;
  for (int32_t k = 0; same && k < reader->n_parts; k++) {
    const NoliReadArray* array = &reader->part[k].arrays.data[i];
    same = strcmp(array->section, model->section) == 0 && strcmp(array->name, model->name) == 0 &&
           array->type == model->type && array->n_components == model->n_components;
    n += array->n_tuples;
  }

  NOLI_CHECK(reader->context, same, NOLI_ERROR_FORMAT, "%s: %s \"%s\" is not the same in all parts",
             reader->path, model->section, model->name);
  NOLI_TRY(noli_read_frame_add(reader->context, reader->frame, model->section, model->name,
                               model->type, model->n_components,
                               way == merge_points ? reader->frame->n_vert : n, &all));
  Merge merge = {.to = all->data};
  for (int32_t k = 0; k < reader->n_parts; k++) {
    merge.from = &reader->part[k].arrays.data[i];
    merge.vertex = reader->vertex[k];
    merge.n_vert = reader->part[k].n_vert;
    NOLI_TRY(way(&merge) ? NOLI_OK
                         : damaged(reader, "a cell of a part has a vertex that it lacks"));
    merge.first += merge.from->n_tuples;
  }
done:
  return status;
}

// All arrays: the parts of each must fit together.
static NoliStatus read_pvtu(NoliContext* context, const char* path, const char* const* wanted,
                            NoliReadFrame* frame) {
  (void)wanted;
  NoliStatus status = NOLI_OK;
  char* text = NULL;
  size_t size;
  Reader reader = {.context = context, .path = path, .frame = frame};

  *frame = (NoliReadFrame){0};
  NOLI_TRY(noli_file_read(context, path, &text, &size));
  NOLI_TRY(strlen(text) == size ? NOLI_OK : damaged(&reader, "a zero byte within the text"));
  NOLI_TRY(read_parts(&reader, text));
  NOLI_TRY(check_index(&reader, text));
  NOLI_TRY(pvtu_count(&reader));

  for (int64_t i = 0; i < reader.part[0].arrays.count; i++) {
    if (reader.part[0].arrays.data[i].data != reader.vertex[0]) {
      NOLI_TRY(merge_array(&reader, i));
    }
  }
done:
  noli_free(context, text);
  for (int32_t k = 0; reader.part != NULL && k < reader.n_parts; k++) {
    noli_read_frame_free(context, &reader.part[k]);
  }
  noli_free(context, reader.part);
  noli_free(context, (void*)reader.vertex);
  if (status != NOLI_OK) {
    noli_read_frame_free(context, frame);
  }
  return status;
}

const NoliFrameFormat noli_frame_format_pvtu = {
    .name = "pvtu",
    .suffix = SUFFIX,
    .has_cells = true,
    .list = NOLI_VTK_COLLECTION("frames_pvtu.pvd"),
    .part_name = part_name,
    .write = write_pvtu,
    .read = read_pvtu,
};
