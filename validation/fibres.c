// A nearly incompressible solid with one family of fibres [Holzapfel2000] is stretched and
// compressed along and across them: stress over stretch against the closed form of an
// incompressible one. With the stretches l along x, m across x along y, and n = 1 / (l m),
//   x: s + F(l) - p = 0, with fibres along x, or y: M m^2 + F(m) = M n^2, with fibres along y,
// where M = 2 c10, and F is Cauchy's stress of the fibres, 2 k1 l^2 e exp(k2 h) for e = l^2 - 1 >
// 0.
#include "cases.h"
#include "run.h"

#include <math.h>

enum { N_TESTS = 4, N_STEPS = 5 };

// Pa; the toe as in docs/reference/materials.md.
static const double M = 2e5, k1 = 1e5, k2 = 0.8, toe = 0.01;

static const struct {
  const char* title;
  bool across; // the fibres lie along y
  double step; // of the stretch
} tests[N_TESTS] = {{"along, tension", false, 0.1},
                    {"along, compression", false, -0.1},
                    {"across, tension", true, 0.1},
                    {"across, compression", true, -0.1}};

// Cauchy's stress of the fibres; no stretch here is within the toe.
static double fibre_stress(double stretch) {
  double square = stretch * stretch, e = square - 1.0;
  return e > 0.0 ? 2.0 * k1 * square * e * exp(k2 * (e * e - toe * toe / 6.0)) : 0.0;
}

// The stress of what balances the free directions y and z, by bisection for the stretch along y.
static double closed_form(bool across, double stretch) {
  double low = 0.1, high = 10.0;
  for (int i = 0; across && i < 200; i++) {
    double m = 0.5 * (low + high), n = 1.0 / (stretch * m);
    bool more = M * m * m + fibre_stress(m) < M * n * n;
    low = more ? m : low;
    high = more ? high : m;
  }
  double m = across ? 0.5 * (low + high) : 1.0 / sqrt(stretch), n = 1.0 / (stretch * m);
  double cauchy = M * (stretch * stretch - n * n) + (across ? 0.0 : fibre_stress(stretch));
  return cauchy / stretch;
}

static bool stretch(Report* report, int test, double* worst) {
  Run run;
  Settings settings = {0};
  if (tests[test].across) {
    set(&settings, "bodies[0].material.fibre.direction", "[0, 1, 0]");
  }
  set(&settings, "prescribed[3].motion.displacement", "[\"%g*t\", \"free\", \"free\"]",
      tests[test].step);
  bool good = run_start(&run, "fibres", &settings);
  int n = report->quick ? 1 : N_STEPS;
  for (int i = 1; i <= n && good; i++) {
    double got, at = 1.0 + tests[test].step * i, want = closed_form(tests[test].across, at);
    good = run_step(&run) && run_mean_stress(&run, &got);
    if (good) {
      *worst = report_worse(*worst, fabs(got / want - 1.0));
      if (!report->quick && i % 2 == 1) {
        report_row(report, "%s | %g | %.5g | %.5g | %.1e", tests[test].title, at, got, want,
                   fabs(got / want - 1.0));
      }
    }
  }
  run_end(&run);
  return good;
}

bool validate_fibres(Report* report) {
  if (!report->quick) {
    report_table(report, "Stress along x over the area at rest",
                 "test | stretch | P, Pa | closed form, Pa | error");
  }
  for (int test = 0; test < N_TESTS; test++) {
    double worst = 0.0;
    if (!stretch(report, test, &worst)) {
      return false;
    }
    report_check(report, worst, 5e-4, "%s", tests[test].title);
  }
  return true;
}
