// What the automatic choice of a solver needs of conjugate gradients, beyond the seam.
#pragma once

#include <stdint.h>

// Solutions end with NOLI_NOT_CONVERGED when they have cost as much as so many iterations with
// diagonal blocks; INFINITY, at first: no limit.
void noli_pcg_set_budget(void* state, double iterations);
