// Bodies whose runs the tests of derivatives differentiate: boxes and curved balls of elements of
// all orders, held, landing, or of a material with a history.
#pragma once

#include "gradient_runs.h"

static inline void set_material(World* world, int32_t body) {
  world->body[body].material.young = 2e4;
  world->body[body].material.poisson = 0.3;
  world->body[body].material.density = 900;
}

// A box, held on its left.
static inline int32_t add_box(World* world, double height, bool held) {
  int32_t body = add_plain_box(world, height);
  set_material(world, body);
  if (held) {
    hold_left(world, body, 4);
  }
  return body;
}

static inline void held_beam_of(World* world, int32_t order) {
  int32_t body = add_box(world, 1.0, true);
  world->body[body].order = order;
  world->body[body].material.mass_damping = 2.0;
}

// It lands, and slides.
static inline void landing_of(World* world, int32_t order) {
  world_add_plane(world, (double[]){0, 0, 0}, (double[]){0, 1, 0});
  world->def.friction = 0.3;
  int32_t body = add_box(world, 1.5e-3, false);
  world->body[body].order = order;
  world->body[body].velocity[0] = 0.5;
  world->body[body].velocity[1] = -0.2;
}

// A ball of curved tetrahedra.
static inline int32_t add_curved_ball(World* world, int32_t geometry_order, int32_t order,
                                      double height) {
  NoliMesh* mesh = NULL;
  ASSERT_OK(noli_mesh_make_curved_sphere(world->context, 0.06, 1, geometry_order, &mesh));
  int32_t body = world_add(world, mesh, (double[]){0.01, height, 0.02});
  set_material(world, body);
  world->body[body].order = order;
  return body;
}

// Held at some vertices.
static inline void held_curved_ball(World* world, int32_t geometry_order, int32_t order) {
  int32_t body = add_curved_ball(world, geometry_order, order, 1.0);
  hold_left(world, body, 4);
  world->body[body].material.mass_damping = 2.0;
}

static inline void held_ball_of(World* world, int32_t order) {
  held_curved_ball(world, 2, order);
}

static inline void curved_ball(World* world) {
  held_ball_of(world, 2);
}

static inline void curved_landing_of(World* world, int32_t geometry_order, int32_t order,
                                     double height) {
  int32_t body = add_curved_ball(world, geometry_order, order, height);
  world_add_plane(world, (double[]){0, 0, 0}, (double[]){0, 1, 0});
  world->def.friction = 0.3;
  world->body[body].velocity[0] = 0.5;
  world->body[body].velocity[1] = -0.2;
}

static inline void curved_landing(World* world) {
  curved_landing_of(world, 2, 2, 0.0615);
}

// A ball of elements whose shapes have a higher order than their displacements.
static inline void linear_ball(World* world) {
  held_curved_ball(world, 2, 1);
}

static inline void flat_landing(World* world) {
  set_material(world, add_flat_landing(world));
}

// Two terms: one relaxes within a few steps, the other one hardly.
static const NoliProny prony = {.n = 2, .share = {0.4, 0.2}, .time = {0.01, 0.2}};
