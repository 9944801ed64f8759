// The balance of forces at the end of a solve, on as many ranks as mpirun starts
// (tests/scripted.cmake: two and three): bodies are divided among the ranks, each of which
// simulates with the others and, beside it, alone. The imbalance of every body is that of a process
// alone, with the same bits on all ranks, and steps end after the same iterations.
#include "mpi/world_on_ranks.h"

#include "base/ranks.h"
#include "math/vec3.h"
#include "solve/balance.h"
#include "solve/supports.h"

static NoliRanks* ranks;

// A stiff cube, which can only move up and down, on a soft one, pressed by a plate.
typedef struct Pile {
  const char* integrator;
  const char* solver;
  const char* model;
  const char* friction; // NULL: none
  int order;            // of the elements
  double pressure;      // Pa on the soft cube
} Pile;

static const Pile piles[] = {
    {"quasi_static", "projected_newton", "ipc", NULL, 1, 0.0},
    {"quasi_static", "projected_newton", "ipc", "lagged", 2, 0.0},
    {"quasi_static", "projected_newton", "gcp", NULL, 1, 200.0},
    {"quasi_static", "implicit_newton", "ipc", "implicit", 1, 0.0},
    {"backward_euler", "projected_newton", "ipc", "lagged", 1, 200.0},
    {"backward_euler", "augmented_lagrangian", "ipc", NULL, 1, 0.0},
    {"bdf2", "implicit_newton", "ipc", "implicit", 1, 0.0},
};
enum { N_PILES = sizeof piles / sizeof *piles };

enum { SOFT, STIFF, PLATE, CELLS = 3, N_HELD = (CELLS + 1) * (CELLS + 1), HELD = 0, PUSHED = 2 };
static const double size = 0.1, gap = 1e-4;

// Holds the vertices at the lower side of a cube along an axis, upright or in the other directions.
static void hold_side(World* world, int32_t body, int axis, bool upright, int32_t held[N_HELD]) {
  const NoliMesh* mesh = world->mesh[body];
  double low = (double)INFINITY;
  int32_t n = 0;
  for (int32_t i = 0; i < mesh->n_vert; i++) {
    low = noli_smaller(low, mesh->x[3 * i + axis]);
  }
  for (int32_t i = 0; i < mesh->n_vert; i++) {
    if (mesh->x[3 * i + axis] < low + 1e-3 * size) {
      held[n++] = i;
    }
  }
  assert_int_equal(n, N_HELD);
  NoliMotionDef* motion = world_add_motion(world, body, NULL, NULL);
  motion->node = held;
  motion->n_node = n;
  motion->free_axis[1] = !upright;
}

static void constant(void* user, double t, const double X[3], double value[3]) {
  (void)t;
  (void)X;
  value[0] = *(const double*)user;
}

static World pile_of(const Pile* pile, bool together) {
  static int32_t held[2][N_HELD];
  static NoliForceDef force;
  static double speed = 0.3;
  World world = world_on_ranks(ranks, together);
  for (int32_t b = SOFT; b <= STIFF; b++) {
    world_add(&world, make_box(&world, size, size, size, CELLS),
              (double[]){0.013 * b, (size + gap) * b, 0.02 * b});
    world.body[b].material.young = b == SOFT ? 1e5 : 1e8;
    world.body[b].material.poisson = 0.3;
    world.body[b].order = pile->order;
    hold_side(&world, b, b == SOFT ? 1 : 0, b == SOFT, held[b]);
  }
  int32_t plate = world_add_obstacle(&world, make_box(&world, 3 * size, 0.2 * size, 3 * size, 1),
                                     (double[]){0, 1.6 * size + 2.0 * gap, 0});
  assert_int_equal(plate, PLATE);
  world_add_motion(&world, plate, move_down, &speed);
  force = noli_default_force_def();
  force.body = SOFT;
  force.kind = "pressure";
  force.value = constant;
  force.user = (void*)(uintptr_t)&pile->pressure;
  world.def.forces = &force;
  world.def.n_forces = pile->pressure > 0.0 ? 1 : 0;
  world.def.integrator = pile->integrator;
  world.def.solver = pile->solver;
  world.def.contact_model = pile->model;
  world.def.gcp.act_at_rest = true;
  world.def.contact_distance = (NoliScaled){1.1 * gap, false};
  world.def.time_step = 0.01;
  if (pile->friction != NULL) {
    world.def.friction = 0.3;
    world_use_friction(&world, pile->friction);
  }
  world_start(&world);
  return world;
}

// Which constraints a step finds on its way depends on rounding, and so do its iterations; the
// barrier has the same contacts at a point, however it got there.
static bool has_constraints(const Pile* pile) {
  return strcmp(pile->solver, "augmented_lagrangian") == 0;
}

// All ranks have the bits of the first one.
static void assert_all_have(const World* together, const void* own, size_t n) {
  uint8_t* first = malloc(n);
  memcpy(first, own, n);
  ASSERT_OK(noli_ranks_broadcast(together->context, 0, 1, first, (int64_t)n));
  assert_memory_equal(first, own, n);
  free(first);
}

// ---- one point ----------------------------------------------------------------------------------

// The imbalance at x (n_vert x 3).
static NoliImbalance imbalance_at(const World* world, const double* x, bool* balanced) {
  NoliStage* stage = world->sim->stage;
  memcpy(stage->here->x, x, sizeof *x * 3 * (size_t)stage->problem->n_vert);
  ASSERT_OK(noli_stage_find_contacts(stage));
  noli_balance_begin(stage);
  ASSERT_OK(noli_forces_balance(stage, 0.0, balanced));
  return stage->imbalance;
}

// The vertices of a body move a little: the worst body is that of a process alone, with its share.
static void imbalance_of_every_body_is_that_of_one_rank(void** state) {
  (void)state;
  int n_worst[2] = {0};
  for (int p = 0; p < N_PILES; p++) {
    World alone = pile_of(&piles[p], false), together = pile_of(&piles[p], true);
    world_step(&alone);
    world_step(&together);
    int64_t n = 3 * (int64_t)alone.sim->model->problem.n_vert;
    double* x = malloc(sizeof *x * (size_t)n);
    for (int32_t moved = SOFT; moved <= STIFF; moved++) {
      const int32_t* body = alone.sim->model->problem.surface->body;
      for (int64_t i = 0; i < n; i++) {
        double off = moved == SOFT ? 1e-6 : 1e-7;
        x[i] = noli_sim_positions(alone.sim)[i];
        x[i] += body[i / 3] == moved ? off * sin(7.0 * (double)i) : 0.0;
      }
      bool balanced[2];
      NoliImbalance want = imbalance_at(&alone, x, &balanced[0]);
      NoliImbalance got = imbalance_at(&together, x, &balanced[1]);
      print_message("%s, %s, %s: body %d off by %.3g, on ranks by %.3g\n", piles[p].integrator,
                    piles[p].solver, piles[p].model, (int)want.body, want.share, got.share);
      assert_in_range(got.body, SOFT, STIFF);
      assert_true(got.share > 1e-6);
      assert_all_have(&together, &got.share, sizeof got.share);
      if (!has_constraints(&piles[p])) {
        assert_int_equal(got.body, want.body);
        n_worst[want.body]++;
        assert_true(balanced[0] == balanced[1]);
        ASSERT_NEAR(got.share, want.share, 1e-9 * want.share);
      }
    }
    free(x);
    world_done(&alone);
    world_done(&together);
  }
  assert_true(n_worst[SOFT] > 2 && n_worst[STIFF] > 2);
}

// ---- steps --------------------------------------------------------------------------------------

static double reaction(const World* world, int32_t motion) {
  NoliReaction found;
  ASSERT_OK(noli_sim_reaction(world->sim, motion, NULL, &found));
  return found.force[1];
}

// Sums differ by rounding only, and steps take as many iterations, except those with constraints:
// their forces agree as well as they balance.
static void steps_end_as_on_one_rank(void** state) {
  (void)state;
  for (int p = 0; p < N_PILES; p++) {
    bool is_static = strcmp(piles[p].integrator, "quasi_static") == 0;
    World alone = pile_of(&piles[p], false), together = pile_of(&piles[p], true);
    for (int k = 0; k < 2; k++) {
      world_step(&alone);
      world_step(&together);
      if (!has_constraints(&piles[p])) {
        assert_int_equal(together.report.newton_iterations, alone.report.newton_iterations);
        assert_int_equal(together.report.contacts, alone.report.contacts);
      }
      ASSERT_AT_MOST(together.report.imbalance, is_static ? 1e-3 : 1e-2);
      assert_all_have(&together, &together.report.imbalance, sizeof(double));
    }
    int64_t n = 3 * (int64_t)noli_sim_vertex_count(alone.sim);
    assert_alike(noli_sim_positions(together.sim), noli_sim_positions(alone.sim), n,
                 has_constraints(&piles[p]) ? 1e-4 : 1e-8);
    double pushes = reaction(&together, PUSHED), holds = reaction(&together, HELD);
    print_message("%s, %s, %s: pushes %.6g N, holds %.6g N, imbalance %.2g, alone %.2g\n",
                  piles[p].integrator, piles[p].solver, piles[p].model, pushes, holds,
                  together.report.imbalance, alone.report.imbalance);
    double off = (has_constraints(&piles[p]) ? 2e-2 : 1e-4) * fabs(holds);
    ASSERT_NEAR(pushes, reaction(&alone, PUSHED), off);
    ASSERT_NEAR(holds, reaction(&alone, HELD), off);
    assert_all_have(&together, &holds, sizeof holds);
    world_done(&alone);
    world_done(&together);
  }
}

// ---- supports -----------------------------------------------------------------------------------

// Two cubes on a flat floor of triangles, the second turned on it and held at one side, between
// walls of triangles, a half-space on one side, pressed by a plate of triangles.
static World supported_cubes(bool together) {
  static int32_t held[N_HELD];
  static double speed = 0.05;
  World world = world_on_ranks(ranks, together);
  for (int32_t b = 0; b < 2; b++) {
    NoliMesh* mesh = make_box(&world, size, size, size, CELLS);
    world_add(&world, mesh, (double[]){1.05 * size * b, 0.5 * size + gap, 0.0});
    world.body[b].material.young = b == 0 ? 1e5 : 3e6;
    world.body[b].material.poisson = 0.45;
  }
  hold_side(&world, 1, 2, false, held);
  static const double turn[3][3] = {{0, 11, 0}, {0, 0, 90}, {180, 20, 0}};
  for (int k = 0; k < 3; k++) {
    NoliMesh* mesh = NULL;
    ASSERT_OK(noli_mesh_make_plane(world.context, 5.0 * size, 4.0 * size, 17, 13, &mesh));
    noli_mesh_transform(mesh, (double[]){1, 1, 1}, turn[k], (double[]){0, 0, 0});
    double at[3][3] = {{0, 0, 0}, {1.55 * size + 1.5 * gap, 0, 0}, {0, size + 2.0 * gap, 0}};
    int32_t obstacle = world_add_obstacle(&world, mesh, at[k]);
    if (k == 2) {
      world_add_motion(&world, obstacle, move_down, &speed);
    }
  }
  world_add_plane(&world, (double[]){-0.5 * size - 1.3 * gap, 0, 0}, (double[]){1, 0, 0});
  world.def.integrator = "quasi_static";
  world.def.friction = 0.2;
  world.def.contact_distance = (NoliScaled){1.1 * gap, false};
  world.def.time_step = 0.01;
  world_start(&world);
  return world;
}

static void supports_are_those_of_one_rank(void** state) {
  (void)state;
  World alone = supported_cubes(false), together = supported_cubes(true);
  for (int k = 0; k < 2; k++) {
    world_step(&alone);
    world_step(&together);
    assert_int_equal(together.report.newton_iterations, alone.report.newton_iterations);
    assert_int_equal(together.report.contacts, alone.report.contacts);
    ASSERT_AT_MOST(together.report.imbalance, 1e-3);
    assert_all_have(&together, &together.report.imbalance, sizeof(double));
    ASSERT_NEAR(together.report.imbalance, alone.report.imbalance, 1e-8);
  }
  int64_t n = 3 * (int64_t)noli_sim_vertex_count(alone.sim);
  assert_alike(noli_sim_positions(together.sim), noli_sim_positions(alone.sim), n, 1e-8);

  // what supports each cube, found anew
  World* world[2] = {&alone, &together};
  NoliSupports supports[2] = {0};
  for (int w = 0; w < 2; w++) {
    ASSERT_OK(noli_supports_find(world[w]->sim->stage, &supports[w]));
  }
  assert_int_equal(supports[1].now.count, supports[0].now.count);
  double largest = 0.0;
  for (int64_t i = 0; i < supports[0].now.count; i++) {
    largest = noli_larger(largest, noli_norm3(supports[0].now.data[i].force));
  }
  for (int64_t i = 0; i < supports[0].now.count; i++) {
    const NoliSupport *want = &supports[0].now.data[i], *got = &supports[1].now.data[i];
    print_message("body %d by %d: %.3g N\n", (int)want->body, (int)want->by,
                  noli_norm3(want->force));
    assert_true(got->body == want->body && got->by == want->by);
    ASSERT_NEAR(noli_norm3(noli_sub3(got->force, want->force)), 0.0, 1e-4 * largest);
    assert_all_have(&together, &got->force, sizeof got->force);
  }
  // the floor and the plate of both, the wall, the half-space and the held side
  assert_int_equal(supports[0].now.count, 7);
  for (int w = 0; w < 2; w++) {
    noli_supports_free(world[w]->context, &supports[w]);
    world_done(world[w]);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(imbalance_of_every_body_is_that_of_one_rank),
      cmocka_unit_test(steps_end_as_on_one_rank),
      cmocka_unit_test(supports_are_those_of_one_rank),
  };
  return run_on_ranks(&ranks, tests, sizeof tests / sizeof *tests);
}
