// Scenes that several tests share.
#pragma once

#include "world.h"

// A chain of interlocking rings; the first one is an obstacle.
static inline void add_chain(World* world, int n_links) {
  for (int i = 0; i < n_links; i++) {
    NoliMesh* link = NULL;
    ASSERT_OK(noli_mesh_make_torus(world->context, 0.35, 0.09, 20, 3, i == 0, &link));
    // axis along x, then along z, so that neighbours interlock
    noli_mesh_transform(link, (double[]){1, 1, 1},
                        i % 2 == 0 ? (double[]){90, 0, 0} : (double[]){0, 0, 90},
                        (double[]){0, 0, 0});
    int32_t body = world_add(world, link, (double[]){0, -0.49 * i, 0});
    world->body[body].obstacle = i == 0;
    world->body[body].material.young = 5e5;
  }
}

// Voussoirs along a catenary y = A - B cosh(x / B), the line of thrust of an arch of even weight.
// The end faces are horizontal and stand on the ground: friction takes up the thrust, which is 1 /
// sinh(span / 2B) = 0.35 of the weight.
static inline void add_arch(World* world, int32_t n_blocks, double gap) {
  const double span = 6.0, thickness = 0.8, width = 1.0, B = 1.7;
  double A = B * cosh(0.5 * span / B), total = 2.0 * B * sinh(0.5 * span / B);
  for (int32_t i = 0; i < n_blocks; i++) {
    NoliMesh* block = make_box(world, 1.0, 1.0, width, 1);
    for (int32_t v = 0; v < block->n_vert; v++) {
      double* p = &block->x[3 * v];
      // joints cut the curve into pieces of equal length
      bool high = p[0] > 0.0;
      double s = -0.5 * total + total * (high ? i + 1 : i) / n_blocks;
      double x = B * asinh(s / B), y = A - B * cosh(x / B), slope = -sinh(x / B);
      double length = sqrt(1.0 + slope * slope);
      // a joint runs along the normal, the feet run along the ground
      bool foot = (i == 0 && !high) || (i == n_blocks - 1 && high);
      double across[2] = {-slope / length, 1.0 / length};
      if (foot) {
        across[0] = i == 0 ? -1.0 : 1.0;
        across[1] = 0.0;
      }
      double offset = p[1] * thickness, inward = high ? -gap : gap;
      p[0] = x + offset * across[0] + inward / length;
      p[1] = y + offset * across[1] + inward * slope / length;
    }
    int32_t body = world_add(world, block, (double[]){0, 0, 0});
    world->body[body].material = (NoliMaterialDef){
        .law = "fixed_corotated", .young = 2e9, .poisson = 0.2, .density = 2300.0};
  }
}

// A ball that flies along -z at a thin board whose rim is held. Returns the ball; the board is the
// body after it.
static inline int32_t add_ball_and_board(World* world, double speed) {
  int32_t ball = world_add(world, make_sphere(world, 0.05, 4), (double[]){0.0, 0.0, 0.2});
  NoliMesh* board = NULL;
  double size[3] = {0.5, 0.5, 0.02};
  int32_t cells[3] = {8, 8, 1};
  ASSERT_OK(noli_mesh_make_box(world->context, size, cells, false, &board));
  int32_t wall = world_add(world, board, (double[]){0, 0, 0});
  world->body[ball].material.young = 1e6;
  world->body[wall].material.young = 1e7;
  world->body[ball].velocity[2] = -speed;
  world->def.gravity[1] = 0.0;
  world->def.time_step = 0.02;
  // the rim of the board is fixed
  static int32_t rim[1000];
  int32_t n_rim = 0;
  for (int32_t i = 0; i < board->n_vert; i++) {
    if (fabs(board->x[3 * i]) > 0.2499 || fabs(board->x[3 * i + 1]) > 0.2499) {
      rim[n_rim++] = i;
    }
  }
  NoliMotionDef* hold = world_add_motion(world, wall, NULL, NULL);
  hold->node = rim;
  hold->n_node = n_rim;
  return ball;
}
