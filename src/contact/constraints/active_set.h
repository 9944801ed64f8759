// The active set of [Zheng2025] section 4: pairs of primitives that are kept apart by linearized
// inequality constraints, each with a Lagrange multiplier and a decay factor.
//
// Let n be the direction and w the weights of the closest points at the last safe state x. The
// unsigned distance, linearized there and evaluated at a target y that may penetrate, is
//   d(x) + grad d(x) . (y - x) = n . sum_i w_i y_i,
// because d(x) = n . sum_i w_i x_i. The constraint is therefore c(y) = n . sum_i w_i y_i - delta >=
// 0 for all closest-feature cases; for half-spaces the height replaces the sum (eq. 10). With
// offsets of the surface that add up to xi, d is the gap between the offset surfaces, and xi is
// subtracted as well.
//
// The energy is that of eq. 12, gamma (mu/2 (c - s)^2 - lambda (c - s)), with the slacks s fixed
// while the target moves: a quadratic function of y. There are four differences from the paper:
//  - Each constraint has its own mu: a ratio times the stiffness of the nodes that it pushes, or
//  its
//    multiplier over its gap if that is more. The largest entry of the Hessian (eq. 20) follows the
//    stiffest body or the most crushed element, far from most constraints.
//  - Only pairs that approach from further away must immediately keep the full gap delta. A pair
//    that enters the set with a smaller gap, or began the step with one, keeps that gap, and
//    recovers the deficit in the following steps, slowly: a full recovery in one step throws
//    surfaces apart at delta / h. The recovery is also limited by a given amount of work, because a
//    stiff body in a narrow passage would otherwise gain energy without bound.
//  - An inactive constraint resists opening (its part of the Hessian stays) only until the end of
//    its time step. In the paper it resists until it has decayed, for 44 iterations: a step that
//    ends after two iterations then holds separating surfaces together, blocks on a slope lose
//    contact, and impacts gain energy. (Without any resistance the set does not settle where many
//    surfaces meet.)
//  - Constraints follow the closest features of their primitives, see constraint_key.h.
//
// In a plane the pairs are vertices and segments. Two parallel segments touch at two ends: a
// constraint between segments would alternate between the ends and never converge.
#pragma once

#include "contact/constraints/constraint_key.h"
#include "contact/contact_set.h"
#include "contact/friction/friction.h"
#include "contact/pair_forces.h"
#include "linalg/energy_term.h"
#include "linalg/followers.h"

typedef struct NoliConstraint {
  NoliConstraintKey key;
  double lambda; // multiplier of the scaled potential, J s^2 / m; >= 0
  double gamma;  // decay factor, in (0, 1]
  // the linearization
  double weight[4]; // of its nodes in the set's list; unused ones 0
  NoliVec3 normal;  // unit
  double constant;  // added to normal . sum_i w_i y_i: -gap, -offset, -n . origin of half-spaces
  double distance;  // at the safe state, less the offsets, m
  double slack;
  double mu;        // penalty stiffness of the scaled potential
  double stiffness; // of the nodes that it pushes; 0 if all of them are prescribed
  double gap;       // m, to keep in this time step; 0 until it is linearized
  double range;     // of its pair: `delta` of the set times this is the gap to keep
  bool was_active;  // before multipliers were balanced
  bool released;    // has not pushed since the time step began: opens without resistance
  int32_t n_first;  // nodes that belong to the first of the two primitives
} NoliConstraint;

typedef struct NoliActiveSet {
  NOLI_ARRAY(NoliConstraint) constraint; // sorted by key
  NOLI_ARRAY(int32_t) node;              // (constraint.count x 4) for the energy term
  const NoliFollowers* followers;        // borrowed; NULL: all vertices are nodes
  const NoliContactPairs* pairs;         // borrowed; NULL: all ranges are 1
  double ratio;                          // penalty stiffness over that of the pushed nodes
  double delta;                          // m, gap to keep
  const double* start; // (n_vert x 3) where the time step began, borrowed; NULL: not yet known
  bool driven;         // prescribed motion does work in this step, which may open gaps
  // Diagonal blocks of the scaled Hessian without contact, zero for prescribed nodes
  NOLI_ARRAY(double) diagonal; // (n_vert x 9)
  NoliTriangleStars stars;     // of the surface, once constraints have followed it
  // scratch
  NOLI_ARRAY(NoliConstraint) merged;
  NOLI_ARRAY(double) earliest; // (n_vert) first time of impact at each vertex
} NoliActiveSet;

void noli_active_set_free(NoliContext* context, NoliActiveSet* set);

// The data that persists between time steps, as plain numbers: the key of each constraint (n), in
// ascending order, and lambda and gamma (n x 2). Loading replaces the set; it fails with
// NOLI_ERROR_ARGUMENT if a key names primitives that do not exist, or keys do not ascend.
void noli_active_set_save(const NoliActiveSet* set, int64_t* key, double* multiplier);
NOLI_WARN_UNUSED NoliStatus noli_active_set_load(NoliActiveSet* set, NoliContext* context,
                                                 const NoliSurface* surface, int32_t n_half_spaces,
                                                 int64_t n, const int64_t* key,
                                                 const double* multiplier);

// Every constraint goes to the closest feature of its primitives at x (n_vert x 3); those that meet
// become one, with the sum of their multipliers. The surface is always the same.
NOLI_WARN_UNUSED NoliStatus noli_active_set_follow(NoliActiveSet* set, NoliContext* context,
                                                   const NoliSurface* surface, const double* x,
                                                   int32_t n_threads);

// Linearizes every constraint at the safe state x (n_vert x 3). Fails with NOLI_NOT_FINITE if a
// distance is not positive.
NOLI_WARN_UNUSED NoliStatus noli_active_set_linearize(NoliActiveSet* set, NoliContext* context,
                                                      const NoliSurface* surface,
                                                      const NoliHalfSpace* half_spaces,
                                                      const double* x, int32_t n_threads);

// Begins a time step at `start` (n_vert x 3), which the set refers to until the next one begins or
// is loaded: gaps to keep are chosen again, and constraints that do not push become loose.
void noli_active_set_begin_step(NoliActiveSet* set, const double* start, bool driven);

// To be called after the first linearization of a time step: recovers a tenth of each gap deficit,
// or, if that would take more work than `most` (J s^2 of the scaled potential), the same smaller
// share of each. Returns the work against the multipliers.
double noli_active_set_recover_gaps(NoliActiveSet* set, double most);

// Doubles the penalty stiffness and halves the gaps to keep, [Zheng2025] section 5.2, for the rest
// of the time step.
void noli_active_set_harden(NoliActiveSet* set);

// Recomputes the multipliers of pushing constraints so that they balance the gradient of all other
// terms at the linearized state, vertex by vertex (a projected Gauss-Seidel iteration on the
// diagonal blocks). Multipliers that stopped an impact are an impulse: if they stayed, the next
// step would repeat it. `gradient` (n_vert x 3) is overwritten.
void noli_active_set_estimate_multipliers(NoliActiveSet* set, double* gradient);

// s <- max(0, c(y) - lambda / mu), eq. 14. With `holds`, the slack of a pushing constraint is 0 as
// long as y exceeds its gap by no more than a step may recover.
void noli_active_set_update_slacks(NoliActiveSet* set, const double* y, bool holds,
                                   int32_t n_threads);

// The end of [Zheng2025] algorithm 2: an active constraint gets lambda <- lambda - mu c(y) and
// gamma <- 1, an inactive one lambda <- 0 and gamma <- decay gamma. If `multipliers` is false,
// lambda stays 0: a pure penalty, for comparison only.
// Returns an estimate, J s^2, of the energy by which y misses the solution of the linearized
// constraints: the energy needed to close the gaps of pushing constraints and to undo the
// resistance of opening ones, with the stiffness of the vertices that they push.
double noli_active_set_update_multipliers(NoliActiveSet* set, const double* y, double decay,
                                          bool multipliers);

// From now on, constraints that do not push open without resistance.
void noli_active_set_release_inactive(NoliActiveSet* set);

// Work of the multipliers on the way from a to b (n_vert x 3), J s^2.
double noli_active_set_work(const NoliActiveSet* set, const double* a, const double* b);

// [Zheng2025] algorithm 3: removes decayed constraints and adds the impacts of pairs that are not
// yet in the set; with `filter` only those that are the earliest new impact of one of their
// vertices.
NOLI_WARN_UNUSED NoliStatus noli_active_set_update(NoliActiveSet* set, NoliContext* context,
                                                   const NoliSurface* surface,
                                                   const NoliImpacts* impacts, bool filter,
                                                   int64_t* n_added, int64_t* n_removed);

// Number of constraints that push: lambda > 0.
int64_t noli_active_set_count_active(const NoliActiveSet* set);

// Smallest distance of a constraint where it was linearized, m; INFINITY without constraints.
double noli_active_set_min_distance(const NoliActiveSet* set);

// Deepest penetration of the linearized distances in y, m; 0 if there is none.
double noli_active_set_penetration(const NoliActiveSet* set, const double* y);

// Largest penalty stiffness; 0 without constraints.
double noli_active_set_largest_mu(const NoliActiveSet* set);

// Stencils of 4 nodes. `set` is borrowed, and linearized.
NoliEnergyTerm noli_active_set_term(const NoliActiveSet* set);

// Adds the contact forces gamma lambda grad d / scale to `force` (n_vert x 3); newtons if `scale`
// is h_e^2.
void noli_active_set_forces(const NoliActiveSet* set, double scale, double* force);

// Adds the number of pushing constraints, the smallest distance and the normal resultant of each
// pair to `pairs`.
NOLI_WARN_UNUSED NoliStatus noli_active_set_pair_forces(const NoliActiveSet* set,
                                                        NoliContext* context,
                                                        const NoliSurface* surface, int32_t n_body,
                                                        const double* x, double scale,
                                                        NoliPairForces* pairs);

// Replaces `friction` by that of the pushing constraints, with the multipliers as normal forces,
// [Zheng2025] appendix A.
NOLI_WARN_UNUSED NoliStatus noli_active_set_friction(const NoliActiveSet* set, NoliContext* context,
                                                     const NoliSurface* surface,
                                                     const NoliContactPairs* pairs,
                                                     NoliFrictionSet* friction);

// Validator (base/validate.h).
const char* noli_active_set_defect(const NoliActiveSet* set);
