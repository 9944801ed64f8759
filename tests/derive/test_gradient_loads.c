// Derivatives of runs by parameters of springs, closed volumes and loads, and of bodies under them:
// both modes against each other and against central differences of runs.
#include "fem/space.h"
#include "gradient_bodies.h"

// ---- springs, closed volumes, pressures, tractions ----------------------------------------------

static void constant_load(void* user, double t, const double X[3], double value[3]) {
  (void)user, (void)X;
  value[0] = 40.0 + 500.0 * t;
  value[1] = 5.0;
  value[2] = 0.0;
}

static void strong_load(void* user, double t, const double X[3], double value[3]) {
  (void)user, (void)X;
  value[0] = 400.0 + 5000.0 * t;
  value[1] = 150.0;
  value[2] = -50.0;
}

static NoliSpringDef springs[2];
static NoliForceDef forces[1];
static NoliVolumeDef volumes[1];
static const int32_t right[4] = {4, 5, 6, 7};

// Two boxes that are joined by springs of both kinds, one of them also to the ground.
static void sprung(World* world) {
  int32_t a = add_box(world, 1.0, true), b = add_box(world, 1.3, false);
  springs[0] = noli_default_spring_def();
  springs[0].body = b;
  springs[0].node = right;
  springs[0].n_node = 4;
  springs[0].to = a;
  springs[0].stiffness = 400.0;
  springs[0].damping = 3.0;
  springs[1] = noli_default_spring_def();
  springs[1].body = b;
  springs[1].node = left;
  springs[1].n_node = 1;
  springs[1].stiffness = 100.0;
  springs[1].damping = 1.0;
  world->body[b].velocity[0] = 0.5;
  world->body[b].angular_velocity[2] = 2.0;
  world->def.springs = springs;
  world->def.n_springs = 2;
}

static void strung(World* world) {
  sprung(world);
  springs[0].length = 0.15;
  springs[1].length = 0.1;
  springs[1].at_point = true;
  springs[1].point[0] = 0.2;
  springs[1].point[1] = 1.7;
}

static void undamped_strung(World* world) {
  strung(world);
  springs[0].damping = springs[1].damping = 0.0;
}

// A held hollow box with a gas inside, under a pressure from outside.
static void pressed(World* world, const char* kind, const char* model) {
  int32_t body = add_box(world, 1.0, true);
  forces[0] = noli_default_force_def();
  forces[0].body = body;
  forces[0].kind = kind;
  forces[0].value = constant_load;
  world->def.forces = forces;
  world->def.n_forces = 1;
  if (model != NULL) {
    volumes[0] = noli_default_volume_def();
    volumes[0].body = body;
    volumes[0].region = "outside";
    volumes[0].model = model;
    volumes[0].compression = 1e-4;
    volumes[0].pressure = 30.0;
    world->def.volumes = volumes;
    world->def.n_volumes = 1;
  }
}

static void under_pressure(World* world) {
  pressed(world, "pressure", NULL);
}

// On one side only: the mantle of the cones matters.
static void side_pressure(World* world) {
  static const int32_t some[] = {4, 5, 6, 7, 8, 9, 10, 11};
  pressed(world, "pressure", NULL);
  forces[0].node = some;
  forces[0].n_node = 8;
}

static void under_traction(World* world) {
  pressed(world, "traction", NULL);
}

static void with_gas(World* world) {
  pressed(world, "traction", "ideal_gas");
}

static void with_air(World* world) {
  pressed(world, "traction", "ideal_gas");
  volumes[0].compression = 0.0;
}

static void with_water(World* world) {
  pressed(world, "pressure", "nearly_incompressible");
}

static void with_quadratic(World* world) {
  pressed(world, "pressure", "quadratic");
}

static void flat_pressure(World* world) {
  flat_landing(world);
  forces[0] = noli_default_force_def();
  forces[0].kind = "pressure";
  forces[0].value = constant_load;
  forces[0].node = left;
  forces[0].n_node = 3;
  world->def.forces = forces;
  world->def.n_forces = 1;
}

// A box of which the vertices on the left and some others have an acceleration.
static void accelerated_of(World* world, int32_t order) {
  static const int32_t some[6] = {1, 3, 5, 6, 8, 10};
  int32_t body = add_box(world, 1.0, true);
  world->body[body].order = order;
  world->body[body].material.mass_damping = 2.0;
  forces[0] = noli_default_force_def();
  forces[0].kind = "acceleration";
  forces[0].value = constant_load;
  forces[0].node = some;
  forces[0].n_node = 6;
  world->def.forces = forces;
  world->def.n_forces = 1;
}

static void accelerated(World* world) {
  accelerated_of(world, 1);
}

// Its shares do not change with the density of the whole body, but with those of elements.
static void accelerated_in_total(World* world) {
  accelerated_of(world, 1);
  forces[0].kind = "total";
}

static void accelerated_quadratic(World* world) {
  accelerated_of(world, 2);
}

// On a curved ball that is held on its left, or on the straight faces of a box, by nodes of
// `order`.
static void loaded_of(World* world, const char* kind, int32_t order, bool curved) {
  if (curved) {
    held_ball_of(world, order);
  } else {
    held_beam_of(world, order);
  }
  forces[0] = noli_default_force_def();
  forces[0].body = 0;
  forces[0].kind = kind;
  forces[0].value = strong_load;
  world->def.forces = forces;
  world->def.n_forces = 1;
}

static void quadratic_traction(World* world) {
  loaded_of(world, "traction", 2, false);
}

static void quartic_traction(World* world) {
  loaded_of(world, "traction", 4, false);
}

static void curved_traction(World* world) {
  loaded_of(world, "traction", 2, true);
}

static void cubic_curved_traction(World* world) {
  loaded_of(world, "traction", 3, true);
}

// The shapes of faces have a higher order than their nodes.
static void linear_curved_traction(World* world) {
  loaded_of(world, "traction", 1, true);
}

static void linear_curved_pressure(World* world) {
  loaded_of(world, "pressure", 1, true);
}

static void quadratic_pressure(World* world) {
  loaded_of(world, "pressure", 2, false);
}

// On one side only: the mantle of the cones matters.
static void cubic_side_pressure(World* world) {
  static int32_t some[112];
  NoliSpace space = {0};
  loaded_of(world, "pressure", 3, false);
  ASSERT_OK(noli_space_create(world->context, world->body[0].mesh, 3, &space));
  assert_true(space.n_node <= 112);
  forces[0].node = some;
  for (int32_t i = 0; i < space.n_node; i++) {
    if (space.X[3 * (int64_t)i + 1] > 1.0999) {
      some[forces[0].n_node++] = i;
    }
  }
  noli_space_destroy(world->context, &space);
}

static void curved_pressure(World* world) {
  loaded_of(world, "pressure", 2, true);
}

static void flat_traction(World* world) {
  flat_pressure(world);
  forces[0].kind = "traction";
}

static void viscous_loaded_beam(World* world) {
  pressed(world, "traction", NULL);
  world->body[0].material.prony = &prony;
}

static void stretched_springs(void** state) {
  (void)state;
  static const GradientCase cases[] = {
      {"springs, stiffness", sprung, NULL, 0.01, 8, OF("spring_stiffness", "spring 0"), 0.1, 1e-6},
      {"springs, damping", sprung, "bdf2", 0.01, 8, OF("spring_damping", "spring 0"), 1e-3, 1e-6},
      {"springs, shape", sprung, NULL, 0.01, 6, SHAPE("body1"), 1e-6, 1e-6},
      {"springs, young", sprung, "sdirk2", 0.01, 6, OF("young", "body0"), 5, 1e-6},
      {"strung, length", strung, "bdf2", 0.01, 8, OF("spring_length", "spring 0"), 1e-5, 1e-6},
      {"strung, length to a point", strung, NULL, 0.01, 8, OF("spring_length", "spring 1"), 1e-5,
       1e-6},
      {"strung, damping", strung, "sdirk2", 0.01, 8, OF("spring_damping", "spring 1"), 1e-3, 1e-6},
      {"strung, positions", strung, NULL, 0.01, 6, OF("initial_position", "body1"), 1e-6, 1e-6},
      {"strung tr_bdf2, stiffness", undamped_strung, "tr_bdf2", 0.01, 6,
       OF("spring_stiffness", "spring 0"), 0.1, 1e-6},
      {"strung tr_bdf2, damping", strung, "tr_bdf2", 0.01, 6, OF("spring_damping", "spring 1"),
       1e-3, 1e-6},
      {"strung trapezoidal, length", strung, "trapezoidal", 0.01, 6,
       OF("spring_length", "spring 0"), 1e-5, 1e-6},
      {"springs trapezoidal, shape", sprung, "trapezoidal", 0.01, 6, SHAPE("body1"), 1e-6, 1e-6},
  };
  COMPARE(cases);
}

static void pressures(void** state) {
  (void)state;
  static const GradientCase cases[] = {
      {"pressure, factor", under_pressure, NULL, 0.01, 6, OF("force", "force 0"), 2e-2, 1e-6},
      {"pressure, shape", under_pressure, "bdf2", 0.01, 6, SHAPE("body0"), 1e-6, 1e-6},
      {"side pressure, factor", side_pressure, "sdirk2", 0.01, 6, OF("force", "force 0"), 2e-2,
       1e-6},
      {"side pressure, shape", side_pressure, NULL, 0.01, 6, SHAPE("body0"), 1e-6, 1e-6},
      {"side pressure trapezoidal, shape", side_pressure, "trapezoidal", 0.01, 5, SHAPE("body0"),
       1e-6, 1e-6},
      {"pressure tr_bdf2, factor", under_pressure, "tr_bdf2", 0.01, 5, OF("force", "force 0"), 2e-2,
       1e-6},
      {"pressure tr_bdf2, positions", under_pressure, "tr_bdf2", 0.01, 5,
       VERTICES("initial_position", "body0"), 1e-6, 1e-6},
      {"flat pressure, factor", flat_pressure, NULL, 0.005, 6, OF("force", "force 0"), 2e-2, 1e-5},
      {"flat pressure, young", flat_pressure, NULL, 0.005, 6, OF("young", "body0"), 2, 1e-5},
      {"order 2, pressure, factor", quadratic_pressure, NULL, 0.01, 4, OF("force", "force 0"), 2e-2,
       1e-6},
      {"order 2, pressure, shape", quadratic_pressure, "bdf2", 0.01, 4, SHAPE("body0"), 1e-6, 1e-6},
      {"order 3, side pressure, shape", cubic_side_pressure, "sdirk2", 0.01, 3, SHAPE("body0"),
       1e-6, 1e-6},
      {"curved pressure, factor", curved_pressure, "bdf2", 0.01, 4, OF("force", "force 0"), 2e-2,
       1e-6},
      {"curved pressure, young", curved_pressure, NULL, 0.01, 4, OF("young", "body0"), 5, 1e-6},
      {"curved pressure, shape", curved_pressure, NULL, 0.01, 4, SHAPE("body0"), 1e-6, 1e-6},
      {"order 1, curved pressure, shape", linear_curved_pressure, "bdf2", 0.01, 4, SHAPE("body0"),
       1e-6, 1e-6},
  };
  COMPARE(cases);
}

static void tractions_and_accelerations(void** state) {
  (void)state;
  static const GradientCase cases[] = {
      {"traction, factor", under_traction, NULL, 0.01, 6, OF("force", "force 0"), 2e-2, 1e-6},
      {"traction, shape", under_traction, NULL, 0.01, 6, SHAPE("body0"), 1e-6, 1e-6},
      {"traction tr_bdf2, shape", under_traction, "tr_bdf2", 0.01, 5, SHAPE("body0"), 1e-6, 1e-6},
      {"flat traction, shape", flat_traction, NULL, 0.005, 6, SHAPE("body0"), 1e-7, 1e-5},
      {"traction, density", under_traction, "bdf2", 0.01, 6, OF("density", "body0"), 0.1, 1e-6},
      {"acceleration, density", accelerated, NULL, 0.01, 6, OF("density", "body0"), 0.3, 1e-6},
      {"acceleration, shape", accelerated, "tr_bdf2", 0.01, 6, SHAPE("body0"), 1e-6, 1e-6},
      {"total force, density", accelerated_in_total, NULL, 0.01, 6, OF("density", "body0"), 0.3,
       1e-6},
      {"total force, density of elements", accelerated_in_total, NULL, 0.01, 6,
       ELEMENTS("density", "body0"), 0.3, 1e-6},
      {"total force, shape", accelerated_in_total, "bdf2", 0.01, 6, SHAPE("body0"), 1e-6, 1e-6},
      {"acceleration order 2, density", accelerated_quadratic, NULL, 0.01, 4,
       ELEMENTS("density", "body0"), 0.3, 1e-6},
      {"acceleration order 2, shape", accelerated_quadratic, "bdf2", 0.01, 4, SHAPE("body0"), 1e-6,
       1e-6},
      {"order 2, traction, shape", quadratic_traction, NULL, 0.01, 4, SHAPE("body0"), 1e-6, 1e-6},
      {"order 4, traction, shape", quartic_traction, NULL, 0.01, 2, SHAPE("body0"), 1e-6, 1e-6},
      {"curved traction, shape", curved_traction, "bdf2", 0.01, 4, SHAPE("body0"), 1e-6, 1e-6},
      {"order 3, curved traction, shape", cubic_curved_traction, NULL, 0.01, 2, SHAPE("body0"),
       1e-6, 1e-6},
      {"curved traction, factor", curved_traction, NULL, 0.01, 4, OF("force", "force 0"), 2e-2,
       1e-6},
      {"order 1, curved traction, shape", linear_curved_traction, NULL, 0.01, 4, SHAPE("body0"),
       1e-6, 1e-6},
      {"order 2 tr_bdf2, acceleration, density", accelerated_quadratic, "tr_bdf2", 0.01, 4,
       OF("density", "body0"), 0.3, 1e-6},
      {"viscous beam at rest, young", viscous_loaded_beam, "quasi_static", 0.01, 4,
       OF("young", "body0"), 5, 1e-6},
      {"viscous beam, force", viscous_loaded_beam, "bdf2", 0.01, 6, OF("force", "force 0"), 1e-3,
       1e-6},
  };
  COMPARE(cases);
}

static void regions(void** state) {
  (void)state;
  static const GradientCase cases[] = {
      {"gas, pressure", with_gas, NULL, 0.01, 6, OF("volume_pressure", "body0"), 0.1, 1e-6},
      {"gas, compression", with_gas, "bdf2", 0.01, 6, OF("volume_compression", "body0"), 1e-7,
       1e-6},
      {"air, pressure", with_air, NULL, 0.01, 6, OF("volume_pressure", "body0"), 0.1, 1e-6},
      {"air, young", with_air, "trapezoidal", 0.01, 6, OF("young", "body0"), 5, 1e-6},
      {"water, shape", with_water, NULL, 0.01, 6, SHAPE("body0"), 1e-6, 1e-6},
      {"water, compression", with_water, "sdirk2", 0.01, 6, OF("volume_compression", "body0"), 1e-7,
       1e-5},
      {"quadratic, positions", with_quadratic, NULL, 0.01, 6, VERTICES("initial_position", "body0"),
       1e-6, 1e-6},
  };
  COMPARE(cases);
}

// ---- total forces -------------------------------------------------------------------------------

// Some vertices and nodes between them of a body that falls, of which one is named twice.
static void add_total(World* world) {
  static const int32_t some[9] = {1, 3, 5, 6, 8, 5, 12, 15, 20};
  forces[0] = noli_default_force_def();
  forces[0].kind = "total";
  forces[0].value = constant_load;
  forces[0].node = some;
  forces[0].n_node = 9;
  world->def.forces = forces;
  world->def.n_forces = 1;
}

static void total_of(World* world, int32_t order, bool falls) {
  int32_t body = add_box(world, 1.0, true);
  world->body[body].order = order;
  world->body[body].material.mass_damping = 2.0;
  world->def.gravity[1] = falls ? -9.81 : 0.0;
  add_total(world);
}

static void quadratic_total(World* world) {
  total_of(world, 2, false);
}

static void falling_quadratic_total(World* world) {
  total_of(world, 2, true);
}

static void cubic_total(World* world) {
  total_of(world, 3, false);
}

static void quartic_total(World* world) {
  total_of(world, 4, true);
}

// Only for a while, beside an acceleration and another total force.
static void several_totals(World* world) {
  static NoliForceDef several[3];
  total_of(world, 2, true);
  several[0] = several[1] = several[2] = forces[0];
  several[0].t_end = 0.025;
  several[1].kind = "acceleration";
  several[2].node = right;
  several[2].n_node = 4;
  several[2].change = -0.4;
  world->def.forces = several;
  world->def.n_forces = 3;
}

static void parted_total(World* world) {
  static const int32_t heavy[4] = {0, 2, 3, 7};
  static NoliPartDef part;
  total_of(world, 3, true);
  part = (NoliPartDef){.element = heavy, .n_element = 4, .material = world->body[0].material};
  part.material.density = 2500.0;
  world->body[0].parts = &part;
  world->body[0].n_parts = 1;
}

static void pushed_landing(World* world, int32_t order) {
  landing_of(world, order);
  add_total(world);
}

static void quadratic_pushed_landing(World* world) {
  pushed_landing(world, 2);
}

static void cubic_pushed_landing(World* world) {
  pushed_landing(world, 3);
}

static void curved_total(World* world) {
  curved_ball(world);
  add_total(world);
}

static void linear_curved_total(World* world) {
  linear_ball(world);
  add_total(world);
  forces[0].n_node = 4; // it has no others
}

static void curved_pushed_landing(World* world) {
  curved_landing(world);
  add_total(world);
}

static void total_forces_of_higher_order(void** state) {
  (void)state;
  static const NoliParameterDef second = {.kind = "density", .of = "body0", .part = 1};
  const GradientCase cases[] = {
      {"order 2, total, densities", quadratic_total, NULL, 0.01, 4, ELEMENTS("density", "body0"),
       0.3, 1e-6},
      {"order 2, total, falling, densities", falling_quadratic_total, "bdf2", 0.01, 4,
       ELEMENTS("density", "body0"), 0.3, 1e-6},
      {"order 2, total, density", quadratic_total, NULL, 0.01, 4, OF("density", "body0"), 0.3,
       1e-6},
      {"order 2, total, shape", quadratic_total, NULL, 0.01, 4, SHAPE("body0"), 1e-6, 1e-6},
      {"order 2, total, falling, shape", falling_quadratic_total, "tr_bdf2", 0.01, 4,
       SHAPE("body0"), 1e-6, 1e-6},
      {"order 2, total, place", falling_quadratic_total, NULL, 0.01, 4,
       OF("rest_position", "body0"), 1e-6, 1e-6},
      {"order 2, total at rest, shape", quadratic_total, "quasi_static", 0.01, 2, SHAPE("body0"),
       1e-6, 1e-6},
      {"order 2, several totals, densities", several_totals, NULL, 0.01, 4,
       ELEMENTS("density", "body0"), 0.3, 1e-6},
      {"order 2, several totals, shape", several_totals, "trapezoidal", 0.01, 4, SHAPE("body0"),
       1e-6, 1e-6},
      {"order 3, total, densities", cubic_total, "sdirk2", 0.01, 3, ELEMENTS("density", "body0"),
       0.3, 1e-6},
      {"order 3, total, shape", cubic_total, NULL, 0.01, 3, SHAPE("body0"), 1e-6, 1e-6},
      {"order 3, total, density of a part", parted_total, NULL, 0.01, 3, second, 0.3, 1e-6},
      {"order 3, total, density of the rest", parted_total, "bdf2", 0.01, 3, OF("density", "body0"),
       0.3, 1e-6},
      {"order 3, total and parts, shape", parted_total, NULL, 0.01, 3, SHAPE("body0"), 1e-6, 1e-6},
      {"order 4, total, densities", quartic_total, NULL, 0.01, 2, ELEMENTS("density", "body0"), 0.3,
       1e-6},
      {"order 4, total, shape", quartic_total, NULL, 0.01, 2, SHAPE("body0"), 1e-6, 1e-6},
      {"curved, total, densities", curved_total, NULL, 0.01, 3, ELEMENTS("density", "body0"), 0.3,
       1e-6},
      {"curved, total, shape", curved_total, "bdf2", 0.01, 3, SHAPE("body0"), 1e-6, 1e-6},
      {"shape 2, order 1, total, densities", linear_curved_total, NULL, 0.01, 3,
       ELEMENTS("density", "body0"), 0.3, 1e-6},
      {"shape 2, order 1, total, shape", linear_curved_total, NULL, 0.01, 3, SHAPE("body0"), 1e-6,
       1e-6},
      {"order 2, total, landing, densities", quadratic_pushed_landing, NULL, 0.005, 6,
       ELEMENTS("density", "body0"), 0.1, 1e-5},
      {"order 2, total, landing, shape", quadratic_pushed_landing, "bdf2", 0.005, 6, SHAPE("body0"),
       1e-7, 1e-5},
      {"order 3, total, landing, shape", cubic_pushed_landing, NULL, 0.005, 4, SHAPE("body0"), 1e-7,
       1e-5},
      {"curved, total, landing, shape", curved_pushed_landing, NULL, 0.005, 4, SHAPE("body0"), 1e-7,
       1e-5},
  };
  COMPARE(cases);
}

// A vertex without elements has a mean mass, and so a share that follows all bodies.
static void shares_without_masses_are_refused(void** state) {
  (void)state;
  static const NoliParameterDef defs[3] = {OF("density", "body0"), ELEMENTS("density", "body0"),
                                           SHAPE("body0")};
  const double x[15] = {0.5, 0.5, 0.5, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1};
  for (int k = 0; k < 6; k++) {
    World world = world_new(1);
    NoliMesh* mesh = NULL;
    ASSERT_OK(noli_mesh_create(world.context, 5, 1, 0, 0, 0, false, &mesh));
    memcpy(mesh->x, x, sizeof x);
    memcpy(mesh->tet, (int32_t[]){1, 2, 3, 4}, 4 * sizeof(int32_t));
    world_add(&world, mesh, (double[]){0, 0, 0});
    world.body[0].order = 1 + k % 2;
    world.def.barrier_stiffness = 2e6;
    add_total(&world);
    forces[0].node = NULL;
    forces[0].n_node = 0;
    expect_refusal(&world, 1, &defs[k / 2], "that no element has");
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(stretched_springs),
                                     cmocka_unit_test(pressures),
                                     cmocka_unit_test(tractions_and_accelerations),
                                     cmocka_unit_test(regions),
                                     cmocka_unit_test(total_forces_of_higher_order),
                                     cmocka_unit_test(shares_without_masses_are_refused)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
