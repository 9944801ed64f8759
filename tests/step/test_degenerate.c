// Contact without a unique normal: aligned cubes, points on points, parallel edges, and Erleben's
// fundamental cases, at frame-rate time steps.
#include "world.h"

static const double up[3] = {0, 1, 0}, origin[3] = {0, 0, 0};

enum { STEPS = 60 };

static double start_world(World* world) {
  world->def.time_step = 0.025;
  world_start(world);
  world_step(world);
  return world_total_energy(world);
}

// Steps to the end. Elastic, contact, gravity and kinetic energy together never exceed those of the
// start, through impacts without a unique normal either. Backward Euler dissipates energy, except
// in steps in which a body tips off an edge: there the potential is concave. A step gains up to 3 %
// with a tolerance of 1e-5 l, depending on when it tips.
static void run(World* world) {
  double start = start_world(world), last = start;
  int64_t contacts = 0;
  for (int i = 1; i < STEPS; i++) {
    world_step(world);
    double energy = world_total_energy(world);
    ASSERT_AT_MOST(energy, start + 1e-9 * fabs(start));
    ASSERT_AT_MOST(energy, last + 0.03 * fabs(start));
    last = energy;
    contacts = world->report.contacts_max > contacts ? world->report.contacts_max : contacts;
  }
  assert_true(contacts > 0);
}

static void aligned_cubes_stack(void** state) {
  (void)state;

  // five cubes on top of each other
  World world = world_new(1);
  for (int i = 0; i < 5; i++) {
    int32_t cube =
        world_add(&world, make_box(&world, 0.2, 0.2, 0.2, 1), (double[]){0, 0.12 + 0.202 * i, 0});
    world.body[cube].material.law = "fixed_corotated";
  }
  world_add_plane(&world, origin, up);
  // without friction the slightly uneven cubes would slide off each other, slowly
  world.def.friction = 0.3;
  world.def.time_step = 0.025;
  world_start(&world);
  for (int i = 0; i < 120; i++) {
    world_step(&world);
  }

  // a stack at rest: in order, upright, compressed as a column by its own weight,
  // u(z) = -rho g / E (H z - z^2 / 2)
  double centre[3];
  for (int32_t i = 0; i < 5; i++) {
    world_centre(&world, i, centre);
    // contacts that stick creep by less than eps_v, 1e-3 l per second, one on the other
    double creep = 1e-3 * 1.05 * noli_sim_time(world.sim) * (i + 1);
    ASSERT_NEAR(centre[0], 0.0, creep);
    ASSERT_NEAR(centre[2], 0.0, creep);
    double z = 0.1 + 0.2 * i;
    ASSERT_NEAR(centre[1], z - 1000.0 * 9.80665 / 1e5 * (z - 0.5 * z * z), 0.01);
  }
  ASSERT_AT_MOST(world.report.max_speed, 0.02);
  world_done(&world);
}

// One tetrahedron with its tip at the origin, pointing down.
static NoliMesh* tip_down(World* world) {
  NoliMesh* mesh = NULL;
  ASSERT_OK(noli_mesh_create(world->context, 4, 1, 0, 0, 0, false, &mesh));
  double x[12] = {0, 0, 0, 0.5, 0.8, 0.5, -0.5, 0.8, 0.5, 0.0, 0.8, -0.6};
  int32_t tet[4] = {0, 1, 2, 3};
  memcpy(mesh->x, x, sizeof x);
  memcpy(mesh->tet, tet, sizeof tet);
  noli_mesh_orient(mesh);
  return mesh;
}

static void point_falls_on_point(void** state) {
  (void)state;
  World world = world_new(1);
  NoliMesh* lower = tip_down(&world);
  noli_mesh_transform(lower, (double[]){1, 1, 1}, (double[]){180, 0, 0}, origin);
  world_add_obstacle(&world, lower, origin);
  int32_t upper = world_add(&world, tip_down(&world), (double[]){0, 0.05, 0});
  run(&world);
  // It topples in the plane of symmetry, off the flank of the lower one: its lateral motion takes
  // energy from its fall, which is slower than a free one.
  double centre[3], h = world.def.time_step;
  world_centre(&world, upper, centre);
  double fallen = 0.65 - centre[1], free_fall = 0.5 * 9.80665 * h * h * STEPS * (STEPS + 1);
  print_message("fell %.3f m of %.3f m, %.3f m sideways\n", fallen, free_fall, centre[2]);
  ASSERT_NEAR(centre[0], 0.0, 1e-3);
  ASSERT_AT_MOST(centre[2], -1.0);
  ASSERT_AT_MOST(fallen, 0.8 * free_fall);
  ASSERT_AT_LEAST(fallen, 0.4 * free_fall);
  world_done(&world);
}

static void exactly_parallel_edges_meet(void** state) {
  (void)state;
  // a wedge edge falls on a wedge edge, and again crossed, and shifted along itself
  for (int turn = 0; turn < 3; turn++) {
    World world = world_new(1);
    NoliMesh* lower = make_box(&world, 1.0, 0.3, 0.3, 1);
    noli_mesh_transform(lower, (double[]){1, 1, 1}, (double[]){45, 0, 0}, origin);
    world_add_obstacle(&world, lower, origin);
    NoliMesh* upper = make_box(&world, 1.0, 0.3, 0.3, 1);
    noli_mesh_transform(upper, (double[]){1, 1, 1}, (double[]){45, turn == 1 ? 90 : 0, 0}, origin);
    int32_t index = world_add(&world, upper, (double[]){turn == 2 ? 0.37 : 0.0, 0.45, 0});
    world_add_plane(&world, (double[]){0, -0.5, 0}, up);
    run(&world);
    // It tips off the edge to one side (nothing else pushes: it moves across the lower edge only),
    // and ends flat on the ground beside it, its column compressed by its own weight.
    double centre[3], weight = 1000.0 * 9.80665 / 1e5;
    world_centre(&world, index, centre);
    ASSERT_NEAR(centre[0], turn == 2 ? 0.37 : 0.0, 0.1);
    ASSERT_AT_LEAST(fabs(centre[2]), 1.0);
    ASSERT_NEAR(centre[1], -0.5 + 0.15 - weight * 0.3 * 0.3 / 3.0, 3e-3);
    world_done(&world);
  }
}

typedef struct Pair {
  World world;
  int32_t body;
  double high;    // top of the obstacle
  double side[2]; // x, z of its middle
} Pair;

// A body of the public data above the middle of an obstacle, tip down if it has one. False if the
// data is missing.
static bool start_pair(const char* body, const char* obstacle, bool turned, Pair* pair) {
  char path[512], name[128];

  // read the meshes
  *pair = (Pair){.world = world_new(1), .high = -INFINITY};
  World* world = &pair->world;
  NoliMesh *falling = NULL, *fixed = NULL;
  snprintf(name, sizeof name, "ipc/input/tetMeshes/%s.msh", body);
  if (test_data(name, path, sizeof path) == NULL) {
    test_context_done(&world->context);
    return false;
  }
  ASSERT_OK(noli_mesh_read(world->context, path, &falling));
  snprintf(name, sizeof name, "ipc/input/triMeshes/erleben/%s.obj", obstacle);
  assert_non_null(test_data(name, path, sizeof path));
  ASSERT_OK(noli_mesh_read(world->context, path, &fixed));
  noli_mesh_orient(falling);
  noli_mesh_transform(falling, (double[]){1, 1, 1}, (double[]){turned ? 180 : 0, 0, 0}, origin);

  // put the body above the highest point of the obstacle
  double low = INFINITY, middle[2] = {0, 0};
  for (int32_t i = 0; i < falling->n_vert; i++) {
    low = noli_smaller(low, falling->x[3 * i + 1]);
    middle[0] += falling->x[3 * i] / falling->n_vert;
    middle[1] += falling->x[3 * i + 2] / falling->n_vert;
  }
  for (int32_t i = 0; i < fixed->n_vert; i++) {
    pair->high = noli_larger(pair->high, fixed->x[3 * i + 1]);
    pair->side[0] += fixed->x[3 * i] / fixed->n_vert;
    pair->side[1] += fixed->x[3 * i + 2] / fixed->n_vert;
  }

  // both with friction
  world_add_obstacle(world, fixed, origin);
  double to[3] = {pair->side[0] - middle[0], pair->high - low + 0.05, pair->side[1] - middle[1]};
  pair->body = world_add(world, falling, to);
  world->body[pair->body].material.law = "fixed_corotated";
  world->def.friction = 1.0;
  return true;
}

// The support below a body: the top of the obstacle, or the bottom of a crack or hole that its tip
// fits into. A cube cannot stay on a tip or an edge: it tips over, still supported. An edge exactly
// on an edge is an unstable equilibrium: rounding decides whether it slides off.
typedef enum Outcome { ON_TOP, INSIDE, TIPPING, UNSTABLE } Outcome;

// The middle (x, z) of the support of the body: its vertices within 1 cm of the lowest one.
static void find_foot(const Pair* pair, double foot[2]) {
  int32_t first, count, n = 0;
  noli_sim_body_range(pair->world.sim, pair->body, &first, &count);
  const double* x = noli_sim_positions(pair->world.sim);
  double low = world_lowest(&pair->world, pair->body);
  foot[0] = foot[1] = 0.0;
  for (int32_t i = first; i < first + count; i++) {
    if (x[3 * i + 1] < low + 1e-2) {
      foot[0] += x[3 * i];
      foot[1] += x[3 * i + 2];
      n++;
    }
  }
  foot[0] /= n;
  foot[1] /= n;
}

static void assert_outcome(const Pair* pair, Outcome outcome, double cube) {

  // the place
  double centre[3], low = world_lowest(&pair->world, pair->body);
  world_centre(&pair->world, pair->body, centre);

  // tilted
  if (outcome == TIPPING) {
    // tilted about a tip or an edge that is half an edge length below its middle, less the
    // compression by its weight
    ASSERT_NEAR(centre[1], pair->high + 0.4 * cube, 0.11 * cube);
    ASSERT_AT_MOST(low, pair->high - 0.05);
    return;
  }
  if (outcome == UNSTABLE && low < pair->high - 6e-3) {
    // beside the edge, not through it
    ASSERT_AT_LEAST(hypot(centre[0] - pair->side[0], centre[2] - pair->side[1]), 0.1);
    return;
  }

  // upright where it fell: no sideways push
  double ground = outcome == INSIDE ? 0.0 : pair->high;
  ASSERT_NEAR(low, ground, 6e-3);
  // but the landing of a coarse mesh that is not symmetric
  double foot[2];
  find_foot(pair, foot);
  ASSERT_NEAR(foot[0], pair->side[0], 1e-2);
  ASSERT_NEAR(foot[1], pair->side[1], 1e-2);

  // upright on a tip is an unstable equilibrium: a tilt of 1e-3 grows e^3 times, sqrt(g / L) t = 2
  // * 1.5
  double tilt = cube > 0.0 ? 1e-2 : 1e-3 * exp(3.0) * (centre[1] - low);
  ASSERT_NEAR(centre[0], pair->side[0], tilt);
  ASSERT_NEAR(centre[2], pair->side[1], tilt);

  // a cube at rest is a column under its own weight, stiffer if friction holds its base
  double sag = 1000.0 * 9.80665 / 1e5 * cube * cube / 3.0;
  if (cube > 0.0) {
    ASSERT_NEAR(centre[1], ground + 0.5 * cube - 0.5 * sag, 0.5 * sag);
    ASSERT_AT_MOST(pair->world.report.max_speed, 0.05);
  }
}

static void erleben_pairs(void** state) {
  (void)state;
  static const char* const body[3] = {"erleben/spike", "erleben/wedge", "cube"};
  static const struct {
    const char* name;
    Outcome outcome[3]; // of spike, wedge, cube
  } obstacle[] = {
      {"spike", {ON_TOP, ON_TOP, TIPPING}}, {"wedge", {ON_TOP, UNSTABLE, TIPPING}},
      {"cliff", {ON_TOP, ON_TOP, ON_TOP}},  {"crack", {INSIDE, INSIDE, ON_TOP}},
      {"hole", {INSIDE, ON_TOP, ON_TOP}},   {"internal_edges", {ON_TOP, ON_TOP, ON_TOP}},
  };
  for (size_t o = 0; o < sizeof obstacle / sizeof *obstacle; o++) {
    for (int b = 0; b < 3; b++) {
      Pair pair;
      if (!start_pair(body[b], obstacle[o].name, b < 2, &pair)) {
        skip();
      }
      print_message("%s on %s\n", body[b], obstacle[o].name);
      run(&pair.world);
      assert_outcome(&pair, obstacle[o].outcome[b], b == 2 ? 1.0 : 0.0);
      world_done(&pair.world);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(aligned_cubes_stack),
      cmocka_unit_test(point_falls_on_point),
      cmocka_unit_test(exactly_parallel_edges_meet),
      cmocka_unit_test(erleben_pairs),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
