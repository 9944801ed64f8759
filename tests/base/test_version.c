// The version of the headers is that of the library, of CMake and of pkg-config.
#include "support.h"

#include <string.h>

static void macros_say_the_same(void** state) {
  (void)state;
  char text[64];
  snprintf(text, sizeof text, "%d.%d.%d", NOLI_VERSION_MAJOR, NOLI_VERSION_MINOR,
           NOLI_VERSION_PATCH);
  assert_string_equal(NOLI_VERSION, text);
  assert_int_equal(NOLI_VERSION_NUMBER,
                   NOLI_VERSION_MAJOR * 1000000 + NOLI_VERSION_MINOR * 1000 + NOLI_VERSION_PATCH);
  assert_true(NOLI_VERSION_NUMBER >= NOLI_MAKE_VERSION(0, 1, 0));
  assert_true(NOLI_VERSION_NUMBER < NOLI_MAKE_VERSION(NOLI_VERSION_MAJOR + 1, 0, 0));
}

static void library_is_of_the_same_version(void** state) {
  (void)state;
  assert_string_equal(noli_version(), NOLI_VERSION);
  assert_int_equal(noli_version_number(), NOLI_VERSION_NUMBER);
}

static void project_takes_its_version_from_the_header(void** state) {
  (void)state;
  assert_string_equal(PROJECT_VERSION, NOLI_VERSION);
  assert_int_equal(PROJECT_SOVERSION, NOLI_ABI_VERSION);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(macros_say_the_same),
      cmocka_unit_test(library_is_of_the_same_version),
      cmocka_unit_test(project_takes_its_version_from_the_header),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
