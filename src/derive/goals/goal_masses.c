// Masses of vertices are the row sums of a mass matrix M, which is diagonal for linear elements.
// All derivatives by what M depends on are those of a product a^T M z.
#include "derive/goals/goal_masses.h"

#include "fem/derivatives/element_derivatives.h"
#include "math/vec3.h"

#include <string.h>

static int64_t goal_masses_size_of(const NoliGoalPlace* place) {
  return 3 * (int64_t)place->sim->model->problem.n_vert;
}

const char* noli_goal_mass_defect(const NoliGoalPlace* place) {
  return noli_goal_block(place) == NULL ? "obstacles have none" : NULL;
}

// ---- the mass matrix ----------------------------------------------------------------------------

// y = M x on the nodes of the body.
static void goal_masses_multiply(const NoliGoalPlace* place, const double* x, double* y) {
  const NoliModel* model = place->sim->model;
  const NoliBlock* block = noli_goal_block(place);
  if (block->n_consistent > 0) {
    block->type->multiply_mass(block, x, place->sim->own_stage->n_threads, y);
    return;
  }
  int64_t first = 3 * (int64_t)model->vert_first[place->body];
  for (int64_t j = first; j < 3 * (int64_t)model->vert_first[place->body + 1]; j++) {
    y[j] = model->problem.inertia.mass[j / 3] * x[j];
  }
}

// The derivatives of a^T M z by densities and rest positions of a consistent mass.
static NoliStatus add_by_consistent(const NoliGoalPlace* place, unsigned wanted, const double* a,
                                    const double* z, NoliGoalDerivatives* derivatives) {
  NoliStatus status = NOLI_OK;
  const NoliProblem* problem = &place->sim->model->problem;
  int64_t first = noli_input_elements(problem, problem->range[place->body].block);
  NoliMixedList list = {.context = place->sim->context, .wanted = wanted};
  double* zero = NULL;
  NOLI_NEW_ZERO(list.context, zero, goal_masses_size_of(place));
  NOLI_TRY(noli_element_derivatives_of_mass(&list, noli_goal_block(place), wanted, first,
                                            problem->X, z, zero));
  for (int64_t i = 0; i < list.blocks.count; i++) {
    const NoliMixedBlocks* blocks = &list.blocks.data[i];
    noli_mixed_multiply_transposed(blocks, 1.0, a, derivatives->inputs.value[blocks->kind]);
  }
done:
  noli_mixed_list_clear(&list);
  noli_array_free(list.context, &list.blocks);
  noli_free(list.context, zero);
  return status;
}

// Adds the derivatives of a^T M z by what M depends on. a and z (n_vert x 3); a is 0 on other
// bodies.
static NoliStatus add_by_mass(const NoliGoalPlace* place, const double* a, const double* z,
                              NoliGoalDerivatives* derivatives) {
  const NoliModel* model = place->sim->model;
  double* mass = derivatives->inputs.value[NOLI_INPUT_MASS];
  unsigned wanted = 0;
  static const NoliInput inputs[] = {NOLI_INPUT_DENSITY, NOLI_INPUT_REST};
  for (int k = 0; k < 2; k++) {
    wanted |= derivatives->inputs.value[inputs[k]] != NULL ? 1u << inputs[k] : 0u;
  }
  if (noli_goal_block(place)->n_consistent > 0) {
    return wanted != 0 ? add_by_consistent(place, wanted, a, z, derivatives) : NOLI_OK;
  }
  for (int64_t i = model->vert_first[place->body];
       mass != NULL && i < model->vert_first[place->body + 1]; i++) {
    mass[i] += noli_dot3(noli_load3(a + 3 * i), noli_load3(z + 3 * i));
  }
  return NOLI_OK;
}

// The derivatives of a sum of masses times numbers `by` of the vertices: a^T M 1.
static NoliStatus add_by_row_sums(const NoliGoalPlace* place, const double* by,
                                  NoliGoalDerivatives* derivatives) {
  NoliStatus status = NOLI_OK;
  NoliContext* context = place->sim->context;
  double *a = NULL, *one = NULL;
  NOLI_NEW_ZERO(context, a, goal_masses_size_of(place));
  NOLI_NEW_ZERO(context, one, goal_masses_size_of(place));
  for (int64_t j = 0; j < goal_masses_size_of(place); j += 3) {
    one[j] = 1.0;
  }
  for (int32_t i = 0; i < place->n_vertex; i++) {
    a[3 * (int64_t)place->vertex[i]] += by[i];
  }
  NOLI_TRY(add_by_mass(place, a, one, derivatives));
done:
  noli_free(context, a);
  noli_free(context, one);
  return status;
}

// ---- centre -------------------------------------------------------------------------------------

static NoliVec3 centre_of(const NoliGoalPlace* place, double* mass) {
  const double* m = place->sim->model->problem.inertia.weight;
  NoliVec3 sum = {0};
  *mass = 0.0;
  for (int32_t i = 0; i < place->n_vertex; i++) {
    int64_t node = place->vertex[i];
    sum = noli_mul_add3(sum, m[node], noli_load3(&place->x[3 * node]));
    *mass += m[node];
  }
  return noli_scale3(1.0 / *mass, sum);
}

NoliStatus noli_goal_centre(const NoliGoalPlace* place, double* value) {
  double mass;
  noli_store3(value, centre_of(place, &mass));
  return NOLI_OK;
}

NoliStatus noli_goal_derive_centre(const NoliGoalPlace* place, const double* weight,
                                   NoliGoalDerivatives* derivatives) {
  NoliStatus status = NOLI_OK;
  const double* m = place->sim->model->problem.inertia.weight;
  double mass, *by = NULL;
  NoliVec3 at = centre_of(place, &mass), w = noli_load3(weight);
  NOLI_NEW(place->sim->context, by, place->n_vertex);
  for (int32_t i = 0; i < place->n_vertex; i++) {
    int64_t node = place->vertex[i];
    NoliVec3 arm = noli_sub3(noli_load3(&place->x[3 * node]), at);
    by[i] = noli_dot3(arm, w) / mass;
    for (int k = 0; k < 3 && derivatives->x != NULL; k++) {
      derivatives->x[3 * node + k] += m[node] / mass * weight[k];
    }
  }
  NOLI_TRY(add_by_row_sums(place, by, derivatives));
done:
  noli_free(place->sim->context, by);
  return status;
}

// ---- energies -----------------------------------------------------------------------------------

// v at the vertices, 0 elsewhere.
static void goal_masses_choose(const NoliGoalPlace* place, double* v) {
  for (int32_t i = 0; i < place->n_vertex; i++) {
    int64_t at = 3 * (int64_t)place->vertex[i];
    memcpy(v + at, place->v + at, 3 * sizeof *v);
  }
}

NoliStatus noli_goal_kinetic_energy(const NoliGoalPlace* place, double* value) {
  NoliStatus status = NOLI_OK;
  double* momentum = NULL;
  NOLI_NEW_ZERO(place->sim->context, momentum, goal_masses_size_of(place));
  goal_masses_multiply(place, place->v, momentum);
  *value = 0.0;
  for (int32_t i = 0; i < place->n_vertex; i++) {
    int64_t at = 3 * (int64_t)place->vertex[i];
    *value += 0.5 * noli_dot3(noli_load3(&place->v[at]), noli_load3(momentum + at));
  }
done:
  noli_free(place->sim->context, momentum);
  return status;
}

// With the velocities c at the vertices and 0 elsewhere it is c^T M v / 2.
NoliStatus noli_goal_derive_kinetic_energy(const NoliGoalPlace* place, const double* weight,
                                           NoliGoalDerivatives* derivatives) {
  NoliStatus status = NOLI_OK;
  NoliContext* context = place->sim->context;
  double *chosen = NULL, *momentum = NULL, *share = NULL;

  NOLI_NEW_ZERO(context, chosen, goal_masses_size_of(place));
  NOLI_NEW_ZERO(context, momentum, goal_masses_size_of(place));
  NOLI_NEW_ZERO(context, share, goal_masses_size_of(place));
  goal_masses_choose(place, chosen);
  goal_masses_multiply(place, place->v, momentum);
  goal_masses_multiply(place, chosen, share);
  for (int64_t j = 0; derivatives->v != NULL && j < goal_masses_size_of(place); j++) {
    derivatives->v[j] += 0.5 * *weight * share[j];
  }
  for (int64_t k = 0; derivatives->v != NULL && k < 3 * (int64_t)place->n_vertex; k++) {
    int64_t j = 3 * (int64_t)place->vertex[k / 3] + k % 3;
    derivatives->v[j] += 0.5 * *weight * momentum[j];
  }
  for (int64_t j = 0; j < goal_masses_size_of(place); j++) {
    chosen[j] *= 0.5 * *weight;
  }
  NOLI_TRY(add_by_mass(place, chosen, place->v, derivatives));
done:
  noli_free(context, chosen);
  noli_free(context, momentum);
  noli_free(context, share);
  return status;
}

NoliStatus noli_goal_gravity_energy(const NoliGoalPlace* place, double* value) {
  const NoliModel* model = place->sim->model;
  NoliVec3 gravity = noli_load3(model->gravity);
  *value = 0.0;
  for (int32_t i = 0; i < place->n_vertex; i++) {
    int64_t node = place->vertex[i];
    *value -=
        model->problem.inertia.weight[node] * noli_dot3(gravity, noli_load3(&place->x[3 * node]));
  }
  return NOLI_OK;
}

// Weights are loads; lumped masses change these, too (noli_parameter_add_mass).
NoliStatus noli_goal_derive_gravity_energy(const NoliGoalPlace* place, const double* weight,
                                           NoliGoalDerivatives* derivatives) {
  NoliStatus status = NOLI_OK;
  const NoliModel* model = place->sim->model;
  double *load = derivatives->inputs.value[NOLI_INPUT_LOAD], *by = NULL;
  NoliVec3 gravity = noli_load3(model->gravity);
  NOLI_NEW(place->sim->context, by, place->n_vertex);
  for (int32_t i = 0; i < place->n_vertex; i++) {
    int64_t node = place->vertex[i];
    by[i] = -*weight * noli_dot3(gravity, noli_load3(&place->x[3 * node]));
    for (int k = 0; k < 3; k++) {
      if (derivatives->x != NULL) {
        derivatives->x[3 * node + k] -=
            *weight * model->problem.inertia.weight[node] * model->gravity[k];
      }
      if (load != NULL) {
        load[3 * node + k] -= *weight * place->x[3 * node + k];
      }
    }
  }

  if (noli_goal_block(place)->n_consistent > 0) {
    NOLI_TRY(add_by_row_sums(place, by, derivatives));
  }
done:
  noli_free(place->sim->context, by);
  return status;
}
