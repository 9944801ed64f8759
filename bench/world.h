// Builds benchmark scenes the way the text scripts of the original IPC program describe them.
//
// Order of a script: shapes are placed, the model is turned, everything is rescaled to `size` and
// moved to the positive octant, then the script of the animation shifts it and takes hold of some
// vertices. Turning and shifting change initial positions only; the rest shape stays.
// Only the public API is used.
#pragma once

#include "noli/noli.h"

enum { WORLD_BODIES = 64, WORLD_MOTIONS = 16, WORLD_PAIRS = 8 };

// A rigid motion with constant velocity, the `user` of a motion definition.
typedef struct WorldMotion {
  double centre[3];
  double velocity[3]; // m/s
  int axis;           // of rotation: 0 x, 1 y, 2 z
  double spin;        // rad/s about the axis through the centre
} WorldMotion;

typedef struct World {
  NoliContext* context;
  const char* data; // folder of the meshes
  NoliSimDef def;
  NoliMaterialDef material; // of all deformable bodies
  NoliBodyDef body[WORLD_BODIES];
  NoliMesh* mesh[WORLD_BODIES];
  double* x0[WORLD_BODIES]; // initial positions, (n_vert x 3), owned
  char name[WORLD_BODIES][32];
  NoliHalfSpaceDef plane;
  NoliMotionDef motion[WORLD_MOTIONS];
  WorldMotion rigid[WORLD_MOTIONS];
  int32_t* node[WORLD_MOTIONS]; // owned
  NoliPairDef pair[WORLD_PAIRS];
  double release_x;  // motions end when every body is beyond this x; INFINITY: never
  bool missing;      // a mesh file does not exist
  char problem[256]; // what went wrong outside the library; "" if nothing
} World;

typedef struct Box {
  double low[3], high[3];
} Box;

World world_new(NoliContext* context, const char* data);
void world_free(World* world);
// The definition with all pointers into the world set; valid while the world stays where it is.
const NoliSimDef* world_def(World* world);

// All builders do nothing once `problem` is set.

// One shape of a script: .msh deforms, .obj is an obstacle. `path` is relative to `data`.
void world_shape(World* world, const char* path, const double translation[3],
                 const double rotation_deg[3], double scale);
// An obstacle of n points, copied.
void world_points(World* world, const double* x, int32_t n_point);
// Turns initial positions about an axis, before world_fit.
void world_turn(World* world, int axis, double degrees);
// Rescales so that the longest side of the box around the initial positions is `size`, and moves
// its lower corner to the origin.
void world_fit(World* world, double size);
// A still obstacle outside the list of shapes: centred on the mean of its vertices, its longest
// side before rotation made `scale`, rotated, moved to `origin`.
void world_still_mesh(World* world, const char* path, const double origin[3], double scale,
                      const double rotation_deg[3]);
// Comes after all shapes: its pairs name it by the number of bodies.
void world_half_space(World* world, const double origin[3], double friction);

// The box around the initial positions of bodies first .. first + count - 1.
Box world_box(const World* world, int32_t first, int32_t count);
// The box around the rest positions of all bodies.
Box world_rest_box(const World* world);
// Lifts everything by half the diagonal of its box.
void world_lift(World* world);
// The ends along x (1 % of the length, at rest) turn about x in opposite senses, 0.4 pi rad/s.
void world_twist(World* world);
// The right end (share of the length) moves along x until all has passed the right end of body
// `beyond`.
void world_drag_right(World* world, double share, double speed, int32_t beyond);
// A body turns about an axis through the centre of its box.
void world_spin(World* world, int32_t body, int axis, double rate);
