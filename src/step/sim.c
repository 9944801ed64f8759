// Creating, reading and destroying simulations.
#include "step/simulation.h"

#include "base/ranks.h"
#include "base/sized.h"
#include "define/definition.h"
#include "model/audit.h"
#include "model/bodies.h"
#include "model/clearance.h"
#include "model/doubts.h"
#include "model/rank_cells.h"
#include "step/fallback.h"
#include "step/joints.h"

#include <string.h>

NoliStatus noli_sim_create_state(const NoliSim* sim, NoliState* state) {
  NoliStatus status = NOLI_OK;
  const NoliModel* model = sim->model;
  int64_t n = 3 * (int64_t)model->problem.n_node;
  const NoliStateSizes sizes = {
      .n = n,
      .n_force = noli_integrator_needs_force(model->integrator) ? n : 0,
      .n_before = noli_integrator_needs_before(model->integrator) ? n : 0,
      .n_past = noli_integrator_needs_past(model->integrator) ? 1 : 0,
      .n_increment = model->increments.initial > 0.0 ? 1 : 0,
      .n_ends = model->n_ends,
      .n_history = noli_model_history_size(model),
      .n_coordinates = model->problem.coordinates.n,
      .n_behind = 3 * (int64_t)(model->problem.n_vert - model->problem.n_node),
  };

  NOLI_TRY(noli_state_create(sim->context, &sizes, state));
  memcpy(state->x, model->x0, (size_t)(n + sizes.n_behind) * sizeof(double));
  if (sizes.n_increment > 0) {
    *state->increment = model->increments.initial;
  }
  memcpy(state->v, model->v0, (size_t)(n + sizes.n_behind) * sizeof(double));
  noli_sim_set_coordinates(sim, state, true);
  double* history = state->history;
  for (int32_t i = 0; i < model->problem.n_block; i++) {
    const NoliBlock* block = &model->problem.block[i];
    noli_block_start_history(block, model->x0, history);
    history += block->n_history;
  }
done:
  return status;
}

void noli_sim_end_histories(NoliSim* sim) {
  double* history = sim->state.history;
  for (int32_t i = 0; i < sim->model->problem.n_block; i++) {
    NoliBlock* block = &sim->model->problem.block[i];
    block->history = block->n_history > 0 ? history : NULL;
    noli_block_end_stage(block);
    history += block->n_history;
  }
}

void noli_sim_begin_histories(NoliSim* sim, double elapsed) {
  for (int32_t i = 0; i < sim->model->problem.n_block; i++) {
    noli_block_begin_stage(&sim->model->problem.block[i], sim->state.x, elapsed,
                           sim->stage->n_threads);
  }
}

void noli_sim_outdate(NoliSim* sim) {
  sim->outcome.reported = false;
  sim->outcome.failed = false;
  if (sim->results.tree != NULL) {
    sim->results.tree->current = false;
  }
}

void noli_sim_move_histories(NoliSim* sim) {
  for (int32_t i = 0; i < sim->model->problem.n_block; i++) {
    noli_block_move_history(&sim->model->problem.block[i], sim->state.x, sim->stage->n_threads);
  }
}

static NoliStatus create_scratch(NoliSim* sim) {
  NoliStatus status = NOLI_OK;
  NoliContext* context = sim->context;
  int64_t n = 3 * (int64_t)sim->model->problem.n_vert;
  NOLI_NEW_ZERO(context, sim->vectors.v_start, n);
  NOLI_NEW_ZERO(context, sim->vectors.v_next, n);
  NOLI_NEW_ZERO(context, sim->vectors.x_first, n);
  NOLI_NEW_ZERO(context, sim->vectors.v_first, n);
  NOLI_NEW_ZERO(context, sim->vectors.force_start, n);
  NOLI_NEW_ZERO(context, sim->vectors.force_next, n);
  NOLI_NEW_ZERO(context, sim->vectors.ended_next, sim->model->n_ends);
  NOLI_NEW_ZERO(context, sim->targets.axes, sim->model->problem.n_vert);
  NOLI_NEW_ZERO(context, sim->targets.motion, sim->model->problem.n_vert);
  NOLI_NEW_ZERO(context, sim->targets.x, n);
  NOLI_NEW_ZERO(context, sim->results.volumes, sim->model->problem.volumes.n_region);
  NOLI_NEW_ZERO(context, sim->results.volume_state, sim->model->problem.volumes.n_region);
  NOLI_NEW_ZERO(context, sim->results.springs, sim->definition.def->n_springs);
  NOLI_NEW_ZERO(context, sim->results.joints, sim->definition.def->n_joints);
  NOLI_NEW_ZERO(context, sim->targets.middle, n);
  int32_t n_moved = 0;
  for (int32_t m = 0; m < sim->model->n_motion; m++) {
    n_moved = sim->model->motion[m].n_node > n_moved ? sim->model->motion[m].n_node : n_moved;
  }
  NOLI_TRY(noli_motion_path_create(context, n_moved, &sim->targets.path));
done:
  return status;
}

NoliStatus noli_sim_build(NoliContext* context, NoliOwnedDefinition* definition,
                          const double* const* starts, NoliSim** out) {
  NoliStatus status = NOLI_OK;
  NoliSim* sim = NULL;
  *out = NULL;
  NOLI_NEW_ZERO(context, sim, 1);
  sim->context = context;
  sim->attempt.n_parts = 1;
  sim->observer.watch = &noli_step_unwatched;
  sim->definition = *definition;
  *definition = (NoliOwnedDefinition){0};

  // model and stage
  NOLI_NEW_ZERO(context, sim->host.calls, 1);
  NOLI_TRY(noli_model_create(context, sim->definition.def, starts,
                             !sim->definition.def->whole_elements, sim->host.calls,
                             &sim->own_model));
  sim->model = sim->own_model;
  sim->attempt.rule = sim->model->integrator;
  NOLI_TRY(noli_sim_create_stage(sim, &sim->model->problem, &sim->own_stage));
  sim->stage = sim->own_stage;

  // state, controls and scratch
  NOLI_TRY(noli_sim_create_state(sim, &sim->state));
  noli_sim_end_histories(sim);
  NOLI_TRY(noli_sim_create_controls(sim));
  NOLI_TRY(create_scratch(sim));
done:
  noli_owned_definition_free(context, definition);
  if (status != NOLI_OK) {
    noli_sim_release(&sim);
  }
  *out = sim;
  return status;
}

// Refuses a start that is not valid, and reports what is likely to be unintended.
static NoliStatus judge_start(const NoliModel* model, const NoliSimDef* def) {
  int32_t body = NOLI_NULL_INDEX;
  NoliStatus status = noli_sim_require_valid_start(model, model->x0, &body);
  if (body != NOLI_NULL_INDEX) {
    status = noli_fail_at(model->context, def->bodies[body].where, status);
  }
  NOLI_TRY(status);
  NOLI_TRY(noli_clearance_report(model));
  noli_bodies_report(model, def);
  NOLI_TRY(noli_doubts_report(model, def));
done:
  return status;
}

static NoliStatus sim_create(NoliContext* context, const NoliSimDef* given, bool judged,
                             NoliSim** out) {
  NoliStatus status = NOLI_OK;
  NoliSim* sim = NULL;
  NoliSimDef* def = NULL;
  NoliOwnedDefinition definition = {0};
  *out = NULL;
  NOLI_TRY(noli_definition_take(context, given, &def));
  NOLI_TRY(noli_definition_check(context, def));
  NOLI_TRY(noli_owned_definition_copy(context, def, &definition));
  NOLI_TRY(noli_sim_build(context, &definition, NULL, &sim));
  if (judged) {
    NOLI_TRY(judge_start(sim->model, def));
  }
  NOLI_TRY(noli_rank_cells_leave_to_first(sim->own_model));
done:
  status = noli_fail_at(context, def != NULL ? def->where : NULL, status);
  status = noli_ranks_agree(context, status);
  noli_definition_free(context, &def);
  if (status != NOLI_OK) {
    noli_sim_release(&sim);
  }
  *out = sim;
  return status;
}

NoliStatus noli_sim_create(NoliContext* context, const NoliSimDef* def, NoliSim** out) {
  NOLI_REQUIRE(context, context != NULL && def != NULL && out != NULL);
  return sim_create(context, def, true, out);
}

NoliStatus noli_sim_create_for_reading(NoliContext* context, const NoliSimDef* def, NoliSim** out) {
  return sim_create(context, def, false, out);
}

void noli_sim_release(NoliSim** owner) {
  NoliSim* sim = *owner;
  if (sim == NULL) {
    return;
  }
  noli_stage_destroy(&sim->own_stage);
  noli_stage_destroy(&sim->substitute.stage);
  noli_sim_free_controls(sim);
  noli_surface_tree_destroy(sim->context, &sim->results.tree);
  noli_model_destroy(&sim->own_model);
  noli_motion_path_free(sim->context, &sim->targets.path);
  noli_free(sim->context, sim->host.calls);
  noli_owned_definition_free(sim->context, &sim->definition);
  noli_state_free(sim->context, &sim->state);
  noli_state_free(sim->context, &sim->backup);

  noli_free(sim->context, sim->vectors.v_start);
  noli_free(sim->context, sim->vectors.v_next);
  noli_free(sim->context, sim->vectors.x_first);
  noli_free(sim->context, sim->vectors.v_first);
  noli_free(sim->context, sim->vectors.force_start);
  noli_free(sim->context, sim->vectors.force_next);
  noli_free(sim->context, sim->vectors.ended_next);

  noli_free(sim->context, sim->targets.axes);
  noli_free(sim->context, sim->targets.motion);
  noli_free(sim->context, sim->targets.x);
  noli_free(sim->context, sim->results.volumes);
  noli_free(sim->context, sim->results.springs);
  noli_free(sim->context, sim->results.joints);
  noli_free(sim->context, sim->results.volume_state);
  noli_free(sim->context, sim->targets.middle);
  noli_pair_forces_free(sim->context, &sim->results.pair_forces);

  noli_free(sim->context, sim);
  *owner = NULL;
}

double noli_sim_time(const NoliSim* sim) {
  if (sim == NULL) {
    return 0.0;
  }
  return *sim->state.time;
}

int64_t noli_sim_step_count(const NoliSim* sim) {
  if (sim == NULL) {
    return 0;
  }
  return *sim->state.step;
}

int32_t noli_sim_spring_count(const NoliSim* sim) {
  return sim != NULL ? sim->definition.def->n_springs : 0;
}

int32_t noli_sim_joint_count(const NoliSim* sim) {
  return sim != NULL ? sim->definition.def->n_joints : 0;
}

const char* noli_sim_joint_name(const NoliSim* sim, int32_t joint) {
  return joint >= 0 && joint < noli_sim_joint_count(sim) ? sim->definition.def->joints[joint].name
                                                         : "";
}

const char* noli_sim_spring_name(const NoliSim* sim, int32_t spring) {
  return spring >= 0 && spring < noli_sim_spring_count(sim)
             ? sim->definition.def->springs[spring].name
             : "";
}

int32_t noli_sim_body_count(const NoliSim* sim) {
  if (sim == NULL) {
    return 0;
  }
  return sim->model->n_body;
}

int32_t noli_sim_node_count(const NoliSim* sim) {
  if (sim == NULL) {
    return 0;
  }
  return sim->model->problem.n_node;
}

int32_t noli_sim_vertex_count(const NoliSim* sim) {
  if (sim == NULL) {
    return 0;
  }
  return sim->model->problem.n_vert;
}

int32_t noli_sim_tet_count(const NoliSim* sim) {
  if (sim == NULL) {
    return 0;
  }
  return sim->model->cell_first[sim->model->n_body];
}

int32_t noli_sim_surface_triangle_count(const NoliSim* sim) {
  if (sim == NULL) {
    return 0;
  }
  return sim->model->problem.surface->n_tri;
}

void noli_sim_body_range(const NoliSim* sim, int32_t body, int32_t* first, int32_t* count) {
  bool found = sim != NULL && body >= 0 && body < sim->model->n_body;
  const int32_t* range = found ? &sim->model->vert_first[body] : (const int32_t[2]){0, 0};
  noli_give_count(first, range[0]);
  noli_give_count(count, range[1] - range[0]);
}

double noli_sim_contact_distance(const NoliSim* sim) {
  return sim != NULL ? sim->model->problem.contact.dhat : 0.0;
}

const char* noli_sim_integrator(const NoliSim* sim) {
  if (sim == NULL) {
    return "";
  }
  return sim->model->integrator->name;
}

const char* noli_sim_entity_name(const NoliSim* sim, int32_t entity) {
  if (sim == NULL) {
    return "";
  }
  return entity >= 0 && entity < sim->model->n_entity ? sim->model->name[entity] : "";
}

const double* noli_sim_rest_positions(const NoliSim* sim) {
  if (sim == NULL) {
    return NULL;
  }
  return sim->model->problem.X;
}

const double* noli_sim_positions(const NoliSim* sim) {
  if (sim == NULL) {
    return NULL;
  }
  return sim->state.x;
}

const double* noli_sim_velocities(const NoliSim* sim) {
  if (sim == NULL) {
    return NULL;
  }
  return sim->state.v;
}

const double* noli_sim_masses(const NoliSim* sim) {
  if (sim == NULL) {
    return NULL;
  }
  return sim->model->problem.inertia.weight;
}

const int32_t* noli_sim_tets(const NoliSim* sim) {
  if (sim == NULL) {
    return NULL;
  }
  return sim->model->cell;
}

const int32_t* noli_sim_surface_triangles(const NoliSim* sim) {
  if (sim == NULL) {
    return NULL;
  }
  return sim->model->problem.surface->tri;
}

const int32_t* noli_sim_segments(const NoliSim* sim, int32_t* n_segments) {
  noli_give_count(n_segments, sim != NULL ? sim->model->n_segment : 0);
  return sim != NULL ? sim->model->segment : NULL;
}

const int32_t* noli_sim_points(const NoliSim* sim, int32_t* n_points) {
  noli_give_count(n_points, sim != NULL ? sim->model->n_lone_point : 0);
  return sim != NULL ? sim->model->lone_point : NULL;
}

void noli_sim_follow(NoliSim* sim) {
  noli_sim_outdate(sim);
  noli_stage_follow(sim->stage, sim->state.x);
  noli_stage_follow_vectors(sim->stage, sim->state.v);
}

NoliStatus noli_sim_set_state(NoliSim* sim, const double* x, const double* v) {
  NOLI_REQUIRE_IDLE(sim, sim != NULL && x != NULL && v != NULL);
  NoliStatus status = NOLI_OK;
  size_t n = (size_t)sim->model->problem.n_node * 3;
  size_t n_all = (size_t)sim->model->problem.n_vert * 3;
  double* x_all = NULL;
  for (size_t i = 0; i < n; i++) {
    NOLI_CHECK(sim->context, isfinite(x[i]) && isfinite(v[i]), NOLI_ERROR_ARGUMENT,
               "the state of vertex %zu is not finite", i / 3);
  }
  NOLI_NEW(sim->context, x_all, (int64_t)n_all);
  memcpy(x_all, x, n * sizeof(double));
  noli_stage_follow(sim->stage, x_all);
  NOLI_TRY(noli_sim_require_valid(sim->model, x_all));

  // the history belongs to the old state; a state that is only checked in place keeps it
  noli_sim_outdate(sim);
  bool in_place = x == sim->state.x && v == sim->state.v;
  memcpy(sim->state.x, x_all, n_all * sizeof(double));
  memmove(sim->state.v, v, n * sizeof(double));
  noli_stage_follow_vectors(sim->stage, sim->state.v);
  if (!in_place) {
    sim->state.sizes.n_slips = 0;
    noli_sim_set_coordinates(sim, &sim->state, false);
    noli_sim_clear_past(sim);
    noli_sim_move_histories(sim);
  }
done:
  status = noli_ranks_agree(sim->context, status);
  noli_free(sim->context, x_all);
  return status;
}

NoliStatus noli_sim_put_slips(NoliSim* sim, const NoliStickList* slips) {
  NoliStatus status = NOLI_OK;
  NOLI_TRY(noli_state_resize_slips(sim->context, &sim->state, slips->count));
  for (int64_t i = 0; i < slips->count; i++) {
    const NoliStick* from = &slips->data[i];
    double* to = sim->state.slip + NOLI_STICK_NUMBERS * i;
    memcpy(sim->state.slip_key + NOLI_STICK_WORDS * i, from->key, sizeof from->key);
    noli_store3(to, from->slip);
    to[3] = from->force;
    to[4] = from->path;
  }
done:
  return status;
}

void noli_sim_clear_past(NoliSim* sim) {
  if (noli_integrator_needs_past(sim->model->integrator)) {
    *sim->state.past = 0;
  }
}

bool noli_sim_state_field_sized(NoliSim* sim, int32_t index, NoliStateField* field, size_t size) {
  NoliStateField own;
  if (sim == NULL || !noli_state_field(&sim->state, index, &own)) {
    return false;
  }
  noli_sized_give(field, size, &own, sizeof own);
  return true;
}

int64_t noli_sim_constraint_count(const NoliSim* sim) {
  if (sim == NULL) {
    return 0;
  }
  return sim->state.sizes.n_constraints;
}

NoliStatus noli_sim_set_constraint_count(NoliSim* sim, int64_t count) {
  NOLI_REQUIRE_IDLE(sim, sim != NULL);
  NoliStatus status = NOLI_OK;
  NOLI_CHECK(sim->context, count >= 0, NOLI_ERROR_ARGUMENT,
             "the number of constraints must not be negative");
  NOLI_TRY(noli_state_resize(sim->context, &sim->state, count));
done:
  return status;
}

int64_t noli_sim_slip_count(const NoliSim* sim) {
  if (sim == NULL) {
    return 0;
  }
  return sim->state.sizes.n_slips;
}

NoliStatus noli_sim_set_slip_count(NoliSim* sim, int64_t count) {
  NOLI_REQUIRE_IDLE(sim, sim != NULL);
  NoliStatus status = NOLI_OK;
  int64_t before = sim->state.sizes.n_slips;
  NOLI_CHECK(sim->context, count >= 0, NOLI_ERROR_ARGUMENT,
             "the number of contacts that stick must not be negative");
  NOLI_TRY(noli_state_resize_slips(sim->context, &sim->state, count));
  for (int64_t i = NOLI_STICK_WORDS * before; i < NOLI_STICK_WORDS * count; i++) {
    sim->state.slip_key[i] = 0;
  }
  for (int64_t i = NOLI_STICK_NUMBERS * before; i < NOLI_STICK_NUMBERS * count; i++) {
    sim->state.slip[i] = 0.0;
  }
done:
  return status;
}

uint64_t noli_sim_state_hash(const NoliSim* sim) {
  if (sim == NULL) {
    return 0;
  }
  return noli_state_hash(&sim->state);
}

const char* noli_sim_state_difference(const NoliSim* one, const NoliSim* other) {
  if (one == NULL || other == NULL) {
    return "";
  }
  return noli_state_difference(&one->state, &other->state);
}

NoliStatus noli_sim_copy_state(NoliSim* sim, const NoliSim* from) {
  NOLI_REQUIRE_IDLE(sim, sim != NULL && from != NULL);
  NoliStatus status = NOLI_OK;
  const NoliStateSizes *a = &from->state.sizes, *b = &sim->state.sizes;
  NOLI_CHECK(sim->context,
             a->n == b->n && a->n_force == b->n_force && a->n_before == b->n_before &&
                 a->n_past == b->n_past && a->n_increment == b->n_increment &&
                 a->n_ends == b->n_ends && a->n_history == b->n_history &&
                 a->n_coordinates == b->n_coordinates,
             NOLI_ERROR_ARGUMENT, "the two simulations were not made from the same definition");
  NOLI_TRY(noli_state_copy(sim->context, &from->state, &sim->state));
  noli_sim_outdate(sim);
done:
  return status;
}
