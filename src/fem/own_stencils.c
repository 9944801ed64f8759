#include "fem/own_stencils.h"

#include <string.h>

// ---- lists --------------------------------------------------------------------------------------

// Stencils of which some are chosen.
typedef struct Choice {
  const bool* mine;       // by elements
  const int32_t* element; // (n x 2) of stencils; NULL: they are those of the elements
  const double* with;     // (n) only those where this is positive are in the list; NULL: all
  const int32_t* node;    // (n x size)
  int64_t n;
  int32_t size;
} Choice;

static bool exists(const Choice* choice, int64_t s) {
  return choice->with == NULL || choice->with[s] > 0.0;
}

static bool is_chosen(const Choice* choice, int64_t s) {
  return exists(choice, s) && choice->mine[choice->element != NULL ? choice->element[2 * s] : s];
}

static NoliStatus list(NoliContext* context, const Choice* choice, NoliOwnStencils* own) {
  NoliStatus status = NOLI_OK;
  int64_t n = 0, number = 0;
  for (int64_t s = 0; s < choice->n; s++) {
    n += is_chosen(choice, s) ? 1 : 0;
  }
  NOLI_NEW(context, own->number, n);
  NOLI_NEW(context, own->node, n * choice->size);
  for (int64_t s = 0; s < choice->n; s++) {
    if (is_chosen(choice, s)) {
      own->number[own->n] = number;
      memcpy(own->node + own->n++ * choice->size, choice->node + s * choice->size,
             (size_t)choice->size * sizeof *own->node);
    }
    number += exists(choice, s) ? 1 : 0;
  }
done:
  return status;
}

NoliStatus noli_own_stencils_list(NoliBlock* block) {
  NoliStatus status = NOLI_OK;
  if (block->mine == NULL) {
    return NOLI_OK;
  }
  Choice elements = {
      .mine = block->mine, .node = block->node, .n = block->n_element, .size = block->n_local};
  NOLI_TRY(list(block->context, &elements, &block->own[NOLI_PART_ELEMENTS]));
  if (block->type->bending != NULL) {
    NoliBlockStencils stencils = block->type->bending(block);
    Choice bending = {.mine = block->mine,
                      .element = stencils.element,
                      .node = stencils.node,
                      .n = stencils.n,
                      .size = stencils.size};
    NOLI_TRY(list(block->context, &bending, &block->own[NOLI_PART_BENDING]));
  }
  if (block->type->damping->of_damped) {
    elements.with = block->damping_time;
    NOLI_TRY(list(block->context, &elements, &block->own_damped));
  }
done:
  return status;
}

static void free_list(NoliContext* context, NoliOwnStencils* own) {
  noli_free(context, own->number);
  noli_free(context, own->node);
  *own = (NoliOwnStencils){0};
}

void noli_own_stencils_free(NoliBlock* block) {
  noli_free(block->context, block->mine);
  block->mine = NULL;
  for (int part = 0; part < NOLI_BLOCK_PARTS; part++) {
    free_list(block->context, &block->own[part]);
  }
  free_list(block->context, &block->own_damped);
}

// ---- terms --------------------------------------------------------------------------------------

// Runs of stencils that follow one another in the list are evaluated at once.
static void own_stencils_evaluate(const NoliBlockEnergy* energy, const NoliOwnStencils* own,
                                  int32_t size, const double* x, int64_t begin, int64_t end,
                                  unsigned what, const NoliLocal* out) {
  for (int64_t s = begin, next; s < end; s = next) {
    int64_t number = own->number[s];
    for (next = s + 1; next < end && own->number[next] == number + next - s;) {
      next++;
    }
    NoliLocal there = noli_local_at(out, size, s - begin);
    energy->of_any(energy, x, number, number + next - s, what, &there);
  }
}

static void evaluate_part(const void* data, const double* x, int64_t begin, int64_t end,
                          unsigned what, const NoliLocal* out) {
  const NoliBlockEnergy* energy = data;
  const NoliBlock* block = energy->block;
  bool bending = energy->part == NOLI_PART_BENDING;
  int32_t size = bending ? block->type->bending(block).size : block->n_local;
  own_stencils_evaluate(energy, &block->own[energy->part], size, x, begin, end, what, out);
}

static void evaluate_damped(const void* data, const double* x, int64_t begin, int64_t end,
                            unsigned what, const NoliLocal* out) {
  const NoliBlockEnergy* energy = data;
  own_stencils_evaluate(energy, &energy->block->own_damped, energy->block->n_local, x, begin, end,
                        what, out);
}

static NoliEnergyTerm own_stencils_keep(NoliBlockEnergy* energy, const NoliOwnStencils* own,
                                        NoliTermFn* some, NoliEnergyTerm term) {
  if (energy->block->mine == NULL || term.n_stencil == 0) {
    return term;
  }
  energy->of_any = term.evaluate;
  term.evaluate = some;
  term.n_stencil = own->n;
  term.node = own->node;
  term.divided = true;
  return term;
}

NoliEnergyTerm noli_own_stencils_of(NoliBlockEnergy* energy, NoliEnergyTerm term) {
  return own_stencils_keep(energy, &energy->block->own[energy->part], evaluate_part, term);
}

NoliEnergyTerm noli_own_stencils_of_damping(NoliBlockEnergy* energy, NoliEnergyTerm term) {
  const NoliBlock* block = energy->block;
  return block->type->damping->of_damped
             ? own_stencils_keep(energy, &block->own_damped, evaluate_damped, term)
             : noli_own_stencils_of(energy, term);
}
