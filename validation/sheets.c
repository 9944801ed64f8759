// Coulomb's law between open sheets that touch with smooth implicit surfaces: a sheet on a slope.
#include "cases.h"
#include "run.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char* solver_of(const char* friction) {
  return strcmp(friction, "implicit") == 0 ? "implicit_newton" : "projected_newton";
}

// ---- a sheet on a slope -------------------------------------------------------------------------

#define ALONG 3.354072 // m/s^2 of validation/scenes/sheets.json: a slope of 20 degrees
#define ACROSS 9.215239
#define FROM 0.8 // s, when the load is constant and the sheet has settled
#define TO 1.2

// The acceleration of the sheet, m/s^2, and the distance that it moves, m, both from FROM to TO.
typedef struct Slide {
  double acceleration, distance;
  int64_t newton; // iterations of all steps
} Slide;

static bool slide(const char* friction, double h, double mu, Slide* result) {
  Run run;
  Settings settings = {0};
  double from[3], to[3], before[3] = {0.0}, after[3] = {0.0};
  set(&settings, "friction.coefficient", "%.17g", mu);
  set(&settings, "friction.method", "%s", friction);
  set(&settings, "solver.method", "%s", solver_of(friction));
  set(&settings, "time.step", "%.17g", h);
  int first = (int)lround(FROM / h), last = (int)lround(TO / h);
  bool good = run_start(&run, "sheets", &settings);
  for (int n = 1; n <= last && good; n++) {
    good = run_step(&run);
    if (n == first) {
      run_velocity(&run, 0, before);
      run_centre(&run, 0, from);
    }
  }
  if (good) {
    run_velocity(&run, 0, after);
    run_centre(&run, 0, to);
    *result = (Slide){.acceleration = (after[0] - before[0]) / (TO - FROM),
                      .distance = to[0] - from[0],
                      .newton = run.newton};
  }
  run_end(&run);
  return good;
}

bool validate_sheet_slope(Report* report) {
  static const double ratios[] = {0.8, 0.95, 1.05}; // of mu and the tangent of the slope
  static const double steps[] = {5e-3, 4e-2};
  static const char* const methods[] = {"lagged", "implicit"};
  report_table(report, "Acceleration of a sheet on a fixed sheet, and the distance in 0.4 s",
               "friction | h, s | mu over the tangent | acceleration, m/s^2 | theory | error, % of "
               "g | distance, m | Newton iterations a step");
  for (int k = 0; k < 12; k++) {
    const char* friction = methods[k / 6];
    double h = steps[k / 3 % 2], ratio = ratios[k % 3], mu = ratio * ALONG / ACROSS;
    double want = fmax(0.0, ALONG - mu * ACROSS), g = hypot(ALONG, ACROSS);
    Slide result;
    if (report->quick && (h < 0.01 || ratio < 0.9)) {
      continue;
    }
    if (!slide(friction, h, mu, &result)) {
      return false;
    }
    report_row(report, "%s | %g | %g | %.4f | %.4f | %+.3f | %.2g | %.1f", friction, h, ratio,
               result.acceleration, want, 100.0 * (result.acceleration - want) / g, result.distance,
               (double)result.newton * h / TO);
    report_check(report, fabs(result.acceleration - want) / g, 1e-3,
                 "acceleration, %s, h %g s, mu %g of the tangent, over g", friction, h, ratio);
    if (ratio > 1.0) {
      report_check(report, fabs(result.distance), 1e-3, "drift while sticking, %s, h %g s, m",
                   friction, h);
    }
  }
  return true;
}
