#include "collide/apart.h"

#include <float.h>

enum { MOST_DEGREE = 6 };

// ---- numbers with error bounds ------------------------------------------------------------------

// The exact number is at most `error` away. Twice the rounding error of an operation is counted,
// and errors are rounded up.
typedef struct Bounded {
  double value;
  double error;
} Bounded;

#define ROUND_UP (1.0 + 8.0 * DBL_EPSILON)

static Bounded apart_add(Bounded a, Bounded b) {
  double value = a.value + b.value;
  return (Bounded){value, (a.error + b.error + DBL_EPSILON * fabs(value)) * ROUND_UP};
}

static Bounded apart_subtract(Bounded a, Bounded b) {
  return apart_add(a, (Bounded){-b.value, b.error});
}

static bool apart_is_zero(Bounded a) {
  return a.value == 0.0 && a.error == 0.0;
}

// An exact 0 stays one, so that edges without length are what they are. DBL_MIN: what products lose
// that vanish.
static Bounded apart_multiply(Bounded a, Bounded b) {
  if ((apart_is_zero(a) && isfinite(b.value)) || (apart_is_zero(b) && isfinite(a.value))) {
    return (Bounded){0.0, 0.0};
  }
  double value = a.value * b.value;
  double error = fabs(a.value) * b.error + fabs(b.value) * a.error + a.error * b.error;
  return (Bounded){value, (error + DBL_EPSILON * fabs(value) + DBL_MIN) * ROUND_UP};
}

// ---- polynomials --------------------------------------------------------------------------------

typedef struct Polynomial {
  int degree;
  Bounded c[MOST_DEGREE + 1]; // of 1, t, t^2, ...
} Polynomial;

typedef struct Vector {
  Polynomial x[3];
} Vector;

static Polynomial times(const Polynomial* a, const Polynomial* b) {
  Polynomial product = {.degree = a->degree + b->degree};
  for (int i = 0; i <= a->degree; i++) {
    for (int j = 0; j <= b->degree; j++) {
      product.c[i + j] = apart_add(product.c[i + j], apart_multiply(a->c[i], b->c[j]));
    }
  }
  return product;
}

// a - b, of the same degree.
static Polynomial minus(Polynomial a, const Polynomial* b) {
  for (int i = 0; i <= a.degree; i++) {
    a.c[i] = apart_subtract(a.c[i], b->c[i]);
  }
  return a;
}

// a - factor b, of no higher degree; coefficients beyond the degree are 0.
static Polynomial less(Polynomial a, Bounded factor, const Polynomial* b) {
  for (int i = 0; i <= a.degree; i++) {
    a.c[i] = apart_subtract(a.c[i], apart_multiply(factor, b->c[i]));
  }
  return a;
}

static Vector difference(const Vector* a, const Vector* b) {
  Vector d;
  for (int k = 0; k < 3; k++) {
    d.x[k] = minus(a->x[k], &b->x[k]);
  }
  return d;
}

static Vector cross(const Vector* a, const Vector* b) {
  Vector c;
  for (int k = 0; k < 3; k++) {
    int i = (k + 1) % 3, j = (k + 2) % 3;
    Polynomial second = times(&a->x[j], &b->x[i]);
    c.x[k] = minus(times(&a->x[i], &b->x[j]), &second);
  }
  return c;
}

static Polynomial apart_dot(const Vector* a, const Vector* b) {
  Polynomial sum = times(&a->x[0], &b->x[0]);
  for (int k = 1; k < 3; k++) {
    Polynomial product = times(&a->x[k], &b->x[k]);
    for (int i = 0; i <= sum.degree; i++) {
      sum.c[i] = apart_add(sum.c[i], product.c[i]);
    }
  }
  return sum;
}

// Bounds of the values on [0, 1] by the Bernstein coefficients, sum_j C(k, j) / C(n, j) c_j.
typedef struct Values {
  double least, most;
} Values;

static Values values_of(const Polynomial* p) {
  Values values = {(double)INFINITY, -(double)INFINITY};
  for (int k = 0; k <= p->degree; k++) {
    Bounded sum = {0.0, 0.0};
    double of_k = 1.0, of_n = 1.0; // binomial coefficients: small integers
    for (int j = 0; j <= k; j++) {
      double weight = of_k / of_n;
      sum = apart_add(sum, apart_multiply((Bounded){weight, DBL_EPSILON * weight}, p->c[j]));
      of_k = of_k * (k - j) / (j + 1);
      of_n = of_n * (p->degree - j) / (j + 1);
    }
    double low = (sum.value - sum.error) - DBL_EPSILON * fabs(sum.value);
    double high = (sum.value + sum.error) + DBL_EPSILON * fabs(sum.value);
    // NaN stays, and shows nothing
    values.least = low < values.least || isnan(low) ? low : values.least;
    values.most = high > values.most || isnan(high) ? high : values.most;
  }
  return values;
}

static bool is_positive(const Polynomial* p) {
  return values_of(p).least > 0.0;
}

// ---- the origin and a polygon -------------------------------------------------------------------

// Whether |a|^2 - low^2 |b|^2 is positive.
static bool exceeds(const Vector* a, Bounded low_sqr, const Vector* b) {
  Polynomial b_sqr = apart_dot(b, b), rest = less(apart_dot(a, a), low_sqr, &b_sqr);
  return is_positive(&rest);
}

static bool point_is_far(const Vector* w, Bounded low_sqr) {
  Polynomial rest = apart_dot(w, w);
  rest.c[0] = apart_subtract(rest.c[0], low_sqr);
  return is_positive(&rest);
}

static bool side_is_far(const Vector* from, const Vector* to, Bounded low_sqr) {
  Vector e = difference(to, from), area = cross(from, &e);
  if (exceeds(&area, low_sqr, &e)) {
    return true;
  }
  Polynomial at_start = apart_dot(from, &e), at_end = apart_dot(to, &e);
  return (values_of(&at_start).least >= 0.0 && point_is_far(from, low_sqr)) ||
         (values_of(&at_end).most <= 0.0 && point_is_far(to, low_sqr));
}

static bool plane_is_far(const Vector* w, const Vector* n, Bounded low_sqr) {
  Polynomial height = apart_dot(w, n), n_sqr = apart_dot(n, n);
  Polynomial rest = less(times(&height, &height), low_sqr, &n_sqr);
  return is_positive(&rest);
}

// Whether the foot of the origin is beyond one and the same side at all times.
static bool foot_is_outside(int n_corner, const Vector corner[4], const Vector* n) {
  for (int k = 0; k < n_corner; k++) {
    Vector area = cross(&corner[k], &corner[(k + 1) % n_corner]);
    Polynomial side = apart_dot(&area, n);
    if (values_of(&side).most <= 0.0) {
      return true;
    }
  }
  return false;
}

static bool polygon_is_far(int n_corner, const Vector corner[4], Bounded low_sqr) {
  Vector e = difference(&corner[1], &corner[0]), f = difference(&corner[2], &corner[0]);
  Vector n = cross(&e, &f);
  if (plane_is_far(&corner[0], &n, low_sqr)) {
    return true;
  }
  if (!foot_is_outside(n_corner, corner, &n)) {
    Polynomial n_sqr = apart_dot(&n, &n), e_sqr = apart_dot(&e, &e);
    double width_sqr = values_of(&n_sqr).most / (4.0 * values_of(&e_sqr).least);
    // not for NaN, and sides that may vanish
    if (!(width_sqr >= 0.0 && isfinite(width_sqr))) {
      return false;
    }
    low_sqr = apart_add(low_sqr, (Bounded){width_sqr, 4.0 * DBL_EPSILON * width_sqr});
  }
  for (int k = 0; k < n_corner; k++) {
    if (!side_is_far(&corner[k], &corner[(k + 1) % n_corner], low_sqr)) {
      return false;
    }
  }
  return true;
}

// The corners around the polygon, at about size 1: products of small lengths do not vanish.
static void make_corners(int n_corner, const int order[4], const NoliVec3 w[4], const NoliVec3 p[4],
                         int exponent, Vector corner[4]) {
  for (int c = 0; c < n_corner; c++) {
    double at[3], change[3];
    noli_store3(at, w[order[c]]);
    noli_store3(change, p[order[c]]);
    for (int k = 0; k < 3; k++) {
      Bounded start = {ldexp(at[k], -exponent), 0.0}, by = {ldexp(change[k], -exponent), 0.0};
      corner[c].x[k] = (Polynomial){.degree = 1, .c = {start, by}};
    }
  }
}

bool noli_stay_apart(NoliPairKind kind, const NoliVec3 w[4], const NoliVec3 p[4], double low) {
  static const int n_corners[4] = {1, 2, 3, 4};
  static const int around[4][4] = {{0}, {0, 1}, {0, 1, 2}, {0, 1, 3, 2}};
  int n_corner = n_corners[kind], exponent;
  double largest = low;
  for (int c = 0; c < n_corner; c++) {
    double size = noli_norm3(w[c]) + noli_norm3(p[c]);
    largest = size <= largest ? largest : size;
  }
  if (!(largest > 0.0 && isfinite(largest))) {
    return false;
  }
  frexp(largest, &exponent);
  Vector corner[4];
  make_corners(n_corner, around[kind], w, p, exponent, corner);
  Bounded low_1 = {ldexp(low, -exponent), 0.0}, low_sqr = apart_multiply(low_1, low_1);
  return n_corner == 1   ? point_is_far(&corner[0], low_sqr)
         : n_corner == 2 ? side_is_far(&corner[0], &corner[1], low_sqr)
                         : polygon_is_far(n_corner, corner, low_sqr);
}
