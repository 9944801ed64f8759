// Values that nobody uses may be anything that programs write for them, in every format; those that
// matter must be numbers. STL files are told apart by their content.
#include "mesh/mesh_support.h"

#include "base/byte_order.h"

static const char* const odd[] = {"-nan(ind)", "1.#IND",    "-1.#QNAN", "nan",      "inf",
                                  "-Infinity", "nan(snan)", "****",     "1.#INF00", "N/A"};

enum { N_ODD = sizeof odd / sizeof *odd };

// The place of the value is %s; what follows it must be read, too.
static const struct {
  const char* path;
  const char* text;
  int n_tri, n_tet;
} unused[] = {
    {"u.stl",
     "solid s\nfacet normal 0 %s 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\n"
     "endloop\nendfacet\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 0 1 0\n"
     "vertex 0 0 1\nendloop\nendfacet\nendsolid s\n",
     2, 0},
    {"u.ply",
     "ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nproperty float y\n"
     "property float z\nproperty float nx\nproperty list uchar float w\nelement face 1\n"
     "property float q\nproperty list uchar int vertex_indices\nend_header\n"
     "0 0 0 %s 1 0\n1 0 0 0 2 %1$s 0\n0 1 0 0 0\n%1$s 3 0 1 2\n",
     1, 0},
    {"u.obj", "v 0 0 0 %s\nvn %1$s 0 0\nvt %1$s\nv 1 0 0\nv 0 1 0\nf 1//1 2/%1$s 3\n", 1, 0},
    {"u.vtk",
     "# vtk DataFile Version 3.0\nt\nASCII\nDATASET POLYDATA\nPOINTS 3 float\n0 0 0 1 0 0 0 1 0\n"
     "POLYGONS 1 4\n3 0 1 2\nPOINT_DATA 3\nNORMALS n float\n%s 0 0 0 0 0 0 0 %1$s\n"
     "SCALARS s float\nLOOKUP_TABLE default\n%1$s\n1\n2\nCELL_DATA 1\nSCALARS tag int\n"
     "LOOKUP_TABLE default\n7\n",
     1, 0},
    {"u.mesh",
     "MeshVersionFormatted 2\nDimension 3\nVertices\n4\n0 0 0 %s\n1 0 0 0\n0 1 0 0\n0 0 1 0\n"
     "Normals\n1\n%1$s 0 0\nTetrahedra\n1\n1 2 3 4 7\nEnd\n",
     0, 1},
    {"u.inp",
     "*NODE\n1, 0, 0, 0, %s, 0, %1$s\n2, 1, 0, 0\n3, 0, 1, 0\n4, 0, 0, 1\n"
     "*ELEMENT, TYPE=C3D4\n1, 1, 2, 3, 4\n",
     0, 1},
    {"u.msh",
     "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$Entities\n0 0 0 1\n1 %s 0 0 1 1 %1$s 1 7 0\n"
     "$EndEntities\n$Nodes\n1 4 1 4\n3 1 1 4\n1\n2\n3\n4\n0 0 0 %1$s 0 0\n1 0 0 0 0 0\n"
     "0 1 0 0 0 0\n0 0 1 0 0 %1$s\n$EndNodes\n$Elements\n1 1 1 1\n3 1 4 1\n1 1 2 3 4\n"
     "$EndElements\n",
     0, 1},
};

enum { N_UNUSED = sizeof unused / sizeof *unused };

// Replaces both forms of the place.
static size_t fill(const char* text, const char* value, char* out) {
  size_t n = 0;
  for (const char* at = text; *at != '\0';) {
    size_t skip = strncmp(at, "%s", 2) == 0 ? 2 : strncmp(at, "%1$s", 4) == 0 ? 4 : 0;
    if (skip > 0) {
      memcpy(out + n, value, strlen(value));
      n += strlen(value);
      at += skip;
    } else {
      out[n++] = *at++;
    }
  }
  return n;
}

static void unused_values_may_be_anything(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  char text[2000];
  for (int u = 0; u < N_UNUSED; u++) {
    for (int k = 0; k < N_ODD; k++) {
      // a slash divides references of OBJ
      size_t n = fill(unused[u].text, odd[k], text);
      NoliMesh* mesh = must_read(context, unused[u].path, text, n);
      assert_int_equal(mesh->n_tri, unused[u].n_tri);
      assert_int_equal(mesh->n_tet, unused[u].n_tet);
      for (int32_t i = 0; i < 3 * mesh->n_vert; i++) {
        assert_true(mesh->x[i] == 0.0 || mesh->x[i] == 1.0);
      }
      noli_mesh_destroy(context, &mesh);
    }
  }
  test_context_done(&context);
}

static void coordinates_are_numbers(void** state) {
  (void)state;
  static const struct {
    const char* path;
    const char* text;
  } files[] = {
      {"u.stl", "solid s\nfacet normal 0 0 1\nouter loop\nvertex 0 %s 0\nvertex 1 0 0\n"
                "vertex 0 1 0\nendloop\nendfacet\nendsolid s\n"},
      {"u.obj", "v 0 0 0\nv 1 %s 0\nv 0 1 0\nf 1 2 3\n"},
      {"u.ply", "ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nproperty float y\n"
                "property float z\nelement face 1\nproperty list uchar int vertex_indices\n"
                "end_header\n0 0 %s\n1 0 0\n0 1 0\n3 0 1 2\n"},
      {"u.inp", "*NODE\n1, 0, %s, 0\n2, 1, 0, 0\n3, 0, 1, 0\n*ELEMENT, TYPE=S3\n1, 1, 2, 3\n"},
      {"u.mesh", "MeshVersionFormatted 2\nDimension 3\nVertices\n3\n0 0 %s 0\n1 0 0 0\n0 1 0 0\n"
                 "Triangles\n1\n1 2 3 7\nEnd\n"},
      {"u.vtk", "# vtk DataFile Version 3.0\nt\nASCII\nDATASET POLYDATA\nPOINTS 3 float\n"
                "%s 0 0 1 0 0 0 1 0\nPOLYGONS 1 4\n3 0 1 2\n"},
  };
  NoliContext* context = test_context(1);
  char text[2000];
  for (size_t f = 0; f < sizeof files / sizeof *files; f++) {
    NoliMesh* mesh = NULL;
    size_t n = fill(files[f].text, "-nan(ind)", text);
    ASSERT_STATUS(read_content(context, files[f].path, text, n, &mesh), NOLI_ERROR_FORMAT);
    assert_non_null(strstr(noli_context_message(context), "expected a coordinate"));
  }
  test_context_done(&context);
}

// ---- STL

static TestBytes binary_stl(const char* header, int n_tri, int n_announced, int n_trailing) {
  TestBytes file = {.swap = !noli_is_little_endian()};
  const float x[2][9] = {{0, 0, 0, 1, 0, 0, 0, 1, 0}, {0, 0, 0, 0, 1, 0, 0, 0, 1}};
  put_string(&file, header);
  while (file.n < 80) {
    put_u8(&file, 0);
  }
  put_i32(&file, n_announced);
  for (int t = 0; t < n_tri; t++) {
    for (int i = 0; i < 3; i++) {
      put_f32(&file, NAN);
    }
    for (int i = 0; i < 9; i++) {
      put_f32(&file, x[t][i]);
    }
    put_u8(&file, 0);
    put_u8(&file, 0);
  }
  for (int i = 0; i < n_trailing; i++) {
    put_u8(&file, (uint8_t)('\n' + i));
  }
  return file;
}

static void binary_stl_with_any_header(void** state) {
  (void)state;
  static const char* const headers[] = {
      "solid SOLIDWORKS part", "solid", "SOLID x", "part", "",
      // filled up with blanks
      "solid made by something                                                         ",
      "\xef\xbb\xbfsolid"};
  static const int trailing[] = {0, 1, 2, 50, 300};
  TestLog log;
  NoliContext* context = test_context_log(&log);
  for (size_t h = 0; h < sizeof headers / sizeof *headers; h++) {
    for (size_t t = 0; t < sizeof trailing / sizeof *trailing; t++) {
      TestBytes file = binary_stl(headers[h], 2, 2, trailing[t]);
      log.text[0] = '\0';
      NoliMesh* mesh = must_read(context, "b.stl", file.data, file.n);
      assert_int_equal(mesh->n_tri, 2);
      assert_int_equal(mesh->n_vert, 4);
      assert_int_equal(strstr(log.text, "bytes after the last triangle") != NULL, trailing[t] > 0);
      noli_mesh_destroy(context, &mesh);
    }
    // one triangle less than announced
    TestBytes file = binary_stl(headers[h], 2, 3, 0);
    NoliMesh* mesh = NULL;
    ASSERT_STATUS(read_content(context, "b.stl", file.data, file.n, &mesh), NOLI_ERROR_FORMAT);
    assert_true(strstr(noli_context_message(context), "3 triangles do not fit") != NULL ||
                strlen(headers[h]) == 80);
  }
  test_context_done(&context);
}

// Text with a name of any length, a solid after the other, and normals that lack words.
static void text_stl_of_any_kind(void** state) {
  (void)state;
  static const char* const normals[] = {"normal 0 0 1", "normal", "normal nan nan",
                                        "normal 0 0 1 "};
  NoliContext* context = test_context(1);
  for (size_t k = 0; k < sizeof normals / sizeof *normals; k++) {
    for (int blanks = 0; blanks < 100; blanks += 33) {
      TestBytes file = {.n = 0};
      for (int solid = 0; solid < 2; solid++) {
        put_string(&file, "solid name of a part");
        for (int i = 0; i < blanks; i++) {
          put_string(&file, " ");
        }
        put_string(&file, "\nfacet ");
        put_string(&file, normals[k]);
        put_string(&file, "\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 ");
        put_string(&file, solid == 0 ? "0" : "1");
        put_string(&file, "\nendloop\nendfacet\nendsolid\n");
      }
      NoliMesh* mesh = must_read(context, "t.stl", file.data, file.n);
      assert_int_equal(mesh->n_tri, 2);
      noli_mesh_destroy(context, &mesh);
    }
  }
  test_context_done(&context);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(unused_values_may_be_anything),
      cmocka_unit_test(coordinates_are_numbers),
      cmocka_unit_test(binary_stl_with_any_header),
      cmocka_unit_test(text_stl_of_any_kind),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
