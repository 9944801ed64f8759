// Rods and points in the simulator: the elastica, hanging, contact of rods, falling points, and
// errors.
#include "world.h"

#include "noli/live.h"

#define PI 3.14159265358979323846
#define GRAVITY 9.80665

// A straight rod along `axis` from `begin`, segments of length h.
static NoliMesh* make_line(const World* world, int32_t n, int axis, double begin, double h) {
  NoliMesh* mesh = NULL;
  ASSERT_OK(noli_mesh_create(world->context, n + 1, 0, 0, n, 0, false, &mesh));
  memset(mesh->x, 0, sizeof *mesh->x * 3 * (size_t)(n + 1));
  for (int32_t i = 0; i <= n; i++) {
    mesh->x[3 * i + axis] = begin + h * i;
  }
  for (int32_t i = 0; i < n; i++) {
    mesh->edge[2 * i] = i;
    mesh->edge[2 * i + 1] = i + 1;
  }
  return mesh;
}

static int32_t make_rod(World* world, NoliMesh* mesh, const double at[3], double young,
                        double radius) {
  int32_t body = world_add(world, mesh, at);
  world->body[body].rod.radius = radius;
  world->body[body].material.young = young;
  return body;
}

static const double origin[3] = {0, 0, 0};

// ---- closed forms -------------------------------------------------------------------------------

// The tip of a cantilever of length 1 that bends under its own weight, times length^3 / (E I): with
// phi = pi / 2 - theta the angle to the vertical and s the distance from the tip,
//   phi'' = weight s sin(phi), phi'(0) = 0, phi(1) = pi / 2.
// Returns whether the angle at the tip was too large.
static bool shoot(double weight, double angle, double tip[2]) {
  enum { N = 4000 };
  double h = 1.0 / N, phi = angle, turn = 0.0;
  tip[0] = tip[1] = 0.0;
  for (int i = 0; i < N && phi <= 0.5 * PI; i++) {
    // midpoint rule
    double half = phi + 0.5 * h * turn, turn_half = turn + 0.5 * h * weight * h * i * sin(phi);
    turn += h * weight * h * (i + 0.5) * sin(half);
    phi += h * turn_half;
    tip[0] += h * sin(half);
    tip[1] -= h * cos(half);
  }
  return phi > 0.5 * PI;
}

static void elastica(double weight, double tip[2]) {
  double low = 0.0, high = 0.5 * PI, unused[2];
  for (int i = 0; i < 100; i++) {
    double middle = 0.5 * (low + high);
    *(shoot(weight, middle, unused) ? &high : &low) = middle;
  }
  (void)shoot(weight, low, tip);
}

static void cantilevers_are_elasticas(void** state) {
  (void)state;
  const double weights[] = {1.0, 5.0, 20.0, 60.0, 150.0, 400.0};
  for (size_t k = 0; k < sizeof weights / sizeof *weights; k++) {
    enum { N = 60 };
    // clamped at 0, the middle of the first segment: nothing of it bends
    double radius = 0.004, h = 1.0 / (N + 0.5);
    World world = world_new(1);
    int32_t held[2] = {0, 1};
    double young = 4.0 * 1000.0 * GRAVITY / (weights[k] * radius * radius);
    int32_t rod = make_rod(&world, make_line(&world, N + 1, 0, -0.5 * h, h), origin, young, radius);
    NoliMotionDef* motion = world_add_motion(&world, rod, NULL, NULL);
    motion->node = held;
    motion->n_node = 2;
    world.def.integrator = "quasi_static";
    world.def.gravity[1] = -GRAVITY;
    world_start(&world);
    world_step(&world);
    double tip[2];
    elastica(weights[k], tip);
    const double* x = noli_sim_positions(world.sim) + 3 * (N + 1);
    ASSERT_NEAR(x[0], tip[0], 2e-3);
    ASSERT_NEAR(x[1], tip[1], 2e-3);
    ASSERT_NEAR(x[2], 0.0, 1e-9);
    world_done(&world);
  }
}

// A hanging rod elongates by rho g L^2 / (2 E), with every solver.
static void hanging_rods_get_longer(void** state) {
  (void)state;
  const char* const solvers[] = {"projected_newton", "implicit_newton", "augmented_lagrangian"};
  for (int k = 0; k < 3; k++) {
    World world = world_new(1);
    int32_t held[2] = {19, 20}; // a point alone is a pendulum
    int32_t rod = make_rod(&world, make_line(&world, 20, 1, 0.0, 0.05), origin, 1e6, 0.01);
    NoliMotionDef* motion = world_add_motion(&world, rod, NULL, NULL);
    motion->node = held;
    motion->n_node = 2;
    world.def.integrator = "quasi_static";
    world.def.solver = solvers[k];
    world.def.gravity[1] = -GRAVITY;
    world_start(&world);
    world_step(&world);
    ASSERT_NEAR(-noli_sim_positions(world.sim)[1] / (1000.0 * GRAVITY * 0.95 * 0.95 / 2e6), 1.0,
                1e-3);
    world_done(&world);
  }
}

// A free beam swings at (4.73)^2 sqrt(E I / (rho A)) / L^2.
static void free_beams_swing_at_their_frequency(void** state) {
  (void)state;
  enum { N = 40, STEPS = 400 };
  double radius = 0.01, young = 1e8, beta = 4.7300407449;
  double omega = beta * beta * sqrt(young * radius * radius / (4.0 * 1000.0)), u[STEPS + 1];
  World world = world_new(1);
  NoliMesh* mesh = make_line(&world, N, 0, 0.0, 1.0 / N);
  double x0[3 * (N + 1)];
  double ratio = (cosh(beta) - cos(beta)) / (sinh(beta) - sin(beta));
  for (int i = 0; i <= N; i++) {
    double s = beta * i / N;
    double shape = cosh(s) + cos(s) - ratio * (sinh(s) + sin(s));
    memcpy(x0 + 3 * i, mesh->x + 3 * i, 3 * sizeof *x0);
    x0[3 * i + 1] += 5e-4 * shape;
  }
  int32_t rod = make_rod(&world, mesh, origin, young, radius);
  world.body[rod].x0 = x0;
  world.def.integrator = "tr_bdf2";
  world.def.time_step = 2.0 * PI / omega / 100.0;
  world.def.gravity[1] = 0.0;
  world_start(&world);
  u[0] = x0[3 * (N / 2) + 1];
  int n_crossings = 0;
  double first = 0.0, last = 0.0;
  for (int i = 1; i <= STEPS; i++) {
    world_step(&world);
    u[i] = noli_sim_positions(world.sim)[3 * (N / 2) + 1];
    if (u[i - 1] * u[i] < 0.0) {
      last = i - 1 + u[i - 1] / (u[i - 1] - u[i]);
      first = n_crossings++ == 0 ? last : first;
    }
  }
  assert_true(n_crossings >= 6);
  double period = 2.0 * (last - first) / (n_crossings - 1) / 100.0;
  ASSERT_NEAR(period, 1.0, 0.01);
  world_done(&world);
}

// ---- contact ------------------------------------------------------------------------------------

// A rod falls across one that is held at both ends, and lies on it; 1 and 3 threads agree.
static void fall(int32_t n_threads, const char* solver, double x[3 * 46]) {
  World world = world_new(n_threads);
  int32_t ends[2] = {0, 20};
  int32_t lower = make_rod(&world, make_line(&world, 20, 0, -0.5, 0.05), origin, 1e7, 0.01);
  (void)make_rod(&world, make_line(&world, 24, 2, -0.61, 0.05), (double[]){0.01, 0.02, 0}, 1e7,
                 0.01);
  NoliMotionDef* motion = world_add_motion(&world, lower, NULL, NULL);
  motion->node = ends;
  motion->n_node = 2;
  world.def.solver = solver;
  world.def.friction = 0.3;
  world.def.time_step = 0.01;
  world.def.gravity[1] = -GRAVITY;
  world_start(&world);
  for (int i = 0; i < 15; i++) {
    world_step(&world);
  }
  memcpy(x, noli_sim_positions(world.sim), 3 * 46 * sizeof *x);
  world_done(&world);
}

static void rods_lie_on_rods(void** state) {
  (void)state;
  double one[3 * 46], three[3 * 46];
  fall(1, "projected_newton", one);
  fall(3, "projected_newton", three);
  assert_memory_equal(one, three, sizeof one);
  // above the lower one at the crossing, below its ends without it: 0.11 m of free fall
  assert_true(one[3 * (21 + 12) + 1] > one[3 * 10 + 1]);
  assert_true(one[3 * (21 + 12) + 1] > -0.08);
  fall(1, "augmented_lagrangian", three);
  assert_true(three[3 * (21 + 12) + 1] > three[3 * 10 + 1]);
}

// Points fall as free bodies, and stop on a floor.
static void points_fall_and_stop(void** state) {
  (void)state;
  World world = world_new(1);
  NoliMesh* mesh = NULL;
  ASSERT_OK(noli_mesh_create(world.context, 5, 0, 0, 0, 5, false, &mesh));
  for (int32_t i = 0; i < 5; i++) {
    const double at[3] = {0.1 * i, i < 4 ? 0.05 : 5.0, 0.0};
    memcpy(mesh->x + 3 * i, at, sizeof at);
    mesh->point[i] = i;
  }
  int32_t body = world_add(&world, mesh, origin);
  world.body[body].point.radius = 0.01;
  world.body[body].material.density = 2000.0;
  world_add_plane(&world, origin, (double[]){0, 1, 0});
  world.def.time_step = 0.01;
  world.def.gravity[1] = -GRAVITY;
  world_start(&world);
  double mass = 0.0;
  for (int32_t i = 0; i < 5; i++) {
    mass += world.sim->model->problem.inertia.weight[i];
  }
  ASSERT_NEAR(mass, 5 * 2000.0 * 4.0 / 3.0 * PI * 1e-6, 1e-12 * mass);
  for (int i = 0; i < 30; i++) {
    world_step(&world);
  }
  const double* x = noli_sim_positions(world.sim);
  for (int32_t i = 0; i < 4; i++) {
    assert_true(x[3 * i + 1] > 0.0 && x[3 * i + 1] < 0.01);
  }
  // backward Euler: g h^2 n (n + 1) / 2
  ASSERT_NEAR(5.0 - x[13], GRAVITY * 1e-4 * 30 * 31 / 2, 1e-6);
  world_done(&world);
}

// ---- refusals -----------------------------------------------------------------------------------

static void what_makes_no_sense_is_refused(void** state) {
  (void)state;
  World world = world_new(1);
  NoliMesh* mesh = make_line(&world, 4, 0, 0.0, 0.1);
  mesh->x[6] = mesh->x[3]; // segment 1 has no length
  make_rod(&world, mesh, origin, 1e6, 0.01);
  world_expect_refusal(&world, "segment 1 at (0.1, 0, 0) has no length");

  world = world_new(1);
  make_rod(&world, make_line(&world, 4, 0, 0.0, 0.1), origin, 1e6, -0.01);
  world_expect_refusal(&world, "must be > 0");

  world = world_new(1);
  make_rod(&world, make_line(&world, 4, 0, 0.0, 0.1), origin, 1e6, 0.01);
  world.body[0].point.radius = 0.01;
  world_expect_refusal(&world, "is a rod; it cannot be");

  world = world_new(1);
  make_rod(&world, make_line(&world, 4, 0, 0.0, 0.1), origin, 1e6, 0.01);
  world.def.contact_model = "gcp";
  world_expect_refusal(&world, "is a rod and has no inside");
}

// ---- points and segments ------------------------------------------------------------------------

static NoliMesh* make_point(const World* world, int32_t n, const double* x) {
  NoliMesh* mesh = NULL;
  ASSERT_OK(noli_mesh_create(world->context, n, 0, 0, 0, n, false, &mesh));
  memcpy(mesh->x, x, sizeof *x * 3 * (size_t)n);
  for (int32_t i = 0; i < n; i++) {
    mesh->point[i] = i;
  }
  return mesh;
}

static double distance_of(const double* a, const double* b) {
  return sqrt(pow(a[0] - b[0], 2.0) + pow(a[1] - b[1], 2.0) + pow(a[2] - b[2], 2.0));
}

// A fast point runs into a slow one, and both into a rod: none passes through another, and momentum
// is conserved.
static void points_meet_rods_and_points(void** state) {
  (void)state;
  static const char* const solvers[] = {"projected_newton", "augmented_lagrangian",
                                        "implicit_newton"};
  for (int s = 0; s < 3; s++) {
    World world = world_new(1);
    make_rod(&world, make_line(&world, 10, 0, -0.5, 0.1), origin, 1e7, 0.01);
    world_add(&world, make_point(&world, 1, origin), (double[]){0.03, 0.2, 0.0});
    world_add(&world, make_point(&world, 1, origin), (double[]){0.031, 0.4, 0.001});
    for (int b = 0; b < 3; b++) {
      world.body[b].contact_offset = NOLI_OFFSET_THICKNESS;
      world.body[b].point.radius = b > 0 ? 0.05 : 0.0;
      world.body[b].velocity[1] = -1.0 * b;
    }
    memset(world.def.gravity, 0, sizeof world.def.gravity);
    world.def.solver = solvers[s];
    world.def.time_step = 0.005;
    world_start(&world);
    double mass = 1000.0 * 4.0 / 3.0 * PI * pow(0.05, 3.0), least[2] = {1.0, 1.0};
    bool pushed = false;
    for (int step = 0; step < 60; step++) {
      world_step(&world);
      const double* x = noli_sim_positions(world.sim);
      least[0] = noli_smaller(least[0], distance_of(&x[3 * 11], &x[3 * 12]));
      for (int i = 0; i < 10; i++) {
        double along = fmin(fmax((x[33] - x[3 * i]) / (x[3 * i + 3] - x[3 * i]), 0.0), 1.0), at[3];
        for (int k = 0; k < 3; k++) {
          at[k] = x[3 * i + k] + along * (x[3 * i + 3 + k] - x[3 * i + k]);
        }
        least[1] = noli_smaller(least[1], distance_of(&x[33], at));
      }
      pushed = pushed || noli_sim_velocities(world.sim)[3 * 5 + 1] < -0.1;
      ASSERT_NEAR(world.report.momentum[1], -3.0 * mass, 1e-6 * mass);
    }
    assert_true(pushed);
    // they touch at the sums of their radii
    double reach = noli_sim_contact_distance(world.sim);
    ASSERT_AT_LEAST(least[0], 0.1);
    ASSERT_AT_MOST(least[0], 0.1 + reach);
    ASSERT_AT_LEAST(least[1], 0.06 - 1e-9);
    ASSERT_AT_MOST(least[1], 0.06 + reach);
    world_done(&world);
  }
}

// Thirty balls fall into a box of half-spaces: they stay apart, and come to rest on each other.
static void points_pile_up(void** state) {
  (void)state;
  enum { N = 30 };
  World world = world_new(1);
  double x[3 * N];
  for (int i = 0; i < N; i++) {
    x[3 * i] = 0.0215 * (i % 3) + 0.0002 * (i % 7);
    x[3 * i + 1] = 0.012 + 0.023 * (i / 9);
    x[3 * i + 2] = 0.0215 * (i / 3 % 3) + 0.0002 * (i % 5);
  }
  world_add(&world, make_point(&world, N, x), origin);
  world.body[0].point.radius = 0.01;
  world.body[0].contact_offset = NOLI_OFFSET_THICKNESS;
  world.body[0].material.mass_damping = 5.0;
  world_add_plane(&world, (double[]){0, 0, 0}, (double[]){0, 1, 0});
  world_add_plane(&world, (double[]){-0.012, 0, 0}, (double[]){1, 0, 0});
  world_add_plane(&world, (double[]){0.06, 0, 0}, (double[]){-1, 0, 0});
  world_add_plane(&world, (double[]){0, 0, -0.012}, (double[]){0, 0, 1});
  // the fourth wall is a sheet of triangles, with which points have separate pairs
  NoliMesh* wall = NULL;
  ASSERT_OK(noli_mesh_make_plane(world.context, 1.0, 1.0, 1, 1, &wall));
  const double unit[3] = {1, 1, 1};
  noli_mesh_transform(wall, unit, (double[]){90, 0, 0}, origin);
  world_add_obstacle(&world, wall, (double[]){0, 0, 0.07});
  world.def.contact_distance = (NoliScaled){5e-4, false};
  world_start(&world);
  double least = 1.0;
  for (int step = 0; step < 120; step++) {
    world_step(&world);
    const double* now = noli_sim_positions(world.sim);
    for (int i = 0; i < N; i++) {
      ASSERT_AT_LEAST(now[3 * i + 1], 0.01);
      ASSERT_AT_LEAST(0.07 - now[3 * i + 2], 0.01);
      for (int k = 0; k < i; k++) {
        least = noli_smaller(least, distance_of(&now[3 * i], &now[3 * k]));
      }
    }
  }
  ASSERT_AT_LEAST(least, 0.02 - 1e-9);
  ASSERT_AT_MOST(least, 0.0205);
  ASSERT_AT_MOST(world.report.max_speed, 0.05);
  assert_true(world.report.contacts >= N);
  world_done(&world);
}

// Two points of radius 0.01 m at a distance, with a rod far away.
static World two_points(double distance) {
  World world = world_new(1);
  make_rod(&world, make_line(&world, 4, 0, 5.0, 0.1), origin, 1e6, 0.01);
  for (int b = 1; b < 3; b++) {
    world_add(&world, make_point(&world, 1, origin), (double[]){distance * (b - 1), 0.0, 0.0});
    world.body[b].point.radius = 0.01;
    world.body[b].contact_offset = NOLI_OFFSET_THICKNESS;
  }
  memset(world.def.gravity, 0, sizeof world.def.gravity);
  return world;
}

// Contact treats points as edges of zero length; messages and results call them points.
static void points_are_called_points(void** state) {
  (void)state;
  // a rest shape, and a start
  World world = world_new(1);
  world_add(&world, make_point(&world, 2, (double[]){0, 0, 0, 0.015, 0, 0}), origin);
  world.body[0].point.radius = 0.01;
  world.body[0].contact_offset = NOLI_OFFSET_THICKNESS;
  world_expect_refusal(&world, "at rest vertex 0 and vertex 1 are 0.015 m apart");

  world = two_points(0.015);
  ASSERT_STATUS(world_create(&world), NOLI_ERROR_INTERSECTION);
  NoliDefect* defect = NULL;
  int64_t n = 0;
  ASSERT_OK(noli_sim_check(world.context, &world.def, &defect, &n));
  assert_true(n > 0);
  for (int64_t i = 0; i < n; i++) {
    assert_int_equal(defect[i].n_vert[0], 1);
    assert_int_equal(defect[i].n_vert[1], 1);
    ASSERT_NEAR(defect[i].distance, -0.005, 1e-12);
  }
  noli_sim_check_free(world.context, &defect);
  world_done(&world);

  // the pair that blocks a motion
  static const double speed[2] = {10.0, 0.0};
  world = two_points(0.05);
  world_add_motion(&world, 1, move_along_x, (void*)(uintptr_t)&speed[0]);
  world_add_motion(&world, 2, move_along_x, (void*)(uintptr_t)&speed[1]);
  world_start(&world);
  world_step(&world);
  assert_non_null(strstr(world.report.blocked_by, "(vertex 0, vertex 0)"));

  // queries
  const double *x = noli_sim_positions(world.sim), *last = &x[3 * 6];
  ASSERT_AT_LEAST(last[0] - x[3 * 5], 0.02);

  // queries
  NoliSurfacePoint closest;
  const double beside[3] = {last[0] + 0.1, 0.0, 0.0}, above[3] = {5.15, 0.2, 0.0};
  ASSERT_OK(noli_sim_closest_point(world.sim, beside, 1.0, &closest));
  assert_int_equal(closest.entity, 2);
  assert_int_equal(closest.n_vert, 1);
  assert_int_equal(closest.vertex[1], NOLI_NULL_INDEX);
  ASSERT_NEAR(closest.distance, 0.1, 1e-12);
  ASSERT_OK(noli_sim_closest_point(world.sim, above, 1.0, &closest));
  assert_int_equal(closest.entity, 0);
  assert_int_equal(closest.n_vert, 2);
  world_done(&world);
}

// The stiffness that holds a fine thin rod is a small part of its stiffness to stretching, yet it
// counts as held; a rod that hangs from one vertex may swing.
static void fine_rods_are_held_or_not(void** state) {
  (void)state;
  enum { N = 2000 };
  for (int k = 0; k < 2; k++) {
    World world = world_new(1);
    static const int32_t held[2] = {0, 1};
    int32_t rod = make_rod(&world, make_line(&world, N, 0, 0.0, 1.0 / N), origin, 1e9, 2e-5);
    NoliMotionDef* motion = world_add_motion(&world, rod, NULL, NULL);
    motion->node = held;
    motion->n_node = k == 0 ? 2 : 1;
    world.def.integrator = "quasi_static";
    world.def.contact = false;
    world.def.gravity[1] = 0.0;
    world_start(&world);
    NoliStatus status = noli_sim_step(world.sim, &world.report);
    if (k == 0) {
      ASSERT_STATUS(status, NOLI_OK);
    } else {
      ASSERT_STATUS(status, NOLI_NOT_POSITIVE_DEFINITE);
      assert_non_null(strstr(noli_context_message(world.context), "is free to "));
    }
    world_done(&world);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(cantilevers_are_elasticas),
      cmocka_unit_test(hanging_rods_get_longer),
      cmocka_unit_test(free_beams_swing_at_their_frequency),
      cmocka_unit_test(rods_lie_on_rods),
      cmocka_unit_test(points_fall_and_stop),
      cmocka_unit_test(what_makes_no_sense_is_refused),
      cmocka_unit_test(points_meet_rods_and_points),
      cmocka_unit_test(points_pile_up),
      cmocka_unit_test(points_are_called_points),
      cmocka_unit_test(fine_rods_are_held_or_not),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
