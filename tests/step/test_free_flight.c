// Motion that has a closed form: free fall, and the invariance of a scene under rotation.
#include "world.h"

static void fall(const char* integrator) {
  World world = world_new(1);
  int32_t ball = world_add(&world, make_sphere(&world, 0.3, 3), (double[]){0.1, 2.0, -0.3});
  world.body[ball].velocity[0] = 1.5;
  world.body[ball].velocity[1] = -0.5;
  world.body[ball].velocity[2] = 0.25;
  world.def.integrator = integrator;
  world.def.time_step = 0.02;
  world_start(&world);
  double start[3], v0[3] = {1.5, -0.5, 0.25};
  world_centre(&world, ball, start);
  for (int n = 1; n <= 50; n++) {
    world_step(&world);
    world_expect_flight(&world, ball, n, start, v0);
  }
  world_done(&world);
}

static void free_fall_follows_the_closed_form(void** state) {
  (void)state;
  fall("backward_euler");
  fall("trapezoidal");
}

// A contact distance between one and two times the distance covered in a step: a Newton step that
// is cut there may be below the tolerance, and bodies must still gain the velocity of a time step.
static void slow_bodies_gain_speed(void** state) {
  (void)state;
  static const char* const integrators[] = {"backward_euler", "bdf2", "sdirk2", "tr_bdf2"};
  for (size_t i = 0; i < sizeof integrators / sizeof integrators[0]; i++) {
    World world = world_new(1);
    int32_t box = world_add(&world, make_box(&world, 0.2, 0.3, 0.2, 1), (double[]){0, 0, 0});
    world.body[box].material.young = 1e8;
    world.def.integrator = integrators[i];
    world.def.time_step = 1.8e-3;
    world.def.contact_distance = (NoliScaled){3.6e-6, false};
    world.def.gravity[1] = -0.6;
    world_start(&world);
    for (int n = 1; n <= 12; n++) {
      world_step(&world);
      double speed = 0.6 * 1.8e-3 * n;
      ASSERT_NEAR(world.report.max_speed, speed, 1e-3 * speed);
    }
    world_done(&world);
  }
}

// A ball as stiff as steel that spins: compared with the forces that keep it together, gravity is
// below the residual left by conjugate gradients, and steps must not end without it.
static void iterative_solvers_miss_no_gravity(void** state) {
  (void)state;
  static const char* const integrators[] = {"bdf2", "sdirk2"};
  for (size_t i = 0; i < sizeof integrators / sizeof integrators[0]; i++) {
    World world = world_new(1);
    int32_t ball = world_add(&world, make_sphere(&world, 0.01, 2), (double[]){0, 0, 0});
    world.body[ball].material.young = 1e11;
    world.body[ball].material.density = 20.0;
    memcpy(world.body[ball].velocity, (double[]){60, -20, 20}, 3 * sizeof(double));
    memcpy(world.body[ball].angular_velocity, (double[]){20, 30, 10}, 3 * sizeof(double));
    world.def.integrator = integrators[i];
    world.def.linear_solver = "pcg";
    world.def.time_step = 0.5;
    world_start(&world);

    // each step changes the momentum by that of gravity
    double mass = 0.0, before = 0.0, worst = 0.0;
    for (int32_t k = 0; k < noli_sim_vertex_count(world.sim); k++) {
      mass += noli_sim_masses(world.sim)[k];
    }
    for (int n = 0; n < 12; n++) {
      world_step(&world);
      double change = (world.report.momentum[1] - before) / mass;
      worst = n > 0 ? noli_larger(worst, fabs(change + 0.5 * 9.80665)) : 0.0;
      before = world.report.momentum[1];
    }
    print_message("%s: speed gained in a step is off by %.2g m/s at most\n", integrators[i], worst);
    ASSERT_AT_MOST(worst, world.sim->model->problem.solver.tolerance);
    world_done(&world);
  }
}

// A sheet at rest and one that flies on, without loads: all forces are rounding, and steps end
// where the potential cannot decrease any more. In units from millimetres to kilometres.
static void sheets_fly(const char* solver, const char* integrator, double unit, double young) {
  World world = world_new(1);
  for (int b = 0; b < 2; b++) {
    NoliMesh* mesh = NULL;
    int32_t cells = b == 0 ? 8 : 7;
    ASSERT_OK(noli_mesh_make_plane(world.context, 0.2 * unit, 0.2 * unit, cells, cells, &mesh));
    int32_t body = world_add(&world, mesh, (double[]){0.03 * unit * b, 0.04 * unit * b, 0.0});
    world.body[body].shell.thickness = 1e-3 * unit;
    world.body[body].material.law = "stvk";
    world.body[body].material.young = young;
    world.body[body].velocity[1] = -2.0 * unit * b;
  }
  world.def.solver = solver;
  world.def.integrator = integrator;
  world.def.time_step = 2e-3;
  memset(world.def.gravity, 0, sizeof world.def.gravity);
  world.def.contact_distance = (NoliScaled){4e-3 * unit, false};
  world_start(&world);
  double start[3], velocity[3] = {0, -2.0 * unit, 0}, now[3];
  world_centre(&world, 1, start);
  for (int n = 1; n <= 3; n++) {
    world_step(&world);
    assert_int_equal(world.report.substeps, 1);
    world_centre(&world, 1, now);
    for (int k = 0; k < 3; k++) {
      ASSERT_NEAR(now[k], start[k] + 2e-3 * n * velocity[k], 1e-12 * unit);
    }
  }
  world_done(&world);
}

static void sheets_without_loads_fly_on(void** state) {
  (void)state;
  static const char* const solvers[] = {"projected_newton", "augmented_lagrangian",
                                        "implicit_newton"};
  static const char* const integrators[] = {"backward_euler", "trapezoidal", "bdf2", "sdirk2",
                                            "tr_bdf2"};
  for (int s = 0; s < 3; s++) {
    for (int i = 0; i < 5; i++) {
      for (int k = 0; k < 9; k++) {
        sheets_fly(solvers[s], integrators[i], pow(1e3, k % 3 - 1), pow(1e3, k / 3 + 1));
      }
    }
  }
}

// A box that lands on a plane with friction, everything rotated by R.
static void run_rotated(const double R[9], double stiffness, double* x, int32_t* n) {

  // rotate the box
  World world = world_new(1);
  NoliMesh* mesh = make_box(&world, 0.4, 0.2, 0.3, 2);
  double shift[3] = {0.05, 0.13, -0.02};
  for (int32_t i = 0; i < mesh->n_vert; i++) {
    double p[3];
    for (int k = 0; k < 3; k++) {
      p[k] = mesh->x[3 * i + k] + shift[k];
    }
    for (int k = 0; k < 3; k++) {
      mesh->x[3 * i + k] = R[3 * k] * p[0] + R[3 * k + 1] * p[1] + R[3 * k + 2] * p[2];
    }
  }

  // its motion and the plane
  int32_t box = world_add(&world, mesh, (double[]){0, 0, 0});
  double velocity[3] = {1.0, -0.5, 0.3};
  for (int k = 0; k < 3; k++) {
    world.body[box].velocity[k] =
        R[3 * k] * velocity[0] + R[3 * k + 1] * velocity[1] + R[3 * k + 2] * velocity[2];
    world.def.gravity[k] = -9.81 * R[3 * k + 1];
  }
  world_add_plane(&world, (double[]){0, 0, 0}, (double[]){R[1], R[4], R[7]});
  world.def.friction = 0.3;
  world.def.barrier_stiffness = stiffness;
  world.def.contact_distance = (NoliScaled){1e-3, false};
  world.def.friction_speed = (NoliScaled){1e-3, false};
  world.def.tolerance = (NoliScaled){1e-9, false};

  // simulate
  world_start(&world);
  for (int i = 0; i < 30; i++) {
    world_step(&world);
  }
  assert_true(world.report.contacts > 0);
  *n = noli_sim_vertex_count(world.sim);
  memcpy(x, noli_sim_positions(world.sim), (size_t)*n * 3 * sizeof(double));
  world_done(&world);
}

static void rotating_the_scene_rotates_the_answer(void** state) {
  (void)state;
  double identity[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
  // rotation by 1.1 about (1, 2, 2) / 3
  double c = cos(1.1), s = sin(1.1), a = 1.0 / 3, b = 2.0 / 3;
  double R[9] = {c + a * a * (1 - c),     a * b * (1 - c) - b * s, a * b * (1 - c) + b * s,
                 b * a * (1 - c) + b * s, c + b * b * (1 - c),     b * b * (1 - c) - a * s,
                 b * a * (1 - c) - b * s, b * b * (1 - c) + a * s, c + b * b * (1 - c)};
  // with a given barrier to rounding; if the barrier adapts, rounding may switch its stiffness, and
  // bodies rest at another distance below dhat = 1e-3 m
  double stiffness[2] = {1e9, 0.0}, bound[2] = {1e-7, 1e-3};
  for (int k = 0; k < 2; k++) {
    static double x[3000], y[3000];
    int32_t n;
    run_rotated(identity, stiffness[k], x, &n);
    run_rotated(R, stiffness[k], y, &n);
    double worst = 0.0;
    for (int32_t i = 0; i < 3 * n; i++) {
      const double *row = &R[3 * (i % 3)], *p = &x[i - i % 3];
      worst = noli_larger(worst, fabs(row[0] * p[0] + row[1] * p[1] + row[2] * p[2] - y[i]));
    }
    print_message("rotated scene, %s barrier: largest difference %.3g m\n",
                  stiffness[k] > 0.0 ? "given" : "adaptive", worst);
    ASSERT_AT_MOST(worst, bound[k]);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(free_fall_follows_the_closed_form),
      cmocka_unit_test(slow_bodies_gain_speed),
      cmocka_unit_test(iterative_solvers_miss_no_gravity),
      cmocka_unit_test(sheets_without_loads_fly_on),
      cmocka_unit_test(rotating_the_scene_rotates_the_answer),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
