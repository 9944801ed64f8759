// A stack of ten boxes for 10 s: it stands, and settles under its own weight like a column,
// by rho g H^2 / (2 E).
#include "cases.h"
#include "run.h"

#include <math.h>

enum { N_BOXES = 10, MAX_STEPS = 1000 };
#define SIZE 0.1
#define YOUNG 1e6
#define DENSITY 1000.0
#define GRAVITY 9.81

typedef struct Stack {
  double sink;   // m, of the centre of the uppermost box, gaps taken out
  double weight; // N, the force of the floor
  double drift;  // m, largest horizontal way of a centre
  double speed;  // m/s, largest at the end
  double height[MAX_STEPS];
} Stack;

// The centre of the top box sinks by the compression of the column below it.
static double theory(void) {
  const double height = N_BOXES * SIZE, centre = height - 0.5 * SIZE;
  return DENSITY * GRAVITY / YOUNG * (height * centre - 0.5 * centre * centre);
}

static void measure(Run* run, Stack* stack) {
  double centre[3], gaps = 0.0;
  for (int b = 0; b < N_BOXES; b++) {
    run_centre(run, b, centre);
    stack->drift = report_worse(stack->drift, hypot(centre[0], centre[2]));
    // half-spaces are numbered after the bodies
    gaps += run_pair(run, b, b == 0 ? N_BOXES : b - 1).min_distance;
  }
  stack->sink = (N_BOXES - 0.5) * SIZE + gaps - centre[1];
  stack->weight = fabs(run_pair(run, 0, N_BOXES).normal[1]);
  stack->speed = run->report.max_speed;
}

static bool stand(const char* solver, int cells, double h, double end, Stack* stack) {
  Run run;
  Settings settings = {0};
  int steps = (int)lround(end / h);
  set(&settings, "solver.method", "%s", solver);
  set(&settings, "bodies[0].mesh.box.cells", "[%d, %d, %d]", cells, cells, cells);
  set(&settings, "time.step", "%.17g", h);
  bool good = run_start(&run, "stack", &settings);
  for (int n = 0; n < steps && good; n++) {
    double centre[3];
    good = run_step(&run);
    run_centre(&run, N_BOXES - 1, centre);
    stack->height[n] = centre[1];
  }
  if (good) {
    stack->drift = 0.0;
    measure(&run, stack);
  }
  run_end(&run);
  return good;
}

static const struct {
  const char* solver;
  int cells;
  double h;
  double bound; // of the settlement, relative
  bool quick;
} rows[] = {
    {"projected_newton", 1, 0.02, 0.01, true},
    {"projected_newton", 2, 0.02, 0.01, false},
    {"projected_newton", 1, 0.01, 0.01, false},
    {"augmented_lagrangian", 1, 0.02, 0.01, false},
};
enum { N = sizeof rows / sizeof *rows };

static void plot_stack(Report* report, const Stack* stack, double end) {
  report_plot(report, "stack", "time, s", "height of the top centre, m", AXES_LINEAR);
  for (int r = 0; r < N; r += N - 1) {
    report_series(report, "line", "%s", rows[r].solver);
    for (int n = 0; n < (int)lround(end / rows[r].h); n += n < 50 ? 1 : 10) {
      report_point(report, (n + 1) * rows[r].h, stack[r].height[n]);
    }
  }
}

bool validate_stack(Report* report) {
  static Stack stack[N];
  const double weight = N_BOXES * pow(SIZE, 3) * DENSITY * GRAVITY;
  double end = report->quick ? 1.0 : 10.0, want = theory();
  char title[100];
  snprintf(title, sizeof title,
           "Stack of ten boxes after %g s; theory: the top centre sinks by %.4f mm", end,
           1e3 * want);
  report_table(
      report, title,
      "solver | cells along an edge | h, s | settlement, mm | error | floor force / weight | "
      "drift, m | maximum speed, m/s");
  for (int r = 0; r < N; r++) {
    const Stack* s = &stack[r];
    if (report->quick && !rows[r].quick) {
      continue;
    }
    if (!stand(rows[r].solver, rows[r].cells, rows[r].h, end, &stack[r])) {
      return false;
    }
    report_row(report, "%s | %d | %g | %.4f | %+.2f %% | %.6f | %.1e | %.1e", rows[r].solver,
               rows[r].cells, rows[r].h, 1e3 * s->sink, 100.0 * (s->sink / want - 1.0),
               s->weight / weight, s->drift, s->speed);
    report_check(report, fabs(s->sink / want - 1.0), rows[r].bound,
                 "settlement, %s, %d cells, h %g s, relative", rows[r].solver, rows[r].cells,
                 rows[r].h);
    report_check(report, fabs(s->weight / weight - 1.0), 1e-3,
                 "floor force, %s, %d cells, h %g s, relative", rows[r].solver, rows[r].cells,
                 rows[r].h);
    report_check(report, s->drift, 5e-3, "drift, %s, %d cells, h %g s, m", rows[r].solver,
                 rows[r].cells, rows[r].h);
  }
  if (!report->quick) {
    plot_stack(report, stack, end);
  }
  return true;
}
