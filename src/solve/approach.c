#include "solve/approach.h"

#include <string.h>

// The first widening, and the factor of each after it.
#define WIDEST 8.0
#define NARROWER 0.5

// After FIRST iterations of a solve, more than this share of the way is left in a slow approach.
enum { FIRST = 3 };
#define LEFT 0.8

bool noli_approach_is_slow(const NoliStage* stage, int32_t iterations, double beta) {
  const NoliProblem* problem = stage->problem;
  bool possible = problem->contact->widens && stage->time.inertia && !problem->toi_termination &&
                  !stage->prescribed.by_springs && stage->friction_iteration == 0 &&
                  problem->max_iterations >= 4 * NOLI_APPROACH_ITERATIONS;
  return possible && iterations == FIRST && beta > LEFT;
}

// The potential here.
static double energy(const NoliStage* stage) {
  double sum = 0.0;
  for (int32_t i = 0; i < stage->n_term; i++) {
    sum += stage->here->energy[i].sum;
  }
  return sum;
}

// A contact distance and a stiffness.
static NoliStatus set(NoliStage* stage, double widening, double kappa) {
  NoliStatus status = NOLI_OK;
  stage->widening = widening;
  NOLI_TRY(noli_stage_find_contacts(stage));
  noli_stage_set_kappa(stage, kappa);
  NOLI_TRY(noli_stage_energy(stage));
done:
  return status;
}

NoliStatus noli_approach_begin(NoliStage* stage, NoliApproach* approach) {
  NoliStatus status = NOLI_OK;
  int64_t n = 3 * (int64_t)stage->problem->n_vert;
  *approach =
      (NoliApproach){.widening = WIDEST / NARROWER, .kappa = stage->kappa, .energy = energy(stage)};
  NOLI_NEW(stage->context, approach->start, n);
  memcpy(approach->start, stage->here->x, (size_t)n * sizeof *approach->start);
done:
  return status;
}

bool noli_approach_narrow(NoliApproach* approach) {
  approach->widening *= NARROWER;
  return approach->widening > 1.0;
}

// The force of the barrier at the same share of its distance is proportional to kappa and to the
// third power of the distance.
NoliStatus noli_approach_set(NoliStage* stage, const NoliApproach* approach) {
  double widening = approach->widening;
  return set(stage, widening, approach->kappa / (widening * widening * widening));
}

NoliStatus noli_approach_end(NoliStage* stage, NoliApproach* approach, NoliStatus status) {
  NoliStatus ended = status;
  status = NOLI_OK;
  bool moved = stage->widening != 1.0;
  stage->widening = 1.0;
  if (ended < NOLI_OK || !moved) {
    status = ended;
    goto done;
  }
  NOLI_TRY(set(stage, 1.0, approach->kappa));
  if (energy(stage) > approach->energy) {
    memcpy(stage->here->x, approach->start,
           3 * sizeof *approach->start * (size_t)stage->problem->n_vert);
    NOLI_TRY(set(stage, 1.0, approach->kappa));
  }
done:
  noli_free(stage->context, approach->start);
  approach->start = NULL;
  return status;
}
