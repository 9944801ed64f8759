// Motions of single components: each prescribed component is followed, or stopped, separately; the
// others are left to physics.
#include "world.h"

#include "material/material.h"

#define G 9.80665

enum { X_AXIS = 1, Y_AXIS = 2, Z_AXIS = 4 };

// Adds the same velocity to all components; motions ignore free components, even NaN.
static void move_all(void* user, double t0, double t1, int32_t n, const int32_t* node,
                     const double* X, const double* x_t0, double* x_t1) {
  (void)node;
  (void)X;
  const double* velocity = user;
  for (int32_t i = 0; i < 3 * n; i++) {
    x_t1[i] = x_t0[i] + (t1 - t0) * velocity[i % 3];
  }
}

static NoliMotionDef* prescribe(World* world, int32_t body, unsigned axes, double* velocity) {
  NoliMotionDef* motion =
      world_add_motion(world, body, velocity != NULL ? move_all : NULL, velocity);
  for (int k = 0; k < 3; k++) {
    motion->free_axis[k] = (axes >> k & 1) == 0;
  }
  return motion;
}

// Vertices of a mesh whose component k of X is `where`; lists live as long as the test.
static void on_plane(const NoliMesh* mesh, int k, double where, NoliMotionDef* motion) {
  static int32_t pool[16][600];
  static int used;
  int32_t* node = pool[used++ % 16];
  motion->node = node;
  motion->n_node = 0;
  for (int32_t i = 0; i < mesh->n_vert; i++) {
    if (fabs(mesh->x[3 * i + k] - where) < 1e-9) {
      assert_in_range(motion->n_node, 0, 599);
      node[motion->n_node++] = i;
    }
  }
  assert_true(motion->n_node > 0);
}

// A block with all vertices held in x and pulled: it falls in y and flies in z as if it were free.
static void free_components_fall(void** state) {
  (void)state;

  // both integrators
  static const char* const integrators[] = {"backward_euler", "trapezoidal"};
  for (int k = 0; k < 2; k++) {
    World world = world_new(1);
    double pull[3] = {0.5, (double)NAN, (double)NAN};
    int32_t block = world_add(&world, make_box(&world, 0.2, 0.2, 0.2, 2), (double[]){0, 0, 0});
    world.body[block].velocity[2] = 0.3;
    prescribe(&world, block, X_AXIS, pull);
    world.def.integrator = integrators[k];
    world_start(&world);
    double h = world.def.time_step, y = 0.0, v = 0.0, off = 0.0;
    for (int step = 1; step <= 40; step++) {
      world_step(&world);
      double before = v;
      v -= h * G;
      y += k == 0 ? h * v : 0.5 * h * (before + v);
      ASSERT_NEAR(world.report.motion_done, 1.0, 0.0);
      for (int32_t i = 0; i < noli_sim_vertex_count(world.sim); i++) {
        const double* x = noli_sim_positions(world.sim) + 3 * i;
        const double* X = noli_sim_rest_positions(world.sim) + 3 * i;
        off = noli_larger(off, fabs(x[0] - X[0] - 0.5 * h * step));
        off = noli_larger(off, fabs(x[1] - X[1] - y));
        off = noli_larger(off, fabs(x[2] - X[2] - 0.3 * h * step));
        off = noli_larger(off, fabs(noli_sim_velocities(world.sim)[3 * i] - 0.5));
        off = noli_larger(off, fabs(noli_sim_velocities(world.sim)[3 * i + 1] - v));
      }
    }
    print_message("%s: off by %.3g\n", integrators[k], off);
    ASSERT_AT_MOST(off, 1e-10);
    world_done(&world);
  }
}

// One face is pulled in x: the block stretches and swings, its centre falls freely in y and z.
static void pulled_face_leaves_the_centre_alone(void** state) {
  (void)state;
  World world = world_new(1);
  double pull[3] = {0.5, 0, 0}, centre[3], y = 0.0, v = 0.0;
  int32_t block = world_add(&world, make_box(&world, 0.2, 0.2, 0.2, 3), (double[]){0, 0, 0});
  on_plane(world.mesh[block], 0, 0.1, prescribe(&world, block, X_AXIS, pull));
  world.def.tolerance = (NoliScaled){1e-10, true};
  world_start(&world);
  double h = world.def.time_step;
  for (int step = 1; step <= 30; step++) {
    world_step(&world);
    v -= h * G;
    y += h * v;
    world_centre(&world, block, centre);
    ASSERT_NEAR(centre[1], y, 1e-10);
    ASSERT_NEAR(centre[2], 0.0, 1e-10);
  }
  for (int32_t i = 0; i < world.motion[0].n_node; i++) {
    ASSERT_NEAR(noli_sim_positions(world.sim)[3 * world.motion[0].node[i]], 0.1 + 0.15, 1e-12);
  }
  ASSERT_AT_LEAST(world.report.elastic, 1e-8);
  world_done(&world);
}

// The last motion that prescribes a component overrides earlier ones, which still determine the
// others.
static void motions_win_by_component(void** state) {
  (void)state;
  World world = world_new(1);
  double first[3] = {1, 2, 3}, second[3] = {(double)NAN, -1, (double)NAN};
  int32_t block = world_add(&world, make_box(&world, 0.2, 0.2, 0.2, 1), (double[]){0, 0, 0});
  prescribe(&world, block, X_AXIS | Y_AXIS | Z_AXIS, first);
  prescribe(&world, block, Y_AXIS, second);
  prescribe(&world, block, Z_AXIS, NULL)->t_begin = 0.015;
  world_start(&world);
  for (int step = 0; step < 4; step++) {
    world_step(&world);
  }
  for (int32_t i = 0; i < 8; i++) {
    const double* x = noli_sim_positions(world.sim) + 3 * i;
    const double* X = noli_sim_rest_positions(world.sim) + 3 * i;
    ASSERT_NEAR(x[0] - X[0], 0.04, 1e-14);
    ASSERT_NEAR(x[1] - X[1], -0.04, 1e-14);
    ASSERT_NEAR(x[2] - X[2], 0.06, 1e-14);
  }
  world_done(&world);
}

// A block is driven in x into a wall: it stops there and reports it, while it falls freely along
// it.
static World drive_into_wall(const char* solver, int32_t n_threads) {
  static double drive[3] = {1.0, 0, 0};
  World world = world_new(n_threads);
  int32_t block = world_add(&world, make_box(&world, 0.2, 0.2, 0.2, 2), (double[]){0, 0, 0});
  world_add_plane(&world, (double[]){0.13, 0, 0}, (double[]){-1, 0, 0});
  on_plane(world.mesh[block], 0, 0.1, prescribe(&world, block, X_AXIS, drive));
  world.body[block].material.young = 1e6;
  world.def.linear_solver = solver;
  world.def.tolerance = (NoliScaled){1e-6, true};
  world_start(&world);
  return world;
}

static void blocked_component_stops_alone(void** state) {
  (void)state;
  World world = drive_into_wall("cholmod", 1);
  double h = world.def.time_step, y = 0.0, v = 0.0, centre[3], front = 0.0;
  for (int step = 1; step <= 12; step++) {
    world_step(&world);
    v -= h * G;
    y += h * v;
    world_centre(&world, 0, centre);
    ASSERT_NEAR(centre[1], y, 1e-7);
    ASSERT_NEAR(centre[2], 0.0, 1e-7);
    front = noli_sim_positions(world.sim)[3 * world.motion[0].node[0]];
    if (step <= 2) {
      ASSERT_NEAR(front, 0.1 + h * step, 1e-3 * h);
      assert_string_equal(world.report.blocked_by, "");
    }
  }
  print_message("stops %.3g before the wall: %s\n", 0.13 - front, world.report.blocked_by);
  assert_non_null(strstr(world.report.blocked_by, "\"ground\""));
  ASSERT_AT_MOST(world.report.motion_done, 0.1);
  ASSERT_AT_LEAST(world.report.motion_done, 0.0);
  for (int32_t i = 0; i < world.motion[0].n_node; i++) {
    double gap = 0.13 - noli_sim_positions(world.sim)[3 * world.motion[0].node[i]];
    ASSERT_AT_LEAST(gap, 1e-12);
    ASSERT_AT_MOST(gap, 1e-4);
  }
  world_done(&world);
}

static void solvers_agree(void** state) {
  (void)state;
  static const char* const solvers[] = {"dense", "pcg"};
  for (int k = 0; k < 2; k++) {
    World world = drive_into_wall("cholmod", 1), other = drive_into_wall(solvers[k], 1);
    double off = 0.0;
    for (int step = 0; step < 8; step++) {
      world_step(&world);
      world_step(&other);
    }
    for (int32_t i = 0; i < 3 * noli_sim_vertex_count(world.sim); i++) {
      off = noli_larger(off,
                        fabs(noli_sim_positions(world.sim)[i] - noli_sim_positions(other.sim)[i]));
    }
    print_message("%s and cholmod differ by %.3g m\n", solvers[k], off);
    ASSERT_AT_MOST(off, 1e-7);
    world_done(&world);
    world_done(&other);
  }
}

static void restart_and_threads_give_the_same_bits(void** state) {
  (void)state;
  World first = drive_into_wall("cholmod", 1), second = drive_into_wall("cholmod", 2);
  World third = drive_into_wall("cholmod", 1);
  for (int step = 0; step < 8; step++) {
    if (step == 4) {
      ASSERT_OK(noli_sim_copy_state(third.sim, first.sim));
    }
    world_step(&first);
    world_step(&second);
    assert_true(noli_sim_state_hash(first.sim) == noli_sim_state_hash(second.sim));
    if (step >= 4) {
      world_step(&third);
      assert_true(noli_sim_state_hash(first.sim) == noli_sim_state_hash(third.sim));
    }
  }
  world_done(&first);
  world_done(&second);
  world_done(&third);
}

// Transverse stretch a of a bar stretched by l under uniaxial stress, from the law
// P_i = mu (s_i - 1 / s_i) + lambda ln J / s_i: the transverse one vanishes.
static double transverse_stretch(NoliLame lame, double l) {
  double a = 1.0;
  for (int i = 0; i < 50; i++) {
    double f = lame.mu * (a * a - 1.0) + lame.lambda * log(l * a * a);
    a -= f / (2.0 * lame.mu * a + 2.0 * lame.lambda / a);
  }
  return a;
}

// A bar between rollers: one end in its plane, the other moved in x, and three components of two
// vertices against rigid motion. Linear elements reproduce uniaxial stress exactly.
static void rollers_give_uniaxial_stress(void** state) {
  (void)state;

  // each linear solver
  static const char* const solvers[] = {"cholmod", "dense", "pcg"};
  for (int k = 0; k < 3; k++) {
    World world = world_new(1);
    NoliMesh* mesh = NULL;
    double speed[3] = {0.0004, 0, 0};
    ASSERT_OK(noli_mesh_make_box(world.context, (double[]){0.4, 0.1, 0.2}, (int32_t[]){4, 2, 2},
                                 false, &mesh));
    int32_t bar = world_add(&world, mesh, (double[]){0.2, 0.05, 0.1});
    on_plane(mesh, 0, 0.0, prescribe(&world, bar, X_AXIS, NULL));
    NoliMotionDef* pull = prescribe(&world, bar, X_AXIS, speed);
    on_plane(mesh, 0, 0.4, pull);
    pull->t_end = 550.0;
    int32_t corner[2] = {NOLI_NULL_INDEX, NOLI_NULL_INDEX};
    for (int32_t i = 0; i < mesh->n_vert; i++) {
      const double* X = mesh->x + 3 * i;
      if (fabs(X[0]) + fabs(X[2]) < 1e-9 && (fabs(X[1]) < 1e-9 || fabs(X[1] - 0.1) < 1e-9)) {
        corner[X[1] > 0.05] = i;
      }
    }
    for (int c = 0; c < 2; c++) {
      NoliMotionDef* pin = prescribe(&world, bar, c == 0 ? Y_AXIS | Z_AXIS : Z_AXIS, NULL);
      pin->node = &corner[c];
      pin->n_node = 1;
    }
    // the last motion continues as a roller where the pull has ended
    NoliMotionDef* roller = prescribe(&world, bar, X_AXIS, NULL);
    roller->node = pull->node;
    roller->n_node = pull->n_node;
    roller->t_begin = 550.0;
    world.def.linear_solver = solvers[k];
    world.def.gravity[1] = 0.0;
    world.def.contact = false;
    world.def.time_step = 100.0; // inertia is negligible
    world.def.tolerance = (NoliScaled){1e-14, true};
    world_start(&world);
    for (int step = 0; step < 9; step++) {
      world_step(&world);
    }
    double l = 1.0 + 600.0 * speed[0] / 0.4;
    NoliLame lame = noli_material_lame(&world.body[bar].material);
    double a = transverse_stretch(lame, l), off = 0.0, stress_off = 0.0, stress[16 * 6];
    double P = lame.mu * (l - 1.0 / l) + lame.lambda * log(l * a * a) / l;
    for (int32_t i = 0; i < mesh->n_vert; i++) {
      const double *x = noli_sim_positions(world.sim) + 3 * i, *X = mesh->x + 3 * i;
      off = noli_larger(off, fabs(x[0] - l * X[0]));
      off = noli_larger(off, noli_larger(fabs(x[1] - a * X[1]), fabs(x[2] - a * X[2])));
    }
    assert_int_equal(noli_sim_tet_count(world.sim), 96);
    ASSERT_OK(noli_sim_von_mises(world.sim, stress));
    for (int32_t t = 0; t < 96; t++) {
      stress_off = noli_larger(stress_off, fabs(stress[t] / (P / (a * a)) - 1.0));
    }
    print_message("%s: stretch %.3g, transverse %.6g, off by %.3g m, stress by %.3g\n", solvers[k],
                  l, a, off, stress_off);
    ASSERT_AT_MOST(off, 1e-9);
    ASSERT_AT_MOST(stress_off, 1e-7);
    world_done(&world);
  }
}

// A vertex without elements has no inertia: its other components do not move.
static void unused_vertices_stand_still(void** state) {
  (void)state;
  World world = world_new(1);
  double drive[3] = {0.5, 0, 0};
  NoliMesh* mesh = NULL;
  ASSERT_OK(noli_mesh_create(world.context, 5, 1, 0, 0, 0, false, &mesh));
  const double x[15] = {0.5, 0.5, 0.5, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1};
  memcpy(mesh->x, x, sizeof x);
  memcpy(mesh->tet, (int32_t[]){1, 2, 3, 4}, 4 * sizeof(int32_t));
  world_add(&world, mesh, (double[]){0, 0, 0});
  world_add_plane(&world, (double[]){1.02, 0, 0}, (double[]){-1, 0, 0});
  prescribe(&world, 0, X_AXIS, drive);
  world_start(&world);
  for (int step = 0; step < 8; step++) {
    world_step(&world);
    ASSERT_NEAR(noli_sim_positions(world.sim)[1], 0.5, 1e-12);
    ASSERT_NEAR(noli_sim_positions(world.sim)[2], 0.5, 1e-12);
  }
  assert_string_not_equal(world.report.blocked_by, "");
  ASSERT_AT_MOST(noli_sim_positions(world.sim)[6], 1.02);
  ASSERT_AT_MOST(noli_sim_positions(world.sim)[4], -0.02);
  world_done(&world);
}

static void bad_axes_are_refused(void** state) {
  (void)state;
  static const char* const messages[] = {"motion 0 prescribes no component",
                                         "obstacle \"body0\" cannot have free components"};
  for (int k = 0; k < 2; k++) {
    World world = world_new(1);
    world_add(&world, make_box(&world, 0.2, 0.2, 0.2, 1), (double[]){0, 0, 0});
    world.body[0].obstacle = k == 1;
    prescribe(&world, 0, k == 0 ? 0 : Y_AXIS | Z_AXIS, NULL);
    ASSERT_STATUS(world_create(&world), NOLI_ERROR_ARGUMENT);
    assert_non_null(strstr(noli_context_message(world.context), messages[k]));
    world_done(&world);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(free_components_fall),
      cmocka_unit_test(pulled_face_leaves_the_centre_alone),
      cmocka_unit_test(motions_win_by_component),
      cmocka_unit_test(blocked_component_stops_alone),
      cmocka_unit_test(solvers_agree),
      cmocka_unit_test(restart_and_threads_give_the_same_bits),
      cmocka_unit_test(rollers_give_uniaxial_stress),
      cmocka_unit_test(unused_vertices_stand_still),
      cmocka_unit_test(bad_axes_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
