// Creating, reading and destroying simulations.
#include "sim/simulation.h"

#include "sim/audit.h"

#include <string.h>

static NoliStatus create_state(NoliSim* sim) {
  NoliStatus status = NOLI_OK;
  NOLI_STATE_SIZES(sim);
#define NOLI_STATE_NEW(name, type, count) NOLI_NEW_ZERO(sim->context, sim->state.name, (count));
  NOLI_STATE_FIELDS(NOLI_STATE_NEW)
#undef NOLI_STATE_NEW
  memcpy(sim->state.x, sim->model->x0, (size_t)n * sizeof(double));
  memcpy(sim->state.v, sim->model->v0, (size_t)n * sizeof(double));
done:
  return status;
}

NoliStatus noli_sim_create(NoliContext* context, const NoliSimDef* def, NoliSim** out) {
  NoliStatus status = NOLI_OK;
  NoliSim* sim = NULL;
  *out = NULL;
  NOLI_NEW_ZERO(context, sim, 1);
  sim->context = context;
  sim->n_parts = 1;
  NOLI_TRY(noli_model_create(context, def, &sim->model));
  NOLI_TRY(noli_sim_require_valid(sim->model, sim->model->x0));
  NOLI_TRY(noli_stage_create(context, &sim->model->problem, &sim->stage));
  if (sim->model->audit == NOLI_AUDIT_EVERY_ITERATION) {
    sim->stage->audit = noli_audit_require;
    sim->stage->audit_user = sim->model;
  }
  NOLI_TRY(create_state(sim));
  int64_t n = 3 * (int64_t)sim->model->problem.n_vert;
  NOLI_NEW_ZERO(context, sim->v_start, n);
  NOLI_NEW_ZERO(context, sim->v_next, n);
  NOLI_NEW_ZERO(context, sim->x_first, n);
  NOLI_NEW_ZERO(context, sim->v_first, n);
  NOLI_NEW_ZERO(context, sim->force_start, n);
  NOLI_NEW_ZERO(context, sim->force_next, n);
  NOLI_NEW_ZERO(context, sim->ended_next, sim->model->n_ends);
  NOLI_NEW_ZERO(context, sim->prescribed, sim->model->problem.n_vert);
  NOLI_NEW_ZERO(context, sim->prescribed_target, n);
  NOLI_NEW_ZERO(context, sim->volumes, sim->model->problem.volumes.n_region);
  NOLI_NEW_ZERO(context, sim->prescribed_middle, n);
done:
  if (status != NOLI_OK) {
    noli_sim_destroy(&sim);
  }
  *out = sim;
  return status;
}

void noli_sim_destroy(NoliSim** owner) {
  if (owner == NULL || *owner == NULL) {
    return;
  }
  NoliSim* sim = *owner;
  noli_stage_destroy(&sim->stage);
  noli_model_destroy(&sim->model);
#define NOLI_STATE_FREE(name, type, count)                                                         \
  noli_free(sim->context, sim->state.name);                                                        \
  noli_free(sim->context, sim->backup.name);
  NOLI_STATE_FIELDS(NOLI_STATE_FREE)
#undef NOLI_STATE_FREE
  noli_free(sim->context, sim->v_start);
  noli_free(sim->context, sim->v_next);
  noli_free(sim->context, sim->x_first);
  noli_free(sim->context, sim->v_first);
  noli_free(sim->context, sim->force_start);
  noli_free(sim->context, sim->force_next);
  noli_free(sim->context, sim->ended_next);
  noli_free(sim->context, sim->prescribed);
  noli_free(sim->context, sim->prescribed_target);
  noli_free(sim->context, sim->volumes);
  noli_free(sim->context, sim->prescribed_middle);
  noli_pair_forces_free(sim->context, &sim->pair_forces);
  noli_free(sim->context, sim);
  *owner = NULL;
}

double noli_sim_time(const NoliSim* sim) {
  return *sim->state.time;
}

int64_t noli_sim_step_count(const NoliSim* sim) {
  return *sim->state.step;
}

int32_t noli_sim_body_count(const NoliSim* sim) {
  return sim->model->n_body;
}

int32_t noli_sim_vertex_count(const NoliSim* sim) {
  return sim->model->problem.n_vert;
}

int32_t noli_sim_tet_count(const NoliSim* sim) {
  return sim->model->problem.tets.n_tet;
}

int32_t noli_sim_surface_triangle_count(const NoliSim* sim) {
  return sim->model->problem.surface->n_tri;
}

void noli_sim_body_range(const NoliSim* sim, int32_t body, int32_t* first, int32_t* count) {
  *first = sim->model->vert_first[body];
  *count = sim->model->vert_first[body + 1] - *first;
}

const char* noli_sim_integrator(const NoliSim* sim) {
  return sim->model->integrator->name;
}

const char* noli_sim_entity_name(const NoliSim* sim, int32_t entity) {
  return entity >= 0 && entity < sim->model->n_entity ? sim->model->name[entity] : "";
}

const double* noli_sim_rest_positions(const NoliSim* sim) {
  return sim->model->problem.X;
}

const double* noli_sim_positions(const NoliSim* sim) {
  return sim->state.x;
}

const double* noli_sim_velocities(const NoliSim* sim) {
  return sim->state.v;
}

const double* noli_sim_masses(const NoliSim* sim) {
  return sim->model->problem.mass;
}

const int32_t* noli_sim_tets(const NoliSim* sim) {
  return sim->model->tet;
}

const int32_t* noli_sim_surface_triangles(const NoliSim* sim) {
  return sim->model->problem.surface->tri;
}

const int32_t* noli_sim_segments(const NoliSim* sim, int32_t* n_segments) {
  *n_segments = sim->model->n_segment;
  return sim->model->segment;
}

const int32_t* noli_sim_points(const NoliSim* sim, int32_t* n_points) {
  *n_points = sim->model->n_lone_point;
  return sim->model->lone_point;
}

NoliStatus noli_sim_set_state(NoliSim* sim, const double* x, const double* v) {
  NoliStatus status = NOLI_OK;
  size_t n = (size_t)sim->model->problem.n_vert * 3;
  for (size_t i = 0; i < n; i++) {
    NOLI_CHECK(sim->context, isfinite(x[i]) && isfinite(v[i]), NOLI_ERROR_ARGUMENT,
               "the state of vertex %zu is not finite", i / 3);
  }
  NOLI_TRY(noli_sim_require_valid(sim->model, x));
  // what came before belongs to the old state; one that is only checked in place stays
  if (x != sim->state.x || v != sim->state.v) {
    memmove(sim->state.x, x, n * sizeof(double));
    memmove(sim->state.v, v, n * sizeof(double));
    noli_sim_forget_past(sim);
  }
done:
  return status;
}

void noli_sim_forget_past(NoliSim* sim) {
  if (noli_integrator_needs_past(sim->model->integrator)) {
    *sim->state.past = 0;
  }
}

bool noli_sim_state_field(NoliSim* sim, int32_t index, NoliStateField* field) {
  NOLI_STATE_SIZES(sim);
  const NoliStateField fields[] = {
#define NOLI_STATE_ENTRY(name, type, count)                                                        \
  {#name, sim->state.name, (count),                                                                \
   _Generic((type)0, double                                                                        \
            : NOLI_FIELD_DOUBLE, int64_t                                                           \
            : NOLI_FIELD_INT64)},
      NOLI_STATE_FIELDS(NOLI_STATE_ENTRY)
#undef NOLI_STATE_ENTRY
  };
  for (size_t i = 0; index >= 0 && i < sizeof fields / sizeof fields[0]; i++) {
    if (fields[i].count > 0 && index-- == 0) {
      *field = fields[i];
      return true;
    }
  }
  return false;
}

int64_t noli_sim_constraint_count(const NoliSim* sim) {
  return sim->n_constraints;
}

NoliStatus noli_sim_set_constraint_count(NoliSim* sim, int64_t count) {
  NoliStatus status = NOLI_OK;
  int64_t room = sim->constraint_room, room_2 = 2 * sim->constraint_room;
  NOLI_CHECK(sim->context, count >= 0, NOLI_ERROR_ARGUMENT,
             "the number of constraints must not be negative");
  NOLI_TRY(noli_grow(sim->context, (void**)&sim->state.constraint, &room, count, sizeof(int64_t)));
  NOLI_TRY(
      noli_grow(sim->context, (void**)&sim->state.multiplier, &room_2, 2 * count, sizeof(double)));
  sim->constraint_room = room < room_2 / 2 ? room : room_2 / 2;
  sim->n_constraints = count;
done:
  return status;
}

uint64_t noli_sim_state_hash(NoliSim* sim) {
  // FNV-1a over all fields
  uint64_t hash = UINT64_C(14695981039346656037);
  NoliStateField field;
  for (int32_t i = 0; noli_sim_state_field(sim, i, &field); i++) {
    const unsigned char* bytes = field.data;
    for (int64_t k = 0; k < field.count * 8; k++) {
      hash = (hash ^ bytes[k]) * UINT64_C(1099511628211);
    }
  }
  return hash;
}
