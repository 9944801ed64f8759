// A nearly incompressible solid with a Prony series: relaxation at a large stretch, and creep and
// recovery under a small load. With mu the long-term shear modulus, mu_i = mu g_i / (1 - sum g):
// - A stretch l along x that grows at a constant logarithmic rate in the first step, of length h,
//   and stays:
//   P = (mu (l^2 - 1 / l) + 3 ln l sum_i mu_i T_i / h (1 - exp(-h / T_i)) exp(-(t - h) / T_i)) / l.
// - A stress s(t), small, and one term: strain = integral of J(t - u) ds(u),
//   J(t) = (1 - g exp(-t / c)) / (3 mu),   c = T / (1 - g).
#include "cases.h"
#include "run.h"

#include <math.h>
#include <stdlib.h>

enum { N_TERMS = 2 };

// Pa, 1, s; the second test has the first term alone.
static const double mu = 2e5, share[N_TERMS] = {0.3, 0.3}, relaxation[N_TERMS] = {0.1, 1.0};
static const double l = 1.5;

// ---- relaxation ---------------------------------------------------------------------------------

static double relaxed_stress(double h, double t) {
  double sum = mu * (l * l - 1.0 / l);
  for (int k = 0; k < N_TERMS; k++) {
    double T = relaxation[k], mu_k = mu * share[k] / (1.0 - share[0] - share[1]);
    sum += 3.0 * log(l) * mu_k * T / h * -expm1(-h / T) * exp(-(t - h) / T);
  }
  return sum / l;
}

static bool relax(Report* report, double h, double* worst) {
  Run run;
  Settings settings = {0};
  set(&settings, "time.step", "%g", h);
  bool good = run_start(&run, "viscous", &settings);
  int n = (int)lround(2.0 / h);
  for (int i = 1; i <= n && good; i++) {
    double got, want = relaxed_stress(h, i * h);
    good = run_step(&run) && run_mean_stress(&run, &got);
    if (good) {
      *worst = report_worse(*worst, fabs(got / want - 1.0));
      if (!report->quick && (i == 1 || i * h == 0.5 || i == n)) {
        report_row(report, "%g | %g | %.5g | %.5g | %.1e", h, i * h, got, want,
                   fabs(got / want - 1.0));
      }
    }
  }
  run_end(&run);
  return good;
}

// ---- creep --------------------------------------------------------------------------------------

// Pa; the load grows and is taken away within `ramp`, s.
static const double load = 6.0, ramp = 0.2, taken = 1.0, g = 0.6, T = 0.3;

// The strain at t of a stress that grows at the rate 1 from a to b.
static double creep_of_ramp(double t, double a, double b) {
  double m = fmax(a, fmin(b, t)), c = T / (1.0 - g), since = fmax(t - a, 0.0);
  return (m - a - g * c * (exp(-fmax(t - m, 0.0) / c) - exp(-since / c))) / (3.0 * mu);
}

static double creep_strain(double t) {
  return load / ramp * (creep_of_ramp(t, 0.0, ramp) - creep_of_ramp(t, taken, taken + ramp));
}

static bool strain_of(const Run* run, double* strain) {
  int32_t n = 0, *node = run_nodes(run->sim, 0, 0, 0.5, 1e-9, &n);
  const double* x = noli_sim_positions(run->sim);
  *strain = 0.0;
  for (int32_t i = 0; i < n; i++) {
    *strain += (x[3 * (int64_t)node[i]] - 0.5) / n;
  }
  free(node);
  return n > 0;
}

// The largest error over the largest strain.
static bool creep(Report* report, double h, double* worst) {
  Run run;
  Settings settings = {0};
  set(&settings, "time.step", "%g", h);
  set(&settings, "bodies[0].material.prony", "[[%g, %g]]", g, T);
  set(&settings, "prescribed[3].motion.displacement", "[0, \"free\", \"free\"]");
  set(&settings, "prescribed[3].select.side", "-x");
  set(&settings, "forces",
      "[{\"body\": \"cube\", \"select\": {\"side\": \"+x\"}, \"traction\": "
      "[\"%g*(t < %g ? t/%g : t < %g ? 1 : t < %g ? (%g - t)/%g : 0)\", 0, 0]}]",
      load, ramp, ramp, taken, taken + ramp, taken + ramp, ramp);
  bool good = run_start(&run, "viscous", &settings);
  int n = (int)lround(2.0 / h);
  for (int i = 1; i <= n && good; i++) {
    double got, want = creep_strain(i * h);
    good = run_step(&run) && strain_of(&run, &got);
    if (good) {
      *worst = report_worse(*worst, fabs(got - want) / creep_strain(taken));
      if (!report->quick && i % (n / 5) == 0) {
        report_row(report, "%g | %g | %.5g | %.5g | %.1e", h, i * h, got, want,
                   fabs(got - want) / creep_strain(taken));
      }
    }
  }
  run_end(&run);
  return good;
}

bool validate_viscous(Report* report) {
  double stress[2] = {0.0, 0.0}, strain[2] = {0.0, 0.0};
  const double h[2] = {0.1, 0.05};
  int n = report->quick ? 1 : 2;
  if (!report->quick) {
    report_table(report, "Stress along x over the area at rest, stretch 1.5",
                 "h, s | t, s | P, Pa | closed form, Pa | error");
  }
  for (int k = 0; k < n; k++) {
    if (!relax(report, k == 0 ? h[1] : 0.5, &stress[k])) {
      return false;
    }
  }
  if (!report->quick) {
    report_table(report, "Strain under a load that is put on and taken away",
                 "h, s | t, s | strain | closed form | error over the largest");
  }
  for (int k = 0; k < n; k++) {
    if (!creep(report, h[k], &strain[k])) {
      return false;
    }
  }
  report_check(report, report_worse(stress[0], stress[1]), 1e-3, "relaxation");
  report_check(report, strain[0], 1e-2, "creep and recovery");
  if (!report->quick) {
    double order = order_of(h[0], strain[0], h[1], strain[1]);
    report_check(report, fabs(order - 2.0), 0.2, "creep, order %.2f", order);
  }
  return true;
}
