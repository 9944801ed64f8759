// Bodies with contact offsets in the simulator: their positions at rest, sliding, and rejected
// input. Every step of a world is audited: its surfaces at their offsets never touch.
#include "step/world.h"

#include "model/audit.h"
#include "noli/barrier.h"
#include "output/checkpoint.h"

#define GRAVITY 9.80665

static const char* const solvers[] = {"projected_newton", "augmented_lagrangian",
                                      "implicit_newton"};
enum { N_SOLVERS = 3 };

static void run(World* world, int n) {
  for (int i = 0; i < n; i++) {
    world_step(world);
  }
}

// A square shell of n cells in the xz plane at a height; its thickness is its offset.
static int32_t add_card(World* world, double size, int32_t n, double y, double thickness) {
  NoliMesh* mesh = NULL;
  ASSERT_OK(noli_mesh_make_plane(world->context, size, size, n, n, &mesh));
  int32_t body = world_add(world, mesh, (double[]){0, y, 0});
  world->body[body].shell.thickness = thickness;
  world->body[body].contact_offset = NOLI_OFFSET_THICKNESS;
  world->body[body].material.young = 1e7;
  world->body[body].material.density = 500.0;
  return body;
}

// ---- heights ------------------------------------------------------------------------------------

// The gap at which the barrier carries `load` at a vertex: kappa (-b'(g^2)) 2 g = load.
static double gap_of_load(double load, double kappa, double dhat) {
  double low = 0.0, high = dhat;
  for (int i = 0; i < 200; i++) {
    double g = 0.5 * (low + high);
    *(-kappa * noli_barrier_first(g * g, dhat * dhat) * 2.0 * g > load ? &low : &high) = g;
  }
  return low;
}

// A box with an offset on a floor with one: the gap beyond both is that of the load of a vertex.
static void boxes_rest_at_the_sum_of_offsets_and_the_gap_of_their_load(void** state) {
  (void)state;
  const double offset = 0.03, above = 0.01, dhat = 1e-3, kappa = 1e11;
  for (int with = 0; with < 2; with++) {
    World world = world_new(1);
    int32_t box = world_add(&world, make_box(&world, 0.2, 0.2, 0.2, 1),
                            (double[]){0, 0.1 + with * (offset + above) + 5e-4, 0});
    world_add_plane(&world, (double[]){0, 0, 0}, (double[]){0, 1, 0});
    world.plane[0].contact_offset = with * above;
    world.body[box].contact_offset = with * offset;
    world.body[box].self_contact = false;
    world.body[box].material.young = 1e8;
    world.body[box].material.damping = 1e-3;
    world.def.contact_distance = (NoliScaled){dhat, false};
    world.def.barrier_stiffness = kappa;
    world.def.tolerance = (NoliScaled){1e-7, true};
    world.def.time_step = 0.01;
    world_start(&world);
    run(&world, 150);
    const NoliPairForce* pair;
    int32_t n;
    ASSERT_OK(noli_sim_pair_forces(world.sim, &pair, &n));
    assert_int_equal(n, 1);
    double weight = 1000.0 * 0.008 * GRAVITY;
    ASSERT_NEAR(pair[0].normal[1] / weight, 1.0, 1e-4);

    // vertices of the lower side carry different shares: the gap of each from its own load
    const double* x = noli_sim_positions(world.sim);
    double force[24] = {0.0};
    ASSERT_OK(noli_sim_contact_forces(world.sim, force));
    int touching = 0;
    for (int v = 0; v < 8; v++) {
      double load = force[3 * v + 1];
      if (load > 0.0) {
        double gap = gap_of_load(load, kappa, dhat);
        ASSERT_NEAR(x[3 * v + 1] - with * (offset + above), gap, 1e-9);
        touching++;
      }
    }
    assert_int_equal(touching, 4);
    double lowest = world_lowest(&world, box) - with * (offset + above);
    ASSERT_NEAR(world.report.min_distance, lowest, 1e-12);
    ASSERT_NEAR(pair[0].min_distance, lowest, 1e-12);
    world_done(&world);
  }
}

// A stack of sheets is as high as the sum of their thicknesses and of the gaps, with every solver
// and both methods of collision detection.
static void stacks_are_as_high_as_the_sum(void** state) {
  (void)state;
  const double t = 0.01, dhat = 5e-4;
  double top[N_SOLVERS + 1];
  for (int k = 0; k < N_SOLVERS + 1; k++) {
    World world = world_new(1);
    int n = k == 1 ? 3 : 5;
    for (int c = 0; c < n; c++) {
      // meshes that do not match
      add_card(&world, 0.2 + 0.005 * c, 3 + c % 2, (c + 0.5) * t + 4e-4 * (c + 1), t);
    }
    world_add_plane(&world, (double[]){0, 0, 0}, (double[]){0, 1, 0});
    world.def.contact_distance = (NoliScaled){dhat, false};
    world.def.solver = solvers[k % N_SOLVERS];
    world.def.ccd = k == N_SOLVERS ? "inclusion" : "additive";
    world.def.friction = 0.3;
    world.def.time_step = 0.01;
    world_start(&world);
    run(&world, 25);
    double below = 0.0, centre[3];
    for (int c = 0; c < n; c++) {
      world_centre(&world, c, centre);
      double want = c == 0 ? 0.5 * t : t, step = centre[1] - below;
      assert_true(step > want && step < want + dhat);
      below = centre[1];
    }
    top[k] = centre[1];
    print_message("%s, %s: top %.6f, %g and gaps\n", world.def.solver, world.def.ccd, top[k],
                  (n - 0.5) * t);
    assert_true(world.report.min_distance > 0.0 && world.report.min_distance < dhat);
    world_done(&world);
  }
  // the barrier's solvers and both methods of collision detection lead to the same state
  ASSERT_NEAR(top[0], top[2], 1e-4);
  ASSERT_NEAR(top[0], top[3], 1e-4);
}

// ---- edges --------------------------------------------------------------------------------------

// Two obstacles of a segment each are rods of the radius of their offset: a card lies on them.
static void cards_lie_on_rods(void** state) {
  (void)state;
  const double radius = 0.02, t = 0.004, dhat = 5e-4;
  for (int k = 0; k < 2; k++) {
    World world = world_new(1);
    int32_t card = add_card(&world, 0.2, 5, 0.5 * t + radius + 3e-4, t);
    for (int side = 0; side < 2; side++) {
      NoliMesh* mesh = NULL;
      ASSERT_OK(noli_mesh_create(world.context, 2, 0, 0, 1, 0, false, &mesh));
      const double x[6] = {-0.5, 0, side == 0 ? -0.053 : 0.047, 0.5, 0, side == 0 ? -0.05 : 0.05};
      memcpy(mesh->x, x, sizeof x);
      mesh->edge[0] = 0;
      mesh->edge[1] = 1;
      int32_t rod = world_add_obstacle(&world, mesh, (double[]){0, 0, 0});
      world.body[rod].contact_offset = radius;
    }
    world.body[card].material.young = 1e9;
    world.body[card].material.damping = 1e-3;
    world.def.contact_distance = (NoliScaled){dhat, false};
    world.def.solver = solvers[k];
    world.def.friction = 0.3;
    world_start(&world);
    run(&world, 40);
    double centre[3];
    world_centre(&world, card, centre);
    print_message("%s: card at %.6f, rods and half of the card %.6f\n", solvers[k], centre[1],
                  radius + 0.5 * t);
    // it bends a little between and beyond the rods
    ASSERT_NEAR(centre[1], radius + 0.5 * t, 1.1 * dhat);
    ASSERT_AT_MOST(fabs(centre[0]) + fabs(centre[2]), 1e-3);
    assert_true(world.report.contacts > 0);
    world_done(&world);
  }
}

// ---- self-contact -------------------------------------------------------------------------------

// A sheet folded into a U: the upper side sinks onto the lower one and stays its thickness above.
static void folded_sheets_keep_their_thickness(void** state) {
  (void)state;
  enum { N = 22, BEND = 8 };
  const double t = 4e-3, h = 0.012, radius = BEND * h / 3.14159265358979;
  for (int k = 0; k < 2; k++) {
    World world = world_new(1);
    NoliMesh* mesh = NULL;
    ASSERT_OK(noli_mesh_make_plane(world.context, N * h, 4 * h, N, 4, &mesh));
    for (int32_t v = 0; v < mesh->n_vert; v++) {
      // arc length from the end of the lower side; then half a circle; then back above
      double* x = mesh->x + 3 * v;
      double s = x[0] + 0.5 * N * h - 7.0 * h, angle = s / radius;
      bool bend = s > 0.0 && s < BEND * h;
      x[0] = s <= 0.0 ? s : bend ? radius * sin(angle) : BEND * h - s;
      x[1] = s <= 0.0 ? 0.0 : bend ? radius * (1.0 - cos(angle)) : 2.0 * radius;
    }
    int32_t sheet = world_add(&world, mesh, (double[]){0, 0.5 * t + 3e-4, 0});
    world.body[sheet].shell.thickness = t;
    world.body[sheet].contact_offset = NOLI_OFFSET_THICKNESS;
    world.body[sheet].material.young = 3e4;
    world.body[sheet].material.density = 1000.0;
    world.body[sheet].material.damping = 0.01;
    world_add_plane(&world, (double[]){0, 0, 0}, (double[]){0, 1, 0});
    world.def.contact_distance = (NoliScaled){5e-4, false};
    world.def.friction = 0.4; // otherwise the sides slide off each other
    world.def.solver = solvers[k];
    world.def.time_step = 0.01;
    world_start(&world);
    run(&world, 60);
    const NoliPairForce* pair;
    int32_t n;
    bool self = false;
    ASSERT_OK(noli_sim_pair_forces(world.sim, &pair, &n));
    for (int32_t i = 0; i < n; i++) {
      self = self || (pair[i].a == sheet && pair[i].b == sheet && pair[i].contacts > 0);
    }
    // the end of the upper side, above the lower one
    const double* x = noli_sim_positions(world.sim);
    double lowest = (double)INFINITY;
    for (int32_t v = 0; v < mesh->n_vert; v++) {
      bool upper = mesh->x[3 * v + 1] > 2.0 * radius;
      lowest = upper ? noli_smaller(lowest, x[3 * v + 1]) : lowest;
    }
    print_message("%s: upper side from %.6f, 1.5 t = %.6f; self-contact %d\n", solvers[k], lowest,
                  1.5 * t, self);
    assert_true(self && world.report.min_distance > 0.0);
    ASSERT_AT_LEAST(lowest, 1.5 * t);
    ASSERT_AT_MOST(lowest, 1.5 * t + 3e-3);
    world_done(&world);
  }
}

// ---- friction -----------------------------------------------------------------------------------

// A block with an offset slides down a slope (tilted gravity) with Coulomb's acceleration, on a
// half-space and on triangles, with lagged and with implicit friction.
static void blocks_slide_as_coulomb_says(void** state) {
  (void)state;
  const double mu = 0.2, angle = 20.0 * 3.14159265358979 / 180.0, offset = 0.02;
  double want = GRAVITY * (sin(angle) - mu * cos(angle));
  for (int k = 0; k < 5; k++) {
    World world = world_new(1);
    bool triangles = k == 1 || k == 3;
    double above = triangles ? 0.005 : 0.01;
    int32_t block = world_add(&world, make_box(&world, 0.1, 0.05, 0.1, 2),
                              (double[]){-0.5, 0.025 + offset + above + 2e-4, 0});
    world.body[block].contact_offset = offset;
    world.body[block].self_contact = false;
    world.body[block].material.young = 1e7;
    world.body[block].material.damping = 1e-3;
    if (triangles) {
      NoliMesh* mesh = NULL;
      ASSERT_OK(noli_mesh_make_plane(world.context, 4.0, 1.0, 9, 3, &mesh));
      int32_t floor = world_add_obstacle(&world, mesh, (double[]){0, 0, 0.013});
      world.body[floor].contact_offset = above;
    } else {
      world_add_plane(&world, (double[]){0, 0, 0}, (double[]){0, 1, 0});
      world.plane[0].contact_offset = above;
    }
    world.def.gravity[0] = GRAVITY * sin(angle);
    world.def.gravity[1] = -GRAVITY * cos(angle);
    world.def.friction = mu;
    world.def.contact_distance = (NoliScaled){5e-4, false};
    world.def.solver = k < 2   ? "projected_newton"
                       : k < 4 ? "implicit_newton"
                               : "augmented_lagrangian";
    world.def.friction_method = k == 2 || k == 3 ? "implicit" : "lagged";
    world.def.friction_speed = (NoliScaled){1e-4, false};
    world.def.time_step = 0.01;
    world_start(&world);
    run(&world, 20);
    double from[3], to[3], h = world.def.time_step;
    // by three centres: the acceleration of the steps in between
    world_centre(&world, block, from);
    run(&world, 1);
    world_centre(&world, block, to);
    double v0 = (to[0] - from[0]) / h;
    run(&world, 19);
    world_centre(&world, block, from);
    run(&world, 1);
    world_centre(&world, block, to);
    double a = ((to[0] - from[0]) / h - v0) / (20.0 * h);
    print_message("%s, %s friction, %s: %.5f m/s^2, Coulomb %.5f\n", world.def.solver,
                  world.def.friction_method, triangles ? "triangles" : "half-space", a, want);
    ASSERT_NEAR(a / want, 1.0, 5e-3);
    world_done(&world);
  }
}

// ---- bits ---------------------------------------------------------------------------------------

static World tumbling_cards(int32_t n_threads, int k) {
  World world = world_new(n_threads);
  for (int c = 0; c < 3; c++) {
    int32_t card = add_card(&world, 0.1, 3, 0.01 + 0.012 * c, 4e-3);
    world.body[card].velocity[1] = -0.5 * c;
    world.body[card].angular_velocity[0] = c;
  }
  world_add_plane(&world, (double[]){0, 0, 0}, (double[]){0, 1, 0});
  world.plane[0].contact_offset = 1e-3;
  world.def.friction = 0.2;
  world.def.solver = solvers[k];
  world.def.contact_distance = (NoliScaled){1e-3, false};
  world_start(&world);
  return world;
}

static void any_threads_give_the_same_bits(void** state) {
  (void)state;
  for (int k = 0; k < N_SOLVERS; k++) {
    World one = tumbling_cards(1, k), three = tumbling_cards(3, k);
    run(&one, 12);
    run(&three, 12);
    assert_true(one.report.contacts > 0);
    int32_t first, count;
    noli_sim_body_range(one.sim, 2, &first, &count);
    assert_memory_equal(noli_sim_positions(one.sim), noli_sim_positions(three.sim),
                        sizeof(double) * 3 * (size_t)(first + count));
    world_done(&one);
    world_done(&three);
  }
}

// Two cards without an offset fall onto each other and onto the floor while a third falls far away
// from them; `offset` is that of the third.
static World cards_beside_one_with(double offset, int k) {
  World world = world_new(1);
  for (int c = 0; c < 3; c++) {
    int32_t card = add_card(&world, 0.1, 3, c == 2 ? 5.0 : 0.002 + 0.004 * c, 4e-3);
    world.body[card].contact_offset = c == 2 ? offset : 0.0;
    world.body[card].velocity[1] = -0.5 * c;
    world.body[card].angular_velocity[0] = c;
  }
  world_add_plane(&world, (double[]){0, 0, 0}, (double[]){0, 1, 0});
  world.def.friction = 0.2;
  world.def.solver = solvers[k];
  world.def.contact_distance = (NoliScaled){1e-3, false};
  world_start(&world);
  return world;
}

// An offset that no contact has changes no bit of contacts without one.
static void offsets_of_zero_change_no_bit(void** state) {
  (void)state;
  for (int k = 0; k < N_SOLVERS; k++) {
    World without = cards_beside_one_with(0.0, k), with = cards_beside_one_with(3e-3, k);
    for (int i = 0; i < 12; i++) {
      run(&without, 1);
      run(&with, 1);
      assert_int_equal(with.report.newton_iterations, without.report.newton_iterations);
    }
    assert_true(with.report.contacts > 0);
    assert_null(noli_sim_state_difference(without.sim, with.sim));
    world_done(&without);
    world_done(&with);
  }
}

// A run resumes from a checkpoint with the same bits.
static void checkpoints_resume_with_the_same_bits(void** state) {
  (void)state;
  for (int k = 0; k < N_SOLVERS; k++) {
    World whole = tumbling_cards(1, k), resumed = tumbling_cards(1, k);
    run(&whole, 6);
    ASSERT_OK(noli_checkpoint_save(whole.context, whole.sim, NULL, "checkpoint_offset.h5"));
    ASSERT_OK(noli_checkpoint_load(resumed.context, resumed.sim, "checkpoint_offset.h5"));
    run(&whole, 6);
    run(&resumed, 6);
    assert_null(noli_sim_state_difference(whole.sim, resumed.sim));
    world_done(&whole);
    world_done(&resumed);
  }
}

// ---- audits -------------------------------------------------------------------------------------

// Two cards 3 mm apart and one 1 mm above the floor, audited with scenes of other offsets.
static void audits_find_what_overlaps(void** state) {
  (void)state;
  const double offset[3] = {0.9e-3, 1.1e-3, 1.6e-3};
  const int planes[3] = {0, 16, 16}, pairs[3] = {0, 0, 1};
  for (int k = 0; k < 3; k++) {
    World world = world_new(1);
    for (int c = 0; c < 2; c++) {
      int32_t card = add_card(&world, 0.1, 3, 1.0 + c, 1e-3);
      world.body[card].contact_offset = offset[k];
    }
    world_add_plane(&world, (double[]){0, 0, 0}, (double[]){0, 1, 0});
    world_start(&world);
    const NoliModel* model = world.sim->model;
    double x[96];
    assert_int_equal(model->problem.n_vert, 32);
    memcpy(x, model->x0, sizeof x);
    for (int v = 0; v < 32; v++) {
      x[3 * v + 1] = v < 16 ? 1e-3 : 4e-3;
    }
    NoliDefects defects = {0};
    ASSERT_OK(noli_audit_model(model, x, &defects));
    int n_planes = 0, n_pairs = 0;
    for (int64_t i = 0; i < defects.count; i++) {
      const NoliDefect* o = &defects.data[i];
      bool plane = o->kind == NOLI_DEFECT_HALF_SPACE;
      ASSERT_NEAR(o->distance, plane ? 1e-3 - offset[k] : 3e-3 - 2.0 * offset[k], 1e-15);
      n_planes += plane;
      n_pairs += o->kind == NOLI_DEFECT_ZERO_GAP;
    }
    assert_int_equal(n_planes, planes[k]);
    assert_true(n_planes + n_pairs == defects.count && (n_pairs > 32) == (pairs[k] == 1));
    noli_array_free(world.context, &defects);
    world_done(&world);
  }
}

// ---- refusals -----------------------------------------------------------------------------------

static World card_on_floor(double y) {
  World world = world_new(1);
  add_card(&world, 0.1, 2, y, 4e-3);
  world_add_plane(&world, (double[]){0, 0, 0}, (double[]){0, 1, 0});
  return world;
}

static void bad_offsets_are_refused(void** state) {
  (void)state;
  World world = card_on_floor(0.1);
  world.body[0].contact_offset = -0.5;
  world_expect_refusal(&world, "contact offset must be in [0, 1e+15)");
  world = card_on_floor(0.1);
  world.body[0].contact_offset = (double)NAN;
  world_expect_refusal(&world, "contact offset must be in");
  world = card_on_floor(0.1);
  world.plane[0].contact_offset = -1.0;
  world_expect_refusal(&world, "half-space 0: the contact offset");

  // models without offsets, and bodies other than shells
  const char* models[] = {"gcp", "implicit_surface"};
  for (int k = 0; k < 3; k++) {
    world = world_new(1);
    world_add(&world, make_box(&world, 0.1, 0.1, 0.1, 1), (double[]){0, 0, 0});
    world.body[0].contact_offset = k < 2 ? 1e-3 : NOLI_OFFSET_THICKNESS;
    world.def.contact_model = k < 2 ? models[k] : "ipc";
    world.def.audit = "off";
    world_expect_refusal(&world,
                         k < 2 ? "\"body0\" has a contact offset" : "only shells, rods and points");
  }

  // elements smaller than the offset: neighbours overlap at rest
  world = card_on_floor(0.1);
  world.body[0].contact_offset = 0.04;
  world_expect_refusal(&world, "less than twice its contact offset");
  world = card_on_floor(0.1);
  world.body[0].contact_offset = 0.04;
  world.body[0].self_contact = false;
  world_start(&world);
  world_done(&world);
}

// Starts closer than the offsets are detected, named and measured, between bodies and above
// half-spaces.
static void starts_within_the_offsets_are_located(void** state) {
  (void)state;
  World world = card_on_floor(1.5e-3); // half of the card is 2 mm
  int32_t other = add_card(&world, 0.1, 3, 1.5e-3 + 3e-3, 4e-3);
  ASSERT_STATUS(world_create(&world), NOLI_ERROR_INTERSECTION);
  assert_non_null(strstr(noli_context_message(world.context), "contact offsets included"));
  NoliDefect* defects = NULL;
  int64_t n = 0, n_planes = 0, n_pairs = 0;
  ASSERT_OK(noli_sim_check(world.context, &world.def, &defects, &n));
  for (int64_t i = 0; i < n; i++) {
    const NoliDefect* o = &defects[i];
    if (o->kind == NOLI_DEFECT_HALF_SPACE) {
      ASSERT_NEAR(o->distance, -5e-4, 1e-12);
      assert_int_equal(o->entity[0], 0);
      n_planes++;
    } else {
      assert_int_equal(o->kind, NOLI_DEFECT_ZERO_GAP);
      assert_true(o->distance < 0.0 && o->distance > -1e-3 - 1e-12);
      assert_true(o->entity[0] != o->entity[1]);
      n_pairs++;
    }
  }
  assert_int_equal(n_planes, 9);
  assert_true(n_pairs > 9);
  assert_int_equal(other, 1);
  noli_sim_check_free(world.context, &defects);
  world_done(&world);

  // just beyond it they start
  world = card_on_floor(2.001e-3);
  add_card(&world, 0.1, 3, 2.001e-3 + 4.001e-3, 4e-3);
  world_start(&world);
  run(&world, 2);
  world_done(&world);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(boxes_rest_at_the_sum_of_offsets_and_the_gap_of_their_load),
      cmocka_unit_test(stacks_are_as_high_as_the_sum),
      cmocka_unit_test(cards_lie_on_rods),
      cmocka_unit_test(folded_sheets_keep_their_thickness),
      cmocka_unit_test(blocks_slide_as_coulomb_says),
      cmocka_unit_test(any_threads_give_the_same_bits),
      cmocka_unit_test(offsets_of_zero_change_no_bit),
      cmocka_unit_test(checkpoints_resume_with_the_same_bits),
      cmocka_unit_test(audits_find_what_overlaps),
      cmocka_unit_test(bad_offsets_are_refused),
      cmocka_unit_test(starts_within_the_offsets_are_located),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
