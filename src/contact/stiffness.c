#include "contact/stiffness.h"

#include "contact/barrier.h"
#include "contact/contact_approach.h"

// Squared distance of crushed pairs, relative to that of dhat.
#define CRUSHED 1e-4
// Squared distance that defines the upper limit of kappa for them, relative to that of dhat.
#define CRUSHED_LIMIT 1e-6
// A pair opens if its squared distance would grow by more than this share in a whole step.
#define OPENING 0.2

// The kappa for which pairs at distance sqrt(d_sqr) are as stiff as `share` times a nodal mass.
static double stiffness_at(double d_sqr, double dhat_sqr, double share, double mean_mass) {
  return share * mean_mass / (4.0 * d_sqr * noli_barrier_second(d_sqr, dhat_sqr));
}

NoliStiffness noli_stiffness(double mean_mass, double size, double dhat) {
  double dhat_sqr = dhat * dhat, d_sqr = 1e-16 * size * size;
  double max = stiffness_at(fmin(d_sqr, 1e-2 * dhat_sqr), dhat_sqr, 1e13, mean_mass);
  return (NoliStiffness){
      .min = stiffness_at(fmin(d_sqr, 1e-8 * dhat_sqr), dhat_sqr, 1e11, mean_mass),
      .max = max,
      .close_d_sqr = 1e-18 * size * size,
      .limit = fmax(max, stiffness_at(CRUSHED_LIMIT * dhat_sqr, dhat_sqr, 1e13, mean_mass)),
      .crushed_d_sqr = CRUSHED * dhat_sqr,
  };
}

void noli_stiffness_scale(NoliStiffness* stiffness, double ratio, double material) {
  stiffness->min *= ratio;
  stiffness->max *= ratio;
  stiffness->limit *= ratio;
  if (material > 0.0) {
    stiffness->min = material;
    stiffness->max = 100.0 * material;
    stiffness->limit = fmax(stiffness->limit, stiffness->max);
  }
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

NoliStatus noli_stiffness_update(const NoliStiffness* stiffness, NoliContext* context, double kappa,
                                 const NoliContactSet* before, const NoliContactSet* after,
                                 double alpha, double* next) {
  NoliStatus status = NOLI_OK;
  bool approached = false;
  *next = kappa;

  if (kappa < stiffness->max) {
    NOLI_TRY(noli_contact_set_approached(before, after, context, stiffness->close_d_sqr, 1.0,
                                         &approached));
  }
  if (approached) {
    *next = fmin(2.0 * kappa, stiffness->max);
    goto done;
  }
  if (alpha < 1.0 && kappa < stiffness->limit) {
    NOLI_TRY(noli_contact_set_approached(before, after, context, stiffness->crushed_d_sqr,
                                         1.0 + OPENING * alpha, &approached));
  }
  if (approached) {
    // forces are proportional to kappa / d: the force at d would act at the larger distance
    double factor = sqrt(stiffness->crushed_d_sqr / after->min_ranged_sqr);
    *next = fmin(fmax(factor, 2.0) * kappa, stiffness->limit);
  }
done:
  return status;
}
