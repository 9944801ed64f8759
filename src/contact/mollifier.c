#include "contact/mollifier.h"

#include <string.h>

double noli_mollifier_eps_x(const NoliVec3 X[4]) {
  return 1e-3 * noli_norm_sqr3(noli_sub3(X[1], X[0])) * noli_norm_sqr3(noli_sub3(X[3], X[2]));
}

double noli_mollifier_cross_sqr(const NoliVec3 x[4]) {
  return noli_norm_sqr3(noli_cross3(noli_sub3(x[1], x[0]), noli_sub3(x[3], x[2])));
}

double noli_mollifier_value(const NoliVec3 x[4], double eps_x) {
  double c = noli_mollifier_cross_sqr(x);
  return c < eps_x ? (c / eps_x) * (2.0 - c / eps_x) : c >= eps_x ? 1.0 : c;
}

//   de/deps = (2 c / eps^2) (c / eps - 1),   d(grad e)/deps = (2 c / eps - 1) / (eps - c) grad e
double noli_mollifier_by_eps(const NoliVec3 x[4], double eps_x, double* of_gradient) {
  double c = noli_mollifier_cross_sqr(x), share = c / eps_x;
  *of_gradient = c < eps_x ? (2.0 * share - 1.0) / (eps_x - c) : 0.0;
  return c < eps_x ? 2.0 * share / eps_x * (share - 1.0) : 0.0;
}

void noli_mollifier_eps_by_rest(const NoliVec3 X[4], double by_rest[12]) {
  NoliVec3 u = noli_sub3(X[1], X[0]), v = noli_sub3(X[3], X[2]);
  double eps = noli_mollifier_eps_x(X);
  NoliVec3 by_u = noli_scale3(2.0 * eps / noli_norm_sqr3(u), u);
  NoliVec3 by_v = noli_scale3(2.0 * eps / noli_norm_sqr3(v), v);
  noli_store3(by_rest, noli_scale3(-1.0, by_u));
  noli_store3(by_rest + 3, by_u);
  noli_store3(by_rest + 6, noli_scale3(-1.0, by_v));
  noli_store3(by_rest + 9, by_v);
}

// Converts the gradient and the Hessian of f(u, v) to the four nodes: with u = x1 - x0 and
// v = x3 - x2 each node enters one vector with sign -1 or +1.
static void scatter_gradient(NoliVec3 gu, NoliVec3 gv, double gradient[12]) {
  noli_store3(gradient + 0, noli_scale3(-1.0, gu));
  noli_store3(gradient + 3, gu);
  noli_store3(gradient + 6, noli_scale3(-1.0, gv));
  noli_store3(gradient + 9, gv);
}

static void scatter_hessian(double block[2][2][9], double* hessian) {
  for (int a = 0; a < 4; a++) {
    for (int b = 0; b < 4; b++) {
      double sign = a % 2 == b % 2 ? 1.0 : -1.0;
      const double* from = block[a / 2][b / 2];
      for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
          hessian[(3 * a + i) * 12 + 3 * b + j] = sign * from[3 * i + j];
        }
      }
    }
  }
}

// With n = u x v and c = |n|^2:
//   dc/du = 2 v x n,  dc/dv = 2 n x u,
//   d2c/du2 = 2 (|v|^2 I - v v^T),  d2c/dv2 = 2 (|u|^2 I - u u^T),
//   d2c/dudv = 2 (2 u v^T - v u^T - (u.v) I),
// and Hess e = e' Hess c + e'' grad c grad c^T.
static void hessian_blocks(const double u[3], const double v[3], const double gu[3],
                           const double gv[3], double first, double second, double block[2][2][9]) {
  double uu = u[0] * u[0] + u[1] * u[1] + u[2] * u[2];
  double vv = v[0] * v[0] + v[1] * v[1] + v[2] * v[2];
  double uv = u[0] * v[0] + u[1] * v[1] + u[2] * v[2];
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) {
      double delta = i == j ? 1.0 : 0.0;
      block[0][0][3 * i + j] = 2.0 * first * (vv * delta - v[i] * v[j]) + second * gu[i] * gu[j];
      block[1][1][3 * i + j] = 2.0 * first * (uu * delta - u[i] * u[j]) + second * gv[i] * gv[j];
      block[0][1][3 * i + j] =
          2.0 * first * (2.0 * u[i] * v[j] - v[i] * u[j] - uv * delta) + second * gu[i] * gv[j];
      block[1][0][3 * j + i] = block[0][1][3 * i + j];
    }
  }
}

double noli_mollifier_derivatives(const NoliVec3 x[4], double eps_x, double gradient[12],
                                  double* hessian) {
  NoliVec3 u = noli_sub3(x[1], x[0]), v = noli_sub3(x[3], x[2]);
  NoliVec3 n = noli_cross3(u, v);
  double c = noli_norm_sqr3(n);
  if (c >= eps_x) {
    memset(gradient, 0, 12 * sizeof *gradient);
    if (hessian != NULL) {
      memset(hessian, 0, 144 * sizeof *hessian);
    }
    return 1.0;
  }
  double first = 2.0 / eps_x * (1.0 - c / eps_x), second = -2.0 / (eps_x * eps_x);
  NoliVec3 gu = noli_scale3(2.0, noli_cross3(v, n)), gv = noli_scale3(2.0, noli_cross3(n, u));
  scatter_gradient(noli_scale3(first, gu), noli_scale3(first, gv), gradient);
  if (hessian != NULL) {
    double block[2][2][9];
    hessian_blocks((const double[]){u.x, u.y, u.z}, (const double[]){v.x, v.y, v.z},
                   (const double[]){gu.x, gu.y, gu.z}, (const double[]){gv.x, gv.y, gv.z}, first,
                   second, block);
    scatter_hessian(block, hessian);
  }
  return c / eps_x * (2.0 - c / eps_x);
}
