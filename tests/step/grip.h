// A bar that hangs between two pads, which a motion presses on it.
#pragma once

#include "world.h"

// Body 0 is the bar, 1 and 2 are the pads, on the sides -x and +x, of motions 0 and 1 with these
// users.
static inline void world_add_grip(World* world, NoliMotionFn* motion, void* left, void* right) {
  NoliMesh* mesh = NULL;
  ASSERT_OK(noli_mesh_make_box(world->context, (double[]){0.02, 0.05, 0.045}, (int32_t[]){2, 4, 3},
                               false, &mesh));
  world_add(world, mesh, (double[]){0.0, 0.0, 0.0});
  for (int k = 0; k < 2; k++) {
    ASSERT_OK(noli_mesh_make_box(world->context, (double[]){0.01, 0.03, 0.03}, (int32_t[]){1, 3, 2},
                                 false, &mesh));
    world_add_obstacle(world, mesh, (double[]){k == 0 ? -0.01505 : 0.01505, 0.001, 0.002});
    world_add_motion(world, 1 + k, motion, k == 0 ? left : right);
  }
  world->body[0].material.young = 1e6;
  world->body[0].material.poisson = 0.3;
  world->body[0].material.density = 1000.0;
  world->def.friction = 0.7;
}
