// [Zheng2025] fig. 7: an elastic bar hits rigid ground, with a velocity (problem 1) or from rest
// under gravity (problem 2), after [Doyen2011] section 4; and its coefficient of restitution.
//
// The bar stands upright: L = 1 m, wave speed c = 100 m/s, impact at 0.01 m/s, strains of 1e-4, no
// lateral motion, Poisson's ratio 0. The semi-discrete solution is that of the linear
// system M u'' + K u = f with u >= 0 at the foot, by a symplectic method with tiny steps and a
// separate assembly of K. The wave solution is closed: with s the time since the impact at speed v,
// b(s) = v s + g s^2 / 2 and tau = L / c, relative to free fall
//   w(x, s) = b(s - x/c) + b(s - 2 tau + x/c)                                       for s <= 2 tau,
//   w(x, s) = 2 v tau + g tau^2 + (2 v + 2 g tau) r + (F(x - c r) + F(x + c r)) / 2   later,
// r = s - 2 tau, F even and 2L-periodic with F(x) = g (tau - x/c)^2 on [0, L].
#include "cases.h"
#include "run.h"

#include <math.h>
#include <stdlib.h>

#define LENGTH 1.0
#define YOUNG 1e7
#define DENSITY 1e3
#define WAVE 100.0
#define SPEED 0.01
// Far below the motion in a step: a constraint that becomes active moves the foot up to here.
#define DELTA 1e-10

// The sizes of the semi-discrete solution.
enum { CELLS = 4, N_VERT = 4 * (CELLS + 1), N_STEP_SIZES = 3, MAX_STEPS = 4000 };

typedef struct Problem {
  const char* name;
  double gravity;  // m/s^2
  double velocity; // at the start, m/s
  double height;   // at the start, m
  double end;      // s
} Problem;

// 5 ms of flight, 20 ms of contact; from rest 30 ms of fall.
static const Problem problems[2] = {
    {"velocity", 0.0, -SPEED, 0.005 * SPEED, 0.035},
    {"gravity", SPEED / 0.03, 0.0, 0.5 * SPEED * 0.03, 0.06},
};

// Heights and velocities of the foot and the head, relative to rest on the ground.
typedef struct Track {
  double position[2];
  double velocity[2];
} Track;

// ---- wave solution ------------------------------------------------------------------------------

static double pushed(double v, double g, double s) {
  return s > 0.0 ? v * s + 0.5 * g * s * s : 0.0;
}

static double vibration(double g, double x) {
  double folded = fabs(remainder(x, 2.0 * LENGTH));
  double y = (LENGTH - folded) / WAVE;
  return g * y * y;
}

// Displacement of the section x at time t from rest on the ground.
static double wave_displacement(const Problem* problem, double x, double t) {
  double g = problem->gravity, fall = problem->height + problem->velocity * t - 0.5 * g * t * t;
  double hit = g > 0.0 ? sqrt(2.0 * problem->height / g) : problem->height / SPEED;
  double s = t - hit, tau = LENGTH / WAVE, r = s - 2.0 * tau;
  if (r <= 0.0) {
    return fall + pushed(SPEED, g, s - x / WAVE) + pushed(SPEED, g, s - 2.0 * tau + x / WAVE);
  }
  return fall + 2.0 * SPEED * tau + g * tau * tau + (2.0 * SPEED + 2.0 * g * tau) * r +
         0.5 * (vibration(g, x - WAVE * r) + vibration(g, x + WAVE * r));
}

// ---- semi-discrete solution ---------------------------------------------------------------------

typedef struct Chain {
  double mass[N_VERT];
  double stiffness[N_VERT][N_VERT];
  bool foot[N_VERT], head[N_VERT];
} Chain;

static void cross(const double a[3], const double b[3], double scale, double c[3]) {
  for (int k = 0; k < 3; k++) {
    int i = (k + 1) % 3, j = (k + 2) % 3;
    c[k] = scale * (a[i] * b[j] - a[j] * b[i]);
  }
}

// Only small vertical displacements, Poisson's ratio 0: E/2 V (e_yy^2 + e_xy'^2 / 2 + ..).
static void add_tet(Chain* chain, const double* X, const int32_t tet[4]) {
  double e[3][3], grad[4][3], normal[3];
  for (int k = 0; k < 3; k++) {
    for (int i = 0; i < 3; i++) {
      e[k][i] = X[3 * tet[k + 1] + i] - X[3 * tet[0] + i];
    }
  }
  cross(e[1], e[2], 1.0, normal);
  double six = e[0][0] * normal[0] + e[0][1] * normal[1] + e[0][2] * normal[2];
  for (int k = 0; k < 3; k++) {
    cross(e[(k + 1) % 3], e[(k + 2) % 3], 1.0 / six, grad[k + 1]);
  }
  for (int i = 0; i < 3; i++) {
    grad[0][i] = -grad[1][i] - grad[2][i] - grad[3][i];
  }
  for (int a = 0; a < 4; a++) {
    for (int b = 0; b < 4; b++) {
      chain->stiffness[tet[a]][tet[b]] +=
          YOUNG * six / 6.0 *
          (grad[a][1] * grad[b][1] + 0.5 * (grad[a][0] * grad[b][0] + grad[a][2] * grad[b][2]));
    }
    chain->mass[tet[a]] += DENSITY * six / 24.0;
  }
}

// One small step: velocity, position, and the foot stops at the ground.
static void advance_chain(const Chain* chain, double gravity, double h, double* u, double* v) {
  for (int i = 0; i < N_VERT; i++) {
    double force = 0.0;
    for (int j = 0; j < N_VERT; j++) {
      force += chain->stiffness[i][j] * u[j];
    }
    v[i] -= h * (gravity + force / chain->mass[i]);
  }
  for (int i = 0; i < N_VERT; i++) {
    u[i] += h * v[i];
    if (u[i] < 0.0 && chain->foot[i]) {
      u[i] = v[i] = 0.0;
    }
  }
}

static Track track_of(const Chain* chain, const double* u, const double* v) {
  Track track = {0};
  for (int i = 0; i < N_VERT; i++) {
    if (chain->foot[i] || chain->head[i]) {
      track.position[chain->head[i]] += 0.25 * u[i];
      track.velocity[chain->head[i]] += 0.25 * v[i];
    }
  }
  return track;
}

// The track at the end of every step of length h, by small steps of a quarter of a microsecond.
static void solve_chain(const Chain* chain, const Problem* problem, double h, int steps,
                        Track* track) {
  int sub = (int)lround(h / 2.5e-7);
  double u[N_VERT], v[N_VERT];
  for (int i = 0; i < N_VERT; i++) {
    u[i] = problem->height;
    v[i] = problem->velocity;
  }
  for (int n = 0; n < steps; n++) {
    for (int k = 0; k < sub; k++) {
      advance_chain(chain, problem->gravity, h / sub, u, v);
    }
    track[n] = track_of(chain, u, v);
  }
}

// ---- simulation ---------------------------------------------------------------------------------

typedef struct Method {
  const char* law;
  const char* integrator;
  const char* solver;
  double delta;       // m
  int min_iterations; // 0: the solver's own
} Method;

static bool start(Run* run, const Problem* problem, const Method* method, int cells, double h) {
  Settings settings = {0};
  // contact keeps the gap delta, so the ground is lower by delta
  set(&settings, "half_spaces[0].origin", "[0, %.17g, 0]", -method->delta);
  set(&settings, "contact.distance", "%.17g", method->delta);
  set(&settings, "bodies[0].translate", "[0, %.17g, 0]", 0.5 * LENGTH + problem->height);
  set(&settings, "bodies[0].mesh.box.cells", "[1, %d, 1]", cells);
  set(&settings, "bodies[0].material.law", "%s", method->law);
  set(&settings, "bodies[0].velocity", "[0, %.17g, 0]", problem->velocity);
  set(&settings, "gravity", "[0, %.17g, 0]", -problem->gravity);
  set(&settings, "solver.method", "%s", method->solver);
  if (method->min_iterations > 0) {
    set(&settings, "solver.min_iterations", "%d", method->min_iterations);
  }
  set(&settings, "time.integrator", "%s", method->integrator);
  set(&settings, "time.step", "%.17g", h);
  return run_start(run, "bar", &settings);
}

// Motion of foot and head. `chain`, if given, is the semi-discrete system; it is for CELLS.
static bool simulate(const Problem* problem, const Method* method, int cells, double h, int steps,
                     Chain* chain, Track* track) {
  Run run;
  bool good = start(&run, problem, method, cells, h);
  int32_t n_vert = good ? noli_sim_vertex_count(run.sim) : 0;
  const double* X = good ? noli_sim_rest_positions(run.sim) : NULL;
  if (good && chain != NULL) {
    *chain = (Chain){0};
    for (int32_t t = 0; t < noli_sim_tet_count(run.sim); t++) {
      add_tet(chain, X, noli_sim_tets(run.sim) + 4 * t);
    }
    for (int i = 0; i < N_VERT; i++) {
      chain->foot[i] = X[3 * i + 1] < problem->height + 1e-9;
      chain->head[i] = X[3 * i + 1] > problem->height + LENGTH - 1e-9;
    }
  }
  for (int n = 0; n < steps && good; n++) {
    good = run_step(&run);
    const double *x = noli_sim_positions(run.sim), *v = noli_sim_velocities(run.sim);
    track[n] = (Track){0};
    for (int32_t i = 0; i < n_vert; i++) {
      double height = X[3 * i + 1] - problem->height;
      if (height < 1e-9 || height > LENGTH - 1e-9) {
        track[n].position[height > 0.5] += 0.25 * (x[3 * i + 1] - height);
        track[n].velocity[height > 0.5] += 0.25 * v[3 * i + 1];
      }
    }
  }
  run_end(&run);
  return good;
}

// ---- errors over the time step ------------------------------------------------------------------

typedef struct Errors {
  double position; // mean over time of both ends, m
  double velocity; // m/s
} Errors;

static double wave_error(const Problem* problem, double h, int steps, const Track* got) {
  double error = 0.0;
  for (int n = 0; n < steps; n++) {
    for (int end = 0; end < 2; end++) {
      double wave = wave_displacement(problem, end * LENGTH, (n + 1) * h);
      error += 0.5 * fabs(got[n].position[end] - wave) / steps;
    }
  }
  return error;
}

static bool measure(const Problem* problem, const Method* method, double h, Errors* errors) {
  static Track got[MAX_STEPS], want[MAX_STEPS];
  static Chain chain;
  int steps = (int)lround(problem->end / h);
  if (!simulate(problem, method, CELLS, h, steps, &chain, got)) {
    return false;
  }
  solve_chain(&chain, problem, h, steps, want);
  *errors = (Errors){0};
  for (int n = 0; n < steps; n++) {
    for (int end = 0; end < 2; end++) {
      errors->position += 0.5 * fabs(got[n].position[end] - want[n].position[end]) / steps;
      errors->velocity += 0.5 * fabs(got[n].velocity[end] - want[n].velocity[end]) / steps;
    }
  }
  return true;
}

// Least-squares slope of log error over log h.
static double slope_of(const double* h, const double* error, int n) {
  double x = 0.0, y = 0.0, xx = 0.0, xy = 0.0;
  for (int k = 0; k < n; k++) {
    double a = log(h[k]), b = log(error[k]);
    x += a / n;
    y += b / n;
    xx += a * a / n;
    xy += a * b / n;
  }
  return (xy - x * y) / (xx - x * x);
}

static const double step_size[N_STEP_SIZES] = {1e-4, 5e-5, 2.5e-5};

// A row of each step size; the error falls with h.
static bool run_series(Report* report, const Problem* problem, const Method* method,
                       double slope[2], double position[N_STEP_SIZES]) {
  double velocity[N_STEP_SIZES];
  for (int k = 0; k < N_STEP_SIZES; k++) {
    Errors errors;
    if (!measure(problem, method, step_size[k], &errors)) {
      return false;
    }
    position[k] = errors.position;
    velocity[k] = errors.velocity;
  }
  slope[0] = slope_of(step_size, position, N_STEP_SIZES);
  slope[1] = slope_of(step_size, velocity, N_STEP_SIZES);
  for (int k = 0; k < N_STEP_SIZES; k++) {
    bool last = k == N_STEP_SIZES - 1;
    char slopes[2][16] = {"", ""};
    for (int i = 0; i < 2 && last; i++) {
      snprintf(slopes[i], sizeof slopes[i], "%.3f", slope[i]);
    }
    report_row(report, "%s | %s | %d | %g | %.3e | %s | %.3e | %s", problem->name, method->law,
               method->min_iterations, step_size[k], position[k], slopes[0], velocity[k],
               slopes[1]);
  }
  report_check(report, position[N_STEP_SIZES - 1], 2e-7,
               "%s, %s, K_min %d: position at h 2.5e-5 s, m", problem->name, method->law,
               method->min_iterations);
  report_check(report, velocity[N_STEP_SIZES - 1], 0.01 * SPEED,
               "%s, %s, K_min %d: velocity at h 2.5e-5 s, m/s", problem->name, method->law,
               method->min_iterations);
  for (int i = 0; i < 2; i++) {
    report_check(report, fabs(slope[i] - 1.0), 0.15,
                 "%s, %s, K_min %d: slope of the error in %s minus 1", problem->name, method->law,
                 method->min_iterations, i == 0 ? "position" : "velocity");
  }
  return true;
}

// Relative to the wave, only the spatial error remains.
static bool refine_space(Report* report) {
  static const int cells[] = {4, 16, 64};
  static const double bound[] = {5e-6, 2.5e-6, 1.2e-6};
  static Track got[MAX_STEPS];
  const double h = 2.5e-5;
  const Method method = {"corotated_linear", "backward_euler", "augmented_lagrangian", DELTA, 2};
  int n = report->quick ? 1 : 3;
  report_table(report, "Mean error of both ends relative to the wave solution, h = 2.5e-5 s",
               "problem | cells along the bar | error, m");
  for (int p = 0; p < (report->quick ? 1 : 2); p++) {
    int steps = (int)lround(problems[p].end / h);
    for (int c = 0; c < n; c++) {
      if (!simulate(&problems[p], &method, cells[c], h, steps, NULL, got)) {
        return false;
      }
      double error = wave_error(&problems[p], h, steps, got);
      report_row(report, "%s | %d | %.2e", problems[p].name, cells[c], error);
      report_check(report, error, bound[c], "%s: wave solution, %d cells, m", problems[p].name,
                   cells[c]);
    }
    // of the finest bar
    report_plot(report, p == 0 ? "bar_velocity" : "bar_gravity", "time, ms", "height, micrometres",
                AXES_LINEAR);
    for (int end = 0; end < 2; end++) {
      report_series(report, "theory", "wave, %s", end == 0 ? "foot" : "head");
      for (int k = 0; k <= 200; k++) {
        double t = problems[p].end * k / 200;
        report_point(report, 1e3 * t, 1e6 * wave_displacement(&problems[p], end * LENGTH, t));
      }
      report_series(report, "points", "%s, %d cells", end == 0 ? "foot" : "head", cells[n - 1]);
      for (int k = 39; k < steps; k += 40) {
        report_point(report, 1e3 * (k + 1) * h, 1e6 * got[k].position[end]);
      }
    }
  }
  return true;
}

bool validate_bar(Report* report) {
  static const struct {
    int problem;
    Method method;
    bool quick;
  } rows[] = {
      {0, {"corotated_linear", "backward_euler", "augmented_lagrangian", DELTA, 2}, true},
      {0, {"neo_hookean", "backward_euler", "augmented_lagrangian", DELTA, 2}, false},
      {1, {"corotated_linear", "backward_euler", "augmented_lagrangian", DELTA, 2}, true},
      {1, {"stvk", "backward_euler", "augmented_lagrangian", DELTA, 2}, false},
      {0, {"corotated_linear", "backward_euler", "augmented_lagrangian", DELTA, 25}, false},
  };
  enum { N = sizeof rows / sizeof *rows };
  double slope[2], position[N][N_STEP_SIZES];
  report_table(report, "Mean error of both ends relative to the semi-discrete solution, 4 cells",
               "problem | law | K_min | h, s | position, m | slope | velocity, m/s | slope");
  for (int r = 0; r < N; r++) {
    if ((!report->quick || rows[r].quick) &&
        !run_series(report, &problems[rows[r].problem], &rows[r].method, slope, position[r])) {
      return false;
    }
  }
  if (!report->quick) {
    report_plot(report, "bar_order", "h, s", "mean error of the position, m", AXES_LOG_LOG);
    for (int r = 0; r < N; r++) {
      report_series(report, "both", "%s, %s, K_min %d", problems[rows[r].problem].name,
                    rows[r].method.law, rows[r].method.min_iterations);
      for (int k = 0; k < N_STEP_SIZES; k++) {
        report_point(report, step_size[k], position[r][k]);
      }
    }
    report_series(report, "theory", "first order");
    report_point(report, 1e-4, 4e-7);
    report_point(report, 2.5e-5, 1e-7);
  }
  return refine_space(report);
}

// ---- restitution --------------------------------------------------------------------------------

// Mean velocity after the impact divided by that before. In theory the bar rebounds without
// vibration, with all of its speed.
static bool rebound(const Method* method, int cells, double h, double* restitution) {
  Run run;
  double v[3] = {0.0};
  bool good = start(&run, &problems[0], method, cells, h);
  int steps = (int)lround(problems[0].end / h);
  for (int n = 0; n < steps && good; n++) {
    good = run_step(&run);
  }
  if (good) {
    run_velocity(&run, 0, v);
  }
  *restitution = v[1] / SPEED;
  run_end(&run);
  return good;
}

enum { N_INTEGRATORS = 5 };

bool validate_restitution(Report* report) {
  static const char* const integrators[N_INTEGRATORS] = {"backward_euler", "bdf2", "sdirk2",
                                                         "tr_bdf2", "trapezoidal"};
  static const double h[] = {1e-3, 2e-4, 5e-5};
  // the trapezoidal rule counts a contact force that exists at one instant in two steps: no bound
  static const double bound[N_INTEGRATORS][3] = {{0.4, 0.2, 0.1},
                                                 {0.2, 0.1, 0.1},
                                                 {0.2, 0.1, 0.1},
                                                 {0.2, 0.1, 0.1},
                                                 {INFINITY, INFINITY, INFINITY}};
  const int cells = 64;
  double got[2][N_INTEGRATORS][3];
  report_table(report, "Coefficient of restitution of the bar, 64 cells; theory: 1",
               "solver | integrator | h = 1 ms | h = 0.2 ms | h = 0.05 ms");
  for (int s = 0; s < (report->quick ? 1 : 2); s++) {
    Method method = {"corotated_linear", "", s == 0 ? "projected_newton" : "augmented_lagrangian",
                     s == 0 ? 2e-6 : DELTA, 0};
    for (int i = 0; i < (report->quick ? 1 : N_INTEGRATORS); i++) {
      method.integrator = integrators[i];
      for (int k = 0; k < (report->quick ? 2 : 3); k++) {
        if (!rebound(&method, cells, h[k], &got[s][i][k])) {
          return false;
        }
      }
      if (!report->quick) {
        report_row(report, "%s | %s | %.4f | %.4f | %.4f", method.solver, integrators[i],
                   got[s][i][0], got[s][i][1], got[s][i][2]);
      }
      for (int k = 0; k < (report->quick ? 2 : 3); k++) {
        report_check(report, fabs(got[s][i][k] - 1.0), bound[i][k],
                     "restitution minus 1, %s, %s, h %g s", method.solver, integrators[i], h[k]);
      }
    }
  }
  return true;
}
