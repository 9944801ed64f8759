// Forces whose values follow the rest positions of their vertices: derivatives of the equations by
// these. A force is linear in its values, and the derivative of a value by its place is a
// difference of the function that the definition gives.
#include "derive/solves/sensitivity_solve.h"

#include "derive/parameters/parameters.h"
#include "fem/derivatives/load_derivatives.h"
#include "math/difference.h"
#include "step/conditions.h"

#include <math.h>
#include <string.h>

// The largest step of differences, of the diagonal.
#define STEP 0.01

NoliStatus noli_sensitivity_follow_places(NoliSensitivity* self, const NoliParameters* parameters) {
  NoliStatus status = NOLI_OK;
  const NoliModel* model = self->sim->model;
  bool any = false;
  NOLI_NEW_ZERO(self->context, self->by_place, model->n_force);
  for (int32_t f = 0; f < model->n_force; f++) {
    const NoliForce* force = &model->force[f];
    if (force->def.value != NULL && noli_parameters_vary_rest(parameters, force->def.body)) {
      NOLI_NEW_ZERO(self->context, self->by_place[f], force->n_node);
      any = true;
    }
  }
  if (any) {
    NOLI_NEW_ZERO(self->context, self->place, model->problem.n_vert);
  }
  self->place_time = (double)NAN;
done:
  return status;
}

void noli_sensitivity_free_places(NoliSensitivity* self) {
  for (int32_t f = 0; self->by_place != NULL && f < self->sim->model->n_force; f++) {
    noli_free(self->context, self->by_place[f]);
  }
  noli_free(self->context, self->by_place);
  noli_free(self->context, self->place);
}

// ---- values by their places ---------------------------------------------------------------------

// A force whose vertices all move along one axis.
typedef struct Shifted {
  const NoliSim* sim;
  const NoliForce* force;
  double t;
  int axis;
} Shifted;

static void sensitivity_places_evaluate(void* user, double shift, double* value) {
  const Shifted* shifted = user;
  const NoliForceDef* def = &shifted->force->def;
  for (int64_t i = 0; i < shifted->force->n_node; i++) {
    double X[3], *own = value + 3 * i;
    memcpy(X, shifted->sim->model->problem.X + 3 * (int64_t)shifted->force->node[i], sizeof X);
    X[shifted->axis] += shift;
    memset(own, 0, 3 * sizeof *own);
    noli_host_called(shifted->sim->host.calls, 1);
    def->value(def->user, shifted->t, X, own);
    noli_host_called(shifted->sim->host.calls, -1);
    noli_store3(own, noli_scale3(1.0 + def->change, noli_load3(own)));
  }
}

static NoliStatus require_smooth(const Shifted* shifted, int32_t index, const NoliDifference* table,
                                 double size) {
  NoliStatus status = NOLI_OK;
  const NoliModel* model = shifted->sim->model;
  const NoliForceDef* def = &shifted->sim->definition.def->forces[index];
  const char *where = def->where != NULL ? def->where : "", *colon = *where != '\0' ? ": " : "";
  for (int64_t j = 0; j < 3 * (int64_t)shifted->force->n_node; j++) {
    NOLI_CHECK(
        model->context, noli_difference_is_smooth(&table[j], size), NOLI_ERROR_ARGUMENT,
        "%s%sderivatives: the values of force %d on body \"%s\" jump at the rest position of "
        "vertex %d, at t = %g s: rest shapes have derivatives where values are smooth; "
        "replace the jump by a ramp, or list the vertices that are loaded",
        where, colon, (int)index, model->name[def->body],
        (int)noli_model_local(model, shifted->force->node[j / 3]), shifted->t);
  }
done:
  return status;
}

static NoliStatus find_derivatives(const NoliSensitivity* self, int32_t index) {
  NoliStatus status = NOLI_OK;
  const NoliModel* model = self->sim->model;
  Shifted shifted = {.sim = self->sim, .force = &model->force[index], .t = self->t};
  int64_t n = 3 * (int64_t)shifted.force->n_node;
  NoliDifference* table = NULL;
  double *value = NULL, largest = 0.0;
  NOLI_NEW(self->context, table, n);
  NOLI_NEW(self->context, value, n);
  sensitivity_places_evaluate(&shifted, 0.0, value);
  for (int64_t j = 0; j < n; j++) {
    largest = fmax(largest, fabs(value[j]));
  }

  for (shifted.axis = 0; shifted.axis < 3; shifted.axis++) {
    NOLI_TRY(noli_differences(self->context, n, sensitivity_places_evaluate, &shifted,
                              STEP * model->problem.size.d, table));
    NOLI_TRY(require_smooth(&shifted, index, table, largest / model->problem.size.d));
    for (int64_t j = 0; j < n; j++) {
      self->by_place[index][j / 3].m[j % 3][shifted.axis] = table[j].derivative;
    }
  }
done:
  noli_free(self->context, table);
  noli_free(self->context, value);
  return status;
}

// Finds how the values of all forces that act change with places, at the time of the stage, unless
// that is known.
static NoliStatus find_all_derivatives(NoliSensitivity* self) {
  NoliStatus status = NOLI_OK;
  const NoliModel* model = self->sim->model;
  if (self->place_time == self->t) {
    goto done;
  }
  self->place_time = (double)NAN;
  for (int32_t f = 0; f < model->n_force; f++) {
    if (self->by_place[f] != NULL) {
      NOLI_TRY(find_derivatives(self, f));
    }
  }
  self->place_time = self->t;
done:
  return status;
}

// ---- forces by their values ---------------------------------------------------------------------

// On single vertices, a lumped mass or its share in a total. A force may name a vertex twice.
static NoliStatus list_at_vertices(NoliSensitivity* self, int32_t index, double scale) {
  NoliStatus status = NOLI_OK;
  const NoliModel* model = self->sim->model;
  const NoliForce* force = &model->force[index];
  NoliMixedBlocks* blocks;
  NOLI_TRY(noli_mixed_list_add(&self->mixed, NOLI_INPUT_REST, force->n_node, 1, 3, &blocks));
  for (int32_t i = 0; i < force->n_node; i++) {
    int64_t node = force->node[i];
    double mass = model->problem.inertia.mass[node];
    double factor = force->kind == NOLI_FORCE_ACCELERATION ? mass
                    : force->kind == NOLI_FORCE_TOTAL      ? mass / force->total_mass
                                                           : 1.0;
    if (node < model->problem.n_node) {
      blocks->node[i] = (int32_t)node;
      noli_mixed_add33(blocks, i, 0, 0, -scale * factor, self->by_place[index][i]);
      for (int c = 0; c < 3; c++) {
        blocks->input[3 * (int64_t)i + c] = 3 * node + c;
      }
    }
  }
done:
  return status;
}

// Accelerations through a consistent mass, element by element: m_ab of nodes a and b from the force
// of a unit at b.
static NoliStatus list_in_elements(NoliSensitivity* self, const NoliBlock* block, double scale) {
  NoliStatus status = NOLI_OK;
  NoliBlockEnergy energy = {.block = block, .scale = 1.0, .reference = self->zero};
  int32_t n = block->n_local;
  double *unit = self->product, force[3 * NOLI_TET_NODES_MAX];
  NoliMixedBlocks* blocks;
  memset(unit, 0, noli_sim_vector_bytes(self->sim));
  NOLI_TRY(noli_mixed_list_add(&self->mixed, NOLI_INPUT_REST, block->n_element, n, 3 * n, &blocks));
  memcpy(blocks->node, block->node, sizeof *block->node * (size_t)n * (size_t)block->n_element);

  for (int64_t e = 0; e < block->n_element; e++) {
    const int32_t* node = block->node + n * e;
    NoliLocal out = {.gradient = force};
    for (int32_t b = 0; b < n; b++) {
      unit[3 * (int64_t)node[b]] = 1.0;
      block->type->inertia(&energy, unit, e, e + 1, NOLI_EVAL_GRADIENT, &out);
      unit[3 * (int64_t)node[b]] = 0.0;
      for (int32_t a = 0; a < n; a++) {
        noli_mixed_add33(blocks, e, a, 3 * b, -scale * force[3 * a], self->place[node[b]]);
      }
      for (int c = 0; c < 3; c++) {
        blocks->input[3 * (n * e + b) + c] = 3 * (int64_t)node[b] + c;
      }
    }
  }
done:
  return status;
}

static NoliStatus list_on_faces(NoliSensitivity* self, const NoliForce* force, double scale) {
  const NoliStage* stage = self->sim->stage;
  const NoliProblem* problem = stage->problem;
  const double* x = stage->here->x;
  bool curved = force->curved.n > 0;
  if (force->kind == NOLI_FORCE_TRACTION) {
    return curved ? noli_curved_traction_place_derivatives(&self->mixed, &force->curved,
                                                           self->place, scale)
                  : noli_traction_place_derivatives(&self->mixed, &force->faces, problem->X,
                                                    self->place, scale);
  }
  if (curved) {
    NoliCurvedPressure pressure = noli_stage_curved_pressure(stage, force->pressed_first);
    pressure.scale = scale;
    return noli_curved_pressure_place_derivatives(&self->mixed, &pressure, self->place, self->begin,
                                                  x);
  }
  NoliPressure pressure = {.faces = &problem->pressed.flat,
                           .value = stage->loads.pressure,
                           .origin = stage->loads.pressure_origin,
                           .scale = scale};
  return noli_pressure_place_derivatives(&self->mixed, &pressure, force->pressed_first,
                                         force->pressed_first + force->faces.n, self->place,
                                         self->begin, x);
}

NoliStatus noli_sensitivity_list_places(NoliSensitivity* self) {
  NoliStatus status = NOLI_OK;
  const NoliModel* model = self->sim->model;
  const NoliStageTime* time = &self->sim->stage->time;
  double scale = time->h_e * time->h_e;
  NOLI_TRY(find_all_derivatives(self));

  for (int32_t f = 0; f < model->n_force; f++) {
    const NoliForce* force = &model->force[f];
    if (self->by_place[f] == NULL || !noli_sim_force_acts(force, self->t1)) {
      continue;
    }
    const NoliBlock* block = noli_problem_block(&model->problem, force->def.body);
    bool on_faces = force->faces.n > 0 || force->curved.n > 0;
    bool consistent =
        force->kind == NOLI_FORCE_ACCELERATION && block != NULL && block->n_consistent > 0;
    memset(self->place, 0, sizeof *self->place * (size_t)model->problem.n_vert);
    for (int32_t i = 0; i < force->n_node; i++) {
      NoliMat3* place = &self->place[force->node[i]];
      double factor = on_faces ? force->thickness : 1.0;
      *place = noli_add33(*place, noli_scale33(factor, self->by_place[f][i]));
    }
    NOLI_TRY(on_faces     ? list_on_faces(self, force, scale)
             : consistent ? list_in_elements(self, block, scale)
                          : list_at_vertices(self, f, scale));
  }
done:
  return status;
}
