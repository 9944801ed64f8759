// Cantilevers: small deflections compared with Timoshenko's beam, large ones with the elastica.
#include "cases.h"
#include "run.h"

#include <math.h>

#define YOUNG 1.2e7
#define LENGTH 1.0

// A beam with a square section, `cells` across; cells are cubes times `stretch` along the beam.
static void set_beam(Settings* settings, double thickness, int cells, int stretch) {
  int along = (int)lround(LENGTH / thickness) * cells / stretch;
  set(settings, "bodies[0].mesh.box.size", "[%g, %g, %g]", LENGTH, thickness, thickness);
  set(settings, "bodies[0].mesh.box.cells", "[%d, %d, %d]", along, cells, cells);
  set(settings, "bodies[0].material.young", "%g", YOUNG);
}

// Mean displacement of the right end.
static void tip(const Run* run, double u[3]) {
  const double* X = noli_sim_rest_positions(run->sim);
  const double* x = noli_sim_positions(run->sim);
  int32_t n = 0;
  u[0] = u[1] = u[2] = 0.0;
  for (int32_t i = 0; i < noli_sim_node_count(run->sim); i++) {
    if (X[3 * i] > LENGTH * (1.0 - 1e-9)) {
      for (int k = 0; k < 3; k++) {
        u[k] += x[3 * i + k] - X[3 * i + k];
      }
      n++;
    }
  }
  for (int k = 0; k < 3; k++) {
    u[k] /= n;
  }
}

// ---- small deflections --------------------------------------------------------------------------

// w = F L^3 / (3 E I) + F L / (k G A), with k of [Cowper1966] for rectangles.
static double timoshenko(double force, double thickness, double poisson) {
  double area = thickness * thickness, inertia = area * area / 12.0;
  double shear = YOUNG / (2.0 * (1.0 + poisson));
  double k = 10.0 * (1.0 + poisson) / (12.0 + 11.0 * poisson);
  return force * pow(LENGTH, 3) / (3.0 * YOUNG * inertia) + force * LENGTH / (k * shear * area);
}

// A beam of the table: `cells` across, of elements of an order, and the published error.
typedef struct Beam {
  double poisson;
  int order, cells;
  double bound;
  bool quick;
} Beam;

static bool deflection(const Beam* beam, double thickness, double force, double* w) {
  Run run;
  Settings settings = {0};
  double u[3];
  set_beam(&settings, thickness, beam->cells, 1);
  set(&settings, "bodies[0].material.poisson", "%g", beam->poisson);
  set(&settings, "bodies[0].order", "%d", beam->order);
  set(&settings, "forces[0].total", "[0, %.17g, 0]", -force);
  bool good = run_start(&run, "beam", &settings) && run_step(&run);
  if (good) {
    tip(&run, u);
    *w = -u[1];
  }
  run_end(&run);
  return good;
}

// Linear elements are too stiff: shear locking in bending, volumetric locking near 0.5.
static const Beam beams[] = {
    {0.0, 1, 2, 0.5, true},    {0.0, 1, 4, 0.2, false},    {0.0, 1, 6, 0.1, false},
    {0.0, 1, 8, 0.06, false},  {0.0, 2, 1, 3e-3, true},    {0.0, 2, 2, 3e-4, false},
    {0.0, 2, 4, 1e-4, false},  {0.0, 3, 1, 1e-4, false},   {0.3, 1, 2, 0.55, true},
    {0.3, 1, 4, 0.24, false},  {0.3, 1, 6, 0.13, false},   {0.3, 1, 8, 0.08, false},
    {0.3, 2, 1, 0.03, false},  {0.3, 2, 2, 0.03, false},   {0.3, 2, 4, 0.03, false},
    {0.3, 3, 1, 0.03, false},  {0.49, 1, 2, 0.92, true},   {0.49, 1, 4, 0.76, false},
    {0.49, 1, 6, 0.6, false},  {0.49, 1, 8, 0.47, false},  {0.49, 2, 1, 0.14, false},
    {0.49, 2, 2, 0.06, false}, {0.49, 2, 4, 0.035, false}, {0.49, 3, 1, 0.05, false},
};
enum { N_BEAMS = sizeof beams / sizeof *beams };

static void plot_cantilever(Report* report, const double error[N_BEAMS]) {
  report_plot(report, "cantilever", "cells across", "relative error of the tip's deflection",
              AXES_LOG_LOG);
  for (int k = 0; k < N_BEAMS; k++) {
    const Beam* beam = &beams[k];
    if (report->quick && !beam->quick) {
      continue;
    }
    if (k == 0 || beam->order != beams[k - 1].order || report->quick) {
      report_series(report, "both", "order %d, Poisson's ratio %g", beam->order, beam->poisson);
    }
    report_point(report, beam->cells, error[k]);
  }
  report_series(report, "theory", "second order");
  report_point(report, 2.0, 0.3);
  report_point(report, 8.0, 0.3 / 16.0);
}

bool validate_cantilever(Report* report) {
  const double thickness = 0.1, inertia = pow(thickness, 4) / 12.0;
  // a deflection of a thousandth of the length
  const double force = 1e-3 * 3.0 * YOUNG * inertia / (LENGTH * LENGTH);
  double error[N_BEAMS] = {0};
  report_table(report, "Tip deflection w under an end load, beam of 10 x 1 x 1 thicknesses",
               "Poisson's ratio | order | cells across | w, mm | theory, mm | error");
  for (int k = 0; k < N_BEAMS; k++) {
    const Beam* beam = &beams[k];
    double w, want = timoshenko(force, thickness, beam->poisson);
    if (report->quick && !beam->quick) {
      continue;
    }
    if (!deflection(beam, thickness, force, &w)) {
      return false;
    }
    error[k] = fabs(w / want - 1.0);
    report_row(report, "%g | %d | %d | %.4f | %.4f | %+.2f %%", beam->poisson, beam->order,
               beam->cells, 1e3 * w, 1e3 * want, 100.0 * (w / want - 1.0));
  }
  for (int k = 0; k < N_BEAMS; k++) {
    if (!report->quick || beams[k].quick) {
      report_check(report, error[k], beams[k].bound,
                   "tip, Poisson's ratio %g, order %d, %d cells across, relative", beams[k].poisson,
                   beams[k].order, beams[k].cells);
    }
  }
  plot_cantilever(report, error);
  return true;
}

// ---- large deflections --------------------------------------------------------------------------

// theta(s) of an inextensible beam under a vertical dead load at its tip, s in [0, 1]:
// theta'' = -alpha cos(theta), theta(0) = 0, alpha = P L^2 / (E I), from a curvature at the clamp;
// returns theta'(1) and the position of the tip.
static double shoot(double alpha, double curvature, double place[2]) {
  enum { STEPS = 2000 };
  double y[4] = {0.0, curvature, 0.0, 0.0}, h = 1.0 / STEPS;
  for (int n = 0; n < STEPS; n++) {
    static const double weight[4] = {1.0, 2.0, 2.0, 1.0}, at[4] = {0.0, 0.5, 0.5, 1.0};
    double slope[4] = {0.0}, sum[4] = {0.0};
    for (int k = 0; k < 4; k++) {
      double theta = y[0] + at[k] * h * slope[0], bend = y[1] + at[k] * h * slope[1];
      slope[0] = bend;
      slope[1] = -alpha * cos(theta);
      slope[2] = cos(theta);
      slope[3] = sin(theta);
      for (int i = 0; i < 4; i++) {
        sum[i] += weight[k] * slope[i];
      }
    }
    for (int i = 0; i < 4; i++) {
      y[i] += h / 6.0 * sum[i];
    }
  }
  place[0] = y[2];
  place[1] = y[3];
  return y[1];
}

// Deflection and shortening of the tip divided by the length, [Bisshopp1945].
static void elastica(double alpha, double* down, double* back) {
  double low = 0.0, high = sqrt(2.0 * alpha), place[2];
  for (int k = 0; k < 60; k++) {
    double middle = 0.5 * (low + high);
    if (shoot(alpha, middle, place) > 0.0) {
      high = middle;
    } else {
      low = middle;
    }
  }
  *down = place[1];
  *back = 1.0 - place[0];
}

enum { LOADS = 10 };

static bool bend(int order, int cells, double down[LOADS], double back[LOADS]) {
  const double thickness = 0.05, inertia = pow(thickness, 4) / 12.0;
  Run run;
  Settings settings = {0};
  set_beam(&settings, thickness, cells, 2);
  set(&settings, "bodies[0].order", "%d", order);
  // alpha is the time
  set(&settings, "forces[0].total", "[0, \"-%.17g * t\", 0]", YOUNG * inertia / (LENGTH * LENGTH));
  bool good = run_start(&run, "beam", &settings);
  for (int n = 0; n < LOADS && good; n++) {
    double u[3];
    good = run_step(&run);
    tip(&run, u);
    down[n] = -u[1] / LENGTH;
    back[n] = -u[0] / LENGTH;
  }
  run_end(&run);
  return good;
}

static const struct {
  int order, cells;
  double bound; // of the distance of the tip from the theory, over L
  bool quick;
} bent[] = {
    {1, 2, 0.42, true},  {1, 4, 0.2, false},   {1, 6, 0.1, false},
    {2, 1, 0.006, true}, {2, 2, 0.006, false}, {3, 1, 0.008, false},
};
enum { N_BENT = sizeof bent / sizeof *bent };

// Tip positions of all beams, and of the theory.
typedef struct Tips {
  double down[N_BENT][LOADS], back[N_BENT][LOADS];
  double want_down[LOADS], want_back[LOADS];
} Tips;

static void plot_elastica(Report* report, const Tips* tips) {
  report_plot(report, "elastica", "P L^2 / (E I)", "displacement of the tip / L", AXES_LINEAR);
  for (int way = 0; way < 2; way++) {
    report_series(report, "theory", "elastica, %s", way == 0 ? "down" : "back");
    report_point(report, 0.0, 0.0);
    for (int k = 1; k <= 4 * LOADS; k++) {
      double down, back;
      elastica(0.25 * k, &down, &back);
      report_point(report, 0.25 * k, way == 0 ? down : back);
    }
    for (int b = 0; b < N_BENT; b++) {
      if (report->quick && !bent[b].quick) {
        continue;
      }
      report_series(report, "points", "%s, order %d, %d across", way == 0 ? "down" : "back",
                    bent[b].order, bent[b].cells);
      for (int k = 0; k < LOADS; k++) {
        report_point(report, k + 1.0, way == 0 ? tips->down[b][k] : tips->back[b][k]);
      }
    }
  }
}

bool validate_elastica(Report* report) {
  static const int alpha[] = {1, 2, 5, 10};
  static Tips tips;
  for (int k = 0; k < LOADS; k++) {
    elastica(k + 1.0, &tips.want_down[k], &tips.want_back[k]);
  }
  report_table(
      report, "Position of the tip under a dead load P, beam of 20 x 1 x 1 thicknesses",
      "P L^2 / (E I) | order | cells across | vertical / L | theory | error | horizontal / L | "
      "theory | error");
  for (int b = 0; b < N_BENT; b++) {
    const double *down = tips.down[b], *back = tips.back[b];
    if (report->quick && !bent[b].quick) {
      continue;
    }
    if (!bend(bent[b].order, bent[b].cells, tips.down[b], tips.back[b])) {
      return false;
    }
    for (int a = 0; a < 4; a++) {
      int k = alpha[a] - 1;
      report_row(report, "%d | %d | %d | %.4f | %.4f | %+.1f %% | %.4f | %.4f | %+.1f %%", alpha[a],
                 bent[b].order, bent[b].cells, down[k], tips.want_down[k],
                 100.0 * (down[k] / tips.want_down[k] - 1.0), back[k], tips.want_back[k],
                 100.0 * (back[k] / tips.want_back[k] - 1.0));
    }
  }
  // the table of [Bisshopp1945] itself, for alpha = 1 and 10
  report_check(report, fabs(tips.want_down[0] - 0.30172) + fabs(tips.want_down[9] - 0.81061), 2e-5,
               "elastica relative to the printed table");
  for (int b = 0; b < N_BENT; b++) {
    double worst = 0.0;
    for (int k = 0; k < LOADS; k++) {
      worst = report_worse(
          worst, hypot(tips.down[b][k] - tips.want_down[k], tips.back[b][k] - tips.want_back[k]));
    }
    if (!report->quick || bent[b].quick) {
      report_check(report, worst, bent[b].bound, "tip, order %d, %d cells across, distance over L",
                   bent[b].order, bent[b].cells);
    }
  }
  plot_elastica(report, &tips);
  return true;
}
