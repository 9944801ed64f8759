#include "solve/supports.h"

#include "base/sort.h"
#include "math/vec3.h"

#include <math.h>
#include <string.h>

void noli_supports_free(NoliContext* context, NoliSupports* supports) {
  noli_array_free(context, &supports->now);
  noli_array_free(context, &supports->before);
  noli_pair_forces_free(context, &supports->pairs);
}

void noli_supports_clear(NoliSupports* supports) {
  supports->now.count = 0;
  supports->before.count = 0;
}

static int supports_compare(const void* a, const void* b) {
  const NoliSupport *p = a, *q = b;
  int by = (p->by > q->by) - (p->by < q->by);
  return by != 0 ? by : (p->body > q->body) - (p->body < q->body);
}

static bool moves_freely(const NoliProblem* problem, int32_t entity) {
  return entity < problem->surface->n_body && !problem->contact.still[entity];
}

// Obstacles and half-spaces, of contact and friction.
static NoliStatus add_obstacles(NoliStage* stage, NoliSupports* supports) {
  NoliStatus status = NOLI_OK;
  const NoliProblem* problem = stage->problem;
  noli_pair_forces_clear(&supports->pairs);
  NOLI_TRY(noli_stage_pair_forces(stage, &supports->pairs));
  for (int64_t i = 0; i < supports->pairs.pair.count; i++) {
    const NoliPairForce* pair = &supports->pairs.pair.data[i];
    bool first = moves_freely(problem, pair->a);
    if (first == moves_freely(problem, pair->b)) {
      continue;
    }
    NoliVec3 on_a = noli_add3(noli_load3(pair->normal), noli_load3(pair->friction));
    NoliSupport support = {.body = first ? pair->a : pair->b,
                           .by = first ? pair->b : pair->a,
                           .force = noli_scale3(first ? 1.0 : -1.0, on_a)};
    NOLI_PUSH(stage->context, &supports->now, support);
  }
done:
  return status;
}

// Sets of held nodes, each of one body.
static NoliStatus add_held(NoliStage* stage, NoliSupports* supports) {
  NoliStatus status = NOLI_OK;
  const NoliProblem* problem = stage->problem;
  const NoliPrescribed* prescribed = &stage->prescribed;
  double* force = stage->search.trial_gradient;
  int64_t first = supports->now.count;
  memset(force, 0, 3 * sizeof *force * (size_t)problem->n_vert);
  NOLI_TRY(noli_stage_add_all_forces(stage, force));

  for (int32_t i = 0; i < prescribed->n; i++) {
    int64_t node = prescribed->node[i];
    int32_t body = problem->surface->body[node];
    if (problem->contact.still[body] || prescribed->set[i] == NOLI_NULL_INDEX) {
      continue;
    }
    NoliSupport support = {.body = body, .by = -1 - prescribed->set[i]};
    NoliVec3 held = {noli_prescribes(prescribed, i, 0) ? -force[3 * node] : 0.0,
                     noli_prescribes(prescribed, i, 1) ? -force[3 * node + 1] : 0.0,
                     noli_prescribes(prescribed, i, 2) ? -force[3 * node + 2] : 0.0};
    int64_t at = first;
    while (at < supports->now.count && supports->now.data[at].by != support.by) {
      at++;
    }
    if (at == supports->now.count) {
      NOLI_PUSH(stage->context, &supports->now, support);
    }
    supports->now.data[at].force = noli_add3(supports->now.data[at].force, held);
  }
done:
  return status;
}

NoliStatus noli_supports_find(NoliStage* stage, NoliSupports* supports) {
  NoliStatus status = NOLI_OK;
  NoliSupportList spare = supports->before;
  supports->before = supports->now;
  supports->now = spare;
  supports->now.count = 0;
  NOLI_TRY(add_obstacles(stage, supports));
  if (stage->prescribed.n > 0) {
    NOLI_TRY(add_held(stage, supports));
  }
  noli_sort(supports->now.data, supports->now.count, sizeof(NoliSupport), supports_compare);
  for (int64_t i = 0; i < supports->now.count; i++) {
    NoliSupport* now = &supports->now.data[i];
    const NoliSupport* old = noli_find_sorted(now, supports->before.data, supports->before.count,
                                              sizeof *now, supports_compare);
    now->change = old != NULL ? noli_norm3(noli_sub3(now->force, old->force)) : (double)INFINITY;
  }
done:
  return status;
}
