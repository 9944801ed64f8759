// Derivatives of runs: the chain of all solves, forward or in reverse. noli/derivative.h
//
// In reverse, steps are taped in segments, the last one first. States at the starts of some
// segments are kept, so that any segment can be computed again from the last one before it. Kept
// are as many as memory allows, at the places of the binomial schedule of Griewank and Walther:
// with s + 1 states and segments that are computed again at most r times, a run may have (s + 1 + r
// choose r) of them.
#include "base/numbers.h"
#include "base/ranks.h"
#include "base/timer.h"
#include "derive/chains.h"
#include "derive/history_links.h"
#include "derive/objective.h"

#include <math.h>
#include <string.h>

// Bound of the tape and the kept states together.
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
const NoliNames noli_gradient_mode_names = {"mode of gradients", NULL, noli_gradient_modes,
                                            NOLI_GRADIENT_MODES};

// The state at the start of a segment.
typedef struct Kept {
  int64_t segment;
  NoliState state;
} Kept;

typedef struct Gradient {
  NoliContext* context;
  NoliSim* sim;
  const NoliParameters* parameters;
  const NoliObjective* objective;
  int32_t n_objectives;
  const NoliGradientDef* def;
  int64_t n_parameters;
  bool tangent;
  int64_t segment;    // steps
  int64_t n_segments; // of the run
  Kept* kept;         // (n_slots) of which n_made have memory, and n_kept are in use
  int64_t n_slots, n_made, n_kept;
  NoliTape tape;
  NoliChains chains; // of objectives in reverse, of parameters forward
  double* d_x;       // (n_vert x 3) of an objective
  double* d_v;
  double* d_p;       // (n_parameters)
  double* d_history; // of materials, of all blocks
  NoliGradientReport report;
  double* value;    // (n_objectives)
  double* gradient; // (n_objectives x n_parameters)
} Gradient;

static int64_t gradient_size_of(const Gradient* g) {
  return 3 * (int64_t)g->sim->model->problem.n_vert;
}

static void gradient_clear(const Gradient* g, double* x) {
  memset(x, 0, (size_t)gradient_size_of(g) * sizeof *x);
}

// y += a x
static void gradient_add(const Gradient* g, double a, const double* x, double* y) {
  for (int64_t i = 0; a != 0.0 && i < gradient_size_of(g); i++) {
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
    NOLI_TRY(noli_objective_call(&g->objective[i], g->sim, &at));
    g->value[i] += at.value;
  }
done:
  return status;
}

// Derivatives of objective i at one time: by all vertices, or in reverse by nodes.
static NoliStatus find_derivatives(Gradient* g, int32_t i, int64_t step) {
  NoliStatus status = NOLI_OK;
  NoliObjectivePoint at = point_at(g, step);
  gradient_clear(g, at.d_x = g->d_x);
  gradient_clear(g, at.d_v = g->d_v);
  at.d_p = g->d_p;
  at.d_history = g->d_history;
  memset(g->d_history, 0, (size_t)noli_model_history_size(g->sim->model) * sizeof(double));
  memset(g->d_p, 0, (size_t)g->n_parameters * sizeof *g->d_p);
  NOLI_TRY(noli_objective_call(&g->objective[i], g->sim, &at));
  if (!g->tangent) {
    noli_chains_act_on_nodes(&g->chains, i, at.x, g->d_x);
    noli_chains_act_on_nodes(&g->chains, i, at.v, g->d_v);
  }
  for (int64_t j = 0; j < g->n_parameters; j++) {
    g->gradient[i * g->n_parameters + j] += g->d_p[j];
  }
done:
  return status;
}

// ---- the run ------------------------------------------------------------------------------------

// Steps, with values of objectives or a tape.
static NoliStatus run(Gradient* g, int64_t begin, int64_t end, bool with_values) {
  NoliStatus status = NOLI_OK;
  noli_sensitivity_reset(g->chains.sensitivity);
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
  g->sim->energy.end.stage = NULL;
  noli_sim_end_histories(g->sim);
  noli_sim_outdate(g->sim);
}

// ---- segments -----------------------------------------------------------------------------------

// As long as the number of states allows: fewer steps are computed again then, and none where all
// of them make one segment. Without a number that is asked for: the tape of the run where it fits,
// or else half of the memory for states.
static void choose_segments(Gradient* g) {
  int64_t n = g->def->n_steps, asked = g->def->checkpoints;
  int64_t room = (int64_t)(TAPE_BYTES / (double)noli_tape_part_bytes(g->sim, USUAL_SOLVES));
  int64_t half = room / 2 > 0 ? room / 2 : 1;
  int64_t states = asked > 0 ? asked : n <= room ? n : half;
  int64_t longest = n < states ? n : states;
  g->segment = longest > 0 ? longest : 1;
  g->n_segments = (n + g->segment - 1) / g->segment;
  g->n_slots = states < g->n_segments ? states : g->n_segments > 0 ? g->n_segments : 1;
}

// Segments of a run that n_free more states allow, if none is computed again more than r times; n:
// as many or more.
static int64_t gradient_reach(int64_t n_free, int64_t r, int64_t n) {
  double count = 1.0;
  for (int64_t i = 1; i <= r && count < (double)n; i++) {
    count *= (double)(n_free + 1 + i) / (double)i;
  }
  return count < (double)n ? llround(count) : n;
}

// How many of n segments, n > 1, lie before the next state that is kept.
static int64_t way_to_next(int64_t n, int64_t n_free) {
  int64_t r = 1;
  while (gradient_reach(n_free, r, n) < n) {
    r++;
  }
  int64_t before = gradient_reach(n_free, r - 1, n);
  return before < n ? before : n - 1;
}

static int64_t step_of(const Gradient* g, int64_t segment) {
  int64_t step = segment * g->segment;
  return step < g->def->n_steps ? step : g->def->n_steps;
}

static NoliStatus gradient_keep(Gradient* g, int64_t segment) {
  NoliStatus status = NOLI_OK;
  Kept* kept = &g->kept[g->n_kept];
  if (g->n_kept == g->n_made) {
    NOLI_TRY(noli_state_create(g->context, &g->sim->state.sizes, &kept->state));
    g->n_made++;
  }
  NOLI_TRY(noli_state_copy(g->context, &g->sim->state, &kept->state));
  kept->segment = segment;
  g->n_kept++;
done:
  return status;
}

// Runs segments; the tape of the last one stays. All are taped: solves end in the same way then.
static NoliStatus run_segments(Gradient* g, int64_t begin, int64_t end, bool with_values) {
  NoliStatus status = NOLI_OK;
  for (int64_t k = begin; k < end; k++) {
    noli_tape_clear(&g->tape);
    noli_tape_attach(&g->tape, g->sim);
    NOLI_TRY(run(g, step_of(g, k), step_of(g, k + 1), with_values));
    noli_tape_detach(g->sim);
  }
done:
  noli_tape_detach(g->sim);
  return status;
}

// From the last kept state to the end of a segment, whose tape stays; keeps states on the way.
static NoliStatus run_on(Gradient* g, int64_t end, bool with_values) {
  NoliStatus status = NOLI_OK;
  int64_t at = g->kept[g->n_kept - 1].segment;
  while (end - at > 1 && g->n_kept < g->n_slots) {
    int64_t next = at + way_to_next(end - at, g->n_slots - g->n_kept);
    NOLI_TRY(run_segments(g, at, next, with_values));
    NOLI_TRY(gradient_keep(g, at = next));
  }
  NOLI_TRY(run_segments(g, at, end, with_values));
done:
  return status;
}

// The tape of a segment behind the last one kept, all of them from `segment` on being done.
static NoliStatus run_again(Gradient* g, int64_t segment) {
  while (g->kept[g->n_kept - 1].segment > segment) {
    g->n_kept--;
  }
  const Kept* last = &g->kept[g->n_kept - 1];
  use_state(g, &last->state);
  g->report.recomputed += step_of(g, segment + 1) - step_of(g, last->segment);
  return run_on(g, segment + 1, false);
}

// ---- reverse ------------------------------------------------------------------------------------

static NoliStatus objectives_adjoint(Gradient* g, int64_t step) {
  NoliStatus status = NOLI_OK;
  for (int32_t i = 0; i < g->n_objectives; i++) {
    NOLI_TRY(find_derivatives(g, i, step));
    gradient_add(g, 1.0, g->d_x, g->chains.chain[i].x);
    gradient_add(g, 1.0, g->d_v, g->chains.chain[i].v);
    for (int64_t k = 0; k < noli_model_history_size(g->sim->model); k++) {
      g->chains.chain[i].history[k] += g->d_history[k];
    }
  }
done:
  return status;
}

// Sets the last solve of a part up: contact forces at its end can be computed.
static NoliStatus set_end(Gradient* g, const NoliTapePart* part) {
  int32_t last = part->n_stages - 1;
  return noli_sensitivity_set(g->chains.sensitivity, part, last, part->stage[last].solve.count - 1);
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
      NOLI_TRY(objectives_adjoint(g, step--));
    }
    for (int32_t i = 0; i < g->n_objectives; i++) {
      NOLI_TRY(noli_chains_adjoint(&g->chains, i, part));
    }
    g->report.at_yield += noli_history_links_switches(g->sim, part);
  }
done:
  return status;
}

// `at_end`: the state after the run, then those after each segment.
static NoliStatus reverse(Gradient* g, NoliState* at_end) {
  NoliStatus status = NOLI_OK;
  for (int64_t k = g->n_segments - 1; k >= 0; k--) {
    NOLI_TRY(k + 1 < g->n_segments ? run_again(g, k) : NOLI_OK);
    NOLI_TRY(reverse_tape(g, step_of(g, k + 1), at_end));
    NOLI_TRY(noli_state_copy(g->context, &g->tape.part.data[0].start, at_end));
  }

  // the start
  use_state(g, &g->kept[0].state);
  NOLI_TRY(objectives_adjoint(g, 0));
  for (int32_t i = 0; i < g->n_objectives; i++) {
    NoliInputs* inputs = &g->chains.inputs[i];
    NOLI_TRY(noli_history_links_start_adjoint(
        g->sim, &(NoliHistoryDerivatives){.x = g->chains.chain[i].x,
                                          .rest = inputs->value[NOLI_INPUT_REST],
                                          .state = g->chains.chain[i].history}));
    noli_chains_act_on_nodes(&g->chains, i, g->sim->state.x, g->chains.chain[i].x);
    if (inputs->value[NOLI_INPUT_START] != NULL) {
      gradient_add(g, 1.0, g->chains.chain[i].x, inputs->value[NOLI_INPUT_START]);
    }
    if (inputs->value[NOLI_INPUT_VELOCITY] != NULL) {
      gradient_add(g, 1.0, g->chains.chain[i].v, inputs->value[NOLI_INPUT_VELOCITY]);
    }
    noli_parameters_adjoint(g->parameters, inputs, g->gradient + i * g->n_parameters);
  }
done:
  return status;
}

// ---- forward ------------------------------------------------------------------------------------

// gradient[i][j] += what changes of the state at this time contribute.
static NoliStatus objectives_tangent(Gradient* g, int64_t step) {
  NoliStatus status = NOLI_OK;
  for (int32_t i = 0; i < g->n_objectives; i++) {
    NOLI_TRY(find_derivatives(g, i, step));
    for (int64_t j = 0; j < g->n_parameters; j++) {
      double sum = 0.0;
      for (int64_t k = 0; k < gradient_size_of(g); k++) {
        sum += g->d_x[k] * g->chains.chain[j].x[k] + g->d_v[k] * g->chains.chain[j].v[k];
      }
      for (int64_t k = 0; k < noli_model_history_size(g->sim->model); k++) {
        sum += g->d_history[k] * g->chains.chain[j].history[k];
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
    noli_parameters_tangent(g->parameters, j, &g->chains.inputs[j]);
    if (g->chains.inputs[j].value[NOLI_INPUT_START] != NULL) {
      gradient_add(g, 1.0, g->chains.inputs[j].value[NOLI_INPUT_START], g->chains.chain[j].x);
    }
    if (g->chains.inputs[j].value[NOLI_INPUT_VELOCITY] != NULL) {
      gradient_add(g, 1.0, g->chains.inputs[j].value[NOLI_INPUT_VELOCITY], g->chains.chain[j].v);
    }
    noli_chains_follow(&g->chains, (int32_t)j, g->sim->state.x, g->chains.chain[j].x);
    noli_chains_follow(&g->chains, (int32_t)j, g->sim->state.v, g->chains.chain[j].v);
    NOLI_TRY(noli_history_links_start_tangent(
        g->sim, &(NoliHistoryDerivatives){.x = g->chains.chain[j].x,
                                          .rest = g->chains.inputs[j].value[NOLI_INPUT_REST],
                                          .state = g->chains.chain[j].history}));
  }

  NOLI_TRY(add_values(g, 0));
  NOLI_TRY(objectives_tangent(g, 0));
  for (int64_t step = 0; step < g->def->n_steps; step++) {
    noli_tape_clear(&g->tape);
    noli_tape_attach(&g->tape, g->sim);
    NOLI_TRY(run(g, step, step + 1, true));
    noli_tape_detach(g->sim);
    for (int64_t p = 0; p < g->tape.part.count; p++) {
      for (int64_t j = 0; j < g->n_parameters; j++) {
        NOLI_TRY(noli_chains_tangent(&g->chains, (int32_t)j, &g->tape.part.data[p]));
      }
      g->report.at_yield += noli_history_links_switches(g->sim, &g->tape.part.data[p]);
    }
    g->sim->energy.end.stage = NULL; // the stage was used
    noli_sim_end_histories(g->sim);
    NOLI_TRY(objectives_tangent(g, step + 1));
  }
done:
  noli_tape_detach(g->sim);
  return status;
}

// ---- making -------------------------------------------------------------------------------------

static NoliStatus gradient_allocate(Gradient* g) {
  NoliStatus status = NOLI_OK;
  int32_t n = g->tangent ? (int32_t)g->n_parameters : g->n_objectives;
  NOLI_NEW_ZERO(g->context, g->d_x, gradient_size_of(g));
  NOLI_NEW_ZERO(g->context, g->d_v, gradient_size_of(g));
  NOLI_NEW_ZERO(g->context, g->d_p, g->n_parameters);
  NOLI_NEW_ZERO(g->context, g->d_history, noli_model_history_size(g->sim->model));
  NOLI_NEW_ZERO(g->context, g->kept, g->n_slots);
  NOLI_TRY(noli_chains_create(g->sim, g->parameters, n, &g->chains));
  g->tape.sensitivity = g->chains.sensitivity;
done:
  return status;
}

static void gradient_release(Gradient* g) {
  NoliContext* context = g->context;
  noli_free(context, g->d_x);
  noli_free(context, g->d_v);
  noli_free(context, g->d_p);
  noli_free(context, g->d_history);
  for (int64_t k = 0; k < g->n_made; k++) {
    noli_state_free(context, &g->kept[k].state);
  }
  noli_free(context, g->kept);
  noli_tape_clear(&g->tape);
  noli_chains_free(&g->chains);
}

static NoliStatus gradient_differentiate(Gradient* g) {
  NoliStatus status = NOLI_OK;
  NoliState final = {0}, at_end = {0};
  double start = noli_seconds();
  g->n_slots = g->gradient != NULL ? g->n_slots : 1; // values alone
  NOLI_TRY(gradient_keep(g, 0));
  NOLI_TRY(add_values(g, 0));
  NOLI_TRY(run_on(g, g->n_segments, true));
  g->report.forward = noli_seconds() - start;
  start = noli_seconds();
  if (g->gradient != NULL) {
    NOLI_TRY(noli_state_create(g->context, &g->sim->state.sizes, &final));
    NOLI_TRY(noli_state_create(g->context, &g->sim->state.sizes, &at_end));
    NOLI_TRY(noli_state_copy(g->context, &g->sim->state, &final));
    NOLI_TRY(noli_state_copy(g->context, &g->sim->state, &at_end));
    status = reverse(g, &at_end);
    noli_tape_detach(g->sim);
    use_state(g, &final);
  }

  g->report.bytes = noli_tape_part_bytes(g->sim, USUAL_SOLVES) * (g->segment + g->n_made);
  g->report.backward = noli_seconds() - start;
done:
  noli_state_free(g->context, &final);
  noli_state_free(g->context, &at_end);
  return status;
}

static NoliStatus check(Gradient* g) {
  NoliStatus status = NOLI_OK;
  NOLI_TRY(noli_sensitivity_require(g->sim, noli_parameters_wanted(g->parameters)));
  for (int32_t i = 0; i < g->n_objectives; i++) {
    NOLI_CHECK(g->context, g->objective[i].evaluate != NULL, NOLI_ERROR_ARGUMENT,
               "derivatives: objective %d has no function", (int)i);
  }
  NOLI_TRY(noli_numbers_check(g->context, "derivatives: ", NOLI_NUMBERS_GRADIENT, g->def));
  NOLI_TRY(
      noli_names_require(g->context, "derivatives: ", &noli_gradient_mode_names, g->def->mode));
  g->tangent = g->def->mode != NULL && strcmp(g->def->mode, "tangent") == 0;
done:
  return status;
}

static NoliStatus find_gradient(NoliSim* sim, const NoliParameters* parameters,
                                const NoliObjective* objectives, int32_t n_objectives,
                                const NoliGradientDef* def, double* value, double* gradient,
                                NoliGradientReport* report) {
  NoliStatus status = NOLI_OK;
  Gradient g = {.context = sim->context,
                .chains = {.context = sim->context},
                .sim = sim,
                .parameters = parameters,
                .objective = objectives,
                .n_objectives = n_objectives,
                .def = def,
                .n_parameters = noli_parameters_count(parameters),
                .value = value,
                .gradient = gradient};

  noli_tape_init(&g.tape, sim->context, def->tolerance > 0.0 ? def->tolerance : 1e-10);
  NOLI_CHECK(sim->context, !sim->model->problem.ranks.in_parts, NOLI_ERROR_ARGUMENT,
             "derivatives on several ranks: set NoliSimDef.whole_elements");
  memset(value, 0, (size_t)n_objectives * sizeof *value);
  if (gradient != NULL) {
    memset(gradient, 0, (size_t)(n_objectives * g.n_parameters) * sizeof *gradient);
  }
  NOLI_TRY(check(&g));
  choose_segments(&g);
  NOLI_TRY(gradient_allocate(&g));
  NOLI_TRY(g.tangent && gradient != NULL ? forward(&g) : gradient_differentiate(&g));

  for (int32_t i = 0; i < n_objectives && !g.tangent; i++) {
    double relative = fabs(value[i]) > 0.0 ? g.chains.error[i] / fabs(value[i]) : 0.0;
    g.report.residual_error = fmax(g.report.residual_error, relative);
  }
  if (report != NULL) {
    *report = g.report;
  }
done:
  noli_tape_detach(sim);
  noli_sim_end_histories(sim);
  gradient_release(&g);
  return status;
}

NoliStatus noli_sim_gradient(NoliSim* sim, const NoliParameters* parameters,
                             const NoliObjective* objectives, int32_t n_objectives,
                             const NoliGradientDef* def, double* value, double* gradient,
                             NoliGradientReport* report) {
  NOLI_REQUIRE_IDLE(sim, sim != NULL && parameters != NULL && objectives != NULL &&
                             n_objectives > 0 && def != NULL && value != NULL);
  noli_ranks_begin_outer(sim->context);
  return noli_ranks_end_outer(sim->context, find_gradient(sim, parameters, objectives, n_objectives,
                                                          def, value, gradient, report));
}
