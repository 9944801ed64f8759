// Forces balance at the end of every step, with default settings: what pushes, what holds and what
// weighs agree, whatever the stiffness, the units, the order, the solver and the contact model.
#include "step/world.h"

// A plate presses a cube onto its held bottom.
typedef struct Press {
  const char* solver;
  const char* model;
  const char* law;
  double young; // Pa
  double unit;  // of length, in m; masses in kg, times in s
  double depth; // relative to the cube
  int order;
} Press;

static double reaction(const World* world, int32_t motion) {
  NoliReaction found;
  ASSERT_OK(noli_sim_reaction(world->sim, motion, NULL, &found));
  return found.force[1];
}

// The cube under the plate, that moves at `speed`, before its first step. `bottom` has MOST
// entries.
enum { MOST = 64 };
static World pressed_cube(Press press, int32_t* bottom, double* speed) {
  enum { CELLS = 3 };
  double size = 0.1 / press.unit, gap = 1e-5 * size;
  World world = world_new(1);
  world.def.integrator = "quasi_static";
  world.def.time_step = 1.0;
  world.def.solver = press.solver;
  world.def.contact_model = press.model;
  world.def.contact_distance = (NoliScaled){1e-5 * size, false};
  memset(world.def.gravity, 0, sizeof world.def.gravity);

  // the cube, and its bottom
  NoliMesh* mesh = make_box(&world, size, size, size, CELLS);
  int32_t n_bottom = 0;
  int32_t cube = world_add(&world, mesh, (double[]){0, 0, 0});
  for (int32_t i = 0; i < mesh->n_vert; i++) {
    if (mesh->x[3 * i + 1] < -0.499 * size) {
      bottom[n_bottom++] = i;
    }
  }
  NoliBodyDef* body = &world.body[cube];
  body->order = press.order;
  body->material.law = press.law;
  body->material.young = press.young * press.unit;
  body->material.poisson = 0.3;
  body->material.density = 7800.0 * press.unit * press.unit * press.unit;

  // the plate
  NoliMesh* plane = make_box(&world, 3 * size, 0.5 * size, 3 * size, 1);
  int32_t plate = world_add_obstacle(&world, plane, (double[]){0, 0.75 * size + 0.9 * gap, 0});
  *speed = press.depth * size + 0.9 * gap;
  world_add_motion(&world, plate, move_down, speed);
  NoliMotionDef* held = world_add_motion(&world, cube, NULL, NULL);
  held->node = bottom;
  held->n_node = n_bottom;
  return world;
}

static void expect_balance(Press press) {
  int32_t bottom[MOST];
  double speed, size = 0.1 / press.unit;
  World world = pressed_cube(press, bottom, &speed);
  world_start(&world);
  world_step(&world);

  // the plate pushes as much as the support holds, and as much as the cube resists
  double pushes = reaction(&world, 0), holds = reaction(&world, 1);
  double area = size * size, about = press.young * press.unit * area * press.depth;
  print_message("%s, %s, %s, %g Pa, unit %g m, %g, order %d: pushes %.6g, holds %.6g, imbalance "
                "%.2g, %d iterations\n",
                press.solver, press.model, press.law, press.young, press.unit, press.depth,
                press.order, pushes, holds, world.report.imbalance,
                (int)world.report.newton_iterations);
  ASSERT_NEAR(pushes + holds, 0.0, 2e-3 * fabs(holds));
  if (press.order == 1) {
    // otherwise nodes between the held vertices move
    ASSERT_AT_LEAST(holds, 0.9 * about);
  }
  ASSERT_AT_MOST(holds, 1.3 * about);
  ASSERT_AT_MOST(world.report.imbalance, 1e-3);
  ASSERT_AT_LEAST(world.report.imbalance, 1e-16);
  world_done(&world);
}

static void what_pushes_is_what_holds(void** state) {
  (void)state;
  static const double young[] = {1e5, 1e8, 2.1e11}, unit[] = {1.0, 1e-3};
  static const char* const solver[] = {"projected_newton", "augmented_lagrangian",
                                       "implicit_newton"};
  for (int s = 0; s < 3; s++) {
    for (int e = 0; e < 3; e++) {
      for (int u = 0; u < 2; u++) {
        expect_balance((Press){solver[s], "ipc", e == 1 ? "corotated_linear" : "neo_hookean",
                               young[e], unit[u], 1e-4, 1});
        expect_balance((Press){solver[s], "ipc", e == 1 ? "neo_hookean" : "corotated_linear",
                               young[e], unit[u], 1e-2, 1});
      }
    }
    expect_balance((Press){solver[s], "ipc", "neo_hookean", 2.1e11, 1.0, 1e-3, 2});
  }
  expect_balance((Press){"projected_newton", "ipc", "neo_hookean", 2.1e11, 1.0, 1e-3, 3});
  expect_balance((Press){"projected_newton", "gcp", "neo_hookean", 2.1e11, 1.0, 1e-3, 1});
  expect_balance((Press){"implicit_newton", "gcp", "neo_hookean", 1e5, 1e-3, 1e-3, 1});
}

// The cube of a press beside a wall at a distance of `gap`, m, against which it bulges; `imbalance`
// of the definition, 0: the default. Returns what the wall carries, N, and what the plate does.
static double force_of_wall(const char* solver, double gap, double imbalance, double* plate_force) {
  int32_t bottom[MOST];
  double speed;
  World world =
      pressed_cube((Press){solver, "ipc", "neo_hookean", 2.1e11, 1.0, 1e-4, 1}, bottom, &speed);
  world.def.imbalance = imbalance;
  world.def.contact_distance = (NoliScaled){1e-6, NOLI_ABSOLUTE};
  int32_t wall = world_add_obstacle(&world, make_box(&world, 0.05, 0.3, 0.3, 1),
                                    (double[]){0.075 + gap, 0, 0});
  world_start(&world);
  world_step(&world);
  const NoliPairForce *side = world_pair(&world, 0, wall), *top = world_pair(&world, 0, 1);
  assert_non_null(side);
  assert_non_null(top);
  *plate_force = fabs(top->normal[1]);
  double force = fabs(side->normal[0]);
  print_message("%s, gap %g um: wall %.6g N, plate %.6g N, %d iterations, imbalance %.2g\n", solver,
                1e6 * gap, force, *plate_force, (int)world.report.newton_iterations,
                world.report.imbalance);
  world_done(&world);
  return force;
}

// A wall that carries a few hundredths of what the plate does has its force as exactly as that.
static void light_supports_are_as_exact(void** state) {
  (void)state;
  static const char* const solver[] = {"projected_newton", "augmented_lagrangian",
                                       "implicit_newton"};
  for (int s = 0; s < 3; s++) {
    // with lighter walls the last one stalls, and warns
    for (int k = 0; k < (s < 2 ? 4 : 2); k++) {
      // constraints act at contact, the barrier from its distance on
      double reach = s == 1 ? 0.9e-6 : 0.0, plate, exact_plate;
      double gap = 1e-6 * (double[]){2.0, 2.3, 2.5, 2.6}[k] - reach;
      double force = force_of_wall(solver[s], gap, 0.0, &plate);
      double exact = force_of_wall(solver[s], gap, 1e-7, &exact_plate);
      ASSERT_AT_MOST(force, 0.1 * plate);
      ASSERT_NEAR(force, exact, 1e-3 * fmax(exact, 1e-3 * plate));
      ASSERT_NEAR(plate, exact_plate, 1e-3 * plate);
    }
  }
}

// With inertia the time step may be short or long beside the time of a wave through the cube, 2e-5
// s: in steps of 0.1 s and more the plate stopped on its way, and forces were off by factors.
static void long_steps_reach_their_targets(void** state) {
  (void)state;
  static const double step[] = {1e-4, 1e-2, 1.0, 10.0};
  for (int k = 0; k < 4; k++) {
    int32_t bottom[MOST];
    double speed;
    World world = pressed_cube(
        (Press){"projected_newton", "ipc", "neo_hookean", 2.1e11, 1.0, 1e-4, 1}, bottom, &speed);
    world.def.integrator = "backward_euler";
    world.def.time_step = step[k];
    world.body[0].material.damping = 1e-4;
    world_start(&world);
    double whole = speed;
    for (int n = 0; n < 6; n++) {
      speed = n == 0 ? whole / step[k] : 0.0;
      world_step(&world);
      ASSERT_AT_LEAST(world.report.motion_done, 0.9999);
    }
    double pushes = reaction(&world, 0), holds = reaction(&world, 1);
    print_message("steps of %g s: pushes %.5g, holds %.5g, imbalance %.2g, gap %.2g\n", step[k],
                  pushes, holds, world.report.imbalance, world.report.min_distance);
    ASSERT_NEAR(pushes + holds, 0.0, 2e-2 * fabs(holds));
    ASSERT_NEAR(holds, 2.33e5, 0.2e5);
    world_done(&world);
  }
}

static double speed_up(const World* world, int32_t body) {
  int32_t first, count;
  double sum = 0.0, mass = 0.0;
  noli_sim_body_range(world->sim, body, &first, &count);
  for (int32_t i = first; i < first + count; i++) {
    sum += noli_sim_masses(world->sim)[i] * noli_sim_velocities(world->sim)[3 * i + 1];
    mass += noli_sim_masses(world->sim)[i];
  }
  return sum / mass;
}

// A stack of boxes, stiff on soft, comes to rest on the ground. In every step the force between
// neighbours is what accelerates everything above, less its weight.
static void neighbours_carry_what_is_above(void** state) {
  (void)state;
  enum { BOXES = 3, STEPS = 40 };
  for (int s = 0; s < 2; s++) {
    World world = world_new(1);
    world.def.solver = s == 0 ? "projected_newton" : "augmented_lagrangian";
    world.def.time_step = 0.02;
    for (int b = 0; b < BOXES; b++) {
      NoliMesh* mesh = make_box(&world, 0.2, 0.1, 0.2, 2);
      int32_t box = world_add(&world, mesh, (double[]){0, 0.0505 + 0.101 * b, 0});
      world.body[box].material.young = b == 1 ? 1e9 : 1e6;
    }
    world_add_plane(&world, (double[]){0, 0, 0}, (double[]){0, 1, 0});
    world_start(&world);
    double before[BOXES], worst = 0.0, mass = 1000.0 * 0.2 * 0.1 * 0.2;
    memset(before, 0, sizeof before);
    for (int step = 0; step < STEPS; step++) {
      world_step(&world);
      double needed = 0.0;
      for (int b = BOXES - 1; b >= 0; b--) {
        // backward Euler: the change of momentum in the step is the impulse of its forces
        double v = speed_up(&world, b);
        needed += mass * ((v - before[b]) / 0.02 + 9.80665);
        before[b] = v;
        const NoliPairForce* pair =
            b == 0 ? world_pair(&world, 0, BOXES) : world_pair(&world, b - 1, b);
        double found = pair == NULL ? 0.0 : b == 0 ? pair->normal[1] : -pair->normal[1];
        double most = fmax(fabs(needed), 3.0 * mass * 9.80665);
        worst = noli_larger(worst, fabs(found - needed) / most);
      }
      // the set of constraints that push may alternate, by a force that the report shows
      ASSERT_AT_MOST(world.report.imbalance, s == 0 ? 1e-2 : 5e-2);
    }
    print_message("%s: forces between boxes off by at most %.2g\n", world.def.solver, worst);
    ASSERT_AT_MOST(worst, s == 0 ? 1e-2 : 5e-2);
    world_done(&world);
  }
}

// Three sheets land on each other and on the floor within a step. The balance is asked at a state
// that constraints admit, and the line search after it compares with energies of the target: with
// those of the other state these steps ended with up to 9 % of the force left.
static void sheets_that_land_are_balanced(void** state) {
  (void)state;
  static const double young[][3] = {{1e5, 1e7, 1e7}, {1e6, 1e6, 1e6}, {1e7, 1e7, 1e7}};
  for (int k = 0; k < 3; k++) {
    World world = world_new(1);
    world.def.solver = "augmented_lagrangian";
    world.def.time_step = 0.1;
    for (int b = 0; b < 3; b++) {
      NoliMesh* mesh = NULL;
      ASSERT_OK(noli_mesh_make_plane(world.context, 0.2, 0.2, 4, 4, &mesh));
      double place[3] = {0.01 * (b % 2), 0.005 * b, -0.005 * b};
      NoliBodyDef* sheet = &world.body[world_add(&world, mesh, place)];
      sheet->shell.thickness = 1e-3;
      sheet->material.law = "stvk";
      sheet->material.young = young[k][b];
      sheet->material.poisson = 0.3;
    }
    world_add_plane(&world, (double[]){0, -0.003, 0}, (double[]){0, 1, 0});
    world_start(&world);
    world_step(&world);
    print_message("sheets of %g, %g and %g Pa: %d contacts, %d iterations, imbalance %.2g\n",
                  young[k][0], young[k][1], young[k][2], (int)world.report.contacts,
                  (int)world.report.newton_iterations, world.report.imbalance);
    assert_true(world.report.contacts >= 50);
    ASSERT_AT_MOST(world.report.imbalance, 1e-2);
    world_done(&world);
  }
}

// A held body without any load, far from the origin: nothing but rounding acts, and the step ends.
static void rest_is_balanced(void** state) {
  (void)state;
  World world = world_new(1);
  world.def.integrator = "quasi_static";
  memset(world.def.gravity, 0, sizeof world.def.gravity);
  NoliMesh* mesh = make_box(&world, 1, 1, 1, 4);
  int32_t bottom[32], n = 0;
  int32_t box = world_add(&world, mesh, (double[]){1000, -300, 77});
  for (int32_t i = 0; i < mesh->n_vert; i++) {
    if (mesh->x[3 * i + 1] < -300.49) {
      bottom[n++] = i;
    }
  }
  world.body[box].material.young = 2.1e11;
  NoliMotionDef* held = world_add_motion(&world, box, NULL, NULL);
  held->node = bottom;
  held->n_node = n;
  world_start(&world);
  world_step(&world);
  ASSERT_AT_MOST(world.report.newton_iterations, 3);
  ASSERT_AT_MOST(world.report.imbalance, 1e-3);
  world_done(&world);
}

// A share that the user asks for is kept.
static void an_asked_share_is_kept(void** state) {
  (void)state;
  static const double asked[] = {1e-1, 1e-4, 1e-7};
  int32_t before = 0;
  for (int k = 0; k < 3; k++) {
    World world = world_new(1);
    world.def.imbalance = asked[k];
    world.def.time_step = 0.02;
    int32_t box = world_add(&world, make_box(&world, 0.2, 0.2, 0.2, 3), (double[]){0, 0.101, 0});
    world.body[box].material.young = 1e7;
    world_add_plane(&world, (double[]){0, 0, 0}, (double[]){0, 1, 0});
    world_start(&world);
    int32_t iterations = 0;
    double worst = 0.0;
    for (int step = 0; step < 20; step++) {
      world_step(&world);
      iterations += world.report.newton_iterations;
      worst = noli_larger(worst, world.report.imbalance);
    }
    print_message("asked %g: %d iterations, imbalance %.2g\n", asked[k], (int)iterations, worst);
    ASSERT_AT_MOST(worst, asked[k]);
    ASSERT_AT_LEAST(iterations, before);
    before = iterations;
    world_done(&world);
  }
  World world = world_new(1);
  world.def.imbalance = -1.0;
  world_add(&world, make_box(&world, 1, 1, 1, 1), (double[]){0, 0, 0});
  world_expect_refusal(&world, "imbalance");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_pushes_is_what_holds),
      cmocka_unit_test(light_supports_are_as_exact),
      cmocka_unit_test(long_steps_reach_their_targets),
      cmocka_unit_test(neighbours_carry_what_is_above),
      cmocka_unit_test(sheets_that_land_are_balanced),
      cmocka_unit_test(rest_is_balanced),
      cmocka_unit_test(an_asked_share_is_kept),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
