// Small random scenes at the limits of the simulator: mixed stiffness, tiny gaps, fast and
// infeasible motion, any friction. Every step must succeed and every accepted state is audited.
// scripts/torture.py runs thousands of scenes of more kinds: docs/evidence/torture.md.
#include "world.h"

enum { PARTS = 512, STEPS_MIN = 10, STEPS_MAX = 20, BODIES_MAX = 8 };

// Motion of a prescribed part.
typedef struct Drive {
  double velocity[3];
  double axis[3]; // rad/s
  double centre[3];
  int32_t node[PARTS];
} Drive;

typedef struct Scene {
  World world;
  TestRandom random;
  double size;      // of a typical body, m
  double across[3]; // direction in which the bodies follow each other
  double end;       // of the last one along it
  Drive drive[BODIES_MAX];
  double push[3];
  NoliForceDef force;
  int32_t n_steps;
} Scene;

static double uniform(Scene* scene, double low, double high) {
  return test_random(&scene->random, low, high);
}

static double decades(Scene* scene, double low, double high) {
  return low * pow(high / low, uniform(scene, 0.0, 1.0));
}

static bool chance(Scene* scene, double share) {
  return uniform(scene, 0.0, 1.0) < share;
}

static int32_t whole(Scene* scene, int32_t low, int32_t high) {
  return (int32_t)uniform(scene, low, high + 1);
}

static void direction(Scene* scene, double d[3]) {
  double length = 0.0;
  while (!(length > 0.1 && length < 1.0)) {
    for (int k = 0; k < 3; k++) {
      d[k] = uniform(scene, -1.0, 1.0);
    }
    length = sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
  }
  for (int k = 0; k < 3; k++) {
    d[k] /= length;
  }
}

static double along(const double d[3], const double* x) {
  return d[0] * x[0] + d[1] * x[1] + d[2] * x[2];
}

static NoliMesh* random_shape(Scene* scene, bool surface) {
  NoliContext* context = scene->world.context;
  NoliMesh* mesh = NULL;
  double s = scene->size * uniform(scene, 0.3, 1.0);
  int32_t n = whole(scene, 1, 3);
  switch (whole(scene, 0, 4)) {
  case 0: {
    double sides[3] = {s, s * uniform(scene, 0.1, 1.0), s * uniform(scene, 0.3, 1.0)};
    int32_t cells[3] = {n, whole(scene, 1, 2), whole(scene, 1, 2)};
    ASSERT_OK(noli_mesh_make_box(context, sides, cells, surface, &mesh));
    break;
  }
  case 1:
    ASSERT_OK(noli_mesh_make_sphere(context, 0.5 * s, n + 1, surface, &mesh));
    break;
  case 2:
    ASSERT_OK(noli_mesh_make_torus(context, 0.5 * s, s * uniform(scene, 0.05, 0.2),
                                   whole(scene, 4, 8), 2, surface, &mesh));
    break;
  case 3:
    ASSERT_OK(noli_mesh_make_mat(context, s, s, s * uniform(scene, 0.01, 0.1), n + 1, n + 1,
                                 surface, &mesh));
    break;
  default:
    ASSERT_OK(noli_mesh_make_rod(context, 2.0 * s, s * uniform(scene, 0.05, 0.2),
                                 whole(scene, 2, 10), 1, surface, &mesh));
  }
  return mesh;
}

// Triangles, segments or points.
static NoliMesh* random_obstacle(Scene* scene) {
  NoliContext* context = scene->world.context;
  NoliMesh* mesh = NULL;
  if (chance(scene, 0.3)) {
    double s = 3.0 * scene->size;
    ASSERT_OK(noli_mesh_make_plane(context, s, s, whole(scene, 1, 2), whole(scene, 1, 2), &mesh));
  } else {
    mesh = random_shape(scene, true);
  }
  int32_t part = whole(scene, 0, 3);
  if (part >= 2) {
    NoliMesh* extracted = NULL;
    ASSERT_OK(noli_mesh_extract(context, mesh, part == 2 ? "edges" : "points", &extracted));
    noli_mesh_destroy(context, &mesh);
    mesh = extracted;
  }
  return mesh;
}

// Turns the mesh and places it after all others with a small gap.
static int32_t place(Scene* scene, NoliMesh* mesh) {
  double turn[3] = {0.0, 0.0, 0.0}, at[3];
  for (int k = 0; k < 3; k++) {
    turn[k] = chance(scene, 0.5) ? 90.0 * whole(scene, 0, 3) : uniform(scene, 0.0, 360.0);
    at[k] = chance(scene, 0.5) ? 0.0 : uniform(scene, -0.3, 0.3) * scene->size;
  }
  static const double unit[3] = {1, 1, 1}, zero[3] = {0, 0, 0};
  noli_mesh_transform(mesh, unit, chance(scene, 0.4) ? zero : turn, zero);
  double low = (double)INFINITY, high = -(double)INFINITY;
  for (int32_t i = 0; i < mesh->n_vert; i++) {
    double s = along(scene->across, &mesh->x[3 * i]);
    low = noli_smaller(low, s);
    high = noli_larger(high, s);
  }
  double begin = scene->end + scene->size * decades(scene, 1e-6, 0.3);
  double sideways = along(scene->across, at);
  for (int k = 0; k < 3; k++) {
    at[k] += (begin - low - sideways) * scene->across[k];
  }
  scene->end = begin + high - low;
  return world_add(&scene->world, mesh, at);
}

static void move(void* user, double t0, double t1, int32_t n, const int32_t* node, const double* X,
                 const double* x_t0, double* x_t1) {
  (void)node;
  (void)X;
  const Drive* drive = user;
  double rate = sqrt(along(drive->axis, drive->axis)), angle = rate * (t1 - t0);
  for (int32_t i = 0; i < n; i++) {
    double r[3], turned[3];
    for (int k = 0; k < 3; k++) {
      r[k] = turned[k] = x_t0[3 * i + k] - drive->centre[k] - t0 * drive->velocity[k];
    }
    if (rate > 0.0) {
      // Rodrigues
      double a[3] = {drive->axis[0] / rate, drive->axis[1] / rate, drive->axis[2] / rate};
      double c[3] = {a[1] * r[2] - a[2] * r[1], a[2] * r[0] - a[0] * r[2],
                     a[0] * r[1] - a[1] * r[0]};
      for (int k = 0; k < 3; k++) {
        turned[k] = cos(angle) * r[k] + sin(angle) * c[k] + (1.0 - cos(angle)) * along(a, r) * a[k];
      }
    }
    for (int k = 0; k < 3; k++) {
      x_t1[3 * i + k] = turned[k] + drive->centre[k] + t1 * drive->velocity[k];
    }
  }
}

// Moves a body, or its vertices beyond a plane through its middle; along `along_chain` if not 0.
static void drive_body(Scene* scene, int32_t body, double along_chain) {

  // a speed and a direction
  World* world = &scene->world;
  Drive* drive = &scene->drive[world->def.n_motions];
  NoliMotionDef* motion = world_add_motion(world, body, chance(scene, 0.15) ? NULL : move, drive);
  const NoliMesh* mesh = world->mesh[body];
  double d[3], speed = decades(scene, 1e-2, 1e2) * scene->size;
  direction(scene, d);
  for (int k = 0; k < 3; k++) {
    drive->velocity[k] = along_chain != 0.0 ? along_chain * speed * scene->across[k] : speed * d[k];
    drive->centre[k] = mesh->x[k];
  }

  // optional parts
  if (chance(scene, 0.3)) {
    direction(scene, d);
    double rate = decades(scene, 0.1, 30.0);
    for (int k = 0; k < 3; k++) {
      drive->axis[k] = rate * d[k];
    }
  }
  if (!world->body[body].obstacle && chance(scene, 0.8)) {
    direction(scene, d);
    double middle = 0.0;
    for (int32_t i = 0; i < mesh->n_vert; i++) {
      middle += along(d, &mesh->x[3 * i]) / mesh->n_vert;
    }
    motion->node = drive->node;
    for (int32_t i = 0; i < mesh->n_vert && motion->n_node < PARTS; i++) {
      if (along(d, &mesh->x[3 * i]) > middle) {
        drive->node[motion->n_node++] = i;
      }
    }
  }
  if (chance(scene, 0.2)) {
    motion->t_end = world->def.time_step * 5.5;
  }
}

static void add_body(Scene* scene) {
  World* world = &scene->world;
  int32_t index = place(scene, random_shape(scene, false));
  NoliBodyDef* body = &world->body[index];
  body->material.law = noli_choice_name(
      NOLI_CHOICE_MATERIAL, whole(scene, 0, noli_choice_count(NOLI_CHOICE_MATERIAL) - 1));
  body->material.young = decades(scene, 1e2, 1e11);
  body->material.poisson = uniform(scene, 0.0, 0.49);
  body->material.density = decades(scene, 10.0, 1e4);
  double d[3];
  if (chance(scene, 0.6)) {
    double speed = decades(scene, 1e-2, 1e3);
    direction(scene, d);
    for (int k = 0; k < 3; k++) {
      body->velocity[k] = speed * d[k];
    }
  }
  if (chance(scene, 0.3)) {
    double rate = decades(scene, 0.1, 100.0);
    direction(scene, d);
    for (int k = 0; k < 3; k++) {
      body->angular_velocity[k] = rate * d[k];
    }
  }
  if (chance(scene, 0.2)) {
    drive_body(scene, index, 0.0);
  }
}

static int32_t add_obstacle(Scene* scene, double along_chain) {
  int32_t index = place(scene, random_obstacle(scene));
  scene->world.body[index].obstacle = true;
  if (along_chain != 0.0 || chance(scene, 0.5)) {
    drive_body(scene, index, along_chain);
  }
  return index;
}

// A half-space that barely contains everything placed so far.
static void add_half_space(Scene* scene) {
  World* world = &scene->world;
  double normal[3] = {0, 1, 0}, origin[3], low = (double)INFINITY;
  if (chance(scene, 0.5)) {
    direction(scene, normal);
  }
  for (int32_t b = 0; b < world->def.n_bodies; b++) {
    for (int32_t i = 0; i < world->mesh[b]->n_vert; i++) {
      low = noli_smaller(low, along(normal, &world->mesh[b]->x[3 * i]));
    }
  }
  low -= scene->size * decades(scene, 1e-6, 0.3);
  for (int k = 0; k < 3; k++) {
    origin[k] = low * normal[k];
  }
  world_add_plane(world, origin, normal);
}

static void constant_force(void* user, double t, const double X[3], double value[3]) {
  (void)t;
  (void)X;
  memcpy(value, user, 3 * sizeof(double));
}

static void add_force(Scene* scene) {
  double d[3];
  direction(scene, d);
  double strength = decades(scene, 0.1, 1e4);
  for (int k = 0; k < 3; k++) {
    scene->push[k] = strength * d[k];
  }
  scene->force = (NoliForceDef){.size = sizeof(NoliForceDef),
                                .body = whole(scene, 0, scene->world.def.n_bodies - 1),
                                .kind = "acceleration",
                                .t_begin = 0.0,
                                .t_end = (double)INFINITY,
                                .value = constant_force,
                                .user = scene->push};
  if (scene->world.body[scene->force.body].obstacle) {
    return;
  }
  scene->world.def.forces = &scene->force;
  scene->world.def.n_forces = 1;
}

static void choose_options(Scene* scene) {
  NoliSimDef* def = &scene->world.def;
  def->time_step = decades(scene, 1e-4, 0.2);
  def->contact_distance = (NoliScaled){decades(scene, 1e-5, 1e-2), true};
  def->friction = chance(scene, 0.5) ? 0.0 : uniform(scene, 0.0, 1.5);
  def->friction_iterations = chance(scene, 0.6)   ? NOLI_FRICTION_AUTOMATIC
                             : chance(scene, 0.5) ? 2
                                                  : NOLI_FRICTION_UNTIL_CONVERGENCE;
  def->integrator = chance(scene, 0.1) ? "trapezoidal" : "backward_euler";
  if (chance(scene, 0.2)) {
    def->gravity[1] = 0.0;
  }
  scene->n_steps = whole(scene, STEPS_MIN, STEPS_MAX);
}

static void make_scene(Scene* scene, uint64_t seed) {
  *scene = (Scene){.world = world_new(1), .random = {(seed + 1) * UINT64_C(0x9E3779B97F4A7C15)}};
  for (int i = 0; i < 8; i++) {
    (void)test_random_bits(&scene->random);
  }
  scene->size = decades(scene, 0.01, 10.0);
  scene->across[1] = 1.0;
  if (chance(scene, 0.5)) {
    direction(scene, scene->across);
  }
  choose_options(scene);
  bool closing = chance(scene, 0.15);
  if (closing || chance(scene, 0.3)) {
    add_obstacle(scene, closing ? 1.0 : 0.0);
  }
  for (int32_t n = whole(scene, 1, 4); n > 0; n--) {
    add_body(scene);
  }
  if (closing || chance(scene, 0.2)) {
    add_obstacle(scene, closing ? -1.0 : 0.0);
  }
  for (int32_t n = chance(scene, 0.6) ? whole(scene, 1, 2) : 0; n > 0; n--) {
    add_half_space(scene);
  }
  if (chance(scene, 0.2)) {
    add_force(scene);
  }
}

static void print_failure(const Scene* scene, uint64_t seed, NoliStatus status) {
  const World* world = &scene->world;
  const NoliStepReport* report = &world->report;
  print_error("scene %llu, step %lld: status %d: %s\n", (unsigned long long)seed,
              (long long)(world->sim != NULL ? noli_sim_step_count(world->sim) + 1 : 0),
              (int)status, noli_context_message(world->context));
  print_error(
      "  h %.3g dhat %.3g l friction %.3g friction iterations %d %s kappa %.3g blocked by \"%s\"\n",
      world->def.time_step, world->def.contact_distance.value, world->def.friction,
      (int)world->def.friction_iterations, world->def.integrator, report->kappa,
      report->blocked_by != NULL ? report->blocked_by : "");
  int32_t n = report->newton_iterations;
  for (int32_t i = n > 6 ? n - 6 : 0; i < n; i++) {
    const NoliNewtonStat* stat = &report->newton[i];
    print_error("  %d: dE %.3g residual %.3g speed %.3g alpha %.3g <= %.3g <= %.3g contacts %lld\n",
                (int)i, stat->energy_change, stat->residual, stat->step_speed, stat->alpha,
                stat->alpha_ccd, stat->alpha_inversion, (long long)stat->contacts);
  }
}

// Runs one scene to its end; false if a step fails.
static bool runs(uint64_t seed) {
  Scene* scene = malloc(sizeof *scene);
  assert_non_null(scene);
  make_scene(scene, seed);
  World* world = &scene->world;
  NoliStatus status = world_create(world);
  for (int32_t i = 0; status == NOLI_OK && i < scene->n_steps; i++) {
    status = noli_sim_step(world->sim, &world->report);
  }
  if (status != NOLI_OK) {
    print_failure(scene, seed, status);
  }
  world_done(world);
  free(scene);
  return status == NOLI_OK;
}

// Scenes that run fast; others are equally suitable, but some of them take seconds.
static void random_scenes(void** state) {
  (void)state;
  static const uint64_t quick[] = {75, 31, 10, 47, 35, 29, 46, 37, 54, 67, 52, 6,  17, 28,
                                   59, 38, 77, 78, 71, 62, 42, 64, 53, 20, 40, 24, 23, 13,
                                   0,  33, 72, 50, 56, 51, 12, 30, 19, 61, 73, 70, 58, 49};
  int failures = 0;
  for (size_t i = 0; i < sizeof quick / sizeof quick[0]; i++) {
    failures += runs(quick[i]) ? 0 : 1;
  }
  assert_int_equal(failures, 0);
}

// Prescribed motion far beyond the limits of contact, and bodies crushed by it: pairs are pressed
// to a millionth of dhat and less, and Newton's method must not take hundreds of iterations with
// the same small alpha.
static void crushed_pairs_do_not_stall(void** state) {
  (void)state;
  static const uint64_t crushing[] = {4, 22, 74, 79, 86, 121, 125, 149};
  int failures = 0;
  for (size_t i = 0; i < sizeof crushing / sizeof crushing[0]; i++) {
    failures += runs(crushing[i]) ? 0 : 1;
  }
  assert_int_equal(failures, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(random_scenes),
      cmocka_unit_test(crushed_pairs_do_not_stall),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
