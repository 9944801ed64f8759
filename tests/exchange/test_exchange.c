// Results for other programs: names of files, shapes, exact positions, and for every format in the
// table that a failing disk or a lack of memory leaves no half-written file.
#include "output/output_support.h"

#include "exchange/exchange.h"
#include "noli/run.h"
#include "noli/scene.h"

#include <errno.h>
#include <hdf5.h>

#define FOLDER "exchange_run"
#define OUT "exchange_out"

enum { N_FRAMES = 3, N_BODIES = 6 };

// A box that is squeezed, a curved body with a proxy, a shell, obstacles of all kinds that collide
// by triangles, segments and points; two names that look alike once they are identifiers.
static const char scene_text[] =
    "{'name': 'mix', 'time': {'step': 0.01, 'steps': 3}, 'gravity': [0, 0, -9.81],"
    " 'bodies': [{'name': '2 box.', 'mesh': {'box': {'size': [1, 1, 1], 'cells': [2, 2, 2]}},"
    "             'velocity': [0.2, -0.1, 0]},"
    "            {'name': '2 box!', 'order': 2, 'translate': [3, 0, 0],"
    "             'mesh': {'box': {'size': [1, 1, 1], 'cells': [1, 1, 1]}}},"
    "            {'name': 'cloth', 'shell': {'thickness': 0.001},"
    "             'mesh': {'plane': {'size': [1, 1], 'cells': [2, 2]}}, 'translate': [6, 0, 0]}],"
    " 'obstacles': [{'name': 'plate', 'mesh': {'plane': {'size': [1, 1], 'cells': [1, 1]}},"
    "                'translate': [9, 1, 0]},"
    "               {'name': 'wire', 'as': 'edges', 'translate': [12, 1, 0],"
    "                'mesh': {'plane': {'size': [1, 1], 'cells': [1, 1]}}},"
    "               {'name': 'dots', 'as': 'points', 'translate': [15, 1, 0],"
    "                'mesh': {'plane': {'size': [1, 1], 'cells': [1, 1]}}}],"
    " 'output': {'every': 2, 'format': '%s'}}";

// Runs the scene with frames of this format: those of steps 0, 2 and 3.
static void record(const char* frame_format) {
  char text[2 * sizeof scene_text], *json = NULL;
  NoliContext* context = test_context(1);
  NoliScene* scene = NULL;
  NoliSim* sim = NULL;
  NoliRun* run = NULL;
  snprintf(text, sizeof text, scene_text, frame_format);
  for (char* c = text; *c != '\0'; c++) {
    *c = *c == '\'' ? '"' : *c;
  }
  test_empty_directory(FOLDER);
  if (noli_scene_parse(context, text, "mix.json", NULL, NULL, 0, &scene) != NOLI_OK) {
    fail_msg("%s", noli_context_message(context));
  }
  ASSERT_OK(noli_scene_json(scene, &json));
  ASSERT_OK(noli_sim_create(context, noli_scene_sim_def(scene), &sim));
  NoliRunDef def = noli_default_run_def();
  def.directory = FOLDER;
  def.scene_name = "mix";
  def.scene_json = json;
  def.sim_def = noli_scene_sim_def(scene);
  def.frame_interval = 2;
  def.frame_format = frame_format;
  ASSERT_OK(noli_run_open(context, &def, sim, &run));
  for (int i = 0; i < 3; i++) {
    ASSERT_OK(noli_sim_step(sim, NULL));
    ASSERT_OK(noli_run_step(run, sim));
  }
  ASSERT_OK(noli_run_save(run, sim, true, NULL));
  noli_run_close(&run);
  noli_sim_destroy(&sim);
  noli_scene_free_text(context, &json);
  noli_scene_destroy(&scene);
  test_context_done(&context);
}

static void export(const char* path) {
  NoliContext* context = test_context(1);
  int64_t n_frames = 0;
  NoliStatus status = noli_run_export(context, FOLDER, path, &n_frames);
  if (status != NOLI_OK) {
    print_error("%s\n", noli_context_message(context));
  }
  assert_int_equal(status, NOLI_OK);
  assert_int_equal(n_frames, N_FRAMES);
  test_context_done(&context);
}

// A path for the `index`-th format, with a place for numbers where it needs one.
static bool path_of(int32_t index, char path[64]) {
  const char* suffix = noli_run_export_suffix(index);
  if (suffix == NULL) {
    return false;
  }
  bool is_sequence = strstr(noli_run_export_description(index), "%04d") != NULL;
  snprintf(path, 64, OUT "/x%s%s", is_sequence ? "_%04d" : "", suffix);
  return true;
}

// ---- point caches ----

typedef struct Cache {
  char signature[12];
  int32_t version, n_points;
  float start, rate;
  int32_t n_samples;
} Cache;

// Vertices of the `v` lines of an OBJ file: (n x 3), freed by the caller.
static float* read_obj(const char* path, int32_t* n) {
  char* text = test_read_file(path, NULL);
  float* x = malloc(strlen(text) * sizeof *x);
  *n = 0;
  assert_non_null(x);
  for (const char* line = text; line != NULL; line = strchr(line, '\n')) {
    line += *line == '\n';
    float* own = x + 3 * *n;
    *n += sscanf(line, "v %f %f %f", own, own + 1, own + 2) == 3;
  }
  free(text);
  return x;
}

// Positions (n_vert x 3) of all vertices in the frame of a step, rounded as caches have them.
static float* read_frame(const NoliFrameFormat* format, int64_t step, int64_t* n_vert) {
  NoliContext* context = test_context(1);
  NoliReadFrame frame = {0};
  char name[NOLI_FRAME_NAME_SIZE], path[128];
  noli_frame_name(format, step, name);
  snprintf(path, sizeof path, FOLDER "/%s", name);
  ASSERT_OK(format->read(context, path, NULL, &frame));
  *n_vert = frame.n_vert;
  const double* from =
      noli_read_frame_find(&frame, "Points", "Points", NOLI_FRAME_FLOAT64, 3, -1)->data;
  float* x = malloc(3 * sizeof *x * (size_t)frame.n_vert);
  for (int64_t i = 0; i < 3 * frame.n_vert; i++) {
    x[i] = (float)from[i];
  }
  noli_read_frame_free(context, &frame);
  test_context_done(&context);
  return x;
}

// The vertex of `x` at this place; fails when there is none.
static int64_t find_vertex(const float* x, int64_t n_vert, const float* place) {
  for (int64_t v = 0; v < n_vert; v++) {
    if (memcmp(x + 3 * v, place, 3 * sizeof *x) == 0) {
      return v;
    }
  }
  fail_msg("no vertex of the frame at (%g, %g, %g)", (double)place[0], (double)place[1],
           (double)place[2]);
  return -1;
}

// Every vertex of the mesh is one of the frame, and the cache follows it through all frames, bit by
// bit.
static void compare_cache(const NoliFrameFormat* format, const char* body, int32_t n_want) {
  static const int64_t step[N_FRAMES] = {0, 2, 3};
  char path[128];
  float* x[N_FRAMES];
  int64_t n_vert = 0;
  int32_t n_obj;
  size_t size;
  Cache cache;
  snprintf(path, sizeof path, OUT "/x_%s.obj", body);
  float* obj = read_obj(path, &n_obj);
  snprintf(path, sizeof path, OUT "/x_%s.pc2", body);
  char* bytes = test_read_file(path, &size);
  memcpy(&cache, bytes, sizeof cache);
  assert_string_equal(cache.signature, "POINTCACHE2");
  assert_int_equal(cache.version, 1);
  assert_int_equal(cache.n_points, n_obj);
  assert_int_equal(n_obj, n_want);
  assert_int_equal(cache.n_samples, N_FRAMES);
  assert_true(cache.start == 0.0F && cache.rate == 1.0F);
  size_t sample = 3 * sizeof(float) * (size_t)n_obj;
  assert_int_equal(size, sizeof cache + N_FRAMES * sample);
  assert_memory_equal(bytes + sizeof cache, obj, sample);
  for (int f = 0; f < N_FRAMES; f++) {
    x[f] = read_frame(format, step[f], &n_vert);
  }
  for (int32_t v = 0; v < n_obj; v++) {
    int64_t vertex = find_vertex(x[0], n_vert, obj + 3 * v);
    for (int f = 0; f < N_FRAMES; f++) {
      const char* own = bytes + sizeof cache + (size_t)f * sample + 3 * sizeof(float) * (size_t)v;
      assert_memory_equal(own, x[f] + 3 * vertex, 3 * sizeof(float));
    }
  }
  for (int f = 0; f < N_FRAMES; f++) {
    free(x[f]);
  }
  free(obj);
  free(bytes);
}

// 26 of 27 nodes are on the surface of the box; the curved one of one cube shows its 26 of order 2.
static void caches_have_the_positions_of_the_frames(void** state) {
  (void)state;
  const NoliFrameFormat* format;
  for (int32_t i = 0; (format = noli_frame_format_at(i)) != NULL; i++) {
    record(format->name);
    test_empty_directory(OUT);
    export(OUT "/x.pc2");
    compare_cache(format, "_2_box___0", 26);
    compare_cache(format, "_2_box___1", 26);
    compare_cache(format, "cloth", 9);
    compare_cache(format, "plate", 4);
    compare_cache(format, "wire", 4);
    compare_cache(format, "dots", 4);
    assert_int_equal(test_count_files(OUT), 2 * N_BODIES + 1);
  }
}

// ---- VTKHDF ----

// Reads rows [first, first + n) of a dataset, all if n < 0, into `data` as type `held`; returns the
// number of rows of the dataset.
static int64_t read_rows(hid_t file, const char* name, hid_t held, int64_t first, int64_t n,
                         void* data) {
  hid_t dataset = H5Dopen2(file, name, H5P_DEFAULT);
  if (dataset < 0) {
    fail_msg("no dataset %s", name);
  }
  hid_t space = H5Dget_space(dataset);
  hsize_t size[2] = {0, 1}, start[2] = {(hsize_t)first, 0};
  int rank = H5Sget_simple_extent_dims(space, size, NULL);
  assert_in_range(rank, 1, 2);
  hsize_t count[2] = {n < 0 ? size[0] : (hsize_t)n, size[1]};
  hid_t here = H5Screate_simple(rank, count, NULL);
  assert_true(first + (int64_t)count[0] <= (int64_t)size[0]);
  assert_true(H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, count, NULL) >= 0);
  assert_true(H5Dread(dataset, held, here, space, H5P_DEFAULT, data) >= 0);
  H5Sclose(here);
  H5Sclose(space);
  H5Dclose(dataset);
  return (int64_t)size[0];
}

static hid_t held_type(NoliFrameType type) {
  return type == NOLI_FRAME_FLOAT64   ? H5T_NATIVE_DOUBLE
         : type == NOLI_FRAME_FLOAT32 ? H5T_NATIVE_FLOAT
         : type == NOLI_FRAME_INT64   ? H5T_NATIVE_INT64
         : type == NOLI_FRAME_INT32   ? H5T_NATIVE_INT32
                                      : H5T_NATIVE_UINT8;
}

static int64_t read_integer(hid_t file, const char* name, int64_t at) {
  int64_t value = -1;
  read_rows(file, name, H5T_NATIVE_INT64, at, 1, &value);
  return value;
}

// An array of a frame is where the steps say that it is, bit by bit.
static void compare_array(hid_t file, int64_t step, const NoliReadArray* array) {
  char name[160], offsets[160];
  bool is_points = strcmp(array->section, "Points") == 0;
  snprintf(name, sizeof name, "/VTKHDF/%s%s%s", is_points ? "" : array->section,
           is_points ? "" : "/", array->name);
  snprintf(offsets, sizeof offsets, "/VTKHDF/Steps/%sOffsets%s%s",
           is_points ? "Point" : array->section, is_points ? "" : "/",
           is_points ? "" : array->name);
  int64_t size = array->n_tuples * array->n_components * noli_frame_type_size(array->type);
  char* data = malloc((size_t)size);
  read_rows(file, name, held_type(array->type), read_integer(file, offsets, step), array->n_tuples,
            data);
  assert_memory_equal(data, array->data, (size_t)size);
  free(data);
}

// The cells of the file, by the same names as those of a frame; those of a surface are its
// triangles, segments and points.
static void compare_cells(hid_t file, const NoliReadFrame* frame) {
  const NoliReadArray* types =
      noli_read_frame_find(frame, "Cells", "types", NOLI_FRAME_UINT8, 1, -1);
  int64_t n_cells = read_integer(file, "/VTKHDF/NumberOfCells", 0);
  int64_t n_connectivity = read_integer(file, "/VTKHDF/NumberOfConnectivityIds", 0);
  int32_t* connectivity = calloc((size_t)n_connectivity, sizeof *connectivity);
  int64_t* offsets = calloc((size_t)n_cells + 1, sizeof *offsets);
  uint8_t* type = calloc((size_t)n_cells, sizeof *type);
  assert_int_equal(read_rows(file, "/VTKHDF/Connectivity", H5T_NATIVE_INT32, 0, -1, connectivity),
                   n_connectivity);
  assert_int_equal(read_rows(file, "/VTKHDF/Offsets", H5T_NATIVE_INT64, 0, -1, offsets),
                   n_cells + 1);
  assert_int_equal(read_rows(file, "/VTKHDF/Types", H5T_NATIVE_UINT8, 0, -1, type), n_cells);
  assert_int_equal(offsets[0], 0);
  assert_int_equal(offsets[n_cells], n_connectivity);
  if (types != NULL) {
    const NoliReadArray* want =
        noli_read_frame_find(frame, "Cells", "connectivity", NOLI_FRAME_INT32, 1, n_connectivity);
    const NoliReadArray* ends =
        noli_read_frame_find(frame, "Cells", "offsets", NOLI_FRAME_INT64, 1, n_cells);
    assert_memory_equal(connectivity, want->data, sizeof(int32_t) * (size_t)n_connectivity);
    assert_memory_equal(offsets + 1, ends->data, sizeof(int64_t) * (size_t)n_cells);
    assert_memory_equal(type, types->data, (size_t)n_cells);
  } else {
    const NoliReadArray* triangles =
        noli_read_frame_find(frame, "Surface", "triangles", NOLI_FRAME_INT32, 3, -1);
    const NoliReadArray* segments =
        noli_read_frame_find(frame, "Surface", "segments", NOLI_FRAME_INT32, 2, -1);
    int64_t n = 3 * triangles->n_tuples;
    assert_memory_equal(connectivity, triangles->data, sizeof(int32_t) * (size_t)n);
    assert_memory_equal(connectivity + n, segments->data,
                        2 * sizeof(int32_t) * (size_t)segments->n_tuples);
    // four points, which PLY frames do not have
    assert_int_equal(n_cells, triangles->n_tuples + segments->n_tuples + 4);
    assert_int_equal(type[0], NOLI_CELL_TRIANGLE);
    assert_int_equal(type[triangles->n_tuples], NOLI_CELL_LINE);
    assert_int_equal(type[n_cells - 1], NOLI_CELL_VERTEX);
  }
  free(connectivity);
  free(offsets);
  free(type);
}

static void compare_head(hid_t file) {
  char name[17] = "";
  int64_t version[2] = {-1, -1}, n_steps = -1;
  hid_t attribute = H5Aopen_by_name(file, "/VTKHDF", "Type", H5P_DEFAULT, H5P_DEFAULT);
  hid_t type = H5Aget_type(attribute);
  assert_int_equal(H5Tget_size(type), 16);
  assert_true(H5Aread(attribute, type, name) >= 0);
  assert_string_equal(name, "UnstructuredGrid");
  H5Tclose(type);
  H5Aclose(attribute);
  attribute = H5Aopen_by_name(file, "/VTKHDF", "Version", H5P_DEFAULT, H5P_DEFAULT);
  assert_true(H5Aread(attribute, H5T_NATIVE_INT64, version) >= 0);
  assert_true(version[0] == 2 && version[1] == 0);
  H5Aclose(attribute);
  attribute = H5Aopen_by_name(file, "/VTKHDF/Steps", "NSteps", H5P_DEFAULT, H5P_DEFAULT);
  assert_true(H5Aread(attribute, H5T_NATIVE_INT64, &n_steps) >= 0);
  assert_int_equal(n_steps, N_FRAMES);
  H5Aclose(attribute);
}

static void compare_names(hid_t file) {
  static const char* const want[N_BODIES] = {"2 box.", "2 box!", "cloth", "plate", "wire", "dots"};
  char name[N_BODIES][7];
  hid_t type = H5Tcopy(H5T_C_S1);
  assert_true(H5Tset_size(type, sizeof name[0]) >= 0 && H5Tset_cset(type, H5T_CSET_UTF8) >= 0);
  assert_int_equal(read_rows(file, "/noli/bodies", type, 0, -1, name), N_BODIES);
  for (int b = 0; b < N_BODIES; b++) {
    assert_string_equal(name[b], want[b]);
  }
  H5Tclose(type);
}

static void vtkhdf_has_every_array_of_every_frame(void** state) {
  (void)state;
  static const int64_t step[N_FRAMES] = {0, 2, 3};
  const NoliFrameFormat* format;
  for (int32_t i = 0; (format = noli_frame_format_at(i)) != NULL; i++) {
    NoliContext* context = test_context(1);
    double time[N_FRAMES];
    record(format->name);
    test_empty_directory(OUT);
    export(OUT "/x.vtkhdf");
    hid_t file = H5Fopen(OUT "/x.vtkhdf", H5F_ACC_RDONLY, H5P_DEFAULT);
    assert_true(file >= 0);
    compare_head(file);
    compare_names(file);
    assert_int_equal(read_rows(file, "/VTKHDF/Steps/Values", H5T_NATIVE_DOUBLE, 0, -1, time),
                     N_FRAMES);
    for (int f = 0; f < N_FRAMES; f++) {
      NoliReadFrame frame = {0};
      char name[NOLI_FRAME_NAME_SIZE], path[128];
      int64_t n_compared = 0;
      noli_frame_name(format, step[f], name);
      snprintf(path, sizeof path, FOLDER "/%s", name);
      ASSERT_OK(format->read(context, path, NULL, &frame));
      assert_true(time[f] == frame.time);
      assert_int_equal(read_integer(file, "/VTKHDF/NumberOfPoints", 0), frame.n_vert);
      assert_int_equal(read_integer(file, "/VTKHDF/Steps/PartOffsets", f), 0);
      assert_int_equal(read_integer(file, "/VTKHDF/Steps/NumberOfParts", f), 1);
      assert_int_equal(read_integer(file, "/VTKHDF/Steps/CellOffsets", f), 0);
      assert_int_equal(read_integer(file, "/VTKHDF/Steps/ConnectivityIdOffsets", f), 0);
      compare_cells(file, &frame);
      for (int64_t k = 0; k < frame.arrays.count; k++) {
        const NoliReadArray* array = &frame.arrays.data[k];
        if (strcmp(array->section, "Cells") != 0 && strcmp(array->section, "Surface") != 0) {
          compare_array(file, f, array);
          n_compared++;
        }
      }
      assert_in_range(n_compared, 6, 20);
      noli_read_frame_free(context, &frame);
    }
    assert_true(H5Fclose(file) >= 0);
    test_context_done(&context);
  }
}

// ---- normals ----

static void normals_are_those_of_the_surface(void** state) {
  (void)state;
  // a cube, two triangles a side, and a vertex of a segment beside it
  int32_t triangle[] = {0, 2, 1, 1, 2, 3, 4, 5, 6, 5, 7, 6, 0, 1, 4, 1, 5, 4,
                        2, 6, 3, 3, 6, 7, 0, 4, 2, 2, 4, 6, 1, 3, 5, 3, 7, 5};
  int32_t segment[] = {0, 8};
  NoliShape shape = {.n_vert = 9, .n = {12, 1, 0}, .primitive = {triangle, segment, NULL}};
  float x[27], normal[27];
  for (int v = 0; v < 9; v++) {
    for (int k = 0; k < 3; k++) {
      x[3 * v + k] = v < 8 ? 1e-4F * (float)(v >> k & 1) : 5.0F;
    }
  }
  noli_shape_normals(&shape, x, normal);
  for (int v = 0; v < 8; v++) {
    for (int k = 0; k < 3; k++) {
      // angles do not depend on how the sides are divided
      ASSERT_NEAR((double)normal[3 * v + k], (v >> k & 1 ? 1.0 : -1.0) / sqrt(3.0), 1e-6);
    }
  }
  assert_true(normal[24] == 0.0F && normal[25] == 0.0F && normal[26] == 1.0F);
}

// ---- names ----

static void names_need_a_known_suffix_and_a_place(void** state) {
  (void)state;
  static const char* const refused[] = {
      "x.xyz", "x", "", "x.obj", "x_%s.obj", "x_%d_%d.obj", "x_%4d.obj", "x_%0.obj", "x_%099d.ply",
  };
  NoliContext* context = test_context(1);
  for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
    ASSERT_STATUS(noli_run_export(context, FOLDER, refused[i], NULL), NOLI_ERROR_ARGUMENT);
  }
  ASSERT_STATUS(noli_run_export(context, "/", "x.pc2", NULL), NOLI_ERROR_FORMAT);
  char* path = NULL;
  ASSERT_OK(noli_exchange_number(context, "a/x_%03d.obj", 12, &path));
  assert_string_equal(path, "a/x_012.obj");
  noli_free(context, path);
  ASSERT_OK(noli_exchange_number(context, "%d.ply", 1234, &path));
  assert_string_equal(path, "1234.ply");
  noli_free(context, path);
  assert_null(noli_run_export_suffix(-1));
  test_context_done(&context);
}

// ---- failures ----

typedef struct Disk {
  int64_t asked, fails;
} Disk;

static int ask(void* user, const char* request, const char* path) {
  Disk* disk = user;
  (void)request;
  (void)path;
  return ++disk->asked == disk->fails ? ENOSPC : 0;
}

// No file under a temporary name in the folder.
static void require_no_temporaries(void) {
  DIR* directory = opendir(OUT);
  for (struct dirent* entry = readdir(directory); entry != NULL; entry = readdir(directory)) {
    assert_null(strstr(entry->d_name, ".tmp"));
  }
  closedir(directory);
}

static void a_failing_disk_leaves_no_half_file(void** state) {
  (void)state;
  char path[64];
  record("vtu");
  for (int32_t i = 0; path_of(i, path); i++) {
    bool done = false;
    for (int64_t k = 1; !done; k++) {
      Disk disk = {.fails = k};
      NoliContext* context = test_context(1);
      context->disk_fault = ask;
      context->disk_fault_user = &disk;
      test_empty_directory(OUT);
      NoliStatus status = noli_run_export(context, FOLDER, path, NULL);
      done = disk.asked < k;
      assert_int_equal(status, done ? NOLI_OK : NOLI_ERROR_IO);
      require_no_temporaries();
      test_context_done(&context);
    }
  }
}

static int count_descriptors(void) {
  return test_count_files("/proc/self/fd");
}

// A disk that fills up at any byte, as HDF5 meets it too: the older file stays, nothing else does.
static void a_full_disk_leaves_the_older_file(void** state) {
  (void)state;
  char path[64], name[80], first[96];
  for (int32_t i = 0; path_of(i, path); i++) {
    test_empty_directory(OUT);
    export(path);
    const char* place = strstr(path, "_%04d");
    snprintf(name, sizeof name, "%s", path);
    if (place != NULL) {
      snprintf(name, sizeof name, OUT "/x_0000%s", place + 5);
    } else if (strstr(path, ".pc2") != NULL) {
      snprintf(name, sizeof name, OUT "/x_plate.pc2");
    }
    snprintf(first, sizeof first, "%s.first", name);
    size_t size = 0;
    char* bytes = test_read_file(name, &size);
    test_write_file(first, bytes, size);
    free(bytes);
    int n_files = test_count_files(OUT), n_open = count_descriptors();
    for (size_t limit = 0; limit < size; limit += 1 + size / 60) {
      NoliContext* context = test_context(1);
      test_limit_files((rlim_t)limit);
      NoliStatus status = noli_run_export(context, FOLDER, path, NULL);
      test_unlimit_files();
      assert_int_equal(status, NOLI_ERROR_IO);
      assert_non_null(strstr(noli_context_message(context), "cannot write: "));
      test_same_file(name, first);
      require_no_temporaries();
      assert_int_equal(test_count_files(OUT), n_files);
      assert_int_equal(count_descriptors(), n_open);
      test_context_done(&context);
    }
  }
}

static void every_refused_allocation_is_reported(void** state) {
  (void)state;
  char path[64];
  for (int32_t i = 0; path_of(i, path); i++) {
    bool done = false;
    // what loading the scene requests is tested elsewhere: here only some of it
    for (int64_t k = 1; !done; k += k < 40 ? 1 : 7) {
      TestMemory memory;
      NoliContext* context = test_context_on(&memory, 1);
      test_empty_directory(OUT);
      test_refuse(&memory, k);
      NoliStatus status = noli_run_export(context, FOLDER, path, NULL);
      done = memory.asked < k;
      assert_int_equal(status, done ? NOLI_OK : NOLI_ERROR_MEMORY);
      require_no_temporaries();
      test_context_done(&context);
    }
  }
}

static void damaged_frames_are_named(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  test_write_file(FOLDER "/frame_000002.vtu", "damaged", 7);
  ASSERT_STATUS(noli_run_export(context, FOLDER, OUT "/x.pc2", NULL), NOLI_ERROR_FORMAT);
  assert_non_null(strstr(noli_context_message(context), "frame_000002.vtu"));
  assert_int_equal(unlink(FOLDER "/frame_000002.vtu"), 0);
  ASSERT_STATUS(noli_run_export(context, FOLDER, OUT "/x.pc2", NULL), NOLI_ERROR_IO);
  test_context_done(&context);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(caches_have_the_positions_of_the_frames),
      cmocka_unit_test(vtkhdf_has_every_array_of_every_frame),
      cmocka_unit_test(normals_are_those_of_the_surface),
      cmocka_unit_test(names_need_a_known_suffix_and_a_place),
      cmocka_unit_test(a_failing_disk_leaves_no_half_file),
      cmocka_unit_test(a_full_disk_leaves_the_older_file),
      cmocka_unit_test(every_refused_allocation_is_reported),
      cmocka_unit_test(damaged_frames_are_named),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
