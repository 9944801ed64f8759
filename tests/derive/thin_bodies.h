// Shells and rods for tests of derivatives.
#pragma once

#include "gradient_runs.h"

// ---- shells -------------------------------------------------------------------------------------

// A bent sheet, held at two corners of one side.
static inline void held_sheet(World* world) {
  NoliMesh* mesh = NULL;
  ASSERT_OK(noli_mesh_make_rectangle(world->context, 0.2, 0.1, 4, 2, &mesh));
  for (int32_t i = 0; i < mesh->n_vert; i++) {
    double x = mesh->x[3 * i];
    mesh->x[3 * i + 2] = 2.0 * x * x + 0.3 * x * mesh->x[3 * i + 1];
  }
  int32_t body = world_add(world, mesh, (double[]){0, 0.5, 0});
  world->body[body].shell.thickness = 2e-3;
  world->body[body].material.young = 1e6;
  world->body[body].material.poisson = 0.3;
  world->body[body].material.density = 900;
  world->body[body].material.mass_damping = 1.0;
  hold_left(world, body, 2);
  world->body[body].velocity[2] = 0.3;
}

static inline void limited_sheet(World* world) {
  held_sheet(world);
  world->body[0].shell.limit = 1.05;
  world->body[0].material.law = "stvk";
}

// Stiffer along the warp, which runs obliquely.
static inline void woven_sheet(World* world) {
  held_sheet(world);
  world->body[0].shell.woven = true;
  world->body[0].shell.weft = 0.3;
  world->body[0].shell.shear = 4e4;
  world->body[0].shell.warp[0] = 0.8;
  world->body[0].shell.warp[1] = 0.6;
  world->body[0].shell.warp[2] = 0.3;
}

static inline void plate(World* world) {
  held_sheet(world);
  world->body[0].shell.bending_law = "plate";
}

static inline void flat_plate(World* world) {
  plate(world);
  for (int32_t i = 0; i < world->mesh[0]->n_vert; i++) {
    world->mesh[0]->x[3 * i + 2] = 0.0;
  }
}

// With a shear stiffness of its own.
static inline void woven_plate(World* world) {
  woven_sheet(world);
  world->body[0].shell.bending_law = "plate";
}

// ---- rods ---------------------------------------------------------------------------------------

// A chain in the form of a helix, held at its first vertex.
static inline void held_rod(World* world) {
  NoliMesh* mesh = NULL;
  enum { N = 8 };
  ASSERT_OK(noli_mesh_create(world->context, N, 0, 0, N - 1, 0, false, &mesh));
  for (int32_t i = 0; i < N; i++) {
    double t = 0.5 * i;
    mesh->x[3 * i] = 0.05 * cos(t);
    mesh->x[3 * i + 1] = 0.05 * sin(t);
    mesh->x[3 * i + 2] = 0.01 * t;
    if (i + 1 < N) {
      mesh->edge[2 * i] = i;
      mesh->edge[2 * i + 1] = i + 1;
    }
  }
  int32_t body = world_add(world, mesh, (double[]){0, 0.5, 0});
  world->body[body].rod.radius = 2e-3;
  world->body[body].material.young = 1e6;
  world->body[body].material.density = 900;
  hold_left(world, body, 2);
}

// ---- rods with twist ----------------------------------------------------------------------------

static inline void twisted_rod(World* world) {
  held_rod(world);
  world->body[0].rod.twist = 1.0;
  world->body[0].velocity[1] = 0.4;
}

// A flat section, whose directors matter.
static inline void twisted_tape(World* world) {
  twisted_rod(world);
  world->body[0].rod.second_radius = 5e-4;
  world->body[0].rod.normal[2] = 1.0;
}

// It flies and turns.
static inline void flying_tape(World* world) {
  twisted_tape(world);
  world->def.n_motions = 0;
  world->body[0].angular_velocity[0] = 20.0;
  world->body[0].angular_velocity[2] = -30.0;
}

// It starts apart from its rest shape, under gravity along x.
static inline void bent_tape(World* world) {
  static double x0[3 * 8];
  flying_tape(world);
  memcpy(x0, world->mesh[0]->x, sizeof x0);
  for (int i = 0; i < 8; i++) {
    x0[3 * i + 2] += 0.001 * i * sin(i);
  }
  world->body[0].x0 = x0;
  world->def.gravity[0] = 5.0;
}
