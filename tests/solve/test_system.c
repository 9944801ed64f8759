// The unknowns and equations of a system without a stage: numbering, held components, terms over
// followers, products against the matrix, vectors between nodes and rows.
#include "support.h"

#include "fem/point_terms.h"
#include "solve/system.h"

// Three nodes, of which node 1 is not an unknown, and a vertex that follows nodes 0 and 2.
enum { N_NODE = 3, N_VERT = 4 };

typedef struct World {
  NoliContext* context;
  NoliFollowers followers;
  NoliSystem system;
  int32_t all[N_NODE];
  double mass[N_VERT];
  double x_tilde[3 * N_VERT];
  int32_t spring_node[1];
  double spring_target[3];
  NoliInertia inertia;
  NoliTargetSprings springs;
  NoliEnergyTerm term[2];
  double x[3 * N_VERT];
} World;

static const bool on_vertices[2] = {false, true};

static void world_begin(World* world) {
  *world = (World){.context = test_context(2),
                   .all = {0, 1, 2},
                   .mass = {1.0, 2.0, 4.0, 3.0},
                   .spring_node = {3},
                   .spring_target = {1.0, -1.0, 0.5}};
  ASSERT_OK(noli_followers_begin(world->context, N_NODE, 1, 2, &world->followers));
  world->followers.row[1] = 2;
  world->followers.node[0] = 0;
  world->followers.node[1] = 2;
  world->followers.weight[0] = 0.25;
  world->followers.weight[1] = 0.75;
  ASSERT_OK(noli_followers_finish(world->context, &world->followers));
  ASSERT_OK(noli_system_create(world->context, &world->followers, N_VERT, 2, &world->system));

  // inertia of the nodes, and a spring at the follower
  world->inertia = (NoliInertia){.n = N_NODE,
                                 .node = world->all,
                                 .mass = world->mass,
                                 .x_tilde = world->x_tilde,
                                 .scale = 1.0};
  world->springs = (NoliTargetSprings){.n = 1,
                                       .node = world->spring_node,
                                       .mass = world->mass,
                                       .stiffness = 2.0,
                                       .target = world->spring_target};
  world->term[0] = noli_inertia_term(&world->inertia);
  world->term[1] = noli_target_springs_term(&world->springs);
  TestRandom random = {7};
  for (int i = 0; i < 3 * N_NODE; i++) {
    world->x[i] = test_random(&random, -1.0, 1.0);
  }
  for (int k = 0; k < 3; k++) {
    world->x[9 + k] = 0.25 * world->x[k] + 0.75 * world->x[6 + k];
  }
}

static void world_end(World* world) {
  noli_system_destroy(&world->system);
  noli_followers_destroy(world->context, &world->followers);
  test_context_done(&world->context);
}

static void number(World* world, bool second) {
  const bool unknown[N_VERT] = {true, second, true, false};
  ASSERT_OK(noli_system_number(&world->system, unknown, NULL, 0));
}

// Gradient of inertia and of the spring, which acts on the nodes behind the follower.
static void terms_act_on_the_nodes_behind_followers(void** state) {
  (void)state;
  World world;
  double gradient[3 * N_VERT];
  world_begin(&world);
  number(&world, false);
  assert_int_equal(world.system.n_dof, 2);
  assert_int_equal(world.system.dof[0], 0);
  assert_int_equal(world.system.dof[1], NOLI_NULL_INDEX);
  assert_int_equal(world.system.dof[2], 1);
  ASSERT_OK(noli_system_prepare(&world.system, world.term, on_vertices, 2));
  ASSERT_OK(noli_system_linearize(&world.system, world.x, NOLI_EVAL_HESSIAN, gradient));
  double stiffness = 3.0 * 2.0; // mass of the vertex times k
  for (int k = 0; k < 3; k++) {
    double force = stiffness * (world.x[9 + k] - world.spring_target[k]);
    ASSERT_NEAR(gradient[k], 1.0 * world.x[k] + 0.25 * force, 1e-14);
    ASSERT_NEAR(gradient[6 + k], 4.0 * world.x[6 + k] + 0.75 * force, 1e-14);
  }
  // rows 0 and 1: m + k w w^T
  const NoliBlockMatrix* matrix = noli_system_matrix(&world.system);
  assert_int_equal(matrix->n, 2);
  assert_int_equal(matrix->nnz, 3);
  const double want[3] = {1.0 + stiffness * 0.0625, stiffness * 0.1875, 4.0 + stiffness * 0.5625};
  for (int b = 0; b < 3; b++) {
    for (int i = 0; i < 9; i++) {
      ASSERT_NEAR(matrix->value[9 * b + i], i % 4 == 0 ? want[b] : 0.0, 1e-14);
    }
  }
  world_end(&world);
}

static void products_are_those_of_the_matrix(void** state) {
  (void)state;
  World world;
  double p[3 * N_VERT] = {1.0, 2.0, 3.0, 0.0, 0.0, 0.0, -1.0, 0.5, 2.0}, y[3 * N_VERT];
  world_begin(&world);
  number(&world, false);
  ASSERT_OK(noli_system_prepare(&world.system, world.term, on_vertices, 2));
  ASSERT_OK(noli_system_linearize(&world.system, world.x, NOLI_EVAL_HESSIAN, NULL));
  NoliProduct product = {.what = NOLI_EVAL_HESSIAN, .p = p};
  ASSERT_OK(noli_system_multiply(&world.system, world.x, &product, y));
  for (int k = 0; k < 3; k++) {
    double follower = 6.0 * (0.25 * p[k] + 0.75 * p[6 + k]);
    ASSERT_NEAR(y[k], p[k] + 0.25 * follower, 1e-14);
    ASSERT_NEAR(y[6 + k], 4.0 * p[6 + k] + 0.75 * follower, 1e-14);
  }
  world_end(&world);
}

// The matrix keeps its pattern, and with it the analysis of a solver, as long as nothing changes.
static void numbers_are_kept_while_nothing_changes(void** state) {
  (void)state;
  World world;
  world_begin(&world);
  uint64_t pattern[4];
  for (int round = 0; round < 4; round++) {
    number(&world, round == 3);
    ASSERT_OK(noli_system_prepare(&world.system, world.term, on_vertices, 2));
    ASSERT_OK(noli_system_linearize(&world.system, world.x, NOLI_EVAL_HESSIAN, NULL));
    pattern[round] = (uint64_t)noli_system_matrix(&world.system)->pattern_id;
  }
  assert_true(pattern[0] == pattern[1] && pattern[1] == pattern[2]);
  assert_true(pattern[3] != pattern[2]);
  assert_int_equal(world.system.n_dof, 3);
  world_end(&world);
}

static void vectors_go_to_rows_and_back(void** state) {
  (void)state;
  World world;
  double nodes[3 * N_VERT], rows[3 * N_VERT], back[3 * N_VERT];
  world_begin(&world);
  number(&world, false);
  for (int i = 0; i < 3 * N_VERT; i++) {
    nodes[i] = i + 1.0;
  }
  noli_system_to_rows(&world.system, -2.0, nodes, rows);
  noli_system_to_nodes(&world.system, rows, back);
  for (int i = 0; i < 3 * N_VERT; i++) {
    bool unknown = i / 3 == 0 || i / 3 == 2;
    ASSERT_NEAR(back[i], unknown ? -2.0 * nodes[i] : 0.0, 0.0);
  }

  // norms cover the unknowns only, and a NaN is kept among larger numbers
  nodes[4] = 1e300;
  nodes[10] = (double)NAN;
  ASSERT_NEAR(noli_system_largest(&world.system, nodes), 9.0, 0.0);
  ASSERT_NEAR(noli_system_norm(&world.system, nodes), sqrt(1 + 4 + 9 + 49 + 64 + 81), 1e-13);
  nodes[1] = (double)NAN;
  assert_true(isnan(noli_system_largest(&world.system, nodes)));
  assert_true(isnan(noli_system_norm(&world.system, nodes)));
  world_end(&world);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(terms_act_on_the_nodes_behind_followers),
      cmocka_unit_test(products_are_those_of_the_matrix),
      cmocka_unit_test(numbers_are_kept_while_nothing_changes),
      cmocka_unit_test(vectors_go_to_rows_and_back),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
