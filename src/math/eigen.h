// Symmetric eigenproblems and projections of small dense matrices, row-major, n <= NOLI_EIGEN_MAX
// unless stated otherwise.
#pragma once

#include <stdint.h>

enum { NOLI_EIGEN_MAX = 12 };

// Eigenvalues of `a` (n x n, symmetric, destroyed) in ascending order, and orthonormal
// eigenvectors: column k of `vectors` (n x n) belongs to values[k]. Errors are of the order of
// the rounding of the largest entry. Entries that are not finite yield NaN values.
void noli_eigen_symmetric(int32_t n, double* a, double* values, double* vectors);

// The same for any n <= 40000, values in no order, vector k in row k of `rows` (n x n); `scratch`
// has 3 n doubles.
void noli_eigen_symmetric_large(int32_t n, double* a, double* values, double* rows,
                                double* scratch);

// Replaces the symmetric matrix `a` (n x n) by the nearest positive semi-definite one: negative
// eigenvalues become 0. A matrix that is already semi-definite keeps its bits in most cases. The
// result is exactly symmetric if `a` is.
void noli_project_psd(int32_t n, double* a);

// Replaces a change (n x n, symmetric) of a matrix with these eigenvalues and eigenvectors, as
// noli_eigen_symmetric returns them in any order, by that of its projection: the mean of both sides
// where the projection has a kink, at eigenvalues that are 0 but for rounding.
void noli_project_change(int32_t n, const double* values, const double* vectors, double* change);

// As noli_project_psd for any n; `scratch` has noli_project_psd_scratch(n) doubles.
void noli_project_psd_large(int32_t n, double* a, double* scratch);
int64_t noli_project_psd_scratch(int32_t n);
