// Derivatives of runs: the chain of all solves, forward or in reverse. noli/derivative.h
#include "base/timer.h"
#include "base/ranks.h"
#include "sim/choices.h"
#include "sim/history_links.h"
#include "sim/motion_slopes.h"
#include "sim/parameters.h"
#include "sim/sensitivity.h"

#include <math.h>
#include <string.h>

// Tapes of the whole run are kept where they take no more than this.
#define TAPE_BYTES (512.0 * 1024 * 1024)

// Solves of a part that memory is estimated for.
enum { USUAL_SOLVES = 2 };

NoliGradientDef noli_default_gradient_def(void) {
  return (NoliGradientDef){.n_steps = 100, .mode = "adjoint"};
}

const NoliNamed noli_gradient_modes[NOLI_GRADIENT_MODES] = {
    [NOLI_GRADIENT_ADJOINT] = {"adjoint", "One run in reverse for all parameters."},
    [NOLI_GRADIENT_TANGENT] = {"tangent", "A run forward for each parameter."},
};

// Vectors of the state that a step starts from or ends with: changes of them, or derivatives.
typedef struct Chain {
  double* x; // (n_vert x 3) each
  double* v;
  double* x_before;
  double* v_before;
  double* force;   // of integrators that start from forces
  double* history; // of materials, of all blocks
} Chain;

// Where prescribed components go in a stage: at its end, and halfway for integrators of order 2.
enum { TARGET_END, TARGET_MIDDLE, TARGETS };

typedef struct Targets {
  int32_t* owner;                  // (n_vert x 3) the motion that prescribes a component, or
                                   // NOLI_NULL_INDEX: it stays
  double* goal[TARGETS];           // (n_vert x 3) m
  NoliMotionSlope* slope[TARGETS]; // (motions)
  double t0, t1[TARGETS];          // s
} Targets;

typedef struct Gradient {
  NoliContext* context;
  NoliSim* sim;
  const NoliParameters* parameters;
  const NoliObjective* objective;
  int32_t n_objectives;
  const NoliGradientDef* def;
  int64_t n_parameters;
  bool tangent;
  int64_t segment; // steps between kept states
  NoliState* kept; // (n_kept) at the starts of segments
  int32_t n_kept;
  NoliTape tape;
  NoliSensitivity* sensitivity;
  int32_t n_chains;               // objectives in reverse, parameters forward
  Chain* chain;                   // (n_chains)
  NoliInputs* inputs;             // (n_chains) all derivatives by them in reverse; changes forward
  NoliInputs own;                 // of one solve: predicted, reference, lagged positions; of a
                                  // part: where the stiffness of damping was taken
  double* end_x[NOLI_MAX_STAGES]; // (n_vert x 3) at the ends of the stages of a part
  double* end_v[NOLI_MAX_STAGES];
  Targets targets; // of one stage
  double* force;   // (n_vert x 3) at the start of a part
  double* target;  // (n_vert x 3)
  double* hat_v;   // (n_vert x 3)
  double* moved;   // (n_vert x 3) where histories change
  double* d_x;     // (n_vert x 3) of an objective
  double* d_v;
  double* d_p;   // (n_parameters)
  double* error; // (n_objectives)
  NoliGradientReport report;
  double* value;    // (n_objectives)
  double* gradient; // (n_objectives x n_parameters)
} Gradient;

static int64_t size_of(const Gradient* g) {
  return 3 * (int64_t)g->sim->model->problem.n_vert;
}

static void clear(const Gradient* g, double* x) {
  memset(x, 0, (size_t)size_of(g) * sizeof *x);
}

static void copy(const Gradient* g, const double* from, double* to) {
  memcpy(to, from, (size_t)size_of(g) * sizeof *to);
}

// y += a x
static void add(const Gradient* g, double a, const double* x, double* y) {
  for (int64_t i = 0; a != 0.0 && i < size_of(g); i++) {
    y[i] += a * x[i];
  }
}

// ---- objectives ---------------------------------------------------------------------------------

static NoliObjectivePoint point_at(const Gradient* g, int64_t step) {
  const NoliSim* sim = g->sim;
  return (NoliObjectivePoint){.step = step,
                              .n_steps = g->def->n_steps,
                              .time = *sim->state.time,
                              .x = sim->state.x,
                              .v = sim->state.v};
}

static NoliStatus add_values(Gradient* g, int64_t step) {
  NoliStatus status = NOLI_OK;
  for (int32_t i = 0; i < g->n_objectives; i++) {
    NoliObjectivePoint at = point_at(g, step);
    NOLI_TRY(g->objective[i].evaluate(g->objective[i].user, g->sim, &at));
    g->value[i] += at.value;
  }
done:
  return status;
}

// Derivatives of objective i at one time, at nodes.
static NoliStatus find_slopes(Gradient* g, int32_t i, int64_t step) {
  NoliStatus status = NOLI_OK;
  NoliObjectivePoint at = point_at(g, step);
  clear(g, at.d_x = g->d_x);
  clear(g, at.d_v = g->d_v);
  at.d_p = g->d_p;
  memset(g->d_p, 0, (size_t)g->n_parameters * sizeof *g->d_p);
  NOLI_TRY(g->objective[i].evaluate(g->objective[i].user, g->sim, &at));
  noli_stage_act_on_nodes(g->sim->own_stage, g->d_x);
  noli_stage_act_on_nodes(g->sim->own_stage, g->d_v);
  for (int64_t j = 0; j < g->n_parameters; j++) {
    g->gradient[i * g->n_parameters + j] += g->d_p[j];
  }
done:
  return status;
}

// ---- one part -----------------------------------------------------------------------------------

// The rule of a stage: y_hat = c_n y_n + before y_{n-1} + first y_1 + slope h (v_n, f_n / m).
static double weight_of_start(const NoliStageRule* rule) {
  return 1.0 - rule->before - rule->first;
}

// Whether a component is prescribed.
static bool is_held(const NoliTapeStage* stage, int64_t j) {
  return (stage->axes[j / 3] >> (j % 3) & 1) != 0;
}

// Where the vertices of one motion go from x, and which components it prescribes.
static void set_goals(Gradient* g, int32_t index, const double* x) {
  const NoliModel* model = g->sim->model;
  const NoliMotion* motion = &model->motion[index];
  Targets* targets = &g->targets;
  int64_t first = model->vert_first[motion->def.body];
  for (int64_t j = 0; j < 3 * (int64_t)motion->n_node; j++) {
    motion->x_t0[j] = x[3 * (first + motion->node[j / 3]) + j % 3];
  }
  for (int which = 0; which < TARGETS; which++) {
    noli_motion_targets(motion, targets->t0, targets->t1[which], motion->x_t0, motion->x_t1);
    for (int64_t j = 0; j < 3 * (int64_t)motion->n_node; j++) {
      int64_t at = 3 * (first + motion->node[j / 3]) + j % 3;
      bool flat = model->problem.surface->planar[motion->def.body] && j % 3 == 2;
      if (!motion->def.free_axis[j % 3] && !flat) {
        targets->goal[which][at] = motion->x_t1[j];
        targets->owner[at] = index;
      }
    }
  }
}

// Integrators of order 2 begin with a velocity of prescribed components that follows from their
// targets; only consistent masses and ties let it act on others.
static NoliStatus require_plain(const Gradient* g, const NoliTapePart* part,
                                const NoliMotionSlope* slope) {
  NoliStatus status = NOLI_OK;
  const NoliProblem* problem = &g->sim->model->problem;
  NoliMat3 turn = noli_sub33(slope->by_start, noli_identity3());
  bool plain = noli_norm_sqr33(&turn) < 1e-24 && g->inputs[0].value[NOLI_INPUT_MOTION] == NULL;
  bool coupled = noli_problem_has_consistent_mass(problem) || problem->followers.n_tied > 0;
  NOLI_CHECK(g->context, plain || !coupled || part->rule->order != 2, NOLI_ERROR_ARGUMENT,
             "derivatives: motions that turn or vary are differentiated with \"backward_euler\" "
             "only where masses are consistent or nodes are tied");
done:
  return status;
}

// The targets of a stage, as functions of where the part starts.
static NoliStatus set_targets(Gradient* g, const NoliTapePart* part, const NoliTapeStage* stage) {
  NoliStatus status = NOLI_OK;
  const NoliModel* model = g->sim->model;
  Targets* targets = &g->targets;
  targets->t0 = *part->start.time;
  targets->t1[TARGET_END] = stage->t;
  targets->t1[TARGET_MIDDLE] = 0.5 * (targets->t0 + stage->t);
  for (int64_t j = 0; j < size_of(g); j++) {
    targets->owner[j] = NOLI_NULL_INDEX;
  }
  for (int32_t m = 0; m < model->n_motion; m++) {
    const NoliMotionDef* def = &model->motion[m].def;
    if (part->held || targets->t0 < def->t_begin || targets->t0 >= def->t_end) {
      continue;
    }
    for (int which = 0; which < TARGETS; which++) {
      NoliMotionSlope* slope = &targets->slope[which][m];
      NOLI_TRY(noli_motion_slope(model, m, targets->t0, targets->t1[which], part->start.x, slope));
      NOLI_TRY(require_plain(g, part, slope));
    }
    set_goals(g, m, part->start.x);
  }
done:
  return status;
}

// The components of a vertex that a motion prescribes.
static NoliVec3 owned(const Gradient* g, int32_t motion, int64_t node, const double* d) {
  double own[3];
  for (int k = 0; k < 3; k++) {
    own[k] = g->targets.owner[3 * node + k] == motion ? d[3 * node + k] : 0.0;
  }
  return noli_load3(own);
}

static void add3(double* to, double weight, NoliVec3 by) {
  noli_store3(to, noli_mul_add3(noli_load3(to), weight, by));
}

// From derivatives d by targets of prescribed components, 0 at others, to those by the positions at
// the start of the part, rest positions and motions.
static void pull_targets(const Gradient* g, int32_t chain, const NoliTapePart* part, int which,
                         double weight, const double* d, double* x) {
  const NoliModel* model = g->sim->model;
  const Targets* targets = &g->targets;
  double* rest = g->inputs[chain].value[NOLI_INPUT_REST];
  double* numbers = g->inputs[chain].value[NOLI_INPUT_MOTION];
  for (int64_t j = 0; j < size_of(g); j++) {
    x[j] += targets->owner[j] == NOLI_NULL_INDEX ? weight * d[j] : 0.0;
  }
  for (int32_t m = 0; m < model->n_motion; m++) {
    const NoliMotion* motion = &model->motion[m];
    const NoliMotionSlope* slope = &targets->slope[which][m];
    for (int32_t i = 0; i < motion->n_node; i++) {
      int64_t node = model->vert_first[motion->def.body] + motion->node[i];
      NoliVec3 own = owned(g, m, node, d);
      if (noli_norm_sqr3(own) == 0.0) {
        continue;
      }
      add3(x + 3 * node, weight, noli_transpose_mul33_vec(&slope->by_start, own));
      if (rest != NULL) {
        add3(rest + 3 * node, weight, noli_transpose_mul33_vec(&slope->by_rest, own));
      }
      if (numbers != NULL) {
        double* number = numbers + NOLI_MOTION_NUMBERS * (int64_t)m;
        NoliVec3 by = noli_motion_by_change(model, m, slope, targets->t0, targets->t1[which], i,
                                            part->start.x, targets->goal[which]);
        number[NOLI_MOTION_CHANGE] += weight * noli_dot3(by, own);
        add3(number + NOLI_MOTION_VELOCITY, weight,
             noli_transpose_mul33_vec(&slope->by_velocity, own));
      }
    }
  }
}

// Forward: adds the changes of targets, times a weight, to prescribed components of `to`.
static void push_targets(const Gradient* g, int32_t chain, const NoliTapePart* part, int which,
                         const NoliTapeStage* stage, double weight, double* to) {
  const NoliModel* model = g->sim->model;
  const Targets* targets = &g->targets;
  const double* x = g->chain[chain].x;
  const double* rest = g->inputs[chain].value[NOLI_INPUT_REST];
  const double* numbers = g->inputs[chain].value[NOLI_INPUT_MOTION];
  for (int64_t j = 0; j < size_of(g); j++) {
    to[j] += targets->owner[j] == NOLI_NULL_INDEX && is_held(stage, j) ? weight * x[j] : 0.0;
  }
  for (int32_t m = 0; m < model->n_motion; m++) {
    const NoliMotion* motion = &model->motion[m];
    const NoliMotionSlope* slope = &targets->slope[which][m];
    for (int32_t i = 0; i < motion->n_node; i++) {
      int64_t node = model->vert_first[motion->def.body] + motion->node[i];
      double sum[3];
      NoliVec3 by = noli_mul33_vec(&slope->by_start, noli_load3(x + 3 * node));
      if (rest != NULL) {
        by = noli_add3(by, noli_mul33_vec(&slope->by_rest, noli_load3(rest + 3 * node)));
      }
      if (numbers != NULL) {
        const double* number = numbers + NOLI_MOTION_NUMBERS * (int64_t)m;
        NoliVec3 change = noli_motion_by_change(model, m, slope, targets->t0, targets->t1[which], i,
                                                part->start.x, targets->goal[which]);
        by = noli_mul_add3(by, number[NOLI_MOTION_CHANGE], change);
        by = noli_add3(
            by, noli_mul33_vec(&slope->by_velocity, noli_load3(number + NOLI_MOTION_VELOCITY)));
      }
      noli_store3(sum, by);
      for (int k = 0; k < 3; k++) {
        to[3 * node + k] += targets->owner[3 * node + k] == m ? weight * sum[k] : 0.0;
      }
    }
  }
}

// h_v over the length of a stage. Prescribed components have an x_hat of their own in integrators
// of order 2, that of a parabola through the start and the targets halfway and at the end: x_hat =
// x_1 - c (3 x_1 - 4 x_half + x_0) with this c.
static double parabola_share(const NoliTapePart* part, int32_t s) {
  return part->stage[s].time.h_v / (part->rule->stage[s].end * part->h);
}

static void pull_held(Gradient* g, int32_t index, const NoliTapePart* part, int32_t s, double* hat,
                      double* x) {
  if (part->rule->order != 2) {
    return;
  }
  double c = parabola_share(part, s), *held = g->target;
  for (int64_t j = 0; j < size_of(g); j++) {
    bool prescribed = is_held(&part->stage[s], j);
    held[j] = prescribed ? hat[j] : 0.0;
    hat[j] = prescribed ? 0.0 : hat[j];
  }
  pull_targets(g, index, part, TARGET_END, 1.0 - 3.0 * c, held, x);
  pull_targets(g, index, part, TARGET_MIDDLE, 4.0 * c, held, x);
  add(g, -c, held, x);
}

static void push_held(Gradient* g, int32_t index, const NoliTapePart* part, int32_t s,
                      double* hat) {
  if (part->rule->order != 2) {
    return;
  }
  double c = parabola_share(part, s);
  const NoliTapeStage* stage = &part->stage[s];
  for (int64_t j = 0; j < size_of(g); j++) {
    hat[j] = is_held(stage, j) ? -c * g->chain[index].x[j] : hat[j];
  }
  push_targets(g, index, part, TARGET_END, stage, 1.0 - 3.0 * c, hat);
  push_targets(g, index, part, TARGET_MIDDLE, stage, 4.0 * c, hat);
}

// The origin of the potential of a pressure is the mean of the corners of its faces: from
// derivatives by origins to those by positions, or forward from changes of these.
static void fold_origins(const Gradient* g, bool back, double* begin) {
  for (int32_t f = 0; f < g->sim->model->n_force; f++) {
    const NoliForce* force = &g->sim->model->force[f];
    double* origin = begin + size_of(g) + 3 * (int64_t)f;
    int64_t n = 0, n_corner = 3 * (int64_t)force->faces.n;
    for (int64_t i = 0; i < n_corner; i++) {
      n += force->faces.tri[i] != NOLI_NULL_INDEX ? 1 : 0;
    }
    for (int64_t i = 0; i < n_corner && force->kind == NOLI_FORCE_PRESSURE; i++) {
      if (force->faces.tri[i] == NOLI_NULL_INDEX) {
        continue;
      }
      double* corner = begin + 3 * (int64_t)force->faces.tri[i];
      for (int k = 0; k < 3; k++) {
        *(back ? &corner[k] : &origin[k]) += (back ? origin[k] : corner[k]) / (double)n;
      }
    }
  }
}

// The inputs of a chain, with those of one solve.
static NoliInputs with_own(const Gradient* g, int32_t chain) {
  NoliInputs inputs = g->inputs[chain];
  inputs.value[NOLI_INPUT_PREDICTED] = g->own.value[NOLI_INPUT_PREDICTED];
  inputs.value[NOLI_INPUT_REFERENCE] = g->own.value[NOLI_INPUT_REFERENCE];
  inputs.value[NOLI_INPUT_LAGGED] = g->own.value[NOLI_INPUT_LAGGED];
  inputs.value[NOLI_INPUT_DAMPED] = g->own.value[NOLI_INPUT_DAMPED];
  inputs.value[NOLI_INPUT_BEGIN] = g->own.value[NOLI_INPUT_BEGIN];
  inputs.value[NOLI_INPUT_HISTORY] = g->own.value[NOLI_INPUT_HISTORY];
  return inputs;
}

// The solves of a stage in reverse: from derivatives by its end to those by x_tilde and x_hat.
static NoliStatus pull_solves(Gradient* g, int32_t chain, const NoliTapePart* part, int32_t s,
                              double* b) {
  NoliStatus status = NOLI_OK;
  const NoliTapeStage* stage = &part->stage[s];
  NoliInputs to = with_own(g, chain);
  NOLI_TRY(set_targets(g, part, stage));
  clear(g, g->own.value[NOLI_INPUT_PREDICTED]);
  clear(g, g->own.value[NOLI_INPUT_REFERENCE]);
  for (int64_t k = stage->solve.count - 1; k >= 0; k--) {
    clear(g, g->own.value[NOLI_INPUT_LAGGED]);
    clear(g, g->target);
    NOLI_TRY(noli_sensitivity_set(g->sensitivity, part, s, k));
    NOLI_TRY(noli_sensitivity_pull(g->sensitivity, b, &to, g->target, &g->error[chain]));
    noli_stage_act_on_nodes(g->sim->stage, g->own.value[NOLI_INPUT_LAGGED]);
    copy(g, g->own.value[NOLI_INPUT_LAGGED], b);
    pull_targets(g, chain, part, TARGET_END, 1.0, g->target, g->chain[chain].x);
  }
  noli_stage_act_on_nodes(g->sim->stage, g->own.value[NOLI_INPUT_PREDICTED]);
  noli_stage_act_on_nodes(g->sim->stage, g->own.value[NOLI_INPUT_REFERENCE]);
done:
  return status;
}

// The force that the end of a part implies, f = m (x - x_tilde) / h_e^2, where nothing is
// prescribed: to derivatives by x and x_tilde, and by masses; forward likewise.
static bool keeps_force(const NoliTapePart* part, const Gradient* g, int64_t j) {
  return noli_integrator_needs_force(g->sim->model->integrator) &&
         !is_held(&part->stage[part->n_stages - 1], j);
}

static void pull_end_force(const Gradient* g, const NoliTapePart* part, Chain* chain,
                           NoliInputs* inputs, double* x) {
  const NoliTapeStage* stage = &part->stage[part->n_stages - 1];
  const double* solution = stage->solve.data[stage->solve.count - 1];
  double h_e_sqr = stage->time.h_e * stage->time.h_e;
  for (int64_t j = 0; j < size_of(g); j++) {
    double b = keeps_force(part, g, j) ? chain->force[j] / h_e_sqr : 0.0;
    double mass = g->sim->model->problem.mass[j / 3];
    chain->force[j] = -mass * b; // by x_tilde
    x[j] += mass * b;
    if (inputs->value[NOLI_INPUT_MASS] != NULL) {
      inputs->value[NOLI_INPUT_MASS][j / 3] += b * (solution[j] - stage->time.x_tilde[j]);
    }
  }
}

static void push_end_force(const Gradient* g, const NoliTapePart* part, Chain* chain,
                           const NoliInputs* inputs, const double* x, const double* tilde) {
  const NoliTapeStage* stage = &part->stage[part->n_stages - 1];
  const double* solution = stage->solve.data[stage->solve.count - 1];
  double h_e_sqr = stage->time.h_e * stage->time.h_e;
  const double* mass_change = inputs->value[NOLI_INPUT_MASS];
  for (int64_t j = 0; j < size_of(g); j++) {
    double by_mass =
        mass_change != NULL ? mass_change[j / 3] * (solution[j] - stage->time.x_tilde[j]) : 0.0;
    chain->force[j] =
        keeps_force(part, g, j)
            ? (g->sim->model->problem.mass[j / 3] * (x[j] - tilde[j]) + by_mass) / h_e_sqr
            : 0.0;
  }
}

// What a slope adds to y_hat: h v and h f / m.
static void pull_slope(const Gradient* g, const NoliTapePart* part, double slope, const double* hat,
                       const double* hat_v, Chain* chain, NoliInputs* inputs, double* force) {
  for (int64_t j = 0; slope != 0.0 && j < size_of(g); j++) {
    double mass = g->sim->model->problem.mass[j / 3];
    chain->v[j] += slope * part->h * hat[j];
    force[j] += slope * part->h * hat_v[j] / mass;
    if (inputs->value[NOLI_INPUT_MASS] != NULL) {
      inputs->value[NOLI_INPUT_MASS][j / 3] -=
          slope * part->h * hat_v[j] * part->force[j] / (mass * mass);
    }
  }
}

static void push_slope(const Gradient* g, const NoliTapePart* part, double slope,
                       const Chain* chain, const NoliInputs* inputs, double* hat, double* hat_v) {
  const double* mass_change = inputs->value[NOLI_INPUT_MASS];
  for (int64_t j = 0; slope != 0.0 && j < size_of(g); j++) {
    double mass = g->sim->model->problem.mass[j / 3];
    hat[j] += slope * part->h * chain->v[j];
    hat_v[j] += slope * part->h * g->force[j] / mass;
    hat_v[j] -= mass_change != NULL
                    ? slope * part->h * part->force[j] * mass_change[j / 3] / (mass * mass)
                    : 0.0;
  }
}

// ---- histories ----------------------------------------------------------------------------------

static int64_t history_size(const Gradient* g) {
  return noli_input_count(g->sim, NOLI_INPUT_HISTORY, 0);
}

// From derivatives by the histories before or after a part to those by positions `x`, and by the
// histories that they follow from. Where the part ends, those by the histories that its last stage
// sees are set; where it begins, those by the histories before it grow.
static void pull_end_history(Gradient* g, int32_t index, const NoliTapePart* part, double* x) {
  NoliHistoryDerivatives by = {.x = g->moved, .rest = g->inputs[index].value[NOLI_INPUT_REST]};
  double* seen = g->own.value[NOLI_INPUT_HISTORY];
  if (history_size(g) == 0) {
    return;
  }
  clear(g, g->moved);
  memset(seen, 0, (size_t)history_size(g) * sizeof *seen);
  by.seen = seen;
  by.state = g->chain[index].history;
  noli_history_links_pull_end(g->sim, part, &by);
  memset(by.state, 0, (size_t)history_size(g) * sizeof *seen);
  noli_stage_act_on_nodes(g->sim->own_stage, g->moved);
  add(g, 1.0, g->moved, x);
}

static void pull_begin_history(Gradient* g, int32_t index, const NoliTapePart* part, int32_t s) {
  NoliHistoryDerivatives by = {.x = g->moved,
                               .rest = g->inputs[index].value[NOLI_INPUT_REST],
                               .seen = g->own.value[NOLI_INPUT_HISTORY],
                               .state = g->chain[index].history};
  if (history_size(g) == 0) {
    return;
  }
  clear(g, g->moved);
  noli_history_links_pull_begin(g->sim, part, s, &by);
  memset(by.seen, 0, (size_t)history_size(g) * sizeof(double));
  noli_stage_act_on_nodes(g->sim->own_stage, g->moved);
  add(g, 1.0, g->moved, g->chain[index].x);
}

// Forward likewise, by changes of positions `x`.
static NoliHistoryDerivatives changes_of(const Gradient* g, int32_t index, double* x) {
  return (NoliHistoryDerivatives){.x = x,
                                  .rest = g->inputs[index].value[NOLI_INPUT_REST],
                                  .seen = g->own.value[NOLI_INPUT_HISTORY],
                                  .state = g->chain[index].history};
}

// ---- parts --------------------------------------------------------------------------------------

// From derivatives by the state after a part to those by the state before it.
static NoliStatus pull_part(Gradient* g, int32_t index, const NoliTapePart* part) {
  NoliStatus status = NOLI_OK;
  Chain* chain = &g->chain[index];
  int32_t last = part->n_stages - 1;
  for (int32_t s = 0; s <= last; s++) {
    clear(g, g->end_x[s]);
    clear(g, g->end_v[s]);
  }
  copy(g, chain->x, g->end_x[last]);
  copy(g, chain->v, g->end_v[last]);
  copy(g, chain->x_before, chain->x);
  copy(g, chain->v_before, chain->v);
  clear(g, g->force);
  pull_end_force(g, part, chain, &g->inputs[index], g->end_x[last]);
  pull_end_history(g, index, part, g->end_x[last]);
  clear(g, chain->x_before);
  clear(g, chain->v_before);
  clear(g, g->own.value[NOLI_INPUT_DAMPED]);
  memset(g->own.value[NOLI_INPUT_BEGIN], 0,
         sizeof(double) * (size_t)noli_input_count(g->sim, NOLI_INPUT_BEGIN, 0));

  for (int32_t s = last; s >= 0; s--) {
    const NoliTapeStage* stage = &part->stage[s];
    const NoliStageRule* rule = &part->rule->stage[s];
    double by_v = stage->time.inertia ? 1.0 / stage->time.h_v : 0.0;

    // v = (x - x_hat) / h_v, then the solves
    add(g, by_v, g->end_v[s], g->end_x[s]);
    NOLI_TRY(pull_solves(g, index, part, s, g->end_x[s]));
    pull_begin_history(g, index, part, s);
    double* lagged = g->end_x[s];
    double* hat = g->own.value[NOLI_INPUT_REFERENCE];
    add(g, -by_v, g->end_v[s], hat);
    pull_held(g, index, part, s, hat, chain->x);

    // x_tilde = x_hat + e v_hat
    add(g, s == last ? 1.0 : 0.0, chain->force, g->own.value[NOLI_INPUT_PREDICTED]);
    add(g, 1.0, g->own.value[NOLI_INPUT_PREDICTED], hat);
    clear(g, g->hat_v);
    add(g, stage->time.inertia ? stage->time.h_v : 0.0, g->own.value[NOLI_INPUT_PREDICTED],
        g->hat_v);

    // y_hat
    add(g, weight_of_start(rule), hat, chain->x);
    add(g, weight_of_start(rule), g->hat_v, chain->v);
    add(g, rule->before, hat, chain->x_before);
    add(g, rule->before, g->hat_v, chain->v_before);
    if (rule->first != 0.0) {
      add(g, rule->first, hat, g->end_x[0]);
      add(g, rule->first, g->hat_v, g->end_v[0]);
    }
    pull_slope(g, part, rule->slope, hat, g->hat_v, chain, &g->inputs[index], g->force);
    add(g, 1.0, lagged, s > 0 ? g->end_x[s - 1] : chain->x);
  }

  // where the stiffness of damping was taken
  noli_stage_act_on_nodes(g->sim->own_stage, g->own.value[NOLI_INPUT_DAMPED]);
  add(g, 1.0, g->own.value[NOLI_INPUT_DAMPED], chain->x);
  add(g, part->damping_ahead, g->own.value[NOLI_INPUT_DAMPED], chain->v);

  // where pressures began
  fold_origins(g, true, g->own.value[NOLI_INPUT_BEGIN]);
  noli_stage_act_on_nodes(g->sim->own_stage, g->own.value[NOLI_INPUT_BEGIN]);
  add(g, 1.0, g->own.value[NOLI_INPUT_BEGIN], chain->x);

  // the force at the start: that of the part before, or of the state
  copy(g, g->force, chain->force);
  if (part->force != NULL && !part->past_known) {
    NoliInputs to = with_own(g, index);
    NOLI_TRY(noli_sensitivity_pull_force(g->sensitivity, part, g->force, &to, chain->x, chain->v));
    clear(g, chain->force);
    for (int64_t i = 0; i < history_size(g); i++) {
      chain->history[i] += to.value[NOLI_INPUT_HISTORY][i]; // which nothing has relaxed
    }
  }
done:
  return status;
}

// The solves of a stage forward; `x` holds the change of its start, then that of its end.
static NoliStatus push_solves(Gradient* g, int32_t chain, const NoliTapePart* part, int32_t s,
                              double* x) {
  NoliStatus status = NOLI_OK;
  const NoliTapeStage* stage = &part->stage[s];
  NoliInputs change = with_own(g, chain);
  for (int64_t k = 0; k < stage->solve.count; k++) {
    copy(g, x, g->own.value[NOLI_INPUT_LAGGED]);
    NOLI_TRY(noli_sensitivity_set(g->sensitivity, part, s, k));
    for (int64_t j = 0; j < size_of(g); j++) {
      x[j] = is_held(stage, j) ? 0.0 : g->chain[chain].x[j];
    }
    push_targets(g, chain, part, TARGET_END, stage, 1.0, x);
    NOLI_TRY(noli_sensitivity_push(g->sensitivity, &change, x));
    noli_stage_follow_vectors(g->sim->stage, x);
  }
done:
  return status;
}

static NoliStatus push_part(Gradient* g, int32_t index, const NoliTapePart* part) {
  NoliStatus status = NOLI_OK;
  Chain* chain = &g->chain[index];
  double *hat = g->own.value[NOLI_INPUT_REFERENCE], *tilde = g->own.value[NOLI_INPUT_PREDICTED];
  copy(g, chain->force, g->force);
  copy(g, chain->x, g->own.value[NOLI_INPUT_DAMPED]);
  add(g, part->damping_ahead, chain->v, g->own.value[NOLI_INPUT_DAMPED]);
  memset(g->own.value[NOLI_INPUT_BEGIN] + size_of(g), 0,
         3 * sizeof(double) * (size_t)g->sim->model->n_force);
  copy(g, chain->x, g->own.value[NOLI_INPUT_BEGIN]);
  fold_origins(g, false, g->own.value[NOLI_INPUT_BEGIN]);
  if (part->force != NULL && !part->past_known) {
    NoliInputs change = with_own(g, index);
    for (int64_t i = 0; i < history_size(g); i++) {
      change.value[NOLI_INPUT_HISTORY][i] = chain->history[i];
    }
    NOLI_TRY(
        noli_sensitivity_push_force(g->sensitivity, part, &change, chain->x, chain->v, g->force));
  }
  for (int32_t s = 0; s < part->n_stages; s++) {
    const NoliTapeStage* stage = &part->stage[s];
    const NoliStageRule* rule = &part->rule->stage[s];
    double by_v = stage->time.inertia ? 1.0 / stage->time.h_v : 0.0;

    // y_hat, x_tilde
    clear(g, hat);
    clear(g, g->hat_v);
    add(g, weight_of_start(rule), chain->x, hat);
    add(g, weight_of_start(rule), chain->v, g->hat_v);
    add(g, rule->before, chain->x_before, hat);
    add(g, rule->before, chain->v_before, g->hat_v);
    if (rule->first != 0.0) {
      add(g, rule->first, g->end_x[0], hat);
      add(g, rule->first, g->end_v[0], g->hat_v);
    }
    push_slope(g, part, rule->slope, chain, &g->inputs[index], hat, g->hat_v);
    copy(g, hat, tilde);
    add(g, stage->time.inertia ? stage->time.h_v : 0.0, g->hat_v, tilde);
    NOLI_TRY(set_targets(g, part, stage));
    push_held(g, index, part, s, hat);
    noli_stage_follow_vectors(g->sim->own_stage, hat);
    noli_stage_follow_vectors(g->sim->own_stage, tilde);

    // x, v
    NoliHistoryDerivatives changes = changes_of(g, index, chain->x);
    noli_history_links_push_begin(g->sim, part, s, &changes);
    copy(g, s > 0 ? g->end_x[s - 1] : chain->x, g->end_x[s]);
    NOLI_TRY(push_solves(g, index, part, s, g->end_x[s]));
    clear(g, g->end_v[s]);
    add(g, by_v, g->end_x[s], g->end_v[s]);
    add(g, -by_v, hat, g->end_v[s]);
  }
  push_end_force(g, part, chain, &g->inputs[index], g->end_x[part->n_stages - 1], tilde);
  NoliHistoryDerivatives changes = changes_of(g, index, g->end_x[part->n_stages - 1]);
  noli_history_links_push_end(g->sim, part, &changes);
  copy(g, chain->x, chain->x_before);
  copy(g, chain->v, chain->v_before);
  copy(g, g->end_x[part->n_stages - 1], chain->x);
  copy(g, g->end_v[part->n_stages - 1], chain->v);
done:
  return status;
}

// ---- the run ------------------------------------------------------------------------------------

// Steps, with values of objectives or a tape.
static NoliStatus run(Gradient* g, int64_t begin, int64_t end, bool with_values) {
  NoliStatus status = NOLI_OK;
  noli_sensitivity_forget(g->sensitivity);
  for (int64_t step = begin; step < end; step++) {
    NOLI_TRY(noli_sim_step(g->sim, NULL));
    if (with_values) {
      NOLI_TRY(add_values(g, step + 1));
    }
  }
done:
  return status;
}

static void use_state(Gradient* g, const NoliState* state) {
  // copies between states of one simulation do not fail
  NoliStatus status = noli_state_copy(g->context, state, &g->sim->state);
  (void)status;
  g->sim->end.stage = NULL;
  noli_sim_end_histories(g->sim);
  noli_sim_outdate(g->sim);
}

static NoliStatus keep(Gradient* g) {
  NoliStatus status = NOLI_OK;
  NoliState* state = &g->kept[g->n_kept];
  NOLI_TRY(noli_state_create(g->context, &g->sim->state.sizes, state));
  g->n_kept++;
  NOLI_TRY(noli_state_copy(g->context, &g->sim->state, state));
done:
  return status;
}

// Segments so long that their tapes fit, or as many as there are states to be kept.
static void choose_segment(Gradient* g) {
  int64_t n = g->def->n_steps;
  double bytes = (double)noli_tape_part_bytes(g->sim, USUAL_SOLVES) * (double)n;
  int64_t n_segments = g->def->checkpoints > 0 ? g->def->checkpoints
                       : bytes <= TAPE_BYTES   ? 1
                                               : (int64_t)ceil(sqrt((double)n));
  g->segment = n > 0 ? (n + n_segments - 1) / n_segments : 1;
}

// ---- reverse ------------------------------------------------------------------------------------

static NoliStatus pull_objectives(Gradient* g, int64_t step) {
  NoliStatus status = NOLI_OK;
  for (int32_t i = 0; i < g->n_objectives; i++) {
    NOLI_TRY(find_slopes(g, i, step));
    add(g, 1.0, g->d_x, g->chain[i].x);
    add(g, 1.0, g->d_v, g->chain[i].v);
  }
done:
  return status;
}

// Sets the last solve of a part up: contact forces at its end can be computed.
static NoliStatus set_end(Gradient* g, const NoliTapePart* part) {
  int32_t last = part->n_stages - 1;
  return noli_sensitivity_set(g->sensitivity, part, last, part->stage[last].solve.count - 1);
}

// The steps of a tape in reverse, which ends with the state of step `end`.
static NoliStatus reverse_tape(Gradient* g, int64_t end, const NoliState* state_at_end) {
  NoliStatus status = NOLI_OK;
  int64_t step = end;
  for (int64_t p = g->tape.part.count - 1; p >= 0; p--) {
    const NoliTapePart* part = &g->tape.part.data[p];
    const NoliState* after =
        p + 1 < g->tape.part.count ? &g->tape.part.data[p + 1].start : state_at_end;
    if (*after->step != *part->start.step) {
      use_state(g, after);
      NOLI_TRY(set_end(g, part));
      noli_sim_end_histories(g->sim);
      NOLI_TRY(pull_objectives(g, step--));
    }
    for (int32_t i = 0; i < g->n_objectives; i++) {
      NOLI_TRY(pull_part(g, i, part));
    }
  }
done:
  return status;
}

static NoliStatus reverse(Gradient* g, const NoliState* final) {
  NoliStatus status = NOLI_OK;
  int64_t end = g->def->n_steps;
  for (int32_t k = g->n_kept - 1; k >= 0; k--) {
    int64_t begin = k * g->segment;
    const NoliState* state_at_end = k + 1 < g->n_kept ? &g->kept[k + 1] : final;
    if (k + 1 < g->n_kept) {
      noli_tape_clear(&g->tape);
      use_state(g, &g->kept[k]);
      g->sim->tape = &g->tape;
      NOLI_TRY(run(g, begin, end, false));
      g->sim->tape = NULL;
      g->report.recomputed += end - begin;
    }
    NOLI_TRY(reverse_tape(g, end, state_at_end));
    end = begin;
  }

  // the start
  use_state(g, &g->kept[0]);
  NOLI_TRY(pull_objectives(g, 0));
  for (int32_t i = 0; i < g->n_objectives; i++) {
    NoliInputs* inputs = &g->inputs[i];
    if (inputs->value[NOLI_INPUT_START] != NULL) {
      add(g, 1.0, g->chain[i].x, inputs->value[NOLI_INPUT_START]);
    }
    if (inputs->value[NOLI_INPUT_VELOCITY] != NULL) {
      add(g, 1.0, g->chain[i].v, inputs->value[NOLI_INPUT_VELOCITY]);
    }
    noli_parameters_pull(g->parameters, inputs, g->gradient + i * g->n_parameters);
  }
done:
  return status;
}

// ---- forward ------------------------------------------------------------------------------------

// gradient[i][j] += what changes of the state at this time contribute.
static NoliStatus push_objectives(Gradient* g, int64_t step) {
  NoliStatus status = NOLI_OK;
  for (int32_t i = 0; i < g->n_objectives; i++) {
    NOLI_TRY(find_slopes(g, i, step));
    for (int64_t j = 0; j < g->n_parameters; j++) {
      double sum = 0.0;
      for (int64_t k = 0; k < size_of(g); k++) {
        sum += g->d_x[k] * g->chain[j].x[k] + g->d_v[k] * g->chain[j].v[k];
      }
      g->gradient[i * g->n_parameters + j] += sum;
    }
  }
done:
  return status;
}

// Every step is taped, differentiated and forgotten.
static NoliStatus forward(Gradient* g) {
  NoliStatus status = NOLI_OK;
  for (int64_t j = 0; j < g->n_parameters; j++) {
    noli_parameters_push(g->parameters, j, &g->inputs[j]);
    if (g->inputs[j].value[NOLI_INPUT_START] != NULL) {
      add(g, 1.0, g->inputs[j].value[NOLI_INPUT_START], g->chain[j].x);
    }
    if (g->inputs[j].value[NOLI_INPUT_VELOCITY] != NULL) {
      add(g, 1.0, g->inputs[j].value[NOLI_INPUT_VELOCITY], g->chain[j].v);
    }
    noli_stage_follow_vectors(g->sim->own_stage, g->chain[j].x);
    noli_stage_follow_vectors(g->sim->own_stage, g->chain[j].v);
  }
  NOLI_TRY(add_values(g, 0));
  NOLI_TRY(push_objectives(g, 0));
  for (int64_t step = 0; step < g->def->n_steps; step++) {
    noli_tape_clear(&g->tape);
    g->sim->tape = &g->tape;
    NOLI_TRY(run(g, step, step + 1, true));
    g->sim->tape = NULL;
    for (int64_t p = 0; p < g->tape.part.count; p++) {
      for (int64_t j = 0; j < g->n_parameters; j++) {
        NOLI_TRY(push_part(g, (int32_t)j, &g->tape.part.data[p]));
      }
    }
    g->sim->end.stage = NULL; // the stage was used
    noli_sim_end_histories(g->sim);
    NOLI_TRY(push_objectives(g, step + 1));
  }
done:
  g->sim->tape = NULL;
  return status;
}

// ---- making -------------------------------------------------------------------------------------

static NoliStatus allocate_chain(Gradient* g, Chain* chain) {
  NoliStatus status = NOLI_OK;
  NOLI_NEW_ZERO(g->context, chain->x, size_of(g));
  NOLI_NEW_ZERO(g->context, chain->v, size_of(g));
  NOLI_NEW_ZERO(g->context, chain->x_before, size_of(g));
  NOLI_NEW_ZERO(g->context, chain->v_before, size_of(g));
  NOLI_NEW_ZERO(g->context, chain->force, size_of(g));
  NOLI_NEW_ZERO(g->context, chain->history, history_size(g));
done:
  return status;
}

static NoliStatus allocate(Gradient* g) {
  NoliStatus status = NOLI_OK;
  double** vectors[] = {&g->force, &g->target, &g->hat_v, &g->moved, &g->d_x, &g->d_v};
  unsigned wanted = noli_parameters_wanted(g->parameters);
  int32_t n_class = noli_parameters_class_count(g->parameters);
  for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) {
    NOLI_NEW_ZERO(g->context, *vectors[i], size_of(g));
  }
  for (int32_t s = 0; s < NOLI_MAX_STAGES; s++) {
    NOLI_NEW_ZERO(g->context, g->end_x[s], size_of(g));
    NOLI_NEW_ZERO(g->context, g->end_v[s], size_of(g));
  }
  NOLI_NEW_ZERO(g->context, g->targets.owner, size_of(g));
  for (int which = 0; which < TARGETS; which++) {
    NOLI_NEW_ZERO(g->context, g->targets.goal[which], size_of(g));
    NOLI_NEW_ZERO(g->context, g->targets.slope[which], g->sim->model->n_motion);
  }
  NOLI_NEW_ZERO(g->context, g->d_p, g->n_parameters);
  NOLI_NEW_ZERO(g->context, g->error, g->n_chains);
  NOLI_NEW_ZERO(g->context, g->kept, g->def->n_steps + 1);
  NOLI_NEW_ZERO(g->context, g->chain, g->n_chains);
  NOLI_NEW_ZERO(g->context, g->inputs, g->n_chains);
  unsigned own = 1u << NOLI_INPUT_PREDICTED | 1u << NOLI_INPUT_REFERENCE | 1u << NOLI_INPUT_LAGGED |
                 1u << NOLI_INPUT_DAMPED | 1u << NOLI_INPUT_BEGIN | 1u << NOLI_INPUT_HISTORY;
  NOLI_TRY(noli_inputs_create(g->sim, own, 0, &g->own));
  for (int32_t i = 0; i < g->n_chains; i++) {
    NOLI_TRY(allocate_chain(g, &g->chain[i]));
    NOLI_TRY(noli_inputs_create(g->sim, wanted, n_class, &g->inputs[i]));
  }
done:
  return status;
}

static void release(Gradient* g) {
  NoliContext* context = g->context;
  double* vectors[] = {g->force, g->target, g->hat_v, g->moved, g->d_x, g->d_v, g->d_p, g->error};
  for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) {
    noli_free(context, vectors[i]);
  }
  for (int32_t s = 0; s < NOLI_MAX_STAGES; s++) {
    noli_free(context, g->end_x[s]);
    noli_free(context, g->end_v[s]);
  }
  noli_free(context, g->targets.owner);
  for (int which = 0; which < TARGETS; which++) {
    noli_free(context, g->targets.goal[which]);
    noli_free(context, g->targets.slope[which]);
  }
  for (int32_t i = 0; g->chain != NULL && g->inputs != NULL && i < g->n_chains; i++) {
    noli_free(context, g->chain[i].x);
    noli_free(context, g->chain[i].v);
    noli_free(context, g->chain[i].x_before);
    noli_free(context, g->chain[i].v_before);
    noli_free(context, g->chain[i].force);
    noli_free(context, g->chain[i].history);
    noli_inputs_free(context, &g->inputs[i]);
  }
  for (int32_t k = 0; k < g->n_kept; k++) {
    noli_state_free(context, &g->kept[k]);
  }
  noli_inputs_free(context, &g->own);
  noli_free(context, g->chain);
  noli_free(context, g->inputs);
  noli_free(context, g->kept);
  noli_tape_clear(&g->tape);
  noli_sensitivity_destroy(&g->sensitivity);
}

// Runs the steps; tapes the last segment, or all of them one after the other for values alone.
static NoliStatus run_all(Gradient* g) {
  NoliStatus status = NOLI_OK;
  NOLI_TRY(add_values(g, 0));
  for (int64_t begin = 0; begin < g->def->n_steps; begin += g->segment) {
    int64_t end = begin + g->segment < g->def->n_steps ? begin + g->segment : g->def->n_steps;
    noli_tape_clear(&g->tape);
    NOLI_TRY(keep(g));
    g->sim->tape = &g->tape;
    NOLI_TRY(run(g, begin, end, true));
    g->sim->tape = NULL;
  }
done:
  g->sim->tape = NULL;
  return status;
}

static NoliStatus differentiate(Gradient* g) {
  NoliStatus status = NOLI_OK;
  NoliState final = {0};
  double start = noli_seconds();
  NOLI_TRY(run_all(g));
  g->report.forward = noli_seconds() - start;
  g->report.bytes = noli_tape_part_bytes(g->sim, USUAL_SOLVES) * (g->segment + g->n_kept);
  start = noli_seconds();
  if (g->gradient != NULL && g->n_kept > 0) {
    NOLI_TRY(noli_state_create(g->context, &g->sim->state.sizes, &final));
    NOLI_TRY(noli_state_copy(g->context, &g->sim->state, &final));
    status = reverse(g, &final);
    g->sim->tape = NULL;
    use_state(g, &final);
  }
  g->report.backward = noli_seconds() - start;
done:
  noli_state_free(g->context, &final);
  return status;
}

static NoliStatus check(Gradient* g) {
  NoliStatus status = NOLI_OK;
  const char* defect = noli_sensitivity_defect(g->sim, noli_parameters_wanted(g->parameters));
  NOLI_CHECK(g->context, defect == NULL, NOLI_ERROR_ARGUMENT, "derivatives: %s", defect);
  NOLI_CHECK(g->context, g->def->n_steps >= 0, NOLI_ERROR_ARGUMENT,
             "derivatives: %lld steps are asked for", (long long)g->def->n_steps);
  NOLI_TRY(
      noli_choice_require(g->context, "derivatives: ", NOLI_CHOICE_GRADIENT_MODE, g->def->mode));
  g->tangent = g->def->mode != NULL && strcmp(g->def->mode, "tangent") == 0;
  g->n_chains = g->tangent ? (int32_t)g->n_parameters : g->n_objectives;
done:
  return status;
}

NoliStatus noli_sim_gradient(NoliSim* sim, const NoliParameters* parameters,
                             const NoliObjective* objectives, int32_t n_objectives,
                             const NoliGradientDef* def, double* value, double* gradient,
                             NoliGradientReport* report) {
  NOLI_REQUIRE(sim != NULL ? sim->context : NULL, sim != NULL && parameters != NULL &&
                                                      objectives != NULL && n_objectives > 0 &&
                                                      def != NULL && value != NULL);
  NoliStatus status = NOLI_OK;
  Gradient g = {.context = sim->context,
                .sim = sim,
                .parameters = parameters,
                .objective = objectives,
                .n_objectives = n_objectives,
                .def = def,
                .n_parameters = noli_parameters_count(parameters),
                .value = value,
                .gradient = gradient};
  noli_tape_init(&g.tape, sim->context, def->tolerance > 0.0 ? def->tolerance : 1e-10);
  NOLI_TRY(noli_ranks_require_one(sim->context, "derivatives"));
  memset(value, 0, (size_t)n_objectives * sizeof *value);
  if (gradient != NULL) {
    memset(gradient, 0, (size_t)(n_objectives * g.n_parameters) * sizeof *gradient);
  }
  NOLI_TRY(check(&g));
  choose_segment(&g);
  NOLI_TRY(allocate(&g));
  NOLI_TRY(noli_sensitivity_create(sim, noli_parameters_wanted(parameters),
                                   noli_parameters_classes(parameters), &g.sensitivity));
  g.tape.sensitivity = g.sensitivity;
  NOLI_TRY(g.tangent && gradient != NULL ? forward(&g) : differentiate(&g));
  for (int32_t i = 0; i < n_objectives && !g.tangent; i++) {
    double relative = fabs(value[i]) > 0.0 ? g.error[i] / fabs(value[i]) : 0.0;
    g.report.residual_error = fmax(g.report.residual_error, relative);
  }
  if (report != NULL) {
    *report = g.report;
  }
done:
  sim->tape = NULL;
  noli_sim_end_histories(sim);
  release(&g);
  return status;
}
