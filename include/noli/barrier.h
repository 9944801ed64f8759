/// @file barrier.h
/// The barrier of incremental potential contact and its potential on a triangle mesh.
#pragma once

#include "noli/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/// The barrier b(D) = -(D - Dh)^2 ln(D / Dh) on squared distances D = d^2 < Dh = dhat^2, in m^4;
/// 0 for D >= Dh and +INFINITY for D <= 0 ([Li2020] eq. 6 with squared distances). Dh must be > 0.
NOLI_API double noli_barrier(double d_sqr, double dhat_sqr);

/// First derivative of noli_barrier with respect to D, in m^2, never positive. NaN for D <= 0.
NOLI_API double noli_barrier_first(double d_sqr, double dhat_sqr);

/// Second derivative of noli_barrier with respect to D, never negative. NaN for D <= 0.
NOLI_API double noli_barrier_second(double d_sqr, double dhat_sqr);

/// One entry of a sparse matrix. Entries with the same row and column add up.
typedef struct NoliTriplet {
  int32_t row;
  int32_t column;
  double value;
} NoliTriplet;

/// The barrier potential of a triangle mesh: the sum of b(d^2) over all pairs of a vertex and a
/// triangle and all pairs of edges that share no vertex and are closer than dhat. Pairs of nearly
/// parallel edges are mollified ([Li2020] eq. 24). Multiply by a stiffness to get an energy.
typedef struct NoliBarrierPotential NoliBarrierPotential;

/// Prepares the potential. `X` (n_vert x 3) are rest positions in metres (they scale the
/// mollifier), `tri` (n_tri x 3) triangles; both are copied. `dhat` in metres.
/// Fails with NOLI_ERROR_ARGUMENT (an index out of range, a coordinate that is not finite, dhat not
/// positive) and NOLI_ERROR_MEMORY.
NOLI_API NOLI_WARN_UNUSED NoliStatus noli_barrier_potential_create(
    NoliContext* context, const double* X, int32_t n_vert, const int32_t* tri, int32_t n_tri,
    double dhat, NoliBarrierPotential** potential);

/// Releases the potential and sets the pointer to NULL. NULL is allowed.
NOLI_API void noli_barrier_potential_destroy(NoliBarrierPotential** potential);

/// Finds the pairs closer than dhat at positions `x` (n_vert x 3), which are copied. Everything
/// below refers to these positions.
/// Fails with NOLI_ERROR_ARGUMENT for positions that are not finite, and with NOLI_ERROR_MEMORY.
NOLI_API NOLI_WARN_UNUSED NoliStatus noli_barrier_potential_update(NoliBarrierPotential* potential,
                                                                   const double* x);

/// Number of pairs closer than dhat.
NOLI_API int64_t noli_barrier_potential_pairs(const NoliBarrierPotential* potential);

/// Smallest distance in metres of a pair closer than dhat; INFINITY if there is none.
NOLI_API double noli_barrier_potential_min_distance(const NoliBarrierPotential* potential);

/// Value in m^4; +INFINITY if primitives touch.
NOLI_API double noli_barrier_potential_value(const NoliBarrierPotential* potential);

/// Writes the gradient (n_vert x 3); NaN where primitives touch.
NOLI_API void noli_barrier_potential_gradient(const NoliBarrierPotential* potential,
                                              double* gradient);

/// The Hessian as triplets, rows and columns 3 * vertex + axis, both triangles; entries of
/// different pairs are not added up. With `projected`, the Hessian of each pair is replaced by the
/// nearest positive semi-definite matrix. `*triplets` belongs to the potential and is valid until
/// the next call of this function. Fails with NOLI_ERROR_MEMORY.
NOLI_API NOLI_WARN_UNUSED NoliStatus noli_barrier_potential_hessian(NoliBarrierPotential* potential,
                                                                    bool projected,
                                                                    const NoliTriplet** triplets,
                                                                    int64_t* n_triplets);

#ifdef __cplusplus
}
#endif
