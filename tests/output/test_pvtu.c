// Frames in parts: read back, any number of parts makes the frame that the format "vtu" has, to the
// bit; what parts lack, and damage of their list, is found.
#include "output_support.h"

#include "noli/scene.h"
#include "output/file.h"
#include "output/frames/frame.h"
#include "output/frames/frame_format.h"
#include "output/frames/pvtu.h"
#include "output/frames/vtu.h"
#include "output/frames/vtu_reader.h"

enum { MOST_PARTS = 100 }; // more than cells

static const char scene_text[] =
    "{\"name\": \"parts\", \"time\": {\"step\": 0.01, \"steps\": 2},"
    " \"bodies\": [{\"name\": \"box\", \"mesh\": {\"box\": {\"size\": [1, 1, 1], \"cells\": [2, 1, "
    "2]}},"
    "             \"velocity\": [0.2, -0.1, 0]},"
    "            {\"name\": \"curved\", \"mesh\": {\"box\": {\"size\": [1, 1, 1], \"cells\": [1, "
    "1, 1]}},"
    "             \"translate\": [3, 0, 0], \"order\": 2}],"
    " \"obstacles\": [{\"name\": \"plate\", \"translate\": [0, -2, 0],"
    "                \"mesh\": {\"plane\": {\"size\": [1, 1], \"cells\": [1, 1]}}},"
    "               {\"name\": \"dots\", \"as\": \"points\", \"translate\": [9, 1, 0],"
    "                \"mesh\": {\"plane\": {\"size\": [1, 1], \"cells\": [1, 1]}}}]}";

static const int32_t n_parts_tried[] = {1, 2, 3, 7, MOST_PARTS, 2};

// Writes the same frame as one file and in parts, and the latter once more in fewer of them.
static NoliStatus write_both(NoliContext* context, const char* path, const NoliFrame* frame) {
  NoliStatus status = NOLI_OK;
  (void)path;
  NOLI_TRY(noli_vtu_write(context, "pvtu/frame_000000.vtu", frame));
  for (int32_t i = 0; i < (int32_t)(sizeof n_parts_tried / sizeof *n_parts_tried); i++) {
    char name[64];
    snprintf(name, sizeof name, "pvtu/frame_%06d.pvtu", (int)i + 1);
    for (int32_t k = 0; k < n_parts_tried[i]; k++) {
      NOLI_TRY(noli_pvtu_write_part(context, name, frame, k, n_parts_tried[i]));
    }
    NOLI_TRY(noli_pvtu_write_index(context, name, frame, n_parts_tried[i]));
  }
done:
  return status;
}

static void write_frames(NoliContext* context) {
  static const NoliFrameFormat both = {.name = "both", .has_cells = true, .write = write_both};
  NoliScene* scene = NULL;
  NoliSim* sim = NULL;
  NoliFrameLayout layout;
  test_empty_directory("pvtu");
  ASSERT_OK(noli_scene_parse(context, scene_text, "parts.json", NULL, NULL, 0, &scene));
  ASSERT_OK(noli_sim_create(context, noli_scene_sim_def(scene), &sim));
  ASSERT_OK(noli_sim_step(sim, NULL));
  ASSERT_OK(noli_frame_layout_create(context, sim, noli_scene_sim_def(scene), &layout));
  ASSERT_OK(noli_frame_write(context, sim, &layout, &both, "unused"));
  noli_frame_layout_free(context, &layout);
  noli_sim_destroy(&sim);
  noli_scene_destroy(&scene);
}

static void parts_make_the_frame(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  NoliReadFrame whole;
  write_frames(context);
  ASSERT_OK(noli_vtu_read(context, "pvtu/frame_000000.vtu", NULL, &whole));
  assert_true(whole.n_cells > 7 && whole.n_cells < MOST_PARTS && whole.arrays.count > 8);
  for (int32_t i = 0; i < (int32_t)(sizeof n_parts_tried / sizeof *n_parts_tried); i++) {
    NoliReadFrame frame;
    char name[64];
    snprintf(name, sizeof name, "pvtu/frame_%06d.pvtu", (int)i + 1);
    ASSERT_OK(noli_frame_format_pvtu.read(context, name, NULL, &frame));
    assert_int_equal(frame.n_vert, whole.n_vert);
    assert_int_equal(frame.n_cells, whole.n_cells);
    ASSERT_NEAR(frame.time, whole.time, 0.0);
    assert_int_equal(frame.arrays.count, whole.arrays.count);
    for (int64_t k = 0; k < whole.arrays.count; k++) {
      const NoliReadArray *a = &frame.arrays.data[k], *b = &whole.arrays.data[k];
      assert_string_equal(a->section, b->section);
      assert_string_equal(a->name, b->name);
      assert_true(a->type == b->type && a->n_components == b->n_components);
      assert_int_equal(a->n_tuples, b->n_tuples);
      assert_memory_equal(a->data, b->data,
                          (size_t)(b->n_tuples * b->n_components * noli_frame_type_size(b->type)));
    }
    noli_read_frame_free(context, &frame);
  }
  noli_read_frame_free(context, &whole);
  test_context_done(&context);
}

// A frame that is written again in fewer parts leaves none of the others.
static void old_parts_are_removed(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  NoliReadFrame frame;
  write_frames(context);
  assert_true(noli_file_exists("pvtu/frame_000004_0006.vtu"));
  assert_true(noli_frame_is_part(&noli_frame_format_pvtu, "frame_000004_0006.vtu"));
  assert_false(noli_frame_is_part(&noli_frame_format_pvtu, "frame_000004_6.vtu"));
  assert_false(noli_frame_is_part(&noli_frame_format_pvtu, "frame_000004.vtu"));
  assert_false(noli_frame_is_part(&noli_frame_format_vtu, "frame_000004_0006.vtu"));
  const NoliFrame none = {.n_vert = 0};
  ASSERT_OK(noli_pvtu_write_index(context, "pvtu/frame_000004.pvtu", &none, 2));
  assert_false(noli_file_exists("pvtu/frame_000004_0002.vtu"));
  assert_false(noli_file_exists("pvtu/frame_000004_0006.vtu"));
  assert_true(noli_file_exists("pvtu/frame_000004_0001.vtu"));
  ASSERT_STATUS(noli_frame_format_pvtu.read(context, "pvtu/frame_000004.pvtu", NULL, &frame),
                NOLI_ERROR_FORMAT);
  test_context_done(&context);
}

// Every wrong byte of the list, a part that is missing, and one of another frame.
static void damage_is_found(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  const char* path = "pvtu/frame_000003.pvtu";
  NoliReadFrame frame;
  size_t size = 0;
  write_frames(context);
  char* text = test_read_file(path, &size);
  for (size_t at = 0; at < size; at++) {
    text[at] = (char)(text[at] ^ 1);
    test_write_file(path, text, size);
    NoliStatus status = noli_frame_format_pvtu.read(context, path, NULL, &frame);
    assert_true(status == NOLI_ERROR_FORMAT);
    assert_non_null(strstr(noli_context_message(context), path));
    text[at] = (char)(text[at] ^ 1);
  }
  test_write_file(path, text, size);
  ASSERT_OK(noli_frame_format_pvtu.read(context, path, NULL, &frame));
  noli_read_frame_free(context, &frame);
  free(text);

  // the middle part of seven instead of that of three: cells and vertices are missing
  text = test_read_file("pvtu/frame_000004_0003.vtu", &size);
  test_write_file("pvtu/frame_000003_0001.vtu", text, size);
  ASSERT_STATUS(noli_frame_format_pvtu.read(context, path, NULL, &frame), NOLI_ERROR_FORMAT);
  assert_int_equal(unlink("pvtu/frame_000003_0001.vtu"), 0);
  ASSERT_STATUS(noli_frame_format_pvtu.read(context, path, NULL, &frame), NOLI_ERROR_IO);
  free(text);
  test_context_done(&context);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(parts_make_the_frame),
      cmocka_unit_test(old_parts_are_removed),
      cmocka_unit_test(damage_is_found),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
