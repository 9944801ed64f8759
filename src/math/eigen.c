// Householder reflections bring A to tridiagonal form, A = Q T Q^T; implicit QL steps with
// Wilkinson's shift make T diagonal. The transposed vectors are kept, so that every rotation acts
// on two contiguous rows.
#include "math/eigen.h"

#include "base/context.h"
#include "base/wide.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

// An eigenvalue of rounding, relative to the largest.
#define ZERO 1e-13

// QL needs about two steps per eigenvalue; the bound only prevents endless loops.
enum { QL_STEPS_MAX = 60 };

NOLI_INLINE double dot(int32_t n, const double* a, const double* b) {
  double sum = 0.0;
  for (int32_t i = 0; i < n; i++) {
    sum += a[i] * b[i];
  }
  return sum;
}

NOLI_INLINE void add_scaled(int32_t n, double* restrict to, double factor,
                            const double* restrict from) {
  for (int32_t i = 0; i < n; i++) {
    to[i] += factor * from[i];
  }
}

// Applies the reflection that zeroes row and column k beyond the off-diagonal entry: with
// v = x + sign(x_0) |x| e_0 and H = I - beta v v^T, the remaining block B of the matrix becomes
// H B H = B - v w^T - w v^T, w = p - (beta/2)(p.v) v, p = beta B v.
// v stays in row k of `a`, right of the diagonal; returns beta. `w` is scratch (n).
NOLI_INLINE double reflect(int32_t n, double* a, int32_t k, double* off_diagonal, double* w) {
  int32_t m = n - k - 1;
  double* v = a + k * n + k + 1;
  double* rest = a + (k + 1) * n + k + 1;
  double norm = sqrt(dot(m, v, v));

  // entries are at most 1: a tail as small as this is far below rounding
  double tail = 0.0;
  for (int32_t i = 1; i < m; i++) {
    tail = fmax(tail, fabs(v[i]));
  }
  if (tail < 1e-100) {
    *off_diagonal = v[0];
    return 0.0;
  }
  *off_diagonal = v[0] > 0.0 ? -norm : norm;
  v[0] -= *off_diagonal;
  double beta = 2.0 / dot(m, v, v);

  // w; as B is symmetric, sums of its rows run over contiguous memory
  memset(w, 0, sizeof(double) * (size_t)m);
  for (int32_t i = 0; i < m; i++) {
    add_scaled(m, w, v[i], rest + i * n);
  }
  for (int32_t i = 0; i < m; i++) {
    w[i] *= beta;
  }
  double half = 0.5 * beta * dot(m, w, v);
  for (int32_t i = 0; i < m; i++) {
    w[i] -= half * v[i];
  }

  // B
  for (int32_t i = 0; i < m; i++) {
    for (int32_t j = 0; j < m; j++) {
      rest[i * n + j] -= v[i] * w[j] + w[i] * v[j];
    }
  }
  return beta;
}

// Q -= beta v (v^T Q) for the first m rows and columns at `q`. `w` is scratch (m).
NOLI_INLINE void reflect_rows(int32_t n, int32_t m, const double* v, double beta, double* q,
                              double* w) {
  memset(w, 0, sizeof(double) * (size_t)m);
  for (int32_t i = 0; i < m; i++) {
    add_scaled(m, w, v[i], q + i * n);
  }
  for (int32_t i = 0; i < m; i++) {
    w[i] *= beta;
  }
  for (int32_t i = 0; i < m; i++) {
    add_scaled(m, q + i * n, -v[i], w);
  }
}

// Diagonal d, off-diagonal e (e[i] couples i and i + 1), and the rows of Q^T. `scratch` has (2 n).
NOLI_INLINE void tridiagonalize(int32_t n, double* a, double* d, double* e, double* rows,
                                double* scratch) {
  double *beta = scratch, *w = scratch + n;

  // reflect, and read the two diagonals
  for (int32_t k = 0; k < n - 2; k++) {
    beta[k] = reflect(n, a, k, &e[k], w);
  }
  for (int32_t k = 0; k < n; k++) {
    d[k] = a[k * n + k];
  }
  e[n - 1] = 0.0;
  if (n >= 2) {
    e[n - 2] = a[(n - 2) * n + n - 1];
  }

  // Q = H_0 .. H_last, last factor first: each reflection acts only beyond its column
  memset(rows, 0, sizeof(double) * (size_t)(n * n));
  for (int32_t k = 0; k < n; k++) {
    rows[k * n + k] = 1.0;
  }
  for (int32_t k = n - 3; k >= 0; k--) {
    if (beta[k] != 0.0) {
      reflect_rows(n, n - k - 1, a + k * n + k + 1, beta[k], rows + (k + 1) * n + k + 1, w);
    }
  }

  // transpose
  for (int32_t i = 0; i < n; i++) {
    for (int32_t j = 0; j < i; j++) {
      double swap = rows[i * n + j];
      rows[i * n + j] = rows[j * n + i];
      rows[j * n + i] = swap;
    }
  }
}

NOLI_INLINE void rotate_rows(int32_t n, double* restrict low, double* restrict high, double cosine,
                             double sine) {
  for (int32_t j = 0; j < n; j++) {
    double l = low[j], h = high[j];
    high[j] = sine * l + cosine * h;
    low[j] = cosine * l - sine * h;
  }
}

// One implicit QL step on the unreduced block l .. m.
NOLI_INLINE void ql_step(int32_t n, double* d, double* e, double* rows, int32_t l, int32_t m) {
  double g = (d[l + 1] - d[l]) / (2.0 * e[l]);
  double r = sqrt(g * g + 1.0);
  g = d[m] - d[l] + e[l] / (g + copysign(r, g));
  double sine = 1.0, cosine = 1.0, shift = 0.0;
  for (int32_t i = m - 1; i >= l; i--) {
    double f = sine * e[i];
    double b = cosine * e[i];
    r = sqrt(f * f + g * g);
    e[i + 1] = r;
    if (r == 0.0) {
      // the block decouples here
      d[i + 1] -= shift;
      e[m] = 0.0;
      return;
    }
    double inverse = 1.0 / r;
    sine = f * inverse;
    cosine = g * inverse;
    g = d[i + 1] - shift;
    r = (d[i] - g) * sine + 2.0 * cosine * b;
    shift = sine * r;
    d[i + 1] = g + shift;
    g = cosine * r - b;
    rotate_rows(n, rows + i * n, rows + (i + 1) * n, cosine, sine);
  }

  d[l] -= shift;
  e[l] = g;
  e[m] = 0.0;
}

NOLI_INLINE void diagonalize(int32_t n, double* d, double* e, double* rows) {
  for (int32_t l = 0; l < n; l++) {
    for (int32_t step = 0; step < QL_STEPS_MAX; step++) {
      // entries are at most 1 here, so that DBL_EPSILON is the rounding error of the matrix
      int32_t m = l;
      while (m < n - 1 && fabs(e[m]) > 0.25 * DBL_EPSILON) {
        m++;
      }
      if (m == l) {
        break;
      }
      ql_step(n, d, e, rows, l, m);
    }
  }
}

// NaN if an entry is not finite.
NOLI_INLINE double largest_entry(int32_t n, const double* a) {
  double largest = 0.0, poison = 0.0;
  for (int32_t i = 0; i < n * n; i++) {
    double entry = fabs(a[i]);
    largest = entry > largest ? entry : largest;
    poison += 0.0 * entry;
  }
  return largest + poison;
}

// Unsorted values, vectors in rows. The matrix is scaled to entries of at most 1. `scratch` has
// (3 n).
NOLI_INLINE void eigen_rows(int32_t n, double* a, double* values, double* rows, double* scratch) {
  double* e = scratch;
  // the inverse must be finite; NaN propagates
  double scale = largest_entry(n, a);
  scale = scale < 1e-300 ? 1e-300 : scale;
  double inverse = 1.0 / scale;
  for (int32_t i = 0; i < n * n; i++) {
    a[i] *= inverse;
  }
  tridiagonalize(n, a, values, e, rows, scratch + n);
  diagonalize(n, values, e, rows);
  for (int32_t k = 0; k < n; k++) {
    values[k] *= scale;
  }
}

void noli_eigen_symmetric(int32_t n, double* a, double* values, double* vectors) {
  NOLI_ASSERT(n >= 1 && n <= NOLI_EIGEN_MAX);
  double d[NOLI_EIGEN_MAX], rows[NOLI_EIGEN_MAX * NOLI_EIGEN_MAX], scratch[3 * NOLI_EIGEN_MAX];
  eigen_rows(n, a, d, rows, scratch);
  // insertion sort of the order, then columns
  int32_t order[NOLI_EIGEN_MAX];
  for (int32_t k = 0; k < n; k++) {
    int32_t place = k;
    while (place > 0 && d[order[place - 1]] > d[k]) {
      order[place] = order[place - 1];
      place--;
    }
    order[place] = k;
  }
  for (int32_t k = 0; k < n; k++) {
    values[k] = d[order[k]];
    for (int32_t i = 0; i < n; i++) {
      vectors[i * n + k] = rows[order[k] * n + i];
    }
  }
}

void noli_eigen_symmetric_large(int32_t n, double* a, double* values, double* rows,
                                double* scratch) {
  eigen_rows(n, a, values, rows, scratch);
}

// Diagonal dominance: every Gershgorin disk is right of zero.
NOLI_INLINE bool is_dominant(int32_t n, const double* a) {
  for (int32_t i = 0; i < n; i++) {
    double sum = 0.0;
    for (int32_t j = 0; j < n; j++) {
      sum += fabs(a[i * n + j]);
    }
    double diagonal = a[i * n + i];
    if (!(diagonal >= sum - fabs(diagonal))) {
      return false;
    }
  }
  return true;
}

// All pivots of A = L D L^T are clearly positive.
static inline bool is_definite(int32_t n, const double* a) {
  double l[NOLI_EIGEN_MAX * NOLI_EIGEN_MAX];  // unit lower triangle
  double ld[NOLI_EIGEN_MAX * NOLI_EIGEN_MAX]; // L D
  double inverse[NOLI_EIGEN_MAX];
  double least = 0.0;
  for (int32_t i = 0; i < n; i++) {
    least = fmax(least, a[i * n + i]);
  }
  least *= 16.0 * DBL_EPSILON;

  for (int32_t i = 0; i < n; i++) {
    double pivot = a[i * n + i];
    for (int32_t j = 0; j < i; j++) {
      double value = a[i * n + j];
      for (int32_t k = 0; k < j; k++) {
        value -= ld[i * n + k] * l[j * n + k];
      }
      ld[i * n + j] = value;
      l[i * n + j] = value * inverse[j];
      pivot -= value * l[i * n + j];
    }
    if (!(pivot > least)) {
      return false;
    }
    inverse[i] = 1.0 / pivot;
  }
  return true;
}

// a += factor v v^T, exactly symmetric.
NOLI_INLINE void add_outer(int32_t n, double* a, double factor, const double* v) {
  for (int32_t i = 0; i < n; i++) {
    double scaled = factor * v[i];
    for (int32_t j = i; j < n; j++) {
      a[i * n + j] += scaled * v[j];
    }
  }
}

// Replaces `a` by the sum over its positive eigenpairs, or subtracts the negative ones if there are
// fewer.
// `scratch` has (2 n n + 4 n).
NOLI_INLINE void clamp_spectrum_in(int32_t n, double* a, double* scratch) {
  double *copy = scratch, *rows = copy + n * n, *values = rows + n * n;

  // NaN values count as neither and must not become zeros
  memcpy(copy, a, sizeof(double) * (size_t)(n * n));
  eigen_rows(n, copy, values, rows, values + n);
  int32_t n_positive = 0, n_negative = 0;
  for (int32_t k = 0; k < n; k++) {
    n_positive += values[k] > 0.0;
    n_negative += values[k] < 0.0;
  }
  bool rebuild = n_positive < n_negative;
  if (n_negative == 0) {
    return;
  }

  // the upper triangle, then the lower
  if (rebuild) {
    memset(a, 0, sizeof(double) * (size_t)(n * n));
  }
  for (int32_t k = 0; k < n; k++) {
    if (rebuild ? values[k] > 0.0 : values[k] < 0.0) {
      add_outer(n, a, rebuild ? values[k] : -values[k], rows + k * n);
    }
  }
  for (int32_t i = 0; i < n; i++) {
    for (int32_t j = 0; j < i; j++) {
      a[i * n + j] = a[j * n + i];
    }
  }
}

static void clamp_spectrum(int32_t n, double* a) {
  double scratch[2 * NOLI_EIGEN_MAX * NOLI_EIGEN_MAX + 4 * NOLI_EIGEN_MAX];
  clamp_spectrum_in(n, a, scratch);
}

// A rotation diagonalizes [a b; b c]; if the matrix is indefinite, one eigenvalue is kept.
static void project_2x2(double* a) {
  double half_trace = 0.5 * (a[0] + a[3]);
  double half_difference = 0.5 * (a[0] - a[3]);
  double radius = hypot(half_difference, a[1]);
  if (half_trace >= radius) {
    return;
  }
  if (half_trace + radius <= 0.0) {
    a[0] = a[1] = a[2] = a[3] = 0.0;
    return;
  }
  // value * v v^T of the positive eigenpair, v v^T = (I + M / radius) / 2 with M the deviator
  double value = 0.5 * (half_trace + radius);
  double diagonal = value * (half_difference / radius);
  double off_diagonal = value * (a[1] / radius);
  a[0] = value + diagonal;
  a[1] = a[2] = off_diagonal;
  a[3] = value - diagonal;
}

void noli_project_psd(int32_t n, double* a) {
  NOLI_ASSERT(n >= 1 && n <= NOLI_EIGEN_MAX);
  if (n == 2) {
    project_2x2(a);
    return;
  }

  // both tests reject NaN
  if (is_dominant(n, a) || is_definite(n, a)) {
    return;
  }

  // constant sizes let the compiler unroll frequent ones
  switch (n) {
  case 3:
    clamp_spectrum(3, a);
    break;
  case 4:
    clamp_spectrum(4, a);
    break;
  case 5:
    clamp_spectrum(5, a);
    break;
  case 6:
    clamp_spectrum(6, a);
    break;
  case 9:
    clamp_spectrum(9, a);
    break;
  case 12:
    clamp_spectrum(12, a);
    break;
  default:
    clamp_spectrum(n, a);
    break;
  }
}

// (max(a, 0) - max(b, 0)) / (a - b), and the derivative of max where both are equal: at 0 the mean
// of both sides.
static double projected_share(double a, double b, double zero) {
  if (fabs(a) <= zero && fabs(b) <= zero) {
    return 0.5;
  }
  bool mixed = (a > 0.0) != (b > 0.0);
  return mixed ? (fmax(a, 0.0) - fmax(b, 0.0)) / (a - b) : a > 0.0 ? 1.0 : 0.0;
}

// to = basis a basis^T, or basis^T a basis.
static void change_basis(int32_t n, const double* basis, bool back, const double* a, double* to) {
  double half[NOLI_EIGEN_MAX * NOLI_EIGEN_MAX];
  for (int32_t i = 0; i < n; i++) {
    for (int32_t j = 0; j < n; j++) {
      half[n * i + j] = 0.0;
      for (int32_t k = 0; k < n; k++) {
        half[n * i + j] += basis[back ? n * k + i : n * i + k] * a[n * k + j];
      }
    }
  }
  for (int32_t i = 0; i < n; i++) {
    for (int32_t j = 0; j < n; j++) {
      to[n * i + j] = 0.0;
      for (int32_t k = 0; k < n; k++) {
        to[n * i + j] += half[n * i + k] * basis[back ? n * k + j : n * j + k];
      }
    }
  }
}

// In the basis of the eigenvectors, each entry has a share that depends on its two eigenvalues.
void noli_project_change(int32_t n, const double* values, const double* vectors, double* change) {
  NOLI_ASSERT(n >= 1 && n <= NOLI_EIGEN_MAX);
  double inner[NOLI_EIGEN_MAX * NOLI_EIGEN_MAX], largest = 0.0;
  for (int32_t i = 0; i < n; i++) {
    largest = fmax(largest, fabs(values[i]));
  }
  change_basis(n, vectors, true, change, inner);
  for (int32_t r = 0; r < n * n; r++) {
    inner[r] *= projected_share(values[r / n], values[r % n], ZERO * largest);
  }
  change_basis(n, vectors, false, inner, change);
}

int64_t noli_project_psd_scratch(int32_t n) {
  return 2 * (int64_t)n * n + 4 * (int64_t)n;
}

NOLI_WIDE void noli_project_psd_large(int32_t n, double* a, double* scratch) {
  if (!is_dominant(n, a)) {
    clamp_spectrum_in(n, a, scratch);
  }
}
