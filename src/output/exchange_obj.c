#include "output/exchange_obj.h"

#include "noli/version.h"

#include <string.h>

NoliStatus noli_obj_write_materials(const NoliExchange* exchange) {
  NoliStatus status = NOLI_OK;
  NoliFile file = {.descriptor = -1};
  char *path = NULL, *name = NULL;
  NOLI_TRY(noli_exchange_beside(exchange, ".mtl", &path));
  NOLI_TRY(noli_file_create(exchange->context, path, &file));
  for (int32_t s = 0; s < exchange->n_shapes; s++) {
    const float* colour = exchange->shape[s].colour;
    NOLI_TRY(noli_exchange_identifier(exchange, s, &name));
    NOLI_TRY(noli_file_print(&file, "newmtl %s\nKd %.4g %.4g %.4g\nd 1\nillum 2\n\n", name,
                             (double)colour[0], (double)colour[1], (double)colour[2]));
    noli_free(exchange->context, name);
    name = NULL;
  }
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

// Lines for primitives of one kind; only triangles have normals.
static NoliStatus put_primitives(NoliFile* file, const NoliShape* shape, int32_t kind,
                                 int64_t n_before) {
  static const char* const keyword[] = {
      [NOLI_SHAPE_TRIANGLES] = "f", [NOLI_SHAPE_SEGMENTS] = "l", [NOLI_SHAPE_POINTS] = "p"};
  NoliStatus status = NOLI_OK;
  int64_t corners = noli_shape_corners(kind);
  for (int64_t i = 0; i < shape->n[kind]; i++) {
    NOLI_TRY(noli_file_print(file, "%s", keyword[kind]));
    for (int64_t k = 0; k < corners; k++) {
      long long number = n_before + shape->primitive[kind][corners * i + k] + 1;
      NOLI_TRY(kind == NOLI_SHAPE_TRIANGLES ? noli_file_print(file, " %lld//%lld", number, number)
                                            : noli_file_print(file, " %lld", number));
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
  NOLI_TRY(noli_file_print(file, "o %s\nusemtl %s\n", name, name));
  NOLI_TRY(put_vectors(file, "v", shape->n_vert, x));
  NOLI_TRY(put_vectors(file, "vn", shape->n_vert, normal));
  for (int32_t kind = 0; kind < NOLI_SHAPE_KINDS; kind++) {
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
