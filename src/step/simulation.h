// A simulation: constant model, state, and the stage that advances it.
#pragma once

#include "collide/surface_tree.h"
#include "contact/pair_forces.h"
#include "define/owned_definition.h"
#include "model/model.h"
#include "model/motion_targets.h"
#include "noli/live.h"
#include "solve/stage.h"
#include "step/attempt.h"
#include "step/host_calls.h"
#include "step/state.h"

// Energy at the start of a step, J: step/energy_check.h.
typedef struct NoliEnergyCheck {
  double energy;    // of motion and deformation
  double magnitude; // sum of the magnitudes of its parts
  double contact;   // of the barrier
  double kappa;     // to which it belongs
  double gain;      // J without a source, of this part of the step and those before it
} NoliEnergyCheck;

// Deformation energy at the end of a step: most steps begin where the last one ended.
typedef struct NoliEnergyAtEnd {
  const NoliStage* stage; // at whose point it was measured; NULL: unknown
  double h_e;             // h_e^2 is the scale of the potential
  double energy;          // J
  double magnitude;       // J, sum of the magnitudes of its parts
} NoliEnergyAtEnd;

// Values that the host writes between steps.
typedef struct NoliControls {
  double** target; // (n_motion) of controlled ones: (n_node x 3) m; NULL for others
  NoliPose* pose;  // (n_motion) the last one that was set; a quaternion of zeros: none
  double** value;  // (n_force) of controlled ones, in the unit of the kind; NULL for others
  int32_t** local; // (n_force) their vertices within the body, (n_node)
} NoliControls;

// An observer of the steps of a run, such as the tape of derivatives: it is called before the first
// stage of a step or part, after the motion of a stage has begun, after every solve, and when the
// end is about to become the state. A failure is that of the step.
typedef struct NoliStepWatch {
  NoliStatus (*begin_part)(void* watcher, NoliSim* sim);
  NoliStatus (*begin_stage)(void* watcher, NoliSim* sim);
  NoliStatus (*end_solve)(void* watcher, NoliSim* sim);
  NoliStatus (*end_part)(void* watcher, NoliSim* sim);
} NoliStepWatch;
extern const NoliStepWatch noli_step_unwatched; // does nothing

// Vectors that the integrator carries through a step: values of the state at its start, of its
// first stage, and at the end of the last one.
typedef struct NoliStepVectors {
  double* v_start;      // (n_vert x 3) of the state, prescribed nodes as given
  double* v_next;       // (n_vert x 3) at the end of the last stage
  double* x_first;      // (n_vert x 3) at the end of the first stage
  double* v_first;      // (n_vert x 3)
  double* force_start;  // (n_vert x 3) total force at the start of the step
  double* force_next;   // (n_vert x 3)
  int64_t* ended_next;  // (n_ends) of the state, at the end of the step
  double damping_ahead; // s, from its start to where damping takes the stiffness
} NoliStepVectors;

// Positions that motions prescribe in this step, for all vertices.
typedef struct NoliStepTargets {
  uint8_t* axes;       // (n_vert) bit k: component k is prescribed
  int32_t* motion;     // (n_vert) by which motion; NOLI_NULL_INDEX: by none
  double* x;           // (n_vert x 3) at the end of the stage
  double* middle;      // (n_vert x 3) halfway from the start of the step; second order only
  NoliMotionPath path; // scratch of noli_sim_aim, with space for any motion
} NoliStepTargets;

// Energies of the step, J.
typedef struct NoliStepEnergies {
  NoliEnergyCheck start; // of the step
  NoliEnergyAtEnd end;   // of the last step
  bool stands;           // the stage still has the point at which that was measured
  double gained;         // without a source, in the completed parts of the step
  double damping_loss;   // of the last step
  double friction_loss;  // of the last step
} NoliStepEnergies;

// The outcome of the last step, and which messages the host has received.
typedef struct NoliOutcome {
  NoliStepReport report; // of the last step attempted
  bool reported;         // that step succeeded
  bool failed;           // that step failed, and the state is still that before it
  char blocked_by[512];
  NoliDiagnosis diagnosis[NOLI_DIAGNOSIS_CLOSEST + 1]; // of noli_sim_diagnosis
  int32_t n_diagnosis;
  int64_t next_notice;   // Newton iterations of the step before the next progress message
  bool friction_warned;  // a warning about its error was given
  bool imbalance_warned; // a warning about forces that do not balance was given
  bool stretch_warned;   // a warning about rigid bodies that are stretched was given
} NoliOutcome;

// The caller of the library.
typedef struct NoliHost {
  NoliProgressFn* progress; // NULL: none
  void* progress_user;
  NoliHostCalls* calls;   // its functions that run now
  bool cancelled;         // by the progress function, in the current step
  bool misused;           // a function that the step called wanted to destroy the simulation
  bool in_batch;          // a copy of a batch, which owns it
  int64_t n_body_changes; // bodies added and removed
} NoliHost;

// Memory of results between steps.
typedef struct NoliResults {
  NoliPairForces pair_forces;
  NoliRegionVolume* volumes;     // (regions of the model) of noli_sim_volumes
  NoliVolumeState* volume_state; // (regions of the model) of noli_sim_volumes
  NoliSpringForce* springs;      // (springs of the definition) of noli_sim_springs
  NoliJointState* joints;        // (joints of the definition) of noli_sim_joints
  NoliSurfaceTree* tree;         // of queries; made when first needed
} NoliResults;

// The solver that takes over from the chosen one (step/fallback.h).
typedef struct NoliSubstitute {
  NoliStage* stage; // NULL until a step needs it
  NoliProblem problem;
} NoliSubstitute;

typedef struct NoliStepObserver {
  const NoliStepWatch* watch; // noli_step_unwatched: nobody
  void* watcher;
} NoliStepObserver;

struct NoliSim {
  NoliContext* context;
  NoliOwnedDefinition definition; // source of the model
  const NoliModel* model;
  NoliModel* own_model; // the same, for changes between steps (noli/live.h)
  NoliControls controls;
  NoliState state;

  NoliStage* stage; // one of the two: that of the current or last step
  NoliStage* own_stage;
  NoliSubstitute substitute;

  // a step
  NoliAttempt attempt;
  NoliState backup; // of the state at the start of a divided step; made when first needed
  NoliStepVectors vectors;
  NoliStepTargets targets;
  NoliStepEnergies energy;
  NoliStepObserver observer;

  NoliOutcome outcome;
  NoliResults results;
  NoliHost host;
};

// Length of the step, or of the part of a divided step.
static inline double noli_sim_step_length(const NoliSim* sim) {
  return sim->attempt.increment > 0.0 ? sim->attempt.increment
                                      : sim->model->h / sim->attempt.n_parts;
}

// Time at the start of a step that has the current length, counted from 0.
static inline double noli_sim_step_start(const NoliSim* sim, int64_t step) {
  return *sim->state.origin + (double)(step - *sim->state.origin_step) * sim->model->h;
}

// Time at the end of the step or part.
static inline double noli_sim_step_end(const NoliSim* sim) {
  return sim->attempt.part + 1 == sim->attempt.n_parts
             ? noli_sim_step_start(sim, *sim->state.step + 1)
             : noli_sim_step_start(sim, *sim->state.step) +
                   (sim->attempt.increment > 0.0
                        ? sim->attempt.done + sim->attempt.increment
                        : (sim->attempt.part + 1) * noli_sim_step_length(sim));
}

// The size of a vector (n_vert x 3).
static inline size_t noli_sim_vector_bytes(const NoliSim* sim) {
  return (size_t)sim->model->problem.n_vert * 3 * sizeof(double);
}

// noli_sim_destroy, whoever calls it.
void noli_sim_release(NoliSim** owner);

// NOLI_ERROR_ARGUMENT where a function that the step has called wanted to destroy the simulation.
NOLI_WARN_UNUSED NoliStatus noli_sim_require_used_well(NoliSim* sim);

// Makes a simulation of a definition without checking its start; takes ownership of the definition.
// `starts` as of noli_model_create. On failure the definition is released.
NOLI_WARN_UNUSED NoliStatus noli_sim_build(NoliContext* context, NoliOwnedDefinition* definition,
                                           const double* const* starts, NoliSim** sim);

// A simulation to read the results of a scene that has run: its start is not audited once more, and
// its warnings are not repeated.
NOLI_WARN_UNUSED NoliStatus noli_sim_create_for_reading(NoliContext* context, const NoliSimDef* def,
                                                        NoliSim** sim);

// The initial state of the simulation.
NOLI_WARN_UNUSED NoliStatus noli_sim_create_state(const NoliSim* sim, NoliState* state);

// Targets and values of controls, as at the start.
NOLI_WARN_UNUSED NoliStatus noli_sim_create_controls(NoliSim* sim);
void noli_sim_reset_controls(NoliSim* sim);
void noli_sim_free_controls(NoliSim* sim);

// The direction to which the pose of a controlled motion turns an axis of its vertex i: false if no
// pose was set, or if the target of the vertex is no longer that of the pose.
bool noli_sim_turns_with_pose(const NoliSim* sim, int32_t motion, int32_t i, NoliVec3 axis,
                              NoliVec3* turned);

// Call after the state is replaced: the tree of queries and the report of the last step are stale.
void noli_sim_outdate(NoliSim* sim);

// Moves followers to match the nodes of the state; only nodes are saved.
void noli_sim_follow(NoliSim* sim);

// Histories of blocks: during a stage that ends `elapsed` after the start of the step, s; the end
// of stages; and moved to the positions of the state.
void noli_sim_begin_histories(NoliSim* sim, double elapsed);
void noli_sim_end_histories(NoliSim* sim);
void noli_sim_move_histories(NoliSim* sim);

// Replaces the slips of contacts in the state; `slips` are sorted. Fails with NOLI_ERROR_MEMORY and
// changes nothing, and never with as many as there is room for.
NOLI_WARN_UNUSED NoliStatus noli_sim_put_slips(NoliSim* sim, const NoliStickList* slips);

// Discards the state's history, if the integrator needs one: it no longer matches its x and v.
void noli_sim_clear_past(NoliSim* sim);

// NOLI_NOT_POSITIVE_DEFINITE, with a message that names the body and a remedy, if a body can move
// freely in an integrator without inertia: rigid motions of a connected part of a body that neither
// prescribed nodes nor the contacts and friction of the stage resist.
NOLI_WARN_UNUSED NoliStatus noli_sim_require_held(NoliSim* sim);

// Names the bound on a Newton step: two bodies and their primitives, or an element; "" if none.
void noli_sim_name_blocker(const NoliSim* sim, const NoliStepBound* blocker,
                           NoliBlockingElement blocking, char by[256]);

// Describes what stalls the iteration `stat`, the last one of the stage, and possible remedies.
void noli_sim_describe_stall(const NoliSim* sim, const NoliNewtonStat* stat, char text[512]);

// The same for a step that failed with this status; "" if the iteration is irrelevant.
void noli_sim_describe_failure(const NoliSim* sim, NoliStatus status, char text[512]);

// A NoliStageWatchFn of the simulation `user`: asks its host whether to continue, and reports the
// progress of long steps. Fails with NOLI_CANCELLED.
NOLI_WARN_UNUSED NoliStatus noli_sim_watch(void* user, const NoliStage* stage);

// The report of the last step; NULL if there is none.
static inline const NoliStepReport* noli_sim_last_report(const NoliSim* sim) {
  return sim->outcome.reported && sim->outcome.report.step == *sim->state.step
             ? &sim->outcome.report
             : NULL;
}

// The reactions to all motions (n_motion), 0 of those that did not act in the last step, about the
// mean positions (n_motion x 3) of their vertices.
NOLI_WARN_UNUSED NoliStatus noli_sim_reactions(NoliSim* sim, NoliReaction* reaction,
                                               double* origin);
