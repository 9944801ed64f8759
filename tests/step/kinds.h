// A scene with bodies of all kinds of elements, apart from each other and from anything else.
#pragma once

#include "step/world.h"

enum { KIND_SHELL, KIND_ROD, KIND_TWISTED, KIND_QUADRATIC, KIND_METAL, KIND_SOLID, KIND_COUNT };

// Shells bend by hinges, or as plates; all solid bodies of linear tetrahedra are in one block,
// which has a history as that of the metal has one. They spin, and have damping but for the metal.
static inline void kinds_add(World* world, bool plate) {
  NoliContext* context = world->context;
  NoliMesh* mesh[KIND_COUNT];
  ASSERT_OK(noli_mesh_make_sheet(context, 0.2, 0.2, 9, 9, "unstructured", &mesh[KIND_SHELL]));
  ASSERT_OK(noli_mesh_make_line(context, 0.2, 40, &mesh[KIND_ROD]));
  ASSERT_OK(noli_mesh_make_helix(context, 0.05, 0.05, 2.0, 20, &mesh[KIND_TWISTED]));
  for (int32_t b = KIND_QUADRATIC; b <= KIND_SOLID; b++) {
    int32_t cells = b == KIND_QUADRATIC ? 2 : 3;
    ASSERT_OK(noli_mesh_make_box(context, (double[]){0.1, 0.1, 0.1},
                                 (int32_t[]){cells, cells, cells}, false, &mesh[b]));
  }
  for (int32_t b = 0; b < KIND_COUNT; b++) {
    world_add(world, mesh[b], (double[]){0.5 * b, 0.0, 0.0});
    NoliBodyDef* body = &world->body[b];
    body->material.young = 1e5;
    body->material.damping = b == KIND_METAL ? 0.0 : 1e-3;
    body->material.mass_damping = 0.5;
    body->angular_velocity[1] = 5.0;
  }
  world->body[KIND_SHELL].shell.thickness = 2e-3;
  world->body[KIND_SHELL].shell.bending_law = plate ? "plate" : "hinges";
  world->body[KIND_SHELL].material.law = "stvk";
  world->body[KIND_ROD].rod.radius = 5e-3;
  world->body[KIND_TWISTED].rod.radius = 5e-3;
  world->body[KIND_TWISTED].rod.twist = 1.0;
  world->body[KIND_QUADRATIC].order = 2;
  world->body[KIND_METAL].material.law = "hencky";
  world->body[KIND_METAL].material.parameter[0] = 5.0;
  world->body[KIND_METAL].material.parameter[1] = 1e3;
  world->def.time_step = 0.005;
  // sums differ by rounding, and so may the number of iterations: the last one must be negligible
  world->def.tolerance = (NoliScaled){1e-8, true};
}
