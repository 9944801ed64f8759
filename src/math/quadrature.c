#include "math/quadrature.h"

#include <math.h>

#define PI 3.14159265358979323846

// An orbit: all distinct permutations of one barycentric point, with equal weights.
typedef struct Orbit {
  int32_t degree; // of the rule it belongs to
  double weight;
  double lambda[4]; // equal coordinates are adjacent
} Orbit;

// Orbits, named after the multiplicities of coordinates.
#define S4                                                                                         \
  { 0.25, 0.25, 0.25, 0.25 }
#define S31(a)                                                                                     \
  { (a), (a), (a), 1.0 - 3.0 * (a) }
#define S22(a)                                                                                     \
  { (a), (a), 0.5 - (a), 0.5 - (a) }
#define S211(a, b)                                                                                 \
  { (a), (a), (b), 1.0 - 2.0 * (a) - (b) }

// clang-format off
static const Orbit orbits[] = {
  {1, 0.16666666666666666667, S4},
  {2, 0.04166666666666666667, S31(0.13819660112501051518)},
  {3, 0.01523433984652217692, S31(0.33306673147684703385)},
  {3, 0.02643232682014448974, S31(0.12459056145578784985)},
  {5, 0.01224884051939365827, S31(0.09273525031089122645)},
  {5, 0.01878132095300264182, S31(0.31088591926330060985)},
  {5, 0.00709100346284691105, S22(0.04550370412564964936)},
  {6, 0.00922619692394245358, S31(0.32233789014227551061)},
  {6, 0.00167953517588677385, S31(0.04067395853461135351)},
  {6, 0.00665379170969458219, S31(0.21460287125915202770)},
  {6, 0.00803571428571428571, S211(0.06366100187501752518, 0.26967233145831580828)},
  {7, 0.01591421491068847628, S4},
  {7, 0.00705493020166117095, S31(0.31570114977820280122)},
  {7, 0.00531615463880959672, S22(0.05048982259839636936)},
  {7, 0.00620118845472243691, S211(0.18883383102600104798, 0.57517163758700002218)},
  {7, 0.00135179513831722361, S211(0.02126547254148324603, 0.14663881381848494756)},
  {8, 0.00982917561994132610, S31(0.18500756075036634467)},
  {8, 0.00518846531152736869, S31(0.31551331211879624598)},
  {8, 0.00325406227861893432, S31(0.07789429519297328021)},
  {8, 0.00020141897390278973, S31(0.01150565890560619164)},
  {8, 0.00542425182617013971, S22(0.05821226200563324401)},
  {8, 0.00132241307530838396, S211(0.02488238805050033784, 0.21886880136020265319)},
  {8, 0.00369664250583196213, S211(0.20892010501237292107, 0.55909749386057289600)},
};
// clang-format on
enum { N_ORBITS = sizeof orbits / sizeof orbits[0] };

// The next permutation of `rank` in lexicographic order; false after the last one.
static bool next_arrangement(int32_t rank[4]) {
  int32_t i = 2;
  while (i >= 0 && rank[i] >= rank[i + 1]) {
    i--;
  }
  if (i < 0) {
    return false;
  }
  int32_t j = 3;
  while (rank[j] <= rank[i]) {
    j--;
  }
  int32_t kept = rank[i];
  rank[i] = rank[j];
  rank[j] = kept;
  for (int32_t a = i + 1, b = 3; a < b; a++, b--) {
    kept = rank[a];
    rank[a] = rank[b];
    rank[b] = kept;
  }
  return true;
}

// Lists the points of an orbit, or only counts them if `xi` is NULL.
static int32_t expand_orbit(const Orbit* orbit, double* xi, double* weight) {
  int32_t rank[4] = {0, 0, 0, 0};
  double distinct[4] = {orbit->lambda[0], 0.0, 0.0, 0.0};
  for (int32_t k = 1; k < 4; k++) {
    rank[k] = rank[k - 1] + (orbit->lambda[k] != orbit->lambda[k - 1]);
    distinct[rank[k]] = orbit->lambda[k];
  }
  int32_t count = 0;
  do {
    if (xi != NULL) {
      for (int32_t k = 1; k < 4; k++) {
        xi[count * 3 + k - 1] = distinct[rank[k]];
      }
      weight[count] = orbit->weight;
    }
    count++;
  } while (next_arrangement(rank));
  return count;
}

static NoliStatus quadrature_allocate(NoliContext* context, int32_t n, int32_t dimension,
                                      int32_t degree, NoliQuadrature* rule) {
  NoliStatus status = NOLI_OK;
  rule->n = n;
  rule->degree = degree;
  NOLI_NEW(context, rule->xi, dimension * (int64_t)n);
  NOLI_NEW(context, rule->weight, n);
done:
  return status;
}

// The tabulated rule of exactly that degree.
static NoliStatus tabulated(NoliContext* context, int32_t degree, NoliQuadrature* rule) {
  NoliStatus status = NOLI_OK;
  int32_t n = 0;
  for (int32_t k = 0; k < N_ORBITS; k++) {
    if (orbits[k].degree == degree) {
      n += expand_orbit(&orbits[k], NULL, NULL);
    }
  }
  NOLI_TRY(quadrature_allocate(context, n, 3, degree, rule));
  n = 0;
  for (int32_t k = 0; k < N_ORBITS; k++) {
    if (orbits[k].degree == degree) {
      n += expand_orbit(&orbits[k], rule->xi + 3 * (int64_t)n, rule->weight + n);
    }
  }
done:
  return status;
}

// The Jacobi polynomial P_n^(alpha, 0) at x and its derivative, n >= 1.
static double jacobi(int32_t n, int32_t alpha, double x, double* derivative) {
  double a = alpha, before = 1.0, now = 0.5 * ((a + 2.0) * x + a);
  for (int32_t m = 1; m < n; m++) {
    double k = 2.0 * m + a;
    double next =
        ((k + 1.0) * (a * a + k * (k + 2.0) * x) * now - 2.0 * (m + a) * m * (k + 2.0) * before) /
        (2.0 * (m + 1.0) * (m + a + 1.0) * k);
    before = now;
    now = next;
  }
  double k = 2.0 * n + a;
  *derivative = (n * (a - k * x) * now + 2.0 * n * (n + a) * before) / (k * (1.0 - x * x));
  return now;
}

enum { GAUSS_MAX = NOLI_QUADRATURE_DEGREE_MAX / 2 + 1 };

// Gauss's rule for the weight (1 - s)^alpha on [0, 1].
static void gauss_jacobi(int32_t n, int32_t alpha, double s[GAUSS_MAX], double w[GAUSS_MAX]) {
  double root[GAUSS_MAX];
  for (int32_t i = 0; i < n; i++) {
    // Newton's method from the root of a Chebyshev polynomial, with the known roots divided out
    double x = -cos(PI * (2.0 * i + 1.0) / (2.0 * n)), derivative = 0.0;
    x = i > 0 ? 0.5 * (x + root[i - 1]) : x;
    for (int iteration = 0; iteration < 60; iteration++) {
      double found = 0.0, value = jacobi(n, alpha, x, &derivative);
      for (int32_t j = 0; j < i; j++) {
        found += 1.0 / (x - root[j]);
      }
      double step = value / (derivative - found * value);
      x -= step;
      if (fabs(step) < 1e-15) {
        break;
      }
    }
    root[i] = x;
    jacobi(n, alpha, x, &derivative);
    // on [-1, 1]: 2^(alpha + 1) / ((1 - x^2) P'^2); the interval [0, 1] divides by 2^(alpha + 1)
    s[i] = 0.5 * (1.0 + x);
    w[i] = 1.0 / ((1.0 - x) * (1.0 + x) * derivative * derivative);
  }
}

// xi = (r, s (1 - r), t (1 - r)(1 - s)): the volume shrinks by (1 - r)^2 (1 - s).
static void fill_cone(int32_t n, NoliQuadrature* rule) {
  double r[GAUSS_MAX], s[GAUSS_MAX], t[GAUSS_MAX];
  double wr[GAUSS_MAX], ws[GAUSS_MAX], wt[GAUSS_MAX];
  gauss_jacobi(n, 2, r, wr);
  gauss_jacobi(n, 1, s, ws);
  gauss_jacobi(n, 0, t, wt);
  int32_t q = 0;
  for (int32_t i = 0; i < n; i++) {
    for (int32_t j = 0; j < n; j++) {
      for (int32_t k = 0; k < n; k++, q++) {
        double* xi = rule->xi + 3 * (int64_t)q;
        xi[0] = r[i];
        xi[1] = s[j] * (1.0 - r[i]);
        xi[2] = t[k] * (1.0 - r[i]) * (1.0 - s[j]);
        rule->weight[q] = wr[i] * ws[j] * wt[k];
      }
    }
  }
}

// xi = (r, s (1 - r)): the area shrinks by 1 - r.
static void fill_fan(int32_t n, NoliQuadrature* rule) {
  double r[GAUSS_MAX], s[GAUSS_MAX], wr[GAUSS_MAX], ws[GAUSS_MAX];
  gauss_jacobi(n, 1, r, wr);
  gauss_jacobi(n, 0, s, ws);
  for (int32_t q = 0; q < n * n; q++) {
    rule->xi[2 * q] = r[q / n];
    rule->xi[2 * q + 1] = s[q % n] * (1.0 - r[q / n]);
    rule->weight[q] = wr[q / n] * ws[q % n];
  }
}

static NoliStatus check_degree(NoliContext* context, int32_t degree) {
  NoliStatus status = NOLI_OK;
  NOLI_CHECK(context, degree >= 0 && degree <= NOLI_QUADRATURE_DEGREE_MAX, NOLI_ERROR_ARGUMENT,
             "quadrature: degrees are 0 to %d, got %d", NOLI_QUADRATURE_DEGREE_MAX, degree);
done:
  return status;
}

NoliStatus noli_quadrature_tri(NoliContext* context, int32_t degree, NoliQuadrature* rule) {
  NoliStatus status = NOLI_OK;
  *rule = (NoliQuadrature){0};
  NOLI_TRY(check_degree(context, degree));
  int32_t n = degree / 2 + 1;
  NOLI_TRY(quadrature_allocate(context, n * n, 2, 2 * n - 1, rule));
  fill_fan(n, rule);
done:
  if (status != NOLI_OK) {
    noli_quadrature_free(context, rule);
  }
  return status;
}

NoliStatus noli_quadrature_tet(NoliContext* context, int32_t degree, NoliQuadrature* rule) {
  NoliStatus status = NOLI_OK;
  *rule = (NoliQuadrature){0};
  NOLI_TRY(check_degree(context, degree));
  // orbits are listed by ascending degree
  for (int32_t k = 0; k < N_ORBITS; k++) {
    if (orbits[k].degree >= degree) {
      NOLI_TRY(tabulated(context, orbits[k].degree, rule));
      goto done;
    }
  }
  int32_t n = degree / 2 + 1;
  NOLI_TRY(quadrature_allocate(context, n * n * n, 3, 2 * n - 1, rule));
  fill_cone(n, rule);
done:
  if (status != NOLI_OK) {
    noli_quadrature_free(context, rule);
  }
  return status;
}

void noli_quadrature_free(NoliContext* context, NoliQuadrature* rule) {
  noli_free(context, rule->xi);
  noli_free(context, rule->weight);
  *rule = (NoliQuadrature){0};
}
