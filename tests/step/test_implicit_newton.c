// Implicit Newton and implicit friction: quadratic convergence, the block that stops where theory
// predicts, contact in both directions and with obstacles of any kind, agreement of all its linear
// solvers and with the other solvers, the same bits for any thread count, invalid input and
// failures.
#include "world.h"

#include "solve/rounding.h"

static const double origin[3] = {0, 0, 0}, up[3] = {0, 1, 0};

// Two soft boxes on top of each other that slide: contact in both directions and on a half-space.
static World sliding_boxes(int32_t n_threads, const char* linear) {
  World world = world_new(n_threads);
  world_add(&world, make_box(&world, 0.2, 0.1, 0.2, 3), (double[]){0, 0.0501, 0});
  world_add(&world, make_box(&world, 0.12, 0.1, 0.12, 2), (double[]){0.01, 0.1503, 0.013});
  world.body[0].velocity[0] = 0.3;
  world.body[1].velocity[2] = 0.4;
  world.body[1].angular_velocity[1] = 2.0;
  world_add_plane(&world, origin, up);
  world.def.friction = 0.4;
  world.def.friction_method = "implicit";
  world.def.implicit_newton.linear = linear;
  world.def.time_step = 0.005;
  world.def.contact_distance = (NoliScaled){1e-3, false};
  world.def.tolerance = (NoliScaled){1e-7, false};
  return world;
}

// Near the solution
// r
// is squared in every iteration: the order estimated from three consecutive residuals of full exact
// steps, above rounding.
static void convergence_is_quadratic(void** state) {
  (void)state;

  // boxes that slide
  World world = sliding_boxes(1, "umfpack");
  world_start(&world);
  double best = 0.0;
  int n_orders = 0, n_quadratic = 0;

  // orders of convergence of each step
  for (int step = 0; step < 30; step++) {
    world_step(&world);
    const NoliNewtonStat* stat = world.report.newton;
    int n = world.report.newton_iterations;
    for (int k = 0; k + 2 < n; k++) {
      bool whole = stat[k].alpha == 1.0 && stat[k + 1].alpha == 1.0 && stat[k].fallback == 0 &&
                   stat[k + 1].fallback == 0;
      double e0 = stat[k].merit, e1 = stat[k + 1].merit, e2 = stat[k + 2].merit;
      // the last decades before rounding
      if (!whole || !(e2 > 1e-17) || !(e1 < 1e-2 * e0)) {
        continue;
      }
      double order = log(e2 / e1) / log(e1 / e0);
      n_orders++;
      n_quadratic += order > 1.5 ? 1 : 0;
      if (order > best && order < 3.0) {
        best = order;
        print_message("step %d: |r| %.2e, %.2e, %.2e: order %.2f\n", step + 1, e0, e1, e2, order);
      }
    }
  }

  // mostly quadratic
  print_message("%d of %d orders above 1.5\n", n_quadratic, n_orders);
  ASSERT_AT_LEAST(best, 1.7);
  assert_true(n_orders > 0 && 2 * n_quadratic >= n_orders);
  world_done(&world);
}

// [Larionov2024] fig. 4: position and time at which the block has stopped, by its mean velocity.
static void slide_block(const char* method, const char* integrator, double h, double* way,
                        double* time) {
  World world = world_new(1);
  const double slope = 10.0 * 3.14159265358979323846 / 180.0;
  int32_t block = world_add(&world, make_box(&world, 0.2, 0.1, 0.2, 1), (double[]){0, 0.05006, 0});
  world.body[block].material.young = 1e8;
  world.body[block].velocity[0] = 0.1;
  world_add_plane(&world, origin, up);
  world.def.gravity[0] = 9.81 * sin(slope);
  world.def.gravity[1] = -9.81 * cos(slope);
  world.def.friction = 0.177;
  world.def.friction_speed = (NoliScaled){1e-5, false};
  world.def.tolerance = (NoliScaled){1e-6, false};
  world.def.friction_method = method;
  world.def.integrator = integrator;
  world.def.time_step = h;
  world_start(&world);
  double start[3], now[3], before;
  world_centre(&world, block, start);
  now[0] = start[0];
  do {
    before = now[0];
    world_step(&world);
    world_centre(&world, block, now);
  } while (now[0] - before > 1e-5 * h && noli_sim_time(world.sim) < 20.0);
  *way = now[0] - start[0];
  *time = noli_sim_time(world.sim);
  world_done(&world);
}

static void block_stops_where_theory_says(void** state) {
  (void)state;
  const double steps[] = {0.1, 0.05};
  for (int i = 0; i < 2; i++) {
    double way, time;
    slide_block("implicit", "backward_euler", steps[i], &way, &time);
    print_message("h = %g s: stops after %.4f m, %.2f s (theory 0.769 m, 15.38 s)\n", steps[i], way,
                  time);
    ASSERT_NEAR(way, 0.769, 0.02 * 0.769);
    ASSERT_NEAR(time, 15.38, 0.02 * 15.38);
  }
}

// The same motion with every linear solver, to the tolerance of a step.
static void linear_solvers_agree(void** state) {
  (void)state;

  // each linear solver
  static const char* const names[] = {"umfpack", "bicgstab", "matrix_free", "automatic"};
  enum { STEPS = 6 };
  double* want = NULL;
  for (int k = 0; k < 4; k++) {
    World world = sliding_boxes(1, names[k]);
    world_start(&world);
    int64_t linear = 0;
    int newton = 0;
    for (int step = 0; step < STEPS; step++) {
      world_step(&world);
      linear += world.report.linear_iterations;
      newton += world.report.newton_iterations;
    }
    print_message("%s: %d Newton iterations, %lld linear ones\n", names[k], newton,
                  (long long)linear);
    assert_true((linear > 0) == (k == 1 || k == 2));
    int32_t n = 3 * noli_sim_vertex_count(world.sim);
    const double* x = noli_sim_positions(world.sim);
    if (k == 0) {
      want = malloc(sizeof *want * (size_t)n);
      memcpy(want, x, sizeof *want * (size_t)n);
    }
    for (int32_t i = 0; i < n; i++) {
      ASSERT_NEAR(x[i], want[i], 1e-7);
    }
    world_done(&world);
  }
  free(want);
}

static void bits_do_not_depend_on_threads(void** state) {
  (void)state;
  static const char* const names[] = {"umfpack", "bicgstab"};
  for (int k = 0; k < 2; k++) {
    uint64_t hash[3];
    for (int t = 0; t < 3; t++) {
      World world = sliding_boxes(t + 1, names[k]);
      world_start(&world);
      for (int step = 0; step < 5; step++) {
        world_step(&world);
      }
      hash[t] = noli_sim_state_hash(world.sim);
      world_done(&world);
    }
    assert_true(hash[0] == hash[1] && hash[0] == hash[2]);
  }
}

// Friction and contact alone give no momentum to two boxes that slide on each other in free space.
static void momentum_is_conserved(void** state) {
  (void)state;
  World world = sliding_boxes(1, "umfpack");
  world.def.n_half_spaces = 0;
  world.def.gravity[1] = 0.0;
  world.body[1].velocity[1] = -0.2;
  world_start(&world);
  double before[3] = {0.0}, largest = 0.0;
  for (int step = 0; step < 12; step++) {
    world_step(&world);
    for (int c = 0; c < 3; c++) {
      before[c] = step == 0 ? world.report.momentum[c] : before[c];
      largest = noli_larger(largest, fabs(world.report.momentum[c] - before[c]));
    }
    assert_true(world.report.friction_energy == 0.0);
  }
  assert_true(world.report.contacts_max >= 0);
  const NoliPairForce* pairs;
  int32_t n_pairs;
  ASSERT_OK(noli_sim_pair_forces(world.sim, &pairs, &n_pairs));
  print_message("momentum %.4g kg m/s, changed by %.2g\n", noli_norm3(noli_load3(before)), largest);
  ASSERT_AT_MOST(largest, 1e-5);
  world_done(&world);
}

// Bodies so stiff and small that rounding alone moves every vertex faster than the tolerance: a
// ring of 45 GPa and 0.3 mm, alone or with friction on the floor.
static World stiff_ring(bool floor) {
  World world = world_new(1);
  NoliMesh* mesh = NULL;
  ASSERT_OK(noli_mesh_make_torus(world.context, 3e-4, 6e-5, 8, 2, false, &mesh));
  world_add(&world, mesh, (double[]){0, 0, 0});
  world.body[0].material = (NoliMaterialDef){
      .law = world.body[0].material.law, .young = 4.5e10, .poisson = 0.33, .density = 816};
  world.def.solver = "implicit_newton";
  world.def.time_step = 0.0024;
  if (floor) {
    world.body[0].velocity[0] = 0.05;
    world_add_plane(&world, (double[]){0, -6.2e-5, 0}, up);
    world.def.friction_method = "implicit";
    world.def.friction = 0.3;
  }
  return world;
}

// The test at the end of a step allows for the rounding error of the values it compares.
static void rounding_does_not_keep_stiff_bodies_from_falling(void** state) {
  (void)state;
  World world = stiff_ring(false);
  world_start(&world);
  double start[3], end[3];
  world_centre(&world, 0, start);
  int newton = 0;
  for (int step = 0; step < 60; step++) {
    world_step(&world);
    assert_int_equal(world.report.substeps, 1);
    assert_int_equal(world.report.fallbacks, 0);
    newton += world.report.newton_iterations;
  }
  world_centre(&world, 0, end);
  // backward Euler falls by g h^2 n (n + 1) / 2
  double want = -world.def.gravity[1] * 0.0024 * 0.0024 * 60 * 61 / 2;
  print_message("%d iterations, falls %.9f m (%.9f)\n", newton, start[1] - end[1], want);
  ASSERT_NEAR(start[1] - end[1], want, 1e-12);
  ASSERT_AT_MOST(newton, 120);
  world_done(&world);
}

// A stiff rod that turns: a step along the tangent stretches it, and |r| grows a millionfold before
// it falls. Backward Euler turns a rigid rod by atan(h omega).
static void stiff_bodies_turn_in_few_iterations(void** state) {
  (void)state;

  // a short rod that turns
  const double h = 1.77e-3, omega = 11.6;
  World world = world_new(1);
  NoliMesh* mesh = NULL;
  ASSERT_OK(noli_mesh_make_rod(world.context, 1.8e-3, 4.6e-5, 9, 1, false, &mesh));
  world_add(&world, mesh, origin);
  world.body[0].material.young = 4.9e8;
  world.body[0].material.density = 3014;
  world.body[0].angular_velocity[1] = omega;
  world.def.solver = "implicit_newton";
  world.def.gravity[1] = 0.0;
  world.def.time_step = h;
  world_start(&world);

  // the vertices that are farthest apart
  int32_t first = 0, last = 0;
  for (int32_t i = 0; i < mesh->n_vert; i++) {
    first = mesh->x[3 * i] < mesh->x[3 * first] ? i : first;
    last = mesh->x[3 * i] > mesh->x[3 * last] ? i : last;
  }

  // turn
  double before = 0.0, turned = 0.0;
  for (int step = 0; step < 5; step++) {
    world_step(&world);
    const double* x = noli_sim_positions(world.sim);
    double along = x[3 * last] - x[3 * first], across = x[3 * first + 2] - x[3 * last + 2];
    turned = atan2(across, along) - before;
    before += turned;
    print_message("%d iterations, turned by %.6f (%.6f)\n", world.report.newton_iterations, turned,
                  atan(h * omega));
    ASSERT_NEAR(turned, atan(h * omega), 2e-3 * h * omega);
    ASSERT_AT_MOST(world.report.newton_iterations, 15);
    assert_int_equal(world.report.fallbacks, 0);
    assert_int_equal(world.report.substeps, 1);
  }
  world_done(&world);
}

// The bound on rounding is tight: neighbours of x in floating point, one unit in the last place
// away in every coordinate, have gradients that differ by less, and somewhere by nearly as much.
static void the_bound_of_rounding_is_close(void** state) {
  (void)state;

  // with and without contact
  for (int floor = 0; floor < 2; floor++) {
    World world = stiff_ring(floor == 1);
    world_start(&world);
    for (int step = 0; step < 3; step++) {
      world_step(&world);
    }
    assert_true((world.report.contacts > 0) == (floor == 1));
    NoliStage* stage = world.sim->stage;
    int32_t n = 3 * stage->problem->n_vert;
    double* before = malloc(sizeof *before * (size_t)n);
    ASSERT_OK(noli_stage_linearize_as(stage, 0));
    memcpy(before, stage->search.gradient, sizeof *before * (size_t)n);
    ASSERT_OK(noli_stage_rounding(stage));
    TestRandom random = {11};
    for (int32_t k = 0; k < n; k++) {
      stage->here->x[k] = nextafter(stage->here->x[k], test_random(&random, -1.0, 1.0));
    }
    noli_stage_list_contact_terms(stage);
    ASSERT_OK(noli_stage_linearize_as(stage, 0));
    double largest = 0.0;
    for (int32_t k = 0; k < n; k++) {
      largest = noli_larger(largest, fabs(stage->search.gradient[k] - before[k]) /
                                         stage->search.rounding[k]);
    }
    print_message("floor %d: gradients differ by %.3f of the bound\n", floor, largest);
    ASSERT_AT_MOST(largest, 1.0);
    ASSERT_AT_LEAST(largest, 0.05);
    free(before);
    world_done(&world);
  }
}

// A factorization replaces an iterative solver that fails, and is counted: a thin strip that is
// held at one end.
static void iterative_solvers_are_helped(void** state) {
  (void)state;

  // solvers on a rod that is held at one end
  static const char* const names[] = {"umfpack", "bicgstab", "matrix_free"};
  double end[3][3];
  for (int k = 0; k < 3; k++) {
    World world = world_new(1);
    world_add(&world, make_box(&world, 0.3, 0.002, 0.02, 4), (double[]){0, 0, 0});
    world.body[0].material.young = 1e11;
    world.body[0].material.poisson = 0.49;
    int32_t held[128], n_held = 0;
    const NoliMesh* mesh = world.mesh[0];
    for (int32_t i = 0; i < mesh->n_vert; i++) {
      if (mesh->x[3 * i] < -0.1499) {
        assert_in_range(n_held, 0, 127);
        held[n_held++] = i;
      }
    }
    NoliMotionDef* motion = world_add_motion(&world, 0, NULL, NULL);
    motion->node = held;
    motion->n_node = n_held;
    world.def.solver = "implicit_newton";
    world.def.implicit_newton.linear = names[k];
    world.def.time_step = 0.1;
    world_start(&world);
    int fallbacks = 0;
    for (int step = 0; step < 3; step++) {
      world_step(&world);
      assert_int_equal(world.report.substeps, 1);
      fallbacks += world.report.linear_fallbacks;
    }
    world_centre(&world, 0, end[k]);
    print_message("%s: %d systems factored, y %.9f m\n", names[k], fallbacks, end[k][1]);
    assert_true((fallbacks > 0) == (k > 0));
    ASSERT_NEAR(end[k][1], end[0][1], 1e-9);
    world_done(&world);
  }
}

// Without friction, and with lagged friction, the solution is that of projected Newton.
static void agrees_with_projected_newton(void** state) {
  (void)state;
  for (int lagged = 0; lagged < 2; lagged++) {
    double* want = NULL;
    for (int k = 0; k < 2; k++) {
      World world = sliding_boxes(1, "automatic");
      world.def.friction_method = "lagged";
      world.def.friction = lagged ? 0.4 : 0.0;
      world.def.barrier_stiffness = 1e10; // adapted along different paths otherwise
      world.def.solver = k == 0 ? "projected_newton" : "implicit_newton";
      world_start(&world);
      for (int step = 0; step < 8; step++) {
        world_step(&world);
      }
      int32_t n = 3 * noli_sim_vertex_count(world.sim);
      const double* x = noli_sim_positions(world.sim);
      if (k == 0) {
        want = malloc(sizeof *want * (size_t)n);
        memcpy(want, x, sizeof *want * (size_t)n);
      }
      for (int32_t i = 0; i < n; i++) {
        ASSERT_NEAR(x[i], want[i], 1e-7);
      }
      world_done(&world);
    }
    free(want);
  }
}

// Two soft boxes that hit the ground, with friction that is lagged once a step.
static World landing_boxes(double young, double h, double speed, const char* solver) {
  World world = world_new(1);
  world_add(&world, make_box(&world, 0.2, 0.1, 0.2, 2), (double[]){0, 0.06, 0});
  world_add(&world, make_box(&world, 0.12, 0.1, 0.12, 2), (double[]){0.01, 0.17, 0.013});
  for (int b = 0; b < 2; b++) {
    world.body[b].velocity[0] = 0.5 * speed;
    world.body[b].velocity[1] = -speed;
    world.body[b].material.young = young;
    world.body[b].angular_velocity[1] = 5.0;
  }
  world_add_plane(&world, origin, up);
  world.def.friction = 0.4;
  world.def.friction_method = "lagged";
  world.def.friction_iterations = 1;
  world.def.time_step = h;
  world.def.contact_distance = (NoliScaled){1e-3, false};
  world.def.tolerance = (NoliScaled){1e-6, false};
  world.def.barrier_stiffness = 1e9; // adapted along different paths otherwise
  world.def.max_substeps = 1;
  world.def.solver = solver;
  return world;
}

// A better start does not change the problem: lagged friction keeps the normal forces of the start
// of the step. With those of the improved start, the error of the boxes would be 0.2 to 0.4 m. The
// start uses plain Hessians as long as they are positive definite: 13 iterations in the first case,
// 72 with projected ones.
static void better_starts_keep_lagged_friction(void** state) {
  (void)state;
  static const double cases[][3] = {{1e5, 0.1, 3.0}, {1e6, 0.01, 40.0}, {1e6, 0.03, 10.0}};
  for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
    enum { STEPS = 4 };
    double *want = NULL, off = 0.0;
    int started = 0;
    for (int k = 0; k < 2; k++) {
      World world = landing_boxes(cases[c][0], cases[c][1], cases[c][2],
                                  k == 0 ? "projected_newton" : "implicit_newton");
      world_start(&world);
      int32_t n = 3 * noli_sim_vertex_count(world.sim);
      want = k == 0 ? malloc(sizeof *want * (size_t)n * STEPS) : want;
      for (int step = 0; step < STEPS; step++) {
        world_step(&world);
        for (int i = 0; i < world.report.newton_iterations; i++) {
          started += k == 1 && world.report.newton[i].fallback == 3;
        }
        for (int32_t i = 0; i < n; i++) {
          double x = noli_sim_positions(world.sim)[i], *at = &want[step * n + i];
          *at = k == 0 ? x : *at;
          off = noli_larger(off, fabs(x - *at));
        }
      }
      world_done(&world);
    }
    free(want);
    print_message("E %.0e Pa, h %g s, %g m/s: off by %.2g m with %d iterations of better starts\n",
                  cases[c][0], cases[c][1], cases[c][2], off, started);
    ASSERT_AT_MOST(off, 1e-5);
    assert_in_range(started, 1, c == 0 ? 30 : 100);
  }
}

// A ball on wires that move below it: open obstacles exert friction and drag it along.
static void wires_take_a_ball_along(void** state) {
  (void)state;

  // with and without friction
  double way[2];
  for (int rubs = 0; rubs < 2; rubs++) {
    World world = world_new(1);
    enum { N = 7 };
    NoliMesh* wires = NULL;
    ASSERT_OK(noli_mesh_create(world.context, 2 * N, 0, 0, N, 0, false, &wires));
    for (int i = 0; i < N; i++) {
      double x[6] = {-0.5, 0.0, 0.06 * (i - N / 2), 0.5, 0.0, 0.06 * (i - N / 2)};
      memcpy(&wires->x[6 * i], x, sizeof x);
      wires->edge[2 * i] = 2 * i, wires->edge[2 * i + 1] = 2 * i + 1;
    }
    int32_t ball = world_add(&world, make_sphere(&world, 0.1, 4), (double[]){0, 0.102, 0.003});
    int32_t bed = world_add_obstacle(&world, wires, origin);
    world.body[ball].material.young = 5e4;
    double speed = 0.0;
    world_add_motion(&world, bed, move_down, &speed);
    world.body[ball].velocity[0] = 0.2;
    world.def.friction = rubs ? 0.3 : 0.0;
    world.def.friction_method = "implicit";
    world.def.time_step = 0.01;
    world_start(&world);
    double centre[3];
    int fallbacks = 0;
    for (int step = 0; step < 40; step++) {
      world_step(&world);
      fallbacks += world.report.fallbacks;
    }
    print_message("%d iterations of fallbacks\n", fallbacks);
    world_centre(&world, ball, centre);
    way[rubs] = centre[0];
    assert_true(world.report.contacts > 0);
    world_done(&world);
  }

  // friction moves the ball
  print_message("ball on wires: %.4f m with friction, %.4f m without\n", way[1], way[0]);
  ASSERT_NEAR(way[0], 0.08, 0.004);
  ASSERT_AT_MOST(way[1], 0.9 * way[0]);
  ASSERT_AT_LEAST(way[1], 0.2 * way[0]);
}

// Without the basis term of the Jacobian the solution is the same.
static void basis_term_may_be_dropped(void** state) {
  (void)state;
  double x[2][3];
  int iterations[2] = {0, 0};
  for (int k = 0; k < 2; k++) {
    World world = sliding_boxes(1, "umfpack");
    world.def.friction_basis_derivatives = k == 0;
    world_start(&world);
    for (int step = 0; step < 8; step++) {
      world_step(&world);
      iterations[k] += world.report.newton_iterations;
    }
    world_centre(&world, 1, x[k]);
    world_done(&world);
  }
  print_message("Newton iterations: %d with the basis term, %d without\n", iterations[0],
                iterations[1]);
  for (int c = 0; c < 3; c++) {
    ASSERT_NEAR(x[0][c], x[1][c], 1e-7);
  }
}

static void senseless_combinations_are_refused(void** state) {
  (void)state;
  World world = sliding_boxes(1, "automatic");
  world.def.solver = "projected_newton";
  world_expect_refusal(&world, "implicit friction needs the solver \"implicit_newton\"");
  world = sliding_boxes(1, "automatic");
  world.def.solver = "augmented_lagrangian";
  world_expect_refusal(&world, "multipliers");
  world = sliding_boxes(1, "cholmod");
  world_expect_refusal(&world, "there is no linear solver for implicit_newton \"cholmod\"");
  world = sliding_boxes(1, "automatic");
  world.def.friction_method = "explicit";
  world_expect_refusal(&world, "there is no friction method \"explicit\"");
  world = sliding_boxes(1, "automatic");
  world.def.termination = "toi";
  world_expect_refusal(&world, "toi");
}

// A step that exceeds its iterations fails, reports its residuals, and changes nothing.
static void failure_changes_nothing(void** state) {
  (void)state;
  World world = sliding_boxes(1, "umfpack");
  world.def.max_iterations = 1;
  world.def.max_substeps = 1;
  world_start(&world);
  uint64_t before = noli_sim_state_hash(world.sim);
  ASSERT_STATUS(noli_sim_step(world.sim, &world.report), NOLI_NOT_CONVERGED);
  print_message("%s\n", noli_context_message(world.context));
  assert_non_null(strstr(noli_context_message(world.context), "implicit Newton"));
  assert_true(noli_sim_state_hash(world.sim) == before);
  world_done(&world);
}

// A step that exceeds the iterations allowed is divided; the time, the loads and the stored values
// are those of the full step, and the result is that of the same number of short steps.
static void divide_step(const char* integrator, int32_t max_iterations) {

  // a long step, and several short ones
  double *want = NULL, time = 0.0;
  int substeps = 0;
  for (int k = 0; k < 2; k++) {
    World world = sliding_boxes(1, "umfpack");
    world.def.integrator = integrator;
    world.def.barrier_stiffness = 1e10;
    world.def.time_step = 0.02;
    world.def.stick_length = (NoliScaled){1e-6, false}; // the default is proportional to the step
    if (k == 0) {
      world.def.max_iterations = max_iterations;
      world.def.max_substeps = 1024;
    }
    if (k == 1) {
      world.def.time_step /= substeps;
    }
    world_start(&world);
    int n = k == 0 ? 1 : substeps;
    for (int step = 0; step < n; step++) {
      world_step(&world);
      assert_int_equal(world.report.substeps > 1, k == 0);
    }
    assert_int_equal(noli_sim_step_count(world.sim), n);
    int32_t count = 3 * noli_sim_vertex_count(world.sim);
    const double* x = noli_sim_positions(world.sim);
    if (k == 0) {
      substeps = world.report.substeps;
      time = noli_sim_time(world.sim);
      want = malloc(sizeof *want * (size_t)count);
      memcpy(want, x, sizeof *want * (size_t)count);
      print_message("%s: divided into %d parts, %d iterations in all\n", integrator, substeps,
                    world.report.newton_iterations);
    }
    ASSERT_NEAR(noli_sim_time(world.sim), time, 1e-15);
    for (int32_t i = 0; i < count; i++) {
      ASSERT_NEAR(x[i], want[i], 1e-12);
    }
    world_done(&world);
  }
  free(want);
}

static void steps_are_divided(void** state) {
  (void)state;
  static const char* const names[] = {"backward_euler", "bdf2", "trapezoidal", "sdirk2"};
  // fewer than the full step takes
  static const int32_t most[] = {9, 9, 24, 10};
  for (int k = 0; k < 4; k++) {
    divide_step(names[k], most[k]);
  }
}

// If no division helps, the step fails and the state before it is kept, bit for bit; with other
// limits the same simulation continues.
static void divided_steps_that_fail_change_nothing(void** state) {
  (void)state;
  World world = sliding_boxes(1, "umfpack");
  world.def.time_step = 0.02;
  world.def.max_iterations = 2;
  world.def.max_substeps = 4;
  world_start(&world);
  uint64_t before = noli_sim_state_hash(world.sim);
  NoliStatus status = noli_sim_step(world.sim, &world.report);
  assert_true(status > NOLI_OK);
  assert_int_equal(world.report.substeps, 4);
  assert_true(noli_sim_state_hash(world.sim) == before);
  assert_int_equal(noli_sim_step_count(world.sim), 0);
  world_done(&world);
}

// Friction of a sliding box is mu times its varying normal force at every instant: over any time, m
// (v0 - v_x) = mu m (v_y + g t), with every integrator.
static void every_integrator_has_implicit_friction(void** state) {
  (void)state;

  // each integrator
  static const char* const names[] = {"backward_euler", "bdf2", "trapezoidal", "sdirk2", "tr_bdf2"};
  for (int k = 0; k < 5; k++) {
    World world = world_new(1);
    int32_t box = world_add(&world, make_box(&world, 0.2, 0.1, 0.2, 2), (double[]){0, 0.0509, 0});
    world.body[box].velocity[0] = 1.0;
    // stiff, or else it spreads on the ground: friction opposes the motion of every vertex
    world.body[box].material.young = 1e7;
    world.body[box].material.damping = 1e-3;
    world_add_plane(&world, origin, up);
    world.def.friction = 0.4;
    world.def.friction_method = "implicit";
    world.def.integrator = names[k];
    world.def.time_step = 0.002;
    world.def.contact_distance = (NoliScaled){1e-3, false};
    world.def.tolerance = (NoliScaled){1e-6, false};
    world_start(&world);
    for (int i = 0; i < 80; i++) {
      world_step(&world);
    }
    const double* mass = noli_sim_masses(world.sim);
    double total = 0.0, t = noli_sim_time(world.sim);
    for (int32_t i = 0; i < noli_sim_vertex_count(world.sim); i++) {
      total += mass[i];
    }
    double lost = 1.0 - world.report.momentum[0] / total;
    double theory = 0.4 * (world.report.momentum[1] / total + 9.80665 * t);
    print_message("%s: %.6f m/s lost in %g s, theory %.6f m/s\n", names[k], lost, t, theory);
    ASSERT_NEAR(lost, theory, 1e-3 * theory);
    world_done(&world);
  }
}

// Pressed by 2 % of its height, then dragged.
static void press_and_drag(void* user, double t0, double t1, int32_t n, const int32_t* node,
                           const double* X, const double* x_t0, double* x_t1) {
  (void)user;
  (void)t0;
  (void)node;
  (void)x_t0;
  double down = 0.002 * fmin(t1, 1.0), along = 0.01 * fmax(t1 - 1.0, 0.0);
  for (int32_t i = 0; i < n; i++) {
    x_t1[3 * i] = X[3 * i] + along;
    x_t1[3 * i + 1] = X[3 * i + 1] - down;
    x_t1[3 * i + 2] = X[3 * i + 2];
  }
}

// Load steps without inertia: a body that is dragged pulls with mu times the normal force.
static void load_steps_have_implicit_friction(void** state) {
  (void)state;

  // a block that is pressed down and dragged
  World world = world_new(1);
  int32_t box = world_add(&world, make_box(&world, 0.2, 0.1, 0.2, 2), (double[]){0, 0.0502, 0});
  NoliMotionDef* motion = world_add_motion(&world, box, press_and_drag, NULL);
  int32_t top[64], n_top = 0;
  const NoliMesh* mesh = world.mesh[box];
  for (int32_t i = 0; i < mesh->n_vert; i++) {
    if (mesh->x[3 * i + 1] > 0.1001) {
      assert_in_range(n_top, 0, 63);
      top[n_top++] = i;
    }
  }

  // prescribe its upper side
  motion->node = top;
  motion->n_node = n_top;
  world_add_plane(&world, origin, up);
  world.def.gravity[1] = 0.0;
  world.def.friction = 0.4;
  world.def.friction_method = "implicit";
  world.def.integrator = "quasi_static";
  world.def.time_step = 0.1;
  world.def.contact_distance = (NoliScaled){1e-3, false};
  world_start(&world);

  // friction is mu times the normal force
  for (int i = 0; i < 40; i++) {
    world_step(&world);
  }
  const NoliPairForce* pairs;
  int32_t n_pairs;
  ASSERT_OK(noli_sim_pair_forces(world.sim, &pairs, &n_pairs));
  assert_int_equal(n_pairs, 1);
  print_message("normal force %.3f N, friction %.3f N\n", pairs[0].normal[1], pairs[0].friction[0]);
  ASSERT_AT_LEAST(fabs(pairs[0].normal[1]), 1.0);
  ASSERT_NEAR(fabs(pairs[0].friction[0]), 0.4 * fabs(pairs[0].normal[1]),
              1e-3 * fabs(pairs[0].normal[1]));
  world_done(&world);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(convergence_is_quadratic),
      cmocka_unit_test(block_stops_where_theory_says),
      cmocka_unit_test(linear_solvers_agree),
      cmocka_unit_test(bits_do_not_depend_on_threads),
      cmocka_unit_test(momentum_is_conserved),
      cmocka_unit_test(rounding_does_not_keep_stiff_bodies_from_falling),
      cmocka_unit_test(stiff_bodies_turn_in_few_iterations),
      cmocka_unit_test(the_bound_of_rounding_is_close),
      cmocka_unit_test(iterative_solvers_are_helped),
      cmocka_unit_test(agrees_with_projected_newton),
      cmocka_unit_test(better_starts_keep_lagged_friction),
      cmocka_unit_test(wires_take_a_ball_along),
      cmocka_unit_test(basis_term_may_be_dropped),
      cmocka_unit_test(senseless_combinations_are_refused),
      cmocka_unit_test(failure_changes_nothing),
      cmocka_unit_test(steps_are_divided),
      cmocka_unit_test(divided_steps_that_fail_change_nothing),
      cmocka_unit_test(every_integrator_has_implicit_friction),
      cmocka_unit_test(load_steps_have_implicit_friction),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
