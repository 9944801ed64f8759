// The active set of [Zheng2025] section 4: pairs of primitives that are kept apart by linearised
// inequality constraints, each with a Lagrange multiplier and a decay factor.
//
// With n the direction and w the weights of the closest points at the last safe state x, the
// unsigned distance linearised there is, at any (possibly penetrating) target y,
//   d(x) + grad d(x) . (y - x) = n . sum_i w_i y_i,
// because d(x) = n . sum_i w_i x_i. So the constraint is c(y) = n . sum_i w_i y_i - delta >= 0, for
// all closest-feature cases and, with the height above it for the sum, for half-spaces (eq. 10).
//
// The energy is that of eq. 12, gamma (mu/2 (c - s)^2 - lambda (c - s)), with the slacks s fixed
// while the target moves: a quadratic function of y. There are three differences from the paper:
//  - mu belongs to a constraint: the stiffness of what it pushes times a ratio. One mu for all, the
//    largest entry of the whole Hessian (eq. 20), follows the stiffest body or the worst crushed
//    element, far from most constraints.
//  - The gap to keep, delta, is asked for at once of pairs that come from further away only. One
//    that a pair lacks at first (it was not in the set) is made up for slowly: all at once throws
//    surfaces apart at delta / h. And only as far as a given work allows: a stiff body in a narrow
//    passage would be squeezed by ever more energy that comes from nowhere.
//  - An inactive constraint resists opening (its part of the Hessian stays) to the end of its time
//    step only. In the paper it does until it has decayed, for 44 iterations, and a step that ends
//    after two holds back what wants to come off: blocks on a slope hardly touch it, impacts gain
//    energy. (Without any resistance the set does not settle where many surfaces meet.)
//
// In a plane the pairs are vertices and segments. Two parallel segments touch at two ends: a
// constraint of the pair follows one of them, then the other one, and never converges.
#pragma once

#include "collide/impacts.h"
#include "contact/contact_set.h"
#include "contact/friction.h"
#include "contact/pair_forces.h"
#include "linalg/energy_term.h"
#include "linalg/followers.h"

// What identifies a constraint.
typedef struct NoliConstraintKey {
  NoliPrimitives kind;
  int32_t a, b;
} NoliConstraintKey;

typedef struct NoliConstraint {
  NoliConstraintKey key;
  double lambda; // multiplier of the scaled potential, J s^2 / m; >= 0
  double gamma;  // decay factor, in (0, 1]
  // the linearisation
  double weight[4]; // of its nodes in the set's list; unused ones 0
  NoliVec3 normal;  // unit
  double constant;  // added to normal . sum_i w_i y_i: -gap, and -n . origin for half-spaces
  double distance;  // at the safe state, m
  double slack;
  double mu;        // penalty stiffness of the scaled potential
  double stiffness; // of what it pushes; 0 where all of that is prescribed
  double gap;       // m, to keep in this time step; 0 until it is linearised
  bool pushed;      // before multipliers were balanced
  bool loose;       // has not pushed since the time step began: opens without resistance
  int32_t n_first;  // nodes that belong to the first of the two primitives
} NoliConstraint;

typedef struct NoliActiveSet {
  NOLI_ARRAY(NoliConstraint) constraint; // sorted by key
  NOLI_ARRAY(int32_t) node;              // (constraint.count x 4) for the energy term
  const NoliFollowers* followers;        // borrowed; NULL: all vertices are nodes
  double ratio;                          // penalty stiffness over that of what is pushed
  double delta;                          // m, gap to keep
  double restoring;                      // J s^2, work that may go into gaps that are missing
  // Diagonal blocks of the scaled Hessian without contact, zero where everything is prescribed
  NOLI_ARRAY(double) diagonal; // (n_vert x 9)
  // scratch
  NOLI_ARRAY(NoliConstraint) merged;
  NOLI_ARRAY(double) earliest; // (n_vert) first time of impact at each vertex
} NoliActiveSet;

void noli_active_set_free(NoliContext* context, NoliActiveSet* set);

// What outlives a time step, as plain numbers: a key for each constraint (n), in the order of keys,
// and lambda and gamma (n x 2). Loading replaces the set; it fails with NOLI_ERROR_ARGUMENT where a
// key names primitives that do not exist, or keys do not ascend.
void noli_active_set_save(const NoliActiveSet* set, int64_t* key, double* multiplier);
NOLI_WARN_UNUSED NoliStatus noli_active_set_load(NoliActiveSet* set, NoliContext* context,
                                                 const NoliSurface* surface, int32_t n_planes,
                                                 int64_t n, const int64_t* key,
                                                 const double* multiplier);

// Linearises every constraint at the safe state x (n_vert x 3). Fails with NOLI_NOT_FINITE where a
// distance is not positive.
NOLI_WARN_UNUSED NoliStatus noli_active_set_linearize(NoliActiveSet* set, NoliContext* context,
                                                      const NoliSurface* surface,
                                                      const NoliPlane* planes, const double* x,
                                                      int32_t n_threads);

// A new time step: gaps to keep follow from the distances of the next linearisation, and
// constraints that do not push are loose.
void noli_active_set_begin_step(NoliActiveSet* set);

// After the first linearisation of a time step: restores a tenth of the gaps that are missing, or
// less, all by the same share, where that would take more work than `most`, J s^2 of the scaled
// potential. Constraints that are new in this step may take as much once more. Returns the work
// against the multipliers.
double noli_active_set_restore(NoliActiveSet* set, double most);

// Doubles the penalty stiffness and halves the gaps to keep, [Zheng2025] section 5.2, for the rest
// of the time step.
void noli_active_set_harden(NoliActiveSet* set);

// Multipliers for a state of which only the set is known to be good: those of pushing constraints
// that balance the gradient of all else at the linearised state, vertex by vertex (a projected
// Gauss-Seidel iteration on the diagonal blocks). Multipliers that stopped an impact are an
// impulse: where they stay, the next step repeats it. `gradient` (n_vert x 3) is overwritten.
void noli_active_set_balance(NoliActiveSet* set, double* gradient);

// s <- max(0, c(y) - lambda / mu), eq. 14. With `holds`, constraints that push have none where y is
// beyond their gaps by no more than gaps are restored in a step.
void noli_active_set_update_slacks(NoliActiveSet* set, const double* y, bool holds,
                                   int32_t n_threads);

// The end of [Zheng2025] algorithm 2: an active constraint gets lambda <- lambda - mu c(y) and
// gamma <- 1, an inactive one lambda <- 0 and gamma <- decay gamma. `multipliers` false: lambda
// stays 0, a pure penalty (for comparison only).
// Returns the energy, J s^2, by which y may miss the solution of the linearised constraints: what
// it takes to close gaps of pushing constraints and to undo the resistance of opening ones, with
// the stiffness of the vertices that they push.
double noli_active_set_update_multipliers(NoliActiveSet* set, const double* y, double decay,
                                          bool multipliers);

// Constraints that do not push open without resistance from now on.
void noli_active_set_loosen(NoliActiveSet* set);

// Work of the multipliers on the way from a to b (n_vert x 3), J s^2.
double noli_active_set_work(const NoliActiveSet* set, const double* a, const double* b);

// [Zheng2025] algorithm 3: removes what has decayed, and adds impacts of pairs that are not yet in
// the set; with `filter` only those that are the earliest new impact of one of their vertices.
NOLI_WARN_UNUSED NoliStatus noli_active_set_update(NoliActiveSet* set, NoliContext* context,
                                                   const NoliSurface* surface,
                                                   const NoliImpacts* impacts, bool filter,
                                                   int64_t* n_added, int64_t* n_removed);

// Constraints that push: lambda > 0.
int64_t noli_active_set_count_active(const NoliActiveSet* set);

// Smallest distance of a constraint where it was linearised, m; INFINITY without constraints.
double noli_active_set_min_distance(const NoliActiveSet* set);

// Deepest penetration of the linearised distances in y, m; 0 if there is none.
double noli_active_set_penetration(const NoliActiveSet* set, const double* y);

// Largest penalty stiffness; 0 without constraints.
double noli_active_set_largest_mu(const NoliActiveSet* set);

// Stencils of 4 nodes. `set` is borrowed, and linearised.
NoliEnergyTerm noli_active_set_term(const NoliActiveSet* set);

// Contact forces gamma lambda grad d / scale, added to `force` (n_vert x 3); newtons where `scale`
// is h_e^2.
void noli_active_set_forces(const NoliActiveSet* set, double scale, double* force);

// Adds numbers of pushing constraints, smallest distances and normal resultants to `pairs`.
NOLI_WARN_UNUSED NoliStatus noli_active_set_pair_forces(const NoliActiveSet* set,
                                                        NoliContext* context,
                                                        const NoliSurface* surface, int32_t n_body,
                                                        double scale, NoliPairForces* pairs);

// Friction of the pushing constraints: multipliers as normal forces, [Zheng2025] appendix A.
NOLI_WARN_UNUSED NoliStatus noli_active_set_friction(const NoliActiveSet* set, NoliContext* context,
                                                     const NoliSurface* surface,
                                                     const NoliContactPairs* pairs,
                                                     NoliFrictionSet* friction);

// Validator (base/validate.h).
const char* noli_active_set_defect(const NoliActiveSet* set);
