#include "contact/friction_balance.h"

#include <math.h>

// A contact belongs to both of its bodies, to a body that touches itself once.
static void add(const NoliFrictionContact* contact, int32_t n_body, NoliFrictionSums* sums,
                NoliFrictionSums more) {
  for (int32_t k = 0; k < 2; k++) {
    int32_t entity = contact->entity[k];
    if (entity < n_body && (k == 0 || entity != contact->entity[0])) {
      sums[entity].force += more.force;
      sums[entity].least += more.least;
      sums[entity].most += more.most;
    }
  }
}

static double sliding_of(const NoliFriction* data, int64_t i, const double* x) {
  double u[2];
  noli_friction_sliding(data, i, x, u);
  return sqrt(u[0] * u[0] + u[1] * u[1]);
}

void noli_friction_add_force(const NoliFriction* data, const double* x, int32_t n_body,
                             NoliFrictionSums* sums) {
  for (int64_t i = 0; i < data->set->contact.count; i++) {
    const NoliFrictionContact* contact = &data->set->contact.data[i];
    NoliSlidingLaw law = noli_friction_law_of(data, i);
    double y = sliding_of(data, i, x);
    double force = y * noli_sliding_over_y(&law, y, contact->lambda);
    add(contact, n_body, sums, (NoliFrictionSums){.force = force});
  }
}

void noli_friction_add_bounds(const NoliFriction* data, const double* x, int32_t n_body,
                              NoliFrictionSums* sums) {
  for (int64_t i = 0; i < data->set->contact.count; i++) {
    const NoliFrictionContact* contact = &data->set->contact.data[i];
    NoliSlidingLaw law = noli_friction_law_of(data, i);
    double y = sliding_of(data, i, x), at = fmax(y, law.eps);
    double most = at * noli_sliding_over_y(&law, at, contact->lambda);
    add(contact, n_body, sums, (NoliFrictionSums){.least = y < law.eps ? 0.0 : most, .most = most});
  }
}

double noli_friction_ratio(const NoliFrictionSums* sums) {
  return sums->force > 0.0 ? sums->force / sums->most : 0.0;
}

double noli_friction_error(const NoliFrictionSums* sums, double negligible) {
  if (sums->force - sums->most > negligible) {
    return 1.0 - sums->most / sums->force;
  }
  return sums->least - sums->force > negligible ? 1.0 - sums->force / sums->least : 0.0;
}
