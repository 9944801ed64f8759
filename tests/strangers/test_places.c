// A start that is refused says where in the scene the body is that must move.
#include "support.h"

#include "noli/scene.h"
#include "noli/sim.h"

#define HEAD "{\"time\": {\"step\": 0.01, \"steps\": 1},\n \"bodies\": [\n"
#define BOX "\"mesh\": {\"box\": {\"size\": [1, 1, 1], \"cells\": [1, 1, 1]}}"

static void refused_starts_have_a_place(void** state) {
  (void)state;
  static const struct {
    const char *text, *message;
  } cases[] = {
      {HEAD "  {\"name\": \"a\", " BOX "},\n  {\"name\": \"b\", " BOX
            ", \"translate\": [0.5, 0.3, 0.1]}]}",
       "p.json:3: bodies[0]"},
      {HEAD "  {\"name\": \"a\", " BOX ", \"translate\": [0, 2, 0]},\n  {\"name\": \"b\", " BOX
            "}],\n \"half_spaces\": [{\"name\": \"floor\"}]}",
       "p.json:4: bodies[1]"},
  };
  NoliContext* context = test_context(1);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    NoliScene* scene = NULL;
    NoliSim* sim = NULL;
    ASSERT_OK(noli_scene_parse(context, cases[i].text, "p.json", NULL, NULL, 0, &scene));
    ASSERT_STATUS(noli_sim_create(context, noli_scene_sim_def(scene), &sim),
                  NOLI_ERROR_INTERSECTION);
    const char* message = noli_context_message(context);
    assert_true(strncmp(message, cases[i].message, strlen(cases[i].message)) == 0);
    assert_non_null(strstr(message, "defects; the first: "));
    noli_scene_destroy(&scene);
  }
  test_context_done(&context);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(refused_starts_have_a_place)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
