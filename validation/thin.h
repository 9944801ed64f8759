// Loads on one thin body in equilibrium: a shell of patches or a rod of segments, held and loaded
// at some of its vertices, in quasi-static steps without contact.
#pragma once

#include "run.h"

enum { THIN_HOLDS = 6, THIN_LOADS = 4, HELD_LINES = 3 };

// Whether a vertex with the rest position X is meant.
typedef bool Wanted(const double X[3]);

typedef struct Thin {
  Run run;
  NoliMesh* mesh;
  NoliBodyDef body;
  NoliSimDef def;
  NoliMotionDef hold[THIN_HOLDS];
  NoliForceDef load[THIN_LOADS];
  double force[THIN_LOADS][3]; // N
  int32_t* node[THIN_HOLDS + THIN_LOADS];
  int32_t n_node_lists;
} Thin;

// An empty scene without gravity, with the law stvk; thin_end is required in any case.
bool thin_begin(Thin* thin);
void thin_end(Thin* thin);

// Where the point (u, v) of a patch lies, both in [0, 1].
typedef void Map(int patch, double u, double v, double X[3]);

// Sheets that are joined where their vertices meet.
typedef struct Patches {
  int32_t count;
  Map* map;
  double size[2]; // m, along u and v, for the shape of cells
  int32_t cells[2];
  const char* pattern; // as in noli_mesh_make_sheet
} Patches;

bool thin_shell(Thin* thin, const Patches* patches, double thickness, const char* bending_law);

// A rod through n + 1 points at s = 0 to n.
bool thin_rod(Thin* thin, int32_t n, void (*at)(const void* user, double s, double X[3]),
              const void* user);

// Holds the components "xyz" of vertices.
bool thin_hold(Thin* thin, Wanted* wanted, const char* components);
// Holds all components of `count` vertices from `first` on.
bool thin_hold_range(Thin* thin, int32_t first, int32_t count);
// Clamps a shell at a line of vertices: adds two more lines, each by `behind` (m) from the one
// before, and holds all three.
bool thin_clamp(Thin* thin, Wanted* wanted, const double behind[3]);
// A force in N, "total" of the vertices or "nodal" on each, that grows to its value at 1 s.
bool thin_load(Thin* thin, Wanted* wanted, const char* kind, double x, double y, double z);

// Creates the simulation.
bool thin_start(Thin* thin, double time_step);
// The same, and solves load steps up to 1 s.
bool thin_solve(Thin* thin, int steps);
// The end of a clamped elastica of length 1 under its own weight, along and down; beta is weight
// per length times the cube of the length over the bending stiffness, `stretch` the weight over the
// stiffness of stretching, 0 if it does not stretch.
void heavy_elastica(double beta, double stretch, double place[2]);
// The same with a force across it at its end, in place of the weight.
void sheared_elastica(double beta, double stretch, double place[2]);

// The mean displacement of the vertices, m.
void thin_displacement(const Thin* thin, Wanted* wanted, double u[3]);
