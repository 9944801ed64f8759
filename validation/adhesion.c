// Adhesion: a stiff block pulled off a floor, a stiff ball, and a tape that is peeled.
#include "cases.h"
#include "run.h"

#include "noli/live.h"

#include <math.h>
#include <stdlib.h>

#define WORK 0.05     // J/m^2
#define RANGE 1e-3    // m
#define DISTANCE 1e-4 // m
#define STRENGTH (16.0 / 9.0 * WORK / RANGE)

// A body above a half-space whose vertices all stand at the gap `gap` beyond the contact distance,
// and the pull on it.
static bool pull_on(NoliMesh* (*make)(NoliContext* context, double size), double size, double lift,
                    double gap, double* force) {
  Run run = {0};
  NoliHalfSpaceDef floor = noli_default_half_space_def();
  NoliBodyDef body = noli_default_body_def();
  NoliMotionDef still = noli_default_motion_def();
  NoliSimDef def = noli_default_sim_def();
  NoliMesh* mesh = NULL;
  bool good = run_context(&run) && (mesh = make(run.context, size)) != NULL;
  if (good) {
    const double unit[3] = {1, 1, 1}, none[3] = {0, 0, 0};
    noli_mesh_transform(mesh, unit, none, (double[]){0.0, lift + DISTANCE + gap, 0.0});
    body.mesh = mesh;
    body.self_contact = false;
    body.shell.thickness = mesh->n_tet == 0 ? 1e-3 : 0.0;
    def.bodies = &body;
    def.n_bodies = 1;
    def.half_spaces = &floor;
    def.n_half_spaces = 1;
    def.motions = &still;
    def.n_motions = 1;
    def.gravity[1] = 0.0;
    def.contact_distance = (NoliScaled){DISTANCE, NOLI_ABSOLUTE};
    def.adhesion = WORK;
    def.adhesion_range = (NoliScaled){RANGE, NOLI_ABSOLUTE};
    good = run_start_def(&run, &def) && run_step(&run);
    *force = good ? -run_pair(&run, 0, 1).normal[1] : (double)NAN;
  }
  noli_mesh_destroy(run.context, &mesh);
  run_end(&run);
  return good;
}

static NoliMesh* make_block(NoliContext* context, double size) {
  NoliMesh* mesh = NULL;
  return noli_mesh_make_box(context, (double[]){size, 0.2 * size, size}, (int32_t[]){4, 1, 3},
                            false, &mesh) == NOLI_OK
             ? mesh
             : NULL;
}

static NoliMesh* make_ball(NoliContext* context, double size) {
  NoliMesh* mesh = NULL;
  return noli_mesh_make_icosphere(context, size, 48, &mesh) == NOLI_OK ? mesh : NULL;
}

// The force over the gap of a block of 0.1 m and of a ball of radius 0.05 m.
static bool debonding(Report* report) {
  static const double gaps[] = {0.05, 0.2, 1.0 / 3.0, 0.6, 0.9};
  const double side = 0.1, radius = 0.05;
  double of_block = 0.0, of_ball = 0.0;
  report_table(report, "Pull at the gap s beyond the contact distance, R = 1 mm, W = 0.05 J/m^2",
               "s / R | block of 0.1 m, N | in theory | ball of 50 mm, N | in theory");
  for (size_t k = 0; k < sizeof gaps / sizeof *gaps; k++) {
    double t = gaps[k], left = 1.0 - t, block, ball;
    double traction = 12.0 * WORK / RANGE * t * left * left * side * side;
    double pull = 2.0 * PI * radius * WORK * left * left * left * (1.0 + 3.0 * t);
    if (!pull_on(make_block, side, 0.1 * side, t * RANGE, &block) ||
        !pull_on(make_ball, radius, radius, t * RANGE, &ball)) {
      return false;
    }
    report_row(report, "%.3g | %.5g | %.5g | %.5g | %.5g", t, block, traction, ball, pull);
    of_block = report_worse(of_block, fabs(block - traction) / (STRENGTH * side * side));
    of_ball = report_worse(of_ball, fabs(ball - pull) / (2.0 * PI * radius * WORK));
  }
  report_check(report, of_block, 1e-6, "pull on a block, over its largest");
  report_check(report, of_ball, 1e-3, "pull on a ball, over 2 pi R W");
  return true;
}

typedef struct Tape {
  const char* cells;
  double range, friction;
} Tape;

// The mean force between 40 and 48 mm over the work per width: steps of 0.3 mm, so that the front
// is at all places within cells.
static bool peel(const Tape* tape, double* ratio) {
  Run run;
  Settings settings = {0};
  double sum = 0.0;
  int n = 0;
  set(&settings, "bodies.tape.mesh.plane.cells", "%s", tape->cells);
  set(&settings, "contact.adhesion_range", "%.17g", tape->range);
  set(&settings, "friction.coefficient", "%.17g", tape->friction);
  bool good = run_start(&run, "peel", &settings);
  for (int k = 1; k <= 160 && good; k++) {
    NoliReaction reaction;
    good = run_step(&run);
    if (good && 0.3 * k >= 40.0) {
      good = noli_sim_reaction(run.sim, 0, NULL, &reaction) == NOLI_OK;
      sum += reaction.force[1];
      n++;
    }
  }
  *ratio = sum / (n * 0.005 * 1.0);
  run_end(&run);
  return good;
}

static bool peeling(Report* report) {
  static const Tape tapes[] = {{"[60, 4]", 1e-3, 0.0},
                               {"[120, 6]", 1e-3, 0.0},
                               {"[120, 6]", 1e-3, 0.5},
                               {"[240, 10]", 1e-3, 0.0},
                               {"[240, 10]", 5e-4, 0.0}};
  report_table(report, "A tape 5 mm wide that is peeled off at 90 degrees, W = 1 J/m^2",
               "cells | range R, m | friction | force over W times the width");
  for (size_t k = 0; k < sizeof tapes / sizeof *tapes; k++) {
    double ratio;
    if (report->quick && k != 0) {
      continue;
    }
    if (!peel(&tapes[k], &ratio)) {
      return false;
    }
    report_row(report, "%s | %g | %g | %.4f", tapes[k].cells, tapes[k].range, tapes[k].friction,
               ratio);
    report_check(report, fabs(ratio - 1.0), tapes[k].friction > 0.0 || k == 0 ? 0.01 : 0.005,
                 "peel force, cells %s, range %g m, mu %g", tapes[k].cells, tapes[k].range,
                 tapes[k].friction);
  }
  return true;
}

bool validate_adhesion(Report* report) {
  return debonding(report) && peeling(report);
}
