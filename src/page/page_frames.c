#include "page/page_frames.h"

#include <math.h>
#include <string.h>
#include <zlib.h>

const NoliPageField noli_page_fields[NOLI_PAGE_FIELDS] = {
    {"von_mises", "Von Mises stress", "Pa", 1, .of_cells = true},
    {"speed", "Speed", "m/s", 1, .of_cells = false},
    {"contact_force", "Contact force", "N", 3, .of_cells = false},
    {"friction_force", "Friction force", "N", 3, .of_cells = false},
    {"distance", "Distance to the nearest surface", "m", 1, .root = true},
    {"away", "Direction away from what is near", "", 3, .hidden = true},
    {"plastic_strain", "Equivalent plastic strain", "", 1, .of_cells = true, .optional = true},
    {"rod_normal", "First axis of the section", "", 3, .of_cells = true, .optional = true,
     .hidden = true},
    {"slid", "Way that contacts have slid", "m", 1, .of_cells = false, .optional = true},
    {"held", "Contacts that hold (2) or slide (1)", "", 1, .of_cells = false, .optional = true},
};

const char* const noli_page_arrays[] = {
    "Points",         "von_mises",  "velocity", "contact_force", "friction_force",
    "plastic_strain", "rod_normal", "slid",     "held",          NULL};

// Whole numbers of a position along an axis, and on each side of zero of a component.
enum { POSITIONS = 65535, SCALARS = 255, COMPONENTS = 127 };
// Bits of positions, and how much finer they are at small gaps.
enum { BITS = 24, FINER = 256, MASK = (1 << BITS) - 1 };
// Rounding by half a step in three axes on both sides takes 1.8 steps of a gap: smaller ones need
// these bits.
enum { CLOSE = 2 };
// Steps of a component of a direction: more would only take bytes.
#define DIRECTIONS 4.0F

// Level of zlib; the best one makes pages 6 % smaller, and takes five times as long.
enum { LEVEL = 5 };

// ---- vertices -----------------------------------------------------------------------------------

NoliStatus noli_page_surface_make(NoliContext* context, const NoliFrameLayout* layout,
                                  NoliPageSurface* surface) {
  NoliStatus status = NOLI_OK;
  const struct {
    const int32_t* vertex;
    int64_t n;
  } lists[] = {{layout->triangles, 3 * (int64_t)layout->n_triangles},
               {layout->segments, 2 * (int64_t)layout->n_segments},
               {layout->points, layout->n_points}};
  NOLI_TRY(noli_array_reserve(context, &surface->number, layout->n_vert));
  NOLI_TRY(noli_array_reserve(context, &surface->vertex, layout->n_vert));
  int32_t* number = surface->number.data;
  memset(number, 0, sizeof *number * (size_t)layout->n_vert);
  for (size_t k = 0; k < sizeof lists / sizeof *lists; k++) {
    for (int64_t i = 0; i < lists[k].n; i++) {
      number[lists[k].vertex[i]] = 1;
    }
  }

  for (int32_t i = 0; i < layout->n_vert; i++) {
    bool shown = number[i] != 0;
    number[i] = shown ? surface->n_vert : NOLI_NULL_INDEX;
    if (shown) {
      surface->vertex.data[surface->n_vert++] = i;
    }
  }
done:
  return status;
}

void noli_page_surface_free(NoliContext* context, NoliPageSurface* surface) {
  noli_array_free(context, &surface->vertex);
  noli_array_free(context, &surface->number);
}

// ---- a frame ------------------------------------------------------------------------------------

// The mean over the cells around each vertex.
static void average_cells(const NoliFrameLayout* layout, const NoliPageSurface* surface,
                          const float* of_cell, int32_t n_components, float* weight, float* value) {
  int64_t begin = 0;
  memset(weight, 0, sizeof *weight * (size_t)surface->n_vert);
  memset(value, 0, sizeof *value * (size_t)surface->n_vert * (size_t)n_components);
  for (int64_t cell = 0; cell < layout->n_cells; cell++) {
    for (int64_t k = begin; k < layout->offsets[cell]; k++) {
      int32_t i = surface->number.data[layout->connectivity[k]];
      for (int32_t c = 0; i != NOLI_NULL_INDEX && c < n_components; c++) {
        value[(int64_t)n_components * i + c] += of_cell[n_components * cell + c];
      }
      if (i != NOLI_NULL_INDEX) {
        weight[i] += 1.0F;
      }
    }
    begin = layout->offsets[cell];
  }
  for (int64_t k = 0; k < (int64_t)n_components * surface->n_vert; k++) {
    float all = weight[k / n_components];
    value[k] = all > 0.0F ? value[k] / all : 0.0F;
  }
}

// The array of a frame from which a field is made; NULL: it has none.
static const NoliReadArray* array_of(const NoliFrameLayout* layout, const NoliReadFrame* frame,
                                     const NoliPageField* field) {
  bool is_speed = strcmp(field->name, "speed") == 0;
  return noli_read_frame_find(frame, field->of_cells ? "CellData" : "PointData",
                              is_speed ? "velocity" : field->name, NOLI_FRAME_FLOAT32,
                              is_speed ? 3 : field->n_components,
                              field->of_cells ? layout->n_cells : layout->n_vert);
}

NoliPageFieldList noli_page_fields_of(const NoliFrameLayout* layout, const NoliReadFrame* frame) {
  NoliPageFieldList list = {0};
  for (int32_t f = 0; f < NOLI_PAGE_FIELDS; f++) {
    const NoliPageField* field = &noli_page_fields[f];
    if (!field->optional || array_of(layout, frame, field) != NULL) {
      list.field[list.n++] = f;
    }
  }
  return list;
}

static void take_field(const NoliFrameLayout* layout, const NoliPageSurface* surface,
                       const NoliReadFrame* frame, const NoliPageField* field, float* weight,
                       float* value) {
  bool is_speed = strcmp(field->name, "speed") == 0;
  const NoliReadArray* array = array_of(layout, frame, field);
  memset(value, 0, sizeof *value * (size_t)(surface->n_vert * field->n_components));
  if (array == NULL) {
    return;
  }
  const float* from = array->data;
  if (field->of_cells) {
    average_cells(layout, surface, from, field->n_components, weight, value);
    return;
  }
  bool is_held = strcmp(field->name, "held") == 0;
  int32_t n = field->n_components;
  for (int32_t i = 0; i < surface->n_vert; i++) {
    int64_t vertex = surface->vertex.data[i];
    if (is_speed) {
      const float* v = from + 3 * vertex;
      value[i] = sqrtf(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
    } else if (n == 1) {
      // NaN: nothing is there that could hold or slide
      value[i] = isnan(from[vertex]) ? 0.0F : from[vertex] + (is_held ? 1.0F : 0.0F);
    } else {
      memcpy(value + (int64_t)n * i, from + n * vertex, (size_t)n * sizeof *from);
    }
  }
}

// Distances, as roots, and directions away from what is near; where no vertex is near a surface but
// edges are near each other, that of the contact force.
static NoliStatus take_proximity(const NoliPageSurface* surface, NoliProximity* proximity,
                                 const NoliReadArray* force, const double* x, float* distance,
                                 float* away, float* gap) {
  NoliStatus status = NOLI_OK;
  NOLI_TRY(noli_proximity_measure(proximity, x, surface->vertex.data, surface->n_vert, distance,
                                  away, gap));
  for (int32_t i = 0; i < surface->n_vert; i++) {
    float* direction = away + 3 * (int64_t)i;
    bool found = direction[0] != 0.0F || direction[1] != 0.0F || direction[2] != 0.0F;
    if (!found && force != NULL) {
      const float* f = (const float*)force->data + 3 * (int64_t)surface->vertex.data[i];
      float size = sqrtf(f[0] * f[0] + f[1] * f[1] + f[2] * f[2]);
      for (int32_t c = 0; c < 3 && size > 0.0F; c++) {
        direction[c] = f[c] / size;
      }
      gap[i] = size > 0.0F ? 0.0F : gap[i];
    }
    noli_page_round_direction(direction);
    distance[i] = sqrtf(distance[i]);
  }
done:
  return status;
}

void noli_page_round_direction(float direction[3]) {
  for (int32_t c = 0; c < 3; c++) {
    direction[c] = roundf(DIRECTIONS * direction[c]) / DIRECTIONS;
  }
}

// The positions of a frame that is to be added; begins the group where it is the first one.
static NoliStatus new_positions(NoliContext* context, int64_t n_vert, NoliPageGroup* group,
                                double** x) {
  NoliStatus status = NOLI_OK;
  NOLI_TRY(noli_array_reserve(context, &group->x, NOLI_PAGE_GROUP * 3 * n_vert));
  NOLI_TRY(noli_array_reserve(context, &group->gap, NOLI_PAGE_GROUP * n_vert));
  for (int32_t c = 0; c < 3 && group->n == 0; c++) {
    group->low[c] = (double)INFINITY;
    group->high[c] = -(double)INFINITY;
  }
  *x = group->x.data + group->n * 3 * n_vert;
done:
  return status;
}

static void widen(NoliPageGroup* group, const double* x, int64_t n_vert) {
  for (int32_t c = 0; c < 3; c++) {
    double low = group->low[c], high = group->high[c];
    for (int64_t i = 0; i < n_vert; i++) {
      double value = x[3 * i + c];
      low = value < low ? value : low;
      high = value > high ? value : high;
    }
    group->low[c] = low;
    group->high[c] = high;
  }
}

NoliStatus noli_page_group_add_positions(NoliContext* context, int32_t n_vert, const double* x,
                                         NoliPageGroup* group) {
  NoliStatus status = NOLI_OK;
  double* to = NULL;
  NOLI_TRY(new_positions(context, n_vert, group, &to));
  memcpy(to, x, 3 * (size_t)n_vert * sizeof *x);
  memset(group->gap.data + group->n * (int64_t)n_vert, 0, (size_t)n_vert * sizeof(float));
  widen(group, to, n_vert);
  group->n++;
done:
  return status;
}

// Makes room for the values of a frame in the scale of a field: the largest size of a component.
static void scale_field(NoliPageGroup* group, int32_t f, const float* value, int64_t size) {
  float most = 0.0F;
  for (int64_t i = 0; i < size; i++) {
    most = fabsf(value[i]) > most ? fabsf(value[i]) : most;
  }
  group->scale[f] = fmax(group->n == 0 ? 0.0 : group->scale[f], (double)most);
}

NoliStatus noli_page_group_add_field(NoliContext* context, int32_t n_vert, const char* name,
                                     const float* value, NoliPageGroup* group) {
  NoliStatus status = NOLI_OK;
  int32_t number = 0, f = group->fields.n;
  while (strcmp(noli_page_fields[number].name, name) != 0) {
    number++;
  }
  int64_t size = (int64_t)noli_page_fields[number].n_components * n_vert;
  NOLI_TRY(noli_array_reserve(context, &group->value[f], size));
  memcpy(group->value[f].data, value, (size_t)size * sizeof *value);
  scale_field(group, f, value, size);
  group->fields.field[group->fields.n++] = number;
done:
  return status;
}

// Where the values of a field in the frame that is added begin.
static float* page_frames_value_of(NoliPageGroup* group, int32_t f, int64_t n_vert) {
  int32_t n_components = noli_page_fields[group->fields.field[f]].n_components;
  return group->value[f].data + group->n * n_components * n_vert;
}

NoliStatus noli_page_group_add(NoliContext* context, const NoliFrameLayout* layout,
                               const NoliPageSurface* surface, NoliProximity* proximity,
                               const NoliReadFrame* frame, const NoliPageFieldList* fields,
                               NoliPageGroup* group) {
  NoliStatus status = NOLI_OK;
  int64_t n_vert = surface->n_vert;
  double* x = NULL;
  const NoliReadArray* points =
      noli_read_frame_find(frame, "Points", "Points", NOLI_FRAME_FLOAT64, 3, layout->n_vert);
  NOLI_TRY(noli_array_reserve(context, &group->weight, n_vert));
  for (int32_t f = 0; f < fields->n; f++) {
    const NoliPageField* field = &noli_page_fields[fields->field[f]];
    NOLI_TRY(noli_array_reserve(context, &group->value[f],
                                NOLI_PAGE_GROUP * field->n_components * n_vert));
  }
  NOLI_TRY(new_positions(context, n_vert, group, &x));

  // positions
  const double* from = points->data;
  for (int64_t i = 0; i < n_vert; i++) {
    memcpy(x + 3 * i, from + 3 * (int64_t)surface->vertex.data[i], 3 * sizeof *x);
  }
  widen(group, x, n_vert);

  // fields; the one after the distance is the direction
  group->fields = *fields;
  for (int32_t f = 0; f < fields->n; f++) {
    const NoliPageField* field = &noli_page_fields[fields->field[f]];
    if (field->root) {
      const NoliReadArray* force = noli_read_frame_find(frame, "PointData", "contact_force",
                                                        NOLI_FRAME_FLOAT32, 3, layout->n_vert);
      NOLI_TRY(take_proximity(
          surface, proximity, force, from, page_frames_value_of(group, f, n_vert),
          page_frames_value_of(group, f + 1, n_vert), group->gap.data + group->n * n_vert));
    } else if (strcmp(field->name, "away") != 0) {
      take_field(layout, surface, frame, field, group->weight.data,
                 page_frames_value_of(group, f, n_vert));
    }
  }
  for (int32_t f = 0; f < fields->n; f++) {
    scale_field(group, f, page_frames_value_of(group, f, n_vert),
                noli_page_fields[fields->field[f]].n_components * n_vert);
  }
  group->n++;
done:
  return status;
}

// ---- in few bytes -------------------------------------------------------------------------------

static uint32_t round_position(double x, double low, double high, bool near) {
  double share = high > low ? (x - low) / (high - low) : 0.0;
  return near ? (uint32_t)(share * FINER * POSITIONS + 0.5)
              : FINER * (uint32_t)(share * POSITIONS + 0.5);
}

// The predictors of a position: nothing, the frame before, or the motion from the one before that;
// and then the error of the vertex before it, or not. Where much moves, the second order is best,
// where little does, it doubles the rounding.
enum { ORDERS = 3, PREDICTIONS = 2 * ORDERS };

// Rounded positions of one axis in a frame, the one before and the one before that.
typedef struct Axis {
  const uint32_t* now;
  const uint32_t* before;
  const uint32_t* earlier;
  int64_t n;
} Axis;

// The error of a prediction at vertex i, modulo 2^24.
static unsigned error_of(const Axis* axis, int32_t order, int64_t i) {
  unsigned guess = order == 0   ? 0U
                   : order == 1 ? axis->before[i]
                                : 2U * axis->before[i] - axis->earlier[i];
  return (axis->now[i] - guess) & MASK;
}

// Small numbers of either sign as small numbers; the low byte, 0 for most vertices, stays.
static unsigned zigzag_of(unsigned difference) {
  unsigned high = (difference & MASK) / FINER, most = MASK / FINER;
  unsigned zigzag = high > most / 2 ? 2U * (most - high) + 1U : 2U * high;
  return zigzag * FINER + difference % FINER;
}

// The numbers to store for a prediction: low bytes of all vertices, then the middle and the high
// ones. Returns the sum of their bits, or more than `limit` as soon as they are more.
static int64_t predict(const Axis* axis, int32_t prediction, int64_t limit, uint8_t* to) {
  int32_t order = prediction / 2;
  bool chained = prediction % 2 != 0;
  unsigned last = 0;
  int64_t bits = 0;
  for (int64_t i = 0; i < axis->n && bits <= limit; i++) {
    unsigned error = error_of(axis, order, i);
    unsigned zigzag = zigzag_of(error - (chained ? last : 0));
    to[i] = (uint8_t)(zigzag & 0xFFU);
    to[axis->n + i] = (uint8_t)(zigzag >> 8 & 0xFFU);
    to[2 * axis->n + i] = (uint8_t)(zigzag >> 16 & 0xFFU);
    last = error;
    for (; zigzag != 0; zigzag >>= 1) {
      bits++;
    }
  }
  return bits;
}

// One axis of a frame: the prediction, then the errors.
static uint8_t* encode_axis(const NoliPageGroup* group, int64_t n_vert, int32_t frame, int32_t k,
                            uint8_t* to) {
  uint32_t* const now = group->rounded.data + (frame % 3 * 3 + k) * n_vert;
  const uint32_t* before = group->rounded.data + ((frame + 2) % 3 * 3 + k) * n_vert;
  const uint32_t* earlier = group->rounded.data + ((frame + 1) % 3 * 3 + k) * n_vert;
  const double* x = group->x.data + frame * 3 * n_vert;
  const float* gap = group->gap.data + frame * n_vert;
  double step = 0.0;
  for (int32_t c = 0; c < 3; c++) {
    step = fmax(step, (group->high[c] - group->low[c]) / POSITIONS);
  }
  for (int64_t i = 0; i < n_vert; i++) {
    now[i] =
        round_position(x[3 * i + k], group->low[k], group->high[k], (double)gap[i] < CLOSE * step);
  }
  const Axis axis = {now, before, frame > 1 ? earlier : before, n_vert};
  int32_t n = frame == 0 ? 2 : PREDICTIONS, best = 0;
  int64_t least = INT64_MAX;
  for (int32_t p = n - 1; p >= 0; p--) {
    int64_t bits = predict(&axis, p, least, to + 1);
    best = bits <= least ? p : best;
    least = bits <= least ? bits : least;
  }

  (void)predict(&axis, best, INT64_MAX, to + 1);
  *to = (uint8_t)best;
  return to + 1 + 3 * n_vert;
}

static uint8_t round_value(float value, double scale, int32_t n_components) {
  double share = scale > 0.0 ? (double)value / scale : 0.0;
  return (uint8_t)(n_components == 1 ? share * SCALARS + 0.5 : share * COMPONENTS + 127.5);
}

static uint8_t* encode_field(const NoliPageGroup* group, int64_t n_vert, int32_t frame, int32_t f,
                             uint8_t* to) {
  int32_t n_components = noli_page_fields[group->fields.field[f]].n_components;
  int64_t size = n_components * n_vert;
  const float* value = group->value[f].data + frame * size;
  for (int64_t i = 0; i < size; i++) {
    uint8_t before = frame > 0 ? round_value(value[i - size], group->scale[f], n_components) : 0;
    to[i] = (uint8_t)(round_value(value[i], group->scale[f], n_components) - before);
  }
  return to + size;
}

NoliStatus noli_page_group_pack(NoliContext* context, int32_t n_vert, NoliPageGroup* group) {
  NoliStatus status = NOLI_OK;
  int64_t n_components = 0, n = n_vert;
  for (int32_t f = 0; f < group->fields.n; f++) {
    n_components += noli_page_fields[group->fields.field[f]].n_components;
  }
  int64_t size = group->n * (n * (9 + n_components) + 3);
  NOLI_TRY(noli_array_reserve(context, &group->bytes, size + 1));
  NOLI_TRY(noli_array_reserve(context, &group->rounded, 9 * n));
  uint8_t* to = group->bytes.data;
  for (int32_t frame = 0; frame < group->n; frame++) {
    for (int32_t axis = 0; axis < 3; axis++) {
      to = encode_axis(group, n, frame, axis, to);
    }
    for (int32_t f = 0; f < group->fields.n; f++) {
      to = encode_field(group, n, frame, f, to);
    }
  }
  noli_array_free(context, &group->packed);
  NOLI_TRY(noli_page_compress(context, group->bytes.data, size, &group->packed.data,
                              &group->packed.count));
done:
  return status;
}

NoliStatus noli_page_compress(NoliContext* context, const void* data, int64_t size,
                              uint8_t** packed, int64_t* n_packed) {
  NoliStatus status = NOLI_OK;
  uLongf length = compressBound((uLong)size);
  uint8_t* bytes = NULL;
  NOLI_NEW(context, bytes, (int64_t)length);
  int result = compress2(bytes, &length, data, (uLong)size, LEVEL);
  bool poor = result == Z_MEM_ERROR;
  NOLI_CHECK(context, result == Z_OK, poor ? NOLI_ERROR_MEMORY : NOLI_ERROR_BACKEND,
             "zlib cannot compress %lld bytes%s", (long long)size, poor ? ": out of memory" : "");
  *packed = bytes;
  *n_packed = (int64_t)length;
  bytes = NULL;
done:
  noli_free(context, bytes);
  return status;
}

void noli_page_group_free(NoliContext* context, NoliPageGroup* group) {
  noli_array_free(context, &group->x);
  noli_array_free(context, &group->gap);
  for (int32_t f = 0; f < NOLI_PAGE_FIELDS; f++) {
    noli_array_free(context, &group->value[f]);
  }
  noli_array_free(context, &group->bytes);
  noli_array_free(context, &group->packed);
  noli_array_free(context, &group->rounded);
  noli_array_free(context, &group->weight);
}
