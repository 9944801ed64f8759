#include "collide/exact.h"

#include <float.h>
#include <gmp.h>
#include <limits.h>
#include <math.h>
#include <stdbool.h>

// Rounding errors are below `relative` times the sum of the absolute values of all products (7.01
// units of 2^-53 suffice for three dimensions, 3.01 for two [Shewchuk1997]); underflow adds less
// than `absolute` as long as no factor exceeds `largest`.
static const double relative = 8.0 * 0x1p-53;
static const double absolute = 1e-200;
static const double largest = 1e100;

// The sign of a sum of products of doubles whose rounding error is bounded, or 2 when in doubt.
static int filtered_sign(double value, double sum_of_absolutes) {
  double bound = relative * sum_of_absolutes + absolute;
  return value > bound ? 1 : value < -bound ? -1 : 2;
}

enum { MOST_COORDINATES = 12 };

// Multiplies all coordinates by one power of two that makes them integers.
static void make_integers(mpz_t* integer, const double* coordinate, int n) {
  int exponent[MOST_COORDINATES], lowest = INT_MAX;
  double mantissa[MOST_COORDINATES];
  for (int i = 0; i < n; i++) {
    mantissa[i] = frexp(coordinate[i], &exponent[i]);
    lowest = mantissa[i] != 0.0 && exponent[i] < lowest ? exponent[i] : lowest;
  }
  for (int i = 0; i < n; i++) {
    mpz_init(integer[i]);
    if (mantissa[i] != 0.0) {
      mpz_set_d(integer[i], ldexp(mantissa[i], DBL_MANT_DIG));
      mpz_mul_2exp(integer[i], integer[i], (mp_bitcnt_t)(exponent[i] - lowest));
    }
  }
}

// value += sign * a * b * c
static void exact_add_product(mpz_t value, mpz_t scratch, int sign, mpz_t a, mpz_t b, mpz_t c) {
  mpz_mul(scratch, a, b);
  mpz_mul(scratch, scratch, c);
  if (sign > 0) {
    mpz_add(value, value, scratch);
  } else {
    mpz_sub(value, value, scratch);
  }
}

static int integer_orient3d(const double a[3], const double b[3], const double c[3],
                            const double d[3]) {
  const double* point[4] = {a, b, c, d};
  double coordinate[12];
  for (int i = 0; i < 12; i++) {
    coordinate[i] = point[i / 3][i % 3];
  }
  mpz_t x[12], value, scratch;
  make_integers(x, coordinate, 12);
  mpz_inits(value, scratch, (mpz_ptr)NULL);
  for (int i = 3; i < 12; i++) {
    mpz_sub(x[i], x[i], x[i % 3]);
  }
  // the determinant of the rows b-a, c-a, d-a
  for (int k = 0; k < 3; k++) {
    int i = (k + 1) % 3, j = (k + 2) % 3;
    exact_add_product(value, scratch, 1, x[3 + k], x[6 + i], x[9 + j]);
    exact_add_product(value, scratch, -1, x[3 + k], x[6 + j], x[9 + i]);
  }

  int sign = mpz_sgn(value);
  for (int i = 0; i < 12; i++) {
    mpz_clear(x[i]);
  }
  mpz_clears(value, scratch, (mpz_ptr)NULL);
  return sign;
}

int noli_exact_orient3d(const double a[3], const double b[3], const double c[3],
                        const double d[3]) {
  double p[3], q[3], r[3], most = 0.0;
  bool flat = false, same_b = true, same_c = true, same_d = true;
  for (int k = 0; k < 3; k++) {
    p[k] = b[k] - a[k];
    q[k] = c[k] - a[k];
    r[k] = d[k] - a[k];
    most = fmax(most, fmax(fabs(p[k]), fmax(fabs(q[k]), fabs(r[k]))));
    // a difference is zero only if it is exactly zero
    flat = flat || (p[k] == 0.0 && q[k] == 0.0 && r[k] == 0.0);
    same_b = same_b && p[k] == 0.0;
    same_c = same_c && q[k] == 0.0;
    same_d = same_d && r[k] == 0.0;
  }

  // surfaces along an axis are common, and exactly flat
  if (flat || same_b || same_c || same_d) {
    return 0;
  }
  double value = 0.0, sum = 0.0;
  for (int k = 0; k < 3; k++) {
    double s = q[(k + 1) % 3] * r[(k + 2) % 3], t = q[(k + 2) % 3] * r[(k + 1) % 3];
    value += p[k] * (s - t);
    sum += fabs(p[k]) * (fabs(s) + fabs(t));
  }

  int sign = most < largest ? filtered_sign(value, sum) : 2;
  return sign != 2 ? sign : integer_orient3d(a, b, c, d);
}

static int integer_orient2d(const double coordinate[6]) {
  mpz_t x[6], s, t;
  make_integers(x, coordinate, 6);
  mpz_inits(s, t, (mpz_ptr)NULL);
  for (int i = 2; i < 6; i++) {
    mpz_sub(x[i], x[i], x[i % 2]);
  }
  mpz_mul(s, x[2], x[5]);
  mpz_mul(t, x[3], x[4]);
  int sign = mpz_cmp(s, t);
  for (int i = 0; i < 6; i++) {
    mpz_clear(x[i]);
  }
  mpz_clears(s, t, (mpz_ptr)NULL);
  return sign > 0 ? 1 : sign < 0 ? -1 : 0;
}

int noli_exact_orient2d(const double a[3], const double b[3], const double c[3], int axis) {
  int u = (axis + 1) % 3, v = (axis + 2) % 3;
  double coordinate[6] = {a[u], a[v], b[u], b[v], c[u], c[v]};
  double pu = b[u] - a[u], pv = b[v] - a[v], qu = c[u] - a[u], qv = c[v] - a[v];
  if ((pu == 0.0 && qu == 0.0) || (pv == 0.0 && qv == 0.0) || (pu == 0.0 && pv == 0.0) ||
      (qu == 0.0 && qv == 0.0)) {
    return 0;
  }
  double s = pu * qv, t = pv * qu;
  double most = fmax(fmax(fabs(pu), fabs(pv)), fmax(fabs(qu), fabs(qv)));
  int sign = most < largest ? filtered_sign(s - t, fabs(s) + fabs(t)) : 2;
  return sign != 2 ? sign : integer_orient2d(coordinate);
}

static int integer_plane_side(const double x[3], const double origin[3], const double normal[3]) {
  const double* point[3] = {origin, x, normal};
  double coordinate[9];
  for (int i = 0; i < 9; i++) {
    coordinate[i] = point[i / 3][i % 3];
  }
  mpz_t integer[9], value;
  make_integers(integer, coordinate, 9);
  mpz_init(value);
  for (int k = 0; k < 3; k++) {
    mpz_sub(integer[3 + k], integer[3 + k], integer[k]);
    mpz_addmul(value, integer[3 + k], integer[6 + k]);
  }
  int sign = mpz_sgn(value);
  for (int i = 0; i < 9; i++) {
    mpz_clear(integer[i]);
  }
  mpz_clear(value);
  return sign;
}

int noli_exact_plane_side(const double x[3], const double origin[3], const double normal[3]) {
  double value = 0.0, sum = 0.0, most = 0.0;
  for (int k = 0; k < 3; k++) {
    double arm = x[k] - origin[k], product = arm * normal[k];
    value += product;
    sum += fabs(product);
    most = fmax(most, fmax(fabs(arm), fabs(normal[k])));
  }
  int sign = most < largest ? filtered_sign(value, sum) : 2;
  return sign != 2 ? sign : integer_plane_side(x, origin, normal);
}

// --- enclosed volumes and areas ---

// The determinant of the vertices of a simplex less `origin`, and the sum of the absolute values of
// its products.
static double enclosed_part(const double* x, const int32_t* vert, int size, const double* origin,
                            double* sum, double* most) {
  double row[3][3];
  for (int i = 0; i < size; i++) {
    for (int k = 0; k < size; k++) {
      row[i][k] = x[3 * (int64_t)vert[i] + k] - origin[k];
      *most = fmax(*most, fabs(row[i][k]));
    }
  }
  if (size == 2) {
    double s = row[0][0] * row[1][1], t = row[0][1] * row[1][0];
    *sum += fabs(s) + fabs(t);
    return s - t;
  }
  double value = 0.0;
  for (int k = 0; k < 3; k++) {
    int i = (k + 1) % 3, j = (k + 2) % 3;
    double s = row[1][i] * row[2][j], t = row[1][j] * row[2][i];
    value += row[0][k] * (s - t);
    *sum += fabs(row[0][k]) * (fabs(s) + fabs(t));
  }
  return value;
}

// The exponent of the smallest coordinate: all are integers times this power of two.
static int lowest_exponent(const double* x, const int32_t* simplex, int64_t n, int size) {
  int lowest = INT_MAX;
  for (int64_t i = 0; i < size * n; i++) {
    for (int k = 0; k < size; k++) {
      int exponent;
      double mantissa = frexp(x[3 * (int64_t)simplex[i] + k], &exponent);
      lowest = mantissa != 0.0 && exponent < lowest ? exponent : lowest;
    }
  }
  return lowest;
}

static void set_integer(mpz_t integer, double coordinate, int lowest) {
  int exponent;
  double mantissa = frexp(coordinate, &exponent);
  mpz_set_d(integer, ldexp(mantissa, DBL_MANT_DIG));
  if (mantissa != 0.0) {
    mpz_mul_2exp(integer, integer, (mp_bitcnt_t)(exponent - lowest));
  }
}

static int integer_enclosed_sign(const double* x, const int32_t* simplex, int64_t n, int size) {
  mpz_t row[9], one, value, scratch;
  for (int i = 0; i < 9; i++) {
    mpz_init(row[i]);
  }
  mpz_inits(one, value, scratch, (mpz_ptr)NULL);
  mpz_set_ui(one, 1);
  int lowest = lowest_exponent(x, simplex, n, size);
  for (int64_t t = 0; t < n; t++) {
    for (int i = 0; i < size * size; i++) {
      set_integer(row[i], x[3 * (int64_t)simplex[size * t + i / size] + i % size], lowest);
    }
    // a closed surface has the same volume seen from anywhere
    if (size == 2) {
      exact_add_product(value, scratch, 1, row[0], row[3], one);
      exact_add_product(value, scratch, -1, row[1], row[2], one);
    }
    for (int k = 0; size == 3 && k < 3; k++) {
      int i = (k + 1) % 3, j = (k + 2) % 3;
      exact_add_product(value, scratch, 1, row[k], row[3 + i], row[6 + j]);
      exact_add_product(value, scratch, -1, row[k], row[3 + j], row[6 + i]);
    }
  }

  int sign = mpz_sgn(value);
  for (int i = 0; i < 9; i++) {
    mpz_clear(row[i]);
  }
  mpz_clears(one, value, scratch, (mpz_ptr)NULL);
  return sign;
}

int noli_exact_enclosed_sign(const double* x, const int32_t* simplex, int64_t n, int size) {
  double value = 0.0, sum = 0.0, most = 0.0;
  for (int64_t t = 0; t < n; t++) {
    const double* origin = &x[3 * (int64_t)simplex[0]];
    value += enclosed_part(x, &simplex[size * t], size, origin, &sum, &most);
  }
  // adding n terms rounds n times, adding up the bound rounds it as often
  double bound = (relative + (double)n * 0x1p-52) * sum + (double)n * absolute;
  if (most < largest && fabs(value) > bound) {
    return value > 0.0 ? 1 : -1;
  }
  return integer_enclosed_sign(x, simplex, n, size);
}
