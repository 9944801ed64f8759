// Abaqus and CalculiX files: labels, sets and tags, curved cells, and one part with one instance.
#include "mesh_support.h"

// Reads a file and expects the tags of its tetrahedra and triangles.
static NoliMesh* read_tagged(NoliContext* context, const char* content, int32_t n_tet,
                             const int32_t* tet_tag, int32_t n_tri, const int32_t* tri_tag) {
  NoliMesh* mesh = must_read(context, "tagged.inp", content, strlen(content));
  assert_int_equal(mesh->n_tet, n_tet);
  assert_int_equal(mesh->n_tri, n_tri);
  for (int32_t t = 0; t < n_tet; t++) {
    assert_int_equal(mesh->tet_tag != NULL ? mesh->tet_tag[t] : 0, tet_tag[t]);
  }
  for (int32_t t = 0; t < n_tri; t++) {
    assert_int_equal(mesh->tri_tag != NULL ? mesh->tri_tag[t] : 0, tri_tag[t]);
  }
  return mesh;
}

// Six triangles around node 100, labels with gaps and out of order.
#define NODES                                                                                      \
  "*NODE\n100, 0, 0\n1, 1, 0\n2, .5, .9\n3, -.5, .9\n2000000000, -1, 0\n5, -.5, -.9\n6, .5, -.9\n"
#define FAN                                                                                        \
  "60, 100, 6, 1\n10, 100, 1, 2\n20, 100, 2, 3\n30, 100, 3, 2000000000\n40, 100, 2000000000, 5\n"  \
  "50, 100, 5, 6\n"

static void labels_are_free_and_blocks_in_any_order(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  const char* content = "*ELEMENT, TYPE=STRI3\n" FAN "*MATERIAL, NAME=M\n*ELASTIC\n1, .3\n" NODES;
  NoliMesh* mesh = must_read(context, "free.inp", content, strlen(content));
  const int32_t tri[18] = {0, 6, 1, 0, 1, 2, 0, 2, 3, 0, 3, 4, 0, 4, 5, 0, 5, 6};
  const double x[9] = {0, 0, 0, 1, 0, 0, 0.5, 0.9, 0};
  assert_int_equal(mesh->n_vert, 7);
  assert_int_equal(mesh->n_tri, 6);
  assert_memory_equal(mesh->tri, tri, sizeof tri);
  assert_memory_equal(mesh->x, x, sizeof x);
  assert_null(mesh->tri_tag);
  noli_mesh_destroy(context, &mesh);
  test_context_done(&context);
}

static void every_type_of_element_is_its_cell(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  static const struct {
    const char* type;
    int n_node;
  } types[] = {{"S3", 3},   {"s3r", 3}, {"STRI3", 3}, {"CPS3", 3}, {"CPE3", 3},
               {"M3D3", 3}, {"B31", 2}, {"T3D2", 2},  {"C3D4", 4}, {"C3D4H", 4}};
  for (size_t k = 0; k < sizeof types / sizeof *types; k++) {
    char content[200];
    snprintf(content, sizeof content,
             "*NODE\n1,0,0,0\n2,1,0,0\n3,0,1,0\n4,0,0,1\n*ELEMENT,TYPE=%s\n1,1,2%s%s\n",
             types[k].type, types[k].n_node > 2 ? ",3" : "", types[k].n_node > 3 ? ",4" : "");
    NoliMesh* mesh = must_read(context, "type.inp", content, strlen(content));
    assert_int_equal(mesh->n_tet, types[k].n_node == 4);
    assert_int_equal(mesh->n_tri, types[k].n_node == 3);
    assert_int_equal(mesh->n_edge, types[k].n_node == 2);
    noli_mesh_destroy(context, &mesh);
  }
  test_context_done(&context);
}

static void the_smallest_set_gives_the_tag(void** state) {
  (void)state;
  NoliContext* context = test_context(1);

  // sets are numbered as they are first named: 1 all, 2 lower, 3 one, 4 again, 5 union
  const char* content = NODES "*ELEMENT, TYPE=S3, ELSET=all\n" FAN
                              "*ELSET, ELSET=lower, GENERATE\n40, 60, 10\n**\n*ELSET, ELSET=one\n"
                              "50\n*ELSET, ELSET=again\n50,\n*ELSET, ELSET=union\nLOWER, One\n10\n";
  NoliMesh* mesh = read_tagged(context, content, 0, NULL, 6, (int32_t[]){2, 5, 1, 1, 2, 3});
  noli_mesh_destroy(context, &mesh);

  // a range passes over gaps, however long it is
  content = NODES "*ELEMENT, TYPE=S3\n" FAN "*ELSET, ELSET=odd, GENERATE\n"
                  "10, 9223372036854775806, 20\n1, 9, 1\n";
  mesh = read_tagged(context, content, 0, NULL, 6, (int32_t[]){0, 1, 0, 1, 0, 1});
  noli_mesh_destroy(context, &mesh);

  // a set of sets takes them as they are at that place; blocks of one name are one set
  content = NODES "*ELEMENT, TYPE=S3\n" FAN "*ELSET, ELSET=a\n10\n*ELSET, ELSET=b\na\n20\n"
                  "*ELSET, ELSET=a\nb, 30, 40\n*ELSET, ELSET=c\nb, b, c\n50\n";
  mesh = read_tagged(context, content, 0, NULL, 6, (int32_t[]){0, 2, 2, 1, 1, 3});
  noli_mesh_destroy(context, &mesh);

  // sets of programs have no number
  content = NODES "*ELEMENT, TYPE=S3\n" FAN "*ELSET, ELSET=_face, INTERNAL\n10\n"
                  "*ELSET, ELSET=\"my set\"\n10, 20\n*ELSET, ELSET=My Set\n30\n";
  mesh = read_tagged(context, content, 0, NULL, 6, (int32_t[]){0, 1, 1, 1, 0, 0});
  noli_mesh_destroy(context, &mesh);
  test_context_done(&context);
}

static void keep_message(void* user, NoliLogLevel level, const char* message) {
  assert_int_equal(level, NOLI_LOG_INFO);
  char* kept = user;
  strcat(kept, message);
  strcat(kept, "\n");
}

// The log names the sets of tetrahedra and triangles, apart; of many sets as many as fit.
static void the_log_tells_which_tag_is_which_set(void** state) {
  (void)state;
  char log[5000] = "";
  NoliContextDef def = noli_default_context_def();
  def.log = keep_message;
  def.log_user = log;
  NoliContext* context = NULL;
  ASSERT_OK(noli_context_create(&def, &context));
  char content[8000] = "*NODE\n1,0,0,0\n2,1,0,0\n3,0,1,0\n4,0,0,1\n"
                       "*ELEMENT, TYPE=T3D2, ELSET=edge\n9, 1, 2\n"
                       "*ELEMENT, TYPE=S3, ELSET=skin\n7, 1, 3, 2\n8, 1, 2, 4\n"
                       "*ELEMENT, TYPE=C3D4, ELSET=body\n1, 1, 2, 3, 4\n*NSET, NSET=skin\n1\n"
                       "*ELSET, ELSET=most\nskin, body\n*ELSET, ELSET=side\n7\n";
  NoliMesh* mesh = must_read(context, "log.inp", content, strlen(content));
  assert_string_equal(log, "log.inp: tags of tetrahedra: 3 'body' (1 of 1), 4 'most' (0 of 1)\n"
                           "log.inp: tags of triangles: 2 'skin' (1 of 2), 4 'most' (0 of 2), "
                           "5 'side' (1 of 1)\n");
  noli_mesh_destroy(context, &mesh);

  // 120 sets of one triangle
  size_t n = strlen(content);
  for (int k = 0; k < 120; k++) {
    n += (size_t)snprintf(content + n, sizeof content - n, "*ELSET, ELSET=a long name %d\n8\n", k);
  }
  log[0] = '\0';
  mesh = must_read(context, "log.inp", content, n);
  assert_in_range(strlen(log), 1500, 1800);
  assert_non_null(strstr(log, ", 6 'a long name 0' (1 of 1), 7 'a long name 1' (0 of 1), "));
  int n_shown = 0, n_more = 0;
  for (const char* at = strstr(log, "triangles"); (at = strstr(at, " of 1)")) != NULL; at++) {
    n_shown++;
  }
  assert_int_equal(sscanf(strstr(log, " and "), " and %d more\n", &n_more), 1);
  assert_int_equal(n_shown + 2 + n_more, 123);
  noli_mesh_destroy(context, &mesh);
  assert_int_equal(noli_context_destroy(&context), 0);
}

// Ten nodes of a curved tetrahedron; the last three differ most between the formats.
static const double curved[10][3] = {
    {0, 0, 0},     {1, 0, 0},      {0, 1, 0},      {0, 0, 1},        {0.5, -0.1, 0},
    {0.6, 0.6, 0}, {-0.1, 0.5, 0}, {0, -0.1, 0.5}, {0.55, 0.1, 0.6}, {0.1, 0.6, 0.55}};

// The same cell from .inp and .msh, whose orders of nodes differ in the last two.
static void curved_cells_equal_those_of_msh(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  char inp[2000] = "*NODE\n", msh[2000] = "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n10\n";
  for (int v = 0; v < 10; v++) {
    size_t n = strlen(inp), m = strlen(msh);
    const double* x = curved[v];
    snprintf(inp + n, sizeof inp - n, "%d, %g, %g, %g\n", v + 1, x[0], x[1], x[2]);
    snprintf(msh + m, sizeof msh - m, "%d %g %g %g\n", v + 1, x[0], x[1], x[2]);
  }
  strcat(inp, "*ELEMENT, TYPE=C3D10\n1, 1, 2, 3, 4, 5, 6, 7, 8,\n 9, 10\n*ELEMENT, TYPE=CPS6\n"
              "2, 1, 3, 2, 7, 6, 5\n*ELEMENT, TYPE=T3D3\n3, 1, 5, 2\n4, 1, 2, 5\n");
  strcat(msh, "$EndNodes\n$Elements\n2\n1 11 0 1 2 3 4 5 6 7 8 10 9\n2 9 0 1 3 2 7 6 5\n"
              "$EndElements\n");
  NoliMesh* got = must_read(context, "curved.inp", inp, strlen(inp));
  NoliMesh* want = must_read(context, "curved.msh", msh, strlen(msh));
  assert_int_equal(got->order, 2);
  assert_int_equal(got->n_curve, 6);
  assert_same_mesh(got, want);
  assert_memory_equal(got->curve, want->curve, 6 * sizeof *got->curve);

  // the nodes of the curve are between the vertices that Gmsh puts them between
  for (int i = 0; i < 6; i++) {
    static const int ends[6][2] = {{0, 1}, {1, 2}, {2, 0}, {3, 0}, {2, 3}, {1, 3}};
    for (int k = 0; k < 3; k++) {
      double middle = 0.5 * (curved[ends[i][0]][k] + curved[ends[i][1]][k]);
      assert_true(fabs(got->curve_x[3 * got->curve[i] + k] - middle) < 0.11);
    }
  }
  noli_mesh_destroy(context, &got);
  noli_mesh_destroy(context, &want);
  test_context_done(&context);
}

// The part and its assembly have sets of their own; nodes of the assembly are not those of the
// mesh.
static void a_part_with_one_instance_is_a_mesh(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  const char* content = "*Heading\n*Part, name=P\n" NODES "*Element, type=S3\n" FAN
                        "*Elset, elset=Set-1\n10, 20, 30\n*End Part\n*Assembly, name=A\n"
                        "*Instance, name=P-1, part=P\n 0., 0., 0.\n*End Instance\n"
                        "*Node\n100, 5, 5, 5\n*Nset, nset=reference\n100, 7\n"
                        "*Elset, elset=Set-1, instance=P-1\n10\n*Elset, elset=both\nset-1, P-1.60\n"
                        "*Elset, elset=other\nP-1.Set-1, P-1.50\n*End Assembly\n";
  NoliMesh* mesh = read_tagged(context, content, 0, NULL, 6, (int32_t[]){3, 2, 1, 1, 0, 4});
  assert_int_equal(mesh->n_vert, 7);
  noli_mesh_destroy(context, &mesh);

  // an instance that is moved, then turned about a line parallel to z through (1, 1, 0)
  content =
      "*Part\n*Node\n1, 1, 0, 0\n2, 2, 0, 0\n3, 1, 1, 5\n*Element, type=S3\n1, 1, 2, 3\n"
      "*End Part\n*Assembly\n*Instance, name=I\n1, 1, 0\n1, 1, -7, 1, 1, 7, 90\n*End Instance\n"
      "*End Assembly\n";
  mesh = must_read(context, "moved.inp", content, strlen(content));
  const double moved[9] = {1, 2, 0, 1, 3, 0, 0, 2, 5};
  for (int i = 0; i < 9; i++) {
    assert_true(fabs(mesh->x[i] - moved[i]) < 1e-15 * 8);
  }
  noli_mesh_destroy(context, &mesh);

  // a mesh in the instance
  content = "*Part, name=P\n*End Part\n*Assembly\n*Instance, name=I, part=P\n" NODES
            "*Element, type=S3, elset=E\n" FAN "*End Instance\n*Elset, elset=F\nI.E\n"
            "*End Assembly\n";
  mesh = read_tagged(context, content, 0, NULL, 6, (int32_t[]){1, 1, 1, 1, 1, 1});
  noli_mesh_destroy(context, &mesh);
  test_context_done(&context);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(labels_are_free_and_blocks_in_any_order),
      cmocka_unit_test(every_type_of_element_is_its_cell),
      cmocka_unit_test(the_smallest_set_gives_the_tag),
      cmocka_unit_test(the_log_tells_which_tag_is_which_set),
      cmocka_unit_test(curved_cells_equal_those_of_msh),
      cmocka_unit_test(a_part_with_one_instance_is_a_mesh),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
