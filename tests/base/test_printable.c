// Text of users on terminals and in logs: noli_make_printable, and what passes it.
#include "support.h"

#include "noli/extend.h"

static void expect(const char* given, const char* want) {
  char text[64];
  snprintf(text, sizeof text, "%s", given);
  noli_make_printable(text);
  assert_string_equal(text, want);
}

static void terminals_get_nothing_to_obey(void** state) {
  (void)state;
  expect("plain text,\n\tof two lines", "plain text,\n\tof two lines");
  expect("a\033[2Jb", "a?[2Jb");
  expect("a\rb\ac\177d", "a?b?c?d");
  // in two bytes, and in one that is no UTF-8
  expect("a\xc2\x9b"
         "2Jb",
         "a??2Jb");
  expect("a\x9b"
         "2Jb",
         "a?2Jb");
  expect("Gr\xc3\xb6\xc3\x9f"
         "e \xe2\x82\xac \xf0\x9f\x8e\x89",
         "Gr\xc3\xb6\xc3\x9f"
         "e \xe2\x82\xac \xf0\x9f\x8e\x89");
  expect("cut \xe2\x82", "cut ??");
  noli_make_printable(NULL);
}

static void keep(void* user, NoliLogLevel level, const char* message) {
  (void)level;
  snprintf(user, 64, "%s", message);
}

static void messages_and_logs_pass_it(void** state) {
  (void)state;
  char logged[64] = "";
  NoliContext* context = NULL;
  NoliContextDef def = noli_default_context_def();
  def.log = keep;
  def.log_user = logged;
  ASSERT_OK(noli_context_create(&def, &context));
  noli_log(context, NOLI_LOG_WARNING, "body \"%s\"", "a\033c");
  assert_string_equal(logged, "body \"a?c\"");
  ASSERT_STATUS(noli_fail(context, NOLI_ERROR_FORMAT, "body \"%s\"", "b\033c"), NOLI_ERROR_FORMAT);
  assert_string_equal(noli_context_message(context), "body \"b?c\"");
  test_context_done(&context);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(terminals_get_nothing_to_obey),
      cmocka_unit_test(messages_and_logs_pass_it),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
