// The list of frames grows in place: complete after every frame, rarely replaced.
#include "output_support.h"

#include "output/frames/frame_list.h"

#include <errno.h>

enum { N_FRAMES = 300 };

#define LIST "pvd_frames.pvd"

// Requests of one kind are counted; a failure may be requested.
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

// Reads the list like other programs and compares it with the first `count` frames.
static void expect_frames(NoliContext* context, const NoliFrameFormat* format, int64_t count) {
  NoliFrameList read;
  size_t size = 0;
  char* text = test_read_file(LIST, &size);
  const char* end = format->list.end;
  assert_true(size > strlen(end) && strcmp(text + size - strlen(end), end) == 0);
  assert_ptr_equal(strstr(text, end), text + size - strlen(end));
  free(text);
  ASSERT_OK(noli_frame_list_read(context, format, LIST, &read));
  assert_int_equal(read.frames.count, count);
  for (int64_t i = 0; i < count; i++) {
    assert_int_equal(read.frames.data[i].step, i);
    assert_true(read.frames.data[i].time == time_of(i));
  }
  noli_frame_list_free(context, &read);
}

static void append(NoliContext* context, NoliFrameList* list, int64_t from, int64_t to) {
  for (int64_t i = from; i < to; i++) {
    ASSERT_OK(noli_frame_list_append(context, list, i, time_of(i), LIST));
  }
}

static void list_is_whole_after_every_frame(void** state) {
  const NoliFrameFormat* format = *state;
  NoliContext* context = test_context(1);
  Requests renames = {.request = "rename"};
  NoliFrameList list = {.format = format};
  context->disk_fault = count_request;
  context->disk_fault_user = &renames;
  (void)remove(LIST);
  for (int64_t i = 0; i < N_FRAMES; i++) {
    append(context, &list, i, i + 1);
    expect_frames(context, format, i + 1);
  }

  size_t grown_size = 0, written_size = 0;
  char* grown = test_read_file(LIST, &grown_size);
  // two frames of each page of 4096 bytes, at most, meet the next page
  assert_true(renames.count >= 1);
  assert_true(renames.count <= 2 * (1 + (int64_t)grown_size / 4096));

  // a list written in one call is the same
  ASSERT_OK(noli_frame_list_write(context, &list, LIST));
  char* written = test_read_file(LIST, &written_size);
  assert_int_equal(grown_size, written_size);
  assert_memory_equal(grown, written, grown_size);
  free(grown);
  free(written);
  noli_frame_list_free(context, &list);
  test_context_done(&context);
}

static void list_that_others_touched_is_replaced(void** state) {
  const NoliFrameFormat* format = *state;
  NoliContext* context = test_context(1);
  NoliFrameList list = {.format = format};
  (void)remove(LIST);
  append(context, &list, 0, 5);
  assert_int_equal(remove(LIST), 0);
  append(context, &list, 5, 7);
  expect_frames(context, format, 7);
  test_write_file(LIST, "short\n", 6);
  append(context, &list, 7, 9);
  expect_frames(context, format, 9);

  // a list that was read grows too
  noli_frame_list_free(context, &list);
  ASSERT_OK(noli_frame_list_read(context, format, LIST, &list));
  append(context, &list, 9, 12);
  expect_frames(context, format, 12);
  noli_frame_list_free(context, &list);
  test_context_done(&context);
}

static void failed_write_leaves_the_list(void** state) {
  const NoliFrameFormat* format = *state;
  NoliContext* context = test_context(1);
  Requests writes = {.request = "write", .error = ENOSPC};
  NoliFrameList list = {.format = format};
  (void)remove(LIST);
  append(context, &list, 0, 5);
  context->disk_fault = count_request;
  context->disk_fault_user = &writes;
  ASSERT_STATUS(noli_frame_list_append(context, &list, 5, time_of(5), LIST), NOLI_ERROR_IO);
  assert_non_null(strstr(noli_context_message(context), LIST ": cannot write"));
  assert_int_equal(writes.count, 1);
  expect_frames(context, format, 5);
  context->disk_fault = NULL;
  append(context, &list, 6, 7);
  noli_frame_list_free(context, &list);
  ASSERT_OK(noli_frame_list_read(context, format, LIST, &list));
  assert_int_equal(list.frames.count, 7);
  noli_frame_list_free(context, &list);
  test_context_done(&context);
}

// A run finds its list by the name of the format.
static void format_follows_from_the_name(void** state) {
  const NoliFrameFormat* format = *state;
  NoliContext* context = test_context(1);
  NoliFrameList list = {.format = format};
  NoliRunFrame* frames = NULL;
  int64_t n_frames = 0;
  char path[256];
  snprintf(path, sizeof path, "named_%s", format->list.name);
  for (int64_t i = 0; i < 3; i++) {
    ASSERT_OK(noli_frame_list_append(context, &list, i, time_of(i), path));
  }
  ASSERT_OK(noli_run_read_frames(context, path, &frames, &n_frames));
  assert_int_equal(n_frames, 3);
  assert_int_equal(frames[2].step, 2);
  assert_true(frames[2].time == time_of(2));
  noli_run_free_frames(context, &frames);
  noli_frame_list_free(context, &list);
  test_context_done(&context);
}

static void* of(const NoliFrameFormat* format) {
  return (void*)(uintptr_t)format;
}

int main(void) {
  const NoliFrameFormat* vtu = &noli_frame_format_vtu;
  const NoliFrameFormat* ply = &noli_frame_format_ply;
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_prestate(list_is_whole_after_every_frame, of(vtu)),
      cmocka_unit_test_prestate(list_is_whole_after_every_frame, of(ply)),
      cmocka_unit_test_prestate(list_that_others_touched_is_replaced, of(vtu)),
      cmocka_unit_test_prestate(list_that_others_touched_is_replaced, of(ply)),
      cmocka_unit_test_prestate(failed_write_leaves_the_list, of(vtu)),
      cmocka_unit_test_prestate(failed_write_leaves_the_list, of(ply)),
      cmocka_unit_test_prestate(format_follows_from_the_name, of(vtu)),
      cmocka_unit_test_prestate(format_follows_from_the_name, of(ply)),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
