// Tractions: forces per area on the faces of solids of order 1 to 4, on boundary segments in plane
// strain and on shells.
#include "support.h"

#include "noli/noli.h"
#include "step/simulation.h"

// A scene, with ' for ".
static NoliSim* create(NoliContext* context, const char* text, NoliScene** scene) {
  NoliSim* sim = NULL;
  char json[2048];
  snprintf(json, sizeof json, "%s", text);
  for (char* c = json; *c != '\0'; c++) {
    *c = *c == '\'' ? '"' : *c;
  }
  ASSERT_OK(noli_scene_parse(context, json, "traction.json", NULL, NULL, 0, scene));
  NoliStatus status = noli_sim_create(context, noli_scene_sim_def(*scene), &sim);
  if (status != NOLI_OK) {
    print_message("%s\n", noli_context_message(context));
  }
  return sim;
}

// The load of a force, N, in the last step.
static NoliVec3 sum_loads(const NoliSim* sim) {
  NoliVec3 sum = {0};
  for (int32_t i = 0; i < noli_sim_vertex_count(sim); i++) {
    sum = noli_add3(sum, noli_load3(sim->stage->loads.force + 3 * (int64_t)i));
  }
  return sum;
}

// A block on rollers that a traction pulls and shears: the stress is uniform if the tractions on
// the faces agree with it, for any order, also if everything is turned by 30 degrees.
static void traction_is_stress(void** state) {
  (void)state;
  const double pull = 1e3;
  for (int order = 1; order <= 4; order++) {
    NoliContext* context = test_context(1);
    NoliScene* scene = NULL;
    char text[2048];
    snprintf(
        text, sizeof text,
        "{'time': {'step': 1, 'steps': 1, 'integrator': 'quasi_static'}, 'gravity': [0, 0, 0],"
        " 'bodies': [{'name': 'block', 'mesh': {'box': {'size': [1, 0.5, 0.8], 'cells': [3, 2, "
        "2]}}, 'order': %d, 'material': {'young': 1e7, 'poisson': 0.3, 'density': 1000}}],"
        " 'prescribed': [{'body': 'block', 'select': {'side': '-x'}, 'motion': {'displacement': "
        "[0, 'free', 'free']}},"
        "  {'body': 'block', 'select': {'side': '-y'}, 'motion': {'displacement': ['free', 0, "
        "'free']}},"
        "  {'body': 'block', 'select': {'side': '-z'}, 'motion': {'displacement': ['free', "
        "'free', 0]}}],"
        " 'forces': [{'body': 'block', 'select': {'side': '+x'}, 'traction': [%g, 0, 0]}],"
        " 'solver': {'tolerance': '1e-9 l'}}",
        order, pull);
    NoliSim* sim = create(context, text, &scene);
    assert_non_null(sim);
    ASSERT_OK(noli_sim_step(sim, NULL));
    NoliVec3 sum = sum_loads(sim);
    ASSERT_NEAR(sum.x, pull * 0.4, 1e-9 * pull);
    ASSERT_NEAR(sum.y, 0.0, 1e-9 * pull);

    // dead loads: the first Piola-Kirchhoff stress is the traction
    int32_t n = noli_sim_tet_count(sim);
    NoliStress* stress = malloc(sizeof *stress * (size_t)n);
    ASSERT_OK(noli_sim_stresses(sim, stress));
    for (int32_t t = 0; t < n; t++) {
      ASSERT_NEAR(stress[t].first_piola[0], pull, 1e-6 * pull);
      for (int k = 1; k < 9; k++) {
        ASSERT_NEAR(stress[t].first_piola[k], 0.0, 1e-6 * pull);
      }
    }
    NoliReaction reaction;
    ASSERT_OK(noli_sim_reaction(sim, 0, NULL, &reaction));
    ASSERT_NEAR(reaction.force[0], -pull * 0.4, 1e-6 * pull);
    free(stress);
    noli_sim_destroy(&sim);
    noli_scene_destroy(&scene);
    test_context_done(&context);
  }
}

// The total on a curved surface: a traction along x on all of a ball of order p is the area of the
// sphere, to the order of its shape; each node of the surface carries a part.
static void curved_faces_have_their_area(void** state) {
  (void)state;
  double error[3];
  for (int order = 1; order <= 3; order++) {
    NoliContext* context = test_context(1);
    NoliScene* scene = NULL;
    char text[1024];
    snprintf(text, sizeof text,
             "{'time': {'step': 1e-3, 'steps': 1}, 'gravity': [0, 0, 0],"
             " 'bodies': [{'name': 'ball', 'mesh': {'sphere': {'radius': 0.5, 'cells': 3, "
             "'geometry_order': %d}}, 'order': %d, 'material': {'young': 1e7}}],"
             " 'forces': [{'body': 'ball', 'traction': [2, 0, 0]}]}",
             order, order);
    NoliSim* sim = create(context, text, &scene);
    assert_non_null(sim);
    ASSERT_OK(noli_sim_step(sim, NULL));
    error[order - 1] = fabs(sum_loads(sim).x / (2.0 * acos(-1.0)) - 1.0);
    noli_sim_destroy(&sim);
    noli_scene_destroy(&scene);
    test_context_done(&context);
  }
  print_message("area of a ball of order 1, 2, 3: off by %.2g, %.2g, %.2g\n", error[0], error[1],
                error[2]);
  ASSERT_AT_MOST(error[0], 0.2);
  ASSERT_AT_MOST(error[1], 0.01);
  ASSERT_AT_MOST(error[2], 0.001);
}

// Bodies in plane strain and shells: total forces.
static void planes_and_shells_have_areas(void** state) {
  (void)state;
  static const struct {
    const char* body;
    double area;
  } cases[] = {
      {"'mesh': {'rectangle': {'size': [1, 0.5], 'cells': [3, 2]}}, 'plane_strain': 0.1", 0.05},
      {"'mesh': {'rectangle': {'size': [1, 0.5], 'cells': [3, 2]}}, 'shell': {'thickness': 0.01}",
       0.5},
  };
  for (int k = 0; k < 2; k++) {
    NoliContext* context = test_context(1);
    NoliScene* scene = NULL;
    char text[1024];
    snprintf(text, sizeof text,
             "{'time': {'step': 1e-3, 'steps': 1}, 'gravity': [0, 0, 0],"
             " 'bodies': [{'name': 'flat', %s, 'material': {'young': 1e7}}],"
             " 'forces': [{'body': 'flat', 'select': %s, 'traction': [3, 0, 0]}]}",
             cases[k].body, k == 0 ? "{'side': '+x'}" : "'all'");
    NoliSim* sim = create(context, text, &scene);
    assert_non_null(sim);
    ASSERT_OK(noli_sim_step(sim, NULL));
    ASSERT_NEAR(sum_loads(sim).x, 3.0 * cases[k].area, 1e-12);
    noli_sim_destroy(&sim);
    noli_scene_destroy(&scene);
    test_context_done(&context);
  }
}

static void tractions_need_faces(void** state) {
  (void)state;
  static const char* const bodies[] = {
      "'mesh': {'box': {'size': [1, 1, 1], 'cells': [2, 2, 2]}}",
      "'mesh': {'box': {'size': [1, 1, 1], 'cells': [2, 2, 2]}}, 'order': 2",
      "'mesh': {'line': {'length': 1, 'segments': 4}}, 'rod': {'radius': 0.01}",
  };
  for (int k = 0; k < 2; k++) {
    NoliContext* context = test_context(1);
    NoliScene* scene = NULL;
    char text[1024];
    snprintf(
        text, sizeof text,
        "{'time': {'step': 1e-3, 'steps': 1}, 'bodies': [{'name': 'b', %s, 'material': {'young': "
        "1e7}}], 'forces': [{'body': 'b', 'select': {'box': {'min': [-1, -0.1, -0.1], 'max': [1, "
        "0.1, 0.1]}}, 'traction': [3, 0, 0]}]}",
        bodies[k]);
    NoliSim* sim = create(context, text, &scene);
    assert_null(sim);
    const char* message = noli_context_message(context);
    assert_non_null(strstr(message, "forces[0]"));
    assert_non_null(strstr(message, "no face with all its"));
    noli_scene_destroy(&scene);
    test_context_done(&context);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(traction_is_stress),
      cmocka_unit_test(curved_faces_have_their_area),
      cmocka_unit_test(planes_and_shells_have_areas),
      cmocka_unit_test(tractions_need_faces),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
