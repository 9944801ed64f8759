// Coulomb's law: a block on a slope sticks or accelerates as in theory, and the friction force
// stays in its cone for every direction of the load.
#include "cases.h"
#include "run.h"

#include <math.h>
#include <string.h>

#define GRAVITY 9.81
#define TANGENT 0.5

// ---- the slope ----------------------------------------------------------------------------------

typedef struct Slide {
  double way;          // m, in the two seconds after the slope has its full angle
  double acceleration; // m/s^2, in the second after 1.1 s
} Slide;

static bool slide(double mu, double h, const char* integrator, const char* solver, const char* law,
                  Slide* result) {
  Run run;
  Settings settings = {0};
  double from[3], to[3], before[3] = {0.0}, after[3] = {0.0};
  int first = (int)lround(1.0 / h), tenth = (int)lround(0.1 / h), last = 3 * first;
  set(&settings, "friction.coefficient", "%g", mu);
  set(&settings, "time.step", "%.17g", h);
  set(&settings, "time.integrator", "%s", integrator);
  set(&settings, "solver.method", "%s", solver);
  set(&settings, "friction.law", "%s", law);
  bool good = run_start(&run, "slope", &settings);
  for (int n = 1; n <= last && good; n++) {
    good = run_step(&run);
    if (n == first) {
      run_centre(&run, 0, from);
    }
    if (n == first + tenth) {
      run_velocity(&run, 0, before);
    }
    if (n == 2 * first + tenth) {
      run_velocity(&run, 0, after);
    }
  }
  if (good) {
    run_centre(&run, 0, to);
    result->way = to[0] - from[0];
    result->acceleration = after[0] - before[0];
  }
  run_end(&run);
  return good;
}

typedef struct Slope {
  double mu, h;
  const char *integrator, *solver;
  bool quick;
} Slope;

static bool slope_row(Report* report, const Slope* of, const char* law) {
  double want = fmax(0.0, GRAVITY * (TANGENT - of->mu) / sqrt(1.0 + TANGENT * TANGENT));
  Slide result;
  if (!slide(of->mu, of->h, of->integrator, of->solver, law, &result)) {
    return false;
  }
  report_row(report, "%g | %g | %s | %s | %s | %.5f | %.5f | %+.3f | %.2g", of->mu, of->h,
             of->integrator, of->solver, law, result.acceleration, want,
             100.0 * (result.acceleration - want) / GRAVITY, result.way);
  report_check(report, fabs(result.acceleration - want) / GRAVITY, 1e-4,
               "acceleration, mu %g, h %g s, %s, %s, law %s, over g", of->mu, of->h, of->integrator,
               of->solver, law);
  if (of->mu >= TANGENT) {
    report_check(report, fabs(result.way),
                 strcmp(law, "stick") == 0 && of->mu > TANGENT ? 1e-5 : 1e-3,
                 "drift while sticking, mu %g, %s, law %s, m", of->mu, of->solver, law);
  }
  return true;
}

bool validate_slope(Report* report) {
  // [Zheng2025] fig. 9 has coefficients from 0.45 to 0.55 and its solver
  static const Slope rows[] = {
      {0.2, 0.04, "backward_euler", "projected_newton", false},
      {0.2, 0.02, "backward_euler", "projected_newton", true},
      {0.2, 0.01, "backward_euler", "projected_newton", false},
      {0.2, 0.02, "backward_euler", "augmented_lagrangian", false},
      {0.2, 0.02, "bdf2", "projected_newton", false},
      {0.2, 0.02, "sdirk2", "projected_newton", false},
      {0.4, 0.02, "backward_euler", "projected_newton", false},
      {0.45, 0.02, "backward_euler", "augmented_lagrangian", false},
      {0.47, 0.02, "backward_euler", "augmented_lagrangian", false},
      {0.49, 0.02, "backward_euler", "projected_newton", true},
      {0.49, 0.02, "backward_euler", "augmented_lagrangian", false},
      {0.5, 0.02, "backward_euler", "projected_newton", true},
      {0.51, 0.02, "backward_euler", "augmented_lagrangian", false},
      {0.53, 0.02, "backward_euler", "augmented_lagrangian", false},
      {0.55, 0.02, "backward_euler", "projected_newton", false},
      {0.55, 0.02, "backward_euler", "augmented_lagrangian", false},
  };
  report_table(report, "Acceleration down a slope of tangent 0.5, and the distance in 2 s",
               "mu | h, s | integrator | solver | law | acceleration, m/s^2 | theory | error, % of "
               "g | distance, m");
  for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
    if (report->quick && !rows[r].quick) {
      continue;
    }
    if (!slope_row(report, &rows[r], "stick") ||
        (!report->quick && !slope_row(report, &rows[r], "velocity"))) {
      return false;
    }
  }
  return true;
}

// ---- the cone -----------------------------------------------------------------------------------

enum { SWEEP = 60 };
#define MU 0.4

typedef struct Sweep {
  double load[SWEEP];  // tangential load over normal load
  double force[SWEEP]; // friction over normal force
  double error;        // largest | force - min(load, mu) |
  double turn;         // deg, largest angle between friction and load
} Sweep;

// The tangential load grows to 1.5 mu of the weight in 1.2 s, at an angle in the plane.
static bool sweep(double degrees, Sweep* result) {
  Run run;
  Settings settings = {0};
  double angle = degrees * PI / 180.0;
  set(&settings, "forces[0].acceleration", "[\"%.17g*t\", -9.81, \"%.17g*t\"]",
      1.5 * MU * GRAVITY / 1.2 * cos(angle), 1.5 * MU * GRAVITY / 1.2 * sin(angle));
  set(&settings, "friction.coefficient", "%g", MU);
  bool good = run_start(&run, "slope", &settings);
  result->error = result->turn = 0.0;
  for (int n = 0; n < SWEEP && good; n++) {
    good = run_step(&run);
    NoliPairForce pair = run_pair(&run, 0, 1);
    double tangent = hypot(pair.friction[0], pair.friction[2]);
    double along = -(pair.friction[0] * cos(angle) + pair.friction[2] * sin(angle));
    result->load[n] = 1.5 * MU * (n + 1) / SWEEP;
    result->force[n] = tangent / pair.normal[1];
    result->error = report_worse(result->error, fabs(result->force[n] - fmin(result->load[n], MU)));
    result->turn = report_worse(result->turn, acos(fmin(along / tangent, 1.0)) * 180.0 / PI);
  }
  run_end(&run);
  return good;
}

bool validate_cone(Report* report) {
  static const double degrees[] = {0.0, 15.0, 30.0, 45.0, 60.0, 90.0, 200.0};
  enum { N = sizeof degrees / sizeof *degrees };
  Sweep result[N];
  int n = 0;
  report_table(report, "Friction under a tangential load that grows from 0 to 1.5 mu N, mu = 0.4",
               "direction of the load | largest error of friction / N | largest angle to the load");
  for (int k = 0; k < N; k++) {
    if (report->quick && k != 2) {
      continue;
    }
    if (!sweep(degrees[k], &result[n])) {
      return false;
    }
    report_row(report, "%g deg | %.2e | %.2e deg", degrees[k], result[n].error, result[n].turn);
    n++;
  }
  for (int k = 0; k < n; k++) {
    double angle = degrees[report->quick ? 2 : k];
    report_check(report, result[k].error, 4e-3, "friction / N, load at %g deg", angle);
    report_check(report, result[k].turn, 0.01, "direction of friction, load at %g deg, deg", angle);
  }
  report_plot(report, "cone", "tangential load / N", "friction / N", AXES_LINEAR);
  report_series(report, "theory", "Coulomb");
  report_point(report, 0.0, 0.0);
  report_point(report, MU, MU);
  report_point(report, 1.5 * MU, MU);
  for (int k = 0; k < n; k += 2) {
    report_series(report, "points", "%g deg", degrees[report->quick ? 2 : k]);
    for (int i = k / 2; i < SWEEP; i += 4) {
      report_point(report, result[k].load[i], result[k].force[i]);
    }
  }
  return true;
}
