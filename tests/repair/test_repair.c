// Starts that are repaired: what moves, how far, and what stays.
#include "support.h"

#include "noli/noli.h"

#include <math.h>
#include <string.h>

typedef struct Box {
  double size[3];
  double at[3];
  bool obstacle;
} Box;

enum { MOST = 4 };

// A definition of boxes; the meshes are those of the caller.
static NoliSimDef make_boxes(NoliContext* context, const Box* box, int32_t n, NoliMesh** mesh,
                             NoliBodyDef* body) {
  static const char* const names[MOST] = {"a", "b", "c", "d"};
  static const double one[3] = {1, 1, 1}, zero[3] = {0, 0, 0};
  for (int32_t i = 0; i < n; i++) {
    ASSERT_OK(noli_mesh_make_box(context, box[i].size, (int32_t[]){2, 2, 2}, false, &mesh[i]));
    noli_mesh_transform(mesh[i], one, zero, box[i].at);
    body[i] = noli_default_body_def();
    body[i].name = names[i];
    body[i].mesh = mesh[i];
    body[i].obstacle = box[i].obstacle;
  }
  NoliSimDef def = noli_default_sim_def();
  def.bodies = body;
  def.n_bodies = n;
  def.contact_distance = (NoliScaled){1e-2, false};
  return def;
}

static void free_boxes(NoliContext* context, int32_t n, NoliMesh** mesh) {
  for (int32_t i = 0; i < n; i++) {
    noli_mesh_destroy(context, &mesh[i]);
  }
}

// The definition with the repaired start has no defects.
static void check_clean(NoliContext* context, const NoliSimDef* def, const NoliRepair* repair) {
  NoliBodyDef body[MOST];
  NoliSimDef fixed = *def;
  NoliDefect* defects = NULL;
  int64_t n = -1;
  for (int32_t b = 0; b < def->n_bodies; b++) {
    body[b] = def->bodies[b];
    body[b].x0 = repair->move[b].x0;
  }
  fixed.bodies = body;
  ASSERT_OK(noli_sim_check(context, &fixed, &defects, &n));
  assert_int_equal(n, 0);
  noli_sim_check_free(context, &defects);
}

// Boxes overlap by 0.1 along x and by more along the others: each moves by half of that and half of
// the contact distance.
static void overlapping_boxes_part_by_the_least(void** state) {
  (void)state;
  const Box boxes[] = {{{1, 1, 1}, {0, 0, 0}, false}, {{1, 1, 1}, {0.9, 0.3, 0.2}, false}};
  NoliContext* context = test_context(1);
  NoliMesh* mesh[MOST];
  NoliBodyDef body[MOST];
  NoliSimDef def = make_boxes(context, boxes, 2, mesh, body);
  NoliRepair repair;
  ASSERT_OK(noli_sim_repair(context, &def, NULL, &repair));
  assert_int_equal(repair.n_moved, 2);
  assert_true(repair.n_defects > 0);
  for (int b = 0; b < 2; b++) {
    double sign = b == 0 ? -1.0 : 1.0;
    ASSERT_NEAR(repair.move[b].translation[0], sign * 0.5 * (0.1 + 1.001e-2), 1e-5);
    ASSERT_NEAR(repair.move[b].translation[1], 0.0, 1e-5);
    ASSERT_NEAR(repair.move[b].deformation, 0.0, 0.0);
    ASSERT_NEAR(repair.move[b].distance, 0.5 * (0.1 + 1.001e-2), 1e-5);
  }
  check_clean(context, &def, &repair);
  noli_repair_free(context, &repair);
  assert_null(repair.move);
  free_boxes(context, 2, mesh);
  test_context_done(&context);
}

// With an obstacle on one side only the other body moves, and a plane adds its own condition.
static void fixed_bodies_stay(void** state) {
  (void)state;
  const Box boxes[] = {{{1, 1, 1}, {0, 0.45, 0}, false}, {{1, 1, 1}, {0.9, 0.3, 0.2}, true}};
  NoliContext* context = test_context(1);
  NoliMesh* mesh[MOST];
  NoliBodyDef body[MOST];
  NoliSimDef def = make_boxes(context, boxes, 2, mesh, body);
  NoliHalfSpaceDef floor = noli_default_half_space_def();
  NoliRepair repair;
  def.half_spaces = &floor;
  def.n_half_spaces = 1;
  ASSERT_OK(noli_sim_repair(context, &def, NULL, &repair));
  assert_int_equal(repair.n_moved, 1);
  ASSERT_NEAR(repair.move[0].translation[0], -(0.1 + 1.001e-2), 2e-5);
  ASSERT_NEAR(repair.move[0].translation[1], 0.05 + 1.001e-2, 2e-5);
  ASSERT_NEAR(repair.move[1].distance, 0.0, 0.0);
  check_clean(context, &def, &repair);
  noli_repair_free(context, &repair);
  free_boxes(context, 2, mesh);
  test_context_done(&context);
}

// A valid start stays bit by bit, unless it shall settle.
static void only_settling_widens_gaps(void** state) {
  (void)state;
  const Box boxes[] = {{{1, 1, 1}, {0, 0, 0}, false}, {{1, 1, 1}, {1.002, 0, 0}, false}};
  NoliContext* context = test_context(1);
  NoliMesh* mesh[MOST];
  NoliBodyDef body[MOST];
  NoliSimDef def = make_boxes(context, boxes, 2, mesh, body);
  NoliRepairDef repair_def = noli_default_repair_def();
  NoliRepair repair;
  ASSERT_OK(noli_sim_repair(context, &def, &repair_def, &repair));
  assert_int_equal(repair.n_moved, 0);
  assert_memory_equal(repair.move[1].x0, mesh[1]->x, 3 * sizeof(double) * (size_t)mesh[1]->n_vert);
  noli_repair_free(context, &repair);
  repair_def.settle = true;
  ASSERT_OK(noli_sim_repair(context, &def, &repair_def, &repair));
  ASSERT_NEAR(repair.move[1].translation[0] - repair.move[0].translation[0], 1.001e-2 - 0.002,
              2e-5);
  check_clean(context, &def, &repair);
  noli_repair_free(context, &repair);

  // a distance beyond the gaps of rest shapes cannot be reached: the message says which one can
  def.contact_distance.value = 0.6;
  assert_int_equal(noli_sim_repair(context, &def, &repair_def, &repair), NOLI_ERROR_INTERSECTION);
  assert_non_null(strstr(noli_context_message(context), "set contact.distance below 0.354 m"));
  assert_null(repair.x);
  free_boxes(context, 2, mesh);
  test_context_done(&context);
}

// Every pair gets its own contact distance, larger and smaller than that of the scene, half-spaces
// too.
static void pairs_have_their_own_distance(void** state) {
  (void)state;
  const Box boxes[] = {{{1, 1, 1}, {0, 0.5, 0}, true},
                       {{1, 1, 1}, {1.002, 0.51, 0}, false},
                       {{1, 1, 1}, {1.9, 0.51, 0.05}, false}};
  NoliContext* context = test_context(1);
  NoliMesh* mesh[MOST];
  NoliBodyDef body[MOST];
  NoliSimDef def = make_boxes(context, boxes, 3, mesh, body);
  NoliHalfSpaceDef floor = noli_default_half_space_def();
  floor.name = "floor";
  def.half_spaces = &floor;
  def.n_half_spaces = 1;
  const struct {
    int32_t a, b;
    double distance;
  } own[] = {{0, 1, 0.05}, {1, 2, 1e-4}, {1, 3, 0.03}, {2, 3, 0.005}};
  NoliPairDef pair[4];
  for (int k = 0; k < 4; k++) {
    pair[k] = noli_default_pair_def();
    pair[k].a = own[k].a;
    pair[k].b = own[k].b;
    pair[k].distance = (NoliScaled){own[k].distance, false};
  }
  def.pairs = pair;
  def.n_pairs = 4;
  for (int settle = 0; settle < 2; settle++) {
    NoliRepairDef repair_def = noli_default_repair_def();
    NoliRepair repair;
    repair_def.settle = settle == 1;
    ASSERT_OK(noli_sim_repair(context, &def, &repair_def, &repair));
    // boxes 1 and 2 overlapped by 0.102, and 0 cannot move
    double one = 0.05 - 0.002, two = one + 0.102 + 1e-4;
    ASSERT_NEAR(repair.move[1].translation[0], one, 1e-4);
    ASSERT_NEAR(repair.move[2].translation[0], two, 1.5e-4);
    ASSERT_NEAR(repair.move[1].translation[1], settle == 1 ? 0.02 : 0.0, 1e-4);
    ASSERT_NEAR(repair.move[2].translation[1], 0.0, 1e-9);
    check_clean(context, &def, &repair);
    noli_repair_free(context, &repair);
  }

  // too little room for one of them
  NoliRepairDef repair_def = noli_default_repair_def();
  NoliRepair repair;
  repair_def.settle = repair_def.rigid = true;
  NoliHalfSpaceDef walls[2] = {floor, floor};
  walls[1].name = "wall";
  walls[1].origin[1] = 1.025;
  walls[1].normal[1] = -1.0;
  def.half_spaces = walls;
  def.n_half_spaces = 2;
  assert_int_equal(noli_sim_repair(context, &def, &repair_def, &repair), NOLI_ERROR_INTERSECTION);
  assert_non_null(strstr(noli_context_message(context), "set the distance of this pair below"));
  free_boxes(context, 3, mesh);
  test_context_done(&context);
}

// The result does not depend on the number of threads.
static void threads_do_not_matter(void** state) {
  (void)state;
  const Box boxes[] = {{{1, 1, 1}, {0, 0, 0}, false},
                       {{1, 1, 1}, {0.7, 0.3, 0.2}, false},
                       {{0.3, 0.3, 0.3}, {0.4, 0.1, 0.1}, false}};
  NoliRepair repair[2];
  NoliMesh* mesh[2][MOST];
  NoliBodyDef body[MOST];
  NoliContext* context[2] = {test_context(1), test_context(3)};
  for (int k = 0; k < 2; k++) {
    NoliSimDef def = make_boxes(context[k], boxes, 3, mesh[k], body);
    ASSERT_OK(noli_sim_repair(context[k], &def, NULL, &repair[k]));
    check_clean(context[k], &def, &repair[k]);
  }
  for (int b = 0; b < 3; b++) {
    assert_memory_equal(repair[0].move[b].x0, repair[1].move[b].x0,
                        3 * sizeof(double) * (size_t)mesh[0][b]->n_vert);
  }
  for (int k = 0; k < 2; k++) {
    noli_repair_free(context[k], &repair[k]);
    free_boxes(context[k], 3, mesh[k]);
    test_context_done(&context[k]);
  }
}

// A clamped bar ends inside an obstacle: it bends, its clamped vertices stay, and nothing inverts.
static void clamped_bar_deforms(void** state) {
  (void)state;
  const Box boxes[] = {{{2, 0.2, 0.2}, {0, 0, 0}, false}, {{0.5, 0.5, 0.5}, {1, -0.3, 0}, true}};
  NoliContext* context = test_context(1);
  NoliMesh* mesh[MOST];
  NoliBodyDef body[MOST];
  NoliSimDef def = make_boxes(context, boxes, 2, mesh, body);
  noli_mesh_destroy(context, &mesh[0]);
  ASSERT_OK(noli_mesh_make_box(context, boxes[0].size, (int32_t[]){16, 2, 2}, false, &mesh[0]));
  body[0].mesh = mesh[0];
  int32_t clamped[64], n = 0;
  for (int32_t v = 0; v < mesh[0]->n_vert; v++) {
    if (mesh[0]->x[3 * v] < -0.999) {
      clamped[n++] = v;
    }
  }
  NoliMotionDef hold = noli_default_motion_def();
  hold.node = clamped;
  hold.n_node = n;
  def.motions = &hold;
  def.n_motions = 1;
  NoliRepairDef repair_def = noli_default_repair_def();
  NoliRepair repair;
  ASSERT_OK(noli_sim_repair(context, &def, &repair_def, &repair));
  assert_true(repair.move[0].deformation > 0.01 && repair.move[0].distance < 0.3);
  for (int32_t i = 0; i < n; i++) {
    assert_memory_equal(&repair.move[0].x0[3 * clamped[i]], &mesh[0]->x[3 * clamped[i]],
                        3 * sizeof(double));
  }
  check_clean(context, &def, &repair);
  noli_repair_free(context, &repair);

  // without deforming there is no way
  repair_def.rigid = true;
  assert_int_equal(noli_sim_repair(context, &def, &repair_def, &repair), NOLI_ERROR_INTERSECTION);
  assert_non_null(strstr(noli_context_message(context), "\"a\""));
  repair_def.rounds = 0;
  assert_int_equal(noli_sim_repair(context, &def, &repair_def, &repair), NOLI_ERROR_ARGUMENT);
  free_boxes(context, 2, mesh);
  test_context_done(&context);
}

// ---- thin bodies keep their sides ----

enum { SHEET, ROD, POINTS, N_THIN };

static NoliMesh* make_flat(NoliContext* context) {
  NoliMesh* mesh = NULL;
  ASSERT_OK(noli_mesh_make_plane(context, 1.0, 1.0, 4, 4, &mesh));
  return mesh;
}

// A thin body that lies between sheets.
static NoliMesh* make_thin(NoliContext* context, int kind, NoliBodyDef* body) {
  NoliMesh* mesh = NULL;
  if (kind == SHEET) {
    ASSERT_OK(noli_mesh_make_plane(context, 0.5, 0.5, 3, 3, &mesh));
    body->shell.thickness = 1e-4;
  } else if (kind == ROD) {
    ASSERT_OK(noli_mesh_make_line(context, 0.5, 5, &mesh));
    body->rod.radius = 1e-4;
  } else {
    ASSERT_OK(noli_mesh_create(context, 3, 0, 0, 0, 3, false, &mesh));
    for (int32_t i = 0; i < 3; i++) {
      mesh->x[3 * i] = 0.1 * i - 0.07;
      mesh->x[3 * i + 2] = 0.03 * i;
      mesh->point[i] = i;
    }
    body->point.radius = 1e-4;
  }
  return mesh;
}

// A thin body of some kind between two sheets, at `below` and `above` it, which are obstacles if
// they are `held`, else shells.
typedef struct Layers {
  NoliContext* context;
  NoliMesh* mesh[3];
  NoliBodyDef body[3];
  NoliSimDef def;
} Layers;

static Layers make_layers(int kind, double below, double above, bool held) {
  static const double one[3] = {1, 1, 1}, zero[3] = {0, 0, 0};
  static const char* const names[3] = {"below", "between", "above"};
  const double height[3] = {-below, 0.0, above};
  Layers layers = {.context = test_context(1)};
  for (int b = 0; b < 3; b++) {
    layers.body[b] = noli_default_body_def();
    layers.mesh[b] =
        b == 1 ? make_thin(layers.context, kind, &layers.body[b]) : make_flat(layers.context);
    noli_mesh_transform(layers.mesh[b], one, zero, (double[]){0.01 * b, height[b], 0.013 * b});
    layers.body[b].name = names[b];
    layers.body[b].mesh = layers.mesh[b];
    layers.body[b].obstacle = held && b != 1;
    if (b != 1 && !held) {
      layers.body[b].shell.thickness = 1e-4;
    }
  }
  layers.def = noli_default_sim_def();
  layers.def.n_bodies = 3;
  layers.def.contact_distance = (NoliScaled){1e-2, false};
  return layers;
}

static void layers_done(Layers* layers) {
  for (int b = 0; b < 3; b++) {
    noli_mesh_destroy(layers->context, &layers->mesh[b]);
  }
  test_context_done(&layers->context);
}

// Heights of a body of a repair, lowest and highest.
static void heights(const Layers* layers, const NoliRepair* repair, int body, double range[2]) {
  range[0] = INFINITY;
  range[1] = -INFINITY;
  for (int32_t v = 0; v < layers->mesh[body]->n_vert; v++) {
    double y = repair->move[body].x0[3 * v + 1];
    range[0] = noli_smaller(range[0], y);
    range[1] = noli_larger(range[1], y);
  }
}

// Closer than the contact distance below, far nearer to the sheet above than that: the way to the
// contact distance leads through a sheet, which is refused. Free sheets make room instead.
static void thin_bodies_keep_their_sides(void** state) {
  (void)state;
  for (int kind = 0; kind < N_THIN; kind++) {
    for (int held = 0; held < 2; held++) {
      Layers layers = make_layers(kind, 1e-3, 2e-3, held != 0);
      layers.def.bodies = layers.body;
      NoliRepairDef repair_def = noli_default_repair_def();
      NoliRepair repair;
      repair_def.settle = true;
      NoliStatus status = noli_sim_repair(layers.context, &layers.def, &repair_def, &repair);
      if (held) {
        assert_int_equal(status, NOLI_ERROR_INTERSECTION);
        assert_non_null(strstr(noli_context_message(layers.context), "leads through no thin body"));
      } else {
        double below[2], between[2], above[2];
        ASSERT_OK(status);
        heights(&layers, &repair, 0, below);
        heights(&layers, &repair, 1, between);
        heights(&layers, &repair, 2, above);
        print_message("kind %d: gaps %.4g and %.4g m, %d ways refused\n", kind,
                      between[0] - below[1], above[0] - between[1], (int)repair.n_refused);
        ASSERT_AT_LEAST(between[0] - below[1], 0.999e-2);
        ASSERT_AT_LEAST(above[0] - between[1], 0.999e-2);
        check_clean(layers.context, &layers.def, &repair);
        noli_repair_free(layers.context, &repair);
      }
      layers_done(&layers);
    }
  }
}

// Held sheets that leave room for the gaps on both sides, once the body is in their middle.
static void thin_bodies_settle_in_the_middle(void** state) {
  (void)state;
  for (int kind = 0; kind < N_THIN; kind++) {
    Layers layers = make_layers(kind, 1e-3, 1.95e-2, true);
    layers.def.bodies = layers.body;
    NoliRepairDef repair_def = noli_default_repair_def();
    NoliRepair repair;
    double between[2];
    repair_def.settle = true;
    layers.def.contact_distance.value = 1.02e-2;
    ASSERT_OK(noli_sim_repair(layers.context, &layers.def, &repair_def, &repair));
    heights(&layers, &repair, 1, between);
    ASSERT_AT_LEAST(between[0], 9.19e-3);
    ASSERT_AT_MOST(between[1], 9.31e-3);
    check_clean(layers.context, &layers.def, &repair);
    noli_repair_free(layers.context, &repair);
    layers_done(&layers);
  }
}

// Failed allocations leave nothing behind.
static void memory_failures_are_reported(void** state) {
  (void)state;
  const Box boxes[] = {{{1, 1, 1}, {0, 0, 0}, false}, {{1, 1, 1}, {0.9, 0.3, 0.2}, false}};
  TestMemory memory = {0};
  NoliContext* context = test_context_on(&memory, 1);
  NoliMesh* mesh[MOST];
  NoliBodyDef body[MOST];
  NoliSimDef def = make_boxes(context, boxes, 2, mesh, body);
  NoliStatus status = NOLI_ERROR_MEMORY;
  for (int64_t k = 1; status == NOLI_ERROR_MEMORY && k < 1000000; k += 1 + k / 8) {
    NoliRepair repair;
    test_refuse(&memory, k);
    status = noli_sim_repair(context, &def, NULL, &repair);
    test_refuse(&memory, 0);
    noli_repair_free(context, &repair);
  }
  ASSERT_OK(status);
  free_boxes(context, 2, mesh);
  test_context_done(&context);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(overlapping_boxes_part_by_the_least),
      cmocka_unit_test(fixed_bodies_stay),
      cmocka_unit_test(only_settling_widens_gaps),
      cmocka_unit_test(pairs_have_their_own_distance),
      cmocka_unit_test(threads_do_not_matter),
      cmocka_unit_test(clamped_bar_deforms),
      cmocka_unit_test(thin_bodies_keep_their_sides),
      cmocka_unit_test(thin_bodies_settle_in_the_middle),
      cmocka_unit_test(memory_failures_are_reported),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
