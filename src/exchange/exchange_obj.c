#include "exchange/exchange_obj.h"

#include "noli/version.h"

#include <string.h>

// The name of a material of a file, which needs another one where two files use one name.
static const char* material_name(const NoliExchange* exchange, int32_t m) {
  const NoliExchangeMaterial* own = &exchange->materials.data[m];
  for (int32_t k = 0; k < m; k++) {
    if (strcmp(exchange->materials.data[k].name, own->name) == 0) {
      return own->identifier;
    }
  }
  return own->name;
}

// Text of any length.
static NoliStatus put_line(NoliFile* file, const char* keyword, const char* text) {
  NoliStatus status = NOLI_OK;
  NOLI_TRY(noli_file_print(file, "%s ", keyword));
  NOLI_TRY(noli_file_write(file, text, strlen(text)));
  NOLI_TRY(noli_file_write(file, "\n", 1));
done:
  return status;
}

static NoliStatus put_file_materials(const NoliExchange* exchange, NoliFile* file) {
  NoliStatus status = NOLI_OK;
  for (int32_t m = 0; m < exchange->materials.count; m++) {
    const float* colour = noli_exchange_material_colour(exchange, m);
    const char* texture = exchange->materials.data[m].texture;
    NOLI_TRY(put_line(file, "newmtl", material_name(exchange, m)));
    NOLI_TRY(noli_file_print(file, "Kd %.4g %.4g %.4g\nd 1\nillum 2\n", (double)colour[0],
                             (double)colour[1], (double)colour[2]));
    NOLI_TRY(texture != NULL ? put_line(file, "map_Kd", texture) : NOLI_OK);
    NOLI_TRY(noli_file_write(file, "\n", 1));
  }
done:
  return status;
}

NoliStatus noli_obj_write_materials(const NoliExchange* exchange) {
  NoliStatus status = NOLI_OK;
  NoliFile file = {.descriptor = -1};
  char *path = NULL, *name = NULL;
  NOLI_TRY(noli_exchange_beside(exchange, ".mtl", &path));
  NOLI_TRY(noli_file_create(exchange->context, path, &file));
  for (int32_t s = 0; s < exchange->n_shapes; s++) {
    const float* colour = exchange->shape[s].colour;
    if (!noli_shape_has_material(&exchange->shape[s])) {
      continue;
    }
    NOLI_TRY(noli_exchange_identifier(exchange, s, &name));
    NOLI_TRY(noli_file_print(&file, "newmtl %s\nKd %.4g %.4g %.4g\nd 1\nillum 2\n\n", name,
                             (double)colour[0], (double)colour[1], (double)colour[2]));
    noli_free(exchange->context, name);
    name = NULL;
  }
  NOLI_TRY(put_file_materials(exchange, &file));
  NOLI_TRY(noli_file_commit(&file, false));
done:
  noli_file_abandon(&file);
  noli_free(exchange->context, name);
  noli_free(exchange->context, path);
  return status;
}

NoliStatus noli_obj_put_head(const NoliExchange* exchange, NoliFile* file) {
  NoliStatus status = NOLI_OK;
  char* path = NULL;
  NOLI_TRY(noli_exchange_beside(exchange, ".mtl", &path));
  NOLI_TRY(noli_file_print(file, "# noli %s, metres, up %c%c\nmtllib ", noli_version(),
                           exchange->up_is_down ? '-' : '+', "xyz"[exchange->up]));
  const char* name = noli_file_name(path);
  NOLI_TRY(noli_file_write(file, name, strlen(name)));
  NOLI_TRY(noli_file_write(file, "\n", 1));
done:
  noli_free(exchange->context, path);
  return status;
}

// "v X Y Z" or "vn X Y Z" for each vertex; nine digits give floats back exactly.
static NoliStatus put_vectors(NoliFile* file, const char* keyword, int32_t n, const float* vector) {
  NoliStatus status = NOLI_OK;
  for (int64_t v = 0; v < n; v++) {
    const float* own = vector + 3 * v;
    NOLI_TRY(noli_file_print(file, "%s %.9g %.9g %.9g\n", keyword, (double)own[0], (double)own[1],
                             (double)own[2]));
  }
done:
  return status;
}

static NoliStatus obj_put_uv(NoliFile* file, const NoliShape* shape) {
  NoliStatus status = NOLI_OK;
  for (int64_t i = 0; i < shape->n_uv; i++) {
    NOLI_TRY(noli_file_print(file, "vt %.9g %.9g\n", (double)shape->uv[2 * i],
                             (double)shape->uv[2 * i + 1]));
  }
done:
  return status;
}

// Triangles, which have normals and perhaps texture coordinates.
static NoliStatus put_triangles(NoliFile* file, const NoliShape* shape, int64_t first, int64_t n,
                                int64_t n_before, int64_t uv_before) {
  NoliStatus status = NOLI_OK;
  for (int64_t i = 3 * first; i < 3 * (first + n); i++) {
    long long number = n_before + shape->primitive[NOLI_SHAPE_TRIANGLES][i] + 1;
    NOLI_TRY(noli_file_print(file, i % 3 == 0 ? "f" : ""));
    NOLI_TRY(shape->n_uv > 0
                 ? noli_file_print(file, " %lld/%lld/%lld", number,
                                   (long long)(uv_before + shape->corner_uv[i] + 1), number)
                 : noli_file_print(file, " %lld//%lld", number, number));
    NOLI_TRY(noli_file_print(file, i % 3 == 2 ? "\n" : ""));
  }
done:
  return status;
}

// The triangles of each part behind its group and its material; those without one have that of the
// shape, `own`.
static NoliStatus put_parts(const NoliExchange* exchange, NoliFile* file, const NoliShape* shape,
                            const char* own, int64_t n_before, int64_t uv_before) {
  NoliStatus status = NOLI_OK;
  for (int32_t p = 0; p < shape->n_parts; p++) {
    const NoliShapePart* part = &shape->part[p];
    NOLI_TRY(part->group != NULL ? put_line(file, "g", part->group) : NOLI_OK);
    NOLI_TRY(put_line(file, "usemtl",
                      part->material != NOLI_NULL_INDEX ? material_name(exchange, part->material)
                                                        : own));
    NOLI_TRY(put_triangles(file, shape, part->first, part->n, n_before, uv_before));
  }
  if (shape->n_parts == 0) {
    NOLI_TRY(put_triangles(file, shape, 0, shape->n[NOLI_SHAPE_TRIANGLES], n_before, uv_before));
  }
done:
  return status;
}

// Texture coordinates of the shapes before, if these are in the same file.
static int64_t count_uv_before(const NoliExchange* exchange, int32_t index, int64_t n_before) {
  int64_t n = 0;
  for (int32_t s = 0; n_before > 0 && s < index; s++) {
    n += exchange->shape[s].n_uv;
  }
  return n;
}

// Lines for segments or points.
static NoliStatus put_primitives(NoliFile* file, const NoliShape* shape, int32_t kind,
                                 int64_t n_before) {
  static const char* const keyword[] = {[NOLI_SHAPE_SEGMENTS] = "l", [NOLI_SHAPE_POINTS] = "p"};
  NoliStatus status = NOLI_OK;
  int64_t corners = noli_shape_corners(kind);
  for (int64_t i = 0; i < shape->n[kind]; i++) {
    NOLI_TRY(noli_file_print(file, "%s", keyword[kind]));
    for (int64_t k = 0; k < corners; k++) {
      long long number = n_before + shape->primitive[kind][corners * i + k] + 1;
      NOLI_TRY(noli_file_print(file, " %lld", number));
    }
    NOLI_TRY(noli_file_write(file, "\n", 1));
  }
done:
  return status;
}

NoliStatus noli_obj_put_shape(const NoliExchange* exchange, NoliFile* file, int32_t index,
                              const float* x, int64_t n_before) {
  NoliStatus status = NOLI_OK;
  const NoliShape* shape = &exchange->shape[index];
  char* name = NULL;
  float* normal = NULL;

  NOLI_TRY(noli_exchange_identifier(exchange, index, &name));
  NOLI_NEW(exchange->context, normal, 3 * (int64_t)shape->n_vert);
  noli_shape_normals(shape, x, normal);
  NOLI_TRY(noli_file_print(file, "o %s\n", name));
  NOLI_TRY(shape->n_parts == 0 ? noli_file_print(file, "usemtl %s\n", name) : NOLI_OK);
  NOLI_TRY(put_vectors(file, "v", shape->n_vert, x));
  NOLI_TRY(put_vectors(file, "vn", shape->n_vert, normal));
  NOLI_TRY(obj_put_uv(file, shape));
  NOLI_TRY(
      put_parts(exchange, file, shape, name, n_before, count_uv_before(exchange, index, n_before)));
  bool has_others = shape->n[NOLI_SHAPE_SEGMENTS] + shape->n[NOLI_SHAPE_POINTS] > 0;
  NOLI_TRY(has_others && shape->n_parts > 0 ? noli_file_print(file, "usemtl %s\n", name) : NOLI_OK);
  for (int32_t kind = NOLI_SHAPE_SEGMENTS; kind < NOLI_SHAPE_KINDS; kind++) {
    NOLI_TRY(put_primitives(file, shape, kind, n_before));
  }
done:
  noli_free(exchange->context, normal);
  noli_free(exchange->context, name);
  return status;
}

static NoliStatus put_frame(const NoliExchange* exchange, NoliFile* file, int64_t frame,
                            const float* x) {
  NoliStatus status = NOLI_OK;
  NOLI_TRY(noli_obj_put_head(exchange, file));
  NOLI_TRY(noli_file_print(file, "# time %.17g s\n", noli_exchange_time(exchange, frame)));
  for (int32_t s = 0; s < exchange->n_shapes; s++) {
    int64_t first = exchange->shape[s].first;
    NOLI_TRY(noli_obj_put_shape(exchange, file, s, x + 3 * first, first));
  }
done:
  return status;
}

static NoliStatus write_obj(NoliExchange* exchange) {
  NoliStatus status = NOLI_OK;
  NOLI_TRY(noli_obj_write_materials(exchange));
  NOLI_TRY(noli_exchange_write_sequence(exchange, put_frame));
done:
  return status;
}

const NoliExchangeFormat noli_exchange_obj = {
    .suffix = ".obj",
    .description = "Wavefront OBJ, a file for each frame: NAME_%04d.obj",
    .is_sequence = true,
    .write = write_obj,
};
