// The constraints of joints (fem/loads/joint_constraints.h): which products of vectors are zero.
#include "model/connections/joint.h"

#include "fem/loads/joint_constraints.h"

#include <math.h>

// Vectors of a joint: from the point of b to that of a, two frames, of which one turns with each
// body, and that of the world. The first axis of a frame is that of the joint.
typedef enum Vector { OFFSET, A0, A1, A2, B0, B1, B2, X, Y, Z } Vector;

enum { MOST_PRODUCTS = 6, SHARED_POINT = 3 };
#define POINT                                                                                      \
  {OFFSET, X}, {OFFSET, Y}, {                                                                      \
    OFFSET, Z                                                                                      \
  }
#define PARALLEL_AXES                                                                              \
  {A0, B1}, {                                                                                      \
    A0, B2                                                                                         \
  }

// The first ones are those that shared points express.
static const struct {
  int32_t n_shared;
  int32_t n;
  Vector of[MOST_PRODUCTS][2];
} products[] = {
    [NOLI_JOINT_BALL] = {SHARED_POINT, 3, {POINT}},
    [NOLI_JOINT_HINGE] = {5, 5, {POINT, PARALLEL_AXES}},
    [NOLI_JOINT_WELD] = {6, 6, {POINT, PARALLEL_AXES, {A1, B2}}},
    [NOLI_JOINT_UNIVERSAL] = {SHARED_POINT, 4, {POINT, {A0, B0}}},
    [NOLI_JOINT_SLIDER] = {0, 5, {{OFFSET, B1}, {OFFSET, B2}, PARALLEL_AXES, {A1, B2}}},
    [NOLI_JOINT_CYLINDER] = {0, 4, {{OFFSET, B1}, {OFFSET, B2}, PARALLEL_AXES}},
    [NOLI_JOINT_SCREW] = {0, 4, {{OFFSET, B1}, {OFFSET, B2}, PARALLEL_AXES}},
    [NOLI_JOINT_PLANAR] = {0, 3, {{OFFSET, B0}, PARALLEL_AXES}},
    [NOLI_JOINT_DISTANCE] = {0, 1, {{OFFSET, OFFSET}}},
};

// Angles of the axes of a universal joint at which it would lock, as the cosine.
#define PARALLEL 0.99

typedef struct Sides {
  const NoliModel* model;
  const char* where;
  int32_t body[2];
  NoliVec3 at[2];
  NoliVec3 axis[2]; // of length 1
  double size;      // m
  NoliJointPoint point[2];
} Sides;

static bool has_frame(const Sides* sides, int side) {
  int32_t body = sides->body[side];
  return body != NOLI_NULL_INDEX && sides->model->carried[body];
}

// Adds a vector of a length, in a direction that turns with a body, or of the world.
static void add_direction(const Sides* sides, int side, NoliVec3 direction, double length,
                          NoliJointVector* out) {
  double weight[4];
  if (!has_frame(sides, side)) {
    out->constant = noli_mul_add3(out->constant, length, direction);
    return;
  }
  noli_joint_vector_weights(sides->model, sides->body[side], direction, weight);
  for (int k = 0; k < 4; k++) {
    out->weight[4 * side + k] += length * weight[k];
  }
}

static void add_offset(const Sides* sides, NoliJointVector* out) {
  for (int side = 0; side < 2; side++) {
    const NoliJointPoint* point = &sides->point[side];
    double sign = side == 0 ? 1.0 : -1.0;
    for (int k = 0; k < point->n; k++) {
      out->weight[4 * side + k] += sign * point->weight[k];
    }
    if (point->n == 0) {
      out->constant = noli_mul_add3(out->constant, sign, sides->at[side]);
    }
  }
}

// Directions of a are as long as the bodies are large, so that all products are lengths.
static NoliJointVector vector_of(const Sides* sides, Vector name) {
  NoliJointVector vector = {0};
  if (name == OFFSET) {
    add_offset(sides, &vector);
    return vector;
  }
  if (name >= X) {
    vector.constant = noli_vec3(name == X, name == Y, name == Z);
    return vector;
  }
  int side = name < B0 ? 0 : 1;
  int which = (int)name - (int)(side == 0 ? A0 : B0);
  NoliVec3 e = sides->axis[side], across = noli_normalize3(noli_orthogonal3(e));
  NoliVec3 frame[3] = {e, across, noli_cross3(e, across)};
  add_direction(sides, side, frame[which], side == 0 ? sides->size : 1.0, &vector);
  return vector;
}

// ---- one joint ----------------------------------------------------------------------------------

// The product of two vectors that a joint keeps, as a length.
static NoliStatus make_product(const Sides* sides, const NoliJointConstraints* joints,
                               const Vector of[2], NoliJointConstraint* out) {
  NoliStatus status = NOLI_OK;
  const NoliModel* model = sides->model;
  *out = (NoliJointConstraint){vector_of(sides, of[0]), vector_of(sides, of[1]), 0.0};
  NoliVec3 u = noli_joint_vector(joints, joints->n, &out->u, model->joint_x);
  NoliVec3 v = noli_joint_vector(joints, joints->n, &out->v, model->joint_x);
  double value = noli_dot3(u, v), meeting = NOLI_JOINT_MEETING * model->problem.size.d;
  if (of[0] == OFFSET && of[1] == OFFSET) {
    double length = noli_norm3(u);
    NOLI_CHECK(model->context, length > meeting, NOLI_ERROR_ARGUMENT,
               "%s: its points coincide: a ball joint keeps them together", sides->where);
    for (int k = 0; k < NOLI_JOINT_NODES; k++) {
      out->u.weight[k] *= 0.5 / length;
    }
    out->u.constant = noli_scale3(0.5 / length, out->u.constant);
    out->target = 0.5 * length;
  } else if (of[0] == A0 && of[1] == B0) {
    NOLI_CHECK(model->context, fabs(value) < PARALLEL * sides->size, NOLI_ERROR_ARGUMENT,
               "%s: its axes are parallel, so it would be locked: give \"b_axis\" across \"axis\"",
               sides->where);
    out->target = value;
  } else {
    NOLI_CHECK(
        model->context, fabs(value) <= meeting, NOLI_ERROR_ARGUMENT,
        "%s: its points are %.6g m apart in a direction in which it does not move: place the "
        "bodies such that they meet",
        sides->where, fabs(value));
  }
done:
  return status;
}

// Of the four nodes of a rigid body, whose masses are equal.
static NoliVec3 centre_of(const NoliModel* model, int32_t body) {
  NoliVec3 centre = {0};
  for (int k = 0; k < 4; k++) {
    NoliVec3 y = noli_load3(model->joint_x + 3 * (int64_t)(model->vert_first[body] + k));
    centre = noli_mul_add3(centre, 0.25, y);
  }
  return centre;
}

// The radius of the mass of a rigid body; 0 of others.
static double body_size(const Sides* sides, int side) {
  double sum = 0.0;
  if (!has_frame(sides, side)) {
    return 0.0;
  }
  NoliVec3 centre = centre_of(sides->model, sides->body[side]);
  for (int k = 0; k < 4; k++) {
    NoliVec3 y = noli_load3(sides->model->joint_x + 3 * (int64_t)sides->point[side].node[k]);
    sum += 0.25 * noli_norm_sqr3(noli_sub3(y, centre));
  }
  return sqrt(sum);
}

static NoliStatus set_sides(Sides* sides, const NoliJointDef* joint) {
  NoliStatus status = NOLI_OK;
  bool apart = joint->has_to_at, universal = noli_joint_type(joint) == NOLI_JOINT_UNIVERSAL;
  sides->body[0] = joint->body;
  sides->body[1] = joint->to;
  NoliVec3 at = noli_joint_type(joint) == NOLI_JOINT_WELD ? centre_of(sides->model, joint->body)
                                                          : noli_load3(joint->at);
  sides->at[0] = at;
  sides->at[1] = apart ? noli_load3(joint->to_at) : at;
  sides->axis[0] = noli_normalize3(noli_load3(joint->axis));
  sides->axis[1] = universal ? noli_normalize3(noli_load3(joint->to_axis)) : sides->axis[0];
  for (int side = 0; side < 2; side++) {
    NOLI_TRY(noli_joint_point(sides->model, sides->where, sides->body[side], sides->at[side],
                              &sides->point[side]));
  }
  sides->size = fmax(body_size(sides, 0), body_size(sides, 1));
done:
  return status;
}

// Adds joint `index` of a definition, with products from number `begin` on.
static NoliStatus add_stencil(NoliModel* model, const NoliSimDef* def, int32_t index, int32_t begin,
                              NoliJointConstraints* joints) {
  NoliStatus status = NOLI_OK;
  const NoliJointDef* joint = &def->joints[index];
  NoliJointType type = noli_joint_type(joint);
  NoliConnectionPrefix where = noli_connection_prefix(NOLI_CONNECTION_JOINT, def, index);
  Sides sides = {.model = model, .where = where.text};
  NOLI_TRY(set_sides(&sides, joint));
  double* borne = &joints->borne[joints->n];
  for (int side = 0; side < 2; side++) {
    const NoliJointPoint* point = &sides.point[side];
    double mass = point->n > 0 ? noli_joint_body_mass(model, sides.body[side]) : 0.0;
    *borne += mass;
    for (int k = 0; k < 4; k++) {
      int64_t at = NOLI_JOINT_NODES * (int64_t)joints->n + 4 * side + k;
      joints->node[at] = k < point->n ? point->node[k] : NOLI_NULL_INDEX;
      joints->mass[at] = k < point->n ? mass / point->n : 0.0;
    }
  }
  for (int side = 0; side < 2; side++) {
    bool rigid = has_frame(&sides, side);
    *borne = rigid ? fmax(*borne, noli_joint_borne(model, sides.body[side])) : *borne;
  }
  int32_t next = joints->first[joints->n];
  for (int32_t k = begin; k < products[type].n; k++) {
    NOLI_TRY(make_product(&sides, joints, products[type].of[k], &joints->product[next++]));
  }
  joints->size[joints->n] = sides.size > 0.0 ? sides.size : model->problem.size.d;
  joints->first[++joints->n] = next;
done:
  return status;
}

static NoliStatus allocate(NoliModel* model, int64_t n, NoliJointConstraints** out) {
  NoliStatus status = NOLI_OK;
  NoliContext* context = model->context;
  NoliConnections* connections = &model->problem.connection[NOLI_CONNECTION_CONSTRAINTS];
  NoliJointConstraints* joints = NULL;
  NOLI_NEW_ZERO(context, joints, 1);
  connections->forces = &noli_joint_constraint_forces;
  connections->data = *out = joints;
  NOLI_NEW(context, joints->node, NOLI_JOINT_NODES * n);
  NOLI_NEW(context, joints->mass, NOLI_JOINT_NODES * n);
  NOLI_NEW_ZERO(context, joints->borne, n);
  NOLI_NEW_ZERO(context, joints->first, n + 1);
  NOLI_NEW(context, joints->product, MOST_PRODUCTS * n);
  NOLI_NEW(context, joints->size, n);
  NOLI_NEW_ZERO(context, joints->stiffness, n);
done:
  return status;
}

NoliStatus noli_joints_constrain(NoliModel* model, const NoliSimDef* def, const bool* stiff) {
  NoliStatus status = NOLI_OK;
  NoliJointConstraints* joints = NULL;
  for (int32_t i = 0; i < def->n_joints; i++) {
    NoliJointType type = noli_joint_type(&def->joints[i]);
    int32_t begin = stiff[i] ? 0 : products[type].n_shared;
    if (begin == products[type].n) {
      continue;
    }
    if (joints == NULL) {
      NOLI_TRY(allocate(model, def->n_joints - i, &joints));
    }
    NOLI_TRY(add_stencil(model, def, i, begin, joints));
    model->problem.connection[NOLI_CONNECTION_CONSTRAINTS].n = joints->n;
  }
done:
  return status;
}
