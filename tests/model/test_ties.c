// Ties: two bodies that are tied together are one, in statics and in motion, with every integrator
// and solver; the reduced equations, the bits of resumed runs and threads, contact beside ties, and
// rejected input.
#include "step/world.h"

#include "noli/output.h"

enum { NODES_MAX = 512 };

typedef struct Tied {
  World world;
  NoliTieDef tie[4];
  int32_t node[4][NODES_MAX];
} Tied;

static Tied* tied_new(int32_t n_threads) {
  Tied* tied = calloc(1, sizeof *tied);
  assert_non_null(tied);
  tied->world = world_new(n_threads);
  return tied;
}

static void tied_done(Tied* tied) {
  world_done(&tied->world);
  free(tied);
}

// Ties the vertices of a body whose coordinate is within 1e-9 of a value.
static NoliTieDef* add_tie(Tied* tied, int32_t body, int axis, double value, int32_t to) {
  int32_t k = tied->world.def.n_ties++;
  const NoliMesh* mesh = tied->world.mesh[body];
  tied->tie[k] = noli_default_tie_def();
  tied->tie[k].body = body;
  tied->tie[k].to = to;
  tied->tie[k].node = tied->node[k];
  for (int32_t i = 0; i < mesh->n_vert; i++) {
    if (fabs(mesh->x[3 * i + axis] - value) < 1e-9) {
      tied->node[k][tied->tie[k].n_node++] = i;
    }
  }
  tied->world.def.ties = tied->tie;
  return &tied->tie[k];
}

static NoliMesh* make_bar(World* world, double length, int32_t along, int32_t across) {
  NoliMesh* mesh = NULL;
  ASSERT_OK(noli_mesh_make_box(world->context, (double[]){length, 0.2, 0.2},
                               (int32_t[]){along, across, across}, false, &mesh));
  return mesh;
}

// The tetrahedra of a mesh on one side of x = 0.
static NoliMesh* make_half(World* world, const NoliMesh* whole, bool right) {
  NoliMesh* half = NULL;
  int32_t number[NODES_MAX], n_vert = 0, n_tet = 0;
  for (int32_t i = 0; i < whole->n_vert; i++) {
    double x = whole->x[3 * i];
    number[i] = (right ? x : -x) > -1e-9 ? n_vert++ : NOLI_NULL_INDEX;
  }
  for (int pass = 0; pass < 2; pass++) {
    int32_t n = 0;
    for (int32_t t = 0; t < whole->n_tet; t++) {
      const int32_t* tet = whole->tet + 4 * t;
      bool in =
          number[tet[0]] >= 0 && number[tet[1]] >= 0 && number[tet[2]] >= 0 && number[tet[3]] >= 0;
      for (int k = 0; in && pass == 1 && k < 4; k++) {
        half->tet[4 * n + k] = number[tet[k]];
      }
      n += in ? 1 : 0;
    }
    n_tet = n;
    if (pass == 0) {
      ASSERT_OK(noli_mesh_create(world->context, n_vert, n_tet, 0, 0, 0, false, &half));
    }
  }
  assert_int_equal(2 * n_tet, whole->n_tet);
  for (int32_t i = 0; i < whole->n_vert; i++) {
    if (number[i] >= 0) {
      memcpy(half->x + 3 * number[i], whole->x + 3 * i, 3 * sizeof(double));
    }
  }
  return half;
}

static int32_t make_sheet(World* world, double width, double height, int32_t cells,
                          const double at[3]) {
  NoliMesh* mesh = NULL;
  ASSERT_OK(noli_mesh_make_rectangle(world->context, width, height, cells, cells, &mesh));
  int32_t body = world_add(world, mesh, at);
  world->body[body].shell.thickness = 2e-3;
  world->body[body].material.law = "stvk";
  world->body[body].material.young = 2e6;
  return body;
}

static void hold_end(World* world, int32_t body, double x, int32_t* held) {
  const NoliMesh* mesh = world->mesh[body];
  NoliMotionDef* motion = world_add_motion(world, body, NULL, NULL);
  motion->node = held;
  for (int32_t i = 0; i < mesh->n_vert; i++) {
    if (mesh->x[3 * i] < x) {
      held[motion->n_node++] = i;
    }
  }
}

// ---- as one body --------------------------------------------------------------------------------

// Positions of the vertex of some body that was at X at rest.
static const double* find_vertex(const World* world, const double* X, int32_t body) {
  int32_t first, count;
  noli_sim_body_range(world->sim, body, &first, &count);
  const double* rest = noli_sim_rest_positions(world->sim);
  for (int32_t i = first; i < first + count; i++) {
    double d =
        fabs(rest[3 * i] - X[0]) + fabs(rest[3 * i + 1] - X[1]) + fabs(rest[3 * i + 2] - X[2]);
    if (d < 1e-9) {
      return noli_sim_positions(world->sim) + 3 * i;
    }
  }
  return NULL;
}

// A bar of one piece and one of two pieces tied end to end, both fixed at one end, under their
// weight: the largest difference of their vertices, over the largest displacement.
static double compare_bars(const char* integrator, const char* solver, int32_t n_steps) {
  Tied* tied = tied_new(1);
  World one = world_new(1), *two = &tied->world;
  int32_t held[2][NODES_MAX];
  world_add(&one, make_bar(&one, 1.0, 8, 2), (double[]){0.5, 0, 0});
  NoliMesh* whole = make_bar(two, 1.0, 8, 2);
  world_add(two, make_half(two, whole, false), (double[]){0.5, 0, 0});
  world_add(two, make_half(two, whole, true), (double[]){0.5, 0, 0});
  noli_mesh_destroy(two->context, &whole);
  add_tie(tied, 1, 0, 0.5, 0);
  assert_int_equal(tied->tie[0].n_node, 9);
  hold_end(&one, 0, 1e-9, held[0]);
  hold_end(two, 0, 1e-9, held[1]);
  World* worlds[2] = {&one, two};
  for (int k = 0; k < 2; k++) {
    worlds[k]->def.integrator = integrator;
    worlds[k]->def.solver = solver;
    worlds[k]->def.tolerance = (NoliScaled){1e-10, true};
    worlds[k]->def.termination = "residual";
    worlds[k]->def.min_iterations = 0;
    for (int32_t b = 0; b < worlds[k]->def.n_bodies; b++) {
      worlds[k]->body[b].material.young = 1e6;
      worlds[k]->body[b].material.damping = 1e-3;
      worlds[k]->body[b].material.mass_damping = 0.1;
    }
    world_start(worlds[k]);
    for (int32_t n = 0; n < n_steps; n++) {
      world_step(worlds[k]);
    }
  }
  double worst = 0.0, moved = 0.0;
  const double *X = one.mesh[0]->x, *x = noli_sim_positions(one.sim);
  for (int32_t i = 0; i < one.mesh[0]->n_vert; i++) {
    for (int32_t b = 0; b < 2; b++) {
      const double* other = find_vertex(two, X + 3 * i, b);
      for (int k = 0; other != NULL && k < 3; k++) {
        worst = noli_larger(worst, fabs(other[k] - x[3 * i + k]));
        moved = noli_larger(moved, fabs(x[3 * i + k] - X[3 * i + k]));
      }
    }
  }
  ASSERT_NEAR(two->report.kinetic, one.report.kinetic, 1e-8 * one.report.elastic);
  ASSERT_NEAR(two->report.elastic, one.report.elastic, 1e-8 * one.report.elastic);
  ASSERT_NEAR(two->report.gravity, one.report.gravity, 1e-8 * fabs(one.report.gravity));
  ASSERT_NEAR(two->report.damping_loss, one.report.damping_loss, 1e-7 * one.report.elastic);
  world_done(&one);
  tied_done(tied);
  assert_true(moved > 1e-3);
  return worst / moved;
}

static void tied_bars_are_one_bar(void** state) {
  (void)state;
  static const char* const integrators[] = {"quasi_static", "backward_euler", "bdf2",
                                            "sdirk2",       "tr_bdf2",        "trapezoidal"};
  static const char* const solvers[] = {"projected_newton", "augmented_lagrangian",
                                        "implicit_newton"};
  for (int i = 0; i < 6; i++) {
    for (int s = 0; s < 3; s++) {
      double difference = compare_bars(integrators[i], solvers[s], i == 0 ? 1 : 6);
      print_message("%s, %s: %.2g\n", integrators[i], solvers[s], difference);
      ASSERT_AT_MOST(difference, 1e-9);
    }
  }
}

// A fine bar on a coarse one, whose mesh it refines, between two plates: uniform stretch, and a
// quarter of the vertices of the fine one are on vertices, the others on edges and triangles.
static void stretch(void* user, double t0, double t1, int32_t n, const int32_t* node,
                    const double* X, const double* x_t0, double* x_t1) {
  (void)user, (void)t0, (void)t1, (void)node, (void)x_t0;
  for (int32_t i = 0; i < 3 * n; i++) {
    x_t1[i] = i % 3 == 0 ? 1.1 * X[i] : X[i];
  }
}

static void fine_on_coarse_passes_the_patch_test(void** state) {
  (void)state;
  Tied* tied = tied_new(1);
  World* world = &tied->world;
  world_add(world, make_bar(world, 0.5, 2, 2), (double[]){0.25, 0, 0});
  world_add(world, make_bar(world, 0.5, 4, 4), (double[]){0.75, 0, 0});
  add_tie(tied, 1, 0, 0.5, 0);
  assert_int_equal(tied->tie[0].n_node, 25);
  int32_t side[2][NODES_MAX];
  for (int32_t b = 0; b < 2; b++) {
    world->body[b].material.poisson = 0.0;
    world->body[b].material.law = "stvk";
    NoliMotionDef* motion = world_add_motion(world, b, stretch, NULL);
    const NoliMesh* mesh = world->mesh[b];
    motion->node = side[b];
    for (int32_t i = 0; i < mesh->n_vert; i++) {
      if (mesh->x[3 * i] < 1e-9 || mesh->x[3 * i] > 1.0 - 1e-9) {
        side[b][motion->n_node++] = i;
      }
    }
  }
  memset(world->def.gravity, 0, sizeof world->def.gravity);
  world->def.integrator = "quasi_static";
  world->def.tolerance = (NoliScaled){1e-10, true};
  world_start(world);
  world_step(world);
  const double *x = noli_sim_positions(world->sim), *X = noli_sim_rest_positions(world->sim);
  for (int32_t i = 0; i < noli_sim_node_count(world->sim); i++) {
    ASSERT_NEAR(x[3 * i], 1.1 * X[3 * i], 1e-9);
    ASSERT_NEAR(x[3 * i + 1], X[3 * i + 1], 1e-9);
    ASSERT_NEAR(x[3 * i + 2], X[3 * i + 2], 1e-9);
  }
  // E / 2 of the Green strain, (1.1^2 - 1) / 2, in 0.04 m^3
  ASSERT_NEAR(world->report.elastic, 0.5 * 1e5 * 0.105 * 0.105 * 0.04, 1e-8);
  tied_done(tied);
}

// A cloth hangs from a block that is held at its top: the reaction there carries both weights, and
// the cloth pulls at the block with its own weight.
static void reactions_are_weights(void** state) {
  (void)state;
  for (int with_cloth = 0; with_cloth < 2; with_cloth++) {
    Tied* tied = tied_new(1);
    World* world = &tied->world;
    int32_t top[NODES_MAX];
    world_add(world, make_bar(world, 0.2, 2, 2), (double[]){0, 0.1, 0});
    NoliMotionDef* hold = world_add_motion(world, 0, NULL, NULL);
    hold->node = top;
    for (int32_t i = 0; i < world->mesh[0]->n_vert; i++) {
      if (world->mesh[0]->x[3 * i + 1] > 0.2 - 1e-9) {
        top[hold->n_node++] = i;
      }
    }
    double weight = 8.0 * 9.80665;
    if (with_cloth) {
      // narrower than the block, and its vertices are not on those of the block
      make_sheet(world, 0.15, 0.3, 5, (double[]){0.011, -0.15, 0.013});
      add_tie(tied, 1, 1, 0.0, 0);
      assert_int_equal(tied->tie[0].n_node, 6);
      weight += 0.15 * 0.3 * 2e-3 * 1000.0 * 9.80665;
    }
    world->def.tolerance = (NoliScaled){1e-10, true};
    world->def.integrator = "quasi_static";
    world_start(world);
    world_step(world);
    NoliStage* stage = world->sim->stage;
    ASSERT_OK(noli_stage_linearize(stage));
    double reaction[3] = {0, 0, 0}, scale = stage->time.h_e * stage->time.h_e;
    for (int32_t i = 0; i < hold->n_node; i++) {
      for (int k = 0; k < 3; k++) {
        reaction[k] += stage->search.gradient[3 * top[i] + k] / scale;
      }
    }
    // the held nodes also carry their own load, which is not part of the reduced system
    ASSERT_NEAR(reaction[0], 0.0, 1e-5);
    ASSERT_NEAR(reaction[1], weight, 1e-5 * weight);
    ASSERT_NEAR(reaction[2], 0.0, 1e-5);
    tied_done(tied);
  }
}

// ---- motion -------------------------------------------------------------------------------------

// A block with a flag that turns and flies freely.
static Tied* flying_flag(const char* integrator, const char* solver, int32_t n_threads) {
  Tied* tied = tied_new(n_threads);
  World* world = &tied->world;
  world_add(world, make_bar(world, 0.2, 2, 2), (double[]){0, 0.1, 0});
  make_sheet(world, 0.15, 0.3, 5, (double[]){0.011, -0.15, 0.013});
  add_tie(tied, 1, 1, 0.0, 0);
  for (int32_t b = 0; b < 2; b++) {
    world->body[b].material.young = 1e5;
    world->body[b].velocity[0] = b == 0 ? 1.0 : 0.3;
    world->body[b].angular_velocity[1] = 2.0;
    world->body[b].angular_velocity[2] = 3.0;
  }
  memset(world->def.gravity, 0, sizeof world->def.gravity);
  world->def.tolerance = (NoliScaled){1e-9, true};
  world->def.termination = "residual";
  world->def.integrator = integrator;
  world->def.solver = solver;
  world->def.time_step = 2e-3;
  return tied;
}

// Momentum, and the moment of its change in the last step about the origin: x x M (v - v0).
static void sum_momentum(const World* world, const double* v0, double momentum[3],
                         double torque[3]) {
  const double *x = noli_sim_positions(world->sim), *v = noli_sim_velocities(world->sim);
  const double* mass = noli_sim_masses(world->sim);
  memset(momentum, 0, 3 * sizeof *momentum);
  memset(torque, 0, 3 * sizeof *torque);
  for (int32_t i = 0; i < noli_sim_node_count(world->sim); i++) {
    for (int k = 0; k < 3; k++) {
      int a = (k + 1) % 3, b = (k + 2) % 3;
      momentum[k] += mass[i] * v[3 * i + k];
      torque[k] += mass[i] * (x[3 * i + a] * (v[3 * i + b] - v0[3 * i + b]) -
                              x[3 * i + b] * (v[3 * i + a] - v0[3 * i + a]));
    }
  }
}

static void momentum_is_conserved(void** state) {
  (void)state;
  static const char* const integrators[] = {"backward_euler", "bdf2", "sdirk2", "tr_bdf2",
                                            "trapezoidal"};
  static const char* const solvers[] = {"projected_newton", "augmented_lagrangian",
                                        "implicit_newton"};
  for (int i = 0; i < 5; i++) {
    for (int s = 0; s < 3; s++) {
      Tied* tied = flying_flag(integrators[i], solvers[s], 1);
      World* world = &tied->world;
      world_start(world);
      int32_t n = noli_sim_node_count(world->sim);
      double start[3], now[3], torque[3], *v0 = malloc(sizeof *v0 * 3 * (size_t)n);
      assert_non_null(v0);
      memcpy(v0, noli_sim_velocities(world->sim), sizeof *v0 * 3 * (size_t)n);
      sum_momentum(world, v0, start, torque);
      assert_true(fabs(start[0]) > 7.0);
      for (int step = 0; step < 10; step++) {
        memcpy(v0, noli_sim_velocities(world->sim), sizeof *v0 * 3 * (size_t)n);
        world_step(world);
        sum_momentum(world, v0, now, torque);
        for (int k = 0; k < 3; k++) {
          ASSERT_NEAR(now[k], start[k], 1e-8);
        }
      }
      // backward Euler: forces act at the end of the step, so that their moment there is zero
      for (int k = 0; i == 0 && k < 3; k++) {
        ASSERT_NEAR(torque[k], 0.0, 1e-9);
      }
      free(v0);
      tied_done(tied);
    }
  }
}

// Angular momentum about the centre of mass with a fine step: the integrator dissipates it, ties do
// not.
static void angular_momentum_converges(void** state) {
  (void)state;
  double lost[2];
  for (int k = 0; k < 2; k++) {
    Tied* tied = flying_flag("trapezoidal", "projected_newton", 1);
    World* world = &tied->world;
    world->def.time_step = k == 0 ? 2e-3 : 1e-3;
    world_start(world);
    double L[2][3] = {{0}};
    for (int step = 0; step <= (k == 0 ? 10 : 20); step++) {
      if (step > 0) {
        world_step(world);
      }
      double* to = L[step > 0 ? 1 : 0];
      memset(to, 0, sizeof L[0]);
      const double *x = noli_sim_positions(world->sim), *v = noli_sim_velocities(world->sim);
      for (int32_t i = 0; i < noli_sim_node_count(world->sim); i++) {
        for (int c = 0; c < 3; c++) {
          int a = (c + 1) % 3, b = (c + 2) % 3;
          to[c] += noli_sim_masses(world->sim)[i] *
                   (x[3 * i + a] * v[3 * i + b] - x[3 * i + b] * v[3 * i + a]);
        }
      }
    }
    lost[k] = 0.0;
    double size = 0.0;
    for (int c = 0; c < 3; c++) {
      lost[k] = noli_larger(lost[k], fabs(L[1][c] - L[0][c]));
      size = noli_larger(size, fabs(L[0][c]));
    }
    lost[k] /= size;
    tied_done(tied);
  }
  print_message("angular momentum lost: %.3g, with half the step %.3g\n", lost[0], lost[1]);
  ASSERT_AT_MOST(lost[0], 1e-3);
  ASSERT_AT_MOST(lost[1], lost[0] / 3.0);
}

// Nodes tied to an obstacle move with it exactly: a tyre of cloth on a rim that rolls.
static void roll(void* user, double t0, double t1, int32_t n, const int32_t* node, const double* X,
                 const double* x_t0, double* x_t1) {
  (void)user, (void)t0, (void)node, (void)x_t0;
  double c = cos(4.0 * t1), s = sin(4.0 * t1);
  for (int32_t i = 0; i < n; i++) {
    x_t1[3 * i] = c * X[3 * i] - s * X[3 * i + 1] + 0.5 * t1;
    x_t1[3 * i + 1] = s * X[3 * i] + c * X[3 * i + 1];
    x_t1[3 * i + 2] = X[3 * i + 2];
  }
}

static void obstacles_carry_what_is_tied_to_them(void** state) {
  (void)state;
  static const char* const integrators[] = {"backward_euler", "trapezoidal"};
  for (int k = 0; k < 2; k++) {
    Tied* tied = tied_new(1);
    World* world = &tied->world;
    int32_t rim = world_add_obstacle(world, make_bar(world, 0.2, 1, 1), (double[]){0.0, 0.0, 0.0});
    int32_t cloth = make_sheet(world, 0.15, 0.3, 4, (double[]){0.011, -0.25, 0.013});
    add_tie(tied, cloth, 1, -0.1, rim);
    assert_int_equal(tied->tie[0].n_node, 5);
    world_add_motion(world, rim, roll, NULL);
    world->def.integrator = integrators[k];
    world_start(world);
    for (int step = 0; step < 10; step++) {
      world_step(world);
    }
    double t = noli_sim_time(world->sim), X[3], x[3];
    int32_t first, count;
    noli_sim_body_range(world->sim, cloth, &first, &count);
    for (int32_t i = 0; i < 5; i++) {
      int32_t node = tied->node[0][i];
      memcpy(X, world->mesh[cloth]->x + 3 * node, sizeof X);
      roll(NULL, 0.0, t, 1, NULL, X, X, x);
      for (int c = 0; c < 3; c++) {
        ASSERT_NEAR(noli_sim_positions(world->sim)[3 * (first + node) + c], x[c], 1e-12);
      }
    }
    tied_done(tied);
  }
}

// ---- equations ----------------------------------------------------------------------------------

static double energy_at(NoliStage* stage, double s) {
  double change, magnitude;
  noli_stage_set_trial(stage, s);
  ASSERT_OK(noli_stage_trial_contacts(stage));
  ASSERT_OK(noli_stage_energy_change(stage, &change, &magnitude));
  return change;
}

// A random step of the unknowns, which tied nodes follow.
static void set_random_step(NoliStage* stage, uint64_t random) {
  for (int32_t i = 0; i < 3 * stage->problem->n_vert; i++) {
    random = random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    bool moves = noli_system_is_unknown(&stage->system, i / 3);
    stage->search.step[i] = moves ? (double)(random >> 40) / (double)(1 << 24) - 0.5 : 0.0;
  }
}

// Gradient and Hessian of all terms over the unknowns against differences, with inertia, damping,
// elasticity of both kinds, hinges, loads, contact and friction of tied and free vertices.
static void derivatives_of_the_reduced_system(void** state) {
  (void)state;
  Tied* tied = tied_new(1);
  World* world = &tied->world;
  world_add(world, make_bar(world, 0.2, 2, 2), (double[]){0, 0.1, 0});
  make_sheet(world, 0.15, 0.3, 5, (double[]){0.011, -0.15, 0.013});
  add_tie(tied, 1, 1, 0.0, 0);
  for (int32_t b = 0; b < 2; b++) {
    world->body[b].material.damping = 1e-3;
    world->body[b].material.mass_damping = 0.5;
    world->body[b].velocity[2] = 1.0;
  }
  world_add_plane(world, (double[]){0, 0, 0.1101}, (double[]){0, 0.1, -1});
  world->def.friction = 0.3;
  world->def.friction_iterations = 1;
  world->def.contact_distance = (NoliScaled){5e-3, false};
  world_start(world);
  for (int step = 0; step < 3; step++) {
    world_step(world);
  }
  assert_true(world->report.contacts > 0);
  NoliStage* stage = world->sim->stage;
  int32_t n = 3 * stage->problem->n_vert;
  assert_int_equal(stage->problem->followers.n_tied, 6);
  ASSERT_OK(noli_stage_find_contacts(stage));
  ASSERT_OK(noli_stage_lag_friction(stage));
  ASSERT_OK(noli_stage_energy(stage));
  double* product = malloc(sizeof *product * (size_t)n);
  assert_non_null(product);
  for (uint64_t direction = 1; direction <= 3; direction++) {
    double slope = 0.0, size = 0.0, e = 1e-7;
    ASSERT_OK(noli_stage_linearize_as(stage, NOLI_EVAL_HESSIAN));
    set_random_step(stage, direction);

    // the matrix times the step
    const NoliProduct what = {.what = NOLI_EVAL_HESSIAN, .p = stage->search.step};
    ASSERT_OK(noli_system_multiply(&stage->system, stage->here->x, &what, product));
    for (int32_t i = 0; i < n; i++) {
      bool counts = noli_system_is_unknown(&stage->system, i / 3);
      slope += counts ? stage->search.gradient[i] * stage->search.step[i] : 0.0;
      size += counts ? fabs(stage->search.gradient[i] * stage->search.step[i]) : 0.0;
    }
    noli_stage_follow_vectors(stage, stage->search.step);
    ASSERT_OK(noli_broad_phase_find(stage->contact.broad_phase, stage->here->x, stage->here->x,
                                    1.1 * stage->problem->contact.dhat,
                                    &stage->problem->contact.body_pairs,
                                    &stage->trial->candidates));
    double difference = (energy_at(stage, e) - energy_at(stage, -e)) / (2.0 * e);
    ASSERT_NEAR(difference / size, slope / size, 2e-5);

    // differences of gradients
    double worst = 0.0, largest = 0.0;
    double* high = malloc(sizeof *high * (size_t)n);
    assert_non_null(high);
    noli_stage_set_trial(stage, e);
    ASSERT_OK(noli_stage_trial_contacts(stage));
    ASSERT_OK(noli_stage_trial_gradient(stage));
    memcpy(high, stage->search.trial_gradient, sizeof *high * (size_t)n);
    noli_stage_set_trial(stage, -e);
    ASSERT_OK(noli_stage_trial_contacts(stage));
    ASSERT_OK(noli_stage_trial_gradient(stage));
    for (int32_t i = 0; i < n; i++) {
      if (noli_system_is_unknown(&stage->system, i / 3)) {
        double change = (high[i] - stage->search.trial_gradient[i]) / (2.0 * e);
        worst = noli_larger(worst, fabs(change - product[i]));
        largest = noli_larger(largest, fabs(product[i]));
      }
    }
    free(high);
    ASSERT_AT_MOST(worst / largest, 1e-5);
  }
  free(product);
  tied_done(tied);
}

// ---- contact and bits ---------------------------------------------------------------------------

// A block with a skirt falls on the ground, onto its skirt: audited at every step.
static Tied* skirt(const char* integrator, const char* solver, int32_t n_threads) {
  Tied* tied = tied_new(n_threads);
  World* world = &tied->world;
  world_add(world, make_bar(world, 0.2, 2, 2), (double[]){0, 0.1, 0});
  make_sheet(world, 0.15, 0.2, 5, (double[]){0.011, -0.1, 0.013});
  add_tie(tied, 1, 1, 0.0, 0);
  world->body[1].material.young = 2e5;
  world_add_plane(world, (double[]){0, -0.22, 0}, (double[]){0.1, 1, 0.05});
  world->def.friction = 0.3;
  world->def.solver = solver;
  world->def.integrator = integrator;
  return tied;
}

static void contact_acts_beside_ties(void** state) {
  (void)state;
  static const char* const solvers[] = {"projected_newton", "augmented_lagrangian",
                                        "implicit_newton"};
  for (int s = 0; s < 3; s++) {
    Tied* tied = skirt("backward_euler", solvers[s], 1);
    World* world = &tied->world;
    world_start(world);
    int64_t most = 0;
    for (int step = 0; step < 30; step++) {
      world_step(world);
      most = most > world->report.contacts ? most : world->report.contacts;
    }
    print_message("%s: %lld contacts at most\n", solvers[s], (long long)most);
    assert_true(most > 10);
    assert_true(world_lowest(world, 0) < -0.05);
    tied_done(tied);
  }
}

// The other contact models with contact between the tied bodies switched off: a bar of two pieces
// falls on the ground like one of one piece.
static void other_contact_models(void** state) {
  (void)state;
  static const char* const models[] = {"ipc", "gcp", "implicit_surface"};
  for (int m = 0; m < 3; m++) {
    double height[2];
    for (int pieces = 1; pieces <= 2; pieces++) {
      Tied* tied = tied_new(1);
      World* world = &tied->world;
      NoliMesh* whole = make_bar(world, 0.6, 4, 2);
      NoliPairDef apart = noli_default_pair_def();
      apart.b = 1;
      apart.contact = false;
      if (pieces == 1) {
        world_add(world, whole, (double[]){0, 0.11, 0});
      } else {
        world_add(world, make_half(world, whole, false), (double[]){0, 0.11, 0});
        world_add(world, make_half(world, whole, true), (double[]){0, 0.11, 0});
        noli_mesh_destroy(world->context, &whole);
        add_tie(tied, 1, 0, 0.0, 0);
        world->def.pairs = &apart;
        world->def.n_pairs = 1;
      }
      for (int b = 0; b < pieces; b++) {
        world->body[b].self_contact = false;
      }
      world_add_plane(world, (double[]){0, 0, 0}, (double[]){0, 1, 0});
      world->def.contact_model = models[m];
      world->def.contact_distance = (NoliScaled){5e-3, false};
      world->def.audit = m == 2 ? "off" : "every_step";
      world->def.tolerance = (NoliScaled){1e-8, true};
      world_start(world);
      for (int step = 0; step < 10; step++) {
        world_step(world);
      }
      assert_true(world->report.contacts > 0);
      double centre[2][3];
      for (int b = 0; b < pieces; b++) {
        world_centre(world, b, centre[b]);
      }
      height[pieces - 1] = pieces == 1 ? centre[0][1] : 0.5 * (centre[0][1] + centre[1][1]);
      tied_done(tied);
    }
    print_message("%s: %.9f and %.9f m\n", models[m], height[0], height[1]);
    assert_true(height[0] < 0.1085);
    ASSERT_NEAR(height[1], height[0], 1e-4);
  }
}

static void threads_and_checkpoints_change_no_bit(void** state) {
  (void)state;
  static const char* const integrators[] = {"backward_euler", "bdf2", "sdirk2", "tr_bdf2",
                                            "trapezoidal"};
  static const char* const solvers[] = {"projected_newton", "augmented_lagrangian",
                                        "implicit_newton"};
  for (int k = 0; k < 7; k++) {
    const char* integrator = integrators[k < 5 ? k : 0];
    const char* solver = solvers[k < 5 ? 0 : k - 4];
    Tied* one = skirt(integrator, solver, 1);
    Tied* three = skirt(integrator, solver, 3);
    world_start(&one->world);
    world_start(&three->world);
    for (int step = 0; step < 6; step++) {
      world_step(&one->world);
    }
    ASSERT_OK(noli_checkpoint_save(one->world.context, one->world.sim, NULL, "checkpoint_ties.h5"));
    ASSERT_OK(noli_checkpoint_load(three->world.context, three->world.sim, "checkpoint_ties.h5"));
    assert_null(noli_sim_state_difference(one->world.sim, three->world.sim));
    for (int step = 0; step < 6; step++) {
      world_step(&one->world);
      world_step(&three->world);
    }
    assert_null(noli_sim_state_difference(one->world.sim, three->world.sim));
    tied_done(one);
    tied_done(three);
  }
}

// ---- several ties, seams, chains ----------------------------------------------------------------

// Three bars in a row, each tied to the one before it, one of them through a sheet that is tied to
// both.
static void chains_of_ties(void** state) {
  (void)state;
  Tied* tied = tied_new(1);
  World* world = &tied->world;
  int32_t held[NODES_MAX];
  for (int32_t b = 0; b < 3; b++) {
    world_add(world, make_bar(world, 0.2, 2, 2), (double[]){0.1 + 0.2 * b, 0, 0});
  }
  add_tie(tied, 2, 0, 0.4, 1);
  add_tie(tied, 1, 0, 0.2, 0);
  // the middle one is tied at both ends: through one element of the last one, and back
  NoliTieDef* seam = add_tie(tied, 0, 1, 0.5, 0);
  seam->n_node = 0;
  world->def.n_ties = 2;
  hold_end(world, 0, 1e-9, held);
  world->def.integrator = "quasi_static";
  world_start(world);
  world_step(world);
  double lowest[3];
  for (int32_t b = 0; b < 3; b++) {
    lowest[b] = world_lowest(world, b);
  }
  assert_true(lowest[2] < lowest[1] && lowest[1] < lowest[0]);
  tied_done(tied);
}

// A strip with its vertices at y = 0 twice: copies belong to the triangles below.
static NoliMesh* cut_strip(NoliContext* context, const NoliMesh* whole, int32_t of[5],
                           int32_t copy[5]) {
  NoliMesh* cut = NULL;
  ASSERT_OK(noli_mesh_create(context, whole->n_vert + 5, 0, whole->n_tri, 0, 0, false, &cut));
  memcpy(cut->x, whole->x, 3 * sizeof(double) * (size_t)whole->n_vert);
  memcpy(cut->tri, whole->tri, 3 * sizeof(int32_t) * (size_t)whole->n_tri);
  int32_t n = 0;
  for (int32_t i = 0; i < whole->n_vert; i++) {
    if (fabs(whole->x[3 * i + 1]) < 1e-9) {
      of[n] = i;
      copy[n] = whole->n_vert + n;
      memcpy(cut->x + 3 * copy[n], whole->x + 3 * i, 3 * sizeof(double));
      n++;
    }
  }
  assert_int_equal(n, 5);
  for (int32_t t = 0; t < cut->n_tri; t++) {
    double y = 0.0;
    for (int k = 0; k < 3; k++) {
      y += whole->x[3 * whole->tri[3 * t + k] + 1];
    }
    for (int k = 0; y < 0.0 && k < 3; k++) {
      for (int32_t i = 0; i < 5; i++) {
        cut->tri[3 * t + k] = whole->tri[3 * t + k] == of[i] ? copy[i] : cut->tri[3 * t + k];
      }
    }
  }
  return cut;
}

// Vertices of the upper half of a strip on those of the lower one: a seam within its mesh.
static void seams_within_a_mesh(void** state) {
  (void)state;
  Tied* tied = tied_new(1);
  World* world = &tied->world;
  int32_t of[5], copy[5], sheet = make_sheet(world, 0.1, 0.4, 4, (double[]){0, 0, 0});
  NoliMesh* cut = cut_strip(world->context, world->mesh[sheet], of, copy);
  noli_mesh_destroy(world->context, &world->mesh[sheet]);
  world->mesh[sheet] = cut;
  world->body[sheet].mesh = cut;
  tied->tie[0] = noli_default_tie_def();
  tied->tie[0].body = tied->tie[0].to = sheet;
  tied->tie[0].node = copy;
  tied->tie[0].n_node = 5;
  world->def.ties = tied->tie;
  world->def.n_ties = 1;
  int32_t top[2] = {0};
  NoliMotionDef* motion = world_add_motion(world, sheet, NULL, NULL);
  motion->node = top;
  for (int32_t i = 0; i < cut->n_vert; i++) {
    if (cut->x[3 * i + 1] > 0.2 - 1e-9 && fabs(fabs(cut->x[3 * i]) - 0.05) < 1e-9) {
      top[motion->n_node++] = i;
    }
  }
  assert_int_equal(motion->n_node, 2);
  world_start(world);
  for (int step = 0; step < 10; step++) {
    world_step(world);
  }
  const double* x = noli_sim_positions(world->sim);
  for (int32_t i = 0; i < 5; i++) {
    assert_memory_equal(x + 3 * copy[i], x + 3 * of[i], 3 * sizeof(double));
  }
  assert_true(x[1] > -1.0 && world_lowest(world, sheet) > -0.25);
  tied_done(tied);
}

// ---- refusals -----------------------------------------------------------------------------------

static Tied* bars(void) {
  Tied* tied = tied_new(1);
  World* world = &tied->world;
  world_add(world, make_bar(world, 0.5, 2, 2), (double[]){0.25, 0, 0});
  world_add(world, make_bar(world, 0.5, 2, 2), (double[]){0.75, 0, 0});
  add_tie(tied, 1, 0, 0.5, 0);
  return tied;
}

static void expect_refusal(Tied* tied, const char* part) {
  world_expect_refusal(&tied->world, part);
  free(tied);
}

static void refusals(void** state) {
  (void)state;

  // too far away, with the place; and near enough if the distance allows it
  Tied* tied = bars();
  noli_mesh_transform(tied->world.mesh[1], (double[]){1, 1, 1}, (double[]){0, 0, 0},
                      (double[]){0.01, 0, 0});
  expect_refusal(tied, "vertex 0 of \"body1\", at (0.51, -0.1, -0.1), is 0.01 m away from "
                       "\"body0\", more than the distance of the tie");
  tied = bars();
  noli_mesh_transform(tied->world.mesh[1], (double[]){1, 1, 1}, (double[]){0, 0, 0},
                      (double[]){0.01, 0, 0});
  tied->tie[0].distance = (NoliScaled){0.02, false};
  world_start(&tied->world);
  tied_done(tied);

  // nodes that cannot follow
  tied = bars();
  tied->tie[1] = tied->tie[0];
  tied->world.def.n_ties = 2;
  tied->tie[1].to = 0;
  expect_refusal(tied, "tie 1: vertex 0 of \"body1\" is tied twice");
  tied = bars();
  world_add_motion(&tied->world, 1, NULL, NULL);
  expect_refusal(tied, "motion 0 prescribes vertex 0 of \"body1\", which a tie binds");
  tied = bars();
  tied->world.body[1].obstacle = true;
  expect_refusal(tied, "\"body1\" is an obstacle, whose motion is prescribed: tie \"body0\" to it");
  tied = bars();
  tied->world.body[1].order = 2;
  expect_refusal(tied, "elements of high order");
  tied = bars();
  add_tie(tied, 0, 0, 0.5, 1);
  expect_refusal(tied, "would be tied to itself");
  tied = bars();
  tied->tie[0].to = 1;
  tied->tie[0].node = NULL;
  expect_refusal(tied, "binds all of body \"body1\" to itself");
  tied = bars();
  tied->tie[0].to = 7;
  expect_refusal(tied, "tie 0: body 7 does not exist");
  tied = bars();
  tied->tie[0].distance.value = -1.0;
  expect_refusal(tied, "the distance must be >= 0");
  tied = bars();
  tied->world.def.contact_model = "gcp";
  expect_refusal(tied, "the contact model \"gcp\" does not allow");
  tied = bars();
  tied->tie[0].to = 1;
  tied->tie[0].where = "scene.json:12: ties[0]";
  expect_refusal(tied, "scene.json:12: ties[0]: ");
}

// Masters of high order carry tied nodes on the triangles of their proxies.
static void high_order_masters(void** state) {
  (void)state;
  Tied* tied = tied_new(1);
  World* world = &tied->world;
  int32_t held[NODES_MAX];
  world_add(world, make_bar(world, 0.4, 2, 1), (double[]){0.2, 0, 0});
  world->body[0].order = 2;
  world->body[0].proxy.kind = "subdivision";
  world->body[0].proxy.subdivision = 3;
  int32_t cloth = make_sheet(world, 0.15, 0.3, 4, (double[]){0.32, -0.25, 0.013});
  add_tie(tied, cloth, 1, -0.1, 0);
  hold_end(world, 0, 1e-9, held);
  memset(world->def.gravity, 0, sizeof world->def.gravity);
  world->def.gravity[1] = -5.0;
  world_start(world);
  double start[3], now[3];
  world_centre(world, cloth, start);
  for (int step = 0; step < 20; step++) {
    world_step(world);
  }
  world_centre(world, cloth, now);
  assert_true(now[1] < start[1] - 1e-3);
  const NoliFollowers* followers = &world->sim->model->problem.followers;
  assert_int_equal(followers->n_tied, 5);
  assert_true(followers->n > 5);
  tied_done(tied);
}

// All of two bodies falls by g t^2 / 2, one of which has a surface of its own: its vertices have no
// mass that the accelerations of ties could count.
static void surfaces_of_their_own_have_no_mass(void** state) {
  (void)state;
  static const char* const integrators[] = {"trapezoidal", "tr_bdf2"};
  for (int k = 0; k < 4; k++) {
    Tied* tied = tied_new(1);
    World* world = &tied->world;
    world_add(world, make_bar(world, 0.4, 2, 1), (double[]){0.2, 0, 0});
    world->body[0].order = k < 2 ? 2 : 1;
    world->body[0].proxy.kind = "subdivision";
    world->body[0].proxy.subdivision = 2;
    int32_t cloth = make_sheet(world, 0.15, 0.3, 4, (double[]){0.32, -0.25, 0.013});
    add_tie(tied, cloth, 1, -0.1, 0);
    world->def.integrator = integrators[k % 2];
    world->def.time_step = 0.01;
    world->def.tolerance = (NoliScaled){1e-10, true};
    memcpy(world->def.gravity, (double[]){0.0, -10.0, 0.0}, sizeof world->def.gravity);
    world_start(world);
    for (int step = 0; step < 5; step++) {
      world_step(world);
    }
    const double *x = noli_sim_positions(world->sim), *v = noli_sim_velocities(world->sim);
    const double* X = noli_sim_rest_positions(world->sim);
    for (int32_t i = 0; i < noli_sim_node_count(world->sim); i++) {
      ASSERT_NEAR(x[3 * i + 1] - X[3 * i + 1], -0.0125, 1e-9);
      ASSERT_NEAR(v[3 * i + 1], -0.5, 1e-8);
    }
    tied_done(tied);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(tied_bars_are_one_bar),
      cmocka_unit_test(fine_on_coarse_passes_the_patch_test),
      cmocka_unit_test(reactions_are_weights),
      cmocka_unit_test(momentum_is_conserved),
      cmocka_unit_test(angular_momentum_converges),
      cmocka_unit_test(obstacles_carry_what_is_tied_to_them),
      cmocka_unit_test(derivatives_of_the_reduced_system),
      cmocka_unit_test(contact_acts_beside_ties),
      cmocka_unit_test(other_contact_models),
      cmocka_unit_test(threads_and_checkpoints_change_no_bit),
      cmocka_unit_test(chains_of_ties),
      cmocka_unit_test(seams_within_a_mesh),
      cmocka_unit_test(high_order_masters),
      cmocka_unit_test(surfaces_of_their_own_have_no_mass),
      cmocka_unit_test(refusals),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
