// The list of frames grows in place: whole after every frame, replaced only now and then.
#include "output_support.h"

#include "output/pvd.h"

#include <errno.h>

enum { N_FRAMES = 300 };

#define LIST "pvd_frames.pvd"

// Requests of one kind are counted; one of them can be made to fail.
typedef struct Requests {
  const char* request;
  int64_t count;
  int error;
} Requests;

static int count_request(void* user, const char* request, const char* path) {
  Requests* requests = user;
  (void)path;
  if (strcmp(request, requests->request) != 0) {
    return 0;
  }
  requests->count++;
  return requests->error;
}

static double time_of(int64_t step) {
  return (double)step / 3.0;
}

// Reads the list as others do and compares it with the first `count` frames.
static void expect_frames(NoliContext* context, int64_t count) {
  NoliPvd read;
  size_t size = 0;
  char* text = test_read_file(LIST, &size);
  const char* end = "</Collection>\n</VTKFile>\n";
  assert_true(size > strlen(end) && strcmp(text + size - strlen(end), end) == 0);
  assert_ptr_equal(strstr(text, "</Collection>"), text + size - strlen(end));
  free(text);
  ASSERT_OK(noli_pvd_read(context, LIST, &read));
  assert_int_equal(read.frames.count, count);
  for (int64_t i = 0; i < count; i++) {
    assert_int_equal(read.frames.data[i].step, i);
    assert_true(read.frames.data[i].time == time_of(i));
  }
  noli_pvd_free(context, &read);
}

static void append(NoliContext* context, NoliPvd* pvd, int64_t from, int64_t to) {
  for (int64_t i = from; i < to; i++) {
    ASSERT_OK(noli_pvd_append(context, pvd, i, time_of(i), LIST));
  }
}

static void list_is_whole_after_every_frame(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  Requests renames = {.request = "rename"};
  NoliPvd pvd = {0};
  context->disk_fault = count_request;
  context->disk_fault_user = &renames;
  (void)remove(LIST);
  for (int64_t i = 0; i < N_FRAMES; i++) {
    append(context, &pvd, i, i + 1);
    expect_frames(context, i + 1);
  }

  size_t grown_size = 0, written_size = 0;
  char* grown = test_read_file(LIST, &grown_size);
  // two frames of each page of 4096 bytes, at most, meet the next page
  assert_true(renames.count >= 1);
  assert_true(renames.count <= 2 * (1 + (int64_t)grown_size / 4096));

  // a file written at once is the same
  ASSERT_OK(noli_pvd_write(context, &pvd, LIST));
  char* written = test_read_file(LIST, &written_size);
  assert_int_equal(grown_size, written_size);
  assert_memory_equal(grown, written, grown_size);
  free(grown);
  free(written);
  noli_pvd_free(context, &pvd);
  test_context_done(&context);
}

static void list_that_others_touched_is_replaced(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  NoliPvd pvd = {0};
  (void)remove(LIST);
  append(context, &pvd, 0, 5);
  assert_int_equal(remove(LIST), 0);
  append(context, &pvd, 5, 7);
  expect_frames(context, 7);
  test_write_file(LIST, "short\n", 6);
  append(context, &pvd, 7, 9);
  expect_frames(context, 9);

  // a list that was read can be extended, too
  noli_pvd_free(context, &pvd);
  ASSERT_OK(noli_pvd_read(context, LIST, &pvd));
  append(context, &pvd, 9, 12);
  expect_frames(context, 12);
  noli_pvd_free(context, &pvd);
  test_context_done(&context);
}

static void failed_write_leaves_the_list(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  Requests writes = {.request = "write", .error = ENOSPC};
  NoliPvd pvd = {0};
  (void)remove(LIST);
  append(context, &pvd, 0, 5);
  context->disk_fault = count_request;
  context->disk_fault_user = &writes;
  ASSERT_STATUS(noli_pvd_append(context, &pvd, 5, time_of(5), LIST), NOLI_ERROR_IO);
  assert_non_null(strstr(noli_context_message(context), LIST ": cannot write"));
  assert_int_equal(writes.count, 1);
  expect_frames(context, 5);
  context->disk_fault = NULL;
  append(context, &pvd, 6, 7);
  noli_pvd_free(context, &pvd);
  ASSERT_OK(noli_pvd_read(context, LIST, &pvd));
  assert_int_equal(pvd.frames.count, 7);
  noli_pvd_free(context, &pvd);
  test_context_done(&context);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(list_is_whole_after_every_frame),
      cmocka_unit_test(list_that_others_touched_is_replaced),
      cmocka_unit_test(failed_write_leaves_the_list),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
