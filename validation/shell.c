// Clamped strips of shell: an end shear compared with [Sze2004], own weight with the elastica.
#include "cases.h"
#include "thin.h"

#include <math.h>

#define LENGTH 10.0
#define WIDTH 1.0
#define THICKNESS 0.1
#define YOUNG 1.2e6
#define DENSITY 1.0
#define PLATE (YOUNG * THICKNESS * THICKNESS * THICKNESS / 12.0) // stiffness per width, N m
#define SHEAR 4.0                                                // N, of [Sze2004]
#define GAP 0.005 // m, between the held lines of nodes: the clamp lies between the first two
enum { STEPS = 4 };

// ---- the strip ----------------------------------------------------------------------------------

static void strip_map(int patch, double u, double v, double X[3]) {
  (void)patch;
  X[0] = LENGTH * u;
  X[1] = WIDTH * v;
  X[2] = 0.0;
}

static bool at_clamp(const double X[3]) {
  return fabs(X[0]) < 1e-9;
}

static bool at_end(const double X[3]) {
  return X[0] > LENGTH - 1e-9;
}

// A load of the strip: N at its end, or the weight per area times L^3 over the stiffness.
typedef struct Load {
  double shear, weight;
} Load;

// Displacements of the end, shortening and deflection, m.
typedef struct Tip {
  double back, down;
  int64_t newton; // iterations of all load steps
} Tip;

static bool build_strip(Thin* thin, const char* pattern, const char* law, int32_t cells,
                        Load load) {
  const Patches patches = {.count = 1,
                           .map = strip_map,
                           .size = {LENGTH, WIDTH},
                           .cells = {cells, cells / 8},
                           .pattern = pattern};
  thin->body.material.young = YOUNG;
  thin->body.material.poisson = 0.0;
  thin->body.material.density = DENSITY;
  thin->def.gravity[2] = load.weight * PLATE / (DENSITY * THICKNESS * pow(LENGTH, 3));
  return thin_shell(thin, &patches, THICKNESS, law) &&
         thin_clamp(thin, at_clamp, (double[]){-GAP, 0.0, 0.0}) &&
         thin_load(thin, at_end, "total", 0.0, 0.0, load.shear);
}

static bool bend(const char* pattern, const char* law, int32_t cells, Load load, Tip* tip) {
  Thin thin;
  bool good = thin_begin(&thin) && build_strip(&thin, pattern, law, cells, load) &&
              thin_solve(&thin, STEPS);
  if (good) {
    double u[3];
    thin_displacement(&thin, at_end, u);
    *tip = (Tip){.back = -u[0], .down = u[2], .newton = thin.run.newton};
  }
  thin_end(&thin);
  return good;
}

// ---- end shear ----------------------------------------------------------------------------------

static const struct {
  const char *pattern, *law;
  int32_t cells;
  double bound; // of the displacements, over those of [Sze2004]
  bool quick;
} sheared[] = {
    {"diagonal", "plate", 16, 0.005, true},          {"diagonal", "plate", 32, 0.005, false},
    {"diagonal", "plate", 64, 0.005, false},         {"alternating", "plate", 16, 0.005, false},
    {"alternating", "plate", 32, 0.005, false},      {"alternating", "plate", 64, 0.005, false},
    {"unstructured", "plate", 16, 0.005, true},      {"unstructured", "plate", 32, 0.005, false},
    {"unstructured", "plate", 64, 0.005, false},     {"diagonal", "hinges", 32, INFINITY, false},
    {"unstructured", "hinges", 32, INFINITY, false},
};
enum { N_SHEARED = sizeof sheared / sizeof *sheared };

bool validate_shell_shear(Report* report) {
  const double back = 3.286, down = 6.698; // [Sze2004], for 4 N
  report_table(report, "Displacement of the end under 4 N, m",
               "mesh | cells along | bending law | back | published | error | down | published | "
               "error | Newton iterations");
  for (int k = 0; k < N_SHEARED; k++) {
    Tip tip;
    if (report->quick && !sheared[k].quick) {
      continue;
    }
    if (!bend(sheared[k].pattern, sheared[k].law, sheared[k].cells, (Load){.shear = SHEAR}, &tip)) {
      return false;
    }
    report_row(report, "%s | %d | %s | %.3f | %.3f | %+.2f %% | %.3f | %.3f | %+.2f %% | %lld",
               sheared[k].pattern, (int)sheared[k].cells, sheared[k].law, tip.back, back,
               100.0 * (tip.back / back - 1.0), tip.down, down, 100.0 * (tip.down / down - 1.0),
               (long long)tip.newton);
    report_check(report, fmax(fabs(tip.back / back - 1.0), fabs(tip.down / down - 1.0)),
                 sheared[k].bound, "end, %s, %s, %d cells along, relative", sheared[k].pattern,
                 sheared[k].law, (int)sheared[k].cells);
  }
  return true;
}

// ---- own weight ---------------------------------------------------------------------------------

bool validate_shell_weight(Report* report) {
  static const double betas[] = {0.5, 1.0, 3.0, 10.0, 40.0, 100.0};
  static const char* const patterns[] = {"diagonal", "unstructured"};
  report_table(report, "Place of the end under its own weight, over L, 32 cells along",
               "weight | mesh | along | elastica | down | elastica | distance");
  for (int m = 0; m < 2; m++) {
    double worst = 0.0;
    for (int k = 0; k < (report->quick ? 2 : 6); k++) {
      Tip tip;
      double place[2];
      if (!bend(patterns[m], "plate", 32, (Load){.weight = betas[k]}, &tip)) {
        return false;
      }
      heavy_elastica(betas[k], place);
      double along = 1.0 - tip.back / LENGTH, down = tip.down / LENGTH;
      double distance = hypot(along - place[0], down - place[1]);
      report_row(report, "%g | %s | %.4f | %.4f | %.4f | %.4f | %.4f", betas[k], patterns[m], along,
                 place[0], down, place[1], distance);
      worst = report_worse(worst, distance);
    }
    report_check(report, worst, 0.003, "end, %s, distance over L", patterns[m]);
  }
  return true;
}
