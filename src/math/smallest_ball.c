#include "math/smallest_ball.h"

// Rounding of a radius, relative to it. Points that far outside count as inside.
#define ROUNDING 1e-13

NoliBall noli_ball_empty(void) {
  return (NoliBall){.radius = -1.0};
}

static bool holds(const NoliBall* ball, NoliVec3 x) {
  return noli_norm3(noli_sub3(x, ball->centre)) <= (1.0 + ROUNDING) * ball->radius;
}

// Solves G y = b for symmetric positive definite G of order n <= 3; false where it is singular.
static bool smallest_ball_solve(int n, double G[3][3], double b[3]) {
  for (int k = 0; k < n; k++) {
    if (!(G[k][k] > 0.0)) {
      return false;
    }
    for (int i = k + 1; i < n; i++) {
      double factor = G[i][k] / G[k][k];
      for (int j = k; j < n; j++) {
        G[i][j] -= factor * G[k][j];
      }
      b[i] -= factor * b[k];
    }
  }
  for (int k = n - 1; k >= 0; k--) {
    for (int j = k + 1; j < n; j++) {
      b[k] -= G[k][j] * b[j];
    }
    b[k] /= G[k][k];
  }
  return true;
}

// The smallest ball with all of 1 to 4 points on it. Its centre lies in their span: with edges e_i
// from the first point it is sum y_i e_i, where e_i . sum y_j e_j = |e_i|^2 / 2.
static bool through(NoliBall* ball) {
  NoliVec3 edge[3], arm = {0};
  double G[3][3], y[3];
  int n = ball->n - 1;
  for (int i = 0; i < n; i++) {
    edge[i] = noli_sub3(ball->support[i + 1], ball->support[0]);
    y[i] = 0.5 * noli_norm_sqr3(edge[i]);
  }
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) {
      G[i][j] = noli_dot3(edge[i], edge[j]);
    }
  }
  if (!smallest_ball_solve(n, G, y)) {
    return false;
  }
  for (int i = 0; i < n; i++) {
    arm = noli_mul_add3(arm, y[i], edge[i]);
  }
  ball->centre = noli_add3(ball->support[0], arm);
  ball->radius = noli_norm3(arm);
  return isfinite(ball->radius);
}

// The smallest ball around the points that determine a ball and one outside it, which lies on the
// new ball: the smallest of those through this point and some of the others that holds the rest.
static bool grow(NoliBall* ball, NoliVec3 x) {
  NoliBall best = {.radius = INFINITY};
  for (unsigned some = 0; some < 1u << ball->n; some++) {
    NoliBall trial = {.support = {x}, .n = 1};
    bool fits = true;
    for (int i = 0; i < ball->n && fits; i++) {
      if ((some >> i & 1u) != 0) {
        fits = trial.n < 4;
        trial.support[fits ? trial.n++ : 0] = fits ? ball->support[i] : x;
      }
    }
    fits = fits && through(&trial) && trial.radius < best.radius;
    for (int i = 0; i < ball->n && fits; i++) {
      fits = holds(&trial, ball->support[i]);
    }
    best = fits ? trial : best;
  }
  bool grows = best.radius > ball->radius && isfinite(best.radius);
  *ball = grows ? best : *ball;
  return grows;
}

bool noli_ball_include(NoliBall* ball, int64_t n, const double* x) {
  bool any = false;
  for (bool grows = true; grows;) {
    double farthest = -1.0;
    int64_t at = 0;
    for (int64_t i = 0; i < n; i++) {
      double d_sqr = noli_norm_sqr3(noli_sub3(noli_load3(x + 3 * i), ball->centre));
      at = d_sqr > farthest ? i : at;
      farthest = fmax(farthest, d_sqr);
    }
    grows = n > 0 && !holds(ball, noli_load3(x + 3 * at)) && grow(ball, noli_load3(x + 3 * at));
    any = any || grows;
  }
  return any;
}
