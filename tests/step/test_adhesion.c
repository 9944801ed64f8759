// Surfaces that adhere: the curve of debonding, pull-off of a ball, friction without a load.
#include "world.h"

#include "noli/live.h"

#define DISTANCE 1e-4
#define RANGE 1e-3
#define WORK 0.05
#define STRENGTH (16.0 / 9.0 * WORK / RANGE)

// ---- debonding ----------------------------------------------------------------------------------

typedef struct Way {
  const char* solver;
  const char* model;
  bool board;    // the floor is a body; else a half-space
  int cells;     // of the block along its sides
  int floor;     // of the board
  bool sheet;    // a shell in place of the block
  double turned; // degrees, about x
} Way;

typedef struct Pull {
  double speed;
  NoliVec3 way;
} Pull;

static void pull(void* user, double t0, double t1, int32_t n, const int32_t* node, const double* X,
                 const double* x_t0, double* x_t1) {
  const Pull* of = user;
  (void)t0, (void)node, (void)x_t0;
  for (int32_t i = 0; i < n; i++) {
    NoliVec3 to = noli_mul_add3(noli_load3(X + 3 * i), of->speed * t1, of->way);
    noli_store3(x_t1 + 3 * i, to);
  }
}

static void turn_mesh(NoliMesh* mesh, double degrees) {
  const double unit[3] = {1, 1, 1}, zero[3] = {0, 0, 0}, turn[3] = {degrees, 0, 0};
  noli_mesh_transform(mesh, unit, turn, zero);
}

static NoliMesh* square(NoliContext* context, double side, double height, int cells, bool sheet) {
  NoliMesh* mesh = NULL;
  if (sheet) {
    ASSERT_OK(noli_mesh_make_plane(context, side, side, cells, cells, &mesh));
  } else {
    ASSERT_OK(noli_mesh_make_box(context, (double[]){side, height, side},
                                 (int32_t[]){cells, 1, cells}, false, &mesh));
  }
  return mesh;
}

// A stiff square of 0.1 m is pulled off a floor, all of it at once: the force over the gap is that
// of the law times the area, whatever the meshes, the solver and the model of contact.
static void a_square_debonds_along_its_curve(void** state) {
  (void)state;
  static const Way ways[] = {{NULL, "ipc", false, 3, 0, false, 0.0},
                             {NULL, "ipc", true, 3, 1, false, 0.0},
                             {NULL, "ipc", true, 2, 7, false, 30.0},
                             {"augmented_lagrangian", "ipc", true, 3, 1, false, 0.0},
                             {"implicit_newton", "ipc", true, 3, 2, false, 0.0},
                             {NULL, "gcp", true, 3, 4, false, 0.0},
                             {NULL, "ipc", true, 4, 1, true, 30.0}};
  for (size_t w = 0; w < sizeof ways / sizeof *ways; w++) {
    const Way* way = &ways[w];
    World world = world_new(1);
    double angle = way->turned * 0.017453292519943295;
    NoliVec3 up = {0.0, cos(angle), sin(angle)};
    Pull of = {.speed = RANGE, .way = up};
    NoliMesh* mesh = square(world.context, 0.1, 0.02, way->cells, way->sheet);
    turn_mesh(mesh, way->turned);
    double lift = (way->sheet ? 0.0 : 0.01) + 1.01 * DISTANCE;
    world_add(&world, mesh, (double[]){0.0, lift * up.y, lift * up.z});
    if (way->board) {
      mesh = square(world.context, 0.25, 0.02, way->floor, false);
      turn_mesh(mesh, way->turned);
      world_add_obstacle(&world, mesh, (double[]){0.003, -0.01 * up.y, -0.01 * up.z});
    } else {
      world_add_plane(&world, (double[]){0, 0, 0}, (double[]){0, 1, 0});
    }
    if (way->sheet) {
      world.body[0].shell.thickness = 1e-3;
      world.body[0].contact_offset = 0.0;
    }
    world.body[0].material.young = 1e9;
    world.def.integrator = "quasi_static";
    world.def.time_step = 0.05;
    world.def.gravity[1] = 0.0;
    world.def.solver = way->solver;
    world.def.contact_model = way->model;
    world.def.contact_distance = (NoliScaled){DISTANCE, NOLI_ABSOLUTE};
    world.def.adhesion = WORK;
    world.def.adhesion_range = (NoliScaled){RANGE, NOLI_ABSOLUTE};
    world_add_motion(&world, 0, pull, &of);
    world_start(&world);
    double work = 0.0, before = 0.0;
    for (int i = 0; i < 24; i++) {
      world_step(&world);
      // all of it moves as told, up to rounding
      double t = noli_sim_time(world.sim) + 0.01 * DISTANCE / RANGE, force = 0.0;
      double want = t < 1.0 ? 12.0 * WORK / RANGE * t * (1.0 - t) * (1.0 - t) * 0.01 : 0.0;
      const NoliPairForce* pair = world_pair(&world, 0, 1);
      force = pair != NULL ? -noli_dot3(noli_load3(pair->normal), up) : 0.0;
      if (!(fabs(force - want) <= 1e-3 * STRENGTH * 0.01)) {
        print_error("way %zu, step %d: %.6g N for %.6g\n", w, i, force, want);
      }
      ASSERT_NEAR(force, want, 1e-3 * STRENGTH * 0.01);
      work += 0.5 * (force + before) * 0.05 * RANGE;
      before = force;
    }
    ASSERT_NEAR(work, WORK * 0.01, 0.01 * WORK * 0.01);
    ASSERT_NEAR(world.report.adhesion_energy, 0.0, 1e-15);
    world_done(&world);
  }
}

// ---- a ball -------------------------------------------------------------------------------------

// A ball of radius R at the gap s above a plane is pulled with 2 pi R times the energy per area
// that is left at s (Derjaguin): 2 pi R W where it touches.
static void a_ball_is_pulled_as_by_derjaguin(void** state) {
  (void)state;
  const double radius = 0.05, pi = 3.14159265358979323846;
  for (int k = 0; k < 4; k++) {
    World world = world_new(1);
    NoliMesh* mesh = NULL;
    double t = 0.2 * k, left = 1.0 - t, s0 = t * RANGE;
    double energy = WORK * left * left * left * (1.0 + 3.0 * t);
    double want = 2.0 * pi * radius * energy;
    ASSERT_OK(noli_mesh_make_icosphere(world.context, radius, 48, &mesh));
    world_add(&world, mesh, (double[]){0.0, radius + DISTANCE + s0, 0.0});
    world_add_plane(&world, (double[]){0, 0, 0}, (double[]){0, 1, 0});
    Pull of = {.speed = 0.0, .way = {0.0, 1.0, 0.0}};
    world.body[0].shell.thickness = 1e-3;
    world.body[0].contact_offset = 0.0;
    world.body[0].self_contact = false;
    world.def.gravity[1] = 0.0;
    world.def.contact_distance = (NoliScaled){DISTANCE, NOLI_ABSOLUTE};
    world.def.adhesion = WORK;
    world.def.adhesion_range = (NoliScaled){RANGE, NOLI_ABSOLUTE};
    world_add_motion(&world, 0, pull, &of);
    world_start(&world);
    world_step(&world);
    double got = -world_pair(&world, 0, 1)->normal[1];
    ASSERT_NEAR(got, want, 0.01 * want);
    world_done(&world);
  }
}

// ---- bodies that are free -----------------------------------------------------------------------

// A plate of 0.1 m below a ceiling at y = 0, or beside a wall, in the given gravity.
static World plate(double gravity_along, double gravity_away) {
  World world = world_new(1);
  NoliMesh* mesh = square(world.context, 0.1, 0.01, 4, false);
  world_add(&world, mesh, (double[]){0.0, -0.005 - 1.001 * DISTANCE, 0.0});
  world_add_plane(&world, (double[]){0, 0, 0}, (double[]){0, -1, 0});
  world.body[0].material.young = 1e7;
  world.def.time_step = 2e-3;
  world.def.gravity[0] = gravity_along;
  world.def.gravity[1] = -gravity_away;
  world.def.contact_distance = (NoliScaled){DISTANCE, NOLI_ABSOLUTE};
  world.def.tolerance = (NoliScaled){1e-7, NOLI_ABSOLUTE};
  world.def.adhesion = WORK;
  world.def.adhesion_range = (NoliScaled){RANGE, NOLI_ABSOLUTE};
  return world;
}

static double mass_per_area(const World* world) {
  return 0.01 * world->body[0].material.density;
}

static void steps(World* world, int n) {
  for (int i = 0; i < n; i++) {
    world_step(world);
  }
}

// A plate hangs from a ceiling at the gap at which the traction is its weight per area, if it is
// below the strength, and falls otherwise.
static void a_plate_hangs_up_to_the_strength(void** state) {
  (void)state;
  static const double shares[] = {0.3, 0.7, 0.99, 1.05, 0.6, 0.9, 0.97};
  for (int k = 0; k < 7; k++) {
    World world = plate(0.0, 0.0);
    world.body[0].rigid.rigid = k == 4;
    // in a long step the plate would fall by many ranges, and its potential be lower there
    world.def.time_step = k == 5 ? 0.05 : k == 6 ? 0.5 : world.def.time_step;
    double centre[3], weight = shares[k] * STRENGTH;
    world.def.gravity[1] = -weight / mass_per_area(&world);
    world.body[0].material.mass_damping = k < 4 ? 500.0 : 0.0;
    world_start(&world);
    steps(&world, 500);
    world_centre(&world, 0, centre);
    double gap = -centre[1] - 0.005 - DISTANCE;
    if (shares[k] > 1.0) {
      assert_true(gap > RANGE);
    } else {
      double t = gap / RANGE;
      assert_true(t > 0.0 && t < 1.0 / 3.0);
      ASSERT_NEAR(12.0 * WORK / RANGE * t * (1.0 - t) * (1.0 - t), weight, 2e-3 * weight);
      ASSERT_NEAR(world.report.adhesion_energy, -0.01 * WORK * pow(1.0 - t, 3.0) * (1.0 + 3.0 * t),
                  1e-2 * 0.01 * WORK);
    }
    world_done(&world);
  }
}

// Coulomb's law with cohesion: without a pressure a plate on a wall holds mu times the strength,
// and slides with the rest; with a pull p away from the wall, mu times the strength less p.
static void what_adheres_holds_against_sliding(void** state) {
  (void)state;
  static const struct {
    double mu, pull, share;
    const char* solver;
    const char* law;
  } cases[] = {{0.5, 0.0, 0.99, NULL, "stick"},
               {0.5, 0.0, 1.05, NULL, "stick"},
               {0.5, 0.4, 0.99, NULL, "stick"},
               {0.5, 0.4, 1.05, NULL, "stick"},
               {0.5, -0.5, 0.99, NULL, "stick"},
               {0.5, -0.5, 1.05, NULL, "stick"},
               {0.3, 0.2, 1.1, NULL, "velocity"},
               {0.3, 0.0, 0.99, "augmented_lagrangian", "stick"},
               {0.3, 0.0, 1.05, "implicit_newton", "stick"}};
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    World world = plate(0.0, 0.0);
    double limit = cases[k].mu * (1.0 - cases[k].pull) * STRENGTH; // Pa
    world.def.gravity[0] = cases[k].share * limit / mass_per_area(&world);
    world.def.gravity[1] = -cases[k].pull * STRENGTH / mass_per_area(&world);
    world.def.friction = cases[k].mu;
    world.def.friction_law = cases[k].law;
    world.def.solver = cases[k].solver;
    world.def.max_substeps = 1;
    world_start(&world);
    steps(&world, 150);
    double then = world.report.momentum[0];
    steps(&world, 50);
    double mass = 0.01 * mass_per_area(&world);
    double got = (world.report.momentum[0] - then) / (mass * 0.1);
    double want = noli_larger(cases[k].share - 1.0, 0.0) * limit / mass_per_area(&world);
    double allowed = cases[k].share < 1.0 ? 1e-5 : 0.05 * want;
    if (!(fabs(got - want) <= allowed)) {
      print_error("case %zu: %.6g m/s^2 for %.6g\n", k, got, want);
    }
    ASSERT_NEAR(got, want, allowed);
    world_done(&world);
  }
}

// A plate that leaves needs the energy W of its area; what it has beyond that is left as motion.
static void leaving_takes_the_work_of_adhesion(void** state) {
  (void)state;
  static const double shares[] = {0.9, 1.21, 4.0};
  for (int k = 0; k < 3; k++) {
    World world = plate(0.0, 0.0);
    world.def.integrator = "trapezoidal";
    world.def.time_step = 2e-4;
    double escape = sqrt(2.0 * WORK / mass_per_area(&world)), centre[3];
    world.body[0].velocity[1] = -sqrt(shares[k]) * escape;
    world_start(&world);
    steps(&world, 100);
    world_centre(&world, 0, centre);
    double kinetic = shares[k] * 0.01 * WORK;
    ASSERT_NEAR(world.report.kinetic + world.report.elastic + world.report.adhesion_energy +
                    0.01 * WORK + world.report.contact_energy,
                kinetic, 0.01 * kinetic);
    if (shares[k] > 1.0) {
      ASSERT_NEAR(-world.report.momentum[1] / (0.01 * mass_per_area(&world)),
                  sqrt(shares[k] - 1.0) * escape, 0.01 * escape);
    } else {
      assert_true(-centre[1] - 0.005 - DISTANCE < RANGE);
    }
    world_done(&world);
  }
}

// ---- other bodies -------------------------------------------------------------------------------

static NoliMesh* line(NoliContext* context) {
  NoliMesh* mesh = NULL;
  ASSERT_OK(noli_mesh_make_line(context, 0.1, 7, &mesh));
  return mesh;
}

// Five in a row.
static NoliMesh* particles(NoliContext* context) {
  NoliMesh* mesh = NULL;
  ASSERT_OK(noli_mesh_create(context, 5, 0, 0, 0, 5, false, &mesh));
  for (int i = 0; i < 5; i++) {
    noli_store3(mesh->x + 3 * i, (NoliVec3){0.017 * (i - 2), 0.0, 0.011 * i});
    mesh->point[i] = i;
  }
  return mesh;
}

// Two blocks, strips in plane strain, a rod and particles on a plate: the force at the largest
// traction is that of the area, the depth times the length, the width of the rod times its length,
// the cross-sections of the particles. A pair without contact has none.
static void other_bodies_have_their_areas(void** state) {
  (void)state;
  for (int k = 0; k < 6; k++) {
    World world = world_new(1);
    NoliMesh *mesh = NULL, *lower = NULL;
    double gap = DISTANCE + RANGE / 3.0, area = 0.01;
    double height = 0.02;
    if (k == 0) {
      mesh = square(world.context, 0.1, height, 5, false);
      lower = square(world.context, 0.1, height, 3, false);
    } else if (k == 1) {
      ASSERT_OK(noli_mesh_make_rectangle(world.context, 0.1, height, 6, 1, &mesh));
      ASSERT_OK(noli_mesh_make_rectangle(world.context, 0.2, height, 5, 1, &lower));
      area = 0.1 * 0.03;
    } else {
      lower = square(world.context, 0.3, height, 2, false);
      height = 2e-3; // of the rod, and of particles
      mesh = k < 4 ? line(world.context) : particles(world.context);
      area = k == 2 ? 0.1 * height : k == 4 ? 5 * 0.25 * acos(-1.0) * height * height : 0.0;
    }
    world_add(&world, mesh, (double[]){0.0, 0.5 * height + gap, 0.0});
    world_add(&world, lower, (double[]){0.0, -0.01, 0.0});
    for (int b = 0; b < 2; b++) {
      world.body[b].plane_strain = k == 1 ? 0.03 : 0.0;
      world.body[b].material.young = 1e9;
    }
    if (k >= 2) {
      *(k < 4 ? &world.body[0].rod.radius : &world.body[0].point.radius) = 0.5 * height;
      world.body[0].contact_offset = 0.5 * height;
    }
    Pull of = {.speed = 0.0, .way = {0.0, 1.0, 0.0}};
    world_add_motion(&world, 0, pull, &of);
    world_add_motion(&world, 1, pull, &of);
    world.def.gravity[1] = 0.0;
    world.def.contact_distance = (NoliScaled){DISTANCE, NOLI_ABSOLUTE};
    NoliPairDef pair = noli_default_pair_def();
    pair.a = 1;
    pair.adhesion = WORK;
    pair.adhesion_range = (NoliScaled){RANGE, NOLI_ABSOLUTE};
    pair.contact = k % 2 == 0 || k == 1;
    world.def.pairs = &pair;
    world.def.n_pairs = 1;
    world_start(&world);
    world_step(&world);
    const NoliPairForce* found = world_pair(&world, 0, 1);
    double got = found != NULL ? -found->normal[1] : 0.0;
    if (!(fabs(got - area * STRENGTH) <= 1e-3 * STRENGTH * area)) {
      print_error("bodies %d: %.6g N for %.6g\n", k, got, area * STRENGTH);
    }
    ASSERT_NEAR(got, area * STRENGTH, 1e-3 * STRENGTH * area);
    world_done(&world);
  }
}

// A pair gets adhesion while a simulation runs, and loses it again.
static void adhesion_can_be_switched(void** state) {
  (void)state;
  World world = plate(0.0, 0.2);
  double centre[3];
  world.def.adhesion = 0.0;
  world_start(&world);
  NoliPairDef pair = noli_default_pair_def();
  pair.b = 1;
  pair.adhesion = WORK;
  pair.adhesion_range = (NoliScaled){RANGE, NOLI_ABSOLUTE};
  ASSERT_OK(noli_sim_set_pair(world.sim, &pair));
  steps(&world, 100);
  world_centre(&world, 0, centre);
  assert_true(world.report.adhesion_energy < -0.9 * WORK * 0.01);
  assert_true(-centre[1] - 0.005 - DISTANCE < 0.1 * RANGE);
  pair.adhesion = 0.0;
  ASSERT_OK(noli_sim_set_pair(world.sim, &pair));
  steps(&world, 100);
  world_centre(&world, 0, centre);
  ASSERT_NEAR(world.report.adhesion_energy, 0.0, 0.0);
  assert_true(-centre[1] - 0.005 - DISTANCE > RANGE);
  world_done(&world);
}

static void what_cannot_adhere_is_refused(void** state) {
  (void)state;
  World world = plate(0.0, 0.0);
  world.def.contact_model = "implicit_surface";
  world.def.audit = "off";
  world_expect_refusal(&world, "adhesion needs surfaces that are kept apart");
  world = plate(0.0, 0.0);
  world.def.friction = 0.5;
  world_use_friction(&world, "implicit");
  world_expect_refusal(&world, "implicit friction does not know the normal force of adhesion");
  world = plate(0.0, 0.0);
  world.def.adhesion = -1.0;
  world_expect_refusal(&world, "adhesion");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_square_debonds_along_its_curve),
      cmocka_unit_test(a_ball_is_pulled_as_by_derjaguin),
      cmocka_unit_test(a_plate_hangs_up_to_the_strength),
      cmocka_unit_test(what_adheres_holds_against_sliding),
      cmocka_unit_test(leaving_takes_the_work_of_adhesion),
      cmocka_unit_test(other_bodies_have_their_areas),
      cmocka_unit_test(adhesion_can_be_switched),
      cmocka_unit_test(what_cannot_adhere_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
