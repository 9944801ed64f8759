#include "solve/prescribed.h"

#include "math/mat3.h"
#include "solve/predictor.h"

#include <string.h>

// Below this fraction of the motion the springs are stiffened, above it only the multipliers are
// updated.
#define NEARLY_DONE 0.99
#define FIRST_STIFFNESS 1e6
#define LAST_STIFFNESS 1e8
// Contact blocks the motion if progress stays below this in several updates.
#define LEAST_PROGRESS 1e-3

enum { MAX_STALLED = 2, MAX_UPDATES = 40 };

// Newton iterations after which springs without progress count as converged: contact may turn the
// nodes in tiny steps for thousands of iterations.
enum { PATIENCE = 20 };

// Newton iterations of a solve after which springs continue only while each of their updates
// completes GOOD_PART of the remaining motion; after which they end; and within which the other
// nodes must then come to rest between the stopped prescribed nodes. Bodies that are squeezed flat
// creep; bodies that buckle take hundreds of iterations, but converge.
enum { GOOD_PULLS = 200, MAX_PULLS = 1000, MAX_SETTLES = 100 };
#define GOOD_PART 0.2

// Minimum of the same after failures in previous steps: each failure halves the limits. They never
// reach zero, because the obstruction may have moved away.
enum { LEAST_PULLS = 20, LEAST_SETTLES = 10 };

static int32_t budget(const NoliPrescribed* prescribed, int32_t most, int32_t least) {
  int32_t left = prescribed->n_held < 8 ? most >> prescribed->n_held : 0;
  return left > least ? left : least;
}

// Fraction of the distance from start to target that the nodes have covered.
static double share_done(const NoliStage* stage, const double* x_now) {
  const NoliPrescribed* prescribed = &stage->prescribed;
  double missing = 0.0, whole = 0.0;
  for (int32_t i = 0; i < prescribed->n; i++) {
    const double* x = &x_now[3 * (int64_t)prescribed->node[i]];
    for (int32_t k = 0; k < 3; k++) {
      if (!noli_prescribes(prescribed, i, k)) {
        continue;
      }
      double target = prescribed->target[3 * i + k];
      double gap = target - x[k], way = target - prescribed->start[3 * i + k];
      missing += gap * gap;
      whole += way * way;
    }
  }
  return whole > 0.0 ? 1.0 - sqrt(missing / whole) : 1.0;
}

// Largest distance of a node from its target.
static double largest_gap(const NoliStage* stage, const double* x) {
  const NoliPrescribed* prescribed = &stage->prescribed;
  double largest = 0.0;
  for (int32_t i = 0; i < prescribed->n; i++) {
    double gap_sqr = 0.0;
    for (int32_t k = 0; k < 3; k++) {
      double gap = prescribed->target[3 * (int64_t)i + k] - x[3 * (int64_t)prescribed->node[i] + k];
      gap_sqr += noli_prescribes(prescribed, i, k) ? gap * gap : 0.0;
    }
    largest = gap_sqr > largest ? gap_sqr : largest;
  }
  return sqrt(largest);
}

bool noli_prescribed_moves(const NoliPrescribed* prescribed) {
  return prescribed->n > 0 && memcmp(prescribed->start, prescribed->target,
                                     (size_t)prescribed->n * 3 * sizeof(double)) != 0;
}

void noli_prescribed_set_step(NoliStage* stage) {
  const NoliPrescribed* prescribed = &stage->prescribed;
  for (int32_t i = 0; i < prescribed->n; i++) {
    for (int32_t k = 0; k < 3; k++) {
      int64_t j = 3 * (int64_t)prescribed->node[i] + k;
      if (noli_prescribes(prescribed, i, k)) {
        stage->search.step[j] = prescribed->target[3 * i + k] - stage->here->x[j];
      }
    }
  }
}

void noli_prescribed_set_targets(const NoliStage* stage, double* x) {
  const NoliPrescribed* prescribed = &stage->prescribed;
  for (int32_t i = 0; i < prescribed->n; i++) {
    for (int32_t k = 0; k < 3; k++) {
      if (noli_prescribes(prescribed, i, k)) {
        x[3 * (int64_t)prescribed->node[i] + k] = prescribed->target[3 * i + k];
      }
    }
  }
  noli_stage_follow(stage, x);
}

void noli_prescribed_begin(NoliStage* stage) {
  NoliPrescribed* prescribed = &stage->prescribed;
  prescribed->springs.hold = false;
  prescribed->given_up = false;
  prescribed->error = 0.0;
  prescribed->done = 1.0;
  prescribed->springs.n_updates = 0;
  prescribed->springs.n_stalled = 0;
  prescribed->springs.n_iterations = 0;
  prescribed->springs.n_pulls = 0;
  prescribed->springs.n_settles = 0;
  prescribed->stopped = false;
  prescribed->springs.stiffness = FIRST_STIFFNESS * noli_stage_stiffness_over_mass(stage);
  prescribed->blocker = (NoliStepBound){
      .alpha = 1.0, .a = NOLI_NULL_INDEX, .b = NOLI_NULL_INDEX, .half_space = NOLI_NULL_INDEX};
  prescribed->blocking = (NoliBlockingElement){NOLI_NULL_INDEX, NOLI_NULL_INDEX};
  memset(prescribed->springs.multiplier, 0, (size_t)prescribed->n * 3 * sizeof(double));
}

void noli_prescribed_measure(NoliStage* stage) {
  NoliPrescribed* prescribed = &stage->prescribed;
  if (prescribed->given_up) {
    return;
  }
  prescribed->done = share_done(stage, stage->here->x);
  prescribed->error = largest_gap(stage, stage->here->x);
}

// lambda <- lambda + stiffness m (target - x) of the springs, the first-order multiplier update.
static void update_multipliers(NoliStage* stage) {
  NoliPrescribed* prescribed = &stage->prescribed;
  for (int32_t i = 0; i < prescribed->n; i++) {
    int32_t node = prescribed->node[i];
    double stiffness = prescribed->springs.stiffness * stage->problem->inertia.mass[node];
    for (int32_t k = 0; k < 3; k++) {
      if (noli_prescribes(prescribed, i, k)) {
        prescribed->springs.multiplier[3 * i + k] +=
            stiffness * (prescribed->target[3 * i + k] - stage->here->x[3 * (int64_t)node + k]);
      }
    }
  }
}

bool noli_prescribed_give_up(NoliStage* stage, const double* x) {
  NoliPrescribed* prescribed = &stage->prescribed;
  if (prescribed->given_up || !noli_prescribed_moves(prescribed)) {
    return false;
  }
  prescribed->done = share_done(stage, x);
  prescribed->error = largest_gap(stage, x);
  prescribed->blocker = stage->record.blocker;
  prescribed->blocking = stage->record.blocking;
  prescribed->given_up = true;
  for (int32_t i = 0; i < prescribed->n; i++) {
    memcpy(&prescribed->target[3 * (int64_t)i], &x[3 * (int64_t)prescribed->node[i]],
           3 * sizeof(double));
  }
  return true;
}

// The displacements of the nodes `to` of a body by the affine motion of the nodes `from` of
// another.
static void extend_motion(NoliStage* stage, const int32_t* from, const int32_t* to) {
  const double *x = stage->here->x, *p = stage->search.step;
  NoliVec3 x0 = noli_load3(x + 3 * (int64_t)from[0]), p0 = noli_load3(p + 3 * (int64_t)from[0]);
  NoliVec3 side[3], moved[3];
  for (int k = 0; k < 3; k++) {
    side[k] = noli_sub3(noli_load3(x + 3 * (int64_t)from[k + 1]), x0);
    moved[k] = noli_sub3(noli_load3(p + 3 * (int64_t)from[k + 1]), p0);
  }
  NoliMat3 sides = noli_columns33(side[0], side[1], side[2]);
  NoliMat3 motion = noli_columns33(moved[0], moved[1], moved[2]), inverse = noli_inverse33(&sides);
  NoliMat3 gradient = noli_mul33(motion, inverse);
  for (int k = 0; k < 4; k++) {
    NoliVec3 arm = noli_sub3(noli_load3(x + 3 * (int64_t)to[k]), x0);
    noli_store3(stage->search.step + 3 * (int64_t)to[k],
                noli_add3(p0, noli_mul33_vec(&gradient, arm)));
  }
}

// Rigid bodies whose joints have coordinates move with prescribed ones: those stay as they are, so
// no limit stops the motion. Whether there are any.
static bool carry_joined(NoliStage* stage) {
  const NoliPrescribed* prescribed = &stage->prescribed;
  const NoliCoordinates* all = &stage->problem->coordinates;
  bool *moves = stage->search.unknown, any = false, found = all->n > 0;
  memset(moves, 0, (size_t)stage->problem->n_vert * sizeof *moves);
  for (int32_t i = 0; i < prescribed->n; i++) {
    moves[prescribed->node[i]] = prescribed->axes[i] == NOLI_ALL_AXES;
  }
  while (found) {
    found = false;
    for (int32_t k = 0; k < all->n; k++) {
      const int32_t *a = all->node + NOLI_COORDINATE_NODES * (int64_t)k, *b = a + 4;
      if (all->item[k].in_world || moves[a[0]] == moves[b[0]]) {
        continue;
      }
      const int32_t *from = moves[a[0]] ? a : b, *to = moves[a[0]] ? b : a;
      extend_motion(stage, from, to);
      for (int n = 0; n < 4; n++) {
        moves[to[n]] = true;
      }
      found = any = true;
    }
  }
  return any;
}

// The motion of the prescribed nodes alone, everything else at rest, or with what joints carry,
// if that is free.
static NoliStatus filter_motion(NoliStage* stage, NoliStepFilter* filter) {
  NoliStatus status = NOLI_OK;
  size_t bytes = (size_t)stage->problem->n_vert * 3 * sizeof(double);
  memset(stage->search.step, 0, bytes);
  noli_prescribed_set_step(stage);
  bool carried = carry_joined(stage);
  NOLI_TRY(noli_stage_filter_step_to(stage, 1.0, 0.5, filter));
  if (carried && filter->ccd < 1.0) {
    memset(stage->search.step, 0, bytes);
    noli_prescribed_set_step(stage);
    NOLI_TRY(noli_stage_filter_step_to(stage, 1.0, 0.5, filter));
  }
done:
  return status;
}

NoliStatus noli_prescribed_advance(NoliStage* stage, const double* velocity) {
  NoliStatus status = NOLI_OK;
  NoliPrescribed* prescribed = &stage->prescribed;
  noli_prescribed_begin(stage);

  // together with all other nodes, if the prediction succeeds
  bool predicted;
  NOLI_TRY(noli_predict(stage, velocity, &predicted));
  if (!predicted && noli_prescribed_moves(prescribed)) {
    // as far as contact and elements allow
    NoliStepFilter filter;
    NOLI_TRY(filter_motion(stage, &filter));
    for (int64_t j = 0; j < 3 * (int64_t)stage->problem->n_vert; j++) {
      stage->here->x[j] += filter.ccd * stage->search.step[j];
    }
    noli_stage_follow(stage, stage->here->x);
    if (filter.ccd >= 1.0) {
      noli_prescribed_set_targets(stage, stage->here->x);
    }
    noli_stage_track_coordinates(stage);
    NOLI_TRY(noli_stage_audit(stage, stage->here->x));
    prescribed->done = share_done(stage, stage->here->x);
    prescribed->springs.done_at_update = prescribed->springs.done_before = prescribed->done;
    prescribed->springs.hold = filter.ccd < 1.0;
    prescribed->blocker = filter.blocker;
    prescribed->blocking = stage->record.blocking;
    NOLI_TRY(noli_stage_find_contacts(stage));
  }
  NOLI_TRY(noli_stage_number_unknowns(stage));
done:
  return status;
}

NoliStatus noli_prescribed_hold(NoliStage* stage) {
  NoliPrescribed* prescribed = &stage->prescribed;
  NoliStepBound blocker = prescribed->blocker;
  NoliBlockingElement blocking = prescribed->blocking;
  noli_prescribed_begin(stage);
  noli_prescribed_give_up(stage, stage->here->x);
  prescribed->blocker = blocker;
  prescribed->blocking = blocking;
  return noli_stage_number_unknowns(stage);
}

// Whether the other nodes come to rest after the prescribed nodes have stopped.
static NoliStatus settle(NoliStage* stage, bool converged) {
  NoliStatus status = NOLI_OK;
  NoliPrescribed* prescribed = &stage->prescribed;
  int32_t most = budget(prescribed, MAX_SETTLES, LEAST_SETTLES);
  NOLI_CHECK(stage->context,
             !prescribed->stopped || converged || ++prescribed->springs.n_settles < most,
             NOLI_NOT_CONVERGED,
             "prescribed motion: contact stops it after %.1f %% of the step, and the squeezed "
             "bodies do not come to rest in %d Newton iterations",
             100.0 * prescribed->done, most);
done:
  return status;
}

// Fixes the prescribed nodes at their positions. Without the springs, whose forces were far larger
// than all others, the barrier needs a new initial stiffness, and obstacles may be flat again.
static NoliStatus fix(NoliStage* stage) {
  NoliStatus status = NOLI_OK;
  stage->prescribed.springs.hold = false;
  stage->prescribed.error = largest_gap(stage, stage->here->x);
  stage->prescribed.stopped = stage->prescribed.done < NOLI_MOTION_DONE;
  if (stage->problem->surface->flat != NULL) {
    NOLI_TRY(noli_stage_find_contacts(stage));
  }
  NOLI_TRY(noli_stage_number_unknowns(stage));
  NOLI_TRY(noli_stage_initial_kappa(stage));
  NOLI_TRY(noli_stage_energy(stage));
done:
  return status;
}

// Whether the springs have made no progress for PATIENCE iterations.
static bool tired(NoliPrescribed* prescribed) {
  if (++prescribed->springs.n_iterations < PATIENCE) {
    return false;
  }
  bool idle = prescribed->done - prescribed->springs.done_before < LEAST_PROGRESS;
  prescribed->springs.n_iterations = 0;
  prescribed->springs.done_before = prescribed->done;
  return idle;
}

NoliStatus noli_prescribed_update(NoliStage* stage, bool converged, bool* changed) {
  NoliPrescribed* prescribed = &stage->prescribed;
  *changed = false;
  if (!prescribed->springs.hold) {
    return settle(stage, converged);
  }

  // whether the motion is done
  prescribed->done = share_done(stage, stage->here->x);
  prescribed->springs.n_pulls++;
  if (prescribed->done >= NOLI_MOTION_DONE) {
    *changed = true;
    return fix(stage);
  }
  bool exhausted = prescribed->springs.n_pulls >= budget(prescribed, MAX_PULLS, LEAST_PULLS);
  double gained = prescribed->done - prescribed->springs.done_at_update;
  if (!tired(prescribed) && !converged && !exhausted) {
    return NOLI_OK;
  }

  prescribed->springs.n_iterations = 0;
  prescribed->springs.done_before = prescribed->done;
  // the springs balance contact: pull harder or give up
  *changed = true;
  bool good = gained >= GOOD_PART * (1.0 - prescribed->springs.done_at_update);
  exhausted |= prescribed->springs.n_pulls >= budget(prescribed, GOOD_PULLS, LEAST_PULLS) && !good;
  prescribed->springs.n_stalled = gained >= LEAST_PROGRESS ? 0 : prescribed->springs.n_stalled + 1;
  prescribed->springs.done_at_update = prescribed->done;
  prescribed->springs.n_updates++;
  if (prescribed->springs.n_stalled > MAX_STALLED || prescribed->springs.n_updates > MAX_UPDATES ||
      exhausted) {
    return fix(stage);
  }
  double last = LAST_STIFFNESS * noli_stage_stiffness_over_mass(stage);
  if (prescribed->done < NEARLY_DONE && prescribed->springs.stiffness < last) {
    prescribed->springs.stiffness *= 2.0;
  } else {
    update_multipliers(stage);
  }
  noli_stage_list_terms(stage);
  return noli_stage_energy(stage);
}
