// Joints: points that a rigid body shares with another body, or with the world, exactly.
//
// A point of a rigid body is a combination of its four nodes, so a shared point is a linear
// equation of nodes. Each equation gives one node of a rigid body as a combination of others, which
// it follows: it is solved for the node with the largest coefficient, after the nodes that earlier
// equations give have been replaced. An equation in which nothing remains is met already, as in
// chains that are closed in a plane. A joint with an equation that no node of a rigid body can
// solve, or only by following many, becomes a constraint. A ball joint has one point, a hinge two
// on its axis, a weld the four nodes. What shared points cannot express are constraints
// (joint_constraints.c).
#include "model/connections/joint.h"

#include "base/sized.h"
#include "define/choices.h"
#include "define/connection.h"
#include "define/joint_coordinate.h"
#include "math/vec3.h"
#include "model/connections/bindings.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// Coefficients of less than this are rounding.
#define NO_COEFFICIENT 1e-9
// A node of the joint's own body is given where its coefficient is not much smaller.
#define OWN_SHARE 0.1

// A joint that would let a node follow more others than this is a constraint instead: long chains
// of followers make matrices dense.
enum { MOST_POINTS = 4, MOST_FOLLOWED = 16 };

// A sum of nodes with coefficients, and a constant.
typedef struct Sum {
  NOLI_ARRAY(int32_t) node;
  NOLI_ARRAY(double) coefficient;
  NoliVec3 constant; // m
} Sum;

typedef struct Joints {
  NoliModel* model;
  const NoliSimDef* def;
  int32_t* row;  // (n_node) the row that gives a node, or NOLI_NULL_INDEX
  bool* driven;  // (n_body) a motion prescribes it
  double* scale; // (n_node) scratch: coefficients of the equation that is being solved
  Sum sum;       // the same as a list, with the nodes that have had one
  Sum* given;    // (n) what the nodes are
  int32_t* node; // (n)
  int32_t* item; // (n)
  int32_t n;
  bool* stiff; // (n_joints) one whose equations cannot be solved, or not by few nodes
} Joints;

static NoliStatus sum_add(Joints* joints, int32_t node, double coefficient) {
  NoliStatus status = NOLI_OK;
  bool known = false;
  for (int64_t i = 0; i < joints->sum.node.count; i++) {
    known = known || joints->sum.node.data[i] == node;
  }
  if (!known) {
    joints->scale[node] = 0.0;
    NOLI_PUSH(joints->model->context, &joints->sum.node, node);
  }
  joints->scale[node] += coefficient;
done:
  return status;
}

// ---- points -------------------------------------------------------------------------------------

static NoliVec3 place_of(const NoliModel* model, int32_t node) {
  return noli_load3(model->joint_x + 3 * (int64_t)node);
}

// How far p is from the place in a tetrahedron with these weights, where none is below 0.
static double outside(const NoliModel* model, const int32_t* tet, NoliVec3 p, double weight[4]) {
  double sum = 0.0;
  NoliVec3 at = {0};
  for (int k = 0; k < 4; k++) {
    weight[k] = weight[k] > NO_COEFFICIENT ? weight[k] : 0.0;
    sum += weight[k];
  }
  for (int k = 0; k < 4; k++) {
    weight[k] /= sum;
    at = noli_mul_add3(at, weight[k], place_of(model, tet[k]));
  }
  return noli_norm3(noli_sub3(at, p));
}

// The point of a body that deforms: of the tetrahedron that is closest, or the closest vertex.
// Returns its distance, m.
static double find_point(const NoliModel* model, int32_t body, NoliVec3 p, NoliJointPoint* point) {
  double best = (double)INFINITY;
  for (int32_t t = model->cell_first[body]; t < model->cell_first[body + 1]; t++) {
    const int32_t* tet = model->cell + 4 * (int64_t)t;
    double own[4], distance;
    if (noli_model_cell_size(tet) < 4) {
      continue;
    }
    (void)noli_tet_weights(model->joint_x, tet, p, own);
    distance = outside(model, tet, p, own);
    if (distance < best) {
      best = distance;
      point->n = 4;
      memcpy(point->node, tet, 4 * sizeof *tet);
      memcpy(point->weight, own, sizeof own);
    }
  }
  int32_t end = model->vert_first[body + 1] - noli_model_angle_count(model, body);
  for (int32_t v = model->vert_first[body]; point->n < 4 && v < end; v++) {
    double distance = noli_norm3(noli_sub3(place_of(model, v), p));
    if (distance < best) {
      best = distance;
      *point = (NoliJointPoint){.n = 1, .node = {v}, .weight = {1.0}};
    }
  }
  return best;
}

void noli_joint_point_weights(const NoliModel* model, int32_t body, NoliVec3 p, double weight[4]) {
  int32_t node[4];
  for (int k = 0; k < 4; k++) {
    node[k] = model->vert_first[body] + k;
  }
  (void)noli_tet_weights(model->joint_x, node, p, weight);
}

// The difference of two points that are as far apart as the nodes.
void noli_joint_vector_weights(const NoliModel* model, int32_t body, NoliVec3 v, double weight[4]) {
  int32_t first = model->vert_first[body];
  NoliVec3 from = place_of(model, first);
  double at_start[4], size = noli_norm3(noli_sub3(place_of(model, first + 1), from));
  noli_joint_point_weights(model, body, noli_mul_add3(from, size, v), weight);
  noli_joint_point_weights(model, body, from, at_start);
  for (int k = 0; k < 4; k++) {
    weight[k] = (weight[k] - at_start[k]) / size;
  }
}

NoliStatus noli_joint_point(const NoliModel* model, const char* where, int32_t body, NoliVec3 p,
                            NoliJointPoint* point) {
  NoliStatus status = NOLI_OK;
  double distance = 0.0;
  *point = (NoliJointPoint){0};
  if (body != NOLI_NULL_INDEX && model->carried[body]) {
    point->n = 4;
    for (int k = 0; k < 4; k++) {
      point->node[k] = model->vert_first[body] + k;
    }
    noli_joint_point_weights(model, body, p, point->weight);
  } else if (body != NOLI_NULL_INDEX) {
    distance = find_point(model, body, p, point);
  }
  NOLI_CHECK(model->context, distance <= NOLI_JOINT_MEETING * model->problem.size.d,
             NOLI_ERROR_ARGUMENT, "%s: the point (%.6g, %.6g, %.6g) is %.3g m away from \"%s\"",
             where, p.x, p.y, p.z, distance, model->name[body]);
done:
  return status;
}

// Adds the point p of a body, or of the world, to the equation. `where` starts messages.
static NoliStatus add_point(Joints* joints, const char* where, int32_t body, NoliVec3 p,
                            double sign) {
  NoliStatus status = NOLI_OK;
  NoliJointPoint point;
  NOLI_TRY(noli_joint_point(joints->model, where, body, p, &point));
  if (point.n == 0) {
    joints->sum.constant = noli_mul_add3(joints->sum.constant, sign, p);
  }
  for (int32_t k = 0; k < point.n; k++) {
    NOLI_TRY(sum_add(joints, point.node[k], sign * point.weight[k]));
  }
done:
  return status;
}

// ---- equations ----------------------------------------------------------------------------------

// Replaces nodes that are given, until none is left.
static NoliStatus replace_given(Joints* joints) {
  NoliStatus status = NOLI_OK;
  for (int64_t i = 0; i < joints->sum.node.count; i++) {
    int32_t node = joints->sum.node.data[i];
    double coefficient = joints->scale[node];
    int32_t row = joints->row[node];
    if (row == NOLI_NULL_INDEX || coefficient == 0.0) {
      continue;
    }
    const Sum* given = &joints->given[row];
    joints->scale[node] = 0.0;
    joints->sum.constant = noli_mul_add3(joints->sum.constant, coefficient, given->constant);
    for (int64_t k = 0; k < given->node.count; k++) {
      NOLI_TRY(sum_add(joints, given->node.data[k], coefficient * given->coefficient.data[k]));
    }
    i = -1; // one of them may be given, too
  }
done:
  return status;
}

// The node for which the equation is solved, or NOLI_NULL_INDEX; `*left` the largest coefficient.
static int32_t choose_node(const Joints* joints, int32_t own, double* left) {
  const NoliModel* model = joints->model;
  int32_t best[2] = {NOLI_NULL_INDEX, NOLI_NULL_INDEX};
  double largest[2] = {NO_COEFFICIENT, NO_COEFFICIENT};
  *left = 0.0;
  for (int64_t i = 0; i < joints->sum.node.count; i++) {
    int32_t node = joints->sum.node.data[i], body = model->problem.surface->body[node];
    double size = fabs(joints->scale[node]);
    int which = body == own ? 0 : 1;
    *left = fmax(*left, size);
    if (model->carried[body] && !joints->driven[body] && size > largest[which]) {
      largest[which] = size;
      best[which] = node;
    }
  }
  return largest[0] >= OWN_SHARE * largest[1] && best[0] != NOLI_NULL_INDEX ? best[0] : best[1];
}

// Solves the equation sum = 0 for a node. `*solved`: it could be.
static NoliStatus solve_equation(Joints* joints, int32_t item, int32_t own, bool* solved) {
  NoliStatus status = NOLI_OK;
  NoliContext* context = joints->model->context;
  double left;
  NOLI_TRY(replace_given(joints));
  int32_t node = choose_node(joints, own, &left);
  *solved = left <= NO_COEFFICIENT;
  if (*solved || node == NOLI_NULL_INDEX) {
    return NOLI_OK;
  }
  Sum* given = &joints->given[joints->n];
  double by = -1.0 / joints->scale[node];
  given->node.count = given->coefficient.count = 0;
  given->constant = noli_scale3(by, joints->sum.constant);
  for (int64_t i = 0; i < joints->sum.node.count; i++) {
    int32_t other = joints->sum.node.data[i];
    double coefficient = by * joints->scale[other];
    if (other != node && fabs(coefficient) > 1e-14) {
      NOLI_PUSH(context, &given->node, other);
      NOLI_PUSH(context, &given->coefficient, coefficient);
    }
  }
  *solved = given->node.count <= MOST_FOLLOWED;
  if (*solved) {
    joints->node[joints->n] = node;
    joints->item[joints->n] = item;
    joints->row[node] = joints->n++;
  }
done:
  return status;
}

// The points that a joint shares.
static int32_t list_points(const NoliModel* model, const NoliJointDef* joint,
                           NoliVec3 point[MOST_POINTS]) {
  NoliJointType type = noli_joint_type(joint);
  NoliVec3 at = noli_load3(joint->at), axis = noli_normalize3(noli_load3(joint->axis));
  int32_t first = model->vert_first[joint->body];
  if (type == NOLI_JOINT_HINGE) {
    double arm = 0.5 * noli_norm3(noli_sub3(place_of(model, first), place_of(model, first + 1)));
    point[0] = noli_mul_add3(at, arm, axis);
    point[1] = noli_mul_add3(at, -arm, axis);
    return 2;
  }
  if (type == NOLI_JOINT_WELD) {
    for (int32_t n = 0; n < MOST_POINTS; n++) {
      point[n] = place_of(model, first + n);
    }
    return MOST_POINTS;
  }
  point[0] = at;
  return type == NOLI_JOINT_BALL || type == NOLI_JOINT_UNIVERSAL ? 1 : 0;
}

// Whether a motion prescribes all of a rigid body.
static bool is_prescribed(const NoliModel* model, const NoliSimDef* def, int32_t body) {
  bool prescribed = false;
  for (int32_t m = 0; m < def->n_motions; m++) {
    const NoliMotionDef* motion = &def->motions[m];
    bool all = !motion->free_axis[0] && !motion->free_axis[1] && !motion->free_axis[2];
    prescribed = prescribed || (motion->body == body && all && model->carried[body]);
  }
  return prescribed;
}

// What bodies a joint may have.
static NoliStatus check_sides(const NoliModel* model, const NoliSimDef* def,
                              const NoliJointDef* joint, const char* where) {
  NoliStatus status = NOLI_OK;
  NoliJointType type = noli_joint_type(joint);
  bool world = joint->to == NOLI_NULL_INDEX;
  bool points = type == NOLI_JOINT_BALL || type == NOLI_JOINT_DISTANCE;
  NOLI_CHECK(model->context, model->carried[joint->body] || points, NOLI_ERROR_ARGUMENT,
             "%s: \"%s\" is not rigid, so it has no axes: use a ball joint, or tie its vertices",
             where, model->name[joint->body]);
  NOLI_CHECK(model->context, world || !model->obstacle[joint->to], NOLI_ERROR_ARGUMENT,
             "%s: \"%s\" is an obstacle: make it a rigid body with a prescribed motion", where,
             model->name[joint->to]);
  NOLI_CHECK(
      model->context, world || points || model->carried[joint->to], NOLI_ERROR_ARGUMENT,
      "%s: \"%s\" deforms, so it has no axes: use a ball joint, or tie its vertices to \"%s\"",
      where, model->name[joint->to], model->name[joint->body]);
  bool fixed = is_prescribed(model, def, joint->body);
  NOLI_CHECK(model->context, !fixed || !(world || is_prescribed(model, def, joint->to)),
             NOLI_ERROR_ARGUMENT, "%s: motions prescribe both sides, so there is nothing to join",
             where);
done:
  return status;
}

static NoliStatus add_joint(Joints* joints, int32_t index) {
  NoliStatus status = NOLI_OK;
  const NoliModel* model = joints->model;
  const NoliJointDef* joint = &joints->def->joints[index];
  NoliConnectionPrefix where = noli_connection_prefix(NOLI_CONNECTION_JOINT, joints->def, index);
  NoliVec3 point[MOST_POINTS];
  NOLI_TRY(check_sides(model, joints->def, joint, where.text));
  int32_t n = list_points(model, joint, point);
  double apart = n > 0 && joint->has_to_at
                     ? noli_norm3(noli_sub3(noli_load3(joint->to_at), noli_load3(joint->at)))
                     : 0.0;
  NOLI_CHECK(model->context, apart <= NOLI_JOINT_MEETING * model->problem.size.d,
             NOLI_ERROR_ARGUMENT,
             "%s: its points are %.6g m apart at the start: place the bodies such that they meet",
             where.text, apart);
  int32_t before = joints->n;
  bool solved = true;
  for (int32_t k = 0; k < n && solved; k++) {
    joints->sum.node.count = 0;
    joints->sum.constant = noli_vec3(0.0, 0.0, 0.0);
    NOLI_TRY(add_point(joints, where.text, joint->body, point[k], 1.0));
    NOLI_TRY(add_point(joints, where.text, joint->to, point[k], -1.0));
    NOLI_TRY(solve_equation(joints, index, joint->body, &solved));
  }
  joints->stiff[index] = !solved;
  while (!solved && joints->n > before) {
    joints->row[joints->node[--joints->n]] = NOLI_NULL_INDEX;
  }
done:
  return status;
}

static NoliStatus add_bindings(const Joints* joints, NoliBindings* bindings) {
  NoliStatus status = NOLI_OK;
  bool world = false;
  for (int32_t i = 0; i < joints->def->n_joints; i++) {
    world = world || joints->def->joints[i].to == NOLI_NULL_INDEX;
  }
  for (int32_t r = 0; r < joints->n; r++) {
    const Sum* given = &joints->given[r];
    double offset[3];
    noli_store3(offset, given->constant);
    NoliBound bound = {joints->node[r], NOLI_CONNECTION_JOINT, joints->item[r]};
    NOLI_TRY(noli_bindings_add(bindings, bound, (int32_t)given->node.count, given->node.data,
                               given->coefficient.data, world ? offset : NULL));
  }
done:
  return status;
}

static void joints_free(Joints* joints) {
  NoliContext* context = joints->model->context;
  for (int32_t r = 0; joints->given != NULL && r < MOST_POINTS * joints->def->n_joints; r++) {
    noli_array_free(context, &joints->given[r].node);
    noli_array_free(context, &joints->given[r].coefficient);
  }
  noli_array_free(context, &joints->sum.node);
  noli_free(context, joints->row);
  noli_free(context, joints->driven);
  noli_free(context, joints->scale);
  noli_free(context, joints->given);
  noli_free(context, joints->node);
  noli_free(context, joints->item);
  noli_free(context, joints->stiff);
}

static NoliStatus bind_joints(NoliModel* model, const NoliSimDef* def, NoliBindings* bindings) {
  NoliStatus status = NOLI_OK;
  NoliContext* context = model->context;
  Joints joints = {.model = model, .def = def};
  int64_t most = MOST_POINTS * (int64_t)def->n_joints;
  NOLI_NEW(context, joints.row, model->problem.n_node);
  NOLI_NEW_ZERO(context, joints.scale, model->problem.n_node);
  NOLI_NEW_ZERO(context, joints.driven, model->n_body);
  NOLI_NEW_ZERO(context, joints.given, most);
  NOLI_NEW(context, joints.node, most);
  NOLI_NEW(context, joints.item, most);
  NOLI_NEW_ZERO(context, joints.stiff, def->n_joints);
  for (int32_t i = 0; i < model->problem.n_node; i++) {
    joints.row[i] = NOLI_NULL_INDEX;
  }
  for (int32_t m = 0; m < def->n_motions; m++) {
    joints.driven[def->motions[m].body] = true;
  }
  NOLI_TRY(noli_joints_bear(model, def));
  for (int32_t k = 0; k < def->n_joints; k++) {
    NOLI_TRY(add_joint(&joints, k));
  }
  NOLI_TRY(add_bindings(&joints, bindings));
  NOLI_TRY(noli_joints_constrain(model, def, joints.stiff));
  const NoliConnections* constraints = &model->problem.connection[NOLI_CONNECTION_CONSTRAINTS];
  noli_log(context, NOLI_LOG_INFO,
           "joints: %d, by which %d nodes follow others exactly; %d have constraints",
           (int)def->n_joints, (int)joints.n, (int)constraints->n);
done:
  joints_free(&joints);
  return status;
}

// ---- the type -----------------------------------------------------------------------------------

void noli_joint_def_init(NoliJointDef* def, size_t size) {
  NoliJointDef own = {.to = NOLI_NULL_INDEX,
                      .type = "ball",
                      .axis = {0.0, 0.0, 1.0},
                      .coordinate = noli_default_coordinate_def(),
                      .travel = noli_default_coordinate_def()};
  noli_sized_default(def, size, &own, sizeof own);
}

NoliJointType noli_joint_type(const NoliJointDef* joint) {
  return (NoliJointType)noli_names_index(&noli_joint_names, joint->type);
}

static const char* defect(const void* item) {
  const NoliJointDef* joint = item;
  if (noli_norm3(noli_load3(joint->axis)) == 0.0) {
    return "has an axis of 0";
  }
  if (!isfinite(noli_norm3(noli_load3(joint->axis)) + noli_norm3(noli_load3(joint->to_axis)))) {
    return "has an axis whose length is beyond numbers: give its direction";
  }
  if (noli_joint_type(joint) == NOLI_JOINT_UNIVERSAL &&
      noli_norm3(noli_load3(joint->to_axis)) == 0.0) {
    return "is universal and has no \"b_axis\", the axis that turns with the other body";
  }
  if (noli_joint_type(joint) == NOLI_JOINT_SCREW && joint->lead == 0.0) {
    return "is a screw and has no \"lead\", the travel by turn";
  }
  if (noli_joint_type(joint) != NOLI_JOINT_SCREW && joint->lead != 0.0) {
    return "has a \"lead\", which only a screw has";
  }
  if (noli_joint_type(joint) != NOLI_JOINT_UNIVERSAL &&
      noli_norm3(noli_load3(joint->to_axis)) != 0.0) {
    return "has a \"b_axis\", which only a universal joint has: others have one \"axis\"";
  }
  return noli_joint_type(joint) == NOLI_JOINT_DISTANCE && !joint->has_to_at
             ? "keeps a distance and has no \"b_at\", the point of the other body"
             : NULL;
}

static NoliStatus check_joint(NoliContext* context, const NoliSimDef* def, int32_t index) {
  NoliStatus status = NOLI_OK;
  const NoliJointDef* joint = &def->joints[index];
  NoliConnectionPrefix where = noli_connection_prefix(NOLI_CONNECTION_JOINT, def, index);
  char prefix[410];
  snprintf(prefix, sizeof prefix, "%s: ", where.text);
  NOLI_TRY(noli_names_require(context, prefix, &noli_joint_names, joint->type));
  NOLI_CHECK(context, joint->body != joint->to, NOLI_ERROR_ARGUMENT,
             "%sit joins body \"%s\" to itself", prefix,
             def->bodies[joint->body].name != NULL ? def->bodies[joint->body].name : "(no name)");
  NOLI_TRY(noli_joint_check_coordinates(context, prefix, joint));
done:
  return status;
}

const NoliConnectionType noli_connection_joint = {
    .at = {.name = offsetof(NoliJointDef, name),
           .where = offsetof(NoliJointDef, where),
           .body = offsetof(NoliJointDef, body),
           .to = offsetof(NoliJointDef, to)},
    .keys = {"a", "b"},
    .obstacle = "name it as \"b\", or leave \"b\" out for the world",
    .defect = defect,
    .check = check_joint,
    .columns = NOLI_JOINT_COLUMNS,
    .n_value = NOLI_JOINT_VALUES,
    .bind = bind_joints};
