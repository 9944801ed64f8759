// What shared points and constraints of joints have in common.
#pragma once

#include "define/choices.h"
#include "define/connection.h"
#include "model/model.h"

// Largest distance of points that meet, relative to the size of the scene.
#define NOLI_JOINT_MEETING 1e-4

NoliJointType noli_joint_type(const NoliJointDef* joint);

// A point of a body at the start as a combination of its vertices.
typedef struct NoliJointPoint {
  int32_t n; // 0: a point of the world
  int32_t node[4];
  double weight[4];
} NoliJointPoint;

// Weights of the four nodes of a rigid body in a point p, and in a unit vector v that turns with
// it.
void noli_joint_point_weights(const NoliModel* model, int32_t body, NoliVec3 p, double weight[4]);
void noli_joint_vector_weights(const NoliModel* model, int32_t body, NoliVec3 v, double weight[4]);

// The point p of a body, or of the world: of the four nodes of a rigid body, which need not be near
// it, or on a body that deforms, where it is an error, which `where` starts, if p is not on it.
NOLI_WARN_UNUSED NoliStatus noli_joint_point(const NoliModel* model, const char* where,
                                             int32_t body, NoliVec3 p, NoliJointPoint* point);

// Adds the constraints of all joints: of those that are `stiff` (n_joints) all, of others what
// shared points do not express.
NOLI_WARN_UNUSED NoliStatus noli_joints_constrain(NoliModel* model, const NoliSimDef* def,
                                                  const bool* stiff);

double noli_joint_body_mass(const NoliModel* model, int32_t body); // kg

// A body that joints connect with heavier ones may have to bear them: it, its joints and what acts
// in them are as stiff as these are, however light it is. Sets what rigid bodies bear.
NOLI_WARN_UNUSED NoliStatus noli_joints_bear(NoliModel* model, const NoliSimDef* def);
// The largest mass of the bodies that joints connect with a rigid one, kg.
double noli_joint_borne(const NoliModel* model, int32_t body);
