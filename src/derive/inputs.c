#include "derive/inputs.h"

int64_t noli_input_elements(const NoliProblem* problem, int32_t n_block) {
  int64_t n = 0;
  for (int32_t i = 0; i < n_block; i++) {
    n += problem->block[i].n_element;
  }
  return n;
}

int64_t noli_input_histories(const NoliProblem* problem, int32_t n_block) {
  int64_t n = 0;
  for (int32_t i = 0; i < n_block; i++) {
    n += problem->block[i].n_history;
  }
  return n;
}

int64_t noli_input_count(const NoliSim* sim, NoliInput input, int32_t n_classes) {
  const NoliProblem* problem = &sim->model->problem;
  const NoliSurface* surface = problem->surface;
  switch (input) {
  case NOLI_INPUT_HISTORY:
    return noli_model_history_size(sim->model);
  case NOLI_INPUT_MASS:
    return problem->n_vert;
  case NOLI_INPUT_DENSITY:
  case NOLI_INPUT_MU:
  case NOLI_INPUT_LAMBDA:
    return noli_input_elements(problem, problem->n_block);
  case NOLI_INPUT_LAW:
    return NOLI_LAW_PARAMETERS * noli_input_elements(problem, problem->n_block);
  case NOLI_INPUT_FIBRE:
    return 2 * noli_input_elements(problem, problem->n_block);
  case NOLI_INPUT_SERIES:
    return 2 * NOLI_PRONY_TERMS * noli_input_elements(problem, problem->n_block);
  case NOLI_INPUT_PART:
    return NOLI_THIN_NUMBERS * (int64_t)sim->model->n_body;
  case NOLI_INPUT_FRICTION:
    return n_classes;
  case NOLI_INPUT_FORCE:
    return sim->model->n_force;
  case NOLI_INPUT_MOTION:
    return NOLI_MOTION_NUMBERS * (int64_t)sim->model->n_motion;
  case NOLI_INPUT_SPRING:
    return NOLI_SPRING_NUMBERS * (int64_t)problem->springs.n;
  case NOLI_INPUT_REGION:
    return NOLI_REGION_NUMBERS * (int64_t)problem->volumes.n_region;
  case NOLI_INPUT_BEGIN:
    return 3 * ((int64_t)problem->n_vert + sim->model->n_force);
  case NOLI_INPUT_TIE:
    return 3 * (int64_t)sim->model->n_tie;
  case NOLI_INPUT_CONTACT:
    return NOLI_CONTACT_NUMBERS;
  case NOLI_INPUT_OFFSET:
    return sim->model->n_entity;
  case NOLI_INPUT_WEIGHT:
    return (int64_t)surface->n_vert + surface->n_edge + surface->n_tri;
  case NOLI_INPUT_SUPPORT:
    return surface->n_vert;
  default:
    return 3 * (int64_t)problem->n_vert;
  }
}

NoliStatus noli_inputs_create(const NoliSim* sim, unsigned wanted, int32_t n_classes,
                              NoliInputs* inputs) {
  NoliStatus status = NOLI_OK;
  *inputs = (NoliInputs){{0}};
  for (int k = 0; k < NOLI_INPUTS; k++) {
    if ((wanted >> k & 1u) != 0) {
      NOLI_NEW_ZERO(sim->context, inputs->value[k], noli_input_count(sim, (NoliInput)k, n_classes));
    }
  }
done:
  return status;
}

void noli_inputs_free(NoliContext* context, NoliInputs* inputs) {
  for (int k = 0; k < NOLI_INPUTS; k++) {
    noli_free(context, inputs->value[k]);
    inputs->value[k] = NULL;
  }
}
