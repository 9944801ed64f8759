#include "solve/projected_newton.h"

#include "solve/direction.h"
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

// Share of the energy of motion and deformation by which the last step of a solve may decrease the
// potential.
#define UNSETTLED 0.01

// Relative to the tolerance: a shorter Newton step consists of rounding errors, and so does the
// alpha that the line search finds.
#define ROUNDING 1e-4

// If CCD cuts a step below this fraction, contact blocks it.
#define BLOCKED 0.5

// The solve stalls if the same pair or element cuts STUCK_ITERATIONS consecutive steps to less than
// this fraction: together these cover a hundred-thousandth of one Newton step.
#define STUCK_ALPHA 1e-6
enum { STUCK_ITERATIONS = 10 };

// If the potential decreases along a step as if it had less than half of the curvature of its
// model, the next step may be this many times longer.
#define LINEAR 0.75
#define LONGEST 4.0

// Majorized friction makes steps about this many times shorter.
#define MAJORIZED_LENGTH 3.0

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
  bool cut = alpha < STUCK_ALPHA && !stage->prescribed.by_springs;
  stuck->n = !cut ? 0 : stuck->n > 0 && same_blocker(stuck, stage) ? stuck->n + 1 : 1;
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

// Whether the last step decreased the potential by little. Where surfaces are much closer than the
// tolerance, the step that parts them is short even if contact holds an energy of any size.
static bool is_settled(const NoliStage* stage, double change) {
  return !stage->time.inertia || -change <= UNSETTLED * (noli_stage_reference_energy(stage) +
                                                         noli_stage_unresolved_energy(stage));
}

// Whether the solve ends. With "residual" it ends when the Newton step is short and settled, and
// friction is resolved.
static NoliStatus test_end(NoliStage* stage, double tolerance, const NoliNewtonStat* stat,
                           bool is_short, double beta, bool* converged) {
  NoliStatus status = NOLI_OK;
  const NoliProblem* problem = stage->problem;
  *converged = problem->toi_termination ? beta < problem->toi_tolerance
                                        : is_short && is_settled(stage, stat->energy_change);
  if (*converged && !problem->toi_termination) {
    NOLI_TRY(noli_friction_solved(stage, tolerance, stat, converged));
  }
done:
  return status;
}

// Reports why the solve did not end: the length of the step, or friction.
static NoliStatus fail_slow(const NoliStage* stage, double tolerance, int32_t iterations,
                            const NoliNewtonStat* stat) {
  char friction[128] = "";
  if (stage->record.unbalanced > 0.0) {
    snprintf(friction, sizeof friction, ", friction residual %.2g (allowed %g)",
             stage->record.unbalanced, NOLI_FRICTION_RESIDUAL_MAX);
  }
  return noli_fail(stage->context, NOLI_NOT_CONVERGED,
                   "Newton: no convergence in %d iterations (step speed %.3g m/s, tolerance %.3g "
                   "m/s%s, last alpha %.3g, %lld contacts)",
                   iterations, stat->step_speed, tolerance, friction, stat->alpha,
                   (long long)stat->contacts);
}

NoliStatus noli_projected_newton_to(NoliStage* stage, double tolerance, bool plain,
                                    int32_t* iterations) {
  NoliStatus status = NOLI_OK;
  NoliNewtonStat stat = {0};
  double beta = 1.0;
  Stuck stuck = {.n = 0};
  *iterations = 0;
  double linearity = 0.0;
  noli_friction_set_exact(&stage->friction_set);
  NOLI_TRY(noli_stage_energy(stage));
  for (;;) {
    // 1. gradient and projected Hessian, 2. search direction
    stat = (NoliNewtonStat){.stage = stage->index,
                            .friction_iteration = stage->friction_iteration,
                            .contacts = noli_stage_contact_count(stage)};
    bool exact = stage->friction_set.n_majorized == 0;
    stage->record.unbalanced = 0.0;
    NOLI_TRY(noli_find_direction(stage, plain, &stat));

    // 3. bound the step by inversion, CCD and CFL filter, 4. search along it
    NoliStepFilter filter;
    double reach = linearity > LINEAR ? LONGEST : 1.0;
    NOLI_TRY(noli_stage_filter_step_to(stage, reach, CCD_SAFETY, &filter));
    stat.alpha_inversion = fmin(filter.inversion, 1.0);
    stat.alpha_ccd = fmin(filter.ccd, 1.0);
    stage->record.blocker = filter.blocker;
    NOLI_CHECK(stage->context, filter.ccd > LEAST_ALPHA, NOLI_STEP_BLOCKED,
               "CCD: no step is possible in Newton iteration %d (alpha %.3g, inversion bound %.3g)",
               *iterations + 1, filter.ccd, filter.inversion);
    NOLI_CHECK(stage->context, !stands_still(&stuck, stage, filter.ccd), NOLI_STEP_BLOCKED,
               "CCD: the same contact or element has blocked %d consecutive Newton iterations, up "
               "to iteration %d (alpha %.3g, inversion bound %.3g)",
               STUCK_ITERATIONS, *iterations + 1, filter.ccd, filter.inversion);
    NoliLineSearch search;
    NOLI_TRY(noli_line_search(stage, filter.ccd, &search));
    stat.alpha = search.alpha;
    stat.energy_change = search.change;
    linearity = search.linearity;

    bool joined;
    NOLI_TRY(noli_stage_keep_contacts(stage, stat.alpha / fmin(filter.ccd, 1.0), &joined));

    // 5. adapt the barrier, 6. release or pull prescribed nodes
    noli_stage_adapt_kappa(stage, stat.alpha_ccd < BLOCKED * stat.alpha_inversion);
    if (*iterations + 1 >= noli_min_iterations(stage)) {
      beta *= stat.step_speed < ROUNDING * tolerance ? 0.0 : 1.0 - fmin(stat.alpha, 1.0);
    }
    stat.beta = beta;
    bool converged;
    NOLI_TRY(test_end(stage, tolerance, &stat, is_short(&stat, &filter, exact, tolerance), beta,
                      &converged));
    bool changed;
    NOLI_TRY(noli_prescribed_update(stage, converged, &changed));

    // 7. record and test for the end
    NOLI_TRY(noli_stage_record(stage, &stat));
    (*iterations)++;
    if (stat.contacts > stage->record.contacts_max) {
      stage->record.contacts_max = stat.contacts;
    }
    if (converged && !changed && !joined) {
      bool stiffer;
      NOLI_TRY(noli_stage_stiffen(stage, &stiffer));
      if (!stiffer) {
        break;
      }
      beta = 1.0;
    }
    if (*iterations >= stage->problem->max_iterations) {
      status = fail_slow(stage, tolerance, *iterations, &stat);
      goto done;
    }
  }
done:
  stage->record.attempt = stat;
  return status;
}

NoliStatus noli_projected_newton(NoliStage* stage, int32_t* iterations) {
  return noli_projected_newton_to(stage, stage->tolerance, false, iterations);
}

const NoliSolverMethod noli_method_projected_newton = {
    .name = "projected_newton",
    .description = "Minimizes an energy with projected Hessians; contact by a barrier.",
    .knows_energy = true,
    .solve = noli_projected_newton};
