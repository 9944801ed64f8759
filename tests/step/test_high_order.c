// Elements of order 1 to 4 on straight and curved shapes, with collision proxies, in simulations.
#include "world.h"

#include "solve/direction.h"

#include <string.h>

static const double origin[3] = {0.0, 0.0, 0.0}, up[3] = {0.0, 1.0, 0.0};

// ---- scenes -------------------------------------------------------------------------------------

static NoliMesh* make_curved_ball(World* world, double radius, int32_t cells, int32_t order) {
  NoliMesh* mesh = NULL;
  ASSERT_OK(noli_mesh_make_curved_sphere(world->context, radius, cells, order, &mesh));
  return mesh;
}

static void set_material(World* world, int32_t body, double young) {
  world->body[body].material.young = young;
  world->body[body].material.poisson = 0.3;
}

// A body falls onto the ground and slides against a block.
typedef struct Case {
  const char* name;
  int32_t order;          // of the elements
  int32_t geometry_order; // 1: a box; more: a ball
  const char* solver;
  const char* integrator;
  const char* contact_model;
  const char* friction_method;
  const char* law;
  double damping;
  double mass_damping;
  int32_t subdivision; // 0: automatic
} Case;

static World make_drop(const Case* c, int32_t n_threads) {

  // the ball
  World world = world_new(n_threads);
  NoliMesh* mesh = c->geometry_order > 1 ? make_curved_ball(&world, 0.5, 2, c->geometry_order)
                                         : make_box(&world, 1.0, 1.0, 1.0, 1);
  int32_t body = world_add(&world, mesh, (double[3]){0.0, 0.53, 0.0});
  set_material(&world, body, 4e4);
  world.body[body].order = c->order;
  world.body[body].velocity[0] = 1.5;
  world.body[body].velocity[1] = -2.0;
  world.body[body].angular_velocity[2] = 1.0;
  world.body[body].material.law = c->law;
  world.body[body].material.damping = c->damping;
  world.body[body].material.mass_damping = c->mass_damping;
  if (c->subdivision > 0) {
    world.body[body].proxy.kind = "subdivision";
    world.body[body].proxy.subdivision = c->subdivision;
  }

  // smooth surfaces require smooth input
  bool smooth = strcmp(c->contact_model, "ipc") != 0;
  if (smooth) {
    world_add_obstacle(&world, make_sphere(&world, 0.5, 6), (double[3]){0.9, 0.2, 0.0});
  } else {
    world_add_obstacle(&world, make_box(&world, 0.4, 1.0, 1.0, 1), (double[3]){0.78, 0.5, 0.0});
  }

  // the ground and the solver
  world_add_plane(&world, origin, up);
  world.def.friction = 0.4;
  world.def.solver = c->solver;
  world.def.integrator = c->integrator;
  world.def.contact_model = c->contact_model;
  world.def.friction_method = c->friction_method;
  world.def.audit = smooth ? "off" : "every_step";
  return world;
}

static const Case cases[] = {
    {"linear ball with a fine proxy", 1, 2, "projected_newton", "backward_euler", "ipc", "lagged",
     "neo_hookean", 0.0, 0.0, 3},
    {"curved ball", 2, 2, "projected_newton", "backward_euler", "ipc", "lagged", "neo_hookean", 0.0,
     0.0, 0},
    {"box of order 3", 3, 1, "projected_newton", "bdf2", "ipc", "lagged", "fixed_corotated", 0.0,
     0.0, 0},
    {"box of order 4", 4, 1, "projected_newton", "backward_euler", "ipc", "lagged", "stvk", 0.005,
     0.5, 0},
    {"curved ball of order 3 and 2", 3, 2, "projected_newton", "trapezoidal", "ipc", "lagged",
     "stable_neo_hookean", 0.002, 0.2, 0},
    {"curved ball of order 2 and 3", 2, 3, "projected_newton", "sdirk2", "ipc", "lagged",
     "neo_hookean", 0.0, 0.0, 0},
    {"box of order 2, tr_bdf2", 2, 1, "projected_newton", "tr_bdf2", "ipc", "lagged",
     "corotated_linear", 0.0, 0.0, 3},
    {"constraints, curved ball", 2, 2, "augmented_lagrangian", "backward_euler", "ipc", "lagged",
     "neo_hookean", 0.0, 0.0, 0},
    {"constraints, box of order 3", 3, 1, "augmented_lagrangian", "bdf2", "ipc", "lagged",
     "neo_hookean", 0.0, 0.1, 0},
    {"constraints, linear ball with a fine proxy", 1, 2, "augmented_lagrangian", "backward_euler",
     "ipc", "lagged", "neo_hookean", 0.0, 0.0, 4},
    {"implicit friction, curved ball", 2, 2, "implicit_newton", "backward_euler", "ipc", "implicit",
     "neo_hookean", 0.0, 0.0, 0},
    {"implicit friction, box of order 3", 3, 1, "implicit_newton", "bdf2", "ipc", "implicit",
     "neo_hookean", 0.0, 0.0, 0},
    {"smooth surfaces, curved ball", 2, 2, "projected_newton", "backward_euler", "implicit_surface",
     "lagged", "neo_hookean", 0.0, 0.0, 0},
};

// Every combination reaches contact; the world audits every step: no intersection of the proxy,
// every determinant at a point positive. Energy never grows.
static void combinations(void** state) {
  (void)state;
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    const Case* c = &cases[k];
    World world = make_drop(c, 1);
    world_start(&world);
    int64_t contacts = 0;
    double most = 0.0;
    for (int32_t n = 0; n < 10; n++) {
      world_step(&world);
      contacts = world.report.contacts > contacts ? world.report.contacts : contacts;
      most = n == 0 ? world_total_energy(&world) : most;
      if (world_total_energy(&world) > most * 1.02) {
        print_error("%s: %g J of %g J in step %d\n", c->name, world_total_energy(&world), most,
                    n + 1);
      }
      ASSERT_AT_MOST(world_total_energy(&world), most * 1.02);
    }
    if (contacts == 0) {
      print_error("%s: no contact\n", c->name);
    }
    assert_true(contacts > 0);
    world_done(&world);
  }
}

// ---- agreement with linear elements ------------------------------------------------------------

// A proxy that is the boundary of a linear body changes no bit, with any solver.
static void identity_proxy(void** state) {
  (void)state;
  static const char* const solvers[] = {"projected_newton", "augmented_lagrangian"};
  for (int32_t s = 0; s < 2; s++) {
    uint64_t hash[2];
    for (int32_t k = 0; k < 2; k++) {
      World world = world_new(1);
      for (int32_t b = 0; b < 2; b++) {
        double at[3] = {0.1 * b, 0.51 + 1.02 * b, 0.05 * b};
        int32_t body = world_add(&world, make_sphere(&world, 0.5, 3), at);
        if (k == 1) {
          world.body[body].proxy.kind = "subdivision";
          world.body[body].proxy.subdivision = 1;
        }
      }
      world_add_plane(&world, origin, up);
      world.def.friction = 0.3;
      world.def.solver = solvers[s];
      world_start(&world);
      assert_int_equal(noli_sim_vertex_count(world.sim), noli_sim_node_count(world.sim));
      for (int32_t n = 0; n < 12; n++) {
        world_step(&world);
      }
      assert_true(world.report.contacts > 0);
      hash[k] = noli_sim_state_hash(world.sim);
      world_done(&world);
    }
    assert_int_equal(hash[0], hash[1]);
  }
}

// The same bits for any number of threads, and after a restart.
static void threads_and_restart(void** state) {
  (void)state;
  uint64_t hash[3];
  for (int32_t run = 0; run < 3; run++) {
    World world = make_drop(&cases[4], run == 0 ? 1 : 2), fresh = {0};
    world_start(&world);
    for (int32_t n = 0; n < 8; n++) {
      if (run == 2 && n == 4) {
        // only the values that a checkpoint saves are carried over
        fresh = make_drop(&cases[4], 2);
        world_start(&fresh);
        ASSERT_OK(noli_sim_copy_state(fresh.sim, world.sim));
        ASSERT_OK(noli_sim_set_state(fresh.sim, noli_sim_positions(fresh.sim),
                                     noli_sim_velocities(fresh.sim)));
        world_done(&world);
        world = fresh;
      }
      world_step(&world);
    }
    hash[run] = noli_sim_state_hash(world.sim);
    world_done(&world);
  }
  assert_int_equal(hash[0], hash[1]);
  assert_int_equal(hash[0], hash[2]);
}

// ---- derivatives --------------------------------------------------------------------------------

// Energy of the stage at x_trial = x + s step.
static double energy_at(NoliStage* stage, double s) {
  double change, magnitude;
  noli_stage_set_trial(stage, s);
  ASSERT_OK(noli_stage_trial_contacts(stage));
  ASSERT_OK(noli_stage_energy_change(stage, &change, &magnitude));
  return change;
}

// Gradient of everything along random directions of the nodes against differences of the energy:
// contact, friction and elasticity of followers and nodes.
static void gradient_of_the_stage(void** state) {
  (void)state;

  // each order
  for (int32_t order = 1; order <= 4; order++) {
    Case c = cases[1];
    c.order = order;
    c.subdivision = order + 1;
    World world = make_drop(&c, 1);
    world.def.friction_iterations = 1;
    world_start(&world);
    for (int32_t n = 0; n < 5; n++) {
      world_step(&world);
    }
    assert_true(world.report.contacts > 0);
    NoliStage* stage = world.sim->stage;
    const NoliProblem* problem = stage->problem;
    assert_true(problem->followers.n > 0);
    ASSERT_OK(noli_stage_find_contacts(stage));
    ASSERT_OK(noli_stage_lag_friction(stage));
    ASSERT_OK(noli_stage_energy(stage));
    ASSERT_OK(noli_stage_linearize(stage));
    assert_true(stage->friction.set.contact.count > 0);
    for (int32_t direction = 0; direction < 3; direction++) {
      double slope = 0.0, size = 0.0;
      uint64_t random = 12345u + (uint64_t)direction;
      for (int32_t i = 0; i < 3 * problem->n_node; i++) {
        random = random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        bool moves = stage->system.dof[i / 3] != NOLI_NULL_INDEX;
        stage->search.step[i] = moves ? (double)(random >> 40) / (double)(1 << 24) - 0.5 : 0.0;
      }
      noli_stage_follow_vectors(stage, stage->search.step);
      for (int32_t i = 0; i < 3 * problem->n_node; i++) {
        slope += stage->search.gradient[i] * stage->search.step[i];
        size += fabs(stage->search.gradient[i] * stage->search.step[i]);
      }
      double e = 2e-8;
      ASSERT_OK(noli_broad_phase_find(stage->contact.broad_phase, stage->here->x, stage->here->x,
                                      1.1 * problem->contact.dhat, &problem->contact.body_pairs,
                                      &stage->trial->candidates));
      double difference = (energy_at(stage, e) - energy_at(stage, -e)) / (2.0 * e);
      ASSERT_NEAR(difference / size, slope / size, 2e-6);
    }
    world_done(&world);
  }
}

// Newton's method with the exact Jacobian of all terms, implicit friction included, converges with
// order 2: the followers transform both the symmetric and the skew part correctly.
static void newton_converges_quadratically(void** state) {
  (void)state;
  Case c = cases[10];
  c.order = 3;
  c.subdivision = 4;
  World world = make_drop(&c, 1);
  world.def.tolerance = (NoliScaled){1e-10, true};
  world_start(&world);
  int32_t quadratic = 0;
  for (int32_t n = 0; n < 5; n++) {
    world_step(&world);
    const NoliNewtonStat* newton = world.report.newton;
    int32_t last = world.report.newton_iterations - 1;
    for (int32_t i = 2; i <= last && world.report.contacts > 0; i++) {
      double a = newton[i - 2].residual, b = newton[i - 1].residual, d = newton[i].residual;
      bool exact = newton[i - 1].fallback == 0 && newton[i - 1].alpha >= 1.0;
      // of the order of the square of the progress in the last iteration
      quadratic += exact && b < 1e-2 * a && d < 1e-3 * b ? 1 : 0;
    }
  }
  assert_true(quadratic >= 2);
  world_done(&world);
}

// ---- mechanics ----------------------------------------------------------------------------------

// Linear momentum in an impact with friction of two balls with consistent masses.
static void momentum(void** state) {
  (void)state;

  // pairs of orders
  static const int32_t orders[][2] = {{2, 2}, {3, 1}, {1, 2}, {4, 2}};
  for (size_t k = 0; k < sizeof orders / sizeof *orders; k++) {
    World world = world_new(1);
    for (int32_t b = 0; b < 2; b++) {
      double at[3] = {b == 0 ? -0.505 : 0.505, b == 0 ? 0.0 : 0.2, 0.0};
      // boxes in front of balls: each kind of geometry once
      NoliMesh* mesh = orders[k][1] > 1 ? make_curved_ball(&world, 0.5, 2, orders[k][1])
                                        : make_box(&world, 0.9, 0.9, 0.9, 1);
      int32_t body = world_add(&world, mesh, at);
      set_material(&world, body, 5e4);
      world.body[body].order = orders[k][0];
      world.body[body].velocity[0] = b == 0 ? 2.0 : -1.0;
      world.body[body].angular_velocity[2] = 2.0;
      world.body[body].proxy.kind = "subdivision";
      world.body[body].proxy.subdivision = 3;
    }
    memset(world.def.gravity, 0, sizeof world.def.gravity);
    world.def.friction = 0.5;
    world.def.tolerance = (NoliScaled){1e-8, true};
    world_start(&world);
    world_step(&world);
    double start[3], scale = 0.0;
    memcpy(start, world.report.momentum, sizeof start);
    int64_t contacts = 0;
    for (int32_t n = 0; n < 8; n++) {
      world_step(&world);
      contacts += world.report.contacts;
      scale = noli_larger(scale, sqrt(2.0 * world.report.kinetic * 500.0));
      for (int32_t i = 0; i < 3; i++) {
        ASSERT_NEAR(world.report.momentum[i] / scale, start[i] / scale, 1e-9);
      }
    }
    assert_true(contacts > 0);
    world_done(&world);
  }
}

// Free flight and rest without gravity are exact at every order, with and without a history.
static void flight(void** state) {
  (void)state;
  static const char* const integrators[] = {"backward_euler", "trapezoidal"};
  for (int32_t order = 1; order <= 4; order++) {
    for (int32_t k = 0; k < 2; k++) {
      World world = world_new(1);
      int32_t body = world_add(&world, make_curved_ball(&world, 0.5, 2, 5 - order), origin);
      world.body[body].order = order;
      double start[3], velocity[3] = {1.0, 2.0, -0.5};
      memcpy(world.body[body].velocity, velocity, sizeof velocity);
      world.def.integrator = integrators[k];
      world_start(&world);
      world_centre(&world, 0, start);
      for (int32_t n = 0; n < 4; n++) {
        world_step(&world);
      }
      world_expect_flight(&world, 0, 4, start, velocity);
      world_done(&world);
    }
  }
}

// In a step of backward Euler, mass damping slows rigid motion by the factor 1 / (1 + alpha h) and
// reports the energy it dissipates; stiffness damping leaves rigid motion alone.
static void damping(void** state) {
  (void)state;
  for (int32_t order = 2; order <= 3; order++) {
    World world = world_new(1);
    int32_t body = world_add(&world, make_curved_ball(&world, 0.5, 2, 2), origin);
    world.body[body].order = order;
    world.body[body].velocity[0] = 3.0;
    world.body[body].material.damping = 0.01;
    world.body[body].material.mass_damping = 2.0;
    memset(world.def.gravity, 0, sizeof world.def.gravity);
    world_start(&world);
    double v = 3.0, h = world.def.time_step;
    for (int32_t n = 0; n < 3; n++) {
      world_step(&world);
      double before = v, mass = world.report.momentum[0] / noli_sim_velocities(world.sim)[0];
      v /= 1.0 + 2.0 * h;
      ASSERT_NEAR(noli_sim_velocities(world.sim)[0], v, 1e-9);
      ASSERT_NEAR(world.report.kinetic, 0.5 * mass * v * v, 1e-7 * mass);
      ASSERT_NEAR(world.report.damping_loss, 2.0 * mass * v * v * h, 1e-7 * mass);
      assert_true(v < before);
    }
    world_done(&world);
  }
}

// Contact forces at rest carry the weight, whichever vertices they act on.
static void weight_on_the_ground(void** state) {
  (void)state;

  // each order
  for (int32_t order = 1; order <= 3; order++) {
    World world = world_new(1);
    int32_t body = world_add(&world, make_curved_ball(&world, 0.5, 2, 2), (double[3]){0, 0.501, 0});
    set_material(&world, body, 2e5);
    world.body[body].order = order;
    world.body[body].material.damping = 0.05;
    world.body[body].material.mass_damping = 5.0;
    world.body[body].proxy.kind = "subdivision";
    world.body[body].proxy.subdivision = 4;
    world_add_plane(&world, origin, up);
    world.def.time_step = 0.05;
    world_start(&world);
    for (int32_t n = 0; n < 60; n++) {
      world_step(&world);
    }
    double weight = 0.0, carried = 0.0;
    double* force = malloc(3 * sizeof(double) * (size_t)noli_sim_vertex_count(world.sim));
    ASSERT_OK(noli_sim_contact_forces(world.sim, force));
    for (int32_t i = 0; i < noli_sim_vertex_count(world.sim); i++) {
      weight += 9.80665 * noli_sim_masses(world.sim)[i];
      carried += force[3 * i + 1];
    }
    free(force);
    ASSERT_NEAR(carried / weight, 1.0, 1e-3);
    const NoliPairForce* pairs;
    int32_t n_pairs;
    ASSERT_OK(noli_sim_pair_forces(world.sim, &pairs, &n_pairs));
    assert_int_equal(n_pairs, 1);
    ASSERT_NEAR(fabs(pairs[0].normal[1]), carried, 1e-9 * weight);
    world_done(&world);
  }
}

// ---- proxies ------------------------------------------------------------------------------------

// A coarse box carries a fine ball: mass and centre of the ball, contact with it, not with the box.
static void carried_and_balanced(void** state) {
  (void)state;

  // a fine ball within a coarse box
  World world = world_new(1);
  NoliMesh *ball = make_sphere(&world, 0.5, 6), *surface = NULL;
  ASSERT_OK(noli_mesh_extract(world.context, ball, "surface", &surface));
  ASSERT_OK(noli_mesh_remove_unused(world.context, surface));
  noli_mesh_destroy(world.context, &ball);
  noli_mesh_transform(surface, (double[3]){1, 1, 1}, origin, (double[3]){0.02, 0.55, 0.0});
  int32_t body = world_add(&world, make_box(&world, 1.2, 1.2, 1.2, 2), (double[3]){0.0, 0.55, 0.0});
  set_material(&world, body, 1e5);
  world.body[body].proxy = (NoliProxyDef){.kind = "mesh", .mesh = surface, .balance = true};
  world_add_plane(&world, origin, up);
  world_start(&world);

  // the volume of the ball
  double volume = 0.0, centre[3], mass = 0.0;
  for (int32_t t = 0; t < surface->n_tri; t++) {
    const double* x[3];
    for (int32_t k = 0; k < 3; k++) {
      x[k] = surface->x + 3 * (int64_t)surface->tri[3 * t + k];
    }
    volume += (x[0][0] * (x[1][1] * x[2][2] - x[1][2] * x[2][1]) +
               x[0][1] * (x[1][2] * x[2][0] - x[1][0] * x[2][2]) +
               x[0][2] * (x[1][0] * x[2][1] - x[1][1] * x[2][0])) /
              6.0;
  }

  // mass and centre
  for (int32_t i = 0; i < noli_sim_node_count(world.sim); i++) {
    mass += noli_sim_masses(world.sim)[i];
  }
  world_centre(&world, 0, centre);
  ASSERT_NEAR(mass, 1000.0 * volume, 1e-9 * mass);
  ASSERT_NEAR(centre[0], 0.02, 1e-9);
  ASSERT_NEAR(centre[1], 0.55, 1e-9);
  noli_mesh_destroy(world.context, &surface);

  // let it fall
  bool below = false;
  for (int32_t n = 0; n < 25; n++) {
    world_step(&world);
    below = below || world_lowest(&world, 0) < 0.0;
  }
  // the ground meets the ball, not the coarse box
  assert_true(below);
  assert_true(world.report.contacts > 0);
  world_done(&world);
}

static void refusals(void** state) {
  (void)state;
  World world = world_new(1);
  int32_t body = world_add(&world, make_box(&world, 1, 1, 1, 1), origin);
  world.body[body].order = 5;
  ASSERT_STATUS(world_create(&world), NOLI_ERROR_ARGUMENT);
  assert_non_null(strstr(noli_context_message(world.context), "\"body0\": the order of elements"));
  world.body[body].order = 2;
  world.body[body].proxy.balance = true;
  ASSERT_STATUS(world_create(&world), NOLI_ERROR_ARGUMENT);
  assert_non_null(strstr(noli_context_message(world.context), "no proxy to balance"));
  NoliMesh* far = make_box(&world, 1, 1, 1, 1);
  noli_mesh_transform(far, (double[3]){1, 1, 1}, origin, (double[3]){3.0, 0.0, 0.0});
  NoliMesh* surface = NULL;
  ASSERT_OK(noli_mesh_extract(world.context, far, "surface", &surface));
  world.body[body].proxy = (NoliProxyDef){.kind = "mesh", .mesh = surface};
  ASSERT_STATUS(world_create(&world), NOLI_ERROR_ARGUMENT);
  assert_non_null(strstr(noli_context_message(world.context), "body \"body0\": "));
  noli_mesh_destroy(world.context, &surface);
  noli_mesh_destroy(world.context, &far);
  world_done(&world);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(identity_proxy),
      cmocka_unit_test(combinations),
      cmocka_unit_test(threads_and_restart),
      cmocka_unit_test(gradient_of_the_stage),
      cmocka_unit_test(newton_converges_quadratically),
      cmocka_unit_test(momentum),
      cmocka_unit_test(flight),
      cmocka_unit_test(damping),
      cmocka_unit_test(weight_on_the_ground),
      cmocka_unit_test(carried_and_balanced),
      cmocka_unit_test(refusals),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
