// One stage of one time step as an optimization problem: its energy terms, its unknowns and the
// machinery to evaluate them. Solvers read and advance it; checkpoints do not need it.
//
//   minimize  1/2 |x - x_tilde|^2_M + h_e^2 (elasticity + damping - load . x)
//             + h_e^2 W(volumes of regions) + springs of prescribed nodes + kappa sum_k b(d_k^2) +
//             lagged friction
//
// (without inertia and damping if the integrator has none).
// The whole potential is scaled by h_e^2, so kappa / h_e^2 gives newtons.
#pragma once

#include "noli/sim.h"

#include "collide/broad_phase.h"
#include "collide/step_bound.h"
#include "contact/adhesion/adhesion.h"
#include "contact/friction/direction.h"
#include "contact/friction/friction.h"
#include "contact/friction/implicit_friction.h"
#include "contact/friction/stick.h"
#include "contact/ipc.h"
#include "contact/stiffness.h"
#include "fem/loads/volume.h"
#include "integrate/integrator.h"
#include "linalg/solver.h"
#include "solve/contact_model.h"
#include "solve/point.h"
#include "solve/problem.h"
#include "solve/step_limit.h"
#include "solve/system.h"
#include "solve/term.h"

// Prescribed nodes of this step: start, target and progress.
// Springs that pull prescribed nodes to their targets: an augmented Lagrangian.
typedef struct NoliPrescribedSprings {
  bool hold;          // they hold the nodes, unknowns of the system; else the nodes are fixed
  double* multiplier; // (n x 3)
  double stiffness;   // in units of inertia
  double done_at_update;
  double done_before; // n_iterations Newton iterations ago
  int32_t n_iterations;
  int32_t n_updates;
  int32_t n_stalled; // consecutive updates without progress
  int32_t n_pulls;   // Newton iterations with springs
  int32_t n_settles; // and without, after the springs have stopped
} NoliPrescribedSprings;

// Prescribed nodes of this step: start, target and progress.
typedef struct NoliPrescribed {
  int32_t n;
  int32_t* node;
  uint8_t* axes;  // (n) bit k: component k is prescribed; all three at nodes without inertia
  int32_t* set;   // (n) number of the motion that prescribes it; NOLI_NULL_INDEX: none
  bool partial;   // some node has fewer than three prescribed components
  uint8_t* held;  // (n) scratch: components that the assembler holds
  double* start;  // (n x 3)
  double* target; // (n x 3), the start where a component is not prescribed
  double done;    // fraction of the motion done, in [0, 1]
  double error;   // m, largest distance from a target
  NoliPrescribedSprings springs;
  int64_t n_held; // consecutive time steps, up to the last one, in which the nodes had to be held
  bool stopped;   // fixed short of the targets, by contact
  bool given_up;  // the targets are the positions where contact stopped the nodes
  NoliStepBound blocker;        // what stopped them: a pair,
  NoliBlockingElement blocking; // or an element
} NoliPrescribed;

// All three components.
enum { NOLI_ALL_AXES = 7 };

// Whether component k of the i-th prescribed node is prescribed.
static inline bool noli_prescribes(const NoliPrescribed* prescribed, int32_t i, int32_t k) {
  return (prescribed->axes[i] >> k & 1) != 0;
}

// A detour of Newton's method (solve/detour.h).
typedef struct NoliDetour {
  bool away;      // it has begun
  double* start;  // (n_vert x 3) x at its start
  double change;  // of the potential since then
  int32_t n;      // iterations
  int32_t wait;   // iterations until another may begin
  int32_t n_lost; // detours in a row that have returned
} NoliDetour;

// Error of friction with lagged normal forces, relative to its law.
typedef struct NoliFrictionError {
  double ratio; // as in NoliStepReport
  double error; // as in NoliStepReport, largest of any body that moves
  int32_t body; // of this one
  bool excess;  // it has more friction than its law allows, not less
} NoliFrictionError;

// Imbalance of the forces on a body (solve/balance.h).
typedef struct NoliImbalance {
  double share;
  bool stalled; // it was more than allowed, but no longer decreased
  int32_t body; // NOLI_NULL_INDEX: none
} NoliImbalance;

// Statistics of a step, for its report.
typedef struct NoliStageRecord {
  NOLI_ARRAY(NoliNewtonStat) newton;
  NoliNewtonStat attempt;       // the last iteration of the last solve, even if it failed
  NoliStepBound blocker;        // the pair that bounded the last Newton step
  NoliBlockingElement blocking; // the element that bounded it, if one did
  NoliStepLimit limit[NOLI_N_FILTERS];
  NoliStepTiming timing;
  int64_t contacts_max;
  int64_t linear_fallbacks;   // systems factored instead of iterated, or regularized
  int32_t n_stiffened;        // stiffness increases for smooth surfaces
  NoliFrictionError friction; // the largest ratio and the largest error at the ends of solves
  NoliImbalance imbalance;    // the largest at the ends of stages
  double unbalanced; // friction imbalance that kept the last iteration from ending the solve,
                     // bounded by NOLI_FRICTION_RESIDUAL_MAX; 0: none
} NoliStageRecord;

typedef struct NoliNewtonSystem NoliNewtonSystem; // solve/newton_system.h
typedef struct NoliDirections NoliDirections;     // solve/direction.h
typedef struct NoliFrictionEnd NoliFrictionEnd;   // solve/friction_end.h
typedef struct NoliBalance NoliBalance;           // solve/balance.h

// Called after every Newton iteration. A failure ends the solve.
typedef NoliStatus NoliStageWatchFn(void* user, const NoliStage* stage);

// Verifies a point (n_vert x 3) to which a solver has moved.
typedef NoliStatus NoliStageAudit(const void* user, const double* x);

// A pressure on curved faces (fem/loads/curved_faces.h).
typedef struct NoliCurvedLoad {
  double* value; // (faces x nodes) Pa, 0: none acts
  double origin[3];
} NoliCurvedLoad;

// The step to which a stage belongs.
typedef struct NoliStageStep {
  int32_t index;    // of the stage within it
  double h;         // s
  double part;      // share of it that is solved, 1 if it is not divided
  double tolerance; // eps_d, m/s
} NoliStageStep;

// Loads at the end of the stage.
typedef struct NoliStageLoads {
  double* force;           // (n_vert x 3) N: gravity and forces
  double* pressure;        // (faces with a pressure) Pa, 0: none acts
  double* pressure_origin; // (same x 3) m, fem/loads/pressure.h
  NoliCurvedLoad* curved;  // (problem->pressed.n_curved) pressures on curved faces
} NoliStageLoads;

// The iteration: directions and gradients at the points.
typedef struct NoliStageSearch {
  double* step;           // (n_vert x 3) search direction, 0 at fixed nodes
  double* direction;      // (n_vert x 3) of which `step` is the part `arc`: solve/arcs.h
  double* gradient;       // (n_vert x 3)
  double* trial_gradient; // (n_vert x 3) at the trial point; scratch between searches
  double* rounding;       // (n_vert x 3) of the gradient, if computed: solve/rounding.h
  double* last;           // (n_vert x 3) x before the last Newton step, if `knows_last`
  bool knows_last;
  bool* unknown;      // (n_vert) scratch
  bool bends;         // rigid bodies end on arcs
  double arc;         // in (0, 1]
  double share;       // of the stiffness of rigid bodies in joints, in (0, 1]: solve/easing.h
  int32_t n_softened; // how often a solve has reduced it
  int32_t n_extra;    // iterations of a solve for the stretch of rigid bodies alone
  NoliDetour detour;
} NoliStageSearch;

typedef struct NoliStageContact {
  void* data; // of the contact model for all steps
  NoliBroadPhase* broad_phase;
  double kappa; // barrier stiffness of the scaled potential
} NoliStageContact;

typedef struct NoliStageFriction {
  NoliFrictionSet set;
  NoliFriction law;       // with the forces and bases of the set
  int32_t iteration;      // friction iterations after the first
  bool lags_all;          // implicit friction is disabled while a solver uses lagged friction
  bool basis_derivatives; // in the Jacobian of implicit friction: as the problem says, or always
                          // while derivatives are wanted
  NoliVertexTurns turns;  // rotations at vertices
  NoliStickTable stick;   // of contacts that stick
  bool late;              // the bases of the set are not those of the start of the stage
  NoliFrictionSet end;    // scratch: of implicit friction at the end of a step
  NoliStickList slips;    // at the end of the step: noli_stage_find_slips
} NoliStageFriction;

// The bonds of adhesion at the start of the stage (solve/bonds.h).
typedef struct NoliStageAdhesion {
  NoliBondSet bonds;
  NoliCandidates candidates;
} NoliStageAdhesion;

// The terms of the potential: those before `first_contact` are the same at every point.
typedef struct NoliStageTerms {
  int32_t n;
  int32_t first_contact;
  NoliTerm* term;      // (n)
  bool* on_vertices;   // (n) whether their stencils may contain followers
  bool obstacles_vary; // derivatives by positions of obstacles are wanted

  // on several ranks, energies that are summed together: for each term the number of its blocks
  // that are the share of this rank, or -1; then their sums; and those of all ranks
  NOLI_ARRAY(double) own_sums;
  NOLI_ARRAY(double) all_sums;
} NoliStageTerms;

// Workspaces of solvers.
typedef struct NoliStageWork {
  NoliDirections* directions;
  NoliFrictionEnd* friction_end;
  NoliBalance* balance;
  NoliNewtonSystem* newton_system; // of implicit Newton, created when first needed
  void* method;                    // of the solver method, solve/method.h
} NoliStageWork;

// Called in every iteration; NULL: none.
typedef struct NoliStageObserver {
  NoliStageAudit* audit;
  const void* audit_user;
  NoliStageWatchFn* watch;
  void* watch_user;
} NoliStageObserver;

struct NoliStage {
  NoliContext* context;
  const NoliProblem* problem;
  int32_t n_threads;
  NoliStageObserver observer;

  // the stage
  NoliStageStep step;
  NoliStageTime time; // h_e, h_v, x_tilde, x_hat
  NoliStageLoads loads;
  NoliPrescribed prescribed;

  // the unknown
  NoliPoint point[2];
  NoliPoint* here;  // the current one; free of intersections between solves, and always with
                    // a barrier
  NoliPoint* trial; // the other
  NoliStageSearch search;
  NoliSystem system; // its equations

  NoliStageContact contact;
  NoliStageAdhesion adhesion;
  NoliStageFriction friction;
  NoliCoordinateStep* coordinates; // (problem->coordinates.n)
  NoliStageTerms terms;

  NoliStageWork work;
  NoliImbalance imbalance; // at the last test of this solve
  bool balance_missed;     // it alone kept the last iteration from ending the solve
  NoliStageRecord record;
};

// The slips of contacts; NULL if friction is a function of the velocity.
static inline const NoliStickTable* noli_stage_stick(const NoliStage* stage) {
  return stage->problem->friction.sticks ? &stage->friction.stick : NULL;
}

NOLI_WARN_UNUSED NoliStatus noli_stage_create(NoliContext* context, const NoliProblem* problem,
                                              NoliStage** stage);
void noli_stage_destroy(NoliStage** owner);

// Makes the next step depend only on the state, not on matrices of previous steps, so that a
// resumed run gives the same bits as an uninterrupted one. `record` of the linear solver is part of
// the state.
NOLI_WARN_UNUSED NoliStatus noli_stage_reset(NoliStage* stage, NoliLinRecord record);

// The length of the longest vector of stage->search.step over h, m/s; NaN if there is one. [Li2020]
// takes the largest component, which depends on the axes.
double noli_stage_step_speed(const NoliStage* stage);

// Clears loads and friction of previous steps or failed attempts, until they are computed again.
// Lists the terms for the current `time`.
void noli_stage_drop_forces(NoliStage* stage);

// Clears the pressures on faces, part of the above.
void noli_stage_drop_pressure(NoliStage* stage);
// Pressure number k on curved faces, at scale 1.
NoliCurvedPressure noli_stage_curved_pressure(const NoliStage* stage, int32_t k);

// Clears the record and the solver statistics at the start of a step.
void noli_stage_begin_step(NoliStage* stage);

// Records an iteration.
NOLI_WARN_UNUSED NoliStatus noli_stage_record(NoliStage* stage, const NoliNewtonStat* stat);

// Numbers the unknowns: inertial nodes that are neither tied nor prescribed in all components, and
// prescribed nodes while springs hold them. Without springs the assembler holds prescribed
// components of unknown nodes. Discards the patterns of the assembler if the numbers have changed.
NOLI_WARN_UNUSED NoliStatus noli_stage_number_unknowns(NoliStage* stage);

// Computes the damping stiffness of this step at x (n_vert x 3).
void noli_stage_set_damping(NoliStage* stage, const double* x);

// h times the energy that all damping dissipates in a step of length h from x0 (n_vert x 3) to x, J
// s.
NOLI_WARN_UNUSED NoliStatus noli_stage_damping_loss(const NoliStage* stage, const double* x0,
                                                    double* loss);

// Adds the force of stiffness damping at velocities v (n_vert x 3), with the stiffness of this
// step.
NOLI_WARN_UNUSED NoliStatus noli_stage_add_damping_force(const NoliStage* stage, const double* v,
                                                         double* force);

// Whether stencils need the vertices of obstacles, too: springs move them, or derivatives do.
static inline bool noli_stage_moves_obstacles(const NoliStage* stage) {
  return stage->prescribed.springs.hold || stage->terms.obstacles_vary;
}

// The surface for contact with a barrier. Where springs move obstacles, these bend: flat parts do
// not count (collide/flat.h).
static inline NoliSurface noli_stage_surface(const NoliStage* stage) {
  NoliSurface surface = *stage->problem->surface;
  if (stage->prescribed.springs.hold) {
    surface.flat = NULL;
  }
  return surface;
}

// Whether contacts are divided among ranks: candidates, contacts and lagged friction of a point are
// those of this rank.
bool noli_stage_divides_contacts(const NoliStage* stage);

// Adds up over ranks what the contacts of each have given, values (n); where contacts are not
// divided, all ranks have the whole already.
NOLI_WARN_UNUSED NoliStatus noli_stage_gather(const NoliStage* stage, double* value, int64_t n);

// The pairs of primitives whose gaps fall below `reach` between the current point and x_end
// (n_vert x 3); where contacts are divided, those that this rank has found.
NOLI_WARN_UNUSED NoliStatus noli_stage_find_pairs(NoliStage* stage, const double* x_end,
                                                  double reach, NoliCandidates* candidates);

// Finds the contacts at the current point: searches candidates and contacts, or linearizes the
// constraints of the active set.
NOLI_WARN_UNUSED NoliStatus noli_stage_find_contacts(NoliStage* stage);

// Sets followers in a field of positions (n_vert x 3), or in a field of steps or velocities, to
// their interpolated values.
void noli_stage_follow(const NoliStage* stage, double* x);
void noli_stage_follow_vectors(const NoliStage* stage, double* u);

// Moves the forces (n_vert x 3) on followers to their nodes and clears them.
void noli_stage_act_on_nodes(const NoliStage* stage, double* force);

// Prepares the system for the first `n_terms` at a point.
NOLI_WARN_UNUSED NoliStatus noli_stage_prepare_terms(NoliStage* stage, const NoliPoint* at,
                                                     int32_t n_terms);

// Notes the coordinates of joints at the current point, from which those of the next one differ by
// less than half a turn.
void noli_stage_track_coordinates(NoliStage* stage);

// The couplings of coordinates, as soft as iterations see them.
NoliCouplingEnergy noli_stage_couplings(const NoliStage* stage);

// trial = here + alpha step.
void noli_stage_set_trial(NoliStage* stage, double alpha);

// Finds the contacts at the trial point from its candidates.
NOLI_WARN_UNUSED NoliStatus noli_stage_trial_contacts(NoliStage* stage);

// Makes the trial point, with its candidates, contacts and energies, the current point, if it
// passes the audit.
NOLI_WARN_UNUSED NoliStatus noli_stage_accept(NoliStage* stage);

// After noli_stage_accept: the projected Hessians of thin elements are to be those of the stretch
// that the linearization predicted from the point before (fem/block.h); or those of their own.
void noli_stage_keep_last(NoliStage* stage);
void noli_stage_clear_last(NoliStage* stage);

// After an iteration whose step the line search has cut to the fraction `alpha` of the allowed
// length: contact models whose potential can jump replace it by one without jumps. `joined`:
// contacts at x have been added, so the solve must continue.
NOLI_WARN_UNUSED NoliStatus noli_stage_keep_contacts(NoliStage* stage, double alpha, bool* joined);

// Audits x (n_vert x 3), a point without intersections, if iterations are audited.
NOLI_WARN_UNUSED NoliStatus noli_stage_audit(NoliStage* stage, const double* x);

// The current K_min: [Zheng2025] section 6 suggests more iterations with friction, which a Newton
// step of this `speed`, m/s, may have resolved before.
int32_t noli_min_iterations(const NoliStage* stage, double speed);

// Number of contacts at x: pairs of closest features, each counted once even if several primitive
// pairs share it, or constraints that push.
int64_t noli_stage_contact_count(const NoliStage* stage);

// Smallest distance of the contacts, m; INFINITY without contacts.
double noli_stage_min_distance(const NoliStage* stage);

// Adds all forces but those in coordinates of joints, inertia included, where they act: not moved
// from followers to their nodes.
NOLI_WARN_UNUSED NoliStatus noli_stage_add_own_forces(NoliStage* stage, double* force);

// Adds contact forces to `force` (n_vert x 3), N, where they act, or moved to nodes; resultants of
// contact and friction to `pairs`.
NOLI_WARN_UNUSED NoliStatus noli_stage_add_contact_forces(const NoliStage* stage, double* force);
NOLI_WARN_UNUSED NoliStatus noli_stage_contact_forces(const NoliStage* stage, double* force);
NOLI_WARN_UNUSED NoliStatus noli_stage_pair_forces(const NoliStage* stage, NoliPairForces* pairs);

// Updates the list of contact terms; to be called whenever contacts or kappa have changed.
void noli_stage_list_contact_terms(NoliStage* stage);

// Updates the list of all other terms; to be called whenever their inputs have changed.
void noli_stage_list_terms(NoliStage* stage);

// Lists the terms at the trial point, whose contacts may differ.
void noli_stage_list_trial_terms(NoliStage* stage);

// Whether a term has one of `roles`.
static inline bool noli_stage_has(const NoliStage* stage, int32_t term, unsigned roles) {
  return ((unsigned)stage->terms.term[term].type->role & roles) != 0;
}

// Evaluates the energies at x of terms with one of `roles`.
NOLI_WARN_UNUSED NoliStatus noli_stage_role_energy(NoliStage* stage, unsigned roles);

// The same if the energy of every stencil at x is known: removes the rounding errors of changes.
NOLI_WARN_UNUSED NoliStatus noli_stage_sum_energy(NoliStage* stage, unsigned roles);

// The sum of these energies, and of their magnitudes by term.
typedef struct NoliEnergySum {
  double energy;
  double magnitude;
} NoliEnergySum;
NoliEnergySum noli_stage_energy_sum(const NoliStage* stage, unsigned roles);

// Evaluates the energies of all terms at x.
NOLI_WARN_UNUSED NoliStatus noli_stage_energy(NoliStage* stage);

// References for errors of the potential: kinetic, elastic and friction energy here, and the
// kinetic energy at the tolerance of the solver; in the unit of the potential.
double noli_stage_reference_energy(const NoliStage* stage);
double noli_stage_unresolved_energy(const NoliStage* stage);

// Energy at the trial point minus energy here, summed stencil by stencil if stencils agree.
// `magnitude` receives the sum of absolute energies, to which rounding errors are relative.
NOLI_WARN_UNUSED NoliStatus noli_stage_energy_change(NoliStage* stage, double* change,
                                                     double* magnitude);

// Gradient at the trial point, with its contacts, into stage->search.trial_gradient.
NOLI_WARN_UNUSED NoliStatus noli_stage_trial_gradient(NoliStage* stage);

// Gradient and projected matrix at x, with its rank-one terms.
NOLI_WARN_UNUSED NoliStatus noli_stage_linearize(NoliStage* stage);

// The gradient of all terms except contact and implicit friction at x, into stage->search.gradient.
NOLI_WARN_UNUSED NoliStatus noli_stage_gradient_without_contact(NoliStage* stage);

// The projected matrix of all terms except friction and contact at x, without gradient.
NOLI_WARN_UNUSED NoliStatus noli_stage_linearize_stiffness(NoliStage* stage);

// Gradient at x and the matrix selected by `what`: NOLI_EVAL_HESSIAN, NOLI_EVAL_PROJECTED or 0.
NOLI_WARN_UNUSED NoliStatus noli_stage_linearize_as(NoliStage* stage, unsigned what);

// Adds the forces at x, N, of terms with one of `roles` to `force` (n_vert x 3), term by term.
// Overwrites stage->search.gradient.
NOLI_WARN_UNUSED NoliStatus noli_stage_add_forces(NoliStage* stage, unsigned roles, double* force);

// Adds all forces at x, N, but those of the motions of prescribed nodes, to `force` (n_vert x 3):
// the opposite of reactions at prescribed components. Overwrites stage->search.gradient.
NOLI_WARN_UNUSED NoliStatus noli_stage_add_all_forces(NoliStage* stage, double* force);

// Sums the magnitudes of the forces of elasticity at x, N, that stencils exert on their nodes, by
// body (n_body).
NOLI_WARN_UNUSED NoliStatus noli_stage_internal_forces(const NoliStage* stage, double* by_body);

// Updates friction forces and sliding bases from the current contacts: "lagging" of [Li2020]
// section 5.4. Does nothing if friction is implicit.
NOLI_WARN_UNUSED NoliStatus noli_stage_lag_friction(NoliStage* stage);

// Friction with the normal forces, bases and slips at x; replaces `set`.
NOLI_WARN_UNUSED NoliStatus noli_stage_find_friction(NoliStage* stage, NoliFrictionSet* set);

// Replaces `slips` by those at the end of a step at x, sorted; none unless contacts stick. Implicit
// friction is that of the stage's own x.
NOLI_WARN_UNUSED NoliStatus noli_stage_collect_slips(NoliStage* stage, const double* x,
                                                     NoliStickList* slips);

// Finds the slips at the end of a step, at x, into stage->friction.slips; none unless contacts
// stick.
NOLI_WARN_UNUSED NoliStatus noli_stage_find_slips(NoliStage* stage);

// Sets the barrier stiffness in every term.
void noli_stage_set_kappa(NoliStage* stage, double kappa);

// At the end of a solve: stiffens contact with smooth surfaces if a movable vertex is behind one,
// [Larionov2024] section IV-D, and sets `stiffer`: the solve must continue. After
// NOLI_MAX_STIFFNESS_INCREASES in a step the penetration remains and is reported.
enum { NOLI_MAX_STIFFNESS_INCREASES = 20 };
NOLI_WARN_UNUSED NoliStatus noli_stage_stiffen(NoliStage* stage, bool* stiffer);
// Raises the barrier stiffness if the contacts require it, after an accepted step.
NOLI_WARN_UNUSED NoliStatus noli_stage_adapt_kappa(NoliStage* stage, const NoliNewtonStat* stat);

// Replaces implicit friction by friction lagged at the current contacts, or restores it.
NOLI_WARN_UNUSED NoliStatus noli_stage_lag_all_friction(NoliStage* stage, bool lags_all);

// Adds friction forces at x, N, to `force` (n_vert x 3).
NOLI_WARN_UNUSED NoliStatus noli_stage_friction_forces(const NoliStage* stage, double* force);

// About how stiff elements are in the scaled potential, relative to the mass of their nodes; at
// least 1: what is only relative to masses is too soft in steps in which waves cross many elements.
double noli_stage_stiffness_over_mass(const NoliStage* stage);

// Stiffness for the start of a time step; needs contacts at x.
NOLI_WARN_UNUSED NoliStatus noli_stage_initial_kappa(NoliStage* stage);

// The initial stiffness of contact models with a barrier: the fixed stiffness, or the one that
// balances the rest of the potential within bounds.
NOLI_WARN_UNUSED NoliStatus noli_stage_kappa_from_forces(NoliStage* stage,
                                                         const NoliStiffness* bounds);

// The data of implicit friction for the contacts of a barrier.
NoliImplicitFriction noli_stage_implicit_friction(const NoliStage* stage,
                                                  const NoliBarrier* barrier);

// Limits `step`, given at nodes, so that elements keep their orientation and surfaces do not
// intersect: the largest safe alpha in [0, 1], and the swept candidates for the line search.
typedef struct NoliStepFilter {
  double inversion;
  double ccd;
  bool shortened; // to the CFL bound, not by contact: the rest of the step may be free
  NoliStepBound blocker;
} NoliStepFilter;

NOLI_WARN_UNUSED NoliStatus noli_stage_filter_step(NoliStage* stage, double safety,
                                                   NoliStepFilter* filter);

// The length `alpha` of stage->search.step from x, or a smaller one at which no joint has covered
// more than `safety` of its way to a limit.
double noli_stage_bound_coordinates(NoliStage* stage, const double* x, double safety, double alpha);

// Limits `step` as noli_stage_filter_step does, for alpha in [0, reach], reach a power of two.
// Other steps follow this one: it may be shortened where that costs less.
NOLI_WARN_UNUSED NoliStatus noli_stage_filter_step_to(NoliStage* stage, double reach, double safety,
                                                      NoliStepFilter* filter);
