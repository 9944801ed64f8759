// Bodies inside bodies: refused if they overlap, allowed if there is room.
#include "step/world.h"

static const double origin[3] = {0, 0, 0}, aside[3] = {0.01, 0.02, -0.015};

static int32_t add_hollow(World* world, double outer, double inner) {
  NoliMesh* mesh = NULL;
  ASSERT_OK(noli_mesh_make_hollow_sphere(world->context, outer, inner, 6, 1, false, &mesh));
  return world_add(world, mesh, origin);
}

// The complete definition, for tests that change nothing else.
static NoliDefect* find_defects(World* world, int64_t n) {
  NoliDefect* defects = NULL;
  int64_t found = 0;
  ASSERT_OK(noli_sim_check(world->context, &world->def, &defects, &found));
  assert_int_equal(found, n);
  return defects;
}

// `inside` overlaps the solid `outside`, which is the only error.
static void expect_nested(World* world, int32_t inside, int32_t outside) {
  char names[2][32];
  NoliStatus status = world_create(world);
  print_message("  %s\n", noli_context_message(world->context));
  assert_int_equal(status, NOLI_ERROR_INTERSECTION);
  assert_null(world->sim);
  snprintf(names[0], sizeof names[0], "of \"%s\"", world->name[inside]);
  snprintf(names[1], sizeof names[1], "lies inside \"%s\"", world->name[outside]);
  assert_non_null(strstr(noli_context_message(world->context), names[0]));
  assert_non_null(strstr(noli_context_message(world->context), names[1]));
  NoliDefect* defects = find_defects(world, 1);
  assert_int_equal(defects[0].kind, NOLI_DEFECT_NESTED);
  assert_int_equal(defects[0].entity[0], inside);
  assert_int_equal(defects[0].entity[1], outside);
  assert_int_equal(defects[0].n_vert[0], 1);
  assert_int_equal(defects[0].n_vert[1], 0);
  const NoliMesh* mesh = world->mesh[inside];
  for (int k = 0; k < 3 && defects[0].vertex[0][0] < mesh->n_vert; k++) {
    ASSERT_NEAR(defects[0].position[k], mesh->x[3 * defects[0].vertex[0][0] + k], 0.0);
  }
  noli_sim_check_free(world->context, &defects);
  world_done(world);
}

// It is valid, and runs with audits.
static void expect_room(World* world) {
  world_start(world);
  assert_null(find_defects(world, 0));
  for (int i = 0; i < 3; i++) {
    world_step(world);
  }
  world_done(world);
}

static void solid_in_solid_is_refused(void** state) {
  (void)state;
  World world = world_new(1);
  world_add(&world, make_box(&world, 1, 1, 1, 3), origin);
  world_add(&world, make_sphere(&world, 0.1, 3), aside);
  expect_nested(&world, 1, 0);

  // for any solver and any contact model that separates surfaces
  world = world_new(1);
  world.def.contact_model = "gcp";
  world_add(&world, make_sphere(&world, 0.1, 3), aside);
  world_add(&world, make_box(&world, 1, 1, 1, 3), origin);
  expect_nested(&world, 0, 1);
  world = world_new(1);
  world.def.solver = "augmented_lagrangian";
  world_add(&world, make_sphere(&world, 0.1, 3), aside);
  world_add(&world, make_box(&world, 1, 1, 1, 3), origin);
  expect_nested(&world, 0, 1);

  // start positions are tested, not rest positions
  world = world_new(1);
  world_add(&world, make_box(&world, 1, 1, 1, 3), origin);
  world_add(&world, make_sphere(&world, 0.1, 3), (double[]){5, 0, 0});
  world.def.gravity[1] = 0.0;
  int32_t n = world.mesh[1]->n_vert;
  double* x0 = malloc(3 * (size_t)n * sizeof *x0);
  for (int i = 0; i < 3 * n; i++) {
    x0[i] = world.mesh[1]->x[i] - (i % 3 == 0 ? 5.0 : 0.0);
  }
  world.body[1].x0 = x0;
  ASSERT_STATUS(world_create(&world), NOLI_ERROR_INTERSECTION);
  // and positions set later
  world.body[1].x0 = NULL;
  world_start(&world);
  int32_t n_all = noli_sim_node_count(world.sim), first = n_all - n;
  double* x = malloc(6 * (size_t)n_all * sizeof *x);
  memcpy(x, noli_sim_positions(world.sim), 3 * (size_t)n_all * sizeof *x);
  memcpy(x + 3 * n_all, noli_sim_velocities(world.sim), 3 * (size_t)n_all * sizeof *x);
  memcpy(x + 3 * first, x0, 3 * (size_t)n * sizeof *x);
  ASSERT_STATUS(noli_sim_set_state(world.sim, x, x + 3 * n_all), NOLI_ERROR_INTERSECTION);
  free(x);
  free(x0);
  world_done(&world);
}

static void there_is_room_in_cavities(void** state) {
  (void)state;
  World world = world_new(1);
  add_hollow(&world, 1.0, 0.7);
  add_hollow(&world, 0.5, 0.3);
  world_add(&world, make_sphere(&world, 0.1, 3), aside);
  expect_room(&world);

  // in the wall, between two holes, one of which is inside the other
  world = world_new(1);
  add_hollow(&world, 1.0, 0.5);
  world_add(&world, make_sphere(&world, 0.1, 3), (double[]){0, 0, 0.75});
  world_add(&world, make_sphere(&world, 0.1, 3), (double[]){0, 0, 0.2});
  expect_nested(&world, 1, 0);
}

static void excluded_pairs_may_overlap(void** state) {
  (void)state;
  World world = world_new(1);
  const NoliPairDef pair = {.size = sizeof(NoliPairDef), .a = 0, .b = 1, .contact = false};
  world.def.pairs = &pair;
  world.def.n_pairs = 1;
  world_add(&world, make_box(&world, 1, 1, 1, 3), origin);
  world_add(&world, make_sphere(&world, 0.1, 3), aside);
  expect_room(&world);
  world = world_new(1);
  world.def.contact = false;
  world_add(&world, make_box(&world, 1, 1, 1, 3), origin);
  world_add(&world, make_sphere(&world, 0.1, 3), aside);
  expect_room(&world);
}

// Two meshes as one body.
static NoliMesh* join(World* world, NoliMesh* a, NoliMesh* b) {
  NoliMesh* mesh = NULL;
  ASSERT_OK(noli_mesh_create(world->context, a->n_vert + b->n_vert, a->n_tet + b->n_tet, 0, 0, 0,
                             false, &mesh));
  memcpy(mesh->x, a->x, 3 * (size_t)a->n_vert * sizeof(double));
  memcpy(mesh->x + 3 * a->n_vert, b->x, 3 * (size_t)b->n_vert * sizeof(double));
  memcpy(mesh->tet, a->tet, 4 * (size_t)a->n_tet * sizeof(int32_t));
  for (int i = 0; i < 4 * b->n_tet; i++) {
    mesh->tet[4 * a->n_tet + i] = a->n_vert + b->tet[i];
  }
  noli_mesh_destroy(world->context, &a);
  noli_mesh_destroy(world->context, &b);
  return mesh;
}

static void parts_of_one_body_may_not_overlap(void** state) {
  (void)state;
  for (int self = 0; self < 2; self++) {
    World world = world_new(1);
    NoliMesh* mesh = join(&world, make_box(&world, 1, 1, 1, 3), make_sphere(&world, 0.1, 3));
    int32_t body = world_add(&world, mesh, origin);
    world.body[body].self_contact = self == 1;
    if (self == 1) {
      expect_nested(&world, body, body);
    } else {
      expect_room(&world);
    }
  }
  // a clapper in a bell
  World world = world_new(1);
  NoliMesh* shell = NULL;
  ASSERT_OK(noli_mesh_make_hollow_sphere(world.context, 1.0, 0.7, 6, 1, false, &shell));
  world_add(&world, join(&world, make_sphere(&world, 0.1, 3), shell), origin);
  expect_room(&world);
}

// A closed obstacle is a surface: it may serve as a room or as a block.
static void obstacles_may_be_rooms(void** state) {
  (void)state;
  World world = world_new(1);
  world_add_obstacle(&world, make_box(&world, 1, 1, 1, 3), origin);
  world_add(&world, make_sphere(&world, 0.1, 3), aside);
  expect_room(&world);
  // but a solid body has no room inside
  world = world_new(1);
  world_add_obstacle(&world, make_box(&world, 0.1, 0.1, 0.1, 3), aside);
  world_add(&world, make_sphere(&world, 1.0, 5), origin);
  expect_nested(&world, 0, 1);
}

static void points_and_segments_in_bodies_are_refused(void** state) {
  (void)state;
  for (int segment = 0; segment < 2; segment++) {
    World world = world_new(1);
    NoliMesh* needle = NULL;
    ASSERT_OK(noli_mesh_create(world.context, 2, 0, 0, segment, 1 - segment, false, &needle));
    const double x[6] = {0, 0, 0, 0.01, 0.01, 0.02};
    memcpy(needle->x, x, sizeof x);
    if (segment) {
      needle->edge[0] = 0;
      needle->edge[1] = 1;
    } else {
      needle->point[0] = 0;
    }
    world_add_obstacle(&world, needle, origin);
    world_add(&world, make_box(&world, 1, 1, 1, 2), origin);
    expect_nested(&world, 0, 1);
  }
}

static int32_t add_rectangle(World* world, double a, double b, const double at[3]) {
  NoliMesh* mesh = NULL;
  ASSERT_OK(noli_mesh_make_rectangle(world->context, a, b, 3, 3, &mesh));
  int32_t body = world_add(world, mesh, at);
  world->body[body].plane_strain = 1.0;
  return body;
}

static void outlines_in_outlines_are_refused(void** state) {
  (void)state;
  World world = world_new(1);
  add_rectangle(&world, 1.0, 1.0, origin);
  add_rectangle(&world, 0.1, 0.1, (double[]){0.1, 0.2, 0});
  expect_nested(&world, 1, 0);

  // an obstacle with a thickness, and a segment
  world = world_new(1);
  add_rectangle(&world, 1.0, 1.0, origin);
  int32_t block = add_rectangle(&world, 0.1, 0.1, (double[]){0.1, 0.2, 0});
  world.body[block].obstacle = true;
  expect_nested(&world, block, 0);
  world = world_new(1);
  add_rectangle(&world, 1.0, 1.0, origin);
  NoliMesh* wire = NULL;
  ASSERT_OK(noli_mesh_create(world.context, 2, 0, 0, 1, 0, false, &wire));
  const double x[6] = {0, 0, 0, 0.1, 0, 0};
  memcpy(wire->x, x, sizeof x);
  wire->edge[0] = 0;
  wire->edge[1] = 1;
  world_add_obstacle(&world, wire, origin);
  expect_nested(&world, 1, 0);

  // a frame has room inside
  world = world_new(1);
  int32_t frame = add_rectangle(&world, 1.0, 1.0, origin);
  world.body[frame].obstacle = true;
  add_rectangle(&world, 0.1, 0.1, (double[]){0.1, 0.2, 0});
  expect_room(&world);
}

static void proxies_decide_for_bodies_of_high_order(void** state) {
  (void)state;
  World world = world_new(1);
  int32_t ball = world_add(&world, make_sphere(&world, 1.0, 3), origin);
  world.body[ball].order = 2;
  world_add(&world, make_box(&world, 0.1, 0.1, 0.1, 1), aside);
  expect_nested(&world, 1, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(solid_in_solid_is_refused),
      cmocka_unit_test(there_is_room_in_cavities),
      cmocka_unit_test(excluded_pairs_may_overlap),
      cmocka_unit_test(parts_of_one_body_may_not_overlap),
      cmocka_unit_test(obstacles_may_be_rooms),
      cmocka_unit_test(points_and_segments_in_bodies_are_refused),
      cmocka_unit_test(outlines_in_outlines_are_refused),
      cmocka_unit_test(proxies_decide_for_bodies_of_high_order),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
