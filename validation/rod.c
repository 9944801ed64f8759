// Rods compared with closed forms and published results: the elastica under its own weight, a bend
// in space, and the loads at which rods and strips leave their plane.
#include "cases.h"
#include "thin.h"

#include <math.h>

#define YOUNG 1e7
#define DENSITY 1000.0
#define RADIUS 0.01 // m

// ---- own weight ---------------------------------------------------------------------------------

// A straight rod of 1 m whose clamp is the middle of its first segment.
static void straight(const void* user, double s, double X[3]) {
  X[0] = (s - 0.5) / (*(const int32_t*)user - 0.5);
  X[1] = X[2] = 0.0;
}

static bool bend_by_weight(int32_t cells, double beta, double place[2]) {
  Thin thin;
  bool good =
      thin_begin(&thin) && thin_rod(&thin, cells, straight, &cells) && thin_hold_range(&thin, 0, 2);
  thin.body.rod.radius = RADIUS;
  thin.body.material.young = YOUNG;
  thin.body.material.density = DENSITY;
  thin.def.gravity[1] = -beta * YOUNG * RADIUS * RADIUS / (4.0 * DENSITY);
  good = good && thin_solve(&thin, 4);
  if (good) {
    const double* x = noli_sim_positions(thin.run.sim) + 3 * cells;
    place[0] = x[0];
    place[1] = -x[1];
  }
  thin_end(&thin);
  return good;
}

bool validate_rod_weight(Report* report) {
  static const double betas[] = {0.5, 1.0, 3.0, 10.0, 40.0, 100.0};
  double coarse = 0.0;
  report_table(report, "Place of the end under its own weight, over L",
               "weight | segments | along | elastica | down | elastica | distance");
  for (int32_t cells = 16; cells <= (report->quick ? 16 : 64); cells *= 2) {
    double worst = 0.0;
    for (int k = 0; k < 6; k++) {
      double got[2], want[2];
      if (!bend_by_weight(cells, betas[k], got)) {
        return false;
      }
      heavy_elastica(betas[k], 0.0, want);
      double distance = hypot(got[0] - want[0], got[1] - want[1]);
      report_row(report, "%g | %d | %.4f | %.4f | %.4f | %.4f | %.5f", betas[k], (int)cells, got[0],
                 want[0], got[1], want[1], distance);
      worst = report_worse(worst, distance);
    }
    report_check(report, worst, 0.018 * (16.0 * 16.0) / (cells * cells),
                 "end, %d segments, distance over L", (int)cells);
    if (cells > 16) {
      report_check(report, fabs(order_of(2.0, coarse, 1.0, worst) - 2.0), 0.3,
                   "order, %d segments, off 2", (int)cells);
    }
    coarse = worst;
  }
  return true;
}

// ---- 45 degree bend -----------------------------------------------------------------------------

#define ARC 100.0 // in

// The arc from the middle of the first segment on.
static void bend_arc(const void* user, double s, double X[3]) {
  double angle = 0.25 * PI * (s - 0.5) / (*(const int32_t*)user - 0.5);
  X[0] = ARC * (1.0 - cos(angle));
  X[1] = ARC * sin(angle);
  X[2] = 0.0;
}

static bool at_tip_of_bend(const double X[3]) {
  return X[1] > ARC * sqrt(0.5) - 1e-6;
}

// A square section of 1 in as a round one of the same second moment of area and torsion constant.
static bool bend_in_space(int32_t cells, double u[3]) {
  Thin thin;
  bool good = thin_begin(&thin) && thin_rod(&thin, cells, bend_arc, &cells) &&
              thin_hold_range(&thin, 0, 2) &&
              thin_load(&thin, at_tip_of_bend, "nodal", 0.0, 0.0, 600.0);
  thin.body.rod.radius = pow(3.0 * PI, -0.25);
  thin.body.rod.twist = 6.0 * 0.1406;
  thin.body.material.young = 1e7;
  thin.body.material.poisson = 0.0;
  good = good && thin_solve(&thin, 10);
  if (good) {
    thin_displacement(&thin, at_tip_of_bend, u);
  }
  thin_end(&thin);
  return good;
}

bool validate_rod_bend(Report* report) {
  static const double want[3] = {-13.4, -23.5, 53.4}; // [Bathe1979]
  report_table(report, "Displacement of the tip under 600 lb, in",
               "segments | towards the centre | along | across | distance over its length");
  for (int32_t cells = 20; cells <= (report->quick ? 20 : 80); cells *= 2) {
    double u[3], off = 0.0, length = 0.0;
    if (!bend_in_space(cells, u)) {
      return false;
    }
    for (int k = 0; k < 3; k++) {
      off = hypot(off, u[k] - want[k]);
      length = hypot(length, want[k]);
    }
    report_row(report, "%d | %.2f | %.2f | %.2f | %.2f %%", (int)cells, u[0], u[1], u[2],
               100.0 * off / length);
    report_check(report, off / length, 0.012, "tip, %d segments, relative", (int)cells);
  }
  return true;
}
