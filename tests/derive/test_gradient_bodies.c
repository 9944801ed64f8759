// Derivatives of runs by parameters of bodies of all orders, damped and with histories: both modes
// against each other and against central differences of runs.
#include "gradient_bodies.h"

// ---- elements of higher order -------------------------------------------------------------------

static void quadratic_beam(World* world) {
  held_beam_of(world, 2);
}

static void cubic_beam(World* world) {
  held_beam_of(world, 3);
}

static void quartic_beam(World* world) {
  held_beam_of(world, 4);
}

static void quadratic_landing(World* world) {
  landing_of(world, 2);
}

static void cubic_landing(World* world) {
  landing_of(world, 3);
}

static void cubic_ball(World* world) {
  held_ball_of(world, 3);
}

static void damped_ball(World* world) {
  held_ball_of(world, 2);
  world->body[0].material.damping = 0.01;
}

static void damped_linear_ball(World* world) {
  linear_ball(world);
  world->body[0].material.damping = 0.01;
}

// Its parts relax within a few steps, and hardly.
static void relaxing_linear_ball(World* world) {
  linear_ball(world);
  world->body[0].material.prony = &prony;
}

static void flowing_linear_ball(World* world) {
  linear_ball(world);
  world->body[0].material.law = "hencky";
  world->body[0].material.parameter[0] = 50.0; // yield stress
  world->body[0].material.parameter[1] = 2e3;  // hardening
}

static void ball_of_shape_3(World* world) {
  held_curved_ball(world, 3, 2);
}

static void ball_of_shape_4(World* world) {
  held_curved_ball(world, 4, 2);
}

static void linear_landing(World* world) {
  curved_landing_of(world, 2, 1, 0.0615);
}

static void landing_of_shape_3(World* world) {
  curved_landing_of(world, 3, 2, 0.0615);
}

// A linear body with a finer proxy.
static void proxy_landing(World* world) {
  landing_of(world, 1);
  world->body[0].proxy.subdivision = 2;
}

static void elements_of_higher_order(void** state) {
  (void)state;
  static const GradientCase cases[] = {
      {"order 2, young", quadratic_beam, NULL, 0.01, 5, OF("young", "body0"), 5, 1e-6},
      {"order 3, poisson", cubic_beam, "bdf2", 0.01, 4, ELEMENTS("poisson", "body0"), 1e-4, 1e-6},
      {"order 2, density", quadratic_beam, NULL, 0.01, 5, OF("density", "body0"), 0.3, 1e-6},
      {"order 3, densities", cubic_beam, "sdirk2", 0.01, 4, ELEMENTS("density", "body0"), 0.3,
       1e-6},
      {"order 2, shape", quadratic_beam, NULL, 0.01, 5, SHAPE("body0"), 1e-6, 1e-6},
      {"order 3, shape", cubic_beam, "bdf2", 0.01, 4, SHAPE("body0"), 1e-6, 1e-6},
      {"order 4, shape", quartic_beam, NULL, 0.01, 2, SHAPE("body0"), 1e-6, 1e-6},
      {"order 2 at rest, shape", quadratic_beam, "quasi_static", 0.01, 2, SHAPE("body0"), 1e-6,
       1e-6},
      {"order 2, landing, shape", quadratic_landing, NULL, 0.005, 8, SHAPE("body0"), 1e-7, 1e-5},
      {"order 3, landing, shape", cubic_landing, NULL, 0.005, 6, SHAPE("body0"), 1e-7, 1e-5},
      {"order 2, landing, positions",
       quadratic_landing,
       NULL,
       0.005,
       8,
       {.kind = "initial_position", .of = "body0", .scope = "vertices"},
       1e-7,
       1e-5},
      {"order 2, landing, density", quadratic_landing, NULL, 0.005, 8, OF("density", "body0"), 0.1,
       1e-5},
      {"curved, shape", curved_ball, NULL, 0.01, 4, SHAPE("body0"), 1e-6, 1e-6},
      {"curved quasi-static, shape", curved_ball, "quasi_static", 0.01, 2, SHAPE("body0"), 1e-6,
       1e-6},
      {"order 3 on a curved mesh, shape", cubic_ball, "bdf2", 0.01, 3, SHAPE("body0"), 1e-6, 1e-6},
      {"curved, landing, shape", curved_landing, NULL, 0.005, 6, SHAPE("body0"), 1e-7, 1e-5},
      {"damped curved, shape", damped_ball, NULL, 0.01, 4, SHAPE("body0"), 1e-6, 1e-6},
      {"proxy, landing, shape", proxy_landing, NULL, 0.005, 8, SHAPE("body0"), 1e-7, 1e-5},
  };
  COMPARE(cases);
}

static void shapes_of_higher_order_than_elements(void** state) {
  (void)state;
  static const GradientCase cases[] = {
      {"shape 2, order 1, shape", linear_ball, NULL, 0.01, 5, SHAPE("body0"), 1e-6, 1e-6},
      {"shape 2, order 1 at rest, shape", linear_ball, "quasi_static", 0.01, 2, SHAPE("body0"),
       1e-6, 1e-6},
      {"shape 2, order 1 tr_bdf2, shape", linear_ball, "tr_bdf2", 0.01, 4, SHAPE("body0"), 1e-6,
       1e-6},
      {"shape 2, order 1, place", linear_ball, "bdf2", 0.01, 4, OF("rest_position", "body0"), 1e-6,
       1e-6},
      {"shape 2, order 1 damped, shape", damped_linear_ball, NULL, 0.01, 4, SHAPE("body0"), 1e-6,
       1e-6},
      {"shape 2, order 1 relaxes, shape", relaxing_linear_ball, "bdf2", 0.01, 4, SHAPE("body0"),
       1e-6, 1e-6},
      {"shape 2, order 1 flows, shape", flowing_linear_ball, NULL, 0.01, 4, SHAPE("body0"), 1e-6,
       1e-6},
      {"shape 3, order 2, shape", ball_of_shape_3, "sdirk2", 0.01, 3, SHAPE("body0"), 1e-6, 1e-6},
      {"shape 4, order 2, shape", ball_of_shape_4, NULL, 0.01, 3, SHAPE("body0"), 1e-6, 1e-6},
      {"shape 2, order 1, landing, shape", linear_landing, NULL, 0.005, 6, SHAPE("body0"), 1e-7,
       1e-5},
      {"shape 3, order 2, landing, shape", landing_of_shape_3, NULL, 0.005, 6, SHAPE("body0"), 1e-7,
       1e-5},
  };
  COMPARE(cases);
}

// Stresses and energies of them; those of other bodies: test_gradient_goals.c.
static void goals_of_such_shapes(void** state) {
  (void)state;
  static void (*const builds[])(World*) = {linear_ball, ball_of_shape_3};
  static const char* const quantities[2] = {"elastic_energy", "von_mises"};
  for (int k = 0; k < 4; k++) {
    const GradientCase c = {quantities[k % 2], builds[k / 2], NULL, 0.01, 3,
                            SHAPE("body0"),    1e-6,          1e-6};
    NoliGoalDef goal = noli_default_goal_def();
    goal.quantity = quantities[k % 2];
    goal.of = "body0";
    goal.reduction = k % 2 == 1 ? "norm" : NULL;
    compare_case(&c, &goal);
  }
}

// ---- damping in proportion to stiffness ---------------------------------------------------------

static void damped_beam_of(World* world, const char* law, int32_t order) {
  int32_t body = add_box(world, 1.0, true);
  world->body[body].material.law = law;
  world->body[body].material.damping = 0.01;
  world->body[body].order = order;
}

static void damped_beam(World* world) {
  damped_beam_of(world, "neo_hookean", 1);
}

static void damped_stable_beam(World* world) {
  damped_beam_of(world, "stable_neo_hookean", 1);
}

static void damped_corotated_beam(World* world) {
  damped_beam_of(world, "fixed_corotated", 1);
}

static void damped_linear_beam(World* world) {
  damped_beam_of(world, "corotated_linear", 1);
}

static void damped_quadratic_beam(World* world) {
  damped_beam_of(world, "stvk", 2);
}

static void damped_rubber_beam(World* world) {
  damped_beam_of(world, "ogden", 1);
  memcpy(world->body[0].material.parameter, (double[]){9e3, 1.7, -2e3, -2.4}, 4 * sizeof(double));
}

static void damped_mooney_beam(World* world) {
  damped_beam_of(world, "mooney_rivlin", 2);
  world->body[0].material.parameter[0] = 3e3;
  world->body[0].material.parameter[1] = 1e3;
}

static void damped_logarithmic_beam(World* world) {
  damped_beam_of(world, "hencky", 1);
}

static void damped_fibre_beam(World* world) {
  damped_beam_of(world, "neo_hookean", 1);
  static double fibre[64 * NOLI_FIBRE_VALUES];
  assert_true(world->body[0].mesh->n_tet <= 64);
  for (int32_t e = 0; e < 64; e++) {
    memcpy(fibre + NOLI_FIBRE_VALUES * e, (double[]){0.6, 0.0, 0.8, 4e4, 2.0},
           NOLI_FIBRE_VALUES * sizeof *fibre);
  }
  world->body[0].fields.fibre = fibre;
}

// So fast that elements lose half of their height, where the tangent is not positive.
static void damped_crash(World* world) {
  world_add_plane(world, (double[]){0, 0, 0}, (double[]){0, 1, 0});
  world->def.friction = 0.3;
  int32_t body = add_box(world, 1.5e-3, false);
  world->body[body].material.damping = 0.003;
  world->body[body].velocity[0] = 0.5;
  world->body[body].velocity[1] = -4.0;
}

static void damped_plane(World* world) {
  flat_landing(world);
  world->body[0].material.damping = 0.005;
}

static void damping_in_proportion_to_stiffness(void** state) {
  (void)state;
  static const GradientCase cases[] = {
      {"damped beam, young", damped_beam, NULL, 0.01, 10, OF("young", "body0"), 5, 1e-6},
      {"damped beam, poisson", damped_beam, "bdf2", 0.01, 8, OF("poisson", "body0"), 1e-4, 1e-6},
      {"damped beam, shape", damped_beam, NULL, 0.01, 6, SHAPE("body0"), 1e-6, 1e-6},
      {"damped beam bdf2, shape", damped_beam, "bdf2", 0.01, 6, SHAPE("body0"), 1e-6, 1e-6},
      {"damped beam sdirk2, velocity",
       damped_beam,
       "sdirk2",
       0.01,
       6,
       {.kind = "initial_velocity", .of = "body0", .scope = "vertices"},
       1e-4,
       1e-6},
      {"damped stable beam, positions",
       damped_stable_beam,
       NULL,
       0.01,
       6,
       {.kind = "initial_position", .of = "body0", .scope = "vertices"},
       1e-6,
       1e-6},
      {"damped corotated beam, young", damped_corotated_beam, "bdf2", 0.01, 6,
       ELEMENTS("young", "body0"), 5, 1e-6},
      {"damped linear beam, shape", damped_linear_beam, NULL, 0.01, 6, SHAPE("body0"), 1e-6, 1e-6},
      {"damped quadratic beam, shape", damped_quadratic_beam, NULL, 0.01, 4, SHAPE("body0"), 1e-6,
       1e-6},
      {"damped quadratic beam, young", damped_quadratic_beam, "bdf2", 0.01, 4, OF("young", "body0"),
       5, 1e-6},
      {"damped rubber beam, shape", damped_rubber_beam, NULL, 0.01, 6, SHAPE("body0"), 1e-6, 1e-6},
      {"damped rubber beam, velocity", damped_rubber_beam, "sdirk2", 0.01, 6,
       OF("initial_velocity", "body0"), 1e-4, 1e-6},
      {"damped mooney beam, shape", damped_mooney_beam, NULL, 0.01, 4, SHAPE("body0"), 1e-6, 1e-6},
      {"damped logarithmic beam, shape", damped_logarithmic_beam, "bdf2", 0.01, 6, SHAPE("body0"),
       1e-6, 1e-6},
      {"damped logarithmic beam, young", damped_logarithmic_beam, NULL, 0.01, 6,
       OF("young", "body0"), 5, 1e-6},
      {"damped logarithmic beam, poisson", damped_logarithmic_beam, NULL, 0.01, 6,
       OF("poisson", "body0"), 1e-4, 1e-6},
      {"damped mooney beam, poisson", damped_mooney_beam, NULL, 0.01, 4, OF("poisson", "body0"),
       1e-4, 1e-6},
      {"damped fibre beam, shape", damped_fibre_beam, NULL, 0.01, 6, SHAPE("body0"), 1e-6, 1e-6},
      {"damped fibre beam, young", damped_fibre_beam, "bdf2", 0.01, 6, OF("young", "body0"), 5,
       1e-6},
      {"damped crash, velocity", damped_crash, NULL, 0.002, 12, OF("initial_velocity", "body0"),
       1e-5, 1e-5},
      {"damped crash, young", damped_crash, "sdirk2", 0.002, 12, OF("young", "body0"), 1, 1e-5},
      {"damped crash, shape", damped_crash, NULL, 0.002, 8, SHAPE("body0"), 1e-7, 1e-5},
      {"damped plane, shape", damped_plane, NULL, 0.005, 8, SHAPE("body0"), 1e-7, 1e-5},
      {"damped plane, density", damped_plane, "bdf2", 0.005, 8, OF("density", "body0"), 0.1, 1e-5},
  };
  COMPARE(cases);
}

// ---- materials with history ---------------------------------------------------------------------

static void viscous_landing_of(World* world, int32_t order) {
  landing_of(world, order);
  world->body[0].material.prony = &prony;
  world->body[0].velocity[1] = -0.5;
}

static void viscous_landing(World* world) {
  viscous_landing_of(world, 1);
}

static void viscous_quadratic_landing(World* world) {
  viscous_landing_of(world, 2);
}

// Beside an elastic body, whose elements have no history.
static void viscous_stack(World* world) {
  world_add_plane(world, (double[]){0, 0, 0}, (double[]){0, 1, 0});
  world->def.friction = 0.3;
  (void)add_box(world, 1.5e-3, false);
  int32_t body = add_box(world, 0.104, false);
  world->body[body].material.prony = &prony;
  world->body[body].velocity[0] = 0.5;
  world->body[body].velocity[1] = -1.0;
}

static void viscous_beam(World* world) {
  int32_t body = add_box(world, 1.0, true);
  world->body[body].material.prony = &prony;
  world->body[body].angular_velocity[2] = 3.0;
}

static void viscous_plane(World* world) {
  flat_landing(world);
  world->body[0].material.prony = &prony;
}

static void materials_with_history(void** state) {
  (void)state;
  static const GradientCase cases[] = {
      {"viscous landing, young", viscous_landing, NULL, 0.002, 10, OF("young", "body0"), 5, 1e-5},
      {"viscous landing bdf2, young", viscous_landing, "bdf2", 0.002, 10,
       ELEMENTS("young", "body0"), 5, 1e-5},
      {"viscous landing, density", viscous_landing, "bdf2", 0.002, 10, OF("density", "body0"), 0.1,
       1e-5},
      {"viscous landing, friction", viscous_landing, NULL, 0.002, 10, OF("friction", NULL), 1e-4,
       1e-5},
      {"viscous landing bdf2, gravity", viscous_landing, "bdf2", 0.002, 10, OF("gravity", NULL),
       1e-3, 1e-5},
      {"viscous landing, velocity",
       viscous_landing,
       NULL,
       0.002,
       10,
       {.kind = "initial_velocity", .of = "body0", .scope = "vertices"},
       1e-5,
       1e-5},
      {"viscous landing bdf2, positions",
       viscous_landing,
       "bdf2",
       0.002,
       10,
       {.kind = "initial_position", .of = "body0", .scope = "vertices"},
       1e-7,
       1e-5},
      {"viscous landing, poisson", viscous_landing, "sdirk2", 0.002, 8, OF("poisson", "body0"),
       1e-5, 1e-5},
      {"viscous landing, shape", viscous_landing, NULL, 0.002, 8, SHAPE("body0"), 1e-7, 1e-5},
      {"viscous order 2, shape", viscous_quadratic_landing, "bdf2", 0.002, 6, SHAPE("body0"), 1e-7,
       1e-5},
      {"viscous order 2, young", viscous_quadratic_landing, NULL, 0.002, 6, OF("young", "body0"), 5,
       1e-5},
      {"viscous stack, young", viscous_stack, NULL, 0.002, 8, OF("young", "body1"), 5, 1e-5},
      {"viscous stack bdf2, velocity", viscous_stack, "bdf2", 0.002, 8,
       OF("initial_velocity", "body1"), 1e-5, 1e-5},
      {"viscous beam trapezoidal, velocity",
       viscous_beam,
       "trapezoidal",
       0.005,
       6,
       {.kind = "initial_velocity", .of = "body0", .scope = "vertices"},
       1e-4,
       1e-6},
      {"viscous beam tr_bdf2, positions",
       viscous_beam,
       "tr_bdf2",
       0.005,
       6,
       {.kind = "initial_position", .of = "body0", .scope = "vertices"},
       1e-6,
       1e-6},
      {"viscous beam tr_bdf2, shape", viscous_beam, "tr_bdf2", 0.005, 6, SHAPE("body0"), 1e-6,
       1e-6},
      {"viscous plane, positions",
       viscous_plane,
       "sdirk2",
       0.002,
       8,
       {.kind = "initial_position", .of = "body0", .scope = "vertices"},
       1e-7,
       1e-5},
      {"viscous plane, shape", viscous_plane, NULL, 0.002, 8, SHAPE("body0"), 1e-7, 1e-5},
  };
  COMPARE(cases);
}

// States that are kept, and steps that are computed again, hold the histories, too.
static void histories_are_kept(void** state) {
  (void)state;
  const GradientCase c = {
      .name = "kept", .build = viscous_landing, .integrator = "bdf2", .h = 0.002};
  World world = built_world(&c);
  world_start(&world);
  NoliParameterDef velocity = OF("initial_velocity", "body0");
  NoliParameters* parameters = NULL;
  NoliObjective objective = {spread, NULL};
  NoliGradientDef def = noli_default_gradient_def();
  double value[2], gradient[2][3];
  def.n_steps = 10;
  ASSERT_OK(noli_parameters_create(world.sim, &velocity, 1, &parameters));
  for (int k = 0; k < 2; k++) {
    NoliSim* sim = NULL;
    ASSERT_OK(noli_sim_clone(world.sim, world.context, &sim));
    def.checkpoints = k == 0 ? 1 : 4;
    ASSERT_OK(
        noli_sim_gradient(sim, parameters, &objective, 1, &def, &value[k], gradient[k], NULL));
    noli_sim_destroy(&sim);
  }
  assert_memory_equal(&value[0], &value[1], sizeof *value);
  assert_memory_equal(gradient[0], gradient[1], sizeof *gradient);
  noli_parameters_destroy(&parameters);
  world_done(&world);
}

// ---- integrators that start from forces ---------------------------------------------------------

static void starts_from_forces(void** state) {
  (void)state;
  static const GradientCase cases[] = {
      {"damped trapezoidal, shape", damped_beam, "trapezoidal", 0.01, 6, SHAPE("body0"), 1e-6,
       1e-6},
      {"damped tr_bdf2, young", damped_beam, "tr_bdf2", 0.01, 6, OF("young", "body0"), 5, 1e-6},
      {"damped tr_bdf2, density", damped_beam, "tr_bdf2", 0.01, 6, ELEMENTS("density", "body0"),
       0.3, 1e-6},
      {"damped trapezoidal, velocity", damped_beam, "trapezoidal", 0.01, 6,
       OF("initial_velocity", "body0"), 1e-4, 1e-6},
      {"damped crash tr_bdf2, shape", damped_crash, "tr_bdf2", 0.002, 6, SHAPE("body0"), 1e-7,
       1e-5},
      {"order 2 trapezoidal, shape", quadratic_beam, "trapezoidal", 0.01, 5, SHAPE("body0"), 1e-6,
       1e-6},
      {"order 3 tr_bdf2, densities", cubic_beam, "tr_bdf2", 0.01, 4, ELEMENTS("density", "body0"),
       0.3, 1e-6},
      {"order 2 tr_bdf2, landing, positions", quadratic_landing, "tr_bdf2", 0.005, 8,
       OF("initial_position", "body0"), 1e-7, 1e-5},
      {"damped order 2 tr_bdf2, shape", damped_quadratic_beam, "tr_bdf2", 0.01, 4, SHAPE("body0"),
       1e-6, 1e-6},
      {"damped order 2 trapezoidal, density", damped_quadratic_beam, "trapezoidal", 0.01, 4,
       OF("density", "body0"), 0.3, 1e-6},
  };
  COMPARE(cases);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(elements_of_higher_order),
                                     cmocka_unit_test(shapes_of_higher_order_than_elements),
                                     cmocka_unit_test(goals_of_such_shapes),
                                     cmocka_unit_test(damping_in_proportion_to_stiffness),
                                     cmocka_unit_test(materials_with_history),
                                     cmocka_unit_test(histories_are_kept),
                                     cmocka_unit_test(starts_from_forces)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
