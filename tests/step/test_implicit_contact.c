// Contact with smooth implicit surfaces in complete simulations.
#include "world.h"

static const double origin[3] = {0, 0, 0}, up[3] = {0, 1, 0};

static World smooth_world(int32_t n_threads) {
  World world = world_new(n_threads);
  world.def.audit = "off";
  world.def.contact_model = "implicit_surface";
  return world;
}

// A flat sheet of n x n squares of obstacle triangles, facing up.
static NoliMesh* make_sheet(World* world, double size, int32_t n) {
  NoliMesh* mesh = NULL;
  ASSERT_OK(noli_mesh_make_plane(world->context, size, size, n, n, &mesh));
  return mesh;
}

static double weight_of(const World* world, int32_t body) {
  int32_t first, count;
  noli_sim_body_range(world->sim, body, &first, &count);
  double sum = 0.0;
  for (int32_t i = first; i < first + count; i++) {
    sum += noli_sim_masses(world->sim)[i];
  }
  return 9.80665 * sum;
}

// A block falls on a sheet of triangles (or a half-space) and comes to rest on it.
static void a_block_rests(void** state) {
  (void)state;

  // an obstacle or a half-space
  for (int flat = 0; flat < 2; flat++) {
    World world = smooth_world(1);
    int32_t block = world_add(&world, make_box(&world, 0.2, 0.2, 0.2, 2), (double[]){0, 0.12, 0});
    world.body[block].material.young = 1e6;
    if (flat == 0) {
      world_add_obstacle(&world, make_sheet(&world, 1.0, 10), origin);
    } else {
      world_add_plane(&world, origin, up);
    }
    world_start(&world);
    int32_t stiffness_increases = 0;
    double kappa = 0.0;
    for (int i = 0; i < 100; i++) {
      int64_t contacts = world.report.contacts;
      world_step(&world);
      stiffness_increases += world.report.stiffness_increases;
      ASSERT_AT_LEAST(world.report.min_distance, 0.0);
      // the stiffness never falls while there is contact
      assert_true(contacts == 0 || world.report.kappa >= kappa);
      kappa = world.report.kappa;
    }
    // the impact required a stiffer penalty
    assert_true(stiffness_increases > 0);
    double weight = weight_of(&world, block), dhat = 1e-3 * 0.2 * sqrt(3.0);
    const NoliPairForce* pair = world_pair(&world, block, 1);
    assert_non_null(pair);
    assert_int_equal(pair->contacts, 9);
    print_message("%s: %d stiffness increases, force %.6f of %.6f N, lowest %.3g of %.3g m\n",
                  flat == 0 ? "sheet" : "half-space", stiffness_increases, pair->normal[1], weight,
                  world_lowest(&world, block), dhat);
    ASSERT_NEAR(pair->normal[1], weight, 1e-3 * weight);
    ASSERT_NEAR(pair->normal[0], 0.0, 1e-3 * weight);
    ASSERT_AT_MOST(world.report.max_speed, 1e-4);
    ASSERT_AT_LEAST(world_lowest(&world, block), 0.0);
    ASSERT_AT_MOST(world_lowest(&world, block), dhat);
    // forces on the vertices: on the block its weight, on the obstacle its reaction
    double* force = malloc(sizeof *force * 3 * (size_t)noli_sim_vertex_count(world.sim));
    double on[2] = {0.0, 0.0};
    ASSERT_OK(noli_sim_contact_forces(world.sim, force));
    for (int32_t b = 0; b < world.def.n_bodies; b++) {
      int32_t first, count;
      noli_sim_body_range(world.sim, b, &first, &count);
      for (int32_t i = first; i < first + count; i++) {
        on[b] += force[3 * i + 1];
      }
    }
    ASSERT_NEAR(on[0], pair->normal[1], 1e-9 * weight);
    ASSERT_NEAR(on[1], flat == 0 ? -on[0] : 0.0, 1e-9 * weight);
    free(force);
    world_done(&world);
  }
}

// Two balls collide in free flight: momentum is conserved, angular momentum as well without
// friction.
static void balls_collide(void** state) {
  (void)state;

  // with and without friction
  for (int rubs = 0; rubs < 2; rubs++) {
    World world = smooth_world(1);
    for (int b = 0; b < 2; b++) {
      double side = b == 0 ? -1.0 : 1.0;
      int32_t ball = world_add(&world, make_sphere(&world, 0.1, 4),
                               (double[]){0.105 * side, 0.02 * side, 0.01 * side});
      world.body[ball].velocity[0] = -1.0 * side;
      world.body[ball].velocity[1] = 0.3;
      world.body[ball].material.young = 2e5;
    }
    memset(world.def.gravity, 0, sizeof world.def.gravity);
    world.def.time_step = 2e-3;
    world.def.friction = rubs == 1 ? 0.5 : 0.0;
    world.def.tolerance = (NoliScaled){1e-6, true};
    world_start(&world);
    double start[3], before[3] = {0.0, 0.0, 0.0};
    int64_t most = 0;
    for (int i = 0; i < 40; i++) {
      world_step(&world);
      memcpy(i == 0 ? start : before, world.report.momentum, sizeof before);
      most = world.report.contacts > most ? world.report.contacts : most;
      ASSERT_AT_LEAST(world.report.min_distance, 0.0);
    }
    double scale = weight_of(&world, 0) / 9.80665;
    print_message("momentum changed by %.2g %.2g %.2g of %.2g kg m/s, %d contacts\n",
                  before[0] - start[0], before[1] - start[1], before[2] - start[2], scale,
                  (int)most);
    assert_true(most > 0);
    for (int k = 0; k < 3; k++) {
      ASSERT_NEAR(before[k], start[k], 1e-7 * scale);
    }
    // they have turned round
    int32_t first, count;
    noli_sim_body_range(world.sim, 0, &first, &count);
    double vx = 0.0;
    for (int32_t i = first; i < first + count; i++) {
      vx += noli_sim_velocities(world.sim)[3 * i] / count;
    }
    ASSERT_AT_MOST(vx, 0.0);
    world_done(&world);
  }
}

// A ball is pressed on another one that stands on a plate by a plate that comes down.
static void pressed_balls_end_without_penetration(void** state) {
  (void)state;

  // two balls below a plate
  World world = smooth_world(1);
  for (int b = 0; b < 2; b++) {
    int32_t ball =
        world_add(&world, make_sphere(&world, 0.1, 4), (double[]){0.004 * b, 0.101 + 0.202 * b, 0});
    world.body[ball].material.young = 3e4;
  }
  int32_t press = world_add_obstacle(&world, make_box(&world, 0.4, 0.05, 0.4, 4),
                                     (double[]){0, 0.401 + 0.03, 0});
  world_add_plane(&world, origin, up);
  static double speed = 0.2;
  world_add_motion(&world, press, move_down, &speed);
  world.def.friction = 0.3;
  world_start(&world);

  // press
  int32_t stiffness_increases = 0;
  for (int i = 0; i < 40; i++) {
    world_step(&world);
    ASSERT_AT_LEAST(world.report.min_distance, 0.0);
    ASSERT_NEAR(world.report.motion_done, 1.0, 1e-12);
    stiffness_increases += world.report.stiffness_increases;
  }

  // forces
  const NoliPairForce* middle = world_pair(&world, 0, 1);
  const NoliPairForce* top = world_pair(&world, 1, 2);
  print_message("%d stiffness increases; %.2f N between the balls, %.2f N at the press\n",
                stiffness_increases, middle->normal[1], top->normal[1]);
  assert_true(stiffness_increases > 0);
  // both directions: vertices of each against the other
  assert_true(middle->contacts > 2);
  ASSERT_AT_MOST(middle->normal[1], -1.0);
  world_done(&world);
}

static void initial_penetration_is_pushed_out(void** state) {
  (void)state;
  World world = smooth_world(1);
  world_add(&world, make_box(&world, 0.2, 0.2, 0.2, 4), (double[]){0, 0.095, 0});
  world_add_obstacle(&world, make_sheet(&world, 1.0, 20), origin);
  NoliDefect* defects = NULL;
  int64_t n = 0;
  world.body[0].name = "block";
  world.body[1].name = "floor";
  world.def.bodies = world.body;
  ASSERT_OK(noli_sim_check(world.context, &world.def, &defects, &n));
  assert_int_equal(n, 25);
  for (int64_t i = 0; i < n; i++) {
    assert_int_equal(defects[i].kind, NOLI_DEFECT_PENETRATION);
    ASSERT_NEAR(defects[i].distance, -0.005, 1e-12);
  }
  noli_sim_check_free(world.context, &defects);
  world_start(&world);
  for (int i = 0; i < 3; i++) {
    world_step(&world);
    ASSERT_AT_LEAST(world.report.min_distance, 0.0);
  }
  world_done(&world);
}

// A block slides down a sheet as far as Coulomb's law predicts, and sticks where friction is
// larger.
// With lagged friction and with implicit friction.
static void friction_is_that_of_coulomb(void** state) {
  (void)state;
  for (int k = 0; k < 4; k++) {
    int grips = k % 2;
    World world = smooth_world(1);
    world.def.solver = "projected_newton";
    world_use_friction(&world, k < 2 ? "lagged" : "implicit");
    int32_t block = world_add(&world, make_box(&world, 0.2, 0.1, 0.2, 2), (double[]){0, 0.0502, 0});
    world.body[block].material.young = 1e6;
    world_add_obstacle(&world, make_sheet(&world, 2.0, 25), origin);
    world.def.gravity[0] = 0.3 * 9.81;
    world.def.gravity[1] = -9.81;
    world.def.friction = grips == 1 ? 0.8 : 0.1;
    world.def.friction_speed = (NoliScaled){1e-4, false};
    world.def.tolerance = (NoliScaled){1e-5, false};
    world.def.friction_iterations = NOLI_FRICTION_UNTIL_CONVERGENCE;
    world_start(&world);
    for (int i = 0; i < 50; i++) {
      world_step(&world);
    }
    double centre[3], theory = grips == 1 ? 0.0 : 0.5 * 9.81 * (0.3 - 0.1) * 0.5 * 0.5;
    world_centre(&world, block, centre);
    print_message("%s: %.5f m, theory %.5f m\n", grips == 1 ? "grips" : "slips", centre[0], theory);
    ASSERT_NEAR(centre[0], theory, grips == 1 ? 1e-3 : 0.05 * theory);
    world_done(&world);
  }
}

static void pairs_are_left_alone(void** state) {
  (void)state;
  World world = smooth_world(1);
  world_add(&world, make_box(&world, 0.2, 0.2, 0.2, 2), (double[]){0, 0.15, 0});
  world_add_obstacle(&world, make_sheet(&world, 1.0, 10), origin);
  static const NoliPairDef pair = {.size = sizeof(NoliPairDef), .a = 1, .b = 0, .contact = false};
  world.def.pairs = &pair;
  world.def.n_pairs = 1;
  world_start(&world);
  for (int i = 0; i < 20; i++) {
    world_step(&world);
    assert_int_equal(world.report.contacts, 0);
  }
  double start[3] = {0, 0.15, 0}, v[3] = {0, 0, 0};
  world_expect_flight(&world, 0, 20, start, v);
  world_done(&world);
}

static void refuse(World* world, const char* word) {
  ASSERT_STATUS(world_create(world), NOLI_ERROR_ARGUMENT);
  if (strstr(noli_context_message(world->context), word) == NULL) {
    print_error("no \"%s\" in: %s\n", word, noli_context_message(world->context));
    fail();
  }
}

// ---- self-contact -------------------------------------------------------------------------------

// Two boxes in one mesh, one above the other.
static NoliMesh* make_two_boxes(World* world, double gap) {
  NoliMesh *box = make_box(world, 0.2, 0.1, 0.2, 3), *mesh = NULL;
  ASSERT_OK(
      noli_mesh_create(world->context, 2 * box->n_vert, 2 * box->n_tet, 0, 0, 0, false, &mesh));
  for (int32_t i = 0; i < 2 * box->n_vert; i++) {
    memcpy(mesh->x + 3 * i, box->x + 3 * (i % box->n_vert), 3 * sizeof(double));
    mesh->x[3 * i + 1] += i < box->n_vert ? 0.0 : 0.1 + gap;
  }
  for (int32_t k = 0; k < 8 * box->n_tet; k++) {
    mesh->tet[k] = box->tet[k % (4 * box->n_tet)] + (k < 4 * box->n_tet ? 0 : box->n_vert);
  }
  noli_mesh_destroy(world->context, &box);
  return mesh;
}

// One half of a body falls onto the other and rests there; without self-contact it falls through.
// On a slope implicit friction holds it.
static void bodies_touch_themselves(void** state) {
  (void)state;
  for (int k = 0; k < 3; k++) {
    World world = smooth_world(1);
    int32_t body = world_add(&world, make_two_boxes(&world, 0.01), (double[]){0, 0.051, 0});
    world.body[body].material.young = 1e6;
    world.body[body].self_contact = k > 0;
    world.def.surface_radius = (NoliScaled){0.09, false};
    world_add_plane(&world, origin, up);
    world.def.gravity[0] = k == 2 ? 0.3 * 9.81 : 0.0;
    world.def.friction = 0.6;
    world.def.solver = "projected_newton";
    world_use_friction(&world, k == 2 ? "implicit" : "lagged");
    world_start(&world);
    for (int i = 0; i < 40; i++) {
      world_step(&world);
    }
    double centre[3];
    world_centre(&world, body, centre);
    const NoliPairForce* within = world_pair(&world, body, body);
    print_message("centre %.4f %.4f, %lld contacts within\n", centre[0], centre[1],
                  within != NULL ? (long long)within->contacts : 0);
    if (k == 0) {
      assert_true(within == NULL);
      ASSERT_AT_MOST(centre[1], 0.08);
    } else {
      assert_true(within != NULL && within->contacts > 4);
      ASSERT_NEAR(centre[1], 0.1, 2e-3);
      ASSERT_NEAR(centre[0], 0.0, 2e-3);
    }
    world_done(&world);
  }
}

// A ball that is pressed flat does not touch itself.
static void neighbours_are_no_contacts(void** state) {
  (void)state;
  World world = smooth_world(1);
  int32_t ball = world_add(&world, make_sphere(&world, 0.1, 5), (double[]){0, 0.101, 0});
  world_add_plane(&world, origin, up);
  world_add_plane(&world, (double[]){0, 0.14, 0}, (double[]){0, -1, 0});
  world.body[ball].material.poisson = 0.45;
  world_start(&world);
  for (int i = 0; i < 20; i++) {
    world_step(&world);
  }
  assert_true(world_pair(&world, ball, 1) != NULL);
  assert_true(world_pair(&world, ball, ball) == NULL);
  world_done(&world);
}

// ---- shells -------------------------------------------------------------------------------------

static NoliMesh* make_skin(World* world, double radius, int32_t n) {
  NoliMesh *ball = NULL, *skin = NULL;
  ASSERT_OK(noli_mesh_make_sphere(world->context, radius, n, false, &ball));
  ASSERT_OK(noli_mesh_extract(world->context, ball, "surface", &skin));
  noli_mesh_destroy(world->context, &ball);
  return skin;
}

// A cloth on a soft ball, with both kinds of friction: no vertex is inside, the forces balance.
static void cloths_lie_on_solids(void** state) {
  (void)state;
  for (int k = 0; k < 2; k++) {
    World world = smooth_world(1);
    int32_t ball = world_add(&world, make_sphere(&world, 0.2, 4), (double[]){0, 0.201, 0});
    int32_t cloth = world_add(&world, make_sheet(&world, 0.5, 8), (double[]){0, 0.42, 0});
    world.body[ball].material.young = 1e6;
    world.body[cloth].shell.thickness = 4e-3;
    world.body[cloth].self_contact = false;
    world.body[cloth].material.young = 1e5;
    world.body[cloth].material.density = 500.0;
    world_add_plane(&world, origin, up);
    world.def.friction = 0.5;
    world.def.solver = "projected_newton";
    world_use_friction(&world, k == 0 ? "lagged" : "implicit");
    world.def.time_step = 0.02;
    world_start(&world);
    for (int i = 0; i < 25; i++) {
      world_step(&world);
    }
    double centre[3], middle[3], low = 1.0;
    world_centre(&world, cloth, centre);
    world_centre(&world, ball, middle);
    int32_t first, count;
    noli_sim_body_range(world.sim, cloth, &first, &count);
    for (int32_t i = first; i < first + count; i++) {
      double x[3];
      memcpy(x, noli_sim_positions(world.sim) + 3 * i, sizeof x);
      low = noli_smaller(low, noli_norm3(noli_sub3(noli_load3(x), noli_load3(middle))));
    }
    print_message("ball at %.4f %.4f %.4f\n", middle[0], middle[1], middle[2]);
    print_message("%s: centre %.3f %.3f %.3f, closest to the middle %.4f, %lld contacts\n",
                  world.def.friction_method, centre[0], centre[1], centre[2], low,
                  (long long)world.report.contacts);
    ASSERT_AT_LEAST(low, 0.19);
    assert_true(centre[1] > 0.1 && centre[1] < 0.4 && fabs(centre[0]) < 0.02);
    assert_true(world_pair(&world, ball, cloth)->contacts > 10);
    world_done(&world);
  }
}

// A closed shell is solid to other bodies, and they are to it: it rests on the ground and carries a
// block.
static void balloons_carry(void** state) {
  (void)state;
  const char* models[] = {"implicit_surface", "gcp", "ipc"};
  for (int k = 0; k < 3; k++) {
    World world = smooth_world(1);
    world.def.contact_model = models[k];
    int32_t balloon = world_add(&world, make_skin(&world, 0.2, 5), (double[]){0, 0.202, 0});
    int32_t block = world_add(&world, make_box(&world, 0.2, 0.1, 0.2, 3), (double[]){0, 0.455, 0});
    world.body[balloon].shell.thickness = 1e-3;
    world.body[balloon].material.young = 1e7;
    world_add_plane(&world, origin, up);
    NoliVolumeDef volume = noli_default_volume_def();
    volume.body = balloon;
    volume.pressure = 5000.0;
    volume.compression = 1e-6;
    volume.model = "quadratic";
    world.def.volumes = &volume;
    world.def.n_volumes = 1;
    world.def.friction = 0.5;
    world.def.time_step = 0.01;
    world_start(&world);
    for (int i = 0; i < 60; i++) {
      world_step(&world);
    }
    double centre[3];
    world_centre(&world, block, centre);
    print_message("%s: block at %.4f, force %.2f N of %.2f N\n", models[k], centre[1],
                  world_pair(&world, balloon, block)->normal[1], weight_of(&world, block));
    assert_true(centre[1] > 0.3 && centre[1] < 0.46);
    assert_true(fabs(world_pair(&world, balloon, block)->normal[1]) >
                0.5 * weight_of(&world, block));
    world_done(&world);
  }
}

// Bodies in a balloon, and one that is inverted.
static void shells_must_have_their_inside_to_themselves(void** state) {
  (void)state;
  World world = smooth_world(1);
  int32_t balloon = world_add(&world, make_skin(&world, 0.2, 3), origin);
  world.body[balloon].shell.thickness = 1e-3;
  world_add(&world, make_box(&world, 0.1, 0.1, 0.1, 1), origin);
  refuse(&world, "\"body1\" starts inside the closed shell \"body0\"");
  world.def.contact_model = "gcp";
  ASSERT_STATUS(world_create(&world), NOLI_ERROR_INTERSECTION);
  world.def.n_bodies = 1;
  for (int model = 0; model < 2; model++) {
    world.def.contact_model = model == 0 ? "gcp" : "implicit_surface";
    NoliMesh* mesh = world.mesh[balloon];
    for (int32_t t = 0; t < (model == 0 ? mesh->n_tri : 0); t++) {
      int32_t kept = mesh->tri[3 * t];
      mesh->tri[3 * t] = mesh->tri[3 * t + 1];
      mesh->tri[3 * t + 1] = kept;
    }
    refuse(&world, "face inward");
  }
  world.def.n_bodies = 2;
  world_done(&world);
}

static void what_makes_no_sense_is_refused(void** state) {
  (void)state;
  World world = smooth_world(1);
  world_add(&world, make_box(&world, 0.2, 0.2, 0.2, 1), (double[]){0, 0.3, 0});
  world.def.contact_model = "soft";
  refuse(&world, "\"implicit_surface\"");
  world.def.contact_model = "implicit_surface";
  world.def.solver = "augmented_lagrangian";
  refuse(&world, "projected_newton");
  world.def.solver = "projected_newton";
  world.def.audit = "every_step";
  refuse(&world, "audit");
  world.def.audit = "off";
  world.def.surface_radius = (NoliScaled){1e-6, false};
  refuse(&world, "radius");
  world.def.surface_radius = (NoliScaled){0};
  NoliMesh* points = NULL;
  ASSERT_OK(noli_mesh_create(world.context, 1, 0, 0, 0, 1, false, &points));
  points->x[0] = points->x[1] = points->x[2] = 0.0;
  points->point[0] = 0;
  world_add_obstacle(&world, points, origin);
  refuse(&world, "points");
  world_done(&world);
}

// The same bits for any thread count, and after a state has been carried over.
static void bits_are_the_same(void** state) {
  (void)state;

  // each number of threads
  const int32_t threads[] = {1, 2, 3};
  uint64_t hash[3];
  for (int k = 0; k < 3; k++) {
    World world = smooth_world(threads[k]);
    for (int b = 0; b < 3; b++) {
      world_add(&world, make_sphere(&world, 0.1, 3), (double[]){0.02 * b, 0.11 + 0.21 * b, 0.01});
    }
    world_add_obstacle(&world, make_sheet(&world, 1.0, 12), origin);
    world.def.friction = 0.4;
    world_start(&world);
    for (int i = 0; i < 15; i++) {
      world_step(&world);
    }
    assert_true(world.report.contacts > 0);
    hash[k] = noli_sim_state_hash(world.sim);
    if (k == 0) {
      // a new simulation continues from the state
      NoliSim* other = NULL;
      ASSERT_OK(noli_sim_create(world.context, &world.def, &other));
      ASSERT_OK(noli_sim_copy_state(other, world.sim));
      for (int i = 0; i < 5; i++) {
        ASSERT_OK(noli_sim_step(other, NULL));
        world_step(&world);
      }
      assert_true(noli_sim_state_hash(other) == noli_sim_state_hash(world.sim));
      noli_sim_destroy(&other);
    }
    world_done(&world);
  }
  assert_true(hash[0] == hash[1] && hash[0] == hash[2]);
}

// A NoliMotionFn: turns about the z axis by `user` radians per second.
static void turn(void* user, double t0, double t1, int32_t n, const int32_t* node, const double* X,
                 const double* x_t0, double* x_t1) {
  (void)node;
  (void)X;
  const double* speed = user;
  double c = cos(*speed * (t1 - t0)), s = sin(*speed * (t1 - t0));
  for (int32_t i = 0; i < n; i++) {
    x_t1[3 * i] = c * x_t0[3 * i] - s * x_t0[3 * i + 1];
    x_t1[3 * i + 1] = s * x_t0[3 * i] + c * x_t0[3 * i + 1];
    x_t1[3 * i + 2] = x_t0[3 * i + 2];
  }
}

// Root of the mean square of the vertical acceleration of a ball, held sideways, on a roller of
// sixteen facets that turns by two of them; and the range of its height.
static double ride(const char* model, double* way) {
  enum { SETTLE = 30, STEPS = 80 };

  // a ball on a roller
  World world = smooth_world(1);
  world.def.contact_model = model;
  int32_t ball = world_add(&world, make_sphere(&world, 0.1, 4), (double[]){0, 0.42, 0});
  world.body[ball].material = (NoliMaterialDef){
      .law = "neo_hookean", .young = 2e5, .poisson = 0.4, .density = 1000.0, .damping = 0.01};
  NoliMotionDef* hold = world_add_motion(&world, ball, NULL, NULL);
  hold->free_axis[1] = true;
  NoliMesh* mesh = NULL;
  ASSERT_OK(noli_mesh_make_cylinder(world.context, 0.3, 0.8, 4, 4, true, &mesh));
  noli_mesh_transform(mesh, (double[]){1, 1, 1}, (double[]){90, 0, 0}, origin);
  int32_t roller = world_add_obstacle(&world, mesh, origin);
  static double speed = 1.5707963267948966;
  world_add_motion(&world, roller, turn, &speed);
  world.def.contact_distance = (NoliScaled){1e-3, false};
  world_start(&world);

  // turn, and sum up the force
  double low = (double)INFINITY, high = -(double)INFINITY, sum = 0.0, y[3] = {0.0, 0.0, 0.0};
  for (int i = 0; i < STEPS; i++) {
    world_step(&world);
    double centre[3];
    world_centre(&world, ball, centre);
    y[0] = y[1];
    y[1] = y[2];
    y[2] = centre[1];
    if (i >= SETTLE) {
      double acceleration = (y[2] - 2.0 * y[1] + y[0]) / 1e-4;
      sum += acceleration * acceleration;
      low = noli_smaller(low, y[2]);
      high = noli_larger(high, y[2]);
    }
  }

  // mean force and range of heights
  world_done(&world);
  *way = high - low;
  return sqrt(sum / (STEPS - SETTLE));
}

static void surfaces_are_smoother_than_their_triangles(void** state) {
  (void)state;
  double smooth_way, bumpy_way;
  double smooth = ride("implicit_surface", &smooth_way), bumpy = ride("ipc", &bumpy_way);
  print_message("smooth: %.3f m/s^2, %.2f mm; triangles: %.3f m/s^2, %.2f mm\n", smooth,
                1e3 * smooth_way, bumpy, 1e3 * bumpy_way);
  ASSERT_AT_MOST(smooth, 0.2 * bumpy);
  ASSERT_AT_MOST(smooth_way, 0.3 * bumpy_way);
}

// A plate thinner than the surface radius flies into a block. The side of the plate that is closest
// to a vertex of the block changes on the way, and the penalty with it: unless contacts keep their
// triangles, the line search takes 1e-16 of every step.
static void jumps_of_the_penalty_do_not_stop_the_solve(void** state) {
  (void)state;

  // fast bodies of several shapes
  static const double shift[3] = {0.0, 0.02, 0.05}, speed[2] = {10.0, 30.0};
  for (int k = 0; k < 6; k++) {
    World world = smooth_world(1);
    NoliMesh* plate = NULL;
    ASSERT_OK(noli_mesh_make_box(world.context, (double[]){1.0, 0.1, 0.7}, (int32_t[]){2, 1, 3},
                                 false, &plate));
    NoliMesh* block = NULL;
    ASSERT_OK(noli_mesh_make_box(world.context, (double[]){1.5, 1.4, 1.5}, (int32_t[]){2, 1, 1},
                                 false, &block));
    world_add(&world, plate, (double[]){0.1, 0.06, 0.05});
    world_add(&world, block, (double[]){shift[k % 3], -0.7, 0.0});
    world.body[0].material =
        (NoliMaterialDef){.law = "neo_hookean", .young = 1e4, .poisson = 0.1, .density = 100.0};
    world.body[1].material =
        (NoliMaterialDef){.law = "neo_hookean", .young = 1e6, .poisson = 0.3, .density = 900.0};
    world.body[0].velocity[1] = -speed[k / 3];
    world.def.gravity[1] = 0.0;
    world.def.time_step = 0.01;
    world.def.contact_distance = (NoliScaled){1e-3, false};
    world.def.max_substeps = 1;
    world_start(&world);
    int32_t iterations = 0;
    for (int step = 0; step < 2; step++) {
      world_step(&world);
      iterations += world.report.newton_iterations;
      assert_true(world.report.min_distance > 0.0);
    }
    print_message("%d iterations, %lld contacts\n", iterations, (long long)world.report.contacts);
    ASSERT_AT_MOST(iterations, 600);
    // it bounces off the block, and does not end within it
    assert_true(world_lowest(&world, 0) > -0.05);
    world_done(&world);
  }
}

// A ring of few long elements: its triangles are larger than its hole, and must not push vertices
// across it.
static void rest_shapes_carry_no_contact(void** state) {
  (void)state;
  World world = smooth_world(1);
  NoliMesh* mesh = NULL;
  ASSERT_OK(noli_mesh_make_torus(world.context, 1.836, 0.1355, 7, 1, false, &mesh));
  int32_t ring = world_add(&world, mesh, origin);
  world.body[ring].velocity[0] = 260.0;
  world.body[ring].material.young = 1e8;
  world.def.time_step = 2e-4;
  world.def.gravity[1] = 0.0;
  world_start(&world);
  for (int i = 0; i < 5; i++) {
    world_step(&world);
    assert_int_equal(world.report.contacts, 0);
    ASSERT_NEAR(world.report.max_speed, 260.0, 1e-3);
  }
  world_done(&world);
}

// Between plates that leave no room, no stiffness moves vertices out: the stiffness stops growing
// and the remaining penetration is reported. Without the limit it grew by 28 orders of magnitude in
// a step.
static void stiffness_has_a_limit(void** state) {
  (void)state;
  World world = smooth_world(1);
  int32_t block = world_add(&world, make_box(&world, 0.2, 0.1, 0.2, 2), origin);
  const double low[3] = {0, -0.02, 0}, high[3] = {0, 0.02, 0}, down[3] = {0, -1, 0};
  world.body[block].material.young = 1e6;
  world.def.contact_distance = (NoliScaled){1e-6, false};
  world_add_plane(&world, high, up);
  world_add_plane(&world, low, down);
  world_start(&world);
  double kappa = 0.0;
  for (int i = 0; i < 4; i++) {
    world_step(&world);
    assert_true(i == 0 || world.report.kappa <= 1.01 * kappa);
    kappa = world.report.kappa;
    // h^2 times the stiffness of an element, about young times its length
    ASSERT_AT_MOST(kappa, 1e8 * 20.0 * 1e-4 * 1e6 * 0.1);
    ASSERT_AT_LEAST(-world.report.min_distance, 0.01);
  }
  print_message("stiffness %.3g\n", kappa);
  world_done(&world);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_block_rests),
      cmocka_unit_test(balls_collide),
      cmocka_unit_test(pressed_balls_end_without_penetration),
      cmocka_unit_test(initial_penetration_is_pushed_out),
      cmocka_unit_test(friction_is_that_of_coulomb),
      cmocka_unit_test(pairs_are_left_alone),
      cmocka_unit_test(bodies_touch_themselves),
      cmocka_unit_test(neighbours_are_no_contacts),
      cmocka_unit_test(cloths_lie_on_solids),
      cmocka_unit_test(balloons_carry),
      cmocka_unit_test(shells_must_have_their_inside_to_themselves),
      cmocka_unit_test(what_makes_no_sense_is_refused),
      cmocka_unit_test(bits_are_the_same),
      cmocka_unit_test(surfaces_are_smoother_than_their_triangles),
      cmocka_unit_test(jumps_of_the_penalty_do_not_stop_the_solve),
      cmocka_unit_test(rest_shapes_carry_no_contact),
      cmocka_unit_test(stiffness_has_a_limit),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
