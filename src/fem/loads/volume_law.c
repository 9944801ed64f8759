#include "fem/loads/volume_law.h"

#include <math.h>
#include <stdbool.h>

const NoliNamed noli_volume_models[NOLI_VOLUME_MODELS] = {
    [NOLI_VOLUME_IDEAL_GAS] = {"ideal_gas", "Pressure times volume stays constant."},
    [NOLI_VOLUME_NEARLY_INCOMPRESSIBLE] = {"nearly_incompressible",
                                           "Constant compression coefficient, as of a liquid."},
    [NOLI_VOLUME_QUADRATIC] = {"quadratic", "Pressure linear in the volume."},
};

// Below this |r - 1| a series avoids cancellation.
#define SMALL 0.1

// x - ln(1 + x) without cancellation: t = x / (2 + x), ln(1 + x) = 2 (t + t^3/3 + t^5/5 + ...).
static double log_excess(double x) {
  if (fabs(x) > SMALL) {
    return x - log1p(x);
  }
  double t = x / (2.0 + x), t_sqr = t * t, sum = 0.0;
  for (int k = 17; k >= 3; k -= 2) {
    sum = 1.0 / k + t_sqr * sum;
  }
  return t * (x - 2.0 * t_sqr * sum);
}

static bool has_value(const NoliVolumeLaw* law, double volume) {
  return law->model == NOLI_VOLUME_QUADRATIC || volume > 0.0;
}

double noli_volume_law_energy(const NoliVolumeLaw* law, double volume) {
  double x = (volume - law->rest) / law->rest, w = 0.0;
  if (!has_value(law, volume)) {
    return (double)INFINITY;
  }
  switch (law->model) {
  case NOLI_VOLUME_IDEAL_GAS:
    w = log_excess(x);
    break;
  case NOLI_VOLUME_NEARLY_INCOMPRESSIBLE:
    w = x * x - (1.0 + x) * log_excess(x);
    break;
  case NOLI_VOLUME_QUADRATIC:
    w = 0.5 * x * x;
    break;
  }
  return law->rest * (w / law->compression - law->pressure * x);
}

double noli_volume_law_pressure(const NoliVolumeLaw* law, double volume) {
  double x = (volume - law->rest) / law->rest, derivative = 0.0;
  if (!has_value(law, volume)) {
    return (double)NAN;
  }
  switch (law->model) {
  case NOLI_VOLUME_IDEAL_GAS:
    derivative = x / (1.0 + x);
    break;
  case NOLI_VOLUME_NEARLY_INCOMPRESSIBLE:
    derivative = log1p(x);
    break;
  case NOLI_VOLUME_QUADRATIC:
    derivative = x;
    break;
  }
  return law->pressure - derivative / law->compression;
}

double noli_volume_law_stiffness(const NoliVolumeLaw* law, double volume) {
  double r = volume / law->rest, curvature = 1.0;
  if (!has_value(law, volume)) {
    return (double)NAN;
  }
  switch (law->model) {
  case NOLI_VOLUME_IDEAL_GAS:
    curvature = 1.0 / (r * r);
    break;
  case NOLI_VOLUME_NEARLY_INCOMPRESSIBLE:
    curvature = 1.0 / r;
    break;
  case NOLI_VOLUME_QUADRATIC:
    break;
  }
  return curvature / (law->compression * law->rest);
}
