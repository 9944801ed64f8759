// Open sheets that touch themselves and each other with smooth implicit surfaces: audited after
// every step, or in every iteration.
#include "world.h"

static const double origin[3] = {0, 0, 0}, up[3] = {0, 1, 0};

static World sheet_world(bool implicit) {
  World world = world_new(1);
  world.def.contact_model = "implicit_surface";
  world.def.friction_method = implicit ? "implicit" : "lagged";
  world.def.solver = implicit ? "implicit_newton" : "projected_newton";
  world.def.contact_distance = (NoliScaled){4e-3, false};
  return world;
}

// A sheet in the plane y = 0, turned about x.
static int32_t add_sheet(World* world, const double size[2], const int32_t cells[2], double angle,
                         const double at[3]) {
  NoliMesh* mesh = NULL;
  ASSERT_OK(noli_mesh_make_plane(world->context, size[0], size[1], cells[0], cells[1], &mesh));
  noli_mesh_transform(mesh, (double[]){1, 1, 1}, (double[]){angle, 0, 0}, origin);
  int32_t sheet = world_add(world, mesh, at);
  NoliBodyDef* body = &world->body[sheet];
  body->shell.thickness = 1e-3;
  body->material = (NoliMaterialDef){
      .law = "stvk", .young = 1e5, .poisson = 0.3, .density = 300.0, .damping = 0.005};
  return sheet;
}

// A strip that stands on its short side falls and folds onto itself.
static void a_strip_folds_onto_itself(void** state) {
  (void)state;
  for (int implicit = 0; implicit < 2; implicit++) {
    World world = sheet_world(implicit == 1);
    add_sheet(&world, (double[]){0.2, 0.8}, (int32_t[]){4, 16}, 80.0, (double[]){0, 0.42, 0});
    world_add_plane(&world, origin, up);
    world.def.friction = 0.3;
    world.def.audit = "every_iteration";
    world.def.time_step = 0.02;
    world_start(&world);
    double closest = (double)INFINITY;
    int32_t iterations = 0;
    for (int i = 0; i < 30; i++) {
      world_step(&world);
      closest = fmin(closest, world.report.min_distance);
      iterations += world.report.newton_iterations;
    }
    const NoliPairForce* within = world_pair(&world, 0, 0);
    print_message("%s: %lld contacts within, closest %.3g m, %d iterations\n",
                  implicit == 1 ? "implicit" : "lagged",
                  within != NULL ? (long long)within->contacts : 0, closest, iterations);
    assert_true(within != NULL && within->contacts > 10);
    ASSERT_AT_LEAST(closest, 0.0);
    world_done(&world);
  }
}

// Two sheets collide in free fall, face on face, rim on face and rim on rim: momentum is that of
// gravity alone.
static void sheets_collide(void** state) {
  (void)state;
  static const double angle[3] = {0.0, 90.0, 0.0};
  static const double at[3][3] = {{0.03, 0.02, 0.01}, {0.02, 0.12, 0.01}, {0.03, 5e-4, 0.22}};
  static const double speed[3][3] = {{0, -2, 0}, {0, -2, 0}, {0, 0, -2}};
  for (int k = 0; k < 6; k++) {
    World world = sheet_world(false);
    const double size[2] = {0.2, 0.2};
    const int32_t cells[2][2] = {{8, 8}, {7, 7}};
    add_sheet(&world, size, cells[0], 0.0, origin);
    add_sheet(&world, size, cells[1], angle[k % 3], at[k % 3]);
    memcpy(world.body[1].velocity, speed[k % 3], sizeof speed[0]);
    const double fall = 0.5;
    memcpy(world.def.gravity, (double[]){0, -fall, 0}, sizeof world.def.gravity);
    world.def.time_step = 2e-3;
    world.def.friction = k / 3 == 0 ? 0.0 : 0.5;
    world.def.tolerance = (NoliScaled){1e-6, true};
    world_start(&world);
    double start[3], end[3];
    int64_t most = 0;
    for (int i = 0; i < 30; i++) {
      world_step(&world);
      memcpy(i == 0 ? start : end, world.report.momentum, sizeof end);
      most = world.report.contacts > most ? world.report.contacts : most;
      ASSERT_AT_LEAST(world.report.min_distance, 0.0);
    }
    double mass = 2.0 * 0.2 * 0.2 * 1e-3 * 300.0, scale = 2.0 * mass;
    end[1] += mass * fall * 29.0 * 2e-3;
    print_message("momentum changed by %.2g %.2g %.2g of %.2g kg m/s, %lld contacts\n",
                  end[0] - start[0], end[1] - start[1], end[2] - start[2], scale, (long long)most);
    assert_true(most > 0);
    for (int i = 0; i < 3; i++) {
      ASSERT_NEAR(end[i], start[i], 1e-7 * scale);
    }
    world_done(&world);
  }
}

// Without sheets that meet, there is nothing to audit.
static void audits_need_sheets_that_meet(void** state) {
  (void)state;
  World world = sheet_world(false);
  add_sheet(&world, (double[]){0.2, 0.2}, (int32_t[]){2, 2}, 0.0, origin);
  world.body[0].self_contact = false;
  world_expect_refusal(&world, "except between open sheets");
}

// Sheets that start crossed are refused, as with "ipc".
static void crossed_sheets_are_refused(void** state) {
  (void)state;
  World world = sheet_world(false);
  world.def.audit = "off";
  const int32_t cells[2] = {3, 3};
  add_sheet(&world, (double[]){0.2, 0.2}, cells, 0.0, origin);
  add_sheet(&world, (double[]){0.2, 0.2}, cells, 90.0, (double[]){0.013, 0.007, 0.011});
  ASSERT_STATUS(world_create(&world), NOLI_ERROR_INTERSECTION);
  NoliDefect* defects = NULL;
  int64_t n = 0;
  ASSERT_OK(noli_sim_check(world.context, &world.def, &defects, &n));
  assert_true(n > 0);
  for (int64_t i = 0; i < n; i++) {
    assert_int_equal(defects[i].kind, NOLI_DEFECT_INTERSECTION);
  }
  noli_sim_check_free(world.context, &defects);
  world_done(&world);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_strip_folds_onto_itself),
      cmocka_unit_test(sheets_collide),
      cmocka_unit_test(audits_need_sheets_that_meet),
      cmocka_unit_test(crossed_sheets_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
