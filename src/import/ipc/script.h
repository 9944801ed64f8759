// Text scenes of the IPC program of [Li2020], read into plain values.
//
// A scene is a list of lines, each a keyword and its arguments; `#` begins a comment. The keywords
// are a table: what they read, whether they have a meaning here, or why they are refused. Nothing
// is computed here: world.h places the shapes, motion.h knows the named
// motions, import.c writes the native scene.
#pragma once

#include "base/array.h"
#include "text/cursor.h"
#include "text/node.h"

// Vertices in a box get a velocity ("DBC") or an acceleration ("NBC") for some time.
typedef struct NoliIpcRegion {
  int32_t line;
  bool load;              // NBC
  double low[3], high[3]; // fractions of the bounding box of the mesh as in its file
  double linear[3];       // m/s, or m/s^2
  double angular[3];      // deg/s
  double t_begin, t_end;  // s, compared with the time at the start of a step
} NoliIpcRegion;

// One line of `shapes`, or the line after `shapeMatrix`.
typedef struct NoliIpcShape {
  int32_t line;
  NoliSpan path;
  double translate[3], rotate[3], scale[3];
  int32_t count[3]; // of a matrix of copies, else 1 1 1
  double step[3];   // from one copy to the next
  bool has_material, has_initial, has_linear, has_angular;
  double material[3];                           // density, Young's modulus, Poisson's ratio
  double initial_linear[3], initial_angular[3]; // m/s, deg/s
  double linear[3], angular[3];                 // m/s, deg/s of the whole shape
  NoliSpan sequence;                            // folder, empty if there is none
  int32_t first_region, n_regions;
} NoliIpcShape;

typedef struct NoliIpcHalfSpace {
  int32_t line;
  double origin[3], normal[3], friction;
  bool ground;
} NoliIpcHalfSpace;

// A mesh that stands still, from `meshCO`.
typedef struct NoliIpcStill {
  int32_t line;
  NoliSpan path;
  double origin[3], size, friction, rotate[3];
} NoliIpcStill;

enum { NOLI_IPC_TUNING = 6 };

typedef struct NoliIpcScript {
  char* text; // the scene; spans point into it
  NOLI_ARRAY(NoliIpcShape) shapes;
  NOLI_ARRAY(NoliIpcRegion) regions;
  NOLI_ARRAY(NoliIpcHalfSpace) half_spaces;
  NOLI_ARRAY(NoliIpcStill) stills;
  NOLI_ARRAY(double) parameters; // of the motion
  NoliSpan motion;               // name of the motion; empty: null
  NoliSpan motion_folder;
  int32_t motion_line;
  double time[2];         // duration, time step, s
  double size;            // largest extent, m; <= 0: as it is
  double rotate_model[4]; // axis, deg
  double density, stiffness[2];
  double damping_stiffness, damping_ratio;
  double newmark[2]; // beta, gamma
  double self_friction;
  double handle_ratio;
  double region_time[2], load_time[2]; // s
  double tuning[NOLI_IPC_TUNING]; // kappa, dHat and target, dHatEps, eps_v and target; of both,
                                  // the first is what steps end with
  int32_t tuning_line;
  double tolerance;
  double friction_iterations; // NAN: not given
  bool trapezoidal, fixed_corotated, no_gravity, no_self_contact, absolute;
} NoliIpcScript;

// Reads the text of the source. The result must be released even after a failure.
NOLI_WARN_UNUSED NoliStatus noli_ipc_read(const NoliSceneSource* source, NoliIpcScript* script);
void noli_ipc_release(NoliContext* context, NoliIpcScript* script);

// Fails or logs with "FILE:LINE: message".
NoliStatus noli_ipc_fail(const NoliSceneSource* source, int32_t line, const char* format, ...)
    NOLI_PRINTF(3, 4);
void noli_ipc_log(const NoliSceneSource* source, int32_t line, NoliLogLevel level,
                  const char* format, ...) NOLI_PRINTF(4, 5);

// Needs `source`, `status` and the label `done`.
#define NOLI_IPC_CHECK(source, line, condition, ...)                                               \
  do {                                                                                             \
    if (!(condition)) {                                                                            \
      status = noli_ipc_fail((source), (line), __VA_ARGS__);                                       \
      goto done;                                                                                   \
    }                                                                                              \
  } while (0)
