// Rubber in scenes: parameters of bodies and parts, and located refusals.
#include "support.h"

#include "noli/noli.h"

static NoliStatus parse(NoliContext* context, const char* material, const char* part,
                        NoliScene** scene) {
  char text[1024];
  snprintf(
      text, sizeof text,
      "{\"time\": {\"step\": 0.01, \"steps\": 1}, \"bodies\": [{\"name\": \"b\", \"mesh\": "
      "{\"box\": {\"size\": [1, 1, 1], \"cells\": [2, 2, 2]}}, \"material\": %s, \"parts\": "
      "[{\"select\": {\"box\": {\"min\": [0, -1, -1], \"max\": [1, 1, 1]}}, \"material\": %s}]}]}",
      material, part);
  return noli_scene_parse(context, text, "rubber.json", NULL, NULL, 0, scene);
}

static void bodies_and_parts_have_parameters(void** state) {
  (void)state;
  static const struct {
    const char* part;
    double want[4]; // of the part
  } cases[] = {
      {"{\"density\": 900}", {4e4, 1.3, 1e3, -2.0}},
      {"{\"ogden\": [[5e4, 2]]}", {5e4, 2.0, 0.0, 0.0}},
      {"{\"law\": \"mooney_rivlin\", \"c10\": 1e5, \"c01\": 2e4}", {1e5, 2e4, 0.0, 0.0}},
      {"{\"law\": \"neo_hookean\"}", {0.0, 0.0, 0.0, 0.0}},
      {"{\"law\": \"neo_hookean\", \"young\": 2e5}", {0.0, 0.0, 0.0, 0.0}},
  };
  NoliContext* context = test_context(1);
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    NoliScene* scene = NULL;
    ASSERT_OK(parse(context, "{\"law\": \"ogden\", \"ogden\": [[4e4, 1.3], [1e3, -2]]}",
                    cases[k].part, &scene));
    const NoliBodyDef* body = &noli_scene_sim_def(scene)->bodies[0];
    assert_true(body->material.parameter[2] == 1e3 && body->material.parameter[3] == -2.0);
    assert_int_equal(body->n_parts, 1);
    assert_memory_equal(body->parts[0].material.parameter, cases[k].want, sizeof cases[k].want);

    // live: a material with parameters replaces another one
    NoliSim* sim = NULL;
    ASSERT_OK(noli_sim_create(context, noli_scene_sim_def(scene), &sim));
    NoliMaterialDef material;
    ASSERT_OK(noli_sim_material(sim, 0, NOLI_NULL_INDEX, &material));
    material.parameter[0] = 6e4;
    ASSERT_OK(noli_sim_set_material(sim, 0, NOLI_NULL_INDEX, &material));
    ASSERT_OK(noli_sim_material(sim, 0, NOLI_NULL_INDEX, &material));
    assert_true(material.parameter[0] == 6e4 && material.parameter[2] == 1e3);
    noli_sim_destroy(&sim);
    noli_scene_destroy(&scene);
  }
  test_context_done(&context);
}

static void refusals_name_the_place(void** state) {
  (void)state;
  static const char* const cases[][3] = {
      {"{\"ogden\": [[1e5, 2]]}", "{}", "bodies[0].material.ogden: is for the law \"ogden\""},
      {"{\"law\": \"ogden\", \"c01\": 1e5}", "{}", "bodies[0].material.c01: is for the law"},
      {"{}", "{\"c10\": 1e5}", "bodies[0].parts[0].material.c10: is for the law"},
      {"{\"law\": \"ogden\", \"ogden\": [[-1e5, 2]]}", "{}", "shear modulus"},
      {"{\"law\": \"mooney_rivlin\", \"c01\": -1}", "{}", "shear modulus"},
      {"{\"law\": \"ogden\", \"ogden\": [[1e5, 0]]}", "{}", "exponent 1"},
      {"{\"law\": \"mooney_rivlin\", \"c10\": 1e5, \"young\": 3e5}", "{}",
       "bodies[0].material.young"},
      {"{\"bulk\": 1e9}", "{}", "bodies[0].material.bulk: is for the laws"},
      {"{\"law\": \"ogden\", \"ogden\": [[1e5, 2]]}", "{\"young\": 1e6}",
       "bodies[0].parts[0].material.young: is not used with the parameters of the law \"ogden\""},
  };
  NoliContext* context = test_context(1);
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    NoliScene* scene = NULL;
    NoliSim* sim = NULL;
    NoliStatus status = parse(context, cases[k][0], cases[k][1], &scene);
    if (status == NOLI_OK) {
      status = noli_sim_create(context, noli_scene_sim_def(scene), &sim);
    }
    assert_int_not_equal(status, NOLI_OK);
    if (strstr(noli_context_message(context), cases[k][2]) == NULL) {
      fail_msg("%s", noli_context_message(context));
    }
    noli_scene_destroy(&scene);
  }
  test_context_done(&context);
}

static void listen(void* user, NoliLogLevel level, const char* text) {
  if (level == NOLI_LOG_WARNING) {
    snprintf(user, 512, "%s", text);
  }
}

static void unstable_coefficients_are_warned_about(void** state) {
  (void)state;
  static const char* const rubbers[][2] = {
      {"{\"law\": \"mooney_rivlin\", \"c10\": 1e5, \"c01\": 1e4}", ""},
      {"{\"law\": \"mooney_rivlin\", \"c10\": 1e5, \"c01\": -1e4}",
       "body \"b\": with these parameters the law \"mooney_rivlin\" is unstable from a stretch of "
       "2.2"},
      {"{\"law\": \"ogden\", \"ogden\": [[1e5, 2], [-1e4, 4]]}",
       "is unstable from a stretch of 3."},
  };
  for (size_t k = 0; k < sizeof rubbers / sizeof *rubbers; k++) {
    char heard[512] = "";
    NoliContextDef def = noli_default_context_def();
    NoliContext* context = NULL;
    NoliScene* scene = NULL;
    NoliSim* sim = NULL;
    def.log = listen;
    def.log_user = heard;
    ASSERT_OK(noli_context_create(&def, &context));
    ASSERT_OK(parse(context, rubbers[k][0], "{}", &scene));
    ASSERT_OK(noli_sim_create(context, noli_scene_sim_def(scene), &sim));
    if (strstr(heard, rubbers[k][1]) == NULL || (rubbers[k][1][0] == '\0') != (heard[0] == '\0')) {
      fail_msg("%zu: %s", k, heard);
    }
    noli_sim_destroy(&sim);
    noli_scene_destroy(&scene);
    noli_context_destroy(&context);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(bodies_and_parts_have_parameters),
      cmocka_unit_test(refusals_name_the_place),
      cmocka_unit_test(unstable_coefficients_are_warned_about),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
