// The barrier contact potential of [Li2020]: energy terms over a contact set.
//
// The energy of a contact is kappa weight [e(c)] b(g^2), with the gap g = d - xi between surfaces
// at the sum xi of the offsets of both bodies. Deviation from [Li2021] eq. 13, b(d^2 - xi^2) with a
// range of dhat^2 + 2 dhat xi: its forces depend on the offset, as 2 xi / g for large offsets, and
// so would every rule for kappa. Here the force at a gap is that of bodies without offsets. Closest
// points are recomputed at the x of the evaluation, for the stored kind: a term is exact at the
// positions of its set and meant for positions close to them.
#pragma once

#include "contact/barrier.h"
#include "contact/contact_set.h"
#include "contact/pair_forces.h"
#include "linalg/energy_term.h"

// A pair whose contact distance is r dhat has the energy r b(g^2 / r^2): at the same share of its
// distance it pushes with the same force as the others, so that one kappa suits all.
typedef struct NoliBarrier {
  const NoliContactSet* set;
  const NoliHalfSpace* half_spaces;
  double dhat_sqr;
  double kappa;
} NoliBarrier;

// Contacts between bodies: stencils of 4 nodes. `data` is borrowed.
NoliEnergyTerm noli_barrier_term(const NoliBarrier* data);

// Contacts with half-spaces: stencils of 1 node.
NoliEnergyTerm noli_half_space_barrier_term(const NoliBarrier* data);

// Energy of both, summed in a fixed order.
double noli_barrier_energy(const NoliBarrier* data, const double* x, int32_t n_threads);

// Gap of a contact with a half-space, signed, m.
double noli_plane_gap(const NoliBarrier* data, const NoliHalfSpaceContact* contact,
                      const double* x);

// Active closest points of a contact, with weights for its own four nodes (0 for unused ones), and
// the value of its mollifier (1 if it has none).
NoliClosest noli_contact_closest(const NoliContact* contact, const double* x, double* mollifier);

// The barrier of a pair with a range, and its derivatives, as a function of the squared gap.
NoliBarrierValue noli_barrier_in_range(double gap_sqr, double dhat_sqr, double range);

// Magnitude of the normal force of a contact with squared gap G: -kappa weight b'(G) 2 g >= 0,
// where `weight` includes the mollifier. NaN for G <= 0.
double noli_contact_normal_force(const NoliBarrier* data, double weight, double range,
                                 double gap_sqr);

// Gradient of the energy of a contact by its own four nodes (0 for unused ones).
void noli_contact_gradient(const NoliBarrier* data, const NoliContact* contact, const double* x,
                           double gradient[12]);

// Adds the contact force -gradient / scale to each vertex of `force` (n_vert x 3). `scale` is h_e^2
// if the potential is the scaled one of a time step: the forces are then in newtons.
void noli_contact_forces(const NoliBarrier* data, const double* x, double scale, double* force);

// The points at which the contact of a vertex with a half-space acts.
NoliContactPlace noli_half_space_place(const NoliBarrier* data, const NoliHalfSpaceContact* contact,
                                       const double* x);

// Adds the number of contacts, the smallest gap and the normal resultant of each pair to
// `pairs`.
NOLI_WARN_UNUSED NoliStatus noli_contact_pair_forces(const NoliBarrier* data, NoliContext* context,
                                                     const double* x, double scale,
                                                     NoliPairForces* pairs);
