// Stencils with followers, expanded to the nodes that these follow, against dense products with W.
#include "support.h"

#include "linalg/expansion.h"

enum { NODES = 15, FOLLOWERS = 10, VERTICES = NODES + FOLLOWERS, STENCILS = 40, SIZE = 6 };

// Followers of 1 to 5 nodes, and W with a row for every vertex.
typedef struct World {
  NoliContext* context;
  TestRandom random;
  NoliFollowers followers;
  double W[VERTICES][NODES];
} World;

static void world_begin(World* world) {
  *world = (World){.context = test_context(1), .random = {21}};
  ASSERT_OK(
      noli_followers_begin(world->context, NODES, FOLLOWERS, 5 * FOLLOWERS, &world->followers));
  int64_t n = 0;
  for (int32_t v = 0; v < NODES; v++) {
    world->W[v][v] = 1.0;
  }
  for (int32_t f = 0; f < FOLLOWERS; f++) {
    // nodes f, f + 1, .. in steps of one, some of which other followers follow too
    double rest = 1.0;
    for (int32_t k = 0; k <= f % 5; k++) {
      world->followers.node[n] = f + k;
      // weights sum to one
      world->followers.weight[n] = k < f % 5 ? test_random(&world->random, -0.5, 1.0) : rest;
      rest -= world->followers.weight[n];
      world->W[NODES + f][f + k] = world->followers.weight[n++];
    }
    world->followers.row[f + 1] = n;
  }
  ASSERT_OK(noli_followers_finish(world->context, &world->followers));
}

static void world_end(World* world) {
  noli_followers_destroy(world->context, &world->followers);
  test_context_done(&world->context);
}

// A term whose gradients and Hessians are tables.
typedef struct Table {
  int32_t node[STENCILS * SIZE];
  int64_t first[STENCILS + 1], first_block[STENCILS + 1];
  double gradient[STENCILS][3 * SIZE];
  double hessian[STENCILS][3 * SIZE][3 * SIZE];
} Table;

static int32_t table_size(const Table* table, int64_t s) {
  return (int32_t)(table->first[s + 1] - table->first[s]);
}

static void evaluate(const void* data, const double* x, int64_t begin, int64_t end, unsigned what,
                     const NoliLocal* out) {
  (void)x;
  const Table* table = data;
  for (int64_t s = begin; s < end; s++) {
    int32_t size = table_size(table, s);
    int64_t first = table->first_block[s] - table->first_block[begin];
    if ((what & NOLI_EVAL_GRADIENT) != 0) {
      memcpy(out->gradient + 3 * (table->first[s] - table->first[begin]), table->gradient[s],
             3 * sizeof(double) * (size_t)size);
    }
    for (int32_t r = 0; r < size && what != NOLI_EVAL_GRADIENT; r++) {
      for (int32_t c = r; c < size; c++) {
        double* block = out->hessian + 9 * (first + noli_stencil_block(size, r, c));
        for (int32_t e = 0; e < 9; e++) {
          block[e] = table->hessian[s][3 * r + e / 3][3 * c + e % 3];
        }
      }
    }
  }
}

// Stencils of 1 to SIZE vertices, nodes and followers; `skew` Hessians have H^T = -H.
static void fill_table(World* world, bool skew, Table* table) {
  *table = (Table){.first = {0}};
  for (int64_t s = 0; s < STENCILS; s++) {
    int32_t size = 1 + (int32_t)(s % SIZE);
    for (int32_t i = 0; i < size; i++) {
      // different vertices, about half of them followers
      table->node[table->first[s] + i] = (int32_t)((7 * s + 4 * i) % VERTICES);
    }
    table->first[s + 1] = table->first[s] + size;
    for (int32_t i = 0; i < 3 * size; i++) {
      table->gradient[s][i] = test_random(&world->random, -1.0, 1.0);
      for (int32_t j = i; j < 3 * size; j++) {
        double value = skew && i == j ? 0.0 : test_random(&world->random, -1.0, 1.0);
        table->hessian[s][i][j] = value;
        table->hessian[s][j][i] = skew ? -value : value;
      }
    }
  }
  noli_stencil_offsets(STENCILS, table->first, table->first_block);
}

// Entry (3 p + i) of W^T g.
static double dense_gradient(const World* world, const Table* table, int64_t s, int32_t p,
                             int32_t i) {
  double sum = 0.0;
  for (int32_t r = 0; r < table_size(table, s); r++) {
    sum += world->W[table->node[table->first[s] + r]][p] * table->gradient[s][3 * r + i];
  }
  return sum;
}

// Entry (3 p + i, 3 q + j) of W^T H W.
static double dense_hessian(const World* world, const Table* table, int64_t s, int32_t p, int32_t i,
                            int32_t q, int32_t j) {
  double sum = 0.0;
  for (int32_t r = 0; r < table_size(table, s); r++) {
    for (int32_t c = 0; c < table_size(table, s); c++) {
      sum += world->W[table->node[table->first[s] + r]][p] *
             table->hessian[s][3 * r + i][3 * c + j] *
             world->W[table->node[table->first[s] + c]][q];
    }
  }
  return sum;
}

static void check_expansion(World* world, const Table* table, unsigned what) {
  NoliEnergyTerm expanded;
  NoliExpansion expansion = {0};

  // expand a term of random values
  NoliEnergyTerm term = {.name = "table",
                         .data = table,
                         .evaluate = evaluate,
                         .n_stencil = STENCILS,
                         .node = table->node,
                         .first = table->first,
                         .first_block = table->first_block};
  double x[3 * VERTICES] = {0.0};
  ASSERT_OK(noli_expansion_build(&expansion, world->context, &world->followers, &term, &expanded));

  // evaluate
  double* gradient = calloc(3 * (size_t)expansion.largest, sizeof *gradient);
  double* hessian = calloc(9 * (size_t)expansion.largest, sizeof *hessian);
  NoliLocal out = {.gradient = malloc(24 * (size_t)expanded.first[STENCILS]),
                   .hessian = malloc(72 * (size_t)expanded.first_block[STENCILS])};
  noli_expansion_evaluate(&expansion, x, 0, STENCILS, what, &out, gradient, hessian);

  // compare with dense products
  for (int64_t s = 0; s < STENCILS; s++) {
    const int32_t* node = expanded.node + expanded.first[s];
    int32_t n = noli_term_size(&expanded, s);
    for (int32_t p = 0; p < n; p++) {
      for (int32_t e = 0; e < 3 && (what & NOLI_EVAL_GRADIENT) != 0; e++) {
        ASSERT_NEAR(out.gradient[3 * (expanded.first[s] + p) + e],
                    dense_gradient(world, table, s, node[p], e), 1e-14);
      }
      for (int32_t q = p; q < n; q++) {
        int64_t block = expanded.first_block[s] + noli_stencil_block(n, p, q);
        for (int32_t e = 0; e < 9; e++) {
          ASSERT_NEAR(out.hessian[9 * block + e],
                      dense_hessian(world, table, s, node[p], e / 3, node[q], e % 3), 1e-14);
        }
      }
    }
  }
  free(gradient);
  free(hessian);
  free(out.gradient);
  free(out.hessian);
  noli_expansion_free(world->context, &expansion);
}

static void gradients_and_hessians(void** state) {
  (void)state;
  static World world;
  static Table table;
  world_begin(&world);
  fill_table(&world, false, &table);
  check_expansion(&world, &table, NOLI_EVAL_GRADIENT | NOLI_EVAL_PROJECTED);
  world_end(&world);
}

static void skew_parts(void** state) {
  (void)state;
  static World world;
  static Table table;
  world_begin(&world);
  fill_table(&world, true, &table);
  check_expansion(&world, &table, NOLI_EVAL_SKEW);
  world_end(&world);
}

// The nodes of expanded stencils are the union of rows of W, ascending, with their weights.
static void nodes_of_stencils(void** state) {
  (void)state;

  // random stencils
  static World world;
  static Table table;
  int32_t node[NOLI_FOLLOWED_NODES_MAX];
  double coefficient[NOLI_FOLLOWED_SIZE_MAX * NOLI_FOLLOWED_NODES_MAX];
  world_begin(&world);
  fill_table(&world, false, &table);

  // compare with the rows of W
  for (int64_t s = 0; s < STENCILS; s++) {
    int32_t size = table_size(&table, s), vertex[4] = {-1, -1, -1, -1};
    size = size < 4 ? size : 4;
    memcpy(vertex, table.node + table.first[s], sizeof *vertex * (size_t)size);
    int32_t n = noli_followers_stencil(&world.followers, 4, vertex, node, coefficient);
    int32_t at = 0;
    for (int32_t p = 0; p < NODES; p++) {
      bool named = false;
      for (int32_t r = 0; r < size; r++) {
        named = named || fabs(world.W[vertex[r]][p]) > 0.0;
      }
      if (named) {
        assert_int_equal(node[at], p);
        for (int32_t r = 0; r < size; r++) {
          ASSERT_NEAR(coefficient[r * n + at], world.W[vertex[r]][p], 0.0);
        }
        at++;
      }
    }
    assert_int_equal(at, n);
  }
  world_end(&world);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(gradients_and_hessians),
      cmocka_unit_test(skew_parts),
      cmocka_unit_test(nodes_of_stencils),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
