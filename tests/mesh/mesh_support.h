// Helpers of the mesh tests: they build files from bytes, compare meshes and measure shapes.
#pragma once

#include "support.h"

#include "noli/mesh.h"

// Bytes of a file under construction.
typedef struct TestBytes {
  char data[8192];
  size_t n;
  bool swap; // write numbers in the other byte order
} TestBytes;

static inline void put_bytes(TestBytes* bytes, const void* value, size_t size) {
  assert_true(bytes->n + size <= sizeof bytes->data);
  for (size_t i = 0; i < size; i++) {
    bytes->data[bytes->n++] = ((const char*)value)[bytes->swap ? size - 1 - i : i];
  }
}

static inline void put_string(TestBytes* bytes, const char* text) {
  assert_true(bytes->n + strlen(text) <= sizeof bytes->data);
  memcpy(bytes->data + bytes->n, text, strlen(text));
  bytes->n += strlen(text);
}

static inline void put_i32(TestBytes* bytes, int32_t value) {
  put_bytes(bytes, &value, 4);
}
static inline void put_u64(TestBytes* bytes, uint64_t value) {
  put_bytes(bytes, &value, 8);
}
static inline void put_f64(TestBytes* bytes, double value) {
  put_bytes(bytes, &value, 8);
}
static inline void put_f32(TestBytes* bytes, float value) {
  put_bytes(bytes, &value, 4);
}
static inline void put_u8(TestBytes* bytes, uint8_t value) {
  put_bytes(bytes, &value, 1);
}

// An integer of a file that may be binary, as text otherwise.
static inline void put_i(TestBytes* file, bool binary, int32_t value) {
  char text[20];
  snprintf(text, sizeof text, "%d ", (int)value);
  if (binary) {
    put_i32(file, value);
  } else {
    put_string(file, text);
  }
}

static inline void write_file(const char* path, const char* data, size_t n) {
  FILE* file = fopen(path, "wb");
  assert_non_null(file);
  assert_int_equal(fwrite(data, 1, n, file), n);
  assert_int_equal(fclose(file), 0);
}

// Reads a mesh from a file with the given content.
static inline NoliStatus read_content(NoliContext* context, const char* path, const char* data,
                                      size_t n, NoliMesh** mesh) {
  write_file(path, data, n);
  NoliStatus status = noli_mesh_read(context, path, mesh);
  remove(path);
  return status;
}

static inline NoliMesh* must_read(NoliContext* context, const char* path, const char* data,
                                  size_t n) {
  NoliMesh* mesh = NULL;
  NoliStatus status = read_content(context, path, data, n, &mesh);
  if (status != NOLI_OK) {
    print_error("%s\n", noli_context_message(context));
  }
  assert_int_equal(status, NOLI_OK);
  return mesh;
}

// Reads a mesh with its sets and their faces.
static inline NoliMesh* read_sides(NoliContext* context, const char* path, const char* text,
                                   NoliMeshSets* sets, NoliMeshSides* sides) {
  NoliMesh* mesh = NULL;
  write_file(path, text, strlen(text));
  NoliStatus status = noli_mesh_read_sides(context, path, &mesh, sets, sides);
  remove(path);
  if (status != NOLI_OK) {
    print_error("%s\n", noli_context_message(context));
  }
  assert_int_equal(status, NOLI_OK);
  assert_int_equal(sides->n, sets->n);
  return mesh;
}

// Whether a set has these faces, as sorted vertices, and its vertices are those of its faces.
static inline void assert_faces(const NoliMeshSets* sets, const NoliMeshSides* sides,
                                const char* name, int n, const int32_t* face) {
  for (int32_t s = 0; s < sets->n; s++) {
    if (strcmp(sets->name[s], name) != 0) {
      continue;
    }
    assert_int_equal(sides->first[s + 1] - sides->first[s], n);
    for (int f = 0; f < n; f++) {
      int found = 0;
      for (int64_t k = sides->first[s]; k < sides->first[s + 1]; k++) {
        int same = 0;
        for (int i = 0; i < 9; i++) {
          same += sides->tri[3 * k + i / 3] == face[3 * f + i % 3];
        }
        found += same == 3;
      }
      assert_int_equal(found, 1);
    }
    for (int64_t i = sets->first[s]; n > 0 && i < sets->first[s + 1]; i++) {
      bool used = false;
      for (int k = 0; k < 3 * n; k++) {
        used = used || face[k] == sets->vertex[i];
      }
      assert_true(used);
    }
    return;
  }
  fail_msg("there is no set %s", name);
}

static inline void assert_same_array(const void* a, const void* b, int64_t count, size_t size) {
  assert_true((a == NULL) == (b == NULL));
  if (a != NULL) {
    assert_memory_equal(a, b, (size_t)count * size);
  }
}

static inline void assert_same_mesh(const NoliMesh* a, const NoliMesh* b) {
  assert_int_equal(a->n_vert, b->n_vert);
  assert_int_equal(a->n_tet, b->n_tet);
  assert_int_equal(a->n_tri, b->n_tri);
  assert_int_equal(a->n_edge, b->n_edge);
  assert_int_equal(a->n_point, b->n_point);
  assert_same_array(a->x, b->x, 3 * (int64_t)a->n_vert, sizeof(double));
  assert_same_array(a->tet, b->tet, 4 * (int64_t)a->n_tet, 4);
  assert_same_array(a->tri, b->tri, 3 * (int64_t)a->n_tri, 4);
  assert_same_array(a->edge, b->edge, 2 * (int64_t)a->n_edge, 4);
  assert_same_array(a->point, b->point, a->n_point, 4);
  assert_same_array(a->tet_tag, b->tet_tag, a->n_tet, 4);
  assert_same_array(a->tri_tag, b->tri_tag, a->n_tri, 4);
}

static inline void subtract(const double* a, const double* b, double out[3]) {
  for (int i = 0; i < 3; i++) {
    out[i] = a[i] - b[i];
  }
}

static inline double dot(const double a[3], const double b[3]) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static inline void cross(const double a[3], const double b[3], double out[3]) {
  out[0] = a[1] * b[2] - a[2] * b[1];
  out[1] = a[2] * b[0] - a[0] * b[2];
  out[2] = a[0] * b[1] - a[1] * b[0];
}

static inline double tet_volume(const NoliMesh* mesh, int32_t t) {
  const int32_t* tet = mesh->tet + 4 * (int64_t)t;
  double e[3][3], n[3];
  for (int i = 0; i < 3; i++) {
    subtract(mesh->x + 3 * (int64_t)tet[i + 1], mesh->x + 3 * (int64_t)tet[0], e[i]);
  }
  cross(e[0], e[1], n);
  return dot(n, e[2]) / 6.0;
}

// Volume inside closed outward triangles.
static inline double enclosed_volume(const double* x, const int32_t* tri, int32_t n_tri) {
  double sum = 0.0;
  for (int64_t t = 0; t < n_tri; t++) {
    double n[3];
    cross(x + 3 * (int64_t)tri[3 * t], x + 3 * (int64_t)tri[3 * t + 1], n);
    sum += dot(n, x + 3 * (int64_t)tri[3 * t + 2]) / 6.0;
  }
  return sum;
}
