// Thin bodies in the simulator: closed forms of stretching, bending and inflation, the limit of
// stretch, contact of open surfaces from both sides, seams, and rejected input.
#include "world.h"

static NoliMesh* mesh_of(const World* world, int32_t n_vert, const double* x, int32_t n_tri,
                         const int32_t* tri) {
  NoliMesh* mesh = NULL;
  ASSERT_OK(noli_mesh_create(world->context, n_vert, 0, n_tri, 0, 0, false, &mesh));
  memcpy(mesh->x, x, 3 * sizeof *x * (size_t)n_vert);
  memcpy(mesh->tri, tri, 3 * sizeof *tri * (size_t)n_tri);
  return mesh;
}

// A strip along x in the xz plane of `columns` columns of equilateral triangles of side a: edges
// across the strip at every column, `rows` of them.
static NoliMesh* make_strip(const World* world, int32_t columns, int32_t rows, double a) {
  int32_t n_vert = (columns + 1) * (rows + 1), n_tri = 2 * columns * rows;
  NoliMesh* mesh = NULL;
  ASSERT_OK(noli_mesh_create(world->context, n_vert, 0, n_tri, 0, 0, false, &mesh));
  for (int32_t c = 0; c <= columns; c++) {
    for (int32_t r = 0; r <= rows; r++) {
      double* x = mesh->x + 3 * (c * (rows + 1) + r);
      x[0] = sqrt(0.75) * a * c;
      x[1] = 0.0;
      x[2] = a * (r + 0.5 * (c % 2));
    }
  }
  int32_t* tri = mesh->tri;
  for (int32_t c = 0; c < columns; c++) {
    for (int32_t r = 0; r < rows; r++, tri += 6) {
      int32_t v = c * (rows + 1) + r, w = v + rows + 1;
      const int32_t even[6] = {v, v + 1, w, v + 1, w + 1, w},
                    odd[6] = {v, w + 1, w, v, v + 1, w + 1};
      memcpy(tri, c % 2 == 0 ? even : odd, sizeof even);
    }
  }
  return mesh;
}

static int32_t make_shell(World* world, NoliMesh* mesh, double young, double poisson,
                          double thickness) {
  int32_t body = world_add(world, mesh, (double[]){0, 0, 0});
  world->body[body].shell.thickness = thickness;
  world->body[body].material.law = "stvk";
  world->body[body].material.young = young;
  world->body[body].material.poisson = poisson;
  return body;
}

// Vertices whose coordinate is at most `most`.
static int32_t vertices_below(const NoliMesh* mesh, int axis, double most, int32_t* node) {
  int32_t n = 0;
  for (int32_t i = 0; i < mesh->n_vert; i++) {
    if (mesh->x[3 * i + axis] <= most) {
      node[n++] = i;
    }
  }
  return n;
}

// ---- stretching ---------------------------------------------------------------------------------

// A hanging strip elongates by rho g L^2 / (2 E) with any law; along weft by that over the ratio of
// the stiffnesses. `ratio` 0: isotropic.
static double hang(const char* law, double weft, bool along_weft, const char* solver) {
  World world = world_new(1);
  NoliMesh* mesh = NULL;
  int32_t top[16];
  ASSERT_OK(noli_mesh_make_rectangle(world.context, 0.1, 1.0, 2, 20, &mesh));
  int32_t strip = make_shell(&world, mesh, 1e7, 0.0, 1e-3);
  world.body[strip].shell.woven = law == NULL;
  world.body[strip].material.law = law != NULL ? law : "neo_hookean";
  world.body[strip].shell.weft = weft;
  world.body[strip].shell.warp[along_weft ? 0 : 1] = 1.0;
  for (int32_t i = 0; i < mesh->n_vert; i++) {
    mesh->x[3 * i + 1] *= -1.0; // held where y is least: it hangs upside down
  }
  NoliMotionDef* held = world_add_motion(&world, strip, NULL, NULL);
  held->node = top;
  // the second row is held too: a single edge would be a hinge
  held->n_node = vertices_below(mesh, 1, -0.45 + 1e-9, top);
  world.def.integrator = "quasi_static";
  world.def.solver = solver;
  world.def.gravity[1] = 9.80665;
  world_start(&world);
  world_step(&world);
  const double* x = noli_sim_positions(world.sim);
  double highest = -1.0;
  for (int32_t i = 0; i < mesh->n_vert; i++) {
    highest = noli_larger(highest, x[3 * i + 1]);
  }
  world_done(&world);
  return (highest - 0.5) / (1000.0 * 9.80665 * 0.95 * 0.95 / (2.0 * 1e7));
}

static void hanging_strips_get_longer(void** state) {
  (void)state;
  ASSERT_NEAR(hang("stvk", 1.0, false, "projected_newton"), 1.0, 0.005);
  ASSERT_NEAR(hang("neo_hookean", 1.0, false, "projected_newton"), 1.0, 0.005);
  ASSERT_NEAR(hang("stvk", 1.0, false, "augmented_lagrangian"), 1.0, 0.005);
  ASSERT_NEAR(hang(NULL, 0.25, false, "projected_newton"), 1.0, 0.005);
  ASSERT_NEAR(hang(NULL, 0.25, true, "projected_newton"), 4.0, 0.02);
}

// A strip under ten times its limit of weight stays below it, and with its barrier in equilibrium.
static void limits_hold(void** state) {
  (void)state;
  double longest[2];
  for (int k = 0; k < 2; k++) {
    World world = world_new(1);
    NoliMesh* mesh = make_strip(&world, 20, 3, 0.05);
    int32_t held[16], strip = make_shell(&world, mesh, 1e5, 0.3, 1e-3);
    world.body[strip].shell.limit = k == 0 ? 0.0 : 1.02;
    NoliMotionDef* motion = world_add_motion(&world, strip, NULL, NULL);
    motion->node = held;
    motion->n_node = vertices_below(mesh, 0, 0.05, held);
    world.def.gravity[0] = 9.80665;
    world.def.gravity[1] = 0.0;
    world.def.integrator = "quasi_static";
    world_start(&world);
    world_step(&world);
    const double *x = noli_sim_positions(world.sim), *X = mesh->x;
    longest[k] = 0.0;
    for (int32_t t = 0; t < mesh->n_tri; t++) {
      for (int i = 0; i < 3; i++) {
        int32_t a = mesh->tri[3 * t + i], b = mesh->tri[3 * t + (i + 1) % 3];
        double now = 0.0, rest = 0.0;
        for (int c = 0; c < 3; c++) {
          now += (x[3 * a + c] - x[3 * b + c]) * (x[3 * a + c] - x[3 * b + c]);
          rest += (X[3 * a + c] - X[3 * b + c]) * (X[3 * a + c] - X[3 * b + c]);
        }
        longest[k] = noli_larger(longest[k], sqrt(now / rest));
      }
    }
    world_done(&world);
  }
  print_message("longest edge %.4f of its rest length, %.4f with a limit of 1.02\n", longest[0],
                longest[1]);
  assert_true(longest[0] > 1.05);
  assert_true(longest[1] > 1.01 && longest[1] < 1.02);
}

// A soft sheet that is held at an edge falls into its limit, whose barrier has to stop it: 315
// Newton iterations, 1542 with a logarithmic barrier.
static void limits_bear_falls(void** state) {
  (void)state;
  World world = world_new(1);
  NoliMesh* mesh = NULL;
  int32_t held[16];
  int64_t iterations = 0;
  ASSERT_OK(noli_mesh_make_plane(world.context, 1.0, 1.0, 8, 8, &mesh));
  int32_t sheet = make_shell(&world, mesh, 1e3, 0.3, 1e-3);
  world.body[sheet].material.law = "neo_hookean";
  world.body[sheet].material.density = 300.0;
  world.body[sheet].shell.limit = 1.1;
  NoliMotionDef* motion = world_add_motion(&world, sheet, NULL, NULL);
  motion->node = held;
  motion->n_node = vertices_below(mesh, 0, -0.5 + 1e-9, held);
  world.def.gravity[1] = -50.0;
  world.def.time_step = 0.02;
  world_start(&world);
  for (int step = 0; step < 40; step++) {
    world_step(&world);
    iterations += world.report.newton_iterations;
  }
  print_message("%lld Newton iterations\n", (long long)iterations);
  assert_true(iterations < 500);
  world_done(&world);
}

// Moves with 0.4 m/s across the sheet, in z.
static void lift(void* user, double t0, double t1, int32_t n, const int32_t* node, const double* X,
                 const double* x_t0, double* x_t1) {
  (void)user, (void)node, (void)X;
  for (int32_t i = 0; i < n; i++) {
    x_t1[3 * i] = x_t0[3 * i];
    x_t1[3 * i + 1] = x_t0[3 * i + 1];
    x_t1[3 * i + 2] = x_t0[3 * i + 2] + 0.4 * (t1 - t0);
  }
}

// A sheet whose one half is held while the edge of the other is moved beyond what its limit allows:
// the motion stops there, with the triangle, and the load steps after it are solved. Triangles are
// up to 1e17 times as stiff as others then.
static void motions_stop_at_the_limit(void** state) {
  (void)state;
  World world = world_new(1);
  NoliMesh* mesh = NULL;
  int32_t held[16], moved[16], n_moved = 0;
  ASSERT_OK(noli_mesh_make_sheet(world.context, 1.0, 1.0, 3, 3, "symmetric", &mesh));
  int32_t sheet = make_shell(&world, mesh, 500.0, 0.29, 1e-4);
  world.body[sheet].shell.limit = 1.5;
  NoliMotionDef* motion = world_add_motion(&world, sheet, NULL, NULL);
  motion->node = held;
  motion->n_node = vertices_below(mesh, 0, 0.0, held);
  motion = world_add_motion(&world, sheet, lift, NULL);
  for (int32_t i = 0; i < mesh->n_vert; i++) {
    if (mesh->x[3 * i] > 0.5 - 1e-9) {
      moved[n_moved++] = i;
    }
  }
  motion->node = moved;
  motion->n_node = n_moved;
  world.def.gravity[1] = 0.0;
  world.def.integrator = "quasi_static";
  world.def.time_step = 0.18;
  world_start(&world);
  bool named = false;
  for (int step = 0; step < 15; step++) {
    world_step(&world);
    named = named || (world.report.motion_done < 1.0 &&
                      strstr(world.report.blocked_by, "reach its limit of stretch (tri") != NULL);
  }
  assert_true(named);
  world_done(&world);
}

// ---- bending ------------------------------------------------------------------------------------

// The elastica under its own weight: D theta'' = -w (L - s) cos theta, clamped at s = 0, free at L,
// in units of L, with beta = w L^3 / D. Shooting with the curvature at the clamp. `tip` (2).
static double end_curvature(double beta, double curvature, double tip[2]) {
  enum { N = 4000 };
  double h = 1.0 / N, theta = 0.0, kappa = curvature;
  tip[0] = tip[1] = 0.0;
  for (int i = 0; i < N; i++) {
    double s = i * h, middle = s + 0.5 * h;
    // midpoint rule
    double theta_mid = theta + 0.5 * h * kappa;
    double kappa_mid = kappa - 0.5 * h * beta * (1.0 - s) * cos(theta);
    tip[0] += h * cos(theta_mid);
    tip[1] += h * sin(theta_mid);
    kappa -= h * beta * (1.0 - middle) * cos(theta_mid);
    theta += h * kappa_mid;
  }
  return kappa;
}

static void elastica(double beta, double tip[2]) {
  double low = 0.0, high = beta;
  for (int i = 0; i < 80; i++) {
    double middle = 0.5 * (low + high);
    *(end_curvature(beta, middle, tip) < 0.0 ? &low : &high) = middle;
  }
}

// The tip of a clamped strip of four rows of triangles, in units of its length.
static void bend(double beta, double tip[2]) {
  enum { COLUMNS = 32, ROWS = 4 };
  World world = world_new(1);
  double a = 0.03, spacing = sqrt(0.75) * a, thickness = 3e-3;
  NoliMesh* mesh = make_strip(&world, COLUMNS, ROWS, a);
  // clamped at the middle of the first columns: the hinges at the second one represent half a
  // spacing on each side
  double length = (COLUMNS - 0.5) * spacing, weight = 1000.0 * 9.80665 * thickness;
  double plate = weight * length * length * length / beta;
  double young = 12.0 * plate / (thickness * thickness * thickness);
  int32_t held[32], strip = make_shell(&world, mesh, young, 0.0, thickness);
  NoliMotionDef* motion = world_add_motion(&world, strip, NULL, NULL);
  motion->node = held;
  motion->n_node = vertices_below(mesh, 0, spacing + 1e-9, held);
  world.def.integrator = "quasi_static";
  world.def.tolerance = (NoliScaled){1e-5, true};
  world_start(&world);
  world_step(&world);
  const double* x = noli_sim_positions(world.sim) + 3 * (COLUMNS * (ROWS + 1) + ROWS / 2);
  tip[0] = (x[0] - 0.5 * spacing) / length;
  tip[1] = -x[1] / length;
  world_done(&world);
}

// A narrow strip bends as a beam of some stiffness. Hinges have no Poisson's ratio: they resist
// curvatures k, l across each other by k^2 - 2/3 k l + l^2, so that a strip that is free to curve
// across its length has 8/9 of the stiffness of a plate, and less at jagged sides. If it is bent
// far, its width keeps it from curving across, and the stiffness is that of a plate.
static void cantilevers_are_elasticas(void** state) {
  (void)state;
  double small[2], low = 0.1, high = 2.0, tip[2], want[2];
  bend(0.5, small);
  for (int i = 0; i < 60; i++) {
    double middle = 0.5 * (low + high);
    elastica(middle, want);
    *(want[1] < small[1] ? &low : &high) = middle;
  }
  double share = 0.5 / low;
  print_message("stiffness %.4f of a plate\n", share);
  ASSERT_NEAR(share, 8.0 / 9.0, 0.03);
  const double betas[] = {3.0, 10.0, 40.0};
  for (size_t k = 0; k < sizeof betas / sizeof *betas; k++) {
    // between the two
    double plate[2];
    bend(betas[k], tip);
    elastica(betas[k], plate);
    elastica(betas[k] / share, want);
    print_message("beta %g: tip %.4f %.4f, elastica %.4f %.4f to %.4f %.4f\n", betas[k], tip[0],
                  tip[1], plate[0], plate[1], want[0], want[1]);
    ASSERT_NEAR(tip[0], 0.5 * (plate[0] + want[0]), 0.5 * fabs(plate[0] - want[0]) + 0.003);
    ASSERT_NEAR(tip[1], 0.5 * (plate[1] + want[1]), 0.5 * fabs(plate[1] - want[1]) + 0.003);
  }
}

// The tip of a plate of unit length without a Poisson's ratio, on a mesh with one diagonal. A clamp
// needs held nodes on both sides of an edge: three columns close to each other, behind x = 0.
static void bend_plate(double beta, double tip[2]) {
  enum { COLUMNS = 26, ROWS = 3, HELD = 3 };
  World world = world_new(1);
  double thickness = 3e-3, gap = 1e-3, weight = 1000.0 * 9.80665 * thickness;
  double young = 12.0 * weight / beta / (thickness * thickness * thickness);
  NoliMesh* mesh = make_strip(&world, COLUMNS, ROWS, 0.05);
  for (int32_t c = 0; c <= COLUMNS; c++) {
    for (int32_t r = 0; r <= ROWS; r++) {
      double* x = mesh->x + 3 * (c * (ROWS + 1) + r);
      x[0] = c < HELD ? (c - HELD + 1) * gap : (double)(c - HELD + 1) / (COLUMNS - HELD + 1);
      x[2] = 0.05 * r; // without jagged sides
    }
  }
  int32_t held[32], strip = make_shell(&world, mesh, young, 0.0, thickness);
  world.body[strip].shell.bending_law = "plate";
  NoliMotionDef* motion = world_add_motion(&world, strip, NULL, NULL);
  motion->node = held;
  motion->n_node = vertices_below(mesh, 0, 1e-9, held);
  world.def.integrator = "quasi_static";
  world.def.tolerance = (NoliScaled){1e-5, true};
  world_start(&world);
  world_step(&world);
  const double* x = noli_sim_positions(world.sim) + 3 * (COLUMNS * (ROWS + 1) + ROWS / 2);
  tip[0] = x[0];
  tip[1] = -x[1];
  print_message("%d Newton iterations, ", (int)world.report.newton_iterations);
  world_done(&world);
}

// Newton iterations of one load step that bends a flat strip, 100 times as long as thick, to an
// elastica of weight 10.
static int32_t iterations_from_flat(const char* law) {
  enum { COLUMNS = 24, ROWS = 3 };
  World world = world_new(1);
  NoliMesh* mesh = make_strip(&world, COLUMNS, ROWS, 0.05);
  double length = 0.05 * sqrt(0.75) * COLUMNS, thickness = 0.01 * length;
  double plate = 1000.0 * 9.80665 * thickness * length * length * length / 10.0;
  int32_t held[2 * (ROWS + 1)];
  int32_t strip = make_shell(&world, mesh, 12.0 * plate / pow(thickness, 3.0), 0.0, thickness);
  world.body[strip].shell.bending_law = law;
  NoliMotionDef* motion = world_add_motion(&world, strip, NULL, NULL);
  motion->node = held;
  motion->n_node = vertices_below(mesh, 0, 0.05, held);
  world.def.integrator = "quasi_static";
  world.def.tolerance = (NoliScaled){1e-5, true};
  world_start(&world);
  world_step(&world);
  int32_t iterations = world.report.newton_iterations;
  world_done(&world);
  return iterations;
}

// Hinges converge as plates do.
static void flat_starts_are_fast_with_either_law(void** state) {
  (void)state;
  int32_t plate = iterations_from_flat("plate"), hinges = iterations_from_flat("hinges");
  print_message("%d Newton iterations with plates, %d with hinges\n", (int)plate, (int)hinges);
  assert_true(plate < 16 && hinges < 24);
}

// A flat sheet of steel, a thousandth as thick as long, is released on one side: its steps turn
// it, which would stretch it. Some steps must go through stretched shapes, none may end in one.
static void stiff_sheets_start_fast(void** state) {
  (void)state;
  enum { COLUMNS = 20, ROWS = 10, STEPS = 12 };
  World world = world_new(1);
  NoliMesh* mesh = make_strip(&world, COLUMNS, ROWS, 0.05);
  int32_t held[2 * (ROWS + 1)], strip = make_shell(&world, mesh, 2e11, 0.3, 0.001);
  world.body[strip].shell.bending_law = "plate";
  NoliMotionDef* motion = world_add_motion(&world, strip, NULL, NULL);
  motion->node = held;
  motion->n_node = vertices_below(mesh, 0, 1e-9, held);
  world.def.time_step = 0.02;
  world_start(&world);
  int detours = 0, iterations = 0;
  for (int n = 0; n < STEPS; n++) {
    double change = 0.0;
    world_step(&world);
    iterations += world.report.newton_iterations;
    for (int32_t i = 0; i < world.report.newton_iterations; i++) {
      change += world.report.newton[i].energy_change;
      detours += world.report.newton[i].energy_change > 0.0 ? 1 : 0;
    }
    assert_true(change <= 0.0);
  }
  print_message("%d Newton iterations, %d detours\n", iterations, detours);
  assert_true(detours > 0);
  assert_true(iterations < 6 * STEPS);
  world_done(&world);
}

// Plates are elasticas, for six values of the dimensionless weight.
static void plates_are_elasticas(void** state) {
  (void)state;
  const double betas[] = {0.5, 1.0, 3.0, 10.0, 40.0, 100.0};
  for (size_t k = 0; k < sizeof betas / sizeof *betas; k++) {
    double tip[2], want[2];
    bend_plate(betas[k], tip);
    elastica(betas[k], want);
    print_message("beta %g: tip %.4f %.4f, elastica %.4f %.4f\n", betas[k], tip[0], tip[1], want[0],
                  want[1]);
    ASSERT_NEAR(tip[0], want[0], 0.005);
    ASSERT_NEAR(tip[1], want[1], 0.005);
  }
}

// ---- closed shells ------------------------------------------------------------------------------

// A thin sphere under pressure p grows by p R^2 (1 - nu) / (2 E t).
static void balloons_grow(void** state) {
  (void)state;
  World world = world_new(1);
  NoliMesh *ball = NULL, *mesh = NULL;
  double young = 1e7, poisson = 0.3, thickness = 1e-3, pressure = 1000.0;
  ASSERT_OK(noli_mesh_make_sphere(world.context, 0.5, 10, false, &ball));
  ASSERT_OK(noli_mesh_extract(world.context, ball, "surface", &mesh));
  noli_mesh_destroy(world.context, &ball);
  make_shell(&world, mesh, young, poisson, thickness);
  NoliVolumeDef volume = noli_default_volume_def();
  volume.pressure = pressure;
  volume.compression = 1e-3; // soft: the pressure stays
  volume.model = "quadratic";
  world.def.volumes = &volume;
  world.def.n_volumes = 1;
  world.def.gravity[1] = 0.0;
  world.def.integrator = "backward_euler";
  world.def.time_step = 0.05;
  world_start(&world);
  for (int i = 0; i < 20; i++) {
    world_step(&world);
  }
  const NoliRegionVolume* regions;
  int32_t n;
  ASSERT_OK(noli_sim_volumes(world.sim, &regions, &n));
  assert_int_equal(n, 1);
  double strain = cbrt(regions[0].volume / regions[0].rest_volume) - 1.0;
  double want = regions[0].pressure * 0.5 * (1.0 - poisson) / (2.0 * young * thickness);
  print_message("strain %.5f, thin sphere %.5f at %.1f Pa\n", strain, want, regions[0].pressure);
  ASSERT_NEAR(strain / want, 1.0, 0.03);
  world_done(&world);
}

// ---- contact ------------------------------------------------------------------------------------

// A cloth falls onto a ball, with each solver, and rests on it: audited after every step. Bodies
// may be inside a closed shell.
static void cloths_drape(void** state) {
  (void)state;
  const char* solvers[] = {"projected_newton", "augmented_lagrangian", "implicit_newton"};
  for (int k = 0; k < 3; k++) {
    World world = world_new(1);
    NoliMesh *cloth = NULL, *ball = NULL;
    ASSERT_OK(noli_mesh_make_plane(world.context, 1.0, 1.0, 10, 10, &cloth));
    ASSERT_OK(noli_mesh_make_sphere(world.context, 0.25, 3, false, &ball));
    int32_t body = make_shell(&world, cloth, 1e5, 0.3, 1e-3);
    world_add_obstacle(&world, ball, (double[]){0, -0.27, 0});
    world.body[body].material.density = 300.0;
    world.def.solver = solvers[k];
    world.def.friction = 0.3;
    world.def.friction_method = k == 2 ? "implicit" : "lagged";
    world.def.time_step = 0.02;
    world_start(&world);
    for (int i = 0; i < 15; i++) {
      world_step(&world);
    }
    double centre[3];
    world_centre(&world, body, centre);
    // free fall would be at -0.44; what lies on the ball stays above
    print_message("%s: centre %.3f %.3f %.3f, %lld contacts\n", solvers[k], centre[0], centre[1],
                  centre[2], (long long)world.report.contacts);
    assert_true(centre[1] < -0.05 && centre[1] > -0.35);
    assert_true(world.report.contacts > 0);
    world_done(&world);
  }
}

static void shells_enclose_bodies(void** state) {
  (void)state;
  World world = world_new(1);
  NoliMesh *ball = NULL, *shell = NULL, *box = NULL;
  ASSERT_OK(noli_mesh_make_sphere(world.context, 0.5, 4, false, &ball));
  ASSERT_OK(noli_mesh_extract(world.context, ball, "surface", &shell));
  noli_mesh_destroy(world.context, &ball);
  ASSERT_OK(noli_mesh_make_box(world.context, (double[]){0.2, 0.2, 0.2}, (int32_t[]){1, 1, 1},
                               false, &box));
  make_shell(&world, shell, 1e6, 0.3, 1e-3);
  world_add(&world, box, (double[]){0, 0, 0});
  world_start(&world);
  world_step(&world);
  world_done(&world);
}

// Three sheets on one line, and one of them inverted: no force at rest, momentum conserved.
static void seams_and_turned_triangles(void** state) {
  (void)state;
  static const double X[18] = {0,   0,    0,   1,   0,    0,    0.5, 1, 0,
                               0.5, -0.5, 0.8, 0.5, -0.5, -0.8, 1.2, 1, 0.1};
  static const int32_t tri[12] = {0, 1, 2, 1, 0, 3, 1, 0, 4, 2, 1, 5};
  World world = world_new(1);
  NoliMesh* mesh = mesh_of(&world, 6, X, 4, tri);
  int32_t body = make_shell(&world, mesh, 1e6, 0.3, 0.01);
  world.def.gravity[1] = -10.0;
  world.def.time_step = 0.01;
  world.def.tolerance = (NoliScaled){1e-9, true};
  world_start(&world);
  for (int i = 0; i < 10; i++) {
    world_step(&world);
  }
  const double* x = noli_sim_positions(world.sim);
  double fallen = -10.0 * 0.01 * 0.01 * 55.0; // backward Euler
  for (int v = 0; v < 6; v++) {
    for (int c = 0; c < 3; c++) {
      ASSERT_NEAR(x[3 * v + c], X[3 * v + c] + (c == 1 ? fallen : 0.0), 1e-9);
    }
  }
  assert_int_equal(body, 0);
  world_done(&world);
}

// ---- refusals -----------------------------------------------------------------------------------

static World one_strip(void) {
  World world = world_new(1);
  make_shell(&world, make_strip(&world, 2, 2, 0.1), 1e6, 0.3, 1e-3);
  return world;
}

static void bad_shells_are_refused(void** state) {
  (void)state;
  World world = one_strip();
  world.body[0].shell.thickness = -1.0;
  world_expect_refusal(&world, "thickness of a shell must be > 0");
  world = one_strip();
  world.body[0].material.law = "fixed_corotated";
  world_expect_refusal(&world, "\"neo_hookean\" or \"stvk\"");
  world = one_strip();
  world.body[0].shell.limit = 0.9;
  world_expect_refusal(&world, "limit of stretch of a shell must be > 1");
  world = one_strip();
  world.body[0].shell.bending_law = "beam";
  world_expect_refusal(&world, "\"plate\" or \"hinges\"");
  world = one_strip();
  world.body[0].shell.weft = 0.0;
  world_expect_refusal(&world, "weft");
  world = one_strip();
  world.body[0].plane_strain = 1.0;
  world_expect_refusal(&world, "in plane strain as well");
  world = one_strip();
  world.body[0].order = 2;
  world_expect_refusal(&world, "linear");
  world = one_strip();
  world.def.contact_model = "gcp";
  world_expect_refusal(&world, "needs closed oriented surfaces; \"body0\": the edge of");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(hanging_strips_get_longer),
      cmocka_unit_test(limits_hold),
      cmocka_unit_test(limits_bear_falls),
      cmocka_unit_test(motions_stop_at_the_limit),
      cmocka_unit_test(cantilevers_are_elasticas),
      cmocka_unit_test(plates_are_elasticas),
      cmocka_unit_test(flat_starts_are_fast_with_either_law),
      cmocka_unit_test(stiff_sheets_start_fast),
      cmocka_unit_test(balloons_grow),
      cmocka_unit_test(cloths_drape),
      cmocka_unit_test(shells_enclose_bodies),
      cmocka_unit_test(seams_and_turned_triangles),
      cmocka_unit_test(bad_shells_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
