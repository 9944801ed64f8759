// Smoothed-aggregation multigrid [Vanek1996] as a preconditioner for symmetric positive definite
// matrices: V-cycles smoothed by Chebyshev polynomials [Adams2003]. Work and memory grow with the
// blocks of the matrix, iterations hardly at all. The same bits for any number of threads.
#pragma once

#include "base/parallel.h"
#include "linalg/block_matrix.h"

typedef struct NoliMultigrid NoliMultigrid;

NOLI_WARN_UNUSED NoliStatus noli_multigrid_create(NoliContext* context, NoliMultigrid** multigrid);
// NULL is harmless.
void noli_multigrid_destroy(NoliMultigrid** owner);

// Makes the levels of a matrix, which is borrowed until the last cycle. Fails with
// NOLI_NOT_POSITIVE_DEFINITE where a level shows it.
NOLI_WARN_UNUSED NoliStatus noli_multigrid_factor(NoliMultigrid* multigrid,
                                                  const NoliBlockMatrix* matrix);

// One cycle: z ~ A^-1 r, both (n x 3), a symmetric positive definite map but for rounding. `length`
// is |r| > 0, about. Called by all members of a team, each of which writes rows of z: complete
// after the next noli_team_wait.
void noli_multigrid_cycle(NoliMultigrid* multigrid, NoliTeam* team, int32_t rank, int32_t size,
                          double length, const double* r, double* z);

int32_t noli_multigrid_levels(const NoliMultigrid* multigrid);
int64_t noli_multigrid_bytes(const NoliMultigrid* multigrid);
