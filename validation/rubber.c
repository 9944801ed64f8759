// Rubber, nearly incompressible, in three tests of materials: stress over stretch against the
// closed forms of incompressible solids. With lambda_2 the stretch across (free) and P the force
// over the area at rest along x,
//   P = sum_k 2 mu_k / a_k (lambda^(a_k - 1) - lambda_3^(a_k) / lambda), lambda_3 the free stretch:
// lambda^(-1/2) uniaxial, lambda^-2 equibiaxial, lambda^-1 in pure shear.
#include "cases.h"
#include "run.h"

#include <math.h>

enum { N_MODES = 3, N_LAWS = 2, N_TERMS = 3, N_STEPS = 8 };

static const struct {
  const char* scene;
  const char* title;
  double power; // of the stretch: the free stretch
} modes[N_MODES] = {
    {"rubber_uniaxial", "uniaxial", -0.5},
    {"rubber_biaxial", "equibiaxial", -2.0},
    {"rubber_shear", "pure shear", -1.0},
};

// Mooney-Rivlin as a sum of two powers, and [Ogden1972] for the rubber of [Treloar1944], Pa.
static const struct {
  const char* law;
  double mu[N_TERMS];
  double a[N_TERMS];
} laws[N_LAWS] = {
    {"mooney_rivlin", {3.2e5, 4e4, 0.0}, {2.0, -2.0, 1.0}},
    {"ogden", {4.095e5, 3e3, 1e4}, {1.3, 5.0, -2.0}},
};

static double closed_form(int law, int mode, double stretch) {
  double free = pow(stretch, modes[mode].power), P = 0.0;
  for (int k = 0; k < N_TERMS; k++) {
    double mu = laws[law].mu[k], a = laws[law].a[k];
    P += 2.0 * mu / a * (pow(stretch, a) - pow(free, a)) / stretch;
  }
  return P;
}

// One test: the largest relative error over the stretches.
static bool stretch(Report* report, int law, int mode, double* worst) {
  Run run;
  Settings settings = {0};
  if (law == 1) {
    set(&settings, "bodies[0].material",
        "{\"law\": \"ogden\", \"ogden\": [[%g, %g], [%g, %g], [%g, %g]], \"poisson\": 0.49999}",
        laws[1].mu[0], laws[1].a[0], laws[1].mu[1], laws[1].a[1], laws[1].mu[2], laws[1].a[2]);
  }
  bool good = run_start(&run, modes[mode].scene, &settings);
  int n = report->quick ? 2 : N_STEPS;
  for (int i = 1; i <= n && good; i++) {
    double got, at = 1.0 + 0.25 * i, want = closed_form(law, mode, at);
    good = run_step(&run) && run_mean_stress(&run, &got);
    if (good) {
      *worst = report_worse(*worst, fabs(got / want - 1.0));
      if (!report->quick && i % 2 == 0) {
        report_row(report, "%s | %s | %g | %.5g | %.5g | %.1e", laws[law].law, modes[mode].title,
                   at, got, want, fabs(got / want - 1.0));
      }
    }
  }
  run_end(&run);
  return good;
}

bool validate_rubber(Report* report) {
  if (!report->quick) {
    report_table(report, "Stress along x over the area at rest",
                 "law | test | stretch | P, Pa | closed form, Pa | error");
  }
  for (int law = 0; law < N_LAWS; law++) {
    double worst = 0.0;
    for (int mode = 0; mode < N_MODES; mode++) {
      if (!stretch(report, law, mode, &worst)) {
        return false;
      }
    }
    report_check(report, worst, 5e-4, "%s", laws[law].law);
  }
  return true;
}
