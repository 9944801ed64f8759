// Clamped strips of shell: an end shear compared with [Sze2004], own weight with the elastica.
#include "cases.h"
#include "thin.h"

#include <math.h>

#define LENGTH 10.0
#define WIDTH 1.0
#define YOUNG 1.2e6
#define DENSITY 1.0
#define GAP 0.001 // m, between the held lines of nodes: the clamp lies between the first two
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

// The thickness of a strip, m, and its load: N at its end, or the weight per area times L^3 over
// the stiffness of a plate.
typedef struct Strip {
  double thickness, shear, weight;
} Strip;

// Displacements of the end, shortening and deflection, m.
typedef struct Tip {
  double back, down;
  int64_t newton; // iterations of all load steps
} Tip;

static bool build_strip(Thin* thin, const char* pattern, const char* law, int32_t cells,
                        Strip strip) {
  const Patches patches = {.count = 1,
                           .map = strip_map,
                           .size = {LENGTH, WIDTH},
                           .cells = {cells, cells / 8},
                           .pattern = pattern};
  thin->body.material.young = YOUNG;
  thin->body.material.poisson = 0.0;
  thin->body.material.density = DENSITY;
  double t = strip.thickness, plate = YOUNG * t * t * t / 12.0;
  thin->def.gravity[2] = strip.weight * plate / (DENSITY * t * pow(LENGTH, 3));
  return thin_shell(thin, &patches, t, law) &&
         thin_clamp(thin, at_clamp, (double[]){-GAP, 0.0, 0.0}) &&
         thin_load(thin, at_end, "total", 0.0, 0.0, strip.shear);
}

static bool bend(const char* pattern, const char* law, int32_t cells, Strip strip, Tip* tip) {
  Thin thin;
  bool good = thin_begin(&thin) && build_strip(&thin, pattern, law, cells, strip) &&
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
  const Strip strip = {.thickness = 0.1, .shear = 4.0};
  report_table(report, "Displacement of the end under 4 N, m",
               "mesh | cells along | bending law | back | published | error | down | published | "
               "error | Newton iterations");
  for (int k = 0; k < N_SHEARED; k++) {
    Tip tip;
    if (report->quick && !sheared[k].quick) {
      continue;
    }
    if (!bend(sheared[k].pattern, sheared[k].law, sheared[k].cells, strip, &tip)) {
      return false;
    }
    report_row(report, "%s | %d | %s | %.3f | %.3f | %+.2f %% | %.3f | %.3f | %+.2f %% | %lld",
               sheared[k].pattern, (int)sheared[k].cells, sheared[k].law, tip.back, back,
               100.0 * (tip.back / back - 1.0), tip.down, down, 100.0 * (tip.down / down - 1.0),
               (long long)tip.newton);
    report_check(report, report_worse(fabs(tip.back / back - 1.0), fabs(tip.down / down - 1.0)),
                 sheared[k].bound, "end, %s, %s, %d cells along, relative", sheared[k].pattern,
                 sheared[k].law, (int)sheared[k].cells);
  }
  return true;
}

// ---- own weight ---------------------------------------------------------------------------------

static const struct {
  const char* pattern;
  int32_t cells;
  double bound; // of the largest distance, over L
  bool quick;
} hanging[] = {
    {"diagonal", 16, 0.008, false},     {"diagonal", 32, 0.002, true},
    {"diagonal", 64, 0.0006, false},    {"unstructured", 16, 0.005, false},
    {"unstructured", 32, 0.0015, true}, {"unstructured", 64, 0.0003, false},
};
enum { N_HANGING = sizeof hanging / sizeof *hanging, REFINED = 3 };

// `worst`: the largest distance of the end from that of the elastica, over L.
static bool hang(Report* report, const char* pattern, int32_t cells, double* worst) {
  static const double betas[] = {0.5, 1.0, 3.0, 10.0, 40.0, 100.0};
  *worst = 0.0;
  for (int k = 0; k < (report->quick ? 2 : 6); k++) {
    Tip tip;
    double place[2];
    const Strip strip = {.thickness = 0.02, .weight = betas[k]};
    if (!bend(pattern, "plate", cells, strip, &tip)) {
      return false;
    }
    heavy_elastica(betas[k], place);
    double along = 1.0 - tip.back / LENGTH, down = tip.down / LENGTH;
    double distance = hypot(along - place[0], down - place[1]);
    report_row(report, "%g | %s | %d | %.4f | %.4f | %.4f | %.4f | %.4f", betas[k], pattern,
               (int)cells, along, place[0], down, place[1], distance);
    *worst = report_worse(*worst, distance);
  }
  return true;
}

bool validate_shell_weight(Report* report) {
  double worst[N_HANGING] = {0.0};
  report_table(report, "Place of the end under its own weight, over L",
               "weight | mesh | cells along | along | elastica | down | elastica | distance");
  for (int m = 0; m < N_HANGING; m++) {
    if (report->quick && !hanging[m].quick) {
      continue;
    }
    if (!hang(report, hanging[m].pattern, hanging[m].cells, &worst[m])) {
      return false;
    }
    report_check(report, worst[m], hanging[m].bound, "end, %s, %d cells along, distance over L",
                 hanging[m].pattern, (int)hanging[m].cells);
  }
  if (report->quick) {
    return true;
  }

  // the order over three meshes
  report_table(report, "Largest distance over three meshes, over L, and its mean order",
               "mesh | cells | distances | order");
  for (int m = 0; m < N_HANGING; m += REFINED) {
    double order = order_of(4.0, worst[m], 1.0, worst[m + 2]);
    report_row(report, "%s | %d, %d, %d | %.5f, %.5f, %.5f | %.1f", hanging[m].pattern,
               (int)hanging[m].cells, (int)hanging[m + 1].cells, (int)hanging[m + 2].cells,
               worst[m], worst[m + 1], worst[m + 2], order);
    report_check(report, fabs(order - 2.0), 0.3, "order, %s, off 2", hanging[m].pattern);
  }
  return true;
}
