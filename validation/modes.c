// Modes of a cantilever with a square section, compared with beam theory: bending with Timoshenko's
// characteristic equation [Huang1961], torsion and axial vibration with the wave equation.
#include "cases.h"
#include "run.h"

#include "noli/live.h"

#include <math.h>

#define LENGTH 1.0
#define THICKNESS 0.1
#define YOUNG 1.2e7
#define DENSITY 1000.0
// The factor of the torsion of a square: the torsion constant over the polar moment of area.
#define TORSION (0.1405770 * 6.0)

enum { N_MODES = 8 };

// Zero for b = omega sqrt(rho A L^4 / (E I)) of a clamped and free beam.
static double characteristic(double b) {
  double rotation = THICKNESS * THICKNESS / (12.0 * LENGTH * LENGTH); // r^2
  double shear = rotation * 2.0 * 12.0 / 10.0;                        // s^2, nu = 0
  double sum = rotation + shear, difference = rotation - shear;
  double root = sqrt(difference * difference + 4.0 / (b * b));
  double alpha = b * sqrt(0.5 * (root - sum)), beta = b * sqrt(0.5 * (root + sum));
  return 2.0 + (b * b * difference * difference + 2.0) * cosh(alpha) * cos(beta) -
         b * sum / sqrt(1.0 - b * b * rotation * shear) * sinh(alpha) * sin(beta);
}

// Frequency of a bending mode, Hz, below that of Euler's beam.
static double bending(double euler) {
  double low = 0.8 * euler * euler, high = euler * euler;
  for (int k = 0; k < 60; k++) {
    double middle = 0.5 * (low + high);
    if ((characteristic(middle) > 0.0) == (characteristic(low) > 0.0)) {
      low = middle;
    } else {
      high = middle;
    }
  }
  return low * sqrt(YOUNG / DENSITY / 12.0) * THICKNESS / (2.0 * PI * LENGTH * LENGTH);
}

static const struct {
  int order, cells;
  double bound[5]; // bending 1, bending 2, torsion, axial, bending 3
  bool quick;
} beams[] = {
    {1, 2, {0.4, 0.4, 0.3, 0.01, 0.4}, false},
    {1, 4, {0.12, 0.12, 0.12, 0.002, 0.12}, false},
    {2, 1, {0.002, 0.01, 0.1, 1e-3, 0.02}, true},
    {2, 2, {0.001, 0.002, 0.025, 1e-3, 0.005}, false},
    {2, 4, {0.001, 0.002, 0.006, 1e-3, 0.005}, false},
    {3, 1, {0.001, 0.002, 0.03, 1e-3, 0.005}, false},
};
enum { N_BEAMS = sizeof beams / sizeof *beams };

static bool find(int order, int cells, double frequency[N_MODES]) {
  Run run;
  Settings settings = {0};
  set(&settings, "bodies[0].order", "%d", order);
  set(&settings, "bodies[0].material.density", "%g", DENSITY);
  set(&settings, "bodies[0].mesh.box.cells", "[%d, %d, %d]", 10 * cells, cells, cells);
  bool good = run_start(&run, "beam", &settings);
  if (good && noli_sim_modes(run.sim, N_MODES, frequency, NULL) != NOLI_OK) {
    fprintf(stderr, "modes: %s\n", noli_context_message(run.context));
    good = false;
  }
  run_end(&run);
  return good;
}

bool validate_modes(Report* report) {
  static const char* const name[5] = {"bending 1", "bending 2", "torsion", "axial", "bending 3"};
  static const int first[5] = {0, 2, 4, 5, 6};
  const double wave = sqrt(YOUNG / DENSITY) / (4.0 * LENGTH);
  const double want[5] = {bending(1.8751040687), bending(4.6940911330), wave * sqrt(0.5 * TORSION),
                          wave, bending(7.8547574382)};
  report_table(report, "Frequencies of a cantilever of 10 x 1 x 1 thicknesses, Hz",
               "order | cells across | mode | f | theory | error");
  for (int b = 0; b < N_BEAMS; b++) {
    double frequency[N_MODES];
    if (report->quick && !beams[b].quick) {
      continue;
    }
    if (!find(beams[b].order, beams[b].cells, frequency)) {
      return false;
    }
    for (int k = 0; k < 5; k++) {
      double error = frequency[first[k]] / want[k] - 1.0;
      report_row(report, "%d | %d | %s | %.4f | %.4f | %+.3f %%", beams[b].order, beams[b].cells,
                 name[k], frequency[first[k]], want[k], 100.0 * error);
      report_check(report, fabs(error), beams[b].bound[k],
                   "%s, order %d, %d cells across, relative", name[k], beams[b].order,
                   beams[b].cells);
    }
  }
  return true;
}
