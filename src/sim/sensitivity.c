#include "sim/sensitivity.h"

#include "fem/element_slopes.h"
#include "fem/history_slopes.h"
#include "fem/load_slopes.h"
#include "linalg/solver.h"
#include "math/vec3.h"
#include "sim/conditions.h"
#include "sim/history_links.h"
#include "solve/prescribed.h"
#include "solve/projected_newton.h"
#include "solve/rounding.h"

#include <math.h>
#include <string.h>

// Newton steps after the end of a solve, and the least factor by which each reduces the residual.
enum { MAX_POLISH = 12 };
#define GAIN 0.5
#define SAFETY 0.9

// A solve is repeated to this share of its tolerance, and so on down to Newton steps of rounding,
// relative to the scene; the residual, relative to the forces, with which derivatives would mean
// nothing.
#define SHARE 1e-3
#define LEAST_STEP 1e-13
#define WORST 1e-4

// Ranges above this, relative to the scene, give the barrier and the geometric potential
// stiffnesses whose ratio does not depend on the scene (contact/stiffness.c).
#define SHORT_RANGE 1e-4

struct NoliSensitivity {
  NoliContext* context;
  NoliSim* sim;
  unsigned wanted;
  NoliPairClasses classes;
  NoliMixedList mixed;      // of the current solve
  const NoliTapePart* part; // it is one of this part; NULL: nothing is set up
  int32_t stage;
  int64_t solve;
  double** force;           // (n_force) (n_vert x 3) N, its loads in the current solve; NULL: none
  NoliLinSolver* solver;    // of the current matrix
  bool transposed;          // which is transposed
  NoliGeneralMatrix matrix; // with implicit friction, and its transpose
  NoliGeneralMatrix mirror;
  NoliLinSolver* definite;
  NoliLinSolver* general;
  double* lambda;    // (n_vert x 3)
  double* product;   // (n_vert x 3)
  double* scaled;    // (n_vert x 3)
  double* damped;    // (n_vert x 3) m, where the stiffness of damping is taken
  double* zero;      // (n_vert x 3) 0
  double* begin;     // (n_vert x 3) m, at the start of the part
  int32_t* pressing; // (faces with a pressure) their forces
};

static bool wants(const NoliSensitivity* self, NoliInput input) {
  return (self->wanted >> input & 1u) != 0;
}

// ---- what has derivatives -----------------------------------------------------------------------

static const char* material_defect(const NoliProblem* problem, unsigned wanted) {
  const char* defect = NULL;
  static const NoliInput inputs[] = {NOLI_INPUT_MU, NOLI_INPUT_LAMBDA, NOLI_INPUT_REST};
  for (int32_t i = 0; i < problem->n_block; i++) {
    for (int k = 0; k < 3 && defect == NULL; k++) {
      if ((wanted >> inputs[k] & 1u) != 0) {
        defect = noli_element_slopes_defect(&problem->block[i], inputs[k]);
      }
    }
  }
  return defect;
}

static const char* damping_defect(const NoliModel* model) {
  const NoliProblem* problem = &model->problem;
  const char* defect = NULL;
  for (int32_t i = 0; i < problem->n_block && defect == NULL; i++) {
    defect = noli_element_damping_defect(&problem->block[i]);
  }
  bool from_forces = noli_integrator_needs_force(model->integrator);
  return defect == NULL && from_forces && noli_problem_is_damped(problem)
             ? "integrators that start from forces are not differentiated with material.damping or "
               "dampers: choose \"bdf2\" or \"sdirk2\""
             : defect;
}

static bool has_own_distances(const NoliSimDef* def) {
  bool has = false;
  for (int32_t i = 0; i < def->n_pairs; i++) {
    has = has || def->pairs[i].distance.value > 0.0;
  }
  return has;
}

const char* noli_sensitivity_defect(const NoliSim* sim, unsigned wanted) {
  const NoliModel* model = sim->model;
  const NoliProblem* problem = &model->problem;
  if (noli_stage_constraints(sim->own_stage) != NULL) {
    return "the solver \"augmented_lagrangian\" is no differentiable function of its start: choose "
           "solver.method \"projected_newton\"";
  }
  const char* damping = damping_defect(model);
  if (damping != NULL) {
    return damping;
  }
  for (int32_t i = 0; i < problem->n_block; i++) {
    if (noli_block_yields(&problem->block[i])) {
      return "materials that yield are not differentiated: the stiffness jumps where flow begins "
             "and ends, and the flow of a step is not derived; leave material.yield out";
    }
  }
  if (problem->implicit_friction && !problem->friction_basis_derivatives) {
    return "implicit friction needs the derivatives of its basis: leave friction.basis_derivatives "
           "out";
  }
  if (problem->contact->lag_slopes == NULL && problem->rubs) {
    return "friction is not differentiated with this contact model";
  }
  unsigned by_gcp = 1u << NOLI_INPUT_WEIGHT | 1u << NOLI_INPUT_SUPPORT;
  unsigned by_contact = wanted & (by_gcp | 1u << NOLI_INPUT_REST | 1u << NOLI_INPUT_CONTACT |
                                  1u << NOLI_INPUT_OFFSET);
  if ((by_contact & ~problem->contact->slopes_by) != 0) {
    return "rest shapes and numbers of contact are not differentiated with this contact model";
  }
  if ((wanted >> NOLI_INPUT_CONTACT & 1u) != 0 && has_own_distances(sim->definition.def)) {
    return "numbers of contact are not differentiated where a pair has a contact distance of its "
           "own: leave its distance out";
  }
  double range = fmin(problem->dhat, problem->gcp.model.parameters.eps_target);
  if ((wanted & by_gcp) != 0 && problem->gcp.has_open && range < SHORT_RANGE * problem->diagonal) {
    return "the stiffness of \"gcp\" at open obstacles follows the size of the scene where "
           "contact.distance or contact.eps_target is below 1e-4 of it: choose longer ones, or "
           "closed obstacles";
  }
  if (problem->n_pressed_curved > 0) {
    return "pressures on curved elements and on elements of order 2 to 4 are not differentiated";
  }
  if (model->integrator->decoupled) {
    return "\"trapezoidal_decoupled\" is not differentiated: choose \"trapezoidal\"";
  }
  bool from_forces = noli_integrator_needs_force(model->integrator);
  for (int32_t i = 0; from_forces && i < problem->n_block; i++) {
    if (problem->block[i].n_consistent > 0 || problem->followers.n_tied > 0 ||
        problem->pressed.n > 0) {
      return "integrators that start from forces are not differentiated with consistent masses, "
             "ties or pressures: choose \"bdf2\" or \"sdirk2\"";
    }
  }
  if (model->increments.initial > 0.0) {
    return "the lengths of adaptive increments jump: leave time.increments out";
  }
  if (model->n_ends > 0) {
    return "motions that end by position end at whole steps, which jumps: give them an end in time";
  }
  for (int32_t i = 0; i < problem->n_block; i++) {
    if (problem->block[i].n_angle > 0) {
      return "the frames of rods with twist are not differentiated: leave rod.twist out";
    }
  }
  return material_defect(problem, wanted);
}

// ---- making -------------------------------------------------------------------------------------

static NoliStatus list_pressing(const NoliSim* sim, int32_t** pressing) {
  NoliStatus status = NOLI_OK;
  NOLI_NEW(sim->context, *pressing, sim->model->problem.pressed.n);
  for (int32_t f = 0; f < sim->model->n_force; f++) {
    const NoliForce* force = &sim->model->force[f];
    for (int32_t i = 0; force->kind == NOLI_FORCE_PRESSURE && i < force->faces.n; i++) {
      (*pressing)[force->pressed_first + i] = f;
    }
  }
done:
  return status;
}

NoliStatus noli_sensitivity_create(NoliSim* sim, unsigned wanted, NoliPairClasses classes,
                                   NoliSensitivity** out) {
  NoliStatus status = NOLI_OK;
  NoliSensitivity* self = NULL;
  int64_t n = 3 * (int64_t)sim->model->problem.n_vert;
  NOLI_NEW_ZERO(sim->context, self, 1);
  self->context = self->mixed.context = sim->context;
  self->sim = sim;
  self->wanted = self->mixed.wanted = wanted;
  self->classes = classes;
  NOLI_NEW_ZERO(sim->context, self->lambda, n);
  NOLI_NEW_ZERO(sim->context, self->product, n);
  NOLI_NEW_ZERO(sim->context, self->scaled, n);
  NOLI_NEW_ZERO(sim->context, self->damped, n);
  NOLI_NEW_ZERO(sim->context, self->zero, n);
  NOLI_NEW_ZERO(sim->context, self->begin, n);
  NOLI_TRY(list_pressing(sim, &self->pressing));
  NOLI_NEW_ZERO(sim->context, self->force, sim->model->n_force);
  for (int32_t f = 0; wants(self, NOLI_INPUT_FORCE) && f < sim->model->n_force; f++) {
    NOLI_NEW_ZERO(sim->context, self->force[f], n);
  }
  NOLI_TRY(noli_lin_solver_create(sim->context, "cholmod", &self->definite));
  NOLI_TRY(noli_lin_solver_create(sim->context, "umfpack", &self->general));
done:
  if (status != NOLI_OK) {
    noli_sensitivity_destroy(&self);
  }
  *out = self;
  return status;
}

void noli_sensitivity_destroy(NoliSensitivity** owner) {
  NoliSensitivity* self = *owner;
  if (self == NULL) {
    return;
  }
  noli_mixed_list_clear(&self->mixed);
  noli_array_free(self->context, &self->mixed.blocks);
  for (int32_t f = 0; self->force != NULL && f < self->sim->model->n_force; f++) {
    noli_free(self->context, self->force[f]);
  }
  noli_lin_solver_destroy(&self->definite);
  noli_lin_solver_destroy(&self->general);
  noli_general_matrix_free(self->context, &self->matrix);
  noli_free(self->context, self->mirror.value);
  noli_free(self->context, self->force);
  noli_free(self->context, self->lambda);
  noli_free(self->context, self->product);
  noli_free(self->context, self->scaled);
  noli_free(self->context, self->damped);
  noli_free(self->context, self->zero);
  noli_free(self->context, self->begin);
  noli_free(self->context, self->pressing);
  noli_free(self->context, self);
  *owner = NULL;
}

// ---- linear systems -----------------------------------------------------------------------------

// Implicit friction is no potential: its Jacobian is not symmetric.
static bool is_general(const NoliSensitivity* self) {
  return self->sim->model->problem.implicit_friction;
}

// The mirror image of the matrix: entry (i, j) is the transpose of entry (j, i). The pattern is
// symmetric, and rows are visited in the order of the columns.
static NoliStatus transpose(NoliSensitivity* self) {
  NoliStatus status = NOLI_OK;
  const NoliGeneralMatrix* matrix = &self->matrix;
  int64_t* next = NULL;
  NOLI_NEW(self->context, next, matrix->n);
  noli_free(self->context, self->mirror.value);
  self->mirror = *matrix;
  self->mirror.value = NULL;
  NOLI_NEW(self->context, self->mirror.value, 9 * matrix->nnz);
  for (int32_t i = 0; i < matrix->n; i++) {
    next[i] = matrix->row[i];
  }
  for (int32_t i = 0; i < matrix->n; i++) {
    for (int64_t k = matrix->row[i]; k < matrix->row[i + 1]; k++) {
      NoliMat3 block = noli_transpose33(noli_load33(matrix->value + 9 * k));
      noli_store33(self->mirror.value + 9 * next[matrix->col[k]]++, &block);
    }
  }
done:
  noli_free(self->context, next);
  return status;
}

static NoliStatus give_matrix(void* user, const NoliGeneralMatrix** matrix) {
  NoliSensitivity* self = user;
  *matrix = self->transposed ? &self->mirror : &self->matrix;
  return NOLI_OK;
}

static NoliStatus factor_general(NoliSensitivity* self, bool transposed) {
  NoliStatus status = NOLI_OK;
  self->solver = self->general;
  self->transposed = transposed;
  if (transposed) {
    NOLI_TRY(transpose(self));
  }
  NoliLinSystem system = {.n = self->matrix.n,
                          .assemble = give_matrix,
                          .user = self,
                          .low_rank = &self->sim->stage->system.low_rank};
  NOLI_TRY(noli_lin_solver_factor_system(self->general, system));
done:
  return status;
}

// Factors the Jacobian at x, by Cholesky's method where it is symmetric and positive definite.
static NoliStatus factor(NoliSensitivity* self) {
  NoliStatus status = NOLI_OK;
  NoliStage* stage = self->sim->stage;
  NOLI_TRY(noli_stage_linearize_as(stage, NOLI_EVAL_HESSIAN));
  if (is_general(self)) {
    NOLI_TRY(noli_general_matrix_assemble(&self->matrix, self->context, stage->system.assembler,
                                          stage->system.term, stage->system.n_term,
                                          stage->here->x));
    NOLI_TRY(factor_general(self, false));
    goto done;
  }
  const NoliBlockMatrix* matrix = noli_system_matrix(&stage->system);
  NoliLinSystem system = {.n = matrix->n, .symmetric = matrix, .low_rank = &stage->system.low_rank};
  self->solver = self->definite;
  status = noli_lin_solver_factor_system(self->definite, system);
  if (status > NOLI_OK) {
    self->solver = self->general;
    status = noli_lin_solver_factor_system(self->general, system);
  }
done:
  return status;
}

// K x = b over the free components, or with the transpose; x is 0 at the others.
static NoliStatus solve(NoliSensitivity* self, bool transposed, const double* b, double* x) {
  NoliStatus status = NOLI_OK;
  NoliStage* stage = self->sim->stage;
  NoliSystem* system = &stage->system;
  int64_t n = 3 * (int64_t)stage->problem->n_vert;
  memcpy(self->scaled, b, (size_t)n * sizeof *b);
  noli_system_mask(system, self->scaled);
  noli_system_to_rows(system, 1.0, self->scaled, system->rhs);
  if (is_general(self) && transposed != self->transposed) {
    NOLI_TRY(factor_general(self, transposed));
  }
  if (system->n_dof > 0) {
    NOLI_TRY(noli_lin_solver_solve(self->solver, system->rhs, system->solution));
  }
  noli_system_to_nodes(system, system->solution, x);
  noli_system_mask(system, x);
  noli_stage_follow_vectors(stage, x);
done:
  return status;
}

// y_i += factor block w_j and, below the diagonal, y_j += mirrored block^T w_i.
static void add_block(const double* value, double factor, double mirrored, int32_t i, int32_t j,
                      const double* w, double* y) {
  NoliMat3 block = noli_load33(value);
  double *y_i = y + 3 * (int64_t)i, *y_j = y + 3 * (int64_t)j;
  NoliVec3 w_i = noli_load3(w + 3 * (int64_t)i), w_j = noli_load3(w + 3 * (int64_t)j);
  noli_store3(y_i, noli_mul_add3(noli_load3(y_i), factor, noli_mul33_vec(&block, w_j)));
  if (i != j) {
    noli_store3(y_j,
                noli_mul_add3(noli_load3(y_j), mirrored, noli_transpose_mul33_vec(&block, w_i)));
  }
}

// Adds the product of stencil s with the part of its Jacobian that `what` says, as add_block;
// `blocks` has room for its blocks.
static void add_stencil(const NoliEnergyTerm* term, int64_t s, unsigned what, double factor,
                        double mirrored, const double* x, const double* w, double* blocks,
                        double* y) {
  int32_t size = noli_term_size(term, s);
  const int32_t* node = term->node + noli_term_first(term, s);
  memset(blocks, 0, 9 * sizeof *blocks * (size_t)noli_stencil_blocks(size));
  NoliLocal out = {.hessian = noli_local_from(blocks, 9 * noli_term_first_block(term, s))};
  term->evaluate(term->data, x, s, s + 1, what, &out);
  for (int32_t a = 0; a < size; a++) {
    for (int32_t b = a; b < size; b++) {
      if (node[a] != NOLI_NULL_INDEX && node[b] != NOLI_NULL_INDEX) {
        add_block(blocks + 9 * noli_stencil_block(size, a, b), factor, mirrored, node[a], node[b],
                  w, y);
      }
    }
  }
}

// Adds the parts of rank one of a term, which its stencils lack.
static NoliStatus multiply_rank_one(NoliSensitivity* self, const NoliTerm* term, const double* w,
                                    double* y) {
  NoliStatus status = NOLI_OK;
  const NoliStage* stage = self->sim->stage;
  int64_t n = 3 * (int64_t)stage->problem->n_vert;
  double* vector = NULL;
  int32_t n_rank = term->type->rank != NULL ? term->type->rank(term->self) : 0;
  NOLI_NEW(self->context, vector, n_rank > 0 ? n : 0);
  for (int32_t r = 0; r < n_rank; r++) {
    memset(vector, 0, (size_t)n * sizeof *vector);
    double sum = 0.0, scale = term->type->add_rank_one(term->self, r, stage->here->x, vector);
    for (int64_t i = 0; i < n; i++) {
      sum += vector[i] * w[i];
    }
    for (int64_t i = 0; i < n; i++) {
      y[i] += scale * sum * vector[i];
    }
  }
done:
  noli_free(self->context, vector);
  return status;
}

// Adds H w to y (both n_vert x 3, with followers) for the Jacobians of terms with one of `roles`,
// or their transposes.
static NoliStatus multiply(NoliSensitivity* self, bool transposed, unsigned roles, const double* w,
                           double* y) {
  NoliStatus status = NOLI_OK;
  NoliStage* stage = self->sim->stage;
  const double* x = stage->here->x;
  double *blocks = NULL, sign = transposed ? -1.0 : 1.0;
  for (int32_t t = 0; t < stage->n_term; t++) {
    const NoliEnergyTerm* term = &stage->here->term[t];
    if (!noli_stage_has(stage, t, roles) || term->n_stencil == 0) {
      continue;
    }
    noli_free(self->context, blocks);
    blocks = NULL;
    NOLI_NEW(self->context, blocks, 9 * (int64_t)noli_stencil_blocks(noli_term_largest(term)));
    noli_term_prepare(term, x, stage->n_threads);
    NOLI_TRY(multiply_rank_one(self, &stage->term[t], w, y));
    for (int64_t s = 0; s < term->n_stencil; s++) {
      add_stencil(term, s, NOLI_EVAL_HESSIAN, 1.0, 1.0, x, w, blocks, y);
      if (term->skew) {
        add_stencil(term, s, NOLI_EVAL_SKEW, sign, -sign, x, w, blocks, y);
      }
    }
  }
done:
  noli_free(self->context, blocks);
  return status;
}

// ---- the end of a solve -------------------------------------------------------------------------

static double largest(const double* x, int64_t n) {
  double most = 0.0;
  for (int64_t i = 0; i < n; i++) {
    most = fmax(most, fabs(x[i]));
  }
  return most;
}

// The largest force in the equations, times h_e^2: inertia, loads and contact.
static NoliStatus force_scale(NoliSensitivity* self, double* scale) {
  NoliStatus status = NOLI_OK;
  NoliStage* stage = self->sim->stage;
  int64_t n = 3 * (int64_t)stage->problem->n_vert;
  double h_e_sqr = stage->time.h_e * stage->time.h_e;
  unsigned roles[] = {NOLI_ROLE_INERTIA, NOLI_ROLE_LOAD, NOLI_ROLE_ELASTIC};
  *scale = 0.0;
  for (int k = 0; k < 3; k++) {
    memset(self->product, 0, (size_t)n * sizeof(double));
    NOLI_TRY(noli_stage_add_forces(stage, roles[k], self->product));
    *scale = fmax(*scale, h_e_sqr * largest(self->product, n));
  }
done:
  return status;
}

static NoliStatus require_fixed_stiffness(NoliSim* sim) {
  NoliStatus status = NOLI_OK;
  const NoliStage* stage = sim->stage;
  const NoliProblem* problem = stage->problem;
  NOLI_CHECK(sim->context, problem->fixed_stiffness > 0.0 || noli_stage_contact_count(stage) == 0,
             NOLI_ERROR_ARGUMENT,
             "derivatives: step %lld has contacts, whose adaptive stiffness is no differentiable "
             "function: set contact.stiffness, for example to %.3g, that of this step",
             (long long)*sim->state.step + 1, stage->kappa / (stage->time.h_e * stage->time.h_e));
done:
  return status;
}

// Whether the potential at the end of a solve is a function of its positions.
static NoliStatus require_function(const NoliSim* sim) {
  NoliStatus status = NOLI_OK;
  const NoliContactModel* contact = sim->model->problem.contact;
  const char* defect = contact->slopes_defect != NULL ? contact->slopes_defect(sim->stage) : NULL;
  NOLI_CHECK(sim->context, defect == NULL, NOLI_ERROR_ARGUMENT, "derivatives: step %lld: %s",
             (long long)*sim->state.step + 1, defect);
done:
  return status;
}

// One Newton step; `*moved`: it could be taken in full.
static NoliStatus take_step(NoliSensitivity* self, bool* moved) {
  NoliStatus status = NOLI_OK;
  NoliStage* stage = self->sim->stage;
  NoliStepFilter filter;
  int64_t n = 3 * (int64_t)stage->problem->n_vert;
  for (int64_t i = 0; i < n; i++) {
    self->lambda[i] = -stage->gradient[i];
  }
  NOLI_TRY(solve(self, false, self->lambda, stage->step));
  NOLI_TRY(noli_stage_filter_step(stage, SAFETY, &filter));
  *moved = filter.ccd >= 1.0 && filter.inversion >= 1.0;
  if (*moved) {
    noli_stage_set_trial(stage, 1.0);
    NOLI_TRY(noli_stage_trial_contacts(stage));
    NOLI_TRY(noli_stage_accept(stage));
  }
done:
  return status;
}

// Newton steps while they at least halve the residual.
static NoliStatus approach(NoliSensitivity* self, double wanted, double* residual) {
  NoliStatus status = NOLI_OK;
  NoliStage* stage = self->sim->stage;
  double before = INFINITY;
  bool moved = true;
  for (int32_t k = 0; moved; k++) {
    NOLI_TRY(factor(self));
    *residual = noli_system_largest(&stage->system, stage->gradient);
    if (*residual <= wanted || k == MAX_POLISH || *residual > GAIN * before) {
      break;
    }
    before = *residual;
    NOLI_TRY(take_step(self, &moved));
  }
done:
  return status;
}

// Moves prescribed nodes, which springs have pulled nearly to their targets, to these exactly:
// where springs end is no function of anything but the iterations.
static NoliStatus arrive(NoliStage* stage) {
  NoliStatus status = NOLI_OK;
  NoliStepFilter filter;
  noli_prescribed_measure(stage);
  const NoliPrescribed* prescribed = &stage->prescribed;
  if (prescribed->given_up || prescribed->done < NOLI_MOTION_DONE || prescribed->error == 0.0) {
    return NOLI_OK;
  }
  memset(stage->step, 0, 3 * sizeof *stage->step * (size_t)stage->problem->n_vert);
  noli_prescribed_set_step(stage);
  noli_stage_follow_vectors(stage, stage->step);
  NOLI_TRY(noli_stage_filter_step(stage, SAFETY, &filter));
  if (filter.ccd >= 1.0 && filter.inversion >= 1.0) {
    noli_stage_set_trial(stage, 1.0);
    noli_prescribed_set_targets(stage, stage->trial->x);
    NOLI_TRY(noli_stage_trial_contacts(stage));
    NOLI_TRY(noli_stage_accept(stage));
  }
done:
  return status;
}

// The largest residual that rounding does not explain: a body in free flight without loads has
// neither forces nor anything else.
static NoliStatus unexplained(const NoliSensitivity* self, double* residual) {
  NoliStatus status = NOLI_OK;
  NoliStage* stage = self->sim->stage;
  NOLI_TRY(noli_stage_rounding(stage));
  *residual = 0.0;
  for (int64_t j = 0; j < 3 * (int64_t)stage->problem->n_vert; j++) {
    if (noli_system_is_unknown(&stage->system, j / 3)) {
      *residual = fmax(*residual, fabs(stage->gradient[j]) - stage->rounding[j]);
    }
  }
done:
  return status;
}

NoliStatus noli_sensitivity_polish(NoliSim* sim, double tolerance) {
  NoliStatus status = NOLI_OK;
  NoliSensitivity* self = sim->tape->sensitivity;
  NoliStage* stage = sim->stage;
  double scale, residual;
  NOLI_TRY(require_fixed_stiffness(sim));
  if (stage->problem->contact->slopes_defect != NULL) {
    // contacts that follow from the positions alone
    NOLI_TRY(noli_stage_find_contacts(stage));
    noli_stage_list_terms(stage);
  }
  noli_friction_set_exact(&stage->friction_set);
  NOLI_TRY(arrive(stage));
  NOLI_TRY(force_scale(self, &scale));
  NOLI_TRY(approach(self, tolerance * scale, &residual));

  // solves that end early, because friction is lagged again, are far away; a repeated solve that
  // cannot end so close is judged by its residual
  double least = LEAST_STEP * stage->problem->diagonal / stage->h;
  for (double to = SHARE * stage->tolerance;
       !is_general(self) && residual > tolerance * scale && to > least; to *= SHARE) {
    int32_t iterations;
    NoliStatus solved = noli_projected_newton_to(stage, to, true, &iterations);
    if (solved < NOLI_OK) {
      status = solved;
      goto done;
    }
    noli_friction_set_exact(&stage->friction_set);
    double before = residual;
    NOLI_TRY(approach(self, tolerance * scale, &residual));
    if (residual > GAIN * before) {
      break;
    }
  }
  if (residual > WORST * scale) {
    NOLI_TRY(unexplained(self, &residual));
  }
  double left = scale > 0.0 ? residual / scale : 0.0;
  NOLI_CHECK(sim->context, left <= WORST, NOLI_NOT_CONVERGED,
             "derivatives: step %lld is not solved accurately enough: %.2g of the forces are not "
             "balanced; choose a smaller time step",
             (long long)*sim->state.step + 1, left);
  NOLI_TRY(require_function(sim));
  NOLI_TRY(noli_stage_energy(stage));
done:
  return status;
}

// ---- setting a solve up -------------------------------------------------------------------------

static void set_prescribed(const NoliTapeStage* from, NoliStage* stage) {
  NoliPrescribed* prescribed = &stage->prescribed;
  prescribed->n = 0;
  prescribed->partial = prescribed->by_springs = false;
  for (int32_t i = 0; i < stage->problem->n_vert; i++) {
    if (from->axes[i] != 0) {
      prescribed->node[prescribed->n] = i;
      prescribed->axes[prescribed->n++] = from->axes[i];
      prescribed->partial = prescribed->partial || from->axes[i] != NOLI_ALL_AXES;
    }
  }
}

static NoliStatus place(NoliStage* stage, const double* x) {
  memcpy(stage->here->x, x, (size_t)stage->problem->n_vert * 3 * sizeof *x);
  return noli_stage_find_contacts(stage);
}

// All loads, and those of single forces, by leaving each out.
static NoliStatus collect_all(NoliSensitivity* self, double t1, double t) {
  NoliStatus status = NOLI_OK;
  NoliSim* sim = self->sim;
  NoliModel* model = sim->model;
  int64_t n = 3 * (int64_t)model->problem.n_vert;
  for (int32_t f = 0; wants(self, NOLI_INPUT_FORCE) && f < model->n_force; f++) {
    double begin = model->force[f].def.t_begin;
    model->force[f].def.t_begin = INFINITY;
    status = noli_sim_collect_loads(sim, t1, t);
    model->force[f].def.t_begin = begin;
    NOLI_TRY(status);
    memcpy(self->force[f], sim->stage->load, (size_t)n * sizeof(double));
  }
  NOLI_TRY(noli_sim_collect_loads(sim, t1, t));
  for (int32_t f = 0; wants(self, NOLI_INPUT_FORCE) && f < model->n_force; f++) {
    for (int64_t i = 0; i < n; i++) {
      self->force[f][i] = sim->stage->load[i] - self->force[f][i];
    }
  }
done:
  return status;
}

// Those of the part: pressures act where it began.
static NoliStatus collect_forces(NoliSensitivity* self, const NoliTapePart* part, double t) {
  size_t bytes = noli_sim_vector_bytes(self->sim);
  double* x = self->sim->state.x;
  memcpy(self->product, x, bytes);
  memcpy(x, part->start.x, bytes);
  memcpy(self->begin, x, bytes);
  NoliStatus status = collect_all(self, part->t1, t);
  memcpy(x, self->product, bytes);
  return status;
}

// What a consistent mass multiplies in the equations: inertia, drag and gravity.
static void set_accelerations(const NoliSensitivity* self, const NoliBlock* block, double* z) {
  const NoliStage* stage = self->sim->stage;
  const NoliStageTime* time = &stage->time;
  const double *x = stage->here->x, *gravity = self->sim->model->gravity;
  double h_e_sqr = time->h_e * time->h_e, drag = block->mass_damping * h_e_sqr / time->h_v;
  for (int64_t j = 0; j < 3 * (int64_t)stage->problem->n_vert; j++) {
    z[j] = -h_e_sqr * gravity[j % 3];
    z[j] += time->inertia ? x[j] - time->x_tilde[j] + drag * (x[j] - time->x_hat[j]) : 0.0;
  }
}

// Of shells and rods: both parts of their energies.
static NoliStatus list_thin_slopes(NoliSensitivity* self, NoliBlock* block) {
  NoliStatus status = NOLI_OK;
  NoliStage* stage = self->sim->stage;
  const NoliProblem* problem = stage->problem;
  for (int32_t part = 0; part < NOLI_BLOCK_PARTS && block->type->elasticity != NULL; part++) {
    NoliBlockEnergy energy = {
        .block = block, .part = (NoliBlockPart)part, .scale = stage->time.h_e * stage->time.h_e};
    if (wants(self, NOLI_INPUT_PART)) {
      NOLI_TRY(noli_element_slopes_by_parts(&self->mixed, block, &energy, problem->surface->body,
                                            stage->here->x));
    }
    if (wants(self, NOLI_INPUT_REST)) {
      NOLI_TRY(
          noli_element_slopes_by_rest(&self->mixed, block, &energy, problem->X, stage->here->x));
    }
  }
done:
  return status;
}

// `first`, `first_history`: the place of its elements and of its histories among those of all
// blocks.
static NoliStatus list_block_slopes(NoliSensitivity* self, NoliBlock* block, int64_t first,
                                    int64_t first_history) {
  NoliStatus status = NOLI_OK;
  NoliStage* stage = self->sim->stage;
  const double *X = stage->problem->X, *x = stage->here->x;
  double h_e_sqr = stage->time.h_e * stage->time.h_e;
  NoliBlockEnergy energy = {.block = block, .part = NOLI_PART_ELEMENTS, .scale = h_e_sqr};
  if (!block->type->solid) {
    return list_thin_slopes(self, block);
  }
  if (wants(self, NOLI_INPUT_MU) || wants(self, NOLI_INPUT_LAMBDA)) {
    NOLI_TRY(noli_element_slopes_by_moduli(&self->mixed, block, &energy, first, x));
  }
  if (wants(self, NOLI_INPUT_REST)) {
    NOLI_TRY(noli_element_slopes_by_rest(&self->mixed, block, &energy, X, x));
  }
  if (noli_block_histories(block) != NULL) {
    NOLI_TRY(noli_block_slopes_by_history(&self->mixed, block, h_e_sqr, first_history, x));
  }
  if (block->n_consistent > 0) {
    set_accelerations(self, block, self->product);
    NOLI_TRY(noli_element_slopes_of_mass(&self->mixed, block, self->wanted, first, X, self->product,
                                         self->zero));
  }
  if (stage->time.inertia && noli_block_is_damped(block)) {
    const NoliDampingSlopes at = {X, x, stage->time.x_hat, self->damped, h_e_sqr / stage->time.h_v};
    NOLI_TRY(noli_element_slopes_of_damping(&self->mixed, block, self->wanted, first, &at));
  }
done:
  return status;
}

// Of springs, volumes and pressures.
static NoliStatus list_load_slopes(NoliSensitivity* self) {
  NoliStatus status = NOLI_OK;
  const NoliStage* stage = self->sim->stage;
  const NoliProblem* problem = stage->problem;
  const double* x = stage->here->x;
  double scale = stage->time.h_e * stage->time.h_e;
  NoliVolumeState* state = NULL;
  double magnitude;
  NoliSpringSlopes springs = {.X = problem->X,
                              .x = x,
                              .x_hat = stage->time.x_hat,
                              .lagged = self->damped,
                              .scale = scale,
                              .damping_scale = stage->time.inertia ? scale / stage->time.h_v : 0.0};
  NOLI_TRY(noli_spring_slopes(&self->mixed, &problem->springs, self->wanted, &springs));
  if (wants(self, NOLI_INPUT_REGION)) {
    NOLI_NEW(self->context, state, problem->volumes.n_region);
    noli_volume_states(&problem->volumes, x, stage->n_threads, state);
    NoliVolume volume = {.regions = &problem->volumes, .scale = scale, .state = state};
    NOLI_TRY(noli_volume_slopes(&self->mixed, &volume, x));
  }
  if (problem->pressed.n > 0) {
    NoliPressure pressure = {.faces = &problem->pressed,
                             .value = stage->pressure,
                             .origin = stage->pressure_origin,
                             .scale = scale,
                             .magnitude = &magnitude};
    NOLI_TRY(noli_pressure_slopes(&self->mixed, &pressure, self->wanted, self->pressing,
                                  problem->n_vert, self->begin, x));
  }
done:
  noli_free(self->context, state);
  return status;
}

static NoliStatus list_slopes(NoliSensitivity* self) {
  NoliStatus status = NOLI_OK;
  NoliStage* stage = self->sim->stage;
  NoliProblem* problem = &self->sim->model->problem;
  int64_t first = 0, first_history = 0;
  NOLI_TRY(list_load_slopes(self));
  for (int32_t i = 0; i < problem->n_block; i++) {
    if (problem->block[i].n_element > 0) {
      NOLI_TRY(list_block_slopes(self, &problem->block[i], first, first_history));
    }
    first += problem->block[i].n_element;
    first_history += problem->block[i].n_history;
  }
  if (problem->rubs && is_general(self)) {
    NOLI_TRY(problem->contact->slide_slopes(stage, self->classes, &self->mixed));
  }
  if ((self->wanted & problem->contact->slopes_by) != 0) {
    NOLI_TRY(problem->contact->slopes(stage, &self->mixed));
  }
done:
  return status;
}

// The stiffness of damping, at the positions predicted from the start of the part.
static void set_damping(NoliSensitivity* self, const NoliTapePart* part) {
  NoliStage* stage = self->sim->stage;
  if (!noli_problem_is_damped(stage->problem)) {
    return;
  }
  for (int64_t j = 0; j < 3 * (int64_t)stage->problem->n_vert; j++) {
    self->damped[j] = part->start.x[j] + part->damping_ahead * part->start.v[j];
  }
  noli_stage_set_damping(stage, self->damped);
}

// The stage of a part at time t with these predictions: its friction lagged at `lagged`, at x.
static NoliStatus set_stage(NoliSensitivity* self, const NoliTapePart* part, int32_t index,
                            double t, const double* x_tilde, const double* lagged,
                            const double* x) {
  NoliStatus status = NOLI_OK;
  NoliStage* stage = self->sim->stage;
  const NoliTapeStage* from = &part->stage[index];
  double *to_tilde = stage->time.x_tilde, *to_hat = stage->time.x_hat;
  stage->time = from->time;
  stage->time.x_tilde = memcpy(to_tilde, x_tilde, noli_sim_vector_bytes(self->sim));
  stage->time.x_hat = to_hat;
  stage->index = index;
  stage->h = part->h;
  set_prescribed(from, stage);
  NOLI_TRY(noli_stage_number_unknowns(stage));
  NOLI_TRY(collect_forces(self, part, t));
  if (stage->problem->fixed_stiffness > 0.0) {
    stage->kappa = 0.0; // that of a stage before may be larger
    NOLI_TRY(noli_stage_initial_kappa(stage));
  }
  noli_mixed_list_clear(&self->mixed);
  set_damping(self, part);
  NOLI_TRY(place(stage, lagged));
  NOLI_TRY(noli_stage_lag_friction(stage));
  if (stage->problem->rubs && !is_general(self)) {
    NOLI_TRY(stage->problem->contact->lag_slopes(stage, x, self->classes, &self->mixed));
  }
  NOLI_TRY(place(stage, x));
  noli_stage_list_terms(stage);
  NOLI_TRY(list_slopes(self));
done:
  return status;
}

// Where the friction of a solve was lagged: at the end of the one before.
static const double* lagged_at(const NoliTapePart* part, int32_t index, int64_t solve) {
  if (solve > 0) {
    return part->stage[index].solve.data[solve - 1];
  }
  const NoliTapeStage* before = index > 0 ? &part->stage[index - 1] : NULL;
  return before != NULL ? before->solve.data[before->solve.count - 1] : part->start.x;
}

NoliStatus noli_sensitivity_set(NoliSensitivity* self, const NoliTapePart* part, int32_t index,
                                int64_t solve_index) {
  NoliStatus status = NOLI_OK;
  NoliStage* stage = self->sim->stage = self->sim->own_stage;
  const NoliTapeStage* from = &part->stage[index];
  noli_history_links_begin(self->sim, part, noli_history_links_elapsed(part, index));
  if (self->part == part && self->stage == index && self->solve == solve_index) {
    return NOLI_OK;
  }
  self->part = NULL;
  memcpy(stage->time.x_hat, from->time.x_hat, noli_sim_vector_bytes(self->sim));
  NOLI_TRY(set_stage(self, part, index, from->t, from->time.x_tilde,
                     lagged_at(part, index, solve_index), from->solve.data[solve_index]));
  NOLI_TRY(factor(self));
  self->part = part;
  self->stage = index;
  self->solve = solve_index;
done:
  return status;
}

void noli_sensitivity_forget(NoliSensitivity* self) {
  self->part = NULL;
}

// ---- products -----------------------------------------------------------------------------------

// What depends on x_hat.
#define VISCOUS (NOLI_ROLE_FRICTION | NOLI_ROLE_DRAG | NOLI_ROLE_DAMPING)

// Derivative of G by the mass of a node: of inertia and drag, component j.
static double by_mass(const NoliStage* stage, int64_t j) {
  const NoliProblem* problem = stage->problem;
  double drag = problem->drag[j / 3] / problem->mass[j / 3] * stage->time.h_e * stage->time.h_e /
                stage->time.h_v;
  double x = stage->here->x[j];
  return stage->time.inertia ? x - stage->time.x_tilde[j] + drag * (x - stage->time.x_hat[j]) : 0.0;
}

// Adds -(dG/dinput)^T lambda by all inputs but x_tilde and x_hat of potentials.
static void pull_inputs(const NoliSensitivity* self, const double* lambda, NoliInputs* to) {
  const NoliStage* stage = self->sim->stage;
  const NoliProblem* problem = stage->problem;
  double h_e_sqr = stage->time.h_e * stage->time.h_e;
  double *load = to->value[NOLI_INPUT_LOAD], *mass = to->value[NOLI_INPUT_MASS];
  double* force = to->value[NOLI_INPUT_FORCE];
  for (int64_t k = 0; k < 3 * (int64_t)problem->n_inertial; k++) {
    int64_t i = problem->inertial[k / 3], j = 3 * i + k % 3;
    if (load != NULL) {
      load[j] += h_e_sqr * lambda[j];
    }
    if (mass != NULL) {
      mass[i] -= by_mass(stage, j) * lambda[j];
    }
  }
  for (int32_t f = 0; force != NULL && f < self->sim->model->n_force; f++) {
    for (int64_t j = 0; j < 3 * (int64_t)problem->n_vert; j++) {
      force[f] += h_e_sqr * lambda[j] * self->force[f][j];
    }
  }
  for (int64_t i = 0; i < self->mixed.blocks.count; i++) {
    const NoliMixedBlocks* blocks = &self->mixed.blocks.data[i];
    if (to->value[blocks->kind] != NULL) {
      noli_mixed_multiply_transposed(blocks, -1.0, lambda, to->value[blocks->kind]);
    }
  }
}

// Adds dG/dinput times the changes of the same inputs to g.
static void push_inputs(const NoliSensitivity* self, const NoliInputs* change, double* g) {
  const NoliStage* stage = self->sim->stage;
  const NoliProblem* problem = stage->problem;
  double h_e_sqr = stage->time.h_e * stage->time.h_e;
  const double *load = change->value[NOLI_INPUT_LOAD], *mass = change->value[NOLI_INPUT_MASS];
  const double* force = change->value[NOLI_INPUT_FORCE];
  for (int64_t k = 0; k < 3 * (int64_t)problem->n_inertial; k++) {
    int64_t i = problem->inertial[k / 3], j = 3 * i + k % 3;
    g[j] -= load != NULL ? h_e_sqr * load[j] : 0.0;
    g[j] += mass != NULL ? by_mass(stage, j) * mass[i] : 0.0;
  }
  for (int32_t f = 0; force != NULL && f < self->sim->model->n_force; f++) {
    for (int64_t j = 0; j < 3 * (int64_t)problem->n_vert; j++) {
      g[j] -= h_e_sqr * force[f] * self->force[f][j];
    }
  }
  for (int64_t i = 0; i < self->mixed.blocks.count; i++) {
    const NoliMixedBlocks* blocks = &self->mixed.blocks.data[i];
    if (change->value[blocks->kind] != NULL) {
      noli_mixed_multiply(blocks, change->value[blocks->kind], g);
    }
  }
}

static void negate(double* x, int64_t n) {
  for (int64_t i = 0; i < n; i++) {
    x[i] = -x[i];
  }
}

// Whether prescribed components have derivatives.
static bool moves_targets(const NoliSensitivity* self) {
  return wants(self, NOLI_INPUT_START) || wants(self, NOLI_INPUT_REST) ||
         wants(self, NOLI_INPUT_MOTION);
}

NoliStatus noli_sensitivity_pull(NoliSensitivity* self, const double* b, NoliInputs* to,
                                 double* target, double* error) {
  NoliStatus status = NOLI_OK;
  NoliStage* stage = self->sim->stage;
  int64_t n = 3 * (int64_t)stage->problem->n_vert;
  double* lambda = self->lambda;
  NOLI_TRY(solve(self, true, b, lambda));
  for (int64_t i = 0; i < n; i++) {
    *error += fabs(lambda[i] * stage->gradient[i]);
  }

  // x - x_tilde and x - x_hat: -dG/dx_tilde is the Hessian of inertia
  NOLI_TRY(multiply(self, true, NOLI_ROLE_INERTIA, lambda, to->value[NOLI_INPUT_PREDICTED]));
  NOLI_TRY(multiply(self, true, VISCOUS, lambda, to->value[NOLI_INPUT_REFERENCE]));
  pull_inputs(self, lambda, to);
  negate(lambda, n);

  // prescribed components, which move with the start and with motions: b - K lambda
  if (moves_targets(self)) {
    memcpy(self->product, b, (size_t)n * sizeof *b);
    NOLI_TRY(multiply(self, true, NOLI_ROLE_ALL, lambda, self->product));
    noli_stage_act_on_nodes(stage, self->product);
    for (int32_t i = 0; i < stage->prescribed.n; i++) {
      for (int32_t k = 0; k < 3; k++) {
        int64_t j = 3 * (int64_t)stage->prescribed.node[i] + k;
        target[j] += (stage->prescribed.axes[i] >> k & 1) != 0 ? self->product[j] : 0.0;
      }
    }
  }
done:
  return status;
}

NoliStatus noli_sensitivity_push(NoliSensitivity* self, const NoliInputs* change, double* dx) {
  NoliStatus status = NOLI_OK;
  NoliStage* stage = self->sim->stage;
  int64_t n = 3 * (int64_t)stage->problem->n_vert;
  double* g = self->lambda;

  // dG, with that by prescribed components, which move with the start and with motions
  memset(g, 0, (size_t)n * sizeof *g);
  memset(self->product, 0, (size_t)n * sizeof *g);
  NOLI_TRY(multiply(self, false, NOLI_ROLE_INERTIA, change->value[NOLI_INPUT_PREDICTED], g));
  NOLI_TRY(multiply(self, false, VISCOUS, change->value[NOLI_INPUT_REFERENCE], g));
  negate(g, n);
  for (int32_t i = 0; moves_targets(self) && i < stage->prescribed.n; i++) {
    for (int32_t k = 0; k < 3; k++) {
      int64_t j = 3 * (int64_t)stage->prescribed.node[i] + k;
      self->product[j] = (stage->prescribed.axes[i] >> k & 1) != 0 ? dx[j] : 0.0;
    }
  }
  if (moves_targets(self)) {
    noli_stage_follow_vectors(stage, self->product);
    NOLI_TRY(multiply(self, false, NOLI_ROLE_ALL, self->product, g));
  }
  push_inputs(self, change, g);

  // K dx = -dG
  noli_stage_act_on_nodes(stage, g);
  negate(g, n);
  NOLI_TRY(solve(self, false, g, dx));
  for (int64_t j = 0; j < n; j++) {
    dx[j] += self->product[j];
  }
done:
  return status;
}

// ---- the force at the start ---------------------------------------------------------------------

// All but inertia.
#define FORCES (NOLI_ROLE_ALL & ~(unsigned)NOLI_ROLE_INERTIA)

// The stage at the start, where f = -dG/dx / h_e^2 without inertia.
static NoliStatus set_start(NoliSensitivity* self, const NoliTapePart* part) {
  NoliStage* stage = self->sim->stage = self->sim->own_stage;
  double *x_hat = stage->time.x_hat, h_v = part->stage[0].time.h_v;
  self->part = NULL;
  for (int64_t i = 0; i < 3 * (int64_t)stage->problem->n_vert; i++) {
    x_hat[i] = part->start.x[i] - h_v * part->start.v[i];
  }
  noli_stage_follow(stage, x_hat);
  noli_history_links_begin(self->sim, part, 0.0);
  return set_stage(self, part, 0, *part->start.time, part->start.x, part->start.x, part->start.x);
}

// y += a x
static void add(int64_t n, double a, const double* x, double* y) {
  for (int64_t i = 0; i < n; i++) {
    y[i] += a * x[i];
  }
}

NoliStatus noli_sensitivity_pull_force(NoliSensitivity* self, const NoliTapePart* part,
                                       const double* b, NoliInputs* to, double* x, double* v) {
  NoliStatus status = NOLI_OK;
  NOLI_TRY(set_start(self, part));
  NoliStage* stage = self->sim->stage;
  int64_t n = 3 * (int64_t)stage->problem->n_vert;
  double h_e_sqr = stage->time.h_e * stage->time.h_e, *lambda = self->lambda;
  for (int64_t i = 0; i < n; i++) {
    lambda[i] = b[i] / h_e_sqr;
  }
  noli_stage_follow_vectors(stage, lambda);

  // x_hat = x - h_v v, and the lagged positions are x
  double* hat = to->value[NOLI_INPUT_REFERENCE];
  double* lagged = to->value[NOLI_INPUT_LAGGED];
  memset(hat, 0, (size_t)n * sizeof *hat);
  memset(lagged, 0, (size_t)n * sizeof *lagged);
  NOLI_TRY(multiply(self, true, VISCOUS, lambda, hat));
  pull_inputs(self, lambda, to);
  negate(lambda, n);
  memset(self->product, 0, (size_t)n * sizeof(double));
  NOLI_TRY(multiply(self, true, FORCES, lambda, self->product));
  add(n, 1.0, hat, self->product);
  add(n, 1.0, lagged, self->product);
  noli_stage_act_on_nodes(stage, self->product);
  noli_stage_act_on_nodes(stage, hat);
  add(n, 1.0, self->product, x);
  add(n, -stage->time.h_v, hat, v);
done:
  return status;
}

NoliStatus noli_sensitivity_push_force(NoliSensitivity* self, const NoliTapePart* part,
                                       NoliInputs* change, const double* x, const double* v,
                                       double* force) {
  NoliStatus status = NOLI_OK;
  NOLI_TRY(set_start(self, part));
  NoliStage* stage = self->sim->stage;
  int64_t n = 3 * (int64_t)stage->problem->n_vert;
  double h_e_sqr = stage->time.h_e * stage->time.h_e, *g = self->lambda;
  double* hat = change->value[NOLI_INPUT_REFERENCE];
  memcpy(hat, x, (size_t)n * sizeof *hat);
  add(n, -stage->time.h_v, v, hat);
  memcpy(change->value[NOLI_INPUT_LAGGED], x, (size_t)n * sizeof *x);
  memset(g, 0, (size_t)n * sizeof *g);
  NOLI_TRY(multiply(self, false, VISCOUS, hat, g));
  negate(g, n);
  NOLI_TRY(multiply(self, false, FORCES, x, g));
  push_inputs(self, change, g);
  noli_stage_act_on_nodes(stage, g);
  memset(force, 0, (size_t)n * sizeof *force);
  add(n, -1.0 / h_e_sqr, g, force);
done:
  return status;
}
