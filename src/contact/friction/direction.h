// Friction that depends on the direction: an orthotropic coefficient.
//
// A body of the pair has a direction, given at rest: the way of skates, the nap of a cloth. It
// turns with the surface. In the contact plane it is t1, and t2 is across it. With the coefficients
// mu1 and mu2 along and across it, the law of the pair acts with the larger one, mu, on the sliding
//   u = (f1 t1 . v, f2 t2 . v),   f_k = mu_k / mu,
// so the force (c(|u|) / |u|) (f1 u1 t1 + f2 u2 t2) of what slides lies on the ellipse
//   (F1 / mu1)^2 + (F2 / mu2)^2 = lambda^2
// and is normal to it at the sliding: the force dissipates as much as any on the ellipse. It still
// has a potential, convex where that of the law is. Slips of contacts that stick (stick.h) are
// those of u; with a factor of 0 there is no slip, and no force, in that direction.
//
// Directions are those where the set was made, as bases are. Where the direction is normal to the
// contact plane, there is none: the larger coefficient acts in all directions.
#pragma once

#include "contact/friction/friction.h"
#include "contact/friction/vertex_turns.h"

// Turns the bases of the contacts of a set made at x (n_vert x 3) whose pairs have a direction, and
// sets their factors; X are the positions at rest.
void noli_friction_set_directions(NoliFrictionSet* set, const NoliContactPairs* pairs,
                                  const NoliVertexTurns* turns, const double* X, const double* x);

// A vector in the contact plane, of which a contact counts its factors of the parts along both
// tangents. Factors of 1 leave every vector as it is, with its normal part.
NoliVec3 noli_friction_factored(const NoliFrictionContact* contact, NoliVec3 v);
