// The geometric contact potential as a drop-in for the barrier: rest, weight, friction, every
// integrator and kind of friction, obstacles that are not closed, refusals.
#include "world.h"

static World world_with(const char* model, int32_t n_threads) {
  World world = world_new(n_threads);
  world.def.contact_model = model;
  return world;
}

static double largest_speed(const World* world, int steps) {
  double largest = 0.0;
  for (int i = 0; i < steps; i++) {
    world_step((World*)(uintptr_t)world);
    largest = noli_larger(largest, world->report.max_speed);
  }
  return largest;
}

// Two cubes 0.01 m apart with a support of 0.05 m and no other force, as in [Huang2025] figure 20:
// the barrier drives them apart, the potential does not act at all.
static void cubes_within_reach_stay_at_rest(void** state) {
  (void)state;
  double speed[2];
  for (int gcp = 0; gcp < 2; gcp++) {
    World world = world_with(gcp ? "gcp" : "ipc", 1);
    world_add(&world, make_box(&world, 0.2, 0.2, 0.2, 3), (double[]){0, 0, 0});
    world_add(&world, make_box(&world, 0.2, 0.2, 0.2, 3), (double[]){0.21, 0, 0});
    world.def.contact_distance = (NoliScaled){0.05, false};
    world.def.gravity[1] = 0.0;
    world.body[0].material.young = world.body[1].material.young = 1e4;
    world_start(&world);
    speed[gcp] = largest_speed(&world, 5);
    assert_true(gcp == 0 || world.report.contacts_max == 0);
    world_done(&world);
  }
  print_message("cubes within reach: %.3g m/s with ipc, %.3g m/s with gcp\n", speed[0], speed[1]);
  assert_true(speed[1] == 0.0);
  ASSERT_AT_LEAST(speed[0], 0.01);
}

// A gap of a nanometre is as stiff as 1e20 elements: after rounding, the elements' part of the
// matrix is indefinite. The step is still solved, and the gap opens.
static void a_tiny_gap_opens(void** state) {
  (void)state;
  World world = world_with("gcp", 1);
  NoliMesh* spike = make_box(&world, 0.2, 0.2, 0.2, 2);
  noli_mesh_transform(spike, (double[]){1, 1, 1}, (double[]){45, 0, 35.264}, (double[]){0, 0, 0});
  world_add(&world, make_box(&world, 0.4, 0.2, 0.4, 3), (double[]){0, 0, 0});
  world_add(&world, spike, (double[]){0.03, 0.4, 0.02});
  world.def.contact_distance = (NoliScaled){0.02, false};
  world.def.gravity[1] = 0.0;
  world.def.tolerance = (NoliScaled){1e-9, false}; // a Newton step moves no more than the gap
  world_start(&world);
  int32_t n = noli_sim_vertex_count(world.sim), first = world.mesh[0]->n_vert;
  double* x = malloc(sizeof *x * 3 * (size_t)n);
  memcpy(x, noli_sim_positions(world.sim), sizeof *x * 3 * (size_t)n);
  double down = world_lowest(&world, 1) - (0.1 + 1e-9);
  for (int32_t v = first; v < n; v++) {
    x[3 * v + 1] -= down;
  }
  ASSERT_OK(noli_sim_set_state(world.sim, x, noli_sim_velocities(world.sim)));
  free(x);
  world_step(&world);
  print_message("a gap of 1e-9 m is %.3g m after a step of %d iterations\n",
                world.report.min_distance, (int)world.report.newton_iterations);
  ASSERT_AT_LEAST(world.report.min_distance, 1e-6);
  world_done(&world);
}

// A half-space bears the weight, for any friction.
static void a_half_space_bears_the_weight(void** state) {
  (void)state;
  World world = world_with("gcp", 1);
  int32_t box = world_add(&world, make_box(&world, 0.2, 0.2, 0.2, 2), (double[]){0, 0.11, 0});
  world_add_plane(&world, (double[]){0, 0, 0}, (double[]){0, 1, 0});
  world.body[box].material.young = 1e5;
  world.def.friction = 0.3;
  world.def.gcp.eps_target = (NoliScaled){0.02, false};
  world_start(&world);
  largest_speed(&world, 50);
  const NoliPairForce* pairs;
  int32_t n_pairs;
  ASSERT_OK(noli_sim_pair_forces(world.sim, &pairs, &n_pairs));
  assert_int_equal(n_pairs, 1);
  double weight = 0.2 * 0.2 * 0.2 * world.body[box].material.density * 9.80665;
  print_message("weight %.4f N, borne %.4f N, gap %.3g m\n", weight, pairs[0].normal[1],
                pairs[0].min_distance);
  ASSERT_NEAR(pairs[0].normal[1], weight, 5e-3 * weight);
  ASSERT_NEAR(pairs[0].min_distance, world.report.min_distance, 1e-15);
  // and so do the forces of the vertices
  double sum = 0.0, *force = calloc(3 * (size_t)noli_sim_vertex_count(world.sim), sizeof *force);
  ASSERT_OK(noli_sim_contact_forces(world.sim, force));
  for (int32_t i = 0; i < noli_sim_vertex_count(world.sim); i++) {
    sum += force[3 * i + 1];
  }
  free(force);
  ASSERT_NEAR(sum, pairs[0].normal[1], 1e-9 * weight);
  world_done(&world);
}

// A block on a slope of 30 degrees slides as fast as theory predicts, without friction and with
// friction.
static void friction_on_a_slope_follows_theory(void** state) {
  (void)state;

  // methods and coefficients
  static const struct {
    const char* method;
    double mu;
    bool body; // the slope is a body instead of a half-space
  } cases[] = {{"lagged", 0.2, false},
               {"lagged", 0.2, true},
               {"implicit", 0.2, false},
               {"implicit", 0.2, true},
               {"lagged", 0.0, true}};
  const double g = 9.80665, pi = 3.14159265358979323846;

  // slide, and compare with theory
  for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
    World world = world_with("gcp", 1);
    int32_t block = world_add(&world, make_box(&world, 0.2, 0.1, 0.2, 2), (double[]){0, 0.052, 0});
    world.body[block].material.young = 1e7;
    world.body[block].material.damping = 0.02;
    if (cases[c].body) {
      NoliMesh* slab = NULL;
      ASSERT_OK(noli_mesh_make_box(world.context, (double[]){1.2, 0.1, 0.4}, (int32_t[]){9, 1, 3},
                                   true, &slab));
      world_add_obstacle(&world, slab, (double[]){0.4, -0.05, 0.013});
    } else {
      world_add_plane(&world, (double[]){0, 0, 0}, (double[]){0, 1, 0});
    }
    world.def.gravity[0] = g * sin(pi / 6.0);
    world.def.gravity[1] = -g * cos(pi / 6.0);
    world.def.friction = cases[c].mu;
    world.def.friction_method = cases[c].method;
    world.def.friction_iterations = 2;
    world.def.tolerance = (NoliScaled){1e-5, false};
    world.def.gcp.eps_target = (NoliScaled){0.008, false};
    world_start(&world);
    largest_speed(&world, 12);
    double before[3], after[3], middle[3];
    world_centre(&world, 0, before);
    largest_speed(&world, 5);
    world_centre(&world, 0, middle);
    largest_speed(&world, 5);
    world_centre(&world, 0, after);
    double got = (after[0] - 2.0 * middle[0] + before[0]) / 0.0025;
    double want = g * (sin(pi / 6.0) - cases[c].mu * cos(pi / 6.0));
    print_message("%s, mu %g, %s: acceleration %.4f m/s^2, theory %.4f\n", cases[c].method,
                  cases[c].mu, cases[c].body ? "body" : "half-space", got, want);
    ASSERT_NEAR(got, want, 0.02 * want);
    world_done(&world);
  }
}

static void every_integrator_and_friction_takes_it(void** state) {
  (void)state;

  // a box that hits the floor
  static const char* const integrators[] = {"backward_euler", "trapezoidal", "bdf2", "sdirk2",
                                            "tr_bdf2"};
  static const char* const friction[] = {"lagged", "implicit"};
  for (int i = 0; i < 10; i++) {
    World world = world_with("gcp", 1);
    NoliMesh* floor = NULL;
    ASSERT_OK(noli_mesh_make_box(world.context, (double[]){0.4, 0.1, 0.4}, (int32_t[]){3, 1, 3},
                                 true, &floor));
    world_add_obstacle(&world, floor, (double[]){0, -0.05, 0});
    int32_t ball = world_add(&world, make_sphere(&world, 0.05, 2), (double[]){0, 0.055, 0});
    world.body[ball].material.young = 1e5;
    world.body[ball].velocity[0] = 0.5;
    world.body[ball].velocity[1] = -1.0;
    world.def.integrator = integrators[i / 2];
    world.def.friction_method = friction[i % 2];
    world.def.friction = 0.3;
    world.def.time_step = 0.002;
    world.def.gcp.eps_target = (NoliScaled){0.004, false};
    world_start(&world);
    int64_t contacts = 0;
    for (int s = 0; s < 12; s++) {
      world_step(&world);
      contacts += world.report.contacts_max;
    }
    assert_true(contacts > 0);
    ASSERT_AT_MOST(world.report.max_speed, 2.0);
    // thrown back, and slowed down along the floor
    double mass = 0.0;
    for (int32_t v = 0; v < noli_sim_vertex_count(world.sim); v++) {
      bool of_ball = noli_sim_positions(world.sim)[3 * v + 1] > 0.0;
      mass += of_ball ? noli_sim_masses(world.sim)[v] : 0.0;
    }
    ASSERT_AT_LEAST(world.report.momentum[1], -0.5 * mass);
    ASSERT_AT_MOST(world.report.momentum[0], 0.49 * mass);
    world_done(&world);
  }
}

// Elements of order 2, whose contact uses a proxy with vertices of its own.
static void elements_of_high_order_take_it(void** state) {
  (void)state;

  // a box comes to rest
  static const char* const friction[] = {"lagged", "implicit"};
  for (int f = 0; f < 2; f++) {
    World world = world_with("gcp", 1);
    int32_t box = world_add(&world, make_box(&world, 0.1, 0.1, 0.1, 1), (double[]){0, 0.054, 0});
    world.body[box].material.young = 1e5;
    world.body[box].material.mass_damping = 20.0;
    world.body[box].order = 2;
    world_add_plane(&world, (double[]){0, 0, 0}, (double[]){0, 1, 0});
    NoliMesh* slab = NULL;
    ASSERT_OK(noli_mesh_make_box(world.context, (double[]){0.3, 0.1, 0.3}, (int32_t[]){3, 1, 3},
                                 true, &slab));
    world_add_obstacle(&world, slab, (double[]){0.013, -0.05, 0.007});
    world.def.friction = 0.3;
    world.def.friction_method = friction[f];
    world.def.gcp.eps_target = (NoliScaled){0.005, false};
    world_start(&world);
    largest_speed(&world, 25);
    double borne = 0.0, weight = 1e-3 * world.body[box].material.density * 9.80665;
    const NoliPairForce* pairs;
    int32_t n_pairs;
    ASSERT_OK(noli_sim_pair_forces(world.sim, &pairs, &n_pairs));
    for (int32_t p = 0; p < n_pairs; p++) {
      borne += pairs[p].normal[1] + pairs[p].friction[1];
    }
    print_message("order 2, %s friction: weight %.4f N, borne %.4f N, kappa %.3g\n", friction[f],
                  weight, borne, world.report.kappa);
    ASSERT_NEAR(borne, weight, 0.02 * weight);
    world_done(&world);
  }
}

// Load steps without inertia, and termination by times of impact.
static void load_steps_and_times_of_impact_take_it(void** state) {
  (void)state;

  // a box that is pressed down
  for (int toi = 0; toi < 2; toi++) {
    World world = world_with("gcp", 1);
    int32_t box = world_add(&world, make_box(&world, 0.2, 0.2, 0.2, 3), (double[]){0, 0.101, 0});
    int32_t lid =
        world_add_obstacle(&world, make_box(&world, 0.3, 0.05, 0.3, 2), (double[]){0, 0.2265, 0});
    world_add_plane(&world, (double[]){0, 0, 0}, (double[]){0, 1, 0});
    static double speed = 0.5;
    world_add_motion(&world, lid, move_down, &speed);
    world.body[box].material.young = 1e4;
    world.def.friction = 0.3;
    world.def.gcp.eps_target = (NoliScaled){0.02, false};
    world.def.termination = toi ? "toi" : "residual";
    world.def.integrator = toi ? "backward_euler" : "quasi_static";
    // an equilibrium needs a support
    int32_t bottom[16], n_bottom = 0;
    for (int32_t v = 0; v < world.mesh[box]->n_vert; v++) {
      if (world.mesh[box]->x[3 * v + 1] < 0.01) {
        bottom[n_bottom++] = v;
      }
    }
    if (!toi) {
      NoliMotionDef* hold = world_add_motion(&world, box, NULL, NULL);
      hold->node = bottom;
      hold->n_node = n_bottom;
    }
    world_start(&world);
    for (int s = 0; s < 8; s++) {
      world_step(&world);
    }
    ASSERT_AT_LEAST(world.report.motion_done, 0.999);
    assert_true(world.report.contacts > 0);
    world_done(&world);
  }
}

// Obstacles of triangles with a rim, of segments and of points keep the barrier: balls come to rest
// on a net, a sheet and needles, beside another ball that they touch by the potential.
static void open_obstacles_keep_the_barrier(void** state) {
  (void)state;

  // a sheet, a net and needles
  World world = world_with("gcp", 1);
  NoliMesh *sheet = NULL, *net = NULL, *needles = NULL;
  ASSERT_OK(noli_mesh_create(world.context, 4, 0, 2, 0, 0, false, &sheet));
  memcpy(sheet->x, (double[]){-0.2, 0, -0.2, -0.2, 0, 0.2, 0.2, 0, 0.2, 0.2, 0, -0.2},
         12 * sizeof(double));
  memcpy(sheet->tri, (int32_t[]){0, 1, 2, 0, 2, 3}, 6 * sizeof(int32_t));
  ASSERT_OK(noli_mesh_create(world.context, 6, 0, 0, 3, 0, false, &net));
  ASSERT_OK(noli_mesh_create(world.context, 9, 0, 0, 0, 9, false, &needles));
  for (int i = 0; i < 3; i++) {
    memcpy(net->x + 6 * i, (double[]){-0.2, 0, 0.03 * (i - 1), 0.2, 0, 0.03 * (i - 1)},
           6 * sizeof(double));
    memcpy(net->edge + 2 * i, (int32_t[]){2 * i, 2 * i + 1}, 2 * sizeof(int32_t));
  }
  for (int i = 0; i < 9; i++) {
    memcpy(needles->x + 3 * i, (double[]){0.03 * (i % 3 - 1), 0, 0.03 * (i / 3 - 1)},
           3 * sizeof(double));
    needles->point[i] = i;
  }

  // four balls
  world_add_obstacle(&world, sheet, (double[]){-0.5, 0, 0});
  world_add_obstacle(&world, net, (double[]){0, 0, 0});
  world_add_obstacle(&world, needles, (double[]){0.5, 0, 0});
  int32_t ball[4];
  for (int i = 0; i < 4; i++) {
    ball[i] = world_add(&world, make_sphere(&world, 0.05, 2),
                        (double[]){0.5 * (i % 3 - 1), i < 3 ? 0.054 : 0.156, 0});
    world.body[ball[i]].material.young = 1e5;
    world.body[ball[i]].material.mass_damping = 5.0;
  }
  world.def.friction = 0.3;
  world.def.gcp.eps_target = (NoliScaled){0.005, false};
  world_start(&world);
  largest_speed(&world, 40);

  // forces that carry them
  const NoliPairForce* pairs;
  int32_t n_pairs;
  ASSERT_OK(noli_sim_pair_forces(world.sim, &pairs, &n_pairs));
  // the fourth ball lies on the first
  assert_int_equal(n_pairs, 4);
  double weight = 0.0, borne = 0.0;
  for (int i = 0; i < 4; i++) {
    int32_t first, count;
    noli_sim_body_range(world.sim, ball[i], &first, &count);
    for (int32_t v = first; v < first + count; v++) {
      weight += 9.80665 * noli_sim_masses(world.sim)[v];
    }
  }
  for (int i = 0; i < n_pairs; i++) {
    borne += pairs[i].a < 3 ? -pairs[i].normal[1] - pairs[i].friction[1] : 0.0;
    assert_true(pairs[i].contacts > 0);
  }
  print_message("open obstacles bear %.3f N of %.3f N\n", borne, weight);
  ASSERT_NEAR(borne, weight, 0.05 * weight);
  world_done(&world);
}

static void expect_refusal(World* world, NoliStatus want, const char* part) {
  assert_int_equal(world_create(world), want);
  if (strstr(noli_context_message(world->context), part) == NULL) {
    print_error("\"%s\" is not in \"%s\"\n", part, noli_context_message(world->context));
    fail();
  }
}

static void refusals_say_what_and_where(void** state) {
  (void)state;

  // a valid scene
  World world = world_with("gcp", 1);
  int32_t box = world_add(&world, make_box(&world, 1, 1, 1, 1), (double[]){0, 0, 0});
  (void)box;

  // parameters
  world.def.gcp.alpha = 0.0;
  expect_refusal(&world, NOLI_ERROR_ARGUMENT, "alpha of the contact model \"gcp\"");
  world.def.gcp.alpha = 1.5;
  expect_refusal(&world, NOLI_ERROR_ARGUMENT, "(0, 1]");
  world.def.gcp.alpha = 1.0;
  world.def.gcp.beta = 2.0;
  expect_refusal(&world, NOLI_ERROR_ARGUMENT, "beta of the contact model");
  world.def.gcp.beta = 0.1;
  world.def.gcp.eps_target.value = -1.0;
  expect_refusal(&world, NOLI_ERROR_ARGUMENT, "eps_target");
  world.def.gcp.eps_target.value = 0.0;
  world.def.gcp.length.value = (double)INFINITY;
  expect_refusal(&world, NOLI_ERROR_ARGUMENT, "length of the contact model");
  world.def.gcp.length.value = 0.0;

  // the solver
  world.def.solver = "augmented_lagrangian";
  expect_refusal(&world, NOLI_ERROR_ARGUMENT, "treats contact by constraints");
  world.def.solver = NULL;

  // triangles of obstacles that face opposite sides: by the vertices of a mesh, and how many more
  for (int i = 0; i < 2; i++) {
    NoliMesh* shell = NULL;
    ASSERT_OK(
        noli_mesh_make_box(world.context, (double[]){1, 1, 1}, (int32_t[]){1, 1, 1}, true, &shell));
    int32_t swap = shell->tri[0];
    shell->tri[0] = shell->tri[1];
    shell->tri[1] = swap;
    world_add_obstacle(&world, shell, (double[]){3.0 + 3.0 * i, 0, 0});
    expect_refusal(
        &world, NOLI_ERROR_ARGUMENT,
        "\"body1\": the edge of vertices 4 and 6, (3.5, -0.5, -0.5) to (3.5, 0.5, -0.5), "
        "has two triangles that look to opposite sides (and 2 more)");
    print_message("%s\n", noli_context_message(world.context));
  }

  // another model accepts the scene
  expect_refusal(&world, NOLI_ERROR_ARGUMENT, "2 bodies have none; the first");
  world.def.contact_model = "ipc";
  world_start(&world);
  world_done(&world);
}

// All zero gaps at the start are reported, as with the barrier.
static void zero_gaps_are_listed_as_with_the_barrier(void** state) {
  (void)state;
  int64_t count[2];
  for (int gcp = 0; gcp < 2; gcp++) {
    World world = world_with(gcp != 0 ? "gcp" : "ipc", 1);
    world_add(&world, make_box(&world, 1, 1, 1, 2), (double[]){0, 0, 0});
    world_add(&world, make_box(&world, 1, 1, 1, 2), (double[]){0.2, 1, 0});
    world_add_plane(&world, (double[]){0, -0.5, 0}, (double[]){0, 1, 0});
    ASSERT_STATUS(world_create(&world), NOLI_ERROR_INTERSECTION);
    const char* message = noli_context_message(world.context);
    print_message("%s: %s\n", world.def.contact_model, message);
    assert_non_null(strstr(message, "defects; the first: vertex (0) of \"body0\" is on or below"));
    NoliDefect* defects = NULL;
    ASSERT_OK(noli_sim_check(world.context, &world.def, &defects, &count[gcp]));
    bool touches = false;
    for (int64_t i = 0; i < count[gcp]; i++) {
      touches = touches || (defects[i].kind == NOLI_DEFECT_ZERO_GAP && defects[i].entity[0] == 0 &&
                            defects[i].entity[1] == 1);
    }
    assert_true(touches);
    noli_sim_check_free(world.context, &defects);
    world_done(&world);
  }
  assert_int_equal(count[0], count[1]);
}

// Without an adaptive support, close pairs push from the start.
static void the_support_need_not_adapt(void** state) {
  (void)state;
  for (int k = 0; k < 2; k++) {
    World world = world_with("gcp", 1);
    world_add(&world, make_box(&world, 0.1, 0.1, 0.1, 1), (double[]){0, 0, 0});
    world_add(&world, make_box(&world, 0.1, 0.1, 0.1, 1), (double[]){0, 0.11, 0});
    world.def.gravity[1] = 0.0;
    world.def.gcp.eps_target = (NoliScaled){0.03, false};
    world.def.gcp.act_at_rest = k == 1;
    world_start(&world);
    double apart = 2.0 * largest_speed(&world, 1);
    print_message("act_at_rest %d: %lld contacts, %.3g m/s\n", k, (long long)world.report.contacts,
                  apart);
    assert_true((world.report.contacts > 0) == (k == 1));
    assert_true((apart > 1e-3) == (k == 1));
    world_done(&world);
  }
}

// Contact at rest that the check at the start does not detect.
static void rest_shapes_that_touch_themselves_are_refused(void** state) {
  (void)state;
  World world = world_with("gcp", 1);
  static const double tips[24] = {-1, 0, -1, 1,  0, -1, 0, 0, 1,  0, 1, 0,
                                  0,  1, 0,  -1, 2, -1, 1, 2, -1, 0, 2, 1};
  NoliMesh* mesh = NULL;
  ASSERT_OK(noli_mesh_create(world.context, 8, 2, 0, 0, 0, false, &mesh));
  memcpy(mesh->x, tips, sizeof tips);
  memcpy(mesh->tet, (int32_t[]){0, 1, 2, 3, 4, 5, 6, 7}, 8 * sizeof(int32_t));
  (void)noli_mesh_orient(mesh);
  int32_t body = world_add(&world, mesh, (double[]){0, 0, 0});
  double start[24];
  memcpy(start, mesh->x, sizeof start);
  for (int v = 4; v < 8; v++) {
    start[3 * v + 1] += 0.1;
  }
  world.body[body].x0 = start;
  expect_refusal(&world, NOLI_ERROR_INTERSECTION, "the rest shape of \"body0\" touches itself");
  print_message("%s\n", noli_context_message(world.context));
  world_done(&world);
}

static uint64_t hash_after(int32_t n_threads, int steps, int resume_at, const char* friction) {

  // three balls
  World world = world_with("gcp", n_threads);
  for (int i = 0; i < 3; i++) {
    world_add(&world, make_box(&world, 0.1, 0.1, 0.1, 2),
              (double[]){0.02 * i, 0.06 + 0.11 * i, 0.01 * i});
    world.body[i].material.young = 3e4;
  }
  world_add_plane(&world, (double[]){0, 0, 0}, (double[]){0, 1, 0});
  world.def.friction = 0.4;
  world.def.friction_method = friction;
  world.def.gcp.eps_target = (NoliScaled){0.02, false};
  world_start(&world);

  // step, and continue in a new simulation
  for (int i = 0; i < steps; i++) {
    world_step(&world);
    if (i + 1 == resume_at) {
      // a new simulation with the same state
      NoliSim* fresh = NULL;
      ASSERT_OK(noli_sim_create(world.context, &world.def, &fresh));
      ASSERT_OK(noli_sim_copy_state(fresh, world.sim));
      noli_sim_destroy(&world.sim);
      world.sim = fresh;
    }
  }
  uint64_t hash = noli_sim_state_hash(world.sim);
  world_done(&world);
  return hash;
}

static void bits_depend_on_neither_threads_nor_restarts(void** state) {
  (void)state;
  static const char* const friction[] = {"lagged", "implicit"};
  for (int f = 0; f < 2; f++) {
    uint64_t hash = hash_after(1, 10, 0, friction[f]);
    assert_true(hash_after(3, 10, 0, friction[f]) == hash);
    assert_true(hash_after(2, 10, 7, friction[f]) == hash);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(cubes_within_reach_stay_at_rest),
      cmocka_unit_test(a_tiny_gap_opens),
      cmocka_unit_test(a_half_space_bears_the_weight),
      cmocka_unit_test(friction_on_a_slope_follows_theory),
      cmocka_unit_test(every_integrator_and_friction_takes_it),
      cmocka_unit_test(elements_of_high_order_take_it),
      cmocka_unit_test(load_steps_and_times_of_impact_take_it),
      cmocka_unit_test(open_obstacles_keep_the_barrier),
      cmocka_unit_test(refusals_say_what_and_where),
      cmocka_unit_test(zero_gaps_are_listed_as_with_the_barrier),
      cmocka_unit_test(the_support_need_not_adapt),
      cmocka_unit_test(rest_shapes_that_touch_themselves_are_refused),
      cmocka_unit_test(bits_depend_on_neither_threads_nor_restarts),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
