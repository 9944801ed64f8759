// The derivatives of the equations of a solve by its inputs, term by term.
#include "derive/solves/sensitivity_solve.h"

#include "fem/derivatives/element_derivatives.h"
#include "fem/derivatives/history_derivatives.h"
#include "fem/derivatives/load_derivatives.h"
#include "math/vec3.h"
#include "step/conditions.h"

#include <string.h>

// Whether a force is an acceleration of a body, of its own block if the mass is consistent.
static bool accelerates(const NoliSensitivity* self, const NoliForce* force) {
  return force->kind == NOLI_FORCE_ACCELERATION && noli_sim_force_acts(force, self->t1);
}

// Adds accelerations to the vector that a consistent mass multiplies.
static void add_accelerations(const NoliSensitivity* self, const NoliBlock* block, double scale,
                              double* z) {
  const NoliModel* model = self->sim->model;
  for (int32_t f = 0; f < model->n_force; f++) {
    const NoliForce* force = &model->force[f];
    bool own = noli_problem_block(&model->problem, force->def.body) == block;
    for (int32_t i = 0; own && accelerates(self, force) && i < force->n_node; i++) {
      double *to = z + 3 * (int64_t)force->node[i], value[3];
      noli_sim_force_value(self->sim, f, i, self->t, value);
      noli_store3(to, noli_mul_add3(noli_load3(to), -scale, noli_load3(value)));
    }
  }
}

// The vector that a consistent mass multiplies in the equations: inertia, drag, gravity and
// accelerations.
static void set_accelerations(const NoliSensitivity* self, const NoliBlock* block, double* z) {
  const NoliStage* stage = self->sim->stage;
  const NoliStageTime* time = &stage->time;
  const double *x = stage->here->x, *gravity = self->sim->model->gravity;
  double h_e_sqr = time->h_e * time->h_e, drag = block->mass_damping * h_e_sqr / time->h_v;
  for (int64_t j = 0; j < 3 * (int64_t)stage->problem->n_vert; j++) {
    z[j] = -h_e_sqr * gravity[j % 3];
    z[j] += time->inertia ? x[j] - time->x_tilde[j] + drag * (x[j] - time->x_hat[j]) : 0.0;
  }
  add_accelerations(self, block, h_e_sqr, z);
}

// Derivatives of shells and rods: both parts of their energies.
static NoliStatus list_thin_derivatives(NoliSensitivity* self, NoliBlock* block, int64_t first) {
  NoliStatus status = NOLI_OK;
  NoliStage* stage = self->sim->stage;
  const NoliProblem* problem = stage->problem;
  for (int32_t part = 0; part < NOLI_BLOCK_PARTS && block->type->elasticity != NULL; part++) {
    NoliBlockEnergy energy = {
        .block = block, .part = (NoliBlockPart)part, .scale = stage->time.h_e * stage->time.h_e};
    if (noli_sensitivity_wants(self, NOLI_INPUT_MU)) {
      NOLI_TRY(noli_element_derivatives_by_thin_moduli(&self->mixed, block, &energy, first,
                                                       problem->X, stage->here->x));
    }
    if (noli_sensitivity_wants(self, NOLI_INPUT_PART)) {
      NOLI_TRY(noli_element_derivatives_by_parts(&self->mixed, block, &energy,
                                                 problem->surface->body, stage->here->x));
    }
    if (noli_sensitivity_wants(self, NOLI_INPUT_REST)) {
      NOLI_TRY(noli_element_derivatives_by_rest(&self->mixed, block, &energy, problem->X,
                                                stage->here->x));
    }
  }
done:
  return status;
}

// `first`, `first_history`: the place of its elements and of its histories among those of all
// blocks.
static NoliStatus list_block_derivatives(NoliSensitivity* self, NoliBlock* block, int64_t first,
                                         int64_t first_history) {
  NoliStatus status = NOLI_OK;
  NoliStage* stage = self->sim->stage;
  const double *X = stage->problem->X, *x = stage->here->x;
  double h_e_sqr = stage->time.h_e * stage->time.h_e;
  NoliBlockEnergy energy = {.block = block, .part = NOLI_PART_ELEMENTS, .scale = h_e_sqr};
  if (!block->type->solid) {
    if (noli_block_has_frames(block)) {
      NOLI_TRY(noli_block_derivatives_by_history(&self->mixed, block, h_e_sqr, first_history, x));
    }
    NOLI_TRY(list_thin_derivatives(self, block, first));
    goto done;
  }

  NOLI_TRY(noli_block_derivatives_by_numbers(&self->mixed, block, self->wanted, h_e_sqr, first, x));
  if (noli_sensitivity_wants(self, NOLI_INPUT_REST)) {
    NOLI_TRY(noli_element_derivatives_by_rest(&self->mixed, block, &energy, X, x));
  }
  if (noli_block_histories(block) != NULL) {
    NOLI_TRY(noli_block_derivatives_by_history(&self->mixed, block, h_e_sqr, first_history, x));
  }
  if (block->n_consistent > 0) {
    set_accelerations(self, block, self->product);
    NOLI_TRY(noli_element_derivatives_of_mass(&self->mixed, block, self->wanted, first, X,
                                              self->product, self->zero));
  }
done:
  return status;
}

static NoliStatus list_damping_derivatives(NoliSensitivity* self, NoliMixedList* list,
                                           const NoliBlock* block, int64_t first,
                                           int64_t first_history) {
  const NoliStage* stage = self->sim->stage;
  const NoliStageTime* time = &stage->time;
  if (!time->inertia || block->type->elasticity == NULL || !noli_block_is_damped(block)) {
    return NOLI_OK;
  }
  const NoliDampingDerivatives at = {.X = stage->problem->X,
                                     .x = stage->here->x,
                                     .x_hat = time->x_hat,
                                     .lagged = self->damped,
                                     .scale = time->h_e * time->h_e / time->h_v,
                                     .body = stage->problem->surface->body,
                                     .first_element = first,
                                     .first_history = first_history};
  return noli_element_derivatives_of_damping(list, block, self->wanted, &at);
}

static NoliStatus list_blocks_damping(NoliSensitivity* self, NoliMixedList* list) {
  NoliStatus status = NOLI_OK;
  const NoliProblem* problem = &self->sim->model->problem;
  int64_t first_history = 0;
  for (int32_t i = 0; i < problem->n_block; i++) {
    const NoliBlock* block = &problem->block[i];
    if (block->n_element > 0) {
      NOLI_TRY(list_damping_derivatives(self, list, block, noli_input_elements(problem, i),
                                        first_history));
    }
    first_history += block->n_history;
  }
done:
  return status;
}

static NoliStatus list_curved_pressure_derivatives(NoliSensitivity* self) {
  NoliStatus status = NOLI_OK;
  const NoliStage* stage = self->sim->stage;
  const NoliModel* model = self->sim->model;
  for (int32_t f = 0; f < model->n_force; f++) {
    const NoliForce* force = &model->force[f];
    if (force->kind == NOLI_FORCE_PRESSURE && force->curved.n > 0) {
      NoliCurvedPressure pressure = noli_stage_curved_pressure(stage, force->pressed_first);
      pressure.scale = stage->time.h_e * stage->time.h_e;
      NOLI_TRY(noli_curved_pressure_derivatives(&self->mixed, &pressure, f, model->problem.n_vert,
                                                self->begin, stage->here->x));
    }
  }
done:
  return status;
}

// Derivatives of connections with forces; `scale` is that of their energies.
static NoliStatus list_connections(const NoliSensitivity* self, double scale, NoliMixedList* list) {
  NoliStatus status = NOLI_OK;
  const NoliStage* stage = self->sim->stage;
  double h_e_sqr = stage->time.h_e * stage->time.h_e;
  const NoliConnectionPoint at = {.X = stage->problem->X,
                                  .x = stage->here->x,
                                  .x_hat = stage->time.x_hat,
                                  .lagged = self->damped,
                                  .scale = scale,
                                  .damping_scale =
                                      stage->time.inertia ? h_e_sqr / stage->time.h_v : 0.0};
  for (int32_t kind = 0; kind < NOLI_CONNECTION_FORCES; kind++) {
    const NoliConnections* connections = &stage->problem->connection[kind];
    if (connections->forces != NULL) {
      NOLI_TRY(connections->forces->derivatives->mixed(list, connections->data, self->wanted, &at));
    }
  }
done:
  return status;
}

// Derivatives of connections, volumes and pressures.
static NoliStatus list_load_derivatives(NoliSensitivity* self) {
  NoliStatus status = NOLI_OK;
  const NoliStage* stage = self->sim->stage;
  const NoliProblem* problem = stage->problem;
  const double* x = stage->here->x;
  double scale = stage->time.h_e * stage->time.h_e;
  NoliVolumeState* state = NULL;
  double magnitude;
  NOLI_TRY(list_connections(self, scale, &self->mixed));
  if (noli_sensitivity_wants(self, NOLI_INPUT_REGION)) {
    NOLI_NEW(self->context, state, problem->volumes.n_region);
    noli_volume_states(&problem->volumes, x, stage->n_threads, state);
    NoliVolume volume = {.regions = &problem->volumes, .scale = scale, .state = state};
    NOLI_TRY(noli_volume_derivatives(&self->mixed, &volume, x));
  }

  if (problem->pressed.flat.n > 0) {
    NoliPressure pressure = {.faces = &problem->pressed.flat,
                             .value = stage->loads.pressure,
                             .origin = stage->loads.pressure_origin,
                             .scale = scale,
                             .magnitude = &magnitude};
    NOLI_TRY(noli_pressure_derivatives(&self->mixed, &pressure, self->wanted, self->pressing,
                                       problem->n_vert, self->begin, x));
  }

  NOLI_TRY(list_curved_pressure_derivatives(self));
done:
  noli_free(self->context, state);
  return status;
}

// Whether a force acts in proportion to lumped masses.
static bool acts_on_masses(const NoliSensitivity* self, const NoliForce* force) {
  const NoliBlock* block = noli_problem_block(&self->sim->model->problem, force->def.body);
  bool lumped = block == NULL || block->n_consistent == 0;
  return lumped && (accelerates(self, force) ||
                    (force->kind == NOLI_FORCE_TOTAL && noli_sim_force_acts(force, self->t1)));
}

// Derivatives of accelerations and of total forces, which are shared in proportion to masses.
static NoliStatus list_acceleration_derivatives(NoliSensitivity* self) {
  NoliStatus status = NOLI_OK;
  const NoliStage* stage = self->sim->stage;
  const NoliModel* model = self->sim->model;
  double scale = stage->time.h_e * stage->time.h_e;
  for (int32_t f = 0; f < model->n_force; f++) {
    const NoliForce* force = &model->force[f];
    NoliMixedBlocks* blocks;
    if (!acts_on_masses(self, force)) {
      continue;
    }
    double factor = force->kind == NOLI_FORCE_TOTAL ? scale / force->total_mass : scale;
    NOLI_TRY(noli_mixed_list_add(&self->mixed, NOLI_INPUT_MASS, force->n_node, 1, 1, &blocks));
    for (int32_t i = 0; i < force->n_node; i++) {
      double* derivative = noli_mixed_block(blocks, i);
      blocks->node[i] = force->node[i];
      blocks->input[i] = force->node[i];
      noli_sim_force_value(self->sim, f, i, self->t, derivative);
      noli_store3(derivative, noli_scale3(-factor, noli_load3(derivative)));
    }
  }
done:
  return status;
}

// Derivatives of total forces on a consistent mass, which are shared in proportion to the measures
// of its nodes.
static NoliStatus list_share_derivatives(NoliSensitivity* self, const NoliBlock* block,
                                         int64_t first) {
  NoliStatus status = NOLI_OK;
  const NoliStage* stage = self->sim->stage;
  const NoliModel* model = self->sim->model;
  double scale = stage->time.h_e * stage->time.h_e, *force = self->product;
  bool some = false;
  memset(force, 0, noli_sim_vector_bytes(self->sim));
  for (int32_t f = 0; f < model->n_force; f++) {
    const NoliForce* total = &model->force[f];
    bool own = total->kind == NOLI_FORCE_TOTAL && noli_sim_force_acts(total, self->t1) &&
               noli_problem_block(&model->problem, total->def.body) == block;
    some = some || own;
    for (int32_t i = 0; own && i < total->n_node; i++) {
      double *to = force + 3 * (int64_t)total->node[i], value[3];
      noli_sim_force_value(self->sim, f, i, self->t, value);
      noli_store3(to, noli_mul_add3(noli_load3(to), -scale / total->total_mass, noli_load3(value)));
    }
  }
  if (some) {
    NOLI_TRY(noli_element_derivatives_of_shares(&self->mixed, block, self->wanted, first, force));
  }
done:
  return status;
}

// Derivatives of tractions, whose faces follow rest shapes.
static NoliStatus list_traction_derivatives(NoliSensitivity* self) {
  NoliStatus status = NOLI_OK;
  const NoliStage* stage = self->sim->stage;
  const NoliModel* model = self->sim->model;
  double scale = stage->time.h_e * stage->time.h_e, *value = self->product;
  for (int32_t f = 0; f < model->n_force; f++) {
    const NoliForce* force = &model->force[f];
    if (force->kind != NOLI_FORCE_TRACTION || !noli_sim_force_acts(force, self->t1)) {
      continue;
    }
    memset(value, 0, noli_sim_vector_bytes(self->sim));
    for (int32_t i = 0; i < force->n_node; i++) {
      double *to = value + 3 * (int64_t)force->node[i], own[3];
      noli_sim_force_value(self->sim, f, i, self->t, own);
      noli_store3(to, noli_mul_add3(noli_load3(to), force->thickness, noli_load3(own)));
    }
    NOLI_TRY(force->curved.n > 0 ? noli_curved_traction_derivatives(&self->mixed, &force->curved,
                                                                    model->problem.X, value, scale)
                                 : noli_traction_derivatives(&self->mixed, &force->faces,
                                                             model->problem.X, value, scale));
  }
done:
  return status;
}

NoliStatus noli_sensitivity_list_derivatives(NoliSensitivity* self) {
  NoliStatus status = NOLI_OK;
  NoliStage* stage = self->sim->stage;
  const NoliProblem* problem = &self->sim->model->problem;
  int64_t first = 0, first_history = 0;
  NOLI_TRY(list_load_derivatives(self));
  if (noli_sensitivity_wants(self, NOLI_INPUT_REST)) {
    NOLI_TRY(list_traction_derivatives(self));
    NOLI_TRY(noli_sensitivity_list_places(self));
  }
  if (noli_sensitivity_wants(self, NOLI_INPUT_MASS)) {
    NOLI_TRY(list_acceleration_derivatives(self));
  }
  for (int32_t i = 0; i < problem->n_block; i++) {
    if (problem->block[i].n_element > 0) {
      NOLI_TRY(list_block_derivatives(self, &problem->block[i], first, first_history));
    }
    bool shares = noli_sensitivity_wants(self, NOLI_INPUT_DENSITY) ||
                  noli_sensitivity_wants(self, NOLI_INPUT_REST);
    if (shares && problem->block[i].n_consistent > 0) {
      NOLI_TRY(list_share_derivatives(self, &problem->block[i], first));
    }
    first += problem->block[i].n_element;
    first_history += problem->block[i].n_history;
  }

  NOLI_TRY(list_blocks_damping(self, &self->mixed));
  if (problem->friction.acts && noli_sensitivity_is_general(self)) {
    NOLI_TRY(
        problem->contact.model->derivatives->implicit_friction(stage, self->classes, &self->mixed));
  }
  if ((self->wanted & problem->contact.model->derivatives->inputs) != 0) {
    NOLI_TRY(problem->contact.model->derivatives->gradient(stage, &self->mixed));
  }
done:
  return status;
}

NoliStatus noli_sensitivity_list_damping(NoliSensitivity* self, NoliMixedList* list) {
  NoliStatus status = NOLI_OK;
  NOLI_TRY(list_connections(self, 0.0, list));
  NOLI_TRY(list_blocks_damping(self, list));
done:
  return status;
}

NoliStatus noli_sensitivity_list_masses(NoliSensitivity* self, const double* z,
                                        NoliMixedList* list) {
  NoliStatus status = NOLI_OK;
  const NoliProblem* problem = &self->sim->model->problem;
  for (int32_t i = 0; i < problem->n_block; i++) {
    const NoliBlock* block = &problem->block[i];
    if (block->n_consistent > 0) {
      NOLI_TRY(noli_element_derivatives_of_mass(
          list, block, self->wanted, noli_input_elements(problem, i), problem->X, z, self->zero));
    }
  }
done:
  return status;
}
