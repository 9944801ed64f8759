// Texture coordinates of PLY files, of vertices under their usual names or of the corners of faces,
// are those of the triangles; files that have none, or that are odd, are read as before.
#include "mesh/mesh_support.h"

#include "base/byte_order.h"
#include "mesh/looks.h"

#define VERTICES "element vertex 5\nproperty float x\nproperty float y\nproperty float z\n"

static const float x[5][3] = {{0, 0, 0}, {2, 0, 0}, {1, 0.2F, 0}, {2, 2, 0}, {0, 2, 0}};

// A concave pentagon, and a triangle.
static const int32_t pentagon[] = {0, 2, 1, 3, 4};

enum { N_TRI = 4 };

static NoliMeshLooks read_looks(NoliContext* context, const TestBytes* file) {
  NoliMeshLooks looks;
  write_file("t.ply", file->data, file->n);
  NoliStatus status = noli_mesh_read_looks(context, "t.ply", &looks);
  remove("t.ply");
  if (status != NOLI_OK) {
    print_error("%s\n", noli_context_message(context));
  }
  assert_int_equal(status, NOLI_OK);
  return looks;
}

static void put_x(TestBytes* file, bool binary, float value) {
  char text[32];
  snprintf(text, sizeof text, "%g ", (double)value);
  if (binary) {
    put_f32(file, value);
  } else {
    put_string(file, text);
  }
}

// The coordinates of a corner, by its vertex and the face.
static float u_of(int32_t vertex, int face) {
  return 0.125F * (float)vertex + 0.03125F * (float)face;
}
static float v_of(int32_t vertex, int face) {
  return 1.0F - 2.0F * u_of(vertex, face);
}

// `names`: of the properties of vertices; NULL: of corners.
static void put_textured(TestBytes* file, int kind, const char* const names[2], bool first) {
  static const char* const formats[] = {"ascii", "binary_little_endian", "binary_big_endian"};
  static const int32_t tri[] = {1, 3, 4};
  bool binary = kind > 0;
  file->swap = kind == 2 ? noli_is_little_endian() : !noli_is_little_endian();
  put_string(file, "ply\nformat ");
  put_string(file, formats[kind]);
  put_string(file, " 1.0\n" VERTICES);
  for (int k = 0; names != NULL && k < 2; k++) {
    put_string(file, "property float ");
    put_string(file, names[k]);
    put_string(file, "\n");
  }
  const char* const lists[] = {"property list int float texcoord\n",
                               "property list int int vertex_indices\n"};
  put_string(file, "element face 2\n");
  put_string(file, names == NULL && first ? lists[0] : "");
  put_string(file, lists[1]);
  put_string(file, names == NULL && !first ? lists[0] : "");
  put_string(file, "end_header\n");
  for (int32_t i = 0; i < 5; i++) {
    for (int k = 0; k < 3; k++) {
      put_x(file, binary, x[i][k]);
    }
    if (names != NULL) {
      put_x(file, binary, u_of(i, 0));
      put_x(file, binary, v_of(i, 0));
    }
    put_string(file, binary ? "" : "\n");
  }
  for (int f = 0; f < 2; f++) {
    const int32_t* corner = f == 0 ? pentagon : tri;
    int32_t n = f == 0 ? 5 : 3;
    for (int part = 0; part < 2; part++) {
      bool is_texture = (part == 0) == first;
      if (is_texture && names != NULL) {
        continue;
      }
      put_i(file, binary, is_texture ? 2 * n : n);
      for (int32_t i = 0; i < n; i++) {
        if (is_texture) {
          put_x(file, binary, u_of(corner[i], f));
          put_x(file, binary, v_of(corner[i], f));
        } else {
          put_i(file, binary, corner[i]);
        }
      }
    }
    put_string(file, binary ? "" : "\n");
  }
}

static void assert_textured(const NoliMeshLooks* looks, bool of_corners) {
  assert_int_equal(looks->n_tri, N_TRI);
  assert_int_equal(looks->materials.count, 0);
  for (int32_t k = 0; k < 3 * N_TRI; k++) {
    int face = of_corners && k >= 9 ? 1 : 0;
    assert_true(looks->corner_uv[k] >= 0);
    const double* uv = looks->uv.data + 2 * (ptrdiff_t)looks->corner_uv[k];
    assert_true(uv[0] == (double)u_of(looks->vertex[k], face));
    assert_true(uv[1] == (double)v_of(looks->vertex[k], face));
    assert_int_equal(looks->material[k / 3], NOLI_NULL_INDEX);
  }
}

static void coordinates_of_vertices_and_corners(void** state) {
  (void)state;
  static const char* const names[][2] = {
      {"s", "t"}, {"u", "v"}, {"texture_u", "texture_v"}, {"texture_s", "texture_t"}};
  NoliContext* context = test_context(1);
  for (int kind = 0; kind < 3; kind++) {
    for (int i = 0; i < 6; i++) {
      TestBytes file = {.n = 0};
      put_textured(&file, kind, i < 4 ? names[i] : NULL, i == 5);
      NoliMeshLooks looks = read_looks(context, &file);
      assert_textured(&looks, i >= 4);
      noli_mesh_free_looks(context, &looks);

      // the mesh is the same with and without
      NoliMesh* mesh = must_read(context, "t.ply", file.data, file.n);
      assert_int_equal(mesh->n_tri, N_TRI);
      noli_mesh_destroy(context, &mesh);
    }
  }
  test_context_done(&context);
}

// Lists of another length, and values that are no numbers.
static void odd_coordinates(void** state) {
  (void)state;
  static const char head[] = "ply\nformat ascii 1.0\n" VERTICES;
  static const char points[] = "0 0 0\n1 0 0\n1 1 0\n0 1 0\n2 2 2\n";
  NoliContext* context = test_context(1);
  TestBytes file = {.n = 0};
  put_string(&file, head);
  put_string(&file, "element face 3\nproperty list uchar int vertex_indices\n"
                    "property list uchar float texcoord\nend_header\n");
  put_string(&file, points);
  put_string(&file, "3 0 1 2 6 0 0 -nan(ind) inf 1 1\n3 0 2 3 0\n3 1 2 4 4 0 0 1 1\n");
  NoliMeshLooks looks = read_looks(context, &file);
  assert_int_equal(looks.n_tri, 3);
  for (int k = 0; k < 9; k++) {
    assert_true((looks.corner_uv[k] >= 0) == (k < 3));
  }
  const double* uv = looks.uv.data;
  assert_true(uv[2] == 0.0 && uv[3] == 0.0 && uv[4] == 1.0);
  noli_mesh_free_looks(context, &looks);

  // without any
  TestBytes plain = {.n = 0};
  put_string(&plain, head);
  put_string(&plain, "element face 1\nproperty list uchar int vertex_indices\nend_header\n");
  put_string(&plain, points);
  put_string(&plain, "3 0 1 2\n");
  looks = read_looks(context, &plain);
  assert_int_equal(looks.n_tri, 0);
  noli_mesh_free_looks(context, &looks);
  test_context_done(&context);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(coordinates_of_vertices_and_corners),
      cmocka_unit_test(odd_coordinates),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
