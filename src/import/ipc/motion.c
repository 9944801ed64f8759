#include "import/ipc/motion.h"

#include "noli/extend.h"
#include "import/ipc/extras.h"
#include "import/ipc/rules.h"

#include <math.h>
#include <stdio.h>

#define RADIAN (180.0 / 3.14159265358979323846)
// ---- tables -------------------------------------------------------------------------------------

// Entire parts, by number, that move or turn about the centre of their box.
typedef struct Drive {
  const char* motion;
  int part;
  double velocity[3];
  double turn[3]; // deg/s
} Drive;

// clang-format off
static const Drive drives[] = {
    {"DCORotCylinders", 0, .turn = {90, 0, 0}}, {"DCORotCylinders", 1, .turn = {-90, 0, 0}},
    {"DCORotCylinders", 2, .turn = {0, 0, -90}}, {"DCORotCylinders", 3, .turn = {0, 0, 90}},
    {"DCOVerschoorRoller", 0, .turn = {0, 0, -4 * RADIAN}},
    {"DCOVerschoorRoller", 1, .turn = {0, 0, -2 * RADIAN}},
    {"DCOVerschoorRoller", 2, .turn = {0, 0, 2 * RADIAN}},
    {"DCOVerschoorRoller", 3, .turn = {0, 0, 4 * RADIAN}},
    {"DCOVerschoorRoller", 4, .turn = {2 * RADIAN, 0, 0}},
    {"DCOVerschoorRoller", 5, .turn = {-2 * RADIAN, 0, 0}},
    {"DCOSquash", 0, .velocity = {1, 0, 0}}, {"DCOSquash", 1, .velocity = {-1, 0, 0}},
    {"DCOSquash6", 0, .velocity = {1, 0, 0}}, {"DCOSquash6", 1, .velocity = {-1, 0, 0}},
    {"DCOSquash6", 2, .velocity = {0, 1, 0}}, {"DCOSquash6", 3, .velocity = {0, -1, 0}},
    {"DCOSquash6", 4, .velocity = {0, 0, 1}}, {"DCOSquash6", 5, .velocity = {0, 0, -1}},
    {"DCOSqueezeOut", 0, .velocity = {0, -0.3, 0}}, {"DCOCut", 1, .velocity = {0, -1, -1}},
};
// clang-format on

typedef NoliStatus ApplyFn(NoliIpcWorld* world);

static NoliStatus apply_drives(NoliIpcWorld* world);
static NoliStatus apply_bed(NoliIpcWorld* world);
static NoliStatus apply_shot(NoliIpcWorld* world);
static NoliStatus apply_drop(NoliIpcWorld* world);
static NoliStatus apply_sequence(NoliIpcWorld* world);

typedef struct Motion {
  const char* name;
  ApplyFn* apply;                                // NULL: nothing is prescribed
  enum { NO_LIFT, HALF_DIAGONAL, HEIGHTS } lift; // before anything else
} Motion;

// clang-format off
static const Motion motions[] = {
    {.name = "null"}, {.name = "fallNoShift"}, {.name = "DCOFix"}, {"fall", .lift = HALF_DIAGONAL},
    {"hang", .apply = noli_ipc_apply_rules}, {"hang2", .apply = noli_ipc_apply_rules}, {"hangTopLeft", .apply = noli_ipc_apply_rules},
    {"hangLeft", .apply = noli_ipc_apply_rules}, {"swing", .apply = noli_ipc_apply_rules, .lift = HEIGHTS}, {"stamp", .apply = noli_ipc_apply_rules},
    {"stampTopLeft", .apply = noli_ipc_apply_rules}, {"stampBoth", .apply = noli_ipc_apply_rules}, {"stand", .apply = noli_ipc_apply_rules},
    {"topbottomfix", .apply = noli_ipc_apply_rules}, {"fixLowerHalf", .apply = noli_ipc_apply_rules}, {"corner", .apply = noli_ipc_apply_rules},
    {"push", .apply = noli_ipc_apply_rules}, {"tear", .apply = noli_ipc_apply_rules}, {"undstamp", .apply = noli_ipc_apply_rules},
    {"upndown", .apply = noli_ipc_apply_rules}, {"stretch", .apply = noli_ipc_apply_rules}, {"stretchAndPause", .apply = noli_ipc_apply_rules},
    {"squash", .apply = noli_ipc_apply_rules}, {"stretchnsquash", .apply = noli_ipc_apply_rules}, {"bend", .apply = noli_ipc_apply_rules},
    {"twist", .apply = noli_ipc_apply_rules}, {"twistnstretch", .apply = noli_ipc_apply_rules}, {"twistnsns", .apply = noli_ipc_apply_rules},
    {"twistnsns_old", .apply = noli_ipc_apply_rules}, {"rubberBandPull", .apply = noli_ipc_apply_rules}, {"headTailPull", .apply = noli_ipc_apply_rules},
    {"dragdown", .apply = noli_ipc_apply_rules, .lift = HALF_DIAGONAL}, {"dragright", .apply = noli_ipc_apply_rules, .lift = HALF_DIAGONAL},
    {"toggleTop", .apply = noli_ipc_apply_rules}, {"fixRightMost1", .apply = noli_ipc_apply_rules}, {"pushRightMost1", .apply = noli_ipc_apply_rules},
    {"NMFixBottomDragLeft", .apply = noli_ipc_apply_rules}, {"NMFixBottomDragForward", .apply = noli_ipc_apply_rules},
    {"utopiaComparison", .apply = noli_ipc_apply_rules},
    {"DCORotCylinders", .apply = apply_drives}, {"DCOVerschoorRoller", .apply = apply_drives},
    {"DCOSquash", .apply = apply_drives}, {"DCOSquash6", .apply = apply_drives}, {"DCOSqueezeOut", .apply = apply_drives},
    {"DCOCut", .apply = apply_drives}, {"DCOSegBedSquash", .apply = apply_bed}, {"DCOBallHitWall", .apply = apply_shot},
    {"drop", .apply = apply_drop}, {"meshSeqFromFile", .apply = apply_sequence},
};
// clang-format on
enum { N_MOTIONS = sizeof motions / sizeof *motions };

static bool is_named(const NoliIpcWorld* world, const char* name) {
  return noli_span_is(world->script->motion, name);
}

// ---- entire parts -------------------------------------------------------------------------------

static NoliStatus need_parts(const NoliIpcWorld* world, int64_t n) {
  NoliStatus status = NOLI_OK;
  NOLI_IPC_CHECK(world->source, world->script->motion_line, world->parts.count >= n,
                 "script: needs at least %d shapes, got %d", (int)n, (int)world->parts.count);
done:
  return status;
}

// The first step before which two places that move towards each other along an axis are closer than
// the gap; NOLI_IPC_FOREVER: none.
static int64_t first_meeting(const NoliIpcWorld* world, double low, double low_speed, double high,
                             double high_speed, double gap) {
  for (int64_t k = 0; k < world->n_steps; k++) {
    if (high - low < gap) {
      return k;
    }
    low += low_speed * world->time_step;
    high += high_speed * world->time_step;
  }
  return NOLI_IPC_FOREVER;
}

// Adds the motion of a part that stops or turns back (`back`) before step `k_event`.
static NoliStatus drive_part(NoliIpcWorld* world, int64_t index, const Drive* drive,
                             int64_t k_event, bool back) {
  NoliStatus status = NOLI_OK;
  NoliIpcPhase phases[2] = {{.k_end = k_event}, {.k_begin = k_event, .k_end = NOLI_IPC_FOREVER}};
  double low[3], high[3];
  noli_ipc_part_box(world, &world->parts.data[index], low, high);
  for (int k = 0; k < 3; k++) {
    phases[0].velocity[k] = drive->velocity[k];
    phases[1].velocity[k] = back ? -drive->velocity[k] : 0.0;
    phases[0].origin[k] = 0.5 * (low[k] + high[k]);
    if (drive->turn[k] != 0.0) {
      phases[0].axis[k] = 1.0;
      phases[0].speed = drive->turn[k];
    }
  }
  int first = k_event > 0 ? 0 : 1, last = k_event < NOLI_IPC_FOREVER ? 1 : 0;
  // what has stopped stands still anyhow
  last -= last == 1 && !back && first == 0;
  world->parts.data[index].kinematic = true;
  if (first == 0 || back) {
    NOLI_TRY(noli_ipc_add_moves(world, index, (NoliIpcNodes){0}, phases + first, last - first + 1));
  }
done:
  return status;
}

// The step before which the parts stop or turn back.
static int64_t find_meeting(const NoliIpcWorld* world, bool* back) {
  double low[2][3], high[2][3];
  *back = is_named(world, "DCOSquash") || is_named(world, "DCOSquash6");
  for (int i = 0; i < 2; i++) {
    noli_ipc_part_box(world, &world->parts.data[i], low[i], high[i]);
  }
  if (*back) {
    return first_meeting(world, high[0][0], 1.0, low[1][0], -1.0, 0.1);
  }
  if (is_named(world, "DCOSqueezeOut")) {
    double end = low[1][1] + (high[1][1] - low[1][1]) / 3.8 * 0.9;
    // continues while its top is above `end`
    return first_meeting(world, end, 0.0, high[0][1], -0.3, nextafter(0.0, 1.0));
  }
  if (is_named(world, "DCOCut")) {
    return first_meeting(world, 0.0, 0.0, low[1][1], -1.0, nextafter(0.001, 1.0));
  }
  return NOLI_IPC_FOREVER;
}

static NoliStatus apply_drives(NoliIpcWorld* world) {
  NoliStatus status = NOLI_OK;
  const size_t n_drives = sizeof drives / sizeof *drives;
  int64_t n_parts = 2;
  for (size_t i = 0; i < n_drives; i++) {
    if (is_named(world, drives[i].motion) && drives[i].part >= n_parts) {
      n_parts = drives[i].part + 1;
    }
  }
  NOLI_TRY(need_parts(world, n_parts));
  bool back = false;
  int64_t k_event = find_meeting(world, &back);
  for (size_t i = 0; i < n_drives; i++) {
    if (is_named(world, drives[i].motion)) {
      NOLI_TRY(drive_part(world, drives[i].part, &drives[i], k_event, back));
    }
  }
done:
  return status;
}

// The shapes without tetrahedra in the second half of the list come down on the others until they
// are 0.1 m above them.
static NoliStatus apply_bed(NoliIpcWorld* world) {
  NoliStatus status = NOLI_OK;
  static const Drive down = {.velocity = {0, -1, 0}};
  double bottom = -(double)INFINITY, top = (double)INFINITY;
  int64_t half = (world->parts.count + 1) / 2;
  for (int64_t i = 0; i < world->parts.count; i++) {
    double low[3], high[3];
    noli_ipc_part_box(world, &world->parts.data[i], low, high);
    if (!world->parts.data[i].solid && i >= half) {
      top = fmin(top, low[1]);
    } else if (!world->parts.data[i].solid) {
      bottom = fmax(bottom, high[1]);
    }
  }
  // stops at 0.1 too
  int64_t k_event = first_meeting(world, bottom, 0.0, top, -1.0, nextafter(0.1, 1.0));
  for (int64_t i = half; i < world->parts.count; i++) {
    if (!world->parts.data[i].solid) {
      NOLI_TRY(drive_part(world, i, &down, k_event, false));
    }
  }
done:
  return status;
}

// ---- other motions ------------------------------------------------------------------------------

static void set_velocity(NoliIpcWorld* world, int axis, double speed) {
  for (int64_t i = 0; i < world->parts.count; i++) {
    if (world->parts.data[i].solid) {
      world->parts.data[i].velocity[axis] = speed;
    }
  }
}

static NoliStatus apply_shot(NoliIpcWorld* world) {
  set_velocity(world, 0,
               world->script->parameters.count > 0 ? world->script->parameters.data[0] : 1000.0);
  return NOLI_OK;
}

static NoliStatus apply_drop(NoliIpcWorld* world) {
  set_velocity(world, 1, -1.0);
  return NOLI_OK;
}

static NoliStatus apply_sequence(NoliIpcWorld* world) {
  for (int64_t i = 0; i < world->parts.count; i++) {
    if (!world->parts.data[i].solid) {
      return noli_ipc_follow(world, i, world->script->motion_line, world->script->motion_folder, 1);
    }
  }
  return noli_ipc_fail(world->source, world->script->motion_line,
                       "script: needs a shape without tetrahedra");
}

// ---- all together ------------------------------------------------------------------------------

static NoliStatus find_motion(const NoliIpcWorld* world, const Motion** motion) {
  NoliSpan name = world->script->motion;
  *motion = name.n == 0 ? &motions[0] : NULL;
  for (int i = 0; i < N_MOTIONS && *motion == NULL; i++) {
    *motion = noli_span_is(name, motions[i].name) ? &motions[i] : NULL;
  }
  if (*motion != NULL) {
    return NOLI_OK;
  }
  const char* names[N_MOTIONS];
  char given[48], advice[80] = "", known[1200] = "";
  size_t used = 0;
  for (int i = 0; i < N_MOTIONS; i++) {
    names[i] = motions[i].name;
    used += (size_t)snprintf(known + used, sizeof known - used, "%s%s", i > 0 ? ", " : "",
                             motions[i].name);
  }

  snprintf(given, sizeof given, "%.*s", (int)(name.n < 40 ? name.n : 40), name.at);
  const char* nearest = noli_nearest(given, names, N_MOTIONS);
  if (nearest != NULL) {
    snprintf(advice, sizeof advice, "; did you mean \"%s\"?", nearest);
  }
  return noli_ipc_fail(world->source, world->script->motion_line,
                       "script: %s is not supported%s; known: %s", noli_show(name).text, advice,
                       known);
}

static void lift(NoliIpcWorld* world, const Motion* motion) {
  double low[3], high[3];
  noli_ipc_world_box(world, false, low, high);
  if (motion->lift == HALF_DIAGONAL) {
    noli_ipc_world_lift(world, 0.5 * noli_norm3(noli_sub3(noli_load3(high), noli_load3(low))));
  } else if (motion->lift == HEIGHTS) {
    noli_ipc_world_lift(world, 1.3 * (high[1] - low[1]));
  }
}

NoliStatus noli_ipc_animate(NoliIpcWorld* world) {
  NoliStatus status = NOLI_OK;
  const Motion* motion = NULL;
  NOLI_TRY(find_motion(world, &motion));
  lift(world, motion);
  if (motion->apply != NULL) {
    NOLI_TRY(motion->apply(world));
  }
  NOLI_TRY(noli_ipc_apply_extras(world, motion == &motions[0]));
done:
  return status;
}
