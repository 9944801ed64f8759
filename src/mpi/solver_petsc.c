// Linear solvers of PETSc. A row of the table is a set of options, which those of the user replace
// or complete; the matrix is one of PETSc with blocks of 3 x 3.
#define _POSIX_C_SOURCE 200809L // sigaction
#include "mpi/solver_petsc.h"

#include "base/ranks.h"
#include "linalg/supernodal/metis_guard.h"
#include "mpi/hubs.h"
#include "mpi/petsc.h"

#include <stdio.h>
#include <string.h>

// Systems of at most this many nodes are factored: preconditioners that solve them exactly hide
// negative curvature from conjugate gradients, and iterations would gain nothing.
enum { FEW_NODES = 256 };

// The true residual may exceed the asked one by this factor.
#define RESIDUAL_SLACK 10.0

// Multigrid leaves out the couplings of nodes with more blocks in their rows: PETSc 3.18 ends with
// an error ("Buffer .. too small 4096") where a row of the graph of gamg has 4096 or more, and the
// coarse matrices of hypre fill up.
enum { MOST_BLOCKS = 4000 };

// Memory of MUMPS beyond its estimate, percent: doubled while it does not suffice.
enum { MUMPS_ROOM = 30, MUMPS_MOST_ROOM = 2000 };

// The codes that MUMPS reports in INFOG(1) (its guide, section 8).
enum {
  MUMPS_ROOM_8 = -8,
  MUMPS_ROOM_9 = -9,
  MUMPS_SINGULAR = -10,
  MUMPS_MEMORY = -13,
  MUMPS_INDEFINITE = -40
};

// A row of the table.
typedef struct PetscRow {
  const char* name;
  MatType type;
  bool general;
  bool direct;
  bool cuts_hubs; // the preconditioner does without the couplings of hubs
  const char* options;
  // of the preconditioner: the usual one, and one for systems where that is indefinite or cannot be
  // made; NULL: those above, none
  const char* usual;
  const char* robust;
} PetscRow;

typedef struct PetscSolver {
  NoliContext* context;
  const PetscRow* row;
  double tolerance;
  char prefix[32];  // of its options
  bool has_options; // of the user, not yet checked
  bool chosen;      // the user has chosen a preconditioner
  bool fresh;       // the next setup may depend on its matrix alone
  bool is_robust;   // the usual preconditioner failed for a system of this period

  MPI_Comm comm;
  NoliGeneralMatrix mirror; // both triangles of a symmetric matrix, on one rank
  double* gathered;         // (n x 3) solution of all ranks
  int64_t gathered_capacity;
  Mat matrix;
  NoliHubs hubs;
  Mat reduced; // the matrix without the couplings of hubs; NULL: there are none
  bool told;   // of hubs
  bool said;   // that the usual preconditioner failed
  KSP ksp;
  Vec b, x, residual;
  double* line; // (3 x 3 columns) values of a block row, row by row
  PetscInt* count;
  int64_t line_capacity;
  int64_t count_capacity;
} PetscSolver;

// ---- creation -----------------------------------------------------------------------------------

// Numbers the solvers of a process, whose options PETSc keeps in one list; while PETSc is locked.
static int64_t next_number(void) {
  static int64_t number = 0;
  return ++number;
}

// Writes options under the prefix of the solver; NULL: none.
static PetscErrorCode insert_options(PetscSolver* solver, const char* options) {
  if (options == NULL) {
    return 0;
  }
  PetscErrorCode code = PetscOptionsPrefixPush(NULL, solver->prefix);
  if (code == 0) {
    code = PetscOptionsInsertString(NULL, options);
    PetscErrorCode popped = PetscOptionsPrefixPop(NULL);
    code = code != 0 ? code : popped;
  }
  return code;
}

static NoliStatus petsc_create(NoliContext* context, const PetscRow* row, void** state) {
  NoliStatus status = NOLI_OK;
  NoliPetsc petsc = {0};
  PetscSolver* solver = NULL;
  NOLI_NEW_ZERO(context, solver, 1);
  solver->context = context;
  solver->row = row;
  solver->tolerance = NOLI_LIN_SOLVER_TOLERANCE;
  solver->comm =
      noli_rank_count(context) > 1 ? *(MPI_Comm*)context->def.ranks->communicator : PETSC_COMM_SELF;
  NOLI_TRY(noli_petsc_begin(&petsc, context));
  snprintf(solver->prefix, sizeof solver->prefix, "noli%lld_", (long long)next_number());
  NOLI_PETSC_TRY(&petsc, insert_options(solver, row->options));
  NOLI_PETSC_TRY(&petsc, insert_options(solver, row->usual));
  if (noli_rank_count(context) > 1) {
    // the usual product of multigrid, P^T A P, adds what ranks send in the order of its arrival
    NOLI_PETSC_TRY(&petsc, PetscOptionsSetValue(NULL, "-matptap_via", "allatonce"));
  }
  *state = solver;
  solver = NULL;
done:
  noli_petsc_end(&petsc);
  noli_free(context, solver);
  return status;
}

// Releases what depends on the pattern.
static void release(PetscSolver* solver) {
  KSPDestroy(&solver->ksp);
  MatDestroy(&solver->matrix);
  MatDestroy(&solver->reduced);
  VecDestroy(&solver->b);
  VecDestroy(&solver->x);
  VecDestroy(&solver->residual);
}

// Takes the options of the solver out of the list of the process, which has room for 512.
static void clear_options(PetscSolver* solver) {
  char *all = NULL, name[256];
  if (PetscOptionsGetAll(NULL, &all) != 0) {
    return;
  }
  size_t length = strlen(solver->prefix);
  for (const char* at = strchr(all, '-'); at != NULL; at = strchr(at + 1, '-')) {
    size_t size = strcspn(at, " ");
    if (strncmp(at + 1, solver->prefix, length) == 0 && size < sizeof name) {
      memcpy(name, at, size);
      name[size] = '\0';
      (void)PetscOptionsClearValue(NULL, name);
    }
  }
  PetscFree(all);
}

static void petsc_release(void* state) {
  PetscSolver* solver = state;
  NoliPetsc petsc = {0};
  if (noli_petsc_begin(&petsc, solver->context) == NOLI_OK && !petsc.leaves) {
    release(solver);
  }
  noli_petsc_end(&petsc);
}

static void petsc_destroy(NoliContext* context, void* state) {
  PetscSolver* solver = state;
  NoliPetsc petsc = {0};
  if (noli_petsc_begin(&petsc, context) == NOLI_OK && !petsc.leaves) {
    release(solver);
    clear_options(solver);
  }
  noli_petsc_end(&petsc);
  noli_general_matrix_free(context, &solver->mirror);
  noli_hubs_free(context, &solver->hubs);
  noli_free(context, solver->gathered);
  noli_free(context, solver->line);
  noli_free(context, solver->count);
  noli_free(context, solver);
}

static void petsc_set_tolerance(void* state, double tolerance) {
  ((PetscSolver*)state)->tolerance = tolerance;
}

static NoliStatus petsc_set_options(void* state, const char* options) {
  NoliStatus status = NOLI_OK;
  PetscSolver* solver = state;
  NoliPetsc petsc = {0};
  NOLI_TRY(noli_petsc_begin(&petsc, solver->context));
  NOLI_PETSC_TRY(&petsc, insert_options(solver, options));
  solver->has_options = true;
  solver->chosen = solver->chosen || strstr(options, "pc_type") != NULL; // or "-sub_pc_type"
done:
  noli_petsc_end(&petsc);
  return status;
}

// Warns of options that nothing has asked for: misspelt ones, and those of other methods.
static void warn_of_unused(PetscSolver* solver) {
  PetscInt n = 0;
  char **names = NULL, **values = NULL;
  if (!solver->has_options || PetscOptionsLeftGet(NULL, &n, &names, &values) != 0) {
    return;
  }
  size_t length = strlen(solver->prefix);
  for (PetscInt i = 0; i < n; i++) {
    if (strncmp(names[i], solver->prefix, length) == 0) {
      noli_log(solver->context, NOLI_LOG_WARNING, "PETSc has not used the option -%s",
               names[i] + length);
    }
  }
  PetscOptionsLeftRestore(NULL, &n, &names, &values);
  solver->has_options = false;
}

static void petsc_begin_period(void* state) {
  PetscSolver* solver = state;
  solver->fresh = !solver->row->direct; // an analysis depends on its pattern alone
}

// ---- matrix -------------------------------------------------------------------------------------

static const NoliHubs no_hubs;

// Rows of this rank, with the blocks below the diagonal.
typedef struct Rows {
  PetscInt begin, n; // block rows
  int64_t nnz;
  const int64_t* row;
  const int32_t* col;
  const double* value; // of the blocks from `first` on; NULL: not yet those of other ranks
  int64_t first;
  const int64_t* diagonal;
} Rows;

static NoliStatus take_rows(PetscSolver* solver, const NoliLinView* view, Rows* rows) {
  NoliStatus status = NOLI_OK;
  const NoliGeneralMatrix* matrix = view->matrix;
  if (view->rows != NULL) {
    const NoliRows* own = view->rows;
    *rows = (Rows){own->begin, own->end - own->begin, own->nnz, own->row, own->col, NULL,
                   0,          own->diagonal};
    goto done;
  }
  if (matrix == NULL) {
    NOLI_TRY(noli_general_matrix_mirror(&solver->mirror, solver->context, view->symmetric));
    matrix = &solver->mirror;
  }
  *rows = (Rows){0,           matrix->n,     matrix->nnz, matrix->row,
                 matrix->col, matrix->value, 0,           matrix->diagonal};
done:
  return status;
}

// Makes a matrix with room for the pattern, without the couplings of hubs.
static NoliStatus create_matrix(NoliPetsc* petsc, PetscSolver* solver, const Rows* rows,
                                const NoliHubs* hubs, Mat* matrix) {
  NoliStatus status = NOLI_OK;
  PetscInt n = 3 * rows->n, own_end = rows->begin + rows->n;
  PetscInt *near = solver->count, *far = solver->count + rows->n;

  for (int64_t i = 0; i < rows->n; i++) {
    near[i] = far[i] = 0;
    for (int64_t k = rows->row[i]; k < rows->row[i + 1]; k++) {
      bool own = rows->col[k] >= rows->begin && rows->col[k] < own_end;
      bool kept = !noli_hubs_couple(hubs, rows->begin + (int32_t)i, rows->col[k]);
      near[i] += kept && own ? 1 : 0;
      far[i] += kept && !own ? 1 : 0;
    }
  }

  NOLI_PETSC_TRY(petsc, MatCreate(solver->comm, matrix));
  NOLI_PETSC_TRY(petsc, MatSetSizes(*matrix, n, n, PETSC_DETERMINE, PETSC_DETERMINE));
  NOLI_PETSC_TRY(petsc, MatSetBlockSize(*matrix, 3));
  NOLI_PETSC_TRY(petsc, MatSetType(*matrix, solver->row->type));
  NOLI_PETSC_TRY(petsc, MatXAIJSetPreallocation(*matrix, 3, near, far, NULL, NULL));
  // blocked matrices of several ranks do not take the hint, which only factorizations use
  if (!solver->row->general && strcmp(solver->row->type, MATAIJ) == 0) {
    NOLI_PETSC_TRY(petsc, MatSetOption(*matrix, MAT_SPD, PETSC_TRUE));
  }
done:
  return status;
}

// Tells PETSc that the values are complete and new.
static NoliStatus end_changes(NoliPetsc* petsc, Mat matrix) {
  NoliStatus status = NOLI_OK;
  NOLI_PETSC_TRY(petsc, MatAssemblyBegin(matrix, MAT_FINAL_ASSEMBLY));
  NOLI_PETSC_TRY(petsc, MatAssemblyEnd(matrix, MAT_FINAL_ASSEMBLY));
done:
  return status;
}

// Writes the values of rows, without the couplings of hubs.
static NoliStatus fill_matrix(NoliPetsc* petsc, PetscSolver* solver, const Rows* rows,
                              const NoliHubs* hubs, Mat matrix) {
  NoliStatus status = NOLI_OK;
  for (PetscInt i = 0; i < rows->n; i++) {
    const double* value = rows->value + 9 * (rows->row[i] - rows->first);
    PetscInt place = rows->begin + i, n = (PetscInt)(rows->row[i + 1] - rows->row[i]), count = 0;
    PetscInt *col = solver->count, *from = col + n;
    for (PetscInt k = 0; k < n; k++) {
      col[count] = rows->col[rows->row[i] + k];
      from[count] = k;
      count += noli_hubs_couple(hubs, place, col[count]) ? 0 : 1;
    }
    for (PetscInt k = 0; k < count; k++) {
      for (PetscInt r = 0; r < 3; r++) {
        memcpy(solver->line + 3 * (r * count + k), value + 9 * from[k] + 3 * r,
               3 * sizeof *solver->line);
      }
    }
    NOLI_PETSC_TRY(petsc,
                   MatSetValuesBlocked(matrix, 1, &place, count, col, solver->line, INSERT_VALUES));
  }
done:
  return status;
}

// Makes a solver, without what one before it may have kept.
static NoliStatus create_solver(NoliPetsc* petsc, PetscSolver* solver) {
  NoliStatus status = NOLI_OK;
  NOLI_PETSC_TRY(petsc, KSPDestroy(&solver->ksp));
  NOLI_PETSC_TRY(petsc, KSPCreate(solver->comm, &solver->ksp));
  NOLI_PETSC_TRY(petsc, KSPSetOptionsPrefix(solver->ksp, solver->prefix));
  if (!solver->row->direct) {
    NOLI_PETSC_TRY(petsc, KSPSetNormType(solver->ksp, KSP_NORM_UNPRECONDITIONED));
  }
  NOLI_PETSC_TRY(petsc, KSPSetFromOptions(solver->ksp));
done:
  return status;
}

// Makes a solver with the other preconditioner, if there are two.
static NoliStatus change_preconditioner(NoliPetsc* petsc, PetscSolver* solver, bool to_robust) {
  NoliStatus status = NOLI_OK;
  if (solver->is_robust != to_robust) {
    NOLI_PETSC_TRY(petsc,
                   insert_options(solver, to_robust ? solver->row->robust : solver->row->usual));
  }
  solver->is_robust = to_robust;
  NOLI_TRY(create_solver(petsc, solver));
done:
  return status;
}

// Makes room for the rows; what fails on one rank fails on all before PETSc is called.
static NoliStatus reserve(PetscSolver* solver, const Rows* rows) {
  NoliStatus status = NOLI_OK;
  int64_t longest = 0;
  NOLI_CHECK(solver->context, 9 * rows->nnz <= PETSC_MAX_INT, NOLI_ERROR_TOO_LARGE,
             "%lld entries of a matrix are too many for this build of PETSc (at most %lld on a "
             "rank)",
             9 * (long long)rows->nnz, (long long)PETSC_MAX_INT);
  for (int64_t i = 0; i < rows->n; i++) {
    int64_t count = rows->row[i + 1] - rows->row[i];
    longest = count > longest ? count : longest;
  }
  NOLI_TRY(noli_grow(solver->context, (void**)&solver->count, &solver->count_capacity,
                     2 * (rows->n > longest ? rows->n : longest), sizeof *solver->count));
  NOLI_TRY(noli_grow(solver->context, (void**)&solver->line, &solver->line_capacity, 9 * longest,
                     sizeof *solver->line));
done:
  return status;
}

// Makes the matrix that is preconditioned in place of one with hubs.
static NoliStatus reduce_matrix(NoliPetsc* petsc, PetscSolver* solver, const Rows* rows) {
  NoliStatus status = NOLI_OK;
  NOLI_TRY(
      noli_hubs_find(&solver->hubs, solver->context, rows->begin, rows->n, rows->row, MOST_BLOCKS));
  if (solver->hubs.n == 0) {
    goto done;
  }
  NOLI_TRY(create_matrix(petsc, solver, rows, &solver->hubs, &solver->reduced));
  if (!solver->told) {
    noli_log(solver->context, NOLI_LOG_INFO,
             "linear solver \"%s\": the preconditioner leaves out the couplings of %lld nodes, "
             "each with more than %d others",
             solver->row->name, (long long)solver->hubs.n, MOST_BLOCKS - 1);
    solver->told = true;
  }
done:
  return status;
}

static NoliStatus petsc_analyze(void* state, const NoliLinView* view) {
  NoliStatus status = NOLI_OK;
  PetscSolver* solver = state;
  NoliPetsc petsc = {0};
  Rows rows;
  NOLI_TRY(noli_petsc_begin(&petsc, solver->context));
  release(solver);
  if (view->n == 0) {
    goto done;
  }
  NOLI_TRY(take_rows(solver, view, &rows));
  NOLI_TRY(noli_ranks_join(solver->context, reserve(solver, &rows)));
  NOLI_TRY(create_matrix(&petsc, solver, &rows, &no_hubs, &solver->matrix));
  if (solver->row->cuts_hubs) {
    NOLI_TRY(reduce_matrix(&petsc, solver, &rows));
  }
  NOLI_PETSC_TRY(&petsc, MatCreateVecs(solver->matrix, &solver->x, &solver->b));
  NOLI_PETSC_TRY(&petsc, VecDuplicate(solver->b, &solver->residual));
  NOLI_TRY(create_solver(&petsc, solver));
done:
  noli_petsc_end(&petsc);
  return status;
}

// ---- factorization ------------------------------------------------------------------------------

// Translates the result of the factorization of MUMPS into a status; INFOG(12): negative pivots.
static NoliStatus judge_mumps(NoliPetsc* petsc, const PetscSolver* solver, Mat factor,
                              NoliLinSolverStats* stats, bool* needs_room) {
  NoliStatus status = NOLI_OK;
  NoliContext* context = solver->context;
  PetscInt code = 0, negative = 0, size = 0;

  NOLI_PETSC_TRY(petsc, MatMumpsGetInfog(factor, 1, &code));
  NOLI_PETSC_TRY(petsc, MatMumpsGetInfog(factor, 12, &negative));
  NOLI_PETSC_TRY(petsc, MatMumpsGetInfog(factor, 9, &size));
  // counts of entries above the range are given in millions, as negative numbers
  stats->factor_bytes = (int64_t)sizeof(double) * (size < 0 ? -1000000 * (int64_t)size : size);
  bool positive = !solver->row->general;
  *needs_room = code == MUMPS_ROOM_8 || code == MUMPS_ROOM_9;
  if (*needs_room) {
    goto done;
  }
  NOLI_CHECK(context, code != MUMPS_MEMORY, NOLI_ERROR_MEMORY,
             "MUMPS: out of memory in the factorization");
  NOLI_CHECK(context,
             !positive || (negative == 0 && code != MUMPS_INDEFINITE && code != MUMPS_SINGULAR),
             NOLI_NOT_POSITIVE_DEFINITE, "MUMPS: the matrix is not positive definite");
  NOLI_CHECK(context, code != MUMPS_SINGULAR, NOLI_NOT_CONVERGED, "MUMPS: the matrix is singular");
  NOLI_CHECK(context, code >= 0, NOLI_ERROR_BACKEND, "MUMPS: status %lld in the factorization",
             (long long)code);
done:
  return status;
}

// Sets up the preconditioner; `reason` says why that failed.
static NoliStatus set_up(NoliPetsc* petsc, PetscSolver* solver, PC* pc, PCFailedReason* reason) {
  NoliStatus status = NOLI_OK;
  NoliMetisGuard guard;
  NOLI_PETSC_TRY(petsc,
                 KSPSetOperators(solver->ksp, solver->matrix,
                                 solver->reduced != NULL ? solver->reduced : solver->matrix));
  noli_metis_begin(&guard);
  PetscErrorCode code = KSPSetUp(solver->ksp);
  noli_metis_end(&guard);
  NOLI_PETSC_TRY(petsc, code);
  NOLI_PETSC_TRY(petsc, KSPGetPC(solver->ksp, pc));
  NOLI_PETSC_TRY(petsc, PCGetFailedReason(*pc, reason));
done:
  return status;
}

// Sets up the preconditioner of iterations, on all ranks or on none.
static NoliStatus make_preconditioner(NoliPetsc* petsc, PetscSolver* solver) {
  NoliStatus status = NOLI_OK;
  PC pc = NULL;
  PCFailedReason reason = PC_NOERROR;
  NOLI_TRY(set_up(petsc, solver, &pc, &reason));
  if (reason != PC_NOERROR) {
    status = noli_fail(solver->context, NOLI_NOT_CONVERGED,
                       "PETSc: the preconditioner cannot be made (%s)", PCFailedReasons[reason]);
  }
  status = noli_ranks_join(solver->context, status);
done:
  return status;
}

// Factors with MUMPS, in more memory while its estimate does not suffice.
static NoliStatus factor_directly(NoliPetsc* petsc, PetscSolver* solver,
                                  NoliLinSolverStats* stats) {
  NoliStatus status = NOLI_OK;
  PC pc = NULL;
  Mat factor = NULL;
  bool needs_room = true;
  PCFailedReason reason = PC_NOERROR;

  NOLI_PETSC_TRY(petsc, KSPSetOperators(solver->ksp, solver->matrix, solver->matrix));
  NOLI_PETSC_TRY(petsc, KSPGetPC(solver->ksp, &pc));
  NOLI_PETSC_TRY(petsc, PCFactorSetUpMatSolverType(pc));
  NOLI_PETSC_TRY(petsc, PCFactorGetMatrix(pc, &factor));

  for (PetscInt room = MUMPS_ROOM; needs_room && room <= MUMPS_MOST_ROOM; room *= 2) {
    NOLI_PETSC_TRY(petsc, MatMumpsSetIcntl(factor, 14, room));
    NOLI_TRY(end_changes(petsc, solver->matrix)); // or PETSc would keep the factor that failed
    NOLI_TRY(set_up(petsc, solver, &pc, &reason));
    NOLI_PETSC_TRY(petsc, PCFactorGetMatrix(pc, &factor));
    NOLI_TRY(judge_mumps(petsc, solver, factor, stats, &needs_room));
  }

  NOLI_CHECK(solver->context, !needs_room, NOLI_ERROR_MEMORY,
             "MUMPS: its estimate of the memory of the factor is too low");
  // another package than MUMPS, by an option of the user
  NOLI_CHECK(solver->context, reason == PC_NOERROR, NOLI_NOT_CONVERGED,
             "PETSc: the factorization failed (%s)", PCFailedReasons[reason]);
done:
  return status;
}

static NoliStatus petsc_prefers_factor(void* state, const NoliLinView* view, bool* factor) {
  (void)state;
  *factor = view->n <= FEW_NODES;
  return NOLI_OK;
}

// A necessary condition, which preconditioners do not check.
static NoliStatus check_diagonal(const PetscSolver* solver, const Rows* rows) {
  NoliStatus status = NOLI_OK;
  for (int64_t i = 0; !solver->row->general && i < rows->n; i++) {
    double inverse[9];
    const double* block = rows->value + 9 * (rows->diagonal[i] - rows->first);
    NOLI_CHECK(solver->context, noli_block_invert(block, inverse), NOLI_NOT_POSITIVE_DEFINITE,
               "diagonal block %lld is not positive definite", (long long)(rows->begin + i));
  }
done:
  return status;
}

typedef struct Filling {
  NoliPetsc* petsc;
  PetscSolver* solver;
} Filling;

// Writes the values of rows to the matrix, and to the one without hubs.
static NoliStatus fill_matrices(NoliPetsc* petsc, PetscSolver* solver, const Rows* rows) {
  NoliStatus status = NOLI_OK;
  NOLI_TRY(fill_matrix(petsc, solver, rows, &no_hubs, solver->matrix));
  if (solver->reduced != NULL) {
    NOLI_TRY(fill_matrix(petsc, solver, rows, &solver->hubs, solver->reduced));
  }
done:
  return status;
}

// A NoliRowsTakeFn.
static NoliStatus take_piece(void* user, const NoliRows* all, int64_t begin, int64_t end,
                             const double* value) {
  NoliStatus status = NOLI_OK;
  Filling* filling = user;
  const Rows rows = {.begin = all->begin + (PetscInt)begin,
                     .n = (PetscInt)(end - begin),
                     .row = all->row + begin,
                     .col = all->col,
                     .value = value,
                     .first = all->row[begin],
                     .diagonal = all->diagonal + begin};
  NOLI_TRY(check_diagonal(filling->solver, &rows));
  NOLI_TRY(fill_matrices(filling->petsc, filling->solver, &rows));
done:
  return status;
}

// Gives PETSc the values, without another copy of those of several ranks.
static NoliStatus fill(NoliPetsc* petsc, PetscSolver* solver, const NoliLinView* view) {
  NoliStatus status = NOLI_OK;
  Rows rows;
  Filling filling = {petsc, solver};
  if (view->rows != NULL) {
    NOLI_TRY(noli_rows_pass_values(view->rows, solver->context, view->share, take_piece, &filling));
  } else {
    NOLI_TRY(take_rows(solver, view, &rows));
    NOLI_TRY(check_diagonal(solver, &rows));
    NOLI_TRY(fill_matrices(petsc, solver, &rows));
    noli_general_matrix_free_values(solver->context, &solver->mirror);
  }
  NOLI_TRY(end_changes(petsc, solver->matrix));
  if (solver->reduced != NULL) {
    NOLI_TRY(end_changes(petsc, solver->reduced));
  }
done:
  return status;
}

static NoliStatus petsc_factor(void* state, const NoliLinView* view, NoliLinSolverStats* stats) {
  NoliStatus status = NOLI_OK;
  PetscSolver* solver = state;
  NoliPetsc petsc = {0};
  NOLI_TRY(noli_petsc_begin(&petsc, solver->context));
  stats->factor_bytes = 0;
  if (view->n == 0) {
    goto done;
  }
  NOLI_TRY(fill(&petsc, solver, view));
  if (solver->fresh) {
    NOLI_TRY(change_preconditioner(&petsc, solver, false));
  }
  solver->fresh = false;
  if (solver->row->direct) {
    NOLI_TRY(factor_directly(&petsc, solver, stats));
    goto done;
  }
  NOLI_TRY(make_preconditioner(&petsc, solver));
done:
  noli_petsc_end(&petsc);
  return status;
}

// ---- solution -----------------------------------------------------------------------------------

// Translates the reason for the end of the iterations into a status.
static NoliStatus judge_iterations(const PetscSolver* solver, KSPConvergedReason reason) {
  NoliContext* context = solver->context;
  if (reason > 0) {
    return NOLI_OK;
  }
  if (!solver->row->general &&
      (reason == KSP_DIVERGED_INDEFINITE_MAT || reason == KSP_DIVERGED_INDEFINITE_PC)) {
    return noli_fail(context, NOLI_NOT_POSITIVE_DEFINITE,
                     "PETSc: the matrix is not positive definite (%s)",
                     KSPConvergedReasons[reason]);
  }
  return noli_fail(context, NOLI_NOT_CONVERGED, "PETSc: no solution (%s)",
                   KSPConvergedReasons[reason]);
}

// The residual that iterations update may fall on while the true one does not.
static NoliStatus check_residual(NoliPetsc* petsc, PetscSolver* solver) {
  NoliStatus status = NOLI_OK;
  PetscReal asked = 0.0, left = 0.0;
  NOLI_PETSC_TRY(petsc, VecNorm(solver->b, NORM_2, &asked));
  NOLI_PETSC_TRY(petsc, MatMult(solver->matrix, solver->x, solver->residual));
  NOLI_PETSC_TRY(petsc, VecAXPY(solver->residual, -1.0, solver->b));
  NOLI_PETSC_TRY(petsc, VecNorm(solver->residual, NORM_2, &left));
  NOLI_CHECK(solver->context, left <= RESIDUAL_SLACK * solver->tolerance * asked,
             NOLI_NOT_CONVERGED, "PETSc: iterations end with a relative residual of %.3g",
             left / asked);
done:
  return status;
}

// Copies the part of this rank of a vector over all rows to PETSc.
static NoliStatus put(NoliPetsc* petsc, PetscSolver* solver, const NoliLinView* view,
                      const double* b) {
  NoliStatus status = NOLI_OK;
  PetscScalar* own = NULL;
  PetscInt n = 0;
  int64_t begin = view->rows != NULL ? view->rows->begin : 0;
  NOLI_PETSC_TRY(petsc, VecGetLocalSize(solver->b, &n));
  NOLI_PETSC_TRY(petsc, VecGetArrayWrite(solver->b, &own));
  memcpy(own, b + 3 * begin, sizeof *b * (size_t)n);
  NOLI_PETSC_TRY(petsc, VecRestoreArrayWrite(solver->b, &own));
done:
  return status;
}

// Gives all ranks the solution.
static NoliStatus get(NoliPetsc* petsc, PetscSolver* solver, double* x) {
  NoliStatus status = NOLI_OK;
  const PetscScalar* found = NULL;
  PetscInt n = 0;
  int64_t n_all = 0;
  NOLI_PETSC_TRY(petsc, VecGetLocalSize(solver->x, &n));
  NOLI_PETSC_TRY(petsc, VecGetArrayRead(solver->x, &found));
  if (noli_rank_count(solver->context) == 1) {
    memcpy(x, found, sizeof *x * (size_t)n);
  } else {
    NOLI_TRY(noli_ranks_gather(solver->context, sizeof *x, found, n, (void**)&solver->gathered,
                               &solver->gathered_capacity, &n_all));
    memcpy(x, solver->gathered, sizeof *x * (size_t)n_all);
  }
  NOLI_PETSC_TRY(petsc, VecRestoreArrayRead(solver->x, &found));
done:
  return status;
}

static NoliStatus iterate(NoliPetsc* petsc, PetscSolver* solver, KSPConvergedReason* reason,
                          NoliLinSolverStats* stats) {
  NoliStatus status = NOLI_OK;
  PetscInt iterations = 0;
  if (!solver->row->direct) {
    NOLI_PETSC_TRY(petsc,
                   KSPSetTolerances(solver->ksp, solver->tolerance, 0.0, 1e30, PETSC_DEFAULT));
  }
  NOLI_PETSC_TRY(petsc, KSPSolve(solver->ksp, solver->b, solver->x));
  NOLI_PETSC_TRY(petsc, KSPGetConvergedReason(solver->ksp, reason));
  NOLI_PETSC_TRY(petsc, KSPGetIterationNumber(solver->ksp, &iterations));
  stats->iterations += solver->row->direct ? 0 : iterations;
done:
  return status;
}

// Whether the preconditioner is why iterations ended. Blocks of ranks are factored when iterations
// begin; PETSc tells all ranks where one of them fails.
static bool calls_for_robust(const PetscSolver* solver, KSPConvergedReason reason) {
  bool indefinite = reason == KSP_DIVERGED_INDEFINITE_PC || reason == KSP_DIVERGED_PC_FAILED;
  return indefinite && solver->row->robust != NULL && !solver->chosen && !solver->is_robust;
}

// Solves the system again with the robust preconditioner, which stays for the rest of the period:
// later systems are like this one.
static NoliStatus iterate_robustly(NoliPetsc* petsc, PetscSolver* solver,
                                   KSPConvergedReason* reason, NoliLinSolverStats* stats) {
  NoliStatus status = NOLI_OK;
  if (!solver->said) {
    noli_log(solver->context, NOLI_LOG_INFO,
             "linear solver \"%s\": its preconditioner fails (%s); up to the end of such a step "
             "\"%s\" replaces it",
             solver->row->name, KSPConvergedReasons[*reason], solver->row->robust);
    solver->said = true;
  }
  NOLI_TRY(change_preconditioner(petsc, solver, true));
  NOLI_TRY(make_preconditioner(petsc, solver));
  NOLI_TRY(iterate(petsc, solver, reason, stats));
done:
  return status;
}

static NoliStatus petsc_solve(void* state, const NoliLinView* view, const double* b, double* x,
                              NoliLinSolverStats* stats) {
  NoliStatus status = NOLI_OK;
  PetscSolver* solver = state;
  NoliPetsc petsc = {0};
  KSPConvergedReason reason = KSP_CONVERGED_ITERATING;

  NOLI_TRY(noli_petsc_begin(&petsc, solver->context));
  if (view->n == 0) {
    goto done;
  }
  NOLI_TRY(noli_ranks_join(solver->context, NOLI_OK));
  NOLI_TRY(put(&petsc, solver, view, b));
  NOLI_TRY(iterate(&petsc, solver, &reason, stats));
  warn_of_unused(solver);
  if (calls_for_robust(solver, reason)) {
    NOLI_TRY(iterate_robustly(&petsc, solver, &reason, stats));
  }
  NOLI_TRY(judge_iterations(solver, reason));
  if (!solver->row->direct) {
    NOLI_TRY(check_residual(&petsc, solver));
  }
  NOLI_TRY(get(&petsc, solver, x));
done:
  noli_petsc_end(&petsc);
  return status;
}

// ---- table entries ------------------------------------------------------------------------------

#define FACTOR_WITH_MUMPS "-ksp_type preonly -pc_factor_mat_solver_type mumps"

// Chebyshev polynomials of Jacobi's method, PETSc's default, are indefinite for stiff contact.
static const PetscRow petsc_gamg = {
    .name = "petsc:gamg",
    .type = MATAIJ,
    .cuts_hubs = true,
    .options = "-ksp_type cg -ksp_max_it 500 -pc_type gamg -pc_gamg_reuse_interpolation true "
               "-mg_levels_pc_type sor"};
static const PetscRow petsc_hypre = {
    .name = "petsc:hypre",
    .type = MATAIJ,
    .cuts_hubs = true,
    .options = "-ksp_type cg -ksp_max_it 500 -pc_type hypre -pc_hypre_type boomeramg"};
// Incomplete factors of stiff contact are often indefinite; symmetric Gauss-Seidel never is, but
// takes more iterations elsewhere.
static const PetscRow petsc_ilu = {.name = "petsc:ilu",
                                   .type = MATBAIJ,
                                   .options = "-ksp_type cg -pc_type bjacobi",
                                   .usual = "-sub_pc_type ilu",
                                   .robust = "-sub_pc_type sor"};
static const PetscRow petsc_mumps = {.name = "petsc:mumps",
                                     .type = MATAIJ,
                                     .direct = true,
                                     .options = FACTOR_WITH_MUMPS " -pc_type cholesky"};
static const PetscRow petsc_bicgstab = {
    .name = "petsc:bicgstab",
    .type = MATBAIJ,
    .general = true,
    .options = "-ksp_type bcgs -ksp_pc_side right -pc_type bjacobi -sub_pc_type ilu"};
static const PetscRow petsc_mumps_lu = {.name = "petsc:mumps_lu",
                                        .type = MATAIJ,
                                        .general = true,
                                        .direct = true,
                                        .options = FACTOR_WITH_MUMPS " -pc_type lu"};

// The backend of a row.
#define ROW(id, text, is_direct, is_general, instead, words)                                       \
  static NoliStatus id##_create(NoliContext* context, void** state) {                              \
    return petsc_create(context, &id, state);                                                      \
  }                                                                                                \
  const NoliLinBackend noli_lin_backend_##id = {                                                   \
      .info = {.name = (text),                                                                     \
               .description = (words),                                                             \
               .built = true,                                                                      \
               .direct = (is_direct),                                                              \
               .general = (is_general)},                                                           \
      .distributed = true,                                                                         \
      .fallback = (instead),                                                                       \
      .create = id##_create,                                                                       \
      .destroy = petsc_destroy,                                                                    \
      .set_options = petsc_set_options,                                                            \
      .begin = petsc_begin_period,                                                                 \
      .set_tolerance = (is_direct) ? NULL : petsc_set_tolerance,                                   \
      .prefers_factor = (is_direct) ? NULL : petsc_prefers_factor,                                 \
      .release = petsc_release,                                                                    \
      .analyze = petsc_analyze,                                                                    \
      .factor = petsc_factor,                                                                      \
      .solve = petsc_solve};
NOLI_PETSC_ROWS(ROW)
