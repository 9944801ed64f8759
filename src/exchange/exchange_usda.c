// Universal Scene Description as text (USDA): for each body an Xform with a mesh, curves for its
// segments and points, whose positions and normals have a time sample for each frame.
//
//   /World/bodies/BODY/surface, segments, points     /World/materials/BODY
//
// Frames are at time codes 0, 1, 2, ..., the last one perhaps in between; their rate makes a second
// of the stage one of the simulation. Bodies that rest have one value instead of samples.
#include "exchange/exchange.h"

#include "noli/version.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// Width of segments and points, of the diagonal of the first frame.
static const double relative_width = 0.002;

typedef struct Stage {
  const NoliExchange* exchange;
  NoliFile file;
  double rate;   // time codes per second
  float width;   // of segments and points, m
  float* vector; // scratch for one frame of a prim
} Stage;

static double time_code(const Stage* stage, int64_t frame) {
  const NoliExchange* exchange = stage->exchange;
  double code =
      (noli_exchange_time(exchange, frame) - noli_exchange_time(exchange, 0)) * stage->rate;
  // multiples of the first interval, up to rounding
  return fabs(code - round(code)) <= 1e-9 * fmax(1.0, code) ? round(code) : code;
}

// Text in quotation marks, on one line.
static NoliStatus put_string(NoliFile* file, const char* text) {
  NoliStatus status = NOLI_OK;
  NOLI_TRY(noli_file_write(file, "\"", 1));
  for (const char* c = text; *c != '\0'; c++) {
    if (*c == '"' || *c == '\\') {
      NOLI_TRY(noli_file_write(file, "\\", 1));
    }
    NOLI_TRY(noli_file_write(file, *c == '\n' || *c == '\r' ? " " : c, 1));
  }
  NOLI_TRY(noli_file_write(file, "\"", 1));
done:
  return status;
}

static NoliStatus put_vectors(NoliFile* file, int64_t n, const float* vector) {
  NoliStatus status = NOLI_OK;
  for (int64_t i = 0; i < n; i++) {
    const float* own = vector + 3 * i;
    NOLI_TRY(noli_file_print(file, "%s(%.9g, %.9g, %.9g)", i > 0 ? ", " : "[", (double)own[0],
                             (double)own[1], (double)own[2]));
  }
  NOLI_TRY(noli_file_print(file, n > 0 ? "]" : "[]"));
done:
  return status;
}

// ---- what varies ----

// Vectors of a prim of this kind in a frame; returns their number.
typedef int64_t VectorsFn(const NoliShape* shape, int32_t kind, const float* x, float* vector);

// The vertices of a mesh; the corners of segments and points, which have no indices.
static int64_t usda_take_points(const NoliShape* shape, int32_t kind, const float* x,
                                float* vector) {
  int64_t n = (int64_t)noli_shape_corners(kind) * shape->n[kind];
  if (kind == NOLI_SHAPE_TRIANGLES) {
    memcpy(vector, x, 3 * sizeof *x * (size_t)shape->n_vert);
    return shape->n_vert;
  }
  for (int64_t i = 0; i < n; i++) {
    memcpy(vector + 3 * i, x + 3 * (int64_t)shape->primitive[kind][i], 3 * sizeof *x);
  }
  return n;
}

static int64_t take_normals(const NoliShape* shape, int32_t kind, const float* x, float* vector) {
  (void)kind;
  noli_shape_normals(shape, x, vector);
  return shape->n_vert;
}

// The smallest and the largest coordinates.
static int64_t take_extent(const NoliShape* shape, int32_t kind, const float* x, float* vector) {
  int64_t n = usda_take_points(shape, kind, x, vector);
  float bound[6];
  for (int k = 0; k < 3; k++) {
    bound[k] = bound[3 + k] = vector[k];
    for (int64_t i = 1; i < n; i++) {
      bound[k] = fminf(bound[k], vector[3 * i + k]);
      bound[3 + k] = fmaxf(bound[3 + k], vector[3 * i + k]);
    }
  }
  memcpy(vector, bound, sizeof bound);
  return 2;
}

// An attribute with a sample for each frame, or with one value for a shape that rests.
static NoliStatus put_attribute(Stage* stage, int32_t index, int32_t kind, const char* name,
                                VectorsFn* take) {
  NoliStatus status = NOLI_OK;
  const NoliExchange* exchange = stage->exchange;
  const NoliShape* shape = &exchange->shape[index];
  int64_t n_frames = shape->moves ? exchange->n_frames : 1;
  NOLI_TRY(noli_file_print(&stage->file, "                %s%s", name,
                           shape->moves ? ".timeSamples = {\n" : " = "));
  for (int64_t f = 0; f < n_frames; f++) {
    int64_t n = take(shape, kind, noli_exchange_positions(exchange, index, f), stage->vector);
    if (shape->moves) {
      NOLI_TRY(noli_file_print(&stage->file, "                    %.17g: ", time_code(stage, f)));
    }
    NOLI_TRY(put_vectors(&stage->file, n, stage->vector));
    NOLI_TRY(noli_file_print(&stage->file, shape->moves ? ",\n" : "\n"));
  }
  NOLI_TRY(noli_file_print(&stage->file, shape->moves ? "                }\n" : ""));
done:
  return status;
}

// ---- what does not ----

// `n` times the same number.
static NoliStatus put_counts(NoliFile* file, const char* name, int32_t n, int32_t count) {
  NoliStatus status = NOLI_OK;
  NOLI_TRY(noli_file_print(file, "                int[] %s = [", name));
  for (int32_t i = 0; i < n; i++) {
    NOLI_TRY(noli_file_print(file, "%s%d", i > 0 ? ", " : "", (int)count));
  }
  NOLI_TRY(noli_file_print(file, "]\n"));
done:
  return status;
}

static NoliStatus put_topology(Stage* stage, const NoliShape* shape, int32_t kind) {
  NoliStatus status = NOLI_OK;
  NoliFile* file = &stage->file;
  if (kind == NOLI_SHAPE_TRIANGLES) {
    NOLI_TRY(put_counts(file, "faceVertexCounts", shape->n[kind], 3));
    NOLI_TRY(noli_file_print(file, "                int[] faceVertexIndices = ["));
    for (int64_t i = 0; i < 3 * (int64_t)shape->n[kind]; i++) {
      NOLI_TRY(noli_file_print(file, "%s%d", i > 0 ? ", " : "", (int)shape->primitive[kind][i]));
    }
    NOLI_TRY(noli_file_print(file,
                             "]\n                uniform token orientation = \"rightHanded\"\n"
                             "                uniform token subdivisionScheme = \"none\"\n"
                             "                uniform bool doubleSided = 1\n"));
  } else {
    NOLI_TRY(noli_file_print(file,
                             "                float[] widths = [%.9g] (\n"
                             "                    interpolation = \"constant\"\n"
                             "                )\n",
                             (double)stage->width));
  }

  if (kind == NOLI_SHAPE_SEGMENTS) {
    NOLI_TRY(put_counts(file, "curveVertexCounts", shape->n[kind], 2));
    NOLI_TRY(noli_file_print(file, "                uniform token type = \"linear\"\n"));
  }
done:
  return status;
}

// Texture coordinates of corners, which need not be those of vertices.
static NoliStatus usda_put_uv(NoliFile* file, const NoliShape* shape) {
  NoliStatus status = NOLI_OK;
  NOLI_TRY(noli_file_print(file, "                texCoord2f[] primvars:st = ["));
  for (int64_t i = 0; i < shape->n_uv; i++) {
    NOLI_TRY(noli_file_print(file, "%s(%.9g, %.9g)", i > 0 ? ", " : "", (double)shape->uv[2 * i],
                             (double)shape->uv[2 * i + 1]));
  }
  NOLI_TRY(noli_file_print(file,
                           "] (\n                    interpolation = \"faceVarying\"\n"
                           "                )\n                int[] primvars:st:indices = ["));
  for (int64_t i = 0; i < 3 * (int64_t)shape->n[NOLI_SHAPE_TRIANGLES]; i++) {
    NOLI_TRY(noli_file_print(file, "%s%d", i > 0 ? ", " : "", (int)shape->corner_uv[i]));
  }
  NOLI_TRY(noli_file_print(file, "]\n"));
done:
  return status;
}

// The beginning of a subset of the triangles, up to those that it has. A group shows its name, a
// material, without one, binds.
static NoliStatus begin_subset(NoliFile* file, const char* name, const char* group) {
  NoliStatus status = NOLI_OK;
  NOLI_TRY(
      noli_file_print(file, "                def GeomSubset \"%s\" (\n                    ", name));
  if (group != NULL) {
    NOLI_TRY(noli_file_print(file, "displayName = "));
    NOLI_TRY(put_string(file, group));
  } else {
    NOLI_TRY(noli_file_print(file, "prepend apiSchemas = [\"MaterialBindingAPI\"]"));
  }
  NOLI_TRY(noli_file_print(file,
                           "\n                )\n                {\n"
                           "                    uniform token elementType = \"face\"\n"
                           "                    uniform token familyName = \"%s\"\n"
                           "                    int[] indices = [",
                           group != NULL ? "group" : "materialBind"));
done:
  return status;
}

static NoliStatus put_range(NoliFile* file, int32_t first, int32_t n, bool begins) {
  NoliStatus status = NOLI_OK;
  for (int32_t t = first; t < first + n; t++) {
    NOLI_TRY(noli_file_print(file, "%s%d", begins && t == first ? "" : ", ", (int)t));
  }
done:
  return status;
}

// The triangles of each material; parts with the same one follow each other.
static NoliStatus put_material_subsets(Stage* stage, const NoliShape* shape) {
  NoliStatus status = NOLI_OK;
  NoliFile* file = &stage->file;
  for (int32_t p = 0; p < shape->n_parts; p++) {
    int32_t material = shape->part[p].material, last = p;
    while (last + 1 < shape->n_parts && shape->part[last + 1].material == material) {
      last++;
    }
    if (material != NOLI_NULL_INDEX) {
      const char* name = stage->exchange->materials.data[material].identifier;
      int32_t end = shape->part[last].first + shape->part[last].n;
      NOLI_TRY(begin_subset(file, name, NULL));
      NOLI_TRY(put_range(file, shape->part[p].first, end - shape->part[p].first, true));
      NOLI_TRY(noli_file_print(file,
                               "]\n                    rel material:binding = "
                               "</World/materials/%s>\n                }\n",
                               name));
    }
    p = last;
  }
done:
  return status;
}

// Whether a part before has the same group.
static bool has_group_before(const NoliShape* shape, int32_t p) {
  for (int32_t k = 0; k < p; k++) {
    if (shape->part[k].group == shape->part[p].group) {
      return true;
    }
  }
  return false;
}

// The triangles of each group, whose name the subset displays.
static NoliStatus put_group_subsets(Stage* stage, const NoliShape* shape) {
  NoliStatus status = NOLI_OK;
  NoliFile* file = &stage->file;
  for (int32_t p = 0; p < shape->n_parts; p++) {
    char name[32];
    if (shape->part[p].group == NULL || has_group_before(shape, p)) {
      continue;
    }
    snprintf(name, sizeof name, "group_%d", (int)p);
    NOLI_TRY(begin_subset(file, name, shape->part[p].group));
    for (int32_t k = p; k < shape->n_parts; k++) {
      if (shape->part[k].group == shape->part[p].group) {
        NOLI_TRY(put_range(file, shape->part[k].first, shape->part[k].n, k == p));
      }
    }
    NOLI_TRY(noli_file_print(file, "]\n                }\n"));
  }
done:
  return status;
}

// A mesh, curves or points of a body.
static NoliStatus put_prim(Stage* stage, int32_t index, int32_t kind, const char* body) {
  static const char* const prims[][2] = {[NOLI_SHAPE_TRIANGLES] = {"Mesh", "surface"},
                                         [NOLI_SHAPE_SEGMENTS] = {"BasisCurves", "segments"},
                                         [NOLI_SHAPE_POINTS] = {"Points", "points"}};
  NoliStatus status = NOLI_OK;
  const NoliShape* shape = &stage->exchange->shape[index];
  const float* colour = shape->colour;
  NoliFile* file = &stage->file;
  NOLI_TRY(noli_file_print(file,
                           "            def %s \"%s\" (\n"
                           "                prepend apiSchemas = [\"MaterialBindingAPI\"]\n"
                           "            )\n            {\n",
                           prims[kind][0], prims[kind][1]));
  NOLI_TRY(put_topology(stage, shape, kind));
  NOLI_TRY(noli_file_print(file,
                           "                rel material:binding = </World/materials/%s>\n"
                           "                color3f[] primvars:displayColor = [(%.6g, %.6g, %.6g)] "
                           "(\n                    interpolation = \"constant\"\n"
                           "                )\n",
                           body, (double)noli_exchange_linear(colour[0]),
                           (double)noli_exchange_linear(colour[1]),
                           (double)noli_exchange_linear(colour[2])));
  NOLI_TRY(put_attribute(stage, index, kind, "float3[] extent", take_extent));
  NOLI_TRY(put_attribute(stage, index, kind, "point3f[] points", usda_take_points));
  if (kind == NOLI_SHAPE_TRIANGLES) {
    NOLI_TRY(noli_file_print(file, "                normal3f[] normals (\n"
                                   "                    interpolation = \"vertex\"\n"
                                   "                )\n"));
    NOLI_TRY(put_attribute(stage, index, kind, "normal3f[] normals", take_normals));
    NOLI_TRY(shape->n_uv > 0 ? usda_put_uv(file, shape) : NOLI_OK);
    NOLI_TRY(put_material_subsets(stage, shape));
    NOLI_TRY(put_group_subsets(stage, shape));
  }

  NOLI_TRY(noli_file_print(file, "            }\n"));
done:
  return status;
}

static NoliStatus put_body(Stage* stage, int32_t index) {
  NoliStatus status = NOLI_OK;
  const NoliExchange* exchange = stage->exchange;
  const NoliShape* shape = &exchange->shape[index];
  char* name = NULL;
  NOLI_TRY(noli_exchange_identifier(exchange, index, &name));
  NOLI_TRY(noli_file_print(&stage->file,
                           "        def Xform \"%s\" (\n            displayName = ", name));
  NOLI_TRY(put_string(&stage->file, shape->name));
  NOLI_TRY(noli_file_print(&stage->file, "\n        )\n        {\n"));
  for (int32_t kind = 0; kind < NOLI_SHAPE_KINDS; kind++) {
    if (shape->n[kind] > 0) {
      NOLI_TRY(put_prim(stage, index, kind, name));
    }
  }
  NOLI_TRY(noli_file_print(&stage->file, "        }\n"));
done:
  noli_free(exchange->context, name);
  return status;
}

// `shown` is what it is called in its file.
static NoliStatus put_material(Stage* stage, const char* name, const char* shown,
                               const float* colour) {
  NoliStatus status = NOLI_OK;
  NOLI_TRY(noli_file_print(&stage->file, "        def Material \"%s\"", name));
  if (shown != NULL) {
    NOLI_TRY(noli_file_print(&stage->file, " (\n            displayName = "));
    NOLI_TRY(put_string(&stage->file, shown));
    NOLI_TRY(noli_file_print(&stage->file, "\n        )"));
  }
  NOLI_TRY(noli_file_print(&stage->file,
                           "\n        {\n"
                           "            token outputs:surface.connect = "
                           "</World/materials/%s/shader.outputs:surface>\n"
                           "            def Shader \"shader\"\n            {\n"
                           "                uniform token info:id = \"UsdPreviewSurface\"\n"
                           "                color3f inputs:diffuseColor = (%.6g, %.6g, %.6g)\n"
                           "                float inputs:roughness = 0.6\n"
                           "                token outputs:surface\n            }\n        }\n",
                           name, (double)noli_exchange_linear(colour[0]),
                           (double)noli_exchange_linear(colour[1]),
                           (double)noli_exchange_linear(colour[2])));
done:
  return status;
}

static NoliStatus put_materials(Stage* stage) {
  NoliStatus status = NOLI_OK;
  const NoliExchange* exchange = stage->exchange;
  char* name = NULL;
  for (int32_t s = 0; s < exchange->n_shapes; s++) {
    NOLI_TRY(noli_exchange_identifier(exchange, s, &name));
    NOLI_TRY(put_material(stage, name, NULL, exchange->shape[s].colour));
    noli_free(exchange->context, name);
    name = NULL;
  }
  for (int32_t m = 0; m < exchange->materials.count; m++) {
    const NoliExchangeMaterial* own = &exchange->materials.data[m];
    NOLI_TRY(put_material(stage, own->identifier, own->name,
                          noli_exchange_material_colour(exchange, m)));
  }
done:
  noli_free(exchange->context, name);
  return status;
}

// The beginning of the file, up to the contents of the root. A stage has y or z upwards; the root
// is turned where the scene has neither.
static NoliStatus put_head(Stage* stage) {
  NoliStatus status = NOLI_OK;
  const NoliExchange* exchange = stage->exchange;
  NoliFile* file = &stage->file;
  bool z_is_up = exchange->up == 2 && !exchange->up_is_down;
  int32_t axis;
  double degrees = noli_exchange_upright(exchange, &axis);
  NOLI_TRY(noli_file_print(file, "#usda 1.0\n(\n    defaultPrim = \"World\"\n    doc = "));
  NOLI_TRY(put_string(file, noli_scene_name(exchange->run.scene)));
  NOLI_TRY(
      noli_file_print(file,
                      "\n    customLayerData = {\n        string creator = \"noli %s\"\n    }\n"
                      "    startTimeCode = 0\n    endTimeCode = %.17g\n"
                      "    timeCodesPerSecond = %.17g\n    framesPerSecond = %.17g\n"
                      "    metersPerUnit = 1\n    upAxis = \"%c\"\n)\n\n"
                      "def Xform \"World\"\n{\n",
                      noli_version(), time_code(stage, exchange->n_frames - 1), stage->rate,
                      stage->rate, z_is_up ? 'Z' : 'Y'));

  if (!z_is_up && degrees != 0.0) {
    NOLI_TRY(noli_file_print(file,
                             "    float xformOp:rotate%c = %g\n"
                             "    uniform token[] xformOpOrder = [\"xformOp:rotate%c\"]\n",
                             "XYZ"[axis], degrees, "XYZ"[axis]));
  }
done:
  return status;
}

static NoliStatus put_stage(Stage* stage) {
  NoliStatus status = NOLI_OK;
  int32_t n = stage->exchange->n_shapes;
  NOLI_TRY(put_head(stage));
  NOLI_TRY(noli_file_print(&stage->file, "    def Scope \"materials\"\n    {\n"));
  NOLI_TRY(put_materials(stage));
  NOLI_TRY(noli_file_print(&stage->file, "    }\n    def Xform \"bodies\"\n    {\n"));
  for (int32_t s = 0; s < n; s++) {
    NOLI_TRY(put_body(stage, s));
  }
  NOLI_TRY(noli_file_print(&stage->file, "    }\n}\n"));
done:
  return status;
}

// A width that can be seen, and the scratch of the largest prim.
static NoliStatus prepare(Stage* stage) {
  NoliStatus status = NOLI_OK;
  const NoliExchange* exchange = stage->exchange;
  float low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
  int64_t most = 2;
  for (int32_t s = 0; s < exchange->n_shapes; s++) {
    const NoliShape* shape = &exchange->shape[s];
    const float* x = noli_exchange_positions(exchange, s, 0);
    for (int64_t i = 0; i < 3 * (int64_t)shape->n_vert; i++) {
      low[i % 3] = fminf(low[i % 3], x[i]);
      high[i % 3] = fmaxf(high[i % 3], x[i]);
    }
    most = shape->n_vert > most ? shape->n_vert : most;
    for (int32_t kind = NOLI_SHAPE_SEGMENTS; kind < NOLI_SHAPE_KINDS; kind++) {
      int64_t n = (int64_t)noli_shape_corners(kind) * shape->n[kind];
      most = n > most ? n : most;
    }
  }
  stage->width =
      (float)(relative_width * hypot(hypot((double)(high[0] - low[0]), (double)(high[1] - low[1])),
                                     (double)(high[2] - low[2])));
  NOLI_NEW(exchange->context, stage->vector, 3 * most);
done:
  return status;
}

static NoliStatus write_usda(NoliExchange* exchange) {
  NoliStatus status = NOLI_OK;
  Stage stage = {
      .exchange = exchange, .file = {.descriptor = -1}, .rate = noli_exchange_rate(exchange)};
  NOLI_TRY(prepare(&stage));
  NOLI_TRY(noli_file_create(exchange->context, exchange->path, &stage.file));
  NOLI_TRY(put_stage(&stage));
  NOLI_TRY(noli_file_commit(&stage.file, false));
done:
  noli_file_abandon(&stage.file);
  noli_free(exchange->context, stage.vector);
  return status;
}

const NoliExchangeFormat noli_exchange_usda = {
    .suffix = ".usda",
    .description = "Universal Scene Description as text, one file with time samples",
    .wants_surfaces = true,
    .write = write_usda,
};
