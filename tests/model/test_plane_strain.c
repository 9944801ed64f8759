// Bodies in plane strain: their elements compared with closed forms and tetrahedra, contact in the
// plane, invalid input.
#include "step/world.h"

#include "collide/audit.h"
#include "fem/elasticity.h"

static int32_t add_rectangle(World* world, double size_x, double size_y, int32_t cells_x,
                             int32_t cells_y, double x, double y) {
  NoliMesh* mesh = NULL;
  ASSERT_OK(noli_mesh_make_rectangle(world->context, size_x, size_y, cells_x, cells_y, &mesh));
  int32_t body = world_add(world, mesh, (double[]){x, y, 0.0});
  world->body[body].plane_strain = 1.0;
  return body;
}

// A complete simulation stays in its plane, to the bit.
static void assert_flat(const World* world) {
  const double* x = noli_sim_positions(world->sim);
  const double* v = noli_sim_velocities(world->sim);
  for (int32_t i = 0; i < noli_sim_vertex_count(world->sim); i++) {
    assert_true(x[3 * i + 2] == noli_sim_rest_positions(world->sim)[3 * i + 2]);
    assert_true(v[3 * i + 2] == 0.0);
  }
}

// ---- elements -----------------------------------------------------------------------------------

typedef struct Element {
  NoliTets tets;
  NoliElasticity elasticity;
  double x[9];
} Element;

static double evaluate(void* user, const double* x, double* gradient, double* hessian) {
  const Element* element = user;
  double energy, g[12], blocks[90], full[9] = {0};
  for (int i = 0; i < 6; i++) {
    full[i / 2 * 3 + i % 2] = x[i];
  }
  noli_elasticity_evaluate(&element->elasticity, full, 0, 1,
                           NOLI_EVAL_ENERGY | NOLI_EVAL_GRADIENT | NOLI_EVAL_HESSIAN,
                           &(NoliLocal){&energy, g, blocks});
  for (int i = 0; i < 6; i++) {
    gradient[i] = g[i / 2 * 3 + i % 2];
    for (int j = 0; j < 6 && hessian != NULL; j++) {
      int a = i / 2, b = j / 2, low = a < b ? a : b, high = a < b ? b : a;
      const double* block = blocks + 9 * noli_stencil_block(4, low, high);
      hessian[6 * i + j] = a <= b ? block[3 * (i % 2) + j % 2] : block[3 * (j % 2) + i % 2];
    }
  }
  // no force out of the plane, and none on the node that is missing
  for (int i = 0; i < 12; i++) {
    assert_true(i % 3 < 2 || fabs(g[i]) < 1e-12);
    assert_true(i < 9 || g[i] == 0.0);
  }
  for (int e = 0; e < 9; e++) {
    for (int a = 0; a < 4; a++) {
      assert_true(blocks[9 * noli_stencil_block(4, a, 3) + e] == 0.0);
    }
  }
  return energy;
}

static void derivatives_of_every_law_agree(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  TestRandom random = {8};
  const int32_t node[4] = {0, 1, 2, NOLI_NULL_INDEX};
  const double X[9] = {0.1, 0.0, 0.0, 1.2, 0.1, 0.0, 0.2, 0.9, 0.0};
  for (int32_t l = 0; l < noli_choice_count(NOLI_CHOICE_MATERIAL); l++) {
    Element element;
    const NoliMaterial* law = noli_material_find(noli_choice_name(NOLI_CHOICE_MATERIAL, l));
    double mu = 1.3, lambda = 2.1;
    ASSERT_OK(noli_tets_create(context, 1, node, X, &element.tets));
    noli_tets_thicken(&element.tets, 0, 1, 0.7);
    ASSERT_NEAR(element.tets.volume[0], 0.7 * 0.5 * (1.1 * 0.9 - 0.1 * 0.1), 1e-15);
    ASSERT_NEAR(noli_tets_size_sqr(&element.tets, 0), 1.1 * 0.9 - 0.1 * 0.1, 1e-14);
    element.elasticity = (NoliElasticity){&element.tets, &law, &mu, &lambda, 1.0, NULL, NULL, NULL};
    for (int k = 0; k < 20; k++) {
      double x[6];
      for (int i = 0; i < 6; i++) {
        x[i] = X[i / 2 * 3 + i % 2] + test_random(&random, -0.15, 0.15);
      }
      test_derivatives(evaluate, &element, 6, x, 1e-2, 1e-6, 1e-5);
    }
    noli_tets_destroy(context, &element.tets);
  }
  test_context_done(&context);
}

// The step at which a triangle inverts, from the root of its area.
static void steps_end_before_triangles_invert(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  const int32_t node[4] = {0, 1, 2, NOLI_NULL_INDEX};
  const double X[9] = {0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0};
  const double p[9] = {0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.5, -2.0, 0.0};
  NoliTets tets;
  ASSERT_OK(noli_tets_create(context, 1, node, X, &tets));
  int32_t blocking;
  double alpha = noli_tets_inversion_bound(&tets, X, p, 0.1, false, 1, &blocking);
  assert_int_equal(blocking, 0);
  ASSERT_NEAR(alpha, 0.45, 1e-5);
  assert_int_equal(noli_tets_first_inverted(&tets, X, 1), NOLI_NULL_INDEX);
  const double flat[9] = {0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 2.0, 0.0, 0.0};
  assert_int_equal(noli_tets_first_inverted(&tets, flat, 1), 0);
  assert_int_equal(noli_audit_inverted(flat, node, 1, NULL), 1);
  assert_int_equal(noli_audit_inverted(X, node, 1, NULL), 0);
  noli_tets_destroy(context, &tets);
  test_context_done(&context);
}

// x -> A x of a prescribed boundary. The interior of a mesh of any shape follows: the patch test.
static void stretch_boundary(void* user, double t0, double t1, int32_t n, const int32_t* node,
                             const double* X, const double* x_t0, double* x_t1) {
  (void)t0;
  (void)node;
  (void)x_t0;
  const double* A = user;
  for (int32_t i = 0; i < n; i++) {
    double s = fmin(t1, 1.0);
    x_t1[3 * i] = X[3 * i] + s * (A[0] * X[3 * i] + A[1] * X[3 * i + 1]);
    x_t1[3 * i + 1] = X[3 * i + 1] + s * (A[2] * X[3 * i] + A[3] * X[3 * i + 1]);
    x_t1[3 * i + 2] = 5.0; // bodies stay in their plane regardless of their motions
  }
}

static void homogeneous_strain_is_reproduced(void** state) {
  (void)state;

  // a disk with a random interior
  World world = world_new(1);
  NoliMesh* mesh = NULL;
  ASSERT_OK(noli_mesh_make_disk(world.context, 1.0, 8, &mesh));
  int32_t body = world_add(&world, mesh, (double[]){0.0, 0.0, 0.0});
  world.body[body].plane_strain = 0.3;
  TestRandom random = {5};

  // its boundary
  int32_t boundary[64], n = 0;
  for (int32_t v = 0; v < mesh->n_vert; v++) {
    double* x = mesh->x + 3 * v;
    if (hypot(x[0], x[1]) > 0.999) {
      boundary[n++] = v;
    } else {
      x[0] += test_random(&random, -0.03, 0.03);
      x[1] += test_random(&random, -0.03, 0.03);
    }
  }

  // stretch it
  double A[4] = {0.1, 0.15, -0.05, -0.2};
  NoliMotionDef* motion = world_add_motion(&world, body, stretch_boundary, A);
  motion->node = boundary;
  motion->n_node = n;
  world.def.integrator = "quasi_static";
  world.def.time_step = 0.5;
  world.def.gravity[1] = 0.0;
  world.def.tolerance = (NoliScaled){1e-10, false};
  world_start(&world);
  world_step(&world);
  world_step(&world);

  // the strain is homogeneous
  const double* x = noli_sim_positions(world.sim);
  for (int32_t v = 0; v < mesh->n_vert; v++) {
    const double* X = mesh->x + 3 * v;
    ASSERT_NEAR(x[3 * v], X[0] + A[0] * X[0] + A[1] * X[1], 1e-8);
    ASSERT_NEAR(x[3 * v + 1], X[1] + A[2] * X[0] + A[3] * X[1], 1e-8);
  }
  assert_flat(&world);
  world_done(&world);
}

// A slab whose lower edge is held in y, pulled up by a small stretch, free at the sides: the force
// is the stretch times the modulus E / (1 - nu^2) of plane strain, thickness and width.
static void pull_up(void* user, double t0, double t1, int32_t n, const int32_t* node,
                    const double* X, const double* x_t0, double* x_t1) {
  (void)t0;
  (void)node;
  (void)x_t0;
  for (int32_t i = 0; i < n; i++) {
    x_t1[3 * i + 1] = X[3 * i + 1] + (X[3 * i + 1] > 0.0 ? *(double*)user * t1 : 0.0);
  }
}

static void slabs_have_the_modulus_of_plane_strain(void** state) {
  (void)state;

  // each Poisson's ratio
  static const double poisson[3] = {0.0, 0.3, 0.45};
  for (int k = 0; k < 3; k++) {
    World world = world_new(1);
    int32_t body = add_rectangle(&world, 2.0, 1.0, 8, 4, 0.0, 0.0), ends[64], n = 0;
    world.body[body].plane_strain = 0.4;
    world.body[body].material.young = 2e5;
    world.body[body].material.poisson = poisson[k];
    const NoliMesh* mesh = world.mesh[body];
    for (int32_t v = 0; v < mesh->n_vert; v++) {
      if (fabs(mesh->x[3 * v + 1]) > 0.499) {
        ends[n++] = v;
      }
    }
    double stretch = 1e-4;
    NoliMotionDef* motion = world_add_motion(&world, body, pull_up, &stretch);
    motion->node = ends;
    motion->n_node = n;
    motion->free_axis[0] = motion->free_axis[2] = true;
    int32_t corner = 0;
    NoliMotionDef* hold = world_add_motion(&world, body, NULL, NULL);
    hold->node = &corner;
    hold->n_node = 1;
    world.def.integrator = "quasi_static";
    world.def.time_step = 1.0;
    world.def.gravity[1] = 0.0;
    world.def.tolerance = (NoliScaled){1e-12, false};
    world_start(&world);
    world_step(&world);
    double energy = world.report.elastic;
    double modulus = 2e5 / (1.0 - poisson[k] * poisson[k]);
    print_message("nu %.2f: stiffness over that of plane strain %.6f\n", poisson[k],
                  energy / (0.5 * modulus * stretch * stretch * 2.0 * 0.4));
    ASSERT_NEAR(energy, 0.5 * modulus * stretch * stretch * 2.0 * 0.4, 1e-3 * energy);
    world_done(&world);
  }
}

static void free_fall_is_exact(void** state) {
  (void)state;

  // a disk
  World world = world_new(2);
  NoliMesh* mesh = NULL;
  ASSERT_OK(noli_mesh_make_disk(world.context, 0.5, 6, &mesh));
  int32_t body = world_add(&world, mesh, (double[]){0.3, 1.0, 2.0});
  world.body[body].plane_strain = 0.2;
  world.body[body].velocity[0] = 1.0;
  world_start(&world);

  // area and mass
  double area = 0.0, mass = 0.0, start[3], end[3];
  for (int32_t t = 0; t < mesh->n_tri; t++) {
    const int32_t* v = mesh->tri + 3 * t;
    NoliVec3 a = noli_load3(mesh->x + 3 * v[0]);
    area += 0.5 * noli_norm3(noli_cross3(noli_sub3(noli_load3(mesh->x + 3 * v[1]), a),
                                         noli_sub3(noli_load3(mesh->x + 3 * v[2]), a)));
  }
  for (int32_t v = 0; v < mesh->n_vert; v++) {
    mass += noli_sim_masses(world.sim)[v];
  }
  ASSERT_NEAR(mass, 1000.0 * 0.2 * area, 1e-9);

  // fall
  world_centre(&world, body, start);
  for (int k = 0; k < 20; k++) {
    world_step(&world);
  }
  world_centre(&world, body, end);
  // backward Euler: g h^2 n (n + 1) / 2
  ASSERT_NEAR(end[0] - start[0], 0.2, 1e-9);
  ASSERT_NEAR(end[1] - start[1], -9.80665 * 1e-4 * 210.0, 1e-9);
  assert_flat(&world);
  world_done(&world);
}

// ---- contact ------------------------------------------------------------------------------------

// A block on a slope under friction: it slides with g (sin - mu cos), or stays.
static void blocks_slide_as_coulomb_says(void** state) {
  (void)state;

  // methods
  static const struct {
    const char *solver, *friction, *contact;
    bool on_slab; // instead of a half-space
  } method[] = {{"projected_newton", "lagged", "ipc", false},
                {"augmented_lagrangian", "lagged", "ipc", false},
                {"implicit_newton", "implicit", "ipc", false},
                {"projected_newton", "lagged", "gcp", false},
                {"implicit_newton", "implicit", "gcp", false},
                {"projected_newton", "lagged", "gcp", true},
                {"implicit_newton", "implicit", "gcp", true}};
  double slope = 0.3;

  // slide or stay
  for (size_t k = 0; k < 2 * sizeof method / sizeof *method; k++) {
    bool slides = k % 2 == 0;
    World world = world_new(1);
    int32_t body = add_rectangle(&world, 0.4, 0.2, 4, 2, 0.0, 0.1011);
    world.body[body].material.young = 1e7;
    if (method[k / 2].on_slab) {
      int32_t slab = add_rectangle(&world, 2.0, 0.1, 9, 1, 0.4, -0.05);
      world.body[slab].obstacle = true;
    } else {
      world_add_plane(&world, (double[]){0, 0, 0}, (double[]){0, 1, 0});
    }
    world.def.gravity[0] = 9.80665 * sin(slope);
    world.def.gravity[1] = -9.80665 * cos(slope);
    world.def.friction = slides ? 0.2 : 0.5;
    world.def.friction_speed = (NoliScaled){1e-4, false};
    world.def.contact_distance = (NoliScaled){1e-3, false};
    world.def.solver = method[k / 2].solver;
    world.def.friction_method = method[k / 2].friction;
    world.def.contact_model = method[k / 2].contact;
    world_start(&world);
    double momentum[2], mass = 1000.0 * 0.4 * 0.2;
    for (int half = 0; half < 2; half++) {
      for (int i = 0; i < 50; i++) {
        world_step(&world);
      }
      momentum[half] = world.report.momentum[0];
    }
    double acceleration = (momentum[1] - momentum[0]) / (0.5 * mass);
    double want = slides ? 9.80665 * (sin(slope) - 0.2 * cos(slope)) : 0.0;
    print_message("%s, %s, %s%s, mu %.1f: %.5f m/s^2, want %.5f; speed %.1e m/s\n",
                  world.def.solver, world.def.friction_method, world.def.contact_model,
                  method[k / 2].on_slab ? " on a slab" : "", world.def.friction, acceleration, want,
                  momentum[1] / mass);
    ASSERT_NEAR(acceleration, want, 5e-3);
    assert_true(slides || momentum[1] / mass < 1e-4);
    assert_flat(&world);
    world_done(&world);
  }
}

// A square turned by 45 degrees falls corner first on another one, a little off: vertices meet
// vertices, then slide past each other. Every step is audited.
static void corners_meet_and_slide_past(void** state) {
  (void)state;

  // each solver
  static const char* solver[3] = {"projected_newton", "augmented_lagrangian", "projected_newton"};
  for (int k = 0; k < 3; k++) {
    World world = world_new(2);
    // off by more than friction holds: by 0.1 of the distance at which corners bear, which is
    // 1e-3 m with "gcp"
    double off = k == 2 ? 5e-4 : 1e-4;
    for (int b = 0; b < 2; b++) {
      NoliMesh* mesh = NULL;
      ASSERT_OK(noli_mesh_make_rectangle(world.context, 0.5, 0.5, 3, 3, &mesh));
      noli_mesh_transform(mesh, (double[]){1, 1, 1}, (double[]){0, 0, 45}, (double[]){0, 0, 0});
      int32_t body = world_add(&world, mesh, (double[]){b == 0 ? 0.0 : off, 0.36 + 0.71 * b, 0});
      world.body[body].plane_strain = 1.0;
    }
    world_add_plane(&world, (double[]){0, 0, 0}, (double[]){0, 1, 0});
    world.def.solver = solver[k];
    world.def.friction = 0.1;
    if (k == 2) {
      // the support is 0.1 m, far more than the barrier could have between neighbours
      world.def.contact_model = "gcp";
      world.def.gcp.eps_target = (NoliScaled){0.1, false};
    }
    world_start(&world);
    double least = (double)INFINITY;
    for (int i = 0; i < 100; i++) {
      world_step(&world);
      least = noli_smaller(least, world.report.min_distance);
    }
    double upper[3], lower[3];
    world_centre(&world, 0, lower);
    world_centre(&world, 1, upper);
    print_message("%s, %s: smallest distance %.2e m; after 1 s at (%.2f, %.2f) and (%.2f, %.2f)\n",
                  solver[k], world.def.contact_model, least, lower[0], lower[1], upper[0],
                  upper[1]);
    assert_true(least > 0.0 && least < (k == 2 ? 0.1 : 1e-2));
    assert_true(upper[1] < 0.8 && hypot(upper[0] - lower[0], upper[1] - lower[1]) > 0.4);
    assert_flat(&world);
    world_done(&world);
  }
}

// A disk between a fixed rectangle, a segment and a half-space, with every integrator.
static void every_integrator_runs(void** state) {
  (void)state;

  // each integrator
  static const char* integrator[5] = {"backward_euler", "bdf2", "trapezoidal", "sdirk2", "tr_bdf2"};
  for (int k = 0; k < 5; k++) {
    World world = world_new(1);
    NoliMesh *disk = NULL, *segment = NULL;
    ASSERT_OK(noli_mesh_make_disk(world.context, 0.2, 6, &disk));
    ASSERT_OK(noli_mesh_create(world.context, 2, 0, 0, 1, 0, false, &segment));
    memcpy(segment->x, (double[]){-1.0, 0.3, 0.0, 0.3, -0.3, 0.0}, 6 * sizeof(double));
    segment->edge[0] = 0;
    segment->edge[1] = 1;
    int32_t body = world_add(&world, disk, (double[]){0.0, 0.4, 0.0});
    world.body[body].plane_strain = 1.0;
    world.body[body].material.damping = 1e-3;
    world_add_obstacle(&world, segment, (double[]){0, 0, 0});
    int32_t step = add_rectangle(&world, 0.5, 0.2, 2, 1, 0.6, -0.1);
    world.body[step].obstacle = true;
    world_add_plane(&world, (double[]){0, -0.25, 0}, (double[]){0, 1, 0});
    world.def.friction = 0.3;
    world.def.integrator = integrator[k];
    world_start(&world);
    bool touched = false;
    for (int i = 0; i < 60; i++) {
      world_step(&world);
      touched = touched || world.report.contacts > 0;
    }
    assert_true(touched);
    assert_flat(&world);
    world_done(&world);
  }
}

// The audit detects a state that the solver never accepts: edges that cross or touch in the plane.
static void crossing_edges_are_found(void** state) {
  (void)state;
  static const double at[4] = {0.3, 0.9999, 1.0, 1.0001};
  for (int k = 0; k < 4; k++) {
    World world = world_new(1);
    add_rectangle(&world, 1.0, 1.0, 2, 2, 0.0, 0.0);
    add_rectangle(&world, 1.0, 1.0, 2, 2, at[k], 0.13);
    NoliStatus status = world_create(&world);
    if (at[k] <= 1.0) {
      assert_int_equal(status, NOLI_ERROR_INTERSECTION);
    } else {
      assert_int_equal(status, NOLI_OK);
    }
    world_done(&world);
  }
}

static void what_leaves_the_plane_is_refused(void** state) {
  (void)state;

  // one violation at a time
  for (int k = 0; k < 8; k++) {
    static const char* text[8] = {"must lie in the plane",
                                  "thickness",
                                  "moves in x and y",
                                  "points out of",
                                  "volumes",
                                  "mesh of triangles",
                                  "single points",
                                  "is not in plane strain, but others are"};
    World world = world_new(1);
    int32_t body = add_rectangle(&world, 1.0, 1.0, 2, 2, 0.0, 0.0);
    NoliVolumeDef volume = noli_default_volume_def();
    NoliMesh* mesh = NULL;
    if (k == 0) {
      world.mesh[body]->x[5] += 1e-3;
    } else if (k == 1) {
      world.body[body].plane_strain = -1.0;
    } else if (k == 2) {
      world.body[body].angular_velocity[0] = 1.0;
    } else if (k == 3) {
      world_add_plane(&world, (double[]){0, -5, 0}, (double[]){0, 1, 1});
    } else if (k == 4) {
      world.def.volumes = &volume;
      world.def.n_volumes = 1;
    } else if (k == 5 || k == 7) {
      ASSERT_OK(noli_mesh_make_box(world.context, (double[]){1, 1, 1}, (int32_t[]){1, 1, 1}, false,
                                   &mesh));
      int32_t box = world_add(&world, mesh, (double[]){3, 0, 0});
      world.body[box].plane_strain = k == 5 ? 1.0 : 0.0;
      world.def.contact_model = k == 5 ? "ipc" : "gcp";
    } else {
      ASSERT_OK(noli_mesh_create(world.context, 1, 0, 0, 0, 1, false, &mesh));
      memcpy(mesh->x, (double[]){4.0, 0.0, 0.0}, 3 * sizeof(double));
      mesh->point[0] = 0;
      world_add_obstacle(&world, mesh, (double[]){0, 0, 0});
    }
    ASSERT_STATUS(world_create(&world), NOLI_ERROR_ARGUMENT);
    if (strstr(noli_context_message(world.context), text[k]) == NULL) {
      fail_msg("%s", noli_context_message(world.context));
    }
    world_done(&world);
  }
}

// Rods and free points move in space: the message names the alternative.
static void rods_and_points_are_refused(void** state) {
  (void)state;
  for (int k = 0; k < 2; k++) {
    World world = world_new(1);
    NoliMesh *sheet = NULL, *thin = NULL;
    ASSERT_OK(noli_mesh_make_rectangle(world.context, 1.0, 0.2, 4, 1, &sheet));
    int32_t body = world_add(&world, sheet, (double[]){0, 0, 0});
    world.body[body].plane_strain = 1.0;
    ASSERT_OK(noli_mesh_create(world.context, 2, 0, 0, 1 - k, 2 * k, false, &thin));
    for (int32_t i = 0; i < 2; i++) {
      const double x[3] = {0.1 * i, 0.5, 0.0};
      memcpy(thin->x + 3 * i, x, sizeof x);
      *(k == 0 ? &thin->edge[i] : &thin->point[i]) = i;
    }
    body = world_add(&world, thin, (double[]){0, 0, 0});
    *(k == 0 ? &world.body[body].rod.radius : &world.body[body].point.radius) = 0.01;
    world_expect_refusal(&world, "make it a thin strip of triangles in plane strain");
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(derivatives_of_every_law_agree),
      cmocka_unit_test(steps_end_before_triangles_invert),
      cmocka_unit_test(homogeneous_strain_is_reproduced),
      cmocka_unit_test(slabs_have_the_modulus_of_plane_strain),
      cmocka_unit_test(free_fall_is_exact),
      cmocka_unit_test(blocks_slide_as_coulomb_says),
      cmocka_unit_test(corners_meet_and_slide_past),
      cmocka_unit_test(every_integrator_runs),
      cmocka_unit_test(crossing_edges_are_found),
      cmocka_unit_test(what_leaves_the_plane_is_refused),
      cmocka_unit_test(rods_and_points_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
