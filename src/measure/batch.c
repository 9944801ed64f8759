#include "noli/batch.h"

#include "base/ranks.h"
#include "base/parallel.h"
#include "step/simulation.h"

#include <string.h>

struct NoliBatch {
  NoliContext* context;
  int32_t n;
  int32_t n_threads;
  bool busy;          // a call for all copies runs
  NoliContext** own;  // (n) contexts of the copies
  NoliSim** sim;      // (n)
  NoliStatus* status; // (n) of the last call
};

// One call for one copy.
typedef struct BatchCall {
  NoliBatch* batch;
  const bool* chosen; // NULL: all
  NoliStatus (*call)(const struct BatchCall* call, int32_t index);
  int32_t item; // a motion, a force, a joint or a body
  int32_t part; // a coordinate of the joint
  const void* in;
  void* out;
  size_t size; // of an item of `out`
} BatchCall;

static bool is_chosen(const BatchCall* call, int32_t index) {
  return call->chosen == NULL || call->chosen[index];
}

static void call_one(void* user, int64_t begin, int64_t end, int32_t worker) {
  (void)worker;
  const BatchCall* call = user;
  for (int32_t i = (int32_t)begin; i < (int32_t)end; i++) {
    call->batch->status[i] = is_chosen(call, i) ? call->call(call, i) : NOLI_OK;
  }
}

// Calls for every chosen copy; returns the status and message of the first that fails.
static NoliStatus call_all(BatchCall* call) {
  NoliBatch* batch = call->batch;
  // from a function that a copy calls, in any thread: without a message
  if (batch->busy) {
    return NOLI_ERROR_ARGUMENT;
  }
  batch->busy = true;
  noli_parallel_tasks(batch->n_threads, batch->n, call_one, call);
  batch->busy = false;
  for (int32_t i = 0; i < batch->n; i++) {
    if (batch->status[i] != NOLI_OK) {
      return noli_fail(batch->context, batch->status[i], "copy %d: %s", (int)i,
                       noli_batch_message(batch, i));
    }
  }
  return NOLI_OK;
}

static NoliStatus clone_one(const BatchCall* call, int32_t index) {
  NoliBatch* batch = call->batch;
  NoliContextDef def = batch->context->def;
  def.log = NULL;
  def.n_threads = 1;
  NoliStatus status = noli_context_create(&def, &batch->own[index]);
  if (status == NOLI_OK) {
    status = noli_sim_clone(call->in, batch->own[index], &batch->sim[index]);
  }
  if (status == NOLI_OK) {
    batch->sim[index]->host.in_batch = true;
  }
  return status;
}

NoliStatus noli_batch_create(NoliContext* context, const NoliSim* sim, int32_t n, int32_t n_threads,
                             NoliBatch** out) {
  NOLI_REQUIRE(context, context != NULL && sim != NULL && out != NULL);
  NoliStatus status = NOLI_OK;
  NoliBatch* batch = NULL;

  *out = NULL;
  NOLI_TRY(noli_ranks_require_one(context, "batches"));
  NOLI_CHECK(context, n > 0 && n_threads >= 0, NOLI_ERROR_ARGUMENT,
             "a batch needs a number of copies > 0 and of threads >= 0, got %d and %d", (int)n,
             (int)n_threads);

  NOLI_NEW_ZERO(context, batch, 1);
  batch->context = context;
  batch->n = n;
  batch->n_threads = n_threads > 0 ? n_threads : noli_hardware_threads();
  NOLI_NEW_ZERO(context, batch->own, n);
  NOLI_NEW_ZERO(context, batch->sim, n);
  NOLI_NEW_ZERO(context, batch->status, n);
  BatchCall call = {.batch = batch, .call = clone_one, .in = sim};
  NOLI_TRY(call_all(&call));
done:
  if (status != NOLI_OK) {
    noli_batch_destroy(&batch);
  }
  *out = batch;
  return status;
}

void noli_batch_destroy(NoliBatch** owner) {
  if (owner == NULL || *owner == NULL || (*owner)->busy) {
    return;
  }
  NoliBatch* batch = *owner;
  for (int32_t i = 0; i < batch->n; i++) {
    if (batch->sim != NULL) {
      noli_sim_release(&batch->sim[i]);
    }
    if (batch->own != NULL && batch->own[i] != NULL) {
      noli_context_destroy(&batch->own[i]);
    }
  }
  noli_free(batch->context, batch->own);
  noli_free(batch->context, batch->sim);
  noli_free(batch->context, batch->status);
  noli_free(batch->context, batch);
  *owner = NULL;
}

int32_t noli_batch_count(const NoliBatch* batch) {
  return batch != NULL ? batch->n : 0;
}

NoliSim* noli_batch_sim(NoliBatch* batch, int32_t index) {
  return batch != NULL && index >= 0 && index < batch->n ? batch->sim[index] : NULL;
}

const char* noli_batch_message(const NoliBatch* batch, int32_t index) {
  bool there = batch != NULL && index >= 0 && index < batch->n && batch->own[index] != NULL;
  return there ? noli_context_message(batch->own[index]) : "";
}

// ---- calls --------------------------------------------------------------------------------------

static NoliStatus step_one(const BatchCall* call, int32_t index) {
  NoliStepReport* report =
      call->out != NULL ? (NoliStepReport*)((char*)call->out + call->size * (size_t)index) : NULL;
  return noli_sim_step_sized(call->batch->sim[index], report, call->size);
}

NoliStatus noli_batch_step_sized(NoliBatch* batch, const bool* chosen, NoliStatus* status,
                                 NoliStepReport* reports, size_t size) {
  NOLI_REQUIRE(batch != NULL ? batch->context : NULL, batch != NULL);
  BatchCall call = {
      .batch = batch, .chosen = chosen, .call = step_one, .out = reports, .size = size};
  NoliStatus first = call_all(&call);
  for (int32_t i = 0; status != NULL && !batch->busy && i < batch->n; i++) {
    if (is_chosen(&call, i)) {
      status[i] = batch->status[i];
    }
  }
  return first;
}

static NoliStatus reset_one(const BatchCall* call, int32_t index) {
  return noli_sim_reset(call->batch->sim[index]);
}

NoliStatus noli_batch_reset(NoliBatch* batch, const bool* chosen) {
  NOLI_REQUIRE(batch != NULL ? batch->context : NULL, batch != NULL);
  BatchCall call = {.batch = batch, .chosen = chosen, .call = reset_one};
  return call_all(&call);
}

static NoliStatus copy_controls(NoliSim* sim, const char* what, int32_t item, double* to,
                                int32_t n_node, const double* from, int32_t index) {
  NoliStatus status = NOLI_OK;
  NOLI_CHECK(sim->context, to != NULL, NOLI_ERROR_ARGUMENT, "%s %d is not controlled", what,
             (int)item);
  size_t n = 3 * (size_t)n_node;
  memcpy(to, from + n * (size_t)index, n * sizeof(double));
done:
  return status;
}

static NoliStatus target_one(const BatchCall* call, int32_t index) {
  NoliSim* sim = call->batch->sim[index];
  int32_t n_node;
  double* target = noli_sim_motion_targets(sim, call->item, &n_node);
  return copy_controls(sim, "motion", call->item, target, n_node, call->in, index);
}

NoliStatus noli_batch_set_targets(NoliBatch* batch, int32_t motion, const double* target) {
  NOLI_REQUIRE(batch != NULL ? batch->context : NULL, batch != NULL && target != NULL);
  BatchCall call = {.batch = batch, .call = target_one, .item = motion, .in = target};
  return call_all(&call);
}

static NoliStatus pose_one(const BatchCall* call, int32_t index) {
  const NoliPose* pose = call->in;
  return noli_sim_set_pose(call->batch->sim[index], call->item, pose + index);
}

NoliStatus noli_batch_set_poses(NoliBatch* batch, int32_t motion, const NoliPose* pose) {
  NOLI_REQUIRE(batch != NULL ? batch->context : NULL, batch != NULL && pose != NULL);
  BatchCall call = {.batch = batch, .call = pose_one, .item = motion, .in = pose};
  return call_all(&call);
}

static NoliStatus force_one(const BatchCall* call, int32_t index) {
  NoliSim* sim = call->batch->sim[index];
  int32_t n_node;
  double* value = noli_sim_force_values(sim, call->item, NULL, &n_node);
  return copy_controls(sim, "force", call->item, value, n_node, call->in, index);
}

NoliStatus noli_batch_set_forces(NoliBatch* batch, int32_t force, const double* value) {
  NOLI_REQUIRE(batch != NULL ? batch->context : NULL, batch != NULL && value != NULL);
  BatchCall call = {.batch = batch, .call = force_one, .item = force, .in = value};
  return call_all(&call);
}

static NoliStatus joint_target_one(const BatchCall* call, int32_t index) {
  return noli_sim_set_joint_target(call->batch->sim[index], call->item, call->part,
                                   ((const double*)call->in)[index]);
}

NoliStatus noli_batch_set_joint_targets(NoliBatch* batch, int32_t joint, int32_t coordinate,
                                        const double* target) {
  NOLI_REQUIRE(batch != NULL ? batch->context : NULL, batch != NULL && target != NULL);
  BatchCall call = {
      .batch = batch, .call = joint_target_one, .item = joint, .part = coordinate, .in = target};
  return call_all(&call);
}

static NoliStatus joints_of(const BatchCall* call, int32_t index) {
  NoliStatus status = NOLI_OK;
  const NoliJointState* joints;
  int32_t n;
  NOLI_TRY(noli_sim_joints(call->batch->sim[index], &joints, &n));
  memcpy((NoliJointState*)call->out + (size_t)index * (size_t)n, joints,
         (size_t)n * sizeof *joints);
done:
  return status;
}

NoliStatus noli_batch_joints(NoliBatch* batch, NoliJointState* joints) {
  NOLI_REQUIRE(batch != NULL ? batch->context : NULL, batch != NULL && joints != NULL);
  BatchCall call = {.batch = batch, .call = joints_of, .out = joints};
  return call_all(&call);
}

static NoliStatus positions_of(const BatchCall* call, int32_t index) {
  const NoliSim* sim = call->batch->sim[index];
  size_t bytes = noli_sim_vector_bytes(sim);
  const double* from = call->item == 0 ? sim->state.x : sim->state.v;
  memcpy((char*)call->out + bytes * (size_t)index, from, bytes);
  return NOLI_OK;
}

NoliStatus noli_batch_positions(NoliBatch* batch, double* x) {
  NOLI_REQUIRE(batch != NULL ? batch->context : NULL, batch != NULL && x != NULL);
  BatchCall call = {.batch = batch, .call = positions_of, .item = 0, .out = x};
  return call_all(&call);
}

NoliStatus noli_batch_velocities(NoliBatch* batch, double* v) {
  NOLI_REQUIRE(batch != NULL ? batch->context : NULL, batch != NULL && v != NULL);
  BatchCall call = {.batch = batch, .call = positions_of, .item = 1, .out = v};
  return call_all(&call);
}

static NoliStatus body_state_one(const BatchCall* call, int32_t index) {
  void* to = (char*)call->out + call->size * (size_t)index;
  return noli_sim_body_state_sized(call->batch->sim[index], call->item, to, call->size);
}

NoliStatus noli_batch_body_states_sized(NoliBatch* batch, int32_t body, NoliBodyState* states,
                                        size_t size) {
  NOLI_REQUIRE(batch != NULL ? batch->context : NULL, batch != NULL && states != NULL);
  BatchCall call = {
      .batch = batch, .call = body_state_one, .item = body, .out = states, .size = size};
  return call_all(&call);
}

static NoliStatus wrench_one(const BatchCall* call, int32_t index) {
  void* to = (char*)call->out + call->size * (size_t)index;
  return noli_sim_wrench_sized(call->batch->sim[index], call->item, NULL, to, call->size);
}

NoliStatus noli_batch_wrenches_sized(NoliBatch* batch, int32_t entity, NoliWrench* wrenches,
                                     size_t size) {
  NOLI_REQUIRE(batch != NULL ? batch->context : NULL, batch != NULL && wrenches != NULL);
  BatchCall call = {
      .batch = batch, .call = wrench_one, .item = entity, .out = wrenches, .size = size};
  return call_all(&call);
}
