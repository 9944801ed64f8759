// Control between steps: targets, values, parameters and states. noli/live.h
#include "step/simulation.h"

#include "base/digest.h"
#include "base/ranks.h"
#include "base/sized.h"
#include "define/definition.h"
#include "material/material.h"
#include "math/mat3.h"
#include "model/audit.h"
#include "model/fingerprint.h"
#include "step/joints.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// ---- names --------------------------------------------------------------------------------------

int32_t noli_sim_motion_count(const NoliSim* sim) {
  return sim != NULL ? sim->model->n_motion : 0;
}

int32_t noli_sim_force_count(const NoliSim* sim) {
  return sim != NULL ? sim->model->n_force : 0;
}

int32_t noli_sim_entity_count(const NoliSim* sim) {
  return sim != NULL ? sim->model->n_entity : 0;
}

static bool has_motion(const NoliSim* sim, int32_t motion) {
  return sim != NULL && motion >= 0 && motion < sim->model->n_motion;
}

static bool has_force(const NoliSim* sim, int32_t force) {
  return sim != NULL && force >= 0 && force < sim->model->n_force;
}

const char* noli_sim_motion_name(const NoliSim* sim, int32_t motion) {
  return has_motion(sim, motion) ? sim->definition.def->motions[motion].name : "";
}

const char* noli_sim_force_name(const NoliSim* sim, int32_t force) {
  return has_force(sim, force) ? sim->definition.def->forces[force].name : "";
}

typedef const char* NameFn(const NoliSim* sim, int32_t index);

static int32_t live_find_name(const NoliSim* sim, const char* name, int32_t n, NameFn* name_of) {
  for (int32_t i = 0; name != NULL && i < n; i++) {
    if (strcmp(name_of(sim, i), name) == 0) {
      return i;
    }
  }
  return NOLI_NULL_INDEX;
}

int32_t noli_sim_find_motion(const NoliSim* sim, const char* name) {
  return live_find_name(sim, name, noli_sim_motion_count(sim), noli_sim_motion_name);
}

int32_t noli_sim_find_force(const NoliSim* sim, const char* name) {
  return live_find_name(sim, name, noli_sim_force_count(sim), noli_sim_force_name);
}

int32_t noli_sim_find_spring(const NoliSim* sim, const char* name) {
  return live_find_name(sim, name, noli_sim_spring_count(sim), noli_sim_spring_name);
}

int32_t noli_sim_find_joint(const NoliSim* sim, const char* name) {
  return live_find_name(sim, name, noli_sim_joint_count(sim), noli_sim_joint_name);
}

int32_t noli_sim_find_entity(const NoliSim* sim, const char* name) {
  return live_find_name(sim, name, noli_sim_entity_count(sim), noli_sim_entity_name);
}

// ---- control ------------------------------------------------------------------------------------

const int32_t* noli_sim_motion_nodes(const NoliSim* sim, int32_t motion, int32_t* n_node) {
  bool found = has_motion(sim, motion);
  noli_give_count(n_node, found ? sim->model->motion[motion].n_node : 0);
  return found ? sim->model->motion[motion].node : NULL;
}

double* noli_sim_motion_targets(NoliSim* sim, int32_t motion, int32_t* n_node) {
  bool controlled = has_motion(sim, motion) && sim->controls.target[motion] != NULL;
  noli_give_count(n_node, controlled ? sim->model->motion[motion].n_node : 0);
  return controlled ? sim->controls.target[motion] : NULL;
}

double* noli_sim_force_values(NoliSim* sim, int32_t force, const int32_t** node, int32_t* n_node) {
  bool controlled = has_force(sim, force) && sim->controls.value[force] != NULL;
  noli_give_count(n_node, controlled ? sim->model->force[force].n_node : 0);
  if (node != NULL) {
    *node = controlled ? sim->controls.local[force] : NULL;
  }
  return controlled ? sim->controls.value[force] : NULL;
}

// The rotation of a unit quaternion (w, x, y, z).
static NoliMat3 rotation_of(const double q[4]) {
  NoliVec3 axis = {q[1], q[2], q[3]};
  NoliMat3 cross = noli_cross33(axis), twice = noli_mul33(cross, cross);
  NoliMat3 R = noli_identity3();
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) {
      R.m[i][j] += 2.0 * (q[0] * cross.m[i][j] + twice.m[i][j]);
    }
  }
  return R;
}

// The position of a vertex in a pose with a unit quaternion.
static NoliVec3 live_place_of(const NoliPose* pose, NoliVec3 X) {
  NoliMat3 R = rotation_of(pose->quaternion);
  return noli_add3(noli_load3(pose->position), noli_mul33_vec(&R, X));
}

bool noli_sim_turns_with_pose(const NoliSim* sim, int32_t motion, int32_t i, NoliVec3 axis,
                              NoliVec3* turned) {
  const NoliPose* pose = &sim->controls.pose[motion];
  const double* q = pose->quaternion;
  bool set = q[0] != 0.0 || q[1] != 0.0 || q[2] != 0.0 || q[3] != 0.0;
  if (sim->controls.target[motion] == NULL || !set) {
    return false;
  }
  NoliVec3 place = live_place_of(pose, noli_load3(&sim->model->motion[motion].X[3 * (int64_t)i]));
  NoliVec3 target = noli_load3(&sim->controls.target[motion][3 * (int64_t)i]);
  NoliMat3 R = rotation_of(pose->quaternion);
  *turned = noli_mul33_vec(&R, axis);
  return noli_norm3(noli_sub3(place, target)) == 0.0;
}

NoliStatus noli_sim_set_pose(NoliSim* sim, int32_t motion, const NoliPose* pose) {
  NOLI_REQUIRE_IDLE(sim, sim != NULL && pose != NULL);
  NoliStatus status = NOLI_OK;
  int32_t n_node;
  double* target = noli_sim_motion_targets(sim, motion, &n_node);

  NOLI_CHECK(sim->context, target != NULL, NOLI_ERROR_ARGUMENT, "motion %d %s", (int)motion,
             has_motion(sim, motion) ? "is not controlled" : "does not exist");
  double length = 0.0;
  for (int k = 0; k < 4; k++) {
    length = hypot(length, pose->quaternion[k]);
  }
  NOLI_CHECK(sim->context,
             isfinite(length) && length > 0.0 && noli_is_finite3(noli_load3(pose->position)),
             NOLI_ERROR_ARGUMENT, "the pose of motion \"%s\" is invalid: %s",
             noli_sim_motion_name(sim, motion),
             length == 0.0 ? "its quaternion is zero" : "it is not finite");

  NoliPose* own = &sim->controls.pose[motion];
  *own = *pose;
  for (int k = 0; k < 4; k++) {
    own->quaternion[k] = pose->quaternion[k] / length;
  }
  for (int64_t i = 0; i < n_node; i++) {
    NoliVec3 X = noli_load3(&sim->model->motion[motion].X[3 * i]);
    noli_store3(&target[3 * i], live_place_of(own, X));
  }
done:
  return status;
}

// The motor in a coordinate of a joint; NOLI_NULL_INDEX: there is none.
static int32_t find_motor(const NoliSim* sim, int32_t joint, int32_t coordinate) {
  int32_t n, first = noli_sim_first_coordinate(sim, joint, &n);
  bool found = coordinate >= 0 && coordinate < n;
  return found && sim->model->problem.coordinates.item[first + coordinate].motor != NOLI_MOTOR_NONE
             ? first + coordinate
             : NOLI_NULL_INDEX;
}

NoliStatus noli_sim_set_joint_target(NoliSim* sim, int32_t joint, int32_t coordinate,
                                     double target) {
  NOLI_REQUIRE_IDLE(sim, sim != NULL);
  NoliStatus status = NOLI_OK;
  bool exists = joint >= 0 && joint < noli_sim_joint_count(sim);
  NOLI_CHECK(sim->context, exists, NOLI_ERROR_ARGUMENT, "there is no joint %d", (int)joint);
  int32_t motor = find_motor(sim, joint, coordinate);
  NOLI_CHECK(sim->context, motor != NOLI_NULL_INDEX, NOLI_ERROR_ARGUMENT,
             "joint \"%s\" has no motor in coordinate %d", noli_sim_joint_name(sim, joint),
             (int)coordinate);
  NOLI_CHECK(sim->context, !isinf(target), NOLI_ERROR_ARGUMENT,
             "the target of joint \"%s\" is infinite", noli_sim_joint_name(sim, joint));
  noli_sim_joint_numbers(sim, motor)[NOLI_JOINT_TARGET] = target;
done:
  return status;
}

double noli_sim_joint_target(const NoliSim* sim, int32_t joint, int32_t coordinate) {
  int32_t motor = sim != NULL ? find_motor(sim, joint, coordinate) : NOLI_NULL_INDEX;
  return motor != NOLI_NULL_INDEX ? noli_sim_motor_target(sim, motor, *sim->state.time)
                                  : (double)NAN;
}

NoliStatus noli_sim_create_controls(NoliSim* sim) {
  NoliStatus status = NOLI_OK;
  const NoliModel* model = sim->model;
  NoliControls* controls = &sim->controls;
  NOLI_NEW_ZERO(sim->context, controls->target, model->n_motion);
  NOLI_NEW_ZERO(sim->context, controls->pose, model->n_motion);
  NOLI_NEW_ZERO(sim->context, controls->value, model->n_force);
  NOLI_NEW_ZERO(sim->context, controls->local, model->n_force);
  for (int32_t m = 0; m < model->n_motion; m++) {
    if (model->motion[m].def.controlled) {
      NOLI_NEW_ZERO(sim->context, controls->target[m], 3 * (int64_t)model->motion[m].n_node);
    }
  }

  for (int32_t f = 0; f < model->n_force; f++) {
    const NoliForce* force = &model->force[f];
    if (force->def.controlled) {
      NOLI_NEW_ZERO(sim->context, controls->value[f], 3 * (int64_t)force->n_node);
      NOLI_NEW(sim->context, controls->local[f], force->n_node);
      for (int32_t i = 0; i < force->n_node; i++) {
        controls->local[f][i] = noli_model_local(model, force->node[i]);
      }
    }
  }

  noli_sim_reset_controls(sim);
done:
  return status;
}

void noli_sim_reset_controls(NoliSim* sim) {
  const NoliModel* model = sim->model;
  for (int32_t m = 0; m < model->n_motion; m++) {
    const NoliMotion* motion = &model->motion[m];
    int64_t first = model->vert_first[motion->def.body];
    sim->controls.pose[m] = (NoliPose){0};
    for (int64_t i = 0; sim->controls.target[m] != NULL && i < motion->n_node; i++) {
      memcpy(&sim->controls.target[m][3 * i], &model->x0[3 * (first + motion->node[i])],
             3 * sizeof(double));
    }
  }
  for (int32_t f = 0; f < model->n_force; f++) {
    if (sim->controls.value[f] != NULL) {
      memset(sim->controls.value[f], 0, 3 * sizeof(double) * (size_t)model->force[f].n_node);
    }
  }
}

void noli_sim_free_controls(NoliSim* sim) {
  NoliControls* controls = &sim->controls;
  for (int32_t m = 0; controls->target != NULL && m < sim->model->n_motion; m++) {
    noli_free(sim->context, controls->target[m]);
  }
  for (int32_t f = 0; controls->value != NULL && f < sim->model->n_force; f++) {
    noli_free(sim->context, controls->value[f]);
  }
  for (int32_t f = 0; controls->local != NULL && f < sim->model->n_force; f++) {
    noli_free(sim->context, controls->local[f]);
  }
  noli_free(sim->context, controls->target);
  noli_free(sim->context, controls->pose);
  noli_free(sim->context, controls->value);
  noli_free(sim->context, controls->local);
  *controls = (NoliControls){0};
}

// ---- parameters ---------------------------------------------------------------------------------

void noli_sim_gravity(const NoliSim* sim, double gravity[3]) {
  for (int i = 0; gravity != NULL && i < 3; i++) {
    gravity[i] = sim != NULL ? sim->model->gravity[i] : 0.0;
  }
}

NoliStatus noli_sim_pair(const NoliSim* sim, int32_t a, int32_t b, NoliPairDef* given) {
  NOLI_REQUIRE(sim != NULL ? sim->context : NULL, sim != NULL && given != NULL);
  NoliStatus status = NOLI_OK;
  NoliPairDef pair;
  uint32_t size = given->size;
  int32_t n_entity = sim->model->n_entity;
  NOLI_CHECK(sim->context, a >= 0 && a < n_entity && b >= 0 && b < n_entity, NOLI_ERROR_ARGUMENT,
             "pair (%d, %d): an entity does not exist, there are %d", (int)a, (int)b,
             (int)n_entity);
  NOLI_TRY(noli_definition_take_pair(sim->context, given, &pair));
  pair = noli_definition_pair(sim->definition.def, a, b);
  pair.contact = noli_body_pairs_get(&sim->model->problem.contact.body_pairs, a, b);
  const NoliProblem* problem = &sim->model->problem;
  double own = noli_resolve(pair.distance, &problem->size);
  pair.distance = (NoliScaled){own > 0.0 ? own : problem->contact.dhat, NOLI_ABSOLUTE};
  double reach =
      noli_model_adhesion_range(sim->model, sim->definition.def, &pair, pair.distance.value);
  pair.adhesion_range = (NoliScaled){reach, NOLI_ABSOLUTE};
  noli_sized_give(given, size, &pair, sizeof pair);
  given->size = size;
done:
  return status;
}

// The material of a body or part of a definition; NULL with a message if there is none.
static const NoliMaterialDef* live_find_material(const NoliSim* sim, int32_t body, int32_t part) {
  const NoliSimDef* def = sim->definition.def;
  if (body < 0 || body >= def->n_bodies || def->bodies[body].obstacle) {
    (void)noli_fail(sim->context, NOLI_ERROR_ARGUMENT, "body %d %s", (int)body,
                    body >= 0 && body < def->n_bodies ? "is an obstacle: it has no material"
                                                      : "does not exist");
    return NULL;
  }
  const NoliBodyDef* owner = &def->bodies[body];
  if (part != NOLI_NULL_INDEX && (part < 0 || part >= owner->n_parts)) {
    (void)noli_fail(sim->context, NOLI_ERROR_ARGUMENT, "body \"%s\" has no part %d", owner->name,
                    (int)part);
    return NULL;
  }
  return part == NOLI_NULL_INDEX ? &owner->material : &owner->parts[part].material;
}

NoliStatus noli_sim_material(const NoliSim* sim, int32_t body, int32_t part,
                             NoliMaterialDef* material) {
  NOLI_REQUIRE(sim != NULL ? sim->context : NULL, sim != NULL && material != NULL);
  const NoliMaterialDef* found = live_find_material(sim, body, part);
  if (found != NULL) {
    *material = *found;
    // a name that stays when the definition changes: callers set what they got, more than once
    const NoliMaterial* law = noli_material_find(found->law);
    material->law = law != NULL ? law->name : NULL;
  }
  return found != NULL ? NOLI_OK : NOLI_ERROR_ARGUMENT;
}

NoliStatus noli_sim_set_gravity(NoliSim* sim, const double gravity[3]) {
  NOLI_REQUIRE_IDLE(sim, sim != NULL && gravity != NULL);
  NoliStatus status = NOLI_OK;
  NOLI_CHECK(sim->context, noli_is_finite3(noli_load3(gravity)), NOLI_ERROR_ARGUMENT,
             "gravity is not finite");
  memcpy(sim->definition.def->gravity, gravity, 3 * sizeof(double));
  memcpy(sim->own_model->gravity, gravity, 3 * sizeof(double));
  noli_model_stiffen_rigid(sim->own_model);
  noli_sim_clear_past(sim);
done:
  return status;
}

double noli_sim_time_step(const NoliSim* sim) {
  return sim != NULL ? sim->model->h : 0.0;
}

// Steps are counted from the current time.
static void begin_counting(NoliSim* sim) {
  *sim->state.origin = *sim->state.time;
  *sim->state.origin_step = *sim->state.step;
  noli_sim_clear_past(sim);
}

// Increments are no longer than a step: the definition stays valid.
static void shorten_increments(NoliIncrementDef* rule, double time_step) {
  rule->initial = fmin(rule->initial, time_step);
  rule->smallest = fmin(rule->smallest, rule->initial);
}

// Contacts keep the length at which they yield, and with it what they hold; by default that of a
// new simulation follows from the time step.
static void keep_stick_length(NoliSim* sim) {
  NoliFrictionSettings* friction = &sim->own_model->problem.friction;
  if (friction->sticks && !sim->model->integrator->quasi_static) {
    friction->speed_scale = friction->stick_length / sim->model->h;
    sim->substitute.problem.friction.speed_scale = friction->speed_scale;
    sim->definition.def->stick_length = (NoliScaled){friction->stick_length, NOLI_ABSOLUTE};
  }
}

NoliStatus noli_sim_set_time_step(NoliSim* sim, double time_step) {
  NOLI_REQUIRE_IDLE(sim, sim != NULL);
  NoliStatus status = NOLI_OK;
  NOLI_CHECK(sim->context, time_step > 0.0 && isfinite(time_step), NOLI_ERROR_ARGUMENT,
             "the time step must be > 0, got %g", time_step);
  if (time_step == sim->model->h) {
    return NOLI_OK;
  }
  if (!sim->model->integrator->quasi_static) {
    double ratio = time_step / sim->model->h;
    noli_state_scale(&sim->state, ratio * ratio);
  }
  sim->own_model->h = sim->definition.def->time_step = time_step;
  noli_model_stiffen_rigid(sim->own_model);
  keep_stick_length(sim);
  shorten_increments(&sim->own_model->increments, time_step);
  shorten_increments(&sim->definition.def->increments, time_step);
  begin_counting(sim);
done:
  return status;
}

NoliStatus noli_sim_set_time(NoliSim* sim, double time) {
  NOLI_REQUIRE_IDLE(sim, sim != NULL);
  NoliStatus status = NOLI_OK;
  NOLI_CHECK(sim->context, isfinite(time), NOLI_ERROR_ARGUMENT, "the time is not finite");
  *sim->state.time = time;
  begin_counting(sim);
done:
  return status;
}

// ---- states -------------------------------------------------------------------------------------

NoliStatus noli_sim_reset(NoliSim* sim) {
  NOLI_REQUIRE_IDLE(sim, sim != NULL);
  NoliStatus status = NOLI_OK;
  NoliState state = {0};
  NOLI_TRY(noli_sim_require_valid(sim->model, sim->model->x0));
  NOLI_TRY(noli_sim_create_state(sim, &state));
  // in place: hosts read the arrays, and the frames of blocks are in them
  NOLI_TRY(noli_state_copy(sim->context, &state, &sim->state));
  noli_sim_outdate(sim);
  noli_sim_reset_controls(sim);
done:
  status = noli_ranks_agree(sim->context, status);
  noli_state_free(sim->context, &state);
  return status;
}

// Header of a saved state.
typedef struct StateHeader {
  char magic[8];
  char version[24]; // of the library
  uint64_t model;   // digest of the fingerprints of all bodies
  int64_t n_constraints;
  int64_t n_slips;
  uint64_t hash; // of the state
} StateHeader;

static const char state_magic[8] = {'N', 'O', 'L', 'I', 's', 't', 'a', '\n'};

// Cells only: rest shapes differ by rounding between machines.
static NoliStatus model_digest(const NoliSim* sim, uint64_t* found) {
  NoliStatus status = NOLI_OK;
  uint64_t digest = NOLI_DIGEST_BEGIN;
  for (int32_t b = 0; b < sim->model->n_body; b++) {
    NoliFingerprint print;
    NOLI_TRY(noli_model_fingerprint(sim->model, &sim->definition.def->bodies[b], b, &print));
    digest = noli_digest(digest, &print, sizeof print);
  }
  *found = noli_digest(digest, &sim->state.sizes, offsetof(NoliStateSizes, n_constraints));
done:
  return status;
}

static NoliStatus make_header(const NoliSim* sim, StateHeader* header) {
  *header = (StateHeader){.n_constraints = sim->state.sizes.n_constraints,
                          .n_slips = sim->state.sizes.n_slips,
                          .hash = noli_state_hash(&sim->state)};
  memcpy(header->magic, state_magic, sizeof header->magic);
  snprintf(header->version, sizeof header->version, "%s", noli_version());
  return model_digest(sim, &header->model);
}

size_t noli_sim_state_bytes(const NoliSim* sim) {
  size_t bytes = sizeof(StateHeader);
  NoliStateField field;
  for (int32_t i = 0; sim != NULL && noli_state_field(&sim->state, i, &field); i++) {
    bytes += 8 * (size_t)field.count;
  }
  return sim != NULL ? bytes : 0;
}

NoliStatus noli_sim_save_state(const NoliSim* sim, void* buffer, size_t size) {
  NOLI_REQUIRE_READABLE(sim, sim != NULL && buffer != NULL);
  NoliStatus status = NOLI_OK;
  size_t need = noli_sim_state_bytes(sim);
  NOLI_CHECK(sim->context, size >= need, NOLI_ERROR_ARGUMENT,
             "the state needs %zu bytes, there is room for %zu", need, size);
  StateHeader header;
  NOLI_TRY(make_header(sim, &header));
  char* at = buffer;
  memcpy(at, &header, sizeof header);
  at += sizeof header;
  NoliStateField field;
  for (int32_t i = 0; noli_state_field(&sim->state, i, &field); i++) {
    memcpy(at, field.data, 8 * (size_t)field.count);
    at += 8 * (size_t)field.count;
  }
done:
  return status;
}

// Reads the fields after a header into a state of the right sizes.
static NoliStatus read_fields(NoliSim* sim, const char* at, size_t size, const StateHeader* header,
                              NoliState* state) {
  NoliStatus status = NOLI_OK;
  NoliStateField field;
  const char* end = at + size;
  for (int32_t i = 0; noli_state_field(state, i, &field); i++) {
    size_t bytes = 8 * (size_t)field.count;
    NOLI_CHECK(sim->context, (size_t)(end - at) >= bytes, NOLI_ERROR_FORMAT,
               "the saved state ends within \"%s\"", field.name);
    memcpy(field.data, at, bytes);
    at += bytes;
  }
  NOLI_CHECK(sim->context, noli_state_hash(state) == header->hash, NOLI_ERROR_FORMAT,
             "the saved state is damaged");
done:
  return status;
}

NoliStatus noli_sim_load_state(NoliSim* sim, const void* buffer, size_t size) {
  NOLI_REQUIRE_IDLE(sim, sim != NULL && buffer != NULL);
  NoliStatus status = NOLI_OK;
  NoliState state = {0};
  StateHeader header;
  uint64_t digest;
  NOLI_CHECK(sim->context, size >= sizeof header, NOLI_ERROR_FORMAT,
             "%zu bytes are not a saved state", size);
  memcpy(&header, buffer, sizeof header);
  NOLI_CHECK(sim->context, memcmp(header.magic, state_magic, sizeof header.magic) == 0,
             NOLI_ERROR_FORMAT, "these bytes are not a saved state");
  NOLI_CHECK(sim->context, strncmp(header.version, noli_version(), sizeof header.version) == 0,
             NOLI_ERROR_FORMAT, "the state was saved by Noli %.23s, this is %s", header.version,
             noli_version());
  NOLI_TRY(model_digest(sim, &digest));
  NOLI_CHECK(sim->context, header.model == digest, NOLI_ERROR_FORMAT,
             "the saved state belongs to another model");
  const int64_t most = (int64_t)(size / 8);
  NOLI_CHECK(sim->context,
             header.n_constraints >= 0 && header.n_constraints < most && header.n_slips >= 0 &&
                 header.n_slips < most,
             NOLI_ERROR_FORMAT, "the saved state is damaged");

  // read into a separate state, so that damaged data changes nothing
  NoliStateSizes sizes = sim->state.sizes;
  sizes.n_constraints = header.n_constraints;
  sizes.n_slips = header.n_slips;
  NOLI_TRY(noli_state_create(sim->context, &sizes, &state));
  NOLI_TRY(
      read_fields(sim, (const char*)buffer + sizeof header, size - sizeof header, &header, &state));
  NOLI_TRY(noli_state_resize(sim->context, &sim->state, header.n_constraints));
  NOLI_TRY(noli_state_copy(sim->context, &state, &sim->state));
  noli_sim_follow(sim);
done:
  noli_state_free(sim->context, &state);
  return status;
}

void noli_sim_set_progress(NoliSim* sim, NoliProgressFn* progress, void* user) {
  if (sim != NULL) {
    sim->host.progress = progress;
    sim->host.progress_user = user;
  }
}
