// Friction that sticks holds: a grip, a pinch and a block on a slope for an hour, and how a block
// below its limit and beyond it moves.
#include "cases.h"
#include "run.h"

#include <math.h>
#include <string.h>

#define SETTLED 4.0 // s, when loads are constant and waves have decayed
#define HOUR 3600.0
#define TANGENT (3.354072 / 9.215239) // of validation/scenes/sliding.json
#define SLOPE 0.999                   // the tangent over the coefficient

typedef struct Hold {
  const char* scene;
  int axis; // of the load
  double h, end;
  const char* law;
} Hold;

// The movement of the held body from SETTLED to the end, m.
static bool hold(const Hold* of, double* creep, double* iterations) {
  Run run;
  Settings settings = {0};
  double from[3] = {0.0}, to[3] = {0.0};
  set(&settings, "time.step", "%.17g", of->h);
  set(&settings, "time.duration", "%.17g", of->end);
  set(&settings, "friction.law", "%s", of->law);
  if (of->end > 100.0) {
    set(&settings, "debug.audit", "false"); // 90,000 times the same state
  }
  if (strcmp(of->scene, "sliding") == 0) {
    set(&settings, "friction.coefficient", "%.17g", TANGENT / SLOPE);
  }
  int64_t first = llround(SETTLED / of->h), last = llround(of->end / of->h);
  bool good = run_start(&run, of->scene, &settings);
  for (int64_t n = 1; n <= last && good; n++) {
    good = run_step(&run);
    if (n == first) {
      run_centre(&run, 0, from);
    }
  }
  if (good) {
    run_centre(&run, 0, to);
    *creep = fabs(to[of->axis] - from[of->axis]);
    *iterations = (double)run.newton / (double)last;
  }
  run_end(&run);
  return good;
}

static bool hold_row(Report* report, const Hold* of) {
  double creep, iterations;
  if (!hold(of, &creep, &iterations)) {
    return false;
  }
  const char* name = strcmp(of->scene, "sliding") == 0 ? "slope" : of->scene;
  report_row(report, "%s | %s | %g | %g | %.2g | %.2g | %.2f", name, of->law, of->h, of->end, creep,
             1e6 * creep / (of->end - SETTLED), iterations);
  if (strcmp(of->law, "stick") == 0) {
    report_check(report, creep, 1e-9, "%s, creep until %g s, h %g s, m", name, of->end, of->h);
  }
  return true;
}

bool validate_holding(Report* report) {
  static const Hold scenes[] = {
      {"grip", 1, 0, 0, NULL}, {"pinch", 2, 0, 0, NULL}, {"sliding", 0, 0, 0, NULL}};
  static const struct {
    double h, end;
    const char* law;
    bool quick;
  } rows[] = {
      {0.04, HOUR, "stick", false},    {0.04, 20.0, "stick", true},
      {0.01, 20.0, "stick", false},    {1e-3, 20.0, "stick", false},
      {0.04, 20.0, "velocity", false}, {0.01, 20.0, "velocity", false},
  };
  report_table(report, "Movement of what friction holds after the first 4 s",
               "held by | law | h, s | until, s | movement, m | um/s | Newton iterations a step");
  for (int s = 0; s < 3; s++) {
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
      Hold of = scenes[s];
      of.h = rows[r].h;
      of.end = rows[r].end;
      of.law = rows[r].law;
      if ((!report->quick || rows[r].quick) && !hold_row(report, &of)) {
        return false;
      }
    }
  }
  return true;
}
