// The Hessian of f(d^2) of one contact, as 3x3 blocks of its nodes, plain or projected.
//
// In the notation of collide/closest.h, with f' and f'' at D = d^2,
//   H = f'' g g^T + f' Hess D,  g = 2 w (x) r,  Hess D = 2 W^T W - 2 sum_k B_k B_k^T,
//   B_k = d g_k (x) n + w (x) t_k
// after the directions have been made orthonormal (then C = I): r = d n, and t_k, n are
// orthonormal. Let omega = |w|, and let the first n_dir tangents be the directions. For these, the
// parts w (x) t_k of W^T W and of B_k B_k^T cancel, so that with beta = -2 f' >= 0 and
// gamma = 4 f'' D + 2 f'
//   H = gamma (w (x) n)(w (x) n)^T
//     + beta sum_k [d^2 (g_k (x) n)(g_k (x) n)^T + d (w (x) t_k)(g_k (x) n)^T + transposed]
//     - beta sum over the other tangents (w (x) t)(w (x) t)^T.
// The last term is negative semi-definite and acts on separate dimensions: projection drops it. The
// rest acts on at most five dimensions: the n_dir vectors w (x) t_k / omega, and h_m (x) n with h_m
// an orthonormal basis of the node weights that sum to zero (as w and g_k do, by translation
// invariance). The nonzero eigenvalues of that small matrix are those of H; no matrix of size 12 is
// decomposed.
#pragma once

#include "collide/closest.h"

#include <stdbool.h>

// Writes the blocks (a, b), a <= b < 4, in the layout of noli_stencil_block for size 4. Blocks of
// nodes beyond `size` are zero. `first` and `second` are f' <= 0 and f''; y are the nodes.
void noli_stencil_hessian(const NoliClosest* closest, int32_t size, const NoliVec3 y[4],
                          double first, double second, bool projected, double blocks[90]);

// Projects the Hessian of any translation-invariant function of four nodes, in the same layout.
void noli_stencil_project(double blocks[90]);
