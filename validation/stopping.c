// [Larionov2024] fig. 4: a block slides down a slope with just enough friction to stop it.
#include "cases.h"
#include "run.h"

#include <math.h>
#include <stdlib.h>

#define SPEED 0.1
#define MU 0.177

// The block has stopped in the middle of the first WINDOW seconds in which it moves less than
// CREEP: a sticking block creeps, and the trapezoidal rule lets it vibrate.
#define WINDOW 0.4
#define CREEP 8e-5
#define LONGEST 50.0

static const struct Method {
  const char *name, *method, *iterations;
} methods[] = {
    {"lagged once", "lagged", "1"},
    {"lagged until convergence", "lagged", "\"until_convergence\""},
    {"implicit", "implicit", "1"},
};
static const char* const integrators[] = {"backward_euler", "trapezoidal"};
static const char* const laws[] = {"stick", "velocity"};
static const double steps[] = {0.2, 0.1, 0.05, 0.025, 0.01};
enum { N_LAWS = 2, N_INTEGRATORS = 2, N_METHODS = 3, N_STEPS = 5 };

typedef struct Slide {
  double way;    // m, along the first velocity
  double time;   // s; infinite where it does not stop
  double newton; // iterations a step
} Slide;

// Steps until the centre of the block has stopped. `ways` has room for LONGEST / step + 2.
static bool follow(Run* run, double step, double* ways, Slide* result) {
  double v[3], begin[3], now[3];
  int64_t n = 0, window = (int64_t)lround(WINDOW / step), most = (int64_t)lround(LONGEST / step);
  run_velocity(run, 0, v);
  run_centre(run, 0, begin);
  double speed = sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
  ways[0] = 0.0;
  while (n < most && (n < window || ways[n] - ways[n - window] > CREEP)) {
    if (!run_step(run)) {
      return false;
    }
    run_centre(run, 0, now);
    ways[++n] = 0.0;
    for (int k = 0; k < 3; k++) {
      ways[n] += v[k] / speed * (now[k] - begin[k]);
    }
  }
  result->way = ways[n];
  result->time = n < most ? (double)n * step - 0.5 * WINDOW : (double)INFINITY;
  result->newton = (double)run->newton / (double)n;
  return true;
}

static bool slide(const char* law, const struct Method* method, const char* integrator, double step,
                  Slide* result) {
  Run run;
  Settings settings = {0};
  double* ways = malloc(sizeof *ways * (size_t)(LONGEST / step + 2.0));
  set(&settings, "friction.law", "%s", law);
  set(&settings, "friction.method", "%s", method->method);
  set(&settings, "friction.iterations", "%s", method->iterations);
  set(&settings, "time.integrator", "%s", integrator);
  set(&settings, "time.step", "%.17g", step);
  bool good = ways != NULL && run_start(&run, "examples/block_slide", &settings) &&
              follow(&run, step, ways, result);
  run_end(&run);
  free(ways);
  return good;
}

// Friction lagged once is first order in the step; with the trapezoidal rule and short steps it
// excites the normal force, and the result is not published.
static double bound_of(int method, int integrator, double step) {
  if (method > 0) {
    return 0.015;
  }
  return integrator == 1 && step < 0.02 ? (double)INFINITY : 0.75 * step;
}

typedef Slide Slides[N_LAWS][N_INTEGRATORS][N_METHODS][N_STEPS];

static double wanted_way(double* slows) {
  double angle = 10.0 * PI / 180.0;
  *slows = 9.81 * (MU * cos(angle) - sin(angle));
  return SPEED * SPEED / (2.0 * *slows);
}

// The rows of a law and an integrator; in a quick report only those without lagging, at the longest
// step.
static bool rows_of(Report* report, int law, int integrator, Slides result) {
  double slows, way = wanted_way(&slows), time = SPEED / slows;
  for (int m = report->quick ? 1 : 0; m < N_METHODS; m++) {
    for (int k = 0; k < (report->quick ? 1 : N_STEPS); k++) {
      Slide* r = &result[law][integrator][m][k];
      if (!slide(laws[law], &methods[m], integrators[integrator], steps[k], r)) {
        return false;
      }
      report_row(report, "%s | %s | %s | %g | %.4f | %+.1f %% | %.2f | %+.1f %% | %.1f",
                 integrators[integrator], methods[m].name, laws[law], steps[k], r->way,
                 100.0 * (r->way / way - 1.0), r->time, 100.0 * (r->time / time - 1.0), r->newton);
    }
  }
  return true;
}

static void checks_of(Report* report, int law, int integrator, Slides result) {
  double slows, way = wanted_way(&slows);
  for (int m = report->quick ? 1 : 0; m < N_METHODS; m++) {
    if (!report->quick && law == 0) {
      report_series(report, "both", "%s, %s", integrators[integrator], methods[m].name);
    }
    for (int k = 0; k < (report->quick ? 1 : N_STEPS); k++) {
      double error = fabs(result[law][integrator][m][k].way / way - 1.0);
      report_check(report, error, bound_of(m, integrator, steps[k]),
                   "distance, %s, friction %s, law %s, h %g s, relative", integrators[integrator],
                   methods[m].name, laws[law], steps[k]);
      if (!report->quick && law == 0) {
        report_point(report, steps[k], error);
      }
    }
  }
}

bool validate_stopping(Report* report) {
  static Slides result;
  int n_law = report->quick ? 1 : N_LAWS, n_integrator = report->quick ? 1 : N_INTEGRATORS;
  report_table(
      report, "Stopping distance and time of the block",
      "integrator | friction | law | h, s | distance, m | error | time, s | error | Newton "
      "iterations a step");
  for (int i = 0; i < n_integrator; i++) {
    for (int l = 0; l < n_law; l++) {
      if (!rows_of(report, l, i, result)) {
        return false;
      }
    }
  }
  if (!report->quick) {
    report_plot(report, "stopping", "h, s", "relative error of the distance", AXES_LOG_LOG);
  }
  for (int l = 0; l < n_law; l++) {
    for (int i = 0; i < n_integrator; i++) {
      checks_of(report, l, i, result);
    }
  }
  return true;
}
