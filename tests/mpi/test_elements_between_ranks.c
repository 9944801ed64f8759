// Elements that are divided among ranks, on as many as mpirun starts (tests/scripted.cmake: three):
// each rank simulates a scene with the others and, beside it, alone, and both have the same
// results.
#include "mpi/world_on_ranks.h"
#include "step/kinds.h"

#include "base/ranks.h"
#include "output/frames/proxy_cells.h"
#include "step/rank_contacts.h"

#include <float.h>
#include <limits.h>

enum {
  CELLS = 4,
  N_ELEMENT = 6 * CELLS * CELLS * CELLS, // of a block
  AT_NODE = 24,                          // most elements that share a node
  LOWER = 0,
  UPPER = 1
};

static NoliRanks* ranks;
static TestMemory memory; // of simulations together

// Two blocks with damping that spin apart; the upper one has parts. Face on face they would amplify
// rounding: on one rank, 1e-15 of the vertices moves others by 6e-8.
typedef struct Pair {
  World world;
  NoliPartDef part;
  int32_t element[N_ELEMENT];
} Pair;

static void pair_define(Pair* pair, bool together) {
  World* world = &pair->world;
  *world = world_new(1);
  if (together) {
    NoliContextDef def = noli_default_context_def();
    def.ranks = ranks;
    def.allocate = test_allocate;
    def.release = test_release;
    def.allocator_user = &memory;
    test_context_done(&world->context);
    ASSERT_OK(noli_context_create(&def, &world->context));
  }
  for (int32_t b = 0; b < 2; b++) {
    NoliMesh* mesh = NULL;
    ASSERT_OK(noli_mesh_make_box(world->context, (double[]){0.2, 0.2, 0.2},
                                 (int32_t[]){CELLS, CELLS, CELLS}, false, &mesh));
    world_add(world, mesh, (double[]){0.01 * b, 0.1005 + 0.201 * b, 0.0});
    world->body[b].material.young = 1e5;
    world->body[b].material.damping = b == UPPER ? 0.0 : 1e-3;
  }
  world_add_plane(world, (double[]){0, 0, 0}, (double[]){0, 1, 0});

  // every third element of the upper one is stiffer and damped
  pair->part =
      (NoliPartDef){.element = pair->element, .material = noli_default_body_def().material};
  pair->part.material.young = 4e5;
  pair->part.material.damping = 2e-3;
  for (int32_t t = 0; t < N_ELEMENT; t += 3) {
    pair->element[pair->part.n_element++] = t;
  }
  world->body[UPPER].parts = &pair->part;
  world->body[UPPER].n_parts = 1;
  world->body[UPPER].velocity[1] = 1.0;
  world->body[UPPER].angular_velocity[0] = 5.0;
  world->body[LOWER].angular_velocity[1] = 5.0;
  world->def.gravity[1] = 0.0;
  world->def.integrator = "trapezoidal";
  world->def.time_step = 0.005;
  world->def.friction = 0.3;
  // sums differ by rounding, and so may the number of iterations: the last one must be negligible
  world->def.tolerance = (NoliScaled){1e-8, true};
}

static Pair* pair_start(bool together, int32_t n_steps) {
  Pair* pair = calloc(1, sizeof *pair);
  pair_define(pair, together);
  world_start(&pair->world);
  for (int32_t i = 0; i < n_steps; i++) {
    world_step(&pair->world);
  }
  return pair;
}

static void pair_done(Pair* pair) {
  world_done(&pair->world);
  free(pair);
}

// Two sums of n positive numbers in different orders are within n - 1 roundings of their size each,
// n epsilon of each other.
static double reordered(int32_t n) {
  return n * DBL_EPSILON;
}

// ---- what is held -------------------------------------------------------------------------------

static void each_rank_holds_its_share(void** state) {
  (void)state;
  Pair *alone = pair_start(false, 0), *together = pair_start(true, 0);
  const NoliModel *one = alone->world.sim->model, *other = together->world.sim->model;
  const NoliBlock *whole = &one->problem.block[0], *own = &other->problem.block[0];
  NoliContext* context = together->world.context;
  int32_t n_rank = noli_rank_count(context);
  assert_true(own->divided == (n_rank > 1) && !whole->divided);
  assert_int_equal(whole->n_element, 2 * N_ELEMENT);
  assert_in_range(own->n_element, 2 * N_ELEMENT / n_rank - 1, 2 * N_ELEMENT / n_rank + 1);

  // the first one has the corners of all
  const int32_t* corner = noli_sim_tets(together->world.sim);
  if (noli_rank(context) == 0) {
    assert_memory_equal(corner, one->tet, 8 * N_ELEMENT * sizeof *corner);
  } else {
    assert_null(corner);
  }

  // with the nodes and materials that they have in the whole
  double* held = calloc(2 * N_ELEMENT, sizeof *held);
  for (int32_t b = 0; b < 2; b++) {
    NoliBlockRange range = other->problem.range[b];
    for (int32_t t = range.begin; t < range.end; t++) {
      int32_t there = noli_block_number(own, t);
      held[there] += 1.0;
      assert_int_equal(noli_block_find(own, there), t);
      assert_memory_equal(own->node + 4 * (int64_t)t, whole->node + 4 * (int64_t)there,
                          4 * sizeof *own->node);
      assert_true(own->lame_mu[t] == whole->lame_mu[there]);
      assert_true(own->damping_time[t] == whole->damping_time[there]);
      assert_int_equal(noli_model_cell(other, b, t), noli_model_cell(one, b, there));
    }
  }
  // each on one rank
  ASSERT_OK(noli_ranks_sum(context, held, 2 * N_ELEMENT));
  for (int32_t t = 0; t < 2 * N_ELEMENT; t++) {
    assert_true(held[t] == 1.0);
  }
  free(held);

  // and the same masses
  assert_alike(other->problem.inertia.mass, one->problem.inertia.mass, one->problem.n_vert,
               reordered(AT_NODE));
  // the root of a ratio of two sums
  ASSERT_NEAR(other->problem.inertia.static_time / one->problem.inertia.static_time, 1.0,
              reordered(2 * N_ELEMENT));
  assert_true(noli_problem_is_damped(&other->problem));
  pair_done(alone);
  pair_done(together);
}

// The same mesh with vertices and cells in another order: steps of a number without a common
// divisor.
static NoliMesh* shuffled(NoliContext* context, NoliMesh* mesh) {
  NoliMesh* other = NULL;
  int64_t n_vert = mesh->n_vert, n_tet = mesh->n_tet;
  ASSERT_OK(noli_mesh_create(context, mesh->n_vert, mesh->n_tet, 0, 0, 0, false, &other));
  for (int64_t i = 0; i < n_vert; i++) {
    memcpy(other->x + 3 * (i * 47 % n_vert), mesh->x + 3 * i, 3 * sizeof *mesh->x);
  }
  for (int64_t i = 0; i < 4 * n_tet; i++) {
    other->tet[4 * (i / 4 * 131 % n_tet) + i % 4] = (int32_t)(mesh->tet[i] * INT64_C(47) % n_vert);
  }
  noli_mesh_destroy(context, &mesh);
  return other;
}

// Every rank counts the nodes of its elements; what they have in common is as little as where two
// planes of the mesh meet, and rows belong to ranks that have most of the elements around.
static void ranks_have_few_nodes_in_common(void** state) {
  (void)state;
  World world = world_new(1);
  NoliContextDef def = noli_default_context_def();
  def.ranks = ranks;
  test_context_done(&world.context);
  ASSERT_OK(noli_context_create(&def, &world.context));
  enum { ACROSS = 9 };
  NoliMesh* mesh = NULL;
  ASSERT_OK(noli_mesh_make_box(world.context, (double[]){0.2, 0.2, 0.2},
                               (int32_t[]){ACROSS, ACROSS, ACROSS}, false, &mesh));
  world_add(&world, shuffled(world.context, mesh), (double[]){0, 0, 0});
  world_start(&world);
  const NoliProblem* problem = &world.sim->model->problem;
  const NoliBlock* own = &problem->block[0];
  int32_t rank = noli_rank(world.context), n_rank = noli_rank_count(world.context);
  int32_t n_node = problem->n_node;
  double* around = calloc((size_t)(n_node * n_rank), sizeof *around);
  for (int64_t i = 0; i < 4 * (int64_t)own->n_element; i++) {
    around[own->node[i] * n_rank + rank] += 1.0;
  }
  ASSERT_OK(noli_ranks_sum(world.context, around, (int64_t)n_node * n_rank));
  int32_t shared = 0;
  for (int32_t i = 0; i < n_node; i++) {
    const double* here = around + (int64_t)i * n_rank;
    double most = 0.0;
    for (int32_t r = 0; r < n_rank; r++) {
      shared += here[r] > 0.0 ? 1 : 0;
      most = noli_larger(most, here[r]);
    }
    shared -= 1;
    assert_true(most > 0.0 && (n_rank == 1 || here[problem->ranks.owner[i]] == most));
  }
  assert_in_range(shared, 0, 3 * (n_rank - 1) * (ACROSS + 1) * (ACROSS + 1) / 2);
  free(around);
  world_done(&world);
}

// ---- rows ---------------------------------------------------------------------------------------

// Unknown nodes are numbered rank by rank, in their order.
static void rows_follow_their_owners(void** state) {
  (void)state;
  enum { N = 40 };
  NoliContextDef def = noli_default_context_def();
  def.ranks = ranks;
  NoliContext* context = NULL;
  ASSERT_OK(noli_context_create(&def, &context));
  NoliFollowers followers = {.n_node = N};
  NoliSystem system;
  ASSERT_OK(noli_system_create(context, &followers, N, 1, &system));
  int32_t n_rank = noli_rank_count(context), owner[N];
  bool unknown[N];
  for (int32_t i = 0; i < N; i++) {
    unknown[i] = i % 5 != 2;
    owner[i] = i * 7 % n_rank;
  }
  for (int32_t given = 0; given < 2; given++) {
    ASSERT_OK(noli_system_number(&system, unknown, given ? owner : NULL, 0));
    assert_int_equal(system.n_dof, 4 * N / 5);
    assert_int_equal(system.rank_row[0], 0);
    assert_int_equal(system.rank_row[n_rank], system.n_dof);
    int32_t next = 0;
    for (int32_t r = 0; r < n_rank; r++) {
      for (int32_t i = 0; i < N; i++) {
        bool here = unknown[i] && (given ? owner[i] == r : r == 0);
        if (here) {
          assert_int_equal(system.dof[i], next++);
        }
        assert_true(unknown[i] || system.dof[i] == NOLI_NULL_INDEX);
      }
      int64_t end = given ? next : (int64_t)system.n_dof * (r + 1) / n_rank;
      assert_int_equal(system.rank_row[r + 1], end);
    }
  }
  noli_system_destroy(&system);
  test_context_done(&context);
}

// ---- results ------------------------------------------------------------------------------------

typedef struct Results {
  double* x;
  NoliStress* stress;
  NoliStress* nodal;
  double* mises;
  double* elastic;
  double* force;
  NoliEnergies energies;
  NoliBodyState body[2];
  double loss;
} Results;

static Results results_of(Pair* pair) {
  NoliSim* sim = pair->world.sim;
  size_t n_vert = (size_t)noli_sim_vertex_count(sim), n_tet = (size_t)noli_sim_tet_count(sim);
  Results r = {.x = malloc(3 * n_vert * sizeof *r.x),
               .stress = malloc(n_tet * sizeof *r.stress),
               .nodal = malloc(n_vert * sizeof *r.nodal),
               .mises = malloc(n_tet * sizeof *r.mises),
               .elastic = malloc(n_vert * sizeof *r.elastic),
               .force = calloc(3 * n_vert, sizeof *r.force),
               .loss = pair->world.report.damping_loss};
  memcpy(r.x, noli_sim_positions(sim), 3 * n_vert * sizeof *r.x);
  ASSERT_OK(noli_sim_stresses(sim, r.stress));
  ASSERT_OK(noli_sim_nodal_stresses(sim, r.nodal));
  ASSERT_OK(noli_sim_von_mises(sim, r.mises));
  ASSERT_OK(noli_sim_nodal_energies(sim, NULL, r.elastic, NULL));
  ASSERT_OK(noli_sim_energies(sim, &r.energies));
  ASSERT_OK(noli_stage_add_forces(sim->stage, NOLI_ROLE_ELASTIC, r.force));
  for (int32_t b = 0; b < 2; b++) {
    ASSERT_OK(noli_sim_body_state(sim, b, &r.body[b]));
  }
  return r;
}

static void results_free(Results* r) {
  free(r->x);
  free(r->stress);
  free(r->nodal);
  free(r->mises);
  free(r->elastic);
  free(r->force);
}

static void results_are_those_of_one_rank(void** state) {
  (void)state;
  Pair *alone = pair_start(false, 2), *together = pair_start(true, 2);
  Results one = results_of(alone), other = results_of(together);
  int64_t n_vert = noli_sim_vertex_count(alone->world.sim);
  int64_t n_tet = noli_sim_tet_count(alone->world.sim);
  int64_t of_stress = (int64_t)(sizeof(NoliStress) / sizeof(double));
  assert_alike(other.x, one.x, 3 * n_vert, 1e-10);
  assert_alike((double*)other.stress, (double*)one.stress, of_stress * n_tet, 1e-6);
  assert_alike((double*)other.nodal, (double*)one.nodal, of_stress * n_vert, 1e-6);
  assert_alike(other.mises, one.mises, n_tet, 1e-6);
  assert_alike(other.elastic, one.elastic, n_vert, 1e-6);
  assert_alike(other.force, one.force, 3 * n_vert, 1e-6);
  assert_alike(&other.energies.elastic, &one.energies.elastic, 1, 1e-6);
  assert_alike(&other.loss, &one.loss, 1, 1e-6);
  for (int32_t b = 0; b < 2; b++) {
    assert_alike(&other.body[b].rest_volume, &one.body[b].rest_volume, 1, reordered(N_ELEMENT));
  }

  // the model is the same for saved states, too
  size_t size = noli_sim_state_bytes(alone->world.sim);
  void* saved = malloc(size);
  assert_int_equal(noli_sim_state_bytes(together->world.sim), size);
  ASSERT_OK(noli_sim_save_state(alone->world.sim, saved, size));
  ASSERT_OK(noli_sim_load_state(together->world.sim, saved, size));
  free(saved);
  results_free(&one);
  results_free(&other);
  pair_done(alone);
  pair_done(together);
}

// Vertices of a finer surface lie in elements that may be those of another rank.
static void surfaces_find_the_elements_of_all_ranks(void** state) {
  (void)state;
  int32_t* element[2] = {NULL, NULL};
  int32_t n_tri = 0;
  for (int32_t k = 0; k < 2; k++) {
    Pair* pair = calloc(1, sizeof *pair);
    pair_define(pair, k > 0);
    pair->world.body[UPPER].proxy.kind = "subdivision";
    pair->world.body[UPPER].proxy.subdivision = 2;
    world_start(&pair->world);
    const NoliModel* model = pair->world.sim->model;
    const NoliSurface* surface = model->problem.surface;
    int32_t first = surface->tri_first[UPPER];
    n_tri = surface->tri_first[UPPER + 1] - first;
    element[k] = calloc(3 * (size_t)n_tri, sizeof *element[k]);
    // the first rank looks for all
    if (model->tet != NULL) {
      ASSERT_OK(noli_proxy_cells_find(pair->world.context, model, UPPER, n_tri,
                                      surface->tri + 3 * (int64_t)first, element[k]));
    }
    pair_done(pair);
  }
  assert_int_equal(n_tri, 4 * 12 * CELLS * CELLS);
  if (noli_ranks_rank(ranks) == 0) {
    assert_memory_equal(element[1], element[0], 3 * (size_t)n_tri * sizeof *element[0]);
  }
  free(element[0]);
  free(element[1]);
}

// ---- elements of all kinds ----------------------------------------------------------------------

static World kinds_start(bool together, bool plate, int32_t n_steps) {
  World world = world_on_ranks(ranks, together);
  kinds_add(&world, plate);
  world_start(&world);
  for (int32_t i = 0; i < n_steps; i++) {
    world_step(&world);
  }
  return world;
}

// Blocks of the Hessians of the stencils that this rank has of a list.
static double work_of(const NoliOwnStencils* own, int32_t size) {
  return (double)own->n * noli_stencil_blocks(size);
}

// Every stencil is on one rank, ranks have about the same work, and rows belong to ranks that have
// most of the elements around.
static void each_stencil_is_on_one_rank(void** state) {
  (void)state;
  World world = kinds_start(true, true, 0);
  const NoliProblem* problem = &world.sim->model->problem;
  int32_t rank = noli_rank(world.context), n_rank = noli_rank_count(world.context);
  assert_int_equal(problem->n_block, 5);
  assert_true(problem->ranks.in_parts == (n_rank > 1));
  double work[2] = {0.0, 0.0}; // of this rank, of all
  double* around = calloc((size_t)problem->n_node * (size_t)n_rank, sizeof *around);
  for (int32_t i = 0; i < problem->n_block && n_rank > 1; i++) {
    const NoliBlock* block = &problem->block[i];
    assert_true(!block->divided && block->mine != NULL); // solids have a history
    for (int part = 0; part < NOLI_BLOCK_PARTS; part++) {
      NoliBlockStencils all = noli_block_stencils(block, (NoliBlockPart)part);
      const NoliOwnStencils* own = &block->own[part];
      double* count = calloc((size_t)all.n + 1, sizeof *count);
      for (int64_t s = 0; s < own->n; s++) {
        count[own->number[s]] += 1.0;
      }
      ASSERT_OK(noli_ranks_sum(world.context, count, all.n));
      for (int64_t s = 0; s < all.n; s++) {
        assert_true(count[s] == 1.0);
      }
      free(count);
      bool inertia = part == NOLI_PART_ELEMENTS && block->type->inertia != NULL;
      work[0] += all.n > 0 ? work_of(own, all.size) * (inertia ? 2.0 : 1.0) : 0.0;
    }
    const NoliOwnStencils* own = &block->own[NOLI_PART_ELEMENTS];
    for (int64_t k = 0; k < own->n * block->n_local; k++) {
      around[(int64_t)own->node[k] * n_rank + rank] += 1.0;
    }
  }
  work[1] = work[0];
  ASSERT_OK(noli_ranks_sum(world.context, &work[1], 1));
  ASSERT_OK(noli_ranks_sum(world.context, around, (int64_t)problem->n_node * n_rank));
  for (int32_t i = 0; i < problem->n_node && n_rank > 1; i++) {
    const double* here = around + (int64_t)i * n_rank;
    double most = 0.0;
    for (int32_t r = 0; r < n_rank; r++) {
      most = fmax(most, here[r]);
    }
    assert_true(here[problem->ranks.owner[i]] == most);
  }
  // bending at the ends of bodies is counted as in the middle
  ASSERT_NEAR(work[0] * n_rank, work[1], 0.1 * work[1]);
  free(around);
  world_done(&world);
}

static void assert_same_on_all(NoliContext* context, const double* value, int64_t n) {
  double* first = malloc((size_t)n * sizeof *first);
  memcpy(first, value, (size_t)n * sizeof *first);
  ASSERT_OK(noli_ranks_broadcast(context, 0, sizeof *first, first, n));
  assert_memory_equal(first, value, (size_t)n * sizeof *first);
  free(first);
}

static void kinds_agree_with_one_rank(bool plate) {
  World alone = kinds_start(false, plate, 3), together = kinds_start(true, plate, 3);
  int64_t n_vert = noli_sim_vertex_count(alone.sim), n_tet = noli_sim_tet_count(alone.sim);
  const double* x = noli_sim_positions(together.sim);
  assert_alike(x, noli_sim_positions(alone.sim), 3 * n_vert, 1e-9);
  assert_same_on_all(together.context, x, 3 * n_vert);

  // energies, forces, losses
  NoliEnergies one, other;
  ASSERT_OK(noli_sim_energies(alone.sim, &one));
  ASSERT_OK(noli_sim_energies(together.sim, &other));
  assert_alike(&other.elastic, &one.elastic, 1, 1e-6);
  assert_alike(&other.kinetic, &one.kinetic, 1, 1e-6);
  assert_alike(&together.report.damping_loss, &alone.report.damping_loss, 1, 1e-6);
  double* force[2] = {calloc(3 * (size_t)n_vert, sizeof(double)),
                      calloc(3 * (size_t)n_vert, sizeof(double))};
  ASSERT_OK(noli_stage_add_forces(alone.sim->stage, NOLI_ROLE_ELASTIC, force[0]));
  ASSERT_OK(noli_stage_add_forces(together.sim->stage, NOLI_ROLE_ELASTIC, force[1]));
  assert_alike(force[1], force[0], 3 * n_vert, 1e-6);

  // histories, which every rank has of all elements
  double* strain[2] = {calloc((size_t)n_tet, sizeof(double)),
                       calloc((size_t)n_tet, sizeof(double))};
  ASSERT_OK(noli_sim_plastic_strains(alone.sim, strain[0]));
  ASSERT_OK(noli_sim_plastic_strains(together.sim, strain[1]));
  assert_alike(strain[1], strain[0], n_tet, 1e-6);
  assert_same_on_all(together.context, strain[1], n_tet);
  for (int k = 0; k < 2; k++) {
    free(force[k]);
    free(strain[k]);
  }
  world_done(&alone);
  world_done(&together);
}

static void all_kinds_agree_with_one_rank(void** state) {
  (void)state;
  kinds_agree_with_one_rank(false);
  kinds_agree_with_one_rank(true);
}

// Triangles in an order without any meaning: with the hinges, what ranks have in common is two rows
// of nodes where they meet, and half as much again where that is not straight.
static void cloths_have_few_nodes_in_common(void** state) {
  (void)state;
  enum { CELLS_ACROSS = 30, STEP = 131 };
  World world = world_new(1);
  NoliContextDef def = noli_default_context_def();
  def.ranks = ranks;
  test_context_done(&world.context);
  ASSERT_OK(noli_context_create(&def, &world.context));
  NoliMesh *ordered = NULL, *mesh = NULL;
  ASSERT_OK(noli_mesh_make_sheet(world.context, 1.0, 1.0, CELLS_ACROSS, CELLS_ACROSS, "diagonal",
                                 &ordered));
  int64_t n_tri = ordered->n_tri;
  assert_true(n_tri % STEP != 0);
  ASSERT_OK(
      noli_mesh_create(world.context, ordered->n_vert, 0, ordered->n_tri, 0, 0, false, &mesh));
  memcpy(mesh->x, ordered->x, 3 * (size_t)ordered->n_vert * sizeof *mesh->x);
  for (int64_t i = 0; i < 3 * n_tri; i++) {
    mesh->tri[3 * (i / 3 * STEP % n_tri) + i % 3] = ordered->tri[i];
  }
  noli_mesh_destroy(world.context, &ordered);
  world.body[world_add(&world, mesh, (double[]){0, 0, 0})].shell.thickness = 1e-3;
  world.body[0].material.law = "stvk";
  world_start(&world);

  const NoliProblem* problem = &world.sim->model->problem;
  const NoliBlock* block = &problem->block[0];
  int32_t n_rank = noli_rank_count(world.context);
  double* touched = calloc((size_t)problem->n_node, sizeof *touched);
  for (int part = 0; part < NOLI_BLOCK_PARTS && n_rank > 1; part++) {
    const NoliOwnStencils* own = &block->own[part];
    int32_t size = noli_block_stencils(block, (NoliBlockPart)part).size;
    for (int64_t k = 0; k < own->n * size; k++) {
      touched[own->node[k]] = own->node[k] == NOLI_NULL_INDEX ? 0.0 : 1.0;
    }
  }
  ASSERT_OK(noli_ranks_sum(world.context, touched, problem->n_node));
  double shared = 0.0;
  for (int32_t i = 0; i < problem->n_node && n_rank > 1; i++) {
    assert_true(touched[i] >= 1.0);
    shared += touched[i] - 1.0;
  }
  print_message("%g of %d nodes are of several ranks\n", shared, problem->n_node);
  assert_true(shared <= 1.5 * (n_rank - 1) * 2.0 * (CELLS_ACROSS + 1));
  free(touched);
  world_done(&world);
}

// ---- bounds and messages ------------------------------------------------------------------------

// A vertex is moved through the opposite face of one of its elements, in turn in all parts of the
// blocks.
static void bounds_name_the_same_element(void** state) {
  (void)state;
  Pair *alone = pair_start(false, 0), *together = pair_start(true, 0);
  const NoliModel *one = alone->world.sim->model, *other = together->world.sim->model;
  int64_t n_vert = one->problem.n_vert;
  double* p = malloc(3 * (size_t)n_vert * sizeof *p);
  for (int64_t t = 0; t < 2 * N_ELEMENT; t += 123) {
    const int32_t* tet = one->tet + 4 * t;
    memset(p, 0, 3 * (size_t)n_vert * sizeof *p);
    for (int32_t k = 0; k < 3; k++) {
      p[3 * tet[0] + k] = 2.0 * (one->problem.X[3 * tet[2] + k] - one->problem.X[3 * tet[0] + k]);
    }
    double want, alpha;
    NoliBlockingElement element, same;
    int32_t body, same_body;
    ASSERT_OK(noli_problem_inversion_bound(&one->problem, alone->world.context, one->problem.X, p,
                                           0.1, false, &want, &element));
    ASSERT_OK(noli_problem_inversion_bound(&other->problem, together->world.context,
                                           other->problem.X, p, 0.1, false, &alpha, &same));
    assert_true(want < 1.0 && alpha == want);
    assert_int_equal(same.element, element.element);
    assert_int_equal(noli_model_element(other, same, &same_body),
                     noli_model_element(one, element, &body));
    assert_int_equal(same_body, body);
  }
  free(p);
  pair_done(alone);
  pair_done(together);
}

static void messages_number_elements_in_their_body(void** state) {
  (void)state;
  char message[2][512];
  for (int32_t k = 0; k < 2; k++) {
    Pair* pair = calloc(1, sizeof *pair);
    pair_define(pair, k > 0);
    int32_t* tet = pair->world.mesh[UPPER]->tet + 4 * (N_ELEMENT - 7);
    int32_t first = tet[0];
    tet[0] = tet[1];
    tet[1] = first;
    assert_int_equal(world_create(&pair->world), NOLI_INVERTED_ELEMENT);
    snprintf(message[k], sizeof message[k], "%s", noli_context_message(pair->world.context));
    pair_done(pair);
  }
  assert_string_equal(message[1], message[0]);
}

// Elements of any rank that are turned over are found by all.
static void states_are_refused_for_elements_of_all_ranks(void** state) {
  (void)state;
  Pair *alone = pair_start(false, 0), *together = pair_start(true, 0);
  const NoliModel* model = alone->world.sim->model;
  size_t bytes = 3 * (size_t)model->problem.n_vert * sizeof(double);
  double *x = malloc(bytes), *v = calloc(1, bytes);
  for (int64_t t = 5; t < 2 * N_ELEMENT; t += 97) {
    const int32_t* tet = model->tet + 4 * t;
    memcpy(x, model->x0, bytes);
    for (int32_t k = 0; k < 3; k++) {
      x[3 * tet[0] + k] = 2.0 * x[3 * tet[2] + k] - x[3 * tet[0] + k];
    }
    ASSERT_STATUS(noli_sim_set_state(alone->world.sim, x, v), NOLI_INVERTED_ELEMENT);
    ASSERT_STATUS(noli_sim_set_state(together->world.sim, x, v), NOLI_INVERTED_ELEMENT);
    assert_string_equal(noli_context_message(together->world.context),
                        noli_context_message(alone->world.context));
  }
  ASSERT_OK(noli_sim_set_state(together->world.sim, model->x0, v));
  free(x);
  free(v);
  pair_done(alone);
  pair_done(together);
}

static void contacts_between_ranks_are_counted(void** state) {
  (void)state;
  Pair* pair = calloc(1, sizeof *pair);
  pair_define(pair, true);
  World* world = &pair->world;
  for (int32_t b = 0; b < 2; b++) {
    memset(world->body[b].angular_velocity, 0, sizeof world->body[b].angular_velocity);
  }
  world->body[UPPER].velocity[1] = -0.3; // it falls on the other one
  world_start(world);
  for (int32_t i = 0; i < 3; i++) {
    world_step(world);
  }
  const NoliContactInfo* contact;
  int64_t n_listed, expected = 0;
  NoliRankContacts counted;
  ASSERT_OK(noli_sim_rank_contacts(pair->world.sim, &counted));
  ASSERT_OK(noli_sim_contacts(pair->world.sim, &contact, &n_listed));
  const int32_t* owner = world->sim->model->problem.ranks.owner; // on one rank none
  for (int64_t i = 0; i < n_listed; i++) {
    if (isinf(contact[i].gap)) { // lagged friction alone
      counted.n++;
      continue;
    }
    int32_t least = INT_MAX, most = -1;
    for (int k = 0; k < 4 && contact[i].vertex[k] != NOLI_NULL_INDEX; k++) {
      int32_t own = owner != NULL ? owner[contact[i].vertex[k]] : 0;
      least = own < least ? own : least;
      most = own > most ? own : most;
    }
    expected += most > least ? 1 : 0;
  }
  assert_true(counted.n > 0);
  assert_int_equal(counted.n, n_listed);
  assert_int_equal(counted.n_between, expected);
  // the pair lies on each other, and the ranks have them in turn
  assert_true((counted.n_between > 0) == (noli_rank_count(pair->world.context) > 1));
  pair_done(pair);
}

// A rank that has no memory for the output of a step ends it on all, wherever it is.
static void output_without_memory_ends_on_all(void** state) {
  (void)state;
  Pair* pair = pair_start(true, 2);
  static const char* const fields[] = {"stress", "nodal_von_mises", "contact_pressure"};
  NoliContext* context = pair->world.context;
  NoliRunDef def = noli_default_run_def();
  NoliRun* run = NULL;
  def.directory = "poor_output";
  def.scene_name = "pair";
  def.scene_json = "{}";
  def.replace_unfinished = true;
  def.fields = fields;
  def.n_fields = 3;
  ASSERT_OK(noli_run_open(context, &def, pair->world.sim, &run));
  int32_t poor = noli_rank_count(context) - 1;
  NoliStatus status = NOLI_ERROR_MEMORY;
  int64_t calls = 0;
  while (status == NOLI_ERROR_MEMORY) {
    world_step(&pair->world); // a run takes each step once, also one that it cannot record
    test_refuse(&memory, noli_rank(context) == poor ? calls + 1 : 0);
    status = noli_run_step(run, pair->world.sim);
    test_refuse(&memory, 0);
    calls++;
  }
  ASSERT_OK(status);
  int64_t number[2] = {calls, -calls}; // the same on all: they are not one call apart
  ASSERT_OK(noli_ranks_smallest(context, number, 2));
  assert_true(number[0] == calls && number[1] == -calls);
  print_message("%d requests for memory refused\n", (int)calls - 1);
  assert_true(calls > 10);
  noli_run_close(&run);
  pair_done(pair);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(each_rank_holds_its_share),
      cmocka_unit_test(ranks_have_few_nodes_in_common),
      cmocka_unit_test(rows_follow_their_owners),
      cmocka_unit_test(results_are_those_of_one_rank),
      cmocka_unit_test(each_stencil_is_on_one_rank),
      cmocka_unit_test(all_kinds_agree_with_one_rank),
      cmocka_unit_test(cloths_have_few_nodes_in_common),
      cmocka_unit_test(surfaces_find_the_elements_of_all_ranks),
      cmocka_unit_test(contacts_between_ranks_are_counted),
      cmocka_unit_test(output_without_memory_ends_on_all),
      cmocka_unit_test(bounds_name_the_same_element),
      cmocka_unit_test(messages_number_elements_in_their_body),
      cmocka_unit_test(states_are_refused_for_elements_of_all_ranks),
  };
  return run_on_ranks(&ranks, tests, sizeof tests / sizeof *tests);
}
