// Geometry of PolyFEM scenes beyond single files: refined meshes, sequences of meshes.
#define FOLDER "polyfem_geometry"
#include "polyfem_support.h"

// ---- refinement ---------------------------------------------------------------------------------

// A box of 2 x 2 x 2 cells has 12 x 8 tetrahedra or 5 x 8; cut once, eight times as many, and 24 of
// its 4 x 24 boundary faces are on each pair of sides. Selections apply to the refined faces.
static void meshes_are_refined(void** state) {
  (void)state;

  // the same scene with and without refinement
  NoliContext* context = test_context(1);
  make_meshes(context);
  json_t *tree = NULL, *plain_tree = NULL;
  static const char scene_text[] =
      "{" HEAD "'geometry': [{'mesh': 'box.msh', %s'surface_selection': [{'id': 1, 'axis': '-y', "
      "'position': 1e-6}]}], 'boundary_conditions': {'dirichlet_boundary': [{'id': 1, 'value': "
      "[0, 0, 0]}]}}";
  char text[SCENE_TEXT];
  snprintf(text, sizeof text, scene_text, "");
  NoliScene* plain = load(context, text, &plain_tree);
  snprintf(text, sizeof text, scene_text, "'n_refs': 2, ");
  NoliScene* fine = load(context, text, &tree);
  assert_int_equal(number(at(tree, "bodies", 0), "refine"), 2);
  assert_null(json_object_get(at(plain_tree, "bodies", 0), "refine"));

  const NoliMesh* coarse_mesh = noli_scene_sim_def(plain)->bodies[0].mesh;
  const NoliMesh* fine_mesh = noli_scene_sim_def(fine)->bodies[0].mesh;
  assert_int_equal(fine_mesh->n_tet, 64 * coarse_mesh->n_tet);
  assert_memory_equal(fine_mesh->x, coarse_mesh->x,
                      3 * sizeof(double) * (size_t)coarse_mesh->n_vert);

  // 2 x 2 squares of the lowest side become 8 x 8
  assert_int_equal(noli_scene_sim_def(plain)->motions[0].n_node, 9);
  assert_int_equal(noli_scene_sim_def(fine)->motions[0].n_node, 81);
  for (int32_t i = 0; i < 81; i++) {
    int32_t node = noli_scene_sim_def(fine)->motions[0].node[i];
    ASSERT_NEAR(fine_mesh->x[3 * (int64_t)node + 1], 0.0, 1e-12);
  }
  json_decref(tree);
  json_decref(plain_tree);
  noli_scene_destroy(&plain);
  noli_scene_destroy(&fine);
  test_context_done(&context);
}

// In a plane triangles are cut, into four.
static void flat_meshes_are_refined(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  make_meshes(context);
  json_t* tree = NULL;
  NoliScene* scene =
      load(context,
           "{" HEAD "'geometry': [{'mesh': 'sheet.obj', 'n_refs': 1, 'transformation': "
           "{'translation': [1, 2]}}], 'boundary_conditions': {'rhs': [0, 9.81]}}",
           &tree);
  assert_int_equal(noli_scene_sim_def(scene)->bodies[0].mesh->n_tri, 4 * 8);
  assert_int_equal(noli_scene_sim_def(scene)->bodies[0].mesh->n_vert, 25);
  json_decref(tree);
  noli_scene_destroy(&scene);
  test_context_done(&context);
}

// ---- sequences ----------------------------------------------------------------------------------

// The plane, rising from frame to frame: frame 2 comes before frame 10.
static void write_frames(NoliContext* context) {
  static const int numbers[] = {0, 1, 2, 10};
  mkdir(FOLDER "/frames [1]", 0777);
  mkdir(FOLDER "/frames [1]/inner", 0777);
  for (int i = 0; i < 4; i++) {
    NoliMesh* mesh = NULL;
    char path[200];
    ASSERT_OK(noli_mesh_make_plane(context, 2, 3, 1, 1, &mesh));
    noli_mesh_transform(mesh, (double[3]){1, 1, 1}, (double[3]){0, 0, 0},
                        (double[3]){0, 0.1 * i, 0});
    snprintf(path, sizeof path, FOLDER "/frames [1]/frame_%d.obj", numbers[i]);
    ASSERT_OK(noli_mesh_write(context, path, mesh));
    noli_mesh_destroy(context, &mesh);
  }
}

static void expect_sequence(NoliContext* context, const char* files) {
  char text[SCENE_TEXT];
  json_t* tree = NULL;
  snprintf(text, sizeof text,
           "{" HEAD
           "'geometry': [{'mesh': 'box.msh', 'transformation': {'translation': [0, 5, 0]}}, "
           "{'type': 'mesh_sequence', 'mesh_sequence': %s, 'fps': 4, 'n_refs': 0, "
           "'is_obstacle': true}]}",
           files);
  NoliScene* scene = load(context, text, &tree);
  json_t* sequence =
      json_object_get(json_object_get(at(tree, "obstacles", 0), "motion"), "sequence");
  static const char* const names[] = {"frame_0.obj", "frame_1.obj", "frame_2.obj", "frame_10.obj"};
  assert_int_equal(json_array_size(json_object_get(sequence, "files")), 4);
  for (size_t i = 0; i < 4; i++) {
    const char* name = json_string_value(json_array_get(json_object_get(sequence, "files"), i));
    assert_non_null(name);
    assert_string_equal(strrchr(name, '/') + 1, names[i]);
  }
  assert_true(number(sequence, "fps") == 4.0);

  // the times of the frames are kept: after 0.75 s the last one is reached
  NoliSim* sim = NULL;
  ASSERT_OK(noli_sim_create(context, noli_scene_sim_def(scene), &sim));
  for (int i = 0; i < 8; i++) {
    ASSERT_OK(noli_sim_step(sim, NULL));
  }
  const double* x = noli_sim_positions(sim);
  ASSERT_NEAR(x[3 * ((int64_t)noli_sim_vertex_count(sim) - 1) + 1], 0.3, 1e-12);
  noli_sim_destroy(&sim);
  json_decref(tree);
  noli_scene_destroy(&scene);
}

static void sequences_come_from_lists_folders_and_patterns(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  make_meshes(context);
  write_frames(context);
  expect_sequence(context, "'frames [1]'");
  expect_sequence(context, "'frames [1]/'");
  expect_sequence(context, "'frames [[]1]/frame_*.obj'");
  expect_sequence(context, "'frame?*/*'");
  expect_sequence(context, "['frames [1]/frame_0.obj', 'frames [1]/frame_1.obj', "
                           "'frames [1]/frame_2.obj', 'frames [1]/frame_10.obj']");
  test_context_done(&context);
}

static void refusals(void** state) {
  (void)state;
  static const char* const cases[][2] = {
      {"'mesh': 'box.msh',\n'n_refs': 11", ":2: geometry[0].n_refs: must be in [0, 10], got 11"},
      {"'mesh': 'box.msh',\n'n_refs': -1", ":2: geometry[0].n_refs: must be in [0, 10], got -1"},
      {"'mesh': 'box.msh',\n'n_refs': 9", ":2: geometry[0].n_refs: refinement would make"},
      {"'mesh': 'box.msh', 'advanced': {\n'refinement_location': 0.3}",
       ":2: geometry[0].advanced.refinement_location: Noli cuts edges in the middle"},
      {"'mesh': 'plane.obj', 'is_obstacle': true,\n'n_refs': 1",
       ":2: geometry[0].n_refs: obstacles are not refined"},
      {"'type': 'mesh_sequence', 'is_obstacle': true, 'fps': 1,\n'mesh_sequence': 'gone/*.obj'",
       ":2: geometry[0].mesh_sequence: \"gone/*.obj\" names no files"},
      {"'type': 'mesh_sequence', 'is_obstacle': true, 'fps': 1,\n'mesh_sequence': 'a/**/*.obj'",
       ":2: geometry[0].mesh_sequence: \"**\" is not read"},
      {"'type': 'mesh_sequence', 'is_obstacle': true, 'fps': 1,\n'mesh_sequence': []",
       ":2: geometry[0].mesh_sequence: must be a folder, a pattern, or a list of files"},
      {"'type': 'mesh_sequence', 'is_obstacle': true, 'fps': 1,\n'mesh_sequence': [1]",
       ":2: geometry[0].mesh_sequence[0]: must be a file name"},
  };
  NoliContext* context = test_context(1);
  make_meshes(context);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char text[SCENE_TEXT];
    snprintf(text, sizeof text, "{" HEAD "'geometry': [{%s}]}", cases[i][0]);
    assert_refused(context, text, cases[i][1]);
  }
  test_context_done(&context);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(meshes_are_refined),
      cmocka_unit_test(flat_meshes_are_refined),
      cmocka_unit_test(sequences_come_from_lists_folders_and_patterns),
      cmocka_unit_test(refusals),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
