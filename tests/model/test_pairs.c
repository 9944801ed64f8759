// Contact and friction of selected pairs of bodies; loads on parts of bodies and for a limited
// time.
#include "step/world.h"

static const double origin[3] = {0, 0, 0}, up[3] = {0, 1, 0};

static void forbidden_pairs_pass_through_each_other(void** state) {
  (void)state;
  World world = world_new(1);
  world_add(&world, make_box(&world, 0.2, 0.2, 0.2, 1), (double[]){0, 0.11, 0});
  world_add(&world, make_box(&world, 0.2, 0.2, 0.2, 1), (double[]){0.01, 0.4, 0.02});
  world_add_plane(&world, origin, up);
  static const NoliPairDef pair = {.size = sizeof(NoliPairDef), .a = 1, .b = 0, .contact = false};
  world.def.pairs = &pair;
  world.def.n_pairs = 1;
  world_start(&world);
  for (int i = 0; i < 60; i++) {
    world_step(&world);
  }
  // both lie on the plane, one inside the other
  double centre[3];
  world_centre(&world, 1, centre);
  ASSERT_NEAR(centre[1], 0.1, 0.02);
  world_centre(&world, 0, centre);
  ASSERT_NEAR(centre[1], 0.1, 0.02);
  world_done(&world);
}

// Entities of pairs have numbers or names, which give the same bits.
static void pairs_have_names(void** state) {
  (void)state;
  uint64_t hash[3];
  for (int kind = 0; kind < 3; kind++) {
    World world = world_new(1);
    world_add(&world, make_box(&world, 0.2, 0.2, 0.2, 1), (double[]){0, 0.1002, 0});
    world.body[0].velocity[0] = 1.0;
    world_add_plane(&world, origin, up);
    world.plane[0].name = kind == 1 ? "ground" : NULL; // or by its default name
    NoliPairDef pair = noli_default_pair_def();
    pair.a = kind == 0 ? 0 : -7;
    pair.b = kind == 0 ? 1 : -7;
    pair.name_a = kind == 0 ? NULL : "body0";
    pair.name_b = kind == 0 ? NULL : kind == 1 ? "ground" : "half_space 1";
    pair.friction = 0.4;
    world.def.pairs = &pair;
    world.def.n_pairs = 1;
    world_start(&world);
    for (int i = 0; i < 10; i++) {
      world_step(&world);
    }
    hash[kind] = noli_sim_state_hash(world.sim);
    assert_true(noli_sim_velocities(world.sim)[0] < 0.9);
    world_done(&world);
  }
  assert_true(hash[1] == hash[0] && hash[2] == hash[0]);
  World world = world_new(1);
  world_add(&world, make_box(&world, 0.2, 0.2, 0.2, 1), (double[]){0, 0.1002, 0});
  NoliPairDef pair = noli_default_pair_def();
  pair.name_b = "boddy0";
  world.def.pairs = &pair;
  world.def.n_pairs = 1;
  world_expect_refusal(&world,
                       "there is no body or half-space \"boddy0\"; did you mean \"body0\"?");
}

static void friction_is_that_of_the_pair(void** state) {
  (void)state;

  // two blocks on a slope of tangent 0.3: one grips, one slips; the default would hold both
  World world = world_new(1);
  for (int i = 0; i < 2; i++) {
    int32_t block =
        world_add(&world, make_box(&world, 0.2, 0.1, 0.2, 1), (double[]){0, 0.0502, 0.5 * i});
    world.body[block].material.young = 1e7;
  }
  world_add_plane(&world, origin, up);
  world.def.gravity[0] = 0.3 * 9.81;
  world.def.gravity[1] = -9.81;
  world.def.friction = 0.8;
  world.def.friction_speed = (NoliScaled){1e-4, false};
  world.def.tolerance = (NoliScaled){1e-5, false};
  world.def.friction_iterations = NOLI_FRICTION_UNTIL_CONVERGENCE;
  static const NoliPairDef pair = {
      .size = sizeof(NoliPairDef), .a = 1, .b = 2, .contact = true, .friction = 0.1};
  world.def.pairs = &pair;
  world.def.n_pairs = 1;
  world_start(&world);

  // slide
  for (int i = 0; i < 50; i++) {
    world_step(&world);
  }
  double grips[3], slips[3];
  world_centre(&world, 0, grips);
  world_centre(&world, 1, slips);
  double theory = 0.5 * 9.81 * (0.3 - 0.1) * 0.5 * 0.5;

  // compare with theory
  print_message("grips: %.2g m, slips: %.4f m, theory %.4f m\n", grips[0], slips[0], theory);
  ASSERT_AT_MOST(fabs(grips[0]), 1e-3);
  ASSERT_NEAR(slips[0], theory, 0.05 * theory);
  world_done(&world);
}

typedef struct Warned {
  char text[512];
} Warned;

static void keep_warning(void* user, NoliLogLevel level, const char* text) {
  if (level == NOLI_LOG_WARNING) {
    snprintf(((Warned*)user)->text, sizeof((Warned*)user)->text, "%s", text);
  }
}

#define REST_DHAT 1e-3
#define REST_KAPPA 1e10

// Two equal stiff boxes on a plane, the second with a contact distance of its own.
static void make_resting(World* world, double distance, const char* solver, NoliPairDef* pair,
                         Warned* warned) {
  bool barrier = strcmp(solver, "augmented_lagrangian") != 0;
  *world = world_new(1);
  test_context_done(&world->context);
  NoliContextDef context = noli_default_context_def();
  context.log = keep_warning;
  context.log_user = warned;
  ASSERT_OK(noli_context_create(&context, &world->context));
  for (int i = 0; i < 2; i++) {
    double gap = i == 0 ? REST_DHAT : distance;
    int32_t box = world_add(world, make_box(world, 0.2, 0.2, 0.2, 1),
                            (double[]){0.5 * i, 0.1 + (barrier ? 0.99 : 1.5) * gap, 0});
    world->body[box].material.young = barrier ? 1e9 : 1e7;
  }
  world_add_plane(world, origin, up);
  *pair = noli_default_pair_def();
  pair->a = 1;
  pair->b = 2;
  pair->distance = (NoliScaled){distance, false};
  world->def.pairs = pair;
  world->def.n_pairs = 1;
  world->def.contact_distance = (NoliScaled){REST_DHAT, false};
  world->def.barrier_stiffness = barrier ? REST_KAPPA : 0.0;
  world->def.solver = solver;
  world->def.tolerance = (NoliScaled){barrier ? 1e-8 : 1e-5, false};
}

// The gap at which four vertices of the barrier of a pair with the range r bear a weight: each
// pushes by -kappa b'(G / r^2) / r 2 g.
static double gap_under(double weight, double range) {
  double low = 0.0, high = REST_DHAT * range;
  for (int i = 0; i < 200; i++) {
    double g = 0.5 * (low + high), r2 = range * range;
    double D = g * g / r2, Dh = REST_DHAT * REST_DHAT, log_ratio = log(D / Dh);
    double slope = -2.0 * (D - Dh) * log_ratio - (D - Dh) * (D - Dh) / D;
    double force = -REST_KAPPA * slope / range * 2.0 * g;
    *(force > 0.25 * weight ? &low : &high) = g;
  }
  return low;
}

static double mean_gap(const World* world, int32_t box) {
  double sum = 0.0;
  for (int32_t i = 0; i < 8; i++) {
    double y = noli_sim_positions(world->sim)[3 * (8 * box + i) + 1];
    sum += y < 0.1 ? 0.25 * y : 0.0;
  }
  return sum;
}

// Boxes rest at the gaps of their pairs: those at which the barrier bears their weight; constraints
// keep a share of the distance that depends on the impact.
static void assert_gap(const World* world, int32_t box, double range, bool barrier) {
  double got = mean_gap(world, box);
  double want = barrier ? gap_under(8.0 * 9.80665, range) : range * REST_DHAT;
  print_message("%s: gap %.6g m, %s %.6g m\n", world->def.solver, got,
                barrier ? "expected" : "distance", want);
  if (barrier) {
    ASSERT_NEAR(got / want, 1.0, 1e-3);
  } else {
    ASSERT_AT_LEAST(got, 0.04 * want);
    ASSERT_AT_MOST(got, 1.001 * want);
  }
}

static void gaps_are_those_of_the_pair(void** state) {
  (void)state;
  static const char* const solvers[] = {"projected_newton", "implicit_newton",
                                        "augmented_lagrangian"};
  static const double distance[] = {5e-3, 2e-4};
  for (int k = 0; k < 6; k++) {
    World world;
    NoliPairDef pair;
    Warned warned = {{0}};
    bool barrier = k / 2 < 2;
    double far = distance[k % 2];
    make_resting(&world, far, solvers[k / 2], &pair, &warned);
    world_start(&world);
    if (barrier) {
      assert_non_null(strstr(warned.text, far < REST_DHAT ? "the contact distance, 0.001 m"
                                                          : "the distance of this pair below"));
    } else {
      assert_true(warned.text[0] == '\0');
    }
    for (int i = 0; i < 60; i++) {
      world_step(&world);
    }
    assert_gap(&world, 0, 1.0, barrier);
    assert_gap(&world, 1, far / REST_DHAT, barrier);

    // live: read, then another one; constraints recover gaps slowly, but close them at once
    double next = barrier ? 3.0 * REST_DHAT : 0.02 * far;
    NoliPairDef read = noli_default_pair_def();
    ASSERT_OK(noli_sim_pair(world.sim, 0, 2, &read));
    assert_true(read.distance.value == REST_DHAT && !read.distance.relative);
    ASSERT_OK(noli_sim_pair(world.sim, 2, 1, &read));
    assert_true(read.distance.value == far);
    read.distance.value = next;
    ASSERT_OK(noli_sim_set_pair(world.sim, &read));
    for (int i = 0; i < 200; i++) {
      world_step(&world);
    }
    assert_gap(&world, 1, next / REST_DHAT, barrier);
    world_done(&world);
  }
}

// A pair whose distance is that of the scene changes no bit, and others are refused where there is
// only one.
static void distances_of_pairs_are_checked(void** state) {
  (void)state;
  uint64_t hash[2];
  World world;
  NoliPairDef pair;
  Warned warned = {{0}};
  for (int k = 0; k < 2; k++) {
    make_resting(&world, REST_DHAT, "projected_newton", &pair, &warned);
    world.def.n_pairs = k;
    world.def.barrier_stiffness = 0.0;
    world_start(&world);
    for (int i = 0; i < 10; i++) {
      world_step(&world);
    }
    hash[k] = noli_sim_state_hash(world.sim);
    world_done(&world);
  }
  assert_true(hash[0] == hash[1]);

  static const char* const models[] = {"gcp", "implicit_surface"};
  for (int k = 0; k < 2; k++) {
    char text[160];
    make_resting(&world, 2e-3, "projected_newton", &pair, &warned);
    world.def.contact_model = models[k];
    world.def.audit = "off";
    world.def.solver = NULL;
    world.def.surface_radius = (NoliScaled){0.1, true};
    snprintf(text, sizeof text,
             "pair 0, \"body1\" and \"ground\": the contact model \"%s\" has one contact "
             "distance for all pairs, 0.001 m",
             models[k]);
    world_expect_refusal(&world, text);
  }
  make_resting(&world, 10.0, "projected_newton", &pair, &warned);
  world_expect_refusal(&world, "differs from that of the scene, 0.001 m, by more than a factor");
  make_resting(&world, -1.0, "projected_newton", &pair, &warned);
  world_expect_refusal(&world, "pair 0: the contact distance must be >= 0, got -1");
}

static void self_contact_can_be_switched_off(void** state) {
  (void)state;
  // two separate lumps in one body fall on each other
  for (int self = 0; self < 2; self++) {
    World world = world_new(1);
    NoliMesh *one = make_box(&world, 0.2, 0.2, 0.2, 1), *two = NULL;
    ASSERT_OK(
        noli_mesh_create(world.context, 2 * one->n_vert, 2 * one->n_tet, 0, 0, 0, false, &two));
    for (int32_t i = 0; i < 2 * one->n_vert; i++) {
      memcpy(&two->x[3 * i], &one->x[3 * (i % one->n_vert)], 3 * sizeof(double));
      two->x[3 * i + 1] += i < one->n_vert ? 0.11 : 0.4;
    }
    for (int32_t i = 0; i < 8 * one->n_tet; i++) {
      two->tet[i] = one->tet[i % (4 * one->n_tet)] + (i < 4 * one->n_tet ? 0 : one->n_vert);
    }
    noli_mesh_destroy(world.context, &one);
    int32_t lumps = world_add(&world, two, origin);
    world.body[lumps].self_contact = self == 1;
    world.def.friction = 0.5;
    world_add_plane(&world, origin, up);
    world_start(&world);
    for (int i = 0; i < 60; i++) {
      world_step(&world);
    }
    double centre[3];
    world_centre(&world, lumps, centre);
    ASSERT_NEAR(centre[1], self == 1 ? 0.2 : 0.1, 0.02);
    world_done(&world);
  }
}

static void push(void* user, double t, const double X[3], double value[3]) {
  (void)t;
  (void)X;
  const double* force = user;
  memcpy(value, force, 3 * sizeof(double));
}

static void loads_accelerate(const char* kind, double expected_impulse_per_second) {
  World world = world_new(1);
  int32_t box = world_add(&world, make_box(&world, 0.2, 0.2, 0.2, 1), origin);
  static double value[3] = {6.0, 0.0, -3.0};
  static const int32_t node[] = {0, 1, 2, 3, 4, 5, 6, 7};
  NoliForceDef force = {.size = sizeof(NoliForceDef),
                        .body = box,
                        .node = node,
                        .n_node = 8,
                        .kind = kind,
                        .t_begin = 0.1,
                        .t_end = 0.3,
                        .value = push,
                        .user = value};
  world.def.forces = &force;
  world.def.n_forces = 1;
  world.def.gravity[1] = 0.0;
  world.def.tolerance = (NoliScaled){1e-9, false};
  world_start(&world);
  for (int i = 0; i < 50; i++) {
    world_step(&world);
    if (i == 8) {
      ASSERT_NEAR(world.report.momentum[0], 0.0, 1e-12);
    }
  }
  // acts in the 20 steps that end in (0.1, 0.3]
  ASSERT_NEAR(world.report.momentum[0], 0.2 * expected_impulse_per_second, 1e-8);
  ASSERT_NEAR(world.report.momentum[2], -0.1 * expected_impulse_per_second, 1e-8);
  world_done(&world);
}

static void loads_act_as_their_kind_says(void** state) {
  (void)state;
  double mass = 1000.0 * 0.008;
  loads_accelerate("acceleration", 6.0 * mass);
  loads_accelerate("nodal", 6.0 * 8);
  loads_accelerate("total", 6.0);
}

static void trapezoidal_rule_keeps_the_energy(void** state) {
  (void)state;

  // a stretched bar swings freely; then a ball bounces on a plane without friction
  World world = world_new(1);
  NoliMesh* rod = NULL;
  ASSERT_OK(noli_mesh_make_rod(world.context, 1.0, 0.2, 8, 2, false, &rod));
  int32_t bar = world_add(&world, rod, origin);
  double* x0 = malloc(sizeof(double) * 3 * (size_t)rod->n_vert);
  for (int32_t i = 0; i < 3 * rod->n_vert; i++) {
    x0[i] = rod->x[i] * (i % 3 == 0 ? 1.1 : 1.0);
  }
  world.body[bar].x0 = x0;
  world.def.gravity[1] = 0.0;
  world.def.integrator = "trapezoidal";
  world.def.time_step = 0.002;
  world.def.tolerance = (NoliScaled){1e-8, false};
  world_start(&world);

  // it swings
  double first = 0.0, low = INFINITY, high = 0.0;
  for (int i = 0; i < 300; i++) {
    world_step(&world);
    double energy = world_total_energy(&world);
    first = i == 0 ? energy : first;
    low = noli_smaller(low, energy);
    high = noli_larger(high, energy);
  }
  print_message("trapezoidal bar: energy between %.5f and %.5f of the first\n", low / first,
                high / first);
  ASSERT_AT_LEAST(low, 0.98 * first);
  ASSERT_AT_MOST(high, 1.02 * first);
  free(x0);
  world_done(&world);

  // a ball above a plane
  world = world_new(1);
  world_add(&world, make_sphere(&world, 0.1, 3), (double[]){0, 0.3, 0});
  world_add_plane(&world, origin, up);
  // the integrator conserves the energy of an impact if steps resolve it: at 2 m/s a step covers
  // 0.3 dhat
  world.def.integrator = "trapezoidal";
  world.def.time_step = 5e-4;
  world.def.contact_distance = (NoliScaled){3.5e-3, false};
  world.def.tolerance = (NoliScaled){1e-5, false};
  world_start(&world);

  // it bounces
  double highest = -INFINITY;
  first = 0.0;
  int64_t contacts = 0;
  double lowest = INFINITY;
  for (int i = 0; i < 700; i++) {
    world_step(&world);
    double energy = world_total_energy(&world);
    first = i == 0 ? energy : first;
    highest = noli_larger(highest, energy);
    lowest = noli_smaller(lowest, energy);
    contacts += world.report.contacts;
  }

  // energy is conserved
  print_message("trapezoidal bounce: energy between %.5f and %.5f of the first\n", lowest / first,
                highest / first);
  assert_true(contacts > 0);
  ASSERT_AT_LEAST(lowest, 0.95 * first);
  ASSERT_AT_MOST(highest, 1.02 * first);
  world_done(&world);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(forbidden_pairs_pass_through_each_other),
      cmocka_unit_test(pairs_have_names),
      cmocka_unit_test(friction_is_that_of_the_pair),
      cmocka_unit_test(gaps_are_those_of_the_pair),
      cmocka_unit_test(distances_of_pairs_are_checked),
      cmocka_unit_test(self_contact_can_be_switched_off),
      cmocka_unit_test(loads_act_as_their_kind_says),
      cmocka_unit_test(trapezoidal_rule_keeps_the_energy),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
