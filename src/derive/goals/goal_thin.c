#include "derive/goals/goal_thin.h"

#include "derive/goals/goal_elements.h"
#include "fem/derivatives/element_derivatives.h"
#include "fem/derivatives/energy_derivatives.h"
#include "fem/derivatives/history_derivatives.h"
#include "math/vec3.h"

// ---- what counts --------------------------------------------------------------------------------

// How often each element of the block counts.
static NoliStatus create_counts(const NoliGoalPlace* place, double** count) {
  NoliStatus status = NOLI_OK;
  NOLI_NEW_ZERO(place->sim->context, *count, noli_goal_block(place)->n_element);
  for (int32_t i = 0; i < noli_goal_element_count(place); i++) {
    (*count)[noli_goal_element(place, i)] += 1.0;
  }
done:
  return status;
}

// The elements of a stencil: one, or two of which each has half.
static int elements_of(const NoliBlockStencils* stencils, int64_t s, int32_t element[2]) {
  bool own = stencils->element == NULL;
  element[0] = own ? (int32_t)s : stencils->element[2 * s];
  element[1] = own ? (int32_t)s : stencils->element[2 * s + 1];
  return element[0] == element[1] ? 1 : 2;
}

static double goal_thin_share_of(const NoliBlockStencils* stencils, int64_t s,
                                 const double* count) {
  int32_t element[2];
  (void)elements_of(stencils, s, element);
  return 0.5 * (count[element[0]] + count[element[1]]);
}

// ---- values -------------------------------------------------------------------------------------

static double part_energy(const NoliGoalPlace* place, NoliBlockPart part, const double* count) {
  const NoliBlock* block = noli_goal_block(place);
  const NoliBlockEnergy energy = {.block = block, .part = part, .scale = 1.0};
  const NoliBlockStencils stencils = noli_block_stencils(block, part);
  double sum = 0.0;
  for (int64_t s = 0; s < stencils.n; s++) {
    double value, share = goal_thin_share_of(&stencils, s, count);
    const NoliLocal out = {.energy = &value};
    if (share > 0.0) {
      stencils.evaluate(&energy, place->x, s, s + 1, NOLI_EVAL_ENERGY, &out);
      sum += share * value;
    }
  }
  return sum;
}

NoliStatus noli_goal_thin_energy(const NoliGoalPlace* place, double* value) {
  NoliStatus status = NOLI_OK;
  double* count = NULL;
  NOLI_TRY(create_counts(place, &count));
  *value =
      part_energy(place, NOLI_PART_ELEMENTS, count) + part_energy(place, NOLI_PART_BENDING, count);
done:
  noli_free(place->sim->context, count);
  return status;
}

// ---- derivatives --------------------------------------------------------------------------------

// By the nodes of a stencil.
static void add_by_nodes(const NoliBlockStencils* stencils, int64_t s, double weight,
                         const double* by, double* to) {
  const int32_t* node = stencils->node + stencils->size * s;
  for (int32_t k = 0; to != NULL && k < stencils->size; k++) {
    if (node[k] != NOLI_NULL_INDEX) {
      double* at = to + 3 * (int64_t)node[k];
      noli_store3(at, noli_mul_add3(noli_load3(at), weight, noli_load3(by + 3 * k)));
    }
  }
}

// By its elements, the first of which has the number `first` among those of all blocks.
static void add_by_moduli(const NoliBlockStencils* stencils, int64_t s, int64_t first,
                          double weight, const NoliEnergyDerivatives* by,
                          NoliGoalDerivatives* derivatives) {
  int32_t element[2];
  int n = elements_of(stencils, s, element);
  double *mu = derivatives->inputs.value[NOLI_INPUT_MU],
         *lambda = derivatives->inputs.value[NOLI_INPUT_LAMBDA];
  for (int e = 0; e < n && mu != NULL; e++) {
    mu[first + element[e]] += weight * by->by_mu[e];
  }
  for (int e = 0; e < n && lambda != NULL; e++) {
    lambda[first + element[e]] += weight * by->by_lambda[e];
  }
}

static void derive_part(const NoliGoalPlace* place, NoliBlockPart part, const double* count,
                        double weight, NoliGoalDerivatives* derivatives) {
  const NoliBlock* block = noli_goal_block(place);
  const NoliBlockStencils stencils = noli_block_stencils(block, part);
  const NoliProblem* problem = &place->sim->model->problem;
  int32_t index = problem->range[place->body].block;
  int64_t first = noli_input_elements(problem, index);
  int64_t first_history = noli_input_histories(problem, index);
  double* numbers = derivatives->inputs.value[NOLI_INPUT_PART];
  int64_t number = NOLI_THIN_NUMBERS * (int64_t)place->body + noli_thin_number(block, part);
  bool framed = part == NOLI_PART_BENDING && noli_block_has_frames(block);

  for (int64_t s = 0; s < stencils.n; s++) {
    double scale = weight * goal_thin_share_of(&stencils, s, count);
    NoliEnergyDerivatives by;
    if (scale == 0.0) {
      continue;
    }
    noli_block_energy_derivatives(block, part, s, problem->X, place->x, &by);
    add_by_nodes(&stencils, s, scale, by.by_x, derivatives->x);
    add_by_nodes(&stencils, s, scale, by.by_rest, derivatives->inputs.value[NOLI_INPUT_REST]);
    add_by_moduli(&stencils, s, first, scale, &by, derivatives);
    if (numbers != NULL) {
      numbers[number] +=
          scale * (number % NOLI_THIN_NUMBERS == NOLI_THIN_RADIUS ? by.by_radius : by.value);
    }
    for (int k = 0; k < 12 && framed && derivatives->history != NULL; k++) {
      derivatives->history[first_history + by.place[k]] += scale * by.by_frame[k];
    }
  }
}

NoliStatus noli_goal_derive_thin_energy(const NoliGoalPlace* place, double weight,
                                        NoliGoalDerivatives* derivatives) {
  NoliStatus status = NOLI_OK;
  double* count = NULL;
  NOLI_TRY(create_counts(place, &count));
  derive_part(place, NOLI_PART_ELEMENTS, count, weight, derivatives);
  derive_part(place, NOLI_PART_BENDING, count, weight, derivatives);
done:
  noli_free(place->sim->context, count);
  return status;
}
