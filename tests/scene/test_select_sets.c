// Selections by the named sets of mesh files: what they select, in all bodies that have them, and
// messages for names that do not exist.
#include "scene_support.h"

// A bar of two cubes along x, each of five tetrahedra, with sets of its ends.
static const char bar[] =
    "*NODE\n1, 0, 0, 0\n2, 1, 0, 0\n3, 2, 0, 0\n4, 0, 1, 0\n5, 1, 1, 0\n6, 2, 1, 0\n"
    "7, 0, 0, 1\n8, 1, 0, 1\n9, 2, 0, 1\n10, 0, 1, 1\n11, 1, 1, 1\n12, 2, 1, 1\n50, 9, 9, 9\n"
    "*ELEMENT, TYPE=C3D4, ELSET=LEFT_HALF\n1, 1, 2, 4, 7\n2, 5, 4, 2, 11\n3, 8, 7, 11, 2\n"
    "4, 10, 11, 7, 4\n5, 2, 11, 4, 7\n"
    "*ELEMENT, TYPE=C3D4, ELSET=RIGHT_HALF\n6, 3, 6, 2, 9\n7, 5, 2, 6, 11\n8, 8, 2, 11, 9\n"
    "9, 12, 11, 6, 9\n10, 2, 11, 9, 6\n"
    "*NSET, NSET=Fixed\n1, 4, 7, 10\n*NSET, NSET=Loaded\n3, 6, 9, 12, 50\n*NSET, NSET=Lost\n50\n";

#define SCENE(selection, more)                                                                     \
  "{'time': {'steps': 1}, 'contact': {'enabled': false},\n"                                        \
  " 'bodies': [{'name': 'bar', 'mesh': 'sets_bar.inp'" more "},\n"                                 \
  "            {'name': 'box', 'mesh': {'box': {'cells': [1, 1, 1]}}, 'translate': [0, 3, 0]}],\n" \
  " 'prescribed': [" selection "]}"

static NoliStatus load(NoliContext* context, const char* text, NoliScene** scene) {
  write_file("sets_bar.inp", bar);
  return parse_quoted(context, text, scene);
}

static void assert_selected(const char* text, int32_t n, const int32_t* node) {
  NoliContext* context = test_context(1);
  NoliScene* scene = NULL;
  NoliStatus status = load(context, text, &scene);
  if (status != NOLI_OK) {
    print_error("%s\n", noli_context_message(context));
  }
  assert_int_equal(status, NOLI_OK);
  const NoliSimDef* def = noli_scene_sim_def(scene);
  assert_int_equal(def->n_motions, 1);
  assert_int_equal(def->motions[0].body, 0);
  assert_int_equal(def->motions[0].n_node, n);
  assert_memory_equal(def->motions[0].node, node, (size_t)n * sizeof *node);
  noli_scene_destroy(&scene);
  test_context_done(&context);
}

#define HOLD(name) "{'body': 'bar', 'select': {'set': '" name "'}, 'motion': {'hold': true}}"

static void sets_select_their_vertices(void** state) {
  (void)state;
  const int32_t fixed[] = {0, 3, 6, 9}, loaded[] = {2, 5, 8, 11};
  const int32_t both[] = {0, 2, 3, 5, 6, 8, 9, 11}, right[] = {1, 2, 4, 5, 7, 8, 10, 11};
  assert_selected(SCENE(HOLD("Fixed"), ""), 4, fixed);
  // vertex 50 belongs to no element
  assert_selected(SCENE(HOLD("Loaded"), ""), 4, loaded);
  // names of .inp files have no case
  assert_selected(SCENE(HOLD("FIXED"), ""), 4, fixed);
  // sets of elements
  assert_selected(SCENE(HOLD("right_half"), ""), 8, right);
  // unions
  assert_selected(SCENE("{'body': 'bar', 'select': [{'set': 'Fixed'}, {'set': 'Loaded'}],"
                        " 'motion': {'hold': true}}",
                        ""),
                  8, both);
  // of all bodies, those that have the set
  assert_selected(SCENE("{'body': '*', 'select': {'set': 'Fixed'}, 'motion': {'hold': true}}", ""),
                  4, fixed);
}

// With the vertices of a face, elements of order 2 have all nodes of the face selected: 4 corners,
// 4 edges and a diagonal.
static void sets_select_nodes_between(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  NoliScene* scene = NULL;
  ASSERT_OK(load(context, SCENE(HOLD("Fixed"), ", 'order': 2"), &scene));
  assert_int_equal(noli_scene_sim_def(scene)->motions[0].n_node, 9);
  noli_scene_destroy(&scene);
  test_context_done(&context);
}

// Parts have the elements all of whose vertices are in a set.
static void sets_select_elements(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  NoliScene* scene = NULL;
  ASSERT_OK(load(context,
                 SCENE(HOLD("Fixed"), ", 'parts': [{'select': {'set': 'right_half'},"
                                      " 'material': {'young': 2e6}}]"),
                 &scene));
  const NoliBodyDef* body = &noli_scene_sim_def(scene)->bodies[0];
  const int32_t right[] = {5, 6, 7, 8, 9};
  assert_int_equal(body->n_parts, 1);
  assert_int_equal(body->parts[0].n_element, 5);
  assert_memory_equal(body->parts[0].element, right, sizeof right);
  noli_scene_destroy(&scene);
  test_context_done(&context);
}

static void wrong_names_are_located(void** state) {
  (void)state;
  static const struct {
    const char* text;
    const char* message;
  } wrong[] = {
      {SCENE(HOLD("Fixd"), ""),
       "scene.json:4: prescribed[0].select.set: the mesh of \"bar\" has no set \"Fixd\"; did you "
       "mean \"Fixed\"? known: \"Fixed\", \"Loaded\", \"Lost\", \"LEFT_HALF\", \"RIGHT_HALF\""},
      {SCENE(HOLD("zzz"), ""), "the mesh of \"bar\" has no set \"zzz\"; known: \"Fixed\""},
      {SCENE(HOLD("Lost"), ""), "the set \"Lost\" has no vertices in \"bar\""},
      {SCENE("{'body': 'box', 'select': {'set': 'Fixed'}, 'motion': {'hold': true}}", ""),
       "the mesh of \"box\" has no named sets"},
      {SCENE(HOLD("Fixed"), ", 'refine': 1"), "sets_bar.inp\" are those of its own vertices"},
      {SCENE(HOLD("Fixed"), ", 'parts': [{'select': {'set': 'Fixed'}, 'material': {}}]"),
       "bodies[0].parts[0].select.set: the set \"Fixed\" has no elements in \"bar\""},
      {SCENE(HOLD("Fixed"), ", 'parts': [{'select': {'set': 'left'}, 'material': {}}]"),
       "parts[0].select.set: the mesh of \"bar\" has no set \"left\""},
      {SCENE("{'body': 'bar', 'select': {'set': 3}, 'motion': {'hold': true}}", ""),
       "select.set: must be a string"},
  };
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    NoliContext* context = test_context(1);
    NoliScene* scene = NULL;
    ASSERT_STATUS(load(context, wrong[i].text, &scene), NOLI_ERROR_FORMAT);
    if (strstr(noli_context_message(context), wrong[i].message) == NULL) {
      print_error("got  %s\nwant %s\n", noli_context_message(context), wrong[i].message);
      fail();
    }
    test_context_done(&context);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(sets_select_their_vertices),
      cmocka_unit_test(sets_select_nodes_between),
      cmocka_unit_test(sets_select_elements),
      cmocka_unit_test(wrong_names_are_located),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
