// Lagged, smoothed friction, [Li2020] eq. 13-15, with the law of the pair (friction_law.h).
//
// Contact forces and sliding bases are those of an earlier x. For each contact, with the
// closest-point weights w and an orthonormal basis t1, t2 of the plane orthogonal to the normal,
//   u = T^T (x - x_hat) = (t1, t2)^T sum_i w_i (x_i - x_hat_i),   D = potential of the law at |u|.
// For Coulomb's law D = mu lambda f0(|u|), a convex function of x whose Hessian needs no
// projection. Stribeck's force decreases with speed; the projected Hessian omits negative slopes.
#pragma once

#include "contact/contact_set.h"
#include "contact/pair_forces.h"
#include "linalg/energy_term.h"

// How far a contact that sticks had slid at the start of a step or a part of one.
typedef struct NoliStickWay {
  double path; // m, in all
  double slid; // m, in the parts of a divided step before this one
} NoliStickWay;

typedef struct NoliFrictionContact {
  double weight[4]; // 0 for unused nodes; not used in sets with stencils of any size
  NoliVec3 t[2];
  double factor[2]; // of the sliding along t: 1, or as direction.h says
  NoliFrictionLaw law;
  double lambda; // > 0, magnitude of the normal force; of the scaled potential, as kappa is
  int32_t entity[2];
  int32_t n_first; // nodes that belong to entity[0], the first ones
  bool majorized;  // see noli_friction_majorize
  bool on_trial;   // majorized by noli_friction_begin
  bool by_vertex;  // as in NoliNormalContact
  // of contacts that stick (stick.h), times the factors
  NoliVec3 slip;    // m, at the start of the step
  double offset[2]; // the same in the basis t
  NoliStickWay way; // how far it had slid, without factors
} NoliFrictionContact;

// A contact with its normal force.
typedef struct NoliNormalContact {
  int32_t node[4];  // unused ones, NOLI_NULL_INDEX, last
  double weight[4]; // of the closest points: their difference is sum_i w_i x_i
  NoliVec3 normal;  // unit
  double lambda;    // magnitude of the normal force of the scaled potential
  int32_t entity[2];
  int32_t n_first; // nodes that belong to entity[0], the first ones
  bool by_vertex;  // its other nodes are a patch that changes: the first one identifies it
} NoliNormalContact;

// All stencils have 4 nodes, or all have any size: then `first` is not empty.
typedef struct NoliFrictionSet {
  NOLI_ARRAY(NoliFrictionContact) contact;
  NOLI_ARRAY(int32_t) node;        // (contact.count x 4), unused: NOLI_NULL_INDEX
  NOLI_ARRAY(double) weight;       // of any size: of each node
  NOLI_ARRAY(int64_t) first;       // of any size: (contact.count + 1), as in NoliEnergyTerm
  NOLI_ARRAY(int64_t) first_block; // of any size: (contact.count + 1), as in NoliEnergyTerm
  bool divided;        // the lists above are those of this rank, and other ranks have others
  int64_t n_all;       // contacts, those of other ranks included
  int64_t n_majorized; // majorized contacts, those of other ranks included
} NoliFrictionSet;

typedef struct NoliFriction {
  const NoliFrictionSet* set;
  const double* x_hat;                // (n_node x 3)
  double eps_v;                       // m/s: slower sliding counts as sticking
  double h_v;                         // s: v = (x - x_hat) / h_v
  const struct NoliStickTable* stick; // contacts stick, and x_hat is as there (stick.h); NULL:
                                      // friction is a function of the velocity
} NoliFriction;

// Nodes and weights of one contact.
typedef struct NoliFrictionStencil {
  int32_t size;
  const int32_t* node; // unused ones, NOLI_NULL_INDEX, last
  const double* weight;
} NoliFrictionStencil;

NoliFrictionStencil noli_friction_stencil(const NoliFrictionSet* set, int64_t i);

void noli_friction_set_init(NoliFrictionSet* set);
void noli_friction_set_free(NoliContext* context, NoliFrictionSet* set);

void noli_friction_set_clear(NoliFrictionSet* set);

// Adds a contact if it has friction: its pair has friction, and lambda > 0. Fails with
// NOLI_NOT_FINITE if lambda is not finite.
NOLI_WARN_UNUSED NoliStatus noli_friction_set_add(NoliFrictionSet* set, NoliContext* context,
                                                  const NoliContactPairs* pairs,
                                                  const NoliNormalContact* contact);

// The same with a stencil of `size` nodes and weights, instead of those of `contact`. All contacts
// of a set must be added by the same function.
NOLI_WARN_UNUSED NoliStatus noli_friction_set_add_stencil(
    NoliFrictionSet* set, NoliContext* context, const NoliContactPairs* pairs,
    const NoliNormalContact* contact, int32_t size, const int32_t* node, const double* weight);

// Replaces the set by those of `contacts`, half-spaces included, that have friction at x; it is
// divided if `contacts` are. Fails with NOLI_ERROR_MEMORY, and with NOLI_NOT_FINITE if a distance
// is not positive.
NOLI_WARN_UNUSED NoliStatus noli_friction_set_build(NoliFrictionSet* set, NoliContext* context,
                                                    const NoliContactSet* contacts,
                                                    const NoliHalfSpace* half_spaces,
                                                    const NoliContactPairs* pairs, const double* x,
                                                    double kappa, double dhat);

// Adds those of `contacts`, without half-spaces, to a set with stencils of any size.
NOLI_WARN_UNUSED NoliStatus noli_friction_set_add_stencils(
    NoliFrictionSet* set, NoliContext* context, const NoliContactSet* contacts,
    const NoliContactPairs* pairs, const double* x, double kappa, double dhat);

// Before the first Newton step of a solve at x: contacts that stick, begin near their limit and
// have not moved, or not slid on by the stick length where they are beyond it, are majorized. Their
// force hardly changes there, whatever follows: exact Newton steps of a contact that unloads would
// end far on the other side. The others are exact. `set` is data->set, here and below.
NOLI_WARN_UNUSED NoliStatus noli_friction_begin(NoliFrictionSet* set, NoliContext* context,
                                                const NoliFriction* data, const double* x);

// Chooses which contacts are majorized, after a Newton step from x to x_end: the Hessian of a
// majorized contact is that of a quadratic that touches the potential and is nowhere below it (the
// potential of every law is concave in |u|^2). Its minimum never overshoots, while Newton steps
// with the exact Hessian can oscillate around sticking. After a step that was `too_long`, and as
// long as any contact is majorized, contacts whose potential exceeds its model are majorized; those
// whose sliding has changed little, and those of noli_friction_begin that slide on, are exact
// again.
NOLI_WARN_UNUSED NoliStatus noli_friction_majorize(NoliFrictionSet* set, NoliContext* context,
                                                   const NoliFriction* data, const double* x,
                                                   const double* x_end, bool too_long);

// Makes all Hessians exact again.
void noli_friction_set_exact(NoliFrictionSet* set);

// Sliding u of contact i from x_hat to x in its plane, or its trial slip (stick.h); if x_hat is
// NULL, x is a displacement.
void noli_friction_sliding(const NoliFriction* data, int64_t i, const double* x, double u[2]);

// The law of contact i, scaled to the stage; of contacts that stick its dry part.
NoliSlidingLaw noli_friction_law_of(const NoliFriction* data, int64_t i);

// The viscous force on contact i with the sliding u, in its plane; zero where it is a part of the
// law, which is that of a velocity.
void noli_friction_drag(const NoliFriction* data, int64_t i, const double u[2], double force[2]);

// Stencils of 4 nodes, or of any size. `data` is borrowed; data->eps_v, data->h_v > 0.
NoliEnergyTerm noli_friction_term(const NoliFriction* data);

// Adds the friction force -gradient / scale to each vertex of `force` (n_vert x 3). This and the
// next function add what is on this rank.
void noli_friction_forces(const NoliFriction* data, const double* x, double scale, double* force);

// Adds the friction resultant of each pair to `pairs`.
NOLI_WARN_UNUSED NoliStatus noli_friction_pair_forces(const NoliFriction* data,
                                                      NoliContext* context, const double* x,
                                                      double scale, NoliPairForces* pairs);
