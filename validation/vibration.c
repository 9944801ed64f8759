// Small vibrations of free beams and of plates: angular frequencies of the first modes.
#include "cases.h"
#include "thin.h"

#include <math.h>
#include <stdlib.h>

enum { STEPS_PER_PERIOD = 50, PERIODS = 2 };

// A body that is released from its first mode. All have the length 1 m.
typedef struct Vibration {
  bool (*build)(Thin* thin, const char* pattern, int32_t cells);
  double (*mode)(const double X[3]);
  int component;    // in which it moves
  double amplitude; // m
  double omega;     // rad/s, of theory
} Vibration;

static double amplitude_of(const Thin* thin, const Vibration* vibration) {
  const double* x = noli_sim_positions(thin->run.sim);
  const double* mass = noli_sim_masses(thin->run.sim);
  double sum = 0.0, norm = 0.0;
  for (int32_t i = 0; i < thin->mesh->n_vert; i++) {
    const double* X = thin->mesh->x + 3 * i;
    int64_t k = 3 * (int64_t)i + vibration->component;
    double mode = vibration->mode(X);
    sum += mass[i] * mode * (x[k] - X[vibration->component]);
    norm += mass[i] * mode * mode;
  }
  return sum / norm;
}

// The angular frequency from zero crossings, without what the trapezoidal rule adds to periods.
static bool measure(Thin* thin, const Vibration* vibration, double* omega) {
  double h = 2.0 * PI / vibration->omega / STEPS_PER_PERIOD, before = vibration->amplitude;
  double first = 0.0, last = 0.0;
  int n_zero = 0;
  for (int i = 1; i <= PERIODS * STEPS_PER_PERIOD; i++) {
    if (!run_step(&thin->run)) {
      return false;
    }
    double now = amplitude_of(thin, vibration);
    if (now * before < 0.0) {
      last = h * (i - 1 + before / (before - now));
      first = n_zero++ == 0 ? last : first;
    }
    before = now;
  }
  *omega = 2.0 / h * tan(0.5 * h * PI * (n_zero - 1) / (last - first));
  return true;
}

static bool vibrate(const Vibration* vibration, const char* pattern, int32_t cells, double* omega) {
  Thin thin;
  double* x0 = NULL;
  bool good = thin_begin(&thin) && vibration->build(&thin, pattern, cells);
  if (good) {
    size_t n = 3 * (size_t)thin.mesh->n_vert;
    x0 = malloc(sizeof *x0 * n);
    good = x0 != NULL;
    for (size_t k = 0; good && k < n; k++) {
      double mode = vibration->mode(thin.mesh->x + k - k % 3);
      x0[k] = thin.mesh->x[k] +
              (k % 3 == (size_t)vibration->component ? vibration->amplitude * mode : 0.0);
    }
  }
  thin.body.x0 = x0;
  thin.def.integrator = "trapezoidal";
  thin.def.tolerance = (NoliScaled){1e-4 * vibration->amplitude * vibration->omega, false};
  good = good && thin_start(&thin, 2.0 * PI / vibration->omega / STEPS_PER_PERIOD) &&
         measure(&thin, vibration, omega);
  thin_end(&thin);
  free(x0);
  return good;
}

// ---- bodies -------------------------------------------------------------------------------------

#define YOUNG 1e7
#define DENSITY 1000.0
#define POISSON 0.3
#define RADIUS 0.005   // m, of the rod
#define WIDTH 0.05     // m, of the strip
#define THICKNESS 0.01 // m, of strip and plates
#define AMPLITUDE 1e-6 // m

static void set_material(Thin* thin) {
  thin->body.material.young = YOUNG;
  thin->body.material.poisson = POISSON;
  thin->body.material.density = DENSITY;
}

// The first mode of a free beam.
static double beam_mode(const double X[3]) {
  const double k = 4.7300407449, ratio = 0.9825022146;
  return cosh(k * X[0]) + cos(k * X[0]) - ratio * (sinh(k * X[0]) + sin(k * X[0]));
}

static void along_x(const void* user, double s, double X[3]) {
  X[0] = s / *(const int32_t*)user;
  X[1] = X[2] = 0.0;
}

static bool build_rod(Thin* thin, const char* pattern, int32_t cells) {
  (void)pattern;
  set_material(thin);
  thin->body.rod.radius = RADIUS;
  return thin_rod(thin, cells, along_x, &cells);
}

static void strip_map(int patch, double u, double v, double X[3]) {
  (void)patch;
  X[0] = u;
  X[1] = WIDTH * v;
  X[2] = 0.0;
}

static bool build_strip(Thin* thin, const char* pattern, int32_t cells) {
  const Patches patches = {.count = 1,
                           .map = strip_map,
                           .size = {1.0, WIDTH},
                           .cells = {cells, cells / 16},
                           .pattern = pattern};
  set_material(thin);
  return thin_shell(thin, &patches, THICKNESS, "plate");
}

static void square_map(int patch, double u, double v, double X[3]) {
  (void)patch;
  X[0] = u;
  X[1] = v;
  X[2] = 0.0;
}

static bool build_free_plate(Thin* thin, const char* pattern, int32_t cells) {
  const Patches patches = {.count = 1,
                           .map = square_map,
                           .size = {1.0, 1.0},
                           .cells = {cells, cells},
                           .pattern = pattern};
  set_material(thin);
  return thin_shell(thin, &patches, THICKNESS, "plate");
}

static bool at_boundary(const double X[3]) {
  return fmin(X[0], X[1]) < 1e-6 || fmax(X[0], X[1]) > 1.0 - 1e-6;
}

static bool build_supported_plate(Thin* thin, const char* pattern, int32_t cells) {
  return build_free_plate(thin, pattern, cells) && thin_hold(thin, at_boundary, "xyz");
}

static double supported_mode(const double X[3]) {
  return sin(PI * X[0]) * sin(PI * X[1]);
}

static double twisting_mode(const double X[3]) {
  return (X[0] - 0.5) * (X[1] - 0.5);
}

// ---- the case -----------------------------------------------------------------------------------

static const struct {
  const char *body, *pattern;
  int32_t first_cells;
  int shape;    // of the table in the function below
  double bound; // of the error with these cells; a fourth with half their size
} vibrating[] = {{"rod", "-", 8, 0, 0.075},
                 {"strip", "diagonal", 16, 1, 0.02},
                 {"strip", "unstructured", 16, 1, 0.02},
                 {"supported plate", "diagonal", 8, 2, 0.035},
                 {"supported plate", "alternating", 8, 2, 0.035},
                 {"supported plate", "unstructured", 8, 2, 0.035},
                 {"free plate", "alternating", 8, 3, 0.045},
                 {"free plate", "unstructured", 8, 3, 0.045}};
enum { N_VIBRATING = sizeof vibrating / sizeof *vibrating, MESHES = 3 };

bool validate_thin_vibration(Report* report) {
  const double plate = YOUNG * THICKNESS * THICKNESS / (12.0 * (1.0 - POISSON * POISSON) * DENSITY);
  const Vibration shape[] = {
      {build_rod, beam_mode, 1, AMPLITUDE, 22.3732854 * sqrt(YOUNG / DENSITY) * 0.5 * RADIUS},
      {build_strip, beam_mode, 2, AMPLITUDE,
       22.3732854 * sqrt(YOUNG / (12.0 * DENSITY)) * THICKNESS},
      {build_supported_plate, supported_mode, 2, AMPLITUDE, 2.0 * PI * PI * sqrt(plate)},
      {build_free_plate, twisting_mode, 2, AMPLITUDE, 13.468 * sqrt(plate)}};
  report_table(report, "Angular frequency of the first mode, rad/s",
               "body | mesh | cells | measured | theory | error");
  for (int k = 0; k < N_VIBRATING; k++) {
    const Vibration* vibration = &shape[vibrating[k].shape];
    double coarse = 0.0, error = 0.0, bound = vibrating[k].bound;
    int32_t cells = vibrating[k].first_cells;
    for (int n = 0; n < (report->quick ? 1 : MESHES); n++, cells *= 2, bound *= 0.25) {
      double omega;
      if (!vibrate(vibration, vibrating[k].pattern, cells, &omega)) {
        return false;
      }
      error = omega / vibration->omega - 1.0;
      report_row(report, "%s | %s | %d | %.4f | %.4f | %+.2f %%", vibrating[k].body,
                 vibrating[k].pattern, (int)cells, omega, vibration->omega, 100.0 * error);
      report_check(report, fabs(error), bound, "frequency, %s, %s, %d cells, relative",
                   vibrating[k].body, vibrating[k].pattern, (int)cells);
      coarse = n == 0 ? fabs(error) : coarse;
    }
    if (!report->quick) {
      report_check(report, fabs(order_of(4.0, coarse, 1.0, fabs(error)) - 2.0), 0.3,
                   "order of the frequency, %s, %s, off 2", vibrating[k].body,
                   vibrating[k].pattern);
    }
  }
  return true;
}
