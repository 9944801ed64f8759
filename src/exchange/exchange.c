#include "exchange/exchange.h"

#include "output/body_colours.h"

#include "base/byte_order.h"
#include "math/vec3.h"
#include "noli/run.h"
#include "scene/origins.h"
#include "step/simulation.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const NoliExchangeFormat* const formats[] = {
    &noli_exchange_pc2,    //
    &noli_exchange_glb,    //
    &noli_exchange_usda,   //
    &noli_exchange_obj,    //
    &noli_exchange_ply,    //
    &noli_exchange_vtkhdf, //
};
enum { N_FORMATS = sizeof formats / sizeof *formats };

const char* noli_run_export_suffix(int32_t index) {
  return index >= 0 && index < N_FORMATS ? formats[index]->suffix : NULL;
}

const char* noli_run_export_description(int32_t index) {
  return index >= 0 && index < N_FORMATS ? formats[index]->description : NULL;
}

static bool has_suffix(const char* path, const char* suffix) {
  size_t n = strlen(path), k = strlen(suffix);
  return n >= k && strcmp(path + n - k, suffix) == 0;
}

static NoliStatus find_format(NoliContext* context, const char* path,
                              const NoliExchangeFormat** format) {
  char list[256];
  int n = 0;
  for (int32_t i = 0; i < N_FORMATS; i++) {
    if (has_suffix(path, formats[i]->suffix)) {
      *format = formats[i];
      return NOLI_OK;
    }
    n += snprintf(list + n, sizeof list - (size_t)n, "%s %s", i > 0 ? "," : "", formats[i]->suffix);
  }
  return noli_fail(context, NOLI_ERROR_ARGUMENT,
                   "%s: the suffix is not that of a format for results:%s", path, list);
}

// ---- shapes ----

// The primitives of all shapes of one kind.
typedef struct Primitives {
  int64_t n;
  const int32_t* vertex; // (n x corners)
} Primitives;

static void list_primitives(const NoliFrameLayout* layout, Primitives list[NOLI_SHAPE_KINDS]) {
  list[NOLI_SHAPE_TRIANGLES] = (Primitives){layout->n_triangles, layout->triangles};
  list[NOLI_SHAPE_SEGMENTS] = (Primitives){layout->n_segments, layout->segments};
  list[NOLI_SHAPE_POINTS] = (Primitives){layout->n_points, layout->points};
}

// Counts the vertices and primitives of every body in `shape` (n_body), and numbers the vertices
// within their body: `place` (n_vert), NOLI_NULL_INDEX for those within bodies.
static void count_primitives(const NoliFrameLayout* layout, NoliShape* shape, int32_t* place) {
  Primitives list[NOLI_SHAPE_KINDS];
  list_primitives(layout, list);
  for (int32_t v = 0; v < layout->n_vert; v++) {
    place[v] = NOLI_NULL_INDEX;
  }
  for (int32_t kind = 0; kind < NOLI_SHAPE_KINDS; kind++) {
    int64_t corners = noli_shape_corners(kind);
    for (int64_t i = 0; i < list[kind].n; i++) {
      shape[layout->vertex_body[list[kind].vertex[corners * i]]].n[kind]++;
    }
    for (int64_t i = 0; i < corners * list[kind].n; i++) {
      place[list[kind].vertex[i]] = 0;
    }
  }
  for (int32_t v = 0; v < layout->n_vert; v++) {
    if (place[v] == 0) {
      place[v] = shape[layout->vertex_body[v]].n_vert++;
    }
  }
}

static NoliStatus fill_primitives(NoliExchange* exchange, int32_t n_body, NoliShape* shape,
                                  const int32_t* place) {
  NoliStatus status = NOLI_OK;
  const NoliFrameLayout* layout = &exchange->run.layout;
  Primitives list[NOLI_SHAPE_KINDS];
  list_primitives(layout, list);
  for (int32_t b = 0; b < n_body; b++) {
    for (int32_t kind = 0; kind < NOLI_SHAPE_KINDS; kind++) {
      int64_t n = (int64_t)noli_shape_corners(kind) * shape[b].n[kind];
      NOLI_NEW(exchange->context, shape[b].primitive[kind], n);
      shape[b].n[kind] = 0;
    }
  }

  for (int32_t kind = 0; kind < NOLI_SHAPE_KINDS; kind++) {
    int64_t corners = noli_shape_corners(kind);
    for (int64_t i = 0; i < list[kind].n; i++) {
      const int32_t* vertex = list[kind].vertex + corners * i;
      NoliShape* own = &shape[layout->vertex_body[vertex[0]]];
      int32_t* to = own->primitive[kind] + corners * own->n[kind]++;
      for (int64_t k = 0; k < corners; k++) {
        to[k] = place[vertex[k]];
      }
    }
  }
done:
  return status;
}

// Vertices of all shapes, one shape after the other. Those of a body need not be consecutive:
// vertices of proxies come after all nodes.
static NoliStatus fill_vertices(NoliExchange* exchange, int32_t n_body, NoliShape* shape,
                                const int32_t* place) {
  NoliStatus status = NOLI_OK;
  const NoliFrameLayout* layout = &exchange->run.layout;
  for (int32_t b = 0; b < n_body; b++) {
    shape[b].first = exchange->n_vert;
    exchange->n_vert += shape[b].n_vert;
  }
  NOLI_NEW(exchange->context, exchange->vertex, exchange->n_vert);
  for (int32_t v = 0; v < layout->n_vert; v++) {
    if (place[v] != NOLI_NULL_INDEX) {
      exchange->vertex[shape[layout->vertex_body[v]].first + place[v]] = v;
    }
  }
done:
  return status;
}

// Names and colours; bodies without a surface are left out.
static void describe_shapes(NoliExchange* exchange, int32_t n_body) {
  const NoliModel* model = exchange->run.sim->model;
  int32_t n = 0, n_soft = 0;
  for (int32_t b = 0; b < n_body; b++) {
    NoliShape shape = exchange->shape[b];
    const float* colour =
        model->obstacle[b] ? noli_obstacle_colour : noli_body_colours[n_soft % NOLI_BODY_COLOURS];
    n_soft += !model->obstacle[b];
    shape.body = b;
    shape.name = model->name[b];
    shape.vertex = exchange->vertex + shape.first;
    memcpy(shape.colour, colour, sizeof shape.colour);
    if (shape.n_vert > 0) {
      // nothing is lost: the shape in this place has no vertices, or has moved to the front
      NoliShape empty = exchange->shape[n];
      exchange->shape[n++] = shape;
      if (n - 1 < b) {
        exchange->shape[b] = empty;
      }
    }
  }
  exchange->n_shapes = n;
}

static NoliStatus make_shapes(NoliExchange* exchange) {
  NoliStatus status = NOLI_OK;
  int32_t n_body = exchange->run.sim->model->n_body;
  int32_t* place = NULL;
  NOLI_NEW(exchange->context, place, exchange->run.layout.n_vert);
  NOLI_NEW_ZERO(exchange->context, exchange->shape, n_body);
  count_primitives(&exchange->run.layout, exchange->shape, place);
  NOLI_TRY(fill_primitives(exchange, n_body, exchange->shape, place));
  NOLI_TRY(fill_vertices(exchange, n_body, exchange->shape, place));
  describe_shapes(exchange, n_body);
  NOLI_CHECK(exchange->context, exchange->n_shapes > 0, NOLI_ERROR_FORMAT,
             "%s: no body has a surface", exchange->run.directory);
done:
  noli_free(exchange->context, place);
  return status;
}

void noli_shape_normals(const NoliShape* shape, const float* x, float* normal) {
  memset(normal, 0, 3 * sizeof *normal * (size_t)shape->n_vert);
  for (int64_t t = 0; t < shape->n[NOLI_SHAPE_TRIANGLES]; t++) {
    const int32_t* corner = shape->primitive[NOLI_SHAPE_TRIANGLES] + 3 * t;
    NoliVec3 at[3];
    for (int k = 0; k < 3; k++) {
      const float* from = x + 3 * (int64_t)corner[k];
      at[k] = (NoliVec3){(double)from[0], (double)from[1], (double)from[2]};
    }
    NoliVec3 area = noli_cross3(noli_sub3(at[1], at[0]), noli_sub3(at[2], at[0]));
    double size = noli_norm3(area);
    for (int k = 0; size > 0.0 && k < 3; k++) {
      NoliVec3 a = noli_sub3(at[(k + 1) % 3], at[k]), b = noli_sub3(at[(k + 2) % 3], at[k]);
      double weight = atan2(size, noli_dot3(a, b)) / size;
      float* to = normal + 3 * (int64_t)corner[k];
      to[0] += (float)(weight * area.x);
      to[1] += (float)(weight * area.y);
      to[2] += (float)(weight * area.z);
    }
  }

  for (int64_t v = 0; v < shape->n_vert; v++) {
    float* own = normal + 3 * v;
    double length = hypot(hypot((double)own[0], (double)own[1]), (double)own[2]);
    for (int k = 0; k < 3; k++) {
      // surfaces that fold back on themselves may leave nothing but rounding
      own[k] = length > 1e-6 ? (float)((double)own[k] / length) : (k == 2 ? 1.0F : 0.0F);
    }
  }
}

float noli_exchange_linear(float component) {
  double c = (double)component;
  return (float)(c <= 0.04045 ? c / 12.92 : pow((c + 0.055) / 1.055, 2.4));
}

// ---- frames ----

static NoliStatus read_frame(NoliExchange* exchange, int64_t frame, const char* const* wanted,
                             NoliReadFrame* read) {
  int64_t step = exchange->run.frames.frames.data[frame].step;
  return noli_run_reader_frame(&exchange->run, step, wanted, read);
}

NoliStatus noli_exchange_read(NoliExchange* exchange, int64_t frame, NoliReadFrame* read) {
  return read_frame(exchange, frame, NULL, read);
}

NoliStatus noli_exchange_read_shapes(NoliExchange* exchange, int64_t frame, float* x) {
  NoliStatus status = NOLI_OK;
  NoliReadFrame read = {0};
  static const char* const wanted[] = {"Points", NULL};
  NOLI_TRY(read_frame(exchange, frame, wanted, &read));
  const double* from =
      noli_read_frame_find(&read, "Points", "Points", NOLI_FRAME_FLOAT64, 3, -1)->data;
  for (int64_t v = 0; v < exchange->n_vert; v++) {
    for (int k = 0; k < 3; k++) {
      x[3 * v + k] = (float)from[3 * (int64_t)exchange->vertex[v] + k];
      NOLI_CHECK(exchange->context, isfinite(x[3 * v + k]), NOLI_ERROR_FORMAT,
                 "%s: step %lld: the position of vertex %d is not a number of single precision",
                 exchange->run.directory, (long long)exchange->run.frames.frames.data[frame].step,
                 (int)exchange->vertex[v]);
    }
  }
done:
  noli_read_frame_free(exchange->context, &read);
  return status;
}

static NoliStatus read_surfaces(NoliExchange* exchange) {
  NoliStatus status = NOLI_OK;
  float* x = NULL;
  NOLI_NEW(exchange->context, x, 3 * (int64_t)exchange->n_vert);
  NOLI_NEW(exchange->context, exchange->x, 3 * exchange->n_frames * exchange->n_vert);
  for (int64_t f = 0; f < exchange->n_frames; f++) {
    NOLI_TRY(noli_exchange_read_shapes(exchange, f, x));
    for (int32_t s = 0; s < exchange->n_shapes; s++) {
      NoliShape* shape = &exchange->shape[s];
      const float* start = noli_exchange_positions(exchange, s, 0);
      const float* now = x + 3 * (int64_t)shape->first;
      size_t size = 3 * sizeof *x * (size_t)shape->n_vert;
      memcpy(exchange->x + (noli_exchange_positions(exchange, s, f) - exchange->x), now, size);
      shape->moves = shape->moves || memcmp(start, now, size) != 0;
    }
  }
done:
  noli_free(exchange->context, x);
  return status;
}

double noli_exchange_rate(const NoliExchange* exchange) {
  bool moves = exchange->n_frames > 1;
  return moves ? 1.0 / (noli_exchange_time(exchange, 1) - noli_exchange_time(exchange, 0)) : 24.0;
}

// ---- names ----

// The place for a number: "%d" or "%0Nd"; NULL unless there is exactly one.
static const char* exchange_find_place(const char* pattern, int* width, size_t* length) {
  const char* percent = strchr(pattern, '%');
  if (percent == NULL || strchr(percent + 1, '%') != NULL) {
    return NULL;
  }
  char* end = NULL;
  long digits = percent[1] == '0' ? strtol(percent + 1, &end, 10) : 0;
  const char* letter = end != NULL ? end : percent + 1;
  if (*letter != 'd' || digits < 0 || digits > 18) {
    return NULL;
  }
  *width = (int)digits;
  *length = (size_t)(letter + 1 - percent);
  return percent;
}

NoliStatus noli_exchange_number(NoliContext* context, const char* pattern, int64_t frame,
                                char** path) {
  NoliStatus status = NOLI_OK;
  int width;
  size_t length, size = strlen(pattern) + 24;
  const char* place = exchange_find_place(pattern, &width, &length);
  NOLI_CHECK(context, place != NULL, NOLI_ERROR_ARGUMENT,
             "%s: this format has a file for each frame, whose name needs one place for its "
             "number, such as %%04d",
             pattern);
  NOLI_NEW(context, *path, (int64_t)size);
  snprintf(*path, size, "%.*s%0*lld%s", (int)(place - pattern), pattern, width, (long long)frame,
           place + length);
done:
  return status;
}

NoliStatus noli_exchange_beside(const NoliExchange* exchange, const char* ending, char** path) {
  NoliStatus status = NOLI_OK;
  const char* slash = strrchr(exchange->path, '/');
  const char* name = slash != NULL ? slash + 1 : exchange->path;
  const char* stop = strchr(name, '%') != NULL ? strchr(name, '%') : strrchr(name, '.');
  while (stop > name && strchr("_-.", stop[-1]) != NULL) {
    stop--;
  }
  const char* stem = stop > name ? "" : "surface";
  size_t n = (size_t)(stop - exchange->path), size = n + strlen(stem) + strlen(ending) + 1;
  NOLI_NEW(exchange->context, *path, (int64_t)size);
  snprintf(*path, size, "%.*s%s%s", (int)n, exchange->path, stem, ending);
done:
  return status;
}

static bool is_identifier_char(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

// Whether two names have the same letters, digits and underscores, all else being alike.
static bool look_alike(const char* a, const char* b) {
  while (*a != '\0' && *b != '\0') {
    char one = is_identifier_char(*a) ? *a : '_', other = is_identifier_char(*b) ? *b : '_';
    if (one != other) {
      return false;
    }
    a++;
    b++;
  }
  return *a == *b;
}

NoliStatus noli_exchange_identifier(const NoliExchange* exchange, int32_t shape,
                                    char** identifier) {
  NoliStatus status = NOLI_OK;
  const char* name = exchange->shape[shape].name;
  size_t size = strlen(name) + 24;
  bool alone = true;
  NOLI_NEW(exchange->context, *identifier, (int64_t)size);
  for (int32_t s = 0; alone && s < exchange->n_shapes; s++) {
    alone = s == shape || !look_alike(exchange->shape[s].name, name);
  }
  bool letter = is_identifier_char(*name) && !(*name >= '0' && *name <= '9');
  int n = snprintf(*identifier, size, "%s%s", letter ? "" : "_", name);
  for (int i = 0; i < n; i++) {
    (*identifier)[i] = is_identifier_char((*identifier)[i]) ? (*identifier)[i] : '_';
  }
  if (!alone) {
    snprintf(*identifier + n, size - (size_t)n, "__%d", (int)shape);
  }
done:
  return status;
}

NoliStatus noli_exchange_put(NoliFile* file, const void* words, int64_t n_words) {
  if (noli_is_little_endian()) {
    return noli_file_write(file, words, 4 * (size_t)n_words);
  }
  NoliStatus status = NOLI_OK;
  const unsigned char* byte = words;
  for (int64_t i = 0; i < n_words; i++) {
    const unsigned char* own = byte + 4 * i;
    const unsigned char turned[4] = {own[3], own[2], own[1], own[0]};
    NOLI_TRY(noli_file_write(file, turned, sizeof turned));
  }
done:
  return status;
}

// ---- sequences ----

static NoliStatus write_numbered(NoliExchange* exchange, NoliExchangePutFn* put, int64_t frame,
                                 float* x) {
  NoliStatus status = NOLI_OK;
  NoliFile file = {.descriptor = -1};
  char* path = NULL;
  NOLI_TRY(noli_exchange_number(exchange->context, exchange->path, frame, &path));
  NOLI_TRY(noli_exchange_read_shapes(exchange, frame, x));
  NOLI_TRY(noli_file_create(exchange->context, path, &file));
  NOLI_TRY(put(exchange, &file, frame, x));
  NOLI_TRY(noli_file_commit(&file, false));
done:
  noli_file_abandon(&file);
  noli_free(exchange->context, path);
  return status;
}

NoliStatus noli_exchange_write_sequence(NoliExchange* exchange, NoliExchangePutFn* put) {
  NoliStatus status = NOLI_OK;
  float* x = NULL;
  NOLI_NEW(exchange->context, x, 3 * (int64_t)exchange->n_vert);
  for (int64_t f = 0; f < exchange->n_frames; f++) {
    NOLI_TRY(write_numbered(exchange, put, f, x));
  }
done:
  noli_free(exchange->context, x);
  return status;
}

// ---- the export ----

static void find_up(NoliExchange* exchange) {
  const double* gravity = exchange->run.sim->model->gravity;
  exchange->up = 1;
  for (int32_t k = 0; k < 3; k++) {
    exchange->up = fabs(gravity[k]) > fabs(gravity[exchange->up]) ? k : exchange->up;
  }
  exchange->up_is_down = gravity[exchange->up] > 0.0;
}

double noli_exchange_upright(const NoliExchange* exchange, int32_t* axis) {
  static const double degrees[3][2] = {{90.0, -90.0}, {0.0, 180.0}, {-90.0, 90.0}};
  *axis = exchange->up == 0 ? 2 : 0;
  return degrees[exchange->up][exchange->up_is_down];
}

static NoliStatus exchange_read_list(NoliExchange* exchange) {
  NoliStatus status = NOLI_OK;
  NOLI_TRY(noli_run_reader_list(&exchange->run, false));
  exchange->n_frames = exchange->run.frames.frames.count;
  for (int64_t f = 1; f < exchange->n_frames; f++) {
    NOLI_CHECK(exchange->context,
               noli_exchange_time(exchange, f) > noli_exchange_time(exchange, f - 1),
               NOLI_ERROR_FORMAT, "%s/%s: times do not ascend", exchange->run.directory,
               exchange->run.frames.format->list.name);
  }
done:
  return status;
}

static void free_exchange(NoliExchange* exchange) {
  NoliContext* context = exchange->context;
  int32_t n_body = exchange->run.sim != NULL ? exchange->run.sim->model->n_body : 0;
  for (int32_t b = 0; exchange->shape != NULL && b < n_body; b++) {
    for (int32_t kind = 0; kind < NOLI_SHAPE_KINDS; kind++) {
      noli_free(context, exchange->shape[b].primitive[kind]);
    }
  }
  noli_exchange_free_looks(exchange);
  noli_free(context, exchange->shape);
  noli_free(context, exchange->vertex);
  noli_free(context, exchange->x);
  noli_run_reader_close(&exchange->run);
}

NoliStatus noli_run_export(NoliContext* context, const char* directory, const char* path,
                           int64_t* n_frames) {
  NOLI_REQUIRE(context, context != NULL && directory != NULL && path != NULL);
  NoliStatus status = NOLI_OK;
  NoliExchange exchange = {
      .context = context, .path = path, .run = {.context = context, .directory = directory}};
  const NoliExchangeFormat* format = NULL;
  char* first = NULL;

  NOLI_TRY(find_format(context, path, &format));
  if (format->is_sequence) {
    NOLI_TRY(noli_exchange_number(context, path, 0, &first));
  }
  NOLI_TRY(noli_run_reader_open(&exchange.run));
  NOLI_TRY(noli_scene_require_files(exchange.run.scene));
  NOLI_TRY(exchange_read_list(&exchange));
  find_up(&exchange);
  NOLI_TRY(make_shapes(&exchange));
  NOLI_TRY(noli_exchange_read_looks(&exchange));
  if (format->wants_surfaces) {
    NOLI_TRY(read_surfaces(&exchange));
  }
  NOLI_TRY(format->write(&exchange));
  if (n_frames != NULL) {
    *n_frames = exchange.n_frames;
  }
done:
  noli_free(context, first);
  free_exchange(&exchange);
  return status;
}
