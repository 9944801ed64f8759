// Adhesion: surfaces that are close pull each other until they have been separated.
//
// The traction of two surfaces over s, their gap beyond the contact distance of the pair, is
//   sigma(s) = 12 W / R (s / R) (1 - s / R)^2 for 0 < s < R, 0 elsewhere,
// the derivative of the energy per area
//   phi(s) = -W (1 - t)^3 (1 + 3 t), t = s / R clamped to [0, 1].                              (1)
// It rises to 16 W / (9 R) at s = R / 3 and falls to 0: to separate an area takes the work W, the
// integral of sigma, whatever the barrier, which acts at smaller gaps alone. The curve is smooth,
// has no damage, and surfaces that come close again attract each other again.
//
// Area. One body of a pair is sampled, that of the smaller surface, which the other one is more
// likely to cover; self-adhesion samples both sides, half each. Each of its vertices that is in
// range of the other body has one bond to its closest feature there. The area of a bond is that of
// its vertex at rest: a third of each of its triangles that look along the bond within 60 degrees.
// Those that look aside, beyond 75 degrees, do not count, and between both angles a part: the sides
// of a block that lies on its bottom do not adhere to the floor.
//
// Bonds, their features and their areas are those of the start of a stage, as forces of lagged
// friction are; their gaps follow the positions. So they are a term with a potential like any
// other, in every solver and with every contact model that keeps surfaces apart.
//
// Friction. What adheres resists sliding: the friction of a bond is that of the normal force
// A (max sigma - sigma(s)) up to s = R / 3, in addition to that of contact. Then the shear strength
// of an interface is mu (p + max sigma) under the pressure p, that of Coulomb's law with cohesion
// (friction of a load and of the force that pulls off), down to 0 where the pull reaches max sigma.
#pragma once

#include "base/array.h"
#include "collide/candidates.h"
#include "collide/closest.h"
#include "collide/colliders.h"
#include "collide/point_edge.h"
#include "contact/contact_pairs.h"
#include "contact/friction/friction.h"
#include "contact/sampling.h"
#include "linalg/energy_term.h"

// One vertex of a surface and a feature of another one.
typedef struct NoliBond {
  NoliPairKind kind; // of the feature with the vertex
  int32_t plane;     // the other side is this half-space; NOLI_NULL_INDEX: a feature
  int32_t entity[2]; // of the vertex, and the other one
  double area;       // m^2
  double offset;     // m, of both bodies
  double start;      // m, distance of the primitives beyond which it pulls
  double work;       // J/m^2, W
  double range;      // m, R
} NoliBond;

// The bonds, and the vertex of each with those of its feature (4 each), unused NOLI_NULL_INDEX.
typedef struct NoliBondSet {
  NOLI_ARRAY(NoliBond) bond;
  NOLI_ARRAY(int32_t) node;
  NoliPointEdges point_edges; // scratch
} NoliBondSet;

void noli_bond_set_free(NoliContext* context, NoliBondSet* set);

// Replaces the bonds by those at x (n_vert x 3) with the surfaces among the candidates, which
// contain all that are in reach (noli_adhesion_reach), and with half-spaces; none where `pairs` has
// no adhesion.
NOLI_WARN_UNUSED NoliStatus noli_bonds_find(NoliBondSet* set, NoliContext* context,
                                            const NoliColliders* colliders,
                                            const NoliContactPairs* pairs,
                                            const NoliSampling* sampling,
                                            const NoliCandidates* candidates, const double* x,
                                            double dhat);

// The largest gap at which some pair adheres, m; 0: none does.
double noli_adhesion_reach(const NoliContactPairs* pairs, double dhat);

// Energy and traction of (1) over s, and the derivative of the traction.
typedef struct NoliTraction {
  double energy;     // J/m^2
  double value;      // Pa
  double derivative; // Pa/m
} NoliTraction;

NoliTraction noli_adhesion_traction(double s, double work, double range);

typedef struct NoliAdhesion {
  const NoliBondSet* set;
  const NoliHalfSpace* half_spaces;
  double scale; // of the potential: h_e^2
} NoliAdhesion;

// `data` is borrowed.
NoliEnergyTerm noli_adhesion_term(const NoliAdhesion* data);

// Whether some bond that holds at x, up to the largest traction, no longer does at x_end (n_vert x
// 3 each).
bool noli_adhesion_breaks(const NoliAdhesion* data, const double* x, const double* x_end);

// Adds the forces on each vertex to `force` (n_vert x 3), N.
void noli_adhesion_forces(const NoliAdhesion* data, const double* x, double* force);

// Adds the resultants of bonds to those of pairs: of those that `home` gives this rank
// (contact_share.h), or all if it is NULL.
NOLI_WARN_UNUSED NoliStatus noli_adhesion_pair_forces(const NoliAdhesion* data,
                                                      NoliContext* context, const double* x,
                                                      const int32_t* home, NoliPairForces* pairs);

// Adds the friction of the bonds to a set with stencils of 4 nodes, to a divided set that of this
// rank.
NOLI_WARN_UNUSED NoliStatus noli_adhesion_friction(const NoliAdhesion* data, NoliContext* context,
                                                   const NoliContactPairs* pairs, const double* x,
                                                   const int32_t* home, NoliFrictionSet* set);
