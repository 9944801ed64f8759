#include "contact/stencil_hessian.h"

#include "linalg/energy_term.h"
#include "math/eigen.h"

#include <string.h>

#define SQRT_1_2 0.70710678118654752440
#define SQRT_1_6 0.40824829046386301637
#define SQRT_1_12 0.28867513459481288225

// Orthonormal rows that sum to zero: row m uses the nodes 0 .. m + 1.
static const double zero_sum_basis[3][4] = {
    {SQRT_1_2, -SQRT_1_2, 0.0, 0.0},
    {SQRT_1_6, SQRT_1_6, -2.0 * SQRT_1_6, 0.0},
    {SQRT_1_12, SQRT_1_12, SQRT_1_12, -3.0 * SQRT_1_12},
};

// Orthonormal frame t1, t2, n of a contact and its directions in that frame.
typedef struct Frame {
  NoliVec3 t[2];
  NoliVec3 n;
  double d;       // r . n
  double omega;   // |w|
  double w[3];    // weights in the zero-sum basis
  double g[2][3]; // directions in that basis, scaled as t
  int32_t n_dir;
} Frame;

// A matrix on the n_dir tangents and the `m` zero-sum weights times n.
typedef struct Small {
  double tt[2][2];
  double tn[2][3];
  double nn[3][3];
} Small;

static void to_zero_sum(const double weight[4], double out[3]) {
  for (int m = 0; m < 3; m++) {
    const double* h = zero_sum_basis[m];
    out[m] = h[0] * weight[0] + h[1] * weight[1] + h[2] * weight[2] + h[3] * weight[3];
  }
}

// Orthonormalizes the directions s_k to t_k (Gram-Schmidt) and transforms g_k in the same way.
static void orthonormal_directions(const NoliClosest* closest, int32_t size, const NoliVec3 y[4],
                                   Frame* frame) {
  for (int32_t k = 0; k < closest->n_dir; k++) {
    NoliVec3 s = {0.0, 0.0, 0.0};
    for (int32_t i = 1; i < size; i++) {
      s = noli_mul_add3(s, closest->dir[k][i], noli_sub3(y[i], y[0]));
    }
    to_zero_sum(closest->dir[k], frame->g[k]);
    if (k == 1) {
      double along = noli_dot3(s, frame->t[0]);
      s = noli_mul_add3(s, -along, frame->t[0]);
      for (int m = 0; m < 3; m++) {
        frame->g[1][m] -= along * frame->g[0][m];
      }
    }
    double scale = 1.0 / noli_norm3(s);
    frame->t[k] = noli_scale3(scale, s);
    for (int m = 0; m < 3; m++) {
      frame->g[k][m] *= scale;
    }
  }
}

// The normal is derived from the directions, because r is inaccurate if d is tiny.
static Frame make_frame(const NoliClosest* closest, int32_t size, const NoliVec3 y[4]) {
  Frame frame = {.n_dir = closest->n_dir};
  const double* w = closest->weight;
  frame.omega = sqrt(w[0] * w[0] + w[1] * w[1] + w[2] * w[2] + w[3] * w[3]);
  to_zero_sum(w, frame.w);
  orthonormal_directions(closest, size, y, &frame);
  if (frame.n_dir == 2) {
    frame.n = noli_cross3(frame.t[0], frame.t[1]);
  } else if (frame.n_dir == 1) {
    double along = noli_dot3(closest->r, frame.t[0]);
    frame.n = noli_normalize3(noli_mul_add3(closest->r, -along, frame.t[0]));
    frame.t[1] = noli_cross3(frame.n, frame.t[0]);
  } else {
    frame.n = noli_normalize3(closest->r);
    frame.t[0] = noli_orthogonal3(frame.n);
    frame.t[1] = noli_cross3(frame.n, frame.t[0]);
  }
  frame.d = noli_dot3(closest->r, frame.n);
  return frame;
}

static Small make_small(const Frame* frame, double beta, double gamma) {
  Small a = {.tt = {{0.0}}};
  double d = frame->d;
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j <= i; j++) {
      double sum = gamma * frame->w[i] * frame->w[j];
      for (int k = 0; k < frame->n_dir; k++) {
        sum += beta * d * d * frame->g[k][i] * frame->g[k][j];
      }
      a.nn[i][j] = a.nn[j][i] = sum;
    }
    for (int k = 0; k < frame->n_dir; k++) {
      a.tn[k][i] = beta * d * frame->omega * frame->g[k][i];
    }
  }
  return a;
}

// Keeps the positive eigenvalues.
static void project_small(Small* a, int32_t n_dir, int32_t m) {
  int32_t n = n_dir + m;
  double full[25], value[5], vector[25];

  // decompose
  for (int32_t i = 0; i < n; i++) {
    for (int32_t j = 0; j < n; j++) {
      if (i < n_dir && j < n_dir) {
        full[i * n + j] = a->tt[i][j];
      } else if (i < n_dir) {
        full[i * n + j] = a->tn[i][j - n_dir];
      } else if (j < n_dir) {
        full[i * n + j] = a->tn[j][i - n_dir];
      } else {
        full[i * n + j] = a->nn[i - n_dir][j - n_dir];
      }
    }
  }
  noli_eigen_symmetric(n, full, value, vector);

  // sum up the upper triangle over positive eigenpairs
  *a = (Small){.tt = {{0.0}}};
  for (int32_t k = 0; k < n; k++) {
    if (value[k] <= 0.0) {
      continue;
    }
    for (int32_t i = 0; i < n; i++) {
      double scaled = value[k] * vector[i * n + k];
      for (int32_t j = i; j < n; j++) {
        double entry = scaled * vector[j * n + k];
        if (j < n_dir) {
          a->tt[i][j] += entry;
        } else if (i < n_dir) {
          a->tn[i][j - n_dir] += entry;
        } else {
          a->nn[i - n_dir][j - n_dir] += entry;
        }
      }
    }
  }

  // symmetric
  a->tt[1][0] = a->tt[0][1];
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < i; j++) {
      a->nn[i][j] = a->nn[j][i];
    }
  }
}

// T = sum_kl tt_kl t_k t_l^T + other times the projector on tangents that are not directions.
static void tangent_block(const Frame* frame, const Small* a, double other, double out[9]) {
  for (int e = 0; e < 9; e++) {
    out[e] = 0.0;
  }
  for (int k = 0; k < 2; k++) {
    const double tk[3] = {frame->t[k].x, frame->t[k].y, frame->t[k].z};
    for (int l = 0; l < 2; l++) {
      const double tl[3] = {frame->t[l].x, frame->t[l].y, frame->t[l].z};
      double s = a->tt[k][l] + (k == l && k >= frame->n_dir ? other : 0.0);
      for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
          out[3 * i + j] += s * tk[i] * tl[j];
        }
      }
    }
  }
}

// Expands to the nodes: with v_i = w_i / omega,
//   block(i, j) = v_i v_j T + v_i c_j n^T + v_j n c_i^T + S_ij n n^T,
//   c_j = sum_k t_k (tn h)_kj,  S = h^T nn h.
static void expand(const Frame* frame, const NoliClosest* closest, int32_t size, const Small* a,
                   double other, double blocks[90]) {
  double T[9], v[4], S[4][4] = {{0.0}};
  NoliVec3 c[4];

  // T, v, c and S
  tangent_block(frame, a, other, T);
  for (int32_t i = 0; i < size; i++) {
    v[i] = closest->weight[i] / frame->omega;
    double tn[2] = {0.0, 0.0}, nh[3] = {0.0, 0.0, 0.0};
    for (int m = 0; m < 3; m++) {
      double h = zero_sum_basis[m][i];
      tn[0] += a->tn[0][m] * h;
      tn[1] += a->tn[1][m] * h;
      nh[0] += a->nn[0][m] * h;
      nh[1] += a->nn[1][m] * h;
      nh[2] += a->nn[2][m] * h;
    }
    c[i] = noli_add3(noli_scale3(tn[0], frame->t[0]), noli_scale3(tn[1], frame->t[1]));
    for (int32_t j = 0; j <= i; j++) {
      S[j][i] = nh[0] * zero_sum_basis[0][j] + nh[1] * zero_sum_basis[1][j] +
                nh[2] * zero_sum_basis[2][j];
    }
  }

  // the blocks
  const double n[3] = {frame->n.x, frame->n.y, frame->n.z};
  for (int32_t i = 0; i < size; i++) {
    for (int32_t j = i; j < size; j++) {
      double* block = blocks + 9 * noli_stencil_block(4, i, j);
      NoliVec3 pv = noli_scale3(v[i], c[j]);
      NoliVec3 qv = noli_mul_add3(noli_scale3(v[j], c[i]), S[i][j], frame->n);
      const double p[3] = {pv.x, pv.y, pv.z}, q[3] = {qv.x, qv.y, qv.z};
      double vv = v[i] * v[j];
      for (int r = 0; r < 3; r++) {
        for (int s = 0; s < 3; s++) {
          block[3 * r + s] = vv * T[3 * r + s] + p[r] * n[s] + n[r] * q[s];
        }
      }
    }
  }
}

void noli_stencil_hessian(const NoliClosest* closest, int32_t size, const NoliVec3 y[4],
                          double first, double second, bool projected, double blocks[90]) {
  if (size < 4) {
    memset(blocks, 0, 90 * sizeof *blocks);
  }
  Frame frame = make_frame(closest, size, y);
  double beta = -2.0 * first, gamma = 4.0 * second * closest->d_sqr + 2.0 * first;
  if (projected && frame.n_dir == 0) {
    gamma = gamma > 0.0 ? gamma : 0.0;
  }
  Small a = make_small(&frame, beta, gamma);
  if (projected && frame.n_dir > 0) {
    project_small(&a, frame.n_dir, size - 1);
  }
  double other = projected ? 0.0 : -beta * frame.omega * frame.omega;
  expand(&frame, closest, size, &a, other, blocks);
}

// Entry (3 i + r, 3 j + s) of the full matrix.
static double full_entry(const double blocks[90], int i, int r, int j, int s) {
  return i <= j ? blocks[9 * noli_stencil_block(4, i, j) + 3 * r + s]
                : blocks[9 * noli_stencil_block(4, j, i) + 3 * s + r];
}

void noli_stencil_project(double blocks[90]) {
  // reduce to the nine dimensions orthogonal to translations: half = H (basis (x) I)
  double half[12][9], reduced[81];
  for (int i = 0; i < 4; i++) {
    for (int r = 0; r < 3; r++) {
      for (int n = 0; n < 3; n++) {
        for (int s = 0; s < 3; s++) {
          double sum = 0.0;
          for (int j = 0; j < 4; j++) {
            sum += full_entry(blocks, i, r, j, s) * zero_sum_basis[n][j];
          }
          half[3 * i + r][3 * n + s] = sum;
        }
      }
    }
  }

  // (basis (x) I)^T half
  for (int m = 0; m < 9; m++) {
    for (int n = m; n < 9; n++) {
      double sum = 0.0;
      for (int i = 0; i < 4; i++) {
        sum += zero_sum_basis[m / 3][i] * half[3 * i + m % 3][n];
      }
      reduced[9 * m + n] = reduced[9 * n + m] = sum;
    }
  }
  noli_project_psd(9, reduced);

  // expand
  for (int i = 0; i < 4; i++) {
    for (int j = i; j < 4; j++) {
      for (int r = 0; r < 3; r++) {
        for (int s = 0; s < 3; s++) {
          double sum = 0.0;
          for (int m = 0; m < 3; m++) {
            for (int n = 0; n < 3; n++) {
              sum += zero_sum_basis[m][i] * zero_sum_basis[n][j] *
                     reduced[9 * (3 * m + r) + 3 * n + s];
            }
          }
          blocks[9 * noli_stencil_block(4, i, j) + 3 * r + s] = sum;
        }
      }
    }
  }
}
