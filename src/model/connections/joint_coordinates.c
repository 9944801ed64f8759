#include "model/connections/joint_coordinates.h"

#include "define/choices.h"
#include "define/connection.h"
#include "define/joint_coordinate.h"
#include "fem/loads/joint_couplings.h"
#include "math/vec3.h"
#include "model/connections/joint.h"
#include "model/model.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define PI 3.14159265358979323846

// Distance from a limit where its barrier acts, and elastic slip of friction: rad, or shares of the
// size of the bodies.
#define LIMIT_RANGE 1e-3
#define SLIP_LENGTH 1e-5

static const double* place(const NoliModel* model, int32_t body, int32_t k) {
  return model->joint_x + 3 * ((int64_t)model->vert_first[body] + k);
}

// Two directions across a unit axis, which make a right-handed frame with it.
static void directions_across(NoliVec3 axis, NoliVec3 across[2]) {
  double size[3] = {fabs(axis.x), fabs(axis.y), fabs(axis.z)}, unit[3] = {0};
  unit[size[0] <= size[1] && size[0] <= size[2] ? 0 : size[1] <= size[2] ? 1 : 2] = 1.0;
  across[0] = noli_normalize3(noli_cross3(noli_load3(unit), axis));
  across[1] = noli_cross3(axis, across[0]);
}

static void set_turn(const NoliModel* model, const NoliJointDef* joint, NoliVec3 axis,
                     NoliCoordinate* item) {
  NoliVec3 across[2];
  directions_across(axis, across);
  for (int i = 0; i < 2; i++) {
    noli_joint_vector_weights(model, joint->body, across[i], item->weight[i]);
    item->fixed[i] = across[i];
    if (!item->in_world) {
      noli_joint_vector_weights(model, joint->to, across[i], item->weight[2 + i]);
    }
  }
}

static void set_travel(const NoliModel* model, const NoliJointDef* joint, NoliVec3 axis,
                       NoliCoordinate* item) {
  NoliVec3 at = noli_load3(joint->at);
  noli_joint_point_weights(model, joint->body, at, item->weight[0]);
  item->fixed[0] = at;
  item->fixed[1] = axis;
  if (!item->in_world) {
    noli_joint_point_weights(model, joint->to, at, item->weight[2]);
    noli_joint_vector_weights(model, joint->to, axis, item->weight[3]);
  }
}

// Inertia in a coordinate of a body with what it bears, from its four masses, and its radius.
static double inertia_of(const NoliModel* model, int32_t body, const NoliJointDef* joint,
                         NoliVec3 axis, bool turns, double* radius) {
  double inertia = 0.0, mass = 0.0, square = 0.0;
  for (int k = 0; k < 4; k++) {
    double own = model->problem.inertia.mass[model->vert_first[body] + k];
    NoliVec3 arm = noli_sub3(noli_load3(place(model, body, k)), noli_load3(joint->at));
    inertia += own * noli_norm_sqr3(noli_cross3(axis, arm));
    square += own * noli_norm_sqr3(arm);
    mass += own;
  }
  *radius = sqrt(square / mass);
  return noli_joint_borne(model, body) / mass * (turns ? inertia : mass);
}

static bool is_driven(const NoliSimDef* def, int32_t body) {
  bool driven = body == NOLI_NULL_INDEX;
  for (int32_t m = 0; m < def->n_motions && !driven; m++) {
    driven = def->motions[m].body == body;
  }
  return driven;
}

// The inertia that moves against the other side, and the size of the bodies.
static void set_inertia(const NoliModel* model, const NoliSimDef* def, const NoliJointDef* joint,
                        NoliVec3 axis, NoliCoordinate* item) {
  bool turns = item->kind == NOLI_COORDINATE_TURN;
  double inverse = 0.0, radius = 0.0;
  int32_t body[2] = {joint->body, joint->to};
  for (int i = 0; i < 2; i++) {
    double own_radius, own;
    if (body[i] != NOLI_NULL_INDEX) {
      own = inertia_of(model, body[i], joint, axis, turns, &own_radius);
      radius = fmax(radius, own_radius);
      inverse += is_driven(def, body[i]) ? 0.0 : 1.0 / own;
    }
  }
  item->inertia = inverse > 0.0 ? 1.0 / inverse : 0.0;
  item->size = radius;
}

static void set_laws(const NoliCoordinateDef* def, NoliCoordinate* item) {
  double unit = item->kind == NOLI_COORDINATE_TURN ? 1.0 : item->size;
  item->stiffness = def->stiffness;
  item->start = def->start;
  item->rest = def->rest - def->start;
  item->damping = def->damping;
  item->friction = def->friction;
  item->armature = def->armature;
  item->lower = def->lower - def->start;
  item->upper = def->upper - def->start;
  // no limit pushes at the start
  item->range = fmin(LIMIT_RANGE * unit, 0.5 * fmin(-item->lower, item->upper));
  item->slip_length = SLIP_LENGTH * unit;
  item->motor = (NoliMotorKind)noli_names_index(&noli_motor_names, def->motor);
  item->gain = def->motor_stiffness;
  item->motor_damping = def->motor_damping;
  item->max_effort = def->max_effort;
}

static void add_coordinate(NoliModel* model, const NoliSimDef* def, int32_t index, int32_t which) {
  NoliCoordinates* all = &model->problem.coordinates;
  const NoliJointDef* joint = &def->joints[index];
  NoliCoordinate* item = &all->item[all->n];
  int32_t* node = all->node + NOLI_COORDINATE_NODES * (int64_t)all->n++;
  bool turns = noli_joint_coordinate_turns(joint, which);
  NoliVec3 axis = noli_normalize3(noli_load3(joint->axis));
  item->kind = turns ? NOLI_COORDINATE_TURN : NOLI_COORDINATE_TRAVEL;
  item->joint = index;
  item->in_world = joint->to == NOLI_NULL_INDEX;
  for (int k = 0; k < 4; k++) {
    node[k] = model->vert_first[joint->body] + k;
    node[4 + k] = item->in_world ? NOLI_NULL_INDEX : model->vert_first[joint->to] + k;
  }
  if (turns) {
    set_turn(model, joint, axis, item);
  } else {
    set_travel(model, joint, axis, item);
  }
  set_inertia(model, def, joint, axis, item);
  set_laws(noli_joint_coordinate_def(joint, which), item);
}

// ---- couplings ----------------------------------------------------------------------------------

static int32_t find_joint(const NoliSimDef* def, const char* name) {
  for (int32_t i = 0; i < def->n_joints; i++) {
    char numbered[32];
    snprintf(numbered, sizeof numbered, "joint %d", (int)i);
    const char* own = def->joints[i].name != NULL ? def->joints[i].name : numbered;
    if (strcmp(own, name) == 0) {
      return i;
    }
  }
  return NOLI_NULL_INDEX;
}

static int32_t first_coordinate(const NoliCoordinates* all, int32_t joint) {
  int32_t k = 0;
  while (k < all->n && all->item[k].joint != joint) {
    k++;
  }
  return k < all->n ? k : NOLI_NULL_INDEX;
}

static void couple(NoliModel* model, int32_t one, int32_t other, double ratio) {
  NoliCouplings* couplings = &model->problem.couplings;
  couplings->item[couplings->n] = (NoliCoupling){.of = {one, other}, .ratio = ratio};
  noli_coupling_set_nodes(couplings, &model->problem.coordinates, couplings->n++);
}

// Couples the travel of a screw with its turn, and coordinate k with that which it follows.
static NoliStatus add_couplings(NoliModel* model, const NoliSimDef* def, int32_t k) {
  NoliStatus status = NOLI_OK;
  const NoliCoordinates* all = &model->problem.coordinates;
  int32_t index = all->item[k].joint, first = first_coordinate(all, index);
  const NoliJointDef* joint = &def->joints[index];
  const NoliCoordinateDef* own = noli_joint_coordinate_def(joint, k - first);
  NoliConnectionPrefix where = noli_connection_prefix(NOLI_CONNECTION_JOINT, def, index);
  if (k > first && strcmp(joint->type, "screw") == 0) {
    couple(model, k, first, joint->lead / (2.0 * PI));
  }
  if (own->follows != NULL) {
    int32_t followed = find_joint(def, own->follows);
    NOLI_CHECK(model->context, followed != NOLI_NULL_INDEX, NOLI_ERROR_ARGUMENT,
               "%s: it follows joint \"%.80s\", which there is not", where.text, own->follows);
    int32_t other = first_coordinate(all, followed);
    NOLI_CHECK(model->context, other != NOLI_NULL_INDEX && other != k, NOLI_ERROR_ARGUMENT,
               "%s: joint \"%.80s\", a \"%s\", has no coordinate that it could follow", where.text,
               own->follows, def->joints[followed].type);
    couple(model, k, other, own->ratio);
  }
done:
  return status;
}

NoliStatus noli_model_add_coordinates(NoliModel* model, const NoliSimDef* def) {
  NoliStatus status = NOLI_OK;
  int32_t n = 0;
  for (int32_t i = 0; i < def->n_joints; i++) {
    n += noli_joint_coordinate_count(&def->joints[i]);
  }
  NOLI_TRY(noli_coordinates_create(model->context, n, &model->problem.coordinates));
  for (int32_t i = 0; i < def->n_joints; i++) {
    for (int32_t k = 0; k < noli_joint_coordinate_count(&def->joints[i]); k++) {
      add_coordinate(model, def, i, k);
    }
  }
  NoliCouplings* couplings = &model->problem.couplings;
  NOLI_NEW(model->context, couplings->item, 2 * (int64_t)n);
  NOLI_NEW(model->context, couplings->node, 2 * NOLI_COUPLING_NODES * (int64_t)n);
  for (int32_t k = 0; k < model->problem.coordinates.n; k++) {
    NOLI_TRY(add_couplings(model, def, k));
  }
done:
  return status;
}
