// Writes grids that tests/output/read_vtu.py reads back with independent readers; here: the errors.
#include "output_support.h"

#include "output/frames/frame.h"
#include "output/frames/lagrange_cells.h"
#include "output/frames/vtu.h"

// More than one compressed block in every array. read_vtu.py uses the same formulas.
static void write_large_grid(NoliContext* context, const char* path, NoliStatus want) {
  enum { N = 50000 };
  double* x = malloc(sizeof(double) * 3 * N);
  float* values = malloc(sizeof(float) * N);
  int32_t* connectivity = malloc(sizeof(int32_t) * N);
  int64_t* offsets = malloc(sizeof(int64_t) * N);
  uint8_t* types = malloc(N);

  // values of the formulas
  for (int i = 0; i < N; i++) {
    x[3 * i] = i / 3.0;
    x[3 * i + 1] = -i / 7.0;
    x[3 * i + 2] = i * 1e-9;
    values[i] = (float)i * 0.5f;
    connectivity[i] = N - 1 - i;
    offsets[i] = i + 1;
    types[i] = NOLI_CELL_VERTEX;
  }

  // write them
  const NoliFrameArray point_data[] = {{"half", NOLI_FRAME_FLOAT32, 1, values, false}};
  const NoliFrameArray cell_data[] = {{"vertex", NOLI_FRAME_INT32, 1, connectivity, false}};
  const NoliFrame grid = {.time = 0.1,
                          .n_vert = N,
                          .x = x,
                          .n_cells = N,
                          .connectivity = connectivity,
                          .offsets = offsets,
                          .types = types,
                          .point_data = point_data,
                          .n_point_data = 1,
                          .cell_data = cell_data,
                          .n_cell_data = 1};
  ASSERT_STATUS(noli_vtu_write(context, path, &grid), want);
  free(x);
  free(values);
  free(connectivity);
  free(offsets);
  free(types);
}

static void large_grid(void** state) {
  (void)state;
  NoliContext* context = test_context(2);
  write_large_grid(context, "vtu_large.vtu", NOLI_OK);
  test_context_done(&context);
}

// With a cache, cells and constant arrays are compressed once; the bytes are the same.
static void cached_grids(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  const double x[] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1};
  const int32_t connectivity[] = {0, 1, 2, 3};
  const int64_t offsets[] = {4};
  const uint8_t types[] = {NOLI_CELL_TETRAHEDRON};
  int32_t tag[] = {7}, changing[] = {1};
  const NoliFrameArray cell_data[] = {{"tag", NOLI_FRAME_INT32, 1, tag, true},
                                      {"changing", NOLI_FRAME_INT32, 1, changing, false}};
  NoliVtuCache cache = {0};
  NoliFrame grid = {.n_vert = 4,
                    .x = x,
                    .n_cells = 1,
                    .connectivity = connectivity,
                    .offsets = offsets,
                    .types = types,
                    .cell_data = cell_data,
                    .n_cell_data = 2};
  for (int i = 0; i < 3; i++) {
    size_t plain_size = 0, cached_size = 0;
    changing[0] = i;
    grid.cache = NULL;
    ASSERT_OK(noli_vtu_write(context, "vtu_plain.vtu", &grid));
    grid.cache = &cache;
    ASSERT_OK(noli_vtu_write(context, "vtu_cached.vtu", &grid));
    char* plain = test_read_file("vtu_plain.vtu", &plain_size);
    char* cached = test_read_file("vtu_cached.vtu", &cached_size);
    assert_int_equal(plain_size, cached_size);
    assert_memory_equal(plain, cached, plain_size);
    free(plain);
    free(cached);
  }

  // it does come from the cache: arrays declared constant are not examined again
  tag[0] = 8;
  grid.connectivity = NULL; // nor need they be there
  grid.offsets = NULL;
  grid.types = NULL;
  ASSERT_OK(noli_vtu_write(context, "vtu_cached.vtu", &grid));
  char* cached = test_read_file("vtu_cached.vtu", NULL);
  char* before = test_read_file("vtu_plain.vtu", NULL);
  assert_string_equal(cached, before);
  free(cached);
  free(before);
  noli_vtu_cache_free(context, &cache);
  test_context_done(&context);
}

// One cell of each type.
static void mixed_grid(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  const double x[] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1};
  const int32_t connectivity[] = {0, 1, 2, 3, 0, 1, 2, 1, 3, 2};
  const int64_t offsets[] = {4, 7, 9, 10};
  const uint8_t types[] = {NOLI_CELL_TETRAHEDRON, NOLI_CELL_TRIANGLE, NOLI_CELL_LINE,
                           NOLI_CELL_VERTEX};
  const int64_t numbers[] = {INT64_C(1) << 40, -1, 0, 7};
  const NoliFrameArray cell_data[] = {{"number", NOLI_FRAME_INT64, 1, numbers, false}};
  const NoliFrame grid = {.time = 2.5,
                          .n_vert = 4,
                          .x = x,
                          .n_cells = 4,
                          .connectivity = connectivity,
                          .offsets = offsets,
                          .types = types,
                          .cell_data = cell_data,
                          .n_cell_data = 1};
  ASSERT_OK(noli_vtu_write(context, "vtu_mixed.vtu", &grid));
  const NoliFrame empty = {.time = 0.0};
  ASSERT_OK(noli_vtu_write(context, "vtu_empty.vtu", &empty));
  test_context_done(&context);
}

// Tetrahedra of every order with a polynomial of that order, which read_vtu.py checks.
static void lagrange_cells(void** state) {
  (void)state;
  NoliContext* context = test_context(1);

  // each order
  for (int32_t order = 1; order <= NOLI_ORDER_MAX; order++) {
    NoliMesh* mesh = NULL;
    NoliSpace space;
    char path[64];
    ASSERT_OK(noli_mesh_make_sphere(context, 0.8, 2, false, &mesh));
    ASSERT_OK(noli_space_create(context, mesh, order, &space));
    size_t n_tet = (size_t)space.n_tet;
    int32_t* connectivity = malloc(n_tet * (size_t)space.n_local * sizeof *connectivity);
    int64_t* offsets = malloc(n_tet * sizeof *offsets);
    uint8_t* types = malloc(n_tet);
    double* values = malloc((size_t)space.n_node * sizeof *values);
    noli_lagrange_cells(&space, 0, 0, connectivity, offsets, types);
    for (int64_t v = 0; v < space.n_node; v++) {
      const double* x = space.X + 3 * v;
      values[v] = 0.0;
      for (int d = 1; d <= order; d++) {
        values[v] +=
            pow(x[0] + 0.3, d) - 0.7 * pow(x[1] - 0.2, d) + 0.4 * pow(x[2] + 0.1 * x[0], d);
      }
    }
    const NoliFrameArray point_data[] = {{"polynomial", NOLI_FRAME_FLOAT64, 1, values, false}};
    const NoliFrame grid = {.n_vert = space.n_node,
                            .x = space.X,
                            .n_cells = space.n_tet,
                            .connectivity = connectivity,
                            .offsets = offsets,
                            .types = types,
                            .point_data = point_data,
                            .n_point_data = 1};
    snprintf(path, sizeof path, "vtu_lagrange_%d.vtu", order);
    ASSERT_OK(noli_vtu_write(context, path, &grid));

    // every node once
    int32_t permutation[NOLI_TET_NODES_MAX], seen[NOLI_TET_NODES_MAX] = {0};
    noli_lagrange_cell_order(order, permutation);
    for (int32_t k = 0; k < space.n_local; k++) {
      seen[permutation[k]]++;
    }
    for (int32_t k = 0; k < space.n_local; k++) {
      assert_int_equal(seen[k], 1);
    }
    free(connectivity);
    free(offsets);
    free(types);
    free(values);
    noli_space_destroy(context, &space);
    noli_mesh_destroy(context, &mesh);
  }
  test_context_done(&context);
}

// The same bytes for any number of threads.
static void threads_do_not_show(void** state) {
  (void)state;
  for (int32_t threads = 1; threads <= 3; threads += 2) {
    NoliContext* context = test_context(threads);
    write_large_grid(context, threads == 1 ? "vtu_one.vtu" : "vtu_three.vtu", NOLI_OK);
    test_context_done(&context);
  }
  size_t n_one = 0, n_three = 0;
  char* one = test_read_file("vtu_one.vtu", &n_one);
  char* three = test_read_file("vtu_three.vtu", &n_three);
  assert_int_equal(n_one, n_three);
  assert_memory_equal(one, three, n_one);
  free(one);
  free(three);
}

// A frame of a simulation, and beside it a text file with the expected content.
static void frame_of_simulation(void** state) {
  (void)state;
  NoliContext* context = test_context(2);
  TestSim test;

  // a frame after three steps
  test_sim_create(context, 2, &test);
  for (int i = 0; i < 3; i++) {
    ASSERT_OK(noli_sim_step(test.sim, NULL));
  }
  ASSERT_OK(noli_output_write_vtu(context, test.sim, &test.def, "vtu_frame.vtu"));

  // the same data as text
  int32_t n_vert = noli_sim_vertex_count(test.sim), n_tet = noli_sim_tet_count(test.sim);
  double* contact = malloc(sizeof(double) * 3 * (size_t)n_vert);
  double* friction = malloc(sizeof(double) * 3 * (size_t)n_vert);
  double* stress = malloc(sizeof(double) * (size_t)n_tet);
  ASSERT_OK(noli_sim_contact_forces(test.sim, contact));
  ASSERT_OK(noli_sim_friction_forces(test.sim, friction));
  ASSERT_OK(noli_sim_von_mises(test.sim, stress));
  FILE* file = fopen("vtu_frame.txt", "w");
  assert_non_null(file);
  fprintf(file, "%d %d %.17g\n", (int)n_vert, (int)n_tet, noli_sim_time(test.sim));
  for (int32_t i = 0; i < 3 * n_vert; i++) {
    double x = noli_sim_positions(test.sim)[i];
    fprintf(file, "%.17g %.17g %.17g %.17g %.17g\n", x, x - noli_sim_rest_positions(test.sim)[i],
            noli_sim_velocities(test.sim)[i], contact[i], friction[i]);
  }
  for (int32_t i = 0; i < n_tet; i++) {
    const int32_t* tet = noli_sim_tets(test.sim) + 4 * (int64_t)i;
    fprintf(file, "%d %d %d %d %.17g\n", (int)tet[0], (int)tet[1], (int)tet[2], (int)tet[3],
            stress[i]);
  }
  assert_int_equal(fclose(file), 0);
  free(contact);
  free(friction);
  free(stress);
  test_sim_destroy(context, &test);
  test_context_done(&context);
}

static void full_disk_leaves_the_older_file(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  test_empty_directory("vtu_full");
  test_write_file("vtu_full/frame.vtu", "older", 5);
  test_limit_files(10000);
  write_large_grid(context, "vtu_full/frame.vtu", NOLI_ERROR_IO);
  test_unlimit_files();
  assert_non_null(
      strstr(noli_context_message(context), "vtu_full/frame.vtu: cannot write: File too"));
  char* text = test_read_file("vtu_full/frame.vtu", NULL);
  assert_string_equal(text, "older");
  free(text);
  // no temporary is left
  assert_int_equal(test_count_files("vtu_full"), 1);
  test_context_done(&context);
}

static void missing_directory_is_named(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  write_large_grid(context, "vtu_nowhere/frame.vtu", NOLI_ERROR_IO);
  assert_string_equal(noli_context_message(context),
                      "vtu_nowhere/frame.vtu: cannot create: No such file or directory");
  test_context_done(&context);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(large_grid),
      cmocka_unit_test(cached_grids),
      cmocka_unit_test(mixed_grid),
      cmocka_unit_test(lagrange_cells),
      cmocka_unit_test(threads_do_not_show),
      cmocka_unit_test(frame_of_simulation),
      cmocka_unit_test(full_disk_leaves_the_older_file),
      cmocka_unit_test(missing_directory_is_named),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
