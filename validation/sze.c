// Popular benchmarks of shells, compared with the tables of [Sze2004].
#include "cases.h"
#include "thin.h"

#include <math.h>
#include <string.h>

#define TINY 1e-6

enum { MESHES = 10, TARGETS = 3 };

// A displacement, m, that is published for the full load.
typedef struct Target {
  const char* name;
  Wanted* at;
  int component;
  double published; // with its sign
  double limit;     // bound of the limit of three meshes, over it
} Target;

typedef struct Mesh {
  const char* pattern;
  int32_t cells[2]; // of a patch
  double bound;     // of the displacements, over those published
  bool quick;
  double order; // bound of the distance from 2 of the order from here on; 0: not in that range
} Mesh;

typedef struct Benchmark {
  const char *title, *cells; // of the table and of its column of cells
  bool (*build)(Thin* thin, const Mesh* mesh);
  int steps;
  Target target[TARGETS];
  Mesh mesh[MESHES + 2]; // the last two are empty
} Benchmark;

// Displacements of the targets on a mesh, with the sign of those published, and the largest error.
typedef struct Solution {
  double u[TARGETS], worst;
} Solution;

static int count_targets(const Benchmark* benchmark) {
  int n = 0;
  while (n < TARGETS && benchmark->target[n].name != NULL) {
    n++;
  }
  return n;
}

static bool run_mesh(Report* report, const Benchmark* benchmark, const Mesh* mesh,
                     Solution* solution) {
  Thin thin;
  bool good =
      thin_begin(&thin) && benchmark->build(&thin, mesh) && thin_solve(&thin, benchmark->steps);
  char row[256];
  *solution = (Solution){.worst = 0.0};
  int n = snprintf(row, sizeof row, "%s | %d x %d", mesh->pattern, (int)mesh->cells[0],
                   (int)mesh->cells[1]);
  for (int k = 0; k < count_targets(benchmark) && good; k++) {
    const Target* target = &benchmark->target[k];
    double u[3];
    thin_displacement(&thin, target->at, u);
    double share = u[target->component] / target->published;
    solution->u[k] = share * fabs(target->published);
    n += snprintf(row + n, sizeof row - (size_t)n, " | %.5g | %+.2f %%", solution->u[k],
                  100.0 * (share - 1.0));
    solution->worst = report_worse(solution->worst, fabs(share - 1.0));
  }
  if (good) {
    report_row(report, "%s | %lld", row, (long long)thin.run.newton);
    report_check(report, solution->worst, mesh->bound, "%s, %d x %d cells, relative", mesh->pattern,
                 (int)mesh->cells[0], (int)mesh->cells[1]);
  }
  thin_end(&thin);
  return good;
}

// Whether three meshes have one pattern, each with twice as many cells as the one before.
static bool are_refined(const Mesh mesh[3]) {
  bool all = mesh[2].pattern != NULL;
  for (int k = 1; k < 3 && all; k++) {
    all = strcmp(mesh[k].pattern, mesh[0].pattern) == 0 &&
          mesh[k].cells[0] == 2 * mesh[k - 1].cells[0];
  }
  return all;
}

// Whether a pattern has no finer mesh behind these three.
static bool are_finest(const Mesh mesh[4]) {
  return are_refined(mesh) && !are_refined(mesh + 1);
}

// The limit of three meshes, each with cells half as wide as those before: with the error C h^p
// their differences have the ratio 2^p. The published values are those of one mesh of elements that
// shear, and not the limit of a thin shell: an order can be measured only against this one. Where
// the limit would be farther away than twice the last difference, these meshes do not show it.
static void report_limit(Report* report, const Benchmark* benchmark, const Mesh* mesh,
                         const Solution* on, int k) {
  const Target* target = &benchmark->target[k];
  double first = on[1].u[k] - on[0].u[k], second = on[2].u[k] - on[1].u[k], ratio = first / second;
  char row[256];
  int n = snprintf(row, sizeof row, "%s | %d, %d, %d | %s | %.5g, %.5g, %.5g", mesh->pattern,
                   (int)mesh[0].cells[0], (int)mesh[1].cells[0], (int)mesh[2].cells[0],
                   target->name, on[0].u[k], on[1].u[k], on[2].u[k]);
  double order = log2(ratio), limit = on[2].u[k] + second / (ratio - 1.0);
  double off = limit / fabs(target->published) - 1.0;
  if (ratio > 1.5) {
    snprintf(row + n, sizeof row - (size_t)n, " | %.1f | %.5g | %+.2f %%", order, limit,
             100.0 * off);
  } else {
    snprintf(row + n, sizeof row - (size_t)n, " | - | - | -");
  }
  report_row(report, "%s", row);
  if (mesh->order > 0.0) {
    report_check(report, fabs(order - 2.0), mesh->order, "order, %s, %s, off 2", mesh->pattern,
                 target->name);
    report_check(report, fabs(off), target->limit, "limit, %s, %s, off the published one",
                 mesh->pattern, target->name);
  }
}

static void report_limits(Report* report, const Benchmark* benchmark, const Solution* on) {
  report_table(report, "Three finest meshes, the order of their differences, and their limit",
               "mesh | cells | of | displacements, m | order | limit, m | off the published one");
  for (int m = 0; m + 2 < MESHES && benchmark->mesh[m].pattern != NULL; m++) {
    for (int k = 0; k < count_targets(benchmark) && are_finest(&benchmark->mesh[m]); k++) {
      report_limit(report, benchmark, &benchmark->mesh[m], &on[m], k);
    }
  }
}

static bool run_benchmark(Report* report, const Benchmark* benchmark) {
  char columns[256];
  int n = snprintf(columns, sizeof columns, "mesh | %s", benchmark->cells);
  for (int k = 0; k < count_targets(benchmark); k++) {
    const Target* target = &benchmark->target[k];
    n += snprintf(columns + n, sizeof columns - (size_t)n, " | %s (%g) | error", target->name,
                  fabs(target->published));
  }
  snprintf(columns + n, sizeof columns - (size_t)n, " | Newton iterations");
  report_table(report, benchmark->title, columns);
  bool good = true;
  Solution on[MESHES] = {0};
  for (int m = 0; m < MESHES && benchmark->mesh[m].pattern != NULL && good; m++) {
    good = (report->quick && !benchmark->mesh[m].quick) ||
           run_mesh(report, benchmark, &benchmark->mesh[m], &on[m]);
  }
  if (good && !report->quick) {
    report_limits(report, benchmark, on);
  }
  return good;
}

// ---- places -------------------------------------------------------------------------------------

static bool at_x_zero(const double X[3]) {
  return fabs(X[0]) < TINY;
}

static bool at_y_zero(const double X[3]) {
  return fabs(X[1]) < TINY;
}

static bool at_z_zero(const double X[3]) {
  return fabs(X[2]) < TINY;
}

// Ends of the axes.
static bool at_x_high(const double X[3]) {
  return X[0] > 0.0 && at_y_zero(X) && at_z_zero(X);
}

static bool at_x_low(const double X[3]) {
  return X[0] < 0.0 && at_y_zero(X) && at_z_zero(X);
}

static bool at_y_high(const double X[3]) {
  return X[1] > 0.0 && at_x_zero(X) && at_z_zero(X);
}

static bool at_y_low(const double X[3]) {
  return X[1] < 0.0 && at_x_zero(X) && at_z_zero(X);
}

static double at_side(int patch, int axis) {
  return (patch >> axis) % 2 == 0 ? 1.0 : -1.0;
}

// ---- hemisphere with a hole ---------------------------------------------------------------------

#define HEMISPHERE_RADIUS 10.0
#define HEMISPHERE_THICKNESS 0.04

static void hemisphere_map(int patch, double u, double v, double X[3]) {
  double azimuth = 0.5 * PI * u, height = 0.4 * PI * v;
  X[0] = at_side(patch, 0) * HEMISPHERE_RADIUS * cos(height) * cos(azimuth);
  X[1] = at_side(patch, 1) * HEMISPHERE_RADIUS * cos(height) * sin(azimuth);
  X[2] = HEMISPHERE_RADIUS * sin(height);
}

static bool pull_hemisphere(Thin* thin, const Mesh* mesh, double thickness, double force) {
  const Patches patches = {.count = 4,
                           .map = hemisphere_map,
                           .size = {0.5 * PI * HEMISPHERE_RADIUS, 0.4 * PI * HEMISPHERE_RADIUS},
                           .cells = {mesh->cells[0], mesh->cells[1]},
                           .pattern = mesh->pattern};
  thin->body.material.young = 6.825e7;
  thin->body.material.poisson = 0.3;
  return thin_shell(thin, &patches, thickness, "plate") && thin_hold(thin, at_x_zero, "x") &&
         thin_hold(thin, at_y_zero, "y") && thin_hold(thin, at_x_high, "z") &&
         thin_load(thin, at_x_high, "total", -force, 0.0, 0.0) &&
         thin_load(thin, at_x_low, "total", force, 0.0, 0.0) &&
         thin_load(thin, at_y_high, "total", 0.0, force, 0.0) &&
         thin_load(thin, at_y_low, "total", 0.0, -force, 0.0);
}

static bool build_hemisphere(Thin* thin, const Mesh* mesh) {
  return pull_hemisphere(thin, mesh, HEMISPHERE_THICKNESS, 400.0);
}

bool validate_shell_hemisphere(Report* report) {
  static const Benchmark hemisphere = {
      .title = "Displacements of the points under 400 N, m",
      .cells = "cells of a quarter",
      .build = build_hemisphere,
      .steps = 4,
      .target = {{"inward", at_x_high, 0, -8.178, 0.0}, {"outward", at_y_high, 1, 4.067, 0.0}},
      .mesh = {{"alternating", {8, 8}, 0.06, true, 0.0},
               {"alternating", {16, 16}, 0.025, false, 0.0},
               {"alternating", {32, 32}, 0.025, false, 0.0},
               {"alternating", {64, 64}, 0.02, false, 0.0},
               {"unstructured", {8, 8}, 0.06, false, 0.0},
               {"unstructured", {16, 16}, 0.015, false, 0.0},
               {"unstructured", {32, 32}, 0.012, false, 0.0},
               {"unstructured", {64, 64}, 0.008, false, 0.0}}};
  return run_benchmark(report, &hemisphere);
}

// ---- the same under a small load: locking -------------------------------------------------------

// A force that moves the points by a fiftieth of the radius. Finite elements of order 4 that shear
// have these displacements at a thickness of 0.04 m (tests of Elmer, Shell_OpenHemisphere).
typedef struct Pulled {
  double thickness, force;
  double inward, outward; // wanted, m; 0: the means of the finest meshes
} Pulled;

static const Pulled pulled[] = {{HEMISPHERE_THICKNESS, 4.0, 0.189022, 0.184936},
                                {4.0 * HEMISPHERE_THICKNESS, 256.0, 0.0, 0.0}};
enum { N_PULLED = 2, LOCKING_PATTERNS = 2, LOCKING_CELLS = 3 };

static bool pull(const Pulled* load, const Mesh* mesh, double u[2]) {
  Thin thin;
  bool good = thin_begin(&thin);
  thin.def.tolerance = (NoliScaled){1e-5, false};
  good = good && pull_hemisphere(&thin, mesh, load->thickness, load->force) && thin_solve(&thin, 1);
  if (good) {
    double inward[3], outward[3];
    thin_displacement(&thin, at_x_high, inward);
    thin_displacement(&thin, at_y_high, outward);
    u[0] = -inward[0];
    u[1] = outward[1];
  }
  thin_end(&thin);
  return good;
}

// One thickness with all meshes; `quick`: only the coarsest.
static bool run_pulled(Report* report, const Pulled* load) {
  static const char* const patterns[LOCKING_PATTERNS] = {"alternating", "unstructured"};
  double u[LOCKING_CELLS][LOCKING_PATTERNS][2];
  const int n = report->quick ? 1 : LOCKING_CELLS;
  for (int m = 0; m < n; m++) {
    for (int p = 0; p < LOCKING_PATTERNS; p++) {
      const Mesh mesh = {.pattern = patterns[p], .cells = {16 << m, 16 << m}};
      if (!pull(load, &mesh, u[m][p])) {
        return false;
      }
    }
  }
  double inward = load->inward > 0.0 ? load->inward : 0.5 * (u[n - 1][0][0] + u[n - 1][1][0]);
  double outward = load->outward > 0.0 ? load->outward : 0.5 * (u[n - 1][0][1] + u[n - 1][1][1]);
  for (int p = 0; p < LOCKING_PATTERNS; p++) {
    for (int m = 0; m < n; m++) {
      double side = 0.5 * PI * HEMISPHERE_RADIUS / (16 << m);
      double error[2] = {u[m][p][0] / inward - 1.0, u[m][p][1] / outward - 1.0};
      report_row(report, "%g | %s | %d x %d | %.2g | %.5f | %+.2f %% | %.5f | %+.2f %%",
                 load->thickness, patterns[p], 16 << m, 16 << m,
                 side * side / (HEMISPHERE_RADIUS * load->thickness), u[m][p][0], 100.0 * error[0],
                 u[m][p][1], 100.0 * error[1]);
      static const double bound[LOCKING_CELLS] = {0.01, 0.006, 0.003};
      report_check(report, report_worse(fabs(error[0]), fabs(error[1])),
                   load->inward > 0.0 ? bound[m] : (double)INFINITY, "%s, %d x %d cells, relative",
                   patterns[p], 16 << m, 16 << m);
    }
  }
  return true;
}

bool validate_shell_locking(Report* report) {
  report_table(report, "Displacements of the points under a small load, m",
               "thickness, m | mesh | cells of a quarter | h^2 / (R t) | inward | error | outward "
               "| error");
  bool good = true;
  for (int k = 0; k < (report->quick ? 1 : N_PULLED) && good; k++) {
    good = run_pulled(report, &pulled[k]);
  }
  return good;
}

// ---- slit annular plate -------------------------------------------------------------------------

#define SLIT 1e-6 // of a turn

static void annulus_map(int patch, double u, double v, double X[3]) {
  double radius = 6.0 + 4.0 * v, angle = 2.0 * PI * u * (1.0 - SLIT);
  (void)patch;
  X[0] = radius * cos(angle);
  X[1] = radius * sin(angle);
  X[2] = 0.0;
}

static bool at_clamped_side(const double X[3]) {
  return X[0] > 0.0 && X[1] == 0.0;
}

static bool at_loaded_side(const double X[3]) {
  return X[0] > 0.0 && X[1] < 0.0 && X[1] > -1e-3;
}

static bool inside_loaded_side(const double X[3]) {
  return at_loaded_side(X) && X[0] > 6.0 + TINY && X[0] < 10.0 - TINY;
}

static bool at_inner_corner(const double X[3]) {
  return at_loaded_side(X) && X[0] < 6.0 + TINY;
}

static bool at_outer_corner(const double X[3]) {
  return at_loaded_side(X) && X[0] > 10.0 - TINY;
}

// The force along the side is 0.8 N/m: half of it acts at each end of a cell.
static bool build_annulus(Thin* thin, const Mesh* mesh) {
  const Patches patches = {.count = 1,
                           .map = annulus_map,
                           .size = {16.0 * PI, 4.0},
                           .cells = {mesh->cells[0], mesh->cells[1]},
                           .pattern = mesh->pattern};
  thin->body.material.young = 2.1e7;
  thin->body.material.poisson = 0.0;
  const double half = 0.5 * 0.8 * 4.0 / mesh->cells[1];
  return thin_shell(thin, &patches, 0.03, "plate") &&
         thin_clamp(thin, at_clamped_side, (double[]){0.0, -2e-3, 0.0}) &&
         thin_load(thin, at_loaded_side, "nodal", 0.0, 0.0, half) &&
         thin_load(thin, inside_loaded_side, "nodal", 0.0, 0.0, half);
}

bool validate_shell_annulus(Report* report) {
  static const Benchmark annulus = {.title = "Displacements of the corners under 0.8 N/m, m",
                                    .cells = "cells around and across",
                                    .build = build_annulus,
                                    .steps = 4,
                                    .target = {{"inner", at_inner_corner, 2, 13.891, 0.004},
                                               {"outer", at_outer_corner, 2, 17.528, 0.004}},
                                    .mesh = {{"alternating", {32, 4}, 0.1, false, 0.0},
                                             {"alternating", {64, 8}, 0.05, false, 0.8},
                                             {"alternating", {128, 16}, 0.025, false, 0.0},
                                             {"alternating", {256, 32}, 0.008, false, 0.0},
                                             {"unstructured", {32, 4}, 0.03, true, 0.0},
                                             {"unstructured", {64, 8}, 0.025, false, 0.8},
                                             {"unstructured", {128, 16}, 0.015, false, 0.0},
                                             {"unstructured", {256, 32}, 0.008, false, 0.0}}};
  return run_benchmark(report, &annulus);
}

// ---- cylinders ----------------------------------------------------------------------------------

// An eighth, from the middle of the load at u = v = 0 to the side and to the end.
static void octant(int patch, double u, double v, double radius, double length, double X[3]) {
  X[0] = at_side(patch, 0) * radius * sin(0.5 * PI * u);
  X[1] = at_side(patch, 1) * radius * cos(0.5 * PI * u);
  X[2] = at_side(patch, 2) * 0.5 * length * v;
}

static void pullout_map(int patch, double u, double v, double X[3]) {
  octant(patch, u, v, 4.953, 10.35, X);
}

static bool at_end_of_pullout(const double X[3]) {
  return X[0] > 0.0 && at_y_zero(X) && X[2] > 0.5 * 10.35 - TINY;
}

static bool build_pullout(Thin* thin, const Mesh* mesh) {
  const Patches patches = {.count = 8,
                           .map = pullout_map,
                           .size = {0.5 * PI * 4.953, 0.5 * 10.35},
                           .cells = {mesh->cells[0], mesh->cells[1]},
                           .pattern = mesh->pattern};
  thin->body.material.young = 10.5e6;
  thin->body.material.poisson = 0.3125;
  const double force = 40000.0;
  return thin_shell(thin, &patches, 0.094, "plate") && thin_hold(thin, at_x_zero, "x") &&
         thin_hold(thin, at_y_zero, "y") && thin_hold(thin, at_z_zero, "z") &&
         thin_load(thin, at_y_high, "total", 0.0, force, 0.0) &&
         thin_load(thin, at_y_low, "total", 0.0, -force, 0.0);
}

bool validate_shell_pullout(Report* report) {
  static const Benchmark pullout = {
      .title = "Displacements under 40 kN, m: of the load, of the side, of the side at the end",
      .cells = "cells of an eighth",
      .build = build_pullout,
      .steps = 8,
      .target = {{"load", at_y_high, 1, 2.768, 0.015},
                 {"side", at_x_high, 0, -4.551, 0.01},
                 {"end", at_end_of_pullout, 0, -3.269, 0.015}},
      .mesh = {{"alternating", {12, 8}, 0.08, true, 0.0},
               {"alternating", {24, 16}, 0.015, false, 0.0},
               {"alternating", {48, 32}, 0.015, false, 0.0},
               {"unstructured", {12, 8}, 0.08, false, 0.6},
               {"unstructured", {24, 16}, 0.015, false, 0.0},
               {"unstructured", {48, 32}, 0.015, false, 0.0}}};
  return run_benchmark(report, &pullout);
}

#define PINCHED_RADIUS 100.0
#define PINCHED_LENGTH 200.0
#define PINCHED_YOUNG 3e4

// Cells become smaller towards the load, where the shell bends over sqrt(R t), 10 m.
static double graded(double u) {
  return (u + 2.0 * u * u) / 3.0;
}

static void pinched_map(int patch, double u, double v, double X[3]) {
  octant(patch, graded(u), graded(v), PINCHED_RADIUS, PINCHED_LENGTH, X);
}

static bool at_diaphragm(const double X[3]) {
  return fabs(X[2]) > 0.5 * PINCHED_LENGTH - TINY;
}

// Diaphragms hold the ends in their planes.
static bool pinch(Thin* thin, const Mesh* mesh, Map* map, double force) {
  const Patches patches = {.count = 8,
                           .map = map,
                           .size = {0.5 * PI * PINCHED_RADIUS, 0.5 * PINCHED_LENGTH},
                           .cells = {mesh->cells[0], mesh->cells[1]},
                           .pattern = mesh->pattern};
  thin->body.material.young = PINCHED_YOUNG;
  thin->body.material.poisson = 0.3;
  return thin_shell(thin, &patches, 1.0, "plate") && thin_hold(thin, at_x_zero, "x") &&
         thin_hold(thin, at_y_zero, "y") && thin_hold(thin, at_z_zero, "z") &&
         thin_hold(thin, at_diaphragm, "xy") &&
         thin_load(thin, at_y_high, "total", 0.0, -force, 0.0) &&
         thin_load(thin, at_y_low, "total", 0.0, force, 0.0);
}

// By a hundredth of the thickness; theory: 164.24 P / (E t).
static bool build_pinched(Thin* thin, const Mesh* mesh) {
  thin->def.tolerance = (NoliScaled){1e-7, false};
  return pinch(thin, mesh, pinched_map, 0.01 * PINCHED_YOUNG / 164.24);
}

bool validate_shell_pinched(Report* report) {
  static const Benchmark pinched = {.title = "Displacement of the load, m, small",
                                    .cells = "cells of an eighth",
                                    .build = build_pinched,
                                    .steps = 1,
                                    .target = {{"load", at_y_high, 1, -0.01, 0.01}},
                                    .mesh = {{"alternating", {8, 8}, 0.2, true, 0.0},
                                             {"alternating", {16, 16}, 0.07, false, 0.6},
                                             {"alternating", {32, 32}, 0.025, false, 0.0},
                                             {"alternating", {64, 64}, 0.012, false, 0.0},
                                             {"unstructured", {8, 8}, 0.15, false, 0.0},
                                             {"unstructured", {16, 16}, 0.035, false, 1.2},
                                             {"unstructured", {32, 32}, 0.02, false, 0.0},
                                             {"unstructured", {64, 64}, 0.012, false, 0.0}}};
  return run_benchmark(report, &pinched);
}

// Folds move away from the load: cells are uniform.
static void uniform_map(int patch, double u, double v, double X[3]) {
  octant(patch, u, v, PINCHED_RADIUS, PINCHED_LENGTH, X);
}

static bool build_crushed(Thin* thin, const Mesh* mesh) {
  return pinch(thin, mesh, uniform_map, 12000.0);
}

bool validate_shell_crushed(Report* report) {
  static const Benchmark crushed = {
      .title = "Displacements of the load and of the side under 12 kN, m",
      .cells = "cells of an eighth",
      .build = build_crushed,
      .steps = 16,
      .target = {{"load", at_y_high, 1, -83.102, 0.0}, {"side", at_x_high, 0, 34.272, 0.0}},
      .mesh = {{"alternating", {8, 8}, 0.9, true, 0.0},
               {"alternating", {16, 16}, 0.5, false, 0.0},
               {"alternating", {32, 32}, 0.07, false, 0.0},
               {"unstructured", {8, 8}, 0.9, false, 0.0},
               {"unstructured", {16, 16}, 0.5, false, 0.0},
               {"unstructured", {32, 32}, 0.07, false, 0.0}}};
  return run_benchmark(report, &crushed);
}
