#include "contact/stiffness.h"

#include "contact/barrier.h"

// Stiffness at which pairs sqrt(d_sqr) apart are as stiff as `share` times a nodal mass.
static double stiffness_at(double d_sqr, double dhat_sqr, double share, double mean_mass) {
  return share * mean_mass / (4.0 * d_sqr * noli_barrier_second(d_sqr, dhat_sqr));
}

NoliStiffness noli_stiffness(double mean_mass, double length, double dhat) {
  double dhat_sqr = dhat * dhat, d_sqr = 1e-16 * length * length;
  return (NoliStiffness){
      .min = stiffness_at(fmin(d_sqr, 1e-8 * dhat_sqr), dhat_sqr, 1e11, mean_mass),
      .max = stiffness_at(fmin(d_sqr, 1e-2 * dhat_sqr), dhat_sqr, 1e13, mean_mass),
      .close_d_sqr = 1e-18 * length * length,
  };
}

static double clamp(double value, double low, double high) {
  return value < low ? low : value > high ? high : value;
}

double noli_stiffness_initial(const NoliStiffness* stiffness, int32_t n_node,
                              const double* contact_gradient, const double* energy_gradient,
                              const int32_t* dof) {
  double product = 0.0, square = 0.0;
  for (int32_t i = 0; i < n_node; i++) {
    if (dof != NULL && dof[i] == NOLI_NULL_INDEX) {
      continue;
    }
    NoliVec3 c = noli_load3(contact_gradient + 3 * (int64_t)i);
    product += noli_dot3(c, noli_load3(energy_gradient + 3 * (int64_t)i));
    square += noli_norm_sqr3(c);
  }
  return square == 0.0 ? stiffness->min : clamp(-product / square, stiffness->min, stiffness->max);
}

double noli_stiffness_update(const NoliStiffness* stiffness, double kappa,
                             const NoliContactSet* before, const NoliContactSet* after) {
  if (kappa >= stiffness->max ||
      !noli_contact_set_approached(before, after, stiffness->close_d_sqr)) {
    return kappa;
  }
  return 2.0 * kappa < stiffness->max ? 2.0 * kappa : stiffness->max;
}
