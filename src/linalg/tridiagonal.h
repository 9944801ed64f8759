// Extreme eigenvalues of symmetric tridiagonal matrices, by bisection with Sturm sequences.
#pragma once

#include <stdint.h>

// `diagonal` (n) and `above` (n - 1) of a positive definite matrix, n > 0; `lowest` and `highest`
// are right to a millionth.
void noli_tridiagonal_extremes(int64_t n, const double* diagonal, const double* above,
                               double* lowest, double* highest);
