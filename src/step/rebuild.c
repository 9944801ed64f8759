#include "step/rebuild.h"

#include "base/numbers.h"
#include "base/ranks.h"
#include "contact/friction/stick.h"
#include "define/definition_check.h"
#include "define/properties.h"
#include "model/audit.h"
#include "step/fallback.h"
#include "step/joints.h"

#include <string.h>

static int32_t old_number(const int32_t* map, int32_t index) {
  return map != NULL ? map[index] : index;
}

// Copies the values of body `old` in a vector of one simulation to body `b` in that of another.
static void copy_rows(const NoliSim* from, int32_t old, const double* source, NoliSim* to,
                      int32_t b, double* target) {
  const int32_t *range = &to->model->vert_first[b], *old_range = &from->model->vert_first[old];
  memcpy(target + 3 * (int64_t)range[0], source + 3 * (int64_t)old_range[0],
         3 * sizeof(double) * (size_t)(range[1] - range[0]));
}

// The history of the elements of body `old` of one problem to body `b` of another.
static void copy_history(const NoliProblem* from, int32_t old, NoliProblem* to, int32_t b) {
  const NoliBlock *source = noli_problem_block(from, old), *target = noli_problem_block(to, b);
  if (target != NULL && target->n_history > 0) {
    int64_t first = noli_block_history_at(target, to->range[b].begin);
    int64_t end = noli_block_history_at(target, to->range[b].end);
    int64_t first_old = noli_block_history_at(source, from->range[old].begin);
    memcpy(target->history + first, source->history + first_old,
           sizeof(double) * (size_t)(end - first));
  }
}

// Current and initial positions and velocities of bodies that existed before.
static void copy_bodies(const NoliSim* from, NoliSim* to, const int32_t* old_body) {
  for (int32_t b = 0; b < to->model->n_body; b++) {
    int32_t old = old_number(old_body, b);
    if (old == NOLI_NULL_INDEX) {
      continue;
    }
    copy_rows(from, old, from->state.x, to, b, to->state.x);
    copy_rows(from, old, from->state.v, to, b, to->state.v);
    copy_rows(from, old, from->model->x0, to, b, to->own_model->x0);
    copy_rows(from, old, from->model->v0, to, b, to->own_model->v0);
    if (to->state.sizes.n_force > 0) {
      copy_rows(from, old, from->state.force, to, b, to->state.force);
    }
    if (to->state.sizes.n_before > 0) {
      copy_rows(from, old, from->state.x_before, to, b, to->state.x_before);
      copy_rows(from, old, from->state.v_before, to, b, to->state.v_before);
    }
    copy_history(&from->model->problem, old, &to->own_model->problem, b);
  }
  noli_stage_follow(to->stage, to->model->x0);
  noli_stage_follow_vectors(to->stage, to->model->v0);
  noli_sim_follow(to);
}

// The number of a body or half-space, and of a vertex, in a simulation with other bodies;
// NOLI_NULL_INDEX if it is not there.
static int32_t new_entity(const NoliSim* from, const NoliSim* to, const int32_t* old_body,
                          int32_t entity) {
  if (entity >= from->model->n_body) {
    return entity - from->model->n_body + to->model->n_body;
  }
  for (int32_t b = 0; b < to->model->n_body; b++) {
    if (old_body[b] == entity) {
      return b;
    }
  }
  return NOLI_NULL_INDEX;
}

static int32_t new_vertex(const NoliSim* from, const NoliSim* to, const int32_t* old_body,
                          int32_t vertex) {
  int32_t body = from->model->problem.surface->body[vertex];
  int32_t b = new_entity(from, to, old_body, body);
  const int32_t* first = from->model->vert_first;
  bool node = vertex >= first[body] && vertex < first[body + 1];
  return b != NOLI_NULL_INDEX && node ? vertex - first[body] + to->model->vert_first[b]
                                      : NOLI_NULL_INDEX;
}

// The slips of contacts between bodies that are still there. Those of surfaces that follow nodes
// begin anew: their vertices are numbered behind all nodes.
static NoliStatus copy_slips(const NoliSim* from, NoliSim* to, const int32_t* old_body) {
  NoliStatus status = NOLI_OK;
  NoliStickList slips = {0};
  const NoliState* state = &from->state;
  NOLI_TRY(noli_array_reserve(to->context, &slips, state->sizes.n_slips));
  for (int64_t i = 0; i < state->sizes.n_slips; i++) {
    int32_t node[4], entity[2], n_first;
    bool there = true;
    noli_stick_unpack(state->slip_key + NOLI_STICK_WORDS * i, node, entity, &n_first);
    for (int32_t k = 0; k < 4 && node[k] != NOLI_NULL_INDEX; k++) {
      node[k] = new_vertex(from, to, old_body, node[k]);
      there = there && node[k] != NOLI_NULL_INDEX;
    }
    for (int32_t k = 0; k < 2; k++) {
      entity[k] = new_entity(from, to, old_body, entity[k]);
      there = there && entity[k] != NOLI_NULL_INDEX;
    }
    if (there) {
      const double* value = state->slip + NOLI_STICK_NUMBERS * i;
      NoliStick* made = &slips.data[slips.count++];
      *made = (NoliStick){.slip = noli_load3(value), .force = value[3], .path = value[4]};
      noli_stick_key(node, entity, n_first, made->key);
    }
  }
  noli_stick_sort(&slips);
  NOLI_TRY(noli_sim_put_slips(to, &slips));
done:
  noli_array_free(to->context, &slips);
  return status;
}

// The rest of the state. The active set, which refers to primitives by number, is found again if
// these numbers have changed.
static NoliStatus copy_state(const NoliSim* from, NoliSim* to, const NoliRenumbering* old) {
  NoliStatus status = NOLI_OK;
  if (old->body == NULL) {
    return noli_state_copy(to->context, &from->state, &to->state);
  }
  *to->state.time = *from->state.time;
  *to->state.origin = *from->state.origin;
  *to->state.origin_step = *from->state.origin_step;
  *to->state.kappa = *from->state.kappa;
  *to->state.step = *from->state.step;
  *to->state.parts = *from->state.parts;
  if (to->state.sizes.n_increment > 0) {
    *to->state.increment = *from->state.increment;
  }
  *to->state.held = *from->state.held;
  memcpy(to->state.linear, from->state.linear, 2 * sizeof *to->state.linear);
  for (int32_t m = 0; m < to->model->n_motion; m++) {
    int32_t end = to->model->motion[m].end;
    int32_t before = from->model->motion[old_number(old->motion, m)].end;
    if (end != NOLI_NULL_INDEX) {
      to->state.ended[end] = from->state.ended[before];
    }
  }
  noli_sim_copy_coordinates(from, to, old->body);
  NOLI_TRY(copy_slips(from, to, old->body));
done:
  return status;
}

static void copy_controls(const NoliSim* from, NoliSim* to, const NoliRenumbering* old) {
  for (int32_t m = 0; m < to->model->n_motion; m++) {
    if (to->controls.target[m] != NULL) {
      memcpy(to->controls.target[m], from->controls.target[old_number(old->motion, m)],
             3 * sizeof(double) * (size_t)to->model->motion[m].n_node);
      to->controls.pose[m] = from->controls.pose[old_number(old->motion, m)];
    }
  }
  for (int32_t f = 0; f < to->model->n_force; f++) {
    if (to->controls.value[f] != NULL) {
      memcpy(to->controls.value[f], from->controls.value[old_number(old->force, f)],
             3 * sizeof(double) * (size_t)to->model->force[f].n_node);
    }
  }
}

// Warnings already given, and the progress function.
static void copy_host(const NoliSim* from, NoliSim* to) {
  to->host.progress = from->host.progress;
  to->host.progress_user = from->host.progress_user;
  to->host.in_batch = from->host.in_batch;
  to->host.n_body_changes = from->host.n_body_changes;
  to->outcome.friction_warned = from->outcome.friction_warned;
  to->outcome.imbalance_warned = from->outcome.imbalance_warned;
  to->outcome.stretch_warned = from->outcome.stretch_warned;
}

// Exchanges the contents of two simulations, except for the stage of the barrier, whose problem is
// a part of its simulation.
static void rebuild_swap(NoliSim* a, NoliSim* b) {
  noli_sim_end_fallback(a);
  noli_stage_destroy(&a->substitute.stage);
  NoliSim kept = *a;
  *a = *b;
  *b = kept;
  a->own_stage->observer.watch_user = a;
  b->own_stage->observer.watch_user = b;
}

NoliStatus noli_sim_rebuild(NoliSim* sim, NoliOwnedDefinition* definition,
                            const NoliRenumbering* old) {
  NoliStatus status = NOLI_OK;
  NoliSim* made = NULL;
  const double** starts = NULL;
  int32_t n = definition->def->n_bodies;
  NOLI_NEW(sim->context, starts, n);
  for (int32_t b = 0; b < n; b++) {
    int32_t from = old_number(old->body, b);
    starts[b] =
        from != NOLI_NULL_INDEX ? sim->model->x0 + 3 * (int64_t)sim->model->vert_first[from] : NULL;
  }
  NOLI_TRY(noli_sim_build(sim->context, definition, starts, &made));
  copy_bodies(sim, made, old->body);
  NOLI_TRY(copy_state(sim, made, old));
  NOLI_TRY(noli_sim_require_valid(made->model, made->state.x));
  copy_controls(sim, made, old);
  copy_host(sim, made);
  noli_sim_clear_past(made);
  rebuild_swap(sim, made);
done:
  noli_free(sim->context, starts);
  noli_sim_release(&made);
  return status;
}

NoliStatus noli_sim_clone(const NoliSim* sim, NoliContext* context, NoliSim** clone) {
  NOLI_REQUIRE(context, sim != NULL && context != NULL && clone != NULL);
  NOLI_REQUIRE_READABLE(sim, sim != NULL);
  NoliStatus status = NOLI_OK;
  NoliSim* made = NULL;
  NoliOwnedDefinition definition = {0};
  const NoliRenumbering same = {0};
  *clone = NULL;
  NOLI_TRY(noli_owned_definition_copy(context, sim->definition.def, &definition));
  NOLI_TRY(noli_sim_build(context, &definition, NULL, &made));
  copy_bodies(sim, made, NULL);
  NOLI_TRY(copy_state(sim, made, &same));
  copy_controls(sim, made, &same);
done:
  status = noli_ranks_agree(context, status);
  if (status == NOLI_OK) {
    *clone = made;
    made = NULL;
  }
  noli_sim_release(&made);
  return status;
}

// A number in whose place a field counts would have no effect.
static NoliStatus check_numbers(const NoliSim* sim, const NoliBodyDef* body, int32_t part,
                                const NoliMaterialDef* before, const NoliMaterialDef* after) {
  NoliStatus status = NOLI_OK;
  NoliMaterialFields fields = part == NOLI_NULL_INDEX ? body->fields : body->parts[part].fields;
  NoliMaterialDef old = *before, new = *after;
  for (int32_t k = 0; k < NOLI_PROPERTY_COUNT; k++) {
    const NoliProperty* property = noli_property_at(k);
    NOLI_CHECK(sim->context,
               *noli_property_values(property, &fields) == NULL ||
                   *noli_property_number(property, &old) == *noli_property_number(property, &new),
               NOLI_ERROR_ARGUMENT,
               "body \"%s\": a field gives the %s of each element, and stays; the number in its "
               "place cannot be changed",
               body->name, noli_property_limits(property)->noun);
  }
done:
  return status;
}

// A history stays only if it has the same branches.
static NoliStatus check_history(const NoliSim* sim, const NoliBodyDef* body,
                                const NoliMaterialDef* before, const NoliMaterialDef* after) {
  NoliStatus status = NOLI_OK;
  int32_t n = before->prony != NULL ? before->prony->n : 0;
  int32_t n_after = after->prony != NULL ? after->prony->n : 0;
  NOLI_CHECK(sim->context, n == n_after, NOLI_ERROR_ARGUMENT,
             "body \"%s\": its Prony series has %d terms, each with a history; their number cannot "
             "be changed, got %d",
             body->name, (int)n, (int)n_after);
  NOLI_CHECK(sim->context, noli_material_flows(before) == noli_material_flows(after),
             NOLI_ERROR_ARGUMENT,
             "body \"%s\": a yield stress, which has a history, cannot be given or taken away",
             body->name);
done:
  return status;
}

NoliStatus noli_sim_set_material(NoliSim* sim, int32_t body, int32_t part,
                                 const NoliMaterialDef* material) {
  NOLI_REQUIRE_IDLE(sim, sim != NULL && material != NULL);
  NoliStatus status = NOLI_OK;
  NoliOwnedDefinition definition = {0};
  const NoliRenumbering same = {0};
  const NoliSimDef* def = sim->definition.def;
  NoliMaterialDef present;
  NOLI_TRY(noli_sim_material(sim, body, part, &present));
  NOLI_TRY(check_numbers(sim, &def->bodies[body], part, &present, material));
  NOLI_TRY(check_history(sim, &def->bodies[body], &present, material));

  // in a copy of the definition
  NOLI_TRY(noli_owned_definition_copy(sim->context, def, &definition));
  NoliBodyDef* changed = &definition.bodies[body];
  NoliMaterialDef* to = part == NOLI_NULL_INDEX ? &changed->material
                                                : noli_owned_data(&changed->parts[part].material);
  const char* law = to->law;
  *to = *material;
  to->law = to->law != NULL ? to->law : law;
  NOLI_TRY(noli_owned_definition_keep(sim->context, &definition, to));
  NOLI_TRY(noli_sim_rebuild(sim, &definition, &same));
done:
  status = noli_ranks_agree(sim->context, status);
  noli_owned_definition_free(sim->context, &definition);
  return status;
}

// Whether the definition switches contact of two entities on or off and the model does not.
static bool switches_contact(const NoliSim* sim, const NoliPairDef* pair) {
  return noli_body_pairs_get(&sim->model->problem.contact.body_pairs, pair->a, pair->b) !=
         pair->contact;
}

NoliStatus noli_sim_set_pair(NoliSim* sim, const NoliPairDef* given) {
  NOLI_REQUIRE_IDLE(sim, sim != NULL && given != NULL);
  NoliStatus status = NOLI_OK;
  NoliPairDef pair;
  NoliOwnedDefinition definition = {0};
  const NoliRenumbering same = {0};
  int32_t n_entity = sim->model->n_entity;

  NOLI_TRY(noli_definition_take_pair(sim->context, given, &pair));
  NOLI_TRY(noli_definition_name_pair(sim->context, sim->definition.def, &pair));
  NOLI_CHECK(sim->context, pair.a >= 0 && pair.a < n_entity && pair.b >= 0 && pair.b < n_entity,
             NOLI_ERROR_ARGUMENT, "pair (%d, %d): an entity does not exist, there are %d",
             (int)pair.a, (int)pair.b, (int)n_entity);

  NOLI_TRY(noli_owned_definition_copy(sim->context, sim->definition.def, &definition));
  NOLI_TRY(noli_owned_definition_set_pair(sim->context, &definition, &pair));
  NOLI_TRY(noli_definition_check(sim->context, definition.def));

  if (switches_contact(sim, &pair)) {
    NOLI_TRY(noli_sim_rebuild(sim, &definition, &same));
  } else {
    NOLI_TRY(noli_model_set_pairs(sim->own_model, definition.def));
    sim->substitute.problem.contact.pairs = sim->model->problem.contact.pairs;
    sim->substitute.problem.contact.body_pairs = sim->model->problem.contact.body_pairs;
    sim->substitute.problem.contact.sampling = sim->model->problem.contact.sampling;
    sim->substitute.problem.friction.acts = sim->model->problem.friction.acts;
    NoliOwnedDefinition before = sim->definition;
    sim->definition = definition;
    definition = before;
  }
done:
  status = noli_ranks_agree(sim->context, status);
  noli_owned_definition_free(sim->context, &definition);
  return status;
}

// ---- bodies -------------------------------------------------------------------------------------

// Converts a length or speed relative to the size of the scene to its current value.
static void fix_scaled(NoliScaled* scaled, const NoliSceneSize* size) {
  *scaled = (NoliScaled){noli_resolve(*scaled, size), NOLI_ABSOLUTE};
}

// The same of all such members of an item of a list.
static void fix_item(NoliNumbersOf of, void* item, const NoliSceneSize* size) {
  const NoliNumberTable* table = noli_numbers(of);
  for (int32_t k = 0; k < table->n; k++) {
    if (table->number[k].type == NOLI_NUMBER_SCALED) {
      fix_scaled((NoliScaled*)(void*)((char*)item + table->number[k].offset), size);
    }
  }
}

void noli_sim_fix_lengths(const NoliSim* sim, NoliOwnedDefinition* definition) {
  NoliSimDef* def = definition->def;
  const NoliProblem* problem = &sim->model->problem;
  def->contact_distance = (NoliScaled){problem->contact.dhat, NOLI_ABSOLUTE};
  fix_scaled(&def->surface_radius, &problem->size);
  fix_scaled(&def->stribeck_speed, &problem->size);
  fix_scaled(&def->friction_speed, &problem->size);
  fix_scaled(&def->stick_length, &problem->size);
  fix_scaled(&def->adhesion_range, &problem->size);
  fix_scaled(&def->gcp.eps_target, &problem->size);
  fix_scaled(&def->gcp.length, &problem->size);
#define FIX(list, type, item, ITEM)                                                                \
  for (int32_t i = 0; i < def->n_##list; i++) {                                                    \
    fix_item(NOLI_NUMBERS_##ITEM, &definition->list[i], &problem->size);                           \
  }
  FIX(pairs, NoliPairDef, pair, PAIR)
  NOLI_CONNECTION_LISTS(FIX)
#undef FIX
}

// The same for the tolerance, which stays relative because it then follows speeds too.
static void keep_tolerance(NoliSim* sim, double before) {
  NoliScaled* tolerance = &sim->definition.def->tolerance;
  const NoliProblem* problem = &sim->model->problem;
  if (tolerance->relative != NOLI_ABSOLUTE) {
    tolerance->value =
        before / noli_resolve((NoliScaled){1.0, tolerance->relative}, &problem->size);
    noli_model_set_tolerance(sim->own_model, *tolerance);
  }
}

// A model of moving bodies starts at their current positions, which become the initial positions of
// its definition.
static void start_here(const NoliSim* sim, NoliOwnedDefinition* definition,
                       const int32_t* old_body) {
  for (int32_t b = 0; b < definition->def->n_bodies; b++) {
    int32_t old = old_body[b];
    if (old != NOLI_NULL_INDEX) {
      definition->bodies[b].x0 = &sim->state.x[3 * (int64_t)sim->model->vert_first[old]];
    }
  }
}

// Rebuilds the simulation with other bodies.
static NoliStatus rebuild_bodies(NoliSim* sim, NoliOwnedDefinition* definition,
                                 const NoliRenumbering* old) {
  NoliStatus status = NOLI_OK;
  const NoliSimDef* def = definition->def;
  const double** x0 = NULL;
  NOLI_NEW(sim->context, x0, def->n_bodies);
  for (int32_t b = 0; b < def->n_bodies; b++) {
    x0[b] = def->bodies[b].x0;
  }
  noli_sim_fix_lengths(sim, definition);
  start_here(sim, definition, old->body);
  double tolerance = sim->model->problem.solver.tolerance;
  NOLI_TRY(noli_sim_rebuild(sim, definition, old));
  keep_tolerance(sim, tolerance);
  sim->host.n_body_changes++;
  for (int32_t b = 0; b < sim->definition.def->n_bodies; b++) {
    sim->definition.bodies[b].x0 = x0[b];
  }
done:
  noli_free(sim->context, x0);
  return status;
}

NoliStatus noli_sim_add_body(NoliSim* sim, const NoliBodyDef* given, int32_t* index) {
  NOLI_REQUIRE_IDLE(sim, sim != NULL && given != NULL);
  NoliStatus status = NOLI_OK;
  NoliContext* context = sim->context;
  NoliOwnedDefinition definition = {0};
  NoliBodyDef body;
  int32_t* old_body = NULL;
  NOLI_TRY(noli_sim_require_own_bodies(sim, __func__));
  int32_t n = sim->model->n_body;
  NOLI_TRY(noli_definition_take_body(context, given, &body));
  NOLI_TRY(noli_definition_check_meshes(context, &body));
  NOLI_TRY(noli_owned_definition_copy(context, sim->definition.def, &definition));
  NOLI_TRY(noli_owned_definition_set_body(context, &definition, &body, n));

  // half-spaces are numbered after bodies
  NoliPairDef* pairs = definition.pairs;
  for (int32_t i = 0; i < definition.def->n_pairs; i++) {
    pairs[i].a += pairs[i].a >= n ? 1 : 0;
    pairs[i].b += pairs[i].b >= n ? 1 : 0;
  }
  NOLI_NEW(context, old_body, n + 1);
  for (int32_t b = 0; b <= n; b++) {
    old_body[b] = b < n ? b : NOLI_NULL_INDEX;
  }
  NOLI_TRY(noli_definition_check(context, definition.def));
  NOLI_TRY(rebuild_bodies(sim, &definition, &(NoliRenumbering){.body = old_body}));
  if (index != NULL) {
    *index = n;
  }
done:
  status = noli_ranks_agree(context, status);
  noli_owned_definition_free(context, &definition);
  noli_free(context, old_body);
  return status;
}

// Removes the items of a list that refer to the body by one of two members, which may be the same,
// and renumbers the others; `kept` (with space for all, or NULL) receives the former number of each
// remaining item.
#define REMOVE_ITEMS(Type, list, one, two, kept)                                                   \
  do {                                                                                             \
    Type* items_ = definition.list;                                                                \
    int32_t n_ = 0, *kept_ = (kept);                                                               \
    for (int32_t i_ = 0; i_ < def->n_##list; i_++) {                                               \
      Type item_ = items_[i_];                                                                     \
      if (item_.one == body || item_.two == body) {                                                \
        continue;                                                                                  \
      }                                                                                            \
      item_.one = renumbered(items_[i_].one, body);                                                \
      item_.two = renumbered(items_[i_].two, body);                                                \
      if (kept_ != NULL) {                                                                         \
        kept_[n_] = i_;                                                                            \
      }                                                                                            \
      items_[n_++] = item_;                                                                        \
    }                                                                                              \
    def->n_##list = n_;                                                                            \
  } while (0)

// The number of an entity behind a body that is removed.
static int32_t renumbered(int32_t entity, int32_t body) {
  return entity > body ? entity - 1 : entity;
}

// What followed a joint that is gone is free.
static void release_followers(NoliOwnedDefinition* definition) {
  const NoliSimDef* def = definition->def;
  for (int32_t i = 0; i < def->n_joints; i++) {
    NoliCoordinateDef* own[] = {&definition->joints[i].coordinate, &definition->joints[i].travel};
    for (int k = 0; k < 2; k++) {
      bool there = false;
      for (int32_t j = 0; own[k]->follows != NULL && j < def->n_joints; j++) {
        there = there || strcmp(def->joints[j].name, own[k]->follows) == 0;
      }
      own[k]->follows = there ? own[k]->follows : NULL;
    }
  }
}

NoliStatus noli_sim_remove_body(NoliSim* sim, int32_t body) {
  NOLI_REQUIRE_IDLE(sim, sim != NULL);
  NoliStatus status = NOLI_OK;
  NoliContext* context = sim->context;
  NoliOwnedDefinition definition = {0};
  const NoliModel* model = sim->model;
  int32_t *old_body = NULL, *old_motion = NULL, *old_force = NULL;
  NOLI_TRY(noli_sim_require_own_bodies(sim, __func__));
  NOLI_CHECK(context, body >= 0 && body < model->n_body, NOLI_ERROR_ARGUMENT,
             "there is no body %d to remove", (int)body);
  int32_t n_others = 0;
  for (int32_t b = 0; b < model->n_body; b++) {
    n_others += b != body && !model->obstacle[b] ? 1 : 0;
  }
  NOLI_CHECK(context, n_others > 0, NOLI_ERROR_ARGUMENT,
             "body \"%s\" is the last one that deforms: it cannot be removed", model->name[body]);
  NOLI_TRY(noli_owned_definition_copy(context, sim->definition.def, &definition));
  NoliSimDef* def = definition.def;

  // bodies
  NOLI_NEW(context, old_body, def->n_bodies);
  NoliBodyDef* bodies = definition.bodies;
  def->n_bodies--;
  for (int32_t b = 0; b < def->n_bodies; b++) {
    old_body[b] = b + (b >= body ? 1 : 0);
    bodies[b] = bodies[old_body[b]];
  }

  // the items that refer to them
  NOLI_NEW(context, old_motion, def->n_motions);
  NOLI_NEW(context, old_force, def->n_forces);
  REMOVE_ITEMS(NoliMotionDef, motions, body, body, old_motion);
  REMOVE_ITEMS(NoliForceDef, forces, body, body, old_force);
  REMOVE_ITEMS(NoliVolumeDef, volumes, body, body, NULL);
  REMOVE_ITEMS(NoliPairDef, pairs, a, b, NULL);
#define REMOVE_CONNECTIONS(list, type, item, ITEM) REMOVE_ITEMS(type, list, body, to, NULL);
  NOLI_CONNECTION_LISTS(REMOVE_CONNECTIONS)
#undef REMOVE_CONNECTIONS
  release_followers(&definition);
  const NoliRenumbering renumbering = {old_body, old_motion, old_force};
  status = rebuild_bodies(sim, &definition, &renumbering);
done:
  status = noli_ranks_agree(context, status);
  noli_owned_definition_free(context, &definition);
  noli_free(context, old_body);
  noli_free(context, old_motion);
  noli_free(context, old_force);
  return status;
}
