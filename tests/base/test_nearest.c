#include "support.h"

#include "noli/extend.h"

static const char* const words[] = {"cholmod", "dense", "pcg", "friction", "friction_speed"};
enum { N_WORDS = sizeof words / sizeof words[0] };

static void finds_misspelt_words(void** state) {
  (void)state;
  assert_string_equal(noli_nearest("colmod", words, N_WORDS), "cholmod");
  assert_string_equal(noli_nearest("CHOLMOD", words, N_WORDS), "cholmod");
  assert_string_equal(noli_nearest("cg", words, N_WORDS), "pcg");
  assert_string_equal(noli_nearest("desne", words, N_WORDS), "dense");
  assert_string_equal(noli_nearest("chol", words, N_WORDS), "cholmod");
  assert_string_equal(noli_nearest("fricton_sped", words, N_WORDS), "friction_speed");
  assert_string_equal(noli_nearest("friction", words, N_WORDS), "friction");
}

static void reports_nothing_when_nothing_is_near(void** state) {
  (void)state;
  char longer[200];
  memset(longer, 'a', sizeof longer - 1);
  longer[sizeof longer - 1] = '\0';
  assert_null(noli_nearest("multigrid", words, N_WORDS));
  assert_null(noli_nearest("", words, N_WORDS));
  assert_null(noli_nearest(NULL, words, N_WORDS));
  assert_null(noli_nearest(longer, words, N_WORDS));
  assert_null(noli_nearest("pcg", words, 0));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(finds_misspelt_words),
      cmocka_unit_test(reports_nothing_when_nothing_is_near),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
