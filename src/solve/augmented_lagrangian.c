// The barrier-free solver of [Zheng2025]: an augmented Lagrangian over an active set of linearized
// contact constraints.
//
// Newton iterations move a target state y, which may penetrate; a safe state x follows it along a
// piecewise linear path without intersections. Each iteration
// 1. linearizes the constraints at x and minimizes the potential plus the augmented Lagrangian over
//    y, until a full Newton step is taken (algorithm 2),
// 2. updates multipliers and decay factors,
// 3. advances x towards y by the fraction alpha that CCD and the orientation of elements allow,
// 4. adds the pairs that block the path to the active set and drops decayed ones (algorithm 3).
// It ends when the weight of the first min_iterations - 1 targets in x is below toi_tolerance: eq.
// 9. With "residual" termination the last Newton step of y must also be below the tolerance: two or
// three iterations do not relax nearly flat elements, and the next time steps then take longer.
//
// Prescribed nodes of y are at their targets (section 5.3), so they need no springs.
//
// The active set belongs to the contact model (solve/contact_constraints.c) and starts as the
// active set of the previous step.
#include "base/profile.h"
#include "base/timer.h"
#include "contact/constraints/active_set.h"
#include "math/vec3.h"
#include "solve/arcs.h"
#include "solve/balance.h"
#include "solve/direction.h"
#include "solve/easing.h"
#include "solve/line_search.h"
#include "solve/method.h"
#include "solve/prescribed.h"

#include <math.h>
#include <string.h>

// Fraction of a gap that one advance may consume, and fraction of delta above which gaps may
// shrink.
#define CCD_SAFETY 0.9
#define GAP_CAP 0.1
// Below this fraction of delta, gaps shrink slowly: multipliers need some iterations to build up.
#define SMALL_GAP 0.05
// Fraction of its volume that an element keeps in a Newton step, and on the path of the safe state.
#define KEEP_VOLUME 0.1
#define KEEP_ON_WAY 0.5

// Newton steps shorter than this fraction of the tolerance are negligible, whether cut or full.
#define NEGLIGIBLE 0.01

// Stiffness of the springs that pull prescribed nodes, relative to the stiffest node: they reach
// their targets in one iteration.
#define PULL_STIFFNESS 1e4

// After MAX_SLOW_ADVANCES consecutive advances below this length, y restarts from the safe state
// with multipliers estimated there. The limit doubles with each restart: if restarting does not
// help, the multipliers need time to converge.
#define SLOW_ADVANCE 0.1
enum { MAX_SLOW_ADVANCES = 5 };

// [Zheng2025] section 5.2: after MAX_BLOCKED consecutive iterations with shorter advances, mu is
// doubled and delta halved.
#define BLOCKED_ADVANCE 1e-4
enum { MAX_BLOCKED = 50, MAX_ADJUSTMENTS = 3, MAX_PULLS = 20 };

// Without prescribed motion a step must not increase the energy, see energy_settled: tolerance
// relative to the kinetic energy.
#define ENERGY_SLACK 0.01
#define ROUNDING 1e-12
// Energies that differ by less than this fraction are equal: a body that falls from rest gains as
// much as the first Newton step releases, and rounding must not decide.
#define TIE 1e-6
// Fraction of the kinetic energy that a step may spend on recovering gaps.
#define RECOVERY_WORK 0.001
// Allowed energy error at the end of a step, relative to the kinetic and elastic energy: errors of
// positions are of the order of its root. 1e-2 saves no iterations, because the next step starts
// from multipliers that are wrong, and results then depend on the axes by 0.3 %; stacks of sheets
// take a third more with 1e-4. Load steps do not make up for the error of the step before.
#define ENERGY_ERROR 3e-3
#define ENERGY_ERROR_OF_STATICS 1e-4

// A solve that takes more iterations is stuck with constraints that keep changing or that
// prescribed motion makes infeasible: the barrier needs fewer iterations from the start of the
// step.
enum { MAX_ITERATIONS = 200 };

// Kept between solves.
typedef struct Work {
  double* safe;        // (n_vert x 3) the safe state
  double* start;       // (n_vert x 3) where it started
  NoliImpacts impacts; // on the path from there to y
} Work;

// One solve; y is stage->here->x.
typedef struct Solve {
  NoliStage* stage;
  NoliActiveSet* set;
  Work* work;
  double beta;               // weight of the early targets in the safe state
  int32_t iterations;        // Newton iterations
  int32_t n_advances;        // advances since the boundary reached its final target
  int32_t n_slow;            // consecutive slow advances
  int32_t max_slow_advances; // after which y restarts
  int32_t n_blocked;         // consecutive blocked advances
  int32_t adjustments;       // of mu and delta
  bool boundary_done;        // prescribed nodes of y are at their targets
  bool full_step;            // the last Newton step was not cut
  bool eased;                // it saw rigid bodies softer than they are
  bool settled;              // x may be the end of the step, except that forces do not balance
  // Elements would invert on the straight path from x to y although both states are valid: y has
  // passed around an obstacle. It restarts from x, and x follows each of its Newton steps.
  bool step_by_step;
  double max_stiffness;   // largest diagonal entry of the Hessian without contact
  double energy_limit;    // J s^2, energy without contact with which the step may end
  double energy_scale;    // J s^2, kinetic, elastic and friction energy of y
  double energy_error;    // J s^2, by which y may miss the minimum under its constraints
  double multiplier_work; // J s^2, work of the multipliers from y to the safe state
} Solve;

static size_t vector_bytes(const NoliStage* stage) {
  return (size_t)stage->problem->n_vert * 3 * sizeof(double);
}

// Largest fraction of stage->search.step from x that keeps the fraction `keep` of each element's
// volume, and of each way to a limit of a joint.
static NoliStatus bound_inversion(NoliStage* stage, const double* x, double keep, bool valid_end,
                                  double* bound) {
  NoliStatus status = NOLI_OK;
  NOLI_TRY(noli_problem_inversion_bound(stage->problem, stage->context, x, stage->search.step, keep,
                                        valid_end, bound, &stage->record.blocking));
  *bound = noli_stage_bound_coordinates(stage, x, valid_end ? 1.0 : 1.0 - keep, *bound);
done:
  return status;
}

// The same at y.
static NoliStatus bound_chord(NoliStage* stage, double* alpha) {
  return bound_inversion(stage, stage->here->x, KEEP_VOLUME, false, alpha);
}

// ---- penalty stiffness and multipliers ----------------------------------------------------------

// All terms except contact. Implicit friction is not combined with this solver.
enum { WITHOUT_CONTACT = NOLI_ROLE_ALL & ~(NOLI_ROLE_CONTACT | NOLI_ROLE_IMPLICIT_FRICTION) };

// The Hessian without contact, for the penalty stiffness. Friction is excluded too: its stiffness
// where it sticks does not act along normals.
static NoliStatus augmented_lagrangian_begin_stiffness(Solve* solve) {
  NoliStatus status = NOLI_OK;
  NoliStage* stage = solve->stage;
  NoliActiveSet* set = solve->set;
  int64_t n_vert = stage->problem->n_vert;
  double start = noli_seconds();
  NOLI_TRY(noli_stage_linearize_stiffness(stage));
  NOLI_TRY(noli_system_find_diagonal(&stage->system));
  solve->max_stiffness = noli_system_largest_diagonal(&stage->system);
  set->ratio = stage->problem->solver.augmented_lagrangian.stiffness_ratio;
  NOLI_TRY(noli_array_reserve(stage->context, &set->diagonal, 9 * n_vert));
  set->diagonal.count = 9 * n_vert;
  for (int64_t i = 0; i < n_vert; i++) {
    double* block = set->diagonal.data + 9 * i;
    if (noli_system_is_unknown(&stage->system, i)) {
      memcpy(block, noli_system_diagonal(&stage->system, stage->system.dof[i]), 9 * sizeof *block);
    } else {
      memset(block, 0, 9 * sizeof *block);
    }
  }
  noli_easing_set_resistance(stage, set->diagonal.data);
  stage->record.timing.assemble += noli_seconds() - start;
done:
  return status;
}

// Linearizes the constraints and estimates multipliers at the safe state, where y is now.
static NoliStatus balance(Solve* solve) {
  NoliStatus status = NOLI_OK;
  NoliStage* stage = solve->stage;
  NOLI_TRY(noli_constraints_linearize(stage, solve->work->safe));
  NOLI_TRY(noli_stage_gradient_without_contact(stage));
  noli_active_set_estimate_multipliers(solve->set, stage->search.gradient);
done:
  return status;
}

// Whether the first contact on the path to y is between prescribed nodes: none of them can give
// way.
static bool is_blocked_for_good(const Solve* solve) {
  const NoliStage* stage = solve->stage;
  const NoliImpact* earliest = noli_impacts_earliest(&solve->work->impacts);
  if (earliest == NULL) {
    return false;
  }
  int32_t vertex[4];
  int32_t n = noli_primitives_vertices(stage->problem->surface, earliest->kind, earliest->a,
                                       earliest->b, vertex);
  for (int32_t k = 0; k < n; k++) {
    if (vertex[k] >= stage->problem->n_node || noli_system_is_unknown(&stage->system, vertex[k])) {
      return false;
    }
  }
  return true;
}

// Handles a run of blocked advances: mu and delta are unsuitable for the scene, or a prescribed
// motion is infeasible. Gives up the motion only if prescribed surfaces meet: otherwise the barrier
// may get further.
static NoliStatus adjust(Solve* solve, double alpha) {
  NoliStage* stage = solve->stage;
  solve->n_blocked = alpha < BLOCKED_ADVANCE ? solve->n_blocked + 1 : 0;
  if (solve->n_blocked < MAX_BLOCKED) {
    return NOLI_OK;
  }
  solve->n_blocked = 0;

  // the motion ends at the safe state
  if (is_blocked_for_good(solve) && noli_prescribed_give_up(stage, solve->work->safe)) {
    memcpy(stage->here->x, solve->work->safe, vector_bytes(stage));
    solve->adjustments = 0;
    solve->n_advances = 0;
    solve->beta = 1.0;
    return noli_stage_energy(stage);
  }

  // change penalty stiffness and gap
  solve->adjustments++;
  if (solve->adjustments <= MAX_ADJUSTMENTS) {
    noli_active_set_harden(solve->set);
    return NOLI_OK;
  }
  return noli_fail(stage->context, NOLI_STEP_BLOCKED,
                   "augmented Lagrangian: the safe state does not advance (alpha %.3g, %lld "
                   "constraints, mu %.3g, gap to keep %.3g m)",
                   alpha, (long long)solve->set->constraint.count,
                   noli_active_set_largest_mu(solve->set), solve->set->delta);
}

// ---- algorithm 2: the target state --------------------------------------------------------------

// One Newton iteration on y with fixed slacks.
static NoliStatus newton_step(Solve* solve, NoliNewtonStat* stat) {
  NoliStatus status = NOLI_OK;
  NoliStage* stage = solve->stage;
  int32_t most = stage->problem->solver.max_iterations;
  most = most < MAX_ITERATIONS ? most : MAX_ITERATIONS;
  NOLI_CHECK(stage->context, solve->iterations < most, NOLI_NOT_CONVERGED,
             "augmented Lagrangian: no convergence in %d iterations (weight of early targets "
             "%.3g, %lld constraints)",
             solve->iterations, solve->beta, (long long)solve->set->constraint.count);
  stat->contacts = solve->set->constraint.count;

  // where surfaces have separated by part of a gap deficit, y is beyond the gap of this step: the
  // estimated multipliers decide which constraints push, not the start of y
  bool first = solve->iterations == 0;
  noli_active_set_update_slacks(solve->set, stage->here->x, first, stage->n_threads);
  NOLI_TRY(noli_stage_role_energy(stage, NOLI_ROLE_CONTACT));
  NOLI_TRY(noli_stage_linearize(stage));
  NOLI_TRY(noli_solve_direction(stage, false, stat));
  noli_arcs_begin(stage);
  double start = noli_seconds();
  NOLI_TRY(bound_chord(stage, &stat->alpha_inversion));
  stage->record.timing.line_search += noli_seconds() - start;
  NoliLineSearch search;
  NOLI_TRY(noli_line_search(stage, stat->alpha_inversion, bound_chord, false, &search));
  double taken = search.alpha;
  stat->energy_change = search.change;
  solve->full_step = taken >= 1.0;
  solve->iterations++;
  NOLI_TRY(noli_easing_update(stage, solve->full_step, &solve->eased));
done:
  return status;
}

// Moves the prescribed nodes of y to their targets, if elements allow.
static NoliStatus place_boundary(Solve* solve) {
  NoliStatus status = NOLI_OK;
  NoliStage* stage = solve->stage;
  double bound;
  memset(stage->search.step, 0, vector_bytes(stage));
  noli_prescribed_set_step(stage);
  NOLI_TRY(bound_inversion(stage, stage->here->x, KEEP_VOLUME, false, &bound));
  solve->boundary_done = bound >= 1.0;
  if (solve->boundary_done) {
    noli_prescribed_set_targets(stage, stage->here->x);
    noli_stage_track_coordinates(stage);
  }
  NOLI_TRY(noli_stage_energy(stage));
done:
  return status;
}

static NoliNewtonStat new_stat(const Solve* solve) {
  return (NoliNewtonStat){.stage = solve->stage->step.index,
                          .friction_iteration = solve->stage->friction.iteration,
                          .beta = solve->beta};
}

// Measures the error that the last Newton step may have left.
static void measure_error(Solve* solve, const NoliNewtonStat* stat) {
  solve->energy_scale = noli_stage_reference_energy(solve->stage);
  solve->energy_error = -stat->energy_change;
}

// If moving the prescribed nodes alone would invert elements, springs pull them together with the
// other nodes until they can reach their targets; in one Newton step if x has to follow it.
static NoliStatus pull_boundary(Solve* solve, NoliNewtonStat* stat) {
  NoliStatus status = NOLI_OK;
  NoliStage* stage = solve->stage;
  stage->prescribed.springs.hold = true;
  stage->prescribed.springs.stiffness =
      PULL_STIFFNESS * solve->max_stiffness / stage->problem->inertia.mean_mass;
  NOLI_TRY(noli_stage_number_unknowns(stage));
  NOLI_TRY(noli_stage_energy(stage));
  for (int32_t i = 0; i < MAX_PULLS && !solve->boundary_done; i++) {
    *stat = new_stat(solve);
    NOLI_TRY(newton_step(solve, stat));
    measure_error(solve, stat);
    if (solve->full_step) {
      NOLI_TRY(place_boundary(solve));
    }
    if (solve->step_by_step) {
      break;
    }
    NOLI_TRY(noli_stage_record(stage, stat));
  }

  stage->prescribed.springs.hold = false;
  NOLI_TRY(noli_stage_number_unknowns(stage));
  NOLI_TRY(noli_stage_energy(stage));
done:
  return status;
}

// The paper ends the subproblem with a full step. A step that raises the residual does not count:
// elements that every full step crushes further would never recover.
static NoliStatus check_residual(Solve* solve, const NoliNewtonStat* stat) {
  NoliStatus status = NOLI_OK;
  NoliStage* stage = solve->stage;
  if (solve->full_step && stat->step_speed >= NEGLIGIBLE * stage->step.tolerance) {
    double start = noli_seconds();
    noli_stage_set_trial(stage, 0.0);
    NOLI_TRY(noli_stage_trial_gradient(stage));
    solve->full_step =
        noli_system_largest(&stage->system, stage->search.trial_gradient) <= stat->residual;
    stage->record.timing.assemble += noli_seconds() - start;
  }
done:
  return status;
}

static NoliStatus solve_subproblem(Solve* solve, NoliNewtonStat* stat) {
  NoliStatus status = NOLI_OK;
  NoliStage* stage = solve->stage;
  for (;;) {
    *stat = new_stat(solve);
    NOLI_TRY(newton_step(solve, stat));
    NOLI_TRY(check_residual(solve, stat));
    measure_error(solve, stat);
    bool near = solve->energy_error <= solve->energy_scale * (1.0 + TIE);
    bool ends = (solve->full_step && near) || stat->step_speed < NEGLIGIBLE * stage->step.tolerance;
    if ((ends && !solve->eased) || solve->step_by_step) {
      break;
    }
    NOLI_TRY(noli_stage_record(stage, stat));
  }
done:
  return status;
}

// Moves the prescribed nodes of y to their targets, then y to the minimum; not both if x has to
// follow each Newton step.
static NoliStatus move_target(Solve* solve, NoliNewtonStat* stat) {
  NoliStatus status = NOLI_OK;
  bool pulled = false;
  if (!solve->boundary_done) {
    NOLI_TRY(place_boundary(solve));
  }
  if (!solve->boundary_done) {
    NOLI_TRY(pull_boundary(solve, stat));
    pulled = true;
  }
  if (!pulled || !solve->step_by_step) {
    NOLI_TRY(solve_subproblem(solve, stat));
  }
done:
  return status;
}

// ---- the safe state -----------------------------------------------------------------------------

// Some segment of the body with this vertex as an end.
static int32_t edge_at(const NoliSurface* surface, int32_t vertex) {
  int32_t body = surface->body[vertex], e = surface->edge_first[body];
  while (e + 1 < surface->edge_first[body + 1] && surface->edge[2 * (int64_t)e] != vertex &&
         surface->edge[2 * (int64_t)e + 1] != vertex) {
    e++;
  }
  return e;
}

// The contact or element that limits the advance, for messages.
static NoliStepBound bound_of(const NoliSurface* surface, const NoliImpact* earliest,
                              double inversion) {
  if (earliest == NULL || inversion < earliest->toi) {
    return (NoliStepBound){inversion, NOLI_NULL_INDEX, NOLI_NULL_INDEX, false, NOLI_NULL_INDEX};
  }
  bool half_space = earliest->kind == NOLI_PRIMITIVES_HALF_SPACE;
  bool planar = earliest->kind == NOLI_PRIMITIVES_POINT_EDGE;
  return (NoliStepBound){.alpha = earliest->toi,
                         .a = planar ? edge_at(surface, earliest->a) : earliest->a,
                         .b = half_space ? NOLI_NULL_INDEX : earliest->b,
                         .edge_edge = planar || earliest->kind == NOLI_PRIMITIVES_EDGE_EDGE,
                         .half_space = half_space ? earliest->b : NOLI_NULL_INDEX};
}

// Restarts y from the safe state.
static NoliStatus restart(Solve* solve) {
  NoliStage* stage = solve->stage;
  memcpy(stage->here->x, solve->work->safe, vector_bytes(stage));
  solve->boundary_done = stage->prescribed.n == 0;
  solve->step_by_step = true;
  solve->n_slow = 0;
  return noli_stage_energy(stage);
}

// Advances the safe state towards y and finds the pairs that block it.
static NoliStatus advance_safe_state(Solve* solve, NoliNewtonStat* stat) {
  NoliStatus status = NOLI_OK;
  NoliWork before = noli_work(NOLI_WORK_CCD);
  NoliStage* stage = solve->stage;
  const NoliProblem* problem = stage->problem;
  double start = noli_seconds();
  NoliCcdOptions options = noli_default_ccd_options();
  options.safety = CCD_SAFETY;
  options.method = problem->contact.ccd;
  options.gap_cap = GAP_CAP * solve->set->delta;
  options.small_gap = SMALL_GAP * solve->set->delta;
  int64_t n = 3 * (int64_t)problem->n_vert;

  // the path to y and the impacts on it
  for (int64_t i = 0; i < n; i++) {
    stage->search.step[i] = stage->here->x[i] - solve->work->safe[i];
  }
  double inversion;
  NOLI_TRY(bound_inversion(stage, solve->work->safe, KEEP_ON_WAY, true, &inversion));
  double reach = options.gap_cap * noli_body_pairs_largest_range(&problem->contact.body_pairs);
  NOLI_TRY(noli_broad_phase_find(stage->contact.broad_phase, solve->work->safe, stage->here->x,
                                 reach, &problem->contact.body_pairs, &stage->trial->candidates));
  const NoliColliders colliders = noli_problem_colliders(problem);
  NOLI_TRY(noli_impacts_find(&solve->work->impacts, stage->context, &colliders,
                             &stage->trial->candidates, solve->work->safe, stage->here->x, &options,
                             stage->n_threads));
  const NoliImpact* earliest = noli_impacts_earliest(&solve->work->impacts);

  // the free fraction
  stat->alpha_ccd = earliest != NULL ? earliest->toi : 1.0;
  stat->alpha = stat->alpha_ccd < inversion ? stat->alpha_ccd : inversion;
  // a tiny advance would only use up the gap
  stat->alpha = stat->alpha < BLOCKED_ADVANCE ? 0.0 : stat->alpha;
  stage->record.blocker = bound_of(problem->surface, earliest, inversion);

  // advance
  for (int64_t i = 0; i < n; i++) {
    solve->work->safe[i] = stat->alpha < 1.0
                               ? solve->work->safe[i] + stat->alpha * stage->search.step[i]
                               : stage->here->x[i];
  }
  noli_stage_follow(stage, solve->work->safe);
  NOLI_TRY(noli_stage_audit(stage, solve->work->safe));

  // restart y if necessary
  solve->n_slow = stat->alpha < SLOW_ADVANCE ? solve->n_slow + 1 : 0;
  if (solve->n_slow >= solve->max_slow_advances) {
    solve->max_slow_advances *= 2;
    NOLI_TRY(restart(solve));
    NOLI_TRY(balance(solve));
  } else if (stat->alpha < 1.0 && inversion <= stat->alpha_ccd) {
    NOLI_TRY(restart(solve));
  } else {
    solve->step_by_step = solve->step_by_step && !(solve->full_step && solve->boundary_done);
  }
  stage->record.timing.ccd += noli_seconds() - start;
done:
  noli_work(before);
  return status;
}

// ---- algorithm 1 --------------------------------------------------------------------------------

// The safe state, where constraints are linearized, becomes the current point of the stage.
static void augmented_lagrangian_end(Solve* solve) {
  NoliStage* stage = solve->stage;
  double* target = stage->here->x;
  stage->here->x = solve->work->safe;
  solve->work->safe = target;
  noli_prescribed_measure(stage);
}

// Starts y from the inertial prediction with prescribed nodes at their targets, unless elements
// would invert; contact does not restrict it. With new friction y continues from its last position:
// far from contact, the active constraints would first have to pull it back.
static NoliStatus start_from_prediction(Solve* solve) {
  NoliStatus status = NOLI_OK;
  NoliStage* stage = solve->stage;
  double bound;
  if (stage->friction.iteration > 0) {
    return noli_stage_energy(stage);
  }
  for (int32_t i = 0; i < stage->problem->n_vert; i++) {
    for (int64_t j = 3 * (int64_t)i; j < 3 * (int64_t)i + 3; j++) {
      stage->search.step[j] = noli_system_is_unknown(&stage->system, i)
                                  ? stage->time.x_tilde[j] - stage->here->x[j]
                                  : 0.0;
    }
  }
  noli_easing_turn_step(stage);
  noli_prescribed_set_step(stage);
  NOLI_TRY(bound_inversion(stage, stage->here->x, KEEP_VOLUME, false, &bound));
  for (int64_t j = 0; bound >= 1.0 && j < 3 * (int64_t)stage->problem->n_vert; j++) {
    stage->here->x[j] += stage->search.step[j];
  }
  noli_stage_follow(stage, stage->here->x);
  noli_stage_track_coordinates(stage);
  NOLI_TRY(noli_stage_energy(stage));
done:
  return status;
}

// Energy of the scaled potential without contact at the current point.
static NoliStatus energy_without_contact(NoliStage* stage, double* energy) {
  NoliStatus status = NOLI_OK;
  *energy = 0.0;
  NOLI_TRY(noli_stage_role_energy(stage, WITHOUT_CONTACT));
  *energy = noli_stage_energy_sum(stage, WITHOUT_CONTACT).energy;
done:
  return status;
}

// Limits the energy at the end of the step: the energy at its start plus a small fraction of the
// kinetic energy. Gap recovery may use a smaller fraction. No limit if prescribed nodes move,
// because they do work.
static NoliStatus limit_energy(Solve* solve, double* recovery_work) {
  NoliStatus status = NOLI_OK;
  NoliStage* stage = solve->stage;
  solve->energy_limit = (double)INFINITY;
  *recovery_work = (double)INFINITY;
  // after friction has been lagged again, this is not the start of the step
  if (stage->friction.iteration == 0 && !noli_prescribed_moves(&stage->prescribed)) {
    NOLI_TRY(energy_without_contact(stage, &solve->energy_limit));
    double motion = noli_stage_energy_sum(stage, NOLI_ROLE_INERTIA).energy;
    *recovery_work = RECOVERY_WORK * motion;
    solve->energy_limit += ENERGY_SLACK * (motion + noli_stage_unresolved_energy(stage));
    solve->energy_limit += ROUNDING * noli_stage_energy_sum(stage, WITHOUT_CONTACT).magnitude;
  }
done:
  return status;
}

// The start of a step has no intersections, so the minimum cannot have a higher energy. If the safe
// state has, targets with unconverged multipliers led it there: in impacts of stiff bodies its
// energy can be many times too high. The step has not converged either while the last iteration
// still lowered the energy, or while the safe state lags behind y.
static NoliStatus energy_settled(Solve* solve, double alpha, bool* may) {
  NoliStatus status = NOLI_OK;
  NoliStage* stage = solve->stage;
  double safe, here, rounding, *target = stage->here->x;

  // energies of y and of the safe state
  NOLI_TRY(energy_without_contact(stage, &here));
  stage->here->x = solve->work->safe;
  status = energy_without_contact(stage, &safe);
  stage->here->x = target;
  NOLI_TRY(status);
  rounding = ROUNDING * noli_stage_energy_sum(stage, WITHOUT_CONTACT).magnitude;
  double error =
      solve->energy_error + (alpha < 1.0 ? fabs(safe - here - solve->multiplier_work) : 0.0);
  double reference = solve->energy_scale + noli_stage_unresolved_energy(stage);
  double allowed = stage->time.inertia ? ENERGY_ERROR : ENERGY_ERROR_OF_STATICS;
  *may = safe <= solve->energy_limit && error <= allowed * reference + rounding;
  if (*may) {
    goto done;
  }

  // continue
  if (alpha >= 1.0) {
    noli_active_set_release_inactive(solve->set);
  }
  NOLI_TRY(energy_without_contact(stage, &here));
done:
  return status;
}

// Whether the forces at the safe state balance, with the multipliers as forces of contact: those
// that the step reports. If not, separating surfaces no longer resist: as long as they do, a body
// that should part from another one moves by the same small length in every iteration. Without
// inertia nothing else would keep them from flying apart.
static NoliStatus forces_settled(Solve* solve, const NoliNewtonStat* stat, bool* may) {
  NoliStage* stage = solve->stage;
  double* target = stage->here->x;
  stage->here->x = solve->work->safe;
  NoliStatus status = noli_forces_balance(stage, stat->step_speed, may);
  stage->here->x = target;
  NOLI_TRY(status);
  if (!*may && stat->alpha >= 1.0 && stage->time.inertia) {
    noli_active_set_release_inactive(solve->set);
  }
  if (!*may) {
    // the next line search compares with the energies at y
    double energy;
    NOLI_TRY(energy_without_contact(stage, &energy));
  }
done:
  return status;
}

static NoliStatus begin(Solve* solve) {
  NoliStatus status = NOLI_OK;
  NoliStage* stage = solve->stage;
  noli_balance_begin(stage);
  memcpy(solve->work->safe, stage->here->x, vector_bytes(stage));
  solve->set->delta = stage->problem->contact.dhat;
  NOLI_TRY(noli_friction_begin(&stage->friction.set, stage->context, &stage->friction.law,
                               stage->here->x));
  solve->boundary_done = stage->prescribed.n == 0;
  double recovery_work;
  NOLI_TRY(limit_energy(solve, &recovery_work));
  if (stage->friction.iteration == 0) {
    memcpy(solve->work->start, stage->here->x, vector_bytes(stage));
    noli_active_set_begin_step(solve->set, solve->work->start,
                               noli_prescribed_moves(&stage->prescribed));
  }
  NOLI_TRY(augmented_lagrangian_begin_stiffness(solve));
  NOLI_TRY(balance(solve));
  if (stage->friction.iteration == 0) {
    solve->energy_limit += noli_active_set_recover_gaps(solve->set, recovery_work);
  }
  NOLI_TRY(start_from_prediction(solve));
  NOLI_TRY(noli_easing_begin(stage));
done:
  return status;
}

static NoliStatus augmented_lagrangian(NoliStage* stage, int32_t* iterations) {
  NoliStatus status = NOLI_OK;
  const NoliProblem* problem = stage->problem;
  const NoliAugmentedLagrangianDef* knobs = &problem->solver.augmented_lagrangian;
  Solve solve = {.stage = stage,
                 .set = noli_stage_constraints(stage),
                 .work = stage->work.method,
                 .beta = 1.0,
                 .max_slow_advances = MAX_SLOW_ADVANCES};
  NoliNewtonStat stat = {0};
  NOLI_TRY(begin(&solve));
  for (bool converged = false; !converged;) {
    // 1. boundary and target state
    stat = (NoliNewtonStat){0};
    status = move_target(&solve, &stat);
    if (status == NOLI_LINE_SEARCH_FAILED && solve.settled) {
      // rounding leaves no direction that would improve the balance
      status = NOLI_OK;
      break;
    }
    NOLI_TRY(status);

    // 2. multipliers, 3. the safe state, 4. the active set
    solve.energy_error += noli_active_set_update_multipliers(solve.set, stage->here->x,
                                                             knobs->decay, knobs->multipliers);
    stat.penetration = noli_active_set_penetration(solve.set, stage->here->x);
    NOLI_TRY(advance_safe_state(&solve, &stat));
    solve.multiplier_work = noli_active_set_work(solve.set, stage->here->x, solve.work->safe);
    NOLI_TRY(noli_active_set_update(solve.set, stage->context, problem->surface,
                                    &solve.work->impacts, knobs->filter, &stat.added,
                                    &stat.removed));

    // 5. weight of the early targets
    if (solve.boundary_done && !solve.step_by_step &&
        ++solve.n_advances >= noli_min_iterations(stage, stat.step_speed)) {
      solve.beta *= 1.0 - stat.alpha;
    }
    stat.beta = solve.beta;
    stat.active = noli_active_set_count_active(solve.set);
    stat.mu = noli_active_set_largest_mu(solve.set);
    stat.min_gap = noli_active_set_min_distance(solve.set);
    NOLI_TRY(noli_stage_record(stage, &stat));
    if (stat.active > stage->record.contacts_max) {
      stage->record.contacts_max = stat.active;
    }
    NOLI_TRY(adjust(&solve, stat.alpha));
    converged = solve.beta < problem->solver.toi_tolerance && !solve.eased &&
                (problem->solver.toi_termination || stat.step_speed < stage->step.tolerance);
    if (converged) {
      NOLI_TRY(energy_settled(&solve, stat.alpha, &converged));
    }
    NOLI_TRY(noli_constraints_linearize(stage, solve.work->safe));
    solve.settled = converged;
    stage->balance_missed = false;
    if (converged) {
      NOLI_TRY(forces_settled(&solve, &stat, &converged));
    }
  }
  augmented_lagrangian_end(&solve);
done:
  noli_easing_end(stage);
  stage->record.attempt = stat;
  *iterations = solve.iterations;
  return status;
}

static NoliStatus augmented_lagrangian_create(NoliStage* stage) {
  NoliStatus status = NOLI_OK;
  Work* work = stage->work.method;
  NOLI_NEW_ZERO(stage->context, work->safe, 3 * (int64_t)stage->problem->n_vert);
  NOLI_NEW_ZERO(stage->context, work->start, 3 * (int64_t)stage->problem->n_vert);
done:
  return status;
}

static void augmented_lagrangian_destroy(NoliContext* context, void* memory) {
  Work* work = memory;
  noli_free(context, work->safe);
  noli_free(context, work->start);
  noli_impacts_free(context, &work->impacts);
}

const NoliSolverMethod noli_method_augmented_lagrangian = {
    .name = "augmented_lagrangian",
    .description = "Contact by constraints of an active set with multipliers.",
    .contact = &noli_contact_constraints,
    .toi_termination = true,
    .solve = augmented_lagrangian,
    .size = sizeof(Work),
    .create = augmented_lagrangian_create,
    .destroy = augmented_lagrangian_destroy};
