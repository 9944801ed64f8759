// Elastic energies of shells and rods as goals: their values, and derivatives of runs of which they
// are the objective.
#include "thin_bodies.h"

// Longer than where the barrier of the limit begins, 1.025.
static void stretched_limited_sheet(World* world) {
  static double x0[3 * 15];
  limited_sheet(world);
  world->def.n_motions = 0;
  assert_int_equal(world->mesh[0]->n_vert, 15);
  for (int i = 0; i < 45; i++) {
    x0[i] = (i % 3 == 0 ? 1.035 : 1.0) * world->mesh[0]->x[i];
  }
  world->body[0].x0 = x0;
}

// At the start apart from its rest shape, and thick, so that bending has a part in all derivatives
// of the energy there.
static void crumple(World* world) {
  static double x0[3 * 15];
  int n = 3 * world->mesh[0]->n_vert;
  world->def.n_motions = 0;
  assert_in_range(n, 1, 45);
  for (int i = 0; i < n; i++) {
    x0[i] = 0.95 * world->mesh[0]->x[i] + 0.003 * sin(7.0 * i);
  }
  world->body[0].x0 = x0;
  world->body[0].shell.thickness *= 10.0;
  world->body[0].rod.radius *= 5.0;
  world->body[0].rod.second_radius *= 5.0;
}

static void crumpled_sheet(World* world) {
  held_sheet(world);
  crumple(world);
}

static void crumpled_woven_sheet(World* world) {
  woven_sheet(world);
  crumple(world);
}

static void crumpled_plate(World* world) {
  plate(world);
  crumple(world);
}

static void crumpled_woven_plate(World* world) {
  woven_plate(world);
  crumple(world);
}

static void crumpled_rod(World* world) {
  held_rod(world);
  crumple(world);
}

static void crumpled_tape(World* world) {
  twisted_tape(world);
  crumple(world);
}

// Hinges of the second body are among the folds of the first one, and in its block.
static void sheet_beside_a_plate(World* world) {
  NoliMesh* mesh = NULL;
  ASSERT_OK(noli_mesh_make_rectangle(world->context, 0.1, 0.1, 2, 2, &mesh));
  int32_t body = world_add(world, mesh, (double[]){0, 0.9, 0});
  world->body[body].shell.thickness = 2e-3;
  world->body[body].shell.bending_law = "plate";
  world->body[body].material.young = 2e6;
  world->body[body].velocity[0] = 0.1;
  held_sheet(world);
}

static void two_rods(World* world) {
  held_rod(world);
  NoliMesh* mesh = NULL;
  ASSERT_OK(noli_mesh_create(world->context, 4, 0, 0, 3, 0, false, &mesh));
  for (int32_t i = 0; i < 4; i++) {
    mesh->x[3 * i] = 0.02 * i;
    mesh->x[3 * i + 1] = 0.001 * i * i;
    if (i < 3) {
      mesh->edge[2 * i] = i;
      mesh->edge[2 * i + 1] = i + 1;
    }
  }
  int32_t body = world_add(world, mesh, (double[]){0, 0.8, 0});
  world->body[body].rod.radius = 1e-3;
  world->body[body].material.young = 5e5;
  world->body[body].angular_velocity[2] = 30.0;
  hold_left(world, body, 1);
}

// Another history comes first, in a block of its own.
static void tape_behind_a_rod(World* world) {
  two_rods(world);
  world->body[1].rod.twist = 1.0;
  world->body[0].rod.twist = 1.0;
  world->body[1].rod.second_radius = 3e-4;
  world->body[1].rod.normal[2] = 1.0;
  world->body[1].velocity[2] = 0.5;
}

// ---- derivatives --------------------------------------------------------------------------------

typedef struct EnergyCase {
  GradientCase run;
  const char *of, *when;
  bool some; // elements 0, 3 and 4
} EnergyCase;

static NoliGoalDef goal_of(const EnergyCase* c) {
  static const int32_t some_elements[] = {0, 3, 4};
  NoliGoalDef goal = noli_default_goal_def();
  goal.quantity = "elastic_energy";
  goal.of = c->of;
  goal.form = "value";
  goal.when = c->when;
  goal.element = c->some ? some_elements : NULL;
  goal.n_element = c->some ? 3 : 0;
  return goal;
}

static void compare_energies(const EnergyCase* cases, size_t n) {
  for (size_t i = 0; i < n; i++) {
    NoliGoalDef goal = goal_of(&cases[i]);
    compare_case(&cases[i].run, &goal);
  }
}

#define H 0.005
// The parameter comes last.
#define RUN(name_, build_, integrator_, step_, ...)                                                \
  { name_, build_, integrator_, H, 5, __VA_ARGS__, step_, 1e-6 }
#define ALL(...)                                                                                   \
  { .run = RUN(__VA_ARGS__), .of = "body0", .when = "over" }
#define SOME(...)                                                                                  \
  { .run = RUN(__VA_ARGS__), .of = "body0", .some = true }
#define SECOND(...)                                                                                \
  { .run = RUN(__VA_ARGS__), .of = "body1" }
#define START(...)                                                                                 \
  { .run = RUN(__VA_ARGS__), .of = "body0", .when = "start" }
#define STARTS(name_, build_, section_)                                                            \
  START(name_ ", moduli at the start", build_, NULL, 1000, ELEMENTS("young", "body0")),            \
      START(name_ ", section at the start", build_, NULL, 1e-7, OF(section_, "body0")),            \
      START(name_ ", shape at the start", build_, NULL, 1e-7, SHAPE("body0")),                     \
      START(name_ ", positions at the start", build_, NULL, 1e-7,                                  \
            VERTICES("initial_position", "body0"))
#define STARTS_POISSON(name_, build_)                                                              \
  START(name_ ", poisson at the start", build_, NULL, 1e-4, ELEMENTS("poisson", "body0"))
#define COMPARE_ENERGIES(cases_) compare_energies(cases_, sizeof(cases_) / sizeof *(cases_))

static void energies_of_shells(void** state) {
  (void)state;
  static const EnergyCase cases[] = {
      ALL("sheet, moduli", held_sheet, NULL, 1000, ELEMENTS("young", "body0")),
      ALL("sheet, poisson", held_sheet, "bdf2", 1e-4, ELEMENTS("poisson", "body0")),
      ALL("sheet, thickness", held_sheet, NULL, 1e-7, OF("thickness", "body0")),
      ALL("sheet, shape", held_sheet, NULL, 1e-7, SHAPE("body0")),
      ALL("sheet, velocity", held_sheet, "bdf2", 1e-5, VERTICES("initial_velocity", "body0")),
      ALL("sheet, positions", held_sheet, NULL, 1e-7, VERTICES("initial_position", "body0")),
      SOME("sheet, moduli", held_sheet, NULL, 1000, ELEMENTS("young", "body0")),
      SOME("sheet, thickness", held_sheet, NULL, 1e-7, OF("thickness", "body0")),
      SOME("sheet, shape", held_sheet, "sdirk2", 1e-7, SHAPE("body0")),
      ALL("sheet with a limit, moduli", stretched_limited_sheet, NULL, 1000,
          ELEMENTS("young", "body0")),
      ALL("sheet with a limit, poisson", stretched_limited_sheet, NULL, 1e-4,
          ELEMENTS("poisson", "body0")),
      ALL("sheet with a limit, shape", stretched_limited_sheet, NULL, 1e-7, SHAPE("body0")),
      START("sheet with a limit, shape at the start", stretched_limited_sheet, NULL, 1e-7,
            SHAPE("body0")),
      ALL("woven sheet, moduli", woven_sheet, NULL, 1000, ELEMENTS("young", "body0")),
      ALL("woven sheet, poisson", woven_sheet, NULL, 1e-3, ELEMENTS("poisson", "body0")),
      ALL("woven sheet, shape", woven_sheet, "bdf2", 1e-7, SHAPE("body0")),
      SOME("woven sheet, shape", woven_sheet, NULL, 1e-7, SHAPE("body0")),
      ALL("plate, moduli", plate, NULL, 1000, ELEMENTS("young", "body0")),
      ALL("plate, poisson", plate, NULL, 1e-3, ELEMENTS("poisson", "body0")),
      ALL("plate, thickness", plate, "tr_bdf2", 1e-7, OF("thickness", "body0")),
      ALL("plate, shape", plate, NULL, 1e-7, SHAPE("body0")),
      SOME("plate, shape", plate, NULL, 1e-7, SHAPE("body0")),
      SOME("plate, moduli", plate, NULL, 1000, ELEMENTS("young", "body0")),
      ALL("flat plate, shape", flat_plate, NULL, 1e-7, SHAPE("body0")),
      ALL("woven plate, moduli", woven_plate, NULL, 1000, ELEMENTS("young", "body0")),
      ALL("woven plate, shape", woven_plate, NULL, 1e-7, SHAPE("body0")),
      STARTS("crumpled sheet", crumpled_sheet, "thickness"),
      STARTS_POISSON("crumpled sheet", crumpled_sheet),
      STARTS("crumpled woven sheet", crumpled_woven_sheet, "thickness"),
      STARTS_POISSON("crumpled woven sheet", crumpled_woven_sheet),
      STARTS("crumpled plate", crumpled_plate, "thickness"),
      STARTS_POISSON("crumpled plate", crumpled_plate),
      STARTS("crumpled woven plate", crumpled_woven_plate, "thickness"),
      STARTS_POISSON("crumpled woven plate", crumpled_woven_plate),
      SECOND("sheet beside a plate, moduli", sheet_beside_a_plate, NULL, 1000,
             ELEMENTS("young", "body1")),
      SECOND("sheet beside a plate, thickness", sheet_beside_a_plate, NULL, 1e-7,
             OF("thickness", "body1")),
      SECOND("sheet beside a plate, shape", sheet_beside_a_plate, NULL, 1e-7, SHAPE("body1")),
  };
  COMPARE_ENERGIES(cases);
}

static void energies_of_rods(void** state) {
  (void)state;
  static const EnergyCase cases[] = {
      ALL("rod, moduli", held_rod, NULL, 1000, ELEMENTS("young", "body0")),
      ALL("rod, radius", held_rod, "bdf2", 1e-7, OF("radius", "body0")),
      ALL("rod, shape", held_rod, NULL, 1e-7, SHAPE("body0")),
      ALL("rod, velocity", held_rod, NULL, 1e-5, VERTICES("initial_velocity", "body0")),
      SOME("rod, moduli", held_rod, NULL, 1000, ELEMENTS("young", "body0")),
      SOME("rod, shape", held_rod, "sdirk2", 1e-7, SHAPE("body0")),
      STARTS("crumpled rod", crumpled_rod, "radius"),
      SECOND("second rod, moduli", two_rods, NULL, 1000, ELEMENTS("young", "body1")),
      SECOND("second rod, radius", two_rods, NULL, 1e-7, OF("radius", "body1")),
      SECOND("second rod, shape", two_rods, NULL, 1e-7, SHAPE("body1")),
  };
  COMPARE_ENERGIES(cases);
}

static void energies_of_rods_with_twist(void** state) {
  (void)state;
  static const EnergyCase cases[] = {
      ALL("twisted rod, moduli", twisted_rod, NULL, 1000, ELEMENTS("young", "body0")),
      ALL("twisted rod, radius", twisted_rod, "bdf2", 1e-7, OF("radius", "body0")),
      ALL("twisted rod, shape", twisted_rod, NULL, 1e-7, SHAPE("body0")),
      ALL("tape, moduli", twisted_tape, NULL, 1000, ELEMENTS("young", "body0")),
      ALL("tape, poisson", twisted_tape, NULL, 1e-3, ELEMENTS("poisson", "body0")),
      ALL("flying tape, velocity", flying_tape, NULL, 1e-5, VERTICES("initial_velocity", "body0")),
      ALL("bent tape, radius", bent_tape, NULL, 1e-7, OF("radius", "body0")),
      ALL("bent tape, shape", bent_tape, "sdirk2", 1e-7, SHAPE("body0")),
      ALL("bent tape, positions", bent_tape, "bdf2", 1e-7, VERTICES("initial_position", "body0")),
      SOME("bent tape, moduli", bent_tape, NULL, 1000, ELEMENTS("young", "body0")),
      SOME("bent tape, radius", bent_tape, NULL, 1e-7, OF("radius", "body0")),
      SOME("bent tape, shape", bent_tape, NULL, 1e-7, SHAPE("body0")),
      START("bent tape, shape at the start", bent_tape, NULL, 1e-7, SHAPE("body0")),
      START("bent tape, positions at the start", bent_tape, NULL, 1e-7,
            VERTICES("initial_position", "body0")),
      START("bent tape, radius at the start", bent_tape, NULL, 1e-7, OF("radius", "body0")),
      STARTS("crumpled tape", crumpled_tape, "radius"),
      STARTS_POISSON("crumpled tape", crumpled_tape),
      SECOND("second tape, moduli", tape_behind_a_rod, NULL, 1000, ELEMENTS("young", "body1")),
      SECOND("second tape, radius", tape_behind_a_rod, "bdf2", 1e-7, OF("radius", "body1")),
      SECOND("second tape, shape", tape_behind_a_rod, NULL, 1e-7, SHAPE("body1")),
  };
  COMPARE_ENERGIES(cases);
}

// ---- values -------------------------------------------------------------------------------------

static double energy_of(World* world, int32_t body, const int32_t* element, int32_t n) {
  NoliGoalDef goal = noli_default_goal_def();
  goal.quantity = "elastic_energy";
  goal.of = world->name[body];
  goal.form = "value";
  goal.element = element;
  goal.n_element = n;
  return goal_value(world, &goal);
}

// The energies of bodies are those that the simulation reports, and the sums of those of their
// elements.
static void values_are_those_of_the_simulation(void** state) {
  (void)state;
  static void (*const builders[])(World*) = {held_sheet,  stretched_limited_sheet,
                                             woven_sheet, plate,
                                             woven_plate, sheet_beside_a_plate,
                                             held_rod,    two_rods,
                                             twisted_rod, flying_tape,
                                             bent_tape,   tape_behind_a_rod};
  for (size_t b = 0; b < sizeof builders / sizeof *builders; b++) {
    const GradientCase c = {.build = builders[b], .h = H};
    World world = built_world(&c);
    world_start(&world);
    for (int step = 0; step < 4; step++) {
      world_step(&world);
    }
    NoliEnergies energies;
    double of_bodies[2], sum = 0.0;
    ASSERT_OK(noli_sim_energies(world.sim, &energies));
    ASSERT_OK(noli_sim_body_energies(world.sim, NULL, of_bodies, NULL));
    for (int32_t i = 0; i < world.def.n_bodies; i++) {
      double value = energy_of(&world, i, NULL, 0), parts = 0.0;
      int32_t n = world.mesh[i]->n_edge > 0 && world.mesh[i]->n_tri == 0 ? world.mesh[i]->n_edge
                                                                         : world.mesh[i]->n_tri;
      for (int32_t e = 0; e < n; e++) {
        parts += energy_of(&world, i, &e, 1);
      }
      assert_true(value > 0.0);
      ASSERT_NEAR(value / of_bodies[i], 1.0, 1e-12);
      ASSERT_NEAR(parts / value, 1.0, 1e-12);
      sum += value;
    }
    ASSERT_NEAR(sum / energies.elastic, 1.0, 1e-12);
    world_done(&world);
  }
}

// Two segments with a turn between them, of which one is chosen: half of the energy of bending.
static void bending_between_elements_counts_half(void** state) {
  (void)state;
  World world = world_new(1);
  NoliMesh* mesh = NULL;
  ASSERT_OK(noli_mesh_create(world.context, 3, 0, 0, 2, 0, false, &mesh));
  memcpy(mesh->x, (double[]){-0.1, 0, 0, 0, 0, 0, 0.1, 0, 0}, 9 * sizeof(double));
  memcpy(mesh->edge, (int32_t[]){0, 1, 1, 2}, 4 * sizeof(int32_t));
  int32_t body = world_add(&world, mesh, (double[]){0, 0, 0});
  world.body[body].rod.radius = 1e-3;
  world.body[body].material.young = 1e9;
  world_start(&world);
  const double x[9] = {-0.1, 0, 0, 0, 0, 0, 0, 0.1, 0}, v[9] = {0.0};
  ASSERT_OK(noli_sim_set_state(world.sim, x, v));
  // k / 2 kappa^2 with kappa = 2 tan(45 degrees), k = E I / L
  double bent = 0.5 * 1e9 * 0.25 * 3.14159265358979323846 * 1e-12 / 0.1 * 4.0;
  ASSERT_NEAR(energy_of(&world, 0, NULL, 0) / bent, 1.0, 1e-12);
  for (int32_t e = 0; e < 2; e++) {
    ASSERT_NEAR(energy_of(&world, 0, &e, 1) / bent, 0.5, 1e-12);
  }
  world_done(&world);
}

// ---- what has none ------------------------------------------------------------------------------

static void expect_none(World* world, const char* quantity, int32_t body, const char* words) {
  NoliGoals* goals = NULL;
  NoliGoalDef goal = noli_default_goal_def();
  goal.quantity = quantity;
  goal.of = world->name[body];
  ASSERT_STATUS(noli_goals_create(world->sim, NULL, &goal, 1, &goals), NOLI_ERROR_ARGUMENT);
  assert_non_null(strstr(noli_context_message(world->context), words));
}

static void refusals(void** state) {
  (void)state;
  World world = world_new(1);
  NoliMesh* mesh = NULL;
  held_rod(&world);
  ASSERT_OK(noli_mesh_create(world.context, 1, 0, 0, 0, 1, false, &mesh));
  mesh->point[0] = 0;
  memset(mesh->x, 0, 3 * sizeof *mesh->x);
  int32_t particle = world_add(&world, mesh, (double[]){0.5, 0, 0});
  world.body[particle].point.radius = 0.01;
  world_start(&world);
  expect_none(&world, "volume", 0, "\"volume\" of \"body0\": only of solids");
  expect_none(&world, "von_mises", 0, "\"von_mises\" of \"body0\": only of solids");
  expect_none(&world, "elastic_energy", particle,
              "\"elastic_energy\" of \"body1\": particles have none");
  world_done(&world);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(energies_of_shells),
      cmocka_unit_test(energies_of_rods),
      cmocka_unit_test(energies_of_rods_with_twist),
      cmocka_unit_test(values_are_those_of_the_simulation),
      cmocka_unit_test(bending_between_elements_counts_half),
      cmocka_unit_test(refusals),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
