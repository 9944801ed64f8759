// Binary PLY surfaces, a file for each frame: positions, normals, colours and the number of the
// body at vertices; triangles, segments. Points are vertices of neither. Unlike the PLY frames of
// a run, they have no data of the simulation.
#include "exchange/exchange.h"

#include "noli/version.h"

static NoliStatus ply_put_vertices(const NoliExchange* exchange, NoliFile* file, const float* x) {
  NoliStatus status = NOLI_OK;
  float* normal = NULL;
  NOLI_NEW(exchange->context, normal, 3 * (int64_t)exchange->n_vert);
  for (int32_t s = 0; s < exchange->n_shapes; s++) {
    const NoliShape* shape = &exchange->shape[s];
    const float* own = x + 3 * (int64_t)shape->first;
    unsigned char colour[3];
    int32_t body = exchange->run.layout.vertex_body[shape->vertex[0]];
    for (int k = 0; k < 3; k++) {
      colour[k] = (unsigned char)lroundf(255.0F * shape->colour[k]);
    }
    noli_shape_normals(shape, own, normal);
    for (int64_t v = 0; v < shape->n_vert; v++) {
      NOLI_TRY(noli_exchange_put(file, own + 3 * v, 3));
      NOLI_TRY(noli_exchange_put(file, normal + 3 * v, 3));
      NOLI_TRY(noli_file_write(file, colour, sizeof colour));
      NOLI_TRY(noli_exchange_put(file, &body, 1));
    }
  }
done:
  noli_free(exchange->context, normal);
  return status;
}

// Triangles as lists, segments as pairs.
static NoliStatus put_primitives(const NoliExchange* exchange, NoliFile* file, int32_t kind) {
  NoliStatus status = NOLI_OK;
  int32_t corners = noli_shape_corners(kind);
  const unsigned char three = 3;
  for (int32_t s = 0; s < exchange->n_shapes; s++) {
    const NoliShape* shape = &exchange->shape[s];
    for (int64_t i = 0; i < shape->n[kind]; i++) {
      int32_t number[3];
      for (int32_t k = 0; k < corners; k++) {
        number[k] = shape->first + shape->primitive[kind][corners * i + k];
      }
      if (kind == NOLI_SHAPE_TRIANGLES) {
        NOLI_TRY(noli_file_write(file, &three, 1));
      }
      NOLI_TRY(noli_exchange_put(file, number, corners));
    }
  }
done:
  return status;
}

static NoliStatus put_header(const NoliExchange* exchange, NoliFile* file, int64_t frame) {
  NoliStatus status = NOLI_OK;
  int64_t n[NOLI_SHAPE_KINDS] = {0};
  for (int32_t s = 0; s < exchange->n_shapes; s++) {
    for (int32_t kind = 0; kind < NOLI_SHAPE_KINDS; kind++) {
      n[kind] += exchange->shape[s].n[kind];
    }
  }

  NOLI_TRY(noli_file_print(
      file,
      "ply\nformat binary_little_endian 1.0\ncomment noli %s, metres, up %c%c, time %.17g s\n",
      noli_version(), exchange->up_is_down ? '-' : '+', "xyz"[exchange->up],
      noli_exchange_time(exchange, frame)));
  for (int32_t s = 0; s < exchange->n_shapes; s++) {
    const NoliShape* shape = &exchange->shape[s];
    NOLI_TRY(noli_file_print(
        file, "comment body %d: ", (int)exchange->run.layout.vertex_body[shape->vertex[0]]));
    // a line break within a name would end the comment
    for (const char* c = shape->name; *c != '\0'; c++) {
      NOLI_TRY(noli_file_write(file, *c == '\n' || *c == '\r' ? " " : c, 1));
    }
    NOLI_TRY(noli_file_write(file, "\n", 1));
  }

  NOLI_TRY(noli_file_print(
      file,
      "element vertex %d\nproperty float x\nproperty float y\nproperty float z\n"
      "property float nx\nproperty float ny\nproperty float nz\nproperty uchar red\n"
      "property uchar green\nproperty uchar blue\nproperty int body\n"
      "element face %lld\nproperty list uchar int vertex_indices\n"
      "element edge %lld\nproperty int vertex1\nproperty int vertex2\nend_header\n",
      (int)exchange->n_vert, (long long)n[NOLI_SHAPE_TRIANGLES],
      (long long)n[NOLI_SHAPE_SEGMENTS]));
done:
  return status;
}

static NoliStatus put_frame(const NoliExchange* exchange, NoliFile* file, int64_t frame,
                            const float* x) {
  NoliStatus status = NOLI_OK;
  NOLI_TRY(put_header(exchange, file, frame));
  NOLI_TRY(ply_put_vertices(exchange, file, x));
  NOLI_TRY(put_primitives(exchange, file, NOLI_SHAPE_TRIANGLES));
  NOLI_TRY(put_primitives(exchange, file, NOLI_SHAPE_SEGMENTS));
done:
  return status;
}

static NoliStatus write_ply(NoliExchange* exchange) {
  return noli_exchange_write_sequence(exchange, put_frame);
}

const NoliExchangeFormat noli_exchange_ply = {
    .suffix = ".ply",
    .description = "binary PLY, a file for each frame: NAME_%04d.ply",
    .is_sequence = true,
    .write = write_ply,
};
