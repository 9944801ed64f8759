// Adaptive barrier stiffness kappa, as in the supplement of [Li2020].
#pragma once

#include "contact/contact_set.h"

typedef struct NoliStiffness {
  double min;
  double max;
  double close_d_sqr;   // pairs closer than this (squared) must not come closer: (1e-9 d)^2
  double limit;         // of kappa for crushed pairs
  double crushed_d_sqr; // pairs closer than this (squared) should open if they block: (1e-2 dhat)^2
} NoliStiffness;

// `mean_mass` of the nodes in kg, `size` d in m. kappa_min = 1e11 m / (4 D0 b''(D0)) with
// D0 = 1e-16 d^2, so that a pair at distance 1e-8 d is as stiff as a multiple of a nodal mass;
// kappa_max = 100 kappa_min.
// Deviation for dhat below 1e-4 d: the formula would make the barrier so stiff that it acts only
// very close to dhat, and Newton's method would alternate between contact and no contact (a
// collapsing arch with dhat = 1e-6 l: 1000 iterations in a step). kappa_min then uses
// D0 = 1e-8 dhat^2, which makes the barrier's stiffness relative to mass the same for every dhat;
// kappa_max is unchanged, with D0 at most dhat^2 / 100, because b'' vanishes at dhat.
NoliStiffness noli_stiffness(double mean_mass, double size, double dhat);

// Converts the bounds to those of convergent contact (contact/convergent.h): pairs of the mean
// weight, in place of 1, by `ratio`; then kappa of the material, if it is not 0, is the smallest,
// and a hundred times that the largest one.
void noli_stiffness_scale(NoliStiffness* stiffness, double ratio, double material);

// clamp(-(g_c . g_E) / |g_c|^2): the kappa that best balances the rest of the potential.
// `contact_gradient` is that of the barrier with kappa = 1, `energy_gradient` that of all other
// terms, both (n_node x 3). Nodes with dof[i] == NOLI_NULL_INDEX do not count; dof may be NULL.
double noli_stiffness_initial(const NoliStiffness* stiffness, int32_t n_node,
                              const double* contact_gradient, const double* energy_gradient,
                              const int32_t* dof);

// kappa for the next iteration, `*next`: doubled, up to the maximum, if a pair that was very close
// before the iteration has come closer. Deviation: `alpha` is the part of the iteration's step that
// was taken if CCD cut it to less than half, otherwise 1. If a pair of a step that was cut is
// closer than dhat / 100 and does not open, kappa grows beyond the maximum, up to `limit`, so that
// the barrier would balance the forces on the pair at dhat / 100. At gaps as small as 1e-6 dhat,
// CCD limits sliding and rotation to the square root of gap times size, and Newton's method would
// take thousands of iterations with the same small alpha. A pair opens if a whole step would open
// it: no pair opens far in a step that others cut, and kappa would grow in each of them until
// contact holds more energy than the motion. Fails with NOLI_ERROR_MEMORY.
NOLI_WARN_UNUSED NoliStatus noli_stiffness_update(const NoliStiffness* stiffness,
                                                  NoliContext* context, double kappa,
                                                  const NoliContactSet* before,
                                                  const NoliContactSet* after, double alpha,
                                                  double* next);
