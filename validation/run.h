// A simulation of a validation case: a scene file with some values replaced.
#pragma once

#include "noli/noli.h"

#include <stdio.h>

enum { SETTINGS_MAX = 16, SETTING_LENGTH = 320 };

// Replaced values of the scene.
typedef struct Settings {
  int32_t count;
  char path[SETTINGS_MAX][SETTING_LENGTH];
  char value[SETTINGS_MAX][SETTING_LENGTH];
} Settings;

// Adds one, for example set(&settings, "time.step", "%.17g", h).
void set(Settings* settings, const char* path, const char* format, ...)
    __attribute__((format(printf, 3, 4)));

typedef struct Run {
  NoliContext* context;
  NoliScene* scene; // NULL where a definition made the simulation
  NoliSim* sim;
  NoliStepReport report; // of the last step
  int64_t newton;        // iterations of all steps
} Run;

// Starts a scene: NAME.json of validation/scenes, or a path of examples/. Every step is audited
// exactly. Prints a message and returns false on failure; run_end is required in any case.
bool run_start(Run* run, const char* name, const Settings* settings);
// The same with a definition; `run` holds the context it was created with.
bool run_start_def(Run* run, const NoliSimDef* def);
bool run_context(Run* run);
bool run_step(Run* run);
void run_end(Run* run);

// Centre of mass of a body, and its mean velocity.
void run_centre(const Run* run, int32_t body, double centre[3]);
void run_velocity(const Run* run, int32_t body, double velocity[3]);
// Kinetic, elastic, gravitational and contact energy after the last step, J.
double run_energy(const Run* run);
// Lists the nodes of a body with X[axis] = value, numbered from 0; the caller frees it.
int32_t* run_nodes(const NoliSim* sim, int32_t body, int axis, double value, double tolerance,
                   int32_t* count);
// A motion that holds the nodes of a body with X[axis] = value: in that direction, or, `clamped`,
// in all of them. The caller frees motion->node.
bool run_hold(const NoliSim* sim, int32_t body, int axis, double value, bool clamped,
              NoliMotionDef* motion);

// Keeps the tetrahedra of a straight mesh all of whose vertices are inside.
bool run_keep(NoliContext* context, NoliMesh* mesh, bool (*inside)(const double p[3]));
// Moves all points of a mesh, those of curved elements too.
void run_map(NoliMesh* mesh, void (*map)(int32_t which, double p[3]), int32_t which);
// A square [-1, 1]^2 becomes a disk: squares around the origin become circles, of radius 1 for the
// outermost.
void run_disk(double* x, double* y);
// The forces between two entities, on `a`; zero without contact.
NoliPairForce run_pair(Run* run, int32_t a, int32_t b);
// Order of the error between two mesh sizes or time steps.
double order_of(double h, double error, double finer_h, double finer_error);

// The mean over all tetrahedra of P_xx, Pa.
bool run_mean_stress(Run* run, double* stress);
