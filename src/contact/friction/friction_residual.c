#include "contact/friction/friction_residual.h"

#include "contact/friction/stick.h"

#include <math.h>

// A contact counts for both of its bodies, and once for a body that touches itself.
static void friction_residual_add(const NoliFrictionContact* contact, int32_t n_body,
                                  NoliFrictionSums* sums, NoliFrictionSums more) {
  for (int32_t k = 0; k < 2; k++) {
    int32_t entity = contact->entity[k];
    if (entity < n_body && (k == 0 || entity != contact->entity[0])) {
      sums[entity].force += more.force;
      sums[entity].least += more.least;
      sums[entity].most += more.most;
    }
  }
}

// A point and, for the change of friction, the step that led there with `alpha`.
typedef struct Motion {
  const double* x;
  const double* step;
  double alpha;
} Motion;

// The contribution of contact i with law `law` and normal force `lambda`.
typedef NoliFrictionSums SumsOf(const NoliFriction* data, int64_t i, const NoliSlidingLaw* law,
                                double lambda, const Motion* motion);

static void add_all(const NoliFriction* data, const Motion* motion, SumsOf* sums_of, int32_t n_body,
                    NoliFrictionSums* sums) {
  for (int64_t i = 0; i < data->set->contact.count; i++) {
    const NoliFrictionContact* contact = &data->set->contact.data[i];
    NoliSlidingLaw law = noli_friction_law_of(data, i);
    friction_residual_add(contact, n_body, sums, sums_of(data, i, &law, contact->lambda, motion));
  }
}

// The length of the sliding, and of the viscous force that the law lacks.
static double sliding_at(const NoliFriction* data, int64_t i, const Motion* motion, double* drag) {
  double u[2], force[2];
  noli_friction_sliding(data, i, motion->x, u);
  noli_friction_drag(data, i, u, force);
  *drag = sqrt(force[0] * force[0] + force[1] * force[1]);
  return sqrt(u[0] * u[0] + u[1] * u[1]);
}

static NoliFrictionSums force_of(const NoliFriction* data, int64_t i, const NoliSlidingLaw* law,
                                 double lambda, const Motion* motion) {
  double drag, y = sliding_at(data, i, motion, &drag);
  return (NoliFrictionSums){.force = y * noli_sliding_over_y(law, y, lambda) + drag};
}

static NoliFrictionSums bounds_of(const NoliFriction* data, int64_t i, const NoliSlidingLaw* law,
                                  double lambda, const Motion* motion) {
  double drag, y = sliding_at(data, i, motion, &drag), at = fmax(y, law->eps);
  double most = at * noli_sliding_over_y(law, at, lambda) + drag;
  return (NoliFrictionSums){.least = y < law->eps ? 0.0 : most, .most = most};
}

static NoliFrictionSums friction_residual_change_of(const NoliFriction* data, int64_t i,
                                                    const NoliSlidingLaw* law, double lambda,
                                                    const Motion* motion) {
  // sliding is linear in positions, so that the step can be passed as a displacement
  const NoliFriction moved = {.set = data->set};
  double u[2], p[2], force[2][2];
  noli_friction_sliding(data, i, motion->x, u);
  noli_friction_sliding(&moved, i, motion->step, p);
  for (int32_t end = 0; end < 2; end++) {
    double by = (end - motion->alpha) * (data->stick != NULL ? data->stick->rate : 1.0);
    double a = u[0] + by * p[0], b = u[1] + by * p[1];
    double over_y = noli_sliding_over_y(law, sqrt(a * a + b * b), lambda);
    force[end][0] = over_y * a;
    force[end][1] = over_y * b;
  }
  double a = force[1][0] - force[0][0], b = force[1][1] - force[0][1];
  return (NoliFrictionSums){.force = sqrt(a * a + b * b)};
}

void noli_friction_add_force(const NoliFriction* data, const double* x, int32_t n_body,
                             NoliFrictionSums* sums) {
  add_all(data, &(Motion){.x = x}, force_of, n_body, sums);
}

void noli_friction_add_bounds(const NoliFriction* data, const double* x, int32_t n_body,
                              NoliFrictionSums* sums) {
  add_all(data, &(Motion){.x = x}, bounds_of, n_body, sums);
}

void noli_friction_add_change(const NoliFriction* data, const double* x, const double* step,
                              double alpha, int32_t n_body, NoliFrictionSums* sums) {
  add_all(data, &(Motion){x, step, alpha}, friction_residual_change_of, n_body, sums);
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
