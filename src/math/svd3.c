// Plane rotations, accumulated in V, make the columns of B = F V orthogonal. The columns are then
// sorted by length; U is an orthonormal frame along the first two, and its third axis is their
// cross product: U is a rotation by construction, and the last singular value gets its sign from
// the projection on that axis.
#include "math/svd3.h"

#include "base/wide.h"

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

// Whether two columns with squared lengths alpha and beta and the product gamma need a rotation.
NOLI_INLINE bool is_oblique(double alpha, double beta, double gamma) {
  return gamma * gamma > TOLERANCE * TOLERANCE * alpha * beta;
}

// The smaller of the two angles: tan = 2 gamma / (d + sign(d) sqrt(d^2 + 4 gamma^2)).
NOLI_INLINE void find_angle(double alpha, double beta, double gamma, double* cosine, double* sine) {
  double d = beta - alpha;
  double g = 2.0 * gamma;
  double adjacent = fabs(d) + sqrt(d * d + g * g);
  double opposite = d < 0.0 ? -g : g;
  double scale = 1.0 / sqrt(adjacent * adjacent + opposite * opposite);
  *cosine = scale * adjacent;
  *sine = scale * opposite;
}

// Rotates columns p and q so that b[p] and b[q] become orthogonal. Returns false if they are.
static inline bool rotate(Columns* c, int p, int q) {
  double alpha = noli_norm_sqr3(c->b[p]);
  double beta = noli_norm_sqr3(c->b[q]);
  double gamma = noli_dot3(c->b[p], c->b[q]);
  if (!is_oblique(alpha, beta, gamma)) {
    return false;
  }
  double cosine, sine;
  find_angle(alpha, beta, gamma, &cosine, &sine);
  NoliVec3 b = c->b[p], v = c->v[p];
  c->b[p] = noli_mul_add3(noli_scale3(cosine, b), -sine, c->b[q]);
  c->b[q] = noli_mul_add3(noli_scale3(cosine, c->b[q]), sine, b);
  c->v[p] = noli_mul_add3(noli_scale3(cosine, v), -sine, c->v[q]);
  c->v[q] = noli_mul_add3(noli_scale3(cosine, c->v[q]), sine, v);
  return true;
}

NOLI_INLINE NoliVec3 choose(bool condition, NoliVec3 a, NoliVec3 b) {
  return (NoliVec3){condition ? a.x : b.x, condition ? a.y : b.y, condition ? a.z : b.z};
}

// On a condition, exchanges two columns and reverses one of them, so that V stays a rotation.
NOLI_INLINE void exchange_if(bool condition, Columns* c, int p, int q) {
  NoliVec3 b = c->b[p], v = c->v[p];
  c->b[p] = choose(condition, c->b[q], b);
  c->v[p] = choose(condition, c->v[q], v);
  c->b[q] = choose(condition, noli_scale3(-1.0, b), c->b[q]);
  c->v[q] = choose(condition, noli_scale3(-1.0, v), c->v[q]);
}

// Sorts the columns by length.
NOLI_INLINE void sort(Columns* c) {
  double n0 = noli_norm_sqr3(c->b[0]), n1 = noli_norm_sqr3(c->b[1]), n2 = noli_norm_sqr3(c->b[2]);
  bool swap = n0 < n1;
  exchange_if(swap, c, 0, 1);
  double larger = swap ? n1 : n0, smaller = swap ? n0 : n1;
  bool swap_last = smaller < n2;
  exchange_if(swap_last, c, 1, 2);
  exchange_if(swap_last && larger < n2, c, 0, 1);
}

// The second axis of U, not yet orthogonal to the first to the last bit. Below the threshold
// squares may have underflowed, and the direction is arbitrary.
NOLI_INLINE bool is_thin(double s0, double s1) {
  return !(s1 > 1e-60 * s0);
}

// The frame U and the stretches of orthogonal, sorted columns of lengths s0, s1, .. in the
// directions u0, u1, ..
NOLI_INLINE void extract(const Columns* c, double s0, double s1, NoliVec3 u0, NoliVec3 u1,
                         NoliMat3* U, double sigma[3]) {
  // rounding leaves a component along b[0], which would spoil the frame
  u1 = noli_mul_add3(u1, -noli_dot3(u0, u1), u0);
  double n = noli_norm3(u1);
  u1 = choose(n > 0.0, noli_scale3(1.0 / n, u1), u1);
  NoliVec3 u2 = noli_cross3(u0, u1);
  double s2 = noli_dot3(u2, c->b[2]);
  sigma[0] = s0;
  sigma[1] = s1;
  sigma[2] = fabs(s2) > s1 ? copysign(s1, s2) : s2;
  *U = noli_columns33(u0, u1, u2);
}

static double svd3_largest_entry(const NoliMat3* F) {
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
  double largest = svd3_largest_entry(F);

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

// Whether squares of entries stay in range.
NOLI_INLINE bool is_usual(const NoliMat3* F) {
  double norm_sqr = noli_norm_sqr33(F);
  return (norm_sqr > 1e-40) & (norm_sqr < 1e40);
}

void noli_svd3(const NoliMat3* F, NoliMat3* U, double sigma[3], NoliMat3* V) {
  if (!is_usual(F)) {
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
  double s0 = noli_norm3(c.b[0]), s1 = noli_norm3(c.b[1]);
  NoliVec3 u0 = noli_scale3(1.0 / s0, c.b[0]);
  NoliVec3 u1 = is_thin(s0, s1) ? noli_orthogonal3(u0) : noli_scale3(1.0 / s1, c.b[1]);
  extract(&c, s0, s1, u0, u1, U, sigma);
  *V = noli_columns33(c.v[0], c.v[1], c.v[2]);
}

// ---- several at once ----------------------------------------------------------------------------

// One column of F V and of V, of every lane.
typedef struct LaneColumn {
  NoliLanes3 b, v;
} LaneColumn;

// Writes the rotated columns p and q, in lanes that turn; returns false if none does.
NOLI_INLINE bool rotate_lanes(const LaneColumn* restrict p, const LaneColumn* restrict q,
                              LaneColumn* restrict to_p, LaneColumn* restrict to_q) {
  double alpha[NOLI_LANES], beta[NOLI_LANES], gamma[NOLI_LANES], turns[NOLI_LANES];
  NOLI_FOR_LANES(l) {
    NoliVec3 b_p = noli_lane3(&p->b, l), b_q = noli_lane3(&q->b, l);
    alpha[l] = noli_norm_sqr3(b_p);
    beta[l] = noli_norm_sqr3(b_q);
    gamma[l] = noli_dot3(b_p, b_q);
    turns[l] = is_oblique(alpha[l], beta[l], gamma[l]) ? 1.0 : 0.0;
  }

  if (!noli_any_lane(turns)) {
    return false;
  }
  NOLI_FOR_LANES(l) {
    bool turn = turns[l] != 0.0;
    NoliVec3 b_p = noli_lane3(&p->b, l), b_q = noli_lane3(&q->b, l);
    NoliVec3 v_p = noli_lane3(&p->v, l), v_q = noli_lane3(&q->v, l);
    double cosine, sine;
    find_angle(alpha[l], beta[l], gamma[l], &cosine, &sine);
    noli_set_lane3(&to_p->b, l,
                   choose(turn, noli_mul_add3(noli_scale3(cosine, b_p), -sine, b_q), b_p));
    noli_set_lane3(&to_q->b, l,
                   choose(turn, noli_mul_add3(noli_scale3(cosine, b_q), sine, b_p), b_q));
    noli_set_lane3(&to_p->v, l,
                   choose(turn, noli_mul_add3(noli_scale3(cosine, v_p), -sine, v_q), v_p));
    noli_set_lane3(&to_q->v, l,
                   choose(turn, noli_mul_add3(noli_scale3(cosine, v_q), sine, v_p), v_q));
  }
  return true;
}

// Rotations read two columns and write two free ones, which then take their places.
NOLI_INLINE bool rotate_places(LaneColumn* column[5], int p, int q) {
  if (!rotate_lanes(column[p], column[q], column[3], column[4])) {
    return false;
  }
  LaneColumn *old_p = column[p], *old_q = column[q];
  column[p] = column[3], column[q] = column[4];
  column[3] = old_p, column[4] = old_q;
  return true;
}

// The columns of F, and of V = I. Returns 1 where squares of entries do not stay in range.
NOLI_INLINE double start_lane(const NoliLanes33* F, int l, LaneColumn place[3]) {
  NoliMat3 a = noli_lane33(F, l);
  for (int j = 0; j < 3; j++) {
    noli_set_lane3(&place[j].b, l, noli_column33(&a, j));
    noli_set_lane3(&place[j].v, l, noli_vec3(j == 0, j == 1, j == 2));
  }
  return is_usual(&a) ? 0.0 : 1.0;
}

// The frames of orthogonal columns. Returns 1 where two of them are too short to have a direction.
NOLI_INLINE double end_lane(LaneColumn* const column[3], int l, NoliLanes33* U, NoliLanes3* sigma,
                            NoliLanes33* V) {
  Columns c;
  for (int j = 0; j < 3; j++) {
    c.b[j] = noli_lane3(&column[j]->b, l);
    c.v[j] = noli_lane3(&column[j]->v, l);
  }
  sort(&c);
  NoliMat3 frame;
  double s[3], s0 = noli_norm3(c.b[0]), s1 = noli_norm3(c.b[1]);
  extract(&c, s0, s1, noli_scale3(1.0 / s0, c.b[0]), noli_scale3(1.0 / s1, c.b[1]), &frame, s);
  noli_set_lane3(sigma, l, noli_vec3(s[0], s[1], s[2]));
  noli_set_lane33(U, l, frame);
  noli_set_lane33(V, l, noli_columns33(c.v[0], c.v[1], c.v[2]));
  return is_thin(s0, s1) ? 1.0 : 0.0;
}

// Fails where a lane needs special treatment.
NOLI_WIDE static bool svd3_usual(const NoliLanes33* restrict F, NoliLanes33* restrict U,
                                 NoliLanes3* restrict sigma, NoliLanes33* restrict V) {
  LaneColumn place[5], *column[5] = {place, place + 1, place + 2, place + 3, place + 4};
  double special[NOLI_LANES];
  NOLI_FOR_LANES(l) {
    special[l] = start_lane(F, l, place);
  }
  if (noli_any_lane(special)) {
    return false;
  }
  for (int sweep = 0; sweep < SWEEPS_MAX; sweep++) {
    bool rotated = rotate_places(column, 0, 1);
    rotated |= rotate_places(column, 0, 2);
    rotated |= rotate_places(column, 1, 2);
    if (!rotated) {
      break;
    }
  }
  NOLI_FOR_LANES(l) {
    special[l] = end_lane(column, l, U, sigma, V);
  }
  return !noli_any_lane(special);
}

void noli_svd3_lanes(const NoliLanes33* F, NoliLanes33* U, NoliLanes3* sigma, NoliLanes33* V) {
  if (svd3_usual(F, U, sigma, V)) {
    return;
  }
  for (int l = 0; l < NOLI_LANES; l++) {
    NoliMat3 a = noli_lane33(F, l), u, v;
    double s[3];
    noli_svd3(&a, &u, s, &v);
    noli_set_lane33(U, l, u);
    noli_set_lane33(V, l, v);
    noli_set_lane3(sigma, l, noli_load3(s));
  }
}
