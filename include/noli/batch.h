/// @file batch.h
/// Batches: many copies of one simulation with parameters and controls of their own, stepped by a
/// team of threads, with results in one array, as for training a controller or sampling a
/// parameter. Every copy has the same bits as when stepped alone.
#pragma once

#include "noli/live.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Copies of a simulation. One thread at a time uses a batch.
typedef struct NoliBatch NoliBatch;

/// Makes `n` copies of `sim` in its present state, each in a context of its own with the allocator
/// of `context`, which must serve several threads at once, without a log, and with one thread.
/// `n_threads` (0: as many as there are cores) step different copies at the same time; callbacks of
/// `sim` are then called by several threads at once, with the same `user` pointer: prefer
/// controlled motions and forces. `context` serves the batch itself. Fails with NOLI_ERROR_MEMORY,
/// NOLI_ERROR_ARGUMENT.
NOLI_API NOLI_WARN_UNUSED NoliStatus noli_batch_create(NoliContext* context, const NoliSim* sim,
                                                       int32_t n, int32_t n_threads,
                                                       NoliBatch** batch);
/// Destroys the batch with its copies and sets the pointer to NULL. Does nothing where a function
/// that a copy calls destroys it: no function of a batch works there, NOLI_ERROR_ARGUMENT.
NOLI_API void noli_batch_destroy(NoliBatch** batch);

/// Number of copies.
NOLI_API int32_t noli_batch_count(const NoliBatch* batch);
/// A copy, owned by the batch, to be read and changed by noli/sim.h and noli/live.h between steps;
/// NULL if there is none with this index. Adding or removing bodies fails with
/// NOLI_ERROR_ARGUMENT, because arrays of the batch have the same size for every copy.
NOLI_API NoliSim* noli_batch_sim(NoliBatch* batch, int32_t index);
/// The message of the last failure of a copy, "" if there was none.
NOLI_API const char* noli_batch_message(const NoliBatch* batch, int32_t index);

/// noli_batch_step for reports of `size` bytes.
NOLI_API NOLI_WARN_UNUSED NoliStatus noli_batch_step_sized(NoliBatch* batch, const bool* chosen,
                                                           NoliStatus* status,
                                                           NoliStepReport* reports, size_t size);
/// Advances the copies by one step; `chosen` (n) says which ones, NULL: all. `status` (n) and
/// `reports` (n) receive what noli_sim_step returns; both may be NULL, and entries of copies that
/// were not chosen are not written. Returns the status of the first copy that failed, with its
/// message in the context of the batch; the others have done their steps.
static inline NOLI_WARN_UNUSED NoliStatus noli_batch_step(NoliBatch* batch, const bool* chosen,
                                                          NoliStatus* status,
                                                          NoliStepReport* reports) {
  return noli_batch_step_sized(batch, chosen, status, reports, sizeof *reports);
}

/// noli_sim_reset of the chosen copies (NULL: all).
NOLI_API NOLI_WARN_UNUSED NoliStatus noli_batch_reset(NoliBatch* batch, const bool* chosen);

/// Targets of a controlled motion in all copies: (n x n_node x 3), m. Fails with
/// NOLI_ERROR_ARGUMENT.
NOLI_API NOLI_WARN_UNUSED NoliStatus noli_batch_set_targets(NoliBatch* batch, int32_t motion,
                                                            const double* target);
/// Poses of a controlled motion in all copies: (n), as in noli_sim_set_pose.
NOLI_API NOLI_WARN_UNUSED NoliStatus noli_batch_set_poses(NoliBatch* batch, int32_t motion,
                                                          const NoliPose* pose);
/// Values of a controlled force in all copies: (n x n_node x 3).
NOLI_API NOLI_WARN_UNUSED NoliStatus noli_batch_set_forces(NoliBatch* batch, int32_t force,
                                                           const double* value);

/// Targets of the motor in a coordinate of a joint in all copies: (n), as in
/// noli_sim_set_joint_target.
NOLI_API NOLI_WARN_UNUSED NoliStatus noli_batch_set_joint_targets(NoliBatch* batch, int32_t joint,
                                                                  int32_t coordinate,
                                                                  const double* target);
/// The joints of all copies, (n x n_joints), as in noli_sim_joints, written to the caller's array.
NOLI_API NOLI_WARN_UNUSED NoliStatus noli_batch_joints(NoliBatch* batch, NoliJointState* joints);

/// Positions of all vertices of all copies, (n x n_vert x 3), m, written to the caller's array.
NOLI_API NOLI_WARN_UNUSED NoliStatus noli_batch_positions(NoliBatch* batch, double* x);
/// Velocities of all vertices of all copies, (n x n_vert x 3), m/s, written to the caller's array.
NOLI_API NOLI_WARN_UNUSED NoliStatus noli_batch_velocities(NoliBatch* batch, double* v);
/// The states of one body in all copies, (n), as in noli_sim_body_state.
NOLI_API NOLI_WARN_UNUSED NoliStatus noli_batch_body_states_sized(NoliBatch* batch, int32_t body,
                                                                  NoliBodyState* states,
                                                                  size_t size);
/// noli_batch_body_states_sized for the caller's headers.
static inline NOLI_WARN_UNUSED NoliStatus noli_batch_body_states(NoliBatch* batch, int32_t body,
                                                                 NoliBodyState* states) {
  return noli_batch_body_states_sized(batch, body, states, sizeof *states);
}
/// The wrenches on one body or half-space in all copies, (n), about the default origins of
/// noli_sim_wrench.
NOLI_API NOLI_WARN_UNUSED NoliStatus noli_batch_wrenches_sized(NoliBatch* batch, int32_t entity,
                                                               NoliWrench* wrenches, size_t size);
/// noli_batch_wrenches_sized for the caller's headers.
static inline NOLI_WARN_UNUSED NoliStatus noli_batch_wrenches(NoliBatch* batch, int32_t entity,
                                                              NoliWrench* wrenches) {
  return noli_batch_wrenches_sized(batch, entity, wrenches, sizeof *wrenches);
}

#ifdef __cplusplus
}
#endif
