// Stencils of some elements of a block: every stencil is one of exactly one rank, and evaluated in
// pieces it has the bits that it has among all.
#include "fem/own_stencils.h"
#include "step/kinds.h"

enum { N_RANK = 3, PIECE = 5 };

// A term of a block, with all stencils.
typedef NoliEnergyTerm AllFn(const NoliBlockEnergy* energy);
typedef NoliEnergyTerm OwnFn(NoliBlockEnergy* energy, NoliEnergyTerm term);

static NoliEnergyTerm all_damping(const NoliBlockEnergy* energy) {
  return energy->block->type->damping->term(energy);
}

typedef struct Values {
  int64_t n;
  double* energy;
  double* gradient;
  double* hessian;
} Values;

static Values values_of(const NoliEnergyTerm* term, int64_t begin, int64_t end, const double* x) {
  int64_t n = end - begin, node = 3 * term->size, block = 9 * noli_stencil_blocks(term->size);
  Values v = {n, calloc((size_t)n + 1, sizeof(double)),
              calloc((size_t)(n * node) + 1, sizeof(double)),
              calloc((size_t)(n * block) + 1, sizeof(double))};
  NoliLocal out = {v.energy, v.gradient, v.hessian};
  term->evaluate(term->data, x, begin, end,
                 NOLI_EVAL_ENERGY | NOLI_EVAL_GRADIENT | NOLI_EVAL_PROJECTED, &out);
  return v;
}

static void values_free(Values* v) {
  free(v->energy);
  free(v->gradient);
  free(v->hessian);
}

static bool is_mine(int32_t element, int32_t rank) {
  return element * 5 / 3 % N_RANK == rank; // alone, and in runs
}

static void begin_rank(NoliBlock* block, int32_t rank) {
  block->mine = noli_alloc(block->context, block->n_element, sizeof *block->mine);
  assert_non_null(block->mine);
  for (int32_t e = 0; e < block->n_element; e++) {
    block->mine[e] = is_mine(e, rank);
  }
  ASSERT_OK(noli_own_stencils_list(block));
}

// The stencils of `own` as the numbers that `list` gives them among those of `all`; counts them.
static void compare(const NoliEnergyTerm* all, const Values* whole, const NoliEnergyTerm* own,
                    const NoliOwnStencils* list, const double* x, int32_t* count) {
  size_t node = (size_t)all->size, block = 9 * (size_t)noli_stencil_blocks(all->size);
  assert_int_equal(own->n_stencil, list->n);
  assert_true(own->divided && own->size == all->size);
  for (int64_t begin = 0; begin < own->n_stencil; begin += PIECE) {
    int64_t end = begin + PIECE < own->n_stencil ? begin + PIECE : own->n_stencil;
    Values some = values_of(own, begin, end, x);
    for (int64_t i = 0; i < some.n; i++) {
      size_t to = (size_t)list->number[begin + i];
      assert_true(begin + i == 0 || list->number[begin + i] > list->number[begin + i - 1]);
      assert_memory_equal(own->node + (begin + i) * all->size, all->node + to * node,
                          node * sizeof *all->node);
      assert_memory_equal(&some.energy[i], &whole->energy[to], sizeof(double));
      assert_memory_equal(some.gradient + 3 * node * (size_t)i, whole->gradient + 3 * node * to,
                          3 * node * sizeof(double));
      assert_memory_equal(some.hessian + block * (size_t)i, whole->hessian + block * to,
                          block * sizeof(double));
      count[to]++;
    }
    values_free(&some);
  }
}

// Returns how many stencils there are.
static int64_t check(NoliBlock* block, NoliBlockEnergy energy, AllFn* list_all, OwnFn* list_own,
                     const double* x) {
  const NoliEnergyTerm all = list_all(&energy);
  Values whole = values_of(&all, 0, all.n_stencil, x);
  int32_t* count = calloc((size_t)all.n_stencil + 1, sizeof *count);
  bool damped = list_all == all_damping && block->type->damping->of_damped;
  assert_ptr_equal(list_own(&energy, all).node, all.node); // alone
  for (int32_t rank = 0; rank < N_RANK; rank++) {
    begin_rank(block, rank);
    const NoliEnergyTerm own = list_own(&energy, list_all(&energy));
    if (all.n_stencil > 0) {
      compare(&all, &whole, &own, damped ? &block->own_damped : &block->own[energy.part], x, count);
      assert_true(own.n_stencil > all.n_stencil / (2 * N_RANK));
    } else {
      assert_int_equal(own.n_stencil, 0);
    }
    noli_own_stencils_free(block);
  }
  for (int64_t s = 0; s < all.n_stencil; s++) {
    assert_int_equal(count[s], 1);
  }
  free(count);
  values_free(&whole);
  return all.n_stencil;
}

static int64_t check_damping(NoliBlock* block, NoliBlockEnergy energy, const double* x) {
  const NoliBlockDamping* damping = block->type->damping;
  int64_t n = damping->size(block, energy.part);
  double* stiffness = calloc((size_t)n + 1, sizeof *stiffness);
  damping->set(block, energy.part, x, 1, stiffness);
  energy.stiffness = stiffness;
  n = check(block, energy, all_damping, noli_own_stencils_of_damping, x);
  free(stiffness);
  return n;
}

// Stencils of bending follow the first of their elements.
static void check_elements(NoliBlock* block) {
  NoliBlockStencils bending = noli_block_stencils(block, NOLI_PART_BENDING);
  begin_rank(block, 1);
  const NoliOwnStencils* own = &block->own[NOLI_PART_BENDING];
  for (int64_t i = 0; i < own->n; i++) {
    assert_true(is_mine(bending.element[2 * own->number[i]], 1));
  }
  noli_own_stencils_free(block);
}

static void check_scene(bool plate) {
  World world = world_new(1);
  kinds_add(&world, plate);
  world_start(&world);
  NoliProblem* problem = &world.sim->own_model->problem;
  size_t n_value = 3 * (size_t)problem->n_vert;
  double *x = malloc(n_value * sizeof *x), *reference = malloc(n_value * sizeof *x);
  TestRandom random = {11};
  for (size_t i = 0; i < n_value; i++) {
    reference[i] = problem->X[i] + test_random(&random, -1e-3, 1e-3);
    x[i] = reference[i] + test_random(&random, -1e-3, 1e-3);
  }
  int32_t n_bending = 0, n_damped = 0, n_inertia = 0;
  for (int32_t i = 0; i < problem->n_block; i++) {
    NoliBlock* block = &problem->block[i];
    int n_part = block->type->bending != NULL ? NOLI_BLOCK_PARTS : NOLI_PART_BENDING;
    for (int part = 0; part < n_part; part++) {
      NoliBlockEnergy energy = {
          .block = block, .part = (NoliBlockPart)part, .scale = 2.0, .reference = reference};
      int64_t n = check(block, energy, noli_block_elasticity_term, noli_own_stencils_of, x);
      assert_true(part == NOLI_PART_BENDING || n == block->n_element);
      n_bending += part == NOLI_PART_BENDING && n > 0 ? 1 : 0;
      n_damped += check_damping(block, energy, x) > 0 ? 1 : 0;
      if (part == NOLI_PART_ELEMENTS) {
        n_inertia += check(block, energy, noli_block_inertia_term, noli_own_stencils_of, x) > 0;
      }
    }
    check_elements(block);
  }
  // solids, shells, twisted rods, rods, order 2
  assert_int_equal(problem->n_block, 5);
  assert_int_equal(n_bending, 3);
  assert_int_equal(n_damped, 5 + 3);
  assert_int_equal(n_inertia, 1);
  assert_true(noli_problem_has_histories(problem));
  free(x);
  free(reference);
  world_done(&world);
}

static void stencils_are_those_of_one_rank(void** state) {
  (void)state;
  check_scene(false);
  check_scene(true);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(stencils_are_those_of_one_rank)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
