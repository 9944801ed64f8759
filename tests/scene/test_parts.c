// Bodies with parts of other materials, of linear elements, of high order and in plane strain.
#include "scene_support.h"

#include "noli/noli.h"

#define HALVES "'select': {'half_space': {'origin': [0, 0, 0], 'normal': [1, 0, 0]}}"
#define TIME "'time': {'step': 0.1, 'steps': 1, 'integrator': 'quasi_static'}"
#define ALONE "'gravity': [0, 0, 0], 'contact': {'enabled': false}"

// A bar from x = -1 to 1, of which a part has a further `member`; `more` members of the body.
#define BAR(more, part)                                                                            \
  "{" TIME "," ALONE ", 'solver': {'tolerance': 1e-10},"                                           \
  "'bodies': [{'name': 'bar', 'mesh': {'box': {'size': [2, 1, 1], 'cells': [4, 2, 2]}}," more      \
  "'material': {'young': 1e6, 'poisson': 0, 'density': 1000}, 'parts': [" part "]}],"              \
  "'prescribed': [{'body': 'bar', 'select': {'side': '-x'}, 'motion': {'hold': true}},"            \
  "{'body': 'bar', 'select': {'side': '+x'}, 'motion': {'velocity': [4e-5, 0, 0]}}]}"
#define STIFF "{" HALVES ", 'material': {'young': 3e6, 'density': 2000}}"

#define TURNING(order)                                                                             \
  "{'time': {'steps': 1}," ALONE ", 'bodies': [{'name': 'bar', 'order': " #order                   \
  ", 'mesh': {'box': {'size': [2, 1, 1], 'cells': [4, 2, 2]}}, 'angular_velocity': [0, 0, 2],"     \
  "'parts': [{" HALVES ", 'material': {'density': 2000}}]}]}"

typedef struct Run {
  NoliContext* context;
  NoliScene* scene;
  NoliSim* sim;
} Run;

static Run begin(const char* text) {
  Run run = {.context = test_context(1)};
  ASSERT_OK(parse_quoted(run.context, text, &run.scene));
  ASSERT_OK(noli_sim_create(run.context, noli_scene_sim_def(run.scene), &run.sim));
  return run;
}

static void end(Run* run) {
  noli_sim_destroy(&run->sim);
  noli_scene_destroy(&run->scene);
  test_context_done(&run->context);
}

// Two springs in series share the elongation of a bar and have the same stress.
static void bar_of_two_materials_is_two_springs(void** state) {
  (void)state;
  static const char* const bars[] = {
      BAR("", STIFF), BAR("'order': 2,", STIFF), BAR("'order': 3, 'geometry_order': 2,", STIFF),
      "{" TIME "," ALONE ", 'solver': {'tolerance': 1e-10}, 'bodies': [{'name': 'bar',"
      "'mesh': {'rectangle': {'size': [2, 1], 'cells': [4, 2]}}, 'plane_strain': 0.3,"
      "'material': {'young': 1e6, 'poisson': 0, 'density': 1000}, 'parts': [" STIFF "]}],"
      "'prescribed': [{'body': 'bar', 'select': {'side': '-x'}, 'motion': {'hold': true}},"
      "{'body': 'bar', 'select': {'side': '+x'}, 'motion': {'velocity': [4e-5, 0, 0]}}]}"};
  for (size_t i = 0; i < sizeof bars / sizeof *bars; i++) {
    Run run = begin(bars[i]);
    ASSERT_OK(noli_sim_step(run.sim, NULL));
    const double longer = 4e-6, stress = longer / (1.0 / 1e6 + 1.0 / 3e6);
    const double* X = noli_sim_rest_positions(run.sim);
    const double* x = noli_sim_positions(run.sim);
    for (int32_t v = 0; v < noli_sim_vertex_count(run.sim); v++) {
      double along = X[3 * v];
      double want =
          along < 0.0 ? (along + 1.0) * stress / 1e6 : longer - (1.0 - along) * stress / 3e6;
      ASSERT_NEAR(x[3 * v] - along, want, 1e-5 * longer);
    }
    int32_t n = noli_sim_tet_count(run.sim);
    double* von_mises = malloc((size_t)n * sizeof *von_mises);
    ASSERT_OK(noli_sim_von_mises(run.sim, von_mises));
    for (int32_t t = 0; t < n; t++) {
      ASSERT_NEAR(von_mises[t], stress, 1e-4 * stress);
    }
    free(von_mises);
    end(&run);
  }
}

// Nodes turn about the centre of mass.
static void mass_and_centre_are_those_of_the_parts(void** state) {
  (void)state;
  for (int i = 0; i < 2; i++) {
    Run run = begin(i == 0 ? TURNING(1) : TURNING(2));
    NoliSimMeasures measures;
    ASSERT_OK(noli_sim_measure(run.context, noli_scene_sim_def(run.scene), &measures));
    ASSERT_NEAR(measures.volume[0], 2.0, 1e-12);
    ASSERT_NEAR(measures.mass[0], 3000.0, 1e-9);
    noli_sim_measures_free(run.context, &measures);
    double centre = (1000.0 * -0.5 + 2000.0 * 0.5) / 3000.0;
    for (int32_t v = 0; v < noli_sim_vertex_count(run.sim); v++) {
      ASSERT_NEAR(noli_sim_velocities(run.sim)[3 * v + 1],
                  2.0 * (noli_sim_rest_positions(run.sim)[3 * v] - centre), 1e-12);
    }
    end(&run);
  }
}

static int32_t count(NoliContext* context, const char* select) {
  char text[SCENE_TEXT];
  snprintf(text, sizeof text, BAR("", "{'select': %s, 'material': {}}"), select);
  NoliScene* scene = NULL;
  ASSERT_OK(parse_quoted(context, text, &scene));
  const NoliBodyDef* body = &noli_scene_sim_def(scene)->bodies[0];
  int32_t n = body->parts[0].n_element;
  // unset values are those of the body
  assert_int_equal(body->n_parts, 1);
  assert_string_equal(body->parts[0].material.law, body->material.law);
  assert_true(body->parts[0].material.young == 1e6 && body->parts[0].material.density == 1000.0);
  noli_scene_destroy(&scene);
  return n;
}

static void elements_are_selected(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  // 4 x 2 x 2 cells of six tetrahedra
  static const struct {
    const char* select;
    int32_t want;
  } cases[] = {
      {"{'half_space': {'origin': [0, 0, 0], 'normal': [1, 0, 0]}}", 48},
      {"{'box': {'min': [-1, -1, -1], 'max': [-0.5, 1, 1]}}", 24},
      {"{'box': {'min': [0, 0, 0], 'max': [0.25, 1, 1], 'relative': true}}", 24},
      {"{'side': '+y', 'depth': 0.5}", 48},
      {"{'sphere': {'center': [0, 0, 0], 'radius': 9}}", 96},
      {"{'elements': [0, 95, 0]}", 2},
      {"[{'elements': [0]}, {'side': '+x', 'depth': 0.25}, {'side': '-y', 'depth': 0.5}]", 60},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    assert_int_equal(count(context, cases[i].select), cases[i].want);
  }
  test_context_done(&context);
}

static void expect(NoliContext* context, const char* part, const char* place, const char* message) {
  char text[SCENE_TEXT];
  snprintf(text, sizeof text, BAR("", "%s"), part);
  NoliScene* scene = NULL;
  ASSERT_STATUS(parse_quoted(context, text, &scene), NOLI_ERROR_FORMAT);
  assert_non_null(strstr(noli_context_message(context), place));
  assert_non_null(strstr(noli_context_message(context), message));
  assert_null(scene);
}

static void mistakes_are_located(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  expect(context, "{'select': {'tagg': 1}, 'material': {}}", "bodies[0].parts[0].select.tagg",
         "did you mean \"tag\"?");
  expect(context, "{'select': {'tag': 1}, 'material': {}}", "bodies[0].parts[0].select.tag",
         "selects no element of \"bar\"; it has no tags");
  expect(context, "{'select': {'elements': [3, 96]}, 'material': {}}",
         "bodies[0].parts[0].select.elements[1]", "there is no element 96; the mesh has 96");
  expect(context,
         STIFF ", {'select': {'sphere': {'center': [5, 0, 0], 'radius': 1}}, 'material': {}}",
         "bodies[0].parts[1].select", "whose bounding box is [-1, -0.5, -0.5] to [1, 0.5, 0.5]");
  expect(context, "{" HALVES ", 'material': {'young': 0}}", "bodies[0].parts[0].material.young",
         "");
  expect(context, "{" HALVES ", 'material': {'mass_damping': 1}}",
         "bodies[0].parts[0].material.mass_damping", "unknown key");
  expect(context, "{" HALVES "}", "bodies[0].parts[0]", "\"material\" is missing");
  test_context_done(&context);
}

// Two boxes of one cell in a file with a tag each; the last part that contains an element applies.
static void tags_of_the_file_name_parts(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  NoliMesh* mesh = NULL;
  NoliMesh* tagged = NULL;
  ASSERT_OK(noli_mesh_make_box(context, (double[]){2, 1, 1}, (int32_t[]){2, 1, 1}, false, &mesh));
  int32_t n = mesh->n_tet;
  ASSERT_OK(noli_mesh_create(context, mesh->n_vert, n, 0, 0, 0, true, &tagged));
  memcpy(tagged->x, mesh->x, 3 * sizeof(double) * (size_t)mesh->n_vert);
  memcpy(tagged->tet, mesh->tet, 4 * sizeof(int32_t) * (size_t)n);
  for (int32_t t = 0; t < n; t++) {
    tagged->tet_tag[t] = t < n / 2 ? 3 : 8;
  }
  ASSERT_OK(noli_mesh_write(context, "parts_tagged.msh", tagged));
  noli_mesh_destroy(context, &mesh);
  noli_mesh_destroy(context, &tagged);
  NoliScene* scene = NULL;
  ASSERT_OK(parse_quoted(context,
                         "{" TIME
                         ", 'bodies': [{'name': 'a', 'mesh': 'parts_tagged.msh', 'parts': ["
                         "{'select': {'half_space': {'origin': [-9, 0, 0], 'normal': [1, 0, 0]}},"
                         " 'material': {'density': 500}},"
                         "{'select': {'tag': 8}, 'material': {'density': 3000}}]}]}",
                         &scene));
  NoliSimMeasures measures;
  ASSERT_OK(noli_sim_measure(context, noli_scene_sim_def(scene), &measures));
  ASSERT_NEAR(measures.mass[0], 3500.0, 1e-9);
  noli_sim_measures_free(context, &measures);
  noli_scene_destroy(&scene);
  ASSERT_STATUS(parse_quoted(context,
                             "{" TIME ", 'bodies': [{'name': 'a', 'mesh': 'parts_tagged.msh',"
                             "'parts': [{'select': {'tag': 7}, 'material': {}}]}]}",
                             &scene),
                NOLI_ERROR_FORMAT);
  assert_non_null(strstr(noli_context_message(context), "bodies[0].parts[0].select.tag"));
  assert_non_null(strstr(noli_context_message(context), "its tags are 3, 8"));
  test_context_done(&context);
}

// A definition is checked like a scene.
static void definitions_are_checked(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  NoliMesh* mesh = NULL;
  ASSERT_OK(noli_mesh_make_box(context, (double[]){1, 1, 1}, (int32_t[]){1, 1, 1}, false, &mesh));
  const int32_t element[] = {0, mesh->n_tet};
  NoliBodyDef body = noli_default_body_def();
  NoliPartDef part = {.element = element, .n_element = 2, .material = body.material};
  body.mesh = mesh;
  body.parts = &part;
  body.n_parts = 1;
  NoliSimDef def = noli_default_sim_def();
  def.bodies = &body;
  def.n_bodies = 1;
  NoliSim* sim = NULL;
  ASSERT_STATUS(noli_sim_create(context, &def, &sim), NOLI_ERROR_ARGUMENT);
  assert_non_null(strstr(noli_context_message(context), "part 0: there is no element"));
  part.n_element = 1;
  part.material.density = -1.0;
  ASSERT_STATUS(noli_sim_create(context, &def, &sim), NOLI_ERROR_ARGUMENT);
  part.material.density = 1.0;
  ASSERT_OK(noli_sim_create(context, &def, &sim));
  noli_sim_destroy(&sim);
  body.obstacle = true;
  ASSERT_STATUS(noli_sim_create(context, &def, &sim), NOLI_ERROR_ARGUMENT);
  body.obstacle = false;
  body.parts = NULL;
  ASSERT_STATUS(noli_sim_create(context, &def, &sim), NOLI_ERROR_ARGUMENT);
  noli_mesh_destroy(context, &mesh);
  test_context_done(&context);
}

// Damping of a part takes energy, less than that of the entire body.
static void damping_of_a_part_acts(void** state) {
  (void)state;
  static const char* const damping[] = {"{" HALVES ", 'material': {}}",
                                        "{" HALVES ", 'material': {'damping': 0.02}}",
                                        ("{'select': {'side': '+x', 'depth': 1},"
                                         " 'material': {'damping': 0.02}}")};
  for (int order = 1; order <= 2; order++) {
    double loss[3] = {0.0};
    for (int k = 0; k < 3; k++) {
      char text[SCENE_TEXT];
      snprintf(
          text, sizeof text,
          "{'time': {'step': 0.01, 'steps': 10, 'integrator': 'trapezoidal'}, " ALONE ","
          "'bodies': [{'name': 'bar', 'mesh': {'box': {'size': [2, 1, 1], 'cells': [4, 2, 2]}},"
          "'order': %d, 'angular_velocity': [0, 0, 1], 'material': {'young': 1e5},"
          "'parts': [%s]}], 'prescribed': [{'body': 'bar', 'select': {'side': '-x'},"
          "'motion': {'hold': true}}]}",
          order, damping[k]);
      Run run = begin(text);
      NoliStepReport report;
      for (int step = 0; step < 10; step++) {
        ASSERT_OK(noli_sim_step(run.sim, &report));
        loss[k] += report.damping_loss;
      }
      end(&run);
    }
    print_message("order %d: losses %g, %g, %g J\n", order, loss[0], loss[1], loss[2]);
    assert_true(loss[0] == 0.0);
    assert_true(loss[1] > 1.0 && loss[2] > 1.2 * loss[1]);
  }
}

// The materials of elements may be changed, but not their assignment to parts.
static void checkpoints_know_parts(void** state) {
  (void)state;
  static const char* const bars[] = {
      BAR("", STIFF), BAR("", "{" HALVES ", 'material': {'young': 4e6}}"),
      BAR("", "{'select': {'side': '+x', 'depth': 0.25}, 'material': {'young': 3e6}}"),
      BAR("", "")};
  Run run = begin(bars[0]);
  ASSERT_OK(noli_sim_step(run.sim, NULL));
  ASSERT_OK(noli_checkpoint_save(run.context, run.sim, NULL, "parts.h5"));
  end(&run);
  for (int i = 0; i < 4; i++) {
    run = begin(bars[i]);
    NoliStatus status = noli_checkpoint_load(run.context, run.sim, "parts.h5");
    assert_int_equal(status, i < 2 ? NOLI_OK : NOLI_ERROR_FORMAT);
    assert_true(i < 2 || strstr(noli_context_message(run.context), "other parts") != NULL);
    end(&run);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(bar_of_two_materials_is_two_springs),
      cmocka_unit_test(mass_and_centre_are_those_of_the_parts),
      cmocka_unit_test(elements_are_selected),
      cmocka_unit_test(mistakes_are_located),
      cmocka_unit_test(tags_of_the_file_name_parts),
      cmocka_unit_test(definitions_are_checked),
      cmocka_unit_test(damping_of_a_part_acts),
      cmocka_unit_test(checkpoints_know_parts),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
