// Random damage to scenes, and memory that runs out: no crash, no leak, always a message.
#include "scene_support.h"

enum { N_MUTATIONS = 4000, MEMORY = 32 << 20 };

static const char seed_scene[] =
    "{'name': 'seed', 'time': {'step': 0.02, 'duration': 0.1, 'integrator': 'trapezoidal'},\n"
    " 'gravity': [1, 2, 3],\n"
    " 'bodies': [\n"
    "  {'name': 'a', 'mesh': {'box': {'size': [1, 2, 3], 'cells': [1, 2, 3]}},\n"
    "   'scale': 2, 'translate': [10, 0, 0], 'rotate': [0, 0, 90],\n"
    "   'material': {'law': 'fixed_corotated', 'young': 2e6, 'poisson': 0.3},\n"
    "   'velocity': [1, 0, 0], 'self_contact': false},\n"
    "  {'name': 'b', 'mesh': {'sphere': {'radius': 1, 'cells': 2}}, 'fit': 0.5,\n"
    "   'copies': {'count': 3, 'translate': [0, 1, 0]}}],\n"
    " 'obstacles': [\n"
    "  {'name': 'net', 'mesh': {'plane': {'size': [2, 2], 'cells': [2, 2]}}, 'as': 'edges',\n"
    "   'motion': {'rotation': {'axis': [0, 1, 0], 'speed': 'sin(t)'}, 'to': 2}},\n"
    "  {'name': 'c', 'mesh': 'missing.obj'}],\n"
    " 'half_spaces': [{'name': 'floor', 'normal': [0, 2, 0]}],\n"
    " 'prescribed': [{'body': 'a', 'select': [{'side': '-x'}, {'vertices': [1, 2]},\n"
    "   {'sphere': {'center': [10, 0, 0], 'radius': 9}}], 'motion': [\n"
    "   {'hold': true, 'to': 1}, {'velocity': ['t > 1 ? X : Y', 0, 0], 'from': 1}]}],\n"
    " 'forces': [{'body': 'b', 'acceleration': [0, 'clamp(Y, 0, 1)', 1], 'from': 0.5}],\n"
    " 'contact': {'distance': '2e-3 l', 'stiffness': 'adaptive'},\n"
    " 'friction': {'coefficient': 0.4, 'iterations': 'until_convergence'},\n"
    " 'pairs': [{'a': 'a', 'b': 'b', 'friction': 0.9}, {'a': 'floor', 'b': '*', 'contact': "
    "false}],\n"
    " 'solver': {'tolerance': 0.01, 'max_iterations': 50}, 'output': {'every': 2}}";

static void seed(char text[SCENE_TEXT], bool with_missing_file) {
  quoted(seed_scene, text);
  if (!with_missing_file) {
    char* entry = strstr(text, ",\n  {\"name\": \"c\"");
    const char* rest = strstr(entry, "],\n \"half");
    memmove(entry, rest, strlen(rest) + 1);
  }
}

// An allocator that refuses requests beyond a budget, or all from a given allocation on.
typedef struct Limits {
  size_t bytes;
  int64_t until_failure; // < 0: never
} Limits;

static void* limited_allocate(void* user, size_t size) {
  Limits* limits = user;
  if (limits->until_failure == 0 || limits->bytes + size > MEMORY) {
    return NULL;
  }
  limits->until_failure -= limits->until_failure > 0;
  limits->bytes += size;
  return malloc(size);
}

static void limited_release(void* user, void* memory, size_t size) {
  Limits* limits = user;
  limits->bytes -= size;
  free(memory);
}

static NoliContext* limited_context(Limits* limits) {
  NoliContextDef def = noli_default_context_def();
  def.n_threads = 1;
  def.allocate = limited_allocate;
  def.release = limited_release;
  def.allocator_user = limits;
  NoliContext* context = NULL;
  assert_int_equal(noli_context_create(&def, &context), NOLI_OK);
  return context;
}

// Damages the text in one of several ways and returns its new length.
static size_t mutate(TestRandom* random, char* text, size_t n) {
  static const char alphabet[] = "{}[]:,\"\\-+.eE0123456789tXl*'nabc \n\x01\xc3";
  static const char* const values[] = {"null", "true", "-1",    "0",  "1e300",  "[]",
                                       "{}",   "\"\"", "\"*\"", "99", "1e-300", "\"t+\""};

  // a random place
  size_t at = test_random_bits(random) % n;
  size_t length = test_random_bits(random) % 8 + 1;
  length = at + length > n ? n - at : length;

  // one of six kinds of damage
  switch (test_random_bits(random) % 6) {
  case 0:
    text[at] = alphabet[test_random_bits(random) % (sizeof alphabet - 1)];
    return n;
  case 1: // remove
    memmove(text + at, text + at + length, n - at - length + 1);
    return n - length;
  case 2: // repeat
    memmove(text + at + length, text + at, n - at + 1);
    return n + length;
  case 3: // move a part elsewhere
    memmove(text + at, text + test_random_bits(random) % (n - length + 1), length);
    return n;
  case 4: // change a digit
    for (; at < n && (text[at] < '0' || text[at] > '9'); at++) {
    }
    if (at < n) {
      text[at] = (char)('0' + test_random_bits(random) % 10);
    }
    return n;
  default: { // replace what follows a colon
    const char* value = values[test_random_bits(random) % (sizeof values / sizeof *values)];
    char* colon = strchr(text + at, ':');
    size_t room = colon != NULL ? strcspn(colon + 1, ",]}\n") : 0;
    if (colon == NULL || room < strlen(value)) {
      return n;
    }
    memset(colon + 1, ' ', room);
    memcpy(colon + 1, value, strlen(value));
    return n;
  }
  }
}

static void damaged_scenes_do_no_harm(void** state) {
  (void)state;
  TestRandom random = {.state = 20};
  Limits limits = {.until_failure = -1};
  NoliContext* context = limited_context(&limits);
  int n_good = 0;
  for (int i = 0; i < N_MUTATIONS; i++) {
    char text[SCENE_TEXT];
    // one in four names a file that does not exist
    seed(text, i % 4 == 0);
    size_t n = strlen(text);
    for (uint64_t k = test_random_bits(&random) % 3 + 1; k > 0 && n > 0; k--) {
      n = mutate(&random, text, n);
      n = strlen(text);
    }
    NoliScene* scene = NULL;
    NoliStatus status = noli_scene_parse(context, text, "fuzz.json", NULL, NULL, 0, &scene);
    assert_true(status <= 0);
    assert_int_equal(status == NOLI_OK, scene != NULL);
    assert_true(status == NOLI_OK || noli_context_message(context)[0] != '\0');
    n_good += status == NOLI_OK;
    noli_scene_destroy(&scene);
    assert_int_equal(noli_context_bytes(context), 0);
  }
  print_message("%d of %d damaged scenes were still valid\n", n_good, (int)N_MUTATIONS);
  assert_true(n_good > N_MUTATIONS / 50 && n_good < N_MUTATIONS);
  test_context_done(&context);
}

static void every_failed_allocation_is_reported(void** state) {
  (void)state;
  char text[SCENE_TEXT];
  seed(text, false);
  Limits limits = {.until_failure = -1};
  NoliContext* context = limited_context(&limits);
  NoliScene* scene = NULL;
  int64_t k = 0;
  for (;; k++) {
    limits.until_failure = k;
    NoliStatus status = noli_scene_parse(context, text, "memory.json", NULL, NULL, 0, &scene);
    char* json = NULL;
    if (status == NOLI_OK) {
      status = noli_scene_json(scene, &json);
    }
    bool done = status == NOLI_OK;
    noli_scene_free_text(context, &json);
    noli_scene_destroy(&scene);
    assert_int_equal(noli_context_bytes(context), 0);
    if (done) {
      break;
    }
    assert_int_equal(status, NOLI_ERROR_MEMORY);
  }
  print_message("%d allocations\n", (int)k);
  assert_true(k > 50);
  test_context_done(&context);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(damaged_scenes_do_no_harm),
      cmocka_unit_test(every_failed_allocation_is_reported),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
