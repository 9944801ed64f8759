// Surfaces of .inp files and groups of triangles of .msh files are sets of faces: tractions and
// pressures act on these faces, also where all vertices of another face are among theirs.
#include "mesh/mesh_support.h"

#include "noli/scene.h"
#include "noli/sim.h"

#define NODES "*NODE\n1, 0, 0, 0\n2, 1, 0, 0\n3, 0, 1, 0\n4, 0, 0, 1\n5, 1, 1, 1\n"
#define ONE NODES "*ELEMENT, TYPE=C3D4, ELSET=E\n10, 1, 2, 3, 4\n"
#define TWO ONE "11, 2, 5, 3, 4\n"

static void sides_of_tetrahedra(void** state) {
  (void)state;
  static const int32_t side[4][3] = {{0, 1, 2}, {0, 1, 3}, {1, 2, 3}, {0, 2, 3}};
  NoliContext* context = test_context(1);
  NoliMeshSets sets;
  NoliMeshSides sides;
  for (int k = 0; k < 4; k++) {
    char text[600];
    snprintf(text, sizeof text,
             ONE "*SURFACE, NAME=label\n10, S%d\n*Surface, type=ELEMENT, name=Set\nE, s%d\n", k + 1,
             k + 1);
    NoliMesh* mesh = read_sides(context, "s.inp", text, &sets, &sides);
    assert_faces(&sets, &sides, "label", 1, side[k]);
    assert_faces(&sets, &sides, "Set", 1, side[k]);
    assert_faces(&sets, &sides, "E", 0, NULL);
    noli_mesh_destroy(context, &mesh);
    noli_mesh_sets_free(context, &sets);
    noli_mesh_sides_free(context, &sides);
  }
  test_context_done(&context);
}

// Several lines, two blocks of one name, sides that bound the mesh, nodes, internal sets, sets of
// the assembly, curved elements, and what is not used.
static void surfaces_of_all_kinds(void** state) {
  (void)state;
  TestLog log;
  NoliContext* context = test_context_log(&log);
  NoliMeshSets sets;
  NoliMeshSides sides;
  NoliMesh* mesh = read_sides(
      context, "kinds.inp",
      "*PART, NAME=P\n" TWO "*ELSET, ELSET=_s_S2, INTERNAL\n10, 11\n*NSET, NSET=top\n4, 5\n"
      "*SURFACE, NAME=lines\n10, S1\n11, S1\n*SURFACE, NAME=free\nE\n"
      "*SURFACE, NAME=points, TYPE=NODE\ntop, 1.\n2\n*SURFACE, NAME=_own, INTERNAL\n10, S1\n"
      "*SURFACE, NAME=top\n10, S1\n*SURFACE, NAME=cylinder, TYPE=CYLINDER\nSTART, 0, 0\n"
      "*SURFACE, NAME=edges\n10, E1\n*END PART\n*ASSEMBLY, NAME=A\n"
      "*INSTANCE, NAME=I, PART=P\n*END INSTANCE\n*ELSET, ELSET=_t_S2, INSTANCE=I, INTERNAL\n11\n"
      "*SURFACE, NAME=far, TYPE=ELEMENT\n_t_S2, S2\nI.10, S4\n*SURFACE, NAME=lines\nI._s_S2, S2\n"
      "*END ASSEMBLY\n",
      &sets, &sides);
  assert_faces(&sets, &sides, "lines", 4, (int32_t[]){0, 1, 2, 1, 4, 2, 0, 1, 3, 1, 4, 3});
  assert_faces(&sets, &sides, "free", 6,
               (int32_t[]){0, 1, 2, 0, 1, 3, 0, 2, 3, 1, 2, 4, 1, 3, 4, 2, 3, 4});
  assert_faces(&sets, &sides, "far", 2, (int32_t[]){1, 3, 4, 0, 2, 3});
  assert_faces(&sets, &sides, "points", 0, NULL);
  assert_faces(&sets, &sides, "top", 0, NULL);
  for (int32_t s = 0; s < sets.n; s++) {
    assert_string_not_equal(sets.name[s], "_own");
    assert_string_not_equal(sets.name[s], "cylinder");
  }
  assert_non_null(strstr(log.text, "surface 'cylinder'"));
  assert_non_null(strstr(log.text, "sides 'E1'"));
  noli_mesh_destroy(context, &mesh);
  noli_mesh_sets_free(context, &sets);
  noli_mesh_sides_free(context, &sides);

  // the nodes between the corners of a curved element are no vertices
  mesh = read_sides(context, "curved.inp",
                    "*NODE\n1, 0, 0, 0\n2, 1, 0, 0\n3, 0, 1, 0\n4, 0, 0, 1\n5, .5, 0, 0\n"
                    "6, .5, .5, 0\n7, 0, .5, 0\n8, 0, 0, .5\n9, .5, 0, .5\n10, 0, .5, .5\n"
                    "*ELEMENT, TYPE=C3D10\n1, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10\n"
                    "*SURFACE, NAME=s\n1, S3\n",
                    &sets, &sides);
  assert_faces(&sets, &sides, "s", 1, (int32_t[]){1, 2, 3});
  noli_mesh_destroy(context, &mesh);
  noli_mesh_sets_free(context, &sets);
  noli_mesh_sides_free(context, &sides);
  test_context_done(&context);
}

static void groups_of_triangles(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  NoliMeshSets sets;
  NoliMeshSides sides;
  NoliMesh* mesh = read_sides(
      context, "groups.msh",
      "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$PhysicalNames\n2\n3 1 \"body\"\n2 2 \"skin\"\n"
      "$EndPhysicalNames\n$Nodes\n4\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n$EndNodes\n$Elements\n3\n"
      "1 4 2 1 1 1 2 3 4\n2 2 2 2 1 1 2 3\n3 2 2 2 1 4 1 2\n$EndElements\n",
      &sets, &sides);
  assert_faces(&sets, &sides, "skin", 2, (int32_t[]){0, 1, 2, 0, 1, 3});
  assert_faces(&sets, &sides, "body", 0, NULL);
  noli_mesh_destroy(context, &mesh);
  noli_mesh_sets_free(context, &sets);
  noli_mesh_sides_free(context, &sides);
  test_context_done(&context);
}

static void broken_surfaces_say_where(void** state) {
  (void)state;
  static const struct {
    const char* text;
    const char* message;
  } files[] = {
      {ONE "*SURFACE, NAME=s\nNone, S1\n", "s.inp:10: there is no element set 'None' before"},
      {ONE "*SURFACE, NAME=s\n99, S1\n", "s.inp:10: the surface names element 99, which does not"},
      {ONE "*SURFACE, NAME=s, TYPE=NODE\nNone\n", "s.inp:10: there is no node set 'None' before"},
  };
  NoliContext* context = test_context(1);
  for (size_t f = 0; f < sizeof files / sizeof *files; f++) {
    NoliMesh* mesh = NULL;
    NoliMeshSets sets;
    NoliMeshSides sides;
    write_file("s.inp", files[f].text, strlen(files[f].text));
    ASSERT_STATUS(noli_mesh_read_sides(context, "s.inp", &mesh, &sets, &sides), NOLI_ERROR_FORMAT);
    remove("s.inp");
    if (strstr(noli_context_message(context), files[f].message) == NULL) {
      fail_msg("%s", noli_context_message(context));
    }
  }
  test_context_done(&context);
}

// ---- loads

// The momentum that a load gives a free tetrahedron in one step.
static void impulse(const char* selection, const char* load, int order, double momentum[3]) {
  NoliContext* context = test_context(1);
  NoliScene* scene = NULL;
  NoliSim* sim = NULL;
  NoliBodyState body;
  char text[1000];
  snprintf(text, sizeof text,
           "{\"time\": {\"step\": 0.001, \"duration\": 1}, \"gravity\": [0, 0, 0], \"bodies\": "
           "[{\"name\": \"b\", \"mesh\": \"one.inp\", \"order\": %d}], \"forces\": [{\"body\": "
           "\"b\", \"select\": %s, %s}]}",
           order, selection, load);
  NoliStatus status = noli_scene_parse(context, text, "load.json", ".", NULL, 0, &scene);
  if (status == NOLI_OK) {
    status = noli_sim_create(context, noli_scene_sim_def(scene), &sim);
  }
  if (status == NOLI_OK) {
    status = noli_sim_step(sim, NULL);
  }
  if (status != NOLI_OK) {
    print_error("%s\n", noli_context_message(context));
  }
  assert_int_equal(status, NOLI_OK);
  ASSERT_OK(noli_sim_body_state(sim, 0, &body));
  for (int i = 0; i < 3; i++) {
    momentum[i] = body.mass * body.velocity[i];
  }
  noli_sim_destroy(&sim);
  noli_scene_destroy(&scene);
  test_context_done(&context);
}

// All four vertices are in the set of three faces.
static void loads_act_on_the_faces(void** state) {
  (void)state;
  static const char file[] = ONE "*NSET, NSET=n\n1, 2, 3, 4\n*SURFACE, NAME=three\nE, S1\nE, S2\n"
                                 "E, S4\n*SURFACE, NAME=one\n10, S1\n*SURFACE, NAME=two\n10, S2\n";
  const double slanted = 0.5 * sqrt(3.0);
  double p[3];
  write_file("one.inp", file, sizeof file - 1);
  for (int order = 1; order <= 2; order++) {
    impulse("{\"set\": \"three\"}", "\"traction\": [0, 100, 0]", order, p);
    ASSERT_NEAR(p[1], 0.1 * 1.5, 1e-9);
    impulse("{\"set\": \"n\"}", "\"traction\": [0, 100, 0]", order, p);
    ASSERT_NEAR(p[1], 0.1 * (1.5 + slanted), 1e-9);
    impulse("[{\"set\": \"one\"}, {\"set\": \"two\"}]", "\"traction\": [0, 100, 0]", order, p);
    ASSERT_NEAR(p[1], 0.1, 1e-9);
    // with another kind of selection, by vertices as ever
    impulse("[{\"set\": \"three\"}, \"all\"]", "\"traction\": [0, 100, 0]", order, p);
    ASSERT_NEAR(p[1], 0.1 * (1.5 + slanted), 1e-9);
    // pressures of all faces cancel, those of three push like that of the fourth
    impulse("{\"set\": \"three\"}", "\"pressure\": 100", order, p);
    for (int i = 0; i < 3; i++) {
      ASSERT_NEAR(p[i], 0.05, 1e-3);
    }
    impulse("{\"set\": \"n\"}", "\"pressure\": 100", order, p);
    ASSERT_NEAR(p[0], 0.0, 1e-9);
  }
  remove("one.inp");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(sides_of_tetrahedra),    cmocka_unit_test(surfaces_of_all_kinds),
      cmocka_unit_test(groups_of_triangles),    cmocka_unit_test(broken_surfaces_say_where),
      cmocka_unit_test(loads_act_on_the_faces),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
