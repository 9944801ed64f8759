#include "solve/detour.h"

#include <math.h>
#include <string.h>

// Largest turn of an element in the first step, rad.
#define MOST_TURN 0.5

// Iterations after the first step; and before the next detour after one that was lost, doubled
// with each that is lost in a row.
enum { MOST_ITERATIONS = 8, WAIT = 2, MOST_DOUBLINGS = 20 };

void noli_detour_reset(NoliStage* stage) {
  double* start = stage->search.detour.start;
  stage->search.detour = (NoliDetour){.start = start};
}

bool noli_detour_may_begin(NoliStage* stage) {
  NoliDetour* detour = &stage->search.detour;
  if (detour->wait > 0) {
    detour->wait--;
    return false;
  }
  return !detour->away && !stage->prescribed.springs.hold &&
         stage->problem->contact.model->smooth == NULL;
}

double noli_detour_length(const NoliStage* stage, double alpha) {
  double turn = noli_problem_turn(stage->problem, stage->search.step);
  return turn > 0.0 ? fmin(alpha, MOST_TURN / turn) : 0.0;
}

void noli_detour_begin(NoliStage* stage, double change) {
  NoliDetour* detour = &stage->search.detour;
  detour->away = true;
  detour->change = change;
  detour->n = 0;
  memcpy(detour->start, stage->here->x, 3 * sizeof(double) * (size_t)stage->problem->n_vert);
}

void noli_detour_advance(NoliStage* stage, double change, bool* lost) {
  NoliDetour* detour = &stage->search.detour;
  detour->change += change;
  detour->n++;
  *lost = detour->change >= 0.0 && detour->n >= MOST_ITERATIONS;
  if (detour->change < 0.0) {
    detour->away = false;
    detour->n_lost = 0;
  }
}

NoliStatus noli_detour_return(NoliStage* stage) {
  NoliStatus status = NOLI_OK;
  NoliDetour* detour = &stage->search.detour;
  detour->away = false;
  detour->wait = WAIT << detour->n_lost;
  detour->n_lost += detour->n_lost < MOST_DOUBLINGS ? 1 : 0;
  memcpy(stage->here->x, detour->start, 3 * sizeof(double) * (size_t)stage->problem->n_vert);
  noli_stage_clear_last(stage);
  NOLI_TRY(noli_stage_find_contacts(stage));
  NOLI_TRY(noli_stage_energy(stage));
done:
  return status;
}
