#include "fem/block.h"

#include "base/parallel.h"
#include "fem/own_stencils.h"

#include <math.h>

// The order of the blocks of a problem.
static const NoliBlockType* const types[] = {
    &noli_block_rigid,   //
    &noli_block_tets,    //
    &noli_block_shells,  //
    &noli_block_twisted, //
    &noli_block_rods,    //
    &noli_block_points,  //
    &noli_block_order_n, //
};
enum { N_TYPES = sizeof types / sizeof types[0] };

int32_t noli_block_type_count(void) {
  return N_TYPES;
}

const NoliBlockType* noli_block_type_at(int32_t index) {
  return types[index];
}

const NoliBlockType* noli_block_type_for(const NoliBlockBody* body) {
  int32_t i = 0;
  while (i < N_TYPES - 1 && !types[i]->serves(body)) {
    i++;
  }
  return types[i];
}

int32_t noli_block_find(const NoliBlock* block, int32_t number) {
  if (!block->divided) {
    return number;
  }
  int32_t low = 0, high = block->n_element;
  while (low < high) {
    int32_t middle = low + (high - low) / 2;
    if (block->number[middle] < number) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low < block->n_element && block->number[low] == number ? low : NOLI_NULL_INDEX;
}

bool noli_block_is_damped(const NoliBlock* block) {
  bool any = block->damped_elsewhere;
  for (int32_t e = 0; e < block->n_element; e++) {
    any = any || block->damping_time[e] > 0.0;
  }
  return any;
}

NoliStatus noli_block_create(NoliContext* context, NoliBlock* block) {
  NoliStatus status = NOLI_OK;
  int32_t n_element = block->n_element;
  block->context = context;
  NOLI_NEW(context, block->law, n_element);
  NOLI_NEW(context, block->lame_mu, n_element);
  NOLI_NEW(context, block->lame_lambda, n_element);
  NOLI_NEW(context, block->density, n_element);
  NOLI_NEW(context, block->damping_time, n_element);
done:
  return status;
}

void noli_block_destroy(NoliBlock* block) {
  NoliContext* context = block->context;
  if (context == NULL) {
    return;
  }
  if (block->self != NULL) {
    block->type->destroy(block);
  }
  noli_free(context, block->self);
  noli_own_stencils_free(block);
  noli_free(context, block->number);
  noli_free(context, block->node);
  noli_free(context, block->law);
  noli_free(context, block->lame_mu);
  noli_free(context, block->lame_lambda);
  noli_free(context, block->parameter);
  noli_free(context, block->fibre);
  noli_free(context, block->history_first);
  noli_free(context, block->of_element);
  noli_free(context, block->begun);
  noli_free(context, block->prony);
  noli_free(context, block->density);
  noli_free(context, block->damping_time);
  *block = (NoliBlock){0};
}

NoliBlockStencils noli_block_stencils(const NoliBlock* block, NoliBlockPart part) {
  if (part == NOLI_PART_BENDING) {
    return block->type->bending != NULL ? block->type->bending(block) : (NoliBlockStencils){0};
  }
  if (block->type->elasticity == NULL) {
    return (NoliBlockStencils){0};
  }
  return (NoliBlockStencils){.n = block->n_element,
                             .size = block->n_local,
                             .node = block->node,
                             .damping_time = block->damping_time,
                             .evaluate = block->type->elasticity};
}

double noli_block_rest_volume(const NoliBlock* block, int32_t begin, int32_t end) {
  if (block->type->rest_volume != NULL) {
    return block->type->rest_volume(block, begin, end);
  }
  double volume = 0.0;
  for (int32_t e = begin; e < end; e++) {
    volume += block->type->size(block, e).volume;
  }
  return volume;
}

double noli_block_wave_time_sqr(const NoliBlock* block) {
  if (block->type->wave_time_sqr != NULL) {
    return block->type->wave_time_sqr(block);
  }
  double sum = 0.0;
  for (int32_t e = 0; e < block->n_element; e++) {
    NoliElementSize size = block->type->size(block, e);
    sum += size.volume * block->density[e] * size.length_sqr / size.modulus;
  }
  return sum;
}

double noli_block_frequency_sqr(const NoliBlock* block, int32_t begin, int32_t end,
                                const double* mass) {
  if (block->type->frequency_sqr != NULL) {
    return block->type->frequency_sqr(block, begin, end, mass);
  }
  double largest = 0.0;
  for (int32_t e = begin; e < end; e++) {
    NoliElementSize size = block->type->size(block, e);
    double stiffness = size.modulus * size.volume / size.length_sqr;
    largest = fmax(largest, stiffness / mass[block->node[block->n_local * (int64_t)e]]);
  }
  return largest;
}

// For terms without stencils.
static void evaluate_nothing(const void* data, const double* x, int64_t begin, int64_t end,
                             unsigned what, const NoliLocal* out) {
  (void)data, (void)x, (void)begin, (void)end, (void)what, (void)out;
}

NoliEnergyTerm noli_block_elasticity_term(const NoliBlockEnergy* energy) {
  NoliBlockStencils stencils = noli_block_stencils(energy->block, energy->part);
  return (NoliEnergyTerm){.name = energy->part == NOLI_PART_BENDING ? "bending" : "elasticity",
                          .data = energy,
                          .evaluate = stencils.n > 0 ? stencils.evaluate : evaluate_nothing,
                          .size = stencils.n > 0 ? stencils.size : 1,
                          .n_stencil = stencils.n,
                          .node = stencils.node,
                          .fixed = true,
                          .divided = energy->block->divided};
}

NoliEnergyTerm noli_block_inertia_term(const NoliBlockEnergy* energy) {
  const NoliBlock* block = energy->block;
  NoliTermFn* evaluate = block->type->inertia;
  return (NoliEnergyTerm){.name = "inertia of elements",
                          .data = energy,
                          .evaluate = evaluate != NULL ? evaluate : evaluate_nothing,
                          .size = block->n_local,
                          .n_stencil = evaluate != NULL ? block->n_element : 0,
                          .node = block->node,
                          .fixed = true};
}

enum { ENERGY_BLOCK = 256 };

typedef struct EnergySum {
  const NoliEnergyTerm* term;
  const double* x;
} EnergySum;

static double sum_energy(void* user, int64_t begin, int64_t end, int32_t worker) {
  (void)worker;
  const EnergySum* job = user;
  double energy[ENERGY_BLOCK], sum = 0.0;
  NoliLocal local = {.energy = energy};
  job->term->evaluate(job->term->data, job->x, begin, end, NOLI_EVAL_ENERGY, &local);
  for (int64_t i = 0; i < end - begin; i++) {
    sum += energy[i];
  }
  return sum;
}

double noli_block_elastic_energy(const NoliBlock* block, const double* x, int32_t n_threads) {
  double sum = 0.0;
  for (int part = 0; part < NOLI_BLOCK_PARTS; part++) {
    const NoliBlockEnergy energy = {.block = block, .part = (NoliBlockPart)part, .scale = 1.0};
    const NoliEnergyTerm term = noli_block_elasticity_term(&energy);
    EnergySum job = {&term, x};
    sum += noli_parallel_sum(n_threads, term.n_stencil, ENERGY_BLOCK, sum_energy, &job);
  }
  return sum;
}
