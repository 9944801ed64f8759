// Derivatives of runs with bodies that yield: both modes against each other and against central
// differences of runs.
#include "gradient_runs.h"

typedef struct Case {
  const char* name;
  void (*build)(World* world);
  const char* integrator; // NULL: backward Euler
  double h;
  int64_t n_steps;
  NoliParameterDef parameter;
  double step;             // of the differences
  const NoliGoalDef* goal; // NULL: spread
} Case;

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
  NoliMesh* mesh = NULL;
  ASSERT_OK(noli_mesh_make_box(world->context, (double[]){0.2, 0.1, 0.12}, (int32_t[]){2, 1, 1},
                               false, &mesh));
  int32_t body = world_add(world, mesh, (double[]){0.01, 0.05 + height, 0.0});
  set_metal(world, body);
  return body;
}

static void hold(World* world, int32_t body) {
  static const int32_t left[4] = {0, 1, 2, 3};
  NoliMotionDef* motion = world_add_motion(world, body, NULL, NULL);
  motion->node = left;
  motion->n_node = 4;
}

// Swings, and flows at its root.
static void beam(World* world) {
  int32_t body = add_box(world, 1.0);
  world->body[body].angular_velocity[2] = 3.0;
  hold(world, body);
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
  NoliMesh* mesh = NULL;
  ASSERT_OK(noli_mesh_make_rectangle(world->context, 0.2, 0.1, 3, 2, &mesh));
  world_add_plane(world, (double[]){0, 0, 0}, (double[]){0, 1, 0});
  world->def.friction = 0.3;
  int32_t body = world_add(world, mesh, (double[]){0, 0.0515, 0});
  set_metal(world, body);
  world->body[body].plane_strain = 0.1;
  world->body[body].velocity[0] = 0.5;
  world->body[body].velocity[1] = -0.8;
}

static World world_of(const Case* c) {
  World world = world_new(1);
  world.def.integrator = c->integrator != NULL ? c->integrator : "backward_euler";
  world.def.time_step = c->h;
  world.def.contact_distance = (NoliScaled){2e-3, false};
  world.def.barrier_stiffness = 2e6;
  world.def.audit = "off";
  c->build(&world);
  return world;
}

static void compare_cases(const Case* cases, size_t n) {
  for (size_t i = 0; i < n; i++) {
    const Case* c = &cases[i];
    World world = world_of(c);
    const GradientRun run = {.name = c->name,
                             .n_steps = c->n_steps,
                             .parameter = c->parameter,
                             .step = c->step,
                             .error = 1e-5,
                             .plane = c->build == flat_landing,
                             .goal = c->goal};
    compare_run(&world, &run);
  }
}

static void metals(void** state) {
  (void)state;
  static const Case cases[] = {
      {"beam, young", beam, NULL, 0.005, 12, OF("young", "body0"), 5, NULL},
      {"beam, poisson", beam, "bdf2", 0.005, 12, OF("poisson", "body0"), 1e-4, NULL},
      {"beam, yield", beam, NULL, 0.005, 12, OF("yield", "body0"), 0.1, NULL},
      {"beam sdirk2, yield", beam, "sdirk2", 0.005, 10, OF("yield", "body0"), 0.1, NULL},
      {"beam, hardening", beam, "bdf2", 0.005, 12, OF("hardening", "body0"), 1, NULL},
      {"beam, saturation", beam, NULL, 0.005, 12, OF("saturation", "body0"), 0.1, NULL},
      {"beam, saturation_rate", beam, NULL, 0.005, 12, OF("saturation_rate", "body0"), 1e-2, NULL},
      {"beam, young of elements", beam, NULL, 0.005, 8, ELEMENTS("young", "body0"), 5, NULL},
      {"beam, shape", beam, NULL, 0.005, 8, SHAPE("body0"), 1e-6, NULL},
      {"beam trapezoidal, yield", beam, "trapezoidal", 0.005, 10, OF("yield", "body0"), 0.1, NULL},
      {"beam tr_bdf2, shape", beam, "tr_bdf2", 0.005, 6, SHAPE("body0"), 1e-6, NULL},
      {"quadratic beam, yield", quadratic_beam, NULL, 0.005, 6, OF("yield", "body0"), 0.1, NULL},
      {"quadratic beam, shape", quadratic_beam, NULL, 0.005, 5, SHAPE("body0"), 1e-6, NULL},
      {"viscous beam, young", viscous_beam, "bdf2", 0.005, 10, OF("young", "body0"), 5, NULL},
      {"viscous beam, shape", viscous_beam, NULL, 0.005, 6, SHAPE("body0"), 1e-6, NULL},
      {"landing, yield", landing, NULL, 0.002, 12, OF("yield", "body0"), 1e-2, NULL},
      {"landing, friction", landing, NULL, 0.002, 12, {.kind = "friction"}, 1e-4, NULL},
      {"landing, shape", landing, NULL, 0.002, 8, SHAPE("body0"), 1e-7, NULL},
      {"landing, velocity",
       landing,
       "sdirk2",
       0.002,
       8,
       {.kind = "initial_velocity", .of = "body0", .scope = "vertices"},
       1e-5,
       NULL},
      {"flat landing, hardening", flat_landing, NULL, 0.002, 10, OF("hardening", "body0"), 1, NULL},
      {"flat landing, shape", flat_landing, NULL, 0.002, 8, SHAPE("body0"), 1e-7, NULL},
  };
  compare_cases(cases, sizeof cases / sizeof *cases);
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

static const NoliGoalDef energy = {.quantity = "elastic_energy",
                                   .of = "body0",
                                   .form = "value",
                                   .weight = 1.0,
                                   .exponent = 8.0,
                                   .when = "over",
                                   .t_end = 1.0};
static const NoliGoalDef stress = {.quantity = "von_mises",
                                   .of = "body0",
                                   .reduction = "norm",
                                   .form = "value",
                                   .weight = 1.0,
                                   .exponent = 8.0,
                                   .when = "end",
                                   .t_end = 1.0};

// Of states with histories.
static void stresses_and_energies(void** state) {
  (void)state;
  static const Case cases[] = {
      {"energy of metal, yield", beam, NULL, 0.005, 10, OF("yield", "body0"), 0.1, &energy},
      {"energy of metal, young", beam, "bdf2", 0.005, 10, OF("young", "body0"), 5, &energy},
      {"stress of metal, hardening", beam, NULL, 0.005, 10, OF("hardening", "body0"), 1, &stress},
      {"stress of metal, shape", beam, NULL, 0.005, 8, SHAPE("body0"), 1e-6, &stress},
      {"stress of metal, poisson", viscous_beam, NULL, 0.005, 8, OF("poisson", "body0"), 1e-4,
       &stress},
      {"energy of metal, shape", quadratic_beam, NULL, 0.005, 5, SHAPE("body0"), 1e-6, &energy},
      {"stress of rubber, poisson", rubber_beam, NULL, 0.005, 8, OF("poisson", "body0"), 1e-4,
       &stress},
      {"energy of rubber, shape", rubber_beam, "sdirk2", 0.005, 6, SHAPE("body0"), 1e-6, &energy},
      {"stress, relaxing, young", relaxing_landing, NULL, 0.002, 8, OF("young", "body0"), 5,
       &stress},
      {"energy, relaxing, shape", relaxing_landing, NULL, 0.002, 6, SHAPE("body0"), 1e-7, &energy},
  };
  compare_cases(cases, sizeof cases / sizeof *cases);
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
    const Case c = {.name = "switch",
                    .build = still ? resting_beam : beam,
                    .integrator = still ? "quasi_static" : NULL,
                    .h = 0.005};
    World world = world_of(&c);
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
