// Frames as binary PLY surfaces, for Blender and other programs that import sequences of meshes;
// the list is a file series of ParaView. The elements of a file:
//
//   vertex   vertices of the surface with which bodies collide: position, point data, `index`, the
//            number of the vertex in the simulation
//   face     its triangles
//   edge     segments that bound no triangle
//   inner    the other vertices, with the properties of `vertex`: nodes within bodies
//   rod      where rods have twist: the angle of each cell of the scene and its rate, and the first
//            axis of elliptic sections if there are any; 0 of others
//
// Importers ignore elements that they do not know, and so show the surface alone. The third line
// holds the time and a checksum of everything behind it.
#include "base/byte_order.h"
#include "output/file.h"
#include "output/frames/frame_format.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum { HEADER_SIZE = 4096, FACE_SIZE = 1 + 3 * 4, EDGE_SIZE = 2 * 4, MOST_PROPERTIES = 64 };

// The data of cells that are written, of those that a frame has.
typedef struct RodData {
  const char* name;
  int32_t n_components;
  const char* properties;
} RodData;
static const RodData rod_data[] = {
    {"rod_angle", 1, "property float rod_angle\n"},
    {"rod_angle_rate", 1, "property float rod_angle_rate\n"},
    {"rod_normal", 3,
     "property float rod_normal_x\nproperty float rod_normal_y\nproperty float rod_normal_z\n"},
};
enum { N_ROD_DATA = sizeof rod_data / sizeof *rod_data };

// One number of a vertex.
typedef struct Property {
  char name[56];
  NoliFrameType type;
  int64_t offset; // within the record of a vertex, bytes
} Property;

enum { N_TYPES = NOLI_FRAME_UINT8 + 1 };

static const char* type_name(NoliFrameType type) {
  static const char* const names[N_TYPES] = {
      [NOLI_FRAME_FLOAT64] = "double", [NOLI_FRAME_FLOAT32] = "float", [NOLI_FRAME_INT64] = "int64",
      [NOLI_FRAME_INT32] = "int",      [NOLI_FRAME_UINT8] = "uchar",
  };
  return names[type];
}

// The first two lines.
static const char* first_lines(void) {
  return noli_is_little_endian() ? "ply\nformat binary_little_endian 1.0\n"
                                 : "ply\nformat binary_big_endian 1.0\n";
}

static const char end_header[] = "end_header\n";

static const char third_line[] = "comment noli frame, time %.17g s, crc32 %08x\n";

// ---- writing ----

// The content of a file while it is made.
typedef struct Writer {
  NoliContext* context;
  const NoliFrame* frame;
  int32_t* place; // (n_vert) of each vertex in the file
  int32_t* order; // (n_vert) vertices as they come in the file
  int64_t n_surface;
  bool has_rods;                // with twist
  const float* rod[N_ROD_DATA]; // (n_cells x n_components); NULL: the frame has none
  NOLI_ARRAY(char) text;
} Writer;

static NoliStatus ply_put(Writer* writer, const void* data, int64_t size) {
  NoliStatus status = NOLI_OK;
  NOLI_TRY(noli_array_reserve(writer->context, &writer->text, writer->text.count + size));
  memcpy(writer->text.data + writer->text.count, data, (size_t)size);
  writer->text.count += size;
done:
  return status;
}

// Vertices of the surface first, both parts in the order of the simulation.
static NoliStatus order_vertices(Writer* writer) {
  enum { INNER, SURFACE };
  NoliStatus status = NOLI_OK;
  const NoliFrame* frame = writer->frame;
  NOLI_NEW_ZERO(writer->context, writer->place, frame->n_vert);
  NOLI_NEW(writer->context, writer->order, frame->n_vert);

  // mark what is on the surface
  for (int64_t i = 0; i < 3 * (int64_t)frame->n_triangles; i++) {
    writer->place[frame->triangles[i]] = SURFACE;
  }
  for (int64_t i = 0; i < 2 * (int64_t)frame->n_segments; i++) {
    writer->place[frame->segments[i]] = SURFACE;
  }
  for (int64_t i = 0; i < frame->n_points; i++) {
    writer->place[frame->points[i]] = SURFACE;
  }

  // list both parts, then turn marks into places
  int32_t n = 0;
  for (int part = SURFACE; part >= INNER; part--) {
    for (int32_t v = 0; v < frame->n_vert; v++) {
      if (writer->place[v] == part) {
        writer->order[n++] = v;
      }
    }
    writer->n_surface = part == SURFACE ? n : writer->n_surface;
  }
  for (int32_t i = 0; i < n; i++) {
    writer->place[writer->order[i]] = i;
  }
done:
  return status;
}

static int print_properties(const NoliFrame* frame, char* text, size_t size) {
  int n = snprintf(text, size, "property double x\nproperty double y\nproperty double z\n");
  for (int32_t i = 0; i < frame->n_point_data; i++) {
    const NoliFrameArray* array = &frame->point_data[i];
    for (int32_t k = 0; k < array->n_components && n < (int)size; k++) {
      const char axis[] = {'_', (char)('x' + k), '\0'};
      n += snprintf(text + n, size - (size_t)n, "property %s %s%s\n", type_name(array->type),
                    array->name, array->n_components > 1 ? axis : "");
    }
  }
  return n + snprintf(text + n, n < (int)size ? size - (size_t)n : 0, "property int index\n");
}

static void find_rod_data(Writer* writer) {
  const NoliFrame* frame = writer->frame;
  for (int32_t i = 0; i < frame->n_cell_data; i++) {
    for (int32_t k = 0; k < N_ROD_DATA; k++) {
      if (strcmp(frame->cell_data[i].name, rod_data[k].name) == 0) {
        writer->rod[k] = frame->cell_data[i].data;
        writer->has_rods = true;
      }
    }
  }
}

static NoliStatus put_header(Writer* writer) {
  NoliStatus status = NOLI_OK;
  const NoliFrame* frame = writer->frame;
  char properties[HEADER_SIZE], header[3 * HEADER_SIZE];

  NOLI_CHECK(writer->context, print_properties(frame, properties, HEADER_SIZE) < HEADER_SIZE,
             NOLI_ERROR_INTERNAL, "the header of a PLY file is too long");
  int n =
      snprintf(header, sizeof header,
               "element vertex %lld\n%selement face %d\n"
               "property list uchar int vertex_indices\nelement edge %d\n"
               "property int vertex1\nproperty int vertex2\nelement inner %lld\n%s",
               (long long)writer->n_surface, properties, (int)frame->n_triangles,
               (int)frame->n_segments, (long long)(frame->n_vert - writer->n_surface), properties);
  NOLI_TRY(ply_put(writer, header, n));

  if (writer->has_rods) {
    n = snprintf(header, sizeof header, "element rod %lld\n", (long long)frame->n_cells);
    NOLI_TRY(ply_put(writer, header, n));
  }
  for (int32_t k = 0; k < N_ROD_DATA; k++) {
    const char* lines = writer->rod[k] != NULL ? rod_data[k].properties : "";
    NOLI_TRY(ply_put(writer, lines, (int64_t)strlen(lines)));
  }
  NOLI_TRY(ply_put(writer, end_header, (int64_t)strlen(end_header)));
done:
  return status;
}

static NoliStatus ply_put_vertices(Writer* writer, int64_t begin, int64_t end) {
  NoliStatus status = NOLI_OK;
  const NoliFrame* frame = writer->frame;
  for (int64_t i = begin; i < end; i++) {
    int64_t vertex = writer->order[i];
    NOLI_TRY(ply_put(writer, frame->x + 3 * vertex, 3 * (int64_t)sizeof *frame->x));
    for (int32_t k = 0; k < frame->n_point_data; k++) {
      const NoliFrameArray* array = &frame->point_data[k];
      int64_t size = array->n_components * noli_frame_type_size(array->type);
      NOLI_TRY(ply_put(writer, (const char*)array->data + vertex * size, size));
    }
    NOLI_TRY(ply_put(writer, &writer->order[i], sizeof *writer->order));
  }
done:
  return status;
}

static NoliStatus put_surface(Writer* writer) {
  NoliStatus status = NOLI_OK;
  const NoliFrame* frame = writer->frame;
  const uint8_t three = 3;
  for (int64_t t = 0; t < frame->n_triangles; t++) {
    NOLI_TRY(ply_put(writer, &three, 1));
    for (int k = 0; k < 3; k++) {
      NOLI_TRY(ply_put(writer, &writer->place[frame->triangles[3 * t + k]], sizeof *writer->place));
    }
  }
  for (int64_t i = 0; i < 2 * (int64_t)frame->n_segments; i++) {
    NOLI_TRY(ply_put(writer, &writer->place[frame->segments[i]], sizeof *writer->place));
  }
done:
  return status;
}

static NoliStatus put_rods(Writer* writer) {
  NoliStatus status = NOLI_OK;
  for (int64_t cell = 0; writer->has_rods && cell < writer->frame->n_cells; cell++) {
    for (int32_t k = 0; k < N_ROD_DATA; k++) {
      const float* data = writer->rod[k];
      int64_t n = rod_data[k].n_components;
      NOLI_TRY(data != NULL ? ply_put(writer, data + n * cell, n * (int64_t)sizeof *data)
                            : NOLI_OK);
    }
  }
done:
  return status;
}

static NoliStatus write_ply(NoliContext* context, const char* path, const NoliFrame* frame) {
  NoliStatus status = NOLI_OK;
  Writer writer = {.context = context, .frame = frame};
  NoliFile file = {.descriptor = -1};
  char comment[128];
  find_rod_data(&writer);
  NOLI_TRY(order_vertices(&writer));
  NOLI_TRY(put_header(&writer));
  NOLI_TRY(ply_put_vertices(&writer, 0, writer.n_surface));
  NOLI_TRY(put_surface(&writer));
  NOLI_TRY(ply_put_vertices(&writer, writer.n_surface, frame->n_vert));
  NOLI_TRY(put_rods(&writer));

  // the checksum stands before what it is of
  size_t size = (size_t)writer.text.count;
  snprintf(comment, sizeof comment, third_line, frame->time,
           (uint32_t)crc32_z(0, (const Bytef*)writer.text.data, size));
  NOLI_TRY(noli_file_create(context, path, &file));
  NOLI_TRY(noli_file_write(&file, first_lines(), strlen(first_lines())));
  NOLI_TRY(noli_file_write(&file, comment, strlen(comment)));
  NOLI_TRY(noli_file_write(&file, writer.text.data, size));
  NOLI_TRY(noli_file_commit(&file, false));
done:
  noli_file_abandon(&file);
  noli_array_free(context, &writer.text);
  noli_free(context, writer.place);
  noli_free(context, writer.order);
  return status;
}

// ---- reading ----

typedef struct Reader {
  NoliContext* context;
  const char* path;
  NoliReadFrame* frame;
  const char* next; // of the header, then of the data
  const char* end;
  Property property[MOST_PROPERTIES]; // of vertices
  int32_t n_properties;
  int64_t record; // bytes of a vertex
  int64_t n_surface, n_faces, n_edges, n_inner, n_rods;
  bool has_rod[N_ROD_DATA];
  int64_t rod_record; // bytes of a rod
  int32_t* index;     // (n_vert) number in the simulation of each vertex of the file
} Reader;

static NoliStatus damaged(const Reader* reader, const char* what) {
  return noli_fail(reader->context, NOLI_ERROR_FORMAT, "%s: damaged: %s", reader->path, what);
}

// Moves behind `text` if it comes next.
static bool ply_take(Reader* reader, const char* text) {
  size_t n = strlen(text);
  bool there = (size_t)(reader->end - reader->next) >= n && memcmp(reader->next, text, n) == 0;
  reader->next += there ? n : 0;
  return there;
}

// "element NAME COUNT"
static bool take_element(Reader* reader, const char* name, int64_t* count) {
  char* behind = NULL;
  if (!ply_take(reader, "element ") || !ply_take(reader, name) || !ply_take(reader, " ")) {
    return false;
  }
  *count = strtoll(reader->next, &behind, 10);
  bool good = behind != reader->next && *count >= 0 && *count <= INT32_MAX;
  reader->next = behind;
  return good && ply_take(reader, "\n");
}

// "property TYPE NAME"
static bool take_property(Reader* reader, Property* property) {
  char type[16];
  int n = 0;
  if (sscanf(reader->next, "property %15s %55s%n", type, property->name, &n) != 2) {
    return false;
  }
  reader->next += n;
  for (int32_t i = 0; i < N_TYPES; i++) {
    if (strcmp(type, type_name((NoliFrameType)i)) == 0) {
      property->type = (NoliFrameType)i;
      return ply_take(reader, "\n");
    }
  }
  return false;
}

static bool take_properties(Reader* reader) {
  static const char* const first[] = {"x", "y", "z"};
  reader->record = 0;
  reader->n_properties = 0;
  while (reader->n_properties < MOST_PROPERTIES && strncmp(reader->next, "property ", 9) == 0) {
    Property* property = &reader->property[reader->n_properties];
    if (!take_property(reader, property)) {
      return false;
    }
    property->offset = reader->record;
    reader->record += noli_frame_type_size(property->type);
    reader->n_properties++;
  }
  bool good = reader->n_properties >= 4;
  for (int32_t k = 0; good && k < 3; k++) {
    const Property* property = &reader->property[k];
    good = property->type == NOLI_FRAME_FLOAT64 && strcmp(property->name, first[k]) == 0;
  }
  const Property* last = &reader->property[good ? reader->n_properties - 1 : 0];
  return good && last->type == NOLI_FRAME_INT32 && strcmp(last->name, "index") == 0;
}

// The element that only frames with rods have.
static bool take_rods(Reader* reader) {
  static const char begin[] = "element rod ";
  reader->n_rods = 0;
  if (strncmp(reader->next, begin, sizeof begin - 1) != 0) {
    return true;
  }
  bool good = take_element(reader, "rod", &reader->n_rods);
  for (int32_t k = 0; good && k < N_ROD_DATA; k++) {
    reader->has_rod[k] = ply_take(reader, rod_data[k].properties);
    reader->rod_record +=
        reader->has_rod[k] ? rod_data[k].n_components * (int64_t)sizeof(float) : 0;
  }
  return good && reader->rod_record > 0;
}

// Everything up to the data, whose size must be what the header announces.
static NoliStatus ply_read_header(Reader* reader) {
  NoliStatus status = NOLI_OK;
  unsigned crc = 0;
  bool ours = ply_take(reader, first_lines()) &&
              sscanf(reader->next, "comment noli frame, time %lf s, crc32 %8x",
                     &reader->frame->time, &crc) == 2;
  const char* line_end = ours ? strchr(reader->next, '\n') : NULL;
  NOLI_CHECK(reader->context, line_end != NULL, NOLI_ERROR_FORMAT,
             "%s: not a frame of Noli, or its first lines are damaged", reader->path);
  reader->next = line_end + 1;
  NOLI_CHECK(reader->context,
             crc32_z(0, (const Bytef*)reader->next, (size_t)(reader->end - reader->next)) == crc,
             NOLI_ERROR_FORMAT, "%s: damaged: the checksum is wrong", reader->path);

  bool good = take_element(reader, "vertex", &reader->n_surface) && take_properties(reader) &&
              take_element(reader, "face", &reader->n_faces) &&
              ply_take(reader, "property list uchar int vertex_indices\n") &&
              take_element(reader, "edge", &reader->n_edges) &&
              ply_take(reader, "property int vertex1\nproperty int vertex2\n") &&
              take_element(reader, "inner", &reader->n_inner) && take_properties(reader) &&
              take_rods(reader) && ply_take(reader, end_header);
  int64_t n_vert = reader->n_surface + reader->n_inner;
  int64_t size = n_vert * reader->record + reader->n_faces * FACE_SIZE +
                 reader->n_edges * EDGE_SIZE + reader->n_rods * reader->rod_record;
  if (!good || reader->end - reader->next != size) {
    return damaged(reader, "the header does not announce what follows");
  }
  reader->frame->n_vert = n_vert;
done:
  return status;
}

// Record `i` of all vertices of the file: those of the surface, then the others.
static const char* record_of(const Reader* reader, int64_t i) {
  int64_t between =
      i < reader->n_surface ? 0 : reader->n_faces * FACE_SIZE + reader->n_edges * EDGE_SIZE;
  return reader->next + i * reader->record + between;
}

// Numbers of vertices must be a permutation.
static NoliStatus ply_read_index(Reader* reader) {
  NoliStatus status = NOLI_OK;
  int64_t n_vert = reader->frame->n_vert, offset = reader->record - (int64_t)sizeof(int32_t);
  bool* seen = NULL;
  NOLI_NEW(reader->context, reader->index, n_vert);
  NOLI_NEW_ZERO(reader->context, seen, n_vert);
  for (int64_t i = 0; i < n_vert; i++) {
    int32_t index;
    memcpy(&index, record_of(reader, i) + offset, sizeof index);
    if (index < 0 || index >= n_vert || seen[index]) {
      status = damaged(reader, "a vertex has an index that is out of range or not the only one");
      goto done;
    }
    seen[index] = true;
    reader->index[i] = index;
  }
done:
  noli_free(reader->context, seen);
  return status;
}

// Number of properties from `first` on that are the components of one array; `name` is its name.
static int32_t group_properties(const Reader* reader, int32_t first, char name[48]) {
  const Property* property = &reader->property[first];
  size_t n = strlen(property->name);
  bool vector = n > 2 && strcmp(property->name + n - 2, "_x") == 0 &&
                first + 2 < reader->n_properties && property[1].type == property->type &&
                property[2].type == property->type;
  snprintf(name, 48, "%.*s", (int)(vector ? n - 2 : n), property->name);
  return vector ? 3 : 1;
}

// Copies the properties from `first` on to an array.
static NoliStatus ply_read_array(Reader* reader, const char* section, const char* name,
                                 int32_t first, int32_t n_components) {
  NoliStatus status = NOLI_OK;
  const Property* property = &reader->property[first];
  NoliReadArray* array = NULL;
  int64_t n_vert = reader->frame->n_vert;
  size_t size = (size_t)(n_components * noli_frame_type_size(property->type));
  NOLI_TRY(noli_read_frame_add(reader->context, reader->frame, section, name, property->type,
                               n_components, n_vert, &array));
  for (int64_t i = 0; i < n_vert; i++) {
    memcpy((char*)array->data + (size_t)reader->index[i] * size,
           record_of(reader, i) + property->offset, size);
  }
done:
  return status;
}

static NoliStatus read_arrays(Reader* reader) {
  NoliStatus status = NOLI_OK;
  NOLI_TRY(ply_read_array(reader, "Points", "Points", 0, 3));
  for (int32_t i = 3; i < reader->n_properties - 1;) {
    char name[48];
    int32_t n_components = group_properties(reader, i, name);
    NOLI_TRY(ply_read_array(reader, "PointData", name, i, n_components));
    i += n_components;
  }
done:
  return status;
}

// Copies `n` places of vertices as numbers of vertices; false where one is out of range.
static bool copy_vertices(const Reader* reader, const char* from, int32_t n, int32_t* vertex) {
  for (int32_t k = 0; k < n; k++) {
    int32_t place;
    memcpy(&place, from + (size_t)k * sizeof place, sizeof place);
    if (place < 0 || place >= reader->n_surface) {
      return false;
    }
    vertex[k] = reader->index[place];
  }
  return true;
}

static NoliStatus read_surface(Reader* reader) {
  NoliStatus status = NOLI_OK;
  NoliReadArray* array = NULL;
  const char* next = reader->next + reader->n_surface * reader->record;
  bool good = true;
  NOLI_TRY(noli_read_frame_add(reader->context, reader->frame, "Surface", "triangles",
                               NOLI_FRAME_INT32, 3, reader->n_faces, &array));
  for (int64_t t = 0; good && t < reader->n_faces; t++, next += FACE_SIZE) {
    good = *next == 3 && copy_vertices(reader, next + 1, 3, (int32_t*)array->data + 3 * t);
  }
  NOLI_TRY(noli_read_frame_add(reader->context, reader->frame, "Surface", "segments",
                               NOLI_FRAME_INT32, 2, reader->n_edges, &array));
  for (int64_t s = 0; good && s < reader->n_edges; s++, next += EDGE_SIZE) {
    good = copy_vertices(reader, next, 2, (int32_t*)array->data + 2 * s);
  }
  if (!good) {
    status = damaged(reader, "a face or an edge has a vertex that is out of range");
  }
done:
  return status;
}

static NoliStatus read_rods(Reader* reader) {
  NoliStatus status = NOLI_OK;
  const char* data = record_of(reader, reader->frame->n_vert);
  for (int32_t k = 0; k < N_ROD_DATA; k++) {
    NoliReadArray* array = NULL;
    size_t size = (size_t)rod_data[k].n_components * sizeof(float);
    if (!reader->has_rod[k]) {
      continue;
    }
    NOLI_TRY(noli_read_frame_add(reader->context, reader->frame, "CellData", rod_data[k].name,
                                 NOLI_FRAME_FLOAT32, rod_data[k].n_components, reader->n_rods,
                                 &array));
    for (int64_t i = 0; i < reader->n_rods; i++) {
      memcpy((char*)array->data + (size_t)i * size, data + i * reader->rod_record, size);
    }
    data += size;
  }
done:
  return status;
}

// All arrays: they take no more time than the file itself.
static NoliStatus read_ply(NoliContext* context, const char* path, const char* const* wanted,
                           NoliReadFrame* frame) {
  (void)wanted;
  NoliStatus status = NOLI_OK;
  char* data = NULL;
  size_t size;
  Reader reader = {.context = context, .path = path, .frame = frame};
  *frame = (NoliReadFrame){0};
  NOLI_TRY(noli_file_read(context, path, &data, &size));
  reader.next = data;
  reader.end = data + size;
  NOLI_TRY(ply_read_header(&reader));
  NOLI_TRY(ply_read_index(&reader));
  NOLI_TRY(read_arrays(&reader));
  NOLI_TRY(read_surface(&reader));
  NOLI_TRY(read_rods(&reader));
done:
  noli_free(context, data);
  noli_free(context, reader.index);
  if (status != NOLI_OK) {
    noli_read_frame_free(context, frame);
  }
  return status;
}

// ---- the list ----

static int print_entry(NoliRunFrame frame, const char* file, char entry[NOLI_FRAME_ENTRY_SIZE]) {
  return snprintf(entry, NOLI_FRAME_ENTRY_SIZE, "{\"name\": \"%s\", \"time\": %.17g}", file,
                  frame.time);
}

static bool scan_entry(const char* line, NoliRunFrame* frame) {
  long long step;
  bool good =
      sscanf(line, "{\"name\": \"frame_%lld.ply\", \"time\": %lf}", &step, &frame->time) == 2;
  frame->step = good ? step : -1;
  return good;
}

const NoliFrameFormat noli_frame_format_ply = {
    .name = "ply",
    .suffix = ".ply",
    .has_cells = false,
    .list = {.name = "frames.ply.series",
             .begin = "{\"file-series-version\": \"1.0\", \"files\": [\n",
             .separator = ",\n",
             .end = "\n]}\n",
             .print = print_entry,
             .scan = scan_entry},
    .write = write_ply,
    .read = read_ply,
};
