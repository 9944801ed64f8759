// glTF 2.0 in one binary file (GLB): a mesh for each body, whose frames are morph targets, the
// differences from the first frame. At the time of a frame its target has the weight 1 and all
// others 0; weights are linear in between, and so are positions. A root node turns the scene
// upright.
//
// A vertex with several texture coordinates is there several times.
//
// Layout of the binary chunk: for each shape its indices, its positions and normals in the first
// frame, those of its targets, its texture coordinates; then the times and the weights of the
// animation.
#include "exchange/exchange.h"

#include "noli/version.h"
#include "text/json.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

// Numbers of the format.
enum { FLOAT = 5126, UNSIGNED_INT = 5125, ARRAY_BUFFER = 34962, ELEMENT_ARRAY_BUFFER = 34963 };
enum {
  HEADER_SIZE = 12,
  CHUNK_HEADER_SIZE = 8,
  JSON_CHUNK = 0x4E4F534A,
  BINARY_CHUNK = 0x004E4942
};

typedef struct Glb {
  NoliExchange* exchange;
  NoliSceneText json, accessors, views, meshes, nodes, materials, channels;
  int64_t n_accessors, n_views;
  int64_t size; // of the binary chunk, bytes
} Glb;

// Targets of a shape: none if it rests.
static int64_t target_count(const Glb* glb, const NoliShape* shape) {
  return shape->moves ? glb->exchange->n_frames - 1 : 0;
}

static bool has_normals(const NoliShape* shape) {
  return shape->n[NOLI_SHAPE_TRIANGLES] > 0;
}

static int64_t index_count(const NoliShape* shape) {
  int64_t n = 0;
  for (int32_t kind = 0; kind < NOLI_SHAPE_KINDS; kind++) {
    n += (int64_t)noli_shape_corners(kind) * shape->n[kind];
  }
  return n;
}

// The data of a shape in a frame: its positions and, with `normal`, its normals; of frames after
// the first one the differences from that. `base`: normals of the first frame.
static const float* take_target(const Glb* glb, int32_t index, int64_t frame, const float* base,
                                float* x, float* normal) {
  const NoliShape* shape = &glb->exchange->shape[index];
  const float* now = noli_exchange_positions(glb->exchange, index, frame);
  const float* start = noli_exchange_positions(glb->exchange, index, 0);
  if (normal != NULL) {
    noli_shape_normals(shape, now, normal);
  }
  for (int64_t i = 0; i < 3 * (int64_t)shape->n_vert; i++) {
    x[i] = frame > 0 ? now[i] - start[i] : now[i];
    if (normal != NULL && frame > 0) {
      normal[i] -= base[i];
    }
  }
  return x;
}

// Vectors of the vertices of a shape, for those of the format.
static void glb_split(const NoliShape* shape, const float* vector, float* out) {
  for (int64_t i = 0; i < shape->n_split; i++) {
    int64_t v = shape->split_vertex != NULL ? shape->split_vertex[i] : i;
    memcpy(out + 3 * i, vector + 3 * v, 3 * sizeof *out);
  }
}

// ---- the description ----

static const char* comma(const NoliSceneText* text) {
  return text->count > 0 ? "," : "";
}

// Appends text in quotation marks.
static NoliStatus append_string(NoliContext* context, NoliSceneText* text, const char* string) {
  NoliStatus status = NOLI_OK;
  NOLI_TRY(noli_require_memory(context, 64 * (int64_t)strlen(string) + 4096));
  json_t* value = json_string(string);
  status = noli_scene_append_json(context, text, value, 0);
  json_decref(value);
done:
  return status;
}

// Begins a part of the binary chunk; `target` 0: neither vertices, of n components, nor indices.
static NoliStatus add_view(Glb* glb, int64_t size, int target, int32_t n_components) {
  NoliStatus status = NOLI_OK;
  NoliContext* context = glb->exchange->context;
  NOLI_TRY(noli_scene_append(context, &glb->views,
                             "%s{\"buffer\":0,\"byteOffset\":%" PRId64 ",\"byteLength\":%" PRId64,
                             comma(&glb->views), glb->size, size));
  if (target == ARRAY_BUFFER) {
    NOLI_TRY(noli_scene_append(context, &glb->views, ",\"byteStride\":%d", 4 * (int)n_components));
  }
  if (target != 0) {
    NOLI_TRY(noli_scene_append(context, &glb->views, ",\"target\":%d", target));
  }
  NOLI_TRY(noli_scene_append(context, &glb->views, "}"));
  glb->n_views++;
  glb->size += size;
done:
  return status;
}

// Appends an array of the last view; with `values`, the bounds of its components.
static NoliStatus add_accessor(Glb* glb, int64_t offset, int component, int64_t count,
                               int32_t n_components, const float* values) {
  NoliStatus status = NOLI_OK;
  NoliContext* context = glb->exchange->context;
  NOLI_TRY(noli_scene_append(context, &glb->accessors,
                             "%s{\"bufferView\":%" PRId64 ",\"byteOffset\":%" PRId64
                             ",\"componentType\":%d,\"count\":%" PRId64 ",\"type\":\"%s\"",
                             comma(&glb->accessors), glb->n_views - 1, offset, component, count,
                             n_components == 3   ? "VEC3"
                             : n_components == 2 ? "VEC2"
                                                 : "SCALAR"));
  for (int side = 0; values != NULL && side < 2; side++) {
    NOLI_TRY(noli_scene_append(context, &glb->accessors, ",\"%s\":[", side == 0 ? "min" : "max"));
    for (int32_t k = 0; k < n_components; k++) {
      float bound = values[k];
      for (int64_t i = 1; i < count; i++) {
        float value = values[n_components * i + k];
        bound = (side == 0 ? value < bound : value > bound) ? value : bound;
      }
      NOLI_TRY(
          noli_scene_append(context, &glb->accessors, "%s%.17g", k > 0 ? "," : "", (double)bound));
    }
    NOLI_TRY(noli_scene_append(context, &glb->accessors, "]"));
  }

  NOLI_TRY(noli_scene_append(context, &glb->accessors, "}"));
  glb->n_accessors++;
done:
  return status;
}

// Arrays of the vertices: positions (and normals) of the first frame, then of each target.
static NoliStatus add_vertices(Glb* glb, int32_t index) {
  NoliStatus status = NOLI_OK;
  const NoliShape* shape = &glb->exchange->shape[index];
  int64_t n_arrays = has_normals(shape) ? 2 : 1, n_frames = 1 + target_count(glb, shape);
  int64_t size = 12 * (int64_t)shape->n_split;
  float *x = NULL, *all = NULL;
  NOLI_NEW(glb->exchange->context, x, 3 * (int64_t)shape->n_vert);
  NOLI_NEW(glb->exchange->context, all, 3 * (int64_t)shape->n_split);
  NOLI_TRY(add_view(glb, n_frames * n_arrays * size, ARRAY_BUFFER, 3));
  for (int64_t f = 0; f < n_frames; f++) {
    glb_split(shape, take_target(glb, index, f, NULL, x, NULL), all);
    NOLI_TRY(add_accessor(glb, f * n_arrays * size, FLOAT, shape->n_split, 3, all));
    if (n_arrays > 1) {
      NOLI_TRY(add_accessor(glb, (f * n_arrays + 1) * size, FLOAT, shape->n_split, 3, NULL));
    }
  }
done:
  noli_free(glb->exchange->context, x);
  noli_free(glb->exchange->context, all);
  return status;
}

// Texture coordinates, if there are any.
static NoliStatus add_uv(Glb* glb, const NoliShape* shape) {
  NoliStatus status = NOLI_OK;
  if (shape->n_uv > 0) {
    NOLI_TRY(add_view(glb, 8 * (int64_t)shape->n_split, ARRAY_BUFFER, 2));
    NOLI_TRY(add_accessor(glb, 0, FLOAT, shape->n_split, 2, NULL));
  }
done:
  return status;
}

// The vertices of a primitive: "POSITION" and "NORMAL" of the frame whose arrays begin here, and
// texture coordinates; -1: none.
static NoliStatus append_attributes(Glb* glb, int64_t accessor, bool normals, int64_t uv) {
  NoliStatus status = NOLI_OK;
  NoliContext* context = glb->exchange->context;
  NOLI_TRY(noli_scene_append(context, &glb->meshes, "{\"POSITION\":%" PRId64, accessor));
  if (normals) {
    NOLI_TRY(noli_scene_append(context, &glb->meshes, ",\"NORMAL\":%" PRId64, accessor + 1));
  }
  if (uv >= 0) {
    NOLI_TRY(noli_scene_append(context, &glb->meshes, ",\"TEXCOORD_0\":%" PRId64, uv));
  }
  NOLI_TRY(noli_scene_append(context, &glb->meshes, "}"));
done:
  return status;
}

// `part` (may be NULL): of the triangles; `uv`: as above.
static NoliStatus append_primitive(Glb* glb, int32_t index, int32_t kind, int64_t indices,
                                   int64_t vertices, const NoliShapePart* part, int64_t uv) {
  static const int mode[] = {
      [NOLI_SHAPE_TRIANGLES] = 4, [NOLI_SHAPE_SEGMENTS] = 1, [NOLI_SHAPE_POINTS] = 0};
  NoliStatus status = NOLI_OK;
  NoliContext* context = glb->exchange->context;
  const NoliShape* shape = &glb->exchange->shape[index];
  bool normals = kind == NOLI_SHAPE_TRIANGLES;
  bool of_file = part != NULL && part->material != NOLI_NULL_INDEX;
  int32_t material = of_file ? glb->exchange->n_shapes + part->material : index;
  int64_t n_arrays = has_normals(shape) ? 2 : 1;
  NOLI_TRY(noli_scene_append(context, &glb->meshes,
                             "{\"mode\":%d,\"material\":%d,\"indices\":%" PRId64 ",\"attributes\":",
                             mode[kind], (int)material, indices));
  NOLI_TRY(append_attributes(glb, vertices, normals, normals ? uv : -1));
  for (int64_t t = 1; t <= target_count(glb, shape); t++) {
    NOLI_TRY(noli_scene_append(context, &glb->meshes, "%s", t == 1 ? ",\"targets\":[" : ","));
    NOLI_TRY(append_attributes(glb, vertices + t * n_arrays, normals, -1));
  }
  NOLI_TRY(noli_scene_append(context, &glb->meshes, "%s", shape->moves ? "]" : ""));
  if (part != NULL && part->group != NULL) {
    NOLI_TRY(noli_scene_append(context, &glb->meshes, ",\"extras\":{\"group\":"));
    NOLI_TRY(append_string(context, &glb->meshes, part->group));
    NOLI_TRY(noli_scene_append(context, &glb->meshes, "}"));
  }

  NOLI_TRY(noli_scene_append(context, &glb->meshes, "}"));
done:
  return status;
}

// Arrays of indices: of each part of the triangles, or of all, then of segments and points.
static NoliStatus add_indices(Glb* glb, const NoliShape* shape) {
  NoliStatus status = NOLI_OK;
  int64_t offset = 0;
  NOLI_TRY(add_view(glb, 4 * index_count(shape), ELEMENT_ARRAY_BUFFER, 1));
  for (int32_t p = 0; p < shape->n_parts; p++) {
    NOLI_TRY(add_accessor(glb, 12 * (int64_t)shape->part[p].first, UNSIGNED_INT,
                          3 * (int64_t)shape->part[p].n, 1, NULL));
  }
  for (int32_t kind = 0; kind < NOLI_SHAPE_KINDS; kind++) {
    int64_t count = (int64_t)noli_shape_corners(kind) * shape->n[kind];
    bool in_parts = kind == NOLI_SHAPE_TRIANGLES && shape->n_parts > 0;
    if (count > 0 && !in_parts) {
      NOLI_TRY(add_accessor(glb, offset, UNSIGNED_INT, count, 1, NULL));
    }
    offset += 4 * count;
  }
done:
  return status;
}

// The mesh of a shape: a primitive for each kind that it has, and for each part of its triangles.
static NoliStatus add_mesh(Glb* glb, int32_t index) {
  NoliStatus status = NOLI_OK;
  NoliContext* context = glb->exchange->context;
  const NoliShape* shape = &glb->exchange->shape[index];
  int64_t first = glb->n_accessors, n = 0;

  // its arrays
  NOLI_TRY(add_indices(glb, shape));
  int64_t vertices = glb->n_accessors;
  NOLI_TRY(add_vertices(glb, index));
  int64_t uv = shape->n_uv > 0 ? glb->n_accessors : -1;
  NOLI_TRY(add_uv(glb, shape));

  // what is made of them
  NOLI_TRY(noli_scene_append(context, &glb->meshes, "%s{\"name\":", comma(&glb->meshes)));
  NOLI_TRY(append_string(context, &glb->meshes, shape->name));
  NOLI_TRY(noli_scene_append(context, &glb->meshes, ",\"primitives\":["));
  for (int32_t kind = 0; kind < NOLI_SHAPE_KINDS; kind++) {
    bool in_parts = kind == NOLI_SHAPE_TRIANGLES && shape->n_parts > 0;
    int32_t n_parts = shape->n[kind] == 0 ? 0 : in_parts ? shape->n_parts : 1;
    for (int32_t p = 0; p < n_parts; p++) {
      NOLI_TRY(noli_scene_append(context, &glb->meshes, "%s", n > 0 ? "," : ""));
      NOLI_TRY(append_primitive(glb, index, kind, first + n++, vertices,
                                in_parts ? &shape->part[p] : NULL, uv));
    }
  }
  NOLI_TRY(noli_scene_append(context, &glb->meshes, "]}"));
done:
  return status;
}

static NoliStatus add_material(Glb* glb, const char* name, const float* colour) {
  NoliStatus status = NOLI_OK;
  NoliContext* context = glb->exchange->context;
  NOLI_TRY(noli_scene_append(context, &glb->materials, "%s{\"name\":", comma(&glb->materials)));
  NOLI_TRY(append_string(context, &glb->materials, name));
  NOLI_TRY(noli_scene_append(
      context, &glb->materials,
      ",\"doubleSided\":true,\"pbrMetallicRoughness\":{\"baseColorFactor\":[%.6g,%.6g,%.6g,1],"
      "\"metallicFactor\":0,\"roughnessFactor\":0.6}}",
      (double)noli_exchange_linear(colour[0]), (double)noli_exchange_linear(colour[1]),
      (double)noli_exchange_linear(colour[2])));
done:
  return status;
}

// The node and the material of a shape, and its part in the animation.
static NoliStatus add_node(Glb* glb, int32_t index) {
  NoliStatus status = NOLI_OK;
  NoliContext* context = glb->exchange->context;
  const NoliShape* shape = &glb->exchange->shape[index];
  NOLI_TRY(noli_scene_append(context, &glb->nodes, "%s{\"mesh\":%d,\"name\":", comma(&glb->nodes),
                             (int)index));
  NOLI_TRY(append_string(context, &glb->nodes, shape->name));
  NOLI_TRY(noli_scene_append(context, &glb->nodes, "}"));
  NOLI_TRY(add_material(glb, shape->name, shape->colour));
  if (shape->moves) {
    NOLI_TRY(noli_scene_append(context, &glb->channels,
                               "%s{\"sampler\":0,\"target\":{\"node\":%d,\"path\":\"weights\"}}",
                               comma(&glb->channels), (int)index));
  }
done:
  return status;
}

// The time of a frame from the beginning, s.
static float time_of(const Glb* glb, int64_t frame) {
  return (float)(noli_exchange_time(glb->exchange, frame) - noli_exchange_time(glb->exchange, 0));
}

// Times and weights, if anything moves.
static NoliStatus add_animation(Glb* glb) {
  NoliStatus status = NOLI_OK;
  NoliContext* context = glb->exchange->context;
  int64_t n = glb->exchange->n_frames;
  float* time = NULL;
  if (glb->channels.count == 0) {
    return NOLI_OK;
  }
  NOLI_NEW(context, time, n);
  for (int64_t f = 0; f < n; f++) {
    time[f] = time_of(glb, f);
    NOLI_CHECK(context, f == 0 || time[f] > time[f - 1], NOLI_ERROR_TOO_LARGE,
               "%s: frames %lld and %lld are at equal times in single precision",
               glb->exchange->path, (long long)f - 1, (long long)f);
  }
  NOLI_TRY(add_view(glb, 4 * n, 0, 1));
  NOLI_TRY(add_accessor(glb, 0, FLOAT, n, 1, time));
  NOLI_TRY(add_view(glb, 4 * n * (n - 1), 0, 1));
  NOLI_TRY(add_accessor(glb, 0, FLOAT, n * (n - 1), 1, NULL));
done:
  noli_free(context, time);
  return status;
}

// The node above all others, which turns the way up to y.
static NoliStatus append_root(Glb* glb) {
  NoliStatus status = NOLI_OK;
  NoliContext* context = glb->exchange->context;
  double q[4] = {0.0};
  int32_t axis;
  double half = noli_exchange_upright(glb->exchange, &axis) * acos(-1.0) / 360.0;
  q[axis] = sin(half);
  q[3] = cos(half);
  NOLI_TRY(noli_scene_append(context, &glb->nodes, ",{\"name\":"));
  NOLI_TRY(append_string(context, &glb->nodes, noli_scene_name(glb->exchange->run.scene)));
  if (half != 0.0) {
    NOLI_TRY(noli_scene_append(context, &glb->nodes, ",\"rotation\":[%.17g,%.17g,%.17g,%.17g]",
                               q[0], q[1], q[2], q[3]));
  }
  for (int32_t s = 0; s < glb->exchange->n_shapes; s++) {
    NOLI_TRY(
        noli_scene_append(context, &glb->nodes, "%s%d", s == 0 ? ",\"children\":[" : ",", (int)s));
  }
  NOLI_TRY(noli_scene_append(context, &glb->nodes, "]}"));
done:
  return status;
}

// Joins the parts; the text ends at a multiple of 4 bytes.
static NoliStatus join_description(Glb* glb) {
  NoliStatus status = NOLI_OK;
  NoliContext* context = glb->exchange->context;
  NoliSceneText* json = &glb->json;
  NOLI_TRY(
      noli_scene_append(context, json,
                        "{\"asset\":{\"version\":\"2.0\",\"generator\":\"noli %s\"},\"scene\":0,"
                        "\"scenes\":[{\"nodes\":[%d]}],\"buffers\":[{\"byteLength\":%" PRId64 "}]",
                        noli_version(), (int)glb->exchange->n_shapes, glb->size));
  const struct {
    const char* name;
    const NoliSceneText* items;
  } lists[] = {{"bufferViews", &glb->views},
               {"accessors", &glb->accessors},
               {"meshes", &glb->meshes},
               {"materials", &glb->materials},
               {"nodes", &glb->nodes}};
  for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
    NOLI_TRY(noli_scene_append(context, json, ",\"%s\":[%s]", lists[i].name, lists[i].items->data));
  }
  if (glb->channels.count > 0) {
    NOLI_TRY(noli_scene_append(
        context, json,
        ",\"animations\":[{\"name\":\"run\",\"samplers\":[{\"input\":%" PRId64
        ",\"output\":%" PRId64 ",\"interpolation\":\"LINEAR\"}],\"channels\":[%s]}]",
        glb->n_accessors - 2, glb->n_accessors - 1, glb->channels.data));
  }

  NOLI_TRY(noli_scene_append(context, json, "}"));
  while (json->count % 4 != 0) {
    NOLI_TRY(noli_scene_append(context, json, " "));
  }
done:
  return status;
}

static NoliStatus glb_describe(Glb* glb) {
  NoliStatus status = NOLI_OK;
  for (int32_t s = 0; s < glb->exchange->n_shapes; s++) {
    NOLI_TRY(add_mesh(glb, s));
    NOLI_TRY(add_node(glb, s));
  }
  for (int32_t m = 0; m < glb->exchange->materials.count; m++) {
    NOLI_TRY(add_material(glb, glb->exchange->materials.data[m].name,
                          noli_exchange_material_colour(glb->exchange, m)));
  }
  NOLI_TRY(add_animation(glb));
  NOLI_TRY(append_root(glb));
  NOLI_TRY(join_description(glb));
  int64_t total = HEADER_SIZE + 2 * CHUNK_HEADER_SIZE + glb->json.count + glb->size;
  NOLI_CHECK(glb->exchange->context, total <= UINT32_MAX, NOLI_ERROR_TOO_LARGE,
             "%s: would have %lld bytes, and the format can hold 4294967295: convert to .usda, or "
             "write fewer frames with a larger output.every",
             glb->exchange->path, (long long)total);
done:
  return status;
}

// ---- the binary chunk ----

// The origin of texture coordinates is at the upper left.
static NoliStatus glb_put_uv(NoliFile* file, const NoliShape* shape) {
  NoliStatus status = NOLI_OK;
  for (int64_t i = 0; shape->n_uv > 0 && i < shape->n_split; i++) {
    const float* uv = shape->uv + 2 * (int64_t)shape->split_uv[i];
    const float turned[2] = {uv[0], 1.0F - uv[1]};
    NOLI_TRY(noli_exchange_put(file, turned, 2));
  }
done:
  return status;
}

static NoliStatus put_shape(const Glb* glb, NoliFile* file, int32_t index) {
  NoliStatus status = NOLI_OK;
  NoliContext* context = glb->exchange->context;
  const NoliShape* shape = &glb->exchange->shape[index];
  int64_t n = 3 * (int64_t)shape->n_vert, n_all = 3 * (int64_t)shape->n_split;
  float *x = NULL, *base = NULL, *own = NULL, *all = NULL;
  NOLI_NEW(context, all, n_all);
  NOLI_NEW(context, x, n);
  NOLI_NEW(context, base, n);
  NOLI_NEW(context, own, n);
  for (int32_t kind = 0; kind < NOLI_SHAPE_KINDS; kind++) {
    bool splits = kind == NOLI_SHAPE_TRIANGLES && shape->n_uv > 0;
    NOLI_TRY(noli_exchange_put(file, splits ? shape->split_corner : shape->primitive[kind],
                               (int64_t)noli_shape_corners(kind) * shape->n[kind]));
  }

  for (int64_t f = 0; f <= target_count(glb, shape); f++) {
    float* normal = f > 0 ? own : base;
    glb_split(shape, take_target(glb, index, f, base, x, normal), all);
    NOLI_TRY(noli_exchange_put(file, all, n_all));
    if (has_normals(shape)) {
      glb_split(shape, normal, all);
      NOLI_TRY(noli_exchange_put(file, all, n_all));
    }
  }

  NOLI_TRY(glb_put_uv(file, shape));
done:
  noli_free(context, all);
  noli_free(context, x);
  noli_free(context, base);
  noli_free(context, own);
  return status;
}

static NoliStatus put_animation(const Glb* glb, NoliFile* file) {
  NoliStatus status = NOLI_OK;
  int64_t n = glb->channels.count > 0 ? glb->exchange->n_frames : 0;
  for (int64_t f = 0; f < n; f++) {
    float time = time_of(glb, f);
    NOLI_TRY(noli_exchange_put(file, &time, 1));
  }
  for (int64_t f = 0; f < n; f++) {
    for (int64_t target = 1; target < n; target++) {
      float weight = target == f ? 1.0F : 0.0F;
      NOLI_TRY(noli_exchange_put(file, &weight, 1));
    }
  }
done:
  return status;
}

static NoliStatus put_file(const Glb* glb, NoliFile* file) {
  NoliStatus status = NOLI_OK;
  uint32_t json_size = (uint32_t)glb->json.count, size = (uint32_t)glb->size;
  const uint32_t header[] = {0x46546C67, 2, HEADER_SIZE + 2 * CHUNK_HEADER_SIZE + json_size + size,
                             json_size, JSON_CHUNK};
  const uint32_t binary_header[] = {size, BINARY_CHUNK};
  NOLI_TRY(noli_exchange_put(file, header, 5));
  NOLI_TRY(noli_file_write(file, glb->json.data, json_size));
  NOLI_TRY(noli_exchange_put(file, binary_header, 2));
  for (int32_t s = 0; s < glb->exchange->n_shapes; s++) {
    NOLI_TRY(put_shape(glb, file, s));
  }
  NOLI_TRY(put_animation(glb, file));
done:
  return status;
}

static NoliStatus write_glb(NoliExchange* exchange) {
  NoliStatus status = NOLI_OK;
  NoliContext* context = exchange->context;
  NoliFile file = {.descriptor = -1};
  Glb glb = {.exchange = exchange};
  NOLI_TRY(glb_describe(&glb));
  NOLI_TRY(noli_file_create(context, exchange->path, &file));
  NOLI_TRY(put_file(&glb, &file));
  NOLI_TRY(noli_file_commit(&file, false));
done:
  noli_file_abandon(&file);
  noli_array_free(context, &glb.json);
  noli_array_free(context, &glb.accessors);
  noli_array_free(context, &glb.views);
  noli_array_free(context, &glb.meshes);
  noli_array_free(context, &glb.nodes);
  noli_array_free(context, &glb.materials);
  noli_array_free(context, &glb.channels);
  return status;
}

const NoliExchangeFormat noli_exchange_glb = {
    .suffix = ".glb",
    .description = "glTF 2.0, one file with an animation by morph targets",
    .wants_surfaces = true,
    .write = write_glb,
};
