// The audit of a result directory: a successful run is clean, and any deliberate damage is found
// and located.
#include "output_support.h"

#include "noli/audit.h"
#include "noli/scene.h"
#include "noli/run.h"
#include "output/frames/vtu.h"
#include "output/frames/vtu_reader.h"

#define RUN "audit_run"
#define DAMAGED "audit_damaged"
enum { N_STEPS = 12, EVERY = 3 };

// Two boxes that fall, one onto the other on a floor, beside a plate and a segment.
static const char scene_text[] =
    "{'name': 'boxes', 'time': {'step': 0.01, 'steps': 12},"
    " 'bodies': [{'name': 'low', 'mesh': {'box': {'size': [1, 1, 1], 'cells': [2, 2, 2]}},"
    "             'translate': [0, 0.503, 0]},"
    "            {'name': 'high', 'mesh': {'box': {'size': [0.6, 0.6, 0.6], 'cells': [2, 2, 2]}},"
    "             'translate': [0.1, 1.307, 0.05], 'velocity': [0.5, 0, 0]},"
    "            {'name': 'free', 'mesh': {'box': {'size': [0.2, 0.2, 0.2], 'cells': [1, 1, 1]}},"
    "             'translate': [3, 5, 0], 'velocity': [0, 1, 0.25]}],"
    " 'half_spaces': [{'name': 'floor'}],"
    " 'obstacles': [{'name': 'plate', 'mesh': {'plane': {'size': [1, 1], 'cells': [1, 1]}},"
    "                'translate': [5, 1, 0]}],"
    " 'friction': {'coefficient': 0.3},"
    " 'output': {'every': 3, 'checkpoint_seconds': 0}}";

static void load_text(NoliContext* context, const char* quoted, NoliScene** scene) {
  char text[4096];
  size_t n = strlen(quoted);
  assert_true(n < sizeof text);
  for (size_t i = 0; i <= n; i++) {
    text[i] = quoted[i] == '\'' ? '"' : quoted[i];
  }
  ASSERT_OK(noli_scene_parse(context, text, "boxes.json", NULL, NULL, 0, scene));
}

static void load_scene(NoliContext* context, NoliScene** scene) {
  load_text(context, scene_text, scene);
}

// Runs a scene into an empty folder.
static void record(NoliContext* context, NoliScene* scene, const char* directory, const char* name,
                   int n_steps, int every) {
  NoliSim* sim = NULL;
  NoliRun* run = NULL;
  char* json = NULL;
  test_empty_directory(directory);
  ASSERT_OK(noli_scene_json(scene, &json));
  ASSERT_OK(noli_sim_create(context, noli_scene_sim_def(scene), &sim));
  NoliRunDef def = noli_default_run_def();
  def.directory = directory;
  def.scene_name = name;
  def.scene_json = json;
  def.sim_def = noli_scene_sim_def(scene);
  def.frame_interval = every;
  def.checkpoint_seconds = -1.0;
  ASSERT_OK(noli_run_open(context, &def, sim, &run));
  for (int i = 0; i < n_steps; i++) {
    NoliStepReport report;
    ASSERT_OK(noli_sim_step(sim, &report));
    ASSERT_OK(noli_run_step(run, sim));
  }
  ASSERT_OK(noli_run_save(run, sim, true, NULL));
  noli_run_close(&run);
  noli_sim_destroy(&sim);
  noli_scene_free_text(context, &json);
}

static int make_run(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  NoliScene* scene = NULL;
  load_scene(context, &scene);
  record(context, scene, RUN, "boxes", N_STEPS, EVERY);
  noli_scene_destroy(&scene);
  test_context_done(&context);
  return 0;
}

// A fresh copy of the run to damage.
static void copy_run(void) {
  test_empty_directory(DAMAGED);
  DIR* directory = opendir(RUN);
  assert_non_null(directory);
  for (struct dirent* entry = readdir(directory); entry != NULL; entry = readdir(directory)) {
    if (entry->d_name[0] != '.') {
      char from[1024], to[1024];
      size_t size = 0;
      snprintf(from, sizeof from, RUN "/%s", entry->d_name);
      snprintf(to, sizeof to, DAMAGED "/%s", entry->d_name);
      char* text = test_read_file(from, &size);
      test_write_file(to, text, size);
      free(text);
    }
  }
  closedir(directory);
}

static NoliRunAudit audit(NoliContext* context, const char* directory) {
  NoliRunAudit result;
  NoliStatus status = noli_run_audit(context, directory, &result);
  if (status != NOLI_OK) {
    print_error("%s\n", noli_context_message(context));
  }
  assert_int_equal(status, NOLI_OK);
  for (int64_t i = 0; i < result.n_findings && i < 3; i++) {
    print_message("  %s: %s\n", noli_finding_kind_name(result.findings[i].kind),
                  result.findings[i].message);
  }
  return result;
}

// The first finding of this kind in this file, after an audit of the damaged copy.
static const NoliFinding* find(const NoliRunAudit* result, NoliFindingKind kind, const char* file) {
  for (int64_t i = 0; i < result->n_findings; i++) {
    if (result->findings[i].kind == kind && strcmp(result->findings[i].file, file) == 0) {
      return &result->findings[i];
    }
  }
  print_error("nothing of the kind %s was found in %s\n", noli_finding_kind_name(kind), file);
  fail();
  return NULL;
}

static void expect(NoliFindingKind kind, const char* file) {
  NoliContext* context = test_context(1);
  NoliRunAudit result = audit(context, DAMAGED);
  (void)find(&result, kind, file);
  noli_run_audit_free(context, &result);
  test_context_done(&context);
}

// ---- frames that are changed and written again ----

typedef struct Frame {
  NoliContext* context;
  NoliReadFrame read;
  double* x;
  float* displacement;
  float* velocity;
  float* contact_force;
  const int32_t* body;
} Frame;

static void* of_points(const Frame* frame, const char* name, NoliFrameType type, int32_t n) {
  const NoliReadArray* array = noli_read_frame_find(&frame->read, "PointData", name, type, n, -1);
  assert_non_null(array);
  return array->data;
}

static Frame open_frame(const char* path) {
  Frame frame = {.context = test_context(1)};
  ASSERT_OK(noli_vtu_read(frame.context, path, NULL, &frame.read));
  frame.x = noli_read_frame_find(&frame.read, "Points", "Points", NOLI_FRAME_FLOAT64, 3, -1)->data;
  frame.displacement = of_points(&frame, "displacement", NOLI_FRAME_FLOAT32, 3);
  frame.velocity = of_points(&frame, "velocity", NOLI_FRAME_FLOAT32, 3);
  frame.contact_force = of_points(&frame, "contact_force", NOLI_FRAME_FLOAT32, 3);
  frame.body = of_points(&frame, "body", NOLI_FRAME_INT32, 1);
  return frame;
}

static void close_frame(Frame* frame, const char* path) {
  NoliFrameArray point_data[16], cell_data[16];
  NoliFrame grid = {.time = frame->read.time,
                    .n_vert = frame->read.n_vert,
                    .n_cells = frame->read.n_cells,
                    .x = frame->x,
                    .point_data = point_data,
                    .cell_data = cell_data};
  for (int64_t i = 0; i < frame->read.arrays.count; i++) {
    const NoliReadArray* from = &frame->read.arrays.data[i];
    NoliFrameArray array = {from->name, from->type, from->n_components, from->data, false};
    if (strcmp(from->section, "PointData") == 0) {
      point_data[grid.n_point_data++] = array;
    } else if (strcmp(from->section, "CellData") == 0) {
      cell_data[grid.n_cell_data++] = array;
    } else if (strcmp(from->name, "connectivity") == 0) {
      grid.connectivity = from->data;
    } else if (strcmp(from->name, "offsets") == 0) {
      grid.offsets = from->data;
    } else if (strcmp(from->name, "types") == 0) {
      grid.types = from->data;
    }
  }
  ASSERT_OK(noli_vtu_write(frame->context, path, &grid));
  noli_read_frame_free(frame->context, &frame->read);
  test_context_done(&frame->context);
}

// Moves a vertex together with its displacement, so that only the geometry reveals it.
static void move(Frame* frame, int64_t vertex, const double to[3]) {
  for (int k = 0; k < 3; k++) {
    double X = frame->x[3 * vertex + k] - (double)frame->displacement[3 * vertex + k];
    frame->x[3 * vertex + k] = to[k];
    frame->displacement[3 * vertex + k] = (float)(to[k] - X);
  }
}

// The vertex of a body that is farthest along a direction.
static int64_t extreme(const Frame* frame, int32_t body, double a, double b, double c) {
  int64_t best = -1;
  double most = -INFINITY;
  for (int64_t i = 0; i < frame->read.n_vert; i++) {
    const double* x = &frame->x[3 * i];
    double along = a * x[0] + b * x[1] + c * x[2];
    if (frame->body[i] == body && along > most) {
      most = along;
      best = i;
    }
  }
  assert_true(best >= 0);
  return best;
}

#define FRAME "frame_000006.vtu"

static void a_run_that_went_well_is_clean(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  NoliRunAudit result = audit(context, RUN);
  assert_int_equal(result.n_found, 0);
  assert_int_equal(result.n_frames, N_STEPS / EVERY + 1);
  assert_int_equal(result.n_checkpoints, 2);
  assert_int_equal(result.n_rows, N_STEPS);
  assert_true(result.ended);
  // the agreement is not trivial: bodies touch each other and the floor
  char* forces = test_read_file(RUN "/forces.csv", NULL);
  assert_non_null(strstr(forces, "low,high"));
  assert_non_null(strstr(forces, "low,floor"));
  free(forces);
  noli_run_audit_free(context, &result);
  test_context_done(&context);
}

static void a_vertex_through_a_face_is_found(void** state) {
  (void)state;
  copy_run();
  Frame frame = open_frame(DAMAGED "/" FRAME);
  // the lowest corner of the upper box goes a little way into the lower one
  int64_t corner = extreme(&frame, 1, -0.5, -1.0, -0.4), top = extreme(&frame, 0, 0.0, 1.0, 0.0);
  double to[3] = {frame.x[3 * corner], frame.x[3 * top + 1] - 2e-3, frame.x[3 * corner + 2]};
  move(&frame, corner, to);
  close_frame(&frame, DAMAGED "/" FRAME);
  NoliContext* context = test_context(1);
  NoliRunAudit result = audit(context, DAMAGED);
  const NoliFinding* finding = find(&result, NOLI_FINDING_INTERSECTION, FRAME);
  assert_int_equal(finding->step, 6);
  assert_true(finding->defect.n_vert[0] == 2 && finding->defect.n_vert[1] == 3);
  assert_string_not_equal(finding->entity[0], finding->entity[1]);
  assert_non_null(strstr(finding->message, "\"high\""));
  assert_non_null(strstr(finding->message, "\"low\""));
  ASSERT_NEAR(finding->defect.position[1], to[1], 4e-3);
  // otherwise the mesh is intact, and only its energy of gravity reveals the motion
  for (int64_t i = 0; i < result.n_findings; i++) {
    assert_true(result.findings[i].kind == NOLI_FINDING_INTERSECTION ||
                result.findings[i].kind == NOLI_FINDING_BALANCE);
  }
  noli_run_audit_free(context, &result);
  test_context_done(&context);
}

// No surfaces cross: one body encloses another.
static void a_body_inside_a_body_is_found(void** state) {
  (void)state;
  copy_run();
  Frame frame = open_frame(DAMAGED "/" FRAME);
  int64_t of_free = extreme(&frame, 2, -1.0, 0.0, 0.0), of_low = extreme(&frame, 0, -1.0, 0.0, 0.0);
  double by[3] = {frame.x[3 * of_low] - frame.x[3 * of_free] + 0.2, 0.5, 0.0};
  by[1] -= frame.x[3 * of_free + 1];
  for (int64_t i = 0; i < frame.read.n_vert; i++) {
    if (frame.body[i] == 2) {
      double to[3];
      for (int k = 0; k < 3; k++) {
        to[k] = frame.x[3 * i + k] + by[k];
      }
      move(&frame, i, to);
    }
  }
  close_frame(&frame, DAMAGED "/" FRAME);
  NoliContext* context = test_context(1);
  NoliRunAudit result = audit(context, DAMAGED);
  const NoliFinding* finding = find(&result, NOLI_FINDING_NESTED, FRAME);
  assert_int_equal(finding->step, 6);
  assert_string_equal(finding->entity[0], "free");
  assert_string_equal(finding->entity[1], "low");
  assert_int_equal(finding->defect.n_vert[0], 1);
  for (int64_t i = 0; i < result.n_findings; i++) {
    assert_int_not_equal(result.findings[i].kind, NOLI_FINDING_INTERSECTION);
  }
  noli_run_audit_free(context, &result);
  test_context_done(&context);
}

static void an_inverted_element_is_found(void** state) {
  (void)state;
  copy_run();
  Frame frame = open_frame(DAMAGED "/" FRAME);
  // a corner of the free box is pulled through it to the other side
  int64_t corner = extreme(&frame, 2, 1.0, 1.0, 1.0), other = extreme(&frame, 2, -1.0, -1.0, -1.0);
  double to[3];
  for (int k = 0; k < 3; k++) {
    to[k] = frame.x[3 * other + k] + 0.25 * (frame.x[3 * other + k] - frame.x[3 * corner + k]);
  }
  move(&frame, corner, to);
  close_frame(&frame, DAMAGED "/" FRAME);
  expect(NOLI_FINDING_INVERTED, FRAME);
}

// The last bit: a vertex exactly on the floor is found, one that is the smallest positive number
// above is not.
static void a_vertex_below_a_half_space_is_found(void** state) {
  (void)state;
  const double height[3] = {-1e-9, 0.0, 5e-324};
  for (int i = 0; i < 3; i++) {
    copy_run();
    Frame frame = open_frame(DAMAGED "/" FRAME);
    int64_t lowest = extreme(&frame, 0, 0.0, -1.0, 0.0);
    double to[3] = {frame.x[3 * lowest], height[i], frame.x[3 * lowest + 2]};
    move(&frame, lowest, to);
    close_frame(&frame, DAMAGED "/" FRAME);
    NoliContext* context = test_context(1);
    NoliRunAudit result = audit(context, DAMAGED);
    int n = 0;
    for (int64_t k = 0; k < result.n_findings; k++) {
      n += result.findings[k].kind == NOLI_FINDING_HALF_SPACE;
    }
    assert_int_equal(n, i < 2);
    if (n > 0) {
      const NoliFinding* finding = find(&result, NOLI_FINDING_HALF_SPACE, FRAME);
      assert_string_equal(finding->entity[0], "low");
      assert_string_equal(finding->entity[1], "floor");
    }
    noli_run_audit_free(context, &result);
    test_context_done(&context);
  }
}

static void numbers_that_do_not_belong_are_found(void** state) {
  (void)state;
  const char* path = DAMAGED "/" FRAME;

  // a position that is not finite, one that is wrong
  copy_run();
  Frame frame = open_frame(path);
  frame.x[3 * extreme(&frame, 2, 0.0, 1.0, 0.0)] = NAN;
  close_frame(&frame, path);
  expect(NOLI_FINDING_NOT_FINITE, FRAME);
  copy_run();
  frame = open_frame(path);
  frame.x[3 * extreme(&frame, 2, 0.0, 1.0, 0.0)] += 1e-6;
  close_frame(&frame, path);
  expect(NOLI_FINDING_BALANCE, FRAME);

  // a velocity, a force
  copy_run();
  frame = open_frame(path);
  frame.velocity[3 * extreme(&frame, 2, 0.0, 1.0, 0.0) + 1] *= -1.0f;
  close_frame(&frame, path);
  expect(NOLI_FINDING_BALANCE, FRAME);
  copy_run();
  frame = open_frame(path);
  frame.contact_force[3 * extreme(&frame, 0, 0.0, 1.0, 0.0) + 1] += 1.0f;
  close_frame(&frame, path);
  expect(NOLI_FINDING_BALANCE, FRAME);

  // the time
  copy_run();
  frame = open_frame(path);
  frame.read.time += 1e-3;
  close_frame(&frame, path);
  expect(NOLI_FINDING_TIME, FRAME);

  // a cell
  copy_run();
  frame = open_frame(path);
  const NoliReadArray* cells =
      noli_read_frame_find(&frame.read, "Cells", "connectivity", NOLI_FRAME_INT32, 1, -1);
  int32_t* vertices = cells->data;
  int32_t swap = vertices[0];
  vertices[0] = vertices[1];
  vertices[1] = swap;
  close_frame(&frame, path);
  expect(NOLI_FINDING_FILE, FRAME);
}

// Whether two frames hold the same numbers.
static bool same_frames(const NoliReadFrame* a, const NoliReadFrame* b) {
  if (memcmp(&a->time, &b->time, sizeof a->time) != 0 || a->n_vert != b->n_vert ||
      a->n_cells != b->n_cells || a->arrays.count != b->arrays.count) {
    return false;
  }
  for (int64_t i = 0; i < a->arrays.count; i++) {
    const NoliReadArray* one = a->arrays.data + i;
    const NoliReadArray* other = noli_read_frame_find(b, one->section, one->name, one->type,
                                                      one->n_components, one->n_tuples);
    size_t bytes = (size_t)(one->n_tuples * one->n_components * noli_frame_type_size(one->type));
    if (other == NULL || (bytes > 0 && memcmp(one->data, other->data, bytes) != 0)) {
      return false;
    }
  }
  return true;
}

// A swap of any two different bytes in a frame is found, whatever they mean, unless no number
// depends on them: compressed data end with a few bits that mean nothing.
static void swapped_bytes_are_found(void** state) {
  (void)state;
  TestRandom random = {7};
  size_t size = 0;

  // an undisturbed frame
  copy_run();
  char* text = test_read_file(DAMAGED "/" FRAME, &size);
  NoliContext* context = test_context(1);
  NoliReadFrame whole;
  ASSERT_OK(noli_vtu_read(context, DAMAGED "/" FRAME, NULL, &whole));
  int n_missed = 0, n_judged = 0, n_idle = 0, n = 0;

  // swap two bytes
  while (n < 400) {
    size_t i = (size_t)(test_random_bits(&random) % (size - 1)), j = i + 1 + (size_t)(n % 2);
    // white space between the characters of data is ignored
    bool is_space = strchr(" \n", text[i]) != NULL || strchr(" \n", text[j]) != NULL;
    if (j >= size || text[i] == text[j] || is_space) {
      continue;
    }
    n++;
    char swap = text[i];
    text[i] = text[j];
    text[j] = swap;
    test_write_file(DAMAGED "/" FRAME, text, size);
    // input that the reader accepts must be audited
    NoliReadFrame frame;
    NoliStatus status = noli_vtu_read(context, DAMAGED "/" FRAME, NULL, &frame);
    bool same = status == NOLI_OK && same_frames(&whole, &frame);
    noli_read_frame_free(context, &frame);
    if (same) {
      n_idle++;
    } else if (status == NOLI_OK) {
      NoliRunAudit result;
      ASSERT_OK(noli_run_audit(context, DAMAGED, &result));
      if (result.n_found == 0) {
        print_error("bytes %zu and %zu: %.40s\n", i, j, text + (i > 20 ? i - 20 : 0));
        n_missed++;
      }
      n_judged++;
      noli_run_audit_free(context, &result);
    } else {
      assert_int_equal(status, NOLI_ERROR_FORMAT);
      assert_non_null(strstr(noli_context_message(context), FRAME));
    }
    text[j] = text[i];
    text[i] = swap;
  }

  // none is missed
  print_message("%d swaps, %d of which left a frame that could be read\n", n, n_judged);
  assert_int_equal(n_missed, 0);
  assert_true(n_idle <= 4);
  noli_read_frame_free(context, &whole);
  free(text);
  test_context_done(&context);
}

// ---- files ----

// Replaces the first occurrence of a text in a file by another one.
static void replace(const char* name, const char* from, const char* to) {
  char path[1024];
  snprintf(path, sizeof path, DAMAGED "/%s", name);
  char* text = test_read_file(path, NULL);
  char* at = strstr(text, from);
  assert_non_null(at);
  size_t size = strlen(text) + strlen(to) + 1;
  char* made = malloc(size);
  assert_non_null(made);
  snprintf(made, size, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
  test_write_file(path, made, strlen(made));
  free(made);
  free(text);
}

// The `field`-th field of the row of a step.
static void row_field(int step, int field, char value[64]) {
  char* text = test_read_file(DAMAGED "/steps.csv", NULL);
  char* at = text;
  for (int i = 0; i < step; i++) {
    at = strchr(at, '\n') + 1;
  }
  for (int i = 0; i < field; i++) {
    at = strchr(at, ',') + 1;
  }
  snprintf(value, 64, "%.*s", (int)strcspn(at, ","), at);
  free(text);
}

static void files_that_are_missing_are_found(void** state) {
  (void)state;
  const char* const names[] = {FRAME,       "frames.pvd", "checkpoint.h5",
                               "steps.csv", "forces.csv", "summary.json"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    char path[1024];
    copy_run();
    snprintf(path, sizeof path, DAMAGED "/%s", names[i]);
    assert_int_equal(unlink(path), 0);
    expect(NOLI_FINDING_FILE, names[i]);
  }
  // a frame that is missing in the list, and one that was never in it
  copy_run();
  replace("frames.pvd", "file=\"" FRAME "\"", "file=\"frame.vtu\"");
  expect(NOLI_FINDING_FILE, "frames.pvd");
  copy_run();
  test_write_file(DAMAGED "/frame_000007.vtu", "", 0);
  expect(NOLI_FINDING_FILE, "frame_000007.vtu");
  // cut short
  copy_run();
  size_t size = 0;
  char* text = test_read_file(DAMAGED "/" FRAME, &size);
  test_write_file(DAMAGED "/" FRAME, text, size / 2);
  free(text);
  expect(NOLI_FINDING_FILE, FRAME);
}

static void histories_that_disagree_are_found(void** state) {
  (void)state;
  enum { TIME = 1, MOMENTUM_Y = 14, MOMENTUM_Z = 15 };
  char value[64];

  // a momentum of a step that has a frame
  copy_run();
  row_field(6, MOMENTUM_Z, value);
  replace("steps.csv", value, "1.25");
  expect(NOLI_FINDING_BALANCE, FRAME);

  // a time, a step, a row, a number
  copy_run();
  row_field(6, TIME, value);
  replace("steps.csv", value, "0.0605");
  expect(NOLI_FINDING_TIME, "steps.csv");
  copy_run();
  replace("steps.csv", "\n5,", "\n4,");
  expect(NOLI_FINDING_TIME, "steps.csv");
  copy_run();
  row_field(5, MOMENTUM_Y, value);
  replace("steps.csv", value, "nan");
  expect(NOLI_FINDING_NOT_FINITE, "steps.csv");
  copy_run();
  replace("steps.csv", "\n5,", "\n5,,");
  expect(NOLI_FINDING_FILE, "steps.csv");

  // a force of the floor
  copy_run();
  replace("forces.csv", "\n6,", "\n7,");
  expect(NOLI_FINDING_BALANCE, FRAME);

  // the number of steps
  copy_run();
  replace("summary.json", "\"steps\": 12", "\"steps\": 13");
  expect(NOLI_FINDING_TIME, "summary.json");
}

// Runs a scene of 8 steps into the folder of damaged runs and finds it clean.
static void run_clean(const char* text) {
  NoliContext* context = test_context(1);
  NoliScene* scene = NULL;
  ASSERT_OK(noli_scene_parse(context, text, "scene.json", NULL, NULL, 0, &scene));
  record(context, scene, DAMAGED, "scene", 8, 8);
  noli_scene_destroy(&scene);
  NoliRunAudit result = audit(context, DAMAGED);
  assert_int_equal(result.n_found, 0);
  assert_int_equal(result.n_frames, 2);
  assert_int_equal(result.n_checkpoints, 2);
  noli_run_audit_free(context, &result);
  test_context_done(&context);
}

// In free flight a wrong momentum is found even if no frame shows it.
static void momentum_in_free_flight_is_checked(void** state) {
  (void)state;
  run_clean("{\"time\": {\"step\": 0.01, \"steps\": 8}, \"bodies\": [{\"name\": \"box\", \"mesh\": "
            "{\"box\": {\"size\": [1, 1, 1], \"cells\": [2, 2, 2]}}, \"velocity\": [1, 2, 3]}],"
            "\"output\": {\"every\": 8}}");
  char value[64], changed[64];
  row_field(5, 14, value);
  snprintf(changed, sizeof changed, "%.17g", strtod(value, NULL) + 50.0);
  replace("steps.csv", value, changed);
  expect(NOLI_FINDING_BALANCE, "steps.csv");
}

// Vertices of a proxy follow the nodes, also those of a checkpoint.
static void elements_of_high_order_are_judged_on_their_proxies(void** state) {
  (void)state;
  run_clean("{\"time\": {\"step\": 0.01, \"steps\": 8}, \"bodies\": [{\"name\": \"box\", \"mesh\": "
            "{\"box\": {\"size\": [1, 1, 1], \"cells\": [2, 2, 2]}}, \"order\": 2, \"proxy\": "
            "{\"subdivision\": 3}, \"translate\": [0, 0.52, 0], \"velocity\": [0.5, -1, 0]}],"
            "\"half_spaces\": [{\"name\": \"floor\"}], \"output\": {\"every\": 8}}");
  char* forces = test_read_file(DAMAGED "/forces.csv", NULL);
  assert_non_null(strstr(forces, "box,floor"));
  free(forces);
}

static void damaged_checkpoints_are_found(void** state) {
  (void)state;
  size_t size = 0;
  copy_run();
  char* text = test_read_file(DAMAGED "/checkpoint.h5", &size);
  text[size / 2] = (char)(text[size / 2] ^ 1);
  test_write_file(DAMAGED "/checkpoint.h5", text, size);
  free(text);
  expect(NOLI_FINDING_FILE, "checkpoint.h5");
}

// ---- invalid results ----

static void other_folders_are_refused(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  NoliRunAudit result;
  ASSERT_STATUS(noli_run_audit(context, "nowhere", &result), NOLI_ERROR_FORMAT);
  assert_non_null(strstr(noli_context_message(context), "nowhere"));
  copy_run();
  test_write_file(DAMAGED "/scene.json", "{", 1);
  ASSERT_STATUS(noli_run_audit(context, DAMAGED, &result), NOLI_ERROR_FORMAT);
  assert_int_equal(result.n_found, 0);
  test_context_done(&context);
}

// A run that was killed between a row and its frame is complete.
static void killed_runs_are_not_blamed(void** state) {
  (void)state;
  copy_run();
  assert_int_equal(unlink(DAMAGED "/frame_000012.vtu"), 0);
  replace("frames.pvd", "<DataSet timestep=\"0.12", "<Data timestep=\"0.12");
  replace("summary.json", "\"steps\": 12", "\"steps\": 9");
  replace("summary.json", "\"finished\": true", "\"finished\": false");
  NoliContext* context = test_context(1);
  NoliRunAudit result = audit(context, DAMAGED);
  assert_int_equal(result.n_found, 0);
  assert_false(result.ended);
  noli_run_audit_free(context, &result);
  test_context_done(&context);
}

// Forces on tied vertices, which touch the floor here, are those of the body that they follow.
static void forces_on_tied_vertices_balance(void** state) {
  (void)state;
  static const char tied[] =
      "{'name': 'tied', 'time': {'step': 0.01, 'steps': 8},"
      " 'bodies': [{'name': 'box', 'mesh': {'box': {'size': [0.2, 0.2, 0.2], 'cells': [1, 1, 1]}},"
      "             'translate': [0, 0.102, 0]},"
      "            {'name': 'rod', 'mesh': {'line': {'length': 0.4, 'segments': 4}},"
      "             'rod': {'radius': 0.004}, 'translate': [0.301, 0.002, 0]}],"
      " 'ties': [{'body': 'rod', 'to': 'box', 'select': {'side': '-x'}, 'distance': 0.01}],"
      " 'half_spaces': [{'name': 'floor'}],"
      " 'friction': {'coefficient': 0.3}}";
  NoliContext* context = test_context(1);
  NoliScene* scene = NULL;
  load_text(context, tied, &scene);
  record(context, scene, DAMAGED, "tied", 8, 1);
  NoliRunAudit result = audit(context, DAMAGED);
  assert_int_equal(result.n_found, 0);
  noli_run_audit_free(context, &result);

  // and are still judged
  replace("forces.csv", "\n6,", "\n7,");
  result = audit(context, DAMAGED);
  assert_true(result.n_found > 0);
  noli_run_audit_free(context, &result);
  noli_scene_destroy(&scene);
  test_context_done(&context);
}

// The kinetic energy has that of armatures in joints, the elastic one that of their springs.
static void joints_have_energies(void** state) {
  (void)state;
  static const char jointed[] =
      "{'name': 'arm', 'time': {'step': 0.01, 'steps': 8, 'integrator': 'bdf2'},"
      " 'bodies': [{'name': 'bar', 'mesh': {'box': {'size': [0.2, 0.02, 0.02], 'cells': [1, 1, "
      "1]}},"
      "             'rigid': {'mass': 0.1}}],"
      " 'joints': [{'type': 'hinge', 'a': 'bar', 'at': [-0.1, 0, 0], 'armature': 0.1,"
      "             'stiffness': 3}]}";
  NoliContext* context = test_context(1);
  NoliScene* scene = NULL;
  load_text(context, jointed, &scene);
  record(context, scene, DAMAGED, "arm", 8, 1);
  NoliRunAudit result = audit(context, DAMAGED);
  assert_int_equal(result.n_found, 0);
  noli_run_audit_free(context, &result);

  NoliSim* sim = NULL;
  NoliStepReport report;
  NoliEnergies energies;
  ASSERT_OK(noli_sim_create(context, noli_scene_sim_def(scene), &sim));
  ASSERT_OK(noli_sim_step(sim, &report));
  ASSERT_OK(noli_sim_energies(sim, &energies));
  assert_true(report.elastic > 0.0);
  ASSERT_NEAR(energies.kinetic, report.kinetic, 1e-12 * report.kinetic);
  ASSERT_NEAR(energies.elastic, report.elastic, 1e-9 * report.elastic);
  noli_sim_destroy(&sim);
  noli_scene_destroy(&scene);
  test_context_done(&context);
}

static void without_memory_nothing_is_left_behind(void** state) {
  (void)state;
  int64_t k = 1;
  for (bool reached = true; reached; k += 1 + k / 40) {
    TestMemory memory;
    NoliContext* context = test_context_on(&memory, 1);
    NoliRunAudit result;
    test_refuse(&memory, k);
    NoliStatus status = noli_run_audit(context, RUN, &result);
    reached = memory.asked >= k;
    assert_int_equal(status, reached ? NOLI_ERROR_MEMORY : NOLI_OK);
    if (status == NOLI_OK) {
      assert_int_equal(result.n_found, 0);
      noli_run_audit_free(context, &result);
    }
    test_context_done(&context);
  }
  print_message("%d allocations\n", (int)k);
  assert_true(k > 100);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_run_that_went_well_is_clean),
      cmocka_unit_test(a_vertex_through_a_face_is_found),
      cmocka_unit_test(a_body_inside_a_body_is_found),
      cmocka_unit_test(an_inverted_element_is_found),
      cmocka_unit_test(a_vertex_below_a_half_space_is_found),
      cmocka_unit_test(numbers_that_do_not_belong_are_found),
      cmocka_unit_test(swapped_bytes_are_found),
      cmocka_unit_test(files_that_are_missing_are_found),
      cmocka_unit_test(histories_that_disagree_are_found),
      cmocka_unit_test(momentum_in_free_flight_is_checked),
      cmocka_unit_test(elements_of_high_order_are_judged_on_their_proxies),
      cmocka_unit_test(damaged_checkpoints_are_found),
      cmocka_unit_test(other_folders_are_refused),
      cmocka_unit_test(killed_runs_are_not_blamed),
      cmocka_unit_test(forces_on_tied_vertices_balance),
      cmocka_unit_test(joints_have_energies),
      cmocka_unit_test(without_memory_nothing_is_left_behind),
  };
  return cmocka_run_group_tests(tests, make_run, NULL);
}
