#include "solve/projected_newton.h"

#include "solve/arcs.h"
#include "solve/balance.h"
#include "solve/detour.h"
#include "solve/direction.h"
#include "solve/easing.h"
#include "solve/friction_end.h"
#include "solve/line_search.h"
#include "solve/method.h"
#include "solve/prescribed.h"

#include <math.h>
#include <stdio.h>

// Fraction of a gap that one step may consume.
#define CCD_SAFETY 0.9
// A shorter step is no progress: surfaces touch, or rounding dominates.
#define LEAST_ALPHA 1e-14

// Share of the energy of motion and deformation that the last step of a solve may release from
// contact.
#define UNSETTLED 0.01

// Relative to the tolerance: a shorter Newton step consists of rounding errors, and so does the
// alpha that the line search finds.
#define ROUNDING 1e-4

// The solve stalls if the same pair or element cuts STUCK_ITERATIONS consecutive steps to less than
// this fraction: together these cover a hundred-thousandth of one Newton step.
#define STUCK_ALPHA 1e-6
enum { STUCK_ITERATIONS = 10 };

// If a step decreases the potential by more than this share of what the slope predicts, the next
// one may be LONGEST times longer. A full step has then met less than half of the curvature of its
// model. One that was cut to less than half decreases it by as much whatever the curvature; asking
// for little curvature there, too, takes 1.02 times the iterations
// (docs/decisions/035-local-solves.md).
#define LINEAR 0.75
#define LONGEST 4.0

// A solve whose friction is known to be far off may end with a step this many times the tolerance.
#define ROUGH 10.0

// Majorized friction makes steps about this many times shorter.
#define MAJORIZED_LENGTH 3.0

// A full step that is longer than this share of the one before: Newton's method converges slowly.
#define SLOW 0.5
// Iterations before plain Hessians are tried again; doubled with each time that they fail.
enum { PLAIN_WAIT = 4, MOST_DOUBLINGS = 20 };

typedef struct Stuck {
  NoliStepBound blocker;
  NoliBlockingElement blocking;
  int32_t n; // consecutive iterations
} Stuck;

static bool same_blocker(const Stuck* stuck, const NoliStage* stage) {
  const NoliStepBound *a = &stuck->blocker, *b = &stage->record.blocker;
  return a->a == b->a && a->b == b->b && a->edge_edge == b->edge_edge &&
         a->half_space == b->half_space && stuck->blocking.block == stage->record.blocking.block &&
         stuck->blocking.element == stage->record.blocking.element;
}

// Whether the solve stalls, given the allowed fraction of the step. Springs of prescribed nodes
// have their own limit.
static bool stands_still(Stuck* stuck, const NoliStage* stage, double alpha) {
  bool cut = alpha < STUCK_ALPHA && !stage->prescribed.springs.hold;
  bool again = stuck->n > 0 && same_blocker(stuck, stage);
  int32_t before = again ? stuck->n : 0;
  stuck->n = cut ? before + 1 : 0;
  stuck->blocker = stage->record.blocker;
  stuck->blocking = stage->record.blocking;
  return stuck->n >= STUCK_ITERATIONS;
}

// Whether the Newton step is short, as in [Li2020]: the length of the motion, or of the motion
// by an exact model. A cut step does not count: otherwise bodies that gain less speed than the
// tolerance in each time step would never move.
static bool is_short(const NoliNewtonStat* stat, const NoliStepFilter* filter, bool exact,
                     double tolerance) {
  double length = fmax(stat->alpha, exact ? 1.0 : MAJORIZED_LENGTH);
  return !filter->shortened && length * stat->step_speed < tolerance;
}

// Whether the last step released little energy from contact. Where surfaces are much closer than
// the tolerance, the step that parts them is short whatever energy contact holds.
static bool is_settled(const NoliStage* stage, double released) {
  return !stage->time.inertia || released <= UNSETTLED * (noli_stage_reference_energy(stage) +
                                                          noli_stage_unresolved_energy(stage));
}

// ---- the solve ----------------------------------------------------------------------------------

// Whether plain Hessians are tried: while full steps hardly become shorter, because the matrix is
// too stiff. That happens where thin bodies buckle, or bend so far that the forces in their plane
// cancel those of bending.
typedef struct Pace {
  bool slow;
  double speed;     // of the last full step
  int32_t wait;     // iterations until plain Hessians are tried again
  int32_t n_failed; // times that they were indefinite
} Pace;

typedef struct Newton {
  NoliStage* stage;
  double tolerance; // m/s
  bool plain;
  bool thin; // some bodies are
  NoliNewtonStat stat;
  double beta;
  double linearity;
  bool settled; // x may be the end of the solve, except that forces do not balance
  Stuck stuck;
  Pace pace;
} Newton;

// Whether the solve ends. With "residual" it ends when the Newton step is `small`, which is short
// and settled, and friction is resolved; with either termination only if forces balance, unless
// another solve follows. For a rough draft of friction it suffices that the step is `nearly` short.
static NoliStatus test_end(Newton* newton, bool small, bool nearly, bool* converged) {
  NoliStatus status = NOLI_OK;
  NoliStage* stage = newton->stage;
  const NoliProblem* problem = stage->problem;
  bool rough = false;
  if (nearly && !small && !newton->plain && !problem->solver.toi_termination) {
    NOLI_TRY(noli_friction_suits_draft(stage, &rough));
  }
  *converged = !stage->search.detour.away &&
               (problem->solver.toi_termination ? newton->beta < problem->solver.toi_tolerance
                                                : small || rough);
  if (*converged && !problem->solver.toi_termination) {
    NOLI_TRY(noli_friction_solved(stage, newton->tolerance, &newton->stat, converged));
  }
  newton->settled = *converged;
  if (*converged && !newton->plain && !noli_friction_is_draft(stage)) {
    NOLI_TRY(noli_forces_balance(stage, newton->stat.step_speed, converged));
  }
done:
  return status;
}

// Reports why the solve did not end: the length of the step, or friction.
static NoliStatus fail_slow(const NoliStage* stage, double tolerance, int32_t iterations,
                            const NoliNewtonStat* stat) {
  char friction[128] = "", balance[128];
  if (stage->record.unbalanced > 0.0) {
    snprintf(friction, sizeof friction, ", friction residual %.2g (allowed %g)",
             stage->record.unbalanced, NOLI_FRICTION_RESIDUAL_MAX);
  }
  noli_balance_describe(stage, balance, sizeof balance);
  return noli_fail(stage->context, NOLI_NOT_CONVERGED,
                   "Newton: no convergence in %d iterations (step speed %.3g m/s, tolerance %.3g "
                   "m/s%s%s, last alpha %.3g, %lld contacts)",
                   iterations, stat->step_speed, tolerance, friction, balance, stat->alpha,
                   (long long)stat->contacts);
}

static NoliStatus find_direction(Newton* newton) {
  NoliStatus status = NOLI_OK;
  NoliStage* stage = newton->stage;
  Pace* pace = &newton->pace;
  pace->wait -= pace->wait > 0 ? 1 : 0;
  bool plain = newton->thin && pace->slow && pace->wait == 0 && !stage->search.detour.away;
  NOLI_TRY(noli_find_direction(stage, newton->plain || plain, &newton->stat));
  noli_arcs_begin(stage);
  if (plain && noli_directions_are_projected(stage->work.directions)) {
    pace->slow = false;
    pace->wait = PLAIN_WAIT << pace->n_failed;
    pace->n_failed += pace->n_failed < MOST_DOUBLINGS ? 1 : 0;
  }
done:
  return status;
}

static void update_pace(Newton* newton) {
  const NoliNewtonStat* stat = &newton->stat;
  Pace* pace = &newton->pace;
  bool full = stat->alpha >= 1.0 && !newton->stage->search.detour.away;
  pace->slow = pace->slow || (full && stat->step_speed > SLOW * pace->speed);
  pace->speed = newton->stage->search.detour.away ? (double)INFINITY : stat->step_speed;
}

static NoliStatus bound_chord(NoliStage* stage, double* alpha) {
  NoliStatus status = NOLI_OK;
  NoliStepFilter filter;
  NOLI_TRY(noli_stage_filter_step_to(stage, 1.0, CCD_SAFETY, &filter));
  *alpha = fmin(filter.ccd, 1.0);
done:
  return status;
}

// Bounds the step by inversion, CCD and CFL filter.
static NoliStatus bound_step(Newton* newton, int32_t iteration, NoliStepFilter* filter) {
  NoliStatus status = NOLI_OK;
  NoliStage* stage = newton->stage;
  double reach = newton->linearity > LINEAR ? LONGEST : 1.0;
  NOLI_TRY(noli_stage_filter_step_to(stage, reach, CCD_SAFETY, filter));
  if (filter->ccd < 1.0 && filter->ccd > LEAST_ALPHA && stage->search.bends) {
    noli_arcs_scale(stage, filter->ccd);
    NOLI_TRY(noli_stage_filter_step_to(stage, 1.0, CCD_SAFETY, filter));
    filter->inversion *= stage->search.arc;
    filter->ccd *= stage->search.arc;
  }
  newton->stat.alpha_inversion = fmin(filter->inversion, 1.0);
  newton->stat.alpha_ccd = fmin(filter->ccd, 1.0);
  stage->record.blocker = filter->blocker;
  NOLI_CHECK(stage->context, filter->ccd > LEAST_ALPHA, NOLI_STEP_BLOCKED,
             "CCD: no step is possible in Newton iteration %d (alpha %.3g, inversion bound %.3g)",
             iteration, filter->ccd, filter->inversion);
  NOLI_CHECK(stage->context, !stands_still(&newton->stuck, stage, filter->ccd), NOLI_STEP_BLOCKED,
             "CCD: the same contact or element has blocked %d consecutive Newton iterations, up "
             "to iteration %d (alpha %.3g, inversion bound %.3g)",
             STUCK_ITERATIONS, iteration, filter->ccd, filter->inversion);
done:
  return status;
}

// Searches along the step. `*lost`: a detour has taken too many iterations.
static NoliStatus search_step(Newton* newton, const NoliStepFilter* filter, NoliLineSearch* search,
                              bool* lost) {
  NoliStatus status = NOLI_OK;
  NoliStage* stage = newton->stage;
  bool may_begin = newton->thin && noli_detour_may_begin(stage), away = stage->search.detour.away;
  *lost = false;
  NOLI_TRY(
      noli_line_search(stage, filter->ccd / stage->search.arc, bound_chord, may_begin, search));
  newton->stat.alpha = search->alpha;
  newton->stat.energy_change = search->change;
  newton->linearity = search->linearity;
  if (newton->thin) {
    // a step that contact has cut was not the one that the linearization predicted
    bool whole = filter->ccd >= 1.0;
    (whole ? noli_stage_keep_last : noli_stage_clear_last)(stage);
    update_pace(newton);
  }
  if (away) {
    noli_detour_advance(stage, search->change, lost);
  }
done:
  return status;
}

// Updates what depends on the new point, and tests for the end.
static NoliStatus end_iteration(Newton* newton, const NoliStepFilter* filter,
                                const NoliLineSearch* search, bool exact, int32_t iterations,
                                bool* ended) {
  NoliStatus status = NOLI_OK;
  NoliStage* stage = newton->stage;
  NoliNewtonStat* stat = &newton->stat;
  bool joined, changed, converged, eased, away = stage->search.detour.away, stiffer = false;
  NOLI_TRY(noli_stage_keep_contacts(stage, stat->alpha / fmin(filter->ccd, 1.0), &joined));

  // adapt the barrier, release or pull prescribed nodes
  if (!away) {
    NOLI_TRY(noli_stage_adapt_kappa(stage, stat));
  }
  if (iterations + 1 >= noli_min_iterations(stage, stat->step_speed)) {
    newton->beta *=
        stat->step_speed < ROUNDING * newton->tolerance ? 0.0 : 1.0 - fmin(stat->alpha, 1.0);
  }
  stat->beta = newton->beta;
  bool small = is_short(stat, filter, exact, newton->tolerance) &&
               is_settled(stage, search->released) && !away;
  bool nearly = is_short(stat, filter, exact, ROUGH * newton->tolerance) && !away;
  NOLI_TRY(test_end(newton, small, nearly, &converged));
  NOLI_TRY(noli_easing_update(stage, converged, &eased));
  converged = converged && !eased;
  NOLI_TRY(noli_prescribed_update(stage, converged, &changed));

  // record and test for the end
  NOLI_TRY(noli_stage_record(stage, stat));
  if (stat->contacts > stage->record.contacts_max) {
    stage->record.contacts_max = stat->contacts;
  }
  *ended = converged && !changed && !joined;
  if (*ended) {
    NOLI_TRY(noli_stage_stiffen(stage, &stiffer));
  }
  if (stiffer) {
    newton->beta = 1.0;
    *ended = false;
  }
done:
  return status;
}

static NoliStatus projected_newton_iterate(Newton* newton, int32_t iterations, bool* ended) {
  NoliStatus status = NOLI_OK;
  NoliStage* stage = newton->stage;
  NoliStepFilter filter;
  NoliLineSearch search;
  bool lost, exact = stage->friction.set.n_majorized == 0;
  newton->stat = (NoliNewtonStat){.stage = stage->step.index,
                                  .friction_iteration = stage->friction.iteration,
                                  .contacts = noli_stage_contact_count(stage)};
  stage->record.unbalanced = 0.0;
  stage->balance_missed = false;
  NOLI_TRY(find_direction(newton));
  NOLI_TRY(bound_step(newton, iterations + 1, &filter));
  NOLI_TRY(search_step(newton, &filter, &search, &lost));
  NOLI_TRY(end_iteration(newton, &filter, &search, exact, iterations, ended));
  if (lost) {
    newton->beta = 1.0;
    NOLI_TRY(noli_detour_return(stage));
  }
done:
  return status;
}

NoliStatus noli_projected_newton_to(NoliStage* stage, double tolerance, bool plain,
                                    int32_t* iterations) {
  NoliStatus status = NOLI_OK;
  Newton newton = {.stage = stage,
                   .tolerance = tolerance,
                   .plain = plain,
                   .thin = noli_problem_has_thin(stage->problem),
                   .beta = 1.0,
                   .pace = {.speed = (double)INFINITY}};
  bool ended = false;
  *iterations = 0;
  NOLI_TRY(noli_friction_begin(&stage->friction.set, stage->context, &stage->friction.law,
                               stage->here->x));
  noli_detour_reset(stage);
  noli_balance_begin(stage);
  NOLI_TRY(noli_stage_energy(stage));
  NOLI_TRY(noli_easing_begin(stage));

  while (!ended) {
    status = projected_newton_iterate(&newton, *iterations, &ended);
    if (status > NOLI_OK && stage->search.detour.away) {
      newton.beta = 1.0;
      status = noli_detour_return(stage);
    } else if (status == NOLI_LINE_SEARCH_FAILED && newton.settled) {
      // rounding leaves no direction that would improve the balance
      status = NOLI_OK;
      ended = true;
    }
    NOLI_TRY(status);
    (*iterations)++;
    if (!ended && *iterations >= stage->problem->solver.max_iterations) {
      status = fail_slow(stage, tolerance, *iterations, &newton.stat);
      goto done;
    }
  }
done:
  noli_easing_end(stage);
  stage->record.attempt = newton.stat;
  if (stage->search.knows_last) {
    noli_stage_clear_last(stage);
  }
  return status;
}

NoliStatus noli_projected_newton(NoliStage* stage, int32_t* iterations) {
  return noli_projected_newton_to(stage, stage->step.tolerance, false, iterations);
}

const NoliSolverMethod noli_method_projected_newton = {
    .name = "projected_newton",
    .description = "Minimizes an energy with projected Hessians; contact by a barrier.",
    .knows_energy = true,
    .solve = noli_projected_newton};
