#include "derive/tape.h"

#include "derive/solves/sensitivity.h"

#include <math.h>
#include <string.h>

void noli_tape_init(NoliTape* tape, NoliContext* context, double tolerance) {
  *tape = (NoliTape){.context = context, .tolerance = tolerance};
}

static void free_part(NoliContext* context, NoliTapePart* part) {
  for (int32_t s = 0; s < NOLI_MAX_STAGES; s++) {
    NoliTapeStage* stage = &part->stage[s];
    for (int64_t k = 0; k < stage->solve.count; k++) {
      noli_free(context, stage->solve.data[k]);
    }
    noli_array_free(context, &stage->solve);
    noli_free(context, stage->time.x_tilde);
    noli_free(context, stage->time.x_hat);
    noli_free(context, stage->axes);
  }
  noli_free(context, part->force);
  noli_free(context, part->velocity);
  noli_state_free(context, &part->start);
}

// Removes parts that were not completed, or undone: the first ones of a step that is divided again.
static void drop_undone(NoliTape* tape, double time) {
  while (tape->part.count > 0 && (tape->open || tape->part.data[tape->part.count - 1].t1 > time)) {
    free_part(tape->context, &tape->part.data[--tape->part.count]);
    tape->open = false;
  }
}

void noli_tape_clear(NoliTape* tape) {
  for (int64_t i = 0; i < tape->part.count; i++) {
    free_part(tape->context, &tape->part.data[i]);
  }
  noli_array_free(tape->context, &tape->part);
  tape->open = false;
}

int64_t noli_tape_part_bytes(const NoliSim* sim, int32_t n_solves) {
  // a state has positions, velocities, at most four vectors of the past, histories and slips
  int64_t history = (int64_t)sizeof(double) * noli_model_history_size(sim->model);
  int64_t slip =
      NOLI_STICK_WORDS * (int64_t)sizeof(int64_t) + NOLI_STICK_NUMBERS * (int64_t)sizeof(double);
  return (int64_t)noli_sim_vector_bytes(sim) * (6 + 2 * NOLI_MAX_STAGES + n_solves) + history +
         slip * sim->state.sizes.n_slips;
}

static NoliTapePart* last_part(NoliTape* tape) {
  return &tape->part.data[tape->part.count - 1];
}

static NoliStatus copy_vector(const NoliSim* sim, NoliContext* context, const double* from,
                              double** to) {
  NoliStatus status = NOLI_OK;
  NOLI_NEW(context, *to, 3 * (int64_t)sim->model->problem.n_vert);
  memcpy(*to, from, noli_sim_vector_bytes(sim));
done:
  return status;
}

static NoliStatus tape_begin_part(void* watcher, NoliSim* sim) {
  NoliStatus status = NOLI_OK;
  NoliTape* tape = watcher;
  drop_undone(tape, *sim->state.time);
  NoliTapePart part = {.rule = sim->attempt.rule,
                       .h = noli_sim_step_length(sim),
                       .t1 = noli_sim_step_end(sim),
                       .past_known = sim->attempt.past_known,
                       .damping_ahead = sim->vectors.damping_ahead,
                       .n_stages = sim->attempt.rule->n_stages};
  NOLI_TRY(noli_state_create(tape->context, &sim->state.sizes, &part.start));
  status = noli_state_copy(tape->context, &sim->state, &part.start);
  status = status == NOLI_OK ? noli_array_reserve(tape->context, &tape->part, tape->part.count + 1)
                             : status;
  if (status != NOLI_OK) {
    free_part(tape->context, &part);
    goto done;
  }
  tape->part.data[tape->part.count++] = part;
  tape->open = true;
done:
  return status;
}

static NoliStatus tape_begin_stage(void* watcher, NoliSim* sim) {
  NoliStatus status = NOLI_OK;
  NoliTape* tape = watcher;
  const NoliStage* stage = sim->stage;
  NoliTapeStage* to = &last_part(tape)->stage[stage->step.index];
  to->time = stage->time;
  to->time.x_tilde = to->time.x_hat = NULL;
  double end = sim->attempt.rule->stage[stage->step.index].end;
  to->t = end < 1.0 ? *sim->state.time + end * noli_sim_step_length(sim) : noli_sim_step_end(sim);
  NOLI_TRY(copy_vector(sim, tape->context, stage->time.x_tilde, &to->time.x_tilde));
  NOLI_TRY(copy_vector(sim, tape->context, stage->time.x_hat, &to->time.x_hat));
  if (stage->step.index == 0 && noli_integrator_needs_force(sim->attempt.rule)) {
    NOLI_TRY(copy_vector(sim, tape->context, sim->vectors.force_start, &last_part(tape)->force));
    NOLI_TRY(copy_vector(sim, tape->context, sim->vectors.v_start, &last_part(tape)->velocity));
  }
  NOLI_NEW_ZERO(tape->context, to->axes, sim->model->problem.n_vert);
  for (int32_t i = 0; i < stage->prescribed.n; i++) {
    to->axes[stage->prescribed.node[i]] = stage->prescribed.axes[i];
  }
done:
  return status;
}

static NoliStatus end_solve(void* watcher, NoliSim* sim) {
  NoliStatus status = NOLI_OK;
  NoliTape* tape = watcher;
  NoliTapeStage* to = &last_part(tape)->stage[sim->stage->step.index];
  NOLI_TRY(noli_sensitivity_polish(tape->sensitivity, tape->tolerance));
  NOLI_TRY(noli_array_reserve(tape->context, &to->solve, to->solve.count + 1));
  NOLI_TRY(copy_vector(sim, tape->context, sim->stage->here->x, &to->solve.data[to->solve.count]));
  to->solve.count++;
done:
  return status;
}

// Whether prescribed nodes are where they should be, or where they were, if the step is solved with
// them held: then they move with the start of the step, as they do with a motion.
static bool has_arrived(const NoliSim* sim) {
  const double* place = sim->attempt.holds_motion ? sim->state.x : sim->targets.x;
  const NoliPrescribed* prescribed = &sim->stage->prescribed;
  double allowed = 1e-12 * sim->model->problem.size.d;
  for (int32_t i = 0; i < prescribed->n; i++) {
    for (int32_t k = 0; k < 3; k++) {
      double x = sim->stage->here->x[3 * (int64_t)prescribed->node[i] + k];
      double target = place[3 * (int64_t)prescribed->node[i] + k];
      if (noli_prescribes(prescribed, i, k) && !(fabs(x - target) <= allowed)) {
        return false;
      }
    }
  }
  return true;
}

static NoliStatus end_part(void* watcher, NoliSim* sim) {
  NoliStatus status = NOLI_OK;
  NoliTape* tape = watcher;
  long long step = (long long)*sim->state.step + 1;
  NOLI_CHECK(sim->context, !sim->attempt.damped, NOLI_ERROR_ARGUMENT,
             "derivatives: backward_euler has taken over step %lld, which gained energy: choose "
             "\"backward_euler\" or a smaller time step",
             step);
  NOLI_CHECK(sim->context, sim->stage == sim->own_stage, NOLI_ERROR_ARGUMENT,
             "derivatives: another solver has taken over step %lld: choose a smaller time step",
             step);
  NOLI_CHECK(sim->context, has_arrived(sim), NOLI_ERROR_ARGUMENT,
             "derivatives: contact has stopped a prescribed motion in step %lld, where its end "
             "depends on the iterations: move less far, or against something softer",
             step);
  last_part(tape)->held = sim->attempt.holds_motion;
  tape->open = false;
done:
  return status;
}

void noli_tape_attach(NoliTape* tape, NoliSim* sim) {
  static const NoliStepWatch watch = {tape_begin_part, tape_begin_stage, end_solve, end_part};
  sim->observer.watch = &watch;
  sim->observer.watcher = tape;
}

void noli_tape_detach(NoliSim* sim) {
  sim->observer.watch = &noli_step_unwatched;
  sim->observer.watcher = NULL;
}
