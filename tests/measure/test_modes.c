// Modes of vibration: beams, bars, strings and free bodies against closed forms, orthonormality,
// rotated frames, ties, unstable states, threads, and errors.
#include "step/world.h"

#include "noli/live.h"

#define PI 3.14159265358979323846

static const double origin[3] = {0, 0, 0};

enum { MOST = 64 };

static double frequency[MOST];

static void find_modes(const World* world, int32_t n, double* shape) {
  NoliStatus status = noli_sim_modes(world->sim, n, frequency, shape);
  if (status != NOLI_OK) {
    print_error("modes: status %d: %s\n", (int)status, noli_context_message(world->context));
  }
  assert_int_equal(status, NOLI_OK);
}

// A box of linear or quadratic elements, without gravity and contact.
static int32_t add_bar(World* world, const double size[3], const int32_t cells[3], int32_t order) {
  NoliMesh* mesh = NULL;
  ASSERT_OK(noli_mesh_make_box(world->context, size, cells, false, &mesh));
  int32_t body = world_add(world, mesh, origin);
  world->body[body].order = order;
  world->body[body].material =
      (NoliMaterialDef){.law = "neo_hookean", .young = 1e7, .poisson = 0.0, .density = 1000.0};
  world->def.contact = false;
  world->def.gravity[1] = 0.0;
  return body;
}

// Holds the nodes at the left end of the only body, a bar of length 1 whose centre is at the
// origin.
static void hold_end(World* world, int32_t* node) {
  NoliMotionDef* motion = world_add_motion(world, 0, NULL, NULL);
  world->def.n_motions = 0;
  world_start(world);
  const double* X = noli_sim_rest_positions(world->sim);
  for (int32_t i = 0; i < noli_sim_node_count(world->sim); i++) {
    if (fabs(X[3 * i] + 0.5) < 1e-9) {
      node[motion->n_node++] = i;
    }
  }
  noli_sim_destroy(&world->sim);
  motion->node = node;
  world->def.n_motions = 1;
}

// ---- closed forms -------------------------------------------------------------------------------

// Bending of a clamped beam, Euler and Bernoulli: each frequency twice, for the two directions.
static void cantilevers_are_those_of_the_theory(void** state) {
  (void)state;
  enum { ALONG = 25 };
  static const double root[2] = {1.8751040687, 4.6940911330};
  int32_t node[16];
  World world = world_new(1);
  double t = 0.04, inertia = t * t / 12.0; // of the section, over its area
  add_bar(&world, (double[]){1, t, t}, (int32_t[]){ALONG, 1, 1}, 2);
  hold_end(&world, node);
  world_start(&world);
  find_modes(&world, 4, NULL);
  for (int k = 0; k < 2; k++) {
    double want = root[k] * root[k] * sqrt(1e7 / 1000.0 * inertia) / (2.0 * PI);
    print_message("cantilever: %.5f and %.5f of %.5f Hz\n", frequency[2 * k], frequency[2 * k + 1],
                  want);
    // the theory neglects shear and rotation of the sections
    ASSERT_NEAR(frequency[2 * k], want, 0.01 * want);
    ASSERT_NEAR(frequency[2 * k + 1], frequency[2 * k], 2e-3 * want);
    ASSERT_AT_MOST(frequency[2 * k], want);
  }
  world_done(&world);
}

// The axial modes of a free bar, k c / (2 L), with its sections held in their planes.
static void free_bars_have_the_exact_series(void** state) {
  (void)state;
  static const struct {
    int32_t order, along;
    double bound;
  } bars[] = {{1, 20, 0.02}, {1, 40, 5e-3}, {2, 10, 1e-3}, {3, 6, 2e-4}};
  for (size_t b = 0; b < sizeof bars / sizeof *bars; b++) {
    World world = world_new(1);
    int32_t bar =
        add_bar(&world, (double[]){1, 0.05, 0.05}, (int32_t[]){bars[b].along, 1, 1}, bars[b].order);
    NoliMotionDef* motion = world_add_motion(&world, bar, NULL, NULL);
    motion->free_axis[0] = true;
    world_start(&world);
    find_modes(&world, 4, NULL);
    double worst = 0.0;
    assert_true(frequency[0] == 0.0);
    for (int k = 1; k < 4; k++) {
      worst = noli_larger(worst, fabs(frequency[k] / (k * 100.0 / 2.0) - 1.0));
    }
    print_message("bar, order %d, %d cells: %.3g\n", bars[b].order, bars[b].along, worst);
    ASSERT_AT_MOST(worst, bars[b].bound);
    world_done(&world);
  }
}

// A straight chain of segments from x = 0 to x = length, whose rest length is 1.
static void define_string(World* world, double length, double radius, double young, double* x0) {
  enum { N = 50 };
  static int32_t node[4] = {0, 1, N - 1, N};
  NoliMesh* mesh = NULL;
  ASSERT_OK(noli_mesh_create(world->context, N + 1, 0, 0, N, 0, false, &mesh));
  for (int32_t i = 0; i <= N; i++) {
    mesh->x[3 * i] = (double)i / N;
    mesh->x[3 * i + 1] = mesh->x[3 * i + 2] = 0.0;
    x0[3 * i] = length * i / N;
    x0[3 * i + 1] = x0[3 * i + 2] = 0.0;
  }
  for (int32_t i = 0; i < N; i++) {
    mesh->edge[2 * i] = i;
    mesh->edge[2 * i + 1] = i + 1;
  }
  int32_t rod = world_add(world, mesh, origin);
  world->body[rod].rod.radius = radius;
  world->body[rod].material.young = young;
  world->body[rod].material.density = 1000.0;
  world->body[rod].x0 = x0;
  NoliMotionDef* motion = world_add_motion(world, rod, NULL, NULL);
  motion->node = node;
  motion->n_node = 4;
  world->def.contact = false;
  world->def.gravity[1] = 0.0;
}

// Tension sets the frequencies of a string, n / (2 L) sqrt(T / mu); beyond the load of Euler, 4
// pi^2 E I / L^2 for clamped ends, a compressed rod is unstable.
static void tension_and_compression_count(void** state) {
  (void)state;
  double x0[3 * 51], radius = 1e-3, young = 1e6, area = PI * radius * radius;
  World world = world_new(1);
  define_string(&world, 1.1, radius, young, x0);
  world_start(&world);
  find_modes(&world, 6, NULL);
  for (int k = 0; k < 3; k++) {
    double tension = 0.1 * young * area, mu = 1000.0 * area / 1.1;
    // the first and the last segment are clamped
    double want = (k + 1) / (2.0 * 1.1 * 48.0 / 50.0) * sqrt(tension / mu);
    print_message("string: %.5f and %.5f of %.5f Hz\n", frequency[2 * k], frequency[2 * k + 1],
                  want);
    ASSERT_NEAR(frequency[2 * k], want, 0.01 * want);
    ASSERT_NEAR(frequency[2 * k + 1], frequency[2 * k], 1e-6 * want);
  }
  world_done(&world);

  // Euler's strain is pi^2 (radius / length)^2 = 1.07e-5
  static const struct {
    double strain;
    int n_negative;
  } rods[] = {{0.9e-5, 0}, {1.2e-5, 2}};
  for (int k = 0; k < 2; k++) {
    world = world_new(1);
    define_string(&world, 1.0 - rods[k].strain, radius, young, x0);
    world_start(&world);
    find_modes(&world, 4, NULL);
    for (int i = 0; i < 4; i++) {
      assert_true(frequency[i] != 0.0 && (frequency[i] < 0.0) == (i < rods[k].n_negative));
    }
    world_done(&world);
  }
}

// ---- identities ---------------------------------------------------------------------------------

// M x, with the masses of the simulator.
static void multiply_mass(const NoliSim* sim, const double* x, double* y) {
  const NoliProblem* problem = &sim->model->problem;
  memset(y, 0, noli_sim_vector_bytes(sim));
  for (int32_t i = 0; i < problem->inertia.n_lumped; i++) {
    int64_t node = problem->inertia.lumped[i];
    for (int64_t j = 3 * node; j < 3 * node + 3; j++) {
      y[j] = problem->inertia.mass[node] * x[j];
    }
  }
  noli_problem_multiply_mass(problem, x, 1, y);
}

// phi^T M phi is the identity, whatever the order of the elements.
static void shapes_are_orthonormal(void** state) {
  (void)state;
  enum { N = 12 };
  for (int32_t order = 1; order <= 2; order++) {
    World world = world_new(1);
    add_bar(&world, (double[]){0.3, 0.2, 0.1}, (int32_t[]){3, 2, 2}, order);
    world_start(&world);
    int64_t n = 3 * (int64_t)world.sim->model->problem.n_vert;
    int64_t n_node = noli_sim_node_count(world.sim);
    double* shape = calloc((size_t)(N * 3 * n_node), sizeof *shape);
    double *x = calloc((size_t)n, sizeof *x), *y = calloc((size_t)n, sizeof *y), worst = 0.0;
    find_modes(&world, N, shape);
    for (int i = 0; i < N; i++) {
      memcpy(x, shape + i * 3 * n_node, 3 * sizeof *x * (size_t)n_node);
      multiply_mass(world.sim, x, y);
      for (int k = 0; k < N; k++) {
        double product = 0.0;
        for (int64_t j = 0; j < 3 * n_node; j++) {
          product += shape[k * 3 * n_node + j] * y[j];
        }
        worst = noli_larger(worst, fabs(product - (i == k ? 1.0 : 0.0)));
      }
    }
    print_message("order %d: products within %.2g\n", order, worst);
    ASSERT_AT_MOST(worst, 1e-8);
    free(shape);
    free(x);
    free(y);
    world_done(&world);
  }
}

// Six rigid motions of each free body, then its vibrations; a turned body has the same ones.
static void turned_bodies_vibrate_alike(void** state) {
  (void)state;
  double before[12];
  for (int turned = 0; turned < 2; turned++) {
    World world = world_new(1);
    int32_t bar = add_bar(&world, (double[]){0.3, 0.2, 0.1}, (int32_t[]){3, 2, 2}, 2);
    world.body[bar].material.poisson = 0.3;
    double angle[3] = {turned * 30.0, turned * 30.0, 0.0};
    noli_mesh_transform(world.mesh[bar], (double[]){1, 1, 1}, angle,
                        (double[]){turned * 1.0, 0, 0});
    world_start(&world);
    find_modes(&world, 12, NULL);
    for (int i = 0; i < 12; i++) {
      assert_true((frequency[i] == 0.0) == (i < 6));
      if (turned) {
        ASSERT_NEAR(frequency[i], before[i], 1e-8 * before[i]);
      }
      before[i] = frequency[i];
    }
    world_done(&world);
  }
}

// Equal bodies have equal frequencies; none of the copies is lost.
static void copies_are_all_found(void** state) {
  (void)state;
  enum { BODIES = 6 };
  World world = world_new(1);
  for (int b = 0; b < BODIES; b++) {
    int32_t bar = add_bar(&world, (double[]){0.3, 0.2, 0.1}, (int32_t[]){3, 2, 1}, 1);
    noli_mesh_transform(world.mesh[bar], (double[]){1, 1, 1}, (double[]){0, 0, 0},
                        (double[]){0.5 * b, 0, 0});
  }
  world_start(&world);
  find_modes(&world, 8 * BODIES, NULL);
  for (int i = 0; i < 8 * BODIES; i++) {
    assert_true((frequency[i] == 0.0) == (i < 6 * BODIES));
  }
  for (int k = 6; k < 8; k++) {
    double first = frequency[k * BODIES];
    print_message("%d copies of %.6f Hz\n", BODIES, first);
    for (int i = 0; i < BODIES; i++) {
      ASSERT_NEAR(frequency[k * BODIES + i], first, 1e-8 * first);
    }
    assert_true(k == 7 || frequency[7 * BODIES] > 1.01 * first);
  }
  world_done(&world);
}

// Two halves that are tied end to end vibrate as one bar.
static void ties_hold(void** state) {
  (void)state;
  double before[10];
  for (int tied = 0; tied < 2; tied++) {
    World world = world_new(1);
    int32_t node[9];
    NoliTieDef tie = noli_default_tie_def();
    for (int k = 0; k <= tied; k++) {
      int32_t half = add_bar(&world, (double[]){tied ? 0.5 : 1.0, 0.1, 0.1},
                             (int32_t[]){tied ? 4 : 8, 2, 2}, 1);
      double at = tied ? k - 0.5 : 0.0;
      noli_mesh_transform(world.mesh[half], (double[]){1, 1, 1}, (double[]){0, 0, 0},
                          (double[]){0.5 * at, 0, 0});
    }
    for (int32_t i = 0; tied && i < world.mesh[1]->n_vert; i++) {
      if (fabs(world.mesh[1]->x[3 * i]) < 1e-9) {
        node[tie.n_node++] = i;
      }
    }
    tie.body = 1;
    tie.to = 0;
    tie.node = node;
    world.def.ties = &tie;
    world.def.n_ties = tied;
    world_start(&world);
    find_modes(&world, 10, NULL);
    for (int i = 0; i < 10; i++) {
      assert_true((frequency[i] == 0.0) == (i < 6));
      if (tied) {
        ASSERT_NEAR(frequency[i], before[i], 0.02 * before[i]);
      }
      before[i] = frequency[i];
    }
    world_done(&world);
  }
}

// ---- motion -------------------------------------------------------------------------------------

// A body that starts with the velocity of a mode follows it: a quarter of the period with the
// trapezoidal rule, for which tan(omega' h / 2) = omega h / 2. The simulator has its own K and M.
static void follow_mode(const World* world, double omega, const double* shape) {
  enum { STEPS = 16 };
  NoliSim* sim = world->sim;
  int64_t n = 3 * (int64_t)noli_sim_node_count(sim);
  double h = 2.0 * PI / omega / (4 * STEPS), largest = 0.0, worst = 0.0;
  double *x = malloc((size_t)n * sizeof *x), *v = malloc((size_t)n * sizeof *v);
  ASSERT_OK(noli_sim_reset(sim));
  memcpy(x, noli_sim_positions(sim), (size_t)n * sizeof *x);
  for (int64_t j = 0; j < n; j++) {
    largest = noli_larger(largest, fabs(shape[j]));
  }
  for (int64_t j = 0; j < n; j++) {
    v[j] = 1e-4 * shape[j] / largest;
  }
  ASSERT_OK(noli_sim_set_time_step(sim, h));
  ASSERT_OK(noli_sim_set_state(sim, x, v));
  for (int i = 0; i < STEPS; i++) {
    ASSERT_OK(noli_sim_step(sim, NULL));
  }
  double factor = sin(2.0 * atan(0.5 * omega * h) * STEPS) / omega;
  for (int64_t j = 0; j < n; j++) {
    worst = noli_larger(worst, fabs(noli_sim_positions(sim)[j] - x[j] - factor * v[j]));
  }
  ASSERT_AT_MOST(worst, 1e-4 * 1e-4 / omega);
  free(x);
  free(v);
}

// All of n modes except those without stiffness.
static void follow_modes(World* world, int32_t n) {
  double* shape = NULL;
  world->def.integrator = "trapezoidal";
  world->def.tolerance = (NoliScaled){1e-9, false};
  world->def.audit = "off";
  world->def.contact = false;
  world_start(world);
  int64_t size = 3 * (int64_t)noli_sim_node_count(world->sim);
  shape = malloc((size_t)(n * size) * sizeof *shape);
  find_modes(world, n, shape);
  int n_followed = 0;
  for (int32_t i = 0; i < n; i++) {
    if (frequency[i] > 0.0) {
      follow_mode(world, 2.0 * PI * frequency[i], shape + i * size);
      n_followed++;
    }
  }
  assert_true(n_followed >= 4);
  free(shape);
  world_done(world);
}

static void simulations_follow_modes(void** state) {
  (void)state;
  // elements of order 2, clamped
  int32_t node[16];
  World world = world_new(1);
  int32_t bar = add_bar(&world, (double[]){1, 0.1, 0.2}, (int32_t[]){6, 1, 1}, 2);
  world.body[bar].material.poisson = 0.3;
  hold_end(&world, node);
  follow_modes(&world, 5);

  // a cavity that resists a change of its volume: a dense part of the stiffness
  for (int k = 0; k < 2; k++) {
    world = world_new(1);
    NoliMesh* mesh = NULL;
    NoliVolumeDef volume = noli_default_volume_def();
    ASSERT_OK(noli_mesh_make_hollow_sphere(world.context, 0.1, 0.07, 3, 1, false, &mesh));
    world_add(&world, mesh, origin);
    world.def.gravity[1] = 0.0;
    volume.model = "quadratic";
    volume.compression = k == 0 ? 1e-5 : 1e-7;
    world.def.volumes = &volume;
    world.def.n_volumes = 1;
    follow_modes(&world, 30);
  }

  // a rod under tension
  double x0[3 * 51];
  world = world_new(1);
  define_string(&world, 1.1, 1e-3, 1e6, x0);
  follow_modes(&world, 4);
}

// ---- bits ---------------------------------------------------------------------------------------

// A bar in flight, bent; its modes with some threads, and the hash of its next step.
static uint64_t bits_of(int32_t threads, bool modes, double* shape) {
  World world = world_new(threads);
  int32_t bar = add_bar(&world, (double[]){1, 0.1, 0.1}, (int32_t[]){10, 2, 2}, 1);
  world.body[bar].velocity[1] = 1.0;
  world.def.integrator = "bdf2";
  world_start(&world);
  world_step(&world);
  if (modes) {
    find_modes(&world, 8, shape);
  }
  world_step(&world);
  uint64_t hash = noli_sim_state_hash(world.sim);
  world_done(&world);
  return hash;
}

static void threads_and_steps_keep_their_bits(void** state) {
  (void)state;
  enum { SIZE = 8 * 3 * 11 * 3 * 3 };
  static double shape[2][SIZE];
  double first[8];
  uint64_t plain = bits_of(1, false, NULL);
  assert_true(bits_of(1, true, shape[0]) == plain);
  memcpy(first, frequency, sizeof first);
  assert_true(bits_of(2, true, shape[1]) == plain);
  assert_memory_equal(first, frequency, sizeof first);
  assert_memory_equal(shape[0], shape[1], sizeof shape[0]);
}

// ---- errors -------------------------------------------------------------------------------------

static void expect_failure(const World* world, int32_t n, const char* part) {
  ASSERT_STATUS(noli_sim_modes(world->sim, n, frequency, NULL), NOLI_ERROR_ARGUMENT);
  const char* message = noli_context_message(world->context);
  if (strstr(message, part) == NULL) {
    print_error("\"%s\" is not in: %s\n", part, message);
    fail();
  }
}

static void errors_are_located(void** state) {
  (void)state;
  World world = world_new(1);
  add_bar(&world, (double[]){1, 1, 1}, (int32_t[]){1, 1, 1}, 1);
  world_start(&world);
  expect_failure(&world, 0, "must be > 0, got 0");
  expect_failure(&world, 25, "25 modes: vertices have 24 free components");
  ASSERT_STATUS(noli_sim_modes(world.sim, 1, NULL, NULL), NOLI_ERROR_ARGUMENT);
  find_modes(&world, 24, NULL);
  assert_true(frequency[5] == 0.0 && frequency[6] > 0.0);
  world_done(&world);
  world = world_new(1);
  int32_t bar = add_bar(&world, (double[]){1, 1, 1}, (int32_t[]){1, 1, 1}, 1);
  world_add_motion(&world, bar, NULL, NULL);
  world_start(&world);
  expect_failure(&world, 1, "nothing can vibrate");
  world_done(&world);
}

// Every refused allocation is reported, nothing leaks, and the simulation stays as it was.
static void memory_may_be_refused(void** state) {
  (void)state;
  bool done = false;
  for (int64_t k = 1; !done; k += 1 + k / 20) {
    TestMemory memory;
    World world = {.context = test_context_on(&memory, 1), .def = noli_default_sim_def()};
    add_bar(&world, (double[]){1, 0.2, 0.2}, (int32_t[]){3, 1, 1}, 1);
    world_start(&world);
    uint64_t before = noli_sim_state_hash(world.sim);
    test_refuse(&memory, k);
    NoliStatus status = noli_sim_modes(world.sim, 4, frequency, NULL);
    done = memory.asked < k;
    assert_int_equal(status, done ? NOLI_OK : NOLI_ERROR_MEMORY);
    test_refuse(&memory, 0);
    assert_true(noli_sim_state_hash(world.sim) == before);
    world_step(&world);
    world_done(&world);
  }
}

// A soft and a stiff body: the modes of the soft one are as precise as alone.
static void stiff_neighbours_cost_no_digits(void** state) {
  (void)state;
  double alone[2];
  for (int k = 0; k < 2; k++) {
    World world = world_new(1);
    int32_t soft = add_bar(&world, (double[]){1, 0.2, 0.3}, (int32_t[]){6, 2, 2}, 1);
    world.body[soft].material.young = 1e4;
    if (k == 1) {
      int32_t stiff = add_bar(&world, (double[]){1, 0.2, 0.3}, (int32_t[]){6, 2, 2}, 1);
      world.body[stiff].material.young = 2e11;
      noli_mesh_transform(world.mesh[stiff], (double[]){1, 1, 1}, (double[]){0, 0, 0},
                          (double[]){0, 2, 0});
    }
    world_start(&world);
    int n_rigid = 6 * (k + 1);
    find_modes(&world, n_rigid + 2, NULL);
    for (int i = 0; i < n_rigid + 2; i++) {
      assert_true((frequency[i] == 0.0) == (i < n_rigid));
    }
    for (int i = 0; i < 2; i++) {
      if (k == 1) {
        ASSERT_NEAR(frequency[n_rigid + i], alone[i], 1e-9 * alone[i]);
      }
      alone[i] = frequency[n_rigid + i];
    }
    world_done(&world);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(cantilevers_are_those_of_the_theory),
      cmocka_unit_test(free_bars_have_the_exact_series),
      cmocka_unit_test(tension_and_compression_count),
      cmocka_unit_test(shapes_are_orthonormal),
      cmocka_unit_test(turned_bodies_vibrate_alike),
      cmocka_unit_test(copies_are_all_found),
      cmocka_unit_test(ties_hold),
      cmocka_unit_test(simulations_follow_modes),
      cmocka_unit_test(threads_and_steps_keep_their_bits),
      cmocka_unit_test(errors_are_located),
      cmocka_unit_test(memory_may_be_refused),
      cmocka_unit_test(stiff_neighbours_cost_no_digits),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
