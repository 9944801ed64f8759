// Cantilevers: small deflections against the beam of Timoshenko, large ones against the elastica.
#include "cases.h"
#include "run.h"

#include <math.h>

#define YOUNG 1.2e7
#define LENGTH 1.0

// A beam of a square section, `cells` across; cells are cubes times `stretch` along the beam.
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
  for (int32_t i = 0; i < noli_sim_vertex_count(run->sim); i++) {
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

static bool deflection(double thickness, double poisson, int cells, double force, double* w) {
  Run run;
  Settings settings = {0};
  double u[3];
  set_beam(&settings, thickness, cells, 1);
  set(&settings, "bodies[0].material.poisson", "%g", poisson);
  set(&settings, "forces[0].total", "[0, %.17g, 0]", -force);
  bool good = run_start(&run, "beam", &settings) && run_step(&run);
  if (good) {
    tip(&run, u);
    *w = -u[1];
  }
  run_end(&run);
  return good;
}

bool validate_cantilever(Report* report) {
  static const double poisson[] = {0.0, 0.3, 0.49};
  // what linear tetrahedra are too stiff by: shear in bending, and, near 0.5, volume
  static const double bound[][4] = {
      {0.5, 0.2, 0.1, 0.06}, {0.55, 0.24, 0.13, 0.08}, {0.92, 0.76, 0.6, 0.47}};
  static const int cells[] = {2, 4, 6, 8};
  const double thickness = 0.1, inertia = pow(thickness, 4) / 12.0;
  // a deflection of a thousandth of the length
  const double force = 1e-3 * 3.0 * YOUNG * inertia / (LENGTH * LENGTH);
  double error[3][4] = {{0}};
  int n = report->quick ? 1 : 4;
  report_table(report, "Tip deflection w under an end load, beam of 10 x 1 x 1 thicknesses",
               "Poisson's ratio | cells across | w, mm | theory, mm | error | order");
  for (int p = 0; p < 3; p++) {
    for (int c = 0; c < n; c++) {
      double w, want = timoshenko(force, thickness, poisson[p]);
      char order[16] = "";
      if (!deflection(thickness, poisson[p], cells[c], force, &w)) {
        return false;
      }
      error[p][c] = fabs(w / want - 1.0);
      if (c > 0) {
        snprintf(order, sizeof order, "%.2f",
                 order_of(1.0 / cells[c - 1], error[p][c - 1], 1.0 / cells[c], error[p][c]));
      }
      report_row(report, "%g | %d | %.4f | %.4f | %+.1f %% | %s", poisson[p], cells[c], 1e3 * w,
                 1e3 * want, 100.0 * (w / want - 1.0), order);
    }
  }
  for (int p = 0; p < 3; p++) {
    for (int c = 0; c < n; c++) {
      report_check(report, error[p][c], bound[p][c],
                   "tip, Poisson's ratio %g, %d cells across, relative", poisson[p], cells[c]);
    }
  }
  report_plot(report, "cantilever", "cells across", "relative error of the tip's deflection",
              AXES_LOG_LOG);
  for (int p = 0; p < 3; p++) {
    report_series(report, "both", "Poisson's ratio %g", poisson[p]);
    for (int c = 0; c < n; c++) {
      report_point(report, cells[c], error[p][c]);
    }
  }
  report_series(report, "theory", "second order");
  report_point(report, 2.0, 0.3);
  report_point(report, 8.0, 0.3 / 16.0);
  return true;
}

// ---- large deflections --------------------------------------------------------------------------

// theta(s) of an inextensible beam under a vertical dead load at its tip, s in [0, 1]:
// theta'' = -alpha cos(theta), theta(0) = 0, alpha = P L^2 / (E I), from a curvature at the clamp;
// returns theta'(1) and the place of the tip.
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

// Deflection down and shortening of the tip over the length, [Bisshopp1945].
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

static bool bend(int cells, double down[LOADS], double back[LOADS]) {
  const double thickness = 0.05, inertia = pow(thickness, 4) / 12.0;
  Run run;
  Settings settings = {0};
  set_beam(&settings, thickness, cells, 2);
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

bool validate_elastica(Report* report) {
  static const int cells[] = {2, 4, 6}, alpha[] = {1, 2, 5, 10};
  static const double bound[] = {0.42, 0.2, 0.1};
  double down[3][LOADS], back[3][LOADS], want_down[LOADS], want_back[LOADS];
  int n = report->quick ? 1 : 3;
  for (int k = 0; k < LOADS; k++) {
    elastica(k + 1.0, &want_down[k], &want_back[k]);
  }
  report_table(
      report, "Place of the tip under a dead load P, beam of 20 x 1 x 1 thicknesses",
      "P L^2 / (E I) | cells across | down / L | theory | error | back / L | theory | error");
  for (int c = 0; c < n; c++) {
    if (!bend(cells[c], down[c], back[c])) {
      return false;
    }
    for (int a = 0; a < 4; a++) {
      int k = alpha[a] - 1;
      report_row(report, "%d | %d | %.4f | %.4f | %+.1f %% | %.4f | %.4f | %+.1f %%", alpha[a],
                 cells[c], down[c][k], want_down[k], 100.0 * (down[c][k] / want_down[k] - 1.0),
                 back[c][k], want_back[k], 100.0 * (back[c][k] / want_back[k] - 1.0));
    }
  }
  // the table of [Bisshopp1945] itself, for alpha = 1 and 10
  report_check(report, fabs(want_down[0] - 0.30172) + fabs(want_down[9] - 0.81061), 2e-5,
               "elastica against the printed table");
  for (int c = 0; c < n; c++) {
    double worst = 0.0;
    for (int k = 0; k < LOADS; k++) {
      worst = fmax(worst, hypot(down[c][k] - want_down[k], back[c][k] - want_back[k]));
    }
    report_check(report, worst, bound[c], "tip, %d cells across, distance over L", cells[c]);
  }
  report_plot(report, "elastica", "P L^2 / (E I)", "displacement of the tip / L", AXES_LINEAR);
  for (int way = 0; way < 2; way++) {
    report_series(report, "theory", "elastica, %s", way == 0 ? "down" : "back");
    report_point(report, 0.0, 0.0);
    for (int k = 0; k < LOADS; k++) {
      report_point(report, k + 1.0, way == 0 ? want_down[k] : want_back[k]);
    }
    for (int c = 0; c < n; c++) {
      report_series(report, "points", "%s, %d cells across", way == 0 ? "down" : "back", cells[c]);
      for (int k = 0; k < LOADS; k++) {
        report_point(report, k + 1.0, way == 0 ? down[c][k] : back[c][k]);
      }
    }
  }
  return true;
}
