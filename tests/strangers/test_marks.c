// Editors begin text with a byte order mark, and some programs end lines with a carriage return
// only: every reader of text takes both, and reads the same.
#include "mesh/mesh_support.h"

#include "noli/import.h"

// The same tetrahedron, triangle or segment in every format of meshes.
static const struct {
  const char* path;
  const char* text;
} files[] = {
    {"mark.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 2 3\nf 1 2 4\n"},
    {"mark.ply", "ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nproperty float y\n"
                 "property float z\nelement face 1\nproperty list uchar int vertex_indices\n"
                 "end_header\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n"},
    {"mark.stl", "solid s\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\n"
                 "vertex 0 1 0\nendloop\nendfacet\nendsolid s\n"},
    {"mark.vtk", "# vtk DataFile Version 3.0\nt\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS 4 float\n"
                 "0 0 0 1 0 0 0 1 0 0 0 1\nCELLS 1 5\n4 0 1 2 3\nCELL_TYPES 1\n10\n"},
    {"mark.msh", "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n4\n1 0 0 0\n2 1 0 0\n3 0 1 0\n"
                 "4 0 0 1\n$EndNodes\n$Elements\n1\n1 4 2 7 1 1 2 3 4\n$EndElements\n"},
    {"mark.mesh", "MeshVersionFormatted 2\nDimension 3\n# four\nVertices\n4\n0 0 0 0\n1 0 0 0\n"
                  "0 1 0 0\n0 0 1 0\nTetrahedra\n1\n1 2 3 4 7\nEnd\n"},
    {"mark.inp", "*NODE\n1, 0, 0, 0\n2, 1, 0, 0\n3, 0, 1, 0\n4, 0, 0, 1\n"
                 "*ELEMENT, TYPE=C3D4, ELSET=soft\n1, 1, 2, 3, 4\n"},
    {"mark.seg", "v 0 0 0\nv 1 0 0\nv 0 1 0\ns 1 2\ns 2 3\n"},
    {"mark.pt", "v 0 0 0\nv 1 0 0\nv 0 1 0\n"},
};

enum { N_FILE = sizeof files / sizeof *files };

// The text with a mark before it, or with other line ends.
static void change(const char* text, bool mark, char end, TestBytes* bytes) {
  bytes->n = 0;
  put_string(bytes, mark ? "\xef\xbb\xbf" : "");
  size_t first = bytes->n;
  put_string(bytes, text);
  for (size_t i = first; i < bytes->n; i++) {
    bytes->data[i] = bytes->data[i] == '\n' ? end : bytes->data[i];
  }
}

static void meshes_read_the_same(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  for (int f = 0; f < N_FILE; f++) {
    NoliMesh* plain = must_read(context, files[f].path, files[f].text, strlen(files[f].text));
    assert_true(plain->n_vert >= 3);
    for (int mark = 0; mark < 2; mark++) {
      for (int end = 0; end < 2; end++) {
        TestBytes bytes;
        change(files[f].text, mark == 1, end == 1 ? '\r' : '\n', &bytes);
        if (end == 1 && mark == 1) {
          put_string(&bytes, "\n");
        }
        NoliMesh* mesh = must_read(context, files[f].path, bytes.data, bytes.n);
        assert_same_mesh(mesh, plain);
        noli_mesh_destroy(context, &mesh);
      }
    }
    noli_mesh_destroy(context, &plain);
  }
  test_context_done(&context);
}

// Lines of messages count from the mark on.
static void messages_name_the_line(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  NoliMesh* mesh = NULL;
  TestBytes bytes;
  change("v 0 0 0\nv 1 0 0\nv x 0 0\n", true, '\r', &bytes);
  ASSERT_STATUS(read_content(context, "mark.obj", bytes.data, bytes.n, &mesh), NOLI_ERROR_FORMAT);
  assert_non_null(strstr(noli_context_message(context), "mark.obj:3: expected a coordinate"));
  test_context_done(&context);
}

static NoliScene* must_load(NoliContext* context, const char* path, const char* text, bool mark,
                            char end) {
  NoliScene* scene = NULL;
  TestBytes bytes;
  change(text, mark, end, &bytes);
  write_file(path, bytes.data, bytes.n);
  NoliStatus status = noli_import_load(context, path, NULL, 0, &scene);
  remove(path);
  if (status != NOLI_OK) {
    print_error("%s\n", noli_context_message(context));
  }
  assert_int_equal(status, NOLI_OK);
  return scene;
}

// Native scenes, those of IPC and PolyFEM, and the file that `common` of the latter names.
static void scenes_read_the_same(void** state) {
  (void)state;
  static const char mesh[] =
      "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n4\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n"
      "$EndNodes\n$Elements\n1\n1 4 2 7 1 1 2 3 4\n$EndElements\n";
  static const struct {
    const char* path;
    const char* text;
  } scenes[] = {
      {"mark.json", "{\n\"time\": {\"step\": 0.1, \"duration\": 1}, \"bodies\": [{\"mesh\": "
                    "\"mark_tet.msh\"}]}\n"},
      {"mark.txt", "energy NH\ntimeIntegration BE\ntime 1 0.01\ndensity 1000\n"
                   "stiffness 1e5 0.4\nshapes input 1\nmark_tet.msh 0 0 0 0 0 0 1 1 1\n"},
      {"mark_poly.json",
       "{\n\"common\": \"mark_common.json\", \"time\": {\"tend\": 1, \"dt\": 0.1}}"},
  };
  TestBytes common;
  change("{\"geometry\": [{\"mesh\": \"mark_tet.msh\", \"volume_selection\": 1}],\n\"materials\": "
         "{\"type\": \"NeoHookean\", \"E\": 1e5, \"nu\": 0.3, \"rho\": 1000}}",
         true, '\n', &common);
  NoliContext* context = test_context(1);
  write_file("mark_tet.msh", mesh, sizeof mesh - 1);
  write_file("mark_common.json", common.data, common.n);
  for (size_t s = 0; s < sizeof scenes / sizeof *scenes; s++) {
    NoliScene* plain = must_load(context, scenes[s].path, scenes[s].text, false, '\n');
    char* expected = NULL;
    ASSERT_OK(noli_scene_json(plain, &expected));
    for (int change_it = 0; change_it < 2; change_it++) {
      NoliScene* scene =
          must_load(context, scenes[s].path, scenes[s].text, true, change_it == 1 ? '\r' : '\n');
      char* json = NULL;
      ASSERT_OK(noli_scene_json(scene, &json));
      assert_string_equal(json, expected);
      noli_scene_free_text(context, &json);
      noli_scene_destroy(&scene);
    }
    noli_scene_free_text(context, &expected);
    noli_scene_destroy(&plain);
  }
  remove("mark_tet.msh");
  remove("mark_common.json");
  test_context_done(&context);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(meshes_read_the_same),
      cmocka_unit_test(messages_name_the_line),
      cmocka_unit_test(scenes_read_the_same),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
