// Point caches of Blender and 3ds Max, two files for each body beside the path: NAME_BODY.obj with
// the surface in the first frame, NAME_BODY.pc2 with its vertices in all frames, in the same order.
#include "exchange/exchange_obj.h"

#include <stdio.h>
#include <string.h>

// "NAME_BODY.suffix"
static NoliStatus name_file(const NoliExchange* exchange, int32_t shape, const char* suffix,
                            char** path) {
  NoliStatus status = NOLI_OK;
  char *name = NULL, *ending = NULL;
  NOLI_TRY(noli_exchange_identifier(exchange, shape, &name));
  size_t size = strlen(name) + strlen(suffix) + 2;
  NOLI_NEW(exchange->context, ending, (int64_t)size);
  snprintf(ending, size, "_%s%s", name, suffix);
  NOLI_TRY(noli_exchange_beside(exchange, ending, path));
done:
  noli_free(exchange->context, ending);
  noli_free(exchange->context, name);
  return status;
}

static NoliStatus write_mesh(const NoliExchange* exchange, int32_t shape) {
  NoliStatus status = NOLI_OK;
  NoliFile file = {.descriptor = -1};
  char* path = NULL;
  NOLI_TRY(name_file(exchange, shape, ".obj", &path));
  NOLI_TRY(noli_file_create(exchange->context, path, &file));
  NOLI_TRY(noli_obj_put_head(exchange, &file));
  NOLI_TRY(
      noli_obj_put_shape(exchange, &file, shape, noli_exchange_positions(exchange, shape, 0), 0));
  NOLI_TRY(noli_file_commit(&file, false));
done:
  noli_file_abandon(&file);
  noli_free(exchange->context, path);
  return status;
}

// A header of 32 bytes, then positions. The samples are numbered: a cache knows no seconds.
static NoliStatus write_cache(const NoliExchange* exchange, int32_t shape) {
  NoliStatus status = NOLI_OK;
  static const char signature[12] = "POINTCACHE2";
  const float start_and_rate[] = {0.0F, 1.0F};
  const NoliShape* of = &exchange->shape[shape];
  const int32_t version_and_points[] = {1, of->n_vert};
  const int32_t n_samples = (int32_t)exchange->n_frames;
  NoliFile file = {.descriptor = -1};
  char* path = NULL;
  NOLI_TRY(name_file(exchange, shape, ".pc2", &path));
  NOLI_TRY(noli_file_create(exchange->context, path, &file));
  NOLI_TRY(noli_file_write(&file, signature, sizeof signature));
  NOLI_TRY(noli_exchange_put(&file, version_and_points, 2));
  NOLI_TRY(noli_exchange_put(&file, start_and_rate, 2));
  NOLI_TRY(noli_exchange_put(&file, &n_samples, 1));
  NOLI_TRY(noli_exchange_put(&file, noli_exchange_positions(exchange, shape, 0),
                             3 * exchange->n_frames * of->n_vert));
  NOLI_TRY(noli_file_commit(&file, false));
done:
  noli_file_abandon(&file);
  noli_free(exchange->context, path);
  return status;
}

static NoliStatus write_pc2(NoliExchange* exchange) {
  NoliStatus status = NOLI_OK;
  NOLI_CHECK(exchange->context, exchange->n_frames <= INT32_MAX, NOLI_ERROR_TOO_LARGE,
             "%s: more frames than the format can hold", exchange->path);
  NOLI_TRY(noli_obj_write_materials(exchange));
  for (int32_t s = 0; s < exchange->n_shapes; s++) {
    NOLI_TRY(write_mesh(exchange, s));
    NOLI_TRY(write_cache(exchange, s));
  }
done:
  return status;
}

const NoliExchangeFormat noli_exchange_pc2 = {
    .suffix = ".pc2",
    .description = "point caches, NAME_BODY.pc2 and NAME_BODY.obj for each body",
    .wants_surfaces = true,
    .write = write_pc2,
};
