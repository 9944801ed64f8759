#pragma once

#include "math/lanes.h"

// F = U diag(sigma) V^T with rotations U and V (both determinants +1) and
// sigma[0] >= sigma[1] >= |sigma[2]|; sigma[2] carries the sign of det F.
// One-sided Jacobi: small singular values keep their relative accuracy as far as the columns of F
// allow; zero, rank-deficient and repeated cases need no special treatment. Entries that are not
// finite yield NaN everywhere.
void noli_svd3(const NoliMat3* F, NoliMat3* U, double sigma[3], NoliMat3* V);

// The same of NOLI_LANES matrices at once, with the same bits.
void noli_svd3_lanes(const NoliLanes33* F, NoliLanes33* U, NoliLanes3* sigma, NoliLanes33* V);
