// Coulomb's law between open sheets that touch with smooth implicit surfaces: a sheet on a slope,
// and a strip that is pulled over a drum.
#include "cases.h"
#include "run.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char* solver_of(const char* friction) {
  return strcmp(friction, "implicit") == 0 ? "implicit_newton" : "projected_newton";
}

// ---- a sheet on a slope -------------------------------------------------------------------------

#define ALONG 3.354072 // m/s^2 of validation/scenes/sheets.json: a slope of 20 degrees
#define ACROSS 9.215239
#define FROM 0.8 // s, when the load is constant and the sheet has settled
#define TO 1.2

// The acceleration of the sheet, m/s^2, and the distance that it moves, m, both from FROM to TO.
typedef struct Slide {
  double acceleration, distance;
  int64_t newton; // iterations of all steps
} Slide;

static bool slide(const char* friction, double h, double mu, Slide* result) {
  Run run;
  Settings settings = {0};
  double from[3], to[3], before[3] = {0.0}, after[3] = {0.0};
  set(&settings, "friction.coefficient", "%.17g", mu);
  set(&settings, "friction.method", "%s", friction);
  set(&settings, "solver.method", "%s", solver_of(friction));
  set(&settings, "time.step", "%.17g", h);
  int first = (int)lround(FROM / h), last = (int)lround(TO / h);
  bool good = run_start(&run, "sheets", &settings);
  for (int n = 1; n <= last && good; n++) {
    good = run_step(&run);
    if (n == first) {
      run_velocity(&run, 0, before);
      run_centre(&run, 0, from);
    }
  }
  if (good) {
    run_velocity(&run, 0, after);
    run_centre(&run, 0, to);
    *result = (Slide){.acceleration = (after[0] - before[0]) / (TO - FROM),
                      .distance = to[0] - from[0],
                      .newton = run.newton};
  }
  run_end(&run);
  return good;
}

bool validate_sheet_slope(Report* report) {
  static const double ratios[] = {0.8, 0.95, 1.05}; // of mu and the tangent of the slope
  static const double steps[] = {5e-3, 4e-2};
  static const char* const methods[] = {"lagged", "implicit"};
  report_table(report, "Acceleration of a sheet on a fixed sheet, and the distance in 0.4 s",
               "friction | h, s | mu over the tangent | acceleration, m/s^2 | theory | error, % of "
               "g | distance, m | Newton iterations a step");
  for (int k = 0; k < 12; k++) {
    const char* friction = methods[k / 6];
    double h = steps[k / 3 % 2], ratio = ratios[k % 3], mu = ratio * ALONG / ACROSS;
    double want = fmax(0.0, ALONG - mu * ACROSS), g = hypot(ALONG, ACROSS);
    Slide result;
    if (report->quick && (h < 0.01 || ratio < 0.9)) {
      continue;
    }
    if (!slide(friction, h, mu, &result)) {
      return false;
    }
    report_row(report, "%s | %g | %g | %.4f | %.4f | %+.3f | %.2g | %.1f", friction, h, ratio,
               result.acceleration, want, 100.0 * (result.acceleration - want) / g, result.distance,
               (double)result.newton * h / TO);
    report_check(report, fabs(result.acceleration - want) / g, 1e-3,
                 "acceleration, %s, h %g s, mu %g of the tangent, over g", friction, h, ratio);
    if (ratio > 1.0) {
      report_check(report, fabs(result.distance), 1e-3, "drift while sticking, %s, h %g s, m",
                   friction, h);
    }
  }
  return true;
}

// ---- a strip over a drum ------------------------------------------------------------------------

#define RADIUS 0.1  // m, of the drum
#define WIDTH 0.02  // m, of the strip
#define LEG 0.06    // m, on both sides, straight
#define REACH 2e-3  // m, the contact distance
#define KAPPA 10.0  // N/m, so that the gap exceeds the height of the facets
#define START 4e-4  // m, from the drum to the strip
#define LOAD 0.2    // N, at the free end
#define SPEED 0.05  // m/s, of the pulled end
#define RAMP 0.1    // s, in which load and speed grow
#define SETTLED 0.3 // s, when averages begin
#define END 0.5
enum { AROUND = 120 }; // cells around the drum

typedef struct Capstan {
  double wrap, mu; // rad
  bool obstacle;   // the drum is an obstacle, which the penalty acts on, else a sheet
  const char* friction;
  double h;
} Capstan;

typedef struct Drum {
  Run run;
  NoliMesh *strip, *drum;
  NoliBodyDef body[2];
  NoliMotionDef motion[2];
  NoliForceDef load;
  NoliSimDef def;
  double wrap;
  int32_t* end[2]; // vertices of the free and of the pulled end
  int32_t n_end[2];
} Drum;

static double ramp(double t) {
  double u = fmin(t / RAMP, 1.0);
  return u * u * (3.0 - 2.0 * u);
}

// The direction of an end, away from the drum.
static void outward(double wrap, double sign, double direction[3]) {
  direction[0] = sign * cos(0.5 * wrap);
  direction[1] = 0.0;
  direction[2] = -sin(0.5 * wrap);
}

// The length along the strip becomes an arc around y and tangents at both its ends.
static void wind(double wrap, double p[3]) {
  double radius = RADIUS + START, s = p[0], sign = s < 0.0 ? -1.0 : 1.0, along[3];
  double angle = fmin(fabs(s) / radius, 0.5 * wrap), leg = fabs(s) - radius * angle;
  outward(wrap, sign, along);
  p[0] = sign * radius * sin(angle) + leg * along[0];
  p[2] = radius * cos(angle) + leg * along[2];
}

static void pull_down(void* user, double t, const double X[3], double value[3]) {
  (void)X;
  outward(((const Drum*)user)->wrap, -1.0, value);
  for (int k = 0; k < 3; k++) {
    value[k] *= LOAD * ramp(t);
  }
}

static void pull(void* user, double t0, double t1, int32_t n_node, const int32_t* node,
                 const double* X, const double* x_t0, double* x_t1) {
  (void)node;
  (void)X;
  double along[3], way = SPEED * ramp(t1) * (t1 - t0);
  outward(((const Drum*)user)->wrap, 1.0, along);
  for (int32_t k = 0; k < 3 * n_node; k++) {
    x_t1[k] = x_t0[k] + way * along[k % 3];
  }
}

// Its cells are shorter than those of the drum, and not a whole fraction of them.
static bool build_strip(Drum* drum) {
  double length = (RADIUS + START) * drum->wrap + 2.0 * LEG;
  if (noli_mesh_make_sheet(drum->run.context, length, WIDTH,
                           (int32_t)lround(AROUND * length / 0.45), 2, "alternating",
                           &drum->strip) != NOLI_OK) {
    return false;
  }
  NoliMesh* strip = drum->strip;
  for (int e = 0; e < 2; e++) {
    drum->end[e] = malloc(sizeof *drum->end[e] * (size_t)strip->n_vert);
    for (int32_t i = 0; drum->end[e] != NULL && i < strip->n_vert; i++) {
      bool there = fabs(strip->x[3 * i] - (e - 0.5) * length) < 1e-9;
      drum->end[e][drum->n_end[e]] = i;
      drum->n_end[e] += there ? 1 : 0;
    }
  }
  for (int32_t i = 0; i < strip->n_vert; i++) {
    wind(drum->wrap, strip->x + 3 * (int64_t)i);
  }
  return drum->end[0] != NULL && drum->end[1] != NULL;
}

static void define_bodies(Drum* drum, bool obstacle) {
  for (int b = 0; b < 2; b++) {
    drum->body[b] = noli_default_body_def();
    drum->body[b].name = b == 0 ? "strip" : "drum";
    drum->body[b].mesh = b == 0 ? drum->strip : drum->drum;
    drum->body[b].self_contact = false;
    drum->body[b].material =
        (NoliMaterialDef){.law = "stvk", .young = 1e8, .poisson = 0.0, .density = 1000.0};
    drum->body[b].shell.thickness = 1e-4;
    drum->motion[b] = noli_default_motion_def();
    drum->motion[b].body = b;
  }
  drum->motion[0].node = drum->end[1];
  drum->motion[0].n_node = drum->n_end[1];
  drum->motion[0].target = pull;
  drum->motion[0].user = drum;
  drum->load = noli_default_force_def();
  drum->load.node = drum->end[0];
  drum->load.n_node = drum->n_end[0];
  drum->load.kind = "total";
  drum->load.value = pull_down;
  drum->load.user = drum;
  if (obstacle) {
    drum->body[1].obstacle = true;
    drum->body[1].shell.thickness = 0.0;
  }
}

// A sheet is held by a motion, and audited.
static void define(Drum* drum, const Capstan* of) {
  define_bodies(drum, of->obstacle);
  drum->def = noli_default_sim_def();
  drum->def.bodies = drum->body;
  drum->def.n_bodies = 2;
  drum->def.motions = drum->motion;
  drum->def.n_motions = of->obstacle ? 1 : 2;
  drum->def.forces = &drum->load;
  drum->def.n_forces = 1;
  drum->def.gravity[1] = 0.0;
  drum->def.contact_model = "implicit_surface";
  drum->def.contact_distance = (NoliScaled){REACH, false};
  drum->def.barrier_stiffness = KAPPA;
  drum->def.friction = of->mu;
  drum->def.friction_method = of->friction;
  drum->def.solver = solver_of(of->friction);
  drum->def.time_step = of->h;
  drum->def.audit = of->obstacle ? "off" : "every_step";
}

static bool build(Drum* drum, const Capstan* of) {
  drum->wrap = of->wrap;
  if (!run_context(&drum->run) || !build_strip(drum) ||
      noli_mesh_make_tube(drum->run.context, RADIUS, 2.0 * WIDTH, AROUND, 4, &drum->drum) !=
          NOLI_OK) {
    return false;
  }
  define(drum, of);
  return run_start_def(&drum->run, &drum->def);
}

// The force of the pulled end over that of the free end.
static bool capstan(const Capstan* of, double* ratio, double* iterations) {
  Drum drum = {0};
  int n_step = (int)lround(END / of->h), n_mean = 0;
  bool good = build(&drum, of);
  double along[3], mean = 0.0;
  outward(of->wrap, 1.0, along);
  for (int n = 1; n <= n_step && good; n++) {
    NoliReaction reaction = {.force = {0.0}};
    good = run_step(&drum.run) && noli_sim_reaction(drum.run.sim, 0, NULL, &reaction) == NOLI_OK;
    if (n * of->h > SETTLED) {
      mean += reaction.force[0] * along[0] + reaction.force[2] * along[2];
      n_mean++;
    }
  }
  *ratio = mean / n_mean / LOAD;
  *iterations = (double)drum.run.newton / n_step;
  noli_sim_destroy(&drum.run.sim);
  noli_mesh_destroy(drum.run.context, &drum.strip);
  noli_mesh_destroy(drum.run.context, &drum.drum);
  run_end(&drum.run);
  free(drum.end[0]);
  free(drum.end[1]);
  return good;
}

bool validate_capstan(Report* report) {
  static const struct {
    Capstan of;
    bool quick;
  } rows[] = {
      {{PI / 2.0, 0.3, false, "lagged", 0.02}, true},
      {{PI / 2.0, 0.3, false, "implicit", 0.01}, false},
      {{PI, 0.1, false, "implicit", 0.01}, false},
      {{PI, 0.3, false, "implicit", 0.01}, false},
      {{PI, 0.5, false, "implicit", 0.01}, false},
      {{PI, 0.3, false, "implicit", 0.02}, false},
      {{PI, 0.3, false, "lagged", 0.01}, false},
      {{PI, 0.3, false, "lagged", 0.02}, false},
      {{PI, 0.3, true, "implicit", 0.01}, false},
      {{PI, 0.3, true, "lagged", 0.01}, false},
  };
  enum { N = sizeof rows / sizeof *rows };
  report_table(report, "Force on the pulled end over that on the free end",
               "drum | wrap, deg | mu | friction | h, s | ratio | exp(mu wrap) | error | Newton "
               "iterations a step");
  for (int r = 0; r < N; r++) {
    const Capstan* of = &rows[r].of;
    double ratio, iterations, want = exp(of->mu * of->wrap);
    if (report->quick && !rows[r].quick) {
      continue;
    }
    if (!capstan(of, &ratio, &iterations)) {
      return false;
    }
    const char* drum = of->obstacle ? "obstacle" : "sheet";
    double degrees = of->wrap * 180.0 / PI;
    report_row(report, "%s | %.0f | %g | %s | %g | %.4f | %.4f | %+.2f %% | %.1f", drum, degrees,
               of->mu, of->friction, of->h, ratio, want, 100.0 * (ratio / want - 1.0), iterations);
    report_check(report, fabs(ratio / want - 1.0), 0.02,
                 "ratio, %s, %.0f degrees, mu %g, %s, h %g s, relative", drum, degrees, of->mu,
                 of->friction, of->h);
  }
  return true;
}
