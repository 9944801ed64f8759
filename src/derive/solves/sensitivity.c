#include "derive/solves/sensitivity.h"

#include "derive/history_links.h"
#include "derive/solves/sensitivity_solve.h"
#include "math/sums.h"
#include "step/conditions.h"
#include "step/integration.h"

#include <math.h>
#include <string.h>

// ---- making -------------------------------------------------------------------------------------

// Whether prescribed components or tied nodes at fixed other ones have derivatives: by what they
// follow from, and by all inputs where a motion starts from what was free before.
static bool moves_targets(const NoliSensitivity* self) {
  const unsigned inputs = 1u << NOLI_INPUT_START | 1u << NOLI_INPUT_REST | 1u << NOLI_INPUT_PART |
                          1u << NOLI_INPUT_MOTION | 1u << NOLI_INPUT_TIE;
  const NoliModel* model = self->sim->model;
  bool late = false;
  for (int32_t m = 0; m < model->n_motion; m++) {
    late = late || model->motion[m].def.t_begin > 0.0;
  }
  return late || (self->wanted & inputs) != 0;
}

static NoliStatus list_pressing(const NoliSim* sim, int32_t** pressing) {
  NoliStatus status = NOLI_OK;
  NOLI_NEW(sim->context, *pressing, sim->model->problem.pressed.flat.n);
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
  self->context = self->mixed.context = self->part_list.context = sim->context;
  self->slips.list.context = sim->context;
  self->sim = sim;
  self->wanted = self->mixed.wanted = self->part_list.wanted = wanted;
  self->classes = classes;
  sim->own_stage->friction.basis_derivatives = true;
  sim->own_stage->terms.obstacles_vary = moves_targets(self);
  NOLI_NEW_ZERO(sim->context, self->lambda, n);
  NOLI_NEW_ZERO(sim->context, self->product, n);
  NOLI_NEW_ZERO(sim->context, self->scaled, n);
  NOLI_NEW_ZERO(sim->context, self->damped, n);
  NOLI_NEW_ZERO(sim->context, self->zero, n);
  NOLI_NEW_ZERO(sim->context, self->begin, n);
  NOLI_NEW_ZERO(sim->context, self->gradient, n);
  NOLI_TRY(list_pressing(sim, &self->pressing));
  NOLI_NEW_ZERO(sim->context, self->force, sim->model->n_force);

  for (int32_t f = 0; noli_sensitivity_wants(self, NOLI_INPUT_FORCE) && f < sim->model->n_force;
       f++) {
    NOLI_NEW_ZERO(sim->context, self->force[f], n);
  }

  NOLI_TRY(noli_tie_derivatives_create(sim->model, &self->ties));
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
  self->sim->own_stage->friction.basis_derivatives =
      self->sim->model->problem.friction.basis_derivatives;
  self->sim->own_stage->terms.obstacles_vary = false;
  noli_mixed_list_clear(&self->mixed);
  noli_array_free(self->context, &self->mixed.blocks);
  noli_mixed_list_clear(&self->part_list);
  noli_array_free(self->context, &self->part_list.blocks);
  noli_mixed_list_clear(&self->slips.list);
  noli_array_free(self->context, &self->slips.list.blocks);
  noli_array_free(self->context, &self->ends);
  for (int32_t f = 0; self->force != NULL && f < self->sim->model->n_force; f++) {
    noli_free(self->context, self->force[f]);
  }
  noli_tie_derivatives_free(self->context, &self->ties);
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
  noli_free(self->context, self->gradient);
  noli_free(self->context, self->pressing);
  noli_sensitivity_free_places(self);
  noli_free(self->context, self);
  *owner = NULL;
}

const NoliTieDerivatives* noli_sensitivity_ties(const NoliSensitivity* self) {
  return &self->ties;
}

// ---- setting a solve up -------------------------------------------------------------------------

static void set_prescribed(const NoliTapeStage* from, NoliStage* stage) {
  NoliPrescribed* prescribed = &stage->prescribed;
  prescribed->n = 0;
  prescribed->partial = prescribed->springs.hold = false;
  for (int32_t i = 0; i < stage->problem->n_vert; i++) {
    if (from->axes[i] != 0) {
      prescribed->node[prescribed->n] = i;
      prescribed->axes[prescribed->n++] = from->axes[i];
      prescribed->partial = prescribed->partial || from->axes[i] != NOLI_ALL_AXES;
    }
  }
}

static NoliStatus sensitivity_place(NoliStage* stage, const double* x) {
  memcpy(stage->here->x, x, (size_t)stage->problem->n_vert * 3 * sizeof *x);
  return noli_stage_find_contacts(stage);
}

// All loads, and those of single forces, by leaving each out.
static NoliStatus collect_all(NoliSensitivity* self, double t1, double t) {
  NoliStatus status = NOLI_OK;
  NoliSim* sim = self->sim;
  const NoliModel* model = sim->model;
  int64_t n = 3 * (int64_t)model->problem.n_vert;
  for (int32_t f = 0; noli_sensitivity_wants(self, NOLI_INPUT_FORCE) && f < model->n_force; f++) {
    NOLI_TRY(noli_sim_collect_loads(sim, t1, t, f));
    memcpy(self->force[f], sim->stage->loads.force, (size_t)n * sizeof(double));
  }
  NOLI_TRY(noli_sim_collect_loads(sim, t1, t, NOLI_NULL_INDEX));
  for (int32_t f = 0; noli_sensitivity_wants(self, NOLI_INPUT_FORCE) && f < model->n_force; f++) {
    for (int64_t i = 0; i < n; i++) {
      self->force[f][i] = sim->stage->loads.force[i] - self->force[f][i];
    }
  }
done:
  return status;
}

// Collects the forces of the part at time t: pressures act where the part began.
static NoliStatus collect_forces(NoliSensitivity* self, const NoliTapePart* part, double t) {
  size_t bytes = noli_sim_vector_bytes(self->sim);
  double* x = self->sim->state.x;
  memcpy(self->product, x, bytes);
  memcpy(x, part->start.x, bytes);
  memcpy(self->begin, x, bytes);
  self->t = t;
  self->t1 = part->t1;
  NoliStatus status = collect_all(self, part->t1, t);
  memcpy(x, self->product, bytes);
  return status;
}

// The stiffness of damping, at the positions predicted from the start of the part.
static void sensitivity_set_damping(NoliSensitivity* self, const NoliTapePart* part) {
  NoliStage* stage = self->sim->stage;
  if (!noli_problem_is_damped(stage->problem)) {
    return;
  }
  for (int64_t j = 0; j < 3 * (int64_t)stage->problem->n_vert; j++) {
    self->damped[j] = part->start.x[j] + part->damping_ahead * part->start.v[j];
  }
  noli_stage_set_damping(stage, self->damped);
}

// Contacts that stick begin with the slips at the start of the part. `late`: noli_stick_collect.
static NoliStatus begin_slips(NoliSensitivity* self, const NoliTapePart* part, int32_t index,
                              bool late) {
  NoliStatus status = NOLI_OK;
  NoliStage* stage = self->sim->stage;
  self->mixed.slips = NULL;
  self->ends.count = 0;
  noli_mixed_list_clear(&self->slips.list);
  if (stage->problem->friction.sticks) {
    NOLI_TRY(noli_stick_begin(&stage->friction.stick, self->context, part->start.x,
                              part->start.sizes.n_slips, part->start.slip_key, part->start.slip,
                              NULL));
    noli_sim_time_slips(stage, part->rule, index, part->h);
    stage->friction.late = late;
  }
done:
  return status;
}

// The slips at the end of a part, whose last solve ends at x and has lagged friction, or implicit
// friction there: their derivatives are listed with those of friction.
static NoliStatus end_slips(NoliSensitivity* self, const double* x) {
  NoliStatus status = NOLI_OK;
  NoliStage* stage = self->sim->stage;
  self->slips.scale = stage->time.h_e * stage->time.h_e;
  self->slips.late = noli_sensitivity_is_general(self) || stage->friction.late;
  NOLI_TRY(noli_stage_collect_slips(stage, x, &self->ends));
  for (int64_t i = 1; i < self->ends.count; i++) {
    const NoliStick* two = &self->ends.data[i - 1];
    NOLI_CHECK(self->context, memcmp(two[0].key, two[1].key, sizeof two->key) != 0,
               NOLI_ERROR_INTERNAL, "derivatives: two contacts that stick have the same vertices");
  }
  self->slips.end = &self->ends;
  self->mixed.slips = &self->slips;
done:
  return status;
}

// The stage of a part at time t with these predictions: its friction lagged at `lagged`, at x;
// `ends`: the part ends there.
static NoliStatus set_stage(NoliSensitivity* self, const NoliTapePart* part, int32_t index,
                            double t, const double* x_tilde, const double* lagged, const double* x,
                            bool ends) {
  NoliStatus status = NOLI_OK;
  NoliStage* stage = self->sim->stage;
  const NoliTapeStage* from = &part->stage[index];
  double *to_tilde = stage->time.x_tilde, *to_hat = stage->time.x_hat;

  stage->time = from->time;
  stage->time.x_tilde = memcpy(to_tilde, x_tilde, noli_sim_vector_bytes(self->sim));
  stage->time.x_hat = to_hat;
  stage->step.index = index;
  stage->step.h = part->h;
  set_prescribed(from, stage);
  NOLI_TRY(noli_stage_number_unknowns(stage));
  NOLI_TRY(collect_forces(self, part, t));

  if (stage->problem->contact.fixed_stiffness > 0.0) {
    stage->contact.kappa = 0.0; // that of a stage before may be larger
    NOLI_TRY(noli_stage_initial_kappa(stage));
  }

  noli_mixed_list_clear(&self->mixed);
  sensitivity_set_damping(self, part);
  NOLI_TRY(sensitivity_place(stage, lagged));
  NOLI_TRY(noli_stage_lag_friction(stage));

  bool implicit = noli_sensitivity_is_general(self);
  ends = ends && stage->problem->friction.sticks && stage->problem->friction.acts;
  if (ends && !implicit) {
    NOLI_TRY(end_slips(self, x));
  }
  if (stage->problem->friction.acts && !implicit) {
    NOLI_TRY(stage->problem->contact.model->derivatives->lagged_friction(stage, x, self->classes,
                                                                         &self->mixed));
  }

  NOLI_TRY(sensitivity_place(stage, x));
  if (ends && implicit) {
    NOLI_TRY(end_slips(self, x));
  }
  noli_stage_list_terms(stage);
  NOLI_TRY(noli_sensitivity_list_derivatives(self));

  if (noli_sensitivity_wants(self, NOLI_INPUT_TIE)) {
    NOLI_TRY(noli_sensitivity_find_gradient(self, self->gradient));
    noli_tie_derivatives_gather(&self->ties, &stage->problem->followers, self->gradient);
  }
done:
  return status;
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
  bool ends = index == part->n_stages - 1 && solve_index == from->solve.count - 1;
  NOLI_TRY(begin_slips(self, part, index, index > 0 || solve_index > 0));
  NOLI_TRY(set_stage(self, part, index, from->t, from->time.x_tilde,
                     noli_tape_lagged(part, index, solve_index), from->solve.data[solve_index],
                     ends));
  NOLI_TRY(noli_sensitivity_factor(self));
  self->part = part;
  self->stage = index;
  self->solve = solve_index;
done:
  return status;
}

void noli_sensitivity_reset(NoliSensitivity* self) {
  self->part = NULL;
  noli_mixed_list_clear(&self->mixed); // of which solves read a part
}

// ---- products -----------------------------------------------------------------------------------

// The terms that depend on x - x_hat: derivatives by x_hat are minus the products of their
// Jacobians.
#define VISCOUS (NOLI_ROLE_DRAG | NOLI_ROLE_DAMPING | NOLI_ROLE_FRICTION)

// Derivative of G by the mass of a node: of inertia and drag, component j.
static double by_mass(const NoliStage* stage, int64_t j) {
  const NoliProblem* problem = stage->problem;
  double drag = problem->inertia.drag[j / 3] / problem->inertia.mass[j / 3] * stage->time.h_e *
                stage->time.h_e / stage->time.h_v;
  double x = stage->here->x[j];
  return stage->time.inertia ? x - stage->time.x_tilde[j] + drag * (x - stage->time.x_hat[j]) : 0.0;
}

// Adds the products of a list with a factor times lambda; forward with the changes of inputs.
static void list_adjoint(const NoliMixedList* list, double factor, const double* lambda,
                         NoliInputs* to) {
  for (int64_t i = 0; i < list->blocks.count; i++) {
    const NoliMixedBlocks* blocks = &list->blocks.data[i];
    if (to->value[blocks->kind] != NULL) {
      noli_mixed_multiply_transposed(blocks, factor, lambda, to->value[blocks->kind]);
    }
  }
}

static void list_tangent(const NoliMixedList* list, const NoliInputs* change, double* g) {
  for (int64_t i = 0; i < list->blocks.count; i++) {
    const NoliMixedBlocks* blocks = &list->blocks.data[i];
    if (change->value[blocks->kind] != NULL) {
      noli_mixed_multiply(blocks, change->value[blocks->kind], g);
    }
  }
}

// Adds -(dG/dinput)^T lambda by all inputs but x_tilde and x_hat of potentials.
static void inputs_adjoint(const NoliSensitivity* self, const double* lambda, NoliInputs* to) {
  const NoliStage* stage = self->sim->stage;
  const NoliProblem* problem = stage->problem;
  double h_e_sqr = stage->time.h_e * stage->time.h_e;
  double *load = to->value[NOLI_INPUT_LOAD], *mass = to->value[NOLI_INPUT_MASS];
  double* force = to->value[NOLI_INPUT_FORCE];
  for (int64_t k = 0; k < 3 * (int64_t)problem->inertia.n_vert; k++) {
    int64_t i = problem->inertia.vert[k / 3], j = 3 * i + k % 3;
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
  list_adjoint(&self->mixed, -1.0, lambda, to);
}

// Adds dG/dinput times the changes of the same inputs to g.
static void inputs_tangent(const NoliSensitivity* self, const NoliInputs* change, double* g) {
  const NoliStage* stage = self->sim->stage;
  const NoliProblem* problem = stage->problem;
  double h_e_sqr = stage->time.h_e * stage->time.h_e;
  const double *load = change->value[NOLI_INPUT_LOAD], *mass = change->value[NOLI_INPUT_MASS];
  const double* force = change->value[NOLI_INPUT_FORCE];
  for (int64_t k = 0; k < 3 * (int64_t)problem->inertia.n_vert; k++) {
    int64_t i = problem->inertia.vert[k / 3], j = 3 * i + k % 3;
    g[j] -= load != NULL ? h_e_sqr * load[j] : 0.0;
    g[j] += mass != NULL ? by_mass(stage, j) * mass[i] : 0.0;
  }
  for (int32_t f = 0; force != NULL && f < self->sim->model->n_force; f++) {
    for (int64_t j = 0; j < 3 * (int64_t)problem->n_vert; j++) {
      g[j] -= h_e_sqr * force[f] * self->force[f][j];
    }
  }
  list_tangent(&self->mixed, change, g);
}

static void negate(double* x, int64_t n) {
  for (int64_t i = 0; i < n; i++) {
    x[i] = -x[i];
  }
}

// Forces on tied nodes, where weights change.
static void ties_adjoint(const NoliSensitivity* self, const double* lambda, const NoliInputs* to) {
  if (to->value[NOLI_INPUT_TIE] != NULL) {
    noli_tie_derivatives_add_power(&self->ties, self->gradient, lambda, to->value[NOLI_INPUT_TIE]);
  }
}

static void ties_tangent(const NoliSensitivity* self, const NoliInputs* change, double* g) {
  if (change->value[NOLI_INPUT_TIE] != NULL) {
    noli_tie_derivatives_add_forces(&self->ties, self->gradient, change->value[NOLI_INPUT_TIE], g);
  }
}

NoliStatus noli_sensitivity_adjoint(NoliSensitivity* self, const double* b, NoliInputs* to,
                                    double* target, double* error) {
  NoliStatus status = NOLI_OK;
  NoliStage* stage = self->sim->stage;
  int64_t n = 3 * (int64_t)stage->problem->n_vert;
  double* lambda = self->lambda;
  NOLI_TRY(noli_sensitivity_solve(self, true, b, lambda));
  for (int64_t i = 0; i < n; i++) {
    *error += fabs(lambda[i] * stage->search.gradient[i]);
  }

  // x - x_tilde and x - x_hat: -dG/dx_tilde is the Hessian of inertia
  NOLI_TRY(noli_sensitivity_multiply(self, true, NOLI_ROLE_INERTIA, lambda,
                                     to->value[NOLI_INPUT_PREDICTED]));
  NOLI_TRY(noli_sensitivity_multiply(self, true, VISCOUS, lambda, to->value[NOLI_INPUT_REFERENCE]));
  inputs_adjoint(self, lambda, to);
  ties_adjoint(self, lambda, to);
  negate(lambda, n);

  // prescribed components, which move with the start and with motions: b - K lambda
  if (moves_targets(self)) {
    memcpy(self->product, b, (size_t)n * sizeof *b);
    NOLI_TRY(noli_sensitivity_multiply(self, true, NOLI_ROLE_ALL, lambda, self->product));
    noli_tie_derivatives_act(&self->ties, &stage->problem->followers, stage->n_threads,
                             stage->here->x, self->product, to->value[NOLI_INPUT_TIE]);
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

NoliStatus noli_sensitivity_tangent(NoliSensitivity* self, const NoliInputs* change, double* dx) {
  NoliStatus status = NOLI_OK;
  NoliStage* stage = self->sim->stage;
  int64_t n = 3 * (int64_t)stage->problem->n_vert;
  double* g = self->lambda;

  // dG, with that by prescribed components, which move with the start and with motions
  memset(g, 0, (size_t)n * sizeof *g);
  memset(self->product, 0, (size_t)n * sizeof *g);
  NOLI_TRY(noli_sensitivity_multiply(self, false, NOLI_ROLE_INERTIA,
                                     change->value[NOLI_INPUT_PREDICTED], g));
  NOLI_TRY(noli_sensitivity_multiply(self, false, VISCOUS, change->value[NOLI_INPUT_REFERENCE], g));
  negate(g, n);
  for (int32_t i = 0; moves_targets(self) && i < stage->prescribed.n; i++) {
    for (int32_t k = 0; k < 3; k++) {
      int64_t j = 3 * (int64_t)stage->prescribed.node[i] + k;
      self->product[j] = (stage->prescribed.axes[i] >> k & 1) != 0 ? dx[j] : 0.0;
    }
  }
  if (moves_targets(self)) {
    noli_tie_derivatives_follow(&self->ties, &stage->problem->followers, stage->n_threads,
                                change->value[NOLI_INPUT_TIE], stage->here->x, self->product);
    NOLI_TRY(noli_sensitivity_multiply(self, false, NOLI_ROLE_ALL, self->product, g));
  }
  inputs_tangent(self, change, g);
  ties_tangent(self, change, g);

  // K dx = -dG
  noli_stage_act_on_nodes(stage, g);
  negate(g, n);
  NOLI_TRY(noli_sensitivity_solve(self, false, g, dx));
  for (int64_t j = 0; j < n; j++) {
    dx[j] += self->product[j];
  }
done:
  return status;
}

// ---- slips --------------------------------------------------------------------------------------

int64_t noli_sensitivity_slip_count(const NoliSensitivity* self) {
  return self->ends.count;
}

void noli_sensitivity_slips_adjoint(NoliSensitivity* self, const double* b, NoliInputs* to) {
  list_adjoint(&self->slips.list, 1.0, b, to);
}

void noli_sensitivity_slips_tangent(NoliSensitivity* self, const NoliInputs* change, double* slip) {
  list_tangent(&self->slips.list, change, slip);
}

// ---- the force at the start ---------------------------------------------------------------------

// All but inertia.
#define FORCES (NOLI_ROLE_ALL & ~(unsigned)NOLI_ROLE_INERTIA)

// The stage at the start, where f = -dG/dx / h_e^2 without inertia.
NoliStatus noli_sensitivity_set_start(NoliSensitivity* self, const NoliTapePart* part) {
  NoliStatus status = NOLI_OK;
  NoliStage* stage = self->sim->stage = self->sim->own_stage;
  double *x_hat = stage->time.x_hat, h_v = part->stage[0].time.h_v;
  self->part = NULL;
  for (int64_t i = 0; i < 3 * (int64_t)stage->problem->n_vert; i++) {
    x_hat[i] = part->start.x[i] - h_v * part->velocity[i];
  }
  noli_stage_follow(stage, x_hat);
  noli_history_links_begin(self->sim, part, 0.0);
  NOLI_TRY(begin_slips(self, part, 0, false));
  NOLI_TRY(set_stage(self, part, 0, *part->start.time, part->start.x, part->start.x, part->start.x,
                     false));
done:
  return status;
}

NoliStatus noli_sensitivity_force_adjoint(NoliSensitivity* self, const NoliTapePart* part,
                                          const double* b, NoliInputs* to, double* x, double* v) {
  NoliStatus status = NOLI_OK;
  NOLI_TRY(noli_sensitivity_set_start(self, part));
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
  NOLI_TRY(noli_sensitivity_multiply(self, true, VISCOUS, lambda, to->value[NOLI_INPUT_REFERENCE]));
  inputs_adjoint(self, lambda, to);
  ties_adjoint(self, lambda, to);
  negate(lambda, n);
  memset(self->product, 0, (size_t)n * sizeof(double));
  NOLI_TRY(noli_sensitivity_multiply(self, true, FORCES, lambda, self->product));
  noli_add_scaled(n, 1.0, hat, self->product);
  noli_add_scaled(n, 1.0, lagged, self->product);
  noli_tie_derivatives_act(&self->ties, &stage->problem->followers, stage->n_threads, part->start.x,
                           self->product, to->value[NOLI_INPUT_TIE]);
  noli_add_scaled(n, 1.0, self->product, x);
  noli_add_scaled(n, -stage->time.h_v, hat, v);
done:
  return status;
}

NoliStatus noli_sensitivity_force_tangent(NoliSensitivity* self, const NoliTapePart* part,
                                          NoliInputs* change, const double* x, const double* v,
                                          double* force) {
  NoliStatus status = NOLI_OK;
  NOLI_TRY(noli_sensitivity_set_start(self, part));
  NoliStage* stage = self->sim->stage;
  int64_t n = 3 * (int64_t)stage->problem->n_vert;
  double h_e_sqr = stage->time.h_e * stage->time.h_e, *g = self->lambda;
  double* hat = change->value[NOLI_INPUT_REFERENCE];
  memcpy(hat, x, (size_t)n * sizeof *hat);
  noli_add_scaled(n, -stage->time.h_v, v, hat);
  memcpy(change->value[NOLI_INPUT_LAGGED], x, (size_t)n * sizeof *x);
  memset(g, 0, (size_t)n * sizeof *g);
  NOLI_TRY(noli_sensitivity_multiply(self, false, VISCOUS, change->value[NOLI_INPUT_REFERENCE], g));
  negate(g, n);
  NOLI_TRY(noli_sensitivity_multiply(self, false, FORCES, x, g));
  inputs_tangent(self, change, g);
  ties_tangent(self, change, g);
  noli_stage_act_on_nodes(stage, g);
  memset(force, 0, (size_t)n * sizeof *force);
  noli_add_scaled(n, -1.0 / h_e_sqr, g, force);
done:
  return status;
}

// ---- damping and masses of these forces ---------------------------------------------------------

NoliStatus noli_sensitivity_damping_adjoint(NoliSensitivity* self, const double* b, NoliInputs* to,
                                            double* moved) {
  NoliStatus status = NOLI_OK;
  const NoliStage* stage = self->sim->stage;
  int64_t n = 3 * (int64_t)stage->problem->n_vert;
  double h_e_sqr = stage->time.h_e * stage->time.h_e, *lambda = self->lambda;
  for (int64_t i = 0; i < n; i++) {
    lambda[i] = b[i] / h_e_sqr;
  }
  noli_mixed_list_clear(&self->part_list);
  NOLI_TRY(noli_sensitivity_list_damping(self, &self->part_list));
  list_adjoint(&self->part_list, 1.0, lambda, to);
  NOLI_TRY(noli_sensitivity_multiply(self, true, NOLI_ROLE_DAMPING, lambda, moved));
done:
  return status;
}

NoliStatus noli_sensitivity_damping_tangent(NoliSensitivity* self, const NoliInputs* change,
                                            const double* moved, double* force) {
  NoliStatus status = NOLI_OK;
  const NoliStage* stage = self->sim->stage;
  int64_t n = 3 * (int64_t)stage->problem->n_vert;
  double h_e_sqr = stage->time.h_e * stage->time.h_e, *g = self->lambda;
  memset(g, 0, (size_t)n * sizeof *g);
  noli_mixed_list_clear(&self->part_list);
  NOLI_TRY(noli_sensitivity_list_damping(self, &self->part_list));
  list_tangent(&self->part_list, change, g);
  NOLI_TRY(noli_sensitivity_multiply(self, false, NOLI_ROLE_DAMPING, moved, g));
  noli_add_scaled(n, 1.0 / h_e_sqr, g, force);
done:
  return status;
}

NoliStatus noli_sensitivity_masses_adjoint(NoliSensitivity* self, const double* z, double factor,
                                           const double* b, NoliInputs* to) {
  NoliStatus status = NOLI_OK;
  noli_mixed_list_clear(&self->part_list);
  NOLI_TRY(noli_sensitivity_list_masses(self, z, &self->part_list));
  list_adjoint(&self->part_list, factor, b, to);
done:
  return status;
}

NoliStatus noli_sensitivity_masses_tangent(NoliSensitivity* self, const double* z,
                                           const NoliInputs* change, double* force) {
  NoliStatus status = NOLI_OK;
  noli_mixed_list_clear(&self->part_list);
  NOLI_TRY(noli_sensitivity_list_masses(self, z, &self->part_list));
  list_tangent(&self->part_list, change, force);
done:
  return status;
}
