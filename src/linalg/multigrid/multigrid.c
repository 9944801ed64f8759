#include "linalg/multigrid/multigrid.h"

#include "base/profile.h"
#include "linalg/multigrid/multigrid_level.h"
#include "linalg/solver.h"

enum { MOST_LEVELS = 24 };

// Nodes of a level that is solved exactly.
enum { COARSEST = 100 };

// A level with more than this share of the nodes of the one before is not worth its work.
#define LEAST_COARSENING 0.8

// Eigenvalues that the smoother reduces, in shares of the largest: coarser levels take the others.
#define SMOOTHED_FROM 0.05

struct NoliMultigrid {
  NoliContext* context;
  int32_t n_levels;
  NoliGridLevel level[MOST_LEVELS];
  NoliBlockMatrix coarsest; // of the last level, where that is solved exactly
  NoliLinSolver* direct;    // of it
  bool exact;               // it is in use
  uint64_t n_factored;      // by it, so far
  double scale;             // levels are of the matrix times this
  NOLI_ARRAY(double) right; // of the last level
  NOLI_ARRAY(double) solution;
};

NoliStatus noli_multigrid_create(NoliContext* context, NoliMultigrid** made) {
  NoliStatus status = NOLI_OK;
  NoliMultigrid* multigrid = NULL;
  NOLI_NEW_ZERO(context, multigrid, 1);
  multigrid->context = context;
  NOLI_TRY(noli_lin_solver_create(context, "dense", &multigrid->direct));
  NOLI_TRY(noli_array_reserve(context, &multigrid->right, 3 * COARSEST));
  NOLI_TRY(noli_array_reserve(context, &multigrid->solution, 3 * COARSEST));
  *made = multigrid;
  multigrid = NULL;
done:
  noli_multigrid_destroy(&multigrid);
  return status;
}

void noli_multigrid_destroy(NoliMultigrid** owner) {
  NoliMultigrid* multigrid = *owner;
  if (multigrid == NULL) {
    return;
  }
  NoliContext* context = multigrid->context;
  for (int32_t k = 0; k < MOST_LEVELS; k++) {
    noli_grid_level_free(context, &multigrid->level[k]);
  }
  noli_lin_solver_destroy(&multigrid->direct);
  noli_array_free(context, &multigrid->right);
  noli_array_free(context, &multigrid->solution);
  noli_free(context, multigrid);
  *owner = NULL;
}

int32_t noli_multigrid_levels(const NoliMultigrid* multigrid) {
  return multigrid->n_levels;
}

int64_t noli_multigrid_bytes(const NoliMultigrid* multigrid) {
  int64_t bytes = 0;
  for (int32_t k = 0; k < MOST_LEVELS; k++) {
    bytes += noli_grid_level_bytes(&multigrid->level[k]);
  }
  return bytes;
}

static NoliStatus factor_coarsest(NoliMultigrid* multigrid, NoliGridLevel* level) {
  NoliStatus status = NOLI_OK;
  NOLI_TRY(noli_array_reserve(multigrid->context, &level->vector[NOLI_GRID_RIGHT], 4 * COARSEST));
  NOLI_TRY(noli_array_reserve(multigrid->context, &level->vector[NOLI_GRID_X], 4 * COARSEST));
  // a pattern of its own: the direct solver tells patterns by their numbers
  multigrid->coarsest = *level->matrix;
  multigrid->coarsest.pattern_id = ++multigrid->n_factored;
  NOLI_TRY(noli_lin_solver_factor(multigrid->direct, &multigrid->coarsest));
  multigrid->exact = true;
done:
  return status;
}

NoliStatus noli_multigrid_factor(NoliMultigrid* multigrid, const NoliBlockMatrix* matrix) {
  NoliStatus status = NOLI_OK;
  NoliContext* context = multigrid->context;
  NoliGridLevel* level = multigrid->level;
  multigrid->n_levels = 0;
  multigrid->exact = false;
  if (matrix->n == 0) {
    goto done;
  }
  multigrid->scale = 1.0 / noli_block_matrix_largest_diagonal(matrix);
  level->matrix = matrix;

  for (;;) {
    int32_t n_coarse = 0;
    multigrid->n_levels++;
    if (level->matrix->n <= COARSEST) {
      NOLI_TRY(factor_coarsest(multigrid, level));
      break;
    }
    NOLI_TRY(noli_grid_level_make(level, context, multigrid->scale));
    if (multigrid->n_levels == MOST_LEVELS) {
      break;
    }
    NOLI_TRY(
        noli_grid_level_coarsen(level, context, multigrid->n_levels - 1, level + 1, &n_coarse));
    if (n_coarse == 0 || n_coarse > LEAST_COARSENING * level->matrix->n) {
      break;
    }
    level++;
  }
done:
  return status;
}

// ---- a cycle ------------------------------------------------------------------------------------

// The part of a member of a team, at a level.
typedef struct Share {
  NoliMultigrid* multigrid;
  NoliTeam* team;
  int32_t rank, size;
} Share;

static int64_t first_row(const Share* share, int64_t n) {
  return share->rank * n / share->size;
}

static int64_t last_row(const Share* share, int64_t n) {
  return (share->rank + 1) * n / share->size;
}

static float* multigrid_vector_of(const NoliGridLevel* level, int32_t which) {
  return level->vector[which].data;
}

// residual = right - A x
static void find_residual(const Share* share, const NoliGridLevel* level, const float* x) {
  const float* right = multigrid_vector_of(level, NOLI_GRID_RIGHT);
  float* residual = multigrid_vector_of(level, NOLI_GRID_RESIDUAL);
  int64_t end = last_row(share, level->matrix->n);
  for (int64_t i = first_row(share, level->matrix->n); i < end; i++) {
    float sum[4] = {0.0F};
    noli_grid_add_row(&level->full, i, x, sum);
    for (int32_t c = 0; c < 4; c++) {
      residual[4 * i + c] = right[4 * i + c] - sum[c];
    }
  }
}

// step = keep step + gain D^-1 (right - A from), to = from + step; from = NULL is zero.
static void multigrid_smooth(const Share* share, const NoliGridLevel* level, float keep, float gain,
                             const float* from, float* to) {
  const float* right = multigrid_vector_of(level, NOLI_GRID_RIGHT);
  float* step = multigrid_vector_of(level, NOLI_GRID_STEP);
  int64_t end = last_row(share, level->matrix->n);
  for (int64_t i = first_row(share, level->matrix->n); i < end; i++) {
    float residual[4], sum[4] = {0.0F}, scaled[4] = {0.0F};
    if (from != NULL) {
      noli_grid_add_row(&level->full, i, from, sum);
    }
    for (int32_t c = 0; c < 4; c++) {
      residual[c] = right[4 * i + c] - sum[c];
    }
    noli_grid_add(level->inverse.data + 9 * i, residual, scaled);
    for (int32_t c = 0; c < 4; c++) {
      float before = keep == 0.0F ? 0.0F : keep * step[4 * i + c];
      step[4 * i + c] = before + gain * scaled[c];
      to[4 * i + c] = (from != NULL ? from[4 * i + c] : 0.0F) + step[4 * i + c];
    }
  }
}

// The Chebyshev polynomial of degree two on the upper eigenvalues, from x (or zero) by way of y
// back to x: [Adams2003] section 3. On return, all members have written their rows.
static void smooth_twice(const Share* share, const NoliGridLevel* level, bool from_zero) {
  float *x = multigrid_vector_of(level, NOLI_GRID_X), *y = multigrid_vector_of(level, NOLI_GRID_Y);
  double high = level->largest, low = SMOOTHED_FROM * high;
  double centre = 0.5 * (high + low), radius = 0.5 * (high - low);
  double ratio = radius / centre, next = 1.0 / (2.0 * centre / radius - ratio);
  multigrid_smooth(share, level, 0.0F, (float)(1.0 / centre), from_zero ? NULL : x, y);
  noli_team_wait(share->team);
  multigrid_smooth(share, level, (float)(ratio * next), (float)(2.0 * next / radius), y, x);
  noli_team_wait(share->team);
}

// to = rows x, or to += rows x
static void transfer(const Share* share, const NoliGridRows* rows, const float* x, bool add,
                     float* to) {
  int64_t end = last_row(share, rows->n);
  for (int64_t i = first_row(share, rows->n); i < end; i++) {
    float sum[4] = {0.0F};
    noli_grid_add_row(rows, i, x, sum);
    for (int32_t c = 0; c < 4; c++) {
      to[4 * i + c] = (add ? to[4 * i + c] : 0.0F) + sum[c];
    }
  }
}

// x = A^-1 right on the last level, by one member. A solution that fails leaves no correction.
static void solve_coarsest(NoliMultigrid* multigrid, const NoliGridLevel* level) {
  const float* right = multigrid_vector_of(level, NOLI_GRID_RIGHT);
  float* x = multigrid_vector_of(level, NOLI_GRID_X);
  double *b = multigrid->right.data, *solution = multigrid->solution.data;
  int64_t n = multigrid->coarsest.n;
  for (int64_t i = 0; i < 3 * n; i++) {
    b[i] = (double)right[i + i / 3] / multigrid->scale;
  }
  bool good = noli_lin_solver_solve(multigrid->direct, b, solution) == NOLI_OK;
  for (int64_t i = 0; i < 3 * n; i++) {
    x[i + i / 3] = good ? (float)(solution[i]) : 0.0F;
  }
}

// x ~ A^-1 right from level k on. All members leave together.
static void descend(const Share* share, int32_t k) {
  NoliMultigrid* multigrid = share->multigrid;
  const NoliGridLevel *level = &multigrid->level[k], *next = level + 1;
  if (k == multigrid->n_levels - 1 && multigrid->exact) {
    if (share->rank == 0) {
      noli_work_join(); // alone
      solve_coarsest(multigrid, level);
      noli_work_share();
    }
    noli_team_wait(share->team);
    return;
  }

  smooth_twice(share, level, true);
  if (k < multigrid->n_levels - 1) {
    find_residual(share, level, multigrid_vector_of(level, NOLI_GRID_X));
    noli_team_wait(share->team);
    transfer(share, &level->restrict_, multigrid_vector_of(level, NOLI_GRID_RESIDUAL), false,
             multigrid_vector_of(next, NOLI_GRID_RIGHT));
    noli_team_wait(share->team);
    descend(share, k + 1);
    transfer(share, &level->prolong, multigrid_vector_of(next, NOLI_GRID_X), true,
             multigrid_vector_of(level, NOLI_GRID_X));
    noli_team_wait(share->team);
  }
  smooth_twice(share, level, false);
}

void noli_multigrid_cycle(NoliMultigrid* multigrid, NoliTeam* team, int32_t rank, int32_t size,
                          double length, const double* r, double* z) {
  Share share = {multigrid, team, rank, size};
  const NoliGridLevel* level = multigrid->level;
  int64_t n = level->matrix->n, begin = first_row(&share, n), end = last_row(&share, n);
  float *right = multigrid_vector_of(level, NOLI_GRID_RIGHT),
        *x = multigrid_vector_of(level, NOLI_GRID_X);
  for (int64_t i = 3 * begin; i < 3 * end; i++) {
    right[i + i / 3] = (float)(r[i] / length);
  }
  noli_team_wait(team);
  descend(&share, 0);
  for (int64_t i = 3 * begin; i < 3 * end; i++) {
    z[i] = length * multigrid->scale * (double)x[i + i / 3];
  }
}
