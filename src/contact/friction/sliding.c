#include "contact/friction/sliding.h"

#include <string.h>

enum { NODES = NOLI_SLIDING_NODES };

static NoliVec3 tangential(NoliVec3 a, NoliVec3 n) {
  return noli_mul_add3(a, -noli_dot3(a, n), n);
}

NoliSliding noli_sliding_begin(int32_t size, const int32_t* node, const NoliClosest* closest,
                               const double* x, const double* x_hat) {
  NoliSliding sliding = {.size = size, .closest = *closest, .rate = 1.0};
  for (int32_t i = 0; i < size; i++) {
    int64_t at = 3 * (int64_t)node[i];
    sliding.y[i] = noli_load3(x + at);
    sliding.moved[i] = noli_sub3(sliding.y[i], noli_load3(x_hat + at));
    sliding.q = noli_mul_add3(sliding.q, closest->weight[i], sliding.moved[i]);
  }
  return sliding;
}

void noli_sliding_stick(NoliSliding* sliding, NoliVec3 slip, double rate) {
  for (int32_t i = 0; i < sliding->size; i++) {
    sliding->moved[i] = noli_scale3(rate, sliding->moved[i]);
  }
  sliding->q = noli_mul_add3(slip, rate, sliding->q);
  sliding->held = slip;
  sliding->rate = rate;
}

void noli_sliding_set_normal(NoliSliding* sliding, NoliVec3 n, double d) {
  sliding->n = n;
  sliding->d = d;
  sliding->u = tangential(sliding->q, n);
}

// F = (c / |u|) u - drag lambda s
NoliVec3 noli_sliding_force(const NoliSliding* sliding, const NoliSlidingLaw* law) {
  double over_y = noli_sliding_over_y(law, noli_norm3(sliding->u), sliding->lambda);
  return noli_mul_add3(noli_scale3(over_y, sliding->u), -law->drag * sliding->lambda,
                       sliding->held);
}

NoliVec3 noli_sliding_force_by_lambda(const NoliSliding* sliding, const NoliSlidingLaw* law) {
  double over_y = noli_sliding_over_y_by_lambda(law, noli_norm3(sliding->u));
  return noli_mul_add3(noli_scale3(over_y, sliding->u), -law->drag, sliding->held);
}

// (c / y) (I - s s^T) + c' s s^T with s = u / y; at u = 0 both factors are equal.
NoliMat3 noli_sliding_force_by_sliding(const NoliSliding* sliding, const NoliSlidingLaw* law) {
  double y = noli_norm3(sliding->u);
  double across = noli_sliding_over_y(law, y, sliding->lambda);
  double along = noli_sliding_derivative(law, y, sliding->lambda);
  NoliVec3 s = noli_normalize3(sliding->u);
  return noli_add33(noli_scale33(across, noli_identity3()),
                    noli_scale33(along - across, noli_outer33(s, s)));
}

// Derivatives of weights and normal by the position of one node (collide/closest.h): the parameters
// of the closest points change by dc_k = -B_k . dx, B_k = g_k r + w s_k, with orthonormal
// directions s_k. Hence for node j
//   dw_i = -sum_k g_ki B_kj^T,
//   dq   = w_j I - sum_k (sum_i g_ki (x_i - x_hat_i)) B_kj^T,
//   dn   = -sum_k g_kj s_k n^T + (w_j / d) (P - sum_k s_k s_k^T),
// and du = P dq - (n . q) dn - n (q^T dn).
typedef struct Basis {
  int32_t n_dir;
  NoliVec3 s[2];
  NoliVec3 z[2];   // sum_i g_ki (x_i - x_hat_i)
  NoliMat3 others; // P - sum_k s_k s_k^T: tangents along which the closest points cannot move
} Basis;

static Basis find_basis(const NoliSliding* sliding) {
  Basis basis = {.n_dir = sliding->closest.n_dir};
  basis.others = noli_sub33(noli_identity3(), noli_outer33(sliding->n, sliding->n));
  for (int32_t k = 0; k < basis.n_dir; k++) {
    basis.s[k] = noli_closest_direction(&sliding->closest, k, sliding->size, sliding->y);
    for (int32_t i = 0; i < sliding->size; i++) {
      basis.z[k] = noli_mul_add3(basis.z[k], sliding->closest.dir[k][i], sliding->moved[i]);
    }
    basis.others = noli_sub33(basis.others, noli_outer33(basis.s[k], basis.s[k]));
  }
  // with two directions only rounding errors remain, which would be divided by d
  if (basis.n_dir == 2) {
    basis.others = (NoliMat3){{{0.0}}};
  }
  return basis;
}

// B_kj
static NoliVec3 parameter_row(const NoliSliding* sliding, const Basis* basis, int32_t k,
                              int32_t j) {
  const NoliClosest* closest = &sliding->closest;
  return noli_mul_add3(noli_scale3(closest->dir[k][j], closest->r), closest->weight[j],
                       basis->s[k]);
}

// dn by node j.
static NoliMat3 normal_by_node(const NoliSliding* sliding, const Basis* basis, int32_t j) {
  NoliMat3 dn = noli_scale33(sliding->closest.weight[j] / sliding->d, basis->others);
  for (int32_t k = 0; k < basis->n_dir; k++) {
    dn = noli_sub33(
        dn, noli_scale33(sliding->closest.dir[k][j], noli_outer33(basis->s[k], sliding->n)));
  }
  return dn;
}

// du by node j; `moving`: dq by the displacement of the nodes, without weights.
static NoliMat3 sliding_by_node(const NoliSliding* sliding, const Basis* basis, double moving,
                                int32_t j) {
  NoliMat3 dq = noli_scale33(moving, noli_identity3());
  NoliMat3 dn = normal_by_node(sliding, basis, j);
  for (int32_t k = 0; k < basis->n_dir; k++) {
    dq = noli_sub33(dq, noli_outer33(basis->z[k], parameter_row(sliding, basis, k, j)));
  }
  NoliMat3 du = noli_sub33(dq, noli_outer33(sliding->n, noli_transpose_mul33_vec(&dq, sliding->n)));
  du = noli_sub33(du, noli_scale33(noli_dot3(sliding->n, sliding->q), dn));
  return noli_sub33(du, noli_outer33(sliding->n, noli_transpose_mul33_vec(&dn, sliding->q)));
}

// Block (i, j) = w_i dF/dx_j + F (dw_i/dx_j)^T.
void noli_sliding_jacobian(const NoliSliding* sliding, const NoliSlidingLaw* law, bool moves,
                           double jacobian[9 * NODES * NODES]) {
  Basis basis = {.n_dir = 0};
  if (moves) {
    basis = find_basis(sliding);
  }
  NoliVec3 force = noli_sliding_force(sliding, law);
  NoliMat3 by_sliding = noli_sliding_force_by_sliding(sliding, law);
  memset(jacobian, 0, 9 * NODES * NODES * sizeof *jacobian);
  for (int32_t j = 0; j < sliding->size; j++) {
    NoliMat3 du = sliding_by_node(sliding, &basis, sliding->rate * sliding->closest.weight[j], j);
    NoliMat3 df = noli_mul33(by_sliding, du);
    for (int32_t i = 0; i < sliding->size; i++) {
      NoliMat3 block = noli_scale33(sliding->closest.weight[i], df);
      for (int32_t k = 0; k < basis.n_dir; k++) {
        NoliVec3 row = parameter_row(sliding, &basis, k, j);
        block =
            noli_sub33(block, noli_outer33(noli_scale3(sliding->closest.dir[k][i], force), row));
      }
      noli_store33(jacobian + 9 * (i * NODES + j), &block);
    }
  }
}

// ---- derivatives by other numbers ---------------------------------------------------------------

NoliSlidingGeometry noli_sliding_geometry(const NoliSliding* sliding, int32_t j) {
  NoliSlidingGeometry made = {.normal = {{{0.0}}}};
  Basis basis = find_basis(sliding);
  made.normal = normal_by_node(sliding, &basis, j);
  made.u = sliding_by_node(sliding, &basis, 0.0, j);
  for (int32_t k = 0; k < basis.n_dir; k++) {
    NoliVec3 row = parameter_row(sliding, &basis, k, j);
    for (int32_t i = 0; i < sliding->size; i++) {
      made.weight[i] = noli_mul_add3(made.weight[i], -sliding->closest.dir[k][i], row);
    }
  }
  return made;
}

void noli_sliding_move(NoliSliding* sliding, const int32_t* node, const double* x,
                       const double* x_hat) {
  sliding->q = sliding->held;
  for (int32_t i = 0; i < sliding->size; i++) {
    int64_t k = 3 * (int64_t)node[i];
    NoliVec3 moved = noli_sub3(noli_load3(x + k), noli_load3(x_hat + k));
    sliding->moved[i] = noli_scale3(sliding->rate, moved);
    sliding->q = noli_mul_add3(sliding->q, sliding->closest.weight[i], sliding->moved[i]);
  }
  noli_sliding_set_normal(sliding, sliding->n, sliding->d);
}

// out += factor times a Jacobian, as rows.
static void add_rows(const NoliSliding* sliding, const NoliSlidingLaw* law, bool moves,
                     double factor, double out[9 * NODES * NODES]) {
  double jacobian[9 * NODES * NODES];
  noli_sliding_jacobian(sliding, law, moves, jacobian);
  for (int32_t i = 0; i < sliding->size; i++) {
    for (int32_t j = 0; j < sliding->size; j++) {
      for (int e = 0; e < 9; e++) {
        out[3 * NODES * (3 * i + e / 3) + 3 * j + e % 3] +=
            factor * jacobian[9 * (i * NODES + j) + e];
      }
    }
  }
}

void noli_sliding_geometry_derivatives(const NoliSliding* sliding, const NoliSlidingLaw* law,
                                       double out[9 * NODES * NODES]) {
  memset(out, 0, 9 * NODES * NODES * sizeof *out);
  add_rows(sliding, law, true, 1.0, out);
  add_rows(sliding, law, false, -1.0, out);
}

void noli_sliding_reference_derivatives(const NoliSliding* sliding, const NoliSlidingLaw* law,
                                        double out[9 * NODES * NODES]) {
  memset(out, 0, 9 * NODES * NODES * sizeof *out);
  add_rows(sliding, law, false, -1.0, out);
}

// The force of mu_d f1 + (mu_s - mu_d) g f1 by mu_d: mu_s stays where it is larger, and follows
// where both are the same.
void noli_sliding_coefficient_derivatives(const NoliSliding* sliding, const NoliSlidingLaw* law,
                                          double out[3 * NODES]) {
  NoliSlidingLaw dry = {.mu_d = 1.0, .eps = law->eps};
  NoliVec3 change = noli_sliding_force(sliding, &dry);
  if (law->rise > 0.0) {
    NoliSlidingLaw rise = {.rise = 1.0, .eps = law->eps, .reach = law->reach, .start = law->start};
    change = noli_sub3(change, noli_sliding_force(sliding, &rise));
  }
  for (int32_t i = 0; i < sliding->size; i++) {
    noli_store3(out + 3 * i, noli_scale3(sliding->closest.weight[i], change));
  }
}
