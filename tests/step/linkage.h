// Rigid bodies with joints, and where their points are.
#pragma once

#include "world.h"

#include "math/vec3.h"

#define GRAVITY 9.80665 // m/s^2
enum { JOINTS = 40 };

typedef struct Linkage {
  World world;
  NoliJointDef joint[JOINTS];
} Linkage;

static inline Linkage* linkage_new(void) {
  static Linkage linkage;
  linkage.world = world_new(1);
  linkage.world.def.joints = linkage.joint;
  return &linkage;
}

// A bar from p to q along x, of 4 cm.
static inline int32_t add_bar(Linkage* linkage, double from, double to, double y) {
  World* world = &linkage->world;
  int32_t body = world_add(world, make_box(world, to - from, 0.04, 0.04, 1),
                           (double[]){0.5 * (from + to), y, 0.0});
  world->body[body].rigid.rigid = true;
  return body;
}

static inline NoliJointDef* add_joint(Linkage* linkage, const char* type, int32_t body, int32_t to,
                                      double x, double y) {
  NoliJointDef* joint = &linkage->joint[linkage->world.def.n_joints++];
  *joint = noli_default_joint_def();
  joint->type = type;
  joint->body = body;
  joint->to = to;
  joint->at[0] = x;
  joint->at[1] = y;
  return joint;
}

static inline void rigid_step(World* world) {
  world_step(world);
  ASSERT_AT_MOST(world->report.rigid_stretch, 1e-6);
}

// Starts, with what debug builds verify.
static inline void start(World* world) {
  world_start(world);
  assert_null(noli_followers_defect(&world->sim->model->problem.followers));
  assert_null(noli_model_defect(world->sim->model));
}

static inline NoliBodyState state_of(const World* world, int32_t body) {
  NoliBodyState state;
  ASSERT_OK(noli_sim_body_state(world->sim, body, &state));
  return state;
}

// The place of a point of a rigid body that was at p at rest: from its eight corners.
static inline NoliVec3 point_of(const World* world, int32_t body, NoliVec3 p) {
  const NoliModel* model = world->sim->model;
  const int32_t* node = model->cell + 4 * (int64_t)model->cell_first[body];
  const double *x = noli_sim_positions(world->sim), *X = noli_sim_rest_positions(world->sim);
  NoliVec3 x0 = noli_load3(x + 3 * node[0]), X0 = noli_load3(X + 3 * node[0]), edge[2][3];
  for (int k = 0; k < 3; k++) {
    edge[0][k] = noli_sub3(noli_load3(X + 3 * node[k + 1]), X0);
    edge[1][k] = noli_sub3(noli_load3(x + 3 * node[k + 1]), x0);
  }
  NoliMat3 sides = noli_columns33(edge[0][0], edge[0][1], edge[0][2]);
  NoliMat3 inverse = noli_inverse33(&sides);
  NoliVec3 w = noli_mul33_vec(&inverse, noli_sub3(p, X0));
  NoliVec3 at = noli_mul_add3(x0, w.x, edge[1][0]);
  return noli_mul_add3(noli_mul_add3(at, w.y, edge[1][1]), w.z, edge[1][2]);
}
