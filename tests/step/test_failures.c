// Failures inside a simulation are clean: every refused allocation and every step that does not
// converge leave the state unchanged, leak nothing, and can be retried.
#include "world.h"

// ---- lack of memory ----

static void sway(void* user, double t0, double t1, int32_t n_node, const int32_t* node,
                 const double* X, const double* x_t0, double* x_t1) {
  (void)user, (void)t0, (void)node, (void)x_t0;
  for (int32_t i = 0; i < n_node; i++) {
    x_t1[3 * i] = X[3 * i] + 0.3 * t1;
    x_t1[3 * i + 1] = X[3 * i + 1];
    x_t1[3 * i + 2] = X[3 * i + 2];
  }
}

// The parts of a simulation.
typedef struct Kind Kind;
struct Kind {
  const char* linear; // of implicit_newton: its general solver
  const char* integrator;
  const char* solver;
  const char* friction;
  const char* model;
  // bodies, obstacles and motions; NULL: pushed_boxes
  void (*build)(World* world, const Kind* kind);
  int64_t n_all; // each of the first n_all allocations is refused; of later ones a sample
  int32_t max_iterations;
};

static bool is_implicit(const Kind* kind) {
  return (kind->solver != NULL && strcmp(kind->solver, "implicit_newton") == 0) ||
         (kind->friction != NULL && strcmp(kind->friction, "implicit") == 0);
}

// Two boxes on a plane beside a plate that pushes them: every kind of contact, friction, motion.
static void pushed_boxes(World* world, const Kind* kind) {
  (void)kind;
  world_add(world, make_box(world, 0.2, 0.2, 0.2, 1), (double[]){0.0, 0.1005, 0.0});
  world_add(world, make_box(world, 0.2, 0.2, 0.2, 1), (double[]){0.02, 0.3012, 0.01});
  world_add_obstacle(world, make_box(world, 0.1, 0.1, 0.1, 1), (double[]){-0.1515, 0.1, 0.0});
  world_add_plane(world, (double[]){0, 0, 0}, (double[]){0, 1, 0});
  world_add_motion(world, 2, sway, NULL);
  static const NoliVolumeDef full = {.size = sizeof(NoliVolumeDef),
                                     .region = "outside",
                                     .model = "quadratic",
                                     .compression = 1e-5};
  world->def.volumes = &full;
  world->def.n_volumes = 1;
}

// A ball that falls onto an obstacle that is not closed.
static void fallen_ball(World* world, const Kind* kind) {
  NoliMesh* sheet = NULL;
  bool smooth = strcmp(kind->model, "implicit_surface") == 0;
  world_add(world, make_sphere(world, 0.1, 2), (double[]){0.0, smooth ? 0.105 : 0.102, 0.0});
  ASSERT_OK(noli_mesh_make_plane(world->context, 0.6, 0.6, 6, 6, &sheet));
  world_add_obstacle(world, sheet, (double[]){0.0, 0.0, 0.0});
  world->body[0].velocity[1] = -0.5;
}

// A box on a slab, beside a box that pushes it: closed surfaces, which the geometric potential
// needs.
static void boxes_on_slab(World* world, const Kind* kind) {
  (void)kind;
  world_add(world, make_box(world, 0.2, 0.2, 0.2, 1), (double[]){0.0, 0.1015, 0.0});
  world_add_obstacle(world, make_box(world, 0.1, 0.1, 0.1, 1), (double[]){-0.1515, 0.1, 0.0});
  world_add_obstacle(world, make_box(world, 0.6, 0.1, 0.6, 1), (double[]){0.03, -0.05, 0.02});
  world_add_motion(world, 1, sway, NULL);
}

// Elements of order 2 on a round shape, which collide by a finer proxy.
static void curved_ball(World* world, const Kind* kind) {
  (void)kind;
  NoliMesh* ball = NULL;
  ASSERT_OK(noli_mesh_make_curved_sphere(world->context, 0.1, 1, 2, &ball));
  world_add(world, ball, (double[]){0.0, 0.1012, 0.0});
  world_add_plane(world, (double[]){0, 0, 0}, (double[]){0, 1, 0});
  world->body[0].order = 2;
  world->body[0].proxy.kind = "subdivision";
  world->body[0].proxy.subdivision = 2;
  world->body[0].material.damping = 0.002;
  world->body[0].velocity[0] = 0.3;
  world->body[0].velocity[1] = -0.5;
}

// A sheet that is tied to a box at its upper side, and touches the ground with its lower one.
static void tied_sheet(World* world, const Kind* kind) {
  (void)kind;
  NoliMesh* sheet = NULL;
  ASSERT_OK(noli_mesh_make_sheet(world->context, 0.1, 0.1, 2, 2, "unstructured", &sheet));
  world_add(world, make_box(world, 0.2, 0.2, 0.2, 1), (double[]){0.0, 0.1, 0.0});
  world_add(world, sheet, (double[]){0.01, -0.05, 0.02});
  world->body[1].shell.thickness = 1e-3;
  world->body[1].material.law = "stvk";
  world_add_plane(world, (double[]){0, -0.1008, 0}, (double[]){0, 1, 0});
  static const int32_t upper[3] = {7, 8, 9};
  static NoliTieDef tie;
  tie = noli_default_tie_def();
  tie.body = 1;
  tie.node = upper;
  tie.n_node = 3;
  world->def.ties = &tie;
  world->def.n_ties = 1;
}

// A disk in a plane, next to a rectangle that pushes it.
static void in_the_plane(World* world, const Kind* kind) {
  (void)kind;
  NoliMesh *disk = NULL, *rectangle = NULL;
  ASSERT_OK(noli_mesh_make_disk(world->context, 0.1, 4, &disk));
  ASSERT_OK(noli_mesh_make_rectangle(world->context, 0.1, 0.1, 1, 1, &rectangle));
  world_add(world, disk, (double[]){0.0, 0.1008, 0.0});
  world_add_obstacle(world, rectangle, (double[]){-0.1511, 0.1, 0.0});
  world->body[0].plane_strain = world->body[1].plane_strain = 0.2;
  world_add_plane(world, (double[]){0, 0, 0}, (double[]){0, 1, 0});
  world_add_motion(world, 1, sway, NULL);
}

// A box that falls onto segments and points, by the other collision detection.
static void on_wires(World* world, const Kind* kind) {
  (void)kind;
  NoliMesh* bed = make_box(world, 0.3, 0.1, 0.3, 1);
  NoliMesh *wires = NULL, *points = NULL;
  ASSERT_OK(noli_mesh_extract(world->context, bed, "edges", &wires));
  ASSERT_OK(noli_mesh_extract(world->context, bed, "points", &points));
  noli_mesh_destroy(world->context, &bed);
  world_add(world, make_box(world, 0.2, 0.2, 0.2, 1), (double[]){0.06, 0.1012, 0.05});
  world_add_obstacle(world, wires, (double[]){-0.05, -0.05, -0.04});
  world_add_obstacle(world, points, (double[]){0.2, -0.0501, 0.17});
  world->def.ccd = "inclusion";
}

// Built with full memory; only the simulation runs out of it.
static World make_world(TestMemory* memory, const Kind* kind) {
  World world = {.context = test_context_on(memory, 2), .def = noli_default_sim_def()};
  (kind->build != NULL ? kind->build : pushed_boxes)(&world, kind);
  world.def.contact_distance = (NoliScaled){2e-3, false};
  world.def.friction = 0.4;
  world.def.friction_iterations = 2;
  world.def.integrator = kind->integrator;
  world.def.solver = kind->solver;
  if (is_implicit(kind)) {
    world.def.implicit_newton.linear = kind->linear;
  } else {
    world.def.linear_solver = kind->linear;
  }
  world.def.friction_method = kind->friction != NULL ? kind->friction : "lagged";
  world.def.contact_model = kind->model != NULL ? kind->model : "ipc";
  world.def.max_iterations = kind->max_iterations > 0 ? kind->max_iterations : 1000;
  bool smooth = strcmp(world.def.contact_model, "implicit_surface") == 0;
  world.def.audit = smooth ? "off" : "every_iteration";
  return world;
}

enum { N_STEPS = 3 };

// One life of the simulation, in which allocation `k` after the construction of the meshes fails.
// Returns whether that allocation was reached.
static bool survive(const Kind* kind, int64_t k, uint64_t want) {
  TestMemory memory;
  World world = make_world(&memory, kind);
  test_refuse(&memory, k);
  NoliStatus status = world_create(&world);
  if (status != NOLI_OK) {
    assert_int_equal(status, NOLI_ERROR_MEMORY);
    assert_null(world.sim);
    ASSERT_OK(world_create(&world));
  }
  for (int step = 0; step < N_STEPS; step++) {
    uint64_t before = noli_sim_state_hash(world.sim);
    status = noli_sim_step(world.sim, &world.report);
    if (status != NOLI_OK) {
      assert_int_equal(status, NOLI_ERROR_MEMORY);
      assert_non_null(strstr(noli_context_message(world.context), "memory"));
      assert_true(noli_sim_state_hash(world.sim) == before);
      ASSERT_OK(noli_sim_step(world.sim, &world.report));
    }
  }
  assert_true(world.report.contacts > 0);
  if (noli_sim_state_hash(world.sim) != want) {
    print_error("another state after allocation %lld was refused\n", (long long)k);
    fail();
  }
  world_done(&world);
  return memory.asked >= k;
}

static uint64_t undisturbed(const Kind* kind, int64_t* n_allocations, int32_t* substeps) {
  TestMemory memory;
  World world = make_world(&memory, kind);
  test_refuse(&memory, 0);
  world_start(&world);
  *substeps = 1;
  for (int step = 0; step < N_STEPS; step++) {
    world_step(&world);
    *substeps = world.report.substeps > *substeps ? world.report.substeps : *substeps;
  }
  *n_allocations = memory.asked;
  uint64_t hash = noli_sim_state_hash(world.sim);
  world_done(&world);
  return hash;
}

// Every solver, kind of friction, contact, element and linear system, and a step that has to be
// divided.
static void every_allocation_may_fail(void** state) {
  (void)state;

  // scenes of several solvers and models
  static const Kind kinds[] = {
      {"cholmod", "backward_euler", NULL, NULL, NULL, NULL, 250, 0},
      {"pcg", "trapezoidal", NULL, NULL, NULL, NULL, 60, 0},
      {"auto", "backward_euler", NULL, NULL, NULL, NULL, 120, 0},
      {"dense", "backward_euler", NULL, NULL, NULL, NULL, 60, 0},
      {"dense", "bdf2", "projected_newton", NULL, NULL, NULL, 20, 0},
      {"dense", "quasi_static", NULL, NULL, NULL, NULL, 20, 0},
      {"cholmod", "backward_euler", "augmented_lagrangian", NULL, NULL, NULL, 20, 0},
      {"pcg", "sdirk2", "augmented_lagrangian", NULL, NULL, NULL, 20, 0},
      {"umfpack", "backward_euler", "implicit_newton", "implicit", NULL, NULL, 20, 0},
      {"bicgstab", "bdf2", "implicit_newton", "implicit", NULL, NULL, 20, 0},
      {"matrix_free", "trapezoidal", "implicit_newton", "implicit", NULL, NULL, 20, 0},
      {"umfpack", "backward_euler", "implicit_newton", "lagged", NULL, NULL, 20, 0},
      {"dense", "backward_euler", NULL, NULL, "implicit_surface", fallen_ball, 20, 0},
      {"dense", "backward_euler", "projected_newton", NULL, NULL, boxes_on_slab, 20, 8},
      {"cholmod", "backward_euler", NULL, NULL, "gcp", boxes_on_slab, 60, 0},
      {"cholmod", "tr_bdf2", NULL, NULL, "gcp", fallen_ball, 20, 0},
      {"umfpack", "backward_euler", NULL, "implicit", "gcp", boxes_on_slab, 20, 0},
      {"cholmod", "backward_euler", NULL, NULL, NULL, curved_ball, 60, 0},
      {"pcg", "bdf2", "augmented_lagrangian", NULL, NULL, curved_ball, 20, 0},
      {"bicgstab", "backward_euler", NULL, "implicit", NULL, curved_ball, 20, 0},
      {"dense", "trapezoidal", NULL, NULL, "gcp", curved_ball, 20, 0},
      {"cholmod", "trapezoidal", NULL, NULL, NULL, tied_sheet, 120, 0},
      {"cholmod", "backward_euler", NULL, NULL, NULL, in_the_plane, 60, 0},
      {"pcg", "backward_euler", "augmented_lagrangian", NULL, NULL, in_the_plane, 20, 0},
      {"dense", "sdirk2", NULL, NULL, "gcp", in_the_plane, 20, 0},
      {"cholmod", "backward_euler", NULL, NULL, NULL, on_wires, 20, 0},
      {"cholmod", "backward_euler", "augmented_lagrangian", NULL, NULL, on_wires, 20, 0},
  };

  // refuse one allocation after the other
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    const Kind* kind = &kinds[i];
    int64_t n_allocations, n_refused = 0;
    int32_t substeps;
    uint64_t want = undisturbed(kind, &n_allocations, &substeps);
    for (int64_t k = 1; survive(kind, k, want); n_refused++) {
      k += k < kind->n_all ? 1 : kind->n_all < 50 ? k / 5 : k / 20;
    }
    print_message("%s, %s, %s, %s, %s: %lld of %lld allocations refused, one at a time; %d parts\n",
                  kind->linear, kind->integrator, kind->solver != NULL ? kind->solver : "-",
                  kind->friction != NULL ? kind->friction : "-",
                  kind->model != NULL ? kind->model : "-", (long long)n_refused,
                  (long long)n_allocations, (int)substeps);
    assert_true(n_refused > 30);
    assert_true(substeps > 1 || kind->max_iterations == 0);
  }
}

// Checking a definition allocates memory too.
static void check_survives_refusal(void** state) {
  (void)state;

  // refuse one allocation after the other
  for (int64_t k = 1;; k++) {
    TestMemory memory;
    World world = make_world(&memory, &(Kind){.linear = "dense", .integrator = "backward_euler"});
    // into each other
    world.mesh[1]->x[1] -= 0.1;
    for (int32_t b = 0; b < world.def.n_bodies; b++) {
      world.body[b].name = world.name[b];
    }
    world.def.bodies = world.body;
    world.def.half_spaces = world.plane;
    world.def.motions = world.motion;
    test_refuse(&memory, k);
    NoliDefect* defects = NULL;
    int64_t n = 0;
    NoliStatus status = noli_sim_check(world.context, &world.def, &defects, &n);
    if (status != NOLI_OK) {
      assert_int_equal(status, NOLI_ERROR_MEMORY);
      assert_null(defects);
    } else {
      assert_true(n > 0);
    }
    noli_sim_check_free(world.context, &defects);
    bool reached = memory.asked >= k;
    world_done(&world);
    if (!reached) {
      break;
    }
  }
}

// ---- steps that do not succeed ----

typedef struct Fault {
  bool on;
} Fault;

static void faulty_motion(void* user, double t0, double t1, int32_t n_node, const int32_t* node,
                          const double* X, const double* x_t0, double* x_t1) {
  const Fault* fault = user;
  sway(NULL, t0, t1, n_node, node, X, x_t0, x_t1);
  x_t1[3] = fault->on ? (double)NAN : x_t1[3];
}

static void faulty_force(void* user, double t, const double X[3], double value[3]) {
  const Fault* fault = user;
  value[0] = fault->on && X[1] > 0.25 ? sqrt(-t) : 1.0;
  value[1] = value[2] = 0.0;
}

// Two of `n` steps meet a fault; the result equals that of a simulation without faults.
static void fault_leaves_nothing(const char* integrator, bool in_motion, const char* word) {

  // without and with faults
  uint64_t hash[2];
  for (int run = 0; run < 2; run++) {
    TestMemory memory;
    Fault fault = {false};
    World world = make_world(&memory, &(Kind){.linear = "dense", .integrator = integrator});
    NoliForceDef force = {.size = sizeof(NoliForceDef),
                          .body = 1,
                          .kind = "nodal",
                          .t_end = (double)INFINITY,
                          .value = faulty_force,
                          .user = &fault};
    if (in_motion) {
      world.motion[0].target = faulty_motion;
      world.motion[0].user = &fault;
    } else {
      world.def.forces = &force;
      world.def.n_forces = 1;
    }
    world_start(&world);
    for (int step = 0; step < 4; step++) {
      fault.on = run == 1 && step % 2 == 0;
      uint64_t before = noli_sim_state_hash(world.sim);
      if (fault.on) {
        ASSERT_STATUS(noli_sim_step(world.sim, &world.report), NOLI_NOT_FINITE);
        const char* message = noli_context_message(world.context);
        if (strstr(message, word) == NULL || strstr(message, "vertex") == NULL) {
          print_error("the message is not located: %s\n", message);
          fail();
        }
        assert_true(noli_sim_state_hash(world.sim) == before);
        assert_string_equal(world.report.blocked_by, "");
        fault.on = false;
      }
      world_step(&world);
    }
    hash[run] = noli_sim_state_hash(world.sim);
    world_done(&world);
  }
  assert_true(hash[0] == hash[1]);
}

static void values_that_are_not_finite_are_located(void** state) {
  (void)state;
  fault_leaves_nothing("backward_euler", true, "motion of body \"body2\"");
  fault_leaves_nothing("backward_euler", false, "force on body \"body1\"");
  fault_leaves_nothing("trapezoidal", false, "force on body \"body1\"");
}

// If a solve does not converge, the state is kept, every call reports the same error, and the
// simulation can continue from an easier state.
static void no_convergence_leaves_the_state(void** state) {
  (void)state;

  // too few iterations
  static const char* const integrators[] = {"backward_euler", "trapezoidal"};
  for (int i = 0; i < 2; i++) {
    TestMemory memory;
    World world = make_world(&memory, &(Kind){.linear = "cholmod", .integrator = integrators[i]});
    world.def.max_iterations = 1;
    world.def.tolerance = (NoliScaled){0.5, false};
    world.body[1].velocity[1] = -3.0;
    world_start(&world);
    uint64_t before = noli_sim_state_hash(world.sim);
    for (int again = 0; again < 2; again++) {
      ASSERT_STATUS(noli_sim_step(world.sim, NULL), NOLI_NOT_CONVERGED);
      assert_true(noli_sim_state_hash(world.sim) == before);
      assert_int_equal(noli_sim_step_count(world.sim), 0);
    }
    // apart and at rest, one iteration is enough
    int32_t n = noli_sim_vertex_count(world.sim);
    double* x = malloc(sizeof(double) * 3 * (size_t)n);
    double* v = calloc(3 * (size_t)n, sizeof(double));
    memcpy(x, noli_sim_positions(world.sim), sizeof(double) * 3 * (size_t)n);
    for (int32_t body = 0; body < 2; body++) {
      int32_t first, count;
      noli_sim_body_range(world.sim, body, &first, &count);
      for (int32_t k = first; k < first + count; k++) {
        x[3 * k + 1] += 1.0 + body;
      }
    }
    ASSERT_OK(noli_sim_set_state(world.sim, x, v));
    ASSERT_OK(noli_sim_step(world.sim, NULL));
    assert_int_equal(noli_sim_step_count(world.sim), 1);
    free(x);
    free(v);
    world_done(&world);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_allocation_may_fail),
      cmocka_unit_test(check_survives_refusal),
      cmocka_unit_test(values_that_are_not_finite_are_located),
      cmocka_unit_test(no_convergence_leaves_the_state),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
