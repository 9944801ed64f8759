// Modes of vibration about the state: K phi = lambda M phi with the Hessian K of elasticity,
// volumes and pressures, and the masses M of the simulator, over the components that are free to
// move.
//
// Lanczos iterations find the smallest eigenvalues of (K + s M) phi = (lambda + s) M phi. The shift
// s > 0 is raised until the Cholesky factorization of K + s M succeeds, which proves that lambda >
// -s for all modes: those of free bodies (lambda = 0) and of unstable states (lambda < 0) come
// first, and none lies below.
#include "step/simulation.h"

#include "base/ranks.h"
#include "linalg/lanczos.h"
#include "step/conditions.h"
#include "step/fallback.h"

#include <float.h>
#include <math.h>
#include <string.h>

#define PI 3.14159265358979323846

// The first shift, the factor between two, and the last, over the largest ratio of the diagonals of
// K and M, which the largest eigenvalue exceeds by a small factor. The smaller the shift, the fewer
// iterations; it must exceed the rounding of K.
#define FIRST_SHIFT 1e-9
#define SHIFT_FACTOR 100.0
#define LAST_SHIFT 1e4

// Below this multiple of the sum of the magnitudes of its parts, lambda + s = phi^T (K + s M) phi
// is rounding.
#define ROUNDING (64.0 * DBL_EPSILON)

typedef struct Modes {
  NoliSim* sim;
  NoliContext* context;
  NoliStage* stage; // of this calculation: that of the simulation stays as it is
  NoliSystem stiffness;
  NoliSystem mass;
  NoliBlockMatrix shifted; // K + s M, in the pattern of K
  NoliLinSolver* solver;
  int32_t n_free;
  int64_t* component; // (n_free) of rows that are free
  int64_t* block;     // (blocks of M) the same block of K
  double* right;      // (n_dof x 3)
  double* left;       // (n_dof x 3)
  double scale;       // 1/s^2, largest ratio of diagonal entries
  double shift;       // 1/s^2
} Modes;

// ---- matrices -----------------------------------------------------------------------------------

// The conditions of the state: what the next step prescribes, and the loads of the last one.
static NoliStatus modes_begin_stage(Modes* modes) {
  NoliStatus status = NOLI_OK;
  NoliSim* sim = modes->sim;
  NoliStage* stage = modes->stage;
  double t = *sim->state.time;
  stage->time.h_e = stage->time.h_v = 1.0;
  stage->time.inertia = true;
  memcpy(stage->here->x, sim->state.x, noli_sim_vector_bytes(sim));
  memcpy(stage->time.x_tilde, sim->state.x, noli_sim_vector_bytes(sim));
  memcpy(stage->time.x_hat, sim->state.x, noli_sim_vector_bytes(sim));
  NOLI_TRY(noli_sim_collect_prescribed(sim, t, t));
  NOLI_TRY(noli_sim_collect_loads(sim, t, t, NOLI_NULL_INDEX));
  NOLI_TRY(noli_stage_number_unknowns(stage));
done:
  return status;
}

// The matrix of the terms with one of `roles`, in a system of its own.
static NoliStatus assemble(Modes* modes, unsigned roles, NoliSystem* system) {
  NoliStatus status = NOLI_OK;
  const NoliStage* stage = modes->stage;
  const NoliPrescribed* prescribed = &stage->prescribed;
  NoliEnergyTerm* term = NULL;
  bool* on_vertices = NULL;
  int32_t n = 0;
  NOLI_NEW_ZERO(modes->context, term, stage->terms.n);
  NOLI_NEW_ZERO(modes->context, on_vertices, stage->terms.n);
  for (int32_t i = 0; i < stage->terms.n; i++) {
    if (noli_stage_has(stage, i, roles)) {
      term[n] = stage->here->term[i];
      on_vertices[n++] = stage->terms.on_vertices[i];
    }
  }

  NOLI_TRY(noli_system_create(modes->context, &stage->problem->followers, stage->problem->n_vert,
                              stage->terms.n, system));
  NOLI_TRY(noli_system_number(system, stage->search.unknown, NULL, 0));
  NOLI_TRY(noli_assembler_hold(system->assembler, prescribed->partial ? prescribed->n : 0,
                               prescribed->node, prescribed->held));
  NOLI_TRY(noli_system_prepare(system, term, on_vertices, n));
  NOLI_TRY(noli_system_linearize(system, stage->here->x, NOLI_EVAL_HESSIAN, NULL));
done:
  noli_free(modes->context, term);
  noli_free(modes->context, on_vertices);
  return status;
}

// The parts of rank one of K.
static NoliStatus add_rank_one(Modes* modes) {
  NoliStatus status = NOLI_OK;
  NoliStage* stage = modes->stage;
  NoliSystem* system = &modes->stiffness;
  int32_t n = 0;
  for (int32_t i = 0; i < stage->terms.n; i++) {
    const NoliTerm* term = &stage->terms.term[i];
    n += term->type->rank != NULL ? term->type->rank(term->self) : 0;
  }
  NOLI_TRY(noli_low_rank_resize(&system->low_rank, modes->context, n, system->n_dof));
  n = 0;

  for (int32_t i = 0; i < stage->terms.n; i++) {
    const NoliTerm* term = &stage->terms.term[i];
    int32_t n_own = term->type->rank != NULL ? term->type->rank(term->self) : 0;
    for (int32_t k = 0; k < n_own; k++, n++) {
      memset(stage->search.gradient, 0, noli_sim_vector_bytes(modes->sim));
      system->low_rank.scale[n] =
          term->type->add_rank_one(term->self, k, stage->here->x, stage->search.gradient);
      noli_stage_act_on_nodes(stage, stage->search.gradient);
      noli_system_mask(system, stage->search.gradient);
      noli_system_to_rows(system, 1.0, stage->search.gradient,
                          system->low_rank.vector + 3 * (int64_t)n * system->n_dof);
    }
  }
done:
  return status;
}

// Components of rows that are not held.
static NoliStatus find_free(Modes* modes) {
  NoliStatus status = NOLI_OK;
  const NoliPrescribed* prescribed = &modes->stage->prescribed;
  const int32_t* dof = modes->stiffness.dof;
  uint8_t* held = NULL;
  NOLI_NEW_ZERO(modes->context, held, modes->stiffness.n_dof);
  NOLI_NEW(modes->context, modes->component, 3 * (int64_t)modes->stiffness.n_dof);
  for (int32_t i = 0; i < prescribed->n; i++) {
    int32_t row = dof[prescribed->node[i]];
    if (row != NOLI_NULL_INDEX) {
      held[row] = prescribed->held[i];
    }
  }
  for (int64_t j = 0; j < 3 * (int64_t)modes->stiffness.n_dof; j++) {
    if ((held[j / 3] >> j % 3 & 1) == 0) {
      modes->component[modes->n_free++] = j;
    }
  }
done:
  noli_free(modes->context, held);
  return status;
}

// Finds every block of M in K: bodies resist wherever they have mass.
static NoliStatus match_blocks(Modes* modes) {
  NoliStatus status = NOLI_OK;
  const NoliBlockMatrix *K = noli_system_matrix(&modes->stiffness),
                        *M = noli_system_matrix(&modes->mass);
  NOLI_NEW(modes->context, modes->block, M->nnz);
  for (int32_t row = 0; row < M->n; row++) {
    int64_t at = K->row[row];
    for (int64_t k = M->row[row]; k < M->row[row + 1]; k++) {
      while (at < K->row[row + 1] && K->col[at] < M->col[k]) {
        at++;
      }
      NOLI_CHECK(modes->context, at < K->row[row + 1] && K->col[at] == M->col[k],
                 NOLI_ERROR_INTERNAL, "modes: the mass couples vertices that no element connects");
      modes->block[k] = at;
    }
  }
done:
  return status;
}

// The largest ratio of the diagonals of K and M, a measure of the largest eigenvalue.
static double largest_ratio(const Modes* modes) {
  const NoliBlockMatrix *K = noli_system_matrix(&modes->stiffness),
                        *M = noli_system_matrix(&modes->mass);
  double largest = 0.0;
  for (int32_t i = 0; i < modes->n_free; i++) {
    int64_t row = modes->component[i] / 3, entry = 4 * (modes->component[i] % 3);
    largest =
        fmax(largest, fabs(K->value[9 * K->row[row] + entry]) / M->value[9 * M->row[row] + entry]);
  }
  return largest > 0.0 ? largest : 1.0;
}

static NoliStatus make_matrices(Modes* modes) {
  NoliStatus status = NOLI_OK;
  NOLI_TRY(modes_begin_stage(modes));
  NOLI_TRY(
      assemble(modes, NOLI_ROLE_ELASTIC | NOLI_ROLE_VOLUME | NOLI_ROLE_LOAD, &modes->stiffness));
  NOLI_TRY(assemble(modes, NOLI_ROLE_INERTIA, &modes->mass));
  NOLI_TRY(add_rank_one(modes));
  NOLI_TRY(find_free(modes));
  NOLI_TRY(match_blocks(modes));
  modes->scale = largest_ratio(modes);
done:
  return status;
}

// ---- eigenvalues --------------------------------------------------------------------------------

// Factors K + s M.
static NoliStatus factor(Modes* modes) {
  const NoliBlockMatrix *K = noli_system_matrix(&modes->stiffness),
                        *M = noli_system_matrix(&modes->mass);
  NoliLowRank* low_rank = &modes->stiffness.low_rank;
  memcpy(modes->shifted.value, K->value, 9 * sizeof *K->value * (size_t)K->nnz);
  for (int64_t k = 0; k < M->nnz; k++) {
    for (int i = 0; i < 9; i++) {
      modes->shifted.value[9 * modes->block[k] + i] += modes->shift * M->value[9 * k + i];
    }
  }
  NoliLinSystem system = {
      .n = K->n, .symmetric = &modes->shifted, .low_rank = low_rank->n_rank > 0 ? low_rank : NULL};
  return noli_lin_solver_factor_system(modes->solver, system);
}

static NoliStatus find_shift(Modes* modes) {
  NoliStatus status = NOLI_OK;
  const NoliBlockMatrix* K = noli_system_matrix(&modes->stiffness);
  modes->shifted = *K;
  modes->shifted.value = NULL;
  NOLI_NEW(modes->context, modes->shifted.value, 9 * K->nnz);
  NOLI_TRY(noli_lin_solver_create(modes->context, "cholmod", &modes->solver));
  modes->shift = FIRST_SHIFT * modes->scale;
  NoliStatus factored = factor(modes);
  while (factored == NOLI_NOT_POSITIVE_DEFINITE && modes->shift < LAST_SHIFT * modes->scale) {
    modes->shift *= SHIFT_FACTOR;
    factored = factor(modes);
  }
  NOLI_TRY(factored);
done:
  return status;
}

static void scatter(const Modes* modes, const double* free, double* rows) {
  memset(rows, 0, 3 * sizeof *rows * (size_t)modes->stiffness.n_dof);
  for (int32_t i = 0; i < modes->n_free; i++) {
    rows[modes->component[i]] = free[i];
  }
}

static void gather(const Modes* modes, const double* rows, double* free) {
  for (int32_t i = 0; i < modes->n_free; i++) {
    free[i] = rows[modes->component[i]];
  }
}

static NoliStatus modes_multiply_mass(void* user, const double* x, double* y) {
  Modes* modes = user;
  scatter(modes, x, modes->right);
  noli_block_matrix_multiply(noli_system_matrix(&modes->mass), modes->stage->n_threads,
                             modes->right, modes->left);
  gather(modes, modes->left, y);
  return NOLI_OK;
}

static NoliStatus solve_shifted(void* user, const double* right, double* x) {
  NoliStatus status = NOLI_OK;
  Modes* modes = user;
  scatter(modes, right, modes->right);
  NOLI_TRY(noli_lin_solver_solve(modes->solver, modes->right, modes->left));
  gather(modes, modes->left, x);
done:
  return status;
}

// phi^T K phi = omega^2, 1/s^2, and the sum of the magnitudes of its parts: more precise than the
// eigenvalue of the iteration, whose rounding is that of the smallest one.
static double quotient(Modes* modes, const double* phi, double* magnitude) {
  const NoliBlockMatrix* K = noli_system_matrix(&modes->stiffness);
  const NoliLowRank* low_rank = &modes->stiffness.low_rank;
  size_t bytes = 3 * sizeof *modes->left * (size_t)K->n;
  double sum = 0.0;
  scatter(modes, phi, modes->right);

  // blocks of the upper triangle
  *magnitude = 0.0;
  for (int32_t row = 0; row < K->n; row++) {
    for (int64_t k = K->row[row]; k < K->row[row + 1]; k++) {
      const double *a = modes->right + 3 * (int64_t)row, *b = modes->right + 3 * (int64_t)K->col[k];
      double factor = K->col[k] == row ? 1.0 : 2.0;
      for (int i = 0; i < 9; i++) {
        double part = factor * a[i / 3] * K->value[9 * k + i] * b[i % 3];
        sum += part;
        *magnitude += fabs(part);
      }
    }
  }

  // parts of rank one
  memset(modes->left, 0, bytes);
  noli_low_rank_multiply_add(low_rank, modes->right, modes->left);
  for (int64_t j = 0; j < 3 * (int64_t)K->n; j++) {
    sum += modes->right[j] * modes->left[j];
  }
  memset(modes->left, 0, bytes);
  noli_low_rank_multiply_magnitudes_add(low_rank, modes->right, modes->left);
  for (int64_t j = 0; j < 3 * (int64_t)K->n; j++) {
    *magnitude += fabs(modes->right[j]) * modes->left[j];
  }
  return sum;
}

// The frequency of a mode, 0 where its stiffness is rounding.
static double frequency_of(Modes* modes, const double* phi) {
  double magnitude, lambda = quotient(modes, phi, &magnitude);
  bool stiff = fabs(lambda) > ROUNDING * (magnitude + modes->shift);
  return stiff ? copysign(sqrt(fabs(lambda)), lambda) / (2.0 * PI) : 0.0;
}

// Frequencies in ascending order, and that order: those of equal modes differ by rounding.
static void sort(int32_t n, double* frequency, int32_t* order) {
  for (int32_t i = 0; i < n; i++) {
    double own = frequency[i];
    int32_t place = i;
    while (place > 0 && frequency[place - 1] > own) {
      frequency[place] = frequency[place - 1];
      order[place] = order[place - 1];
      place--;
    }
    frequency[place] = own;
    order[place] = i;
  }
}

// The shape over all nodes, its largest component positive.
static NoliStatus write_shape(Modes* modes, const double* phi, double* shape) {
  NoliStage* stage = modes->stage;
  const NoliSystem* system = &modes->stiffness;
  int64_t n = 3 * (int64_t)modes->sim->model->problem.n_node;
  double largest = 0.0;
  scatter(modes, phi, modes->right);
  noli_system_to_nodes(system, modes->right, stage->search.step);
  noli_stage_follow_vectors(stage, stage->search.step);
  for (int64_t j = 0; j < n; j++) {
    largest = fabs(stage->search.step[j]) > fabs(largest) ? stage->search.step[j] : largest;
  }
  for (int64_t j = 0; j < n; j++) {
    shape[j] = largest < 0.0 ? -stage->search.step[j] : stage->search.step[j];
  }
  return isfinite(largest) ? NOLI_OK
                           : noli_fail(modes->context, NOLI_NOT_FINITE, "a mode is not finite");
}

static NoliStatus modes_solve(Modes* modes, int32_t n, double* frequency, double* shape) {
  NoliStatus status = NOLI_OK;
  double *value = NULL, *vector = NULL;
  int32_t* order = NULL;
  int64_t n_shape = 3 * (int64_t)modes->sim->model->problem.n_node;
  NoliLanczosProblem problem = {modes->n_free, modes_multiply_mass, solve_shifted, modes};
  NOLI_NEW(modes->context, value, n);
  NOLI_NEW(modes->context, vector, (int64_t)n * modes->n_free);
  NOLI_NEW(modes->context, order, n);
  NOLI_TRY(find_shift(modes));
  NOLI_TRY(noli_lanczos_smallest(modes->context, &problem, n, value, vector));
  for (int32_t i = 0; i < n; i++) {
    frequency[i] = frequency_of(modes, vector + (int64_t)i * modes->n_free);
  }
  sort(n, frequency, order);
  for (int32_t i = 0; shape != NULL && i < n; i++) {
    NOLI_TRY(write_shape(modes, vector + (int64_t)order[i] * modes->n_free, shape + i * n_shape));
  }
done:
  noli_free(modes->context, value);
  noli_free(modes->context, vector);
  noli_free(modes->context, order);
  return status;
}

// ---- call ---------------------------------------------------------------------------------------

static void modes_release(Modes* modes) {
  NoliContext* context = modes->context;
  noli_lin_solver_destroy(&modes->solver);
  if (modes->stiffness.context != NULL) {
    noli_system_destroy(&modes->stiffness);
  }
  if (modes->mass.context != NULL) {
    noli_system_destroy(&modes->mass);
  }
  noli_stage_destroy(&modes->stage);
  noli_free(context, modes->shifted.value);
  noli_free(context, modes->component);
  noli_free(context, modes->block);
  noli_free(context, modes->right);
  noli_free(context, modes->left);
}

NoliStatus noli_sim_modes(NoliSim* sim, int32_t n, double* frequency, double* shape) {
  NOLI_REQUIRE_READABLE(sim, sim != NULL && frequency != NULL);
  NoliStatus status = NOLI_OK;
  Modes modes = {.sim = sim, .context = sim->context};
  NoliStage* own = sim->stage;
  NOLI_TRY(noli_ranks_require_one(sim->context, "modes of vibration"));
  NOLI_CHECK(sim->context, n > 0, NOLI_ERROR_ARGUMENT, "the number of modes must be > 0, got %d",
             (int)n);
  NOLI_TRY(noli_sim_create_stage(sim, &sim->model->problem, &modes.stage));

  // the functions that collect conditions write to the stage of the simulation
  sim->stage = modes.stage;
  NOLI_TRY(make_matrices(&modes));
  NOLI_CHECK(sim->context, modes.n_free > 0, NOLI_ERROR_ARGUMENT,
             "nothing can vibrate: every vertex is prescribed or belongs to an obstacle");
  NOLI_CHECK(sim->context, n <= modes.n_free, NOLI_ERROR_ARGUMENT,
             "%d modes: vertices have %d free components, and the state as many modes", (int)n,
             (int)modes.n_free);

  NOLI_NEW(sim->context, modes.right, 3 * (int64_t)modes.stiffness.n_dof);
  NOLI_NEW(sim->context, modes.left, 3 * (int64_t)modes.stiffness.n_dof);
  NOLI_TRY(modes_solve(&modes, n, frequency, shape));
done:
  sim->stage = own;
  modes_release(&modes);
  return status;
}
