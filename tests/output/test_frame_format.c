// Requirements on every format of frames: runs in it are audited, resumed, replaced; damage is
// found.
#include "output_support.h"

#include "noli/audit.h"
#include "noli/mesh.h"
#include "noli/run.h"
#include "noli/scene.h"
#include "output/frames/frame_format.h"

enum { N_STEPS = 6, EVERY = 2 };

// A box that falls onto a floor beside obstacles of all kinds, triangles, segments, points, and a
// rod whose sections turn at one end.
static const char scene_text[] =
    "{'name': 'box', 'time': {'step': 0.01, 'steps': 6},"
    " 'bodies': [{'name': 'box', 'mesh': {'box': {'size': [1, 1, 1], 'cells': [2, 2, 2]}},"
    "             'translate': [0, 0.5003, 0], 'velocity': [0.2, -0.1, 0]},"
    "            {'name': 'wire with twist', 'mesh': {'line': {'segments': 5}},"
    "             'translate': [-9, 1, 0], 'rod': {'radius': 0.01, 'twist': 1, 'second_radius': "
    "0.008,"
    "                                             'normal': [0, 0, 1]}}],"
    " 'prescribed': [{'body': 'wire with twist', 'select': {'side': '-x', 'depth': 0.25},"
    "                 'motion': {'rotation': {'axis': [1, 0, 0], 'origin': [-9, 1, 0],"
    "                                         'speed': 90}}}],"
    " 'half_spaces': [{'name': 'floor'}],"
    " 'obstacles': [{'name': 'plate', 'mesh': {'plane': {'size': [1, 1], 'cells': [1, 1]}},"
    "                'translate': [5, 1, 0]},"
    "               {'name': 'wire', 'as': 'edges', 'translate': [8, 1, 0],"
    "                'mesh': {'plane': {'size': [1, 1], 'cells': [1, 1]}}},"
    "               {'name': 'dots', 'as': 'points', 'translate': [11, 1, 0],"
    "                'mesh': {'plane': {'size': [1, 1], 'cells': [1, 1]}}}],"
    " 'friction': {'coefficient': 0.3},"
    " 'output': {'every': 2, 'format': 'FORMAT'}}";

typedef struct Session {
  NoliContext* context;
  const NoliFrameFormat* format;
  NoliScene* scene;
  NoliSim* sim;
  NoliRun* run;
  char* json;
  NoliRunDef def;
} Session;

// A scene in a format and its simulation; the run is opened by the caller.
static void begin(Session* session, const NoliFrameFormat* format, const char* directory) {
  char text[2 * sizeof scene_text];
  size_t n = 0;
  for (const char* c = scene_text; *c != '\0'; c++) {
    if (strncmp(c, "FORMAT", 6) == 0) {
      n += (size_t)snprintf(text + n, sizeof text - n, "%s", format->name);
      c += 5;
    } else {
      text[n++] = *c == '\'' ? '"' : *c;
    }
  }
  text[n] = '\0';
  *session = (Session){.context = test_context(1), .format = format};
  ASSERT_OK(noli_scene_parse(session->context, text, "box.json", NULL, NULL, 0, &session->scene));
  ASSERT_OK(noli_scene_json(session->scene, &session->json));
  const NoliSimDef* sim_def = noli_scene_sim_def(session->scene);
  ASSERT_OK(noli_sim_create(session->context, sim_def, &session->sim));
  assert_string_equal(noli_scene_output(session->scene).frame_format, format->name);
  session->def = noli_default_run_def();
  session->def.directory = directory;
  session->def.scene_name = "box";
  session->def.scene_json = session->json;
  session->def.sim_def = sim_def;
  session->def.frame_interval = EVERY;
  session->def.frame_format = format->name;
  session->def.checkpoint_seconds = -1.0;
}

static void end(Session* session) {
  noli_run_close(&session->run);
  noli_sim_destroy(&session->sim);
  noli_scene_free_text(session->context, &session->json);
  noli_scene_destroy(&session->scene);
  test_context_done(&session->context);
}

static void advance(Session* session, int n_steps) {
  for (int i = 0; i < n_steps; i++) {
    NoliStepReport report;
    ASSERT_OK(noli_sim_step(session->sim, &report));
    ASSERT_OK(noli_run_step(session->run, session->sim));
  }
}

static void record(const NoliFrameFormat* format, const char* directory, int n_steps) {
  Session session;
  test_empty_directory(directory);
  begin(&session, format, directory);
  ASSERT_OK(noli_run_open(session.context, &session.def, session.sim, &session.run));
  assert_string_equal(noli_run_list_name(session.run), format->list.name);
  advance(&session, n_steps);
  ASSERT_OK(noli_run_save(session.run, session.sim, true, NULL));
  end(&session);
}

static void path_of(const char* directory, const char* name, char path[256]) {
  snprintf(path, 256, "%s/%s", directory, name);
}

static void frame_path(const NoliFrameFormat* format, const char* directory, int64_t step,
                       char path[256]) {
  char name[NOLI_FRAME_NAME_SIZE];
  noli_frame_name(format, step, name);
  path_of(directory, name, path);
}

static NoliRunAudit audit(NoliContext* context, const char* directory) {
  NoliRunAudit result;
  ASSERT_OK(noli_run_audit(context, directory, &result));
  for (int64_t i = 0; i < result.n_findings && i < 2; i++) {
    print_message("  %s\n", result.findings[i].message);
  }
  return result;
}

// Formats are found by name, and each has its name.
static void formats_have_names_of_their_own(void** state) {
  (void)state;
  const NoliFrameFormat* format;
  int32_t n = 0;
  for (; (format = noli_frame_format_at(n)) != NULL; n++) {
    char name[NOLI_FRAME_NAME_SIZE];
    assert_ptr_equal(noli_frame_format_find(format->name), format);
    assert_string_equal(noli_run_frame_format(n), format->name);
    assert_string_equal(noli_run_frame_list(n), format->list.name);
    noli_frame_name(format, 1234567, name);
    assert_int_equal(noli_frame_step(format, name), 1234567);
    const NoliFrameFormat* other;
    for (int32_t i = 0; (other = noli_frame_format_at(i)) != NULL; i++) {
      assert_int_equal(noli_frame_step(other, name), i == n ? 1234567 : -1);
      assert_true(i == n || strcmp(other->list.name, format->list.name) != 0);
    }
  }
  assert_true(n >= 2);
  assert_null(noli_run_frame_format(n));
  assert_null(noli_run_frame_list(-1));
  assert_ptr_equal(noli_frame_format_find(NULL), noli_frame_format_at(0));
  assert_null(noli_frame_format_find("gif"));
  assert_int_equal(noli_frame_step(noli_frame_format_at(0), "frame_12.vtu"), -1);
  assert_int_equal(noli_frame_step(noli_frame_format_at(0), "frame_.vtu"), -1);
}

static void unknown_format_is_refused(void** state) {
  (void)state;
  Session session;
  test_empty_directory("format_unknown");
  begin(&session, noli_frame_format_at(0), "format_unknown");
  session.def.frame_format = "gif";
  ASSERT_STATUS(noli_run_open(session.context, &session.def, session.sim, &session.run),
                NOLI_ERROR_ARGUMENT);
  assert_non_null(strstr(noli_context_message(session.context), "\"gif\""));
  assert_int_equal(test_count_files("format_unknown"), 0);
  end(&session);
}

static void runs_are_audited(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  const NoliFrameFormat* format;
  for (int32_t i = 0; (format = noli_frame_format_at(i)) != NULL; i++) {
    char path[256];
    record(format, "format_run", N_STEPS);
    NoliRunAudit result = audit(context, "format_run");
    assert_int_equal(result.n_found, 0);
    assert_int_equal(result.n_frames, 1 + N_STEPS / EVERY);
    noli_run_audit_free(context, &result);

    // a missing frame, and one that is not in the list
    frame_path(format, "format_run", 2, path);
    assert_int_equal(unlink(path), 0);
    frame_path(format, "format_run", 3, path);
    test_write_file(path, "", 0);
    result = audit(context, "format_run");
    assert_int_equal(result.n_found, 2);
    noli_run_audit_free(context, &result);
  }
  test_context_done(&context);
}

// Frames and the list have the same bytes as those of an uninterrupted run.
static void runs_are_resumed(void** state) {
  (void)state;
  const NoliFrameFormat* format;
  for (int32_t i = 0; (format = noli_frame_format_at(i)) != NULL; i++) {
    Session session;
    char path[256], other[256];
    record(format, "format_whole", N_STEPS);
    test_empty_directory("format_cut");
    begin(&session, format, "format_cut");
    ASSERT_OK(noli_run_open(session.context, &session.def, session.sim, &session.run));
    advance(&session, 2);
    ASSERT_OK(noli_run_save(session.run, session.sim, false, NULL));
    advance(&session, 2);
    end(&session);
    frame_path(format, "format_cut", 4, path);
    assert_true(noli_file_exists(path));

    begin(&session, format, "format_cut");
    ASSERT_OK(noli_run_reopen(session.context, &session.def, session.sim, &session.run));
    assert_false(noli_file_exists(path));
    advance(&session, N_STEPS - 2);
    ASSERT_OK(noli_run_save(session.run, session.sim, true, NULL));
    end(&session);
    for (int64_t step = 0; step <= N_STEPS; step += EVERY) {
      frame_path(format, "format_cut", step, path);
      frame_path(format, "format_whole", step, other);
      test_same_file(path, other);
    }
    path_of("format_cut", format->list.name, path);
    path_of("format_whole", format->list.name, other);
    test_same_file(path, other);
  }
}

// A scene that asks for another format when it is resumed leaves no frames after the checkpoint; a
// new run removes the frames of all formats.
static void format_may_change(void** state) {
  (void)state;
  Session session;
  char path[256];
  const NoliFrameFormat *first = noli_frame_format_at(0), *second = noli_frame_format_at(1);
  test_empty_directory("format_changed");
  begin(&session, first, "format_changed");
  ASSERT_OK(noli_run_open(session.context, &session.def, session.sim, &session.run));
  advance(&session, 2);
  ASSERT_OK(noli_run_save(session.run, session.sim, false, NULL));
  advance(&session, 2);
  end(&session);
  begin(&session, second, "format_changed");
  ASSERT_OK(noli_run_reopen(session.context, &session.def, session.sim, &session.run));
  frame_path(first, "format_changed", 4, path);
  assert_false(noli_file_exists(path));
  advance(&session, 2);
  frame_path(second, "format_changed", 4, path);
  assert_true(noli_file_exists(path));
  ASSERT_OK(noli_run_save(session.run, session.sim, true, NULL));
  noli_run_close(&session.run);

  ASSERT_OK(noli_run_open(session.context, &session.def, session.sim, &session.run));
  frame_path(first, "format_changed", 2, path);
  assert_false(noli_file_exists(path));
  path_of("format_changed", first->list.name, path);
  assert_false(noli_file_exists(path));
  end(&session);
}

// Writes a frame again with moved vertices.
static void change_frame(NoliContext* context, const NoliFrameFormat* format, const char* path,
                         void (*change)(NoliReadFrame* frame)) {
  NoliReadFrame read;
  NoliFrameArray data[2][16];
  ASSERT_OK(format->read(context, path, NULL, &read));
  change(&read);
  NoliFrame frame = {.time = read.time,
                     .n_vert = read.n_vert,
                     .n_cells = read.n_cells,
                     .point_data = data[0],
                     .cell_data = data[1]};
  for (int64_t i = 0; i < read.arrays.count; i++) {
    const NoliReadArray* from = &read.arrays.data[i];
    const NoliFrameArray array = {from->name, from->type, from->n_components, from->data, false};
    bool of_points = strcmp(from->section, "PointData") == 0;
    if (of_points || strcmp(from->section, "CellData") == 0) {
      data[!of_points][of_points ? frame.n_point_data++ : frame.n_cell_data++] = array;
    } else if (strcmp(from->name, "Points") == 0) {
      frame.x = from->data;
    } else if (strcmp(from->name, "connectivity") == 0) {
      frame.connectivity = from->data;
    } else if (strcmp(from->name, "offsets") == 0) {
      frame.offsets = from->data;
    } else if (strcmp(from->name, "types") == 0) {
      frame.types = from->data;
    } else if (strcmp(from->name, "triangles") == 0) {
      frame.triangles = from->data;
      frame.n_triangles = (int32_t)from->n_tuples;
    } else if (strcmp(from->name, "segments") == 0) {
      frame.segments = from->data;
      frame.n_segments = (int32_t)from->n_tuples;
    }
  }
  ASSERT_OK(format->write(context, path, &frame));
  noli_read_frame_free(context, &read);
}

static double* array_of(NoliReadFrame* frame, const char* section, const char* name) {
  for (int64_t i = 0; i < frame->arrays.count; i++) {
    const NoliReadArray* array = &frame->arrays.data[i];
    if (strcmp(array->section, section) == 0 && strcmp(array->name, name) == 0) {
      return array->data;
    }
  }
  fail();
  return NULL;
}

static void sink(NoliReadFrame* frame) {
  array_of(frame, "Points", "Points")[1] = -1.0;
}

static void not_a_number(NoliReadFrame* frame) {
  array_of(frame, "Points", "Points")[4] = NAN;
}

static void turn_time(NoliReadFrame* frame) {
  frame->time += 1e-9;
}

static void change_body(NoliReadFrame* frame) {
  ((int32_t*)(void*)array_of(frame, "PointData", "body"))[2] = 1;
}

static void speed_up(NoliReadFrame* frame) {
  ((float*)(void*)array_of(frame, "PointData", "velocity"))[3] += 10.0f;
}

// The audit verifies the content of frames in any format.
static void wrong_content_is_found(void** state) {
  (void)state;
  static const struct {
    void (*change)(NoliReadFrame* frame);
    NoliFindingKind kind;
  } cases[] = {{sink, NOLI_FINDING_HALF_SPACE},
               {not_a_number, NOLI_FINDING_NOT_FINITE},
               {turn_time, NOLI_FINDING_TIME},
               {change_body, NOLI_FINDING_FILE},
               {speed_up, NOLI_FINDING_BALANCE}};
  NoliContext* context = test_context(1);
  const NoliFrameFormat* format;
  for (int32_t i = 0; (format = noli_frame_format_at(i)) != NULL; i++) {
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
      char path[256];
      bool found = false;
      record(format, "format_wrong", 2);
      frame_path(format, "format_wrong", 2, path);
      change_frame(context, format, path, cases[k].change);
      NoliRunAudit result = audit(context, "format_wrong");
      for (int64_t j = 0; j < result.n_findings; j++) {
        found = found || result.findings[j].kind == cases[k].kind;
      }
      assert_true(found);
      noli_run_audit_free(context, &result);
    }
  }
  test_context_done(&context);
}

// One wrong byte makes a frame of PLY unreadable, or its time wrong.
static void damaged_ply_is_refused(void** state) {
  (void)state;
  enum { STRIDE = 31 };
  const NoliFrameFormat* format = &noli_frame_format_ply;
  NoliContext* context = test_context(1);
  char path[256];
  size_t size = 0;
  int64_t n = 0, n_times = 0;
  record(format, "format_damaged", 2);
  frame_path(format, "format_damaged", 2, path);
  char* text = test_read_file(path, &size);
  for (size_t at = 0; at < size; at += at < 1000 ? 1 : STRIDE, n++) {
    NoliReadFrame frame;
    text[at] = (char)(text[at] ^ 1);
    test_write_file(path, text, size);
    NoliStatus status = format->read(context, path, NULL, &frame);
    text[at] = (char)(text[at] ^ 1);
    if (status == NOLI_OK) {
      n_times += frame.time != 0.02;
      assert_true(frame.time != 0.02);
    } else {
      assert_int_equal(status, NOLI_ERROR_FORMAT);
      assert_non_null(strstr(noli_context_message(context), path));
    }
    noli_read_frame_free(context, &frame);
  }
  for (size_t length = 0; length < size; length += 1 + size / 50) {
    NoliReadFrame frame;
    test_write_file(path, text, length);
    ASSERT_STATUS(format->read(context, path, NULL, &frame), NOLI_ERROR_FORMAT);
  }
  print_message("%lld damaged files, %lld of them with another time\n", (long long)n,
                (long long)n_times);
  assert_true(n > 1000);
  free(text);
  test_context_done(&context);
}

// Frames have the vertices of the box, the six of the rod, then those of obstacles, and no node for
// its five angles, which are fields of its segments.
static void angles_are_no_points(void** state) {
  (void)state;
  char path[256];
  record(&noli_frame_format_vtu, "frames_angles", N_STEPS);
  frame_path(&noli_frame_format_vtu, "frames_angles", N_STEPS, path);
  NoliContext* context = test_context(1);
  NoliReadFrame frame = {0};
  ASSERT_OK(noli_frame_format_vtu.read(context, path, NULL, &frame));
  assert_int_equal(frame.n_vert, 6 + 27 + 3 * 4);
  const NoliReadArray* body =
      noli_read_frame_find(&frame, "PointData", "body", NOLI_FRAME_INT32, 1, frame.n_vert);
  const NoliReadArray* x =
      noli_read_frame_find(&frame, "Points", "Points", NOLI_FRAME_FLOAT64, 3, frame.n_vert);
  const NoliReadArray* angle =
      noli_read_frame_find(&frame, "CellData", "rod_angle", NOLI_FRAME_FLOAT32, 1, frame.n_cells);
  const NoliReadArray* rate = noli_read_frame_find(&frame, "CellData", "rod_angle_rate",
                                                   NOLI_FRAME_FLOAT32, 1, frame.n_cells);
  assert_true(body != NULL && x != NULL && angle != NULL && rate != NULL);
  for (int i = 0; i < frame.n_vert; i++) {
    int32_t number = ((const int32_t*)body->data)[i];
    double place = ((const double*)x->data)[3 * i], centre = number > 1 ? 3.0 * number - 1.0 : 0.0;
    assert_int_equal(number, i < 27 ? 0 : (i < 33 ? 1 : 2 + (i - 33) / 4));
    ASSERT_NEAR(place, number == 1 ? -9.0 : centre, 0.6);
  }
  const int n_tet = 48; // of the box, before the segments
  const double turn = acos(-1.0) / 2.0;
  ASSERT_NEAR((double)((const float*)angle->data)[n_tet], 0.06 * turn, 1e-6);
  ASSERT_NEAR((double)((const float*)rate->data)[n_tet], turn, 1e-4);
  ASSERT_NEAR((double)((const float*)angle->data)[0], 0.0, 0.0);

  // the first axis of its section has turned with it
  const NoliReadArray* normal =
      noli_read_frame_find(&frame, "CellData", "rod_normal", NOLI_FRAME_FLOAT32, 3, frame.n_cells);
  assert_non_null(normal);
  const float* axis = (const float*)normal->data + 3 * (ptrdiff_t)n_tet;
  ASSERT_NEAR((double)axis[0], 0.0, 1e-6);
  ASSERT_NEAR(fabs((double)axis[1]), sin(0.06 * turn), 1e-6);
  ASSERT_NEAR((double)axis[2], cos(0.06 * turn), 1e-6);
  ASSERT_NEAR((double)((const float*)normal->data)[0], 0.0, 0.0);

  // PLY frames have the same angles and axes, bit by bit
  NoliReadFrame ply = {0};
  record(&noli_frame_format_ply, "frames_angles_ply", N_STEPS);
  frame_path(&noli_frame_format_ply, "frames_angles_ply", N_STEPS, path);
  ASSERT_OK(noli_frame_format_ply.read(context, path, NULL, &ply));
  const NoliReadArray* arrays[] = {angle, rate, normal};
  for (int k = 0; k < 3; k++) {
    int32_t n = arrays[k]->n_components;
    const NoliReadArray* same = noli_read_frame_find(&ply, "CellData", arrays[k]->name,
                                                     NOLI_FRAME_FLOAT32, n, frame.n_cells);
    assert_non_null(same);
    assert_memory_equal(same->data, arrays[k]->data, sizeof(float) * (size_t)(n * frame.n_cells));
  }
  noli_read_frame_free(context, &ply);
  noli_read_frame_free(context, &frame);
  test_context_done(&context);
}

// Readers of meshes find the surface: no node within the body, all triangles and segments.
static void ply_is_a_mesh(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  NoliMesh* mesh = NULL;
  char path[256];
  record(&noli_frame_format_ply, "format_mesh", 2);
  frame_path(&noli_frame_format_ply, "format_mesh", 2, path);
  ASSERT_OK(noli_mesh_read(context, path, &mesh));
  // the box has 27 nodes, one of them within; the rod has 6, plate, wire and dots have 4 each
  assert_int_equal(mesh->n_vert, 26 + 6 + 3 * 4);
  assert_int_equal(mesh->n_tri, 48 + 2);
  assert_int_equal(mesh->n_edge, 5 + 5);
  noli_mesh_destroy(context, &mesh);
  test_context_done(&context);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(formats_have_names_of_their_own),
      cmocka_unit_test(unknown_format_is_refused),
      cmocka_unit_test(runs_are_audited),
      cmocka_unit_test(runs_are_resumed),
      cmocka_unit_test(format_may_change),
      cmocka_unit_test(wrong_content_is_found),
      cmocka_unit_test(damaged_ply_is_refused),
      cmocka_unit_test(angles_are_no_points),
      cmocka_unit_test(ply_is_a_mesh),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
