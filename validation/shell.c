// Clamped strips of shell, compared with the elastica, an end shear with [Sze2004], too; plates,
// compared with series.
#include "cases.h"
#include "thin.h"

#include <math.h>

#define LENGTH 10.0
#define WIDTH 1.0
#define YOUNG 1.2e6
#define DENSITY 1.0
#define GAP 1e-5 // m, between the held lines of nodes: the clamp lies between the first two
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

#define SHEAR 4.0 // N
#define SHEARED_THICKNESS 0.1

static const struct {
  const char *pattern, *law;
  int32_t cells;
  double bound; // of the distance from the elastica, over L
  bool quick;
} sheared[] = {
    {"diagonal", "plate", 16, 0.002, true},          {"diagonal", "plate", 32, 0.0005, false},
    {"diagonal", "plate", 64, 0.00013, false},       {"alternating", "plate", 16, 0.002, false},
    {"alternating", "plate", 32, 0.0005, false},     {"alternating", "plate", 64, 0.00013, false},
    {"unstructured", "plate", 16, 0.002, true},      {"unstructured", "plate", 32, 0.0005, false},
    {"unstructured", "plate", 64, 0.00013, false},   {"diagonal", "hinges", 32, INFINITY, false},
    {"unstructured", "hinges", 32, INFINITY, false},
};
enum { N_SHEARED = sizeof sheared / sizeof *sheared, REFINED = 3 };

// The order of the distance over three meshes.
static void report_shear_orders(Report* report, const double* distance) {
  report_table(report, "Distance of the end from that of the elastica over three meshes, over L",
               "mesh | cells along | distances | order");
  for (int k = 0; k + REFINED <= N_SHEARED && isfinite(sheared[k].bound); k += REFINED) {
    double order = order_of(4.0, distance[k], 1.0, distance[k + 2]);
    report_row(report, "%s | %d, %d, %d | %.2g, %.2g, %.2g | %.2f", sheared[k].pattern,
               (int)sheared[k].cells, (int)sheared[k + 1].cells, (int)sheared[k + 2].cells,
               distance[k], distance[k + 1], distance[k + 2], order);
    report_check(report, fabs(order - 2.0), 0.3, "order, %s, off 2", sheared[k].pattern);
  }
}

bool validate_shell_shear(Report* report) {
  const double back = 3.286, down = 6.698; // [Sze2004], for 4 N
  const Strip strip = {.thickness = SHEARED_THICKNESS, .shear = SHEAR};
  double plate = YOUNG * pow(SHEARED_THICKNESS, 3) / 12.0, place[2], distance[N_SHEARED];
  sheared_elastica(SHEAR / WIDTH * LENGTH * LENGTH / plate,
                   SHEAR / WIDTH / (YOUNG * SHEARED_THICKNESS), place);
  report_table(report, "Displacement of the end under 4 N, m",
               "mesh | cells along | bending law | back | down | distance from the elastica over L "
               "| Newton iterations");
  report_row(report, "[Sze2004] |  |  | %.3f | %.3f |  | ", back, down);
  report_row(report, "elastica |  |  | %.4f | %.4f |  | ", LENGTH * (1.0 - place[0]),
             LENGTH * place[1]);
  for (int k = 0; k < N_SHEARED; k++) {
    Tip tip;
    if (report->quick && !sheared[k].quick) {
      continue;
    }
    if (!bend(sheared[k].pattern, sheared[k].law, sheared[k].cells, strip, &tip)) {
      return false;
    }
    distance[k] = hypot(1.0 - tip.back / LENGTH - place[0], tip.down / LENGTH - place[1]);
    report_row(report, "%s | %d | %s | %.4f | %.4f | %.2g | %lld", sheared[k].pattern,
               (int)sheared[k].cells, sheared[k].law, tip.back, tip.down, distance[k],
               (long long)tip.newton);
    report_check(report, distance[k], sheared[k].bound,
                 "end, %s, %s, %d cells along, distance over L", sheared[k].pattern, sheared[k].law,
                 (int)sheared[k].cells);
  }
  if (!report->quick) {
    report_shear_orders(report, distance);
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
    {"diagonal", 16, 0.008, false},      {"diagonal", 32, 0.002, true},
    {"diagonal", 64, 0.0006, false},     {"diagonal", 128, 0.00015, false},
    {"unstructured", 16, 0.005, false},  {"unstructured", 32, 0.0015, true},
    {"unstructured", 64, 0.0003, false}, {"unstructured", 128, 0.00008, false},
};
enum { N_HANGING = sizeof hanging / sizeof *hanging, HANGING_REFINED = 4 };

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
    heavy_elastica(betas[k], betas[k] * pow(strip.thickness / LENGTH, 2) / 12.0, place);
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

  // the order over the three finest meshes of a pattern: unstructured ones are not nested, and
  // parts of the error of the coarsest one cancel
  report_table(report, "Largest distance, over L, and its mean order over the three finest meshes",
               "mesh | cells | distances | order");
  for (int m = 0; m < N_HANGING; m += HANGING_REFINED) {
    double order = order_of(4.0, worst[m + 1], 1.0, worst[m + 3]);
    report_row(report, "%s | %d, %d, %d, %d | %.5f, %.5f, %.5f, %.5f | %.1f", hanging[m].pattern,
               (int)hanging[m].cells, (int)hanging[m + 1].cells, (int)hanging[m + 2].cells,
               (int)hanging[m + 3].cells, worst[m], worst[m + 1], worst[m + 2], worst[m + 3],
               order);
    report_check(report, fabs(order - 2.0), 0.3, "order, %s, off 2", hanging[m].pattern);
  }
  return true;
}

// ---- plates -------------------------------------------------------------------------------------

#define SIDE 1.0     // m, of a square plate
#define PLATE_T 0.01 // m, its thickness
#define SMALL 1e-5   // m, its deflection: a thousandth of the thickness
#define ON_SIDE 1e-9 // m

// The plate, of four quarters, so that its centre is a vertex.
static void plate_map(int patch, double u, double v, double X[3]) {
  X[0] = (patch % 2 == 0 ? 0.5 : -0.5) * SIDE * u;
  X[1] = (patch / 2 == 0 ? 0.5 : -0.5) * SIDE * v;
  X[2] = 0.0;
}

static bool at_centre(const double X[3]) {
  return hypot(X[0], X[1]) < ON_SIDE;
}

static bool at_rim(const double X[3]) {
  return fmax(fabs(X[0]), fabs(X[1])) > 0.5 * SIDE - ON_SIDE;
}

// Vertices of one side, without those that clamps have added behind others.
static bool is_on(double across, double along) {
  return fabs(across - 0.5 * SIDE) < ON_SIDE && fabs(along) < 0.5 * SIDE + ON_SIDE;
}

static bool at_right(const double X[3]) {
  return is_on(X[0], X[1]);
}

static bool at_left(const double X[3]) {
  return is_on(-X[0], X[1]);
}

static bool at_top(const double X[3]) {
  return is_on(X[1], X[0]);
}

static bool at_bottom(const double X[3]) {
  return is_on(-X[1], X[0]);
}

// Deflections of the centre: of Navier's series over q a^4 / D and P a^2 / D, and of the clamped
// plate by Ritz's method with polynomials, over q a^4 / D.
static double navier_pressure(void) {
  double sum = 0.0;
  for (int m = 1; m < 400; m += 2) {
    for (int n = 1; n < 400; n += 2) {
      double sign = (m + n) / 2 % 2 == 1 ? 1.0 : -1.0;
      sum += sign / (m * n * pow(m * m + n * n, 2));
    }
  }
  return 16.0 / pow(PI, 6) * sum;
}

static double navier_force(void) {
  double sum = 0.0;
  for (int m = 1; m < 4000; m += 2) {
    for (int n = 1; n < 4000; n += 2) {
      sum += 1.0 / pow((double)m * m + (double)n * n, 2);
    }
  }
  return 4.0 / pow(PI, 4) * sum;
}

#define RITZ_PRESSURE 0.00126532

typedef struct Plate {
  const char* name;
  bool clamped, forced; // in the centre, otherwise by a pressure
  double bound;         // of the error with the finest mesh, relative
} Plate;

static bool build_plate(Thin* thin, const char* pattern, int32_t cells, const Plate* plate,
                        double compliance) {
  const Patches patches = {.count = 4,
                           .map = plate_map,
                           .size = {0.5 * SIDE, 0.5 * SIDE},
                           .cells = {cells / 2, cells / 2},
                           .pattern = pattern};
  const double nu = 0.3, D = YOUNG * pow(PLATE_T, 3) / (12.0 * (1.0 - nu * nu));
  const double force = SMALL * D / (compliance * SIDE * SIDE); // total
  thin->body.material.young = YOUNG;
  thin->body.material.poisson = nu;
  thin->body.material.density = DENSITY;
  thin->def.tolerance = (NoliScaled){1e-10, false};
  if (!plate->forced) {
    thin->def.gravity[2] = force / (DENSITY * PLATE_T * SIDE * SIDE);
  }
  return thin_shell(thin, &patches, PLATE_T, "plate") &&
         (plate->clamped ? thin_clamp(thin, at_right, (double[]){GAP, 0.0, 0.0}) &&
                               thin_clamp(thin, at_left, (double[]){-GAP, 0.0, 0.0}) &&
                               thin_clamp(thin, at_top, (double[]){0.0, GAP, 0.0}) &&
                               thin_clamp(thin, at_bottom, (double[]){0.0, -GAP, 0.0})
                         : thin_hold(thin, at_rim, "xyz")) &&
         (!plate->forced || thin_load(thin, at_centre, "total", 0.0, 0.0, force));
}

// The relative error of the deflection of the centre.
static bool deflect(const char* pattern, int32_t cells, const Plate* plate, double compliance,
                    double* error) {
  Thin thin;
  bool good = thin_begin(&thin) && build_plate(&thin, pattern, cells, plate, compliance) &&
              thin_solve(&thin, 1);
  if (good) {
    double u[3];
    thin_displacement(&thin, at_centre, u);
    *error = u[2] / SMALL - 1.0;
  }
  thin_end(&thin);
  return good;
}

bool validate_shell_plate(Report* report) {
  static const char* const patterns[] = {"diagonal", "alternating", "unstructured"};
  static const int32_t cells[REFINED] = {8, 16, 32};
  static const Plate plates[] = {{"supported, pressure", false, false, 0.004},
                                 {"clamped, pressure", true, false, 0.018},
                                 {"supported, force in the centre", false, true, 0.015}};
  report_table(report, "Error of the deflection of the centre of a square plate, and its order",
               "plate | deflection | mesh | 8 x 8 cells | 16 x 16 | 32 x 32 | order");
  for (int k = 0; k < 3; k++) {
    const Plate* plate = &plates[k];
    double compliance = plate->clamped  ? RITZ_PRESSURE
                        : plate->forced ? navier_force()
                                        : navier_pressure();
    for (int p = report->quick ? 2 : 0; p < 3; p++) {
      double error[REFINED];
      for (int m = 0; m < REFINED; m++) {
        if (!deflect(patterns[p], cells[m], plate, compliance, &error[m])) {
          return false;
        }
      }
      double order = order_of(4.0, fabs(error[0]), 1.0, fabs(error[2]));
      report_row(report, "%s | %.6f %s | %s | %+.2f %% | %+.2f %% | %+.3f %% | %.2f", plate->name,
                 compliance, plate->forced ? "P a^2 / D" : "q a^4 / D", patterns[p],
                 100.0 * error[0], 100.0 * error[1], 100.0 * error[2], order);
      report_check(report, fabs(error[2]), plate->bound, "%s, %s, 32 x 32 cells, relative",
                   plate->name, patterns[p]);
      report_check(report, fabs(order - 2.0), 0.3, "%s, %s, order, off 2", plate->name,
                   patterns[p]);
    }
  }
  return true;
}
