#include "linalg/tridiagonal.h"

#include <float.h>
#include <math.h>

// Relative accuracy, and the most bisections, which reach any double.
#define ACCURACY 1e-6
enum { MOST = 1200 };

// Number of eigenvalues below x: that of negative pivots of T - x I.
static int64_t count_below(int64_t n, const double* diagonal, const double* above, double x) {
  int64_t count = 0;
  double pivot = 1.0;
  for (int64_t i = 0; i < n; i++) {
    double coupling = i > 0 ? above[i - 1] * above[i - 1] / pivot : 0.0;
    pivot = diagonal[i] - x - coupling;
    // a pivot of zero counts as a tiny negative one
    pivot = fabs(pivot) < DBL_MIN ? -DBL_MIN : pivot;
    count += pivot < 0.0 ? 1 : 0;
  }
  return count;
}

// The eigenvalue that has `rank` smaller ones, in (low, high].
static double bisect(int64_t n, const double* diagonal, const double* above, int64_t rank,
                     double high) {
  double low = 0.0;
  for (int k = 0; k < MOST && high - low > ACCURACY * high; k++) {
    double middle = 0.5 * (low + high);
    if (count_below(n, diagonal, above, middle) > rank) {
      high = middle;
    } else {
      low = middle;
    }
  }
  return 0.5 * (low + high);
}

void noli_tridiagonal_extremes(int64_t n, const double* diagonal, const double* above,
                               double* lowest, double* highest) {
  // Gershgorin
  double bound = 0.0;
  for (int64_t i = 0; i < n; i++) {
    double row =
        diagonal[i] + (i > 0 ? fabs(above[i - 1]) : 0.0) + (i + 1 < n ? fabs(above[i]) : 0.0);
    bound = row > bound ? row : bound;
  }
  *lowest = bisect(n, diagonal, above, 0, bound * (1.0 + ACCURACY));
  *highest = bisect(n, diagonal, above, n - 1, bound * (1.0 + ACCURACY));
}
