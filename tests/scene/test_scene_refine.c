// The key `refine` of bodies: finer cells of the same shape, for meshes of sequences too.
#include "scene_support.h"

#include "noli/mesh.h"

static NoliScene* parse(NoliContext* context, const char* body) {
  char text[SCENE_TEXT];
  NoliScene* scene = NULL;
  snprintf(text, sizeof text, "{'time': {'steps': 2}, 'bodies': [{%s}]}", body);
  ASSERT_OK(parse_quoted(context, text, &scene));
  return scene;
}

static double volume_of(const NoliMesh* mesh) {
  double volume = 0.0;
  for (int64_t t = 0; t < mesh->n_tet; t++) {
    double e[3][3];
    for (int k = 0; k < 3; k++) {
      for (int i = 0; i < 3; i++) {
        e[k][i] = mesh->x[3 * (int64_t)mesh->tet[4 * t + k + 1] + i] -
                  mesh->x[3 * (int64_t)mesh->tet[4 * t] + i];
      }
    }
    volume += (e[0][0] * (e[1][1] * e[2][2] - e[1][2] * e[2][1]) -
               e[0][1] * (e[1][0] * e[2][2] - e[1][2] * e[2][0]) +
               e[0][2] * (e[1][0] * e[2][1] - e[1][1] * e[2][0])) /
              6.0;
  }
  return volume;
}

// A ball of any fineness keeps the volume of the coarse one, its order and its position.
static void bodies_get_finer(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  static const char ball[] =
      "'mesh': {'sphere': {'radius': 1, 'cells': 2}}, 'translate': [0, 3, 0]";
  char fine_ball[200];
  NoliScene* coarse = parse(context, ball);
  const NoliMesh* old = noli_scene_sim_def(coarse)->bodies[0].mesh;
  int32_t n_tet = old->n_tet;
  for (int times = 0; times <= 2; times++, n_tet *= 8) {
    snprintf(fine_ball, sizeof fine_ball, "%s, 'refine': %d, 'geometry_order': 2", ball, times);
    NoliScene* scene = parse(context, fine_ball);
    const NoliMesh* mesh = noli_scene_sim_def(scene)->bodies[0].mesh;
    assert_int_equal(mesh->n_tet, n_tet);
    assert_int_equal(mesh->order, 2);
    ASSERT_NEAR(volume_of(mesh), volume_of(old), 1e-12);
    assert_memory_equal(mesh->x, old->x, 3 * sizeof(double) * (size_t)old->n_vert);
    NoliSim* sim = NULL;
    ASSERT_OK(noli_sim_create(context, noli_scene_sim_def(scene), &sim));
    ASSERT_OK(noli_sim_step(sim, NULL));
    noli_sim_destroy(&sim);
    noli_scene_destroy(&scene);
  }
  noli_scene_destroy(&coarse);
  test_context_done(&context);
}

// The meshes of a sequence have the vertices of the file; they are cut like the mesh that moves.
static void sequences_are_refined_too(void** state) {
  (void)state;
  NoliContext* context = test_context(1);

  // two frames of a box
  for (int k = 0; k < 2; k++) {
    NoliMesh* mesh = NULL;
    char path[64];
    ASSERT_OK(
        noli_mesh_make_box(context, (double[3]){1, 1, 1}, (int32_t[3]){1, 1, 1}, false, &mesh));
    noli_mesh_transform(mesh, (double[3]){1.0 + k, 1, 1}, (double[3]){0, 0, 0},
                        (double[3]){0, 2, 0});
    snprintf(path, sizeof path, "refine_frame_%d.msh", k);
    ASSERT_OK(noli_mesh_write(context, path, mesh));
    noli_mesh_destroy(context, &mesh);
  }

  // a refined sequence
  NoliScene* scene = NULL;
  NoliStatus status = parse_quoted(
      context,
      "{'time': {'steps': 1}, 'bodies': [{'name': 'box', 'mesh': 'refine_frame_0.msh', "
      "'refine': 1}], 'prescribed': [{'body': 'box', 'select': 'all', 'motion': "
      "{'sequence': {'files': 'refine_frame_%d.msh', 'fps': 1}}}]}",
      &scene);
  if (status != NOLI_OK) {
    print_error("%s\n", noli_context_message(context));
  }
  ASSERT_OK(status);

  // positions at the second frame
  const NoliSimDef* def = noli_scene_sim_def(scene);
  const NoliMesh* mesh = def->bodies[0].mesh;
  const NoliMotionDef* motion = &def->motions[0];
  assert_int_equal(motion->n_node, mesh->n_vert);
  double* x_t1 = malloc(3 * sizeof *x_t1 * (size_t)mesh->n_vert);
  motion->target(motion->user, 0.9, 1.0, motion->n_node, motion->node, mesh->x, mesh->x, x_t1);
  for (int32_t v = 0; v < mesh->n_vert; v++) {
    ASSERT_NEAR(x_t1[3 * v], 2.0 * mesh->x[3 * v], 1e-12);
    ASSERT_NEAR(x_t1[3 * v + 1], mesh->x[3 * v + 1], 1e-12);
  }
  free(x_t1);
  noli_scene_destroy(&scene);
  remove("refine_frame_0.msh");
  remove("refine_frame_1.msh");
  test_context_done(&context);
}

static void refusals(void** state) {
  (void)state;
  static const char* const cases[][2] = {
      {"'mesh': {'box': {}},\n'refine': -1", ":2: bodies[0].refine: must be in [0, 10], got -1"},
      {"'mesh': {'box': {}},\n'refine': 9", ":2: bodies[0].refine: refinement would make"},
      {"'mesh': {'sphere': {'geometry_order': 2}},\n'refine': 1",
       ":2: bodies[0].refine: curved meshes cannot be refined: refine first, then raise the order"},
  };
  NoliContext* context = test_context(1);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char text[SCENE_TEXT];
    NoliScene* scene = NULL;
    snprintf(text, sizeof text, "{'time': {'steps': 2}, 'bodies': [{%s}]}", cases[i][0]);
    ASSERT_STATUS(parse_quoted(context, text, &scene), NOLI_ERROR_FORMAT);
    if (strstr(noli_context_message(context), cases[i][1]) == NULL) {
      print_error("got \"%s\"\nwant \"%s\"\n", noli_context_message(context), cases[i][1]);
      fail();
    }
  }
  test_context_done(&context);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(bodies_get_finer),
      cmocka_unit_test(sequences_are_refined_too),
      cmocka_unit_test(refusals),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
