// The history of a block: of the directors of rods, which is a matter of their type, or of
// materials with history (material/history.h), at the points of quadrature of any type.
#include "base/parallel.h"
#include "fem/block.h"
#include "fem/elements.h"

#include <string.h>

enum { ELEMENTS_PER_BLOCK = 64 };

// ---- making -------------------------------------------------------------------------------------

NoliStatus noli_block_reserve_prony(NoliBlock* block, int32_t n) {
  NoliStatus status = NOLI_OK;
  if (block->laws.prony == NULL) {
    NOLI_NEW_ZERO(block->context, block->of_element, block->n_element);
    block->laws.prony = block->of_element;
  }
  NOLI_TRY(noli_grow(block->context, (void**)&block->prony, &block->prony_room,
                     block->prony_room + n, sizeof *block->prony));
done:
  return status;
}

void noli_block_set_prony(NoliBlock* block, int32_t element, const NoliProny* prony) {
  if (prony == NULL || prony->n == 0) {
    block->of_element[element] = NULL;
    return;
  }
  int32_t last = block->n_prony - 1;
  if (last < 0 || memcmp(&block->prony[last], prony, sizeof *prony) != 0) {
    block->prony[++last] = *prony;
    block->n_prony++;
  }
  block->of_element[element] = &block->prony[last];
}

// The material of an element, without a history.
static NoliMaterialPoint material_of(const NoliBlock* block, int32_t element) {
  return (NoliMaterialPoint){
      .law = block->law[element],
      .lame =
          noli_lame_at(block->lame_mu, block->lame_lambda, block->parameter, block->fibre, element),
      .prony = block->laws.prony != NULL ? block->laws.prony[element] : NULL};
}

static bool has_histories(const NoliBlock* block) {
  for (int32_t t = 0; t < block->n_element; t++) {
    NoliMaterialPoint point = material_of(block, t);
    if (noli_history_size(&point) > 0) {
      return true;
    }
  }
  return false;
}

NoliStatus noli_block_create_histories(NoliBlock* block) {
  NoliStatus status = NOLI_OK;
  NoliContext* context = block->context;
  if (!has_histories(block)) {
    return NOLI_OK;
  }
  int32_t n_point = block->type->point_count(block);
  NOLI_NEW(context, block->history_first, (int64_t)block->n_element + 1);
  int64_t* first = block->history_first;
  block->laws.first = first;
  first[0] = 0;
  for (int32_t t = 0; t < block->n_element; t++) {
    NoliMaterialPoint point = material_of(block, t);
    first[t + 1] = first[t] + n_point * (int64_t)noli_history_size(&point);
  }
  block->n_history = first[block->n_element];
  NOLI_NEW(context, block->begun, block->n_history);
  noli_block_start_history(block, NULL, block->begun);
  block->history = block->begun;
  block->laws.value = block->begun;
done:
  return status;
}

void noli_block_start_history(const NoliBlock* block, const double* x, double* history) {
  if (block->laws.first == NULL) {
    if (block->n_history > 0) {
      block->type->start_history(block, x, history);
    }
    return;
  }
  for (int32_t t = 0; t < block->n_element; t++) {
    NoliMaterialPoint point = material_of(block, t);
    int64_t size = noli_history_size(&point);
    for (int64_t i = block->laws.first[t]; i < block->laws.first[t + 1]; i += size) {
      noli_history_start(&point, history + i);
    }
  }
}

// ---- stages -------------------------------------------------------------------------------------

typedef struct Loop {
  const NoliBlock* block;
  const double* x;
  bool ends;
} Loop;

static void take_range(void* user, int64_t begin, int64_t end, int32_t worker) {
  (void)worker;
  const Loop* loop = user;
  const NoliBlock* block = loop->block;
  int32_t n_point = block->type->point_count(block);
  NoliMat3 F[NOLI_ELEMENT_POINTS_MAX];
  for (int64_t t = begin; t < end; t++) {
    int64_t first = block->laws.first[t], size = (block->laws.first[t + 1] - first) / n_point;
    if (size == 0) {
      continue;
    }
    NoliMaterialPoint point = material_of(block, (int32_t)t);
    point.elapsed = block->laws.elapsed;
    block->type->deformation(block, (int32_t)t, loop->x, F);
    for (int32_t q = 0; q < n_point; q++) {
      double *now = block->history + first + q * size, *begun = block->begun + first + q * size;
      point.history = begun;
      if (loop->ends) {
        noli_history_end(&point, &F[q], now);
      } else {
        noli_history_begin(&point, &F[q], now, begun);
      }
    }
  }
}

static void history_take(NoliBlock* block, const double* x, bool ends, int32_t n_threads) {
  Loop loop = {block, x, ends};
  noli_parallel_for(n_threads, block->n_element, ELEMENTS_PER_BLOCK, take_range, &loop);
}

void noli_block_begin_stage(NoliBlock* block, const double* x, double elapsed, int32_t n_threads) {
  if (block->laws.first != NULL) {
    block->laws.elapsed = elapsed;
    block->laws.value = block->begun;
    history_take(block, x, false, n_threads);
  }
}

void noli_block_end_stage(NoliBlock* block) {
  block->laws.elapsed = 0.0;
  block->laws.value = block->history;
}

void noli_block_move_history(NoliBlock* block, const double* x, int32_t n_threads) {
  if (block->laws.first != NULL && block->laws.value == block->begun) {
    history_take(block, x, true, n_threads);
    noli_block_end_stage(block);
  } else if (block->laws.first == NULL && block->n_history > 0) {
    block->type->move_history(block, x, block->history);
  }
}

// ---- results ------------------------------------------------------------------------------------

bool noli_block_yields(const NoliBlock* block) {
  for (int32_t t = 0; block->laws.first != NULL && t < block->n_element; t++) {
    NoliMaterialPoint point = material_of(block, t);
    if (noli_flow_size(&point) > 0) {
      return true;
    }
  }
  return false;
}

double noli_block_mean_volume(const NoliBlock* block, int32_t element) {
  double volume = 0.0;
  if (block->type->point_volume == NULL) {
    return noli_block_rest_volume(block, element, element + 1);
  }
  for (int32_t q = 0; q < block->type->point_count(block); q++) {
    volume += block->type->point_volume(block, element, q);
  }
  return volume;
}

double noli_block_plastic_strain(const NoliBlock* block, int32_t element) {
  NoliMaterialPoint point = material_of(block, element);
  double sum = 0.0;
  if (noli_flow_size(&point) == 0) {
    return 0.0;
  }
  const double* strain = block->history + block->laws.first[element] + NOLI_BRANCH_VALUES;
  for (int32_t q = 0; q < block->type->point_count(block); q++) {
    sum += block->type->point_volume(block, element, q) *
           strain[(int64_t)q * noli_history_size(&point)];
  }
  return sum / noli_block_mean_volume(block, element);
}
