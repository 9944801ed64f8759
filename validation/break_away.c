// Break-away: a tangential load on a block, and a pull at a bar in a grip, grow slowly past mu N.
// All contacts slide as soon as the load exceeds mu N, and friction is mu N from then on. A block
// on a slope beyond its limit accelerates, and a bar slips if its grip is weaker than m g / (2 mu).
#include "cases.h"
#include "run.h"

#include <math.h>

#define NEAR 0.99      // of mu N, where the slow part of the ramp begins
#define INCREMENT 5e-4 // of mu N: of the load in PACE
#define RAMP 1.6       // s, until the slow part begins
#define PACE 0.02      // s, or a step

#define GRAVITY 9.80665
#define BLOCK_MU 0.5
#define BLOCK_MASS 0.5   // kg
#define BLOCK_UP 0.02515 // m, of its centre

#define GRIP_MU 0.7     // of validation/scenes/grip.json
#define GRIP_FORCE 13.0 // N, of each pad
#define GRIP_MASS 4.5   // kg, of a bar that is heavier than that of the scene: it moves slowly

// ---- loads that grow ----------------------------------------------------------------------------

typedef struct Pull {
  bool grip;
  double young, h;
  int cells;      // of the block, along x; of the bar, along y
  double turn[2]; // deg, of all about x, and before that of the block about its normal
  const char *solver, *friction, *model;
} Pull;

typedef struct Away {
  double load;     // over mu N, at which it breaks away
  double friction; // over mu N, at the end
  double balance;  // over mu N: load less inertia, mean of the last 0.04 s or two steps
  double newton;   // iterations a step
} Away;

static double pace_of(double h) {
  return fmax(h, PACE);
}

// The load over mu N at the time t, as the scene has it.
static double load_of(double h, double t) {
  double u = fmin(fmax((t - 0.5) / (RAMP - 0.6), 0.0), 1.0);
  return NEAR * u * u * (3.0 - 2.0 * u) + fmax(t - RAMP, 0.0) / pace_of(h) * INCREMENT;
}

static void load_text(double h, double unit, char text[SETTING_LENGTH]) {
  snprintf(text, SETTING_LENGTH, "%.12g*(%g*smoothstep(0.5,%g,t)+%.12g*max(t-%g,0))", unit, NEAR,
           RAMP - 0.1, INCREMENT / pace_of(h), RAMP);
}

// Floor, gravity and the load along z turn about x; the block has turned about its normal before.
static void set_block(const Pull* of, Settings* settings) {
  double c = cos(of->turn[0] * PI / 180.0), s = sin(of->turn[0] * PI / 180.0);
  char up[SETTING_LENGTH], along[SETTING_LENGTH];
  load_text(of->h, -s * BLOCK_MU * GRAVITY, up);
  load_text(of->h, c * BLOCK_MU * GRAVITY, along);
  set(settings, "bodies[0].rotate", "[%g, %g, 0]", of->turn[0], of->turn[1]);
  set(settings, "bodies[0].translate", "[0, %.17g, %.17g]", c * BLOCK_UP, s * BLOCK_UP);
  set(settings, "bodies[0].mesh.box.cells", "[%d, %d, %d]", of->cells, (of->cells + 1) / 2,
      of->cells);
  set(settings, "half_spaces[0].normal", "[0, %.17g, %.17g]", c, s);
  set(settings, "gravity", "[0, %.17g, %.17g]", -c * GRAVITY, -s * GRAVITY);
  set(settings, "forces[0].acceleration", "[0, \"%s\", \"%s\"]", up, along);
  set(settings, "friction.coefficient", "%g", BLOCK_MU);
}

// Pads opposite the centre of mass: else friction carries a moment, too, and the bar slips earlier.
static void centre_pads(Settings* settings) {
  set(settings, "bodies[1].translate", "[-0.0151, 0.001, 0]");
  set(settings, "bodies[2].translate", "[0.0151, 0.001, 0]");
}

static void set_grip(const Pull* of, Settings* settings) {
  char along[SETTING_LENGTH];
  centre_pads(settings);
  load_text(of->h, -2.0 * GRIP_MU * GRIP_FORCE / GRIP_MASS, along);
  set(settings, "forces[0].acceleration", "[0, \"%s\", 0]", along);
  set(settings, "bodies[0].mesh.box.cells", "[%d, %d, %d]", (of->cells + 1) / 2, of->cells,
      of->cells);
  set(settings, "bodies[0].material.density", "%g", GRIP_MASS / (0.02 * 0.05 * 0.045));
}

typedef struct Sums {
  double friction, normal; // N
} Sums;

// The forces that act on the body in the last step.
static Sums forces_now(Run* run, const Pull* of) {
  double friction[3] = {0.0};
  Sums sums = {0};
  for (int b = 1; b < (of->grip ? 3 : 2); b++) {
    NoliPairForce pair = run_pair(run, 0, b);
    sums.normal += hypot(hypot(pair.normal[0], pair.normal[1]), pair.normal[2]);
    for (int k = 0; k < 3; k++) {
      friction[k] += pair.friction[k];
    }
  }
  sums.friction = hypot(hypot(friction[0], friction[1]), friction[2]);
  return sums;
}

static double unit_of(const Pull* of) {
  return of->grip ? 2.0 * GRIP_MU * GRIP_FORCE / GRIP_MASS : BLOCK_MU * GRAVITY;
}

static double speed_now(const Run* run) {
  double v[3];
  run_velocity(run, 0, v);
  return hypot(hypot(v[0], v[1]), v[2]);
}

// By how much the load over mu N has grown since the body began to slide, from its speed: a load
// that exceeds friction by k mu N t, t in whole steps, gives it the speed
// k mu N / m t (t + h) / 2.
static double excess_now(const Run* run, const Pull* of) {
  double k = INCREMENT / pace_of(of->h), s = speed_now(run) / (unit_of(of) * k);
  return k * (sqrt(2.0 * s + 0.25 * of->h * of->h) - 0.5 * of->h);
}

static bool pull(const Pull* of, Away* result) {
  Run run;
  Settings settings = {0};
  for (int b = 0; b < (of->grip ? 3 : 1); b++) {
    char path[SETTING_LENGTH];
    // what presses a body widens it, and friction against that is part of mu N
    snprintf(path, sizeof path, "bodies[%d].material.poisson", b);
    set(&settings, path, "0");
    snprintf(path, sizeof path, "bodies[%d].material.young", b);
    set(&settings, path, "%g", of->young);
  }
  set(&settings, "time.step", "%.17g", of->h);
  set(&settings, "friction.law", "stick");
  set(&settings, "friction.method", "%s", of->friction);
  set(&settings, "solver.method", "%s", of->solver);
  set(&settings, "contact.model", "%s", of->model);
  if (of->grip) {
    set_grip(of, &settings);
  } else {
    set_block(of, &settings);
  }
  double end = of->grip ? 1.003 : 1.01; // of mu N
  int n_step = (int)ceil((RAMP + (end - NEAR) / INCREMENT * pace_of(of->h)) / of->h);
  bool good = run_start(&run, of->grip ? "grip" : "sliding", &settings);
  int n_last = (int)lround(fmax(0.04 / of->h, 2.0));
  double speed = 0.0, load = 0.0;
  for (int n = 1; n <= n_step && good; n++) {
    good = run_step(&run);
    speed = n == n_step - n_last ? speed_now(&run) : speed;
    load += n > n_step - n_last ? load_of(of->h, n * of->h) / n_last : 0.0;
  }
  result->load = load_of(of->h, n_step * of->h) - excess_now(&run, of);
  result->balance = load - (speed_now(&run) - speed) / (n_last * of->h * unit_of(of));
  Sums sums = forces_now(&run, of);
  double normal = of->grip ? 2.0 * GRIP_FORCE : BLOCK_MASS * GRAVITY;
  result->friction = sums.friction / (sums.normal * (of->grip ? GRIP_MU : BLOCK_MU));
  // friction on a surface of rubber that has turned a little carries a part of the load of a pad
  result->balance *= normal / sums.normal;
  result->newton = (double)run.newton / n_step;
  run_end(&run);
  return good;
}

#define PLAIN "projected_newton", "lagged", "ipc"

static bool pull_row(Report* report, const Pull* of) {
  Away got;
  if (!pull(of, &got)) {
    return false;
  }
  const char* what = of->grip ? "grip" : "block";
  report_row(report, "%s | %g | %g | %d | %g, %g | %s, %s, %s | %.5f | %.5f | %.4f | %.2f", what,
             of->young, of->h, of->cells, of->turn[0], of->turn[1], of->solver, of->friction,
             of->model, got.friction, got.balance, got.load, got.newton);
  double error = report_worse(fabs(got.friction - 1.0), fabs(got.balance - 1.0));
  // softer pads and bars tilt, which turns friction, and slip at the edges of pads before the rest
  error = of->young < 1e7 && of->grip ? fabs(got.friction - 1.0) : error;
  error = of->grip ? error : report_worse(error, fabs(got.load - 1.0));
  report_check(report, error, 1e-3,
               "%s, E %g Pa, h %g s, %d cells, turned by %g and %g deg, %s, %s, %s", what,
               of->young, of->h, of->cells, of->turn[0], of->turn[1], of->solver, of->friction,
               of->model);
  return true;
}

bool validate_break_away(Report* report) {
  static const Pull rows[] = {
      {false, 1e7, 0.01, 4, {0.0, 0.0}, PLAIN},
      {false, 1e7, 0.001, 4, {0.0, 0.0}, PLAIN},
      {false, 1e7, 0.04, 4, {0.0, 0.0}, PLAIN},
      {false, 1e4, 0.01, 4, {0.0, 0.0}, PLAIN},
      {false, 1e4, 0.001, 4, {0.0, 0.0}, PLAIN},
      {false, 1e4, 0.04, 4, {0.0, 0.0}, PLAIN},
      {false, 1e5, 0.01, 4, {0.0, 0.0}, PLAIN},
      {false, 1e9, 0.01, 4, {0.0, 0.0}, PLAIN},
      {false, 1e9, 0.001, 4, {0.0, 0.0}, PLAIN},
      {false, 1e9, 0.04, 4, {0.0, 0.0}, PLAIN},
      {false, 1e7, 0.01, 1, {0.0, 0.0}, PLAIN},
      {false, 1e7, 0.01, 2, {0.0, 0.0}, PLAIN},
      {false, 1e7, 0.01, 6, {0.0, 0.0}, PLAIN},
      {false, 1e7, 0.01, 9, {0.0, 0.0}, PLAIN},
      {false, 1e7, 0.01, 4, {30.0, 0.0}, PLAIN},
      {false, 1e7, 0.01, 4, {0.0, 30.0}, PLAIN},
      {false, 1e7, 0.01, 4, {30.0, 30.0}, PLAIN},
      {false, 1e7, 0.01, 4, {30.0, 30.0}, "projected_newton", "lagged", "gcp"},
      {false, 1e7, 0.01, 4, {30.0, 30.0}, "implicit_newton", "implicit", "ipc"},
      {false, 1e7, 0.01, 4, {30.0, 30.0}, "augmented_lagrangian", "lagged", "ipc"},
      {true, 1e6, 0.01, 3, {0.0, 0.0}, PLAIN},
      {true, 1e7, 0.01, 3, {0.0, 0.0}, PLAIN},
      {true, 1e9, 0.01, 3, {0.0, 0.0}, PLAIN},
      {true, 1e7, 0.001, 3, {0.0, 0.0}, PLAIN},
      {true, 1e7, 0.04, 3, {0.0, 0.0}, PLAIN},
      {true, 1e7, 0.01, 5, {0.0, 0.0}, PLAIN},
      {true, 1e7, 0.01, 3, {0.0, 0.0}, "implicit_newton", "implicit", "ipc"},
      {true, 1e7, 0.01, 3, {0.0, 0.0}, "augmented_lagrangian", "lagged", "ipc"},
  };
  report_table(
      report, "A tangential load that grows slowly past mu N",
      "what | E, Pa | h, s | cells | turned, deg | solver | friction / mu N | load less inertia "
      "/ mu N | load / mu N at which motion began, from the speed | Newton iterations a step");
  for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
    if ((!report->quick || r == 0) && !pull_row(report, &rows[r])) {
      return false;
    }
  }
  return true;
}

// ---- limits -------------------------------------------------------------------------------------

typedef struct Way {
  const char *solver, *friction, *model;
  double h;
} Way;

static void use_way(const Way* way, Settings* settings) {
  set(settings, "time.step", "%.17g", way->h);
  set(settings, "friction.law", "stick");
  set(settings, "friction.method", "%s", way->friction);
  set(settings, "solver.method", "%s", way->solver);
  set(settings, "contact.model", "%s", way->model);
}

#define ALONG 3.354072 // m/s^2 of validation/scenes/sliding.json: a slope of 20 degrees
#define ACROSS 9.215239

// The acceleration of a block on a slope whose tangent is `ratio` times the coefficient, from 10 s
// to 20 s, over that of Coulomb.
static bool accelerate(const Way* way, double ratio, double* result) {
  Run run;
  Settings settings = {0};
  double mu = ALONG / ACROSS / ratio, before[3] = {0.0}, after[3] = {0.0};
  use_way(way, &settings);
  set(&settings, "friction.coefficient", "%.17g", mu);
  int last = (int)lround(20.0 / way->h);
  bool good = run_start(&run, "sliding", &settings);
  for (int n = 1; n <= last && good; n++) {
    good = run_step(&run);
    if (n == last / 2) {
      run_velocity(&run, 0, before);
    }
  }
  if (good) {
    run_velocity(&run, 0, after);
    *result = (after[0] - before[0]) / (way->h * (last - last / 2)) / (ALONG - mu * ACROSS);
  }
  run_end(&run);
  return good;
}

// How far the bar has slid after 1.4 s in a grip whose pads press with `ratio` m g / (2 mu); loads
// have their values from 0.8 s on.
static bool slips_by(const Way* way, double ratio, double* result) {
  Run run;
  Settings settings = {0};
  double force = ratio * 0.045 * GRAVITY / (2.0 * GRIP_MU);
  use_way(way, &settings);
  centre_pads(&settings);
  set(&settings, "forces[1].total", "[\"%.17g*min(5*t, 1)\", 0, 0]", force);
  set(&settings, "forces[2].total", "[\"-%.17g*min(5*t, 1)\", 0, 0]", force);
  int last = (int)lround(1.4 / way->h);
  bool good = run_start(&run, "grip", &settings);
  for (int n = 1; n <= last && good; n++) {
    good = run_step(&run);
  }
  *result = run.report.slid;
  run_end(&run);
  return good;
}

static bool limit_rows(Report* report, const Way* way) {
  static const double ratios[] = {0.99, 0.997, 1.003, 1.01};
  for (int r = 0; r < 4; r++) {
    double moved;
    if (report->quick && r != 1 && r != 2) {
      continue;
    }
    if (!slips_by(way, ratios[r], &moved)) {
      return false;
    }
    bool slips = moved > 1e-4; // single contacts slide by a micrometre as loads grow
    report_row(report, "%s | %s | %s | %g | %g | %.2g | %s", way->solver, way->friction, way->model,
               way->h, ratios[r], moved, slips ? "slips" : "holds");
    report_check(report, slips == (ratios[r] < 1.0) ? 0.0 : 1.0, 0.0,
                 "a grip of %g m g / (2 mu), %s, %s, %s, h %g s, wrong", ratios[r], way->solver,
                 way->friction, way->model, way->h);
  }
  return true;
}

bool validate_slip_limit(Report* report) {
  static const Way ways[] = {
      {PLAIN, 0.01},
      {PLAIN, 0.04},
      {PLAIN, 1e-3},
      {"implicit_newton", "implicit", "ipc", 0.01},
      {"augmented_lagrangian", "lagged", "ipc", 0.01},
      {"projected_newton", "lagged", "gcp", 0.01},
      {"implicit_newton", "implicit", "gcp", 0.01},
  };
  enum { N = sizeof ways / sizeof *ways };
  report_table(report,
               "A block on a slope whose tangent is 1.001 mu: acceleration over that of Coulomb",
               "solver | friction | model | h, s | ratio");
  for (int w = 0; w < (report->quick ? 1 : N); w++) {
    double ratio;
    if (!accelerate(&ways[w], 1.001, &ratio)) {
      return false;
    }
    report_row(report, "%s | %s | %s | %g | %.4f", ways[w].solver, ways[w].friction, ways[w].model,
               ways[w].h, ratio);
    report_check(report, fabs(ratio - 1.0), 0.01,
                 "acceleration at 1.001 of the limit, %s, %s, %s, h %g s, relative", ways[w].solver,
                 ways[w].friction, ways[w].model, ways[w].h);
  }
  report_table(report, "A bar of 45 g in a grip of a part of m g / (2 mu)",
               "solver | friction | model | h, s | force of a pad over m g / (2 mu) | moved from 1 "
               "to 1.4 s, m | it");
  for (int w = 0; w < (report->quick ? 1 : N); w++) {
    if (!limit_rows(report, &ways[w])) {
      return false;
    }
  }
  return true;
}
