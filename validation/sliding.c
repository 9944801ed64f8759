// Coulomb's law with default tolerances: a block near the limit of sliding, for a range of
// stiffnesses and time steps.
#include "cases.h"
#include "run.h"

#include <math.h>

#define ALONG 3.354072 // m/s^2 of validation/scenes/sliding.json: a slope of 20 degrees
#define ACROSS 9.215239
#define EPS_V 1.5e-4 // m/s, the default: 1e-3 l per s
#define FROM 0.8     // s, when the load is constant and the block has settled
#define TO 1.2

static const struct {
  const char *title, *friction, *solver;
} methods[] = {
    {"projected_newton, lagged friction", "lagged", "projected_newton"},
    {"augmented_lagrangian, lagged friction", "lagged", "augmented_lagrangian"},
    {"implicit_newton, implicit friction", "implicit", "implicit_newton"},
};
enum { N_METHODS = sizeof methods / sizeof *methods };

static const double steps[] = {1e-3, 5e-3, 1e-2, 4e-2};
static const double ratios[] = {0.95, 0.98, 1.02, 1.05}; // of mu and the tangent of the slope
enum { N_STEPS = sizeof steps / sizeof *steps, N_RATIOS = sizeof ratios / sizeof *ratios };

// Error of the speed gained by the block, or of its speed if it should stick, relative to eps_v +
// 2 %.
static bool slide(int method, double young, double h, double ratio, double* error) {
  Run run;
  Settings settings = {0};
  double mu = ratio * ALONG / ACROSS, before[3] = {0.0}, after[3] = {0.0};
  set(&settings, "bodies[0].material.young", "%g", young);
  set(&settings, "friction.coefficient", "%.17g", mu);
  set(&settings, "friction.method", "%s", methods[method].friction);
  set(&settings, "solver.method", "%s", methods[method].solver);
  set(&settings, "time.step", "%.17g", h);
  int first = (int)lround(FROM / h), last = (int)lround(TO / h);
  bool good = run_start(&run, "sliding", &settings);
  for (int n = 1; n <= last && good; n++) {
    good = run_step(&run);
    if (n == first) {
      run_velocity(&run, 0, before);
    }
  }
  if (good) {
    run_velocity(&run, 0, after);
    double want = (ALONG - mu * ACROSS) * (TO - FROM), got = after[0] - before[0];
    *error = want > 0.0 ? fabs(got - want) / (EPS_V + 0.02 * want) : fabs(after[0]) / EPS_V;
  }
  run_end(&run);
  return good;
}

// One row: the largest error over the coefficients, for each time step.
static bool row_of(Report* report, int method, double young, double* worst) {
  double largest[N_STEPS] = {0.0};
  for (int k = 0; k < N_STEPS; k++) {
    for (int r = 0; r < N_RATIOS; r++) {
      double error;
      if (!slide(method, young, steps[k], ratios[r], &error)) {
        return false;
      }
      largest[k] = report_worse(largest[k], error);
      *worst = report_worse(*worst, error);
    }
  }
  report_row(report, "%s | %g | %.2f | %.2f | %.2f | %.2f", methods[method].title, young,
             largest[0], largest[1], largest[2], largest[3]);
  return true;
}

bool validate_sliding(Report* report) {
  double error;
  if (report->quick) {
    if (!slide(0, 1e7, 5e-3, 0.95, &error)) {
      return false;
    }
    report_check(report, error, 1.0, "%s", methods[0].title);
    return true;
  }
  report_table(report,
               "Largest error of the speed for friction coefficients of 0.95, 0.98, 1.02 and 1.05 "
               "times the tangent, relative to eps_v + 2 %",
               "solver | E, Pa | h = 1 ms | 5 ms | 10 ms | 40 ms");
  for (int m = 0; m < N_METHODS; m++) {
    double worst = 0.0;
    for (double young = 1e4; young < 2e9; young *= 10.0) {
      if (!row_of(report, m, young, &worst)) {
        return false;
      }
    }
    report_check(report, worst, 1.0, "%s", methods[m].title);
  }
  return true;
}
