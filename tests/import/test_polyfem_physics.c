// Integrators, damping, contact and plane strain of PolyFEM scenes in the native ones.
#define FOLDER "polyfem_physics"
#include "polyfem_support.h"

#include "import/import.h"

enum { TEXT = 4096 };

static void integrators_have_counterparts(void** state) {
  (void)state;
  static const char* const pairs[][2] = {
      {"'ImplicitEuler'", "backward_euler"},
      {"'BDF1'", "backward_euler"},
      {"{'type': 'BDF', 'steps': 1}", "backward_euler"},
      {"{'type': 'BDF', 'steps': 2}", "bdf2"},
      {"'BDF2'", "bdf2"},
      {"{'type': 'ImplicitEuler'}", "backward_euler"},
      {"{'type': 'BDF'}", "backward_euler"},
      {"{'type': 'ImplicitNewmark'}", "trapezoidal"},
      {"{'type': 'ImplicitNewmark', 'beta': 0.25, 'gamma': 0.5}", "trapezoidal"},
  };
  NoliContext* context = test_context(1);
  make_meshes(context);
  for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
    char text[SCENE_TEXT];
    snprintf(text, sizeof text,
             "{'time': {'tend': 1, 'dt': 0.1, 'integrator': %s}, 'geometry': [{'mesh': 'box.msh'}],"
             "'materials': {'type': 'NeoHookean', 'E': 1e5, 'nu': 0.3},"
             "'contact': {'enabled': true, 'dhat': 0.01}}",
             pairs[i][0]);
    json_t* tree = NULL;
    NoliScene* scene = load(context, text, &tree);
    assert_string_equal(noli_scene_sim_def(scene)->integrator, pairs[i][1]);
    json_decref(tree);
    noli_scene_destroy(&scene);
  }
  test_context_done(&context);
}

// 0.75 * ratio * h^3, or as given; entries add up.
static void damping_of_elasticity_belongs_to_the_materials(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  make_meshes(context);
  char text[SCENE_TEXT];
  quoted("{" HEAD "'geometry': [{'mesh': 'box.msh'}], 'solver': {'rayleigh_damping': ["
         "{'form': 'elasticity', 'stiffness_ratio': 0.4, 'lagging_iterations': 1},"
         "{'form': 'elasticity', 'stiffness': 0.01}]}}",
         text);
  json_error_t error;
  json_t *parsed = json_loads(text, 0, &error), *native = NULL;
  NoliSceneSource source = {.context = context,
                            .name = "scene.json",
                            .text = text,
                            .size = strlen(text),
                            .directory = FOLDER};
  ASSERT_OK(noli_import_polyfem(&source, parsed, &native));
  json_t* material = json_object_get(at(native, "bodies", 0), "material");
  ASSERT_NEAR(number(material, "damping"), 0.75 * 0.4 * 1e-3 + 0.01, 1e-16);
  json_decref(parsed);
  json_decref(native);
  test_context_done(&context);
}

// Without "dhat" it is 1e-3, unless edges are shorter.
static void the_contact_distance_follows_the_shortest_edge(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  make_meshes(context);
  for (int i = 0; i < 2; i++) {
    char text[TEXT];
    double scale = i == 0 ? 1.0 : 1e-3;
    snprintf(text, sizeof text,
             "{'time': {'tend': 1, 'dt': 0.1}, 'materials': {'type': 'NeoHookean', 'E': 1, 'nu': "
             "0}, 'contact': {'enabled': true}, 'geometry': [{'mesh': 'box.msh', "
             "'transformation': {'scale': %g}}]}",
             scale);
    json_t* tree;
    NoliScene* scene = load(context, text, &tree);
    ASSERT_NEAR(noli_scene_sim_def(scene)->contact_distance.value, i == 0 ? 1e-3 : 0.8 * 0.5e-3,
                1e-16);
    json_decref(tree);
    noli_scene_destroy(&scene);
  }
  test_context_done(&context);
}

// dhat^(n-1) / 1.5 converts the stiffness of the geometric contact potential, n the dimension.
static void the_geometric_potential_keeps_its_parameters(void** state) {
  (void)state;
  static const char* const bodies[] = {
      "'geometry': [{'mesh': 'sheet.obj'}], 'boundary_conditions': {'rhs': [0, 9.81]}",
      "'geometry': [{'mesh': 'box.msh'}]"};
  NoliContext* context = test_context(1);
  make_meshes(context);
  for (int i = 0; i < 2; i++) {
    char text[TEXT];
    snprintf(text, sizeof text,
             "{'time': {'tend': 1, 'dt': 0.1}, 'materials': {'type': 'NeoHookean', 'E': 1, 'nu': "
             "0}, 'contact': {'enabled': true, 'dhat': 0.02, 'use_gcp_formulation': true, "
             "'alpha_t': 0.3, 'alpha_n': 0.2, 'use_adaptive_dhat': %s, 'min_distance_ratio': "
             "0.5}, 'solver': {'contact': {'barrier_stiffness': 600}}, %s}",
             i == 0 ? "true" : "false", bodies[i]);
    json_t* tree;
    NoliScene* scene = load(context, text, &tree);
    const NoliSimDef* def = noli_scene_sim_def(scene);
    assert_string_equal(def->contact_model, "gcp");
    ASSERT_NEAR(def->gcp.eps_target.value, 0.02, 0);
    ASSERT_NEAR(def->gcp.alpha, 0.3, 0);
    ASSERT_NEAR(def->gcp.beta, 0.2, 0);
    assert_true(def->gcp.act_at_rest == (i == 1));
    ASSERT_NEAR(def->barrier_stiffness, i == 0 ? 8.0 : 0.16, 1e-15);
    json_decref(tree);
    noli_scene_destroy(&scene);
  }
  test_context_done(&context);
}

// The moduli in space whose lambda and mu are those of PolyFEM in a plane: E nu / (1 - nu^2), E / 2
// (1 + nu).
static void assert_plane_moduli(const NoliMaterialDef* material, double young, double poisson) {
  double mu = material->young / (2.0 * (1.0 + material->poisson));
  double lambda = 2.0 * mu * material->poisson / (1.0 - 2.0 * material->poisson);
  ASSERT_NEAR(mu, young / (2.0 * (1.0 + poisson)), 1e-12 * young);
  ASSERT_NEAR(lambda, young * poisson / (1.0 - poisson * poisson), 1e-12 * young);
}

static void scenes_in_a_plane_become_plane_strain(void** state) {
  (void)state;

  // a scene in a plane with most of the keys
  NoliContext* context = test_context(1);
  make_meshes(context);
  json_t* tree;
  NoliScene* scene = load(
      context,
      "{'time': {'tend': 1, 'dt': 0.1}, 'contact': {'enabled': true}, 'geometry': [{'mesh': "
      "'sheet.obj', 'volume_selection': 1, 'surface_selection': {'threshold': 1e-3}, "
      "'transformation': {'scale': [0.5, 2], 'rotation': 90, 'translation': [7, 1]}}, {'mesh': "
      "'sheet.obj', 'volume_selection': 2, 'transformation': {'translation': [0, 20], "
      "'dimensions': [1, 1]}}, {'mesh': 'sheet.obj', 'is_obstacle': true, 'type': 'mesh_array', "
      "'array': {'size': [1, 3], 'offset': 2, 'relative': true}, 'transformation': "
      "{'translation': [20, 0]}}, {'type': 'plane', 'point': [0, -9], 'normal': [0, 1], "
      "'is_obstacle': true}], 'materials': [{'id': 1, 'type': 'NeoHookean', 'E': 5, 'nu': 0.4}, "
      "{'id': 2, 'type': 'NeoHookean', 'lambda': 3, 'mu': 2}], 'boundary_conditions': {'rhs': [1, "
      "2], 'dirichlet_boundary': [{'id': 2, 'value': [0, 't']}, {'id': 4, 'value': [0, 0], "
      "'dimension': [true, false]}]}, 'initial_conditions': {'velocity': [{'id': 2, 'value': [3, "
      "4]}]}}",
      &tree);
  const NoliSimDef* def = noli_scene_sim_def(scene);

  // two bodies and three copies of the obstacle
  assert_int_equal(def->n_bodies, 5);
  for (int i = 0; i < 5; i++) {
    ASSERT_NEAR(def->bodies[i].plane_strain, 1.0, 0);
  }

  // materials, velocities and gravity
  assert_plane_moduli(&def->bodies[0].material, 5.0, 0.4);
  ASSERT_NEAR(def->bodies[1].material.poisson, 3.0 / (2.0 * 5.0), 1e-15);
  ASSERT_NEAR(def->bodies[1].velocity[1], 4.0, 0);
  ASSERT_NEAR(def->gravity[0], -1.0, 0);
  ASSERT_NEAR(def->gravity[1], -2.0, 0);
  ASSERT_NEAR(def->gravity[2], 0.0, 0);

  // the corner (-1, -2) of 2 x 4, made 1 x 8, turned and moved
  ASSERT_NEAR(def->bodies[0].mesh->x[0], 7.0 + 4.0, 1e-12);
  ASSERT_NEAR(def->bodies[0].mesh->x[1], 1.0 - 0.5, 1e-12);
  ASSERT_NEAR(def->half_spaces[0].origin[1], -9.0, 0);

  // the lower side moves up; the upper side keeps x; bottom first, as the vertices come
  json_t* motion = json_object_get(at(tree, "prescribed", 0), "motion");
  json_t* up = json_object_get(motion, "displacement");
  ASSERT_NEAR(json_number_value(json_array_get(up, 0)), 0.0, 0);
  assert_string_equal(json_string_value(json_array_get(up, 1)), "t");
  json_t* side =
      json_object_get(json_object_get(at(tree, "prescribed", 1), "motion"), "displacement");
  assert_string_equal(json_string_value(json_array_get(side, 1)), "free");
  json_t* list = json_object_get(json_object_get(at(tree, "prescribed", 1), "select"), "vertices");
  assert_int_equal(json_array_size(list), 3);
  json_decref(tree);
  noli_scene_destroy(&scene);
  test_context_done(&context);
}

// Their stiffness is in Pa with the physical barrier, else that of the barrier on squared
// distances; the flags count only where use_convergent_formulation is true.
static void the_convergent_formulation_is_convergent_contact(void** state) {
  (void)state;
  static const struct {
    const char* flags;
    bool convergent;
    double stiffness;
  } cases[] = {
      {"'use_convergent_formulation': true", true, 600.0},
      {"'use_convergent_formulation': true, 'use_physical_barrier': true", true, 600.0},
      {"'use_convergent_formulation': true, 'use_physical_barrier': false", true, 600.0 * 8e-6},
      {"'use_physical_barrier': false, 'use_area_weighting': false", false, 600.0},
      {"'use_convergent_formulation': false", false, 600.0},
  };
  NoliContext* context = test_context(1);
  make_meshes(context);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char text[TEXT];
    snprintf(text, sizeof text,
             "{'geometry': [{'mesh': 'box.msh'}], 'time': {'tend': 1, 'dt': 0.1}, 'materials': "
             "{'type': 'NeoHookean', 'E': 1, 'nu': 0}, 'contact': {'enabled': true, 'dhat': 0.02, "
             "%s}, 'solver': {'contact': {'barrier_stiffness': 600}}}",
             cases[i].flags);
    json_t* tree;
    NoliScene* scene = load(context, text, &tree);
    const NoliSimDef* def = noli_scene_sim_def(scene);
    assert_string_equal(def->contact_model, "ipc");
    assert_true(def->contact_convergent == cases[i].convergent);
    ASSERT_NEAR(def->barrier_stiffness, cases[i].stiffness, 1e-12);
    json_decref(tree);
    noli_scene_destroy(&scene);
  }
  test_context_done(&context);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_convergent_formulation_is_convergent_contact),
      cmocka_unit_test(integrators_have_counterparts),
      cmocka_unit_test(damping_of_elasticity_belongs_to_the_materials),
      cmocka_unit_test(the_contact_distance_follows_the_shortest_edge),
      cmocka_unit_test(the_geometric_potential_keeps_its_parameters),
      cmocka_unit_test(scenes_in_a_plane_become_plane_strain),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
