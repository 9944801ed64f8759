// Energy over time: a ball that bounces without friction conserves it, integrators lose some.
#include "cases.h"
#include "run.h"

#include <math.h>

enum { MAX_STEPS = 500, N_INTEGRATORS = 5 };
#define END 0.111

static const char* const integrators[] = {"backward_euler", "bdf2", "sdirk2", "tr_bdf2",
                                          "trapezoidal"};

// Energies after each step divided by that after the first one.
static bool bounce(const char* integrator, double h, double energy[MAX_STEPS]) {
  Run run;
  Settings settings = {0};
  int steps = (int)lround(END / h);
  set(&settings, "time.integrator", "%s", integrator);
  set(&settings, "time.step", "%.17g", h);
  bool good = run_start(&run, "ball", &settings);
  for (int n = 0; n < steps && good; n++) {
    good = run_step(&run);
    energy[n] = run_energy(&run);
  }
  for (int n = steps - 1; n >= 0 && good; n--) {
    energy[n] /= energy[0];
  }
  run_end(&run);
  return good;
}

bool validate_energy(Report* report) {
  static const double h[] = {1e-3, 5e-4, 2.5e-4};
  // of the loss at the end, and of the largest gain in between
  static const double bound[N_INTEGRATORS] = {0.15, 0.005, 1e-3, 1e-3, 1e-3};
  static double energy[N_INTEGRATORS][MAX_STEPS], other[MAX_STEPS];
  report_table(report, "Energy after a bounce relative to the start, and its maximum in between",
               "integrator | h = 1 ms | maximum | h = 0.5 ms | h = 0.25 ms");
  for (int i = 0; i < N_INTEGRATORS; i++) {
    double end[3] = {0.0}, highest = 0.0;
    for (int k = 0; k < (report->quick ? 1 : 3); k++) {
      double* values = k == 0 ? energy[i] : other;
      int steps = (int)lround(END / h[k]);
      if (!bounce(integrators[i], h[k], values)) {
        return false;
      }
      end[k] = values[steps - 1];
      for (int n = 0; n < steps && k == 0; n++) {
        highest = report_worse(highest, values[n]);
      }
    }
    report_row(report, "%s | %.4f | %.4f | %.4f | %.4f", integrators[i], end[0], highest, end[1],
               end[2]);
    report_check(report, fabs(1.0 - end[0]), bound[i], "energy lost, %s, h 1 ms, relative",
                 integrators[i]);
    report_check(report, highest - 1.0, 0.01, "maximum energy gain, %s, h 1 ms, relative",
                 integrators[i]);
  }
  report_plot(report, "energy", "time, ms", "energy relative to the start", AXES_LINEAR);
  for (int i = 0; i < N_INTEGRATORS; i++) {
    report_series(report, "line", "%s", integrators[i]);
    for (int n = 0; n < (int)lround(END / h[0]); n++) {
      report_point(report, 1e3 * (n + 1) * h[0], energy[i][n]);
    }
  }
  return true;
}
