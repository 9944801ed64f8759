// The distortion of a shape: what shears and volume changes of its elements add up to. A measure of
// the quality of a mesh whose vertices have moved.
#pragma once

#include "base/context.h"

// The mean over elements (n x 4, padded with NOLI_NULL_INDEX; weights are measures at X0) of
//   tr(F^T F) / (d J^(2/d)) - 1 + (J + 1/J) / 2 - 1
// with F the deformation of an element of dimension d from X0 to X: 0 without distortion, infinite
// where a measure vanishes. Adds `factor` times its derivative by X to `derivative`, unless NULL.
double noli_distortion(int32_t n, const int32_t* element, const double* X0, const double* X,
                       double factor, double* derivative);
