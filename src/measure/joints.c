// Joints: their coordinates and efforts are those of the last step. What a joint transmits follows
// from the balance of the bodies, inertia included: sums over a body leave out what happens inside
// it. A body with one joint gives all that this joint exerts, and so on along chains and trees.
// Loops are left, in which each joint transmits what its type does not leave free: the smallest
// forces that balance, by the method of conjugate gradients for least squares.
#include "measure/joints.h"

#include "define/joint_coordinate.h"
#include "math/vec3.h"
#include "model/connections/joint.h"
#include "step/joints.h"

#include <math.h>
#include <string.h>

// Where the iteration for loops ends, squared, and at the latest.
#define LEAST 1e-26
enum { MOST_ITERATIONS = 2000 };

// ---- coordinates and efforts --------------------------------------------------------------------

static double effort_of(const NoliSim* sim, NoliCoordinatePart part, int32_t k) {
  const NoliStage* stage = sim->stage;
  const NoliCoordinateEnergy energy = {.all = &sim->model->problem.coordinates,
                                       .step = stage->coordinates,
                                       .part = part,
                                       .scale = 1.0,
                                       .h_v = stage->time.h_v,
                                       .moves = stage->time.inertia};
  const NoliCoordinate* item = &energy.all->item[k];
  double q = stage->coordinates[k].near, effort;
  bool of_motion = part == NOLI_COORDINATE_DAMPING || part == NOLI_COORDINATE_ARMATURE;
  if (of_motion && !stage->time.inertia) {
    return 0.0;
  }
  effort = part == NOLI_COORDINATE_SPRING ? -noli_coordinate_spring(item, q).first
                                          : -noli_coordinate_law(&energy, k, q).first;
  effort /= part == NOLI_COORDINATE_ARMATURE ? stage->time.h_e * stage->time.h_e : 1.0;
  return effort + 0.0; // no "-0"
}

static void set_coordinates(const NoliSim* sim, int32_t index, NoliJointState* joint) {
  int32_t first = noli_sim_first_coordinate(sim, index, &joint->n);
  for (int32_t i = 0; i < joint->n; i++) {
    int32_t k = first + i;
    const double* own = noli_sim_joint_numbers(sim, k);
    joint->coordinate[i] = sim->model->problem.coordinates.item[k].start + own[NOLI_JOINT_PLACE];
    joint->speed[i] = own[NOLI_JOINT_SPEED];
    if (sim->outcome.reported) {
      const NoliCoordinate* item = &sim->model->problem.coordinates.item[k];
      joint->motor[i] = effort_of(sim, NOLI_COORDINATE_MOTOR, k);
      joint->limit[i] = 0.0 - noli_coordinate_limit(item, sim->stage->coordinates[k].near).first;
      joint->spring[i] = effort_of(sim, NOLI_COORDINATE_SPRING, k);
      joint->damper[i] = effort_of(sim, NOLI_COORDINATE_DAMPING, k);
      joint->friction[i] = effort_of(sim, NOLI_COORDINATE_FRICTION, k);
    }
  }
}

// ---- the balance --------------------------------------------------------------------------------

// A force and a torque about a point.
typedef struct Wrench {
  NoliVec3 force, torque;
} Wrench;

typedef struct Link {
  int32_t body[2]; // NOLI_NULL_INDEX: no equations
  NoliVec3 at, axis;
  NoliJointRelease free_force, free_torque;
  bool known;
  Wrench on_first; // about `at`
} Link;

typedef struct Balance {
  const NoliSim* sim;
  int32_t n;        // joints
  Link* link;       // (n)
  int32_t* n_open;  // (n_body) joints that are not known
  NoliVec3* centre; // (n_body)
  Wrench* left;     // (n_body) what does not balance, about the centre
  Wrench* scratch;  // (3 n + n_body)
  double length;    // m, by which torques are divided
} Balance;

static bool has_equations(const NoliSim* sim, int32_t body) {
  if (body == NOLI_NULL_INDEX || !sim->model->carried[body]) {
    return false;
  }
  for (int32_t m = 0; m < sim->model->n_motion; m++) {
    if (sim->model->motion[m].def.body == body) {
      return false;
    }
  }
  return true;
}

// Adds `sign` times the wrench about `at` to that about the centre of a body.
static void add_wrench(const Balance* balance, const Link* link, int side, Wrench wrench,
                       double sign, Wrench* sum) {
  int32_t body = link->body[side];
  if (body == NOLI_NULL_INDEX) {
    return;
  }
  double by = side == 0 ? sign : -sign;
  NoliVec3 arm = noli_sub3(link->at, balance->centre[body]);
  NoliVec3 torque = noli_add3(wrench.torque, noli_cross3(arm, wrench.force));
  sum[body].force = noli_mul_add3(sum[body].force, by, wrench.force);
  sum[body].torque = noli_mul_add3(sum[body].torque, by, torque);
}

// The link of a joint: where it is now, and the efforts in its coordinates.
static void make_link(Balance* balance, int32_t index) {
  const NoliSim* sim = balance->sim;
  const NoliModel* model = sim->model;
  const NoliJointDef* joint = &sim->definition.def->joints[index];
  NoliJointFreedom freedom = noli_joint_freedom(joint->type);
  Link* link = &balance->link[index];
  NoliVec3 at = noli_load3(joint->at), axis = noli_normalize3(noli_load3(joint->axis));
  double of_point[4], of_axis[4];
  *link = (Link){.body = {has_equations(sim, joint->body) ? joint->body : NOLI_NULL_INDEX,
                          has_equations(sim, joint->to) ? joint->to : NOLI_NULL_INDEX},
                 .free_force = freedom.force,
                 .free_torque = freedom.torque};
  const double* x = sim->state.x + 3 * (int64_t)model->vert_first[joint->body];
  noli_joint_point_weights(model, joint->body, at, of_point);
  noli_joint_vector_weights(model, joint->body, axis, of_axis);
  for (int k = 0; k < 4; k++) {
    link->at = noli_mul_add3(link->at, of_point[k], noli_load3(x + 3 * k));
    link->axis = noli_mul_add3(link->axis, of_axis[k], noli_load3(x + 3 * k));
  }
  balance->length = fmax(balance->length, sqrt(noli_norm_sqr3(noli_sub3(noli_load3(x), link->at))));
}

// Adds the force on a vertex to those on a rigid body.
static void add_force(Balance* balance, int32_t body, int32_t vertex, const double* force) {
  const NoliSim* sim = balance->sim;
  if (body == NOLI_NULL_INDEX || !sim->model->carried[body]) {
    return;
  }
  NoliVec3 f = noli_load3(force + 3 * (int64_t)vertex);
  NoliVec3 x = noli_load3(sim->stage->here->x + 3 * (int64_t)vertex);
  Wrench* left = &balance->left[body];
  left->force = noli_add3(left->force, f);
  left->torque = noli_add3(left->torque, noli_cross3(noli_sub3(x, balance->centre[body]), f));
}

static NoliStatus sum_forces(Balance* balance, double* force) {
  NoliStatus status = NOLI_OK;
  const NoliSim* sim = balance->sim;
  const NoliModel* model = sim->model;
  NOLI_TRY(noli_stage_add_own_forces(sim->stage, force));
  for (int32_t b = 0; b < model->n_body; b++) {
    for (int32_t k = 0; k < 4 && model->carried[b]; k++) {
      NoliVec3 x = noli_load3(sim->state.x + 3 * ((int64_t)model->vert_first[b] + k));
      balance->centre[b] = noli_mul_add3(balance->centre[b], 0.25, x);
    }
  }
  for (int32_t v = 0; v < model->problem.n_vert; v++) {
    add_force(balance, model->problem.surface->body[v], v, force);
  }
  // ties of soft bodies
  for (int32_t i = 0; i < model->n_bound; i++) {
    if (model->bound[i].kind == NOLI_CONNECTION_TIE) {
      int32_t to = sim->definition.def->ties[model->bound[i].item].to;
      add_force(balance, to, model->bound[i].node, force);
    }
  }
done:
  return status;
}

// Adds a wrench to what a joint exerts.
static void exert(Balance* balance, Link* link, Wrench wrench) {
  link->on_first.force = noli_add3(link->on_first.force, wrench.force);
  link->on_first.torque = noli_add3(link->on_first.torque, wrench.torque);
  for (int side = 0; side < 2; side++) {
    add_wrench(balance, link, side, wrench, 1.0, balance->left);
  }
}

// Joints of bodies with one of them that is not known.
static void peel(Balance* balance) {
  bool found = true;
  while (found) {
    found = false;
    for (int32_t i = 0; i < balance->n; i++) {
      Link* link = &balance->link[i];
      for (int side = 0; side < 2 && !link->known; side++) {
        int32_t body = link->body[side];
        if (body == NOLI_NULL_INDEX || balance->n_open[body] != 1) {
          continue;
        }
        double sign = side == 0 ? -1.0 : 1.0;
        Wrench left = balance->left[body];
        NoliVec3 arm = noli_sub3(link->at, balance->centre[body]);
        Wrench wrench = {noli_scale3(sign, left.force),
                         noli_scale3(sign, noli_sub3(left.torque, noli_cross3(arm, left.force)))};
        exert(balance, link, wrench);
        link->known = found = true;
        for (int k = 0; k < 2; k++) {
          balance->n_open[link->body[k] != NOLI_NULL_INDEX ? link->body[k]
                                                           : balance->sim->model->n_body]--;
        }
      }
    }
  }
}

// ---- loops --------------------------------------------------------------------------------------

static NoliVec3 without(NoliJointRelease release, NoliVec3 axis, NoliVec3 v) {
  NoliVec3 along = noli_scale3(noli_dot3(v, axis) / noli_norm_sqr3(axis), axis);
  return release == NOLI_RELEASE_NONE     ? v
         : release == NOLI_RELEASE_AXIS   ? noli_sub3(v, along)
         : release == NOLI_RELEASE_ACROSS ? along
                                          : (NoliVec3){0};
}

// Scaled unknowns: forces, and torques over the length.
static Wrench scaled(Wrench wrench, double by) {
  return (Wrench){wrench.force, noli_scale3(by, wrench.torque)};
}

static Wrench transmitted(const Link* link, Wrench wrench) {
  return (Wrench){without(link->free_force, link->axis, wrench.force),
                  without(link->free_torque, link->axis, wrench.torque)};
}

static double square(const Wrench* wrench, int32_t n) {
  double sum = 0.0;
  for (int32_t i = 0; i < n; i++) {
    sum += noli_norm_sqr3(wrench[i].force) + noli_norm_sqr3(wrench[i].torque);
  }
  return sum;
}

// What joints exert on bodies, in scaled numbers.
static void to_bodies(const Balance* balance, const Wrench* p, Wrench* q) {
  int32_t n_body = balance->sim->model->n_body;
  memset(q, 0, (size_t)n_body * sizeof *q);
  for (int32_t i = 0; i < balance->n; i++) {
    const Link* link = &balance->link[i];
    for (int side = 0; side < 2 && !link->known; side++) {
      add_wrench(balance, link, side, scaled(p[i], balance->length), 1.0, q);
    }
  }
  for (int32_t b = 0; b < n_body; b++) {
    q[b] = scaled(q[b], 1.0 / balance->length);
  }
}

// The transposed map.
static void to_joints(const Balance* balance, const Wrench* r, Wrench* s) {
  for (int32_t i = 0; i < balance->n; i++) {
    const Link* link = &balance->link[i];
    s[i] = (Wrench){0};
    for (int side = 0; side < 2 && !link->known; side++) {
      int32_t body = link->body[side];
      if (body == NOLI_NULL_INDEX) {
        continue;
      }
      double sign = side == 0 ? 1.0 : -1.0;
      NoliVec3 arm = noli_sub3(link->at, balance->centre[body]);
      NoliVec3 turned = noli_scale3(1.0 / balance->length, noli_cross3(r[body].torque, arm));
      s[i].force = noli_mul_add3(s[i].force, sign, noli_add3(r[body].force, turned));
      s[i].torque = noli_mul_add3(s[i].torque, sign, r[body].torque);
    }
    s[i] = transmitted(link, s[i]);
  }
}

static void add_scaled(Wrench* to, double by, const Wrench* from, int32_t n) {
  for (int32_t i = 0; i < n; i++) {
    to[i].force = noli_mul_add3(to[i].force, by, from[i].force);
    to[i].torque = noli_mul_add3(to[i].torque, by, from[i].torque);
  }
}

static void solve_loops(Balance* balance) {
  int32_t n = balance->n, n_body = balance->sim->model->n_body;
  Wrench *w = balance->scratch, *s = w + n, *p = s + n, *q = p + n, *r = q + n_body;
  memset(w, 0, (size_t)n * sizeof *w);
  for (int32_t b = 0; b < n_body; b++) {
    Wrench left = scaled(balance->left[b], 1.0 / balance->length);
    bool open = balance->n_open[b] > 0;
    r[b] = open ? (Wrench){noli_scale3(-1.0, left.force), noli_scale3(-1.0, left.torque)}
                : (Wrench){0};
  }
  to_joints(balance, r, s);
  memcpy(p, s, (size_t)n * sizeof *p);
  double gamma = square(s, n), least = LEAST * gamma;
  for (int32_t i = 0; i < MOST_ITERATIONS && gamma > least; i++) {
    to_bodies(balance, p, q);
    double step = gamma / square(q, n_body), before = gamma;
    add_scaled(w, step, p, n);
    add_scaled(r, -step, q, n_body);
    to_joints(balance, r, s);
    gamma = square(s, n);
    for (int32_t k = 0; k < n; k++) {
      double by = gamma / before;
      p[k] = (Wrench){noli_mul_add3(s[k].force, by, p[k].force),
                      noli_mul_add3(s[k].torque, by, p[k].torque)};
    }
  }
  for (int32_t i = 0; i < n; i++) {
    if (!balance->link[i].known) {
      exert(balance, &balance->link[i], scaled(w[i], balance->length));
    }
  }
}

// The efforts in the coordinates of joints that are not known.
static void exert_efforts(Balance* balance, double* force) {
  const NoliSim* sim = balance->sim;
  const NoliCoordinates* all = &sim->model->problem.coordinates;
  for (int32_t k = 0; k < all->n; k++) {
    Link* link = &balance->link[all->item[k].joint];
    const int32_t* node = all->node + NOLI_COORDINATE_NODES * (int64_t)k;
    const double* x = sim->stage->here->x;
    double effort = -noli_coordinate_limit(&all->item[k], sim->stage->coordinates[k].near).first;
    Wrench wrench = {0};
    for (int part = 0; part < NOLI_COORDINATE_PARTS; part++) {
      effort += effort_of(sim, (NoliCoordinatePart)part, k);
    }
    if (link->known) {
      continue;
    }
    for (int a = 0; a < 4; a++) {
      memset(force + 3 * (int64_t)node[a], 0, 3 * sizeof *force);
    }
    noli_coordinate_add_effort(all, k, x, effort, force);
    for (int a = 0; a < 4; a++) {
      NoliVec3 f = noli_load3(force + 3 * (int64_t)node[a]);
      NoliVec3 arm = noli_sub3(noli_load3(x + 3 * (int64_t)node[a]), link->at);
      wrench.force = noli_add3(wrench.force, f);
      wrench.torque = noli_add3(wrench.torque, noli_cross3(arm, f));
    }
    exert(balance, link, wrench);
  }
}

static NoliStatus balance_joints(Balance* balance) {
  NoliStatus status = NOLI_OK;
  NoliContext* context = balance->sim->context;
  const NoliModel* model = balance->sim->model;
  double* force = NULL;
  NOLI_NEW_ZERO(context, force, 3 * (int64_t)model->problem.n_vert);
  NOLI_TRY(sum_forces(balance, force));
  for (int32_t i = 0; i < balance->n; i++) {
    make_link(balance, i);
    for (int k = 0; k < 2; k++) {
      int32_t body = balance->link[i].body[k];
      balance->n_open[body != NOLI_NULL_INDEX ? body : model->n_body]++;
    }
  }
  peel(balance);
  bool loops = false;
  for (int32_t i = 0; i < balance->n; i++) {
    loops = loops || !balance->link[i].known;
  }
  if (loops) {
    exert_efforts(balance, force);
    solve_loops(balance);
  }
done:
  noli_free(context, force);
  return status;
}

static NoliStatus find_forces(NoliSim* sim) {
  NoliStatus status = NOLI_OK;
  NoliContext* context = sim->context;
  int32_t n_body = sim->model->n_body;
  Balance balance = {.sim = sim, .n = sim->definition.def->n_joints};
  NOLI_NEW_ZERO(context, balance.link, balance.n);
  NOLI_NEW_ZERO(context, balance.n_open, n_body + 1);
  NOLI_NEW_ZERO(context, balance.centre, n_body);
  NOLI_NEW_ZERO(context, balance.left, n_body);
  NOLI_NEW_ZERO(context, balance.scratch, 3 * (int64_t)balance.n + 2 * (int64_t)n_body);
  NOLI_TRY(balance_joints(&balance));
  for (int32_t i = 0; i < balance.n; i++) {
    noli_store3(sim->results.joints[i].at, balance.link[i].at);
    noli_store3(sim->results.joints[i].force, balance.link[i].on_first.force);
    noli_store3(sim->results.joints[i].torque, balance.link[i].on_first.torque);
  }
done:
  noli_free(context, balance.link);
  noli_free(context, balance.n_open);
  noli_free(context, balance.centre);
  noli_free(context, balance.left);
  noli_free(context, balance.scratch);
  return status;
}

NoliStatus noli_sim_joints(NoliSim* sim, const NoliJointState** joints, int32_t* n_joints) {
  NOLI_REQUIRE_READABLE(sim, sim != NULL && joints != NULL && n_joints != NULL);
  NoliStatus status = NOLI_OK;
  const NoliSimDef* def = sim->definition.def;
  for (int32_t i = 0; i < def->n_joints; i++) {
    sim->results.joints[i] = (NoliJointState){.body = def->joints[i].body, .to = def->joints[i].to};
    set_coordinates(sim, i, &sim->results.joints[i]);
  }
  if (sim->outcome.reported && def->n_joints > 0) {
    NOLI_TRY(find_forces(sim));
  }
  *joints = sim->results.joints;
  *n_joints = def->n_joints;
done:
  return noli_ranks_agree(sim->context, status);
}

void noli_joint_values(const NoliJointState* joint, double value[NOLI_JOINT_VALUES]) {
  for (int i = 0; i < 2; i++) {
    const double own[7] = {joint->coordinate[i], joint->speed[i],  joint->motor[i],
                           joint->limit[i],      joint->spring[i], joint->damper[i],
                           joint->friction[i]};
    memcpy(value + 7 * i, own, sizeof own);
  }
  memcpy(value + 14, joint->force, sizeof joint->force);
  memcpy(value + 17, joint->torque, sizeof joint->torque);
}
