// Plane rotations, accumulated in V, make the columns of B = F V orthogonal. The columns are then
// sorted by length; U is an orthonormal frame along the first two, and its third axis is their
// cross product: U is a rotation by construction, and the last singular value gets its sign from
// the projection on that axis.
#include "math/svd3.h"

#include <float.h>
#include <stdbool.h>

// Columns a, b count as orthogonal if |a.b| <= TOLERANCE |a| |b|, the accuracy of the dot product.
// Jacobi converges quadratically, in about five sweeps; the bound ends the loop for NaN.
#define TOLERANCE (4.0 * DBL_EPSILON)
enum { SWEEPS_MAX = 16 };

typedef struct Columns {
  NoliVec3 b[3]; // columns of F V
  NoliVec3 v[3]; // columns of V
} Columns;

// Rotates columns p and q so that b[p] and b[q] become orthogonal. Returns false if they are.
static inline bool rotate(Columns* c, int p, int q) {
  double alpha = noli_norm_sqr3(c->b[p]);
  double beta = noli_norm_sqr3(c->b[q]);
  double gamma = noli_dot3(c->b[p], c->b[q]);
  if (!(gamma * gamma > TOLERANCE * TOLERANCE * alpha * beta)) {
    return false;
  }
  // the smaller of the two angles: tan = 2 gamma / (d + sign(d) sqrt(d^2 + 4 gamma^2))
  double d = beta - alpha;
  double g = 2.0 * gamma;
  double adjacent = fabs(d) + sqrt(d * d + g * g);
  double opposite = d < 0.0 ? -g : g;
  double scale = 1.0 / sqrt(adjacent * adjacent + opposite * opposite);
  double cosine = scale * adjacent;
  double sine = scale * opposite;
  NoliVec3 b = c->b[p], v = c->v[p];
  c->b[p] = noli_mul_add3(noli_scale3(cosine, b), -sine, c->b[q]);
  c->b[q] = noli_mul_add3(noli_scale3(cosine, c->b[q]), sine, b);
  c->v[p] = noli_mul_add3(noli_scale3(cosine, v), -sine, c->v[q]);
  c->v[q] = noli_mul_add3(noli_scale3(cosine, c->v[q]), sine, v);
  return true;
}

// Exchanges two columns and reverses one of them, so that V stays a rotation.
static inline void exchange(Columns* c, int p, int q) {
  NoliVec3 b = c->b[p], v = c->v[p];
  c->b[p] = c->b[q];
  c->v[p] = c->v[q];
  c->b[q] = noli_scale3(-1.0, b);
  c->v[q] = noli_scale3(-1.0, v);
}

static inline void sort(Columns* c) {
  double n0 = noli_norm_sqr3(c->b[0]), n1 = noli_norm_sqr3(c->b[1]), n2 = noli_norm_sqr3(c->b[2]);
  if (n0 < n1) {
    exchange(c, 0, 1);
    double n = n0;
    n0 = n1, n1 = n;
  }
  if (n1 < n2) {
    exchange(c, 1, 2);
    n1 = n2;
    if (n0 < n1) {
      exchange(c, 0, 1);
    }
  }
}

// The frame U and the stretches of orthogonal, sorted columns.
static inline void extract(const Columns* c, NoliMat3* U, double sigma[3]) {
  double s0 = noli_norm3(c->b[0]);
  NoliVec3 u0 = noli_scale3(1.0 / s0, c->b[0]);
  double s1 = noli_norm3(c->b[1]);
  // below the threshold squares may have underflowed, and the direction is arbitrary
  NoliVec3 u1 = s1 > 1e-60 * s0 ? noli_scale3(1.0 / s1, c->b[1]) : noli_orthogonal3(u0);
  // rounding leaves a component along b[0], which would spoil the frame
  u1 = noli_normalize3(noli_mul_add3(u1, -noli_dot3(u0, u1), u0));
  NoliVec3 u2 = noli_cross3(u0, u1);
  double s2 = noli_dot3(u2, c->b[2]);
  sigma[0] = s0;
  sigma[1] = s1;
  sigma[2] = fabs(s2) > s1 ? copysign(s1, s2) : s2;
  *U = noli_columns33(u0, u1, u2);
}

static double largest_entry(const NoliMat3* F) {
  double largest = 0.0;
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) {
      largest = fmax(largest, fabs(F->m[i][j]));
    }
  }
  return largest;
}

// The decomposition of a matrix that is zero, huge, tiny or not finite: scales entries so that
// their squares stay in range.
static void svd3_special(const NoliMat3* F, NoliMat3* U, double sigma[3], NoliMat3* V) {
  double largest = largest_entry(F);

  // not finite, or zero
  if (isnan(noli_norm_sqr33(F)) || isinf(largest)) {
    for (int i = 0; i < 3; i++) {
      sigma[i] = NAN;
      for (int j = 0; j < 3; j++) {
        U->m[i][j] = V->m[i][j] = NAN;
      }
    }
    return;
  }
  if (largest == 0.0) {
    *U = *V = noli_identity3();
    sigma[0] = sigma[1] = sigma[2] = 0.0;
    return;
  }

  // powers of 2 are exact
  int exponent;
  frexp(largest, &exponent);
  NoliMat3 scaled;
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) {
      scaled.m[i][j] = ldexp(F->m[i][j], -exponent);
    }
  }
  noli_svd3(&scaled, U, sigma, V);
  for (int i = 0; i < 3; i++) {
    sigma[i] = ldexp(sigma[i], exponent);
  }
}

void noli_svd3(const NoliMat3* F, NoliMat3* U, double sigma[3], NoliMat3* V) {
  double norm_sqr = noli_norm_sqr33(F);
  if (!(norm_sqr > 1e-40 && norm_sqr < 1e40)) {
    svd3_special(F, U, sigma, V);
    return;
  }
  Columns c = {.b = {noli_column33(F, 0), noli_column33(F, 1), noli_column33(F, 2)},
               .v = {{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}}};
  for (int sweep = 0; sweep < SWEEPS_MAX; sweep++) {
    bool rotated = rotate(&c, 0, 1);
    rotated |= rotate(&c, 0, 2);
    rotated |= rotate(&c, 1, 2);
    if (!rotated) {
      break;
    }
  }
  sort(&c);
  extract(&c, U, sigma);
  *V = noli_columns33(c.v[0], c.v[1], c.v[2]);
}
