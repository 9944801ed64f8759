#include "derive/chains.h"

#include "derive/history_links.h"
#include "solve/tied_mass.h"

#include <string.h>

static int64_t chains_size_of(const NoliChains* self) {
  return 3 * (int64_t)self->sim->model->problem.n_vert;
}

static void chains_clear(const NoliChains* self, double* x) {
  memset(x, 0, (size_t)chains_size_of(self) * sizeof *x);
}

static void copy(const NoliChains* self, const double* from, double* to) {
  memcpy(to, from, (size_t)chains_size_of(self) * sizeof *to);
}

// y += a x
static void chains_add(const NoliChains* self, double a, const double* x, double* y) {
  for (int64_t i = 0; a != 0.0 && i < chains_size_of(self); i++) {
    y[i] += a * x[i];
  }
}

// ---- followers ----------------------------------------------------------------------------------

void noli_chains_follow(const NoliChains* self, int32_t index, const double* x, double* u) {
  const NoliModel* model = self->sim->model;
  noli_tie_derivatives_follow(noli_sensitivity_ties(self->sensitivity), &model->problem.followers,
                              self->sim->own_stage->n_threads,
                              self->inputs[index].value[NOLI_INPUT_TIE], x, u);
}

void noli_chains_act_on_nodes(const NoliChains* self, int32_t index, const double* x, double* d) {
  const NoliModel* model = self->sim->model;
  noli_tie_derivatives_act(noli_sensitivity_ties(self->sensitivity), &model->problem.followers,
                           self->sim->own_stage->n_threads, x, d,
                           self->inputs[index].value[NOLI_INPUT_TIE]);
}

// ---- prescribed motions -------------------------------------------------------------------------

static NoliMotionStart chains_start_of(const NoliChains* self, int32_t index) {
  return (NoliMotionStart){.x = self->chain[index].x, .history = self->chain[index].history};
}

// Integrators of order 2 put a parabola through the start of prescribed components and their
// targets halfway and at the end of a stage. What follows from it is a sum of the three.
typedef struct Parabola {
  double start, middle, end;
} Parabola;

static double stage_time(const NoliTapePart* part, int32_t s) {
  return part->rule->stage[s].end * part->h;
}

// x_hat = x_1 - h_v v_1, with the velocity at the end.
static Parabola parabola_hat(const NoliTapePart* part, int32_t s) {
  double c = part->stage[s].time.h_v / stage_time(part, s);
  return (Parabola){-c, 4.0 * c, 1.0 - 3.0 * c};
}

// x_tilde = x_1 - h_e^2 a, with the acceleration: of ties, with which the inertia of prescribed
// components counts.
static Parabola parabola_tilde(const NoliTapePart* part, int32_t s) {
  double ratio = part->stage[s].time.h_e / stage_time(part, s), c = ratio * ratio;
  return (Parabola){-4.0 * c, 8.0 * c, 1.0 - 4.0 * c};
}

// The velocity at the start of the part.
static Parabola parabola_velocity(const NoliTapePart* part) {
  double t = stage_time(part, 0);
  return (Parabola){-3.0 / t, 4.0 / t, -1.0 / t};
}

// From derivatives by a vector whose prescribed components follow the parabola of a stage, the
// targets of which are set: those by these components become derivatives by what they follow from,
// and 0. Forward: sets these components.
static void parabola_adjoint(NoliChains* self, int32_t index, const NoliTapePart* part, int32_t s,
                             Parabola of, double* vector) {
  double* held = self->target;
  const NoliMotionStart start = chains_start_of(self, index);
  if (part->rule->order != 2) {
    return;
  }
  for (int64_t j = 0; j < chains_size_of(self); j++) {
    bool prescribed = noli_tape_prescribes(&part->stage[s], j);
    held[j] = prescribed ? vector[j] : 0.0;
    vector[j] = prescribed ? 0.0 : vector[j];
  }
  noli_motion_links_adjoint(&self->targets, part, NOLI_TARGET_END, of.end, held,
                            &self->inputs[index], &start);
  noli_motion_links_adjoint(&self->targets, part, NOLI_TARGET_MIDDLE, of.middle, held,
                            &self->inputs[index], &start);
  chains_add(self, of.start, held, start.x);
}

static void parabola_tangent(NoliChains* self, int32_t index, const NoliTapePart* part, int32_t s,
                             Parabola of, double* vector) {
  const NoliTapeStage* stage = &part->stage[s];
  const NoliMotionStart start = chains_start_of(self, index);
  if (part->rule->order != 2) {
    return;
  }
  for (int64_t j = 0; j < chains_size_of(self); j++) {
    vector[j] = noli_tape_prescribes(stage, j) ? of.start * start.x[j] : vector[j];
  }
  noli_motion_links_tangent(&self->targets, part, NOLI_TARGET_END, stage, of.end, &start,
                            &self->inputs[index], vector);
  noli_motion_links_tangent(&self->targets, part, NOLI_TARGET_MIDDLE, stage, of.middle, &start,
                            &self->inputs[index], vector);
}

static bool has_ties(const NoliChains* self) {
  return self->sim->model->problem.followers.n_tied > 0;
}

// ---- pressures ----------------------------------------------------------------------------------

// The origin of the potential of a pressure is the mean of the nodes of its faces, as many times as
// faces have them: from derivatives by origins to those by positions, or forward from changes of
// these.
static void fold_origins(const NoliChains* self, bool back, double* begin) {
  for (int32_t f = 0; f < self->sim->model->n_force; f++) {
    const NoliForce* force = &self->sim->model->force[f];
    const NoliCurvedFaces* curved = &force->curved;
    double* origin = begin + chains_size_of(self) + 3 * (int64_t)f;
    const int32_t* node = curved->n > 0 ? curved->node : force->faces.tri;
    int64_t n = 0, n_all = curved->n > 0 ? (int64_t)curved->n * curved->n_node
                                         : 3 * (int64_t)force->faces.n;
    for (int64_t i = 0; i < n_all; i++) {
      n += node[i] != NOLI_NULL_INDEX ? 1 : 0;
    }
    for (int64_t i = 0; i < n_all && force->kind == NOLI_FORCE_PRESSURE; i++) {
      if (node[i] == NOLI_NULL_INDEX) {
        continue;
      }
      double* corner = begin + 3 * (int64_t)node[i];
      for (int k = 0; k < 3; k++) {
        *(back ? &corner[k] : &origin[k]) += (back ? origin[k] : corner[k]) / (double)n;
      }
    }
  }
}

// ---- solves -------------------------------------------------------------------------------------

// The inputs of a chain, with those of one solve.
static NoliInputs with_own(const NoliChains* self, int32_t chain) {
  NoliInputs inputs = self->inputs[chain];
  inputs.value[NOLI_INPUT_PREDICTED] = self->own.value[NOLI_INPUT_PREDICTED];
  inputs.value[NOLI_INPUT_REFERENCE] = self->own.value[NOLI_INPUT_REFERENCE];
  inputs.value[NOLI_INPUT_LAGGED] = self->own.value[NOLI_INPUT_LAGGED];
  inputs.value[NOLI_INPUT_DAMPED] = self->own.value[NOLI_INPUT_DAMPED];
  inputs.value[NOLI_INPUT_BEGIN] = self->own.value[NOLI_INPUT_BEGIN];
  inputs.value[NOLI_INPUT_HISTORY] = self->own.value[NOLI_INPUT_HISTORY];
  inputs.value[NOLI_INPUT_SLIP] = self->own.value[NOLI_INPUT_SLIP];
  return inputs;
}

// The solves of a stage in reverse: from derivatives by its end to those by x_tilde and x_hat.
static NoliStatus solves_adjoint(NoliChains* self, int32_t chain, const NoliTapePart* part,
                                 int32_t s, double* b) {
  NoliStatus status = NOLI_OK;
  const NoliTapeStage* stage = &part->stage[s];
  NoliInputs to = with_own(self, chain);
  const NoliMotionStart start = chains_start_of(self, chain);

  NOLI_TRY(noli_motion_links_set(&self->targets, part, stage));
  chains_clear(self, self->own.value[NOLI_INPUT_PREDICTED]);
  chains_clear(self, self->own.value[NOLI_INPUT_REFERENCE]);

  for (int64_t k = stage->solve.count - 1; k >= 0; k--) {
    bool ends = s == part->n_stages - 1 && k == stage->solve.count - 1;
    chains_clear(self, self->own.value[NOLI_INPUT_LAGGED]);
    chains_add(self, ends ? 1.0 : 0.0, self->slid, self->own.value[NOLI_INPUT_LAGGED]);
    chains_clear(self, self->target);
    NOLI_TRY(noli_sensitivity_set(self->sensitivity, part, s, k));
    NOLI_TRY(
        noli_sensitivity_adjoint(self->sensitivity, b, &to, self->target, &self->error[chain]));
    noli_chains_act_on_nodes(self, chain, noli_tape_lagged(part, s, k),
                             self->own.value[NOLI_INPUT_LAGGED]);
    copy(self, self->own.value[NOLI_INPUT_LAGGED], b);
    noli_motion_links_adjoint(&self->targets, part, NOLI_TARGET_END, 1.0, self->target,
                              &self->inputs[chain], &start);
  }

  double* hat = self->own.value[NOLI_INPUT_REFERENCE];
  chains_add(self, s == part->n_stages - 1 ? 1.0 : 0.0, self->end_hat, hat);
  noli_chains_act_on_nodes(self, chain, stage->time.x_tilde, self->own.value[NOLI_INPUT_PREDICTED]);
  noli_chains_act_on_nodes(self, chain, stage->time.x_hat, hat);
done:
  return status;
}

// The solves of a stage forward; `x` holds the change of its start, then that of its end.
static NoliStatus solves_tangent(NoliChains* self, int32_t chain, const NoliTapePart* part,
                                 int32_t s, double* x) {
  NoliStatus status = NOLI_OK;
  const NoliTapeStage* stage = &part->stage[s];
  NoliInputs change = with_own(self, chain);
  const NoliMotionStart start = chains_start_of(self, chain);
  for (int64_t k = 0; k < stage->solve.count; k++) {
    copy(self, x, self->own.value[NOLI_INPUT_LAGGED]);
    NOLI_TRY(noli_sensitivity_set(self->sensitivity, part, s, k));
    for (int64_t j = 0; j < chains_size_of(self); j++) {
      x[j] = noli_tape_prescribes(stage, j) ? 0.0 : self->chain[chain].x[j];
    }
    noli_motion_links_tangent(&self->targets, part, NOLI_TARGET_END, stage, 1.0, &start,
                              &self->inputs[chain], x);
    NOLI_TRY(noli_sensitivity_tangent(self->sensitivity, &change, x));
    noli_chains_follow(self, chain, stage->solve.data[k], x);
  }
done:
  return status;
}

static int64_t history_size(const NoliChains* self) {
  return noli_input_count(self->sim, NOLI_INPUT_HISTORY, 0);
}

// ---- forces that steps start from ---------------------------------------------------------------

// The rule of a stage: y_hat = c_n y_n + before y_{n-1} + first y_1 + slope h (v_n, f_n / m).
static double weight_of_start(const NoliStageRule* rule) {
  return 1.0 - rule->before - rule->first;
}

// Products of the mass matrix with accelerations, and of its inverse with forces: the matrix is
// consistent for elements of higher order, else diagonal. Vertices of surfaces have no mass.
static void chains_multiply_mass(const NoliChains* self, const double* z, double* y) {
  const NoliProblem* problem = &self->sim->model->problem;
  for (int64_t j = 0; j < chains_size_of(self); j++) {
    y[j] = j / 3 < problem->n_node ? problem->inertia.mass[j / 3] * z[j] : 0.0;
  }
  noli_problem_multiply_mass(problem, z, self->sim->own_stage->n_threads, y);
}

// At the start of a part: with ties, nodes carry the mass tied to them.
static NoliStatus divide_by_mass(const NoliChains* self, const NoliTapePart* part, const double* y,
                                 double* z) {
  const NoliProblem* problem = &self->sim->model->problem;
  if (has_ties(self)) {
    copy(self, y, z);
    return noli_tied_mass_divide(self->sim->own_stage, part->stage[0].axes, z);
  }
  for (int64_t j = 0; j < chains_size_of(self); j++) {
    z[j] = y[j] / problem->inertia.mass[j / 3];
  }
  noli_problem_divide_by_mass(problem, y, self->sim->own_stage->n_threads, z);
  return NOLI_OK;
}

// M z by masses: from derivatives b by it, times a factor, to those by inputs; forward adds its
// change.
static NoliStatus masses_adjoint(NoliChains* self, int32_t index, const double* z, double factor,
                                 const double* b) {
  NoliInputs* inputs = &self->inputs[index];
  double* mass = inputs->value[NOLI_INPUT_MASS];
  for (int64_t j = 0; mass != NULL && j < chains_size_of(self); j++) {
    mass[j / 3] += factor * b[j] * z[j];
  }
  return noli_sensitivity_masses_adjoint(self->sensitivity, z, factor, b, inputs);
}

static NoliStatus masses_tangent(NoliChains* self, int32_t index, const double* z, double* force) {
  const NoliInputs* inputs = &self->inputs[index];
  const double* mass = inputs->value[NOLI_INPUT_MASS];
  for (int64_t j = 0; mass != NULL && j < chains_size_of(self); j++) {
    force[j] += mass[j / 3] * z[j];
  }
  return noli_sensitivity_masses_tangent(self->sensitivity, z, inputs, force);
}

// The force that the end of a part implies, without that of damping: f = M (x - x_tilde) / h_e^2 +
// C v, 0 where nodes are prescribed.
static bool keeps_force(const NoliChains* self) {
  return noli_integrator_needs_force(self->sim->model->integrator);
}

static const double* end_acceleration(NoliChains* self, const NoliTapePart* part) {
  const NoliTapeStage* stage = &part->stage[part->n_stages - 1];
  const double* solution = stage->solve.data[stage->solve.count - 1];
  double h_e_sqr = stage->time.h_e * stage->time.h_e;
  for (int64_t j = 0; j < chains_size_of(self); j++) {
    self->acceleration[j] = (solution[j] - stage->time.x_tilde[j]) / h_e_sqr;
  }
  return self->acceleration;
}

static NoliStatus set_end(NoliChains* self, const NoliTapePart* part) {
  int32_t last = part->n_stages - 1;
  return noli_sensitivity_set(self->sensitivity, part, last, part->stage[last].solve.count - 1);
}

// To derivatives by x; those by x_tilde become chain->force, and those by x_hat of damping `hat`,
// all of nodes.
static NoliStatus end_force_adjoint(NoliChains* self, int32_t index, const NoliTapePart* part,
                                    double* x, double* hat) {
  NoliStatus status = NOLI_OK;
  NoliChain* chain = &self->chain[index];
  const NoliTapeStage* stage = &part->stage[part->n_stages - 1];
  double h_e_sqr = stage->time.h_e * stage->time.h_e, *b = self->target;
  if (!keeps_force(self)) {
    chains_clear(self, chain->force);
    return NOLI_OK;
  }
  for (int64_t j = 0; j < chains_size_of(self); j++) {
    b[j] = noli_tape_prescribes(stage, j) ? 0.0 : chain->force[j];
  }
  NOLI_TRY(masses_adjoint(self, index, end_acceleration(self, part), 1.0, b));
  chains_multiply_mass(self, b, chain->force);
  for (int64_t j = 0; j < chains_size_of(self); j++) {
    chain->force[j] /= -h_e_sqr;
  }
  chains_add(self, -1.0, chain->force, x);
  if (noli_problem_is_damped(&self->sim->model->problem)) {
    NoliInputs to = with_own(self, index);
    NOLI_TRY(set_end(self, part));
    chains_clear(self, self->moved);
    NOLI_TRY(noli_sensitivity_damping_adjoint(self->sensitivity, b, &to, self->moved));
    chains_add(self, 1.0, self->moved, x);
    chains_add(self, -1.0, self->moved, hat);
  }

  noli_chains_act_on_nodes(self, index, stage->solve.data[stage->solve.count - 1], x);
  noli_chains_act_on_nodes(self, index, stage->time.x_tilde, chain->force);
done:
  return status;
}

static NoliStatus end_force_tangent(NoliChains* self, int32_t index, const NoliTapePart* part,
                                    const double* x, const double* tilde, const double* hat) {
  NoliStatus status = NOLI_OK;
  NoliChain* chain = &self->chain[index];
  const NoliTapeStage* stage = &part->stage[part->n_stages - 1];
  double h_e_sqr = stage->time.h_e * stage->time.h_e, *change = self->target;
  if (!keeps_force(self)) {
    return NOLI_OK;
  }
  copy(self, x, change);
  chains_add(self, -1.0, tilde, change);
  chains_multiply_mass(self, change, chain->force);
  for (int64_t j = 0; j < chains_size_of(self); j++) {
    chain->force[j] /= h_e_sqr;
  }
  NOLI_TRY(masses_tangent(self, index, end_acceleration(self, part), chain->force));
  if (noli_problem_is_damped(&self->sim->model->problem)) {
    NoliInputs inputs = with_own(self, index);
    copy(self, x, change);
    chains_add(self, -1.0, hat, change);
    NOLI_TRY(set_end(self, part));
    NOLI_TRY(noli_sensitivity_damping_tangent(self->sensitivity, &inputs, change, chain->force));
  }

  for (int64_t j = 0; j < chains_size_of(self); j++) {
    chain->force[j] = noli_tape_prescribes(stage, j) ? 0.0 : chain->force[j];
  }
done:
  return status;
}

static const double* start_acceleration(NoliChains* self, const NoliTapePart* part) {
  for (int64_t j = 0; j < chains_size_of(self); j++) {
    self->acceleration[j] = part->force[j] / self->sim->model->problem.inertia.mass[j / 3];
  }
  return self->acceleration;
}

// With ties the accelerations A = W a of all vertices solve W^T (f - M A) = 0 (solve/tied_mass.h),
// where the weights W may change, too: then forces f - M A on tied nodes act on others, and tied
// nodes accelerate otherwise. Sets f - M A on tied nodes, where f is that of a part before; that of
// the state has acted on nodes with its own derivatives.
static NoliStatus rest_of_force(NoliChains* self, const NoliTapePart* part, const double* A,
                                double* rest) {
  NoliStatus status = NOLI_OK;
  const NoliModel* model = self->sim->model;
  chains_multiply_mass(self, A, rest);
  for (int64_t j = 0; j < chains_size_of(self); j++) {
    rest[j] = (part->past_known ? part->start.force[j] : 0.0) - rest[j];
  }
  if (part->past_known && noli_problem_is_damped(&model->problem)) {
    NOLI_TRY(noli_stage_add_damping_force(self->sim->own_stage, part->velocity, rest));
  }
  noli_tie_derivatives_gather(noli_sensitivity_ties(self->sensitivity), &model->problem.followers,
                              rest);
done:
  return status;
}

// From derivatives Z by f, with zeros at prescribed components, to those by weights.
static NoliStatus shares_adjoint(NoliChains* self, int32_t index, const NoliTapePart* part,
                                 const double* A, const double* Z) {
  NoliStatus status = NOLI_OK;
  double *by = self->inputs[index].value[NOLI_INPUT_TIE], *minus = self->target;
  if (by == NULL) {
    return NOLI_OK;
  }
  NOLI_TRY(rest_of_force(self, part, A, self->moved));
  chains_clear(self, minus);
  chains_add(self, -1.0, Z, minus);
  noli_tie_derivatives_add_power(noli_sensitivity_ties(self->sensitivity), self->moved, minus, by);
  chains_multiply_mass(self, minus, self->moved);
  noli_chains_act_on_nodes(self, index, A, self->moved);
done:
  return status;
}

static NoliStatus shares_tangent(NoliChains* self, int32_t index, const NoliTapePart* part,
                                 const double* A, double* force) {
  NoliStatus status = NOLI_OK;
  const double* change = self->inputs[index].value[NOLI_INPUT_TIE];
  if (change == NULL) {
    return NOLI_OK;
  }
  chains_clear(self, self->moved);
  noli_chains_follow(self, index, A, self->moved);
  chains_multiply_mass(self, self->moved, self->target);
  chains_add(self, -1.0, self->target, force);
  NOLI_TRY(rest_of_force(self, part, A, self->moved));
  noli_tie_derivatives_add_forces(noli_sensitivity_ties(self->sensitivity), self->moved, change,
                                  force);
done:
  return status;
}

// The acceleration at the start of a part, M^-1 (f - C v), with the force f of the part before, or
// of the state. From derivatives by it, `self->force`, to those by the force before and by the
// state.
static NoliStatus start_force_adjoint(NoliChains* self, int32_t index, const NoliTapePart* part) {
  NoliStatus status = NOLI_OK;
  NoliChain* chain = &self->chain[index];
  bool is_damped = part->past_known && noli_problem_is_damped(&self->sim->model->problem);
  if (part->force == NULL) {
    chains_clear(self, chain->force);
    return NOLI_OK;
  }
  if (is_damped) {
    NOLI_TRY(noli_sensitivity_set_start(self->sensitivity, part));
  }
  const double* A = start_acceleration(self, part);
  NOLI_TRY(divide_by_mass(self, part, self->force, chain->force));
  NOLI_TRY(masses_adjoint(self, index, A, -1.0, chain->force));
  NOLI_TRY(shares_adjoint(self, index, part, A, chain->force));
  NoliInputs to = with_own(self, index);
  double *v = self->start_v, *moved = self->moved;
  if (!part->past_known) {
    NOLI_TRY(
        noli_sensitivity_force_adjoint(self->sensitivity, part, chain->force, &to, chain->x, v));
    chains_clear(self, chain->force);
  } else if (is_damped) {
    chains_clear(self, moved);
    chains_clear(self, self->target);
    chains_add(self, -1.0, chain->force, self->target);
    NOLI_TRY(noli_sensitivity_damping_adjoint(self->sensitivity, self->target, &to, moved));
    chains_add(self, part->stage[0].time.h_v, moved, v);
  }

  noli_chains_act_on_nodes(self, index, part->velocity, v);
  for (int64_t i = 0; i < history_size(self); i++) {
    chain->history[i] += to.value[NOLI_INPUT_HISTORY][i]; // which nothing has relaxed
  }
done:
  return status;
}

static NoliStatus start_force_tangent(NoliChains* self, int32_t index, const NoliTapePart* part) {
  NoliStatus status = NOLI_OK;
  NoliChain* chain = &self->chain[index];
  double *v = self->start_v, *change = self->moved;
  NoliInputs inputs = with_own(self, index);
  copy(self, chain->force, self->force);
  if (part->force == NULL) {
    return NOLI_OK;
  }
  noli_chains_follow(self, index, part->velocity, v);
  for (int64_t i = 0; i < history_size(self); i++) {
    inputs.value[NOLI_INPUT_HISTORY][i] = chain->history[i];
  }
  if (!part->past_known) {
    NOLI_TRY(
        noli_sensitivity_force_tangent(self->sensitivity, part, &inputs, chain->x, v, self->force));
  } else if (noli_problem_is_damped(&self->sim->model->problem)) {
    NOLI_TRY(noli_sensitivity_set_start(self->sensitivity, part));
    chains_clear(self, self->target);
    chains_clear(self, change);
    chains_add(self, part->stage[0].time.h_v, v, self->target);
    NOLI_TRY(noli_sensitivity_damping_tangent(self->sensitivity, &inputs, self->target, change));
    chains_add(self, -1.0, change, self->force);
  }

  const double* A = start_acceleration(self, part);
  chains_clear(self, change);
  NOLI_TRY(masses_tangent(self, index, A, change));
  chains_add(self, -1.0, change, self->force);
  NOLI_TRY(shares_tangent(self, index, part, A, self->force));
  copy(self, self->force, change);
  NOLI_TRY(divide_by_mass(self, part, change, self->force));
done:
  return status;
}

// Adjoint and tangent of the contribution of a slope of the integrator to y_hat: h v and h a.
static void derivative_adjoint(const NoliChains* self, const NoliTapePart* part, double slope,
                               const double* hat) {
  chains_add(self, slope * part->h, hat, self->start_v);
  chains_add(self, slope * part->h, self->hat_v, self->force);
}

static void derivative_tangent(const NoliChains* self, const NoliTapePart* part, double slope,
                               double* hat) {
  chains_add(self, slope * part->h, self->start_v, hat);
  chains_add(self, slope * part->h, self->force, self->hat_v);
}

// ---- histories ----------------------------------------------------------------------------------

// The inputs and outputs of the links of histories, with positions `x`.
static NoliHistoryDerivatives histories_of(const NoliChains* self, int32_t index, double* x) {
  const NoliInputs* inputs = &self->inputs[index];
  NoliHistoryDerivatives d = {.x = x,
                              .rest = inputs->value[NOLI_INPUT_REST],
                              .seen = self->own.value[NOLI_INPUT_HISTORY],
                              .state = self->chain[index].history};
  for (int k = 0; k < NOLI_NUMBER_INPUTS; k++) {
    d.number[k] = inputs->value[noli_number_inputs[k].input];
  }
  return d;
}

// From derivatives by the histories before or after a part to those by positions `x`, and by the
// histories that they follow from. Where the part ends, those by the histories that its last stage
// sees are set; where it begins, those by the histories before it grow.
static void end_history_adjoint(NoliChains* self, int32_t index, const NoliTapePart* part,
                                double* x) {
  NoliHistoryDerivatives by = histories_of(self, index, self->moved);
  size_t bytes = (size_t)history_size(self) * sizeof(double);
  if (bytes == 0) {
    return;
  }
  chains_clear(self, self->moved);
  memset(by.seen, 0, bytes);
  noli_history_links_end_adjoint(self->sim, part, &by);
  memset(by.state, 0, bytes);
  const NoliTapeStage* last = &part->stage[part->n_stages - 1];
  noli_chains_act_on_nodes(self, index, last->solve.data[last->solve.count - 1], self->moved);
  chains_add(self, 1.0, self->moved, x);
}

static void begin_history_adjoint(NoliChains* self, int32_t index, const NoliTapePart* part,
                                  int32_t s) {
  NoliHistoryDerivatives by = histories_of(self, index, self->moved);
  if (history_size(self) == 0) {
    return;
  }
  chains_clear(self, self->moved);
  noli_history_links_begin_adjoint(self->sim, part, s, &by);
  memset(by.seen, 0, (size_t)history_size(self) * sizeof(double));
  noli_chains_act_on_nodes(self, index, part->start.x, self->moved);
  chains_add(self, 1.0, self->moved, self->chain[index].x);
}

// ---- slips of contacts --------------------------------------------------------------------------

static bool chains_stick(const NoliChains* self) {
  return self->sim->model->problem.friction.sticks;
}

// Makes `slips` those of n contacts, zero.
static NoliStatus clear_slips(const NoliChains* self, int64_t n, NoliSlips* slips) {
  NoliStatus status = NOLI_OK;
  NOLI_TRY(noli_array_reserve(self->context, slips, NOLI_SLIP_NUMBERS * n + 1)); // never NULL
  slips->count = NOLI_SLIP_NUMBERS * n;
  memset(slips->data, 0, ((size_t)slips->count + 1) * sizeof *slips->data);
done:
  return status;
}

// The slips of a chain, of n contacts; zero where no part has had any, as at the end of the run.
static NoliStatus require_slips(const NoliChains* self, int64_t n, NoliSlips* slips) {
  NoliStatus status = NOLI_OK;
  if (slips->count == 0) {
    return clear_slips(self, n, slips);
  }
  NOLI_CHECK(self->context, slips->count == NOLI_SLIP_NUMBERS * n, NOLI_ERROR_INTERNAL,
             "derivatives: %lld contacts stick at the end of a step, and %lld when it is repeated",
             (long long)(slips->count / NOLI_SLIP_NUMBERS), (long long)n);
done:
  return status;
}

static void exchange_slips(NoliChains* self, NoliChain* chain) {
  NoliSlips slip = chain->slip;
  chain->slip = self->slip;
  self->slip = slip;
}

// From derivatives by the slips after a part to those by the end of its last stage, by where it
// lagged friction, and by the slips before, which its solves add to.
static NoliStatus end_slips_adjoint(NoliChains* self, int32_t index, const NoliTapePart* part,
                                    double* x) {
  NoliStatus status = NOLI_OK;
  NoliChain* chain = &self->chain[index];
  const NoliTapeStage* last = &part->stage[part->n_stages - 1];
  int64_t solve = last->solve.count - 1;
  chains_clear(self, self->slid);
  chains_clear(self, self->end_hat);
  if (!chains_stick(self)) {
    return NOLI_OK;
  }
  NOLI_TRY(clear_slips(self, part->start.sizes.n_slips, &self->slip));
  self->own.value[NOLI_INPUT_SLIP] = self->slip.data;
  NOLI_TRY(set_end(self, part));
  NOLI_TRY(require_slips(self, noli_sensitivity_slip_count(self->sensitivity), &chain->slip));
  NoliInputs to = with_own(self, index);
  to.value[NOLI_INPUT_LAGGED] = self->slid;
  to.value[NOLI_INPUT_REFERENCE] = self->end_hat;
  to.value[NOLI_INPUT_END] = self->moved;
  chains_clear(self, self->moved);
  noli_sensitivity_slips_adjoint(self->sensitivity, chain->slip.data, &to);
  noli_chains_act_on_nodes(self, index, last->solve.data[solve], self->moved);
  chains_add(self, 1.0, self->moved, x);
done:
  return status;
}

static NoliStatus end_slips_tangent(NoliChains* self, int32_t index, const NoliTapePart* part) {
  NoliStatus status = NOLI_OK;
  NoliChain* chain = &self->chain[index];
  if (!chains_stick(self)) {
    return NOLI_OK;
  }
  NoliInputs change = with_own(self, index);
  change.value[NOLI_INPUT_END] = self->end_x[part->n_stages - 1];
  NOLI_TRY(set_end(self, part));
  NOLI_TRY(clear_slips(self, noli_sensitivity_slip_count(self->sensitivity), &self->slip));
  noli_sensitivity_slips_tangent(self->sensitivity, &change, self->slip.data);
  exchange_slips(self, chain);
done:
  return status;
}

// ---- parts --------------------------------------------------------------------------------------

// v = (x - x_hat) / h_v of a stage.
static double by_velocity(const NoliTapeStage* stage) {
  return stage->time.inertia ? 1.0 / stage->time.h_v : 0.0;
}

// The factor e of v_hat in the prediction x_tilde = x_hat + e v_hat.
static double ahead(const NoliTapeStage* stage) {
  return stage->time.inertia ? stage->time.h_v : 0.0;
}

// The derivatives by y_hat, `hat` and hat_v, to those by what it is made of.
static void hat_adjoint(NoliChains* self, NoliChain* chain, const NoliTapePart* part, int32_t s,
                        const double* hat) {
  const NoliStageRule* rule = &part->rule->stage[s];
  chains_add(self, weight_of_start(rule), hat, chain->x);
  chains_add(self, weight_of_start(rule), self->hat_v, self->start_v);
  chains_add(self, rule->before, hat, chain->x_before);
  chains_add(self, rule->before, self->hat_v, chain->v_before);
  if (rule->first != 0.0) {
    chains_add(self, rule->first, hat, self->end_x[0]);
    chains_add(self, rule->first, self->hat_v, self->end_v[0]);
  }
  derivative_adjoint(self, part, rule->slope, hat);
}

static void hat_tangent(NoliChains* self, const NoliChain* chain, const NoliTapePart* part,
                        int32_t s, double* hat) {
  const NoliStageRule* rule = &part->rule->stage[s];
  chains_clear(self, hat);
  chains_clear(self, self->hat_v);
  chains_add(self, weight_of_start(rule), chain->x, hat);
  chains_add(self, weight_of_start(rule), self->start_v, self->hat_v);
  chains_add(self, rule->before, chain->x_before, hat);
  chains_add(self, rule->before, chain->v_before, self->hat_v);
  if (rule->first != 0.0) {
    chains_add(self, rule->first, self->end_x[0], hat);
    chains_add(self, rule->first, self->end_v[0], self->hat_v);
  }
  derivative_tangent(self, part, rule->slope, hat);
}

// From derivatives by the end of a stage to those by its start and by the start of the part.
static NoliStatus stage_adjoint(NoliChains* self, int32_t index, const NoliTapePart* part,
                                int32_t s) {
  NoliStatus status = NOLI_OK;
  NoliChain* chain = &self->chain[index];
  const NoliTapeStage* stage = &part->stage[s];
  double *lagged = self->end_x[s], *tilde = self->own.value[NOLI_INPUT_PREDICTED];
  double* hat = self->own.value[NOLI_INPUT_REFERENCE];
  bool last = s == part->n_stages - 1;

  // v, then the solves
  chains_add(self, by_velocity(stage), self->end_v[s], self->end_x[s]);
  NOLI_TRY(solves_adjoint(self, index, part, s, self->end_x[s]));
  begin_history_adjoint(self, index, part, s);
  chains_add(self, -by_velocity(stage), self->end_v[s], hat);
  parabola_adjoint(self, index, part, s, parabola_hat(part, s), hat);

  // x_tilde
  chains_add(self, last ? 1.0 : 0.0, chain->force, tilde);
  if (has_ties(self)) {
    parabola_adjoint(self, index, part, s, parabola_tilde(part, s), tilde);
  }
  chains_add(self, 1.0, tilde, hat);
  chains_clear(self, self->hat_v);
  chains_add(self, ahead(stage), tilde, self->hat_v);

  // y_hat
  hat_adjoint(self, chain, part, s, hat);
  chains_add(self, 1.0, lagged, s > 0 ? self->end_x[s - 1] : chain->x);
done:
  return status;
}

// From the change of the start of a stage and of the part to that of its end.
static NoliStatus stage_tangent(NoliChains* self, int32_t index, const NoliTapePart* part,
                                int32_t s) {
  NoliStatus status = NOLI_OK;
  NoliChain* chain = &self->chain[index];
  const NoliTapeStage* stage = &part->stage[s];
  double *hat = self->own.value[NOLI_INPUT_REFERENCE],
         *tilde = self->own.value[NOLI_INPUT_PREDICTED];

  // y_hat, x_tilde
  hat_tangent(self, chain, part, s, hat);
  copy(self, hat, tilde);
  chains_add(self, ahead(stage), self->hat_v, tilde);
  if (s > 0) {
    NOLI_TRY(noli_motion_links_set(&self->targets, part, stage));
  }
  parabola_tangent(self, index, part, s, parabola_hat(part, s), hat);
  noli_chains_follow(self, index, stage->time.x_hat, hat);
  if (has_ties(self)) {
    parabola_tangent(self, index, part, s, parabola_tilde(part, s), tilde);
  }
  noli_chains_follow(self, index, stage->time.x_tilde, tilde);

  // x, v
  NoliHistoryDerivatives changes = histories_of(self, index, chain->x);
  noli_history_links_begin_tangent(self->sim, part, s, &changes);
  copy(self, s > 0 ? self->end_x[s - 1] : chain->x, self->end_x[s]);
  NOLI_TRY(solves_tangent(self, index, part, s, self->end_x[s]));
  chains_clear(self, self->end_v[s]);
  chains_add(self, by_velocity(stage), self->end_x[s], self->end_v[s]);
  chains_add(self, -by_velocity(stage), hat, self->end_v[s]);
done:
  return status;
}

// Where the stiffness of damping was taken and where pressures began, both before the solves.
static void begin_adjoint(NoliChains* self, int32_t index, const NoliTapePart* part) {
  NoliChain* chain = &self->chain[index];
  double *damped = self->own.value[NOLI_INPUT_DAMPED], *begin = self->own.value[NOLI_INPUT_BEGIN];
  copy(self, part->start.x, self->moved);
  chains_add(self, part->damping_ahead, part->start.v, self->moved);
  noli_chains_act_on_nodes(self, index, self->moved, damped);
  chains_add(self, 1.0, damped, chain->x);
  chains_add(self, part->damping_ahead, damped, chain->v);
  fold_origins(self, true, begin);
  noli_chains_act_on_nodes(self, index, part->start.x, begin);
  chains_add(self, 1.0, begin, chain->x);
}

static void begin_tangent(NoliChains* self, int32_t index, const NoliTapePart* part) {
  const NoliChain* chain = &self->chain[index];
  double *damped = self->own.value[NOLI_INPUT_DAMPED], *begin = self->own.value[NOLI_INPUT_BEGIN];
  copy(self, chain->x, damped);
  chains_add(self, part->damping_ahead, chain->v, damped);
  memset(begin + chains_size_of(self), 0, 3 * sizeof(double) * (size_t)self->sim->model->n_force);
  copy(self, chain->x, begin);
  fold_origins(self, false, begin);
}

// The derivatives by the state after a part become those by the end of its last stage.
static void take_end(NoliChains* self, NoliChain* chain, const NoliTapePart* part) {
  int32_t last = part->n_stages - 1;
  for (int32_t s = 0; s <= last; s++) {
    chains_clear(self, self->end_x[s]);
    chains_clear(self, self->end_v[s]);
  }
  copy(self, chain->x, self->end_x[last]);
  copy(self, chain->v, self->end_v[last]);
  copy(self, chain->x_before, chain->x);
  copy(self, chain->v_before, chain->v);
  chains_clear(self, self->force);
  chains_clear(self, self->start_v);
  chains_clear(self, self->own.value[NOLI_INPUT_DAMPED]);
  memset(self->own.value[NOLI_INPUT_BEGIN], 0,
         sizeof(double) * (size_t)noli_input_count(self->sim, NOLI_INPUT_BEGIN, 0));
}

NoliStatus noli_chains_adjoint(NoliChains* self, int32_t index, const NoliTapePart* part) {
  NoliStatus status = NOLI_OK;
  NoliChain* chain = &self->chain[index];
  double* end = self->end_x[part->n_stages - 1];
  take_end(self, chain, part);
  end_history_adjoint(self, index, part, end);
  NOLI_TRY(end_slips_adjoint(self, index, part, end));
  NOLI_TRY(end_force_adjoint(self, index, part, end, self->end_hat));
  chains_clear(self, chain->x_before);
  chains_clear(self, chain->v_before);
  for (int32_t s = part->n_stages - 1; s >= 0; s--) {
    NOLI_TRY(stage_adjoint(self, index, part, s));
  }
  NOLI_TRY(start_force_adjoint(self, index, part));
  parabola_adjoint(self, index, part, 0, parabola_velocity(part), self->start_v);
  chains_add(self, 1.0, self->start_v, chain->v);
  begin_adjoint(self, index, part);
  exchange_slips(self, chain);
done:
  return status;
}

NoliStatus noli_chains_tangent(NoliChains* self, int32_t index, const NoliTapePart* part) {
  NoliStatus status = NOLI_OK;
  NoliChain* chain = &self->chain[index];
  int32_t last = part->n_stages - 1;
  NOLI_TRY(require_slips(self, part->start.sizes.n_slips, &chain->slip));
  self->own.value[NOLI_INPUT_SLIP] = chain->slip.data;
  begin_tangent(self, index, part);
  NOLI_TRY(noli_motion_links_set(&self->targets, part, &part->stage[0]));
  copy(self, chain->v, self->start_v);
  parabola_tangent(self, index, part, 0, parabola_velocity(part), self->start_v);
  NOLI_TRY(start_force_tangent(self, index, part));
  for (int32_t s = 0; s <= last; s++) {
    NOLI_TRY(stage_tangent(self, index, part, s));
  }
  NOLI_TRY(end_force_tangent(self, index, part, self->end_x[last],
                             self->own.value[NOLI_INPUT_PREDICTED],
                             self->own.value[NOLI_INPUT_REFERENCE]));
  NoliHistoryDerivatives changes = histories_of(self, index, self->end_x[last]);
  noli_history_links_end_tangent(self->sim, part, &changes);
  NOLI_TRY(end_slips_tangent(self, index, part));
  copy(self, chain->x, chain->x_before);
  copy(self, chain->v, chain->v_before);
  copy(self, self->end_x[last], chain->x);
  copy(self, self->end_v[last], chain->v);
done:
  return status;
}

// ---- making -------------------------------------------------------------------------------------

static NoliStatus allocate_chain(const NoliChains* self, NoliChain* chain) {
  NoliStatus status = NOLI_OK;
  NOLI_NEW_ZERO(self->context, chain->x, chains_size_of(self));
  NOLI_NEW_ZERO(self->context, chain->v, chains_size_of(self));
  NOLI_NEW_ZERO(self->context, chain->x_before, chains_size_of(self));
  NOLI_NEW_ZERO(self->context, chain->v_before, chains_size_of(self));
  NOLI_NEW_ZERO(self->context, chain->force, chains_size_of(self));
  NOLI_NEW_ZERO(self->context, chain->history, history_size(self));
done:
  return status;
}

NoliStatus noli_chains_create(NoliSim* sim, const NoliParameters* parameters, int32_t n,
                              NoliChains* self) {
  NoliStatus status = NOLI_OK;
  unsigned wanted = noli_parameters_wanted(parameters);
  int32_t n_class = noli_parameters_class_count(parameters);

  *self = (NoliChains){.context = sim->context, .sim = sim, .n = n};
  double** vectors[] = {&self->force,        &self->target,  &self->hat_v,   &self->moved,
                        &self->acceleration, &self->start_v, &self->end_hat, &self->slid};
  for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) {
    NOLI_NEW_ZERO(sim->context, *vectors[i], chains_size_of(self));
  }
  for (int32_t s = 0; s < NOLI_MAX_STAGES; s++) {
    NOLI_NEW_ZERO(sim->context, self->end_x[s], chains_size_of(self));
    NOLI_NEW_ZERO(sim->context, self->end_v[s], chains_size_of(self));
  }

  NOLI_TRY(noli_motion_links_create(sim, wanted, &self->targets));
  NOLI_NEW_ZERO(sim->context, self->error, n);
  NOLI_NEW_ZERO(sim->context, self->chain, n);
  NOLI_NEW_ZERO(sim->context, self->inputs, n);
  unsigned own = 1u << NOLI_INPUT_PREDICTED | 1u << NOLI_INPUT_REFERENCE | 1u << NOLI_INPUT_LAGGED |
                 1u << NOLI_INPUT_DAMPED | 1u << NOLI_INPUT_BEGIN | 1u << NOLI_INPUT_HISTORY;
  NOLI_TRY(noli_inputs_create(sim, own, 0, &self->own));

  for (int32_t i = 0; i < n; i++) {
    NOLI_TRY(allocate_chain(self, &self->chain[i]));
    NOLI_TRY(noli_inputs_create(sim, wanted, n_class, &self->inputs[i]));
  }

  NOLI_TRY(noli_sensitivity_create(sim, wanted, noli_parameters_classes(parameters),
                                   &self->sensitivity));
  NOLI_TRY(noli_sensitivity_follow_places(self->sensitivity, parameters));
done:
  return status;
}

void noli_chains_free(NoliChains* self) {
  NoliContext* context = self->context;
  double* vectors[] = {self->force,   self->target,       self->hat_v,   self->moved, self->error,
                       self->end_hat, self->acceleration, self->start_v, self->slid};
  for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) {
    noli_free(context, vectors[i]);
  }
  for (int32_t s = 0; s < NOLI_MAX_STAGES; s++) {
    noli_free(context, self->end_x[s]);
    noli_free(context, self->end_v[s]);
  }
  noli_motion_links_free(context, &self->targets);
  for (int32_t i = 0; self->chain != NULL && self->inputs != NULL && i < self->n; i++) {
    noli_free(context, self->chain[i].x);
    noli_free(context, self->chain[i].v);
    noli_free(context, self->chain[i].x_before);
    noli_free(context, self->chain[i].v_before);
    noli_free(context, self->chain[i].force);
    noli_free(context, self->chain[i].history);
    noli_array_free(context, &self->chain[i].slip);
    noli_inputs_free(context, &self->inputs[i]);
  }

  noli_array_free(context, &self->slip);
  self->own.value[NOLI_INPUT_SLIP] = NULL; // one of those that are gone
  noli_inputs_free(context, &self->own);
  noli_free(context, self->chain);
  noli_free(context, self->inputs);
  noli_sensitivity_destroy(&self->sensitivity);
}
