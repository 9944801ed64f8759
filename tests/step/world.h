// A small scene builder for tests of the simulator: bodies from meshes, audited after every step.
#pragma once

#include "support.h"

#include "noli/noli.h"
#include "step/simulation.h"

enum { WORLD_MAX = 64 };

typedef struct World {
  NoliContext* context;
  NoliSimDef def;
  NoliBodyDef body[WORLD_MAX];
  NoliMesh* mesh[WORLD_MAX];
  NoliHalfSpaceDef plane[4];
  NoliMotionDef motion[WORLD_MAX];
  NoliSim* sim;
  NoliStepReport report;
  char name[WORLD_MAX][16];
} World;

static inline World world_new(int32_t n_threads) {
  World world = {.context = test_context(n_threads), .def = noli_default_sim_def()};
  // every accepted step is checked exactly, by code independent of contact
  world.def.audit = "every_step";
  return world;
}

// "implicit" friction is a force without an energy, which only one solver takes; another method
// leaves the solver as it is.
static inline void world_use_friction(World* world, const char* method) {
  world->def.friction_method = method;
  world->def.solver = strcmp(method, "implicit") == 0 ? "implicit_newton" : world->def.solver;
}

// The world owns the mesh. Returns the body's index.
static inline int32_t world_add(World* world, NoliMesh* mesh, const double position[3]) {
  static const double unit[3] = {1, 1, 1}, zero[3] = {0, 0, 0};
  int32_t index = world->def.n_bodies++;
  assert_in_range(index, 0, WORLD_MAX - 1);
  noli_mesh_transform(mesh, unit, zero, position);
  world->mesh[index] = mesh;
  world->body[index] = noli_default_body_def();
  snprintf(world->name[index], sizeof world->name[index], "body%d", index);
  world->body[index].mesh = mesh;
  return index;
}

static inline int32_t world_add_obstacle(World* world, NoliMesh* mesh, const double position[3]) {
  int32_t index = world_add(world, mesh, position);
  world->body[index].obstacle = true;
  return index;
}

static inline void world_add_plane(World* world, const double origin[3], const double normal[3]) {
  NoliHalfSpaceDef* plane = &world->plane[world->def.n_half_spaces++];
  *plane = (NoliHalfSpaceDef){.size = sizeof(NoliHalfSpaceDef),
                              .name = "ground",
                              .origin = {origin[0], origin[1], origin[2]},
                              .normal = {normal[0], normal[1], normal[2]}};
}

// Moves all vertices of a body (or some of them).
static inline NoliMotionDef* world_add_motion(World* world, int32_t body, NoliMotionFn* target,
                                              void* user) {
  NoliMotionDef* motion = &world->motion[world->def.n_motions++];
  *motion = noli_default_motion_def();
  motion->body = body;
  motion->target = target;
  motion->user = user;
  return motion;
}

static inline NoliStatus world_create(World* world) {
  for (int32_t b = 0; b < world->def.n_bodies; b++) {
    world->body[b].name = world->name[b];
  }
  world->def.bodies = world->body;
  world->def.half_spaces = world->plane;
  world->def.motions = world->motion;
  return noli_sim_create(world->context, &world->def, &world->sim);
}

static inline void world_start(World* world) {
  NoliStatus status = world_create(world);
  if (status != NOLI_OK) {
    print_error("create: %s\n", noli_context_message(world->context));
  }
  assert_int_equal(status, NOLI_OK);
}

static inline void world_done(World* world) {
  noli_sim_destroy(&world->sim);
  for (int32_t b = 0; b < world->def.n_bodies; b++) {
    noli_mesh_destroy(world->context, &world->mesh[b]);
  }
  test_context_done(&world->context);
}

// The simulation is refused with a message that contains `part`; ends the world.
static inline void world_expect_refusal(World* world, const char* part) {
  ASSERT_STATUS(world_create(world), NOLI_ERROR_ARGUMENT);
  const char* message = noli_context_message(world->context);
  if (strstr(message, part) == NULL) {
    print_error("\"%s\" is not in: %s\n", part, message);
    fail();
  }
  assert_null(world->sim);
  world_done(world);
}

static inline void world_step(World* world) {
  NoliStatus status = noli_sim_step(world->sim, &world->report);
  if (status != NOLI_OK) {
    print_error("step %lld: status %d: %s\n", (long long)noli_sim_step_count(world->sim) + 1,
                (int)status, noli_context_message(world->context));
  }
  assert_int_equal(status, NOLI_OK);
}

// The forces of two bodies on each other, or of a body on itself if they are the same; NULL: none.
static inline const NoliPairForce* world_pair(const World* world, int32_t a, int32_t b) {
  const NoliPairForce* pairs;
  int32_t n;
  ASSERT_OK(noli_sim_pair_forces(world->sim, &pairs, &n));
  for (int32_t i = 0; i < n; i++) {
    if (pairs[i].a == a && pairs[i].b == b) {
      return &pairs[i];
    }
  }
  return NULL;
}

// Centre of mass of a body.
static inline void world_centre(const World* world, int32_t body, double centre[3]) {
  int32_t first, count;
  noli_sim_body_range(world->sim, body, &first, &count);
  const double* x = noli_sim_positions(world->sim);
  const double* mass = noli_sim_masses(world->sim);
  double total = 0.0;
  centre[0] = centre[1] = centre[2] = 0.0;
  for (int32_t i = first; i < first + count; i++) {
    for (int k = 0; k < 3; k++) {
      centre[k] += mass[i] * x[3 * i + k];
    }
    total += mass[i];
  }
  for (int k = 0; k < 3; k++) {
    centre[k] /= total;
  }
}

// A contact model, the range of its forces in m, and alpha of the geometric potential (0: default).
typedef struct WorldContact {
  const char* model;
  double alpha;
  double reach;
} WorldContact;

static inline void world_use(World* world, WorldContact of) {
  world->def.contact_model = of.model;
  world->def.contact_distance = (NoliScaled){of.reach, false};
  world->def.gcp.alpha = of.alpha > 0.0 ? of.alpha : world->def.gcp.alpha;
}

// Lowest height of a body's vertices.
static inline double world_lowest(const World* world, int32_t body) {
  int32_t first, count;
  noli_sim_body_range(world->sim, body, &first, &count);
  double low = (double)INFINITY;
  for (int32_t i = first; i < first + count; i++) {
    low = noli_smaller(low, noli_sim_positions(world->sim)[3 * i + 1]);
  }
  return low;
}

// A body that has flown freely for n steps, from a centre and with a velocity: backward Euler has
// v_n = v_0 + n h g, x_n = x_0 + n h v_0 + n (n+1)/2 h^2 g, the trapezoidal rule is exact.
static inline void world_expect_flight(const World* world, int32_t body, int n,
                                       const double start[3], const double v0[3]) {
  double now[3], h = world->def.time_step;
  const double g[3] = {0.0, -9.80665, 0.0};
  bool trapezoidal = strcmp(world->def.integrator, "trapezoidal") == 0;
  double weight = trapezoidal ? 0.5 * n * n : 0.5 * n * (n + 1);
  world_centre(world, body, now);
  for (int k = 0; k < 3; k++) {
    ASSERT_NEAR(now[k], start[k] + n * h * v0[k] + weight * h * h * g[k], 1e-10);
    // all vertices move together: there is no stress
    ASSERT_NEAR(noli_sim_velocities(world->sim)[k], v0[k] + n * h * g[k], 1e-10);
  }
  ASSERT_AT_MOST(world->report.elastic, 1e-12);
}

static inline double world_total_energy(const World* world) {
  const NoliStepReport* report = &world->report;
  return report->kinetic + report->elastic + report->gravity + report->contact_energy +
         report->friction_stored;
}

static inline NoliMesh* make_box(World* world, double a, double b, double c, int32_t n) {
  NoliMesh* mesh = NULL;
  double size[3] = {a, b, c};
  int32_t cells[3] = {n, n, n};
  ASSERT_OK(noli_mesh_make_box(world->context, size, cells, false, &mesh));
  return mesh;
}

static inline NoliMesh* make_sphere(World* world, double radius, int32_t n) {
  NoliMesh* mesh = NULL;
  ASSERT_OK(noli_mesh_make_sphere(world->context, radius, n, false, &mesh));
  return mesh;
}

// A NoliMotionFn: down at the speed that `user` points to, m/s.
static inline void move_down(void* user, double t0, double t1, int32_t n, const int32_t* node,
                             const double* X, const double* x_t0, double* x_t1) {
  (void)node;
  (void)X;
  const double* speed = user;
  for (int32_t i = 0; i < n; i++) {
    x_t1[3 * i] = x_t0[3 * i];
    x_t1[3 * i + 1] = x_t0[3 * i + 1] - *speed * (t1 - t0);
    x_t1[3 * i + 2] = x_t0[3 * i + 2];
  }
}

// A NoliMotionFn: along x at the speed that `user` points to, m/s.
static inline void move_along_x(void* user, double t0, double t1, int32_t n, const int32_t* node,
                                const double* X, const double* x_t0, double* x_t1) {
  (void)node;
  (void)X;
  const double* speed = user;
  for (int32_t i = 0; i < 3 * n; i++) {
    x_t1[i] = x_t0[i] + (i % 3 == 0 ? *speed * (t1 - t0) : 0.0);
  }
}
