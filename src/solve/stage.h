// One stage of one time step as an optimization problem: its energy terms, its unknowns and the
// machinery to evaluate them. Solvers read and advance it; nothing in it has to be saved.
//
//   minimize  1/2 |x - x_tilde|^2_M + h_e^2 (elasticity + damping - load . x)
//             + h_e^2 W(volumes of regions) + springs of prescribed nodes + kappa sum_k b(d_k^2) +
//             lagged friction
//
// (without inertia and damping where the integrator knows none).
// The whole potential is scaled by h_e^2, so kappa / h_e^2 gives newtons.
#pragma once

#include "noli/sim.h"

#include "collide/broad_phase.h"
#include "collide/step_bound.h"
#include "contact/friction.h"
#include "contact/implicit_friction.h"
#include "contact/ipc.h"
#include "contact/stiffness.h"
#include "fem/volume.h"
#include "integrate/integrator.h"
#include "solve/contact_model.h"
#include "solve/point.h"
#include "solve/problem.h"
#include "solve/system.h"
#include "solve/term.h"

// Prescribed nodes of this step: where they start, where they shall go, how far they came.
typedef struct NoliPrescribed {
  int32_t n;
  int32_t* node;
  uint8_t* axes;      // (n) bit k: component k is prescribed; all three at nodes without inertia
  bool partial;       // some node has not all three
  uint8_t* held;      // (n) scratch: what the assembler holds
  double* start;      // (n x 3)
  double* target;     // (n x 3), the start where a component is not prescribed
  double* multiplier; // (n x 3) of the springs
  double stiffness;   // of the springs, in units of inertia
  double done;        // share of the motion done, in [0, 1]
  double error;       // m, largest distance from a target
  double done_at_update;
  double done_before; // n_iterations Newton iterations ago
  int32_t n_iterations;
  int32_t n_updates;
  int32_t n_stalled; // updates in a row without progress
  int32_t n_pulls;   // Newton iterations with springs
  int32_t n_settles; // and without, after springs have given up
  int64_t n_held;    // last time steps in a row for which the nodes had to be held where they were
  bool by_springs;   // true: held by springs, unknowns of the system; false: fixed
  bool stopped;      // fixed short of the targets, by contact
  bool given_up;     // the targets are where contact stopped the nodes
  NoliStepBound blocker;
} NoliPrescribed;

// All three components.
enum { NOLI_ALL_AXES = 7 };

// Whether component k of the i-th prescribed node is prescribed.
static inline bool noli_prescribes(const NoliPrescribed* prescribed, int32_t i, int32_t k) {
  return (prescribed->axes[i] >> k & 1) != 0;
}

// How far friction with lagged normal forces is from its law.
typedef struct NoliFrictionError {
  double ratio; // as in NoliStepReport
  double error; // likewise, of any body that moves
  int32_t body; // of this one
  bool excess;  // which has more friction than its law allows, not less
} NoliFrictionError;

// What happened in a step, for its report.
typedef struct NoliStageRecord {
  NOLI_ARRAY(NoliNewtonStat) newton;
  NoliNewtonStat attempt;       // the last iteration of the last solve, also where it failed
  NoliStepBound blocker;        // what bounded the last Newton step
  NoliBlockingElement blocking; // which element that was, if one did
  NoliStepTiming timing;
  int64_t contacts_max;
  int64_t linear_fallbacks;   // systems that were not solved as chosen: factored, or with a larger
                              // diagonal
  int32_t n_stiffened;        // how often kappa was raised for smooth surfaces
  NoliFrictionError friction; // the largest ratio and the largest error at the ends of solves
  double unbalanced; // by how much friction kept the solve from its end in the last iteration: what
                     // NOLI_FRICTION_RESIDUAL_MAX bounds; 0: it did not
} NoliStageRecord;

typedef struct NoliNewtonSystem NoliNewtonSystem; // solve/newton_system.h
typedef struct NoliDirections NoliDirections;     // solve/direction.h
typedef struct NoliFrictionEnd NoliFrictionEnd;   // solve/friction_end.h

// Called after every Newton iteration. A failure ends the solve.
typedef NoliStatus NoliStageWatchFn(void* user, const NoliStage* stage);

// Judges a point (n_vert x 3) that a solver has moved to.
typedef NoliStatus NoliStageAudit(void* user, const double* x);

struct NoliStage {
  NoliContext* context;
  const NoliProblem* problem;
  int32_t n_threads;

  // the stage
  int32_t index;      // of the stage within its step
  double h;           // of the step
  NoliStageTime time; // h_e, h_v, x_tilde, x_hat
  double* load;       // (n_vert x 3) N: gravity and forces at the end of the stage
  double kappa;       // barrier stiffness of the scaled potential
  int32_t lagging;    // how often its friction was lagged again
  NoliPrescribed prescribed;

  // the unknown
  NoliPoint point[2];
  NoliPoint* here;  // the present one; free of intersections between solves, and where contact acts
                    // by the barrier always
  NoliPoint* trial; // the other
  double* step;     // (n_vert x 3) search direction, 0 at fixed nodes
  double* gradient; // (n_vert x 3)
  double* trial_gradient; // (n_vert x 3) at the trial point; scratch between searches
  double* rounding;       // (n_vert x 3) of the gradient, where it was asked for: solve/rounding.h
  NoliSystem system;      // and its equations
  bool* unknown;          // (n_vert) scratch

  // contact
  void* contact; // what the contact model keeps for all steps
  NoliBroadPhase* broad_phase;
  NoliFrictionSet friction_set;

  // terms: those before `first_contact` are the same at every point
  int32_t n_term;
  int32_t first_contact;
  NoliTerm* term;    // (n_term)
  bool* on_vertices; // (n_term) whether their stencils may name followers
  NoliFriction friction;
  bool lags_all; // implicit friction rests: a solver wants lagged friction for a while

  // what solvers work with
  NoliDirections* directions;
  NoliFrictionEnd* friction_end;
  void* work;                      // of the solver's own, solve/method.h
  NoliNewtonSystem* newton_system; // of implicit Newton, made when first needed

  // of every iteration; NULL: none
  NoliStageAudit* audit;
  void* audit_user;

  NoliStageRecord record;
  NoliStageWatchFn* watch;
  void* watch_user;
};

NOLI_WARN_UNUSED NoliStatus noli_stage_create(NoliContext* context, const NoliProblem* problem,
                                              NoliStage** stage);
void noli_stage_destroy(NoliStage** stage);

// Makes the next step depend on the state alone, not on matrices of former steps: a run that is
// resumed gives the same bits as one that was not interrupted.
NOLI_WARN_UNUSED NoliStatus noli_stage_forget(NoliStage* stage);

// No loads and no friction until they are found anew: those of a former step, or of an attempt that
// failed, say nothing about the one that begins. Terms are those of the present `time`.
void noli_stage_drop_forces(NoliStage* stage);

// Nothing has happened yet in the step that begins, to which former solves say nothing.
void noli_stage_begin_step(NoliStage* stage);

// Records an iteration.
NOLI_WARN_UNUSED NoliStatus noli_stage_record(NoliStage* stage, const NoliNewtonStat* stat);

// Numbers the unknowns: inertial nodes that are neither tied nor prescribed in all components, and
// prescribed ones while springs hold them. Prescribed components of unknown nodes are held by the
// assembler while no springs do. Resets the patterns of the assembler where the numbers have
// changed.
NOLI_WARN_UNUSED NoliStatus noli_stage_number_unknowns(NoliStage* stage);

// Takes the stiffness that damps this step from x (n_vert x 3).
void noli_stage_set_damping(NoliStage* stage, const double* x);

// h times the energy that damping of all kinds takes from a step of length h from x0 (n_vert x 3)
// to x, J s.
double noli_stage_damping_loss(const NoliStage* stage, const double* x0);

// Adds the force of stiffness damping at velocities v (n_vert x 3), by the stiffness of this step.
void noli_stage_add_damping_force(const NoliStage* stage, const double* v, double* force);

// Contacts at the present point: candidates and contact set from nothing, or the constraints of the
// active set linearized.
NOLI_WARN_UNUSED NoliStatus noli_stage_find_contacts(NoliStage* stage);

// Puts the followers of a field of positions (n_vert x 3) where they belong, or gives those of a
// field of steps or velocities their values.
void noli_stage_follow(const NoliStage* stage, double* x);
void noli_stage_follow_vectors(const NoliStage* stage, double* u);

// Takes what acts on followers (n_vert x 3) to the nodes; nothing is left of it.
void noli_stage_act_on_nodes(const NoliStage* stage, double* force);

// Prepares the system for the first `n_terms` at a point.
NOLI_WARN_UNUSED NoliStatus noli_stage_prepare_terms(NoliStage* stage, const NoliPoint* at,
                                                     int32_t n_terms);

// trial = here + alpha step.
void noli_stage_set_trial(NoliStage* stage, double alpha);

// Contacts at the trial point out of its candidates.
NOLI_WARN_UNUSED NoliStatus noli_stage_trial_contacts(NoliStage* stage);

// The trial point becomes the present point, with its candidates, contacts and energies, if the
// audit finds nothing.
NOLI_WARN_UNUSED NoliStatus noli_stage_accept(NoliStage* stage);

// Lets contact models whose potential jumps go on with one that does not, after an iteration whose
// step the line search has cut to the share `alpha` of what was allowed. `joined`: contacts at x
// have been added, so that the solve has to go on.
NOLI_WARN_UNUSED NoliStatus noli_stage_keep_contacts(NoliStage* stage, double alpha, bool* joined);

// What the audit of iterations says about x (n_vert x 3), a point where surfaces must be apart.
NOLI_WARN_UNUSED NoliStatus noli_stage_audit(NoliStage* stage, const double* x);

// K_min as it is now: [Zheng2025] section 6 asks for more where there is friction.
int32_t noli_min_iterations(const NoliStage* stage);

// Contacts at x: pairs of closest features, each once, however many primitive pairs share them, or
// constraints that push.
int64_t noli_stage_contact_count(const NoliStage* stage);

// Smallest distance of the contacts, m; INFINITY without any.
double noli_stage_min_distance(const NoliStage* stage);

// Adds contact forces to `force` (n_vert x 3), N, and resultants to `pairs`.
NOLI_WARN_UNUSED NoliStatus noli_stage_contact_forces(const NoliStage* stage, double* force);
NOLI_WARN_UNUSED NoliStatus noli_stage_pair_forces(const NoliStage* stage, NoliPairForces* pairs);

// Lists the terms of contact anew, to be called whenever contacts or kappa have changed.
void noli_stage_list_contact_terms(NoliStage* stage);

// Lists all other terms anew, to be called whenever what they read has changed.
void noli_stage_list_terms(NoliStage* stage);

// The terms as they are at the trial point: contacts are others there.
void noli_stage_list_trial_terms(NoliStage* stage);

// Whether a term has one of some roles.
static inline bool noli_stage_has(const NoliStage* stage, int32_t term, unsigned roles) {
  return ((unsigned)stage->term[term].type->role & roles) != 0;
}

// Evaluates the energies of terms with some roles at x.
NOLI_WARN_UNUSED NoliStatus noli_stage_role_energy(NoliStage* stage, unsigned roles);

// The sum of what was found so, and of its magnitudes by term.
typedef struct NoliEnergySum {
  double energy;
  double magnitude;
} NoliEnergySum;
NoliEnergySum noli_stage_energy_sum(const NoliStage* stage, unsigned roles);

// Energies of all terms at x.
NOLI_WARN_UNUSED NoliStatus noli_stage_energy(NoliStage* stage);

// Energy at the trial point minus energy here, summed stencil by stencil where stencils agree.
// `magnitude` receives the sum of absolute energies: what rounding is relative to.
NOLI_WARN_UNUSED NoliStatus noli_stage_energy_change(NoliStage* stage, double* change,
                                                     double* magnitude);

// Gradient at the trial point, with its contacts, into stage->trial_gradient.
NOLI_WARN_UNUSED NoliStatus noli_stage_trial_gradient(NoliStage* stage);

// Gradient and projected matrix at x, with its parts of rank one.
NOLI_WARN_UNUSED NoliStatus noli_stage_linearize(NoliStage* stage);

// The gradient of all terms but contact and implicit friction at x, into stage->gradient.
NOLI_WARN_UNUSED NoliStatus noli_stage_gradient_without_contact(NoliStage* stage);

// The projected matrix of all terms but friction and contact at x, without gradient.
NOLI_WARN_UNUSED NoliStatus noli_stage_linearize_stiffness(NoliStage* stage);

// Gradient and what `what` says at x: NOLI_EVAL_HESSIAN, NOLI_EVAL_PROJECTED or 0.
NOLI_WARN_UNUSED NoliStatus noli_stage_linearize_as(NoliStage* stage, unsigned what);

// Adds the forces of terms with some roles at x, N, to `force` (n_vert x 3), term by term.
// Overwrites stage->gradient.
NOLI_WARN_UNUSED NoliStatus noli_stage_add_forces(NoliStage* stage, unsigned roles, double* force);

// Friction forces and sliding bases from the present contacts: "lagging" of [Li2020] section 5.4.
// Where friction is implicit, nothing is lagged.
NOLI_WARN_UNUSED NoliStatus noli_stage_lag_friction(NoliStage* stage);

// Sets the barrier stiffness in every term.
void noli_stage_set_kappa(NoliStage* stage, double kappa);

// At the end of a solve: contact with smooth surfaces gets stiffer where a vertex that can move is
// behind one, [Larionov2024] section IV-D, and `stiffer` is set: the solve has to go on. After
// NOLI_MOST_STIFFENINGS of a step the penetration stays, as the report says.
enum { NOLI_MOST_STIFFENINGS = 20 };
NOLI_WARN_UNUSED NoliStatus noli_stage_stiffen(NoliStage* stage, bool* stiffer);
// Raises the barrier stiffness where the contacts ask for it, after an accepted step; `blocked`:
// contact cut the step.
void noli_stage_adapt_kappa(NoliStage* stage, bool blocked);

// Lets implicit friction rest while friction is lagged from the present contacts, or act again.
NOLI_WARN_UNUSED NoliStatus noli_stage_lag_all_friction(NoliStage* stage, bool lags_all);

// Adds friction forces at x, N, to `force` (n_vert x 3), and resultants to `pairs`.
void noli_stage_friction_forces(const NoliStage* stage, double* force);
NOLI_WARN_UNUSED NoliStatus noli_stage_friction_pair_forces(const NoliStage* stage,
                                                            NoliPairForces* pairs);

// Stiffness for the start of a time step; needs contacts at x.
NOLI_WARN_UNUSED NoliStatus noli_stage_initial_kappa(NoliStage* stage);

// What contact models with a barrier do there: the stiffness asked for, or that which balances the
// rest of the potential within bounds.
NOLI_WARN_UNUSED NoliStatus noli_stage_kappa_from_forces(NoliStage* stage,
                                                         const NoliStiffness* bounds);

// What implicit friction of the contacts of a barrier reads.
NoliImplicitFriction noli_stage_implicit_friction(const NoliStage* stage,
                                                  const NoliBarrier* barrier);

// Restricts `step`, of which the nodes' part is given, so that elements keep their orientation and
// surfaces stay apart: the largest safe alpha in [0, 1], and the swept candidates for the line
// search.
typedef struct NoliStepFilter {
  double inversion;
  double ccd;
  bool shortened; // to what needs no collision detection: nothing is in the way of the rest
  NoliStepBound blocker;
} NoliStepFilter;

NOLI_WARN_UNUSED NoliStatus noli_stage_filter_step(NoliStage* stage, double safety,
                                                   NoliStepFilter* filter);
