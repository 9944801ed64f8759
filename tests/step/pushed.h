// A block that slides on the ground, pushed and pulled by what the test controls: for tests of live
// stepping (noli/live.h).
#pragma once

#include "world.h"

enum { BLOCK, PLATE, GROUND, N_BODIES = 2 };

static const char* const integrators[] = {"backward_euler", "bdf2", "trapezoidal", "sdirk2"};
#define COUNT(table) (int)(sizeof(table) / sizeof *(table))

// It is pushed by a plate and pulled by a force.
typedef struct Pushed {
  World world;
  NoliForceDef force;
} Pushed;

static inline void pushed_start(Pushed* pushed, const char* solver, const char* integrator) {
  World* world = &pushed->world;
  *world = world_new(1);
  world_add(world, make_box(world, 0.2, 0.1, 0.2, 2), (double[]){0.0, 0.0502, 0.0});
  world_add_obstacle(world, make_box(world, 0.05, 0.08, 0.1, 1), (double[]){-0.126, 0.06, 0.01});
  world_add_plane(world, (double[]){0, 0, 0}, (double[]){0, 1, 0});
  world->body[BLOCK].velocity[0] = 0.4;
  NoliMotionDef* motion = world_add_motion(world, PLATE, NULL, NULL);
  motion->controlled = true;
  motion->name = "hand";
  pushed->force = noli_default_force_def();
  pushed->force.kind = "total";
  pushed->force.controlled = true;
  world->def.forces = &pushed->force;
  world->def.n_forces = 1;
  world->def.friction = 0.3;
  world->def.solver = solver;
  world->def.integrator = integrator;
  world_start(world);
}

static inline void move_hand(NoliSim* sim, double x) {
  const NoliPose pose = {.position = {x, 0.0, 0.0}, .quaternion = {1.0, 0.0, 0.0, 0.0}};
  NoliStatus status = noli_sim_set_pose(sim, noli_sim_find_motion(sim, "hand"), &pose);
  if (status != NOLI_OK) {
    print_error("%s\n", noli_context_message(sim->context));
  }
  assert_int_equal(status, NOLI_OK);
}

static inline void take_steps(NoliSim* sim, int n) {
  for (int i = 0; i < n; i++) {
    NoliStatus status = noli_sim_step(sim, NULL);
    if (status != NOLI_OK) {
      print_error("step: %s\n", noli_context_message(sim->context));
    }
    assert_int_equal(status, NOLI_OK);
  }
}

static inline void assert_same(const NoliSim* one, const NoliSim* other) {
  const char* difference = noli_sim_state_difference(one, other);
  if (difference != NULL) {
    print_error("\"%s\" differs\n", difference);
  }
  assert_null(difference);
}

typedef enum Change { GRAVITY, FRICTION, NO_CONTACT, MATERIAL, N_CHANGES } Change;

static inline void change_live(NoliSim* sim, Change change) {
  const double gravity[3] = {1.0, -5.0, 0.5};
  NoliPairDef pair = noli_default_pair_def();
  pair.a = change == FRICTION ? GROUND : BLOCK;
  pair.b = change == FRICTION ? BLOCK : PLATE;
  pair.friction = change == FRICTION ? 0.05 : 0.0;
  pair.contact = change != NO_CONTACT;
  NoliMaterialDef material = noli_default_material_def();
  material.young = 3e5;
  material.law = "stvk";
  material.density = 500.0;
  if (change == GRAVITY) {
    ASSERT_OK(noli_sim_set_gravity(sim, gravity));
  } else if (change == MATERIAL) {
    ASSERT_OK(noli_sim_set_material(sim, BLOCK, NOLI_NULL_INDEX, &material));
  } else {
    ASSERT_OK(noli_sim_set_pair(sim, &pair));
  }
}
