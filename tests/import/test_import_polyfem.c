// PolyFEM scenes become native ones: public scenes, files of scenes, and located refusals.
#define FOLDER "polyfem_scenes"
#include "polyfem_support.h"

enum { TEXT = 4096 };

// ---- public scenes ------------------------------------------------------------------------------

#define EXAMPLES "polyfem/contact/examples/3D/"
#define FLAT "polyfem/contact/examples/2D/"

// `reason` is part of the message; NULL: the scene is read.
static const struct {
  const char *file, *reason;
} public_scenes[] = {
    {EXAMPLES "codimensional/mat-knives.json", NULL},
    {EXAMPLES "codimensional/pin-cushion-ball.json", NULL},
    {EXAMPLES "friction/arch.json", NULL},
    {EXAMPLES "friction/armadillo-roller.json", NULL},
    {EXAMPLES "friction/ball-rollers.json", NULL},
    {EXAMPLES "friction/high-school-physics-slopetest-mu=0.49.json", NULL},
    {EXAMPLES "friction/high-school-physics-slopetest-mu=0.50.json", NULL},
    {EXAMPLES "large-ratios/large-mass-ratio.json", NULL},
    {EXAMPLES "large-ratios/large-stiffness-ratio.json", NULL},
    {EXAMPLES "large-ratios/sphere-mat.json", NULL},
    {EXAMPLES "stress-tests/dolphin-funnel.json", NULL},
    {EXAMPLES "stress-tests/dolphin-funnel-Linf.json", NULL},
    {EXAMPLES "stress-tests/mat-twist.json", NULL},
    {EXAMPLES "stress-tests/mat-twist-Linf.json", NULL},
    {EXAMPLES "stress-tests/rod-twist.json", NULL},
    {EXAMPLES "stress-tests/squeeze-out.json", NULL},
    {EXAMPLES "stress-tests/spheres_collide-P1.json",
     "spheres_collide-common.json:59: materials[0].type: law \"MaterialSum\" is not supported"},
    {EXAMPLES "stress-tests/spheres_collide-P2.json", "law \"MaterialSum\" is not supported"},
    {EXAMPLES "stress-tests/spheres_collide-P3.json", "law \"MaterialSum\" is not supported"},
    {EXAMPLES "static/two-cubes.json", "static problems are not supported"},
    {EXAMPLES "higher-order/golf-ball-P1.json", NULL},
    {EXAMPLES "higher-order/golf-ball-P2.json", NULL},
    {EXAMPLES "higher-order/microstructure.json", NULL},
    {EXAMPLES "higher-order/ball-bounce/P1.json", NULL},
    {EXAMPLES "higher-order/ball-bounce/P2.json", NULL},
    {EXAMPLES "higher-order/ball-bounce/P4-dt=0.01.json", NULL},
    {"polyfem/gcp-contact/parallel-edge/run.json", NULL},
    {"polyfem/gcp-contact/cube-on-floor/run.json", NULL},
    {FLAT "golf-ball.json", NULL},
    {FLAT "friction/arch.json", NULL},
    {FLAT "friction/circle-rollers.json", NULL},
    {FLAT "friction/high-school-physics-slopetest-mu=0.49.json", NULL},
    {FLAT "friction/moving-ground.json", NULL},
    {FLAT "friction/rotating-slope.json", NULL},
    {FLAT "large-ratios/circle-mat.json", NULL},
    {FLAT "unit-tests/5-squares.json", NULL},
    {FLAT "unit-tests/vertex-edge.json", NULL},
    {FLAT "codimensional/pin-cushion-ball.json", NULL},
    {FLAT "codimensional/disk-codim-points.json", NULL},
    {FLAT "convergence/sliding-spike.json", "quasistatic problems"},
    {FLAT "initial_angular_velocity.json", "velocity[0].value[0]: must be a number"},
};

static void public_scenes_are_read_or_refused_with_reason(void** state) {
  (void)state;
  int n_read = 0, n_refused = 0, n_missing = 0;

  // import each scene of the public data
  for (size_t i = 0; i < sizeof public_scenes / sizeof *public_scenes; i++) {
    char path[500];
    if (test_data(public_scenes[i].file, path, sizeof path) == NULL) {
      n_missing++;
      continue;
    }
    NoliContext* context = test_context(1);
    NoliScene* scene = NULL;
    NoliStatus status = noli_import_load(context, path, NULL, 0, &scene);
    const char* message = noli_context_message(context);

    // some meshes are not public
    if (public_scenes[i].reason == NULL && status == NOLI_ERROR_FORMAT &&
        strstr(message, "cannot be opened: No such file") != NULL) {
      print_message("SKIPPED: %s\n", message);
      n_missing++;
    } else if (public_scenes[i].reason == NULL) {
      if (status != NOLI_OK) {
        print_error("%s\n", message);
      }
      ASSERT_OK(status);
      n_read++;

      // others are refused with the expected reason
    } else {
      ASSERT_STATUS(status, NOLI_ERROR_FORMAT);
      if (strstr(message, public_scenes[i].reason) == NULL) {
        print_error("%s: got \"%s\"\n", public_scenes[i].file, message);
        fail();
      }
      n_refused++;
    }
    noli_scene_destroy(&scene);
    test_context_done(&context);
  }

  // without data there is no result
  print_message("%d read, %d refused, %d missing\n", n_read, n_refused, n_missing);
  if (n_read + n_refused == 0) {
    skip();
  }
}

// A block in a plane on a slope of tan 0.5, public scenes: at mu 0.49 it slides with g (sin - mu
// cos), at 0.50 it is slower than the limit of sticking.
static void flat_slopes_slide_and_hold(void** state) {
  (void)state;
  static const char* const names[] = {FLAT "friction/high-school-physics-slopetest-mu=0.49.json",
                                      FLAT "friction/high-school-physics-slopetest-mu=0.50.json"};
  const double sine = 1.0 / sqrt(5.0), cosine = 2.0 / sqrt(5.0);
  for (int i = 0; i < 2; i++) {
    char path[500];
    if (test_data(names[i], path, sizeof path) == NULL) {
      skip();
    }
    NoliContext* context = test_context(1);
    NoliScene* scene = NULL;
    NoliSim* sim = NULL;
    NoliStepReport report = {0};
    const NoliSceneOverride change[] = {{"solver.tolerance", "1e-7"}, {"debug.audit", "true"}};
    ASSERT_OK(noli_import_load(context, path, change, 2, &scene));
    ASSERT_OK(noli_sim_create(context, noli_scene_sim_def(scene), &sim));
    for (int64_t s = 0; s < noli_scene_step_count(scene); s++) {
      ASSERT_OK(noli_sim_step(sim, &report));
    }
    double want = i == 0 ? 9.81 * (sine - 0.49 * cosine) * report.time : 0.0;
    print_message("%s: %.6f m/s after %g s, want %.6f\n", names[i], report.max_speed, report.time,
                  want);
    ASSERT_NEAR(report.max_speed, want, i == 0 ? 1e-3 * want : 1e-5);
    noli_sim_destroy(&sim);
    noli_scene_destroy(&scene);
    test_context_done(&context);
  }
}

// ---- files --------------------------------------------------------------------------------------

static void common_files_are_merged_and_patched(void** state) {
  (void)state;

  // the outermost file wins over the middle one, which patches the base
  NoliContext* context = test_context(1);
  make_meshes(context);
  write_quoted(FOLDER "/inner/base.json",
               "{'geometry': [{'mesh': 'box.msh'}, {'mesh': 'plane.obj', 'is_obstacle': true,"
               " 'transformation': {'translation': [0, -3, 0]}}], 'contact': {'enabled': true,"
               " 'dhat': 0.5, 'friction_coefficient': 0.7},\n"
               "'materials': {'type': 'NeoHookean', 'E': 1, 'nu': 0.3},\n"
               "'time': {'tend': 1, 'dt': 0.1}}");
  write_quoted(FOLDER "/inner/middle.json",
               "{'common': 'base.json', 'contact': {'dhat': 0.25}, 'patch': [\n"
               "{'op': 'replace', 'path': '/materials/E', 'value': 77},\n"
               "{'op': 'remove', 'path': '/geometry/1'},\n"
               "{'op': 'add', 'path': '/geometry/0/transformation', 'value': {'scale': 2}},\n"
               "{'op': 'test', 'path': '/time/dt', 'value': 0.1}]}");
  json_t* tree;
  NoliScene* scene = load(context,
                          "{'common': 'inner/middle.json', 'time': {'dt': 0.05},"
                          "'contact': {'friction_coefficient': null}}",
                          &tree);

  // the result of all three
  const NoliSimDef* def = noli_scene_sim_def(scene);
  ASSERT_NEAR(def->time_step, 0.05, 0);
  ASSERT_NEAR(def->contact_distance.value, 0.25, 0);
  ASSERT_NEAR(def->bodies[0].material.young, 77, 0);
  ASSERT_NEAR(def->friction, 0, 0);
  assert_int_equal(def->n_bodies, 1);
  ASSERT_NEAR(number(at(tree, "bodies", 0), "scale"), 2, 0);
  json_decref(tree);
  noli_scene_destroy(&scene);
  test_context_done(&context);
}

static void refusals_of_the_geometric_potential(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  make_meshes(context);
  static const char* const geometric[][2] = {
      {"'alpha_t': 0", ":2: contact.alpha_t: Noli takes numbers in (0, 1], got 0"},
      {"'alpha_n': -0.5", ":2: contact.alpha_n: Noli takes numbers in (0, 1], got -0.5"},
      {"'beta_t': 0.1", ":2: contact.beta_t: Noli has no offset of the smooth step"},
      {"'use_adaptive_dhat': true, 'min_distance_ratio': 0.3",
       ":2: contact.min_distance_ratio: Noli reaches half the distance at rest"}};
  for (size_t i = 0; i < sizeof geometric / sizeof *geometric; i++) {
    char text[TEXT];
    snprintf(text, sizeof text,
             "{'geometry': [{'mesh': 'box.msh'}], 'time': {'tend': 1, 'dt': 0.1}, 'materials': "
             "{'type': 'NeoHookean', 'E': 1, 'nu': 0.3}, 'contact': {'enabled': true, "
             "'use_gcp_formulation': true,\n%s}}",
             geometric[i][0]);
    assert_refused(context, text, geometric[i][1]);
  }
  test_context_done(&context);
}

// Half of the convergent formulation is another one.
static void refusals_of_the_convergent_formulation(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  make_meshes(context);
  static const char* const flags[] = {"use_area_weighting", "use_improved_max_operator"};
  for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) {
    char text[TEXT], want[TEXT];
    snprintf(text, sizeof text,
             "{'geometry': [{'mesh': 'box.msh'}], 'time': {'tend': 1, 'dt': 0.1}, 'materials': "
             "{'type': 'NeoHookean', 'E': 1, 'nu': 0.3}, 'contact': {'enabled': true, "
             "'use_convergent_formulation': true,\n'%s': false}}",
             flags[i]);
    snprintf(want, sizeof want, ":2: contact.%s: Noli's convergent contact has both", flags[i]);
    assert_refused(context, text, want);
  }
  test_context_done(&context);
}

// A refusal names a file that the scene includes, not the scene.
static void refusals_name_file_line_and_path(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  make_meshes(context);
  write_quoted(FOLDER "/inner/wrong.json", "{'geometry': [{'mesh': 'box.msh'}],\n"
                                           "'contact': {'enabled': true,\n 'periodic': true},\n"
                                           "'time': {'tend': 1, 'dt': 0.1},\n"
                                           "'materials': {'type': 'Neo', 'E': 1}}");
  assert_refused(context, "{'common': 'inner/wrong.json'}",
                 FOLDER "/inner/wrong.json:3: contact.periodic: periodic contact");
  assert_refused(
      context,
      "{'common': 'inner/wrong.json',\n'contact': {'periodic': "
      "false}}",
      "inner/wrong.json:5: materials.type: law \"Neo\" is not supported; Noli has NeoHookean");
  assert_refused(context,
                 "{'common': 'inner/wrong.json',\n'contact': {'periodic': "
                 "false},\n'patch': [\n{'op': 'replace', 'path': '/materials',\n 'value': {'type': "
                 "'NeoHookean', 'E': 1,\n 'nuu': 3}}]}",
                 "scene.json:6: materials.nuu: unknown key; did you mean \"nu\"?");
  assert_refused(context, "{\n'common': 'inner/gone.json'}",
                 "scene.json:2: common: " FOLDER "/inner/gone.json: No such file");
  assert_refused(context,
                 "{'common': 'inner/wrong.json',\n'patch': [{'op': 'remove',\n"
                 "'path': '/geometry/4'}]}",
                 "scene.json:2: patch[0]: does not fit");
  assert_refused(context, "{'common': 'scene.json'}", "do they name each other?");
  test_context_done(&context);
}

static void refusals_of_the_scene_itself(void** state) {
  (void)state;
  static const struct {
    const char *rest, *message;
  } cases[] = {
      {"'geometry': [{'mesh': 'box.msh',\n'surface_selektion': 1}]",
       ":2: geometry[0].surface_selektion: unknown key; did you mean \"surface_selection\"?"},
      {"'geometry': [{'mesh': 'box.msh',\n'surface_selection': [{'id': 1, 'boxx': []}]}]",
       ":2: geometry[0].surface_selection[0].boxx: unknown key; did you mean \"box\"?"},
      {"'geometry': [{'mesh':\n'gone.msh'}]", ":1: geometry[0].mesh: "},
      {"'geometry': [{'mesh': 'plane.obj'}]", "\"plane.obj\" has no tetrahedra"},
      {"'geometry': [{'mesh': 'box.msh'}],\n'boundary_conditions': {'rhs': [0, 1]}",
       "\"box.msh\" has no triangles of order 1, which a scene in a plane needs"},
      {"'geometry': [{'mesh': 'sheet.obj', 'transformation': {'translation': [1, 2]}}],\n"
       "'boundary_conditions': {'rhs': [0, 1, 2]}",
       ":2: boundary_conditions.rhs: must be 2 components"},
      {"'geometry': [{'mesh': 'plane.obj', 'is_obstacle': true}]", "geometry: nothing deforms"},
      {"'geometry': {'mesh': 'box.msh'},\n'space': {'discr_order': 5}",
       ":2: space.discr_order: elements have order 1 to 4 here, got 5"},
      {"'geometry': {'mesh': 'box.msh'},\n'boundary_conditions': {'neumann_boundary': [{'id': 1}]}",
       ":2: boundary_conditions.neumann_boundary: tractions are not supported"},
      {"'geometry': {'mesh': 'box.msh', 'surface_selection': 1},\n'boundary_conditions': "
       "{'dirichlet_boundary': [{'id': 1, 'value': [0,\n'sine(t)', 0]}]}",
       ":3: boundary_conditions.dirichlet_boundary[0].value[1]: \"sine(t)\": unknown name at "
       "character 1"},
      {"'geometry': {'mesh': 'box.msh', 'surface_selection': 1}, 'boundary_conditions': "
       "{'dirichlet_boundary': [{'id': 1, 'value': [0, 1, 0],\n'interpolation': [{'type': "
       "'piecewise_cubic'}]}]}",
       "interpolation[0].type: interpolation \"piecewise_cubic\" is not supported"},
      {"'geometry': {'mesh': 'box.msh'},\n'initial_conditions': {'solution': [{'id': 0, 'value': "
       "[0, 1, 0]}]}",
       ":2: initial_conditions.solution[0].value[1]: initial conditions other"},
      {"'geometry': {'mesh': 'box.msh'},\n'units': {'length': 'mm'}", ":2: units.length: scenes"},
      {"'geometry': {'mesh': 'box.msh'},\n'solver': {'rayleigh_damping': [{'form': 'contact', "
       "'stiffness': 1}]}",
       ":2: solver.rayleigh_damping[0].form: only damping of \"elasticity\""},
      {"'geometry': {'mesh': 'box.msh', 'transformation': {'rotation': [1, 2, 3],\n"
       "'rotation_mode': 'abc'}}",
       ":2: geometry.transformation.rotation_mode: rotation mode \"abc\" is not known"},
      {"'geometry': {'mesh': 'box.msh', 'transformation': {'dimensions':\n[1, 0, 1]}}",
       "an extent of 0 would flatten the mesh"},
  };
  NoliContext* context = test_context(1);
  make_meshes(context);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char text[TEXT];
    snprintf(text, sizeof text, "{" HEAD "%s}", cases[i].rest);
    assert_refused(context, text, cases[i].message);
  }
  assert_refused(context, "{'geometry': [{'mesh': 'box.msh'}]}",
                 "static problems are not supported");
  test_context_done(&context);
}

// The converted scene is a complete native scene with the same definition.
static void the_native_scene_stands_alone(void** state) {
  (void)state;

  // convert
  NoliContext* context = test_context(1);
  make_meshes(context);
  json_t *tree, *again;
  NoliScene* scene =
      load(context,
           "{" HEAD "'geometry': [{'mesh': 'box.msh', 'surface_selection': 1, 'transformation': "
           "{'rotation': [10, 20, 30], 'scale': 0.1}}],"
           "'boundary_conditions': {'dirichlet_boundary': [{'id': 1, 'value': ['0.1*t', 0, "
           "'x*sin(t)']}], 'rhs': [0, 9.81, 0]}}",
           &tree);

  // read the result
  char* json = NULL;
  ASSERT_OK(noli_scene_json(scene, &json));
  write_file(FOLDER "/native.json", json);
  NoliScene* native = NULL;
  ASSERT_OK(noli_scene_load(context, FOLDER "/native.json", NULL, 0, &native));
  char* json_again = NULL;
  ASSERT_OK(noli_scene_json(native, &json_again));
  assert_string_equal(json, json_again);

  // compare
  const NoliMesh* a = noli_scene_sim_def(scene)->bodies[0].mesh;
  const NoliMesh* b = noli_scene_sim_def(native)->bodies[0].mesh;
  assert_memory_equal(a->x, b->x, 3 * (size_t)a->n_vert * sizeof *a->x);
  assert_int_equal(noli_scene_sim_def(native)->motions[0].n_node, 26);
  json_error_t error;
  again = json_loads(json_again, 0, &error);
  assert_true(json_equal(tree, again));
  json_decref(tree);
  json_decref(again);
  noli_scene_free_text(context, &json);
  noli_scene_free_text(context, &json_again);
  noli_scene_destroy(&scene);
  noli_scene_destroy(&native);
  test_context_done(&context);
}

// Replaces or removes one value somewhere below.
static void spoil(json_t* value, TestRandom* random) {
  static const char* const others[] = {"null",        "true",  "-1",  "2",     "1e300",
                                       "'x'",         "[]",    "{}",  "[[1]]", "[1,2]",
                                       "[1,2,3,4,5]", "'all'", "'t'", "''"};
  size_t n = json_is_object(value) ? json_object_size(value) : json_array_size(value);
  if (n == 0) {
    return;
  }
  size_t index = test_random_bits(random) % n;
  void* iterator = json_object_iter(value);
  for (size_t i = 0; iterator != NULL && i < index; i++) {
    iterator = json_object_iter_next(value, iterator);
  }
  json_t* inner =
      iterator != NULL ? json_object_iter_value(iterator) : json_array_get(value, index);
  bool plain = !json_is_object(inner) && !json_is_array(inner);
  if (!plain && test_random_bits(random) % 4 != 0) {
    spoil(inner, random);
    return;
  }
  char buffer[SCENE_TEXT];
  json_error_t error;
  const char* other = others[test_random_bits(random) % (sizeof others / sizeof *others)];
  json_t* spoilt = json_loads(quoted(other, buffer), JSON_DECODE_ANY, &error);
  if (iterator != NULL) {
    json_object_iter_set_new(value, iterator, spoilt);
  } else {
    json_array_set_new(value, index, spoilt);
  }
}

static void spoilt_scenes_never_crash(void** state) {
  (void)state;

  // a scene with most of the keys
  NoliContext* context = test_context(1);
  TestRandom random = {19};
  make_meshes(context);
  char buffer[SCENE_TEXT];
  json_error_t error;
  int n_read = 0;
  json_t* whole = json_loads(
      quoted("{" HEAD "'geometry': [{'mesh': 'box.msh', 'volume_selection': [{'id': 1, 'box': "
             "[[0, 0, 0], [9, 9, 9]]}], 'surface_selection': [{'id': 1, 'axis': 1, 'position': "
             "0.9}, {'id': 2, 'center': [0, 0, 0], 'radius': 1}, {'id': 3, 'point': [0, 1, 0], "
             "'normal': [1, 2, 3]}], 'point_selection': {'threshold': 0.1, 'id_offset': 4},"
             "'transformation': {'rotation': [10, 20, 30], 'scale': [1, 2, 3], 'translation': "
             "[1, 2, 3]}}, {'mesh': 'plane.obj', 'type': 'mesh_array', 'is_obstacle': true, "
             "'array': {'offset': 3, 'size': [2, 1, 2]}, 'surface_selection': 7,"
             "'transformation': {'translation': [0, -50, 0], 'dimensions': [2, 0, 2]}}],"
             "'boundary_conditions': {'rhs': [0, 'y', 9], 'dirichlet_boundary': [{'id': [1, 7], "
             "'value': ['t', 0, 'x'], 'dimension': [true, false, true], 'interpolation': "
             "[{'type': 'piecewise_linear', 'points': [0, 1], 'values': [1, 2]}]}]},"
             "'initial_conditions': {'velocity': [{'id': 1, 'value': [1, 2, 3]}]},"
             "'solver': {'contact': {'friction_iterations': 2}}}",
             buffer),
      0, &error);
  assert_non_null(whole);

  // damage it in up to three places
  for (int i = 0; i < 1500; i++) {
    json_t* spoilt = json_deep_copy(whole);
    for (uint64_t k = test_random_bits(&random) % 3; k < 3; k++) {
      spoil(spoilt, &random);
    }
    char* text = json_dumps(spoilt, 0);
    NoliScene* scene = NULL;
    NoliStatus status =
        noli_import_parse(context, text, strlen(text), "scene.json", FOLDER, NULL, 0, &scene);
    // a mesh of a kind that is not known is a wrong argument
    if (status != NOLI_OK && status != NOLI_ERROR_FORMAT && status != NOLI_ERROR_ARGUMENT) {
      print_error("%s\n%s\n", noli_context_message(context), text);
      fail();
    }
    assert_true(status == NOLI_OK || strstr(noli_context_message(context), "scene.json:") != NULL);
    n_read += status == NOLI_OK;
    noli_scene_destroy(&scene);
    free(text);
    json_decref(spoilt);
  }
  assert_true(n_read > 10);
  json_decref(whole);
  test_context_done(&context);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(public_scenes_are_read_or_refused_with_reason),
      cmocka_unit_test(flat_slopes_slide_and_hold),
      cmocka_unit_test(common_files_are_merged_and_patched),
      cmocka_unit_test(refusals_of_the_geometric_potential),
      cmocka_unit_test(refusals_of_the_convergent_formulation),
      cmocka_unit_test(refusals_name_file_line_and_path),
      cmocka_unit_test(refusals_of_the_scene_itself),
      cmocka_unit_test(the_native_scene_stands_alone),
      cmocka_unit_test(spoilt_scenes_never_crash),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
