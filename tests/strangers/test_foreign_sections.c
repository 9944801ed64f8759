// Sections and elements that other programs write: strips of triangles in PLY files, and sections
// of Medit files that are empty or do not matter.
#include "mesh/mesh_support.h"

#include "base/byte_order.h"

// Two strips and a face: the surface of a tetrahedron, with a vertex named twice on the way.
static const int32_t strips[] = {0, 2, 1, 3, 3, 0, -1, 2, 0, 3};

enum { N_STRIP = sizeof strips / sizeof *strips };

static void strips_of_triangles(void** state) {
  (void)state;
  const int32_t tri[] = {0, 2, 1, 2, 3, 1, 2, 0, 3};
  NoliContext* context = test_context(1);
  for (int kind = 0; kind < 3; kind++) {
    TestBytes file = {.swap = kind == 2 ? noli_is_little_endian() : !noli_is_little_endian()};
    const char* const formats[] = {"ascii", "binary_little_endian", "binary_big_endian"};
    const float x[12] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1};
    put_string(&file, "ply\nformat ");
    put_string(&file, formats[kind]);
    put_string(&file, " 1.0\nelement vertex 4\nproperty float x\nproperty float y\n"
                      "property float z\nelement tristrips 1\n"
                      "property list int int vertex_indices\nend_header\n");
    if (kind == 0) {
      put_string(&file, "0 0 0\n1 0 0\n0 1 0\n0 0 1\n");
    }
    for (int i = 0; kind > 0 && i < 12; i++) {
      put_f32(&file, x[i]);
    }
    put_i(&file, kind > 0, N_STRIP);
    for (int i = 0; i < N_STRIP; i++) {
      put_i(&file, kind > 0, strips[i]);
    }
    NoliMesh* mesh = must_read(context, "strips.ply", file.data, file.n);
    assert_int_equal(mesh->n_tri, 3);
    assert_memory_equal(mesh->tri, tri, sizeof tri);
    noli_mesh_destroy(context, &mesh);
  }
  test_context_done(&context);
}

// Whatever else the file has is logged, as the elements of which nothing is read.
static void unknown_elements_are_logged(void** state) {
  (void)state;
  static const char text[] =
      "ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\nproperty float y\n"
      "property float z\nelement multi_patch 1\nproperty list int int vertex_indices\n"
      "end_header\n0 0 0\n1 0\n";
  TestLog log;
  NoliContext* context = test_context_log(&log);
  NoliMesh* mesh = must_read(context, "patch.ply", text, sizeof text - 1);
  assert_string_equal(log.text, "patch.ply: not used: element 'multi_patch'\n");
  noli_mesh_destroy(context, &mesh);
  test_context_done(&context);
}

// ---- Medit

#define HEAD                                                                                       \
  "MeshVersionFormatted 2\nDimension\n3\nVertices\n5\n0 0 0 0\n1 0 0 0\n0 1 0 0\n"                 \
  "0.0D0 0.0d+00 1.0D+00 0\n1 1 1 0\n"

static const char* const sections[] = {
    "Hexahedra\n0\n",
    "Quadrilaterals 0 Hexahedra 0 Prisms 0 Pyramids 0 TetrahedraP2 0\n",
    "Hexaedra\n0\n",
    "SubDomainFromMesh\n1\n1 1 1 11\n",
    "SubDomainFromGeom\n2\n2 1 1 11\n2 2 -1 12\n",
    "RequiredTetrahedra\n1\n1\n",
    "RequiredQuadrilaterals\n0\n",
    "NormalAtTriangleVertices\n1\n1 2 3\n",
    "Identifier\n\"a name with Tetrahedra in it\"\n",
    "Geometry\n\"file.mesh\"\n",
    "AngleOfCornerBound 10.0812251129573\n",
    "BoundingBox 0 0 0 1 1 1\n",
    "Normals\n2\n-nan(ind) nan 0\n0 0 1\n",
    "VertexOnGeometricVertex\n0\n",
    "EdgeOnGeometricEdge 0 # none\n",
    "SolAtNothing\n3\n1.0 nan inf\n",
    "Corners\n0\n\nRidges\n0\n",
};

static void sections_that_do_not_matter(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  for (size_t s = 0; s < sizeof sections / sizeof *sections; s++) {
    for (int place = 0; place < 3; place++) {
      TestBytes file = {.n = 0};
      // before, between and after the sections that matter
      put_string(&file, "MeshVersionFormatted 2\nDimension\n3\n");
      put_string(&file, place == 0 ? sections[s] : "");
      put_string(&file, strstr(HEAD, "Vertices"));
      put_string(&file, place == 1 ? sections[s] : "");
      put_string(&file, "Tetrahedra\n2\n1 2 3 4 11\n3 2 5 4 22\n");
      put_string(&file, place == 2 ? sections[s] : "");
      put_string(&file, "End\n");
      NoliMesh* mesh = must_read(context, "sections.mesh", file.data, file.n);
      assert_int_equal(mesh->n_vert, 5);
      assert_int_equal(mesh->n_tet, 2);
      assert_int_equal(mesh->tet_tag[1], 22);
      noli_mesh_destroy(context, &mesh);
    }
  }
  test_context_done(&context);
}

static void unknown_sections_are_logged(void** state) {
  (void)state;
  static const char text[] = HEAD "Tetrahedrons\n1\n1 2 3 4 0\nEnd\n";
  TestLog log;
  NoliContext* context = test_context_log(&log);
  NoliMesh* mesh = must_read(context, "s.mesh", text, sizeof text - 1);
  assert_non_null(strstr(log.text, "s.mesh: the section 'Tetrahedrons' is not known"));
  noli_mesh_destroy(context, &mesh);
  test_context_done(&context);
}

static void other_cells_are_refused(void** state) {
  (void)state;
  static const char text[] = HEAD "Pyramids\n1\n1 2 3 4 5 0\nEnd\n";
  NoliContext* context = test_context(1);
  NoliMesh* mesh = NULL;
  ASSERT_STATUS(read_content(context, "p.mesh", text, sizeof text - 1, &mesh), NOLI_ERROR_FORMAT);
  assert_non_null(strstr(noli_context_message(context), "'Pyramids' is not supported"));
  test_context_done(&context);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(strips_of_triangles),         cmocka_unit_test(unknown_elements_are_logged),
      cmocka_unit_test(sections_that_do_not_matter), cmocka_unit_test(unknown_sections_are_logged),
      cmocka_unit_test(other_cells_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
