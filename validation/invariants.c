// Invariants: momentum across an impact with friction, and the same motion in a rotated frame
// (objectivity).
#include "cases.h"
#include "run.h"

#include <math.h>
#include <string.h>

// ---- momentum -----------------------------------------------------------------------------------

// Momentum and angular momentum about the origin; `scale` of both is the sum of absolute values.
static void momenta(const Run* run, double p[3], double l[3], double scale[2]) {
  const double *x = noli_sim_positions(run->sim), *v = noli_sim_velocities(run->sim);
  memset(p, 0, 3 * sizeof *p);
  memset(l, 0, 3 * sizeof *l);
  scale[0] = scale[1] = 0.0;
  for (int32_t i = 0; i < noli_sim_vertex_count(run->sim); i++) {
    double m = noli_sim_masses(run->sim)[i];
    for (int k = 0; k < 3; k++) {
      int a = 3 * i + (k + 1) % 3, b = 3 * i + (k + 2) % 3;
      p[k] += m * v[3 * i + k];
      l[k] += m * (x[a] * v[b] - x[b] * v[a]);
      scale[0] += m * fabs(v[3 * i + k]);
      scale[1] += m * fabs(x[a] * v[b] - x[b] * v[a]);
    }
  }
}

// Largest relative changes of both.
static bool collide(const char* integrator, const char* solver, const char* law, double h,
                    double change[2]) {
  Run run;
  Settings settings = {0};
  double p[2][3], l[2][3], scale[2], ignored[2];
  int64_t contacts = 0;
  set(&settings, "time.integrator", "%s", integrator);
  set(&settings, "time.step", "%.17g", h);
  set(&settings, "solver.method", "%s", solver);
  set(&settings, "friction.law", "%s", law);
  bool good = run_start(&run, "impact", &settings);
  change[0] = change[1] = 0.0;
  if (good) {
    momenta(&run, p[0], l[0], scale);
  }
  for (int n = 0; n < (int)lround(0.3 / h) && good; n++) {
    good = run_step(&run);
    contacts += run.report.contacts;
    momenta(&run, p[1], l[1], ignored);
    for (int k = 0; k < 3; k++) {
      change[0] = report_worse(change[0], fabs(p[1][k] - p[0][k]) / scale[0]);
      change[1] = report_worse(change[1], fabs(l[1][k] - l[0][k]) / scale[1]);
    }
  }
  run_end(&run);
  return good && contacts > 0;
}

bool validate_momentum(Report* report) {
  static const struct {
    const char *integrator, *solver;
    double h;
    double bound; // of the change of angular momentum
    bool quick;
  } rows[] = {
      {"backward_euler", "projected_newton", 0.01, 6e-3, true},
      {"backward_euler", "projected_newton", 0.005, 4e-3, false},
      {"backward_euler", "projected_newton", 0.0025, 2e-3, false},
      {"backward_euler", "augmented_lagrangian", 0.01, 1e-2, false},
      {"bdf2", "projected_newton", 0.01, 5e-3, false},
      {"sdirk2", "projected_newton", 0.01, 1e-3, false},
      {"tr_bdf2", "projected_newton", 0.01, 1e-3, false},
      {"trapezoidal", "projected_newton", 0.01, 5e-3, true},
      {"trapezoidal", "projected_newton", 0.0025, 5e-3, false},
      {"backward_euler", "implicit_newton", 0.01, 1e-2, false},
  };
  static const char* const laws[] = {"stick", "velocity"};
  report_table(report, "Largest change over 0.3 s, relative to the sum of absolute values",
               "integrator | solver | law | h, s | momentum | angular momentum");
  for (size_t r = 0; r < 2 * sizeof rows / sizeof *rows; r++) {
    const char *integrator = rows[r / 2].integrator, *solver = rows[r / 2].solver,
               *law = laws[r % 2];
    double h = rows[r / 2].h, change[2];
    if (report->quick && (!rows[r / 2].quick || r % 2 == 1)) {
      continue;
    }
    if (!collide(integrator, solver, law, h, change)) {
      return false;
    }
    report_row(report, "%s | %s | %s | %g | %.1e | %.1e", integrator, solver, law, h, change[0],
               change[1]);
    report_check(report, change[0], 1e-10, "momentum, %s, %s, law %s, h %g s, relative", integrator,
                 solver, law, h);
    report_check(report, change[1], rows[r / 2].bound,
                 "angular momentum, %s, %s, law %s, h %g s, relative", integrator, solver, law, h);
  }
  return true;
}

// ---- rotated frame ------------------------------------------------------------------------------

// R = Rx Ry Rz with angles in degrees, as in scenes.
static void rotation(const double degrees[3], double R[3][3]) {
  double c[3], s[3];
  for (int k = 0; k < 3; k++) {
    c[k] = cos(degrees[k] * PI / 180.0);
    s[k] = sin(degrees[k] * PI / 180.0);
  }
  const double value[3][3] = {
      {c[1] * c[2], -c[1] * s[2], s[1]},
      {c[0] * s[2] + s[0] * s[1] * c[2], c[0] * c[2] - s[0] * s[1] * s[2], -s[0] * c[1]},
      {s[0] * s[2] - c[0] * s[1] * c[2], s[0] * c[2] + c[0] * s[1] * s[2], c[0] * c[1]}};
  memcpy(R, value, sizeof value);
}

static void set_turned(Settings* settings, const char* path, double R[3][3], double x, double y,
                       double z) {
  double w[3];
  for (int k = 0; k < 3; k++) {
    w[k] = R[k][0] * x + R[k][1] * y + R[k][2] * z;
  }
  set(settings, path, "[%.17g, %.17g, %.17g]", w[0], w[1], w[2]);
}

enum { CORNER_VERTICES = 27, FALL_STEPS = 40 };
#define FALL_TIME 0.4 // s

// Final positions of the vertices, in the rotated frame.
static bool fall(const double degrees[3], double tolerance, double end[3 * CORNER_VERTICES]) {
  Run run;
  Settings settings = {0};
  double R[3][3];
  rotation(degrees, R);
  set(&settings, "bodies[0].rotate", "[%.17g, %.17g, %.17g]", degrees[0], degrees[1], degrees[2]);
  set_turned(&settings, "bodies[0].translate", R, 0.0, 0.2, 0.0);
  set_turned(&settings, "bodies[0].velocity", R, 0.5, -1.0, 0.3);
  set_turned(&settings, "bodies[0].angular_velocity", R, 3.0, 1.0, -2.0);
  set_turned(&settings, "half_spaces[0].normal", R, 0.0, 1.0, 0.0);
  set_turned(&settings, "gravity", R, 0.0, -9.81, 0.0);
  set(&settings, "solver.tolerance", "%g", tolerance);
  bool good = run_start(&run, "corner", &settings);
  for (int n = 0; n < FALL_STEPS && good; n++) {
    good = run_step(&run);
  }
  for (int i = 0; i < CORNER_VERTICES && good; i++) {
    const double* x = noli_sim_positions(run.sim) + 3 * i;
    for (int k = 0; k < 3; k++) {
      end[3 * i + k] = R[0][k] * x[0] + R[1][k] * x[1] + R[2][k] * x[2];
    }
  }
  run_end(&run);
  return good;
}

// Rounding differs between frames, so that the last iteration of a step may be done in one of them
// only: it changes velocities by the tolerance at most. Positions may then be as far apart as that
// velocity takes them.
bool validate_rotation(Report* report) {
  static const double degrees[3][3] = {{0, 0, 0}, {30, 40, 50}, {90, 0, 0}};
  static const double tolerance[] = {1e-2, 1e-4, 1e-6, 1e-8};
  double end[3][3 * CORNER_VERTICES];
  report_table(
      report,
      "A box that falls on its corner and rolls for 0.4 s: largest difference between the original "
      "and the rotated frame",
      "tolerance of the solver, m/s | rotated by (30, 40, 50) deg, m | by (90, 0, 0) deg, m");
  for (int t = report->quick ? 2 : 0; t < (report->quick ? 3 : 4); t++) {
    double worst[3] = {0.0};
    for (int d = 0; d < 3; d++) {
      if (!fall(degrees[d], tolerance[t], end[d])) {
        return false;
      }
      for (int i = 0; i < 3 * CORNER_VERTICES; i++) {
        worst[d] = report_worse(worst[d], fabs(end[d][i] - end[0][i]));
      }
    }
    report_row(report, "%g | %.1e | %.1e", tolerance[t], worst[1], worst[2]);
    report_check(report, report_worse(worst[1], worst[2]), tolerance[t] * FALL_TIME,
                 "rotated frame, tolerance %g m/s, m", tolerance[t]);
  }
  return true;
}
