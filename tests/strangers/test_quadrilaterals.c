// Quadrilaterals of Gmsh, Medit and Abaqus files become triangles that lie in them, whichever
// vertex comes first; their tags, sets and faces are those of these triangles.
#include "mesh/mesh_support.h"

#include "math/vec3.h"

// A dart, concave at its third vertex; a quadrilateral that names a vertex twice; a triangle.
static const double x[6][2] = {{0, 0}, {3, -2}, {1, 0}, {3, 2}, {0, -2}, {0, 2}};
static const int32_t dart[2][3] = {{0, 1, 2}, {0, 2, 3}};

enum { N_NODE = 6, N_TRI = 4 };

typedef struct Text {
  char data[4000];
} Text;

static void add(Text* text, const char* more) {
  size_t n = strlen(text->data);
  assert_true(n + strlen(more) < sizeof text->data);
  memcpy(text->data + n, more, strlen(more) + 1);
}

// Nodes as lines: their number before, or the end of the line after, the coordinates.
static void add_nodes(Text* text, const char* separator, bool numbered, const char* end) {
  for (int i = 0; i < N_NODE; i++) {
    char line[80], number[12] = "";
    snprintf(number, sizeof number, "%d", i + 1);
    snprintf(line, sizeof line, "%s%s%g%s%g%s0%s\n", numbered ? number : "",
             numbered ? separator : "", x[i][0], separator, x[i][1], separator, end);
    add(text, line);
  }
}

// The vertices of the dart from one of them on.
static void add_dart(Text* text, const char* before, const char* separator, int first,
                     const char* end) {
  char line[80];
  snprintf(line, sizeof line, "%s%d%s%d%s%d%s%d%s\n", before, first % 4 + 1, separator,
           (first + 1) % 4 + 1, separator, (first + 2) % 4 + 1, separator, (first + 3) % 4 + 1,
           end);
  add(text, line);
}

static double area_of(const NoliMesh* mesh) {
  double area = 0.0;
  for (int32_t t = 0; t < mesh->n_tri; t++) {
    area += 0.5 * noli_norm3(noli_twice_area3(mesh->x, mesh->tri + 3 * t));
  }
  return area;
}

static void assert_mesh(const NoliMesh* mesh, int32_t tag, int32_t other) {
  assert_int_equal(mesh->n_tri, N_TRI);
  assert_int_equal(mesh->n_edge, 0);
  ASSERT_NEAR(area_of(mesh), 8.0, 1e-12);
  assert_int_equal(mesh->tri_tag[0], tag);
  assert_int_equal(mesh->tri_tag[1], tag);
  assert_int_equal(mesh->tri_tag[2], other);
}

static void medit_quadrilaterals(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  for (int first = 0; first < 4; first++) {
    Text text = {"MeshVersionFormatted 2\nDimension 3\nVertices\n6\n"};
    add_nodes(&text, " ", false, " 0");
    add(&text, "Quadrilaterals\n2\n");
    add_dart(&text, "", " ", first, " 7");
    add(&text, "1 2 5 5 8\nTriangles\n1\n1 4 6 9\nEdges\n1\n2 3 1\nEnd\n");
    NoliMesh* mesh = must_read(context, "q.mesh", text.data, strlen(text.data));
    assert_mesh(mesh, 7, 8);
    noli_mesh_destroy(context, &mesh);
  }
  test_context_done(&context);
}

static void check_sets(NoliContext* context, const char* path, const Text* text, int32_t tag,
                       int32_t other) {
  static const int32_t all[N_TRI][3] = {{0, 1, 2}, {0, 2, 3}, {0, 1, 4}, {0, 3, 5}};
  NoliMeshSets sets;
  NoliMeshSides sides;
  NoliMesh* mesh = read_sides(context, path, text->data, &sets, &sides);
  assert_mesh(mesh, tag, other);
  assert_faces(&sets, &sides, "dart", 2, dart[0]);
  assert_faces(&sets, &sides, "all", N_TRI, all[0]);
  noli_mesh_sides_free(context, &sides);
  noli_mesh_sets_free(context, &sets);
  noli_mesh_destroy(context, &mesh);
}

// The dart is in two groups: of 2.2 twice in the file, the second time from another vertex.
static void gmsh_quadrangles(void** state) {
  (void)state;
  static const char names[] = "$PhysicalNames\n2\n2 7 \"dart\"\n2 8 \"all\"\n$EndPhysicalNames\n";
  NoliContext* context = test_context(1);
  for (int first = 0; first < 4; first++) {
    Text old = {"$MeshFormat\n2.2 0 8\n$EndMeshFormat\n"};
    add(&old, names);
    add(&old, "$Nodes\n6\n");
    add_nodes(&old, " ", true, "");
    add(&old, "$EndNodes\n$Elements\n4\n");
    add_dart(&old, "1 3 2 7 1 ", " ", first, "");
    add_dart(&old, "2 3 2 8 1 ", " ", first + 1, "");
    add(&old, "3 3 2 8 1 1 2 5 5\n4 2 2 8 1 1 4 6\n$EndElements\n");
    check_sets(context, "q22.msh", &old, 7, 8);

    Text now = {"$MeshFormat\n4.1 0 8\n$EndMeshFormat\n"};
    add(&now, names);
    add(&now, "$Entities\n0 0 2 0\n1 0 -2 0 3 2 0 2 7 8 0\n2 0 -2 0 3 2 0 1 8 0\n$EndEntities\n"
              "$Nodes\n1 6 1 6\n2 1 0 6\n1\n2\n3\n4\n5\n6\n");
    add_nodes(&now, " ", false, "");
    add(&now, "$EndNodes\n$Elements\n3 3 1 3\n2 1 3 1\n");
    add_dart(&now, "1 ", " ", first, "");
    add(&now, "2 2 3 1\n2 1 2 5 5\n2 2 2 1\n3 1 4 6\n$EndElements\n");
    check_sets(context, "q41.msh", &now, 7, 8);
  }
  test_context_done(&context);
}

// Shells of four nodes with surfaces; the third side of the dart, two nodes, is a set without
// faces.
static void abaqus_quadrilaterals(void** state) {
  (void)state;
  static const char* const types[] = {"S4", "s4r", "M3D4R", "CPE4H", "R3D4"};
  NoliContext* context = test_context(1);
  for (int kind = 0; kind < 5; kind++) {
    for (int first = 0; first < 4; first++) {
      Text text = {"*NODE\n"};
      add_nodes(&text, ", ", true, "");
      add(&text, "*ELEMENT, ELSET=A, TYPE=");
      add(&text, types[kind]);
      add(&text, "\n");
      add_dart(&text, "10, ", ", ", first, "");
      add(&text, "*ELEMENT, TYPE=S4, ELSET=B\n11, 1, 2, 5, 5\n*ELEMENT, TYPE=S3, ELSET=B\n12, 1, "
                 "4, 6\n*SURFACE, NAME=dart\nA, SPOS\n*SURFACE, NAME=all\nA, SPOS\nB, SNEG\n"
                 "*SURFACE, NAME=side\n10, S3\n");
      check_sets(context, "q.inp", &text, 1, 2);

      NoliMeshSets sets;
      NoliMesh* mesh = NULL;
      write_file("s.inp", text.data, strlen(text.data));
      ASSERT_OK(noli_mesh_read_sets(context, "s.inp", &mesh, &sets));
      remove("s.inp");
      int32_t last = sets.n - 1, a = (first + 2) % 4, b = (first + 3) % 4;
      const int32_t* vertex = sets.vertex + sets.first[last];
      assert_string_equal(sets.name[last], "side");
      assert_int_equal(sets.first[last + 1] - sets.first[last], 2);
      assert_true(vertex[0] == (a < b ? a : b) && vertex[1] == (a < b ? b : a));
      noli_mesh_sets_free(context, &sets);
      noli_mesh_destroy(context, &mesh);
    }
  }
  test_context_done(&context);
}

// A file that announces four nodes and has three, and one that names a node that does not exist.
static void broken_quadrilaterals(void** state) {
  (void)state;
  static const struct {
    const char *path, *text, *message;
  } cases[] = {
      {"b.inp", "*NODE\n1, 0, 0, 0\n2, 1, 0, 0\n3, 0, 1, 0\n*ELEMENT, TYPE=S4\n1, 1, 2, 3\n",
       "b.inp:6: expected a node of the element"},
      {"b.inp", "*NODE\n1, 0, 0, 0\n2, 1, 0, 0\n3, 0, 1, 0\n*ELEMENT, TYPE=S4\n1, 1, 2, 3, 9\n",
       "b.inp:6: the element names node 9, which does not exist"},
      {"b.inp", "*NODE\n1, 0, 0, 0\n*ELEMENT, TYPE=S8R\n1, 1, 1, 1, 1, 1, 1, 1, 1\n",
       "b.inp:3: elements of type 'S8R' are not supported"},
      {"b.mesh",
       "MeshVersionFormatted 2\nDimension 2\nVertices 1\n0 0 0\nQuadrilaterals 1\n1 1 1 2 0\n",
       "b.mesh:6: a vertex of the cell must be in 1 to 1, got '2'"},
  };
  NoliContext* context = test_context(1);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    NoliMesh* mesh = NULL;
    ASSERT_STATUS(read_content(context, cases[i].path, cases[i].text, strlen(cases[i].text), &mesh),
                  NOLI_ERROR_FORMAT);
    assert_non_null(strstr(noli_context_message(context), cases[i].message));
  }
  test_context_done(&context);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(medit_quadrilaterals),
      cmocka_unit_test(gmsh_quadrangles),
      cmocka_unit_test(abaqus_quadrilaterals),
      cmocka_unit_test(broken_quadrilaterals),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
