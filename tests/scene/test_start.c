// Bodies that start elsewhere than at rest: the key "start".
#include "scene_support.h"

#include "noli/noli.h"

#define TWO(members)                                                                               \
  "{'time': {'step': 0.01, 'steps': 1}, 'gravity': [0, 0, 0], 'bodies': [{'name': 'bar',"          \
  "'mesh': {'arrays': {'positions': [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]],"                 \
  "'tets': [[0, 1, 2, 3]]}}, 'material': {'young': 1e5, 'poisson': 0}, 'translate': [0, 2, 0],"    \
  "'copies': {'count': 2, 'translate': [3, 0, 0]}," members "}],"                                  \
  "'forces': [{'body': 'bar', 'select': {'box': {'min': [-1, 1, -1], 'max': [1.5, 4, 2]}},"        \
  "'nodal': [0, 0, 0]}]}"
#define FIRST "[0, 5, 0], [1, 5, 0], [0, 6, 0], [0, 5, 1],"
#define SECOND "[3, 5, 0], [5, 5, 0], [3, 6, 0], [3, 5, 1]"

static NoliSim* start(NoliContext* context, const char* text, NoliScene** scene) {
  NoliSim* sim = NULL;
  ASSERT_OK(parse_quoted(context, text, scene));
  ASSERT_OK(noli_sim_create(context, noli_scene_sim_def(*scene), &sim));
  return sim;
}

static void check_positions(NoliSim* sim) {
  static const double want[24] = {0, 5, 0, 1, 5, 0, 0, 6, 0, 0, 5, 1,
                                  3, 5, 0, 5, 5, 0, 3, 6, 0, 3, 5, 1};
  assert_int_equal(noli_sim_vertex_count(sim), 8);
  for (int32_t i = 0; i < 24; i++) {
    ASSERT_NEAR(noli_sim_positions(sim)[i], want[i], 0.0);
    double rest = want[i] - (i % 3 == 1 ? 3.0 : 0.0) - (i == 15 ? 1.0 : 0.0);
    ASSERT_NEAR(noli_sim_rest_positions(sim)[i], rest, 1e-15);
  }
}

// The first copy is moved only, the second one is stretched to twice its length: with Poisson's
// ratio 0 the energy is that of neo-Hookean stretch.
static void bodies_start_where_the_list_says(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  NoliScene* scene = NULL;
  NoliSim* sim = start(context, TWO("'start': [" FIRST SECOND "]"), &scene);
  check_positions(sim);
  double mu = 0.5e5, energy = mu / 2.0 * (4.0 - 1.0) - mu * log(2.0);
  NoliStepReport report;
  // half of a step's release of energy goes into motion, so look at the smallest step
  NoliSimDef def = *noli_scene_sim_def(scene);
  noli_sim_destroy(&sim);
  def.time_step = 1e-6;
  ASSERT_OK(noli_sim_create(context, &def, &sim));
  ASSERT_OK(noli_sim_step(sim, &report));
  ASSERT_NEAR(report.elastic, energy / 6.0, 1e-4 * energy);
  noli_sim_destroy(&sim);
  noli_scene_destroy(&scene);
  test_context_done(&context);
}

// Files give the same start; the scene as run names them by absolute paths and selects at rest.
static void files_give_starts(void** state) {
  (void)state;
  static const char* const names[] = {"test_start.pt", "test_start.vtk"};
  NoliContext* context = test_context(1);
  write_file(names[0], "v 0 5 0\nv 1 5 0\nv 0 6 0\nv 0 5 1\nv 3 5 0\nv 5 5 0\nv 3 6 0\nv 3 5 1\n");
  NoliMesh* points = NULL;
  ASSERT_OK(noli_mesh_read(context, names[0], &points));
  ASSERT_OK(noli_mesh_write(context, names[1], points));
  noli_mesh_destroy(context, &points);
  for (size_t i = 0; i < 2; i++) {
    char text[SCENE_TEXT];
    snprintf(text, sizeof text, TWO("'start': '%s'"), names[i]);
    NoliScene* scene = NULL;
    NoliSim* sim = start(context, text, &scene);
    check_positions(sim);
    const NoliSimDef* def = noli_scene_sim_def(scene);
    assert_int_equal(def->forces[0].n_node, 4);
    int32_t n_files = 0;
    const NoliSceneFile* file = noli_scene_files(scene, &n_files);
    assert_int_equal(n_files, 1);
    assert_true(file[0].path[0] == '/' && strstr(file[0].path, names[i]) != NULL);
    assert_string_equal(file[0].where, "scene.json:1: bodies[0].start");

    // the scene as run has the same start
    char* json = NULL;
    ASSERT_OK(noli_scene_json(scene, &json));
    NoliScene* again = NULL;
    ASSERT_OK(noli_scene_parse(context, json, NULL, "/", NULL, 0, &again));
    assert_memory_equal(noli_scene_sim_def(again)->bodies[1].x0, def->bodies[1].x0,
                        12 * sizeof(double));
    noli_scene_free_text(context, &json);
    noli_scene_destroy(&again);
    noli_sim_destroy(&sim);
    noli_scene_destroy(&scene);
    remove(names[i]);
  }
  test_context_done(&context);
}

static void bad_starts_are_located(void** state) {
  (void)state;
  static const struct {
    const char* text;
    const char* message;
  } cases[] = {
      {TWO("'start': [" SECOND "]"), "scene.json:1: bodies[0].start: has 4 positions; the copies "
                                     "have 8 vertices in the simulation"},
      {TWO("'start': 'nowhere.vtk'"), "scene.json:1: bodies[0].start: "},
      {TWO("'start': 3"), "scene.json:1: bodies[0].start: must be the name of a mesh file or a "
                          "list of positions, got a number"},
      {TWO("'strt': 3"), "did you mean \"start\"?"},
  };
  NoliContext* context = test_context(1);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    NoliScene* scene = NULL;
    assert_int_not_equal(parse_quoted(context, cases[i].text, &scene), NOLI_OK);
    assert_null(scene);
    assert_non_null(strstr(noli_context_message(context), cases[i].message));
  }
  test_context_done(&context);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(bodies_start_where_the_list_says),
      cmocka_unit_test(files_give_starts),
      cmocka_unit_test(bad_starts_are_located),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
