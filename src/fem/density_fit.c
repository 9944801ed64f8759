#include "fem/density_fit.h"

#include "math/eigen.h"

#include <float.h>

// 1 and a tetrahedron's centroid relative to the target centre, divided by `size`: b_t.
static void basis_of(const double* moment, double volume, const double centre[3], double size,
                     double b[4]) {
  b[0] = 1.0;
  for (int k = 0; k < 3; k++) {
    b[k + 1] = (moment[k] / volume - centre[k]) / size;
  }
}

// Solves the symmetric positive 4 x 4 system by its eigenvectors; false if it is singular.
static bool density_fit_solve(const double a[16], const double r[4], double x[4]) {
  double copy[16], value[4], vector[16];
  for (int i = 0; i < 16; i++) {
    copy[i] = a[i];
  }
  noli_eigen_symmetric(4, copy, value, vector);
  if (!(value[0] > 1e3 * DBL_EPSILON * value[3])) {
    return false;
  }
  for (int i = 0; i < 4; i++) {
    x[i] = 0.0;
    for (int k = 0; k < 4; k++) {
      double along = 0.0;
      for (int j = 0; j < 4; j++) {
        along += vector[4 * j + k] * r[j];
      }
      x[i] += vector[4 * i + k] * along / value[k];
    }
  }
  return true;
}

static void fill_before(int32_t n_tet, const double* volume, const double* first_moment,
                        const double* density, NoliDensityFit* report) {
  double mass = 0.0, moment[3] = {0.0};
  for (int64_t t = 0; t < n_tet; t++) {
    mass += density[t] * volume[t];
    for (int k = 0; k < 3; k++) {
      moment[k] += density[t] * first_moment[3 * t + k];
    }
  }
  *report = (NoliDensityFit){.mass_before = mass};
  for (int k = 0; k < 3; k++) {
    report->centre_before[k] = moment[k] / mass;
  }
}

NoliStatus noli_density_fit(NoliContext* context, int32_t n_tet, const double* volume,
                            const double* first_moment, double mass, const double centre[3],
                            double* density, NoliDensityFit* report) {
  NoliStatus status = NOLI_OK;
  NoliDensityFit own;
  report = report != NULL ? report : &own;
  fill_before(n_tet, volume, first_moment, density, report);
  NOLI_CHECK(context, mass > 0.0 && isfinite(mass), NOLI_ERROR_ARGUMENT,
             "the mass of a balanced body must be positive, got %g", mass);

  // divide lengths by the size of the body, so that the system is well scaled
  double size = 0.0, a[16] = {0.0}, missing[4] = {mass - report->mass_before, 0.0, 0.0, 0.0};
  for (int64_t i = 0; i < 3 * (int64_t)n_tet; i++) {
    size = fmax(size, fabs(first_moment[i] / volume[i / 3] - centre[i % 3]));
  }
  for (int k = 0; k < 3; k++) {
    missing[k + 1] = -report->mass_before * (report->centre_before[k] - centre[k]) / size;
  }
  for (int64_t t = 0; t < n_tet; t++) {
    double b[4];
    basis_of(first_moment + 3 * t, volume[t], centre, size, b);
    for (int i = 0; i < 16; i++) {
      a[i] += volume[t] * b[i / 4] * b[i % 4];
    }
  }
  double multiplier[4];
  NOLI_CHECK(context, size > 0.0 && density_fit_solve(a, missing, multiplier), NOLI_ERROR_ARGUMENT,
             "%d tetrahedra cannot be balanced: their centroids lie in a plane", n_tet);

  // check before changing anything
  report->least_density = (double)INFINITY;
  int64_t least = 0;
  for (int pass = 0; pass < 2; pass++) {
    for (int64_t t = 0; t < n_tet; t++) {
      double b[4], change = 0.0;
      basis_of(first_moment + 3 * t, volume[t], centre, size, b);
      for (int k = 0; k < 4; k++) {
        change += multiplier[k] * b[k];
      }
      if (pass == 1) {
        density[t] += change;
        continue;
      }
      double after = density[t] + change;
      least = after < report->least_density ? t : least;
      report->least_density = fmin(report->least_density, after);
      report->largest_density = fmax(report->largest_density, after);
      report->largest_change = fmax(report->largest_change, fabs(change) / density[t]);
    }
    NOLI_CHECK(context, report->least_density > 0.0, NOLI_ERROR_ARGUMENT,
               "balancing would give tetrahedron %lld a density of %g: the target's centre of mass "
               "(%g, %g, %g) or mass %g kg is too far from the body's",
               (long long)least, report->least_density, centre[0], centre[1], centre[2], mass);
  }
done:
  return status;
}

void noli_density_fit_enclosed(const double* X, int32_t n_tri, const int32_t* tri, double* volume,
                               double first_moment[3]) {
  // cones from the first vertex, which reduces rounding errors far from the origin
  NoliVec3 apex = n_tri > 0 ? noli_load3(X + 3 * (int64_t)tri[0]) : noli_vec3(0.0, 0.0, 0.0),
           sum = {0};
  *volume = 0.0;
  for (int64_t t = 0; t < n_tri; t++) {
    NoliVec3 a = noli_sub3(noli_load3(X + 3 * (int64_t)tri[3 * t]), apex);
    NoliVec3 b = noli_sub3(noli_load3(X + 3 * (int64_t)tri[3 * t + 1]), apex);
    NoliVec3 c = noli_sub3(noli_load3(X + 3 * (int64_t)tri[3 * t + 2]), apex);
    double cone = noli_dot3(a, noli_cross3(b, c)) / 6.0;
    *volume += cone;
    sum = noli_mul_add3(sum, 0.25 * cone, noli_add3(a, noli_add3(b, c)));
  }
  noli_store3(first_moment, noli_mul_add3(sum, *volume, apex));
}
