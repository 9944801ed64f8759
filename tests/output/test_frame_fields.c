// Fields of frames requested by a run: stresses, contact pressure and gap of a block at rest.
#include "output_support.h"

#include "noli/run.h"
#include "output/frames/frame_format.h"
#include "step/world.h"

#define WEIGHT (1000.0 * 0.4 * 9.80665)

static World resting_block(void) {
  World world = world_new(1);
  int32_t block = world_add(&world, make_box(&world, 1.0, 0.5, 0.8, 3), (double[]){0, 0.2505, 0});
  world.body[block].material.young = 1e6;
  world.body[block].material.density = 1000.0;
  world_add_plane(&world, (double[]){0, 0, 0}, (double[]){0, 1, 0});
  world.def.time_step = 0.02;
  world.def.tolerance = (NoliScaled){1e-6, false};
  world_start(&world);
  return world;
}

static NoliRunDef run_def(const World* world, const char* directory, int32_t n,
                          const char* const* fields) {
  NoliRunDef def = noli_default_run_def();
  def.directory = directory;
  def.scene_name = "block";
  def.scene_json = "{}";
  def.sim_def = &world->def;
  def.frame_interval = 40;
  def.fields = fields;
  def.n_fields = n;
  return def;
}

static const float* values_of(const NoliReadFrame* frame, const char* section, const char* name,
                              int32_t n_components, int64_t n) {
  const NoliReadArray* array =
      noli_read_frame_find(frame, section, name, NOLI_FRAME_FLOAT32, n_components, n);
  assert_non_null(array);
  return array->data;
}

static void a_block_presses_with_its_weight(void** state) {
  (void)state;
  static const char* const fields[] = {"contact_pressure", "stress", "gap", "nodal_stress"};
  World world = resting_block();
  NoliRun* run = NULL;
  test_empty_directory("fields");
  NoliRunDef def = run_def(&world, "fields", 4, fields);
  ASSERT_OK(noli_run_open(world.context, &def, world.sim, &run));
  for (int i = 0; i < 40; i++) {
    world_step(&world);
    ASSERT_OK(noli_run_step(run, world.sim));
  }
  noli_run_close(&run);

  // the frame of the last step
  NoliReadFrame frame = {0};
  ASSERT_OK(noli_frame_format_vtu.read(world.context, "fields/frame_000040.vtu", NULL, &frame));
  int32_t n = noli_sim_vertex_count(world.sim), n_tet = noli_sim_tet_count(world.sim);
  const float* pressure = values_of(&frame, "PointData", "contact_pressure", 1, n);
  const float* gap = values_of(&frame, "PointData", "gap", 1, n);
  const float* stress = values_of(&frame, "CellData", "stress", 6, n_tet);
  (void)values_of(&frame, "PointData", "nodal_stress", 6, n);

  // vertices at the bottom, 4 x 4, have 1, 2 or 4 parts of the area
  double total = 0.0;
  for (int32_t i = 0; i < n; i++) {
    const double* X = noli_sim_rest_positions(world.sim) + 3 * i;
    bool bottom = X[1] < 0.01;
    double share = (fabs(X[0]) > 0.49 ? 0.5 : 1.0) * (fabs(X[2]) > 0.39 ? 0.5 : 1.0);
    total += bottom ? (double)pressure[i] * share * (1.0 / 3.0) * (0.8 / 3.0) : 0.0;
    assert_true(bottom ? pressure[i] > 0.0F && gap[i] > 0.0F : pressure[i] == 0.0F);
    assert_true(bottom || isnan(gap[i]));
  }
  // triangles divide the area among vertices differently from rectangles, and it has bulged
  ASSERT_NEAR(total, WEIGHT, 0.02 * WEIGHT);

  // the mean of the vertical stress is that of a column under its own weight
  NoliStress* own = malloc(sizeof *own * (size_t)n_tet);
  ASSERT_OK(noli_sim_stresses(world.sim, own));
  double mean = 0.0;
  for (int32_t t = 0; t < n_tet; t++) {
    mean += own[t].cauchy[1] / n_tet;
    for (int k = 0; k < 6; k++) {
      assert_true(stress[6 * t + k] == (float)own[t].cauchy[k]);
    }
  }
  ASSERT_NEAR(mean, -0.5 * WEIGHT / 0.8, 0.02 * WEIGHT / 0.8);
  free(own);
  noli_read_frame_free(world.context, &frame);
  world_done(&world);
}

// ---- thin bodies --------------------------------------------------------------------------------

enum { N_SEGMENT = 6 };

// A straight rod along x.
static NoliMesh* make_line(World* world) {
  NoliMesh* mesh = NULL;
  ASSERT_OK(noli_mesh_create(world->context, N_SEGMENT + 1, 0, 0, N_SEGMENT, 0, false, &mesh));
  for (int32_t i = 0; i <= N_SEGMENT; i++) {
    mesh->x[3 * i] = 0.05 * i;
  }
  for (int32_t i = 0; i < 2 * N_SEGMENT; i++) {
    mesh->edge[i] = (i + 1) / 2;
  }
  return mesh;
}

// Compares values of cells with doubles; the others are 0. Counts what is not 0.
static int64_t compare_cells(const NoliReadFrame* frame, const char* name, int32_t width,
                             int64_t n_cells, const double* want, int64_t stride) {
  const float* got = values_of(frame, "CellData", name, width, n_cells);
  int64_t n = 0;
  for (int64_t i = 0; i < width * n_cells; i++) {
    double value = want[stride * (i / width) + i % width];
    assert_true(got[i] == (float)value);
    n += value != 0.0;
  }
  return n;
}

// A sheet and a rod with twist, both clamped at one end and turning: the fields of a frame are the
// forces and moments of the library in cells of the kind, and 0 in the others.
static void thin_bodies_have_forces_and_moments(void** state) {
  (void)state;
  static const int32_t ends[2] = {0, 1};
  World world = world_new(1);
  NoliMesh* plane = NULL;
  ASSERT_OK(noli_mesh_make_plane(world.context, 0.3, 0.2, 4, 2, &plane));
  int32_t body[2] = {world_add(&world, plane, (double[]){0, 1, 0}),
                     world_add(&world, make_line(&world), (double[]){0, 2, 0})};
  world.body[body[0]].shell.thickness = 2e-3;
  world.body[body[1]].rod.radius = 2e-3;
  world.body[body[1]].rod.twist = 1.0;
  for (int k = 0; k < 2; k++) {
    world.body[body[k]].material.young = 1e7;
    world.body[body[k]].angular_velocity[0] = 3.0;
    NoliMotionDef* motion = world_add_motion(&world, body[k], NULL, NULL);
    motion->node = ends;
    motion->n_node = 2;
  }
  world.def.time_step = 0.02;
  world_start(&world);
  NoliRun* run = NULL;
  test_empty_directory("thin_fields");
  NoliRunDef def = run_def(&world, "thin_fields", 0, NULL);
  def.frame_interval = 5;
  ASSERT_OK(noli_run_open(world.context, &def, world.sim, &run));
  for (int i = 0; i < 5; i++) {
    world_step(&world);
    ASSERT_OK(noli_run_step(run, world.sim));
  }
  noli_run_close(&run);

  // 16 triangles, then 6 segments
  enum { N_CELL = 16 + N_SEGMENT };
  NoliReadFrame frame = {0};
  ASSERT_OK(
      noli_frame_format_vtu.read(world.context, "thin_fields/frame_000005.vtu", NULL, &frame));
  assert_int_equal(noli_sim_tet_count(world.sim), N_CELL);
  NoliSheetForces sheet[N_CELL];
  NoliRodForces rod[N_CELL];
  ASSERT_OK(noli_sim_sheet_forces(world.sim, sheet));
  ASSERT_OK(noli_sim_rod_forces(world.sim, rod));
  int64_t wide = sizeof *sheet / sizeof(double), thin = sizeof *rod / sizeof(double);
  assert_true(compare_cells(&frame, "membrane_force", 6, N_CELL, sheet->membrane, wide) > 60);
  assert_true(compare_cells(&frame, "bending_moment", 6, N_CELL, sheet->bending, wide) > 30);
  int64_t n = compare_cells(&frame, "rod_tension", 1, N_CELL, &rod->tension, thin);
  assert_true(n > 0 && n <= N_SEGMENT);
  n = compare_cells(&frame, "rod_bending", 3, N_CELL, rod->bending, thin);
  assert_true(n > 0 && n <= 3 * N_SEGMENT);
  n = compare_cells(&frame, "rod_twist", 1, N_CELL, &rod->twist, thin);
  assert_true(n > 0 && n <= N_SEGMENT);
  noli_read_frame_free(world.context, &frame);
  world_done(&world);
}

// Pressures times the areas of vertices are the contact forces, at any inclination and on bodies
// in plane strain.
static void forces_are_pressure_times_area(void** state) {
  (void)state;
  World world = world_new(1);
  NoliMesh* mesh = NULL;
  double thickness = 0.05, angle = 0.3;
  ASSERT_OK(noli_mesh_make_rectangle(world.context, 1.0, 0.5, 4, 2, &mesh));
  noli_mesh_transform(mesh, (double[]){1, 1, 1}, (double[]){0, 0, angle * 180.0 / acos(-1.0)},
                      (double[]){0, 0, 0});
  int32_t block = world_add(&world, mesh, (double[]){0, 0, 0});
  world.body[block].plane_strain = thickness;
  world.body[block].material.young = 1e6;
  double normal[3] = {-sin(angle), cos(angle), 0};
  world_add_plane(&world, (double[]){-0.2505 * normal[0], -0.2505 * normal[1], 0}, normal);
  world.def.friction = 1.0;
  world.def.time_step = 0.02;
  world.def.tolerance = (NoliScaled){1e-6, false};
  world_start(&world);
  for (int i = 0; i < 40; i++) {
    world_step(&world);
  }
  double pressure[15], gap[15], sum = 0.0;
  assert_int_equal(noli_sim_vertex_count(world.sim), 15);
  ASSERT_OK(noli_sim_contact_pressures(world.sim, pressure, gap));
  const NoliPairForce* pairs = NULL;
  int32_t n_pairs = 0;
  ASSERT_OK(noli_sim_pair_forces(world.sim, &pairs, &n_pairs));
  assert_int_equal(n_pairs, 1);
  for (int i = 0; i < 15; i++) {
    const double* X = noli_sim_rest_positions(world.sim) + 3 * i;
    double along = X[0] * cos(angle) + X[1] * sin(angle);
    sum += pressure[i] * thickness * 0.25 * (fabs(along) > 0.49 ? 0.5 : 1.0);
  }
  double force =
      sqrt(pairs[0].normal[0] * pairs[0].normal[0] + pairs[0].normal[1] * pairs[0].normal[1]);
  assert_true(force > 1.0);
  ASSERT_NEAR(sum, force, 0.01 * force);
  world_done(&world);
}

// A block that is pushed over its limit slides, below it holds.
static void fields_tell_what_holds_and_slides(void** state) {
  (void)state;
  static const char* const fields[] = {"held", "slid"};
  for (int slides = 0; slides < 2; slides++) {
    World world = resting_block();
    noli_sim_destroy(&world.sim);
    world.def.friction = slides == 1 ? 0.2 : 0.5;
    world.def.friction_law = "stick";
    world.def.gravity[0] = 0.3 * 9.80665;
    world_start(&world);
    NoliRun* run = NULL;
    test_empty_directory("slips");
    NoliRunDef def = run_def(&world, "slips", 2, fields);
    ASSERT_OK(noli_run_open(world.context, &def, world.sim, &run));
    for (int i = 0; i < 40; i++) {
      world_step(&world);
      ASSERT_OK(noli_run_step(run, world.sim));
    }
    noli_run_close(&run);
    NoliReadFrame frame = {0};
    ASSERT_OK(noli_frame_format_vtu.read(world.context, "slips/frame_000040.vtu", NULL, &frame));
    int32_t n = noli_sim_vertex_count(world.sim);
    const float* held = values_of(&frame, "PointData", "held", 1, n);
    const float* slid = values_of(&frame, "PointData", "slid", 1, n);
    double centre[3];
    world_centre(&world, 0, centre);
    for (int32_t i = 0; i < n; i++) {
      if (noli_sim_rest_positions(world.sim)[3 * i + 1] > 0.01) {
        assert_true(isnan(held[i]) && isnan(slid[i]));
      } else if (slides == 1) {
        assert_true(held[i] == 0.0F);
        ASSERT_NEAR((double)slid[i], centre[0], 0.05 * centre[0]);
      } else {
        assert_true(held[i] == 1.0F);
      }
    }
    noli_read_frame_free(world.context, &frame);
    world_done(&world);
  }
}

static void unknown_fields_are_refused(void** state) {
  (void)state;
  static const char* const fields[] = {"stress", "sterss", "stress"};
  World world = resting_block();
  NoliRun* run = NULL;
  test_empty_directory("no_fields");
  NoliRunDef def = run_def(&world, "no_fields", 2, fields);
  assert_int_equal(noli_run_open(world.context, &def, world.sim, &run), NOLI_ERROR_ARGUMENT);
  assert_non_null(strstr(noli_context_message(world.context), "sterss"));
  def.fields = (const char* const[]){"gap", "gap"};
  assert_int_equal(noli_run_open(world.context, &def, world.sim, &run), NOLI_ERROR_ARGUMENT);
  assert_non_null(strstr(noli_context_message(world.context), "twice"));
  def.frame_format = "ply";
  def.n_fields = 1;
  assert_int_equal(noli_run_open(world.context, &def, world.sim, &run), NOLI_ERROR_ARGUMENT);
  assert_non_null(strstr(noli_context_message(world.context), "\"ply\" have no fields"));
  world_done(&world);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_block_presses_with_its_weight),
      cmocka_unit_test(thin_bodies_have_forces_and_moments),
      cmocka_unit_test(forces_are_pressure_times_area),
      cmocka_unit_test(fields_tell_what_holds_and_slides),
      cmocka_unit_test(unknown_fields_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
