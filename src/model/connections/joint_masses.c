// The masses that rigid bodies bear in joints.
#include "fem/blocks/block_rigid.h"
#include "model/connections/joint.h"

#include <math.h>

double noli_joint_body_mass(const NoliModel* model, int32_t body) {
  double mass = 0.0;
  for (int32_t v = model->vert_first[body]; v < model->vert_first[body + 1]; v++) {
    mass += model->problem.inertia.mass[v];
  }
  return mass;
}

double noli_joint_borne(const NoliModel* model, int32_t body) {
  const NoliProblem* problem = &model->problem;
  return noli_rigid_borne(&problem->block[problem->range[body].block], problem->range[body].begin);
}

// Gives both bodies of a joint the larger of their masses, unless one is 0. Returns whether that
// changed one.
static bool share_mass(const NoliJointDef* joint, double* mass) {
  double* own = &mass[joint->body];
  double* other = joint->to != NOLI_NULL_INDEX ? &mass[joint->to] : own;
  if (*own == *other || *own == 0.0 || *other == 0.0) {
    return false;
  }
  *own = *other = fmax(*own, *other);
  return true;
}

NoliStatus noli_joints_bear(NoliModel* model, const NoliSimDef* def) {
  NoliStatus status = NOLI_OK;
  NoliProblem* problem = &model->problem;
  double* mass = NULL;
  NOLI_NEW(model->context, mass, model->n_body);
  for (int32_t b = 0; b < model->n_body; b++) {
    mass[b] = noli_joint_body_mass(model, b);
  }
  for (int32_t m = 0; m < def->n_motions; m++) {
    mass[def->motions[m].body] = 0.0; // what a motion prescribes hangs on nothing
  }
  for (bool changed = def->n_joints > 0; changed;) {
    changed = false;
    for (int32_t i = 0; i < def->n_joints; i++) {
      changed = share_mass(&def->joints[i], mass) || changed;
    }
    for (int32_t i = def->n_joints; i-- > 0;) { // chains may be listed from either end
      changed = share_mass(&def->joints[i], mass) || changed;
    }
  }
  for (int32_t i = 0; i < 2 * def->n_joints; i++) {
    int32_t b = i % 2 == 0 ? def->joints[i / 2].body : def->joints[i / 2].to;
    if (b != NOLI_NULL_INDEX && model->carried[b] && mass[b] > noli_joint_borne(model, b)) {
      noli_rigid_bear(&problem->block[problem->range[b].block], problem->range[b].begin, mass[b]);
    }
  }
done:
  noli_free(model->context, mass);
  return status;
}
