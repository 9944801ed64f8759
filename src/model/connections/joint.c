// Joints: points that a rigid body shares with another body, or with the world, exactly.
//
// A point of a rigid body is a combination of its four nodes, so a shared point is a linear
// equation of nodes. Each equation gives one node of a rigid body as a combination of others, which
// it follows: it is solved for the node with the largest coefficient, after the nodes that earlier
// equations give have been replaced. An equation in which nothing remains is met already, as in
// chains that are closed in a plane. A ball joint has one point, a hinge two on its axis, a weld
// the four nodes.
#include "model/connections/bindings.h"

#include "base/sized.h"
#include "define/choices.h"
#include "define/connection.h"
#include "define/joint_coordinate.h"
#include "math/vec3.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// Coefficients of less than this are rounding.
#define NO_COEFFICIENT 1e-9
// A node of the joint's own body is given where its coefficient is not much smaller.
#define OWN_SHARE 0.1

// Largest distance of points that meet, relative to the size of the scene.
#define MEETING 1e-4

enum { MOST_POINTS = 4 };

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
  int32_t n_met; // equations that are met already
} Joints;

static NoliVec3 joint_position(const Joints* joints, int32_t node) {
  return noli_load3(joints->model->x0 + 3 * (int64_t)node);
}

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

// How far p is from the place in a tetrahedron with these weights, where none is below 0.
static double outside(const Joints* joints, const int32_t* tet, NoliVec3 p, double weight[4]) {
  double sum = 0.0;
  NoliVec3 at = {0};
  for (int k = 0; k < 4; k++) {
    weight[k] = weight[k] > NO_COEFFICIENT ? weight[k] : 0.0;
    sum += weight[k];
  }
  for (int k = 0; k < 4; k++) {
    weight[k] /= sum;
    at = noli_mul_add3(at, weight[k], joint_position(joints, tet[k]));
  }
  return noli_norm3(noli_sub3(at, p));
}

// The point of a body that deforms: of the tetrahedron that is closest, or the closest vertex.
// Returns its distance, m.
static double find_point(const Joints* joints, int32_t body, NoliVec3 p, int32_t node[4],
                         double weight[4], int32_t* n) {
  const NoliModel* model = joints->model;
  double best = (double)INFINITY;
  *n = 0;
  for (int32_t t = model->cell_first[body]; t < model->cell_first[body + 1]; t++) {
    const int32_t* tet = model->cell + 4 * (int64_t)t;
    double own[4], distance;
    if (noli_model_cell_size(tet) < 4) {
      continue;
    }
    (void)noli_tet_weights(model->x0, tet, p, own);
    distance = outside(joints, tet, p, own);
    if (distance < best) {
      best = distance;
      *n = 4;
      memcpy(node, tet, 4 * sizeof *tet);
      memcpy(weight, own, sizeof own);
    }
  }
  int32_t end = model->vert_first[body + 1] - noli_model_angle_count(model, body);
  for (int32_t v = model->vert_first[body]; *n < 4 && v < end; v++) {
    double distance = noli_norm3(noli_sub3(joint_position(joints, v), p));
    if (distance < best) {
      best = distance;
      *n = 1;
      node[0] = v;
      weight[0] = 1.0;
    }
  }
  return best;
}

// Adds the point p of a body, or of the world, to the equation. `where` starts messages.
static NoliStatus add_point(Joints* joints, const char* where, int32_t body, NoliVec3 p,
                            double sign) {
  NoliStatus status = NOLI_OK;
  const NoliModel* model = joints->model;
  int32_t node[4], n = 4;
  double weight[4], distance = 0.0;
  if (body == NOLI_NULL_INDEX) {
    joints->sum.constant = noli_mul_add3(joints->sum.constant, sign, p);
    return NOLI_OK;
  }
  if (model->carried[body]) {
    for (int k = 0; k < 4; k++) {
      node[k] = model->vert_first[body] + k;
    }
    (void)noli_tet_weights(model->x0, node, p, weight);
  } else {
    distance = find_point(joints, body, p, node, weight, &n);
  }
  NOLI_CHECK(model->context, distance <= MEETING * model->problem.size.d, NOLI_ERROR_ARGUMENT,
             "%s: the point (%.6g, %.6g, %.6g) is %.3g m away from \"%s\"", where, p.x, p.y, p.z,
             distance, model->name[body]);
  for (int32_t k = 0; k < n; k++) {
    NOLI_TRY(sum_add(joints, node[k], sign * weight[k]));
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

// Solves the equation sum = 0 for a node.
static NoliStatus solve_equation(Joints* joints, const char* where, int32_t item, int32_t own) {
  NoliStatus status = NOLI_OK;
  NoliContext* context = joints->model->context;
  double left;
  NOLI_TRY(replace_given(joints));
  int32_t node = choose_node(joints, own, &left);
  if (left <= NO_COEFFICIENT) {
    joints->n_met++;
    return NOLI_OK;
  }
  NOLI_CHECK(context, node != NOLI_NULL_INDEX, NOLI_ERROR_ARGUMENT,
             "%s: both sides are prescribed or deform, or other joints hold them: one body must be "
             "rigid and free to follow",
             where);
  Sum* given = &joints->given[joints->n];
  double by = -1.0 / joints->scale[node];
  given->constant = noli_scale3(by, joints->sum.constant);
  for (int64_t i = 0; i < joints->sum.node.count; i++) {
    int32_t other = joints->sum.node.data[i];
    double coefficient = by * joints->scale[other];
    if (other != node && fabs(coefficient) > 1e-14) {
      NOLI_PUSH(context, &given->node, other);
      NOLI_PUSH(context, &given->coefficient, coefficient);
    }
  }
  joints->node[joints->n] = node;
  joints->item[joints->n] = item;
  joints->row[node] = joints->n++;
done:
  return status;
}

// The points that a joint shares, and those of the other side.
static int32_t list_points(const Joints* joints, const NoliJointDef* joint, NoliVec3* own,
                           NoliVec3* other) {
  const NoliModel* model = joints->model;
  int32_t type = noli_names_index(&noli_joint_names, joint->type), n = 1;
  NoliVec3 at = noli_load3(joint->at), axis = noli_normalize3(noli_load3(joint->axis));
  own[0] = at;
  int32_t first = model->vert_first[joint->body];
  if (type == NOLI_JOINT_HINGE) {
    double arm = 0.5 * noli_norm3(noli_sub3(joint_position(joints, first),
                                            joint_position(joints, first + 1)));
    own[0] = noli_mul_add3(at, arm, axis);
    own[1] = noli_mul_add3(at, -arm, axis);
    n = 2;
  } else if (type == NOLI_JOINT_WELD) {
    for (n = 0; n < MOST_POINTS; n++) {
      own[n] = joint_position(joints, first + n);
    }
  }
  NoliVec3 apart = joint->has_to_at ? noli_sub3(noli_load3(joint->to_at), at) : noli_vec3(0, 0, 0);
  for (int32_t k = 0; k < n; k++) {
    other[k] = noli_add3(own[k], apart);
  }
  return n;
}

static NoliStatus add_joint(Joints* joints, int32_t index) {
  NoliStatus status = NOLI_OK;
  const NoliModel* model = joints->model;
  const NoliJointDef* joint = &joints->def->joints[index];
  NoliConnectionPrefix where = noli_connection_prefix(NOLI_CONNECTION_JOINT, joints->def, index);
  NoliVec3 own[MOST_POINTS], other[MOST_POINTS];
  int32_t n = list_points(joints, joint, own, other);
  double apart = noli_norm3(noli_sub3(own[0], other[0]));
  NOLI_CHECK(
      model->context, model->carried[joint->body], NOLI_ERROR_ARGUMENT,
      "%s: \"%s\" is not rigid: a joint is one of a rigid body; tie soft bodies to each other",
      where.text, model->name[joint->body]);
  NOLI_CHECK(model->context, apart <= MEETING * model->problem.size.d, NOLI_ERROR_ARGUMENT,
             "%s: its points are %.6g m apart at the start: place the bodies such that they meet",
             where.text, apart);
  bool single = n == 1 || joint->to == NOLI_NULL_INDEX || model->carried[joint->to];
  NOLI_CHECK(
      model->context, single, NOLI_ERROR_ARGUMENT,
      "%s: \"%s\" deforms, so it has no axes: use a ball joint, or tie its vertices to \"%s\"",
      where.text, model->name[joint->to], model->name[joint->body]);
  bool obstacle = joint->to != NOLI_NULL_INDEX && model->obstacle[joint->to];
  NOLI_CHECK(model->context, !obstacle, NOLI_ERROR_ARGUMENT,
             "%s: \"%s\" is an obstacle: make it a rigid body with a prescribed motion", where.text,
             model->name[joint->to]);
  for (int32_t k = 0; k < n; k++) {
    joints->sum.node.count = 0;
    joints->sum.constant = noli_vec3(0.0, 0.0, 0.0);
    NOLI_TRY(add_point(joints, where.text, joint->body, own[k], 1.0));
    NOLI_TRY(add_point(joints, where.text, joint->to, own[k], -1.0));
    NOLI_TRY(solve_equation(joints, where.text, index, joint->body));
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
  for (int32_t i = 0; i < model->problem.n_node; i++) {
    joints.row[i] = NOLI_NULL_INDEX;
  }
  for (int32_t m = 0; m < def->n_motions; m++) {
    joints.driven[def->motions[m].body] = true;
  }
  for (int32_t k = 0; k < def->n_joints; k++) {
    NOLI_TRY(add_joint(&joints, k));
  }
  NOLI_TRY(add_bindings(&joints, bindings));
  noli_log(context, NOLI_LOG_INFO, "%d joints give %d nodes; %d of their equations are met already",
           (int)def->n_joints, (int)joints.n, (int)joints.n_met);
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

static const char* defect(const void* item) {
  const NoliJointDef* joint = item;
  return noli_norm3(noli_load3(joint->axis)) > 0.0 ? NULL : "has an axis of 0";
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
    .bind = bind_joints};
