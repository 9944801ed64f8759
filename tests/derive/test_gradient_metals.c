// Derivatives of runs with bodies that yield: both modes against each other and against central
// differences of runs.
#include "gradient_runs.h"

// Yields early, with hardening of both kinds.
static void set_metal(World* world, int32_t body) {
  NoliMaterialDef* material = &world->body[body].material;
  material->law = "hencky";
  material->young = 2e4;
  material->poisson = 0.3;
  material->density = 900;
  memcpy(material->parameter, (double[]){400.0, 1500.0, 300.0, 20.0}, 4 * sizeof(double));
}

static int32_t add_box(World* world, double height) {
  int32_t body = add_plain_box(world, height);
  set_metal(world, body);
  return body;
}

// Swings, and flows at its root.
static void beam(World* world) {
  int32_t body = add_box(world, 1.0);
  world->body[body].angular_velocity[2] = 3.0;
  hold_left(world, body, 4);
}

static void quadratic_beam(World* world) {
  beam(world);
  world->body[0].order = 2;
}

// Flows and relaxes.
static void viscous_beam(World* world) {
  static const NoliProny prony = {.n = 2, .share = {0.4, 0.2}, .time = {0.01, 0.2}};
  beam(world);
  world->body[0].material.prony = &prony;
}

// Hits the floor, and slides.
static void landing(World* world) {
  world_add_plane(world, (double[]){0, 0, 0}, (double[]){0, 1, 0});
  world->def.friction = 0.3;
  int32_t body = add_box(world, 1.5e-3);
  world->body[body].velocity[0] = 0.5;
  world->body[body].velocity[1] = -1.0;
}

static void flat_landing(World* world) {
  set_metal(world, add_flat_landing(world));
}

static void metals(void** state) {
  (void)state;
  static const GradientCase cases[] = {
      {"beam, young", beam, NULL, 0.005, 12, OF("young", "body0"), 5, 1e-5},
      {"beam, poisson", beam, "bdf2", 0.005, 12, OF("poisson", "body0"), 1e-4, 1e-5},
      {"beam, yield", beam, NULL, 0.005, 12, OF("yield", "body0"), 0.1, 1e-5},
      {"beam sdirk2, yield", beam, "sdirk2", 0.005, 10, OF("yield", "body0"), 0.1, 1e-5},
      {"beam, hardening", beam, "bdf2", 0.005, 12, OF("hardening", "body0"), 1, 1e-5},
      {"beam, saturation", beam, NULL, 0.005, 12, OF("saturation", "body0"), 0.1, 1e-5},
      {"beam, saturation_rate", beam, NULL, 0.005, 12, OF("saturation_rate", "body0"), 1e-2, 1e-5},
      {"beam, young of elements", beam, NULL, 0.005, 8, ELEMENTS("young", "body0"), 5, 1e-5},
      {"beam, shape", beam, NULL, 0.005, 8, SHAPE("body0"), 1e-6, 1e-5},
      {"beam trapezoidal, yield", beam, "trapezoidal", 0.005, 10, OF("yield", "body0"), 0.1, 1e-5},
      {"beam tr_bdf2, shape", beam, "tr_bdf2", 0.005, 6, SHAPE("body0"), 1e-6, 1e-5},
      {"quadratic beam, yield", quadratic_beam, NULL, 0.005, 6, OF("yield", "body0"), 0.1, 1e-5},
      {"quadratic beam, shape", quadratic_beam, NULL, 0.005, 5, SHAPE("body0"), 1e-6, 1e-5},
      {"viscous beam, young", viscous_beam, "bdf2", 0.005, 10, OF("young", "body0"), 5, 1e-5},
      {"viscous beam, shape", viscous_beam, NULL, 0.005, 6, SHAPE("body0"), 1e-6, 1e-5},
      {"landing, yield", landing, NULL, 0.002, 12, OF("yield", "body0"), 1e-2, 1e-5},
      {"landing, friction", landing, NULL, 0.002, 12, {.kind = "friction"}, 1e-4, 1e-5},
      {"landing, shape", landing, NULL, 0.002, 8, SHAPE("body0"), 1e-7, 1e-5},
      {"landing, velocity",
       landing,
       "sdirk2",
       0.002,
       8,
       {.kind = "initial_velocity", .of = "body0", .scope = "vertices"},
       1e-5,
       1e-5},
      {"flat landing, hardening", flat_landing, NULL, 0.002, 10, OF("hardening", "body0"), 1, 1e-5},
      {"flat landing, shape", flat_landing, NULL, 0.002, 8, SHAPE("body0"), 1e-7, 1e-5},
  };
  COMPARE(cases);
}

// ---- stress and energy --------------------------------------------------------------------------

static void rubber_beam(World* world) {
  beam(world);
  world->body[0].material.law = "ogden";
  memset(world->body[0].material.parameter, 0, sizeof world->body[0].material.parameter);
  memcpy(world->body[0].material.parameter, (double[]){9e3, 1.7, -2e3, -2.4}, 4 * sizeof(double));
}

// Relaxes, of order 2.
static void relaxing_landing(World* world) {
  static const NoliProny prony = {.n = 2, .share = {0.4, 0.2}, .time = {0.01, 0.2}};
  landing(world);
  world->body[0].material.law = "neo_hookean";
  memset(world->body[0].material.parameter, 0, sizeof world->body[0].material.parameter);
  world->body[0].material.prony = &prony;
  world->body[0].order = 2;
}

static const NoliGoalDef energy = ENERGY_GOAL, stress = STRESS_GOAL;

// The derivatives of goals of stress and energy, where the state has histories.
static void stresses_and_energies(void** state) {
  (void)state;
  static const struct {
    GradientCase run;
    const NoliGoalDef* goal;
  } cases[] = {
      {{"energy of metal, yield", beam, NULL, 0.005, 10, OF("yield", "body0"), 0.1, 1e-5}, &energy},
      {{"energy of metal, young", beam, "bdf2", 0.005, 10, OF("young", "body0"), 5, 1e-5}, &energy},
      {{"stress of metal, hardening", beam, NULL, 0.005, 10, OF("hardening", "body0"), 1, 1e-5},
       &stress},
      {{"stress of metal, shape", beam, NULL, 0.005, 8, SHAPE("body0"), 1e-6, 1e-5}, &stress},
      {{"stress of metal, poisson", viscous_beam, NULL, 0.005, 8, OF("poisson", "body0"), 1e-4,
        1e-5},
       &stress},
      {{"energy of metal, shape", quadratic_beam, NULL, 0.005, 5, SHAPE("body0"), 1e-6, 1e-5},
       &energy},
      {{"stress of rubber, poisson", rubber_beam, NULL, 0.005, 8, OF("poisson", "body0"), 1e-4,
        1e-5},
       &stress},
      {{"energy of rubber, shape", rubber_beam, "sdirk2", 0.005, 6, SHAPE("body0"), 1e-6, 1e-5},
       &energy},
      {{"stress, relaxing, young", relaxing_landing, NULL, 0.002, 8, OF("young", "body0"), 5, 1e-5},
       &stress},
      {{"energy, relaxing, shape", relaxing_landing, NULL, 0.002, 6, SHAPE("body0"), 1e-7, 1e-5},
       &energy},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    compare_case(&cases[i].run, cases[i].goal);
  }
}

// ---- the switch ---------------------------------------------------------------------------------

static void resting_beam(World* world) {
  beam(world);
  world->body[0].angular_velocity[2] = 0.0;
  world->body[0].material.density = 400;
}

// A body that has flowed under a load and lies still is where flow begins; one that swings is not.
static void switches_are_counted(void** state) {
  (void)state;
  for (int still = 0; still < 2; still++) {
    const GradientCase c = {.name = "switch",
                            .build = still ? resting_beam : beam,
                            .integrator = still ? "quasi_static" : NULL,
                            .h = 0.005};
    World world = built_world(&c);
    world_start(&world);
    NoliParameterDef density = OF("yield", "body0");
    NoliParameters* parameters = NULL;
    NoliObjective objective = {spread, NULL};
    NoliGradientDef def = noli_default_gradient_def();
    NoliGradientReport report;
    double value, gradient;
    def.n_steps = 6;
    def.tolerance = 1e-13;
    ASSERT_OK(noli_parameters_create(world.sim, &density, 1, &parameters));
    ASSERT_OK(
        noli_sim_gradient(world.sim, parameters, &objective, 1, &def, &value, &gradient, &report));
    print_message("%s: %d points at yield\n", still ? "still" : "swings", (int)report.at_yield);
    assert_true(still ? report.at_yield > 0 : report.at_yield == 0);
    noli_parameters_destroy(&parameters);
    world_done(&world);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(metals),
                                     cmocka_unit_test(stresses_and_energies),
                                     cmocka_unit_test(switches_are_counted)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
