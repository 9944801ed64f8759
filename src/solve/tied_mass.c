#include "solve/tied_mass.h"

#include <string.h>

// Relative residual of conjugate gradients: the masses of neighbours are similar, so a few tens of
// iterations suffice.
#define TOLERANCE 1e-14

enum { MAX_ITERATIONS = 500 };

typedef struct Solve {
  const NoliStage* stage;
  const uint8_t* axes; // (n_vert) prescribed components
  int64_t n;           // components of vectors
  double* inverse;     // of the diagonal; 0 at components without acceleration
  double* solution;    // accelerations
  double* residual;
  double* direction;
  double* product;
} Solve;

// Inverse mass of nodes, including the mass tied to them; zero for massless and tied nodes and
// prescribed components.
static void invert_diagonal(Solve* solve) {
  const NoliProblem* problem = solve->stage->problem;
  const NoliFollowers* followers = &problem->followers;
  memset(solve->inverse, 0, (size_t)solve->n * sizeof(double));
  for (int32_t i = 0; i < problem->inertia.n_vert; i++) {
    int64_t node = problem->inertia.vert[i];
    for (int32_t k = 0; k < 3; k++) {
      solve->inverse[3 * node + k] = problem->inertia.mass[node];
    }
  }

  for (int32_t f = 0; f < followers->n_tied; f++) {
    int64_t tied = followers->tied[f];
    for (int64_t e = followers->row[f]; e < followers->row[f + 1]; e++) {
      double share = followers->weight[e] * followers->weight[e] * problem->inertia.mass[tied];
      for (int32_t k = 0; k < 3; k++) {
        solve->inverse[3 * (int64_t)followers->node[e] + k] += share;
      }
    }
    memset(&solve->inverse[3 * tied], 0, 3 * sizeof(double));
  }

  for (int64_t j = 0; j < solve->n; j++) {
    bool prescribed = (solve->axes[j / 3] >> (j % 3) & 1) != 0;
    bool moves = !prescribed && solve->inverse[j] > 0.0;
    solve->inverse[j] = moves ? 1.0 / solve->inverse[j] : 0.0;
  }
}

// Clears components without acceleration.
static void mask(const Solve* solve, double* vector) {
  for (int64_t j = 0; j < solve->n; j++) {
    vector[j] = solve->inverse[j] > 0.0 ? vector[j] : 0.0;
  }
}

// product = W^T M W direction.
static void tied_mass_multiply(const Solve* solve) {
  const NoliStage* stage = solve->stage;
  const NoliProblem* problem = stage->problem;
  noli_stage_follow_vectors(stage, solve->direction);
  memset(solve->product, 0, (size_t)solve->n * sizeof(double));
  for (int32_t i = 0; i < problem->inertia.n_lumped; i++) {
    int64_t node = problem->inertia.lumped[i];
    for (int64_t j = 3 * node; j < 3 * node + 3; j++) {
      solve->product[j] = problem->inertia.mass[node] * solve->direction[j];
    }
  }
  noli_problem_multiply_mass(problem, solve->direction, stage->n_threads, solve->product);
  noli_stage_act_on_nodes(stage, solve->product);
  mask(solve, solve->product);
  mask(solve, solve->direction);
}

static double tied_mass_dot(const Solve* solve, const double* a, const double* b) {
  double sum = 0.0;
  for (int64_t j = 0; j < solve->n; j++) {
    sum += a[j] * b[j];
  }
  return sum;
}

// The squared norm weighted by the inverse diagonal.
static double weighted(const Solve* solve) {
  double sum = 0.0;
  for (int64_t j = 0; j < solve->n; j++) {
    sum += solve->inverse[j] * solve->residual[j] * solve->residual[j];
  }
  return sum;
}

// Conjugate gradients, preconditioned by the diagonal.
static void tied_mass_iterate(Solve* solve) {
  double now = weighted(solve), goal = TOLERANCE * TOLERANCE * now;
  memset(solve->solution, 0, (size_t)solve->n * sizeof(double));
  for (int64_t j = 0; j < solve->n; j++) {
    solve->direction[j] = solve->inverse[j] * solve->residual[j];
  }
  for (int32_t i = 0; i < MAX_ITERATIONS && now > goal; i++) {
    tied_mass_multiply(solve);
    double alpha = now / tied_mass_dot(solve, solve->direction, solve->product);
    for (int64_t j = 0; j < solve->n; j++) {
      solve->solution[j] += alpha * solve->direction[j];
      solve->residual[j] -= alpha * solve->product[j];
    }
    double before = now;
    now = weighted(solve);
    for (int64_t j = 0; j < solve->n; j++) {
      solve->direction[j] =
          solve->inverse[j] * solve->residual[j] + now / before * solve->direction[j];
    }
  }
}

NoliStatus noli_tied_mass_divide(const NoliStage* stage, const uint8_t* axes, double* vector) {
  NoliStatus status = NOLI_OK;
  Solve solve = {.stage = stage, .axes = axes, .n = 3 * (int64_t)stage->problem->n_vert};
  NOLI_NEW(stage->context, solve.inverse, solve.n);
  NOLI_NEW(stage->context, solve.solution, solve.n);
  NOLI_NEW(stage->context, solve.residual, solve.n);
  NOLI_NEW(stage->context, solve.direction, solve.n);
  NOLI_NEW(stage->context, solve.product, solve.n);
  invert_diagonal(&solve);
  memcpy(solve.residual, vector, (size_t)solve.n * sizeof(double));
  noli_stage_act_on_nodes(stage, solve.residual);
  mask(&solve, solve.residual);
  tied_mass_iterate(&solve);
  memcpy(vector, solve.solution, (size_t)solve.n * sizeof(double));
  noli_stage_follow_vectors(stage, vector);
done:
  noli_free(stage->context, solve.inverse);
  noli_free(stage->context, solve.solution);
  noli_free(stage->context, solve.residual);
  noli_free(stage->context, solve.direction);
  noli_free(stage->context, solve.product);
  return status;
}

NoliStatus noli_tied_mass_share(const NoliStage* stage, double* force) {
  NoliStatus status = NOLI_OK;
  const NoliProblem* problem = stage->problem;
  const NoliPrescribed* prescribed = &stage->prescribed;
  uint8_t* axes = NULL;
  NOLI_NEW_ZERO(stage->context, axes, problem->n_vert);
  for (int32_t i = 0; i < prescribed->n; i++) {
    axes[prescribed->node[i]] = prescribed->axes[i];
  }
  NOLI_TRY(noli_tied_mass_divide(stage, axes, force));
  for (int64_t j = 0; j < 3 * (int64_t)problem->n_vert; j++) {
    force[j] *= problem->inertia.mass[j / 3];
  }
done:
  noli_free(stage->context, axes);
  return status;
}
