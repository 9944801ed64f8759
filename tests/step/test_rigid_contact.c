// Rigid bodies in contact: slopes, soft bodies, piles, with every solver, integrator and contact
// model; the same answer in other axes, units and after a restart.
#include "world.h"

#include "noli/output.h"

// Bodies are as rigid as this, |A^T A - I|.
#define STRETCH 1e-6
#define GRAVITY 9.80665
#define COUNT(table) (int)(sizeof(table) / sizeof *(table))

static const char* const solvers[] = {"projected_newton", "augmented_lagrangian",
                                      "implicit_newton"};
static const char* const integrators[] = {"backward_euler", "bdf2",        "sdirk2",
                                          "tr_bdf2",        "trapezoidal", "quasi_static"};
static const char* const models[] = {"ipc", "gcp"};

static int32_t add_rigid(World* world, NoliMesh* mesh, const double position[3]) {
  int32_t body = world_add(world, mesh, position);
  world->body[body].rigid.rigid = true;
  return body;
}

static void rigid_step(World* world) {
  world_step(world);
  ASSERT_AT_MOST(world->report.rigid_stretch, STRETCH);
}

// ---- slopes -------------------------------------------------------------------------------------

// A rigid block on a slope, by a gravity that is tilted by `angle`: its speed after a time in which
// it slides, and how far it creeps where it holds.
static World block_on_slope(double angle, double mu, const char* law) {
  World world = world_new(1);
  add_rigid(&world, make_box(&world, 0.1, 0.05, 0.1, 1), (double[]){0.0, 0.0252, 0.0});
  world_add_plane(&world, (double[]){0, 0, 0}, (double[]){0, 1, 0});
  world.def.gravity[0] = GRAVITY * sin(angle);
  world.def.gravity[1] = -GRAVITY * cos(angle);
  world.def.friction = mu;
  world.def.friction_law = law;
  world.def.time_step = 0.01;
  world_start(&world);
  return world;
}

static void a_block_slides_as_coulomb_says(void** state) {
  (void)state;
  double angle = 0.35, mu = 0.25;
  World world = block_on_slope(angle, mu, "stick");
  for (int n = 0; n < 20; n++) {
    rigid_step(&world);
  }
  double before = world.report.momentum[0];
  for (int n = 0; n < 30; n++) {
    rigid_step(&world);
  }
  double mass = 0.1 * 0.05 * 0.1 * 1000.0;
  double found = (world.report.momentum[0] - before) / mass / 0.3;
  double want = GRAVITY * (sin(angle) - mu * cos(angle));
  print_message("acceleration on the slope: %.6g m/s^2, Coulomb %.6g\n", found, want);
  ASSERT_NEAR(found, want, 1e-3 * want);
  world_done(&world);
}

static void a_block_holds(void** state) {
  (void)state;
  double angle = 0.35;
  World world = block_on_slope(angle, 1.05 * tan(angle), "stick");
  double at[3], last[3];
  for (int n = 0; n < 50; n++) {
    rigid_step(&world);
  }
  world_centre(&world, 0, at);
  for (int n = 0; n < 100; n++) {
    rigid_step(&world);
  }
  world_centre(&world, 0, last);
  print_message("a block that holds moves by %.2g m in a second\n", fabs(last[0] - at[0]));
  ASSERT_NEAR(last[0], at[0], 1e-9);
  assert_true(world.report.contacts_held > 0);
  world_done(&world);
}

// ---- soft bodies --------------------------------------------------------------------------------

// A rigid ball rests on a soft cube, which bears the weight of both.
static void a_ball_rests_on_a_cube(void** state) {
  (void)state;
  World world = world_new(1);
  NoliMesh* mesh = NULL;
  ASSERT_OK(noli_mesh_make_icosphere(world.context, 0.06, 2, &mesh));
  int32_t cube = world_add(&world, make_box(&world, 0.2, 0.2, 0.2, 3), (double[]){0, 0.1005, 0});
  int32_t ball = add_rigid(&world, mesh, (double[]){0.003, 0.265, 0.002});
  world_add_plane(&world, (double[]){0, 0, 0}, (double[]){0, 1, 0});
  world.body[cube].material.young = 1e5;
  world.body[cube].material.mass_damping = world.body[ball].material.mass_damping = 8.0;
  world.body[ball].rigid.mass = 3.0;
  world.def.friction = 0.5;
  world.def.contact_distance = (NoliScaled){1e-3, NOLI_ABSOLUTE};
  world_start(&world);
  for (int n = 0; n < 150; n++) {
    rigid_step(&world);
  }
  const NoliPairForce *above = world_pair(&world, cube, ball), *below = world_pair(&world, cube, 2);
  assert_non_null(above);
  assert_non_null(below);
  double weight = 3.0 * GRAVITY, all = weight + 8.0 * GRAVITY;
  double on_ball = fabs(above->normal[1] + above->friction[1]);
  double on_cube = fabs(below->normal[1] + below->friction[1]);
  print_message("the cube bears %.6g N of %.6g N, the ground %.6g N of %.6g N\n", on_ball, weight,
                on_cube, all);
  ASSERT_NEAR(on_ball, weight, 2e-3 * weight);
  ASSERT_NEAR(on_cube, all, 2e-3 * all);
  world_done(&world);
}

// ---- piles --------------------------------------------------------------------------------------

typedef struct Choice {
  const char* solver;
  const char* integrator;
  const char* model;
} Choice;

// A rigid box that slides under a soft one, and a rigid ball that falls and turns. Without inertia
// the box and the soft one are held, and the ball is pressed down.
static World heap(Choice choice, int32_t n_threads) {
  static const int32_t held[] = {0, 2, 6};
  static const double speed = 0.02;
  World world = world_new(n_threads);
  NoliMesh* ball = NULL;
  bool still = strcmp(choice.integrator, "quasi_static") == 0;
  ASSERT_OK(noli_mesh_make_icosphere(world.context, 0.08, 1, &ball));
  int32_t box = add_rigid(&world, make_box(&world, 0.2, 0.1, 0.2, 1), (double[]){0, 0.052, 0});
  int32_t soft = world_add(&world, make_box(&world, 0.2, 0.1, 0.2, 2), (double[]){0.01, 0.154, 0});
  int32_t round = add_rigid(&world, ball, (double[]){-0.02, still ? 0.287 : 0.29, 0.01});
  world.body[soft].material.young = 2e5;
  if (still) {
    NoliMotionDef* hold = world_add_motion(&world, soft, NULL, NULL);
    hold->node = held;
    hold->n_node = COUNT(held);
    world_add_motion(&world, box, NULL, NULL);
    world_add_motion(&world, round, move_down, (void*)(uintptr_t)&speed);
  } else {
    world.body[round].velocity[1] = -1.0;
    memcpy(world.body[round].angular_velocity, (double[]){3, 2, -5}, 3 * sizeof(double));
    world.body[box].velocity[0] = 0.4;
  }
  world_add_plane(&world, (double[]){0, 0, 0}, (double[]){0, 1, 0});
  world.def.solver = choice.solver;
  world.def.integrator = choice.integrator;
  world.def.contact_model = choice.model;
  world.def.contact_distance = (NoliScaled){2e-3, NOLI_ABSOLUTE};
  world.def.friction = 0.3;
  if (strcmp(choice.solver, "implicit_newton") == 0) {
    world_use_friction(&world, "implicit");
  }
  return world;
}

// Runs, audited, and goes on from a checkpoint with the same bits. Other combinations are refused.
static bool run_heap(Choice choice) {
  enum { STEPS = 16, BEFORE = 10 };
  World world = heap(choice, 1), other = heap(choice, 2);
  NoliStatus status = world_create(&world);
  if (status != NOLI_OK) {
    assert_int_equal(status, NOLI_ERROR_ARGUMENT);
    world_done(&world);
    world_done(&other);
    return false;
  }
  world_start(&other);
  int iterations = 0;
  double stretch = 0.0;
  for (int n = 0; n < STEPS; n++) {
    if (n == BEFORE) {
      ASSERT_OK(noli_checkpoint_save(world.context, world.sim, NULL, "checkpoint_rigid.h5"));
      ASSERT_OK(noli_checkpoint_load(other.context, other.sim, "checkpoint_rigid.h5"));
    }
    rigid_step(&world);
    iterations += world.report.newton_iterations;
    stretch = noli_larger(stretch, world.report.rigid_stretch);
    if (n >= BEFORE) {
      rigid_step(&other);
      assert_null(noli_sim_state_difference(world.sim, other.sim));
    }
  }
  print_message("%s, %s, %s: %d iterations, stretch %.2g\n", choice.solver, choice.integrator,
                choice.model, iterations, stretch);
  assert_true(world.report.contacts > 0);
  world_done(&world);
  world_done(&other);
  return true;
}

static void every_combination_runs_and_resumes(void** state) {
  (void)state;
  int n_run = 0;
  for (int s = 0; s < COUNT(solvers); s++) {
    for (int i = 0; i < COUNT(integrators); i++) {
      for (int m = 0; m < COUNT(models); m++) {
        n_run += run_heap((Choice){solvers[s], integrators[i], models[m]}) ? 1 : 0;
      }
    }
  }
  // the augmented Lagrangian has its own contact, and implicit friction needs a velocity
  assert_int_equal(n_run, 30);
}

// Boxes of several shapes that spin and fall into a heap.
static void a_pile_comes_to_rest(void** state) {
  (void)state;
  World world = world_new(1);
  TestRandom random = {7};
  enum { BOXES = 8 };
  for (int b = 0; b < BOXES; b++) {
    NoliMesh* mesh = make_box(&world, test_random(&random, 0.1, 0.2),
                              test_random(&random, 0.1, 0.2), test_random(&random, 0.1, 0.2), 1);
    double turn[3], zero[3] = {0, 0, 0}, one[3] = {1, 1, 1};
    for (int k = 0; k < 3; k++) {
      turn[k] = test_random(&random, 0.0, 90.0);
    }
    noli_mesh_transform(mesh, one, turn, zero);
    int32_t body = add_rigid(&world, mesh,
                             (double[]){test_random(&random, -0.05, 0.05), 0.25 + 0.3 * b,
                                        test_random(&random, -0.05, 0.05)});
    for (int k = 0; k < 3; k++) {
      world.body[body].angular_velocity[k] = test_random(&random, -10.0, 10.0);
    }
  }
  world_add_plane(&world, (double[]){0, 0, 0}, (double[]){0, 1, 0});
  world.def.friction = 0.5;
  world.def.time_step = 0.02;
  world_start(&world);
  int iterations = 0;
  double stretch = 0.0;
  for (int n = 0; n < 110; n++) {
    rigid_step(&world);
    iterations += world.report.newton_iterations;
    stretch = noli_larger(stretch, world.report.rigid_stretch);
  }
  print_message("pile: %d iterations in 110 steps, stretch %.2g, speed %.2g m/s, gap %.2g m\n",
                iterations, stretch, world.report.max_speed, world.report.min_distance);
  ASSERT_AT_MOST(world.report.max_speed, 0.5);
  world_done(&world);
}

// ---- other axes, other units --------------------------------------------------------------------

enum { MOST = 600 };

// A rigid box that lands on a soft one and turns, with axes turned by an angle about z and lengths
// in `unit` m. Writes positions, back in axes and meters; returns their number.
static int32_t land(double angle, double unit, double* x) {
  World world = world_new(1);
  double c = cos(angle), s = sin(angle);
  for (int b = 0; b < 2; b++) {
    NoliMesh* mesh = make_box(&world, 0.2, 0.1, b == 0 ? 0.2 : 0.15, 2 - b);
    for (int32_t v = 0; v < mesh->n_vert; v++) {
      double* at = mesh->x + 3 * v;
      double p = at[0] + 0.03 * b, q = at[1] + 0.0525 + 0.14 * b;
      at[0] = (c * p - s * q) / unit;
      at[1] = (s * p + c * q) / unit;
      at[2] /= unit;
    }
    world_add(&world, mesh, (double[]){0, 0, 0});
    NoliBodyDef* body = &world.body[b];
    body->material.young = 1e5 * unit;
    body->material.density = 1000.0 * unit * unit * unit;
    body->velocity[0] = -s * -0.5 / unit;
    body->velocity[1] = c * -0.5 / unit;
  }
  world.body[1].rigid.rigid = true;
  world.body[1].angular_velocity[2] = 2.0;
  world.body[1].angular_velocity[0] = c;
  world.body[1].angular_velocity[1] = s;
  world_add_plane(&world, (double[]){0, 0, 0}, (double[]){-s, c, 0});
  world.def.gravity[0] = GRAVITY * s / unit;
  world.def.gravity[1] = -GRAVITY * c / unit;
  world.def.friction = 0.3;
  world.def.barrier_stiffness = 1e8 * unit * unit;
  world.def.contact_distance = (NoliScaled){1e-3 / unit, NOLI_ABSOLUTE};
  world.def.tolerance = (NoliScaled){1e-8 / unit, NOLI_ABSOLUTE};
  world_start(&world);
  for (int n = 0; n < 25; n++) {
    rigid_step(&world);
  }
  assert_true(world.report.contacts > 0);
  int32_t count = 3 * noli_sim_vertex_count(world.sim), n_kept = 0;
  for (int32_t i = 0; i < count; i += 3) {
    // the nodes of rigid bodies depend on their principal axes, of which some are any
    if (i >= 3 * 27 && i < 3 * 31) {
      continue;
    }
    const double* at = noli_sim_positions(world.sim) + i;
    x[n_kept++] = unit * (c * at[0] + s * at[1]);
    x[n_kept++] = unit * (-s * at[0] + c * at[1]);
    x[n_kept++] = unit * at[2];
  }
  world_done(&world);
  return n_kept;
}

static void axes_and_units_do_not_matter(void** state) {
  (void)state;
  static double x[MOST], y[MOST];
  const struct {
    double angle, unit;
  } other[] = {{0.5235987755982988, 1.0}, {0.0, 1e-3}, {0.7, 0.3048}};
  int32_t n = land(0.0, 1.0, x);
  assert_in_range(n, 90, MOST);
  for (int k = 0; k < COUNT(other); k++) {
    double worst = 0.0;
    assert_int_equal(land(other[k].angle, other[k].unit, y), n);
    for (int32_t i = 0; i < n; i++) {
      worst = noli_larger(worst, fabs(x[i] - y[i]));
    }
    print_message("turned by %.3g, in units of %g m: off by %.2g m\n", other[k].angle,
                  other[k].unit, worst);
    ASSERT_AT_MOST(worst, 1e-6);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(a_block_slides_as_coulomb_says),
                                     cmocka_unit_test(a_block_holds),
                                     cmocka_unit_test(a_ball_rests_on_a_cube),
                                     cmocka_unit_test(every_combination_runs_and_resumes),
                                     cmocka_unit_test(a_pile_comes_to_rest),
                                     cmocka_unit_test(axes_and_units_do_not_matter)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
