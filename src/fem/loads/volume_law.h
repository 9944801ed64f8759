// Energies of volume changes, [Larionov2024] eq. 10 to 13.
//
// With r = V / V0, the compression coefficient kappa and the gauge pressure p0,
//   W(V) = V0 (w(r) / kappa - p0 (r - 1)),   w(1) = w'(1) = 0, w''(1) = 1,
//   ideal gas             w = r - 1 - ln r      (eq. 11; kappa = 1 / absolute pressure at V0)
//   nearly incompressible w = 1 - r + r ln r    (eq. 12)
//   quadratic             w = (r - 1)^2 / 2     (eq. 13)
// so that at V0 the region pushes outward with p0, and resists a small change of volume with
// stiffness 1 / (kappa V0) in every model. For the gas this is exact: with absolute pressures P
// inside, 1 / kappa at V0, and P_outside = 1 / kappa - p0, P V stays constant and
// W' = -(P - P_outside).
#pragma once

#include "base/named.h"

typedef enum NoliVolumeModel {
  NOLI_VOLUME_IDEAL_GAS,
  NOLI_VOLUME_NEARLY_INCOMPRESSIBLE,
  NOLI_VOLUME_QUADRATIC,
} NoliVolumeModel;

// Number and names of the models, in the order of NoliVolumeModel.
enum { NOLI_VOLUME_MODELS = 3 };
extern const NoliNamed noli_volume_models[NOLI_VOLUME_MODELS];

typedef struct NoliVolumeLaw {
  NoliVolumeModel model;
  double rest;        // V0, m^3, > 0
  double compression; // kappa, 1/Pa, > 0
  double pressure;    // p0, Pa
} NoliVolumeLaw;

// W, J. INFINITY where the volume is not positive and W is undefined there.
double noli_volume_law_energy(const NoliVolumeLaw* law, double volume);

// Gauge pressure -W', Pa. NaN where W is infinite.
double noli_volume_law_pressure(const NoliVolumeLaw* law, double volume);

// W'' > 0, Pa/m^3. NaN where W is infinite.
double noli_volume_law_stiffness(const NoliVolumeLaw* law, double volume);
