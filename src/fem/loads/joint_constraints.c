#include "fem/loads/joint_constraints.h"

#include "math/mat3.h"

#include <math.h>
#include <string.h>

enum { N = NOLI_JOINT_NODES };

static NoliVec3 node_of(const NoliJointConstraints* joints, int64_t s, int k, const double* x) {
  int32_t node = joints->node[N * s + k];
  return node == NOLI_NULL_INDEX ? noli_vec3(0.0, 0.0, 0.0) : noli_load3(x + 3 * (int64_t)node);
}

// Of a motion p: a vector without its constant.
static NoliVec3 moved(const NoliJointConstraints* joints, int64_t s, const NoliJointVector* vector,
                      const double* p) {
  NoliVec3 sum = {0};
  for (int k = 0; k < N; k++) {
    sum = noli_mul_add3(sum, vector->weight[k], node_of(joints, s, k, p));
  }
  return sum;
}

NoliVec3 noli_joint_vector(const NoliJointConstraints* joints, int64_t s,
                           const NoliJointVector* vector, const double* x) {
  return noli_add3(vector->constant, moved(joints, s, vector, x));
}

static double residual(const NoliJointConstraints* joints, int64_t s, int32_t c, const double* x) {
  const NoliJointConstraint* product = &joints->product[c];
  return noli_dot3(noli_joint_vector(joints, s, &product->u, x),
                   noli_joint_vector(joints, s, &product->v, x)) -
         product->target;
}

double noli_joint_gap(const NoliJointConstraints* joints, int64_t s, const double* x) {
  double largest = 0.0;
  for (int32_t c = joints->first[s]; c < joints->first[s + 1]; c++) {
    largest = fmax(largest, fabs(residual(joints, s, c, x)));
  }
  return largest;
}

// Twice the energy of the motion of a joint's bodies against each other, times a squared second.
static double motion_of(const NoliJointConstraints* joints, int64_t s, const double* p) {
  const double* mass = joints->mass + N * s;
  bool grounded = joints->node[N * s + N / 2] == NOLI_NULL_INDEX;
  NoliVec3 mean = {0};
  double sum = 0.0, total = 0.0;
  for (int k = 0; k < N; k++) {
    mean = noli_mul_add3(mean, mass[k], node_of(joints, s, k, p));
    total += mass[k];
  }
  mean = noli_scale3(grounded ? 0.0 : 1.0 / total, mean);
  for (int k = 0; k < N; k++) {
    sum += mass[k] * noli_norm_sqr3(noli_sub3(node_of(joints, s, k, p), mean));
  }
  return sum;
}

double noli_joint_excess(const NoliJointConstraints* joints, const double* p) {
  double largest = 0.0;
  for (int64_t s = 0; s < joints->n; s++) {
    double motion = motion_of(joints, s, p);
    for (int32_t c = joints->first[s]; motion > 0.0 && c < joints->first[s + 1]; c++) {
      const NoliJointConstraint* product = &joints->product[c];
      double second = noli_dot3(moved(joints, s, &product->u, p), moved(joints, s, &product->v, p));
      largest = fmax(largest, joints->stiffness[s] * second * second / motion);
    }
  }
  return largest;
}

// ---- energy -------------------------------------------------------------------------------------

static double energy_of(const void* data, int64_t s, const double* x) {
  const NoliJointConstraints* joints = data;
  double sum = 0.0;
  for (int32_t c = joints->first[s]; c < joints->first[s + 1]; c++) {
    double r = residual(joints, s, c, x);
    sum += 0.5 * joints->stiffness[s] * r * r;
  }
  return sum;
}

// The matrix r (a b^T + b a^T), or its positive part: of its two eigenvalues r (a . b +- |a| |b|)
// at most one is positive.
static void second_order(const NoliJointConstraint* product, double r, bool projected,
                         double out[N][N]) {
  const double *a = product->u.weight, *b = product->v.weight;
  double aa = 0.0, bb = 0.0, ab = 0.0;
  for (int k = 0; k < N; k++) {
    aa += a[k] * a[k];
    bb += b[k] * b[k];
    ab += a[k] * b[k];
  }
  double root = sqrt(aa * bb), sign = r > 0.0 ? 1.0 : -1.0, value = r * (ab + sign * root);
  double of_a = aa > 0.0 ? 1.0 / sqrt(aa) : 0.0, of_b = bb > 0.0 ? 1.0 / sqrt(bb) : 0.0, w[N];
  double length_sqr = 0.0;
  for (int k = 0; k < N; k++) {
    w[k] = of_a * a[k] + sign * of_b * b[k];
    length_sqr += w[k] * w[k];
  }
  double scale = root > 0.0 && length_sqr > 0.0 ? value / length_sqr : 0.0;
  for (int k = 0; k < N; k++) {
    for (int l = 0; l < N; l++) {
      out[k][l] = projected ? scale * w[k] * w[l] : r * (a[k] * b[l] + b[k] * a[l]);
    }
  }
}

// Adds one constraint, with stiffness K, to the gradient and Hessian of its joint.
static void add_constraint(const NoliJointConstraints* joints, int64_t s, int32_t c, double K,
                           const double* x, unsigned what, NoliLocal out) {
  const NoliJointConstraint* product = &joints->product[c];
  NoliVec3 u = noli_joint_vector(joints, s, &product->u, x), g[N];
  NoliVec3 v = noli_joint_vector(joints, s, &product->v, x);
  double r = noli_dot3(u, v) - product->target, second[N][N];
  bool curved = (what & (NOLI_EVAL_HESSIAN | NOLI_EVAL_PROJECTED)) != 0;
  for (int k = 0; k < N; k++) {
    g[k] = noli_mul_add3(noli_scale3(product->u.weight[k], v), product->v.weight[k], u);
  }
  for (int k = 0; k < N && (what & NOLI_EVAL_GRADIENT) != 0; k++) {
    double* own = out.gradient + 3 * (int64_t)k;
    noli_store3(own, noli_mul_add3(noli_load3(own), K * r, g[k]));
  }
  if (!curved) {
    return;
  }
  second_order(product, r, (what & NOLI_EVAL_PROJECTED) != 0, second);
  for (int k = 0; k < N; k++) {
    for (int l = k; l < N; l++) {
      double* block = out.hessian + 9 * (int64_t)noli_stencil_block(N, k, l);
      NoliMat3 add =
          noli_add33(noli_outer33(g[k], g[l]), noli_scale33(second[k][l], noli_identity3()));
      for (int i = 0; i < 9; i++) {
        block[i] += K * add.m[i / 3][i % 3];
      }
    }
  }
}

static void evaluate(const void* user, const double* x, int64_t begin, int64_t end, unsigned what,
                     const NoliLocal* out) {
  const NoliConnectionEnergy* energy = user;
  const NoliJointConstraints* joints = energy->data;
  for (int64_t s = begin; s < end; s++) {
    NoliLocal own = noli_local_at(out, N, s - begin);
    if ((what & NOLI_EVAL_ENERGY) != 0) {
      *own.energy = energy->scale * energy_of(joints, s, x);
    }
    if ((what & NOLI_EVAL_GRADIENT) != 0) {
      memset(own.gradient, 0, 3 * N * sizeof *own.gradient);
    }
    if ((what & (NOLI_EVAL_HESSIAN | NOLI_EVAL_PROJECTED)) != 0) {
      memset(own.hessian, 0, 9 * (size_t)noli_stencil_blocks(N) * sizeof *own.hessian);
    }
    for (int32_t c = joints->first[s]; c < joints->first[s + 1]; c++) {
      add_constraint(joints, s, c, energy->scale * joints->stiffness[s], x, what, own);
    }
  }
}

static NoliEnergyTerm term_of(const NoliConnectionEnergy* energy) {
  const NoliJointConstraints* joints = energy->data;
  return (NoliEnergyTerm){.name = "joints",
                          .data = energy,
                          .evaluate = evaluate,
                          .size = N,
                          .n_stencil = joints->n,
                          .node = joints->node,
                          .fixed = true};
}

static void destroy(NoliContext* context, void* data) {
  NoliJointConstraints* joints = data;
  noli_free(context, joints->node);
  noli_free(context, joints->mass);
  noli_free(context, joints->borne);
  noli_free(context, joints->first);
  noli_free(context, joints->product);
  noli_free(context, joints->size);
  noli_free(context, joints->stiffness);
  noli_free(context, joints);
}

const NoliConnectionForces noli_joint_constraint_forces = {.name = "constraints of joints",
                                                           .eases = true,
                                                           .in_joints = true,
                                                           .term = term_of,
                                                           .energy = energy_of,
                                                           .destroy = destroy};
