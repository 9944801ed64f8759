// Lines of values in JSON text.
#include "scene/scene_support.h"

#include "text/locate.h"
#include "text/node.h"

typedef struct Lookup {
  const char* text;
  NoliSceneStep steps[4];
  int32_t n_steps;
  int32_t line;
  bool absent;
} Lookup;

#define KEY(name)                                                                                  \
  { .key = (name) }
#define ITEM(i)                                                                                    \
  { .index = (i) }

static const Lookup lookups[] = {
    {"{}", {KEY("a")}, 1, 1, true},
    {"\n\n{}", {KEY("a")}, 0, 3, false},
    {"{\"a\":\n1,\n\"b\":2}", {KEY("b")}, 1, 3, false},
    // the line of the key, not of the value
    {"{\n\"a\"\n:\n1}", {KEY("a")}, 1, 2, false},
    {"{\"a\": [1,\n2,\n3]}", {KEY("a"), ITEM(2)}, 2, 3, false},
    {"[\n[1, 2], [3,\n4]]", {ITEM(1), ITEM(1)}, 2, 3, false},
    // missing keys: the line of the object that lacks them
    {"{\"a\":\n{\"b\": 1}}", {KEY("a"), KEY("c")}, 2, 1, true},
    {"{\"a\": {\n\"b\": {}}}", {KEY("a"), KEY("b"), KEY("c")}, 3, 2, true},
    {"[1,\n2]", {ITEM(5)}, 1, 1, true},
    {"[]", {ITEM(0)}, 1, 1, true},
    {"{\"a\": 1}", {KEY("a"), KEY("b")}, 2, 1, true},
    {"{\"a\": 1}", {ITEM(0)}, 1, 1, true},
    // brackets, quotes and escapes in strings
    {"{\"x\": \"}]{[,\\\"\\\\\",\n\"b\": 2}", {KEY("b")}, 1, 2, false},
    {"{\"x\": \"\\\\\",\n\"b\": 2}", {KEY("b")}, 1, 2, false},
    {"{\"x\": [{\"b\": 1}, {\"b\": [\"b\", {}]}],\n\"b\": 2}", {KEY("b")}, 1, 2, false},
    {"{\"b\\n\": 1,\n\"b\": 2}", {KEY("b")}, 1, 2, false},
    {"{\"b\\n\": 1,\n\"b\": 2}", {KEY("b\n")}, 1, 1, false},
    {"{\"q\": 1,\n\"\\u0062\": 2}", {KEY("b")}, 1, 2, false},
    {"{\"q\": 1,\n\"\\u00e4\": 2}", {KEY("\xc3\xa4")}, 1, 2, false},
    {"{\"q\": 1,\n\"\\u20AC\": 2}", {KEY("\xe2\x82\xac")}, 1, 2, false},
    {"{\"q\": 1,\n\"\\ud83d\\uDE00\": 2}", {KEY("\xf0\x9f\x98\x80")}, 1, 2, false},
    {"{\"bb\": 1,\n\"b\": 2}", {KEY("b")}, 1, 2, false},
    {"{\"\": 1,\n\"b\": 2}", {KEY("b")}, 1, 2, false},
    {"{\"b\": 1,\n\"\": 2}", {KEY("")}, 1, 2, false},
    {"{\"a\": true, \"c\": null, \"d\": -1.5e+3,\r\n\"b\": 2}", {KEY("b")}, 1, 2, false},
};

static void lines_are_found(void** state) {
  (void)state;
  for (size_t i = 0; i < sizeof lookups / sizeof *lookups; i++) {
    const Lookup* l = &lookups[i];
    bool found;
    int32_t line = noli_scene_locate(l->text, strlen(l->text), l->steps, l->n_steps, &found);
    if (line != l->line || found == l->absent) {
      print_error("%s: got line %d, want %d\n", l->text, (int)line, (int)l->line);
      fail();
    }
  }
}

static void depth_costs_no_stack(void** state) {
  (void)state;
  enum { N = 1000000 };
  char* text = malloc(2 * N + 64);
  assert_non_null(text);
  strcpy(text, "{\"a\": ");
  size_t n = strlen(text);
  memset(text + n, '[', N);
  memset(text + n + N, ']', N);
  strcpy(text + n + 2 * N, ",\n\"b\": 1}");
  NoliSceneStep step = KEY("b");
  bool found;
  assert_int_equal(noli_scene_locate(text, strlen(text), &step, 1, &found), 2);
  assert_true(found);
  free(text);
}

static void broken_text_gives_some_line(void** state) {
  (void)state;
  TestRandom random = {.state = 7};
  static const char alphabet[] = "{}[]:,\"\\ab1 \n";
  for (int i = 0; i < 100000; i++) {
    char text[40];
    size_t n = test_random_bits(&random) % sizeof text;
    int32_t lines = 1;
    for (size_t k = 0; k < n; k++) {
      text[k] = alphabet[test_random_bits(&random) % (sizeof alphabet - 1)];
      lines += text[k] == '\n';
    }
    NoliSceneStep steps[2] = {KEY("a"), ITEM(1)};
    if (test_random_bits(&random) % 2 == 0) {
      steps[0] = (NoliSceneStep)ITEM(1);
    }
    bool found;
    int32_t line = noli_scene_locate(text, n, steps, 2, &found);
    assert_in_range(line, 1, lines);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(lines_are_found),
      cmocka_unit_test(depth_costs_no_stack),
      cmocka_unit_test(broken_text_gives_some_line),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
