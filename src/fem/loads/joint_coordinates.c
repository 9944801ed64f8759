#include "fem/loads/joint_coordinates.h"

#include "math/eigen.h"
#include "math/mat3.h"

#include <math.h>
#include <string.h>

#define PI 3.14159265358979323846

// ---- kinematics ---------------------------------------------------------------------------------

enum { VECTORS = 4, NUMBERS = 3 * VECTORS };

// The four vectors at x; of a field of steps or velocities, what is constant is 0.
static void vectors_at(const NoliCoordinates* all, int32_t k, const double* x, bool moves,
                       NoliVec3 z[VECTORS]) {
  const NoliCoordinate* item = &all->item[k];
  const int32_t* node = all->node + NOLI_COORDINATE_NODES * (int64_t)k;
  for (int i = 0; i < VECTORS; i++) {
    bool other = i >= 2;
    z[i] = other && item->in_world && !moves ? item->fixed[i - 2] : (NoliVec3){0};
    for (int a = 0; a < 4 && !(other && item->in_world); a++) {
      z[i] = noli_mul_add3(z[i], item->weight[i][a],
                           noli_load3(x + 3 * (int64_t)node[(other ? 4 : 0) + a]));
    }
  }
}

// s and c, bilinear in the vectors of both sides.
static double sine(const NoliVec3 a[2], const NoliVec3 b[2]) {
  return noli_dot3(a[0], b[1]) - noli_dot3(a[1], b[0]);
}

static double cosine(const NoliVec3 a[2], const NoliVec3 b[2]) {
  return noli_dot3(a[0], b[0]) + noli_dot3(a[1], b[1]);
}

// The value of an angle that is nearest to `near`: the angle and whole turns, so that its bits
// depend on their number alone.
static double unwrap(double angle, double near) {
  return angle + 2.0 * PI * round((near - angle) / (2.0 * PI));
}

double noli_coordinate_value(const NoliCoordinates* all, int32_t k, const double* x, double near) {
  NoliVec3 z[VECTORS];
  vectors_at(all, k, x, false, z);
  return all->item[k].kind == NOLI_COORDINATE_TURN
             ? unwrap(atan2(sine(z, z + 2), cosine(z, z + 2)), near)
             : noli_dot3(noli_sub3(z[0], z[2]), z[3]);
}

// The gradient of q by the vectors. `by`: those of s and c, for the Hessian.
static void gradient_of(NoliCoordinateKind kind, const NoliVec3 z[VECTORS], double by[2][NUMBERS],
                        double* gradient) {
  if (kind == NOLI_COORDINATE_TRAVEL) {
    noli_store3(gradient, z[3]);
    noli_store3(gradient + 3, (NoliVec3){0});
    noli_store3(gradient + 6, noli_scale3(-1.0, z[3]));
    noli_store3(gradient + 9, noli_sub3(z[0], z[2]));
    return;
  }
  const NoliVec3 of_s[VECTORS] = {z[3], noli_scale3(-1.0, z[2]), noli_scale3(-1.0, z[1]), z[0]};
  const NoliVec3 of_c[VECTORS] = {z[2], z[3], z[0], z[1]};
  double s = sine(z, z + 2), c = cosine(z, z + 2), square = s * s + c * c;
  for (int i = 0; i < VECTORS; i++) {
    noli_store3(by[0] + 3 * i, of_s[i]);
    noli_store3(by[1] + 3 * i, of_c[i]);
  }
  for (int i = 0; i < NUMBERS; i++) {
    gradient[i] = (c * by[0][i] - s * by[1][i]) / square;
  }
}

// Adds `factor` times the identity to block (i, j) of a symmetric matrix of 12 rows, and to (j, i).
static void add_identity(int i, int j, double factor, double* matrix) {
  for (int k = 0; k < 3; k++) {
    matrix[NUMBERS * (3 * i + k) + 3 * j + k] += factor;
    matrix[NUMBERS * (3 * j + k) + 3 * i + k] += factor;
  }
}

// Adds `factor` times the Hessian of q by the vectors.
static void add_hessian(NoliCoordinateKind kind, const NoliVec3 z[VECTORS], double by[2][NUMBERS],
                        double factor, double* matrix) {
  if (kind == NOLI_COORDINATE_TRAVEL) {
    add_identity(0, 3, factor, matrix);
    add_identity(2, 3, -factor, matrix);
    return;
  }
  double s = sine(z, z + 2), c = cosine(z, z + 2), square = s * s + c * c;
  double of_s = factor * c / square, of_c = -factor * s / square;
  add_identity(0, 3, of_s, matrix);
  add_identity(1, 2, -of_s, matrix);
  add_identity(0, 2, of_c, matrix);
  add_identity(1, 3, of_c, matrix);

  // the second derivatives of the angle by s and c
  double mixed = factor * (s * s - c * c) / (square * square);
  double own = -2.0 * factor * s * c / (square * square);
  for (int i = 0; i < NUMBERS; i++) {
    for (int j = 0; j < NUMBERS; j++) {
      matrix[NUMBERS * i + j] += own * (by[0][i] * by[0][j] - by[1][i] * by[1][j]) +
                                 mixed * (by[0][i] * by[1][j] + by[1][i] * by[0][j]);
    }
  }
}

// The gradient by the nodes from that by the vectors.
static void to_nodes(const NoliCoordinate* item, const double* by_vector, double* by_node) {
  memset(by_node, 0, 3 * NOLI_COORDINATE_NODES * sizeof *by_node);
  for (int i = 0; i < (item->in_world ? 2 : VECTORS); i++) {
    for (int a = 0; a < 4; a++) {
      for (int k = 0; k < 3; k++) {
        by_node[3 * ((i < 2 ? 0 : 4) + a) + k] += item->weight[i][a] * by_vector[3 * i + k];
      }
    }
  }
}

static void node_gradient(const NoliCoordinates* all, int32_t k, const double* x,
                          double gradient[3 * NOLI_COORDINATE_NODES]) {
  NoliVec3 z[VECTORS];
  double by[2][NUMBERS], by_vector[NUMBERS];
  vectors_at(all, k, x, false, z);
  gradient_of(all->item[k].kind, z, by, by_vector);
  to_nodes(&all->item[k], by_vector, gradient);
}

double noli_coordinate_speed(const NoliCoordinates* all, int32_t k, const double* x,
                             const double* v) {
  double gradient[3 * NOLI_COORDINATE_NODES], speed = 0.0;
  const int32_t* node = all->node + NOLI_COORDINATE_NODES * (int64_t)k;
  node_gradient(all, k, x, gradient);
  for (int a = 0; a < NOLI_COORDINATE_NODES && node[a] != NOLI_NULL_INDEX; a++) {
    speed += noli_dot3(noli_load3(gradient + 3 * a), noli_load3(v + 3 * (int64_t)node[a]));
  }
  return speed;
}

double noli_coordinates_kinetic_energy(const NoliCoordinates* all, const double* x,
                                       const double* v) {
  double energy = 0.0;
  for (int32_t k = 0; k < all->n; k++) {
    double speed = all->item[k].armature > 0.0 ? noli_coordinate_speed(all, k, x, v) : 0.0;
    energy += 0.5 * all->item[k].armature * speed * speed;
  }
  return energy;
}

void noli_coordinate_add_effort(const NoliCoordinates* all, int32_t k, const double* x,
                                double effort, double* force) {
  double gradient[3 * NOLI_COORDINATE_NODES];
  const int32_t* node = all->node + NOLI_COORDINATE_NODES * (int64_t)k;
  node_gradient(all, k, x, gradient);
  for (int a = 0; a < NOLI_COORDINATE_NODES && node[a] != NOLI_NULL_INDEX; a++) {
    double* to = force + 3 * (int64_t)node[a];
    noli_store3(to, noli_mul_add3(noli_load3(to), effort, noli_load3(gradient + 3 * a)));
  }
}

// ---- laws ---------------------------------------------------------------------------------------

// k/2 d^2, with no more force than `most`.
static NoliCoordinateLaw bounded(double k, double d, double most) {
  double size = fabs(d);
  return k * size <= most
             ? (NoliCoordinateLaw){0.5 * k * d * d, k * d, k}
             : (NoliCoordinateLaw){most * (size - 0.5 * most / k), copysign(most, d), 0.0};
}

NoliCoordinateLaw noli_coordinate_spring(const NoliCoordinate* item, double q) {
  double k = item->stiffness, d = q - item->rest;
  return (NoliCoordinateLaw){0.5 * k * d * d, k * d, k};
}

// Adds the barrier -(d - r)^2 log(d / r) of a distance d < r to a limit, which grows with sign * q.
static void add_barrier(double d, double r, double sign, double k, NoliCoordinateLaw* law) {
  if (d >= r) {
    return;
  }
  if (!(d > 0.0)) {
    *law = (NoliCoordinateLaw){(double)INFINITY, (double)NAN, (double)NAN};
    return;
  }
  double u = d - r, log_d = log(d / r);
  law->energy -= k * u * u * log_d;
  law->first -= sign * k * (2.0 * u * log_d + u * u / d);
  law->second -= k * (2.0 * log_d + 4.0 * u / d - u * u / (d * d));
}

NoliCoordinateLaw noli_coordinate_limit(const NoliCoordinate* item, double q) {
  NoliCoordinateLaw law = {0};
  add_barrier(q - item->lower, item->range, 1.0, item->limit_stiffness, &law);
  add_barrier(item->upper - q, item->range, -1.0, item->limit_stiffness, &law);
  return law;
}

// Position and speed motors are springs between q and a place that their target and the velocity
// give, with no more force than the largest effort.
static NoliCoordinateLaw motor_law(const NoliCoordinateEnergy* energy, const NoliCoordinate* item,
                                   const NoliCoordinateStep* step, double q) {
  double viscous = item->motor_damping / energy->h_v;
  if (item->motor == NOLI_MOTOR_EFFORT) {
    double effort = fmin(fmax(step->target, -item->max_effort), item->max_effort);
    return (NoliCoordinateLaw){-effort * (q - step->begin), -effort, 0.0};
  }
  if (item->motor == NOLI_MOTOR_SPEED) {
    return bounded(viscous, q - step->hat - energy->h_v * step->target, item->max_effort);
  }
  viscous = energy->moves ? viscous : 0.0;
  double k = item->gain + viscous;
  // written by the distance to q, which may be far from 0
  double d = k > 0.0 ? (item->gain * (q - step->target) + viscous * (q - step->hat)) / k : 0.0;
  return bounded(k, d, item->max_effort);
}

static double trial_slip(const NoliCoordinateStep* step, double q) {
  return step->slip + step->rate * (q - step->hat);
}

static NoliCoordinateLaw friction_law(const NoliCoordinate* item, const NoliCoordinateStep* step,
                                      double q) {
  NoliCoordinateLaw law =
      bounded(item->friction / item->slip_length, trial_slip(step, q), item->friction);
  return (NoliCoordinateLaw){law.energy / step->rate, law.first, law.second * step->rate};
}

double noli_coordinate_slip(const NoliCoordinate* item, const NoliCoordinateStep* step, double q) {
  double slip = trial_slip(step, q);
  return fmin(fmax(slip, -item->slip_length), item->slip_length);
}

NoliCoordinateLaw noli_coordinate_law(const NoliCoordinateEnergy* energy, int32_t k, double q) {
  const NoliCoordinate* item = &energy->all->item[k];
  const NoliCoordinateStep* step = &energy->step[k];
  NoliCoordinateLaw law = {0}, limit;
  switch (energy->part) {
  case NOLI_COORDINATE_SPRING:
    law = noli_coordinate_spring(item, q);
    limit = noli_coordinate_limit(item, q);
    law = (NoliCoordinateLaw){law.energy + limit.energy, law.first + limit.first,
                              law.second + limit.second};
    break;
  case NOLI_COORDINATE_MOTOR:
    law = item->motor != NOLI_MOTOR_NONE ? motor_law(energy, item, step, q) : law;
    break;
  case NOLI_COORDINATE_FRICTION:
    law = item->friction > 0.0 ? friction_law(item, step, q) : law;
    break;
  case NOLI_COORDINATE_DAMPING:
    law = bounded(item->damping / energy->h_v, q - step->hat, (double)INFINITY);
    break;
  case NOLI_COORDINATE_ARMATURE:
    law = bounded(item->armature, q - step->tilde, (double)INFINITY);
    break;
  case NOLI_COORDINATE_PARTS:
    break;
  }
  return (NoliCoordinateLaw){energy->scale * law.energy, energy->scale * law.first,
                             energy->scale * law.second};
}

// ---- terms --------------------------------------------------------------------------------------

// The Hessian by the vectors; projected, it is that of Gauss and Newton.
static void vector_hessian(const NoliCoordinate* item, const NoliVec3 z[VECTORS],
                           double by[2][NUMBERS], const double* gradient, NoliCoordinateLaw law,
                           bool projected, double* matrix) {
  memset(matrix, 0, NUMBERS * NUMBERS * sizeof *matrix);
  for (int i = 0; i < NUMBERS; i++) {
    for (int j = 0; j < NUMBERS; j++) {
      matrix[NUMBERS * i + j] = law.second * gradient[i] * gradient[j];
    }
  }
  if (!projected) {
    add_hessian(item->kind, z, by, law.first, matrix);
  }
}

static void blocks_by_node(const NoliCoordinate* item, const double* matrix, double* hessian) {
  int n = item->in_world ? 2 : VECTORS;
  memset(hessian, 0, 9 * sizeof *hessian * (size_t)noli_stencil_blocks(NOLI_COORDINATE_NODES));
  for (int a = 0; a < NOLI_COORDINATE_NODES; a++) {
    for (int b = a; b < NOLI_COORDINATE_NODES; b++) {
      double* block = hessian + 9 * (int64_t)noli_stencil_block(NOLI_COORDINATE_NODES, a, b);
      for (int i = a < 4 ? 0 : 2; i < (a < 4 ? 2 : n); i++) {
        for (int j = b < 4 ? 0 : 2; j < (b < 4 ? 2 : n); j++) {
          double weight = item->weight[i][a % 4] * item->weight[j][b % 4];
          for (int m = 0; m < 9; m++) {
            block[m] += weight * matrix[NUMBERS * (3 * i + m / 3) + 3 * j + m % 3];
          }
        }
      }
    }
  }
}

void noli_coordinate_derivatives(const NoliCoordinates* all, int32_t k, const double* x,
                                 double gradient[3 * NOLI_COORDINATE_NODES], double* hessian) {
  const NoliCoordinate* item = &all->item[k];
  NoliVec3 z[VECTORS];
  double by[2][NUMBERS], by_vector[NUMBERS], matrix[NUMBERS * NUMBERS] = {0};
  vectors_at(all, k, x, false, z);
  gradient_of(item->kind, z, by, by_vector);
  to_nodes(item, by_vector, gradient);
  if (hessian != NULL) {
    add_hessian(item->kind, z, by, 1.0, matrix);
    blocks_by_node(item, matrix, hessian);
  }
}

static void evaluate_coordinates(const void* user, const double* x, int64_t begin, int64_t end,
                                 unsigned what, const NoliLocal* out) {
  const NoliCoordinateEnergy* data = user;
  for (int32_t k = (int32_t)begin; k < end; k++) {
    const NoliCoordinate* item = &data->all->item[k];
    NoliLocal own = noli_local_at(out, NOLI_COORDINATE_NODES, k - begin);
    double q = noli_coordinate_value(data->all, k, x, data->step[k].near);
    NoliCoordinateLaw law = noli_coordinate_law(data, k, q);
    NoliVec3 z[VECTORS];
    double by[2][NUMBERS], by_vector[NUMBERS], scaled[NUMBERS], matrix[NUMBERS * NUMBERS];
    if ((what & NOLI_EVAL_ENERGY) != 0) {
      *own.energy = law.energy;
    }
    if ((what & ~(unsigned)NOLI_EVAL_ENERGY) == 0) {
      continue;
    }
    vectors_at(data->all, k, x, false, z);
    gradient_of(item->kind, z, by, by_vector);
    if ((what & NOLI_EVAL_GRADIENT) != 0) {
      for (int i = 0; i < NUMBERS; i++) {
        scaled[i] = law.first * by_vector[i];
      }
      to_nodes(item, scaled, own.gradient);
    }
    if ((what & (NOLI_EVAL_HESSIAN | NOLI_EVAL_PROJECTED)) != 0) {
      vector_hessian(item, z, by, by_vector, law, (what & NOLI_EVAL_PROJECTED) != 0, matrix);
      blocks_by_node(item, matrix, own.hessian);
    }
  }
}

static bool has_part(const NoliCoordinate* item, const NoliCoordinateEnergy* data) {
  bool has[NOLI_COORDINATE_PARTS] = {
      [NOLI_COORDINATE_SPRING] =
          item->stiffness > 0.0 || isfinite(item->lower) || isfinite(item->upper),
      [NOLI_COORDINATE_MOTOR] = item->motor != NOLI_MOTOR_NONE,
      [NOLI_COORDINATE_FRICTION] = item->friction > 0.0,
      [NOLI_COORDINATE_DAMPING] = item->damping > 0.0 && data->moves,
      [NOLI_COORDINATE_ARMATURE] = item->armature > 0.0 && data->moves,
  };
  return has[data->part];
}

NoliEnergyTerm noli_coordinates_term(const NoliCoordinateEnergy* data) {
  static const char* const names[NOLI_COORDINATE_PARTS] = {
      "springs and limits of joints", "motors of joints", "friction of joints", "dampers of joints",
      "armatures of joints"};
  bool any = false;
  for (int32_t k = 0; k < data->all->n; k++) {
    any = any || has_part(&data->all->item[k], data);
  }
  return (NoliEnergyTerm){.name = names[data->part],
                          .data = data,
                          .evaluate = evaluate_coordinates,
                          .size = NOLI_COORDINATE_NODES,
                          .n_stencil = any ? data->all->n : 0,
                          .node = data->all->node,
                          .fixed = true};
}

// ---- the step bound -----------------------------------------------------------------------------

// A polynomial of degree two.
typedef struct Parabola {
  double of[3];
} Parabola;

// The first root above 0 of a parabola that is positive at 0; INFINITY: none.
static double first_root(Parabola p) {
  double a = p.of[2], b = p.of[1], c = p.of[0], square = b * b - 4.0 * a * c;
  if (square < 0.0) {
    return (double)INFINITY;
  }
  double half = -0.5 * (b + copysign(sqrt(square), b)), best = (double)INFINITY;
  double roots[2] = {a != 0.0 ? half / a : (double)INFINITY,
                     half != 0.0 ? c / half : (double)INFINITY};
  for (int i = 0; i < 2; i++) {
    best = roots[i] > 0.0 && roots[i] < best ? roots[i] : best;
  }
  return best;
}

static Parabola combine(double a, Parabola p, double b, Parabola q) {
  Parabola sum;
  for (int i = 0; i < 3; i++) {
    sum.of[i] = a * p.of[i] + b * q.of[i];
  }
  return sum;
}

// s or c along z + alpha dz.
static Parabola along(double (*form)(const NoliVec3* a, const NoliVec3* b), const NoliVec3* z,
                      const NoliVec3* dz) {
  return (Parabola){{form(z, z + 2), form(z, dz + 2) + form(dz, z + 2), form(dz, dz + 2)}};
}

static double bound_turn(const NoliCoordinate* item, const NoliVec3* z, const NoliVec3* dz,
                         double q) {
  Parabola s = along(sine, z, dz), c = along(cosine, z, dz);
  double limit[2] = {item->lower, item->upper};
  // the part along the direction of the start vanishes after a quarter of a turn
  double first = first_root(combine(s.of[0], s, c.of[0], c));
  for (int side = 0; side < 2; side++) {
    if (fabs(limit[side] - q) < 0.5 * PI) {
      double sign = side == 0 ? 1.0 : -1.0;
      Parabola d = combine(sign * cos(limit[side]), s, -sign * sin(limit[side]), c);
      first = fmin(first, first_root(d));
    }
  }
  return first;
}

static double bound_travel(const NoliCoordinate* item, const NoliVec3* z, const NoliVec3* dz) {
  NoliVec3 d = noli_sub3(z[0], z[2]), moved = noli_sub3(dz[0], dz[2]);
  Parabola q = {
      {noli_dot3(d, z[3]), noli_dot3(d, dz[3]) + noli_dot3(moved, z[3]), noli_dot3(moved, dz[3])}};
  const Parabola one = {{1.0, 0.0, 0.0}};
  double first = (double)INFINITY;
  if (isfinite(item->lower)) {
    first = fmin(first, first_root(combine(1.0, q, -item->lower, one)));
  }
  if (isfinite(item->upper)) {
    first = fmin(first, first_root(combine(-1.0, q, item->upper, one)));
  }
  return first;
}

double noli_coordinates_bound(const NoliCoordinates* all, const NoliCoordinateStep* step,
                              const double* x, const double* p, double safety) {
  double bound = 1.0;
  for (int32_t k = 0; k < all->n; k++) {
    const NoliCoordinate* item = &all->item[k];
    NoliVec3 z[VECTORS], dz[VECTORS];
    vectors_at(all, k, x, false, z);
    vectors_at(all, k, p, true, dz);
    double q = noli_coordinate_value(all, k, x, step[k].near);
    double first =
        item->kind == NOLI_COORDINATE_TURN ? bound_turn(item, z, dz, q) : bound_travel(item, z, dz);
    bound = first <= 1.0 / safety ? fmin(bound, safety * first) : bound;
  }
  return bound;
}

// ---- making -------------------------------------------------------------------------------------

// A limit pushes with about its stiffness times its range, a thousandth of a radian or of a size,
// so with this times the weight of its bodies it bears them in the middle of its range, not at its
// end, where it is so stiff that iterations crawl.
#define BEARS_WEIGHT 1e3

void noli_coordinates_stiffen(NoliCoordinates* all, double time, double gravity) {
  for (int32_t k = 0; k < all->n; k++) {
    NoliCoordinate* item = &all->item[k];
    double rate = fmax(1.0 / (time * time), BEARS_WEIGHT * gravity / item->size);
    item->limit_stiffness = (item->inertia + item->armature) * rate;
  }
}

NoliStatus noli_coordinates_create(NoliContext* context, int32_t n, NoliCoordinates* all) {
  NoliStatus status = NOLI_OK;
  all->n = 0; // callers count what they fill
  NOLI_NEW_ZERO(context, all->item, n);
  NOLI_NEW(context, all->node, NOLI_COORDINATE_NODES * (int64_t)n);
done:
  return status;
}

void noli_coordinates_free(NoliContext* context, NoliCoordinates* all) {
  noli_free(context, all->item);
  noli_free(context, all->node);
  *all = (NoliCoordinates){0};
}
